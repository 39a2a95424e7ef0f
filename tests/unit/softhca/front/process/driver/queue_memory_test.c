/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * queue_memory_test.c - descriptions of queue buffers: each covers exactly the buffer, by the
 * fewest pages whose size can express its offset.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "softhca/front/process/driver/queue_memory.c"

enum { PAGE = 4096, OFFSET_UNIT = PAGE / 64 };

static void buffer_is_described(uint64_t addr, uint64_t len, unsigned int offsets)
{
	struct queue_memory memory;
	uint64_t page, offset;

	assert_int_equal(queue_memory_describe(addr, len, offsets, &memory), 0);
	page = (uint64_t)PAGE << memory.log_page_size;
	offset = memory.page_offset * (page / 64);
	assert_true(memory.page_offset < offsets);
	assert_true(memory.first % page == 0);
	assert_true(memory.first + offset == addr);
	assert_true(memory.first + memory.pages * page >= addr + len);
	assert_true(memory.first + (memory.pages - 1) * page < addr + len);
	assert_int_equal(queue_memory_bytes(&memory), memory.pages * 8);
	/* Pages twice as large would not do, or are not needed for a single one. */
	if (memory.pages > 1 && memory.log_page_size < MAX_SHIFT - BASE_SHIFT)
		assert_true(addr % (2 * page / 64) ||
			    addr % (2 * page) / (2 * page / 64) >= offsets);
}

static void each_aligned_buffer_is_covered(void **state)
{
	static const uint64_t lengths[] = { 1,        64,           100,        PAGE - 64, PAGE,
					    PAGE + 1, 16ull * PAGE, 1ull << 20, 1ull << 32 };

	(void)state;
	for (unsigned int i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		for (uint64_t addr = 0x7f0000000000; addr < 0x7f0000000000 + 4ull * PAGE;
		     addr += 64)
			buffer_is_described(addr, lengths[i], QUEUE_MEMORY_OFFSETS);
		for (unsigned int shift = BASE_SHIFT; shift < 40; shift++) {
			buffer_is_described(1ull << shift, lengths[i], QUEUE_MEMORY_OFFSETS);
			buffer_is_described(3ull << shift, lengths[i], QUEUE_MEMORY_RMP_OFFSETS);
		}
	}
}

static void addresses_that_no_page_expresses_are_refused(void **state)
{
	struct queue_memory memory;

	(void)state;
	assert_int_equal(queue_memory_describe(PAGE, 0, QUEUE_MEMORY_OFFSETS, &memory), EINVAL);
	for (uint64_t offset = 0; offset < PAGE; offset++) {
		bool fits = offset % OFFSET_UNIT == 0;

		assert_int_equal(
			queue_memory_describe(PAGE + offset, 1, QUEUE_MEMORY_OFFSETS, &memory),
			fits ? 0 : EINVAL);
		fits = fits && offset < PAGE / 2; /* an RMP's field has half as many values */
		assert_int_equal(
			queue_memory_describe(PAGE + offset, 1, QUEUE_MEMORY_RMP_OFFSETS, &memory),
			fits ? 0 : EINVAL);
	}
}

static void a_list_has_the_bus_address_of_each_page(void **state)
{
	const struct client client = { .slot = 5 };
	struct queue_memory memory;
	uint8_t pas[3 * 8];

	(void)state;
	assert_int_equal(queue_memory_describe(0x5040, 2 * PAGE, QUEUE_MEMORY_OFFSETS, &memory), 0);
	assert_int_equal(memory.log_page_size, 0);
	assert_int_equal(memory.page_offset, 1);
	assert_int_equal(memory.pages, 3);
	queue_memory_put(&memory, &client, pas);
	for (unsigned int i = 0; i < 3; i++)
		assert_true(fld_get64(pas, i * 8) == (5ull << 48 | (0x5000 + i * PAGE)));
	assert_int_equal(queue_memory_describe(0x20000, 0x20000, QUEUE_MEMORY_OFFSETS, &memory), 0);
	assert_int_equal(memory.pages, 1); /* one of 128 KiB or more */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_aligned_buffer_is_covered),
		cmocka_unit_test(addresses_that_no_page_expresses_are_refused),
		cmocka_unit_test(a_list_has_the_bus_address_of_each_page),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

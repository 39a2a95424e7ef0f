/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * device_memory_test.c - device memory: the pages that the driver offers with each command, and
 * its errors when none are left. The device is a function that records the command.
 *
 * Covers: softhca/front/process/driver/device_memory.c
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "prm/mlx5/caps.h"
#include "prm/mlx5/cmd.h"
#include "prm/mlx5/memic.h"
#include "softhca/front/process/driver/adapter.h"
#include "softhca/front/process/driver/device_memory.h"

#define START    0x7000000000u
#define BAR_SIZE (DEVICE_MEMORY_PAGES * (uint64_t)UAR_PAGE_SIZE)

static struct adapter *adapter;

static struct {
	unsigned int count;
	int answer; /* status of all commands */
	uint64_t address;
	uint32_t opcode;
	uint64_t range_start, start;
	uint32_t range_size, size, free_size, log_align;
} device;

int adapter_command(struct adapter *asked, void *in, size_t in_len, void *out, size_t out_len)
{
	assert_ptr_equal(asked, adapter);
	assert_int_equal(in_len, PRM_ALLOC_MEMIC_IN_SIZE);
	memset(out, 0, out_len);
	device.count++;
	device.opcode = (uint32_t)fld_get(in, CMD_IN_OPCODE);
	device.range_start = fld_get(in, ALLOC_MEMIC_IN_RANGE_START_ADDR);
	device.range_size = (uint32_t)fld_get(in, ALLOC_MEMIC_IN_RANGE_SIZE);
	device.size = (uint32_t)fld_get(in, ALLOC_MEMIC_IN_MEMIC_SIZE);
	device.log_align = (uint32_t)fld_get(in, ALLOC_MEMIC_IN_LOG_MEMIC_ADDR_ALIGNMENT);
	device.start = fld_get(in, DEALLOC_MEMIC_IN_MEMIC_START_ADDR);
	device.free_size = (uint32_t)fld_get(in, DEALLOC_MEMIC_IN_MEMIC_SIZE);
	if (device.opcode == PRM_OP_ALLOC_MEMIC)
		fld_set(out, ALLOC_MEMIC_OUT_MEMIC_START_ADDR,
			device.address ? device.address : device.range_start);
	return device.answer;
}

static int adapter_begin(void **state)
{
	(void)state;
	adapter = calloc(1, sizeof(*adapter));
	if (!adapter)
		return -1;
	memset(&device, 0, sizeof(device));
	fld_set(adapter->memory_caps, MEM_CAP_MEMIC, 1);
	fld_set(adapter->memory_caps, MEM_CAP_MEMIC_BAR_START_ADDR, START);
	fld_set(adapter->memory_caps, MEM_CAP_MEMIC_BAR_SIZE, BAR_SIZE);
	fld_set(adapter->memory_caps, MEM_CAP_LOG_MAX_MEMIC_ADDR_ALIGNMENT, 6);
	return 0;
}

static int adapter_end(void **state)
{
	(void)state;
	free(adapter);
	return 0;
}

static uint64_t page(unsigned int number)
{
	return START + number * (uint64_t)UAR_PAGE_SIZE;
}

static uint64_t memory_take(uint64_t length)
{
	uint64_t addr = 0, size = 0;

	assert_int_equal(device_memory_alloc(adapter, length, 0, &addr, &size), 0);
	assert_int_equal(device.opcode, PRM_OP_ALLOC_MEMIC);
	assert_int_equal(size, (length + 63) / 64 * 64);
	assert_int_equal(device.size, size);
	return addr;
}

static void give_back(uint64_t addr, uint64_t size)
{
	assert_int_equal(device_memory_free(adapter, addr, size), 0);
	assert_int_equal(device.opcode, PRM_OP_DEALLOC_MEMIC);
	assert_int_equal(device.start, addr);
	assert_int_equal(device.free_size, size);
}

/* Checks that the driver refuses a request itself, without a command. */
static void check_refused(uint64_t length, uint32_t log_align, int error)
{
	uint64_t addr = 1, size = 1;
	unsigned int count = device.count;

	assert_int_equal(device_memory_alloc(adapter, length, log_align, &addr, &size), error);
	assert_int_equal(device.count, count);
}

static void sizes_are_multiples_of_64_bytes(void **state)
{
	static const uint64_t lengths[] = { 1, 63, 64, 65, 4095, 4096, 4097 };

	(void)state;
	for (unsigned int i = 0; i < sizeof(lengths) / sizeof(*lengths); i++) {
		uint64_t pages = (lengths[i] + UAR_PAGE_SIZE - 1) / UAR_PAGE_SIZE;

		assert_int_equal(memory_take(lengths[i]), page(0));
		assert_int_equal(device.range_start, page(0));
		assert_int_equal(device.range_size, pages * UAR_PAGE_SIZE);
		give_back(page(0), (lengths[i] + 63) / 64 * 64);
	}
}

/* First fit: a block takes the first run of free pages that is long enough. */
static void pages_are_taken_once(void **state)
{
	(void)state;
	assert_int_equal(memory_take(64), page(0));
	assert_int_equal(memory_take(2 * UAR_PAGE_SIZE), page(1));
	assert_int_equal(memory_take(64), page(3));
	give_back(page(1), 2 * UAR_PAGE_SIZE);
	assert_int_equal(memory_take(3 * UAR_PAGE_SIZE), page(4));
	assert_int_equal(memory_take(UAR_PAGE_SIZE), page(1));
	assert_int_equal(memory_take(64), page(2));
	assert_int_equal(memory_take(64), page(7));
}

/* A block may begin in the middle of its page; freeing it frees that page. */
static void a_page_is_free_again_wherever_its_block_began(void **state)
{
	(void)state;
	device.address = page(0) + UAR_PAGE_SIZE - 64;
	assert_int_equal(memory_take(64), page(0) + UAR_PAGE_SIZE - 64);
	device.address = 0;
	assert_int_equal(memory_take(64), page(1));
	give_back(page(0) + UAR_PAGE_SIZE - 64, 64);
	assert_int_equal(memory_take(64), page(0));
}

static void all_pages_can_be_taken_and_no_more(void **state)
{
	(void)state;
	assert_int_equal(memory_take(BAR_SIZE), page(0));
	assert_int_equal(device.range_size, BAR_SIZE);
	check_refused(1, 0, ENOMEM);
	give_back(page(0), BAR_SIZE);
	for (unsigned int i = 0; i < DEVICE_MEMORY_PAGES; i++)
		assert_int_equal(memory_take(64), page(i));
	check_refused(1, 0, ENOMEM);
	give_back(page(DEVICE_MEMORY_PAGES - 1), 64);
	assert_int_equal(memory_take(64), page(DEVICE_MEMORY_PAGES - 1));
}

static void odd_lengths_are_refused(void **state)
{
	(void)state;
	check_refused(0, 0, EINVAL);
	check_refused(BAR_SIZE + 1, 0, ENOMEM);
	check_refused(UINT64_MAX, 0, ENOMEM);
	fld_set(adapter->memory_caps, MEM_CAP_MEMIC, 0);
	check_refused(64, 0, EOPNOTSUPP);
}

/* The device aligns each block to 64 bytes, as this is its unit. */
static void alignments_are_of_64_bytes_and_more(void **state)
{
	uint64_t addr, size;

	(void)state;
	for (uint32_t log = 0; log <= 12; log++) {
		assert_int_equal(device_memory_alloc(adapter, 64, log, &addr, &size), 0);
		assert_int_equal(device.log_align, log < 6 ? 0 : log - 6);
	}
	check_refused(64, 13, EINVAL);
	check_refused(64, UINT32_MAX, EINVAL);
	fld_set(adapter->memory_caps, MEM_CAP_LOG_MAX_MEMIC_ADDR_ALIGNMENT, 0);
	check_refused(64, 7, EINVAL);
	assert_int_equal(device_memory_alloc(adapter, 64, 6, &addr, &size), 0);
}

/* EAGAIN of the device means that the resource is exhausted, so programs get ENOMEM, as from
 * Linux. */
static void what_the_adapter_refuses_takes_no_page(void **state)
{
	uint64_t addr = 5, size;

	(void)state;
	device.answer = EAGAIN;
	assert_int_equal(device_memory_alloc(adapter, 64, 0, &addr, &size), ENOMEM);
	device.answer = EIO;
	assert_int_equal(device_memory_alloc(adapter, 64, 0, &addr, &size), EIO);
	assert_int_equal(addr, 5);
	device.answer = 0;
	assert_int_equal(memory_take(64), page(0));
	device.answer = EIO;
	assert_int_equal(device_memory_free(adapter, page(0), 64), EIO);
	device.answer = 0;
	assert_int_equal(memory_take(64), page(1));
}

/* A dead adapter gets no command, so a free succeeds without one. */
static void a_dead_adapter_is_not_asked(void **state)
{
	unsigned int count;

	(void)state;
	memory_take(64);
	count = device.count;
	adapter->dead = true;
	assert_int_equal(device_memory_free(adapter, page(0), 64), 0);
	assert_int_equal(device.count, count);
	assert_false(adapter->device_page_used[0]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(sizes_are_multiples_of_64_bytes, adapter_begin,
						adapter_end),
		cmocka_unit_test_setup_teardown(pages_are_taken_once, adapter_begin, adapter_end),
		cmocka_unit_test_setup_teardown(a_page_is_free_again_wherever_its_block_began,
						adapter_begin, adapter_end),
		cmocka_unit_test_setup_teardown(all_pages_can_be_taken_and_no_more, adapter_begin,
						adapter_end),
		cmocka_unit_test_setup_teardown(odd_lengths_are_refused, adapter_begin,
						adapter_end),
		cmocka_unit_test_setup_teardown(alignments_are_of_64_bytes_and_more, adapter_begin,
						adapter_end),
		cmocka_unit_test_setup_teardown(what_the_adapter_refuses_takes_no_page,
						adapter_begin, adapter_end),
		cmocka_unit_test_setup_teardown(a_dead_adapter_is_not_asked, adapter_begin,
						adapter_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

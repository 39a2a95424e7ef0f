/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * ste_memory_test.c - blocks of memory for entries: where they may be, what they hold, and how much
 * of the host's memory they take.
 *
 * Covers: softhca/device/steering/ste_memory.c
 */
#include "ste_rig.h"
#include "util/bits.h"

void ste_walk(struct ste_walk *walk, uint64_t root)
{
	(void)walk;
	(void)root;
}

static struct ste_block *rig_block(uint64_t addr, uint64_t log_size)
{
	struct ste_block *block = NULL;

	assert_null(ste_memory_check(&rig_hca, addr, log_size));
	assert_int_equal(ste_memory_add(&rig_hca, addr, log_size, &block), 0);
	return block;
}

static void blocks_are_in_an_area(void **state)
{
	static const struct {
		uint64_t start, log_size;
	} areas[] = {
		{ STE_MEMORY_START, STE_MEMORY_LOG_SIZE },
		{ STE_MEMORY_CHANGE, STE_MEMORY_LOG_CHANGE },
		{ STE_MEMORY_PATTERN, STE_MEMORY_LOG_PATTERN },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(areas); i++) {
		const uint64_t end = areas[i].start + (UINT64_C(1) << areas[i].log_size);

		assert_null(ste_memory_check(&rig_hca, end - 4096, 12));
		assert_non_null(ste_memory_check(&rig_hca, end, 12));
		assert_non_null(ste_memory_check(&rig_hca, end - 4096, 13));
		assert_non_null(ste_memory_check(&rig_hca, areas[i].start - 4096, 12));
		assert_non_null(ste_memory_check(&rig_hca, areas[i].start - 4096, 13));
		assert_non_null(ste_memory_check(&rig_hca, end - 2048, 12));
	}
	assert_non_null(ste_memory_check(&rig_hca, STE_MEMORY_START, 11));
	assert_non_null(ste_memory_check(&rig_hca, STE_MEMORY_START, 29));
	assert_non_null(ste_memory_check(&rig_hca, STE_MEMORY_START, 64));
	assert_non_null(ste_memory_check(&rig_hca, UINT64_MAX - 4095, 12));
}

static void blocks_do_not_overlap(void **state)
{
	struct ste_block *block = rig_block(STE_MEMORY_START + (1 << 20), 16);

	(void)state;
	assert_non_null(ste_memory_check(&rig_hca, block->addr, 12));
	assert_non_null(ste_memory_check(&rig_hca, block->addr + 0xf000, 12));
	assert_non_null(ste_memory_check(&rig_hca, block->addr - 4096, 13));
	assert_non_null(ste_memory_check(&rig_hca, block->addr - 4096, 20));
	assert_null(ste_memory_check(&rig_hca, block->addr - 4096, 12));
	assert_null(ste_memory_check(&rig_hca, block->addr + 0x10000, 12));
	ste_memory_remove(&rig_hca, block);
	assert_null(ste_memory_check(&rig_hca, STE_MEMORY_START + (1 << 20), 16));
}

static void bytes_are_zero_until_written(void **state)
{
	struct ste_block *block = rig_block(STE_MEMORY_START + (1 << 20), 16);
	uint8_t bytes[6000], read[64];

	(void)state;
	assert_true(ste_memory_read(&rig_hca, block->addr + 4096, read, sizeof(read)));
	for (size_t i = 0; i < sizeof(read); i++)
		assert_int_equal(read[i], 0);
	assert_int_equal(rig_hca.ste_memory.pages, 0);
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(i * 7 + i / 256);
	rig_write(block, block->addr + 4000, bytes, sizeof(bytes)); /* parts of three pages */
	assert_int_equal(rig_hca.ste_memory.pages, 3);
	for (size_t at = 96; at + sizeof(read) <= sizeof(bytes); at += sizeof(read)) {
		assert_true(ste_memory_read(&rig_hca, block->addr + 4000 + at, read, sizeof(read)));
		assert_memory_equal(read, bytes + at, sizeof(read));
	}
	ste_memory_remove(&rig_hca, block);
	assert_int_equal(rig_hca.ste_memory.pages, 0);
}

static void transfers_stay_in_the_block(void **state)
{
	struct ste_block *block = rig_block(STE_MEMORY_START + (1 << 20), 12);
	uint8_t bytes[128] = { 0 };
	const uint64_t end = block->addr + 4096;
	static const struct {
		int64_t at;
		uint64_t len;
		int ret;
	} rows[] = {
		{ -64, 64, 0 },           { -64, 65, EFAULT }, { 0, 1, EFAULT },
		{ -4096 - 1, 1, EFAULT }, { 0, 0, 0 },         { -64, UINT64_MAX, EFAULT },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct dma_batch batch = { .write = true, .buf = bytes };

		assert_int_equal(
			ste_memory_dma(&batch, block, end + (uint64_t)rows[i].at, rows[i].len),
			rows[i].ret);
	}
	assert_false(ste_memory_read(&rig_hca, end - 63, bytes, 64));
	assert_false(ste_memory_read(&rig_hca, end, bytes, 64));
	ste_memory_remove(&rig_hca, block);
}

/* A page that cannot be had fails the transfer that writes it, and no other. */
static void written_pages_have_a_limit(void **state)
{
	struct ste_block *block = rig_block(STE_MEMORY_START + (1 << 20), 13);
	uint8_t byte = 1;
	struct dma_batch batch = { .write = true, .buf = &byte };

	(void)state;
	rig_write(block, block->addr, &byte, 1);
	rig_hca.ste_memory.pages = STE_MEMORY_PAGES_MAX;
	assert_int_equal(ste_memory_dma(&batch, block, block->addr + 4096, 1), ENOMEM);
	rig_write(block, block->addr, &byte, 1);
	rig_hca.ste_memory.pages = 1;
	ste_memory_remove(&rig_hca, block);
	assert_int_equal(rig_hca.ste_memory.pages, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(blocks_are_in_an_area),
		cmocka_unit_test(blocks_do_not_overlap),
		cmocka_unit_test(bytes_are_zero_until_written),
		cmocka_unit_test(transfers_stay_in_the_block),
		cmocka_unit_test(written_pages_have_a_limit),
	};

	return cmocka_run_group_tests(tests, rig_create, rig_destroy);
}

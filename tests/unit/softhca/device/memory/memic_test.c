/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * memic_test.c - memory on the adapter (MEMIC): allocation, keys, atomic operations by windows,
 * refusals, and the capabilities of it and of on-demand paging.
 *
 * Covers: softhca/device/memory/memic.c, softhca/device/format/mlx5/cmd/memic.c,
 * softhca/device/format/mlx5/caps.c
 */
#include "pair.h"
#include "prm/mlx5/caps.h"
#include "prm/mlx5/cmd.h"
#include "prm/mlx5/memic.h"
#include "prm/mlx5/mkc.h"

enum { PAGE = 4096, UNIT = 64, PAGES = FLAT_MEMIC_BAR_SIZE / PAGE };

static uint8_t memory[FLAT_MEMIC_BAR_SIZE];

static void place_pages(struct hca *hca, uint8_t *at)
{
	for (unsigned int i = 0; i < PAGES; i++)
		hca_place_memic(hca, FLAT_MEMIC_BAR + i * PAGE, at ? at + i * PAGE : NULL);
}

/* Allocates SIZE bytes within RANGE bytes from OFFSET of the adapter's memory; returns their
 * offset. */
static uint64_t alloc_in(uint64_t offset, uint64_t range, uint64_t size, uint32_t log_align,
			 enum prm_status expect)
{
	uint8_t in[PRM_ALLOC_MEMIC_IN_SIZE] = { 0 }, out[16];

	fld_set(in, CMD_IN_OPCODE, PRM_OP_ALLOC_MEMIC);
	fld_set(in, ALLOC_MEMIC_IN_LOG_MEMIC_ADDR_ALIGNMENT, log_align);
	fld_set(in, ALLOC_MEMIC_IN_RANGE_START_ADDR, FLAT_MEMIC_BAR + offset);
	fld_set(in, ALLOC_MEMIC_IN_RANGE_SIZE, range);
	fld_set(in, ALLOC_MEMIC_IN_MEMIC_SIZE, size);
	flat_cmd_expect(flat.hca[1], in, sizeof(in), out, sizeof(out), expect);
	return fld_get(out, ALLOC_MEMIC_OUT_MEMIC_START_ADDR) - FLAT_MEMIC_BAR;
}

static void memic_dealloc(uint64_t offset, uint64_t size, enum prm_status expect)
{
	uint8_t in[PRM_DEALLOC_MEMIC_IN_SIZE] = { 0 }, out[16];

	fld_set(in, CMD_IN_OPCODE, PRM_OP_DEALLOC_MEMIC);
	fld_set(in, DEALLOC_MEMIC_IN_MEMIC_START_ADDR, FLAT_MEMIC_BAR + offset);
	fld_set(in, DEALLOC_MEMIC_IN_MEMIC_SIZE, size);
	flat_cmd_expect(flat.hca[1], in, sizeof(in), out, sizeof(out), expect);
}

static uint32_t key_of(uint64_t offset, uint64_t len, uint32_t umr, enum prm_status expect)
{
	uint8_t in[PRM_CREATE_MKEY_IN_SIZE] = { 0 }, out[16];
	uint8_t *mkc = fld_at(in, CREATE_MKEY_IN_MKC);

	fld_set(in, CMD_IN_OPCODE, PRM_OP_CREATE_MKEY);
	fld_set(mkc, MKC_ACCESS_MODE_1_0, PRM_MKEY_MODE_MEMIC & 3);
	fld_set(mkc, MKC_ACCESS_MODE_4_2, PRM_MKEY_MODE_MEMIC >> 2);
	fld_set(mkc, MKC_LR, 1);
	fld_set(mkc, MKC_LW, 1);
	fld_set(mkc, MKC_RW, 1);
	fld_set(mkc, MKC_RR, 1);
	fld_set(mkc, MKC_A, 1);
	fld_set(mkc, MKC_UMR_EN, umr);
	fld_set(mkc, MKC_QPN, 0xffffff);
	fld_set(mkc, MKC_PD, flat.pd[1]);
	fld_set(mkc, MKC_START_ADDR, FLAT_MEMIC_BAR + offset);
	fld_set(mkc, MKC_LEN, len);
	flat_cmd_expect(flat.hca[1], in, sizeof(in), out, sizeof(out), expect);
	return fld_get(out, CREATE_MKEY_OUT_MKEY_INDEX) << 8;
}

static void blocks_lie_in_their_range_and_do_not_overlap(void **state)
{
	(void)state;
	assert_int_equal(alloc_in(0, PAGE, UNIT, 0, PRM_STAT_OK), 0);
	assert_int_equal(alloc_in(0, PAGE, UNIT, 0, PRM_STAT_OK), UNIT);
	assert_int_equal(alloc_in(0, PAGE, UNIT, 4, PRM_STAT_OK), UNIT << 4);
	assert_int_equal(alloc_in(5 * PAGE, 2 * PAGE, PAGE + UNIT, 0, PRM_STAT_OK), 5 * PAGE);
	assert_int_equal(alloc_in(5 * PAGE, 3 * PAGE, PAGE, 6, PRM_STAT_OK), 7 * PAGE);
	alloc_in(5 * PAGE, 2 * PAGE, PAGE, 0, PRM_STAT_NO_RES_ERR);
	memic_dealloc(5 * PAGE, PAGE + UNIT, PRM_STAT_OK);
	assert_int_equal(alloc_in(5 * PAGE, 2 * PAGE, PAGE, 0, PRM_STAT_OK), 5 * PAGE);
}

static void there_is_less_memory_than_room_for_it(void **state)
{
	(void)state;
	assert_int_equal(alloc_in(0, FLAT_MEMIC_BAR_SIZE, FLAT_MEMIC_SIZE, 0, PRM_STAT_OK), 0);
	alloc_in(0, FLAT_MEMIC_BAR_SIZE, UNIT, 0, PRM_STAT_NO_RES_ERR);
	memic_dealloc(0, FLAT_MEMIC_SIZE, PRM_STAT_OK);
	alloc_in(0, FLAT_MEMIC_BAR_SIZE, FLAT_MEMIC_SIZE + UNIT, 0, PRM_STAT_NO_RES_ERR);
}

static void nonsense_is_refused(void **state)
{
	(void)state;
	alloc_in(0, PAGE, 0, 0, PRM_STAT_BAD_PARAM_ERR);
	alloc_in(0, PAGE, 100, 0, PRM_STAT_BAD_PARAM_ERR);
	alloc_in(0, PAGE, UNIT, 7, PRM_STAT_BAD_PARAM_ERR);
	alloc_in(FLAT_MEMIC_BAR_SIZE, PAGE, UNIT, 0, PRM_STAT_BAD_PARAM_ERR);
	alloc_in(-PAGE, PAGE, UNIT, 0, PRM_STAT_BAD_PARAM_ERR);
	alloc_in(PAGE, FLAT_MEMIC_BAR_SIZE, UNIT, 0, PRM_STAT_BAD_PARAM_ERR);
	memic_dealloc(0, UNIT, PRM_STAT_BAD_RES_ERR);
	assert_int_equal(alloc_in(0, PAGE, UNIT, 0, PRM_STAT_OK), 0);
	memic_dealloc(0, 2 * UNIT, PRM_STAT_BAD_RES_ERR);
	key_of(0, UNIT + 1, 0, PRM_STAT_BAD_RES_ERR);
	key_of(UNIT, 1, 0, PRM_STAT_BAD_RES_ERR);
	key_of(0, UNIT, 1, PRM_STAT_BAD_PARAM_ERR);
}

/* A key's addresses count from its start. */
static void peers_read_and_write_it(void **state)
{
	uint64_t at, len = 2 * PAGE;
	uint32_t key;

	(void)state;
	pair(NULL, len);
	place_pages(flat.hca[1], memory);
	at = alloc_in(3 * PAGE, 4 * PAGE, 3 * PAGE, 0, PRM_STAT_OK);
	key = key_of(at + 100, len, 0, PRM_STAT_OK);
	write_to(0, key, from, len);
	flat_run(LONG / 1000);
	flat_expect_done(a->send_cq, REQ, 0);
	assert_memory_equal(memory + 3 * PAGE + 100, flat.mem + from, len);
	memset(flat.mem + from, 0, len);
	flat_ctrl(a, OP_READ, SIGNALED, 0);
	flat_raddr(a, 5, key);
	flat_data(a, from, len - 5, lkey);
	flat_post(a);
	flat_ring(a);
	flat_run(LONG / 1000);
	flat_expect_done(a->send_cq, REQ, 1);
	assert_memory_equal(memory + 3 * PAGE + 105, flat.mem + from, len - 5);
	unpair();
}

static void receives_land_in_it(void **state)
{
	uint64_t at;
	uint32_t key;

	(void)state;
	pair(NULL, PAGE);
	place_pages(flat.hca[1], memory);
	at = alloc_in(0, PAGE, PAGE, 0, PRM_STAT_OK);
	key = key_of(at, PAGE, 0, PRM_STAT_OK);
	flat_recv(b, 16, 1024, key);
	flat_send(a, OP_SEND, from, 1024, lkey);
	flat_run(LONG / 1000);
	flat_expect_done(b->recv_cq, RESP_SEND, 0);
	assert_memory_equal(memory + 16, flat.mem + from, 1024);
	unpair();
}

static void keys_end_where_they_say(void **state)
{
	uint32_t key;

	(void)state;
	pair(NULL, PAGE);
	place_pages(flat.hca[1], memory);
	key = key_of(alloc_in(0, PAGE, PAGE, 0, PRM_STAT_OK), UNIT, 0, PRM_STAT_OK);
	write_to(1, key, from, UNIT);
	flat_run(LONG);
	flat_expect_error(a->send_cq, REQ_ERR, 0, REMOTE_ACCESS);
	unpair();
}

static void pages_that_the_front_took_away_fault(void **state)
{
	uint32_t key;

	(void)state;
	pair(NULL, PAGE);
	key = key_of(alloc_in(0, PAGE, PAGE, 0, PRM_STAT_OK), PAGE, 0, PRM_STAT_OK);
	place_pages(flat.hca[1], NULL);
	write_to(0, key, from, UNIT);
	flat_run(LONG);
	flat_expect_error(a->send_cq, REQ_ERR, 0, REMOTE_OP);
	unpair();
}

static void keys_hold_their_block(void **state)
{
	uint64_t at = alloc_in(0, PAGE, PAGE, 0, PRM_STAT_OK);
	uint32_t first = key_of(at, UNIT, 0, PRM_STAT_OK),
		 second = key_of(at, PAGE, 0, PRM_STAT_OK);

	(void)state;
	memic_dealloc(at, PAGE, PRM_STAT_RES_BUSY);
	flat_simple(flat.hca[1], PRM_OP_DESTROY_MKEY, first >> 8, PRM_STAT_OK);
	memic_dealloc(at, PAGE, PRM_STAT_RES_BUSY);
	flat_simple(flat.hca[1], PRM_OP_DESTROY_MKEY, second >> 8, PRM_STAT_OK);
	memic_dealloc(at, PAGE, PRM_STAT_OK);
}

/* Opens an operation on the block at OFFSET; returns the offset of its window. */
static uint64_t memic_modify(uint32_t what, uint32_t operation, uint64_t offset,
			     enum prm_status expect)
{
	uint8_t in[PRM_MODIFY_MEMIC_IN_SIZE] = { 0 }, out[PRM_MODIFY_MEMIC_OUT_SIZE];

	fld_set(in, CMD_IN_OPCODE, PRM_OP_MODIFY_MEMIC);
	fld_set(in, CMD_IN_OP_MOD, what);
	fld_set(in, MODIFY_MEMIC_IN_MEMIC_OPERATION_TYPE, operation);
	fld_set(in, MODIFY_MEMIC_IN_MEMIC_START_ADDR, FLAT_MEMIC_BAR + offset);
	flat_cmd_expect(flat.hca[1], in, sizeof(in), out, sizeof(out), expect);
	return fld_get(out, MODIFY_MEMIC_OUT_MEMIC_OPERATION_ADDR);
}

static void increment(uint64_t at, uint8_t by)
{
	hca_memic_write(flat.hca[1], at, &by, 1);
}

static uint8_t test_and_set(uint64_t at)
{
	uint8_t byte;

	hca_memic_read(flat.hca[1], at, &byte, 1);
	return byte;
}

static void operations_are_on_the_byte_at_their_address(void **state)
{
	uint64_t at, add, set;

	(void)state;
	memset(memory, 0, sizeof(memory));
	place_pages(flat.hca[1], memory);
	at = alloc_in(3 * PAGE, 2 * PAGE, PAGE + UNIT, 0, PRM_STAT_OK);
	add = memic_modify(PRM_MODIFY_MEMIC_ALLOC, PRM_MEMIC_INCREMENT, at, PRM_STAT_OK);
	set = memic_modify(PRM_MODIFY_MEMIC_ALLOC, PRM_MEMIC_TEST_AND_SET, at, PRM_STAT_OK);
	assert_int_equal(add % PAGE, at % PAGE);
	for (unsigned int i = 0; i < 300; i++)
		increment(add + PAGE + 5, 1);
	increment(add + PAGE + 5, 7);
	assert_int_equal(memory[at + PAGE + 5], (uint8_t)(300 + 7));
	assert_int_equal(memory[at + PAGE + 4] | memory[at + PAGE + 6], 0);
	assert_int_equal(test_and_set(set + PAGE + 5), (uint8_t)(300 + 7));
	assert_int_equal(test_and_set(set + PAGE + 5), 0xff);
	increment(add + PAGE + 5, 1);
	assert_int_equal(memory[at + PAGE + 5], 0);
}

/* Accesses without an open operation change no byte, and reads return all ones. */
static void expect_no_operation(uint64_t at, size_t len)
{
	uint8_t bytes[8] = { 1, 1, 1, 1, 1, 1, 1, 1 };
	static uint8_t before[FLAT_MEMIC_BAR_SIZE];

	memcpy(before, memory, sizeof(before));
	hca_memic_write(flat.hca[1], at, bytes, len);
	hca_memic_read(flat.hca[1], at, bytes, len);
	assert_memory_equal(before, memory, sizeof(before));
	for (size_t i = 0; i < len; i++)
		assert_int_equal(bytes[i], 0xff);
}

static void accesses_beside_an_operation_do_nothing(void **state)
{
	uint64_t at, add, set;

	(void)state;
	memset(memory, 0x55, sizeof(memory));
	place_pages(flat.hca[1], memory);
	at = alloc_in(PAGE, PAGE, UNIT, 0, PRM_STAT_OK);
	expect_no_operation(FLAT_MEMIC_WINDOWS + at, 1);
	add = memic_modify(PRM_MODIFY_MEMIC_ALLOC, PRM_MEMIC_INCREMENT, at, PRM_STAT_OK);
	assert_int_equal(test_and_set(add), 0xff); /* the block's own address */
	set = add + FLAT_MEMIC_BAR_SIZE;           /* a window that is not open */
	expect_no_operation(set, 1);
	expect_no_operation(add, 2);
	expect_no_operation(add, 8);
	expect_no_operation(add + UNIT, 1);
	expect_no_operation(add - 1, 1);
	expect_no_operation(FLAT_MEMIC_WINDOWS - 1, 1);
	expect_no_operation(FLAT_MEMIC_WINDOWS + 2 * FLAT_MEMIC_BAR_SIZE, 1);
	memic_modify(PRM_MODIFY_MEMIC_DEALLOC, PRM_MEMIC_INCREMENT, at, PRM_STAT_OK);
	expect_no_operation(add, 1);
	memic_modify(PRM_MODIFY_MEMIC_ALLOC, PRM_MEMIC_INCREMENT, at, PRM_STAT_OK);
	place_pages(flat.hca[1], NULL);
	expect_no_operation(add, 1);
}

static void operations_hold_their_block(void **state)
{
	uint64_t at = alloc_in(0, PAGE, PAGE, 0, PRM_STAT_OK);

	(void)state;
	memic_modify(PRM_MODIFY_MEMIC_ALLOC, 2, at, PRM_STAT_BAD_PARAM_ERR);
	memic_modify(PRM_MODIFY_MEMIC_ALLOC, PRM_MEMIC_INCREMENT, at + UNIT,
		     PRM_STAT_BAD_PARAM_ERR);
	memic_modify(PRM_MODIFY_MEMIC_DEALLOC, PRM_MEMIC_INCREMENT, at, PRM_STAT_BAD_PARAM_ERR);
	memic_modify(PRM_MODIFY_MEMIC_DEALLOC, 2, at, PRM_STAT_BAD_PARAM_ERR);
	memic_modify(2, PRM_MEMIC_INCREMENT, at, PRM_STAT_BAD_PARAM_ERR);
	for (uint32_t operation = 0; operation < 2; operation++) {
		memic_modify(PRM_MODIFY_MEMIC_ALLOC, operation, at, PRM_STAT_OK);
		memic_modify(PRM_MODIFY_MEMIC_ALLOC, operation, at, PRM_STAT_BAD_PARAM_ERR);
		memic_dealloc(at, PAGE, PRM_STAT_RES_BUSY);
		memic_modify(PRM_MODIFY_MEMIC_DEALLOC, operation, at, PRM_STAT_OK);
	}
	memic_dealloc(at, PAGE, PRM_STAT_OK);
}

static void query_page(struct hca *hca, unsigned int page, uint8_t *cap)
{
	uint8_t in[16] = { 0 }, out[16 + PRM_HCA_CAP_SIZE];

	fld_set(in, CMD_IN_OPCODE, PRM_OP_QUERY_HCA_CAP);
	fld_set(in, CMD_IN_OP_MOD, page << 1);
	flat_cmd(hca, in, sizeof(in), out, sizeof(out));
	memcpy(cap, out + 16, PRM_HCA_CAP_SIZE);
}

static void capabilities_say_what_there_is(void **state)
{
	uint8_t cap[PRM_HCA_CAP_SIZE];

	(void)state;
	query_page(flat.hca[0], PRM_CAP_GENERAL, cap);
	assert_int_equal(fld_get(cap, HCA_CAP_DEVICE_MEMORY), 1);
	assert_int_equal(fld_get(cap, HCA_CAP_PG), 1);
	query_page(flat.hca[0], PRM_CAP_DEV_MEM, cap);
	assert_int_equal(fld_get(cap, MEM_CAP_MEMIC), 1);
	assert_int_equal(fld_get(cap, MEM_CAP_MAX_MEMIC_SIZE), FLAT_MEMIC_SIZE);
	assert_int_equal(fld_get(cap, MEM_CAP_MEMIC_BAR_SIZE), FLAT_MEMIC_BAR_SIZE);
	assert_int_equal(fld_get(cap, MEM_CAP_MEMIC_OPERATIONS), 3);
	assert_int_equal(fld_get(cap, MEM_CAP_MEMIC_INCREMENT_SIZES), 1);
	assert_int_equal(fld_get(cap, MEM_CAP_MEMIC_TEST_AND_SET_SIZES), 1);
	query_page(flat.hca[0], PRM_CAP_ODP, cap);
	assert_int_equal(fld_get(fld_at(cap, ODP_CAP_RC), ODP_ATOMIC), 1);
	assert_int_equal(fld_get(fld_at(cap, ODP_CAP_UD), ODP_RECEIVE), 0);
}

static int no_dma(void *bus, const struct hca_bus_seg *segs, unsigned int nsegs, void *buf)
{
	(void)bus;
	(void)segs;
	(void)nsegs;
	(void)buf;
	return -1;
}

static int no_dma_out(void *bus, const struct hca_bus_seg *segs, unsigned int nsegs,
		      const void *buf)
{
	return no_dma(bus, segs, nsegs, (void *)(uintptr_t)buf);
}

static void an_adapter_without_it_says_so(void **state)
{
	static const struct hca_bus_ops ops = { .read = no_dma, .write = no_dma_out };
	struct hca_config config = { .num_ports = 1, .bus_ops = &ops };
	uint8_t in[PRM_ALLOC_MEMIC_IN_SIZE] = { 0 }, out[16], cap[PRM_HCA_CAP_SIZE];
	struct hca *hca;

	(void)state;
	assert_int_equal(hca_create(&config, &mlx5_format, &hca), 0);
	fld_set(in, CMD_IN_OPCODE, PRM_OP_ALLOC_MEMIC);
	flat_cmd_expect(hca, in, sizeof(in), out, sizeof(out), PRM_STAT_BAD_OP_ERR);
	query_page(hca, PRM_CAP_GENERAL, cap);
	assert_int_equal(fld_get(cap, HCA_CAP_DEVICE_MEMORY), 0);
	assert_int_equal(fld_get(cap, HCA_CAP_PG), 0);
	query_page(hca, PRM_CAP_DEV_MEM, cap);
	assert_int_equal(fld_get(cap, MEM_CAP_MAX_MEMIC_SIZE), 0);
	hca_destroy(hca);
}

/* An adapter whose front cannot trap accesses offers no operations on its memory: nothing would
 * execute them. */
static void an_adapter_without_windows_says_so(void **state)
{
	static const struct hca_bus_ops ops = { .read = no_dma, .write = no_dma_out };
	struct hca_config config = { .num_ports = 1,
				     .bus_ops = &ops,
				     .memic_size = PAGE,
				     .memic_bar = FLAT_MEMIC_BAR,
				     .memic_bar_size = PAGE };
	uint8_t in[PRM_ALLOC_MEMIC_IN_SIZE] = { 0 }, out[16], cap[PRM_HCA_CAP_SIZE];
	uint8_t modify[PRM_MODIFY_MEMIC_IN_SIZE] = { 0 }, answer[PRM_MODIFY_MEMIC_OUT_SIZE];
	struct hca *hca;

	(void)state;
	assert_int_equal(hca_create(&config, &mlx5_format, &hca), 0);
	query_page(hca, PRM_CAP_DEV_MEM, cap);
	assert_int_equal(fld_get(cap, MEM_CAP_MEMIC), 1);
	assert_int_equal(fld_get(cap, MEM_CAP_MEMIC_OPERATIONS), 0);
	fld_set(in, CMD_IN_OPCODE, PRM_OP_ALLOC_MEMIC);
	fld_set(in, ALLOC_MEMIC_IN_RANGE_START_ADDR, FLAT_MEMIC_BAR);
	fld_set(in, ALLOC_MEMIC_IN_RANGE_SIZE, PAGE);
	fld_set(in, ALLOC_MEMIC_IN_MEMIC_SIZE, PAGE);
	flat_cmd_expect(hca, in, sizeof(in), out, sizeof(out), PRM_STAT_OK);
	fld_set(modify, CMD_IN_OPCODE, PRM_OP_MODIFY_MEMIC);
	fld_set(modify, MODIFY_MEMIC_IN_MEMIC_START_ADDR, FLAT_MEMIC_BAR);
	flat_cmd_expect(hca, modify, sizeof(modify), answer, sizeof(answer),
			PRM_STAT_BAD_PARAM_ERR);
	hca_destroy(hca);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, flat_setup, flat_teardown)
	const struct CMUnitTest tests[] = {
		TEST(blocks_lie_in_their_range_and_do_not_overlap),
		TEST(there_is_less_memory_than_room_for_it),
		TEST(nonsense_is_refused),
		TEST(peers_read_and_write_it),
		TEST(receives_land_in_it),
		TEST(keys_end_where_they_say),
		TEST(pages_that_the_front_took_away_fault),
		TEST(keys_hold_their_block),
		TEST(operations_are_on_the_byte_at_their_address),
		TEST(accesses_beside_an_operation_do_nothing),
		TEST(operations_hold_their_block),
		TEST(capabilities_say_what_there_is),
		TEST(an_adapter_without_it_says_so),
		TEST(an_adapter_without_windows_says_so),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

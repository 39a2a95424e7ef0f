/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * mini_cqe_test.c - compressed CQEs, byte by byte: titles and arrays of mini CQEs that an adapter
 * writes, and the entries that it leaves alone.
 *
 * Covers: softhca/device/format/mlx5/mini_cqe.c, softhca/device/queue/cq_run.c
 */
#include "pair.h"
#include "prm/mlx5/cqc.h"
#include "prm/mlx5/cqe.h"
#include "prm/mlx5/mini_cqe.h"

enum { LOG = 5, PLENTY = 256 /* a byte that no CQE has */ };

static const struct flat_qp_attr checksums = {
	.rq_log = LOG,
	.sq_log = LOG,
	.cq_log = LOG,
	.cqe_size = 64 | FLAT_COMPRESSED | PRM_MINI_CQE_CHECKSUM << FLAT_FORMAT_SHIFT
};

static void post_run(unsigned int count)
{
	for (unsigned int i = 0; i < count; i++) {
		flat_recv(b, to, 4096, rkey);
		flat_ctrl(a, OP_SEND, SIGNALED, 0);
		flat_data(a, from, PLENTY + i, lkey);
		flat_post(a);
	}
	flat_ring(a);
}

static void send_run(unsigned int count)
{
	post_run(count);
	flat_run(LONG / 1000);
}

static uint8_t *entry(const struct flat_cq *cq, uint32_t index)
{
	uint64_t slot = index & ((1u << cq->log_size) - 1);

	return flat.mem + cq->ring + (slot + 1) * cq->cqe_size - 64;
}

/* Consumes COUNT CQEs as a program does, and marks their entries as owned by hardware for the next
 * lap. */
static void cq_skip(struct flat_cq *cq, uint32_t count)
{
	for (; count; count--, cq->ci++)
		entry(cq, cq->ci)[63] = 0xf0 | (cq->ci >> cq->log_size & 1);
	fld_set(flat.mem + cq->dbr, FLD(0, 23, 0), cq->ci);
}

static void expect_title(const struct flat_cq *cq, uint32_t index, uint8_t opcode, uint16_t counter,
			 uint32_t count)
{
	const uint8_t *title = entry(cq, index);

	assert_int_equal(fld_get(title, CQE_OPCODE), opcode);
	assert_int_equal(fld_get(title, CQE_FORMAT), CQE_FORMAT_COMPRESSED);
	assert_int_equal(fld_get(title, CQE_OWNER), index >> cq->log_size & 1);
	assert_int_equal(fld_get(title, CQE_WQE_COUNTER), counter);
	assert_int_equal(fld_get(title, CQE_BYTE_COUNT), count);
}

static void a_run_is_a_title_and_arrays(void **state)
{
	enum { COUNT = 11 };

	(void)state;
	pair(&checksums, 4096);
	send_run(COUNT);
	expect_title(b->recv_cq, 0, RESP_SEND, 0, COUNT);
	for (uint32_t i = 0; i < COUNT; i++) {
		const uint8_t *mini = entry(b->recv_cq, i < 8 ? 1 : 8) + i % 8 * 8;

		assert_int_equal(fld_get(mini, MINI_CQE_BYTE_COUNT), PLENTY + i);
		assert_int_equal(fld_get(mini, FLD(0, 31, 0)), 0);
	}
	/* All other entries are untouched. */
	for (uint32_t i = 2; i < COUNT + 1; i++)
		if (i != 8)
			assert_int_equal(entry(b->recv_cq, i)[63], 0xf1);
	/* The next CQE follows the entries of the whole run. */
	cq_skip(b->recv_cq, COUNT);
	send_run(1);
	flat_expect_done(b->recv_cq, RESP_SEND, COUNT);
	unpair();
}

static void a_requester_says_counter_and_opcode(void **state)
{
	const uint8_t *array;

	(void)state;
	pair(&checksums, 4096);
	for (int i = 0; i < 2; i++) {
		flat_recv(b, to, 4096, rkey);
		flat_ctrl(a, OP_WRITE, SIGNALED, 0);
		flat_raddr(a, to, rkey);
		flat_data(a, from, 8, lkey);
		flat_post(a);
		flat_ctrl(a, OP_SEND, SIGNALED, 0);
		flat_data(a, from, PLENTY, lkey);
		flat_post(a);
	}
	flat_ring(a);
	flat_run(LONG / 1000);
	expect_title(a->send_cq, 0, REQ, 0, 4);
	array = entry(a->send_cq, 1);
	for (uint32_t i = 0; i < 4; i++) {
		assert_int_equal(fld_get(array + 8 * i, MINI_CQE_WQE_COUNTER), i);
		assert_int_equal(fld_get(array + 8 * i, MINI_CQE_SEND_OPCODE),
				 i % 2 ? OP_SEND : OP_WRITE);
		assert_int_equal(fld_get(array + 8 * i, FLD(0, 7, 0)), 0);
		assert_int_equal(fld_get(array + 8 * i, MINI_CQE_BYTE_COUNT), 0);
	}
	unpair();
}

static void the_stride_format_has_the_counter(void **state)
{
	struct flat_qp_attr attr = checksums;

	(void)state;
	attr.cqe_size = 64 | FLAT_COMPRESSED | PRM_MINI_CQE_CHECKSUM_STRIDE << FLAT_FORMAT_SHIFT;
	pair(&attr, 4096);
	send_run(3);
	expect_title(b->recv_cq, 0, RESP_SEND, 0, 3);
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(fld_get(entry(b->recv_cq, 1) + 8 * i, MINI_CQE_STRIDE), i);
	unpair();
}

static void wide_entries_have_them_at_their_end(void **state)
{
	struct flat_qp_attr attr = checksums;

	(void)state;
	attr.cqe_size = 128 | FLAT_COMPRESSED;
	pair(&attr, 4096);
	send_run(9);
	expect_title(b->recv_cq, 0, RESP_SEND, 0, 9);
	assert_int_equal(fld_get(entry(b->recv_cq, 1) + 56, MINI_CQE_BYTE_COUNT), PLENTY + 7);
	assert_int_equal(fld_get(entry(b->recv_cq, 8), MINI_CQE_BYTE_COUNT), PLENTY + 8);
	unpair();
}

static void a_run_ends_with_the_ring(void **state)
{
	(void)state;
	pair(&checksums, 4096);
	send_run(30);
	cq_skip(a->send_cq, 30);
	cq_skip(b->recv_cq, 30);
	send_run(8);
	expect_title(b->recv_cq, 30, RESP_SEND, 30, 2);
	expect_title(b->recv_cq, 32, RESP_SEND, 32, 6);
	unpair();
}

static void one_alone_is_a_cqe(void **state)
{
	(void)state;
	pair(&checksums, 4096);
	for (uint16_t i = 0; i < 3; i++) {
		send_run(1);
		flat_expect_done(b->recv_cq, RESP_SEND, i);
		flat_expect_done(a->send_cq, REQ, i);
	}
	unpair();
}

static void payload_in_a_cqe_ends_a_run(void **state)
{
	struct flat_qp_attr attr = checksums;

	(void)state;
	attr.cs_res = 1;
	pair(&attr, 4096);
	for (int i = 0; i < 5; i++) {
		flat_recv(b, to, 4096, rkey);
		flat_ctrl(a, OP_SEND, SIGNALED, 0);
		flat_data(a, from, i == 2 ? 16 : PLENTY, lkey);
		flat_post(a);
	}
	flat_ring(a);
	flat_run(LONG / 1000);
	expect_title(b->recv_cq, 0, RESP_SEND, 0, 2);
	assert_int_equal(fld_get(entry(b->recv_cq, 2), CQE_FLAGS), CQE_INLINE_32);
	expect_title(b->recv_cq, 3, RESP_SEND, 3, 2);
	unpair();
}

/* A resize right after a run completes the run in the old ring, in front of the CQE that ends that
 * ring: software does not return to it. */
static void a_resize_leaves_none_behind(void **state)
{
	struct flat_cq sent, received;

	(void)state;
	pair(&checksums, 4096);
	post_run(5);
	hca_progress(flat.hca[0], flat.now);
	sent = *a->send_cq;
	received = *b->recv_cq;
	assert_int_equal(flat_resize(a->send_cq, LOG + 1), PRM_STAT_OK);
	assert_int_equal(flat_resize(b->recv_cq, LOG + 1), PRM_STAT_OK);
	expect_title(&sent, 0, REQ, 0, 5);
	expect_title(&received, 0, RESP_SEND, 0, 5);
	/* The resize CQE takes the last index of the old ring. */
	assert_int_equal(fld_get(entry(&received, 5), CQE_OPCODE), CQE_OP_RESIZE);
	a->send_cq->ci = b->recv_cq->ci = 6;
	send_run(1);
	flat_expect_done(a->send_cq, REQ, 5);
	flat_expect_done(b->recv_cq, RESP_SEND, 5);
	unpair();
}

static const struct flat_qp_attr blocks = {
	.rq_log = LOG,
	.sq_log = LOG,
	.cq_log = LOG,
	.cqe_size = 64 | FLAT_COMPRESSED | FLAT_BLOCKS | PRM_MINI_CQE_CHECKSUM << FLAT_FORMAT_SHIFT
};

static void expect_block(const struct flat_cq *cq, uint32_t index, uint32_t count, uint32_t first)
{
	const uint8_t *block = entry(cq, index);

	assert_int_equal(fld_get(block, CQE_OPCODE), count - 1);
	assert_int_equal(fld_get(block, CQE_FORMAT), CQE_FORMAT_COMPRESSED);
	assert_int_equal(fld_get(block, CQE_VALIDITY), index >> cq->log_size);
	for (uint32_t i = 0; i < count; i++)
		assert_int_equal(fld_get(block + 8 * i, MINI_CQE_BYTE_COUNT), first + i);
}

/* The title of a block is a complete CQE of its own. PRM: CQE Compression */
static void expect_whole(const struct flat_cq *cq, uint32_t index, uint16_t counter)
{
	const uint8_t *cqe = entry(cq, index);

	assert_int_equal(fld_get(cqe, CQE_OPCODE), RESP_SEND);
	assert_int_equal(fld_get(cqe, CQE_FORMAT), 0);
	assert_int_equal(fld_get(cqe, CQE_VALIDITY), index >> cq->log_size);
	assert_int_equal(fld_get(cqe, CQE_WQE_COUNTER), counter);
}

static void blocks_go_on_from_a_cqe(void **state)
{
	(void)state;
	pair(&blocks, 4096);
	send_run(11);
	expect_whole(b->recv_cq, 0, 0);
	expect_block(b->recv_cq, 1, 7, PLENTY + 1);
	expect_block(b->recv_cq, 8, 3, PLENTY + 8);
	for (uint32_t i = 2; i < 11; i++)
		if (i != 8)
			assert_int_equal(entry(b->recv_cq, i)[63], 0xf1);
	/* The next run continues from the same title; a run of one is a complete CQE and a new
	 * title. PRM: CQE Compression */
	cq_skip(b->recv_cq, 11);
	cq_skip(a->send_cq, 11);
	send_run(2);
	expect_block(b->recv_cq, 11, 2, PLENTY);
	cq_skip(b->recv_cq, 2);
	cq_skip(a->send_cq, 2);
	send_run(1);
	expect_whole(b->recv_cq, 13, 13);
	unpair();
}

/* A title is valid only within one lap of the ring, as its owner bit is that lap's. */
static void a_block_ends_with_the_ring(void **state)
{
	(void)state;
	pair(&blocks, 4096);
	send_run(29);
	cq_skip(a->send_cq, 29);
	cq_skip(b->recv_cq, 29);
	send_run(6);
	expect_block(b->recv_cq, 29, 3, PLENTY);
	expect_whole(b->recv_cq, 32, 32);
	expect_block(b->recv_cq, 33, 2, PLENTY + 4);
	unpair();
}

/* A CQE with inline data is not compressed, as a mini-CQE has no room for the data. It ends the
 * former title, and is no title itself. */
static void another_cqe_ends_blocks(void **state)
{
	struct flat_qp_attr attr = blocks;

	(void)state;
	attr.cs_res = 1;
	pair(&attr, 4096);
	for (int i = 0; i < 7; i++) {
		flat_recv(b, to, 4096, rkey);
		flat_ctrl(a, OP_SEND, SIGNALED, 0);
		flat_data(a, from, i == 3 ? 16 : PLENTY + i, lkey);
		flat_post(a);
	}
	flat_ring(a);
	flat_run(LONG / 1000);
	expect_whole(b->recv_cq, 0, 0);
	expect_block(b->recv_cq, 1, 2, PLENTY + 1);
	assert_int_equal(fld_get(entry(b->recv_cq, 3), CQE_FLAGS), CQE_INLINE_32);
	assert_int_equal(fld_get(entry(b->recv_cq, 3), CQE_VALIDITY), 0);
	expect_whole(b->recv_cq, 4, 4);
	expect_block(b->recv_cq, 5, 2, PLENTY + 5);
	unpair();
}

static void unknown_formats_are_refused(void **state)
{
	uint8_t in[PRM_CREATE_CQ_IN_SIZE + 8] = { 0 }, out[16];
	uint8_t *cqc = fld_at(in, CREATE_CQ_IN_CQC);

	(void)state;
	fld_set(in, CMD_IN_OPCODE, PRM_OP_CREATE_CQ);
	fld_set(cqc, CQC_UAR_PAGE, flat.uar[0]);
	fld_set(cqc, CQC_C_EQN, flat.eqn[0]);
	fld_set(cqc, CQC_CQE_COMP_EN, 1);
	fld_set(cqc, CQC_MINI_CQE_RES_FORMAT, 2);
	flat_cmd_expect(flat.hca[0], in, sizeof(in), out, sizeof(out), PRM_STAT_BAD_PARAM_ERR);
	fld_set(cqc, CQC_MINI_CQE_RES_FORMAT, PRM_MINI_CQE_HASH);
	fld_set(cqc, CQC_CQE_COMPRESSION_LAYOUT, PRM_CQE_COMPRESSION_ENHANCED + 1);
	flat_cmd_expect(flat.hca[0], in, sizeof(in), out, sizeof(out), PRM_STAT_BAD_PARAM_ERR);
}

#define ON(function) cmocka_unit_test_setup_teardown(function, flat_setup, flat_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		ON(a_run_is_a_title_and_arrays),       ON(a_requester_says_counter_and_opcode),
		ON(the_stride_format_has_the_counter), ON(wide_entries_have_them_at_their_end),
		ON(a_run_ends_with_the_ring),          ON(one_alone_is_a_cqe),
		ON(payload_in_a_cqe_ends_a_run),       ON(a_resize_leaves_none_behind),
		ON(blocks_go_on_from_a_cqe),           ON(a_block_ends_with_the_ring),
		ON(another_cqe_ends_blocks),           ON(unknown_formats_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

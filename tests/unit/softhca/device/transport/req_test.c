/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * req_test.c - every RC operation between two adapters: data, CQE bytes, ring wraps, bus calls.
 *
 * Covers: softhca/device/transport/req.c, softhca/device/transport/resp.c,
 * softhca/device/transport/packets.c, softhca/device/queue/sq.c, softhca/device/queue/rq.c,
 * softhca/device/queue/sge.c, softhca/device/queue/qp.c, softhca/device/format/mlx5/cqe.c,
 * softhca/net/fabric.c, softhca/device/memory/dma.c
 */
#include "pair.h"
#include "prm/mlx5/cmd.h"
#include "softhca/device/core.h"
#include "util/bits.h"

static void same(uint64_t len)
{
	assert_memory_equal(flat.mem + from, flat.mem + to, len);
}

static void send_completes_on_both_sides(void **state)
{
	const uint8_t *cqe;

	(void)state;
	pair(NULL, 4096);
	flat_recv(b, to, 4096, rkey);
	flat_send(a, OP_SEND, from, 64, lkey);
	flat_run(LONG);
	same(64);
	flat_expect_done(a->send_cq, REQ, 0);
	cqe = flat.mem + b->recv_cq->ring;
	flat_expect_done(b->recv_cq, RESP_SEND, 0);
	assert_int_equal(fld_get(cqe, FLD(0x2c, 31, 0)), 64);
	assert_int_equal(fld_get(cqe, FLD(0x38, 23, 0)), b->n);
	assert_int_equal(fld_get(cqe, FLD(0x18, 23, 0)), a->n);
	flat_expect_empty(a->send_cq);
	flat_expect_empty(b->recv_cq);
	unpair();
}

static void small_send_takes_five_bus_calls(void **state)
{
	unsigned int before;

	(void)state;
	pair(NULL, 4096);
	flat_recv(b, to, 4096, rkey);
	before = flat.reads + flat.writes;
	flat_send(a, OP_SEND, from, 64, lkey);
	flat_run(LONG);
	/* doorbell record and WQE; payload; receive WQE; data with the CQE there; the CQE here */
	assert_int_equal(flat.reads + flat.writes - before, 5);
	unpair();
}

static void long_write_arrives_whole(void **state)
{
	enum { SIZE = 3 * 1000 * 1000 + 17 };

	(void)state;
	pair(NULL, SIZE);
	flat_ctrl(a, OP_WRITE, SIGNALED, 0);
	flat_raddr(a, to, rkey);
	flat_data(a, from, 1000001, lkey);
	flat_data(a, from + 1000001, SIZE - 1000001, lkey);
	flat_post(a);
	flat_ring(a);
	flat_run(LONG);
	same(SIZE);
	flat_expect_done(a->send_cq, REQ, 0);
	flat_expect_empty(b->recv_cq);
	unpair();
}

static void long_read_arrives_whole(void **state)
{
	enum { SIZE = 1024 * 1024 + 5 };
	const uint8_t *cqe;

	(void)state;
	pair(NULL, SIZE);
	flat_ctrl(b, OP_READ, SIGNALED, 0);
	flat_raddr(b, from, lkey);
	flat_data(b, to, SIZE, rkey);
	flat_post(b);
	flat_ring(b);
	flat_run(LONG);
	same(SIZE);
	cqe = flat.mem + b->send_cq->ring;
	flat_expect_done(b->send_cq, REQ, 0);
	assert_int_equal(cqe[56], OP_READ);
	assert_int_equal(fld_get(cqe, FLD(0x2c, 31, 0)), SIZE);
	unpair();
}

static void write_with_immediate_consumes_a_receive(void **state)
{
	const uint8_t *cqe;

	(void)state;
	pair(NULL, 4096);
	flat_recv(b, 0, 0, 0x100);
	flat_ctrl(a, OP_WRITE_IMM, SIGNALED | SOLICITED, 0x11223344);
	flat_raddr(a, to, rkey);
	flat_data(a, from, 100, lkey);
	flat_post(a);
	flat_ring(a);
	flat_run(LONG);
	same(100);
	cqe = flat.mem + b->recv_cq->ring;
	flat_expect_done(b->recv_cq, RESP_WRITE_IMM, 0);
	assert_memory_equal(cqe + 0x24, "\x11\x22\x33\x44", 4);
	assert_int_equal(fld_get(cqe, FLD(0x2c, 31, 0)), 100);
	assert_true(cqe[63] & SOLICITED);
	unpair();
}

static void send_with_invalidate_kills_the_key(void **state)
{
	uint32_t key;

	(void)state;
	pair(NULL, 4096);
	key = flat_mr(flat.hca[1], flat.pd[1], to, 4096, ALL_ACCESS | REMOTE_INVALIDATE);
	flat_recv(b, to, 4096, rkey);
	flat_ctrl(a, OP_SEND_INVAL, SIGNALED, key);
	flat_data(a, from, 8, lkey);
	flat_post(a);
	flat_ring(a);
	flat_run(LONG);
	flat_expect_done(a->send_cq, REQ, 0);
	flat_expect_done(b->recv_cq, RESP_SEND_INVAL, 0);
	flat_ctrl(a, OP_WRITE, SIGNALED, 0);
	flat_raddr(a, to, key);
	flat_data(a, from, 8, lkey);
	flat_post(a);
	flat_ring(a);
	flat_run(LONG);
	flat_expect_error(a->send_cq, 13, 1, 0x13);
	unpair();
}

static void inline_data_wraps_with_the_ring(void **state)
{
	struct flat_qp_attr attr = { .sq_log = 2, .rq_log = 5 };
	char text[100];

	(void)state;
	pair(&attr, 4096);
	/* two WQEBBs each, from each position in a ring of four */
	for (int i = 0; i < 9; i++) {
		memset(text, 'a' + i, sizeof(text));
		flat_recv(b, to, 4096, rkey);
		if (i == 4) {
			flat_ctrl(a, OP_NOP, SIGNALED, 0);
			flat_post(a);
		}
		flat_ctrl(a, OP_SEND, SIGNALED, 0);
		flat_inline(a, text, sizeof(text));
		flat_post(a);
		flat_ring(a);
		flat_run(LONG);
		assert_memory_equal(flat.mem + to, text, sizeof(text));
		if (i == 4)
			flat_expect_done(a->send_cq, REQ, 8);
		flat_expect_done(a->send_cq, REQ, 2 * i + (i >= 4));
		flat_expect_done(b->recv_cq, RESP_SEND, i);
	}
	unpair();
}

static void indices_wrap_at_16_bits(void **state)
{
	struct flat_qp_attr attr = { .sq_log = 4, .rq_log = 4, .cq_log = 4, .first_psn = 0xfffff0 };

	(void)state;
	pair(&attr, 4096);
	for (uint32_t i = 0; i < 70000; i++) {
		flat_recv(b, to, 4096, rkey);
		flat_send(a, OP_SEND, from, 4, lkey);
		flat_run(LONG);
		flat_expect_done(a->send_cq, REQ, i);
		flat_expect_done(b->recv_cq, RESP_SEND, i);
	}
	unpair();
}

static void atomics_return_the_old_value(void **state)
{
	uint64_t value = 41, old;

	(void)state;
	pair(NULL, 4096);
	memcpy(flat.mem + to + 8, &value, 8);
	flat_ctrl(a, OP_FA, SIGNALED, 0);
	flat_raddr(a, to + 8, rkey);
	flat_atomic(a, 1, 0);
	flat_data(a, from, 8, lkey);
	flat_post(a);
	flat_ctrl(a, OP_CS, SIGNALED, 0);
	flat_raddr(a, to + 8, rkey);
	flat_atomic(a, 100, 42);
	flat_data(a, from + 8, 8, lkey);
	flat_post(a);
	flat_ctrl(a, OP_CS, SIGNALED, 0);
	flat_raddr(a, to + 8, rkey);
	flat_atomic(a, 7, 42);
	flat_data(a, from + 16, 8, lkey);
	flat_post(a);
	flat_ring(a);
	flat_run(LONG);
	memcpy(&old, flat.mem + from, 8);
	assert_int_equal(old, 41);
	memcpy(&old, flat.mem + from + 8, 8);
	assert_int_equal(old, 42);
	memcpy(&old, flat.mem + from + 16, 8);
	assert_int_equal(old, 100);
	memcpy(&value, flat.mem + to + 8, 8);
	assert_int_equal(value, 100);
	flat_expect_done(a->send_cq, REQ, 0);
	flat_expect_done(a->send_cq, REQ, 1);
	flat_expect_done(a->send_cq, REQ, 2);
	unpair();
}

static void post_of(uint8_t opcode, int at)
{
	flat_ctrl(a, opcode, SIGNALED, 0);
	flat_raddr(a, to, rkey);
	if (opcode != OP_READ)
		flat_atomic(a, 1, 0);
	flat_data(a, from + 8 * at, 8, lkey);
	flat_post(a);
}

/* Returns how many of 20 requests leave while none is answered. */
static uint32_t requests_that_leave(uint8_t opcode, uint32_t rd_atomic_log)
{
	enum { POSTED = 20 };
	struct flat_qp_attr attr = { .retry = 7, .timeout = 14, .rd_atomic_log = rd_atomic_log };
	const struct qp *qp;
	uint32_t left;

	pair(&attr, 4096);
	for (int i = 0; i < POSTED; i++)
		post_of(opcode, i);
	flat_ring(a);
	flat_run(LONG / 1000);
	qp = res_find(&flat.hca[0]->qps, a->n);
	left = qp->req.next_psn - qp->req.unacked;
	unpair();
	return left;
}

/* IBTA vol 1, 9.7.3.2 */
static void no_more_reads_and_atomics_leave_than_the_peer_keeps(void **state)
{
	static const uint8_t opcodes[] = { OP_READ, OP_FA, OP_CS };

	(void)state;
	assert_int_equal(fault_add(flat.fault, "drop:100%", flat.now), 0);
	for (size_t i = 0; i < ARRAY_SIZE(opcodes); i++)
		for (uint32_t log = 0; log < 5; log++)
			assert_int_equal(requests_that_leave(opcodes[i], log), 1 << log);
}

static void unsignaled_writes_leave_no_cqe(void **state)
{
	(void)state;
	pair(NULL, 4096);
	for (int i = 0; i < 3; i++) {
		flat_ctrl(a, OP_WRITE, i == 2 ? SIGNALED : 0, 0);
		flat_raddr(a, to + i, rkey);
		flat_data(a, from + i, 1, lkey);
		flat_post(a);
	}
	flat_ring(a);
	flat_run(LONG);
	same(3);
	flat_expect_done(a->send_cq, REQ, 2);
	flat_expect_empty(a->send_cq);
	unpair();
}

static void padding_is_written_with_the_cqe(void **state)
{
	struct flat_qp_attr attr = { .cqe_size = 128 | FLAT_PADDED };
	static const uint8_t zeroes[64];
	const uint8_t *cqe;

	(void)state;
	pair(&attr, 4096);
	memset(flat.mem + a->send_cq->ring, 0xee, 64);
	assert_int_equal(flat_resize(a->send_cq, 4), PRM_STAT_OK);
	memset(flat.mem + a->send_cq->ring, 0xee, 64);
	write_to(to, rkey, from, 100);
	flat_run(LONG);
	cqe = flat_poll(a->send_cq);
	assert_non_null(cqe);
	assert_memory_equal(cqe - 64, zeroes, 64);
	unpair();
}

static void without_padding_the_first_half_stays(void **state)
{
	struct flat_qp_attr attr = { .cqe_size = 128 };
	uint8_t untouched[64];
	const uint8_t *cqe;

	(void)state;
	memset(untouched, 0xee, sizeof(untouched));
	pair(&attr, 4096);
	memset(flat.mem + a->send_cq->ring, 0xee, 64);
	write_to(to, rkey, from, 100);
	flat_run(LONG);
	cqe = flat_poll(a->send_cq);
	assert_non_null(cqe);
	assert_memory_equal(cqe - 64, untouched, 64);
	unpair();
}

static void small_data_goes_into_the_cqe(void **state)
{
	struct flat_qp_attr attr = { .cs_req = 0x22, .cs_res = 2, .cqe_size = 128 };
	const uint8_t *cqe;

	(void)state;
	pair(&attr, 4096);
	flat_recv(b, to, 4096, rkey);
	flat_recv(b, to, 4096, rkey);
	flat_send(a, OP_SEND, from, 64, lkey);
	flat_send(a, OP_SEND, from, 5, lkey);
	flat_run(LONG);
	cqe = flat_poll(b->recv_cq);
	assert_int_equal(cqe[63] & 0xc, 8);
	assert_memory_equal(cqe - 64, flat.mem + from, 64);
	cqe = flat_poll(b->recv_cq);
	assert_int_equal(cqe[63] & 0xc, 4);
	assert_memory_equal(cqe, flat.mem + from, 5);
	assert_int_equal(flat.mem[to], 0);

	flat_ctrl(b, OP_READ, SIGNALED, 0);
	flat_raddr(b, from, lkey);
	flat_data(b, to, 40, rkey);
	flat_post(b);
	flat_ring(b);
	flat_run(LONG);
	cqe = flat_poll(b->send_cq);
	assert_int_equal(cqe[63] & 0xc, 8);
	assert_memory_equal(cqe - 64, flat.mem + from, 40);
	assert_int_equal(flat.mem[to], 0);
	unpair();
}

static void messages_may_be_empty(void **state)
{
	const uint8_t *cqe;

	(void)state;
	pair(NULL, 4096);
	flat_recv(b, to, 4096, rkey);
	flat_ctrl(a, OP_SEND_IMM, SIGNALED, 7);
	flat_post(a);
	flat_ctrl(a, OP_WRITE, SIGNALED, 0);
	flat_raddr(a, 0, 0); /* zero bytes need no key, as IBTA allows any */
	flat_post(a);
	flat_ctrl(a, OP_READ, SIGNALED, 0);
	flat_raddr(a, 0, 0);
	flat_post(a);
	flat_ring(a);
	flat_run(LONG / 100);
	cqe = flat.mem + b->recv_cq->ring;
	flat_expect_done(b->recv_cq, RESP_SEND_IMM, 0);
	assert_int_equal(fld_get(cqe, FLD(0x2c, 31, 0)), 0);
	flat_expect_done(a->send_cq, REQ, 0);
	flat_expect_done(a->send_cq, REQ, 1);
	flat_expect_done(a->send_cq, REQ, 2);
	unpair();
}

static void receive_scatters_over_its_segments(void **state)
{
	uint8_t *slot;

	(void)state;
	pair(NULL, 4096);
	flat_recv(b, to + 1000, 10, rkey);
	slot = flat.mem + b->rq;
	memcpy(slot + 16, slot, 16);
	fld_set(slot + 16, FLD64(0x8), to);
	fld_set(slot + 16, FLD(0x0, 31, 0), 50);
	flat_send(a, OP_SEND, from, 60, lkey);
	flat_run(LONG / 100);
	flat_expect_done(b->recv_cq, RESP_SEND, 0);
	assert_memory_equal(flat.mem + to + 1000, flat.mem + from, 10);
	assert_memory_equal(flat.mem + to, flat.mem + from + 10, 50);
	unpair();
}

/* Page i of the region is page (last - i) of memory, so no two pages are adjacent. */
static void scattered_pages_are_found(void **state)
{
	enum { PAGES = 301 };
	uint64_t page;

	(void)state;
	pair(NULL, PAGES * 4096);
	flat.backwards = true;
	rkey = flat_mr(flat.hca[1], flat.pd[1], to, PAGES * 4096, ALL_ACCESS);
	flat.backwards = false;
	write_to(to, rkey, from, PAGES * 4096);
	flat_run(LONG / 100);
	flat_expect_done(a->send_cq, REQ, 0);
	for (uint64_t i = 0; i < PAGES; i++) {
		page = (PAGES - 1 - i) * 4096;
		assert_memory_equal(flat.mem + to + page, flat.mem + from + i * 4096, 4096);
	}
	/* The write begins and ends in the middle of a page. */
	write_to(to + 100 * 4096 + 5, rkey, from, 8192);
	flat_run(LONG / 100);
	flat_expect_done(a->send_cq, REQ, 1);
	page = to + (PAGES - 1 - 100) * 4096;
	assert_memory_equal(flat.mem + page + 5, flat.mem + from, 4091);
	assert_memory_equal(flat.mem + page - 4096, flat.mem + from + 4091, 4096);
	assert_memory_equal(flat.mem + page - 8192, flat.mem + from + 8187, 5);
	unpair();
}

static void rings_collapsed_into_one_are_all_seen(void **state)
{
	struct flat_qp *c, *d;

	(void)state;
	pair(NULL, 4096);
	c = a;
	d = b;
	pair(NULL, 4096);
	for (int i = 0; i < 3; i++) {
		flat_recv(b, to, 4096, rkey);
		flat_recv(d, to, 4096, rkey);
	}
	flat_send(a, OP_SEND, from, 4, lkey);
	flat_ctrl(c, OP_SEND, SIGNALED, 0);
	flat_data(c, from, 4, lkey);
	flat_post(c);
	fld_set(flat.mem + c->dbr, FLD(0x4, 31, 0), c->sq_pi);
	flat_send(a, OP_SEND, from, 4, lkey);
	flat_run(LONG);
	flat_expect_done(a->send_cq, REQ, 0);
	flat_expect_done(a->send_cq, REQ, 1);
	flat_expect_done(c->send_cq, REQ, 0);
	unpair();
	a = c;
	b = d;
	unpair();
}

int main(void)
{
#define IB(f)      cmocka_unit_test_setup_teardown(f, flat_setup, flat_teardown)
#define LENIENT(f) cmocka_unit_test_setup_teardown(f, flat_setup_lenient, flat_teardown)
#define ROCE(f)                                                       \
	{                                                             \
#f " (RoCE)", f, flat_setup_roce, flat_teardown, NULL \
	}
	const struct CMUnitTest tests[] = {
		IB(send_completes_on_both_sides),
		ROCE(send_completes_on_both_sides),
		LENIENT(small_send_takes_five_bus_calls),
		IB(long_write_arrives_whole),
		ROCE(long_write_arrives_whole),
		IB(long_read_arrives_whole),
		IB(write_with_immediate_consumes_a_receive),
		IB(send_with_invalidate_kills_the_key),
		IB(inline_data_wraps_with_the_ring),
		IB(indices_wrap_at_16_bits),
		IB(atomics_return_the_old_value),
		IB(no_more_reads_and_atomics_leave_than_the_peer_keeps),
		IB(unsignaled_writes_leave_no_cqe),
		IB(padding_is_written_with_the_cqe),
		IB(without_padding_the_first_half_stays),
		IB(small_data_goes_into_the_cqe),
		IB(messages_may_be_empty),
		IB(receive_scatters_over_its_segments),
		IB(scattered_pages_are_found),
		LENIENT(rings_collapsed_into_one_are_all_seen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

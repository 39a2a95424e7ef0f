/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * resp_uc_test.c - unreliable connections: messages that arrive, and silent losses.
 *
 * Covers: softhca/device/transport/resp.c, softhca/device/format/segments.c
 */
#include "pair.h"
#include "prm/mlx5/qpc.h"

static const struct flat_qp_attr uc = { .st = PRM_QP_ST_UC, .mtu = 3, .first_psn = 0xfffffe };

static void send_and_write_arrive(void **state)
{
	enum { SIZE = 700001 };
	const uint8_t *cqe;

	(void)state;
	pair(&uc, SIZE);
	flat_recv(b, to, SIZE, rkey);
	flat_recv(b, to, SIZE, rkey);
	flat_send(a, OP_SEND, from, SIZE, lkey);
	flat_run(LONG);
	flat_expect_done(a->send_cq, REQ, 0);
	cqe = flat.mem + b->recv_cq->ring;
	flat_expect_done(b->recv_cq, RESP_SEND, 0);
	assert_int_equal(fld_get(cqe, FLD(0x2c, 31, 0)), SIZE);
	assert_int_equal(fld_get(cqe, FLD(0x18, 23, 0)), a->n);
	assert_memory_equal(flat.mem + to, flat.mem + from, SIZE);
	memset(flat.mem + to, 0, SIZE);
	flat_ctrl(a, OP_WRITE_IMM, SIGNALED, 5);
	flat_raddr(a, to, rkey);
	flat_data(a, from, SIZE, lkey);
	flat_post(a);
	flat_ring(a);
	flat_run(LONG);
	flat_expect_done(a->send_cq, REQ, 1);
	flat_expect_done(b->recv_cq, RESP_WRITE_IMM, 1);
	assert_memory_equal(flat.mem + to, flat.mem + from, SIZE);
	unpair();
}

static void without_a_receive_it_is_lost(void **state)
{
	(void)state;
	pair(&uc, 4096);
	flat_send(a, OP_SEND, from, 8, lkey);
	flat_run(LONG);
	flat_expect_done(a->send_cq, REQ, 0);
	flat_recv(b, to, 4096, rkey);
	flat_send(a, OP_SEND, from + 8, 8, lkey);
	flat_run(LONG);
	flat_expect_done(b->recv_cq, RESP_SEND, 0);
	assert_memory_equal(flat.mem + to, flat.mem + from + 8, 8);
	unpair();
}

/* If the second of three messages is lost, the request is dropped, as UC has no retries, and its
 * receive WQE serves the next one. */
static void a_gap_loses_the_request(void **state)
{
	enum { SIZE = 600000 };

	(void)state;
	pair(&uc, SIZE);
	fault_add(flat.fault, "drop:2", flat.now);
	flat_recv(b, to, SIZE, rkey);
	flat_send(a, OP_SEND, from, SIZE, lkey);
	flat_run(LONG);
	flat_expect_done(a->send_cq, REQ, 0);
	flat_expect_empty(b->recv_cq);
	flat_send(a, OP_SEND, from + 1, 100, lkey);
	flat_run(LONG);
	flat_expect_done(b->recv_cq, RESP_SEND, 0);
	assert_memory_equal(flat.mem + to, flat.mem + from + 1, 100);
	assert_int_equal(flat.mem[to + 500000], 0);
	unpair();
}

static void a_forbidden_write_is_lost(void **state)
{
	(void)state;
	pair(&uc, 4096);
	write_to(to, rkey + 1, from, 8);
	write_to(to + 4090, rkey, from, 8);
	write_to(to + 8, rkey, from, 8);
	flat_run(LONG);
	flat_expect_done(a->send_cq, REQ, 0);
	flat_expect_done(a->send_cq, REQ, 1);
	flat_expect_done(a->send_cq, REQ, 2);
	assert_int_equal(flat.mem[to + 1], 0);
	assert_memory_equal(flat.mem + to + 8, flat.mem + from, 8);
	assert_int_equal(flat_state(b), PRM_QP_STATE_RTS);
	unpair();
}

static void a_read_is_refused(void **state)
{
	(void)state;
	pair(&uc, 4096);
	flat_ctrl(a, OP_READ, SIGNALED, 0);
	flat_raddr(a, to, rkey);
	flat_data(a, from, 8, lkey);
	flat_post(a);
	flat_ring(a);
	flat_run(LONG);
	flat_expect_error(a->send_cq, REQ_ERR, 0, LOCAL_QP_OP);
	assert_int_equal(flat_state(a), PRM_QP_STATE_SQER);
	unpair();
}

int main(void)
{
#define IB(f)   cmocka_unit_test_setup_teardown(f, flat_setup, flat_teardown)
#define ROCE(f) cmocka_unit_test_setup_teardown(f, flat_setup_roce, flat_teardown)
	const struct CMUnitTest tests[] = {
		IB(send_and_write_arrive),        ROCE(send_and_write_arrive),
		IB(without_a_receive_it_is_lost), IB(a_gap_loses_the_request),
		IB(a_forbidden_write_is_lost),    IB(a_read_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * q_counter_test.c - queue counters: requests, losses and errors of the QPs that use a set.
 *
 * Covers: softhca/device/q_counter.c, softhca/device/count.c,
 * softhca/device/format/mlx5/cmd/q_counter.c
 */
#include "pair.h"
#include "prm/mlx5/cmd.h"
#include "prm/mlx5/q_counter.h"

static uint32_t set[2]; /* one set for each adapter */

static uint32_t counter_read(int i, uint32_t field)
{
	uint8_t in[32] = { 0 }, out[PRM_QUERY_Q_COUNTER_OUT_SIZE];

	fld_set(in, CMD_IN_OPCODE, PRM_OP_QUERY_Q_COUNTER);
	fld_set(in, QUERY_Q_COUNTER_IN_COUNTER_SET_ID, set[i]);
	flat_cmd(flat.hca[i], in, sizeof(in), out, sizeof(out));
	return fld_get(out, field);
}

static void counted_pair(struct flat_qp_attr attr)
{
	for (int i = 0; i < 2; i++)
		set[i] = flat_simple(flat.hca[i], PRM_OP_ALLOC_Q_COUNTER, 0, PRM_STAT_OK) & 0xff;
	attr.counter_set = set[0];
	pair(&attr, 8192);
}

static void requests_are_counted(void **state)
{
	(void)state;
	counted_pair((struct flat_qp_attr){ 0 });
	write_to(to, rkey, from, 8192);
	flat_ctrl(a, OP_READ, SIGNALED, 0);
	flat_raddr(a, to, rkey);
	flat_data(a, from, 8, lkey);
	flat_post(a);
	flat_ctrl(a, OP_FA, SIGNALED, 0);
	flat_raddr(a, to, rkey);
	flat_atomic(a, 1, 0);
	flat_data(a, from, 8, lkey);
	flat_post(a);
	flat_ring(a);
	flat_run(LONG);
	assert_int_equal(counter_read(1, QUERY_Q_COUNTER_OUT_RX_WRITE_REQUESTS), 1);
	assert_int_equal(counter_read(1, QUERY_Q_COUNTER_OUT_RX_READ_REQUESTS), 1);
	assert_int_equal(counter_read(1, QUERY_Q_COUNTER_OUT_RX_ATOMIC_REQUESTS), 1);
	assert_int_equal(counter_read(0, QUERY_Q_COUNTER_OUT_RX_WRITE_REQUESTS), 0);
	unpair();
}

static void losses_are_counted_on_both_sides(void **state)
{
	(void)state;
	counted_pair((struct flat_qp_attr){ 0 });
	fault_add(flat.fault, "drop:1", flat.now);
	write_to(to, rkey, from, 8);
	write_to(to, rkey, from, 8);
	flat_run(LONG);
	flat_expect_done(a->send_cq, REQ, 0);
	flat_expect_done(a->send_cq, REQ, 1);
	assert_int_equal(counter_read(1, QUERY_Q_COUNTER_OUT_OUT_OF_SEQUENCE), 1);
	assert_int_equal(counter_read(0, QUERY_Q_COUNTER_OUT_PACKET_SEQ_ERR), 1);
	unpair();
}

static void a_lost_answer_is_a_timeout_and_a_duplicate(void **state)
{
	(void)state;
	counted_pair((struct flat_qp_attr){ 0 });
	fault_add(flat.fault, "drop:2", flat.now);
	write_to(to, rkey, from, 8);
	flat_run(LONG);
	flat_expect_done(a->send_cq, REQ, 0);
	assert_int_equal(counter_read(0, QUERY_Q_COUNTER_OUT_LOCAL_ACK_TIMEOUT_ERR), 1);
	assert_int_equal(counter_read(1, QUERY_Q_COUNTER_OUT_DUPLICATE_REQUEST), 1);
	unpair();
}

static void errors_are_counted(void **state)
{
	(void)state;
	counted_pair((struct flat_qp_attr){ 0 });
	write_to(to, rkey + 1, from, 8);
	write_to(to, rkey, from, 8);
	flat_run(LONG / 100);
	flat_expect_error(a->send_cq, REQ_ERR, 0, REMOTE_ACCESS);
	assert_int_equal(counter_read(0, QUERY_Q_COUNTER_OUT_REQ_REMOTE_ACCESS_ERRORS), 1);
	assert_int_equal(counter_read(0, QUERY_Q_COUNTER_OUT_REQ_CQE_ERROR), 1);
	assert_int_equal(counter_read(0, QUERY_Q_COUNTER_OUT_REQ_CQE_FLUSH_ERROR), 1);
	assert_int_equal(counter_read(1, QUERY_Q_COUNTER_OUT_RESP_REMOTE_ACCESS_ERRORS), 1);
	unpair();
}

static void a_missing_receive_is_counted(void **state)
{
	(void)state;
	counted_pair((struct flat_qp_attr){ 0 });
	flat_send(a, OP_SEND, from, 8, lkey);
	flat_run(LONG);
	flat_expect_error(a->send_cq, REQ_ERR, 0, RNR_EXCEEDED);
	assert_int_equal(counter_read(1, QUERY_Q_COUNTER_OUT_OUT_OF_BUFFER), 1);
	assert_int_equal(counter_read(0, QUERY_Q_COUNTER_OUT_RNR_NAK_RETRY_ERR), 1);
	unpair();
}

int main(void)
{
#define IB(f) cmocka_unit_test_setup_teardown(f, flat_setup, flat_teardown)
	const struct CMUnitTest tests[] = {
		IB(requests_are_counted),
		IB(losses_are_counted_on_both_sides),
		IB(a_lost_answer_is_a_timeout_and_a_duplicate),
		IB(errors_are_counted),
		IB(a_missing_receive_is_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

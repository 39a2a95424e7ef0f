/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * req_errors_test.c - each error of a work request: syndromes on both sides, the CQEs that are
 * flushed and their order, the asynchronous event, and the states of the QPs.
 *
 * Covers: softhca/device/transport/req.c, softhca/device/transport/resp.c,
 * softhca/device/queue/qp.c, softhca/device/transport/drain.c
 */
#include <errno.h>

#include "pair.h"
#include "prm/mlx5/cmd.h"
#include "prm/mlx5/eqe.h"
#include "prm/mlx5/qpc.h"
#include "softhca/device/core.h"
#include "softhca/device/transport/drain.h"
#include "softhca/device/transport/qp.h"

static void in_error(struct flat_qp *qp)
{
	assert_int_equal(flat_state(qp), PRM_QP_STATE_ERR);
}

static void bad_lkey_fails_and_flushes_the_rest(void **state)
{
	(void)state;
	pair(NULL, 4096);
	flat_recv(a, from, 64, lkey);
	flat_recv(b, to, 64, rkey);
	flat_recv(b, to, 64, rkey);
	flat_send(a, OP_SEND, from, 8, lkey);
	flat_send(a, OP_SEND, from, 8, lkey + 1);
	/* an unsignaled WQE has a CQE as well if it fails (IBTA vol 1, 10.7.3.1) */
	flat_ctrl(a, OP_SEND, 0, 0);
	flat_data(a, from, 8, lkey);
	flat_post(a);
	flat_ring(a);
	flat_run(LONG / 100);
	flat_expect_done(a->send_cq, REQ, 0);
	flat_expect_error(a->send_cq, REQ_ERR, 1, LOCAL_PROT);
	flat_expect_error(a->send_cq, REQ_ERR, 2, FLUSHED);
	flat_expect_empty(a->send_cq);
	flat_expect_error(a->recv_cq, RESP_ERR, 0, FLUSHED);
	flat_expect_done(b->recv_cq, RESP_SEND, 0);
	flat_expect_empty(b->recv_cq);
	in_error(a);
	assert_int_equal(flat_state(b), PRM_QP_STATE_RTS);
	unpair();
}

/* The requester checks the local key of a READ or an atomic when the response arrives, so after its
 * execution. */
static void an_atomic_with_a_bad_lkey_is_executed(void **state)
{
	uint64_t value = 41;

	(void)state;
	pair(NULL, 4096);
	memcpy(flat.mem + to, &value, sizeof(value));
	flat_ctrl(a, OP_FA, SIGNALED, 0);
	flat_raddr(a, to, rkey);
	flat_atomic(a, 1, 0);
	flat_data(a, from, 8, lkey + 1);
	flat_post(a);
	flat_ring(a);
	flat_run(LONG / 100);
	flat_expect_error(a->send_cq, REQ_ERR, 0, LOCAL_PROT);
	memcpy(&value, flat.mem + to, sizeof(value));
	assert_int_equal(value, 42);
	assert_int_equal(flat_state(b), PRM_QP_STATE_RTS);
	unpair();
}

/* Of a wrong rkey and a wrong lkey, the responder's NAK comes first, as the lkey is checked
 * later. */
static void of_two_bad_keys_of_a_read_the_remote_one_counts(void **state)
{
	(void)state;
	pair(NULL, 4096);
	flat_ctrl(a, OP_READ, SIGNALED, 0);
	flat_raddr(a, to, rkey + 1);
	flat_data(a, from, 8, lkey + 1);
	flat_post(a);
	flat_ring(a);
	flat_run(LONG / 100);
	flat_expect_error(a->send_cq, REQ_ERR, 0, REMOTE_ACCESS);
	unpair();
}

static void key_of_another_pd_is_refused(void **state)
{
	uint32_t pd, key;

	(void)state;
	pair(NULL, 4096);
	pd = flat_simple(flat.hca[0], PRM_OP_ALLOC_PD, 0, PRM_STAT_OK);
	key = flat_mr(flat.hca[0], pd, from, 4096, ALL_ACCESS);
	flat_send(a, OP_SEND, from, 8, key);
	flat_run(LONG / 100);
	flat_expect_error(a->send_cq, REQ_ERR, 0, LOCAL_PROT);
	unpair();
}

static void expect_refused(uint64_t addr, uint32_t key, uint32_t len)
{
	pair(NULL, 4096);
	write_to(addr ? addr : to, key ? key : rkey, from, len);
	flat_run(LONG / 100);
	flat_expect_error(a->send_cq, REQ_ERR, 0, REMOTE_ACCESS);
	assert_int_equal(flat_count_events(PRM_EVENT_WQ_ACCESS_ERROR), 1);
	in_error(a);
	in_error(b);
	unpair();
}

static void bad_rkey_is_a_remote_access_error(void **state)
{
	(void)state;
	expect_refused(0, 0x12345600, 8);
}

static void write_past_the_region_is_a_remote_access_error(void **state)
{
	(void)state;
	expect_refused(flat.used + 4096 * 1024, 0, 8);
}

static void nothing_of_a_refused_write_arrives(void **state)
{
	(void)state;
	pair(NULL, 1 << 20);
	/* one byte short of the WRITE: its first message alone would fit */
	rkey = flat_mr(flat.hca[1], flat.pd[1], to, (1 << 20) - 1, ALL_ACCESS);
	write_to(to, rkey, from, 1 << 20);
	flat_run(LONG / 100);
	flat_expect_error(a->send_cq, REQ_ERR, 0, REMOTE_ACCESS);
	assert_int_equal(flat.mem[to + 1], 0);
	unpair();
}

static void key_without_remote_read_refuses_read(void **state)
{
	uint32_t key;

	(void)state;
	pair(NULL, 4096);
	key = flat_mr(flat.hca[1], flat.pd[1], to, 4096, LOCAL_WRITE | REMOTE_WRITE);
	flat_ctrl(a, OP_READ, SIGNALED, 0);
	flat_raddr(a, to, key);
	flat_data(a, from, 8, lkey);
	flat_post(a);
	flat_ring(a);
	flat_run(LONG / 100);
	flat_expect_error(a->send_cq, REQ_ERR, 0, REMOTE_ACCESS);
	unpair();
}

static void qp_without_remote_access_refuses_the_request(void **state)
{
	struct flat_qp_attr attr = { .no_remote = 1 };

	(void)state;
	pair(&attr, 4096);
	write_to(to, rkey, from, 8);
	flat_run(LONG / 100);
	flat_expect_error(a->send_cq, REQ_ERR, 0, REMOTE_INVAL_REQ);
	assert_int_equal(flat_count_events(PRM_EVENT_WQ_INVAL_REQ_ERROR), 1);
	unpair();
}

static void read_needs_local_write(void **state)
{
	uint32_t key;

	(void)state;
	pair(NULL, 4096);
	key = flat_mr(flat.hca[0], flat.pd[0], from, 4096, 0);
	flat_ctrl(a, OP_READ, SIGNALED, 0);
	flat_raddr(a, to, rkey);
	flat_data(a, from, 8, key);
	flat_post(a);
	flat_ring(a);
	flat_run(LONG / 100);
	flat_expect_error(a->send_cq, REQ_ERR, 0, LOCAL_PROT);
	unpair();
}

static void message_longer_than_the_receive_fails_both(void **state)
{
	(void)state;
	pair(NULL, 4096);
	flat_recv(b, to, 10, rkey);
	flat_recv(b, to, 10, rkey);
	flat_send(a, OP_SEND, from, 11, lkey);
	flat_run(LONG / 100);
	flat_expect_error(b->recv_cq, RESP_ERR, 0, LOCAL_LENGTH);
	flat_expect_error(b->recv_cq, RESP_ERR, 1, FLUSHED);
	flat_expect_error(a->send_cq, REQ_ERR, 0, REMOTE_INVAL_REQ);
	in_error(b);
	unpair();
}

static void receive_with_a_bad_key_fails_both(void **state)
{
	(void)state;
	pair(NULL, 4096);
	flat_recv(b, to, 10, rkey + 256);
	flat_send(a, OP_SEND, from, 5, lkey);
	flat_run(LONG / 100);
	flat_expect_error(b->recv_cq, RESP_ERR, 0, LOCAL_PROT);
	flat_expect_error(a->send_cq, REQ_ERR, 0, REMOTE_OP);
	unpair();
}

static void peer_that_has_ended_is_silent(void **state)
{
	(void)state;
	pair(NULL, 4096);
	flat.hole = to;
	flat.hole_len = 16;
	flat.hole_error = ESRCH;
	flat_recv(b, to, 64, rkey);
	flat_send(a, OP_SEND, from, 32, lkey);
	flat_run(LONG);
	flat_expect_error(a->send_cq, REQ_ERR, 0, RETRY_EXCEEDED);
	flat.hole_len = 0;
	flat.hole_error = 0;
	unpair();
}

static void memory_that_is_gone_is_a_protection_error(void **state)
{
	(void)state;
	pair(NULL, 4096);
	flat.hole = from;
	flat.hole_len = 16;
	flat_recv(b, to, 64, rkey);
	flat_send(a, OP_SEND, from, 32, lkey);
	flat_run(LONG / 100);
	flat_expect_error(a->send_cq, REQ_ERR, 0, LOCAL_PROT);
	flat.hole_len = 0;
	unpair();
}

static void misaligned_atomic_is_an_invalid_request(void **state)
{
	(void)state;
	pair(NULL, 4096);
	flat_ctrl(a, OP_FA, SIGNALED, 0);
	flat_raddr(a, to + 4, rkey);
	flat_atomic(a, 1, 0);
	flat_data(a, from, 8, lkey);
	flat_post(a);
	flat_ring(a);
	flat_run(LONG / 100);
	flat_expect_error(a->send_cq, REQ_ERR, 0, REMOTE_INVAL_REQ);
	unpair();
}

static void message_above_the_limit_is_a_length_error(void **state)
{
	(void)state;
	pair(NULL, 4096);
	flat_ctrl(a, OP_WRITE, SIGNALED, 0);
	flat_raddr(a, to, rkey);
	flat_data(a, from, 0, lkey); /* byte count 0 means 2 GiB (PRM: Data Segment) */
	flat_post(a);
	flat_ring(a);
	flat_run(LONG / 100);
	flat_expect_error(a->send_cq, REQ_ERR, 0, LOCAL_LENGTH);
	unpair();
}

static void rnr_ends_after_its_retries(void **state)
{
	/* 0.64 ms (IBTA vol 1, table 45) */
	struct flat_qp_attr attr = { .rnr_retry = 2, .min_rnr = 12 };
	uint64_t before;

	(void)state;
	pair(&attr, 4096);
	before = flat.now;
	flat_send(a, OP_SEND, from, 8, lkey);
	flat_run(LONG / 100);
	flat_expect_error(a->send_cq, REQ_ERR, 0, RNR_EXCEEDED);
	assert_in_range(flat.now - before, 2 * 640000, LONG);
	assert_int_equal(flat_state(b), PRM_QP_STATE_RTS);
	unpair();
}

static void rnr_waits_for_a_receive(void **state)
{
	/* 1.28 ms (IBTA vol 1, table 45) */
	struct flat_qp_attr attr = { .rnr_retry = 7, .min_rnr = 14 };

	(void)state;
	pair(&attr, 4096);
	flat_send(a, OP_SEND, from, 8, lkey);
	flat_run(LONG / 50);
	flat_expect_empty(a->send_cq);
	flat_recv(b, to, 64, rkey);
	flat_run(LONG);
	flat_expect_done(a->send_cq, REQ, 0);
	flat_expect_done(b->recv_cq, RESP_SEND, 0);
	unpair();
}

static void silence_ends_after_the_retries(void **state)
{
	struct flat_qp_attr attr = { .timeout = 13, .retry = 2 }; /* 33.6 ms, as 4.096 us * 2^13 */
	uint64_t before;

	(void)state;
	pair(&attr, 4096);
	flat_simple(b->hca, PRM_OP_DESTROY_QP, b->n, PRM_STAT_OK);
	before = flat.now;
	flat_send(a, OP_SEND, from, 8, lkey);
	flat_send(a, OP_SEND, from, 8, lkey);
	while (!a->send_cq->ci && flat.now < before + LONG) {
		flat_run(LONG / 1000);
		if (flat.mem[a->send_cq->ring + 63] != 0xf1)
			break;
	}
	flat_run(LONG / 1000);
	flat_expect_error(a->send_cq, REQ_ERR, 0, RETRY_EXCEEDED);
	flat_expect_error(a->send_cq, REQ_ERR, 1, FLUSHED);
	assert_in_range(flat.now - before, 3 * 33554432, 160 * 1000 * 1000);
	unpair();
}

static uint8_t *slot(unsigned int index)
{
	return flat.mem + a->sq + 64 * index;
}

static void refused_wqe(uint8_t syndrome)
{
	flat_ring(a);
	flat_run(LONG / 100);
	flat_expect_error(a->send_cq, REQ_ERR, 0, syndrome);
	in_error(a);
	unpair();
}

static void posted_send(void)
{
	pair(NULL, 4096);
	flat_recv(b, to, 64, rkey);
	flat_ctrl(a, OP_SEND, SIGNALED, 0);
	flat_data(a, from, 8, lkey);
	flat_post(a);
}

static void unknown_opcode_is_refused(void **state)
{
	(void)state;
	posted_send();
	slot(0)[3] = 0x1b;
	refused_wqe(LOCAL_QP_OP);
}

static void wrong_index_is_refused(void **state)
{
	(void)state;
	posted_send();
	slot(0)[2] = 1;
	refused_wqe(LOCAL_QP_OP);
}

static void wrong_qpn_is_refused(void **state)
{
	(void)state;
	posted_send();
	slot(0)[6] ^= 1;
	refused_wqe(LOCAL_QP_OP);
}

static void empty_wqe_is_refused(void **state)
{
	(void)state;
	posted_send();
	slot(0)[7] = 0;
	refused_wqe(LOCAL_QP_OP);
}

static void wqe_beyond_the_doorbell_is_refused(void **state)
{
	(void)state;
	posted_send();
	slot(0)[7] = 5; /* two blocks, of which only one is posted */
	refused_wqe(LOCAL_QP_OP);
}

static void inline_data_beyond_the_wqe_is_refused(void **state)
{
	(void)state;
	posted_send();
	memcpy(slot(0) + 16, "\x80\x00\x00\x0d", 4);
	refused_wqe(LOCAL_QP_OP);
}

static void inline_read_is_refused(void **state)
{
	(void)state;
	pair(NULL, 4096);
	flat_ctrl(a, OP_READ, SIGNALED, 0);
	flat_raddr(a, to, rkey);
	flat_inline(a, "x", 1);
	flat_post(a);
	refused_wqe(LOCAL_QP_OP);
}

enum { MTU = 256, PACKETS = 1000 };

static struct qp *device_qp(const struct flat_qp *qp)
{
	return res_find(&qp->hca->qps, qp->n);
}

static void acked(uint32_t psn)
{
	const struct fabric_msg ack = { .op = FABRIC_ACK, .psn = psn, .packets = 1, .last = true };

	req_receive(a->hca, device_qp(a), &ack);
	hca_progress(a->hca, flat.now);
}

static void writes_without_an_answer(void)
{
	const struct flat_qp_attr attr = { .retry = 7, .timeout = 14, .mtu = 1 };

	pair(&attr, MTU * PACKETS);
	flat_simple(b->hca, PRM_OP_2RST_QP, b->n, PRM_STAT_OK);
	write_to(to, rkey, from, 8);
	hca_progress(a->hca, flat.now);
	write_to(to, rkey, from, MTU * PACKETS);
	hca_progress(a->hca, flat.now);
	assert_int_equal(device_qp(a)->req.sent_psn, 1 + PACKETS);
}

static void retried(void)
{
	flat.now += 100 * 1000 * 1000;
	hca_progress(a->hca, flat.now);
}

static void second_write_changes_to(uint32_t len)
{
	fld_set(slot(1) + 32, FLD(0x0, 31, 0), len);
}

static void expect_second_write_refused(void)
{
	flat_expect_done(a->send_cq, REQ, 0);
	flat_expect_error(a->send_cq, REQ_ERR, 1, LOCAL_LENGTH);
	flat_expect_empty(a->send_cq);
	in_error(a);
	unpair();
}

static void a_retry_of_fewer_packets_is_refused(void **state)
{
	(void)state;
	writes_without_an_answer();
	second_write_changes_to(1);
	retried();
	acked(500);
	expect_second_write_refused();
}

static void a_retry_of_more_blocks_is_refused(void **state)
{
	(void)state;
	writes_without_an_answer();
	write_to(to, rkey, from, 8);
	slot(1)[7] = 5; /* two blocks: the second is the next WQE */
	second_write_changes_to(MTU * PACKETS - 8);
	fld_set(slot(2), FLD(0x0, 31, 0), 8);
	fld_set(slot(2), FLD(0x4, 31, 0), lkey);
	fld_set(slot(2), FLD64(0x8), from);
	retried();
	acked(0);
	flat_expect_done(a->send_cq, REQ, 0);
	flat_expect_error(a->send_cq, REQ_ERR, 1, LOCAL_LENGTH);
	in_error(a);
	unpair();
}

/* The retry begins in the middle of the WQE, so a shorter one has no byte there. */
static void the_rest_of_a_shorter_wqe_is_refused(void **state)
{
	(void)state;
	writes_without_an_answer();
	acked(500);
	device_qp(a)->req.decoded = false;
	device_qp(a)->sq.cache_bbs = 0;
	second_write_changes_to(1);
	retried();
	expect_second_write_refused();
}

static void a_strict_adapter_reports_the_change(void **state)
{
	(void)state;
	writes_without_an_answer();
	second_write_changes_to(1);
	retried();
	acked(0);
	flat_expect_report("wqe.changed");
	expect_second_write_refused();
}

static void a_retry_of_as_many_packets_is_sent(void **state)
{
	(void)state;
	writes_without_an_answer();
	second_write_changes_to(MTU * PACKETS - 1);
	retried();
	acked(PACKETS);
	flat_expect_done(a->send_cq, REQ, 0);
	flat_expect_done(a->send_cq, REQ, 1);
	unpair();
}

/* Packets that no entry covers end the search for their entry, so a hostile PSN costs one walk. */
static void a_psn_of_no_entry_is_searched_once(void **state)
{
	(void)state;
	for (int bbs = 0; bbs <= 2; bbs++) {
		struct qp *qp;

		writes_without_an_answer();
		qp = device_qp(a);
		qp->sq.entry[1].packets = 1;
		qp->sq.entry[1].bbs = (uint16_t)bbs;
		qp->req.next_psn = qp->req.unacked;
		qp->sq.next = qp->sq.ci;
		drain_begin(a->hca, qp, false);
		acked(500);
		unpair();
	}
}

static void requests_posted_in_error_are_flushed(void **state)
{
	(void)state;
	pair(NULL, 4096);
	flat_simple(a->hca, PRM_OP_2ERR_QP, a->n, PRM_STAT_OK);
	flat_run(LONG / 100);
	flat_expect_empty(a->recv_cq);
	flat_recv(a, from, 8, lkey);
	flat_send(a, OP_SEND, from, 8, lkey);
	flat_run(LONG / 100);
	flat_expect_error(a->recv_cq, RESP_ERR, 0, FLUSHED);
	flat_expect_error(a->send_cq, REQ_ERR, 0, FLUSHED);
	unpair();
}

static void reset_qp_starts_anew(void **state)
{
	(void)state;
	pair(NULL, 4096);
	flat_send(a, OP_SEND, from, 8, lkey + 1);
	flat_run(LONG / 100);
	flat_expect_error(a->send_cq, REQ_ERR, 0, LOCAL_PROT);
	flat_simple(a->hca, PRM_OP_2RST_QP, a->n, PRM_STAT_OK);
	flat_simple(b->hca, PRM_OP_2RST_QP, b->n, PRM_STAT_OK);
	a->sq_pi = 0;
	fld_set64(flat.mem, a->dbr, 0);
	flat_connect(a, b, NULL);
	flat_recv(b, to, 64, rkey);
	flat_send(a, OP_SEND, from, 8, lkey);
	flat_run(LONG / 100);
	flat_expect_done(a->send_cq, REQ, 0);
	flat_expect_done(b->recv_cq, RESP_SEND, 0);
	unpair();
}

static void full_cq_breaks_it_and_the_qp(void **state)
{
	struct flat_qp_attr attr = { .cq_log = 2 };

	(void)state;
	pair(&attr, 4096);
	for (int i = 0; i < 5; i++)
		write_to(to, rkey, from, 8);
	flat_run(LONG / 100);
	for (int i = 0; i < 4; i++)
		flat_expect_done(a->send_cq, REQ, i);
	assert_int_equal(flat_count_events(PRM_EVENT_CQ_ERROR), 1);
	assert_int_equal(flat_count_events(PRM_EVENT_WQ_CATAS_ERROR), 1);
	in_error(a);
	unpair();
}

int main(void)
{
#define IB(f)      cmocka_unit_test_setup_teardown(f, flat_setup, flat_teardown)
#define LENIENT(f) cmocka_unit_test_setup_teardown(f, flat_setup_lenient, flat_teardown)
	const struct CMUnitTest tests[] = {
		IB(bad_lkey_fails_and_flushes_the_rest),
		IB(an_atomic_with_a_bad_lkey_is_executed),
		IB(of_two_bad_keys_of_a_read_the_remote_one_counts),
		IB(key_of_another_pd_is_refused),
		IB(bad_rkey_is_a_remote_access_error),
		IB(write_past_the_region_is_a_remote_access_error),
		IB(nothing_of_a_refused_write_arrives),
		IB(key_without_remote_read_refuses_read),
		IB(qp_without_remote_access_refuses_the_request),
		IB(read_needs_local_write),
		IB(message_longer_than_the_receive_fails_both),
		IB(receive_with_a_bad_key_fails_both),
		IB(peer_that_has_ended_is_silent),
		IB(memory_that_is_gone_is_a_protection_error),
		IB(misaligned_atomic_is_an_invalid_request),
		IB(message_above_the_limit_is_a_length_error),
		IB(rnr_ends_after_its_retries),
		IB(rnr_waits_for_a_receive),
		IB(silence_ends_after_the_retries),
		IB(unknown_opcode_is_refused),
		LENIENT(wrong_index_is_refused),
		LENIENT(wrong_qpn_is_refused),
		IB(empty_wqe_is_refused),
		LENIENT(wqe_beyond_the_doorbell_is_refused),
		IB(inline_data_beyond_the_wqe_is_refused),
		IB(inline_read_is_refused),
		LENIENT(a_retry_of_fewer_packets_is_refused),
		LENIENT(a_retry_of_more_blocks_is_refused),
		LENIENT(the_rest_of_a_shorter_wqe_is_refused),
		IB(a_strict_adapter_reports_the_change),
		LENIENT(a_retry_of_as_many_packets_is_sent),
		LENIENT(a_psn_of_no_entry_is_searched_once),
		IB(requests_posted_in_error_are_flushed),
		IB(reset_qp_starts_anew),
		IB(full_cq_breaks_it_and_the_qp),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

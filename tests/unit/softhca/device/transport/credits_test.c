/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * credits_test.c - end-to-end credits: their codes, the credits that a responder offers, and a
 * requester that exhausts them, waits, and continues; on InfiniBand and RoCE, between two hosts.
 *
 * Covers: softhca/device/transport/credits.c, softhca/device/transport/req.c,
 * softhca/device/transport/answer.c, softhca/net/uplink.c
 */
#include "ib/packet.h"
#include "pair.h"
#include "softhca/device/core.h"
#include "softhca/device/transport/credits.h"
#include "util/bits.h"

enum { SOME = 64, MTU = 256, LONG_SEND = 20 * MTU, TURNS = 64 };

static const struct flat_qp_attr patient = {
	.retry = 7, .rnr_retry = 7, .timeout = 14, .min_rnr = 31, .mtu = 1
};

static struct qp *qp_of(const struct flat_qp *qp)
{
	return res_find(&qp->hca->qps, qp->n);
}

static void packets_settle(void)
{
	for (int i = 0; i < TURNS; i++) {
		hca_progress(flat.hca[i % 2], flat.now);
		fabric_progress(flat.fabric, flat.now);
		fabric_progress(flat.far_fabric, flat.now);
	}
}

static void recvs_post(unsigned int count)
{
	while (count--)
		flat_recv(b, to, LONG_SEND, rkey);
}

static void sends_post(unsigned int count, uint32_t len)
{
	while (count--) {
		flat_ctrl(a, OP_SEND, SIGNALED, 0);
		flat_data(a, from, len, lkey);
		flat_post(a);
	}
	flat_ring(a);
}

static uint64_t packets_from_a(void)
{
	return flat.hca[0]->port[0].messages_sent.packets;
}

static void expect_all_done(unsigned int count, uint16_t first)
{
	for (unsigned int i = 0; i < count; i++) {
		flat_expect_done(a->send_cq, REQ, (uint16_t)(first + i));
		flat_expect_done(b->recv_cq, RESP_SEND, (uint16_t)(first + i));
	}
	flat_expect_empty(a->send_cq);
	flat_expect_empty(b->recv_cq);
}

static void codes_are_those_of_the_specification(void **state)
{
	static const struct {
		uint32_t count;
		uint8_t code;
	} table[] = {
		{ 0, 0 },      { 1, 1 },           { 4, 4 },      { 5, 4 },      { 6, 5 },
		{ 7, 5 },      { 8, 6 },           { 16, 8 },     { 128, 14 },   { 1023, 19 },
		{ 1024, 20 },  { 4096, 24 },       { 16384, 28 }, { 24576, 29 }, { 32767, 29 },
		{ 32768, 30 }, { UINT16_MAX, 30 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(table); i++)
		assert_int_equal(credits_code(table[i].count), table[i].code);
	for (uint8_t code = 0; code < AETH_NO_CREDITS; code++)
		assert_int_equal(credits_code(credits_count(code)), code);
}

static void a_code_promises_no_more_than_there_is(void **state)
{
	(void)state;
	for (uint32_t count = 0; count <= 1 << 15; count++) {
		uint32_t promised = credits_count(credits_code(count));

		assert_in_range(promised, count - count / 3, count);
	}
}

static void the_limit_is_what_was_done_and_what_is_posted(void **state)
{
	(void)state;
	pair(&patient, LONG_SEND);
	recvs_post(10);
	sends_post(1, SOME);
	packets_settle();
	/* nine are left; the codes next to that are 8 and 12, so the sender hears of 8 */
	assert_int_equal(qp_of(a)->req.lsn, 1 + 8);
	sends_post(1, SOME);
	packets_settle();
	assert_int_equal(qp_of(a)->req.lsn, 2 + 8);
	assert_int_equal(qp_of(a)->req.ssn, 3);
	assert_false(qp_of(a)->req.unlimited);
	expect_all_done(2, 0);
	unpair();
}

static void an_srq_sets_no_limit(void **state)
{
	struct flat_srq *srq = flat_srq(1, 4, 0, NULL);
	struct flat_qp_attr shares = patient;

	(void)state;
	shares.rq_type = PRM_RQ_TYPE_SRQ;
	shares.srqn = srq->n;
	pair(&patient, LONG_SEND);
	unpair();
	a = flat_qp(0, &patient);
	b = flat_qp(1, &shares);
	flat_connect(a, b, &patient);
	for (unsigned int i = 0; i < 8; i++)
		flat_srq_recv(srq, to, LONG_SEND, rkey);
	sends_post(1, SOME);
	packets_settle();
	assert_true(qp_of(a)->req.unlimited);
	assert_int_equal(qp_of(a)->req.lsn, 0);
	test_free(srq);
	unpair();
}

static void others_than_rc_have_none(void **state)
{
	struct qp qp = { .rq = { .stride = 64, .pi = 4 } };

	(void)state;
	for (qp.service = FABRIC_UC; qp.service <= FABRIC_DC; qp.service++) {
		assert_int_equal(credits_offer(&qp), AETH_NO_CREDITS);
		assert_false(credits_are_short(&qp));
	}
	qp.service = FABRIC_RC;
	assert_int_equal(credits_offer(&qp), 4);
	qp.rq.stride = 0;
	assert_int_equal(credits_offer(&qp), 0);
}

static void a_sender_out_of_credits_waits_and_goes_on(void **state)
{
	enum { SENDS = 20 };
	uint64_t before;

	(void)state;
	pair(&patient, LONG_SEND);
	recvs_post(4);
	sends_post(1, SOME);
	packets_settle();
	before = packets_from_a();
	sends_post(SENDS, SOME);
	packets_settle();
	/* three with credits, and one as a probe */
	assert_int_equal(packets_from_a() - before, 4);
	expect_all_done(4, 0);
	recvs_post(12);
	flat_run(10ull * LONG);
	expect_all_done(12, 4);
	recvs_post(SENDS + 1 - 16);
	flat_run(10ull * LONG);
	expect_all_done(SENDS + 1 - 16, 16);
	unpair();
}

/* A new connection has no credits, so the first SEND is probed with one packet. */
static void a_long_send_is_tried_with_one_packet(void **state)
{
	(void)state;
	pair(&patient, LONG_SEND);
	sends_post(2, LONG_SEND);
	packets_settle();
	assert_int_equal(packets_from_a(), 1);
	recvs_post(2);
	flat_run(10ull * LONG);
	expect_all_done(2, 0);
	assert_memory_equal(flat.mem + from, flat.mem + to, LONG_SEND);
	unpair();
}

static void write_post(uint8_t opcode, uint32_t len)
{
	flat_ctrl(a, opcode, SIGNALED, 0);
	flat_raddr(a, to, rkey);
	flat_data(a, from, len, lkey);
	flat_post(a);
}

/* A WRITE with immediate needs a receive only for its last packet, so the whole request serves as a
 * probe. */
static void a_write_with_immediate_is_tried_whole(void **state)
{
	(void)state;
	pair(&patient, LONG_SEND);
	write_post(OP_WRITE_IMM, LONG_SEND);
	write_post(OP_WRITE_IMM, LONG_SEND);
	flat_ring(a);
	packets_settle();
	assert_int_equal(packets_from_a(), LONG_SEND / MTU);
	recvs_post(2);
	flat_run(10ull * LONG);
	for (uint16_t i = 0; i < 2; i++) {
		flat_expect_done(a->send_cq, REQ, i);
		flat_expect_done(b->recv_cq, RESP_WRITE_IMM, i);
	}
	unpair();
}

/* READs, WRITEs and atomics need no receive, so they pass without credits, and raise the limit for
 * the others. */
static void other_requests_need_no_credits(void **state)
{
	struct requester *req;

	(void)state;
	pair(&patient, LONG_SEND);
	req = &qp_of(a)->req;
	write_post(OP_WRITE, LONG_SEND);
	write_post(OP_WRITE, SOME);
	write_post(OP_READ, SOME);
	flat_ring(a);
	hca_progress(a->hca, flat.now);
	assert_int_equal(req->ssn, 4);
	assert_int_equal(req->lsn, 3);
	packets_settle();
	assert_int_equal(req->lsn, 3);
	recvs_post(3);
	sends_post(3, SOME);
	packets_settle();
	assert_int_equal(req->lsn, 6);
	for (uint16_t i = 0; i < 6; i++)
		flat_expect_done(a->send_cq, REQ, i);
	for (uint16_t i = 0; i < 3; i++)
		flat_expect_done(b->recv_cq, RESP_SEND, i);
	unpair();
}

/* A retried request keeps its number, so it needs no second credit. */
static void losses_change_no_numbers(void **state)
{
	enum { SENDS = 12 };

	(void)state;
	for (int n = 1; n <= 2 * SENDS; n++) {
		char text[32];

		pair(&patient, LONG_SEND);
		snprintf(text, sizeof(text), "loss:%d", n);
		assert_int_equal(fault_add(flat.fault, text, flat.now), 0);
		recvs_post(SENDS);
		sends_post(SENDS / 2, 2 * MTU);
		write_post(OP_WRITE, 3 * MTU);
		sends_post(SENDS / 2, SOME);
		flat_run(10ull * LONG);
		for (uint16_t i = 0; i <= SENDS; i++)
			flat_expect_done(a->send_cq, REQ, i);
		assert_int_equal(qp_of(a)->req.ssn, SENDS + 2);
		assert_int_equal(qp_of(b)->resp.msn, SENDS + 1);
		assert_int_equal(qp_of(a)->req.lsn, SENDS + 1);
		unpair();
	}
}

/* Message numbers have 24 bits, so they wrap. */
static void numbers_come_again(void **state)
{
	(void)state;
	pair(&patient, LONG_SEND);
	qp_of(a)->req.ssn = PSN_MASK;
	qp_of(a)->req.lsn = PSN_MASK - 1;
	qp_of(b)->resp.msn = PSN_MASK - 1;
	recvs_post(6);
	sends_post(6, SOME);
	packets_settle();
	expect_all_done(6, 0);
	assert_int_equal(qp_of(a)->req.ssn, 5);
	assert_int_equal(qp_of(a)->req.lsn, 4);
	unpair();
}

/* Connects b to a anew, while a stays as it is. */
static void only_b_starts_again(void)
{
	struct flat_qp_attr again = patient;

	again.first_psn = qp_of(a)->req.next_psn;
	flat_simple(b->hca, PRM_OP_2RST_QP, b->n, PRM_STAT_OK);
	fld_set(flat.mem + b->dbr, FLD(0x0, 31, 0), 0);
	b->rq_pi = 0;
	flat_to(b, a, &again, PRM_QP_STATE_RTS);
}

/* A responder that was reset counts from 0 again, so the requester, which goes on, has credits
 * again with the first answer, and none that it had before. */
static void a_peer_that_was_reset_has_credits_again(void **state)
{
	(void)state;
	pair(&patient, LONG_SEND);
	recvs_post(16);
	for (int i = 0; i < 8; i++)
		write_post(i % 2 ? OP_READ : OP_WRITE, SOME);
	sends_post(4, 2 * MTU);
	packets_settle();
	assert_int_equal(qp_of(a)->req.ssn, 13);
	only_b_starts_again();
	recvs_post(6);
	sends_post(1, SOME);
	packets_settle();
	assert_int_equal(qp_of(b)->resp.msn, 1);
	/* five are left; the codes next to that are 4 and 6, so the sender hears of 4 */
	assert_int_equal(qp_of(a)->req.lsn, 13 + 4);
	sends_post(4, 2 * MTU);
	hca_progress(a->hca, flat.now); /* all at once */
	assert_int_equal(qp_of(a)->req.ssn, 18);
	packets_settle();
	assert_int_equal(qp_of(a)->req.lsn, 17 + 1);
	unpair();
}

/* The new numbers look like those that follow the old ones: the first of a peer that was reset is
 * six requests ahead, none of which was sent. */
static void a_number_that_was_not_sent_is_none_of_this_count(void **state)
{
	(void)state;
	pair(&patient, LONG_SEND);
	qp_of(a)->req.ssn = PSN_MASK - 4;
	qp_of(a)->req.lsn = PSN_MASK - 5;
	recvs_post(6);
	sends_post(1, SOME);
	packets_settle();
	assert_int_equal(qp_of(b)->resp.msn, 1);
	assert_int_equal(qp_of(a)->req.lsn,
			 (PSN_MASK - 4) + 4); /* five are left; codes have four */
	unpair();
}

int main(void)
{
#define BETWEEN(f, link, setup)                             \
	{                                                   \
#f ", " link, f, setup, flat_teardown, NULL \
	}
#define HOSTS(f) \
	BETWEEN(f, "InfiniBand", flat_setup_network), BETWEEN(f, "RoCE", flat_setup_network_roce)
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(codes_are_those_of_the_specification),
		cmocka_unit_test(a_code_promises_no_more_than_there_is),
		cmocka_unit_test(others_than_rc_have_none),
		HOSTS(the_limit_is_what_was_done_and_what_is_posted),
		HOSTS(an_srq_sets_no_limit),
		HOSTS(a_sender_out_of_credits_waits_and_goes_on),
		HOSTS(a_long_send_is_tried_with_one_packet),
		HOSTS(a_write_with_immediate_is_tried_whole),
		HOSTS(other_requests_need_no_credits),
		HOSTS(losses_change_no_numbers),
		HOSTS(numbers_come_again),
		HOSTS(a_peer_that_was_reset_has_credits_again),
		HOSTS(a_number_that_was_not_sent_is_none_of_this_count),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

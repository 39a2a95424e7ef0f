/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * answer_test.c - READs longer than a message: one request has many response messages, which keep
 * their order among other responses, leave room for other queues, and are sent again after a loss;
 * READs and atomics that a QP keeps for retries.
 *
 * Covers: softhca/device/transport/answer.c, softhca/device/transport/resp.c,
 * softhca/device/transport/req.c
 */
#include "pair.h"
#include "softhca/device/core.h"
#include "util/bits.h"

enum {
	LONG_READ = 3 * FABRIC_PAYLOAD_MAX + 17,
	ROOM = 4 * FABRIC_PAYLOAD_MAX,
	CUT_OFF = 16 * FABRIC_PAYLOAD_MAX
};

static const struct flat_qp_attr patient = { .retry = 7, .rnr_retry = 7, .timeout = 14 };

static void read_post(uint64_t offset, uint32_t len)
{
	flat_ctrl(b, OP_READ, SIGNALED, 0);
	flat_raddr(b, from + offset, lkey);
	flat_data(b, to + offset, len, rkey);
	flat_post(b);
}

static void expect_same(uint64_t offset, uint64_t len)
{
	assert_memory_equal(flat.mem + from + offset, flat.mem + to + offset, len);
}

static void adapter_run(unsigned int count)
{
	while (count--)
		hca_progress(flat.hca[0], flat.now);
}

static void begin_read(const struct flat_qp_attr *attr, uint32_t len)
{
	pair(attr, len < ROOM ? ROOM : len);
	read_post(0, len);
	flat_ring(b);
	hca_progress(flat.hca[1], flat.now);
}

static void begin_long_read(const struct flat_qp_attr *attr)
{
	begin_read(attr, LONG_READ);
}

static void a_long_read_is_one_request(void **state)
{
	const struct message_counters *sent = &flat.hca[1]->port[0].messages_sent;
	const struct message_counters *received = &flat.hca[1]->port[0].messages_received;

	(void)state;
	begin_long_read(NULL);
	flat_run(LONG);
	flat_expect_done(b->send_cq, REQ, 0);
	expect_same(0, LONG_READ);
	assert_int_equal(sent->packets, 1);
	assert_int_equal(sent->bytes, 0);
	assert_int_equal(received->bytes, LONG_READ);
	unpair();
}

/* Returns a READ in one request, as other vendors' adapters send it. */
static struct fabric_msg request_of(uint64_t len)
{
	return (struct fabric_msg){
		.service = FABRIC_RC,
		.op = FABRIC_READ,
		.addr = { .port = 1, .slid = flat.hca[1]->port[0].lid },
		.dest_qpn = a->n,
		.pkey = 0xffff,
		.packets = 1,
		.first = true,
		.last = true,
		.raddr = from,
		.rkey = lkey,
		.length = len,
		.payload_len = (uint32_t)len,
	};
}

static void a_request_of_a_megabyte_is_served(void **state)
{
	struct fabric_msg msg;

	(void)state;
	pair(NULL, ROOM);
	msg = request_of(ROOM);
	station_receive(flat.hca[0], 1, flat.now, &msg);
	flat_run(LONG / 1000);
	assert_int_equal(flat_state(a), PRM_QP_STATE_RTS);
	assert_int_equal(flat.hca[1]->port[0].messages_received.bytes, ROOM);
	unpair();
}

static void what_is_beyond_the_key_or_the_limit_is_refused(void **state)
{
	static const uint64_t lengths[] = { ROOM + 1, (UINT64_C(1) << 30) + 1, UINT32_MAX };
	struct fabric_msg msg;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(lengths); i++) {
		pair(NULL, ROOM);
		msg = request_of(lengths[i]);
		station_receive(flat.hca[0], 1, flat.now, &msg);
		flat_run(LONG / 1000);
		assert_int_equal(flat_state(a), PRM_QP_STATE_ERR);
		assert_int_equal(flat.hca[1]->port[0].messages_received.bytes, 0);
		unpair();
	}
}

static void others_have_their_turn(void **state)
{
	enum { LONGER = 12 * FABRIC_PAYLOAD_MAX }; /* so much that one run does not answer all */
	struct flat_qp *c, *d;

	(void)state;
	pair(NULL, 4096);
	c = a;
	d = b;
	begin_read(NULL, LONGER);
	flat_ctrl(c, OP_WRITE, SIGNALED, 0);
	flat_raddr(c, to + LONGER - 8, rkey);
	flat_data(c, from, 8, lkey);
	flat_post(c);
	flat_ring(c);
	adapter_run(1);
	flat_expect_done(c->send_cq, REQ, 0);
	flat_expect_empty(b->send_cq);
	flat_run(LONG);
	flat_expect_done(b->send_cq, REQ, 0);
	unpair();
	a = c;
	b = d;
	unpair();
}

static void answers_keep_their_order(void **state)
{
	uint64_t value = 41, old;

	(void)state;
	begin_long_read(NULL);
	memcpy(flat.mem + from + ROOM - 8, &value, sizeof(value));
	flat_recv(a, from + LONG_READ, 64, lkey);
	flat_ctrl(b, OP_FA, SIGNALED, 0);
	flat_raddr(b, from + ROOM - 8, lkey);
	flat_atomic(b, 1, 0);
	flat_data(b, to + ROOM - 8, 8, rkey);
	flat_post(b);
	flat_send(b, OP_SEND, to, 8, rkey);
	read_post(0, 100);
	flat_ring(b);
	flat_run(LONG);
	for (uint16_t i = 0; i < 4; i++)
		flat_expect_done(b->send_cq, REQ, i);
	flat_expect_done(a->recv_cq, RESP_SEND, 0);
	memcpy(&old, flat.mem + to + ROOM - 8, sizeof(old));
	assert_int_equal(old, 41);
	unpair();
}

static void a_key_that_goes_ends_the_answer(void **state)
{
	(void)state;
	begin_long_read(NULL);
	flat_simple(a->hca, PRM_OP_DESTROY_MKEY, lkey >> 8, PRM_STAT_OK);
	flat_run(LONG);
	flat_expect_error(b->send_cq, REQ_ERR, 0, REMOTE_ACCESS);
	assert_int_equal(flat_state(a), PRM_QP_STATE_ERR);
	expect_same(0, FABRIC_PAYLOAD_MAX);
	unpair();
}

/* The responder finishes earlier responses before it sends a NAK, as the requester completes in
 * order of PSNs. */
static void a_refusal_comes_after_the_answer(void **state)
{
	struct fabric_msg msg;

	(void)state;
	begin_long_read(NULL);
	msg = request_of(8);
	msg.psn = (LONG_READ + 1023) / 1024;
	msg.rkey = lkey + 1;
	station_receive(flat.hca[0], 1, flat.now, &msg);
	assert_int_equal(flat_state(a), PRM_QP_STATE_ERR);
	flat_run(LONG);
	flat_expect_done(b->send_cq, REQ, 0);
	expect_same(0, LONG_READ);
	unpair();
}

/* QP a is not ready for a SEND behind a READ. The acknowledge of a duplicate must not replace its
 * RNR NAK: b has no other reason to retry, as its timeout is hours away. */
static void a_nak_outlasts_the_acknowledge_of_a_duplicate(void **state)
{
	enum { TWO_PIECES = FABRIC_PAYLOAD_MAX + 17 };
	const struct flat_qp_attr never = { .retry = 7, .rnr_retry = 7, .timeout = 31 };
	struct fabric_msg msg;

	(void)state;
	pair(&never, ROOM);
	read_post(0, TWO_PIECES);
	flat_send(b, OP_SEND, to, 8, rkey);
	flat_ring(b);
	hca_progress(flat.hca[1], flat.now);
	msg = request_of(8);
	msg.op = FABRIC_WRITE;
	msg.psn = (TWO_PIECES + 1023) / 1024 - 1;
	msg.ack_req = true;
	station_receive(flat.hca[0], 1, flat.now, &msg);
	flat_recv(a, from + LONG_READ, 64, lkey);
	flat_run(LONG);
	flat_expect_done(b->send_cq, REQ, 0);
	flat_expect_done(b->send_cq, REQ, 1);
	flat_expect_done(a->recv_cq, RESP_SEND, 0);
	unpair();
}

/* IBTA vol 1, 10.3.1: a QP drops packets silently once it is in reset or destroyed. Responses stop
 * as well. */
static void a_qp_that_fails_otherwise_answers_no_more(void **state)
{
	static const uint16_t ends[] = { PRM_OP_2ERR_QP, PRM_OP_2RST_QP, PRM_OP_DESTROY_QP };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(ends); i++) {
		uint64_t before = flat.hca[1]->port[0].messages_received.bytes;

		begin_long_read(NULL);
		flat_simple(a->hca, ends[i], a->n, PRM_STAT_OK);
		flat_run(LONG);
		flat_expect_error(b->send_cq, REQ_ERR, 0, RETRY_EXCEEDED);
		assert_int_equal(flat.hca[1]->port[0].messages_received.bytes - before,
				 FABRIC_PAYLOAD_MAX);
		unpair();
	}
}

/* If the requester is reset in the middle of a message, the receive WQE stays in use, as the rest
 * never comes; only a flush completes it. */
static void a_message_is_cut_off_with_its_qp(void **state)
{
	static const uint16_t ends[] = { PRM_OP_2RST_QP, PRM_OP_DESTROY_QP };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(ends); i++) {
		pair(NULL, CUT_OFF);
		flat_recv(b, to, CUT_OFF, rkey);
		flat_send(a, OP_SEND, from, CUT_OFF, lkey);
		flat_ring(a);
		hca_progress(flat.hca[0], flat.now);
		flat_simple(a->hca, ends[i], a->n, PRM_STAT_OK);
		flat_run(LONG);
		assert_memory_equal(flat.mem + to, flat.mem + from, 4096);
		assert_int_not_equal(flat.mem[to + CUT_OFF - 1], flat.mem[from + CUT_OFF - 1]);
		flat_expect_empty(a->send_cq);
		flat_expect_empty(b->recv_cq);
		flat_simple(b->hca, PRM_OP_2ERR_QP, b->n, PRM_STAT_OK);
		flat_run(LONG / 100);
		flat_expect_error(b->recv_cq, RESP_ERR, 0, FLUSHED);
		unpair();
	}
}

static void a_qp_goes_with_its_answers(void **state)
{
	(void)state;
	begin_long_read(NULL);
	flat_simple(a->hca, PRM_OP_2RST_QP, a->n, PRM_STAT_OK);
	flat_simple(a->hca, PRM_OP_DESTROY_QP, a->n, PRM_STAT_OK);
	adapter_run(3);
	unpair();
}

static void request_data(enum fabric_op op, uint32_t psn)
{
	struct fabric_msg msg = request_of(op == FABRIC_READ ? 100 : 8);

	msg.op = op;
	msg.psn = psn;
	station_receive(flat.hca[0], 1, flat.now, &msg);
}

static void check_fifth(enum fabric_op op)
{
	struct flat_qp_attr attr = { .rd_atomic_log = 2 };
	uint32_t psn = (LONG_READ + 1023) / 1024;

	begin_long_read(&attr);
	for (int i = 0; i < 3; i++)
		request_data(i % 2 ? FABRIC_READ : FABRIC_ATOMIC_FA, psn++);
	assert_int_equal(flat_state(a), PRM_QP_STATE_RTS);
	request_data(op, psn);
	assert_int_equal(flat_state(a), PRM_QP_STATE_ERR);
	unpair();
}

static void more_than_the_qp_keeps_is_refused(void **state)
{
	(void)state;
	check_fifth(FABRIC_READ);
	check_fifth(FABRIC_ATOMIC_FA);
}

/* A repeated request replaces the responses still due to the first one, and counts once: retries
 * could otherwise use up the responder. */
static void what_is_asked_for_again_is_kept_once(void **state)
{
	struct flat_qp_attr attr = { .rd_atomic_log = 1 };
	struct fabric_msg msg;

	(void)state;
	begin_long_read(&attr);
	for (int i = 0; i < 10; i++) {
		msg = request_of(LONG_READ);
		station_receive(flat.hca[0], 1, flat.now, &msg);
	}
	assert_int_equal(flat_state(a), PRM_QP_STATE_RTS);
	flat_run(LONG);
	flat_expect_done(b->send_cq, REQ, 0);
	expect_same(0, LONG_READ);
	unpair();
}

static void check_with_loss(const char *fault)
{
	assert_int_equal(fault_add(flat.fault, fault, flat.now), 0);
	pair(&patient, ROOM);
	for (uint64_t at = 0; at + 100000 < LONG_READ; at += 100000)
		read_post(at, 100000);
	read_post(0, LONG_READ);
	flat_ring(b);
	flat_run(100ull * LONG);
	for (uint16_t i = 0; i < 8; i++)
		flat_expect_done(b->send_cq, REQ, i);
	expect_same(0, LONG_READ);
	unpair();
}

static void lost_pieces_are_sent_again(void **state)
{
	static const char *const faults[] = { "drop:1", "drop:10", "drop:11", "drop:12",
					      "drop:20%" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(faults); i++)
		check_with_loss(faults[i]);
}

static void lost_packets_are_sent_again(void **state)
{
	(void)state;
	check_with_loss("loss:700");
	check_with_loss("late:2000");
	check_with_loss("loss:0.2%");
}

/* If the response to the first of many atomics is lost, the retries return saved results, as no
 * atomic may run twice. */
static void results_of_all_atomics_are_kept(void **state)
{
	enum { ATOMICS = 40 };
	struct flat_qp_attr attr = { .retry = 7, .timeout = 14, .rd_atomic_log = 6, .sq_log = 6 };
	char fault[16];
	uint64_t value;

	(void)state;
	for (int i = 0; i < 2; i++)
		flat.hca[i]->config.limits.max_rd_atomic = 64;
	pair(&attr, 4096);
	memset(flat.mem + from, 0, 8);
	for (uint64_t i = 0; i < ATOMICS; i++) {
		flat_ctrl(b, OP_FA, SIGNALED, 0);
		flat_raddr(b, from, lkey);
		flat_atomic(b, 1, 0);
		flat_data(b, to + 8 * i, 8, rkey);
		flat_post(b);
	}
	snprintf(fault, sizeof(fault), "drop:%d", ATOMICS + 1);
	assert_int_equal(fault_add(flat.fault, fault, flat.now), 0);
	flat_ring(b);
	flat_run(10ull * LONG);
	for (uint64_t i = 0; i < ATOMICS; i++) {
		flat_expect_done(b->send_cq, REQ, i);
		memcpy(&value, flat.mem + to + 8 * i, sizeof(value));
		assert_int_equal(value, i);
	}
	unpair();
}

int main(void)
{
#define IB(f)      cmocka_unit_test_setup_teardown(f, flat_setup, flat_teardown)
#define LENIENT(f) cmocka_unit_test_setup_teardown(f, flat_setup_lenient, flat_teardown)
#define OVER(f, link, setup)                                    \
	{                                                       \
#f " (" link ")", f, setup, flat_teardown, NULL \
	}
	const struct CMUnitTest tests[] = {
		IB(a_long_read_is_one_request),
		IB(a_request_of_a_megabyte_is_served),
		IB(what_is_beyond_the_key_or_the_limit_is_refused),
		IB(others_have_their_turn),
		IB(answers_keep_their_order),
		OVER(answers_keep_their_order, "RoCE", flat_setup_roce),
		IB(a_key_that_goes_ends_the_answer),
		IB(a_refusal_comes_after_the_answer),
		IB(a_nak_outlasts_the_acknowledge_of_a_duplicate),
		IB(a_qp_that_fails_otherwise_answers_no_more),
		IB(a_message_is_cut_off_with_its_qp),
		IB(a_qp_goes_with_its_answers),
		LENIENT(more_than_the_qp_keeps_is_refused),
		LENIENT(what_is_asked_for_again_is_kept_once),
		IB(lost_pieces_are_sent_again),
		IB(lost_packets_are_sent_again),
		OVER(results_of_all_atomics_are_kept, "hosts", flat_setup_network),
		OVER(lost_packets_are_sent_again, "hosts", flat_setup_network),
		OVER(lost_packets_are_sent_again, "hosts, RoCE", flat_setup_network_roce),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

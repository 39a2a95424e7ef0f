/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * test_early.c - placement out of order: while a packet is late, those behind it are in memory
 * already; completions, acknowledges, READs and atomics keep their order.
 */
#include "exchange.h"
#include "pair.h"
#include "util/bits.h"

enum { SIZE = 512 };

static const struct flat_qp_attr early = {
	.out_of_order = true, .retry = 7, .rnr_retry = 7, .mtu = 5, .timeout = 14
};
static const struct flat_qp_attr in_order = { .retry = 7, .rnr_retry = 7, .mtu = 5, .timeout = 14 };

/* Time stands still, so that nothing is sent again. */
static void adapters_settle(void)
{
	for (int i = 0; i < 20; i++)
		hca_progress(flat.hca[i % 2], flat.now);
}

static void send_one(unsigned int n)
{
	flat_send(a, OP_SEND, from + (uint64_t)n * SIZE, SIZE, lkey);
	adapters_settle();
}

static void expect_bytes(unsigned int slot, unsigned int n, bool there)
{
	int differs = memcmp(flat.mem + to + slot * SIZE, flat.mem + from + n * SIZE, SIZE);

	assert_int_equal(!differs, there);
}

static void pair_start(const struct flat_qp_attr *attr, const char *fault, unsigned int receives)
{
	assert_int_equal(fault_add(flat.fault, fault, flat.now), 0);
	pair(attr, 65536);
	for (unsigned int i = 0; i < receives; i++)
		flat_recv(b, to + i * SIZE, SIZE, rkey);
}

static void later_sends_are_placed_first(void **state)
{
	(void)state;
	pair_start(&early, "late:1+3", 8);
	for (unsigned int i = 0; i < 3; i++)
		send_one(i);
	/* Message 1 is in the WQE that would have been message 0's. */
	expect_bytes(0, 1, true);
	expect_bytes(1, 2, true);
	flat_expect_empty(b->recv_cq);
	flat_expect_empty(a->send_cq);
	send_one(3);
	/* The order of completions is that of messages; each names the WQE that it has. */
	flat_expect_done(b->recv_cq, RESP_SEND, 3);
	flat_expect_done(b->recv_cq, RESP_SEND, 0);
	flat_expect_done(b->recv_cq, RESP_SEND, 1);
	flat_expect_done(b->recv_cq, RESP_SEND, 2);
	expect_bytes(3, 0, true);
	expect_bytes(2, 3, true);
	for (uint16_t i = 0; i < 4; i++)
		flat_expect_done(a->send_cq, REQ, i);
	unpair();
}

static void without_it_nothing_is_placed(void **state)
{
	(void)state;
	pair_start(&in_order, "late:1+3", 8);
	send_one(0);
	send_one(1);
	expect_bytes(0, 1, false);
	flat_run(LONG);
	for (uint16_t i = 0; i < 2; i++) {
		flat_expect_done(b->recv_cq, RESP_SEND, i);
		expect_bytes(i, i, true);
	}
	unpair();
}

static void writes_are_placed_too(void **state)
{
	(void)state;
	pair_start(&early, "late:1+2", 8);
	send_one(0);
	write_to(to + 100 * SIZE, rkey, from + 7 * SIZE, SIZE);
	adapters_settle();
	expect_bytes(100, 7, true);
	flat_expect_empty(a->send_cq);
	flat_expect_empty(b->recv_cq);
	flat_run(LONG);
	flat_expect_done(b->recv_cq, RESP_SEND, 0);
	flat_expect_done(a->send_cq, REQ, 0);
	flat_expect_done(a->send_cq, REQ, 1);
	unpair();
}

/* A READ behind a late WRITE sees what that has written. */
static void reads_keep_their_place(void **state)
{
	(void)state;
	pair_start(&early, "late:1+1", 8);
	write_to(to + 64 * SIZE, rkey, from + SIZE, SIZE);
	flat_ctrl(a, OP_READ, SIGNALED, 0);
	flat_raddr(a, to + 64 * SIZE, rkey);
	flat_data(a, from + 50 * SIZE, SIZE, lkey);
	flat_post(a);
	flat_ring(a);
	flat_run(LONG);
	flat_expect_done(a->send_cq, REQ, 0);
	flat_expect_done(a->send_cq, REQ, 1);
	assert_memory_equal(flat.mem + from + 50 * SIZE, flat.mem + from + SIZE, SIZE);
	unpair();
}

/* What is lost is sent again, and what came meanwhile is not taken twice. */
static void a_loss_is_made_good(void **state)
{
	(void)state;
	pair_start(&early, "loss:1", 8);
	for (unsigned int i = 0; i < 6; i++)
		send_one(i);
	flat_run(20ull * LONG);
	flat_expect_done(b->recv_cq, RESP_SEND, 5);
	for (uint16_t i = 0; i < 5; i++)
		flat_expect_done(b->recv_cq, RESP_SEND, i);
	expect_bytes(5, 0, true);
	for (uint16_t i = 0; i < 5; i++)
		expect_bytes(i, i + 1, true);
	for (uint16_t i = 0; i < 6; i++)
		flat_expect_done(a->send_cq, REQ, i);
	flat_expect_empty(b->recv_cq);
	unpair();
}

/* A receive that the missing message may need is not given away: it would never be told that the
 * others are there. */
static void the_missing_message_has_a_receive(void **state)
{
	(void)state;
	pair_start(&early, "late:1+2", 2);
	for (unsigned int i = 0; i < 3; i++)
		send_one(i);
	expect_bytes(0, 1, true);
	expect_bytes(1, 2, false);
	flat_expect_done(b->recv_cq, RESP_SEND, 1);
	flat_expect_done(b->recv_cq, RESP_SEND, 0);
	expect_bytes(1, 0, true);
	flat_recv(b, to + 2 * SIZE, SIZE, rkey);
	flat_run(20ull * LONG);
	flat_expect_done(b->recv_cq, RESP_SEND, 2);
	expect_bytes(2, 2, true);
	for (uint16_t i = 0; i < 3; i++)
		flat_expect_done(a->send_cq, REQ, i);
	unpair();
}

/* Software may write over a WQE when half of the ring has completed behind it. */
static void nothing_is_taken_too_early(void **state)
{
	struct flat_qp_attr attr = early;

	(void)state;
	attr.rq_log = 3;
	pair_start(&attr, "loss:1", 8);
	for (unsigned int n = 2; n <= 4; n++) {
		char text[16];

		snprintf(text, sizeof(text), "loss:%u", n);
		assert_int_equal(fault_add(flat.fault, text, flat.now), 0);
	}
	for (unsigned int i = 0; i < 5; i++)
		send_one(i);
	expect_bytes(0, 4, false);
	flat_run(20ull * LONG);
	for (uint16_t i = 0; i < 5; i++) {
		flat_expect_done(b->recv_cq, RESP_SEND, i);
		expect_bytes(i, i, true);
	}
	unpair();
}

/* Without a timeout of the sender, the receiver asks for what is missing. */
static void a_gap_is_asked_about(void **state)
{
	(void)state;
	pair_start(&early, "loss:1", 8);
	send_one(0);
	send_one(1);
	expect_bytes(0, 1, true);
	hca_progress(flat.hca[1], flat.now + 2ull * LONG);
	adapters_settle();
	flat_expect_done(b->recv_cq, RESP_SEND, 1);
	flat_expect_done(b->recv_cq, RESP_SEND, 0);
	unpair();
}

static void a_taken_wqe_is_flushed(void **state)
{
	(void)state;
	pair_start(&early, "late:1+9", 8);
	send_one(0);
	send_one(1);
	expect_bytes(0, 1, true);
	flat_simple(b->hca, PRM_OP_2ERR_QP, b->n, PRM_STAT_OK);
	flat_run(LONG / 1000);
	for (uint16_t i = 0; i < 8; i++)
		flat_expect_error(b->recv_cq, RESP_ERR, i, FLUSHED);
	unpair();
}

static void any_mixture_arrives(void **state)
{
	enum { SENT = 2001, BULK = 30000 };
	struct flat_qp_attr attr = early;
	static const char *const faults[] = { "late:5%", "late:3%+4", "late:10%+20", "loss:1%" };

	attr.rd_atomic_log = 0;
	for (size_t i = 0; i < ARRAY_SIZE(faults); i++) {
		flat_teardown(state);
		flat_setup(state);
		assert_int_equal(fault_add(flat.fault, faults[i], flat.now), 0);
		pair(&attr, EXCHANGE_MEMORY);
		exchange_post(SENT, BULK);
		flat_run(20ull * LONG);
		exchange_check(SENT, BULK);
		unpair();
	}
}

#define ON(function) cmocka_unit_test_setup_teardown(function, flat_setup, flat_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		ON(later_sends_are_placed_first),
		ON(without_it_nothing_is_placed),
		ON(writes_are_placed_too),
		ON(reads_keep_their_place),
		ON(the_missing_message_has_a_receive),
		ON(nothing_is_taken_too_early),
		ON(a_gap_is_asked_about),
		ON(a_loss_is_made_good),
		ON(a_taken_wqe_is_flushed),
		ON(any_mixture_arrives),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * out_of_order_test.c - out-of-order placement: packets behind a late one reach memory at once;
 * completions, acknowledges, READs and atomics keep their order.
 *
 * Covers: softhca/device/transport/out_of_order.c
 */
#include "pair.h"
#include "prm/mlx5/cqe.h"
#include "prm/mlx5/srqc.h"
#include "signed_key.h"
#include "softhca/device/core.h"
#include "util/bits.h"

enum { SIZE = 512 };

static const struct flat_qp_attr early = {
	.out_of_order = true, .retry = 7, .rnr_retry = 7, .mtu = 5, .timeout = 14
};
static const struct flat_qp_attr in_order = { .retry = 7, .rnr_retry = 7, .mtu = 5, .timeout = 14 };

/* Exchanges messages without letting time pass, so that no timer sends one again. */
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

/* Gives the requester COUNT credits, as an acknowledge would have done. */
static void grant_credits(uint32_t count)
{
	struct qp *qp = res_find(&a->hca->qps, a->n);

	qp->req.lsn = count;
}

static void pair_start(const struct flat_qp_attr *attr, const char *fault, unsigned int receives)
{
	assert_int_equal(fault_add(flat.fault, fault, flat.now), 0);
	pair(attr, 65536);
	for (unsigned int i = 0; i < receives; i++)
		flat_recv(b, to + i * SIZE, SIZE, rkey);
	grant_credits(8);
}

static void later_sends_are_placed_first(void **state)
{
	(void)state;
	pair_start(&early, "late:1+3", 8);
	for (unsigned int i = 0; i < 3; i++)
		send_one(i);
	/* Message 1 came first, and took the first WQE. */
	expect_bytes(0, 1, true);
	expect_bytes(1, 2, true);
	flat_expect_empty(b->recv_cq);
	flat_expect_empty(a->send_cq);
	send_one(3);
	/* CQEs are in the order of messages; each names the WQE that its message took. */
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

/* Messages that came before their turn must not complete after a reset, as they belong to the QP's
 * life before it. */
static void what_was_early_goes_with_a_reset(void **state)
{
	struct qp *qp;

	(void)state;
	pair_start(&early, "late:1+3", 8);
	qp = res_find(&b->hca->qps, b->n);
	for (unsigned int i = 0; i < 3; i++)
		send_one(i);
	assert_false(TAILQ_EMPTY(&qp->early));
	flat_simple(b->hca, PRM_OP_2RST_QP, b->n, PRM_STAT_OK);
	assert_true(TAILQ_EMPTY(&qp->early));
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

/* A READ behind a late WRITE returns the bytes of that WRITE, as it must not overtake it. */
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

/* After a loss, the retry skips messages that have already arrived, as executing them twice would
 * take a second receive. */
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

/* The last receive WQE stays reserved for the missing message: without it, the CQEs of the others
 * would never follow. */
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

/* Software frees slots by the number of completions, so it could overwrite an early message's WQE:
 * the device takes none early while half a ring of messages or more is missing. */
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

/* If the sender has no timeout, only the receiver's NAK can request the missing message. */
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

static void pair_again(const struct flat_qp_attr *sender, const struct flat_qp_attr *receiver)
{
	unpair();
	a = flat_qp(0, sender);
	b = flat_qp(1, receiver);
	flat_connect(a, b, &early);
	grant_credits(8);
}

static void an_srq_keeps_one_for_what_is_missing(void **state)
{
	struct flat_srq *srq = flat_srq(1, 3, 0, NULL);
	struct flat_qp_attr shares = early;

	(void)state;
	shares.rq_type = PRM_RQ_TYPE_SRQ;
	shares.srqn = srq->n;
	pair_start(&early, "late:1+2", 0);
	pair_again(&early, &shares);
	for (unsigned int i = 0; i < 2; i++)
		flat_srq_recv(srq, to + i * SIZE, SIZE, rkey);
	for (unsigned int i = 0; i < 3; i++)
		send_one(i);
	expect_bytes(0, 1, true);
	expect_bytes(1, 2, false);
	flat_expect_done(b->recv_cq, RESP_SEND, 1);
	flat_expect_done(b->recv_cq, RESP_SEND, 0);
	expect_bytes(1, 0, true);
	flat_srq_recv(srq, to + 2 * SIZE, SIZE, rkey);
	flat_run(20ull * LONG);
	flat_expect_done(b->recv_cq, RESP_SEND, 2);
	expect_bytes(2, 2, true);
	test_free(srq);
	unpair();
}

static void send_to(const struct flat_srq *srq, unsigned int n)
{
	flat_ctrl(a, OP_SEND, SIGNALED, 0);
	flat_xrc(a, srq->n);
	flat_data(a, from + (uint64_t)n * SIZE, SIZE, lkey);
	flat_post(a);
	flat_ring(a);
	adapters_settle();
}

/* Checks a CQE of an XRC SRQ: it has the SRQ's user index. */
static void expect_received(struct flat_cq *cq, uint16_t index)
{
	const uint8_t *cqe = flat_poll(cq);

	assert_non_null(cqe);
	assert_int_equal(fld_get(cqe, CQE_OPCODE), RESP_SEND);
	assert_int_equal(fld_get(cqe, CQE_WQE_COUNTER), index);
	assert_int_equal(fld_get(cqe, FLD(0x20, 23, 0)), FLAT_SRQ_UIDX);
}

/* Early messages take WQEs of the SRQ that they name; destroying the SRQ discards them. */
static void an_srq_goes_with_what_was_early(void **state)
{
	struct flat_qp_attr initiator = early, target = early;
	uint32_t xrcd = flat_simple(flat.hca[1], PRM_OP_ALLOC_XRCD, 0, PRM_STAT_OK);
	struct flat_cq *cq = flat_cq(flat.hca[1], 4, 64);
	struct flat_srq *stays = flat_srq(1, 3, xrcd, cq), *goes = flat_srq(1, 3, xrcd, cq);

	(void)state;
	initiator.st = target.st = PRM_QP_ST_XRC;
	initiator.rq_type = PRM_RQ_TYPE_ZERO_SIZE;
	target.rq_type = PRM_RQ_TYPE_SRQ;
	target.xrcd = xrcd;
	pair_start(&early, "late:1+3", 0);
	pair_again(&initiator, &target);
	for (unsigned int i = 0; i < 3; i++) {
		flat_srq_recv(stays, to + i * SIZE, SIZE, rkey);
		flat_srq_recv(goes, to + (4 + i) * SIZE, SIZE, rkey);
	}
	send_to(stays, 0);
	send_to(stays, 1);
	send_to(goes, 2);
	expect_bytes(0, 1, true);
	expect_bytes(4, 2, true);
	flat_simple(flat.hca[1], PRM_OP_DESTROY_XRC_SRQ, goes->n, PRM_STAT_OK);
	send_to(stays, 3);
	flat_run(20ull * LONG);
	/* Messages 0 and 1 completed. Message 2 has no SRQ any more, so it fails the QP, which
	 * discards message 3. */
	expect_received(cq, 1);
	expect_received(cq, 0);
	assert_int_equal(flat_state(b), PRM_QP_STATE_ERR);
	test_free(stays);
	test_free(goes);
	test_free(cq);
	unpair();
}

/* Writes both halves of a block through a key that signs the block in memory. */
static void write_halves(struct mkey *mkey)
{
	mkey->sig_count.expected = !mkey->sig_count.happened;
	write_to(mkey->start, mkey->key, from, SIGNED_BLOCK / 2);
	adapters_settle();
	write_to(mkey->start + SIGNED_BLOCK / 2, mkey->key, from + SIGNED_BLOCK / 2,
		 SIGNED_BLOCK / 2);
	adapters_settle();
}

/* A guard is computed in byte order, so an early packet for such a key waits for its turn. */
static void what_is_signed_keeps_its_place(void **state)
{
	struct mkey *mkey[2];

	(void)state;
	pair_start(&early, "late:1+1", 8);
	for (size_t i = 0; i < ARRAY_SIZE(mkey); i++) {
		mkey[i] =
			signed_key(1, GUARD_DIF_CRC, GUARD_NONE, to + i * 4096, SIGNED_UNIT, rkey);
		write_halves(mkey[i]);
		flat_run(20ull * LONG);
		flat_expect_done(a->send_cq, REQ, (uint16_t)(2 * i));
		flat_expect_done(a->send_cq, REQ, (uint16_t)(2 * i + 1));
	}
	assert_memory_equal(flat.mem + to, flat.mem + from, SIGNED_BLOCK);
	assert_memory_equal(flat.mem + to, flat.mem + to + 4096, SIGNED_UNIT);
	unpair();
}

/* If the receive WQE uses a key with signatures, an early message is dropped, and taken when it is
 * sent again in order, as signatures are computed in order. */
static void receives_that_sign_keep_their_place(void **state)
{
	struct mkey *mkey;

	(void)state;
	pair_start(&early, "late:1+1", 0);
	mkey = signed_key(1, GUARD_DIF_CRC, GUARD_NONE, to, 4 * SIGNED_UNIT, rkey);
	for (unsigned int i = 0; i < 4; i++)
		flat_recv(b, to + i * SIGNED_BLOCK, SIGNED_BLOCK, mkey->key);
	send_one(0);
	send_one(1);
	flat_run(20ull * LONG);
	flat_expect_done(b->recv_cq, RESP_SEND, 0);
	flat_expect_done(b->recv_cq, RESP_SEND, 1);
	expect_bytes(0, 0, true);
	unpair();
}

/* Each round has five requests, two of them SENDs. Each request has its own slot in memory. */
enum { ROUND = 5, ROUND_SENDS = 2, REQUESTS = 80 * ROUND, LOG = 9, WRITTEN = REQUESTS * SIZE };

static const uint8_t round_of[ROUND] = { OP_SEND, OP_SEND, OP_WRITE, OP_READ, OP_FA };

static uint64_t written(unsigned int n)
{
	return to + WRITTEN + (uint64_t)n * SIZE;
}

static uint64_t read_target(unsigned int n)
{
	return from + WRITTEN + (uint64_t)n * SIZE;
}

static uint64_t write_source(unsigned int n)
{
	return from + (uint64_t)n * SIZE;
}

/* Posts request N. A READ reads the bytes of the WRITE before it. */
static void mixture_post_one(unsigned int n)
{
	uint8_t opcode = round_of[n % ROUND];

	flat_ctrl(a, opcode, SIGNALED, 0);
	if (opcode == OP_WRITE)
		flat_raddr(a, written(n), rkey);
	else if (opcode == OP_READ)
		flat_raddr(a, written(n - 1), rkey);
	else if (opcode == OP_FA)
		flat_raddr(a, to, rkey);
	if (opcode == OP_FA)
		flat_atomic(a, 1, 0);
	flat_data(a, opcode == OP_SEND || opcode == OP_WRITE ? write_source(n) : read_target(n),
		  opcode == OP_FA ? 8 : SIZE, lkey);
	flat_post(a);
}

static void mixture_post(void)
{
	memset(flat.mem + to, 0, 8);
	for (unsigned int i = 0; i < REQUESTS; i++)
		flat_recv(b, to + SIZE + (uint64_t)i * SIZE, SIZE, rkey);
	for (unsigned int i = 0; i < REQUESTS; i++)
		mixture_post_one(i);
	flat_ring(a);
}

static void expect_same(uint64_t one, uint64_t other)
{
	assert_memory_equal(flat.mem + one, flat.mem + other, SIZE);
}

/* Checks the CQE of SEND N. Returns whether the message came early, and so took the WQE of
 * another. */
static bool mixture_check_send(unsigned int n)
{
	const uint8_t *cqe = flat_poll(b->recv_cq);
	uint64_t index;

	assert_non_null(cqe);
	assert_int_equal(fld_get(cqe, CQE_OPCODE), RESP_SEND);
	index = fld_get(cqe, CQE_WQE_COUNTER);
	assert_in_range(index, 0, REQUESTS - 1);
	expect_same(to + SIZE + index * SIZE, write_source(n));
	return index != n / ROUND * ROUND_SENDS + n % ROUND;
}

static unsigned int mixture_check(void)
{
	unsigned int early_ones = 0;

	for (unsigned int n = 0; n < REQUESTS; n++) {
		uint64_t before = n / ROUND; /* the number of atomics before this one */

		flat_expect_done(a->send_cq, REQ, n);
		if (round_of[n % ROUND] == OP_SEND)
			early_ones += mixture_check_send(n);
		else if (round_of[n % ROUND] == OP_WRITE)
			expect_same(written(n), write_source(n));
		else if (round_of[n % ROUND] == OP_READ)
			expect_same(read_target(n), write_source(n - 1));
		else
			assert_memory_equal(flat.mem + read_target(n), &before, sizeof(before));
	}
	flat_expect_empty(a->send_cq);
	flat_expect_empty(b->recv_cq);
	return early_ones;
}

static unsigned int mixture_run(const struct flat_qp_attr *base, const char *fault)
{
	struct flat_qp_attr attr = *base;
	unsigned int early_ones;

	attr.rq_log = attr.sq_log = attr.cq_log = LOG;
	attr.rd_atomic_log = 3;
	assert_int_equal(fault_add(flat.fault, fault, flat.now), 0);
	pair(&attr, WRITTEN * 2 + SIZE);
	mixture_post();
	flat_run(20ull * LONG);
	early_ones = mixture_check();
	unpair();
	return early_ones;
}

static void any_mixture_arrives(void **state)
{
	static const char *const faults[] = { "late:5%+4", "late:3%+7", "late:10%+20", "loss:2%" };

	for (size_t i = 0; i < ARRAY_SIZE(faults); i++) {
		flat_teardown(state);
		flat_setup(state);
		assert_int_not_equal(mixture_run(&early, faults[i]), 0);
		flat_teardown(state);
		flat_setup(state);
		assert_int_equal(mixture_run(&in_order, faults[i]), 0);
	}
}

#define ON(function) cmocka_unit_test_setup_teardown(function, flat_setup, flat_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		ON(later_sends_are_placed_first),
		ON(what_was_early_goes_with_a_reset),
		ON(without_it_nothing_is_placed),
		ON(writes_are_placed_too),
		ON(reads_keep_their_place),
		ON(the_missing_message_has_a_receive),
		ON(nothing_is_taken_too_early),
		ON(a_gap_is_asked_about),
		ON(a_loss_is_made_good),
		ON(a_taken_wqe_is_flushed),
		ON(an_srq_keeps_one_for_what_is_missing),
		ON(an_srq_goes_with_what_was_early),
		ON(what_is_signed_keeps_its_place),
		ON(receives_that_sign_keep_their_place),
		ON(any_mixture_arrives),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * strict_test.c - rules of a strict adapter: a work request or a doorbell breaks each rule, and an
 * adapter that is not strict executes it with success.
 *
 * Covers: softhca/strict.c, softhca/device/queue/rules.c, softhca/device/queue/recv_notes.c,
 * softhca/device/format/mlx5/wqe_rules.c,
 * softhca/device/format/mlx5/doorbell_rules.c
 */
#include "pair.h"
#include "prm/mlx5/mkc.h"
#include "prm/mlx5/qpc.h"
#include "prm/mlx5/umr.h"
#include "prm/mlx5/wqe.h"
#include "softhca/device/core.h"
#include "softhca/device/memory/mkey.h"
#include "util/bits.h"

enum { REGISTER = 0x800, OTHER_HALF = 0x900, OP_UMR = 0x25 };

static uint8_t *newest(struct flat_qp *qp)
{
	return flat.mem + qp->sq + 64u * (qp->newest & ((1u << qp->sq_log) - 1));
}

static void posted_write(struct flat_qp *qp)
{
	flat_ctrl(qp, OP_WRITE, SIGNALED, 0);
	flat_raddr(qp, to, rkey);
	flat_data(qp, from, 8, lkey);
	flat_post(qp);
}

static void put_record(struct flat_qp *qp)
{
	fld_set(flat.mem + qp->dbr, FLD(0x4, 31, 0), qp->sq_pi);
}

static uint64_t value_of(struct flat_qp *qp)
{
	uint64_t value;

	memcpy(&value, newest(qp), sizeof(value));
	return value;
}

static void expect_done(uint16_t counter)
{
	flat_run(LONG / 100);
	flat_expect_done(a->send_cq, REQ, counter);
}

/* ---- bytes of WQEs ---- */

struct wrong_byte {
	const char *rule;
	unsigned int at;
	uint8_t bits;
};

static void each_byte_is_reported(void (*post)(void), const struct wrong_byte *wrong, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		post();
		newest(a)[wrong[i].at] |= wrong[i].bits;
		flat_ring(a);
		flat_run(LONG / 100);
		flat_expect_report(wrong[i].rule);
		assert_non_null(flat_poll(a->send_cq));
	}
}

static void post_write(void)
{
	posted_write(a);
}

static void control_and_address_segments(void **state)
{
	static const struct wrong_byte wrong[] = {
		{ "wqe.reserved", 7, 0x40 },  { "wqe.reserved", 7, 0x80 },
		{ "wqe.signature", 8, 0x5a }, { "wqe.reserved", 9, 1 },
		{ "wqe.reserved", 10, 1 },    { "wqe.reserved", 11, 1 },
		{ "wqe.reserved", 11, 0x10 }, { "wqe.fence", 11, 0xa0 },
		{ "wqe.fence", 11, 0xe0 },    { "wqe.reserved", 28, 0x80 },
		{ "wqe.reserved", 31, 0x01 },
	};

	(void)state;
	pair(NULL, 4096);
	each_byte_is_reported(post_write, wrong, ARRAY_SIZE(wrong));
	unpair();
}

static void post_inline(void)
{
	flat_ctrl(a, OP_WRITE, SIGNALED, 0);
	flat_raddr(a, to, rkey);
	flat_inline(a, "12345678", 8);
	flat_post(a);
}

static void inline_header(void **state)
{
	static const struct wrong_byte wrong[] = {
		{ "wqe.reserved", 32, 0x40 },
		{ "wqe.reserved", 34, 0x04 },
	};

	(void)state;
	pair(NULL, 4096);
	each_byte_is_reported(post_inline, wrong, ARRAY_SIZE(wrong));
	unpair();
}

static void post_datagram(void)
{
	flat_ctrl(a, OP_SEND, SIGNALED, 0);
	flat_av(a, b, b->n, 0x1234, NULL);
	flat_data(a, from, 8, lkey);
	flat_post(a);
}

static void post_datagram_with_grh(void)
{
	static const uint8_t gid[16] = { 0xfe, 0x80 };

	flat_ctrl(a, OP_SEND, SIGNALED, 0);
	flat_av(a, b, b->n, 0x1234, gid);
	flat_data(a, from, 8, lkey);
	flat_post(a);
}

static void address_vectors(void **state)
{
	static const struct wrong_byte compact[] = {
		{ "wqe.reserved", 20, 1 },
		{ "wqe.reserved", 24, 0x40 },
	};
	static const struct wrong_byte extended[] = {
		{ "wqe.reserved", 24, 1 },
		{ "wqe.reserved", 32, 1 },
		{ "wqe.reserved", 44, 0x80 },
		{ "wqe.reserved", 44, 0x20 },
	};
	struct flat_qp_attr attr = { .st = PRM_QP_ST_UD, .qkey = 0x1234 };

	(void)state;
	pair(&attr, 4096);
	each_byte_is_reported(post_datagram, compact, ARRAY_SIZE(compact));
	each_byte_is_reported(post_datagram_with_grh, extended, ARRAY_SIZE(extended));
	unpair();
}

static void atomic_of_two_pieces(void **state)
{
	(void)state;
	pair(NULL, 4096);
	flat_ctrl(a, OP_FA, SIGNALED, 0);
	flat_raddr(a, to, rkey);
	flat_atomic(a, 1, 0);
	flat_data(a, from, 4, lkey);
	flat_data(a, from + 4, 4, lkey);
	flat_post(a);
	flat_ring(a);
	expect_done(0);
	flat_expect_report("wqe.segments");
	unpair();
}

static void addition_with_more_than_it_takes(void **state)
{
	struct flat_masked operands = { .bytes = 4, .swap_add = 1, .swap_mask = 1 };

	(void)state;
	pair(NULL, 4096);
	flat_ctrl(a, OP_MASKED_FA, SIGNALED, 0);
	flat_raddr(a, to, rkey);
	flat_masked(&operands, false);
	flat_data(a, from, 4, lkey);
	flat_post(a);
	flat_ring(a);
	expect_done(0);
	flat_expect_report("wqe.reserved");
	unpair();
}

static void record_of_an_srq_beyond_its_ring(void **state)
{
	struct flat_srq *srq = flat_srq(1, 4, 0, NULL);
	struct flat_qp_attr attr = { .rq_type = PRM_RQ_TYPE_SRQ, .srqn = srq->n };

	(void)state;
	pair(NULL, 4096);
	test_free(b->send_cq);
	test_free(b->recv_cq);
	test_free(b);
	b = flat_qp(1, &attr);
	flat_simple(a->hca, PRM_OP_2RST_QP, a->n, PRM_STAT_OK);
	flat_connect(a, b, NULL);
	flat_srq_recv(srq, to, 64, rkey);
	flat_send(a, OP_SEND, from, 8, lkey);
	expect_done(0);
	fld_set(flat.mem + srq->dbr, FLD(0x0, 31, 0), 40);
	flat_send(a, OP_SEND, from, 8, lkey);
	flat_run(LONG / 100);
	flat_expect_report("record.beyond");
	test_free(srq);
	unpair();
}

/* ---- doorbells ---- */

static void value_of_garbage(void **state)
{
	(void)state;
	pair(NULL, 4096);
	posted_write(a);
	put_record(a);
	flat_write_uar(0, REGISTER, 0x0102030405060708ull);
	flat_expect_report("doorbell.value");
	flat_run(LONG / 100);
	flat_expect_empty(a->send_cq);
	flat_write_uar(0, OTHER_HALF, value_of(a) ^ htobe64(1)); /* wrong ds, right QP */
	flat_expect_report("doorbell.value");
	expect_done(0);
	unpair();
}

static void value_of_another_qp(void **state)
{
	struct flat_qp *other;

	(void)state;
	pair(NULL, 4096);
	other = flat_qp(0, NULL);
	flat_to(other, b, NULL, PRM_QP_STATE_RTS);
	posted_write(a);
	put_record(a);
	flat_write_uar(0, REGISTER, htobe64((uint64_t)OP_WRITE << 32 | other->n << 8 | 3));
	flat_expect_report("doorbell.early"); /* ahead of the posted WQEs */
	flat_run(LONG / 100);
	flat_expect_empty(a->send_cq);
	test_free(other->send_cq);
	test_free(other->recv_cq);
	test_free(other);
	unpair();
}

static void four_bytes(void **state)
{
	uint64_t value;

	(void)state;
	pair(NULL, 4096);
	posted_write(a);
	put_record(a);
	value = value_of(a);
	hca_uar_write(flat.hca[0], flat.uar[0], REGISTER, &value, 4);
	flat_expect_report("doorbell.size");
	flat_run(LONG / 100);
	flat_expect_empty(a->send_cq);
	unpair();
}

static void register_of_another_page(void **state)
{
	uint32_t uar;
	uint64_t value;

	(void)state;
	pair(NULL, 4096);
	uar = flat_simple(flat.hca[0], PRM_OP_ALLOC_UAR, 0, PRM_STAT_OK);
	posted_write(a);
	put_record(a);
	value = value_of(a);
	hca_uar_write(flat.hca[0], uar, REGISTER, &value, sizeof(value));
	flat_expect_report("doorbell.uar");
	flat_run(LONG / 100);
	flat_expect_empty(a->send_cq);
	unpair();
}

static void register_before_the_record(void **state)
{
	(void)state;
	pair(NULL, 4096);
	posted_write(a);
	flat_write_uar(0, REGISTER, value_of(a));
	flat_expect_report("doorbell.early");
	put_record(a);
	flat_run(LONG / 100);
	flat_expect_empty(a->send_cq);
	unpair();
}

/* A polling front learns the doorbell's value late: the record may have moved on, and the value
 * must still count as right. */
static void polled_values(void **state)
{
	struct flat_qp *other;
	uint64_t first;

	(void)state;
	flat.scans = true;
	pair(NULL, 4096);
	other = flat_qp(0, NULL);
	posted_write(a);
	first = value_of(a);
	posted_write(a);
	put_record(a);
	hca_uar_found(flat.hca[0], flat.uar[0], REGISTER, first);
	hca_uar_found(flat.hca[0], flat.uar[0], OTHER_HALF, value_of(a));
	hca_uar_scan_sq(flat.hca[0], flat.uar[0], NULL, 0);
	expect_done(0);
	expect_done(1);
	hca_uar_found(flat.hca[0], flat.uar[0], REGISTER, value_of(a)); /* found late by polling */
	flat_expect_empty(a->send_cq);
	hca_uar_found(flat.hca[0], flat.uar[0], REGISTER, htobe64(0x77ull << 8));
	flat_expect_report("doorbell.value");
	posted_write(a);
	hca_uar_found(flat.hca[0], flat.uar[0], REGISTER, value_of(a));
	flat_expect_report("doorbell.early");
	put_record(a);
	hca_uar_found(flat.hca[0], flat.uar[0], REGISTER, value_of(a) ^ htobe64(1));
	flat_expect_report("doorbell.value");
	hca_uar_found(flat.hca[0], flat.uar[0] + 1, REGISTER, value_of(a));
	flat_expect_report("doorbell.uar");
	test_free(other->send_cq);
	test_free(other->recv_cq);
	test_free(other);
	unpair();
}

/* ---- BlueFlame under polling ---- */

static uint64_t polled_page[512];

static void place_page(void)
{
	memset(polled_page, 0, sizeof(polled_page));
	hca_uar_place(flat.hca[0], flat.uar[0], polled_page);
}

/* Writes LEN bytes to the BlueFlame page as software does, and takes the first 8 as the polling
 * front does. */
static void poll_push(uint32_t offset, const uint8_t *bytes, size_t len)
{
	uint64_t value;

	memcpy((uint8_t *)polled_page + offset, bytes, len);
	value = polled_page[offset / 8];
	polled_page[offset / 8] = 0;
	hca_uar_found(flat.hca[0], flat.uar[0], offset, value);
}

static void posted_and_pushed(uint32_t offset, size_t len)
{
	posted_write(a);
	put_record(a);
	poll_push(offset, newest(a), len);
}

static void polled_pushes(void **state)
{
	(void)state;
	pair(NULL, 4096);
	place_page();
	for (int i = 0; i < 6; i++)
		posted_and_pushed(i % 2 ? OTHER_HALF : REGISTER, i < 4 ? 64 : 8);
	/* Bytes of an earlier push in this half must not count as part of a plain doorbell. */
	posted_and_pushed(REGISTER, 64);
	posted_and_pushed(REGISTER, 8);
	posted_and_pushed(OTHER_HALF, 8);
	posted_and_pushed(REGISTER, 8);
	unpair();
}

static void polled_bytes_differ(void **state)
{
	uint8_t wqe[64];

	(void)state;
	pair(NULL, 4096);
	place_page();
	posted_write(a);
	put_record(a);
	memcpy(wqe, newest(a), sizeof(wqe));
	wqe[40]++;
	poll_push(REGISTER, wqe, sizeof(wqe));
	posted_and_pushed(OTHER_HALF, 64); /* this doorbell ends the first push */
	flat_expect_report("bf.bytes");
	posted_and_pushed(REGISTER, 64);
	unpair();
}

/* Software is writing this half of the page again, so its bytes must not be compared. */
static void polled_half_is_busy(void **state)
{
	uint8_t wqe[64];

	(void)state;
	pair(NULL, 4096);
	place_page();
	posted_write(a);
	put_record(a);
	memcpy(wqe, newest(a), sizeof(wqe));
	wqe[40]++;
	poll_push(REGISTER, wqe, sizeof(wqe));
	polled_page[REGISTER / 8] = 1;
	posted_and_pushed(OTHER_HALF, 64);
	unpair();
}

/* A late front finds both halves written, and cannot tell how often: here a plain doorbell hides
 * the push of another request. */
static void polled_halves_are_behind(void **state)
{
	uint64_t later, last;

	(void)state;
	pair(NULL, 4096);
	place_page();
	posted_and_pushed(REGISTER, 64);
	posted_and_pushed(OTHER_HALF, 64);
	posted_write(a);
	newest(a)[40] ^= 1;
	memcpy((uint8_t *)polled_page + REGISTER, newest(a), 64);
	newest(a)[40] ^= 1;
	posted_write(a);
	later = polled_page[OTHER_HALF / 8] = value_of(a);
	posted_write(a);
	last = value_of(a);
	put_record(a);
	polled_page[REGISTER / 8] = 0;
	hca_uar_found(flat.hca[0], flat.uar[0], REGISTER, last);
	polled_page[OTHER_HALF / 8] = 0;
	hca_uar_found(flat.hca[0], flat.uar[0], OTHER_HALF, later);
	posted_and_pushed(OTHER_HALF, 64);
	posted_and_pushed(REGISTER, 64);
	unpair();
}

static void the_other_half_first(void **state)
{
	(void)state;
	pair(NULL, 4096);
	place_page();
	polled_page[REGISTER / 8] = 1; /* a doorbell that the front has not seen yet */
	posted_and_pushed(OTHER_HALF, 64);
	unpair();
	flat.uar[0] = flat_simple(flat.hca[0], PRM_OP_ALLOC_UAR, 0, PRM_STAT_OK);
	pair(NULL, 4096);
	place_page();
	posted_and_pushed(OTHER_HALF, 64);
	flat_expect_report("bf.first");
	unpair();
	flat.uar[0] = flat_simple(flat.hca[0], PRM_OP_ALLOC_UAR, 0, PRM_STAT_OK);
	pair(NULL, 4096);
	posted_write(a);
	put_record(a);
	hca_uar_write(flat.hca[0], flat.uar[0], OTHER_HALF, newest(a), 8);
	flat_expect_report("bf.first");
	unpair();
}

/* Lets more time pass between looks at the queues than the rules give to software. */
static void wait_and_look(void)
{
	for (int i = 0; i < 6; i++) {
		flat.now += LONG / 4;
		flat_run(1);
	}
}

/* Looks note the receives of a QP that can receive: before, the ring and its record may be those of
 * a former life. */
static void receives_of_a_qp_in_reset_are_not_noted(void **state)
{
	struct qp *qp;

	(void)state;
	pair(NULL, 4096);
	qp = res_find(&b->hca->qps, b->n);
	flat_recv(b, to, 64, rkey);
	wait_and_look();
	assert_int_equal(qp->rq.noted_pi, 1);
	flat_simple(b->hca, PRM_OP_2RST_QP, b->n, PRM_STAT_OK);
	assert_int_equal(qp->rq.noted_pi, 0);
	wait_and_look();
	assert_int_equal(qp->rq.noted_pi, 0);
	unpair();
}

static void record_without_register(void **state)
{
	(void)state;
	pair(NULL, 4096);
	posted_write(a);
	put_record(a);
	wait_and_look();
	flat_expect_report("doorbell.missing");
	wait_and_look(); /* reported once */
	unpair();
}

/* The record covers a WQE from the moment it is written, so the adapter may read the WQE then. The
 * look finds WAS, or a WQE that lacks a bit. */
static void expect_early_record(const uint8_t *was)
{
	uint8_t wqe[64];

	pair(NULL, 4096);
	posted_write(a);
	posted_write(a);
	memcpy(wqe, newest(a), sizeof(wqe));
	newest(a)[40] ^= 1;
	if (was)
		memcpy(newest(a), was, sizeof(wqe));
	put_record(a);
	flat.now += LONG / 4;
	flat_run(1);
	memcpy(newest(a), wqe, sizeof(wqe));
	flat_ring(a);
	expect_done(0);
	flat_expect_report("record.early");
	unpair();
}

static void record_before_the_request(void **state)
{
	static const uint8_t nothing[64];

	(void)state;
	expect_early_record(NULL);
	expect_early_record(nothing);
}

static uint8_t *newest_recv(void)
{
	return flat.mem + b->rq + ((b->rq_pi - 1u) & ((1u << b->rq_log) - 1)) * b->rq_stride;
}

static void records_look(void)
{
	flat.now += LONG / 4;
	flat_run(1);
}

static void send_to_b(void)
{
	flat_ctrl(a, OP_SEND, SIGNALED, 0);
	flat_data(a, from, 8, lkey);
	flat_post(a);
	flat_ring(a);
	flat_run(LONG / 100);
	assert_non_null(flat_poll(a->send_cq));
	assert_non_null(flat_poll(b->recv_cq));
}

/* The adapter may read a receive WQE once the record covers it. */
static void record_before_the_receive(void **state)
{
	(void)state;
	pair(NULL, 4096);
	flat_recv(b, to, 64, rkey);
	flat_recv(b, to, 64, rkey);
	newest_recv()[3] ^= 1;
	records_look();
	newest_recv()[3] ^= 1;
	records_look(); /* the report is about the first look */
	send_to_b();
	send_to_b();
	flat_expect_report("record.early");
	unpair();
}

/* Software may write new receives into a ring that wraps, and reuse indices. */
static void receives_in_turn_are_no_fault(void **state)
{
	(void)state;
	pair(NULL, 4096);
	for (unsigned int i = 0; i < 3u << b->rq_log; i++) {
		flat_recv(b, to + i % 8, 64, rkey);
		if (i % 3)
			records_look();
		send_to_b();
		if (i % 3 == 1)
			records_look();
	}
	unpair();
}

static void receives_are_at(uint16_t ci)
{
	struct qp *qp = res_find(&b->hca->qps, b->n);

	qp->rq.ci = qp->rq.pi = qp->rq.cache_from = b->rq_pi = ci;
	qp->rq.cache_count = 0;
}

/* Notes of a look must not outlive their receive: indices repeat after 65536 receives. */
static void an_index_that_comes_again_is_another_receive(void **state)
{
	(void)state;
	pair(NULL, 4096);
	flat_recv(b, to, 64, rkey);
	records_look();
	b->hca->next_look = HCA_IDLE; /* disables further looks */
	send_to_b();
	receives_are_at(0x8000);
	flat_recv(b, to, 64, rkey);
	send_to_b();
	receives_are_at(0xffff);
	for (int i = 0; i < 2; i++) {
		flat_recv(b, to + 1, 64, rkey);
		send_to_b();
	}
	unpair();
}

/* A look ignores a record beyond the ring; the doorbell reports it by a rule of its own. */
static void record_beyond_the_ring_at_a_look(void **state)
{
	const uint32_t beyond = htobe32(0x7000);

	(void)state;
	pair(NULL, 4096);
	memcpy(flat.mem + a->dbr + 4, &beyond, sizeof(beyond));
	records_look();
	posted_write(a);
	flat_ring(a);
	expect_done(0);
	unpair();
}

static struct flat_srq *pair_with_srq(uint32_t log_size)
{
	struct flat_srq *srq = flat_srq(1, log_size, 0, NULL);
	struct flat_qp_attr attr = { .rq_type = PRM_RQ_TYPE_SRQ, .srqn = srq->n };

	pair(NULL, 4096);
	unpair();
	a = flat_qp(0, NULL);
	b = flat_qp(1, &attr);
	flat_connect(a, b, NULL);
	return srq;
}

static uint8_t *srq_wqe(const struct flat_srq *srq, uint16_t index)
{
	return flat.mem + srq->ring + (uint32_t)index * FLAT_SRQ_STRIDE;
}

static void unpair_srq(struct flat_srq *srq)
{
	test_free(srq);
	unpair();
}

static void record_before_the_receive_of_an_srq(void **state)
{
	struct flat_srq *srq = pair_with_srq(4);

	(void)state;
	for (int i = 0; i < 3; i++)
		flat_srq_recv(srq, to, 64, rkey);
	srq_wqe(srq, 1)[16 + 3] ^= 1;
	records_look();
	srq_wqe(srq, 1)[16 + 3] ^= 1;
	records_look(); /* the report is about the first look */
	for (int i = 0; i < 3; i++)
		send_to_b();
	flat_expect_report("record.early");
	unpair_srq(srq);
}

/* The link belongs to the WQE, so it must not change. UCX keeps notes of its own in the rest of
 * that segment, so that may. */
static void the_link_of_an_srq_is_posted_too(void **state)
{
	struct flat_srq *srq = pair_with_srq(4);

	(void)state;
	for (int i = 0; i < 2; i++)
		flat_srq_recv(srq, to, 64, rkey);
	srq_wqe(srq, 0)[8] ^= 1;
	fld_set(srq_wqe(srq, 1), FLD(0x0, 15, 0), 5);
	records_look();
	srq_wqe(srq, 0)[8] ^= 1;
	fld_set(srq_wqe(srq, 1), FLD(0x0, 15, 0), 2);
	for (int i = 0; i < 2; i++)
		send_to_b();
	flat_expect_report("record.early");
	unpair_srq(srq);
}

/* Receives return in another order than they left, so the list differs each round; looks fall at
 * different points of it. */
static void receives_of_an_srq_in_turn_are_no_fault(void **state)
{
	enum { LOG = 3, POSTED = 5, ROUNDS = 40 };
	struct flat_srq *srq = pair_with_srq(LOG);

	(void)state;
	for (int i = 0; i < POSTED; i++)
		flat_srq_recv(srq, to + i, 64, rkey);
	for (int round = 0; round < ROUNDS; round++) {
		uint16_t taken[2];

		for (int i = 0; i < 2; i++) {
			const struct srq *taking = res_find(&b->hca->srqs, srq->n);

			if (round % 3)
				records_look();
			taken[i] = taking->next;
			send_to_b();
		}
		for (int i = 1; i >= 0; i--) {
			memset(srq_wqe(srq, taken[i]) + 16, round, 32);
			flat_srq_free(srq, taken[i]);
		}
		for (int i = 0; i < 2; i++)
			flat_srq_recv(srq, to + round, 64, rkey);
		if (round % 3 == 1)
			records_look();
	}
	unpair_srq(srq);
}

/* ibv_wr_abort() leaves its WQEs in the ring, so WQEs that the record does not cover are no
 * error. */
static void aborted_requests_are_no_fault(void **state)
{
	(void)state;
	pair(NULL, 4096);
	posted_write(a);
	wait_and_look();
	unpair();
}

/* In a busy queue, each look may find the record ahead of the register, so only one that lasts is a
 * fault. */
static void busy_queues_are_no_fault(void **state)
{
	(void)state;
	pair(NULL, 4096);
	for (int i = 0; i < 6; i++) {
		posted_write(a);
		put_record(a);
		flat.now += LONG / 4;
		flat_run(1);
	}
	unpair();
}

static void push(uint32_t offset, const void *bytes, size_t len)
{
	const uint8_t *at = bytes;

	for (size_t i = 0; i < len; i += 8)
		hca_uar_write(flat.hca[0], flat.uar[0], offset + i, at + i, 8);
}

static void pushed_requests(void **state)
{
	(void)state;
	pair(NULL, 4096);
	for (int i = 0; i < 3; i++) {
		posted_write(a);
		put_record(a);
		push(i % 2 ? OTHER_HALF : REGISTER, newest(a), 64);
		expect_done(i);
	}
	flat_ctrl(a, OP_WRITE, SIGNALED, 0);
	flat_raddr(a, to, rkey);
	flat_inline(a, flat.mem + from, 60);
	flat_post(a);
	put_record(a);
	push(OTHER_HALF, newest(a), 128);
	expect_done(3);
	unpair();
}

static void pushed_bytes_differ(void **state)
{
	uint8_t wqe[64];

	(void)state;
	pair(NULL, 4096);
	posted_write(a);
	put_record(a);
	memcpy(wqe, newest(a), sizeof(wqe));
	wqe[40]++;
	push(REGISTER, wqe, sizeof(wqe));
	flat_expect_report("bf.bytes");
	expect_done(0);
	unpair();
}

/* Linux tests write combining by a pushed NOP that differs from the ring, so this is no fault. */
static void pushed_nop_may_differ(void **state)
{
	uint8_t wqe[64];

	(void)state;
	pair(NULL, 4096);
	flat_ctrl(a, OP_NOP, 0, 0);
	flat_post(a);
	put_record(a);
	memcpy(wqe, newest(a), sizeof(wqe));
	wqe[11] = SIGNALED;
	push(REGISTER, wqe, sizeof(wqe));
	flat_run(LONG / 100);
	unpair();
}

static void pushed_too_little(void **state)
{
	(void)state;
	pair(NULL, 4096);
	posted_write(a);
	put_record(a);
	push(REGISTER, newest(a), 48);
	expect_done(0);
	posted_write(a);
	flat_ring(a); /* the next write of the register ends the push */
	flat_expect_report("bf.size");
	expect_done(1);
	unpair();
}

static void pushed_too_much(void **state)
{
	(void)state;
	pair(NULL, 4096);
	posted_write(a);
	put_record(a);
	push(REGISTER, newest(a), 128);
	expect_done(0);
	flat_simple(a->hca, PRM_OP_DESTROY_QP, a->n, PRM_STAT_OK);
	flat_simple(flat.hca[0], PRM_OP_DEALLOC_UAR, flat.uar[0], PRM_STAT_OK);
	flat_expect_report("bf.size");
	unpair();
}

static void halves_are_taken_in_turn(void **state)
{
	(void)state;
	pair(NULL, 4096);
	posted_write(a);
	put_record(a);
	push(REGISTER, newest(a), 64);
	expect_done(0);
	posted_write(a);
	put_record(a);
	push(REGISTER, newest(a), 64);
	flat_expect_report("bf.halves");
	expect_done(1);
	unpair();
}

/* ---- records and rings ---- */

static void record_beyond_the_ring(void **state)
{
	(void)state;
	pair(NULL, 4096);
	posted_write(a);
	fld_set(flat.mem + a->dbr, FLD(0x4, 31, 0), 65 + a->sq_pi);
	hca_uar_scan_sq(flat.hca[0], flat.uar[0], NULL, 0);
	flat_expect_report("record.beyond");
	assert_int_equal(flat_state(a), PRM_QP_STATE_ERR);
	unpair();
}

static void record_goes_back(void **state)
{
	(void)state;
	pair(NULL, 4096);
	posted_write(a);
	posted_write(a);
	flat_ring(a);
	a->sq_pi--;
	put_record(a);
	hca_uar_scan_sq(flat.hca[0], flat.uar[0], NULL, 0);
	flat_expect_report("record.backwards");
	unpair();
}

/* Software may turn a cancelled WQE into a NOP before a polling adapter finds its doorbell. */
static void value_of_what_was_taken_back(void **state)
{
	uint64_t value;

	(void)state;
	flat.scans = true;
	pair(NULL, 4096);
	posted_write(a);
	value = value_of(a);
	newest(a)[3] = 0; /* the opcode */
	put_record(a);
	hca_uar_found(flat.hca[0], flat.uar[0], REGISTER, value ^ htobe64(1));
	flat_expect_report("doorbell.value");
	hca_uar_found(flat.hca[0], flat.uar[0], REGISTER, value);
	hca_uar_scan_sq(flat.hca[0], flat.uar[0], NULL, 0);
	expect_done(0);
	unpair();
}

static void record_of_receives_beyond_the_ring(void **state)
{
	(void)state;
	pair(NULL, 4096);
	flat_recv(b, to, 64, rkey);
	fld_set(flat.mem + b->dbr, FLD(0x0, 31, 0), 17);
	flat_send(a, OP_SEND, from, 8, lkey);
	expect_done(0);
	flat_expect_report("record.beyond");
	unpair();
}

static void request_finished_after_its_doorbell(void **state)
{
	(void)state;
	pair(NULL, 4096);
	posted_write(a);
	newest(a)[47] ^= 8;
	flat_ring(a);
	newest(a)[47] ^= 8;
	expect_done(0);
	flat_expect_report("wqe.changed");
	unpair();
}

/* The adapter has read the padding NOP once the request before it completes: only then may software
 * reuse its blocks, perhaps before the adapter gets to the NOP. */
static void padding_is_written_anew(void **state)
{
	struct qp *qp;

	(void)state;
	pair(NULL, 4096);
	qp = res_find(&flat.hca[0]->qps, a->n);
	posted_write(a);
	flat_ctrl(a, OP_NOP, 0, 0);
	flat_post(a);
	flat_ring(a);
	rules_sq_done(flat.hca[0], qp, 1);
	newest(a)[15] ^= 2;
	rules_sq_done(flat.hca[0], qp, 1);
	expect_done(0);
	posted_write(a);
	flat_ctrl(a, OP_NOP, 0, 0);
	flat_post(a);
	flat_ring(a);
	newest(a)[15] ^= 2;
	expect_done(2);
	flat_expect_report("wqe.changed");
	unpair();
}

static void padding_is_not_read(void **state)
{
	(void)state;
	pair(NULL, 4096);
	flat_ctrl(a, OP_NOP, 0, 0);
	flat_post(a);
	flat_ring(a);
	fld_set(flat.mem + a->dbr, FLD(0x4, 31, 0), 65);
	hca_uar_scan_sq(flat.hca[0], flat.uar[0], NULL, 0);
	flat_expect_report("record.beyond");
	unpair();
}

static void what_completes_is_no_padding(void **state)
{
	(void)state;
	pair(NULL, 4096);
	flat_ctrl(a, OP_NOP, SIGNALED, 0);
	flat_post(a);
	flat_ring(a);
	newest(a)[15] ^= 2;
	expect_done(0);
	flat_expect_report("wqe.changed");
	unpair();
}

static void ring_is_not_aligned_to_receives(void **state)
{
	struct flat_qp_attr attr = { .rq_offset = 64, .rq_stride = 128 };

	(void)state;
	pair(&attr, 4096);
	flat.reports++; /* one report for each QP */
	flat_expect_report("recv.page");
	unpair();
}

/* ---- completion queues ---- */

static void put_consumer(const struct flat_cq *cq, uint32_t ci)
{
	fld_set(flat.mem + cq->dbr, FLD(0x0, 31, 0), ci & 0xffffff);
}

static void consumer_index_goes_back(void **state)
{
	(void)state;
	pair(NULL, 4096);
	for (int i = 0; i < 3; i++) {
		flat_send(a, OP_NOP, from, 0, lkey);
		expect_done(i);
	}
	put_consumer(a->send_cq, 1); /* the adapter saw 2 before */
	flat_send(a, OP_NOP, from, 0, lkey);
	flat_run(LONG / 100);
	flat_expect_report("cq.backwards");
	unpair();
}

static void consumer_index_beyond_the_producer(void **state)
{
	(void)state;
	pair(NULL, 4096);
	flat_send(a, OP_NOP, from, 0, lkey);
	expect_done(0);
	put_consumer(a->send_cq, 2);
	wait_and_look();
	flat_expect_report("cq.ahead");
	unpair();
}

/* A CQE in software ownership before the adapter writes it looks like a completion to software. */
static void entry_is_owned_twice(void **state)
{
	(void)state;
	pair(NULL, 4096);
	flat.mem[a->send_cq->ring + 63] = 0;
	flat_send(a, OP_NOP, from, 0, lkey);
	expect_done(0);
	flat_expect_report("cq.owner");
	unpair();
}

static void arm_cq(struct flat_cq *cq, uint32_t word)
{
	fld_set(flat.mem + cq->dbr, FLD(0x4, 31, 0), word);
	flat_write_uar(0, 0x20, htobe64((uint64_t)word << 32 | cq->n));
}

static void arm_of_an_event_that_was_raised(void **state)
{
	(void)state;
	pair(NULL, 4096);
	arm_cq(a->send_cq, 0);
	flat_send(a, OP_NOP, from, 0, lkey);
	expect_done(0);
	assert_int_equal(flat.events, 1);
	arm_cq(a->send_cq, 1); /* the event came before this arm */
	flat_send(a, OP_NOP, from, 0, lkey);
	expect_done(1);
	assert_int_equal(flat.events, 1); /* a stale arm has no effect */
	arm_cq(a->send_cq, 1 << 28 | 2);
	flat_send(a, OP_NOP, from, 0, lkey);
	expect_done(2);
	assert_int_equal(flat.events, 2);
	arm_cq(a->send_cq, 0 << 28 | 3);
	flat_expect_report("arm.sn");
	unpair();
}

static void words_of_arms(void **state)
{
	(void)state;
	pair(NULL, 4096);
	arm_cq(a->send_cq, 1 << 26);
	flat_expect_report("arm.reserved");
	arm_cq(a->send_cq, 1);
	flat_expect_report("arm.ci");
	unpair();
}

static const uint64_t enable_mask = 1ull << UMR_LEN | 1ull << UMR_START_ADDR | 1ull << UMR_KEY |
				    1ull << UMR_LR | 1ull << UMR_LW | 1ull << UMR_FREE |
				    1ull << UMR_QPN;

/* Makes a UMR for a window KEY on the first 100 bytes of the buffer. */
static struct flat_umr umr_for(uint32_t key)
{
	struct flat_umr umr = { { 0 }, { 0 } };

	fld_set(umr.ctrl, UMR_FLAGS, UMR_INLINE);
	fld_set(umr.ctrl, UMR_XLT_OCTOWORDS, 4);
	fld_set(umr.ctrl, UMR_MKEY_MASK, enable_mask);
	fld_set(umr.mkc, MKC_LR, 1);
	fld_set(umr.mkc, MKC_UMR_EN, 1);
	fld_set(umr.mkc, MKC_QPN, 0xffffff);
	fld_set(umr.mkc, MKC_MKEY_7_0, key & 0xff);
	fld_set(umr.mkc, MKC_START_ADDR, from);
	fld_set(umr.mkc, MKC_LEN, 100);
	return umr;
}

static void post_umr(uint32_t key, const struct flat_umr *umr, uint32_t pieces)
{
	flat_ctrl(a, OP_UMR, SIGNALED, key);
	flat_umr(a, umr);
	for (; pieces; pieces--)
		flat_klm(a, 100, lkey, from);
	flat_post(a);
}

static uint32_t pair_with_free_key(void)
{
	pair(NULL, 4096);
	return flat_free_mkey(flat.hca[0], flat.pd[0], PRM_MKEY_MODE_KLMS, 8);
}

static void write_with(uint32_t key, uint8_t fence)
{
	flat_ctrl(a, OP_WRITE, SIGNALED | fence << 5, 0);
	flat_raddr(a, to, rkey);
	flat_data(a, from, 8, key);
	flat_post(a);
	flat_ring(a);
	flat_run(LONG / 100);
}

static void request_behind_a_umr_needs_a_fence(void **state)
{
	uint32_t key = pair_with_free_key();
	struct flat_umr umr = umr_for(key);

	(void)state;
	post_umr(key, &umr, 1);
	write_with(key, WQE_FENCE_NONE);
	flat_expect_report("umr.fence");
	flat_expect_done(a->send_cq, REQ, 0);
	flat_expect_error(a->send_cq, REQ_ERR, 3, LOCAL_PROT);
	unpair();
}

/* Even a request without the key needs the fence, as its data may tell the peer to use the key. */
static void any_request_behind_a_umr_needs_a_fence(void **state)
{
	uint32_t key = pair_with_free_key();
	struct flat_umr umr = umr_for(key);

	(void)state;
	post_umr(key, &umr, 1);
	write_with(lkey, WQE_FENCE_NONE);
	flat_expect_report("umr.fence");
	flat_expect_done(a->send_cq, REQ, 0);
	flat_expect_done(a->send_cq, REQ, 3);
	unpair();
}

static void bind_window(uint64_t region_len, bool may_bind)
{
	uint32_t key = pair_with_free_key();
	uint32_t region = flat_mr(flat.hca[0], flat.pd[0], from, region_len, ALL_ACCESS);
	struct flat_umr umr = umr_for(key);

	mkey_find(flat.hca[0], key)->is_window = true;
	mkey_find(flat.hca[0], region)->is_region = true;
	mkey_find(flat.hca[0], region)->may_bind = may_bind;
	lkey = region;
	post_umr(key, &umr, 1);
	flat_ring(a);
	flat_run(LONG / 100);
	flat_expect_done(a->send_cq, REQ, 0);
}

static void windows_are_within_regions_that_take_them(void **state)
{
	(void)state;
	bind_window(100, true);
	unpair();
}

static void window_wider_than_its_region(void **state)
{
	(void)state;
	bind_window(99, true);
	flat_expect_report("bind.range");
	unpair();
}

static void window_of_a_region_without_mw_bind(void **state)
{
	(void)state;
	bind_window(100, false);
	flat_expect_report("bind.access");
	unpair();
}

/* ---- time ---- */

/* A UMR takes time on a strict adapter; a request after its completion needs no fence. */
static void umr_takes_its_time(void **state)
{
	uint32_t key = pair_with_free_key();
	struct flat_umr umr = umr_for(key);

	(void)state;
	post_umr(key, &umr, 1);
	flat_ring(a);
	flat_run(1000);
	flat_expect_empty(a->send_cq);
	flat_run(LONG / 100);
	flat_expect_done(a->send_cq, REQ, 0);
	write_with(key, WQE_FENCE_NONE);
	flat_expect_done(a->send_cq, REQ, 3);
	unpair();
}

static void fences_wait_for_a_umr(void **state)
{
	static const uint8_t fences[] = { WQE_FENCE_INITIATOR_SMALL, WQE_FENCE_STRONG,
					  WQE_FENCE_SMALL_AND_STRONG };
	uint32_t key = pair_with_free_key();
	struct flat_umr umr = umr_for(key);
	uint16_t index = 0;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(fences); i++, index += 4) {
		post_umr(key, &umr, 1);
		write_with(key, fences[i]);
		flat_expect_done(a->send_cq, REQ, index);
		flat_expect_done(a->send_cq, REQ, index + 3);
	}
	unpair();
}

static void segments_of_umr(void **state)
{
	static const struct {
		const char *rule;
		uint32_t field;
		uint64_t value;
	} wrong[] = {
		{ "umr.padding", UMR_XLT_OCTOWORDS, 3 }, { "umr.align", UMR_XLT_OFFSET_15_0, 2 },
		{ "umr.offset", UMR_FLAGS, UMR_INLINE }, { "wqe.reserved", FLD(0x0, 7, 0), 1 },
		{ "wqe.reserved", FLD(0x2c, 31, 0), 1 },
	};
	uint32_t key = pair_with_free_key();

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		struct flat_umr umr = umr_for(key);

		fld_set(umr.ctrl, UMR_FLAGS, UMR_INLINE | UMR_OFFSET_GIVEN);
		fld_set(umr.ctrl, UMR_XLT_OFFSET_15_0, 4);
		fld_set(umr.ctrl, wrong[i].field, wrong[i].value);
		post_umr(key, &umr, 1);
		flat_ring(a);
		flat_run(LONG / 100);
		flat_expect_report(wrong[i].rule);
		assert_non_null(flat_poll(a->send_cq));
	}
	unpair();
}

/* For a key with a BSF, the field of the offset holds the BSF's length, and must not be reported.
 * The UMR itself fails, as it lacks the BSF. */
static void length_of_formats_is_no_offset(void **state)
{
	uint32_t key = pair_with_free_key();
	struct flat_umr umr = umr_for(key);

	(void)state;
	fld_set(mkey_find(flat.hca[0], key)->context, MKC_BSF_EN, 1);
	fld_set(umr.ctrl, UMR_BSF_OCTOWORDS, 4);
	post_umr(key, &umr, 1);
	flat_ring(a);
	flat_run(LONG / 100);
	assert_int_equal(strict_count(flat.strict), flat.reports);
	assert_non_null(flat_poll(a->send_cq));
	unpair();
}

static void list_is_aligned(void **state)
{
	uint32_t key = pair_with_free_key();
	struct flat_umr umr = umr_for(key);

	(void)state;
	fld_set(umr.ctrl, UMR_FLAGS, 0);
	flat_ctrl(a, OP_UMR, SIGNALED, key);
	flat_umr(a, &umr);
	flat_data(a, from + 16, 64, lkey);
	flat_post(a);
	flat_ring(a);
	expect_done(0);
	flat_expect_report("umr.align");
	unpair();
}

static void gathering_needs_local_read(void **state)
{
	uint32_t key = pair_with_free_key();
	struct flat_umr umr = umr_for(key);

	(void)state;
	fld_set(umr.mkc, MKC_LR, 0);
	post_umr(key, &umr, 1);
	write_with(key, WQE_FENCE_SMALL_AND_STRONG);
	flat_expect_done(a->send_cq, REQ, 0);
	flat_expect_error(a->send_cq, REQ_ERR, 3, LOCAL_PROT);
	unpair();
}

static void post_read(void)
{
	flat_ctrl(a, OP_READ, SIGNALED, 0);
	flat_raddr(a, to, rkey);
	flat_data(a, from, 8, lkey);
	flat_post(a);
}

/* Connects two QPs; the first may have 16 READs outstanding, the second accepts 2^IN_LOG. */
static void pair_for_reads(uint32_t in_log)
{
	struct flat_qp_attr out = { .rd_atomic_log = 4 }, in = { .rd_atomic_log = in_log };

	pair(NULL, 4096);
	flat_simple(a->hca, PRM_OP_2RST_QP, a->n, PRM_STAT_OK);
	flat_simple(b->hca, PRM_OP_2RST_QP, b->n, PRM_STAT_OK);
	flat_to(a, b, &out, PRM_QP_STATE_RTS);
	flat_to(b, a, &in, PRM_QP_STATE_RTS);
}

static void more_reads_than_the_responder_has_room_for(void **state)
{
	(void)state;
	pair_for_reads(0);
	for (int i = 0; i < 16; i++)
		post_read();
	flat_ring(a);
	expect_done(0);
	flat_expect_report("read.resources");
	flat_expect_error(a->send_cq, REQ_ERR, 1, REMOTE_INVAL_REQ);
	assert_int_equal(flat_state(b), PRM_QP_STATE_ERR);
	unpair();
}

static void reads_that_fit(void **state)
{
	(void)state;
	pair_for_reads(4);
	for (int i = 0; i < 40; i++)
		post_read();
	flat_ring(a);
	for (int i = 0; i < 40; i++)
		expect_done(i);
	unpair();
}

static void reads_one_by_one(void **state)
{
	(void)state;
	pair_for_reads(0);
	for (int i = 0; i < 4; i++) {
		post_read();
		flat_ring(a);
		expect_done(i);
	}
	for (int i = 4; i < 8; i++) {
		flat_ctrl(a, OP_READ, SIGNALED | FENCE, 0); /* each waits for its predecessor */
		flat_raddr(a, to, rkey);
		flat_data(a, from, 8, lkey);
		flat_post(a);
	}
	flat_ring(a);
	for (int i = 4; i < 8; i++)
		expect_done(i);
	unpair();
}

/* ---- memory ---- */

static void move_pages(uint64_t at, uint64_t len)
{
	flat.moved = at;
	flat.moved_len = len;
}

static void memory_of_a_region_is_another(void **state)
{
	(void)state;
	pair(NULL, 16 * 4096);
	move_pages(to + 2 * 4096, 4096);
	posted_write(a); /* the first page has not moved */
	flat_ring(a);
	expect_done(0);
	write_to(to + 2 * 4096 + 8, rkey, from, 8);
	expect_done(1);
	flat_expect_report("memory.moved");
	write_to(to + 2 * 4096 + 8, rkey, from, 8); /* reported once */
	expect_done(2);
	flat.may_move = true;
	move_pages(from, 4096);
	posted_write(a);
	flat_ring(a);
	expect_done(3);
	unpair();
}

static void memory_of_queues_is_another(void **state)
{
	uint64_t rings[] = { 0, 0, 0 };

	(void)state;
	pair(NULL, 4096);
	rings[0] = a->rq;
	rings[1] = a->send_cq->ring;
	rings[2] = a->dbr;
	wait_and_look(); /* looks must find the records first */
	for (size_t i = 0; i < ARRAY_SIZE(rings); i++) {
		move_pages(rings[i] & ~4095ull, 4096);
		wait_and_look();
		assert_true(strict_count(flat.strict) > flat.reports);
		assert_memory_equal(strict_newest(flat.strict), "memory.moved", 12);
		flat.reports = strict_count(flat.strict);
		flat.may_move = true;
		move_pages(0, 0);
		wait_and_look();
		flat.may_move = false;
	}
	unpair();
}

static void text_names_queue_request_and_field(void **state)
{
	(void)state;
	pair(NULL, 4096);
	posted_write(a);
	newest(a)[31] = 3;
	flat_ring(a);
	expect_done(0);
	flat_expect_report("wqe.reserved");
	assert_string_equal(
		strict_newest(flat.strict),
		"wqe.reserved: QP 0x000048, WQE 0 (RDMA_WRITE): raddr dword 0Ch is 0x3");
	unpair();
}

int main(void)
{
#define IB(f) cmocka_unit_test_setup_teardown(f, flat_setup, flat_teardown)
	const struct CMUnitTest tests[] = {
		IB(control_and_address_segments),
		IB(inline_header),
		IB(address_vectors),
		IB(atomic_of_two_pieces),
		IB(addition_with_more_than_it_takes),
		IB(record_of_an_srq_beyond_its_ring),
		IB(value_of_garbage),
		IB(value_of_another_qp),
		IB(four_bytes),
		IB(register_of_another_page),
		IB(register_before_the_record),
		IB(polled_values),
		IB(polled_pushes),
		IB(polled_bytes_differ),
		IB(polled_half_is_busy),
		IB(polled_halves_are_behind),
		IB(the_other_half_first),
		IB(receives_of_a_qp_in_reset_are_not_noted),
		IB(record_without_register),
		IB(record_before_the_request),
		IB(record_before_the_receive),
		IB(record_before_the_receive_of_an_srq),
		IB(the_link_of_an_srq_is_posted_too),
		IB(receives_of_an_srq_in_turn_are_no_fault),
		IB(receives_in_turn_are_no_fault),
		IB(an_index_that_comes_again_is_another_receive),
		IB(record_beyond_the_ring_at_a_look),
		IB(aborted_requests_are_no_fault),
		IB(busy_queues_are_no_fault),
		IB(pushed_requests),
		IB(pushed_bytes_differ),
		IB(pushed_nop_may_differ),
		IB(pushed_too_little),
		IB(pushed_too_much),
		IB(halves_are_taken_in_turn),
		IB(record_beyond_the_ring),
		IB(record_goes_back),
		IB(value_of_what_was_taken_back),
		IB(record_of_receives_beyond_the_ring),
		IB(request_finished_after_its_doorbell),
		IB(padding_is_written_anew),
		IB(padding_is_not_read),
		IB(what_completes_is_no_padding),
		IB(ring_is_not_aligned_to_receives),
		IB(consumer_index_goes_back),
		IB(consumer_index_beyond_the_producer),
		IB(entry_is_owned_twice),
		IB(arm_of_an_event_that_was_raised),
		IB(words_of_arms),
		IB(request_behind_a_umr_needs_a_fence),
		IB(any_request_behind_a_umr_needs_a_fence),
		IB(windows_are_within_regions_that_take_them),
		IB(window_wider_than_its_region),
		IB(window_of_a_region_without_mw_bind),
		IB(umr_takes_its_time),
		IB(fences_wait_for_a_umr),
		IB(segments_of_umr),
		IB(length_of_formats_is_no_offset),
		IB(list_is_aligned),
		IB(gathering_needs_local_read),
		IB(more_reads_than_the_responder_has_room_for),
		IB(reads_that_fit),
		IB(reads_one_by_one),
		IB(memory_of_a_region_is_another),
		IB(memory_of_queues_is_another),
		IB(text_names_queue_request_and_field),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

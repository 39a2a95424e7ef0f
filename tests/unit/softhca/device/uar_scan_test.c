/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * uar_scan_test.c - a UAR with many queues: what one doorbell costs, which queue it serves first,
 * and that doorbells whose values were replaced are found, too.
 *
 * Covers: softhca/device/uar_scan.c, softhca/device/queue/sq.c, softhca/device/queue/cq.c,
 * softhca/device/hca.c, softhca/device/pd.c
 */
#include "pair.h"
#include "prm/mlx5/cmd.h"
#include "prm/mlx5/eqe.h"
#include "prm/mlx5/uar.h"
#include "prm/mlx5/wqe.h"
#include "softhca/device/core.h"

enum { MANY = 300, STEPS = 30 /* enough to read the records of all */, ARMED = 100, ADDED = 64 };

static struct flat_qp *idle[MANY];
static struct flat_cq *cqs[ARMED];

static void pair_with_many(void)
{
	static const struct flat_qp_attr small = { .rq_log = 1, .sq_log = 1, .cq_log = 1 };

	pair(NULL, 4096);
	for (unsigned int i = 0; i < MANY; i++) {
		idle[i] = flat_qp(0, &small);
		flat_to(idle[i], b, &small, PRM_QP_STATE_RTS);
	}
	flat_run(LONG / 1000);
}

static void unpair_many(void)
{
	for (unsigned int i = 0; i < MANY; i++) {
		test_free(idle[i]->send_cq);
		test_free(idle[i]->recv_cq);
		test_free(idle[i]);
	}
	unpair();
}

static void write_post(void)
{
	flat_ctrl(a, OP_WRITE, SIGNALED, 0);
	flat_raddr(a, to, rkey);
	flat_data(a, from, 64, lkey);
	flat_post(a);
	fld_set(flat.mem + a->dbr, FLD(0x4, 31, 0), a->sq_pi);
}

static void ring_for(const struct flat_qp *qp)
{
	uint64_t value = 0;

	fld_set(&value, CTRL_QPN, qp->n);
	hca_uar_scan_sq(flat.hca[0], flat.uar[0], &value, 1);
}

static uint16_t sq_seen(const struct flat_qp *qp)
{
	const struct qp *seen = res_get(&qp->hca->qps, qp->n);

	return seen->sq.pi;
}

static void the_named_queue_is_served_at_once(void **state)
{
	unsigned int before;

	(void)state;
	pair_with_many();
	for (unsigned int i = 0; i < 3; i++) {
		write_post();
		before = flat.reads;
		ring_for(a);
		assert_int_equal(flat.reads, before + 1);
		hca_progress(flat.hca[0], flat.now);
		flat_expect_done(a->send_cq, REQ, i);
	}
	unpair_many();
}

/* One batch of reads covers the queues of all registers that were found rung. */
static void each_named_queue_is_served_at_once(void **state)
{
	uint64_t values[HCA_SCAN_VALUES] = { 0 };
	unsigned int before;

	(void)state;
	pair_with_many();
	write_post();
	fld_set(&values[0], CTRL_QPN, a->n);
	for (unsigned int i = 1; i < HCA_SCAN_VALUES; i++)
		fld_set(&values[i], CTRL_QPN, idle[MANY / 2 + i]->n);
	ring_for(a); /* takes a from the head */
	write_post();
	before = flat.reads;
	hca_uar_scan_sq(flat.hca[0], flat.uar[0], values, HCA_SCAN_VALUES);
	assert_int_equal(flat.reads, before + 1);
	assert_int_equal(sq_seen(a), 2);
	flat_run(LONG / 1000);
	flat_expect_done(a->send_cq, REQ, 0);
	flat_expect_done(a->send_cq, REQ, 1);
	unpair_many();
}

/* Another queue's doorbell has overwritten queue a's value, so only a scan of the records finds
 * queue a. */
static void replaced_doorbells_are_found(void **state)
{
	(void)state;
	pair_with_many();
	write_post();
	ring_for(idle[0]);
	flat_run(LONG / 1000);
	flat_expect_done(a->send_cq, REQ, 0);
	unpair_many();
}

/* As a front does before a command that ends the queue. */
static void finished_scans_have_read_all_records(void **state)
{
	(void)state;
	pair_with_many();
	ring_for(a); /* takes a behind the others */
	write_post();
	ring_for(idle[0]);
	assert_int_equal(sq_seen(a), 0);
	hca_finish_scans(flat.hca[0], flat.now);
	assert_int_equal(sq_seen(a), 1);
	unpair_many();
}

/* A page that is rung without end costs a few reads a turn, so none of its queues waits for
 * ever. */
static void endless_doorbells_cost_little(void **state)
{
	unsigned int before, steps;

	(void)state;
	pair_with_many();
	write_post();
	before = flat.reads;
	for (steps = 0; steps < STEPS; steps++) {
		ring_for(idle[0]);
		hca_progress(flat.hca[0], flat.now);
	}
	assert_true(flat.reads - before <= 4 * STEPS);
	flat_expect_done(a->send_cq, REQ, 0);
	unpair_many();
}

static void a_scan_comes_to_its_end(void **state)
{
	unsigned int before;

	(void)state;
	pair_with_many();
	ring_for(a);
	for (unsigned int i = 0; i < STEPS; i++)
		hca_progress(flat.hca[0], flat.now);
	before = flat.reads;
	assert_int_not_equal(hca_progress(flat.hca[0], flat.now), 0);
	assert_int_equal(flat.reads, before);
	unpair_many();
}

static void queues_may_go_during_a_scan(void **state)
{
	(void)state;
	pair_with_many();
	ring_for(a);
	for (unsigned int i = 0; i < MANY; i++)
		flat_simple(flat.hca[0], PRM_OP_DESTROY_QP, idle[i]->n, PRM_STAT_OK);
	write_to(to, rkey, from, 64);
	flat_run(LONG / 1000);
	flat_expect_done(a->send_cq, REQ, 0);
	unpair_many();
}

/* Queues are created while a scan is under way, whose last queues include a. */
static void new_queues_hide_no_older_one(void **state)
{
	struct flat_qp *added[ADDED];

	(void)state;
	pair_with_many();
	ring_for(a);
	ring_for(idle[0]);
	write_post();
	for (unsigned int i = 0; i < ADDED; i++)
		added[i] = flat_qp(0, NULL);
	flat_run(LONG / 1000);
	flat_expect_done(a->send_cq, REQ, 0);
	for (unsigned int i = 0; i < ADDED; i++) {
		test_free(added[i]->send_cq);
		test_free(added[i]->recv_cq);
		test_free(added[i]);
	}
	unpair_many();
}

/* The page stays without queues, and the adapter rests. */
static void all_queues_may_go_during_a_scan(void **state)
{
	(void)state;
	pair_with_many();
	ring_for(a);
	for (unsigned int i = 0; i < MANY; i++)
		flat_simple(flat.hca[0], PRM_OP_DESTROY_QP, idle[i]->n, PRM_STAT_OK);
	flat_simple(flat.hca[0], PRM_OP_DESTROY_QP, a->n, PRM_STAT_OK);
	hca_progress(flat.hca[0], flat.now);
	assert_int_not_equal(hca_progress(flat.hca[0], flat.now), 0);
	unpair_many();
}

/* A page is freed with a scan under way; its only queue went before. */
static void a_page_may_go_during_a_scan(void **state)
{
	uint32_t n = flat_simple(flat.hca[0], PRM_OP_ALLOC_UAR, 0, PRM_STAT_OK), kept = flat.uar[0];

	(void)state;
	flat.uar[0] = n;
	pair_with_many();
	flat.uar[0] = kept;
	hca_uar_scan_sq(flat.hca[0], n, NULL, 0);
	for (unsigned int i = 0; i < MANY; i++)
		flat_simple(flat.hca[0], PRM_OP_DESTROY_QP, idle[i]->n, PRM_STAT_OK);
	flat_simple(flat.hca[0], PRM_OP_DESTROY_QP, a->n, PRM_STAT_OK);
	flat_simple(flat.hca[0], PRM_OP_DEALLOC_UAR, n, PRM_STAT_OK);
	flat_run(LONG / 1000);
	unpair_many();
}

static void ring_cqs_for(const struct flat_cq *cq)
{
	uint64_t value = 0;

	fld_set(&value, UAR_CQ_CQN, cq->n);
	hca_uar_scan_cq(flat.hca[0], flat.uar[0], value);
}

static void cq_arm_record(const struct flat_cq *cq)
{
	fld_set(flat.mem + cq->dbr, FLD(0x4, 31, 0), cq->ci & 0xffffff);
}

static void arms_of_many_cqs_are_found(void **state)
{
	unsigned int before;

	(void)state;
	for (unsigned int i = 0; i < ARMED; i++)
		cqs[i] = flat_cq(flat.hca[0], 1, 64);
	pair(NULL, 4096);
	write_to(to, rkey, from, 64);
	flat_run(LONG / 1000);
	for (unsigned int i = 0; i < ARMED; i++)
		cq_arm_record(cqs[i]);
	cq_arm_record(a->send_cq);
	before = flat.reads;
	ring_cqs_for(a->send_cq);
	assert_int_equal(flat.reads, before + 1);
	assert_int_equal(flat_count_events(PRM_EVENT_COMP), 1);

	write_to(to, rkey, from, 64);
	flat_run(LONG / 1000);
	fld_set(flat.mem + a->send_cq->dbr, FLD(0x4, 31, 0),
		1u << 28 | (a->send_cq->ci & 0xffffff));
	ring_cqs_for(cqs[0]);
	flat_run(LONG / 1000);
	assert_int_equal(flat_count_events(PRM_EVENT_COMP), 2);
	for (unsigned int i = 0; i < ARMED; i++)
		test_free(cqs[i]);
	unpair();
}

/* As new_queues_hide_no_older_one(), of CQs. */
static void new_cqs_hide_no_older_one(void **state)
{
	struct flat_cq *added[ADDED];

	(void)state;
	for (unsigned int i = 0; i < ARMED; i++)
		cqs[i] = flat_cq(flat.hca[0], 1, 64);
	pair(NULL, 4096);
	write_to(to, rkey, from, 64);
	flat_run(LONG / 1000);
	ring_cqs_for(a->send_cq);
	ring_cqs_for(cqs[0]);
	cq_arm_record(a->send_cq);
	for (unsigned int i = 0; i < ADDED; i++)
		added[i] = flat_cq(flat.hca[0], 1, 64);
	flat_run(LONG / 1000);
	assert_int_equal(flat_count_events(PRM_EVENT_COMP), 1);
	for (unsigned int i = 0; i < ADDED; i++)
		test_free(added[i]);
	for (unsigned int i = 0; i < ARMED; i++)
		test_free(cqs[i]);
	unpair();
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, flat_setup_lenient, flat_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_named_queue_is_served_at_once), TEST(each_named_queue_is_served_at_once),
		TEST(replaced_doorbells_are_found),      TEST(endless_doorbells_cost_little),
		TEST(a_scan_comes_to_its_end),           TEST(queues_may_go_during_a_scan),
		TEST(a_page_may_go_during_a_scan),       TEST(all_queues_may_go_during_a_scan),
		TEST(arms_of_many_cqs_are_found),        TEST(new_queues_hide_no_older_one),
		TEST(new_cqs_hide_no_older_one),         TEST(finished_scans_have_read_all_records),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

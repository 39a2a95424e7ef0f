/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cq_arm_test.c - completion events: arming before and after a completion, one event for each arm,
 * solicited events, and arms of several CQs before one doorbell.
 *
 * Covers: softhca/device/queue/cq.c, softhca/device/queue/eq.c,
 * softhca/device/format/mlx5/doorbell.c
 */
#include "pair.h"
#include "prm/mlx5/cmd.h"
#include "prm/mlx5/cqc.h"
#include "prm/mlx5/eqc.h"
#include "prm/mlx5/eqe.h"
#include "prm/mlx5/qpc.h"
#include "prm/mlx5/uar.h"

static unsigned int events_raised(void)
{
	return flat_count_events(PRM_EVENT_COMP);
}

static void write_arm(struct flat_cq *cq, unsigned int sn, bool solicited_only)
{
	fld_set(flat.mem + cq->dbr, FLD(0x4, 31, 0),
		sn << 28 | (uint32_t)solicited_only << 24 | (cq->ci & 0xffffff));
}

static void cq_arm_record(struct flat_cq *cq, unsigned int sn, bool solicited_only)
{
	write_arm(cq, sn, solicited_only);
	hca_uar_scan_cq(cq->hca, flat.uar[cq->hca == flat.hca[1]], 0);
}

static void one_write(void)
{
	write_to(to, rkey, from, 8);
	flat_run(LONG / 100);
}

static void unarmed_cq_is_silent(void **state)
{
	(void)state;
	pair(NULL, 4096);
	one_write();
	assert_int_equal(events_raised(), 0);
	unpair();
}

/* The first arm word of a new CQ is 0; the device must not mistake it for "not armed". PRM: CQ
 * Doorbell Record, cmd_sn */
static void armed_cq_fires_once(void **state)
{
	(void)state;
	pair(NULL, 4096);
	cq_arm_record(a->send_cq, 0, false);
	assert_int_equal(events_raised(), 0);
	one_write();
	assert_int_equal(events_raised(), 1);
	assert_int_equal(fld_get(flat.event[flat.events - 1], FLD(0x38, 23, 0)), a->send_cq->n);
	assert_int_equal(flat.event_eqn[flat.events - 1], flat.eqn[0]);
	one_write();
	assert_int_equal(events_raised(), 1);
	unpair();
}

static void arm_after_the_completion_fires_at_once(void **state)
{
	(void)state;
	pair(NULL, 4096);
	one_write();
	cq_arm_record(a->send_cq, 0, false);
	assert_int_equal(events_raised(), 1);
	unpair();
}

static void rearm_does_not_announce_old_completions(void **state)
{
	(void)state;
	pair(NULL, 4096);
	cq_arm_record(a->send_cq, 0, false);
	one_write();
	assert_int_equal(events_raised(), 1);
	/* software took the event, and has not polled the CQE */
	cq_arm_record(a->send_cq, 1, false);
	assert_int_equal(events_raised(), 1);
	one_write();
	assert_int_equal(events_raised(), 2);
	unpair();
}

/* perftest arms first and polls only a part, so completions left in the CQ must raise an event. */
static void what_a_part_of_polling_leaves_has_an_event(void **state)
{
	int polled = 0, events = 1;

	(void)state;
	pair(NULL, 4096);
	cq_arm_record(a->send_cq, 0, false);
	for (int i = 0; i < 5; i++)
		one_write();
	assert_int_equal(events_raised(), events);
	while (polled < 5) {
		cq_arm_record(a->send_cq, events, false);
		for (int i = 0; i < 2 && polled < 5; i++, polled++)
			assert_non_null(flat_poll(a->send_cq));
		if (polled < 5)
			assert_int_equal(events_raised(), ++events);
	}
	assert_true(events_raised() <= 5);
	unpair();
}

static void rearm_after_polling_all_waits_for_the_next(void **state)
{
	(void)state;
	pair(NULL, 4096);
	cq_arm_record(a->send_cq, 0, false);
	one_write();
	assert_non_null(flat_poll(a->send_cq));
	cq_arm_record(a->send_cq, 1, false);
	assert_int_equal(events_raised(), 1);
	one_write();
	assert_int_equal(events_raised(), 2);
	unpair();
}

static void same_word_again_is_no_new_arm(void **state)
{
	(void)state;
	pair(NULL, 4096);
	cq_arm_record(a->send_cq, 0, false);
	one_write();
	hca_uar_scan_cq(flat.hca[0], flat.uar[0], 0);
	one_write();
	assert_int_equal(events_raised(), 1);
	unpair();
}

static void send_with(uint8_t flags)
{
	flat_recv(b, to, 64, rkey);
	flat_ctrl(a, OP_SEND, SIGNALED | flags, 0);
	flat_data(a, from, 8, lkey);
	flat_post(a);
	flat_ring(a);
	flat_run(LONG / 100);
}

static void solicited_only_waits_for_a_solicited_one(void **state)
{
	(void)state;
	pair(NULL, 4096);
	cq_arm_record(b->recv_cq, 0, true);
	send_with(0);
	assert_int_equal(events_raised(), 0);
	send_with(SOLICITED);
	assert_int_equal(events_raised(), 1);
	unpair();
}

static void error_counts_as_solicited(void **state)
{
	(void)state;
	pair(NULL, 4096);
	cq_arm_record(a->send_cq, 0, true);
	flat_send(a, OP_SEND, from, 8, lkey + 1);
	flat_run(LONG / 100);
	assert_int_equal(events_raised(), 1);
	unpair();
}

static void solicited_completion_has_one_event(void **state)
{
	(void)state;
	pair(NULL, 4096);
	cq_arm_record(b->recv_cq, 0, true);
	send_with(0);
	send_with(SOLICITED);
	assert_int_equal(events_raised(), 1);
	cq_arm_record(b->recv_cq, 1, true);
	assert_int_equal(events_raised(), 1);
	unpair();
}

static void arm_for_any_replaces_solicited_only(void **state)
{
	(void)state;
	pair(NULL, 4096);
	cq_arm_record(b->recv_cq, 0, true);
	send_with(0);
	assert_int_equal(events_raised(), 0);
	cq_arm_record(b->recv_cq, 0, false);
	assert_int_equal(events_raised(), 1);
	unpair();
}

/* IBTA vol 1, 11.4.2.2: an arm for the next completion survives a later arm for solicited ones. */
static void solicited_only_does_not_take_back_an_arm_for_any(void **state)
{
	(void)state;
	pair(NULL, 4096);
	cq_arm_record(b->recv_cq, 0, false);
	cq_arm_record(b->recv_cq, 0, true);
	send_with(0);
	assert_int_equal(events_raised(), 1);
	/* the event ended the former arm; this one is for solicited completions */
	assert_non_null(flat_poll(b->recv_cq));
	cq_arm_record(b->recv_cq, 1, true);
	send_with(0);
	assert_int_equal(events_raised(), 1);
	unpair();
}

static void arms_collapsed_into_one_are_all_seen(void **state)
{
	(void)state;
	pair(NULL, 4096);
	write_arm(a->recv_cq, 0, false);
	cq_arm_record(a->send_cq, 0, false);
	one_write();
	flat_recv(a, from, 64, lkey);
	flat_send(b, OP_SEND, to, 8, rkey);
	flat_run(LONG / 100);
	assert_int_equal(events_raised(), 2);
	unpair();
}

static void single_arm_doorbell_names_its_cq(void **state)
{
	uint8_t bytes[8] = { 0 };
	uint64_t value;

	(void)state;
	pair(NULL, 4096);
	fld_set(bytes, FLD(0x4, 23, 0), a->send_cq->n);
	memcpy(&value, bytes, sizeof(value));
	flat_write_uar(0, 0x20, value);
	one_write();
	assert_int_equal(events_raised(), 1);
	unpair();
}

static void single_send_doorbell_names_its_qp(void **state)
{
	uint64_t value;

	(void)state;
	pair(NULL, 4096);
	flat_ctrl(a, OP_WRITE, SIGNALED, 0);
	flat_raddr(a, to, rkey);
	flat_data(a, from, 8, lkey);
	flat_post(a);
	fld_set(flat.mem + a->dbr, FLD(0x4, 31, 0), a->sq_pi);
	memcpy(&value, flat.mem + a->sq, sizeof(value));
	hca_uar_write(flat.hca[0], flat.uar[0] + 1, 0x800, &value, sizeof(value));
	flat_expect_report("doorbell.uar");
	flat_write_uar(0, 0x808, value); /* not on a WQE's start, so it is no doorbell */
	flat_expect_report("bf.size");
	flat_run(LONG / 100);
	flat_expect_empty(a->send_cq);
	flat_write_uar(0, 0x800, value);
	flat_run(LONG / 100);
	flat_expect_done(a->send_cq, REQ, 0);
	unpair();
}

static void first_message_in_rtr_reports_the_connection(void **state)
{
	(void)state;
	pair(NULL, 4096);
	flat_simple(b->hca, PRM_OP_2RST_QP, b->n, PRM_STAT_OK);
	flat_to(b, a, NULL, PRM_QP_STATE_RTR);
	one_write();
	one_write();
	assert_int_equal(flat_count_events(PRM_EVENT_COMM_EST), 1);
	unpair();
}

enum { SMALL_EQ_VECTOR = 5 };

static unsigned int notified; /* events of the CQ so far */

/* Makes an EQ of two entries for all CQs of the first adapter from now on. Returns its ring. */
static uint64_t create_small_eq(void)
{
	uint8_t in[PRM_CREATE_EQ_IN_SIZE + 8] = { 0 }, out[16];
	uint8_t *eqc = fld_at(in, CREATE_EQ_IN_EQC);
	uint64_t ring = flat_alloc(4096, 4096);

	fld_set(in, CMD_IN_OPCODE, PRM_OP_CREATE_EQ);
	fld_set(eqc, EQC_LOG_EQ_SIZE, 1);
	fld_set(eqc, EQC_INTR, SMALL_EQ_VECTOR);
	fld_set64(in, FLD_BYTE(CREATE_EQ_IN_PAS), ring);
	flat_cmd(flat.hca[0], in, sizeof(in), out, sizeof(out));
	flat.eqn[0] = fld_get(out, CREATE_EQ_OUT_EQ_NUMBER);
	notified = 0;
	return ring;
}

static void eq_doorbell(uint32_t offset, uint32_t ci)
{
	flat_write_uar(0, offset, htobe64((uint64_t)(flat.eqn[0] << 24 | ci) << 32));
}

static void cq_notify_once(void)
{
	uint64_t word = notified++ % 4 << 28 | (a->send_cq->ci & 0xffffff);

	flat_write_uar(0, 0x20, htobe64(word << 32 | a->send_cq->n));
	one_write();
	assert_non_null(flat_poll(a->send_cq));
}

static void eq_with_memory_gets_eqes_in_turn(void **state)
{
	uint64_t ring;

	(void)state;
	ring = create_small_eq();
	pair(NULL, 4096);
	for (int i = 0; i < 3; i++) {
		cq_arm_record(a->send_cq, i, false);
		one_write();
		flat_expect_done(a->send_cq, REQ, i);
		assert_int_equal(flat.mem[ring + (i % 2) * 64 + 63] & 1, i / 2);
		eq_doorbell(PRM_EQ_UPDATE, i + 1);
	}
	unpair();
}

/* An EQ raises its interrupt once for each arm, if it has an unread EQE. */
static void armed_eq_interrupts_once(void **state)
{
	(void)state;
	create_small_eq();
	pair(NULL, 4096);
	cq_notify_once();
	assert_int_equal(flat.interrupts, 0);
	eq_doorbell(PRM_EQ_ARM, 0); /* an EQE is waiting, so the interrupt comes at once */
	assert_int_equal(flat.interrupts, 1);
	assert_int_equal(flat.vector, SMALL_EQ_VECTOR);
	eq_doorbell(PRM_EQ_ARM, 1);
	assert_int_equal(flat.interrupts, 1);
	cq_notify_once();
	assert_int_equal(flat.interrupts, 2);
	eq_doorbell(PRM_EQ_UPDATE, 2);
	cq_notify_once();
	assert_int_equal(flat.interrupts, 2);
	unpair();
}

static void full_eq_keeps_what_was_not_read(void **state)
{
	uint64_t ring;

	(void)state;
	ring = create_small_eq();
	pair(NULL, 4096);
	cq_notify_once();
	cq_notify_once();
	cq_notify_once();
	assert_int_equal(flat.mem[ring + 63] & 1, 0);
	unpair();
}

static void cq_moderate(struct flat_cq *cq, uint32_t period_us, uint32_t count)
{
	uint8_t in[PRM_CREATE_CQ_IN_SIZE] = { 0 }, out[16];
	uint8_t *cqc = fld_at(in, MODIFY_CQ_IN_CQC);

	fld_set(in, CMD_IN_OPCODE, PRM_OP_MODIFY_CQ);
	fld_set(in, MODIFY_CQ_IN_CQN, cq->n);
	fld_set(in, MODIFY_CQ_IN_FIELD_SELECT, PRM_MODIFY_CQ_PERIOD | PRM_MODIFY_CQ_COUNT);
	fld_set(cqc, CQC_CQ_PERIOD, period_us);
	fld_set(cqc, CQC_CQ_MAX_COUNT, count);
	flat_cmd(cq->hca, in, sizeof(in), out, sizeof(out));
}

/* Executes COUNT writes without letting time pass, so that no moderation period ends. */
static void writes(unsigned int count)
{
	for (; count; count--)
		write_to(to, rkey, from, 8);
	for (unsigned int turn = 0; turn < 16; turn++)
		hca_progress(flat.hca[turn % 2], flat.now);
}

static void moderated_events_wait_for_enough_completions(void **state)
{
	(void)state;
	pair(NULL, 4096);
	cq_moderate(a->send_cq, 1000, 3);
	cq_arm_record(a->send_cq, 0, false);
	writes(2);
	assert_int_equal(events_raised(), 0);
	writes(1);
	assert_int_equal(events_raised(), 1);
	unpair();
}

static void moderated_events_wait_no_longer_than_their_time(void **state)
{
	(void)state;
	pair(NULL, 4096);
	cq_moderate(a->send_cq, 1000, 3);
	cq_arm_record(a->send_cq, 0, false);
	writes(1);
	assert_int_equal(events_raised(), 0);
	flat_run(2000000);
	assert_int_equal(events_raised(), 1);
	flat_run(2000000);
	assert_int_equal(events_raised(), 1);
	/* Without moderation, the next event comes at once. */
	cq_moderate(a->send_cq, 0, 0);
	cq_arm_record(a->send_cq, 1, false);
	writes(1);
	assert_int_equal(events_raised(), 2);
	unpair();
}

int main(void)
{
#define IB(f) cmocka_unit_test_setup_teardown(f, flat_setup, flat_teardown)
	const struct CMUnitTest tests[] = {
		IB(unarmed_cq_is_silent),
		IB(armed_cq_fires_once),
		IB(arm_after_the_completion_fires_at_once),
		IB(rearm_does_not_announce_old_completions),
		IB(what_a_part_of_polling_leaves_has_an_event),
		IB(rearm_after_polling_all_waits_for_the_next),
		IB(same_word_again_is_no_new_arm),
		IB(solicited_only_waits_for_a_solicited_one),
		IB(error_counts_as_solicited),
		IB(solicited_completion_has_one_event),
		IB(arm_for_any_replaces_solicited_only),
		IB(solicited_only_does_not_take_back_an_arm_for_any),
		IB(arms_collapsed_into_one_are_all_seen),
		IB(single_arm_doorbell_names_its_cq),
		IB(single_send_doorbell_names_its_qp),
		IB(first_message_in_rtr_reports_the_connection),
		IB(eq_with_memory_gets_eqes_in_turn),
		IB(armed_eq_interrupts_once),
		IB(full_eq_keeps_what_was_not_read),
		IB(moderated_events_wait_for_enough_completions),
		IB(moderated_events_wait_no_longer_than_their_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

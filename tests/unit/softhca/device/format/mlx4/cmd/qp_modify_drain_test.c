/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * qp_modify_drain_test.c - the state SQD of an mlx4 QP: requests in progress finish, later ones
 * wait, and an event comes if the driver requested it.
 *
 * Covers: softhca/device/format/mlx4/cmd/qp_modify.c, softhca/device/transport/drain.c
 */
#include "vfio_mlx4_rig.h"

#define MS   1000000ull /* in ns */
#define TELL (1u << 31) /* bit of RTS2SQD's modifier: send an event */

enum {
	STATE_RTS = 3,
	STATE_SQD = 5,
	STATE_ERR = 6,
	STATE_DRAINING = 7,
	SQ_DRAINED = 3, /* event type */
	/* Optional parameters of SQD2SQD */
	ALT_PATH = 1 << 0,
	RNR_TIMEOUT = 1 << 6,
	PRIMARY_PATH = 1 << 7,
	SRA_MAX = 1 << 8,
	RETRY_COUNT = 1 << 12,
	RNR_RETRY = 1 << 13,
	ACK_TIMEOUT = 1 << 14,
	SCHED_QUEUE = 1 << 16,
};

static unsigned int qp_state(void)
{
	assert_int_equal(command(QUERY_QP, 0, QPN, 0), OK);
	return get32(guest(OUT + 8)) >> 28;
}

static unsigned int to_sqd(uint32_t tell)
{
	return mailbox(RTS2SQD, QPN | tell, 0);
}

static void send_at(unsigned int index)
{
	post_send(RINGS + 64 * index, 0);
	doorbell32(UAR * 0x1000 + 0x14, QPN << 8);
	vfio_run();
}

static void receive_one(uint16_t index)
{
	post_receive(RECORDS + 0xc0, RINGS + 0x1000 + 8 * 64 + 16 * index, DATA + 0x800, index + 1);
}

static bool is_written(unsigned int index)
{
	vfio_run();
	return cqe(index)[31] != 0xff && !(cqe(index)[31] & 0x80);
}

/* Waits for a CQE; time advances in this step only. */
static void wait_for_cqe(unsigned int index)
{
	for (uint64_t now = 0; !is_written(index); now += MS) {
		assert_in_range(now, 0, 1000 * MS);
		device_progress(&rig.device, now);
	}
}

static void set_up_pair(void)
{
	set_up();
	make_queues_and_key();
	assert_int_equal(command(MAP_EQ, 1 << SQ_DRAINED, EQN, 0), OK);
	connect_qps();
	put32(in(0), RNR_TIMEOUT);
	put32(in(8 + 0x94), 1 << 24);
	assert_int_equal(mailbox(RTS2RTS, QPN + 1, 0), OK);
}

static bool is_told(void)
{
	return guest(EQ)[31] == 0 && guest(EQ)[1] == SQ_DRAINED;
}

static void a_queue_at_rest_is_drained_at_once(void **state)
{
	(void)state;
	set_up_pair();
	assert_int_equal(mailbox(SQD2SQD, QPN, 0), BAD_QP_STATE);
	assert_int_equal(mailbox(SQD2RTS, QPN, 0), BAD_QP_STATE);
	assert_int_equal(to_sqd(0), OK);
	assert_int_equal(qp_state(), STATE_SQD);
	assert_false(is_told());
	assert_int_equal(to_sqd(0), BAD_QP_STATE);
	assert_int_equal(mailbox(SQD2RTS, QPN, 0), OK);
	assert_int_equal(qp_state(), STATE_RTS);
	assert_int_equal(to_sqd(TELL), OK);
	assert_true(is_told());
	assert_int_equal(get32(guest(EQ + 4)), QPN);
	assert_int_equal(guest(EQ)[32 + 31], 0x80); /* exactly one event */
}

/* A request that waits for its RNR timer has begun, so it finishes before the queue is drained. */
static void what_was_begun_is_finished_first(void **state)
{
	(void)state;
	set_up_pair();
	send_at(0);
	assert_int_equal(to_sqd(TELL), OK);
	vfio_run();
	assert_int_equal(qp_state(), STATE_DRAINING);
	assert_int_equal(mailbox(SQD2SQD, QPN, 0), BAD_QP_STATE);
	assert_int_equal(mailbox(SQD2RTS, QPN, 0), BAD_QP_STATE);
	send_at(1);
	assert_false(is_told());
	receive_one(0);
	receive_one(1);
	wait_for_cqe(1);
	assert_true(is_told());
	assert_int_equal(qp_state(), STATE_SQD);
	send_at(2);
	receive_one(2);
	assert_false(is_written(2));
	assert_int_equal(mailbox(SQD2RTS, QPN, 0), OK);
	wait_for_cqe(5);
	assert_int_equal(cqe(5)[31] & 0x1f, 0xa);
	assert_int_equal(guest(EQ)[32 + 31], 0x80);
}

/* A QP in SQD still receives, as only its send queue is stopped. */
static void messages_come_in_meanwhile(void **state)
{
	(void)state;
	set_up_pair();
	assert_int_equal(to_sqd(0), OK);
	post_receive(RECORDS + 0x80, RINGS + 8 * 64, DATA + 0x800, 1);
	post_send(RINGS + 0x1000, 0);
	doorbell32(UAR * 0x1000 + 0x14, (QPN + 1) << 8);
	wait_for_cqe(1);
	assert_int_equal(get32(cqe(0)) & 0xffffff, QPN);
	assert_int_equal(cqe(1)[31] & 0x1f, 0xa);
	assert_int_equal(qp_state(), STATE_SQD);
}

static void error_flushes_what_waits(void **state)
{
	(void)state;
	set_up_pair();
	send_at(0);
	assert_int_equal(to_sqd(TELL), OK);
	send_at(1);
	assert_int_equal(command(TO_ERR, 0, QPN, 0), OK);
	wait_for_cqe(1);
	assert_int_equal(qp_state(), STATE_ERR);
	assert_int_equal(cqe(0)[31] & 0x1f, CQE_ERROR);
	assert_int_equal(cqe(1)[31] & 0x1f, CQE_ERROR);
	assert_int_equal(guest(EQ)[31], 0x80);
	assert_int_equal(command(TO_RST, 0, QPN, 2), OK);
}

static void attributes_change_in_sqd(void **state)
{
	(void)state;
	set_up_pair();
	assert_int_equal(to_sqd(0), OK);
	put32(in(0), ALT_PATH);
	assert_int_equal(mailbox(SQD2SQD, QPN, 0), BAD_PARAM);
	put32(in(0), PRIMARY_PATH); /* a path to LID 0 */
	assert_int_equal(mailbox(SQD2SQD, QPN, 0), BAD_PARAM);
	put32(in(0), SRA_MAX);
	put32(in(8 + 0x70), 7 << 21);
	assert_int_equal(mailbox(SQD2SQD, QPN, 0), BAD_PARAM);
	put32(in(0), ACK_TIMEOUT);
	put32(in(8 + 0x18 + 8), 0x1du << 27);
	assert_int_equal(mailbox(SQD2RTS, QPN, 0), BAD_PARAM);
	put32(in(0), ACK_TIMEOUT | RETRY_COUNT);
	put32(in(8 + 0x18 + 8), 0x1du << 27);
	put32(in(8 + 0x70), 3 << 16);
	assert_int_equal(mailbox(SQD2SQD, QPN, 0), OK);
	assert_int_equal(qp_state(), STATE_SQD);
	assert_int_equal(get32(guest(OUT + 8 + 0x18 + 8)) >> 27, 0x1d);
	assert_int_equal(get32(guest(OUT + 8 + 0x70)) >> 16 & 7, 3);
	assert_int_equal(get32(guest(OUT + 8 + 0x70)) >> 13 & 7, 7); /* RNR_RETRY was not given */
	assert_int_equal(mailbox(SQD2RTS, QPN, 0), OK);
}

static void set_rnr_retry(unsigned int tries)
{
	assert_int_equal(to_sqd(0), OK);
	put32(in(0), RNR_RETRY);
	put32(in(8 + 0x70), tries << 13);
	assert_int_equal(mailbox(SQD2SQD, QPN, 0), OK);
	assert_int_equal(mailbox(SQD2RTS, QPN, 0), OK);
}

/* SQD2SQD can change the RNR retry count: with one retry, the second request survives an RNR
 * NAK. */
static void tries_are_as_many_as_was_said_in_sqd(void **state)
{
	(void)state;
	set_up_pair();
	set_rnr_retry(0);
	receive_one(0);
	send_at(0);
	wait_for_cqe(1);
	set_rnr_retry(1);
	send_at(1);
	assert_false(is_written(2));
	receive_one(1);
	wait_for_cqe(3);
	assert_int_equal(cqe(3)[31] & 0x1f, 0xa);
	assert_int_equal(qp_state(), STATE_RTS);
}

/* A new path without SCHED_QUEUE keeps the QP's port, whatever port it names, as the port is a part
 * of that field. */
static void a_path_keeps_its_port(void **state)
{
	uint8_t *path = in(8 + 0x18);

	(void)state;
	set_up_pair();
	assert_int_equal(to_sqd(0), OK);
	for (unsigned int i = 0; i < 2; i++) {
		put32(in(0), PRIMARY_PATH | (i ? SCHED_QUEUE : 0));
		put32(path + 4, 1 << 23 | 1); /* with a GRH, to LID 1 */
		path[0x20] = 1 << 6;          /* port 2, which does not exist */
		assert_int_equal(mailbox(SQD2SQD, QPN, 0), i ? BAD_PARAM : OK);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_queue_at_rest_is_drained_at_once),
		TEST(what_was_begun_is_finished_first),
		TEST(messages_come_in_meanwhile),
		TEST(error_flushes_what_waits),
		TEST(attributes_change_in_sqd),
		TEST(tries_are_as_many_as_was_said_in_sqd),
		TEST(a_path_keeps_its_port),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * qp_test.c - queues of an mlx4 adapter by a driver's commands: contexts that the device must
 * refuse, states of QPs, and messages between QPs.
 *
 * Covers: softhca/device/format/mlx4/cmd/qp.c, softhca/device/format/mlx4/cmd/qp_modify.c,
 * softhca/device/format/mlx4/cmd/cq.c, softhca/device/format/mlx4/cmd/srq.c,
 * softhca/device/format/mlx4/wqe.c, softhca/device/format/mlx4/cqe.c,
 * softhca/device/format/mlx4/doorbell.c
 */
#include <string.h>

#include "softhca/device/core.h"
#include "softhca/strict.h"
#include "vfio_mlx4_rig.h"

static void fill_rc_qp(void)
{
	fill_qp(QPN, false, 0);
}

static void wrong_contexts_are_refused(void **state)
{
	static const struct wrong eq[] = {
		{ 0, 10u << 28 | 9 << 8, BAD_PARAM }, { 0, 0, BAD_PARAM },
		{ 0xc, 24 << 24, BAD_PARAM },         { 0x1c, 4, BAD_PARAM },
		{ 8, 64, BAD_PARAM },
		{ 0x1c, 6 * 8, BAD_PARAM }, /* an MTT entry that is not present */
		{ 0x1c, 0x8000, ICM_ERROR },
	}, cq[] = {
		{ 0, 1 << 18, BAD_PARAM },
		{ 8, 64, BAD_PARAM },
		{ 0xc, 23 << 24 | UAR, BAD_PARAM },
		{ 0xc, LOG_CQ << 24 | 0, BAD_RESOURCE },
		{ 0xc, LOG_CQ << 24 | 2048, BAD_RESOURCE },
		{ 0x14, EQN + 1, BAD_RESOURCE },
		{ 0x1c, 6 * 8, BAD_PARAM },
		{ 0x3c, RECORDS + 4, BAD_PARAM },
	}, srq[] = {
		{ 0, 3 << 24 | (SRQN + 1), BAD_PARAM }, { 0, 16 << 24 | SRQN, BAD_PARAM },
		{ 4, 0, BAD_PARAM },                    { 4, 6 << 24, BAD_PARAM },
		{ 4, 1 << 24 | 1, BAD_PARAM }, /* an XRC SRQ without a CQ */
		{ 0x14, 6 * 8, BAD_PARAM },
		{ 8, 1u << 26, BAD_PARAM },
		{ 0x2c, RECORDS + 2, BAD_PARAM },
	}, qp[] = {
		{ 0, 1 << 7, BAD_PARAM }, /* a send path */
		{ 8, 1u << 28 | 2 << 16, BAD_PARAM },
		{ 8, 1u << 28 | 7 << 16, BAD_PARAM }, /* service type MLX (headers by software) */
		{ 0x10, 0x00101900, BAD_PARAM },      /* send WQEs too small, */
		{ 0x10, 0x00107a00, BAD_PARAM },      /* too many, */
		{ 0x10, 0x00161a00, BAD_PARAM },      /* receive WQEs too large */
		{ 0x14, 0, BAD_RESOURCE },
		{ 0x18, QPN + 1, BAD_PARAM },
		{ 0x84, CQN + 1, BAD_RESOURCE },
		{ 0xa4, CQN + 1, BAD_RESOURCE },
		{ 0xac, RECORDS + 2, BAD_PARAM },
		{ 0xb4, 1 << 24 | (SRQN + 1), BAD_RESOURCE },
		{ 0xc8, 1 << 25, BAD_PARAM },
		{ 0xd4, 6 * 8, BAD_PARAM },
	};

	(void)state;
	set_up();
	REFUSE(SW2HW_EQ, EQN, fill_eq, eq);
	fill_eq();
	assert_int_equal(mailbox(SW2HW_EQ, 3, 0), BAD_INDEX);
	REFUSE(SW2HW_CQ, CQN, fill_cq, cq);
	fill_cq();
	assert_int_equal(mailbox(SW2HW_CQ, 1 << LOG_QPS, 0), BAD_INDEX);
	REFUSE(SW2HW_SRQ, SRQN, fill_srq, srq);
	REFUSE(RST2INIT, QPN, fill_rc_qp, qp);
	assert_int_equal(command(HW2SW_EQ, 0, EQN, 1), BUSY);
	assert_int_equal(command(HW2SW_CQ, 0, CQN, 1), BUSY);
	assert_int_equal(command(TO_RST, 0, QPN, 0), BAD_OP);
	assert_int_equal(command(TO_RST, 0, QPN, 2), OK);
	assert_int_equal(command(HW2SW_SRQ, 0, SRQN, 1), OK);
	assert_int_equal(command(HW2SW_CQ, 0, CQN, 1), OK);
	assert_int_equal(command(HW2SW_EQ, 0, EQN, 1), OK);
}

static void states_of_a_qp_have_an_order(void **state)
{
	(void)state;
	set_up();
	make_eq_and_cq();
	fill_rc_qp();
	assert_int_equal(mailbox(INIT2RTR, QPN, 0), BAD_QP_STATE);
	fill_rc_qp();
	assert_int_equal(mailbox(RST2INIT, QPN, 0), OK);
	fill_rc_qp();
	assert_int_equal(mailbox(RTR2RTS, QPN, 0), BAD_QP_STATE);
	fill_rc_qp();
	assert_int_equal(mailbox(INIT2RTR, QPN, 0), BAD_PARAM); /* no MTU */
	fill_rc_qp();
	in(8 + 8)[0] = 5 << 5 | 12;
	assert_int_equal(mailbox(INIT2RTR, QPN, 0), BAD_PARAM); /* no LID */
	fill_rc_qp();
	in(8 + 8)[0] = 5 << 5 | 12;
	in(8 + 0x18 + 7)[0] = 1;
	put32(in(0), 1 << 0); /* with an alternate path */
	assert_int_equal(mailbox(INIT2RTR, QPN, 0), BAD_PARAM);
	fill_rc_qp();
	in(8 + 8)[0] = 5 << 5 | 12;
	in(8 + 0x18 + 7)[0] = 1;
	assert_int_equal(mailbox(INIT2RTR, QPN, 0), OK);
	assert_int_equal(command(QUERY_QP, 0, QPN, 0), OK);
	assert_int_equal(get32(guest(OUT + 8)) >> 28, 2);
}

/* Posts a message of 4 bytes between two QPs; the adapter has not processed it yet. */
static void post_message(void)
{
	make_queues_and_key();
	connect_qps();
	/* The receive ring follows the send ring. */
	post_receive(RECORDS + 0xc0, RINGS + 0x1000 + 8 * 64, DATA + 0x800, 1);
	post_send(RINGS, 0);
	doorbell32(UAR * 0x1000 + 0x14, QPN << 8);
}

static void a_message_goes_from_qp_to_qp(void **state)
{
	(void)state;
	set_up();
	memcpy(guest(DATA), "said", 4);
	post_message();
	vfio_run();
	assert_memory_equal(guest(DATA + 0x800), "said", 4);
	assert_int_equal(get32(cqe(0)) & 0xffffff, QPN + 1);
	assert_int_equal(cqe(0)[31] & 0x5f, 1);
	assert_int_equal(get32(cqe(0) + 0x14), 4);
	assert_int_equal(get32(cqe(1)) & 0xffffff, QPN);
	assert_int_equal(cqe(1)[31], 0x4a);
}

/* Flips BITS in the word at AT of a posted WQE, and returns whether the strict adapter reports the
 * change. */
static bool wqe_change_is_told(uint32_t at, uint32_t bits)
{
	struct strict *strict;
	bool told;

	assert_int_equal(strict_open(NULL, "unit test", &strict), 0);
	set_up();
	rig.device.hca->config.strict = strict;
	post_message();
	put32(guest(RINGS + at), get32(guest(RINGS + at)) ^ bits);
	vfio_run();
	told = !strncmp(strict_newest(strict), "wqe.changed", strlen("wqe.changed"));
	rig.device.hca->config.strict = NULL;
	strict_close(strict);
	return told;
}

/* Software copies index and QP number to the BlueFlame register, so the adapter does not read them
 * from the ring. */
static void the_index_of_a_wqe_is_for_its_register(void **state)
{
	(void)state;
	assert_false(wqe_change_is_told(0, 0x123 << 8));
}

static void the_number_in_a_wqe_is_for_its_register(void **state)
{
	(void)state;
	assert_false(wqe_change_is_told(4, QPN << 8));
}

static void the_rest_of_a_wqe_is_the_adapters(void **state)
{
	(void)state;
	assert_true(wqe_change_is_told(28, 1));
}

/* An XRC request names its SRQ by number, so it must be in that SRQ's domain. */
static void xrc_goes_by_number(void **state)
{
	uint32_t target = (QPN + 1) | XRC_TARGET;

	(void)state;
	set_up();
	make_queues_and_key();
	fill_srq();
	in(7)[0] = 1;
	put32(in(8), CQN);
	assert_int_equal(mailbox(SW2HW_SRQ, SRQN, 0), OK);
	to_rts(QPN, false, target, 6);
	to_rts(target, true, QPN, 6);
	memcpy(guest(DATA), "said", 4);
	put32(guest(SRQ + 16), 256);
	put32(guest(SRQ + 20), KEY << 8);
	put64(guest(SRQ + 24), DATA + 0x800);
	put32(guest(RECORDS + 0x40), 1);
	post_send(RINGS, SRQN);
	doorbell32(UAR * 0x1000 + 0x14, QPN << 8);
	vfio_run();
	assert_memory_equal(guest(DATA + 0x800), "said", 4);
	assert_int_equal(get32(cqe(0)) & 0xffffff, target);
	assert_int_equal(get32(cqe(0) + 8) & 0xffffff, SRQN);
	assert_int_equal(command(HW2SW_SRQ, 0, SRQN, 1), OK);
}

/* A write of a WQE's first 8 bytes to the BlueFlame page rings the doorbell. */
static void blueflame_rings(void **state)
{
	uint8_t words[8];

	(void)state;
	set_up();
	own_rings();
	make_eq_and_cq();
	connect_qps();
	put32(guest(RINGS + 4), QPN << 8 | 1);
	put32(guest(RINGS + 8), 3 << 2);
	put32(guest(RINGS), 0); /* NOP */
	memcpy(words, guest(RINGS), sizeof(words));
	/* later words do not ring, as only the first 8 bytes are the doorbell */
	doorbell((2048 + UAR) * 0x1000 + 8, words, sizeof(words));
	vfio_run();
	assert_int_equal(cqe(0)[31] & 0x80, 0x80);
	doorbell((2048 + UAR) * 0x1000 + 256, words, sizeof(words));
	vfio_run();
	assert_int_equal(cqe(0)[31], 0x40);
}

static void closing_forgets_objects(void **state)
{
	(void)state;
	set_up();
	make_eq_and_cq();
	fill_rc_qp();
	assert_int_equal(mailbox(RST2INIT, QPN, 0), OK);
	fill_srq();
	assert_int_equal(mailbox(SW2HW_SRQ, SRQN, 0), OK);
	assert_int_equal(command(CLOSE_HCA, 0, 0, 0), OK);
	init_fill();
	assert_int_equal(mailbox(INIT_HCA, 0, 0), OK);
	make_eq_and_cq();
	fill_rc_qp();
	assert_int_equal(mailbox(RST2INIT, QPN, 0), OK);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(wrong_contexts_are_refused),
		TEST(states_of_a_qp_have_an_order),
		TEST(a_message_goes_from_qp_to_qp),
		TEST(the_index_of_a_wqe_is_for_its_register),
		TEST(the_number_in_a_wqe_is_for_its_register),
		TEST(the_rest_of_a_wqe_is_the_adapters),
		TEST(xrc_goes_by_number),
		TEST(blueflame_rings),
		TEST(closing_forgets_objects),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

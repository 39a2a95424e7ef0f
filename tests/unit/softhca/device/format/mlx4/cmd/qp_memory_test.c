/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * qp_memory_test.c - the device allocates host memory for each WQE of an mlx4 QP: a guest must not
 * be able to exhaust it.
 *
 * Covers: softhca/device/format/mlx4/cmd/qp.c
 */
#include "vfio_mlx4_rig.h"

enum {
	LOG_MANY = 11,
	FIRST = 0x40,
	LOG_SENDS = 14,
	RING_ENTRY = 16, /* MTT entries, one page each */
	RING_PAGES = (64 << LOG_SENDS) / 4096 + 1,
	NOTE_MIN = 16,
	EXCEED_LIM = 8,
};

#define MOST_BYTES (1ull << 30)

static void set_up_many(void)
{
	run_firmware();
	give_memory();
	init_fill();
	in(0x37)[0] = LOG_MANY;
	assert_int_equal(mailbox(INIT_HCA, 0, 0), OK);
	write_translations();
	for (uint32_t i = 0; i < RING_PAGES; i++)
		put64(guest(MTTS + (RING_ENTRY + i) * 8), (RINGS + (i & 1) * 0x1000) | 1);
	make_eq_and_cq();
}

static unsigned int qp_make(uint32_t qpn, unsigned int log_sends)
{
	fill_qp(qpn, false, 0);
	in(8 + 0xa)[0] = (uint8_t)(log_sends << 3 | 2);
	put32(in(8 + 0xcc), RING_ENTRY * 8);
	return mailbox(RST2INIT, qpn, 0);
}

static void rings_of_sends_have_an_end(void **state)
{
	uint32_t qpn = FIRST;
	unsigned int status;

	(void)state;
	set_up_many();
	while ((status = qp_make(qpn, LOG_SENDS)) == OK && qpn < 1 << LOG_MANY)
		qpn++;
	assert_int_equal(status, EXCEED_LIM);
	assert_in_range(qpn - FIRST, 256, MOST_BYTES / (NOTE_MIN << LOG_SENDS));
	assert_int_equal(qp_make(qpn, LOG_SENDS), EXCEED_LIM);
	assert_int_equal(command(QUERY_QP, 0, qpn, 0), BAD_RESOURCE); /* the QP does not exist */
	assert_int_equal(command(TO_RST, 0, FIRST, 2), OK);
	assert_int_equal(qp_make(qpn, LOG_SENDS), OK);
	assert_int_equal(qp_make(FIRST, LOG_SENDS), EXCEED_LIM);
	for (uint32_t i = FIRST + 1; i <= qpn; i++)
		assert_int_equal(command(TO_RST, 0, i, 2), OK);
	for (uint32_t i = FIRST; i < qpn; i++)
		assert_int_equal(qp_make(i, LOG_SENDS), OK);
	assert_int_equal(qp_make(qpn, LOG_SENDS), EXCEED_LIM);
}

/* After long rings have used up the limit, short ones get the rest and no more. */
static void short_rings_take_what_is_left(void **state)
{
	uint32_t qpn = FIRST, first;

	(void)state;
	set_up_many();
	while (qp_make(qpn, LOG_SENDS) == OK)
		qpn++;
	for (first = qpn; qp_make(qpn, 3) == OK; qpn++)
		assert_in_range(qpn - first, 0, (NOTE_MIN << LOG_SENDS) / 64);
	assert_int_equal(qp_make(qpn, 3), EXCEED_LIM);
}

static void closing_gives_it_back(void **state)
{
	uint32_t qpn = FIRST;

	(void)state;
	set_up_many();
	while (qp_make(qpn, LOG_SENDS) == OK)
		qpn++;
	assert_int_equal(command(CLOSE_HCA, 0, 0, 0), OK);
	init_fill();
	in(0x37)[0] = LOG_MANY;
	assert_int_equal(mailbox(INIT_HCA, 0, 0), OK);
	make_eq_and_cq();
	assert_int_equal(qp_make(FIRST, LOG_SENDS), OK);
}

static void queues_of_frames_count(void **state)
{
	enum { LOG_PAGES = 10 };
	uint32_t qpn = FIRST;

	(void)state;
	set_up_many();
	while (qp_make(qpn, LOG_SENDS) == OK)
		qpn++;
	while (qp_make(qpn, LOG_PAGES) == OK)
		qpn++;
	while (qp_make(qpn, 3) == OK)
		qpn++;
	for (unsigned int i = 0; i < 256; i++) {
		fill_qp(qpn + i, false, 7);
		put32(in(8 + 0xcc), RING_ENTRY * 8);
		if (mailbox(RST2INIT, qpn + i, 0) == EXCEED_LIM)
			return;
	}
	fail_msg("queues of frames cost nothing");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(rings_of_sends_have_an_end),
		TEST(short_rings_take_what_is_left),
		TEST(closing_gives_it_back),
		TEST_ROCE(queues_of_frames_count),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

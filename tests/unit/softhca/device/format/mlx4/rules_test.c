/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rules_test.c - what a strict mlx4 adapter says of the space behind the last WQE: each slot that
 * it reads ahead, but the first and the last, must be stamped.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "softhca/device/format/mlx4/rules.c"

enum { BLOCK = 128, SLOTS = 64, LOG_SLOTS = 6, AHEAD = M4_READ_AHEAD / BLOCK };

static struct hca *hca;
static struct qp qp;
static uint8_t ring_bytes[SLOTS][BLOCK];
static int posted = -1; /* a slot that looks so */
static int reports;
static const char *rule_of_last;

int sq_copy(struct hca *of, const struct qp *from, uint16_t index, uint32_t bbs, uint8_t *raw)
{
	assert_ptr_equal(of, hca);
	assert_ptr_equal(from, &qp);
	for (uint32_t i = 0; i < bbs; i++)
		memcpy(raw + i * BLOCK, ring_bytes[(index + i) % SLOTS], BLOCK);
	return 0;
}

int eth_sq_copy(struct hca *of, const struct eth_sq *sq, uint16_t index, uint32_t bbs, uint8_t *raw)
{
	(void)of, (void)sq, (void)index, (void)bbs, (void)raw;
	return 1;
}

void strict_report(struct strict *strict, struct trace *trace, const char *rule, const char *format,
		   ...)
{
	(void)strict, (void)trace, (void)format;
	rule_of_last = rule;
	reports++;
}

const char *mlx4_opcode_name(uint8_t opcode)
{
	(void)opcode;
	return "";
}

uint8_t mlx4_wqe_opcode(const uint8_t *raw)
{
	return raw[3] & 0x1f;
}

uint32_t mlx4_wqe_size(const uint8_t *raw)
{
	(void)raw;
	return BLOCK;
}

bool mlx4_send_is_posted(const uint8_t *raw, bool odd_lap)
{
	(void)odd_lap;
	return posted >= 0 && !memcmp(raw, ring_bytes[posted], BLOCK);
}

static int ring_begin(void **state)
{
	(void)state;
	hca = calloc(1, sizeof(*hca));
	qp.sq.block = BLOCK;
	qp.sq.log_size = LOG_SLOTS;
	qp.sq.pi = qp.sq.ci = SLOTS - 3; /* the space goes on at the beginning, so it wraps */
	memset(ring_bytes, 0xff, sizeof(ring_bytes));
	reports = 0;
	posted = -1;
	return hca ? 0 : -1;
}

static int ring_end(void **state)
{
	(void)state;
	free(hca);
	return 0;
}

static int reports_of(unsigned int slot)
{
	reports = 0;
	ring_bytes[(qp.sq.pi + slot) % SLOTS][M4_PIECE + 3] = 0;
	mlx4_judge_posted(hca, &qp);
	ring_bytes[(qp.sq.pi + slot) % SLOTS][M4_PIECE + 3] = 0xff;
	return reports;
}

static void each_slot_ahead_is_stamped_but_first_and_last(void **state)
{
	(void)state;
	for (unsigned int slot = 0; slot <= AHEAD + 1; slot++)
		assert_int_equal(reports_of(slot), slot >= 1 && slot < AHEAD);
	assert_int_equal(reports_of(AHEAD - 1), 1);
	assert_string_equal(rule_of_last, "wqe.stamp");
}

static void a_ring_keeps_room_for_what_is_read_ahead(void **state)
{
	(void)state;
	qp.sq.ci = (uint16_t)(qp.sq.pi - (SLOTS - AHEAD - 1));
	mlx4_judge_posted(hca, &qp);
	assert_int_equal(reports, 0);
	qp.sq.ci--;
	mlx4_judge_posted(hca, &qp);
	assert_int_equal(reports, 1);
	assert_string_equal(rule_of_last, "wqe.headroom");
}

/* Software has gone on by the time the adapter looks, so the slot is no fault. */
static void a_posted_slot_ends_the_check(void **state)
{
	(void)state;
	posted = qp.sq.pi % SLOTS;
	ring_bytes[posted][0] = 1;
	assert_int_equal(reports_of(3), 0);
}

int main(void)
{
#define TEST(test) cmocka_unit_test_setup_teardown(test, ring_begin, ring_end)
	const struct CMUnitTest tests[] = {
		TEST(each_slot_ahead_is_stamped_but_first_and_last),
		TEST(a_ring_keeps_room_for_what_is_read_ahead),
		TEST(a_posted_slot_ends_the_check),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

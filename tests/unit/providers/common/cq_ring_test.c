/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cq_ring_test.c - moves of unread CQEs to a ring of another size: from each index, to smaller and
 * larger rings, with the owner bits of their new positions; refused moves; the barrier between the
 * owner bit and the rest of a CQE.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/providers/mlx5/order_watch.h"

#include "providers/common/cq_ring.c"

enum { ENTRY_LOG = 3, ENTRY = 1 << ENTRY_LOG, MOST = 16, OWNER = 1, RESIZE = 0x50, NONE = 0xf0 };

static const struct cqe_marks marks = { OWNER, 0xf0, NONE, RESIZE };

static struct {
	uint8_t from[MOST * ENTRY], to[MOST * ENTRY];
	unsigned int barriers;
} it;

void order_watch(enum order_barrier barrier)
{
	assert_int_equal(barrier, DMA_LOAD);
	it.barriers++;
}

void provider_queue_mem_free(struct queue_mem *mem)
{
	(void)mem;
}

static struct cq_ring ring_of(uint8_t *bytes, uint32_t count_log)
{
	return (struct cq_ring){ bytes + ENTRY - 1, ENTRY - 1, ENTRY_LOG, count_log };
}

static uint8_t owner_of(uint32_t index, uint32_t count_log)
{
	return index >> count_log & 1 ? OWNER : 0;
}

/* Writes a CQE as the adapter does, with bytes that depend on its index. */
static void cqe_put(uint8_t *bytes, uint32_t count_log, uint32_t index, uint8_t opcode)
{
	uint8_t *cqe = bytes + ENTRY * (index & ((1u << count_log) - 1));

	memset(cqe, (int)(index & 0xff), ENTRY - 1);
	cqe[ENTRY - 1] = opcode | owner_of(index, count_log);
}

static void check_cqe(uint32_t count_log, uint32_t index, uint32_t was)
{
	const uint8_t *cqe = it.to + ENTRY * (index & ((1u << count_log) - 1));

	assert_int_equal(cqe[0], was & 0xff);
	assert_int_equal(cqe[ENTRY - 2], was & 0xff);
	assert_int_equal(cqe[ENTRY - 1], 0x20 | owner_of(index, count_log));
}

/* Moves COUNT CQEs from CI on. The old ring ends with a resize CQE unless CUT; without that end
 * mark the move must fail, as more CQEs may be on their way to the old ring. */
static bool ring_move(uint32_t from_log, uint32_t to_log, uint32_t ci, uint32_t count, bool is_cut)
{
	const struct cq_ring from = ring_of(it.from, from_log), to = ring_of(it.to, to_log);

	provider_cq_ring_init(&marks, &from, ci);
	provider_cq_ring_init(&marks, &to, ci + 1);
	for (uint32_t i = ci; i != ci + count; i++)
		cqe_put(it.from, from_log, i, 0x20);
	if (!is_cut)
		cqe_put(it.from, from_log, ci + count, RESIZE);
	it.barriers = 0;
	return provider_cq_ring_move(&marks, &from, &to, ci);
}

static void cqes_move_one_index_up(void **state)
{
	(void)state;
	for (uint32_t ci = 0; ci < 2 * MOST + 3; ci++) {
		for (uint32_t count = 0; count < 4; count++) {
			for (uint32_t to_log = 2; to_log <= 4; to_log++) {
				assert_true(ring_move(3, to_log, ci, count, false));
				assert_int_equal(it.barriers, count + 1);
				for (uint32_t i = 0; i < count; i++)
					check_cqe(to_log, ci + i + 1, ci + i);
			}
		}
	}
	assert_true(ring_move(3, 4, UINT32_MAX - 1, 3, false));
	for (uint32_t i = 0; i < 3; i++)
		check_cqe(4, i - 1, i - 2);
}

/* Entries that receive no CQE get the owner bit of the adapter; with the other one, polling would
 * read them as completions. */
static void the_rest_of_the_ring_is_the_adapters(void **state)
{
	(void)state;
	assert_true(ring_move(3, 3, 5, 2, false));
	for (uint32_t i = 8; i < 5 + 1 + 8; i++)
		assert_int_equal(it.to[ENTRY * (i & 7) + ENTRY - 1],
				 NONE | (owner_of(i, 3) ^ OWNER));
}

static void a_ring_is_full_with_as_many_as_it_has(void **state)
{
	(void)state;
	assert_true(ring_move(3, 2, 1, 4, false));
	for (uint32_t i = 1; i < 5; i++)
		check_cqe(2, i + 1, i);
	assert_false(ring_move(3, 2, 1, 5, false));
	assert_true(ring_move(3, 3, 1, 7, false));
	assert_false(ring_move(3, 3, 1, 8, true));
}

static void a_ring_without_an_end_is_refused(void **state)
{
	(void)state;
	for (uint32_t count = 0; count < 5; count++) {
		assert_false(ring_move(3, 3, 6, count, true));
		assert_int_equal(it.barriers, count);
	}
}

static bool ring_fits(uint32_t from_log, uint32_t to_log, uint32_t ci, uint32_t count)
{
	const struct cq_ring from = ring_of(it.from, from_log), to = ring_of(it.to, to_log);

	provider_cq_ring_init(&marks, &from, ci);
	for (uint32_t i = ci; i != ci + count; i++)
		cqe_put(it.from, from_log, i, 0x20);
	return provider_cq_ring_fits(&marks, &from, &to, ci);
}

static void fewer_than_a_ring_has_fit_into_it(void **state)
{
	(void)state;
	for (uint32_t ci = 0; ci < 20; ci++) {
		assert_true(ring_fits(3, 2, ci, 3));
		assert_false(ring_fits(3, 2, ci, 4));
		assert_false(ring_fits(3, 2, ci, 5));
		assert_true(ring_fits(3, 3, ci, 8));
		assert_true(ring_fits(2, 3, ci, 4));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cqes_move_one_index_up),
		cmocka_unit_test(the_rest_of_the_ring_is_the_adapters),
		cmocka_unit_test(a_ring_is_full_with_as_many_as_it_has),
		cmocka_unit_test(a_ring_without_an_end_is_refused),
		cmocka_unit_test(fewer_than_a_ring_has_fit_into_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

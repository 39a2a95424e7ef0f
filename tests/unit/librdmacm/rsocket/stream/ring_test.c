/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The send and receive rings of a stream, near each boundary.
 *
 * Covers: librdmacm/rsocket/stream/ring.h
 */
#include "tests/unit/libibverbs/unit.h"
#include "librdmacm/rsocket/stream/ring.h"

enum { SIZE = 1024, HALF = SIZE / 2 };

static void second_half_is_due_first(void **state)
{
	struct rx_ring ring;

	(void)state;
	rx_ring_init(&ring, SIZE);
	assert_int_equal(ring.due, 1);
	assert_int_equal(rx_ring_tell(&ring), HALF);
	assert_int_equal(ring.due, 0);
}

static void half_is_due_again_when_all_of_it_was_read(void **state)
{
	struct rx_ring ring;

	(void)state;
	rx_ring_init(&ring, SIZE);
	rx_ring_tell(&ring);
	assert_true(rx_ring_arrived(&ring, HALF));
	rx_ring_take(&ring, HALF - 1);
	assert_int_equal(ring.due, 0);
	rx_ring_take(&ring, 1);
	assert_int_equal(ring.due, 1);
	assert_int_equal(rx_ring_tell(&ring), 0);
}

static void reading_across_both_ends_makes_both_halves_due(void **state)
{
	struct rx_ring ring;

	(void)state;
	rx_ring_init(&ring, SIZE);
	rx_ring_tell(&ring);
	assert_true(rx_ring_arrived(&ring, SIZE));
	rx_ring_take(&ring, SIZE);
	assert_int_equal(ring.due, 2);
	assert_int_equal(rx_ring_tell(&ring), 0);
	assert_int_equal(rx_ring_tell(&ring), HALF);
	assert_int_equal(ring.head, 0);
}

/* A reader that stops there grants a half to the peer, so that it can send while the rest is
 * read. */
static void rest_ends_where_a_half_becomes_due(void **state)
{
	struct rx_ring ring;

	(void)state;
	rx_ring_init(&ring, SIZE);
	rx_ring_tell(&ring);
	assert_true(rx_ring_arrived(&ring, SIZE));
	for (uint32_t read = 0; read < 3; read++) {
		rx_ring_take(&ring, read);
		assert_int_equal(rx_ring_rest(&ring), HALF - read);
		rx_ring_take(&ring, rx_ring_rest(&ring));
		assert_int_equal(ring.due, 1);
		rx_ring_tell(&ring);
		assert_true(rx_ring_arrived(&ring, HALF));
	}
}

static void more_than_the_ring_holds_is_refused(void **state)
{
	struct rx_ring ring;

	(void)state;
	rx_ring_init(&ring, SIZE);
	assert_true(rx_ring_arrived(&ring, SIZE - 1));
	assert_false(rx_ring_arrived(&ring, 2));
	assert_int_equal(ring.ready, SIZE - 1);
	assert_true(rx_ring_arrived(&ring, 1));
}

static void run_ends_with_the_ring(void **state)
{
	struct rx_ring ring;

	(void)state;
	rx_ring_init(&ring, SIZE);
	assert_true(rx_ring_arrived(&ring, SIZE));
	rx_ring_take(&ring, SIZE - 3);
	assert_int_equal(rx_ring_run(&ring, ring.head), 3);
	rx_ring_take(&ring, 3);
	assert_int_equal(ring.head, 0);
}

static void room_lies_together(void **state)
{
	struct tx_ring ring = { .size = SIZE };

	(void)state;
	assert_int_equal(tx_ring_room(&ring), SIZE);
	tx_ring_put(&ring, SIZE - 10);
	assert_int_equal(tx_ring_room(&ring), 10);
	ring.done = ring.put;
	assert_int_equal(tx_ring_free(&ring), SIZE);
	assert_int_equal(tx_ring_room(&ring), 10); /* up to the end */
	tx_ring_put(&ring, 10);
	assert_int_equal(ring.head, 0);
	assert_int_equal(tx_ring_room(&ring), SIZE - 10);
}

static void full_ring_has_no_room_though_counts_wrap(void **state)
{
	struct tx_ring ring = { .size = SIZE, .put = UINT32_MAX - 5, .done = UINT32_MAX - 5 };

	(void)state;
	tx_ring_put(&ring, SIZE);
	assert_true(ring.put < ring.done);
	assert_int_equal(tx_ring_free(&ring), 0);
	ring.done += 100;
	assert_int_equal(tx_ring_free(&ring), 100);
}

static void completions_are_asked_for_by_quarters(void **state)
{
	struct tx_ring ring = { .size = SIZE };

	(void)state;
	tx_ring_put(&ring, SIZE / 4 - 1);
	assert_false(tx_ring_wants_mark(&ring));
	tx_ring_put(&ring, 1);
	assert_true(tx_ring_wants_mark(&ring));
	ring.marked = ring.put;
	assert_false(tx_ring_wants_mark(&ring));
	tx_ring_put(&ring, SIZE * 3 / 4 - 1);
	ring.marked = ring.put;
	tx_ring_put(&ring, 1);
	assert_true(tx_ring_wants_mark(&ring)); /* full */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(second_half_is_due_first),
		cmocka_unit_test(half_is_due_again_when_all_of_it_was_read),
		cmocka_unit_test(reading_across_both_ends_makes_both_halves_due),
		cmocka_unit_test(rest_ends_where_a_half_becomes_due),
		cmocka_unit_test(more_than_the_ring_holds_is_refused),
		cmocka_unit_test(run_ends_with_the_ring),
		cmocka_unit_test(room_lies_together),
		cmocka_unit_test(full_ring_has_no_room_though_counts_wrap),
		cmocka_unit_test(completions_are_asked_for_by_quarters),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

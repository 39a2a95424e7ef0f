/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * window_test.c - the address of the command queue in the pages of a VFIO device: both halves reach
 * the adapter, however the program's stores and our look at the pages interleave.
 *
 * Covers: softhca/front/process/vfio/window.c
 */
#include <endian.h>
#include <string.h>

#include "softhca/front/process/vfio/window.h"
#include "vfio_rig.h"

enum { HIGH = 0x10, LOW = 0x14, PAGE = 0x1000 };

static struct window window;

static int window_setup(void **state)
{
	int ret = vfio_setup(state);

	memset(&window, 0, sizeof(window));
	return ret ? ret : window_open(&window, &rig.device);
}

static int window_teardown(void **state)
{
	window_close(&window);
	return vfio_teardown(state);
}

/* Stores to a register as the program does. */
static void register_put(uint32_t offset, uint32_t value)
{
	const uint32_t be = htobe32(value);

	memcpy(window.pages + offset, &be, sizeof(be));
}

static uint64_t address(void)
{
	return (uint64_t)bar_get(HIGH) << 32 | (bar_get(LOW) & ~(PAGE - 1u));
}

static void both_halves_are_taken(void **state)
{
	(void)state;
	register_put(HIGH, 3);
	register_put(LOW, 5 * PAGE);
	assert_true(window_scan(&window, &rig.device));
	assert_int_equal(address(), 3ull << 32 | 5 * PAGE);
	assert_false(window_scan(&window, &rig.device));
}

/* The second queue differs by its high half alone. */
static void a_new_high_half_is_taken_with_the_old_low_one(void **state)
{
	(void)state;
	register_put(HIGH, 3);
	register_put(LOW, 5 * PAGE);
	window_scan(&window, &rig.device);
	register_put(HIGH, 4);
	register_put(LOW, 5 * PAGE);
	assert_true(window_scan(&window, &rig.device));
	assert_int_equal(address(), 4ull << 32 | 5 * PAGE);
}

static void a_look_between_the_halves_does_no_harm(void **state)
{
	(void)state;
	register_put(HIGH, 3);
	window_scan(&window, &rig.device);
	window_show(&window, &rig.device);
	register_put(LOW, 5 * PAGE);
	assert_true(window_scan(&window, &rig.device));
	assert_int_equal(address(), 3ull << 32 | 5 * PAGE);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, window_setup, window_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(both_halves_are_taken),
		TEST(a_new_high_half_is_taken_with_the_old_low_one),
		TEST(a_look_between_the_halves_does_no_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

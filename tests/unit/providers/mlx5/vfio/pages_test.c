/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * pages_test.c - memory for firmware: what is given, taken back and kept, with a firmware that
 * refuses, or answers what is not true.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "prm/mlx5/cmd.h"
#include "prm/mlx5/driver.h"
#include "providers/mlx5/vfio/pages.h"

#include "guarded.h"

enum { PAGE = 4096, MOST = 256 };

/* The firmware, which keeps the addresses of its pages. */
static struct {
	uint64_t page[4096];
	uint32_t count;
	uint32_t wants; /* by QUERY_PAGES */
	uint32_t steps, refusals;
	uint32_t lies;     /* that many more in an answer */
	uint32_t keeps;    /* never gives back so many */
	uint64_t stranger; /* a page that it never had */
	uint32_t takes;    /* commands that ask for pages */
	int ret;
	bool answers; /* RET is its own, not the command queue's */
} firmware;

static void pages_get(const uint8_t *in, uint32_t inlen, uint32_t count)
{
	assert_true(count <= MOST && inlen == 16 + count * 8);
	for (uint32_t i = 0; i < count; i++) {
		const uint64_t page = fld_get64(in + 16, i * 8);

		assert_true(page % PAGE == 0);
		*guarded_at(page) = *guarded_at(page + PAGE - 1) = 0x5a;
		firmware.page[firmware.count++] = page;
	}
}

static void pages_return(uint8_t *out, uint32_t outlen, uint32_t count)
{
	const uint32_t rest = firmware.count - firmware.keeps;

	assert_int_equal(outlen, 16 + count * 8);
	count = count < rest ? count : rest;
	for (uint32_t i = 0; i < count; i++)
		fld_set64(out + 16, i * 8, firmware.page[--firmware.count]);
	if (firmware.stranger)
		fld_set64(out + 16, 0, firmware.stranger);
	fld_set(out, FLD(0x8, 31, 0), count + firmware.lies);
}

int mlx5_vfio_cmdq_run(struct vfio_cmdq *cmdq, enum vfio_lane lane, const void *in, uint32_t inlen,
		       void *out, uint32_t outlen, bool *is_answered)
{
	const uint32_t count = (uint32_t)fld_get(in, FLD(0xc, 31, 0));

	(void)cmdq;
	if (is_answered)
		*is_answered = !firmware.ret || firmware.answers;
	assert_int_equal(lane, VFIO_LANE_PAGES);
	if (fld_get(in, FLD(0x0, 31, 16)) == 0x107) {
		firmware.steps |= 1u << fld_get(in, FLD(0x4, 15, 0));
		fld_set(out, FLD(0xc, 31, 0), firmware.wants);
		return 0;
	}
	assert_int_equal(fld_get(in, FLD(0x0, 31, 16)), 0x108);
	switch (fld_get(in, FLD(0x4, 15, 0))) {
	case 0:
		firmware.refusals++;
		return 0;
	case 1:
		if (!firmware.ret)
			pages_get(in, inlen, count);
		return firmware.ret;
	default:
		assert_true(++firmware.takes < 100);
		pages_return(out, outlen, count);
		return 0;
	}
}

static struct vfio_cmdq cmdq;
static struct vfio_pages pages;

static int rig_up(void **state)
{
	(void)state;
	memset(&firmware, 0, sizeof(firmware));
	mlx5_vfio_pages_init(&pages, &cmdq);
	return 0;
}

static int rig_down(void **state)
{
	(void)state;
	mlx5_vfio_pages_destroy(&pages);
	assert_int_equal(guarded.in_use, 0);
	return 0;
}

static void each_step_gets_what_it_asks_for(void **state)
{
	static const uint32_t counts[] = { 0, 1, 255, 256, 257, 1000 };
	uint32_t sum = 0;

	(void)state;
	for (unsigned int i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		firmware.wants = counts[i];
		assert_int_equal(
			mlx5_vfio_pages_give_for(&pages, i % 2 ? PRM_PAGES_BOOT : PRM_PAGES_INIT),
			0);
		sum += counts[i];
		assert_int_equal(firmware.count, sum);
	}
	assert_int_equal(firmware.steps, 1u << 1 | 1u << 2);
	assert_int_equal(mlx5_vfio_pages_reclaim(&pages), 0);
	assert_int_equal(firmware.count, 0);
	assert_null(pages.bunches);
	assert_int_equal(guarded.in_use, 0);
}

static void an_event_takes_pages_back(void **state)
{
	(void)state;
	assert_int_equal(mlx5_vfio_pages_change(&pages, 600), 0);
	assert_int_equal(mlx5_vfio_pages_change(&pages, -300), 0);
	assert_int_equal(firmware.count, 300);
	assert_int_equal(mlx5_vfio_pages_change(&pages, -1), 0);
	assert_int_equal(firmware.count, 299);
	assert_int_equal(mlx5_vfio_pages_change(&pages, INT32_MIN), 0); /* takes all there are */
	assert_int_equal(firmware.count, 0);
}

static void firmware_is_told_when_there_is_no_memory(void **state)
{
	(void)state;
	guarded.fails = true;
	assert_int_equal(mlx5_vfio_pages_change(&pages, 1000), ENOMEM);
	guarded.fails = false;
	assert_int_equal(firmware.refusals, 1);
	assert_null(pages.bunches);
}

/* There is memory for pages, but not for the command. */
static void firmware_is_told_when_the_command_has_no_memory(void **state)
{
	(void)state;
	firmware.ret = ENOMEM;
	assert_int_equal(mlx5_vfio_pages_change(&pages, 1000), ENOMEM);
	assert_int_equal(firmware.refusals, 1);
	assert_null(pages.bunches);
}

/* Statuses map to these errnos, too; a request that firmware has answered is over. */
static void refused_pages_are_freed(void **state)
{
	static const int errors[] = { EINVAL, ENOMEM, EIO };

	(void)state;
	firmware.answers = true;
	for (unsigned int i = 0; i < 3; i++) {
		firmware.ret = errors[i];
		assert_int_equal(mlx5_vfio_pages_change(&pages, 1), errors[i]);
		assert_null(pages.bunches);
		assert_int_equal(guarded.in_use, 0);
	}
	assert_int_equal(firmware.refusals, 0);
}

static void pages_that_may_be_in_use_are_kept(void **state)
{
	(void)state;
	firmware.ret = ETIMEDOUT;
	assert_int_equal(mlx5_vfio_pages_change(&pages, 1), ETIMEDOUT);
	assert_int_equal(guarded.in_use, 1);
	firmware.ret = 0;
	assert_int_equal(mlx5_vfio_pages_reclaim(&pages), 0);
	/* until the device is closed, as the firmware may still use it */
	assert_int_equal(guarded.in_use, 1);
}

static void firmware_that_keeps_pages_is_not_asked_for_ever(void **state)
{
	(void)state;
	assert_int_equal(mlx5_vfio_pages_change(&pages, 10), 0);
	firmware.keeps = 4;
	assert_int_equal(mlx5_vfio_pages_reclaim(&pages), 0);
	assert_int_equal(firmware.count, 4);
	assert_int_equal(guarded.in_use, 1);
}

static void an_answer_with_more_than_asked_for_is_an_error(void **state)
{
	(void)state;
	assert_int_equal(mlx5_vfio_pages_change(&pages, 10), 0);
	firmware.lies = 1;
	assert_int_equal(mlx5_vfio_pages_change(&pages, -10), EIO);
	firmware.lies = UINT32_MAX - 9;
	assert_int_equal(mlx5_vfio_pages_change(&pages, -10), EIO);
	assert_int_equal(guarded.in_use, 1);
}

static void pages_that_firmware_never_had_are_left_alone(void **state)
{
	(void)state;
	assert_int_equal(mlx5_vfio_pages_change(&pages, 4), 0);
	firmware.stranger = UINT64_MAX - 0xfff;
	assert_int_equal(mlx5_vfio_pages_change(&pages, -1), 0);
	assert_int_equal(pages.bunches->with_adapter, 4);
	firmware.stranger = 0;
	assert_int_equal(mlx5_vfio_pages_change(&pages, -3), 0);
	assert_int_equal(guarded.in_use, 1); /* one is not back */
}

/* Each page counts once: memory of one that firmware has must not be freed for another's sake. */
static void a_page_that_comes_twice_counts_once(void **state)
{
	(void)state;
	assert_int_equal(mlx5_vfio_pages_change(&pages, 3), 0);
	firmware.stranger = firmware.page[0];
	for (unsigned int i = 0; i < 3; i++)
		assert_int_equal(mlx5_vfio_pages_change(&pages, -1), 0);
	assert_non_null(pages.bunches);
	assert_int_equal(pages.bunches->with_adapter, 2);
	assert_int_equal(guarded.in_use, 1);
}

static void an_address_within_a_page_is_none(void **state)
{
	(void)state;
	assert_int_equal(mlx5_vfio_pages_change(&pages, 1), 0);
	firmware.stranger = firmware.page[0] + 8;
	assert_int_equal(mlx5_vfio_pages_change(&pages, -1), 0);
	assert_non_null(pages.bunches);
	assert_int_equal(pages.bunches->with_adapter, 1);
	assert_int_equal(guarded.in_use, 1);
}

/* An answer can be full of pages that firmware never had. A request to take back 2^31 pages would
 * otherwise be 2^23 commands. */
static void firmware_that_returns_nothing_real_is_not_asked_for_ever(void **state)
{
	(void)state;
	firmware.lies = MOST;
	assert_int_equal(mlx5_vfio_pages_change(&pages, INT32_MIN), 0);
	assert_int_equal(firmware.takes, 1);
}

#define T(test) cmocka_unit_test_setup_teardown(test, rig_up, rig_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(each_step_gets_what_it_asks_for),
		T(an_event_takes_pages_back),
		T(firmware_is_told_when_there_is_no_memory),
		T(firmware_is_told_when_the_command_has_no_memory),
		T(refused_pages_are_freed),
		T(pages_that_may_be_in_use_are_kept),
		T(firmware_that_keeps_pages_is_not_asked_for_ever),
		T(an_answer_with_more_than_asked_for_is_an_error),
		T(pages_that_firmware_never_had_are_left_alone),
		T(firmware_that_returns_nothing_real_is_not_asked_for_ever),
		T(a_page_that_comes_twice_counts_once),
		T(an_address_within_a_page_is_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

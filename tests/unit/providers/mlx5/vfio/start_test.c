/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * start_test.c - the commands of the start and the teardown, with each one refused, and each one
 * not answered. Repeats the layouts as offsets, as an independent check.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "prm/mlx5/caps.h"
#include "prm/mlx5/cmd.h"
#include "providers/mlx5/vfio/start.h"
#include "util/bits.h"

enum { BOOT = 1, INIT = 2, REGISTER_ID = 0x8, ENDIANNESS = 0x7004, PAOS = 0x5006, DTOR = 0xc00e };

/* A step is an opcode, or what pages are for. */
static struct {
	uint32_t steps[32];
	unsigned int count;
	unsigned int fails; /* that step, from 1 */
	bool is_silent;     /* it is not answered */
	bool has_version;
	uint32_t poll; /* word of DTOR: the interval of looks at the health counter */
	char version[65];
	struct vfio_cmdq cmdq;
	struct vfio_pages pages;
} rig;

static int step_run(uint32_t step)
{
	assert_true(rig.count < ARRAY_SIZE(rig.steps));
	rig.steps[rig.count++] = step;
	if (rig.count != rig.fails)
		return 0;
	return rig.is_silent ? ETIMEDOUT : EINVAL;
}

int mlx5_vfio_cmdq_run(struct vfio_cmdq *cmdq, enum vfio_lane lane, const void *in, uint32_t inlen,
		       void *out, uint32_t outlen, bool *is_answered)
{
	const uint32_t opcode = (uint32_t)fld_get(in, FLD(0x0, 31, 16));
	int ret;

	assert_ptr_equal(cmdq, &rig.cmdq);
	assert_int_equal(lane, VFIO_LANE_COMMANDS);
	memset(out, 0, outlen);
	if (opcode == PRM_OP_QUERY_ISSI)
		fld_set(out, FLD(0x6c, 31, 0), 2);
	if (opcode == PRM_OP_QUERY_HCA_CAP)
		fld_set((uint8_t *)out + 16, HCA_CAP_DRIVER_VERSION, rig.has_version);
	if (opcode == PRM_OP_ACCESS_REG && fld_get(in, FLD(REGISTER_ID, 15, 0)) == DTOR) {
		assert_int_equal(fld_get(in, FLD(0x4, 15, 0)), 1); /* a read */
		assert_int_equal(outlen, 16 + 64);
		fld_set(out, FLD(16 + 0x14, 31, 0), rig.poll);
	}
	if (opcode == PRM_OP_SET_DRIVER_VERSION) {
		assert_int_equal(inlen, 16 + 64);
		memcpy(rig.version, (const uint8_t *)in + 16, 64);
	}
	if (opcode == PRM_OP_ACCESS_REG)
		ret = step_run((uint32_t)fld_get(in, FLD(REGISTER_ID, 15, 0)));
	else
		ret = step_run(opcode);
	if (is_answered)
		*is_answered = ret != ETIMEDOUT;
	return ret;
}

int mlx5_vfio_pages_give_for(struct vfio_pages *pages, unsigned int step)
{
	assert_ptr_equal(pages, &rig.pages);
	return step_run(step);
}

int mlx5_vfio_pages_reclaim(struct vfio_pages *pages)
{
	assert_ptr_equal(pages, &rig.pages);
	return step_run(PRM_OP_MANAGE_PAGES);
}

static int rig_up(void **state)
{
	(void)state;
	memset(&rig, 0, sizeof(rig));
	rig.pages.cmdq = &rig.cmdq;
	rig.has_version = true;
	return 0;
}

static const uint32_t all[] = {
	PRM_OP_ENABLE_HCA,
	PRM_OP_QUERY_ISSI,
	PRM_OP_SET_ISSI,
	BOOT,
	ENDIANNESS,
	DTOR,
	PRM_OP_QUERY_HCA_CAP,
	PRM_OP_SET_HCA_CAP,
	INIT,
	PRM_OP_INIT_HCA,
	PRM_OP_SET_DRIVER_VERSION,
	PAOS,
};

static void the_start_has_an_order(void **state)
{
	(void)state;
	assert_int_equal(mlx5_vfio_start(&rig.pages, true), 0);
	assert_int_equal(rig.count, ARRAY_SIZE(all));
	for (unsigned int i = 0; i < rig.count; i++)
		assert_int_equal(rig.steps[i], all[i]);
}

/* What a virtual function may not do, or need not, ends no start. */
static bool is_optional(uint32_t step)
{
	return step == ENDIANNESS || step == DTOR || step == PRM_OP_SET_DRIVER_VERSION;
}

static void a_refused_step_ends_the_start(void **state)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(all); i++) {
		const bool goes_on = is_optional(all[i]);

		rig_up(state);
		rig.fails = i + 1;
		assert_int_equal(mlx5_vfio_start(&rig.pages, true), goes_on ? 0 : EINVAL);
		assert_int_equal(rig.count, goes_on ? ARRAY_SIZE(all) : i + 1);
	}
}

static void silence_ends_the_start(void **state)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(all); i++) {
		rig_up(state);
		rig.fails = i + 1;
		rig.is_silent = true;
		assert_int_equal(mlx5_vfio_start(&rig.pages, true), ETIMEDOUT);
		assert_int_equal(rig.count, i + 1);
	}
}

static void the_driver_has_a_version_where_it_is_asked_for(void **state)
{
	(void)state;
	assert_int_equal(mlx5_vfio_start(&rig.pages, false), 0);
	assert_int_equal(strncmp(rig.version, "Linux,rdmakit-vfio,", 19), 0);
	rig_up(state);
	rig.has_version = false;
	assert_int_equal(mlx5_vfio_start(&rig.pages, false), 0);
	assert_int_equal(rig.count, ARRAY_SIZE(all) - 2);
	assert_string_equal(rig.version, "");
}

static void the_health_limit_is_five_intervals(void **state)
{
	static const struct {
		uint32_t poll, ms;
	} cases[] = {
		{ 0, 7 },
		{ 2000, 10000 },
		{ 1u << 29 | 3, 15000 },
		{ 1, 1000 },
		{ 2u << 29 | 1, 60000 },
		{ 3u << 29 | 0xfffff, 60000 },
		{ 4u << 29 | 1, 7 },
		{ 7u << 29 | 0xfffff, 7 },
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(cases); i++) {
		rig_up(state);
		rig.cmdq.health_ms = 7;
		rig.poll = cases[i].poll;
		assert_int_equal(mlx5_vfio_start(&rig.pages, false), 0);
		assert_int_equal(rig.cmdq.health_ms, cases[i].ms);
	}
}

static void a_stop_that_fails_is_left_to_the_reset(void **state)
{
	static const uint32_t stop[] = { PRM_OP_TEARDOWN_HCA, PRM_OP_MANAGE_PAGES,
					 PRM_OP_DISABLE_HCA };

	for (unsigned int fails = 0; fails <= ARRAY_SIZE(stop); fails++) {
		rig_up(state);
		rig.fails = fails;
		mlx5_vfio_stop(&rig.pages);
		assert_int_equal(rig.count, fails ? fails : ARRAY_SIZE(stop));
		for (unsigned int i = 0; i < rig.count; i++)
			assert_int_equal(rig.steps[i], stop[i]);
	}
}

#define T(test) cmocka_unit_test_setup(test, rig_up)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(the_start_has_an_order),
		T(a_refused_step_ends_the_start),
		T(silence_ends_the_start),
		T(the_driver_has_a_version_where_it_is_asked_for),
		T(the_health_limit_is_five_intervals),
		T(a_stop_that_fails_is_left_to_the_reset),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

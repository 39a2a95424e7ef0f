/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * reserved_qpn_test.c - the pool of QP numbers that the device reserves by ranges, here of four
 * numbers. Functions of the test stand for the device.
 *
 * Covers: providers/mlx5/qp/reserved_qpn.c
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "prm/mlx5/cmd.h"
#include "prm/mlx5/general_obj.h"
#include "providers/mlx5/context.h"
#include "providers/mlx5/devx_cmd.h"
#include "providers/mlx5/hca_caps.h"
#include "util/bits.h"

enum { LOG_SIZE = 2, SIZE = 1 << LOG_SIZE, FIRST = 0x4000, APART = 0x100 };

static struct {
	struct verbs_device device;
	struct mlx5_context *ctx;
	struct mlx5_hca_caps caps;
	uint32_t made, ended; /* ranges */
	uint32_t last_ended;
	int error;
} it;

int __wrap_mlx5_hca_caps_get_with(struct mlx5_context *ctx, enum prm_cap page,
				  const struct mlx5_hca_caps **caps);
int __wrap_mlx5_devx_object_create(struct mlx5_context *ctx, const void *in, size_t in_len,
				   struct devx_object *object);
int __wrap_mlx5_devx_object_destroy(struct mlx5_context *ctx, const struct devx_object *object);

int __wrap_mlx5_hca_caps_get_with(struct mlx5_context *ctx, enum prm_cap page,
				  const struct mlx5_hca_caps **caps)
{
	assert_ptr_equal(ctx, it.ctx);
	assert_int_equal(page, PRM_CAP_GENERAL_2);
	*caps = &it.caps;
	return 0;
}

int __wrap_mlx5_devx_object_create(struct mlx5_context *ctx, const void *in, size_t in_len,
				   struct devx_object *object)
{
	assert_ptr_equal(ctx, it.ctx);
	assert_true(in_len >= PRM_GENERAL_OBJ_HDR_SIZE);
	assert_int_equal(fld_get((const uint8_t *)in, GENERAL_OBJ_IN_OBJ_TYPE),
			 PRM_OBJ_TYPE_RESERVED_QPN);
	assert_int_equal(fld_get((const uint8_t *)in, GENERAL_OBJ_IN_LOG_OBJ_RANGE), LOG_SIZE);
	if (it.error)
		return it.error;
	*object = (struct devx_object){ .id = FIRST + APART * it.made++ };
	return 0;
}

int __wrap_mlx5_devx_object_destroy(struct mlx5_context *ctx, const struct devx_object *object)
{
	assert_ptr_equal(ctx, it.ctx);
	it.last_ended = object->id;
	it.ended++;
	return 0;
}

static int pool_begin(void **state)
{
	(void)state;
	memset(&it, 0, sizeof(it));
	it.ctx = calloc(1, sizeof(*it.ctx));
	assert_non_null(it.ctx);
	it.ctx->vctx.context.device = &it.device.device;
	it.caps = (struct mlx5_hca_caps){ .reserves_qpns = true, .log_reserved_qpns = LOG_SIZE };
	mlx5_qpn_pool_init(&it.ctx->qpns);
	return 0;
}

static int pool_end(void **state)
{
	(void)state;
	mlx5_qpn_pool_destroy(it.ctx);
	assert_int_equal(it.ended, it.made);
	free(it.ctx);
	return 0;
}

static uint32_t taken(void)
{
	uint32_t qpn = 0;

	assert_int_equal(mlx5_qpn_reserve(it.ctx, &qpn), 0);
	return qpn;
}

static void take_ranges(uint32_t ranges)
{
	for (uint32_t i = 0; i < ranges * SIZE; i++)
		assert_int_equal(taken(), FIRST + i / SIZE * APART + i % SIZE);
	assert_int_equal(it.made, ranges);
}

/* The device's ranges would be used up by a program that keeps one number of each. */
static void numbers_of_an_older_range_are_given_again(void **state)
{
	static const uint32_t back[] = { FIRST + 1, FIRST + APART + 2, FIRST + 3 };
	uint32_t got = 0;

	(void)state;
	take_ranges(3);
	for (size_t i = 0; i < ARRAY_SIZE(back); i++)
		assert_int_equal(mlx5_qpn_release(it.ctx, back[i]), 0);
	for (size_t i = 0; i < ARRAY_SIZE(back); i++) {
		const uint32_t qpn = taken();

		for (size_t k = 0; k < ARRAY_SIZE(back); k++)
			got |= (uint32_t)(qpn == back[k]) << k;
	}
	assert_int_equal(got, (1 << ARRAY_SIZE(back)) - 1);
	assert_int_equal(it.made, 3);
	assert_int_equal(taken(), FIRST + 3 * APART);
}

static void a_released_number_comes_last(void **state)
{
	(void)state;
	assert_int_equal(taken(), FIRST);
	assert_int_equal(taken(), FIRST + 1);
	assert_int_equal(mlx5_qpn_release(it.ctx, FIRST), 0);
	assert_int_equal(taken(), FIRST + 2);
	assert_int_equal(taken(), FIRST + 3);
	assert_int_equal(taken(), FIRST);
	assert_int_equal(it.made, 1);
}

static void an_unused_range_ends_unless_it_is_the_only_one(void **state)
{
	(void)state;
	take_ranges(2);
	for (uint32_t i = 0; i < SIZE; i++)
		assert_int_equal(mlx5_qpn_release(it.ctx, FIRST + i), 0);
	assert_int_equal(it.ended, 0);
	for (uint32_t i = 0; i < SIZE; i++)
		assert_int_equal(mlx5_qpn_release(it.ctx, FIRST + APART + i), 0);
	assert_int_equal(it.ended, 1);
	assert_int_equal(it.last_ended, FIRST + APART);
	assert_int_equal(taken() & ~(SIZE - 1u), FIRST);
	assert_int_equal(it.made, 2);
}

static void what_was_not_given_is_not_taken_back(void **state)
{
	(void)state;
	assert_int_equal(mlx5_qpn_release(it.ctx, FIRST), EINVAL);
	assert_int_equal(taken(), FIRST);
	assert_int_equal(mlx5_qpn_release(it.ctx, FIRST + 1), EINVAL);
	assert_int_equal(mlx5_qpn_release(it.ctx, FIRST + SIZE), EINVAL);
	assert_int_equal(mlx5_qpn_release(it.ctx, FIRST - 1), EINVAL);
	assert_int_equal(mlx5_qpn_release(it.ctx, FIRST), 0);
	assert_int_equal(mlx5_qpn_release(it.ctx, FIRST), EINVAL);
}

static void a_refusal_leaves_the_pool_as_it_was(void **state)
{
	uint32_t qpn = 7;

	(void)state;
	take_ranges(1);
	it.error = EDOM;
	assert_int_equal(mlx5_qpn_reserve(it.ctx, &qpn), EDOM);
	it.error = 0;
	it.caps.reserves_qpns = false;
	assert_int_equal(mlx5_qpn_reserve(it.ctx, &qpn), EOPNOTSUPP);
	assert_int_equal(qpn, 7);
	assert_int_equal(mlx5_qpn_release(it.ctx, FIRST + 2), 0);
	assert_int_equal(taken(), FIRST + 2);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, pool_begin, pool_end)
	const struct CMUnitTest tests[] = {
		CASE(numbers_of_an_older_range_are_given_again),
		CASE(a_released_number_comes_last),
		CASE(an_unused_range_ends_unless_it_is_the_only_one),
		CASE(what_was_not_given_is_not_taken_back),
		CASE(a_refusal_leaves_the_pool_as_it_was),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

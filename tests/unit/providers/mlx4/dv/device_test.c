/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * device_test.c - what mlx4dv_query_device() writes, the attributes of a context, and the device of
 * another provider, which has neither.
 */
#include "tests/unit/providers/mlx4/rig.h"

#include <errno.h>
#include <string.h>

#include "providers/mlx4/mlx4dv.h"

static struct rig *rig;

static int rig_begin(void **state)
{
	(void)state;
	rig = rig_new(NULL);
	((struct verbs_device *)rig->ctx->vctx.context.device)->driver = &verbs_provider_mlx4;
	return 0;
}

static int rig_end(void **state)
{
	(void)state;
	rig_free(rig);
	return 0;
}

static void a_query_writes_all_it_has(void **state)
{
	static const struct mlx4dv_context zeroed;
	struct mlx4dv_context attrs;

	(void)state;
	memset(&attrs, 0xee, sizeof(attrs));
	assert_int_equal(mlx4dv_query_device(&rig->ctx->vctx.context, &attrs), 0);
	assert_memory_equal(&attrs, &zeroed, sizeof(attrs));
}

static void the_range_of_wqs_is_stored(void **state)
{
	uint8_t log_size = 5;

	(void)state;
	pthread_mutex_init(&rig->ctx->wqs_lock, NULL);
	assert_int_equal(mlx4dv_set_context_attr(&rig->ctx->vctx.context,
						 MLX4DV_SET_CTX_ATTR_LOG_WQS_RANGE_SZ, &log_size),
			 0);
	assert_int_equal(rig->ctx->log_wqs_range, 5);
	assert_int_equal(pthread_mutex_trylock(&rig->ctx->wqs_lock), 0);
	pthread_mutex_unlock(&rig->ctx->wqs_lock);
	pthread_mutex_destroy(&rig->ctx->wqs_lock);
	assert_int_equal(mlx4dv_set_context_attr(&rig->ctx->vctx.context, 77, &log_size),
			 EOPNOTSUPP);
}

static void another_providers_device_is_refused(void **state)
{
	struct mlx4dv_context attrs, untouched;
	uint8_t log_size = 5;

	(void)state;
	((struct verbs_device *)rig->ctx->vctx.context.device)->driver = NULL;
	memset(&attrs, 0xee, sizeof(attrs));
	memcpy(&untouched, &attrs, sizeof(attrs));
	assert_int_not_equal(mlx4dv_query_device(&rig->ctx->vctx.context, &attrs), 0);
	assert_memory_equal(&attrs, &untouched, sizeof(attrs));
	assert_int_not_equal(mlx4dv_set_context_attr(&rig->ctx->vctx.context,
						     MLX4DV_SET_CTX_ATTR_LOG_WQS_RANGE_SZ,
						     &log_size),
			     0);
	assert_int_equal(rig->ctx->log_wqs_range, 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, rig_begin, rig_end)
	const struct CMUnitTest tests[] = {
		TEST(a_query_writes_all_it_has),
		TEST(the_range_of_wqs_is_stored),
		TEST(another_providers_device_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

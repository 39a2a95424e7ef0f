/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * flow_test.c - flows with counters: what the kernel learns of the points with the first flow and
 * with none after it, and which calls are refused. Functions of the test stand for the kernel's
 * commands.
 *
 * Covers: providers/mlx5/flow.c
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "providers/mlx5/context.h"
#include "providers/mlx5/flow.h"

static struct {
	int err;
	unsigned int flows, counters;
	bool has_data; /* for the last flow */
	struct mlx5_ib_flow_counters_desc points[4];
	uint32_t npoints;
} kernel;

static struct mlx5_context flows_context;
static struct ibv_qp qp = { .context = &flows_context.vctx.context };

int __wrap_verbs_cmd_create_flow(struct ibv_qp *of, const struct ibv_flow_attr *attr,
				 struct ibv_flow *flow, const struct verbs_udata *udata);
int __wrap_verbs_cmd_destroy_flow(struct ibv_flow *flow);
int __wrap_verbs_cmd_create_counters(struct ibv_context *context,
				     const struct ibv_counters_init_attr *attr,
				     struct verbs_counters *counters,
				     const struct verbs_udata *udata);
int __wrap_verbs_cmd_destroy_counters(struct verbs_counters *counters);
void *__wrap_realloc(void *memory, size_t size);
void *__real_realloc(void *memory, size_t size);

static bool has_no_memory;

void *__wrap_realloc(void *memory, size_t size)
{
	return has_no_memory ? NULL : __real_realloc(memory, size);
}

int __wrap_verbs_cmd_create_flow(struct ibv_qp *of, const struct ibv_flow_attr *attr,
				 struct ibv_flow *flow, const struct verbs_udata *udata)
{
	const struct mlx5_ib_create_flow *req = udata ? udata->req : NULL;
	const struct mlx5_ib_flow_counters_desc *points;

	(void)of;
	(void)attr;
	(void)flow;
	kernel.has_data = req;
	if (req) {
		assert_int_equal(req->ncounters_data, 1);
		kernel.npoints = req->data[0].ncounters;
		assert_true(kernel.npoints <= ARRAY_SIZE(kernel.points));
		points = req->data[0].counters_data;
		memcpy(kernel.points, points, kernel.npoints * sizeof(*points));
	}
	kernel.flows += !kernel.err;
	return kernel.err;
}

int __wrap_verbs_cmd_destroy_flow(struct ibv_flow *flow)
{
	(void)flow;
	kernel.flows -= !kernel.err;
	return kernel.err;
}

int __wrap_verbs_cmd_create_counters(struct ibv_context *context,
				     const struct ibv_counters_init_attr *attr,
				     struct verbs_counters *counters,
				     const struct verbs_udata *udata)
{
	(void)attr;
	(void)udata;
	counters->counters.context = context;
	kernel.counters += !kernel.err;
	return kernel.err;
}

int __wrap_verbs_cmd_destroy_counters(struct verbs_counters *counters)
{
	(void)counters;
	kernel.counters -= !kernel.err;
	return kernel.err;
}

/* A spec of uninteresting contents, whose size is no multiple of 8, followed by counters */
struct flow_of {
	struct ibv_flow_attr attr;
	uint8_t specs[2 * sizeof(struct ibv_flow_spec_counter_action) + 12];
};

static struct flow_of flow_with(struct ibv_counters *one, struct ibv_counters *two)
{
	struct ibv_counters *each[] = { one, two };
	struct ibv_flow_spec_counter_action spec = { .type = IBV_FLOW_SPEC_ACTION_COUNT,
						     .size = sizeof(spec) };
	struct ibv_flow_spec_action_tag tag = { .type = IBV_FLOW_SPEC_ACTION_TAG, .size = 12 };
	struct flow_of flow = { .attr = { .num_of_specs = 1 } };
	size_t at = 12;

	memcpy(flow.specs, &tag, offsetof(struct ibv_flow_spec_action_tag, tag_id));
	for (unsigned int i = 0; i < 2 && each[i]; i++, at += sizeof(spec)) {
		spec.counters = each[i];
		memcpy(flow.specs + at, &spec, sizeof(spec));
		flow.attr.num_of_specs++;
	}
	return flow;
}

static struct ibv_flow *flow_new(struct ibv_counters *one, struct ibv_counters *two)
{
	struct flow_of flow = flow_with(one, two);

	errno = 0;
	return mlx5_flow_create(&qp, &flow.attr);
}

static struct ibv_counters *counters_new(void)
{
	struct ibv_counters *counters = mlx5_counters_create(NULL, NULL);

	assert_non_null(counters);
	return counters;
}

static int point_attach(struct ibv_counters *counters, uint32_t index)
{
	struct ibv_counter_attach_attr attr = { .counter_desc = IBV_COUNTER_BYTES, .index = index };

	return mlx5_counters_attach(counters, &attr, NULL);
}

static int nothing_is_left(void **state)
{
	(void)state;
	assert_int_equal(kernel.flows, 0);
	assert_int_equal(kernel.counters, 0);
	memset(&kernel, 0, sizeof(kernel));
	return 0;
}

static void the_first_flow_brings_the_points(void **state)
{
	struct ibv_counters *counters = counters_new();
	struct ibv_flow *first, *second;

	(void)state;
	assert_int_equal(point_attach(counters, 3), 0);
	assert_int_equal(point_attach(counters, 1), 0);
	first = flow_new(counters, NULL);
	assert_non_null(first);
	assert_true(kernel.has_data);
	assert_int_equal(kernel.npoints, 2);
	assert_int_equal(kernel.points[0].index, 3);
	assert_int_equal(kernel.points[1].index, 1);
	assert_int_equal(kernel.points[1].description, IBV_COUNTER_BYTES);
	assert_int_equal(point_attach(counters, 2), EBUSY);
	second = flow_new(counters, NULL);
	assert_non_null(second);
	assert_false(kernel.has_data);
	assert_int_equal(mlx5_flow_destroy(first), 0);
	assert_int_equal(mlx5_flow_destroy(second), 0);
	assert_int_equal(mlx5_counters_destroy(counters), 0);
}

static void a_flow_that_fails_fixes_nothing(void **state)
{
	struct ibv_counters *counters = counters_new();
	struct ibv_flow *flow;

	(void)state;
	assert_int_equal(point_attach(counters, 0), 0);
	kernel.err = ENOSPC;
	assert_null(flow_new(counters, NULL));
	assert_int_equal(errno, ENOSPC);
	kernel.err = 0;
	assert_int_equal(point_attach(counters, 1), 0);
	flow = flow_new(counters, NULL);
	assert_non_null(flow);
	assert_int_equal(kernel.npoints, 2);
	kernel.err = EBUSY;
	assert_int_equal(mlx5_flow_destroy(flow), EBUSY);
	assert_int_equal(mlx5_counters_destroy(counters), EBUSY);
	kernel.err = 0;
	assert_int_equal(mlx5_flow_destroy(flow), 0);
	assert_int_equal(mlx5_counters_destroy(counters), 0);
}

static void a_flow_has_one_set_of_counters(void **state)
{
	struct ibv_counters *one = counters_new(), *two = counters_new();

	(void)state;
	assert_null(flow_new(one, two));
	assert_int_equal(errno, EINVAL);
	assert_null(flow_new(one, one));
	assert_int_equal(errno, EINVAL);
	mlx5_counters_destroy(one);
	mlx5_counters_destroy(two);
}

/* The kernel itself refuses counters without counting points, so the library need not. */
static void flows_without_points_bring_none(void **state)
{
	struct ibv_counters *counters = counters_new();
	struct ibv_flow *flow = flow_new(NULL, NULL);

	(void)state;
	assert_non_null(flow);
	assert_false(kernel.has_data);
	mlx5_flow_destroy(flow);
	flow = flow_new(counters, NULL);
	assert_non_null(flow);
	assert_false(kernel.has_data);
	mlx5_flow_destroy(flow);
	assert_int_equal(point_attach(counters, 0), 0);
	mlx5_counters_destroy(counters);
}

static void points_are_refused(void **state)
{
	struct ibv_counter_attach_attr attr = { .counter_desc = IBV_COUNTER_BYTES, .comp_mask = 1 };
	struct ibv_counters *counters = counters_new();
	struct ibv_flow flow = { 0 };

	(void)state;
	assert_int_equal(mlx5_counters_attach(counters, &attr, NULL), EOPNOTSUPP);
	attr.comp_mask = 0;
	assert_int_equal(mlx5_counters_attach(counters, &attr, &flow), ENOTSUP);
	has_no_memory = true;
	assert_int_equal(mlx5_counters_attach(counters, &attr, NULL), ENOMEM);
	has_no_memory = false;
	mlx5_counters_destroy(counters);
	kernel.err = ENOMEM;
	errno = 0;
	assert_null(mlx5_counters_create(NULL, NULL));
	assert_int_equal(errno, ENOMEM);
	kernel.err = 0;
}

#define FLOW_TEST(fn) cmocka_unit_test_setup_teardown(fn, NULL, nothing_is_left)

int main(void)
{
	const struct CMUnitTest tests[] = {
		FLOW_TEST(the_first_flow_brings_the_points),
		FLOW_TEST(a_flow_that_fails_fixes_nothing),
		FLOW_TEST(a_flow_has_one_set_of_counters),
		FLOW_TEST(flows_without_points_bring_none),
		FLOW_TEST(points_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

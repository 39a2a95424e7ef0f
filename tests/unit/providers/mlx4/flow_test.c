/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * flow_test.c - the memory of a flow: used again after its end, and after a refusal of the kernel,
 * and kept while the kernel keeps the flow.
 */
#include "rig.h"

#include <errno.h>

#include "providers/mlx4/flow.h"

static struct rig *rig;
static int create_err, destroy_err;

int verbs_cmd_create_flow(struct ibv_qp *qp, const struct ibv_flow_attr *attr,
			  struct ibv_flow *flow, const struct verbs_udata *udata)
{
	(void)attr, (void)udata;
	assert_ptr_equal(qp, &rig->qp->vqp.qp);
	assert_ptr_equal(flow->context, qp->context);
	return create_err;
}

int verbs_cmd_destroy_flow(struct ibv_flow *flow)
{
	assert_ptr_equal(flow->context, &rig->ctx->vctx.context);
	return destroy_err;
}

static int flow_begin(void **state)
{
	(void)state;
	rig = rig_new(NULL);
	create_err = destroy_err = 0;
	return 0;
}

static int flow_end(void **state)
{
	(void)state;
	rig_free(rig);
	return 0;
}

static struct ibv_flow *flow_new(void)
{
	struct ibv_flow_attr attr = { 0 };

	return mlx4_flow_create(&rig->qp->vqp.qp, &attr);
}

static void a_destroyed_flow_is_memory_for_the_next(void **state)
{
	struct ibv_flow *flow = flow_new(), *next;

	(void)state;
	assert_non_null(flow);
	assert_int_equal(mlx4_flow_destroy(flow), 0);
	next = flow_new();
	if (cells_are_kept())
		assert_ptr_equal(next, flow);
	assert_int_equal(mlx4_flow_destroy(next), 0);
}

static void a_refused_flow_is_none(void **state)
{
	struct ibv_flow *flow = flow_new();

	(void)state;
	assert_int_equal(mlx4_flow_destroy(flow), 0);
	create_err = EPERM;
	for (int i = 0; i < 2; i++) {
		errno = 0;
		assert_null(flow_new());
		assert_int_equal(errno, EPERM);
	}
	create_err = 0;
	if (cells_are_kept())
		assert_ptr_equal(flow_new(), flow);
	else
		flow = flow_new();
	assert_int_equal(mlx4_flow_destroy(flow), 0);
}

static void a_flow_that_the_kernel_keeps_is_kept(void **state)
{
	struct ibv_flow *flow = flow_new(), *other;

	(void)state;
	destroy_err = EBUSY;
	assert_int_equal(mlx4_flow_destroy(flow), EBUSY);
	destroy_err = 0;
	other = flow_new();
	assert_ptr_not_equal(other, flow);
	assert_int_equal(mlx4_flow_destroy(other), 0);
	assert_int_equal(mlx4_flow_destroy(flow), 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, flow_begin, flow_end)
	const struct CMUnitTest tests[] = {
		TEST(a_destroyed_flow_is_memory_for_the_next),
		TEST(a_refused_flow_is_none),
		TEST(a_flow_that_the_kernel_keeps_is_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

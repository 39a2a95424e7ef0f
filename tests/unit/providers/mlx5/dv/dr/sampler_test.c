/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sampler_test.c - samplers: what they refuse, the fields of the object, who counts as a user, and
 * what is left when a command fails. The table of the copies and the adapter are the test's.
 *
 * Covers: providers/mlx5/dv/dr/sampler.c
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
#include "providers/mlx5/dv/devx.h"
#include "providers/mlx5/dv/dr/dr.h"
#include "providers/mlx5/dv/dr/sampler.h"
#include "providers/mlx5/dv/dr/soft.h"

enum { LEVEL = 0x7e, RATIO = 4, NEXT = 0x48, COPIES = 0x49, OBJECT = 0x11 };
enum { ACTIONS = 4 };

static const uint64_t address = UINT64_C(0x2400000040);

static struct {
	struct ibv_device devices[2];
	struct ibv_context contexts[2];
	struct mlx5dv_dr_domain domain;
	struct dr_soft soft;
	struct dr_soft_table soft_next;
	struct mlx5dv_dr_table next;
	struct ibv_qp qp;
	struct mlx5dv_devx_obj tir, counter, obj;
	struct mlx5dv_dr_action actions[ACTIONS]; /* a counter, a QP, a TIR, a drop */
	struct mlx5dv_dr_action *list[ACTIONS];
	struct mlx5dv_dr_flow_sampler_attr attr;
	unsigned int step, fail_at; /* fail_at: 0 fails none */
	bool has_table, has_obj;
	int destroy_fails;
	struct dr_forward_attr forward;
	uint8_t object[PRM_SAMPLER_SIZE];
} it;

static bool step_fails(void)
{
	return ++it.step == it.fail_at;
}

int mlx5_dr_forward_create(struct ibv_context *context, const struct dr_forward_attr *attr,
			   struct dr_forward *forward)
{
	assert_ptr_equal(context, &it.contexts[0]);
	if (step_fails())
		return EREMOTEIO;
	it.forward = *attr;
	forward->number = COPIES;
	it.has_table = true;
	return 0;
}

int mlx5_dr_forward_destroy(struct dr_forward *forward)
{
	assert_int_equal(forward->number, COPIES);
	assert_false(it.has_obj);
	it.has_table = false;
	return 0;
}

struct mlx5dv_devx_obj *mlx5dv_devx_obj_create(struct ibv_context *context, const void *in,
					       size_t in_len, void *out, size_t out_len)
{
	(void)out, (void)out_len;
	assert_ptr_equal(context, &it.contexts[0]);
	assert_int_equal(fld_get(in, CMD_IN_OPCODE), PRM_OP_CREATE_GENERAL_OBJECT);
	assert_int_equal(fld_get(in, GENERAL_OBJ_IN_OBJ_TYPE), PRM_OBJ_TYPE_SAMPLER);
	assert_int_equal(in_len, PRM_GENERAL_OBJ_HDR_SIZE + PRM_SAMPLER_SIZE);
	if (step_fails()) {
		errno = EREMOTEIO;
		return NULL;
	}
	memcpy(it.object, fld_at(in, GENERAL_OBJ_OBJECT), sizeof(it.object));
	it.has_obj = true;
	return &it.obj;
}

int mlx5dv_devx_obj_query(struct mlx5dv_devx_obj *obj, const void *in, size_t in_len, void *out,
			  size_t out_len)
{
	(void)in_len;
	assert_ptr_equal(obj, &it.obj);
	assert_int_equal(fld_get(in, CMD_IN_OPCODE), PRM_OP_QUERY_GENERAL_OBJECT);
	assert_int_equal(fld_get(in, GENERAL_OBJ_IN_OBJ_TYPE), PRM_OBJ_TYPE_SAMPLER);
	assert_int_equal(fld_get(in, GENERAL_OBJ_IN_OBJ_ID), OBJECT);
	assert_int_equal(out_len, PRM_GENERAL_OBJ_HDR_SIZE + PRM_SAMPLER_SIZE);
	if (step_fails())
		return EREMOTEIO;
	fld_set(fld_at(out, GENERAL_OBJ_OBJECT), SAMPLER_ICM_ADDRESS_RX, address);
	return 0;
}

int mlx5dv_devx_obj_destroy(struct mlx5dv_devx_obj *obj)
{
	assert_ptr_equal(obj, &it.obj);
	assert_true(it.has_obj);
	it.has_obj = it.destroy_fails;
	return it.destroy_fails;
}

static int sampler_begin(void **state)
{
	(void)state;
	memset(&it, 0, sizeof(it));
	for (int i = 0; i < 2; i++)
		it.contexts[i].device = &it.devices[i];
	it.domain.context = &it.contexts[0];
	it.domain.type = MLX5DV_DR_DOMAIN_TYPE_NIC_RX;
	it.soft.level = LEVEL;
	it.soft_next = (struct dr_soft_table){ .soft = &it.soft, .number = NEXT };
	it.next.domain = &it.domain;
	it.next.soft = &it.soft_next;
	it.obj.id = OBJECT;
	it.qp.context = it.tir.context = it.counter.context = &it.contexts[0];
	it.actions[0] =
		(struct mlx5dv_dr_action){ .kind = DR_ACTION_COUNTER, .counter.obj = &it.counter };
	it.actions[1] = (struct mlx5dv_dr_action){ .kind = DR_ACTION_QP, .qp = &it.qp };
	it.actions[2] = (struct mlx5dv_dr_action){ .kind = DR_ACTION_TIR, .tir = &it.tir };
	it.actions[3] = (struct mlx5dv_dr_action){ .kind = DR_ACTION_DROP };
	for (int i = 0; i < ACTIONS; i++)
		it.list[i] = &it.actions[i];
	it.attr = (struct mlx5dv_dr_flow_sampler_attr){ .sample_ratio = RATIO,
							.default_next_table = &it.next,
							.num_sample_actions = 2,
							.sample_actions = it.list };
	return 0;
}

static void expect_users(unsigned int users)
{
	assert_int_equal(it.domain.users, users);
	assert_int_equal(it.next.users, users);
	assert_int_equal(it.actions[0].users, users);
	assert_int_equal(it.actions[1].users, users);
	assert_int_equal(it.has_table, users);
	assert_int_equal(it.has_obj, users);
}

static void sampler_is_refused(int err)
{
	errno = 0;
	assert_null(mlx5dv_dr_action_create_flow_sampler(&it.attr));
	assert_int_equal(errno, err);
	expect_users(0);
}

static void a_sampler_copies_to_a_last_table(void **state)
{
	struct mlx5dv_dr_action *action = mlx5dv_dr_action_create_flow_sampler(&it.attr);

	(void)state;
	assert_non_null(action);
	assert_int_equal(action->kind, DR_ACTION_SAMPLER);
	assert_true(action->sampler->address == address);
	assert_int_equal(it.forward.type, PRM_FLOW_NIC_RX);
	assert_int_equal(it.forward.level, LEVEL);
	assert_int_equal(it.forward.count, 1);
	assert_ptr_equal(it.forward.counter, &it.actions[0]);
	assert_true(it.forward.is_last);
	assert_int_equal(fld_get(it.object, SAMPLER_LEVEL), LEVEL);
	assert_int_equal(fld_get(it.object, SAMPLER_IGNORE_FLOW_LEVEL), 1);
	assert_int_equal(fld_get(it.object, SAMPLER_SAMPLE_RATIO), RATIO);
	assert_int_equal(fld_get(it.object, SAMPLER_SAMPLE_TABLE_ID), COPIES);
	assert_int_equal(fld_get(it.object, SAMPLER_DEFAULT_TABLE_ID), NEXT);
	assert_int_equal(fld_get(it.object, SAMPLER_TABLE_TYPE), PRM_FLOW_NIC_RX);
	expect_users(1);
	it.destroy_fails = EBUSY;
	assert_int_equal(mlx5_dr_sampler_destroy(action), EBUSY);
	expect_users(1);
	it.destroy_fails = 0;
	assert_int_equal(mlx5_dr_sampler_destroy(action), 0);
	free(action);
	expect_users(0);
}

static void a_sampler_needs_no_counter(void **state)
{
	struct mlx5dv_dr_action *action;

	(void)state;
	it.attr.sample_actions = &it.list[1];
	it.attr.num_sample_actions = 1;
	action = mlx5dv_dr_action_create_flow_sampler(&it.attr);
	assert_non_null(action);
	assert_null(it.forward.counter);
	assert_int_equal(it.actions[0].users, 0);
	assert_int_equal(mlx5_dr_sampler_destroy(action), 0);
	free(action);
	expect_users(0);
}

static void other_actions_for_copies_are_refused(void **state)
{
	(void)state;
	it.attr.num_sample_actions = 0;
	sampler_is_refused(EINVAL);
	it.attr.num_sample_actions = 1;
	sampler_is_refused(EINVAL); /* a counter alone */
	it.attr.num_sample_actions = 3;
	sampler_is_refused(EINVAL); /* two destinations */
	it.list[0] = &it.actions[3];
	it.attr.num_sample_actions = 2;
	sampler_is_refused(EOPNOTSUPP); /* a drop */
	it.list[0] = &it.actions[0];
	it.qp.context = &it.contexts[1];
	sampler_is_refused(EINVAL);
}

static void wrong_attributes_are_refused(void **state)
{
	(void)state;
	it.attr.sample_ratio = 0;
	sampler_is_refused(EINVAL);
	it.attr.sample_ratio = RATIO;
	it.attr.action = 1;
	sampler_is_refused(EOPNOTSUPP);
	it.attr.action = 0;
	it.domain.type = MLX5DV_DR_DOMAIN_TYPE_NIC_TX;
	sampler_is_refused(EOPNOTSUPP);
	it.domain.type = MLX5DV_DR_DOMAIN_TYPE_NIC_RX;
	it.next.soft = NULL;
	sampler_is_refused(EINVAL);
}

static void a_failed_command_leaves_nothing(void **state)
{
	(void)state;
	for (it.fail_at = 1; it.fail_at <= 3; it.fail_at++) {
		it.step = 0;
		sampler_is_refused(EREMOTEIO);
		assert_int_equal(it.step, it.fail_at);
	}
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup(name, sampler_begin)
	const struct CMUnitTest tests[] = {
		CASE(a_sampler_copies_to_a_last_table),     CASE(a_sampler_needs_no_counter),
		CASE(other_actions_for_copies_are_refused), CASE(wrong_attributes_are_refused),
		CASE(a_failed_command_leaves_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

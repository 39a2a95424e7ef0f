/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * meter_test.c - flow meters: the fields of the object, its modification, counts of users, and what
 * a failed command leaves. The test stands in for the adapter.
 *
 * Covers: providers/mlx5/dv/dr/meter.c
 */
#include <endian.h>
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
#include "providers/mlx5/dv/dr/meter.h"

enum { NEXT = 0x48, OBJECT = 0x11, REG = 5, IN_SIZE = PRM_GENERAL_OBJ_HDR_SIZE + PRM_METER_SIZE };

static const uint64_t address_rx = UINT64_C(0x2500000040), address_tx = UINT64_C(0x2500000080);

static struct {
	struct ibv_context context;
	struct mlx5dv_dr_domain domain;
	struct dr_soft_table soft;
	struct mlx5dv_dr_table next;
	struct mlx5dv_devx_obj obj;
	uint8_t parameters[64];
	struct mlx5dv_dr_flow_meter_attr attr;
	unsigned int step, fail_at; /* fail_at: 0 fails none */
	bool has_obj;
	int destroy_fails, modify_fails;
	uint8_t in[IN_SIZE];
} it;

static bool step_fails(void)
{
	return ++it.step == it.fail_at;
}

static void command_is(const void *in, uint16_t opcode, uint32_t id)
{
	assert_int_equal(fld_get(in, CMD_IN_OPCODE), opcode);
	assert_int_equal(fld_get(in, GENERAL_OBJ_IN_OBJ_TYPE), PRM_OBJ_TYPE_FLOW_METER);
	assert_int_equal(fld_get(in, GENERAL_OBJ_IN_OBJ_ID), id);
}

struct mlx5dv_devx_obj *mlx5dv_devx_obj_create(struct ibv_context *context, const void *in,
					       size_t in_len, void *out, size_t out_len)
{
	(void)out, (void)out_len;
	assert_ptr_equal(context, &it.context);
	command_is(in, PRM_OP_CREATE_GENERAL_OBJECT, 0);
	assert_int_equal(in_len, IN_SIZE);
	if (step_fails()) {
		errno = EREMOTEIO;
		return NULL;
	}
	memcpy(it.in, in, IN_SIZE);
	it.has_obj = true;
	return &it.obj;
}

int mlx5dv_devx_obj_query(struct mlx5dv_devx_obj *obj, const void *in, size_t in_len, void *out,
			  size_t out_len)
{
	(void)in_len;
	assert_ptr_equal(obj, &it.obj);
	command_is(in, PRM_OP_QUERY_GENERAL_OBJECT, OBJECT);
	assert_int_equal(out_len, IN_SIZE);
	if (step_fails())
		return EREMOTEIO;
	fld_set(fld_at(out, GENERAL_OBJ_OBJECT), METER_ICM_ADDRESS_RX, address_rx);
	fld_set(fld_at(out, GENERAL_OBJ_OBJECT), METER_ICM_ADDRESS_TX, address_tx);
	return 0;
}

int mlx5dv_devx_obj_modify(struct mlx5dv_devx_obj *obj, const void *in, size_t in_len, void *out,
			   size_t out_len)
{
	(void)out, (void)out_len;
	assert_ptr_equal(obj, &it.obj);
	command_is(in, PRM_OP_MODIFY_GENERAL_OBJECT, OBJECT);
	assert_int_equal(in_len, IN_SIZE);
	memcpy(it.in, in, IN_SIZE);
	return it.modify_fails;
}

int mlx5dv_devx_obj_destroy(struct mlx5dv_devx_obj *obj)
{
	assert_ptr_equal(obj, &it.obj);
	assert_true(it.has_obj);
	it.has_obj = it.destroy_fails;
	return it.destroy_fails;
}

static int meter_begin(void **state)
{
	(void)state;
	memset(&it, 0, sizeof(it));
	it.domain.context = &it.context;
	it.domain.type = MLX5DV_DR_DOMAIN_TYPE_NIC_RX;
	it.soft.number = NEXT;
	it.next.domain = &it.domain;
	it.next.soft = &it.soft;
	it.obj.id = OBJECT;
	for (size_t i = 0; i < sizeof(it.parameters); i++)
		it.parameters[i] = (uint8_t)(i + 1);
	it.attr = (struct mlx5dv_dr_flow_meter_attr){ .next_table = &it.next,
						      .active = 2,
						      .reg_c_index = REG,
						      .flow_meter_parameter_sz = 32,
						      .flow_meter_parameter = it.parameters };
	return 0;
}

static void expect_users(unsigned int users)
{
	assert_int_equal(it.domain.users, users);
	assert_int_equal(it.next.users, users);
	assert_int_equal(it.has_obj, users);
}

static void meter_is_refused(int err)
{
	errno = 0;
	assert_null(mlx5dv_dr_action_create_flow_meter(&it.attr));
	assert_int_equal(errno, err);
	expect_users(0);
}

static struct mlx5dv_dr_action *meter_make(void)
{
	struct mlx5dv_dr_action *action = mlx5dv_dr_action_create_flow_meter(&it.attr);

	assert_non_null(action);
	expect_users(1);
	return action;
}

static void meter_end(struct mlx5dv_dr_action *action)
{
	assert_int_equal(mlx5_dr_meter_destroy(action), 0);
	free(action);
	expect_users(0);
}

static void a_meter_forwards_to_its_table(void **state)
{
	const uint8_t *object = fld_at(it.in, GENERAL_OBJ_OBJECT);
	struct mlx5dv_dr_action *action = meter_make();

	(void)state;
	assert_int_equal(action->kind, DR_ACTION_METER);
	assert_true(action->meter->address == address_rx);
	assert_int_equal(fld_get(object, METER_ACTIVE), 1);
	assert_int_equal(fld_get(object, METER_RETURN_REG_ID), REG);
	assert_int_equal(fld_get(object, METER_TABLE_TYPE), PRM_FLOW_NIC_RX);
	assert_int_equal(fld_get(object, METER_DESTINATION_TABLE_ID), NEXT);
	assert_memory_equal(fld_at(object, METER_PARAMETERS), it.parameters, 32);
	it.destroy_fails = EBUSY;
	assert_int_equal(mlx5_dr_meter_destroy(action), EBUSY);
	expect_users(1);
	it.destroy_fails = 0;
	meter_end(action);
}

static void a_meter_of_sent_frames_is_elsewhere(void **state)
{
	struct mlx5dv_dr_action *action;

	(void)state;
	it.domain.type = MLX5DV_DR_DOMAIN_TYPE_NIC_TX;
	action = meter_make();
	assert_true(action->meter->address == address_tx);
	assert_int_equal(fld_get(fld_at(it.in, GENERAL_OBJ_OBJECT), METER_TABLE_TYPE),
			 PRM_FLOW_NIC_TX);
	meter_end(action);
}

static void a_modification_names_its_fields(void **state)
{
	const uint8_t *object = fld_at(it.in, GENERAL_OBJ_OBJECT);
	const uint64_t select = PRM_METER_MODIFY_ACTIVE | PRM_METER_MODIFY_CIR;
	struct mlx5dv_dr_action other = { .kind = DR_ACTION_DROP }, *action = meter_make();

	(void)state;
	it.attr.active = 0;
	it.attr.flow_meter_parameter_sz = 16;
	assert_int_equal(mlx5dv_dr_action_modify_flow_meter(action, &it.attr, htobe64(select)), 0);
	assert_true(fld_get(object, METER_MODIFY_FIELD_SELECT) == select);
	assert_int_equal(fld_get(object, METER_ACTIVE), 0);
	assert_memory_equal(fld_at(object, METER_PARAMETERS), it.parameters, 16);
	it.modify_fails = EREMOTEIO;
	assert_int_equal(mlx5dv_dr_action_modify_flow_meter(action, &it.attr, 0), EREMOTEIO);
	it.attr.flow_meter_parameter_sz = 33;
	assert_int_equal(mlx5dv_dr_action_modify_flow_meter(action, &it.attr, 0), EINVAL);
	assert_int_equal(mlx5dv_dr_action_modify_flow_meter(&other, &it.attr, 0), EINVAL);
	meter_end(action);
}

static void wrong_attributes_are_refused(void **state)
{
	(void)state;
	it.attr.flow_meter_parameter_sz = 33;
	meter_is_refused(EINVAL);
	it.attr.flow_meter_parameter_sz = 32;
	it.attr.reg_c_index = 12;
	meter_is_refused(EINVAL);
	it.attr.reg_c_index = REG;
	it.next.soft = NULL;
	meter_is_refused(EINVAL);
}

static void a_failed_command_leaves_nothing(void **state)
{
	(void)state;
	for (it.fail_at = 1; it.fail_at <= 2; it.fail_at++) {
		it.step = 0;
		meter_is_refused(EREMOTEIO);
		assert_int_equal(it.step, it.fail_at);
	}
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup(name, meter_begin)
	const struct CMUnitTest tests[] = {
		CASE(a_meter_forwards_to_its_table),   CASE(a_meter_of_sent_frames_is_elsewhere),
		CASE(a_modification_names_its_fields), CASE(wrong_attributes_are_refused),
		CASE(a_failed_command_leaves_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

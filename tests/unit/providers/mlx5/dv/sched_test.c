/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sched_test.c - schedulers: which of the device's abilities each call needs, what is refused with
 * which errno, and the commands that the device gets.
 *
 * Functions of the test stand for the device: its abilities, and the commands on objects and QPs.
 *
 * Covers: providers/mlx5/dv/sched.c
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
#include "prm/mlx5/qpc.h"
#include "prm/mlx5/states.h"
#include "prm/mlx5/wq.h"
#include "providers/mlx5/devx_cmd.h"
#include "providers/mlx5/dv/dv.h"
#include "providers/mlx5/hca_caps.h"
#include "providers/mlx5/qp/qp.h"

static struct {
	struct verbs_device device;
	struct mlx5_context *ctx;
	struct mlx5_hca_caps caps;
	int caps_err, cmd_err;
	unsigned int commands;
	uint32_t next_id;
	uint8_t in[1024];
	size_t in_len;
} it;

int __wrap_mlx5_hca_caps_get_with(struct mlx5_context *ctx, enum prm_cap page,
				  const struct mlx5_hca_caps **caps);
int __wrap_mlx5_devx_object_create(struct mlx5_context *ctx, const void *in, size_t in_len,
				   struct devx_object *object);
int __wrap_mlx5_devx_object_modify(struct mlx5_context *ctx, const struct devx_object *object,
				   const void *in, size_t in_len);
int __wrap_mlx5_devx_object_destroy(struct mlx5_context *ctx, const struct devx_object *object);
int __wrap_mlx5_devx_qp_modify(struct ibv_qp *qp, const void *in, size_t in_len);

int __wrap_mlx5_hca_caps_get_with(struct mlx5_context *ctx, enum prm_cap page,
				  const struct mlx5_hca_caps **caps)
{
	assert_ptr_equal(ctx, it.ctx);
	assert_int_equal(page, PRM_CAP_QOS);
	*caps = it.caps_err ? NULL : &it.caps;
	return it.caps_err;
}

static int command(const void *in, size_t in_len)
{
	assert_true(in_len <= sizeof(it.in));
	memcpy(it.in, in, in_len);
	it.in_len = in_len;
	it.commands++;
	return it.cmd_err;
}

int __wrap_mlx5_devx_object_create(struct mlx5_context *ctx, const void *in, size_t in_len,
				   struct devx_object *object)
{
	assert_ptr_equal(ctx, it.ctx);
	*object = (struct devx_object){ .id = it.next_id++ };
	return command(in, in_len);
}

int __wrap_mlx5_devx_object_modify(struct mlx5_context *ctx, const struct devx_object *object,
				   const void *in, size_t in_len)
{
	assert_ptr_equal(ctx, it.ctx);
	assert_int_equal(object->id, fld_get((const uint8_t *)in, GENERAL_OBJ_IN_OBJ_ID));
	return command(in, in_len);
}

int __wrap_mlx5_devx_object_destroy(struct mlx5_context *ctx, const struct devx_object *object)
{
	assert_ptr_equal(ctx, it.ctx);
	(void)object;
	it.commands++;
	return it.cmd_err;
}

int __wrap_mlx5_devx_qp_modify(struct ibv_qp *qp, const void *in, size_t in_len)
{
	(void)qp;
	return command(in, in_len);
}

static struct ibv_context *context(void)
{
	return &it.ctx->vctx.context;
}

static int open_context(void **state)
{
	(void)state;
	memset(&it, 0, sizeof(it));
	it.next_id = 0x31;
	it.device.driver = &verbs_provider_mlx5;
	it.caps = (struct mlx5_hca_caps){
		.schedules_qps = true,
		.schedules_sqs = true,
		.shares_bandwidth = true,
		.limits_bandwidth = true,
		.scheduler_elements =
			1 << PRM_SCHED_ELEMENT_TSAR | 1 << PRM_SCHED_ELEMENT_QUEUE_GROUP,
		.scheduler_tsars = 1 << PRM_SCHED_TSAR_DWRR,
	};
	it.ctx = calloc(1, sizeof(*it.ctx));
	assert_non_null(it.ctx);
	it.ctx->vctx.context.device = &it.device.device;
	return 0;
}

static int close_context(void **state)
{
	(void)state;
	provider_cells_destroy(&it.ctx->common.cells);
	free(it.ctx);
	return 0;
}

static struct mlx5dv_sched_node *node_below(struct mlx5dv_sched_node *parent)
{
	const struct mlx5dv_sched_attr attr = { .parent = parent };
	struct mlx5dv_sched_node *node = mlx5dv_sched_node_create(context(), &attr);

	assert_non_null(node);
	return node;
}

static struct mlx5dv_sched_leaf *leaf_below(struct mlx5dv_sched_node *parent)
{
	const struct mlx5dv_sched_attr attr = { .parent = parent };
	struct mlx5dv_sched_leaf *leaf = mlx5dv_sched_leaf_create(context(), &attr);

	assert_non_null(leaf);
	return leaf;
}

static uint64_t of_element(uint32_t field)
{
	return fld_get(fld_at(it.in, GENERAL_OBJ_OBJECT), field);
}

static uint32_t of_context(uint32_t field)
{
	return fld_get(fld_at(fld_at(it.in, GENERAL_OBJ_OBJECT), SCHED_ELEM_SCHED_CONTEXT), field);
}

static void check_select(uint64_t want)
{
	assert_int_equal(fld_get64(fld_at(it.in, GENERAL_OBJ_OBJECT), 0), want);
}

static void elements_are_objects_below_a_parent(void **state)
{
	const struct mlx5dv_sched_attr attr = { .flags = MLX5DV_SCHED_ELEM_ATTR_FLAGS_BW_SHARE,
						.bw_share = 7,
						.max_avg_bw = 9 };
	struct mlx5dv_sched_node *root = node_below(NULL);
	struct mlx5dv_sched_leaf *leaf;

	(void)state;
	assert_int_equal(fld_get(it.in, CMD_IN_OPCODE), PRM_OP_CREATE_GENERAL_OBJECT);
	assert_int_equal(fld_get(it.in, GENERAL_OBJ_IN_OBJ_TYPE), PRM_OBJ_TYPE_SCHEDULING_ELEMENT);
	assert_int_equal(of_element(SCHED_ELEM_SCHEDULING_HIERARCHY), PRM_SCHED_HIERARCHY_NIC);
	assert_int_equal(of_context(SCHED_CONTEXT_ELEMENT_TYPE), PRM_SCHED_ELEMENT_TSAR);
	assert_int_equal(of_context(SCHED_CONTEXT_PARENT_ELEMENT_ID), 0);
	assert_int_equal(it.in_len, 16 + 128);
	leaf = leaf_below(root);
	assert_int_equal(of_context(SCHED_CONTEXT_ELEMENT_TYPE), PRM_SCHED_ELEMENT_QUEUE_GROUP);
	assert_int_equal(of_context(SCHED_CONTEXT_PARENT_ELEMENT_ID), 0x31);
	check_select(0);
	assert_int_equal(of_context(SCHED_CONTEXT_BW_SHARE), 0);
	assert_int_equal(mlx5dv_sched_leaf_destroy(leaf), 0);
	assert_int_equal(mlx5dv_sched_node_modify(root, &attr), EINVAL);
	it.cmd_err = EBUSY;
	assert_int_equal(mlx5dv_sched_node_destroy(root), EBUSY);
	it.cmd_err = 0;
	assert_int_equal(mlx5dv_sched_node_destroy(root), 0);
}

static void shares_and_limits_are_selected(void **state)
{
	struct mlx5dv_sched_node *root = node_below(NULL);
	struct mlx5dv_sched_attr attr = { .parent = root,
					  .flags = MLX5DV_SCHED_ELEM_ATTR_FLAGS_BW_SHARE,
					  .bw_share = 7,
					  .max_avg_bw = 9 };
	struct mlx5dv_sched_leaf *leaf = leaf_below(root);
	struct mlx5dv_sched_node *node = node_below(root);

	(void)state;
	assert_int_equal(mlx5dv_sched_leaf_modify(leaf, &attr), 0);
	assert_int_equal(fld_get(it.in, CMD_IN_OPCODE), PRM_OP_MODIFY_GENERAL_OBJECT);
	assert_int_equal(of_context(SCHED_CONTEXT_ELEMENT_TYPE), PRM_SCHED_ELEMENT_QUEUE_GROUP);
	assert_int_equal(of_context(SCHED_CONTEXT_PARENT_ELEMENT_ID), 0);
	check_select(PRM_SCHED_MODIFY_BW_SHARE);
	assert_int_equal(of_context(SCHED_CONTEXT_BW_SHARE), 7);
	assert_int_equal(of_context(SCHED_CONTEXT_MAX_AVERAGE_BW), 0);
	attr.flags = MLX5DV_SCHED_ELEM_ATTR_FLAGS_MAX_AVG_BW;
	assert_int_equal(mlx5dv_sched_node_modify(node, &attr), 0);
	assert_int_equal(of_context(SCHED_CONTEXT_ELEMENT_TYPE), PRM_SCHED_ELEMENT_TSAR);
	check_select(PRM_SCHED_MODIFY_MAX_AVERAGE_BW);
	assert_int_equal(of_context(SCHED_CONTEXT_BW_SHARE), 0);
	assert_int_equal(of_context(SCHED_CONTEXT_MAX_AVERAGE_BW), 9);
	mlx5dv_sched_leaf_destroy(leaf);
	mlx5dv_sched_node_destroy(node);
	mlx5dv_sched_node_destroy(root);
}

static void no_node(const struct mlx5dv_sched_attr *attr, int want)
{
	errno = 0;
	assert_null(mlx5dv_sched_node_create(context(), attr));
	assert_int_equal(errno, want);
}

static void no_leaf(const struct mlx5dv_sched_attr *attr, int want)
{
	errno = 0;
	assert_null(mlx5dv_sched_leaf_create(context(), attr));
	assert_int_equal(errno, want);
}

static void attributes_are_checked(void **state)
{
	struct mlx5dv_sched_node *root = node_below(NULL);
	const struct mlx5dv_sched_attr wrong[] = {
		{ .parent = root, .comp_mask = 1 },
		{ .parent = root, .flags = 1 << 2 },
		{ .parent = NULL, .flags = MLX5DV_SCHED_ELEM_ATTR_FLAGS_BW_SHARE },
		{ .parent = NULL, .flags = MLX5DV_SCHED_ELEM_ATTR_FLAGS_MAX_AVG_BW },
	};
	const struct mlx5dv_sched_attr plain = { .parent = NULL };

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(wrong); i++) {
		no_node(&wrong[i], EINVAL);
		no_leaf(&wrong[i], EINVAL);
		assert_int_equal(mlx5dv_sched_node_modify(root, &wrong[i]), EINVAL);
	}
	no_leaf(&plain, EINVAL);
	assert_int_equal(it.commands, 1);
	mlx5dv_sched_node_destroy(root);
}

/* Checks that a call with ATTR fails without a capability of DEVICE. */
static void elements_need_what_the_device_has(void **state)
{
	struct mlx5dv_sched_node *root = node_below(NULL);
	const struct mlx5dv_sched_attr plain = { .parent = root },
				       share = { .parent = root,
						 .flags = MLX5DV_SCHED_ELEM_ATTR_FLAGS_BW_SHARE },
				       limit = { .parent = root,
						 .flags = MLX5DV_SCHED_ELEM_ATTR_FLAGS_MAX_AVG_BW };
	const struct mlx5_hca_caps all = it.caps;
	struct mlx5dv_sched_node *node;

	(void)state;
	it.caps.shares_bandwidth = false;
	no_leaf(&share, EOPNOTSUPP);
	node = mlx5dv_sched_node_create(context(), &limit);
	assert_non_null(node);
	mlx5dv_sched_node_destroy(node);
	it.caps = all;
	it.caps.limits_bandwidth = false;
	no_leaf(&limit, EOPNOTSUPP);
	node = mlx5dv_sched_node_create(context(), &share);
	assert_non_null(node);
	mlx5dv_sched_node_destroy(node);
	it.caps = all;
	it.caps.scheduler_elements = 1 << PRM_SCHED_ELEMENT_TSAR;
	no_leaf(&plain, EOPNOTSUPP);
	it.caps.scheduler_elements = 1 << PRM_SCHED_ELEMENT_QUEUE_GROUP;
	no_node(&plain, EOPNOTSUPP);
	it.caps = all;
	it.caps.scheduler_tsars = 1 << PRM_SCHED_TSAR_ETS;
	no_node(&plain, EOPNOTSUPP);
	it.caps = all;
	it.caps_err = EOPNOTSUPP;
	no_node(&plain, EOPNOTSUPP);
	it.caps_err = EIO;
	no_node(&plain, EIO);
	it.caps_err = 0;
	it.cmd_err = ENOSPC;
	no_node(&plain, ENOSPC);
	no_leaf(&plain, ENOSPC);
	it.cmd_err = 0;
	mlx5dv_sched_node_destroy(root);
}

static struct mlx5_qp *qp_of(enum ibv_qp_type type, enum ibv_qp_state state)
{
	static struct mlx5_qp mqp;
	struct ibv_qp *qp = &mqp.vqp.qp;

	memset(&mqp, 0, sizeof(mqp));
	qp->context = context();
	qp->qp_num = 0x4321;
	qp->qp_type = type;
	qp->state = state;
	mqp.parts.sqn = 0x765;
	return &mqp;
}

static int schedule(enum ibv_qp_type type, enum ibv_qp_state state,
		    const struct mlx5dv_sched_leaf *requestor,
		    const struct mlx5dv_sched_leaf *responder)
{
	it.commands = 0;
	return mlx5dv_modify_qp_sched_elem(&qp_of(type, state)->vqp.qp, requestor, responder);
}

static void a_qp_sends_by_leaves(void **state)
{
	struct mlx5dv_sched_node *root = node_below(NULL);
	struct mlx5dv_sched_leaf *one = leaf_below(root), *two = leaf_below(root);
	const uint8_t *ext = fld_at(it.in, MODIFY_QP_IN_QPC_DATA_EXT);

	(void)state;
	assert_int_equal(schedule(IBV_QPT_RC, IBV_QPS_RTS, one, two), 0);
	assert_int_equal(fld_get(it.in, CMD_IN_OPCODE), PRM_OP_RTS2RTS_QP);
	assert_int_equal(fld_get(it.in, MODIFY_QP_IN_QPN), 0x4321);
	assert_int_equal(fld_get(it.in, MODIFY_QP_IN_QPC_EXT), 1);
	assert_int_equal(fld_get(it.in, MODIFY_QP_IN_OPT_PARAM_MASK_32),
			 PRM_OPTPAR_32_QOS_QUEUE_GROUP_ID);
	assert_int_equal(fld_get(ext, QPC_EXT_QOS_GROUP_REQUESTER), 0x32);
	assert_int_equal(fld_get(ext, QPC_EXT_QOS_GROUP_RESPONDER), 0x33);
	assert_int_equal(schedule(IBV_QPT_UD, IBV_QPS_INIT, NULL, NULL), 0);
	assert_int_equal(fld_get(it.in, CMD_IN_OPCODE), PRM_OP_INIT2INIT_QP);
	assert_int_equal(fld_get(ext, QPC_EXT_QOS_GROUP_REQUESTER), 0);
	assert_int_equal(schedule(IBV_QPT_XRC_RECV, IBV_QPS_INIT, NULL, one), 0);
	assert_int_equal(schedule(IBV_QPT_UD, IBV_QPS_RTR, one, NULL), EOPNOTSUPP);
	assert_int_equal(schedule(IBV_QPT_UD, IBV_QPS_RTS, one, two), EINVAL);
	assert_int_equal(it.commands, 0);
	it.cmd_err = EFAULT;
	assert_int_equal(schedule(IBV_QPT_UD, IBV_QPS_RTS, one, NULL), EFAULT);
	it.cmd_err = 0;
	mlx5dv_sched_leaf_destroy(one);
	mlx5dv_sched_leaf_destroy(two);
	mlx5dv_sched_node_destroy(root);
}

static void a_raw_packet_qp_sends_by_its_sq(void **state)
{
	struct mlx5dv_sched_node *root = node_below(NULL);
	struct mlx5dv_sched_leaf *leaf = leaf_below(root);
	const uint8_t *sqc = fld_at(it.in, MODIFY_SQ_IN_CTX);

	(void)state;
	assert_int_equal(schedule(IBV_QPT_RAW_PACKET, IBV_QPS_RTS, leaf, NULL), 0);
	assert_int_equal(fld_get(it.in, CMD_IN_OPCODE), PRM_OP_MODIFY_SQ);
	assert_int_equal(fld_get(it.in, MODIFY_SQ_IN_SQ_STATE), PRM_WQ_STATE_RDY);
	assert_int_equal(fld_get(it.in, MODIFY_SQ_IN_SQN), 0x765);
	assert_int_equal(fld_get(it.in, MODIFY_SQ_IN_MODIFY_BITMASK), PRM_MODIFY_SQ_QOS_GROUP);
	assert_int_equal(fld_get(sqc, SQC_STATE), PRM_WQ_STATE_RDY);
	assert_int_equal(fld_get(sqc, SQC_QOS_QUEUE_GROUP_ID), 0x32);
	assert_int_equal(schedule(IBV_QPT_RAW_PACKET, IBV_QPS_INIT, leaf, NULL), EOPNOTSUPP);
	assert_int_equal(schedule(IBV_QPT_RAW_PACKET, IBV_QPS_RTS, leaf, leaf), EINVAL);
	assert_int_equal(it.commands, 0);
	mlx5dv_sched_leaf_destroy(leaf);
	mlx5dv_sched_node_destroy(root);
}

/* A device may schedule QPs, SQs, or neither. */
static void a_device_schedules_some_queues(void **state)
{
	(void)state;
	it.caps.schedules_sqs = false;
	assert_int_equal(schedule(IBV_QPT_RAW_PACKET, IBV_QPS_RTS, NULL, NULL), EOPNOTSUPP);
	assert_int_equal(schedule(IBV_QPT_RC, IBV_QPS_RTS, NULL, NULL), 0);
	it.caps.schedules_sqs = true;
	it.caps.schedules_qps = false;
	assert_int_equal(schedule(IBV_QPT_RAW_PACKET, IBV_QPS_RTS, NULL, NULL), 0);
	assert_int_equal(schedule(IBV_QPT_RC, IBV_QPS_RTS, NULL, NULL), EOPNOTSUPP);
	assert_int_equal(it.commands, 0);
	it.caps_err = EOPNOTSUPP;
	assert_int_equal(schedule(IBV_QPT_RC, IBV_QPS_RTS, NULL, NULL), EOPNOTSUPP);
	it.caps_err = EIO;
	assert_int_equal(schedule(IBV_QPT_RC, IBV_QPS_RTS, NULL, NULL), EIO);
}

#define SCHED_TEST(fn) cmocka_unit_test_setup_teardown(fn, open_context, close_context)

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCHED_TEST(elements_are_objects_below_a_parent),
		SCHED_TEST(shares_and_limits_are_selected),
		SCHED_TEST(attributes_are_checked),
		SCHED_TEST(elements_need_what_the_device_has),
		SCHED_TEST(a_qp_sends_by_leaves),
		SCHED_TEST(a_raw_packet_qp_sends_by_its_sq),
		SCHED_TEST(a_device_schedules_some_queues),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

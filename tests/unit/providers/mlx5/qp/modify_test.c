/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * modify_test.c - which changes of a QP take the driver's part of the command, and what that has
 * inside; connection establishment options, rate limits, and the order of data. Functions of the
 * test stand for the kernel and the device.
 *
 * Covers: providers/mlx5/qp/modify.c, providers/mlx5/qp/extra.c
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
#include "prm/mlx5/qpc.h"
#include "providers/mlx5/context.h"
#include "providers/mlx5/device.h"
#include "providers/mlx5/qp/extra.h"
#include "providers/mlx5/qp/qp.h"
#include "providers/mlx5/qp/rules.h"
#include "tests/unit/log_text.h"

#include <rdma/mlx5_user_ioctl_cmds.h>

enum { QPN = 0x1234, HANDLE = 0x77, GRANTED = 0x5555, DCTN = 0x9999 };

static struct {
	struct verbs_device device;
	struct mlx5_context *ctx;
	struct mlx5_qp *qp;
	struct mlx5_hca_caps caps;
	int err, caps_err, run_err;
	unsigned int commands, mask;
	bool has_part, has_resp;
	struct mlx5_ib_modify_qp part;
	uint32_t rate;
	uint8_t answer[PRM_QUERY_QP_OUT_SIZE];
} it;

int verbs_cmd_modify_qp(struct ibv_qp *qp, const struct ibv_qp_attr *attr, int attr_mask,
			const struct verbs_udata *udata)
{
	assert_ptr_equal(qp, &it.qp->vqp.qp);
	it.commands++;
	it.mask = (unsigned int)attr_mask;
	it.rate = attr->rate_limit;
	it.has_part = udata != NULL;
	it.has_resp = udata && udata->resp;
	if (udata) {
		assert_int_equal(udata->req_len, sizeof(it.part));
		memcpy(&it.part, udata->req, sizeof(it.part));
	}
	if (it.err)
		return it.err;
	if (it.has_resp) {
		struct mlx5_ib_modify_qp_resp resp = { .ece_options = GRANTED, .dctn = DCTN };

		assert_int_equal(udata->resp_len, sizeof(resp));
		memcpy(udata->resp, &resp, sizeof(resp));
	}
	if (attr_mask & IBV_QP_STATE)
		qp->state = attr->qp_state;
	return 0;
}

int verbs_cmd_query_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int attr_mask,
		       struct ibv_qp_init_attr *init_attr)
{
	assert_ptr_equal(qp, &it.qp->vqp.qp);
	assert_int_equal(attr_mask, IBV_QP_CAP);
	memset(attr, 0, sizeof(*attr));
	memset(init_attr, 0, sizeof(*init_attr));
	return it.err;
}

int __wrap_mlx5_hca_caps_get(struct mlx5_context *ctx, const struct mlx5_hca_caps **caps);

int __wrap_mlx5_hca_caps_get(struct mlx5_context *ctx, const struct mlx5_hca_caps **caps)
{
	assert_ptr_equal(ctx, it.ctx);
	*caps = &it.caps;
	return it.caps_err;
}

/* The device's query of the QP */
int verbs_cmd_run(struct ibv_context *context, uint16_t object, uint16_t method,
		  const struct verbs_attr *attrs, unsigned int nattrs)
{
	const uint8_t *in = (const uint8_t *)(uintptr_t)attrs[1].value;

	assert_ptr_equal(context, &it.ctx->vctx.context);
	assert_int_equal(object, MLX5_IB_OBJECT_DEVX_OBJ);
	assert_int_equal(method, MLX5_IB_METHOD_DEVX_OBJ_QUERY);
	assert_int_equal(nattrs, 3);
	assert_int_equal(attrs[0].value, HANDLE);
	assert_int_equal(fld_get(in, CMD_IN_OPCODE), PRM_OP_QUERY_QP);
	assert_int_equal(fld_get(in, QUERY_QP_IN_QPN), QPN);
	assert_int_equal(attrs[2].len, sizeof(it.answer));
	memcpy((void *)(uintptr_t)attrs[2].value, it.answer, sizeof(it.answer));
	return it.run_err;
}

static int qp_begin(void **state)
{
	(void)state;
	memset(&it, 0, sizeof(it));
	it.ctx = calloc(1, sizeof(*it.ctx));
	it.qp = aligned_alloc(64, (sizeof(*it.qp) + 63) / 64 * 64);
	assert_true(it.ctx && it.qp);
	memset(it.qp, 0, sizeof(*it.qp));
	it.ctx->vctx.context.device = &it.device.device;
	it.ctx->common.device.known = true;
	it.qp->vqp.qp.context = &it.ctx->vctx.context;
	it.qp->vqp.qp.qp_num = QPN;
	it.qp->vqp.qp.handle = HANDLE;
	it.qp->rules = mlx5_qp_rules_of(IBV_QPT_RC);
	qlock_init(&it.qp->sq_lock, true);
	qlock_init(&it.qp->rq.lock, true);
	it.qp->dbrec = calloc(2, sizeof(*it.qp->dbrec));
	it.qp->rq.dbrec = it.qp->dbrec;
	log_text();
	return 0;
}

static int qp_end(void **state)
{
	(void)state;
	free(it.qp->dbrec);
	free(it.qp);
	free(it.ctx);
	return 0;
}

static int qp_modify(enum ibv_qp_state qp_state, int more)
{
	struct ibv_qp_attr attr = { .qp_state = qp_state, .rate_limit = 7 };

	return mlx5_qp_modify(&it.qp->vqp.qp, &attr, more);
}

/* ---- the driver's part ---- */

static void most_changes_are_without_the_drivers_part(void **state)
{
	(void)state;
	assert_int_equal(qp_modify(IBV_QPS_RTR, IBV_QP_STATE | IBV_QP_AV), 0);
	assert_int_equal(it.mask, IBV_QP_STATE | IBV_QP_AV);
	assert_false(it.has_part);
	assert_int_equal(qp_modify(IBV_QPS_RTR, IBV_QP_RATE_LIMIT), 0);
	assert_true(it.has_part);
	assert_int_equal(it.part.comp_mask, 0);
	assert_int_equal(it.part.ece_options, 0);
	assert_int_equal(it.rate, 7);
	it.err = EPERM;
	assert_int_equal(qp_modify(IBV_QPS_RTS, IBV_QP_STATE), EPERM);
	assert_int_equal(it.qp->sq.opcodes, 0);
}

static void out_of_order_messages_begin_with_init(void **state)
{
	(void)state;
	it.qp->out_of_order = true;
	assert_int_equal(qp_modify(IBV_QPS_INIT, IBV_QP_STATE), 0);
	assert_true(it.has_part);
	assert_int_equal(it.part.comp_mask, MLX5_IB_MODIFY_QP_OOO_DP);
	assert_int_equal(qp_modify(IBV_QPS_INIT, IBV_QP_AV), 0);
	assert_false(it.has_part);
	assert_int_equal(qp_modify(IBV_QPS_RTR, IBV_QP_STATE), 0);
	assert_false(it.has_part);
	it.qp->out_of_order = false;
	it.qp->ece_asked = 1;
	assert_int_equal(qp_modify(IBV_QPS_INIT, IBV_QP_STATE), 0);
	assert_int_equal(it.part.comp_mask, 0);
}

static void options_go_with_the_next_state(void **state)
{
	struct ibv_ece ece = { .vendor_id = 0x15b3, .options = 0x1234, .comp_mask = 0 }, got;

	(void)state;
	it.qp->has_ece = true;
	it.qp->ece_granted = 0x11;
	assert_int_equal(mlx5_qp_set_ece(&it.qp->vqp.qp, &ece), 0);
	assert_int_equal(it.qp->ece_granted, 0);
	assert_int_equal(qp_modify(IBV_QPS_RTR, IBV_QP_AV), 0);
	assert_false(it.has_part);
	it.err = EPERM;
	assert_int_equal(qp_modify(IBV_QPS_RTR, IBV_QP_STATE), EPERM);
	assert_int_equal(it.qp->ece_asked, 0x1234);
	it.err = 0;
	assert_int_equal(qp_modify(IBV_QPS_RTR, IBV_QP_STATE), 0);
	assert_int_equal(it.part.ece_options, 0x1234);
	assert_int_equal(it.qp->ece_asked, 0);
	assert_int_equal(qp_modify(IBV_QPS_RTS, IBV_QP_STATE), 0);
	assert_false(it.has_part);
	memset(&got, 0xee, sizeof(got));
	assert_int_equal(mlx5_qp_query_ece(&it.qp->vqp.qp, &got), 0);
	assert_int_equal(got.vendor_id, 0x15b3);
	assert_int_equal(got.options, GRANTED);
	assert_int_equal(got.comp_mask, 0);
}

/* A rate limit takes the driver's part, but grants no options. */
static void a_rate_limit_leaves_options_that_wait(void **state)
{
	(void)state;
	it.qp->ece_asked = 0x1234;
	assert_int_equal(qp_modify(IBV_QPS_RTS, IBV_QP_RATE_LIMIT), 0);
	assert_true(it.has_part);
	assert_int_equal(it.part.ece_options, 0);
	assert_int_equal(it.qp->ece_asked, 0x1234);
	assert_int_equal(it.qp->ece_granted, 0);
}

static void options_that_cannot_be_are_refused(void **state)
{
	struct ibv_ece ece = { .vendor_id = 0x15b3, .options = 1, .comp_mask = 2 };

	(void)state;
	it.qp->has_ece = true;
	assert_int_equal(mlx5_qp_set_ece(&it.qp->vqp.qp, &ece), EINVAL);
	check_logged("set_ece: comp_mask is 0x2, must be 0");
	ece = (struct ibv_ece){ .vendor_id = 0x15b4 };
	assert_int_equal(mlx5_qp_set_ece(&it.qp->vqp.qp, &ece), EINVAL);
	check_logged("set_ece: vendor_id is 0x15b4, must be 0x15b3");
	it.qp->has_ece = false;
	ece = (struct ibv_ece){ .vendor_id = 0x15b3, .options = 1 };
	assert_int_equal(mlx5_qp_set_ece(&it.qp->vqp.qp, &ece), EOPNOTSUPP);
	check_logged("set_ece: qp 0x1234: the device, or its kernel, has no such options");
	assert_int_equal(it.qp->ece_asked, 0);
}

/* ---- QPs of other kinds ---- */

static void a_dct_gets_its_number_in_rtr(void **state)
{
	(void)state;
	it.ctx->caps.cqe_version = 1;
	it.qp->rules = mlx5_qp_dct_rules();
	it.qp->ece_asked = 0x1234;
	it.qp->out_of_order = true;
	assert_int_equal(qp_modify(IBV_QPS_INIT, IBV_QP_STATE), 0);
	assert_true(it.has_part && it.has_resp);
	assert_int_equal(it.part.comp_mask, MLX5_IB_MODIFY_QP_OOO_DP);
	assert_int_equal(it.part.ece_options, 0x1234);
	assert_int_equal(it.qp->vqp.qp.qp_num, QPN);
	assert_int_equal(qp_modify(IBV_QPS_RTR, IBV_QP_AV), 0);
	assert_int_equal(it.qp->vqp.qp.qp_num, QPN);
	it.err = EPERM;
	assert_int_equal(qp_modify(IBV_QPS_RTR, IBV_QP_STATE), EPERM);
	assert_int_equal(it.qp->vqp.qp.qp_num, QPN);
	it.err = 0;
	assert_int_equal(qp_modify(IBV_QPS_RTR, IBV_QP_STATE), 0);
	assert_int_equal(it.part.comp_mask, 0);
	assert_int_equal(it.qp->vqp.qp.qp_num, DCTN);
	assert_int_equal(it.qp->rq.number, DCTN);
	assert_int_equal(it.qp->ece_asked, 0);
	assert_int_equal(it.qp->ece_granted, GRANTED);
}

static void a_spreading_qp_has_no_states(void **state)
{
	(void)state;
	it.qp->rules = mlx5_qp_rss_rules();
	assert_int_equal(qp_modify(IBV_QPS_INIT, IBV_QP_STATE), EOPNOTSUPP);
	check_logged("modify_qp: qp 0x1234 spreads frames over WQs, and has no states");
	assert_int_equal(it.commands, 0);
}

static void an_underlay_qp_has_states_alone(void **state)
{
	(void)state;
	it.qp->rules = mlx5_qp_underlay_rules();
	assert_int_equal(qp_modify(IBV_QPS_RTR, IBV_QP_STATE | IBV_QP_CUR_STATE), 0);
	assert_int_equal(qp_modify(IBV_QPS_RTR, IBV_QP_STATE | IBV_QP_QKEY), EINVAL);
	check_logged("attr_mask is 0x41: a QP with IBV_QP_CREATE_SOURCE_QPN has nothing but a");
	assert_int_equal(it.commands, 1);
}

static void a_query_has_the_capacities_that_were_granted(void **state)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	(void)state;
	it.qp->cap = (struct ibv_qp_cap){ 1, 2, 3, 4, 5 };
	assert_int_equal(mlx5_qp_query(&it.qp->vqp.qp, &attr, IBV_QP_CAP, &init), 0);
	assert_memory_equal(&attr.cap, &it.qp->cap, sizeof(attr.cap));
	assert_memory_equal(&init.cap, &it.qp->cap, sizeof(init.cap));
	it.err = EIO;
	assert_int_equal(mlx5_qp_query(&it.qp->vqp.qp, &attr, IBV_QP_CAP, &init), EIO);
	assert_int_equal(attr.cap.max_send_wr, 0);
}

/* ---- the order of data ---- */

static int in_order(uint32_t flags)
{
	return mlx5_qp_query_data_in_order(&it.qp->vqp.qp, IBV_WR_SEND, flags);
}

static void data_is_in_order_if_device_and_qp_say_so(void **state)
{
	uint8_t *qpc = fld_at(it.answer, QUERY_QP_OUT_QPC);
	const int whole = IBV_QUERY_QP_DATA_IN_ORDER_WHOLE_MSG;

	(void)state;
	it.ctx->has_devx = it.caps.writes_in_order = true;
	it.qp->vqp.qp.state = IBV_QPS_RTS;
	fld_set(qpc, QPC_STATE, PRM_QP_STATE_RTR);
	fld_set(qpc, QPC_DATA_IN_ORDER, 1);
	assert_int_equal(in_order(0), whole);
	assert_int_equal(in_order(IBV_QUERY_QP_DATA_IN_ORDER_RETURN_CAPS |
				  IBV_QUERY_QP_DATA_IN_ORDER_DEVICE_ONLY),
			 whole);
	assert_int_equal(in_order(1u << 30), 0);
	it.qp->vqp.qp.state = IBV_QPS_RTR;
	assert_int_equal(in_order(0), 0);
	it.qp->vqp.qp.state = IBV_QPS_RTS;
	it.ctx->has_devx = false;
	assert_int_equal(in_order(0), 0);
	it.ctx->has_devx = true;
	it.caps_err = EIO;
	assert_int_equal(in_order(0), 0);
	it.caps_err = 0;
	it.caps.writes_in_order = false;
	assert_int_equal(in_order(0), 0);
	it.caps.writes_in_order = true;
	it.qp->rules = mlx5_qp_rules_of(IBV_QPT_RAW_PACKET);
	assert_int_equal(in_order(0), 0);
	it.qp->rules = mlx5_qp_rules_of(IBV_QPT_RC);
	it.run_err = EREMOTEIO;
	assert_int_equal(in_order(0), 0);
	it.run_err = 0;
	fld_set(it.answer, CMD_OUT_STATUS, 1);
	assert_int_equal(in_order(0), 0);
	fld_set(it.answer, CMD_OUT_STATUS, 0);
	fld_set(qpc, QPC_STATE, PRM_QP_STATE_RTR - 1);
	assert_int_equal(in_order(0), 0);
	fld_set(qpc, QPC_STATE, PRM_QP_STATE_RTR);
	fld_set(qpc, QPC_DATA_IN_ORDER, 0);
	assert_int_equal(in_order(0), 0);
}

/* ---- rate limits ---- */

static void bursts_need_a_rate_and_a_device(void **state)
{
	struct ibv_qp_rate_limit_attr attr = { .rate_limit = 100 };
	struct ibv_qp *qp = &it.qp->vqp.qp;

	(void)state;
	assert_int_equal(mlx5_qp_modify_rate_limit(qp, &attr), 0);
	assert_int_equal(it.mask, IBV_QP_RATE_LIMIT);
	assert_int_equal(it.rate, 100);
	assert_true(it.has_part && !it.has_resp);
	attr.max_burst_sz = 200;
	assert_int_equal(mlx5_qp_modify_rate_limit(qp, &attr), EINVAL);
	check_logged("max_burst_sz or typical_pkt_sz is set: the device does not limit bursts");
	it.ctx->device_resp.packet_pacing_caps.cap_flags = MLX5_IB_PP_SUPPORT_BURST;
	attr.typical_pkt_sz = 64;
	assert_int_equal(mlx5_qp_modify_rate_limit(qp, &attr), 0);
	assert_int_equal(it.part.burst_info.max_burst_sz, 200);
	assert_int_equal(it.part.burst_info.typical_pkt_sz, 64);
	attr = (struct ibv_qp_rate_limit_attr){ .typical_pkt_sz = 64 };
	assert_int_equal(mlx5_qp_modify_rate_limit(qp, &attr), EINVAL);
	check_logged("max_burst_sz or typical_pkt_sz is set: they need a rate_limit");
	attr = (struct ibv_qp_rate_limit_attr){ .rate_limit = 1, .comp_mask = 1 };
	assert_int_equal(mlx5_qp_modify_rate_limit(qp, &attr), EINVAL);
	check_logged("modify_qp_rate_limit: comp_mask is 0x1, must be 0");
	attr = (struct ibv_qp_rate_limit_attr){ 0 };
	it.err = EPERM;
	assert_int_equal(mlx5_qp_modify_rate_limit(qp, &attr), EPERM);
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, qp_begin, qp_end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(most_changes_are_without_the_drivers_part),
		TEST(out_of_order_messages_begin_with_init),
		TEST(options_go_with_the_next_state),
		TEST(a_rate_limit_leaves_options_that_wait),
		TEST(options_that_cannot_be_are_refused),
		TEST(a_dct_gets_its_number_in_rtr),
		TEST(a_spreading_qp_has_no_states),
		TEST(an_underlay_qp_has_states_alone),
		TEST(a_query_has_the_capacities_that_were_granted),
		TEST(data_is_in_order_if_device_and_qp_say_so),
		TEST(bursts_need_a_rate_and_a_device),
	};

	log_to_memory();
	return cmocka_run_group_tests(tests, NULL, NULL);
}

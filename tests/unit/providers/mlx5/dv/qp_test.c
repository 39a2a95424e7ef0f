/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * qp_test.c - mlx5dv_create_qp(): which flags, builders and DC attributes reach the creation of a
 * QP, and which are refused with which errno. Functions of the test stand for the device's
 * abilities and for the creation.
 *
 * Covers: providers/mlx5/dv/qp.c mlx5dv_create_qp
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "providers/mlx5/device.h"
#include "providers/mlx5/dv/dv.h"
#include "providers/mlx5/hca_caps.h"
#include "providers/mlx5/qp/qp.h"
#include "providers/mlx5/qp/rules.h"

enum { LIMIT = 8, REFUSED = EDOM, CREATED = EXDEV };

#define OOO MLX5DV_QP_CREATE_OOO_DP

static struct {
	struct verbs_device device;
	struct mlx5_context *ctx;
	struct mlx5_hca_caps caps;
	struct mlx5_ib_query_device_resp resp;
	int caps_error, resp_error;
	unsigned int asked, created; /* questions about abilities, and creations */
	struct mlx5_qp_dv dv;        /* of the last creation */
	struct ibv_srq srq;
	struct ibv_cq cq;
} it;

int __wrap_mlx5_hca_caps_get(struct mlx5_context *ctx, const struct mlx5_hca_caps **caps);
int __wrap_mlx5_device_resp_get(struct mlx5_context *ctx,
				const struct mlx5_ib_query_device_resp **resp);
int __wrap_mlx5_qp_create_dv(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr,
			     const struct mlx5_qp_dv *dv, struct verbs_qp **vqp);

int __wrap_mlx5_hca_caps_get(struct mlx5_context *ctx, const struct mlx5_hca_caps **caps)
{
	assert_ptr_equal(ctx, it.ctx);
	it.asked++;
	*caps = it.caps_error ? NULL : &it.caps;
	return it.caps_error;
}

int __wrap_mlx5_device_resp_get(struct mlx5_context *ctx,
				const struct mlx5_ib_query_device_resp **resp)
{
	assert_ptr_equal(ctx, it.ctx);
	it.asked++;
	*resp = it.resp_error ? NULL : &it.resp;
	return it.resp_error;
}

/* Fails with CREATED, so that the call has nothing more to do. */
int __wrap_mlx5_qp_create_dv(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr,
			     const struct mlx5_qp_dv *dv, struct verbs_qp **vqp)
{
	assert_ptr_equal(context, &it.ctx->vctx.context);
	(void)attr;
	(void)vqp;
	it.created++;
	it.dv = *dv;
	return CREATED;
}

static int qp_begin(void **state)
{
	(void)state;
	memset(&it, 0, sizeof(it));
	it.device.driver = &verbs_provider_mlx5;
	it.ctx = calloc(1, sizeof(*it.ctx));
	assert_non_null(it.ctx);
	it.ctx->vctx.context.device = &it.device.device;
	it.ctx->has_devx = true;
	it.ctx->caps.comp_mask = MLX5_IB_ALLOC_UCONTEXT_RESP_MASK_SQD2RTS;
	it.resp.flags = MLX5_IB_QUERY_DEV_RESP_FLAGS_OOO_DP |
			MLX5_IB_QUERY_DEV_RESP_PACKET_BASED_CREDIT_MODE;
	it.resp.tunnel_offloads_caps = 1;
	it.caps = (struct mlx5_hca_caps){ .drains_on_sig_error = true,
					  .max_copy = 64,
					  .early_rc = LIMIT,
					  .early_uc = 2 * LIMIT,
					  .early_ud = 3 * LIMIT,
					  .early_xrc = 4 * LIMIT,
					  .early_dc = 5 * LIMIT };
	return 0;
}

static int qp_end(void **state)
{
	(void)state;
	free(it.ctx);
	return 0;
}

/* Returns the errno of the call: CREATED if a QP would be created. */
static int qp_create(struct ibv_qp_init_attr_ex *attr, struct mlx5dv_qp_init_attr *dv_attr)
{
	unsigned int created = it.created;

	assert_null(mlx5dv_create_qp(&it.ctx->vctx.context, attr, dv_attr));
	assert_int_equal(it.created - created, errno == CREATED);
	return errno;
}

static int with_flags(enum ibv_qp_type type, uint32_t flags)
{
	struct ibv_qp_init_attr_ex attr = { .qp_type = type };
	struct mlx5dv_qp_init_attr dv = { .comp_mask = MLX5DV_QP_INIT_ATTR_MASK_QP_CREATE_FLAGS,
					  .create_flags = flags };
	int ret = qp_create(&attr, &dv);

	if (ret == CREATED)
		assert_int_equal(it.dv.flags, flags);
	return ret;
}

static int with_receives(enum ibv_qp_type type, uint32_t receives)
{
	struct ibv_qp_init_attr_ex attr = { .qp_type = type, .cap.max_recv_wr = receives };
	struct mlx5dv_qp_init_attr dv = { .comp_mask = MLX5DV_QP_INIT_ATTR_MASK_QP_CREATE_FLAGS,
					  .create_flags = OOO };

	return qp_create(&attr, &dv);
}

static int with_ops(enum ibv_qp_type type, uint64_t ops)
{
	struct ibv_qp_init_attr_ex attr = { .qp_type = type };
	struct mlx5dv_qp_init_attr dv = { .comp_mask = MLX5DV_QP_INIT_ATTR_MASK_SEND_OPS_FLAGS,
					  .send_ops_flags = ops };

	return qp_create(&attr, &dv);
}

static void flags_that_need_no_device_ask_none(void **state)
{
	(void)state;
	assert_int_equal(with_flags(IBV_QPT_RC, 0), CREATED);
	assert_int_equal(with_flags(IBV_QPT_RC, MLX5DV_QP_CREATE_ALLOW_SCATTER_TO_CQE), CREATED);
	assert_int_equal(with_flags(IBV_QPT_RC, MLX5DV_QP_CREATE_DISABLE_SCATTER_TO_CQE), CREATED);
	assert_int_equal(it.asked, 0);
}

static void flags_that_fit_nothing_are_refused(void **state)
{
	(void)state;
	for (uint32_t flag = OOO << 1; flag; flag <<= 1)
		assert_int_equal(with_flags(IBV_QPT_RC, flag), EINVAL);
	assert_int_equal(with_flags(IBV_QPT_RC, MLX5DV_QP_CREATE_ALLOW_SCATTER_TO_CQE |
							MLX5DV_QP_CREATE_DISABLE_SCATTER_TO_CQE),
			 EINVAL);
	assert_int_equal(it.asked, 0);
}

static void flags_of_frames_are_for_raw_packet_qps(void **state)
{
	static const uint32_t flags[] = { MLX5DV_QP_CREATE_TUNNEL_OFFLOADS,
					  MLX5DV_QP_CREATE_TIR_ALLOW_SELF_LOOPBACK_UC,
					  MLX5DV_QP_CREATE_TIR_ALLOW_SELF_LOOPBACK_MC };

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(flags); i++) {
		assert_int_equal(with_flags(IBV_QPT_RAW_PACKET, flags[i]), CREATED);
		assert_int_equal(with_flags(IBV_QPT_UD, flags[i]), EINVAL);
	}
	it.resp.tunnel_offloads_caps = 0;
	assert_int_equal(with_flags(IBV_QPT_RAW_PACKET, flags[0]), EINVAL);
	assert_int_equal(with_flags(IBV_QPT_RAW_PACKET, flags[1]), CREATED);
}

static void credits_for_packets_are_of_rc_qps(void **state)
{
	(void)state;
	assert_int_equal(with_flags(IBV_QPT_RC, MLX5DV_QP_CREATE_PACKET_BASED_CREDIT_MODE),
			 CREATED);
	assert_int_equal(with_flags(IBV_QPT_UC, MLX5DV_QP_CREATE_PACKET_BASED_CREDIT_MODE), EINVAL);
	it.resp.flags &= ~(uint32_t)MLX5_IB_QUERY_DEV_RESP_PACKET_BASED_CREDIT_MODE;
	assert_int_equal(with_flags(IBV_QPT_RC, MLX5DV_QP_CREATE_PACKET_BASED_CREDIT_MODE), EINVAL);
}

static void a_queue_stops_at_a_signature_if_driver_and_device_can(void **state)
{
	const uint32_t flag = MLX5DV_QP_CREATE_SIG_PIPELINING;

	(void)state;
	assert_int_equal(with_flags(IBV_QPT_RC, flag), CREATED);
	it.caps.drains_on_sig_error = false;
	assert_int_equal(with_flags(IBV_QPT_RC, flag), EOPNOTSUPP);
	it.caps_error = REFUSED;
	assert_int_equal(with_flags(IBV_QPT_RC, flag), REFUSED);
	it.ctx->has_devx = false;
	assert_int_equal(with_flags(IBV_QPT_RC, flag), EOPNOTSUPP);
	it.caps_error = 0;
	it.ctx->caps.comp_mask = 0;
	it.asked = 0;
	assert_int_equal(with_flags(IBV_QPT_RC, flag), EOPNOTSUPP);
	assert_int_equal(it.asked, 1); /* the driver's answer is enough */
}

static void data_out_of_order_is_asked_for_by_its_flag_alone(void **state)
{
	(void)state;
	it.caps = (struct mlx5_hca_caps){ .drains_on_sig_error = true };
	assert_int_equal(with_flags(IBV_QPT_RC, MLX5DV_QP_CREATE_SIG_PIPELINING), CREATED);
	assert_int_equal(with_flags(IBV_QPT_RC, OOO), EOPNOTSUPP);
	it.caps.early_rc = LIMIT;
	assert_int_equal(with_flags(IBV_QPT_RC, OOO), CREATED);
	assert_int_equal(with_flags(IBV_QPT_UC, OOO), EOPNOTSUPP);
	it.resp.flags = 0;
	assert_int_equal(with_flags(IBV_QPT_RC, OOO), EOPNOTSUPP);
	it.resp_error = REFUSED;
	assert_int_equal(with_flags(IBV_QPT_RC, OOO), REFUSED);
}

static void each_type_has_its_limit_of_receives_out_of_order(void **state)
{
	static const struct {
		enum ibv_qp_type type;
		uint32_t limit; /* 0: receives of another queue, without a limit here */
	} rows[] = { { IBV_QPT_RC, LIMIT },   { IBV_QPT_UC, 2 * LIMIT }, { IBV_QPT_UD, 3 * LIMIT },
		     { IBV_QPT_XRC_SEND, 0 }, { IBV_QPT_XRC_RECV, 0 },   { IBV_QPT_DRIVER, 0 } };

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(rows); i++) {
		uint32_t limit = rows[i].limit;

		assert_int_equal(with_receives(rows[i].type, limit), CREATED);
		assert_int_equal(with_receives(rows[i].type, limit + 1), limit ? EINVAL : CREATED);
	}
	it.caps.early_xrc = it.caps.early_dc = 0;
	for (unsigned int i = 3; i < ARRAY_SIZE(rows); i++)
		assert_int_equal(with_receives(rows[i].type, 0), EOPNOTSUPP);
	assert_int_equal(with_receives(IBV_QPT_RAW_PACKET, 0), EOPNOTSUPP);
}

/* Without DevX the library cannot query the device, so it refuses; Linux' errno is the same. */
static void without_devx_there_is_no_order_to_give_up(void **state)
{
	static const int errors[] = { EPROTONOSUPPORT, EOPNOTSUPP };

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(errors); i++) {
		it.caps_error = errors[i];
		assert_int_equal(with_flags(IBV_QPT_RC, OOO), EOPNOTSUPP);
	}
	it.caps_error = REFUSED;
	assert_int_equal(with_flags(IBV_QPT_RC, OOO), REFUSED);
	it.ctx->has_devx = false;
	assert_int_equal(with_flags(IBV_QPT_RC, OOO), EOPNOTSUPP);
}

static void builders_are_those_of_the_type(void **state)
{
	const uint64_t keys = MLX5DV_QP_EX_WITH_MR_INTERLEAVED | MLX5DV_QP_EX_WITH_MR_LIST |
			      MLX5DV_QP_EX_WITH_MKEY_CONFIGURE;

	(void)state;
	assert_int_equal(with_ops(IBV_QPT_RC, keys), CREATED);
	assert_true(it.dv.send_ops == keys);
	assert_int_equal(with_ops(IBV_QPT_RC, MLX5DV_QP_EX_WITH_RAW_WQE), CREATED);
	assert_int_equal(with_ops(IBV_QPT_UD, MLX5DV_QP_EX_WITH_RAW_WQE), CREATED);
	assert_int_equal(with_ops(IBV_QPT_UD, MLX5DV_QP_EX_WITH_MR_LIST), EOPNOTSUPP);
	assert_int_equal(with_ops(IBV_QPT_UD, MLX5DV_QP_EX_WITH_MEMCPY), EOPNOTSUPP);
	assert_int_equal(with_ops(IBV_QPT_XRC_RECV, MLX5DV_QP_EX_WITH_RAW_WQE), EOPNOTSUPP);
	assert_int_equal(with_ops(IBV_QPT_RC, 1ull << 40), EOPNOTSUPP);
	assert_int_equal(it.asked, 0);
}

static void copies_of_memory_are_the_devices(void **state)
{
	(void)state;
	assert_int_equal(with_ops(IBV_QPT_RC, MLX5DV_QP_EX_WITH_MEMCPY), CREATED);
	it.caps.max_copy = 0;
	assert_int_equal(with_ops(IBV_QPT_RC, MLX5DV_QP_EX_WITH_MEMCPY), EOPNOTSUPP);
	it.caps_error = REFUSED;
	assert_int_equal(with_ops(IBV_QPT_RC, MLX5DV_QP_EX_WITH_MEMCPY), REFUSED);
}

static struct mlx5dv_qp_init_attr dc_attr(enum mlx5dv_dc_type type)
{
	return (struct mlx5dv_qp_init_attr){ .comp_mask = MLX5DV_QP_INIT_ATTR_MASK_DC,
					     .dc_init_attr = { .dc_type = type } };
}

static void a_target_needs_an_srq_and_a_cq(void **state)
{
	struct mlx5dv_qp_init_attr dv = dc_attr(MLX5DV_DCTYPE_DCT);
	struct ibv_qp_init_attr_ex attr = { .qp_type = IBV_QPT_DRIVER,
					    .srq = &it.srq,
					    .recv_cq = &it.cq };

	(void)state;
	dv.dc_init_attr.dct_access_key = 0x1122334455667788;
	assert_int_equal(qp_create(&attr, &dv), CREATED);
	assert_ptr_equal(it.dv.rules, mlx5_qp_dct_rules());
	assert_true(it.dv.access_key == 0x1122334455667788);
	attr.recv_cq = NULL;
	assert_int_equal(qp_create(&attr, &dv), EINVAL);
	attr.recv_cq = &it.cq;
	attr.srq = NULL;
	assert_int_equal(qp_create(&attr, &dv), EINVAL);
	attr.srq = &it.srq;
	dv.comp_mask |= MLX5DV_QP_INIT_ATTR_MASK_DCI_STREAMS;
	assert_int_equal(qp_create(&attr, &dv), EINVAL);
	dv.comp_mask = MLX5DV_QP_INIT_ATTR_MASK_DC | MLX5DV_QP_INIT_ATTR_MASK_SEND_OPS_FLAGS;
	assert_int_equal(qp_create(&attr, &dv), EINVAL); /* refused, as a target sends nothing */
	dv.comp_mask = MLX5DV_QP_INIT_ATTR_MASK_DC | MLX5DV_QP_INIT_ATTR_MASK_QP_CREATE_FLAGS;
	dv.create_flags = MLX5DV_QP_CREATE_ALLOW_SCATTER_TO_CQE;
	assert_int_equal(qp_create(&attr, &dv), EINVAL);
}

static void an_initiator_receives_nothing(void **state)
{
	struct mlx5dv_qp_init_attr dv = dc_attr(MLX5DV_DCTYPE_DCI);
	struct ibv_qp_init_attr_ex attr = { .qp_type = IBV_QPT_DRIVER, .send_cq = &it.cq };

	(void)state;
	assert_int_equal(qp_create(&attr, &dv), CREATED);
	assert_ptr_equal(it.dv.rules, mlx5_qp_dci_rules());
	assert_false(it.dv.has_streams);
	attr.cap.max_recv_wr = 1;
	assert_int_equal(qp_create(&attr, &dv), EINVAL);
	attr.cap = (struct ibv_qp_cap){ .max_recv_sge = 1 };
	assert_int_equal(qp_create(&attr, &dv), EINVAL);
	attr.cap.max_recv_sge = 0;
	attr.send_cq = NULL;
	assert_int_equal(qp_create(&attr, &dv), EINVAL);
	attr.send_cq = &it.cq;
	dv.comp_mask |= MLX5DV_QP_INIT_ATTR_MASK_SEND_OPS_FLAGS;
	dv.send_ops_flags = MLX5DV_QP_EX_WITH_MEMCPY | MLX5DV_QP_EX_WITH_RAW_WQE;
	assert_int_equal(qp_create(&attr, &dv), CREATED);
	dv.send_ops_flags = MLX5DV_QP_EX_WITH_MR_LIST;
	assert_int_equal(qp_create(&attr, &dv), EOPNOTSUPP);
}

static void streams_are_limited_by_the_device(void **state)
{
	struct mlx5dv_qp_init_attr dv = dc_attr(MLX5DV_DCTYPE_DCI);
	struct ibv_qp_init_attr_ex attr = { .qp_type = IBV_QPT_DRIVER, .send_cq = &it.cq };
	struct mlx5dv_dci_streams *streams = &dv.dc_init_attr.dci_streams;

	(void)state;
	dv.comp_mask |= MLX5DV_QP_INIT_ATTR_MASK_DCI_STREAMS;
	it.resp.dci_streams_caps.max_log_num_concurent = 3;
	it.resp.dci_streams_caps.max_log_num_errored = 5;
	*streams = (struct mlx5dv_dci_streams){ 3, 5 };
	assert_int_equal(qp_create(&attr, &dv), CREATED);
	assert_true(it.dv.has_streams);
	assert_int_equal(it.dv.streams.log_num_concurent, 3);
	assert_int_equal(it.dv.streams.log_num_errored, 5);
	*streams = (struct mlx5dv_dci_streams){ 4, 5 };
	assert_int_equal(qp_create(&attr, &dv), EINVAL);
	*streams = (struct mlx5dv_dci_streams){ 3, 6 };
	assert_int_equal(qp_create(&attr, &dv), EINVAL);
	it.resp_error = REFUSED;
	assert_int_equal(qp_create(&attr, &dv), REFUSED);
}

static void masks_that_do_not_fit_are_refused(void **state)
{
	struct ibv_qp_init_attr_ex attr = { .qp_type = IBV_QPT_RC, .send_cq = &it.cq };
	struct mlx5dv_qp_init_attr dv = { .comp_mask = MLX5DV_QP_INIT_ATTR_MASK_DCI_STREAMS };

	(void)state;
	assert_int_equal(qp_create(&attr, &dv), EINVAL);
	dv = dc_attr(MLX5DV_DCTYPE_DCI);
	assert_int_equal(qp_create(&attr, &dv), EINVAL); /* an RC QP */
	attr.qp_type = IBV_QPT_DRIVER;
	dv.dc_init_attr.dc_type = (enum mlx5dv_dc_type)0;
	assert_int_equal(qp_create(&attr, &dv), EINVAL);
	dv = (struct mlx5dv_qp_init_attr){ .comp_mask = 1ull << 40 };
	assert_int_equal(qp_create(&attr, &dv), EINVAL);
	dv.comp_mask = 0;
	assert_int_equal(qp_create(&attr, &dv), CREATED);
	assert_int_equal(qp_create(&attr, NULL), CREATED);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, qp_begin, qp_end)
	const struct CMUnitTest tests[] = {
		CASE(flags_that_need_no_device_ask_none),
		CASE(flags_that_fit_nothing_are_refused),
		CASE(flags_of_frames_are_for_raw_packet_qps),
		CASE(credits_for_packets_are_of_rc_qps),
		CASE(a_queue_stops_at_a_signature_if_driver_and_device_can),
		CASE(data_out_of_order_is_asked_for_by_its_flag_alone),
		CASE(each_type_has_its_limit_of_receives_out_of_order),
		CASE(without_devx_there_is_no_order_to_give_up),
		CASE(builders_are_those_of_the_type),
		CASE(copies_of_memory_are_the_devices),
		CASE(a_target_needs_an_srq_and_a_cq),
		CASE(an_initiator_receives_nothing),
		CASE(streams_are_limited_by_the_device),
		CASE(masks_that_do_not_fit_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

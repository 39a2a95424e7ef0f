/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * device_test.c - what mlx5dv_query_device() makes of the kernel's and the device's answers, field
 * by field; the attributes with which a device is opened; a port's answer in structs of any size.
 * Functions of the test stand for the kernel, the device and its clock.
 *
 * Covers: providers/mlx5/dv/device.c
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "providers/mlx5/clock.h"
#include "providers/mlx5/context.h"
#include "providers/mlx5/device.h"
#include "providers/mlx5/dv/dv.h"
#include "providers/mlx5/hca_caps.h"
#include "tests/unit/log_text.h"

#include <rdma/mlx5_user_ioctl_cmds.h>

static struct {
	struct verbs_device device, foreign;
	struct mlx5_context ctx, opened;
	struct mlx5_ib_query_device_resp resp;
	struct mlx5_hca_caps caps;
	struct mlx5_ib_clock_info clock_info;
	__be32 clock[2];
	int resp_err, caps_err, page_err, info_err, core_err, kernel_err;
	unsigned int opens, closes;
	const void *fds;
} it;

int __wrap_mlx5_device_resp_get(struct mlx5_context *ctx,
				const struct mlx5_ib_query_device_resp **resp);
int __wrap_mlx5_hca_caps_get(struct mlx5_context *ctx, const struct mlx5_hca_caps **caps);
int __wrap_mlx5_hca_caps_get_with(struct mlx5_context *ctx, enum prm_cap page,
				  const struct mlx5_hca_caps **caps);
int __wrap_mlx5_clock_get_info(struct mlx5_context *ctx, const struct mlx5_ib_clock_info **info);
int __wrap_mlx5_clock_get_core(struct mlx5_context *ctx, const volatile __be32 **clock);
int __wrap_verbs_cmd_run(struct ibv_context *context, uint16_t object, uint16_t method,
			 const struct verbs_attr *attrs, unsigned int nattrs);
struct ibv_context *__wrap_verbs_open_device_as(struct ibv_device *device, const void *fds);
int __wrap_ibv_close_device(struct ibv_context *context);

int __wrap_mlx5_device_resp_get(struct mlx5_context *ctx,
				const struct mlx5_ib_query_device_resp **resp)
{
	assert_ptr_equal(ctx, &it.ctx);
	*resp = &it.resp;
	return it.resp_err;
}

int __wrap_mlx5_hca_caps_get(struct mlx5_context *ctx, const struct mlx5_hca_caps **caps)
{
	assert_ptr_equal(ctx, &it.ctx);
	*caps = &it.caps;
	return it.caps_err;
}

int __wrap_mlx5_hca_caps_get_with(struct mlx5_context *ctx, enum prm_cap page,
				  const struct mlx5_hca_caps **caps)
{
	assert_ptr_equal(ctx, &it.ctx);
	assert_true(page == PRM_CAP_ODP || page == PRM_CAP_CRYPTO);
	*caps = &it.caps;
	return it.caps_err ? it.caps_err : it.page_err;
}

int __wrap_mlx5_clock_get_info(struct mlx5_context *ctx, const struct mlx5_ib_clock_info **info)
{
	assert_ptr_equal(ctx, &it.ctx);
	*info = &it.clock_info;
	return it.info_err;
}

int __wrap_mlx5_clock_get_core(struct mlx5_context *ctx, const volatile __be32 **clock)
{
	assert_ptr_equal(ctx, &it.ctx);
	*clock = it.clock;
	return it.core_err;
}

/* The port's answer: bytes 1, 2, 3, ... */
int __wrap_verbs_cmd_run(struct ibv_context *context, uint16_t object, uint16_t method,
			 const struct verbs_attr *attrs, unsigned int nattrs)
{
	uint8_t *answer = (uint8_t *)(uintptr_t)attrs[1].value;

	assert_ptr_equal(context, &it.ctx.vctx.context);
	assert_int_equal(object, UVERBS_OBJECT_DEVICE);
	assert_int_equal(method, MLX5_IB_METHOD_QUERY_PORT);
	assert_int_equal(nattrs, 2);
	assert_int_equal(attrs[0].id, MLX5_IB_ATTR_QUERY_PORT_PORT_NUM);
	assert_int_equal(attrs[0].value, 3);
	assert_int_equal(attrs[1].id, MLX5_IB_ATTR_QUERY_PORT);
	assert_int_equal(attrs[1].len, sizeof(struct mlx5dv_port));
	for (unsigned int i = 0; !it.kernel_err && i < attrs[1].len; i++)
		answer[i] = (uint8_t)(i + 1);
	return it.kernel_err;
}

struct ibv_context *__wrap_verbs_open_device_as(struct ibv_device *device, const void *fds)
{
	assert_ptr_equal(device, &it.device.device);
	it.opens++;
	it.fds = fds;
	return &it.opened.vctx.context;
}

int __wrap_ibv_close_device(struct ibv_context *context)
{
	assert_ptr_equal(context, &it.opened.vctx.context);
	it.closes++;
	return 0;
}

static int device_begin(void **state)
{
	(void)state;
	memset(&it, 0, sizeof(it));
	it.device.driver = &verbs_provider_mlx5;
	it.ctx.vctx.context.device = it.opened.vctx.context.device = &it.device.device;
	strcpy(it.device.device.name, "mlx5_0");
	strcpy(it.foreign.device.name, "other_0");
	log_text();
	return 0;
}

static struct ibv_context *context(void)
{
	return &it.ctx.vctx.context;
}

static struct mlx5dv_context asked_for(uint64_t mask)
{
	struct mlx5dv_context attrs;

	memset(&attrs, 0xee, sizeof(attrs));
	attrs.comp_mask = mask;
	assert_int_equal(mlx5dv_query_device(context(), &attrs), 0);
	assert_int_equal(attrs.version, 0);
	return attrs;
}

/* ---- the query ---- */

static void a_failed_query_has_an_errno(void **state)
{
	struct ibv_context other = { .device = &it.foreign.device };
	struct mlx5dv_context attrs;

	(void)state;
	it.resp_err = EBADMSG;
	assert_int_equal(mlx5dv_query_device(context(), &attrs), EBADMSG);
	assert_int_equal(mlx5dv_query_device(&other, &attrs), EOPNOTSUPP);
	check_logged("mlx5dv_query_device");
}

static void each_flag_has_its_source(void **state)
{
	static const struct {
		uint32_t mpw, flags, comp, version;
		bool bf, reg;
		uint64_t want;
	} rows[] = {
		{ .version = 1, .want = MLX5DV_CONTEXT_FLAGS_CQE_V1 },
		{ .mpw = MLX5_IB_ALLOW_MPW, .want = MLX5DV_CONTEXT_FLAGS_MPW_ALLOWED },
		{ .mpw = MLX5_IB_SUPPORT_EMPW, .want = MLX5DV_CONTEXT_FLAGS_ENHANCED_MPW },
		{ .flags = MLX5_IB_QUERY_DEV_RESP_FLAGS_CQE_128B_COMP,
		  .want = MLX5DV_CONTEXT_FLAGS_CQE_128B_COMP },
		{ .flags = MLX5_IB_QUERY_DEV_RESP_FLAGS_CQE_128B_PAD,
		  .want = MLX5DV_CONTEXT_FLAGS_CQE_128B_PAD },
		{ .flags = MLX5_IB_QUERY_DEV_RESP_PACKET_BASED_CREDIT_MODE,
		  .want = MLX5DV_CONTEXT_FLAGS_PACKET_BASED_CREDIT_MODE },
		{ .comp = MLX5_IB_ALLOC_UCONTEXT_RESP_MASK_REAL_TIME_TS,
		  .want = MLX5DV_CONTEXT_FLAGS_REAL_TIME_TS },
		{ .bf = true, .reg = true, .want = MLX5DV_CONTEXT_FLAGS_BLUEFLAME },
		{ .bf = true },
		{ .reg = true },
		{ 0 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct mlx5dv_context attrs;

		it.ctx.caps.cqe_version = (uint8_t)rows[i].version;
		it.ctx.caps.comp_mask = rows[i].comp;
		it.ctx.env.blueflame = rows[i].bf;
		it.ctx.caps.bf_reg_size = rows[i].reg ? 512 : 0;
		it.resp.mlx5_ib_support_multi_pkt_send_wqes = rows[i].mpw;
		it.resp.flags = rows[i].flags;
		attrs = asked_for(0);
		assert_int_equal(attrs.flags, rows[i].want);
		assert_int_equal(attrs.comp_mask, 0);
	}
}

/* Whatever a program does not ask for keeps its bytes. */
static void fields_come_when_they_are_asked_for(void **state)
{
	struct mlx5dv_context attrs, untouched;

	(void)state;
	it.resp.cqe_comp_caps.max_num = 11;
	it.resp.cqe_comp_caps.supported_format = 12;
	it.resp.sw_parsing_caps.sw_parsing_offloads = 13;
	it.resp.sw_parsing_caps.supported_qpts = 14;
	it.resp.striding_rq_caps = (struct mlx5_ib_striding_rq_caps){ 15, 16, 17, 18, 19, 0 };
	it.resp.tunnel_offloads_caps = 20;
	it.ctx.caps.num_dyn_bfregs = 21;
	it.ctx.caps.flow_action_flags = 22;
	it.resp.dci_streams_caps.max_log_num_concurent = 23;
	it.resp.dci_streams_caps.max_log_num_errored = 24;
	it.caps.max_copy = 25;
	memset(&untouched, 0xee, sizeof(untouched));
	attrs = asked_for(MLX5DV_CONTEXT_MASK_CQE_COMPRESION);
	assert_int_equal(attrs.comp_mask, MLX5DV_CONTEXT_MASK_CQE_COMPRESION);
	assert_int_equal(attrs.cqe_comp_caps.max_num, 11);
	assert_int_equal(attrs.cqe_comp_caps.supported_format, 12);
	assert_memory_equal(&attrs.sw_parsing_caps, &untouched.sw_parsing_caps,
			    sizeof(attrs) - offsetof(struct mlx5dv_context, sw_parsing_caps));
	attrs = asked_for(MLX5DV_CONTEXT_MASK_SWP);
	assert_int_equal(attrs.cqe_comp_caps.max_num, 0xeeeeeeee);
	assert_int_equal(attrs.sw_parsing_caps.sw_parsing_offloads, 13);
	assert_int_equal(attrs.sw_parsing_caps.supported_qpts, 14);
	attrs = asked_for(MLX5DV_CONTEXT_MASK_STRIDING_RQ);
	assert_int_equal(attrs.striding_rq_caps.min_single_stride_log_num_of_bytes, 15);
	assert_int_equal(attrs.striding_rq_caps.max_single_stride_log_num_of_bytes, 16);
	assert_int_equal(attrs.striding_rq_caps.min_single_wqe_log_num_of_strides, 17);
	assert_int_equal(attrs.striding_rq_caps.max_single_wqe_log_num_of_strides, 18);
	assert_int_equal(attrs.striding_rq_caps.supported_qpts, 19);
	assert_int_equal(asked_for(MLX5DV_CONTEXT_MASK_TUNNEL_OFFLOADS).tunnel_offloads_caps, 20);
	assert_int_equal(asked_for(MLX5DV_CONTEXT_MASK_DYN_BFREGS).max_dynamic_bfregs, 21);
	assert_int_equal(asked_for(MLX5DV_CONTEXT_MASK_FLOW_ACTION_FLAGS).flow_action_flags, 22);
	attrs = asked_for(MLX5DV_CONTEXT_MASK_DCI_STREAMS);
	assert_int_equal(attrs.dci_streams_caps.max_log_num_concurent, 23);
	assert_int_equal(attrs.dci_streams_caps.max_log_num_errored, 24);
	assert_int_equal(asked_for(MLX5DV_CONTEXT_MASK_WR_MEMCPY_LENGTH).max_wr_memcpy_length, 25);
	it.caps_err = EOPNOTSUPP;
	assert_int_equal(asked_for(MLX5DV_CONTEXT_MASK_WR_MEMCPY_LENGTH).max_wr_memcpy_length, 0);
	attrs = asked_for(1ull << 40 | MLX5DV_CONTEXT_MASK_SWP);
	assert_int_equal(attrs.comp_mask, MLX5DV_CONTEXT_MASK_SWP);
	attrs = asked_for(0);
	assert_memory_equal(&attrs.cqe_comp_caps, &untouched.cqe_comp_caps,
			    sizeof(attrs) - offsetof(struct mlx5dv_context, cqe_comp_caps));
}

static void block_signatures_are_those_of_the_device(void **state)
{
	const uint64_t mask = MLX5DV_CONTEXT_MASK_SIGNATURE_OFFLOAD;
	struct mlx5dv_sig_caps sig;

	(void)state;
	it.caps.signs_crc32c = it.caps.signs_crc64 = it.caps.signs_4048 = true;
	sig = asked_for(mask).sig_caps;
	assert_true(!sig.block_size && !sig.block_prot && !sig.t10dif_bg && !sig.crc_type);
	it.caps.signs_blocks = true;
	sig = asked_for(mask).sig_caps;
	assert_int_equal(sig.block_size, MLX5DV_BLOCK_SIZE_CAP_512 | MLX5DV_BLOCK_SIZE_CAP_520 |
						 MLX5DV_BLOCK_SIZE_CAP_4048 |
						 MLX5DV_BLOCK_SIZE_CAP_4096 |
						 MLX5DV_BLOCK_SIZE_CAP_4160);
	assert_int_equal(sig.crc_type, MLX5DV_SIG_CRC_TYPE_CAP_CRC32 |
					       MLX5DV_SIG_CRC_TYPE_CAP_CRC32C |
					       MLX5DV_SIG_CRC_TYPE_CAP_CRC64_XP10);
	it.caps.signs_crc32c = it.caps.signs_crc64 = it.caps.signs_4048 = false;
	sig = asked_for(mask).sig_caps;
	assert_int_equal(sig.block_size, MLX5DV_BLOCK_SIZE_CAP_512 | MLX5DV_BLOCK_SIZE_CAP_520 |
						 MLX5DV_BLOCK_SIZE_CAP_4096 |
						 MLX5DV_BLOCK_SIZE_CAP_4160);
	assert_int_equal(sig.block_prot, MLX5DV_SIG_PROT_CAP_T10DIF | MLX5DV_SIG_PROT_CAP_CRC);
	assert_int_equal(sig.t10dif_bg,
			 MLX5DV_SIG_T10DIF_BG_CAP_CRC | MLX5DV_SIG_T10DIF_BG_CAP_CSUM);
	assert_int_equal(sig.crc_type, MLX5DV_SIG_CRC_TYPE_CAP_CRC32);
	it.caps_err = EOPNOTSUPP;
	sig = asked_for(mask).sig_caps;
	assert_true(!sig.block_size && !sig.block_prot && !sig.t10dif_bg && !sig.crc_type);
}

static bool has_no_crypto(const struct mlx5dv_crypto_caps *crypto)
{
	return !crypto->failed_selftests && !crypto->log_max_num_deks && !crypto->flags &&
	       !crypto->crypto_engines && !crypto->wrapped_import_method;
}

static void encryption_is_that_of_the_device(void **state)
{
	const uint64_t mask = MLX5DV_CONTEXT_MASK_CRYPTO_OFFLOAD;
	struct mlx5dv_crypto_caps crypto;

	(void)state;
	it.caps.log_deks = 9;
	it.caps.failed_selftests = 0x102;
	crypto = asked_for(mask).crypto_caps;
	assert_true(has_no_crypto(&crypto));
	it.caps.encrypts = true;
	crypto = asked_for(mask).crypto_caps;
	assert_int_equal(crypto.failed_selftests, 0x102);
	assert_int_equal(crypto.log_max_num_deks, 9);
	assert_int_equal(crypto.flags, MLX5DV_CRYPTO_CAPS_CRYPTO);
	assert_int_equal(crypto.crypto_engines, MLX5DV_CRYPTO_ENGINES_CAP_AES_XTS_SINGLE_BLOCK);
	assert_int_equal(crypto.wrapped_import_method, 0);
	it.caps.encrypts_units = it.caps.unwraps_aes_xts = true;
	it.caps.imports_wrapped = true;
	crypto = asked_for(mask).crypto_caps;
	assert_int_equal(crypto.crypto_engines,
			 MLX5DV_CRYPTO_ENGINES_CAP_AES_XTS_SINGLE_BLOCK |
				 MLX5DV_CRYPTO_ENGINES_CAP_AES_XTS_MULTI_BLOCK);
	assert_int_equal(crypto.wrapped_import_method,
			 MLX5DV_CRYPTO_WRAPPED_IMPORT_METHOD_CAP_AES_XTS);
	assert_int_equal(crypto.flags,
			 MLX5DV_CRYPTO_CAPS_CRYPTO | MLX5DV_CRYPTO_CAPS_WRAPPED_CRYPTO_OPERATIONAL);
	it.caps.imports_wrapped = false;
	it.caps.will_import_wrapped = true;
	assert_int_equal(asked_for(mask).crypto_caps.flags,
			 MLX5DV_CRYPTO_CAPS_CRYPTO |
				 MLX5DV_CRYPTO_CAPS_WRAPPED_CRYPTO_GOING_TO_COMMISSIONING);
	it.page_err = EOPNOTSUPP;
	crypto = asked_for(mask).crypto_caps;
	assert_true(has_no_crypto(&crypto));
}

static void what_the_device_alone_knows_may_stay_unanswered(void **state)
{
	const uint64_t lag = MLX5DV_CONTEXT_MASK_NUM_LAG_PORTS;
	const uint64_t dc = MLX5DV_CONTEXT_MASK_MAX_DC_RD_ATOM;
	const uint64_t odp = MLX5DV_CONTEXT_MASK_DC_ODP_CAPS;
	struct mlx5dv_context attrs;

	(void)state;
	assert_int_equal(asked_for(lag).comp_mask, 0);
	it.caps.lag_ports = 2;
	it.caps.log_dc_reads = 3;
	it.caps.log_dc_requests = 40;
	it.caps.dc_odp = 0x1f;
	attrs = asked_for(lag);
	assert_int_equal(attrs.comp_mask, lag);
	assert_int_equal(attrs.num_lag_ports, 2);
	attrs = asked_for(dc);
	assert_int_equal(attrs.comp_mask, dc);
	assert_int_equal(attrs.num_lag_ports, 0xee);
	assert_int_equal(attrs.max_dc_rd_atom, 8);
	assert_int_equal(attrs.max_dc_init_rd_atom, 1ull << 40);
	attrs = asked_for(odp);
	assert_int_equal(attrs.comp_mask, odp);
	assert_int_equal(attrs.dc_odp_caps, 0x1f);
	it.page_err = EOPNOTSUPP;
	attrs = asked_for(odp | lag);
	assert_int_equal(attrs.comp_mask, odp | lag);
	assert_int_equal(attrs.dc_odp_caps, 0);
	it.caps_err = EOPNOTSUPP;
	attrs = asked_for(odp | lag | dc);
	assert_int_equal(attrs.comp_mask, odp);
	assert_int_equal(attrs.dc_odp_caps, 0);
}

static void the_clock_is_shown_if_the_kernel_maps_it(void **state)
{
	const uint64_t core = MLX5DV_CONTEXT_MASK_HCA_CORE_CLOCK;
	const uint64_t info = MLX5DV_CONTEXT_MASK_CLOCK_INFO_UPDATE;
	struct mlx5dv_context attrs;

	(void)state;
	it.clock_info.overflow_period = 0x123456789;
	assert_int_equal(asked_for(core | info).comp_mask, 0);
	it.ctx.caps.comp_mask = MLX5_IB_ALLOC_UCONTEXT_RESP_MASK_CORE_CLOCK_OFFSET;
	attrs = asked_for(core | info);
	assert_int_equal(attrs.comp_mask, core);
	assert_ptr_equal(attrs.hca_core_clock, it.clock);
	it.ctx.caps.comp_mask = 0;
	it.ctx.caps.clock_info_versions = 1u << MLX5_IB_CLOCK_INFO_V1;
	attrs = asked_for(core | info);
	assert_int_equal(attrs.comp_mask, info);
	assert_int_equal(attrs.max_clock_info_update_nsec, 0x123456789);
	it.ctx.caps.comp_mask = MLX5_IB_ALLOC_UCONTEXT_RESP_MASK_CORE_CLOCK_OFFSET;
	it.info_err = it.core_err = EIO;
	assert_int_equal(asked_for(core | info).comp_mask, 0);
	it.info_err = it.core_err = 0;
	assert_int_equal(asked_for(core).comp_mask, core);
	assert_int_equal(asked_for(info).comp_mask, info);
	assert_int_equal(asked_for(MLX5DV_CONTEXT_MASK_SWP).comp_mask, MLX5DV_CONTEXT_MASK_SWP);
}

static void early_receives_and_register_c0_need_the_kernel(void **state)
{
	const uint64_t early = MLX5DV_CONTEXT_MASK_OOO_RECV_WRS;
	const uint64_t c0 = MLX5DV_CONTEXT_MASK_REG_C0;
	struct mlx5dv_context attrs;

	(void)state;
	it.caps.early_rc = 1;
	it.caps.early_xrc = 2;
	it.caps.early_dc = 3;
	it.caps.early_ud = 4;
	it.caps.early_uc = 5;
	it.resp.reg_c0.value = 0x77;
	assert_int_equal(asked_for(early | c0).comp_mask, 0);
	it.resp.flags = MLX5_IB_QUERY_DEV_RESP_FLAGS_OOO_DP;
	it.resp.reg_c0.mask = 0xffff0000;
	attrs = asked_for(early);
	assert_int_equal(attrs.comp_mask, early);
	assert_int_equal(attrs.ooo_recv_wrs_caps.max_rc, 1);
	assert_int_equal(attrs.ooo_recv_wrs_caps.max_xrc, 2);
	assert_int_equal(attrs.ooo_recv_wrs_caps.max_dct, 3);
	assert_int_equal(attrs.ooo_recv_wrs_caps.max_ud, 4);
	assert_int_equal(attrs.ooo_recv_wrs_caps.max_uc, 5);
	attrs = asked_for(c0);
	assert_int_equal(attrs.comp_mask, c0);
	assert_int_equal(attrs.reg_c0.value, 0x77);
	assert_int_equal(attrs.reg_c0.mask, 0xffff0000);
	it.caps_err = EOPNOTSUPP;
	attrs = asked_for(early);
	assert_int_equal(attrs.comp_mask, early);
	assert_int_equal(attrs.ooo_recv_wrs_caps.max_rc | attrs.ooo_recv_wrs_caps.max_uc, 0);
}

/* ---- a port ---- */

static void a_ports_answer_fits_the_programs_struct(void **state)
{
	enum { SIZE = sizeof(struct mlx5dv_port) };
	struct {
		struct mlx5dv_port port;
		uint8_t more[8];
	} info;
	uint8_t *bytes = (uint8_t *)&info;

	(void)state;
	for (size_t len = sizeof(info.port.flags); len <= SIZE + 8; len++) {
		memset(&info, 0xee, sizeof(info));
		assert_int_equal(_mlx5dv_query_port(context(), 3, &info.port, len), 0);
		for (size_t i = 0; i < sizeof(info); i++)
			assert_int_equal(bytes[i], i >= len ? 0xee : i < SIZE ? i + 1 : 0);
	}
}

static void a_port_is_refused_with_its_errno(void **state)
{
	struct ibv_context other = { .device = &it.foreign.device };
	struct mlx5dv_port info;

	(void)state;
	memset(&info, 0xee, sizeof(info));
	assert_int_equal(_mlx5dv_query_port(&other, 3, &info, sizeof(info)), EOPNOTSUPP);
	check_logged("mlx5dv_query_port");
	assert_int_equal(_mlx5dv_query_port(context(), 3, NULL, sizeof(info)), EINVAL);
	check_logged("mlx5dv_query_port: info is");
	assert_int_equal(_mlx5dv_query_port(context(), 3, &info, sizeof(info.flags) - 1), EINVAL);
	check_logged("of 7 bytes: must be at least 8");
	it.kernel_err = ENODEV;
	assert_int_equal(_mlx5dv_query_port(context(), 3, &info, sizeof(info)), ENODEV);
	assert_int_equal(info.flags, 0xeeeeeeeeeeeeeeee);
}

/* ---- opening ---- */

static void devices_of_other_drivers_are_not_opened(void **state)
{
	(void)state;
	assert_true(mlx5dv_is_supported(&it.device.device));
	assert_false(mlx5dv_is_supported(&it.foreign.device));
	assert_null(mlx5dv_open_device(&it.foreign.device, NULL));
	assert_int_equal(errno, EOPNOTSUPP);
	check_logged("mlx5dv_open_device: other_0 is not an mlx5 device");
	assert_int_equal(it.opens, 0);
}

static void attributes_of_an_open_are_checked(void **state)
{
	struct ibv_fd_arr fds = { .count = UINT16_MAX / sizeof(int) + 1 };
	struct mlx5dv_context_attr rows[] = {
		{ .comp_mask = 2 },
		{ .flags = 2 },
		{ .comp_mask = MLX5DV_CONTEXT_ATTR_MASK_FD_ARRAY },
		{ .comp_mask = MLX5DV_CONTEXT_ATTR_MASK_FD_ARRAY, .fds = &fds },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		assert_null(mlx5dv_open_device(&it.device.device, &rows[i]));
		assert_int_equal(errno, EINVAL);
		check_logged(i < 2 ? "mlx5dv_open_device: comp_mask is"
				   : "mlx5dv_open_device: fds is");
	}
	assert_int_equal(it.opens, 0);
	fds.count--;
	assert_non_null(mlx5dv_open_device(&it.device.device, &rows[3]));
	assert_ptr_equal(it.fds, &fds);
	rows[3].comp_mask = 0; /* then fds counts for nothing */
	assert_non_null(mlx5dv_open_device(&it.device.device, &rows[3]));
	assert_null(it.fds);
	assert_non_null(mlx5dv_open_device(&it.device.device, NULL));
	assert_int_equal(it.closes, 0);
}

static void a_context_without_devx_is_closed_if_devx_was_asked_for(void **state)
{
	struct mlx5dv_context_attr attr = { .flags = MLX5DV_CONTEXT_FLAGS_DEVX };

	(void)state;
	it.opened.devx_refusal = EPERM;
	assert_null(mlx5dv_open_device(&it.device.device, &attr));
	assert_int_equal(errno, EPERM);
	assert_int_equal(it.closes, 1);
	check_logged("the kernel refuses commands of programs");
	it.opened.has_devx = true;
	assert_ptr_equal(mlx5dv_open_device(&it.device.device, &attr), &it.opened.vctx.context);
	it.opened.has_devx = false;
	attr.flags = 0;
	assert_ptr_equal(mlx5dv_open_device(&it.device.device, &attr), &it.opened.vctx.context);
	assert_int_equal(it.closes, 1);
}

/* ---- the clock ---- */

static void clock_information_is_that_of_the_page(void **state)
{
	struct ibv_context other = { .device = &it.foreign.device };
	struct mlx5dv_clock_info out;

	(void)state;
	it.clock_info.nsec = 1;
	it.clock_info.cycles = 2;
	it.clock_info.frac = 3;
	it.clock_info.mult = 4;
	it.clock_info.shift = 5;
	it.clock_info.mask = 6;
	assert_int_equal(mlx5dv_get_clock_info(context(), &out), 0);
	assert_int_equal(out.nsec, 1);
	assert_int_equal(out.last_cycles, 2);
	assert_int_equal(out.frac, 3);
	assert_int_equal(out.mult, 4);
	assert_int_equal(out.shift, 5);
	assert_int_equal(out.mask, 6);
	it.info_err = ENOMEM;
	assert_int_equal(mlx5dv_get_clock_info(context(), &out), ENOMEM);
	assert_int_equal(mlx5dv_get_clock_info(&other, &out), EOPNOTSUPP);
}

#define TEST(test) cmocka_unit_test_setup(test, device_begin)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_failed_query_has_an_errno),
		TEST(each_flag_has_its_source),
		TEST(fields_come_when_they_are_asked_for),
		TEST(block_signatures_are_those_of_the_device),
		TEST(encryption_is_that_of_the_device),
		TEST(what_the_device_alone_knows_may_stay_unanswered),
		TEST(the_clock_is_shown_if_the_kernel_maps_it),
		TEST(early_receives_and_register_c0_need_the_kernel),
		TEST(a_ports_answer_fits_the_programs_struct),
		TEST(a_port_is_refused_with_its_errno),
		TEST(devices_of_other_drivers_are_not_opened),
		TEST(attributes_of_an_open_are_checked),
		TEST(a_context_without_devx_is_closed_if_devx_was_asked_for),
		TEST(clock_information_is_that_of_the_page),
	};

	log_to_memory();
	return cmocka_run_group_tests(tests, NULL, NULL);
}

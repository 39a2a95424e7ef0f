/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * device.c - direct verbs on devices: recognising and opening one, its capabilities, raw commands.
 */
#include <string.h>

#include "providers/mlx5/clock.h"
#include "providers/mlx5/dv/dv.h"
#include "providers/mlx5/device.h"
#include "providers/mlx5/hca_caps.h"

#include <rdma/mlx5_user_ioctl_cmds.h>

DV_EXPORT bool mlx5dv_is_supported(struct ibv_device *device)
{
	return verbs_driver_of(device) == &verbs_provider_mlx5;
}

static const struct ibv_fd_arr *fds_of(const struct mlx5dv_context_attr *attr)
{
	return attr && attr->comp_mask & MLX5DV_CONTEXT_ATTR_MASK_FD_ARRAY ? attr->fds : NULL;
}

static int check_open(const struct mlx5dv_context_attr *attr)
{
	const uint32_t max = UINT16_MAX / sizeof(int);

	if (attr->comp_mask & ~(uint64_t)MLX5DV_CONTEXT_ATTR_MASK_FD_ARRAY ||
	    attr->flags & ~(uint32_t)MLX5DV_CONTEXT_FLAGS_DEVX) {
		verbs_warn("mlx5dv_open_device: comp_mask is %#llx, supported are %#x; flags is "
			   "%#x, supported are %#x",
			   (unsigned long long)attr->comp_mask, MLX5DV_CONTEXT_ATTR_MASK_FD_ARRAY,
			   attr->flags, MLX5DV_CONTEXT_FLAGS_DEVX);
		return EINVAL;
	}
	if (attr->comp_mask && (!attr->fds || attr->fds->count > max)) {
		verbs_warn("mlx5dv_open_device: fds is %p, with %u descriptors, limit %u",
			   (void *)attr->fds, attr->fds ? attr->fds->count : 0, max);
		return EINVAL;
	}
	return 0;
}

DV_EXPORT struct ibv_context *mlx5dv_open_device(struct ibv_device *device,
						 struct mlx5dv_context_attr *attr)
{
	struct ibv_context *context;
	int ret;

	if (!mlx5dv_is_supported(device)) {
		verbs_warn("mlx5dv_open_device: %s is not an mlx5 device", device->name);
		return dv_fail(EOPNOTSUPP);
	}
	ret = attr ? check_open(attr) : 0;
	if (ret)
		return dv_fail(ret);
	context = verbs_open_device_as(device, fds_of(attr));
	if (!context || !attr || !(attr->flags & MLX5DV_CONTEXT_FLAGS_DEVX))
		return context;
	if (to_mctx(context)->has_devx)
		return context;
	verbs_warn("mlx5dv_open_device: MLX5DV_CONTEXT_FLAGS_DEVX: the kernel refuses commands of "
		   "programs: %s",
		   strerror(to_mctx(context)->devx_refusal));
	ret = to_mctx(context)->devx_refusal;
	ibv_close_device(context);
	return dv_fail(ret);
}

/* A program of an older or newer release may have a shorter or longer struct, so info_len bounds
 * the copy. */
DV_EXPORT int _mlx5dv_query_port(struct ibv_context *context, uint32_t port_num,
				 struct mlx5dv_port *info, size_t info_len)
{
	struct mlx5dv_port answer = { 0 };
	const struct verbs_attr attrs[] = {
		verbs_attr_u32(MLX5_IB_ATTR_QUERY_PORT_PORT_NUM, port_num),
		verbs_attr_out(MLX5_IB_ATTR_QUERY_PORT, &answer, sizeof(answer)),
	};
	int ret = dv_check_context("mlx5dv_query_port", context);

	if (!ret && (!info || info_len < sizeof(info->flags))) {
		verbs_warn("mlx5dv_query_port: info is %p, of %zu bytes: must be at least %zu",
			   (void *)info, info_len, sizeof(info->flags));
		ret = EINVAL;
	}
	if (!ret)
		ret = verbs_cmd_run(context, UVERBS_OBJECT_DEVICE, MLX5_IB_METHOD_QUERY_PORT, attrs,
				    ARRAY_SIZE(attrs));
	if (ret)
		return verbs_result(ret);
	if (info_len == sizeof(answer)) {
		*info = answer;
		return 0;
	}
	memset(info, 0, info_len);
	memcpy(info, &answer, min_of(info_len, sizeof(answer)));
	return 0;
}

static uint64_t context_flags(const struct mlx5_context *ctx,
			      const struct mlx5_ib_query_device_resp *resp)
{
	uint64_t flags = 0;

	if (context_has_user_index(ctx))
		flags |= MLX5DV_CONTEXT_FLAGS_CQE_V1;
	if (resp->mlx5_ib_support_multi_pkt_send_wqes & MLX5_IB_ALLOW_MPW)
		flags |= MLX5DV_CONTEXT_FLAGS_MPW_ALLOWED;
	if (resp->mlx5_ib_support_multi_pkt_send_wqes & MLX5_IB_SUPPORT_EMPW)
		flags |= MLX5DV_CONTEXT_FLAGS_ENHANCED_MPW;
	if (resp->flags & MLX5_IB_QUERY_DEV_RESP_FLAGS_CQE_128B_COMP)
		flags |= MLX5DV_CONTEXT_FLAGS_CQE_128B_COMP;
	if (resp->flags & MLX5_IB_QUERY_DEV_RESP_FLAGS_CQE_128B_PAD)
		flags |= MLX5DV_CONTEXT_FLAGS_CQE_128B_PAD;
	if (resp->flags & MLX5_IB_QUERY_DEV_RESP_PACKET_BASED_CREDIT_MODE)
		flags |= MLX5DV_CONTEXT_FLAGS_PACKET_BASED_CREDIT_MODE;
	if (ctx->caps.comp_mask & MLX5_IB_ALLOC_UCONTEXT_RESP_MASK_REAL_TIME_TS)
		flags |= MLX5DV_CONTEXT_FLAGS_REAL_TIME_TS;
	if (ctx->env.blueflame && ctx->caps.bf_reg_size)
		flags |= MLX5DV_CONTEXT_FLAGS_BLUEFLAME;
	return flags;
}

static void parts_put_striding_rq(const struct mlx5_ib_striding_rq_caps *from,
				  struct mlx5dv_striding_rq_caps *to)
{
	to->min_single_stride_log_num_of_bytes = from->min_single_stride_log_num_of_bytes;
	to->max_single_stride_log_num_of_bytes = from->max_single_stride_log_num_of_bytes;
	to->min_single_wqe_log_num_of_strides = from->min_single_wqe_log_num_of_strides;
	to->max_single_wqe_log_num_of_strides = from->max_single_wqe_log_num_of_strides;
	to->supported_qpts = from->supported_qpts;
}

/* Answers the clock fields if the kernel maps the clock. Returns the mask of answered fields. */
static uint64_t parts_put_clock(struct mlx5_context *ctx, uint64_t asked,
				struct mlx5dv_context *attrs)
{
	const bool shown = ctx->caps.comp_mask & MLX5_IB_ALLOC_UCONTEXT_RESP_MASK_CORE_CLOCK_OFFSET;
	const bool explained = ctx->caps.clock_info_versions & 1u << MLX5_IB_CLOCK_INFO_V1;
	const struct mlx5_ib_clock_info *info;
	const volatile __be32 *clock;
	uint64_t put = 0;

	if (asked & MLX5DV_CONTEXT_MASK_CLOCK_INFO_UPDATE && explained &&
	    !mlx5_clock_get_info(ctx, &info)) {
		attrs->max_clock_info_update_nsec = info->overflow_period;
		put |= MLX5DV_CONTEXT_MASK_CLOCK_INFO_UPDATE;
	}
	if (asked & MLX5DV_CONTEXT_MASK_HCA_CORE_CLOCK && shown &&
	    !mlx5_clock_get_core(ctx, &clock)) {
		attrs->hca_core_clock = (void *)(uintptr_t)clock;
		put |= MLX5DV_CONTEXT_MASK_HCA_CORE_CLOCK;
	}
	return put;
}

/* Answers the fields that only a command to the device provides. Returns the mask of answered
 * fields: without DevX, commands are refused, and the fields stay unanswered. */
static uint64_t parts_put_caps(struct mlx5_context *ctx, uint64_t asked,
			       struct mlx5dv_context *attrs)
{
	const uint64_t known = MLX5DV_CONTEXT_MASK_NUM_LAG_PORTS |
			       MLX5DV_CONTEXT_MASK_MAX_DC_RD_ATOM | MLX5DV_CONTEXT_MASK_DC_ODP_CAPS;
	const struct mlx5_hca_caps *caps;
	uint64_t put = 0;

	if (asked & MLX5DV_CONTEXT_MASK_DC_ODP_CAPS)
		attrs->dc_odp_caps = 0; /* without DevX nothing is known, so nothing is promised */
	if (!(asked & known) || mlx5_hca_caps_get(ctx, &caps))
		return 0;
	if (asked & MLX5DV_CONTEXT_MASK_DC_ODP_CAPS &&
	    !mlx5_hca_caps_get_with(ctx, PRM_CAP_ODP, &caps))
		attrs->dc_odp_caps = caps->dc_odp;
	if (asked & MLX5DV_CONTEXT_MASK_NUM_LAG_PORTS && caps->lag_ports) {
		attrs->num_lag_ports = caps->lag_ports;
		put |= MLX5DV_CONTEXT_MASK_NUM_LAG_PORTS;
	}
	if (asked & MLX5DV_CONTEXT_MASK_MAX_DC_RD_ATOM) {
		attrs->max_dc_rd_atom = UINT64_C(1) << caps->log_dc_reads;
		attrs->max_dc_init_rd_atom = UINT64_C(1) << caps->log_dc_requests;
		put |= MLX5DV_CONTEXT_MASK_MAX_DC_RD_ATOM;
	}
	return put;
}

/* Answers the limits of out-of-order receives; all are 0 without DevX. */
static void parts_put_early(struct mlx5_context *ctx, struct mlx5dv_ooo_recv_wrs_caps *out)
{
	const struct mlx5_hca_caps *caps;

	*out = (struct mlx5dv_ooo_recv_wrs_caps){ 0 };
	if (mlx5_hca_caps_get(ctx, &caps))
		return;
	out->max_rc = caps->early_rc;
	out->max_xrc = caps->early_xrc;
	out->max_dct = caps->early_dc;
	out->max_ud = caps->early_ud;
	out->max_uc = caps->early_uc;
}

static uint64_t parts_put_if_there(struct mlx5_context *ctx,
				   const struct mlx5_ib_query_device_resp *resp, uint64_t asked,
				   struct mlx5dv_context *attrs)
{
	uint64_t put = parts_put_clock(ctx, asked, attrs) | parts_put_caps(ctx, asked, attrs);

	if (asked & MLX5DV_CONTEXT_MASK_OOO_RECV_WRS &&
	    resp->flags & MLX5_IB_QUERY_DEV_RESP_FLAGS_OOO_DP) {
		parts_put_early(ctx, &attrs->ooo_recv_wrs_caps);
		put |= MLX5DV_CONTEXT_MASK_OOO_RECV_WRS;
	}
	if (asked & MLX5DV_CONTEXT_MASK_REG_C0 && resp->reg_c0.mask) {
		attrs->reg_c0.value = resp->reg_c0.value;
		attrs->reg_c0.mask = resp->reg_c0.mask;
		put |= MLX5DV_CONTEXT_MASK_REG_C0;
	}
	return put;
}

#define PARTS_KNOWN                                                                \
	(MLX5DV_CONTEXT_MASK_CQE_COMPRESION | MLX5DV_CONTEXT_MASK_SWP |            \
	 MLX5DV_CONTEXT_MASK_STRIDING_RQ | MLX5DV_CONTEXT_MASK_TUNNEL_OFFLOADS |   \
	 MLX5DV_CONTEXT_MASK_DYN_BFREGS | MLX5DV_CONTEXT_MASK_FLOW_ACTION_FLAGS |  \
	 MLX5DV_CONTEXT_MASK_DC_ODP_CAPS | MLX5DV_CONTEXT_MASK_SIGNATURE_OFFLOAD | \
	 MLX5DV_CONTEXT_MASK_DCI_STREAMS | MLX5DV_CONTEXT_MASK_WR_MEMCPY_LENGTH |  \
	 MLX5DV_CONTEXT_MASK_CRYPTO_OFFLOAD)

static struct mlx5dv_sig_caps sig_caps(struct mlx5_context *ctx)
{
	struct mlx5dv_sig_caps sig = { 0 };
	const struct mlx5_hca_caps *caps;

	if (mlx5_hca_caps_get(ctx, &caps) || !caps->signs_blocks)
		return sig;
	sig.block_size = MLX5DV_BLOCK_SIZE_CAP_512 | MLX5DV_BLOCK_SIZE_CAP_520 |
			 MLX5DV_BLOCK_SIZE_CAP_4096 | MLX5DV_BLOCK_SIZE_CAP_4160;
	sig.block_prot = MLX5DV_SIG_PROT_CAP_T10DIF | MLX5DV_SIG_PROT_CAP_CRC;
	sig.t10dif_bg = MLX5DV_SIG_T10DIF_BG_CAP_CRC | MLX5DV_SIG_T10DIF_BG_CAP_CSUM;
	sig.crc_type = MLX5DV_SIG_CRC_TYPE_CAP_CRC32;
	if (caps->signs_4048)
		sig.block_size |= MLX5DV_BLOCK_SIZE_CAP_4048;
	if (caps->signs_crc32c)
		sig.crc_type |= MLX5DV_SIG_CRC_TYPE_CAP_CRC32C;
	if (caps->signs_crc64)
		sig.crc_type |= MLX5DV_SIG_CRC_TYPE_CAP_CRC64_XP10;
	return sig;
}

static struct mlx5dv_crypto_caps crypto_caps(struct mlx5_context *ctx)
{
	struct mlx5dv_crypto_caps crypto = { 0 };
	const struct mlx5_hca_caps *caps;

	if (mlx5_hca_caps_get_with(ctx, PRM_CAP_CRYPTO, &caps) || !caps->encrypts)
		return crypto;
	crypto.failed_selftests = caps->failed_selftests;
	crypto.log_max_num_deks = caps->log_deks;
	crypto.flags = MLX5DV_CRYPTO_CAPS_CRYPTO;
	crypto.crypto_engines = MLX5DV_CRYPTO_ENGINES_CAP_AES_XTS_SINGLE_BLOCK;
	if (caps->encrypts_units)
		crypto.crypto_engines |= MLX5DV_CRYPTO_ENGINES_CAP_AES_XTS_MULTI_BLOCK;
	if (caps->unwraps_aes_xts)
		crypto.wrapped_import_method = MLX5DV_CRYPTO_WRAPPED_IMPORT_METHOD_CAP_AES_XTS;
	if (caps->imports_wrapped)
		crypto.flags |= MLX5DV_CRYPTO_CAPS_WRAPPED_CRYPTO_OPERATIONAL;
	if (caps->will_import_wrapped)
		crypto.flags |= MLX5DV_CRYPTO_CAPS_WRAPPED_CRYPTO_GOING_TO_COMMISSIONING;
	return crypto;
}

/* Returns the longest memory copy. Without DevX it is 0: the device cannot be queried, and QPs have
 * no builder for copies. */
static uint32_t max_copy(struct mlx5_context *ctx)
{
	const struct mlx5_hca_caps *caps;

	return mlx5_hca_caps_get(ctx, &caps) ? 0 : caps->max_copy;
}

static uint64_t parts_put(struct mlx5_context *ctx, const struct mlx5_ib_query_device_resp *resp,
			  uint64_t asked, struct mlx5dv_context *attrs)
{
	if (asked & MLX5DV_CONTEXT_MASK_CQE_COMPRESION) {
		attrs->cqe_comp_caps.max_num = resp->cqe_comp_caps.max_num;
		attrs->cqe_comp_caps.supported_format = resp->cqe_comp_caps.supported_format;
	}
	if (asked & MLX5DV_CONTEXT_MASK_SWP) {
		attrs->sw_parsing_caps.sw_parsing_offloads =
			resp->sw_parsing_caps.sw_parsing_offloads;
		attrs->sw_parsing_caps.supported_qpts = resp->sw_parsing_caps.supported_qpts;
	}
	if (asked & MLX5DV_CONTEXT_MASK_STRIDING_RQ)
		parts_put_striding_rq(&resp->striding_rq_caps, &attrs->striding_rq_caps);
	if (asked & MLX5DV_CONTEXT_MASK_TUNNEL_OFFLOADS)
		attrs->tunnel_offloads_caps = resp->tunnel_offloads_caps;
	if (asked & MLX5DV_CONTEXT_MASK_DYN_BFREGS)
		attrs->max_dynamic_bfregs = ctx->caps.num_dyn_bfregs;
	if (asked & MLX5DV_CONTEXT_MASK_FLOW_ACTION_FLAGS)
		attrs->flow_action_flags = ctx->caps.flow_action_flags;
	if (asked & MLX5DV_CONTEXT_MASK_DCI_STREAMS) {
		attrs->dci_streams_caps.max_log_num_concurent =
			resp->dci_streams_caps.max_log_num_concurent;
		attrs->dci_streams_caps.max_log_num_errored =
			resp->dci_streams_caps.max_log_num_errored;
	}
	if (asked & MLX5DV_CONTEXT_MASK_WR_MEMCPY_LENGTH)
		attrs->max_wr_memcpy_length = max_copy(ctx);
	if (asked & MLX5DV_CONTEXT_MASK_SIGNATURE_OFFLOAD)
		attrs->sig_caps = sig_caps(ctx);
	if (asked & MLX5DV_CONTEXT_MASK_CRYPTO_OFFLOAD)
		attrs->crypto_caps = crypto_caps(ctx);
	return asked & PARTS_KNOWN;
}

static uint64_t __attribute__((noinline))
parts_answer(struct mlx5_context *ctx, const struct mlx5_ib_query_device_resp *resp, uint64_t asked,
	     struct mlx5dv_context *attrs)
{
	return parts_put(ctx, resp, asked, attrs) | parts_put_if_there(ctx, resp, asked, attrs);
}

DV_EXPORT int mlx5dv_query_device(struct ibv_context *context, struct mlx5dv_context *attrs)
{
	const struct mlx5_ib_query_device_resp *resp;
	struct mlx5_context *ctx;
	uint64_t asked;
	int ret = dv_check_context("mlx5dv_query_device", context);

	if (ret)
		return verbs_result(ret);
	ctx = to_mctx(context);
	ret = mlx5_device_resp_get(ctx, &resp);
	if (ret)
		return verbs_result(ret);
	attrs->version = 0;
	attrs->flags = context_flags(ctx, resp);
	asked = attrs->comp_mask;
	attrs->comp_mask = asked ? parts_answer(ctx, resp, asked, attrs) : 0;
	return 0;
}

DV_EXPORT int mlx5dv_get_clock_info(struct ibv_context *context, struct mlx5dv_clock_info *out)
{
	int ret = dv_check_context("mlx5dv_get_clock_info", context);
	const struct mlx5_ib_clock_info *page;
	struct mlx5_ib_clock_info info;

	if (!ret)
		ret = mlx5_clock_get_info(to_mctx(context), &page);
	if (!ret)
		ret = clock_snapshot(page, &info);
	if (ret)
		return verbs_result(ret);
	*out = (struct mlx5dv_clock_info){
		.nsec = info.nsec,
		.last_cycles = info.cycles,
		.frac = info.frac,
		.mult = info.mult,
		.shift = info.shift,
		.mask = info.mask,
	};
	return 0;
}

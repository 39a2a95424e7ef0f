/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * qp.c - direct verbs on queue pairs.
 */
#include "prm/mlx5/cmd.h"
#include "prm/mlx5/qpc.h"
#include "prm/mlx5/states.h"
#include "prm/mlx5/wqe.h"
#include "providers/mlx5/data/datapath.h"
#include "providers/mlx5/devx_cmd.h"
#include "providers/mlx5/device.h"
#include "providers/mlx5/dv/dv.h"
#include "providers/mlx5/hca_caps.h"
#include "providers/mlx5/qp/qp.h"
#include "providers/mlx5/qp/rules.h"

#include <rdma/mlx5_user_ioctl_cmds.h>

#define CREATE_FLAGS_KNOWN ((MLX5DV_QP_CREATE_OOO_DP << 1) - 1)
#define FRAME_FLAGS                                                                       \
	(MLX5DV_QP_CREATE_TUNNEL_OFFLOADS | MLX5DV_QP_CREATE_TIR_ALLOW_SELF_LOOPBACK_UC | \
	 MLX5DV_QP_CREATE_TIR_ALLOW_SELF_LOOPBACK_MC)
#define SCATTER_FLAGS \
	(MLX5DV_QP_CREATE_DISABLE_SCATTER_TO_CQE | MLX5DV_QP_CREATE_ALLOW_SCATTER_TO_CQE)
#define ATTR_MASK_KNOWN                                                           \
	(MLX5DV_QP_INIT_ATTR_MASK_QP_CREATE_FLAGS | MLX5DV_QP_INIT_ATTR_MASK_DC | \
	 MLX5DV_QP_INIT_ATTR_MASK_SEND_OPS_FLAGS | MLX5DV_QP_INIT_ATTR_MASK_DCI_STREAMS)

#define SEND_OPS_MKEYS                                                  \
	(MLX5DV_QP_EX_WITH_MR_INTERLEAVED | MLX5DV_QP_EX_WITH_MR_LIST | \
	 MLX5DV_QP_EX_WITH_MKEY_CONFIGURE)
#define SEND_OPS_KNOWN (SEND_OPS_MKEYS | MLX5DV_QP_EX_WITH_RAW_WQE | MLX5DV_QP_EX_WITH_MEMCPY)

static uint64_t dv_send_ops(const struct mlx5dv_qp_init_attr *attr)
{
	return attr->comp_mask & MLX5DV_QP_INIT_ATTR_MASK_SEND_OPS_FLAGS ? attr->send_ops_flags : 0;
}

static int qp_check_masks(const struct mlx5dv_qp_init_attr *attr)
{
	if (attr->comp_mask & ~(uint64_t)ATTR_MASK_KNOWN) {
		verbs_warn("mlx5dv_create_qp: comp_mask is %#llx, known are %#x",
			   (unsigned long long)attr->comp_mask, ATTR_MASK_KNOWN);
		return EINVAL;
	}
	return 0;
}

static int ops_refuse(uint64_t ops, const char *why, int err)
{
	verbs_warn("mlx5dv_create_qp: send_ops_flags is %#llx: %s", (unsigned long long)ops, why);
	return err;
}

static bool is_rss(const struct ibv_qp_init_attr_ex *attr)
{
	return attr->qp_type == IBV_QPT_RAW_PACKET && attr->comp_mask & IBV_QP_INIT_ATTR_RX_HASH;
}

/* Refuses builders for a QP that only receives. An RSS QP is refused here only if the verb's own
 * mask is set as well. */
static int ops_check_sender(uint64_t ops, const struct ibv_qp_init_attr_ex *attr,
			    const struct mlx5_qp_dv *dv)
{
	if (dv->rules == mlx5_qp_dct_rules())
		return ops_refuse(ops, "a DCT sends nothing", EINVAL);
	if (is_rss(attr) && attr->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS)
		return ops_refuse(ops, "an RSS QP sends nothing", EINVAL);
	if (attr->qp_type == IBV_QPT_XRC_RECV)
		return ops_refuse(ops, "an XRC receive QP sends nothing", EOPNOTSUPP);
	return 0;
}

/* Returns the operations that the QP's type supports. A DC initiator supports memory copies, too,
 * because they need no target. */
static uint64_t type_send_ops(const struct ibv_qp_init_attr_ex *attr, const struct mlx5_qp_dv *dv)
{
	if (attr->qp_type == IBV_QPT_RC)
		return SEND_OPS_KNOWN;
	if (dv->rules == mlx5_qp_dci_rules())
		return MLX5DV_QP_EX_WITH_RAW_WQE | MLX5DV_QP_EX_WITH_MEMCPY;
	return MLX5DV_QP_EX_WITH_RAW_WQE;
}

static int qp_take_ops(struct ibv_context *context, const struct ibv_qp_init_attr_ex *attr,
		       const struct mlx5dv_qp_init_attr *dv_attr, struct mlx5_qp_dv *dv)
{
	uint64_t ops = dv_send_ops(dv_attr);
	const struct mlx5_hca_caps *caps;
	int ret;

	if (dv_attr->comp_mask & MLX5DV_QP_INIT_ATTR_MASK_SEND_OPS_FLAGS) {
		ret = ops_check_sender(ops, attr, dv);
		if (ret)
			return ret;
	}
	if (ops & ~(uint64_t)SEND_OPS_KNOWN)
		return ops_refuse(ops, "there are no such builders", EOPNOTSUPP);
	if (ops & ~type_send_ops(attr, dv))
		return ops_refuse(ops, "only an RC QP lays out keys, and it or a DCI copies memory",
				  EOPNOTSUPP);
	dv->send_ops = ops;
	if (!(ops & MLX5DV_QP_EX_WITH_MEMCPY))
		return 0;
	ret = mlx5_hca_caps_get(to_mctx(context), &caps);
	if (!ret && !caps->max_copy)
		ret = ops_refuse(ops, "the device copies no memory", EOPNOTSUPP);
	return ret;
}

/* ---- flags */

static int flags_refuse(uint32_t flags, const char *why, int err)
{
	verbs_warn("mlx5dv_create_qp: create_flags is %#x: %s", flags, why);
	return err;
}

static int flags_check_type(uint32_t flags, const struct ibv_qp_init_attr_ex *attr,
			    const struct mlx5_qp_dv *dv)
{
	enum ibv_qp_type type = attr->qp_type;

	if (flags & ~(uint32_t)CREATE_FLAGS_KNOWN)
		return flags_refuse(flags, "there is no such flag", EINVAL);
	if ((flags & SCATTER_FLAGS) == SCATTER_FLAGS)
		return flags_refuse(flags, "scatter to CQE is both allowed and disabled", EINVAL);
	if (flags & MLX5DV_QP_CREATE_ALLOW_SCATTER_TO_CQE &&
	    (dv->rules == mlx5_qp_dct_rules() || is_rss(attr)))
		return flags_refuse(flags, "scatter to CQE is not for a DCT or an RSS QP to allow",
				    EINVAL);
	if (flags & FRAME_FLAGS && type != IBV_QPT_RAW_PACKET)
		return flags_refuse(flags, "tunnels and self-loopback are of raw packet QPs",
				    EINVAL);
	if (flags & MLX5DV_QP_CREATE_PACKET_BASED_CREDIT_MODE && type != IBV_QPT_RC)
		return flags_refuse(flags, "credits for packets are of RC QPs", EINVAL);
	return 0;
}

/* Queries the device's capabilities, which only DevX provides. Linux refuses its commands in a
 * context without DevX, and does not offer them for adapters without such contexts. */
static int flags_ask_device(struct mlx5_context *ctx, uint32_t flags,
			    const struct mlx5_hca_caps **caps)
{
	int ret = mlx5_hca_caps_get(ctx, caps);

	if (ret && (!ctx->has_devx || ret == EPROTONOSUPPORT || ret == EOPNOTSUPP))
		return flags_refuse(flags, "there is no DevX to ask what the device can",
				    EOPNOTSUPP);
	return ret;
}

/* Checks support for stopping at a signature error. Resuming the queue needs a change of state that
 * Linux' driver supports since 5.14. */
static int drain_check(struct mlx5_context *ctx, uint32_t flags)
{
	const struct mlx5_hca_caps *caps;
	int ret;

	if (!(flags & MLX5DV_QP_CREATE_SIG_PIPELINING))
		return 0;
	if (!(ctx->caps.comp_mask & MLX5_IB_ALLOC_UCONTEXT_RESP_MASK_SQD2RTS))
		return flags_refuse(flags, "the driver lets no queue go on after a signature",
				    EOPNOTSUPP);
	ret = flags_ask_device(ctx, flags, &caps);
	if (ret || caps->drains_on_sig_error)
		return ret;
	return flags_refuse(flags, "the device stops no queue for a signature", EOPNOTSUPP);
}

static int flags_check_device(struct mlx5_context *ctx, uint32_t flags)
{
	const struct mlx5_ib_query_device_resp *device;
	int ret = mlx5_device_resp_get(ctx, &device);

	if (ret)
		return ret;
	if (flags & MLX5DV_QP_CREATE_TUNNEL_OFFLOADS && !device->tunnel_offloads_caps)
		return flags_refuse(flags, "the device has no offloads of tunnels", EINVAL);
	if (flags & MLX5DV_QP_CREATE_PACKET_BASED_CREDIT_MODE &&
	    !(device->flags & MLX5_IB_QUERY_DEV_RESP_PACKET_BASED_CREDIT_MODE))
		return flags_refuse(flags, "the device has no credits for packets", EINVAL);
	return drain_check(ctx, flags);
}

static uint32_t early_limit(const struct mlx5_hca_caps *caps, enum ibv_qp_type type)
{
	switch (type) {
	case IBV_QPT_RC:
		return caps->early_rc;
	case IBV_QPT_UC:
		return caps->early_uc;
	case IBV_QPT_UD:
		return caps->early_ud;
	case IBV_QPT_XRC_SEND:
	case IBV_QPT_XRC_RECV:
		return caps->early_xrc;
	case IBV_QPT_DRIVER:
		return caps->early_dc;
	default:
		return 0;
	}
}

static int early_check(struct mlx5_context *ctx, const struct ibv_qp_init_attr_ex *attr,
		       uint32_t flags)
{
	const struct mlx5_ib_query_device_resp *device;
	const struct mlx5_hca_caps *caps;
	uint32_t limit = 0;
	int ret;

	if (!(flags & MLX5DV_QP_CREATE_OOO_DP))
		return 0;
	ret = mlx5_device_resp_get(ctx, &device);
	if (ret)
		return ret;
	if (device->flags & MLX5_IB_QUERY_DEV_RESP_FLAGS_OOO_DP) {
		ret = flags_ask_device(ctx, flags, &caps);
		if (ret)
			return ret;
		limit = early_limit(caps, attr->qp_type);
	}
	if (!limit)
		return flags_refuse(flags,
				    "the device places data out of order for no QP of this type",
				    EOPNOTSUPP);
	if (attr->cap.max_recv_wr <= limit || attr->qp_type > IBV_QPT_UD)
		return 0;
	verbs_warn("mlx5dv_create_qp: cap.max_recv_wr is %u, limit %u with OOO_DP",
		   attr->cap.max_recv_wr, limit);
	return EINVAL;
}

static int qp_take_flags(struct ibv_context *context, const struct ibv_qp_init_attr_ex *attr,
			 const struct mlx5dv_qp_init_attr *dv_attr, struct mlx5_qp_dv *dv)
{
	int ret;

	if (!(dv_attr->comp_mask & MLX5DV_QP_INIT_ATTR_MASK_QP_CREATE_FLAGS))
		return 0;
	dv->flags = dv_attr->create_flags;
	ret = flags_check_type(dv->flags, attr, dv);
	if (ret || !(dv->flags & ~(uint32_t)SCATTER_FLAGS))
		return ret;
	ret = flags_check_device(to_mctx(context), dv->flags);
	return ret ? ret : early_check(to_mctx(context), attr, dv->flags);
}

/* ---- DC */

static int dc_refuse(const char *why)
{
	verbs_warn("mlx5dv_create_qp: %s", why);
	return EINVAL;
}

static int dc_take_target(const struct ibv_qp_init_attr_ex *attr,
			  const struct mlx5dv_qp_init_attr *dv_attr, struct mlx5_qp_dv *dv)
{
	if (dv_attr->comp_mask & MLX5DV_QP_INIT_ATTR_MASK_DCI_STREAMS)
		return dc_refuse("comp_mask has DCI_STREAMS, and dc_type is DCT");
	if (!attr->srq)
		return dc_refuse("srq is missing: a DCT receives through one");
	if (!attr->recv_cq)
		return dc_refuse("recv_cq is missing: a DCT needs one");
	dv->rules = mlx5_qp_dct_rules();
	dv->access_key = dv_attr->dc_init_attr.dct_access_key;
	return 0;
}

static int dc_check_streams(struct mlx5_context *ctx, const struct mlx5dv_dci_streams *streams)
{
	const struct mlx5_ib_query_device_resp *device;
	const struct mlx5_ib_dci_streams_caps *caps;
	int ret = mlx5_device_resp_get(ctx, &device);

	if (ret)
		return ret;
	caps = &device->dci_streams_caps;
	if (streams->log_num_concurent <= caps->max_log_num_concurent &&
	    streams->log_num_errored <= caps->max_log_num_errored)
		return 0;
	verbs_warn(
		"mlx5dv_create_qp: dci_streams is { %u, %u }, the device's limits are { %u, %u }",
		streams->log_num_concurent, streams->log_num_errored, caps->max_log_num_concurent,
		caps->max_log_num_errored);
	return EINVAL;
}

static int dc_take_initiator(struct mlx5_context *ctx, const struct ibv_qp_init_attr_ex *attr,
			     const struct mlx5dv_qp_init_attr *dv_attr, struct mlx5_qp_dv *dv)
{
	if (attr->cap.max_recv_wr || attr->cap.max_recv_sge)
		return dc_refuse("cap has receives: a DCI has none");
	if (!attr->send_cq)
		return dc_refuse("send_cq is missing: a DCI needs one");
	dv->rules = mlx5_qp_dci_rules();
	dv->has_streams = dv_attr->comp_mask & MLX5DV_QP_INIT_ATTR_MASK_DCI_STREAMS;
	if (!dv->has_streams)
		return 0;
	dv->streams = dv_attr->dc_init_attr.dci_streams;
	return dc_check_streams(ctx, &dv->streams);
}

static int qp_take_dc(struct ibv_context *context, const struct ibv_qp_init_attr_ex *attr,
		      const struct mlx5dv_qp_init_attr *dv_attr, struct mlx5_qp_dv *dv)
{
	uint64_t mask = dv_attr->comp_mask;
	bool is_dc = mask & MLX5DV_QP_INIT_ATTR_MASK_DC;

	if (mask & MLX5DV_QP_INIT_ATTR_MASK_DCI_STREAMS && !is_dc)
		return dc_refuse("comp_mask has DCI_STREAMS without DC");
	if (!is_dc)
		/* type DRIVER is refused later, with the other types */
		return 0;
	if (attr->qp_type != IBV_QPT_DRIVER)
		return dc_refuse("comp_mask has DC, and qp_type is not DRIVER");
	switch (dv_attr->dc_init_attr.dc_type) {
	case MLX5DV_DCTYPE_DCT:
		return dc_take_target(attr, dv_attr, dv);
	case MLX5DV_DCTYPE_DCI:
		return dc_take_initiator(to_mctx(context), attr, dv_attr, dv);
	default:
		return dc_refuse("dc_type is neither DCT nor DCI");
	}
}

static int qp_take_attr(struct ibv_context *context, const struct ibv_qp_init_attr_ex *attr,
			const struct mlx5dv_qp_init_attr *dv_attr, struct mlx5_qp_dv *dv)
{
	int ret = qp_check_masks(dv_attr);

	if (!ret)
		ret = qp_take_dc(context, attr, dv_attr, dv);
	if (!ret)
		ret = qp_take_ops(context, attr, dv_attr, dv);
	return ret ? ret : qp_take_flags(context, attr, dv_attr, dv);
}

static void qp_fill_builders(struct mlx5_qp *qp, uint64_t ops)
{
	if (ops & MLX5DV_QP_EX_WITH_RAW_WQE)
		mlx5_send_wr_fill_raw_wqe(qp);
	if (ops & MLX5DV_QP_EX_WITH_MEMCPY)
		mlx5_send_wr_fill_copy(qp);
	mlx5_datapath()->send_wr_fill_mkeys(qp, ops);
}

DV_EXPORT struct ibv_qp *mlx5dv_create_qp(struct ibv_context *context,
					  struct ibv_qp_init_attr_ex *attr,
					  struct mlx5dv_qp_init_attr *dv_attr)
{
	struct mlx5_qp_dv dv = { 0 };
	struct verbs_qp *vqp;
	int ret = dv_check_context("mlx5dv_create_qp", context);

	if (!ret && dv_attr)
		ret = qp_take_attr(context, attr, dv_attr, &dv);
	if (!ret)
		ret = mlx5_qp_create_dv(context, attr, &dv, &vqp);
	if (ret)
		return dv_fail(ret);
	/* As in the distribution's library: without the builders of verbs, a QP has no builders of
	 * direct verbs, which need their batch. */
	if (vqp->ex)
		qp_fill_builders(to_mqp(&vqp->qp), dv.send_ops);
	return &vqp->qp;
}

DV_EXPORT struct mlx5dv_qp_ex *mlx5dv_qp_ex_from_ibv_qp_ex(struct ibv_qp_ex *qpx)
{
	return qpx ? &to_mqp_ex(qpx)->dv_qp
		   : NULL; /* perftest calls this for a DCT, which has none */
}

/* ---- cancelling posted requests */

static int query_stop(struct ibv_qp *qp, uint16_t *at)
{
	uint8_t in[PRM_CMD_IN_SIZE] = { 0 }, out[PRM_QUERY_QP_OUT_SIZE] = { 0 };
	const uint8_t *qpc = fld_at(out, QUERY_QP_OUT_QPC);
	int ret;

	fld_set(in, CMD_IN_OPCODE, PRM_OP_QUERY_QP);
	fld_set(in, QUERY_QP_IN_QPN, qp->qp_num);
	ret = mlx5_devx_qp_query(qp, in, sizeof(in), out, sizeof(out));
	if (ret)
		return ret;
	if (fld_get(qpc, QPC_STATE) != PRM_QP_STATE_SQD) {
		verbs_warn("mlx5dv_qp_cancel_posted_send_wrs: qp 0x%x: its send queue has not "
			   "stopped (state SQD)",
			   qp->qp_num);
		return EINVAL;
	}
	*at = (uint16_t)fld_get(qpc, QPC_HW_SQ_WQEBB_COUNTER);
	return 0;
}

static int request_refuse(const struct mlx5_qp *qp, uint64_t wr_id)
{
	verbs_warn("mlx5dv_qp_cancel_posted_send_wrs: qp 0x%x: a request with wr_id %#llx does "
		   "nothing already",
		   qp->vqp.qp.qp_num, (unsigned long long)wr_id);
	return -EINVAL;
}

/* Turns requests into NOPs; they still complete, since the adapter executes the WQEs of a ring in
 * order and skips none. */
static int cancel_from(struct mlx5_qp *qp, uint16_t at, uint64_t wr_id)
{
	struct mlx5_sq *sq = &qp->sq;
	int count = 0;

	while (at != (uint16_t)sq->pi) {
		uint32_t unit = at & sq->wq.mask;
		struct mlx5_wqe_ctrl_seg *ctrl =
			(struct mlx5_wqe_ctrl_seg *)(sq->buf + ((size_t)unit << WQE_BB_LOG));
		uint32_t ds = be32toh(ctrl->qpn_ds) & FLD_MASK(CTRL_DS);

		if (!ds)
			break;
		if (sq->wq.slots[unit].wr_id == wr_id) {
			if ((be32toh(ctrl->opmod_idx_opcode) & UINT8_MAX) == MLX5_OPCODE_NOP)
				return request_refuse(qp, wr_id);
			ctrl->opmod_idx_opcode =
				htobe32((uint32_t)at << FLD_SHIFT(CTRL_INDEX) | MLX5_OPCODE_NOP);
			count++;
		}
		at += (uint16_t)((ds * WQE_SEG + WQE_BB - 1) / WQE_BB);
	}
	return count;
}

DV_EXPORT int mlx5dv_qp_cancel_posted_send_wrs(struct mlx5dv_qp_ex *dv, uint64_t wr_id)
{
	struct mlx5_qp *qp = container_of(dv, struct mlx5_qp, dv_qp);
	uint16_t at;
	int ret;

	qlock_enter(&qp->sq_lock);
	ret = query_stop(&qp->vqp.qp, &at);
	ret = ret ? -ret : cancel_from(qp, at, wr_id);
	qlock_leave(&qp->sq_lock);
	return verbs_result(ret);
}

/* ---- streams */

static int stream_run_reset(struct ibv_qp *qp, uint16_t stream)
{
	uint8_t in[PRM_MODIFY_QP_EXT_IN_SIZE] = { 0 };
	uint8_t out[PRM_CMD_OUT_SIZE] = { 0 };
	const struct verbs_attr attrs[] = {
		verbs_attr_handle(MLX5_IB_ATTR_DEVX_OBJ_MODIFY_HANDLE, qp->handle),
		verbs_attr_in(MLX5_IB_ATTR_DEVX_OBJ_MODIFY_CMD_IN, in, sizeof(in)),
		verbs_attr_out(MLX5_IB_ATTR_DEVX_OBJ_MODIFY_CMD_OUT, out, sizeof(out)),
	};
	int ret;

	fld_set(in, CMD_IN_OPCODE, PRM_OP_RTS2RTS_QP);
	fld_set(in, MODIFY_QP_IN_QPN, qp->qp_num);
	fld_set(in, MODIFY_QP_IN_QPC_EXT, 1);
	fld_set(in, MODIFY_QP_IN_OPT_PARAM_MASK_32, PRM_OPTPAR_32_DCI_STREAM_CHANNEL_ID);
	fld_set(fld_at(in, MODIFY_QP_IN_QPC_DATA_EXT), QPC_EXT_DCI_STREAM_CHANNEL_ID, stream);
	ret = verbs_cmd_run(qp->context, MLX5_IB_OBJECT_DEVX_OBJ, MLX5_IB_METHOD_DEVX_OBJ_MODIFY,
			    attrs, ARRAY_SIZE(attrs));
	if (ret != EREMOTEIO && !(ret == 0 && fld_get(out, CMD_OUT_STATUS)))
		return ret;
	return fld_get(out, CMD_OUT_STATUS) == PRM_STAT_BAD_QP_STATE_ERR ? EOPNOTSUPP : EINVAL;
}

DV_EXPORT int mlx5dv_dci_stream_id_reset(struct ibv_qp *qp, uint16_t stream_id)
{
	int ret = dv_check_context("mlx5dv_dci_stream_id_reset", qp->context);

	if (ret)
		return verbs_result(ret);
	if (qp->state != IBV_QPS_RTS) {
		verbs_warn("mlx5dv_dci_stream_id_reset: qp 0x%x: state is %d, must be RTS (%d)",
			   qp->qp_num, (int)qp->state, (int)IBV_QPS_RTS);
		return verbs_result(EOPNOTSUPP);
	}
	if (to_mqp(qp)->rules != mlx5_qp_dci_rules()) {
		verbs_warn("mlx5dv_dci_stream_id_reset: qp 0x%x is no DCI", qp->qp_num);
		return verbs_result(EINVAL);
	}
	ret = stream_run_reset(qp, stream_id);
	if (ret)
		verbs_warn("mlx5dv_dci_stream_id_reset: qp 0x%x, stream %u: the device refuses, "
			   "as it does while the QP is not in RTS or the stream not in error",
			   qp->qp_num, stream_id);
	return verbs_result(ret);
}

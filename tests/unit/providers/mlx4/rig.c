/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rig.c - see rig.h.
 */
#include "rig.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "prm/mlx4/cqe.h"
#include "providers/mlx4/device.h"
#include "util/bits.h"

#define OR_DEFAULT(value, fallback) ((value) ? (value) : (fallback))

static bool second_port_is_ethernet;
static struct rig *resized; /* newest rig */

int verbs_cmd_query_port(struct ibv_context *context, uint8_t port_num, struct ibv_port_attr *attr,
			 size_t attr_size)
{
	(void)context;
	memset(attr, 0, attr_size);
	attr->link_layer = port_num == 2 && second_port_is_ethernet ? IBV_LINK_LAYER_ETHERNET
								    : IBV_LINK_LAYER_INFINIBAND;
	return 0;
}

int verbs_cmd_create_cq(struct ibv_context *context, const struct ibv_cq_init_attr_ex *attr,
			uint32_t flags, struct verbs_cq *vcq, const struct verbs_udata *udata)
{
	struct mlx4_ib_create_cq_resp *resp = udata->resp;

	(void)attr;
	(void)flags;
	vcq->cq.context = context;
	resp->cqn = RIG_CQN;
	return 0;
}

bool rig_ring_has_no_end;
unsigned int rig_late_cqes, rig_early_cqes;
uint64_t rig_new_ring;

/* Writes CQEs at once into the ring that the resize command brings, behind the resize CQE of the
 * old one. */
static void complete_early(struct rig *rig, uint32_t cqe)
{
	struct mlx4_cq *cq = rig->cq;
	const struct mlx4_cq before = *cq;

	if (!rig_early_cqes)
		return; /* nothing more, as a watching test looks at the provider's own steps */
	cq->buf.addr = (void *)(uintptr_t)rig_new_ring;
	cq->count_log = log2_ceil((uint64_t)cqe + 1);
	for (unsigned int i = 0; i < rig_early_cqes; i++)
		rig_complete(rig, &(struct rig_cqe){ .is_send = true,
						     .opcode = M4_SEND,
						     .wqe_index = (uint16_t)(i + 1) });
	cq->buf.addr = before.buf.addr;
	cq->count_log = before.count_log;
}

int verbs_cmd_resize_cq(struct ibv_cq *cq, uint32_t cqe, const struct verbs_udata *udata)
{
	const struct mlx4_ib_resize_cq *req = udata->req;

	cq->cqe = (int)cqe;
	rig_new_ring = req->buf_addr;
	if (rig_ring_has_no_end)
		return 0;
	for (unsigned int i = 0; i < rig_late_cqes; i++)
		rig_complete(resized, &(struct rig_cqe){ .is_send = true, .opcode = M4_SEND });
	rig_complete(resized, &(struct rig_cqe){ .opcode = M4_CQE_RESIZE });
	complete_early(resized, cqe);
	return 0;
}

int verbs_cmd_destroy_cq(struct ibv_cq *cq)
{
	(void)cq;
	return 0;
}

int verbs_cmd_create_srq(struct ibv_context *context, struct ibv_srq_init_attr_ex *attr,
			 struct verbs_srq *vsrq, const struct verbs_udata *udata)
{
	struct mlx4_ib_create_srq_resp *resp = udata->resp;
	static uint32_t last = RIG_SRQN;

	vsrq->srq.context = context;
	vsrq->type = attr->comp_mask & IBV_SRQ_INIT_ATTR_TYPE ? attr->srq_type : IBV_SRQT_BASIC;
	vsrq->cq = attr->cq;
	resp->srqn = last++;
	return 0;
}

int verbs_cmd_destroy_srq(struct ibv_srq *srq)
{
	(void)srq;
	return 0;
}

static bool asks_for_queues(const struct ibv_qp_cap *cap)
{
	return cap->max_send_wr || cap->max_recv_wr || cap->max_send_sge || cap->max_recv_sge ||
	       cap->max_inline_data;
}

static int create_spreading(struct ibv_context *context, const struct ibv_qp_init_attr_ex *attr,
			    struct verbs_qp *vqp)
{
	vqp->qp.context = context;
	vqp->qp.qp_num = RIG_SPREADING_QPN;
	vqp->qp.qp_type = attr->qp_type;
	vqp->qp.send_cq = attr->send_cq;
	return 0;
}

/* mlx4_ib refuses slots below 64 bytes, and rings without memory, for all QP types. Before Linux
 * 5.2 it does not clear the capacities of an XRC target. */
int verbs_cmd_create_qp(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr,
			struct verbs_qp *vqp, const struct verbs_udata *udata)
{
	const struct mlx4_ib_create_qp *req = udata->req;

	if (attr->comp_mask & IBV_QP_INIT_ATTR_RX_HASH)
		return create_spreading(context, attr, vqp);
	if (!req->buf_addr || req->log_sq_stride < M4_MIN_SLOT_LOG)
		return EINVAL;
	if (attr->qp_type == IBV_QPT_XRC_RECV && asks_for_queues(&attr->cap))
		return EINVAL;
	vqp->qp.context = context;
	vqp->qp.qp_num = attr->qp_type == IBV_QPT_XRC_RECV ? M4_XRC_TARGET | RIG_QPN : RIG_QPN;
	vqp->qp.qp_type = attr->qp_type;
	vqp->qp.send_cq = attr->send_cq;
	vqp->qp.recv_cq = attr->recv_cq;
	return 0;
}

int verbs_cmd_modify_qp(struct ibv_qp *qp, const struct ibv_qp_attr *attr, int attr_mask,
			const struct verbs_udata *udata)
{
	(void)attr_mask;
	(void)udata;
	qp->state = attr->qp_state;
	return 0;
}

int verbs_cmd_destroy_qp(struct ibv_qp *qp)
{
	(void)qp;
	return 0;
}

/* Returns the variant that the test is compiled for, on any CPU, so that each variant is tested. */
const struct datapath *mlx4_datapath(void)
{
	return &mlx4_datapath_here;
}

static struct verbs_device device = { .device = { .name = "mlx4_0" } };

static void *alloc_page(void)
{
	void *page = aligned_alloc(RIG_PAGE, RIG_PAGE);

	assert_non_null(page);
	memset(page, 0, RIG_PAGE);
	return page;
}

static struct mlx4_context *new_context(const struct rig_options *opt)
{
	struct mlx4_context *ctx = calloc(1, sizeof(*ctx));

	assert_non_null(ctx);
	ctx->vctx.context.device = &device.device;
	ctx->caps.cqe_size = OR_DEFAULT(opt->cqe_size, M4_CQE_LARGE);
	ctx->uar = alloc_page();
	qlock_init(&ctx->bf.lock, true);
	if (opt->blueflame) {
		ctx->bf.page = ctx->bf.next = alloc_page();
		ctx->bf.half = RIG_BF_REG / 2;
	}
	provider_context_init(&ctx->common, &ctx->vctx.context, &mlx4_device_kind,
			      &ctx->device_resp);
	ctx->common.device.known = true;
	ctx->common.device.attr.max_cqe = 1024;
	ctx->common.device.attr.max_srq_wr = 1024;
	ctx->common.device.attr.max_srq_sge = 31;
	ctx->common.device.attr.device_cap_flags =
		opt->checksums ? IBV_DEVICE_UD_IP_CSUM | IBV_DEVICE_RAW_IP_CSUM : 0;
	return ctx;
}

static struct mlx4_cq *new_cq(struct rig *rig, const struct rig_options *opt)
{
	const struct ibv_cq_init_attr_ex attr = { .cqe = 7, .wc_flags = opt->wc_flags };
	struct verbs_cq *vcq;

	assert_int_equal(mlx4_cq_create(&rig->ctx->vctx.context, &attr, &vcq), 0);
	return to_mcq(&vcq->cq);
}

static struct mlx4_qp *new_qp(struct rig *rig, const struct rig_options *opt)
{
	struct ibv_qp_init_attr_ex attr = {
		.qp_type = OR_DEFAULT(opt->type, IBV_QPT_RC),
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.pd = &rig->pd.pd,
		.send_cq = &rig->cq->vcq.cq,
		.recv_cq = &rig->cq->vcq.cq,
		.sq_sig_all = opt->signal_all,
		.max_tso_header = opt->tso_header,
		.cap = {
			.max_send_wr = OR_DEFAULT(opt->send_wr, 4),
			.max_recv_wr = OR_DEFAULT(opt->recv_wr, 4),
			.max_send_sge = OR_DEFAULT(opt->send_sge, 2),
			.max_recv_sge = OR_DEFAULT(opt->recv_sge, 2),
			.max_inline_data = opt->max_inline,
		},
	};
	struct ibv_qp_attr state = { .port_num = OR_DEFAULT(opt->port, 1) };
	struct verbs_qp *vqp;

	attr.comp_mask |= opt->tso_header ? IBV_QP_INIT_ATTR_MAX_TSO_HEADER : 0;
	assert_int_equal(mlx4_qp_create(&rig->ctx->vctx.context, &attr, &vqp), 0);
	for (state.qp_state = IBV_QPS_INIT; state.qp_state <= IBV_QPS_RTS; state.qp_state++)
		assert_int_equal(
			mlx4_qp_modify(&vqp->qp, &state,
				       IBV_QP_STATE |
					       (state.qp_state == IBV_QPS_INIT ? IBV_QP_PORT : 0)),
			0);
	return to_mqp(&vqp->qp);
}

struct rig *rig_new(const struct rig_options *options)
{
	static const struct rig_options usual;
	const struct rig_options *opt = options ? options : &usual;
	struct rig *rig = calloc(1, sizeof(*rig));

	assert_non_null(rig);
	second_port_is_ethernet = opt->second_port_is_ethernet;
	resized = rig;
	rig->ctx = new_context(opt);
	rig->pd.pd.context = &rig->ctx->vctx.context;
	rig->pd.pdn = 0x77;
	rig->cq = new_cq(rig, opt);
	rig->qp = new_qp(rig, opt);
	return rig;
}

void rig_add_threads(void)
{
	static const char several;

	verbs_one_thread = &several;
}

void rig_free(struct rig *rig)
{
	struct mlx4_context *ctx = rig->ctx;

	assert_false(rig->qp->sq_lock.taken || rig->qp->rq.lock.taken || rig->cq->lock.taken);
	assert_int_equal(mlx4_qp_destroy(&rig->qp->vqp.qp), 0);
	assert_int_equal(mlx4_cq_destroy(&rig->cq->vcq.cq), 0);
	provider_context_destroy(&ctx->common);
	free(ctx->bf.page);
	free(ctx->uar);
	free(ctx);
	free(rig);
}

uint32_t rig_slots(const struct rig *rig)
{
	return rig->qp->sq.wq.mask + 1;
}

uint8_t *rig_slot(struct rig *rig, uint32_t index)
{
	return rig->qp->sq.buf + ((size_t)(index & rig->qp->sq.wq.mask) << rig->qp->sq.slot_log);
}

void rig_complete(struct rig *rig, const struct rig_cqe *want)
{
	const uint32_t size = rig->ctx->caps.cqe_size, count = 1u << rig->cq->count_log;
	uint8_t *entry = (uint8_t *)rig->cq->buf.addr + (size_t)(rig->cq_pi % count) * size;
	uint8_t *cqe = entry + (size == M4_CQE_LARGE ? M4_CQE_LARGE - M4_CQE_SIZE : 0);

	memset(entry, 0, (size_t)(cqe - entry) + M4_CQE_SIZE - 1);
	fld_set(cqe, M4_CQE_QPN, OR_DEFAULT(want->qpn, RIG_QPN));
	fld_set(cqe, FLD(0x0, 31, 24), want->above_qpn);
	fld_set(cqe, M4_CQE_IMM, want->imm);
	fld_set(cqe, FLD(0x8, 31, 0), want->rqpn);
	fld_set(cqe, FLD(0xc, 31, 0), want->sl_rlid);
	fld_set(cqe, M4_CQE_STATUS, want->status);
	fld_set(cqe, M4_CQE_BYTE_COUNT, want->byte_count);
	fld_set(cqe, M4_CQE_WQE_INDEX, want->wqe_index);
	fld_set(cqe, M4_CQE_CHECKSUM,
		want->syndrome ? want->vendor << 8 | want->syndrome : want->checksum);
	fld_set(cqe, M4_CQE_TIME_15_0, want->time_low);
	cqe[M4_CQE_SIZE - 1] = (uint8_t)((rig->cq_pi / count & 1) << 7 | want->is_send << 6 |
					 (want->syndrome ? M4_CQE_ERROR : want->opcode));
	rig->cq_pi++;
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * qp.c - creates, modifies and destroys queue pairs.
 *
 * One piece of memory holds the receive ring, followed by the send ring; both share one doorbell
 * record. qp_choose_routines() chooses the data path's functions before the program can post.
 */
#include "providers/mlx5/data/datapath.h"
#include "providers/mlx5/qp/qp.h"

#include <errno.h>
#include <stdlib.h>

#include "prm/mlx5/cqe.h"
#include "providers/mlx5/context.h"
#include "providers/mlx5/cq.h"
#include "providers/mlx5/data/cq/cq_ring.h"
#include "providers/mlx5/data/post.h"
#include "providers/mlx5/qp/size.h"
#include "providers/mlx5/data/raw.h"
#include "providers/mlx5/data/send_wqe.h"
#include "providers/mlx5/srq.h"
#include "providers/mlx5/data/umr.h"
#include "providers/mlx5/device.h"
#include "providers/mlx5/pd.h"
#include "providers/mlx5/qp/dv.h"
#include "providers/mlx5/qp/extra.h"
#include "providers/common/owner.h"
#include "util/alloc.h"
#include "util/barrier.h"

static int qp_refuse_type(enum ibv_qp_type type)
{
	switch ((int)type) {
	case IBV_QPT_DRIVER:
		verbs_warn("create_qp: qp_type is DRIVER: mlx5dv_create_qp() creates those, with "
			   "MLX5DV_QP_INIT_ATTR_MASK_DC");
		return EINVAL;
	default:
		verbs_warn("create_qp: qp_type is %d, which is not in enum ibv_qp_type", (int)type);
		return EINVAL;
	}
}

static int qp_check_comp_mask(const struct qp_rules *rules, uint32_t mask)
{
	if (!(mask & ~rules->comp_mask))
		return 0;
	verbs_warn("create_qp: comp_mask is %#x, supported are %#x for %s QP", mask,
		   rules->comp_mask, rules->name);
	return EINVAL;
}

/* Creation flags passed to the kernel, which refuses those that do not fit the QP's type. */
#define CREATE_FLAGS_KNOWN                                               \
	(IBV_QP_CREATE_BLOCK_SELF_MCAST_LB | IBV_QP_CREATE_SCATTER_FCS | \
	 IBV_QP_CREATE_CVLAN_STRIPPING | IBV_QP_CREATE_SOURCE_QPN |      \
	 IBV_QP_CREATE_PCI_WRITE_END_PADDING)

static int qp_check_create_flags(uint32_t flags, enum ibv_qp_type type)
{
	if (flags & ~(uint32_t)CREATE_FLAGS_KNOWN) {
		verbs_warn("create_qp: create_flags is %#x, supported are %#x", flags,
			   CREATE_FLAGS_KNOWN);
		return EINVAL;
	}
	if (flags & IBV_QP_CREATE_SOURCE_QPN && type != IBV_QPT_UD) {
		verbs_warn("create_qp: create_flags has SOURCE_QPN, which is for UD QPs");
		return EINVAL;
	}
	return 0;
}

static struct ibv_pd *attr_pd(const struct ibv_qp_init_attr_ex *attr)
{
	return attr->comp_mask & IBV_QP_INIT_ATTR_PD ? attr->pd : NULL;
}

/* Returns the name of an object that the type requires and ATTR lacks, or NULL. */
static const char *qp_missing(const struct qp_rules *rules, const struct ibv_qp_init_attr_ex *attr)
{
	if (rules->needs_pd && (!(attr->comp_mask & IBV_QP_INIT_ATTR_PD) || !attr->pd))
		return "pd";
	if (rules->comp_mask & IBV_QP_INIT_ATTR_XRCD &&
	    (!(attr->comp_mask & IBV_QP_INIT_ATTR_XRCD) || !attr->xrcd))
		return "xrcd";
	if (rules->sends && !attr->send_cq)
		return "send_cq";
	return rules->receives && !attr->recv_cq ? "recv_cq" : NULL;
}

static int qp_check_attr(const struct ibv_context *context, const struct qp_rules *rules,
			 const struct ibv_qp_init_attr_ex *attr)
{
	int ret = qp_check_comp_mask(rules, attr->comp_mask);
	const char *missing;

	if (!ret && attr->comp_mask & IBV_QP_INIT_ATTR_CREATE_FLAGS)
		ret = qp_check_create_flags(attr->create_flags, attr->qp_type);
	if (ret)
		return ret;
	if (attr->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS &&
	    (rules == mlx5_qp_underlay_rules() || attr->qp_type == IBV_QPT_XRC_RECV)) {
		verbs_warn("create_qp: send_ops_flags: there is no ibv_wr_* for %s QP",
			   rules->name);
		return EOPNOTSUPP;
	}
	missing = qp_missing(rules, attr);
	if (missing) {
		verbs_warn("create_qp: %s is missing: %s QP needs one", missing, rules->name);
		return EINVAL;
	}
	if (attr->srq && !rules->may_srq) {
		verbs_warn("create_qp: srq is set: %s QP has none", rules->name);
		return EINVAL;
	}
	if (attr->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS &&
	    attr->send_ops_flags == SEND_OPS_ANY) {
		verbs_warn("create_qp: send_ops_flags is %#llx, which has unknown ones",
			   (unsigned long long)attr->send_ops_flags);
		return EOPNOTSUPP;
	}
	return provider_qp_check_owners(context, attr);
}

/* Returns the operations that may be posted, as IBV_QP_EX_WITH_*. */
static uint64_t send_ops(const struct ibv_qp_init_attr_ex *attr)
{
	return attr->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS ? attr->send_ops_flags
								 : SEND_OPS_ANY;
}

/* Returns the limit of posted receives. With out-of-order messages the ring is twice as long: see
 * qp_size_early(). */
static uint32_t rq_max_post(const struct mlx5_qp *qp, const struct qp_size *size)
{
	return size->rq_wqes >> qp->out_of_order;
}

static int wq_alloc(struct wq *wq, uint32_t units, uint32_t max_post, size_t slot)
{
	wq->mask = units - 1;
	wq->max_post = max_post;
	wq_reset(wq);
	wq->slots = units ? calloc_for("create_qp", units, slot) : NULL;
	return units && !wq->slots ? ENOMEM : 0;
}

static int qp_alloc_rings(struct mlx5_context *ctx, struct ibv_pd *pd, struct mlx5_qp *qp,
			  const struct qp_size *size)
{
	size_t rq_bytes = (size_t)size->rq_wqes << size->rq_stride_log;
	size_t sq_bytes = (size_t)size->sq_wqebbs << WQE_BB_LOG;
	size_t first = rq_bytes + sq_bytes;
	int ret = 0;

	/* The adapter creates a separate RQ and SQ for such a QP. The context of a WQ has few bits
	 * for the offset in a page, so each ring starts on a page of its own. */
	if (qp->rules->rings_apart) {
		first = align_up(rq_bytes, ctx->queue_bufs.page);
		sq_bytes = align_up(sq_bytes, ctx->queue_bufs.page);
	}

	if (first)
		ret = mlx5_queue_mem_alloc(ctx, pd, MLX5DV_RES_TYPE_QP, first,
					   (size_t)1 << size->rq_stride_log, &qp->buf);
	if (!ret && qp->rules->rings_apart && sq_bytes)
		ret = mlx5_queue_mem_alloc(ctx, pd, MLX5DV_RES_TYPE_QP, sq_bytes, WQE_BB,
					   &qp->sq_buf);
	if (ret) {
		provider_queue_mem_free(&qp->buf);
		return ret;
	}
	qp->sq.buf = qp->rules->rings_apart ? qp->sq_buf.addr : (uint8_t *)qp->buf.addr + rq_bytes;
	return 0;
}

/* Returns the size of the part of a receive WQE before its scatter list. */
static uint32_t qp_recv_head(const struct mlx5_qp *qp)
{
	return qp->has_signatures ? RECV_SIGNATURE_SIZE : 0;
}

/* Sets the limits of both queues, from which qp_choose_routines() chooses. */
static void qp_set_limits(const struct qp_size *size, struct mlx5_qp *qp)
{
	qp->rq.stride_log = size->rq_stride_log;
	qp->rq.max_sge = size->rq_max_sge;
	qp->sq.max_sge = size->sq_max_sge;
	qp->sq.max_inline = size->sq_max_inline;
	/* The length field of the control segment counts at most 63 units, even if the ring has
	 * room for 64. */
	qp->sq.wqe_bytes = min_of(size->sq_wqe_bytes, (uint32_t)FLD_MASK(CTRL_DS) * WQE_SEG);
	sq_prepare_inline(&qp->sq,
			  mlx5_qp_usual_inline(qp->rules, size->sq_max_inline, qp->sq.wqe_bytes));
}

static int qp_alloc_queues(struct mlx5_context *ctx, struct ibv_pd *pd, struct mlx5_qp *qp,
			   const struct qp_size *size)
{
	size_t sq_bytes = (size_t)size->sq_wqebbs << WQE_BB_LOG;
	int ret = qp_alloc_rings(ctx, pd, qp, size);

	if (ret)
		return ret;
	if (qp->buf.addr)
		qp->rq.buf = (uint8_t *)qp->buf.addr + qp_recv_head(qp);
	qp->sq.end = qp->sq.buf + sq_bytes;
	ret = wq_alloc(&qp->rq.wq, size->rq_wqes, rq_max_post(qp, size), sizeof(uint64_t));
	if (ret)
		goto free_buf;
	qp->sq.slot_mask = SLOT_MASK(size->sq_wqebbs);
	ret = wq_alloc(&qp->sq.wq, size->sq_wqebbs, size->sq_max_post, sizeof(struct wq_slot));
	if (ret)
		goto free_rq;
	return 0;
free_rq:
	free(qp->rq.wq.wr_ids);
free_buf:
	provider_queue_mem_free(&qp->sq_buf);
	provider_queue_mem_free(&qp->buf);
	return ret;
}

static void qp_free_queues(struct mlx5_qp *qp)
{
	free(qp->sq.wq.slots);
	free(qp->rq.wq.wr_ids);
	provider_queue_mem_free(&qp->sq_buf);
	provider_queue_mem_free(&qp->buf);
}

static bool qp_has_queues(const struct mlx5_qp *qp)
{
	return qp->rules->sends || qp->rules->receives;
}

static int qp_get_bfreg(struct mlx5_context *ctx, struct provider_td *td, struct mlx5_doorbell *db)
{
	if (!td)
		return mlx5_uar_get_bfreg(ctx, &db->bfreg);
	db->bfreg = to_mtd(td)->bfreg;
	mlx5_uar_share_bfreg(ctx, db->bfreg);
	return 0;
}

/* Chooses the doorbell register of the send queue, and whether WQEs may be pushed through it
 * (BlueFlame). */
static void qp_choose_register(struct mlx5_context *ctx, struct mlx5_doorbell *db)
{
	const struct mlx5_bfreg *bfreg = db->bfreg;
	uint32_t half = ctx->caps.bf_reg_size / 2;

	db->use = bfreg->use;
	/* A single-threaded program needs no lock for the register, either. */
	if (bfreg->use == BFREG_SHARED && ctx->env.single_threaded)
		db->use = BFREG_DOMAIN;
	db->reg = bfreg->use == BFREG_OWN ? bfreg->half : bfreg->reg;
	if (!bfreg->pushes)
		return;
	db->toggle = half;
	db->push[PUSH_INLINE] = (uint8_t)(half / WQE_BB);
	db->push[PUSH_PLAIN] = ctx->env.prefer_bf ? db->push[PUSH_INLINE] : 0;
}

/* Returns whether to hide the receive doorbell record until state RTR. QPs with separate rings (raw
 * packet, underlay) have an RQ in the adapter that is ready before the QP is; without posted
 * receives, it accepts no packet. */
static bool qp_withholds(const struct mlx5_qp *qp)
{
	return qp->rules->rings_apart && qp->rules->receives;
}

static int qp_alloc_doorbell(struct mlx5_context *ctx, struct ibv_pd *pd, struct mlx5_qp *qp)
{
	int ret;

	if (!qp_has_queues(qp))
		return 0;
	ret = mlx5_queue_rec_alloc(ctx, pd, &qp->rec);
	if (ret)
		return ret;
	qp->dbrec = qp->rec.words;
	ret = qp_get_bfreg(ctx, pd_thread_domain(pd), &qp->sq.db);
	if (ret) {
		mlx5_queue_rec_free(ctx, &qp->rec);
		return ret;
	}
	qp->rq.dbrec = qp_withholds(qp) ? qp->withheld : qp->dbrec;
	qp->sq.db.dbrec = qp->dbrec;
	qp_choose_register(ctx, &qp->sq.db);
	return 0;
}

static void qp_free_doorbell(struct mlx5_context *ctx, struct mlx5_qp *qp)
{
	struct mlx5_bfreg *bfreg = qp->sq.db.bfreg;

	if (!qp_has_queues(qp))
		return;
	/* The two halves of a register are used in turns: the next queue continues with this
	 * half. */
	if (bfreg->use == BFREG_OWN && bfreg->pushes)
		bfreg->half = qp->sq.db.reg;
	mlx5_uar_put_bfreg(ctx, bfreg);
	mlx5_queue_rec_free(ctx, &qp->rec);
}

static void rq_choose_routines(struct mlx5_rq *rq, const struct ibv_qp_init_attr_ex *attr,
			       const struct qp_size *size, bool shared)
{
	const struct datapath *path = mlx5_datapath();

	qlock_init(&rq->lock, shared);
	rq->owner = RQ_OF_QP;
	rq->post = rq_qp(rq)->has_signatures
			   ? path->post_recv_signed
			   : path->post_recv_routine(size->rq_max_sge, size->rq_stride_log, shared);
	rq->out_of_order = rq_qp(rq)->out_of_order;
	if (attr->srq) {
		rq->srq = to_msrq(attr->srq);
		rq->special = RQ_SHARED;
	} else if (rq->out_of_order) {
		rq->special = RQ_OTHER;
	}
}

static uint32_t tso_header(const struct ibv_qp_init_attr_ex *attr)
{
	return attr->comp_mask & IBV_QP_INIT_ATTR_MAX_TSO_HEADER ? attr->max_tso_header : 0;
}

/* Sets the length of the Ethernet header that the WQE must contain inline; older devices read it
 * there. */
static void qp_choose_raw(struct mlx5_context *ctx, const struct ibv_qp_init_attr_ex *attr,
			  struct mlx5_qp *qp)
{
	bool sees_none = ctx->caps.eth_min_inline == MLX5_USER_INLINE_MODE_NONE;

	qp->min_header = sees_none ? 0 : WQE_ETH_MIN_HEADER;
	qp->max_tso_header = tso_header(attr);
	rq_choose_checksums(&qp->rq, mlx5_device_checks_ip(ctx));
}

static void qp_choose_sends(struct mlx5_qp *qp)
{
	const struct datapath *path = mlx5_datapath();
	const enum bfreg_use use = (enum bfreg_use)qp->sq.db.use;
	const bool shared = qp->sq_lock.shared;

	if (qp->has_signatures) {
		qp->post_send = path->post_send_signed;
		qp->bind_mw = path->bind_mw_any;
		return;
	}
	qp->post_send = path->post_send_routine(qp->rules->kind, shared, use);
	qp->bind_mw = path->bind_mw_routine(qp->rules->kind, shared, use);
}

static int qp_choose_routines(struct mlx5_context *ctx, const struct ibv_qp_init_attr_ex *attr,
			      const struct qp_size *size, struct mlx5_qp *qp)
{
	const struct ibv_device_attr *device;
	bool shared = !ctx->env.single_threaded && !pd_thread_domain(attr_pd(attr));
	int ret;

	ret = provider_device_attr_get(&ctx->device, &device);
	if (ret)
		return ret;
	verbs_threads_look();
	qlock_init(&qp->sq_lock, shared);
	qp_choose_sends(qp);
	sq_prepare_flags(&qp->sq, attr->sq_sig_all);
	if (attr->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS) {
		mlx5_datapath()->send_wr_fill(qp);
		verbs_qp_set_ex(&qp->vqp);
	}
	rq_choose_routines(&qp->rq, attr, size, shared);
	if (qp->rules->kind == SEND_RAW)
		qp_choose_raw(ctx, attr, qp);
	return mlx5_qp_send_opcodes(qp->rules, send_ops(attr),
				    device->atomic_cap != IBV_ATOMIC_NONE,
				    qp->sq.wqe_bytes - size->sq_max_sge * WQE_SEG, &qp->opcodes);
}

static uint32_t qp_dv_flags(uint32_t flags)
{
	static const struct {
		uint32_t dv, kernel;
	} table[] = {
		{ MLX5DV_QP_CREATE_TUNNEL_OFFLOADS, MLX5_QP_FLAG_TUNNEL_OFFLOADS },
		{ MLX5DV_QP_CREATE_TIR_ALLOW_SELF_LOOPBACK_UC, MLX5_QP_FLAG_TIR_ALLOW_SELF_LB_UC },
		{ MLX5DV_QP_CREATE_TIR_ALLOW_SELF_LOOPBACK_MC, MLX5_QP_FLAG_TIR_ALLOW_SELF_LB_MC },
		{ MLX5DV_QP_CREATE_PACKET_BASED_CREDIT_MODE,
		  MLX5_QP_FLAG_PACKET_BASED_CREDIT_MODE },
	};
	uint32_t kernel = 0;

	for (size_t i = 0; i < ARRAY_SIZE(table); i++)
		if (flags & table[i].dv)
			kernel |= table[i].kernel;
	return kernel;
}

/* Returns the driver's flags that only mlx5dv_create_qp() can request. */
static uint32_t qp_vendor_flags(const struct mlx5_qp_dv *dv, const struct mlx5_qp *qp)
{
	uint32_t flags = qp_dv_flags(dv->flags);

	if (qp->rules == mlx5_qp_dct_rules())
		flags |= MLX5_QP_FLAG_TYPE_DCT;
	if (qp->rules == mlx5_qp_dci_rules())
		flags |= MLX5_QP_FLAG_TYPE_DCI;
	if (dv->has_streams)
		flags |= MLX5_QP_FLAG_DCI_STREAM;
	return flags;
}

/* Returns the driver's flags. Small payloads may arrive inside the CQE, except when the program's
 * memory is not accessible to the CPU. */
static uint32_t qp_kernel_flags(const struct mlx5_context *ctx, const struct mlx5_qp_dv *dv,
				const struct mlx5_qp *qp)
{
	const struct mlx5_bfreg *bfreg = qp->sq.db.bfreg;
	uint32_t flags = context_has_uar_objects(ctx) ? MLX5_QP_FLAG_UAR_PAGE_INDEX : 0;

	if (bfreg)
		flags = bfreg->uar->qp_flag;
	flags |= qp_vendor_flags(dv, qp);
	if (qp->has_signatures)
		flags |= MLX5_QP_FLAG_SIGNATURE;
	if (dv->flags & MLX5DV_QP_CREATE_DISABLE_SCATTER_TO_CQE)
		return flags;
	if (ctx->env.scatter_to_cqe)
		flags |= MLX5_QP_FLAG_SCATTER_CQE;
	if (dv->flags & MLX5DV_QP_CREATE_ALLOW_SCATTER_TO_CQE)
		flags |= MLX5_QP_FLAG_SCATTER_CQE | MLX5_QP_FLAG_ALLOW_SCATTER_CQE;
	return flags;
}

/* Finds the register that a kernel without UAR objects chose for a QP. */
static int qp_take_register(const struct mlx5_context *ctx, uint32_t number,
			    struct mlx5_doorbell *db)
{
	return db->bfreg && !db->bfreg->uar->qp_flag ? mlx5_uar_find_reg(ctx, number, &db->reg) : 0;
}

/* Returns the granted capacities in CAP. If the QP has no send queue, the program's values for it
 * stay unchanged. */
static void qp_grant_cap(const struct ibv_qp_cap *granted, struct ibv_qp_cap *cap)
{
	struct ibv_qp_cap asked = *cap;

	*cap = *granted;
	if (granted->max_send_wr)
		return;
	cap->max_send_sge = asked.max_send_sge;
	cap->max_inline_data = asked.max_inline_data;
}

static bool qp_cq_is_of_day(struct ibv_cq *cq)
{
	return cq && to_mcq(cq)->kernel_flags & MLX5_IB_CREATE_CQ_FLAGS_REAL_TIME_TS;
}

/* Logs why the kernel refused the timestamp formats. The adapter writes timestamps of one format
 * per QP, so both CQs must have the same; the kernel treats a CQ without timestamps as one with
 * ticks. The CQs were created without knowledge of their QPs. */
static void qp_explain_timestamps(const struct ibv_qp_init_attr_ex *attr, int ret)
{
	bool send = qp_cq_is_of_day(attr->send_cq), receive = qp_cq_is_of_day(attr->recv_cq);

	if (ret != EOPNOTSUPP || send == receive)
		return;
	verbs_warn("create_qp: %s has IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK alone, and %s "
		   "has not: a QP has timestamps of one format, so both or none, or raw timestamps "
		   "as well",
		   send ? "send_cq" : "recv_cq", send ? "recv_cq" : "send_cq");
}

static void qp_take_parts(const struct mlx5_ib_create_qp_resp *resp, struct mlx5_qp *qp)
{
	if (resp->comp_mask & MLX5_IB_CREATE_QP_RESP_MASK_TIRN)
		qp->parts.tirn = resp->tirn;
	if (resp->comp_mask & MLX5_IB_CREATE_QP_RESP_MASK_TISN)
		qp->parts.tisn = resp->tisn;
	if (resp->comp_mask & MLX5_IB_CREATE_QP_RESP_MASK_RQN)
		qp->parts.rqn = resp->rqn;
	if (resp->comp_mask & MLX5_IB_CREATE_QP_RESP_MASK_SQN)
		qp->parts.sqn = resp->sqn;
	if (resp->comp_mask & MLX5_IB_CREATE_QP_RESP_MASK_TIR_ICM_ADDR)
		qp->parts.tir_icm_addr = resp->tir_icm_addr;
}

static int qp_run_create(struct mlx5_context *ctx, struct ibv_qp_init_attr_ex *attr,
			 const struct qp_size *size, const struct mlx5_qp_dv *dv,
			 struct mlx5_qp *qp)
{
	/* A copy, because qp_grant_cap() sets the capacities granted, not the kernel. */
	struct ibv_qp_init_attr_ex kernel_attr = *attr;
	const struct mlx5_ib_create_qp req = {
		.buf_addr = (uintptr_t)qp->buf.addr,
		.db_addr = (uintptr_t)qp->dbrec,
		.sq_wqe_count = size->sq_wqebbs,
		.rq_wqe_count = size->rq_wqes,
		.rq_wqe_shift = size->rq_stride_log,
		.flags = qp_kernel_flags(ctx, dv, qp),
		.uidx = context_has_user_index(ctx) ? qp->rq.rsn : PRM_NO_USER_INDEX,
		.bfreg_index = qp->sq.db.bfreg ? qp->sq.db.bfreg->index : 0,
		/* access_key of a DCT: the kernel's struct has both in a union. */
		.sq_buf_addr = qp->rules->is_target ? dv->access_key
						    : (uint64_t)(uintptr_t)qp->sq_buf.addr,
		.ece_options = context_has_ece(ctx) ? ECE_VERSION_1 : 0,
		.dci_streams = { dv->streams.log_num_concurent, dv->streams.log_num_errored },
	};
	struct mlx5_ib_create_qp_resp resp;
	const struct verbs_udata udata = { &req, sizeof(req), &resp, sizeof(resp), NULL, 0 };
	int ret = verbs_cmd_create_qp(&ctx->vctx.context, &kernel_attr, &qp->vqp, &udata);

	qp_explain_timestamps(attr, ret);
	if (ret)
		return ret;
	ret = qp_take_register(ctx, resp.bfreg_index, &qp->sq.db);
	if (ret) {
		verbs_cmd_destroy_qp(&qp->vqp.qp);
		return ret;
	}
	qp_take_parts(&resp, qp);
	qp->has_ece = context_has_ece(ctx);
	qp->ece_granted = resp.ece_options;
	qp->sq.qpn_shifted = (uint64_t)qp->vqp.qp.qp_num << 8;
	qp->rq.number = qp->vqp.qp.qp_num;
	qp->cap = (struct ibv_qp_cap){
		.max_send_wr = size->sq_max_post,
		.max_recv_wr = rq_max_post(qp, size),
		.max_send_sge = size->sq_max_sge,
		.max_recv_sge = size->rq_max_sge,
		.max_inline_data = size->sq_max_inline,
	};
	qp_grant_cap(&qp->cap, &attr->cap);
	verbs_debug("create_qp: qp 0x%x: %s QP, %u send WQEBBs, %u receive WQEs of %u bytes",
		    qp->rq.number, qp->rules->name, size->sq_wqebbs, size->rq_wqes,
		    1u << size->rq_stride_log);
	return 0;
}

/* Creates an RSS QP: a hash of each packet chooses a WQ of the indirection table. */
static int qp_run_create_rss(struct mlx5_context *ctx, const struct ibv_qp_init_attr_ex *attr,
			     const struct mlx5_qp_dv *dv, struct mlx5_qp *qp)
{
	const struct ibv_rx_hash_conf *hash = &attr->rx_hash_conf;
	struct ibv_qp_init_attr_ex kernel_attr = *attr;
	struct mlx5_ib_create_qp_rss req = {
		.rx_hash_fields_mask = hash->rx_hash_fields_mask,
		.rx_hash_function = hash->rx_hash_function,
		.rx_key_len = hash->rx_hash_key_len,
		.flags = qp_dv_flags(dv->flags),
	};
	struct mlx5_ib_create_qp_resp resp;
	const struct verbs_udata udata = { &req, sizeof(req), &resp, sizeof(resp), NULL, 0 };
	int ret;

	if (hash->rx_hash_key_len > sizeof(req.rx_hash_key)) {
		verbs_warn("create_qp: rx_hash_conf.rx_hash_key_len is %u, limit %zu",
			   hash->rx_hash_key_len, sizeof(req.rx_hash_key));
		return EINVAL;
	}
	memcpy(req.rx_hash_key, hash->rx_hash_key, hash->rx_hash_key_len);
	ret = verbs_cmd_create_qp(&ctx->vctx.context, &kernel_attr, &qp->vqp, &udata);
	if (!ret)
		qp_take_parts(&resp, qp);
	return ret;
}

/* Registers the QP by its QPN, for CQEs without a user index; the QPN is known only after
 * creation. */
static int qp_index_by_qpn(struct mlx5_context *ctx, struct mlx5_qp *qp)
{
	qp->rq.rsn = qp->vqp.qp.qp_num;
	return provider_id_set(&ctx->ids, qp->rq.rsn, &qp->rq);
}

/* Returns whether CQEs can name the QP. */
static bool qp_is_indexed(const struct mlx5_qp *qp)
{
	return qp_has_queues(qp) || qp->rules->is_target;
}

static int qp_create_indexed(struct mlx5_context *ctx, struct ibv_qp_init_attr_ex *attr,
			     const struct qp_size *size, const struct mlx5_qp_dv *dv,
			     struct mlx5_qp *qp)
{
	int ret;

	qp->rq.rsn = PRM_NO_USER_INDEX;
	if (qp->rules == mlx5_qp_rss_rules())
		return qp_run_create_rss(ctx, attr, dv, qp);
	if (!qp_is_indexed(qp))
		return qp_run_create(ctx, attr, size, dv, qp);
	if (context_has_user_index(ctx)) {
		ret = provider_id_alloc(&ctx->ids, &qp->rq, &qp->rq.rsn);
		if (ret) {
			verbs_warn("create_qp: no user index is free");
			return ret;
		}
		ret = qp_run_create(ctx, attr, size, dv, qp);
		if (ret)
			provider_id_clear(&ctx->ids, qp->rq.rsn);
		return ret;
	}
	ret = qp_run_create(ctx, attr, size, dv, qp);
	if (ret || qp->rules->is_target) /* a DCT gets its number only in state RTR */
		return ret;
	ret = qp_index_by_qpn(ctx, qp);
	if (ret)
		verbs_cmd_destroy_qp(&qp->vqp.qp);
	return ret;
}

static int qp_build(struct mlx5_context *ctx, struct ibv_qp_init_attr_ex *attr,
		    const struct qp_size *size, const struct mlx5_qp_dv *dv, struct mlx5_qp *qp)
{
	int ret;

	qp_set_limits(size, qp);
	ret = qp_alloc_doorbell(ctx, attr_pd(attr), qp);
	if (ret)
		return ret;
	ret = qp_choose_routines(ctx, attr, size, qp);
	if (ret)
		goto free_doorbell;
	ret = qp_alloc_queues(ctx, attr_pd(attr), qp, size);
	if (ret)
		goto free_doorbell;
	ret = mlx5_qp_dv_take(ctx, attr_pd(attr), dv, qp);
	if (ret)
		goto free_queues;
	ret = qp_create_indexed(ctx, attr, size, dv, qp);
	if (ret)
		goto release_dv;
	return 0;
release_dv:
	mlx5_qp_dv_release(qp);
free_queues:
	qp_free_queues(qp);
free_doorbell:
	qp_free_doorbell(ctx, qp);
	return ret;
}

/* Returns the size of control segment, Ethernet segment and inline headers of a TSO request. */
static uint32_t tso_head_size(const struct ibv_qp_init_attr_ex *attr)
{
	uint32_t header = tso_header(attr);

	return header ? WQE_SEG + (uint32_t)align_up(ETH_HEADER_AT + header, WQE_SEG) : 0;
}

/* Returns whether WQEs carry signatures. Types that the adapter implements by a separate RQ and SQ
 * do not: the kernel does not enable signatures for those. */
static bool qp_signs(const struct mlx5_context *ctx, const struct qp_rules *rules,
		     const struct mlx5_qp_dv *dv)
{
	return ctx->env.qp_signatures && rules->kind != SEND_RAW && !rules->rings_apart &&
	       (rules->sends || rules->receives) && !(dv->flags & QP_CREATE_UNSIGNED);
}

/* Computes the ring sizes without the queues that the type lacks or that an SRQ replaces. */
static int qp_size_for(const struct mlx5_context *ctx, const struct qp_rules *rules,
		       const struct ibv_qp_init_attr_ex *attr, const struct mlx5_qp_dv *dv,
		       bool sign, struct qp_size *size)
{
	const uint32_t tso = tso_head_size(attr);
	const uint32_t longest = max_of(mlx5_qp_head_size(rules, send_ops(attr)), tso);
	const struct wqe_heads heads = {
		.longest = max_of(longest, mlx5_qp_dv_head(dv)),
		.data = max_of(mlx5_qp_data_head_size(rules, send_ops(attr)), tso),
		.room = mlx5_qp_dv_room(dv),
		.recv = sign ? RECV_SIGNATURE_SIZE : 0,
	};
	struct ibv_qp_cap cap = attr->cap;

	if (!rules->sends)
		cap.max_send_wr = cap.max_send_sge = cap.max_inline_data = 0;
	if (!rules->receives || attr->srq)
		cap.max_recv_wr = 0;
	return mlx5_qp_size_queues(&ctx->caps, &cap, &heads, size);
}

/* Doubles the receive ring for out-of-order messages. WQEs complete out of order, but their slots
 * become free in order: while early WQEs are outstanding, as many more may be posted. */
static void qp_size_early(const struct mlx5_qp_dv *dv, struct qp_size *size)
{
	if (dv->flags & MLX5DV_QP_CREATE_OOO_DP)
		size->rq_wqes *= 2;
}

/* Allocates a QP at a cache line boundary, so that the hot fields share lines as their order
 * intends. */
struct mlx5_qp *mlx5_qp_new(const char *call)
{
	void *mem;

	if (!posix_memalign(&mem, 64, sizeof(struct mlx5_qp)))
		return memset(mem, 0, sizeof(struct mlx5_qp));
	verbs_warn("%s: no memory for %zu bytes", call, sizeof(struct mlx5_qp));
	return NULL;
}

static const struct qp_rules *qp_rules_for(const struct ibv_qp_init_attr_ex *attr)
{
	if (attr->qp_type == IBV_QPT_RAW_PACKET && attr->comp_mask & IBV_QP_INIT_ATTR_RX_HASH)
		return mlx5_qp_rss_rules();
	if (attr->qp_type == IBV_QPT_UD && attr->comp_mask & IBV_QP_INIT_ATTR_CREATE_FLAGS &&
	    attr->create_flags & IBV_QP_CREATE_SOURCE_QPN)
		return mlx5_qp_underlay_rules();
	return mlx5_qp_rules_of(attr->qp_type);
}

int mlx5_qp_create_dv(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr,
		      const struct mlx5_qp_dv *dv, struct verbs_qp **vqp)
{
	const struct qp_rules *rules = dv->rules ? dv->rules : qp_rules_for(attr);
	struct mlx5_context *ctx = to_mctx(context);
	struct qp_size size;
	struct mlx5_qp *qp;
	bool sign;
	int ret;

	if (!rules)
		return qp_refuse_type(attr->qp_type);
	ret = qp_check_attr(context, rules, attr);
	sign = qp_signs(ctx, rules, dv);
	if (!ret)
		ret = qp_size_for(ctx, rules, attr, dv, sign, &size);
	if (ret)
		return ret;
	qp_size_early(dv, &size);
	qp = mlx5_qp_new("create_qp");
	if (!qp)
		return ENOMEM;
	qp->rules = rules;
	qp->has_signatures = sign;
	qp->out_of_order = dv->flags & MLX5DV_QP_CREATE_OOO_DP;
	ret = qp_build(ctx, attr, &size, dv, qp);
	if (ret) {
		free(qp);
		return ret;
	}
	*vqp = &qp->vqp;
	return 0;
}

int mlx5_qp_create(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr,
		   struct verbs_qp **vqp)
{
	return mlx5_qp_create_dv(context, attr, &(struct mlx5_qp_dv){ 0 }, vqp);
}

/* Removes the completions of QP from its CQs, which may be the same CQ. The CQs that an XRC QP does
 * not use are skipped: the program may have destroyed them already. */
static void qp_clean_cqs(struct mlx5_qp *qp)
{
	struct ibv_qp *ibqp = &qp->vqp.qp;
	struct ibv_cq *send = ibqp->send_cq, *recv = ibqp->recv_cq;

	if (ibqp->qp_type == IBV_QPT_XRC_RECV)
		return;
	if (ibqp->qp_type == IBV_QPT_XRC_SEND)
		recv = NULL;
	if (recv)
		mlx5_cq_clean(to_mcq(recv), &qp->rq);
	if (send && send != recv)
		mlx5_cq_clean(to_mcq(send), &qp->rq);
}

static void qp_release_record(struct mlx5_qp *qp)
{
	struct mlx5_rq *rq = &qp->rq;

	qlock_enter(&rq->lock);
	if (rq->dbrec != qp->dbrec && rq->wq.head) {
		/* The adapter must see the WQEs before the record that makes them valid. */
		dma_store_barrier();
		qp->dbrec[MLX5_RCV_DBR] = rq->dbrec[MLX5_RCV_DBR];
	}
	rq->dbrec = qp->dbrec;
	qlock_leave(&rq->lock);
}

/* Empties both queues, as the adapter does on a reset. */
static void qp_reset_queues(struct mlx5_qp *qp)
{
	qlock_enter(&qp->sq_lock);
	wq_reset(&qp->sq.wq);
	qp->sq.pi = 0;
	qp->batch.err = 0;
	qp->dbrec[MLX5_SND_DBR] = 0;
	qlock_leave(&qp->sq_lock);
	qlock_enter(&qp->rq.lock);
	wq_reset(&qp->rq.wq);
	qp->dbrec[MLX5_RCV_DBR] = 0;
	if (qp_withholds(qp))
		qp->rq.dbrec = qp->withheld;
	qlock_leave(&qp->rq.lock);
	__atomic_store_n(&qp->rq.error_reported, false, __ATOMIC_RELAXED);
}

/* IBTA vol 1, 10.3.1: receives may be posted from INIT on, sends from RTS on, both until RESET.
 * Opens or closes the gates of the data path (data/post.h) to match. Closing drops a pending UMR
 * fence, because the queue is empty; a change from RTS or SQD to RTS keeps it. */
static void sq_set_gate(struct mlx5_qp *qp, bool open)
{
	qlock_enter(&qp->sq_lock);
	sq_permit(&qp->sq, open);
	if (!open)
		qp->sq.fence_next = 0;
	qp->sq.opcodes = open && !qp->sq.fence_next ? qp->opcodes & (uint16_t)~UMR_OPCODES : 0;
	qlock_leave(&qp->sq_lock);
}

static void qp_reset(struct mlx5_qp *qp)
{
	sq_set_gate(qp, false);
	rq_set_gate(&qp->rq, false);
	if (!qp_has_queues(qp))
		return;
	qp_clean_cqs(qp);
	qp_reset_queues(qp);
}

/* Returns the driver's modify mask: out-of-order messages are enabled in the change to INIT. */
static uint32_t qp_modify_mask(const struct mlx5_qp *qp, const struct ibv_qp_attr *attr,
			       int attr_mask)
{
	bool begins = attr_mask & IBV_QP_STATE && attr->qp_state == IBV_QPS_INIT;

	return qp->out_of_order && begins ? MLX5_IB_MODIFY_QP_OOO_DP : 0;
}

/* Modifies a QP with the driver's part of the command. ECE options need it at a change of state. A
 * rate limit needs it because Linux 7 refuses a rate limit without it (unless the QP is raw). Out
 * of line because rare. */
static int __attribute__((noinline))
qp_run_modify_with(struct mlx5_qp *qp, const struct ibv_qp_attr *attr, int attr_mask)
{
	bool has_ece = qp->ece_asked && attr_mask & IBV_QP_STATE;
	const struct mlx5_ib_modify_qp req = {
		.comp_mask = qp_modify_mask(qp, attr, attr_mask),
		.ece_options = has_ece ? qp->ece_asked : 0,
	};
	struct mlx5_ib_modify_qp_resp resp;
	const struct verbs_udata udata = { &req, sizeof(req), &resp, sizeof(resp), NULL, 0 };
	int ret;

	if (!has_ece && !req.comp_mask && !(attr_mask & IBV_QP_RATE_LIMIT))
		return verbs_cmd_modify_qp(&qp->vqp.qp, attr, attr_mask, NULL);
	ret = verbs_cmd_modify_qp(&qp->vqp.qp, attr, attr_mask, &udata);
	if (!ret && has_ece) {
		qp->ece_asked = 0;
		qp->ece_granted = resp.ece_options;
	}
	return ret;
}

/* Modifies a QP; most need no driver's part of the command. */
static inline int qp_run_modify(struct mlx5_qp *qp, const struct ibv_qp_attr *attr, int attr_mask)
{
	if (qp->ece_asked || qp->out_of_order || attr_mask & IBV_QP_RATE_LIMIT)
		return qp_run_modify_with(qp, attr, attr_mask);
	return verbs_cmd_modify_qp(&qp->vqp.qp, attr, attr_mask, NULL);
}

/* Checks the mask here for a clear log message: the kernel would return only EINVAL. */
static int underlay_check_mask(const struct mlx5_qp *qp, int attr_mask)
{
	if (qp->rules != mlx5_qp_underlay_rules() ||
	    !(attr_mask & ~(IBV_QP_STATE | IBV_QP_CUR_STATE)))
		return 0;
	verbs_warn("modify_qp: qp 0x%x: attr_mask is %#x: a QP with IBV_QP_CREATE_SOURCE_QPN has "
		   "nothing but a state",
		   qp->vqp.qp.qp_num, attr_mask);
	return EINVAL;
}

/* Modifies a DCT. The kernel creates it in the change to RTR and then returns its number. */
static int dct_modify(struct mlx5_qp *qp, const struct ibv_qp_attr *attr, int attr_mask)
{
	struct mlx5_context *ctx = to_mctx(qp->vqp.qp.context);
	const struct mlx5_ib_modify_qp req = {
		.comp_mask = qp_modify_mask(qp, attr, attr_mask),
		.ece_options = qp->ece_asked,
	};
	struct mlx5_ib_modify_qp_resp resp = { 0 };
	const struct verbs_udata udata = { &req, sizeof(req), &resp, sizeof(resp), NULL, 0 };
	int ret = verbs_cmd_modify_qp(&qp->vqp.qp, attr, attr_mask, &udata);

	if (ret || !(attr_mask & IBV_QP_STATE) || attr->qp_state != IBV_QPS_RTR)
		return ret;
	qp->vqp.qp.qp_num = resp.dctn;
	qp->rq.number = resp.dctn;
	qp->ece_asked = 0;
	qp->ece_granted = resp.ece_options;
	return context_has_user_index(ctx) ? 0 : qp_index_by_qpn(ctx, qp);
}

static int __attribute__((noinline)) qp_check_modify(const struct mlx5_qp *qp, int attr_mask)
{
	if (qp->rules != mlx5_qp_rss_rules())
		return underlay_check_mask(qp, attr_mask);
	verbs_warn("modify_qp: qp 0x%x spreads frames over WQs, and has no states",
		   qp->vqp.qp.qp_num);
	return EOPNOTSUPP;
}

static int qp_enter_state(struct mlx5_qp *qp, enum ibv_qp_state state)
{
	int ret;

	if (state == IBV_QPS_INIT) {
		ret = mlx5_qp_dv_init(qp);
		if (ret)
			return ret;
		rq_set_gate(&qp->rq, true);
	} else if (state == IBV_QPS_RESET) {
		qp_reset(qp);
	} else if (qp_withholds(qp)) {
		qp_release_record(qp);
	}
	if (state == IBV_QPS_RTS)
		sq_set_gate(qp, true);
	return 0;
}

int mlx5_qp_modify(struct ibv_qp *ibqp, struct ibv_qp_attr *attr, int attr_mask)
{
	struct mlx5_qp *qp = to_mqp(ibqp);
	int ret;

	if (qp->rules->is_target)
		return dct_modify(qp, attr, attr_mask);
	ret = qp->rules->modifies_apart ? qp_check_modify(qp, attr_mask) : 0;
	if (!ret)
		ret = qp_run_modify(qp, attr, attr_mask);
	return ret || !(attr_mask & IBV_QP_STATE) ? ret : qp_enter_state(qp, attr->qp_state);
}

int mlx5_qp_query(struct ibv_qp *ibqp, struct ibv_qp_attr *attr, int attr_mask,
		  struct ibv_qp_init_attr *init_attr)
{
	int ret = verbs_cmd_query_qp(ibqp, attr, attr_mask, init_attr);

	if (ret)
		return ret;
	init_attr->cap = to_mqp(ibqp)->cap;
	attr->cap = init_attr->cap;
	return 0;
}

/* Destroys the QP in the kernel, and then removes it from the lookup table: after that the adapter
 * writes no CQE for it, and CQEs already written no longer find it. */
static int qp_leave(struct mlx5_context *ctx, struct mlx5_qp *qp)
{
	int ret = qp->is_gone ? 0 : verbs_cmd_destroy_qp(&qp->vqp.qp);

	if (ret || qp->is_gone)
		return ret;
	qp_clean_cqs(qp);
	if (qp_is_indexed(qp) && qp->rq.rsn != PRM_NO_USER_INDEX)
		provider_id_clear(&ctx->ids, qp->rq.rsn);
	qp->is_gone = true;
	return 0;
}

int mlx5_qp_destroy(struct ibv_qp *ibqp)
{
	struct mlx5_context *ctx = to_mctx(ibqp->context);
	struct mlx5_qp *qp = to_mqp(ibqp);
	int ret = qp_leave(ctx, qp);

	if (!ret)
		ret = mlx5_qp_dv_release(qp);
	if (ret)
		return ret;
	qp_free_queues(qp);
	qp_free_doorbell(ctx, qp);
	free(qp);
	return 0;
}

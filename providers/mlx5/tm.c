/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * tm.c - posts operations on the matching list, ibv_post_srq_ops(), and creates the QP that carries
 * them.
 *
 * The QP is connected to itself: it sends nothing, but the device requires state RTS. A list of
 * requests is posted in order, up to the first request that fails.
 */
#include "providers/mlx5/tm.h"

#include <errno.h>
#include <stdlib.h>

#include "providers/mlx5/context.h"
#include "providers/mlx5/data/doorbell.h"
#include "providers/mlx5/data/send_wqe.h"
#include "providers/mlx5/device.h"
#include "util/alloc.h"

static struct mlx5_sq *sq_of(const struct mlx5_tm *tm)
{
	return &tm->qp->sq;
}

/* ---- operations */

static int __attribute__((cold))
op_refuse(const struct mlx5_srq *srq, const struct ibv_ops_wr *wr, const char *why, int err)
{
	verbs_warn("post_srq_ops: srq 0x%x, wr_id %#llx: %s", srq->srqn,
		   (unsigned long long)wr->wr_id, why);
	return verbs_result(err);
}

static int op_check_add(const struct mlx5_srq *srq, const struct ibv_ops_wr *wr)
{
	if (wr->tm.add.num_sge > 1)
		return op_refuse(srq, wr, "num_sge is more than 1, the device's max_sge of a tag",
				 EINVAL);
	if (srq->tm->head == srq->tm->tail)
		return op_refuse(srq, wr, "the list is full: max_num_tags of the SRQ", ENOMEM);
	return 0;
}

static int op_check(const struct mlx5_srq *srq, const struct ibv_ops_wr *wr)
{
	const struct mlx5_tm *tm = srq->tm;

	if (!wq_has_room(&sq_of(tm)->wq, sq_of(tm)->wq.head))
		return op_refuse(srq, wr, "the queue is full: max_ops of the SRQ", ENOMEM);
	switch (wr->opcode) {
	case IBV_WR_TAG_ADD:
		return op_check_add(srq, wr);
	case IBV_WR_TAG_DEL:
		if (wr->tm.handle < tm->size && tm->tags[wr->tm.handle].used)
			return 0;
		return op_refuse(srq, wr, "handle is of no tag that is on the list", EINVAL);
	case IBV_WR_TAG_SYNC:
		return 0;
	default:
		return op_refuse(srq, wr, "opcode is not in enum ibv_ops_wr_opcode", EINVAL);
	}
}

static uint8_t tm_seg_opcode(unsigned int opcode)
{
	return (uint8_t)(opcode << FLD_SHIFT(TM_SEG_OPCODE) % 8);
}

/* Builds an add request: it uses the entry at head, and names the entry of the next add. */
static void op_put_add(struct mlx5_tm *tm, struct ibv_ops_wr *wr, struct mlx5_wqe_tm_seg *seg)
{
	struct tm_tag *tag = &tm->tags[tm->head];

	wr->tm.handle = tm->head;
	tag->used = true;
	tag->recv_wr_id = wr->tm.add.recv_wr_id;
	tag->len = wr->tm.add.num_sge > 0 ? wr->tm.add.sg_list->length : 0;
	tag->buf = tag->len && wr->tm.add.sg_list->lkey != tm->null_lkey
			   ? (uint8_t *)(uintptr_t)wr->tm.add.sg_list->addr
			   : NULL;
	tm->head = tag->next;
	seg->opcode = tm_seg_opcode(TM_SEG_OP_APPEND);
	seg->index = htobe16((uint16_t)tm->head);
	seg->append_tag = htobe64(wr->tm.add.tag);
	seg->append_mask = htobe64(wr->tm.add.mask);
}

/* Builds a delete request. It is always signaled: only the completion tells whether the tag
 * existed. */
static void op_put_del(struct mlx5_tm *tm, const struct ibv_ops_wr *wr, uint32_t slot,
		       struct mlx5_wqe_tm_seg *seg)
{
	tm->deleting[slot] = (uint16_t)wr->tm.handle;
	seg->opcode = tm_seg_opcode(TM_SEG_OP_REMOVE);
	seg->index = htobe16((uint16_t)wr->tm.handle);
	seg->flags |= TM_SEG_FLAG_CQE;
}

static uint32_t op_done_as(const struct ibv_ops_wr *wr)
{
	static const uint8_t done_as[] = {
		[IBV_WR_TAG_ADD] = IBV_WC_TM_ADD,
		[IBV_WR_TAG_DEL] = IBV_WC_TM_DEL,
		[IBV_WR_TAG_SYNC] = IBV_WC_TM_SYNC,
	};
	bool quiet = wr->opcode == IBV_WR_TAG_DEL && !(wr->flags & IBV_OPS_SIGNALED);

	return done_as[wr->opcode] | (quiet ? TM_DONE_QUIETLY : 0);
}

static void op_put_flags(struct mlx5_tm *tm, const struct ibv_ops_wr *wr,
			 struct mlx5_wqe_tm_seg *seg)
{
	if (wr->flags & IBV_OPS_SIGNALED)
		seg->flags |= TM_SEG_FLAG_CQE;
	if (!(wr->flags & IBV_OPS_TM_SYNC))
		return;
	tm->told = (uint16_t)wr->tm.unexpected_cnt;
	seg->flags |= TM_SEG_FLAG_SW_COUNT;
	seg->sw_cnt = htobe16(tm->told);
}

/* Builds the WQE. PRM: a control segment, a tag-matching segment and, for a tag with a buffer, a
 * data segment; together at most one WQEBB. */
static const uint8_t *op_put_wqe(struct mlx5_tm *tm, struct ibv_ops_wr *wr)
{
	struct mlx5_sq *sq = sq_of(tm);
	uint32_t pi = sq->pi;
	struct mlx5_wqe_tm_seg *seg;
	struct send_wqe wqe;

	wqe_begin(sq, &wqe, pi, MLX5_OPCODE_TAG_MATCHING, 0, 0);
	seg = (struct mlx5_wqe_tm_seg *)wqe.seg;
	*seg = (struct mlx5_wqe_tm_seg){ .opcode = tm_seg_opcode(TM_SEG_OP_NOP) };
	wqe.seg += sizeof(*seg);
	wqe.ds += sizeof(*seg) / WQE_SEG;
	op_put_flags(tm, wr, seg);
	if (wr->opcode == IBV_WR_TAG_ADD) {
		op_put_add(tm, wr, seg);
		if (wr->tm.add.num_sge > 0)
			wqe_put_data(sq, &wqe, wr->tm.add.sg_list->length, wr->tm.add.sg_list->lkey,
				     wr->tm.add.sg_list->addr);
	} else if (wr->opcode == IBV_WR_TAG_DEL) {
		op_put_del(tm, wr, pi & sq->wq.mask, seg);
	}
	wq_slot_note(wqe.slot, sq->wq.head++, wr->wr_id);
	wqe.slot->done_as = op_done_as(wr);
	sq->pi = pi + wqe_finish(&wqe);
	return wqe.ctrl;
}

static int ops_post(struct mlx5_srq *srq, struct ibv_ops_wr *wr, struct ibv_ops_wr **bad_wr)
{
	const uint8_t *ctrl = NULL;
	int ret = 0;

	for (; wr; wr = wr->next) {
		ret = op_check(srq, wr);
		if (ret) {
			*bad_wr = wr;
			break;
		}
		ctrl = op_put_wqe(srq->tm, wr);
	}
	if (ctrl)
		doorbell_send_any(sq_of(srq->tm), sq_of(srq->tm)->pi, ctrl, 0);
	return ret;
}

int mlx5_tm_post(struct ibv_srq *ibsrq, struct ibv_ops_wr *wr, struct ibv_ops_wr **bad_wr)
{
	struct mlx5_srq *srq = to_msrq(ibsrq);
	int ret;

	if (!srq->tm || !srq->tm->qp) {
		verbs_warn("post_srq_ops: srq 0x%x: its type is not TM", srq->srqn);
		*bad_wr = wr;
		return verbs_result(EINVAL);
	}
	qlock_enter(&srq->lock);
	ret = ops_post(srq, wr, bad_wr);
	qlock_leave(&srq->lock);
	return ret;
}

/* ---- the queue */

int mlx5_tm_check_attr(const struct ibv_srq_init_attr_ex *attr)
{
	if (attr->comp_mask & IBV_SRQ_INIT_ATTR_CQ && attr->comp_mask & IBV_SRQ_INIT_ATTR_TM &&
	    attr->tm_cap.max_num_tags && attr->tm_cap.max_num_tags <= UINT16_MAX)
		return 0;
	verbs_warn(
		"create_srq: srq_type is TM, which needs a CQ, and tm_cap.max_num_tags of 1 to %u",
		UINT16_MAX);
	return EINVAL;
}

/* Fills in a path to the first port's own address, with a GRH on RoCE and on subnets that require
 * one, because the SRQ's command QP is connected to itself. */
static int own_path(struct ibv_context *context, struct ibv_ah_attr *path)
{
	struct ibv_port_attr port;
	int ret = ibv_query_port(context, 1, &port);

	if (ret)
		return ret;
	*path = (struct ibv_ah_attr){ .dlid = port.lid, .port_num = 1 };
	if (!(port.flags & IBV_QPF_GRH_REQUIRED) && port.link_layer != IBV_LINK_LAYER_ETHERNET)
		return 0;
	path->is_global = 1;
	path->grh.hop_limit = 1;
	return ibv_query_gid(context, 1, 0, &path->grh.dgid) ? errno : 0;
}

static int tm_connect_to_itself(struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1 };
	int ret = mlx5_qp_modify(
		qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);

	if (!ret)
		ret = own_path(qp->context, &attr.ah_attr);
	if (ret)
		return ret;
	attr.qp_state = IBV_QPS_RTR;
	attr.path_mtu = IBV_MTU_256;
	attr.dest_qp_num = qp->qp_num;
	ret = mlx5_qp_modify(qp, &attr,
			     IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
				     IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
				     IBV_QP_MIN_RNR_TIMER);
	if (ret)
		return ret;
	attr.qp_state = IBV_QPS_RTS;
	return mlx5_qp_modify(qp, &attr,
			      IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
				      IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC);
}

static int tm_create_queue(struct mlx5_srq *srq, const struct ibv_srq_init_attr_ex *attr)
{
	struct ibv_qp_init_attr_ex init = {
		.send_cq = attr->cq,
		.recv_cq = attr->cq,
		.srq = &srq->vsrq.srq,
		.cap = { .max_send_wr = attr->tm_cap.max_ops, .max_send_sge = 1 },
		.qp_type = IBV_QPT_RC,
		.comp_mask = IBV_QP_INIT_ATTR_PD,
		.pd = attr->pd,
	};
	const struct mlx5_qp_dv dv = { .flags = QP_CREATE_UNSIGNED };
	struct verbs_qp *vqp;
	int ret;

	if (!init.cap.max_send_wr)
		init.cap.max_send_wr = 1;
	ret = mlx5_qp_create_dv(attr->cq->context, &init, &dv, &vqp);
	if (ret)
		return ret;
	ret = tm_connect_to_itself(&vqp->qp);
	if (ret) {
		mlx5_qp_destroy(&vqp->qp);
		return ret;
	}
	srq->tm->qp = to_mqp(&vqp->qp);
	return 0;
}

/* ---- the list */

static int tm_alloc_list(struct mlx5_srq *srq, uint32_t tags)
{
	struct mlx5_tm *tm = calloc_for("create_srq", 1, sizeof(*tm));

	if (!tm)
		return ENOMEM;
	tm->size = (uint32_t)pow2_ceil((uint64_t)tags + 1);
	tm->tags = calloc_for("create_srq", tm->size, sizeof(*tm->tags));
	if (!tm->tags) {
		free(tm);
		return ENOMEM;
	}
	for (uint32_t i = 0; i < tm->size; i++)
		tm->tags[i].next = (uint16_t)((i + 1) & (tm->size - 1));
	tm->tail = tm->size - 1;
	tm->null_lkey = context_null_lkey(to_mctx(srq->vsrq.srq.context));
	srq->tm = tm;
	srq->rq.special = RQ_OTHER;
	return 0;
}

void mlx5_tm_free(struct mlx5_srq *srq)
{
	if (!srq->tm)
		return;
	free(srq->tm->deleting);
	free(srq->tm->tags);
	free(srq->tm);
}

int mlx5_tm_destroy(struct mlx5_srq *srq)
{
	int ret = srq->tm->qp ? mlx5_qp_destroy(&srq->tm->qp->vqp.qp) : 0;

	if (!ret)
		srq->tm->qp = NULL;
	return ret;
}

int mlx5_tm_create(struct mlx5_srq *srq, const struct ibv_srq_init_attr_ex *attr)
{
	int ret = tm_alloc_list(srq, attr->tm_cap.max_num_tags);

	if (!ret)
		ret = tm_create_queue(srq, attr);
	if (ret)
		return ret;
	srq->tm->deleting =
		calloc_for("create_srq", sq_of(srq->tm)->wq.mask + 1, sizeof(*srq->tm->deleting));
	if (srq->tm->deleting)
		return 0;
	mlx5_tm_destroy(srq);
	return ENOMEM;
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * post_send.c - ibv_post_send(): translates work requests to the builders of send_wqe.h.
 *
 * The batch rule of this door: requests are posted in order up to the first that cannot be; *bad_wr
 * names that one, and those before it are rung. A QP holds one of two instances, with and without
 * the lock.
 */
#include <errno.h>

#include "providers/mlx5/doorbell.h"
#include "providers/mlx5/post.h"
#include "providers/mlx5/send_wqe.h"

#define REPORT static void __attribute__((cold, noinline))

REPORT report_sges(const struct mlx5_qp *qp, const struct ibv_send_wr *wr)
{
	if (!qp->sq.sge_limit)
		verbs_warn(
			"post_send: qp 0x%x, wr_id %#llx: the QP is in state %d, must be RTS (%d)",
			qp->vqp.qp.qp_num, (unsigned long long)wr->wr_id, (int)qp->vqp.qp.state,
			IBV_QPS_RTS);
	else
		verbs_warn(
			"post_send: qp 0x%x, wr_id %#llx: num_sge is %d, limit %u (max_send_sge of the QP)",
			qp->vqp.qp.qp_num, (unsigned long long)wr->wr_id, wr->num_sge,
			qp->sq.max_sge);
}

REPORT report_inline(const struct mlx5_qp *qp, const struct ibv_send_wr *wr, uint64_t total)
{
	verbs_warn(
		"post_send: qp 0x%x, wr_id %#llx: inline data of %llu bytes, limit %u (max_inline_data of the QP)",
		qp->vqp.qp.qp_num, (unsigned long long)wr->wr_id, (unsigned long long)total,
		qp->sq.max_inline);
}

REPORT report_full(const struct mlx5_qp *qp, const struct ibv_send_wr *wr)
{
	verbs_warn(
		"post_send: qp 0x%x, wr_id %#llx: the send queue is full, limit %u requests (max_send_wr of the QP): "
		"poll completions of signaled requests to free places",
		qp->vqp.qp.qp_num, (unsigned long long)wr->wr_id, qp->sq.wq.max_post);
}

REPORT report_opcode(const struct mlx5_qp *qp, const struct ibv_send_wr *wr)
{
	verbs_warn(
		"post_send: qp 0x%x, wr_id %#llx: opcode is %d, an RC QP of this device has those of mask %#x",
		qp->vqp.qp.qp_num, (unsigned long long)wr->wr_id, (int)wr->opcode, qp->sq.opcodes);
}

/* Never 0; the cold half of it is kept apart so that the compiler sees that. */
WQE_INLINE int refuse_opcode(const struct mlx5_qp *qp, const struct ibv_send_wr *wr)
{
	report_opcode(qp, wr);
	switch (wr->opcode) {
	case IBV_WR_ATOMIC_CMP_AND_SWP:
	case IBV_WR_ATOMIC_FETCH_AND_ADD:
		return ENOSYS;
	case IBV_WR_LOCAL_INV:
	case IBV_WR_BIND_MW:
		return EOPNOTSUPP;
	default:
		return EINVAL;
	}
}

WQE_INLINE bool has_opcode(const struct mlx5_sq *sq, enum ibv_wr_opcode opcode)
{
	return (unsigned int)opcode < 16 && sq->opcodes >> opcode & 1;
}

static inline uint64_t sges_length(const struct ibv_sge *sge, int n)
{
	uint64_t total = 0;

	for (int i = 0; i < n; i++)
		total += sge[i].length;
	return total;
}

static inline int put_inline(const struct mlx5_qp *qp, struct send_wqe *wqe,
			     const struct ibv_send_wr *wr)
{
	uint64_t total = sges_length(wr->sg_list, wr->num_sge);
	uint8_t *to = wqe_inline_open(wqe);

	if (unlikely(total > wqe_inline_limit(&qp->sq, wqe))) {
		report_inline(qp, wr, total);
		return ENOMEM;
	}
	for (int i = 0; i < wr->num_sge; i++)
		to = ring_copy(&qp->sq, to, (void *)(uintptr_t)wr->sg_list[i].addr,
			       wr->sg_list[i].length);
	wqe_inline_close(wqe, (uint32_t)total);
	return 0;
}

WQE_INLINE int put_payload(const struct mlx5_qp *qp, struct send_wqe *wqe,
			   const struct ibv_send_wr *wr)
{
	const struct ibv_sge *sge = wr->sg_list;

	if (wr->send_flags & IBV_SEND_INLINE)
		return put_inline(qp, wqe, wr);
	for (int n = wr->num_sge; n > 0; n--, sge++)
		wqe_put_data(&qp->sq, wqe, sge->length, sge->lkey, sge->addr);
	return 0;
}

/* Opcode by opcode, all segments before the payload. */
WQE_INLINE void put_head(const struct mlx5_sq *sq, struct send_wqe *wqe, uint32_t pi,
			 const struct ibv_send_wr *wr)
{
	unsigned int flags = wr->send_flags;

	switch (wr->opcode) {
	case IBV_WR_SEND:
		wqe_begin(sq, wqe, pi, MLX5_OPCODE_SEND, flags, 0);
		return;
	case IBV_WR_SEND_WITH_IMM:
		wqe_begin(sq, wqe, pi, MLX5_OPCODE_SEND_IMM, flags, wr->imm_data);
		return;
	case IBV_WR_SEND_WITH_INV:
		wqe_begin(sq, wqe, pi, MLX5_OPCODE_SEND_INVAL, flags, htobe32(wr->invalidate_rkey));
		return;
	case IBV_WR_RDMA_WRITE:
		wqe_begin(sq, wqe, pi, MLX5_OPCODE_RDMA_WRITE, flags, 0);
		break;
	case IBV_WR_RDMA_WRITE_WITH_IMM:
		wqe_begin(sq, wqe, pi, MLX5_OPCODE_RDMA_WRITE_IMM, flags, wr->imm_data);
		break;
	case IBV_WR_RDMA_READ:
		wqe_begin(sq, wqe, pi, MLX5_OPCODE_RDMA_READ, flags, 0);
		break;
	case IBV_WR_ATOMIC_CMP_AND_SWP:
		wqe_begin(sq, wqe, pi, MLX5_OPCODE_ATOMIC_CS, flags, 0);
		wqe_put_raddr(wqe, wr->wr.atomic.remote_addr, wr->wr.atomic.rkey);
		wqe_put_atomic(wqe, wr->wr.atomic.swap, wr->wr.atomic.compare_add);
		return;
	case IBV_WR_ATOMIC_FETCH_AND_ADD:
		wqe_begin(sq, wqe, pi, MLX5_OPCODE_ATOMIC_FA, flags, 0);
		wqe_put_raddr(wqe, wr->wr.atomic.remote_addr, wr->wr.atomic.rkey);
		wqe_put_atomic(wqe, wr->wr.atomic.compare_add, 0);
		return;
	default:
		__builtin_unreachable(); /* sq->opcodes has no others */
	}
	wqe_put_raddr(wqe, wr->wr.rdma.remote_addr, wr->wr.rdma.rkey);
}

WQE_INLINE int build_one(struct mlx5_qp *qp, struct send_wqe *wqe, uint32_t pi, uint32_t head,
			 const struct ibv_send_wr *wr)
{
	if (unlikely(!wq_has_room(&qp->sq.wq, head))) {
		report_full(qp, wr);
		return ENOMEM;
	}
	if (unlikely((uint32_t)wr->num_sge >= qp->sq.sge_limit)) {
		report_sges(qp, wr);
		return ENOMEM;
	}
	if (unlikely(!has_opcode(&qp->sq, wr->opcode)))
		return refuse_opcode(qp, wr);
	put_head(&qp->sq, wqe, pi, wr);
	return put_payload(qp, wqe, wr);
}

WQE_INLINE int post_list(struct mlx5_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad_wr)
{
	struct mlx5_sq *sq = &qp->sq;
	uint32_t pi = sq->pi, head = sq->wq.head, first = head;
	const uint8_t *newest = NULL;
	struct send_wqe wqe;
	bool has_inline = false;
	uint32_t ds = 0;
	int ret = 0;

	for (; wr; wr = wr->next) {
		ret = build_one(qp, &wqe, pi, head, wr);
		if (unlikely(ret)) {
			*bad_wr = wr;
			break;
		}
		pi = wqe_finish(sq, &wqe);
		wq_note(&sq->wq, wqe.pi, head, wr->wr_id);
		newest = wqe.ctrl;
		ds = wqe.ds;
		has_inline = wr->send_flags & IBV_SEND_INLINE;
		head++;
	}
	if (likely(newest)) {
		sq->pi = pi;
		sq->wq.head = head;
		doorbell_send(sq, pi, newest, bf_push_length(sq, head - first, ds, has_inline));
	}
	return ret;
}

int post_send_locked(struct mlx5_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad_wr)
{
	int ret;

	qlock_take(&qp->sq_lock);
	ret = post_list(qp, wr, bad_wr);
	qlock_drop(&qp->sq_lock);
	return ret;
}

int post_send_unlocked(struct mlx5_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad_wr)
{
	return post_list(qp, wr, bad_wr);
}

/* context->ops.post_send */
int mlx5_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad_wr)
{
	struct mlx5_qp *mqp = to_mqp(qp);

	return mqp->post_send(mqp, wr, bad_wr);
}

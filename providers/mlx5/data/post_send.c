/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * post_send.c - ibv_post_send(): translates work requests to the builders of send_wqe.h.
 *
 * Requests are posted in order up to the first that cannot be; *bad_wr names that one, and the
 * adapter is told of those before it. A QP holds one instance of the routine: that of its kind,
 * with or without the lock, and of the use of its register. It posts the usual request, one by
 * itself, in a straight line that calls nothing and so saves no registers; lists, and whatever is
 * unusual, go to post_list().
 */
#include <errno.h>

#include "providers/mlx5/data/doorbell.h"
#include "providers/mlx5/data/post.h"
#include "providers/mlx5/data/raw.h"
#include "providers/mlx5/data/signature.h"
#include "providers/mlx5/data/umr.h"

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
			"post_send: qp 0x%x, wr_id %#llx: num_sge is %d, limit %u (max_send_sge of "
			"the QP)",
			qp->vqp.qp.qp_num, (unsigned long long)wr->wr_id, wr->num_sge,
			qp->sq.max_sge);
}

REPORT report_inline(const struct mlx5_qp *qp, const struct ibv_send_wr *wr, uint64_t total)
{
	verbs_warn("post_send: qp 0x%x, wr_id %#llx: inline data of %llu bytes, limit %u "
		   "(max_inline_data of the QP)",
		   qp->vqp.qp.qp_num, (unsigned long long)wr->wr_id, (unsigned long long)total,
		   qp->sq.max_inline);
}

REPORT report_full(const struct mlx5_qp *qp, const struct ibv_send_wr *wr)
{
	verbs_warn("post_send: qp 0x%x, wr_id %#llx: the send queue is full, limit %u requests "
		   "(max_send_wr of the QP): "
		   "poll completions of signaled requests to free places",
		   qp->vqp.qp.qp_num, (unsigned long long)wr->wr_id, qp->sq.wq.max_post);
}

static int __attribute__((cold, noinline))
refuse_opcode(const struct mlx5_qp *qp, const struct ibv_send_wr *wr)
{
	verbs_warn(
		"post_send: qp 0x%x, wr_id %#llx: opcode is %d, %s QP of this device has those of "
		"mask %#x",
		qp->vqp.qp.qp_num, (unsigned long long)wr->wr_id, (int)wr->opcode, qp->rules->name,
		qp->opcodes);
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

WQE_INLINE bool sq_has_opcode(const struct mlx5_sq *sq, enum ibv_wr_opcode opcode)
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

/* The function puts the payload as inline data at SEG, behind DS units of the WQE. It returns the
 * units that it takes, or a negative errno. The arguments are values and the function is out of
 * line, so that the common case has the registers. */
static int __attribute__((noinline))
put_inline(const struct mlx5_qp *qp, uint8_t *seg, uint32_t ds, const struct ibv_send_wr *wr)
{
	struct send_wqe wqe = { .seg = seg, .ds = ds };
	const uint32_t limit = wqe_inline_limit(&qp->sq, &wqe);
	uint8_t *to = wqe_inline_open(&wqe);
	uint32_t total = 0;

	for (int i = 0; i < wr->num_sge; i++) {
		uint32_t len = wr->sg_list[i].length;

		if (unlikely(len > limit - total)) {
			report_inline(qp, wr, sges_length(wr->sg_list, wr->num_sge));
			return -ENOMEM;
		}
		to = ring_copy(&qp->sq, to, (void *)(uintptr_t)wr->sg_list[i].addr, len);
		total += len;
	}
	wqe_inline_close(&wqe, total);
	return (int)(wqe.ds - ds);
}

WQE_INLINE int put_payload(const struct mlx5_qp *qp, struct send_wqe *wqe,
			   const struct ibv_send_wr *wr)
{
	const struct ibv_sge *sge = wr->sg_list;

	if (wr->send_flags & IBV_SEND_INLINE) {
		int units = put_inline(qp, wqe->seg, wqe->ds, wr);

		if (unlikely(units < 0))
			return -units;
		wqe->ds += (uint32_t)units;
		return 0;
	}
	for (int n = wr->num_sge; n > 0; n--, sge++)
		wqe_put_sge(&qp->sq, wqe, sge);
	return 0;
}

/* The function puts where the request goes, on a QP of this kind, behind the control segment. */
WQE_INLINE void put_address(const struct mlx5_sq *sq, struct send_wqe *wqe,
			    const struct ibv_send_wr *wr, enum send_kind kind)
{
	if (kind == SEND_XRC) {
		wqe_reserve_xrc(wqe);
		wqe_set_xrc(wqe->ctrl, wr->qp_type.xrc.remote_srqn);
	} else if (kind == SEND_DATAGRAM) {
		wqe_reserve_av(sq, wqe);
		wqe_set_av(wqe->ctrl, to_mah(wr->wr.ud.ah), wr->wr.ud.remote_qpn,
			   wr->wr.ud.remote_qkey);
	}
}

WQE_INLINE void begin_plain(const struct mlx5_sq *sq, struct send_wqe *wqe, uint32_t pi,
			    const struct ibv_send_wr *wr, uint8_t opcode, __be32 imm,
			    enum send_kind kind)
{
	wqe_begin(sq, wqe, pi, opcode, wr->send_flags, imm);
	put_address(sq, wqe, wr, kind);
}

WQE_INLINE void begin_rdma(const struct mlx5_sq *sq, struct send_wqe *wqe, uint32_t pi,
			   const struct ibv_send_wr *wr, uint8_t opcode, __be32 imm,
			   enum send_kind kind)
{
	begin_plain(sq, wqe, pi, wr, opcode, imm, kind);
	wqe_put_raddr(wqe, wr->wr.rdma.remote_addr, wr->wr.rdma.rkey);
}

WQE_INLINE void begin_atomic(const struct mlx5_sq *sq, struct send_wqe *wqe, uint32_t pi,
			     const struct ibv_send_wr *wr, uint8_t opcode, enum send_kind kind)
{
	bool swaps = opcode == MLX5_OPCODE_ATOMIC_CS;

	begin_plain(sq, wqe, pi, wr, opcode, 0, kind);
	wqe_put_raddr(wqe, wr->wr.atomic.remote_addr, wr->wr.atomic.rkey);
	wqe_put_atomic(wqe, swaps ? wr->wr.atomic.swap : wr->wr.atomic.compare_add,
		       swaps ? wr->wr.atomic.compare_add : 0);
	if (kind == SEND_XRC)
		wqe_wrap(sq, wqe);
}

/* The function puts all segments before the payload, opcode by opcode. */
WQE_INLINE void put_head(const struct mlx5_sq *sq, struct send_wqe *wqe, uint32_t pi,
			 const struct ibv_send_wr *wr, enum send_kind kind)
{
	/* Opcodes that a QP of this kind does not have are not in sq->opcodes. */
	if (kind == SEND_DATAGRAM && wr->opcode != IBV_WR_SEND &&
	    wr->opcode != IBV_WR_SEND_WITH_IMM)
		__builtin_unreachable();
	switch (wr->opcode) {
	case IBV_WR_SEND:
		return begin_plain(sq, wqe, pi, wr, MLX5_OPCODE_SEND, 0, kind);
	case IBV_WR_SEND_WITH_IMM:
		return begin_plain(sq, wqe, pi, wr, MLX5_OPCODE_SEND_IMM, wr->imm_data, kind);
	case IBV_WR_SEND_WITH_INV:
		return begin_plain(sq, wqe, pi, wr, MLX5_OPCODE_SEND_INVAL,
				   htobe32(wr->invalidate_rkey), kind);
	case IBV_WR_RDMA_WRITE:
		return begin_rdma(sq, wqe, pi, wr, MLX5_OPCODE_RDMA_WRITE, 0, kind);
	case IBV_WR_RDMA_WRITE_WITH_IMM:
		return begin_rdma(sq, wqe, pi, wr, MLX5_OPCODE_RDMA_WRITE_IMM, wr->imm_data, kind);
	case IBV_WR_RDMA_READ:
		return begin_rdma(sq, wqe, pi, wr, MLX5_OPCODE_RDMA_READ, 0, kind);
	case IBV_WR_ATOMIC_CMP_AND_SWP:
		return begin_atomic(sq, wqe, pi, wr, MLX5_OPCODE_ATOMIC_CS, kind);
	case IBV_WR_ATOMIC_FETCH_AND_ADD:
		return begin_atomic(sq, wqe, pi, wr, MLX5_OPCODE_ATOMIC_FA, kind);
	default:
		__builtin_unreachable();
	}
}

WQE_INLINE int put_request(const struct mlx5_qp *qp, struct send_wqe *wqe, uint32_t pi,
			   const struct ibv_send_wr *wr, enum send_kind kind)
{
	if (kind == SEND_RAW)
		return mlx5_put_raw(qp, wqe, pi, wr);
	if (kind == SEND_UNDERLAY)
		return mlx5_put_underlay(qp, wqe, pi, wr);
	put_head(&qp->sq, wqe, pi, wr, kind);
	return put_payload(qp, wqe, wr);
}

/* The function builds requests that the gate does not let pass: UMRs, the request after one, and
 * what cannot be posted. */
static int __attribute__((noinline))
build_exception(struct mlx5_qp *qp, struct send_wqe *wqe, uint32_t pi, const struct ibv_send_wr *wr,
		enum send_kind kind)
{
	bool is_umr = (unsigned int)wr->opcode < 16 && UMR_OPCODES >> wr->opcode & 1;
	bool fenced = qp->sq.fence_next;
	int ret = 0;

	if (!gate_open(qp, wr->opcode))
		return refuse_opcode(qp, wr);
	if (wr->opcode == IBV_WR_BIND_MW)
		ret = mlx5_umr_bind(qp, wqe, pi, wr->send_flags, wr->bind_mw.mw, wr->bind_mw.rkey,
				    &wr->bind_mw.bind_info);
	else if (wr->opcode == IBV_WR_LOCAL_INV)
		mlx5_umr_invalidate(qp, wqe, pi, wr->send_flags, wr->invalidate_rkey);
	else
		ret = put_request(qp, wqe, pi, wr, kind);
	if (!ret)
		gate_fence(qp, wqe->ctrl);
	if (ret ? fenced : is_umr)
		gate_shut(qp);
	return ret;
}

WQE_INLINE int build_one(struct mlx5_qp *qp, struct send_wqe *wqe, uint32_t pi, uint32_t head,
			 const struct ibv_send_wr *wr, enum send_kind kind)
{
	if (unlikely(!wq_has_room(&qp->sq.wq, head))) {
		report_full(qp, wr);
		return ENOMEM;
	}
	if (unlikely((uint32_t)wr->num_sge >= qp->sq.sge_limit)) {
		report_sges(qp, wr);
		return ENOMEM;
	}
	if (unlikely(!sq_has_opcode(&qp->sq, wr->opcode))) {
		/* Only this variable has an address, so WQE of the common case stays in
		 * registers. */
		struct send_wqe exception;
		int ret = build_exception(qp, &exception, pi, wr, kind);

		*wqe = exception;
		return ret;
	}
	return put_request(qp, wqe, pi, wr, kind);
}

WQE_INLINE int post_list(struct mlx5_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad_wr,
			 enum send_kind kind, bool own, bool sign)
{
	struct mlx5_sq *sq = &qp->sq;
	uint32_t pi = sq->pi, head = sq->wq.head, first = head, newest = pi, push;
	const struct ibv_send_wr *posted = NULL; /* the newest, whose WQE starts at NEWEST */
	struct send_wqe wqe;
	int ret = 0;

	for (; wr; wr = wr->next) {
		ret = build_one(qp, &wqe, pi, head, wr, kind);
		if (unlikely(ret)) {
			*bad_wr = wr;
			break;
		}
		wq_note(&sq->wq, pi, head, wr->wr_id, wqe.done_as);
		newest = pi;
		pi += wqe_finish(&wqe);
		if (sign)
			mlx5_sign_send(sq, wqe.ctrl);
		posted = wr;
		head++;
	}
	if (likely(posted)) {
		const uint8_t *ctrl = sq_wqebb(sq, newest);

		sq->pi = pi;
		sq->wq.head = head;
		push = head - first == 1 ? bf_push_length(sq, pi - newest,
							  posted->send_flags & IBV_SEND_INLINE)
					 : 0;
		if (sign)
			doorbell_send_any(sq, pi, ctrl, push);
		else if (own)
			doorbell_send(sq, pi, ctrl, push, BFREG_OWN);
		else
			mlx5_doorbell_send_other(sq, pi, ctrl, push);
	}
	return ret;
}

/* The function posts a list. The lock is held, if there is one, and dropped. OWN says that the
 * register is not another queue's as well. */
WQE_INLINE int post_list_entered(struct ibv_qp *ibqp, struct ibv_send_wr *wr,
				 struct ibv_send_wr **bad_wr, enum send_kind kind, bool own)
{
	struct mlx5_qp *qp = to_mqp(ibqp);
	int ret = post_list(qp, wr, bad_wr, kind, own, false);

	qlock_leave(&qp->sq_lock);
	return ret;
}

#define OUT_OF_LINE static int __attribute__((noinline))

OUT_OF_LINE list_connected(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad_wr)
{
	return post_list_entered(qp, wr, bad_wr, SEND_CONNECTED, true);
}

OUT_OF_LINE list_datagram(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad_wr)
{
	return post_list_entered(qp, wr, bad_wr, SEND_DATAGRAM, true);
}

OUT_OF_LINE list_xrc(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad_wr)
{
	return post_list_entered(qp, wr, bad_wr, SEND_XRC, true);
}

OUT_OF_LINE list_raw(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad_wr)
{
	return post_list_entered(qp, wr, bad_wr, SEND_RAW, true);
}

OUT_OF_LINE list_underlay(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad_wr)
{
	return post_list_entered(qp, wr, bad_wr, SEND_UNDERLAY, true);
}

/* The function posts lists of any kind, through a register that is another queue's as well. */
OUT_OF_LINE list_other(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad_wr)
{
	switch (to_mqp(qp)->rules->kind) {
	case SEND_CONNECTED:
		return post_list_entered(qp, wr, bad_wr, SEND_CONNECTED, false);
	case SEND_DATAGRAM:
		return post_list_entered(qp, wr, bad_wr, SEND_DATAGRAM, false);
	case SEND_XRC:
		return post_list_entered(qp, wr, bad_wr, SEND_XRC, false);
	case SEND_UNDERLAY:
		return post_list_entered(qp, wr, bad_wr, SEND_UNDERLAY, false);
	default:
		return post_list_entered(qp, wr, bad_wr, SEND_RAW, false);
	}
}

WQE_INLINE int list_of_kind(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad_wr,
			    enum send_kind kind)
{
	switch (kind) {
	case SEND_CONNECTED:
		return list_connected(qp, wr, bad_wr);
	case SEND_DATAGRAM:
		return list_datagram(qp, wr, bad_wr);
	case SEND_XRC:
		return list_xrc(qp, wr, bad_wr);
	case SEND_UNDERLAY:
		return list_underlay(qp, wr, bad_wr);
	default:
		return list_raw(qp, wr, bad_wr);
	}
}

/* Somebody has the lock, or there is a list: nothing here is in a hurry. */
OUT_OF_LINE enter_and_list(struct ibv_qp *ibqp, struct ibv_send_wr *wr, struct ibv_send_wr **bad_wr)
{
	struct mlx5_qp *qp = to_mqp(ibqp);

	qlock_enter(&qp->sq_lock);
	return list_of_kind(ibqp, wr, bad_wr, qp->rules->kind);
}

OUT_OF_LINE enter_and_list_other(struct ibv_qp *qp, struct ibv_send_wr *wr,
				 struct ibv_send_wr **bad_wr)
{
	qlock_enter(&to_mqp(qp)->sq_lock);
	return list_other(qp, wr, bad_wr);
}

int mlx5_post_send_signed(struct ibv_qp *ibqp, struct ibv_send_wr *wr, struct ibv_send_wr **bad_wr)
{
	struct mlx5_qp *qp = to_mqp(ibqp);
	int ret;

	qlock_enter(&qp->sq_lock);
	ret = post_list(qp, wr, bad_wr, qp->rules->kind, false, true);
	qlock_leave(&qp->sq_lock);
	return ret;
}

WQE_INLINE bool send_is_usual(struct mlx5_sq *sq, const struct ibv_send_wr *wr)
{
	return likely(sq->wq.head != sq->wq.limit && (uint32_t)wr->num_sge < sq->sge_limit &&
		      sq_has_opcode(sq, wr->opcode));
}

WQE_INLINE bool put_usual_inline(const struct mlx5_sq *sq, struct send_wqe *wqe,
				 const struct ibv_sge *sge)
{
	const uint8_t *from = (const uint8_t *)(uintptr_t)sge->addr;
	const uint32_t len = sge->length;

	if (unlikely(!inline_is_usual(sq, wqe->seg, wqe->ds, len)))
		return false;
	if (likely(len <= COPY_SMALL_MAX))
		copy_small(wqe_inline_open(wqe), from, len);
	else
		copy_large(wqe_inline_open(wqe), from, len);
	wqe_inline_close(wqe, len);
	return true;
}

/* The function returns false when the payload is not usual, and nothing has been done. */
WQE_INLINE bool put_usual_payload(const struct mlx5_sq *sq, struct send_wqe *wqe,
				  const struct ibv_send_wr *wr)
{
	const struct ibv_sge *sge = wr->sg_list;

	if (wr->send_flags & IBV_SEND_INLINE)
		return likely(wr->num_sge == 1) && put_usual_inline(sq, wqe, sge);
	for (int n = wr->num_sge; n > 0; n--, sge++)
		wqe_put_sge(sq, wqe, sge);
	return true;
}

WQE_INLINE int post_one(struct ibv_qp *ibqp, struct ibv_send_wr *wr, struct ibv_send_wr **bad_wr,
			enum send_kind kind, bool shared, enum bfreg_use use)
{
	struct mlx5_qp *qp = to_mqp(ibqp);
	struct mlx5_sq *sq = &qp->sq;
	const bool own = use == BFREG_OWN;
	uint32_t pi, blocks;
	struct send_wqe wqe;

	if (unlikely(!wr || wr->next || (shared && !qlock_try(&qp->sq_lock))))
		return own ? enter_and_list(ibqp, wr, bad_wr)
			   : enter_and_list_other(ibqp, wr, bad_wr);
	if (unlikely(!send_is_usual(sq, wr)))
		return own ? list_of_kind(ibqp, wr, bad_wr, kind) : list_other(ibqp, wr, bad_wr);
	pi = sq->pi;
	put_head(sq, &wqe, pi, wr, kind);
	/* The request is noted before the payload is put, for which the registers are wanted. */
	wq_note(&sq->wq, pi, sq->wq.head, wr->wr_id, wqe.done_as);
	if (unlikely(!put_usual_payload(sq, &wqe, wr)))
		return own ? list_of_kind(ibqp, wr, bad_wr, kind) : list_other(ibqp, wr, bad_wr);
	sq->wq.head++;
	blocks = wqe_finish(&wqe);
	sq->pi = pi + blocks;
	doorbell_send(sq, pi + blocks, wqe.ctrl,
		      bf_push_length(sq, blocks, wr->send_flags & IBV_SEND_INLINE), use);
	if (shared)
		qlock_drop(&qp->sq_lock);
	return 0;
}

static int one_connected_locked(struct ibv_qp *qp, struct ibv_send_wr *wr,
				struct ibv_send_wr **bad_wr)
{
	return post_one(qp, wr, bad_wr, SEND_CONNECTED, true, BFREG_OWN);
}

static int one_connected(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad_wr)
{
	return post_one(qp, wr, bad_wr, SEND_CONNECTED, false, BFREG_OWN);
}

static int one_connected_in_domain(struct ibv_qp *qp, struct ibv_send_wr *wr,
				   struct ibv_send_wr **bad_wr)
{
	return post_one(qp, wr, bad_wr, SEND_CONNECTED, false, BFREG_DOMAIN);
}

static int one_connected_locked_twice(struct ibv_qp *qp, struct ibv_send_wr *wr,
				      struct ibv_send_wr **bad_wr)
{
	return post_one(qp, wr, bad_wr, SEND_CONNECTED, true, BFREG_SHARED);
}

static int one_datagram_locked(struct ibv_qp *qp, struct ibv_send_wr *wr,
			       struct ibv_send_wr **bad_wr)
{
	return post_one(qp, wr, bad_wr, SEND_DATAGRAM, true, BFREG_OWN);
}

static int one_datagram(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad_wr)
{
	return post_one(qp, wr, bad_wr, SEND_DATAGRAM, false, BFREG_OWN);
}

static int one_datagram_in_domain(struct ibv_qp *qp, struct ibv_send_wr *wr,
				  struct ibv_send_wr **bad_wr)
{
	return post_one(qp, wr, bad_wr, SEND_DATAGRAM, false, BFREG_DOMAIN);
}

static int one_datagram_locked_twice(struct ibv_qp *qp, struct ibv_send_wr *wr,
				     struct ibv_send_wr **bad_wr)
{
	return post_one(qp, wr, bad_wr, SEND_DATAGRAM, true, BFREG_SHARED);
}

static int one_xrc_locked(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad_wr)
{
	return post_one(qp, wr, bad_wr, SEND_XRC, true, BFREG_OWN);
}

static int one_xrc(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad_wr)
{
	return post_one(qp, wr, bad_wr, SEND_XRC, false, BFREG_OWN);
}

static int one_xrc_in_domain(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad_wr)
{
	return post_one(qp, wr, bad_wr, SEND_XRC, false, BFREG_DOMAIN);
}

static int one_xrc_locked_twice(struct ibv_qp *qp, struct ibv_send_wr *wr,
				struct ibv_send_wr **bad_wr)
{
	return post_one(qp, wr, bad_wr, SEND_XRC, true, BFREG_SHARED);
}

post_send_fn *mlx5_post_send_routine(enum send_kind kind, bool shared, enum bfreg_use use)
{
	/* A register is shared without a lock by QPs that take none either. */
	static post_send_fn *const routines[][4] = {
		[SEND_CONNECTED] = { one_connected, one_connected_locked, one_connected_in_domain,
				     one_connected_locked_twice },
		[SEND_DATAGRAM] = { one_datagram, one_datagram_locked, one_datagram_in_domain,
				    one_datagram_locked_twice },
		[SEND_XRC] = { one_xrc, one_xrc_locked, one_xrc_in_domain, one_xrc_locked_twice },
		[SEND_RAW] = { enter_and_list, enter_and_list, enter_and_list_other,
			       enter_and_list_other },
		[SEND_UNDERLAY] = { enter_and_list, enter_and_list, enter_and_list_other,
				    enter_and_list_other },
	};

	return routines[kind][use == BFREG_OWN ? shared : 2 + shared];
}

/* This is context->ops.post_send. */
int mlx5_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad_wr)
{
	return to_mqp(qp)->post_send(qp, wr, bad_wr);
}

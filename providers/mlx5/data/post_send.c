/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * post_send.c - ibv_post_send(): translates work requests to the builders of send_wqe.h.
 *
 * Requests are posted in order up to the first that fails; *bad_wr then points to it, and the
 * doorbell covers the ones before it. The routine has several instances, by the QP's kind, lock and
 * register; the QP stores the one that fits. An instance posts a usual single request in a straight
 * line that calls nothing and so saves no registers. Lists and unusual requests go to post_list().
 * PRM: Send WQE format
 */
#include <errno.h>

#include "providers/common/report.h"
#include "providers/mlx5/data/doorbell.h"
#include "providers/mlx5/data/single_umr.h"
#include "providers/mlx5/data/post.h"
#include "providers/mlx5/data/raw.h"
#include "providers/mlx5/data/signature.h"

static void __attribute__((cold, noinline))
report_sges(const struct mlx5_qp *qp, const struct ibv_send_wr *wr)
{
	if (!qp->sq.sge_limit)
		verbs_warn("post_send: qp 0x%x, wr_id %#llx: the QP is in state %s, must be RTS: "
			   "connect it by ibv_modify_qp() before",
			   qp->vqp.qp.qp_num, (unsigned long long)wr->wr_id,
			   provider_qp_state_str(qp->vqp.qp.state));
	else
		verbs_warn(
			"post_send: qp 0x%x, wr_id %#llx: num_sge is %d, limit %u (max_send_sge of "
			"the QP)",
			qp->vqp.qp.qp_num, (unsigned long long)wr->wr_id, wr->num_sge,
			qp->sq.max_sge);
	errno = ENOMEM;
}

static int __attribute__((cold, noinline))
refuse_opcode(const struct mlx5_qp *qp, const struct ibv_send_wr *wr)
{
	char names[256];

	if (verbs_log_on(VERBS_LOG_WARN)) {
		provider_name_opcodes(qp->opcodes | qp->long_opcodes, names, sizeof(names));
		verbs_warn("post_send: qp 0x%x, wr_id %#llx: opcode is %d (%s), %s QP of this "
			   "device has %s",
			   qp->vqp.qp.qp_num, (unsigned long long)wr->wr_id, (int)wr->opcode,
			   provider_wr_opcode_str(wr->opcode), qp->rules->name, names);
	}
	switch (wr->opcode) {
	case IBV_WR_ATOMIC_CMP_AND_SWP:
	case IBV_WR_ATOMIC_FETCH_AND_ADD:
		return verbs_result(ENOSYS);
	case IBV_WR_LOCAL_INV:
	case IBV_WR_BIND_MW:
		return verbs_result(EOPNOTSUPP);
	default:
		return verbs_result(EINVAL);
	}
}

WQE_INLINE bool sq_has_opcode(const struct mlx5_sq *sq, enum ibv_wr_opcode opcode)
{
	return (unsigned int)opcode < 16 && sq->opcodes >> opcode & 1;
}

/* What the builders return for a request whose WQE may be longer than those of the QP. */
enum { NEEDS_LONG = 1 << 16 };

static inline uint64_t sges_length(const struct ibv_sge *sge, int n)
{
	uint64_t total = 0;

	for (int i = 0; i < n; i++)
		total += sge[i].length;
	return total;
}

static int __attribute__((cold, noinline))
inline_refuse(const struct mlx5_qp *qp, const struct ibv_send_wr *wr)
{
	const uint64_t length = sges_length(wr->sg_list, wr->num_sge);

	if (length <= qp->sq.max_inline)
		return -NEEDS_LONG;
	provider_report_inline(&qp->vqp.qp, wr, length, qp->sq.max_inline);
	return -ENOMEM;
}

/* Writes the payload as inline data at SEG, after DS units of the WQE. Returns the units of the
 * payload, or a negative errno, or -NEEDS_LONG. Out of line and with plain values, so that the
 * common case keeps its registers. */
static int __attribute__((noinline))
put_inline(const struct mlx5_qp *qp, uint8_t *seg, uint32_t ds, const struct ibv_send_wr *wr)
{
	struct send_wqe wqe = { .seg = seg, .ds = ds };
	const uint32_t limit = wqe_inline_limit(&qp->sq, &wqe);
	uint8_t *to = wqe_inline_open(&wqe);
	uint32_t total = 0;

	for (int i = 0; i < wr->num_sge; i++) {
		uint32_t len = wr->sg_list[i].length;

		if (unlikely(len > limit - total))
			return inline_refuse(qp, wr);
		to = ring_copy(&qp->sq, to, (void *)(uintptr_t)wr->sg_list[i].addr, len);
		total += len;
	}
	wqe_inline_close(&wqe, total);
	return (int)(wqe.ds - ds);
}

WQE_INLINE uint8_t *copy_piece(uint8_t *to, const struct ibv_sge *sge)
{
	copy_inline(to, (const void *)(uintptr_t)sge->addr, sge->length);
	return to + sge->length;
}

/* Copies N SGEs, at least two. The first two, mostly a header and its payload, need no loop. */
WQE_INLINE uint32_t copy_pieces(uint8_t *to, const struct ibv_sge *sge, int n)
{
	uint8_t *const start = to;

	to = copy_piece(copy_piece(to, &sge[0]), &sge[1]);
	for (int i = 2; i < n; i++)
		to = copy_piece(to, &sge[i]);
	return (uint32_t)(to - start);
}

WQE_INLINE uint64_t pieces_length(const struct ibv_sge *sge, int n)
{
	uint64_t total = (uint64_t)sge[0].length + sge[1].length;

	for (int i = 2; i < n; i++)
		total += sge[i].length;
	return total;
}

WQE_INLINE bool pieces_are_usual(const struct mlx5_sq *sq, const uint8_t *seg,
				 const struct ibv_send_wr *wr)
{
	return wr->num_sge > 1 && inline_is_usual(sq, seg, pieces_length(wr->sg_list, wr->num_sge));
}

/* Does what put_inline() does, for a request in a list. Returns 0, and writes nothing, if the data
 * does not take the fast path. */
static uint32_t __attribute__((noinline))
put_listed_inline(const struct mlx5_sq *sq, uint8_t *seg, const struct ibv_send_wr *wr)
{
	const struct ibv_sge *sge = wr->sg_list;
	uint8_t *const to = seg + sizeof(struct mlx5_wqe_inl_data_seg);
	uint32_t len;

	if (likely(wr->num_sge == 1) && inline_is_usual(sq, seg, sge->length)) {
		len = sge->length;
		copy_inline(to, (const void *)(uintptr_t)sge->addr, len);
	} else if (pieces_are_usual(sq, seg, wr)) {
		len = copy_pieces(to, sge, wr->num_sge);
	} else {
		return 0;
	}
	*(__be32 *)seg = htobe32(MLX5_INLINE_SEG | len);
	return inline_units(len);
}

WQE_INLINE int put_payload(const struct mlx5_qp *qp, struct send_wqe *wqe,
			   const struct ibv_send_wr *wr)
{
	if (wr->send_flags & IBV_SEND_INLINE) {
		int units = (int)put_listed_inline(&qp->sq, wqe->seg, wr);

		if (unlikely(!units))
			units = put_inline(qp, wqe->seg, wqe->ds, wr);
		if (unlikely(units < 0))
			return -units;
		wqe->ds += (uint32_t)units;
		return 0;
	}
	wqe_put_sges(&qp->sq, wqe, wr->sg_list, wr->num_sge);
	return 0;
}

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
	wqe->slot->done_as = done_as(opcode);
	wqe_begin_placed(sq, wqe, pi, opcode, wr->send_flags, imm);
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

WQE_INLINE void put_usual_inline(struct send_wqe *wqe, const struct ibv_sge *sge)
{
	const uint8_t *from = (const uint8_t *)(uintptr_t)sge->addr;
	const uint32_t len = sge->length;

	copy_inline(wqe_inline_open(wqe), from, len);
	wqe_inline_close(wqe, len);
}

enum payload { PAYLOAD_ANY, PAYLOAD_BUFFERS, PAYLOAD_USUAL_INLINE, PAYLOAD_USUAL_PIECES };

WQE_INLINE int put_payload_as(const struct mlx5_qp *qp, struct send_wqe *wqe,
			      const struct ibv_send_wr *wr, enum payload payload)
{
	if (payload == PAYLOAD_ANY)
		return put_payload(qp, wqe, wr);
	if (payload == PAYLOAD_BUFFERS)
		wqe_put_sges(&qp->sq, wqe, wr->sg_list, wr->num_sge);
	else if (payload == PAYLOAD_USUAL_INLINE)
		put_usual_inline(wqe, wr->sg_list);
	else
		wqe_inline_close(wqe, copy_pieces(wqe_inline_open(wqe), wr->sg_list, wr->num_sge));
	return 0;
}

/* Writes the buffer of an atomic's result, which has 8 bytes. Ignores the length of a single SGE,
 * because programs that give another length work on release 65.0; length 0 still means no
 * buffer. */
WQE_INLINE int put_result(const struct mlx5_qp *qp, struct send_wqe *wqe,
			  const struct ibv_send_wr *wr, enum payload payload)
{
	const struct ibv_sge *sge = wr->sg_list;

	if (unlikely(wr->num_sge != 1 || wr->send_flags & IBV_SEND_INLINE))
		return put_payload_as(qp, wqe, wr, payload);
	wqe_put_data(&qp->sq, wqe, sge->length ? ATOMIC_BYTES : 0, sge->lkey, sge->addr);
	return 0;
}

WQE_INLINE int put_plain(const struct mlx5_qp *qp, struct send_wqe *wqe, uint32_t pi,
			 const struct ibv_send_wr *wr, enum send_kind kind, enum payload payload)
{
	const struct mlx5_sq *sq = &qp->sq;

	/* Tell the compiler, because sq->opcodes has already excluded the opcodes that this kind
	 * lacks. */
	if (kind == SEND_DATAGRAM && wr->opcode != IBV_WR_SEND &&
	    wr->opcode != IBV_WR_SEND_WITH_IMM)
		__builtin_unreachable();
	switch (wr->opcode) {
	case IBV_WR_SEND:
		begin_plain(sq, wqe, pi, wr, MLX5_OPCODE_SEND, 0, kind);
		break;
	case IBV_WR_SEND_WITH_IMM:
		begin_plain(sq, wqe, pi, wr, MLX5_OPCODE_SEND_IMM, wr->imm_data, kind);
		break;
	case IBV_WR_SEND_WITH_INV:
		begin_plain(sq, wqe, pi, wr, MLX5_OPCODE_SEND_INVAL, htobe32(wr->invalidate_rkey),
			    kind);
		break;
	case IBV_WR_RDMA_WRITE:
		begin_rdma(sq, wqe, pi, wr, MLX5_OPCODE_RDMA_WRITE, 0, kind);
		break;
	case IBV_WR_RDMA_WRITE_WITH_IMM:
		begin_rdma(sq, wqe, pi, wr, MLX5_OPCODE_RDMA_WRITE_IMM, wr->imm_data, kind);
		break;
	case IBV_WR_RDMA_READ:
		begin_rdma(sq, wqe, pi, wr, MLX5_OPCODE_RDMA_READ, 0, kind);
		break;
	case IBV_WR_ATOMIC_CMP_AND_SWP:
		begin_atomic(sq, wqe, pi, wr, MLX5_OPCODE_ATOMIC_CS, kind);
		return put_result(qp, wqe, wr, payload);
	case IBV_WR_ATOMIC_FETCH_AND_ADD:
		begin_atomic(sq, wqe, pi, wr, MLX5_OPCODE_ATOMIC_FA, kind);
		return put_result(qp, wqe, wr, payload);
	default:
		__builtin_unreachable();
	}
	return put_payload_as(qp, wqe, wr, payload);
}

WQE_INLINE void put_usual_frame(const struct mlx5_qp *qp, struct send_wqe *wqe, uint32_t pi,
				const struct ibv_send_wr *wr)
{
	begin_plain(&qp->sq, wqe, pi, wr, MLX5_OPCODE_SEND, 0, SEND_RAW);
	wqe_put_usual_frame(qp, wqe, wr);
}

WQE_INLINE int put_frame(const struct mlx5_qp *qp, struct send_wqe *wqe, uint32_t pi,
			 const struct ibv_send_wr *wr)
{
	struct send_wqe unusual; /* WQE's address is not taken, so WQE stays in registers */
	int ret;

	if (frame_is_usual(qp, wr)) {
		wqe_place(&qp->sq, wqe, pi);
		put_usual_frame(qp, wqe, pi, wr);
		return 0;
	}
	ret = mlx5_put_raw(qp, &unusual, pi, wr);
	*wqe = unusual;
	return ret;
}

WQE_INLINE int put_request(const struct mlx5_qp *qp, struct send_wqe *wqe, uint32_t pi,
			   const struct ibv_send_wr *wr, enum send_kind kind)
{
	if (kind == SEND_RAW)
		return put_frame(qp, wqe, pi, wr);
	if (kind == SEND_UNDERLAY)
		return mlx5_put_underlay(qp, wqe, pi, wr);
	wqe_place(&qp->sq, wqe, pi);
	return put_plain(qp, wqe, pi, wr, kind, PAYLOAD_ANY);
}

/* Builds a request, and a UMR too, behind the open gate. */
static int __attribute__((noinline))
build_gated(struct mlx5_qp *qp, struct send_wqe *wqe, uint32_t pi, const struct ibv_send_wr *wr,
	    enum send_kind kind)
{
	bool is_umr = (unsigned int)wr->opcode < 16 && UMR_OPCODES >> wr->opcode & 1;
	bool fenced = qp->sq.fence_next;
	int ret = 0;

	gate_open_for_any(qp);
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

/* Builds requests that the gate stops: UMRs, the request after one, and requests that cannot be
 * posted. */
static int __attribute__((noinline))
build_exception(struct mlx5_qp *qp, struct send_wqe *wqe, uint32_t pi, const struct ibv_send_wr *wr,
		enum send_kind kind)
{
	const unsigned int op = wr->opcode;

	if (likely(gate_open(qp, op)))
		return build_gated(qp, wqe, pi, wr, kind);
	if (op < 16 && qp->long_opcodes >> op & 1)
		return NEEDS_LONG;
	return refuse_opcode(qp, wr);
}

WQE_INLINE int build_one(struct mlx5_qp *qp, struct send_wqe *wqe, uint32_t pi, uint32_t head,
			 const struct ibv_send_wr *wr, enum send_kind kind)
{
	if (unlikely(!wq_has_room(&qp->sq.wq, head))) {
		provider_report_full_sq(&qp->vqp.qp, wr, qp->sq.wq.max_post);
		return ENOMEM;
	}
	if (unlikely((uint32_t)wr->num_sge >= qp->sq.sge_limit)) {
		report_sges(qp, wr);
		return ENOMEM;
	}
	if (unlikely(!sq_has_opcode(&qp->sq, wr->opcode))) {
		/* Only this variable has its address taken, so WQE of the common case stays in
		 * registers. */
		struct send_wqe exception;
		int ret = build_exception(qp, &exception, pi, wr, kind);

		*wqe = exception;
		return ret;
	}
	return put_request(qp, wqe, pi, wr, kind);
}

enum bell { BELL_OWN, BELL_OTHER, BELL_ANY };

WQE_INLINE int post_list(struct mlx5_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad_wr,
			 enum send_kind kind, enum bell bell, bool sign)
{
	struct mlx5_sq *sq = &qp->sq;
	const struct ibv_send_wr *const list = wr;
	uint32_t pi = sq->pi, head = sq->wq.head, first = head;
	uint32_t newest = pi, push;
	struct send_wqe wqe;
	int ret = 0;

	for (; wr; wr = wr->next) {
		ret = build_one(qp, &wqe, pi, head, wr, kind);
		if (unlikely(ret)) {
			*bad_wr = wr;
			break;
		}
		wq_slot_note(wqe.slot, head, wr->wr_id);
		newest = pi;
		pi += wqe_finish(&wqe);
		if (sign)
			mlx5_sign_send(sq, wqe.ctrl);
		head++;
	}
	if (likely(head != first)) {
		const uint8_t *ctrl = sq_wqebb(sq, newest);

		sq->pi = pi;
		sq->wq.head = head;
		push = head - first == 1
			       ? bf_push_length(sq, pi - newest,
						list->send_flags & IBV_SEND_INLINE ? PUSH_INLINE
										   : PUSH_PLAIN)
			       : 0;
		if (bell == BELL_ANY)
			doorbell_send_any(sq, pi, ctrl, push);
		else if (bell == BELL_OWN)
			doorbell_send(sq, pi, ctrl, push, BFREG_OWN);
		else
			mlx5_doorbell_send_other(sq, pi, ctrl, push);
	}
	return ret;
}

/* ---- WQEs that are longer than those of the QP */

static uint32_t long_payload(const struct mlx5_qp *qp, const struct ibv_send_wr *wr)
{
	uint64_t length;

	if (wr->opcode == IBV_WR_BIND_MW || wr->opcode == IBV_WR_LOCAL_INV)
		return 0;
	if (!(wr->send_flags & IBV_SEND_INLINE))
		return (uint32_t)wr->num_sge * WQE_SEG;
	length = sges_length(wr->sg_list, wr->num_sge);
	return inline_units(length < qp->sq.max_inline ? (uint32_t)length : qp->sq.max_inline) *
	       WQE_SEG;
}

static int __attribute__((cold, noinline))
refuse_long(const struct mlx5_qp *qp, const struct ibv_send_wr *wr, uint32_t bytes, uint32_t room,
	    const char *place)
{
	verbs_warn("post_send: qp 0x%x, wr_id %#llx: needs a WQE of %u bytes; %s has room for %u",
		   qp->vqp.qp.qp_num, (unsigned long long)wr->wr_id, bytes, place, room);
	return 0;
}

/* Returns how many of the QP's usual WQEs the WQE of WR counts as. Returns 0 and an errno in WHY if
 * it is too long for the adapter (ENOMEM) or for an empty queue (EINVAL). */
static uint32_t long_count(const struct mlx5_qp *qp, const struct ibv_send_wr *wr, int *why)
{
	const struct mlx5_sq *sq = &qp->sq;
	const uint32_t bytes =
		mlx5_qp_head_size(qp->rules, UINT64_C(1) << wr->opcode) + long_payload(qp, wr);
	const uint32_t most = to_mctx(qp->vqp.qp.context)->caps.max_sq_desc_sz;
	const uint32_t count = (bytes + sq->wqe_bytes - 1) / sq->wqe_bytes;

	*why = ENOMEM;
	if (bytes > most || bytes > FLD_MASK(CTRL_DS) * WQE_SEG)
		return refuse_long(qp, wr, bytes, most, "the adapter");
	*why = EINVAL;
	if (count > sq->wq.max_post)
		return refuse_long(qp, wr, bytes, sq->wq.max_post * sq->wqe_bytes,
				   "this send queue (see send_ops_flags)");
	return count;
}

static bool sq_has_room_for(struct mlx5_sq *sq, uint32_t count)
{
	if (sq->wq.limit - sq->wq.head < count)
		wq_refresh(&sq->wq, sq->wq.head);
	return sq->wq.limit - sq->wq.head >= count;
}

/* Posts a request with a longer WQE than the QP was created for (send_ops_flags). The WQE counts as
 * several requests, so that those in flight fit in the ring. Release 65.0 posts it, too, but counts
 * one. */
static int __attribute__((cold, noinline))
post_long(struct mlx5_qp *qp, const struct ibv_send_wr *wr, bool sign)
{
	struct mlx5_sq *sq = &qp->sq;
	const uint32_t usual_bytes = sq->wqe_bytes;
	struct send_wqe wqe;
	int ret;
	const uint32_t count = long_count(qp, wr, &ret);

	if (!count)
		return verbs_result(ret);
	if (!sq_has_room_for(sq, count)) {
		provider_report_full_sq(&qp->vqp.qp, wr, sq->wq.max_post);
		return ENOMEM;
	}
	sq->wqe_bytes = count * usual_bytes; /* for limits of inline data */
	ret = build_gated(qp, &wqe, sq->pi, wr, qp->rules->kind);
	sq->wqe_bytes = usual_bytes;
	if (ret)
		return ret;
	wq_slot_note(wqe.slot, sq->wq.head + count - 1, wr->wr_id);
	sq->pi += wqe_finish(&wqe);
	sq->wq.head += count;
	if (sign)
		mlx5_sign_send(sq, wqe.ctrl);
	doorbell_send_any(sq, sq->pi, wqe.ctrl, 0);
	return 0;
}

/* Posts LONG_WR as post_long() does, and the requests behind it. */
static int __attribute__((cold, noinline))
post_from_long(struct mlx5_qp *qp, struct ibv_send_wr *long_wr, struct ibv_send_wr **bad_wr,
	       bool sign)
{
	struct ibv_send_wr *at = long_wr;
	int ret;

	do {
		struct ibv_send_wr *next = at->next;

		ret = post_long(qp, at, sign);
		if (!ret && next)
			ret = post_list(qp, next, &at, qp->rules->kind, BELL_ANY, sign);
	} while (ret == NEEDS_LONG);
	if (ret)
		*bad_wr = at;
	return ret;
}

/* Posts a list of any requests. Writes *BAD_WR only if one is refused. */
WQE_INLINE int post_any(struct mlx5_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad_wr,
			enum send_kind kind, enum bell bell, bool sign)
{
	struct ibv_send_wr *at = NULL;
	int ret = post_list(qp, wr, &at, kind, bell, sign);

	if (unlikely(ret == NEEDS_LONG))
		return post_from_long(qp, at, bad_wr, sign);
	if (unlikely(ret))
		*bad_wr = at;
	return ret;
}

/* Posts a list. The caller holds the lock, if there is one. This routine drops the lock, so that
 * callers can make a tail call. OWN: no other queue uses the register. */
WQE_INLINE int post_list_entered(struct ibv_qp *ibqp, struct ibv_send_wr *wr,
				 struct ibv_send_wr **bad_wr, enum send_kind kind, bool own)
{
	struct mlx5_qp *qp = to_mqp(ibqp);
	int ret = post_any(qp, wr, bad_wr, kind, own ? BELL_OWN : BELL_OTHER, false);

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

/* Posts lists of any kind through a register that other queues use, too. Such registers are rare,
 * so one routine serves all kinds of QPs. */
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

/* Refuses posts on DC queue pairs: a work request cannot name a DC target, and a target does not
 * send. */
OUT_OF_LINE refuse_unaddressed(struct ibv_qp *ibqp, struct ibv_send_wr *wr,
			       struct ibv_send_wr **bad_wr)
{
	verbs_warn("post_send: qp 0x%x is %s: its requests are posted by ibv_wr_start(), "
		   "mlx5dv_wr_set_dc_addr() and so on",
		   ibqp->qp_num, to_mqp(ibqp)->rules->name);
	*bad_wr = wr;
	return verbs_result(EINVAL);
}

int mlx5_post_send_signed(struct ibv_qp *ibqp, struct ibv_send_wr *wr, struct ibv_send_wr **bad_wr)
{
	struct mlx5_qp *qp = to_mqp(ibqp);
	int ret;

	if (qp->rules->kind == SEND_DC)
		return refuse_unaddressed(ibqp, wr, bad_wr);
	qlock_enter(&qp->sq_lock);
	ret = post_any(qp, wr, bad_wr, qp->rules->kind, BELL_ANY, true);
	qlock_leave(&qp->sq_lock);
	return ret;
}

WQE_INLINE bool send_is_usual(const struct mlx5_sq *sq, uint32_t head, const struct ibv_send_wr *wr)
{
	return likely(head != sq->wq.limit && (uint32_t)wr->num_sge < sq->sge_limit &&
		      sq_has_opcode(sq, wr->opcode));
}

/* Constants that select an instance for a single request: with them, the compiler drops the
 * branches for other kinds of QP. */
struct one {
	enum send_kind kind;
	bool shared;
	enum bfreg_use use;
};

/* ---- a single request on a memory key */

OUT_OF_LINE binding_alone(struct ibv_qp *ibqp, struct ibv_send_wr *wr, struct ibv_send_wr **bad_wr)
{
	const struct ibv_mw_bind_info *bind = &wr->bind_mw.bind_info;
	const struct ibv_mw *mw = wr->bind_mw.mw;
	struct mlx5_qp *qp = to_mqp(ibqp);
	struct send_wqe wqe;

	if ((uint32_t)wr->num_sge >= qp->sq.sge_limit || mw->type != IBV_MW_TYPE_2 ||
	    !bind_is_usual(qp, &wqe, mw, bind, wr->send_flags))
		return list_connected(ibqp, wr, bad_wr);
	put_bind(qp, wqe.ctrl, IBV_MW_TYPE_2, wr->bind_mw.rkey, bind);
	post_bind(qp, &wqe, mw->rkey, wr->wr_id, wr->send_flags);
	qlock_leave(&qp->sq_lock);
	return 0;
}

OUT_OF_LINE invalidation_alone(struct ibv_qp *ibqp, struct ibv_send_wr *wr,
			       struct ibv_send_wr **bad_wr)
{
	struct mlx5_qp *qp = to_mqp(ibqp);
	struct send_wqe wqe;

	if ((uint32_t)wr->num_sge >= qp->sq.sge_limit || !inval_is_usual(qp, &wqe, wr->send_flags))
		return list_connected(ibqp, wr, bad_wr);
	put_inval(wqe.ctrl);
	post_inval(qp, &wqe, wr->invalidate_rkey, wr->wr_id, wr->send_flags);
	qlock_leave(&qp->sq_lock);
	return 0;
}

/* ---- a single large send */

OUT_OF_LINE large_send_alone(struct ibv_qp *ibqp, struct ibv_send_wr *wr,
			     struct ibv_send_wr **bad_wr)
{
	struct mlx5_qp *qp = to_mqp(ibqp);
	struct mlx5_sq *sq = &qp->sq;
	const uint32_t pi = sq->pi;
	struct send_wqe wqe;

	wqe_place(sq, &wqe, pi);
	if (!send_is_usual(sq, sq->wq.head, wr) || !tso_is_usual(qp, wqe.ctrl, wr))
		return list_raw(ibqp, wr, bad_wr);
	wqe_begin_placed(sq, &wqe, pi, MLX5_OPCODE_TSO, wr->send_flags, 0);
	wq_slot_set(wqe.slot, sq->wq.head++, wr->wr_id, done_as(MLX5_OPCODE_TSO));
	wqe_put_usual_tso(&wqe, wr);
	wqe_finish(&wqe);
	sq->pi = pi + USUAL_TSO_BLOCKS;
	doorbell_send_blocks(sq, pi + USUAL_TSO_BLOCKS, wqe.ctrl, USUAL_TSO_BLOCKS);
	qlock_leave(&qp->sq_lock);
	return 0;
}

WQE_INLINE int one_by_list(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad_wr,
			   struct one one)
{
	return one.use == BFREG_OWN ? list_of_kind(qp, wr, bad_wr, one.kind)
				    : list_other(qp, wr, bad_wr);
}

WQE_INLINE int one_unusual(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad_wr,
			   struct one one)
{
	if (one.use == BFREG_OWN && one.kind == SEND_CONNECTED && wr->opcode == IBV_WR_BIND_MW)
		return binding_alone(qp, wr, bad_wr);
	if (one.use == BFREG_OWN && one.kind == SEND_CONNECTED && wr->opcode == IBV_WR_LOCAL_INV)
		return invalidation_alone(qp, wr, bad_wr);
	if (one.use == BFREG_OWN && one.kind == SEND_RAW)
		return large_send_alone(qp, wr, bad_wr);
	return one_by_list(qp, wr, bad_wr, one);
}

/* Posts a single request. Makes all checks before the first store, so that the checks occupy no
 * registers during the stores. */
WQE_INLINE int post_one(struct ibv_qp *ibqp, struct ibv_send_wr *wr, struct ibv_send_wr **bad_wr,
			struct one one, enum payload payload, post_send_fn *in_pieces)
{
	struct mlx5_qp *qp = to_mqp(ibqp);
	struct mlx5_sq *sq = &qp->sq;
	const uint32_t pi = sq->pi, head = sq->wq.head;
	uint32_t blocks;
	struct send_wqe wqe;

	if (payload == PAYLOAD_USUAL_INLINE && unlikely(wr->num_sge != 1))
		return in_pieces(ibqp, wr, bad_wr);
	if (unlikely(!send_is_usual(sq, head, wr)) ||
	    (one.kind == SEND_RAW && !frame_is_usual(qp, wr)))
		return one_unusual(ibqp, wr, bad_wr, one);
	wqe_place(sq, &wqe, pi);
	/* CTRL + WQE_BB is an upper bound for the end of the head */
	if (payload == PAYLOAD_USUAL_INLINE &&
	    unlikely(!inline_is_usual(sq, wqe.ctrl + WQE_BB, wr->sg_list->length)))
		return in_pieces(ibqp, wr, bad_wr);
	if (payload == PAYLOAD_USUAL_PIECES &&
	    unlikely(!pieces_are_usual(sq, wqe.ctrl + WQE_BB, wr)))
		return one_by_list(ibqp, wr, bad_wr, one);
	sq->wq.head = head + 1;
	wq_slot_note(wqe.slot, head, wr->wr_id);
	if (one.kind == SEND_RAW)
		put_usual_frame(qp, &wqe, pi, wr);
	else
		put_plain(qp, &wqe, pi, wr, one.kind, payload);
	blocks = wqe_finish(&wqe);
	sq->pi = pi + blocks;
	doorbell_send(
		sq, pi + blocks, wqe.ctrl,
		bf_push_length(sq, blocks, payload == PAYLOAD_BUFFERS ? PUSH_PLAIN : PUSH_INLINE),
		one.use);
	if (one.shared)
		qlock_drop(&qp->sq_lock);
	return 0;
}

/* Tries to take the lock. A routine with its own register has a separate variant for
 * single-threaded processes, so this one need not check for them. */
WQE_INLINE bool try_to_enter(struct mlx5_qp *qp, struct one one)
{
	return one.use == BFREG_SHARED ? qlock_try(&qp->sq_lock) : qlock_exchange(&qp->sq_lock);
}

WQE_INLINE int enter_for_one(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad_wr,
			     struct one one, post_send_fn *with_inline)
{
	if (unlikely(!wr || wr->next || (one.shared && !try_to_enter(to_mqp(qp), one))))
		return one.use == BFREG_OWN ? enter_and_list(qp, wr, bad_wr)
					    : enter_and_list_other(qp, wr, bad_wr);
	if (wr->send_flags & IBV_SEND_INLINE)
		return with_inline(qp, wr, bad_wr);
	return post_one(qp, wr, bad_wr, one, PAYLOAD_BUFFERS, NULL);
}

/* Defines a routine and its variant for inline data, so that requests without inline data do not
 * pay for the variant. IN_PIECES posts what the variant refuses: inline data of several SGEs, and
 * unusual data. */
#define ROUTINE(name, in_pieces, ...)                                                              \
	OUT_OF_LINE name##_inline(struct ibv_qp * qp, struct ibv_send_wr * wr,                     \
				  struct ibv_send_wr * *bad_wr)                                    \
	{                                                                                          \
		return post_one(qp, wr, bad_wr, (struct one){ __VA_ARGS__ }, PAYLOAD_USUAL_INLINE, \
				in_pieces);                                                        \
	}                                                                                          \
	static int name(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad_wr)    \
	{                                                                                          \
		return enter_for_one(qp, wr, bad_wr, (struct one){ __VA_ARGS__ }, name##_inline);  \
	}

/* Defines a routine for a single request with inline data of several SGEs. Only the most common
 * kinds of queues have one: for others, the routine for lists also posts such a request, but saves
 * more registers. */
#define PIECES_ROUTINE(name, ...)                                                                  \
	OUT_OF_LINE name(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad_wr)   \
	{                                                                                          \
		return post_one(qp, wr, bad_wr, (struct one){ __VA_ARGS__ }, PAYLOAD_USUAL_PIECES, \
				NULL);                                                             \
	}

PIECES_ROUTINE(one_connected_in_pieces, SEND_CONNECTED, false, BFREG_OWN)
PIECES_ROUTINE(one_connected_exchange_in_pieces, SEND_CONNECTED, true, BFREG_OWN)
PIECES_ROUTINE(one_datagram_in_pieces, SEND_DATAGRAM, false, BFREG_OWN)
PIECES_ROUTINE(one_datagram_exchange_in_pieces, SEND_DATAGRAM, true, BFREG_OWN)

ROUTINE(one_connected, one_connected_in_pieces, SEND_CONNECTED, false, BFREG_OWN)
ROUTINE(one_connected_exchange, one_connected_exchange_in_pieces, SEND_CONNECTED, true, BFREG_OWN)
ROUTINE(one_connected_in_domain, list_other, SEND_CONNECTED, false, BFREG_DOMAIN)
ROUTINE(one_connected_locked_twice, list_other, SEND_CONNECTED, true, BFREG_SHARED)
ROUTINE(one_datagram, one_datagram_in_pieces, SEND_DATAGRAM, false, BFREG_OWN)
ROUTINE(one_datagram_exchange, one_datagram_exchange_in_pieces, SEND_DATAGRAM, true, BFREG_OWN)
ROUTINE(one_datagram_in_domain, list_other, SEND_DATAGRAM, false, BFREG_DOMAIN)
ROUTINE(one_datagram_locked_twice, list_other, SEND_DATAGRAM, true, BFREG_SHARED)
ROUTINE(one_xrc, list_xrc, SEND_XRC, false, BFREG_OWN)
ROUTINE(one_xrc_exchange, list_xrc, SEND_XRC, true, BFREG_OWN)
ROUTINE(one_xrc_in_domain, list_other, SEND_XRC, false, BFREG_DOMAIN)
ROUTINE(one_xrc_locked_twice, list_other, SEND_XRC, true, BFREG_SHARED)

/* Defines a routine for frames. It has no variant for inline data, because inline data of frames is
 * rare and takes the slow path. */
#define FRAME_ROUTINE(name, by_list, ...)                                                       \
	static int name(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad_wr) \
	{                                                                                       \
		return enter_for_one(qp, wr, bad_wr, (struct one){ SEND_RAW, __VA_ARGS__ },     \
				     by_list);                                                  \
	}

FRAME_ROUTINE(one_frame, list_raw, false, BFREG_OWN)
FRAME_ROUTINE(one_frame_exchange, list_raw, true, BFREG_OWN)
FRAME_ROUTINE(one_frame_in_domain, list_other, false, BFREG_DOMAIN)
FRAME_ROUTINE(one_frame_locked_twice, list_other, true, BFREG_SHARED)

/* Posts a single request. If the process has one thread and the lock is free, posts without taking
 * it: an atomic exchange costs more than plain loads and stores. */
static int one_connected_locked(struct ibv_qp *qp, struct ibv_send_wr *wr,
				struct ibv_send_wr **bad_wr)
{
	return qlock_is_idle(&to_mqp(qp)->sq_lock) ? one_connected(qp, wr, bad_wr)
						   : one_connected_exchange(qp, wr, bad_wr);
}

static int one_datagram_locked(struct ibv_qp *qp, struct ibv_send_wr *wr,
			       struct ibv_send_wr **bad_wr)
{
	return qlock_is_idle(&to_mqp(qp)->sq_lock) ? one_datagram(qp, wr, bad_wr)
						   : one_datagram_exchange(qp, wr, bad_wr);
}

static int one_xrc_locked(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad_wr)
{
	return qlock_is_idle(&to_mqp(qp)->sq_lock) ? one_xrc(qp, wr, bad_wr)
						   : one_xrc_exchange(qp, wr, bad_wr);
}

static int one_frame_locked(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad_wr)
{
	return qlock_is_idle(&to_mqp(qp)->sq_lock) ? one_frame(qp, wr, bad_wr)
						   : one_frame_exchange(qp, wr, bad_wr);
}

post_send_fn *mlx5_post_send_routine(enum send_kind kind, bool shared, enum bfreg_use use)
{
	/* BFREG_DOMAIN needs no lock, since its queues have none, either. */
	static post_send_fn *const routines[][4] = {
		[SEND_CONNECTED] = { one_connected, one_connected_locked, one_connected_in_domain,
				     one_connected_locked_twice },
		[SEND_DATAGRAM] = { one_datagram, one_datagram_locked, one_datagram_in_domain,
				    one_datagram_locked_twice },
		[SEND_XRC] = { one_xrc, one_xrc_locked, one_xrc_in_domain, one_xrc_locked_twice },
		[SEND_RAW] = { one_frame, one_frame_locked, one_frame_in_domain,
			       one_frame_locked_twice },
		[SEND_UNDERLAY] = { enter_and_list, enter_and_list, enter_and_list_other,
				    enter_and_list_other },
		[SEND_DC] = { refuse_unaddressed, refuse_unaddressed, refuse_unaddressed,
			      refuse_unaddressed },
	};

	return routines[kind][use == BFREG_OWN ? shared : 2 + shared];
}

int mlx5_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad_wr)
{
	return to_mqp(qp)->post_send(qp, wr, bad_wr);
}

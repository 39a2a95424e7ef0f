/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * post_send.c - ibv_post_send(): converts work requests to WQEs.
 *
 * A QP stores the routine that fits it: by its kind, with or without lock, and with slots of one
 * piece, which need no stamps, or larger ones. Decision: docs/adr/0011.
 */
#include <errno.h>

#include "providers/common/mw.h"
#include "providers/common/report.h"
#include "providers/mlx4/data/datapath.h"
#include "providers/mlx4/data/doorbell.h"
#include "providers/mlx4/data/send_wqe.h"

static const struct send_op {
	uint32_t done_as;
	uint8_t opcode;
	bool has_raddr;
	bool fetches; /* has no data to send, only the request itself */
} send_ops[] = {
	[IBV_WR_RDMA_WRITE] = { IBV_WC_RDMA_WRITE, M4_RDMA_WRITE, true, false },
	[IBV_WR_RDMA_WRITE_WITH_IMM] = { IBV_WC_RDMA_WRITE | SENT_WITH_IMM, M4_RDMA_WRITE_IMM, true,
					 false },
	[IBV_WR_SEND] = { IBV_WC_SEND, M4_SEND, false, false },
	[IBV_WR_SEND_WITH_IMM] = { IBV_WC_SEND | SENT_WITH_IMM, M4_SEND_IMM, false, false },
	[IBV_WR_RDMA_READ] = { IBV_WC_RDMA_READ, M4_RDMA_READ, true, true },
	[IBV_WR_ATOMIC_CMP_AND_SWP] = { IBV_WC_COMP_SWAP | SENT_ATOMIC, M4_ATOMIC_CS, true, true },
	[IBV_WR_ATOMIC_FETCH_AND_ADD] = { IBV_WC_FETCH_ADD | SENT_ATOMIC, M4_ATOMIC_FA, true,
					  true },
	[IBV_WR_SEND_WITH_INV] = { IBV_WC_SEND, M4_SEND_INVAL, false, false },
	[IBV_WR_LOCAL_INV] = { IBV_WC_LOCAL_INV, M4_LOCAL_INVAL, false, false },
	[IBV_WR_BIND_MW] = { IBV_WC_BIND_MW, M4_BIND_MW, false, false },
	[IBV_WR_TSO] = { IBV_WC_TSO, M4_LSO, false, false },
};

/* done_as of usual requests, as stored in slots. */
#if __BYTE_ORDER == __LITTLE_ENDIAN
#define DONE(done_as) ((uint64_t)(done_as) << 32)
#else
#define DONE(done_as) ((uint64_t)(done_as))
#endif

static const struct {
	uint64_t done[IBV_WR_SEND_WITH_IMM + 1];
	uint8_t opcode[IBV_WR_SEND_WITH_IMM + 1];
} usual = {
	.done = {
		[IBV_WR_RDMA_WRITE] = DONE(IBV_WC_RDMA_WRITE),
		[IBV_WR_RDMA_WRITE_WITH_IMM] = DONE(IBV_WC_RDMA_WRITE | SENT_WITH_IMM),
		[IBV_WR_SEND] = DONE(IBV_WC_SEND),
		[IBV_WR_SEND_WITH_IMM] = DONE(IBV_WC_SEND | SENT_WITH_IMM),
	},
	.opcode = {
		[IBV_WR_RDMA_WRITE] = M4_RDMA_WRITE,
		[IBV_WR_RDMA_WRITE_WITH_IMM] = M4_RDMA_WRITE_IMM,
		[IBV_WR_SEND] = M4_SEND,
		[IBV_WR_SEND_WITH_IMM] = M4_SEND_IMM,
	},
};

enum { ON_KEYS = 1u << IBV_WR_LOCAL_INV | 1u << IBV_WR_BIND_MW };

/* ---- the parts of a request ---- */

static void __attribute__((cold))
report_opcode(const struct mlx4_qp *qp, const struct ibv_send_wr *wr)
{
	char names[256];

	if (!verbs_log_on(VERBS_LOG_WARN))
		return;
	provider_name_opcodes(qp->sq.opcodes, names, sizeof(names));
	if (qp->sq.opcodes)
		verbs_warn("post_send: qp 0x%x, wr_id %#llx: opcode is %d (%s), this QP has %s",
			   qp->vqp.qp.qp_num, (unsigned long long)wr->wr_id, (int)wr->opcode,
			   provider_wr_opcode_str(wr->opcode), names);
	else
		verbs_warn("post_send: qp 0x%x, wr_id %#llx: the QP is in state %s, must be RTS: "
			   "connect it by ibv_modify_qp() before",
			   qp->vqp.qp.qp_num, (unsigned long long)wr->wr_id,
			   provider_qp_state_str(qp->vqp.qp.state));
}

static int __attribute__((cold)) refuse(const struct mlx4_qp *qp, const struct ibv_send_wr *wr)
{
	const struct mlx4_sq *sq = &qp->sq;

	if ((unsigned int)wr->opcode >= 32 || !(sq->opcodes & 1u << wr->opcode))
		report_opcode(qp, wr);
	else if ((unsigned int)wr->num_sge <= sq->max_sge && wr->send_flags & IBV_SEND_IP_CSUM)
		verbs_warn(
			"post_send: qp 0x%x: send_flags has IBV_SEND_IP_CSUM: the device computes "
			"no checksums for this QP on this port",
			qp->vqp.qp.qp_num);
	else
		verbs_warn("post_send: qp 0x%x: num_sge is %d, limit %u (max_send_sge of the QP)",
			   qp->vqp.qp.qp_num, wr->num_sge, sq->max_sge);
	return verbs_result(EINVAL);
}

static int __attribute__((cold)) refuse_full(const struct mlx4_qp *qp, const struct ibv_send_wr *wr)
{
	provider_report_full_sq(&qp->vqp.qp, wr, qp->sq.wq.max_post);
	return ENOMEM;
}

static int __attribute__((cold))
refuse_inline(const struct mlx4_qp *qp, const struct ibv_send_wr *wr, uint64_t length)
{
	provider_report_inline(&qp->vqp.qp, wr, length, qp->sq.max_inline);
	return ENOMEM;
}

WQE_INLINE uint32_t put_head(uint8_t *ctrl, const struct ibv_send_wr *wr, const struct send_op *op,
			     enum send_kind kind)
{
	if (kind == SEND_DATAGRAM) {
		wqe_put_address(ctrl, wr->wr.ud.ah, wr->wr.ud.remote_qpn, wr->wr.ud.remote_qkey);
		return M4_SEG + M4_DATAGRAM_SIZE;
	}
	if (!op->has_raddr)
		return M4_SEG;
	if (!opcode_is_atomic(op->opcode))
		return wqe_put_raddr(ctrl, M4_SEG, wr->wr.rdma.remote_addr, wr->wr.rdma.rkey);
	wqe_put_raddr(ctrl, M4_SEG, wr->wr.atomic.remote_addr, wr->wr.atomic.rkey);
	return op->opcode == M4_ATOMIC_CS
		       ? wqe_put_atomic(ctrl, 2 * M4_SEG, wr->wr.atomic.swap,
					wr->wr.atomic.compare_add)
		       : wqe_put_atomic(ctrl, 2 * M4_SEG, wr->wr.atomic.compare_add, 0);
}

static bool inline_fits(const struct mlx4_sq *sq, const struct ibv_send_wr *wr, uint32_t taken,
			uint64_t *length)
{
	*length = 0;
	for (int i = 0; i < wr->num_sge; i++)
		*length += wr->sg_list[i].length;
	return *length + taken <= sq->max_inline;
}

static uint32_t put_inline(uint8_t *ctrl, uint32_t at, const struct ibv_send_wr *wr,
			   uint32_t length)
{
	struct wqe_stream stream;

	if (likely(wr->num_sge == 1))
		return wqe_put_inline(ctrl, at, (const uint8_t *)(uintptr_t)wr->sg_list->addr,
				      length);
	if (likely(length <= wqe_inline_room(at)))
		return wqe_put_short_inline(ctrl, at, wr->sg_list, wr->num_sge);
	stream_begin(&stream, ctrl, at, NULL);
	for (int i = 0; i < wr->num_sge; i++)
		stream_put(&stream, (const uint8_t *)(uintptr_t)wr->sg_list[i].addr,
			   wr->sg_list[i].length);
	return stream_end(&stream);
}

WQE_INLINE uint32_t put_data(uint8_t *ctrl, uint32_t at, const struct ibv_send_wr *wr)
{
	if (unlikely(wr->num_sge != 1))
		return wqe_put_sges(ctrl, at, wr->sg_list, wr->num_sge, NULL);
	wqe_put_sge(ctrl, at, wr->sg_list, NULL);
	return at + M4_SEG;
}

static __be32 third_word(const struct ibv_send_wr *wr)
{
	if (wr->opcode == IBV_WR_SEND_WITH_INV)
		return htobe32(wr->invalidate_rkey);
	return wr->imm_data;
}

WQE_INLINE uint64_t wr_control(const struct mlx4_sq *sq, enum send_kind kind,
			       const struct ibv_send_wr *wr)
{
	uint64_t control = wqe_control(sq, kind, wr->send_flags);

	return kind == SEND_XRC ? control | wqe_srqn(wr->qp_type.xrc.remote_srqn) : control;
}

/* Returns whether the first buffer contains the whole destination address of a frame, as usual. The
 * control segment repeats that address. */
WQE_INLINE bool frame_has_mac(const struct ibv_send_wr *wr)
{
	return wr->num_sge > 0 && wr->sg_list->length >= FRAME_MAC_SIZE;
}

WQE_INLINE void put_frame_mac(uint8_t *ctrl, const struct ibv_send_wr *wr)
{
	wqe_put_whole_mac(ctrl, (const void *)(uintptr_t)wr->sg_list->addr);
}

WQE_INLINE bool wr_has_bytes(const struct ibv_send_wr *wr)
{
	for (int i = 0; i < wr->num_sge; i++)
		if (likely(wr->sg_list[i].length))
			return true;
	return false;
}

/* Writes the destination of a frame that may be spread over several buffers. The control segment
 * repeats it, because the adapter reads it there to loop back frames for its own ports. */
static void __attribute__((noinline)) put_mac_in_parts(uint8_t *ctrl, const struct ibv_send_wr *wr)
{
	uint32_t have = 0;

	for (int i = 0; i < wr->num_sge && have < FRAME_MAC_SIZE; i++)
		have = wqe_put_mac(ctrl, have, (const void *)(uintptr_t)wr->sg_list[i].addr,
				   wr->sg_list[i].length);
}

struct built {
	uint8_t *ctrl;
	uint32_t size, opcode;
	bool is_whole; /* the adapter need not read data from memory */
};

/* Where a request goes: its WQE and its slot of notes. Computed before the first store, because the
 * compiler would otherwise load the fields of the queue again after each store. */
struct place {
	uint8_t *ctrl;
	struct wq_slot *note;
	uint32_t opcode;
	uint32_t head;
};

WQE_INLINE struct place place_at(const struct mlx4_sq *sq, const struct ibv_send_wr *wr,
				 uint32_t head)
{
	return (struct place){ sq_slot(sq, head), wq_slot_at(&sq->wq, head), wr->opcode, head };
}

WQE_INLINE void put_rest_on_key(struct mlx4_sq *sq, const struct place *place, uint64_t wr_id,
				unsigned int send_flags)
{
	wqe_put_control_on_key(sq, place->ctrl, send_flags);
	wq_slot_set(place->note, place->head, wr_id, send_ops[place->opcode].done_as);
}

static bool __attribute__((noinline)) build_on_key(struct mlx4_qp *qp, const struct ibv_send_wr *wr,
						   uint32_t head, struct built *built, int *err)
{
	const struct place place = place_at(&qp->sq, wr, head);
	const struct ibv_mw_bind_info *bind = &wr->bind_mw.bind_info;

	if (wr->opcode == IBV_WR_BIND_MW) {
		*err = mlx4_check_bind(qp, wr->bind_mw.mw, bind);
		if (*err)
			return false;
		wqe_put_bind(place.ctrl, wr->bind_mw.mw, wr->bind_mw.rkey, bind_lkey(bind), bind);
	} else {
		wqe_put_inval(place.ctrl, wr->invalidate_rkey);
	}
	put_rest_on_key(&qp->sq, &place, wr->wr_id, wr->send_flags);
	*built = (struct built){ .ctrl = place.ctrl, .opcode = send_ops[wr->opcode].opcode };
	return true;
}

static int __attribute__((cold))
refuse_large(const struct mlx4_qp *qp, const struct ibv_send_wr *wr)
{
	verbs_warn("post_send: qp 0x%x: tso.hdr_sz is %u, must be %u to %u (max_tso_header)",
		   qp->vqp.qp.qp_num, wr->tso.hdr_sz, TSO_HEADER_MIN, qp->max_tso_header);
	return verbs_result(EINVAL);
}

static int __attribute__((cold)) refuse_empty(const struct mlx4_qp *qp)
{
	verbs_warn("post_send: qp 0x%x: the frame has no bytes", qp->vqp.qp.qp_num);
	return verbs_result(EINVAL);
}

/* Builds a large send (TSO), which the adapter splits into frames with the headers of WR. The data
 * is written before the headers, because it may begin in the headers' last piece, whose first word
 * must come last. */
static bool __attribute__((noinline)) build_large(struct mlx4_qp *qp, const struct ibv_send_wr *wr,
						  uint32_t head, struct built *built, int *err)
{
	struct mlx4_sq *sq = &qp->sq;
	uint8_t *ctrl = sq_slot(sq, head);
	uint32_t at = wqe_large_end(wr->tso.hdr_sz);
	bool is_inline = wr->send_flags & IBV_SEND_INLINE && wr->num_sge;
	uint64_t length = 0;

	if (wr->tso.hdr_sz < TSO_HEADER_MIN || wr->tso.hdr_sz > qp->max_tso_header)
		return *err = refuse_large(qp, wr), false;
	if (is_inline && !inline_fits(sq, wr, 0, &length))
		return *err = refuse_inline(qp, wr, length), false;
	at = is_inline ? put_inline(ctrl, at, wr, (uint32_t)length)
		       : wqe_put_sges(ctrl, at, wr->sg_list, wr->num_sge, NULL);
	wqe_put_header(ctrl, wr->tso.hdr, wr->tso.hdr_sz, wr->tso.mss, NULL);
	wqe_put_control(ctrl, at, wqe_control(sq, SEND_RAW, wr->send_flags & ~IBV_SEND_FENCE), 0);
	wqe_put_mac(ctrl, 0, wr->tso.hdr, wr->tso.hdr_sz);
	wq_slot_set(wq_slot_at(&sq->wq, head), head, wr->wr_id, send_ops[IBV_WR_TSO].done_as);
	*built = (struct built){ .ctrl = ctrl,
				 .size = at,
				 .opcode = wqe_large_opcode(wr->tso.hdr_sz),
				 .is_whole = is_inline };
	return true;
}

/* Builds WR at HEAD. Returns false with the reason in ERR if it cannot be posted. */
WQE_INLINE bool build(struct mlx4_qp *qp, const struct ibv_send_wr *wr, uint32_t head,
		      enum send_kind kind, struct built *built, int *err)
{
	struct mlx4_sq *sq = &qp->sq;
	uint8_t *ctrl = sq_slot(sq, head);
	const struct send_op *op;
	uint64_t length;
	uint32_t at, more;

	if (unlikely(!wq_has_room(&sq->wq, head)))
		return *err = refuse_full(qp, wr), false;
	if (unlikely((unsigned int)wr->opcode >= 32 || !(sq->opcodes & 1u << wr->opcode)))
		return *err = refuse(qp, wr), false;
	if (!kind_has_sums(kind) && unlikely(ON_KEYS >> wr->opcode & 1))
		return build_on_key(qp, wr, head, built, err);
	op = &send_ops[wr->opcode];
	more = opcode_is_atomic(op->opcode); /* further segments */
	if (unlikely((unsigned int)wr->num_sge > sq->max_sge - more ||
		     (kind_has_sums(kind) && wr->send_flags & IBV_SEND_IP_CSUM &&
		      !qp->has_checksums)))
		return *err = refuse(qp, wr), false;
	if (kind == SEND_RAW && unlikely(wr->opcode == IBV_WR_TSO))
		return build_large(qp, wr, head, built, err);
	if (kind == SEND_RAW && unlikely(!wr_has_bytes(wr)))
		return *err = refuse_empty(qp), false;
	if (wr->send_flags & IBV_SEND_INLINE && wr->num_sge) {
		if (unlikely(!inline_fits(sq, wr, more * M4_SEG, &length)))
			return *err = refuse_inline(qp, wr, length), false;
		at = put_inline(ctrl, put_head(ctrl, wr, op, kind), wr, (uint32_t)length);
		built->is_whole = true;
	} else {
		at = put_data(ctrl, put_head(ctrl, wr, op, kind), wr);
		built->is_whole = op->fetches;
	}
	wqe_put_control(ctrl, at, wr_control(sq, kind, wr), third_word(wr));
	if (kind == SEND_RAW)
		put_mac_in_parts(ctrl, wr);
	wq_slot_set(wq_slot_at(&sq->wq, head), head, wr->wr_id, op->done_as);
	built->ctrl = ctrl;
	built->size = at;
	built->opcode = op->opcode;
	return true;
}

/* Posts the WQE at CTRL by its first word. The adapter may see it even before the doorbell, as it
 * reads ahead; so the rest of the WQE must be visible first. */
WQE_INLINE void hand_over(struct mlx4_qp *qp, uint8_t *ctrl, uint32_t head, uint32_t opcode)
{
	order_publish(&qp->sq.wq);
	dma_store_barrier();
	*(__be32 *)ctrl = htobe32(wqe_owner_opcode(&qp->sq, head, opcode));
}

/* ---- the usual request: data from memory, mostly one buffer ---- */

WQE_INLINE bool opcode_is_usual(const struct mlx4_sq *sq, uint32_t opcode, enum send_kind kind)
{
	return opcode - first_usual_opcode(kind) < sq->usual_opcodes;
}

WQE_INLINE bool is_usual(const struct mlx4_sq *sq, const struct ibv_send_wr *wr, uint32_t head,
			 enum send_kind kind)
{
	return !(wr->send_flags & (kind_has_sums(kind) ? sq->unusual_flags : IBV_SEND_INLINE)) &&
	       opcode_is_usual(sq, wr->opcode, kind) && head != sq->wq.limit &&
	       (kind != SEND_RAW || frame_has_mac(wr));
}

WQE_INLINE uint32_t put_usual_head(uint8_t *ctrl, const struct ibv_send_wr *wr, enum send_kind kind)
{
	if (kind == SEND_DATAGRAM) {
		wqe_put_address(ctrl, wr->wr.ud.ah, wr->wr.ud.remote_qpn, wr->wr.ud.remote_qkey);
		return M4_SEG + M4_DATAGRAM_SIZE;
	}
	if (kind == SEND_RAW || wr->opcode >= IBV_WR_SEND)
		return M4_SEG;
	return wqe_put_raddr(ctrl, M4_SEG, wr->wr.rdma.remote_addr, wr->wr.rdma.rkey);
}

WQE_INLINE uint32_t usual_head_size(const struct ibv_send_wr *wr, enum send_kind kind)
{
	if (kind == SEND_DATAGRAM)
		return M4_SEG + M4_DATAGRAM_SIZE;
	return kind == SEND_RAW || wr->opcode >= IBV_WR_SEND ? M4_SEG : 2 * M4_SEG;
}

WQE_INLINE void put_usual_rest(struct mlx4_qp *qp, const struct ibv_send_wr *wr,
			       const struct place *place, uint32_t size, enum send_kind kind)
{
	struct mlx4_sq *sq = &qp->sq;

	wqe_put_control(place->ctrl, size, wr_control(sq, kind, wr), wr->imm_data);
	if (kind == SEND_RAW)
		put_frame_mac(place->ctrl, wr);
	wq_slot_set_done(place->note, place->head, wr->wr_id, usual.done[place->opcode]);
}

WQE_INLINE uint32_t put_usual(struct mlx4_qp *qp, const struct ibv_send_wr *wr, uint32_t head,
			      enum send_kind kind)
{
	const struct place place = place_at(&qp->sq, wr, head);
	uint32_t at = put_usual_head(place.ctrl, wr, kind), size = at + M4_SEG;

	wqe_put_sge(place.ctrl, at, wr->sg_list, NULL);
	put_usual_rest(qp, wr, &place, size, kind);
	hand_over(qp, place.ctrl, head, usual.opcode[place.opcode]);
	return size;
}

WQE_INLINE bool inline_flags_are_usual(const struct mlx4_sq *sq, const struct ibv_send_wr *wr,
				       uint32_t head, enum send_kind kind)
{
	return opcode_is_usual(sq, wr->opcode, kind) &&
	       !(kind_has_sums(kind) && wr->send_flags & sq->unusual_flags & IBV_SEND_IP_CSUM) &&
	       head != sq->wq.limit;
}

WQE_INLINE bool is_usual_inline(const struct mlx4_sq *sq, const struct ibv_send_wr *wr,
				uint32_t head, enum send_kind kind)
{
	return wr->num_sge == 1 && inline_flags_are_usual(sq, wr, head, kind) &&
	       wr->sg_list->length <= sq->max_inline && (kind != SEND_RAW || frame_has_mac(wr));
}

WQE_INLINE uint32_t put_usual_inline(struct mlx4_qp *qp, const struct ibv_send_wr *wr,
				     const struct place *place, enum send_kind kind)
{
	uint32_t at =
		wqe_put_inline(place->ctrl, put_usual_head(place->ctrl, wr, kind),
			       (const uint8_t *)(uintptr_t)wr->sg_list->addr, wr->sg_list->length);

	put_usual_rest(qp, wr, place, at, kind);
	return at;
}

WQE_INLINE bool put_several(uint8_t *ctrl, uint32_t at, const struct ibv_sge *sge, int sges)
{
	if (SGES_ARE_WHOLE)
		return wqe_put_whole_sges(ctrl, at, sge, sges);
	wqe_put_sges(ctrl, at, sge, sges, NULL);
	return true;
}

/* Posts a request with several SGEs at HEAD. Returns the WQE's size, or 0 if the request needs the
 * slow path. Writes the SGEs before it computes the rest, for lack of registers. */
WQE_INLINE uint32_t put_wide(struct mlx4_qp *qp, const struct ibv_send_wr *wr, uint32_t head,
			     enum send_kind kind)
{
	uint8_t *ctrl = sq_slot(&qp->sq, head);
	uint32_t at = put_usual_head(ctrl, wr, kind);
	struct place place;

	if (unlikely(!put_several(ctrl, at, wr->sg_list, wr->num_sge)))
		return 0;
	place = (struct place){ ctrl, wq_slot_at(&qp->sq.wq, head), wr->opcode, head };
	at += (uint32_t)wr->num_sge * M4_SEG;
	put_usual_rest(qp, wr, &place, at, kind);
	hand_over(qp, ctrl, head, usual.opcode[place.opcode]);
	return at;
}

/* ---- other requests ---- */

/* Returns whether slots have several pieces, so that the pieces of free slots must be stamped. */
WQE_INLINE bool sq_has_stamps(const struct mlx4_sq *sq)
{
	return sq->slot_log > M4_MIN_SLOT_LOG;
}

/* Posts WR at HEAD. Returns 0 or an errno. If WR is the only request (ALONE), needs no data from
 * memory and fits, its WQE goes through BlueFlame. *RINGS: the doorbell must still be rung. */
typedef int put_any_fn(struct mlx4_qp *qp, const struct ibv_send_wr *wr, uint32_t head, bool alone,
		       bool *rings);

WQE_INLINE int put_any(struct mlx4_qp *qp, const struct ibv_send_wr *wr, uint32_t head,
		       enum send_kind kind, bool alone, bool *rings)
{
	struct mlx4_sq *sq = &qp->sq;
	struct built built;
	int ret = 0;

	if (unlikely(!build(qp, wr, head, kind, &built, &ret)))
		return ret;
	*rings = !alone || !built.is_whole || !sq->bf || built.size > sq->bf->half;
	if (*rings) {
		hand_over(qp, built.ctrl, head, built.opcode);
	} else {
		order_publish(&sq->wq);
		doorbell_push(sq, built.ctrl, built.size, wqe_owner_opcode(sq, head, built.opcode),
			      head);
	}
	if (sq_has_stamps(sq))
		sq_stamp_ahead(sq, kind, head, built.size);
	return 0;
}

/* ---- lists ---- */

/* Posts a request of a list with inline data at HEAD, or calls PUTS_ANY. That is out of line, so
 * that the registers that it saves cost nothing here. */
WQE_INLINE int put_listed(struct mlx4_qp *qp, const struct ibv_send_wr *wr, uint32_t head,
			  enum send_kind kind, put_any_fn *puts_any, bool *rings)
{
	struct place place;
	uint32_t size;

	if (kind == SEND_RAW || !(wr->send_flags & IBV_SEND_INLINE) ||
	    !is_usual_inline(&qp->sq, wr, head, kind))
		return puts_any(qp, wr, head, false, rings);
	place = place_at(&qp->sq, wr, head);
	size = put_usual_inline(qp, wr, &place, kind);
	hand_over(qp, place.ctrl, head, usual.opcode[place.opcode]);
	if (sq_has_stamps(&qp->sq))
		sq_stamp_ahead(&qp->sq, kind, head, size);
	return 0;
}

/* Posts a request of a list whose inline data fits in the rest of the piece in which the WQE's head
 * ends, or calls PUTS_LONGER. Saves no registers. */
WQE_INLINE int put_listed_short(struct mlx4_qp *qp, const struct ibv_send_wr *wr, uint32_t head,
				enum send_kind kind, put_any_fn *puts_longer, bool *rings)
{
	struct place place;
	uint32_t at;

	if (kind == SEND_RAW || !(wr->send_flags & IBV_SEND_INLINE) ||
	    !is_usual_inline(&qp->sq, wr, head, kind) ||
	    wr->sg_list->length > wqe_inline_room(usual_head_size(wr, kind)))
		return puts_longer(qp, wr, head, false, rings);
	place = place_at(&qp->sq, wr, head);
	at = put_usual_head(place.ctrl, wr, kind);
	at = wqe_put_last_inline(place.ctrl, at, (const uint8_t *)(uintptr_t)wr->sg_list->addr,
				 wr->sg_list->length);
	put_usual_rest(qp, wr, &place, at, kind);
	hand_over(qp, place.ctrl, head, usual.opcode[place.opcode]);
	if (sq_has_stamps(&qp->sq))
		sq_stamp_ahead(&qp->sq, kind, head, M4_PIECE);
	return 0;
}

/* Writes the stamps for a usual request in a list. The request has a single SGE, so only datagrams
 * have several pieces. DIRTY is determined at the start of the list, and again after unusual
 * requests: the adapter may take WQEs before the doorbell, and a list longer than the ring reuses
 * their slots. */
WQE_INLINE void stamp_in_list(struct mlx4_sq *sq, enum send_kind kind, uint32_t head, bool dirty)
{
	if (kind == SEND_DATAGRAM || unlikely(dirty))
		sq_stamp(sq, head + sq->spare);
}

/* Posts a list. The caller holds the lock; the routine drops it, so that the call can be the last
 * one of its caller. PUTS_ANY posts unusual requests. */
WQE_INLINE int post_list(struct mlx4_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad_wr,
			 put_any_fn *puts_any, enum send_kind kind, bool stamps)
{
	struct mlx4_sq *sq = &qp->sq;
	const uint32_t first = sq->wq.head;
	bool dirty = stamps && sq_is_dirty(sq, first);
	uint32_t head = first;
	bool rings;
	int ret = 0;

	for (; wr; wr = wr->next, head++) {
		if (likely(wr->num_sge == 1 && is_usual(sq, wr, head, kind))) {
			put_usual(qp, wr, head, kind);
			if (stamps)
				stamp_in_list(sq, kind, head, dirty);
			continue;
		}
		ret = puts_any(qp, wr, head, false, &rings);
		if (unlikely(ret)) {
			*bad_wr = wr;
			break;
		}
		dirty = stamps;
	}
	if (likely(head != first)) {
		sq->wq.head = head;
		doorbell_send(sq);
	}
	qlock_leave(&qp->sq_lock);
	return ret;
}

/* ---- single requests ---- */

/* Constants that select a routine for a single request: with them, the compiler drops the branches
 * for other kinds of QP. */
struct one {
	enum send_kind kind;
	bool shared;
	bool stamps;
};

WQE_INLINE void ring_inline(struct mlx4_qp *qp, const struct place *place, uint32_t size)
{
	struct mlx4_sq *sq = &qp->sq;

	if (likely(sq->bf && size <= sq->bf->half)) {
		order_publish(&sq->wq);
		doorbell_push(sq, place->ctrl, size,
			      wqe_owner_opcode(sq, place->head, usual.opcode[place->opcode]),
			      place->head);
	} else {
		hand_over(qp, place->ctrl, place->head, usual.opcode[place->opcode]);
		doorbell_send(sq);
	}
}

WQE_INLINE int post_inline(struct mlx4_qp *qp, const struct ibv_send_wr *wr, struct one one)
{
	struct mlx4_sq *sq = &qp->sq;
	uint32_t head = sq->wq.head, at;
	const struct place place = place_at(sq, wr, head);

	at = put_usual_inline(qp, wr, &place, one.kind);
	sq->wq.head = head + 1;
	if (one.stamps && at > M4_PIECE)
		sq_stamp_ahead_of_long(sq, one.kind, head);
	else if (one.stamps)
		sq_stamp_ahead(sq, one.kind, head, at);
	ring_inline(qp, &place, at);
	if (one.shared)
		qlock_drop(&qp->sq_lock);
	return 0;
}

/* Returns whether a single request has inline data, in any number of buffers, that fits in the rest
 * of the piece in which the WQE's head ends. */
WQE_INLINE bool is_short_inline(const struct mlx4_sq *sq, const struct ibv_send_wr *wr,
				enum send_kind kind)
{
	uint64_t length;

	return inline_flags_are_usual(sq, wr, sq->wq.head, kind) &&
	       (uint32_t)wr->num_sge - 1 < sq->max_sge && inline_fits(sq, wr, 0, &length) &&
	       length <= wqe_inline_room(usual_head_size(wr, kind));
}

WQE_INLINE void finish_short(struct mlx4_qp *qp, const struct ibv_send_wr *wr,
			     const struct place *place, uint32_t size, enum send_kind kind)
{
	struct mlx4_sq *sq = &qp->sq;

	put_usual_rest(qp, wr, place, size, kind);
	sq->wq.head = place->head + 1;
	if (sq_has_stamps(sq))
		sq_stamp_ahead(sq, kind, place->head, M4_PIECE);
	ring_inline(qp, place, size);
	qlock_leave(&qp->sq_lock);
}

WQE_INLINE int post_pieces(struct mlx4_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad_wr,
			   enum send_kind kind, qp_post_send_fn *other)
{
	struct mlx4_sq *sq = &qp->sq;
	const struct place place = place_at(sq, wr, sq->wq.head);
	uint32_t at;

	if (!is_short_inline(sq, wr, kind))
		return other(qp, wr, bad_wr);
	at = wqe_put_short_inline(place.ctrl, put_usual_head(place.ctrl, wr, kind), wr->sg_list,
				  wr->num_sge);
	finish_short(qp, wr, &place, at, kind);
	return 0;
}

/* Does what post_pieces() does for two buffers, a header and its payload mostly, without loops,
 * which need more registers. */
WQE_INLINE int post_pair(struct mlx4_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad_wr,
			 enum send_kind kind, qp_post_send_fn *in_pieces)
{
	struct mlx4_sq *sq = &qp->sq;
	const struct ibv_sge *sge = wr->sg_list;
	struct place place;
	uint64_t length;
	uint32_t at;

	if (sq->max_sge < 2 || !inline_flags_are_usual(sq, wr, sq->wq.head, kind))
		return in_pieces(qp, wr, bad_wr);
	length = (uint64_t)sge[0].length + sge[1].length;
	if (length > sq->max_inline || length > wqe_inline_room(usual_head_size(wr, kind)))
		return in_pieces(qp, wr, bad_wr);
	place = place_at(sq, wr, sq->wq.head);
	at = put_usual_head(place.ctrl, wr, kind);
	at = wqe_put_pair_inline(place.ctrl, at, sge, (uint32_t)length);
	finish_short(qp, wr, &place, at, kind);
	return 0;
}

WQE_INLINE void ring_for_one(struct mlx4_qp *qp, uint32_t head, bool shared)
{
	qp->sq.wq.head = head + 1;
	doorbell_send(&qp->sq);
	if (shared)
		qlock_drop(&qp->sq_lock);
}

WQE_INLINE void post_one(struct mlx4_qp *qp, const struct ibv_send_wr *wr, struct one one)
{
	const uint32_t head = qp->sq.wq.head, size = put_usual(qp, wr, head, one.kind);

	if (one.stamps)
		sq_stamp_ahead(&qp->sq, one.kind, head, size);
	ring_for_one(qp, head, one.shared);
}

enum { LONG_SGES = M4_PIECE / M4_SEG };

/* Post a request with several SGEs. Return false if it needs the slow path. The variant for four
 * SGEs checks nothing about their number. */
WQE_INLINE bool post_wide(struct mlx4_qp *qp, const struct ibv_send_wr *wr, struct one one)
{
	const uint32_t head = qp->sq.wq.head, size = put_wide(qp, wr, head, one.kind);

	if (unlikely(!size))
		return false;
	if (one.stamps && likely(wr->num_sge > LONG_SGES))
		sq_stamp_ahead_of_long(&qp->sq, one.kind, head);
	else if (one.stamps)
		sq_stamp_ahead(&qp->sq, one.kind, head, size);
	ring_for_one(qp, head, one.shared);
	return true;
}

WQE_INLINE bool post_four(struct mlx4_qp *qp, const struct ibv_send_wr *wr, struct one one)
{
	const uint32_t head = qp->sq.wq.head;
	const struct place place = place_at(&qp->sq, wr, head);
	uint32_t at = put_usual_head(place.ctrl, wr, one.kind);

	if (unlikely(!wqe_put_four_sges(place.ctrl + at, wr->sg_list)))
		return false;
	put_usual_rest(qp, wr, &place, at + LONG_SGES * M4_SEG, one.kind);
	hand_over(qp, place.ctrl, head, usual.opcode[place.opcode]);
	sq_stamp_ahead_of_long(&qp->sq, one.kind, head);
	ring_for_one(qp, head, one.shared);
	return true;
}

WQE_INLINE int post_unusual(struct mlx4_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad_wr,
			    put_any_fn *puts_any)
{
	const uint32_t head = qp->sq.wq.head;
	bool rings = false;
	int ret = puts_any(qp, wr, head, true, &rings);

	if (unlikely(ret))
		*bad_wr = wr;
	else
		qp->sq.wq.head = head + 1;
	if (rings)
		doorbell_send(&qp->sq);
	qlock_leave(&qp->sq_lock);
	return ret;
}

#define OUT_OF_LINE static int __attribute__((noinline))

/* ---- a single request on a memory key: the same for connected QPs of all kinds ---- */

WQE_INLINE bool may_post(const struct mlx4_sq *sq, enum ibv_wr_opcode opcode)
{
	return sq->opcodes & 1u << opcode && sq->wq.head != sq->wq.limit;
}

/* Rights of most windows. mw_access_is_wrong() refuses none of them, so they need no further
 * check. */
#define USUAL_BIND_ACCESS                                                            \
	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | \
	 IBV_ACCESS_REMOTE_ATOMIC)

/* Returns whether the binding is valid, without the full mlx4_check_bind(), and has a region. */
WQE_INLINE bool bind_is_usual(const struct mlx4_qp *qp, const struct ibv_mw *mw,
			      const struct ibv_mw_bind_info *bind)
{
	struct ibv_mr *mr = bind->mr;
	const struct ibv_pd *pd = qp->vqp.qp.pd;

	return mr && mw->pd == pd && mr->pd == pd && bind->mw_access_flags <= USUAL_BIND_ACCESS &&
	       !(to_vmr(mr)->access & IBV_ACCESS_ZERO_BASED);
}

WQE_INLINE struct place place_on_key(const struct mlx4_sq *sq, enum ibv_wr_opcode opcode)
{
	const uint32_t head = sq->wq.head;

	return (struct place){ sq_slot(sq, head), wq_slot_at(&sq->wq, head), opcode, head };
}

WQE_INLINE int post_on_key(struct mlx4_qp *qp, const struct place *place, uint64_t wr_id,
			   unsigned int send_flags, bool shared, bool stamps)
{
	put_rest_on_key(&qp->sq, place, wr_id, send_flags);
	hand_over(qp, place->ctrl, place->head, send_ops[place->opcode].opcode);
	if (stamps)
		sq_stamp_ahead(&qp->sq, SEND_CONNECTED, place->head, M4_BIND_END);
	ring_for_one(qp, place->head, shared);
	return 0;
}

WQE_INLINE int post_bind(struct mlx4_qp *qp, const struct ibv_send_wr *wr, bool shared, bool stamps)
{
	const struct place place = place_on_key(&qp->sq, IBV_WR_BIND_MW);
	const struct ibv_mw_bind_info *bind = &wr->bind_mw.bind_info;

	wqe_put_bind(place.ctrl, wr->bind_mw.mw, wr->bind_mw.rkey, bind->mr->lkey, bind);
	return post_on_key(qp, &place, wr->wr_id, wr->send_flags, shared, stamps);
}

WQE_INLINE int post_inval(struct mlx4_qp *qp, const struct ibv_send_wr *wr, bool shared,
			  bool stamps)
{
	const struct place place = place_on_key(&qp->sq, IBV_WR_LOCAL_INV);

	wqe_put_inval(place.ctrl, wr->invalidate_rkey);
	return post_on_key(qp, &place, wr->wr_id, wr->send_flags, shared, stamps);
}

WQE_INLINE bool may_bind(const struct mlx4_qp *qp, const struct ibv_mw *mw,
			 const struct ibv_mw_bind *bind)
{
	return may_post(&qp->sq, IBV_WR_BIND_MW) && bind_is_usual(qp, mw, &bind->bind_info);
}

WQE_INLINE int bind_mw(struct mlx4_qp *qp, struct ibv_mw *mw, const struct ibv_mw_bind *bind,
		       bool shared, bool stamps)
{
	const struct place place = place_on_key(&qp->sq, IBV_WR_BIND_MW);
	const uint32_t rkey = mw->rkey = ibv_inc_rkey(mw->rkey);

	wqe_put_bind(place.ctrl, mw, rkey, bind->bind_info.mr->lkey, &bind->bind_info);
	return post_on_key(qp, &place, bind->wr_id, bind->send_flags, shared, stamps);
}

#define BIND_ROUTINE(name, stamps)                                                                \
	OUT_OF_LINE name##_exchange(struct mlx4_qp *qp, struct ibv_mw *mw,                        \
				    struct ibv_mw_bind *bind)                                     \
	{                                                                                         \
		qlock_take(&qp->sq_lock);                                                         \
		if (likely(may_bind(qp, mw, bind)))                                               \
			return bind_mw(qp, mw, bind, true, stamps);                               \
		qlock_drop(&qp->sq_lock);                                                         \
		return provider_mw_bind(&qp->vqp.qp, mw, bind);                                   \
	}                                                                                         \
	static int name(struct mlx4_qp *qp, struct ibv_mw *mw, struct ibv_mw_bind *bind)          \
	{                                                                                         \
		if (likely(may_bind(qp, mw, bind)))                                               \
			return bind_mw(qp, mw, bind, false, stamps);                              \
		return provider_mw_bind(&qp->vqp.qp, mw, bind);                                   \
	}                                                                                         \
	static int name##_locked(struct mlx4_qp *qp, struct ibv_mw *mw, struct ibv_mw_bind *bind) \
	{                                                                                         \
		return qlock_is_idle(&qp->sq_lock) ? name(qp, mw, bind)                           \
						   : name##_exchange(qp, mw, bind);               \
	}

BIND_ROUTINE(bind_window, false)
BIND_ROUTINE(bind_window_large, true)

/* ---- parts shared by all routines of a kind: they use the QP instead of struct one ---- */

#define POST_ARGS struct mlx4_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad_wr

#define KIND_PARTS(name, kind)                                                          \
	OUT_OF_LINE put_any_##name(struct mlx4_qp *qp, const struct ibv_send_wr *wr,    \
				   uint32_t head, bool alone, bool *rings)              \
	{                                                                               \
		return put_any(qp, wr, head, kind, alone, rings);                       \
	}                                                                               \
	OUT_OF_LINE put_listed_##name(struct mlx4_qp *qp, const struct ibv_send_wr *wr, \
				      uint32_t head, bool alone, bool *rings)           \
	{                                                                               \
		(void)alone;                                                            \
		return put_listed(qp, wr, head, kind, put_any_##name, rings);           \
	}                                                                               \
	OUT_OF_LINE put_short_##name(struct mlx4_qp *qp, const struct ibv_send_wr *wr,  \
				     uint32_t head, bool alone, bool *rings)            \
	{                                                                               \
		(void)alone;                                                            \
		return put_listed_short(qp, wr, head, kind, put_listed_##name, rings);  \
	}                                                                               \
	OUT_OF_LINE list_##name(POST_ARGS)                                              \
	{                                                                               \
		return post_list(qp, wr, bad_wr, put_short_##name, kind, false);        \
	}                                                                               \
	OUT_OF_LINE list_##name##_large(POST_ARGS)                                      \
	{                                                                               \
		return post_list(qp, wr, bad_wr, put_short_##name, kind, true);         \
	}                                                                               \
	OUT_OF_LINE other_##name(POST_ARGS)                                             \
	{                                                                               \
		return post_unusual(qp, wr, bad_wr, put_any_##name);                    \
	}

KIND_PARTS(connected, SEND_CONNECTED)
KIND_PARTS(datagram, SEND_DATAGRAM)
KIND_PARTS(xrc, SEND_XRC)
KIND_PARTS(raw, SEND_RAW)

#define PIECES_PART(name, kind)                                         \
	OUT_OF_LINE pieces_##name(POST_ARGS)                            \
	{                                                               \
		return post_pieces(qp, wr, bad_wr, kind, other_##name); \
	}                                                               \
	OUT_OF_LINE pair_##name(POST_ARGS)                              \
	{                                                               \
		return post_pair(qp, wr, bad_wr, kind, pieces_##name);  \
	}

PIECES_PART(connected, SEND_CONNECTED)
PIECES_PART(datagram, SEND_DATAGRAM)

/* ---- routines of a QP ----
 *
 *   call -> enter_for_one -> post_one             one SGE: the straight line
 *                         -> one_with_inline      else PAIR, else PIECES, else UNUSUAL
 *                         -> one_with_four_sges   -> one_with_sges, else UNUSUAL
 *                         -> LIST, PAIR, PIECES, UNUSUAL   the parts that all QPs of a kind share
 *
 * Each arrow to the right is a call of a function out of line, so that the registers that a part
 * saves cost the others nothing. QPs of rare kinds have the straight line and the shared parts. */

struct one_parts {
	qp_post_send_fn *list, *unusual, *with_inline, *with_sges;
};

/* Posts a usual request on a memory key, or calls OTHER. OTHER is out of line, so that the
 * registers that it saves cost nothing here. */
WQE_INLINE int one_on_key(struct mlx4_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad_wr,
			  struct one one, qp_post_send_fn *other)
{
	const struct mlx4_sq *sq = &qp->sq;

	if (wr->opcode == IBV_WR_BIND_MW && may_post(sq, IBV_WR_BIND_MW) &&
	    bind_is_usual(qp, wr->bind_mw.mw, &wr->bind_mw.bind_info))
		return post_bind(qp, wr, one.shared, one.stamps);
	if (wr->opcode == IBV_WR_LOCAL_INV && may_post(sq, IBV_WR_LOCAL_INV))
		return post_inval(qp, wr, one.shared, one.stamps);
	return other(qp, wr, bad_wr);
}

WQE_INLINE int one_with_inline(struct mlx4_qp *qp, struct ibv_send_wr *wr,
			       struct ibv_send_wr **bad_wr, struct one one,
			       qp_post_send_fn *in_pair, qp_post_send_fn *in_pieces)
{
	if (likely(is_usual_inline(&qp->sq, wr, qp->sq.wq.head, one.kind)))
		return post_inline(qp, wr, one);
	return wr->num_sge == 2 ? in_pair(qp, wr, bad_wr) : in_pieces(qp, wr, bad_wr);
}

WQE_INLINE int one_with_sges(struct mlx4_qp *qp, struct ibv_send_wr *wr,
			     struct ibv_send_wr **bad_wr, struct one one, qp_post_send_fn *unusual)
{
	if (likely((uint32_t)wr->num_sge - 1 < qp->sq.max_sge && post_wide(qp, wr, one)))
		return 0;
	return unusual(qp, wr, bad_wr);
}

WQE_INLINE int one_with_four_sges(struct mlx4_qp *qp, struct ibv_send_wr *wr,
				  struct ibv_send_wr **bad_wr, struct one one,
				  qp_post_send_fn *with_sges)
{
	if (SGES_ARE_WHOLE && one.stamps && wr->num_sge == LONG_SGES &&
	    qp->sq.max_sge >= LONG_SGES && likely(post_four(qp, wr, one)))
		return 0;
	return with_sges(qp, wr, bad_wr);
}

WQE_INLINE int enter_for_one(struct mlx4_qp *qp, struct ibv_send_wr *wr,
			     struct ibv_send_wr **bad_wr, struct one one, struct one_parts parts)
{
	if (one.shared)
		qlock_take(&qp->sq_lock);
	if (unlikely(!wr || wr->next))
		return parts.list(qp, wr, bad_wr);
	if (unlikely(!opcode_is_usual(&qp->sq, wr->opcode, one.kind)))
		return parts.unusual(qp, wr, bad_wr);
	if (unlikely(!is_usual(&qp->sq, wr, qp->sq.wq.head, one.kind)))
		return wr->send_flags & IBV_SEND_INLINE ? parts.with_inline(qp, wr, bad_wr)
							: parts.unusual(qp, wr, bad_wr);
	if (unlikely(wr->num_sge != 1))
		return parts.with_sges(qp, wr, bad_wr);
	post_one(qp, wr, one);
	return 0;
}

#define ENTRY(name, list, unusual, with_inline, with_sges, ...)                                    \
	WQE_INLINE int name##_here(POST_ARGS)                                                      \
	{                                                                                          \
		return enter_for_one(qp, wr, bad_wr, (struct one){ __VA_ARGS__ },                  \
				     (struct one_parts){ list, unusual, with_inline, with_sges }); \
	}                                                                                          \
	OUT_OF_LINE name(POST_ARGS)                                                                \
	{                                                                                          \
		return name##_here(qp, wr, bad_wr);                                                \
	}

#define ROUTINE(name, list, kind, unusual, ...)                                                  \
	OUT_OF_LINE name##_inline(POST_ARGS)                                                     \
	{                                                                                        \
		return one_with_inline(qp, wr, bad_wr, (struct one){ __VA_ARGS__ }, pair_##kind, \
				       pieces_##kind);                                           \
	}                                                                                        \
	OUT_OF_LINE name##_sges(POST_ARGS)                                                       \
	{                                                                                        \
		return one_with_sges(qp, wr, bad_wr, (struct one){ __VA_ARGS__ }, unusual);      \
	}                                                                                        \
	OUT_OF_LINE name##_four_sges(POST_ARGS)                                                  \
	{                                                                                        \
		return one_with_four_sges(qp, wr, bad_wr, (struct one){ __VA_ARGS__ },           \
					  name##_sges);                                          \
	}                                                                                        \
	ENTRY(name, list, unusual, name##_inline, name##_four_sges, __VA_ARGS__)

/* In a process with one thread, only checks that the lock is free, which saves no registers; taking
 * the lock is a separate function, whose frame the usual path does not pay for. */
#define LOCKED_ROUTINE(name)                                                                  \
	static int name##_locked(POST_ARGS)                                                   \
	{                                                                                     \
		return likely(qlock_is_idle(&qp->sq_lock)) ? name##_here(qp, wr, bad_wr)      \
							   : name##_exchange(qp, wr, bad_wr); \
	}

#define ON_KEYS(name, other, ...)                                                      \
	OUT_OF_LINE name##_on_key(POST_ARGS)                                           \
	{                                                                              \
		return one_on_key(qp, wr, bad_wr, (struct one){ __VA_ARGS__ }, other); \
	}

ON_KEYS(post_connected, other_connected, SEND_CONNECTED, false, false)
ON_KEYS(post_connected_large, other_connected, SEND_CONNECTED, false, true)
ON_KEYS(post_connected_exchange, other_connected, SEND_CONNECTED, true, false)
ON_KEYS(post_connected_large_exchange, other_connected, SEND_CONNECTED, true, true)

ROUTINE(post_connected, list_connected, connected, post_connected_on_key, SEND_CONNECTED, false,
	false)
ROUTINE(post_connected_large, list_connected_large, connected, post_connected_large_on_key,
	SEND_CONNECTED, false, true)
ROUTINE(post_connected_exchange, list_connected, connected, post_connected_exchange_on_key,
	SEND_CONNECTED, true, false)
ROUTINE(post_connected_large_exchange, list_connected_large, connected,
	post_connected_large_exchange_on_key, SEND_CONNECTED, true, true)
LOCKED_ROUTINE(post_connected)
LOCKED_ROUTINE(post_connected_large)

ROUTINE(post_datagram, list_datagram, datagram, other_datagram, SEND_DATAGRAM, false, false)
ROUTINE(post_datagram_large, list_datagram_large, datagram, other_datagram, SEND_DATAGRAM, false,
	true)
ROUTINE(post_datagram_exchange, list_datagram, datagram, other_datagram, SEND_DATAGRAM, true, false)
ROUTINE(post_datagram_large_exchange, list_datagram_large, datagram, other_datagram, SEND_DATAGRAM,
	true, true)
LOCKED_ROUTINE(post_datagram)
LOCKED_ROUTINE(post_datagram_large)

#define RARE_ROUTINE(name, list, unusual, ...) \
	ENTRY(name, list, unusual, unusual, unusual, __VA_ARGS__)

ON_KEYS(post_xrc, other_xrc, SEND_XRC, false, false)
ON_KEYS(post_xrc_large, other_xrc, SEND_XRC, false, true)
ON_KEYS(post_xrc_exchange, other_xrc, SEND_XRC, true, false)
ON_KEYS(post_xrc_large_exchange, other_xrc, SEND_XRC, true, true)

RARE_ROUTINE(post_xrc, list_xrc, post_xrc_on_key, SEND_XRC, false, false)
RARE_ROUTINE(post_xrc_large, list_xrc_large, post_xrc_large_on_key, SEND_XRC, false, true)
RARE_ROUTINE(post_xrc_exchange, list_xrc, post_xrc_exchange_on_key, SEND_XRC, true, false)
RARE_ROUTINE(post_xrc_large_exchange, list_xrc_large, post_xrc_large_exchange_on_key, SEND_XRC,
	     true, true)
LOCKED_ROUTINE(post_xrc)
LOCKED_ROUTINE(post_xrc_large)

RARE_ROUTINE(post_raw, list_raw, other_raw, SEND_RAW, false, false)
RARE_ROUTINE(post_raw_large, list_raw_large, other_raw, SEND_RAW, false, true)
RARE_ROUTINE(post_raw_exchange, list_raw, other_raw, SEND_RAW, true, false)
RARE_ROUTINE(post_raw_large_exchange, list_raw_large, other_raw, SEND_RAW, true, true)
LOCKED_ROUTINE(post_raw)
LOCKED_ROUTINE(post_raw_large)

#define ROUTINES_OF(name)                                  \
	{                                                  \
		{ name, name##_large },                    \
		{                                          \
			name##_locked, name##_large_locked \
		}                                          \
	}

qp_post_send_fn *mlx4_post_send_routine(const struct mlx4_qp *qp)
{
	static qp_post_send_fn *const routines[SEND_KINDS][2][2] = {
		[SEND_CONNECTED] = ROUTINES_OF(post_connected),
		[SEND_DATAGRAM] = ROUTINES_OF(post_datagram),
		[SEND_XRC] = ROUTINES_OF(post_xrc),
		[SEND_RAW] = ROUTINES_OF(post_raw),
	};

	return routines[qp->kind][qp->sq_lock.shared][sq_has_stamps(&qp->sq)];
}

int mlx4_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad_wr)
{
	struct mlx4_qp *mqp = to_mqp(qp);

	__asm__("" : "+r"(mqp)); /* computed first, since the callee needs this address */
	return mqp->post_send(mqp, wr, bad_wr);
}

/* Returns the routine for bindings. A QP that cannot bind, in its present state or at all, takes
 * the slow path, which logs the reason. */
qp_bind_mw_fn *mlx4_bind_mw_routine(const struct mlx4_qp *qp)
{
	static qp_bind_mw_fn *const routines[2][2] = ROUTINES_OF(bind_window);

	return routines[qp->sq_lock.shared][sq_has_stamps(&qp->sq)];
}

int mlx4_bind_mw(struct ibv_qp *qp, struct ibv_mw *mw, struct ibv_mw_bind *bind)
{
	struct mlx4_qp *mqp = to_mqp(qp);

	/* a QP of another context may belong to another provider, whose struct differs */
	if (unlikely(qp->context != mw->context))
		return provider_mw_bind(qp, mw, bind);
	return mqp->bind_mw(mqp, mw, bind);
}

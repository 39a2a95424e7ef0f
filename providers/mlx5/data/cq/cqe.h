/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cqe.h - reads the CQ ring: the only decoder of CQEs, for ibv_poll_cq() and for the extended
 * readers.
 *
 * cqe_take() finds the next CQE, completes its request, and returns wr_id and status.
 * cqe_take_usual() is its fast path. All other fields are decoded by the cqe_*() functions when a
 * caller needs them. The callers, poll_cq.c and cq_ex.c, hold the CQ's lock, if it has one, and
 * publish the consumer index at the end.
 */
#ifndef PROVIDERS_MLX5_DATA_CQ_CQE_H
#define PROVIDERS_MLX5_DATA_CQ_CQE_H

#include <endian.h>

#include "prm/mlx5/cqe.h"
#include "providers/common/cq_resize.h"
#include "providers/common/seg.h"
#include "providers/mlx5/cq.h"
#include "providers/mlx5/data/cq/poll.h"
#include "providers/mlx5/srq.h"
#include "util/barrier.h"

#define CQE_INLINE __attribute__((always_inline)) static inline

struct completion {
	const struct mlx5_cqe64 *cqe;
	uint64_t wr_id;
	enum ibv_wc_status status;
	unsigned int opcode;
	uint32_t extra;
};

/* Takes an uncommon completion: a payload inside the CQE, or an error. Must run before the request
 * counts as completed, because it reads the request's WQE. Returns the status, or a negative number
 * if the CQE completes nothing. */
int mlx5_cqe_take_exception(const struct mlx5_cq *cq, struct mlx5_rq *rq,
			    const struct mlx5_cqe64 *cqe);
/* Returns the status to report for an error CQE (cqe_error.c), or a negative number if it is not
 * reported. Logs an explanation of the first error of RQ. */
int mlx5_cqe_take_error(const struct mlx5_cq *cq, struct mlx5_rq *rq, const struct mlx5_cqe64 *cqe);
/* Returns whether an SRQ's CQE reports a page fault: a page of an on-demand buffer was absent. Its
 * request then stays unanswered. */
static inline bool cqe_is_page_fault(const struct mlx5_cqe64 *cqe)
{
	const struct mlx5_err_cqe *err = (const struct mlx5_err_cqe *)cqe;

	return cqe->op_own >> FLD_SHIFT(CQE_OPCODE) == MLX5_CQE_RESP_ERR &&
	       err->syndrome == MLX5_CQE_SYNDROME_REMOTE_ABORTED_ERR &&
	       err->vendor_err_synd == MLX5_CQE_VENDOR_SYNDROME_ODP_PFAULT;
}

/* Logs a completion of an object that does not exist. Returns false if the caller must look at the
 * CQE again, because the CQ's table of queues was restored only now. */
bool mlx5_cqe_take_stray(struct mlx5_cq *cq, const struct mlx5_cqe64 *cqe);

/* Result of a receive that is not simply the next one of its queue. Returned by value, so that a
 * struct completion can stay in registers. */
struct special_completion {
	uint64_t wr_id;
	/* wc_flags of the completion. With opcode MLX5_CQE_NO_PACKET, which tag matching sets: enum
	 * ibv_wc_opcode, and wc_flags above it, as in struct wq_slot. */
	uint32_t wc_flags;
	uint8_t status;
	uint8_t opcode;
};

struct special_completion mlx5_cqe_complete_special(struct mlx5_rq *rq,
						    const struct mlx5_cqe64 *cqe, int status);

CQE_INLINE struct mlx5_cqe64 *cqe_at(const struct mlx5_cq *cq, uint32_t index)
{
	return (struct mlx5_cqe64 *)(cq->ring + ((size_t)(index & cq->mask) << cq->entry_log));
}

/* PRM: CQE ownership. The owner bit flips with each lap of the ring; mlx5_cq_ring_init() has set it
 * as for the lap before the first. */
CQE_INLINE bool cqe_is_sw_owned(const struct mlx5_cq *cq, const struct mlx5_cqe64 *cqe,
				uint32_t index)
{
	uint8_t op_own = __atomic_load_n(&cqe->op_own, __ATOMIC_RELAXED);

	uint32_t count_log = __atomic_load_n(&cq->count_log, __ATOMIC_RELAXED);

	return !((op_own ^ (index >> count_log)) & MLX5_CQE_OWNER_MASK);
}

CQE_INLINE unsigned int cqe_opcode(const struct mlx5_cqe64 *cqe)
{
	return cqe->op_own >> FLD_SHIFT(CQE_OPCODE);
}

CQE_INLINE bool opcode_is_request(unsigned int opcode)
{
	return opcode == MLX5_CQE_REQ || opcode == MLX5_CQE_REQ_ERR;
}

CQE_INLINE bool op_own_is_exception(uint8_t op_own)
{
	return op_own & FLD_BITS(CQE_FORMAT) ||
	       op_own >> FLD_SHIFT(CQE_OPCODE) > MLX5_CQE_RESP_SEND_INV;
}

CQE_INLINE uint32_t cqe_rsn_raw(const struct mlx5_cq *cq, const struct mlx5_cqe64 *cqe)
{
	return *(const __be32 *)((const uint8_t *)cqe + cq->rsn_offset) &
	       htobe32(FLD_MASK(CQE_QPN));
}

/* Looks up the queue with number RAW and caches it in cq->rsn_rq. Returns false if no such queue
 * exists, or if the CQE is a signature error, which has a syndrome and a domain in the field of the
 * number. Caching a queue that matches by chance would be unsafe: it may belong to other CQs, and
 * then its destruction would not remove it from this cache. PRM: Signature Error CQE */
CQE_INLINE bool cqe_look_up(struct mlx5_cq *cq, const struct mlx5_cqe64 *cqe, __be32 raw)
{
	struct mlx5_rq *rq;

	if (unlikely(cqe_opcode(cqe) == MLX5_CQE_SIG_ERR))
		return false;
	rq = id_find(cq->ids, be32toh(raw));
	cq->poll = mlx5_cq_poll_any;
	cq->rsn_rq = rq;
	cq->rsn_raw = rq ? raw : CQ_RSN_NONE;
	return rq;
}

/* Forgets the cached queue. The loop cq->poll may stay, because each loop finds the queue of a CQE
 * before it reads that queue. */
CQE_INLINE void cqe_forget_rq(struct mlx5_cq *cq)
{
	cq->rsn_rq = NULL;
	cq->rsn_raw = CQ_RSN_NONE;
}

/* Returns the queue of a CQE that is no signature error, or NULL if no such queue exists. */
CQE_INLINE struct mlx5_rq *cqe_other_rq(const struct mlx5_cq *cq, const struct mlx5_cqe64 *cqe)
{
	return id_find(cq->ids, be32toh(cqe_rsn_raw(cq, cqe)));
}

/* Caches the queue of the CQE. The loop cq->poll must fit the queue. */
CQE_INLINE void cqe_set_rq(struct mlx5_cq *cq, const struct mlx5_cqe64 *cqe, struct mlx5_rq *rq)
{
	cq->rsn_rq = rq;
	cq->rsn_raw = cqe_rsn_raw(cq, cqe);
}

CQE_INLINE bool cqe_is_of_rsn_rq(const struct mlx5_cq *cq, const struct mlx5_cqe64 *cqe)
{
	return likely(cqe_rsn_raw(cq, cqe) == cq->rsn_raw);
}

/* Sets cq->rsn_rq to the queue of the CQE, or returns false if it does not exist. Usually the
 * previous CQE was of the same queue. */
CQE_INLINE bool cqe_find_rq(struct mlx5_cq *cq, const struct mlx5_cqe64 *cqe)
{
	__be32 raw = cqe_rsn_raw(cq, cqe);

	return likely(raw == cq->rsn_raw) || cqe_look_up(cq, cqe, raw);
}

/* Returns whether the next CQE has arrived, and its index in *CI. A result without the lock is
 * valid if cq->ci is unchanged when the lock is taken: a resize replaces the ring before the index
 * (providers/common/cq_resize.c). */
CQE_INLINE bool cqe_peek(const struct mlx5_cq *cq, const struct mlx5_cqe64 **cqe, uint32_t *ci)
{
	const uint8_t *ring;
	uint32_t mask;

	*ci = __atomic_load_n(&cq->ci, __ATOMIC_ACQUIRE);
	/* Read the mask before the ring, because a resize replaces the ring before the mask. */
	mask = __atomic_load_n(&cq->mask, __ATOMIC_ACQUIRE);
	ring = __atomic_load_n(&cq->ring, __ATOMIC_RELAXED);
	*cqe = (const struct mlx5_cqe64 *)(ring + ((size_t)(*ci & mask) << cq->entry_log));
	return cqe_is_sw_owned(cq, *cqe, *ci);
}

/* Returns whether the answer "none" of cqe_peek() without the lock is right. The index only grows,
 * so if the entry at a stale index has not arrived, no later one has. Only CQEs that arrived after
 * this call began can have overwritten that entry. */
CQE_INLINE bool cqe_is_none(const struct mlx5_cq *cq, uint32_t ci)
{
	return likely(provider_cq_saw_one_ring(&cq->is_moving, &cq->ci, ci));
}

/* ---- usual completions: inlined without calls, so that polling takes few instructions and saves
 * no registers
 */

/* Sets the byte count of an atomic. PRM: only READs and messages have a byte count in the CQE.
 * Software owns the CQE, so writing 8 there spares all readers the check. */
CQE_INLINE void cqe_count_atomic(const struct mlx5_cqe64 *cqe, struct completion *comp)
{
	((struct mlx5_cqe64 *)(uintptr_t)cqe)->byte_cnt = htobe32(ATOMIC_BYTES);
	comp->extra &= ~SQ_DONE_ATOMIC;
}

/* Returns the slot of a request. The WQE counter is the upper half of a word, so that one shift
 * turns it into a byte offset. */
CQE_INLINE const struct wq_slot *cqe_slot(const struct mlx5_sq *sq, const struct mlx5_cqe64 *cqe)
{
	enum { COUNTER_SHIFT = 16, SLOT_LOG = 4 };
	uint32_t word = be32toh(*(const __be32 *)&cqe->wqe_counter);
	uint32_t bytes = word >> (COUNTER_SHIFT - SLOT_LOG) & sq->done_mask;

	static_assert(sizeof(struct wq_slot) == 1 << SLOT_LOG &&
			      offsetof(struct mlx5_cqe64, wqe_counter) % sizeof(word) == 0,
		      "struct wq_slot; PRM: CQE");
	return (const struct wq_slot *)((const uint8_t *)sq->done_slots + bytes);
}

CQE_INLINE void cqe_complete_request(struct mlx5_rq *rq, const struct mlx5_cqe64 *cqe,
				     struct completion *comp)
{
	struct mlx5_sq *sq = &rq_qp(rq)->sq;

	comp->wr_id = wq_complete_slot(&sq->wq, cqe_slot(sq, cqe), &comp->extra);
	if (unlikely(comp->extra & SQ_DONE_ATOMIC))
		cqe_count_atomic(cqe, comp);
}

/* Copies a payload inside the CQE to the first buffer of its receive. Returns false and copies
 * nothing if the buffer is too short or the null region. */
CQE_INLINE bool cqe_copy_payload(const struct mlx5_cq *cq, const struct mlx5_wqe_data_seg *scatter,
				 const struct mlx5_cqe64 *cqe, unsigned int format)
{
	uint32_t len = be32toh(cqe->byte_cnt);
	uint8_t *to = (uint8_t *)(uintptr_t)be64toh(scatter->addr);

	if (unlikely(format > MLX5_INLINE_SCATTER_64 || len > be32toh(scatter->byte_count) ||
		     scatter->lkey == cq->null_lkey))
		return false;
	if (format == MLX5_INLINE_SCATTER_64)
		copy_small(to, (const uint8_t *)(cqe - 1), len);
	else
		copy_up_to_32(to, (const uint8_t *)cqe, len);
	return true;
}

CQE_INLINE bool cqe_take_from_rq(const struct mlx5_cq *cq, struct mlx5_rq *rq,
				 const struct mlx5_cqe64 *cqe, unsigned int format,
				 struct completion *comp)
{
	uint32_t tail, unit;

	order_observe(&rq->wq);
	tail = rq->wq.tail;
	unit = tail & rq->wq.mask;
	comp->wr_id = rq->wq.wr_ids[unit];
	if (format &&
	    !cqe_copy_payload(cq, (const void *)(rq->buf + ((size_t)unit << rq->stride_log)), cqe,
			      format))
		return false;
	wq_complete_oldest(&rq->wq, tail);
	return true;
}

CQE_INLINE bool cqe_take_from_srq(const struct mlx5_cq *cq, struct mlx5_srq *srq,
				  const struct mlx5_cqe64 *cqe, unsigned int format,
				  struct completion *comp)
{
	uint32_t index = be16toh(cqe->wqe_counter) & (srq->wqes - 1);

	if (format && !cqe_copy_payload(cq, (const void *)(srq_wqe(srq, index) + 1), cqe, format))
		return false;
	if (unlikely(!srq_try_complete(srq, index, &comp->wr_id)))
		return false;
	return true;
}

/* Returns whether OP_OWN, the last byte of a CQE, means a send request without payload in the CQE.
 * One compare covers opcode, format and payload flags, since all of them are 0. */
CQE_INLINE bool op_own_is_request(uint8_t op_own)
{
	return !(op_own & ~MLX5_CQE_OWNER_MASK);
}

/* Returns whether OP_OWN means a SEND without immediate data or key, with its payload in the CQE as
 * FORMAT tells. */
CQE_INLINE bool op_own_is_send(uint8_t op_own, unsigned int format)
{
	return (op_own & ~MLX5_CQE_OWNER_MASK) ==
	       (MLX5_CQE_RESP_SEND << FLD_SHIFT(CQE_OPCODE) | format);
}

/* Returns whether OP_OWN means the most common message to RQ: a SEND of up to 32 bytes to a queue
 * without SRQ. */
CQE_INLINE bool cqe_is_common_message(const struct mlx5_rq *rq, uint8_t op_own)
{
	return op_own_is_send(op_own, MLX5_INLINE_SCATTER_32) && !rq->special;
}

/* Returns the wc_flags for checksums. PRM: two adjacent bytes of the CQE have the packet type and
 * which of its checksums were right. */
CQE_INLINE uint32_t cqe_checksum_flags(const struct mlx5_cqe64 *cqe)
{
	enum {
		RIGHT = (MLX5_CQE_L3_OK | MLX5_CQE_L4_OK) << 8,
		TYPE_SHIFT = FLD_SHIFT(CQE_ETH_L3_TYPE) % 8,
		TYPE = FLD_MASK(CQE_ETH_L3_TYPE) << TYPE_SHIFT,
		IPV4 = MLX5_CQE_L3_HDR_TYPE_IPV4 << TYPE_SHIFT,
	};
	__be16 both;

	static_assert(offsetof(struct mlx5_cqe64, l4_hdr_type_etc) ==
			      offsetof(struct mlx5_cqe64, hds_ip_ext) + 1,
		      "PRM: CQE");
	memcpy(&both, &cqe->hds_ip_ext, sizeof(both));
	return (both & htobe16(RIGHT | TYPE)) == htobe16(RIGHT | IPV4) ? IBV_WC_IP_CSUM_OK : 0;
}

/* Returns whether a message whose CQE ends with OP_OWN must go through cqe.c. For a send request,
 * does not read RQ's cache lines, because the completion needs none of them. */
CQE_INLINE bool message_is_special(const struct mlx5_rq *rq, uint8_t op_own)
{
	return !op_own_is_request(op_own) && rq->special > RQ_SHARED &&
	       (rq->special == RQ_OTHER || !op_own_is_send(op_own, 0));
}

/* Takes a message to RQ. Returns false, with nothing done, if the message needs a slow path: the
 * caller can then start again from the CQE. */
CQE_INLINE bool cqe_take_message(const struct mlx5_cq *cq, struct mlx5_rq *rq,
				 const struct mlx5_cqe64 *cqe, uint8_t op_own,
				 struct completion *comp)
{
	unsigned int format = op_own & FLD_BITS(CQE_FORMAT);

	comp->extra = 0;
	/* Take the most common kind of message first, as all its tests are on constants. */
	if (cqe_is_common_message(rq, op_own)) {
		comp->opcode = MLX5_CQE_RESP_SEND;
		return cqe_take_from_rq(cq, rq, cqe, MLX5_INLINE_SCATTER_32, comp);
	}
	comp->opcode = op_own >> FLD_SHIFT(CQE_OPCODE);
	if (unlikely(comp->opcode - MLX5_CQE_RESP_WR_IMM >
		     MLX5_CQE_RESP_SEND_INV - MLX5_CQE_RESP_WR_IMM))
		return false;
	if (likely(!rq->special))
		return cqe_take_from_rq(cq, rq, cqe, format, comp);
	return rq->special == RQ_SHARED && cqe_take_from_srq(cq, rq->srq, cqe, format, comp);
}

/* Takes the frame in CQE if cq->rsn_rq reports checksums. Otherwise returns false, with nothing
 * done. */
CQE_INLINE bool cqe_take_frame(const struct mlx5_cq *cq, const struct mlx5_cqe64 *cqe,
			       struct completion *comp)
{
	struct mlx5_rq *rq = cq->rsn_rq;

	if (!rq || rq->special != RQ_CHECKED || !op_own_is_send(cqe->op_own, 0))
		return false;
	comp->cqe = cqe;
	comp->status = IBV_WC_SUCCESS;
	comp->opcode = MLX5_CQE_RESP_SEND;
	comp->extra = cqe_checksum_flags(cqe);
	return cqe_take_from_rq(cq, rq, cqe, 0, comp);
}

/* Returns whether CQE completes a request that the adapter flushed, as its QP is in an error. */
CQE_INLINE bool cqe_is_flush(const struct mlx5_cqe64 *cqe)
{
	const uint8_t kind = cqe->op_own & (uint8_t)~MLX5_CQE_OWNER_MASK;

	return (kind == MLX5_CQE_REQ_ERR << FLD_SHIFT(CQE_OPCODE) ||
		kind == MLX5_CQE_RESP_ERR << FLD_SHIFT(CQE_OPCODE)) &&
	       ((const struct mlx5_err_cqe *)cqe)->syndrome == MLX5_CQE_SYNDROME_WR_FLUSH_ERR;
}

/* Takes a flushed request of RQ's QP. A flush has no cause of its own, so there is nothing to log.
 * Returns false, with nothing changed, for a receive that is not simply the next one of its queue
 * and for a request that has already completed: cqe_error.c handles both. */
CQE_INLINE bool cqe_take_flush(struct mlx5_rq *rq, const struct mlx5_cqe64 *cqe,
			       struct completion *comp)
{
	struct mlx5_sq *sq = &rq_qp(rq)->sq;

	comp->cqe = cqe;
	comp->status = IBV_WC_WR_FLUSH_ERR;
	comp->opcode = cqe_opcode(cqe);
	if (comp->opcode == MLX5_CQE_REQ_ERR) {
		if (unlikely(cqe_slot(sq, cqe)->tail_after == sq->wq.tail))
			return false;
		cqe_complete_request(rq, cqe, comp);
		return true;
	}
	if (unlikely(rq->special))
		return false;
	comp->wr_id = wq_complete_next(&rq->wq);
	comp->extra = IBV_WC_RECV;
	return true;
}

/* Takes the completion in CQE, which software owns. Returns false, with nothing changed, if the
 * completion needs a slow path, which then begins anew. */
CQE_INLINE bool cqe_take_usual(struct mlx5_cq *cq, const struct mlx5_cqe64 *cqe,
			       struct completion *comp)
{
	uint8_t op_own = cqe->op_own;

	if (unlikely(!cqe_find_rq(cq, cqe)))
		return false;
	comp->cqe = cqe;
	comp->status = IBV_WC_SUCCESS;
	if (!op_own_is_request(op_own))
		return cqe_take_message(cq, cq->rsn_rq, cqe, op_own, comp);
	comp->opcode = MLX5_CQE_REQ;
	cqe_complete_request(cq->rsn_rq, cqe, comp);
	return true;
}

/* ---- any completion */

/* Takes the next completion, at *CI, and advances *CI. Returns false if there is none. The caller
 * writes the index back to the CQ once for all entries, which costs one store and one doorbell
 * record. */
CQE_INLINE bool cqe_take(struct mlx5_cq *cq, uint32_t *ci, struct completion *comp)
{
	for (;;) {
		const struct mlx5_cqe64 *cqe = cqe_at(cq, *ci);
		int status = IBV_WC_SUCCESS;
		struct mlx5_rq *rq;
		uint8_t op_own;

		if (!cqe_is_sw_owned(cq, cqe, *ci))
			return false;
		/* The adapter writes the ownership bit last: a load of the rest before the check
		 * may return bytes of the previous lap. */
		dma_load_barrier();
		++*ci;
		if (unlikely(!cqe_find_rq(cq, cqe))) {
			*ci -= !mlx5_cqe_take_stray(cq, cqe);
			continue;
		}
		rq = cq->rsn_rq;
		op_own = cqe->op_own;
		if (unlikely(op_own_is_exception(op_own)))
			status = mlx5_cqe_take_exception(cq, rq, cqe);
		if (unlikely(status < 0))
			continue;
		comp->cqe = cqe;
		comp->status = status;
		comp->opcode = op_own >> FLD_SHIFT(CQE_OPCODE);
		if (opcode_is_request(comp->opcode)) {
			cqe_complete_request(rq, cqe, comp);
		} else if (likely(!rq->special)) {
			comp->wr_id = wq_complete_next(&rq->wq);
			comp->extra = 0;
		} else {
			struct special_completion special =
				mlx5_cqe_complete_special(rq, cqe, status);

			comp->wr_id = special.wr_id;
			comp->extra = special.wc_flags;
			comp->status = special.status;
			comp->opcode = special.opcode;
		}
		return true;
	}
}

/* ---- fields of a completion beyond wr_id and status */

CQE_INLINE uint32_t cqe_send_opcode(const struct mlx5_cqe64 *cqe)
{
	return be32toh(cqe->sop_drop_qpn) >> FLD_SHIFT(CQE_SEND_OPCODE);
}

CQE_INLINE enum ibv_wc_opcode cqe_recv_wc_opcode(unsigned int opcode)
{
	return opcode == MLX5_CQE_RESP_WR_IMM ? IBV_WC_RECV_RDMA_WITH_IMM : IBV_WC_RECV;
}

CQE_INLINE enum ibv_wc_opcode cqe_wc_opcode(unsigned int opcode, uint32_t extra)
{
	/* 0 for opcodes that complete a send request, whose kind the CQE does not tell: EXTRA has
	 * it */
	static const uint8_t by_opcode[MLX5_CQE_INVALID + 1] = {
		[MLX5_CQE_RESP_WR_IMM] = IBV_WC_RECV_RDMA_WITH_IMM,
		[MLX5_CQE_RESP_SEND] = IBV_WC_RECV,
		[MLX5_CQE_RESP_SEND_IMM] = IBV_WC_RECV,
		[MLX5_CQE_RESP_SEND_INV] = IBV_WC_RECV,
		[MLX5_CQE_RESP_ERR] = IBV_WC_RECV,
	};
	unsigned int received = by_opcode[opcode];

	return received ? received : extra & WQ_DONE_OPCODE_MASK;
}

CQE_INLINE uint32_t cqe_byte_len(const struct mlx5_cqe64 *cqe)
{
	return be32toh(cqe->byte_cnt);
}

CQE_INLINE uint32_t cqe_qpn(const struct mlx5_cqe64 *cqe)
{
	return be32toh(cqe->sop_drop_qpn) & FLD_MASK(CQE_QPN);
}

CQE_INLINE uint32_t cqe_src_qp(const struct mlx5_cqe64 *cqe)
{
	return be32toh(cqe->flags_rqpn) & FLD_MASK(CQE_RQPN);
}

CQE_INLINE uint8_t cqe_sl(const struct mlx5_cqe64 *cqe)
{
	return be32toh(cqe->flags_rqpn) >> FLD_SHIFT(CQE_SL) & FLD_MASK(CQE_SL);
}

CQE_INLINE uint16_t cqe_slid(const struct mlx5_cqe64 *cqe)
{
	return be16toh(cqe->slid);
}

CQE_INLINE uint8_t cqe_path_bits(const struct mlx5_cqe64 *cqe)
{
	return cqe->ml_path & FLD_MASK(CQE_PATH_BITS);
}

/* In an ibv_wc, immediate data is in network order, and an invalidated key is not
 * (ibv_poll_cq(3)). */
CQE_INLINE uint32_t cqe_imm(const struct mlx5_cqe64 *cqe, unsigned int opcode)
{
	return opcode == MLX5_CQE_RESP_SEND_INV ? be32toh(cqe->imm_inval_pkey)
						: cqe->imm_inval_pkey;
}

CQE_INLINE unsigned int cqe_grh_flag(const struct mlx5_cqe64 *cqe)
{
	return cqe->flags_rqpn & htobe32(FLD_BITS(CQE_GRH)) ? IBV_WC_GRH : 0;
}

CQE_INLINE unsigned int cqe_recv_flags(const struct mlx5_cqe64 *cqe, unsigned int opcode)
{
	static const uint8_t by_opcode[] = {
		[MLX5_CQE_RESP_WR_IMM] = IBV_WC_WITH_IMM,
		[MLX5_CQE_RESP_SEND] = 0,
		[MLX5_CQE_RESP_SEND_IMM] = IBV_WC_WITH_IMM,
		[MLX5_CQE_RESP_SEND_INV] = IBV_WC_WITH_INV,
	};

	return by_opcode[opcode] | cqe_grh_flag(cqe);
}

CQE_INLINE uint32_t cqe_vendor_err(const struct mlx5_cqe64 *cqe)
{
	return ((const struct mlx5_err_cqe *)cqe)->vendor_err_synd;
}

#endif

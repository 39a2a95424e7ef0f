/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * poll_cq.c - ibv_poll_cq(): copies completions, which cqe.h decodes, to ibv_wc.
 *
 * Programs call mlx5_poll_cq() through context->ops. It continues in the function cq->poll, a loop
 * for one kind of completion. A completion of another kind goes to mlx5_cq_poll_any(), which
 * continues in poll_mixed(), or in poll_rest() for slow paths. It enters another loop only for the
 * last completion of a poll, so that the stack does not grow with num_entries even if the compiler
 * makes no tail calls.
 * PRM: CQE ownership
 */
#ifdef __AVX__
#include <immintrin.h>
#endif

#include "providers/mlx5/data/cq/cqe.h"
#include "providers/mlx5/data/doorbell.h"
#include "providers/mlx5/data/cq/poll.h"

CQE_INLINE void wc_fill_request(struct ibv_wc *wc, const struct mlx5_cqe64 *cqe, uint32_t qpn,
				uint32_t noted)
{
	wc->opcode = noted & WQ_DONE_OPCODE_MASK;
	wc->byte_len = cqe_byte_len(cqe);
	wc->qp_num = qpn;
	wc->wc_flags = noted >> WQ_DONE_FLAGS_SHIFT;
}

/* Fills wc for a message. Most messages are SENDs without immediate data or key, for which the
 * fields that depend on the opcode are constants. */
CQE_INLINE void wc_fill_message(struct ibv_wc *wc, const struct mlx5_cqe64 *cqe,
				unsigned int opcode, uint32_t wc_flags)
{
	if (likely(opcode == MLX5_CQE_RESP_SEND)) {
		wc->opcode = IBV_WC_RECV;
		wc->imm_data = cqe->imm_inval_pkey;
		wc->wc_flags = cqe_grh_flag(cqe) | wc_flags;
		wc->pkey_index = (uint16_t)be32toh(cqe->imm_inval_pkey);
		return;
	}
	wc->opcode = cqe_recv_wc_opcode(opcode);
	wc->imm_data = cqe_imm(cqe, opcode);
	wc->wc_flags = cqe_recv_flags(cqe, opcode) | wc_flags;
	wc->pkey_index = 0;
}

CQE_INLINE void wc_fill_receive(struct ibv_wc *wc, const struct mlx5_cqe64 *cqe,
				unsigned int opcode, uint32_t wc_flags)
{
	uint32_t flags_rqpn = be32toh(cqe->flags_rqpn);

	wc_fill_message(wc, cqe, opcode, wc_flags);
	wc->byte_len = cqe_byte_len(cqe);
	wc->qp_num = cqe_qpn(cqe);
	wc->src_qp = flags_rqpn & FLD_MASK(CQE_RQPN);
	wc->slid = cqe_slid(cqe);
	wc->sl = flags_rqpn >> FLD_SHIFT(CQE_SL) & FLD_MASK(CQE_SL);
	wc->dlid_path_bits = cqe_path_bits(cqe);
}

/* For a SEND without immediate data or key, the same code fills a send and a receive. */
#ifdef __AVX__
/* A shuffle builds 16 bytes of an ibv_wc from 16 bytes of a CQE; its mask has the source byte of
 * each result byte. The macros name the bytes of a big-endian CQE field as a little-endian field of
 * 8, 16 or 32 bits. The source starts at offset FROM of the CQE. LE_LOW24 takes the lower 24 bits,
 * followed by a zero byte. */
#define ZERO               (-1)
#define ZERO_32            ZERO, ZERO, ZERO, ZERO
#define LE_8(field, from)  ((char)(offsetof(struct mlx5_cqe64, field) - (from)))
#define LE_16(field, from) LE_8(field, from) + 1, LE_8(field, from)
#define LE_LOW24(field, from) \
	LE_8(field, from) + 3, LE_8(field, from) + 2, LE_8(field, from) + 1, ZERO
#define LE_32(field, from) LE_8(field, from) + 3, LE_8(field, from) + 2, LE_16(field, from)

#define WC_FRONT           offsetof(struct ibv_wc, vendor_err)
#define WC_BACK            offsetof(struct ibv_wc, src_qp)

static_assert(offsetof(struct ibv_wc, byte_len) == WC_FRONT + 4 &&
		      offsetof(struct ibv_wc, imm_data) == WC_FRONT + 8 &&
		      offsetof(struct ibv_wc, qp_num) == WC_FRONT + 12,
	      "ibv_wc: vendor_err, byte_len, imm_data, qp_num");
static_assert(offsetof(struct ibv_wc, wc_flags) == WC_BACK + 4 &&
		      offsetof(struct ibv_wc, pkey_index) == WC_BACK + 8 &&
		      offsetof(struct ibv_wc, slid) == WC_BACK + 10 &&
		      offsetof(struct ibv_wc, sl) == WC_BACK + 12 &&
		      offsetof(struct ibv_wc, dlid_path_bits) == WC_BACK + 13,
	      "ibv_wc: src_qp, wc_flags, pkey_index, slid, sl, dlid_path_bits");

CQE_INLINE void wc_fill_send(struct ibv_wc *wc, const struct mlx5_cqe64 *cqe, uint32_t wc_flags)
{
	/* FRONT is loaded from byte_cnt on, BACK from offset 16. Bytes 2 and 3 of BACK are
	 * reserved, and replaced by the P_Key index. */
	enum {
		FRONT = offsetof(struct mlx5_cqe64, byte_cnt),
		BACK = 16,
		PKEY_WORD = 1,
	};
	const __m128i front_order = _mm_setr_epi8(ZERO_32, LE_32(byte_cnt, FRONT), ZERO_32,
						  LE_LOW24(sop_drop_qpn, FRONT));
	const __m128i back_order = _mm_setr_epi8(
		LE_LOW24(flags_rqpn, BACK), ZERO_32, 2 * PKEY_WORD + 1, 2 * PKEY_WORD,
		LE_16(slid, BACK), LE_8(flags_rqpn, BACK), LE_8(ml_path, BACK), ZERO, ZERO);
	const __m128i back_mask =
		_mm_setr_epi32(-1, -1, -1, FLD_MASK(CQE_SL) | FLD_MASK(CQE_PATH_BITS) << 8);
	__m128i front, back;

	wc->opcode = IBV_WC_RECV;
	front = _mm_loadu_si128((const __m128i *)((const uint8_t *)cqe + FRONT));
	front = _mm_shuffle_epi8(front, front_order);
	front = _mm_insert_epi32(front, (int)cqe->imm_inval_pkey, 2);
	_mm_storeu_si128((__m128i *)&wc->vendor_err, front);
	back = _mm_loadu_si128((const __m128i *)((const uint8_t *)cqe + BACK));
	back = _mm_insert_epi16(back, ((const uint16_t *)&cqe->imm_inval_pkey)[1], PKEY_WORD);
	back = _mm_and_si128(_mm_shuffle_epi8(back, back_order), back_mask);
	_mm_storeu_si128((__m128i *)&wc->src_qp, back);
	wc->wc_flags = cqe_grh_flag(cqe) | wc_flags;
}
#else
CQE_INLINE void wc_fill_send(struct ibv_wc *wc, const struct mlx5_cqe64 *cqe, uint32_t wc_flags)
{
	wc_fill_receive(wc, cqe, MLX5_CQE_RESP_SEND, wc_flags);
}
#endif

CQE_INLINE void wc_fill_error(struct ibv_wc *wc, const struct mlx5_cqe64 *cqe, unsigned int opcode,
			      uint32_t extra)
{
	wc->opcode = cqe_wc_opcode(opcode, extra);
	wc->vendor_err = cqe_vendor_err(cqe);
	wc->byte_len = 0;
	wc->qp_num = cqe_qpn(cqe);
	wc->wc_flags = 0;
}

/* Fills wc for tag matching: tm_done.c has set the opcode MLX5_CQE_NO_PACKET, since the CQE alone
 * does not say what has completed. */
static void __attribute__((noinline))
wc_fill_tagged(struct ibv_wc *wc, const struct completion *comp)
{
	wc_fill_message(wc, comp->cqe, MLX5_CQE_RESP_SEND, 0);
	wc->opcode = comp->extra & WQ_DONE_OPCODE_MASK;
	wc->wc_flags = comp->extra >> WQ_DONE_FLAGS_SHIFT;
	wc->byte_len = cqe_byte_len(comp->cqe);
	wc->qp_num = cqe_qpn(comp->cqe);
}

CQE_INLINE void wc_fill_start(struct ibv_wc *wc, const struct completion *comp)
{
	wc->wr_id = comp->wr_id;
	wc->status = comp->status;
	wc->vendor_err = 0;
}

CQE_INLINE void wc_fill(struct ibv_wc *wc, const struct completion *comp)
{
	wc_fill_start(wc, comp);
	if (comp->opcode == MLX5_CQE_REQ)
		wc_fill_request(wc, comp->cqe, cqe_qpn(comp->cqe), comp->extra);
	else if (likely(comp->opcode <= MLX5_CQE_RESP_SEND_INV))
		wc_fill_receive(wc, comp->cqe, comp->opcode, comp->extra);
	else if (comp->opcode == MLX5_CQE_NO_PACKET)
		wc_fill_tagged(wc, comp);
	else
		wc_fill_error(wc, comp->cqe, comp->opcode, comp->extra);
}

CQE_INLINE void wc_fill_usual(struct ibv_wc *wc, const struct completion *comp)
{
	wc_fill_start(wc, comp);
	if (comp->opcode == MLX5_CQE_REQ)
		wc_fill_request(wc, comp->cqe, cqe_qpn(comp->cqe), comp->extra);
	else if (likely(comp->opcode == MLX5_CQE_RESP_SEND))
		wc_fill_send(wc, comp->cqe, 0);
	else
		wc_fill_receive(wc, comp->cqe, comp->opcode, 0);
}

CQE_INLINE void wc_fill_frame(struct ibv_wc *wc, const struct completion *comp)
{
	wc_fill_start(wc, comp);
	wc_fill_send(wc, comp->cqe, comp->extra);
}

CQE_INLINE void wc_fill_flushed(struct ibv_wc *wc, const struct completion *comp)
{
	wc->wr_id = comp->wr_id;
	wc->status = comp->status;
	wc->opcode = comp->extra & WQ_DONE_OPCODE_MASK;
	wc->vendor_err = cqe_vendor_err(comp->cqe);
	wc->byte_len = 0;
	wc->qp_num = cqe_qpn(comp->cqe);
	wc->wc_flags = 0;
}

/* ---- steps of one poll, each of which may end by a call to another one. CQE, at index CI, is the
 * next completion; it goes to WC, and there is room up to END. Until the last step, cq->ci keeps
 * the index at which the poll began. All steps hold the CQ's lock, if it has one, and the last step
 * drops it.
 */

/* Ends the poll before the CQE at CI. Returns the number of CQEs read. The record is written once
 * for all of them. */
CQE_INLINE int poll_done(struct mlx5_cq *cq, uint32_t ci)
{
	int n = (int)(ci - cq->ci);

	/* release: after the loads that cqe_is_none() relies on */
	__atomic_store_n(&cq->ci, ci, __ATOMIC_RELEASE);
	doorbell_cq_consumed(cq->dbrec, ci);
	qlock_leave(&cq->lock);
	return n;
}

/* Polls completions of every kind: errors, tag matching, payloads scattered to several buffers. Out
 * of line, so that the usual loops stay small. */
static int __attribute__((noinline))
poll_rest(struct ibv_cq *ibcq, struct ibv_wc *end, struct ibv_wc *wc, uint32_t ci)
{
	struct mlx5_cq *cq = to_mcq(ibcq);
	const struct ibv_wc *start = wc - (ci - cq->ci);
	struct completion comp;

	for (; wc < end && cqe_take(cq, &ci, &comp); wc++)
		wc_fill(wc, &comp);
	/* CQEs that complete nothing count in poll_done(), as they leave the ring, but not in the
	 * result. */
	poll_done(cq, ci);
	return (int)(wc - start);
}

static int __attribute__((noinline))
wait_and_poll(struct ibv_cq *ibcq, struct ibv_wc *end, struct ibv_wc *wc)
{
	struct mlx5_cq *cq = to_mcq(ibcq);

	qlock_enter(&cq->lock);
	return poll_rest(ibcq, end, wc, cq->ci);
}

/* Usual completions are polled in loops, one for each kind, which need few registers and few
 * branches. A poll begins in the loop of the kind seen last. At the first completion of another
 * kind, the loop calls mlx5_cq_poll_any(). */
#define POLL_LOOP static int __attribute__((noinline))

CQE_INLINE bool poll_goes_on(const struct mlx5_cq *cq, const struct ibv_wc *end,
			     const struct ibv_wc *wc, const struct mlx5_cqe64 **cqe, uint32_t ci)
{
	if (wc == end)
		return false;
	*cqe = cqe_at(cq, ci);
	return cqe_is_sw_owned(cq, *cqe, ci);
}

/* Turns to the queue of a request of another QP than the last one. QPs that share a CQ complete in
 * turn, and all of them fit the loop. */
CQE_INLINE bool poll_turns_to_qp(struct mlx5_cq *cq, const struct mlx5_cqe64 *cqe)
{
	struct mlx5_rq *rq = cqe_other_rq(cq, cqe);

	if (rq)
		cqe_set_rq(cq, cqe, rq);
	return rq;
}

/* Does the same for a message. Returns false if the other queue does not fit the loop; then
 * mlx5_cq_poll_any() finds it cached, and chooses another loop. */
CQE_INLINE bool poll_turns_to_rq(struct mlx5_cq *cq, const struct mlx5_cqe64 *cqe,
				 enum rq_special special)
{
	struct mlx5_rq *rq = cqe_other_rq(cq, cqe);

	if (!rq)
		return false;
	cqe_set_rq(cq, cqe, rq);
	if (likely(rq->special == special))
		return true;
	cq->poll = mlx5_cq_poll_any;
	return false;
}

POLL_LOOP poll_requests(struct ibv_cq *ibcq, struct ibv_wc *end, struct ibv_wc *wc,
			const struct mlx5_cqe64 *cqe, uint32_t ci)
{
	struct mlx5_cq *cq = to_mcq(ibcq);

	do {
		struct completion comp = { .status = IBV_WC_SUCCESS };
		struct mlx5_rq *rq;

		/* The adapter writes the ownership bit last: a load of the rest before the check
		 * may return bytes of the previous lap. */
		dma_load_barrier();
		if (unlikely(!op_own_is_request(cqe->op_own) ||
			     (!cqe_is_of_rsn_rq(cq, cqe) && !poll_turns_to_qp(cq, cqe))))
			return mlx5_cq_poll_any(ibcq, end, wc, cqe, ci);
		rq = cq->rsn_rq;
		cqe_complete_request(rq, cqe, &comp);
		wc_fill_start(wc, &comp);
		wc_fill_request(wc, cqe, rq_qp(rq)->sq.number, comp.extra);
		wc++;
		ci++;
	} while (poll_goes_on(cq, end, wc, &cqe, ci));
	return poll_done(cq, ci);
}

/* Polls SENDs without immediate data or key. FORMAT says where their payload is, SPECIAL describes
 * their queue; both are constants, so that each instance has only the branches it needs. */
CQE_INLINE int poll_sends(struct ibv_cq *ibcq, struct ibv_wc *end, struct ibv_wc *wc,
			  const struct mlx5_cqe64 *cqe, uint32_t ci, unsigned int format,
			  enum rq_special special)
{
	struct mlx5_cq *cq = to_mcq(ibcq);

	do {
		struct completion comp = { .status = IBV_WC_SUCCESS };

		dma_load_barrier();
		if (unlikely(!op_own_is_send(cqe->op_own, format) ||
			     (!cqe_is_of_rsn_rq(cq, cqe) && !poll_turns_to_rq(cq, cqe, special))))
			return mlx5_cq_poll_any(ibcq, end, wc, cqe, ci);
		if (unlikely(!(special == RQ_SHARED
				       ? cqe_take_from_srq(cq, cq->rsn_rq->srq, cqe, format, &comp)
				       : cqe_take_from_rq(cq, cq->rsn_rq, cqe, format, &comp))))
			return poll_rest(ibcq, end, wc, ci);
		wc_fill_start(wc, &comp);
		wc_fill_send(wc, cqe, special == RQ_CHECKED ? cqe_checksum_flags(cqe) : 0);
		wc++;
		ci++;
	} while (poll_goes_on(cq, end, wc, &cqe, ci));
	return poll_done(cq, ci);
}

POLL_LOOP poll_plain(struct ibv_cq *cq, struct ibv_wc *end, struct ibv_wc *wc,
		     const struct mlx5_cqe64 *cqe, uint32_t ci)
{
	return poll_sends(cq, end, wc, cqe, ci, 0, RQ_PLAIN);
}

POLL_LOOP poll_inline(struct ibv_cq *cq, struct ibv_wc *end, struct ibv_wc *wc,
		      const struct mlx5_cqe64 *cqe, uint32_t ci)
{
	return poll_sends(cq, end, wc, cqe, ci, MLX5_INLINE_SCATTER_32, RQ_PLAIN);
}

POLL_LOOP poll_shared(struct ibv_cq *cq, struct ibv_wc *end, struct ibv_wc *wc,
		      const struct mlx5_cqe64 *cqe, uint32_t ci)
{
	return poll_sends(cq, end, wc, cqe, ci, 0, RQ_SHARED);
}

POLL_LOOP poll_shared_inline(struct ibv_cq *cq, struct ibv_wc *end, struct ibv_wc *wc,
			     const struct mlx5_cqe64 *cqe, uint32_t ci)
{
	return poll_sends(cq, end, wc, cqe, ci, MLX5_INLINE_SCATTER_32, RQ_SHARED);
}

POLL_LOOP poll_frames(struct ibv_cq *cq, struct ibv_wc *end, struct ibv_wc *wc,
		      const struct mlx5_cqe64 *cqe, uint32_t ci)
{
	return poll_sends(cq, end, wc, cqe, ci, 0, RQ_CHECKED);
}

POLL_LOOP poll_messages(struct ibv_cq *ibcq, struct ibv_wc *end, struct ibv_wc *wc,
			const struct mlx5_cqe64 *cqe, uint32_t ci)
{
	struct mlx5_cq *cq = to_mcq(ibcq);

	do {
		struct completion comp = { .status = IBV_WC_SUCCESS };

		dma_load_barrier();
		if (unlikely(op_own_is_request(cqe->op_own) || !cqe_is_of_rsn_rq(cq, cqe)))
			return mlx5_cq_poll_any(ibcq, end, wc, cqe, ci);
		if (unlikely(!cqe_take_message(cq, cq->rsn_rq, cqe, cqe->op_own, &comp)))
			return poll_rest(ibcq, end, wc, ci);
		wc_fill_start(wc, &comp);
		wc_fill_receive(wc, cqe, comp.opcode, 0);
		wc++;
		ci++;
	} while (poll_goes_on(cq, end, wc, &cqe, ci));
	return poll_done(cq, ci);
}

static int poll_mixed(struct ibv_cq *ibcq, struct ibv_wc *end, struct ibv_wc *wc,
		      const struct mlx5_cqe64 *cqe, uint32_t ci);

/* Polls flushed requests of any queue: programs that end a connection poll as many as were posted.
 * Must not call mlx5_cq_poll_any(), which enters this loop for any number of completions. */
POLL_LOOP poll_flushed(struct ibv_cq *ibcq, struct ibv_wc *end, struct ibv_wc *wc,
		       const struct mlx5_cqe64 *cqe, uint32_t ci)
{
	struct mlx5_cq *cq = to_mcq(ibcq);

	do {
		struct completion comp;

		dma_load_barrier();
		if (unlikely(!cqe_is_flush(cqe))) {
			cq->poll = mlx5_cq_poll_any;
			return poll_mixed(ibcq, end, wc, cqe, ci);
		}
		if (unlikely(!cqe_find_rq(cq, cqe) || !cqe_take_flush(cq->rsn_rq, cqe, &comp)))
			return poll_rest(ibcq, end, wc, ci);
		wc_fill_flushed(wc, &comp);
		wc++;
		ci++;
	} while (poll_goes_on(cq, end, wc, &cqe, ci));
	return poll_done(cq, ci);
}

CQE_INLINE cq_poll_fn *poll_loop_for(const struct mlx5_cq *cq, const struct mlx5_cqe64 *cqe)
{
	const bool shared = cq->rsn_rq->special == RQ_SHARED;

	if (op_own_is_request(cqe->op_own))
		return poll_requests;
	if (cq->rsn_rq->special == RQ_CHECKED)
		return poll_frames;
	if (op_own_is_send(cqe->op_own, 0))
		return shared ? poll_shared : poll_plain;
	if (op_own_is_send(cqe->op_own, MLX5_INLINE_SCATTER_32))
		return shared ? poll_shared_inline : poll_inline;
	return cqe_is_flush(cqe) ? poll_flushed : poll_messages;
}

/* Polls usual completions of all kinds and queues. Switching kinds is cheaper here than between
 * loops, but the prologue saves registers. */
static int __attribute__((noinline))
poll_mixed(struct ibv_cq *ibcq, struct ibv_wc *end, struct ibv_wc *wc, const struct mlx5_cqe64 *cqe,
	   uint32_t ci)
{
	struct mlx5_cq *cq = to_mcq(ibcq);

	do {
		struct completion comp;

		dma_load_barrier();
		if (likely(cqe_take_usual(cq, cqe, &comp)))
			wc_fill_usual(wc, &comp);
		else if (cqe_take_frame(cq, cqe, &comp))
			wc_fill_frame(wc, &comp);
		else if (cqe_is_flush(cqe) && cqe_find_rq(cq, cqe) &&
			 cqe_take_flush(cq->rsn_rq, cqe, &comp))
			wc_fill_flushed(wc, &comp);
		else
			return poll_rest(ibcq, end, wc, ci);
		wc++;
		ci++;
	} while (poll_goes_on(cq, end, wc, &cqe, ci));
	return poll_done(cq, ci);
}

int mlx5_cq_poll_any(struct ibv_cq *ibcq, struct ibv_wc *end, struct ibv_wc *wc,
		     const struct mlx5_cqe64 *cqe, uint32_t ci)
{
	struct mlx5_cq *cq = to_mcq(ibcq);

	dma_load_barrier();
	if (unlikely(!cqe_find_rq(cq, cqe)) || message_is_special(cq->rsn_rq, cqe->op_own))
		return poll_rest(ibcq, end, wc, ci);
	cq->poll = poll_loop_for(cq, cqe);
	/* Only one more completion fits, so no other kind can follow. */
	if (wc + 1 == end || cq->poll == poll_flushed)
		return cq->poll(ibcq, end, wc, cqe, ci);
	return poll_mixed(ibcq, end, wc, cqe, ci);
}

CQE_INLINE int poll_found(struct ibv_cq *ibcq, int num_entries, struct ibv_wc *wc,
			  const struct mlx5_cqe64 *cqe, uint32_t ci)
{
	struct mlx5_cq *cq = to_mcq(ibcq);

	if (unlikely(num_entries <= 0))
		return 0;
	if (cq->lock.shared && unlikely(!qlock_is_idle(&cq->lock))) {
		if (unlikely(!qlock_exchange(&cq->lock)))
			return wait_and_poll(ibcq, wc + num_entries, wc);
		if (unlikely(cq->ci != ci))
			return poll_rest(ibcq, wc + num_entries, wc, cq->ci);
	}
	return cq->poll(ibcq, wc + num_entries, wc, cqe, ci);
}

/* Polls with the lock: the CQ's ring was replaced during the lockless look, so its result cannot be
 * trusted. */
static int __attribute__((noinline))
look_again(struct ibv_cq *ibcq, int num_entries, struct ibv_wc *wc)
{
	return num_entries <= 0 ? 0 : wait_and_poll(ibcq, wc + num_entries, wc);
}

/* Implements context->ops.poll_cq. Most polls of a spinning program find nothing, so an empty CQ is
 * detected without the lock. */
int mlx5_poll_cq(struct ibv_cq *cq, int num_entries, struct ibv_wc *wc)
{
	const struct mlx5_cqe64 *cqe;
	uint32_t ci;

	if (cqe_peek(to_mcq(cq), &cqe, &ci))
		return poll_found(cq, num_entries, wc, cqe, ci);
	return cqe_is_none(to_mcq(cq), ci) ? 0 : look_again(cq, num_entries, wc);
}

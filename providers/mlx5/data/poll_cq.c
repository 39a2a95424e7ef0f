/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * poll_cq.c - ibv_poll_cq(): copies completions to ibv_wc.
 */
#ifdef __AVX__
#include <immintrin.h>
#endif

#include "providers/mlx5/data/cqe.h"
#include "providers/mlx5/data/doorbell.h"

CQE_INLINE void wc_fill_request(struct ibv_wc *wc, const struct mlx5_cqe64 *cqe, uint32_t noted)
{
	wc->opcode = noted & WQ_DONE_OPCODE_MASK;
	wc->byte_len = cqe_byte_len(cqe);
	wc->qp_num = cqe_qpn(cqe);
	wc->wc_flags = noted >> WQ_DONE_FLAGS_SHIFT;
}

/* A SEND without anything is what most messages are: the fields that depend on the opcode are
 * simplest then. */
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
	wc->src_qp = flags_rqpn & PRM_CQE_RQPN_MASK;
	wc->slid = cqe_slid(cqe);
	wc->sl = flags_rqpn >> PRM_CQE_SL_SHIFT & PRM_CQE_SL_MASK;
	wc->dlid_path_bits = cqe_path_bits(cqe);
}

/* The same of a SEND without anything. */
#ifdef __AVX__
CQE_INLINE void wc_fill_send(struct ibv_wc *wc, const struct mlx5_cqe64 *cqe)
{
	/* In each line the fields of an ibv_wc that are 16 bytes; X is a byte of 0. */
	enum { X = -1 };
	const __m128i from_2c = _mm_setr_epi8(X, X, X, X, 3, 2, 1, 0, X, X, X, X, 15, 14, 13, X);
	const __m128i from_10 = _mm_setr_epi8(11, 10, 9, X, X, X, X, X, 3, 2, 7, 6, 8, 1, X, X);
	const __m128i mask = _mm_setr_epi32(-1, -1, -1, PRM_CQE_SL_MASK | PRM_CQE_PATH_MASK << 8);
	__m128i front, back;

	wc->opcode = IBV_WC_RECV;
	/* vendor_err, byte_len, imm_data, qp_num */
	front = _mm_loadu_si128((const __m128i *)&cqe->byte_cnt);
	front = _mm_shuffle_epi8(front, from_2c);
	front = _mm_insert_epi32(front, (int)cqe->imm_inval_pkey, 2);
	_mm_storeu_si128((__m128i *)&wc->vendor_err, front);
	/* src_qp, wc_flags, pkey_index, slid, sl, dlid_path_bits */
	back = _mm_loadu_si128((const __m128i *)((const uint8_t *)cqe + 0x10));
	back = _mm_insert_epi16(back, ((const uint16_t *)&cqe->imm_inval_pkey)[1], 1);
	back = _mm_and_si128(_mm_shuffle_epi8(back, from_10), mask);
	_mm_storeu_si128((__m128i *)&wc->src_qp, back);
	wc->wc_flags = cqe_grh_flag(cqe);
}
#else
CQE_INLINE void wc_fill_send(struct ibv_wc *wc, const struct mlx5_cqe64 *cqe)
{
	wc_fill_receive(wc, cqe, MLX5_CQE_RESP_SEND, 0);
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

/* Of tag matching */
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
		wc_fill_request(wc, comp->cqe, comp->extra);
	else if (likely(comp->opcode <= MLX5_CQE_RESP_SEND_INV))
		wc_fill_receive(wc, comp->cqe, comp->opcode, comp->extra);
	else if (comp->opcode == MLX5_CQE_NO_PACKET)
		wc_fill_tagged(wc, comp);
	else
		wc_fill_error(wc, comp->cqe, comp->opcode, comp->extra);
}

/* ---- Functions of the type cq_poll_fn pass on to each other where they are: the next completion is
 * that of CQE, at index CI, and goes to WC; there is place up to END. Those before it began at
 * cq->ci, which stays as it is until the end. They hold the lock, if there is one, and drop it. */

/* Returns how many completions there are up to CI. */
CQE_INLINE int poll_done(struct mlx5_cq *cq, uint32_t ci)
{
	int n = (int)(ci - cq->ci);

	__atomic_store_n(&cq->ci, ci, __ATOMIC_RELAXED);
	doorbell_cq_consumed(cq->dbrec, ci);
	qlock_leave(&cq->lock);
	return n;
}

/* Whatever comes. */
static int __attribute__((noinline))
poll_rest(struct ibv_cq *ibcq, struct ibv_wc *end, struct ibv_wc *wc, uint32_t ci)
{
	struct mlx5_cq *cq = to_mcq(ibcq);
	const struct ibv_wc *start = wc - (ci - cq->ci);
	struct completion comp;

	for (; wc < end && cqe_take(cq, &ci, &comp); wc++)
		wc_fill(wc, &comp);
	/* Some entries of the ring complete nothing, so its count may be more. */
	poll_done(cq, ci);
	return (int)(wc - start);
}

static int __attribute__((noinline))
wait_and_poll(struct ibv_cq *ibcq, struct ibv_wc *end, struct ibv_wc *wc)
{
	struct mlx5_cq *cq = to_mcq(ibcq);

	qlock_take(&cq->lock);
	return poll_rest(ibcq, end, wc, cq->ci);
}

/* The usual completions are taken in loops for one kind each, which then need few registers and have
 * little to decide. They begin where the last one ended, in the hope that it goes on like that; what
 * does not fit is for mlx5_cq_poll_any(). */
#define POLL_LOOP static int __attribute__((noinline))

/* Is there another one, and room for it? */
CQE_INLINE bool poll_goes_on(const struct mlx5_cq *cq, const struct ibv_wc *end,
			     const struct ibv_wc *wc, const struct mlx5_cqe64 **cqe, uint32_t ci)
{
	if (wc == end)
		return false;
	*cqe = cqe_at(cq, ci);
	return cqe_is_sw_owned(cq, *cqe, ci);
}

POLL_LOOP poll_requests(struct ibv_cq *ibcq, struct ibv_wc *end, struct ibv_wc *wc,
			const struct mlx5_cqe64 *cqe, uint32_t ci)
{
	struct mlx5_cq *cq = to_mcq(ibcq);

	do {
		struct completion comp = { .status = IBV_WC_SUCCESS };

		/* The ownership bit is written last: what we read from here on belongs to it. */
		dma_load_barrier();
		if (unlikely(!op_own_is_request(cqe->op_own) || !cqe_is_of_rsn_rq(cq, cqe)))
			return mlx5_cq_poll_any(ibcq, end, wc, cqe, ci);
		cqe_complete_request(cq->rsn_rq, cqe, &comp);
		wc_fill_start(wc, &comp);
		wc_fill_request(wc, cqe, comp.extra);
		wc++;
		ci++;
	} while (poll_goes_on(cq, end, wc, &cqe, ci));
	return poll_done(cq, ci);
}

/* Plain SENDs, with a payload in the CQE as FORMAT says, to a queue that is SPECIAL: constants. */
CQE_INLINE int poll_sends(struct ibv_cq *ibcq, struct ibv_wc *end, struct ibv_wc *wc,
			  const struct mlx5_cqe64 *cqe, uint32_t ci, unsigned int format,
			  enum rq_special special)
{
	struct mlx5_cq *cq = to_mcq(ibcq);

	do {
		struct completion comp = { .status = IBV_WC_SUCCESS };

		dma_load_barrier();
		if (unlikely(!op_own_is_send(cqe->op_own, format) || !cqe_is_of_rsn_rq(cq, cqe)))
			return mlx5_cq_poll_any(ibcq, end, wc, cqe, ci);
		if (unlikely(!(special == RQ_PLAIN
				       ? cqe_take_from_rq(cq->rsn_rq, cqe, format, &comp)
				       : cqe_take_from_srq(cq->rsn_rq->srq, cqe, format, &comp))))
			return poll_rest(ibcq, end, wc, ci);
		wc_fill_start(wc, &comp);
		wc_fill_send(wc, cqe);
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

/* The other usual messages. */
POLL_LOOP poll_messages(struct ibv_cq *ibcq, struct ibv_wc *end, struct ibv_wc *wc,
			const struct mlx5_cqe64 *cqe, uint32_t ci)
{
	struct mlx5_cq *cq = to_mcq(ibcq);

	do {
		struct completion comp = { .status = IBV_WC_SUCCESS };

		dma_load_barrier();
		if (unlikely(op_own_is_request(cqe->op_own) || !cqe_is_of_rsn_rq(cq, cqe)))
			return mlx5_cq_poll_any(ibcq, end, wc, cqe, ci);
		if (unlikely(!cqe_take_message(cq->rsn_rq, cqe, cqe->op_own, &comp)))
			return poll_rest(ibcq, end, wc, ci);
		wc_fill_start(wc, &comp);
		wc_fill_receive(wc, cqe, comp.opcode, 0);
		wc++;
		ci++;
	} while (poll_goes_on(cq, end, wc, &cqe, ci));
	return poll_done(cq, ci);
}

/* The loop for CQE, which is of cq->rsn_rq. */
CQE_INLINE cq_poll_fn *loop_for(const struct mlx5_cq *cq, const struct mlx5_cqe64 *cqe)
{
	const bool shared = cq->rsn_rq->special == RQ_SHARED;

	if (op_own_is_request(cqe->op_own))
		return poll_requests;
	if (op_own_is_send(cqe->op_own, 0))
		return shared ? poll_shared : poll_plain;
	if (op_own_is_send(cqe->op_own, MLX5_INLINE_SCATTER_32))
		return shared ? poll_shared_inline : poll_inline;
	return poll_messages;
}

int mlx5_cq_poll_any(struct ibv_cq *ibcq, struct ibv_wc *end, struct ibv_wc *wc,
		     const struct mlx5_cqe64 *cqe, uint32_t ci)
{
	struct mlx5_cq *cq = to_mcq(ibcq);

	dma_load_barrier();
	if (unlikely(!cqe_find_rq(cq, cqe)) ||
	    (cq->rsn_rq->special == RQ_OTHER && !op_own_is_request(cqe->op_own)))
		return poll_rest(ibcq, end, wc, ci);
	cq->poll = loop_for(cq, cqe);
	return cq->poll(ibcq, end, wc, cqe, ci);
}

CQE_INLINE int poll_found(struct ibv_cq *ibcq, int num_entries, struct ibv_wc *wc,
			  const struct mlx5_cqe64 *cqe, uint32_t ci)
{
	struct mlx5_cq *cq = to_mcq(ibcq);

	if (unlikely(num_entries <= 0))
		return 0;
	if (cq->lock.shared) {
		if (unlikely(!qlock_try(&cq->lock)))
			return wait_and_poll(ibcq, wc + num_entries, wc);
		if (unlikely(cq->ci != ci))
			return poll_rest(ibcq, wc + num_entries, wc, cq->ci);
	}
	return cq->poll(ibcq, wc + num_entries, wc, cqe, ci);
}

/* context->ops.poll_cq. Programs poll far more often than there is something: that answer needs no
 * lock. */
int mlx5_poll_cq(struct ibv_cq *cq, int num_entries, struct ibv_wc *wc)
{
	const struct mlx5_cqe64 *cqe;
	uint32_t ci;

	return cqe_peek(to_mcq(cq), &cqe, &ci) ? poll_found(cq, num_entries, wc, cqe, ci) : 0;
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * poll_cq.c - ibv_poll_cq().
 *
 * Programs call mlx4_poll_cq() through context->ops. It continues in the function cq->poll: a loop
 * for one kind of completion, which calls nothing and has few branches. A completion of another
 * kind goes to mlx4_cq_poll_any(), which continues in poll_mixed(), or, for the last completion of
 * a poll, in another loop: so the stack does not grow with the number of completions even if the
 * compiler makes no tail calls.
 */
#ifdef __AVX__
#include <immintrin.h>
#endif
#include <stddef.h>
#include <string.h>

#include "prm/mlx5/cqe.h"
#include "providers/mlx4/data/cq/cqe.h"
#include "providers/mlx4/data/datapath.h"
#include "providers/mlx4/data/doorbell.h"

enum { CQE_FROM = 8 };

static_assert(FLD_DWORD(M4_CQE_RQPN) * 4 == CQE_FROM &&
		      FLD_DWORD(M4_CQE_RLID) * 4 == CQE_FROM + 4 && FLD_SHIFT(M4_CQE_RLID) == 0 &&
		      FLD_WIDTH(M4_CQE_RLID) == 16,
	      "from whom a message is: eight bytes");
static_assert((int)IBV_WC_GRH == 1 && FLD_SHIFT(M4_CQE_GRH) == 31, "the bit of a GRH is the last");
static_assert(offsetof(struct ibv_wc, slid) == offsetof(struct ibv_wc, pkey_index) + 2 &&
		      offsetof(struct ibv_wc, sl) == offsetof(struct ibv_wc, pkey_index) + 4 &&
		      offsetof(struct ibv_wc, dlid_path_bits) ==
			      offsetof(struct ibv_wc, pkey_index) + 5 &&
		      sizeof(struct ibv_wc) == offsetof(struct ibv_wc, pkey_index) + 8,
	      "from whom a message is: the last eight bytes");
static_assert(offsetof(struct ibv_wc, wc_flags) == offsetof(struct ibv_wc, src_qp) + 4,
	      "both are written at once");
static_assert(offsetof(struct ibv_wc, opcode) == offsetof(struct ibv_wc, status) + 4 &&
		      offsetof(struct ibv_wc, byte_len) == offsetof(struct ibv_wc, vendor_err) + 4,
	      "both are written at once");

/* Fills in the four fields of every successful completion, two at a time: one 8-byte store costs
 * less than two of 4. */
CQE_INLINE void fill_success(struct ibv_wc *wc, uint64_t wr_id, uint32_t opcode, uint32_t byte_len,
			     uint32_t qpn)
{
	const uint64_t status_opcode = side_by_side(IBV_WC_SUCCESS, opcode);
	const uint64_t vendor_length = side_by_side(0, byte_len);

	wc->wr_id = wr_id;
	memcpy(&wc->status, &status_opcode, sizeof(status_opcode));
	memcpy(&wc->vendor_err, &vendor_length, sizeof(vendor_length));
	wc->qp_num = qpn;
}

CQE_INLINE void fill_request(struct mlx4_qp *qp, const uint8_t *cqe, struct ibv_wc *wc)
{
	uint32_t done_as;
	uint64_t wr_id = cqe_complete_request(qp, cqe, &done_as);

	fill_success(wc, wr_id, done_as & WQ_DONE_OPCODE_MASK, cqe_byte_len(cqe),
		     qp->vqp.qp.qp_num);
	wc->wc_flags = done_as >> WQ_DONE_FLAGS_SHIFT;
}

CQE_INLINE uint64_t from_whom(uint32_t pkey_index, uint32_t rqpn, uint32_t sl_rlid,
			      uint32_t sl_shift)
{
	uint32_t path_bits = rqpn >> FLD_SHIFT(M4_CQE_PATH_BITS) & FLD_MASK(M4_CQE_PATH_BITS);
	uint32_t slid = sl_rlid & FLD_MASK(M4_CQE_RLID), sl = sl_rlid >> sl_shift;

#if __BYTE_ORDER == __LITTLE_ENDIAN
	return side_by_side(pkey_index | slid << 16, sl | path_bits << 8);
#else
	return side_by_side(pkey_index << 16 | slid, sl << 24 | path_bits << 16);
#endif
}

/* Fills wc for a message to QP, which is NULL for XRC. Reads all of the CQE before the first store,
 * because the compiler must assume that wc aliases the CQE. */
CQE_INLINE void fill_message(const struct mlx4_cq *cq, const struct mlx4_qp *qp, uint64_t wr_id,
			     uint32_t qpn, const uint8_t *cqe, struct ibv_wc *wc)
{
	const uint64_t from = be64toh(*(const __be64 *)(cqe + CQE_FROM)) & cq->from_mask;
	const uint32_t opcode = cqe_opcode(cqe), rqpn = from >> 32;
	const uint32_t byte_len = cqe_word(cqe, FLD_BYTE(M4_CQE_BYTE_COUNT));
	const __be32 imm = *(const __be32 *)fld_at(cqe, M4_CQE_IMM);
	const uint32_t extra = cqe_extra_of(opcode);
	uint32_t flags = extra >> WQ_DONE_FLAGS_SHIFT | rqpn >> FLD_SHIFT(M4_CQE_GRH);
	uint64_t pair, last = from_whom(be32toh(imm) & 0x7f, rqpn, (uint32_t)from,
					qp ? qp->sl_shift : FLD_SHIFT(M4_CQE_SL));

	if (unlikely(qp && qp->has_checksums && cqe_checksums_are_right(cqe)))
		flags |= IBV_WC_IP_CSUM_OK;
	fill_success(wc, wr_id, extra & WQ_DONE_OPCODE_MASK, byte_len, qpn);
	wc->imm_data = imm;
	if (unlikely(opcode == M4_RECV_SEND_INVAL))
		wc->invalidated_rkey = be32toh(imm);
	pair = side_by_side(rqpn & FLD_MASK(M4_CQE_RQPN), flags);
	memcpy(&wc->src_qp, &pair, sizeof(pair));
	memcpy(&wc->pkey_index, &last, sizeof(last));
}

/* fill_send() does what fill_message() does, for a SEND without immediate data or key, in a CQ
 * without timestamps. It does not set checksum flags. */
#ifdef __AVX__
/* A shuffle builds the last 16 bytes of a completion from the first 16 of a CQE; its mask has the
 * source byte of each result byte. The GRH bit and the service level are moved afterwards. Each
 * field is stored as soon as it is loaded, so that few registers are in use. */
CQE_INLINE void fill_send(const struct mlx4_cq *cq, const struct mlx4_qp *qp, uint64_t wr_id,
			  uint32_t qpn, const uint8_t *cqe, struct ibv_wc *wc)
{
	enum { NONE = -1, PATH_GRH = CQE_FROM, PKEY = 7, FLAGS_LANE = 1 << 2 };
	const __m128i order = _mm_setr_epi8(11, 10, 9, NONE, PATH_GRH, NONE, NONE, NONE, PKEY, NONE,
					    15, 14, NONE, PATH_GRH, NONE, NONE);
	const __m128i mask = _mm_setr_epi32(-1, -1, (int)0xffff007f, 0x7f00);
	__m128i last = _mm_loadu_si128((const __m128i *)cqe);

	(void)cq;
	last = _mm_and_si128(_mm_shuffle_epi8(last, order), mask);
	last = _mm_blend_epi16(last, _mm_srli_epi16(last, 7), FLAGS_LANE);
	_mm_storeu_si128((__m128i *)&wc->src_qp, last);
	wc->sl = (uint8_t)(cqe_word(cqe, CQE_FROM + 4) >>
			   (qp ? qp->sl_shift : FLD_SHIFT(M4_CQE_SL)));
	wc->imm_data = *(const __be32 *)fld_at(cqe, M4_CQE_IMM);
	fill_success(wc, wr_id, IBV_WC_RECV, cqe_byte_len(cqe), qpn);
}
#else
CQE_INLINE void fill_send(const struct mlx4_cq *cq, const struct mlx4_qp *qp, uint64_t wr_id,
			  uint32_t qpn, const uint8_t *cqe, struct ibv_wc *wc)
{
	fill_message(cq, qp, wr_id, qpn, cqe, wc);
}
#endif

static void __attribute__((noinline))
fill_error(struct mlx4_qp *qp, struct mlx4_srq *srq, const uint8_t *cqe, struct ibv_wc *wc)
{
	struct completion comp = { .cqe = cqe, .qp = qp, .srq = srq };

	cqe_complete(&comp);
	mlx4_cqe_fail(&comp);
	wc->wr_id = comp.wr_id;
	wc->status = comp.status;
	wc->qp_num = cqe_qpn(cqe);
	wc->vendor_err = (uint32_t)fld_get(cqe, M4_CQE_VENDOR);
}

CQE_INLINE uint64_t complete_receive(struct mlx4_qp *qp, const uint8_t *cqe)
{
	return qp->srq ? srq_complete(qp->srq, cqe_wqe_index(cqe)) : wq_complete_next(&qp->rq.wq);
}

static bool __attribute__((noinline))
fill_shared(const struct mlx4_cq *cq, const uint8_t *cqe, struct ibv_wc *wc)
{
	struct mlx4_srq *srq = cqe_find_srq(cq, cqe);

	if (!srq)
		return false;
	if (unlikely(cqe_opcode(cqe) == M4_CQE_ERROR))
		fill_error(NULL, srq, cqe, wc);
	else
		fill_message(cq, NULL, srq_complete(srq, cqe_wqe_index(cqe)), cqe_qpn(cqe), cqe,
			     wc);
	return true;
}

CQE_INLINE void fill_wc(const struct mlx4_cq *cq, struct mlx4_qp *qp, const uint8_t *cqe,
			struct ibv_wc *wc)
{
	if (unlikely(cqe_opcode(cqe) == M4_CQE_ERROR))
		fill_error(qp, NULL, cqe, wc);
	else if (cqe_is_request(cqe))
		fill_request(qp, cqe, wc);
	else
		fill_message(cq, qp, complete_receive(qp, cqe), qp->vqp.qp.qp_num, cqe, wc);
}

/* ---- functions that continue each other within one poll. CQE, at index CI, is the next
 * completion; it goes to WC, which has space for ROOM. cq->ci keeps the index at which the poll
 * began until the end. All of them hold the CQ's lock, if it has one, and the last one drops it.
 * ----
 */

CQE_INLINE int poll_done(struct mlx4_cq *cq, uint32_t ci)
{
	int n = (int)(ci - cq->ci);

	/* release: after the loads that cqe_is_none() relies on */
	__atomic_store_n(&cq->ci, ci, __ATOMIC_RELEASE);
	doorbell_cq_consumed(cq->dbrec, ci);
	qlock_leave(&cq->lock);
	return n;
}

#define OUT_OF_LINE static int __attribute__((noinline))

OUT_OF_LINE poll_mixed(struct ibv_cq *ibcq, int room, struct ibv_wc *wc, uint32_t ci)
{
	struct mlx4_cq *cq = to_mcq(ibcq);
	struct ibv_wc *const first = wc - (ci - cq->ci), *const end = wc + room;

	for (; wc < end; ci++) {
		const uint8_t *cqe = cqe_at(cq, ci);

		if (!cqe_is_sw_owned(cq, cqe, ci))
			break;
		/* The adapter writes the ownership bit last: a load of the rest before the check
		 * may return bytes of the previous lap. */
		dma_load_barrier();
		if (likely(cqe_find_qp(cq, cqe)))
			fill_wc(cq, cq->qp, cqe, wc++);
		else
			wc += fill_shared(cq, cqe, wc);
	}
	poll_done(cq, ci);
	return (int)(wc - first);
}

/* Fills wc for a request without error. Stores each field as soon as it is loaded, so that few
 * registers are in use; therefore done_as, which has two fields, is loaded twice. */
CQE_INLINE void fill_good_request(struct mlx4_qp *qp, struct wq_slot *slot, const uint8_t *cqe,
				  struct ibv_wc *wc)
{
	if (unlikely(slot->done_as & SENT_ATOMIC))
		slot->done_as = cqe_count_atomic(cqe, slot->done_as);
	wc->wr_id = slot->wr_id;
	wc->status = IBV_WC_SUCCESS;
	wc->opcode = slot->done_as & WQ_DONE_OPCODE_MASK;
	wc->wc_flags = slot->done_as >> WQ_DONE_FLAGS_SHIFT;
	wc->vendor_err = 0;
	wc->byte_len = cqe_byte_len(cqe);
	wc->qp_num = qp->sq.number;
}

OUT_OF_LINE poll_requests(struct ibv_cq *ibcq, int room, struct ibv_wc *wc, const uint8_t *cqe,
			  uint32_t ci)
{
	struct mlx4_cq *cq = to_mcq(ibcq);
	struct mlx4_qp *const qp = cq->qp;
	const __be32 qpn = cq->qpn_be;
	uint8_t last = cqe[CQE_LAST];

	while (likely(last_is_good_request(last) && cqe_qpn_be(cqe) == qpn)) {
		struct wq_slot *slot = cqe_slot(&qp->sq, cqe);

		order_observe(&qp->sq.wq);
		fill_good_request(qp, slot, cqe, wc);
		__atomic_store_n(&qp->sq.wq.tail, slot->tail_after, __ATOMIC_RELEASE);
		wc++;
		ci++;
		if (!--room || !cqe_step(cq, &cqe, ci, &last))
			return poll_done(cq, ci);
	}
	return mlx4_cq_poll_any(ibcq, room, wc, cqe, ci);
}

/* Polls SENDs without immediate data or key, which are most messages, in a loop of their own that
 * decodes nothing else. SUMS: set checksum flags. */
CQE_INLINE int poll_own(struct ibv_cq *ibcq, int room, struct ibv_wc *wc, const uint8_t *cqe,
			uint32_t ci, bool sums)
{
	struct mlx4_cq *cq = to_mcq(ibcq);
	struct mlx4_qp *const qp = cq->qp;
	const __be32 qpn = cq->qpn_be;
	uint8_t last = cqe[CQE_LAST];

	while (likely((last & LAST_MASK) == M4_RECV_SEND && cqe_qpn_be(cqe) == qpn)) {
		fill_send(cq, qp, wq_complete_next(&qp->rq.wq), qp->vqp.qp.qp_num, cqe, wc);
		if (sums && likely(cqe_checksums_are_right(cqe)))
			wc->wc_flags |= IBV_WC_IP_CSUM_OK;
		ci++;
		wc++;
		if (!--room || !cqe_step(cq, &cqe, ci, &last))
			return poll_done(cq, ci);
	}
	return mlx4_cq_poll_any(ibcq, room, wc, cqe, ci);
}

OUT_OF_LINE poll_sends(struct ibv_cq *cq, int room, struct ibv_wc *wc, const uint8_t *cqe,
		       uint32_t ci)
{
	return poll_own(cq, room, wc, cqe, ci, false);
}

OUT_OF_LINE poll_summed_sends(struct ibv_cq *cq, int room, struct ibv_wc *wc, const uint8_t *cqe,
			      uint32_t ci)
{
	return poll_own(cq, room, wc, cqe, ci, true);
}

/* Polls SENDs without immediate data or key to an SRQ: the SRQ of the CQ's last QP, or an XRC SRQ,
 * whose messages are not looked up by QP. LOCKED: holds the SRQ's lock for all of them. Otherwise
 * the process has one thread. */
CQE_INLINE int poll_shared(struct ibv_cq *ibcq, int room, struct ibv_wc *wc, const uint8_t *cqe,
			   uint32_t ci, bool xrc, bool locked)
{
	struct mlx4_cq *cq = to_mcq(ibcq);
	struct mlx4_qp *const qp = xrc ? NULL : cq->qp;
	struct mlx4_srq *const srq = xrc ? cq->srq : qp->srq;
	uint8_t last = cqe[CQE_LAST];

	if (locked)
		qlock_enter(&srq->lock);
	while (likely((last & LAST_MASK) == M4_RECV_SEND &&
		      (xrc ? cqe_is_for_srq(cq, cqe) : cqe_qpn_be(cqe) == cq->qpn_be))) {
		fill_send(cq, qp, srq_take_back(srq, cqe_wqe_index(cqe)),
			  xrc ? cqe_qpn(cqe) : qp->vqp.qp.qp_num, cqe, wc);
		wc++;
		ci++;
		if (!--room || !cqe_step(cq, &cqe, ci, &last)) {
			if (locked)
				qlock_leave(&srq->lock);
			return poll_done(cq, ci);
		}
	}
	if (locked)
		qlock_leave(&srq->lock);
	return mlx4_cq_poll_any(ibcq, room, wc, cqe, ci);
}

#define SHARED_LOOPS(name, xrc, srq_of)                                                      \
	OUT_OF_LINE name##_locked(struct ibv_cq *cq, int room, struct ibv_wc *wc,            \
				  const uint8_t *cqe, uint32_t ci)                           \
	{                                                                                    \
		return poll_shared(cq, room, wc, cqe, ci, xrc, true);                        \
	}                                                                                    \
	OUT_OF_LINE name(struct ibv_cq *cq, int room, struct ibv_wc *wc, const uint8_t *cqe, \
			 uint32_t ci)                                                        \
	{                                                                                    \
		return qlock_is_idle(&to_mcq(cq)->srq_of->lock)                              \
			       ? poll_shared(cq, room, wc, cqe, ci, xrc, false)              \
			       : name##_locked(cq, room, wc, cqe, ci);                       \
	}

SHARED_LOOPS(poll_shared_sends, false, qp->srq)
SHARED_LOOPS(poll_xrc_sends, true, srq)

/* Returns whether the CQE completes a request that the adapter flushed, because its QP has failed.
 * poll_flushed() handles flushed requests in a loop of their own, because all requests of a failed
 * QP end so. */
CQE_INLINE bool cqe_is_flush(const uint8_t *cqe)
{
	return (cqe[CQE_LAST] & FLD_BITS(M4_CQE_OPCODE)) == M4_CQE_ERROR &&
	       fld_get(cqe, M4_CQE_SYNDROME) == SYND_FLUSH;
}

/* Fills wc for a flushed request of QP. A flush has no cause of its own, so it is not logged.
 * Returns false, with nothing changed, for a receive of an SRQ. */
CQE_INLINE bool fill_flushed(struct mlx4_qp *qp, const uint8_t *cqe, struct ibv_wc *wc)
{
	uint32_t done_as;

	if (cqe_is_request(cqe))
		wc->wr_id = cqe_complete_request(qp, cqe, &done_as);
	else if (likely(!qp->srq))
		wc->wr_id = wq_complete_next(&qp->rq.wq);
	else
		return false;
	wc->status = IBV_WC_WR_FLUSH_ERR;
	wc->qp_num = cqe_qpn(cqe);
	wc->vendor_err = (uint32_t)fld_get(cqe, M4_CQE_VENDOR);
	return true;
}

/* Polls flushed requests of any QP: a program that ends a connection polls as many as it has
 * posted. Must not call mlx4_cq_poll_any(), which enters this loop whatever ROOM is. */
OUT_OF_LINE poll_flushed(struct ibv_cq *ibcq, int room, struct ibv_wc *wc, const uint8_t *cqe,
			 uint32_t ci)
{
	struct mlx4_cq *cq = to_mcq(ibcq);
	uint8_t last;

	while (likely(cqe_is_flush(cqe) && cqe_find_qp(cq, cqe) && fill_flushed(cq->qp, cqe, wc))) {
		wc++;
		ci++;
		if (!--room || !cqe_step(cq, &cqe, ci, &last))
			return poll_done(cq, ci);
	}
	cq->poll = mlx4_cq_poll_any;
	return poll_mixed(ibcq, room, wc, ci);
}

CQE_INLINE cq_poll_fn *poll_loop_for(const struct mlx4_cq *cq, const uint8_t *cqe)
{
	if (cqe_is_good_request(cqe))
		return poll_requests;
	if (cqe_is_flush(cqe))
		return poll_flushed;
	if (!cqe_is_send(cqe) || cq->has_time)
		return mlx4_cq_poll_any;
	if (cq->qp->has_checksums)
		return cq->qp->srq ? mlx4_cq_poll_any : poll_summed_sends;
	return cq->qp->srq ? poll_shared_sends : poll_sends;
}

OUT_OF_LINE poll_without_qp(struct ibv_cq *ibcq, int room, struct ibv_wc *wc, const uint8_t *cqe,
			    uint32_t ci)
{
	struct mlx4_cq *cq = to_mcq(ibcq);
	struct mlx4_srq *srq = cqe_find_srq(cq, cqe);

	if (!srq || !cqe_is_send(cqe) || cq->has_time)
		return poll_mixed(ibcq, room, wc, ci);
	cq->srq = srq;
	cq->srqn_be = cqe_srqn_be(cqe);
	cq->poll = poll_xrc_sends;
	return room == 1 ? poll_xrc_sends(ibcq, room, wc, cqe, ci) : poll_mixed(ibcq, room, wc, ci);
}

int mlx4_cq_poll_any(struct ibv_cq *ibcq, int room, struct ibv_wc *wc, const uint8_t *cqe,
		     uint32_t ci)
{
	struct mlx4_cq *cq = to_mcq(ibcq);

	if (unlikely(!cqe_find_qp(cq, cqe)))
		return poll_without_qp(ibcq, room, wc, cqe, ci);
	cq->poll = poll_loop_for(cq, cqe);
	/* Only one more completion fits, so no other kind can follow. */
	if ((room == 1 && cq->poll != mlx4_cq_poll_any) || cq->poll == poll_flushed)
		return cq->poll(ibcq, room, wc, cqe, ci);
	return poll_mixed(ibcq, room, wc, ci);
}

OUT_OF_LINE poll_exchanging(struct ibv_cq *ibcq, int room, struct ibv_wc *wc, const uint8_t *cqe,
			    uint32_t ci)
{
	struct mlx4_cq *cq = to_mcq(ibcq);

	if (unlikely(!qlock_exchange(&cq->lock)))
		provider_qlock_wait(&cq->lock);
	if (unlikely(cq->ci != ci))
		return poll_mixed(ibcq, room, wc, cq->ci);
	return cq->poll(ibcq, room, wc, cqe, ci);
}

/* Polls with the lock: the CQ's ring was replaced during the lockless look, so its result cannot be
 * trusted. */
OUT_OF_LINE look_again(struct ibv_cq *ibcq, int count, struct ibv_wc *wc)
{
	struct mlx4_cq *cq = to_mcq(ibcq);

	if (count <= 0)
		return 0;
	qlock_enter(&cq->lock);
	return poll_mixed(ibcq, count, wc, cq->ci);
}

/* Implements context->ops.poll_cq. Most polls of a spinning program find nothing, so an empty CQ is
 * detected without the lock. */
int mlx4_poll_cq(struct ibv_cq *ibcq, int count, struct ibv_wc *wc)
{
	struct mlx4_cq *cq = to_mcq(ibcq);
	const uint8_t *cqe;
	uint32_t ci;

	cqe = cqe_peek(cq, &ci);
	if (cqe_last_at(cq, cqe, ci) & FLD_BITS(M4_CQE_OWNER))
		return cqe_is_none(cq, ci) ? 0 : look_again(ibcq, count, wc);
	if (unlikely(count <= 0))
		return 0;
	if (cq->lock.shared && unlikely(!qlock_is_idle(&cq->lock)))
		return poll_exchanging(ibcq, count, wc, cqe, ci);
	return cq->poll(ibcq, count, wc, cqe, ci);
}

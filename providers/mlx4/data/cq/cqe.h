/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cqe.h - the only decoder of CQEs: their owner, the request they complete, and their fields.
 * ibv_poll_cq() copies the result; the readers of ibv_start_poll() read it in the ring.
 */
#ifndef PROVIDERS_MLX4_DATA_CQ_CQE_H
#define PROVIDERS_MLX4_DATA_CQ_CQE_H

#include <endian.h>

#include "prm/mlx4/cqe.h"
#include "providers/common/branch.h"
#include "providers/common/cq_resize.h"
#include "providers/mlx4/cq.h"
#include "providers/mlx4/data/datapath.h"
#include "providers/mlx4/qp.h"
#include "providers/mlx4/srq.h"
#include "util/barrier.h"

#define CQE_INLINE __attribute__((always_inline)) static inline

enum { CQE_LAST = M4_CQE_SIZE - 1 }; /* the byte with ownership and opcode */

struct completion {
	const uint8_t *cqe;
	struct mlx4_qp *qp;
	struct mlx4_srq *srq;
	uint64_t wr_id;
	uint32_t done_as;
	enum ibv_wc_status status;
};

CQE_INLINE const uint8_t *cqe_at(const struct mlx4_cq *cq, uint32_t index)
{
	return cq->ring + ((size_t)(index & cq->mask) << cq->entry_log);
}

CQE_INLINE bool cqe_is_sw_owned(const struct mlx4_cq *cq, const uint8_t *cqe, uint32_t index)
{
	uint8_t last = __atomic_load_n(cqe + CQE_LAST, __ATOMIC_RELAXED);

	uint32_t count_log = __atomic_load_n(&cq->count_log, __ATOMIC_RELAXED);

	return !((last >> 7 ^ index >> count_log) & 1);
}

/* Returns the next CQE, and its index in *CI. A result without the lock is valid if cq->ci is
 * unchanged when the lock is taken: a resize replaces the ring before the index
 * (providers/common/cq_resize.c). */
CQE_INLINE const uint8_t *cqe_peek(const struct mlx4_cq *cq, uint32_t *ci)
{
	const uint8_t *ring;
	uint32_t mask;

	*ci = __atomic_load_n(&cq->ci, __ATOMIC_ACQUIRE);
	/* Read the mask before the ring, because a resize replaces the ring before the mask. */
	mask = __atomic_load_n(&cq->mask, __ATOMIC_ACQUIRE);
	ring = __atomic_load_n(&cq->ring, __ATOMIC_RELAXED);
	return ring + ((size_t)(*ci & mask) << cq->entry_log);
}

/* Returns whether a poll without the lock that found no CQE at index CI is right. The index only
 * grows, so if the entry at a stale index has not arrived, no later one has. The ring could lap
 * within this call only with CQEs newer than the call. */
CQE_INLINE bool cqe_is_none(const struct mlx4_cq *cq, uint32_t ci)
{
	return likely(provider_cq_saw_one_ring(&cq->is_moving, &cq->ci, ci));
}

/* Returns the last byte of the CQE at CI, with the ownership bit 0 if software owns the CQE. */
CQE_INLINE uint8_t cqe_last_at(const struct mlx4_cq *cq, const uint8_t *cqe, uint32_t ci)
{
	uint8_t last = __atomic_load_n(cqe + CQE_LAST, __ATOMIC_RELAXED);
	uint32_t count_log = __atomic_load_n(&cq->count_log, __ATOMIC_RELAXED);

	/* The adapter writes the ownership bit last: a load of the rest before the check may return
	 * bytes of the previous lap. */
	dma_load_barrier();
	return last ^ (uint8_t)(ci >> count_log << FLD_SHIFT(M4_CQE_OWNER));
}

/* Advances from the CQE at CI - 1, which software owns, to the one at CI. Returns whether software
 * owns the CQE at CI, too: within a lap, their ownership bits are equal. Sets *LAST to the last
 * byte of the CQE at CI. */
CQE_INLINE bool cqe_step(const struct mlx4_cq *cq, const uint8_t **cqe, uint32_t ci, uint8_t *last)
{
	uint8_t before = (*cqe)[CQE_LAST];

	*cqe += cq->entry_size;
	if (unlikely(!(ci & cq->mask))) {
		*cqe = cq->ring;
		before ^= FLD_BITS(M4_CQE_OWNER);
	}
	*last = __atomic_load_n(*cqe + CQE_LAST, __ATOMIC_RELAXED);
	/* The adapter writes the ownership bit last: a load of the rest before the check may return
	 * bytes of the previous lap. */
	dma_load_barrier();
	return (int8_t)(*last ^ before) >= 0;
}

enum { LAST_MASK = FLD_BITS(M4_CQE_IS_SEND) | FLD_BITS(M4_CQE_OPCODE) };

CQE_INLINE bool cqe_is_request(const uint8_t *cqe)
{
	return cqe[CQE_LAST] & 1 << 6;
}

CQE_INLINE uint32_t cqe_opcode(const uint8_t *cqe)
{
	return cqe[CQE_LAST] & 0x1f;
}

CQE_INLINE bool cqe_is_good_request(const uint8_t *cqe)
{
	return cqe_is_request(cqe) && cqe_opcode(cqe) != M4_CQE_ERROR;
}

/* Does what cqe_is_good_request() does for LAST, the last byte of a CQE. M4_CQE_ERROR is above all
 * opcodes of requests, so that one compare decides. */
CQE_INLINE bool last_is_good_request(uint8_t last)
{
	return (uint8_t)((last & LAST_MASK) - FLD_BITS(M4_CQE_IS_SEND)) < M4_CQE_ERROR;
}

CQE_INLINE bool cqe_is_send(const uint8_t *cqe)
{
	return (cqe[CQE_LAST] & (FLD_BITS(M4_CQE_IS_SEND) | FLD_BITS(M4_CQE_OPCODE))) ==
	       M4_RECV_SEND;
}

CQE_INLINE uint32_t cqe_word(const uint8_t *cqe, uint32_t byte)
{
	return be32toh(*(const __be32 *)(cqe + byte));
}

/* ---- fields, converted for verbs ---- */

CQE_INLINE uint32_t cqe_qpn(const uint8_t *cqe)
{
	return cqe_word(cqe, FLD_BYTE(M4_CQE_QPN) & ~3u) & FLD_MASK(M4_CQE_QPN);
}

/* Returns whether the adapter has verified the checksums of an IPv4 packet: of the header and of
 * its payload. */
CQE_INLINE bool cqe_checksums_are_right(const uint8_t *cqe)
{
	const __be32 wanted = htobe32(M4_STATUS_IPV4 | M4_STATUS_IP_OK | M4_STATUS_L4_OK);

	return (*(const __be32 *)fld_at(cqe, M4_CQE_STATUS) & wanted) == wanted;
}

/* Returns how to report a received message with OPCODE: enum ibv_wc_opcode, with enum ibv_wc_flags
 * above it, as in struct wq_slot. */
CQE_INLINE uint32_t cqe_extra_of(uint32_t opcode)
{
	static const uint16_t extra[FLD_MASK(M4_CQE_OPCODE) + 1] = {
		[M4_RECV_WRITE_IMM] = IBV_WC_RECV_RDMA_WITH_IMM | IBV_WC_WITH_IMM
									  << WQ_DONE_FLAGS_SHIFT,
		[M4_RECV_SEND] = IBV_WC_RECV,
		[M4_RECV_SEND_IMM] = IBV_WC_RECV | IBV_WC_WITH_IMM << WQ_DONE_FLAGS_SHIFT,
		[M4_RECV_SEND_INVAL] = IBV_WC_RECV | IBV_WC_WITH_INV << WQ_DONE_FLAGS_SHIFT,
		[M4_CQE_ERROR] = IBV_WC_RECV,
	};

	return extra[opcode];
}

CQE_INLINE unsigned int cqe_recv_flags(bool has_checksums, const uint8_t *cqe)
{
	unsigned int all = fld_get(cqe, M4_CQE_GRH) ? IBV_WC_GRH : 0;

	if (unlikely(has_checksums && cqe_checksums_are_right(cqe)))
		all |= IBV_WC_IP_CSUM_OK;
	return all;
}

CQE_INLINE __be32 cqe_imm(const uint8_t *cqe)
{
	__be32 imm = *(const __be32 *)fld_at(cqe, M4_CQE_IMM);

	if (unlikely(cqe_opcode(cqe) == M4_RECV_SEND_INVAL))
		imm = (__be32)be32toh(imm);
	return imm;
}

CQE_INLINE uint32_t cqe_byte_len(const uint8_t *cqe)
{
	return cqe_word(cqe, FLD_BYTE(M4_CQE_BYTE_COUNT));
}

/* Returns the SL, or on Ethernet the priority in the VLAN tag, which the CQE has instead. */
CQE_INLINE uint8_t cqe_sl(bool is_ethernet, const uint8_t *cqe)
{
	return is_ethernet ? fld_get(cqe, M4_CQE_ETH_PRIO) : fld_get(cqe, M4_CQE_SL);
}

/* ---- taking a CQE ---- */

void mlx4_cqe_fail(struct completion *comp);

CQE_INLINE __be32 cqe_first_word(const uint8_t *cqe)
{
	return *(const __be32 *)cqe;
}

CQE_INLINE __be32 cqe_qpn_be(const uint8_t *cqe)
{
	return cqe_first_word(cqe) & htobe32(FLD_BITS(M4_CQE_QPN));
}

/* Forgets the cached QP of the last CQE. Its number may soon belong to another QP, whose CQEs would
 * otherwise complete on the freed one. */
CQE_INLINE void cq_forget_qp(struct mlx4_cq *cq)
{
	cq->qpn_be = M4_NO_QPN;
	cq->ring_word = M4_NO_WORD;
	cq->qp = NULL;
}

CQE_INLINE bool cqe_look_up(struct mlx4_cq *cq, __be32 qpn)
{
	struct mlx4_qp *qp = qpn & htobe32(M4_XRC_TARGET) ? NULL : id_find(cq->ids, be32toh(qpn));

	if (likely(qp || cq->qp)) /* the XRC loop stays, because it looks for SRQs and has no QP */
		cq->poll = mlx4_cq_poll_any;
	cq->qpn_be = qp ? qpn : M4_NO_QPN;
	cq->ring_word = M4_NO_WORD;
	cq->qp = qp;
	return qp;
}

/* Sets cq->qp to the CQE's QP. Returns false if it does not exist, or if the CQE is an XRC
 * message. */
CQE_INLINE bool cqe_find_qp(struct mlx4_cq *cq, const uint8_t *cqe)
{
	const __be32 qpn = cqe_qpn_be(cqe);

	return likely(qpn == cq->qpn_be) || cqe_look_up(cq, qpn);
}

CQE_INLINE struct mlx4_srq *cqe_find_srq(const struct mlx4_cq *cq, const uint8_t *cqe)
{
	if (!(cqe_qpn(cqe) & M4_XRC_TARGET) || cqe_is_request(cqe))
		return NULL;
	return id_find(cq->ids, srq_id(fld_get(cqe, M4_CQE_RQPN)));
}

CQE_INLINE __be32 cqe_srqn_be(const uint8_t *cqe)
{
	return *(const __be32 *)(cqe + FLD_DWORD(M4_CQE_RQPN) * sizeof(__be32)) &
	       htobe32(FLD_BITS(M4_CQE_RQPN));
}

CQE_INLINE bool cqe_is_for_srq(const struct mlx4_cq *cq, const uint8_t *cqe)
{
	return *(const __be32 *)cqe & htobe32(M4_XRC_TARGET) && cqe_srqn_be(cqe) == cq->srqn_be;
}

CQE_INLINE uint32_t cqe_wqe_index(const uint8_t *cqe)
{
	return be16toh(*(const __be16 *)(cqe + FLD_BYTE(M4_CQE_WQE_INDEX)));
}

/* Returns the slot of a request. The WQE's index is the upper half of a word, so that one shift
 * turns it into a byte offset. */
CQE_INLINE struct wq_slot *cqe_slot(const struct mlx4_sq *sq, const uint8_t *cqe)
{
	enum { SLOT_LOG = 4 };
	uint32_t word = cqe_word(cqe, FLD_DWORD(M4_CQE_WQE_INDEX) * 4);
	uint32_t bytes = word >> (FLD_SHIFT(M4_CQE_WQE_INDEX) - SLOT_LOG) & sq->note_mask;

	static_assert(sizeof(struct wq_slot) == 1 << SLOT_LOG, "struct wq_slot");
	return (struct wq_slot *)((uint8_t *)sq->done_slots + bytes);
}

/* Writes 8 to the byte count of an atomic's CQE, which software owns, because the adapter does not
 * set it. Readers then need no check. Returns DONE_AS without SENT_ATOMIC. */
CQE_INLINE uint32_t cqe_count_atomic(const uint8_t *cqe, uint32_t done_as)
{
	enum { ATOMIC_BYTES = 8 };

	*(__be32 *)fld_at(cqe, M4_CQE_BYTE_COUNT) = htobe32(ATOMIC_BYTES);
	return done_as & ~SENT_ATOMIC;
}

CQE_INLINE uint64_t cqe_complete_request(struct mlx4_qp *qp, const uint8_t *cqe, uint32_t *done_as)
{
	uint64_t wr_id = wq_complete_slot(&qp->sq.wq, cqe_slot(&qp->sq, cqe), done_as);

	if (unlikely(*done_as & SENT_ATOMIC))
		*done_as = cqe_count_atomic(cqe, *done_as);
	return wr_id;
}

CQE_INLINE void cqe_complete(struct completion *comp)
{
	struct mlx4_qp *qp = comp->qp;

	if (comp->srq)
		comp->wr_id = srq_complete(comp->srq, cqe_wqe_index(comp->cqe));
	else if (cqe_is_request(comp->cqe))
		comp->wr_id = cqe_complete_request(qp, comp->cqe, &comp->done_as);
	else if (qp->srq)
		comp->wr_id = srq_complete(qp->srq, cqe_wqe_index(comp->cqe));
	else
		comp->wr_id = wq_complete_next(&qp->rq.wq);
}

/* Takes the next CQE at *CI, and advances *CI. Returns false if there is none. Skips CQEs of QPs
 * that do not exist: the program has destroyed them, and wants no completion. */
CQE_INLINE bool cqe_take(struct mlx4_cq *cq, uint32_t *ci, struct completion *comp)
{
	struct mlx4_srq *srq = NULL;
	const uint8_t *cqe;

	for (;;) {
		cqe = cqe_at(cq, *ci);
		if (!cqe_is_sw_owned(cq, cqe, *ci))
			return false;
		/* The adapter writes the ownership bit last: a load of the rest before the check
		 * may return bytes of the previous lap. */
		dma_load_barrier();
		++*ci;
		if (likely(cqe_find_qp(cq, cqe)))
			break;
		srq = cqe_find_srq(cq, cqe);
		if (srq)
			break;
	}
	*comp = (struct completion){ .cqe = cqe, .qp = cq->qp, .srq = srq };
	cqe_complete(comp);
	if (unlikely(cqe_opcode(cqe) == M4_CQE_ERROR))
		mlx4_cqe_fail(comp);
	return true;
}

#endif

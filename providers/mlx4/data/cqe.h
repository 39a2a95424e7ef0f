/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cqe.h - the only decoder of CQEs: whose a CQE is, which request it completes, and what its fields
 * say. ibv_poll_cq() copies that, the readers of ibv_start_poll() look at it in place.
 */
#ifndef PROVIDERS_MLX4_DATA_CQE_H
#define PROVIDERS_MLX4_DATA_CQE_H

#include <endian.h>

#include "prm/mlx4/cqe.h"
#include "providers/common/branch.h"
#include "providers/mlx4/cq.h"
#include "providers/mlx4/qp.h"
#include "providers/mlx4/srq.h"
#include "util/barrier.h"

#define CQE_INLINE __attribute__((always_inline)) static inline

enum { CQE_LAST = M4_CQE_SIZE - 1 }; /* the byte of ownership and opcode */

/* A completion holds what is known of a CQE when its request is completed. */
struct completion {
	const uint8_t *cqe;
	struct mlx4_qp *qp;   /* NULL: what was received for XRC, */
	struct mlx4_srq *srq; /* in this SRQ */
	uint64_t wr_id;
	uint32_t done_as; /* of a request */
	enum ibv_wc_status status;
};

CQE_INLINE const uint8_t *cqe_at(const struct mlx4_cq *cq, uint32_t index)
{
	return cq->ring + ((size_t)(index & cq->mask) << cq->entry_log);
}

CQE_INLINE bool cqe_is_sw_owned(const struct mlx4_cq *cq, const uint8_t *cqe, uint32_t index)
{
	uint8_t last = *(const volatile uint8_t *)(cqe + CQE_LAST);

	return !((last >> 7 ^ index >> cq->count_log) & 1);
}

CQE_INLINE bool cqe_is_request(const uint8_t *cqe)
{
	return cqe[CQE_LAST] & 1 << 6;
}

CQE_INLINE uint32_t cqe_opcode(const uint8_t *cqe)
{
	return cqe[CQE_LAST] & 0x1f;
}

CQE_INLINE uint32_t cqe_word(const uint8_t *cqe, uint32_t byte)
{
	return be32toh(*(const __be32 *)(cqe + byte));
}

/* ---- fields, in the words of verbs ---- */

CQE_INLINE uint32_t cqe_qpn(const uint8_t *cqe)
{
	return cqe_word(cqe, FLD_BYTE(M4_CQE_QPN) & ~3u) & FLD_MASK(M4_CQE_QPN);
}

CQE_INLINE enum ibv_wc_opcode cqe_recv_opcode(const uint8_t *cqe)
{
	return cqe_opcode(cqe) == M4_RECV_WRITE_IMM ? IBV_WC_RECV_RDMA_WITH_IMM : IBV_WC_RECV;
}

/* Of IPv4, the adapter has verified the checksums of the header and of what is behind it. */
CQE_INLINE bool cqe_checksums_are_right(const uint8_t *cqe)
{
	const __be32 wanted = htobe32(M4_STATUS_IPV4 | M4_STATUS_IP_OK | M4_STATUS_L4_OK);

	return (*(const __be32 *)fld_at(cqe, M4_CQE_STATUS) & wanted) == wanted;
}

/* What a message has by its opcode. */
CQE_INLINE unsigned int cqe_recv_flags_of(uint32_t opcode)
{
	static const uint8_t flags[FLD_MASK(M4_CQE_OPCODE) + 1] = {
		[M4_RECV_WRITE_IMM] = IBV_WC_WITH_IMM,
		[M4_RECV_SEND_IMM] = IBV_WC_WITH_IMM,
		[M4_RECV_SEND_INVAL] = IBV_WC_WITH_INV,
	};

	return flags[opcode];
}

CQE_INLINE unsigned int cqe_recv_flags(bool has_checksums, const uint8_t *cqe)
{
	unsigned int all = cqe_recv_flags_of(cqe_opcode(cqe));

	if (unlikely(has_checksums && cqe_checksums_are_right(cqe)))
		all |= IBV_WC_IP_CSUM_OK;
	if (unlikely(fld_get(cqe, M4_CQE_GRH)))
		all |= IBV_WC_GRH;
	return all;
}

CQE_INLINE __be32 cqe_imm(const uint8_t *cqe)
{
	__be32 imm = *(const __be32 *)fld_at(cqe, M4_CQE_IMM);

	if (unlikely(cqe_opcode(cqe) == M4_RECV_SEND_INVAL))
		imm = (__be32)be32toh(imm);
	return imm;
}

CQE_INLINE uint32_t cqe_byte_len(const uint8_t *cqe, uint32_t done_as)
{
	enum { ATOMIC_BYTES = 8 };

	switch (done_as & WQ_DONE_OPCODE_MASK) {
	case IBV_WC_COMP_SWAP:
	case IBV_WC_FETCH_ADD:
		return ATOMIC_BYTES;
	default:
		return cqe_word(cqe, FLD_BYTE(M4_CQE_BYTE_COUNT));
	}
}

/* On Ethernet, the priority of a VLAN tag is where others have a service level. */
CQE_INLINE uint8_t cqe_sl(bool is_ethernet, const uint8_t *cqe)
{
	return is_ethernet ? fld_get(cqe, M4_CQE_ETH_PRIO) : fld_get(cqe, M4_CQE_SL);
}

/* ---- taking a CQE ---- */

/* The function decodes a CQE with an error, whose request is completed. */
void mlx4_cqe_fail(struct completion *comp);

/* The function finds the QP of the CQE; NULL: it is for none, or was received for XRC. */
CQE_INLINE bool cqe_find_qp(struct mlx4_cq *cq, const uint8_t *cqe)
{
	const __be32 qpn = *(const __be32 *)cqe & htobe32(FLD_BITS(M4_CQE_QPN));
	struct mlx4_qp *qp;

	if (likely(qpn == cq->qpn_be))
		return true;
	qp = qpn & htobe32(M4_XRC_TARGET) ? NULL : id_find(cq->ids, be32toh(qpn));
	cq->qpn_be = qp ? qpn : M4_NO_QPN;
	cq->qp = qp;
	return qp;
}

/* The function finds the SRQ of a CQE that is for no QP of this context; NULL: there is none. */
CQE_INLINE struct mlx4_srq *cqe_find_srq(const struct mlx4_cq *cq, const uint8_t *cqe)
{
	if (!(cqe_qpn(cqe) & M4_XRC_TARGET) || cqe_is_request(cqe))
		return NULL;
	return id_find(cq->ids, srq_id(fld_get(cqe, M4_CQE_RQPN)));
}

CQE_INLINE uint32_t cqe_wqe_index(const uint8_t *cqe)
{
	return be16toh(*(const __be16 *)(cqe + FLD_BYTE(M4_CQE_WQE_INDEX)));
}

/* The function completes the request that the CQE is for. */
CQE_INLINE void cqe_complete(struct completion *comp)
{
	struct mlx4_qp *qp = comp->qp;

	if (comp->srq)
		comp->wr_id = srq_complete(comp->srq, cqe_wqe_index(comp->cqe));
	else if (cqe_is_request(comp->cqe))
		comp->wr_id = wq_complete_at(&qp->sq.wq, cqe_wqe_index(comp->cqe), &comp->done_as);
	else if (qp->srq)
		comp->wr_id = srq_complete(qp->srq, cqe_wqe_index(comp->cqe));
	else
		comp->wr_id = wq_complete_next(&qp->rq.wq);
}

/* The function takes the next CQE at *CI, and moves *CI on. It returns false when there is none;
 * CQEs of QPs that are not there are skipped. */
CQE_INLINE bool cqe_take(struct mlx4_cq *cq, uint32_t *ci, struct completion *comp)
{
	struct mlx4_srq *srq = NULL;
	const uint8_t *cqe;

	for (;;) {
		cqe = cqe_at(cq, *ci);
		if (!cqe_is_sw_owned(cq, cqe, *ci))
			return false;
		/* The ownership bit is written last: what we read from here on belongs to it. */
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

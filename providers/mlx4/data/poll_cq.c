/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * poll_cq.c - ibv_poll_cq().
 */
#include <stddef.h>
#include <string.h>

#include "providers/mlx4/data/cqe.h"
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

/* What a success says in any case: four fields, two at once. */
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
	uint64_t wr_id = wq_complete_at(&qp->sq.wq, cqe_wqe_index(cqe), &done_as);

	fill_success(wc, wr_id, done_as & WQ_DONE_OPCODE_MASK, cqe_byte_len(cqe, done_as),
		     qp->vqp.qp.qp_num);
	wc->wc_flags = done_as >> WQ_DONE_FLAGS_SHIFT;
}

/* What a message is by its opcode: ibv_wc_opcode, and ibv_wc_flags. */
static const struct {
	uint8_t opcode, flags;
} messages[FLD_MASK(M4_CQE_OPCODE) + 1] = {
	[M4_RECV_WRITE_IMM] = { IBV_WC_RECV_RDMA_WITH_IMM, IBV_WC_WITH_IMM },
	[M4_RECV_SEND] = { IBV_WC_RECV, 0 },
	[M4_RECV_SEND_IMM] = { IBV_WC_RECV, IBV_WC_WITH_IMM },
	[M4_RECV_SEND_INVAL] = { IBV_WC_RECV, IBV_WC_WITH_INV },
};

/* The function says from whom a message is: the last eight bytes of a completion, two of which mean
 * nothing. RQPN and SL_RLID are words of the CQE. */
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

/* The function says what was received, which is for QP; for XRC it is NULL. All of the CQE is read
 * before anything is written, which the compiler must take for a part of it. */
CQE_INLINE void fill_message(const struct mlx4_cq *cq, const struct mlx4_qp *qp, uint64_t wr_id,
			     uint32_t qpn, const uint8_t *cqe, struct ibv_wc *wc)
{
	const uint64_t from = be64toh(*(const __be64 *)(cqe + CQE_FROM)) & cq->from_mask;
	const uint32_t opcode = cqe_opcode(cqe), rqpn = from >> 32;
	const uint32_t byte_len = cqe_word(cqe, FLD_BYTE(M4_CQE_BYTE_COUNT));
	const __be32 imm = *(const __be32 *)fld_at(cqe, M4_CQE_IMM);
	uint32_t flags = messages[opcode].flags | rqpn >> FLD_SHIFT(M4_CQE_GRH);
	uint64_t pair, last = from_whom(be32toh(imm) & 0x7f, rqpn, (uint32_t)from,
					qp ? qp->sl_shift : FLD_SHIFT(M4_CQE_SL));

	if (unlikely(qp && qp->has_checksums && cqe_checksums_are_right(cqe)))
		flags |= IBV_WC_IP_CSUM_OK;
	fill_success(wc, wr_id, messages[opcode].opcode, byte_len, qpn);
	wc->imm_data = imm;
	if (unlikely(opcode == M4_RECV_SEND_INVAL))
		wc->invalidated_rkey = be32toh(imm);
	pair = side_by_side(rqpn & FLD_MASK(M4_CQE_RQPN), flags);
	memcpy(&wc->src_qp, &pair, sizeof(pair));
	memcpy(&wc->pkey_index, &last, sizeof(last));
}

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

/* The function says what a CQE says that is for no QP of this context. It returns false when that
 * is for no SRQ of XRC, either. */
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

/* The function says what a CQE says, which is for QP. */
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

/* The function polls with the lock, from CI on, and moves that; it returns how many WC it filled.
 * CQEs of queues that are not there are skipped. */
CQE_INLINE int poll_ring(struct mlx4_cq *cq, uint32_t *ci, int count, struct ibv_wc *wc)
{
	struct ibv_wc *const first = wc, *const end = wc + count;
	const uint8_t *cqe;

	while (wc < end) {
		cqe = cqe_at(cq, *ci);
		if (!cqe_is_sw_owned(cq, cqe, *ci))
			break;
		/* The ownership bit is written last: what we read from here on belongs to it. */
		dma_load_barrier();
		++*ci;
		if (likely(cqe_find_qp(cq, cqe)))
			fill_wc(cq, cq->qp, cqe, wc++);
		else
			wc += fill_shared(cq, cqe, wc);
	}
	return (int)(wc - first);
}

int mlx4_poll_cq(struct ibv_cq *ibcq, int count, struct ibv_wc *wc)
{
	struct mlx4_cq *cq = to_mcq(ibcq);
	uint32_t ci;
	int n;

	qlock_enter(&cq->lock);
	ci = cq->ci;
	n = poll_ring(cq, &ci, count, wc);
	if (ci != cq->ci) {
		__atomic_store_n(&cq->ci, ci, __ATOMIC_RELAXED);
		doorbell_cq_consumed(cq->dbrec, ci);
	}
	qlock_leave(&cq->lock);
	return n;
}

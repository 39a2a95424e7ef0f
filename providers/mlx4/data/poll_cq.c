/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * poll_cq.c - ibv_poll_cq().
 */
#include <stddef.h>
#include <string.h>

#include "providers/mlx4/data/cqe.h"
#include "providers/mlx4/data/datapath.h"
#include "providers/mlx4/data/doorbell.h"

enum { CQE_RLID = 14 };

static_assert(FLD_BIT(M4_CQE_RLID) == 8 * CQE_RLID && FLD_WIDTH(M4_CQE_RLID) == 16, "two bytes");
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

/* The function says what was received, which is for QP; for XRC it is NULL. */
CQE_INLINE void fill_message(const struct mlx4_cq *cq, const struct mlx4_qp *qp, uint64_t wr_id,
			     uint32_t qpn, const uint8_t *cqe, struct ibv_wc *wc)
{
	uint32_t rqpn = cqe_word(cqe, FLD_BYTE(M4_CQE_RQPN) & ~3u);

	fill_success(wc, wr_id, cqe_recv_opcode(cqe), cqe_word(cqe, FLD_BYTE(M4_CQE_BYTE_COUNT)),
		     qpn);
	wc->wc_flags = cqe_recv_flags(qp && qp->has_checksums, cqe);
	wc->imm_data = cqe_imm(cqe);
	wc->src_qp = rqpn & FLD_MASK(M4_CQE_RQPN);
	wc->dlid_path_bits = rqpn >> FLD_SHIFT(M4_CQE_PATH_BITS) & FLD_MASK(M4_CQE_PATH_BITS);
	wc->pkey_index = cqe_word(cqe, FLD_BYTE(M4_CQE_IMM)) & 0x7f;
	wc->slid = 0;
	wc->sl = 0;
	if (unlikely(cq->has_time)) /* which is there */
		return;
	wc->slid = be16toh(*(const __be16 *)(cqe + CQE_RLID));
	wc->sl = cqe_sl(qp && qp->is_ethernet, cqe);
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
	const uint8_t *cqe;
	int n = 0;

	while (n < count) {
		cqe = cqe_at(cq, *ci);
		if (!cqe_is_sw_owned(cq, cqe, *ci))
			break;
		/* The ownership bit is written last: what we read from here on belongs to it. */
		dma_load_barrier();
		++*ci;
		if (likely(cqe_find_qp(cq, cqe)))
			fill_wc(cq, cq->qp, cqe, &wc[n++]);
		else
			n += fill_shared(cq, cqe, &wc[n]);
	}
	return n;
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

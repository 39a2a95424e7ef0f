/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * poll_cq.c - ibv_poll_cq().
 */
#include "providers/mlx4/data/cqe.h"
#include "providers/mlx4/data/datapath.h"
#include "providers/mlx4/data/doorbell.h"

static void fill_message(const struct mlx4_cq *cq, const struct completion *comp, struct ibv_wc *wc)
{
	const uint8_t *cqe = comp->cqe;

	wc->opcode = cqe_recv_opcode(cqe);
	wc->byte_len = cqe_byte_len(cqe, 0);
	wc->wc_flags = cqe_recv_flags(cqe);
	wc->imm_data = cqe_imm(cqe);
	wc->src_qp = (uint32_t)fld_get(cqe, M4_CQE_RQPN);
	wc->dlid_path_bits = fld_get(cqe, M4_CQE_PATH_BITS);
	wc->pkey_index = cqe_word(cqe, FLD_BYTE(M4_CQE_IMM)) & 0x7f;
	/* A CQ with timestamps has them there. */
	wc->slid = cq->has_time ? 0 : fld_get(cqe, M4_CQE_RLID);
	wc->sl = cq->has_time ? 0 : cqe_sl(comp->qp, cqe);
}

static void fill_wc(const struct mlx4_cq *cq, const struct completion *comp, struct ibv_wc *wc)
{
	wc->wr_id = comp->wr_id;
	wc->status = comp->status;
	wc->qp_num = comp->qp->vqp.qp.qp_num;
	if (unlikely(comp->status)) {
		wc->vendor_err = (uint32_t)fld_get(comp->cqe, M4_CQE_VENDOR);
		return;
	}
	wc->vendor_err = 0;
	if (cqe_is_request(comp->cqe)) {
		wc->opcode = comp->done_as & WQ_DONE_OPCODE_MASK;
		wc->wc_flags = 0;
		wc->byte_len = cqe_byte_len(comp->cqe, comp->done_as);
	} else {
		fill_message(cq, comp, wc);
	}
}

int mlx4_poll_cq(struct ibv_cq *ibcq, int count, struct ibv_wc *wc)
{
	struct mlx4_cq *cq = to_mcq(ibcq);
	struct completion comp;
	uint32_t ci;
	int n = 0;

	qlock_enter(&cq->lock);
	for (ci = cq->ci; n < count && cqe_take(cq, &ci, &comp); n++)
		fill_wc(cq, &comp, &wc[n]);
	if (ci != cq->ci) {
		__atomic_store_n(&cq->ci, ci, __ATOMIC_RELAXED);
		doorbell_cq_consumed(cq->dbrec, ci);
	}
	qlock_leave(&cq->lock);
	return n;
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * srq_fault.c - buffers of a shared receive queue whose pages come on demand.
 *
 * An adapter cannot hold a WQE back that others wait behind, so a message that meets an absent page
 * is put off: its WQE completes in error, and the peer is told to try again; a datagram is lost.
 * The driver reads the WQE in the ring, brings its pages and lets the QP go on.
 */
#include "prm/mlx5/cqe.h"
#include "softhca/device/core.h"
#include "softhca/device/queue/wqe.h"

/* Reads a WQE behind its link, by which software may have listed it as free, and returns how many
 * bytes that is. */
static uint32_t waiting_bytes(struct hca *hca, const struct srq *srq, uint16_t index, uint8_t *raw)
{
	uint32_t len = srq->stride - WQE_SEG;
	struct dma_batch batch;

	dma_begin_read(&batch, hca, raw);
	if (dma_add_map(&batch, &srq->map, (uint64_t)index * srq->stride + WQE_SEG, len) ||
	    dma_finish(&batch))
		return 0;
	return len;
}

bool srq_has_pages(struct hca *hca, const struct recv_wqe *wqe, uint64_t len)
{
	for (unsigned int i = 0; len && i < wqe->num_sge; i++) {
		const struct wqe_sge *sge = &wqe->sge[i];
		const struct mkey *mkey = mkey_find(hca, sge->lkey);
		uint64_t part = sge->len < len ? sge->len : len;

		if (mkey && !odp_has(mkey, sge->addr, part))
			return false;
		len -= part;
	}
	return true;
}

static void bring_pages(struct hca *hca, const struct responder *resp)
{
	uint8_t raw[RECV_WQE_MAX];
	uint32_t len = waiting_bytes(hca, resp->fault.srq, resp->fault.index, raw);
	struct recv_wqe wqe;

	if (!len)
		return;
	if (hca->config.strict)
		rules_srq_waited(hca, resp->fault.srq, resp->fault.index, resp->fault_digest, raw,
				 len);
	hca->format->decode_recv(raw, len, &wqe);
	for (unsigned int i = 0; i < wqe.num_sge; i++) {
		struct mkey *mkey = mkey_find(hca, wqe.sge[i].lkey);

		if (mkey && odp_bring(mkey, wqe.sge[i].addr, wqe.sge[i].len))
			return;
	}
}

/* The WQE was taken out of its queue for nothing: an error completion gives it back to software,
 * but the QP is as before. */
void srq_report_fault(struct hca *hca, struct qp *qp)
{
	struct completion done = {
		.opcode = CQE_OP_RESP_ERR,
		.syndrome = SYND_REMOTE_ABORTED,
		.vendor_syndrome = VEND_PAGE_FAULT,
	};
	struct responder *resp = &qp->resp;
	uint8_t raw[RECV_WQE_MAX];

	resp->fault.srq = resp->held.srq;
	resp->fault.index = resp->held.index;
	if (hca->config.strict)
		resp->fault_digest = rules_digest(
			raw, waiting_bytes(hca, resp->fault.srq, resp->fault.index, raw));
	rq_complete(hca, qp, &done);
}

void srq_resolve_fault(struct hca *hca, struct qp *qp)
{
	if (qp->resp.fault.srq)
		bring_pages(hca, &qp->resp);
	qp->resp.fault.srq = NULL;
}

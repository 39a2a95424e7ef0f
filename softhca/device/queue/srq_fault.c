/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * srq_fault.c - page faults on the buffers of a shared receive queue (ODP).
 *
 * An adapter cannot hold back one WQE of an SRQ that other QPs also use. So a message that hits an
 * absent page takes a WQE and completes it in error, and the sender gets an RNR NAK; a datagram is
 * lost. The driver reads the WQE from the ring, brings its pages and lets the QP continue.
 */
#include "prm/mlx5/cqe.h"
#include "softhca/device/core.h"
#include "softhca/device/queue/wqe.h"

/* Reads a WQE without its first segment, the link, and returns the number of bytes; 0 on failure.
 * The link may have changed, as software may have put the WQE in its free list. */
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

/* Completes the WQE in error, which returns it to software. The QP stays in its state. */
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

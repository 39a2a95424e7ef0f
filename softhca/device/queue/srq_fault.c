/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * srq_fault.c - buffers of a shared receive queue whose pages come on demand.
 *
 * An adapter cannot hold a WQE back that others wait behind, so a message that meets an absent page
 * is put off: its WQE completes in error, and the peer is told to try again. The driver reads the
 * WQE in the ring, brings its pages and lets the QP go on.
 */
#include "softhca/device/core.h"

bool srq_has_pages(struct hca *hca, const struct recv_wqe *wqe, uint64_t len)
{
	for (unsigned int i = 0; len && i < wqe->num_sge; i++) {
		const struct wqe_sge *sge = &wqe->sge[i];
		const struct mkey *mkey = res_get(&hca->mkeys, sge->lkey >> 8);
		uint64_t part = sge->len < len ? sge->len : len;

		if (mkey && !odp_has(mkey, sge->addr, part))
			return false;
		len -= part;
	}
	return true;
}

void srq_bring_pages(struct hca *hca, struct srq *srq, uint16_t index)
{
	uint8_t raw[RECV_WQE_MAX];
	struct dma_batch batch;
	struct recv_wqe wqe;

	dma_begin_read(&batch, hca, raw);
	if (dma_add_map(&batch, &srq->map, (uint64_t)index * srq->stride, srq->stride) ||
	    dma_finish(&batch))
		return;
	hca->format->decode_srq(raw, srq->stride, &wqe);
	for (unsigned int i = 0; i < wqe.num_sge; i++) {
		struct mkey *mkey = res_get(&hca->mkeys, wqe.sge[i].lkey >> 8);

		if (mkey && odp_bring(mkey, wqe.sge[i].addr, wqe.sge[i].len))
			return;
	}
}

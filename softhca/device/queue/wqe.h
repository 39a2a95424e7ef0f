/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * wqe.h - the reasons for which the device refuses a WQE, and transfers of a WQE's segments.
 *
 * Each reason is a vendor syndrome of its own, so that tests and readers can tell them apart. Those
 * that adapters are known to report are in prm/mlx5/cqe.h.
 */
#ifndef SOFTHCA_DEVICE_QUEUE_WQE_H
#define SOFTHCA_DEVICE_QUEUE_WQE_H

#include "prm/mlx5/wqe.h"
#include "softhca/device/core.h"

enum wqe_refusal {
	/* These reasons say that the WQE itself is wrong. */
	WQE_BAD_OPCODE = 0x68,
	WQE_BAD_INDEX = 0x69,
	WQE_BAD_QPN = 0x6a,
	WQE_BAD_SIZE = 0x6b,
	WQE_BAD_INLINE = 0x6c,
	WQE_BAD_FETCH = 0x6d,
	WQE_BAD_LENGTH = 0x6e,
	WQE_BAD_AV = 0x6f,
	WQE_BAD_SIGNATURE = 0x67,
	/* These reasons concern the memory key that the WQE changes. */
	WQE_BAD_MKEY = 0x70,
	WQE_BAD_UMR = 0x71,
	WQE_BAD_TAG = 0x72, /* bad operation on tags, or bad index of a tag */
	/* These reasons concern the WQE's data. */
	WQE_BAD_LKEY = 0x51,
	WQE_BAD_DMA = 0x56,
};

/* Returns how many blocks QP's send WQE at RAW has; 0: the WQE is not valid. */
static inline uint32_t wqe_bbs(const struct hca *hca, const struct qp *qp, const uint8_t *raw)
{
	uint32_t bbs = (hca->format->wqe_size(raw) + qp->sq.block - 1) / qp->sq.block;

	return hca->format->wqe_is_block && bbs > 1 ? 0 : bbs;
}

uint8_t wqe_syndrome(int why);

enum { LOG_MAX_COPY = 24 };

/* Adds to a transfer LEN bytes of the segments, from OFFSET on. Returns 0, WQE_BAD_LKEY or
 * WQE_BAD_DMA. */
int sges_add(struct dma_batch *batch, const struct pd *pd, unsigned int access,
	     const struct wqe_sge *sge, unsigned int count, uint64_t offset, uint64_t len);
int sges_dma(struct dma_batch *batch, const struct pd *pd, unsigned int access,
	     const struct wqe_sge *sge, unsigned int count, uint64_t offset, uint64_t len);
/* Copies memory to memory. Returns 0 or the reason for refusing it. */
int sges_copy(struct hca *hca, const struct pd *pd, const struct wqe_sge *from,
	      const struct wqe_sge *to);
bool sges_allow(struct hca *hca, const struct pd *pd, unsigned int access,
		const struct wqe_sge *sge, unsigned int count);

#endif

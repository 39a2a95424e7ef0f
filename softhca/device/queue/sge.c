/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sge.c - transfers from and to the memory that a work request's segments describe.
 */
#include <string.h>

#include "softhca/device/core.h"
#include "softhca/device/queue/wqe.h"

static int sge_add(struct dma_batch *batch, const struct pd *pd, unsigned int access,
		   const struct wqe_sge *sge, uint64_t skip, uint64_t len)
{
	struct mkey *mkey;
	int ret;

	if (sge->data) {
		ret = dma_finish(batch);
		if (ret)
			return ret;
		memcpy(batch->buf, sge->data + skip, len);
		batch->buf += len;
		return 0;
	}
	mkey = mkey_check(batch->hca, sge->lkey, pd, access, sge->addr + skip, len);
	if (!mkey)
		return WQE_BAD_LKEY;
	return mkey_dma(batch, mkey, sge->addr + skip, len) ? WQE_BAD_DMA : 0;
}

int sges_add(struct dma_batch *batch, const struct pd *pd, unsigned int access,
	     const struct wqe_sge *sge, unsigned int count, uint64_t offset, uint64_t len)
{
	int ret;

	for (; len && count; sge++, count--) {
		uint64_t part;

		if (offset >= sge->len) {
			offset -= sge->len;
			continue;
		}
		part = sge->len - offset < len ? sge->len - offset : len;
		ret = sge_add(batch, pd, access, sge, offset, part);
		if (ret)
			return ret;
		len -= part;
		offset = 0;
	}
	return 0;
}

int sges_dma(struct dma_batch *batch, const struct pd *pd, unsigned int access,
	     const struct wqe_sge *sge, unsigned int count, uint64_t offset, uint64_t len)
{
	int ret = sges_add(batch, pd, access, sge, count, offset, len);

	if (ret)
		return ret;
	return dma_finish(batch) ? WQE_BAD_DMA : 0;
}

int sges_copy(struct hca *hca, const struct pd *pd, const struct wqe_sge *from,
	      const struct wqe_sge *to)
{
	struct dma_batch batch;
	uint64_t part;
	int why;

	if (from->len > 1u << LOG_MAX_COPY)
		return WQE_BAD_LENGTH;
	if (!sges_allow(hca, pd, MKEY_LOCAL_READ, from, 1) ||
	    !sges_allow(hca, pd, MKEY_LOCAL_WRITE, to, 1))
		return WQE_BAD_LKEY;
	for (uint64_t at = 0; at < from->len; at += part) {
		part = from->len - at < FABRIC_PAYLOAD_MAX ? from->len - at : FABRIC_PAYLOAD_MAX;
		dma_begin_read(&batch, hca, hca->bounce);
		why = sges_dma(&batch, pd, MKEY_LOCAL_READ, from, 1, at, part);
		if (why)
			return why;
		dma_begin_write(&batch, hca, hca->bounce);
		why = sges_dma(&batch, pd, MKEY_LOCAL_WRITE, to, 1, at, part);
		if (why)
			return why;
	}
	return 0;
}

bool sges_allow(struct hca *hca, const struct pd *pd, unsigned int access,
		const struct wqe_sge *sge, unsigned int count)
{
	for (; count; sge++, count--)
		if (!sge->data && !mkey_check(hca, sge->lkey, pd, access, sge->addr, sge->len))
			return false;
	return true;
}

uint8_t wqe_syndrome(int why)
{
	if (why == WQE_BAD_LKEY || why == WQE_BAD_DMA)
		return SYND_LOCAL_PROT;
	if (why == WQE_BAD_MKEY || why == WQE_BAD_UMR)
		return SYND_MW_BIND;
	return why == WQE_BAD_LENGTH ? SYND_LOCAL_LENGTH : SYND_LOCAL_QP_OP;
}

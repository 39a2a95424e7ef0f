/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * srq_ring.c - taking WQEs from a shared receive queue.
 *
 * Its WQEs are a linked list: each names the index of the next in its first segment, and software
 * never posts the last free one, so the link of a posted WQE is valid. The doorbell record counts
 * what was ever posted. PRM: Shared Receive Queue
 */
#include <errno.h>
#include <string.h>

#include "prm/mlx5/eqe.h"
#include "prm/mlx5/wqe.h"
#include "softhca/device/core.h"

static int fail(struct hca *hca, struct srq *srq)
{
	if (!srq->failed) {
		srq->failed = true;
		eq_qp_event(hca, PRM_EVENT_SRQ_CATAS_ERROR, srq->n);
	}
	return EFAULT;
}

/* The record first, so a WQE that it announces is complete. */
static int fetch(struct hca *hca, struct srq *srq, uint8_t *buf)
{
	struct dma_batch batch;
	uint32_t word;
	int ret;

	dma_begin_read(&batch, hca, buf);
	ret = dma_add(&batch, srq->dbr, sizeof(word));
	if (!ret)
		ret = dma_add_map(&batch, &srq->map, (uint64_t)srq->next * srq->stride,
				  srq->stride);
	if (!ret)
		ret = dma_finish(&batch);
	if (ret)
		return ret;
	memcpy(&word, buf, sizeof(word));
	srq->pi = be32toh(word);
	return 0;
}

/* Fewer WQEs than software wants to have: say so once. */
static void check_limit(struct hca *hca, struct srq *srq)
{
	if (!srq->limit || (uint16_t)(srq->pi - srq->taken) >= srq->limit)
		return;
	srq->limit = 0;
	eq_qp_event(hca, PRM_EVENT_SRQ_RQ_LIMIT, srq->n);
}

int srq_take(struct hca *hca, struct srq *srq, struct recv_wqe *wqe, uint16_t *index)
{
	uint8_t buf[sizeof(uint32_t) + RECV_WQE_MAX];
	const uint8_t *raw = buf + sizeof(uint32_t);
	uint16_t next;

	if (srq->failed || fetch(hca, srq, buf))
		return fail(hca, srq);
	if (srq->pi == srq->taken)
		return ENOENT;
	next = fld_get(raw, SRQ_WQE_NEXT);
	if (next >> srq->log_size)
		return fail(hca, srq);
	wqe_decode_recv(raw + WQE_SEG, srq->stride - WQE_SEG, wqe);
	trace_wqe(hca->config.trace, "srq", srq->n, srq->next, raw, srq->stride);
	*index = srq->next;
	srq->next = next;
	srq->taken++;
	check_limit(hca, srq);
	return 0;
}

void srq_arm(struct hca *hca, struct srq *srq, uint16_t limit)
{
	uint32_t word;

	srq->limit = limit;
	if (dma_read(hca, srq->dbr, &word, sizeof(word)))
		return;
	srq->pi = be32toh(word);
	check_limit(hca, srq);
}

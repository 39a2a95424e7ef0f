/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * srq.c - shared receive queues: taking WQEs, the limit event, and freeing.
 *
 * The WQEs are a linked list: the first segment of each names the index of the next. Software never
 * posts the last free one, so the link of a posted WQE is always valid. WQEs of a cyclic queue are
 * taken in ring order instead. The doorbell record counts all WQEs ever posted. PRM: Shared Receive
 * Queue
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "prm/mlx5/eqe.h"
#include "prm/mlx5/wqe.h"
#include "softhca/device/core.h"

static int srq_fail(struct hca *hca, struct srq *srq)
{
	if (!srq->failed) {
		srq->failed = true;
		eq_qp_event(hca, PRM_EVENT_SRQ_CATAS_ERROR, srq->n);
	}
	return EFAULT;
}

/* Reads the doorbell record before the WQE, so that a WQE which it covers is complete. */
static int srq_fetch(struct hca *hca, struct srq *srq, uint8_t *buf)
{
	struct dma_batch batch;
	uint32_t word;
	int ret;

	dma_begin_read(&batch, hca, buf);
	ret = dma_add(&batch, srq->dbr + hca->format->dbrec_recv, sizeof(word));
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

/* Raises the limit event once, when fewer WQEs are left than software asked for; software has to
 * arm it again. */
static void srq_check_limit(struct hca *hca, struct srq *srq)
{
	if (!srq->limit || (uint16_t)(srq->pi - srq->taken) >= srq->limit)
		return;
	srq->limit = 0;
	eq_qp_event(hca, PRM_EVENT_SRQ_RQ_LIMIT, srq->n);
}

static uint16_t srq_next(const struct hca *hca, const void *queue, uint16_t index,
			 const uint8_t *raw)
{
	const struct srq *srq = queue;
	struct recv_wqe wqe;

	if (srq->cyclic)
		return (index + 1) & ((1u << srq->log_size) - 1);
	return hca->format->decode_srq(raw, srq->stride, &wqe);
}

/* The first segment of a WQE has the link, and room in which programs keep notes. */
static struct recv_ring srq_ring(const struct srq *srq)
{
	return (struct recv_ring){ &srq->map, srq->stride, srq->log_size, WQE_SEG, srq_next, srq };
}

static void srq_note(struct hca *hca, struct srq *srq)
{
	struct recv_ring ring = srq_ring(srq);
	uint32_t word;

	if (!srq->failed && !dma_read(hca, srq->dbr + hca->format->dbrec_recv, &word, sizeof(word)))
		recv_notes_look(hca, &srq->notes, &ring, srq->next,
				(uint16_t)be32toh(word) - srq->taken);
}

void srqs_note(struct hca *hca)
{
	struct srq *srq;

	for (uint32_t i = 0; (srq = res_next(&hca->srqs, &i)) != NULL;)
		srq_note(hca, srq);
}

static void srq_judge(struct hca *hca, struct srq *srq, const uint8_t *raw)
{
	struct recv_ring ring = srq_ring(srq);

	if (recv_notes_differ(hca, &srq->notes, &ring, srq->next, raw))
		rules_recv_early(hca, "SRQ", srq->n, srq->next);
}

static int srq_look(struct hca *hca, struct srq *srq, struct recv_wqe *wqe, uint16_t *next)
{
	uint8_t buf[sizeof(uint32_t) + RECV_WQE_MAX];
	const uint8_t *raw = buf + sizeof(uint32_t);

	if (srq->failed || srq_fetch(hca, srq, buf))
		return srq_fail(hca, srq);
	if (hca->config.strict)
		rules_srq_record(hca, srq);
	if (srq->pi == srq->taken)
		return ENOENT;
	if (hca->config.strict)
		srq_judge(hca, srq, raw);
	*next = hca->format->decode_srq(raw, srq->stride, wqe);
	if (srq->cyclic)
		*next = (srq->next + 1) & ((1u << srq->log_size) - 1);
	if (*next >> srq->log_size)
		return srq_fail(hca, srq);
	trace_bytes(hca->config.trace, raw, srq->stride, "wqe srq qpn 0x%06x index %u", srq->n,
		    srq->next);
	return 0;
}

int srq_peek(struct hca *hca, struct srq *srq, struct recv_wqe *wqe, uint16_t *index)
{
	uint16_t next;

	*index = srq->next;
	return srq_look(hca, srq, wqe, &next);
}

int srq_take(struct hca *hca, struct srq *srq, struct recv_wqe *wqe, uint16_t *index)
{
	uint16_t next;
	int ret = srq_look(hca, srq, wqe, &next);

	if (ret)
		return ret;
	*index = srq->next;
	recv_notes_drop(&srq->notes, srq->next);
	srq->next = next;
	srq->taken++;
	srq_check_limit(hca, srq);
	return 0;
}

int srq_take_stride(struct hca *hca, struct srq *srq, struct recv_wqe *wqe, uint16_t *index,
		    uint16_t *stride)
{
	int ret = srq->next_stride ? 0 : srq_take(hca, srq, &srq->strided, &srq->strided_index);

	if (ret)
		return ret;
	*index = srq->strided_index;
	*stride = srq->next_stride;
	*wqe = (struct recv_wqe){ 0 };
	if (*stride < srq->strided.num_sge) {
		wqe->num_sge = 1;
		wqe->sge[0] = srq->strided.sge[*stride];
		wqe->length = wqe->sge[0].len;
	}
	srq->next_stride = (srq->next_stride + 1) % srq->strides;
	return 0;
}

void srq_arm(struct hca *hca, struct srq *srq, uint16_t limit)
{
	uint32_t word;

	srq->limit = limit;
	if (dma_read(hca, srq->dbr + hca->format->dbrec_recv, &word, sizeof(word)))
		return;
	srq->pi = be32toh(word);
	srq_check_limit(hca, srq);
}

struct srq *srq_find_xrc(const struct hca *hca, uint32_t n, const struct pd *xrcd)
{
	struct srq *srq = res_get(&hca->srqs, n);

	return srq && srq->xrcd && srq->xrcd == xrcd ? srq : NULL;
}

void srq_free(struct srq *srq)
{
	free(srq->tm);
	recv_notes_free(&srq->notes);
	dma_unmap(&srq->map);
	free(srq);
}

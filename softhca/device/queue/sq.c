/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sq.c - the send queue's ring: finding posted WQEs, fetching, completing and flushing them.
 *
 * A bus call costs about as much as a small message. So one call reads the doorbell records of a
 * UAR page together with the next few WQEBBs of its idle queues, and a fetch reads up to 16 WQEBBs.
 */
#include <string.h>

#include "prm/mlx5/cqe.h"
#include "prm/mlx5/eqe.h"
#include "prm/mlx5/wqe.h"
#include "softhca/device/queue/wqe.h"

enum { SCAN_QPS = 48, SPECULATE_QPS = 2, SPECULATE_BBS = 4 };

struct scan {
	struct qp *qp;
	uint32_t word;
	uint16_t bbs; /* blocks read in the same call */
};

static int add_ring(struct dma_batch *batch, const struct qp *qp, uint16_t index, uint32_t bbs)
{
	uint32_t slot = index & sq_mask(qp), size = 1u << qp->sq.log_size;
	uint32_t straight = size - slot < bbs ? size - slot : bbs;
	int ret;

	ret = dma_add_map(batch, &qp->map, qp->sq.offset + (uint64_t)slot * qp->sq.block,
			  (uint64_t)straight * qp->sq.block);
	if (ret)
		return ret;
	return dma_add_map(batch, &qp->map, qp->sq.offset,
			   (uint64_t)(bbs - straight) * qp->sq.block);
}

static uint16_t wqes_posted(const struct qp *qp)
{
	return qp->sq.pi - qp->sq.next;
}

static void take_doorbell(struct hca *hca, struct qp *qp, uint32_t word)
{
	uint16_t pi = be32toh(word);

	if (pi == qp->sq.pi)
		return;
	if (hca->config.strict && !rules_sq_record(hca, qp, pi)) {
		qp_fail(hca, qp, PRM_EVENT_WQ_CATAS_ERROR);
		return;
	}
	if (hca->config.strict && (qp_requests(qp) || qp->state == PRM_QP_STATE_SQD))
		qp->transport->posted(qp);
	qp->sq.pi = pi;
	qp_wake(hca, qp);
}

static bool is_scanned(const struct qp *qp)
{
	return qp->sq.entry && !qp->offload &&
	       (qp_requests(qp) || qp->state == PRM_QP_STATE_SQD ||
		qp->state == PRM_QP_STATE_SQER || qp->state == PRM_QP_STATE_ERR);
}

int sq_copy(struct hca *hca, const struct qp *qp, uint16_t index, uint32_t bbs, uint8_t *buf)
{
	struct dma_batch batch;
	int ret;

	dma_begin_read(&batch, hca, buf);
	ret = add_ring(&batch, qp, index, bbs);
	return ret ? ret : dma_finish(&batch);
}

/* Finds the end of the posted WQEs in a ring without a doorbell record, by their ownership bits.
 * Software writes a WQE's first word last, and a read runs from low to high addresses, so a WQE
 * that is seen as posted is complete. */
static int find_posted(struct hca *hca, const struct qp *qp, uint16_t *pi)
{
	uint32_t step = SQ_CACHE_BYTES / qp->sq.block, size = sq_mask(qp) + 1u;
	uint8_t raw[SQ_CACHE_BYTES];
	int ret;

	step = step < size ? step : size;
	for (*pi = qp->sq.pi; (uint16_t)(*pi - qp->sq.ci) < size;) {
		ret = sq_copy(hca, qp, *pi, step, raw);
		if (ret)
			return ret;
		for (uint32_t i = 0; i < step; i++, (*pi)++)
			if ((uint16_t)(*pi - qp->sq.ci) >= size ||
			    !hca->format->send_is_posted(raw + (size_t)i * qp->sq.block,
							 *pi >> qp->sq.log_size & 1))
				return 0;
	}
	return 0;
}

static int take_posted(struct hca *hca, struct qp *qp)
{
	uint16_t pi;
	int ret = find_posted(hca, qp, &pi);

	if (ret)
		return ret;
	take_doorbell(hca, qp, htobe32(pi));
	if (hca->config.strict && hca->format->judge_posted)
		hca->format->judge_posted(hca, qp);
	return 0;
}

int sq_read_doorbell(struct hca *hca, struct qp *qp)
{
	uint32_t word;
	int ret;

	if (!is_scanned(qp))
		return 0;
	if (hca->format->send_is_posted)
		return take_posted(hca, qp);
	ret = dma_read(hca, qp->dbr + hca->format->dbrec_send, &word, sizeof(word));
	if (!ret)
		take_doorbell(hca, qp, word);
	return ret;
}

static bool may_speculate(const struct qp *qp)
{
	return qp->state == PRM_QP_STATE_RTS && qp->sq.next == qp->sq.pi &&
	       qp->sq.ci == qp->sq.next;
}

static void scan_one(struct hca *hca, struct qp *qp)
{
	if (sq_read_doorbell(hca, qp))
		qp_fail(hca, qp, PRM_EVENT_WQ_CATAS_ERROR);
}

/* Reads each doorbell record before the blocks, so that the blocks which it covers are complete. */
static int scan_read(struct hca *hca, struct scan *scan, unsigned int count, uint8_t *buf)
{
	struct dma_batch batch;
	int ret;

	dma_begin_read(&batch, hca, buf);
	for (unsigned int i = 0; i < count; i++) {
		ret = dma_add(&batch, scan[i].qp->dbr + hca->format->dbrec_send,
			      sizeof(scan[i].word));
		if (!ret)
			ret = add_ring(&batch, scan[i].qp, scan[i].qp->sq.next, scan[i].bbs);
		if (ret)
			return ret;
	}
	return dma_finish(&batch);
}

static void keep_blocks(struct qp *qp, const uint8_t *blocks, uint16_t bbs)
{
	uint16_t valid = wqes_posted(qp);

	qp->sq.cache_from = qp->sq.next;
	qp->sq.cache_bbs = valid < bbs ? valid : bbs;
	qp->req.decoded = false;
	memcpy(qp->sq.cache, blocks, (size_t)qp->sq.cache_bbs * qp->sq.block);
}

static void scan_batch(struct hca *hca, struct scan *scan, unsigned int count)
{
	uint8_t buf[SCAN_QPS * sizeof(uint32_t) + SPECULATE_QPS * SPECULATE_BBS * WQE_BB];
	const uint8_t *at = buf;

	if (scan_read(hca, scan, count, buf)) {
		for (unsigned int i = 0; i < count; i++)
			scan_one(hca, scan[i].qp);
		return;
	}
	for (unsigned int i = 0; i < count; i++) {
		memcpy(&scan[i].word, at, sizeof(scan[i].word));
		at += sizeof(scan[i].word);
		take_doorbell(hca, scan[i].qp, scan[i].word);
		if (scan[i].bbs)
			keep_blocks(scan[i].qp, at, scan[i].bbs);
		at += scan[i].bbs * scan[i].qp->sq.block;
	}
}

static uint16_t blocks_to_speculate(const struct qp *qp, unsigned int *tries)
{
	uint32_t size = 1u << qp->sq.log_size;

	if (!may_speculate(qp) || *tries == SPECULATE_QPS)
		return 0;
	(*tries)++;
	return size < SPECULATE_BBS ? size : SPECULATE_BBS;
}

void sq_scan_doorbells(struct hca *hca, struct uar *uar)
{
	unsigned int count = 0, tries = 0;
	struct scan scan[SCAN_QPS];
	struct qp *qp;

	for (unsigned int i = 0; i < SCAN_QPS && uar->left.qps; i++, uar->left.qps--) {
		qp = TAILQ_FIRST(&uar->qps);
		if (!qp)
			break;
		TAILQ_REMOVE(&uar->qps, qp, in_uar);
		TAILQ_INSERT_TAIL(&uar->qps, qp, in_uar);
		if (!is_scanned(qp))
			continue;
		if (hca->format->send_is_posted) {
			scan_one(hca, qp);
			continue;
		}
		scan[count].qp = qp;
		scan[count++].bbs = blocks_to_speculate(qp, &tries);
	}
	if (count)
		scan_batch(hca, scan, count);
}

static bool is_cached(const struct hca *hca, const struct qp *qp, uint16_t index,
		      const uint8_t **raw)
{
	uint16_t skip = index - qp->sq.cache_from;
	uint32_t bbs;

	if (skip >= qp->sq.cache_bbs)
		return false;
	*raw = qp->sq.cache + (size_t)skip * qp->sq.block;
	bbs = wqe_bbs(hca, qp, *raw);
	return bbs + skip <= qp->sq.cache_bbs;
}

int sq_fetch(struct hca *hca, struct qp *qp, uint16_t index, const uint8_t **raw)
{
	struct dma_batch batch;
	uint32_t bbs = (uint16_t)(qp->sq.pi - index);
	int ret;

	if (qp->offload) {
		*raw = qp->transport->own_wqe(qp, index);
		return 0;
	}
	if (is_cached(hca, qp, index, raw))
		return 0;
	if (bbs > SQ_CACHE_BYTES / qp->sq.block)
		bbs = SQ_CACHE_BYTES / qp->sq.block;
	if (bbs > 1u << qp->sq.log_size)
		bbs = 1u << qp->sq.log_size;
	qp->sq.cache_bbs = 0;
	dma_begin_read(&batch, hca, qp->sq.cache);
	ret = add_ring(&batch, qp, index, bbs);
	if (!ret)
		ret = dma_finish(&batch);
	if (ret)
		return ret;
	qp->sq.cache_from = index;
	qp->sq.cache_bbs = bbs;
	*raw = qp->sq.cache;
	return 0;
}

void sq_read_again(struct hca *hca, struct qp *qp)
{
	qp->draining = false;
	qp->sq.cache_bbs = 0;
	qp->req.decoded = false;
	if (hca->config.strict)
		rules_sq_again(hca, qp);
}

struct pd *sq_pd(const struct qp *qp)
{
	return qp->offload ? qp->srq->pd : qp->pd;
}

static void wqe_complete(struct hca *hca, struct qp *qp, struct completion *done)
{
	done->wqe_counter = qp->sq.ci;
	if (qp->offload)
		qp->transport->own_done(hca, qp, done);
	else if (cq_post(hca, qp->send_cq, qp, done))
		qp_fail(hca, qp, PRM_EVENT_WQ_CATAS_ERROR);
}

void sq_complete(struct hca *hca, struct qp *qp, const uint8_t *inline_data, uint32_t inline_len)
{
	struct sq_entry *entry = &qp->sq.entry[qp->sq.ci & sq_mask(qp)];
	struct completion done = {
		.opcode = CQE_OP_REQ,
		.send_opcode = entry->opcode,
		.inline_data = inline_data,
		.inline_len = inline_len,
	};

	/* An atomic always returns 8 bytes, so this adapter reports no byte count for it. */
	if (entry->opcode == WQE_RDMA_READ)
		done.byte_count = entry->length;
	if (hca->config.strict && !qp->offload)
		rules_sq_done(hca, qp, entry->bbs);
	if (entry->signaled)
		wqe_complete(hca, qp, &done);
	qp->sq.ci += entry->bbs;
}

void sq_fail(struct hca *hca, struct qp *qp, uint8_t syndrome, uint8_t vendor_syndrome)
{
	struct completion done = {
		.opcode = CQE_OP_REQ_ERR,
		.syndrome = syndrome,
		.vendor_syndrome = vendor_syndrome,
	};
	const uint8_t *raw;
	uint16_t bbs = 1, stream = 0;

	if (!sq_fetch(hca, qp, qp->sq.ci, &raw)) {
		done.send_opcode = hca->format->wqe_opcode(raw);
		bbs = wqe_bbs(hca, qp, raw);
		stream = hca->format->wqe_stream(raw);
	}
	q_count(hca, qp, syndrome == SYND_FLUSH ? Q_REQ_FLUSH : Q_REQ_CQE_ERROR);
	wqe_complete(hca, qp, &done);
	/* The size of an invalid WQE may be unknown, so guess one block; ci never passes the
	 * producer. */
	if (!bbs || bbs > (uint16_t)(qp->sq.pi - qp->sq.ci))
		bbs = 1;
	qp->sq.ci += bbs;
	if (!qp->transport->survives(hca, qp, stream))
		qp_fail_send(hca, qp);
}

bool sq_flush(struct hca *hca, struct qp *qp, unsigned int budget)
{
	for (; budget && qp->sq.ci != qp->sq.pi; budget--)
		sq_fail(hca, qp, SYND_FLUSH, VEND_FLUSH);
	return qp->sq.ci != qp->sq.pi;
}

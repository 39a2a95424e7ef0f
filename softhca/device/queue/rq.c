/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rq.c - the receive queue's ring. Receives ring no doorbell: the device reads the doorbell record
 * when a message needs a WQE and the cache has none, in the same bus call as the WQEs.
 */
#include <errno.h>
#include <string.h>

#include "prm/mlx5/cqe.h"
#include "prm/mlx5/eqe.h"
#include "softhca/device/queue/wqe.h"

static bool is_empty(const struct qp *qp)
{
	return !qp->rq.stride;
}

/* Returns how many WQEs a fetch reads: as many as fit the cache, but at most 8, as those WQEs may
 * not be posted yet. */
static uint32_t fetch_count(const struct qp *qp)
{
	uint32_t count = RQ_CACHE_BYTES / qp->rq.stride, size = 1u << qp->rq.log_size;

	if (count > 8)
		count = 8;
	return count < size ? count : size;
}

static int add_ring(struct dma_batch *batch, const struct qp *qp, uint32_t count)
{
	uint32_t size = 1u << qp->rq.log_size, slot = qp->rq.ci & (size - 1);
	uint32_t straight = size - slot < count ? size - slot : count;
	int ret;

	ret = dma_add_map(batch, &qp->map, qp->rq.offset + (uint64_t)slot * qp->rq.stride,
			  (uint64_t)straight * qp->rq.stride);
	if (ret)
		return ret;
	return dma_add_map(batch, &qp->map, qp->rq.offset,
			   (uint64_t)(count - straight) * qp->rq.stride);
}

/* Reads the doorbell record before the WQEs, so that the WQEs which it covers are complete. */
static int cache_refill(struct hca *hca, struct qp *qp)
{
	uint8_t buf[sizeof(uint32_t) + RQ_CACHE_BYTES];
	uint32_t word, count = fetch_count(qp);
	struct dma_batch batch;
	uint16_t posted;
	int ret;

	dma_begin_read(&batch, hca, buf);
	ret = dma_add(&batch, qp->dbr + hca->format->dbrec_recv, sizeof(word));
	if (!ret)
		ret = add_ring(&batch, qp, count);
	if (!ret)
		ret = dma_finish(&batch);
	if (ret)
		return ret;
	memcpy(&word, buf, sizeof(word));
	qp->rq.pi = be32toh(word);
	posted = qp->rq.pi - qp->rq.ci;
	if (hca->config.strict)
		rules_rq_record(hca, qp);
	qp->rq.cache_from = qp->rq.ci;
	qp->rq.cache_count = posted < count ? posted : count;
	memcpy(qp->rq.cache, buf + sizeof(word), (size_t)qp->rq.cache_count * qp->rq.stride);
	return 0;
}

struct pd *rq_pd(const struct qp *qp)
{
	return qp->resp.held.srq ? qp->resp.held.srq->pd : qp->pd;
}

static struct cq *held_cq(const struct qp *qp, const struct held_receive *held)
{
	return held->srq && held->srq->cq ? held->srq->cq : qp->recv_cq;
}

struct cq *rq_cq(const struct qp *qp)
{
	return held_cq(qp, &qp->resp.held);
}

/* Decodes a WQE of the QP's own queue. Returns 0, or EBADMSG if its signature does not match its
 * bytes. */
static int decode_own(const struct hca *hca, struct qp *qp, const uint8_t *raw)
{
	uint32_t skip = qp->has_signatures ? hca->format->recv_signature_size : 0;

	if (qp->has_signatures &&
	    !hca->format->recv_is_signed(raw, qp->rq.stride, qp->n, qp->rq.ci))
		return EBADMSG;
	hca->format->decode_recv(raw + skip, qp->rq.stride - skip, &qp->resp.recv);
	return 0;
}

static int fetch_own(struct hca *hca, struct qp *qp)
{
	const uint8_t *raw;
	uint16_t skip;
	int ret;

	if (is_empty(qp))
		return ENOENT;
	skip = qp->rq.ci - qp->rq.cache_from;
	if (skip >= qp->rq.cache_count) {
		ret = cache_refill(hca, qp);
		if (ret)
			return ret;
		skip = 0;
	}
	if (skip >= qp->rq.cache_count)
		return ENOENT;
	raw = qp->rq.cache + (size_t)skip * qp->rq.stride;
	if (hca->config.strict)
		rules_rq_fetched(hca, qp, raw);
	trace_bytes(hca->config.trace, raw, qp->rq.stride, "wqe recv qpn 0x%06x index %u", qp->n,
		    qp->rq.ci);
	return decode_own(hca, qp, raw);
}

int rq_fetch(struct hca *hca, struct qp *qp)
{
	struct responder *resp = &qp->resp;

	if (qp->srq)
		resp->held.srq = qp->srq;
	if (resp->held.srq)
		return srq_take(hca, resp->held.srq, &resp->recv, &resp->held.index);
	resp->held.index = qp->rq.ci;
	return fetch_own(hca, qp);
}

static void put_sender(const struct qp *qp, struct completion *done)
{
	if (qp->service == FABRIC_UD)
		return;
	done->remote_qpn = qp->remote_qpn;
	done->slid = qp->path.addr.dlid;
}

static int held_complete(struct hca *hca, struct qp *qp, struct completion *done,
			 const struct held_receive *held)
{
	done->wqe_counter = held->index;
	done->srq = held->srq;
	put_sender(qp, done);
	return cq_post(hca, held_cq(qp, held), qp, done);
}

void rq_complete_early(struct hca *hca, struct qp *qp, struct completion *done,
		       const struct held_receive *held)
{
	if (held_complete(hca, qp, done, held))
		qp_fail(hca, qp, PRM_EVENT_WQ_CATAS_ERROR);
}

int rq_complete(struct hca *hca, struct qp *qp, struct completion *done)
{
	int ret;

	done->tm = rq_note(qp);
	ret = held_complete(hca, qp, done, &qp->resp.held);
	if (ret == EFAULT)
		return ret;
	qp->resp.receiving = qp->resp.matched = false;
	qp->resp.tm.op = 0;
	if (!qp->resp.held.srq)
		qp->rq.ci++;
	if (ret)
		qp_fail(hca, qp, PRM_EVENT_WQ_CATAS_ERROR);
	return 0;
}

void rq_fail(struct hca *hca, struct qp *qp, uint8_t syndrome, uint8_t vendor_syndrome)
{
	struct completion done = {
		.opcode = CQE_OP_RESP_ERR,
		.syndrome = syndrome,
		.vendor_syndrome = vendor_syndrome,
	};

	q_count(hca, qp, syndrome == SYND_FLUSH ? Q_RESP_FLUSH : Q_RESP_CQE_ERROR);
	rq_complete(hca, qp, &done);
	qp_fail(hca, qp, -1);
}

bool rq_flush(struct hca *hca, struct qp *qp, unsigned int budget)
{
	struct completion done = {
		.opcode = CQE_OP_RESP_ERR,
		.syndrome = SYND_FLUSH,
		.vendor_syndrome = VEND_FLUSH,
	};
	uint32_t word;

	if (is_empty(qp) || dma_read(hca, qp->dbr + hca->format->dbrec_recv, &word, sizeof(word)))
		return false;
	qp->rq.pi = be32toh(word);
	if (hca->config.strict)
		rules_rq_record(hca, qp);
	for (; budget && qp->rq.ci != qp->rq.pi; budget--) {
		qp->resp.held.index = qp->rq.ci;
		q_count(hca, qp, Q_RESP_FLUSH);
		rq_complete(hca, qp, &done);
	}
	return qp->rq.ci != qp->rq.pi;
}

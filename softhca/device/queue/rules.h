/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rules.h - checks by a strict adapter of rings and doorbell records in memory. Other adapters call
 * none of them.
 */
#ifndef SOFTHCA_DEVICE_QUEUE_RULES_H
#define SOFTHCA_DEVICE_QUEUE_RULES_H

#include <stdbool.h>
#include <stdint.h>

#include "softhca/device/memory/dma.h"

struct cq;
struct cq_arm;
struct hca;
struct qp;
struct srq;

static inline uint64_t rules_digest(const uint8_t *bytes, size_t len)
{
	uint64_t digest = 0xcbf29ce484222325ull;

	for (size_t i = 0; i < len; i++)
		digest = (digest ^ bytes[i]) * 0x100000001b3ull;
	return digest;
}

/* Notes the waiting WQEs anew, as software may change them while the queue is stopped. */
void rules_sq_again(struct hca *hca, struct qp *qp);
/* Checks the send queue's record, which has changed to PI, and notes the new WQEs. Returns false,
 * after a report, if no adapter could continue. */
bool rules_sq_record(struct hca *hca, struct qp *qp, uint16_t pi);
/* Checks that the send WQE at sq.ci, of BBS blocks, has not changed since its doorbell; it
 * completes now. */
void rules_sq_done(struct hca *hca, struct qp *qp, uint16_t bbs);
/* Checks the receive queue's record, which the caller has read into rq.pi. */
void rules_rq_record(struct hca *hca, struct qp *qp);
/* Checks that RAW, the receive WQE at rq.ci, has not changed since the record covered it. */
void rules_rq_fetched(struct hca *hca, const struct qp *qp, const uint8_t *raw);
void rules_srq_record(struct hca *hca, struct srq *srq);
/* Checks that an SRQ WQE with an absent page has not changed since the fault, as the driver
 * reads it now. RAW and LEN are its bytes behind the link; DIGEST is rules_digest() of them at
 * the fault. */
void rules_srq_waited(struct hca *hca, const struct srq *srq, uint16_t index, uint64_t digest,
		      const uint8_t *raw, size_t len);
/* Checks the alignment of a receive queue that begins at the start of MAP. */
void rules_recv_ring(struct hca *hca, const char *queue, uint32_t n, const struct dma_map *map,
		     uint32_t stride);
/* Checks the CQ's record, which says consumer index CI (24 bits). */
void rules_cq_consumer(struct hca *hca, struct cq *cq, uint32_t ci);
/* Checks the entry at INDEX of the CQ, just before the device writes it or a title that covers
 * it. */
void rules_cq_slot(struct hca *hca, struct cq *cq, uint32_t index);
/* Checks an arm word. Returns whether an adapter would act on it. */
bool rules_cq_arm(struct hca *hca, const struct cq *cq, const struct cq_arm *arm);
/* Reports that the receive WQE at INDEX of a queue has changed since the record covered it. */
void rules_recv_early(struct hca *hca, const char *queue, uint32_t n, uint16_t index);
/* Checks all queues at intervals, for instance for WQEs without a doorbell. Returns whether an
 * interval was over. */
bool rules_look(struct hca *hca);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rules.h - what a strict adapter expects of queues in memory: rings, doorbell records. An adapter
 * that is not strict calls none of this.
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

/* The send queue's record says PI now. Returns whether an adapter can live with it, and notes the
 * WQEs that came with it as they are. */
/* Software may have changed the WQEs that wait. */
void rules_sq_again(struct hca *hca, struct qp *qp);
bool rules_sq_record(struct hca *hca, struct qp *qp, uint16_t pi);
/* The send WQE at sq.ci, of BBS blocks, completes: is it still what it was? */
void rules_sq_done(struct hca *hca, struct qp *qp, uint16_t bbs);
/* The receive queue's record says rq.pi. */
void rules_rq_record(struct hca *hca, struct qp *qp);
/* The receive WQE at rq.ci is RAW: is it what it was when the record covered it? */
void rules_rq_fetched(struct hca *hca, const struct qp *qp, const uint8_t *raw);
void rules_srq_record(struct hca *hca, struct srq *srq);
/* The WQE at INDEX, behind its link LEN bytes at RAW of that DIGEST, has met an absent page; the
 * driver reads it now, so that it has to be as it was. */
uint64_t rules_digest(const uint8_t *raw, size_t len);
void rules_srq_waited(struct hca *hca, const struct srq *srq, uint16_t index, uint64_t digest,
		      const uint8_t *raw, size_t len);
/* A receive queue is at the start of MAP. */
void rules_recv_ring(struct hca *hca, const char *queue, uint32_t n, const struct dma_map *map,
		     uint32_t stride);
/* The CQ's record says that software is at CI, of which 24 bits count. */
void rules_cq_consumer(struct hca *hca, struct cq *cq, uint32_t ci);
/* The CQE at INDEX of the CQ is about to be written, or software to be told that it counts as
 * written. */
void rules_cq_slot(struct hca *hca, struct cq *cq, uint32_t index);
/* Software asks for an event. Returns whether an adapter would hear it. */
bool rules_cq_arm(struct hca *hca, const struct cq *cq, const struct cq_arm *arm);
/* Looks, now and then, for work that the adapter was not told of. */
void rules_look(struct hca *hca);

#endif

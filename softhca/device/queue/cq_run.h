/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cq_run.h - runs of similar completions, of a CQ whose CQEs are compressed. PRM: CQE Compression
 *
 * A CQ holds a run back until a completion comes that does not fit, the run has its maximal length,
 * or the adapter has no more work. The last happens before the fabric's lock is released, so
 * software never waits for a completion that is held back. Then the device writes the run: the
 * parts first, and the title last, as its ownership bit gives the run to software.
 *
 * In the enhanced layout the title is the last CQE that was written whole; similar completions that
 * follow it become blocks of parts.
 */
#ifndef SOFTHCA_DEVICE_QUEUE_CQ_RUN_H
#define SOFTHCA_DEVICE_QUEUE_CQ_RUN_H

#include <stdbool.h>
#include <stdint.h>

#include "softhca/device/format/format.h"

struct cq;
struct dma_batch;
struct hca;

/* A part describes one completion; an entry of the ring holds CQ_RUN_PER_ENTRY parts, or one block
 * of up to CQ_RUN_BLOCK parts. */
enum { CQ_RUN_MAX = 64, CQ_RUN_PER_ENTRY = 8, CQ_RUN_PART_MAX = 8, CQ_RUN_BLOCK = 7 };

struct cq_run {
	struct run_format format;
	uint32_t count;            /* completions held back; their indices begin at cq->pi */
	uint64_t compressed, runs; /* completions and runs written so far, for the log */
	bool solicited;
	bool has_blocks;
	uint32_t behind_title; /* with blocks: value of cq->pi at which title is still valid */
	uint8_t title[CQE_MAX], last[CQE_MAX];
	uint8_t parts[CQ_RUN_MAX * CQ_RUN_PART_MAX];
};

/* Writes the transfer BEFORE, then adds the CQE to the run; the CQE's ownership bit is ignored.
 * Returns as cq_post() does. */
int cq_run_add(struct hca *hca, struct cq *cq, const uint8_t *cqe, bool solicited,
	       struct dma_batch *before);
/* Frees the run of a CQ that is being destroyed, with the completions that it holds back. */
void cq_run_free(struct cq *cq);
/* Writes the completions that CQ holds back, if any. Returns 0 or EIO. */
int cq_run_end(struct hca *hca, struct cq *cq);
void cq_end_runs(struct hca *hca);

#endif

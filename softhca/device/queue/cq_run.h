/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cq_run.h - a run of completions that are nearly alike, of a CQ that compresses such.
 *
 * The CQ holds a run back until another completion comes that is not of it, it is as long as runs
 * are, or the adapter has done what there was to do: at the latest when the fabric's lock is given
 * back, so that software waits for none. Then the run is written: the parts first, the title last.
 *
 * In the other layout the title is the last CQE that was written whole, with nothing held back, and
 * what is alike and comes behind it goes into blocks of parts.
 */
#ifndef SOFTHCA_DEVICE_QUEUE_CQ_RUN_H
#define SOFTHCA_DEVICE_QUEUE_CQ_RUN_H

#include <stdbool.h>
#include <stdint.h>

#include "softhca/device/format/format.h"

struct cq;
struct dma_batch;
struct hca;

/* A part is for one completion; an entry of the ring holds an array of PER_ENTRY. */
enum { CQ_RUN_MAX = 64, CQ_RUN_PER_ENTRY = 8, CQ_RUN_PART_MAX = 8, CQ_RUN_BLOCK = 7 };

struct cq_run {
	struct run_format format;
	uint32_t count;            /* completions held back: they come behind cq->pi */
	uint64_t compressed, runs; /* that were written */
	bool solicited;
	bool has_blocks;
	uint32_t behind_title; /* with blocks: cq->pi while the newest CQE is of the title */
	uint8_t title[CQE_MAX], last[CQE_MAX];
	uint8_t parts[CQ_RUN_MAX * CQ_RUN_PART_MAX];
};

/* Takes a CQE over, whose ownership bit does not count, after it has written what is BEFORE it. The
 * result is as that of cq_post(). */
int cq_run_add(struct hca *hca, struct cq *cq, const uint8_t *cqe, bool solicited,
	       struct dma_batch *before);
/* Frees the run of a CQ that goes, and what that held back. */
void cq_run_free(struct cq *cq);
/* Writes what CQ holds back, if it does. It returns 0 or EIO. */
int cq_run_end(struct hca *hca, struct cq *cq);
/* Writes what any CQ holds back. */
void cq_end_runs(struct hca *hca);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cq_run.c - see cq_run.h. The format decides which completions may share a run, and encodes titles
 * and parts.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "softhca/device/core.h"
#include "softhca/device/queue/cq_run.h"
#include "softhca/log.h"

static uint32_t array_size(const struct hca *hca)
{
	return CQ_RUN_PER_ENTRY * hca->format->cqe_part_size;
}

/* Returns the entry, counted from the title's, of the array whose first part is PART. The first
 * array is right behind the title; each later one is at the entry with its first part's number. */
static uint32_t array_entry(uint32_t part)
{
	return part ? part : 1;
}

static int write_arrays(struct hca *hca, struct cq *cq, uint32_t count)
{
	const struct cq_run *run = cq->run;
	uint32_t size = array_size(hca);

	for (uint32_t part = 0; part < count; part += CQ_RUN_PER_ENTRY) {
		uint32_t index = cq->pi + array_entry(part);
		const uint8_t *array = run->parts + part * hca->format->cqe_part_size;

		trace_bytes(hca->config.trace, array, size,
			    "mini cqes cqn 0x%06x index %u: %u from %u on", cq->n, index,
			    count - part < CQ_RUN_PER_ENTRY ? count - part : CQ_RUN_PER_ENTRY,
			    part);
		if (cq_write_entry(hca, cq, index, array, size))
			return cq_fail_write(hca, cq);
	}
	return 0;
}

/* Writes a run as arrays of parts, then the title, which gives the run to software. */
static int write_run(struct hca *hca, struct cq *cq, uint32_t count)
{
	struct cq_run *run = cq->run;
	int ret;

	if (count > 1) {
		ret = write_arrays(hca, cq, count);
		if (ret)
			return ret;
		hca->format->encode_title(run->title, count);
	}
	return cq_put(hca, cq, run->title, count, run->solicited);
}

static int write_title(struct hca *hca, struct cq *cq, const uint8_t *cqe, bool solicited)
{
	struct cq_run *run = cq->run;
	int ret = cq_put(hca, cq, cqe, 1, solicited);

	memmove(run->title, cqe, hca->format->cqe_size);
	memmove(run->last, cqe, hca->format->cqe_size);
	run->behind_title = cq->pi;
	return ret;
}

/* Writes a run as one block behind the last whole CQE. A single completion becomes a whole CQE, the
 * title of the next run: a block of one would save nothing. */
static int write_block(struct hca *hca, struct cq *cq, uint32_t count)
{
	struct cq_run *run = cq->run;
	uint8_t block[CQE_MAX] = { 0 };
	int ret;

	if (count == 1)
		return write_title(hca, cq, run->last, run->solicited);
	memcpy(block, run->parts, count * hca->format->cqe_part_size);
	hca->format->encode_block(block, count);
	trace_bytes(hca->config.trace, run->parts, count * hca->format->cqe_part_size,
		    "mini cqes cqn 0x%06x index %u: a block of %u", cq->n, cq->pi, count);
	ret = cq_put(hca, cq, block, count, run->solicited);
	run->behind_title = cq->pi;
	return ret;
}

int cq_run_end(struct hca *hca, struct cq *cq)
{
	struct cq_run *run = cq->run;
	uint32_t count = run ? run->count : 0;

	if (!count)
		return 0;
	LIST_REMOVE(cq, in_runs);
	cq_judge_entries(hca, cq, count);
	run->count = 0;
	if (count > 1) {
		run->compressed += count;
		run->runs++;
	}
	return run->has_blocks ? write_block(hca, cq, count) : write_run(hca, cq, count);
}

/* Ends the runs of all CQs. If a CQ cannot be written, its error event calls this function again.
 * The nested call does nothing and the outer loop ends the other runs, as nesting a call for each
 * CQ would use up the stack. */
void cq_end_runs(struct hca *hca)
{
	struct cq *cq;

	if (hca->is_ending_runs)
		return;
	hca->is_ending_runs = true;
	while ((cq = LIST_FIRST(&hca->held_cqs)) != NULL)
		cq_run_end(hca, cq);
	hca->is_ending_runs = false;
}

void cq_run_free(struct cq *cq)
{
	struct cq_run *run = cq->run;

	if (!run)
		return;
	if (run->count)
		LIST_REMOVE(cq, in_runs);
	log_note("CQ 0x%06x: %llu completions were compressed, in %llu runs", cq->n,
		 (unsigned long long)run->compressed, (unsigned long long)run->runs);
	free(run);
	cq->run = NULL;
}

static void run_begin(struct hca *hca, struct cq *cq, const uint8_t *cqe, bool solicited)
{
	struct cq_run *run = cq->run;

	if (!run->has_blocks)
		memcpy(run->title, cqe, hca->format->cqe_size);
	memset(run->parts, 0, sizeof(run->parts));
	run->solicited = solicited;
	LIST_INSERT_HEAD(&hca->held_cqs, cq, in_runs);
}

static void run_append(struct hca *hca, struct cq_run *run, const uint8_t *cqe)
{
	memcpy(run->last, cqe, hca->format->cqe_size);
	hca->format->encode_part(&run->format, cqe,
				 run->parts + run->count * hca->format->cqe_part_size);
	run->count++;
}

/* Returns whether the run has its maximal length or reaches the end of the ring. A run does not go
 * on there: UCX marks its entries as read with the title's lap, and would misread those of the next
 * lap. */
static bool run_is_over(const struct cq *cq)
{
	uint32_t most = cq->run->has_blocks ? CQ_RUN_BLOCK : CQ_RUN_MAX;

	return cq->run->count == most || !((cq->pi + cq->run->count) & (cq_entries(cq) - 1));
}

/* Returns whether a title is there that the next CQE may follow. With blocks, the first CQE of each
 * lap is a title itself, as UCX marks the entries of a block with the lap of its title. */
static bool has_title(const struct cq *cq)
{
	if (!cq->run->has_blocks)
		return cq->run->count;
	return cq->run->behind_title == cq->pi && cq->pi & (cq_entries(cq) - 1);
}

int cq_run_add(struct hca *hca, struct cq *cq, const uint8_t *cqe, bool solicited,
	       struct dma_batch *before)
{
	struct cq_run *run = cq->run;
	int ret = before ? dma_finish(before) : 0;
	bool goes_on;

	if (ret)
		return EFAULT;
	goes_on = has_title(cq) && hca->format->follows(run->title, run->last, cqe);
	if (run->count && (solicited != run->solicited || !goes_on))
		ret = cq_run_end(hca, cq);
	if (ret)
		return ret;
	if (run->has_blocks && !goes_on) {
		cq_judge_entries(hca, cq, 1);
		return write_title(hca, cq, cqe, solicited);
	}
	if (!run->count)
		run_begin(hca, cq, cqe, solicited);
	run_append(hca, run, cqe);
	return run_is_over(cq) ? cq_run_end(hca, cq) : 0;
}

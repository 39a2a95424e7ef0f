/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cq.c - completion queues: the ring of CQEs, overrun, and when a completion raises an event.
 *
 * The consumer index lives in word 0 of the doorbell record. Reading it costs a bus call, so the
 * device reads it only when the ring looks full. Word 1 is the arm record. A front that cannot
 * observe single doorbells makes the device compare this word with its last value; the word starts
 * as ARM_SENTINEL, which no arm request has. Decision: docs/adr/0032.
 */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "prm/mlx5/eqe.h"
#include "softhca/device/core.h"

#define ARM_SENTINEL 0xffffffffu

/* Returns the user index of a CQE, by which software looks up the completed object: the SRQ's if
 * the SRQ has a CQ of its own, otherwise the QP's. All ones ask for the older CQE layout, which has
 * the SRQ number in this field. */
static uint32_t user_index(const struct qp *qp, const struct srq *srq)
{
	uint32_t index = srq && srq->cq ? srq->user_index : qp->user_index;

	return index == PRM_NO_USER_INDEX && srq ? srq->n : index;
}

int cq_read_consumer(struct hca *hca, struct cq *cq)
{
	uint32_t word;
	int ret = dma_read(hca, cq->dbr + hca->format->dbrec_ci, &word, sizeof(word));

	if (ret)
		return ret;
	if (hca->config.strict)
		rules_cq_consumer(hca, cq, be32toh(word));
	cq->ci = cq->pi - ((cq->pi - be32toh(word)) & PRM_CI_MASK);
	return 0;
}

/* Returns the index of the next CQE, counting those that a compressed run holds back and has not
 * written yet. */
static uint32_t next_index(const struct cq *cq)
{
	return cq->pi + (cq->run ? cq->run->count : 0);
}

static bool is_full(const struct cq *cq)
{
	return next_index(cq) - cq->ci >= cq_entries(cq);
}

static int cq_fail(struct hca *hca, struct cq *cq, uint8_t status, uint8_t syndrome)
{
	if (cq->status == PRM_CQC_STATUS_OK) {
		cq->status = status;
		eq_cq_error(hca, cq->n, syndrome);
	}
	return EIO;
}

static int cq_reserve(struct hca *hca, struct cq *cq)
{
	if (cq->status != PRM_CQC_STATUS_OK)
		return EIO;
	if (!is_full(cq) || cq->ignore_overrun)
		return 0;
	if (cq_read_consumer(hca, cq))
		return cq_fail(hca, cq, PRM_CQC_STATUS_WRITE_FAIL, PRM_CQ_ERROR_ACCESS);
	if (is_full(cq))
		return cq_fail(hca, cq, PRM_CQC_STATUS_OVERFLOW, PRM_CQ_ERROR_OVERRUN);
	return 0;
}

static void stop_waiting(struct cq *cq)
{
	if (cq->waiting)
		LIST_REMOVE(cq, in_waiting);
	cq->waiting = false;
}

/* Returns whether moderation delays an event for NEW completions: fewer than max_count completions
 * have come, and the period is not over. The first completion starts the period. */
static bool is_moderated(struct hca *hca, struct cq *cq, uint32_t new)
{
	if (!cq->period || (cq->max_count && new >= cq->max_count))
		return false;
	if (cq->waiting)
		return cq->deadline > hca->now;
	cq->waiting = true;
	cq->deadline = hca->now + cq->period;
	LIST_INSERT_HEAD(&hca->waiting_cqs, cq, in_waiting);
	return true;
}

/* Raises at most one event for each completion. The event announces the first CQE that the consumer
 * had not seen when it armed and that no earlier event has announced. Programs that poll one CQE
 * for each event rely on this; and a program that arms, then polls only some of the CQEs, gets an
 * event for those left. */
static void cq_notify(struct hca *hca, struct cq *cq)
{
	bool any = cq->armed == PRM_CQC_ST_ARMED;
	uint32_t reached = any ? cq->pi : cq->solicited;
	uint32_t first =
		(int32_t)(cq->notified - cq->armed_from) > 0 ? cq->notified : cq->armed_from;
	int32_t new = (int32_t)(reached - first);

	if (!cq->armed || new <= 0 || is_moderated(hca, cq, new))
		return;
	stop_waiting(cq);
	cq->armed = 0;
	/* The position of earlier solicited CQEs is not kept */
	cq->notified = any ? first + 1 : reached;
	cq->events++;
	eq_completion(hca, cq->eq, cq->n);
}

uint64_t cq_run_timers(struct hca *hca)
{
	uint64_t next = HCA_IDLE;
	struct cq *cq, *after;

	for (cq = LIST_FIRST(&hca->waiting_cqs); cq; cq = after) {
		after = LIST_NEXT(cq, in_waiting);
		if (cq->deadline > hca->now) {
			next = cq->deadline < next ? cq->deadline : next;
			continue;
		}
		cq_notify(hca, cq);
		stop_waiting(cq);
	}
	return next;
}

/* Returns the ownership bit of the next CQE. It flips with each lap, so that software can tell new
 * from old. */
static bool cq_owner_bit(const struct cq *cq)
{
	return (cq->pi >> cq->log_size) & 1;
}

/* PRM: the real-time clock has seconds in its upper 32 bits and nanoseconds in its lower 32
 * bits. */
uint64_t cqe_time(const struct hca *hca, bool real_time)
{
	struct timespec now;

	if (!real_time)
		return hca->now;
	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec << 32 | (uint32_t)now.tv_nsec;
}

int cq_copy(struct hca *hca, const struct cq *cq, uint64_t slot, uint8_t *cqe)
{
	uint64_t end = (slot + 1) * cq->cqe_size;
	struct dma_batch batch;
	int ret;

	dma_begin_read(&batch, hca, cqe);
	ret = dma_add_map(&batch, &cq->map, end - hca->format->cqe_size, hca->format->cqe_size);
	return ret ? ret : dma_finish(&batch);
}

/* Encodes a CQE at the end of SLOT and returns how many bytes to write: the whole 128 if the CQ
 * pads its CQEs, else 64. */
static uint32_t cqe_build(const struct hca *hca, const struct cq *cq, const struct qp *qp,
			  const struct completion *done, uint8_t *slot)
{
	const struct cqe_place place = {
		.size = cq->cqe_size,
		.qpn = qp->n,
		.user_index = user_index(qp, done->srq),
		.time = cqe_time(hca, qp->real_time),
		.has_time = cq->has_time,
		.owner = cq_owner_bit(cq),
	};
	uint32_t len;

	memset(slot, 0, cq->cqe_size);
	len = hca->format->encode_cqe(&place, done, slot);
	return cq->padded ? cq->cqe_size : len;
}

static void cqe_own(const struct hca *hca, const struct cq *cq, uint8_t *cqe)
{
	hca->format->set_cqe_owner(cqe, cq_owner_bit(cq));
	if (cq->run && cq->run->has_blocks)
		hca->format->set_cqe_lap(cqe, cq->pi >> cq->log_size);
}

static uint64_t entry_end(const struct cq *cq, uint32_t index)
{
	return (uint64_t)((index & (cq_entries(cq) - 1)) + 1) * cq->cqe_size;
}

int cq_write_entry(struct hca *hca, struct cq *cq, uint32_t index, const uint8_t *bytes,
		   uint32_t len)
{
	return dma_write_map(hca, &cq->map, entry_end(cq, index) - len, bytes, len);
}

int cq_fail_write(struct hca *hca, struct cq *cq)
{
	return cq_fail(hca, cq, PRM_CQC_STATUS_WRITE_FAIL, PRM_CQ_ERROR_ACCESS);
}

static int write_cqe(struct hca *hca, struct cq *cq, const uint8_t *bytes, uint32_t len,
		     struct dma_batch *before)
{
	uint64_t end = entry_end(cq, cq->pi);

	if (!before)
		return cq_write_entry(hca, cq, cq->pi, bytes, len);
	memcpy(before->buf + before->bytes, bytes, len);
	if (dma_add_map(before, &cq->map, end - len, len))
		return EFAULT;
	return dma_finish(before);
}

void cq_judge_entries(struct hca *hca, struct cq *cq, uint32_t count)
{
	if (!hca->config.strict)
		return;
	cq_read_consumer(hca, cq);
	for (uint32_t i = 0; i < count; i++)
		rules_cq_slot(hca, cq, cq->pi + i);
}

/* Writes the LEN bytes of the next entry. They end with a CQE that stands for COUNT completions. */
static int put_bytes(struct hca *hca, struct cq *cq, const uint8_t *bytes, uint32_t len,
		     struct dma_batch *before, uint32_t count, bool solicited)
{
	if (write_cqe(hca, cq, bytes, len, before))
		return before ? EFAULT : cq_fail_write(hca, cq);
	hca->format->trace_cqe(hca->config.trace, cq->n, cq->pi,
			       bytes + len - hca->format->cqe_size);
	cq->pi += count;
	if (solicited)
		cq->solicited = cq->pi;
	cq_notify(hca, cq);
	return 0;
}

static int put_cqe(struct hca *hca, struct cq *cq, const uint8_t *bytes, uint32_t len,
		   struct dma_batch *before, bool solicited)
{
	cq_judge_entries(hca, cq, 1);
	return put_bytes(hca, cq, bytes, len, before, 1, solicited);
}

/* Copies a 64-byte CQE to the end of SLOT, where a 128-byte entry has it (PRM: CQE size), and
 * returns how many bytes to write. */
static uint32_t cqe_pad(const struct hca *hca, const struct cq *cq, const uint8_t *cqe,
			uint8_t slot[CQE_MAX])
{
	uint32_t size = hca->format->cqe_size;

	memset(slot, 0, CQE_MAX);
	memcpy(slot + CQE_MAX - size, cqe, size);
	return cq->padded ? cq->cqe_size : size;
}

int cq_put(struct hca *hca, struct cq *cq, const uint8_t *cqe, uint32_t count, bool solicited)
{
	uint8_t slot[CQE_MAX];
	uint32_t len = cqe_pad(hca, cq, cqe, slot);

	cqe_own(hca, cq, slot + CQE_MAX - hca->format->cqe_size);
	return put_bytes(hca, cq, slot + CQE_MAX - len, len, NULL, count, solicited);
}

static bool is_for_run(const struct hca *hca, const struct cq *cq, const uint8_t *cqe)
{
	return cq->run && hca->format->can_compress(cqe);
}

int cq_post(struct hca *hca, struct cq *cq, const struct qp *qp, const struct completion *done)
{
	bool solicited = done->solicited || completion_is_error(done);
	uint8_t slot[CQE_MAX], *cqe = slot + cq->cqe_size - hca->format->cqe_size;
	uint32_t len;
	int ret = cq_reserve(hca, cq);

	if (ret)
		return ret;
	len = cqe_build(hca, cq, qp, done, slot);
	if (is_for_run(hca, cq, cqe))
		return cq_run_add(hca, cq, cqe, solicited, done->before);
	ret = cq_run_end(hca, cq);
	if (ret)
		return ret;
	cqe_own(hca, cq, cqe);
	return put_cqe(hca, cq, slot + cq->cqe_size - len, len, done->before, solicited);
}

int cq_post_cqe(struct hca *hca, struct cq *cq, uint8_t *cqe, bool solicited,
		struct dma_batch *before)
{
	uint8_t slot[CQE_MAX];
	uint32_t len;
	int ret = cq_reserve(hca, cq);

	if (ret)
		return ret;
	if (is_for_run(hca, cq, cqe))
		return cq_run_add(hca, cq, cqe, solicited, before);
	ret = cq_run_end(hca, cq);
	if (ret)
		return ret;
	cqe_own(hca, cq, cqe);
	len = cqe_pad(hca, cq, cqe, slot);
	return put_cqe(hca, cq, slot + CQE_MAX - len, len, before, solicited);
}

/* Takes the arm word that software wrote. An arm for any completion stays in force until its event,
 * even if software then arms for solicited ones only. IBTA vol 1, 11.4.2.2 */
void cq_arm(struct hca *hca, struct cq *cq, uint32_t word_be)
{
	struct cq_arm arm = hca->format->decode_arm(word_be);

	cq->arm_word = word_be;
	if (hca->config.strict && !rules_cq_arm(hca, cq, &arm))
		return;
	if (!arm.solicited_only)
		cq->armed = PRM_CQC_ST_ARMED;
	else if (cq->armed != PRM_CQC_ST_ARMED)
		cq->armed = PRM_CQC_ST_SOLICITED_ARMED;
	cq->armed_from = cq->pi - ((cq->pi - arm.ci) & PRM_CI_MASK);
	cq_notify(hca, cq);
}

enum { ARM_BATCH = 32, FILL_BYTES = 4096 };

static void scan_one(struct hca *hca, struct cq *cq)
{
	uint32_t word;

	if (!dma_read(hca, cq->dbr + hca->format->dbrec_arm, &word, sizeof(word)) &&
	    word != cq->arm_word)
		cq_arm(hca, cq, word);
}

static void scan_batch(struct hca *hca, struct cq **cqs, unsigned int count)
{
	uint32_t words[ARM_BATCH];
	struct dma_batch batch;

	dma_begin_read(&batch, hca, words);
	for (unsigned int i = 0; i < count; i++)
		dma_add(&batch, cqs[i]->dbr + hca->format->dbrec_arm, sizeof(words[i]));
	if (dma_finish(&batch)) {
		/* At least one record cannot be read: read them one by one, so that the others
		 * still count. */
		for (unsigned int i = 0; i < count; i++)
			scan_one(hca, cqs[i]);
		return;
	}
	for (unsigned int i = 0; i < count; i++)
		if (words[i] != cqs[i]->arm_word)
			cq_arm(hca, cqs[i], words[i]);
}

void cq_scan_arms(struct hca *hca, struct uar *uar)
{
	struct cq *cqs[ARM_BATCH], *cq;
	unsigned int count = 0;

	for (; count < ARM_BATCH && uar->left.cqs; uar->left.cqs--) {
		cq = TAILQ_FIRST(&uar->cqs);
		if (!cq)
			break;
		TAILQ_REMOVE(&uar->cqs, cq, in_uar);
		TAILQ_INSERT_TAIL(&uar->cqs, cq, in_uar);
		cqs[count++] = cq;
	}
	if (count)
		scan_batch(hca, cqs, count);
}

/* Detaches the CQs of a UAR that is freed: they stay, but cannot be armed. Programs (perftest)
 * close a device without destroying their CQs, so the driver frees the UAR before Linux destroys
 * the CQs. */
void cq_forget_uar(struct uar *uar)
{
	struct cq *cq;

	while ((cq = TAILQ_FIRST(&uar->cqs)) != NULL)
		uar_remove_cq(cq);
}

int cq_start_arms(struct hca *hca, struct cq *cq)
{
	uint32_t sentinel = ARM_SENTINEL;

	cq->arm_word = sentinel;
	return dma_write(hca, cq->dbr + hca->format->dbrec_arm, &sentinel, sizeof(sentinel));
}

int cq_fill_ring(struct hca *hca, struct cq *cq)
{
	uint64_t size = 1ull << cq->log_size, here = cq->pi & (size - 1);
	uint8_t cqes[FILL_BYTES];
	uint32_t step = FILL_BYTES / cq->cqe_size;

	if (!hca->format->fills_cq)
		return 0;
	memset(cqes, 0, sizeof(cqes));
	for (uint64_t slot = 0; slot < size; slot += step) {
		uint64_t count = size - slot < step ? size - slot : step;

		for (uint64_t i = 0; i < count; i++)
			hca->format->set_cqe_owner(
				cqes + (i + 1) * cq->cqe_size - hca->format->cqe_size,
				slot + i < here ? cq_owner_bit(cq) : !cq_owner_bit(cq));
		if (dma_write_map(hca, &cq->map, slot * cq->cqe_size, cqes, count * cq->cqe_size))
			return EFAULT;
	}
	return 0;
}

/* Adds one to the indices of CQEs that are not consumed yet, as the CQE that ends the old ring
 * takes an index. */
static void skip_index(struct cq *cq)
{
	if ((int32_t)(cq->solicited - cq->ci) > 0)
		cq->solicited++;
	if (cq->notified == cq->pi || (int32_t)(cq->notified - cq->ci) > 0)
		cq->notified++;
	cq->pi++;
}

/* Writes the CQE that ends the old ring. Software copies the CQEs before it to the new ring. */
static int end_ring(struct hca *hca, struct cq *cq)
{
	uint8_t cqe[CQE_MAX] = { 0 };

	hca->format->encode_ring_end(cqe);
	cqe_own(hca, cq, cqe);
	return write_cqe(hca, cq, cqe, hca->format->cqe_size, NULL);
}

int cq_move(struct hca *hca, struct cq *cq, const struct dma_map *map, uint32_t log_size)
{
	int ret;

	assert(!cq->run || !cq->run->count); /* empty, as each command ends the runs first */
	ret = end_ring(hca, cq);
	if (ret)
		return ret;
	skip_index(cq);
	dma_unmap(&cq->map);
	cq->map = *map;
	cq->log_size = log_size;
	/* ignored, as a fault here shows again when the next CQE is written */
	cq_fill_ring(hca, cq);
	return 0;
}

void cq_free(struct cq *cq)
{
	stop_waiting(cq);
	cq_run_free(cq);
	dma_unmap(&cq->map);
	free(cq);
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cq.c - completion queues: CQE bytes, overrun, and when a completion raises an event.
 *
 * The consumer index lives in the doorbell record (word 0) and is read only when the queue looks
 * full. Word 1 is the arm record; a front that cannot see single doorbells has us compare it with
 * the last value seen, so it holds a value that no arm has (the sentinel) from the start.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "prm/mlx5/cmd.h"
#include "prm/mlx5/cqc.h"
#include "prm/mlx5/cqe.h"
#include "prm/mlx5/eqe.h"
#include "prm/mlx5/uar.h"
#include "softhca/device/core.h"

enum { CQ_INDEX_MASK = 0xffffff /* software says so many bits of its consumer index */ };

#define ARM_SENTINEL 0xffffffffu

static bool is_error(const struct completion *done)
{
	return done->opcode == CQE_OP_REQ_ERR || done->opcode == CQE_OP_RESP_ERR;
}

/* What the scattered payload overwrites is set first. */
static void put_inline(struct cq *cq, uint8_t *slot, uint8_t *cqe, const struct completion *done)
{
	bool wide = cq->cqe_size == 128 && done->inline_len > 32;

	memcpy(wide ? slot : cqe, done->inline_data, done->inline_len);
	fld_set(cqe, CQE_FLAGS, fld_get(cqe, CQE_FLAGS) | (wide ? CQE_INLINE_64 : CQE_INLINE_32));
}

/* What software looks its object up by: an SRQ with a CQ of its own stands for itself. All ones ask
 * for the CQE's older form, with the SRQ's number there. */
static uint32_t user_index(const struct qp *qp, const struct srq *srq)
{
	enum { OLD_FORM = 0xffffff };
	uint32_t index = srq && srq->cq ? srq->user_index : qp->user_index;

	return index == OLD_FORM && srq ? srq->n : index;
}

/* The first bytes are the header that a tag was found by, or say how an operation went. */
static void put_tm(const struct tm_note *note, uint8_t *cqe)
{
	memcpy(cqe, note->head, sizeof(note->head));
	fld_set(cqe, CQE_APP, CQE_APP_TAG_MATCHING);
	fld_set(cqe, CQE_APP_OP, note->op);
	fld_set(cqe, CQE_APP_INFO, note->tag);
}

static void encode(const struct hca *hca, const struct qp *qp, const struct completion *done,
		   uint8_t *cqe)
{
	fld_set(cqe, CQE_USER_INDEX, user_index(qp, done->srq));
	fld_set(cqe, CQE_SEND_OPCODE, done->send_opcode);
	fld_set(cqe, CQE_QPN, qp->n);
	fld_set(cqe, CQE_WQE_COUNTER, done->wqe_counter);
	fld_set(cqe, CQE_OPCODE, done->opcode);
	fld_set(cqe, CQE_FLAGS, done->solicited ? CQE_SOLICITED : 0);
	if (is_error(done)) {
		fld_set(cqe, CQE_SYNDROME, done->syndrome);
		fld_set(cqe, CQE_VENDOR_SYNDROME, done->vendor_syndrome);
		return;
	}
	fld_set(cqe, CQE_RQPN, done->remote_qpn);
	fld_set(cqe, CQE_SLID, done->slid);
	fld_set(cqe, CQE_GRH, done->grh);
	fld_set(cqe, CQE_SL, done->sl_or_l3);
	fld_set(cqe, CQE_VLAN_PRESENT, done->tagged);
	fld_set(cqe, CQE_VLAN, done->tagged ? done->vlan : 0);
	memcpy(fld_at(cqe, CQE_IMM), &done->imm, sizeof(done->imm));
	fld_set(cqe, CQE_BYTE_COUNT, done->byte_count);
	fld_set(cqe, CQE_TIMESTAMP, hca->now);
	if (done->tm)
		put_tm(done->tm, cqe);
}

static int read_consumer(struct hca *hca, struct cq *cq)
{
	uint32_t word;
	int ret = dma_read(hca, cq->dbr, &word, sizeof(word));

	if (!ret)
		cq->ci = cq->pi - ((cq->pi - fld_get(&word, CQ_DBREC_CI)) & CQ_INDEX_MASK);
	return ret;
}

static bool is_full(const struct cq *cq)
{
	return cq->pi - cq->ci >= 1u << cq->log_size;
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
	if (read_consumer(hca, cq))
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

/* Has an event to wait for more of the NEW completions that it would announce, or for time to
 * pass? */
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

/*
 * The event that was asked for announces one CQE: the first that neither the consumer had seen when
 * it asked nor an earlier event has announced. So no CQE has two events, which programs that poll
 * one CQE an event rely on; and a program that asks before it polls, and then polls a part, has an
 * event waiting for what is left.
 */
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
	cq->notified = any ? first + 1 : reached; /* only the last solicited one is known */
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

/* The CQE's bytes: 128 when payload or padding goes in front of it, else 64. */
static uint32_t build(const struct hca *hca, struct cq *cq, const struct qp *qp,
		      const struct completion *done, uint8_t *slot)
{
	uint8_t *cqe = slot + cq->cqe_size - PRM_CQE_SIZE;

	memset(slot, 0, cq->cqe_size);
	encode(hca, qp, done, cqe);
	cqe[PRM_CQE_SIZE - 1] |= (cq->pi >> cq->log_size) & 1;
	if (done->inline_len)
		put_inline(cq, slot, cqe, done);
	return cq->padded || cqe[PRM_CQE_SIZE - 1] & CQE_INLINE_64 ? 2 * PRM_CQE_SIZE
								   : PRM_CQE_SIZE;
}

static int write_cqe(struct hca *hca, struct cq *cq, const uint8_t *bytes, uint32_t len,
		     struct dma_batch *before)
{
	uint64_t end = (uint64_t)((cq->pi & ((1u << cq->log_size) - 1)) + 1) * cq->cqe_size;

	if (!before)
		return dma_write_map(hca, &cq->map, end - len, bytes, len);
	memcpy(before->buf + before->bytes, bytes, len);
	if (dma_add_map(before, &cq->map, end - len, len))
		return EFAULT;
	return dma_finish(before);
}

/* Write the LEN bytes that end with a CQE, and tell who waits for it. */
static int put_cqe(struct hca *hca, struct cq *cq, const uint8_t *bytes, uint32_t len,
		   struct dma_batch *before, bool solicited)
{
	if (write_cqe(hca, cq, bytes, len, before)) {
		if (before)
			return EFAULT;
		return cq_fail(hca, cq, PRM_CQC_STATUS_WRITE_FAIL, PRM_CQ_ERROR_ACCESS);
	}
	trace_cqe(hca->config.trace, cq->n, cq->pi, bytes + len - PRM_CQE_SIZE);
	cq->pi++;
	if (solicited)
		cq->solicited = cq->pi;
	cq_notify(hca, cq);
	return 0;
}

int cq_post(struct hca *hca, struct cq *cq, const struct qp *qp, const struct completion *done)
{
	uint8_t slot[2 * PRM_CQE_SIZE];
	uint32_t len;
	int ret = cq_reserve(hca, cq);

	if (ret)
		return ret;
	len = build(hca, cq, qp, done, slot);
	return put_cqe(hca, cq, slot + cq->cqe_size - len, len, done->before,
		       done->solicited || is_error(done));
}

int cq_post_cqe(struct hca *hca, struct cq *cq, uint8_t cqe[64], struct dma_batch *before)
{
	uint64_t opcode = fld_get(cqe, CQE_OPCODE);
	uint32_t len = cq->padded ? 2 * PRM_CQE_SIZE : PRM_CQE_SIZE;
	uint8_t slot[2 * PRM_CQE_SIZE] = { 0 };
	int ret = cq_reserve(hca, cq);

	if (ret)
		return ret;
	cqe[PRM_CQE_SIZE - 1] |= (cq->pi >> cq->log_size) & 1;
	memcpy(slot + PRM_CQE_SIZE, cqe, PRM_CQE_SIZE);
	return put_cqe(hca, cq, slot + sizeof(slot) - len, len, before,
		       opcode == CQE_OP_REQ_ERR || opcode == CQE_OP_RESP_ERR);
}

void cq_arm(struct hca *hca, struct cq *cq, uint32_t word)
{
	uint32_t be = htobe32(word);
	bool solicited = fld_get(&be, CQ_ARM_SOLICITED_ONLY);

	cq->arm_word = word;
	cq->armed = solicited ? PRM_CQC_ST_SOLICITED_ARMED : PRM_CQC_ST_ARMED;
	cq->armed_from = cq->pi - ((cq->pi - fld_get(&be, CQ_ARM_CI)) & CQ_INDEX_MASK);
	cq_notify(hca, cq);
}

enum { ARM_BATCH = 32 };

static void scan_one(struct hca *hca, struct cq *cq)
{
	uint32_t word;

	if (!dma_read(hca, cq->dbr + FLD_BYTE(CQ_DBREC_ARM), &word, sizeof(word)) &&
	    be32toh(word) != cq->arm_word)
		cq_arm(hca, cq, be32toh(word));
}

static void scan_batch(struct hca *hca, struct cq **cqs, unsigned int count)
{
	uint32_t words[ARM_BATCH];
	struct dma_batch batch;
	unsigned int i;

	dma_begin_read(&batch, hca, words);
	for (i = 0; i < count; i++)
		dma_add(&batch, cqs[i]->dbr + FLD_BYTE(CQ_DBREC_ARM), sizeof(words[i]));
	if (dma_finish(&batch)) {
		/* one record is gone; the others still count */
		for (i = 0; i < count; i++)
			scan_one(hca, cqs[i]);
		return;
	}
	for (i = 0; i < count; i++)
		if (be32toh(words[i]) != cqs[i]->arm_word)
			cq_arm(hca, cqs[i], be32toh(words[i]));
}

void cq_scan_arms(struct hca *hca, struct uar *uar)
{
	struct cq *cqs[ARM_BATCH], *cq;
	unsigned int count = 0;

	LIST_FOREACH(cq, &uar->cqs, in_uar) {
		cqs[count++] = cq;
		if (count == ARM_BATCH) {
			scan_batch(hca, cqs, count);
			count = 0;
		}
	}
	if (count)
		scan_batch(hca, cqs, count);
}

/* A CQ outlives its UAR, but nobody can arm it any more: programs close a device with CQs left
 * (perftest does), and its driver then gives the UAR back before Linux destroys what is left. */
void cq_forget_uar(struct uar *uar)
{
	struct cq *cq;

	while ((cq = LIST_FIRST(&uar->cqs)) != NULL) {
		LIST_REMOVE(cq, in_uar);
		cq->uar = NULL;
	}
}

/* ---- commands ---- */

/* How far CQEs are apart; 64 bytes without a meaning are not written, unless they pad a cache
 * line. */
enum { STRIDE_64 = 0, STRIDE_128 = 1, STRIDE_128_PADDED = 2 };

static const char *check_context(const struct hca *hca, const uint8_t *cqc)
{
	if (fld_get(cqc, CQC_CQE_SZ) > STRIDE_128_PADDED)
		return "cq: CQE size is neither 64 nor 128";
	if (fld_get(cqc, CQC_CQE_COMP_EN))
		return "cq: CQE compression is not supported";
	if (fld_get(cqc, CQC_LOG_CQ_SIZE) > 31 ||
	    1u << fld_get(cqc, CQC_LOG_CQ_SIZE) > hca->config.limits.max_cqe)
		return "cq: more entries than log_max_cq_sz allows";
	if (fld_get(cqc, CQC_DBR_UMEM_VALID))
		return "cq: umem is not supported";
	if (fld_get(cqc, CQC_DBR_ADDR) & 7)
		return "cq: doorbell record is not aligned to 8";
	return NULL;
}

static void set_moderation(struct cq *cq, const uint8_t *cqc)
{
	cq->period = fld_get(cqc, CQC_CQ_PERIOD) * NS_PER_US;
	cq->max_count = fld_get(cqc, CQC_CQ_MAX_COUNT);
}

static int cq_set_up(struct hca *hca, struct cq *cq, const struct cmd *cmd)
{
	unsigned int page_shift = 12 + fld_get(cq->cqc, CQC_LOG_PAGE_SIZE);
	uint64_t skip = fld_get(cq->cqc, CQC_PAGE_OFFSET) << (page_shift - 6);
	uint32_t sentinel = ARM_SENTINEL;
	size_t npas;
	const void *pas = cmd_pas(cmd, CREATE_CQ_IN_PAS, &npas);
	int ret;

	cq->log_size = fld_get(cq->cqc, CQC_LOG_CQ_SIZE);
	cq->cqe_size = fld_get(cq->cqc, CQC_CQE_SZ) == STRIDE_64 ? 64 : 128;
	cq->padded = fld_get(cq->cqc, CQC_CQE_SZ) == STRIDE_128_PADDED;
	cq->ignore_overrun = fld_get(cq->cqc, CQC_OI);
	cq->dbr = fld_get(cq->cqc, CQC_DBR_ADDR);
	cq->arm_word = ARM_SENTINEL;
	set_moderation(cq, cq->cqc);
	ret = dma_map_pages(&cq->map, pas, npas, page_shift, skip,
			    (uint64_t)cq->cqe_size << cq->log_size);
	return ret ? ret
		   : dma_write(hca, cq->dbr + FLD_BYTE(CQ_DBREC_ARM), &sentinel, sizeof(sentinel));
}

static enum prm_status cq_add(struct hca *hca, struct cmd *cmd, struct cq *cq)
{
	int ret = cq_set_up(hca, cq, cmd);

	if (!ret)
		ret = res_add(&hca->cqs, cq, &cq->n);
	if (ret)
		return cmd_errno(cmd, ret, "cq: page list, doorbell record, or table full");
	cq->eq->users++;
	LIST_INSERT_HEAD(&cq->uar->cqs, cq, in_uar);
	fld_set(cmd->out, CREATE_CQ_OUT_CQN, cq->n);
	return PRM_STAT_OK;
}

enum prm_status cq_create(struct hca *hca, struct cmd *cmd)
{
	const uint8_t *cqc = fld_at(cmd->in, CREATE_CQ_IN_CQC);
	const char *why = check_context(hca, cqc);
	enum prm_status status;
	struct cq *cq;

	if (why)
		return cmd_fail(cmd, PRM_STAT_BAD_PARAM_ERR, why);
	cq = calloc(1, sizeof(*cq));
	if (!cq)
		return cmd_errno(cmd, ENOMEM, "cq");
	memcpy(cq->cqc, cqc, PRM_CQC_SIZE);
	cq->eq = res_get(&hca->eqs, fld_get(cqc, CQC_C_EQN));
	cq->uar = res_get(&hca->uars, fld_get(cqc, CQC_UAR_PAGE));
	if (cq->eq && cq->uar)
		status = cq_add(hca, cmd, cq);
	else
		status = cmd_fail(cmd, PRM_STAT_BAD_RES_ERR, "cq: no such EQ or UAR");
	if (status)
		cq_free(cq);
	return status;
}

enum prm_status cq_query(struct hca *hca, struct cmd *cmd)
{
	struct cq *cq = res_get(&hca->cqs, fld_get(cmd->in, QUERY_CQ_IN_CQN));
	uint8_t *cqc = fld_at(cmd->out, QUERY_CQ_OUT_CQC);

	if (!cq)
		return cmd_fail(cmd, PRM_STAT_BAD_RES_ERR, "cq: no such CQ");
	memcpy(cqc, cq->cqc, PRM_CQC_SIZE);
	fld_set(cqc, CQC_STATUS, cq->status);
	fld_set(cqc, CQC_OI, cq->ignore_overrun);
	fld_set(cqc, CQC_ST, cq->armed ? cq->armed : PRM_CQC_ST_FIRED);
	fld_set(cqc, CQC_PRODUCER_COUNTER, cq->pi);
	fld_set(cqc, CQC_CONSUMER_COUNTER, cq->ci);
	fld_set(cqc, CQC_LAST_NOTIFIED_INDEX, cq->notified);
	fld_set(cqc, CQC_LAST_SOLICIT_INDEX, cq->solicited);
	return PRM_STAT_OK;
}

/* ---- resizing ---- */

/* CQEs that are not yet consumed move by one: the one that ends the old ring takes an index. */
static void skip_index(struct cq *cq)
{
	if ((int32_t)(cq->solicited - cq->ci) > 0)
		cq->solicited++;
	if (cq->notified == cq->pi || (int32_t)(cq->notified - cq->ci) > 0)
		cq->notified++;
	cq->pi++;
}

static const char *check_resize(struct hca *hca, struct cq *cq, const struct cmd *cmd)
{
	uint64_t all = PRM_RESIZE_CQ_LOG_SIZE | PRM_RESIZE_CQ_PG_OFFSET | PRM_RESIZE_CQ_PG_SIZE;
	const uint8_t *cqc = fld_at(cmd->in, MODIFY_CQ_IN_CQC);

	if (fld_get(cmd->in, MODIFY_CQ_IN_FIELD_SELECT) != all)
		return "cq: a new size comes with a new page list";
	if (cmd->in_len < FLD_BYTE(MODIFY_CQ_IN_PAS))
		return "cq: no page list";
	if (fld_get(cmd->in, MODIFY_CQ_IN_CQ_UMEM_VALID))
		return "cq: umem is not supported";
	if (fld_get(cqc, CQC_CQE_SZ) != fld_get(cq->cqc, CQC_CQE_SZ))
		return "cq: the size of CQEs cannot change";
	if (fld_get(cqc, CQC_LOG_CQ_SIZE) > 31 ||
	    1u << fld_get(cqc, CQC_LOG_CQ_SIZE) > hca->config.limits.max_cqe)
		return "cq: more entries than log_max_cq_sz allows";
	if (cq->status != PRM_CQC_STATUS_OK || read_consumer(hca, cq))
		return "cq: in error, or its doorbell record cannot be read";
	if (cq->pi - cq->ci >= 1u << cq->log_size)
		return "cq: no room for the CQE that ends the old ring";
	if (cq->pi - cq->ci >= 1u << fld_get(cqc, CQC_LOG_CQ_SIZE))
		return "cq: more CQEs outstanding than the new size holds";
	return NULL;
}

/* Software copies what is in the old ring, up to this CQE. */
static int end_ring(struct hca *hca, struct cq *cq)
{
	uint8_t slot[2 * PRM_CQE_SIZE] = { 0 };
	uint8_t *cqe = slot + cq->cqe_size - PRM_CQE_SIZE;

	fld_set(cqe, CQE_OPCODE, CQE_OP_RESIZE);
	cqe[PRM_CQE_SIZE - 1] |= (cq->pi >> cq->log_size) & 1;
	return write_cqe(hca, cq, cqe, PRM_CQE_SIZE, NULL);
}

static enum prm_status resize(struct hca *hca, struct cq *cq, struct cmd *cmd)
{
	static const uint32_t fields[] = { CQC_LOG_CQ_SIZE, CQC_LOG_PAGE_SIZE, CQC_PAGE_OFFSET };
	const uint8_t *cqc = fld_at(cmd->in, MODIFY_CQ_IN_CQC);
	const char *why = check_resize(hca, cq, cmd);
	unsigned int i, page_shift = 12 + fld_get(cqc, CQC_LOG_PAGE_SIZE);
	uint32_t log_size = fld_get(cqc, CQC_LOG_CQ_SIZE);
	struct dma_map map;
	size_t npas;
	const void *pas = cmd_pas(cmd, MODIFY_CQ_IN_PAS, &npas);
	int ret;

	if (why)
		return cmd_fail(cmd, PRM_STAT_BAD_PARAM_ERR, why);
	ret = dma_map_pages(&map, pas, npas, page_shift,
			    fld_get(cqc, CQC_PAGE_OFFSET) << (page_shift - 6),
			    (uint64_t)cq->cqe_size << log_size);
	if (ret)
		return cmd_errno(cmd, ret, "cq: page list too short");
	if (end_ring(hca, cq)) {
		dma_unmap(&map);
		return cmd_fail(cmd, PRM_STAT_BAD_RES_STATE_ERR, "cq: cannot write the old ring");
	}
	skip_index(cq);
	dma_unmap(&cq->map);
	cq->map = map;
	cq->log_size = log_size;
	for (i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		fld_set(cq->cqc, fields[i], fld_get(cqc, fields[i]));
	return PRM_STAT_OK;
}

enum prm_status cq_modify(struct hca *hca, struct cmd *cmd)
{
	struct cq *cq = res_get(&hca->cqs, fld_get(cmd->in, MODIFY_CQ_IN_CQN));
	const uint8_t *cqc = fld_at(cmd->in, MODIFY_CQ_IN_CQC);
	uint64_t fields = fld_get(cmd->in, MODIFY_CQ_IN_FIELD_SELECT);

	if (!cq)
		return cmd_fail(cmd, PRM_STAT_BAD_RES_ERR, "cq: no such CQ");
	if (fld_get(cmd->in, CMD_IN_OP_MOD) == PRM_MODIFY_CQ_OP_RESIZE)
		return resize(hca, cq, cmd);
	if (fields &
	    ~(uint64_t)(PRM_MODIFY_CQ_OVERRUN | PRM_MODIFY_CQ_PERIOD | PRM_MODIFY_CQ_COUNT))
		return cmd_fail(cmd, PRM_STAT_BAD_PARAM_ERR, "cq: unknown field");
	if (fields & PRM_MODIFY_CQ_OVERRUN)
		cq->ignore_overrun = fld_get(cqc, CQC_OI);
	if (fields & PRM_MODIFY_CQ_PERIOD)
		fld_set(cq->cqc, CQC_CQ_PERIOD, fld_get(cqc, CQC_CQ_PERIOD));
	if (fields & PRM_MODIFY_CQ_COUNT)
		fld_set(cq->cqc, CQC_CQ_MAX_COUNT, fld_get(cqc, CQC_CQ_MAX_COUNT));
	set_moderation(cq, cq->cqc);
	return PRM_STAT_OK;
}

enum prm_status cq_destroy(struct hca *hca, struct cmd *cmd)
{
	struct cq *cq = res_get(&hca->cqs, fld_get(cmd->in, DESTROY_CQ_IN_CQN));

	if (!cq)
		return cmd_fail(cmd, PRM_STAT_BAD_RES_ERR, "cq: no such CQ");
	if (cq->users)
		return cmd_fail(cmd, PRM_STAT_BAD_RES_STATE_ERR, "cq: in use by a QP");
	res_remove(&hca->cqs, cq->n);
	stop_waiting(cq);
	if (cq->uar)
		LIST_REMOVE(cq, in_uar);
	cq->eq->users--;
	cq_free(cq);
	return PRM_STAT_OK;
}

void cq_free(struct cq *cq)
{
	dma_unmap(&cq->map);
	free(cq);
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cq.h - completion queues: completions, notification, moderation.
 */
#ifndef SOFTHCA_DEVICE_QUEUE_CQ_H
#define SOFTHCA_DEVICE_QUEUE_CQ_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "prm/mlx5/cqe.h"
#include "prm/mlx5/states.h"
#include "softhca/device/format/format.h"
#include "softhca/device/memory/dma.h"
#include "softhca/device/memory/umem.h"

struct cq_run;
struct eq;
struct hca;
struct qp;
struct srq;
struct uar;

struct cq {
	/* These fields serve completions. */
	uint32_t n;
	uint32_t log_size;
	uint32_t cqe_size;
	bool padded;        /* all 128 bytes are written */
	bool has_time;      /* mlx4: CQEs have timestamps */
	struct cq_run *run; /* NULL: completions are not compressed */
	uint32_t pi, ci;    /* free-running; ci is what the doorbell record last said */
	struct dma_map map;
	struct queue_umems umems;
	uint64_t dbr;
	uint64_t dbr_page; /* of a strict adapter: see pins.h */
	bool ignore_overrun;
	uint8_t status;
	/* These fields serve notification, see cq_notify(). */
	uint8_t armed;       /* 0 or enum value PRM_CQC_ST_*ARMED */
	uint32_t armed_from; /* consumer index the arm came with */
	uint32_t arm_word;   /* last one seen, as it stands in memory, or the sentinel */
	uint32_t notified;   /* producer index at the last event */
	uint32_t events;     /* that were raised */
	uint32_t solicited;  /* producer index behind the last CQE with a solicited event */
	/* These fields serve moderation: an event waits for max_count CQEs or for the period, and
	 * does not wait at all where the period is 0. */
	uint32_t max_count;
	uint64_t period; /* ns */
	bool waiting;    /* on hca->waiting_cqs, until the deadline at the latest */
	uint64_t deadline;
	LIST_ENTRY(cq) in_waiting;
	LIST_ENTRY(cq) in_runs; /* while the run holds something */
	struct eq *eq;
	struct uar *uar; /* NULL: it was freed first, and nobody can arm this CQ */
	uint32_t users;
	LIST_ENTRY(cq) in_uar;
	uint8_t context[CONTEXT_MAX];
};

/* A completion holds what a CQE says; cq_post() turns it into bytes. */
struct completion {
	uint8_t opcode; /* MLX5_CQE_* */
	/* These fields are valid for datagrams. */
	bool grh, roce;
	uint8_t sl_or_l3; /* service level; on RoCE enum cqe_l3 */
	bool tagged;
	uint16_t vlan; /* priority and id, as in the tag */
	/* These fields are valid for every completion. */
	bool solicited;
	uint8_t syndrome, vendor_syndrome; /* error CQEs */
	uint8_t send_opcode;               /* requester CQEs: the WQE's */
	uint16_t wqe_counter;
	uint32_t byte_count;
	uint32_t imm; /* big-endian */
	uint32_t remote_qpn;
	uint16_t slid;
	const struct srq *srq;      /* that the WQE came from */
	const struct tm_note *tm;   /* of tag matching, or NULL */
	const uint8_t *inline_data; /* scattered into the CQE */
	uint32_t inline_len;
	struct dma_batch
		*before; /* data to write in the same bus call, with room for a CQE behind it */
};

enum { CQE_ROOM = CQE_MAX };

static inline bool completion_is_error(const struct completion *done)
{
	return done->opcode == CQE_OP_REQ_ERR || done->opcode == CQE_OP_RESP_ERR;
}

/* Returns 0; EIO when the CQ is in error, and the QP has to follow; or EFAULT when the call with
 * DONE->before failed and nothing has happened. */
int cq_post(struct hca *hca, struct cq *cq, const struct qp *qp, const struct completion *done);
/* Posts a CQE that is complete but for its ownership bit, with the results of cq_post(). SOLICITED
 * says that the CQE counts as solicited, as errors do; BEFORE is as in struct completion. */
int cq_post_cqe(struct hca *hca, struct cq *cq, uint8_t *cqe, bool solicited,
		struct dma_batch *before);
/* WORD_BE is an arm word as software wrote it. */
void cq_arm(struct hca *hca, struct cq *cq, uint32_t word_be);
/* From this call on, what software writes into the arm word is noticed; the result is 0 or
 * EFAULT. */
int cq_start_arms(struct hca *hca, struct cq *cq);
/* Fills the ring, where the format wants that, so that nothing there looks new to software. It
 * returns 0 or EFAULT. */
int cq_fill_ring(struct hca *hca, struct cq *cq);
/* Brings cq->ci up to date and returns 0 or EFAULT. */
int cq_read_consumer(struct hca *hca, struct cq *cq);
/* Copies the CQE in SLOT of the ring as it is there; 0 or EFAULT. */
int cq_copy(struct hca *hca, const struct cq *cq, uint64_t slot, uint8_t *cqe);
/* Ends the old ring, which has room for that, and goes on in MAP. It returns EFAULT when the old
 * ring cannot be written, and then nothing has changed. */
int cq_move(struct hca *hca, struct cq *cq, const struct dma_map *map, uint32_t log_size);
void cq_forget_uar(struct uar *uar);
void cq_scan_arms(struct hca *hca, struct uar *uar);
/* Raises the events that have waited long enough, and returns the next deadline or HCA_IDLE. */
uint64_t cq_run_timers(struct hca *hca);
/* Returns what a CQE says of the time: ticks of the adapter's clock, or the time of the day. */
uint64_t cqe_time(const struct hca *hca, bool real_time);
/* Returns the largest payload that fits a CQE of this CQ. */
static inline uint32_t cq_inline_max(const struct cq *cq)
{
	return cq->cqe_size == 128 ? 64 : 32;
}

static inline uint32_t cq_entries(const struct cq *cq)
{
	return 1u << cq->log_size;
}

void cq_free(struct cq *cq);

/* ---- for cq_run.c ---- */

/* Writes LEN bytes to the end of the entry at INDEX; 0 or EFAULT. */
int cq_write_entry(struct hca *hca, struct cq *cq, uint32_t index, const uint8_t *bytes,
		   uint32_t len);
/* An entry could not be written; the result is EIO. */
int cq_fail_write(struct hca *hca, struct cq *cq);
/* Under --strict, checks that the next COUNT entries are free before the first is written. */
void cq_judge_entries(struct hca *hca, struct cq *cq, uint32_t count);
/* Writes a CQE, all but its ownership bit, which stands for COUNT completions, and tells those who
 * wait for them. It returns 0 or EIO. */
int cq_put(struct hca *hca, struct cq *cq, const uint8_t *cqe, uint32_t count, bool solicited);

#endif

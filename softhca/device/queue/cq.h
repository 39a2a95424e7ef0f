/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cq.h - completion queues: posting completions, events (notification) and their moderation.
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
	uint32_t n;
	uint32_t log_size;
	uint32_t cqe_size;
	/* the adapter writes whole 128-byte entries: also the 64 bytes before the CQE */
	bool padded;
	bool has_time;      /* mlx4: CQEs have timestamps */
	struct cq_run *run; /* NULL: completions are not compressed */
	/* free-running. ci is what the doorbell record said when it was last read; software may
	 * have consumed more CQEs since */
	uint32_t pi, ci;
	struct dma_map map;
	struct queue_umems umems;
	uint64_t dbr;
	uint64_t dbr_page; /* strict adapter: identity of the page at dbr, see pins.h */
	bool ignore_overrun;
	uint8_t status;
	/* These fields serve notification, see cq_notify(). */
	/* 0 or one of PRM_CQC_ST_*ARMED; an event clears it, so software arms again for the next
	 * event */
	uint8_t armed;
	/* consumer index of the last arm request, which has the low 24 bits; the upper bits come
	 * from pi */
	uint32_t armed_from;
	/* arm word last seen, as in memory (big-endian), or ARM_SENTINEL; a scan takes the word as
	 * an arm request only if it differs from this */
	uint32_t arm_word;
	/* producer index up to which CQEs were announced, so that no CQE gets two events */
	uint32_t notified;
	uint32_t events; /* events raised; a strict adapter compares it with an arm's cmd_sn */
	/* producer index behind the last solicited CQE; the positions of earlier ones are not
	 * kept */
	uint32_t solicited;
	/* Moderation: an event waits for max_count CQEs or until the period ends; with period 0,
	 * events do not wait. */
	uint32_t max_count;
	uint64_t period; /* ns */
	bool waiting;    /* on hca->waiting_cqs until the event or the deadline */
	uint64_t deadline;
	LIST_ENTRY(cq) in_waiting;
	LIST_ENTRY(cq) in_runs; /* on hca->held_cqs while the run holds completions back */
	struct eq *eq;
	struct uar *uar; /* NULL: software freed it, so the CQ cannot be armed */
	uint32_t users;
	TAILQ_ENTRY(cq) in_uar;
	uint8_t context[CONTEXT_MAX];
};

/* What a CQE reports, independent of the adapter's layout; cq_post() encodes it. */
struct completion {
	uint8_t opcode; /* MLX5_CQE_* */
	/* These fields are valid for datagrams. */
	bool grh, roce;
	uint8_t sl_or_l3; /* service level; on RoCE one of enum cqe_l3 */
	bool tagged;
	uint16_t vlan; /* priority and VLAN id, as in the tag */
	bool solicited;
	uint8_t syndrome, vendor_syndrome; /* of error CQEs */
	uint8_t send_opcode;               /* opcode of the WQE, in a requester's CQE */
	uint16_t wqe_counter;
	uint32_t byte_count;
	uint32_t imm; /* big-endian */
	uint32_t remote_qpn;
	uint16_t slid;
	const struct srq *srq;    /* SRQ that the WQE came from, or NULL */
	const struct tm_note *tm; /* tag matching's fields, or NULL */
	/* in_stride: the CQE reports one packet of a message in strides. stride is the packet's
	 * stride; is_last: the packet ends the message. */
	bool in_stride, is_last;
	uint16_t stride;
	const uint8_t *inline_data; /* payload that the CQE itself carries */
	uint32_t inline_len;
	/* payload to write in the same bus call, with CQE_ROOM left. It precedes the CQE, so that
	 * software that sees the CQE finds the payload */
	struct dma_batch *before;
};

enum { CQE_ROOM = CQE_MAX };

static inline bool completion_is_error(const struct completion *done)
{
	return done->opcode == CQE_OP_REQ_ERR || done->opcode == CQE_OP_RESP_ERR;
}

/* Posts a completion. Returns 0; EIO if the CQ is in error: the caller then puts the QP in error;
 * or EFAULT, with nothing posted, if DONE->before could not be written. */
int cq_post(struct hca *hca, struct cq *cq, const struct qp *qp, const struct completion *done);
/* Posts a CQE that is complete except for its ownership bit; returns as cq_post() does. SOLICITED
 * makes the CQE count as solicited, as error CQEs do; BEFORE is as in struct completion. */
int cq_post_cqe(struct hca *hca, struct cq *cq, uint8_t *cqe, bool solicited,
		struct dma_batch *before);
/* Takes WORD_BE, an arm word as software wrote it. An arm for any completion stays in force if one
 * for solicited CQEs follows. IBTA vol 1, 11.4.2.2. */
void cq_arm(struct hca *hca, struct cq *cq, uint32_t word_be);
/* Writes the sentinel into the arm word, so that cq_scan_arms() notices any later arm. Returns 0 or
 * EFAULT. */
int cq_start_arms(struct hca *hca, struct cq *cq);
/* Fills the ring, where the format needs that, so that software takes no unwritten entry for a new
 * CQE. Returns 0 or EFAULT. */
int cq_fill_ring(struct hca *hca, struct cq *cq);
/* Reads the consumer index from the doorbell record into cq->ci. Returns 0 or EFAULT. */
int cq_read_consumer(struct hca *hca, struct cq *cq);
/* Copies the CQE that is in entry SLOT of the ring. Returns 0 or EFAULT. */
int cq_copy(struct hca *hca, const struct cq *cq, uint64_t slot, uint8_t *cqe);
/* Ends the old ring with a special CQE, for which it has room, and continues in MAP. Returns
 * EFAULT, with nothing changed, if the old ring cannot be written. */
int cq_move(struct hca *hca, struct cq *cq, const struct dma_map *map, uint32_t log_size);
void cq_forget_uar(struct uar *uar);
void cq_scan_arms(struct hca *hca, struct uar *uar);
/* Raises the events whose moderation is over. Returns the next deadline or HCA_IDLE. */
uint64_t cq_run_timers(struct hca *hca);
/* Returns a CQE's timestamp: ticks of the adapter's clock, or the time of day. */
uint64_t cqe_time(const struct hca *hca, bool real_time);
static inline uint32_t cq_inline_max(const struct cq *cq)
{
	return cq->cqe_size == 128 ? 64 : 32;
}

static inline uint32_t cq_entries(const struct cq *cq)
{
	return 1u << cq->log_size;
}

void cq_free(struct cq *cq);

/* Writes LEN bytes to the end of the entry at INDEX, where a 128-byte entry has its CQE (PRM: CQE
 * size). Returns 0 or EFAULT. */
int cq_write_entry(struct hca *hca, struct cq *cq, uint32_t index, const uint8_t *bytes,
		   uint32_t len);
/* Puts the CQ in error because an entry cannot be written. Returns EIO. */
int cq_fail_write(struct hca *hca, struct cq *cq);
/* Under --strict, checks that the next COUNT entries belong to the adapter before the first is
 * written. */
void cq_judge_entries(struct hca *hca, struct cq *cq, uint32_t count);
/* Writes a CQE that stands for COUNT completions, adds its ownership bit and raises events. Returns
 * 0 or EIO. */
int cq_put(struct hca *hca, struct cq *cq, const uint8_t *cqe, uint32_t count, bool solicited);

#endif

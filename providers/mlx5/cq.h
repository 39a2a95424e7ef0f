/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cq.h - a completion queue: its ring, and the completion that was read last.
 *
 * lock guards all fields before vcq. ids leads from a CQE to its receive queue; the queue stays
 * valid while the lock is held, because its destruction first removes its CQEs from its CQs, under
 * their locks.
 */
#ifndef PROVIDERS_MLX5_CQ_H
#define PROVIDERS_MLX5_CQ_H

#include "libibverbs/driver.h"
#include "providers/common/branch.h"
#include "providers/common/id_lookup.h"
#include "providers/common/lock.h"
#include "providers/mlx5/qp/qp.h"
#include "providers/mlx5/queue_mem.h"
#include "providers/mlx5/data/cq/stall.h"
#include "providers/mlx5/uar/uar.h"

struct mlx5_cqe64;

/* Polls completions into WC up to END. CQE is the entry at index CI. See poll_cq.c. */
typedef int cq_poll_fn(struct ibv_cq *cq, struct ibv_wc *end, struct ibv_wc *wc,
		       const struct mlx5_cqe64 *cqe, uint32_t ci);

struct mlx5_cq {
	struct qlock lock;
	/* first entry. In a 128-byte entry, the CQE is the last 64 bytes, with the ownership bit */
	uint8_t *ring;
	uint32_t entry_log;
	uint32_t count_log;
	uint32_t mask;
	/* next CQE to read; free-running, the device sees the low 24 bits. Guarded by lock */
	uint32_t ci;
	/* Offset in a CQE of the field that identifies its QP, WQ or SRQ: the user index, or the
	 * QPN for CQE version 0. */
	uint32_t rsn_offset;
	/* number of the last queue found, as in the CQE, or CQ_RSN_NONE: the next CQE of that queue
	 * needs no lookup */
	__be32 rsn_raw;
	struct mlx5_rq *rsn_rq;
	cq_poll_fn *poll;
	__be32 null_lkey; /* lkey of the context's null region, or DATA_SEG_LKEY_END */
	/* a resize is in progress: ring, count_log, mask and ci are inconsistent */
	bool is_moving;
	const struct id_root *ids;
	__be32 *dbrec;
	const struct mlx5_cqe64 *cqe;
	unsigned int cqe_opcode;
	uint32_t cqe_extra;
	const struct mlx5_ib_clock_info *clock;

	struct verbs_cq vcq;

	bool freezes; /* stops at the first failed completion: see cqe_error.c */
	uint16_t kernel_flags;
	/* number of events read; arm requests carry it, because the adapter ignores an arm with an
	 * older one (PRM: CQ Doorbell Record, cmd_sn) */
	uint32_t arm_sn;
	uint32_t cqn;
	struct mlx5_uar *uar;
	struct queue_mem buf;
	struct queue_rec rec;
	struct cq_old_ring *old_rings;
	struct cq_stall stall;

	bool shown, taken;
	/* For each entry of the ring: its CQE belongs to a destroyed queue. NULL unless ids
	 * replaces all_ids. */
	bool *orphans;
	const struct id_root *all_ids;
	bool compressed;         /* CQEs may be compressed into runs: see cqe_run.h */
	uint8_t mini_cqe_format; /* format of messages in such runs, MLX5_IB_CQE_RES_FORMAT_* */
	uint32_t shown_ci;
	/* start_poll's copy of the kernel's page, so that all readers of a batch convert by the
	 * same factors */
	struct mlx5_ib_clock_info clock_now;
	/* EBUSY of the clock was logged once: a poll that meets it again must not fill the log */
	bool clock_reported;
	__be32 shown_record; /* for CQs without a lock: the doorbell record at shown_ci */
};

/* Not a queue number: a number in a CQE has fewer bits, so none equals this value. */
#define CQ_RSN_NONE ((__be32)~0u)

static inline struct mlx5_cq *to_mcq(struct ibv_cq *cq)
{
	return container_of(cq, struct mlx5_cq, vcq.cq);
}

static inline struct mlx5_cq *to_mcq_ex(struct ibv_cq_ex *cqx)
{
	return container_of(cqx, struct mlx5_cq, vcq.cq_ex);
}

struct cq_options {
	unsigned int cqe_size; /* 64 or 128, otherwise EINVAL */
	uint16_t kernel_flags;
	bool compressed;
	uint8_t mini_cqe_format;
};

int mlx5_cq_create(struct ibv_context *context, const struct ibv_cq_init_attr_ex *attr,
		   struct verbs_cq **vcq);
int mlx5_cq_create_with(struct ibv_context *context, const struct ibv_cq_init_attr_ex *attr,
			const struct cq_options *options, struct verbs_cq **vcq);

int mlx5_cq_resize(struct ibv_cq *cq, int cqe);
int mlx5_cq_destroy(struct ibv_cq *cq);
int mlx5_cq_arm(struct ibv_cq *cq, int solicited_only);
void mlx5_cq_event(struct ibv_cq *cq);

#endif

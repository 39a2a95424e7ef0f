/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cq.h - a completion queue: its ring, and the completion that was read last.
 *
 * lock guards everything up to the public object. What completes here is found through ids, and
 * stays valid while the lock is held, because destroying it cleans its CQs under their locks first.
 */
#ifndef PROVIDERS_MLX5_CQ_H
#define PROVIDERS_MLX5_CQ_H

#include "libibverbs/driver.h"
#include "providers/common/branch.h"
#include "providers/common/id_lookup.h"
#include "providers/common/lock.h"
#include "providers/mlx5/qp.h"
#include "providers/mlx5/queue_mem.h"
#include "providers/mlx5/data/stall.h"
#include "providers/mlx5/uar.h"

struct mlx5_cqe64;

/* The routine polls completions from CQE at index CI on, where CQ is, into WC and up to END: see
 * poll_cq.c. */
typedef int cq_poll_fn(struct ibv_cq *cq, struct ibv_wc *end, struct ibv_wc *wc,
		       const struct mlx5_cqe64 *cqe, uint32_t ci);

struct mlx5_cq {
	struct qlock lock;
	uint8_t *ring;      /* the 64 bytes of entry 0 that end with the ownership bit */
	uint32_t entry_log; /* log2 of the size of an entry: 6 or 7 */
	uint32_t count_log; /* log2 of the number of entries */
	uint32_t mask;      /* that number - 1 */
	uint32_t ci;        /* next CQE to read; free-running, the device sees the low 24 bits */
	/* The offset says where a CQE names its QP, WQ or SRQ: by user index, or by QPN for CQE
	 * version 0. */
	uint32_t rsn_offset;
	__be32 rsn_raw; /* of what was found last, as it stands in the CQE, or CQ_RSN_NONE */
	struct mlx5_rq *rsn_rq; /* what was found last */
	cq_poll_fn *poll;       /* where the next poll begins; fits rsn_rq */
	__be32 null_lkey;       /* of the context's null region, or DATA_SEG_LKEY_END */
	bool is_moving;         /* to another ring: ring, count_log, mask and ci do not fit */
	const struct id_root *ids;
	__be32 *dbrec;
	const struct mlx5_cqe64 *cqe;           /* the current completion of the extended readers */
	unsigned int cqe_opcode;                /* of it */
	uint32_t cqe_extra;                     /* of it: see struct completion */
	const struct mlx5_ib_clock_info *clock; /* to tell wall-clock time; see clock.h */

	struct verbs_cq vcq;

	bool freezes;          /* when a completion has failed: see cqe_error.c */
	uint16_t kernel_flags; /* MLX5_IB_CREATE_CQ_FLAGS_* that direct verbs asked for */
	uint32_t arm_sn;       /* events read so far; the adapter wants it in arm requests */
	uint32_t cqn;
	struct mlx5_uar *uar;
	struct queue_mem buf;
	struct queue_rec rec;          /* dbrec */
	struct cq_old_ring *old_rings; /* see providers/common/cq_resize.h */
	struct cq_stall stall;

	/* A program was told where the ring is, the last time when ci was shown_ci, and reads it by
	 * itself: see cq_ring.c. */
	bool shown, taken;
	/* By slot: the CQE there belongs to a destroyed queue. NULL unless ids stands in for
	 * all_ids. */
	bool *orphans;
	const struct id_root *all_ids;
	bool compressed;         /* there may be runs of completions: see cqe_run.h, */
	uint8_t mini_cqe_format; /* in which messages are of this MLX5_IB_CQE_RES_FORMAT_* */
	uint32_t shown_ci;
	struct mlx5_ib_clock_info clock_now; /* copy that start_poll made of the clock's page */
	bool clock_reported;                 /* in the log, as busy */
	__be32 shown_record; /* without a lock: the doorbell record's at that time */
};

#define CQ_RSN_NONE ((__be32)~0u) /* more bits than a number in a CQE has */

static inline struct mlx5_cq *to_mcq(struct ibv_cq *cq)
{
	return container_of(cq, struct mlx5_cq, vcq.cq);
}

static inline struct mlx5_cq *to_mcq_ex(struct ibv_cq_ex *cqx)
{
	return container_of(cqx, struct mlx5_cq, vcq.cq_ex);
}

/* The options are what direct verbs can ask of a CQ beyond its attributes. */
struct cq_options {
	unsigned int cqe_size; /* 64 or 128, else EINVAL */
	uint16_t kernel_flags; /* MLX5_IB_CREATE_CQ_FLAGS_* */
	bool compressed;
	uint8_t mini_cqe_format; /* enum mlx5_ib_cqe_comp_res_format */
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

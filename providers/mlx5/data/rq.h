/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rq.h - the receive side of a QP, a WQ or an XRC SRQ: what the number in a CQE leads to.
 *
 * Every object that completes somewhere has a struct mlx5_rq in the context's id table, and the
 * decoder of CQEs (cqe.h) starts from it. A QP is found from its receive side when a send
 * completes, so a QP without a receive queue has one, too. lock guards what posting changes
 * (post_recv.c); wq.tail belongs to the pollers (see wq.h).
 */
#ifndef PROVIDERS_MLX5_DATA_RQ_H
#define PROVIDERS_MLX5_DATA_RQ_H

#include "libibverbs/driver.h"
#include "providers/common/branch.h"
#include "providers/common/lock.h"
#include "providers/common/wq.h"
#include "providers/mlx5/data/variant.h"
#include "util/bits.h"

struct mlx5_srq;

/* A receive completes the next WQE of wq (RQ_PLAIN) or the WQE of an SRQ that the CQE names
 * (RQ_SHARED). One of RQ_CHECKED is as those of RQ_PLAIN, and its CQE says whether checksums were
 * right. cqe.c has all that is more than that. */
enum rq_special { RQ_PLAIN, RQ_SHARED, RQ_CHECKED, RQ_OTHER };

enum rq_owner { RQ_OF_QP, RQ_OF_WQ, RQ_OF_SRQ };

struct mlx5_rq {
	int (*post)(struct mlx5_rq *rq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr);
	struct qlock lock;
	uint8_t *buf; /* the list of buffers of the first WQE */
	struct wq wq; /* units are WQEs, which are data segments alone */
	uint32_t stride_log;
	uint32_t sge_limit; /* num_sge must be less; 0 while the state forbids to post */
	uint32_t max_sge;   /* data segments of a WQE */
	uint8_t special;    /* enum rq_special */
	bool out_of_order;  /* its WQEs are those that CQEs name, not the oldest */
	bool checksums;     /* the adapter verifies those of what arrives, and says so in the CQE */
	uint8_t owner;      /* enum rq_owner */
	bool error_reported; /* the first failure has been logged; atomic: there may be two CQs */
	__be32 *dbrec;
	struct mlx5_srq *srq; /* where its WQEs come from instead, or NULL */
	uint32_t rsn;         /* number by which CQEs name this: user index or QPN */
	uint32_t number;      /* of the owner, for messages */
};

/* Returns what messages in the log call the owner. */
static inline const char *rq_owner_name(const struct mlx5_rq *rq)
{
	static const char *const names[] = { "qp", "wq", "srq" };

	return names[rq->owner];
}

/* What arrives has checksums that the adapter verifies, or not. RQ->special is what it would be
 * without. */
static inline void rq_choose_checksums(struct mlx5_rq *rq, bool checked)
{
	rq->checksums = checked;
	if (checked)
		rq->special = rq->special == RQ_PLAIN ? RQ_CHECKED : RQ_OTHER;
}

typedef int post_recv_fn(struct mlx5_rq *rq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr);

/* This is rq.post of rings whose WQEs have signatures. */
post_recv_fn mlx5_post_recv_signed;

/* Returns the instance of rq.post for such a ring, with the lock when SHARED is true.
 */
post_recv_fn *mlx5_post_recv_routine(uint32_t max_sge, uint32_t stride_log, bool shared);

/* Opens or shuts the gate (post.h): posting is possible or not, by the owner's state.
 */
static inline void rq_set_gate(struct mlx5_rq *rq, bool open)
{
	qlock_enter(&rq->lock);
	rq->sge_limit = open ? rq->max_sge + 1 : 0;
	qlock_leave(&rq->lock);
}

#endif

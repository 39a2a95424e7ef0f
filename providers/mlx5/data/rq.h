/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rq.h - the receive side of a QP, WQ or XRC SRQ, to which the number in a CQE leads.
 *
 * Every object with completions has a struct mlx5_rq in the context's id table; the decoder of CQEs
 * (cqe.h) starts from it. Send completions reach their QP through it as well, so a QP without a
 * receive queue has one, too. lock guards the fields that posting changes (post_recv.c); the
 * pollers own wq.tail (see wq.h).
 * PRM: Receive WQE format
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

/* How receives complete. RQ_PLAIN: the next WQE of wq. RQ_SHARED: the WQE of an SRQ that the CQE
 * names. RQ_CHECKED: as RQ_PLAIN, and the CQE reports checksums. RQ_OTHER: anything else, in
 * cqe.c. */
enum rq_special { RQ_PLAIN, RQ_SHARED, RQ_CHECKED, RQ_OTHER };

enum rq_owner { RQ_OF_QP, RQ_OF_WQ, RQ_OF_SRQ };

struct mlx5_rq {
	int (*post)(struct mlx5_rq *rq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr);
	struct qlock lock;
	uint8_t *buf;
	__be32 *dbrec;
	uint32_t stride_log;
	/* A request's num_sge must be less than this. 0 while the state forbids posting, so one
	 * compare checks both. */
	uint32_t sge_limit;
	/* Its units are WQEs, which have data segments only. In struct mlx5_qp, the field tail,
	 * which pollers write, begins a cache line; the fields that a post reads are on the line
	 * before. */
	struct wq wq;
	uint32_t max_sge;
	uint8_t special;
	bool out_of_order; /* CQEs name the WQE, which may not be the oldest */
	bool checksums;    /* the adapter verifies checksums and reports them in the CQE */
	uint8_t owner;
	bool error_reported; /* the first failure was logged; atomic, since there may be two CQs */
	struct mlx5_srq *srq;
	uint32_t rsn; /* number in CQEs: the user index of version 1, else the QPN */
	uint32_t number;
};

static inline const char *rq_owner_name(const struct mlx5_rq *rq)
{
	static const char *const names[] = { "qp", "wq", "srq" };

	return names[rq->owner];
}

/* Sets whether the adapter verifies checksums of received packets. RQ->special has its value
 * without checksums before the call. */
static inline void rq_choose_checksums(struct mlx5_rq *rq, bool checked)
{
	rq->checksums = checked;
	if (checked)
		rq->special = rq->special == RQ_PLAIN ? RQ_CHECKED : RQ_OTHER;
}

typedef int post_recv_fn(struct mlx5_rq *rq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr);

post_recv_fn mlx5_post_recv_signed;

/* Returns the instance of rq.post for a ring with this layout whose WQEs have no signatures, with
 * the lock if SHARED. */
post_recv_fn *mlx5_post_recv_routine(uint32_t max_sge, uint32_t stride_log, bool shared);

/* Opens or shuts the gate (post.h): the owner's state permits or forbids posting. Takes the lock,
 * as another thread may be posting. */
static inline void rq_set_gate(struct mlx5_rq *rq, bool open)
{
	qlock_enter(&rq->lock);
	rq->sge_limit = open ? rq->max_sge + 1 : 0;
	qlock_leave(&rq->lock);
}

#endif

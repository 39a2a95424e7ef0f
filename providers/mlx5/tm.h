/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * tm.h - tag matching: the matching list of an SRQ of type IBV_SRQT_TM as software sees it.
 *
 * Tags are added and deleted by requests of a queue pair of our own that is connected to itself.
 * PRM: like WQEs of an SRQ, entries of the list are linked; a request to add one names the place of
 * the next, so entries are free from head to tail, and the device fills head. Messages that found a
 * tag name its place in their CQE. The SRQ's lock guards all of this.
 */
#ifndef PROVIDERS_MLX5_TM_H
#define PROVIDERS_MLX5_TM_H

#include "prm/mlx5/cqe.h"
#include "providers/mlx5/qp.h"
#include "providers/mlx5/srq.h"

struct tm_tag {
	uint64_t recv_wr_id;
	/* Small messages come inside the CQE, and are put there by us. When buf is NULL, they go
	 * nowhere. */
	uint8_t *buf;
	uint32_t len;
	uint16_t next; /* of the free ones */
	bool used;
};

struct mlx5_tm {
	struct mlx5_qp *qp; /* the queue of requests; NULL: gone */
	struct tm_tag *tags;
	uint16_t *deleting; /* by WQEBB: the tag that the request there is to delete */
	uint32_t size;      /* a power of two; one stays free */
	uint32_t head, tail;
	uint16_t seen;      /* messages without a tag that the program has polled */
	uint16_t told;      /* and how many it has told the device of */
	uint32_t null_lkey; /* of the context's null region */
};

/* A request that has a completion only for us notes this in done_as. */
#define TM_DONE_QUIETLY (1u << 31)

static inline void tm_release(struct mlx5_tm *tm, uint32_t index)
{
	tm->tags[index].used = false;
	tm->tags[tm->tail].next = (uint16_t)index;
	tm->tail = index;
}

/* Creation needs the SRQ to be there; destruction leaves the SRQ to be destroyed. */
int mlx5_tm_create(struct mlx5_srq *srq, const struct ibv_srq_init_attr_ex *attr);
int mlx5_tm_check_attr(const struct ibv_srq_init_attr_ex *attr);
int mlx5_tm_destroy(struct mlx5_srq *srq);
void mlx5_tm_free(struct mlx5_srq *srq);
/* This is vctx->post_srq_ops. */
int mlx5_tm_post(struct ibv_srq *srq, struct ibv_ops_wr *wr, struct ibv_ops_wr **bad_wr);

#endif

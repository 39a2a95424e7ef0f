/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * tm.h - tag matching: the matching list of an SRQ of type IBV_SRQT_TM as software sees it.
 *
 * Requests on an internal QP, connected to itself, add and delete tags. PRM: entries of the list
 * are linked like the WQEs of an SRQ. An add request fills the entry at head and names the entry of
 * the next add, so the entries from head to tail are free. The CQE of a message that matched a tag
 * names its entry. The SRQ's lock guards all of this.
 */
#ifndef PROVIDERS_MLX5_TM_H
#define PROVIDERS_MLX5_TM_H

#include "prm/mlx5/cqe.h"
#include "providers/mlx5/qp/qp.h"
#include "providers/mlx5/srq.h"

struct tm_tag {
	uint64_t recv_wr_id;
	/* Destination of small messages, which arrive inside the CQE and are copied by the library.
	 * NULL: discard them. */
	uint8_t *buf;
	uint32_t len;
	uint16_t next;
	bool used;
};

struct mlx5_tm {
	struct mlx5_qp *qp;
	struct tm_tag *tags;
	uint16_t *deleting; /* for each WQEBB of the QP: the tag that its request deletes */
	/* a power of two; one entry stays free, so that head and tail never meet */
	uint32_t size;
	uint32_t head, tail;
	uint16_t seen; /* unexpected messages that the program has polled */
	/* unexpected messages that the program has reported to the device */
	uint16_t told;
	uint32_t null_lkey;
};

/* Set in done_as for a request whose completion is internal. */
#define TM_DONE_QUIETLY (1u << 31)

static inline void tm_release(struct mlx5_tm *tm, uint32_t index)
{
	tm->tags[index].used = false;
	tm->tags[tm->tail].next = (uint16_t)index;
	tm->tail = index;
}

/* mlx5_tm_create() needs an existing SRQ; mlx5_tm_destroy() does not destroy the SRQ. */
int mlx5_tm_create(struct mlx5_srq *srq, const struct ibv_srq_init_attr_ex *attr);
int mlx5_tm_check_attr(const struct ibv_srq_init_attr_ex *attr);
int mlx5_tm_destroy(struct mlx5_srq *srq);
void mlx5_tm_free(struct mlx5_srq *srq);
int mlx5_tm_post(struct ibv_srq *srq, struct ibv_ops_wr *wr, struct ibv_ops_wr **bad_wr);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cq.h - completion queues.
 */
#ifndef PROVIDERS_MLX4_CQ_H
#define PROVIDERS_MLX4_CQ_H

#include "libibverbs/driver.h"
#include "prm/mlx4/cqe.h"
#include "providers/common/id_lookup.h"
#include "providers/common/lock.h"
#include "providers/common/memory/queue_mem.h"
#include "util/bits.h"

struct mlx4_context;
struct mlx4_qp;
struct mlx4_srq;

enum { M4_NO_QPN = 0xffffffff };

#define M4_NO_WORD ((uint64_t)1 << 32) /* no word of a CQE is equal to it */

/* The routine polls completions from CQE at index CI on, where CQ is, to WC, where is ROOM for as
 * many: see poll_cq.c. */
typedef int cq_poll_fn(struct ibv_cq *cq, int room, struct ibv_wc *wc, const uint8_t *cqe,
		       uint32_t ci);

struct mlx4_cq {
	struct qlock lock;
	uint8_t *ring;      /* the CQE of entry 0, which ends with the ownership bit */
	uint32_t entry_log; /* log2 of the size of an entry: 5 to 8 */
	uint32_t count_log; /* log2 of the number of entries */
	size_t entry_size;
	uint32_t ci;          /* next CQE to read; free-running, the device sees the low 24 bits */
	uint32_t mask;        /* entries - 1 */
	__be32 qpn_be;        /* of the completion before, as a CQE has it, or M4_NO_QPN, and */
	struct mlx4_qp *qp;   /* its QP */
	uint64_t ring_word;   /* first of a CQE, if qp receives by its ring; or M4_NO_WORD */
	bool is_moving;       /* to another ring: ring, count_log, mask and ci do not fit */
	__be32 srqn_be;       /* of what was last received for XRC, as a CQE has it, and */
	struct mlx4_srq *srq; /* its SRQ */
	cq_poll_fn *poll;     /* where the next poll begins; fits qp */
	uint64_t from_mask;   /* of the words that say from whom a message is: what is there */
	const struct id_root *ids;
	__be32 *dbrec;
	const uint8_t *cqe; /* the current completion of the extended readers */
	uint32_t extra;     /* of it: ibv_wc_opcode, and ibv_wc_flags above it: WQ_DONE_* */
	uint32_t qpn;       /* of it */

	struct verbs_cq vcq;

	uint32_t arm_sn; /* of the next event; the adapter wants it in arm requests */
	uint32_t cqn;
	uint8_t *doorbell; /* register */
	bool has_time;
	bool taken; /* the program reads the ring by itself: mlx4dv_init_obj() */
	struct queue_mem buf;
	struct cq_old_ring *old_rings; /* see providers/common/cq_resize.h */
	struct queue_rec rec;          /* dbrec */
};

static inline struct mlx4_cq *to_mcq(struct ibv_cq *cq)
{
	return container_of(cq, struct mlx4_cq, vcq.cq);
}

static inline struct mlx4_cq *to_mcq_ex(struct ibv_cq_ex *cqx)
{
	return container_of(cqx, struct mlx4_cq, vcq.cq_ex);
}

/* Returns where in an entry its CQE is. */
static inline uint32_t cq_cqe_at(const struct mlx4_cq *cq)
{
	return 1u << cq->entry_log == M4_CQE_LARGE ? M4_CQE_LARGE - M4_CQE_SIZE : 0;
}

/* Gives memory for a ring: of PD, which may have an allocator; PD may be NULL. */
int mlx4_cq_alloc_ring(struct mlx4_context *ctx, struct ibv_pd *pd, size_t size,
		       struct queue_mem *mem);
int mlx4_cq_create(struct ibv_context *context, const struct ibv_cq_init_attr_ex *attr,
		   struct verbs_cq **vcq);
int mlx4_cq_resize(struct ibv_cq *cq, int cqe);
int mlx4_cq_destroy(struct ibv_cq *cq);
int mlx4_cq_arm(struct ibv_cq *cq, int solicited_only);
void mlx4_cq_event(struct ibv_cq *cq);

#endif

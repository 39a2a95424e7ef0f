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

/* differs from every 32-bit word of a CQE, so no compare with it succeeds */
#define M4_NO_WORD ((uint64_t)1 << 32)

/* Polls up to ROOM completions into WC. CQE is the entry at index CI. See poll_cq.c. */
typedef int cq_poll_fn(struct ibv_cq *cq, int room, struct ibv_wc *wc, const uint8_t *cqe,
		       uint32_t ci);

struct mlx4_cq {
	struct qlock lock;
	uint8_t *ring;      /* CQE of entry 0, whose last byte has the ownership bit */
	uint32_t entry_log; /* log2 of the size of an entry: 5 to 8 */
	uint32_t count_log;
	size_t entry_size;
	/* next CQE to read; free-running, the device sees the low 24 bits. Guarded by lock */
	uint32_t ci;
	uint32_t mask; /* entries - 1 */
	/* QPN of the previous completion, as in the CQE, or M4_NO_QPN: the next CQE of that QP
	 * needs no lookup */
	__be32 qpn_be;
	struct mlx4_qp *qp;
	/* first word of CQEs to qp if it receives by its own ring, or M4_NO_WORD */
	uint64_t ring_word;
	bool is_moving; /* a resize is in progress: ring, count_log, mask and ci are inconsistent */
	/* SRQ number of the last XRC message, as in the CQE: the next CQE of that SRQ needs no
	 * lookup */
	__be32 srqn_be;
	struct mlx4_srq *srq;
	cq_poll_fn *poll;
	uint64_t from_mask; /* mask of the valid sender fields in a CQE */
	const struct id_root *ids;
	__be32 *dbrec;
	const uint8_t *cqe;
	uint32_t extra; /* ibv_wc_opcode of cqe, with ibv_wc_flags above it: WQ_DONE_* */
	uint32_t qpn;

	struct verbs_cq vcq;

	uint32_t arm_sn; /* number of the next event; arm requests carry it */
	uint32_t cqn;
	uint8_t *doorbell;
	bool has_time;
	bool taken; /* the program polls the ring itself: mlx4dv_init_obj() */
	struct queue_mem buf;
	struct cq_old_ring *old_rings;
	struct queue_rec rec;
};

static inline struct mlx4_cq *to_mcq(struct ibv_cq *cq)
{
	return container_of(cq, struct mlx4_cq, vcq.cq);
}

static inline struct mlx4_cq *to_mcq_ex(struct ibv_cq_ex *cqx)
{
	return container_of(cqx, struct mlx4_cq, vcq.cq_ex);
}

static inline uint32_t cq_cqe_at(const struct mlx4_cq *cq)
{
	return 1u << cq->entry_log == M4_CQE_LARGE ? M4_CQE_LARGE - M4_CQE_SIZE : 0;
}

int mlx4_cq_alloc_ring(struct mlx4_context *ctx, struct ibv_pd *pd, size_t size,
		       struct queue_mem *mem);
int mlx4_cq_create(struct ibv_context *context, const struct ibv_cq_init_attr_ex *attr,
		   struct verbs_cq **vcq);
int mlx4_cq_resize(struct ibv_cq *cq, int cqe);
int mlx4_cq_destroy(struct ibv_cq *cq);
int mlx4_cq_arm(struct ibv_cq *cq, int solicited_only);
void mlx4_cq_event(struct ibv_cq *cq);

#endif

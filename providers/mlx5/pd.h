/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * pd.h - protection domains, thread domains, and the parent domains that tie them to queues.
 *
 * A thread domain is the program's promise that one thread at a time uses what is created in it: no
 * queue takes a lock, and its send queues share a doorbell register that nobody else rings. A parent
 * domain is a PD with a thread domain, with allocators for queue memory, or with both.
 */
#ifndef PROVIDERS_MLX5_PD_H
#define PROVIDERS_MLX5_PD_H

#include "libibverbs/driver.h"
#include "providers/mlx5/uar.h"
#include "util/bits.h"

struct mlx5_td {
	struct ibv_td td;
	struct mlx5_bfreg *bfreg;
	uint32_t users; /* parent domains; atomic */
};

struct mlx5_pd {
	struct ibv_pd pd;
	uint32_t pdn;
	uint32_t users;       /* parent domains on this one; atomic */
	struct mlx5_pd *base; /* of a parent domain: the PD that the kernel knows; else NULL */
	struct mlx5_td *td;   /* of a parent domain: may be NULL */
	void *(*alloc)(struct ibv_pd *pd, void *pd_context, size_t size, size_t alignment,
		       uint64_t resource_type);
	void (*free)(struct ibv_pd *pd, void *pd_context, void *ptr, uint64_t resource_type);
	void *pd_context;
};

static inline struct mlx5_pd *to_mpd(struct ibv_pd *pd)
{
	return container_of(pd, struct mlx5_pd, pd);
}

/* The thread domain behind PD, or NULL. */
static inline struct mlx5_td *pd_thread_domain(struct ibv_pd *pd)
{
	return pd ? to_mpd(pd)->td : NULL;
}

/* Memory of a queue, zeroed: from the allocator of a parent domain, from the context's pool when it is
 * small (buf_pool.h), or mapped (hwbuf.h). */
struct queue_mem {
	void *addr;
	size_t size;           /* bytes that are there */
	struct mlx5_pd *owner; /* who allocated it; NULL: we did */
	struct buf_pool *pool; /* where it comes from; NULL: mapped */
	uint64_t type;         /* MLX5DV_RES_TYPE_* */
};

struct buf_pool;
struct mlx5_context;

/* PD may be NULL. */
int mlx5_queue_mem_alloc(struct mlx5_context *ctx, struct ibv_pd *pd, uint64_t type, size_t size,
			 struct queue_mem *mem);
void mlx5_queue_mem_free(struct queue_mem *mem);

int mlx5_pd_alloc(struct ibv_context *context, struct ibv_pd **pd);
int mlx5_pd_dealloc(struct ibv_pd *pd);
int mlx5_pd_import(struct ibv_context *context, uint32_t handle, struct ibv_pd **pd);
void mlx5_pd_unimport(struct ibv_pd *pd);
/* What the adapter calls it. */
uint32_t mlx5_pd_number(struct ibv_pd *pd);

struct ibv_td *mlx5_td_alloc(struct ibv_context *context, struct ibv_td_init_attr *attr);
int mlx5_td_dealloc(struct ibv_td *td);
struct ibv_pd *mlx5_parent_domain_alloc(struct ibv_context *context,
					struct ibv_parent_domain_init_attr *attr);

#endif

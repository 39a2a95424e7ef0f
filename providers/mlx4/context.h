/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * context.h - an open device: what the kernel said when it was opened, the page of doorbells that
 * each context has, and what its objects share.
 */
#ifndef PROVIDERS_MLX4_CONTEXT_H
#define PROVIDERS_MLX4_CONTEXT_H

#include <pthread.h>

#include "libibverbs/driver.h" /* before kernel headers: public headers name some of their things */
#include <rdma/mlx4-abi.h>
#include "providers/common/memory/buf_pool.h"
#include "providers/common/memory/cells.h"
#include "providers/common/clock.h"
#include "providers/common/memory/dbrec.h"
#include "providers/common/device.h"
#include "providers/common/id_lookup.h"
#include "providers/common/lock.h"
#include "util/bits.h"

struct queue_allocators;
struct queue_mem;
struct queue_mem_request;

struct mlx4_device {
	struct verbs_device vdev; /* first */
};

/* The one BlueFlame register of a context, which all its send queues share. */
struct mlx4_blueflame {
	struct qlock lock;
	uint8_t *next; /* the one of its two buffers whose turn it is; guarded by the lock */
	uint32_t half; /* bytes of each; 0: there is none */
	uint8_t *page; /* where it begins */
};

struct mlx4_context {
	struct mlx4_blueflame bf;
	uint8_t *uar; /* the page of registers */
	struct id_lookup ids;
	struct dbrec_pool dbrecs;
	struct buf_pool queue_bufs;
	struct cells cells;                      /* for small objects */
	struct queue_allocators *allocators;     /* of the program; NULL: it has set none */
	struct mlx4_ib_alloc_ucontext_resp caps; /* the kernel's answer */
	struct device_facts device;
	struct mlx4_uverbs_ex_query_device_resp device_resp; /* of device */
	struct clock_page clock;
	/* The kernel opens a range of numbers with a WQ that asks for one: no other WQ comes
	 * between that and the end of the request. */
	pthread_mutex_t wqs_lock;
	uint8_t log_wqs_range; /* what the next WQ asks for; guarded by the lock */
	struct verbs_context vctx;
};

static inline struct mlx4_context *to_mctx(struct ibv_context *context)
{
	return container_of(to_vctx(context), struct mlx4_context, vctx);
}

extern struct verbs_driver verbs_provider_mlx4;
extern const struct verbs_ops mlx4_context_ops;

static inline bool context_is_mlx4(struct ibv_context *context)
{
	return verbs_driver_of(context->device) == &verbs_provider_mlx4;
}

/* Gives memory to a ring; PD may be NULL. */
int mlx4_queue_mem_alloc(struct mlx4_context *ctx, struct ibv_pd *pd,
			 const struct queue_mem_request *request, struct queue_mem *mem);

int mlx4_context_alloc(struct verbs_device *vdev, int cmd_fd, struct verbs_context **vctx);
void mlx4_context_free(struct verbs_context *vctx);

#endif

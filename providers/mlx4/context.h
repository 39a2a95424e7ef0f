/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * context.h - an open device: the kernel's answer when it was opened, its doorbell page, and the
 * pools and tables that its objects share.
 */
#ifndef PROVIDERS_MLX4_CONTEXT_H
#define PROVIDERS_MLX4_CONTEXT_H

#include <pthread.h>

#include <rdma/mlx4-abi.h>
#include "libibverbs/driver.h"
#include "providers/common/context.h"
#include "providers/common/lock.h"
#include "util/bits.h"

struct queue_mem;
struct queue_mem_request;

struct mlx4_device {
	struct verbs_device vdev; /* first */
};

/* The BlueFlame register of a context, shared by all its send queues: the kernel maps one page for
 * each context. */
struct mlx4_blueflame {
	struct qlock lock;
	/* buffer to use next, of the register's two, which alternate so that a write need not wait
	 * for the last one; guarded by the lock */
	uint8_t *next;
	uint32_t half;
	uint8_t *page;
};

struct mlx4_context {
	struct mlx4_blueflame bf;
	uint8_t *uar;
	struct provider_context common;
	struct mlx4_ib_alloc_ucontext_resp caps;
	struct mlx4_uverbs_ex_query_device_resp device_resp;
	/* Held from reading log_wqs_range until the kernel has created the WQ, so that no other WQ
	 * requests the same range of QP numbers. */
	pthread_mutex_t wqs_lock;
	uint8_t log_wqs_range; /* log2 of the range for the next WQ; guarded by wqs_lock */
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

int mlx4_queue_mem_alloc(struct mlx4_context *ctx, struct ibv_pd *pd,
			 const struct queue_mem_request *request, struct queue_mem *mem);

int mlx4_context_alloc(struct verbs_device *vdev, int cmd_fd, struct verbs_context **vctx);
void mlx4_context_free(struct verbs_context *vctx);

#endif

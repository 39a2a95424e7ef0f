/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * context.h - an open device: what kernel and environment said when it was opened, and what its
 * objects share.
 */
#ifndef PROVIDERS_MLX5_CONTEXT_H
#define PROVIDERS_MLX5_CONTEXT_H

#include <pthread.h>
#include "libibverbs/driver.h" /* before kernel headers: public headers name some of their things */
#include <rdma/mlx5-abi.h>
#include "providers/common/buf_pool.h"
#include "providers/common/cells.h"
#include "providers/common/clock.h"
#include "providers/common/dbrec.h"
#include "providers/common/device.h"
#include "providers/common/id_lookup.h"
#include "providers/common/seg.h"
#include "providers/mlx5/env.h"
#include "providers/mlx5/hca_caps.h"
#include "providers/mlx5/reserved_qpn.h"
#include "providers/mlx5/uar.h"
#include "util/bits.h"

struct queue_allocators;

struct mlx5_device {
	struct verbs_device vdev; /* first */
};

struct mlx5_context {
	struct mlx5_env env;
	bool is_imported;             /* it shares the kernel's file */
	bool has_devx;                /* the kernel lets direct verbs command the device */
	int devx_refusal;             /* why it does not */
	const struct ibv_fd_arr *fds; /* while it is opened: what the program gives it rights by */
	struct mlx5_ib_alloc_ucontext_resp
		caps; /* limits of the device, as the kernel answered the open */

	struct id_lookup ids; /* QPs by the number that their CQEs carry */
	struct dbrec_pool dbrecs;
	struct buf_pool queue_bufs;
	struct cells cells;                  /* for small objects */
	struct queue_allocators *allocators; /* of the program; NULL: it has set none */

	pthread_mutex_t uar_lock; /* guards the six below and the users of each register */
	struct mlx5_uar *uars;
	struct mlx5_uar *cq_uar;
	struct mlx5_bfreg *bfregs;
	unsigned int unused_bfregs; /* of bfregs: for BlueFlame of one queue, now without a queue */
	int no_blueflame;           /* the errno by which the kernel gives no page for it, or 0 */
	uint32_t numbered_uars;     /* pages that were made by their number: uar_page.c */

	void *plain_for_programs; /* of dv/uar.c; NULL: none has asked. Atomic */

	struct device_facts device;
	struct mlx5_ib_query_device_resp device_resp; /* of device */
	struct hca_caps_cache hca_caps;
	struct qpn_pool qpns; /* that no QP gets */

	struct clock_page core_clock, clock_info;

	struct id_lookup *sig_keys; /* keys with signatures, by their index; NULL: there was none */
	pthread_mutex_t login_lock; /* guards the next */
	struct mlx5dv_crypto_login_obj *login; /* of dv/crypto.c; NULL: there is none */
	uint32_t ah_count; /* handles that were given a UDP source port by their number; atomic */

	struct verbs_context vctx;
};

static inline struct mlx5_context *to_mctx(struct ibv_context *context)
{
	return container_of(to_vctx(context), struct mlx5_context, vctx);
}

/* Connection establishment options (ECE): a library that gives the version it knows is answered
 * which options a new QP has; a change asks for others. The kernel says whether it passes them on;
 * those before 5.8 do not know them. */
static inline bool context_has_ece(const struct mlx5_context *ctx)
{
	return ctx->caps.comp_mask & MLX5_IB_ALLOC_UCONTEXT_RESP_MASK_ECE;
}

/* Since Linux 5.8 doorbell pages are objects. Older kernels have some ready for each context. */
static inline bool context_has_uar_objects(const struct mlx5_context *ctx)
{
	return !ctx->caps.tot_bfregs;
}

extern struct verbs_driver verbs_provider_mlx5;

/* The table has all calls of a context but those of the data path, which are in datapath.h. */
extern const struct verbs_ops mlx5_context_ops;

static inline bool context_is_mlx5(struct ibv_context *context)
{
	return verbs_driver_of(context->device) == &verbs_provider_mlx5;
}

int mlx5_context_alloc(struct verbs_device *vdev, int cmd_fd, struct verbs_context **vctx);
/* FDS is a struct ibv_fd_arr. */
int mlx5_context_alloc_with(struct verbs_device *vdev, int cmd_fd, const void *fds,
			    struct verbs_context **vctx);
/* Opens a context around a kernel context that another process, or part of this one, has opened. */
int mlx5_context_import(struct verbs_device *vdev, int cmd_fd, struct verbs_context **vctx);
void mlx5_context_free(struct verbs_context *vctx);

/* Returns the key of the null region. Where there is none it is a key that no buffer has, so that
 * whoever compares keys need not ask. */
static inline uint32_t context_null_lkey(const struct mlx5_context *ctx)
{
	bool known = ctx->caps.comp_mask & MLX5_IB_ALLOC_UCONTEXT_RESP_MASK_DUMP_FILL_MKEY;

	return known ? ctx->caps.dump_fill_mkey : DATA_SEG_LKEY_END;
}

/* CQEs name a QP by user index rather than by QPN. */
static inline bool context_has_user_index(const struct mlx5_context *ctx)
{
	return ctx->caps.cqe_version == 1;
}

#endif

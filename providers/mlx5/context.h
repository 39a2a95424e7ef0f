/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * context.h - an open device: capabilities and environment, both read when it is opened, and the
 * pools and tables that its objects share.
 */
#ifndef PROVIDERS_MLX5_CONTEXT_H
#define PROVIDERS_MLX5_CONTEXT_H

#include <pthread.h>
#include <rdma/mlx5-abi.h>
#include "libibverbs/driver.h"
#include "providers/common/clock.h"
#include "providers/common/context.h"
#include "providers/common/seg.h"
#include "providers/mlx5/env.h"
#include "providers/mlx5/hca_caps.h"
#include "providers/mlx5/qp/reserved_qpn.h"
#include "providers/mlx5/uar/uar.h"
#include "util/bits.h"

struct mlx5_device {
	struct verbs_device vdev; /* first */
};

struct mlx5_context {
	struct mlx5_env env;
	bool is_imported;             /* shares the kernel context of an imported descriptor */
	bool has_devx;                /* the kernel allows commands in the device's format (DevX) */
	int devx_refusal;             /* errno of the open with DevX, if it failed */
	const struct ibv_fd_arr *fds; /* valid during open: descriptors that grant rights */
	struct mlx5_ib_alloc_ucontext_resp caps;

	struct provider_context common;

	pthread_mutex_t uar_lock;
	struct mlx5_uar *uars;
	struct mlx5_uar *cq_uar;
	struct mlx5_bfreg *bfregs;
	/* counts of the registers in bfregs with BFREG_OWN that no QP uses, and that one QP uses */
	unsigned int unused_bfregs, used_bfregs;
	/* errno of the kernel's permanent refusal of a BlueFlame page, or 0 */
	int no_blueflame;
	/* count of the pages that were mapped by number, as kernels before 5.8 need: see
	 * uar/page.c */
	uint32_t numbered_uars;

	/* doorbell page that dv/uar.c gives to programs, or NULL; atomic, as it is read without the
	 * lock */
	void *plain_for_programs;

	struct mlx5_ib_query_device_resp device_resp;
	struct hca_caps_cache hca_caps;
	struct qpn_pool qpns; /* reserved numbers, which no QP gets */

	struct clock_page clock_info;

	struct id_lookup *sig_keys;
	pthread_mutex_t login_lock;
	struct mlx5dv_crypto_login_obj *login;
	uint32_t ah_count; /* count of handles whose UDP source port came from a counter; atomic */

	struct verbs_context vctx;
};

static inline struct mlx5_context *to_mctx(struct ibv_context *context)
{
	return container_of(to_vctx(context), struct mlx5_context, vctx);
}

/* Returns whether the kernel supports connection establishment options (ECE). With ECE, creation
 * returns the options of the new QP, and a modify command requests others. Kernels before 5.8 do
 * not support it. */
static inline bool context_has_ece(const struct mlx5_context *ctx)
{
	return ctx->caps.comp_mask & MLX5_IB_ALLOC_UCONTEXT_RESP_MASK_ECE;
}

/* Returns whether doorbell pages (UARs) are kernel objects, as since Linux 5.8. Older kernels
 * allocate some pages with each context. */
static inline bool context_has_uar_objects(const struct mlx5_context *ctx)
{
	return !ctx->caps.tot_bfregs;
}

extern struct verbs_driver verbs_provider_mlx5;

/* Calls of a context except those of the data path, which are in datapath.h. */
extern const struct verbs_ops mlx5_context_ops;

static inline bool context_is_mlx5(struct ibv_context *context)
{
	return verbs_driver_of(context->device) == &verbs_provider_mlx5;
}

int mlx5_context_alloc(struct verbs_device *vdev, int cmd_fd, struct verbs_context **vctx);
int mlx5_context_alloc_with(struct verbs_device *vdev, int cmd_fd, const void *fds,
			    struct verbs_context **vctx);
/* Opens a context on a kernel context that another process, or another part of this process, has
 * opened. */
int mlx5_context_import(struct verbs_device *vdev, int cmd_fd, struct verbs_context **vctx);
void mlx5_context_free(struct verbs_context *vctx);

/* Returns the lkey of the null region. If the device has none, returns a key that no buffer has, so
 * that the data path can compare keys without checking first. */
static inline uint32_t context_null_lkey(const struct mlx5_context *ctx)
{
	bool known = ctx->caps.comp_mask & MLX5_IB_ALLOC_UCONTEXT_RESP_MASK_DUMP_FILL_MKEY;

	return known ? ctx->caps.dump_fill_mkey : DATA_SEG_LKEY_END;
}

static inline bool context_has_user_index(const struct mlx5_context *ctx)
{
	return ctx->caps.cqe_version == 1;
}

#endif

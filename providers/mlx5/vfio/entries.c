/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * entries.c - direct verbs that only a context of VFIO has: events, vectors, event queues.
 */
#include <errno.h>
#include <stdlib.h>

#include "prm/mlx5/cmd.h"
#include "prm/mlx5/eqc.h"
#include "providers/mlx5/vfio/vfio.h"
#include "util/alloc.h"

static int check_vfio(const char *call, struct ibv_context *context)
{
	if (context_is_vfio(context))
		return 0;
	verbs_warn("%s: %s is not driven by VFIO", call, context->device->name);
	return EOPNOTSUPP;
}

/* Returns the descriptor, or a negative errno (not -1), as the manual page says. */
DV_EXPORT int mlx5dv_vfio_get_events_fd(struct ibv_context *context)
{
	int ret = check_vfio("mlx5dv_vfio_get_events_fd", context);

	return ret ? -ret : to_vfio(context)->events.shown_fd;
}

DV_EXPORT int mlx5dv_vfio_process_events(struct ibv_context *context)
{
	int ret = check_vfio("mlx5dv_vfio_process_events", context);

	return verbs_result(ret ? ret : mlx5_vfio_events_process(&to_vfio(context)->events));
}

struct vfio_msi {
	struct mlx5dv_devx_msi_vector msi; /* first, because programs get its address */
	struct ibv_context *context;
};

DV_EXPORT struct mlx5dv_devx_msi_vector *mlx5dv_devx_alloc_msi_vector(struct ibv_context *context)
{
	int ret = check_vfio("mlx5dv_devx_alloc_msi_vector", context);
	struct vfio_msi *msi;
	uint32_t vector;

	if (ret)
		return dv_fail(ret);
	msi = calloc_for("mlx5dv_devx_alloc_msi_vector", 1, sizeof(*msi));
	ret = msi ? mlx5_vfio_vectors_take(&to_vfio(context)->vectors, &vector) : ENOMEM;
	if (ret) {
		free(msi);
		return dv_fail(ret);
	}
	msi->context = context;
	msi->msi.vector = (int)vector;
	msi->msi.fd = to_vfio(context)->vectors.fd[vector];
	return &msi->msi;
}

DV_EXPORT int mlx5dv_devx_free_msi_vector(struct mlx5dv_devx_msi_vector *dv_msi)
{
	struct vfio_msi *msi = (struct vfio_msi *)dv_msi;
	int ret;

	if (!msi) {
		verbs_warn("mlx5dv_devx_free_msi_vector: msi is NULL");
		return verbs_result(EINVAL);
	}
	ret = mlx5_vfio_vectors_give(&to_vfio(msi->context)->vectors, (uint32_t)msi->msi.vector);
	if (!ret)
		free(msi);
	return verbs_result(ret);
}

enum { MAX_LOG_EQ_SIZE = 22 };

struct vfio_eq {
	struct mlx5dv_devx_eq eq; /* first, because programs get its address */
	struct ibv_context *context;
	struct vfio_ring ring;
	uint32_t eqn;
};

static int eq_check(const void *in, size_t inlen, size_t outlen)
{
	if (inlen < PRM_CREATE_EQ_IN_SIZE || outlen < PRM_CMD_OUT_SIZE || outlen > UINT16_MAX) {
		verbs_warn(
			"mlx5dv_devx_create_eq: inlen is %zu, outlen %zu, must be at least %d, %d",
			inlen, outlen, PRM_CREATE_EQ_IN_SIZE, PRM_CMD_OUT_SIZE);
		return EINVAL;
	}
	if (fld_get(in, FLD_IN(CREATE_EQ_IN_EQC, EQC_LOG_EQ_SIZE)) <= MAX_LOG_EQ_SIZE)
		return 0;
	verbs_warn("mlx5dv_devx_create_eq: log_eq_size is above %d", MAX_LOG_EQ_SIZE);
	return EINVAL;
}

static int eq_make(struct vfio_context *ctx, struct vfio_eq *eq, const void *in, void *out,
		   size_t outlen)
{
	const unsigned int log_size =
		(unsigned int)fld_get(in, FLD_IN(CREATE_EQ_IN_EQC, EQC_LOG_EQ_SIZE));
	bool is_answered = false;
	int ret = mlx5_vfio_ring_alloc(&ctx->space, log_size, &eq->ring);

	if (ret)
		return ret;
	ret = mlx5_vfio_eq_create(&ctx->cmdq, &eq->ring, in, PRM_CREATE_EQ_IN_SIZE, out,
				  (uint32_t)outlen, &is_answered);
	if (ret) {
		verbs_warn("mlx5dv_devx_create_eq: %s", strerror(ret));
		mlx5_vfio_dma_free(&ctx->space, &eq->ring.dma);
		return is_answered ? EREMOTEIO : ret;
	}
	eq->eqn = (uint32_t)fld_get(out, CREATE_EQ_OUT_EQ_NUMBER);
	eq->eq.vaddr = eq->ring.dma.memory;
	return 0;
}

DV_EXPORT struct mlx5dv_devx_eq *mlx5dv_devx_create_eq(struct ibv_context *context, const void *in,
						       size_t inlen, void *out, size_t outlen)
{
	int ret = check_vfio("mlx5dv_devx_create_eq", context);
	struct vfio_eq *eq;

	if (!ret)
		ret = eq_check(in, inlen, outlen);
	if (ret)
		return dv_fail(ret);
	eq = calloc_for("mlx5dv_devx_create_eq", 1, sizeof(*eq));
	if (!eq)
		return dv_fail(ENOMEM);
	eq->context = context;
	ret = eq_make(to_vfio(context), eq, in, out, outlen);
	if (!ret)
		return &eq->eq;
	free(eq);
	return dv_fail(ret);
}

DV_EXPORT int mlx5dv_devx_destroy_eq(struct mlx5dv_devx_eq *dv_eq)
{
	struct vfio_eq *eq = (struct vfio_eq *)dv_eq;
	struct vfio_context *ctx;
	int ret;

	if (!eq) {
		verbs_warn("mlx5dv_devx_destroy_eq: eq is NULL");
		return verbs_result(EINVAL);
	}
	ctx = to_vfio(eq->context);
	ret = mlx5_vfio_eq_destroy(&ctx->cmdq, eq->eqn);
	if (ret) {
		verbs_warn("mlx5dv_devx_destroy_eq: EQ %u stays: %s", eq->eqn, strerror(ret));
		return verbs_result(ret);
	}
	mlx5_vfio_dma_free(&ctx->space, &eq->ring.dma);
	free(eq);
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * env.h - environment variables of a context, read once when the device is opened.
 */
#ifndef PROVIDERS_MLX5_ENV_H
#define PROVIDERS_MLX5_ENV_H

#include <stdbool.h>

#include "providers/mlx5/data/cq/stall.h"

struct mlx5_env {
	bool single_threaded; /* MLX5_SINGLE_THREADED: no queue takes a lock */
	bool scatter_to_cqe;  /* MLX5_SCATTER_TO_CQE: small payloads may arrive inside the CQE */
	/* MLX5_SHUT_UP_BF unset: WQEs may be written to the adapter directly, which then need not
	 * fetch them */
	bool blueflame;
	bool prefer_bf;       /* MLX5_POST_SEND_PREFER_BF: push WQEs without inline data, too */
	bool freeze_on_error; /* MLX5_FREEZE_ON_ERROR_CQE: see cqe_error.c */
	/* Whether MLX5_QP_SIGNATURE, MLX5_SRQ_SIGNATURE and MLX5_RWQ_SIGNATURE are set, to any
	 * value: see data/signature.h. */
	bool qp_signatures, srq_signatures, wq_signatures;
	/* MLX5_CQE_SIZE: 64 (default) or 128. With another value, creating a CQ fails. */
	unsigned int cqe_size;
	unsigned int total_bfregs; /* MLX5_TOTAL_UUARS: budget of doorbell registers */
	/* MLX5_NUM_LOW_LAT_UUARS: those of the budget that serve one QP each */
	unsigned int low_latency_bfregs;
	struct stall_env stall; /* MLX5_STALL_*: a pause between polls */
};

void mlx5_env_read(struct mlx5_env *env);

#endif

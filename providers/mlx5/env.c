/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * env.c - the environment variables of the provider. No other file reads them, so that a context
 * has one set of them for its life.
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "providers/common/env.h"
#include "providers/mlx5/env.h"
#include "util/log.h"
#include "util/mmio.h"

/* Applies MLX5_DEBUG_FILE and MLX5_DEBUG_MASK, which direct this library's log. VERBS_LOG and
 * VERBS_LOG_FILE take precedence. Any bit of the mask enables all messages. */
static void env_read_debug(void)
{
	const char *path = secure_getenv("MLX5_DEBUG_FILE");
	const char *mask = getenv("MLX5_DEBUG_MASK");

	if (path || (mask && strtoul(mask, NULL, 0)))
		verbs_log_prefer(path,
				 mask && strtoul(mask, NULL, 0) ? VERBS_LOG_DEBUG : VERBS_LOG_OFF);
}

static void env_read_stall(struct stall_env *stall)
{
	const char *loops = getenv("MLX5_STALL_NUM_LOOP");
	const char *on = getenv("MLX5_STALL_CQ_POLL");

	stall->on = on && strcmp(on, "0");
	if (!stall->on)
		return;
	stall->loops = loops ? atoi(loops) : 60;
	stall->min = provider_env_number("MLX5_STALL_CQ_POLL_MIN", 0, INT_MAX, 60);
	stall->max = provider_env_number("MLX5_STALL_CQ_POLL_MAX", stall->min, INT_MAX, 100000);
	stall->longer = provider_env_number("MLX5_STALL_CQ_INC_STEP", 0, INT_MAX, 100);
	stall->less = provider_env_number("MLX5_STALL_CQ_DEC_STEP", 0, INT_MAX, 10);
}

void mlx5_env_read(struct mlx5_env *env)
{
	const char *shut_up = getenv("MLX5_SHUT_UP_BF");
	const char *freeze = getenv("MLX5_FREEZE_ON_ERROR_CQE");
	const char *cqe_size = getenv("MLX5_CQE_SIZE");

	env->single_threaded = provider_env_is_one("MLX5_SINGLE_THREADED");
	env->scatter_to_cqe = provider_env_unless_zero("MLX5_SCATTER_TO_CQE");
	/* BlueFlame needs stores of 8 bytes. Where the CPU splits them, the adapter could read a
	 * torn WQE, so doorbells are only rung. */
	env->blueflame = MMIO_STORES_64 && (!shut_up || !strcmp(shut_up, "0"));
	env->prefer_bf = provider_env_unless_zero("MLX5_POST_SEND_PREFER_BF");
	env->freeze_on_error = freeze && strcmp(freeze, "0");
	env->qp_signatures = getenv("MLX5_QP_SIGNATURE");
	env->srq_signatures = getenv("MLX5_SRQ_SIGNATURE");
	env->wq_signatures = getenv("MLX5_RWQ_SIGNATURE");
	env->cqe_size = cqe_size ? (unsigned int)atoi(cqe_size) : 64;
	env->total_bfregs = provider_env_number("MLX5_TOTAL_UUARS", 2, 512, 16);
	env->low_latency_bfregs = provider_env_number(
		"MLX5_NUM_LOW_LAT_UUARS", 0, env->total_bfregs - 1, env->total_bfregs * 3 / 4);
	env_read_stall(&env->stall);
	env_read_debug();
}

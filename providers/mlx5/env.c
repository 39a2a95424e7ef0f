/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * env.c - the environment variables of the provider, each read here and nowhere else.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "providers/mlx5/env.h"
#include "util/log.h"

/* A switch that is on by default, and off for "0". */
static bool unless_zero(const char *name)
{
	const char *value = getenv(name);

	return !value || strcmp(value, "0");
}

static bool is_one(const char *name)
{
	const char *value = getenv(name);

	return value && !strcmp(value, "1");
}

/* What is not a number within the bounds is said and ignored. */
static unsigned int number(const char *name, unsigned int min, unsigned int max,
			   unsigned int fallback)
{
	const char *value = getenv(name);
	unsigned long n;
	char *end;

	if (!value)
		return fallback;
	n = strtoul(value, &end, 0);
	if (*value && !*end && n >= min && n <= max)
		return (unsigned int)n;
	verbs_warn("environment: %s is \"%s\", must be a number from %u to %u; using %u", name,
		   value, min, max, fallback);
	return fallback;
}

/* MLX5_DEBUG_*: what this library says, beside VERBS_LOG and VERBS_LOG_FILE, which win. The parts of the mask are not told
 * apart. */
static void read_debug(void)
{
	const char *path = secure_getenv("MLX5_DEBUG_FILE");
	const char *mask = getenv("MLX5_DEBUG_MASK");

	if (path || (mask && strtoul(mask, NULL, 0)))
		verbs_log_prefer(path,
				 mask && strtoul(mask, NULL, 0) ? VERBS_LOG_DEBUG : VERBS_LOG_OFF);
}

static void read_stall(struct stall_env *stall)
{
	const char *loops = getenv("MLX5_STALL_NUM_LOOP");
	const char *on = getenv("MLX5_STALL_CQ_POLL");

	stall->on = on && strcmp(on, "0");
	if (!stall->on)
		return;
	stall->loops = loops ? atoi(loops) : 60;
	stall->min = number("MLX5_STALL_CQ_POLL_MIN", 0, INT_MAX, 60);
	stall->max = number("MLX5_STALL_CQ_POLL_MAX", stall->min, INT_MAX, 100000);
	stall->longer = number("MLX5_STALL_CQ_INC_STEP", 0, INT_MAX, 100);
	stall->less = number("MLX5_STALL_CQ_DEC_STEP", 0, INT_MAX, 10);
}

void mlx5_env_read(struct mlx5_env *env)
{
	const char *shut_up = getenv("MLX5_SHUT_UP_BF");
	const char *cqe_size = getenv("MLX5_CQE_SIZE");

	env->single_threaded = is_one("MLX5_SINGLE_THREADED");
	env->scatter_to_cqe = unless_zero("MLX5_SCATTER_TO_CQE");
	env->blueflame = !shut_up || !strcmp(shut_up, "0");
	env->prefer_bf = unless_zero("MLX5_POST_SEND_PREFER_BF");
	env->cqe_size = cqe_size ? (unsigned int)atoi(cqe_size) : 64;
	env->total_bfregs = number("MLX5_TOTAL_UUARS", 2, 512, 16);
	env->low_latency_bfregs = number("MLX5_NUM_LOW_LAT_UUARS", 0, env->total_bfregs - 1,
					 env->total_bfregs * 3 / 4);
	read_stall(&env->stall);
	read_debug();
}

/* PREFER_CONTIG and EXTERNAL come down to ordinary pages. */
enum env_alloc mlx5_env_alloc_type(const char *name)
{
	static const struct {
		const char *value;
		enum env_alloc type;
	} types[] = {
		{ "HUGE", ENV_ALLOC_HUGE },
		{ "PREFER_HUGE", ENV_ALLOC_PREFER_HUGE },
		{ "ALL", ENV_ALLOC_PREFER_HUGE },
		{ "CONTIG", ENV_ALLOC_CONTIG },
	};
	const char *value = getenv(name);

	for (size_t i = 0; value && i < sizeof(types) / sizeof(types[0]); i++)
		if (!strcasecmp(value, types[i].value))
			return types[i].type;
	return ENV_ALLOC_ANON;
}

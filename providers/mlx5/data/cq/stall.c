/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * stall.c - pauses between polls. Either each empty poll is followed by a pause of fixed length, or
 * the length adapts: it grows while polls return less than was asked for, and shrinks otherwise.
 */
#include "providers/mlx5/data/datapath.h"
#include "providers/mlx5/data/cq/stall.h"

#include <errno.h>
#include <time.h>

#include "providers/mlx5/context.h"
#include "providers/mlx5/cq.h"

#define LOAD(word)         __atomic_load_n(&(word), __ATOMIC_RELAXED)
#define STORE(word, value) __atomic_store_n(&(word), (value), __ATOMIC_RELAXED)

static inline uint64_t cycles_now(void)
{
#if defined(__x86_64__) || defined(__i386__)
	return __builtin_ia32_rdtsc();
#else
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
#endif
}

static inline void cpu_relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("yield" ::: "memory");
#else
	__asm__ volatile("" ::: "memory");
#endif
}

static const struct stall_env *stall_env_of(const struct mlx5_cq *cq)
{
	return &to_mctx(cq->vcq.cq.context)->env.stall;
}

static void stall_pause(struct mlx5_cq *cq)
{
	const struct stall_env *env = stall_env_of(cq);
	uint64_t since;

	if (env->loops >= 0) {
		for (int i = 0; LOAD(cq->stall.due) && i < env->loops; i++)
			cpu_relax();
		return;
	}
	since = LOAD(cq->stall.since);
	while (since && cycles_now() - since < LOAD(cq->stall.cycles))
		cpu_relax();
}

enum found { NOTHING, SOME, ALL };

static void stall_learn(struct mlx5_cq *cq, enum found found)
{
	const struct stall_env *env = stall_env_of(cq);
	uint32_t cycles = LOAD(cq->stall.cycles);

	STORE(cq->stall.due, found == NOTHING);
	if (env->loops >= 0)
		return;
	if (found == SOME)
		cycles = cycles + env->longer < env->max ? cycles + env->longer : env->max;
	else
		cycles = cycles > env->min + env->less ? cycles - env->less : env->min;
	STORE(cq->stall.cycles, cycles);
	STORE(cq->stall.since, found == ALL ? 0 : cycles_now());
}

int mlx5_stall_poll_cq(struct ibv_cq *cq, int num_entries, struct ibv_wc *wc)
{
	int n;

	stall_pause(to_mcq(cq));
	n = mlx5_datapath()->ops.poll_cq(cq, num_entries, wc);
	stall_learn(to_mcq(cq), n <= 0 ? NOTHING : n < num_entries ? SOME : ALL);
	return n;
}

static int stall_start_poll(struct ibv_cq_ex *cqx, struct ibv_poll_cq_attr *attr)
{
	struct mlx5_cq *cq = to_mcq_ex(cqx);
	int ret;

	stall_pause(cq);
	ret = cq->stall.start_poll(cqx, attr);
	if (ret)
		stall_learn(cq, NOTHING);
	else
		cq->stall.ran_dry = false; /* no other thread reads it before end_poll */
	return ret;
}

static int stall_next_poll(struct ibv_cq_ex *cqx)
{
	struct mlx5_cq *cq = to_mcq_ex(cqx);
	int ret = cq->stall.next_poll(cqx);

	cq->stall.ran_dry = ret;
	return ret;
}

static void stall_end_poll(struct ibv_cq_ex *cqx)
{
	struct mlx5_cq *cq = to_mcq_ex(cqx);

	stall_learn(cq, cq->stall.ran_dry ? SOME : ALL);
	cq->stall.end_poll(cqx);
}

void mlx5_stall_wrap(struct mlx5_cq *cq, const struct stall_env *env)
{
	struct ibv_cq_ex *cqx = &cq->vcq.cq_ex;

	if (!env->on)
		return;
	cq->stall = (struct cq_stall){ .cycles = env->min,
				       .start_poll = cqx->start_poll,
				       .next_poll = cqx->next_poll,
				       .end_poll = cqx->end_poll };
	cqx->start_poll = stall_start_poll;
	cqx->next_poll = stall_next_poll;
	cqx->end_poll = stall_end_poll;
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * stall.h - pauses between polls, for programs that poll a CQ so often that they slow down the
 * adapter's writes to it.
 *
 * Pauses are off unless the environment enables them when the device is opened. Then stall.c
 * replaces the context's poll_cq and the CQ's start_poll, so that other programs pay nothing.
 */
#ifndef PROVIDERS_MLX5_DATA_CQ_STALL_H
#define PROVIDERS_MLX5_DATA_CQ_STALL_H

#include <stdbool.h>
#include <stdint.h>

#include <infiniband/verbs.h>

struct mlx5_cq;

struct stall_env {
	bool on;
	/* loops of the pause after an empty poll; negative: adaptive pauses */
	int loops;
	/* limits of the adaptive pause, in cycles of the CPU's clock */
	uint32_t min, max;
	uint32_t longer, less; /* steps by which the pause grows and shrinks */
};

/* The pauses of one CQ. Several threads may poll the CQ: the fields are atomic, each for itself,
 * without a lock, because a slightly wrong pause is harmless. */
struct cq_stall {
	bool due;
	uint32_t cycles;
	uint64_t since;
	bool ran_dry; /* this batch of the extended calls reached the end of the CQ */
	/* The extended calls of cq_ex.c, which stall.c wraps, so that a CQ without pauses pays
	 * nothing. */
	int (*start_poll)(struct ibv_cq_ex *cqx, struct ibv_poll_cq_attr *attr);
	int (*next_poll)(struct ibv_cq_ex *cqx);
	void (*end_poll)(struct ibv_cq_ex *cqx);
};

int mlx5_stall_poll_cq(struct ibv_cq *cq, int num_entries, struct ibv_wc *wc);
/* Wraps the extended calls of a CQ, if pauses are on. */
void mlx5_stall_wrap(struct mlx5_cq *cq, const struct stall_env *env);

#endif

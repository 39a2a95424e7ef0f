/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * stall.h - a pause between polls, for programs that spin on a CQ so fast that the adapter's writes
 * to it suffer.
 *
 * There is none unless the environment asks for it when the device is opened. Then the context's
 * poll_cq and the CQ's start_poll are those of stall.c, so that other programs pay nothing.
 */
#ifndef PROVIDERS_MLX5_DATA_STALL_H
#define PROVIDERS_MLX5_DATA_STALL_H

#include <stdbool.h>
#include <stdint.h>

#include <infiniband/verbs.h>

struct mlx5_cq;

/* These are the variables MLX5_STALL_* of the environment, as env.c reads them. */
struct stall_env {
	bool on;
	int loops; /* of the pause after an empty poll; negative: the length of a pause changes */
	/* That length is counted in cycles of the CPU's clock. */
	uint32_t min, max;
	uint32_t longer, less; /* the steps by which it changes */
};

/* A cq_stall has the pauses of one CQ. Pollers may be many: a pause that is a little too long or
 * short harms nobody, so the words are stored and loaded one by one. */
struct cq_stall {
	bool due;        /* the last poll found nothing */
	uint32_t cycles; /* the present pause */
	uint64_t since;  /* when it began; 0: no pause */
	bool ran_dry;    /* the present batch of the extended calls has found the end */
	/* These are the extended calls of cq_ex.c, which those of stall.c call. */
	int (*start_poll)(struct ibv_cq_ex *cqx, struct ibv_poll_cq_attr *attr);
	int (*next_poll)(struct ibv_cq_ex *cqx);
	void (*end_poll)(struct ibv_cq_ex *cqx);
};

/* This is context->ops.poll_cq, where pauses are on. */
int mlx5_stall_poll_cq(struct ibv_cq *cq, int num_entries, struct ibv_wc *wc);
/* Puts pauses around the extended calls of a CQ, where they are on. */
void mlx5_stall_wrap(struct mlx5_cq *cq, const struct stall_env *env);

#endif

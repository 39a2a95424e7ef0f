/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * lines.h - cache lines that a call of the data path touches, under callgrind with its cache
 * simulated. Before each counted call the simulated cache is filled with other lines, so that a
 * miss is a line that the call touches, counted once.
 *
 * Calls are replaced where the public headers find them: in the context's table, in the extended QP
 * and in the extended CQ. So the program around a call is not counted, except between
 * ibv_wr_start() and ibv_wr_complete(), and between ibv_start_poll() and ibv_end_poll().
 */
#ifndef BENCH_LINES_H
#define BENCH_LINES_H

#include <stdbool.h>
#include <infiniband/verbs.h>

/* Replaces the calls of CTX, for good. */
void lines_hook_context(struct ibv_context *ctx);

/* Replace the calls of one extended QP or CQ, and restore them. NULL: none. */
void lines_hook_qp(struct ibv_qp_ex *qpx);
void lines_hook_cq(struct ibv_cq_ex *cq);
void lines_unhook(void);

/* Counts the calls from now on, or no longer. */
void lines_count(bool on);

/* Returns how many calls were counted since the last time. */
int lines_calls(void);

#endif

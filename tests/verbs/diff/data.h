/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* data.h - one transfer from end 0 to end 1 of a pair, through either way to post; for the topics
 * that move data. */
#ifndef TESTS_VERBS_DIFF_DATA_H
#define TESTS_VERBS_DIFF_DATA_H

#include "diff.h"

enum door {
	DOOR_POST, /* ibv_post_send() */
	DOOR_WR,   /* ibv_wr_start() ... ibv_wr_complete() */
};

struct transfer {
	const char *name;
	enum ibv_wr_opcode opcode;
	uint32_t lens[4];
	int n;
	uint32_t recv_lens[4];
	int recv_n;
	unsigned int flags;
};

/* The default, and for DOOR_WR with every operation of RC. */
struct rig_conf door_conf(enum door door);
const char *door_name(enum door door);

/* The ibv_wr_* calls that mean the same as WR. */
void wr_operation(struct ibv_qp_ex *qpx, const struct ibv_send_wr *wr);
void wr_data(struct ibv_qp_ex *qpx, const struct ibv_send_wr *wr);
int door_post(struct ibv_qp *qp, struct ibv_send_wr *wr, enum door door);

/* Post it, print the completions of both ends, check the bytes. */
void transfer_run(struct rig_pair *pair, const struct transfer *t, enum door door);

#endif

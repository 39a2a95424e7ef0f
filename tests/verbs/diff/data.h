/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* data.h - one transfer from end 0 to end 1 of a pair, through either way to post; for the topics
 * that move data. */
#ifndef TESTS_VERBS_DIFF_DATA_H
#define TESTS_VERBS_DIFF_DATA_H

#include "diff.h"

enum entry {
	ENTRY_POST, /* ibv_post_send() */
	ENTRY_WR,   /* ibv_wr_start() ... ibv_wr_complete() */
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

struct rig_conf entry_conf(enum entry entry);
const char *entry_name(enum entry entry);

void wr_operation(struct ibv_qp_ex *qpx, const struct ibv_send_wr *wr);
void wr_data(struct ibv_qp_ex *qpx, const struct ibv_send_wr *wr);
int entry_post(struct ibv_qp *qp, struct ibv_send_wr *wr, enum entry entry);

/* Post it, print the completions of both ends, check the bytes. */
void transfer_run(struct rig_pair *pair, const struct transfer *t, enum entry entry);

#endif

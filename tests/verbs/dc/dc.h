/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * dc.h - the topics of verbs-dc: queue pairs of the dynamically connected transport (DC), and other
 * QPs of mlx5dv_create_qp(). Like verbs-diff it prints results of calls, and run-diff compares the
 * output on two sets of libraries.
 */
#ifndef TESTS_VERBS_DC_DC_H
#define TESTS_VERBS_DC_DC_H

#include <infiniband/mlx5dv.h>
#include <string.h>

#include "tests/lib/rig.h"
#include "tests/lib/say.h"
#include "util/bits.h"

#define DC_KEY  0x1122334455667788ull
#define DC_ROOM 4096 /* bytes of a buffer; there are DC_BUFS */
#define DC_BUFS 8
#define DC_OPS                                                                            \
	(IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM | IBV_QP_EX_WITH_RDMA_WRITE | \
	 IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM | IBV_QP_EX_WITH_RDMA_READ |                  \
	 IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP | IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD)

/* Objects that all queue pairs of a topic share: one CQ for both directions, an SRQ, memory. */
struct dc {
	struct rig *rig;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_srq *srq;
	struct ibv_mr *mr;
	struct ibv_ah *ah;
	uint8_t *buf;
};

/* The target of a request */
struct dc_to {
	struct ibv_ah *ah;
	uint32_t dctn;
	uint64_t key;
	int stream; /* negative: the request names no stream */
};

struct dc_pair {
	struct dc dc;
	struct ibv_qp *initiator, *target;
	struct dc_to to;
};

typedef void dc_topic(struct rig *rig);
dc_topic dc_create_errors, dc_create_flags, dc_create_operations, dc_absent_queues, dc_not_ignored,
	dc_early_refused, dc_scatter, dc_states, dc_query, dc_example, dc_send, dc_rdma, dc_inline,
	dc_many_targets, dc_batch, dc_wrong_key, dc_no_target, dc_target_gone, dc_not_ready,
	dc_access, dc_streams, dc_stream_budget, dc_stream_reset, dc_stream_states, dc_posting,
	dc_reads, dc_copies, dc_answers, dc_wide_answers, dc_answers_of_dc;

void dc_open(struct rig *rig, struct dc *dc);
void dc_close(struct dc *dc);
uint8_t *dc_buf(const struct dc *dc, unsigned int i);
struct ibv_sge dc_sge(const struct dc *dc, unsigned int i, uint32_t length);

struct ibv_qp_init_attr_ex dc_attr(const struct dc *dc);
struct mlx5dv_qp_init_attr dc_target_attr(uint64_t key);
struct mlx5dv_qp_init_attr dc_initiator_attr(void);
/* Make a queue pair and connect it. LOG_ERRORED below 0: without streams. */
struct ibv_qp *dc_target(const struct dc *dc, uint64_t key);
struct ibv_qp *dc_initiator(const struct dc *dc, int log_errored);
int dc_initiator_to(const struct dc *dc, struct ibv_qp *qp, enum ibv_qp_state state);
void dc_initiator_ready(const struct dc *dc, struct ibv_qp *qp);
int dc_target_to(const struct dc *dc, struct ibv_qp *qp, enum ibv_qp_state state);

struct dc_to dc_to(const struct dc *dc, const struct ibv_qp *target);

/* An initiator without streams, and a target of DC_KEY. */
void dc_pair_open(struct rig *rig, struct dc_pair *pair);
void dc_pair_close(struct dc_pair *pair);

void dc_set_address(struct ibv_qp *qp, const struct dc_to *to);
int dc_post_send(const struct dc *dc, struct ibv_qp *qp, const struct dc_to *to, uint64_t wr_id,
		 uint32_t length);
int dc_post_write(const struct dc *dc, struct ibv_qp *qp, const struct dc_to *to, uint64_t wr_id,
		  uint32_t length);
void dc_post_receive(const struct dc *dc, uint64_t wr_id, unsigned int buf);
void dc_say_completions(const struct dc *dc, int n);
enum ibv_qp_state dc_state(struct ibv_qp *qp);

#endif

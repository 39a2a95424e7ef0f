/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rig.h - a QP and a CQ with rings, doorbell records and registers in plain memory. The rig writes
 * CQEs as the adapter would, and tests look at the bytes that the library wrote.
 */
#ifndef TESTS_UNIT_MLX5_RIG_H
#define TESTS_UNIT_MLX5_RIG_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "providers/mlx5/cq.h"
#include "providers/mlx5/data/post.h"
#include "tests/unit/golden.h"

#define RIG_QPN       0x123456u
#define RIG_RSN       0x000abcu
#define RIG_CQN       0x42u
#define RIG_PAGE      4096
#define RIG_NULL_LKEY 0x5a00u

struct rig_options {
	uint32_t sq_wqebbs, max_send, send_sge, max_inline; /* 0: 8, 8, 4, 64 */
	uint32_t rq_wqes, recv_sge;                         /* 0: 4, 2 */
	uint32_t cqes, cqe_size;                            /* 0: 8, 64 */
	uint32_t sq_pi, rq_head, cq_ci; /* initial values of the free-running indices */
	uint32_t bf_max;
	struct mlx5_bfreg *bfreg; /* NULL: the first register of the rig's page, not shared */
	enum ibv_qp_type type;    /* 0: RC; DRIVER: a DCI */
	bool signal_all, single_threaded, cqe_v0, no_atomics;
};

struct rig {
	struct mlx5_qp *qp;
	struct mlx5_cq *cq;
	struct id_lookup *ids;
	uint8_t *uar; /* registers */
	uint32_t cq_pi;
};

struct rig *rig_new(const struct rig_options *options);
void rig_free(struct rig *rig);

void rig_add_threads(void);

/* Runs the tests as a single-threaded process, then as one with several threads. */
#define RIG_RUN(tests)                                                  \
	(cmocka_run_group_tests_name("one thread", tests, NULL, NULL) + \
	 (rig_add_threads(), cmocka_run_group_tests_name("several threads", tests, NULL, NULL)))

/* Return the WQEBB or the receive WQE at a free-running index. */
uint8_t *rig_sq(struct rig *rig, uint32_t pi);
uint8_t *rig_rq(struct rig *rig, uint32_t head);

/* Fields of a CQE that a test sets; rig_complete() fills the others for rig->qp. */
struct rig_cqe {
	unsigned int opcode; /* MLX5_CQE_* */
	uint8_t send_opcode; /* MLX5_OPCODE_* */
	uint16_t wqe_counter;
	uint32_t byte_cnt;
	__be32 imm;
	uint32_t flags_rqpn;
	uint8_t syndrome, vendor;
	uint32_t rsn, qpn;   /* 0 means rig->qp */
	const void *payload; /* inside the CQE: byte_cnt bytes */
};

void rig_complete(struct rig *rig, const struct rig_cqe *cqe);

static inline uint32_t rig_dbrec(const struct rig *rig, unsigned int word)
{
	return be32toh(rig->qp->dbrec[word]);
}

#endif

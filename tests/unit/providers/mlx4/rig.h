/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rig.h - mlx4 queues from creation to destruction, with registers in plain memory. Functions of
 * the rig replace the kernel. The rig writes CQEs as the adapter would, and tests look at the
 * bytes that the library wrote.
 */
#ifndef TESTS_UNIT_MLX4_RIG_H
#define TESTS_UNIT_MLX4_RIG_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "providers/mlx4/ah.h"
#include "providers/mlx4/context.h"
#include "providers/mlx4/cq.h"
#include "providers/mlx4/data/datapath.h"
#include "tests/unit/golden.h"

enum {
	RIG_QPN = 0x123456,
	RIG_SPREADING_QPN = 0x123500, /* RSS QPs, which receive through WQs */
	RIG_CQN = 0x42,
	RIG_SRQN = 0x51,
	RIG_PAGE = 4096,
	RIG_BF_REG = 512
};

struct rig_options {
	enum ibv_qp_type type;                                     /* 0: RC */
	uint32_t send_wr, recv_wr, send_sge, recv_sge, max_inline; /* 0: 4, 4, 2, 2, 0 */
	uint32_t cqe_size;                                         /* 0: 64 */
	uint64_t wc_flags;
	bool signal_all, blueflame;
	bool second_port_is_ethernet;
	bool checksums;
	uint8_t port; /* 0: 1 */
	uint32_t tso_header;
};

struct rig {
	struct mlx4_context *ctx;
	struct provider_pd pd;
	struct mlx4_cq *cq;
	struct mlx4_qp *qp; /* brought to RTS */
	uint32_t cq_pi;
};

struct rig *rig_new(const struct rig_options *options);
void rig_free(struct rig *rig);

void rig_add_threads(void);

/* Runs the tests as a single-threaded process, then as one with several threads. */
#define RIG_RUN(tests)                                                  \
	(cmocka_run_group_tests_name("one thread", tests, NULL, NULL) + \
	 (rig_add_threads(), cmocka_run_group_tests_name("several threads", tests, NULL, NULL)))

uint8_t *rig_slot(struct rig *rig, uint32_t index);
uint32_t rig_slots(const struct rig *rig);

/* Fields of a CQE that a test sets; rig_complete() fills the others for rig->qp. */
struct rig_cqe {
	bool is_send;
	unsigned int opcode;
	uint16_t wqe_index;
	uint32_t byte_count, imm, qpn; /* qpn: 0 means rig->qp */
	uint8_t above_qpn;             /* upper bits of that word */
	uint32_t sl_rlid;              /* whole dword, with timestamp bits, */
	uint16_t time_low;             /* and the timestamp's low bits */
	uint32_t rqpn;                 /* the whole dword */
	unsigned int syndrome, vendor;
	uint32_t status, checksum;
};

void rig_complete(struct rig *rig, const struct rig_cqe *cqe);
/* A resize omits the resize CQE at the end of the old ring. rig_new_ring: address of the newest. */
extern bool rig_ring_has_no_end;
extern unsigned int rig_late_cqes;  /* CQEs that arrive in the old ring before its end, */
extern unsigned int rig_early_cqes; /* and in the new ring before the command returns */
extern uint64_t rig_new_ring;

#endif

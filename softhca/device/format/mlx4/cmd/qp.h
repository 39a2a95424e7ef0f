/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * qp.h - functions that qp.c and qp_modify.c share.
 */
#ifndef SOFTHCA_DEVICE_FORMAT_MLX4_CMD_QP_H
#define SOFTHCA_DEVICE_FORMAT_MLX4_CMD_QP_H

#include <stdint.h>

#include "prm/mlx4/qpc.h"

struct hca;
struct qp;

/* Optional parameters that RST2INIT may name. It takes the whole context anyway. */
enum {
	M4_QP_FIRST_OPTPARS = M4_OPTPAR_RRE | M4_OPTPAR_RAE | M4_OPTPAR_RWE | M4_OPTPAR_PKEY_INDEX |
			      M4_OPTPAR_QKEY | M4_OPTPAR_PM_STATE | M4_OPTPAR_SCHED_QUEUE |
			      M4_OPTPAR_COUNTER_INDEX,
};

/* Check the send or receive ring of a context. Return NULL or the reason for refusing it. */
const char *m4_sends_check(const uint8_t *qpc);
const char *m4_receives_check(const uint8_t *qpc);
/* Charges BYTES to the queue pairs' memory. Returns 0, or ENOSPC beyond the limit. */
int m4_qp_charge(struct hca *hca, uint64_t bytes);
/* Moves the QP, whose context is set, to state INIT. */
void m4_qp_begin(struct hca *hca, struct qp *qp);
uint8_t m4_qp_state(const struct qp *qp);

#endif

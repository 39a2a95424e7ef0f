/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * raw_qp.h - raw packet QPs in the device: an SQ with a TIS, an RQ with a TIR, or a TIR over a
 * table of RQs.
 */
#ifndef SOFTHCA_FRONT_PROCESS_DRIVER_RAW_QP_H
#define SOFTHCA_FRONT_PROCESS_DRIVER_RAW_QP_H

#include "softhca/front/process/driver/eth_queues.h"
#include "softhca/front/process/driver/rate_limits.h"

struct raw_qp {
	uint32_t domain; /* number of the QP's own transport domain */
	bool has_sq, has_rq, has_tir;
	uint32_t tisn, sqn, rqn, tirn;
	/* ICM address of the TIR, for table entries that programs write; 0: none */
	uint64_t tir_addr;
	uint32_t rate;   /* index of the rate table: rate_limits.h */
	uint32_t number; /* mlx4: its number, from frame_qpns.h; else 0 */
};

struct raw_request {
	const struct eth_ring *send, *receive; /* NULL: no such queue */
	const struct eth_hash *hash;           /* with RQTN, and no queues (RSS) */
	uint32_t rqtn;
	unsigned int self_lb_block;
	uint32_t number;       /* mlx4: its number, which the QP then owns; else 0 */
	uint32_t underlay_qpn; /* send datagrams as this QP; 0: send frames */
};

/* Makes a QP. Returns 0 and *RAW, or a positive errno. */
int raw_qp_make(struct adapter *adapter, const struct raw_request *request, struct raw_qp **raw);
/* Destroys a QP. Returns 0, or an error if it still exists: EBUSY while flows lead to it. */
int raw_qp_destroy(struct adapter *adapter, struct raw_qp *raw);
/* Does to the queues what command OPCODE does to a QP. LIMIT is the new rate limit, or NULL to keep
 * it. */
int raw_qp_change(struct adapter *adapter, struct raw_qp *raw, uint32_t opcode,
		  const struct rate_limit *limit);
/* Gets the QP's state (enum qp_state). BEFORE is its last known state, which stays unless a queue
 * is in error. */
int raw_qp_state(struct adapter *adapter, const struct raw_qp *raw, unsigned int before,
		 unsigned int *state);

static inline uint32_t raw_qp_number(const struct raw_qp *raw)
{
	if (raw->number)
		return raw->number;
	return raw->has_sq ? raw->sqn : raw->rqn;
}

#endif

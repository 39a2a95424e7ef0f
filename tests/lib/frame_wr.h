/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * frame_wr.h - posts a frame by ibv_wr_*(), from the fields of a struct ibv_send_wr.
 */
#ifndef TESTS_LIB_FRAME_WR_H
#define TESTS_LIB_FRAME_WR_H

#include <infiniband/verbs.h>

/* Begins a batch of one request. The caller adds its data. */
static inline void frame_wr_begin(struct ibv_qp_ex *qpx, const struct ibv_send_wr *wr)
{
	qpx->wr_id = wr->wr_id;
	qpx->wr_flags = wr->send_flags;
	ibv_wr_start(qpx);
	if (wr->opcode == IBV_WR_TSO)
		ibv_wr_send_tso(qpx, wr->tso.hdr, wr->tso.hdr_sz, wr->tso.mss);
	else
		ibv_wr_send(qpx);
}

#endif

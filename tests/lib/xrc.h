/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * xrc.h - objects for requests of XRC: two SRQs of a domain behind one receive QP, a CQ for each
 * direction, memory. The caller creates the send QP, by the call that it examines.
 */
#ifndef TESTS_LIB_XRC_H
#define TESTS_LIB_XRC_H

#include "tests/lib/rig.h"

enum { XRC_SRQS = 2, XRC_SLICE = 4096 };

struct xrc {
	struct rig *rig;
	struct rig_conf conf;
	struct ibv_pd *pd;
	struct ibv_xrcd *xrcd;
	struct ibv_cq *sent, *received;
	struct ibv_srq *srq[XRC_SRQS];
	uint32_t srqn[XRC_SRQS];
	struct ibv_qp *from, *to;
	struct ibv_mr *mr;
	uint8_t *buf; /* a slice to send from, and one to receive into */
};

void xrc_open(struct rig *rig, struct rig_conf conf, struct xrc *xrc);
struct ibv_qp_init_attr_ex xrc_initiator_attr(const struct xrc *xrc);
void xrc_connect(struct xrc *xrc);
void xrc_receive(const struct xrc *xrc, int srq, uint64_t wr_id);
void xrc_close(struct xrc *xrc);

#endif

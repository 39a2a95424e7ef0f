/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * tm_offload.c - rendezvous by the adapter itself: it READs the data that a matched message
 * announces, then sends the message's header back, which tells the sender that its buffer is free.
 *
 * Both are WQEs in a ring of the adapter, in the layout that programs use. So the requester has one
 * code path for sending, retries and errors. QPs created for this have no send queue of their own.
 * IBTA does not define tag matching. Headers: prm/mlx5/tm.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "prm/mlx5/cqe.h"
#include "prm/mlx5/eqe.h"
#include "prm/mlx5/wqe.h"
#include "softhca/device/transport/tm.h"
#include "softhca/device/queue/wqe.h"

enum {
	WQES = 1 << TM_LOG_OFFLOADED,
	WQES_OF_ONE = 2, /* WQEs of one rendezvous: the READ and the answer */
};

/* The tag that a READ fills, indexed by the READ's WQE. */
struct rendezvous {
	uint16_t tag;
	uint32_t len;
};

struct tm_offload {
	uint8_t ring[WQES][WQE_BB];
	struct rendezvous of[WQES];
};

int tm_offload_start(struct qp *qp)
{
	qp->sq.log_size = TM_LOG_OFFLOADED;
	qp->sq.block = WQE_BB;
	qp->sq.entry = calloc(WQES, sizeof(*qp->sq.entry));
	qp->offload = calloc(1, sizeof(*qp->offload));
	return qp->sq.entry && qp->offload ? 0 : ENOMEM;
}

bool tm_offload_has_room(const struct qp *qp)
{
	return (uint16_t)(qp->sq.pi - qp->sq.ci) + WQES_OF_ONE <= WQES;
}

const uint8_t *tm_offload_wqe(const struct qp *qp, uint16_t index)
{
	return qp->offload->ring[index % WQES];
}

static uint8_t *wqe_begin(struct qp *qp, uint8_t opcode, unsigned int segments)
{
	uint8_t *raw = qp->offload->ring[qp->sq.pi % WQES];

	memset(raw, 0, WQE_BB);
	fld_set(raw, CTRL_INDEX, qp->sq.pi);
	fld_set(raw, CTRL_OPCODE, opcode);
	fld_set(raw, CTRL_QPN, qp->n);
	fld_set(raw, CTRL_DS, segments);
	fld_set(raw, CTRL_CE_SE, WQE_CQ_UPDATE);
	return raw;
}

/* Writes the READ's WQE. Without data it has no data segment, because a length of 0 means 2 GiB. */
static void put_read(struct qp *qp, const uint8_t *header, const struct wqe_sge *buffer)
{
	uint32_t len = fld_get(header, RVH_LEN);
	uint8_t *raw = wqe_begin(qp, WQE_RDMA_READ, len ? 3 : 2), *raddr = raw + WQE_SEG;
	uint8_t *data = raddr + WQE_SEG;

	fld_set(raddr, RADDR_ADDR, fld_get(header, RVH_ADDR));
	fld_set(raddr, RADDR_RKEY, fld_get(header, RVH_RKEY));
	if (!len)
		return;
	fld_set(data, DATA_LEN, len);
	fld_set(data, DATA_LKEY, buffer->lkey);
	fld_set(data, DATA_ADDR, buffer->addr);
}

static void put_answer(struct qp *qp, const uint8_t *header)
{
	uint8_t *data = wqe_begin(qp, WQE_SEND, 4) + WQE_SEG;

	fld_set(data, DATA_INLINE, 1);
	fld_set(data, DATA_INLINE_LEN, TM_RNDV_HEADER);
	memcpy(data + WQE_INLINE_HEADER, header, TM_RNDV_HEADER);
	fld_set(data + WQE_INLINE_HEADER, TMH_OP, TMH_FIN);
}

void tm_offload_fetch(struct hca *hca, struct qp *qp, const uint8_t *header, uint16_t tag,
		      const struct wqe_sge *buffer)
{
	qp->offload->of[qp->sq.pi % WQES] =
		(struct rendezvous){ .tag = tag, .len = fld_get(header, RVH_LEN) };
	put_read(qp, header, buffer);
	qp->sq.pi++;
	put_answer(qp, header);
	qp->sq.pi++;
	qp_wake(hca, qp);
}

/* Reports the tag's second completion, whether or not the READ succeeded. A failure to send the
 * answer shows only as the QP's error. */
void tm_offload_complete(struct hca *hca, struct qp *qp, const struct completion *done)
{
	const struct rendezvous *rendezvous = &qp->offload->of[qp->sq.ci % WQES];
	bool arrived = done->opcode == CQE_OP_REQ;
	const struct tm_note note = {
		.op = arrived ? TM_CQE_EXPECTED : TM_CQE_CANCELED,
		.tag = rendezvous->tag,
	};
	const struct completion cqe = {
		.opcode = CQE_OP_RESP_SEND,
		.byte_count = arrived ? rendezvous->len : 0,
		.srq = qp->srq,
		.tm = &note,
	};

	if (done->send_opcode == WQE_RDMA_READ && cq_post(hca, qp->srq->cq, qp, &cqe))
		qp_fail(hca, qp, PRM_EVENT_WQ_CATAS_ERROR);
}

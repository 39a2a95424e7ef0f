/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * underlay.c - send queues whose datagrams seem to come from the QP that their TIS names. They
 * serve IP over InfiniBand next to the kernel's interface, which owns that QP. Port, P_Key and
 * Q_Key are the QP's. PRM: TIS context, underlay_qpn
 */
#include "softhca/device/eth/underlay.h"

#include "softhca/device/core.h"
#include "softhca/device/eth/eth.h"
#include "softhca/device/eth/eth_sq.h"
#include "softhca/device/eth/work_request.h"
#include "softhca/device/queue/wqe.h"
#include "softhca/device/station.h"

/* Returns the UD QP that the queue's TIS names, or NULL if it is not in state RTS: only then does a
 * QP have a port and an MTU. */
static struct qp *underlay_qp(const struct hca *hca, const struct eth_sq *sq)
{
	struct qp *qp = res_get(&hca->qps, sq->tis->underlay_qpn);

	return qp && qp->service == FABRIC_UD && qp->state == PRM_QP_STATE_RTS ? qp : NULL;
}

int underlay_send(struct hca *hca, struct eth_sq *sq, const struct frame_send *send,
		  struct datagram_to *to)
{
	const struct qp *qp = underlay_qp(hca, sq);
	struct fabric_msg msg = {
		.service = FABRIC_UD,
		.op = FABRIC_SEND,
		.dest_qpn = to->qpn,
		.packets = 1,
		.first = true,
		.last = true,
		.length = send->header_len + send->length,
		.payload_len = send->header_len + send->length,
		.payload = hca->bounce,
	};
	int ret;

	if (!qp || !path_take_port(hca, &qp->path, &to->path))
		return WQE_BAD_AV;
	if (!msg.length || msg.length > qp->mtu)
		return WQE_BAD_LENGTH;
	ret = eth_gather(hca, sq, send, hca->bounce, 0, send->length);
	if (ret)
		return ret;
	msg.src_qpn = qp->n;
	msg.mtu = qp->mtu;
	msg.pkey = to->path.pkey;
	msg.qkey = to->has_qkey ? to->qkey : qp->qkey;
	path_address(hca, &to->path, &msg.addr);
	hca->eth->work++;
	station_send(hca, &msg);
	return 0;
}

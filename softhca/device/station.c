/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * station.c - messages and frames that arrive at a port. Messages are counted and dispatched here;
 * frames are counted where they are parsed: eth/eth_port.c.
 */
#include <string.h>

#include "softhca/device/core.h"
#include "softhca/device/eth/eth.h"
#include "softhca/device/eth/eth_port.h"
#include "softhca/device/management/pma.h"
#include "softhca/device/management/sma.h"
#include "softhca/device/transport/dci.h"
#include "softhca/device/transport/dct.h"
#include "softhca/device/transport/qp.h"

static void advance_time(struct hca *hca, uint64_t now)
{
	if (hca->now < now)
		hca->now = now;
}

/* Returns whether a message comes from the path's destination: by GID on RoCE and with a GRH, else
 * by LID. IBTA vol 1, 9.6.1.2; annexes A16 and A17 */
static bool is_of_path(const struct fabric_addr *path, const struct fabric_addr *addr)
{
	if (path->by_gid || (path->grh && addr->grh))
		return !memcmp(path->dgid, addr->sgid, sizeof(path->dgid));
	return path->dlid == addr->slid;
}

/* Returns whether the message comes from the connected QP. Packets from another host do not carry
 * their source QP, so such packets match any source QP. */
static bool is_from_peer(const struct qp *qp, const struct fabric_msg *msg)
{
	uint32_t qpn = qp->dci ? qp->dci->to.qpn : qp->remote_qpn;

	if (qp->dci && !qp->dci->in_session)
		return false;
	return (!msg->src_qpn || qpn == msg->src_qpn) && is_of_path(&qp_peer(qp)->addr, &msg->addr);
}

static void message_dispatch(struct hca *hca, unsigned int port, const struct fabric_msg *msg)
{
	struct qp *qp;

	if (hca->dead)
		return;
	if (msg->service == FABRIC_UD) {
		ud_receive(hca, port, msg);
		return;
	}
	if (msg->service == FABRIC_DC && fabric_is_request(msg->op)) {
		dct_receive(hca, port, msg);
		return;
	}
	qp = res_get(&hca->qps, msg->dest_qpn);
	if (!qp || qp->service != msg->service || !is_from_peer(qp, msg) ||
	    !port_accepts_pkey(&hca->port[port - 1], qp->path.pkey, msg->pkey))
		return;
	if (fabric_is_request(msg->op))
		resp_receive(hca, qp, msg);
	else
		req_receive(hca, qp, msg);
}

void station_receive(struct hca *hca, unsigned int port, uint64_t now, const struct fabric_msg *msg)
{
	advance_time(hca, now);
	port_count_message(&hca->port[port - 1].messages_received, msg);
	message_dispatch(hca, port, msg);
}

void station_receive_frame(struct hca *hca, unsigned int port, uint64_t now, const uint8_t *frame,
			   size_t len)
{
	advance_time(hca, now);
	eth_port_receive(hca, port, frame, len);
}

void station_settle(struct hca *hca)
{
	lro_end_all(hca);
	cq_end_runs(hca);
}

bool station_answer_mad(struct hca *hca, unsigned int port, const uint8_t *in, uint8_t *out)
{
	switch (fld_get(in, MAD_CLASS)) {
	case MAD_CLASS_SUBNET:
	case MAD_CLASS_DIRECTED:
		return sma_answer(hca, port, in, out);
	case MAD_CLASS_PERFORMANCE:
		return pma_answer(hca, in, out);
	default:
		return false;
	}
}

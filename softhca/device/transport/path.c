/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * path.c - turns the address path of a QP context or WQE into the address in a message.
 *
 * The source GID is looked up for each message: the path has only its index, and software may
 * replace the GID in the port's table. PRM: Address Path. IBTA vol 1, 8.3 (GRH); annexes A16, A17
 * (RoCE).
 */
#include <string.h>

#include "softhca/device/core.h"
#include "softhca/device/transport/dci.h"

bool path_take_port(const struct hca *hca, const struct qp_path *own, struct qp_path *path)
{
	struct fabric_addr *addr = &path->addr;

	path->pkey = own->pkey;
	addr->port = own->addr.port;
	if (addr->grh && !port_gid(hca, addr->port, path->gid_index))
		return false;
	return addr->by_gid ? addr->grh : addr->dlid != 0;
}

static void from_entry(const struct gid_entry *entry, struct fabric_addr *addr)
{
	enum { L3_IPV4 = 0 };

	addr->roce = entry->version == FABRIC_ROCE_V2 ? FABRIC_ROCE_V2 : FABRIC_ROCE_V1;
	addr->ipv4 = addr->roce == FABRIC_ROCE_V2 && entry->l3_type == L3_IPV4;
	if (!entry->path_tags) {
		addr->tagged = entry->tagged;
		addr->vlan = entry->vlan;
	}
	memcpy(addr->smac, entry->mac, sizeof(addr->smac));
}

void path_address(const struct hca *hca, const struct qp_path *path, struct fabric_addr *addr)
{
	const struct gid_entry *entry = port_gid_entry(hca, path->addr.port, path->gid_index);

	*addr = path->addr;
	addr->slid = hca->port[addr->port - 1].lid;
	if (!entry || !addr->grh)
		return;
	memcpy(addr->sgid, entry->gid, sizeof(addr->sgid));
	if (addr->by_gid)
		from_entry(entry, addr);
}

static bool find_gid(const struct hca *hca, unsigned int port, const uint8_t gid[16],
		     uint8_t *index)
{
	for (unsigned int i = 0; i < hca->port[port - 1].gids; i++) {
		const struct gid_entry *entry = port_gid_entry(hca, port, i);

		if (!entry || memcmp(entry->gid, gid, sizeof(entry->gid)))
			continue;
		*index = i;
		return true;
	}
	return false;
}

bool path_reverse(const struct hca *hca, unsigned int port, const struct fabric_msg *msg,
		  struct qp_path *path)
{
	struct fabric_addr *addr = &path->addr;

	*path = (struct qp_path){ .addr = msg->addr, .pkey = msg->pkey };
	addr->port = port;
	addr->dlid = msg->addr.slid;
	memcpy(addr->dgid, msg->addr.sgid, sizeof(addr->dgid));
	memcpy(addr->dmac, msg->addr.smac, sizeof(addr->dmac));
	return !addr->grh || find_gid(hca, port, msg->addr.dgid, &path->gid_index);
}

const struct qp_path *qp_peer(const struct qp *qp)
{
	return qp->dci ? &qp->dci->to.path : &qp->path;
}

static void address_target(const struct dci *dci, struct fabric_msg *msg)
{
	msg->dest_qpn = dci->to.qpn;
	msg->dc_key = dci->to.dc_key;
	msg->session = dci->session;
}

void qp_address(struct hca *hca, const struct qp *qp, struct fabric_msg *msg)
{
	msg->service = qp->service;
	msg->dest_qpn = qp->remote_qpn;
	msg->src_qpn = qp->wire;
	msg->pkey = qp->path.pkey;
	msg->mtu = qp->mtu;
	if (qp->dci)
		address_target(qp->dci, msg);
	path_address(hca, qp_peer(qp), &msg->addr);
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * datagram.c - datagrams and frames that a front sends and receives itself, in place of the kernel
 * that it emulates: MADs and address resolution. IBTA vol 1, 9.8.3 (UD); annexes A16, A17 (RoCE).
 */
#include <string.h>

#include "ib/mad.h"
#include "softhca/device/core.h"

static void put_address(const struct hca *hca, const struct hca_datagram *datagram,
			struct fabric_addr *addr)
{
	bool roce = hca->config.link_layer == HCA_LINK_ETHERNET;
	struct qp_path path = { .gid_index = datagram->gid_index };

	path.addr = (struct fabric_addr){
		.port = datagram->port,
		.dlid = datagram->dlid,
		.sl = datagram->sl,
		.grh = roce || datagram->grh,
		.by_gid = roce,
		.traffic_class = datagram->traffic_class,
		.hop_limit = datagram->hop_limit,
		.flow_label = datagram->flow_label,
		.udp_sport = datagram->udp_sport,
	};
	memcpy(path.addr.dgid, datagram->dgid, sizeof(path.addr.dgid));
	memcpy(path.addr.dmac, datagram->dmac, sizeof(path.addr.dmac));
	path_address(hca, &path, addr);
}

void hca_send_datagram(struct hca *hca, const struct hca_datagram *datagram)
{
	struct fabric_msg msg = {
		.service = FABRIC_UD,
		.op = FABRIC_SEND,
		.dest_qpn = datagram->dest_qpn,
		.src_qpn = datagram->src_qpn,
		.qkey = datagram->qkey,
		.pkey = PKEY_DEFAULT,
		.packets = 1,
		.mtu = 4096,
		.first = true,
		.last = true,
		.length = datagram->len,
		.payload = datagram->payload,
		.payload_len = datagram->len,
	};

	fabric_lock(hca->fabric);
	put_address(hca, datagram, &msg.addr);
	station_send(hca, &msg);
	fabric_flush(hca->fabric);
	fabric_unlock(hca->fabric);
}

void hca_send_frame(struct hca *hca, unsigned int port, const uint8_t *frame, size_t len)
{
	fabric_lock(hca->fabric);
	station_send_frame(hca, port, frame, len);
	fabric_flush(hca->fabric);
	fabric_unlock(hca->fabric);
}

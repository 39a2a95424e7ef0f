/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * ud.c - arriving datagrams: their receivers, the GRH in front of the payload, and completions.
 *
 * A datagram that no QP accepts is dropped without a trace. The first 40 bytes of a receive buffer
 * are for the GRH; RoCE version 2 has an IP header there, IPv4 in the last 20 bytes. IBTA vol 1,
 * 9.8.3 (UD), 8.3 (GRH), 10.2.5 (Q_Keys); annex A17 (RoCE version 2)
 */
#include <errno.h>
#include <string.h>

#include "ib/mad.h"
#include "ib/packet.h"
#include "prm/mlx5/cqe.h"
#include "prm/mlx5/eqe.h"
#include "softhca/device/core.h"
#include "softhca/device/queue/sig_report.h"
#include "softhca/device/queue/wqe.h"
#include "softhca/inet.h"
#include "softhca/device/transport/qp.h"

enum { UD_MAX = 4096 };

static uint32_t transport_len(const struct fabric_msg *msg)
{
	return BTH_SIZE + DETH_SIZE + (msg->has_imm ? IMMDT_SIZE : 0) +
	       ((msg->payload_len + 3) & ~3u) + ICRC_SIZE;
}

static void put_ipv4(const struct fabric_msg *msg, uint8_t *header)
{
	const struct fabric_addr *addr = &msg->addr;

	memset(header, 0, IP4_SIZE);
	fld_set(header, IP4_VERSION, 4);
	fld_set(header, IP4_HEADER_WORDS, IP4_WORDS);
	fld_set(header, IP4_TOS, addr->traffic_class);
	fld_set(header, IP4_LENGTH, IP4_SIZE + UDP_SIZE + transport_len(msg));
	fld_set(header, IP4_DONT_FRAGMENT, 1);
	fld_set(header, IP4_TTL, addr->hop_limit);
	fld_set(header, IP4_PROTOCOL, PROTO_UDP);
	memcpy(fld_at(header, IP4_SOURCE), addr->sgid + INET_PREFIX, 4);
	memcpy(fld_at(header, IP4_DESTINATION), addr->dgid + INET_PREFIX, 4);
	fld_set(header, IP4_CHECKSUM, (uint16_t)~inet_fold(inet_sum(0, header, IP4_SIZE)));
}

static void put_grh(const struct fabric_msg *msg, uint8_t *header)
{
	const struct fabric_addr *addr = &msg->addr;
	bool udp = addr->by_gid && addr->roce == FABRIC_ROCE_V2;

	memset(header, 0, GRH_SIZE);
	fld_set(header, IP6_VERSION, 6);
	fld_set(header, IP6_TCLASS, addr->traffic_class);
	fld_set(header, IP6_FLOW_LABEL, addr->flow_label);
	fld_set(header, IP6_PAYLOAD, transport_len(msg) + (udp ? UDP_SIZE : 0));
	fld_set(header, IP6_NEXT, udp ? PROTO_UDP : GRH_NEXT_IBA);
	fld_set(header, IP6_HOP_LIMIT, addr->hop_limit);
	memcpy(fld_at(header, IP6_SOURCE), addr->sgid, 16);
	memcpy(fld_at(header, IP6_DESTINATION), addr->dgid, 16);
}

/* Writes the header at the end of the 40 bytes at HEADER, as the payload follows at byte 40 and an
 * IPv4 header is shorter than a GRH. Returns the offset of the header's first byte. */
static uint32_t put_header(const struct fabric_msg *msg, uint8_t *header)
{
	if (!msg->addr.grh)
		return GRH_SIZE;
	if (msg->addr.ipv4) {
		put_ipv4(msg, header + GRH_SIZE - IP4_SIZE);
		return GRH_SIZE - IP4_SIZE;
	}
	put_grh(msg, header);
	return 0;
}

static uint8_t l3_type(const struct fabric_addr *addr)
{
	if (addr->roce == FABRIC_ROCE_V1)
		return CQE_L3_GRH;
	return addr->ipv4 ? CQE_L3_IPV4 : CQE_L3_IPV6;
}

/* Returns a GSI CQE's P_Key field: the key, or its index where the format reports that; a port has
 * one key, at index 0. */
static uint32_t key_in_cqe(const struct hca *hca, const struct fabric_msg *msg)
{
	return hca->format->tells_pkey_index ? 0 : htobe32(msg->pkey);
}

static struct completion completion_of(const struct hca *hca, const struct qp *qp,
				       const struct fabric_msg *msg)
{
	const struct fabric_addr *addr = &msg->addr;
	struct completion done = {
		.opcode = msg->has_imm ? CQE_OP_RESP_SEND_IMM : CQE_OP_RESP_SEND,
		.solicited = msg->solicited,
		.byte_count = GRH_SIZE + msg->payload_len,
		.remote_qpn = msg->src_qpn,
		.slid = addr->slid,
		.grh = addr->grh,
		.roce = addr->by_gid,
		.sl_or_l3 = addr->by_gid ? l3_type(addr) : addr->sl,
		.tagged = addr->tagged,
		.vlan = addr->sl << 13 | addr->vlan,
	};

	if (msg->has_imm)
		done.imm = msg->imm;
	else if (qp->special == QP_GSI) /* the MAD agent answers with the same P_Key */
		done.imm = key_in_cqe(hca, msg);
	return done;
}

static void write_receive(struct hca *hca, struct qp *qp, const struct fabric_msg *msg)
{
	const struct recv_wqe *recv = &qp->resp.recv;
	struct completion done = completion_of(hca, qp, msg);
	uint8_t buf[GRH_SIZE + UD_MAX + CQE_ROOM];
	uint32_t start = put_header(msg, buf), len = GRH_SIZE + msg->payload_len - start;
	struct dma_batch batch;
	int why;

	if (msg->payload_len)
		memcpy(buf + GRH_SIZE, msg->payload, msg->payload_len);
	dma_begin_write(&batch, hca, buf + start);
	done.before = &batch;
	why = sges_add(&batch, rq_pd(qp), MKEY_LOCAL_WRITE, recv->sge, recv->num_sge, start, len);
	sig_report(hca, qp, false);
	if (!why && rq_complete(hca, qp, &done))
		why = WQE_BAD_DMA;
	if (why)
		rq_fail(hca, qp, SYND_LOCAL_PROT, why);
}

/* Returns whether the datagram is lost to an absent page of an SRQ's buffer. A QP's own receive
 * queue resolves the fault itself instead. */
static bool datagram_faults(struct hca *hca, struct qp *qp, const struct fabric_msg *msg)
{
	return qp->resp.held.srq &&
	       !srq_has_pages(hca, &qp->resp.recv, GRH_SIZE + msg->payload_len);
}

static void datagram_deliver(struct hca *hca, struct qp *qp, const struct fabric_msg *msg)
{
	int ret;

	srq_resolve_fault(hca, qp);
	ret = rq_fetch(hca, qp);
	if (ret == ENOENT)
		q_count(hca, qp, Q_OUT_OF_BUFFER);
	else if (ret == EBADMSG)
		rq_fail(hca, qp, SYND_LOCAL_QP_OP, WQE_BAD_SIGNATURE);
	else if (ret)
		qp_fail(hca, qp, PRM_EVENT_WQ_CATAS_ERROR);
	else if (GRH_SIZE + msg->payload_len > qp->resp.recv.length)
		rq_fail(hca, qp, SYND_LOCAL_LENGTH, WQE_BAD_LENGTH);
	else if (datagram_faults(hca, qp, msg))
		srq_report_fault(hca, qp);
	else
		write_receive(hca, qp, msg);
}

/* Checks P_Key and Q_Key. GSI datagrams may use any P_Key of the port. */
static bool qp_has_keys(struct port *port, const struct qp *qp, const struct fabric_msg *msg)
{
	uint16_t pkey = qp->special == QP_GSI ? PKEY_DEFAULT : qp->path.pkey;

	if (!port_accepts_pkey(port, pkey, msg->pkey))
		return false;
	if (qp->qkey == msg->qkey)
		return true;
	port_count_violation(&port->bad_qkeys);
	return false;
}

/* Returns whether the QP accepts the datagram. QP0 ignores keys. */
static bool qp_accepts(struct hca *hca, const struct qp *qp, unsigned int port,
		       const struct fabric_msg *msg)
{
	if (qp->service != FABRIC_UD || !qp_receives(qp) || qp->path.addr.port != port)
		return false;
	return qp->special == QP_SMI || qp_has_keys(&hca->port[port - 1], qp, msg);
}

static bool is_own(const struct hca *hca, const struct qp *qp, unsigned int port,
		   const struct fabric_msg *msg)
{
	if (qp->wire != msg->src_qpn)
		return false;
	return msg->addr.by_gid ? port_has_gid(hca, port, msg->addr.sgid)
				: hca->port[port - 1].lid == msg->addr.slid;
}

static void deliver_to_group(struct hca *hca, unsigned int port, const struct fabric_msg *msg)
{
	struct mcg_member *member;

	LIST_FOREACH(member, &hca->mcg_members, entry) {
		struct qp *qp = member->qp;

		if (memcmp(member->gid, msg->addr.dgid, sizeof(member->gid)) ||
		    !qp_accepts(hca, qp, port, msg))
			continue;
		if (!qp->blocks_own_multicast || !is_own(hca, qp, port, msg))
			datagram_deliver(hca, qp, msg);
	}
}

static void show_front(struct hca *hca, unsigned int port, const struct fabric_msg *msg)
{
	if (hca->config.datagram)
		hca->config.datagram(hca->config.front, port, msg);
}

void ud_receive(struct hca *hca, unsigned int port, const struct fabric_msg *msg)
{
	struct qp *qp;

	if (msg->op != FABRIC_SEND || !msg->first || !msg->last || msg->payload_len > UD_MAX)
		return;
	if (fabric_is_multicast(&msg->addr)) {
		deliver_to_group(hca, port, msg);
		show_front(hca, port, msg);
		return;
	}
	if (msg->dest_qpn < QP_SPECIAL)
		qp = hca->port[port - 1].special[msg->dest_qpn];
	else
		qp = res_get(&hca->qps, msg->dest_qpn);
	if (!qp)
		show_front(hca, port, msg);
	else if (qp_accepts(hca, qp, port, msg))
		datagram_deliver(hca, qp, msg);
}

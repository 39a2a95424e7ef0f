/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * special_wqe.c - WQEs of mlx4's management QPs: software writes the packet headers inline, and
 * leaves room for the ICRC at the end. These headers are turned into the address vector of an
 * ordinary datagram. Sources: struct mlx4_wqe_mlx_seg in linux/mlx4/qp.h; IBTA vol 1, 7.7 (LRH),
 * 8.3 (GRH), 9.2 (BTH), 9.3.3 (DETH), annex A16 (RoCE: Ethernet header and GRH), A17 (version 2: IP
 * and UDP).
 */
#include <string.h>

#include "ib/ethernet.h"
#include "ib/packet.h"
#include "prm/mlx4/wqe.h"
#include "softhca/device/core.h"
#include "softhca/device/format/mlx4/mlx4.h"
#include "softhca/device/queue/work_request.h"
#include "softhca/device/queue/wqe.h"
#include "softhca/inet.h"

enum {
	HEADERS_MAX =
		ETHERNET_SIZE + VLAN_SIZE + IP6_SIZE + UDP_SIZE + BTH_SIZE + DETH_SIZE + IMMDT_SIZE,
};
enum { UD_SEND = 4, UD_SEND_IMM = 5 }; /* values of BTH_OPCODE */

static size_t headers_gather(const struct send_wqe *wqe, uint8_t *headers, size_t want)
{
	size_t got = 0;

	for (unsigned int i = 0; got < want && i < wqe->num_sge && wqe->sge[i].data; i++) {
		size_t part = wqe->sge[i].len < want - got ? wqe->sge[i].len : want - got;

		memcpy(headers + got, wqe->sge[i].data, part);
		got += part;
	}
	return got;
}

/* Removes LEN bytes from the front of the data, and the ICRC from its end. */
static bool headers_cut(struct send_wqe *wqe, size_t len)
{
	const struct wqe_sge *last;
	unsigned int first = 0;

	if (!wqe->num_sge)
		return false;
	last = &wqe->sge[wqe->num_sge - 1];
	if (!last->data || last->len != ICRC_SIZE)
		return false;
	wqe->num_sge--;
	wqe->length -= ICRC_SIZE;
	for (; len && first < wqe->num_sge; first++) {
		if (wqe->sge[first].len > len)
			return false; /* headers and data are in different segments */
		len -= wqe->sge[first].len;
		wqe->length -= wqe->sge[first].len;
	}
	memmove(wqe->sge, wqe->sge + first, (wqe->num_sge - first) * sizeof(wqe->sge[0]));
	wqe->num_sge -= first;
	return !len;
}

/* The headers that were found. */
struct headers {
	const uint8_t *lrh, *ethernet; /* exactly one is set */
	const uint8_t *tag;            /* or NULL */
	const uint8_t *grh, *ip4;      /* RoCE: one is set; grh may be an IPv6 header */
	enum fabric_roce version;
	const uint8_t *bth, *deth;
	size_t len; /* without immediate data */
};

/* Returns the size of the header behind an IP header, at AT, if it is RoCE version 2's UDP, else
 * 0. */
static size_t find_udp(const uint8_t *at, uint64_t next)
{
	if (next != PROTO_UDP || fld_get(at, L4_DESTINATION_PORT) != ROCE_UDP_PORT)
		return 0;
	return UDP_SIZE;
}

/* Return the position of the BTH, or NULL. */
static const uint8_t *find_behind_ethernet(const uint8_t *bytes, struct headers *found)
{
	uint16_t type = fld_get16(bytes, ETHERNET_TYPE);
	const uint8_t *at = bytes + ETHERNET_SIZE;
	size_t udp;

	found->ethernet = bytes;
	if (type == ETHERTYPE_VLAN) {
		found->tag = fld_at(bytes, ETHERNET_TYPE);
		type = fld_get16(bytes + VLAN_SIZE, ETHERNET_TYPE);
		at += VLAN_SIZE;
	}
	if (type == ETHERTYPE_ROCE) {
		found->grh = at;
		return at + GRH_SIZE;
	}
	found->version = FABRIC_ROCE_V2;
	if (type == ETHERTYPE_V4) {
		found->ip4 = at;
		at += IP4_SIZE;
		udp = find_udp(at, fld_get(found->ip4, IP4_PROTOCOL));
	} else {
		found->grh = at;
		at += IP6_SIZE;
		udp = type == ETHERTYPE_V6 ? find_udp(at, fld_get(found->grh, IP6_NEXT)) : 0;
	}
	return udp ? at + udp : NULL;
}

static const uint8_t *find_behind_lrh(const uint8_t *bytes, struct headers *found)
{
	uint64_t next = fld_get(bytes, LRH_NEXT);

	found->lrh = bytes;
	if (next < LRH_NEXT_BTH)
		return NULL;
	found->grh = next == LRH_NEXT_GRH ? bytes + LRH_SIZE : NULL;
	return bytes + LRH_SIZE + (found->grh ? GRH_SIZE : 0);
}

static bool headers_find(const uint8_t *bytes, bool roce, struct headers *found)
{
	*found = (struct headers){ .version = FABRIC_ROCE_V1 };
	found->bth = roce ? find_behind_ethernet(bytes, found) : find_behind_lrh(bytes, found);
	if (!found->bth)
		return false;
	found->deth = found->bth + BTH_SIZE;
	found->len = (size_t)(found->deth - bytes) + DETH_SIZE;
	return fld_get(found->bth, BTH_SERVICE) == FABRIC_UD;
}

/* Puts the source GID's index into the AV, as a QP's path has an index; the header that software
 * wrote has the GID itself. Returns false if the port has no such GID. */
static bool put_source(const struct hca *hca, unsigned int port, const uint8_t gid[16],
		       enum fabric_roce version, uint8_t *av)
{
	for (unsigned int i = 0; i < hca->port[port - 1].gids; i++) {
		const struct gid_entry *own = port_gid_entry(hca, port, i);

		if (own && own->version == version && !memcmp(own->gid, gid, 16)) {
			fld_set(av, M4_AV_GID_INDEX, i);
			return true;
		}
	}
	return false;
}

static void put_link(const struct headers *headers, uint8_t *av)
{
	if (headers->ethernet) {
		memcpy(fld_at(av, M4_DGRAM_MAC), fld_at(headers->ethernet, ETHERNET_DESTINATION),
		       6);
	} else {
		fld_set(av, M4_AV_DLID, fld_get(headers->lrh, LRH_DLID));
		fld_set(av, M4_AV_SL, fld_get(headers->lrh, LRH_SL));
	}
	if (!headers->tag)
		return;
	fld_set(av, M4_AV_VLAN, 1);
	fld_set(av, M4_DGRAM_VLAN, fld_get(headers->tag, VLAN_TCI));
	fld_set(av, M4_AV_ETH_PRIO, fld_get(headers->tag, VLAN_PRIORITY));
}

/* Takes the fields of an IPv4 header, and the source as a GID. */
static const uint8_t *put_ip4(const uint8_t *ip, uint8_t *av, uint8_t source[16])
{
	fld_set(av, M4_AV_TCLASS, fld_get(ip, IP4_TOS));
	fld_set(av, M4_AV_HOP_LIMIT, fld_get(ip, IP4_TTL));
	inet_map(fld_at(ip, IP4_DESTINATION), fld_at(av, M4_AV_DGID));
	inet_map(fld_at(ip, IP4_SOURCE), source);
	return source;
}

static const uint8_t *put_grh(const uint8_t *grh, uint8_t *av)
{
	fld_set(av, M4_AV_TCLASS, fld_get(grh, IP6_TCLASS));
	fld_set(av, M4_AV_FLOW_LABEL, fld_get(grh, IP6_FLOW_LABEL));
	fld_set(av, M4_AV_HOP_LIMIT, fld_get(grh, IP6_HOP_LIMIT));
	memcpy(fld_at(av, M4_AV_DGID), fld_at(grh, IP6_DESTINATION), 16);
	return fld_at(grh, IP6_SOURCE);
}

static bool put_route(const struct hca *hca, const struct qp *qp, const struct headers *headers,
		      uint8_t *av)
{
	const uint8_t *source;
	uint8_t mapped[16];

	put_link(headers, av);
	if (!headers->grh && !headers->ip4)
		return true;
	fld_set(av, M4_AV_GRH, 1);
	source = headers->ip4 ? put_ip4(headers->ip4, av, mapped) : put_grh(headers->grh, av);
	return put_source(hca, qp->path.addr.port, source, headers->version, av);
}

static int decode_headers(const struct hca *hca, const struct qp *qp, struct send_wqe *wqe)
{
	uint8_t bytes[HEADERS_MAX] = { 0 };
	size_t got = headers_gather(wqe, bytes, sizeof(bytes));
	struct headers headers;

	if (!headers_find(bytes, station_is_ethernet(hca), &headers))
		return WQE_BAD_AV;
	if (fld_get(headers.bth, BTH_OPCODE) == UD_SEND_IMM) {
		wqe->opcode = M4_SEND_IMM;
		memcpy(&wqe->imm, bytes + headers.len, sizeof(wqe->imm));
		headers.len += IMMDT_SIZE;
	} else if (fld_get(headers.bth, BTH_OPCODE) != UD_SEND) {
		return WQE_BAD_OPCODE;
	}
	if (got < headers.len || !headers_cut(wqe, headers.len))
		return WQE_BAD_SIZE;
	wqe->solicited = fld_get(headers.bth, BTH_SOLICITED);
	if (!put_route(hca, qp, &headers, wqe->av))
		return WQE_BAD_AV;
	fld_set(wqe->av, M4_DGRAM_QPN, fld_get(headers.bth, BTH_DEST_QPN));
	fld_set(wqe->av, M4_DGRAM_QKEY, fld_get(headers.deth, DETH_QKEY));
	return 0;
}

int mlx4_decode_special(const struct hca *hca, const struct qp *qp, const uint8_t *raw,
			uint16_t index, struct send_wqe *wqe)
{
	int why = mlx4_decode_raw(raw, index, wqe);

	if (why || wqe->opcode != M4_SEND)
		return why ? why : WQE_BAD_OPCODE;
	memset(wqe->av, 0, sizeof(wqe->av));
	return decode_headers(hca, qp, wqe);
}

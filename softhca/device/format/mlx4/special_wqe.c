/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * special_wqe.c - work queue elements of management QPs of mlx4: software writes the headers of the
 * packet, inline, and room for the ICRC at the end. What the headers say becomes the address vector
 * that other datagrams have. Sources: struct mlx4_wqe_mlx_seg in linux/mlx4/qp.h; IBTA vol 1, 7.7
 * (LRH), 8.3 (GRH), 9.2 (BTH), 9.3.3 (DETH), annex A16 (RoCE: Ethernet's header and the GRH).
 */
#include <string.h>

#include "ib/ethernet.h"
#include "ib/packet.h"
#include "prm/mlx4/wqe.h"
#include "softhca/device/core.h"
#include "softhca/device/format/mlx4/mlx4.h"
#include "softhca/device/queue/work_request.h"
#include "softhca/device/queue/wqe.h"

enum { HEADERS_MAX = ETHERNET_SIZE + GRH_SIZE + BTH_SIZE + DETH_SIZE + IMMDT_SIZE };
enum { UD_SEND = 4, UD_SEND_IMM = 5 }; /* BTH_OPCODE */

/* The function copies bytes from the front of what the WQE has inline. */
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

/* The function takes LEN bytes away from the front, and the ICRC from the end. */
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
			return false; /* headers and data have segments of their own */
		len -= wqe->sge[first].len;
		wqe->length -= wqe->sge[first].len;
	}
	memmove(wqe->sge, wqe->sge + first, (wqe->num_sge - first) * sizeof(wqe->sge[0]));
	wqe->num_sge -= first;
	return !len;
}

/* The headers, as they were found */
struct headers {
	const uint8_t *lrh, *ethernet; /* one of them is there, */
	const uint8_t *grh;            /* this one is on RoCE */
	const uint8_t *bth, *deth;
	size_t len; /* without immediate data */
};

static bool headers_find(const uint8_t *bytes, bool roce, struct headers *found)
{
	size_t link = roce ? ETHERNET_SIZE : LRH_SIZE;
	uint64_t next = roce ? LRH_NEXT_GRH : fld_get(bytes, LRH_NEXT);

	*found = (struct headers){ .lrh = roce ? NULL : bytes, .ethernet = roce ? bytes : NULL };
	if (roce && fld_get16(bytes, ETHERNET_TYPE) != ETHERTYPE_ROCE)
		return false;
	found->grh = next == LRH_NEXT_GRH ? bytes + link : NULL;
	found->bth = bytes + link + (found->grh ? GRH_SIZE : 0);
	found->deth = found->bth + BTH_SIZE;
	found->len = (size_t)(found->deth - bytes) + DETH_SIZE;
	return next >= LRH_NEXT_BTH && fld_get(found->bth, BTH_SERVICE) == FABRIC_UD;
}

/* The header has the GID where other address vectors have its index. */
static void put_source(const struct hca *hca, unsigned int port, const uint8_t *gid, uint8_t *av)
{
	for (unsigned int i = 0; i < hca->port[port - 1].gids; i++) {
		const uint8_t *own = port_gid(hca, port, i);

		if (own && !memcmp(own, gid, 16)) {
			fld_set(av, M4_AV_GID_INDEX, i);
			return;
		}
	}
}

static void put_route(const struct hca *hca, const struct qp *qp, const struct headers *headers,
		      uint8_t *av)
{
	const uint8_t *grh = headers->grh;

	if (headers->ethernet) {
		memcpy(fld_at(av, M4_DGRAM_MAC), fld_at(headers->ethernet, ETHERNET_DESTINATION),
		       6);
	} else {
		fld_set(av, M4_AV_DLID, fld_get(headers->lrh, LRH_DLID));
		fld_set(av, M4_AV_SL, fld_get(headers->lrh, LRH_SL));
	}
	if (!grh)
		return;
	fld_set(av, M4_AV_GRH, 1);
	put_source(hca, qp->path.addr.port, fld_at(grh, IP6_SOURCE), av);
	fld_set(av, M4_AV_TCLASS, fld_get(grh, IP6_TCLASS));
	fld_set(av, M4_AV_FLOW_LABEL, fld_get(grh, IP6_FLOW_LABEL));
	fld_set(av, M4_AV_HOP_LIMIT, fld_get(grh, IP6_HOP_LIMIT));
	memcpy(fld_at(av, M4_AV_DGID), fld_at(grh, IP6_DESTINATION), 16);
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
	put_route(hca, qp, &headers, wqe->av);
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

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * special_wqe.c - work queue elements of management QPs of mlx4: software writes the headers of the
 * packet, inline, and room for the ICRC at the end. What the headers say becomes the address vector
 * that other datagrams have. Sources: struct mlx4_wqe_mlx_seg in linux/mlx4/qp.h; IBTA vol 1, 7.7
 * (LRH), 8.3 (GRH), 9.2 (BTH), 9.3.3 (DETH).
 */
#include <string.h>

#include "ib/ethernet.h"
#include "ib/packet.h"
#include "prm/mlx4/wqe.h"
#include "softhca/device/format/mlx4/mlx4.h"
#include "softhca/device/queue/work_request.h"
#include "softhca/device/queue/wqe.h"

enum { HEADERS_MAX = LRH_SIZE + GRH_SIZE + BTH_SIZE + DETH_SIZE + IMMDT_SIZE };
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

static void put_route(const uint8_t *lrh, const uint8_t *grh, uint8_t *av)
{
	fld_set(av, M4_AV_DLID, fld_get(lrh, LRH_DLID));
	fld_set(av, M4_AV_SL, fld_get(lrh, LRH_SL));
	if (!grh)
		return;
	fld_set(av, M4_AV_GRH, 1);
	fld_set(av, M4_AV_TCLASS, fld_get(grh, IP6_TCLASS));
	fld_set(av, M4_AV_FLOW_LABEL, fld_get(grh, IP6_FLOW_LABEL));
	fld_set(av, M4_AV_HOP_LIMIT, fld_get(grh, IP6_HOP_LIMIT));
	memcpy(fld_at(av, M4_AV_DGID), fld_at(grh, IP6_DESTINATION), 16);
}

static int decode_headers(struct send_wqe *wqe)
{
	uint8_t headers[HEADERS_MAX] = { 0 };
	size_t got = headers_gather(wqe, headers, sizeof(headers)), at = LRH_SIZE;
	uint64_t next = fld_get(headers, LRH_NEXT);
	const uint8_t *grh = next == LRH_NEXT_GRH ? headers + at : NULL, *bth, *deth;

	at += grh ? GRH_SIZE : 0;
	bth = headers + at;
	deth = bth + BTH_SIZE;
	at += BTH_SIZE + DETH_SIZE;
	if (next < LRH_NEXT_BTH || fld_get(bth, BTH_SERVICE) != FABRIC_UD)
		return WQE_BAD_AV;
	if (fld_get(bth, BTH_OPCODE) == UD_SEND_IMM) {
		wqe->opcode = M4_SEND_IMM;
		memcpy(&wqe->imm, headers + at, sizeof(wqe->imm));
		at += IMMDT_SIZE;
	} else if (fld_get(bth, BTH_OPCODE) != UD_SEND) {
		return WQE_BAD_OPCODE;
	}
	if (got < at || !headers_cut(wqe, at))
		return WQE_BAD_SIZE;
	wqe->solicited = fld_get(bth, BTH_SOLICITED);
	put_route(headers, grh, wqe->av);
	fld_set(wqe->av, M4_DGRAM_QPN, fld_get(bth, BTH_DEST_QPN));
	fld_set(wqe->av, M4_DGRAM_QKEY, fld_get(deth, DETH_QKEY));
	return 0;
}

int mlx4_decode_special(const uint8_t *raw, uint16_t index, struct send_wqe *wqe)
{
	int why = mlx4_decode_raw(raw, index, wqe);

	if (why || wqe->opcode != M4_SEND)
		return why ? why : WQE_BAD_OPCODE;
	memset(wqe->av, 0, sizeof(wqe->av));
	return decode_headers(wqe);
}

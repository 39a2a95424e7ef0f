/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * frame.c - WQEs and CQEs of mlx5's frame queues.
 *
 * A send WQE is a control segment, an Ethernet segment with inline headers, and data segments. A
 * CQE reports what the adapter has found in the frame. PRM: Ethernet Segment, CQE
 */
#include <stddef.h>

#include "prm/mlx5/cqe.h"
#include "prm/mlx5/wqe.h"
#include "softhca/device/eth/eth.h"
#include "softhca/device/eth/work_request.h"
#include "softhca/device/format/mlx5/mlx5.h"
#include "softhca/device/queue/wqe.h"

/* Decodes inline data: a length, then the bytes, padded to a segment. Returns the bytes taken, or 0
 * if they run over the end of the WQE. */
static size_t decode_inline_data(const uint8_t *seg, const uint8_t *end, struct wqe_sge *sge)
{
	size_t taken;

	sge->len = fld_get(seg, DATA_INLINE_LEN);
	sge->data = seg + WQE_INLINE_HEADER;
	taken = (WQE_INLINE_HEADER + sge->len + WQE_SEG - 1) / WQE_SEG * WQE_SEG;
	return taken <= (size_t)(end - seg) ? taken : 0;
}

static int decode_data(const uint8_t *seg, const uint8_t *end, struct frame_send *send)
{
	while (seg < end) {
		struct wqe_sge *sge = &send->sge[send->num_sge++];
		size_t taken = WQE_SEG;

		sge->data = NULL;
		sge->len = fld_get(seg, DATA_LEN);
		sge->lkey = fld_get(seg, DATA_LKEY);
		sge->addr = fld_get(seg, DATA_ADDR);
		if (fld_get(seg, DATA_INLINE))
			taken = decode_inline_data(seg, end, sge);
		if (!taken)
			return WQE_BAD_INLINE;
		send->length += sge->len;
		seg += taken;
	}
	return 0;
}

/* Decodes inline headers, whose place the VLAN tag to insert shares. Returns the start of the data
 * segments, or NULL if the headers run over the end. */
static const uint8_t *decode_headers(const uint8_t *eth, const uint8_t *end,
				     struct frame_send *send)
{
	uint32_t size = fld_get(eth, ETH_INLINE), taken;

	if (size & WQE_INSERT_VLAN) {
		if (size & ~(WQE_INSERT_VLAN | WQE_INSERT_SERVICE_TAG))
			return NULL;
		send->tpid = size & WQE_INSERT_SERVICE_TAG ? ETHERTYPE_QINQ : ETHERTYPE_VLAN;
		send->tci = fld_get(eth, ETH_TCI);
		return eth + WQE_SEG;
	}
	taken = (WQE_ETH_INLINE_START + size + WQE_SEG - 1) / WQE_SEG * WQE_SEG;
	if (taken < WQE_SEG)
		taken = WQE_SEG;
	if (taken > (size_t)(end - eth))
		return NULL;
	send->header = eth + WQE_ETH_INLINE_START;
	send->header_len = size;
	return eth + taken;
}

static int control_check(const uint8_t *raw, uint16_t index, uint32_t bbs, uint32_t sqn)
{
	uint8_t opcode = fld_get(raw, CTRL_OPCODE);

	if (fld_get(raw, CTRL_OPMOD) ||
	    (opcode != WQE_NOP && opcode != WQE_SEND && opcode != WQE_LSO && opcode != WQE_UMR))
		return WQE_BAD_OPCODE;
	if (fld_get(raw, CTRL_INDEX) != index)
		return WQE_BAD_INDEX;
	if (fld_get(raw, CTRL_QPN) != sqn)
		return WQE_BAD_QPN;
	return !mlx5_wqe_bbs(raw) || mlx5_wqe_bbs(raw) > bbs ? WQE_BAD_SIZE : 0;
}

/* Decodes a send whose Ethernet segment is AT bytes into the WQE. */
static int decode_send(const uint8_t *raw, uint32_t at, struct frame_send *send)
{
	const uint8_t *eth = raw + at, *end = raw + mlx5_wqe_size(raw), *data;
	uint8_t sums;

	send->header = raw;
	send->header_len = 0;
	send->tpid = 0;
	send->length = 0;
	send->num_sge = 0;
	send->opcode = fld_get(raw, CTRL_OPCODE);
	send->signaled = fld_get(raw, CTRL_CE_SE) & WQE_CQ_UPDATE;
	if (send->opcode == WQE_NOP || send->opcode == WQE_UMR)
		return 0;
	if (end < eth + WQE_SEG)
		return WQE_BAD_SIZE;
	sums = fld_get(eth, ETH_CS);
	send->fill_l3 = sums & WQE_CS_L3;
	send->fill_l4 = sums & WQE_CS_L4;
	send->mss = fld_get(eth, ETH_MSS);
	/* The device computes no inner checksums, and parses headers itself instead of using
	 * software's offsets (SWP). */
	if ((sums & ~(WQE_CS_L3 | WQE_CS_L4)) || fld_get(eth, ETH_SWP))
		return WQE_BAD_OPCODE;
	data = decode_headers(eth, end, send);
	return data ? decode_data(data, end, send) : WQE_BAD_INLINE;
}

int mlx5_decode_frame_send(const uint8_t *raw, uint16_t index, uint32_t bbs, uint32_t sqn,
			   struct frame_send *send)
{
	int why = control_check(raw, index, bbs, sqn);

	return why ? why : decode_send(raw, WQE_SEG, send);
}

/* Decodes a datagram: a full address vector and a padding segment precede the Ethernet segment. */
int mlx5_decode_underlay_send(const uint8_t *raw, uint16_t index, uint32_t bbs, uint32_t sqn,
			      struct frame_send *send, struct datagram_to *to)
{
	int why = control_check(raw, index, bbs, sqn);

	if (why)
		return why;
	if (fld_get(raw, CTRL_OPCODE) == WQE_LSO || fld_get(raw, CTRL_OPCODE) == WQE_UMR)
		return WQE_BAD_OPCODE;
	why = decode_send(raw, WQE_SEG + WQE_AV_EXTENDED + WQE_SEG, send);
	if (!why && send->opcode == WQE_SEND)
		mlx5_decode_av(raw + WQE_SEG, false, to);
	return why;
}

uint16_t mlx5_striding_next(const uint8_t *head)
{
	return fld_get(head, SRQ_WQE_NEXT);
}

/* Decodes a receive. Bit 31 of a length allows padding to a cache line before the data, which this
 * adapter never adds. */
void mlx5_decode_frame_recv(const uint8_t *raw, uint32_t stride, struct recv_wqe *wqe)
{
	wqe->length = 0;
	wqe->num_sge = 0;
	for (const uint8_t *seg = raw; seg < raw + stride && wqe->num_sge < WQE_SGE_MAX &&
				       fld_get(seg, DATA_LKEY) != WQE_TERMINATOR_LKEY;
	     seg += WQE_SEG) {
		struct wqe_sge *sge = &wqe->sge[wqe->num_sge++];

		sge->len = fld_get(seg, DATA_FRAME_LEN);
		sge->lkey = fld_get(seg, DATA_LKEY);
		sge->addr = fld_get(seg, DATA_ADDR);
		sge->data = NULL;
		wqe->length += sge->len;
	}
}

static enum cqe_eth_l3 l3_type(const struct frame *frame)
{
	if (!frame->l3)
		return CQE_ETH_L3_NONE;
	return frame->ip_version == 4 ? CQE_ETH_L3_IPV4 : CQE_ETH_L3_IPV6;
}

static enum cqe_eth_l4 l4_type(const struct frame *frame)
{
	const uint8_t *tcp = frame->bytes + frame->l4;

	if (frame->fragment || !frame->l4)
		return CQE_ETH_L4_NONE;
	if (frame_is_udp(frame))
		return CQE_ETH_L4_UDP;
	if (!frame_is_tcp(frame))
		return CQE_ETH_L4_NONE;
	if (!(fld_get(tcp, TCP_FLAGS) & TCP_ACK))
		return CQE_ETH_L4_TCP_NO_ACK;
	return frame->l4 + fld_get(tcp, TCP_HEADER_WORDS) * 4u < frame->l3_end
		       ? CQE_ETH_L4_TCP_ACK_AND_DATA
		       : CQE_ETH_L4_TCP_ACK_NO_DATA;
}

/* Fills the LRO fields. Merged segments all had right checksums. */
static void put_lro(const struct lro_note *lro, uint8_t *cqe)
{
	fld_set(cqe, CQE_HEADERS_OK, CQE_L2_OK | CQE_L3_OK | CQE_L4_OK);
	fld_set(cqe, CQE_LRO_SEGMENTS, lro->segments);
	fld_set(cqe, CQE_LRO_PUSH, lro->push);
	fld_set(cqe, CQE_LRO_MIN_TTL, lro->min_ttl);
	fld_set(cqe, CQE_LRO_WINDOW, lro->window);
	fld_set(cqe, CQE_LRO_ACK, lro->ack);
}

static void put_arrival(const struct frame_completion *done, uint8_t *cqe)
{
	const struct frame *frame = &done->arrival->frame;

	fld_set(cqe, CQE_RSS_HASH, done->arrival->hash);
	fld_set(cqe, CQE_RSS_HASH_TYPE, done->arrival->hash_type);
	fld_set(cqe, CQE_CHECK_SUM, done->sum);
	fld_set(cqe, CQE_HEADERS_OK,
		CQE_L2_OK | (frame_l3_ok(frame) ? CQE_L3_OK : 0) |
			(frame_l4_ok(frame) ? CQE_L4_OK : 0));
	fld_set(cqe, CQE_ETH_L3_TYPE, l3_type(frame));
	fld_set(cqe, CQE_ETH_L4_TYPE, l4_type(frame));
	fld_set(cqe, CQE_VLAN_PRESENT, done->stripped);
	fld_set(cqe, CQE_VLAN, done->stripped ? frame->tci[0] : 0);
	fld_set(cqe, CQE_BYTE_COUNT, frame->len - (done->stripped ? VLAN_SIZE : 0));
	fld_set(cqe, CQE_FLOW_TAG, done->arrival->tag);
	if (done->arrival->lro.segments)
		put_lro(&done->arrival->lro, cqe);
}

void mlx5_encode_frame_cqe(const struct cqe_place *place, const struct frame_completion *done,
			   uint8_t *cqe)
{
	fld_set(cqe, CQE_USER_INDEX, place->user_index);
	fld_set(cqe, CQE_SEND_OPCODE, done->send_opcode);
	fld_set(cqe, CQE_QPN, place->qpn);
	fld_set(cqe, CQE_WQE_COUNTER, done->wqe_counter);
	fld_set(cqe, CQE_OPCODE, done->opcode);
	if (done->opcode == CQE_OP_REQ_ERR || done->opcode == CQE_OP_RESP_ERR) {
		fld_set(cqe, CQE_VENDOR_SYNDROME, done->vendor_syndrome);
		fld_set(cqe, CQE_SYNDROME, done->syndrome);
		return;
	}
	fld_set(cqe, CQE_TIMESTAMP, place->time);
	if (done->arrival)
		put_arrival(done, cqe);
	if (!done->strides)
		return;
	fld_set(cqe, CQE_WQE_ID, done->wqe_id);
	fld_set(cqe, CQE_STRIDES, done->strides);
	fld_set(cqe, CQE_FILLER, done->filler);
}

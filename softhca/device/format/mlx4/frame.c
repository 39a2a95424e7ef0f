/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * frame.c - WQEs and CQEs of mlx4's frame queues.
 *
 * A send WQE is a control segment, the headers of a large send, and data. The control segment has
 * the offloads and the destination address. Sources: see prm/mlx4/wqe.h and prm/mlx4/cqe.h; meaning
 * of the bits for frames, from Linux' driver mlx4_en (6.1: en_tx.c, en_rx.c).
 */
#include <string.h>

#include "prm/mlx4/cqe.h"
#include "prm/mlx4/wqe.h"
#include "prm/mlx5/cqe.h"
#include "softhca/device/eth/eth.h"
#include "softhca/device/eth/work_request.h"
#include "softhca/device/format/mlx4/mlx4.h"
#include "softhca/device/queue/wqe.h"

/* Bytes that follow a message sent on a frame queue: an ICRC of InfiniBand. Its value does not
 * matter, as the frame has four bytes too many anyway. */
static const uint8_t icrc[4] = { 0x1c, 0x2c, 0x3c, 0x4c };

static void add_sge(struct frame_send *send, const struct wqe_sge *sge)
{
	send->sge[send->num_sge++] = *sge;
	send->length += sge->len;
}

static void decode_control(const uint8_t *raw, struct frame_send *send)
{
	send->opcode = fld_get(raw, M4_CTRL_OPCODE);
	send->signaled = fld_get(raw, M4_CTRL_CQE) == M4_CQE_WANTED;
	send->fill_l3 = fld_get(raw, M4_CTRL_IP_CSUM);
	send->fill_l4 = fld_get(raw, M4_CTRL_L4_CSUM);
	send->tpid = fld_get(raw, M4_CTRL_INSERT_VLAN)    ? ETHERTYPE_VLAN
		     : fld_get(raw, M4_CTRL_INSERT_SVLAN) ? ETHERTYPE_QINQ
							  : 0;
	send->tci = fld_get(raw, M4_CTRL_VLAN);
	/* Drivers that do not want loopback, such as DPDK's, leave the address out, so it may be
	 * absent. */
	send->has_mac = fld_get(raw, M4_CTRL_MAC_47_32) || fld_get(raw, M4_CTRL_MAC_31_0);
	put_be16(send->mac, fld_get(raw, M4_CTRL_MAC_47_32));
	put_be32(send->mac + 2, fld_get(raw, M4_CTRL_MAC_31_0));
	send->header = raw;
	send->header_len = 0;
	send->length = 0;
	send->num_sge = 0;
}

/* Decodes the headers of a large send. Returns the first byte behind them, or NULL if they do not
 * fit. */
static const uint8_t *decode_headers(const uint8_t *raw, const uint8_t *end,
				     struct frame_send *send)
{
	const uint8_t *seg = raw + M4_SEG;
	uint32_t taken;

	if (end < seg + M4_SEG)
		return NULL;
	send->mss = fld_get(seg, M4_LARGE_MSS);
	send->header = seg + M4_LARGE_HEADER;
	send->header_len = fld_get(seg, M4_LARGE_SIZE);
	taken = (M4_LARGE_HEADER + send->header_len + M4_SEG - 1) / M4_SEG * M4_SEG;
	if (taken > M4_LARGE_SHORT && !fld_get(raw, M4_CTRL_LONG_HEADER))
		return NULL;
	return taken <= (size_t)(end - seg) ? seg + taken : NULL;
}

static int decode_data(const uint8_t *raw, const uint8_t *seg, const uint8_t *end,
		       struct frame_send *send)
{
	struct send_wqe wqe = { .num_sge = 0 };
	int why = mlx4_decode_data(raw, seg, end, &wqe);

	for (unsigned int i = 0; !why && i < wqe.num_sge; i++)
		add_sge(send, &wqe.sge[i]);
	return why;
}

int mlx4_decode_frame_send(const uint8_t *raw, uint16_t index, uint32_t bbs, uint32_t sqn,
			   struct frame_send *send)
{
	const uint8_t *seg = raw + M4_SEG, *end = raw + mlx4_wqe_size(raw);
	int why;

	/* unused, as the WQE has neither its index nor its queue (except for BlueFlame) */
	(void)index;
	(void)sqn;
	(void)bbs; /* unused, as it is always one block of the ring */
	decode_control(raw, send);
	if (send->opcode != M4_NOP && send->opcode != M4_SEND && send->opcode != M4_LSO)
		return WQE_BAD_OPCODE;
	if (end < seg)
		return WQE_BAD_SIZE;
	if (send->opcode == M4_NOP)
		return 0;
	if (send->opcode == M4_LSO)
		seg = decode_headers(raw, end, send);
	if (!seg)
		return WQE_BAD_INLINE;
	why = decode_data(raw, seg, end, send);
	if (!why && !fld_get(raw, M4_CTRL_SOLICITED) && send->num_sge < WQE_SGE_MAX)
		add_sge(send, &(struct wqe_sge){ .len = sizeof(icrc), .data = icrc });
	return why;
}

static uint32_t ip_status(const struct frame *frame)
{
	uint32_t status = M4_STATUS_IPV4;

	if (!frame->l3)
		return 0;
	if (frame->ip_version != 4)
		return M4_STATUS_IPV6 | M4_STATUS_IP_OK;
	if (frame->fragment)
		status |= M4_STATUS_IPV4_FRAGMENT;
	if (frame->l4 && frame->l4 - frame->l3 > IP4_SIZE)
		status |= M4_STATUS_IPV4_OPTIONS;
	return status | (frame_l3_ok(frame) ? M4_STATUS_IP_OK : 0);
}

static uint32_t frame_status(const struct frame *frame)
{
	uint32_t status = ip_status(frame);

	if (frame->fragment || !frame->l4)
		return status;
	if (frame_is_tcp(frame))
		status |= M4_STATUS_TCP;
	if (frame_is_udp(frame))
		status |= M4_STATUS_UDP;
	return status | (frame_l4_ok(frame) ? M4_STATUS_L4_OK : 0);
}

static void put_arrival(const struct frame_completion *done, uint8_t *cqe)
{
	const struct frame *frame = &done->arrival->frame;
	uint32_t status = frame_status(frame);

	fld_set(cqe, M4_CQE_BYTE_COUNT, frame->len);
	fld_set(cqe, M4_CQE_IMM, done->arrival->hash);
	fld_set(cqe, M4_CQE_CHECKSUM, status & M4_STATUS_L4_OK ? 0xffff : done->sum);
	fld_set(cqe, M4_CQE_STATUS, status);
}

void mlx4_encode_frame_cqe(const struct cqe_place *place, const struct frame_completion *done,
			   uint8_t *cqe)
{
	bool is_send = done->opcode == CQE_OP_REQ || done->opcode == CQE_OP_REQ_ERR;

	fld_set(cqe, M4_CQE_QPN, place->qpn);
	fld_set(cqe, M4_CQE_WQE_INDEX, done->wqe_counter);
	fld_set(cqe, M4_CQE_IS_SEND, is_send);
	if (done->opcode == CQE_OP_REQ_ERR || done->opcode == CQE_OP_RESP_ERR) {
		fld_set(cqe, M4_CQE_OPCODE, M4_CQE_ERROR);
		fld_set(cqe, M4_CQE_SYNDROME, done->syndrome);
		fld_set(cqe, M4_CQE_VENDOR, done->vendor_syndrome);
		return;
	}
	fld_set(cqe, M4_CQE_OPCODE, is_send ? done->send_opcode : M4_RECV_SEND);
	if (place->has_time)
		mlx4_put_time(place, cqe);
	if (done->arrival)
		put_arrival(done, cqe);
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * wqe.c - decodes and checks mlx4's WQEs.
 *
 * A WQE that breaks a rule is refused with a vendor syndrome for the reason, and nothing of it is
 * executed. A WQE takes one slot of its ring, which the queue counts as a block. Sources: see
 * prm/mlx4/wqe.h.
 */
#include <assert.h>
#include <string.h>

#include "prm/mlx4/wqe.h"
#include "prm/mlx5/wqe.h"
#include "softhca/device/format/mlx4/mlx4.h"
#include "softhca/device/format/segments.h"
#include "softhca/device/queue/work_request.h"
#include "softhca/device/queue/wqe.h"

static_assert((int)M4_DATAGRAM_SIZE <= (int)WQE_AV_EXTENDED, "struct send_wqe has room for it");

enum {
	ON_RELIABLE = 1 << FABRIC_RC | 1 << FABRIC_XRC,
	ON_CONNECTED = ON_RELIABLE | 1 << FABRIC_UC,
	ON_ALL = ON_CONNECTED | 1 << FABRIC_UD,
};

/* Opcodes, with the numbers of enum wqe_opcode. */
static const struct opcode {
	uint8_t services; /* services that allow it: IBTA vol 1, table 44 */
	uint8_t parts;
} opcodes[32] = {
	[M4_NOP] = { ON_ALL, 0 },
	[M4_SEND_INVAL] = { ON_RELIABLE, PART_DATA | PART_INLINE },
	[M4_SEND] = { ON_ALL, PART_DATA | PART_INLINE },
	[M4_SEND_IMM] = { ON_ALL, PART_DATA | PART_INLINE },
	[M4_RDMA_WRITE] = { ON_CONNECTED, PART_RADDR | PART_DATA | PART_INLINE },
	[M4_RDMA_WRITE_IMM] = { ON_CONNECTED, PART_RADDR | PART_DATA | PART_INLINE },
	[M4_RDMA_READ] = { ON_RELIABLE, PART_RADDR | PART_DATA },
	[M4_ATOMIC_CS] = { ON_RELIABLE, PART_RADDR | PART_ATOMIC | PART_DATA },
	[M4_ATOMIC_FA] = { ON_RELIABLE, PART_RADDR | PART_ATOMIC | PART_DATA },
	[M4_BIND_MW] = { ON_CONNECTED, 0 },  /* see keys.c */
	[M4_FAST_REG] = { ON_CONNECTED, 0 }, /* see fast_reg.c */
	[M4_LOCAL_INVAL] = { ON_CONNECTED, 0 },
};

static_assert((int)M4_SEND_INVAL == (int)WQE_SEND_INVAL && (int)M4_SEND == (int)WQE_SEND &&
		      (int)M4_SEND_IMM == (int)WQE_SEND_IMM &&
		      (int)M4_RDMA_WRITE == (int)WQE_RDMA_WRITE &&
		      (int)M4_RDMA_WRITE_IMM == (int)WQE_RDMA_WRITE_IMM &&
		      (int)M4_RDMA_READ == (int)WQE_RDMA_READ &&
		      (int)M4_ATOMIC_CS == (int)WQE_ATOMIC_CS &&
		      (int)M4_ATOMIC_FA == (int)WQE_ATOMIC_FA && (int)M4_NOP == (int)WQE_NOP,
	      "opcodes are those that the queues know");

/* The segments have mlx5's layout, except that an empty segment is inline, and lengths have one bit
 * less. */
static_assert(M4_RADDR_ADDR == RADDR_ADDR && M4_RADDR_RKEY == RADDR_RKEY &&
		      M4_ATOMIC_SWAP_ADD == ATOMIC_SWAP_ADD &&
		      M4_ATOMIC_COMPARE == ATOMIC_COMPARE && M4_DATA_LKEY == DATA_LKEY &&
		      M4_DATA_ADDR == DATA_ADDR && M4_DATA_INLINE == DATA_INLINE &&
		      (int)M4_SEG == (int)WQE_SEG,
	      "segments are those of softhca/device/format/segments.h");

uint32_t mlx4_wqe_size(const uint8_t *raw)
{
	return (uint32_t)fld_get(raw, M4_CTRL_DS) * M4_SEG;
}

bool mlx4_send_is_posted(const uint8_t *raw, bool odd_lap)
{
	return fld_get(raw, M4_CTRL_OWNER) == odd_lap;
}

uint8_t mlx4_wqe_opcode(const uint8_t *raw)
{
	return fld_get(raw, M4_CTRL_OPCODE);
}

uint16_t mlx4_wqe_stream(const uint8_t *raw)
{
	(void)raw;
	return 0;
}

/* Decodes the inline bytes at SEG, which is AT bytes into the WQE. Returns their size, padded to a
 * segment; 0 if they run over the end of a 64-byte piece or of the WQE. */
static size_t decode_inline(const uint8_t *seg, size_t at, const uint8_t *end, struct send_wqe *wqe)
{
	uint32_t len = fld_get(seg, M4_DATA_LEN);
	size_t taken = (M4_INLINE_HEADER + (size_t)len + M4_SEG - 1) / M4_SEG * M4_SEG;

	if (at % M4_PIECE + M4_INLINE_HEADER + len > M4_PIECE || taken > (size_t)(end - seg))
		return 0;
	segment_add(wqe, &(struct wqe_sge){ .len = len, .data = seg + M4_INLINE_HEADER });
	return taken;
}

static int decode_sges(const uint8_t *raw, const uint8_t *seg, const uint8_t *end, uint8_t parts,
		       struct send_wqe *wqe)
{
	while (seg < end) {
		size_t taken = M4_SEG;

		if (wqe->num_sge == WQE_SGE_MAX)
			return WQE_BAD_SIZE;
		if (fld_get(seg, M4_DATA_INLINE)) {
			taken = decode_inline(seg, seg - raw, end, wqe);
			if (!taken || (!(parts & PART_INLINE) && wqe->length))
				return WQE_BAD_INLINE;
		} else {
			struct wqe_sge sge = segment_data(seg);

			segment_add(wqe, &sge);
		}
		seg += taken;
	}
	return 0;
}

int mlx4_decode_data(const uint8_t *raw, const uint8_t *seg, const uint8_t *end,
		     struct send_wqe *wqe)
{
	return decode_sges(raw, seg, end, PART_DATA | PART_INLINE, wqe);
}

static void decode_control(const uint8_t *raw, uint16_t index, enum fabric_service service,
			   struct send_wqe *wqe)
{
	wqe->opcode = fld_get(raw, M4_CTRL_OPCODE);
	wqe->on_key = wqe->opcode == M4_BIND_MW || wqe->opcode == M4_FAST_REG ||
		      wqe->opcode == M4_LOCAL_INVAL;
	wqe->at_once = fld_get(raw, M4_CTRL_STRONG_ORDER);
	wqe->index = index;
	wqe->bbs = 1;
	wqe->fence = fld_get(raw, M4_CTRL_FENCE) ? WQE_FENCE_SMALL_AND_STRONG : WQE_FENCE_NONE;
	wqe->signaled = fld_get(raw, M4_CTRL_CQE) == M4_CQE_WANTED;
	wqe->solicited = fld_get(raw, M4_CTRL_SOLICITED);
	memcpy(&wqe->imm, fld_at(raw, M4_CTRL_IMM), sizeof(wqe->imm));
	wqe->srqn = service == FABRIC_XRC ? fld_get(raw, M4_CTRL_XRC_SRQN) : 0;
	wqe->stream = 0;
	wqe->length = 0;
	wqe->num_sge = 0;
}

static int decode_parts(const uint8_t **seg, const uint8_t *end, uint8_t parts, bool datagram,
			struct send_wqe *wqe)
{
	const uint8_t *part;

	if (datagram) {
		part = segment_take(seg, end, M4_DATAGRAM_SIZE);
		if (!part)
			return WQE_BAD_SIZE;
		memcpy(wqe->av, part, M4_DATAGRAM_SIZE);
	}
	return segment_remote(seg, end, parts, wqe);
}

int mlx4_decode_send(const uint8_t *raw, uint16_t index, uint32_t bbs, uint32_t qpn,
		     enum fabric_service service, struct send_wqe *wqe)
{
	const uint8_t *seg = raw + M4_SEG, *end = raw + mlx4_wqe_size(raw);
	const struct opcode *op;
	int why;

	(void)bbs; /* unused, as the ring's slots have the WQE's size */
	(void)qpn;
	decode_control(raw, index, service, wqe);
	op = &opcodes[wqe->opcode];
	if (!(op->services & 1 << service))
		return WQE_BAD_OPCODE;
	if (end < seg)
		return WQE_BAD_SIZE;
	if (!op->parts)
		return 0;
	why = decode_parts(&seg, end, op->parts, service == FABRIC_UD, wqe);
	return why ? why : decode_sges(raw, seg, end, op->parts, wqe);
}

int mlx4_decode_raw(const uint8_t *raw, uint16_t index, struct send_wqe *wqe)
{
	const uint8_t *seg = raw + M4_SEG, *end = raw + mlx4_wqe_size(raw);

	decode_control(raw, index, FABRIC_UD, wqe);
	return end < seg ? WQE_BAD_SIZE : decode_sges(raw, seg, end, PART_DATA | PART_INLINE, wqe);
}

void mlx4_decode_av(const uint8_t *av, bool roce, struct datagram_to *to)
{
	struct fabric_addr *addr = &to->path.addr;

	memset(to, 0, sizeof(*to));
	to->qpn = fld_get(av, M4_DGRAM_QPN);
	to->qkey = fld_get(av, M4_DGRAM_QKEY);
	to->has_qkey = !(to->qkey >> 31);
	to->path.gid_index = fld_get(av, M4_AV_GID_INDEX);
	addr->by_gid = roce;
	addr->grh = roce || fld_get(av, M4_AV_GRH);
	if (addr->grh) {
		addr->traffic_class = fld_get(av, M4_AV_TCLASS);
		addr->hop_limit = fld_get(av, M4_AV_HOP_LIMIT);
		addr->flow_label = fld_get(av, M4_AV_FLOW_LABEL);
		memcpy(addr->dgid, fld_at(av, M4_AV_DGID), sizeof(addr->dgid));
	}
	if (roce) {
		addr->sl = fld_get(av, M4_AV_ETH_PRIO);
		addr->tagged = fld_get(av, M4_AV_VLAN);
		addr->vlan = fld_get(av, M4_DGRAM_VLAN_ID);
		memcpy(addr->dmac, fld_at(av, M4_DGRAM_MAC), sizeof(addr->dmac));
		return;
	}
	addr->dlid = fld_get(av, M4_AV_DLID);
	addr->sl = fld_get(av, M4_AV_SL);
}

void mlx4_decode_recv(const uint8_t *raw, uint32_t stride, struct recv_wqe *wqe)
{
	wqe->length = 0;
	wqe->num_sge = 0;
	for (const uint8_t *seg = raw; seg < raw + stride && wqe->num_sge < WQE_SGE_MAX;
	     seg += M4_SEG) {
		struct wqe_sge sge = segment_data(seg);

		if (sge.lkey == M4_TERMINATOR_LKEY)
			return;
		if (fld_get(seg, M4_DATA_INLINE) || !fld_get(seg, M4_DATA_LEN))
			continue; /* no bytes; Linux' driver posts a length of 0 for that */
		wqe->sge[wqe->num_sge++] = sge;
		wqe->length += sge.len;
	}
}

/* Decodes a WQE of an SRQ: a link segment, then segments as in a receive. */
uint16_t mlx4_decode_srq(const uint8_t *raw, uint32_t stride, struct recv_wqe *wqe)
{
	mlx4_decode_recv(raw + M4_SEG, stride - M4_SEG, wqe);
	return fld_get(raw, M4_SRQ_NEXT);
}

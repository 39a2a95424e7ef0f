/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * wqe.c - decodes and checks mlx5's WQEs.
 *
 * A WQE that breaks a rule is refused with a vendor syndrome for the reason, and nothing of it is
 * executed. One table has the segments of each opcode. PRM: Send WQE format, Receive WQE format.
 */
#include <string.h>

#include "prm/mlx5/av.h"
#include "prm/mlx5/bsf.h"
#include "prm/mlx5/wqe.h"
#include "softhca/device/format/mlx5/mlx5.h"
#include "softhca/device/format/segments.h"
#include "softhca/device/queue/work_request.h"
#include "softhca/device/queue/wqe.h"

enum { PART_COPY = PART_OWN, PART_PSV = PART_OWN << 1, PART_MASKED = PART_OWN << 2 };

enum {
	ON_RELIABLE = 1 << FABRIC_RC | 1 << FABRIC_XRC | 1 << FABRIC_DC,
	ON_CONNECTED = ON_RELIABLE | 1 << FABRIC_UC,
	ON_ALL = ON_CONNECTED | 1 << FABRIC_UD,
	ON_ANY = ON_ALL | 1 << FABRIC_NONE,
};

struct opcode {
	uint8_t services; /* services that allow it: IBTA vol 1, table 44 */
	uint8_t parts;
	uint8_t modifier;
};

static const struct opcode opcodes[256] = {
	[WQE_NOP] = { ON_ANY, 0, 0 },
	[WQE_UMR] = { ON_CONNECTED | 1 << FABRIC_NONE, 0, 0 }, /* see umr.c */
	[WQE_TAG_MATCHING] = { 1 << FABRIC_RC, 0, 0 },         /* see tm.c */
	[WQE_SET_PSV] = { ON_CONNECTED | 1 << FABRIC_NONE, PART_PSV, 0 },
	[WQE_MMO] = { ON_RELIABLE, PART_COPY, WQE_MMO_DMA },
	[WQE_SEND_INVAL] = { ON_RELIABLE, PART_DATA | PART_INLINE, 0 },
	[WQE_SEND] = { ON_ALL, PART_DATA | PART_INLINE, 0 },
	[WQE_SEND_IMM] = { ON_ALL, PART_DATA | PART_INLINE, 0 },
	[WQE_RDMA_WRITE] = { ON_CONNECTED, PART_RADDR | PART_DATA | PART_INLINE, 0 },
	[WQE_RDMA_WRITE_IMM] = { ON_CONNECTED, PART_RADDR | PART_DATA | PART_INLINE, 0 },
	[WQE_RDMA_READ] = { ON_RELIABLE, PART_RADDR | PART_DATA, 0 },
	[WQE_ATOMIC_CS] = { ON_RELIABLE, PART_RADDR | PART_ATOMIC | PART_DATA, 0 },
	[WQE_ATOMIC_FA] = { ON_RELIABLE, PART_RADDR | PART_ATOMIC | PART_DATA, 0 },
	[WQE_MASKED_CS] = { ON_RELIABLE, PART_RADDR | PART_MASKED | PART_DATA, WQE_MASKED_4 },
	[WQE_MASKED_FA] = { ON_RELIABLE, PART_RADDR | PART_MASKED | PART_DATA, WQE_MASKED_4 },
};

uint32_t mlx5_wqe_size(const uint8_t *raw)
{
	return (uint32_t)fld_get(raw, CTRL_DS) * WQE_SEG;
}

uint32_t mlx5_wqe_bbs(const uint8_t *raw)
{
	return (mlx5_wqe_size(raw) + WQE_BB - 1) / WQE_BB;
}

uint8_t mlx5_wqe_opcode(const uint8_t *raw)
{
	return fld_get(raw, CTRL_OPCODE);
}

uint16_t mlx5_wqe_stream(const uint8_t *raw)
{
	return fld_get(raw, CTRL_DCI_STREAM);
}

uint32_t mlx5_umr_key(const uint8_t *raw)
{
	return fld_get(raw, CTRL_MKEY);
}

/* Decodes inline data: a 4-byte header, then the bytes, padded to a segment. Returns the bytes
 * taken, 0 if they run over the end of the WQE. */
static size_t decode_inline(const uint8_t *seg, const uint8_t *end, struct send_wqe *wqe)
{
	uint32_t len = fld_get(seg, DATA_INLINE_LEN);
	size_t taken = (WQE_INLINE_HEADER + len + WQE_SEG - 1) / WQE_SEG * WQE_SEG;

	if (taken > (size_t)(end - seg))
		return 0;
	segment_add(wqe, &(struct wqe_sge){ .len = len, .data = seg + WQE_INLINE_HEADER });
	return taken;
}

static int decode_sges(const uint8_t *seg, const uint8_t *end, uint8_t parts, struct send_wqe *wqe)
{
	size_t taken;

	while (seg < end) {
		if (!(parts & PART_DATA))
			return WQE_BAD_SIZE;
		taken = WQE_SEG;
		if (!fld_get(seg, DATA_INLINE)) {
			struct wqe_sge sge = segment_data(seg);

			segment_add(wqe, &sge);
		} else {
			if (!(parts & PART_INLINE))
				return WQE_BAD_INLINE;
			taken = decode_inline(seg, end, wqe);
			if (!taken)
				return WQE_BAD_INLINE;
		}
		seg += taken;
	}
	return 0;
}

static void decode_control(const uint8_t *raw, struct send_wqe *wqe)
{
	wqe->opcode = fld_get(raw, CTRL_OPCODE);
	wqe->on_key = wqe->opcode == WQE_UMR;
	wqe->at_once = false;
	wqe->index = fld_get(raw, CTRL_INDEX);
	wqe->bbs = mlx5_wqe_bbs(raw);
	wqe->fence = fld_get(raw, CTRL_FM);
	wqe->signaled = fld_get(raw, CTRL_CE_SE) & WQE_CQ_UPDATE;
	wqe->solicited = fld_get(raw, CTRL_CE_SE) & WQE_SOLICITED;
	memcpy(&wqe->imm, fld_at(raw, CTRL_IMM), sizeof(wqe->imm));
	wqe->stream = mlx5_wqe_stream(raw);
	wqe->length = 0;
	wqe->num_sge = 0;
}

/* Decodes an address vector: 16 bytes, or 48 with the extended bit. Returns 0 or WQE_BAD_SIZE. */
static int decode_address(const uint8_t **seg, const uint8_t *end, struct send_wqe *wqe)
{
	const uint8_t *av = segment_take(seg, end, WQE_AV_COMPACT);
	size_t more = WQE_AV_EXTENDED - WQE_AV_COMPACT;

	if (!av)
		return WQE_BAD_SIZE;
	memset(wqe->av, 0, sizeof(wqe->av));
	memcpy(wqe->av, av, WQE_AV_COMPACT);
	if (!fld_get(av, AV_EXTENDED))
		return 0;
	if (!segment_take(seg, end, more))
		return WQE_BAD_SIZE;
	memcpy(wqe->av, av, WQE_AV_EXTENDED);
	return 0;
}

/* Decodes the segment that a service adds: the address of UD and DC, the SRQ number of XRC. */
static int decode_service(const uint8_t **seg, const uint8_t *end, enum fabric_service service,
			  struct send_wqe *wqe)
{
	const uint8_t *xrc;

	if (service == FABRIC_UD || service == FABRIC_DC)
		return decode_address(seg, end, wqe);
	if (service != FABRIC_XRC)
		return 0;
	xrc = segment_take(seg, end, WQE_SEG);
	if (!xrc)
		return WQE_BAD_SIZE;
	wqe->srqn = fld_get(xrc, XRC_SRQN);
	return 0;
}

size_t mlx5_masked_size(const uint8_t *raw)
{
	bool two = fld_get(raw, CTRL_OPCODE) == WQE_MASKED_CS &&
		   fld_get(raw, CTRL_OPMOD) == WQE_MASKED_8;

	return two ? 2 * WQE_SEG : WQE_SEG;
}

static int decode_masked(const uint8_t **seg, const uint8_t *end, const uint8_t *raw,
			 struct send_wqe *wqe)
{
	const uint8_t *part = segment_take(seg, end, mlx5_masked_size(raw));

	if (!part)
		return WQE_BAD_SIZE;
	if (fld_get(raw, CTRL_OPMOD) == WQE_MASKED_4) {
		wqe->operand = sizeof(uint32_t);
		wqe->swap_add = fld_get(part, MASKED_4_SWAP_ADD);
		wqe->compare = fld_get(part, MASKED_4_COMPARE);
		wqe->swap_mask = fld_get(part, MASKED_4_SWAP_MASK);
		wqe->compare_mask = fld_get(part, MASKED_4_COMPARE_MASK);
		return 0;
	}
	wqe->operand = sizeof(uint64_t);
	wqe->swap_add = fld_get(part, ATOMIC_SWAP_ADD);
	wqe->compare = fld_get(part, ATOMIC_COMPARE);
	wqe->swap_mask = wqe->compare_mask = 0;
	if (wqe->opcode == WQE_MASKED_CS) {
		wqe->swap_mask = fld_get(part, MASKED_8_SWAP_MASK);
		wqe->compare_mask = fld_get(part, MASKED_8_COMPARE_MASK);
	}
	return 0;
}

static int decode_psv(const uint8_t *seg, const uint8_t *end, struct send_wqe *wqe)
{
	if (end - seg != PSV_SEG_SIZE)
		return WQE_BAD_SIZE;
	wqe->psv = fld_get(seg, SET_PSV_N);
	wqe->signature = fld_get(seg, SET_PSV_SIGNATURE);
	return 0;
}

/* Decodes a memory copy: an unused segment, then source and destination. */
static int decode_copy(const uint8_t *seg, const uint8_t *end, struct send_wqe *wqe)
{
	if (end - seg != 3 * WQE_SEG)
		return WQE_BAD_SIZE;
	wqe->from = segment_data(seg + WQE_SEG);
	wqe->to = segment_data(seg + 2 * WQE_SEG);
	return wqe->from.len == wqe->to.len ? 0 : WQE_BAD_LENGTH;
}

/* Returns whether the opcode modifier is right; masked atomics have either of two lengths. */
static bool modifier_is_right(const struct opcode *op, const uint8_t *raw)
{
	uint8_t modifier = fld_get(raw, CTRL_OPMOD);

	return modifier == op->modifier || (op->parts & PART_MASKED && modifier == WQE_MASKED_8);
}

int mlx5_decode_send(const uint8_t *raw, uint16_t index, uint32_t bbs, uint32_t qpn,
		     enum fabric_service service, struct send_wqe *wqe)
{
	const uint8_t *seg = raw + WQE_SEG, *end = raw + fld_get(raw, CTRL_DS) * WQE_SEG;
	const struct opcode *op;
	int why;

	decode_control(raw, wqe);
	op = &opcodes[wqe->opcode];
	if (!(op->services & 1 << service) || !modifier_is_right(op, raw))
		return WQE_BAD_OPCODE;
	if (wqe->index != index)
		return WQE_BAD_INDEX;
	if (fld_get(raw, CTRL_QPN) != qpn)
		return WQE_BAD_QPN;
	if (end < seg || wqe->bbs > bbs)
		return WQE_BAD_SIZE;
	if (!op->parts) /* a NOP, whose other bytes are padding, or decoded by umr.c or tm.c */
		return 0;
	if (op->parts & PART_PSV)
		return decode_psv(seg, end, wqe);
	if (op->parts & PART_COPY)
		return decode_copy(seg, end, wqe);
	why = decode_service(&seg, end, service, wqe);
	if (!why)
		why = segment_remote(&seg, end, op->parts, wqe);
	if (!why && op->parts & PART_MASKED)
		why = decode_masked(&seg, end, raw, wqe);
	return why ? why : decode_sges(seg, end, op->parts, wqe);
}

void mlx5_decode_recv(const uint8_t *raw, uint32_t stride, struct recv_wqe *wqe)
{
	const uint8_t *seg;

	wqe->length = 0;
	wqe->num_sge = 0;
	for (seg = raw; seg < raw + stride && wqe->num_sge < WQE_SGE_MAX; seg += WQE_SEG) {
		struct wqe_sge sge = segment_data(seg);

		if (sge.lkey == WQE_TERMINATOR_LKEY)
			return;
		wqe->sge[wqe->num_sge++] = sge;
		wqe->length += sge.len;
	}
}

/* Decodes a WQE of an SRQ: a link segment, then segments as in a receive. */
uint16_t mlx5_decode_srq(const uint8_t *raw, uint32_t stride, struct recv_wqe *wqe)
{
	mlx5_decode_recv(raw + WQE_SEG, stride - WQE_SEG, wqe);
	return fld_get(raw, SRQ_WQE_NEXT);
}

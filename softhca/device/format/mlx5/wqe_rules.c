/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * wqe_rules.c - the bytes of WQEs that a strict adapter looks at beside those that it executes:
 * reserved bits, signatures where there are none, fences that do not exist, segments that an opcode
 * does not have.
 *
 * Libraries in the field leave what was there before in the last dword of a control segment of
 * opcodes that do not use it, and in what a UMR does not take of a key's context; UCX keeps its own
 * notes in the first segment of an SRQ's WQE. Receives have no other bits without a meaning.
 *
 * What makes a WQE impossible to execute is refused by wqe.c, strict or not. PRM: Send WQE format,
 * Receive WQE format, Control Segment, Datagram Segment, UMR; layouts as struct mlx5_wqe_*_seg of
 * infiniband/mlx5dv.h.
 * Decision: docs/adr/0037.
 */
#include "prm/mlx5/av.h"
#include "prm/mlx5/mkc.h"
#include "prm/mlx5/umr.h"
#include "prm/mlx5/qpc.h"
#include "prm/mlx5/wqe.h"
#include "softhca/device/core.h"
#include "softhca/device/format/mlx5/mlx5.h"
#include "softhca/device/memory/mkey.h"
#include "softhca/device/queue/wqe.h"
#include "softhca/device/transport/atomic.h"
#include "softhca/device/transport/dci.h"
#include "util/bits.h"

enum { UMR_BLOCK_OCTOWORDS = UMR_KLM_BLOCK / 16 };

struct subject {
	struct hca *hca;
	uint32_t qpn;
	uint16_t index;
	const char *opcode;
};

struct reserved {
	uint32_t field;
	const char *name;
};

static void report_field(const struct subject *of, const char *rule, const char *field,
			 uint64_t value)
{
	strict_report(of->hca->config.strict, of->hca->config.trace, rule,
		      "QP 0x%06x, WQE %u (%s): %s is 0x%llx", of->qpn, of->index, of->opcode, field,
		      (unsigned long long)value);
}

static void check_reserved(const struct subject *of, const uint8_t *segment,
			   const struct reserved *fields, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (fld_get(segment, fields[i].field))
			report_field(of, "wqe.reserved", fields[i].name,
				     fld_get(segment, fields[i].field));
}

static const struct reserved ctrl_reserved[] = {
	{ FLD(0x4, 7, 6), "ctrl bits 7:6 beside ds" },
	{ FLD(0x8, 4, 4), "ctrl fm_ce_se bit 4" },
	{ FLD(0x8, 0, 0), "ctrl fm_ce_se bit 0" },
};

static void check_ctrl(const struct subject *of, const struct qp *qp, const uint8_t *raw)
{
	uint8_t fence = fld_get(raw, CTRL_FM);

	check_reserved(of, raw, ctrl_reserved, ARRAY_SIZE(ctrl_reserved));
	/* Without streams the field is ignored, so perftest may always set it. */
	if (fld_get(raw, CTRL_DCI_STREAM) && !qp->dci)
		report_field(of, "wqe.reserved",
			     "ctrl bytes 9 and 10 (stream channel), of a QP without,",
			     fld_get(raw, CTRL_DCI_STREAM));
	if (fld_get(raw, CTRL_SIGNATURE) && !fld_get(qp->context, QPC_WQ_SIGNATURE))
		report_field(of, "wqe.signature", "ctrl signature, of a QP without,",
			     fld_get(raw, CTRL_SIGNATURE));
	if (fence > WQE_FENCE_SMALL_AND_STRONG)
		report_field(of, "wqe.fence", "ctrl fm", fence);
}

static const struct reserved av_reserved[] = {
	{ FLD(0x8, 30, 24), "av bits 30:24 beside the QP number" },
};

static const struct reserved av_extended_reserved[] = {
	{ FLD(0x10, 31, 0), "av dword 10h, before rmac" },
	{ FLD(0x1c, 31, 31), "av bit 31 beside grh" },
	{ FLD(0x1c, 29, 28), "av bits 29:28 beside the GID index" },
};

static const struct reserved qkey_reserved[] = {
	{ FLD(0x4, 31, 0), "av dword 4, behind the Q_Key" },
};

/* An access key is twice as long as a Q_Key. */
static const uint8_t *check_av(const struct subject *of, const struct qp *qp, const uint8_t *av)
{
	if (!qp->dci)
		check_reserved(of, av, qkey_reserved, ARRAY_SIZE(qkey_reserved));
	check_reserved(of, av, av_reserved, ARRAY_SIZE(av_reserved));
	if (!fld_get(av, AV_EXTENDED))
		return av + WQE_AV_COMPACT;
	check_reserved(of, av, av_extended_reserved, ARRAY_SIZE(av_extended_reserved));
	return av + WQE_AV_EXTENDED;
}

static const struct reserved xrc_reserved[] = {
	{ FLD(0x0, 31, 24), "xrc bits 31:24 beside the SRQ number" },
	{ FLD(0x4, 31, 0), "xrc dword 4" },
	{ FLD(0x8, 31, 0), "xrc dword 8" },
	{ FLD(0xc, 31, 0), "xrc dword 0Ch" },
};

static const struct reserved raddr_reserved[] = {
	{ FLD(0xc, 31, 0), "raddr dword 0Ch" },
};

static const struct reserved inline_reserved[] = {
	{ FLD(0x0, 30, 10), "inline bits 30:10 beside the byte count" },
};

static unsigned int check_data(const struct subject *of, const uint8_t *seg, const uint8_t *end)
{
	unsigned int count = 0;

	while (seg < end) {
		uint32_t len = fld_get(seg, DATA_INLINE_LEN);

		if (!fld_get(seg, DATA_INLINE)) {
			count++;
			seg += WQE_SEG;
			continue;
		}
		check_reserved(of, seg, inline_reserved, ARRAY_SIZE(inline_reserved));
		seg += (WQE_INLINE_HEADER + len + WQE_SEG - 1) / WQE_SEG * WQE_SEG;
	}
	return count;
}

static const struct reserved masked_reserved[] = {
	{ FLD(0x8, 31, 0), "dword 8 behind what is added" },
	{ FLD(0xc, 31, 0), "dword 0Ch behind what is added" },
};

/* A 4-byte addition uses only half of its segment. */
static const uint8_t *check_masked(const struct subject *of, const uint8_t *raw, const uint8_t *seg)
{
	if (fld_get(raw, CTRL_OPCODE) == WQE_MASKED_FA && fld_get(raw, CTRL_OPMOD) == WQE_MASKED_4)
		check_reserved(of, seg, masked_reserved, ARRAY_SIZE(masked_reserved));
	return seg + mlx5_masked_size(raw);
}

static bool has_raddr(uint8_t opcode)
{
	return opcode == WQE_RDMA_WRITE || opcode == WQE_RDMA_WRITE_IMM ||
	       opcode == WQE_RDMA_READ || atomic_is(opcode);
}

static void check_message(const struct subject *of, const struct qp *qp, const uint8_t *raw)
{
	const uint8_t *seg = raw + WQE_SEG, *end = raw + mlx5_wqe_size(raw);
	uint8_t opcode = fld_get(raw, CTRL_OPCODE);
	unsigned int count;

	if (qp->service == FABRIC_UD || qp->service == FABRIC_DC)
		seg = check_av(of, qp, seg);
	if (qp->service == FABRIC_XRC) {
		check_reserved(of, seg, xrc_reserved, ARRAY_SIZE(xrc_reserved));
		seg += WQE_SEG;
	}
	if (has_raddr(opcode)) {
		check_reserved(of, seg, raddr_reserved, ARRAY_SIZE(raddr_reserved));
		seg += WQE_SEG;
	}
	if (atomic_is_masked(opcode))
		seg = check_masked(of, raw, seg);
	else if (atomic_is(opcode))
		seg += WQE_SEG;
	count = check_data(of, seg, end);
	if (atomic_is(opcode) && count != 1)
		report_field(of, "wqe.segments", "the number of data segments of an atomic", count);
}

static const struct reserved umr_reserved[] = {
	{ FLD(0x0, 23, 0), "umr bytes 1 to 3" }, { FLD(0x14, 31, 0), "umr dword 14h" },
	{ FLD(0x18, 31, 0), "umr dword 18h" },   { FLD(0x1c, 31, 0), "umr dword 1Ch" },
	{ FLD(0x20, 31, 0), "umr dword 20h" },   { FLD(0x24, 31, 0), "umr dword 24h" },
	{ FLD(0x28, 31, 0), "umr dword 28h" },   { FLD(0x2c, 31, 0), "umr dword 2Ch" },
};

/* Returns whether the key computes, by this request's byte stream formats or by earlier ones. PRM:
 * BSF */
static bool has_formats(const struct subject *of, const uint8_t *raw)
{
	const struct mkey *mkey = mkey_find(of->hca, fld_get(raw, CTRL_MKEY));

	return fld_get(raw + WQE_SEG, UMR_MKEY_MASK) >> UMR_BSF_EN & 1 ||
	       (mkey && fld_get(mkey->context, MKC_BSF_EN));
}

/* Tables are written in 64-byte blocks at multiples of 64, and a list by pointer is read from such
 * an address. */
static void check_table(const struct subject *of, const uint8_t *raw)
{
	const uint8_t *ctrl = raw + WQE_SEG;
	const uint8_t *pointer = ctrl + UMR_CTRL_SIZE + UMR_MKEY_SIZE;
	uint32_t octowords = fld_get(ctrl, UMR_XLT_OCTOWORDS);
	uint32_t offset = fld_get(ctrl, UMR_XLT_OFFSET_15_0);
	uint64_t flags = fld_get(ctrl, UMR_FLAGS);

	if (octowords % UMR_BLOCK_OCTOWORDS)
		report_field(of, "umr.padding", "umr xlt_octowords", octowords);
	if (flags & UMR_OFFSET_GIVEN && offset % UMR_BLOCK_OCTOWORDS)
		report_field(of, "umr.align", "umr xlt_offset", offset);
	if (has_formats(of, raw))
		offset = 0; /* 0, as the field has the formats' length instead */
	if (!(flags & UMR_OFFSET_GIVEN) && (offset || fld_get(ctrl, UMR_XLT_OFFSET_47_16)))
		report_field(of, "umr.offset", "umr xlt_offset, without its flag,", offset);
	if (octowords && !(flags & UMR_INLINE) && fld_get(pointer, DATA_ADDR) % UMR_KLM_BLOCK)
		report_field(of, "umr.align", "data address of the list",
			     fld_get(pointer, DATA_ADDR));
}

static void check_umr(const struct subject *of, const uint8_t *raw)
{
	const uint8_t *ctrl = raw + WQE_SEG;

	if (mlx5_wqe_size(raw) < WQE_SEG + UMR_CTRL_SIZE + UMR_MKEY_SIZE)
		return;
	check_reserved(of, ctrl, umr_reserved, ARRAY_SIZE(umr_reserved));
	check_table(of, raw);
}

void mlx5_judge_send(struct hca *hca, const struct qp *qp, uint16_t index, const uint8_t *raw)
{
	uint8_t opcode = fld_get(raw, CTRL_OPCODE);
	const struct subject of = { hca, qp->n, index, mlx5_opcode_name(opcode) };

	check_ctrl(&of, qp, raw);
	if (opcode == WQE_UMR)
		check_umr(&of, raw);
	else if (opcode != WQE_NOP && opcode != WQE_TAG_MATCHING && opcode != WQE_MMO &&
		 opcode != WQE_SET_PSV)
		check_message(&of, qp, raw);
}

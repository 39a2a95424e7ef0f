/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rules.c - what a strict adapter of mlx4 looks at beside what it executes: that the space in front
 * of the last WQE is kept free, since it reads ahead, and has nothing in it that looks like a WQE;
 * bits without a meaning; and which QPs are rung for.
 *
 * Sources: see prm/mlx4/wqe.h; that a posted WQE is found by its ownership bit, and that prefetched
 * WQEs need stamps, is what Linux' drivers and libraries do.
 */
#include "prm/mlx4/uar.h"
#include "prm/mlx4/wqe.h"
#include "softhca/device/core.h"
#include "softhca/device/format/mlx4/mlx4.h"
#include "softhca/device/queue/wqe.h"

#define say(hca, rule, ...) \
	strict_report((hca)->config.strict, (hca)->config.trace, rule, __VA_ARGS__)

/* ---- doorbells ---- */

static bool check_qp(struct hca *hca, uint32_t uar, uint32_t qpn)
{
	struct qp *qp = res_get(&hca->qps, qpn);

	if (qp && qp->uar && qp->uar->n == uar)
		return true;
	say(hca, "doorbell.value", "UAR page 0x%x: the register of sends says 0x%x, %s", uar, qpn,
	    qp ? "a QP of another page" : "which is no QP");
	return false;
}

/* By BlueFlame, the first words of a WQE come, as they stand in the ring until it is done. */
static void check_push(struct hca *hca, uint32_t uar, const uint8_t *words)
{
	struct qp *qp = res_get(&hca->qps, fld_get(words, M4_CTRL_QPN));
	uint16_t index = fld_get(words, M4_CTRL_INDEX);
	uint8_t raw[WQE_BYTES_MAX];

	if (!check_qp(hca, uar, fld_get(words, M4_CTRL_QPN)) || (int16_t)(index - qp->sq.ci) < 0 ||
	    sq_copy(hca, qp, index, 1, raw) || fld_get64(raw, 0) == fld_get64(words, 0))
		return;
	say(hca, "doorbell.value",
	    "UAR page 0x%x: BlueFlame says 0x%llx, QP 0x%06x, WQE %u has 0x%llx", uar,
	    (unsigned long long)fld_get64(words, 0), qp->n, index,
	    (unsigned long long)fld_get64(raw, 0));
}

bool mlx4_judge_write(struct hca *hca, uint32_t uar, uint32_t offset, const uint8_t *bytes,
		      size_t len)
{
	return offset != M4_UAR_SEND || len < sizeof(uint32_t) ||
	       check_qp(hca, uar, fld_get(bytes, M4_SEND_QPN));
}

/* A front that polls finds what was written last, in steps of 8 bytes. */
void mlx4_judge_found(struct hca *hca, uint32_t uar, uint32_t offset, uint64_t value_be)
{
	const uint8_t *bytes = (const uint8_t *)&value_be;

	if (offset == (M4_UAR_SEND & ~7u))
		check_qp(hca, uar, fld_get(bytes + M4_UAR_SEND % 8, M4_SEND_QPN));
	else
		check_push(hca, uar, bytes);
}

/* ---- WQEs ---- */

static const struct {
	uint32_t field;
	const char *name;
} reserved[] = {
	{ FLD(0x0, 30, 24), "bits 30:24 beside the opcode" },
	{ FLD(0x0, 7, 5), "bits 7:5 beside the opcode" },
	{ FLD(0x4, 7, 7), "bit 7 beside the size" },
};

void mlx4_judge_send(struct hca *hca, const struct qp *qp, uint16_t index, const uint8_t *raw)
{
	for (size_t i = 0; i < sizeof(reserved) / sizeof(reserved[0]); i++)
		if (fld_get(raw, reserved[i].field))
			say(hca, "wqe.reserved", "QP 0x%06x, WQE %u (%s): control %s are 0x%llx",
			    qp->n, index, mlx4_opcode_name(mlx4_wqe_opcode(raw)), reserved[i].name,
			    (unsigned long long)fld_get(raw, reserved[i].field));
}

/* The function tells whether the WQE at INDEX looks posted. */
static bool is_posted(struct hca *hca, const struct qp *qp, uint16_t index)
{
	uint8_t raw[WQE_BYTES_MAX];

	return !sq_copy(hca, qp, index, 1, raw) &&
	       mlx4_send_is_posted(raw, index >> qp->sq.log_size & 1);
}

/* The first piece of a slot has the ownership bit. Further ones, as far as the WQE went that was
 * there, have the stamp. */
static void check_stamps(struct hca *hca, const struct qp *qp, uint16_t index, const uint8_t *raw)
{
	uint32_t len = mlx4_wqe_size(raw);

	for (uint32_t at = M4_PIECE; at < len && at < qp->sq.block; at += M4_PIECE)
		if (fld_get(raw + at, FLD(0x0, 31, 0)) != M4_STAMP) {
			say(hca, "wqe.stamp",
			    "QP 0x%06x, WQE %u: what is read ahead has no stamp at byte %u", qp->n,
			    index, at);
			return;
		}
}

/* What the adapter reads ahead begins at sq.pi. Software may be writing that slot, and the last
 * one is stamped only behind the doorbell, so the slots between are looked at, and count if
 * software had not gone on meanwhile. */
void mlx4_judge_posted(struct hca *hca, const struct qp *qp)
{
	uint16_t pi = qp->sq.pi, ahead = M4_READ_AHEAD / qp->sq.block, size = sq_mask(qp) + 1u;
	uint8_t raw[M4_READ_AHEAD];

	if ((uint16_t)(pi - qp->sq.ci) + ahead + 1u > size) {
		say(hca, "wqe.headroom",
		    "QP 0x%06x: %u WQEs are posted in a ring of %u, %u are to be free", qp->n,
		    (uint16_t)(pi - qp->sq.ci), size, ahead + 1u);
		return;
	}
	if (qp->sq.block == M4_PIECE || sq_copy(hca, qp, pi + 1, ahead - 1, raw) ||
	    is_posted(hca, qp, pi))
		return;
	for (uint16_t i = 0; i < ahead - 1; i++)
		check_stamps(hca, qp, pi + 1 + i, raw + (size_t)i * qp->sq.block);
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * umr.c - work requests on memory keys (UMR): registration by the driver, fast registration,
 * invalidation, binding of windows.
 *
 * A control segment says which fields of the key's context change, to values in the next segment,
 * and where translations go; these follow inline or by a pointer. All of it is checked before
 * anything changes. The queue executes nothing else meanwhile. PRM: UMR
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "prm/mlx5/bsf.h"
#include "prm/mlx5/mkc.h"
#include "prm/mlx5/qpc.h"
#include "prm/mlx5/umr.h"
#include "prm/mlx5/wqe.h"
#include "softhca/device/core.h"
#include "softhca/device/eth/eth.h"
#include "softhca/device/format/mlx5/mlx5.h"
#include "softhca/device/queue/wqe.h"
#include "util/bits.h"

/* Rights of the queue: keys of its PD, or all keys for the driver's own queue (NULL). */
struct umr_rights {
	const struct pd *pd;
	uint32_t qpn; /* MKEY_ANY_QP: not a QP */
	bool names_pages;
};

struct umr {
	struct mkey *mkey;
	uint32_t key;
	uint64_t flags, mask;
	const uint8_t *context;
	uint64_t offset, bytes; /* part of the table to write */
	const uint8_t *data;    /* translations, or a pointer to them */
	size_t data_len;
	const uint8_t *bsf;
	size_t bsf_len;
	struct sig sig;
	struct crypt crypt;
};

/* Field of the context for each bit of the mask. PD and variant byte are handled separately. */
static const struct {
	uint8_t bit;
	uint32_t field;
} fields[] = {
	{ UMR_LEN, MKC_LEN },
	{ UMR_LEN, MKC_LENGTH64 },
	{ UMR_PAGE_SIZE, MKC_LOG_PAGE_SIZE },
	{ UMR_START_ADDR, MKC_START_ADDR },
	{ UMR_PD, MKC_PD },
	{ UMR_EN_RINVAL, MKC_EN_RINVAL },
	{ UMR_KEY, MKC_MKEY_7_0 },
	{ UMR_QPN, MKC_QPN },
	{ UMR_LR, MKC_LR },
	{ UMR_LW, MKC_LW },
	{ UMR_RR, MKC_RR },
	{ UMR_RW, MKC_RW },
	{ UMR_A, MKC_A },
	{ UMR_SMALL_FENCE, MKC_SMALL_FENCE },
	{ UMR_RELAXED_WRITE, MKC_RELAXED_ORDERING_WRITE },
	{ UMR_RELAXED_READ, MKC_RELAXED_ORDERING_READ },
	{ UMR_FREE, MKC_FREE },
	{ UMR_BSF_EN, MKC_BSF_EN },
	{ UMR_EN_SIGERR, MKC_EXPECTED_SIGERR_COUNT },
};

static bool umr_takes(const struct umr *umr, unsigned int bit)
{
	return umr->mask >> bit & 1;
}

static uint64_t known_mask(void)
{
	uint64_t mask = 0;

	for (size_t i = 0; i < ARRAY_SIZE(fields); i++)
		mask |= 1ull << fields[i].bit;
	return mask;
}

/* Finds the request's byte stream formats, if it has any: behind the translations, with their
 * length in place of the offset. To replace the formats of a key needs no bit of the mask. Returns
 * 0 or WQE_BAD_SIZE. PRM: UMR */
static int find_bsf(struct umr *umr, const uint8_t *ctrl)
{
	size_t skip = (umr->bytes + UMR_KLM_BLOCK - 1) / UMR_KLM_BLOCK * UMR_KLM_BLOCK;

	bool has_formats = umr->mask >> UMR_BSF_EN & 1 || fld_get(umr->mkey->context, MKC_BSF_EN);

	if (!has_formats || umr->flags & UMR_OFFSET_GIVEN)
		return 0;
	umr->bsf_len = fld_get(ctrl, UMR_BSF_OCTOWORDS) * XLT_OCTOWORD;
	if (!umr->bsf_len)
		return 0;
	if (!(umr->flags & UMR_INLINE) || skip > umr->data_len ||
	    umr->bsf_len > umr->data_len - skip)
		return WQE_BAD_SIZE;
	umr->bsf = umr->data + skip;
	return 0;
}

static int umr_decode(struct umr *umr, const uint8_t *raw, size_t len)
{
	const uint8_t *ctrl = raw + WQE_SEG;

	if (len < WQE_SEG + UMR_CTRL_SIZE + UMR_MKEY_SIZE)
		return WQE_BAD_SIZE;
	umr->key = fld_get(raw, CTRL_MKEY);
	umr->flags = fld_get(ctrl, UMR_FLAGS);
	umr->mask = fld_get(ctrl, UMR_MKEY_MASK);
	umr->bytes = fld_get(ctrl, UMR_XLT_OCTOWORDS) * XLT_OCTOWORD;
	if (umr->flags & UMR_OFFSET_GIVEN)
		umr->offset = (fld_get(ctrl, UMR_XLT_OFFSET_47_16) << 16 |
			       fld_get(ctrl, UMR_XLT_OFFSET_15_0)) *
			      XLT_OCTOWORD;
	umr->context = ctrl + UMR_CTRL_SIZE;
	umr->data = umr->context + UMR_MKEY_SIZE;
	umr->data_len = len - WQE_SEG - UMR_CTRL_SIZE - UMR_MKEY_SIZE;
	return 0;
}

/* Checks check_qpn, for keys that a QP has bound, as no other QP may change them. It matches any
 * free key, and keys of pieces that name no QP. PRM: UMR control segment, check_qpn */
static bool is_of_queue(const struct umr_rights *by, const struct umr *umr, const struct mkey *mkey)
{
	if (!(umr->flags & UMR_CHECK_QPN) || mkey->free)
		return true;
	if (mkey->qpn == MKEY_ANY_QP && mkey->mode != MKEY_KLMS && mkey->mode != MKEY_KSM)
		return false;
	return (mkey->qpn == MKEY_ANY_QP || mkey->qpn == by->qpn) && mkey->key == umr->key;
}

/* Checks the key: a UMR may set a new variant byte; otherwise the whole key must match. */
static int find_key(struct hca *hca, const struct umr_rights *by, struct umr *umr)
{
	struct mkey *mkey = res_get(&hca->mkeys, umr->key >> 8);

	if (!mkey || !mkey->umr_enabled || (by->pd && mkey->pd != by->pd))
		return WQE_BAD_MKEY;
	if (!umr_takes(umr, UMR_KEY) && mkey->key != umr->key)
		return WQE_BAD_MKEY;
	if (umr->flags & UMR_FAIL_IF_FREE && mkey->free)
		return WQE_BAD_MKEY;
	if (umr->flags & UMR_FAIL_IF_NOT_FREE && !mkey->free)
		return WQE_BAD_MKEY;
	if (!is_of_queue(by, umr, mkey))
		return WQE_BAD_MKEY;
	umr->mkey = mkey;
	return 0;
}

static bool pages_fit(const struct umr *umr)
{
	const uint8_t *mkc = umr->mkey->context;
	uint64_t shift =
		fld_get(umr_takes(umr, UMR_PAGE_SIZE) ? umr->context : mkc, MKC_LOG_PAGE_SIZE);

	return umr->mkey->mode == MKEY_PA || umr->mkey->mode == MKEY_KLMS || shift >= 12 ||
	       !umr->bytes;
}

/* Checks translations of a key of pieces. A piece has at most 2 GiB. A pattern begins with a
 * header, and its entries differ. PRM: KLM */
static bool lengths_fit(const struct umr *umr)
{
	size_t len = min_of(umr->bytes, (uint64_t)umr->data_len);

	if (umr->mkey->mode != MKEY_KLMS || !(umr->flags & UMR_INLINE) || len < XLT_OCTOWORD ||
	    fld_get(umr->data, PATTERN_OP) == PATTERN_OP_REPEAT)
		return true;
	for (size_t at = 0; at + XLT_OCTOWORD <= len; at += XLT_OCTOWORD)
		if (fld_get(umr->data + at, KLM_BCOUNT) > KLM_LEN_MAX)
			return false;
	return true;
}

/* Returns whether the UMR names pages: by translations of a key of pages, which are bus addresses,
 * or by a page size, which may reach beyond the pages listed. Only queues that the driver allows
 * may do that (fast registration); pieces name keys, which are checked on use. */
static bool names_pages(const struct umr *umr)
{
	return umr->mkey->mode == MKEY_PA ||
	       (umr->mkey->mode == MKEY_MTT && (umr->bytes || umr_takes(umr, UMR_PAGE_SIZE)));
}

/* Only the driver's own queue may move a key to another domain, as a program could otherwise reach
 * memory of another domain. Linux sets length64 in each key of length 0, also in a key of pages:
 * there it adds nothing. */
static int check_context(struct hca *hca, const struct umr_rights *by, struct umr *umr)
{
	const uint8_t *context = umr->context;
	const uint8_t *mkc = umr->mkey->context;
	uint64_t start = fld_get(umr_takes(umr, UMR_START_ADDR) ? context : mkc, MKC_START_ADDR);
	uint64_t len = fld_get(umr_takes(umr, UMR_LEN) ? context : mkc, MKC_LEN);

	if (umr->mask & ~known_mask())
		return WQE_BAD_UMR;
	if (names_pages(umr) && !by->names_pages)
		return WQE_BAD_UMR;
	if (umr->bsf_len > fld_get(mkc, MKC_BSF_OCTWORD_SIZE) * XLT_OCTOWORD)
		return WQE_BAD_UMR;
	if (umr_takes(umr, UMR_BSF_EN) && fld_get(context, MKC_BSF_EN) &&
	    (umr->mkey->mode != MKEY_KLMS || !fld_get(mkc, MKC_BSF_OCTWORD_SIZE)))
		return WQE_BAD_UMR;
	if (umr_takes(umr, UMR_PD) && (by->pd || !res_get(&hca->pds, fld_get(context, MKC_PD))))
		return WQE_BAD_UMR;
	if (fld_get(umr_takes(umr, UMR_LEN) ? context : mkc, MKC_LENGTH64) &&
	    ((umr->mkey->mode == MKEY_MTT && len) ||
	     fld_get(umr_takes(umr, UMR_BSF_EN) ? context : mkc, MKC_BSF_EN)))
		return WQE_BAD_UMR;
	if (umr->bsf && !mlx5_decode_bsf(umr->bsf, umr->bsf_len, &umr->sig, &umr->crypt))
		return WQE_BAD_UMR;
	return mkey_range_wraps(start, len) || !pages_fit(umr) || !lengths_fit(umr) ? WQE_BAD_UMR
										    : 0;
}

/* Reports a window that exceeds its region, or whose region lacks the right MW_BIND. An adapter
 * binds it, and fails only later accesses beyond the region. A region on demand is checked on use.
 * IBTA vol 1, 10.6.7.2.3 */
static void judge_bind(struct hca *hca, const struct qp *qp, const struct umr *umr)
{
	struct mkey *region;
	uint64_t len;

	if (!umr->mkey->is_window || umr->data_len < XLT_OCTOWORD || !umr->bytes)
		return;
	len = fld_get(umr->data, KLM_BCOUNT);
	region = mkey_find(hca, fld_get(umr->data, KLM_KEY));
	if (!region)
		return;
	if (region->is_region && !region->may_bind)
		strict_report(hca->config.strict, hca->config.trace, "bind.access",
			      "QP 0x%06x: window 0x%x is bound to region 0x%x, which has no "
			      "MW_BIND",
			      qp->n, umr->key, region->key);
	if (!region->on_demand && !mkey_holds(region, fld_get(umr->data, KLM_VA), len))
		strict_report(hca->config.strict, hca->config.trace, "bind.range",
			      "QP 0x%06x: window 0x%x is bound to 0x%llx bytes at 0x%llx, which "
			      "region 0x%x does not hold",
			      qp->n, umr->key, (unsigned long long)len,
			      (unsigned long long)fld_get(umr->data, KLM_VA), region->key);
}

/* Writes inline translations; zeroes fill the part of the table that they do not reach. */
static int write_inline(const struct umr *umr)
{
	static const uint8_t zeroes[64];
	uint64_t given = umr->bytes < umr->data_len ? umr->bytes : umr->data_len;
	uint64_t rest = umr->bytes - given;
	int ret;

	if (rest > sizeof(zeroes))
		return WQE_BAD_SIZE;
	ret = xlt_write(umr->mkey, umr->offset, umr->data, given);
	if (!ret)
		ret = xlt_write(umr->mkey, umr->offset + given, zeroes, rest);
	return ret ? WQE_BAD_UMR : 0;
}

static int write_by_pointer(struct hca *hca, const struct umr_rights *by, const struct umr *umr)
{
	struct recv_wqe list; /* one entry, with the layout of a receive */
	uint8_t buf[4096];
	struct dma_batch batch;
	uint64_t part;
	int why;

	if (umr->data_len < WQE_SEG)
		return WQE_BAD_SIZE;
	mlx5_decode_recv(umr->data, WQE_SEG, &list);
	if (list.length < umr->bytes)
		return WQE_BAD_LENGTH;
	for (uint64_t at = 0; at < umr->bytes; at += part) {
		part = umr->bytes - at < sizeof(buf) ? umr->bytes - at : sizeof(buf);
		dma_begin_read(&batch, hca, buf);
		why = sges_dma(&batch, by->pd, MKEY_PLAIN, list.sge, list.num_sge, at, part);
		if (why)
			return why;
		if (xlt_write(umr->mkey, umr->offset + at, buf, part))
			return WQE_BAD_UMR;
	}
	return 0;
}

static void take_fields(struct hca *hca, const struct umr *umr)
{
	struct mkey *mkey = umr->mkey;

	fld_set(mkey->context, MKC_FREE, mkey->free);
	for (size_t i = 0; i < ARRAY_SIZE(fields); i++)
		if (umr_takes(umr, fields[i].bit))
			fld_set(mkey->context, fields[i].field,
				fld_get(umr->context, fields[i].field));
	if (umr_takes(umr, UMR_PD)) {
		mkey->pd->users--;
		mkey->pd = res_get(&hca->pds, fld_get(mkey->context, MKC_PD));
		mkey->pd->users++;
	}
	if (umr->bsf) {
		memcpy(mkey->bsf, umr->bsf, umr->bsf_len);
		mkey->sig = umr->sig;
		mkey->crypt = umr->crypt;
	}
	free(mkey->crypt_part);
	mkey->crypt_part = NULL;
	if (umr_takes(umr, UMR_BSF_EN) || umr->bsf) {
		mkey->sig.on = fld_get(mkey->context, MKC_BSF_EN) &&
			       (mkey->sig.mem.guard || mkey->sig.wire.guard);
		mkey->crypt.on = fld_get(mkey->context, MKC_BSF_EN) && mkey->crypt.unit;
		sig_forget(mkey);
	}
	if (umr->mask & (1ull << UMR_LEN | 1ull << UMR_PAGE_SIZE | 1ull << UMR_START_ADDR))
		mkey->xlt_changed = mkey->xlt;
	mlx5_decode_mkey(mkey);
}

/* Writes the translation table; take_fields() changes the context. */
static int umr_write(struct hca *hca, const struct umr_rights *by, struct umr *umr,
		     const uint8_t *raw, size_t len)
{
	int why = umr_decode(umr, raw, len);

	if (!why)
		why = find_key(hca, by, umr);
	if (!why)
		why = find_bsf(umr, raw + WQE_SEG);
	if (!why)
		why = check_context(hca, by, umr);
	if (!why && umr->offset + umr->bytes > (uint64_t)umr->mkey->xlt_octowords * XLT_OCTOWORD)
		why = WQE_BAD_UMR;
	if (!why && umr->bytes)
		why = umr->flags & UMR_INLINE ? write_inline(umr) : write_by_pointer(hca, by, umr);
	return why;
}

int mlx5_execute_umr(struct hca *hca, struct qp *qp, const uint8_t *raw, size_t len)
{
	const struct umr_rights by = { qp->pd, qp->n, !qp->pd || fld_get(qp->context, QPC_FRE) };
	struct umr umr = { 0 };
	int why = umr_write(hca, &by, &umr, raw, len);

	if (!why && hca->config.strict)
		judge_bind(hca, qp, &umr);
	if (!why)
		take_fields(hca, &umr);
	return why;
}

static int umr_of_driver(struct hca *hca, const struct pd *pd, const uint8_t *raw, size_t len)
{
	const struct umr_rights by = { pd, MKEY_ANY_QP, true };
	struct umr umr = { 0 };
	int why = umr_write(hca, &by, &umr, raw, len);

	if (!why)
		take_fields(hca, &umr);
	return why;
}

int mlx5_execute_frame_umr(struct hca *hca, const struct eth_sq *sq, const uint8_t *raw, size_t len)
{
	return sq->has_umr ? umr_of_driver(hca, sq->wq.pd, raw, len) : WQE_BAD_OPCODE;
}

/* Regions with bound windows must not change, as the windows refer to them. */
static int umr_of_front(struct hca *hca, const void *wqe, size_t len)
{
	const struct mkey *mkey = mkey_find(hca, fld_get(wqe, CTRL_MKEY));

	if (hca->dead)
		return EIO;
	if (mkey && mkey->windows)
		return EBUSY;
	return umr_of_driver(hca, NULL, wqe, len) ? EINVAL : 0;
}

int hca_umr(struct hca *hca, const void *wqe, size_t len)
{
	int why;

	fabric_lock(hca->fabric);
	why = umr_of_front(hca, wqe, len);
	fabric_unlock(hca->fabric);
	return why;
}

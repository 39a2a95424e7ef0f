/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * xlt.c - the translation table of a memory key: pages (MTT), or pieces of other keys (KLM, KSM),
 * which may be a repeating pattern.
 *
 * Software writes it in parts, by UMR, much less often than the adapter uses it. So the form that
 * transfers use (joined extents, pieces with offsets) is made at the first use after a change. PRM:
 * MTT, KLM, strided block
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "prm/mlx5/umr.h"
#include "softhca/device/core.h"

int xlt_write(struct mkey *mkey, uint64_t offset, const void *bytes, size_t len)
{
	uint64_t room = (uint64_t)mkey->xlt_octowords * XLT_OCTOWORD;

	if (len > room || offset > room - len)
		return EINVAL;
	if (!len)
		return 0;
	if (!mkey->xlt)
		mkey->xlt = calloc(mkey->xlt_octowords, XLT_OCTOWORD);
	if (!mkey->xlt)
		return ENOMEM;
	memcpy(mkey->xlt + offset, bytes, len);
	mkey->xlt_changed = true;
	return 0;
}

/* Sets the piece directly, not through the table, as an entry has only 32 bits of length and a
 * window's piece may be longer. Nothing reads a window's table. */
int xlt_set_piece(struct mkey *mkey, uint32_t key, uint64_t addr, uint64_t len)
{
	if (!mkey->klm)
		mkey->klm = calloc(mkey->xlt_octowords, sizeof(*mkey->klm));
	if (!mkey->klm)
		return ENOMEM;
	mkey->klm[0] = (struct klm){ .len = len, .key = key, .addr = addr };
	mkey->klms = 1;
	mkey->xlt_changed = false;
	return 0;
}

static int prepare_pages(struct mkey *mkey)
{
	uint64_t skip = mkey->start & ((1ull << mkey->page_shift) - 1);
	int ret;

	dma_unmap(&mkey->map);
	ret = dma_map_pages(&mkey->map, mkey->xlt, (size_t)mkey->xlt_octowords * 2,
			    mkey->page_shift, skip, mkey->len);
	return ret ? EFAULT : 0;
}

/* Fills mkey->klm from a plain table. Each KSM entry is one page; a KLM entry has its own
 * length. */
static void prepare_list(struct mkey *mkey)
{
	bool fixed = mkey->mode == MKEY_KSM;
	uint64_t offset = 0;

	for (uint32_t i = 0; i < mkey->xlt_octowords; i++) {
		const uint8_t *entry = mkey->xlt + (size_t)i * XLT_OCTOWORD;
		uint64_t len = fixed ? 1ull << mkey->page_shift : fld_get(entry, KLM_BCOUNT);

		if (!len)
			continue;
		mkey->klm[mkey->klms++] = (struct klm){
			.offset = offset,
			.len = len,
			.key = fld_get(entry, KLM_KEY),
			.addr = fld_get(entry, KLM_VA),
		};
		offset += len;
	}
}

/* Fills mkey->klm from the table of a pattern. A pattern whose length differs from the sum of its
 * entries is invalid and gets no pieces. */
static void prepare_pattern(struct mkey *mkey)
{
	uint32_t count = fld_get(mkey->xlt, PATTERN_ENTRIES);
	uint64_t offset = 0;

	if (count > mkey->xlt_octowords - 1)
		return;
	for (uint32_t i = 0; i < count; i++) {
		const uint8_t *entry = mkey->xlt + (size_t)(i + 1) * XLT_OCTOWORD;
		uint64_t len = fld_get(entry, PATTERN_ENTRY_BCOUNT);

		if (!len)
			continue;
		mkey->klm[mkey->klms++] = (struct klm){
			.offset = offset,
			.len = len,
			.key = fld_get(entry, KLM_KEY),
			.addr = fld_get(entry, KLM_VA),
			.stride = fld_get(entry, PATTERN_ENTRY_STRIDE),
		};
		offset += len;
	}
	if (offset != fld_get(mkey->xlt, PATTERN_BYTES))
		mkey->klms = 0;
	mkey->pattern.bytes = offset;
	mkey->pattern.count = fld_get(mkey->xlt, PATTERN_REPEATS);
}

/* Fills mkey->klm from the table. The first entry of a pattern is a header, which has
 * PATTERN_OP_REPEAT where other entries have a key. */
static int prepare_pieces(struct mkey *mkey)
{
	if (!mkey->klm)
		mkey->klm = calloc(mkey->xlt_octowords, sizeof(*mkey->klm));
	if (!mkey->klm)
		return EFAULT;
	mkey->klms = 0;
	mkey->pattern.bytes = 0;
	if (mkey->mode == MKEY_KLMS && fld_get(mkey->xlt, PATTERN_OP) == PATTERN_OP_REPEAT)
		prepare_pattern(mkey);
	else
		prepare_list(mkey);
	return 0;
}

int xlt_prepare(struct mkey *mkey)
{
	int ret;

	if (!mkey->xlt_changed)
		return 0;
	ret = mkey->mode == MKEY_MTT ? prepare_pages(mkey) : prepare_pieces(mkey);
	mkey->xlt_changed = ret;
	return ret;
}

/* Finds the last piece that begins at or before OFFSET, by binary search; the first piece begins at
 * 0. */
static const struct klm *piece_find(const struct mkey *mkey, uint64_t offset)
{
	uint32_t low = 0, high = mkey->klms;

	while (high - low > 1) {
		uint32_t mid = low + (high - low) / 2;

		if (mkey->klm[mid].offset <= offset)
			low = mid;
		else
			high = mid;
	}
	return &mkey->klm[low];
}

bool xlt_piece(const struct mkey *mkey, uint64_t addr, uint64_t len, struct klm *piece)
{
	uint64_t offset = addr - mkey->start, skip, turn = 0;
	const struct klm *klm;

	if (!mkey->klms)
		return false;
	if (mkey->pattern.bytes) {
		turn = offset / mkey->pattern.bytes;
		offset %= mkey->pattern.bytes;
	}
	if (turn && turn >= mkey->pattern.count)
		return false;
	klm = piece_find(mkey, offset);
	skip = offset - klm->offset;
	if (skip >= klm->len)
		return false;
	piece->key = klm->key;
	piece->addr = klm->addr + turn * klm->stride + skip;
	piece->len = klm->len - skip < len ? klm->len - skip : len;
	return true;
}

void xlt_free(struct mkey *mkey)
{
	dma_unmap(&mkey->map);
	free(mkey->xlt);
	free(mkey->klm);
}

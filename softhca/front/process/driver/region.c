/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * region.c - memory keys for ranges of a process's memory.
 *
 * Bus addresses are virtual, so a range is contiguous on the bus. It is described by few pages, as
 * large as the alignment of the range relative to its iova allows. Like Linux' driver, which takes
 * keys from a cache sorted by powers of two, keys have room for more pages, so a changed range
 * often keeps its key.
 */
#include <errno.h>
#include <stdlib.h>

#include <rdma/ib_user_ioctl_verbs.h>

#include "prm/mlx5/cmd.h"
#include "prm/mlx5/mkc.h"
#include "prm/mlx5/umr.h"
#include "prm/mlx5/wqe.h"
#include "softhca/front/process/driver/adapter.h"
#include "softhca/front/process/driver/region.h"

enum {
	MIN_PAGE_SHIFT = 12,
	MAX_PAGE_SHIFT = 31,
	MIN_ROOM = 4,       /* in translations of one page each */
	MAX_ROOM = 1 << 20, /* largest size in the driver's key cache */
	OCTWORD = 16,       /* in bytes: two translations */
};

/* Returns log2 of the page size. It is the largest for which start and IOVA have the same offset in
 * a page, so that the page list is short, but not much larger than the region. */
static unsigned int pick_page_shift(const struct region *region)
{
	unsigned int shift = MIN_PAGE_SHIFT;

	while (shift < MAX_PAGE_SHIFT && 1ull << shift < region->length &&
	       !((region->start ^ region->iova) & ((1ull << (shift + 1)) - 1)))
		shift++;
	return shift;
}

static uint64_t count_pages(const struct region *region)
{
	unsigned int shift = pick_page_shift(region);

	return ((region->start + region->length - 1) >> shift) - (region->start >> shift) + 1;
}

/* Writes the page list; entries behind the last page are 0. */
static void put_pages(const struct region *region, uint8_t *list)
{
	unsigned int shift = pick_page_shift(region);
	uint64_t first = region->start >> shift, pages = count_pages(region);

	for (uint64_t i = 0; i < pages; i++)
		fld_set64(list, i * 8, region->bus | (first + i) << shift);
}

/* Sets the access bits of a context. The device does not use relaxed ordering. */
void region_put_access(uint8_t *mkc, uint32_t access)
{
	fld_set(mkc, MKC_A, !!(access & IB_UVERBS_ACCESS_REMOTE_ATOMIC));
	fld_set(mkc, MKC_RW, !!(access & IB_UVERBS_ACCESS_REMOTE_WRITE));
	fld_set(mkc, MKC_RR, !!(access & IB_UVERBS_ACCESS_REMOTE_READ));
	fld_set(mkc, MKC_LW, !!(access & IB_UVERBS_ACCESS_LOCAL_WRITE));
	fld_set(mkc, MKC_LR, 1);
}

static void put_context(const struct region *region, uint32_t pdn, uint32_t octwords, uint8_t *mkc)
{
	region_put_access(mkc, region->access);
	fld_set(mkc, MKC_UMR_EN, !region->fixed);
	fld_set(mkc, MKC_ACCESS_MODE_1_0, PRM_MKEY_MODE_MTT);
	fld_set(mkc, MKC_QPN, PRM_MKC_ANY_QP);
	fld_set(mkc, MKC_PD, pdn);
	fld_set(mkc, MKC_START_ADDR, region->iova);
	fld_set(mkc, MKC_LEN, region->length);
	fld_set(mkc, MKC_TRANSLATIONS_OCTWORD_SIZE, octwords);
	fld_set(mkc, MKC_LOG_PAGE_SIZE, pick_page_shift(region));
}

static uint32_t room_for(const struct region *region)
{
	uint32_t pages = count_pages(region), room = MIN_ROOM;

	if (region->fixed || pages > MAX_ROOM)
		return pages;
	while (room < pages)
		room *= 2;
	return room;
}

int region_create_key(struct adapter *adapter, const struct region *region, uint32_t pdn,
		      uint32_t *key, uint32_t *room)
{
	uint32_t octwords, entries = room_for(region);
	uint8_t *in, out[PRM_CMD_OUT_SIZE];
	size_t in_len;
	int ret;

	octwords = (entries + 1) / 2;
	in_len = PRM_CREATE_MKEY_IN_SIZE + (size_t)octwords * OCTWORD;
	in = calloc(1, in_len);
	if (!in)
		return ENOMEM;
	fld_set(in, CMD_IN_OPCODE, PRM_OP_CREATE_MKEY);
	fld_set(in, CREATE_MKEY_IN_TRANSLATIONS_OCTWORD_ACTUAL_SIZE, octwords);
	fld_set(in, CREATE_MKEY_IN_PG_ACCESS, !!(region->access & IB_UVERBS_ACCESS_ON_DEMAND));
	fld_set(in, CREATE_MKEY_IN_IS_REGION, 1);
	fld_set(in, CREATE_MKEY_IN_MAY_BIND, !!(region->access & IB_UVERBS_ACCESS_MW_BIND));
	put_context(region, pdn, octwords, fld_at(in, CREATE_MKEY_IN_MKC));
	put_pages(region, fld_at(in, CREATE_MKEY_IN_PAS));
	ret = adapter_command(adapter, in, in_len, out, sizeof(out));
	if (!ret) {
		*key = fld_get(out, CREATE_MKEY_OUT_MKEY_INDEX) << 8;
		*room = region->fixed || entries > MAX_ROOM ? 0 : entries;
	}
	free(in);
	return ret;
}

bool region_fits(const struct region *region, uint32_t room)
{
	return count_pages(region) <= room;
}

/* Executes the UMR WQE that Linux' driver posts to a queue of its own: it writes new fields of the
 * key's context and, if MOVED, translations. */
int region_change_key(struct adapter *adapter, uint32_t key, const struct region *region,
		      uint32_t pdn, bool moved)
{
	uint64_t mask =
		1ull << UMR_PD | 1ull << UMR_A | 1ull << UMR_RW | 1ull << UMR_RR | 1ull << UMR_LW;
	uint32_t octwords = moved ? (count_pages(region) + 1) / 2 : 0;
	size_t fixed_len = WQE_SEG + UMR_CTRL_SIZE + UMR_MKEY_SIZE;
	size_t len = fixed_len + (size_t)octwords * OCTWORD;
	uint8_t *wqe = calloc(1, len), *ctrl;
	int ret;

	if (!wqe)
		return ENOMEM;
	if (moved)
		mask |= 1ull << UMR_LEN | 1ull << UMR_START_ADDR | 1ull << UMR_PAGE_SIZE;
	ctrl = wqe + WQE_SEG;
	fld_set(wqe, CTRL_MKEY, key);
	fld_set(ctrl, UMR_FLAGS, UMR_INLINE);
	fld_set(ctrl, UMR_XLT_OCTOWORDS, octwords);
	fld_set(ctrl, UMR_MKEY_MASK, mask);
	put_context(region, pdn, octwords, ctrl + UMR_CTRL_SIZE);
	if (moved)
		put_pages(region, wqe + fixed_len);
	ret = hca_umr(adapter->hca, wqe, len);
	free(wqe);
	return ret;
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * fast_reg.c - fast registration: a kernel driver's work request gives a free key its pages, range
 * and rights. The adapter copies the page list into the key's part of the translation table.
 *
 * Only keys that a driver has prepared for this can be registered, in the QP's domain; programs
 * have none. Sources: see prm/mlx4/wqe.h; IBTA vol 1, 10.6.4.
 */
#include <errno.h>
#include <stdlib.h>

#include "prm/mlx4/cmd.h"
#include "prm/mlx4/mpt.h"
#include "prm/mlx4/wqe.h"
#include "softhca/device/core.h"
#include "softhca/device/format/mlx4/cmd/cmd.h"
#include "softhca/device/format/mlx4/firmware.h"
#include "softhca/device/format/mlx4/mlx4.h"
#include "softhca/device/queue/wqe.h"

enum { MIN_PAGE_SHIFT = 12, MAX_PAGE_SHIFT = 31 };

struct reg {
	uint32_t key;
	unsigned int access, page_shift;
	uint64_t list, start, length, skip;
};

static struct reg decode_reg(const uint8_t *seg)
{
	struct reg reg = {
		.key = fld_get(seg, M4_REG_KEY),
		.access = (fld_get(seg, M4_REG_LOCAL_READ) ? MKEY_LOCAL_READ : 0) |
			  (fld_get(seg, M4_REG_LOCAL_WRITE) ? MKEY_LOCAL_WRITE : 0) |
			  (fld_get(seg, M4_REG_REMOTE_READ) ? MKEY_REMOTE_READ : 0) |
			  (fld_get(seg, M4_REG_REMOTE_WRITE) ? MKEY_REMOTE_WRITE : 0) |
			  (fld_get(seg, M4_REG_ATOMIC) ? MKEY_REMOTE_ATOMIC : 0),
		.page_shift = fld_get(seg, M4_REG_LOG_PAGE_SIZE),
		.list = fld_get(seg, M4_REG_LIST),
		.start = fld_get(seg, M4_REG_START),
		.length = fld_get(seg, M4_REG_LENGTH),
	};

	reg.skip = reg.start & ((1ull << reg.page_shift) - 1);
	return reg;
}

/* Checks a registration. A first-byte offset is refused, as no source describes it and no driver
 * uses it. */
static bool reg_is_right(const struct reg *reg, const uint8_t *seg, uint32_t entries)
{
	uint64_t room;

	if (reg->page_shift < MIN_PAGE_SHIFT || reg->page_shift > MAX_PAGE_SHIFT ||
	    fld_get(seg, M4_REG_OFFSET) || mkey_range_wraps(reg->start, reg->length))
		return false;
	room = ((uint64_t)entries << reg->page_shift) - reg->skip;
	return reg->list % M4_MTT_SIZE == 0 && reg->length && reg->length <= room;
}

/* Copies the page list to the translation table. Returns 0 or an errno. */
static int list_copy(struct hca *hca, const struct reg *reg, uint64_t mtt)
{
	uint64_t base = fld_get(hca->mlx4->init, M4_INIT_MTT);
	uint64_t pages = ((reg->skip + reg->length - 1) >> reg->page_shift) + 1;
	size_t size = (size_t)pages * M4_MTT_SIZE;
	uint8_t *list = malloc(size);
	int ret;

	if (!list)
		return ENOMEM;
	ret = dma_read(hca, reg->list, list, size);
	if (!ret)
		ret = icm_write(hca, base + mtt, list, size);
	free(list);
	return ret;
}

/* Makes MAP from the pages, each of which is marked present. */
static int map_pages(struct hca *hca, const struct reg *reg, const struct mkey *mkey,
		     struct dma_map *map)
{
	const struct m4_ring pages = {
		.mtt = fld_get(mkey->context, M4_MPT_MTT),
		.log_page = reg->page_shift - MIN_PAGE_SHIFT,
		.skip = reg->skip,
	};
	int ret = list_copy(hca, reg, pages.mtt);

	return ret ? ret : m4_map_ring(hca, &pages, reg->length, map);
}

int mlx4_execute_fast_reg(struct hca *hca, const struct qp *qp, const uint8_t *raw)
{
	struct reg reg = decode_reg(raw + M4_SEG);
	struct mkey *mkey = mkey_find(hca, reg.key);
	struct dma_map map;

	if (!mkey || mkey->pd != qp->pd || !mkey->fast_reg || !mkey->free)
		return WQE_BAD_MKEY;
	if (!reg_is_right(&reg, raw + M4_SEG, fld_get(mkey->context, M4_MPT_ENTRIES)) ||
	    map_pages(hca, &reg, mkey, &map))
		return WQE_BAD_UMR;
	dma_unmap(&mkey->map);
	mkey->map = map;
	mkey->key = reg.key;
	mkey->access = reg.access;
	mkey->start = reg.start;
	mkey->len = reg.length;
	mkey->page_shift = reg.page_shift;
	mkey->free = false;
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * icm.c - see icm.h. Pieces stay as MAP_ICM gave them, so that UNMAP_ICM finds their ends.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "softhca/device/core.h"
#include "softhca/device/format/mlx4/firmware.h"
#include "softhca/device/format/mlx4/icm.h"

enum { MAX_PIECES = 1 << 18 };

/* Returns the index of the first piece that ends behind VIRT, or count. */
static size_t piece_find(const struct icm *icm, uint64_t virt)
{
	size_t low = 0, high = icm->count;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (icm->piece[mid].virt + (icm->piece[mid].size - 1) < virt)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static int icm_grow(struct icm *icm)
{
	size_t room = icm->room ? icm->room * 2 : 64;
	struct icm_piece *piece;

	if (icm->count < icm->room)
		return 0;
	if (icm->count == MAX_PIECES)
		return ENOSPC;
	piece = reallocarray(icm->piece, room, sizeof(*piece));
	if (!piece)
		return ENOMEM;
	icm->piece = piece;
	icm->room = room;
	return 0;
}

int icm_map(struct icm *icm, uint64_t virt, uint64_t size, uint64_t addr)
{
	size_t at = piece_find(icm, virt);
	int ret;

	if (at < icm->count && icm->piece[at].virt <= virt + (size - 1))
		return EEXIST;
	ret = icm_grow(icm);
	if (ret)
		return ret;
	memmove(icm->piece + at + 1, icm->piece + at, (icm->count - at) * sizeof(*icm->piece));
	icm->piece[at] = (struct icm_piece){ virt, size, addr };
	icm->count++;
	return 0;
}

int icm_unmap(struct icm *icm, uint64_t virt, uint64_t size)
{
	uint64_t last = virt + (size - 1);
	size_t from = piece_find(icm, virt), to = from;

	for (; to < icm->count && icm->piece[to].virt <= last; to++)
		if (icm->piece[to].virt < virt ||
		    icm->piece[to].virt + (icm->piece[to].size - 1) > last)
			return EINVAL;
	memmove(icm->piece + from, icm->piece + to, (icm->count - to) * sizeof(*icm->piece));
	icm->count -= to - from;
	return 0;
}

void icm_free(struct icm *icm)
{
	free(icm->piece);
	memset(icm, 0, sizeof(*icm));
}

static int icm_transfer(struct hca *hca, struct dma_batch *batch, uint64_t virt, size_t len)
{
	const struct icm *icm = &hca->mlx4->icm;
	size_t at = piece_find(icm, virt);

	for (; len; at++) {
		uint64_t skip, part;
		int ret;

		if (at == icm->count || icm->piece[at].virt > virt)
			return EFAULT;
		skip = virt - icm->piece[at].virt;
		part = icm->piece[at].size - skip < len ? icm->piece[at].size - skip : len;
		ret = dma_add(batch, icm->piece[at].addr + skip, part);
		if (ret)
			return ret;
		virt += part;
		len -= part;
	}
	return dma_finish(batch);
}

int icm_read(struct hca *hca, uint64_t virt, void *buf, size_t len)
{
	struct dma_batch batch;

	dma_begin_read(&batch, hca, buf);
	return icm_transfer(hca, &batch, virt, len);
}

int icm_write(struct hca *hca, uint64_t virt, const void *buf, size_t len)
{
	struct dma_batch batch;

	dma_begin_write(&batch, hca, buf);
	return icm_transfer(hca, &batch, virt, len);
}

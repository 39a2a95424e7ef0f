/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * iova.c - see iova.h.
 */
#include <errno.h>

#include "providers/mlx5/vfio/iova.h"
#include "util/alloc.h"

static void hole_join(struct iova_hole *hole)
{
	struct iova_hole *next = hole->next;

	if (!next || hole->last + 1 != next->first)
		return;
	hole->last = next->last;
	hole->next = next->next;
	free(next);
}

int mlx5_vfio_iova_give(struct vfio_iova *iova, uint64_t first, uint64_t last)
{
	struct iova_hole *before = NULL, *next = iova->holes, *hole;

	while (next && next->first < first) {
		before = next;
		next = next->next;
	}
	if (before && before->last + 1 == first) {
		before->last = last;
		hole_join(before);
		return 0;
	}
	hole = calloc_for("ibv_open_device", 1, sizeof(*hole));
	if (!hole)
		return ENOMEM;
	*hole = (struct iova_hole){ first, last, next };
	*(before ? &before->next : &iova->holes) = hole;
	hole_join(hole);
	return 0;
}

/* Takes [FIRST, LAST] out of the hole at *AT. */
static int hole_cut(struct iova_hole **at, uint64_t first, uint64_t last)
{
	struct iova_hole *hole = *at, *rest;

	if (first > hole->first && last < hole->last) {
		rest = calloc_for("ibv_reg_mr", 1, sizeof(*rest));
		if (!rest)
			return ENOMEM;
		*rest = (struct iova_hole){ last + 1, hole->last, hole->next };
		hole->next = rest;
		hole->last = first - 1;
	} else if (first > hole->first) {
		hole->last = first - 1;
	} else if (last < hole->last) {
		hole->first = last + 1;
	} else {
		*at = hole->next;
		free(hole);
	}
	return 0;
}

int mlx5_vfio_iova_take(struct vfio_iova *iova, uint64_t size, uint64_t align, uint64_t *first)
{
	for (struct iova_hole **at = &iova->holes; *at; at = &(*at)->next) {
		const struct iova_hole *hole = *at;
		const uint64_t start = (hole->first + (align - 1)) & ~(align - 1);
		int ret;

		/* no overflow: a start that wraps around is below the hole, so this test refuses
		 * it */
		if (start < hole->first || start > hole->last || size - 1 > hole->last - start)
			continue;
		ret = hole_cut(at, start, start + (size - 1));
		if (!ret)
			*first = start;
		return ret;
	}
	return ENOSPC;
}

void mlx5_vfio_iova_clear(struct vfio_iova *iova)
{
	while (iova->holes) {
		struct iova_hole *hole = iova->holes;

		iova->holes = hole->next;
		free(hole);
	}
}

static uint64_t down(uint64_t value, unsigned int log)
{
	return value >> log << log;
}

int mlx5_vfio_shape_find(uint64_t addr, uint64_t length, unsigned int log_unit,
			 struct vfio_shape *shape)
{
	const uint64_t last = addr + (length - 1);
	unsigned int log = log_unit;

	if (!length || last < addr || last >> 63)
		return EINVAL;
	while (log < VFIO_MAX_LOG_PAGE && (last >> log) - (addr >> log) >= VFIO_MAX_PAGES)
		log++;
	if ((last >> log) - (addr >> log) >= VFIO_MAX_PAGES)
		return EINVAL;
	shape->base = down(addr, log);
	shape->start = down(addr, log_unit);
	shape->length = down(last, log_unit) + (UINT64_C(1) << log_unit) - shape->start;
	shape->log_page = log;
	shape->count = (uint32_t)((last >> log) - (addr >> log)) + 1;
	return 0;
}

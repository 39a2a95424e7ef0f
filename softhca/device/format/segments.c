/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * segments.c - see segments.h. Layouts are mlx5's; format/mlx4 asserts that its own are equal.
 */
#include "softhca/device/format/segments.h"

#include "prm/mlx5/wqe.h"
#include "softhca/device/queue/wqe.h"

const uint8_t *segment_take(const uint8_t **seg, const uint8_t *end, size_t len)
{
	const uint8_t *at = *seg;

	if (len > (size_t)(end - at))
		return NULL;
	*seg += len;
	return at;
}

struct wqe_sge segment_data(const uint8_t *seg)
{
	uint32_t len = fld_get(seg, DATA_LEN);

	return (struct wqe_sge){
		.len = len ? len : 1u << 31,
		.lkey = fld_get(seg, DATA_LKEY),
		.addr = fld_get(seg, DATA_ADDR),
	};
}

void segment_add(struct send_wqe *wqe, const struct wqe_sge *sge)
{
	wqe->sge[wqe->num_sge++] = *sge;
	wqe->length += sge->len;
}

int segment_remote(const uint8_t **seg, const uint8_t *end, uint8_t parts, struct send_wqe *wqe)
{
	const uint8_t *raddr, *atomic;

	if (parts & PART_RADDR) {
		raddr = segment_take(seg, end, WQE_SEG);
		if (!raddr)
			return WQE_BAD_SIZE;
		wqe->raddr = fld_get(raddr, RADDR_ADDR);
		wqe->rkey = fld_get(raddr, RADDR_RKEY);
	}
	if (parts & PART_ATOMIC) {
		atomic = segment_take(seg, end, WQE_SEG);
		if (!atomic)
			return WQE_BAD_SIZE;
		wqe->operand = sizeof(wqe->swap_add);
		wqe->swap_add = fld_get(atomic, ATOMIC_SWAP_ADD);
		wqe->compare = fld_get(atomic, ATOMIC_COMPARE);
		wqe->swap_mask = wqe->compare_mask = 0;
	}
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * scatter.h - the scatter list of a receive WQE: scatter_put() writes it for every kind of receive
 * queue; scatter_fill() copies a payload from inside a CQE to its buffers.
 */
#ifndef PROVIDERS_COMMON_SCATTER_H
#define PROVIDERS_COMMON_SCATTER_H

#include <endian.h>
#include <string.h>

#include "providers/common/seg.h"

#ifdef __AVX__
/* Writes four buffers. Returns false, with nothing written, if one of them is empty: the WQE would
 * end there, as a length of 0 means 2 GiB to the adapter. */
SEG_INLINE bool scatter_put_four(struct data_seg *seg, const struct ibv_sge *sge)
{
	const seg_sge a = seg_load_sge(&sge[0]), b = seg_load_sge(&sge[1]);
	const seg_sge c = seg_load_sge(&sge[2]), d = seg_load_sge(&sge[3]);

	if (__builtin_expect(!seg_has_bytes(seg_least(seg_least(a, b), seg_least(c, d))), 0))
		return false;
	seg_store_sge(&seg[0], a);
	seg_store_sge(&seg[1], b);
	seg_store_sge(&seg[2], c);
	seg_store_sge(&seg[3], d);
	return true;
}
#else
SEG_INLINE bool scatter_put_four(struct data_seg *seg, const struct ibv_sge *sge)
{
	if (!sge[0].length || !sge[1].length || !sge[2].length || !sge[3].length)
		return false;
	for (int i = 0; i < 4; i++)
		seg_put_sge(&seg[i], &sge[i]);
	return true;
}
#endif

/* Writes a scatter list. Empty buffers get no segment (length 0 would mean 2 GiB); a list shorter
 * than the WQE ends with DATA_SEG_LKEY_END. */
SEG_INLINE void scatter_put(struct data_seg *seg, uint32_t capacity, const struct ibv_sge *sge,
			    int n)
{
	struct data_seg *end = seg + capacity;

	/* Look at one buffer first, because such lists are by far the most common. */
	if (__builtin_expect(n == 1 && sge->length, 1)) {
		seg_put_sge(seg, sge);
		if (capacity > 1)
			seg_put_data(seg + 1, 0, DATA_SEG_LKEY_END, 0);
		return;
	}
	if (n == 4 && __builtin_expect(scatter_put_four(seg, sge), 1)) {
		if (capacity > 4)
			seg_put_data(seg + 4, 0, DATA_SEG_LKEY_END, 0);
		return;
	}
	/* stops the compiler from merging the loop with the code above, which would lose the
	 * straight line for one buffer */
	__asm__("" : "+r"(sge));
	/* Write four buffers at a time, up to an empty one, which the list must not contain: its
	 * length 0 would mean 2 GiB. */
	for (; n >= 4 && scatter_put_four(seg, sge); n -= 4) {
		sge += 4;
		seg += 4;
	}
	for (; n > 0; n--, sge++) {
		if (__builtin_expect(!sge->length, 0))
			continue;
		seg_put_sge(seg, sge);
		seg++;
	}
	if (seg < end)
		seg_put_data(seg, 0, DATA_SEG_LKEY_END, 0);
}

/* Copies LEN bytes at FROM to the buffers of up to N segments. Bytes for the key NULL_LKEY are
 * dropped. Returns the number of bytes without room. */
static inline uint32_t scatter_fill(const struct data_seg *seg, uint32_t n, __be32 null_lkey,
				    const uint8_t *from, uint32_t len)
{
	for (; n && len; n--, seg++) {
		uint32_t room = be32toh(seg->byte_count);
		uint32_t part = len < room ? len : room;

		if (!room)
			/* end of a list shorter than its WQE, which the adapter stops at, too */
			break;
		if (seg->lkey != null_lkey)
			copy_small((uint8_t *)(uintptr_t)be64toh(seg->addr), from, part);
		from += part;
		len -= part;
	}
	return len;
}

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * blocks.h - the blocks of a key configuration in the ring: their positions, and the lists,
 * patterns and access rights in them. Only configure.c and its neighbours in this folder include
 * it.
 */
#ifndef PROVIDERS_MLX5_DATA_MKEY_BLOCKS_H
#define PROVIDERS_MLX5_DATA_MKEY_BLOCKS_H

#include "prm/mlx5/bsf.h"
#include "prm/mlx5/umr.h"
#include "providers/mlx5/data/send_wqe.h"
#include "providers/mlx5/data/umr.h"

/* A WQE has at most 63 units, of which the head takes 8. A list comes in blocks of 4 units. */
enum {
	HEAD_UNITS = 2 * WQE_BB / WQE_SEG,
	BLOCK_UNITS = UMR_KLM_BLOCK / WQE_SEG,
	LIST_MAX = 52,
};
static_assert((int)UMR_KLM_BLOCK == (int)WQE_BB && (int)UMR_MKEY_SIZE == (int)WQE_BB &&
		      (int)BSF_SIZE == (int)WQE_BB &&
		      (int)WQE_SEG + (int)UMR_CTRL_SIZE == (int)WQE_BB,
	      "the ring ends between two parts of a WQE");

WQE_INLINE uint32_t list_room(const struct mlx5_sq *sq)
{
	return sq->max_inline + (uint32_t)sizeof(struct mlx5_wqe_inl_data_seg);
}

WQE_INLINE uint8_t *next_block(const struct mlx5_sq *sq, uint8_t *block)
{
	block += WQE_BB;
	return unlikely(block == sq->end) ? sq->buf : block;
}

/* Returns the block after the first UNITS (16 bytes each) of the WQE at CTRL. UNITS are whole
 * blocks; the ring may wrap between blocks. */
WQE_INLINE uint8_t *block_behind(const struct mlx5_sq *sq, uint8_t *ctrl, uint32_t units)
{
	uint8_t *block = ctrl + units * WQE_SEG;

	return unlikely(block >= sq->end) ? sq->buf + (block - sq->end) : block;
}

WQE_INLINE uint8_t *list_block(const struct mlx5_sq *sq, uint8_t *ctrl)
{
	return block_behind(sq, ctrl, HEAD_UNITS);
}

/* ---- access rights ---- */

WQE_INLINE bool access_is_known(uint32_t access)
{
	return likely(access <= ACCESS_KNOWN);
}

/* ---- lists and patterns ---- */

/* Clears a block before entries are written to it. PRM: the translation of a key is a list of
 * entries in whole blocks, with unused entries 0. Two blocks precede the list, so the ring wraps
 * only between blocks. */
WQE_INLINE void clear_block(uint8_t *block)
{
	clear_32(block);
	clear_32(block + 32);
}

static inline void layout_close(struct mkey_request *request, uint32_t count, uint64_t bytes)
{
	request->list_units = (uint32_t)align_up(count, BLOCK_UNITS);
	request->length = bytes;
}

/* Returns whether a list of BYTES takes the fast path: it is not empty, fits into one block, and
 * leaves room for two BSF blocks before the end of the ring. */
WQE_INLINE bool list_is_usual(const struct mlx5_sq *sq, const uint8_t *block, uint32_t bytes,
			      uint8_t usual_bytes)
{
	return likely(bytes - 1 < usual_bytes && block + 3 * (size_t)WQE_BB <= sq->end);
}

/* Writes a list of the fast path into its block. Returns false if an SGE may be too long for an
 * entry: then the slow path checks each SGE, and may write the list again. */
WQE_INLINE bool put_usual_list(struct mkey_request *request, uint8_t *block, uint32_t list_bytes,
			       const struct ibv_sge *sge)
{
	uint64_t bytes = 0;
	size_t at = 0;

	static_assert(sizeof(*sge) == WQE_SEG, "an entry is as long as a piece");
	clear_block(block);
	/* SGEs and entries have the same size, so one index serves both. */
	do {
		const struct ibv_sge *piece = (const void *)((const uint8_t *)sge + at);

		seg_put_sge(block + at, piece);
		bytes += piece->length;
		at += WQE_SEG;
	} while (at != list_bytes);
	request->length = bytes;
	return likely(bytes < KLM_LEN_MAX); /* a piece of exactly KLM_LEN_MAX takes the slow path */
}

/* Writes a list. Returns false if an SGE may be too long for an entry: then the caller checks each
 * SGE, and the list is right if all fit. */
static inline bool put_list(const struct mlx5_sq *sq, struct mkey_request *request, uint16_t count,
			    const struct ibv_sge *sge)
{
	const struct ibv_sge *const end = sge + count;
	uint8_t *block = list_block(sq, request->ctrl);
	uint32_t lengths = 0;
	uint64_t bytes = 0;

	while (sge < end) {
		const uint8_t *const block_end = block + UMR_KLM_BLOCK;
		uint8_t *seg = block;

		clear_block(block);
		do {
			seg_put_sge(seg, sge);
			lengths |= sge->length;
			bytes += sge->length;
			seg += WQE_SEG;
		} while (++sge < end && seg < block_end);
		block = next_block(sq, block);
	}
	layout_close(request, count, bytes);
	return likely(lengths <= KLM_LEN_MAX);
}

WQE_INLINE void put_pattern_head(uint8_t *seg, uint32_t repeats, uint16_t count, uint32_t bytes)
{
	seg_put_pair(seg, bytes, PATTERN_OP_REPEAT);
	seg_put_pair(seg + FLD_BYTE(PATTERN_REPEATS), repeats, count);
}

#ifdef __AVX__
/* Sums over the parts of a pattern, valid if all parts fit their fields. The lowest 32 bits of
 * BYTES have the byte sum. The lowest two words of FIT collect the bits that must be 0. */
struct pattern_sums {
	__m128i bytes, fit;
};

WQE_INLINE void put_part(uint8_t *seg, const struct mlx5dv_mr_interleaved *part,
			 struct pattern_sums *sums)
{
	/* Shuffle order of the first half of an entry. The source is the part, with the gap
	 * replaced by the stride. */
	const __m128i order =
		_mm_setr_epi8(5, 4, 1, 0, 11, 10, 9, 8, -1, -1, -1, -1, -1, -1, -1, -1);
	const __m128i given = _mm_loadu_si128((const __m128i *)&part->bytes_count);
	const __m128i stride = _mm_add_epi32(given, _mm_slli_epi64(given, 32));

	static_assert(offsetof(struct mlx5dv_mr_interleaved, bytes_skip) ==
				      offsetof(struct mlx5dv_mr_interleaved, bytes_count) + 4 &&
			      offsetof(struct mlx5dv_mr_interleaved, lkey) ==
				      offsetof(struct mlx5dv_mr_interleaved, bytes_count) + 8 &&
			      sizeof(*part) ==
				      offsetof(struct mlx5dv_mr_interleaved, bytes_count) + 16,
		      "bytes_count, bytes_skip, lkey, and four bytes that are nothing");
	_mm_storel_epi64((__m128i *)seg, _mm_shuffle_epi8(stride, order));
	seg_put_be64(seg + offsetof(struct data_seg, addr), part->addr);
	sums->bytes = _mm_add_epi32(sums->bytes, given);
	sums->fit = _mm_or_si128(sums->fit, _mm_or_si128(given, stride));
}

WQE_INLINE uint64_t pattern_bytes(const struct pattern_sums *sums)
{
	return (uint32_t)_mm_cvtsi128_si32(sums->bytes);
}

WQE_INLINE bool strides_fit(const struct pattern_sums *sums)
{
	return likely(_mm_testz_si128(sums->fit, _mm_setr_epi32(~UINT16_MAX, ~UINT16_MAX, 0, 0)));
}
#else
struct pattern_sums {
	uint64_t bytes, strides;
};

WQE_INLINE void put_part(uint8_t *seg, const struct mlx5dv_mr_interleaved *part,
			 struct pattern_sums *sums)
{
	const uint64_t stride = (uint64_t)part->bytes_count + part->bytes_skip;

	seg_put_data(seg, (uint32_t)stride << FLD_SHIFT(PATTERN_ENTRY_STRIDE) | part->bytes_count,
		     part->lkey, part->addr);
	sums->bytes += part->bytes_count;
	sums->strides |= stride;
}

WQE_INLINE uint64_t pattern_bytes(const struct pattern_sums *sums)
{
	return sums->bytes;
}

WQE_INLINE bool strides_fit(const struct pattern_sums *sums)
{
	return likely(sums->strides <= UINT16_MAX);
}
#endif

/* Writes a pattern. Returns false if a part may be too long, as put_list() does. */
static inline bool put_pattern(const struct mlx5_sq *sq, struct mkey_request *request,
			       uint32_t repeats, uint16_t count,
			       const struct mlx5dv_mr_interleaved *part)
{
	const struct mlx5dv_mr_interleaved *const end = part + count;
	uint8_t *const first = list_block(sq, request->ctrl), *block = first, *seg = first;
	struct pattern_sums sums = { 0 };

	clear_block(block);
	for (; part < end; part++) {
		seg += WQE_SEG;
		if (seg == block + UMR_KLM_BLOCK) {
			seg = block = next_block(sq, block);
			clear_block(block);
		}
		put_part(seg, part, &sums);
	}
	put_pattern_head(first, repeats, count, (uint32_t)pattern_bytes(&sums));
	layout_close(request, count + 1u, pattern_bytes(&sums) * repeats);
	return strides_fit(&sums);
}

WQE_INLINE bool pattern_is_usual(const struct mlx5_sq *sq, const uint8_t *first, uint32_t count)
{
	return likely(first + align_up(count + 1, BLOCK_UNITS) * WQE_SEG <= sq->end);
}

WQE_INLINE bool put_usual_pattern(struct mkey_request *request, uint8_t *first, uint32_t repeats,
				  uint32_t count, const struct mlx5dv_mr_interleaved *part)
{
	const uint32_t units = (uint32_t)align_up(count + 1, BLOCK_UNITS);
	uint8_t *const end = first + (count + 1) * WQE_SEG;
	struct pattern_sums sums = { 0 };

	clear_block(first + (units - BLOCK_UNITS) * WQE_SEG);
	for (uint8_t *seg = first + WQE_SEG; seg < end; seg += WQE_SEG)
		put_part(seg, part++, &sums);
	put_pattern_head(first, repeats, (uint16_t)count, (uint32_t)pattern_bytes(&sums));
	request->list_units = units;
	request->length = pattern_bytes(&sums) * repeats;
	return strides_fit(&sums);
}

#endif

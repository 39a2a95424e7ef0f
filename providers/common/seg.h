/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * seg.h - writes segments of WQEs, 8 or 16 bytes at a time. send_wqe.h and scatter.h use it.
 *
 * A BlueFlame copy reads the WQE back at once: the first half in 8-byte loads, the rest in 16-byte
 * loads (doorbell.h). A CPU forwards a recent store to a load only if that single store covers the
 * load; after two stores of 4 bytes, the load would wait until both are in the cache.
 */
#ifndef PROVIDERS_COMMON_SEG_H
#define PROVIDERS_COMMON_SEG_H

#include <assert.h>
#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#ifdef __AVX__
#include <immintrin.h>
#elif defined(__SSSE3__)
#include <tmmintrin.h>
#endif

#include <linux/types.h>

#include <infiniband/verbs.h>

#include "util/bits.h"

#define SEG_INLINE __attribute__((always_inline)) static inline

/* PRM: Data Segment, pointer: a buffer of a request. The same in all ConnectX adapters. */
struct data_seg {
	__be32 byte_count; /* 0 means 2 GiB, so an empty buffer cannot be written */
	__be32 lkey;
	__be64 addr;
};
static_assert(sizeof(struct data_seg) == 16, "PRM: Data Segment");

#define DATA_SEG_LKEY_END 0x100 /* PRM: key that ends a list shorter than its WQE */

SEG_INLINE void seg_put_be64(void *at, uint64_t value)
{
	__be64 raw = htobe64(value);

	memcpy(at, &raw, sizeof(raw));
}

SEG_INLINE void seg_put_raw(void *at, uint64_t raw)
{
	memcpy(at, &raw, sizeof(raw));
}

SEG_INLINE void seg_put_pair(void *at, uint32_t first, uint32_t second)
{
	seg_put_be64(at, (uint64_t)first << 32 | second);
}

SEG_INLINE void seg_put_raw_pair(void *at, __be32 first, __be32 second)
{
	uint64_t raw = side_by_side(first, second);

	memcpy(at, &raw, sizeof(raw));
}

SEG_INLINE void seg_put_data(void *at, uint32_t length, uint32_t lkey, uint64_t addr)
{
	seg_put_pair(at, length, lkey);
	seg_put_be64((uint8_t *)at + offsetof(struct data_seg, addr), addr);
}

static_assert(offsetof(struct ibv_sge, length) == 8 && offsetof(struct ibv_sge, lkey) == 12,
	      "struct ibv_sge: addr, length, lkey");

#ifdef __SSSE3__
SEG_INLINE void seg_put_sge(void *at, const struct ibv_sge *sge)
{
	/* Byte order of the segment: swaps length, lkey and addr. */
	const __m128i order = _mm_setr_epi8(11, 10, 9, 8, 15, 14, 13, 12, 7, 6, 5, 4, 3, 2, 1, 0);

	_mm_storeu_si128((__m128i *)at,
			 _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)sge), order));
}

#ifdef __AVX__
/* An SGE in a vector register, where it can be tested for emptiness without another register. */
typedef __m128i seg_sge;

SEG_INLINE seg_sge seg_load_sge(const struct ibv_sge *sge)
{
	return _mm_loadu_si128((const __m128i *)sge);
}

/* Does what seg_put_sge() does, by one store to an aligned address. volatile keeps the order of
 * such stores, because a piece's first word must come last. */
SEG_INLINE void seg_store_sge(void *at, seg_sge sge)
{
	const __m128i order = _mm_setr_epi8(11, 10, 9, 8, 15, 14, 13, 12, 7, 6, 5, 4, 3, 2, 1, 0);

	*(volatile __m128i *)at = _mm_shuffle_epi8(sge, order);
}

/* Returns an SGE that is empty if one of the two is, so that several can be tested at once. */
SEG_INLINE seg_sge seg_least(seg_sge a, seg_sge b)
{
	return _mm_min_epu32(a, b);
}

SEG_INLINE bool seg_has_bytes(seg_sge sge)
{
	const __m128i length = _mm_setr_epi32(0, 0, -1, 0); /* struct ibv_sge: addr, length, lkey */

	return !_mm_testz_si128(sge, length);
}

SEG_INLINE void seg_put_loaded(void *at, seg_sge sge)
{
	const __m128i order = _mm_setr_epi8(11, 10, 9, 8, 15, 14, 13, 12, 7, 6, 5, 4, 3, 2, 1, 0);

	_mm_storeu_si128((__m128i *)at, _mm_shuffle_epi8(sge, order));
}
#endif
#else
/* Writes the SGE to any address. Loads its length and key by one 8-byte load. */
SEG_INLINE void seg_put_sge(void *at, const struct ibv_sge *sge)
{
	uint64_t length_lkey;

	memcpy(&length_lkey, &sge->length, sizeof(length_lkey));
#if __BYTE_ORDER == __LITTLE_ENDIAN
	length_lkey = length_lkey << 32 | length_lkey >> 32;
#endif
	seg_put_be64(at, length_lkey);
	seg_put_be64((uint8_t *)at + offsetof(struct data_seg, addr), sge->addr);
}
#endif

#ifndef __AVX__
typedef const struct ibv_sge *seg_sge;

SEG_INLINE seg_sge seg_load_sge(const struct ibv_sge *sge)
{
	return sge;
}

SEG_INLINE bool seg_has_bytes(seg_sge sge)
{
	return sge->length;
}

SEG_INLINE void seg_put_loaded(void *at, seg_sge sge)
{
	seg_put_sge(at, sge);
}
#endif

SEG_INLINE void copy_8_to_16(uint8_t *to, const uint8_t *from, uint32_t len)
{
	memcpy(to, from, 8);
	/* may overlap the first 8: two fixed stores cost less than a loop over the rest */
	memcpy(to + len - 8, from + len - 8, 8);
}

/* Copies up to 32 bytes inline, without touching other bytes; takes fewer instructions than a
 * call. */
SEG_INLINE void copy_up_to_32(uint8_t *to, const uint8_t *from, uint32_t len)
{
	if (len >= 16) {
		memcpy(to, from, 16);
		/* The last 16 bytes may overlap the first, which saves a copy of the exact rest. */
		memcpy(to + len - 16, from + len - 16, 16);
	} else if (len >= 8) {
		memcpy(to, from, 8);
		memcpy(to + len - 8, from + len - 8, 8);
	} else if (len >= 4) {
		memcpy(to, from, 4);
		memcpy(to + len - 4, from + len - 4, 4);
	} else if (len) {
		to[0] = from[0];
		to[len / 2] = from[len / 2];
		to[len - 1] = from[len - 1];
	}
}

#define COPY_SMALL_MAX 64

SEG_INLINE void copy_small(uint8_t *to, const uint8_t *from, uint32_t len)
{
	if (len < 16) {
		copy_up_to_32(to, from, len);
		return;
	}
	memcpy(to, from, 16);
	if (len > 32)
		memcpy(to + 16, from + 16, 16);
	if (len > 48)
		memcpy(to + 32, from + 32, 16);
	memcpy(to + len - 16, from + len - 16, 16);
}

/* An explicit vector type makes the compiler use the widest registers, which it does not choose for
 * memcpy() at this optimisation level. */
#ifdef __AVX__
typedef long long seg_wide __attribute__((vector_size(32), aligned(1), may_alias));
#endif

SEG_INLINE void copy_32(uint8_t *to, const uint8_t *from)
{
#ifdef __AVX__
	*(seg_wide *)to = *(const seg_wide *)from;
#else
	memcpy(to, from, 16);
	memcpy(to + 16, from + 16, 16);
#endif
}

SEG_INLINE void clear_32(uint8_t *to)
{
#ifdef __AVX__
	*(seg_wide *)to = (seg_wide){ 0 };
#else
	memset(to, 0, 32);
#endif
}

SEG_INLINE void copy_64(uint8_t *to, const uint8_t *from)
{
	copy_32(to, from);
	copy_32(to + 32, from + 32);
}

/* Copies more than COPY_SMALL_MAX bytes inline, for code that must not call functions. */
SEG_INLINE void copy_large(uint8_t *to, const uint8_t *from, uint32_t len)
{
	uint8_t *const to_last = to + len - 64;
	const uint8_t *const from_last = from + len - 64;

	do {
		copy_64(to, from);
		to += 64;
		from += 64;
		/* keeps two pointers, which is cheaper than one with an index */
		__asm__("" : "+r"(to), "+r"(from));
	} while (to < to_last);
	copy_64(to_last, from_last); /* may overlap bytes already copied */
}

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * bits.h - integer and address arithmetic that C leaves out. Every macro evaluates its arguments
 * once.
 */
#ifndef UTIL_BITS_H
#define UTIL_BITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

#define container_of(ptr, type, member) \
	((type *)((char *)(1 ? (ptr) : &((type *)0)->member) - offsetof(type, member)))

#define min_of(a, b)                               \
	({                                         \
		__auto_type min_a_ = (a);          \
		__auto_type min_b_ = (b);          \
		min_a_ < min_b_ ? min_a_ : min_b_; \
	})
#define max_of(a, b)                               \
	({                                         \
		__auto_type max_a_ = (a);          \
		__auto_type max_b_ = (b);          \
		max_a_ > max_b_ ? max_a_ : max_b_; \
	})

static inline bool is_pow2(uint64_t n)
{
	return n && !(n & (n - 1));
}

static inline unsigned int log2_floor(uint64_t n)
{
	return 63 - (unsigned int)__builtin_clzll(n);
}

static inline unsigned int log2_ceil(uint64_t n)
{
	return n == 1 ? 0 : log2_floor(n - 1) + 1;
}

/* Returns the smallest power of two >= n, which is 1 for 0; n <= 2^63. */
static inline uint64_t pow2_ceil(uint64_t n)
{
	return n <= 1 ? 1 : UINT64_C(1) << log2_ceil(n);
}

/* Returns the 8 bytes that hold FIRST at the lower address and SECOND behind it, so that one 8-byte
 * store writes both. */
static inline uint64_t side_by_side(uint32_t first, uint32_t second)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	return (uint64_t)second << 32 | first;
#else
	return (uint64_t)first << 32 | second;
#endif
}

static inline uint64_t align_up(uint64_t n, uint64_t align)
{
	return (n + align - 1) & ~(align - 1);
}

#endif

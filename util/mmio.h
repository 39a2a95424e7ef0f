/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * mmio.h - stores to mapped device registers: each happens once, whole, and in program order with
 * other mmio_ stores. Order against memory is barrier.h's business.
 * Threads that share a register may store to it at the same time; mmio_copy_wc() is for one at a
 * time.
 */
#ifndef UTIL_MMIO_H
#define UTIL_MMIO_H

#include <stddef.h>
#include <stdint.h>
#include <linux/types.h>

static inline void mmio_store_be32(void *reg, __be32 value)
{
	__atomic_store_n((volatile __be32 *)reg, value, __ATOMIC_RELAXED);
}

static inline void mmio_store_be64(void *reg, __be64 value)
{
	__atomic_store_n((volatile __be64 *)reg, value, __ATOMIC_RELAXED);
}

/* Copy SIZE bytes, a multiple of 64, to write-combining registers in ascending order. Both are
 * 8-byte aligned. */
static inline void mmio_copy_wc(void *reg, const void *data, size_t size)
{
	volatile uint64_t *to = reg;
	const uint64_t *from = data;

	for (size_t i = 0; i < size / 8; i += 8) {
		to[i + 0] = from[i + 0];
		to[i + 1] = from[i + 1];
		to[i + 2] = from[i + 2];
		to[i + 3] = from[i + 3];
		to[i + 4] = from[i + 4];
		to[i + 5] = from[i + 5];
		to[i + 6] = from[i + 6];
		to[i + 7] = from[i + 7];
	}
}

#endif

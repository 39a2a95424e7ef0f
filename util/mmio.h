/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * mmio.h - stores to mapped device registers: each happens once, whole, and in program order with
 * other mmio_ stores. Order against memory is barrier.h's business.
 * Threads that share a register may store to it at the same time; mmio_copy_wc_*() are for one at a
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

/* Copies 32 bytes to write-combining registers in ascending order. Both are 8-byte aligned. */
static inline void mmio_copy_wc_32(void *reg, const void *data)
{
	volatile uint64_t *to = reg;
	const uint64_t *from = data;

	to[0] = from[0];
	to[1] = from[1];
	to[2] = from[2];
	to[3] = from[3];
}

/* Does the same with fewer and wider stores, where the CPU has them. */
static inline void mmio_copy_wc_32_wide(void *reg, const void *data)
{
#ifdef __SSE2__
	typedef long long two __attribute__((vector_size(16), aligned(8), may_alias));
	volatile two *to = reg;
	const two *from = data;

	to[0] = from[0];
	to[1] = from[1];
#else
	mmio_copy_wc_32(reg, data);
#endif
}

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * mmio.h - stores to mapped device registers: each happens once, whole, and in program order with
 * other mmio_ stores. Order against memory is barrier.h's business.
 *
 * Threads that share a register may store to it at the same time; mmio_copy_wc_*() are for one at a
 * time. Not every CPU can store 8 bytes at once, or store to a register at all by an ordinary
 * instruction: mmio.c has what those need.
 * Decision: docs/adr/0012.
 */
#ifndef UTIL_MMIO_H
#define UTIL_MMIO_H

#include <stddef.h>
#include <stdint.h>
#include <linux/types.h>

/* MMIO_STORES_64 says whether a store of 8 bytes is one access to the register; where it is not,
 * copies are torn, too, and not to be used. CPUs of 64 bits have it, however large a pointer is.
 * i386 has it in its floating-point unit (Intel SDM vol. 3, "Guaranteed Atomic Operations"). ARMv7
 * has none: LDRD and STRD are whole only in memory, and with the Large Physical Address Extension
 * (DDI 0406C, A3.5.3); the compiler's atomic store is a loop of exclusives, which registers need
 * not support. */
#if __SIZEOF_POINTER__ == 8 || defined(__x86_64__) || defined(__aarch64__) || defined(__i386__)
#define MMIO_STORES_64 1
#else
#define MMIO_STORES_64 0
#endif

/* MMIO_IS_APART says whether registers want other instructions than memory: on z/Architecture,
 * those of PCI. Pages that are read and written without the functions of this file (device memory,
 * the clock) are out of reach there. */
#ifdef __s390x__
#define MMIO_IS_APART 1
#else
#define MMIO_IS_APART 0
#endif

#if MMIO_IS_APART
void verbs_mmio_write(void *reg, const void *data, size_t length);

static inline void mmio_store_be64(void *reg, __be64 value)
{
	verbs_mmio_write(reg, &value, sizeof(value));
}
#elif MMIO_STORES_64
/* On i386 a __be64 is aligned to 4, and of such a one clang makes a call that may take a lock. */
typedef __be64 __attribute__((aligned(8))) mmio_be64;

static inline void mmio_store_be64(void *reg, __be64 value)
{
	__atomic_store_n((volatile mmio_be64 *)reg, value, __ATOMIC_RELAXED);
}
#else
void verbs_mmio_store_halves(void *reg, __be64 value);

static inline void mmio_store_be64(void *reg, __be64 value)
{
	verbs_mmio_store_halves(reg, value);
}
#endif

/* A register of 4 bytes, which threads may write at once */
#if MMIO_IS_APART
static inline void mmio_store_be32(void *reg, __be32 value)
{
	verbs_mmio_write(reg, &value, sizeof(value));
}
#else
static inline void mmio_store_be32(void *reg, __be32 value)
{
	__atomic_store_n((volatile __be32 *)reg, value, __ATOMIC_RELAXED);
}
#endif

/* Copy 64 bytes to write-combining registers, in ascending order where that takes several stores.
 * Both are aligned to 64. Of the _fresh form's DATA, the first half has just been written, 8 bytes
 * at a time: a CPU forwards that only to loads that are no wider. Of the _wide form's, nothing has
 * been written by narrow stores but its first word. */
#if MMIO_IS_APART
static inline void mmio_copy_wc_64(void *reg, const void *data)
{
	verbs_mmio_write(reg, data, 64);
}

static inline void mmio_copy_wc_64_fresh(void *reg, const void *data)
{
	mmio_copy_wc_64(reg, data);
}

static inline void mmio_copy_wc_64_wide(void *reg, const void *data)
{
	mmio_copy_wc_64(reg, data);
}
#elif defined(__aarch64__)
/* A CPU that gathers stores may give up when they are narrow, or when others come between them: one
 * instruction stores all four registers of 16 bytes, and no compiler splits it. */
static inline void mmio_copy_wc_64(void *reg, const void *data)
{
	struct burst {
		uint8_t bytes[64];
	};

	__asm__ volatile("ld1 {v0.2d-v3.2d}, [%[data]]\n\t"
			 "st1 {v0.2d-v3.2d}, [%[reg]]"
			 : "=m"(*(struct burst *)reg)
			 : "m"(*(const struct burst *)data), [data] "r"(data), [reg] "r"(reg)
			 : "v0", "v1", "v2", "v3");
}

/* A load that waits for narrow stores costs less than a burst that falls apart. */
static inline void mmio_copy_wc_64_fresh(void *reg, const void *data)
{
	mmio_copy_wc_64(reg, data);
}

static inline void mmio_copy_wc_64_wide(void *reg, const void *data)
{
	mmio_copy_wc_64(reg, data);
}
#else
static inline void mmio_copy_wc_32(void *reg, const void *data)
{
#ifdef __i386__
	/* Not by the integer unit, which has two stores for each. */
	for (int i = 0; i < 4; i++)
		mmio_store_be64((uint64_t *)reg + i, ((const __be64 *)data)[i]);
#else
	volatile uint64_t *to = reg;
	const uint64_t *from = data;

	to[0] = from[0];
	to[1] = from[1];
	to[2] = from[2];
	to[3] = from[3];
#endif
}

/* The same with fewer and wider stores, where the CPU has them. */
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

static inline void mmio_copy_wc_64(void *reg, const void *data)
{
	mmio_copy_wc_32_wide(reg, data);
	mmio_copy_wc_32_wide((uint8_t *)reg + 32, (const uint8_t *)data + 32);
}

static inline void mmio_copy_wc_64_fresh(void *reg, const void *data)
{
	mmio_copy_wc_32(reg, data);
	mmio_copy_wc_32_wide((uint8_t *)reg + 32, (const uint8_t *)data + 32);
}

static inline void mmio_copy_wc_64_wide(void *reg, const void *data)
{
#ifdef __AVX__
	typedef long long four __attribute__((vector_size(32), aligned(8), may_alias));
	volatile four *to = reg;
	const four *from = data;

	to[0] = from[0];
	to[1] = from[1];
#else
	mmio_copy_wc_64(reg, data);
#endif
}
#endif

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * mmio.h - stores to mapped device registers: each happens once, whole, and in program order with
 * other mmio_ stores. barrier.h orders them against memory. mmio_load_be32() reads one.
 *
 * Threads that share a register may store to it at the same time; mmio_copy_wc_*() need one thread
 * at a time. Some CPUs cannot store 8 bytes at once, or reach a register with an ordinary
 * instruction: mmio.c has functions for those.
 * Decision: docs/adr/0012.
 */
#ifndef UTIL_MMIO_H
#define UTIL_MMIO_H

#include <stddef.h>
#include <stdint.h>
#include <linux/types.h>

/* MMIO_STORES_64: whether a store of 8 bytes is one access to the register. Where it is not, copies
 * are torn, too, and must not be used. CPUs of 64 bits have it, whatever the size of a pointer.
 * i386 has it in its floating-point unit (Intel SDM vol. 3, "Guaranteed Atomic Operations"). ARMv7
 * has none: LDRD and STRD are single accesses only in memory, and only with the Large Physical
 * Address Extension (DDI 0406C, A3.5.3). The compiler's atomic store is a loop of exclusives, which
 * registers need not support. */
#if __SIZEOF_POINTER__ == 8 || defined(__x86_64__) || defined(__aarch64__) || defined(__i386__)
#define MMIO_STORES_64 1
#else
#define MMIO_STORES_64 0
#endif

/* MMIO_IS_APART: whether registers need special instructions, as on z/Architecture for PCI. There,
 * code that accesses a page without the functions of this file (device memory, the clock) does not
 * work. */
#ifdef __s390x__
#define MMIO_IS_APART 1
#else
#define MMIO_IS_APART 0
#endif

#if MMIO_IS_APART
void verbs_mmio_write(void *reg, const void *data, size_t length);
void verbs_mmio_read(const void *reg, void *data, size_t length);

static inline void mmio_store_be64(void *reg, __be64 value)
{
	verbs_mmio_write(reg, &value, sizeof(value));
}
#elif MMIO_STORES_64
/* On i386 a __be64 is aligned to 4 bytes only; clang stores such an object through a library call
 * that may take a lock. */
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

/* Stores to a register of 4 bytes. Several threads may store to the same register. */
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

/* Loads a register of 4 bytes. A register of a removed adapter reads as all ones. */
#if MMIO_IS_APART
static inline __be32 mmio_load_be32(const void *reg)
{
	__be32 value;

	verbs_mmio_read(reg, &value, sizeof(value));
	return value;
}
#else
static inline __be32 mmio_load_be32(const void *reg)
{
	return __atomic_load_n((const volatile __be32 *)reg, __ATOMIC_RELAXED);
}
#endif

/* Copy 64 bytes to write-combining registers, in ascending order if that takes several stores. Both
 * sides are aligned to 64 bytes. The variants differ in how DATA has just been written, because a
 * CPU forwards a store only to loads that are no wider. _fresh: stores of 8 bytes wrote the first
 * half. _wide: wide stores wrote everything but the first word. */
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
/* A CPU that gathers stores may flush early if they are narrow, or if other stores come between.
 * One instruction stores all four registers of 16 bytes, and no compiler splits it. */
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

/* Copies with one burst as well: a load that waits for narrow stores costs less than a split
 * burst. */
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
	/* The integer unit would take two stores for each. */
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

/* Copies 32 bytes with fewer, wider stores, if the CPU has them. */
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

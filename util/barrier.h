/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * barrier.h - order between this CPU and a device that reads and writes coherent memory and has
 * mapped registers.
 *
 * Each function is also a compiler barrier. x86-64 keeps stores to ordinary memory in order among
 * themselves and before stores to uncached registers, and keeps loads in order (Intel SDM vol. 3,
 * 9.2.2), so there only write-combining needs an instruction.
 */
#ifndef UTIL_BARRIER_H
#define UTIL_BARRIER_H

#if defined(__x86_64__)
#define DMA_STORE_FENCE ""
#define DMA_LOAD_FENCE  ""
#define WC_START_FENCE  "sfence"
#define WC_FLUSH_FENCE  "sfence"
#elif defined(__aarch64__)
#define DMA_STORE_FENCE "dmb oshst"
#define DMA_LOAD_FENCE  "dmb oshld"
#define WC_START_FENCE  "dmb oshst"
#define WC_FLUSH_FENCE  "dsb st"
#else
#error "barrier.h: say how this architecture orders accesses to device-visible memory"
#endif

/* Stores before this are visible to the device before stores after it: WQE, then doorbell record,
 * then register. */
static inline void dma_store_barrier(void)
{
	__asm__ volatile(DMA_STORE_FENCE ::: "memory");
}

/* Loads before this are done before loads after it: the ownership bit of a CQE, then its body. */
static inline void dma_load_barrier(void)
{
	__asm__ volatile(DMA_LOAD_FENCE ::: "memory");
}

/* Stores to memory before this are visible before write-combining stores after it (BlueFlame). */
static inline void wc_start_barrier(void)
{
	__asm__ volatile(WC_START_FENCE ::: "memory");
}

/* Write-combining stores before this leave the CPU now, and before any after it. */
static inline void wc_flush_barrier(void)
{
	__asm__ volatile(WC_FLUSH_FENCE ::: "memory");
}

#endif

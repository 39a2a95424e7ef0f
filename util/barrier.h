/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * barrier.h - order between this CPU and a device that reads and writes coherent memory and has
 * mapped registers.
 *
 * Each function is also a compiler barrier. An architecture is described by four lines below, with
 * the manual that says so. A CPU orders more in its own memory than towards a register: what orders
 * two stores to memory need not order memory before a register, so the two are told apart.
 * Decision: docs/adr/0012.
 */
#ifndef UTIL_BARRIER_H
#define UTIL_BARRIER_H

/* clang-format off */
#if defined(__x86_64__) || defined(__i386__)
/* Intel SDM vol. 3, "Memory Ordering in P6 and More Recent Processor Families": stores to
 * ordinary memory stay in order among themselves and before stores to uncached registers, and loads
 * stay in order. Only write-combining needs an instruction; each CPU with PCI Express has SSE's. */
#define DMA_STORE_FENCE ""
#define DMA_LOAD_FENCE  ""
#define WC_START_FENCE  "sfence"
#define WC_FLUSH_FENCE  "sfence"
#elif defined(__aarch64__)
/* Arm ARM (DDI 0487), B2.7 "Memory barriers": DMB orders what observers in the outer shareable
 * domain see, devices among them; DSB also waits until the stores have completed, so that nothing
 * stays in a buffer that gathers stores. */
#define DMA_STORE_FENCE "dmb oshst"
#define DMA_LOAD_FENCE  "dmb oshld"
#define WC_START_FENCE  "dmb oshst"
#define WC_FLUSH_FENCE  "dsb st"
#elif defined(__arm__)
/* Arm ARM for ARMv7-A (DDI 0406C), A3.8.3 "Memory barriers": the same two, without a form of DMB
 * for loads. ARMv6 and older have them as coprocessor operations, and no PCI Express. */
#if __ARM_ARCH < 7
#error "barrier.h: the instructions DMB and DSB come with ARMv7"
#endif
#define DMA_STORE_FENCE "dmb oshst"
#define DMA_LOAD_FENCE  "dmb osh"
#define WC_START_FENCE  "dmb oshst"
#define WC_FLUSH_FENCE  "dsb st"
#elif defined(__powerpc64__)
/* Power ISA 3.1, Book II 1.7 "Shared Storage" and 4.6.3 "Memory Barrier Instructions": lwsync
 * orders loads with loads, loads with stores and stores with stores, but only in memory that is
 * cached; sync orders it with registers, too, and ends the gathering of stores. */
#define DMA_STORE_FENCE "lwsync"
#define DMA_LOAD_FENCE  "lwsync"
#define WC_START_FENCE  "sync"
#define WC_FLUSH_FENCE  "sync"
#elif defined(__s390x__)
/* z/Architecture Principles of Operation (SA22-7832), "Sequence of Storage References": other CPUs
 * and the channel subsystem see fetches in order and stores in order. BCR 15,0 serializes: all that
 * comes before it has completed. */
#define DMA_STORE_FENCE ""
#define DMA_LOAD_FENCE  ""
#define WC_START_FENCE  "bcr 15,0"
#define WC_FLUSH_FENCE  "bcr 15,0"
#elif defined(__riscv)
/* RISC-V ISA vol. I, "Memory Ordering Instructions": FENCE tells memory (r, w) from devices (i, o).
 * Vol. II, "Svpbmt": a page of registers that is mapped as non-cacheable memory, which is where
 * stores combine, counts as both. Nothing says when stores leave: a fence is what there is. */
#define DMA_STORE_FENCE "fence w, w"
#define DMA_LOAD_FENCE  "fence r, rw"
#define WC_START_FENCE  "fence w, ow"
#define WC_FLUSH_FENCE  "fence ow, ow"
#elif defined(__loongarch__)
/* LoongArch Reference Manual vol. 1, 2.2.8.1 "DBAR": hint 0 waits until all accesses before it have
 * completed, and every CPU has it; hints with bit 4 only order, and bits 3 to 0 leave out, in turn,
 * loads before, stores before, loads after and stores after. CPUs without them do as for 0. */
#define DMA_STORE_FENCE "dbar 0x1a"
#define DMA_LOAD_FENCE  "dbar 0x14"
#define WC_START_FENCE  "dbar 0"
#define WC_FLUSH_FENCE  "dbar 0"
#else
#error "barrier.h: say how this architecture orders accesses to device-visible memory"
#endif
/* clang-format on */

/* Stores before this are visible to the device before stores after it: WQE, then doorbell record,
 * then register. */
static inline void dma_store_barrier(void)
{
	__asm__ volatile(DMA_STORE_FENCE ::: "memory");
}

/* Loads before this are done before loads and stores after it: the ownership bit of a CQE, then its
 * body; the body, then the record that gives the entry back. */
static inline void dma_load_barrier(void)
{
	__asm__ volatile(DMA_LOAD_FENCE ::: "memory");
}

/* Stores to memory before this are visible before stores to registers after it: plain ones, and
 * those that combine (BlueFlame). */
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

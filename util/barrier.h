/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * barrier.h - order between this CPU and a device that reads and writes coherent memory and has
 * mapped registers.
 *
 * Each function is also a compiler barrier. Four lines below describe an architecture and cite its
 * manual. Memory and registers have different barriers: an instruction that orders two stores to
 * memory need not order a store to memory before one to a register.
 * Decision: docs/adr/0012.
 */
#ifndef UTIL_BARRIER_H
#define UTIL_BARRIER_H

/* clang-format off */
#if defined(__x86_64__) || defined(__i386__)
/* Intel SDM vol. 3, "Memory Ordering in P6 and More Recent Processor Families": stores to ordinary
 * memory stay in order among themselves and before stores to uncached registers, and loads stay in
 * order. Only write-combining stores need an instruction: SFENCE, which every CPU with PCI Express
 * has. */
#define DMA_STORE_FENCE ""
#define DMA_LOAD_FENCE  ""
#define WC_START_FENCE  "sfence"
#define WC_FLUSH_FENCE  "sfence"
#elif defined(__aarch64__)
/* Arm ARM (DDI 0487), B2.7 "Memory barriers": DMB orders accesses for all observers in the outer
 * shareable domain, devices among them. DSB also waits until the stores have completed, so that
 * none stays in a store-gathering buffer. */
#define DMA_STORE_FENCE "dmb oshst"
#define DMA_LOAD_FENCE  "dmb oshld"
#define WC_START_FENCE  "dmb oshst"
#define WC_FLUSH_FENCE  "dsb st"
#elif defined(__arm__)
/* Arm ARM for ARMv7-A (DDI 0406C), A3.8.3 "Memory barriers": as on AArch64, but DMB has no form for
 * loads alone. ARMv6 and older have no PCI Express; their barriers are coprocessor operations. */
#if __ARM_ARCH < 7
#error "barrier.h: the instructions DMB and DSB come with ARMv7"
#endif
#define DMA_STORE_FENCE "dmb oshst"
#define DMA_LOAD_FENCE  "dmb osh"
#define WC_START_FENCE  "dmb oshst"
#define WC_FLUSH_FENCE  "dsb st"
#elif defined(__powerpc64__)
/* Power ISA 3.1, Book II 1.7 "Shared Storage" and 4.6.3 "Memory Barrier Instructions": lwsync
 * orders loads with loads, loads with stores and stores with stores, but only in cached memory.
 * sync also orders memory and registers, and ends store gathering. */
#define DMA_STORE_FENCE "lwsync"
#define DMA_LOAD_FENCE  "lwsync"
#define WC_START_FENCE  "sync"
#define WC_FLUSH_FENCE  "sync"
#elif defined(__s390x__)
/* z/Architecture Principles of Operation (SA22-7832), "Sequence of Storage References": other CPUs
 * and the channel subsystem see fetches in order and stores in order. BCR 15,0 serializes: it waits
 * until all earlier accesses have completed. */
#define DMA_STORE_FENCE ""
#define DMA_LOAD_FENCE  ""
#define WC_START_FENCE  "bcr 15,0"
#define WC_FLUSH_FENCE  "bcr 15,0"
#elif defined(__riscv)
/* RISC-V ISA vol. I, "Memory Ordering Instructions": FENCE has separate bits for memory (r, w) and
 * devices (i, o). Vol. II, "Svpbmt": a page of registers mapped as non-cacheable memory, where
 * stores combine, counts as both. No instruction flushes combined stores, so a fence must do. */
#define DMA_STORE_FENCE "fence w, w"
#define DMA_LOAD_FENCE  "fence r, rw"
#define WC_START_FENCE  "fence w, ow"
#define WC_FLUSH_FENCE  "fence ow, ow"
#elif defined(__loongarch__)
/* LoongArch Reference Manual vol. 1, 2.2.8.1 "DBAR": hint 0 waits until all earlier accesses have
 * completed; every CPU has it. Hints with bit 4 set only order accesses; bits 3 to 0 exempt earlier
 * loads, earlier stores, later loads and later stores. A CPU without these hints treats them as
 * hint 0. */
#define DMA_STORE_FENCE "dbar 0x1a"
#define DMA_LOAD_FENCE  "dbar 0x14"
#define WC_START_FENCE  "dbar 0"
#define WC_FLUSH_FENCE  "dbar 0"
#else
#error "barrier.h: say how this architecture orders accesses to device-visible memory"
#endif
/* clang-format on */

/* Makes earlier stores visible to the device before later ones: the WQE, then the doorbell record,
 * then the register. */
static inline void dma_store_barrier(void)
{
	__asm__ volatile(DMA_STORE_FENCE ::: "memory");
}

/* Completes earlier loads before later loads and stores: the ownership bit of a CQE, then its body;
 * the body, then the doorbell record that frees the entry. */
static inline void dma_load_barrier(void)
{
	__asm__ volatile(DMA_LOAD_FENCE ::: "memory");
}

/* Makes earlier stores to memory visible before later stores to registers, whether those are plain
 * or combine (BlueFlame). */
static inline void wc_start_barrier(void)
{
	__asm__ volatile(WC_START_FENCE ::: "memory");
}

/* Flushes earlier write-combining stores from the CPU, ahead of any later ones. */
static inline void wc_flush_barrier(void)
{
	__asm__ volatile(WC_FLUSH_FENCE ::: "memory");
}

#endif

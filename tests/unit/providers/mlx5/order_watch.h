/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * order_watch.h - replaces util/barrier.h: a data path compiled with this file reports each
 * barrier to the test. On a CPU with strong ordering the effect of a barrier is invisible, but its
 * presence and position are not.
 */
#ifndef UTIL_BARRIER_H
#define UTIL_BARRIER_H

enum order_barrier { DMA_STORE, DMA_LOAD, WC_START, WC_FLUSH };

void order_watch(enum order_barrier barrier);

#define ORDER_BARRIER(name, which)                 \
	static inline void name(void)              \
	{                                          \
		__asm__ volatile("" ::: "memory"); \
		order_watch(which);                \
		__asm__ volatile("" ::: "memory"); \
	}

ORDER_BARRIER(dma_store_barrier, DMA_STORE)
ORDER_BARRIER(dma_load_barrier, DMA_LOAD)
ORDER_BARRIER(wc_start_barrier, WC_START)
ORDER_BARRIER(wc_flush_barrier, WC_FLUSH)

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * order_watch.h - util/barrier.h as order.c sees it: the data path that is compiled with this file
 * in front tells the test of each barrier. What a barrier orders on a CPU cannot be seen on one
 * that keeps order by itself; that it is there, and between which stores, can be.
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

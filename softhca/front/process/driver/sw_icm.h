/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sw_icm.h - allocation of memory for table entries that programs write themselves, as mlx5_core
 * does it. Only the notification thread uses it.
 */
#ifndef SOFTHCA_FRONT_PROCESS_DRIVER_SW_ICM_H
#define SOFTHCA_FRONT_PROCESS_DRIVER_SW_ICM_H

#include <stdint.h>
#include <sys/queue.h>

struct adapter;

struct sw_icm {
	LIST_ENTRY(sw_icm) entry;
	uint64_t addr; /* in the adapter's own address space */
	uint64_t size; /* a power of two */
	uint32_t number;
};

LIST_HEAD(sw_icm_list, sw_icm);

enum sw_icm_area { SW_ICM_ENTRIES, SW_ICM_CHANGES, SW_ICM_PATTERNS };

/* Allocates at least LENGTH bytes aligned to 1 << LOG_ALIGN. Returns 0; EOPNOTSUPP if programs
 * cannot write table entries of this adapter; EINVAL if LENGTH is 0 or LOG_ALIGN above 63; or
 * ENOMEM. */
int sw_icm_alloc(struct adapter *adapter, enum sw_icm_area area, uint64_t length,
		 uint32_t log_align, struct sw_icm **block);
/* Frees a block. If a memory key still uses a part of the block, keeps the block's place taken, as
 * the key could otherwise write into a later block. */
void sw_icm_release(struct adapter *adapter, struct sw_icm *block);
void sw_icm_free(struct adapter *adapter);

#endif

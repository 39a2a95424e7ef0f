/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * device_memory.h - allocation of memory on the adapter, as mlx5_ib does it. Only the notification
 * thread uses it.
 */
#ifndef SOFTHCA_FRONT_PROCESS_DRIVER_DEVICE_MEMORY_H
#define SOFTHCA_FRONT_PROCESS_DRIVER_DEVICE_MEMORY_H

#include <stdint.h>

struct adapter;

/* Allocates LENGTH bytes aligned to 1 << LOG_ALIGN, in pages that hold no other block. *ADDR is the
 * offset in BAR 0, *SIZE the allocated size. Returns 0; EOPNOTSUPP if the adapter has no device
 * memory; EINVAL if LENGTH is 0 or LOG_ALIGN too large; or ENOMEM. */
int device_memory_alloc(struct adapter *adapter, uint64_t length, uint32_t log_align,
			uint64_t *addr, uint64_t *size);
/* Frees a block. Returns 0, or EBUSY while a memory key uses a part of it. */
int device_memory_free(struct adapter *adapter, uint64_t addr, uint64_t size);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * device_memory.h - the part of mlx5_ib that gives out memory of the adapter's own. It is for the
 * notification thread only.
 */
#ifndef SOFTHCA_FRONT_PROCESS_DRIVER_DEVICE_MEMORY_H
#define SOFTHCA_FRONT_PROCESS_DRIVER_DEVICE_MEMORY_H

#include <stdint.h>

struct adapter;

/*
 * A block of LENGTH bytes at a multiple of 1 << LOG_ALIGN, in pages that hold no other block: *ADDR
 * from the start of BAR 0, *SIZE as given out. 0; EOPNOTSUPP without such memory; EINVAL: no
 * length, or too large an alignment; ENOMEM.
 */
int device_memory_alloc(struct adapter *adapter, uint64_t length, uint32_t log_align,
			uint64_t *addr, uint64_t *size);
/* Returns 0, or EBUSY while a memory key stands for a part of the block. */
int device_memory_free(struct adapter *adapter, uint64_t addr, uint64_t size);

#endif

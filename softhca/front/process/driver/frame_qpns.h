/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * frame_qpns.h - numbers of mlx4's frame queues, which the driver assigns: to QPs, and in ranges to
 * the queues of an RSS table.
 */
#ifndef SOFTHCA_FRONT_PROCESS_DRIVER_FRAME_QPNS_H
#define SOFTHCA_FRONT_PROCESS_DRIVER_FRAME_QPNS_H

#include <stdbool.h>
#include <stdint.h>

struct adapter;

/* Reserves COUNT consecutive numbers; COUNT is a power of two, and *FIRST a multiple of it. SENDS:
 * the numbers must fit in a BlueFlame WQE. Returns 0, ENOMEM or ENOSPC. */
int frame_qpns_reserve(struct adapter *adapter, uint32_t count, bool sends, uint32_t *first);
void frame_qpns_release(struct adapter *adapter, uint32_t first, uint32_t count);
void frame_qpns_free(struct adapter *adapter);

#endif

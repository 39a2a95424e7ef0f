/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * hw_counters.h - counters of events on a port's QPs: hw_counters/ in sysfs.
 */
#ifndef SOFTHCA_FRONT_PROCESS_DRIVER_HW_COUNTERS_H
#define SOFTHCA_FRONT_PROCESS_DRIVER_HW_COUNTERS_H

#include <stdint.h>

struct adapter;

enum { HW_COUNTERS = 18 };

/* Names, in the order of Linux' driver. */
extern const char *const hw_counter_name[HW_COUNTERS];

/* Creates a counter set for each port; QPs of the port name it in their contexts. The sets are
 * freed with the adapter. Returns 0 or a positive errno. */
int hw_counters_create(struct adapter *adapter);
/* Reads the counters. Returns 0 or a positive errno. */
int hw_counters_read(struct adapter *adapter, unsigned int port, uint64_t value[HW_COUNTERS]);

#endif

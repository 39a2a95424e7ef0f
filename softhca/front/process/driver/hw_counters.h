/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * hw_counters.h - what happens on the queue pairs of a port: the counters below hw_counters/ in
 * sysfs.
 */
#ifndef SOFTHCA_FRONT_PROCESS_DRIVER_HW_COUNTERS_H
#define SOFTHCA_FRONT_PROCESS_DRIVER_HW_COUNTERS_H

#include <stdint.h>

struct adapter;

enum { HW_COUNTERS = 18 };

/* The names are in the order of Linux' driver. */
extern const char *const hw_counter_name[HW_COUNTERS];

/* Makes a set of counters for each port, which its queue pairs name. The sets go with the adapter.
 * It returns 0 or a positive errno. */
int hw_counters_create(struct adapter *adapter);
/* Returns 0 or a positive errno. */
int hw_counters_read(struct adapter *adapter, unsigned int port, uint64_t value[HW_COUNTERS]);

#endif

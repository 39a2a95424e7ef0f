/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * region.h - memory keys of ranges of a process's memory.
 *
 * For the notification thread only; the calls return 0 or a positive errno.
 */
#ifndef SOFTHCA_FRONT_PROCESS_DRIVER_REGION_H
#define SOFTHCA_FRONT_PROCESS_DRIVER_REGION_H

#include <stdbool.h>
#include <stdint.h>

struct adapter;

struct region {
	uint64_t bus;   /* where the process's memory begins on the bus: client_bus_addr() of 0 */
	uint64_t start; /* address in the process */
	uint64_t iova;  /* what work requests call that address */
	uint64_t length;
	uint32_t access; /* IB_UVERBS_ACCESS_* */
	bool fixed;      /* its key never changes: see region_change_key() */
};

/* A key and, unless the region is fixed, the room that it has for other ranges. */
int region_create_key(struct adapter *adapter, const struct region *region, uint32_t pdn,
		      uint32_t *key, uint32_t *room);
/* Asks whether a key with such room can take the region. */
bool region_fits(const struct region *region, uint32_t room);
/* KEY now stands for REGION, in protection domain PDN; with MOVED false its range is what it
 * was. */
int region_change_key(struct adapter *adapter, uint32_t key, const struct region *region,
		      uint32_t pdn, bool moved);

/* The result has the access bits of a memory key's context. */
void region_put_access(uint8_t *mkc, uint32_t access);

#endif

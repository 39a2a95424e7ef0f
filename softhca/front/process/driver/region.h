/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * region.h - memory keys for ranges of a process's memory.
 *
 * Only for the notification thread. Functions return 0 or a positive errno.
 */
#ifndef SOFTHCA_FRONT_PROCESS_DRIVER_REGION_H
#define SOFTHCA_FRONT_PROCESS_DRIVER_REGION_H

#include <stdbool.h>
#include <stdint.h>

struct adapter;

struct region {
	uint64_t bus;   /* bus address of address 0 of the process: client_bus_addr() */
	uint64_t start; /* address in the process */
	uint64_t iova;  /* address in work requests */
	uint64_t length;
	uint32_t access; /* IB_UVERBS_ACCESS_* */
	bool fixed;      /* the key never changes: see region_change_key() */
};

/* Creates a key. *ROOM is the number of translations that a later region_change_key() may give the
 * key; 0 if the region is fixed or too large. */
int region_create_key(struct adapter *adapter, const struct region *region, uint32_t pdn,
		      uint32_t *key, uint32_t *room);
bool region_fits(const struct region *region, uint32_t room);
/* Changes KEY to the access rights of REGION and protection domain PDN, and if MOVED to the range
 * of REGION. */
int region_change_key(struct adapter *adapter, uint32_t key, const struct region *region,
		      uint32_t pdn, bool moved);

void region_put_access(uint8_t *mkc, uint32_t access);

#endif

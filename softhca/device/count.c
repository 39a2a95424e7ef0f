/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * count.c - counts all objects, so that tests find leaked ones.
 */
#include "softhca/device/core.h"
#include "softhca/device/eth/eth.h"
#include "softhca/device/fabric.h"

#define COUNT(table, first, limit, free_it)     count += hca->table.used;
#define COUNT_ETH(table, first, limit, free_it) count += hca->eth->table.used;

uint64_t hca_count_objects(struct hca *hca)
{
	uint64_t count = 0;

	if (!hca)
		return 0;
	fabric_lock(hca->fabric);
	HCA_EACH_OBJECT(COUNT)
	if (hca->eth) {
		ETH_OBJECTS(COUNT_ETH)
		count += hca->eth->flow_entries;
	}
	fabric_unlock(hca->fabric);
	return count;
}

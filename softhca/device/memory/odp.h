/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * odp.h - on-demand regions: which of their pages the adapter has.
 *
 * The bus reaches every page of a program, so no access needs a fault. But the driver sees the
 * faults of a shared receive queue (a completion that takes the WQE back). To emulate these, a page
 * of such a region counts as absent until software is asked to bring it.
 */
#ifndef SOFTHCA_DEVICE_MEMORY_ODP_H
#define SOFTHCA_DEVICE_MEMORY_ODP_H

#include <stdbool.h>
#include <stdint.h>

struct mkey;

struct odp {
	uint64_t *pages; /* numbers of the present pages, sorted for page_find() */
	uint32_t count;
};

/* Returns whether the first pages of LEN bytes at ADDR are present. Always true for a region that
 * is not on demand, whose pages are pinned. */
bool odp_has(const struct mkey *mkey, uint64_t addr, uint64_t len);
/* Marks the first pages of LEN bytes at ADDR as present. Returns 0 or ENOMEM. */
int odp_bring(struct mkey *mkey, uint64_t addr, uint64_t len);
void odp_free(struct mkey *mkey);

#endif

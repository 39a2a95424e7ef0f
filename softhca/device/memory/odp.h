/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * odp.h - regions whose pages come on demand: which of them the adapter has been given.
 *
 * The bus reaches every page of a program, so no access needs a fault. A shared receive queue
 * shows faults to its driver nevertheless (a completion that takes the WQE back), and that is what
 * this is for: a page of such a region is not there until software has been told to bring it.
 */
#ifndef SOFTHCA_DEVICE_MEMORY_ODP_H
#define SOFTHCA_DEVICE_MEMORY_ODP_H

#include <stdbool.h>
#include <stdint.h>

struct mkey;

struct odp {
	uint64_t *pages; /* numbers of those that are there, in order */
	uint32_t count;
};

/* Returns whether the first pages of LEN bytes at ADDR are present. Always true for a region that
 * is not on demand. */
bool odp_has(const struct mkey *mkey, uint64_t addr, uint64_t len);
/* Brings the first pages of LEN bytes at ADDR, and returns 0 or ENOMEM. */
int odp_bring(struct mkey *mkey, uint64_t addr, uint64_t len);
void odp_free(struct mkey *mkey);

#endif

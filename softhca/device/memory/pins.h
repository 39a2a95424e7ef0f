/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * pins.h - notes which pages a queue or key consists of; strict adapters only.
 *
 * An adapter keeps the pages that software registered, even if the program later maps others at the
 * same addresses. This adapter reaches memory by address, so it would follow the new mapping. It
 * notes the identities of the pages, as the bus reports them, and reports when they have changed.
 */
#ifndef SOFTHCA_DEVICE_MEMORY_PINS_H
#define SOFTHCA_DEVICE_MEMORY_PINS_H

#include <stdint.h>

struct dma_map;
struct hca;
struct pins;

/* Notes the pages of the new map MAP. Does nothing unless the adapter is strict and its bus knows
 * the identity of pages. */
void pins_take(struct hca *hca, struct dma_map *map);
/* Reports pages of LEN bytes at OFFSET of MAP that have changed since pins_take() or the last
 * report. A report names the map's owner: WHAT with number N. */
void pins_check(struct hca *hca, const struct dma_map *map, uint64_t offset, uint64_t len,
		const char *what, uint32_t n);
/* Reports the page at ADDR if its identity is not *PAGE, unless the bus allows it to move. *PAGE 0:
 * reports nothing. Sets *PAGE to the identity found. */
void pins_check_page(struct hca *hca, uint64_t addr, uint64_t *page, const char *what, uint32_t n);

#endif

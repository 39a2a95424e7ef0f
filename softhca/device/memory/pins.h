/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * pins.h - which pages the memory of a queue or a key consists of, for an adapter that is strict.
 *
 * An adapter has the pages that were there when software gave them away; what is mapped at their
 * addresses later is not its business. This one reaches memory by address, so it notes the pages by
 * what the bus says of their identity, and reports where it meets others.
 */
#ifndef SOFTHCA_DEVICE_MEMORY_PINS_H
#define SOFTHCA_DEVICE_MEMORY_PINS_H

#include <stdint.h>

struct dma_map;
struct hca;
struct pins;

/* Notes pages of MAP, which is new. It is for strict adapters on a bus that knows the identity of
 * pages; otherwise it does nothing. */
void pins_take(struct hca *hca, struct dma_map *map);
/* Looks at the pages of LEN bytes at OFFSET of MAP, which belongs to WHAT of number N. */
void pins_check(struct hca *hca, const struct dma_map *map, uint64_t offset, uint64_t len,
		const char *what, uint32_t n);
/* Does so with the page at ADDR alone. *PAGE is its identity, 0 from the start. */
void pins_check_page(struct hca *hca, uint64_t addr, uint64_t *page, const char *what, uint32_t n);

#endif

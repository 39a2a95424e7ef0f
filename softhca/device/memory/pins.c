/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * pins.c - see pins.h. For a large map, a sample of at most 128 pages. Decision: docs/adr/0037.
 */
#include <stdlib.h>

#include "softhca/device/core.h"
#include "softhca/device/memory/pins.h"

enum { PAGE = 4096, SAMPLES_MAX = 128 };

struct pins {
	uint64_t step; /* bytes from one sample to the next */
	uint32_t count;
	uint64_t page[]; /* identity of each sampled page; 0: not known yet */
};

void pins_check_page(struct hca *hca, uint64_t addr, uint64_t *page, const char *what, uint32_t n)
{
	const struct hca_bus_ops *bus = hca->config.bus_ops;
	uint64_t now = bus->page ? bus->page(hca->config.bus, addr) : 0;

	if (!now || now == *page)
		return;
	if (*page && !bus->page_may_move(hca->config.bus, addr))
		strict_report(hca->config.strict, hca->config.trace, "memory.moved",
			      "%s 0x%06x: the page at 0x%llx is not the one that was registered",
			      what, n, (unsigned long long)addr);
	*page = now;
}

void pins_check(struct hca *hca, const struct dma_map *map, uint64_t offset, uint64_t len,
		const char *what, uint32_t n)
{
	struct pins *pins = map->pins;

	if (!pins || !len)
		return;
	for (uint64_t i = offset / pins->step; i < pins->count && i * pins->step < offset + len;
	     i++)
		pins_check_page(hca, dma_map_addr(map, i * pins->step), &pins->page[i], what, n);
}

void pins_take(struct hca *hca, struct dma_map *map)
{
	uint64_t pages = (map->len + PAGE - 1) / PAGE;
	uint64_t step = (pages + SAMPLES_MAX - 1) / SAMPLES_MAX;
	uint32_t count = step ? (pages + step - 1) / step : 0;

	if (!hca->config.strict || !hca->config.bus_ops->page || !count)
		return;
	map->pins = calloc(1, sizeof(*map->pins) + count * sizeof(map->pins->page[0]));
	if (!map->pins)
		return;
	map->pins->step = step * PAGE;
	map->pins->count = count;
	pins_check(hca, map, 0, map->len, "", 0);
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * objects.c - creates and frees an adapter's tables of objects, as the list of objects.h says.
 */
#include <stdlib.h>

#include "softhca/device/core.h"
#include "softhca/device/memory/dek.h"
#include "softhca/device/memory/psv.h"
#include "softhca/device/transport/dct.h"

enum {
	FIRST_UAR = 4, /* first doorbell page, as a PCI front has registers before it */
	/* end of the doorbell pages; the pages behind are the adapter's memory, in three images */
	LAST_UAR = (1 << 16) - 768,
	PAGES = LAST_UAR - FIRST_UAR,
};

/* Returns the first number of a table: a plausible base, varied by the seed so that programs cannot
 * rely on it. */
static uint32_t first_number(const struct hca *hca, uint32_t base, uint32_t spread)
{
	uint64_t mixed = (hca->config.seed + base) * 0x9e3779b97f4a7c15ull;

	return base + (hca->config.seed ? (uint32_t)(mixed >> 32) % spread : 0);
}

static uint32_t first_qp(const struct hca *hca)
{
	return first_number(hca, 0x48, 0x10000);
}

/* DC targets have numbers above those of QPs, so that no number names both: programs treat both
 * alike. */
static uint32_t first_dct(const struct hca *hca)
{
	return first_qp(hca) + hca->config.limits.max_qp;
}

static uint32_t first_cq(const struct hca *hca)
{
	return first_number(hca, 0x400, 0x1000);
}

static uint32_t first_mkey(const struct hca *hca)
{
	return first_number(hca, 0x100, 0x1000);
}

static uint32_t first_page(const struct hca *hca)
{
	return hca->config.first_uar ? hca->config.first_uar : FIRST_UAR;
}

static uint32_t num_pages(const struct hca *hca)
{
	return hca->config.limits.max_uar ? hca->config.limits.max_uar : PAGES;
}

#define INIT(table, first, limit, free_it) res_init(&hca->table, &hca->user, first, limit);
#define INIT_NUMBERED(table, first, limit, free_it)            \
	if (hca->format->software_numbers)                     \
		res_init(&hca->table, &hca->user, 0, 1 << 24); \
	else                                                   \
		INIT(table, first, limit, free_it)

void objects_init(struct hca *hca)
{
	HCA_OBJECTS(INIT, INIT_NUMBERED, INIT_NUMBERED, INIT)
	hca->qps.mark = hca->format->xrc_target_mark;
}

#define FREE_OBJECTS(table, first, limit, free_it)                            \
	for (uint32_t at = 0; (object = res_next(&hca->table, &at)) != NULL;) \
		free_it;
#define FREE_TABLE(table, first, limit, free_it) res_free(&hca->table);

void objects_free(struct hca *hca)
{
	void *object;

	HCA_EACH_OBJECT(FREE_OBJECTS)
	HCA_EACH_OBJECT(FREE_TABLE)
}

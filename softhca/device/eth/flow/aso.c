/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * aso.c - objects with the state of flows. See aso.h. PRM: ASO
 */
#include <errno.h>
#include <stdlib.h>

#include "softhca/device/eth/eth.h"

static int aso_new(struct hca *hca, enum aso_kind kind, uint32_t number, struct aso **out)
{
	struct aso *aso = calloc(1, sizeof(*aso));
	int ret;

	if (!aso)
		return ENOMEM;
	aso->n = number;
	aso->kind = kind;
	ret = res_add_as(&hca->eth->asos, aso, number);
	if (ret)
		free(aso);
	else
		*out = aso;
	return ret;
}

static bool row_is_free(const struct res_table *table, uint32_t number, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		if (res_get(table, number + i))
			return false;
	return true;
}

static uint32_t row_find(const struct res_table *table, uint32_t count)
{
	const uint32_t end = table->first + table->max;

	for (uint32_t number = count; number + count <= end; number += count)
		if (row_is_free(table, number, count))
			return number;
	return 0;
}

int aso_add(struct hca *hca, enum aso_kind kind, uint32_t count, struct aso **out)
{
	const uint32_t number = row_find(&hca->eth->asos, count);
	struct aso *first, *aso;
	int ret = number ? aso_new(hca, kind, number, &first) : ENOSPC;

	if (ret)
		return ret;
	for (first->range = 1; first->range < count; first->range++) {
		ret = aso_new(hca, kind, number + first->range, &aso);
		if (ret) {
			aso_remove(hca, first);
			return ret;
		}
	}
	*out = first;
	return 0;
}

void aso_remove(struct hca *hca, struct aso *aso)
{
	const uint32_t first = aso->n, range = aso->range;

	for (uint32_t n = first; n < first + range; n++) {
		void *one = res_get(&hca->eth->asos, n);

		res_remove(&hca->eth->asos, n);
		free(one);
	}
}

bool aso_hit(struct aso *aso, unsigned int line, bool sets)
{
	uint8_t *byte = &aso->hits[sizeof(aso->hits) - 1 - line / 8];
	const uint8_t bit = (uint8_t)(1u << line % 8);
	const bool was_hit = *byte & bit;

	if (sets)
		*byte |= bit;
	return was_hit;
}

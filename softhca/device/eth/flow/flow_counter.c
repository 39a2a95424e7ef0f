/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * flow_counter.c - counters of flow table entries, as objects.
 */
#include <errno.h>
#include <stdlib.h>

#include "softhca/device/eth/eth.h"

static int counter_new(struct hca *hca, uint32_t number, struct flow_counter **out)
{
	struct flow_counter *counter = calloc(1, sizeof(*counter));
	int ret;

	if (!counter)
		return ENOMEM;
	counter->n = number;
	ret = res_add_as(&hca->eth->flow_counters, counter, number);
	if (ret)
		free(counter);
	else
		*out = counter;
	return ret;
}

/* Returns the first of COUNT free numbers in a row from FROM on, or 0. */
static uint32_t row_find(const struct res_table *table, uint32_t from, uint32_t count)
{
	uint32_t row = 0;

	for (uint32_t n = from; n < table->first + table->max; n++) {
		row = res_get(table, n) ? 0 : row + 1;
		if (row == count)
			return n - count + 1;
	}
	return 0;
}

/* Like row_find(), but begins behind the last numbers: those of counters that have ended come again
 * only after the others, so that the use of a stale number is noticed. */
static uint32_t numbers_find(struct eth *eth, uint32_t count)
{
	const struct res_table *table = &eth->flow_counters;
	uint32_t number = row_find(table, table->first + eth->flow_counters_next, count);

	if (!number)
		number = row_find(table, table->first, count);
	if (number)
		eth->flow_counters_next = number + count - table->first;
	return number;
}

int flow_counter_add(struct hca *hca, uint32_t count, struct flow_counter **out)
{
	const uint32_t number = numbers_find(hca->eth, count);
	struct flow_counter *first, *counter;
	int ret = number ? counter_new(hca, number, &first) : ENOSPC;

	if (ret)
		return ret;
	for (first->bulk = 1; first->bulk < count; first->bulk++) {
		ret = counter_new(hca, number + first->bulk, &counter);
		if (ret) {
			flow_counter_remove(hca, first);
			return ret;
		}
	}
	*out = first;
	return 0;
}

bool flow_counter_in_use(const struct hca *hca, const struct flow_counter *counter)
{
	for (uint32_t i = 0; i < counter->bulk; i++) {
		const struct flow_counter *one = res_get(&hca->eth->flow_counters, counter->n + i);

		if (one->users)
			return true;
	}
	return false;
}

void flow_counter_remove(struct hca *hca, struct flow_counter *counter)
{
	const uint32_t first = counter->n, count = counter->bulk;

	for (uint32_t n = first; n < first + count; n++) {
		void *one = res_get(&hca->eth->flow_counters, n);

		res_remove(&hca->eth->flow_counters, n);
		free(one);
	}
}

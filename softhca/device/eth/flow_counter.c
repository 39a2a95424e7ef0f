/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * flow_counter.c - counters of flow table entries, as objects.
 */
#include <errno.h>
#include <stdlib.h>

#include "softhca/device/eth/eth.h"

int flow_counter_add(struct hca *hca, struct flow_counter **out)
{
	struct flow_counter *counter = calloc(1, sizeof(*counter));
	int ret = counter ? res_add(&hca->eth->flow_counters, counter, &counter->n) : ENOMEM;

	if (ret)
		free(counter);
	else
		*out = counter;
	return ret;
}

void flow_counter_remove(struct hca *hca, struct flow_counter *counter)
{
	res_remove(&hca->eth->flow_counters, counter->n);
	free(counter);
}

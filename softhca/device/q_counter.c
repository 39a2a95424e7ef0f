/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * q_counter.c - counter sets of queues: received requests, losses and errors.
 *
 * Sets are numbered from 1; a queue with set 0 is not counted.
 */
#include <errno.h>
#include <stdlib.h>

#include "softhca/device/eth/eth.h"

void q_count(struct hca *hca, const struct qp *qp, enum q_event event)
{
	struct q_counter *counter;

	if (!qp->counter_set)
		return;
	counter = res_get(&hca->eth->q_counters, qp->counter_set);
	if (counter)
		counter->value[event]++;
}

int q_counter_add(struct hca *hca, struct q_counter **out)
{
	struct q_counter *counter = calloc(1, sizeof(*counter));
	int ret = counter ? res_add(&hca->eth->q_counters, counter, &counter->n) : ENOMEM;

	if (ret)
		free(counter);
	else
		*out = counter;
	return ret;
}

void q_counter_remove(struct hca *hca, struct q_counter *counter)
{
	res_remove(&hca->eth->q_counters, counter->n);
	free(counter);
}

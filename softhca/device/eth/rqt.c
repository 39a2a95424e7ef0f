/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rqt.c - receive queue tables (RQTs): arrays of queues over which a TIR distributes frames by
 * hash.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "softhca/device/eth/eth.h"

static void rqt_use_queues(struct rqt *rqt, int by)
{
	for (uint32_t i = 0; i < rqt->size; i++)
		rqt->rq[i]->users += by;
}

void rqt_free(struct rqt *rqt)
{
	free(rqt->rq);
	free(rqt);
}

int rqt_add(struct hca *hca, uint32_t max_size, struct rqt **out)
{
	struct rqt *rqt = calloc(1, sizeof(*rqt));
	int ret;

	if (!rqt)
		return ENOMEM;
	rqt->max_size = max_size;
	rqt->rq = calloc(max_size, sizeof(*rqt->rq));
	ret = rqt->rq ? res_add(&hca->eth->rqts, rqt, &rqt->n) : ENOMEM;
	if (ret)
		rqt_free(rqt);
	else
		*out = rqt;
	return ret;
}

void rqt_set(struct rqt *rqt, struct eth_rq *const *rq, uint32_t size)
{
	rqt_use_queues(rqt, -1);
	rqt->size = size;
	memcpy(rqt->rq, rq, size * sizeof(rq[0]));
	rqt_use_queues(rqt, 1);
}

void rqt_remove(struct hca *hca, struct rqt *rqt)
{
	res_remove(&hca->eth->rqts, rqt->n);
	rqt_use_queues(rqt, -1);
	rqt_free(rqt);
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * eth.c - creates and frees an adapter's Ethernet objects, and dispatches doorbells and turns of
 * the loop to them.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "softhca/device/eth/eth.h"

enum { TURNS = 4 };

/* Returns the limit of queues. If software chooses the numbers (mlx4), each QP number may be a
 * queue. */
static uint32_t max_queues(const struct hca *hca)
{
	return hca->format->software_numbers ? 1 << 24 : 1 << ETH_LOG_QUEUES;
}

#define INIT(table, first, limit, free_it) res_init(&eth->table, &hca->user, first, limit);

int eth_create(struct hca *hca)
{
	struct eth *eth = calloc(1, sizeof(*eth));

	if (!eth)
		return ENOMEM;
	vport_init(&eth->vport, &hca->config);
	ETH_OBJECTS(INIT)
	TAILQ_INIT(&eth->ready);
	LIST_INIT(&eth->collecting);
	hca->eth = eth;
	return 0;
}

#define FREE_OBJECTS(table, first, limit, free_it)                            \
	for (uint32_t at = 0; (object = res_next(&eth->table, &at)) != NULL;) \
		free_it;
#define FREE_TABLE(table, first, limit, free_it) res_free(&eth->table);

void eth_destroy(struct hca *hca)
{
	struct eth *eth = hca->eth;
	void *object;

	if (!eth)
		return;
	ETH_OBJECTS(FREE_OBJECTS)
	ETH_OBJECTS(FREE_TABLE)
	free(eth);
	hca->eth = NULL;
}

void eth_die(struct hca *hca)
{
	struct eth_sq *sq;
	struct eth_rq *rq;

	for (uint32_t at = 0; (sq = res_next(&hca->eth->sqs, &at)) != NULL;)
		if (sq->state == PRM_WQ_STATE_RDY)
			eth_sq_fail(hca, sq);
	for (uint32_t at = 0; (rq = res_next(&hca->eth->rqs, &at)) != NULL;)
		if (rq->state == PRM_WQ_STATE_RDY)
			eth_rq_fail(hca, rq);
}

bool eth_run(struct hca *hca)
{
	struct eth *eth = hca->eth;

	for (unsigned int turn = 0; turn < TURNS && !TAILQ_EMPTY(&eth->ready); turn++) {
		struct eth_sq *sq = TAILQ_FIRST(&eth->ready);

		TAILQ_REMOVE(&eth->ready, sq, in_ready);
		sq->ready = false;
		if (eth_sq_run(hca, sq))
			eth_sq_wake(hca, sq);
	}
	return !TAILQ_EMPTY(&eth->ready);
}

enum { SCAN_SQS = 16 }; /* SQs that one call of eth_scan() looks at, with a bus call each */

static void eth_look(struct hca *hca, struct eth_sq *sq)
{
	if (eth_sq_read_doorbell(hca, sq))
		eth_sq_fail(hca, sq);
}

void eth_ring(struct hca *hca, uint32_t uar, uint32_t n)
{
	struct eth_sq *sq = res_get(&hca->eth->sqs, n);

	if (sq && sq->uar->n == uar)
		eth_look(hca, sq);
}

void eth_scan(struct hca *hca, struct uar *uar)
{
	struct eth_sq *sq;

	for (unsigned int i = 0; i < SCAN_SQS && uar->left.sqs; i++, uar->left.sqs--) {
		sq = TAILQ_FIRST(&uar->sqs);
		if (!sq)
			return;
		TAILQ_REMOVE(&uar->sqs, sq, in_uar);
		TAILQ_INSERT_TAIL(&uar->sqs, sq, in_uar);
		eth_look(hca, sq);
	}
}

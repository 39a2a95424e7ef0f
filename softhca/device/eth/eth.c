/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * eth.c - creates and frees an adapter's Ethernet objects, and dispatches doorbells and turns of
 * the loop to them.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "softhca/device/eth/eth.h"
#include "util/bits.h"

/* QP numbers are below these, so a doorbell's number tells the kind of queue. */
enum { FIRST_TIR = 0xe00000, FIRST_TIS = 0xf00000 };

enum { TURNS = 4 };

/* Returns how many queues there may be: where software chooses the numbers (mlx4), as many as QP
 * numbers. */
static uint32_t max_queues(const struct hca *hca)
{
	return hca->format->software_numbers ? 1 << 24 : 1 << ETH_LOG_QUEUES;
}

int eth_create(struct hca *hca)
{
	struct eth *eth = calloc(1, sizeof(*eth));

	if (!eth)
		return ENOMEM;
	vport_init(&eth->vport, &hca->config);
	res_init(&eth->sqs, &hca->user, hca->format->first_frame_sq, max_queues(hca));
	res_init(&eth->rqs, &hca->user, hca->format->first_frame_rq, max_queues(hca));
	res_init(&eth->tirs, &hca->user, FIRST_TIR, 1 << ETH_LOG_TIRS);
	res_init(&eth->tises, &hca->user, FIRST_TIS, 1 << ETH_LOG_TIRS);
	res_init(&eth->rqts, &hca->user, 1, 1 << ETH_LOG_RQTS);
	res_init(&eth->q_counters, &hca->user, 1, MAX_Q_COUNTERS);
	res_init(&eth->flow_tables, &hca->user, 1, 1 << FLOW_LOG_TABLES);
	res_init(&eth->flow_groups, &hca->user, 1, 1 << FLOW_LOG_ENTRIES);
	res_init(&eth->flow_counters, &hca->user, 1, 1 << FLOW_LOG_COUNTERS);
	res_init(&eth->modify_headers, &hca->user, 1, 1 << MODIFY_HEADER_LOG_LISTS);
	res_init(&eth->packet_reformats, &hca->user, 1, 1 << PACKET_REFORMAT_LOG);
	TAILQ_INIT(&eth->ready);
	LIST_INIT(&eth->collecting);
	hca->eth = eth;
	return 0;
}

static void free_queues(struct eth *eth)
{
	struct eth_rq *rq;
	struct eth_sq *sq;
	struct rqt *rqt;

	for (uint32_t at = 0; (sq = res_next(&eth->sqs, &at)) != NULL;)
		eth_sq_free(sq);
	for (uint32_t at = 0; (rq = res_next(&eth->rqs, &at)) != NULL;)
		eth_rq_free(rq);
	for (uint32_t at = 0; (rqt = res_next(&eth->rqts, &at)) != NULL;)
		rqt_free(rqt);
}

void eth_destroy(struct hca *hca)
{
	struct eth *eth = hca->eth;
	struct res_table *plain[] = { &eth->tirs, &eth->tises, &eth->q_counters,
				      &eth->modify_headers, &eth->packet_reformats };
	struct res_table *tables[] = { &eth->sqs,
				       &eth->rqs,
				       &eth->tirs,
				       &eth->tises,
				       &eth->rqts,
				       &eth->q_counters,
				       &eth->flow_tables,
				       &eth->flow_groups,
				       &eth->flow_counters,
				       &eth->modify_headers,
				       &eth->packet_reformats };
	void *object;

	if (!eth)
		return;
	flow_free_all(hca);
	free_queues(eth);
	for (unsigned int i = 0; i < ARRAY_SIZE(plain); i++)
		for (uint32_t at = 0; (object = res_next(plain[i], &at)) != NULL;)
			free(object);
	for (unsigned int i = 0; i < ARRAY_SIZE(tables); i++)
		res_free(tables[i]);
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

	LIST_FOREACH(sq, &uar->sqs, in_uar)
		eth_look(hca, sq);
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * pacing.c - rate limits of send queues. See pacing.h.
 */
#include "softhca/device/core.h"
#include "softhca/device/eth/eth.h"

#define BITS_PER_KBIT_NS 1000000ull /* nanoseconds of a bit at 1 kbit/s */

bool pacing_exists(const struct hca *hca, uint32_t index)
{
	const struct pacing_rate *rate;

	if (!index || index >= PACING_RATES)
		return !index;
	rate = &hca->eth->pacing.rate[index];
	return rate->rate && (!hca->user || rate->uid == hca->user || rate->uid == RES_FOR_ALL);
}

static const struct pacing_rate *rate_of(const struct hca *hca, const struct eth_sq *sq)
{
	const struct pacing_rate *rate = &hca->eth->pacing.rate[sq->pacing_index];

	return rate->rate ? rate : NULL;
}

static uint64_t frame_duration(const struct pacing_rate *rate, uint64_t bytes)
{
	return bytes * 8 * BITS_PER_KBIT_NS / rate->rate;
}

void pacing_sent(struct hca *hca, struct eth_sq *sq, size_t len)
{
	const struct pacing_rate *rate = rate_of(hca, sq);

	if (!rate)
		return;
	/* Idle time saves up no bandwidth, so the clock does not begin before now. */
	if (sq->paced_until < hca->now)
		sq->paced_until = hca->now;
	sq->paced_until += frame_duration(rate, len);
}

bool pacing_waits(struct hca *hca, struct eth_sq *sq)
{
	const struct pacing_rate *rate = rate_of(hca, sq);
	uint64_t ahead = sq->paced_until > hca->now ? sq->paced_until - hca->now : 0;

	if (!rate || ahead <= (rate->burst ? frame_duration(rate, rate->burst) : 0))
		return false;
	if (!sq->waits)
		LIST_INSERT_HEAD(&hca->eth->pacing.waiting, sq, in_waiting);
	sq->waits = true;
	return true;
}

void pacing_choose(struct eth_sq *sq, uint32_t index)
{
	sq->pacing_index = index;
	sq->paced_until = 0;
	pacing_forget(sq);
}

void pacing_forget(struct eth_sq *sq)
{
	if (sq->waits)
		LIST_REMOVE(sq, in_waiting);
	sq->waits = false;
}

uint64_t pacing_run(struct hca *hca)
{
	struct eth_sq *next;
	uint64_t first = HCA_IDLE;

	for (struct eth_sq *sq = LIST_FIRST(&hca->eth->pacing.waiting); sq; sq = next) {
		next = LIST_NEXT(sq, in_waiting);
		if (sq->paced_until > hca->now && rate_of(hca, sq)) {
			first = sq->paced_until < first ? sq->paced_until : first;
			continue;
		}
		pacing_forget(sq);
		eth_sq_wake(hca, sq);
	}
	return first;
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * tir.c - transport interface receive (TIR): chooses a frame's RQ, directly or by its hash.
 */
#include <stdlib.h>

#include "softhca/device/eth/eth.h"

static void tir_use(struct tir *tir, int by)
{
	if (tir->td)
		tir->td->users += by;
	if (tir->rq)
		tir->rq->users += by;
	else
		tir->rqt->users += by;
}

int tir_add(struct hca *hca, struct tir *tir)
{
	int ret = res_add(&hca->eth->tirs, tir, &tir->n);

	if (!ret)
		tir_use(tir, 1);
	return ret;
}

void tir_remove(struct hca *hca, struct tir *tir)
{
	res_remove(&hca->eth->tirs, tir->n);
	tir_use(tir, -1);
	free(tir);
}

static bool is_blocked(const struct tir *tir, const struct eth_arrival *arrival)
{
	bool group = arrival->frame.bytes[0] & 1;

	return tir->td && arrival->sender == tir->td &&
	       !(group ? tir->own_multicast : tir->own_unicast);
}

static void arrival_hash(const struct tir *tir, struct eth_arrival *arrival)
{
	arrival->hash = 0;
	arrival->hash_type = 0;
	if (tir->rss.function != RSS_NONE)
		arrival->hash_type = rss_hash(&arrival->frame, &tir->rss, &arrival->hash);
}

void tir_receive(struct hca *hca, struct tir *tir, struct eth_arrival *arrival)
{
	if (is_blocked(tir, arrival))
		return;
	arrival_hash(tir, arrival);
	lro_receive(hca, &tir->lro,
		    tir->rq ? tir->rq : tir->rqt->rq[arrival->hash % tir->rqt->size], arrival);
}

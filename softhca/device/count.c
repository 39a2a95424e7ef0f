/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * count.c - counts all objects, so that tests find leaked ones.
 */
#include "softhca/device/core.h"
#include "softhca/device/eth/eth.h"
#include "softhca/device/fabric.h"

static uint64_t count_eth(const struct eth *eth)
{
	return (uint64_t)eth->sqs.used + eth->rqs.used + eth->tirs.used + eth->tises.used +
	       eth->rqts.used + eth->q_counters.used + eth->flow_tables.used +
	       eth->flow_groups.used + eth->flow_counters.used + eth->flow_entries +
	       eth->modify_headers.used + eth->packet_reformats.used;
}

uint64_t hca_count_objects(struct hca *hca)
{
	uint64_t count;

	if (!hca)
		return 0;
	fabric_lock(hca->fabric);
	count = (uint64_t)hca->uars.used + hca->pds.used + hca->tds.used + hca->mkeys.used +
		hca->eqs.used + hca->cqs.used + hca->qps.used + hca->xrcds.used + hca->srqs.used +
		hca->uctxs.used + hca->umems.used + hca->scheds.used + hca->dcts.used +
		hca->av_mappings.used + hca->psvs.used + hca->deks.used + hca->logins.used +
		hca->qpn_ranges.used;
	if (hca->eth)
		count += count_eth(hca->eth);
	fabric_unlock(hca->fabric);
	return count;
}

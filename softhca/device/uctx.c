/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * uctx.c - users of the adapter, as uctx.h says.
 */
#include <errno.h>
#include <stdlib.h>

#include "softhca/device/core.h"
#include "softhca/device/eth/eth.h"

int uctx_add(struct hca *hca, bool sends_frames, bool uses_icm, struct uctx **out)
{
	struct uctx *uctx = calloc(1, sizeof(*uctx));
	int ret = uctx ? res_add(&hca->uctxs, uctx, &uctx->n) : ENOMEM;

	if (ret) {
		free(uctx);
		return ret;
	}
	uctx->sends_frames = sends_frames;
	uctx->uses_icm = uses_icm;
	*out = uctx;
	return 0;
}

bool uctx_may_send_frames(const struct hca *hca)
{
	const struct uctx *uctx = res_get(&hca->uctxs, hca->user);

	return !uctx || uctx->sends_frames;
}

bool uctx_may_use_icm(const struct hca *hca)
{
	const struct uctx *uctx = res_get(&hca->uctxs, hca->user);

	return !uctx || uctx->uses_icm;
}

/* Removes a user's doorbell pages. A queue without owner, such as an XRC QP, may still use one. The
 * driver then becomes the page's owner, as the user's number will be reused. */
static void drop_pages(struct hca *hca, const struct uctx *uctx)
{
	struct uar *uar;

	for (uint32_t at = 0; (uar = res_next(&hca->uars, &at)) != NULL;) {
		if (hca->uars.owner[at - 1] != uctx->n)
			continue;
		if (uar->users || !TAILQ_EMPTY(&uar->cqs))
			hca->uars.owner[at - 1] = 0;
		else
			uar_remove(hca, uar);
	}
}

void uctx_remove(struct hca *hca, struct uctx *uctx)
{
	drop_pages(hca, uctx);
	res_remove(&hca->uctxs, uctx->n);
	free(uctx);
}

#define COUNT(table, first, limit, free_it)     count += res_count_of(&hca->table, uctx->n);
#define COUNT_ETH(table, first, limit, free_it) count += res_count_of(&hca->eth->table, uctx->n);
#define SKIP(table, first, limit, free_it)

/* Counts a user's objects without its doorbell pages, as these are freed with the user. A driver
 * tries to free such a page once, when the program releases it; that fails while a queue still uses
 * the page. */
uint64_t uctx_count_objects(const struct hca *hca, const struct uctx *uctx)
{
	uint64_t count = 0;

	HCA_OBJECTS(COUNT, COUNT, SKIP, SKIP)
	ETH_OBJECTS(COUNT_ETH)
	return count;
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * psv.c - signature state (protection signature values, PSVs). See psv.h.
 */
#include "softhca/device/memory/psv.h"

#include <errno.h>
#include <stdlib.h>

#include "softhca/device/core.h"
#include "softhca/device/queue/wqe.h"

int psv_add(struct hca *hca, struct pd *pd, struct psv **out)
{
	struct psv *psv = calloc(1, sizeof(*psv));
	int ret = psv ? res_add(&hca->psvs, psv, &psv->n) : ENOMEM;

	if (ret) {
		free(psv);
		return ret;
	}
	psv->pd = pd;
	pd->users++;
	*out = psv;
	return 0;
}

void psv_remove(struct hca *hca, struct psv *psv)
{
	res_remove(&hca->psvs, psv->n);
	psv->pd->users--;
	free(psv);
}

int psv_set(struct hca *hca, const struct qp *qp, uint32_t n, uint64_t start)
{
	struct psv *psv = res_get(&hca->psvs, n);

	if (!psv || psv->pd != qp->pd)
		return WQE_BAD_MKEY;
	psv->start = start;
	psv->set = true;
	psv->failed = false;
	return 0;
}

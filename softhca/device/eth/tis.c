/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * tis.c - see tis.h.
 */
#include <stdlib.h>

#include "softhca/device/eth/eth.h"

int tis_add(struct hca *hca, struct tis *tis)
{
	int ret = res_add(&hca->eth->tises, tis, &tis->n);

	if (!ret)
		tis->td->users++;
	return ret;
}

void tis_remove(struct hca *hca, struct tis *tis)
{
	res_remove(&hca->eth->tises, tis->n);
	tis->td->users--;
	free(tis);
}

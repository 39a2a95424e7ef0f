/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * pd.c - objects that are little more than a number: domains and UARs.
 */
#include <errno.h>
#include <stdlib.h>

#include "softhca/device/core.h"

int pd_add(struct res_table *table, struct pd **out)
{
	struct pd *pd = calloc(1, sizeof(*pd));
	int ret = pd ? res_add(table, pd, &pd->n) : ENOMEM;

	if (ret)
		free(pd);
	else
		*out = pd;
	return ret;
}

int pd_add_as(struct res_table *table, uint32_t n, struct pd **out)
{
	struct pd *pd = calloc(1, sizeof(*pd));
	int ret = pd ? res_add_as(table, pd, n) : ENOMEM;

	if (ret) {
		free(pd);
		return ret;
	}
	pd->n = n;
	*out = pd;
	return 0;
}

void pd_remove(struct res_table *table, struct pd *pd)
{
	res_remove(table, pd->n);
	free(pd);
}

void uar_free(struct hca *hca, struct uar *uar)
{
	if (uar->bells)
		hca->format->forget_page(hca, uar);
	free(uar);
}

static struct uar *uar_new(void)
{
	struct uar *uar = calloc(1, sizeof(*uar));

	if (!uar)
		return NULL;
	TAILQ_INIT(&uar->qps);
	TAILQ_INIT(&uar->cqs);
	TAILQ_INIT(&uar->sqs);
	return uar;
}

int uar_add(struct hca *hca, struct uar **out)
{
	struct uar *uar = uar_new();
	int ret = uar ? res_add(&hca->uars, uar, &uar->n) : ENOMEM;

	if (ret) {
		free(uar);
		return ret;
	}
	if (hca->config.strict && hca->format->judge_page)
		hca->format->judge_page(uar);
	*out = uar;
	return 0;
}

int uar_add_as(struct hca *hca, uint32_t n, struct uar **out)
{
	struct uar *uar = uar_new();
	int ret = uar ? res_add_as(&hca->uars, uar, n) : ENOMEM;

	if (ret) {
		free(uar);
		return ret;
	}
	uar->n = n;
	*out = uar;
	return 0;
}

void uar_remove(struct hca *hca, struct uar *uar)
{
	cq_forget_uar(uar);
	uar_forget_scan(hca, uar);
	res_remove(&hca->uars, uar->n);
	uar_free(hca, uar);
}

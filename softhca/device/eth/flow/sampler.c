/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sampler.c - objects that send some frames to a second table. Adapters sample by chance; here it
 * is each so-many-th frame, so that a run can be repeated. PRM: SAMPLER
 */
#include <errno.h>
#include <stdlib.h>

#include "softhca/device/eth/eth.h"

int sampler_add(struct hca *hca, const struct sampler *wanted, struct sampler **out)
{
	struct sampler *sampler = malloc(sizeof(*sampler));
	int ret;

	if (!sampler)
		return ENOMEM;
	*sampler = *wanted;
	ret = res_add(&hca->eth->samplers, sampler, &sampler->n);
	if (ret) {
		free(sampler);
		return ret;
	}
	sampler->sample->users++;
	sampler->otherwise->users++;
	*out = sampler;
	return 0;
}

void sampler_remove(struct hca *hca, struct sampler *sampler)
{
	sampler->sample->users--;
	sampler->otherwise->users--;
	res_remove(&hca->eth->samplers, sampler->n);
	free(sampler);
}

bool sampler_takes(struct sampler *sampler)
{
	if (++sampler->since < sampler->ratio)
		return false;
	sampler->since = 0;
	return true;
}

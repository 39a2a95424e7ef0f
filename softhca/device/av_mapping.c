/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * av_mapping.c - mappings from address vectors to QPs. See av_mapping.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "softhca/device/core.h"

int av_mapping_add(struct hca *hca, const uint8_t *context, uint32_t size, struct av_mapping **out)
{
	struct av_mapping *mapping = malloc(sizeof(*mapping) + size);
	int ret = mapping ? res_add(&hca->av_mappings, mapping, &mapping->n) : ENOMEM;

	if (ret) {
		free(mapping);
		return ret;
	}
	memcpy(mapping->context, context, size);
	*out = mapping;
	return 0;
}

void av_mapping_remove(struct hca *hca, struct av_mapping *mapping)
{
	res_remove(&hca->av_mappings, mapping->n);
	free(mapping);
}

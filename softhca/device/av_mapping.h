/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * av_mapping.h - mappings from an address vector to a QP, for congestion control. This adapter has
 * none, so a mapping is stored and has no effect.
 */
#ifndef SOFTHCA_DEVICE_AV_MAPPING_H
#define SOFTHCA_DEVICE_AV_MAPPING_H

#include <stdint.h>

struct hca;

enum { AV_MAPPINGS = 1 << 16 };

struct av_mapping {
	uint32_t n;
	uint8_t context[]; /* as software wrote it */
};

/* Stores SIZE bytes of a mapping. Returns 0, ENOSPC or ENOMEM. */
int av_mapping_add(struct hca *hca, const uint8_t *context, uint32_t size,
		   struct av_mapping **mapping);
void av_mapping_remove(struct hca *hca, struct av_mapping *mapping);

#endif

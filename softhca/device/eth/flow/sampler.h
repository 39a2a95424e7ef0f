/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sampler.h - objects that send all frames to one table, and some of them to another as well.
 * Entries that software writes lead to them.
 */
#ifndef SOFTHCA_DEVICE_ETH_FLOW_SAMPLER_H
#define SOFTHCA_DEVICE_ETH_FLOW_SAMPLER_H

#include <stdbool.h>
#include <stdint.h>

#include "prm/mlx5/match.h"

struct flow_table;
struct hca;

enum { SAMPLER_LOG_MAX = 10 };

struct sampler {
	uint32_t n;
	enum prm_flow_table_type type; /* of both tables */
	unsigned int level;
	bool any_level; /* its tables may be of the same or a lower level */
	uint32_t ratio; /* one of so many frames is sampled */
	uint32_t since; /* frames since the last sample */
	struct flow_table *sample, *otherwise;
};

/* Adds a sampler whose other fields are set, and uses its tables. Returns 0, ENOSPC or ENOMEM. */
int sampler_add(struct hca *hca, const struct sampler *wanted, struct sampler **sampler);
void sampler_remove(struct hca *hca, struct sampler *sampler);
bool sampler_takes(struct sampler *sampler);

#endif

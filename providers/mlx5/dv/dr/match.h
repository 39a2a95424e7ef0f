/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * match.h - from a mask of match parameters to the tags of table entries. PRM: STE
 *
 * A mask becomes steps: one entry of a rule each, with a lookup type, the mask of its tag, and the
 * fields to copy into the tag. Creating a matcher makes the steps; each rule runs them.
 */
#ifndef PROVIDERS_MLX5_DV_DR_MATCH_H
#define PROVIDERS_MLX5_DV_DR_MATCH_H

#include "prm/mlx5/match.h"
#include "providers/mlx5/dv/dr/entry.h"

enum {
	DR_MATCH_SIZE = PRM_MATCH_SETS * PRM_MATCH_SET_SIZE,
	DR_MATCH_STEPS = 40, /* a mask uses each lookup type at most once */
	DR_MATCH_FIELDS = 128,
};

enum dr_field_kind {
	DR_FIELD_COPY,
	DR_FIELD_IP_VERSION,
	DR_FIELD_CVLAN, /* converts the cvlan_tag bit to a VLAN tag's qualifier */
	DR_FIELD_SVLAN,
};

struct dr_field {
	uint32_t from, to;
	enum dr_field_kind kind;
};

struct dr_step {
	struct dr_lookup lookup;
	uint8_t mask[PRM_STE_TAG_SIZE];
	const struct dr_field *fields;
	unsigned int count;
};

struct dr_match {
	unsigned int num_steps, num_fields;
	size_t size; /* bytes up to the mask's last nonzero one, rounded up to dwords */
	struct dr_step steps[DR_MATCH_STEPS];
	struct dr_field fields[DR_MATCH_FIELDS];
	uint8_t mask[DR_MATCH_SIZE];
};

/* Makes the steps for the parameter sets of MASK that CRITERIA selects. Returns 0, EOPNOTSUPP if no
 * entry can match a field, or EINVAL for an invalid mask. Logs for CALL. */
int mlx5_dr_match_plan(const char *call, const void *mask, size_t size, uint8_t criteria,
		       struct dr_match *match);

/* Returns 0, or EINVAL if VALUE has bits outside of the mask, or an IP version other than the
 * mask's. */
int mlx5_dr_match_check(const struct dr_match *match, const void *value, size_t size);

void mlx5_dr_match_tag(const struct dr_step *step, const void *value, uint8_t *tag);

#endif

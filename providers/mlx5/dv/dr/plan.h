/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * plan.h - from the actions of a rule to the bytes of its last entries. PRM: STE actions
 *
 * The last entry that matches has room for 8 bytes of actions. Further entries, which all frames
 * hit, have 12 each.
 */
#ifndef PROVIDERS_MLX5_DV_DR_PLAN_H
#define PROVIDERS_MLX5_DV_DR_PLAN_H

#include <stdbool.h>

#include "providers/mlx5/dv/dr/entry.h"

struct dr_soft;
struct mlx5dv_dr_action;

enum { DR_PLAN_ENTRIES = 12 };

struct dr_plan {
	const char *call;
	const struct dr_soft *soft;
	bool is_tx;
	unsigned int count;
	uint8_t *at;
	unsigned int room;
	bool may_count; /* a counter in the last entry counts frames as the program expects */
	/* the last entry has removed a tunnel, so a further change needs a new entry */
	bool is_bare;
	bool has_popped; /* an entry removes the VLAN tags */
	uint32_t kinds;  /* kinds of actions in the rule, as bits: bit_of() */
	unsigned int popped, pushed;
	unsigned int rank;
	const struct mlx5dv_dr_action *counter, *end;
	unsigned int counting; /* the entry that counts, once counter is set */
	uint8_t entries[DR_PLAN_ENTRIES][PRM_STE_SIZE]; /* [0]: last entry that matches */
};

/* Plans the last entries of a rule, whose last step has LOOKUP_TYPE. The caller sets the addresses
 * by which each entry leads to the next. Returns 0, EINVAL or EOPNOTSUPP, and logs for CALL. */
int mlx5_dr_plan(const char *call, const struct dr_soft *soft, bool is_tx, uint16_t lookup_type,
		 size_t count, struct mlx5dv_dr_action *const actions[], struct dr_plan *plan);

#endif

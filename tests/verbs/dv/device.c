/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * device.c - each requested part of mlx5dv_query_device().
 *
 * Covers: providers/mlx5/dv/device.c, providers/mlx5/hca_caps.c
 */
#include <infiniband/mlx5dv.h>

#include "tests/verbs/dv/dv.h"

#define LAST_PART MLX5DV_CONTEXT_MASK_WR_MEMCPY_LENGTH /* that release 44 has and ours as well */

static uint64_t device_ask(struct rig *rig, uint64_t parts, struct mlx5dv_context *attrs)
{
	*attrs = (struct mlx5dv_context){ .comp_mask = parts };
	MUST(!mlx5dv_query_device(rig->ctx, attrs));
	return attrs->comp_mask;
}

void dv_device(struct rig *rig)
{
	struct mlx5dv_context attrs;

	for (uint64_t part = 1; part <= LAST_PART; part <<= 1)
		say("part %#llx: %#llx", (unsigned long long)part,
		    (unsigned long long)device_ask(rig, part, &attrs));
	/* Bits that came with later releases are left out, as libraries differ in them. */
	say("all known: %#llx", (unsigned long long)device_ask(rig, 2 * LAST_PART - 1, &attrs));
	say("flags %#llx", (unsigned long long)(attrs.flags & 0xff));
	say("clock: renewed within %llu ns, page %s",
	    (unsigned long long)attrs.max_clock_info_update_nsec,
	    attrs.hca_core_clock ? "yes" : "no");
	say("LAG ports %u", attrs.num_lag_ports);
}

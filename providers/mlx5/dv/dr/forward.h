/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * forward.h - a table of the adapter with one entry, which all frames hit and which forwards them
 * to several destinations. An entry that the library writes has one destination, so it leads there.
 *
 * Commands create the table, its group and its entry. PRM: CREATE_FLOW_TABLE, SET_FLOW_TABLE_ENTRY
 */
#ifndef PROVIDERS_MLX5_DV_DR_FORWARD_H
#define PROVIDERS_MLX5_DV_DR_FORWARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "prm/mlx5/match.h"

enum { DR_FORWARD_MAX = 8000 /* most destinations in the command for an entry */ };

struct ibv_context;
struct mlx5dv_devx_obj;
struct mlx5dv_dr_action;

struct dr_forward {
	struct mlx5dv_devx_obj *table, *group, *entry;
	uint32_t number;  /* number of the table, for commands */
	uint64_t address; /* ICM address of the table, for entries; 0: not reported */
};

struct dr_forward_attr {
	enum prm_flow_table_type type;
	uint8_t level; /* lower than the level of each destination table */
	size_t count;
	struct mlx5dv_dr_action *const *destinations; /* QPs, TIRs and tables below the root */
	const struct mlx5dv_dr_action *counter;       /* NULL: counts nothing */
	bool is_last; /* no table is among the destinations: a termination table */
};

/* Creates the table, its group and its entry. Returns 0 or an errno. */
int mlx5_dr_forward_create(struct ibv_context *context, const struct dr_forward_attr *attr,
			   struct dr_forward *forward);
/* Destroys the entry, the group and the table. Returns 0 or an errno; the caller may then try
 * again, because destroyed parts are skipped. */
int mlx5_dr_forward_destroy(struct dr_forward *forward);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * soft.h - the half of a domain that writes table entries itself. The first table below the root
 * creates it.
 */
#ifndef PROVIDERS_MLX5_DV_DR_SOFT_H
#define PROVIDERS_MLX5_DV_DR_SOFT_H

#include "providers/mlx5/dv/dr/anchors.h"
#include "providers/mlx5/dv/dr/caps.h"
#include "providers/mlx5/dv/dr/lane.h"
#include "providers/mlx5/dv/dr/list.h"

struct mlx5dv_dr_domain;
struct mlx5dv_dr_table;

enum { DR_LANES = 4 };

struct dr_soft {
	struct ibv_context *context;
	struct dr_caps caps;
	uint64_t miss, drop; /* addresses for frames that no rule hits, and for dropped ones */
	uint8_t level;       /* level of the adapter's table objects */
	struct ibv_pd *pd;
	struct dr_memory memory;
	struct dr_anchors anchors; /* its lock guards the fields below, too */
	struct dr_places starts;   /* of destroyed tables; the adapter may have copies of these */
	struct dr_lists *lists;    /* NULL: not opened yet */
	unsigned int next_lane;
	struct dr_lane *lanes[DR_LANES]; /* NULL: not opened yet; read without the lock, too */
};

/* Returns whether domains of this type have tables whose entries are written by this library. Asks
 * the adapter once. */
bool mlx5_dr_soft_exists(struct mlx5dv_dr_domain *domain);
/* Creates the half of DOMAIN that writes entries. Returns 0, EOPNOTSUPP if the adapter has no
 * tables that software writes, or an errno. */
int mlx5_dr_soft_open(const char *call, struct mlx5dv_dr_domain *domain, struct dr_soft **soft);
/* Opens domain->soft unless it is open. Returns 0 or an errno. */
int mlx5_dr_soft_ensure(const char *call, struct mlx5dv_dr_domain *domain);
void mlx5_dr_soft_close(struct dr_soft *soft);

/* Writes a list of COUNT changes of headers into the adapter's memory. Returns 0 or an errno. */
int mlx5_dr_soft_add_list(struct dr_soft *soft, const uint8_t *actions, unsigned int count,
			  struct dr_list *list);
void mlx5_dr_soft_remove_list(struct dr_soft *soft, const struct dr_list *list);

struct dr_lane *mlx5_dr_soft_lane(struct dr_soft *soft);

/* Marks the first entry of a destroyed table, at PLACE, to be freed at the next hardware sync. */
void mlx5_dr_soft_free_start(struct dr_soft *soft, uint32_t place);

/* Gives freed places of all lanes back to the memory, after a hardware sync. Returns whether there
 * were any: if so, an allocation may now succeed. The caller must hold no lane's lock. */
bool mlx5_dr_soft_reclaim(struct dr_soft *soft);

/* Waits for all writes of anchors and lanes. With IS_HARDWARE, lets the adapter drop its copies of
 * freed entries, too. */
int mlx5_dr_soft_sync(struct dr_soft *soft, bool is_hardware);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * soft_table.h - a table below the root, and its matchers: the entries between them.
 */
#ifndef PROVIDERS_MLX5_DV_DR_SOFT_TABLE_H
#define PROVIDERS_MLX5_DV_DR_SOFT_TABLE_H

#include <sys/queue.h>

#include "providers/mlx5/dv/dr/htable.h"

struct dr_soft;
struct dr_soft_matcher;
struct mlx5dv_devx_obj;

struct dr_soft_table {
	struct dr_soft *soft;
	uint32_t start;
	struct mlx5dv_devx_obj *obj; /* adapter's object, to which rules of root tables lead */
	uint32_t number;
	pthread_mutex_t lock; /* guards matchers, and the entries between them */
	TAILQ_HEAD(dr_soft_matchers, dr_soft_matcher) matchers; /* in the order of their matching */
};

int mlx5_dr_soft_table_create(const char *call, struct dr_soft *soft, enum prm_flow_table_type type,
			      struct dr_soft_table **table);
int mlx5_dr_soft_table_destroy(struct dr_soft_table *table);

uint64_t mlx5_dr_soft_table_address(const struct dr_soft_table *table);

/* Inserts the matcher before others with the same or a higher priority number, and leads frames to
 * it. Returns 0 or an errno. */
int mlx5_dr_soft_table_link(struct dr_soft_table *table, struct dr_soft_matcher *matcher);
int mlx5_dr_soft_table_unlink(struct dr_soft_table *table, struct dr_soft_matcher *matcher);
/* Grows the table of the matcher's first step, and leads frames to it. The caller holds the lock of
 * the matcher's lane. Returns 0 or an errno. */
int mlx5_dr_soft_table_grow(struct dr_soft_table *table, struct dr_soft_matcher *matcher);

#endif

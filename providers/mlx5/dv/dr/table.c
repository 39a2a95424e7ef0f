/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * table.c - tables of direct rules. Only level 0, the kernel's root table, is supported.
 */
#include "providers/mlx5/dv/dr/dr.h"
#include "util/alloc.h"

DV_EXPORT struct mlx5dv_dr_table *mlx5dv_dr_table_create(struct mlx5dv_dr_domain *domain,
							 uint32_t level)
{
	static const char call[] = "mlx5dv_dr_table_create";
	struct mlx5dv_dr_table *table;

	if (level) {
		verbs_warn("%s: level is %u: only the root table (level 0) is supported", call,
			   level);
		return dv_fail(EOPNOTSUPP);
	}
	table = calloc_for(call, 1, sizeof(*table));
	if (!table)
		return dv_fail(ENOMEM);
	table->domain = domain;
	dr_use(&domain->users);
	pthread_mutex_lock(&domain->lock);
	TAILQ_INSERT_TAIL(&domain->tables, table, link);
	pthread_mutex_unlock(&domain->lock);
	return table;
}

DV_EXPORT int mlx5dv_dr_table_destroy(struct mlx5dv_dr_table *table)
{
	struct mlx5dv_dr_domain *domain = table->domain;
	int ret = dr_check_unused("mlx5dv_dr_table_destroy", &table->users, "matchers");

	if (ret)
		return ret;
	pthread_mutex_lock(&domain->lock);
	TAILQ_REMOVE(&domain->tables, table, link);
	pthread_mutex_unlock(&domain->lock);
	dr_unuse(&domain->users);
	free(table);
	return 0;
}

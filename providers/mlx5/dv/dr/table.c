/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * table.c - tables of direct rules. The kernel maintains the root table (level 0), and soft_table.h
 * all others.
 */
#include "providers/mlx5/dv/dr/dr.h"
#include "providers/mlx5/dv/dr/soft.h"
#include "util/alloc.h"

static enum prm_flow_table_type prm_type(const struct mlx5dv_dr_domain *domain)
{
	return domain->type == MLX5DV_DR_DOMAIN_TYPE_NIC_TX ? PRM_FLOW_NIC_TX : PRM_FLOW_NIC_RX;
}

/* Holds the domain's lock only to open its half, so that other threads can use the domain while
 * this one waits for the table's command. */
static int __attribute__((noinline)) soft_make(const char *call, struct mlx5dv_dr_table *table)
{
	struct mlx5dv_dr_domain *domain = table->domain;
	int ret = mlx5_dr_soft_ensure(call, domain);

	return ret ? ret
		   : mlx5_dr_soft_table_create(call, domain->soft, prm_type(domain), &table->soft);
}

DV_EXPORT struct mlx5dv_dr_table *mlx5dv_dr_table_create(struct mlx5dv_dr_domain *domain,
							 uint32_t level)
{
	static const char call[] = "mlx5dv_dr_table_create";
	struct mlx5dv_dr_table *table = calloc_for(call, 1, sizeof(*table));
	int ret;

	if (!table)
		return dv_fail(ENOMEM);
	table->domain = domain;
	if (unlikely(level)) {
		table->level = level;
		ret = soft_make(call, table);
		if (ret) {
			free(table);
			return dv_fail(ret);
		}
	}
	dr_use(&domain->users);
	pthread_mutex_lock(&domain->lock);
	TAILQ_INSERT_TAIL(&domain->tables, table, link);
	pthread_mutex_unlock(&domain->lock);
	return table;
}

DV_EXPORT int mlx5dv_dr_table_destroy(struct mlx5dv_dr_table *table)
{
	struct mlx5dv_dr_domain *domain = table->domain;
	int ret = dr_check_unused("mlx5dv_dr_table_destroy", &table->users, "matchers or actions");

	if (!ret && table->soft)
		ret = mlx5_dr_soft_table_destroy(table->soft);
	if (ret)
		return ret;
	pthread_mutex_lock(&domain->lock);
	TAILQ_REMOVE(&domain->tables, table, link);
	pthread_mutex_unlock(&domain->lock);
	dr_unuse(&domain->users);
	free(table);
	return 0;
}

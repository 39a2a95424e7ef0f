/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * domain.c - domains of direct rules: reception, transmission, or the embedded switch. The kernel
 * maintains root tables, and soft.h all others.
 */
#include <string.h>

#include "providers/mlx5/dv/dr/dr.h"
#include "providers/mlx5/dv/dr/soft.h"
#include "util/alloc.h"

/* Checks that the port is Ethernet, because the entries of direct rules describe Ethernet
 * headers. */
static int check_port(const char *call, struct ibv_context *context)
{
	struct ibv_port_attr port;
	int ret = ibv_query_port(context, 1, &port);

	if (!ret && port.link_layer != IBV_LINK_LAYER_ETHERNET) {
		verbs_warn("%s: port 1 of %s is not Ethernet", call, context->device->name);
		ret = EOPNOTSUPP;
	}
	return ret;
}

static int domain_check(const char *call, struct ibv_context *context,
			enum mlx5dv_dr_domain_type type)
{
	int ret = dv_check_context(call, context);

	if (ret)
		return ret;
	switch (type) {
	case MLX5DV_DR_DOMAIN_TYPE_NIC_RX:
	case MLX5DV_DR_DOMAIN_TYPE_NIC_TX:
	case MLX5DV_DR_DOMAIN_TYPE_FDB:
		return check_port(call, context);
	default:
		verbs_warn("%s: type is %d, must be NIC_RX (0), NIC_TX (1) or FDB (2)", call,
			   (int)type);
		return EINVAL;
	}
}

DV_EXPORT struct mlx5dv_dr_domain *mlx5dv_dr_domain_create(struct ibv_context *ctx,
							   enum mlx5dv_dr_domain_type type)
{
	static const char call[] = "mlx5dv_dr_domain_create";
	int ret = domain_check(call, ctx, type);
	struct mlx5dv_dr_domain *domain;

	if (ret)
		return dv_fail(ret);
	domain = calloc_for(call, 1, sizeof(*domain));
	if (!domain)
		return dv_fail(ENOMEM);
	domain->context = ctx;
	domain->type = type;
	pthread_mutex_init(&domain->lock, NULL);
	TAILQ_INIT(&domain->tables);
	return domain;
}

DV_EXPORT int mlx5dv_dr_domain_destroy(struct mlx5dv_dr_domain *domain)
{
	int ret = dr_check_unused("mlx5dv_dr_domain_destroy", &domain->users, "tables or actions");

	if (ret)
		return ret;
	if (domain->soft)
		mlx5_dr_soft_close(domain->soft);
	pthread_mutex_destroy(&domain->lock);
	free(domain);
	return 0;
}

/* SW waits until posted entries are written. HW and MEM also make the adapter drop its copies of
 * freed entries. Rules of root tables take effect when they are created, so a domain that can have
 * only root tables returns EOPNOTSUPP, as in the distribution's library. */
DV_EXPORT int mlx5dv_dr_domain_sync(struct mlx5dv_dr_domain *domain, uint32_t flags)
{
	const uint32_t known = MLX5DV_DR_DOMAIN_SYNC_FLAGS_SW | MLX5DV_DR_DOMAIN_SYNC_FLAGS_HW |
			       MLX5DV_DR_DOMAIN_SYNC_FLAGS_MEM;
	struct dr_soft *soft = __atomic_load_n(&domain->soft, __ATOMIC_ACQUIRE);

	if (flags & ~known) {
		verbs_warn("mlx5dv_dr_domain_sync: flags are %#x, known are %#x", flags, known);
		return verbs_result(EOPNOTSUPP);
	}
	if (!soft && !mlx5_dr_soft_exists(domain)) {
		verbs_warn("mlx5dv_dr_domain_sync: flags are %#x, but the domain has root tables "
			   "alone, where rules hold when they are made",
			   flags);
		return verbs_result(EOPNOTSUPP);
	}
	if (!soft || !flags)
		return 0;
	return verbs_result(mlx5_dr_soft_sync(soft, flags & ~MLX5DV_DR_DOMAIN_SYNC_FLAGS_SW));
}

static void domain_set(struct mlx5dv_dr_domain *domain, unsigned int flag, bool on)
{
	if (on)
		__atomic_or_fetch(&domain->flags, flag, __ATOMIC_RELAXED);
	else
		__atomic_and_fetch(&domain->flags, ~flag, __ATOMIC_RELAXED);
}

DV_EXPORT void mlx5dv_dr_domain_set_reclaim_device_memory(struct mlx5dv_dr_domain *dmn, bool enable)
{
	domain_set(dmn, DR_RECLAIMS_MEMORY, enable);
}

/* Stores the flag for rules below the root. In a root table, the kernel decides about
 * duplicates. */
DV_EXPORT void mlx5dv_dr_domain_allow_duplicate_rules(struct mlx5dv_dr_domain *domain, bool allow)
{
	domain_set(domain, DR_REFUSES_DUPLICATES, !allow);
}

enum mlx5dv_flow_table_type mlx5_dr_table_type(const struct mlx5dv_dr_domain *domain)
{
	switch (domain->type) {
	case MLX5DV_DR_DOMAIN_TYPE_NIC_TX:
		return MLX5DV_FLOW_TABLE_TYPE_NIC_TX;
	case MLX5DV_DR_DOMAIN_TYPE_FDB:
		return MLX5DV_FLOW_TABLE_TYPE_FDB;
	default:
		return MLX5DV_FLOW_TABLE_TYPE_NIC_RX;
	}
}

int mlx5_dr_refuse_used(const char *call, unsigned int count, const char *who)
{
	verbs_warn("%s: destroy its %u %s first", call, count, who);
	return verbs_result(EBUSY);
}

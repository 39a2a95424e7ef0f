/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * ah.c - address handles. On InfiniBand one is made of its attributes alone, without the kernel; on
 * RoCE the kernel knows the next hop.
 */
#include "providers/mlx5/ah.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>

#include "providers/mlx5/context.h"
#include "providers/mlx5/device.h"
#include "util/alloc.h"

static int ah_check_attr(struct mlx5_context *ctx, const struct ibv_ah_attr *attr)
{
	if (attr->port_num < 1 || attr->port_num > ctx->caps.num_ports) {
		verbs_warn("create_ah: port_num is %u, must be 1 to %u", attr->port_num,
			   ctx->caps.num_ports);
		return EINVAL;
	}
	return 0;
}

/* The kernel is asked once: a port does not change its link layer while the device is open. */
static int port_is_ethernet(struct mlx5_context *ctx, uint8_t port_num, bool *ethernet)
{
	uint8_t *cached =
		port_num < ARRAY_SIZE(ctx->link_layer) ? &ctx->link_layer[port_num] : NULL;
	struct ibv_port_attr port;
	int ret;

	if (cached && __atomic_load_n(cached, __ATOMIC_RELAXED)) {
		*ethernet = __atomic_load_n(cached, __ATOMIC_RELAXED) == IBV_LINK_LAYER_ETHERNET;
		return 0;
	}
	ret = provider_device_query_port(&ctx->vctx.context, port_num, &port, sizeof(port));
	if (ret)
		return ret;
	*ethernet = port.link_layer == IBV_LINK_LAYER_ETHERNET;
	if (cached)
		__atomic_store_n(cached, port.link_layer, __ATOMIC_RELAXED);
	return 0;
}

static int ah_check_roce(struct mlx5_context *ctx, const struct ibv_ah_attr *attr)
{
	if (!attr->is_global) {
		verbs_warn("create_ah: is_global is 0, but port %u is Ethernet: set it, and grh",
			   attr->port_num);
		return EINVAL;
	}
	if (ctx->caps.cmds_supp_uhw & MLX5_USER_CMDS_SUPP_UHW_CREATE_AH)
		return 0;
	verbs_warn("create_ah: the kernel does not resolve addresses on Ethernet");
	return EOPNOTSUPP;
}

/* RoCE v2 packets have a UDP source port, which the address vector has in the place of the LID. */
static int ah_put_udp_sport(struct ibv_pd *pd, const struct ibv_ah_attr *attr,
			    struct mlx5_wqe_av *av)
{
	struct ibv_gid_entry entry;
	int ret = ibv_query_gid_ex(pd->context, attr->port_num, attr->grh.sgid_index, &entry, 0);

	if (ret) {
		verbs_warn("create_ah: grh.sgid_index is %u: no such GID on port %u",
			   attr->grh.sgid_index, attr->port_num);
		return ret;
	}
	if (entry.gid_type == IBV_GID_TYPE_ROCE_V2)
		av->rlid = htobe16(ibv_flow_label_to_udp_sport(attr->grh.flow_label));
	return 0;
}

static int ah_resolve_roce(struct mlx5_context *ctx, struct ibv_pd *pd,
			   const struct ibv_ah_attr *attr, struct mlx5_ah *mah)
{
	struct mlx5_ib_create_ah_resp resp = { 0 };
	const struct verbs_udata udata = { .resp = &resp, .resp_len = sizeof(resp) };
	int ret = ah_check_roce(ctx, attr);

	if (ret)
		return ret;
	ret = ah_put_udp_sport(pd, attr, &mah->av);
	if (!ret)
		ret = verbs_cmd_create_ah(pd, attr, &mah->ah, &udata);
	if (ret)
		return ret;
	mah->has_kernel_object = true;
	mlx5_ah_fill_roce(attr, resp.dmac, &mah->av);
	return 0;
}

int mlx5_ah_create(struct ibv_pd *pd, struct ibv_ah_attr *attr, struct ibv_ah **ah)
{
	struct mlx5_context *ctx = to_mctx(pd->context);
	bool ethernet = false;
	struct mlx5_ah *mah;
	int ret;

	ret = ah_check_attr(ctx, attr);
	if (!ret)
		ret = port_is_ethernet(ctx, attr->port_num, &ethernet);
	if (ret)
		return ret;
	mah = calloc_for("create_ah", 1, sizeof(*mah));
	if (!mah)
		return ENOMEM;
	if (ethernet)
		ret = ah_resolve_roce(ctx, pd, attr, mah);
	else
		mlx5_ah_fill_infiniband(attr, &mah->av);
	if (ret) {
		free(mah);
		return ret;
	}
	*ah = &mah->ah;
	return 0;
}

int mlx5_ah_destroy(struct ibv_ah *ah)
{
	struct mlx5_ah *mah = to_mah(ah);
	int ret = mah->has_kernel_object ? verbs_cmd_destroy_ah(ah) : 0;

	if (!ret)
		free(mah);
	return ret;
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * ah.c - address handles. On InfiniBand, a handle is computed from its attributes without the
 * kernel. On RoCE, the kernel resolves the next hop.
 */
#include "providers/mlx5/ah/ah.h"

#include <endian.h>
#include <errno.h>
#include <unistd.h>

#include "providers/mlx5/context.h"

static int ah_check_attr(struct mlx5_context *ctx, const struct ibv_ah_attr *attr)
{
	if (attr->port_num < 1 || attr->port_num > ctx->caps.num_ports) {
		verbs_warn("create_ah: port_num is %u, must be 1 to %u", attr->port_num,
			   ctx->caps.num_ports);
		return EINVAL;
	}
	return 0;
}

static int ah_check_grh(const struct ibv_ah_attr *attr, uint8_t traits)
{
	if (attr->is_global || !(traits & (PORT_ETHERNET | PORT_NEEDS_GRH)))
		return 0;
	verbs_warn("create_ah: is_global is 0, but port %u %s: set it, and grh", attr->port_num,
		   traits & PORT_ETHERNET ? "is Ethernet" : "demands a GRH");
	return EINVAL;
}

static int ah_check_roce(const struct mlx5_context *ctx)
{
	if (ctx->caps.cmds_supp_uhw & MLX5_USER_CMDS_SUPP_UHW_CREATE_AH)
		return 0;
	verbs_warn("create_ah: the kernel does not resolve addresses on Ethernet");
	return EOPNOTSUPP;
}

/* Returns the UDP source port of a handle without a flow label. Switches choose a path by this
 * port, so each handle gets another port: the handles spread over the paths, and the datagrams of
 * one handle stay on one path. STEP is the golden ratio of PORTS made odd: all ports are used
 * before one repeats, and successive ports differ in high bits as well as in low ones. Contexts
 * start at different ports, so that they do not choose the same paths. */
static uint16_t ah_next_udp_sport(struct mlx5_context *ctx)
{
	enum { PORTS = 1 << 14, STEP = 10125 };
	uint32_t count = __atomic_fetch_add(&ctx->ah_count, 1, __ATOMIC_RELAXED);
	uint32_t start = ((uint32_t)((uintptr_t)ctx >> 4) + (uint32_t)getpid()) * 0x9e3779b1u >> 18;

	return (uint16_t)(IB_ROCE_UDP_ENCAP_VALID_PORT_MIN | ((start + count * STEP) % PORTS));
}

static uint16_t ah_udp_sport(struct mlx5_context *ctx, uint32_t flow_label)
{
	return flow_label & IB_GRH_FLOWLABEL_MASK ? ibv_flow_label_to_udp_sport(flow_label)
						  : ah_next_udp_sport(ctx);
}

/* Sets the UDP source port of a RoCE v2 packet, so that switches spread flows over their paths. The
 * port is in the LID field of the address vector, which RoCE does not need. */
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
		av->rlid = htobe16(ah_udp_sport(to_mctx(pd->context), attr->grh.flow_label));
	return 0;
}

static int ah_resolve_roce(struct mlx5_context *ctx, struct ibv_pd *pd,
			   const struct ibv_ah_attr *attr, struct mlx5_ah *mah)
{
	struct mlx5_ib_create_ah_resp resp = { 0 };
	const struct verbs_udata udata = { .resp = &resp, .resp_len = sizeof(resp) };
	int ret = ah_check_roce(ctx);

	if (ret)
		return ret;
	ret = ah_put_udp_sport(pd, attr, &mah->av);
	if (!ret)
		ret = verbs_cmd_create_ah(pd, attr, &mah->ah, &udata);
	if (ret)
		return ret;
	mah->has_kernel_object = true;
	mlx5_ah_fill_roce(attr, resp.dmac, mah);
	return 0;
}

int mlx5_ah_create(struct ibv_pd *pd, struct ibv_ah_attr *attr, struct ibv_ah **ah)
{
	struct mlx5_context *ctx = to_mctx(pd->context);
	uint8_t traits = 0;
	struct mlx5_ah *mah;
	int ret;

	ret = ah_check_attr(ctx, attr);
	if (!ret)
		ret = provider_device_port_traits(&ctx->common.device, attr->port_num, &traits);
	if (!ret)
		ret = ah_check_grh(attr, traits);
	if (ret)
		return ret;
	mah = provider_cells_take(&ctx->common.cells, "create_ah", sizeof(*mah));
	if (!mah)
		return ENOMEM;
	*mah = (struct mlx5_ah){ .ah.context = pd->context };
	if (traits & PORT_ETHERNET)
		ret = ah_resolve_roce(ctx, pd, attr, mah);
	else
		mlx5_ah_fill_infiniband(attr, mah);
	if (ret) {
		provider_cells_give(&ctx->common.cells, mah, sizeof(*mah));
		return ret;
	}
	*ah = &mah->ah;
	return 0;
}

int mlx5_ah_destroy(struct ibv_ah *ah)
{
	struct mlx5_context *ctx = to_mctx(ah->context);
	struct mlx5_ah *mah = to_mah(ah);
	int ret = 0;

	if (mah->is_mapped)
		ret = mlx5_devx_object_destroy(ctx, &mah->mapping);
	mah->is_mapped = mah->is_mapped && ret;
	if (!ret && mah->has_kernel_object)
		ret = verbs_cmd_destroy_ah(ah);
	if (!ret)
		provider_cells_give(&ctx->common.cells, mah, sizeof(*mah));
	return ret;
}

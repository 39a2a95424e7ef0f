/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * ah.c - address handles. The kernel is not involved: on RoCE, the library resolves the peer's MAC
 * address from its GID.
 */
#include "providers/mlx4/ah.h"

#include <errno.h>

#include "providers/mlx4/context.h"
#include "providers/mlx4/pd.h"

enum { GRH_GID_MAX = 127 };

static int ah_check_attr(const struct ibv_ah_attr *attr, bool is_ethernet)
{
	if (is_ethernet && !attr->is_global) {
		verbs_warn("create_ah: is_global is 0: RoCE needs a GRH");
		return EINVAL;
	}
	if (attr->is_global && attr->grh.sgid_index > GRH_GID_MAX) {
		verbs_warn("create_ah: grh.sgid_index is %u, limit %u: the address vector has 7 "
			   "bits for it",
			   attr->grh.sgid_index, GRH_GID_MAX);
		return EINVAL;
	}
	return 0;
}

static uint32_t in_dword(uint32_t field, uint32_t value)
{
	return (value & FLD_MASK(field)) << FLD_SHIFT(field);
}

static void dword_put(uint8_t *av, uint32_t field, uint32_t value)
{
	const uint32_t be = htobe32(value);

	memcpy(av + FLD_DWORD(field) * sizeof(be), &be, sizeof(be));
}

static int ah_put_ethernet(struct ibv_pd *pd, struct ibv_ah_attr *attr, uint8_t *segment)
{
	enum { NO_VLAN = 0xffff };
	uint16_t vlan = NO_VLAN;
	int ret = ibv_resolve_eth_l2_from_gid(pd->context, attr, fld_at(segment, M4_DGRAM_MAC),
					      &vlan);

	if (ret)
		return EINVAL;
	fld_set(segment, M4_AV_ETH_PRIO, attr->sl & 7);
	if (vlan >= NO_VLAN >> 4)
		return 0;
	fld_set(segment, M4_AV_VLAN, 1);
	fld_set(segment, M4_DGRAM_VLAN, (attr->sl & 7) << 13 | vlan);
	return 0;
}

/* Returns the first dword of an InfiniBand path. On Ethernet it is 0, because a frame has no
 * LID. */
static uint32_t ah_path(const struct ibv_ah_attr *attr, bool is_ethernet)
{
	return is_ethernet ? 0
			   : in_dword(M4_AV_DLID, attr->dlid) |
				     in_dword(M4_AV_PATH_BITS, attr->src_path_bits);
}

/* Fills in the segment. Each dword is stored once, which costs less than a load and a store for
 * each field. */
static int ah_fill(struct ibv_pd *pd, struct ibv_ah_attr *attr, bool is_ethernet, uint8_t *segment)
{
	const uint32_t path = ah_path(attr, is_ethernet);
	const uint32_t rate =
		attr->static_rate ? in_dword(M4_AV_RATE, attr->static_rate + M4_RATE_OFFSET) : 0;
	const uint32_t sl = is_ethernet ? 0 : in_dword(M4_AV_SL, attr->sl);
	const struct ibv_global_route *grh = &attr->grh;

	dword_put(segment, M4_AV_PORT,
		  in_dword(M4_AV_PORT, attr->port_num) | in_dword(M4_AV_PD, to_ppd(pd)->pdn));
	if (attr->is_global) {
		dword_put(segment, M4_AV_GRH, path | FLD_BITS(M4_AV_GRH));
		dword_put(segment, M4_AV_RATE,
			  rate | in_dword(M4_AV_GID_INDEX, grh->sgid_index) |
				  in_dword(M4_AV_HOP_LIMIT, grh->hop_limit));
		dword_put(segment, M4_AV_SL,
			  sl | in_dword(M4_AV_TCLASS, grh->traffic_class) |
				  in_dword(M4_AV_FLOW_LABEL, grh->flow_label));
		memcpy(fld_at(segment, M4_AV_DGID), grh->dgid.raw, sizeof(grh->dgid.raw));
	} else {
		dword_put(segment, M4_AV_DLID, path);
		dword_put(segment, M4_AV_RATE, rate);
		dword_put(segment, M4_AV_SL, sl);
	}
	return is_ethernet ? ah_put_ethernet(pd, attr, segment) : 0;
}

int mlx4_ah_create(struct ibv_pd *pd, struct ibv_ah_attr *attr, struct ibv_ah **ah)
{
	struct mlx4_context *ctx = to_mctx(pd->context);
	struct mlx4_ah *mah;
	bool is_ethernet;
	uint8_t traits = device_known_traits(&ctx->common.device, attr->port_num);
	int ret =
		traits ? 0
		       : provider_device_port_traits(&ctx->common.device, attr->port_num, &traits);

	if (ret) {
		verbs_warn("create_ah: port_num is %u: the device has no such port",
			   attr->port_num);
		return ret;
	}
	is_ethernet = traits & PORT_ETHERNET;
	ret = ah_check_attr(attr, is_ethernet);
	if (ret)
		return ret;
	mah = provider_cells_take(&ctx->common.cells, "create_ah", sizeof(*mah));
	if (!mah)
		return ENOMEM;
	*mah = (struct mlx4_ah){ .ah.context = pd->context };
	ret = ah_fill(pd, attr, is_ethernet, mah->segment);
	if (ret) {
		provider_cells_give(&ctx->common.cells, mah, sizeof(*mah));
		return ret;
	}
	*ah = &mah->ah;
	return 0;
}

int mlx4_ah_destroy(struct ibv_ah *ah)
{
	provider_cells_give(&to_mctx(ah->context)->common.cells, to_mah(ah),
			    sizeof(struct mlx4_ah));
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * av.c - computes the address vector of a WQE from the attributes of an address handle.
 */
#include "prm/mlx5/av.h"
#include "providers/mlx5/ah/ah.h"

#include <endian.h>
#include <string.h>

/* Returns the static rate of an address vector. PRM: codes 7 to 15 are 2.5, 10, 30, 5, 20, 40, 60,
 * 80 and 120 Gbit/s, and 0 is no limit. A rate without a code gets the code of the next higher
 * rate; a rate above 120 Gbit/s gets 0. */
static uint8_t rate_code(uint8_t rate)
{
	static const uint8_t codes[] = {
		[IBV_RATE_2_5_GBPS] = 7,  [IBV_RATE_5_GBPS] = 10,   [IBV_RATE_10_GBPS] = 8,
		[IBV_RATE_14_GBPS] = 11,  [IBV_RATE_20_GBPS] = 11,  [IBV_RATE_25_GBPS] = 9,
		[IBV_RATE_28_GBPS] = 9,   [IBV_RATE_30_GBPS] = 9,   [IBV_RATE_40_GBPS] = 12,
		[IBV_RATE_50_GBPS] = 13,  [IBV_RATE_56_GBPS] = 13,  [IBV_RATE_60_GBPS] = 13,
		[IBV_RATE_80_GBPS] = 14,  [IBV_RATE_100_GBPS] = 15, [IBV_RATE_112_GBPS] = 15,
		[IBV_RATE_120_GBPS] = 15,
	};

	return rate < ARRAY_SIZE(codes) ? codes[rate] : 0;
}

static void av_fill_grh(const struct ibv_global_route *grh, bool roce, struct mlx5_wqe_av *av)
{
	/* PRM: the GRH bit is reserved on RoCE, where every packet has a GRH. */
	av->grh_gid_fl = htobe32((roce ? 0 : 1u << FLD_SHIFT(AV_GRH)) |
				 (uint32_t)grh->sgid_index << FLD_SHIFT(AV_GID_INDEX) |
				 (grh->flow_label & IB_GRH_FLOWLABEL_MASK));
	av->tclass = grh->traffic_class;
	av->hop_limit = grh->hop_limit;
	memcpy(av->rgid, grh->dgid.raw, sizeof(av->rgid));
}

static void ah_set_number(struct mlx5_ah *mah)
{
	__be64 raw;

	memcpy(&raw, (const uint8_t *)&mah->av + AV_AT_NUMBER, sizeof(raw));
	mah->number = be64toh(raw) | (uint64_t)MLX5_EXTENDED_UD_AV << 32;
}

void mlx5_ah_fill_infiniband(const struct ibv_ah_attr *attr, struct mlx5_ah *mah)
{
	struct mlx5_wqe_av *av = &mah->av;

	av->stat_rate_sl = (uint8_t)(rate_code(attr->static_rate) << 4 | (attr->sl & 0xf));
	av->fl_mlid = attr->src_path_bits & 0x7f;
	av->rlid = htobe16(attr->dlid);
	if (attr->is_global)
		av_fill_grh(&attr->grh, false, av);
	ah_set_number(mah);
}

void mlx5_ah_fill_roce(const struct ibv_ah_attr *attr, const uint8_t *dmac, struct mlx5_ah *mah)
{
	struct mlx5_wqe_av *av = &mah->av;

	/* On Ethernet, the SL is an 802.1p priority of 3 bits; a fourth bit would set a
	 * neighbouring field. */
	av->stat_rate_sl = (uint8_t)(rate_code(attr->static_rate) << 4 | (attr->sl & 0x7) << 1);
	memcpy(av->rmac, dmac, sizeof(av->rmac));
	av_fill_grh(&attr->grh, true, av);
	ah_set_number(mah);
}

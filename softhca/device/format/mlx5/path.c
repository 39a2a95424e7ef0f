/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * path.c - address paths in QP contexts, and address vectors in WQEs of datagrams. PRM: Address
 * Path, Address Vector
 */
#include <string.h>

#include "ib/mad.h"
#include "prm/mlx5/av.h"
#include "prm/mlx5/qpc.h"
#include "softhca/device/core.h"
#include "softhca/device/format/mlx5/mac.h"
#include "softhca/device/format/mlx5/mlx5.h"

static void decode_global(const uint8_t *ads, struct fabric_addr *addr)
{
	addr->traffic_class = fld_get(ads, ADS_TCLASS);
	addr->hop_limit = fld_get(ads, ADS_HOP_LIMIT);
	addr->flow_label = fld_get(ads, ADS_FLOW_LABEL);
	memcpy(addr->dgid, fld_at(ads, ADS_RGID_RIP), sizeof(addr->dgid));
}

void mlx5_decode_path(const uint8_t *ads, bool roce, struct qp_path *path)
{
	struct fabric_addr *addr = &path->addr;

	memset(path, 0, sizeof(*path));
	path->gid_index = fld_get(ads, ADS_SRC_ADDR_INDEX);
	path->pkey = port_pkey(fld_get(ads, ADS_PKEY_INDEX));
	addr->port = fld_get(ads, ADS_VHCA_PORT_NUM);
	addr->by_gid = roce;
	addr->grh = roce || fld_get(ads, ADS_GRH);
	if (addr->grh)
		decode_global(ads, addr);
	if (!roce) {
		addr->dlid = fld_get(ads, ADS_RLID);
		addr->sl = fld_get(ads, ADS_SL);
		return;
	}
	addr->sl = fld_get(ads, ADS_ETH_PRIO);
	addr->udp_sport = fld_get(ads, ADS_UDP_SPORT);
	mac_get(ads, ADS_RMAC_47_32, ADS_RMAC_31_0, addr->dmac);
}

static void decode_global_av(const uint8_t *av, struct fabric_addr *addr)
{
	addr->traffic_class = fld_get(av, AV_TCLASS);
	addr->hop_limit = fld_get(av, AV_HOP_LIMIT);
	addr->flow_label = fld_get(av, AV_FLOW_LABEL);
	memcpy(addr->dgid, fld_at(av, AV_RGID), sizeof(addr->dgid));
}

void mlx5_decode_av(const uint8_t *av, bool roce, struct datagram_to *to)
{
	struct fabric_addr *addr = &to->path.addr;

	memset(to, 0, sizeof(*to));
	to->qpn = fld_get(av, AV_DQPN);
	to->qkey = fld_get(av, AV_QKEY);
	to->dc_key = fld_get(av, AV_DC_KEY);
	to->has_qkey = !(to->qkey & AV_QKEY_OF_QP);
	to->path.gid_index = fld_get(av, AV_GID_INDEX);
	addr->by_gid = roce;
	addr->grh = fld_get(av, AV_EXTENDED) && (roce || fld_get(av, AV_GRH));
	if (addr->grh)
		decode_global_av(av, addr);
	if (!roce) {
		addr->dlid = fld_get(av, AV_RLID);
		addr->sl = fld_get(av, AV_SL);
		return;
	}
	addr->sl = fld_get(av, AV_ETH_PRIO);
	addr->udp_sport = fld_get(av, AV_UDP_SPORT);
	mac_get(av, AV_RMAC_47_16, AV_RMAC_15_0, addr->dmac);
}

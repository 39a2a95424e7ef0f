/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * path.c - address paths: from a QP's context to the address that its messages carry.
 *
 * The source GID is looked up for each message, as software may replace it in the port's table
 * while the path names it by its index. PRM: Address Path
 */
#include <string.h>

#include "ib/mad.h"
#include "prm/mlx5/av.h"
#include "prm/mlx5/qpc.h"
#include "prm/mlx5/vport.h"
#include "softhca/device/core.h"

static void put_mac(uint8_t mac[6], uint64_t value)
{
	uint64_t be = htobe64(value);

	memcpy(mac, (const uint8_t *)&be + 2, 6);
}

static void decode_global(const uint8_t *ads, struct fabric_addr *addr)
{
	addr->traffic_class = fld_get(ads, ADS_TCLASS);
	addr->hop_limit = fld_get(ads, ADS_HOP_LIMIT);
	addr->flow_label = fld_get(ads, ADS_FLOW_LABEL);
	memcpy(addr->dgid, fld_at(ads, ADS_RGID_RIP), sizeof(addr->dgid));
}

void path_decode(const struct hca *hca, const uint8_t *ads, struct qp_path *path)
{
	struct fabric_addr *addr = &path->addr;
	bool roce = hca->config.link_layer == HCA_LINK_ETHERNET;

	memset(path, 0, sizeof(*path));
	path->gid_index = fld_get(ads, ADS_SRC_ADDR_INDEX);
	path->pkey = fld_get(ads, ADS_PKEY_INDEX) == 0 ? PKEY_DEFAULT : 0;
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
	put_mac(addr->dmac, fld_get(ads, ADS_RMAC_47_32) << 32 | fld_get(ads, ADS_RMAC_31_0));
}

static void decode_global_av(const uint8_t *av, struct fabric_addr *addr)
{
	addr->traffic_class = fld_get(av, AV_TCLASS);
	addr->hop_limit = fld_get(av, AV_HOP_LIMIT);
	addr->flow_label = fld_get(av, AV_FLOW_LABEL);
	memcpy(addr->dgid, fld_at(av, AV_RGID), sizeof(addr->dgid));
}

bool path_decode_av(const struct hca *hca, const uint8_t *av, const struct qp_path *own,
		    struct qp_path *path)
{
	struct fabric_addr *addr = &path->addr;
	bool roce = hca->config.link_layer == HCA_LINK_ETHERNET;

	memset(path, 0, sizeof(*path));
	path->gid_index = fld_get(av, AV_GID_INDEX);
	path->pkey = own->pkey;
	addr->port = own->addr.port;
	addr->by_gid = roce;
	addr->grh = fld_get(av, AV_EXTENDED) && (roce || fld_get(av, AV_GRH));
	if (addr->grh)
		decode_global_av(av, addr);
	if (!roce) {
		addr->dlid = fld_get(av, AV_RLID);
		addr->sl = fld_get(av, AV_SL);
	} else {
		addr->sl = fld_get(av, AV_ETH_PRIO);
		addr->udp_sport = fld_get(av, AV_UDP_SPORT);
		put_mac(addr->dmac, fld_get(av, AV_RMAC_47_16) << 16 | fld_get(av, AV_RMAC_15_0));
	}
	if (addr->grh && !port_gid(hca, addr->port, path->gid_index))
		return false;
	return roce ? addr->grh : addr->dlid != 0;
}

static void from_roce_entry(const uint8_t *raw, struct fabric_addr *addr)
{
	enum { L3_IPV4 = 0 };

	addr->roce = fld_get(raw, ROCE_ADDR_ROCE_VERSION) == FABRIC_ROCE_V2 ? FABRIC_ROCE_V2
									    : FABRIC_ROCE_V1;
	addr->ipv4 =
		addr->roce == FABRIC_ROCE_V2 && fld_get(raw, ROCE_ADDR_ROCE_L3_TYPE) == L3_IPV4;
	addr->tagged = fld_get(raw, ROCE_ADDR_VLAN_VALID);
	addr->vlan = fld_get(raw, ROCE_ADDR_VLAN_ID);
	put_mac(addr->smac, fld_get(raw, ROCE_ADDR_SOURCE_MAC_47_32) << 32 |
				    fld_get(raw, ROCE_ADDR_SOURCE_MAC_31_0));
}

void path_address(const struct hca *hca, const struct qp_path *path, struct fabric_addr *addr)
{
	const struct gid_entry *entry = port_gid_entry(hca, path->addr.port, path->gid_index);

	*addr = path->addr;
	addr->slid = hca->port[addr->port - 1].lid;
	if (!entry || !addr->grh)
		return;
	memcpy(addr->sgid, fld_at(entry->raw, ROCE_ADDR_SOURCE_L3_ADDRESS), sizeof(addr->sgid));
	if (addr->by_gid)
		from_roce_entry(entry->raw, addr);
}

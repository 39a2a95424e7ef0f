/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * eth_port.c - mlx4's commands on Ethernet ports: queries, tables of GIDs, MAC addresses and VLANs,
 * and filters.
 *
 * RoCE messages use the port's own MAC address. All received frames go to one QP, and Linux checks
 * their addresses; so filters and address tables are not kept.
 */
#include <assert.h>
#include <string.h>

#include "ib/packet.h"
#include "prm/mlx4/caps.h"
#include "softhca/device/eth/eth.h"
#include "softhca/device/format/mlx4/cmd/eth_port.h"
#include "softhca/device/format/mlx4/firmware.h"
#include "softhca/inet.h"

enum {
	LOG_MACS = 7,
	LOG_VLANS = 7,
	LOG_ROCE_GIDS = 7,
	LOG_ROCE_PKEYS = 7,
};

static_assert(1 << LOG_VLANS == (int)M4_VLANS, "the table of VLANs");
static_assert(1 << LOG_ROCE_GIDS == (int)M4_ROCE_GIDS && (int)M4_ROCE_GIDS <= (int)PORT_GIDS_ROCE,
	      "the table of GIDs");

static uint64_t port_mac(const struct hca *hca)
{
	uint64_t mac = 0;

	for (unsigned int i = 0; i < sizeof(hca->eth->vport.mac); i++)
		mac = mac << 8 | hca->eth->vport.mac[i];
	return mac;
}

void m4_eth_port_query(const struct hca *hca, unsigned int port, uint8_t *out)
{
	fld_set(out, M4_PORT_LINK_UP, port_is_up(hca, port));
	fld_set(out, M4_PORT_TYPES, M4_PORT_TYPE_ETH);
	fld_set(out, M4_PORT_ETH_MTU, PORT_MTU_MAX);
	fld_set(out, M4_PORT_SPEED, M4_PORT_SPEED_40G);
	fld_set(out, M4_PORT_LOG_GIDS, LOG_ROCE_GIDS);
	fld_set(out, M4_PORT_LOG_PKEYS, LOG_ROCE_PKEYS);
	fld_set(out, M4_PORT_LOG_MACS, LOG_MACS);
	fld_set(out, M4_PORT_LOG_VLANS, LOG_VLANS);
	fld_set(out, M4_PORT_MAC, port_mac(hca));
}

/* RoCE version 1 treats IPv4-mapped GIDs like any other. */
static void set_gids(struct hca *hca, struct port *port, const uint8_t *table)
{
	struct gid_entry entry = {
		.version = FABRIC_ROCE_V1,
		.l3_type = M4_ROCE_L3_IPV6,
		.path_tags = true,
	};

	memcpy(entry.mac, hca->eth->vport.mac, sizeof(entry.mac));
	for (unsigned int i = 0; i < M4_ROCE_GIDS; i++) {
		memcpy(entry.gid, table + sizeof(entry.gid) * i, sizeof(entry.gid));
		port_set_gid(hca, port, i, &entry);
	}
}

static const char *check_roce_entry(const uint8_t *entry)
{
	uint64_t version = fld_get(entry, M4_ROCE_VERSION);
	bool is_ipv4 = version == FABRIC_ROCE_V2 && inet_is_mapped(fld_at(entry, M4_ROCE_GID));

	if (version != FABRIC_ROCE_V1 && version != FABRIC_ROCE_V2)
		return "port: a GID of an unknown version of RoCE";
	if (version == FABRIC_ROCE_V2 &&
	    fld_get(entry, M4_ROCE_L3_TYPE) != (is_ipv4 ? M4_ROCE_L3_IPV4 : M4_ROCE_L3_IPV6))
		return "port: a GID whose type is not its address's";
	return NULL;
}

static const char *set_roce_gids(struct hca *hca, struct port *port, const uint8_t *table)
{
	struct gid_entry entry = { .path_tags = true };
	const char *why = NULL;

	for (unsigned int i = 0; !why && i < M4_ROCE_GIDS; i++)
		why = check_roce_entry(table + (size_t)M4_ROCE_ENTRY * i);
	memcpy(entry.mac, hca->eth->vport.mac, sizeof(entry.mac));
	for (unsigned int i = 0; !why && i < M4_ROCE_GIDS; i++) {
		const uint8_t *raw = table + (size_t)M4_ROCE_ENTRY * i;

		memcpy(entry.gid, fld_at(raw, M4_ROCE_GID), sizeof(entry.gid));
		entry.version = fld_get(raw, M4_ROCE_VERSION);
		entry.l3_type = fld_get(raw, M4_ROCE_L3_TYPE);
		port_set_gid(hca, port, i, &entry);
	}
	return why;
}

bool m4_find_vlan(const struct hca *hca, unsigned int port, unsigned int index, uint16_t *id)
{
	const uint8_t *entry = hca->mlx4->vlans[port - 1] + (size_t)index * sizeof(uint32_t);

	*id = fld_get(entry, M4_VLAN_ID);
	return fld_get(entry, M4_VLAN_VALID);
}

static const char *set_general(struct port *port, const uint8_t *in)
{
	uint64_t mtu = fld_get(in, M4_SET_PORT_ETH_MTU);

	if (!fld_get(in, M4_SET_PORT_HAS_MTU))
		return NULL;
	if (mtu < FABRIC_FRAME_MIN || mtu > PORT_MTU_MAX)
		return "port: frames longer than were announced, or too short";
	port->mtu = mtu;
	return NULL;
}

static const char *set_receiver(struct hca *hca, uint32_t qpn)
{
	if (qpn >> fld_get(hca->mlx4->init, M4_INIT_LOG_QPS))
		return "port: frames for QPs that cannot be";
	hca->mlx4->frames_to = qpn;
	return NULL;
}

enum m4_status m4_eth_port_set(struct hca *hca, struct m4_cmd *cmd)
{
	uint32_t number = cmd->order->in_modifier & 0xff;
	const char *why = NULL;

	if (cmd->order->modifier != M4_SET_PORT_ETH)
		return m4_fail(cmd, M4_STAT_BAD_OP, "port: parameters of another link layer");
	if (!m4_port_exists(hca, number))
		return m4_fail(cmd, M4_STAT_BAD_PARAM, "port: no such port");
	switch (cmd->order->in_modifier >> M4_SET_PORT_SHIFT) {
	case M4_SET_PORT_GENERAL:
		why = set_general(&hca->port[number - 1], cmd->in);
		break;
	case M4_SET_PORT_RQP_CALC:
		why = set_receiver(hca, fld_get(cmd->in, M4_SET_PORT_BASE_QPN));
		break;
	case M4_SET_PORT_MAC_TABLE:
		break;
	case M4_SET_PORT_VLAN_TABLE:
		memcpy(hca->mlx4->vlans[number - 1], cmd->in, M4_VLAN_TABLE_SIZE);
		break;
	case M4_SET_PORT_GID_TABLE:
		set_gids(hca, &hca->port[number - 1], cmd->in);
		break;
	case M4_SET_PORT_ROCE_TABLE:
		why = set_roce_gids(hca, &hca->port[number - 1], cmd->in);
		break;
	default:
		return m4_fail(cmd, M4_STAT_BAD_OP, "port: unknown modifier");
	}
	return why ? m4_fail(cmd, M4_STAT_BAD_PARAM, why) : M4_STAT_OK;
}

/* The network uses one UDP port for RoCE. */
enum m4_status m4_roce_configure(struct hca *hca, struct m4_cmd *cmd)
{
	uint64_t change = fld_get(cmd->in, M4_CONFIG_CHANGE);

	if (hca->config.link_layer != HCA_LINK_ETHERNET || cmd->order->modifier != M4_CONFIG_SET)
		return m4_fail(cmd, M4_STAT_BAD_OP, "driver: nothing to configure, or to tell");
	if (change & ~(uint64_t)M4_CONFIG_CHANGE_ROCE_PORT)
		return m4_fail(cmd, M4_STAT_BAD_PARAM, "driver: a feature that was not announced");
	if (change && fld_get(cmd->in, M4_CONFIG_ROCE_PORT) != ROCE_UDP_PORT)
		return m4_fail(cmd, M4_STAT_BAD_PARAM, "driver: another port of RoCE than 4791");
	return M4_STAT_OK;
}

static enum m4_status check_port(const struct hca *hca, struct m4_cmd *cmd)
{
	if (hca->config.link_layer != HCA_LINK_ETHERNET)
		return m4_fail(cmd, M4_STAT_BAD_OP, "port: is none of Ethernet");
	if (!m4_port_exists(hca, cmd->order->in_modifier & 0xff))
		return m4_fail(cmd, M4_STAT_BAD_PARAM, "port: no such port");
	return M4_STAT_OK;
}

enum m4_status m4_filter_vlans(struct hca *hca, struct m4_cmd *cmd)
{
	return check_port(hca, cmd);
}

enum m4_status m4_filter_groups(struct hca *hca, struct m4_cmd *cmd)
{
	return check_port(hca, cmd);
}

/* Reports error counters, all zero, as Linux counts packets itself. */
enum m4_status m4_frames_report(struct hca *hca, struct m4_cmd *cmd)
{
	return check_port(hca, cmd);
}

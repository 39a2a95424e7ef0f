/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * vport.c - commands on the NIC vport: its context, state and counters. The only vport is number 0.
 */
#include <string.h>

#include "prm/mlx5/cmd.h"
#include "prm/mlx5/vport.h"
#include "softhca/device/eth/eth.h"
#include "softhca/device/format/mlx5/cmd/cmd.h"
#include "softhca/device/format/mlx5/mac.h"
#include "util/bits.h"

static_assert((int)PRM_LIST_UC == VPORT_UNICAST && (int)PRM_LIST_MC == VPORT_MULTICAST &&
		      (int)PRM_LIST_VLAN == VPORT_VLANS && (int)PRM_LIST_TYPES == VPORT_LISTS,
	      "lists have the same numbers");

enum { STATE_DOWN = 0, STATE_UP = 1, STATE_FOLLOW = 2, OP_UPLINK = 2 };

static size_t list_entry_size(uint64_t type)
{
	return type == PRM_LIST_VLAN ? 4 : 8;
}

static void put_list(const struct vport *vport, uint64_t type, uint8_t *ctx)
{
	uint8_t *list = fld_at(ctx, NIC_VPORT_CONTEXT_CURRENT_UC_MAC_ADDRESS);

	fld_set(ctx, NIC_VPORT_CONTEXT_ALLOWED_LIST_TYPE, type);
	fld_set(ctx, NIC_VPORT_CONTEXT_ALLOWED_LIST_SIZE, vport->list_size[type]);
	for (unsigned int i = 0; i < vport->list_size[type]; i++, list += list_entry_size(type)) {
		if (type == PRM_LIST_VLAN)
			fld_set(list, VLAN_LAYOUT_VLAN, vport->list[type][i]);
		else
			fld_set64(list, 0, vport->list[type][i]);
	}
}

enum prm_status vport_query(struct hca *hca, struct cmd *cmd)
{
	uint64_t type = fld_get(cmd->in, QUERY_NIC_VPORT_CONTEXT_IN_ALLOWED_LIST_TYPE);
	uint8_t *ctx = fld_at(cmd->out, QUERY_NIC_VPORT_CONTEXT_OUT_NIC_VPORT_CONTEXT);
	const struct vport *vport = &hca->eth->vport;

	if (fld_get(cmd->in, QUERY_NIC_VPORT_CONTEXT_IN_OTHER_VPORT) || type >= PRM_LIST_TYPES)
		return cmd_fail(cmd, PRM_STAT_BAD_PARAM_ERR, "vport: no such vport or list");
	fld_set(ctx, NIC_VPORT_CONTEXT_DISABLE_MC_LOCAL_LB, vport->no_local_mc);
	fld_set(ctx, NIC_VPORT_CONTEXT_DISABLE_UC_LOCAL_LB, vport->no_local_uc);
	fld_set(ctx, NIC_VPORT_CONTEXT_ROCE_EN, vport->roce);
	fld_set(ctx, NIC_VPORT_CONTEXT_MTU, vport->mtu);
	fld_set(ctx, NIC_VPORT_CONTEXT_SYSTEM_IMAGE_GUID, hca->config.node_guid);
	fld_set(ctx, NIC_VPORT_CONTEXT_PORT_GUID, vport->port_guid);
	fld_set(ctx, NIC_VPORT_CONTEXT_NODE_GUID, vport->node_guid);
	fld_set(ctx, NIC_VPORT_CONTEXT_QKEY_VIOLATION_COUNTER, hca->port[0].bad_qkeys);
	fld_set(ctx, NIC_VPORT_CONTEXT_PROMISC_UC, vport->promisc_uc);
	fld_set(ctx, NIC_VPORT_CONTEXT_PROMISC_MC, vport->promisc_mc);
	fld_set(ctx, NIC_VPORT_CONTEXT_PROMISC_ALL, vport->promisc_all);
	mac_set(fld_at(ctx, NIC_VPORT_CONTEXT_PERMANENT_ADDRESS), MAC_ADDRESS_MAC_ADDR_47_32,
		MAC_ADDRESS_MAC_ADDR_31_0, vport->mac);
	put_list(vport, type, ctx);
	return PRM_STAT_OK;
}

static const char *take_list(struct vport *vport, const struct cmd *cmd, const uint8_t *ctx)
{
	static const unsigned int max[PRM_LIST_TYPES] = {
		[PRM_LIST_UC] = 1 << VPORT_LOG_UC,
		[PRM_LIST_MC] = 1 << VPORT_LOG_MC,
		[PRM_LIST_VLAN] = 1 << VPORT_LOG_VLAN,
	};
	const uint8_t *list = fld_at(ctx, NIC_VPORT_CONTEXT_CURRENT_UC_MAC_ADDRESS);
	uint64_t type = fld_get(ctx, NIC_VPORT_CONTEXT_ALLOWED_LIST_TYPE);
	unsigned int size = fld_get(ctx, NIC_VPORT_CONTEXT_ALLOWED_LIST_SIZE);

	if (type >= PRM_LIST_TYPES || size > max[type])
		return "vport: no such list, or longer than its maximum";
	if ((size_t)(list - cmd->in) + size * list_entry_size(type) > cmd->in_len)
		return "vport: list is shorter than its size says";
	vport->list_size[type] = size;
	for (unsigned int i = 0; i < size; i++, list += list_entry_size(type))
		vport->list[type][i] = type == PRM_LIST_VLAN ? fld_get(list, VLAN_LAYOUT_VLAN)
							     : fld_get64(list, 0);
	return NULL;
}

static const char *check_fields(const struct hca *hca, const uint8_t *select, const uint8_t *ctx)
{
	static const uint32_t known[] = {
		NIC_VPORT_FIELD_DISABLE_UC_LOCAL_LB,
		NIC_VPORT_FIELD_DISABLE_MC_LOCAL_LB,
		NIC_VPORT_FIELD_NODE_GUID,
		NIC_VPORT_FIELD_PORT_GUID,
		NIC_VPORT_FIELD_MTU,
		NIC_VPORT_FIELD_PROMISC,
		NIC_VPORT_FIELD_PERMANENT_ADDRESS,
		NIC_VPORT_FIELD_ADDRESSES_LIST,
		NIC_VPORT_FIELD_ROCE_EN,
	};
	uint8_t rest[8] = { 0 };

	memcpy(rest, select, 4);
	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		fld_set(rest, known[i], 0);
	if (get_be32(rest))
		return "vport: unknown field_select";
	if (fld_get(select, NIC_VPORT_FIELD_MTU) &&
	    (fld_get(ctx, NIC_VPORT_CONTEXT_MTU) < IP4_MTU_MIN ||
	     fld_get(ctx, NIC_VPORT_CONTEXT_MTU) > PORT_MTU_MAX))
		return "vport: MTU out of range";
	if (fld_get(select, NIC_VPORT_FIELD_ROCE_EN) && hca->config.link_layer != HCA_LINK_ETHERNET)
		return "vport: RoCE on an InfiniBand port";
	return NULL;
}

static void take_flags(struct vport *vport, const uint8_t *select, const uint8_t *ctx)
{
	if (fld_get(select, NIC_VPORT_FIELD_DISABLE_UC_LOCAL_LB))
		vport->no_local_uc = fld_get(ctx, NIC_VPORT_CONTEXT_DISABLE_UC_LOCAL_LB);
	if (fld_get(select, NIC_VPORT_FIELD_DISABLE_MC_LOCAL_LB))
		vport->no_local_mc = fld_get(ctx, NIC_VPORT_CONTEXT_DISABLE_MC_LOCAL_LB);
	if (fld_get(select, NIC_VPORT_FIELD_ROCE_EN))
		vport->roce = fld_get(ctx, NIC_VPORT_CONTEXT_ROCE_EN);
	if (fld_get(select, NIC_VPORT_FIELD_PROMISC)) {
		vport->promisc_uc = fld_get(ctx, NIC_VPORT_CONTEXT_PROMISC_UC);
		vport->promisc_mc = fld_get(ctx, NIC_VPORT_CONTEXT_PROMISC_MC);
		vport->promisc_all = fld_get(ctx, NIC_VPORT_CONTEXT_PROMISC_ALL);
	}
}

static void take_values(struct vport *vport, const uint8_t *select, const uint8_t *ctx)
{
	if (fld_get(select, NIC_VPORT_FIELD_NODE_GUID))
		vport->node_guid = fld_get(ctx, NIC_VPORT_CONTEXT_NODE_GUID);
	if (fld_get(select, NIC_VPORT_FIELD_PORT_GUID))
		vport->port_guid = fld_get(ctx, NIC_VPORT_CONTEXT_PORT_GUID);
	if (fld_get(select, NIC_VPORT_FIELD_MTU))
		vport->mtu = fld_get(ctx, NIC_VPORT_CONTEXT_MTU);
	if (fld_get(select, NIC_VPORT_FIELD_PERMANENT_ADDRESS))
		mac_get(fld_at(ctx, NIC_VPORT_CONTEXT_PERMANENT_ADDRESS),
			MAC_ADDRESS_MAC_ADDR_47_32, MAC_ADDRESS_MAC_ADDR_31_0, vport->mac);
}

enum prm_status vport_modify(struct hca *hca, struct cmd *cmd)
{
	const uint8_t *select = fld_at(cmd->in, MODIFY_NIC_VPORT_CONTEXT_IN_FIELD_SELECT);
	const uint8_t *ctx = fld_at(cmd->in, MODIFY_NIC_VPORT_CONTEXT_IN_NIC_VPORT_CONTEXT);
	const char *why = check_fields(hca, select, ctx);

	if (fld_get(cmd->in, MODIFY_NIC_VPORT_CONTEXT_IN_OTHER_VPORT))
		why = "vport: no other vports";
	if (!why && fld_get(select, NIC_VPORT_FIELD_ADDRESSES_LIST))
		why = take_list(&hca->eth->vport, cmd, ctx);
	if (why)
		return cmd_fail(cmd, PRM_STAT_BAD_PARAM_ERR, why);
	take_flags(&hca->eth->vport, select, ctx);
	take_values(&hca->eth->vport, select, ctx);
	return PRM_STAT_OK;
}

enum prm_status vport_modify_state(struct hca *hca, struct cmd *cmd)
{
	uint64_t state = fld_get(cmd->in, MODIFY_VPORT_STATE_IN_ADMIN_STATE);

	if (fld_get(cmd->in, MODIFY_VPORT_STATE_IN_OTHER_VPORT) ||
	    fld_get(cmd->in, CMD_IN_OP_MOD) > OP_UPLINK || state > STATE_FOLLOW)
		return cmd_fail(cmd, PRM_STAT_BAD_PARAM_ERR, "vport: no such vport or state");
	hca->eth->vport.admin_state = state;
	return PRM_STAT_OK;
}

/* Queries the state: up if the port's link is up and software has not set the vport down. */
enum prm_status vport_query_state(struct hca *hca, struct cmd *cmd)
{
	uint8_t admin = hca->eth->vport.admin_state;

	if (fld_get(cmd->in, QUERY_VPORT_STATE_IN_OTHER_VPORT) ||
	    fld_get(cmd->in, CMD_IN_OP_MOD) > OP_UPLINK)
		return cmd_fail(cmd, PRM_STAT_BAD_PARAM_ERR, "vport: no such vport");
	fld_set(cmd->out, QUERY_VPORT_STATE_OUT_MAX_TX_SPEED, hca->config.limits.max_tx_speed);
	fld_set(cmd->out, QUERY_VPORT_STATE_OUT_ADMIN_STATE, admin);
	fld_set(cmd->out, QUERY_VPORT_STATE_OUT_STATE,
		admin != STATE_DOWN && port_is_up(hca, 1) ? STATE_UP : STATE_DOWN);
	return PRM_STAT_OK;
}

static void put_counter(uint8_t *out, uint32_t part, uint64_t frames, uint64_t bytes)
{
	uint8_t *counter = fld_at(out, part);

	fld_set(counter, TRAFFIC_COUNTER_PACKETS, frames);
	fld_set(counter, TRAFFIC_COUNTER_OCTETS, bytes);
}

static void put_frames(uint8_t *out, const struct frame_counters *c, const uint32_t part[3])
{
	put_counter(out, part[0], c->frames - c->multicast - c->broadcast,
		    c->bytes - c->multicast_bytes - c->broadcast_bytes);
	put_counter(out, part[1], c->multicast, c->multicast_bytes);
	put_counter(out, part[2], c->broadcast, c->broadcast_bytes);
}

static void put_messages(uint8_t *out, const struct message_counters *c, const uint32_t part[2])
{
	put_counter(out, part[0], c->packets - c->multicast_packets, c->bytes - c->multicast_bytes);
	put_counter(out, part[1], c->multicast_packets, c->multicast_bytes);
}

static void put_all(uint8_t *out, const struct port *port)
{
	static const uint32_t received[] = { QUERY_VPORT_COUNTER_OUT_RECEIVED_ETH_UNICAST,
					     QUERY_VPORT_COUNTER_OUT_RECEIVED_ETH_MULTICAST,
					     QUERY_VPORT_COUNTER_OUT_RECEIVED_ETH_BROADCAST };
	static const uint32_t sent[] = { QUERY_VPORT_COUNTER_OUT_TRANSMITTED_ETH_UNICAST,
					 QUERY_VPORT_COUNTER_OUT_TRANSMITTED_ETH_MULTICAST,
					 QUERY_VPORT_COUNTER_OUT_TRANSMITTED_ETH_BROADCAST };
	static const uint32_t ib_received[] = { QUERY_VPORT_COUNTER_OUT_RECEIVED_IB_UNICAST,
						QUERY_VPORT_COUNTER_OUT_RECEIVED_IB_MULTICAST };
	static const uint32_t ib_sent[] = { QUERY_VPORT_COUNTER_OUT_TRANSMITTED_IB_UNICAST,
					    QUERY_VPORT_COUNTER_OUT_TRANSMITTED_IB_MULTICAST };

	put_frames(out, &port->received, received);
	put_frames(out, &port->sent, sent);
	put_messages(out, &port->messages_received, ib_received);
	put_messages(out, &port->messages_sent, ib_sent);
	put_counter(out, QUERY_VPORT_COUNTER_OUT_RECEIVED_ERRORS, port->received.discards, 0);
}

enum prm_status vport_query_counter(struct hca *hca, struct cmd *cmd)
{
	uint64_t port = fld_get(cmd->in, QUERY_VPORT_COUNTER_IN_PORT_NUM);

	if (fld_get(cmd->in, QUERY_VPORT_COUNTER_IN_OTHER_VPORT) || port > hca->config.num_ports ||
	    fld_get(cmd->in, QUERY_VPORT_COUNTER_IN_CLEAR))
		return cmd_fail(cmd, PRM_STAT_BAD_PARAM_ERR,
				"vport: no such counters, or no clearing");
	put_all(cmd->out, &hca->port[port ? port - 1 : 0]);
	return PRM_STAT_OK;
}

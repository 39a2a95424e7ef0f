/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * port.c - commands on ports: their context, GID, P_Key and RoCE address tables.
 */
#include <string.h>

#include "ib/mad.h"
#include "prm/mlx5/cmd.h"
#include "prm/mlx5/vport.h"
#include "softhca/device/core.h"
#include "softhca/device/format/mlx5/cmd/cmd.h"
#include "softhca/device/format/mlx5/mac.h"

CONTEXT_HOLDS(struct gid_entry, PRM_ROCE_ADDR_SIZE);

enum {
	STATE_DOWN = 1,
	STATE_ACTIVE = 4,
	PHYS_POLLING = 2,
	PHYS_LINK_UP = 5,
	SUBNET_TIMEOUT = 18,
};

static struct port *port_find(struct hca *hca, struct cmd *cmd, uint64_t number, bool other)
{
	if (other || number > hca->config.num_ports) {
		cmd->why = "port: no such port";
		return NULL;
	}
	return &hca->port[number ? number - 1 : 0];
}

enum prm_status port_query_context(struct hca *hca, struct cmd *cmd)
{
	struct port *port =
		port_find(hca, cmd, fld_get(cmd->in, QUERY_HCA_VPORT_CONTEXT_IN_PORT_NUM),
			  fld_get(cmd->in, QUERY_HCA_VPORT_CONTEXT_IN_OTHER_VPORT));
	uint8_t *ctx = fld_at(cmd->out, QUERY_HCA_VPORT_CONTEXT_OUT_HCA_VPORT_CONTEXT);
	bool up;

	if (!port)
		return PRM_STAT_BAD_PARAM_ERR;
	up = port_is_up(hca, (unsigned int)(port - hca->port) + 1);
	fld_set(ctx, HCA_VPORT_CONTEXT_HAS_SMI, 1);
	fld_set(ctx, HCA_VPORT_CONTEXT_PORT_PHYSICAL_STATE, up ? PHYS_LINK_UP : PHYS_POLLING);
	fld_set(ctx, HCA_VPORT_CONTEXT_PORT_STATE, up ? STATE_ACTIVE : STATE_DOWN);
	fld_set(ctx, HCA_VPORT_CONTEXT_VPORT_STATE, up ? STATE_ACTIVE : STATE_DOWN);
	fld_set(ctx, HCA_VPORT_CONTEXT_SYSTEM_IMAGE_GUID, hca->config.node_guid);
	fld_set(ctx, HCA_VPORT_CONTEXT_NODE_GUID, hca->config.node_guid);
	fld_set(ctx, HCA_VPORT_CONTEXT_PORT_GUID, port->guid);
	fld_set(ctx, HCA_VPORT_CONTEXT_CAP_MASK1, port->cap_mask);
	fld_set(ctx, HCA_VPORT_CONTEXT_CAP_MASK1_FIELD_SELECT, 0xffffffff);
	fld_set(ctx, HCA_VPORT_CONTEXT_GRH_REQUIRED, hca->config.grh_required);
	fld_set(ctx, HCA_VPORT_CONTEXT_LID, port->lid);
	fld_set(ctx, HCA_VPORT_CONTEXT_SM_LID, FABRIC_SUBNET_LID);
	fld_set(ctx, HCA_VPORT_CONTEXT_SUBNET_TIMEOUT, SUBNET_TIMEOUT);
	fld_set(ctx, HCA_VPORT_CONTEXT_PKEY_VIOLATION_COUNTER, port->bad_pkeys);
	fld_set(ctx, HCA_VPORT_CONTEXT_QKEY_VIOLATION_COUNTER, port->bad_qkeys);
	return PRM_STAT_OK;
}

/* Changes the port's capability mask, by which software announces managers at the port. Nothing
 * else can be changed. */
enum prm_status port_modify_context(struct hca *hca, struct cmd *cmd)
{
	struct port *port =
		port_find(hca, cmd, fld_get(cmd->in, QUERY_HCA_VPORT_CONTEXT_IN_PORT_NUM),
			  fld_get(cmd->in, QUERY_HCA_VPORT_CONTEXT_IN_OTHER_VPORT));
	const uint8_t *ctx = fld_at(cmd->in, MODIFY_HCA_VPORT_CONTEXT_IN_HCA_VPORT_CONTEXT);
	uint32_t mask = fld_get(ctx, HCA_VPORT_CONTEXT_CAP_MASK1_FIELD_SELECT);

	if (!port)
		return PRM_STAT_BAD_PARAM_ERR;
	if (fld_get(ctx, HCA_VPORT_CONTEXT_FIELD_SELECT))
		return cmd_fail(cmd, PRM_STAT_BAD_PARAM_ERR, "port: field cannot be changed");
	port->cap_mask =
		(port->cap_mask & ~mask) | (fld_get(ctx, HCA_VPORT_CONTEXT_CAP_MASK1) & mask);
	return PRM_STAT_OK;
}

enum prm_status port_query_gid(struct hca *hca, struct cmd *cmd)
{
	struct port *port = port_find(hca, cmd, fld_get(cmd->in, QUERY_HCA_VPORT_GID_IN_PORT_NUM),
				      fld_get(cmd->in, QUERY_HCA_VPORT_GID_IN_OTHER_VPORT));
	uint64_t index = fld_get(cmd->in, QUERY_HCA_VPORT_GID_IN_GID_INDEX);

	if (!port)
		return PRM_STAT_BAD_PARAM_ERR;
	if (index >= PORT_GIDS_IB)
		return cmd_fail(cmd, PRM_STAT_BAD_PARAM_ERR, "port: GID index out of range");
	fld_set(cmd->out, QUERY_HCA_VPORT_GID_OUT_GIDS_NUM, 1);
	memcpy(fld_at(cmd->out, QUERY_HCA_VPORT_GID_OUT_GID), port->gid[index].gid, 16);
	return PRM_STAT_OK;
}

/* Queries P_Keys. Index 0xffff means the whole table. */
enum prm_status port_query_pkey(struct hca *hca, struct cmd *cmd)
{
	struct port *port = port_find(hca, cmd, fld_get(cmd->in, QUERY_HCA_VPORT_PKEY_IN_PORT_NUM),
				      fld_get(cmd->in, QUERY_HCA_VPORT_PKEY_IN_OTHER_VPORT));
	uint64_t index = fld_get(cmd->in, QUERY_HCA_VPORT_PKEY_IN_PKEY_INDEX);

	if (!port)
		return PRM_STAT_BAD_PARAM_ERR;
	if (index >= PORT_PKEYS && index != 0xffff)
		return cmd_fail(cmd, PRM_STAT_BAD_PARAM_ERR, "port: P_Key index out of range");
	if (index == 0 || index == 0xffff)
		fld_set(cmd->out, FLD_IN(QUERY_HCA_VPORT_PKEY_OUT_PKEY, PKEY_PKEY), PKEY_DEFAULT);
	return PRM_STAT_OK;
}

/* Returns the port whose RoCE address table a command names, or fails the command and returns
 * NULL. */
static struct port *roce_port(struct hca *hca, struct cmd *cmd, uint64_t number, uint64_t index)
{
	struct port *port = port_find(hca, cmd, number, false);

	if (hca->config.link_layer != HCA_LINK_ETHERNET)
		cmd->why = "port: RoCE addresses on an InfiniBand port";
	else if (index >= PORT_GIDS_ROCE)
		cmd->why = "port: GID index out of range";
	else
		return port;
	return NULL;
}

static void decode_address(const uint8_t *address, struct gid_entry *entry)
{
	memcpy(entry->gid, fld_at(address, ROCE_ADDR_SOURCE_L3_ADDRESS), sizeof(entry->gid));
	mac_get(address, ROCE_ADDR_SOURCE_MAC_47_32, ROCE_ADDR_SOURCE_MAC_31_0, entry->mac);
	entry->tagged = fld_get(address, ROCE_ADDR_VLAN_VALID);
	entry->vlan = fld_get(address, ROCE_ADDR_VLAN_ID);
	entry->version = fld_get(address, ROCE_ADDR_ROCE_VERSION);
	entry->l3_type = fld_get(address, ROCE_ADDR_ROCE_L3_TYPE);
	memcpy(entry->context, address, PRM_ROCE_ADDR_SIZE);
}

enum prm_status port_set_roce_address(struct hca *hca, struct cmd *cmd)
{
	uint64_t index = fld_get(cmd->in, SET_ROCE_ADDRESS_IN_ROCE_ADDRESS_INDEX);
	struct port *port =
		roce_port(hca, cmd, fld_get(cmd->in, SET_ROCE_ADDRESS_IN_VHCA_PORT_NUM), index);
	struct gid_entry entry = { .valid = false };

	if (!port)
		return PRM_STAT_BAD_PARAM_ERR;
	decode_address(fld_at(cmd->in, SET_ROCE_ADDRESS_IN_ROCE_ADDRESS), &entry);
	port_set_gid(hca, port, index, &entry);
	return PRM_STAT_OK;
}

enum prm_status port_query_roce_address(struct hca *hca, struct cmd *cmd)
{
	uint64_t index = fld_get(cmd->in, QUERY_ROCE_ADDRESS_IN_ROCE_ADDRESS_INDEX);
	struct port *port =
		roce_port(hca, cmd, fld_get(cmd->in, QUERY_ROCE_ADDRESS_IN_VHCA_PORT_NUM), index);

	if (!port)
		return PRM_STAT_BAD_PARAM_ERR;
	memcpy(fld_at(cmd->out, QUERY_ROCE_ADDRESS_OUT_ROCE_ADDRESS), port->gid[index].context,
	       PRM_ROCE_ADDR_SIZE);
	return PRM_STAT_OK;
}

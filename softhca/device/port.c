/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * port.c - ports: LID, GUID, GID and P_Key tables, state. A port whose link is up is active; on
 * InfiniBand the fabric stands in for the subnet manager, on RoCE software fills the GID table.
 */
#include <string.h>

#include "ib/mad.h"
#include "prm/mlx5/cmd.h"
#include "prm/mlx5/eqe.h"
#include "prm/mlx5/vport.h"
#include "softhca/device/core.h"

enum {
	STATE_DOWN = 1,
	STATE_ACTIVE = 4,
	PHYS_POLLING = 2,
	PHYS_LINK_UP = 5,
	SUBNET_TIMEOUT = 18,
};

/* The mask holds the capabilities of an InfiniBand port: automatic migration and the like are not
 * there; system image GUID and client reregistration are. IBTA vol 1, PortInfo */
#define PORT_CAP_MASK 0x02000800u

static const uint8_t link_local[8] = { 0xfe, 0x80 };

void port_init(struct hca *hca, unsigned int number)
{
	struct port *port = &hca->port[number - 1];
	uint8_t *gid = fld_at(port->gid[0].raw, ROCE_ADDR_SOURCE_L3_ADDRESS);

	port->guid = hca->config.node_guid + number;
	port->cap_mask = PORT_CAP_MASK;
	port->mtu = PORT_MTU_DEFAULT;
	if (hca->config.link_layer == HCA_LINK_ETHERNET)
		return;
	memcpy(gid, link_local, sizeof(link_local));
	fld_set64(gid, 8, port->guid);
	port->gid[0].valid = true;
	port->gids = 1;
}

bool port_is_up(const struct hca *hca, unsigned int number)
{
	const struct port *port = &hca->port[number - 1];

	return !port->admin_down && !port->link_down;
}

void port_count_message(struct message_counters *counters, const struct fabric_msg *msg)
{
	counters->packets += msg->packets;
	counters->bytes += msg->payload_len;
	if (!fabric_is_multicast(&msg->addr))
		return;
	counters->multicast_packets += msg->packets;
	counters->multicast_bytes += msg->payload_len;
}

/* Something about the link has changed; WAS_UP says whether it was up before. */
static void link_changed(struct hca *hca, unsigned int number, bool was_up)
{
	bool is_up = port_is_up(hca, number);

	if (is_up == was_up)
		return;
	if (was_up)
		hca->port[number - 1].link_downs++;
	trace_line(hca->config.trace, "port %u is %s", number, is_up ? "up" : "down");
	eq_port_change(hca, number, is_up ? PRM_PORT_CHANGE_ACTIVE : PRM_PORT_CHANGE_DOWN);
}

void port_set_admin(struct hca *hca, unsigned int number, bool up)
{
	bool was_up = port_is_up(hca, number);

	hca->port[number - 1].admin_down = !up;
	link_changed(hca, number, was_up);
}

void hca_set_link(struct hca *hca, unsigned int number, bool up)
{
	bool was_up;

	if (number < 1 || number > hca->config.num_ports)
		return;
	fabric_lock(hca->fabric);
	was_up = port_is_up(hca, number);
	hca->port[number - 1].link_down = !up;
	link_changed(hca, number, was_up);
	fabric_unlock(hca->fabric);
}

void hca_report_port(struct hca *hca, unsigned int number, uint8_t change)
{
	if (number < 1 || number > hca->config.num_ports)
		return;
	fabric_lock(hca->fabric);
	eq_port_change(hca, number, change);
	fabric_unlock(hca->fabric);
}

const struct gid_entry *port_gid_entry(const struct hca *hca, unsigned int port, unsigned int index)
{
	const struct gid_entry *entry;

	if (port < 1 || port > hca->config.num_ports || index >= PORT_GIDS_ROCE)
		return NULL;
	entry = &hca->port[port - 1].gid[index];
	return entry->valid ? entry : NULL;
}

const uint8_t *port_gid(const struct hca *hca, unsigned int port, unsigned int index)
{
	const struct gid_entry *entry = port_gid_entry(hca, port, index);

	return entry ? fld_at(entry->raw, ROCE_ADDR_SOURCE_L3_ADDRESS) : NULL;
}

bool port_has_gid(const struct hca *hca, unsigned int port, const uint8_t gid[16])
{
	for (unsigned int i = 0; i < hca->port[port - 1].gids; i++) {
		const uint8_t *own = port_gid(hca, port, i);

		if (own && !memcmp(own, gid, 16))
			return true;
	}
	return false;
}

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
	return PRM_STAT_OK;
}

/* Software says which managers listen at the port: the capability mask is all it may change. */
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
	memcpy(fld_at(cmd->out, QUERY_HCA_VPORT_GID_OUT_GID),
	       fld_at(port->gid[index].raw, ROCE_ADDR_SOURCE_L3_ADDRESS), 16);
	return PRM_STAT_OK;
}

/* An index of 0xffff asks for the whole table. */
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

static void count_gids(struct port *port)
{
	port->gids = PORT_GIDS_ROCE;
	while (port->gids && !port->gid[port->gids - 1].valid)
		port->gids--;
}

static struct gid_entry *roce_entry(struct hca *hca, struct cmd *cmd, uint32_t port_field,
				    uint32_t index_field)
{
	struct port *port = port_find(hca, cmd, fld_get(cmd->in, port_field), false);
	uint64_t index = fld_get(cmd->in, index_field);

	if (hca->config.link_layer != HCA_LINK_ETHERNET)
		cmd->why = "port: RoCE addresses on an InfiniBand port";
	else if (index >= PORT_GIDS_ROCE)
		cmd->why = "port: GID index out of range";
	else if (port)
		return &port->gid[index];
	return NULL;
}

/* An address of all zeroes clears the entry. */
enum prm_status port_set_roce_address(struct hca *hca, struct cmd *cmd)
{
	static const uint8_t none[PRM_ROCE_ADDR_SIZE];
	struct gid_entry *entry = roce_entry(hca, cmd, SET_ROCE_ADDRESS_IN_VHCA_PORT_NUM,
					     SET_ROCE_ADDRESS_IN_ROCE_ADDRESS_INDEX);

	if (!entry)
		return PRM_STAT_BAD_PARAM_ERR;
	memcpy(entry->raw, fld_at(cmd->in, SET_ROCE_ADDRESS_IN_ROCE_ADDRESS), sizeof(entry->raw));
	entry->valid = memcmp(fld_at(entry->raw, ROCE_ADDR_SOURCE_L3_ADDRESS), none, 16) != 0;
	for (unsigned int port = 0; port < hca->config.num_ports; port++)
		count_gids(&hca->port[port]);
	return PRM_STAT_OK;
}

enum prm_status port_query_roce_address(struct hca *hca, struct cmd *cmd)
{
	struct gid_entry *entry = roce_entry(hca, cmd, QUERY_ROCE_ADDRESS_IN_VHCA_PORT_NUM,
					     QUERY_ROCE_ADDRESS_IN_ROCE_ADDRESS_INDEX);

	if (!entry)
		return PRM_STAT_BAD_PARAM_ERR;
	memcpy(fld_at(cmd->out, QUERY_ROCE_ADDRESS_OUT_ROCE_ADDRESS), entry->raw,
	       sizeof(entry->raw));
	return PRM_STAT_OK;
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * adapter_port.c - an adapter's ports: state, tables of GIDs and P_Keys, counters.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ib/smp.h"
#include "prm/mlx5/caps.h"
#include "prm/mlx5/cmd.h"
#include "prm/mlx5/vport.h"
#include "softhca/front/process/driver/adapter.h"

static uint32_t gid_table_len(const struct adapter *adapter)
{
	if (adapter_is_roce(adapter))
		return MAX_ROCE_GIDS;
	return 8u << adapter_cap(adapter, HCA_CAP_GID_TABLE_SIZE);
}

static uint32_t pkey_table_len(const struct adapter *adapter)
{
	if (adapter_is_roce(adapter))
		return 1;
	return 128u << adapter_cap(adapter, HCA_CAP_PKEY_TABLE_SIZE);
}

static int query_vport(struct adapter *adapter, unsigned int port, uint8_t *context)
{
	uint8_t in[PRM_CMD_IN_SIZE] = { 0 };
	uint8_t out[PRM_CMD_OUT_SIZE + PRM_HCA_VPORT_CONTEXT_SIZE];
	int ret;

	fld_set(in, CMD_IN_OPCODE, PRM_OP_QUERY_HCA_VPORT_CONTEXT);
	fld_set(in, QUERY_HCA_VPORT_CONTEXT_IN_PORT_NUM, port);
	ret = adapter_command(adapter, in, sizeof(in), out, sizeof(out));
	if (!ret)
		memcpy(context, fld_at(out, QUERY_HCA_VPORT_CONTEXT_OUT_HCA_VPORT_CONTEXT),
		       PRM_HCA_VPORT_CONTEXT_SIZE);
	return ret;
}

static int query_ib_port(struct adapter *adapter, unsigned int port, struct port_info *info)
{
	uint8_t context[PRM_HCA_VPORT_CONTEXT_SIZE];
	int ret = query_vport(adapter, port, context);

	if (ret)
		return ret;
	/* Add connection management (bit 16), as Linux announces it for every port. */
	info->cap_mask = fld_get(context, HCA_VPORT_CONTEXT_CAP_MASK1) | 1 << 16;
	info->lid = fld_get(context, HCA_VPORT_CONTEXT_LID);
	info->lmc = fld_get(context, HCA_VPORT_CONTEXT_LMC);
	info->sm_lid = fld_get(context, HCA_VPORT_CONTEXT_SM_LID);
	info->sm_sl = fld_get(context, HCA_VPORT_CONTEXT_SM_SL);
	info->subnet_timeout = fld_get(context, HCA_VPORT_CONTEXT_SUBNET_TIMEOUT);
	info->init_type_reply = fld_get(context, HCA_VPORT_CONTEXT_INIT_TYPE_REPLY);
	info->state = fld_get(context, HCA_VPORT_CONTEXT_VPORT_STATE);
	info->phys_state = fld_get(context, HCA_VPORT_CONTEXT_PORT_PHYSICAL_STATE);
	info->bad_pkeys = fld_get(context, HCA_VPORT_CONTEXT_PKEY_VIOLATION_COUNTER);
	info->bad_qkeys = fld_get(context, HCA_VPORT_CONTEXT_QKEY_VIOLATION_COUNTER);
	info->grh_required = fld_get(context, HCA_VPORT_CONTEXT_GRH_REQUIRED);
	info->active_mtu = 5; /* IBV_MTU_4096 */
	return 0;
}

/* Queries the Q_Key violations of a RoCE port. Like Linux, reads them from the context of the
 * adapter's Ethernet function (NIC vport). */
static int query_qkey_violations(struct adapter *adapter, uint32_t *count)
{
	uint8_t in[PRM_CMD_IN_SIZE] = { 0 };
	uint8_t out[PRM_CMD_OUT_SIZE + PRM_NIC_VPORT_CONTEXT_SIZE];
	int ret;

	fld_set(in, CMD_IN_OPCODE, PRM_OP_QUERY_NIC_VPORT_CONTEXT);
	ret = adapter_command(adapter, in, sizeof(in), out, sizeof(out));
	if (!ret)
		*count = fld_get(fld_at(out, QUERY_NIC_VPORT_CONTEXT_OUT_NIC_VPORT_CONTEXT),
				 NIC_VPORT_CONTEXT_QKEY_VIOLATION_COUNTER);
	return ret;
}

static int query_roce_port(struct adapter *adapter, unsigned int port, struct port_info *info)
{
	uint8_t in[PRM_CMD_IN_SIZE] = { 0 }, out[PRM_CMD_OUT_SIZE];
	bool up;
	int ret;

	(void)port; /* unused, as all ports of an adapter go up and down together */
	fld_set(in, CMD_IN_OPCODE, PRM_OP_QUERY_VPORT_STATE);
	ret = adapter_command(adapter, in, sizeof(in), out, sizeof(out));
	if (ret)
		return ret;
	up = fld_get(out, QUERY_VPORT_STATE_OUT_STATE) == 1;
	info->state = up ? 4 : 1;           /* PortInfo (IBTA vol 1, 14.2.5.6): active, down */
	info->phys_state = up ? 5 : 3;      /* PortInfo: link up, disabled */
	info->cap_mask = 1 << 16 | 1 << 26; /* connection management, IP based GIDs */
	info->active_mtu = 3;               /* 1024 bytes, as this fits Ethernet's 1500 */
	info->grh_required = true;
	return query_qkey_violations(adapter, &info->bad_qkeys);
}

int adapter_query_port(struct adapter *adapter, unsigned int port, struct port_info *info)
{
	if (port < 1 || port > adapter->num_ports)
		return EINVAL;
	*info = (struct port_info){
		.gid_table_len = gid_table_len(adapter),
		.pkey_table_len = pkey_table_len(adapter),
		.max_mtu = 5,      /* 4096 bytes */
		.active_width = 2, /* PortInfo: 4 lanes */
		.active_speed = adapter->identity->active_speed,
	};
	if (adapter_is_roce(adapter))
		return query_roce_port(adapter, port, info);
	return query_ib_port(adapter, port, info);
}

enum { DOWN = 1 };

/* Returns the speed as the kernel's driver does: the sum of bonded ports, the vport's limit, or the
 * link's speed. */
int adapter_query_speed(struct adapter *adapter, unsigned int port, uint64_t *speed)
{
	const uint64_t link = strtoul(adapter->identity->rate, NULL, 10) * 10;
	uint8_t in[PRM_CMD_IN_SIZE] = { 0 }, out[PRM_CMD_OUT_SIZE];
	struct port_info info;
	int ret = adapter_query_port(adapter, port, &info);

	fld_set(in, CMD_IN_OPCODE, PRM_OP_QUERY_VPORT_STATE);
	if (!ret)
		ret = adapter_command(adapter, in, sizeof(in), out, sizeof(out));
	if (ret)
		return ret;
	*speed = fld_get(out, QUERY_VPORT_STATE_OUT_MAX_TX_SPEED);
	if (adapter_cap(adapter, HCA_CAP_LAG_MASTER))
		*speed = link * adapter_cap(adapter, HCA_CAP_NUM_LAG_PORTS);
	else if (info.state == DOWN)
		*speed = 0;
	else if (!*speed)
		*speed = link;
	return 0;
}

static int query_ib_gid(struct adapter *adapter, unsigned int port, uint32_t index, uint8_t gid[16])
{
	uint8_t in[PRM_CMD_IN_SIZE] = { 0 }, out[PRM_CMD_OUT_SIZE + 16];
	int ret;

	fld_set(in, CMD_IN_OPCODE, PRM_OP_QUERY_HCA_VPORT_GID);
	fld_set(in, QUERY_HCA_VPORT_GID_IN_PORT_NUM, port);
	fld_set(in, QUERY_HCA_VPORT_GID_IN_GID_INDEX, index);
	ret = adapter_command(adapter, in, sizeof(in), out, sizeof(out));
	if (!ret)
		memcpy(gid, fld_at(out, QUERY_HCA_VPORT_GID_OUT_GID), 16);
	return ret;
}

int adapter_query_gid(struct adapter *adapter, unsigned int port, uint32_t index,
		      struct gid_entry *entry)
{
	static const uint8_t empty[16];

	if (port < 1 || port > adapter->num_ports || index >= gid_table_len(adapter))
		return EINVAL;
	if (adapter_is_roce(adapter)) {
		*entry = adapter->gid[port - 1][index];
		return entry->valid ? 0 : ENODATA;
	}
	*entry = (struct gid_entry){ .kind = GID_IB };
	if (query_ib_gid(adapter, port, index, entry->gid) || !memcmp(entry->gid + 8, empty, 8))
		return ENODATA;
	entry->valid = true;
	return 0;
}

int adapter_query_pkey(struct adapter *adapter, unsigned int port, uint32_t index, uint16_t *pkey)
{
	uint8_t in[PRM_CMD_IN_SIZE] = { 0 }, out[PRM_CMD_OUT_SIZE + 4];
	int ret;

	if (port < 1 || port > adapter->num_ports || index >= pkey_table_len(adapter))
		return EINVAL;
	if (adapter_is_roce(adapter)) {
		*pkey = 0xffff;
		return 0;
	}
	fld_set(in, CMD_IN_OPCODE, PRM_OP_QUERY_HCA_VPORT_PKEY);
	fld_set(in, QUERY_HCA_VPORT_PKEY_IN_PORT_NUM, port);
	fld_set(in, QUERY_HCA_VPORT_PKEY_IN_PKEY_INDEX, index);
	ret = adapter_command(adapter, in, sizeof(in), out, sizeof(out));
	if (!ret)
		*pkey = fld_get(fld_at(out, QUERY_HCA_VPORT_PKEY_OUT_PKEY), PKEY_PKEY);
	return ret;
}

static uint64_t counter_field(const uint8_t *out, uint32_t counter, uint32_t field)
{
	return fld_get(fld_at(out, counter), field);
}

int adapter_query_counters(struct adapter *adapter, unsigned int port,
			   struct port_counters *counters)
{
	uint8_t in[PRM_QUERY_VPORT_COUNTER_IN_SIZE] = { 0 }, out[PRM_QUERY_VPORT_COUNTER_OUT_SIZE];
	int ret;

	fld_set(in, CMD_IN_OPCODE, PRM_OP_QUERY_VPORT_COUNTER);
	fld_set(in, QUERY_VPORT_COUNTER_IN_PORT_NUM, port);
	ret = adapter_command(adapter, in, sizeof(in), out, sizeof(out));
	if (ret)
		return ret;
#define PACKETS(way) counter_field(out, QUERY_VPORT_COUNTER_OUT_##way, TRAFFIC_COUNTER_PACKETS)
#define BYTES(way)   counter_field(out, QUERY_VPORT_COUNTER_OUT_##way, TRAFFIC_COUNTER_OCTETS)
	*counters = (struct port_counters){
		.unicast_sent = PACKETS(TRANSMITTED_IB_UNICAST),
		.unicast_received = PACKETS(RECEIVED_IB_UNICAST),
		.multicast_sent = PACKETS(TRANSMITTED_IB_MULTICAST),
		.multicast_received = PACKETS(RECEIVED_IB_MULTICAST),
		.bytes_sent = BYTES(TRANSMITTED_IB_UNICAST) + BYTES(TRANSMITTED_IB_MULTICAST),
		.bytes_received = BYTES(RECEIVED_IB_UNICAST) + BYTES(RECEIVED_IB_MULTICAST),
		.receive_errors = PACKETS(RECEIVED_ERRORS),
		.link_downs = adapter->link_downs[port - 1],
	};
#undef PACKETS
#undef BYTES
	return 0;
}

void adapter_show_manager(struct adapter *adapter, unsigned int port, bool present)
{
	uint8_t in[PRM_CMD_IN_SIZE + PRM_HCA_VPORT_CONTEXT_SIZE] = { 0 }, out[PRM_CMD_OUT_SIZE];
	uint8_t *context = fld_at(in, MODIFY_HCA_VPORT_CONTEXT_IN_HCA_VPORT_CONTEXT);

	fld_set(in, CMD_IN_OPCODE, PRM_OP_MODIFY_HCA_VPORT_CONTEXT);
	fld_set(in, MODIFY_HCA_VPORT_CONTEXT_IN_PORT_NUM, port);
	fld_set(context, HCA_VPORT_CONTEXT_CAP_MASK1, present ? PORT_CAP_SM : 0);
	fld_set(context, HCA_VPORT_CONTEXT_CAP_MASK1_FIELD_SELECT, PORT_CAP_SM);
	adapter_command(adapter, in, sizeof(in), out, sizeof(out));
}

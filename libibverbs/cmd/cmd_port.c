/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cmd_port.c - commands on ports and their GID tables.
 */
#include "cmd/cmd.h"

static void copy_port_attr(struct ibv_port_attr *attr,
			   const struct ib_uverbs_query_port_resp_ex *resp)
{
	const struct ib_uverbs_query_port_resp *base = &resp->legacy_resp;

	*attr = (struct ibv_port_attr){
		.state = base->state,
		.max_mtu = base->max_mtu,
		.active_mtu = base->active_mtu,
		.gid_tbl_len = (int)base->gid_tbl_len,
		.port_cap_flags = base->port_cap_flags,
		.max_msg_sz = base->max_msg_sz,
		.bad_pkey_cntr = base->bad_pkey_cntr,
		.qkey_viol_cntr = base->qkey_viol_cntr,
		.pkey_tbl_len = base->pkey_tbl_len,
		.lid = base->lid,
		.sm_lid = base->sm_lid,
		.lmc = base->lmc,
		.max_vl_num = base->max_vl_num,
		.sm_sl = base->sm_sl,
		.subnet_timeout = base->subnet_timeout,
		.init_type_reply = base->init_type_reply,
		.active_width = base->active_width,
		.active_speed = base->active_speed,
		.phys_state = base->phys_state,
		.link_layer = base->link_layer,
		.flags = base->flags,
		.port_cap_flags2 = resp->port_cap_flags2,
		.active_speed_ex = resp->active_speed_ex,
	};
}

/* Copies the attributes to a program's struct. A program that was built with an older release has a
 * shorter struct, without room for later fields. */
static void put_port_attr(struct ibv_port_attr *attr, size_t attr_size,
			  const struct ib_uverbs_query_port_resp_ex *resp)
{
	struct ibv_port_attr full;

	copy_port_attr(&full, resp);
	memset(attr, 0, attr_size);
	memcpy(attr, &full, min_of(attr_size, sizeof(full)));
}

VERBS_EXPORT int verbs_cmd_query_port(struct ibv_context *context, uint8_t port_num,
				      struct ibv_port_attr *attr, size_t attr_size)
{
	struct ib_uverbs_query_port_resp_ex resp = {};
	struct verbs_short cmd;
	int ret;

	cmd.attrs[0] = verbs_short_u64(UVERBS_ATTR_QUERY_PORT_PORT_NUM, port_num);
	cmd.attrs[1] = verbs_short_out(UVERBS_ATTR_QUERY_PORT_RESP, &resp, sizeof(resp));
	ret = verbs_cmd_run_short(context, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_PORT, &cmd, 2);
	if (ret) {
		verbs_warn("ibv_query_port %s: port_num %u: %s", context->device->name, port_num,
			   strerror(ret));
		return ret;
	}
	if (attr_size == sizeof(*attr))
		copy_port_attr(attr, &resp);
	else
		put_port_attr(attr, attr_size, &resp);
	return 0;
}

int verbs_cmd_query_port_speed(struct ibv_context *context, uint32_t port, uint64_t *speed)
{
	struct verbs_short cmd;

	cmd.attrs[0] = verbs_short_u64(UVERBS_ATTR_QUERY_PORT_SPEED_PORT_NUM, port);
	cmd.attrs[1] = verbs_short_out(UVERBS_ATTR_QUERY_PORT_SPEED_RESP, speed, sizeof(*speed));
	return verbs_cmd_run_short(context, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_PORT_SPEED,
				   &cmd, 2);
}

void verbs_cmd_copy_gid_entry(struct ibv_gid_entry *to, const struct ib_uverbs_gid_entry *from)
{
	memcpy(&to->gid, from->gid, sizeof(to->gid));
	to->gid_index = from->gid_index;
	to->port_num = from->port_num;
	to->gid_type = from->gid_type;
	to->ndev_ifindex = from->netdev_ifindex;
}

int verbs_cmd_query_gid(struct ibv_context *context, uint32_t port, uint32_t index,
			struct ibv_gid_entry *entry)
{
	struct ib_uverbs_gid_entry resp = {};
	struct verbs_short cmd;
	int ret;

	cmd.attrs[0] = verbs_short_u64(UVERBS_ATTR_QUERY_GID_ENTRY_PORT, port);
	cmd.attrs[1] = verbs_short_u64(UVERBS_ATTR_QUERY_GID_ENTRY_GID_INDEX, index);
	cmd.attrs[2] = verbs_short_u32(UVERBS_ATTR_QUERY_GID_ENTRY_FLAGS, 0);
	cmd.attrs[3] = verbs_short_out(UVERBS_ATTR_QUERY_GID_ENTRY_RESP_ENTRY, &resp, sizeof(resp));
	ret = verbs_cmd_run_short(context, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_GID_ENTRY,
				  &cmd, 4);
	if (!ret)
		verbs_cmd_copy_gid_entry(entry, &resp);
	return ret;
}

int verbs_cmd_query_gid_table(struct ibv_context *context, struct ib_uverbs_gid_entry *entries,
			      size_t max_entries, uint64_t *count)
{
	struct verbs_short cmd;

	cmd.attrs[0] = verbs_short_u64(UVERBS_ATTR_QUERY_GID_TABLE_ENTRY_SIZE, sizeof(entries[0]));
	cmd.attrs[1] = verbs_short_u32(UVERBS_ATTR_QUERY_GID_TABLE_FLAGS, 0);
	cmd.attrs[2] = verbs_short_out(UVERBS_ATTR_QUERY_GID_TABLE_RESP_ENTRIES, entries,
				       max_entries * sizeof(entries[0]));
	cmd.attrs[3] = verbs_short_out(UVERBS_ATTR_QUERY_GID_TABLE_RESP_NUM_ENTRIES, count,
				       sizeof(*count));
	return verbs_cmd_run_short(context, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_GID_TABLE,
				   &cmd, 4);
}

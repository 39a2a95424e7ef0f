/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * device.c - properties of the adapter: names, attributes, ports, GIDs, P_Keys.
 *
 * Covers: libibverbs/verbs_device.c, libibverbs/cmd/cmd_device.c, libibverbs/cmd/cmd_port.c,
 * providers/mlx5/device.c, providers/mlx4/device.c, softhca/front/process/uverbs/query_device.c,
 * softhca/front/process/driver/adapter.c, softhca/front/process/driver/adapter_port.c,
 * softhca/front/process/driver/hw_counters.c, providers/common/device.c
 */
#include <endian.h>
#include <stdio.h>
#include <arpa/inet.h>

#include "diff.h"

#define SHOW(object, field) say("%s %lld", #field, (long long)(object)->field)

void diff_names(struct rig *rig)
{
	struct ibv_device *device = rig->ctx->device;

	say("device %s dev_name %s node_type %s transport %d", ibv_get_device_name(device),
	    device->dev_name, ibv_node_type_str(device->node_type), device->transport_type);
	say("comp vectors %d", rig->ctx->num_comp_vectors);
	say("guid %016llx", (unsigned long long)be64toh(ibv_get_device_guid(device)));
	for (int i = -1; i <= IBV_WC_TM_RNDV_INCOMPLETE + 1; i++)
		say("wc status %d %s", i, ibv_wc_status_str((enum ibv_wc_status)i));
	for (int i = -1; i <= IBV_EVENT_WQ_FATAL + 1; i++)
		say("event %d %s", i, ibv_event_type_str((enum ibv_event_type)i));
	for (int i = -1; i <= IBV_PORT_ACTIVE_DEFER + 1; i++)
		say("port state %d %s", i, ibv_port_state_str((enum ibv_port_state)i));
	for (int i = -1; i <= IBV_NODE_UNSPECIFIED + 1; i++)
		say("node type %d %s", i, ibv_node_type_str((enum ibv_node_type)i));
}

static void show_limits(const struct ibv_device_attr *attr)
{
	SHOW(attr, max_qp);
	SHOW(attr, max_qp_wr);
	SHOW(attr, max_sge);
	SHOW(attr, max_sge_rd);
	SHOW(attr, max_cq);
	SHOW(attr, max_cqe);
	SHOW(attr, max_mr);
	SHOW(attr, max_pd);
	SHOW(attr, max_qp_rd_atom);
	SHOW(attr, max_ee_rd_atom);
	SHOW(attr, max_res_rd_atom);
	SHOW(attr, max_qp_init_rd_atom);
	SHOW(attr, max_ee_init_rd_atom);
	SHOW(attr, max_ee);
	SHOW(attr, max_rdd);
	SHOW(attr, max_mw);
	SHOW(attr, max_raw_ipv6_qp);
	SHOW(attr, max_raw_ethy_qp);
	SHOW(attr, max_mcast_grp);
	SHOW(attr, max_mcast_qp_attach);
	SHOW(attr, max_total_mcast_qp_attach);
	SHOW(attr, max_ah);
	SHOW(attr, max_fmr);
	SHOW(attr, max_map_per_fmr);
	SHOW(attr, max_srq);
	SHOW(attr, max_srq_wr);
	SHOW(attr, max_srq_sge);
	SHOW(attr, max_pkeys);
}

static void show_device(const struct ibv_device_attr *attr)
{
	say("fw %s", attr->fw_ver);
	say("node guid %016llx", (unsigned long long)be64toh(attr->node_guid));
	say("sys image guid %016llx", (unsigned long long)be64toh(attr->sys_image_guid));
	SHOW(attr, max_mr_size);
	SHOW(attr, page_size_cap);
	SHOW(attr, vendor_id);
	SHOW(attr, vendor_part_id);
	SHOW(attr, hw_ver);
	SHOW(attr, device_cap_flags);
	SHOW(attr, atomic_cap);
	SHOW(attr, local_ca_ack_delay);
	SHOW(attr, phys_port_cnt);
	show_limits(attr);
}

static void show_offloads(const struct ibv_device_attr_ex *attr)
{
	SHOW(attr, tso_caps.max_tso);
	SHOW(attr, tso_caps.supported_qpts);
	SHOW(attr, rss_caps.supported_qpts);
	SHOW(attr, rss_caps.max_rwq_indirection_tables);
	SHOW(attr, rss_caps.max_rwq_indirection_table_size);
	SHOW(attr, rss_caps.rx_hash_fields_mask);
	SHOW(attr, rss_caps.rx_hash_function);
	SHOW(attr, max_wq_type_rq);
	SHOW(attr, packet_pacing_caps.qp_rate_limit_min);
	SHOW(attr, packet_pacing_caps.qp_rate_limit_max);
	SHOW(attr, packet_pacing_caps.supported_qpts);
	SHOW(attr, raw_packet_caps);
	SHOW(attr, tm_caps.max_rndv_hdr_size);
	SHOW(attr, tm_caps.max_num_tags);
	SHOW(attr, tm_caps.flags);
	SHOW(attr, tm_caps.max_ops);
	SHOW(attr, tm_caps.max_sge);
}

static void show_device_ex(const struct ibv_device_attr_ex *attr)
{
	show_device(&attr->orig_attr);
	SHOW(attr, comp_mask);
	SHOW(attr, odp_caps.general_caps);
	SHOW(attr, odp_caps.per_transport_caps.rc_odp_caps);
	SHOW(attr, odp_caps.per_transport_caps.uc_odp_caps);
	SHOW(attr, odp_caps.per_transport_caps.ud_odp_caps);
	SHOW(attr, completion_timestamp_mask);
	SHOW(attr, hca_core_clock);
	SHOW(attr, device_cap_flags_ex);
	show_offloads(attr);
	SHOW(attr, cq_mod_caps.max_cq_count);
	SHOW(attr, cq_mod_caps.max_cq_period);
	SHOW(attr, max_dm_size);
	SHOW(attr, pci_atomic_caps.fetch_add);
	SHOW(attr, pci_atomic_caps.swap);
	SHOW(attr, pci_atomic_caps.compare_swap);
	SHOW(attr, xrc_odp_caps);
	SHOW(attr, phys_port_cnt_ex);
}

void diff_device(struct rig *rig)
{
	struct ibv_query_device_ex_input input = { .comp_mask = 0 };
	struct ibv_device_attr_ex ex;
	struct ibv_device_attr attr;

	memset(&attr, 0xa5, sizeof(attr));
	if (!SAY_RET(ibv_query_device(rig->ctx, &attr), "query_device"))
		show_device(&attr);
	memset(&ex, 0xa5, sizeof(ex));
	if (!SAY_RET(ibv_query_device_ex(rig->ctx, NULL, &ex), "query_device_ex"))
		show_device_ex(&ex);
	SAY_RET(ibv_query_device_ex(rig->ctx, &input, &ex), "query_device_ex, input mask 0");
	input.comp_mask = 1;
	SAY_RET(ibv_query_device_ex(rig->ctx, &input, &ex), "query_device_ex, input mask 1");
}

static void show_port(const struct ibv_port_attr *attr)
{
	SHOW(attr, state);
	SHOW(attr, max_mtu);
	SHOW(attr, active_mtu);
	SHOW(attr, gid_tbl_len);
	SHOW(attr, port_cap_flags);
	SHOW(attr, max_msg_sz);
	SHOW(attr, bad_pkey_cntr);
	SHOW(attr, qkey_viol_cntr);
	SHOW(attr, pkey_tbl_len);
	SHOW(attr, lid);
	SHOW(attr, sm_lid);
	SHOW(attr, lmc);
	SHOW(attr, max_vl_num);
	SHOW(attr, sm_sl);
	SHOW(attr, subnet_timeout);
	SHOW(attr, init_type_reply);
	SHOW(attr, active_width);
	SHOW(attr, active_speed);
	SHOW(attr, phys_state);
	SHOW(attr, link_layer);
	SHOW(attr, flags);
	SHOW(attr, port_cap_flags2);
}

void diff_port(struct rig *rig)
{
	static const uint8_t ports[] = { 0, 1, 2, 3, 255 };
	struct ibv_port_attr attr;

	for (size_t i = 0; i < ARRAY_SIZE(ports); i++) {
		memset(&attr, 0xa5, sizeof(attr));
		if (!SAY_RET(ibv_query_port(rig->ctx, ports[i], &attr), "query_port %u", ports[i]))
			show_port(&attr);
	}
}

static const char *gid_text(const union ibv_gid *gid)
{
	static char text[33];

	for (int i = 0; i < 16; i++)
		sprintf(text + 2 * i, "%02x", gid->raw[i]);
	return text;
}

static void say_gid_entry(const struct ibv_gid_entry *entry)
{
	say("entry index %u port %u type %u ndev %s gid %s", entry->gid_index, entry->port_num,
	    entry->gid_type, entry->ndev_ifindex ? "yes" : "no", gid_text(&entry->gid));
}

static void gid_one(struct rig *rig, uint8_t port, int index)
{
	struct ibv_gid_entry entry;
	union ibv_gid gid;

	if (!SAY_RET(ibv_query_gid(rig->ctx, port, index, &gid), "query_gid port %u index %d", port,
		     index))
		say("gid %s", gid_text(&gid));
	if (!SAY_RET(ibv_query_gid_ex(rig->ctx, port, index, &entry, 0),
		     "query_gid_ex port %u index %d", port, index))
		say_gid_entry(&entry);
}

static void gid_table(struct rig *rig, size_t max, uint32_t flags)
{
	struct ibv_gid_entry entries[512];
	ssize_t n;

	errno = 0;
	n = ibv_query_gid_table(rig->ctx, entries, max, flags);
	say("query_gid_table max %zu flags %u gives %zd%s%s", max, flags, n, n < 0 ? " errno " : "",
	    n < 0 ? say_errno(errno) : "");
	for (ssize_t i = 0; i < n; i++)
		say_gid_entry(&entries[i]);
}

void diff_gid(struct rig *rig)
{
	struct ibv_gid_entry entry;

	for (int i = 0; i < 5; i++)
		gid_one(rig, RIG_PORT, i);
	gid_one(rig, RIG_PORT, -1);
	gid_one(rig, RIG_PORT, rig->port.gid_tbl_len - 1);
	gid_one(rig, RIG_PORT, rig->port.gid_tbl_len);
	gid_one(rig, RIG_PORT, 100000);
	gid_one(rig, 0, 0);
	gid_one(rig, 77, 0);
	SAY_RET(ibv_query_gid_ex(rig->ctx, RIG_PORT, 0, &entry, 1), "query_gid_ex flags 1");
	SAY_RET(ibv_query_gid_ex(rig->ctx, 0x10001, 0, &entry, 0), "query_gid_ex port 0x10001");
	gid_table(rig, 512, 0);
	gid_table(rig, 512, 1);
	gid_table(rig, 1, 0);
	gid_table(rig, 0, 0);
}

void diff_pkey(struct rig *rig)
{
	const int indexes[] = {
		0, 1, rig->port.pkey_tbl_len - 1, rig->port.pkey_tbl_len, 70000, -1
	};
	static const uint8_t ports[] = { 1, 0, 77 };
	static const uint16_t values[] = { 0xffff, 0x7fff, 0, 0x1234 };
	__be16 pkey;

	for (size_t p = 0; p < ARRAY_SIZE(ports); p++)
		for (size_t i = 0; i < ARRAY_SIZE(indexes); i++) {
			pkey = 0x5a5a;
			if (!SAY_RET(ibv_query_pkey(rig->ctx, ports[p], indexes[i], &pkey),
				     "query_pkey port %u index %d", ports[p], indexes[i]))
				say("pkey 0x%04x", ntohs(pkey));
		}
	for (size_t i = 0; i < ARRAY_SIZE(values); i++) {
		errno = 0;
		int index = ibv_get_pkey_index(rig->ctx, RIG_PORT, htons(values[i]));

		say("get_pkey_index 0x%04x gives %d errno %s", values[i], index,
		    index < 0 ? say_errno(errno) : "-");
	}
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * devinfo_port.c - a port's attributes and its GID table.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "devinfo.h"

static const struct named_value port_states[] = {
	{ IBV_PORT_DOWN, "PORT_DOWN" },
	{ IBV_PORT_INIT, "PORT_INIT" },
	{ IBV_PORT_ARMED, "PORT_ARMED" },
	{ IBV_PORT_ACTIVE, "PORT_ACTIVE" },
	{ 0, NULL },
};

static const struct named_value mtus[] = {
	{ IBV_MTU_256, "256" },   { IBV_MTU_512, "512" },   { IBV_MTU_1024, "1024" },
	{ IBV_MTU_2048, "2048" }, { IBV_MTU_4096, "4096" }, { 0, NULL },
};

static const struct named_value link_layers[] = {
	{ IBV_LINK_LAYER_UNSPECIFIED, "Unspecified" },
	{ IBV_LINK_LAYER_INFINIBAND, "InfiniBand" },
	{ IBV_LINK_LAYER_ETHERNET, "Ethernet" },
	{ 0, NULL },
};

/* Names of PortInfo codes: VLCap, LinkWidthActive, LinkSpeedActive, PortPhysicalState. */
static const struct named_value vl_counts[] = {
	{ 1, "1" }, { 2, "2" }, { 3, "4" }, { 4, "8" }, { 5, "15" }, { 0, NULL },
};

static const struct named_value widths[] = {
	{ 1, "1" }, { 2, "4" }, { 4, "8" }, { 8, "12" }, { 16, "2" }, { 0, NULL },
};

static const struct named_value speeds[] = {
	{ 1, "2.5 Gbps" },   { 2, "5.0 Gbps" },     { 4, "10.0 Gbps" },
	{ 8, "10.0 Gbps" },  { 16, "14.0 Gbps" },   { 32, "25.0 Gbps" },
	{ 64, "50.0 Gbps" }, { 128, "100.0 Gbps" }, { 0, NULL },
};

static const struct named_value phys_states[] = {
	{ 1, "SLEEP" },    { 2, "POLLING" },
	{ 3, "DISABLED" }, { 4, "PORT_CONFIGURATION TRAINNING" },
	{ 5, "LINK_UP" },  { 6, "LINK_ERROR_RECOVERY" },
	{ 7, "PHY TEST" }, { 0, NULL },
};

static bool gid_is_zero(const union ibv_gid *gid)
{
	static const union ibv_gid zero;

	return !memcmp(gid, &zero, sizeof(zero));
}

/* Prints a GID. A RoCE v2 GID is an IP address and is written as one, all others as eight full
 * groups. */
static void print_gid(unsigned int index, const union ibv_gid *gid, const char *suffix,
		      bool as_address)
{
	char text[INET6_ADDRSTRLEN];
	size_t used = 0;

	if (as_address) {
		inet_ntop(AF_INET6, gid->raw, text, sizeof(text));
	} else {
		for (int i = 0; i < 16; i += 2)
			used += snprintf(text + used, sizeof(text) - used, "%s%02x%02x",
					 i ? ":" : "", gid->raw[i], gid->raw[i + 1]);
	}
	printf("\t\t\tGID[%3u]:\t\t%s%s\n", index, text, suffix);
}

static void print_gid_entry(unsigned int index, const struct ibv_gid_entry *entry,
			    uint8_t link_layer)
{
	bool ethernet = link_layer == IBV_LINK_LAYER_ETHERNET;

	if (entry->gid_type == IBV_GID_TYPE_ROCE_V2)
		print_gid(index, &entry->gid, ethernet ? ", RoCE v2" : "", true);
	else
		print_gid(index, &entry->gid, ethernet ? ", RoCE v1" : "", false);
}

static int print_gids(struct ibv_context *context, uint8_t port_num,
		      const struct ibv_port_attr *attr)
{
	for (int i = 0; i < attr->gid_tbl_len; i++) {
		struct ibv_gid_entry entry;
		int ret = ibv_query_gid_ex(context, port_num, i, &entry, 0);

		if (ret == ENODATA)
			continue;
		if (ret) {
			fprintf(stderr, "Failed to query gid to port %u, index %d\n", port_num, i);
			return -1;
		}
		if (!gid_is_zero(&entry.gid))
			print_gid_entry(i, &entry, attr->link_layer);
	}
	return 0;
}

static void print_summary(const struct ibv_port_attr *attr)
{
	printf("\t\t\tstate:\t\t\t%s (%d)\n", value_name(port_states, attr->state, "invalid state"),
	       attr->state);
	printf("\t\t\tmax_mtu:\t\t%s (%d)\n", value_name(mtus, attr->max_mtu, "invalid MTU"),
	       attr->max_mtu);
	printf("\t\t\tactive_mtu:\t\t%s (%d)\n", value_name(mtus, attr->active_mtu, "invalid MTU"),
	       attr->active_mtu);
	printf("\t\t\tsm_lid:\t\t\t%d\n", attr->sm_lid);
	printf("\t\t\tport_lid:\t\t%d\n", attr->lid);
	printf("\t\t\tport_lmc:\t\t0x%02x\n", attr->lmc);
	printf("\t\t\tlink_layer:\t\t%s\n", value_name(link_layers, attr->link_layer, "Unknown"));
}

static void print_details(const struct ibv_port_attr *attr, enum ibv_transport_type transport)
{
	printf("\t\t\tmax_msg_sz:\t\t0x%x\n", attr->max_msg_sz);
	printf("\t\t\tport_cap_flags:\t\t0x%08x\n", attr->port_cap_flags);
	printf("\t\t\tport_cap_flags2:\t0x%04x\n", attr->port_cap_flags2);
	printf("\t\t\tmax_vl_num:\t\t%s (%d)\n",
	       value_name(vl_counts, attr->max_vl_num, "invalid value"), attr->max_vl_num);
	printf("\t\t\tbad_pkey_cntr:\t\t0x%x\n", attr->bad_pkey_cntr);
	printf("\t\t\tqkey_viol_cntr:\t\t0x%x\n", attr->qkey_viol_cntr);
	printf("\t\t\tsm_sl:\t\t\t%d\n", attr->sm_sl);
	printf("\t\t\tpkey_tbl_len:\t\t%d\n", attr->pkey_tbl_len);
	printf("\t\t\tgid_tbl_len:\t\t%d\n", attr->gid_tbl_len);
	printf("\t\t\tsubnet_timeout:\t\t%d\n", attr->subnet_timeout);
	printf("\t\t\tinit_type_reply:\t%d\n", attr->init_type_reply);
	printf("\t\t\tactive_width:\t\t%sX (%d)\n",
	       value_name(widths, attr->active_width, "invalid width"), attr->active_width);
	printf("\t\t\tactive_speed:\t\t%s (%d)\n",
	       value_name(speeds, attr->active_speed, "invalid speed"), attr->active_speed);
	if (transport == IBV_TRANSPORT_IB)
		printf("\t\t\tphys_state:\t\t%s (%d)\n",
		       value_name(phys_states, attr->phys_state, "invalid physical state"),
		       attr->phys_state);
}

int devinfo_print_port(struct ibv_context *context, uint8_t port_num, bool verbose)
{
	struct ibv_port_attr attr;
	int ret = ibv_query_port(context, port_num, &attr);

	if (ret) {
		fprintf(stderr, "Failed to query port %u props\n", port_num);
		return ret;
	}
	printf("\t\tport:\t%u\n", port_num);
	print_summary(&attr);
	if (verbose) {
		print_details(&attr, context->device->transport_type);
		ret = print_gids(context, port_num, &attr);
		if (ret)
			return ret;
	}
	printf("\n");
	return 0;
}

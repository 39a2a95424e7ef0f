/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sysfs_text.c - contents of the tree's files, in the kernel's format.
 */
#include <stdarg.h>
#include <stdio.h>

#include "softhca/front/process/discovery/sysfs_text.h"

void sysfs_put_text(char *text, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(text, SYSFS_TEXT_SIZE, format, args);
	va_end(args);
}

static void put_guid(char *text, uint64_t guid)
{
	sysfs_put_text(text, "%04x:%04x:%04x:%04x\n", (unsigned int)(guid >> 48) & 0xffff,
		       (unsigned int)(guid >> 32) & 0xffff, (unsigned int)(guid >> 16) & 0xffff,
		       (unsigned int)guid & 0xffff);
}

static void ib_guid(const struct sysfs_subject *of, char *text)
{
	put_guid(text, of->adapter->node_guid);
}

static void ib_node_desc(const struct sysfs_subject *of, char *text)
{
	sysfs_put_text(text, "softhca %s\n", of->adapter->name);
}

static void ib_fw_ver(const struct sysfs_subject *of, char *text)
{
	sysfs_put_text(text, "%s\n", of->adapter->identity->fw_version);
}

static void ib_board_id(const struct sysfs_subject *of, char *text)
{
	sysfs_put_text(text, "%s\n", of->adapter->identity->board_id);
}

static void ib_hca_type(const struct sysfs_subject *of, char *text)
{
	sysfs_put_text(text, "%s\n", of->adapter->identity->hca_type);
}

const struct sysfs_file sysfs_ib_files[] = {
	{ "node_type", NULL, "1: CA\n" },
	{ "node_guid", ib_guid, NULL },
	{ "sys_image_guid", ib_guid, NULL },
	{ "fw_ver", ib_fw_ver, NULL },
	{ "node_desc", ib_node_desc, NULL },
	{ "board_id", ib_board_id, NULL },
	{ "hca_type", ib_hca_type, NULL },
	{ "hw_rev", NULL, "0\n" },
	{ "fw_pages", NULL, "0\n" },
	{ "reg_pages", NULL, "0\n" },
	{ 0 },
};

static const char *const port_states[] = {
	"NOP", "DOWN", "INIT", "ARMED", "ACTIVE", "ACTIVE_DEFER"
};
static const char *const phys_states[] = {
	"No state change",           "Sleep",  "Polling",           "Disabled",
	"PortConfigurationTraining", "LinkUp", "LinkErrorRecovery", "Phy Test"
};

static void port_state(const struct sysfs_subject *of, char *text)
{
	sysfs_put_text(text, "%u: %s\n", of->info->state, port_states[of->info->state % 6]);
}

static void port_phys_state(const struct sysfs_subject *of, char *text)
{
	sysfs_put_text(text, "%u: %s\n", of->info->phys_state,
		       phys_states[of->info->phys_state % 8]);
}

static void port_rate(const struct sysfs_subject *of, char *text)
{
	sysfs_put_text(text, "%s\n", of->adapter->identity->rate);
}

static void port_link_layer(const struct sysfs_subject *of, char *text)
{
	sysfs_put_text(text, "%s\n",
		       of->adapter->link_layer == HCA_LINK_ETHERNET ? "Ethernet" : "InfiniBand");
}

static void port_lid(const struct sysfs_subject *of, char *text)
{
	sysfs_put_text(text, "0x%x\n", of->info->lid);
}

static void port_lid_mask(const struct sysfs_subject *of, char *text)
{
	sysfs_put_text(text, "%u\n", of->info->lmc);
}

static void port_sm_lid(const struct sysfs_subject *of, char *text)
{
	sysfs_put_text(text, "0x%x\n", of->info->sm_lid);
}

static void port_sm_sl(const struct sysfs_subject *of, char *text)
{
	sysfs_put_text(text, "%u\n", of->info->sm_sl);
}

static void port_cap_mask(const struct sysfs_subject *of, char *text)
{
	sysfs_put_text(text, "0x%08x\n", of->info->cap_mask);
}

const struct sysfs_file sysfs_port_files[] = {
	{ "state", port_state, NULL },
	{ "phys_state", port_phys_state, NULL },
	{ "link_layer", port_link_layer, NULL },
	{ "rate", port_rate, NULL },
	{ "lid", port_lid, NULL },
	{ "lid_mask_count", port_lid_mask, NULL },
	{ "sm_lid", port_sm_lid, NULL },
	{ "sm_sl", port_sm_sl, NULL },
	{ "cap_mask", port_cap_mask, NULL },
	{ 0 },
};

void sysfs_put_count(char *text, uint64_t count)
{
	sysfs_put_text(text, "%llu\n", (unsigned long long)count);
}

static void xmit_data(const struct sysfs_subject *of, char *text)
{
	sysfs_put_count(text, of->counters->bytes_sent / 4);
}

static void rcv_data(const struct sysfs_subject *of, char *text)
{
	sysfs_put_count(text, of->counters->bytes_received / 4);
}

static void xmit_packets(const struct sysfs_subject *of, char *text)
{
	sysfs_put_count(text, of->counters->unicast_sent + of->counters->multicast_sent);
}

static void rcv_packets(const struct sysfs_subject *of, char *text)
{
	sysfs_put_count(text, of->counters->unicast_received + of->counters->multicast_received);
}

static void unicast_xmit(const struct sysfs_subject *of, char *text)
{
	sysfs_put_count(text, of->counters->unicast_sent);
}

static void unicast_rcv(const struct sysfs_subject *of, char *text)
{
	sysfs_put_count(text, of->counters->unicast_received);
}

static void multicast_xmit(const struct sysfs_subject *of, char *text)
{
	sysfs_put_count(text, of->counters->multicast_sent);
}

static void multicast_rcv(const struct sysfs_subject *of, char *text)
{
	sysfs_put_count(text, of->counters->multicast_received);
}

static void rcv_errors(const struct sysfs_subject *of, char *text)
{
	sysfs_put_count(text, of->counters->receive_errors);
}

static void link_downed(const struct sysfs_subject *of, char *text)
{
	sysfs_put_count(text, of->counters->link_downs);
}

/* Counters that are always 0 count errors that this adapter cannot have. */
const struct sysfs_file sysfs_counter_files[] = {
	{ "port_xmit_data", xmit_data, NULL },
	{ "port_rcv_data", rcv_data, NULL },
	{ "port_xmit_packets", xmit_packets, NULL },
	{ "port_rcv_packets", rcv_packets, NULL },
	{ "unicast_xmit_packets", unicast_xmit, NULL },
	{ "unicast_rcv_packets", unicast_rcv, NULL },
	{ "multicast_xmit_packets", multicast_xmit, NULL },
	{ "multicast_rcv_packets", multicast_rcv, NULL },
	{ "port_rcv_errors", rcv_errors, NULL },
	{ "link_downed", link_downed, NULL },
	{ "VL15_dropped", NULL, "0\n" },
	{ "excessive_buffer_overrun_errors", NULL, "0\n" },
	{ "link_error_recovery", NULL, "0\n" },
	{ "local_link_integrity_errors", NULL, "0\n" },
	{ "port_rcv_constraint_errors", NULL, "0\n" },
	{ "port_rcv_remote_physical_errors", NULL, "0\n" },
	{ "port_rcv_switch_relay_errors", NULL, "0\n" },
	{ "port_xmit_constraint_errors", NULL, "0\n" },
	{ "port_xmit_discards", NULL, "0\n" },
	{ "port_xmit_wait", NULL, "0\n" },
	{ "symbol_error", NULL, "0\n" },
	{ 0 },
};

void sysfs_gid_value(const struct sysfs_subject *of, char *text)
{
	const uint8_t *g = of->gid.gid;

	sysfs_put_text(text,
		       "%02x%02x:%02x%02x:%02x%02x:%02x%02x:%02x%02x:%02x%02x:%02x%02x:%02x%02x\n",
		       g[0], g[1], g[2], g[3], g[4], g[5], g[6], g[7], g[8], g[9], g[10], g[11],
		       g[12], g[13], g[14], g[15]);
}

void sysfs_gid_type(const struct sysfs_subject *of, char *text)
{
	sysfs_put_text(text, "%s\n", of->gid.kind == GID_ROCE_V2 ? "RoCE v2" : "IB/RoCE v1");
}

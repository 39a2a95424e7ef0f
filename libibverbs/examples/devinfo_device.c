/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * devinfo_device.c - a device's attributes: numbers from a table, then the capabilities that are
 * sets of flags.
 */
#include <endian.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "devinfo.h"

/* exported by the library for programs like this one, but in no installed header */
int ibv_read_sysfs_file(const char *dir, const char *file, char *buf, size_t size);

#define FLAG_INDENT "\t\t\t\t\t"

static const struct named_value transports[] = {
	{ IBV_TRANSPORT_IB, "InfiniBand" },
	{ IBV_TRANSPORT_IWARP, "iWARP" },
	{ IBV_TRANSPORT_USNIC, "usNIC" },
	{ IBV_TRANSPORT_USNIC_UDP, "usNIC UDP" },
	{ IBV_TRANSPORT_UNSPECIFIED, "unspecified" },
	{ 0, NULL },
};

static const struct named_value atomic_caps[] = {
	{ IBV_ATOMIC_NONE, "ATOMIC_NONE" },
	{ IBV_ATOMIC_HCA, "ATOMIC_HCA" },
	{ IBV_ATOMIC_GLOB, "ATOMIC_GLOB" },
	{ 0, NULL },
};

static const struct named_value device_flags[] = {
	{ IBV_DEVICE_RESIZE_MAX_WR, "RESIZE_MAX_WR" },
	{ IBV_DEVICE_BAD_PKEY_CNTR, "BAD_PKEY_CNTR" },
	{ IBV_DEVICE_BAD_QKEY_CNTR, "BAD_QKEY_CNTR" },
	{ IBV_DEVICE_RAW_MULTI, "RAW_MULTI" },
	{ IBV_DEVICE_AUTO_PATH_MIG, "AUTO_PATH_MIG" },
	{ IBV_DEVICE_CHANGE_PHY_PORT, "CHANGE_PHY_PORT" },
	{ IBV_DEVICE_UD_AV_PORT_ENFORCE, "UD_AV_PORT_ENFORCE" },
	{ IBV_DEVICE_CURR_QP_STATE_MOD, "CURR_QP_STATE_MOD" },
	{ IBV_DEVICE_SHUTDOWN_PORT, "SHUTDOWN_PORT" },
	{ IBV_DEVICE_INIT_TYPE, "INIT_TYPE" },
	{ IBV_DEVICE_PORT_ACTIVE_EVENT, "PORT_ACTIVE_EVENT" },
	{ IBV_DEVICE_SYS_IMAGE_GUID, "SYS_IMAGE_GUID" },
	{ IBV_DEVICE_RC_RNR_NAK_GEN, "RC_RNR_NAK_GEN" },
	{ IBV_DEVICE_SRQ_RESIZE, "SRQ_RESIZE" },
	{ IBV_DEVICE_N_NOTIFY_CQ, "N_NOTIFY_CQ" },
	{ IBV_DEVICE_MEM_WINDOW, "MEM_WINDOW" },
	{ IBV_DEVICE_UD_IP_CSUM, "UD_IP_CSUM" },
	{ IBV_DEVICE_XRC, "XRC" },
	{ IBV_DEVICE_MEM_MGT_EXTENSIONS, "MEM_MGT_EXTENSIONS" },
	{ IBV_DEVICE_MEM_WINDOW_TYPE_2A, "MEM_WINDOW_TYPE_2A" },
	{ IBV_DEVICE_MEM_WINDOW_TYPE_2B, "MEM_WINDOW_TYPE_2B" },
	{ IBV_DEVICE_RC_IP_CSUM, "RC_IP_CSUM" },
	{ IBV_DEVICE_RAW_IP_CSUM, "RAW_IP_CSUM" },
	{ IBV_DEVICE_MANAGED_FLOW_STEERING, "MANAGED_FLOW_STEERING" },
	{ 0, NULL },
};

static const struct named_value device_flags_ex[] = {
	{ IBV_DEVICE_RAW_SCATTER_FCS, "RAW_SCATTER_FCS" },
	{ IBV_DEVICE_PCI_WRITE_END_PADDING, "PCI_WRITE_END_PADDING" },
	{ 0, NULL },
};

static const struct named_value odp_general[] = {
	{ IBV_ODP_SUPPORT, "ODP_SUPPORT" },
	{ IBV_ODP_SUPPORT_IMPLICIT, "ODP_SUPPORT_IMPLICIT" },
	{ 0, NULL },
};

static const struct named_value odp_transport[] = {
	{ IBV_ODP_SUPPORT_SEND, "SUPPORT_SEND" },
	{ IBV_ODP_SUPPORT_RECV, "SUPPORT_RECV" },
	{ IBV_ODP_SUPPORT_WRITE, "SUPPORT_WRITE" },
	{ IBV_ODP_SUPPORT_READ, "SUPPORT_READ" },
	{ IBV_ODP_SUPPORT_ATOMIC, "SUPPORT_ATOMIC" },
	{ IBV_ODP_SUPPORT_SRQ_RECV, "SUPPORT_SRQ" },
	{ 0, NULL },
};

static const struct named_value raw_packet_caps[] = {
	{ IBV_RAW_PACKET_CAP_CVLAN_STRIPPING, "C-VLAN stripping offload" },
	{ IBV_RAW_PACKET_CAP_SCATTER_FCS, "Scatter FCS offload" },
	{ IBV_RAW_PACKET_CAP_IP_CSUM, "IP csum offload" },
	{ IBV_RAW_PACKET_CAP_DELAY_DROP, "Delay drop" },
	{ 0, NULL },
};

/* Sets of QP types are masks of 1 << type; only these types have a name in the output. */
static const struct named_value qp_types[] = {
	{ 1 << IBV_QPT_RAW_PACKET, "SUPPORT_RAW_PACKET" },
	{ 1 << IBV_QPT_UD, "SUPPORT_UD" },
	{ 0, NULL },
};

struct number {
	const char *label;
	size_t offset;
};

#define NUMBER(label, field)                                   \
	{                                                      \
		label, offsetof(struct ibv_device_attr, field) \
	}

/* Signed 32-bit attributes in their order of output, before and after atomic_cap. */
static const struct number numbers_before_atomic[] = {
	NUMBER("max_sge:\t\t\t", max_sge),
	NUMBER("max_sge_rd:\t\t\t", max_sge_rd),
	NUMBER("max_cq:\t\t\t\t", max_cq),
	NUMBER("max_cqe:\t\t\t", max_cqe),
	NUMBER("max_mr:\t\t\t\t", max_mr),
	NUMBER("max_pd:\t\t\t\t", max_pd),
	NUMBER("max_qp_rd_atom:\t\t\t", max_qp_rd_atom),
	NUMBER("max_ee_rd_atom:\t\t\t", max_ee_rd_atom),
	NUMBER("max_res_rd_atom:\t\t", max_res_rd_atom),
	NUMBER("max_qp_init_rd_atom:\t\t", max_qp_init_rd_atom),
	NUMBER("max_ee_init_rd_atom:\t\t", max_ee_init_rd_atom),
	{ NULL, 0 },
};

static const struct number numbers_after_atomic[] = {
	NUMBER("max_ee:\t\t\t\t", max_ee),
	NUMBER("max_rdd:\t\t\t", max_rdd),
	NUMBER("max_mw:\t\t\t\t", max_mw),
	NUMBER("max_raw_ipv6_qp:\t\t", max_raw_ipv6_qp),
	NUMBER("max_raw_ethy_qp:\t\t", max_raw_ethy_qp),
	NUMBER("max_mcast_grp:\t\t\t", max_mcast_grp),
	NUMBER("max_mcast_qp_attach:\t\t", max_mcast_qp_attach),
	NUMBER("max_total_mcast_qp_attach:\t", max_total_mcast_qp_attach),
	NUMBER("max_ah:\t\t\t\t", max_ah),
	NUMBER("max_fmr:\t\t\t", max_fmr),
	{ NULL, 0 },
};

static const struct number srq_numbers[] = {
	NUMBER("max_srq_wr:\t\t\t", max_srq_wr),
	NUMBER("max_srq_sge:\t\t\t", max_srq_sge),
	{ NULL, 0 },
};

const char *value_name(const struct named_value *table, uint64_t value, const char *fallback)
{
	for (; table->name; table++)
		if (table->value == value)
			return table->name;
	return fallback;
}

static void print_numbers(const struct number *table, const struct ibv_device_attr *attr)
{
	for (; table->label; table++) {
		int value;

		memcpy(&value, (const char *)attr + table->offset, sizeof(value));
		printf("\t%s%d\n", table->label, value);
	}
}

/* Prints a line for each set flag, and a common one for all flags without a name. */
static void print_flags(const struct named_value *table, uint64_t flags)
{
	for (; table->name; table++) {
		if (flags & table->value)
			printf(FLAG_INDENT "%s\n", table->name);
		flags &= ~table->value;
	}
	if (flags)
		printf(FLAG_INDENT "Unknown flags: 0x%" PRIX64 "\n", flags);
}

static void print_guid(const char *label, __be64 guid_be)
{
	uint64_t guid = be64toh(guid_be);

	printf("\t%s%04x:%04x:%04x:%04x\n", label, (unsigned int)(guid >> 48 & 0xffff),
	       (unsigned int)(guid >> 32 & 0xffff), (unsigned int)(guid >> 16 & 0xffff),
	       (unsigned int)(guid & 0xffff));
}

static void print_identity(struct ibv_device *device, const struct ibv_device_attr *attr)
{
	char board_id[256];

	printf("hca_id:\t%s\n", ibv_get_device_name(device));
	printf("\ttransport:\t\t\t%s (%d)\n",
	       value_name(transports, device->transport_type, "invalid transport"),
	       device->transport_type);
	if (attr->fw_ver[0])
		printf("\tfw_ver:\t\t\t\t%s\n", attr->fw_ver);
	print_guid("node_guid:\t\t\t", attr->node_guid);
	print_guid("sys_image_guid:\t\t\t", attr->sys_image_guid);
	printf("\tvendor_id:\t\t\t0x%04x\n", attr->vendor_id);
	printf("\tvendor_part_id:\t\t\t%d\n", (int)attr->vendor_part_id);
	printf("\thw_ver:\t\t\t\t0x%X\n", attr->hw_ver);
	if (ibv_read_sysfs_file(device->ibdev_path, "board_id", board_id, sizeof(board_id)) > 0)
		printf("\tboard_id:\t\t\t%s\n", board_id);
	printf("\tphys_port_cnt:\t\t\t%d\n", attr->phys_port_cnt);
}

static void print_limits(const struct ibv_device_attr *attr)
{
	printf("\tmax_mr_size:\t\t\t0x%" PRIx64 "\n", attr->max_mr_size);
	printf("\tpage_size_cap:\t\t\t0x%" PRIx64 "\n", attr->page_size_cap);
	printf("\tmax_qp:\t\t\t\t%d\n", attr->max_qp);
	printf("\tmax_qp_wr:\t\t\t%d\n", attr->max_qp_wr);
	printf("\tdevice_cap_flags:\t\t0x%08x\n", attr->device_cap_flags);
	print_flags(device_flags, attr->device_cap_flags);
	print_numbers(numbers_before_atomic, attr);
	printf("\tatomic_cap:\t\t\t%s (%d)\n",
	       value_name(atomic_caps, attr->atomic_cap, "invalid atomic capability"),
	       attr->atomic_cap);
	print_numbers(numbers_after_atomic, attr);
	if (attr->max_fmr)
		printf("\tmax_map_per_fmr:\t\t%d\n", attr->max_map_per_fmr);
	printf("\tmax_srq:\t\t\t%d\n", attr->max_srq);
	if (attr->max_srq)
		print_numbers(srq_numbers, attr);
	printf("\tmax_pkeys:\t\t\t%d\n", attr->max_pkeys);
	printf("\tlocal_ca_ack_delay:\t\t%d\n", attr->local_ca_ack_delay);
}

static void print_odp_transport(const char *label, uint32_t caps)
{
	printf("\t%s\n", label);
	if (!caps)
		printf(FLAG_INDENT "NO SUPPORT\n");
	print_flags(odp_transport, caps);
}

static void print_odp(const struct ibv_device_attr_ex *attr)
{
	printf("\tgeneral_odp_caps:\n");
	print_flags(odp_general, attr->odp_caps.general_caps);
	print_odp_transport("rc_odp_caps:", attr->odp_caps.per_transport_caps.rc_odp_caps);
	print_odp_transport("uc_odp_caps:", attr->odp_caps.per_transport_caps.uc_odp_caps);
	print_odp_transport("ud_odp_caps:", attr->odp_caps.per_transport_caps.ud_odp_caps);
	print_odp_transport("xrc_odp_caps:", attr->xrc_odp_caps);
}

static void print_clocks(const struct ibv_device_attr_ex *attr)
{
	if (attr->completion_timestamp_mask)
		printf("\tcompletion timestamp_mask:\t\t\t0x%016" PRIx64 "\n",
		       attr->completion_timestamp_mask);
	else
		printf("\tcompletion_timestamp_mask not supported\n");
	if (attr->hca_core_clock)
		printf("\thca_core_clock:\t\t\t%" PRIu64 "kHZ\n", attr->hca_core_clock);
	else
		printf("\tcore clock not supported\n");
}

/* Prints the QP types. For some features, the heading appears even without types, depending on
 * NEEDED only, as in the distribution's program. */
static void print_supported_qps(uint32_t needed, uint32_t types)
{
	if (!needed)
		return;
	printf("\t\tsupported_qp:\n");
	print_flags(qp_types, types);
}

static void print_raw_packet(uint32_t caps)
{
	if (!caps)
		return;
	printf("\traw packet caps:\n");
	for (const struct named_value *cap = raw_packet_caps; cap->name; cap++)
		if (caps & cap->value)
			printf(FLAG_INDENT "%s\n", cap->name);
}

static void print_tso(const struct ibv_tso_caps *caps)
{
	printf("\ttso_caps:\n");
	printf("\t\tmax_tso:\t\t\t%d\n", (int)caps->max_tso);
	print_supported_qps(caps->max_tso, caps->supported_qpts);
}

static void print_rss(const struct ibv_rss_caps *caps)
{
	printf("\trss_caps:\n");
	printf("\t\tmax_rwq_indirection_tables:\t\t\t%u\n", caps->max_rwq_indirection_tables);
	printf("\t\tmax_rwq_indirection_table_size:\t\t\t%u\n",
	       caps->max_rwq_indirection_table_size);
	printf("\t\trx_hash_function:\t\t\t\t0x%x\n", caps->rx_hash_function);
	printf("\t\trx_hash_fields_mask:\t\t\t\t0x%" PRIX64 "\n", caps->rx_hash_fields_mask);
	print_supported_qps(caps->supported_qpts, caps->supported_qpts);
}

static void print_packet_pacing(const struct ibv_packet_pacing_caps *caps)
{
	printf("\tpacket_pacing_caps:\n");
	printf("\t\tqp_rate_limit_min:\t%ukbps\n", caps->qp_rate_limit_min);
	printf("\t\tqp_rate_limit_max:\t%ukbps\n", caps->qp_rate_limit_max);
	print_supported_qps(caps->qp_rate_limit_max, caps->supported_qpts);
}

static void print_offloads(const struct ibv_device_attr_ex *attr)
{
	print_raw_packet(attr->raw_packet_caps);
	printf("\tdevice_cap_flags_ex:\t\t0x%" PRIX64 "\n", attr->device_cap_flags_ex);
	/* The low half repeats device_cap_flags, which was printed above. */
	print_flags(device_flags_ex, attr->device_cap_flags_ex & ~(uint64_t)UINT32_MAX);
	print_tso(&attr->tso_caps);
	print_rss(&attr->rss_caps);
	printf("\tmax_wq_type_rq:\t\t\t%u\n", attr->max_wq_type_rq);
	print_packet_pacing(&attr->packet_pacing_caps);
}

static void print_tag_matching(const struct ibv_tm_caps *caps)
{
	if (!caps->max_num_tags) {
		printf("\ttag matching not supported\n");
		return;
	}
	printf("\tmax_rndv_hdr_size:\t\t%u\n", caps->max_rndv_hdr_size);
	printf("\tmax_num_tags:\t\t\t%u\n", caps->max_num_tags);
	printf("\tmax_ops:\t\t\t%u\n", caps->max_ops);
	printf("\tmax_sge:\t\t\t%u\n", caps->max_sge);
	printf("\tflags:\n");
	if (caps->flags & IBV_TM_CAP_RC)
		printf(FLAG_INDENT "IBV_TM_CAP_RC\n");
}

static void print_cq_moderation(const struct ibv_cq_moderation_caps *caps)
{
	if (!caps->max_cq_count || !caps->max_cq_period)
		return;
	printf("\n\tcq moderation caps:\n");
	printf("\t\tmax_cq_count:\t%u\n", caps->max_cq_count);
	printf("\t\tmax_cq_period:\t%u us\n\n", caps->max_cq_period);
}

static void print_everything(const struct ibv_device_attr_ex *attr, int num_comp_vectors)
{
	print_limits(&attr->orig_attr);
	print_odp(attr);
	print_clocks(attr);
	print_offloads(attr);
	print_tag_matching(&attr->tm_caps);
	print_cq_moderation(&attr->cq_mod_caps);
	if (attr->max_dm_size)
		printf("\tmaximum available device memory:\t%" PRIu64 "Bytes\n\n",
		       attr->max_dm_size);
	printf("\tnum_comp_vectors:\t\t%d\n", num_comp_vectors);
}

static int print_open_device(struct ibv_context *context, unsigned int port_num, bool verbose)
{
	struct ibv_device_attr_ex attr;
	unsigned int first = port_num ? port_num : 1;
	unsigned int last;

	if (ibv_query_device_ex(context, NULL, &attr)) {
		fprintf(stderr, "Failed to query device props\n");
		return 2;
	}
	if (port_num > attr.orig_attr.phys_port_cnt) {
		fprintf(stderr, "Invalid port requested for device\n");
		return 4;
	}
	print_identity(context->device, &attr.orig_attr);
	if (verbose)
		print_everything(&attr, context->num_comp_vectors);

	last = port_num ? port_num : attr.orig_attr.phys_port_cnt;
	for (unsigned int port = first; port <= last; port++) {
		int ret = devinfo_print_port(context, port, verbose);

		if (ret)
			return ret;
	}
	return 0;
}

int devinfo_print_device(struct ibv_device *device, unsigned int port_num, bool verbose)
{
	struct ibv_context *context = ibv_open_device(device);
	int ret;

	if (!context) {
		fprintf(stderr, "Failed to open device\n");
		return 1;
	}
	ret = print_open_device(context, port_num, verbose);
	if (ibv_close_device(context)) {
		fprintf(stderr, "Failed to close device\n");
		ret = 1;
	}
	return ret;
}

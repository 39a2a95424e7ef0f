/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * query_device.c - the adapter's capabilities, for query_device.
 *
 * They derive from the device's capability pages by the same rules as in Linux' driver, so only
 * what works is reported.
 */
#include <endian.h>
#include <errno.h>
#include <string.h>

#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/mlx5-abi.h>

#include "prm/mlx5/caps.h"
#include "prm/mlx5/wq.h"
#include "softhca/front/process/uverbs/mlx4/mlx4.h"
#include "softhca/front/process/uverbs/objects.h"
#include "util/bits.h"

/* IB spec values that query_device returns, and constants of Linux' driver. */
enum {
	ATOMIC_NONE = 0,
	ATOMIC_HCA = 1,
	SEND_WQE_MAX = 512,  /* limit that the driver reports to programs */
	SEND_WQE_FIXED = 32, /* bytes of control and remote address segments */
	DATA_SEG = 16,
	MAX_SGE_RD = 30,
	CQ_MAX_COUNT = 0xffff,
	CQ_MAX_PERIOD = 0xfff, /* in microseconds */
	QPT_RAW_PACKET = 8,
	RAW_CAP_CVLAN_STRIPPING = 1 << 0,
	RAW_CAP_IP_CSUM = 1 << 2,
	IB_UVERBS_ODP_SEND = 1 << 0,
	IB_UVERBS_ODP_RECV = 1 << 1,
	IB_UVERBS_ODP_WRITE = 1 << 2,
	IB_UVERBS_ODP_READ = 1 << 3,
	IB_UVERBS_ODP_ATOMIC = 1 << 4,
	IB_UVERBS_ODP_SRQ_RECV = 1 << 5,
	HASH_FIELDS = MLX5_RX_HASH_SRC_IPV4 | MLX5_RX_HASH_DST_IPV4 | MLX5_RX_HASH_SRC_IPV6 |
		      MLX5_RX_HASH_DST_IPV6 | MLX5_RX_HASH_SRC_PORT_TCP |
		      MLX5_RX_HASH_DST_PORT_TCP | MLX5_RX_HASH_SRC_PORT_UDP |
		      MLX5_RX_HASH_DST_PORT_UDP,
};

/* Page sizes: 4 KiB and all larger powers of two. */
static const uint64_t page_sizes = ~(uint64_t)0xfff;

static uint32_t cap_of(const struct uverbs_call *uc, uint32_t field)
{
	return adapter_cap(uc->adapter, field);
}

static void fill_identity(const struct uverbs_call *uc, struct ib_uverbs_query_device_resp *resp)
{
	const struct identity *identity = uc->adapter->identity;

	resp->fw_ver = (uint64_t)identity->fw_major << 32 | (uint64_t)identity->fw_minor << 16 |
		       identity->fw_sub;
	resp->node_guid = htobe64(uc->adapter->node_guid);
	resp->sys_image_guid = htobe64(uc->adapter->node_guid);
	resp->vendor_id = 0x02c9; /* IEEE OUI, not the PCI vendor id */
	resp->vendor_part_id = identity->part_id;
	resp->phys_port_cnt = uc->adapter->num_ports;
}

static const struct {
	uint32_t capability, flags;
} flag_table[] = {
	{ HCA_CAP_PKV, IB_UVERBS_DEVICE_BAD_PKEY_CNTR },
	{ HCA_CAP_QKV, IB_UVERBS_DEVICE_BAD_QKEY_CNTR },
	{ HCA_CAP_APM, IB_UVERBS_DEVICE_AUTO_PATH_MIG },
	{ HCA_CAP_XRC, IB_UVERBS_DEVICE_XRC },
	{ HCA_CAP_IMAICL, IB_UVERBS_DEVICE_MEM_WINDOW | IB_UVERBS_DEVICE_MEM_WINDOW_TYPE_2B },
};

static uint32_t device_flags(const struct uverbs_call *uc)
{
	uint32_t flags = IB_UVERBS_DEVICE_CHANGE_PHY_PORT | IB_UVERBS_DEVICE_PORT_ACTIVE_EVENT |
			 IB_UVERBS_DEVICE_SYS_IMAGE_GUID | IB_UVERBS_DEVICE_RC_RNR_NAK_GEN;

	for (unsigned int i = 0; i < ARRAY_SIZE(flag_table); i++)
		if (cap_of(uc, flag_table[i].capability))
			flags |= flag_table[i].flags;
	if (cap_of(uc, HCA_CAP_ETH_NET_OFFLOADS) &&
	    fld_get(uc->adapter->eth_caps, ETH_CAP_CSUM_CAP))
		flags |= IB_UVERBS_DEVICE_RAW_IP_CSUM;
	if (cap_of(uc, HCA_CAP_ETH_NET_OFFLOADS) && cap_of(uc, HCA_CAP_NIC_FLOW_TABLE))
		flags |= IB_UVERBS_DEVICE_MANAGED_FLOW_STEERING;
	if (!cap_of(uc, HCA_CAP_UMR_MODIFY_ENTITY_SIZE_DISABLED))
		flags |= IB_UVERBS_DEVICE_MEM_MGT_EXTENSIONS;
	return flags;
}

static uint32_t max_sge(uint32_t wqe_bytes, uint32_t fixed)
{
	return wqe_bytes > fixed ? (wqe_bytes - fixed) / DATA_SEG : 0;
}

static void fill_queue_limits(const struct uverbs_call *uc,
			      struct ib_uverbs_query_device_resp *resp)
{
	uint32_t sq_bytes = cap_of(uc, HCA_CAP_MAX_WQE_SZ_SQ);
	uint32_t sq_sge =
		max_sge(sq_bytes < SEND_WQE_MAX ? sq_bytes : SEND_WQE_MAX, SEND_WQE_FIXED);
	uint32_t rq_sge = max_sge(cap_of(uc, HCA_CAP_MAX_WQE_SZ_RQ), 0);

	resp->max_qp = 1u << cap_of(uc, HCA_CAP_LOG_MAX_QP);
	resp->max_qp_wr = 1u << cap_of(uc, HCA_CAP_LOG_MAX_QP_SZ);
	resp->max_sge = sq_sge < rq_sge ? sq_sge : rq_sge;
	resp->max_sge_rd = MAX_SGE_RD;
	resp->max_cq = 1u << cap_of(uc, HCA_CAP_LOG_MAX_CQ);
	resp->max_cqe = (1u << cap_of(uc, HCA_CAP_LOG_MAX_CQ_SZ)) - 1;
	resp->max_qp_rd_atom = 1u << cap_of(uc, HCA_CAP_LOG_MAX_RA_REQ_QP);
	resp->max_qp_init_rd_atom = 1u << cap_of(uc, HCA_CAP_LOG_MAX_RA_RES_QP);
	resp->max_res_rd_atom = resp->max_qp_rd_atom * resp->max_qp;
	resp->max_srq = 1u << cap_of(uc, HCA_CAP_LOG_MAX_SRQ);
	resp->max_srq_wr = (1u << cap_of(uc, HCA_CAP_LOG_MAX_SRQ_SZ)) - 1;
	resp->max_srq_sge = rq_sge - 1;
}

static void fill_object_limits(const struct uverbs_call *uc,
			       struct ib_uverbs_query_device_resp *resp)
{
	resp->max_mr_size = UINT64_MAX;
	resp->page_size_cap = page_sizes;
	resp->max_mr = 1u << cap_of(uc, HCA_CAP_LOG_MAX_MKEY);
	if (cap_of(uc, HCA_CAP_IMAICL))
		resp->max_mw = resp->max_mr;
	resp->max_pd = 1u << cap_of(uc, HCA_CAP_LOG_MAX_PD);
	resp->max_ah = INT32_MAX;
	resp->max_mcast_grp = 1u << cap_of(uc, HCA_CAP_LOG_MAX_MCG);
	resp->max_mcast_qp_attach = cap_of(uc, HCA_CAP_MAX_QP_MCG);
	resp->max_total_mcast_qp_attach = resp->max_mcast_qp_attach * resp->max_mcast_grp;
}

static bool has_atomics(const struct adapter *adapter)
{
	static const uint32_t needed = PRM_ATOMIC_OPS_CS | PRM_ATOMIC_OPS_FA;

	return adapter_cap(adapter, HCA_CAP_ATOMIC) &&
	       (fld_get(adapter->atomic_caps, ATOMIC_CAPS_ATOMIC_OPERATIONS) & needed) == needed &&
	       fld_get(adapter->atomic_caps, ATOMIC_CAPS_SUPPORTED_ATOMIC_REQ_8B_ENDIANNESS_MODE_1);
}

static void fill_device(const struct uverbs_call *uc, struct ib_uverbs_query_device_resp *resp)
{
	struct port_info port = { 0 };

	adapter_query_port(uc->adapter, 1, &port);
	fill_identity(uc, resp);
	fill_queue_limits(uc, resp);
	fill_object_limits(uc, resp);
	resp->device_cap_flags = device_flags(uc);
	if (adapter_is_mlx4(uc->adapter))
		mlx4_limit_device(resp);
	resp->atomic_cap = has_atomics(uc->adapter) ? ATOMIC_HCA : ATOMIC_NONE;
	resp->max_pkeys = port.pkey_table_len;
	resp->local_ca_ack_delay = cap_of(uc, HCA_CAP_LOCAL_CA_ACK_DELAY);
}

static int query_device(struct uverbs_call *uc)
{
	struct ib_uverbs_query_device_resp resp = { 0 };

	fill_device(uc, &resp);
	return uc_out_padded(uc, UVERBS_ATTR_CORE_OUT, &resp, sizeof(resp));
}

static void fill_extended(const struct uverbs_call *uc, struct ib_uverbs_ex_query_device_resp *resp)
{
	fill_device(uc, &resp->base);
	resp->timestamp_mask =
		adapter_is_mlx4(uc->adapter) ? 0xffffffffffffull : 0x7fffffffffffffffull;
	resp->hca_core_clock = cap_of(uc, HCA_CAP_DEVICE_FREQUENCY_KHZ);
	resp->device_cap_flags_ex = resp->base.device_cap_flags;
	if (cap_of(uc, HCA_CAP_END_PAD))
		resp->device_cap_flags_ex |= IB_UVERBS_DEVICE_PCI_WRITE_END_PADDING;
	if (cap_of(uc, HCA_CAP_CQ_MODERATION)) {
		resp->cq_moderation_caps.max_cq_moderation_count = CQ_MAX_COUNT;
		resp->cq_moderation_caps.max_cq_moderation_period = CQ_MAX_PERIOD;
	}
}

/* Constants of the driver: see mlx5_ib_query_device() in Linux. */
static void fill_tag_matching(const struct uverbs_call *uc,
			      struct ib_uverbs_ex_query_device_resp *resp)
{
	enum { MAX_SGE = 1, RNDV_RC = 1 << 0, MAX_RNDV_HEADER = 64 };

	if (!cap_of(uc, HCA_CAP_TAG_MATCHING))
		return;
	resp->tm_caps.max_num_tags = (1u << cap_of(uc, HCA_CAP_LOG_TAG_MATCHING_LIST_SZ)) - 1;
	resp->tm_caps.max_ops = 1u << cap_of(uc, HCA_CAP_LOG_MAX_QP_SZ);
	resp->tm_caps.max_sge = MAX_SGE;
	if (!cap_of(uc, HCA_CAP_RNDV_OFFLOAD_RC))
		return;
	resp->tm_caps.flags = RNDV_RC;
	resp->tm_caps.max_rndv_hdr_size = MAX_RNDV_HEADER;
}

/* Fills capabilities of frame queues, if the adapter has any. */
static void fill_ethernet(const struct uverbs_call *uc, struct ib_uverbs_ex_query_device_resp *resp)
{
	const uint8_t *eth = uc->adapter->eth_caps;

	if (!cap_of(uc, HCA_CAP_ETH_NET_OFFLOADS))
		return;
	if (adapter_is_mlx4(uc->adapter)) {
		mlx4_limit_ethernet(uc, resp);
		return;
	}
	if (fld_get(eth, ETH_CAP_CSUM_CAP))
		resp->raw_packet_caps |= RAW_CAP_IP_CSUM;
	if (fld_get(eth, ETH_CAP_VLAN_CAP))
		resp->raw_packet_caps |= RAW_CAP_CVLAN_STRIPPING;
	resp->rss_caps.max_rwq_indirection_tables = 1u << cap_of(uc, HCA_CAP_LOG_MAX_RQT);
	resp->rss_caps.max_rwq_indirection_table_size = 1u << cap_of(uc, HCA_CAP_LOG_MAX_RQT_SIZE);
	resp->rss_caps.supported_qpts = 1 << QPT_RAW_PACKET;
	resp->max_wq_type_rq = 1u << cap_of(uc, HCA_CAP_LOG_MAX_RQ);
}

static uint32_t odp_transport(const uint8_t *caps)
{
	static const struct {
		uint32_t field, flag;
	} table[] = {
		{ ODP_SEND, IB_UVERBS_ODP_SEND },     { ODP_RECEIVE, IB_UVERBS_ODP_RECV },
		{ ODP_WRITE, IB_UVERBS_ODP_WRITE },   { ODP_READ, IB_UVERBS_ODP_READ },
		{ ODP_ATOMIC, IB_UVERBS_ODP_ATOMIC }, { ODP_SRQ_RECEIVE, IB_UVERBS_ODP_SRQ_RECV },
	};
	uint32_t flags = 0;

	for (unsigned int i = 0; i < ARRAY_SIZE(table); i++)
		if (fld_get(caps, table[i].field))
			flags |= table[i].flag;
	return flags;
}

/* Fills capabilities of on-demand paging and device memory. Like Linux, reports nothing for UC. */
static void fill_memory(const struct uverbs_call *uc, struct ib_uverbs_ex_query_device_resp *resp)
{
	const uint8_t *odp = uc->adapter->odp_caps, *memory = uc->adapter->memory_caps;

	if (fld_get(memory, MEM_CAP_MEMIC))
		resp->max_dm_size = fld_get(memory, MEM_CAP_MAX_MEMIC_SIZE);
	if (!cap_of(uc, HCA_CAP_PG))
		return;
	resp->odp_caps.general_caps = IB_UVERBS_ODP_SUPPORT;
	if (cap_of(uc, HCA_CAP_FIXED_BUFFER_SIZE) && cap_of(uc, HCA_CAP_NULL_MKEY) &&
	    cap_of(uc, HCA_CAP_UMR_EXTENDED_TRANSLATION_OFFSET) &&
	    !cap_of(uc, HCA_CAP_UMR_INDIRECT_MKEY_DISABLED))
		resp->odp_caps.general_caps |= IB_UVERBS_ODP_SUPPORT_IMPLICIT;
	resp->odp_caps.per_transport_caps.rc_odp_caps = odp_transport(fld_at(odp, ODP_CAP_RC));
	resp->odp_caps.per_transport_caps.ud_odp_caps = odp_transport(fld_at(odp, ODP_CAP_UD));
	resp->xrc_odp_caps = odp_transport(fld_at(odp, ODP_CAP_XRC));
}

static void fill_compression(const struct uverbs_call *uc, struct mlx5_ib_cqe_comp_caps *caps)
{
	if (!cap_of(uc, HCA_CAP_CQE_COMPRESSION))
		return;
	caps->max_num = cap_of(uc, HCA_CAP_CQE_COMPRESSION_MAX_NUM);
	caps->supported_format = MLX5_IB_CQE_RES_FORMAT_HASH | MLX5_IB_CQE_RES_FORMAT_CSUM;
	if (cap_of(uc, HCA_CAP_MINI_CQE_RESP_STRIDE_INDEX))
		caps->supported_format |= MLX5_IB_CQE_RES_FORMAT_CSUM_STRIDX;
}

static void fill_striding(const struct uverbs_call *uc, struct mlx5_ib_striding_rq_caps *caps)
{
	if (!cap_of(uc, HCA_CAP_STRIDING_RQ))
		return;
	caps->min_single_stride_log_num_of_bytes = PRM_LOG_STRIDE_MIN;
	caps->max_single_stride_log_num_of_bytes = PRM_LOG_STRIDE_MAX;
	caps->min_single_wqe_log_num_of_strides = cap_of(uc, HCA_CAP_EXT_STRIDE_NUM_RANGE)
							  ? PRM_LOG_STRIDES_MIN
							  : PRM_LOG_STRIDES_BASE;
	caps->max_single_wqe_log_num_of_strides = PRM_LOG_STRIDES_MAX;
	caps->supported_qpts = 1 << QPT_RAW_PACKET;
}

static void fill_driver_part(const struct uverbs_call *uc, struct mlx5_ib_query_device_resp *driver)
{
	const uint8_t *qos = uc->adapter->qos_caps;
	uint32_t log_max_tso = fld_get(uc->adapter->eth_caps, ETH_CAP_MAX_LSO_CAP);

	/* The driver sets it for every device, so it is set here. */
	driver->flags = MLX5_IB_QUERY_DEV_RESP_FLAGS_SCAT2CQE_DCT;
	if (cap_of(uc, HCA_CAP_DP_ORDERING_OOO_ALL_RC))
		driver->flags |= MLX5_IB_QUERY_DEV_RESP_FLAGS_OOO_DP;
	if (cap_of(uc, HCA_CAP_CQE_128_ALWAYS))
		driver->flags |= MLX5_IB_QUERY_DEV_RESP_FLAGS_CQE_128B_PAD;
	if (cap_of(uc, HCA_CAP_CQE_COMPRESSION_128))
		driver->flags |= MLX5_IB_QUERY_DEV_RESP_FLAGS_CQE_128B_COMP;
	fill_compression(uc, &driver->cqe_comp_caps);
	driver->dci_streams_caps.max_log_num_concurent =
		cap_of(uc, HCA_CAP_LOG_MAX_DCI_STREAM_CHANNELS);
	driver->dci_streams_caps.max_log_num_errored =
		cap_of(uc, HCA_CAP_LOG_MAX_DCI_ERRORED_STREAMS);
	if (!cap_of(uc, HCA_CAP_ETH_NET_OFFLOADS))
		return;
	fill_striding(uc, &driver->striding_rq_caps);
	if (log_max_tso) {
		driver->tso_caps.max_tso = 1u << log_max_tso;
		driver->tso_caps.supported_qpts = 1 << QPT_RAW_PACKET;
	}
	if (fld_get(qos, QOS_CAP_PACKET_PACING)) {
		driver->packet_pacing_caps.qp_rate_limit_max =
			fld_get(qos, QOS_CAP_PACKET_PACING_MAX_RATE);
		driver->packet_pacing_caps.qp_rate_limit_min =
			fld_get(qos, QOS_CAP_PACKET_PACING_MIN_RATE);
		driver->packet_pacing_caps.supported_qpts = 1 << QPT_RAW_PACKET;
		if (fld_get(qos, QOS_CAP_PACKET_PACING_BURST_BOUND) &&
		    fld_get(qos, QOS_CAP_PACKET_PACING_TYPICAL_SIZE))
			driver->packet_pacing_caps.cap_flags = MLX5_IB_PP_SUPPORT_BURST;
	}
	driver->rss_caps.rx_hash_function = MLX5_RX_HASH_FUNC_TOEPLITZ;
	driver->rss_caps.rx_hash_fields_mask = HASH_FIELDS;
}

static int query_device_ex(struct uverbs_call *uc)
{
	struct ib_uverbs_ex_query_device_resp resp = { 0 };
	struct mlx5_ib_query_device_resp driver = { 0 };
	struct ib_uverbs_ex_query_device cmd;

	if (uc_in(uc, UVERBS_ATTR_CORE_IN, &cmd, sizeof(cmd)))
		return EFAULT;
	if (cmd.comp_mask || cmd.reserved)
		return EINVAL;
	fill_extended(uc, &resp);
	fill_ethernet(uc, &resp);
	fill_memory(uc, &resp);
	fill_tag_matching(uc, &resp);
	resp.response_length = uc_response_length(uc, UVERBS_ATTR_CORE_OUT, sizeof(resp));
	if (adapter_is_mlx4(uc->adapter))
		return uc_out_padded(uc, UVERBS_ATTR_CORE_OUT, &resp, sizeof(resp))
			       ? EFAULT
			       : mlx4_answer_device(uc);
	fill_driver_part(uc, &driver);
	driver.response_length = uc_response_length(uc, UVERBS_ATTR_UHW_OUT, sizeof(driver));
	if (uc_out_padded(uc, UVERBS_ATTR_CORE_OUT, &resp, sizeof(resp)) ||
	    uc_out(uc, UVERBS_ATTR_UHW_OUT, &driver, sizeof(driver)))
		return EFAULT;
	return 0;
}

static const struct uverbs_write write_table[] = {
	{ "QUERY_DEVICE", IB_USER_VERBS_CMD_QUERY_DEVICE, sizeof(struct ib_uverbs_query_device),
	  sizeof(struct ib_uverbs_query_device_resp), query_device },
	{ "QUERY_DEVICE_EX", IB_USER_VERBS_CMD_FLAG_EXTENDED | IB_USER_VERBS_EX_CMD_QUERY_DEVICE,
	  sizeof(struct ib_uverbs_ex_query_device),
	  offsetof(struct ib_uverbs_ex_query_device_resp, odp_caps), query_device_ex },
};

const struct uverbs_writes query_device_writes = METHODS(write_table);

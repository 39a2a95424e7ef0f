/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * query_device_test.c - capabilities of an adapter as a program gets them: each follows from the
 * device's capability pages alone.
 */
#include "rig.h"
#include "softhca/front/process/uverbs/query_device.c"

enum { REFUSED = EDOM, RAW = 1 << 8 };

static unsigned int mlx4_limits, mlx4_ethernets, mlx4_answers;
static int port_error;

int adapter_query_port(struct adapter *adapter, unsigned int port, struct port_info *info)
{
	assert_ptr_equal(adapter, &rig.adapter);
	assert_int_equal(port, 1);
	info->pkey_table_len = 0x81;
	return port_error;
}

void mlx4_limit_device(struct ib_uverbs_query_device_resp *resp)
{
	resp->max_mw = 0x4444;
	mlx4_limits++;
}

void mlx4_limit_ethernet(const struct uverbs_call *uc, struct ib_uverbs_ex_query_device_resp *resp)
{
	assert_ptr_equal(uc, &rig.call);
	resp->max_wq_type_rq = 0x5555;
	mlx4_ethernets++;
}

int mlx4_answer_device(struct uverbs_call *uc)
{
	assert_ptr_equal(uc, &rig.call);
	mlx4_answers++;
	return REFUSED;
}

static void set_cap(uint32_t field, uint32_t value)
{
	fld_set(rig.adapter.caps, field, value);
}

static int query_begin(void **state)
{
	mlx4_limits = mlx4_ethernets = mlx4_answers = 0;
	rig_begin(state);
	rig.identity.fw_major = 0x1020;
	rig.identity.fw_minor = 0x3040;
	rig.identity.fw_sub = 0x5060;
	rig.identity.part_id = 0x1017;
	rig.adapter.node_guid = 0x1122334455667788;
	rig.adapter.num_ports = 2;
	set_cap(HCA_CAP_MAX_WQE_SZ_SQ, 1024);
	set_cap(HCA_CAP_MAX_WQE_SZ_RQ, 256);
	return 0;
}

static struct ib_uverbs_query_device_resp query_base(void)
{
	struct ib_uverbs_query_device_resp resp;

	assert_int_equal(query_device(&rig.call), 0);
	memcpy(&resp, rig_out(UVERBS_ATTR_CORE_OUT, sizeof(resp)), sizeof(resp));
	return resp;
}

static struct ib_uverbs_ex_query_device_resp query_ex(void)
{
	struct ib_uverbs_ex_query_device_resp resp;

	assert_int_equal(query_device_ex(&rig.call), 0);
	memcpy(&resp, rig_out(UVERBS_ATTR_CORE_OUT, sizeof(resp)), sizeof(resp));
	assert_int_equal(resp.response_length, sizeof(resp));
	return resp;
}

static struct mlx5_ib_query_device_resp query_driver(void)
{
	struct mlx5_ib_query_device_resp driver;

	query_ex();
	memcpy(&driver, rig_out(UVERBS_ATTR_UHW_OUT, sizeof(driver)), sizeof(driver));
	assert_int_equal(driver.response_length, sizeof(driver));
	return driver;
}

static void the_identity_is_the_adapters(void **state)
{
	const struct ib_uverbs_query_device_resp resp = query_base();

	(void)state;
	assert_true(resp.fw_ver == 0x102030405060);
	assert_true(resp.node_guid == htobe64(0x1122334455667788));
	assert_true(resp.sys_image_guid == resp.node_guid);
	assert_int_equal(resp.vendor_id, 0x02c9);
	assert_int_equal(resp.vendor_part_id, 0x1017);
	assert_int_equal(resp.phys_port_cnt, 2);
	assert_int_equal(resp.max_pkeys, 0x81);
}

static void limits_are_powers_of_two(void **state)
{
	struct ib_uverbs_query_device_resp resp;

	(void)state;
	set_cap(HCA_CAP_LOG_MAX_QP, 4);
	set_cap(HCA_CAP_LOG_MAX_QP_SZ, 5);
	set_cap(HCA_CAP_LOG_MAX_CQ, 6);
	set_cap(HCA_CAP_LOG_MAX_CQ_SZ, 7);
	set_cap(HCA_CAP_LOG_MAX_RA_REQ_QP, 2);
	set_cap(HCA_CAP_LOG_MAX_RA_RES_QP, 3);
	set_cap(HCA_CAP_LOG_MAX_SRQ, 8);
	set_cap(HCA_CAP_LOG_MAX_SRQ_SZ, 9);
	set_cap(HCA_CAP_LOG_MAX_MKEY, 10);
	set_cap(HCA_CAP_LOG_MAX_PD, 11);
	set_cap(HCA_CAP_LOG_MAX_MCG, 12);
	set_cap(HCA_CAP_MAX_QP_MCG, 13);
	set_cap(HCA_CAP_LOCAL_CA_ACK_DELAY, 14);
	resp = query_base();
	assert_int_equal(resp.max_qp, 1 << 4);
	assert_int_equal(resp.max_qp_wr, 1 << 5);
	assert_int_equal(resp.max_cq, 1 << 6);
	assert_int_equal(resp.max_cqe, (1 << 7) - 1);
	assert_int_equal(resp.max_qp_rd_atom, 1 << 2);
	assert_int_equal(resp.max_qp_init_rd_atom, 1 << 3);
	assert_int_equal(resp.max_res_rd_atom, 1 << 6);
	assert_int_equal(resp.max_srq, 1 << 8);
	assert_int_equal(resp.max_srq_wr, (1 << 9) - 1);
	assert_int_equal(resp.max_mr, 1 << 10);
	assert_int_equal(resp.max_mw, 0);
	assert_int_equal(resp.max_pd, 1 << 11);
	assert_int_equal(resp.max_mcast_grp, 1 << 12);
	assert_int_equal(resp.max_mcast_qp_attach, 13);
	assert_int_equal(resp.max_total_mcast_qp_attach, 13 << 12);
	assert_int_equal(resp.local_ca_ack_delay, 14);
	assert_int_equal(resp.max_ah, INT32_MAX);
	assert_true(resp.max_mr_size == UINT64_MAX);
	assert_true(resp.page_size_cap == ~0xfffull);
	assert_int_equal(resp.max_sge_rd, 30);
	set_cap(HCA_CAP_IMAICL, 1);
	assert_int_equal(query_base().max_mw, 1 << 10);
}

static void entries_follow_from_sizes_of_wqes(void **state)
{
	static const struct {
		uint32_t sq, rq, sge, srq_sge;
	} rows[] = {
		{ 1024, 1024, 30, 63 }, /* a send WQE has 512 bytes at most */
		{ 512, 256, 16, 15 },   { 256, 512, 14, 31 }, { 32, 256, 0, 15 },
		{ 16, 256, 0, 15 },     { 48, 256, 1, 15 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		set_cap(HCA_CAP_MAX_WQE_SZ_SQ, rows[i].sq);
		set_cap(HCA_CAP_MAX_WQE_SZ_RQ, rows[i].rq);
		assert_int_equal(query_base().max_sge, rows[i].sge);
		assert_int_equal(query_base().max_srq_sge, rows[i].srq_sge);
	}
}

enum {
	ALWAYS = IB_UVERBS_DEVICE_CHANGE_PHY_PORT | IB_UVERBS_DEVICE_PORT_ACTIVE_EVENT |
		 IB_UVERBS_DEVICE_SYS_IMAGE_GUID | IB_UVERBS_DEVICE_RC_RNR_NAK_GEN,
	USUAL = ALWAYS | IB_UVERBS_DEVICE_MEM_MGT_EXTENSIONS,
};

static void each_flag_follows_from_a_capability(void **state)
{
	static const struct {
		uint32_t field, flags;
	} rows[] = {
		{ HCA_CAP_PKV, USUAL | IB_UVERBS_DEVICE_BAD_PKEY_CNTR },
		{ HCA_CAP_QKV, USUAL | IB_UVERBS_DEVICE_BAD_QKEY_CNTR },
		{ HCA_CAP_APM, USUAL | IB_UVERBS_DEVICE_AUTO_PATH_MIG },
		{ HCA_CAP_XRC, USUAL | IB_UVERBS_DEVICE_XRC },
		{ HCA_CAP_IMAICL,
		  USUAL | IB_UVERBS_DEVICE_MEM_WINDOW | IB_UVERBS_DEVICE_MEM_WINDOW_TYPE_2B },
		{ HCA_CAP_UMR_MODIFY_ENTITY_SIZE_DISABLED, ALWAYS },
		{ HCA_CAP_ETH_NET_OFFLOADS, USUAL },
		{ HCA_CAP_NIC_FLOW_TABLE, USUAL },
	};

	(void)state;
	assert_int_equal(query_base().device_cap_flags, USUAL);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		set_cap(rows[i].field, 1);
		assert_int_equal(query_base().device_cap_flags, rows[i].flags);
		assert_true(query_ex().device_cap_flags_ex == rows[i].flags);
		set_cap(rows[i].field, 0);
	}
	set_cap(HCA_CAP_ETH_NET_OFFLOADS, 1);
	fld_set(rig.adapter.eth_caps, ETH_CAP_CSUM_CAP, 1);
	assert_int_equal(query_base().device_cap_flags, USUAL | IB_UVERBS_DEVICE_RAW_IP_CSUM);
	fld_set(rig.adapter.eth_caps, ETH_CAP_CSUM_CAP, 0);
	set_cap(HCA_CAP_NIC_FLOW_TABLE, 1);
	assert_int_equal(query_base().device_cap_flags,
			 USUAL | IB_UVERBS_DEVICE_MANAGED_FLOW_STEERING);
	set_cap(HCA_CAP_ETH_NET_OFFLOADS, 0);
	fld_set(rig.adapter.eth_caps, ETH_CAP_CSUM_CAP, 1);
	assert_int_equal(query_base().device_cap_flags, USUAL);
	set_cap(HCA_CAP_END_PAD, 1);
	assert_true(query_ex().device_cap_flags_ex ==
		    (USUAL | IB_UVERBS_DEVICE_PCI_WRITE_END_PADDING));
}

static void atomics_need_all_of_the_device(void **state)
{
	uint8_t *atomic = rig.adapter.atomic_caps;

	(void)state;
	set_cap(HCA_CAP_ATOMIC, 1);
	fld_set(atomic, ATOMIC_CAPS_ATOMIC_OPERATIONS, PRM_ATOMIC_OPS_CS | PRM_ATOMIC_OPS_FA);
	fld_set(atomic, ATOMIC_CAPS_SUPPORTED_ATOMIC_REQ_8B_ENDIANNESS_MODE_1, 1);
	assert_int_equal(query_base().atomic_cap, ATOMIC_HCA);
	fld_set(atomic, ATOMIC_CAPS_ATOMIC_OPERATIONS, PRM_ATOMIC_OPS_CS);
	assert_int_equal(query_base().atomic_cap, ATOMIC_NONE);
	fld_set(atomic, ATOMIC_CAPS_ATOMIC_OPERATIONS, PRM_ATOMIC_OPS_FA);
	assert_int_equal(query_base().atomic_cap, ATOMIC_NONE);
	fld_set(atomic, ATOMIC_CAPS_ATOMIC_OPERATIONS, 0xf);
	assert_int_equal(query_base().atomic_cap, ATOMIC_HCA);
	fld_set(atomic, ATOMIC_CAPS_SUPPORTED_ATOMIC_REQ_8B_ENDIANNESS_MODE_1, 0);
	assert_int_equal(query_base().atomic_cap, ATOMIC_NONE);
	fld_set(atomic, ATOMIC_CAPS_SUPPORTED_ATOMIC_REQ_8B_ENDIANNESS_MODE_1, 1);
	set_cap(HCA_CAP_ATOMIC, 0);
	assert_int_equal(query_base().atomic_cap, ATOMIC_NONE);
}

static void clocks_and_moderation_are_extended(void **state)
{
	struct ib_uverbs_ex_query_device_resp resp = query_ex();

	(void)state;
	assert_true(resp.timestamp_mask == 0x7fffffffffffffff);
	assert_int_equal(resp.cq_moderation_caps.max_cq_moderation_count, 0);
	assert_int_equal(resp.cq_moderation_caps.max_cq_moderation_period, 0);
	set_cap(HCA_CAP_CQ_MODERATION, 1);
	set_cap(HCA_CAP_DEVICE_FREQUENCY_KHZ, 78125);
	resp = query_ex();
	assert_int_equal(resp.hca_core_clock, 78125);
	assert_int_equal(resp.cq_moderation_caps.max_cq_moderation_count, 0xffff);
	assert_int_equal(resp.cq_moderation_caps.max_cq_moderation_period, 0xfff);
}

static void tags_are_matched_if_the_device_does(void **state)
{
	static const struct ib_uverbs_tm_caps none;
	struct ib_uverbs_tm_caps caps;

	(void)state;
	set_cap(HCA_CAP_LOG_TAG_MATCHING_LIST_SZ, 5);
	set_cap(HCA_CAP_LOG_MAX_QP_SZ, 7);
	set_cap(HCA_CAP_RNDV_OFFLOAD_RC, 1);
	caps = query_ex().tm_caps;
	assert_memory_equal(&caps, &none, sizeof(none));
	set_cap(HCA_CAP_TAG_MATCHING, 1);
	caps = query_ex().tm_caps;
	assert_int_equal(caps.max_num_tags, 31);
	assert_int_equal(caps.max_ops, 128);
	assert_int_equal(caps.max_sge, 1);
	assert_int_equal(caps.flags, 1);
	assert_int_equal(caps.max_rndv_hdr_size, 64);
	set_cap(HCA_CAP_RNDV_OFFLOAD_RC, 0);
	caps = query_ex().tm_caps;
	assert_int_equal(caps.max_ops, 128);
	assert_int_equal(caps.flags, 0);
	assert_int_equal(caps.max_rndv_hdr_size, 0);
}

static void frames_need_an_ethernet_port(void **state)
{
	struct ib_uverbs_ex_query_device_resp resp;

	(void)state;
	set_cap(HCA_CAP_LOG_MAX_RQT, 3);
	set_cap(HCA_CAP_LOG_MAX_RQT_SIZE, 4);
	set_cap(HCA_CAP_LOG_MAX_RQ, 5);
	fld_set(rig.adapter.eth_caps, ETH_CAP_CSUM_CAP, 1);
	resp = query_ex();
	assert_int_equal(resp.raw_packet_caps, 0);
	assert_int_equal(resp.rss_caps.supported_qpts, 0);
	assert_int_equal(resp.max_wq_type_rq, 0);
	set_cap(HCA_CAP_ETH_NET_OFFLOADS, 1);
	resp = query_ex();
	assert_int_equal(resp.raw_packet_caps, IB_UVERBS_RAW_PACKET_CAP_IP_CSUM);
	assert_int_equal(resp.rss_caps.max_rwq_indirection_tables, 8);
	assert_int_equal(resp.rss_caps.max_rwq_indirection_table_size, 16);
	assert_int_equal(resp.rss_caps.supported_qpts, RAW);
	assert_int_equal(resp.max_wq_type_rq, 32);
	fld_set(rig.adapter.eth_caps, ETH_CAP_CSUM_CAP, 0);
	fld_set(rig.adapter.eth_caps, ETH_CAP_VLAN_CAP, 1);
	assert_int_equal(query_ex().raw_packet_caps, IB_UVERBS_RAW_PACKET_CAP_CVLAN_STRIPPING);
}

static void paging_is_told_by_transport(void **state)
{
	static const uint32_t fields[] = { ODP_SEND, ODP_RECEIVE, ODP_WRITE,
					   ODP_READ, ODP_ATOMIC,  ODP_SRQ_RECEIVE };
	uint8_t *odp = rig.adapter.odp_caps;

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(fields); i++) {
		struct ib_uverbs_ex_query_device_resp resp;

		memset(odp, 0, sizeof(rig.adapter.odp_caps));
		fld_set(fld_at(odp, ODP_CAP_RC), fields[i], 1);
		fld_set(fld_at(odp, ODP_CAP_UC), ODP_SEND, 1);
		fld_set(fld_at(odp, ODP_CAP_UD), fields[(i + 1) % 6], 1);
		fld_set(fld_at(odp, ODP_CAP_XRC), fields[(i + 2) % 6], 1);
		set_cap(HCA_CAP_PG, 0);
		resp = query_ex();
		assert_int_equal(resp.odp_caps.general_caps, 0);
		assert_int_equal(resp.odp_caps.per_transport_caps.rc_odp_caps, 0);
		assert_int_equal(resp.xrc_odp_caps, 0);
		set_cap(HCA_CAP_PG, 1);
		resp = query_ex();
		assert_int_equal(resp.odp_caps.general_caps, IB_UVERBS_ODP_SUPPORT);
		assert_int_equal(resp.odp_caps.per_transport_caps.rc_odp_caps, 1 << i);
		assert_int_equal(resp.odp_caps.per_transport_caps.uc_odp_caps, 0);
		assert_int_equal(resp.odp_caps.per_transport_caps.ud_odp_caps, 1 << (i + 1) % 6);
		assert_int_equal(resp.xrc_odp_caps, 1 << (i + 2) % 6);
	}
}

static void implicit_regions_need_four_things(void **state)
{
	const uint64_t both = IB_UVERBS_ODP_SUPPORT | IB_UVERBS_ODP_SUPPORT_IMPLICIT;

	(void)state;
	for (unsigned int missing = 0; missing < 5; missing++) {
		set_cap(HCA_CAP_PG, 1);
		set_cap(HCA_CAP_FIXED_BUFFER_SIZE, missing != 1);
		set_cap(HCA_CAP_NULL_MKEY, missing != 2);
		set_cap(HCA_CAP_UMR_EXTENDED_TRANSLATION_OFFSET, missing != 3);
		set_cap(HCA_CAP_UMR_INDIRECT_MKEY_DISABLED, missing == 4);
		assert_true(query_ex().odp_caps.general_caps ==
			    (missing ? IB_UVERBS_ODP_SUPPORT : both));
	}
}

static void device_memory_is_told_if_there_is_any(void **state)
{
	(void)state;
	fld_set(rig.adapter.memory_caps, MEM_CAP_MAX_MEMIC_SIZE, 0x40000);
	assert_int_equal(query_ex().max_dm_size, 0);
	fld_set(rig.adapter.memory_caps, MEM_CAP_MEMIC, 1);
	assert_int_equal(query_ex().max_dm_size, 0x40000);
}

static void the_driver_tells_flags_and_compression(void **state)
{
	struct mlx5_ib_query_device_resp driver;

	(void)state;
	set_cap(HCA_CAP_CQE_COMPRESSION_MAX_NUM, 64);
	set_cap(HCA_CAP_MINI_CQE_RESP_STRIDE_INDEX, 1);
	set_cap(HCA_CAP_LOG_MAX_DCI_STREAM_CHANNELS, 3);
	set_cap(HCA_CAP_LOG_MAX_DCI_ERRORED_STREAMS, 4);
	driver = query_driver();
	assert_int_equal(driver.flags, MLX5_IB_QUERY_DEV_RESP_FLAGS_SCAT2CQE_DCT);
	assert_int_equal(driver.cqe_comp_caps.max_num, 0);
	assert_int_equal(driver.cqe_comp_caps.supported_format, 0);
	assert_int_equal(driver.dci_streams_caps.max_log_num_concurent, 3);
	assert_int_equal(driver.dci_streams_caps.max_log_num_errored, 4);
	set_cap(HCA_CAP_CQE_COMPRESSION, 1);
	set_cap(HCA_CAP_DP_ORDERING_OOO_ALL_RC, 1);
	driver = query_driver();
	assert_int_equal(driver.flags, MLX5_IB_QUERY_DEV_RESP_FLAGS_SCAT2CQE_DCT |
					       MLX5_IB_QUERY_DEV_RESP_FLAGS_OOO_DP);
	assert_int_equal(driver.cqe_comp_caps.max_num, 64);
	assert_int_equal(driver.cqe_comp_caps.supported_format, 7);
	set_cap(HCA_CAP_MINI_CQE_RESP_STRIDE_INDEX, 0);
	set_cap(HCA_CAP_DP_ORDERING_OOO_ALL_RC, 0);
	set_cap(HCA_CAP_CQE_128_ALWAYS, 1);
	driver = query_driver();
	assert_int_equal(driver.flags, MLX5_IB_QUERY_DEV_RESP_FLAGS_SCAT2CQE_DCT |
					       MLX5_IB_QUERY_DEV_RESP_FLAGS_CQE_128B_PAD);
	assert_int_equal(driver.cqe_comp_caps.supported_format, 3);
	set_cap(HCA_CAP_CQE_128_ALWAYS, 0);
	set_cap(HCA_CAP_CQE_COMPRESSION_128, 1);
	assert_int_equal(query_driver().flags, MLX5_IB_QUERY_DEV_RESP_FLAGS_SCAT2CQE_DCT |
						       MLX5_IB_QUERY_DEV_RESP_FLAGS_CQE_128B_COMP);
}

static void pacing_begin(void)
{
	uint8_t *qos = rig.adapter.qos_caps;

	fld_set(rig.adapter.eth_caps, ETH_CAP_MAX_LSO_CAP, 16);
	set_cap(HCA_CAP_STRIDING_RQ, 1);
	fld_set(qos, QOS_CAP_PACKET_PACING, 1);
	fld_set(qos, QOS_CAP_PACKET_PACING_MAX_RATE, 0x20000);
	fld_set(qos, QOS_CAP_PACKET_PACING_MIN_RATE, 0x10);
	fld_set(qos, QOS_CAP_PACKET_PACING_BURST_BOUND, 1);
	fld_set(qos, QOS_CAP_PACKET_PACING_TYPICAL_SIZE, 1);
}

static void the_driver_tells_nothing_of_frames_without_them(void **state)
{
	struct mlx5_ib_query_device_resp driver;

	(void)state;
	pacing_begin();
	driver = query_driver();
	assert_int_equal(driver.tso_caps.max_tso, 0);
	assert_int_equal(driver.striding_rq_caps.supported_qpts, 0);
	assert_int_equal(driver.packet_pacing_caps.supported_qpts, 0);
	assert_int_equal(driver.rss_caps.rx_hash_function, 0);
}

static void the_driver_tells_of_frames(void **state)
{
	struct mlx5_ib_query_device_resp driver;

	(void)state;
	pacing_begin();
	set_cap(HCA_CAP_ETH_NET_OFFLOADS, 1);
	driver = query_driver();
	assert_int_equal(driver.tso_caps.max_tso, 1 << 16);
	assert_int_equal(driver.tso_caps.supported_qpts, RAW);
	assert_int_equal(driver.striding_rq_caps.min_single_stride_log_num_of_bytes, 6);
	assert_int_equal(driver.striding_rq_caps.max_single_stride_log_num_of_bytes, 13);
	assert_int_equal(driver.striding_rq_caps.min_single_wqe_log_num_of_strides, 9);
	assert_int_equal(driver.striding_rq_caps.max_single_wqe_log_num_of_strides, 16);
	assert_int_equal(driver.striding_rq_caps.supported_qpts, RAW);
	assert_int_equal(driver.packet_pacing_caps.qp_rate_limit_max, 0x20000);
	assert_int_equal(driver.packet_pacing_caps.qp_rate_limit_min, 0x10);
	assert_int_equal(driver.packet_pacing_caps.supported_qpts, RAW);
	assert_int_equal(driver.packet_pacing_caps.cap_flags, MLX5_IB_PP_SUPPORT_BURST);
	assert_int_equal(driver.rss_caps.rx_hash_function, MLX5_RX_HASH_FUNC_TOEPLITZ);
	assert_int_equal(driver.rss_caps.rx_hash_fields_mask, 0xff);
	set_cap(HCA_CAP_EXT_STRIDE_NUM_RANGE, 1);
	fld_set(rig.adapter.qos_caps, QOS_CAP_PACKET_PACING_TYPICAL_SIZE, 0);
	fld_set(rig.adapter.eth_caps, ETH_CAP_MAX_LSO_CAP, 0);
	driver = query_driver();
	assert_int_equal(driver.striding_rq_caps.min_single_wqe_log_num_of_strides, 3);
	assert_int_equal(driver.packet_pacing_caps.supported_qpts, RAW);
	assert_int_equal(driver.packet_pacing_caps.cap_flags, 0);
	assert_int_equal(driver.tso_caps.max_tso, 0);
	assert_int_equal(driver.tso_caps.supported_qpts, 0);
	fld_set(rig.adapter.qos_caps, QOS_CAP_PACKET_PACING_TYPICAL_SIZE, 1);
	fld_set(rig.adapter.qos_caps, QOS_CAP_PACKET_PACING_BURST_BOUND, 0);
	set_cap(HCA_CAP_STRIDING_RQ, 0);
	driver = query_driver();
	assert_int_equal(driver.packet_pacing_caps.cap_flags, 0);
	assert_int_equal(driver.striding_rq_caps.supported_qpts, 0);
	fld_set(rig.adapter.qos_caps, QOS_CAP_PACKET_PACING, 0);
	driver = query_driver();
	assert_int_equal(driver.packet_pacing_caps.supported_qpts, 0);
	assert_int_equal(driver.packet_pacing_caps.qp_rate_limit_max, 0);
}

static void mlx4_has_its_own_limits(void **state)
{
	(void)state;
	rig.identity.kind = HCA_MLX4;
	set_cap(HCA_CAP_ETH_NET_OFFLOADS, 1);
	assert_int_equal(query_base().max_mw, 0x4444);
	assert_int_equal(mlx4_limits, 1);
	assert_int_equal(query_device_ex(&rig.call), REFUSED);
	assert_int_equal(mlx4_answers, 1);
	assert_int_equal(mlx4_ethernets, 1);
	assert_false(rig_has_out(UVERBS_ATTR_UHW_OUT));
	rig.out_refused = UVERBS_ATTR_CORE_OUT;
	assert_int_equal(query_device_ex(&rig.call), EFAULT);
	assert_int_equal(mlx4_answers, 1);
}

static void mlx4_counts_time_in_48_bits(void **state)
{
	struct ib_uverbs_ex_query_device_resp resp;

	(void)state;
	rig.identity.kind = HCA_MLX4;
	assert_int_equal(query_device_ex(&rig.call), REFUSED);
	memcpy(&resp, rig_out(UVERBS_ATTR_CORE_OUT, sizeof(resp)), sizeof(resp));
	assert_true(resp.timestamp_mask == 0xffffffffffff);
	assert_int_equal(resp.base.max_mw, 0x4444);
	assert_int_equal(mlx4_ethernets, 0);
}

static void wrong_commands_are_refused(void **state)
{
	static const struct ib_uverbs_ex_query_device masked = { .comp_mask = 1 },
						      reserved = { .reserved = 1 };

	(void)state;
	rig_in(UVERBS_ATTR_CORE_IN, &masked, sizeof(masked));
	assert_int_equal(query_device_ex(&rig.call), EINVAL);
	rig_in(UVERBS_ATTR_CORE_IN, &reserved, sizeof(reserved));
	assert_int_equal(query_device_ex(&rig.call), EINVAL);
	rig.in_refused = UVERBS_ATTR_CORE_IN;
	assert_int_equal(query_device_ex(&rig.call), EFAULT);
}

static void without_room_for_the_answer_it_fails(void **state)
{
	(void)state;
	rig.out_refused = UVERBS_ATTR_CORE_OUT;
	assert_int_equal(query_device_ex(&rig.call), EFAULT);
	assert_int_equal(query_device(&rig.call), EFAULT);
	rig.out_refused = UVERBS_ATTR_UHW_OUT;
	assert_int_equal(query_device_ex(&rig.call), EFAULT);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, query_begin, rig_end)
	const struct CMUnitTest tests[] = {
		CASE(the_identity_is_the_adapters),
		CASE(limits_are_powers_of_two),
		CASE(entries_follow_from_sizes_of_wqes),
		CASE(each_flag_follows_from_a_capability),
		CASE(atomics_need_all_of_the_device),
		CASE(clocks_and_moderation_are_extended),
		CASE(tags_are_matched_if_the_device_does),
		CASE(frames_need_an_ethernet_port),
		CASE(paging_is_told_by_transport),
		CASE(implicit_regions_need_four_things),
		CASE(device_memory_is_told_if_there_is_any),
		CASE(the_driver_tells_flags_and_compression),
		CASE(the_driver_tells_nothing_of_frames_without_them),
		CASE(the_driver_tells_of_frames),
		CASE(mlx4_has_its_own_limits),
		CASE(mlx4_counts_time_in_48_bits),
		CASE(wrong_commands_are_refused),
		CASE(without_room_for_the_answer_it_fails),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

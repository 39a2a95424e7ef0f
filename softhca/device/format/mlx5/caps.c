/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * caps.c - the adapter's capabilities. Only what works is reported; all others are 0. Sizes follow
 * the limits that the adapter was created with.
 */
#include <string.h>

#include "ib/packet.h"
#include "prm/mlx5/caps.h"
#include "prm/mlx5/cmd.h"
#include "prm/mlx5/crypto.h"
#include "prm/mlx5/driver.h"
#include "prm/mlx5/memic.h"
#include "prm/mlx5/umem.h"
#include "prm/mlx5/general_obj.h"
#include "prm/mlx5/wqe.h"
#include "softhca/device/core.h"
#include "softhca/device/eth/eth.h"
#include "softhca/device/format/mlx5/cmd/cmd.h"
#include "softhca/device/format/mlx5/driver.h"
#include "softhca/device/memory/memic.h"
#include "softhca/device/queue/wqe.h"
#include "softhca/device/steering/ste_end.h"
#include "softhca/device/transport/dci.h"
#include "softhca/device/transport/tm.h"
#include "util/bits.h"

enum { IEEE_VENDOR_ID = 0x0002c9, CLOCK_KHZ = 1000000 };

/* Not to a kernel driver: Linux would then write its own rules so, which no test has driven yet. */
bool mlx5_has_steering(const struct hca *hca)
{
	return hca->config.steering && hca->config.link_layer == HCA_LINK_ETHERNET &&
	       hca->config.kind == HCA_MLX5 && !hca->config.kernel_driver;
}

static void put_objects(const struct hca_limits *limits, uint8_t *cap)
{
	fld_set(cap, HCA_CAP_LOG_MAX_QP, log2_floor(limits->max_qp));
	fld_set(cap, HCA_CAP_LOG_MAX_QP_SZ, log2_floor(limits->max_wqe_bb));
	fld_set(cap, HCA_CAP_LOG_MAX_CQ, log2_floor(limits->max_cq));
	fld_set(cap, HCA_CAP_LOG_MAX_CQ_SZ, log2_floor(limits->max_cqe));
	fld_set(cap, HCA_CAP_LOG_MAX_EQ, 8);
	fld_set(cap, HCA_CAP_LOG_MAX_EQ_SZ, 22);
	fld_set(cap, HCA_CAP_MAX_NUM_EQS, 256);
	fld_set(cap, HCA_CAP_LOG_MAX_MKEY, log2_floor(limits->max_mkey));
	fld_set(cap, HCA_CAP_LOG_MAX_PD, log2_floor(limits->max_pd));
	fld_set(cap, HCA_CAP_LOG_MAX_TRANSPORT_DOMAIN, 10);
	fld_set(cap, HCA_CAP_LOG_MAX_MRW_SZ, 64);
	fld_set(cap, HCA_CAP_FIXED_BUFFER_SIZE, 1);
	fld_set(cap, HCA_CAP_LOG_MAX_RA_REQ_QP, log2_floor(limits->max_rd_atomic));
	fld_set(cap, HCA_CAP_LOG_MAX_RA_RES_QP, log2_floor(limits->max_rd_atomic));
	fld_set(cap, HCA_CAP_LOG_MAX_RA_REQ_DC, log2_floor(limits->max_rd_atomic));
	fld_set(cap, HCA_CAP_LOG_MAX_RA_RES_DC, log2_floor(limits->max_rd_atomic));
	fld_set(cap, HCA_CAP_LOG_MAX_DCI_STREAM_CHANNELS, DCI_LOG_STREAMS);
	fld_set(cap, HCA_CAP_LOG_MAX_DCI_ERRORED_STREAMS, DCI_LOG_ERRORED);
	fld_set(cap, HCA_CAP_LOG_MAX_MSG, log2_floor(limits->max_msg_size));
	fld_set(cap, HCA_CAP_LOG_MAX_SRQ, LOG_MAX_SRQ);
	fld_set(cap, HCA_CAP_LOG_MAX_RMP, LOG_MAX_SRQ);
	fld_set(cap, HCA_CAP_LOG_MAX_SRQ_SZ, LOG_MAX_SRQ_WQES);
	fld_set(cap, HCA_CAP_LOG_MAX_XRCD, LOG_MAX_XRCD);
	fld_set(cap, HCA_CAP_LOG_MAX_XRQ, LOG_MAX_SRQ);
	fld_set(cap, HCA_CAP_EXT_STRIDE_NUM_RANGE, 1); /* of XRQs, and of queues of frames */
	fld_set(cap, HCA_CAP_LOG_TAG_MATCHING_LIST_SZ, TM_LOG_MAX_TAGS);
	fld_set(cap, HCA_CAP_LOG_MAX_MCG, log2_floor(MCG_MAX));
	fld_set(cap, HCA_CAP_MAX_QP_MCG, MCG_MAX_QPS);
	fld_set(cap, HCA_CAP_MAX_WQE_SZ_SQ, WQE_BYTES_MAX);
	fld_set(cap, HCA_CAP_MAX_WQE_SZ_SQ_DC, WQE_BYTES_MAX);
	fld_set(cap, HCA_CAP_MAX_WQE_SZ_RQ, RECV_WQE_MAX);
	fld_set(cap, HCA_CAP_LOG_MAX_UCTX, UCTX_LOG_MAX);
	fld_set(cap, HCA_CAP_UCTX_CAP, PRM_UCTX_CAP_RAW_TX | PRM_UCTX_CAP_INTERNAL_DEV_RES);
	fld_set(cap, HCA_CAP_LOG_MAX_UMEM, UMEM_LOG_MAX);
	fld_set(cap, HCA_CAP_UMEM_UID_0, 1);
}

static void put_ports(const struct hca *hca, uint8_t *cap)
{
	bool roce = hca->config.link_layer == HCA_LINK_ETHERNET;

	fld_set(cap, HCA_CAP_NUM_PORTS, hca->config.num_ports);
	fld_set(cap, HCA_CAP_PORT_TYPE, roce);
	fld_set(cap, HCA_CAP_IB_VIRT, !roce);
	fld_set(cap, HCA_CAP_ETH_VIRT, roce);
	fld_set(cap, HCA_CAP_ROCE, roce);
	fld_set(cap, HCA_CAP_GID_TABLE_SIZE, 0);  /* 8 << n */
	fld_set(cap, HCA_CAP_PKEY_TABLE_SIZE, 0); /* 128 << n */
	fld_set(cap, HCA_CAP_LOCAL_CA_ACK_DELAY, 16);
}

static void put_eth_objects(const struct hca *hca, uint8_t *cap)
{
	enum { LOG_STRIDE_RQ = 9, LOG_STRIDE_SQ = 6 };

	if (hca->config.link_layer != HCA_LINK_ETHERNET)
		return;
	fld_set(cap, HCA_CAP_ETH_NET_OFFLOADS, 1);
	fld_set(cap, HCA_CAP_NIC_FLOW_TABLE, 1);
	fld_set(cap, HCA_CAP_FL_RC_QP_WHEN_ROCE_DISABLED, mlx5_has_steering(hca));
	if (mlx5_has_steering(hca))
		fld_set(cap, HCA_CAP_STEERING_FORMAT_VERSION, PRM_STEERING_V1);
	/* Not to a kernel driver: Linux would take IGNORE_FLOW_LEVEL, which anchors need, as an
	 * offer of chains and priorities for tc as well. */
	fld_set(cap, HCA_CAP_SHARED_OBJECT_TO_USER_OBJECT_ALLOWED, !hca->config.kernel_driver);
	fld_set(cap, HCA_CAP_RTS2RTS_QP_UDP_SPORT, 1);
	fld_set(cap, HCA_CAP_LOG_MAX_RQ, ETH_LOG_QUEUES);
	fld_set(cap, HCA_CAP_LOG_MAX_SQ, ETH_LOG_QUEUES);
	fld_set(cap, HCA_CAP_LOG_MAX_TIR, ETH_LOG_TIRS);
	fld_set(cap, HCA_CAP_LOG_MAX_TIS, ETH_LOG_TIRS);
	fld_set(cap, HCA_CAP_LOG_MAX_RQT, ETH_LOG_RQTS);
	fld_set(cap, HCA_CAP_LOG_MAX_RQT_SIZE, ETH_LOG_RQT_SIZE);
	fld_set(cap, HCA_CAP_LOG_MAX_WQ_SZ, ETH_LOG_WQ);
	fld_set(cap, HCA_CAP_LOG_MAX_FLOW_COUNTER_BULK, FLOW_LOG_COUNTERS_QUERIED);
	/* Not to a kernel driver, as no test has driven Linux' own bulks yet. */
	fld_set(cap, HCA_CAP_FLOW_COUNTER_BULK_ALLOC,
		hca->config.kernel_driver ? 0 : FLOW_BULK_SIZES);
	fld_set(cap, HCA_CAP_STRIDING_RQ, 1);
	fld_set(cap, HCA_CAP_LOG_MIN_STRIDE_SZ_RQ, ETH_LOG_STRIDE_MIN);
	fld_set(cap, HCA_CAP_LOG_MAX_STRIDE_SZ_RQ, LOG_STRIDE_RQ);
	fld_set(cap, HCA_CAP_LOG_MIN_STRIDE_SZ_SQ, LOG_STRIDE_SQ);
	fld_set(cap, HCA_CAP_LOG_MAX_STRIDE_SZ_SQ, LOG_STRIDE_SQ);
	fld_set(cap, HCA_CAP_LOG_MAX_CURRENT_UC_LIST, VPORT_LOG_UC);
	fld_set(cap, HCA_CAP_LOG_MAX_CURRENT_MC_LIST, VPORT_LOG_MC);
	fld_set(cap, HCA_CAP_LOG_MAX_VLAN_LIST, VPORT_LOG_VLAN);
	fld_set(cap, HCA_CAP_MODIFY_RQ_COUNTER_SET_ID, 1);
	fld_set(cap, HCA_CAP_DISABLE_LOCAL_LB_UC, 1);
	fld_set(cap, HCA_CAP_DISABLE_LOCAL_LB_MC, 1);
}

static void put_features(uint8_t *cap)
{
	fld_set(cap, HCA_CAP_XRC, 1);
	fld_set(cap, HCA_CAP_RC, 1);
	fld_set(cap, HCA_CAP_UC, 1);
	fld_set(cap, HCA_CAP_UD, 1);
	fld_set(cap, HCA_CAP_SET_DETH_SQPN, 1);
	fld_set(cap, HCA_CAP_BLOCK_LB_MC, 1);
	fld_set(cap, HCA_CAP_WQ_SIGNATURE, 1);
	fld_set(cap, HCA_CAP_ATOMIC, 1);
	fld_set(cap, HCA_CAP_TAG_MATCHING, 1);
	fld_set(cap, HCA_CAP_RNDV_OFFLOAD_RC, 1);
	fld_set(cap, HCA_CAP_CQE_VERSION, 1);
	fld_set(cap, HCA_CAP_SCTR_DATA_CQE, 1);
	fld_set(cap, HCA_CAP_DC_REQ_SCAT_DATA_CQE, 1);
	fld_set(cap, HCA_CAP_DCT, 1);
	fld_set(cap, HCA_CAP_QPC_EXTENSION, 1);
	fld_set(cap, HCA_CAP_CQ_OI, 1);
	fld_set(cap, HCA_CAP_CQ_RESIZE, 1);
	fld_set(cap, HCA_CAP_CQ_MODERATION, 1);
	fld_set(cap, HCA_CAP_CQE_128_ALWAYS, 1);
	fld_set(cap, HCA_CAP_CQE_COMPRESSION, 1);
	fld_set(cap, HCA_CAP_CQE_COMPRESSION_128, 1);
	fld_set(cap, HCA_CAP_CQE_COMPRESSION_MAX_NUM, CQ_RUN_MAX);
	fld_set(cap, HCA_CAP_MINI_CQE_RESP_STRIDE_INDEX, 1);
	fld_set(cap, HCA_CAP_VPORT_COUNTERS, 1);
	/* BlueFlame registers exist and count as doorbells. The WQE is always read from memory, so
	 * the capability (bf) is not reported. */
	fld_set(cap, HCA_CAP_LOG_BF_REG_SIZE, 9);
	fld_set(cap, HCA_CAP_UAR_4K, 1);
	fld_set(cap, HCA_CAP_UAR_SZ, 6);
	fld_set(cap, HCA_CAP_NUM_OF_UARS_PER_PAGE, 1);
	fld_set(cap, HCA_CAP_LOG_PG_SZ, 12);
	fld_set(cap, HCA_CAP_COMPACT_ADDRESS_VECTOR, 1);
	fld_set(cap, HCA_CAP_IMAICL, 1);
	fld_set(cap, HCA_CAP_MAX_QP_CNT, MAX_Q_COUNTERS);
	fld_set(cap, HCA_CAP_OUT_OF_SEQ_CNT, 1);
	fld_set(cap, HCA_CAP_RETRANSMISSION_Q_COUNTERS, 1);
	fld_set(cap, HCA_CAP_ENHANCED_ERROR_Q_COUNTERS, 1);
	fld_set(cap, HCA_CAP_UMR_EXTENDED_TRANSLATION_OFFSET, 1);
	fld_set(cap, HCA_CAP_LOG_MAX_KLM_LIST_SIZE, LOG_MAX_KLMS);
	fld_set(cap, HCA_CAP_NULL_MKEY, 1);
	fld_set(cap, HCA_CAP_DMA_MMO_QP, 1);
	fld_set(cap, HCA_CAP_LOG_DMA_MMO_MAX_SIZE, LOG_MAX_COPY);
	fld_set(cap, HCA_CAP_ECE_SUPPORT, 1);
	fld_set(cap, HCA_CAP_QP_DATA_IN_ORDER, 1);
	fld_set(cap, HCA_CAP_DP_ORDERING_OOO_ALL_RC, 1);
	fld_set(cap, HCA_CAP_DP_ORDERING_OOO_ALL_DC, 1);
	fld_set(cap, HCA_CAP_DP_ORDERING_OOO_ALL_XRC, 1);
	fld_set(cap, HCA_CAP_DUMP_FILL_MKEY, 1);
	fld_set(cap, HCA_CAP_DEVICE_FREQUENCY_MHZ, CLOCK_KHZ / 1000);
	fld_set(cap, HCA_CAP_DEVICE_FREQUENCY_KHZ, CLOCK_KHZ);
}

static void put_signatures(uint8_t *cap)
{
	fld_set(cap, HCA_CAP_SHO, 1);
	fld_set(cap, HCA_CAP_SIGERR_CQE, 1);
	fld_set(cap, HCA_CAP_SIGERR_DOMAIN_AND_SIG_TYPE, 1);
	fld_set(cap, HCA_CAP_DRAIN_SIGERR, 1);
	fld_set(cap, HCA_CAP_SIG_CRC32C, 1);
	fld_set(cap, HCA_CAP_SIG_CRC64_XP10, 1);
	fld_set(cap, HCA_CAP_SIG_BLOCK_4048, 1);
	fld_set(cap, HCA_CAP_LOG_MAX_BSF_LIST_SIZE, 1);
}

static bool has_crypto(const struct hca *hca)
{
	return !hca->config.kernel_driver;
}

static void put_crypto_objects(const struct hca *hca, uint8_t *cap)
{
	if (!has_crypto(hca))
		return;
	fld_set(cap, HCA_CAP_CRYPTO, 1);
	fld_set(cap, HCA_CAP_LOG_MAX_DEK, DEK_LOG_MAX);
	fld_set(cap, HCA_CAP_AES_XTS_SINGLE_BLOCK_LE_TWEAK, 1);
	fld_set(cap, HCA_CAP_AES_XTS_MULTI_BLOCK_BE_TWEAK, 1);
}

static void put_general_objects(const struct hca *hca, uint8_t *cap)
{
	uint64_t types = UINT64_C(1) << PRM_OBJ_TYPE_SCHEDULING_ELEMENT |
			 UINT64_C(1) << PRM_OBJ_TYPE_RESERVED_QPN |
			 UINT64_C(1) << PRM_OBJ_TYPE_AV_QP_MAPPING;

	if (has_crypto(hca))
		types |= UINT64_C(1) << PRM_OBJ_TYPE_DEK | UINT64_C(1) << PRM_OBJ_TYPE_CRYPTO_LOGIN;
	if (mlx5_has_steering(hca))
		types |= UINT64_C(1) << PRM_OBJ_TYPE_SW_ICM | UINT64_C(1) << PRM_OBJ_TYPE_SAMPLER |
			 UINT64_C(1) << PRM_OBJ_TYPE_FLOW_METER |
			 UINT64_C(1) << PRM_OBJ_TYPE_ASO_FIRST_HIT;
	if (hca->config.doorbell_pages)
		types |= UINT64_C(1) << PRM_OBJ_TYPE_VIRTIO_NET_Q;
	fld_set(cap, HCA_CAP_GENERAL_OBJ_TYPES, types);
	fld_set(cap, HCA_CAP_HCA_CAP_2, 1);
	fld_set(cap, HCA_CAP_QOS, 1);
	fld_set(cap, HCA_CAP_QPC_EXTENSION, 1);
}

static void put_lag(const struct hca *hca, uint8_t *cap)
{
	if (!hca->config.lag_ports)
		return;
	fld_set(cap, HCA_CAP_LAG_MASTER, 1);
	fld_set(cap, HCA_CAP_NUM_LAG_PORTS, hca->config.lag_ports);
	fld_set(cap, HCA_CAP_LAG_TX_PORT_AFFINITY, 1);
	fld_set(cap, HCA_CAP_INIT2_LAG_TX_PORT_AFFINITY, 1);
	fld_set(cap, HCA_CAP_RTS2RTS_LAG_TX_PORT_AFFINITY, 1);
}

static void put_general_2(const struct hca *hca, uint8_t *cap)
{
	(void)hca;
	fld_set(cap, HCA_CAP_2_DP_ORDERING_FORCE, 1);
	fld_set(cap, HCA_CAP_2_LOG_RESERVED_QPN_GRANULARITY, RESERVED_QPNS_LOG);
}

static void put_general(const struct hca *hca, uint8_t *cap)
{
	put_objects(&hca->config.limits, cap);
	put_ports(hca, cap);
	put_eth_objects(hca, cap);
	put_features(cap);
	fld_set(cap, HCA_CAP_DEVICE_MEMORY, hca->config.memic_size != 0);
	fld_set(cap, HCA_CAP_PG, hca->config.pages_on_demand);
	put_general_objects(hca, cap);
	put_lag(hca, cap);
	put_signatures(cap);
	fld_set(cap, HCA_CAP_ENHANCED_CQE_COMPRESSION, !hca->config.kernel_driver);
	fld_set(cap, HCA_CAP_UMR_PTR_RLKY, hca->config.kernel_driver);
	put_crypto_objects(hca, cap);
	fld_set(cap, HCA_CAP_SQ_TS_FORMAT, hca->config.real_time ? PRM_TS_CAP_BOTH : 0);
	fld_set(cap, HCA_CAP_RQ_TS_FORMAT, hca->config.real_time ? PRM_TS_CAP_BOTH : 0);
}

/* Atomic results of 8 bytes are in the host's byte order: endianness mode 1. Atomics are not atomic
 * to the CPU, as the adapter reads and writes separately. */
static void put_atomic(const struct hca *hca, uint8_t *cap)
{
	(void)hca;
	fld_set(cap, ATOMIC_CAPS_ATOMIC_REQ_8B_ENDIANNESS_MODE, 1);
	fld_set(cap, ATOMIC_CAPS_SUPPORTED_ATOMIC_REQ_8B_ENDIANNESS_MODE_1, 1);
	fld_set(cap, ATOMIC_CAPS_ATOMIC_OPERATIONS,
		PRM_ATOMIC_OPS_CS | PRM_ATOMIC_OPS_FA | PRM_ATOMIC_OPS_MASKED_CS |
			PRM_ATOMIC_OPS_MASKED_FA);
	fld_set(cap, ATOMIC_CAPS_ATOMIC_SIZE_QP, 4 | 8);
	fld_set(cap, ATOMIC_CAPS_ATOMIC_SIZE_DC, 4 | 8);
}

static void put_roce(const struct hca *hca, uint8_t *cap)
{
	enum { L3_IPV4_IPV6 = 6, ROCE_V1_V2 = 5 };

	if (hca->config.link_layer != HCA_LINK_ETHERNET)
		return;
	fld_set(cap, ROCE_CAP_QP_TS_FORMAT, hca->config.real_time ? PRM_TS_CAP_BOTH : 0);
	fld_set(cap, ROCE_CAP_FL_RC_QP_WHEN_ROCE_ENABLED, mlx5_has_steering(hca));
	fld_set(cap, ROCE_CAP_FL_RC_QP_WHEN_ROCE_DISABLED, mlx5_has_steering(hca));
	fld_set(cap, ROCE_CAP_L3_TYPE, L3_IPV4_IPV6);
	fld_set(cap, ROCE_CAP_ROCE_VERSION, ROCE_V1_V2);
	fld_set(cap, ROCE_CAP_R_ROCE_DEST_UDP_PORT, ROCE_UDP_PORT);
	fld_set(cap, ROCE_CAP_R_ROCE_MIN_SRC_UDP_PORT, 0xc000);
	fld_set(cap, ROCE_CAP_R_ROCE_MAX_SRC_UDP_PORT, 0xffff);
	fld_set(cap, ROCE_CAP_ROCE_ADDRESS_TABLE_SIZE, PORT_GIDS_ROCE);
}

static void put_ethernet(const struct hca *hca, uint8_t *cap)
{
	enum { NO_INLINE = 2 };

	if (hca->config.link_layer != HCA_LINK_ETHERNET)
		return;
	fld_set(cap, ETH_CAP_CSUM_CAP, 1);
	fld_set(cap, ETH_CAP_CQE_CHECKSUM_FULL, 1);
	fld_set(cap, ETH_CAP_VLAN_CAP, 1);
	fld_set(cap, ETH_CAP_LRO_CAP, 1);
	fld_set(cap, ETH_CAP_LRO_PSH_FLAG, 1);
	fld_set(cap, ETH_CAP_LRO_TIME_STAMP, 1);
	for (size_t i = 0; i < ARRAY_SIZE(mlx5_lro_periods); i++)
		fld_set(fld_at(cap, ETH_CAP_LRO_TIMER_SUPPORTED_PERIODS) + 4 * i, FLD(0x0, 31, 0),
			mlx5_lro_periods[i]);
	fld_set(cap, ETH_CAP_WQE_VLAN_INSERT, 1);
	fld_set(cap, ETH_CAP_SELF_LB_EN_MODIFIABLE, 1);
	fld_set(cap, ETH_CAP_MAX_LSO_CAP, LOG_MAX_LSO);
	fld_set(cap, ETH_CAP_WQE_INLINE_MODE, NO_INLINE);
	fld_set(cap, ETH_CAP_RSS_IND_TBL_CAP, ETH_LOG_RQT_SIZE);
	fld_set(cap, ETH_CAP_REG_UMR_SQ, hca->config.kernel_driver);
}

/* Fields that flow tables can match; any mask of their bits is valid. Inner headers have the
 * same fields as outer ones, in a dword of their own. A kernel driver gets the bits of outer
 * fields only. */
static void put_flow_fields(const struct hca *hca, uint8_t *fields)
{
	static const uint32_t known[] = {
		FT_FIELD_OUTER_DMAC,       FT_FIELD_OUTER_SMAC,         FT_FIELD_OUTER_ETHER_TYPE,
		FT_FIELD_OUTER_IP_VERSION, FT_FIELD_OUTER_FIRST_PRIO,   FT_FIELD_OUTER_FIRST_CFI,
		FT_FIELD_OUTER_FIRST_VID,  FT_FIELD_OUTER_IPV4_TTL,     FT_FIELD_OUTER_SECOND_PRIO,
		FT_FIELD_OUTER_SECOND_CFI, FT_FIELD_OUTER_SECOND_VID,   FT_FIELD_OUTER_SIP,
		FT_FIELD_OUTER_DIP,        FT_FIELD_OUTER_FRAG,         FT_FIELD_OUTER_IP_PROTOCOL,
		FT_FIELD_OUTER_IP_ECN,     FT_FIELD_OUTER_IP_DSCP,      FT_FIELD_OUTER_UDP_SPORT,
		FT_FIELD_OUTER_UDP_DPORT,  FT_FIELD_OUTER_TCP_SPORT,    FT_FIELD_OUTER_TCP_DPORT,
		FT_FIELD_OUTER_TCP_FLAGS,  FT_FIELD_OUTER_GRE_PROTOCOL, FT_FIELD_OUTER_GRE_KEY,
		FT_FIELD_OUTER_VXLAN_VNI,
	};

	static const uint32_t others[] = {
		FT_FIELD_OUTER_GENEVE_VNI,
		FT_FIELD_OUTER_GENEVE_OAM,
		FT_FIELD_OUTER_GENEVE_PROTOCOL_TYPE,
		FT_FIELD_OUTER_GENEVE_OPT_LEN,
		FLD_IN(FT_FIELD_INNER, FT_FIELD_OUTER_IPV6_FLOW_LABEL),
		FT_FIELD_MPLS,
		FT_FIELD_INNER_ESP_SPI,
		FT_FIELD_OUTER_ESP_SPI,
	};

	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		fld_set(fields, known[i], 1);
	fld_set(fields, FT_FIELD_OUTER_IPV6_FLOW_LABEL, 1);
	if (hca->config.kernel_driver)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		if (FLD_BIT(known[i]) <= FLD_BIT(FT_FIELD_OUTER_TCP_FLAGS))
			fld_set(fields, FLD_IN(FT_FIELD_INNER, known[i]), 1);
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		fld_set(fields, others[i], UINT32_MAX);
}

/* Not to a kernel driver, as no test has driven these from Linux' own rules yet. Nor are reformats
 * announced to it. */
static void put_header_changes(uint8_t *prop)
{
	fld_set(prop, FT_PROP_REFORMAT, 1);
	fld_set(prop, FT_PROP_REFORMAT_AND_MODIFY_ACTION, 1);
	fld_set(prop, FT_PROP_LOG_MAX_MODIFY_HEADER_CONTEXT, MODIFY_HEADER_LOG_LISTS);
	fld_set(prop, FT_PROP_MAX_MODIFY_HEADER_ACTIONS, MODIFY_HEADER_MAX);
}

static void put_flow_tables_of(const struct hca *hca, uint8_t *prop)
{
	fld_set(prop, FT_PROP_FT_SUPPORT, 1);
	fld_set(prop, FT_PROP_FLOW_COUNTER, 1);
	fld_set(prop, FT_PROP_FLOW_MODIFY_EN, 1);
	fld_set(prop, FT_PROP_MODIFY_ROOT, 1);
	fld_set(prop, FT_PROP_IDENTIFIED_MISS_TABLE_MODE, 1);
	fld_set(prop, FT_PROP_FLOW_TABLE_MODIFY, 1);
	fld_set(prop, FT_PROP_SW_OWNER_V2, mlx5_has_steering(hca));
	fld_set(prop, FT_PROP_IGNORE_FLOW_LEVEL, !hca->config.kernel_driver);
	fld_set(prop, FT_PROP_LOG_MAX_FT_SIZE, FLOW_LOG_TABLE_MAX);
	fld_set(prop, FT_PROP_MAX_FT_LEVEL, FLOW_LEVELS - 1);
	fld_set(prop, FT_PROP_LOG_MAX_FT_NUM, FLOW_LOG_TABLES);
	fld_set(prop, FT_PROP_LOG_MAX_FLOW_COUNTER, 0); /* log2: one counter in each entry */
	fld_set(prop, FT_PROP_LOG_MAX_DESTINATION, FLOW_LOG_DESTINATIONS);
	fld_set(prop, FT_PROP_LOG_MAX_FLOW, FLOW_LOG_ENTRIES);
	if (!hca->config.kernel_driver)
		put_header_changes(prop);
	put_flow_fields(hca, fld_at(prop, FT_PROP_FT_FIELD_SUPPORT));
	put_flow_fields(hca, fld_at(prop, FT_PROP_FT_FIELD_BITMASK_SUPPORT));
}

/* Received frames leave tunnels, sent frames enter them. */
static void put_tunnels(uint8_t *cap)
{
	uint8_t *receive = fld_at(cap, FLOW_NIC_CAP_FLOW_TABLE_PROPERTIES_NIC_RECEIVE);
	uint8_t *transmit = fld_at(cap, FLOW_NIC_CAP_FLOW_TABLE_PROPERTIES_NIC_TRANSMIT);

	fld_set(cap, FLOW_NIC_CAP_ENCAP_GENERAL_HEADER, 1);
	fld_set(cap, FLOW_NIC_CAP_LOG_MAX_PACKET_REFORMAT_CONTEXT, PACKET_REFORMAT_LOG);
	fld_set(cap, FLOW_NIC_CAP_MAX_ENCAP_HEADER_SIZE, PACKET_REFORMAT_MAX);
	fld_set(receive, FT_PROP_DECAP, 1);
	fld_set(receive, FT_PROP_REFORMAT_L3_TUNNEL_TO_L2, 1);
	fld_set(transmit, FT_PROP_REFORMAT_L2_TO_L3_TUNNEL, 1);
}

static void put_steering_ends(uint8_t *cap)
{
	fld_set(cap, FLOW_NIC_CAP_SW_STEERING_RX_DROP_ICM_ADDRESS,
		ste_end_address(STE_END_DROP, 0));
	fld_set(cap, FLOW_NIC_CAP_SW_STEERING_TX_DROP_ICM_ADDRESS,
		ste_end_address(STE_END_DROP, 0));
	fld_set(cap, FLOW_NIC_CAP_SW_STEERING_TX_ALLOW_ICM_ADDRESS,
		ste_end_address(STE_END_ALLOW, 0));
}

static void put_flow_tables(const struct hca *hca, uint8_t *cap)
{
	if (hca->config.link_layer != HCA_LINK_ETHERNET)
		return;
	fld_set(cap, FLOW_NIC_CAP_NIC_RX_MULTI_PATH_TIRS, 1);
	fld_set(cap, FLOW_NIC_CAP_NIC_RX_MULTI_PATH_TIRS_FTS, 1);
	put_flow_tables_of(hca, fld_at(cap, FLOW_NIC_CAP_FLOW_TABLE_PROPERTIES_NIC_RECEIVE));
	put_flow_tables_of(hca, fld_at(cap, FLOW_NIC_CAP_FLOW_TABLE_PROPERTIES_NIC_TRANSMIT));
	if (!hca->config.kernel_driver)
		put_tunnels(cap);
	if (mlx5_has_steering(hca))
		put_steering_ends(cap);
}

/* Reports schedulers for all queues, and rate limits for frame queues. Not to a kernel driver:
 * Linux' would take schedulers as an offer to shape traffic by commands that do not exist here. */
static void put_scheduling(const struct hca *hca, uint8_t *cap)
{
	fld_set(cap, QOS_CAP_NIC_SQ_SCHEDULING, !hca->config.kernel_driver);
	fld_set(cap, QOS_CAP_NIC_QP_SCHEDULING, 1);
	fld_set(cap, QOS_CAP_NIC_BW_SHARE, 1);
	fld_set(cap, QOS_CAP_NIC_RATE_LIMIT, 1);
	fld_set(cap, QOS_CAP_LOG_MAX_QOS_NIC_QUEUE_GROUP, SCHED_LOG_ELEMENTS);
	fld_set(cap, QOS_CAP_MAX_TSAR_BW_SHARE, SCHED_MAX_SHARE);
	fld_set(cap, QOS_CAP_NIC_ELEMENT_TYPE,
		1 << PRM_SCHED_ELEMENT_TSAR | 1 << PRM_SCHED_ELEMENT_QUEUE_GROUP);
	fld_set(cap, QOS_CAP_NIC_TSAR_TYPE, 1 << PRM_SCHED_TSAR_DWRR);
}

static void put_meters(uint8_t *cap)
{
	fld_set(cap, QOS_CAP_FLOW_METER, 1);
	fld_set(cap, QOS_CAP_LOG_MAX_FLOW_METER, FLOW_METER_LOG_MAX);
	fld_set(cap, QOS_CAP_FLOW_METER_REG_ID, (1 << FLOW_METER_REGISTERS) - 1);
}

static void put_qos(const struct hca *hca, uint8_t *cap)
{
	put_scheduling(hca, cap);
	if (hca->config.link_layer != HCA_LINK_ETHERNET)
		return;
	fld_set(cap, QOS_CAP_PACKET_PACING, 1);
	fld_set(cap, QOS_CAP_PACKET_PACING_BURST_BOUND, 1);
	fld_set(cap, QOS_CAP_PACKET_PACING_TYPICAL_SIZE, 1);
	fld_set(cap, QOS_CAP_PACKET_PACING_UID, 1);
	fld_set(cap, QOS_CAP_PACKET_PACING_MAX_RATE, PACING_MAX_RATE);
	fld_set(cap, QOS_CAP_PACKET_PACING_MIN_RATE, PACING_MIN_RATE);
	fld_set(cap, QOS_CAP_PACKET_PACING_RATE_TABLE_SIZE, PACING_RATES);
	if (mlx5_has_steering(hca))
		put_meters(cap);
}

/* Reports on-demand paging for all work requests, as the adapter always checks keys when the data
 * moves. */
static void put_odp(const struct hca *hca, uint8_t *cap)
{
	static const uint32_t reliable[] = { ODP_SEND, ODP_RECEIVE, ODP_WRITE,
					     ODP_READ, ODP_ATOMIC,  ODP_SRQ_RECEIVE };
	static const uint32_t datagrams[] = { ODP_SEND, ODP_SRQ_RECEIVE };

	if (!hca->config.pages_on_demand)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(reliable); i++) {
		fld_set(fld_at(cap, ODP_CAP_RC), reliable[i], 1);
		fld_set(fld_at(cap, ODP_CAP_XRC), reliable[i], 1);
		fld_set(fld_at(cap, ODP_CAP_DC), reliable[i], 1);
	}
	for (size_t i = 0; i < ARRAY_SIZE(datagrams); i++)
		fld_set(fld_at(cap, ODP_CAP_UD), datagrams[i], 1);
}

static void put_steering_memory(uint8_t *cap)
{
	fld_set(cap, MEM_CAP_LOG_SW_ICM_ALLOC_GRANULARITY, STE_MEMORY_LOG_UNIT);
	fld_set(cap, MEM_CAP_STEERING_ICM_START, STE_MEMORY_START);
	fld_set(cap, MEM_CAP_LOG_STEERING_ICM_SIZE, STE_MEMORY_LOG_SIZE);
	fld_set(cap, MEM_CAP_CHANGE_ICM_START, STE_MEMORY_CHANGE);
	fld_set(cap, MEM_CAP_LOG_CHANGE_ICM_SIZE, STE_MEMORY_LOG_CHANGE);
	fld_set(cap, MEM_CAP_PATTERN_ICM_START, STE_MEMORY_PATTERN);
	fld_set(cap, MEM_CAP_LOG_PATTERN_ICM_SIZE, STE_MEMORY_LOG_PATTERN);
}

/* Reports operations on the adapter's memory only where the adapter can see the accesses, as it
 * executes them itself. They are of one byte. */
static void put_device_memory(const struct hca *hca, uint8_t *cap)
{
	if (mlx5_has_steering(hca))
		put_steering_memory(cap);
	if (!hca->config.memic_size)
		return;
	fld_set(cap, MEM_CAP_MEMIC, 1);
	fld_set(cap, MEM_CAP_LOG_MIN_MEMIC_ALLOC_SIZE, MEMIC_UNIT_LOG);
	fld_set(cap, MEM_CAP_LOG_MAX_MEMIC_ADDR_ALIGNMENT, MEMIC_ALIGN_LOG - MEMIC_UNIT_LOG);
	fld_set(cap, MEM_CAP_MEMIC_BAR_START_ADDR, hca->config.memic_bar);
	fld_set(cap, MEM_CAP_MEMIC_BAR_SIZE, hca->config.memic_bar_size);
	fld_set(cap, MEM_CAP_MAX_MEMIC_SIZE, hca->config.memic_size);
	if (!hca->config.memic_windows)
		return;
	fld_set(cap, MEM_CAP_MEMIC_OPERATIONS,
		1 << PRM_MEMIC_INCREMENT | 1 << PRM_MEMIC_TEST_AND_SET);
	fld_set(cap, MEM_CAP_MEMIC_INCREMENT_SIZES, 1);
	fld_set(cap, MEM_CAP_MEMIC_TEST_AND_SET_SIZES, 1);
}

/* Reports doorbells of devices that programs emulate. The adapter has no queues of such devices, so
 * their number is 0. */
static void put_emulation(const struct hca *hca, uint8_t *cap)
{
	enum { LOG_PAGE = 12 };

	if (!hca->config.doorbell_pages)
		return;
	fld_set(cap, VDPA_CAP_LOG_DOORBELL_STRIDE, LOG_PAGE);
	fld_set(cap, VDPA_CAP_LOG_DOORBELL_BAR_SIZE, log2_floor(hca->config.doorbell_pages));
	fld_set(cap, VDPA_CAP_DOORBELL_BAR_OFFSET, hca->config.doorbell_bar);
}

static void put_crypto(const struct hca *hca, uint8_t *cap)
{
	const struct hca_secrets *secrets = hca->config.secrets;

	fld_set(cap, CRYPTO_CAP_LOG_MAX_NUM_DEKS, has_crypto(hca) ? DEK_LOG_MAX : 0);
	if (!has_crypto(hca) || !secrets)
		return;
	fld_set(cap, CRYPTO_CAP_WRAPPED_OPERATIONAL, 1);
	fld_set(cap, CRYPTO_CAP_WRAPPED_IMPORT_METHOD, PRM_WRAPPED_IMPORT_AES_XTS);
	fld_set(cap, CRYPTO_CAP_LOG_MAX_IMPORT_KEKS, log2_floor(HCA_KEKS));
	fld_set(cap, CRYPTO_CAP_LOG_MAX_CREDENTIALS, log2_floor(HCA_CREDENTIALS));
	fld_set(cap, CRYPTO_CAP_NUM_IMPORT_KEKS, secrets->keks);
	fld_set(cap, CRYPTO_CAP_NUM_CREDENTIALS, secrets->credentials);
}

static void (*const pages[])(const struct hca *hca, uint8_t *cap) = {
	[PRM_CAP_GENERAL] = put_general,
	[PRM_CAP_ETHERNET_OFFLOADS] = put_ethernet,
	[PRM_CAP_ODP] = put_odp,
	[PRM_CAP_ATOMIC] = put_atomic,
	[PRM_CAP_ROCE] = put_roce,
	[PRM_CAP_FLOW_TABLE] = put_flow_tables,
	[PRM_CAP_QOS] = put_qos,
	[PRM_CAP_DEV_MEM] = put_device_memory,
	[PRM_CAP_VDPA_EMULATION] = put_emulation,
	[PRM_CAP_CRYPTO] = put_crypto,
	[PRM_CAP_GENERAL_2] = put_general_2,
};

static bool has_page(uint64_t page)
{
	return page < ARRAY_SIZE(pages) && pages[page];
}

/* Capabilities that software may lower; a query then returns the lowered value. */
static const struct {
	uint8_t page;
	uint32_t field;
} writable[CAPS_WRITABLE] = {
	{ PRM_CAP_GENERAL, HCA_CAP_LOG_MAX_QP },
	{ PRM_CAP_GENERAL, HCA_CAP_LOG_MAX_CURRENT_UC_LIST },
};

static void put_current(const struct hca *hca, uint64_t page, uint8_t *cap)
{
	for (unsigned int i = 0; i < CAPS_WRITABLE; i++)
		if (writable[i].page == page && hca->firmware->caps.is_set[i])
			fld_set(cap, writable[i].field, hca->firmware->caps.value[i]);
}

enum prm_status caps_query(struct hca *hca, struct cmd *cmd)
{
	uint64_t op = fld_get(cmd->in, CMD_IN_OP_MOD), page = op >> 1;
	uint8_t *cap = fld_at(cmd->out, QUERY_HCA_CAP_OUT_CAPABILITY);

	if (!has_page(page))
		return cmd_fail(cmd, PRM_STAT_BAD_PARAM_ERR, "caps: no such capability page");
	if (fld_get(cmd->in, QUERY_HCA_CAP_IN_OTHER_FUNCTION))
		return cmd_fail(cmd, PRM_STAT_BAD_PARAM_ERR, "caps: no other functions");
	pages[page](hca, cap);
	if (op & 1)
		put_current(hca, page, cap);
	return PRM_STAT_OK;
}

/* Checks the writable fields of WANTED, then sets them as in MAX, so that the caller can compare
 * the others. */
static const char *caps_level(uint64_t page, uint8_t *wanted, const uint8_t *max)
{
	for (unsigned int i = 0; i < CAPS_WRITABLE; i++) {
		if (writable[i].page != page)
			continue;
		if (fld_get(wanted, writable[i].field) > fld_get(max, writable[i].field))
			return "caps: more than there is";
		fld_set(wanted, writable[i].field, fld_get(max, writable[i].field));
	}
	return NULL;
}

/* Checks capabilities that software sets. Fields that are not writable must be 0 or as the adapter
 * reports them. */
static const char *caps_check(uint64_t page, const uint8_t *cap, const uint8_t *max)
{
	uint8_t wanted[PRM_HCA_CAP_SIZE];
	const char *why;

	memcpy(wanted, cap, sizeof(wanted));
	why = caps_level(page, wanted, max);
	for (uint32_t i = 0; !why && i < sizeof(wanted); i += 4)
		if (get_be32(wanted + i) & ~get_be32(max + i))
			why = "caps: a capability that cannot be changed";
	return why;
}

enum prm_status caps_set(struct hca *hca, struct cmd *cmd)
{
	uint64_t page = fld_get(cmd->in, CMD_IN_OP_MOD) >> 1;
	const uint8_t *cap = fld_at(cmd->in, SET_HCA_CAP_IN_CAPABILITY);
	uint8_t max[PRM_HCA_CAP_SIZE] = { 0 };
	const char *why;

	if (!has_page(page))
		return cmd_fail(cmd, PRM_STAT_BAD_PARAM_ERR, "caps: no such capability page");
	if (page == PRM_CAP_GENERAL && fld_get(cap, HCA_CAP_LOG_UAR_PAGE_SZ))
		return cmd_fail(cmd, PRM_STAT_BAD_PARAM_ERR, "caps: UAR pages are of 4 KiB");
	pages[page](hca, max);
	why = caps_check(page, cap, max);
	if (why)
		return cmd_fail(cmd, PRM_STAT_BAD_PARAM_ERR, why);
	for (unsigned int i = 0; i < CAPS_WRITABLE; i++)
		if (writable[i].page == page) {
			hca->firmware->caps.is_set[i] = true;
			hca->firmware->caps.value[i] = fld_get(cap, writable[i].field);
		}
	return PRM_STAT_OK;
}

enum prm_status caps_query_adapter(struct hca *hca, struct cmd *cmd)
{
	static const char psid[16] = "SFT0000000001";
	uint8_t *adapter = fld_at(cmd->out, QUERY_ADAPTER_OUT_QUERY_ADAPTER_STRUCT);

	(void)hca;
	fld_set(adapter, ADAPTER_IEEE_VENDOR_ID, IEEE_VENDOR_ID);
	memcpy(fld_at(adapter, ADAPTER_VSD_CONTD_PSID), psid, sizeof(psid));
	return PRM_STAT_OK;
}

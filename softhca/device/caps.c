/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * caps.c - what the adapter says it can do. A capability stands here only when it works; what is
 * not named is 0. Sizes follow the limits the adapter was created with.
 */
#include <string.h>

#include "softhca/device/core.h"
#include "softhca/device/driver_ifc.h"

enum { IEEE_VENDOR_ID = 0x0002c9, CLOCK_KHZ = 1000000 };

static uint32_t log2_floor(uint32_t value)
{
	return 31 - (uint32_t)__builtin_clz(value);
}

static void put_objects(const struct hca_limits *limits, uint8_t *cap)
{
	prm_set(cap, HCA_CAP_LOG_MAX_QP, log2_floor(limits->max_qp));
	prm_set(cap, HCA_CAP_LOG_MAX_QP_SZ, log2_floor(limits->max_wqe_bb));
	prm_set(cap, HCA_CAP_LOG_MAX_CQ, log2_floor(limits->max_cq));
	prm_set(cap, HCA_CAP_LOG_MAX_CQ_SZ, log2_floor(limits->max_cqe));
	prm_set(cap, HCA_CAP_LOG_MAX_EQ, 8);
	prm_set(cap, HCA_CAP_LOG_MAX_EQ_SZ, 22);
	prm_set(cap, HCA_CAP_MAX_NUM_EQS, 256);
	prm_set(cap, HCA_CAP_LOG_MAX_MKEY, log2_floor(limits->max_mkey));
	prm_set(cap, HCA_CAP_LOG_MAX_PD, log2_floor(limits->max_pd));
	prm_set(cap, HCA_CAP_LOG_MAX_TRANSPORT_DOMAIN, 10);
	prm_set(cap, HCA_CAP_LOG_MAX_MRW_SZ, 64);
	prm_set(cap, HCA_CAP_FIXED_BUFFER_SIZE, 1);
	prm_set(cap, HCA_CAP_LOG_MAX_RA_REQ_QP, log2_floor(limits->max_rd_atomic));
	prm_set(cap, HCA_CAP_LOG_MAX_RA_RES_QP, log2_floor(limits->max_rd_atomic));
	prm_set(cap, HCA_CAP_LOG_MAX_MSG, log2_floor(limits->max_msg_size));
	prm_set(cap, HCA_CAP_LOG_MAX_SRQ, LOG_MAX_SRQ);
	prm_set(cap, HCA_CAP_LOG_MAX_RMP, LOG_MAX_SRQ);
	prm_set(cap, HCA_CAP_LOG_MAX_SRQ_SZ, LOG_MAX_SRQ_WQES);
	prm_set(cap, HCA_CAP_LOG_MAX_XRCD, LOG_MAX_XRCD);
	prm_set(cap, HCA_CAP_LOG_MAX_MCG, log2_floor(MCG_MAX));
	prm_set(cap, HCA_CAP_MAX_QP_MCG, MCG_MAX_QPS);
	prm_set(cap, HCA_CAP_MAX_WQE_SZ_SQ, WQE_BB * WQE_BB_MAX);
	prm_set(cap, HCA_CAP_MAX_WQE_SZ_RQ, RECV_WQE_MAX);
}

static void put_ports(const struct hca *hca, uint8_t *cap)
{
	bool roce = hca->config.link_layer == HCA_LINK_ETHERNET;

	prm_set(cap, HCA_CAP_NUM_PORTS, hca->config.num_ports);
	prm_set(cap, HCA_CAP_PORT_TYPE, roce);
	prm_set(cap, HCA_CAP_IB_VIRT, !roce);
	prm_set(cap, HCA_CAP_ETH_VIRT, roce);
	prm_set(cap, HCA_CAP_ROCE, roce);
	prm_set(cap, HCA_CAP_GID_TABLE_SIZE, 0);  /* 8 << n */
	prm_set(cap, HCA_CAP_PKEY_TABLE_SIZE, 0); /* 128 << n */
	prm_set(cap, HCA_CAP_LOCAL_CA_ACK_DELAY, 16);
}

static void put_features(uint8_t *cap)
{
	prm_set(cap, HCA_CAP_XRC, 1);
	prm_set(cap, HCA_CAP_RC, 1);
	prm_set(cap, HCA_CAP_UC, 1);
	prm_set(cap, HCA_CAP_UD, 1);
	prm_set(cap, HCA_CAP_SET_DETH_SQPN, 1);
	prm_set(cap, HCA_CAP_BLOCK_LB_MC, 1);
	prm_set(cap, HCA_CAP_ATOMIC, 1);
	prm_set(cap, HCA_CAP_CQE_VERSION, 1);
	prm_set(cap, HCA_CAP_SCTR_DATA_CQE, 1);
	prm_set(cap, HCA_CAP_CQ_OI, 1);
	/* BlueFlame registers are there, and count as doorbells: a WQE is always read from memory,
	 * so the capability itself (bf) is not announced. */
	prm_set(cap, HCA_CAP_LOG_BF_REG_SIZE, 9);
	prm_set(cap, HCA_CAP_UAR_4K, 1);
	prm_set(cap, HCA_CAP_UAR_SZ, 6);
	prm_set(cap, HCA_CAP_NUM_OF_UARS_PER_PAGE, 1);
	prm_set(cap, HCA_CAP_LOG_PG_SZ, 12);
	prm_set(cap, HCA_CAP_COMPACT_ADDRESS_VECTOR, 1);
	prm_set(cap, HCA_CAP_UMR_MODIFY_ENTITY_SIZE_DISABLED, 1);
	prm_set(cap, HCA_CAP_UMR_MODIFY_ATOMIC_DISABLED, 1);
	prm_set(cap, HCA_CAP_UMR_INDIRECT_MKEY_DISABLED, 1);
	prm_set(cap, HCA_CAP_DEVICE_FREQUENCY_MHZ, CLOCK_KHZ / 1000);
	prm_set(cap, HCA_CAP_DEVICE_FREQUENCY_KHZ, CLOCK_KHZ);
}

static void put_general(const struct hca *hca, uint8_t *cap)
{
	put_objects(&hca->config.limits, cap);
	put_ports(hca, cap);
	put_features(cap);
}

/* Results of atomics are stored in the CPU's byte order: endianness mode 1. */
static void put_atomic(const struct hca *hca, uint8_t *cap)
{
	(void)hca;
	prm_set(cap, ATOMIC_CAPS_ATOMIC_REQ_8B_ENDIANNESS_MODE, 1);
	prm_set(cap, ATOMIC_CAPS_SUPPORTED_ATOMIC_REQ_8B_ENDIANNESS_MODE_1, 1);
	prm_set(cap, ATOMIC_CAPS_ATOMIC_OPERATIONS, PRM_ATOMIC_OPS_CS | PRM_ATOMIC_OPS_FA);
	prm_set(cap, ATOMIC_CAPS_ATOMIC_SIZE_QP, 8);
}

static void put_roce(const struct hca *hca, uint8_t *cap)
{
	enum { L3_IPV4_IPV6 = 6, ROCE_V1_V2 = 5, ROCE_V2_PORT = 4791 };

	if (hca->config.link_layer != HCA_LINK_ETHERNET)
		return;
	prm_set(cap, ROCE_CAP_L3_TYPE, L3_IPV4_IPV6);
	prm_set(cap, ROCE_CAP_ROCE_VERSION, ROCE_V1_V2);
	prm_set(cap, ROCE_CAP_R_ROCE_DEST_UDP_PORT, ROCE_V2_PORT);
	prm_set(cap, ROCE_CAP_R_ROCE_MIN_SRC_UDP_PORT, 0xc000);
	prm_set(cap, ROCE_CAP_R_ROCE_MAX_SRC_UDP_PORT, 0xffff);
	prm_set(cap, ROCE_CAP_ROCE_ADDRESS_TABLE_SIZE, PORT_GIDS_ROCE);
}

/* No capability at all: paging on demand, Ethernet offloads. */
static void put_nothing(const struct hca *hca, uint8_t *cap)
{
	(void)hca;
	(void)cap;
}

static void (*const pages[])(const struct hca *hca, uint8_t *cap) = {
	[PRM_CAP_GENERAL] = put_general, [PRM_CAP_ETHERNET_OFFLOADS] = put_nothing,
	[PRM_CAP_ODP] = put_nothing,     [PRM_CAP_ATOMIC] = put_atomic,
	[PRM_CAP_ROCE] = put_roce,
};

enum prm_status caps_query(struct hca *hca, struct cmd *cmd)
{
	uint64_t page = prm_get(cmd->in, CMD_IN_OP_MOD) >> 1;

	if (page >= sizeof(pages) / sizeof(pages[0]))
		return cmd_fail(cmd, PRM_STAT_BAD_PARAM_ERR, "caps: no such capability page");
	if (prm_get(cmd->in, QUERY_HCA_CAP_IN_OTHER_FUNCTION))
		return cmd_fail(cmd, PRM_STAT_BAD_PARAM_ERR, "caps: no other functions");
	pages[page](hca, prm_at(cmd->out, QUERY_HCA_CAP_OUT_CAPABILITY));
	return PRM_STAT_OK;
}

/* Software may ask for less than there is, and gets what there is; the page size of UARs is the one
 * thing that it must not want otherwise. */
enum prm_status caps_set(struct hca *hca, struct cmd *cmd)
{
	uint64_t page = prm_get(cmd->in, CMD_IN_OP_MOD) >> 1;
	const uint8_t *cap = prm_at(cmd->in, SET_HCA_CAP_IN_CAPABILITY);

	(void)hca;
	if (page >= sizeof(pages) / sizeof(pages[0]))
		return cmd_fail(cmd, PRM_STAT_BAD_PARAM_ERR, "caps: no such capability page");
	if (page == PRM_CAP_GENERAL && prm_get(cap, HCA_CAP_LOG_UAR_PAGE_SZ))
		return cmd_fail(cmd, PRM_STAT_BAD_PARAM_ERR, "caps: UAR pages are of 4 KiB");
	return PRM_STAT_OK;
}

enum prm_status caps_query_adapter(struct hca *hca, struct cmd *cmd)
{
	static const char psid[16] = "SFT0000000001";
	uint8_t *adapter = prm_at(cmd->out, QUERY_ADAPTER_OUT_QUERY_ADAPTER_STRUCT);

	(void)hca;
	prm_set(adapter, ADAPTER_IEEE_VENDOR_ID, IEEE_VENDOR_ID);
	memcpy(prm_at(adapter, ADAPTER_VSD_CONTD_PSID), psid, sizeof(psid));
	return PRM_STAT_OK;
}

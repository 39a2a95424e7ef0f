/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * caps.c - capabilities that an mlx4 adapter reports to a kernel driver. The adapter supports
 * nothing beyond these, so tunnels, for example, are absent.
 */
#include "prm/mlx4/caps.h"
#include "softhca/device/core.h"
#include "softhca/device/format/mlx4/cmd/cmd.h"
#include "softhca/device/format/mlx4/firmware.h"

enum {
	MAX_SGES = 32,
	MAX_WQE_SEND = 1008,
	MAX_WQE_RECV = 512,
	LOG_MIN_PAGE = 12,
	ACK_DELAY = 15,
	LOG_BF_PER_PAGE = 3,
	LOG_QPS_PER_GROUP = 8,
	LOG_RSS_TABLE = 7,
	STEERING_QPS = 120,
};

static const struct {
	uint32_t field, value;
} numbers[] = {
	{ M4_CAP_LOG_MAX_SRQ_SIZE, M4_LOG_SRQ_SIZE },
	{ M4_CAP_LOG_MAX_QP_SIZE, M4_LOG_QP_SIZE },
	{ M4_CAP_LOG_RSVD_QPS, M4_LOG_RSVD_QPS },
	{ M4_CAP_LOG_MAX_QPS, M4_LOG_QPS },
	{ M4_CAP_LOG_RSVD_SRQS, M4_LOG_RSVD_QPS },
	{ M4_CAP_LOG_MAX_SRQS, M4_LOG_SRQS },
	{ M4_CAP_LOG_MAX_CQ_SIZE, M4_LOG_CQ_SIZE },
	{ M4_CAP_LOG_RSVD_CQS, M4_LOG_RSVD_QPS },
	{ M4_CAP_LOG_MAX_CQS, M4_LOG_CQS },
	{ M4_CAP_LOG_MAX_MPTS, M4_LOG_MPTS },
	{ M4_CAP_LOG_MAX_EQS, M4_LOG_EQS },
	{ M4_CAP_LOG_MAX_MRW_SIZE, 64 },
	{ M4_CAP_LOG_RSVD_MRWS, 4 },
	{ M4_CAP_ACK_DELAY, ACK_DELAY },
	{ M4_CAP_LOG_MAX_MSG, M4_LOG_MSG_MAX },
	{ M4_CAP_FLAGS_63_32, M4_FLAG_HIGH_LARGE_CQE },
	{ M4_CAP_FLAGS_31_0, M4_FLAG_RC | M4_FLAG_UC | M4_FLAG_UD | M4_FLAG_XRC | M4_FLAG_SRQ |
				     M4_FLAG_WINDOWS | M4_FLAG_ATOMIC | M4_FLAG_UD_AV_PORT |
				     M4_FLAG_UD_MCAST },
	{ M4_CAP_RSVD_UARS, M4_RSVD_UARS },
	{ M4_CAP_UAR_MB, M4_UAR_LOG_MB },
	{ M4_CAP_LOG_MIN_PAGE, LOG_MIN_PAGE },
	{ M4_CAP_BLUEFLAME, 1 },
	{ M4_CAP_LOG_BF_REGISTER, M4_LOG_BF_BYTES },
	{ M4_CAP_LOG_BF_PER_PAGE, LOG_BF_PER_PAGE },
	{ M4_CAP_MAX_SG_SQ, MAX_SGES },
	{ M4_CAP_MAX_WQE_SQ, MAX_WQE_SEND },
	{ M4_CAP_MAX_SG_RQ, MAX_SGES },
	{ M4_CAP_MAX_WQE_RQ, MAX_WQE_RECV },
	{ M4_CAP_LOG_MAX_QP_MCG, LOG_QPS_PER_GROUP },
	{ M4_CAP_LOG_MAX_MCGS, M4_LOG_MCGS },
	{ M4_CAP_LOG_MAX_XRCDS, M4_LOG_XRCDS },
	{ M4_CAP_KEY_FLAGS, M4_KEY_FLAG_WINDOW_2 | M4_KEY_FLAG_WINDOW_2B | M4_KEY_FLAG_LOCAL_INVAL |
				    M4_KEY_FLAG_REMOTE_INVAL | M4_KEY_FLAG_FAST_REG },
	{ M4_CAP_LOG_MAX_PDS, M4_LOG_PDS },
	{ M4_CAP_RDMARC_SIZE, 32 },
	{ M4_CAP_QPC_SIZE, 256 },
	{ M4_CAP_AUX_SIZE, 64 },
	{ M4_CAP_ALT_SIZE, 64 },
	{ M4_CAP_EQC_SIZE, 64 },
	{ M4_CAP_CQC_SIZE, 64 },
	{ M4_CAP_SRQC_SIZE, 64 },
	{ M4_CAP_CMPT_SIZE, 64 },
	{ M4_CAP_MTT_SIZE, M4_MTT_SIZE },
	{ M4_CAP_DMPT_SIZE, M4_DMPT_SIZE },
};

static uint32_t log2_of(uint32_t value)
{
	return 31 - (uint32_t)__builtin_clz(value);
}

/* Adds Ethernet capabilities, as Linux' network driver needs the hash function for RSS, and
 * programs the table's size. */
static void add_caps_of_ethernet(uint8_t *out)
{
	fld_set(out, M4_CAP_FLAGS_31_0, fld_get(out, M4_CAP_FLAGS_31_0) | M4_FLAG_ROCE);
	fld_set(out, M4_CAP_FLAGS_63_32, fld_get(out, M4_CAP_FLAGS_63_32) | M4_FLAG_HIGH_UDP_RSS);
	fld_set(out, M4_CAP_RSS_TOEPLITZ, 1);
	fld_set(out, M4_CAP_LOG_RSS_TABLE, LOG_RSS_TABLE);
	fld_set(out, M4_CAP_STEERING, 1);
	fld_set(out, M4_CAP_STEERING_QPS, STEERING_QPS);
	fld_set(out, M4_CAP_KEY_FLAGS, fld_get(out, M4_CAP_KEY_FLAGS) | M4_KEY_FLAG_ROCE_V2);
}

enum m4_status m4_query_caps(struct hca *hca, struct m4_cmd *cmd)
{
	uint32_t reads = log2_of(hca->config.limits.max_rd_atomic);

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		fld_set(cmd->out, numbers[i].field, numbers[i].value);
	if (hca->config.link_layer == HCA_LINK_ETHERNET)
		add_caps_of_ethernet(cmd->out);
	fld_set(cmd->out, M4_CAP_PORTS, hca->config.num_ports);
	fld_set(cmd->out, M4_CAP_LOG_MAX_REQUESTER, reads);
	fld_set(cmd->out, M4_CAP_LOG_MAX_RESPONDER, reads);
	fld_set(cmd->out, M4_CAP_LOG_MAX_RDMA, M4_LOG_QPS + reads);
	fld_set(cmd->out, M4_CAP_MAX_ICM, M4_ICM_MAX);
	return M4_STAT_OK;
}

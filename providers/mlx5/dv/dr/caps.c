/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * caps.c - queries what an adapter reports about tables whose entries the library writes.
 */
#include "providers/mlx5/dv/dr/caps.h"

#include "prm/mlx5/caps.h"
#include "prm/mlx5/cmd.h"
#include "providers/mlx5/context.h"
#include "providers/mlx5/devx_cmd.h"

static int page_query(struct ibv_context *context, enum prm_cap page, uint8_t *out, size_t size)
{
	uint8_t in[PRM_CMD_IN_SIZE] = { 0 };

	fld_set(in, CMD_IN_OPCODE, PRM_OP_QUERY_HCA_CAP);
	fld_set(in, CMD_IN_OP_MOD, (unsigned int)page << 1 | 1);
	return mlx5_devx_run(to_mctx(context), in, sizeof(in), out, size);
}

/* Sets *LOOPS to whether the adapter supports RC QPs that are connected to themselves, which write
 * entries. Returns 0 or an errno. PRM: fl_rc_qp_when_roce_enabled */
static int loops_query(struct ibv_context *context, const uint8_t *general, bool *loops)
{
	uint8_t out[PRM_CMD_OUT_SIZE + PRM_HCA_CAP_SIZE] = { 0 };
	int ret;

	if (!fld_get(general, HCA_CAP_ROCE)) {
		*loops = fld_get(general, HCA_CAP_FL_RC_QP_WHEN_ROCE_DISABLED);
		return 0;
	}
	ret = page_query(context, PRM_CAP_ROCE, out, sizeof(out));
	if (!ret)
		*loops = fld_get(fld_at(out, QUERY_HCA_CAP_OUT_CAPABILITY),
				 ROCE_CAP_FL_RC_QP_WHEN_ROCE_ENABLED);
	return ret;
}

static void take_nic(const uint8_t *nic, bool loops, struct dr_caps *caps)
{
	const uint8_t *rx = fld_at(nic, FLOW_NIC_CAP_FLOW_TABLE_PROPERTIES_NIC_RECEIVE);
	const uint8_t *tx = fld_at(nic, FLOW_NIC_CAP_FLOW_TABLE_PROPERTIES_NIC_TRANSMIT);

	caps->writes_rx = loops && fld_get(rx, FT_PROP_SW_OWNER_V2);
	caps->writes_tx = loops && fld_get(tx, FT_PROP_SW_OWNER_V2);
	caps->rx_levels = (uint8_t)fld_get(rx, FT_PROP_MAX_FT_LEVEL);
	caps->tx_levels = (uint8_t)fld_get(tx, FT_PROP_MAX_FT_LEVEL);
	caps->rx_drop = fld_get(nic, FLOW_NIC_CAP_SW_STEERING_RX_DROP_ICM_ADDRESS);
	caps->tx_drop = fld_get(nic, FLOW_NIC_CAP_SW_STEERING_TX_DROP_ICM_ADDRESS);
	caps->tx_allow = fld_get(nic, FLOW_NIC_CAP_SW_STEERING_TX_ALLOW_ICM_ADDRESS);
}

int mlx5_dr_caps_query(struct ibv_context *context, struct dr_caps *caps)
{
	uint8_t out[PRM_CMD_OUT_SIZE + PRM_HCA_CAP_SIZE] = { 0 };
	const uint8_t *page = fld_at(out, QUERY_HCA_CAP_OUT_CAPABILITY);
	bool loops = false;
	int ret = page_query(context, PRM_CAP_GENERAL, out, sizeof(out));

	if (ret)
		return ret;
	caps->gvmi = (uint16_t)fld_get(page, HCA_CAP_VHCA_ID);
	caps->format = (uint8_t)fld_get(page, HCA_CAP_STEERING_FORMAT_VERSION);
	ret = loops_query(context, page, &loops);
	if (!ret)
		ret = page_query(context, PRM_CAP_FLOW_TABLE, out, sizeof(out));
	if (!ret)
		take_nic(page, loops, caps);
	return ret;
}

int mlx5_dr_caps_query_lists(struct ibv_context *context, uint64_t *start, bool *patterns)
{
	uint8_t out[PRM_CMD_OUT_SIZE + PRM_HCA_CAP_SIZE] = { 0 };
	const uint8_t *page = fld_at(out, QUERY_HCA_CAP_OUT_CAPABILITY);
	int ret = page_query(context, PRM_CAP_DEV_MEM, out, sizeof(out));

	if (ret)
		return ret;
	*start = fld_get(page, MEM_CAP_CHANGE_ICM_START);
	*patterns = fld_get(page, MEM_CAP_LOG_PATTERN_ICM_SIZE) != 0;
	return 0;
}

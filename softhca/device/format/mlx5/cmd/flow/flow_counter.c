/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * flow_counter.c - commands on counters of flow table entries.
 */
#include "prm/mlx5/cmd.h"
#include "prm/mlx5/flow.h"
#include "prm/mlx5/vport.h"
#include "softhca/device/eth/eth.h"
#include "softhca/device/format/mlx5/cmd/cmd.h"

enum prm_status flow_counter_alloc(struct hca *hca, struct cmd *cmd)
{
	const uint32_t bulk = (uint32_t)fld_get(cmd->in, ALLOC_FLOW_COUNTER_IN_FLOW_COUNTER_BULK);
	struct flow_counter *counter;
	int ret;

	if (fld_get(cmd->in, ALLOC_FLOW_COUNTER_IN_FLOW_COUNTER_BULK_LOG_SIZE))
		return cmd_fail(cmd, PRM_STAT_BAD_PARAM_ERR,
				"flow: more than flow_counter_bulk_log_max_alloc");
	if (bulk && hca->config.kernel_driver)
		return cmd_fail(cmd, PRM_STAT_BAD_PARAM_ERR, "flow: bulks are not announced");
	if (bulk & (bulk - 1))
		return cmd_fail(cmd, PRM_STAT_BAD_PARAM_ERR, "flow: one size for a bulk");
	ret = flow_counter_add(hca, bulk ? bulk * FLOW_BULK_UNIT : 1, &counter);
	if (ret)
		return cmd_errno(cmd, ret, "flow: no more counters");
	fld_set(cmd->out, ALLOC_FLOW_COUNTER_OUT_FLOW_COUNTER_ID, counter->n);
	return PRM_STAT_OK;
}

/* Queries one counter, or a range if a count is given. Counters that do not exist read as 0. */
enum prm_status flow_counter_query(struct hca *hca, struct cmd *cmd)
{
	uint32_t n = fld_get(cmd->in, QUERY_FLOW_COUNTER_IN_FLOW_COUNTER_ID);
	uint32_t bulk = fld_get(cmd->in, QUERY_FLOW_COUNTER_IN_NUM_OF_COUNTERS);
	uint32_t count = bulk ? bulk : 1;
	uint8_t *out = fld_at(cmd->out, QUERY_FLOW_COUNTER_OUT_FLOW_STATISTICS);
	size_t room = cmd_out_room(cmd) - (size_t)(out - cmd->out);

	if (count > room / PRM_TRAFFIC_COUNTER_SIZE)
		return cmd_fail(cmd, PRM_STAT_BAD_OUTP_LEN_ERR, "flow: no room for the counters");
	if (!bulk && !res_find(&hca->eth->flow_counters, n))
		return cmd_fail(cmd, PRM_STAT_BAD_RES_ERR, "flow: no such counter");
	for (uint32_t i = 0; i < count; i++, out += PRM_TRAFFIC_COUNTER_SIZE) {
		struct flow_counter *counter = res_find(&hca->eth->flow_counters, n + i);

		if (!counter)
			continue;
		fld_set(out, TRAFFIC_COUNTER_PACKETS, counter->packets);
		fld_set(out, TRAFFIC_COUNTER_OCTETS, counter->bytes);
		if (fld_get(cmd->in, QUERY_FLOW_COUNTER_IN_CLEAR))
			counter->packets = counter->bytes = 0;
	}
	return PRM_STAT_OK;
}

enum prm_status flow_counter_dealloc(struct hca *hca, struct cmd *cmd)
{
	uint32_t n = fld_get(cmd->in, DEALLOC_FLOW_COUNTER_IN_FLOW_COUNTER_ID);
	struct flow_counter *counter = res_find(&hca->eth->flow_counters, n);

	if (!counter || !counter->bulk)
		return cmd_fail(cmd, PRM_STAT_BAD_RES_ERR,
				"flow: no such counter, or not the first of its bulk");
	if (flow_counter_in_use(hca, counter))
		return cmd_fail(cmd, PRM_STAT_BAD_RES_STATE_ERR, "flow: an entry counts with it");
	flow_counter_remove(hca, counter);
	return PRM_STAT_OK;
}

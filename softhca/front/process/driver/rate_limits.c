/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rate_limits.c - rates of raw packet QPs in the adapter's table. See rate_limits.h.
 */
#include <errno.h>
#include <stdlib.h>

#include "prm/mlx5/caps.h"
#include "prm/mlx5/cmd.h"
#include "prm/mlx5/pacing.h"
#include "softhca/front/process/driver/adapter.h"
#include "softhca/front/process/driver/rate_limits.h"

struct rate_table {
	uint32_t size;
	struct {
		struct rate_limit limit;
		unsigned int users;
	} entry[]; /* that of 0 stays unused */
};

static int get_table(struct adapter *adapter, struct rate_table **table)
{
	uint32_t size = fld_get(adapter->qos_caps, QOS_CAP_PACKET_PACING_RATE_TABLE_SIZE);

	if (!fld_get(adapter->qos_caps, QOS_CAP_PACKET_PACING))
		return EOPNOTSUPP;
	if (!adapter->rates) {
		adapter->rates = calloc(1, sizeof(**table) + size * sizeof((*table)->entry[0]));
		if (!adapter->rates)
			return ENOMEM;
		adapter->rates->size = size;
	}
	*table = adapter->rates;
	return 0;
}

static int set_rate(struct adapter *adapter, uint32_t index, const struct rate_limit *limit)
{
	uint8_t in[PRM_SET_PP_RATE_LIMIT_IN_SIZE] = { 0 }, out[PRM_CMD_OUT_SIZE];
	uint8_t *context = fld_at(in, SET_PP_RATE_LIMIT_IN_CTX);

	fld_set(in, CMD_IN_OPCODE, PRM_OP_SET_PP_RATE_LIMIT);
	fld_set(in, SET_PP_RATE_LIMIT_IN_RATE_LIMIT_INDEX, index);
	fld_set(context, PP_CONTEXT_RATE_LIMIT, limit->rate);
	fld_set(context, PP_CONTEXT_BURST_UPPER_BOUND, limit->burst);
	fld_set(context, PP_CONTEXT_TYPICAL_PACKET_SIZE, limit->packet);
	return adapter_command(adapter, in, sizeof(in), out, sizeof(out));
}

static bool is_same(const struct rate_limit *a, const struct rate_limit *b)
{
	return a->rate == b->rate && a->burst == b->burst && a->packet == b->packet;
}

/* The function finds the entry with LIMIT, or else a free one; 0: there is neither. */
static uint32_t find_limit(const struct rate_table *table, const struct rate_limit *limit)
{
	uint32_t unused = 0;

	for (uint32_t i = 1; i < table->size; i++) {
		if (!table->entry[i].users)
			unused = unused ? unused : i;
		else if (is_same(&table->entry[i].limit, limit))
			return i;
	}
	return unused;
}

static bool is_in_range(const struct adapter *adapter, uint32_t rate)
{
	return rate >= fld_get(adapter->qos_caps, QOS_CAP_PACKET_PACING_MIN_RATE) &&
	       rate <= fld_get(adapter->qos_caps, QOS_CAP_PACKET_PACING_MAX_RATE);
}

int rate_limit_get(struct adapter *adapter, const struct rate_limit *limit, uint32_t *index)
{
	struct rate_table *table;
	int ret;

	*index = 0;
	if (!limit->rate)
		return 0;
	ret = get_table(adapter, &table);
	if (ret)
		return ret;
	if (!is_in_range(adapter, limit->rate))
		return EINVAL;
	*index = find_limit(table, limit);
	if (!*index)
		return ENOSPC;
	if (!table->entry[*index].users)
		ret = set_rate(adapter, *index, limit);
	if (ret)
		return ret;
	table->entry[*index].limit = *limit;
	table->entry[*index].users++;
	return 0;
}

void rate_limit_put(struct adapter *adapter, uint32_t index)
{
	static const struct rate_limit none;

	if (index && !--adapter->rates->entry[index].users)
		set_rate(adapter, index, &none);
}

void rate_limits_free(struct adapter *adapter)
{
	free(adapter->rates);
}

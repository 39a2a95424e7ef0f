/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rate_limits.c - entries of the adapter's rate table. See rate_limits.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "prm/mlx5/caps.h"
#include "prm/mlx5/cmd.h"
#include "softhca/front/process/driver/adapter.h"
#include "softhca/front/process/driver/rate_limits.h"

struct rate_table {
	uint32_t size;
	struct rate_entry entry[]; /* entry 0 stays unused, as index 0 means no limit */
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

/* Sets entry INDEX of the device's rate table to ENTRY, or frees it if ENTRY is NULL. */
static int set_rate(struct adapter *adapter, uint32_t index, uint16_t uid,
		    const struct rate_entry *entry)
{
	uint8_t in[PRM_SET_PP_RATE_LIMIT_IN_SIZE] = { 0 }, out[PRM_CMD_OUT_SIZE];

	fld_set(in, CMD_IN_OPCODE, PRM_OP_SET_PP_RATE_LIMIT);
	fld_set(in, CMD_IN_UID, uid);
	fld_set(in, SET_PP_RATE_LIMIT_IN_RATE_LIMIT_INDEX, index);
	if (entry)
		memcpy(fld_at(in, SET_PP_RATE_LIMIT_IN_CTX), entry->context,
		       sizeof(entry->context));
	return adapter_command(adapter, in, sizeof(in), out, sizeof(out));
}

static bool is_same(const struct rate_entry *a, const struct rate_entry *b)
{
	return !a->dedicated && !b->dedicated && a->uid == b->uid &&
	       !memcmp(a->context, b->context, sizeof(a->context));
}

/* Returns the index of an entry equal to WANTED, else of a free entry, else 0. */
static uint32_t find_entry(const struct rate_table *table, const struct rate_entry *wanted)
{
	uint32_t unused = 0;

	for (uint32_t i = 1; i < table->size; i++) {
		if (!table->entry[i].users)
			unused = unused ? unused : i;
		else if (is_same(&table->entry[i], wanted))
			return i;
	}
	return unused;
}

static bool is_in_range(const struct adapter *adapter, uint32_t rate)
{
	return rate && rate >= fld_get(adapter->qos_caps, QOS_CAP_PACKET_PACING_MIN_RATE) &&
	       rate <= fld_get(adapter->qos_caps, QOS_CAP_PACKET_PACING_MAX_RATE);
}

int rate_entry_get(struct adapter *adapter, const struct rate_entry *wanted, uint32_t *index)
{
	struct rate_entry *entry;
	struct rate_table *table;
	int ret = get_table(adapter, &table);

	if (ret)
		return ret;
	if (!is_in_range(adapter, fld_get(wanted->context, PP_CONTEXT_RATE_LIMIT)))
		return EINVAL;
	*index = find_entry(table, wanted);
	if (!*index)
		return ENOSPC;
	entry = &table->entry[*index];
	if (!entry->users) {
		ret = set_rate(adapter, *index, wanted->uid, wanted);
		if (ret)
			return ret;
		*entry = *wanted;
		entry->users = 0;
	}
	entry->users++;
	return 0;
}

int rate_limit_get(struct adapter *adapter, const struct rate_limit *limit, uint32_t *index)
{
	struct rate_entry entry = { .uid = PRM_SHARED_UID };

	*index = 0;
	if (!limit->rate)
		return 0;
	if (!fld_get(adapter->qos_caps, QOS_CAP_PACKET_PACING_UID))
		entry.uid = 0;
	fld_set(entry.context, PP_CONTEXT_RATE_LIMIT, limit->rate);
	fld_set(entry.context, PP_CONTEXT_BURST_UPPER_BOUND, limit->burst);
	fld_set(entry.context, PP_CONTEXT_TYPICAL_PACKET_SIZE, limit->packet);
	return rate_entry_get(adapter, &entry, index);
}

void rate_limit_put(struct adapter *adapter, uint32_t index)
{
	struct rate_entry *entry;

	if (!index)
		return;
	entry = &adapter->rates->entry[index];
	if (!--entry->users)
		set_rate(adapter, index, entry->uid, NULL);
}

void rate_limits_free(struct adapter *adapter)
{
	free(adapter->rates);
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cmd_mcg.c - multicast groups of mlx4: software keeps them, entry by entry, in a table that it
 * reads and writes by commands. What an entry says counts from the moment that it is written.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "prm/mlx4/mcg.h"
#include "softhca/device/core.h"
#include "softhca/device/format/mlx4/cmd.h"
#include "softhca/device/format/mlx4/firmware.h"

struct m4_group {
	uint8_t entry[M4_MCG_SIZE_MAX];
};

static uint32_t table_size(const struct hca *hca)
{
	return 1u << fld_get(hca->mlx4->init, M4_INIT_LOG_MCGS);
}

static uint32_t entry_size(const struct hca *hca)
{
	return 1u << fld_get(hca->mlx4->init, M4_INIT_LOG_MCG);
}

void m4_groups_free(struct hca *hca)
{
	for (uint32_t i = 0; hca->mlx4->group && i < 1u << M4_LOG_MCGS; i++)
		free(hca->mlx4->group[i]);
	free(hca->mlx4->group);
	hca->mlx4->group = NULL;
}

/* Any function of the GID does, if it is a good one. FNV-1a */
enum m4_status m4_mcg_hash(struct hca *hca, struct m4_cmd *cmd)
{
	uint32_t sum = 2166136261u, size = 1u << fld_get(hca->mlx4->init, M4_INIT_LOG_HASH);

	for (unsigned int i = 0; i < 16; i++)
		sum = (sum ^ cmd->in[i]) * 16777619u;
	cmd->order->out = (sum ^ sum >> 16) & (size - 1) & 0xffff;
	return M4_STAT_OK;
}

static const struct m4_group *group_find(const struct hca *hca, uint32_t index)
{
	return hca->mlx4->group ? hca->mlx4->group[index] : NULL;
}

enum m4_status m4_mcg_read(struct hca *hca, struct m4_cmd *cmd)
{
	uint32_t index = cmd->order->in_modifier;
	const struct m4_group *group;

	if (index >= table_size(hca))
		return m4_fail(cmd, M4_STAT_BAD_INDEX, "mcg: index out of range");
	group = group_find(hca, index);
	if (group)
		memcpy(cmd->out, group->entry, entry_size(hca));
	return M4_STAT_OK;
}

static struct qp *member_of(struct hca *hca, const uint8_t *entry, uint32_t i)
{
	const uint8_t *member = fld_at(entry, M4_MCG_QPS) + (size_t)i * 4;

	return res_get(&hca->qps, fld_get(member, M4_MCG_QPN));
}

static const char *entry_check(struct hca *hca, const uint8_t *entry)
{
	uint64_t members = fld_get(entry, M4_MCG_MEMBERS);

	if (members > (entry_size(hca) - M4_MCG_HEAD) / 4)
		return "mcg: more members than an entry has room for";
	if (members && fld_get(entry, M4_MCG_PROTOCOL) != M4_MCG_PROTOCOL_IB)
		return "mcg: a protocol other than InfiniBand";
	if (fld_get(entry, M4_MCG_NEXT) >= table_size(hca))
		return "mcg: the next entry is behind the table";
	return NULL;
}

/* A member that has gone, or is no datagram QP, hears nothing. */
static int entry_join(struct hca *hca, const uint8_t *entry)
{
	int ret = 0;

	for (uint32_t i = 0; !ret && i < fld_get(entry, M4_MCG_MEMBERS); i++) {
		const uint8_t *member = fld_at(entry, M4_MCG_QPS) + (size_t)i * 4;
		struct qp *qp = member_of(hca, entry, i);

		if (!qp || qp->service != FABRIC_UD)
			continue;
		qp->blocks_own_multicast = fld_get(member, M4_MCG_BLOCKS_OWN);
		ret = mcg_join(hca, qp, fld_at(entry, M4_MCG_GID));
	}
	return ret;
}

static void entry_leave(struct hca *hca, const uint8_t *entry)
{
	for (uint32_t i = 0; i < fld_get(entry, M4_MCG_MEMBERS); i++) {
		const struct qp *qp = member_of(hca, entry, i);

		if (qp)
			mcg_leave(hca, qp, fld_at(entry, M4_MCG_GID));
	}
}

static struct m4_group *group_make(struct hca *hca, uint32_t index)
{
	struct m4_group **groups = hca->mlx4->group;

	if (!groups)
		groups = hca->mlx4->group = calloc(1u << M4_LOG_MCGS, sizeof(*groups));
	if (groups && !groups[index])
		groups[index] = calloc(1, sizeof(**groups));
	return groups ? groups[index] : NULL;
}

/* The members of ENTRY are the group's, or, if one of them finds no room, those that it had. */
static int group_set(struct hca *hca, struct m4_group *group, const uint8_t *entry)
{
	int ret;

	entry_leave(hca, group->entry);
	ret = entry_join(hca, entry);
	if (ret) {
		entry_leave(hca, entry);
		entry_join(hca, group->entry);
		return ret;
	}
	memcpy(group->entry, entry, entry_size(hca));
	return 0;
}

enum m4_status m4_mcg_write(struct hca *hca, struct m4_cmd *cmd)
{
	uint32_t index = cmd->order->in_modifier;
	struct m4_group *group;
	const char *why;

	if (index >= table_size(hca))
		return m4_fail(cmd, M4_STAT_BAD_INDEX, "mcg: index out of range");
	why = entry_check(hca, cmd->in);
	if (why)
		return m4_fail(cmd, M4_STAT_BAD_PARAM, why);
	group = group_make(hca, index);
	if (!group)
		return m4_errno(cmd, ENOMEM, "mcg");
	return group_set(hca, group, cmd->in) ? m4_errno(cmd, ENOSPC, "mcg: too many members")
					      : M4_STAT_OK;
}

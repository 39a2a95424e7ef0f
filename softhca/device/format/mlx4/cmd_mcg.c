/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cmd_mcg.c - multicast groups of mlx4: software keeps them, entry by entry, in a table that it
 * reads and writes by commands.
 *
 * An adapter that looks for a group begins where the hash of its GID says, and goes on where an
 * entry says, up to the first one that has the GID. So of two entries of a group, one counts, and
 * one that nothing leads to does not: Linux links an entry after it has written it, and leaves a
 * copy behind when it moves one.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "prm/mlx4/mcg.h"
#include "softhca/device/core.h"
#include "softhca/device/format/mlx4/cmd.h"
#include "softhca/device/format/mlx4/firmware.h"

struct m4_group {
	bool heard; /* the members hear what is sent to the group */
	uint8_t entry[M4_MCG_SIZE_MAX];
};

static uint32_t table_size(const struct hca *hca)
{
	return 1u << fld_get(hca->mlx4->init, M4_INIT_LOG_MCGS);
}

/* A driver that steers by rules has no table. */
static bool has_entry(const struct hca *hca, uint32_t index)
{
	return !m4_flows_count(hca) && index < table_size(hca);
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
static uint32_t hash(const struct hca *hca, const uint8_t *gid)
{
	uint32_t sum = 2166136261u, size = 1u << fld_get(hca->mlx4->init, M4_INIT_LOG_HASH);

	for (unsigned int i = 0; i < 16; i++)
		sum = (sum ^ gid[i]) * 16777619u;
	return (sum ^ sum >> 16) & (size - 1) & 0xffff;
}

enum m4_status m4_mcg_hash(struct hca *hca, struct m4_cmd *cmd)
{
	cmd->order->out = hash(hca, cmd->in);
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

	if (!has_entry(hca, index))
		return m4_fail(cmd, M4_STAT_BAD_INDEX, "mcg: index out of range, or no table");
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

/* The function returns the entry by which the adapter finds the group of a GID, or NULL. */
static const struct m4_group *group_search(const struct hca *hca, const uint8_t *gid)
{
	uint32_t index = hash(hca, gid);

	for (uint32_t steps = 0; steps < table_size(hca); steps++) {
		const struct m4_group *group = group_find(hca, index);

		if (!group)
			return NULL;
		if (fld_get(group->entry, M4_MCG_MEMBERS) &&
		    !memcmp(fld_at(group->entry, M4_MCG_GID), gid, 16))
			return group;
		index = fld_get(group->entry, M4_MCG_NEXT);
		if (!index)
			return NULL;
	}
	return NULL;
}

static bool group_counts(const struct hca *hca, const struct m4_group *group)
{
	return group && group_search(hca, fld_at(group->entry, M4_MCG_GID)) == group;
}

static void group_silence(struct hca *hca, struct m4_group *group)
{
	if (group->heard)
		entry_leave(hca, group->entry);
	group->heard = false;
}

/* What was written may lead to other entries than before. */
static int groups_listen(struct hca *hca)
{
	struct m4_group **group = hca->mlx4->group;
	uint32_t size = table_size(hca);
	int ret = 0;

	for (uint32_t i = 0; i < size; i++)
		if (group[i] && !group_counts(hca, group[i]))
			group_silence(hca, group[i]);
	for (uint32_t i = 0; !ret && i < size; i++) {
		if (!group_counts(hca, group[i]) || group[i]->heard)
			continue;
		group[i]->heard = true;
		ret = entry_join(hca, group[i]->entry);
	}
	return ret;
}

static int group_replace(struct hca *hca, struct m4_group *group, const uint8_t *entry)
{
	group_silence(hca, group);
	memcpy(group->entry, entry, entry_size(hca));
	return groups_listen(hca);
}

/* The members of ENTRY are the group's, or, if one of them finds no room, those that it had. */
static int group_set(struct hca *hca, struct m4_group *group, const uint8_t *entry)
{
	uint8_t before[M4_MCG_SIZE_MAX];
	int ret;

	memcpy(before, group->entry, sizeof(before));
	ret = group_replace(hca, group, entry);
	if (ret)
		group_replace(hca, group, before);
	return ret;
}

enum m4_status m4_mcg_write(struct hca *hca, struct m4_cmd *cmd)
{
	uint32_t index = cmd->order->in_modifier;
	struct m4_group *group;
	const char *why;

	if (!has_entry(hca, index))
		return m4_fail(cmd, M4_STAT_BAD_INDEX, "mcg: index out of range, or no table");
	why = entry_check(hca, cmd->in);
	if (why)
		return m4_fail(cmd, M4_STAT_BAD_PARAM, why);
	group = group_make(hca, index);
	if (!group)
		return m4_errno(cmd, ENOMEM, "mcg");
	return group_set(hca, group, cmd->in) ? m4_errno(cmd, ENOSPC, "mcg: too many members")
					      : M4_STAT_OK;
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * mcg.c - mlx4's multicast groups: software keeps them in a table, and reads and writes its entries
 * by commands.
 *
 * An adapter finds a group from the entry at the hash of its GID along a chain of entries, and
 * takes the first with the GID. So of two entries for a group only one counts, and an unreachable
 * entry does not count: Linux links an entry after writing it, and leaves a copy behind when it
 * moves one. An entry belongs to the first chain that reaches it, so a command visits each entry
 * once, even if a guest has written a loop.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "prm/mlx4/mcg.h"
#include "softhca/device/core.h"
#include "softhca/device/format/mlx4/cmd/cmd.h"
#include "softhca/device/format/mlx4/firmware.h"
#include "util/bits.h"

struct m4_group {
	bool heard;     /* its members receive the group's messages */
	bool counts;    /* the adapter finds the GID by this entry */
	uint32_t round; /* pass in which a chain last reached it, */
	uint32_t order; /* and its position in that pass */
	uint8_t entry[M4_MCG_SIZE_MAX];
};

struct m4_groups {
	uint32_t round;
	uint32_t num_found;
	struct m4_group *by_index[1u << M4_LOG_MCGS];
	struct m4_group *found[1u << M4_LOG_MCGS]; /* groups found in this pass, by their hash */
};

static uint32_t table_size(const struct hca *hca)
{
	return 1u << fld_get(hca->mlx4->init, M4_INIT_LOG_MCGS);
}

/* A driver that uses steering rules has no table, so there is no entry. */
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
	struct m4_groups *groups = hca->mlx4->groups;

	for (uint32_t i = 0; groups && i < ARRAY_SIZE(groups->by_index); i++)
		free(groups->by_index[i]);
	free(groups);
	hca->mlx4->groups = NULL;
}

/* Hashes a GID with FNV-1a; the driver asks the adapter, so any function does. */
static uint32_t gid_hash(const struct hca *hca, const uint8_t *gid)
{
	uint32_t sum = 2166136261u, size = 1u << fld_get(hca->mlx4->init, M4_INIT_LOG_HASH);

	for (unsigned int i = 0; i < 16; i++)
		sum = (sum ^ gid[i]) * 16777619u;
	return (sum ^ sum >> 16) & (size - 1) & 0xffff;
}

enum m4_status m4_mcg_hash(struct hca *hca, struct m4_cmd *cmd)
{
	cmd->order->out = gid_hash(hca, cmd->in);
	return M4_STAT_OK;
}

static struct m4_group *group_find(const struct hca *hca, uint32_t index)
{
	return hca->mlx4->groups ? hca->mlx4->groups->by_index[index] : NULL;
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

/* A member that does not exist or is not a datagram QP receives nothing. */
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
	struct m4_groups *groups = hca->mlx4->groups;

	if (!groups)
		groups = hca->mlx4->groups = calloc(1, sizeof(*groups));
	if (groups && !groups->by_index[index])
		groups->by_index[index] = calloc(1, sizeof(struct m4_group));
	return groups ? groups->by_index[index] : NULL;
}

static const uint8_t *gid_of(const struct m4_group *group)
{
	return fld_at(group->entry, M4_MCG_GID);
}

/* Orders entries by GID, and those with the same GID by their position in the chain. */
static int group_compare(const void *a, const void *b)
{
	const struct m4_group *one = *(struct m4_group *const *)a;
	const struct m4_group *other = *(struct m4_group *const *)b;
	int sign = memcmp(gid_of(one), gid_of(other), 16);

	return sign ? sign : one->order < other->order ? -1 : 1;
}

/* Notes the entries of a chain that begins at their GIDs' hash. */
static void chain_follow(const struct hca *hca, uint32_t begin)
{
	struct m4_groups *groups = hca->mlx4->groups;
	uint32_t index = begin, order = 0;

	do {
		struct m4_group *group = group_find(hca, index);

		if (!group || group->round == groups->round)
			return;
		group->round = groups->round;
		group->order = order++;
		if (fld_get(group->entry, M4_MCG_MEMBERS) && gid_hash(hca, gid_of(group)) == begin)
			groups->found[groups->num_found++] = group;
		index = fld_get(group->entry, M4_MCG_NEXT);
	} while (index);
}

static void groups_count(const struct hca *hca)
{
	struct m4_groups *groups = hca->mlx4->groups;

	groups->round++;
	groups->num_found = 0;
	for (uint32_t i = 0; i < table_size(hca); i++)
		if (groups->by_index[i])
			groups->by_index[i]->counts = false;
	for (uint32_t i = 0; i < 1u << fld_get(hca->mlx4->init, M4_INIT_LOG_HASH); i++)
		chain_follow(hca, i);
	qsort(groups->found, groups->num_found, sizeof(groups->found[0]), group_compare);
	for (uint32_t i = 0; i < groups->num_found; i++)
		groups->found[i]->counts =
			!i || memcmp(gid_of(groups->found[i - 1]), gid_of(groups->found[i]), 16);
}

static void group_silence(struct hca *hca, struct m4_group *group)
{
	if (group->heard)
		entry_leave(hca, group->entry);
	group->heard = false;
}

/* Walks all chains again, as a written entry may change them. */
static int groups_listen(struct hca *hca)
{
	struct m4_groups *groups = hca->mlx4->groups;
	int ret = 0;

	groups_count(hca);
	for (uint32_t i = 0; i < table_size(hca); i++)
		if (groups->by_index[i] && !groups->by_index[i]->counts)
			group_silence(hca, groups->by_index[i]);
	for (uint32_t i = 0; !ret && i < groups->num_found; i++) {
		struct m4_group *group = groups->found[i];

		if (!group->counts || group->heard)
			continue;
		group->heard = true;
		ret = entry_join(hca, group->entry);
	}
	return ret;
}

static int group_replace(struct hca *hca, struct m4_group *group, const uint8_t *entry)
{
	group_silence(hca, group);
	memcpy(group->entry, entry, entry_size(hca));
	return groups_listen(hca);
}

/* Makes ENTRY's members the group's; if one cannot be added, restores the old ones. */
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

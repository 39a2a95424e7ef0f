/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * mcg.c - multicast groups: which QPs receive the datagrams sent to a GID.
 *
 * Few programs join more than a few groups, so a list does. ud.c walks it for each such datagram.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "prm/mlx5/cmd.h"
#include "prm/mlx5/mcg.h"
#include "softhca/device/core.h"

static struct mcg_member *member_find(struct hca *hca, const uint8_t *gid, const struct qp *qp)
{
	struct mcg_member *member;

	LIST_FOREACH(member, &hca->mcg_members, entry)
		if (member->qp == qp && !memcmp(member->gid, gid, sizeof(member->gid)))
			return member;
	return NULL;
}

static bool has_room(struct hca *hca, const uint8_t *gid)
{
	unsigned int members = 0, in_group = 0;
	struct mcg_member *member;

	LIST_FOREACH(member, &hca->mcg_members, entry) {
		members++;
		in_group += !memcmp(member->gid, gid, sizeof(member->gid));
	}
	return members < MCG_MAX && in_group < MCG_MAX_QPS;
}

static void member_drop(struct mcg_member *member)
{
	LIST_REMOVE(member, entry);
	free(member);
}

/* A QP that joins a group twice is in it once. */
enum prm_status mcg_attach(struct hca *hca, struct cmd *cmd)
{
	struct qp *qp = res_get(&hca->qps, fld_get(cmd->in, MCG_IN_QPN));
	const uint8_t *gid = fld_at(cmd->in, MCG_IN_MULTICAST_GID);
	struct mcg_member *member;

	if (!qp)
		return cmd_fail(cmd, PRM_STAT_BAD_RES_ERR, "mcg: no such QP");
	if (qp->service != FABRIC_UD)
		return cmd_fail(cmd, PRM_STAT_BAD_PARAM_ERR, "mcg: not a datagram QP");
	if (member_find(hca, gid, qp))
		return PRM_STAT_OK;
	if (!has_room(hca, gid))
		return cmd_fail(cmd, PRM_STAT_LIM_ERR, "mcg: more members than max_qp_mcg allows");
	member = malloc(sizeof(*member));
	if (!member)
		return cmd_errno(cmd, ENOMEM, "mcg");
	memcpy(member->gid, gid, sizeof(member->gid));
	member->qp = qp;
	LIST_INSERT_HEAD(&hca->mcg_members, member, entry);
	return PRM_STAT_OK;
}

enum prm_status mcg_detach(struct hca *hca, struct cmd *cmd)
{
	struct qp *qp = res_get(&hca->qps, fld_get(cmd->in, MCG_IN_QPN));
	struct mcg_member *member = member_find(hca, fld_at(cmd->in, MCG_IN_MULTICAST_GID), qp);

	if (!qp || !member)
		return cmd_fail(cmd, PRM_STAT_BAD_RES_ERR, "mcg: not a member of that group");
	member_drop(member);
	return PRM_STAT_OK;
}

void mcg_forget(struct hca *hca, struct qp *qp)
{
	struct mcg_member *member, *next;

	for (member = LIST_FIRST(&hca->mcg_members); member; member = next) {
		next = LIST_NEXT(member, entry);
		if (member->qp == qp)
			member_drop(member);
	}
}

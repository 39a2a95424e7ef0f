/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * mcg.c - multicast groups: which QPs receive the datagrams sent to a GID.
 *
 * One list holds all memberships, as programs rarely join more than a few groups; ud.c walks it for
 * each multicast datagram. IBTA vol 1, 10.5 (multicast).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

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

int mcg_join(struct hca *hca, struct qp *qp, const uint8_t gid[16])
{
	struct mcg_member *member;

	if (member_find(hca, gid, qp))
		return 0;
	if (!has_room(hca, gid))
		return ENOSPC;
	member = malloc(sizeof(*member));
	if (!member)
		return ENOMEM;
	memcpy(member->gid, gid, sizeof(member->gid));
	member->qp = qp;
	LIST_INSERT_HEAD(&hca->mcg_members, member, entry);
	return 0;
}

bool mcg_leave(struct hca *hca, const struct qp *qp, const uint8_t gid[16])
{
	struct mcg_member *member = member_find(hca, gid, qp);

	if (member)
		member_drop(member);
	return member;
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

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * mcast.c - attaches UD QPs to multicast groups.
 *
 * The kernel keeps GID and LID; the device knows only the GID. A program cannot destroy a QP with
 * groups, but closing the file does.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/ib_user_verbs.h>

#include "ib/packet.h"
#include "prm/mlx5/cmd.h"
#include "prm/mlx5/mcg.h"
#include "softhca/front/process/uverbs/objects.h"
#include "softhca/inet.h"

struct mcast {
	LIST_ENTRY(mcast) in_qp;
	uint16_t lid;
	uint8_t gid[16];
};

static int group_command(struct adapter *adapter, uint32_t opcode, uint32_t qpn,
			 const uint8_t gid[16])
{
	uint8_t in[PRM_MCG_IN_SIZE] = { 0 }, out[PRM_CMD_OUT_SIZE];

	if (adapter->dead)
		return opcode == PRM_OP_DETACH_FROM_MCG ? 0 : EIO;
	fld_set(in, CMD_IN_OPCODE, opcode);
	fld_set(in, MCG_IN_QPN, qpn);
	memcpy(fld_at(in, MCG_IN_MULTICAST_GID), gid, 16);
	return adapter_command(adapter, in, sizeof(in), out, sizeof(out));
}

static struct mcast *find_group(const struct uverbs_qp *qp, uint16_t lid, const uint8_t gid[16])
{
	struct mcast *group;

	LIST_FOREACH(group, &qp->groups, in_qp)
		if (group->lid == lid && !memcmp(group->gid, gid, sizeof(group->gid)))
			return group;
	return NULL;
}

/* Returns whether GID is an IPv6 multicast address, or on RoCE a mapped IPv4 one. */
static bool is_group(const uint8_t gid[16])
{
	return gid[0] == 0xff || (inet_is_mapped(gid) && gid[INET_PREFIX] >> 4 == 0xe);
}

static int check_group(const struct uverbs_call *uc, const struct uverbs_qp *qp, uint16_t lid,
		       const uint8_t gid[16])
{
	if (qp->type != IB_UVERBS_QPT_UD || !is_group(gid))
		return EINVAL;
	if (qp->is_underlay)
		return EOPNOTSUPP;
	if (!adapter_is_roce(uc->adapter) && (lid < LID_MULTICAST || lid == LID_PERMISSIVE))
		return EINVAL;
	return 0;
}

static int mcast_attach(struct uverbs_call *uc)
{
	struct ib_uverbs_attach_mcast cmd;
	struct uverbs_qp *qp;
	struct mcast *group;
	int ret = uc_in(uc, UVERBS_ATTR_CORE_IN, &cmd, sizeof(cmd));

	if (!ret)
		ret = object_find(uc->file, UVERBS_OBJECT_QP, cmd.qp_handle, &qp);
	if (ret || find_group(qp, cmd.mlid, cmd.gid))
		return ret;
	ret = check_group(uc, qp, cmd.mlid, cmd.gid);
	if (ret)
		return ret;
	group = calloc(1, sizeof(*group));
	if (!group)
		return ENOMEM;
	group->lid = cmd.mlid;
	memcpy(group->gid, cmd.gid, sizeof(group->gid));
	ret = group_command(uc->adapter, PRM_OP_ATTACH_TO_MCG, qp->real->qpn, cmd.gid);
	if (ret)
		free(group);
	else
		LIST_INSERT_HEAD(&qp->groups, group, in_qp);
	return ret;
}

static int mcast_detach(struct uverbs_call *uc)
{
	struct ib_uverbs_detach_mcast cmd;
	struct uverbs_qp *qp;
	struct mcast *group;
	int ret = uc_in(uc, UVERBS_ATTR_CORE_IN, &cmd, sizeof(cmd));

	if (!ret)
		ret = object_find(uc->file, UVERBS_OBJECT_QP, cmd.qp_handle, &qp);
	if (ret)
		return ret;
	group = find_group(qp, cmd.mlid, cmd.gid);
	if (!group)
		return EINVAL;
	LIST_REMOVE(group, in_qp);
	free(group);
	return group_command(uc->adapter, PRM_OP_DETACH_FROM_MCG, qp->real->qpn, cmd.gid);
}

void mcast_detach_all(struct uverbs_qp *qp)
{
	struct mcast *group;

	while ((group = LIST_FIRST(&qp->groups))) {
		group_command(qp->base.file->adapter, PRM_OP_DETACH_FROM_MCG, qp->real->qpn,
			      group->gid);
		LIST_REMOVE(group, in_qp);
		free(group);
	}
}

static const struct uverbs_write write_table[] = {
	{ "ATTACH_MCAST", IB_USER_VERBS_CMD_ATTACH_MCAST, sizeof(struct ib_uverbs_attach_mcast), 0,
	  mcast_attach },
	{ "DETACH_MCAST", IB_USER_VERBS_CMD_DETACH_MCAST, sizeof(struct ib_uverbs_detach_mcast), 0,
	  mcast_detach },
};

const struct uverbs_writes mcast_writes = METHODS(write_table);

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cmd_mw.c - commands on memory windows. Binding a window is a work request, not a command.
 */
#include "cmd/cmd.h"

#include <string.h>

VERBS_EXPORT int verbs_cmd_alloc_mw(struct ibv_pd *pd, enum ibv_mw_type type, struct ibv_mw *mw,
				    const struct verbs_udata *udata)
{
	const struct ib_uverbs_alloc_mw req = { .pd_handle = pd->handle, .mw_type = (uint8_t)type };
	struct ib_uverbs_alloc_mw_resp resp = {};
	int ret;

	if (type != IBV_MW_TYPE_1 && type != IBV_MW_TYPE_2) {
		verbs_warn("ibv_alloc_mw: type %d: must be IBV_MW_TYPE_1 or IBV_MW_TYPE_2", type);
		return EINVAL;
	}
	ret = verbs_cmd_run_write(pd->context, IB_USER_VERBS_CMD_ALLOC_MW, &req, sizeof(req), &resp,
				  sizeof(resp), udata);
	if (ret) {
		verbs_warn("ibv_alloc_mw: type %d: %s", type, strerror(ret));
		return ret;
	}
	*mw = (struct ibv_mw){
		.context = pd->context,
		.pd = pd,
		.rkey = resp.rkey,
		.handle = resp.mw_handle,
		.type = type,
	};
	return 0;
}

VERBS_EXPORT int verbs_cmd_dealloc_mw(struct ibv_mw *mw)
{
	int ret = verbs_cmd_destroy(mw->context, UVERBS_OBJECT_MW, UVERBS_METHOD_MW_DESTROY,
				    UVERBS_ATTR_DESTROY_MW_HANDLE, mw->handle);

	if (ret)
		verbs_warn("ibv_dealloc_mw: rkey 0x%x: %s", mw->rkey, strerror(ret));
	return ret;
}

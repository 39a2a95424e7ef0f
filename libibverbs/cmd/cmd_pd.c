/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cmd_pd.c - commands on protection domains.
 */
#include "cmd/cmd.h"

VERBS_EXPORT int verbs_cmd_alloc_pd(struct ibv_context *context, struct ibv_pd *pd,
				    const struct verbs_udata *udata)
{
	struct ib_uverbs_alloc_pd req = {};
	struct ib_uverbs_alloc_pd_resp resp = {};
	int ret;

	ret = verbs_cmd_run_write(context, IB_USER_VERBS_CMD_ALLOC_PD, &req, sizeof(req), &resp,
				  sizeof(resp), udata);
	if (ret) {
		verbs_warn("ibv_alloc_pd on %s: the kernel refuses: %s", context->device->name,
			   strerror(ret));
		return ret;
	}
	pd->context = context;
	pd->handle = resp.pd_handle;
	return 0;
}

/* Returns why a PD could not be deallocated. EBUSY: the kernel knows of a verbs object on it.
 * EINVAL: the adapter knows of an object made by DevX, for instance a memory key of direct
 * verbs. */
static const char *pd_left(int err)
{
	if (err == EBUSY)
		return ": it is in use: destroy the MRs, QPs, SRQs, AHs and MWs on it first";
	if (err == EINVAL)
		return ": the adapter refuses: destroy the memory keys and other objects of "
		       "direct verbs on it first";
	return "";
}

VERBS_EXPORT int verbs_cmd_dealloc_pd(struct ibv_pd *pd)
{
	int ret = verbs_cmd_destroy(pd->context, UVERBS_OBJECT_PD, UVERBS_METHOD_PD_DESTROY,
				    UVERBS_ATTR_DESTROY_PD_HANDLE, pd->handle);

	if (ret)
		verbs_warn("ibv_dealloc_pd: PD %u: %s%s", pd->handle, strerror(ret), pd_left(ret));
	return ret;
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cmd_ah.c - commands on address handles. On Ethernet, the kernel resolves the destination's MAC
 * address and returns it in the driver's response.
 */
#include "cmd/cmd.h"

#include <string.h>

static void put_address(struct ib_uverbs_ah_attr *to, const struct ibv_ah_attr *from)
{
	to->port_num = from->port_num;
	to->dlid = from->dlid;
	to->sl = from->sl;
	to->src_path_bits = from->src_path_bits;
	to->static_rate = from->static_rate;
	to->is_global = from->is_global;
	to->grh.sgid_index = from->grh.sgid_index;
	to->grh.hop_limit = from->grh.hop_limit;
	to->grh.traffic_class = from->grh.traffic_class;
	to->grh.flow_label = from->grh.flow_label;
	memcpy(to->grh.dgid, from->grh.dgid.raw, sizeof(to->grh.dgid));
}

VERBS_EXPORT int verbs_cmd_create_ah(struct ibv_pd *pd, const struct ibv_ah_attr *attr,
				     struct ibv_ah *ah, const struct verbs_udata *udata)
{
	struct ib_uverbs_create_ah req = { .user_handle = (uintptr_t)ah, .pd_handle = pd->handle };
	struct ib_uverbs_create_ah_resp resp = {};
	int ret;

	put_address(&req.attr, attr);
	ret = verbs_cmd_run_write(pd->context, IB_USER_VERBS_CMD_CREATE_AH, &req, sizeof(req),
				  &resp, sizeof(resp), udata);
	if (ret) {
		verbs_ah_explain_create(pd, attr, ret);
		return ret;
	}
	ah->context = pd->context;
	ah->pd = pd;
	ah->handle = resp.ah_handle;
	return 0;
}

VERBS_EXPORT int verbs_cmd_destroy_ah(struct ibv_ah *ah)
{
	int ret = verbs_cmd_destroy(ah->context, UVERBS_OBJECT_AH, UVERBS_METHOD_AH_DESTROY,
				    UVERBS_ATTR_DESTROY_AH_HANDLE, ah->handle);

	if (ret)
		verbs_warn("ibv_destroy_ah: AH %u: %s", ah->handle, strerror(ret));
	return ret;
}

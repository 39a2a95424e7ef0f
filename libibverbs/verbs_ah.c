/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * verbs_ah.c - the public calls on address handles.
 */
#include "private.h"

VERBS_EXPORT struct ibv_ah *ibv_create_ah(struct ibv_pd *pd, struct ibv_ah_attr *attr)
{
	struct ibv_ah *ah;
	int err = get_ops(pd->context)->create_ah(pd, attr, &ah);

	if (err)
		return fail_null(err);
	ah->context = pd->context;
	ah->pd = pd;
	return ah;
}

VERBS_EXPORT int ibv_destroy_ah(struct ibv_ah *ah)
{
	return get_ops(ah->context)->destroy_ah(ah);
}

/* The address comes from the completion and its GRH, which nothing produces before there is UD. */
VERBS_EXPORT struct ibv_ah *ibv_create_ah_from_wc(struct ibv_pd *pd, struct ibv_wc *wc,
						  struct ibv_grh *grh, uint8_t port_num)
{
	(void)grh;
	verbs_warn(
		"ibv_create_ah_from_wc: src_qp 0x%x port_num %u: not supported by the provider of %s",
		wc->src_qp, port_num, pd->context->device->name);
	return fail_null(EOPNOTSUPP);
}

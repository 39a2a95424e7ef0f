/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * verbs_pd.c - the public calls on protection domains.
 */
#include "libibverbs/private.h"

VERBS_EXPORT struct ibv_pd *ibv_alloc_pd(struct ibv_context *context)
{
	struct ibv_pd *pd;
	int err = get_ops(context)->alloc_pd(context, &pd);

	return err ? fail_null(err) : pd;
}

VERBS_EXPORT int ibv_dealloc_pd(struct ibv_pd *pd)
{
	return verbs_result(get_ops(pd->context)->dealloc_pd(pd));
}

VERBS_EXPORT struct ibv_pd *ibv_import_pd(struct ibv_context *context, uint32_t pd_handle)
{
	struct ibv_pd *pd;
	int err = get_ops(context)->import_pd(context, pd_handle, &pd);

	return err ? fail_null(err) : pd;
}

VERBS_EXPORT void ibv_unimport_pd(struct ibv_pd *pd)
{
	get_ops(pd->context)->unimport_pd(pd);
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * verbs_dm.c - the public calls on device memory that are not inline.
 */
#include "libibverbs/private.h"

VERBS_EXPORT struct ibv_dm *ibv_import_dm(struct ibv_context *context, uint32_t dm_handle)
{
	struct ibv_dm *dm;
	int err = get_ops(context)->import_dm(context, dm_handle, &dm);

	return err ? fail_null(err) : dm;
}

VERBS_EXPORT void ibv_unimport_dm(struct ibv_dm *dm)
{
	get_ops(dm->context)->unimport_dm(dm);
}

VERBS_EXPORT int ibv_dm_export_dmabuf_fd(struct ibv_dm *dm)
{
	return get_ops(dm->context)->dm_export_dmabuf_fd(dm);
}

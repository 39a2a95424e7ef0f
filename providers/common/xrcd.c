/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * xrcd.c - XRC domains: plain kernel commands.
 */
#include "providers/common/xrcd.h"

#include <errno.h>
#include <stdlib.h>

#include "util/alloc.h"

struct ibv_xrcd *provider_xrcd_open(struct ibv_context *context, struct ibv_xrcd_init_attr *attr)
{
	struct verbs_xrcd *xrcd = calloc_for("open_xrcd", 1, sizeof(*xrcd));
	int ret = xrcd ? verbs_cmd_open_xrcd(context, attr, xrcd, NULL) : ENOMEM;

	if (!ret)
		return &xrcd->xrcd;
	free(xrcd);
	errno = ret;
	return NULL;
}

int provider_xrcd_close(struct ibv_xrcd *xrcd)
{
	int ret = verbs_cmd_close_xrcd(to_vxrcd(xrcd));

	if (!ret)
		free(to_vxrcd(xrcd));
	return ret;
}

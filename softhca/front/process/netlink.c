/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * netlink.c - RDMA netlink: not there, as on a kernel built without it. Programs then discover devices through sysfs.
 */
#include <errno.h>

#include "softhca/front/process/netlink.h"
#include "softhca/front/process/notify.h"

void netlink_socket(struct call *call)
{
	call_fail(call, EPROTONOSUPPORT);
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The ioctl of uverbs. Those of umad are in ib_user_mad.h; those of other vendors' drivers are
 * not declared here.
 */
#ifndef RDMA_USER_IOCTL_H
#define RDMA_USER_IOCTL_H

#include <rdma/rdma_user_ioctl_cmds.h>

#define IB_IOCTL_MAGIC RDMA_IOCTL_MAGIC

#endif

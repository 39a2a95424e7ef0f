/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * All ioctls of RDMA character devices that this tree uses: that is the one of uverbs. The ioctls
 * of umad and of other vendors' drivers are not declared here.
 */
#ifndef RDMA_USER_IOCTL_H
#define RDMA_USER_IOCTL_H

#include <rdma/rdma_user_ioctl_cmds.h>

#define IB_IOCTL_MAGIC RDMA_IOCTL_MAGIC

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * seccomp.h - the filter that programs under softhca run with: which system calls are handed to the
 * daemon.
 * Decision: docs/adr/0046.
 */
#ifndef SOFTHCA_FRONT_PROCESS_SECCOMP_H
#define SOFTHCA_FRONT_PROCESS_SECCOMP_H

#include <stdbool.h>

/*
 * softhca's files get descriptors of this band, so that the filter can pass read(), fstat() and
 * friends on all others. It begins here and has no end; how far it is below what select() knows is
 * used first. Descriptors in it that are not softhca's are let through by the daemon.
 */
enum { FD_BAND_FIRST = 512, FD_SELECT_END = 1024 };

/* The number is RDMA_VERBS_IOCTL of <rdma/rdma_user_ioctl_cmds.h>. */
#define UVERBS_IOCTL 0xc0181b01u
/* All requests of RDMA devices have these bits alike: RDMA_IOCTL_MAGIC as _IOC_TYPE(). */
enum { IOCTL_TYPE_MASK = 0xff00, RDMA_IOCTL_TYPE = 0x1b00 };

/* Install the filter in this thread and all it starts; the listener is for the daemon. 0 or a
 * positive errno; EBUSY: there is a listener already, i.e. this is a softhca inside a softhca. */
int seccomp_install(int *listener);

#endif

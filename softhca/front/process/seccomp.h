/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * seccomp.h - the seccomp filter of programs under softhca: which system calls go to the daemon.
 * Decision: docs/adr/0046.
 */
#ifndef SOFTHCA_FRONT_PROCESS_SECCOMP_H
#define SOFTHCA_FRONT_PROCESS_SECCOMP_H

#include <stdbool.h>

/* softhca's files get descriptors from FD_BAND_FIRST on (the band), so that the filter can let
 * read(), fstat() and other calls on lower descriptors pass. Numbers below FD_SELECT_END, which
 * select() supports, are used first. Calls on other files in the band are trapped, too, and the
 * daemon lets them continue. */
enum { FD_BAND_FIRST = 512, FD_SELECT_END = 1024 };

/* RDMA_VERBS_IOCTL of <rdma/rdma_user_ioctl_cmds.h>. */
#define UVERBS_IOCTL 0xc0181b01u
/* Bits that all RDMA requests share: RDMA_IOCTL_MAGIC as _IOC_TYPE(). */
enum { IOCTL_TYPE_MASK = 0xff00, RDMA_IOCTL_TYPE = 0x1b00 };

/* _IOC_TYPE() of all VFIO requests: VFIO_TYPE. */
enum { VFIO_IOCTL_TYPE = 0x3b00 };

/* Installs the filter in this thread and all processes that it starts; the daemon gets the
 * listener. HAS_VFIO: there may be an adapter of --vfio. Returns 0 or a positive errno. EBUSY:
 * there is a listener already, as in a softhca inside softhca. */
int seccomp_install(bool has_vfio, int *listener);

#endif

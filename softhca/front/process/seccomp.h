/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * seccomp.h - the seccomp filter of programs under softhca: which system calls go to the daemon.
 * Decision: docs/adr/0046.
 */
#ifndef SOFTHCA_FRONT_PROCESS_SECCOMP_H
#define SOFTHCA_FRONT_PROCESS_SECCOMP_H

#include <stdbool.h>

/*
 * softhca's files get descriptors in this band, so that the filter can allow read(), fstat() and
 * others on all lower ones at once. The band has no end; numbers that select() supports are used
 * first. Other files' descriptors in it cost a trap, and the daemon lets their calls continue.
 */
enum { FD_BAND_FIRST = 512, FD_SELECT_END = 1024 };

/* RDMA_VERBS_IOCTL of <rdma/rdma_user_ioctl_cmds.h>. */
#define UVERBS_IOCTL 0xc0181b01u
/* Bits that all RDMA requests share: RDMA_IOCTL_MAGIC as _IOC_TYPE(). */
enum { IOCTL_TYPE_MASK = 0xff00, RDMA_IOCTL_TYPE = 0x1b00 };

/* The same of VFIO's requests: VFIO_TYPE. */
enum { VFIO_IOCTL_TYPE = 0x3b00 };

/* Installs the filter in this thread and all processes that it starts; the daemon gets the
 * listener. HAS_VFIO: there may be an adapter of --vfio. Returns 0 or a positive errno. EBUSY:
 * there is a listener already, as in a softhca inside softhca. */
int seccomp_install(bool has_vfio, int *listener);

#endif

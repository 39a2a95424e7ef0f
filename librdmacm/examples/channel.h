/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * channel.h - the first thing that a program needs, and the one that fails where there is no RDMA.
 */
#ifndef RDMACM_EXAMPLES_CHANNEL_H
#define RDMACM_EXAMPLES_CHANNEL_H

#include <rdma/rdma_cma.h>

/* NULL after the reason was said on standard error, with errno. */
struct rdma_event_channel *channel_open(void);

#endif

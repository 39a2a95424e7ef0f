/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * channel.h - opens an event channel, the first call of most programs, which fails on a machine
 * without RDMA.
 */
#ifndef RDMACM_EXAMPLES_CHANNEL_H
#define RDMACM_EXAMPLES_CHANNEL_H

#include <rdma/rdma_cma.h>

/* Returns NULL with errno set, after printing the reason on standard error. */
struct rdma_event_channel *channel_open(void);

#endif

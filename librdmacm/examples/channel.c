/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * channel.c - opens an event channel, or explains why there is none.
 */
#include "channel.h"

#include <errno.h>
#include <stdio.h>

struct rdma_event_channel *channel_open(void)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();
	int reason = errno;

	if (!channel && reason == ENODEV)
		fprintf(stderr, "No RDMA devices were detected\n");
	else if (!channel)
		perror("Failed to create RDMA CM event channel");
	errno = reason;
	return channel;
}

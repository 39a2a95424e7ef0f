/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rsocket.c - the one call of rsockets that programs without any rsocket use: rpoll() takes other descriptors as well, and
 * as long as no rsocket can be made all of them are.
 */
#include "cma.h"

#include <rdma/rsocket.h>

CMA_EXPORT int rpoll(struct pollfd *fds, nfds_t nfds, int timeout)
{
	return poll(fds, nfds, timeout);
}

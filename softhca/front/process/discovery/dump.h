/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * dump.h - lists of RDMA netlink that take more than a datagram.
 */
#ifndef SOFTHCA_FRONT_PROCESS_DISCOVERY_DUMP_H
#define SOFTHCA_FRONT_PROCESS_DISCOVERY_DUMP_H

#include <stdint.h>

struct adapter;

/* Lists the adapter's objects of the kind that TYPE asks for (resources.h) to the program's PORT,
 * NLMSG_DONE behind them. Sends some at once, and the rest as the program reads. Returns 0, EBUSY
 * if a list for PORT or too many of USER are under way, as Linux does, or ENOMEM. */
int dump_begin(const struct adapter *adapter, uint16_t type, unsigned int user, uint32_t port,
	       uint32_t seq);
/* Ends all lists that are under way. */
void dumps_stop(void);

#endif

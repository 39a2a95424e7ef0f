/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * netlink.h - RDMA netlink, which libibverbs and the rdma tool use to find devices.
 */
#ifndef SOFTHCA_FRONT_PROCESS_DISCOVERY_NETLINK_H
#define SOFTHCA_FRONT_PROCESS_DISCOVERY_NETLINK_H

struct call;

void netlink_socket(struct call *call);
void netlink_sendmsg(struct call *call);
void netlink_sendto(struct call *call);

#endif

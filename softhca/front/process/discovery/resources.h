/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * resources.h - RDMA netlink's lists of programs' objects.
 */
#ifndef SOFTHCA_FRONT_PROCESS_DISCOVERY_RESOURCES_H
#define SOFTHCA_FRONT_PROCESS_DISCOVERY_RESOURCES_H

#include <stdint.h>

struct adapter;
struct reply;

void resources_put_summary(struct reply *reply, uint16_t type, const struct adapter *adapter);
/* Lists all objects of the kind that TYPE asks for. Returns 0, or EOPNOTSUPP for a kind that cannot
 * be listed. */
int resources_put(struct reply *reply, uint16_t type, const struct adapter *adapter);

#endif

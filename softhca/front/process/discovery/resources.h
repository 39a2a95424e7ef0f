/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * resources.h - what RDMA netlink tells of the objects that programs have.
 */
#ifndef SOFTHCA_FRONT_PROCESS_DISCOVERY_RESOURCES_H
#define SOFTHCA_FRONT_PROCESS_DISCOVERY_RESOURCES_H

#include <stdint.h>

struct adapter;
struct reply;

/* How many objects there are of each kind: one message of TYPE. */
void resources_put_summary(struct reply *reply, uint16_t type, const struct adapter *adapter);
/* All objects of the kind that the command in TYPE asks for, in messages of that type. Returns 0,
 * or EOPNOTSUPP for a kind that is not told of. */
int resources_put(struct reply *reply, uint16_t type, const struct adapter *adapter);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * resources.h - RDMA netlink's lists of programs' objects.
 */
#ifndef SOFTHCA_FRONT_PROCESS_DISCOVERY_RESOURCES_H
#define SOFTHCA_FRONT_PROCESS_DISCOVERY_RESOURCES_H

#include <stdbool.h>
#include <stdint.h>

struct adapter;
struct object_place;
struct reply;

void resources_put_summary(struct reply *reply, uint16_t type, const struct adapter *adapter);
/* Returns whether TYPE asks for a kind of objects that can be listed. */
bool resources_can_list(uint16_t type);
/* Adds a message that lists objects of that kind, from PLACE on, as many as the datagram takes.
 * Returns whether these were the last ones. */
bool resources_put(struct reply *reply, uint16_t type, const struct adapter *adapter,
		   struct object_place *place);

#endif

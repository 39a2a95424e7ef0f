/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * subnet.h - subnet administration: answers queries of InfiniBand hosts for paths, multicast groups
 * and services.
 *
 * Each process has one, at the same LID; together they act as the subnet's. A multicast LID derives
 * from the GID, so it needs no shared state. Only two queries concern another process: paths to its
 * ports, and its services. The fabric's lock guards it.
 */
#ifndef SOFTHCA_NET_SUBNET_H
#define SOFTHCA_NET_SUBNET_H

#include <stdbool.h>
#include <stdint.h>

#include "softhca/device/fabric.h"
#include "softhca/net/inventory.h"
#include "softhca/net/service.h"

struct subnet;

struct subnet_ops {
	/* Returns the LID of this process' port that has GID, or 0. */
	uint16_t (*find)(void *owner, const uint8_t gid[16]);
	inventory_ask_fn ask;
};

int subnet_create(const struct subnet_ops *ops, void *owner, struct subnet **subnet);
void subnet_destroy(struct subnet *subnet);

/* Returns this process' table of services. */
struct services *subnet_services(struct subnet *subnet);

/* Returns the LID of a multicast group. It is the same in every process. */
uint16_t subnet_mlid(const uint8_t mgid[16]);

/* Returns whether MSG is for subnet administration. */
bool subnet_is_asked(const struct fabric_msg *msg);
/* Returns whether this process can answer. If not, MSG is about a port or service that another
 * process may have. */
bool subnet_knows(const struct subnet *subnet, const struct fabric_msg *msg);
/* Returns whether MSG is about a port or service of this process. */
bool subnet_is_about_own(const struct subnet *subnet, const struct fabric_msg *msg);
/* Makes the answer to MSG, whose payload goes to MAD. LAST says that what is not known here is not
 * known anywhere. It returns false when there is no answer. If there is one, more of it may follow,
 * which the second function makes until it returns false. */
bool subnet_answer(struct subnet *subnet, const struct fabric_msg *msg, bool last,
		   uint8_t mad[MAD_SIZE], struct fabric_msg *answer);
bool subnet_answer_more(struct subnet *subnet, uint8_t mad[MAD_SIZE], struct fabric_msg *answer);

#endif

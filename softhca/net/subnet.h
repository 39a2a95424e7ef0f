/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * subnet.h - subnet administration: what hosts on InfiniBand ask before they connect - the path to
 * a GID, membership in multicast groups, who offers a service.
 *
 * Each process has one, at the same LID; together they are the subnet's. What a multicast LID is
 * follows from its GID and nothing of it is kept elsewhere, so the only questions for another
 * process are the path to a port of its own and the services that it was told of. Runs under the
 * fabric's lock.
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
	/* The call returns the LID of this process' port that has GID, or 0. */
	uint16_t (*find)(void *owner, const uint8_t gid[16]);
	inventory_ask_fn ask;
};

int subnet_create(const struct subnet_ops *ops, void *owner, struct subnet **subnet);
void subnet_destroy(struct subnet *subnet);

/* Returns the services that this process knows. */
struct services *subnet_services(struct subnet *subnet);

/* Returns the LID of a multicast group: the same in every process, without asking. */
uint16_t subnet_mlid(const uint8_t mgid[16]);

/* Is MSG for subnet administration? */
bool subnet_is_asked(const struct fabric_msg *msg);
/* Can it be answered here? If not, it is about a port or service that, if any, another process
 * has. */
bool subnet_knows(const struct subnet *subnet, const struct fabric_msg *msg);
/* Is it about a port or a service of this process? */
bool subnet_is_about_own(const struct subnet *subnet, const struct fabric_msg *msg);
/* Makes the answer to MSG, whose payload goes to MAD. LAST says that what is not known here is not
 * known anywhere. It returns false when there is no answer. If there is one, more of it may follow,
 * which the second function makes until it returns false. */
bool subnet_answer(struct subnet *subnet, const struct fabric_msg *msg, bool last,
		   uint8_t mad[MAD_SIZE], struct fabric_msg *answer);
bool subnet_answer_more(struct subnet *subnet, uint8_t mad[MAD_SIZE], struct fabric_msg *answer);

#endif

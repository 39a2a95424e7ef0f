/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * subnet.h - subnet administration: answers queries of InfiniBand hosts for paths, multicast groups
 * and services.
 *
 * Each process has an instance at the same LID; together they act as one for the subnet. A
 * multicast LID derives from the GID, so it needs no shared state. Only queries for paths to a
 * process' ports and for its services need that process. The fabric's lock guards all data.
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

struct services *subnet_services(struct subnet *subnet);

/* Returns the LID of a multicast group. It is the same in every process. */
uint16_t subnet_mlid(const uint8_t mgid[16]);

bool subnet_is_asked(const struct fabric_msg *msg);
/* Returns whether this process can answer. If not, MSG is about a port or service that another
 * process may have. */
bool subnet_knows(const struct subnet *subnet, const struct fabric_msg *msg);
bool subnet_is_about_own(const struct subnet *subnet, const struct fabric_msg *msg);
/* Builds the answer to MSG, with its payload in MAD. LAST: no other process can answer, so an
 * unknown record does not exist. Returns false if there is no answer. If there is one,
 * subnet_answer_more() builds its further datagrams until it returns false. */
bool subnet_answer(struct subnet *subnet, const struct fabric_msg *msg, bool last,
		   uint8_t mad[MAD_SIZE], struct fabric_msg *answer);
bool subnet_answer_more(struct subnet *subnet, uint8_t mad[MAD_SIZE], struct fabric_msg *answer);

#endif

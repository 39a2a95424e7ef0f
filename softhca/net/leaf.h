/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * leaf.h - the switch to which this process' ports are connected, as managers of an InfiniBand
 * subnet see it. It claims that the subnet manager is at its port 0.
 *
 * Ports from 1 on lead to ports of this process, by rising LID; behind them is a port for each host
 * of the network, which leads to that host's switch. The switch forwards only directed route
 * packets of managers, no data. The fabric's lock guards it.
 */
#ifndef SOFTHCA_NET_LEAF_H
#define SOFTHCA_NET_LEAF_H

#include <stdbool.h>
#include <stdint.h>

#include "ib/mad.h"
#include "softhca/device/fabric.h"

struct leaf_ops {
	/* Finds the port of this process with that LID. Returns false if there is none. */
	bool (*find)(void *owner, uint16_t lid, struct hca **hca, unsigned int *port);
	bool (*has_host)(void *owner, unsigned int host);
	void (*send)(void *owner, const struct fabric_msg *msg);
};

struct leaf {
	const struct leaf_ops *ops;
	void *owner;
	unsigned int host; /* number of this process */
	unsigned int own;  /* number of switch ports that lead to ports of this process */
	bool joined;       /* connected to a network: there may be other hosts */
	uint32_t activity; /* SMInfo's activity count: queries so far */
};

/* Returns the LID of a host's switch. The LID of host 0's switch is also the manager's. */
static inline uint16_t leaf_lid(unsigned int host)
{
	return (uint16_t)(FABRIC_SUBNET_LID - host);
}

/* Returns whether MSG is for the switch: for its agents, or a directed route packet. */
bool leaf_is_asked(const struct leaf *leaf, const struct fabric_msg *msg);
void leaf_receive(struct leaf *leaf, const struct fabric_msg *msg);
/* Answers IN, a management query that arrived at PORT, in OUT. Returns false if it needs no
 * answer. */
bool leaf_answer_mad(struct leaf *leaf, unsigned int port, const uint8_t in[MAD_SIZE],
		     uint8_t out[MAD_SIZE]);

#endif

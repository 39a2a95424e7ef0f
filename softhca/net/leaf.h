/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * leaf.h - the switch that the ports of this process hang on, as managers of an InfiniBand subnet
 * see it. The subnet's manager is said to be at its port 0.
 *
 * Ports from 1 on lead to ports of this process, in the order of their LIDs; behind them is a port
 * for each host of the network, which leads to that host's own switch. The switch moves no data:
 * only managers' packets that name their way pass through it. Runs under the fabric's lock.
 */
#ifndef SOFTHCA_NET_LEAF_H
#define SOFTHCA_NET_LEAF_H

#include <stdbool.h>
#include <stdint.h>

#include "ib/mad.h"
#include "softhca/device/fabric.h"

struct leaf_ops {
	/* The call tells which port of an adapter has that LID of this process; false: none has. */
	bool (*find)(void *owner, uint16_t lid, struct hca **hca, unsigned int *port);
	bool (*has_host)(void *owner, unsigned int host);
	void (*send)(void *owner, const struct fabric_msg *msg);
};

struct leaf {
	const struct leaf_ops *ops;
	void *owner;
	unsigned int host; /* number of this process */
	unsigned int own;  /* how many ports lead to ports of this process */
	bool joined;       /* there may be other hosts */
	uint32_t activity; /* of the manager: how often it was asked whether it lives */
};

/* Returns the LID of a host's switch. That of host 0 has the manager's. */
static inline uint16_t leaf_lid(unsigned int host)
{
	return (uint16_t)(FABRIC_SUBNET_LID - host);
}

/* Is MSG for the switch: for its own agents, or a packet that names its way? */
bool leaf_is_asked(const struct leaf *leaf, const struct fabric_msg *msg);
void leaf_receive(struct leaf *leaf, const struct fabric_msg *msg);
/* Answers MAD, a question of management that came in at PORT. It returns false when there is
 * nothing to be said. */
bool leaf_answer_mad(struct leaf *leaf, unsigned int port, const uint8_t in[MAD_SIZE],
		     uint8_t out[MAD_SIZE]);

#endif

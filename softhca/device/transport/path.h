/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * path.h - addresses of messages, and arithmetic on packet sequence numbers.
 * PRM: Address Path, Address Vector
 */
#ifndef SOFTHCA_DEVICE_TRANSPORT_PATH_H
#define SOFTHCA_DEVICE_TRANSPORT_PATH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ib/packet.h"
#include "softhca/device/fabric.h"

struct hca;
struct qp;

/* An address path of a QP context, or an address vector of a WQE, decoded. */
struct qp_path {
	/* without the source: gid_index names it, as the GID may change until a message is sent */
	struct fabric_addr addr;
	uint8_t gid_index;
	uint16_t pkey;
};

/* The address vector of a datagram, decoded. Its port and P_Key are the QP's. */
struct datagram_to {
	struct qp_path path;
	uint32_t qpn;
	uint32_t qkey;
	bool has_qkey;   /* false: the QP's own Q_Key is used */
	uint64_t dc_key; /* access key of a DC target, instead of the Q_Key */
};

/* Copies the port and P_Key of a QP's path OWN into a datagram's path. Returns false if the port
 * lacks the source GID or there is no destination. */
bool path_take_port(const struct hca *hca, const struct qp_path *own, struct qp_path *path);
/* Fills ADDR for a message along PATH, with the source GID that the port's table has now, as it may
 * have changed since PATH was made. */
void path_address(const struct hca *hca, const struct qp_path *path, struct fabric_addr *addr);

/* qp_peer() returns the path to the QP's peer; qp_address() fills MSG's address from it. */
const struct qp_path *qp_peer(const struct qp *qp);
void qp_address(struct hca *hca, const struct qp *qp, struct fabric_msg *msg);

/* Makes the path for an answer to MSG, which arrived at PORT. Returns false if MSG was not sent to
 * an address of the port. */
bool path_reverse(const struct hca *hca, unsigned int port, const struct fabric_msg *msg,
		  struct qp_path *path);

/* Returns A - B as a signed number, modulo 2^24. */
static inline int32_t psn_diff(uint32_t a, uint32_t b)
{
	return (int32_t)((a - b) << 8) >> 8;
}

/* Returns whether the payload's length matches the number of packets, as a hostile peer may choose
 * either freely. Not for READ requests, which have no payload. */
bool packets_fit(const struct fabric_msg *msg, uint32_t mtu);
/* Removes from a message the packets before PSN, which are duplicates. At least one packet is
 * left. */
void packets_skip(struct fabric_msg *msg, uint32_t psn, uint32_t mtu);

/* Returns how many packets LEN bytes take; an empty message takes one. */
static inline uint32_t packets_of(uint64_t len, uint32_t mtu)
{
	return len ? (uint32_t)((len + mtu - 1) / mtu) : 1;
}

#endif

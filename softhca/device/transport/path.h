/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * path.h - where messages go, and their packet sequence numbers.
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

/* A path is what an address path in a QP's context, or an address vector in a WQE, says. */
struct qp_path {
	struct fabric_addr addr; /* what the source GID does not say */
	uint8_t gid_index;
	uint16_t pkey;
};

/* The struct holds what the address vector of a datagram says; its port and its P_Key are the
 * QP's. */
struct datagram_to {
	struct qp_path path;
	uint32_t qpn;
	uint32_t qkey;
	bool has_qkey;   /* else the QP's own counts */
	uint64_t dc_key; /* of a target, in place of the Q_Key */
};

/* Gives the path of a datagram the port and the P_Key of the QP whose own path is OWN. It returns
 * false when the path leads nowhere. */
bool path_take_port(const struct hca *hca, const struct qp_path *own, struct qp_path *path);
/* Says where a message along PATH goes, and where it comes from as of now. */
void path_address(const struct hca *hca, const struct qp_path *path, struct fabric_addr *addr);

/* Returns the path to the QP's peer, and addresses MSG to that. */
const struct qp_path *qp_peer(const struct qp *qp);
void qp_address(struct hca *hca, const struct qp *qp, struct fabric_msg *msg);

/* Says how to answer a message that has arrived at PORT. It returns false when the address that it
 * was sent to is not the port's. */
bool path_reverse(const struct hca *hca, unsigned int port, const struct fabric_msg *msg,
		  struct qp_path *path);

/* ---- packets.c ---- */

/* Returns the signed distance from B to A on the circle of 24 bits. */
static inline int32_t psn_diff(uint32_t a, uint32_t b)
{
	return (int32_t)((a - b) << 8) >> 8;
}

/* Returns whether the payload is as long as that many packets have to be. Callers do not ask it of
 * READ requests, which carry no payload. */
bool packets_fit(const struct fabric_msg *msg, uint32_t mtu);
/* Takes the packets before PSN, which have arrived before, out of a message; one at least is
 * left. */
void packets_skip(struct fabric_msg *msg, uint32_t psn, uint32_t mtu);

/* A message without payload is one packet. */
static inline uint32_t packets_of(uint64_t len, uint32_t mtu)
{
	return len ? (uint32_t)((len + mtu - 1) / mtu) : 1;
}

#endif

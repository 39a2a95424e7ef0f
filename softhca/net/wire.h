/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * wire.h - messages as packets: the headers of InfiniBand (IBTA vol 1, 5 to 9) and of RoCE (annexes
 * A16, A17), with their checksums.
 *
 * A packet is what a capture of that link holds: from LRH to VCRC on InfiniBand, on Ethernet a
 * frame from the destination MAC to the ICRC. A fabric_msg of several packets is encoded packet by
 * packet; each decodes to a message of one packet.
 */
#ifndef SOFTHCA_NET_WIRE_H
#define SOFTHCA_NET_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "softhca/device/fabric.h"

enum {
	WIRE_MTU_MAX = 4096,
	WIRE_PACKET_MAX = WIRE_MTU_MAX + 160, /* no headers are longer together */
};

/* Return how many packets MSG is, and the length of packet INDEX of them. */
uint32_t wire_packets(const struct fabric_msg *msg);
size_t wire_encode(const struct fabric_msg *msg, uint32_t index, uint8_t packet[WIRE_PACKET_MAX]);

enum wire_error {
	WIRE_OK,
	WIRE_OTHER, /* Ethernet: an ordinary frame */
	WIRE_BAD,   /* malformed, or a checksum is wrong */
};

/*
 * PACKET may be any bytes. On WIRE_OK, MSG's payload points into PACKET, where the result of an
 * atomic was put into the host's order. What packets do not say is 0: the sender's QPN (but for
 * UD and requests of DC), and of a READ request the number of packets that answer it.
 */
enum wire_error wire_decode(bool ethernet, uint8_t *packet, size_t len, struct fabric_msg *msg);

#endif

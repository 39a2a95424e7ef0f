/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * wire.h - encodes messages as packets and decodes them: the headers of InfiniBand (IBTA vol 1, 5
 * to 9) and of RoCE (annexes A16, A17), with their checksums.
 *
 * A packet has the bytes of a capture of its link: LRH to VCRC on InfiniBand, destination MAC to
 * ICRC on Ethernet. A fabric_msg of several packets is encoded packet by packet; each decodes to a
 * message of one packet.
 */
#ifndef SOFTHCA_NET_WIRE_H
#define SOFTHCA_NET_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "softhca/device/fabric.h"

enum {
	WIRE_MTU_MAX = 4096,
	WIRE_PACKET_MAX = WIRE_MTU_MAX + 160, /* with room for all headers and checksums */
};

/* Return the number of packets of MSG, and the length of packet INDEX. */
uint32_t wire_packets(const struct fabric_msg *msg);
size_t wire_encode(const struct fabric_msg *msg, uint32_t index, uint8_t packet[WIRE_PACKET_MAX]);

enum wire_error {
	WIRE_OK,
	WIRE_OTHER, /* Ethernet: an ordinary frame */
	WIRE_BAD,   /* malformed, or a checksum is wrong */
};

/*
 * Decodes any bytes. On WIRE_OK, MSG's payload points into PACKET; the result of an atomic has been
 * converted there to the host's byte order. Fields that packets do not carry are 0: the sender's
 * QPN (except for UD and requests of DC) and, in a READ request, the number of response packets.
 */
enum wire_error wire_decode(bool ethernet, uint8_t *packet, size_t len, struct fabric_msg *msg);

#endif

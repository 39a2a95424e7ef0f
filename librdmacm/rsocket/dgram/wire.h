/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * wire.h - what two datagram sockets say to each other.
 *
 * This was observed of Debian's udpong and a small program on Debian's librdmacm on softhca, by
 * strace of the UDP socket and by --pcap, with IPv4 and IPv6, changing one thing at a time.
 *
 * A socket has a UDP socket of its address, and a UD QP (with rdma_cm's Q_Key 0x01234567) for each
 * local address that it uses. While a socket does not know the other's QP it sends data by UDP,
 * behind a control head that tells its own QP. Who gets that answers with a control head of its
 * own, CONTROL_ANSWER, without data, to the address where it came from (Debian's answers when it
 * has an address handle). From then on both send by UD, behind a data head that tells address and
 * UDP port of the sender, which the receiver's program gets to know. Heads are big endian:
 *
 *   control, by UDP: tag (4), IP version (1), operation (1), bytes of the head (1), 0 (1), QPN (4),
 *                    address (4 or 16)
 *   data, by UD:     IP version (1), bytes of the head (1), UDP port (2), [flow information (4)],
 *                    address (4 or 16)
 *
 * Debian's receives take 2048 bytes, its data head among them. What Debian's receives by UDP it
 * sends to itself by UD, so a capture shows such messages, too. An IPv6 socket of Debian's that was
 * neither bound nor connected before it sends says port 0 by UD.
 */
#ifndef RSOCKET_DGRAM_WIRE_H
#define RSOCKET_DGRAM_WIRE_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum dgram_control { CONTROL_DATA = 0, CONTROL_ANSWER = 7 };

enum {
	DGRAM_TAG = 0x55555555,
	DGRAM_MAX_CONTROL = 28,  /* longest header, in bytes */
	DGRAM_MAX_MESSAGE = 2048 /* a data header and its data */
};

/* The pack calls return the size of the header. ADDR is the sender's address, AF_INET or
 * AF_INET6. */
size_t rdmacm_dgram_control_pack(uint8_t *head, enum dgram_control op, uint32_t qpn,
				 const struct sockaddr_storage *addr);
size_t rdmacm_dgram_data_pack(uint8_t *head, const struct sockaddr_storage *addr);
size_t rdmacm_dgram_data_size(sa_family_t family);

/* The unpack calls return the size of the header, or 0 if it is invalid. */
size_t rdmacm_dgram_control_unpack(const uint8_t *message, size_t size, uint8_t *op, uint32_t *qpn);
size_t rdmacm_dgram_data_unpack(const uint8_t *message, size_t size, struct sockaddr_storage *addr);

#endif

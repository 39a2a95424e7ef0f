/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * wire.h - the protocol between two datagram sockets.
 *
 * It was observed with Debian's udpong and a small program on Debian's librdmacm on softhca, by
 * strace of the UDP socket and by --pcap, with IPv4 and IPv6. Each run changed one thing.
 *
 * A socket has a UDP socket with its address, and a UD QP (with rdma_cm's Q_Key 0x01234567) for
 * each local address that it uses. Until a socket knows its peer's QP it sends data by UDP, behind
 * a control header with its own QP number. The receiver replies to the sender's address with a
 * control header of its own, CONTROL_ANSWER, without data. (Debian's library replies once it has an
 * address handle.) From then on both send by UD, behind a data header with the sender's address and
 * UDP port, which recvfrom() reports. Headers are big endian:
 *
 *   control, by UDP: tag (4), IP version (1), operation (1), bytes of the head (1), 0 (1), QPN (4),
 *                    address (4 or 16)
 *   data, by UD:     IP version (1), bytes of the head (1), UDP port (2), [flow information (4)],
 *                    address (4 or 16)
 *
 * Debian's library posts receives of 2048 bytes, which hold the data header, too. It forwards each
 * message received by UDP to itself by UD, so a capture shows these messages as well. An IPv6
 * socket of Debian's library that was neither bound nor connected before it sends has port 0 in its
 * UD headers.
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
	DGRAM_MAX_CONTROL = 28,
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

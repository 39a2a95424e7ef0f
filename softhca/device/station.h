/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * station.h - an adapter's ports on a fabric: sending, and the calls that the fabric makes.
 *
 * The fabric's lock is held in all of them.
 */
#ifndef SOFTHCA_DEVICE_STATION_H
#define SOFTHCA_DEVICE_STATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct fabric_msg;
struct hca;

void station_send(struct hca *hca, const struct fabric_msg *msg);
void station_send_frame(struct hca *hca, unsigned int port, const uint8_t *frame, size_t len);

bool station_is_ethernet(const struct hca *hca);
bool port_is_up(const struct hca *hca, unsigned int port);
bool port_has_gid(const struct hca *hca, unsigned int port, const uint8_t gid[16]);
/* Finds the MAC address for a GID of the port. Returns false if the port has no such GID, or if a
 * kernel drives the adapter and answers for its addresses itself. */
bool station_find_mac(const struct hca *hca, unsigned int port, const uint8_t gid[16],
		      uint8_t mac[6]);
/* Writes a line about the port: adapter, port, link, state, LID, IP addresses, GIDs. */
void station_describe(struct hca *hca, unsigned int port, FILE *file);
/* Lets the adapter's agents answer a MAD; the answer goes to OUT. Returns false if no agent handles
 * the MAD, or if it needs no answer. Both buffers have MAD_SIZE bytes. */
bool station_answer_mad(struct hca *hca, unsigned int port, const uint8_t *in, uint8_t *out);
/* Writes the link's fields of a PortInfo. They are the same for all ports of a subnet. */
void station_put_link(bool up, uint8_t *data);
/* Delivers a message to a port. NOW is the sender's time; the receiver's timers count from it. */
void station_receive(struct hca *hca, unsigned int port, uint64_t now,
		     const struct fabric_msg *msg);
/* Makes the adapter write what it holds back (compressed CQEs, LRO segments), as no more messages
 * are coming for now. */
void station_settle(struct hca *hca);
/* Delivers a frame of at least FABRIC_FRAME_MIN bytes to an Ethernet port. NOW is 0 for a frame
 * from another host. */
void station_receive_frame(struct hca *hca, unsigned int port, uint64_t now, const uint8_t *frame,
			   size_t len);

#endif

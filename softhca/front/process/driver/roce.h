/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * roce.h - addresses on RoCE: from GIDs to Ethernet addresses, without a network stack to ask.
 *
 * The adapters of a fabric give their ports addresses by rule, so those of a peer follow from its
 * GID; those of virtual machines are learned. All this is for the notification thread only.
 */
#ifndef SOFTHCA_FRONT_PROCESS_DRIVER_ROCE_H
#define SOFTHCA_FRONT_PROCESS_DRIVER_ROCE_H

#include <stdint.h>

/* Gives the Ethernet address of a port with that GUID: its EUI-64 without the middle (RFC 4291,
 * appendix A). */
void roce_port_mac(uint64_t port_guid, uint8_t mac[6]);
/* Gives the Ethernet address of the port, or of the group, that GID names. */
void roce_resolve(const uint8_t gid[16], uint8_t mac[6]);
/* Notes the Ethernet address of a GID of our own that the rule does not give. To be called while
 * adapters are created. */
void roce_add_own(const uint8_t gid[16], const uint8_t mac[6]);
/* Notes the Ethernet address that GID was heard from. */
void roce_learn(const uint8_t gid[16], const uint8_t mac[6]);
/* Returns the UDP source port of packets with that flow label (IBTA, annex A17.9.6). */
uint16_t roce_udp_source(uint32_t flow_label);

#endif

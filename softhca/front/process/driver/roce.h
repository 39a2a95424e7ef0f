/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * roce.h - MAC addresses of GIDs on RoCE, without a network stack to resolve them.
 *
 * Adapters of a fabric derive port addresses by a rule, so a peer's MAC address follows from its
 * GID; those of virtual machines are learned. Only for the notification thread.
 */
#ifndef SOFTHCA_FRONT_PROCESS_DRIVER_ROCE_H
#define SOFTHCA_FRONT_PROCESS_DRIVER_ROCE_H

#include <stdint.h>

/* Computes the MAC address of a port from its GUID: the EUI-64 without its middle bytes (RFC 4291,
 * appendix A). */
void roce_port_mac(uint64_t port_guid, uint8_t mac[6]);
void roce_resolve(const uint8_t gid[16], uint8_t mac[6]);
/* Adds the MAC address of a GID of our own, from which roce_resolve() cannot compute it. Call it
 * only while adapters are created, as readers take no lock. */
void roce_add_own(const uint8_t gid[16], const uint8_t mac[6]);
void roce_learn(const uint8_t gid[16], const uint8_t mac[6]);
/* Returns the UDP source port of packets with that flow label (IBTA, annex A17.9.6). */
uint16_t roce_udp_source(uint32_t flow_label);

#endif

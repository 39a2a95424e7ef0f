/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * vport.h - the NIC vport: the function's port of an embedded switch. There is no switch here, and
 * one vport serves all ports.
 */
#ifndef SOFTHCA_DEVICE_ETH_VPORT_H
#define SOFTHCA_DEVICE_ETH_VPORT_H

#include <stdbool.h>
#include <stdint.h>

struct hca_config;

enum {
	VPORT_LOG_UC = 7,
	VPORT_LOG_MC = 8,
	VPORT_LOG_VLAN = 9,
	VPORT_LIST_MAX = 1 << VPORT_LOG_VLAN,
};

/* Lists of addresses and VLANs, kept for queries only. */
enum vport_list { VPORT_UNICAST, VPORT_MULTICAST, VPORT_VLANS, VPORT_LISTS };

struct vport {
	uint8_t mac[6];
	uint16_t mtu;
	bool roce;
	bool no_local_uc, no_local_mc;
	bool promisc_uc, promisc_mc, promisc_all;
	uint64_t port_guid, node_guid;
	uint8_t admin_state;
	unsigned int list_size[VPORT_LISTS];
	uint64_t list[VPORT_LISTS][VPORT_LIST_MAX];
};

void vport_init(struct vport *vport, const struct hca_config *config);
/* Returns whether a frame from our own queues to this address loops back. */
bool vport_loops_back(const struct vport *vport, const uint8_t mac[6]);

#endif

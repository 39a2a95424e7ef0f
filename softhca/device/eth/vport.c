/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * vport.c - the NIC vport: the function's MAC address, and its settings for received frames.
 *
 * The adapter has one function and no switch, so flow tables alone decide which frames arrive.
 * Address lists and promiscuous bits have no effect; they are kept for queries.
 */
#include <string.h>

#include "softhca/device/eth/eth.h"

/* Takes the MAC address from the GUID, as a GUID is an EUI-64 made of an EUI-48. */
void vport_init(struct vport *vport, const struct hca_config *config)
{
	uint64_t guid = config->node_guid;

	put_be16(vport->mac, (uint16_t)(guid >> 48));
	vport->mac[2] = (uint8_t)(guid >> 40);
	vport->mac[3] = (uint8_t)(guid >> 16);
	put_be16(vport->mac + 4, (uint16_t)guid);
	vport->mtu = PORT_MTU_DEFAULT;
	vport->node_guid = guid;
	vport->port_guid = guid + 1;
	vport->admin_state = 1;
}

bool vport_loops_back(const struct vport *vport, const uint8_t mac[6])
{
	if (mac[0] & ETHERNET_GROUP)
		return !vport->no_local_mc;
	return !vport->no_local_uc && !memcmp(mac, vport->mac, sizeof(vport->mac));
}

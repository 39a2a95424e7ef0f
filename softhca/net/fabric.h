/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * fabric.h - the fabric that connects adapters, for fronts: LIDs on InfiniBand, GIDs on RoCE.
 *
 * A front creates one fabric, names it in the hca_config of each adapter, and destroys it after
 * them. Adapters use softhca/device/fabric.h.
 */
#ifndef SOFTHCA_NET_FABRIC_H
#define SOFTHCA_NET_FABRIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "softhca/device/fabric.h"
#include "softhca/net/service.h"

/*
 * Connects to other processes and starts a capture; call it before the first adapter is created.
 * Processes that name the directory NETWORK are hosts of one network; each has a number, from which
 * GUIDs and MACs are made. CAPTURE is a file for all packets, also those between adapters of this
 * process. Either may be NULL. Returns 0, or an errno after reporting the error. Without a network
 * the number is 0 and the descriptor -1.
 */
int fabric_connect(struct fabric *fabric, bool ethernet, const char *network, const char *capture);
bool fabric_is_joined(const struct fabric *fabric);
unsigned int fabric_host_number(const struct fabric *fabric);
/* Returns the node GUID of adapter INDEX (below 16) of a host; GUIDs and MACs of its ports derive
 * from it. It is unique on a network, and so are its lower three bytes. */
static inline uint64_t fabric_guid(unsigned int host, unsigned int index)
{
	return 0x0002c9fffe5f0000ull + (host << 12) + (index << 8);
}
/* Describes the ports of this process in the network's directory, for `softhca hosts`. A front
 * calls it when its adapters exist; fabric_progress() does so after each change. Does nothing
 * without a network. */
void fabric_describe(struct fabric *fabric);
/* Descriptor to poll for reading: when readable, call fabric_progress(). */
int fabric_fd(const struct fabric *fabric);

/* Receives a bounded amount from other hosts, and never blocks. Returns true if something came or a
 * socket takes data again: adapters may have work then. NOW_NS is as for hca_progress(). */
bool fabric_progress(struct fabric *fabric, uint64_t now_ns);

/* Add a service to those that this process' subnet administration knows, and find services: see
 * services_add(), services_find(). */
int fabric_add_service(struct fabric *fabric, const uint8_t record[SERVICE_RECORD_SIZE]);
unsigned int fabric_find_services(struct fabric *fabric, uint64_t components,
				  const uint8_t wanted[SERVICE_RECORD_SIZE],
				  uint8_t (*records)[SERVICE_RECORD_SIZE], unsigned int room);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * fabric.h - what connects adapters, as fronts see it: LIDs on InfiniBand, GIDs on RoCE.
 *
 * A front creates one fabric, names it in hca_config of each adapter it creates and destroys it
 * after them. What the adapters see of it is in softhca/device/fabric.h.
 */
#ifndef SOFTHCA_NET_FABRIC_H
#define SOFTHCA_NET_FABRIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "softhca/device/fabric.h"
#include "softhca/net/service.h"

/*
 * Other processes: those that name the directory NETWORK are the hosts of one network, each with a
 * number of its own, from which GUIDs and MACs are to be made. CAPTURE is a file for all packets,
 * those between adapters of this process as well. Either may be NULL. To be called before the first
 * adapter is created; 0, or an errno after saying what is wrong. Without a network the number is 0
 * and the descriptor -1.
 */
int fabric_connect(struct fabric *fabric, bool ethernet, const char *network, const char *capture);
bool fabric_is_joined(const struct fabric *fabric);
unsigned int fabric_host_number(const struct fabric *fabric);
/* Node GUID of adapter INDEX (below 16) of a host; GUIDs and MACs of its ports follow. Unique on a
 * network, and so are its lower three bytes. */
static inline uint64_t fabric_guid(unsigned int host, unsigned int index)
{
	return 0x0002c9fffe5f0000ull + (host << 12) + (index << 8);
}
/* To be polled for reading: fabric_progress() has something to do. */
int fabric_fd(const struct fabric *fabric);

/* Receives from other hosts, a bounded amount, and never blocks. True when there was something: the
 * adapters may have work then. NOW_NS as for hca_progress(). */
bool fabric_progress(struct fabric *fabric, uint64_t now_ns);

/* What this process' subnet administration knows of services: see services_add(),
 * services_find(). */
int fabric_add_service(struct fabric *fabric, const uint8_t record[SERVICE_RECORD_SIZE]);
unsigned int fabric_find_services(struct fabric *fabric, uint64_t components,
				  const uint8_t wanted[SERVICE_RECORD_SIZE],
				  uint8_t (*records)[SERVICE_RECORD_SIZE], unsigned int room);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * resolve.h - queries to the network, as a kernel makes them: the GID of another host's IP address,
 * the path to a GID, providers of a service. On Ethernet by ARP (RFC 826) and neighbour discovery
 * (RFC 4861), on InfiniBand by ARP over IPoIB (RFC 4391) and subnet administration. IPoIB's
 * requests for our own addresses are answered here too.
 */
#ifndef SOFTHCA_FRONT_PROCESS_UCMA_RESOLVE_H
#define SOFTHCA_FRONT_PROCESS_UCMA_RESOLVE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "softhca/front/process/ucma/gsi.h"
#include "softhca/front/process/timer.h"
#include "softhca/net/service.h"

/* A query that waits for its answer. It is a member of its owner's struct. IP addresses have 16
 * bytes; IPv4 addresses are mapped. */
struct resolution {
	struct timer timer;
	LIST_ENTRY(resolution) entry;
	bool active;
	enum { RESOLVE_ADDRESS, RESOLVE_PATH, RESOLVE_SERVICE } what;
	struct adapter *adapter; /* adapter that sends the query */
	unsigned int port;
	uint8_t own[16], wanted[16]; /* IP addresses; for a path, GIDs */
	/* mask of the components of record that select a service */
	uint64_t components;
	uint8_t record[SERVICE_RECORD_SIZE]; /* the service wanted, then the one found */
	uint64_t give_up;
	uint64_t transaction;
	/* Answer. For an address: its GID, and on RoCE its MAC address. For a path: its
	 * attributes. */
	uint8_t gid[16], mac[6];
	uint16_t dlid;
	uint8_t sl, mtu, rate, lifetime;
	/* Called when the query has ended. STATUS is 0 or minus an errno. */
	void (*done)(struct resolution *resolution, int status);
};

/* Returns whether HOST, an IP address, belongs to PORT of ADAPTER. */
typedef bool (*resolve_own_fn)(const uint8_t host[16], const struct adapter *adapter,
			       unsigned int port);

void resolve_start(resolve_own_fn is_own);
/* Start a query. The caller has set adapter, port, own, wanted and done. The answer comes later,
 * never inside this call. */
void resolve_address(struct resolution *resolution, uint32_t timeout_ms);
void resolve_path(struct resolution *resolution, uint32_t timeout_ms);
/* Starts a query. The caller has set adapter, port, components, record and done. */
void resolve_service(struct resolution *resolution, uint32_t timeout_ms);
void resolve_cancel(struct resolution *resolution);
void resolve_take(const struct gsi_arrival *arrival);

#endif

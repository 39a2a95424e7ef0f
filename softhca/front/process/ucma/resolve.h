/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * resolve.h - where an IP address of another host is, the path to a GID, who offers a service:
 * questions to the network, as a kernel asks them. ARP (RFC 826) and neighbour discovery (RFC 4861)
 * on Ethernet, ARP over IPoIB (RFC 4391) and subnet administration on InfiniBand. IPoIB's questions
 * about our own addresses are answered here, too.
 */
#ifndef SOFTHCA_FRONT_PROCESS_UCMA_RESOLVE_H
#define SOFTHCA_FRONT_PROCESS_UCMA_RESOLVE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "softhca/front/process/ucma/gsi.h"
#include "softhca/front/process/ucma/timer.h"
#include "softhca/net/service.h"

/* A question that waits for its answer; part of who asks. IP addresses are 16 bytes, IPv4 as mapped
 * to IPv6. */
struct resolution {
	struct ucma_timer timer;
	LIST_ENTRY(resolution) entry;
	bool active;
	enum { RESOLVE_ADDRESS, RESOLVE_PATH, RESOLVE_SERVICE } what;
	struct adapter *adapter; /* from where */
	unsigned int port;
	uint8_t own[16], wanted[16]; /* IP addresses, or GIDs for a path */
	uint64_t components;         /* of record: what is known of the service that is wanted */
	uint8_t record[SERVICE_RECORD_SIZE]; /* and what is found */
	uint64_t give_up;                    /* when */
	uint64_t transaction;
	/* The answer: of an address its GID, on RoCE Ethernet address; of a path what it says */
	uint8_t gid[16], mac[6];
	uint16_t dlid;
	uint8_t sl, mtu, rate, lifetime;
	/* STATUS is 0 or minus an errno. */
	void (*done)(struct resolution *resolution, int status);
};

/* Asks whether HOST (an IP address) is one of ours, at PORT of ADAPTER. */
typedef bool (*resolve_own_fn)(const uint8_t host[16], const struct adapter *adapter,
			       unsigned int port);

void resolve_start(resolve_own_fn is_own);
/* The caller has filled adapter, port, own, wanted and done. The answer comes later, not before
 * return. */
void resolve_address(struct resolution *resolution, uint32_t timeout_ms);
void resolve_path(struct resolution *resolution, uint32_t timeout_ms);
/* The caller has filled adapter, port, components, record and done. */
void resolve_service(struct resolution *resolution, uint32_t timeout_ms);
void resolve_cancel(struct resolution *resolution);
/* Takes what arrived, for gsi.h. */
void resolve_take(const struct gsi_arrival *arrival);

#endif

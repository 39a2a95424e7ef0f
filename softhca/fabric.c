/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * fabric.c - connects the ports of adapters in this process: a list of them, and delivery by call.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "softhca/fabric.h"
#include "softhca/device/core.h"

struct station {
	LIST_ENTRY(station) entry;
	struct hca *hca;
	unsigned int port;
	uint16_t lid;
};

struct fabric {
	pthread_mutex_t lock;
	uint16_t next_lid;
	LIST_HEAD(, station) stations;
};

int fabric_create(struct fabric **out)
{
	struct fabric *fabric = calloc(1, sizeof(*fabric));

	if (!fabric)
		return ENOMEM;
	pthread_mutex_init(&fabric->lock, NULL);
	fabric->next_lid = 1;
	LIST_INIT(&fabric->stations);
	*out = fabric;
	return 0;
}

void fabric_destroy(struct fabric *fabric)
{
	pthread_mutex_destroy(&fabric->lock);
	free(fabric);
}

void fabric_lock(struct fabric *fabric)
{
	pthread_mutex_lock(&fabric->lock);
}

void fabric_unlock(struct fabric *fabric)
{
	pthread_mutex_unlock(&fabric->lock);
}

int fabric_attach(struct fabric *fabric, struct hca *hca, unsigned int port, uint16_t *lid)
{
	struct station *station = calloc(1, sizeof(*station));
	bool needs_lid = hca->config.link_layer == HCA_LINK_INFINIBAND;

	if (!station)
		return ENOMEM;
	fabric_lock(fabric);
	station->hca = hca;
	station->port = port;
	station->lid = needs_lid ? fabric->next_lid++ : 0;
	*lid = station->lid;
	LIST_INSERT_HEAD(&fabric->stations, station, entry);
	fabric_unlock(fabric);
	return 0;
}

void fabric_detach(struct fabric *fabric, struct hca *hca)
{
	struct station *station, *next;

	fabric_lock(fabric);
	for (station = LIST_FIRST(&fabric->stations); station; station = next) {
		next = LIST_NEXT(station, entry);
		if (station->hca == hca) {
			LIST_REMOVE(station, entry);
			free(station);
		}
	}
	fabric_unlock(fabric);
}

static bool is_at(const struct station *station, const struct fabric_addr *addr)
{
	if (fabric_is_multicast(addr))
		return true;
	if (addr->by_gid)
		return port_has_gid(station->hca, station->port, addr->dgid);
	return station->lid && station->lid == addr->dlid;
}

/* The faults that are due: it may be lost, and its sender may die. */
static bool is_lost(struct hca *from)
{
	enum fault_action action = fault_message(from->config.fault);

	if (action == FAULT_KILL)
		hca_die(from);
	return action != FAULT_NONE;
}

void fabric_send(struct fabric *fabric, struct hca *from, const struct fabric_msg *msg)
{
	bool multicast = fabric_is_multicast(&msg->addr);
	struct station *station;

	if (from->dead || !port_is_up(from, msg->addr.port))
		return;
	if (is_lost(from)) {
		trace_line(from->config.trace, "fault: message of QP 0x%06x, PSN 0x%06x is lost",
			   msg->src_qpn, msg->psn);
		return;
	}
	LIST_FOREACH(station, &fabric->stations, entry)
	{
		if (!is_at(station, &msg->addr) || !port_is_up(station->hca, station->port))
			continue;
		/* timers of the receiver count from here, too */
		if (station->hca->now < from->now)
			station->hca->now = from->now;
		hca_receive(station->hca, station->port, msg);
		if (!multicast)
			return;
	}
}

static bool hears(const struct station *station, const struct hca *from, unsigned int port)
{
	return station->hca->config.link_layer == HCA_LINK_ETHERNET &&
	       (station->hca != from || station->port != port) &&
	       port_is_up(station->hca, station->port);
}

void fabric_send_frame(struct fabric *fabric, struct hca *from, unsigned int port,
		       const uint8_t *frame, size_t len)
{
	struct station *station;

	if (from->dead || !port_is_up(from, port) || len < FABRIC_FRAME_MIN || len > FABRIC_FRAME_MAX)
		return;
	if (is_lost(from)) {
		trace_line(from->config.trace, "fault: a frame of %zu bytes is lost", len);
		return;
	}
	LIST_FOREACH(station, &fabric->stations, entry)
	if (hears(station, from, port))
		hca_receive_frame(station->hca, station->port, frame, len);
}

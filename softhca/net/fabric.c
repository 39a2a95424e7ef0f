/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * fabric.c - connects the ports of the adapters in this process, and delivers messages by function
 * calls. The uplink takes messages for other processes, and all that must become packets for a
 * capture. Decision: docs/adr/0040.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "softhca/net/fabric.h"
#include "softhca/log.h"
#include "softhca/net/inbox.h"
#include "softhca/net/leaf.h"
#include "softhca/net/subnet.h"
#include "softhca/device/station.h"
#include "softhca/net/neighbour.h"
#include "softhca/net/uplink.h"

struct station {
	LIST_ENTRY(station) entry;
	struct hca *hca;
	unsigned int port;
	uint16_t lid;
};

struct fabric {
	pthread_mutex_t next; /* held by the thread that gets the lock next */
	pthread_mutex_t lock;
	uint64_t now;
	struct uplink *uplink;
	struct subnet *subnet;
	struct leaf leaf;   /* InfiniBand only */
	struct inbox inbox; /* datagrams for the leaf and the subnet */
	bool is_described;  /* the directory has the current description of the ports */
	LIST_HEAD(, station) stations;
};

static void message_arrived(void *owner, const struct fabric_msg *msg);
static void frame_arrived(void *owner, const uint8_t *frame, size_t len);

static uint16_t find_lid(void *owner, const uint8_t gid[16]);
static bool find_port(void *owner, uint16_t lid, struct hca **hca, unsigned int *port);
static bool has_host(void *owner, unsigned int host);
static void send_mad(void *owner, const struct fabric_msg *msg);
static bool ask_port(void *owner, unsigned int number, const uint8_t *in, uint8_t *out,
		     uint16_t *lid);

static const struct uplink_ops uplink_ops = { message_arrived, frame_arrived };
static const struct subnet_ops subnet_ops = { find_lid, ask_port };
static const struct leaf_ops leaf_ops = { find_port, has_host, send_mad };

int fabric_create(struct fabric **out)
{
	struct fabric *fabric = calloc(1, sizeof(*fabric));
	int ret = fabric ? subnet_create(&subnet_ops, fabric, &fabric->subnet) : ENOMEM;

	if (ret)
		goto free_fabric;
	ret = uplink_create(&uplink_ops, fabric, &fabric->uplink);
	if (ret)
		goto destroy_subnet;
	pthread_mutex_init(&fabric->next, NULL);
	pthread_mutex_init(&fabric->lock, NULL);
	LIST_INIT(&fabric->stations);
	inbox_init(&fabric->inbox);
	fabric->leaf.ops = &leaf_ops;
	fabric->leaf.owner = fabric;
	*out = fabric;
	return 0;
destroy_subnet:
	subnet_destroy(fabric->subnet);
free_fabric:
	free(fabric);
	return ret;
}

void fabric_destroy(struct fabric *fabric)
{
	inbox_clear(&fabric->inbox);
	subnet_destroy(fabric->subnet);
	uplink_destroy(fabric->uplink);
	pthread_mutex_destroy(&fabric->lock);
	pthread_mutex_destroy(&fabric->next);
	free(fabric);
}

/* The engine's thread takes the lock again as soon as it has released it. With the lock alone, it
 * would succeed before a waiting thread wakes up. The waiting thread holds NEXT meanwhile, so the
 * engine waits for it. */
void fabric_lock(struct fabric *fabric)
{
	pthread_mutex_lock(&fabric->next);
	pthread_mutex_lock(&fabric->lock);
	pthread_mutex_unlock(&fabric->next);
}

void fabric_unlock(struct fabric *fabric)
{
	pthread_mutex_unlock(&fabric->lock);
}

static int fabric_join(struct fabric *fabric, const char *path, bool ethernet)
{
	int ret = uplink_join(fabric->uplink, path, ethernet);

	if (ret == EPROTOTYPE)
		log_error("--network %s: its hosts have the other link layer", path);
	else if (ret == EMFILE)
		log_error("--network %s: no room for another host", path);
	else if (ret)
		log_error("--network %s: %s", path, strerror(ret));
	return ret;
}

static int fabric_capture(struct fabric *fabric, const char *path, bool ethernet)
{
	int ret = uplink_capture(fabric->uplink, path, ethernet);

	if (ret)
		log_error("--pcap %s: %s", path, strerror(ret));
	return ret;
}

int fabric_connect(struct fabric *fabric, bool ethernet, const char *network, const char *file)
{
	int ret = network ? fabric_join(fabric, network, ethernet) : 0;

	fabric->leaf.joined = fabric_is_joined(fabric);
	fabric->leaf.host = fabric_host_number(fabric);
	return !ret && file ? fabric_capture(fabric, file, ethernet) : ret;
}

bool fabric_is_joined(const struct fabric *fabric)
{
	return uplink_is_joined(fabric->uplink);
}

unsigned int fabric_host_number(const struct fabric *fabric)
{
	return uplink_number(fabric->uplink);
}

int fabric_fd(const struct fabric *fabric)
{
	return uplink_fd(fabric->uplink);
}

static bool is_taken(const struct fabric *fabric, uint16_t lid)
{
	const struct station *station;

	LIST_FOREACH(station, &fabric->stations, entry)
		if (station->lid == lid)
			return true;
	return false;
}

static uint16_t free_lid(const struct fabric *fabric)
{
	uint16_t lid = (uint16_t)(fabric_host_number(fabric) * UPLINK_LIDS + 1);

	while (is_taken(fabric, lid))
		lid++;
	return lid;
}

int fabric_attach(struct fabric *fabric, struct hca *hca, unsigned int port, uint16_t *lid)
{
	struct station *station = calloc(1, sizeof(*station));
	bool needs_lid = !station_is_ethernet(hca);

	if (!station)
		return ENOMEM;
	fabric_lock(fabric);
	station->hca = hca;
	station->port = port;
	station->lid = needs_lid ? free_lid(fabric) : 0;
	*lid = station->lid;
	if (needs_lid && fabric->leaf.own < (station->lid - 1u) % UPLINK_LIDS + 1)
		fabric->leaf.own = (station->lid - 1u) % UPLINK_LIDS + 1;
	LIST_INSERT_HEAD(&fabric->stations, station, entry);
	fabric_port_changed(fabric);
	fabric_unlock(fabric);
	return 0;
}

void fabric_detach(struct fabric *fabric, struct hca *hca)
{
	struct station *next;

	fabric_lock(fabric);
	for (struct station *station = LIST_FIRST(&fabric->stations); station; station = next) {
		next = LIST_NEXT(station, entry);
		if (station->hca == hca) {
			LIST_REMOVE(station, entry);
			free(station);
		}
	}
	fabric_port_changed(fabric);
	fabric_unlock(fabric);
}

void fabric_port_changed(struct fabric *fabric)
{
	fabric->is_described = false;
}

static void stations_describe(const struct station *station, FILE *file)
{
	if (!station)
		return;
	stations_describe(LIST_NEXT(station, entry), file);
	station_describe(station->hca, station->port, file);
}

static void describe_locked(struct fabric *fabric)
{
	char *text = NULL;
	size_t len;
	FILE *file;
	int ret = ENOMEM;

	if (fabric->is_described || !fabric_is_joined(fabric))
		return;
	fabric->is_described = true;
	file = open_memstream(&text, &len);
	if (file) {
		stations_describe(LIST_FIRST(&fabric->stations), file);
		if (!fclose(file))
			ret = uplink_describe(fabric->uplink, text, len);
	}
	if (ret)
		log_note("network: this host is not described: %s", strerror(ret));
	free(text);
}

void fabric_describe(struct fabric *fabric)
{
	fabric_lock(fabric);
	describe_locked(fabric);
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

static bool is_at_one(const struct fabric *fabric, const struct fabric_addr *addr)
{
	const struct station *station;

	LIST_FOREACH(station, &fabric->stations, entry)
		if (is_at(station, addr))
			return true;
	return false;
}

static bool is_local(const struct fabric *fabric, const struct fabric_msg *msg)
{
	if (fabric_is_multicast(&msg->addr))
		return false;
	if (leaf_is_asked(&fabric->leaf, msg))
		return true;
	if (subnet_is_asked(msg))
		return !fabric_is_joined(fabric) || subnet_knows(fabric->subnet, msg);
	return is_at_one(fabric, &msg->addr);
}

static uint16_t find_lid(void *owner, const uint8_t gid[16])
{
	struct fabric *fabric = owner;
	struct station *station;

	LIST_FOREACH(station, &fabric->stations, entry)
		if (station->lid && port_has_gid(station->hca, station->port, gid))
			return station->lid;
	return 0;
}

/* Sends a management query to a port: 0 is the switch, 1 and up are the ports of this process in
 * the order of their LIDs. */
static bool ask_port(void *owner, unsigned int number, const uint8_t *in, uint8_t *out,
		     uint16_t *lid)
{
	struct fabric *fabric = owner;
	unsigned int port;
	struct hca *hca;

	*lid = number ? (uint16_t)(fabric->leaf.host * UPLINK_LIDS + number)
		      : leaf_lid(fabric->leaf.host);
	if (!number)
		return leaf_answer_mad(&fabric->leaf, 0, in, out);
	return find_port(fabric, *lid, &hca, &port) && station_answer_mad(hca, port, in, out);
}

int fabric_add_service(struct fabric *fabric, const uint8_t record[SERVICE_RECORD_SIZE])
{
	int ret;

	fabric_lock(fabric);
	ret = services_add(subnet_services(fabric->subnet), record);
	fabric_unlock(fabric);
	return ret;
}

unsigned int fabric_find_services(struct fabric *fabric, uint64_t components,
				  const uint8_t wanted[SERVICE_RECORD_SIZE],
				  uint8_t (*records)[SERVICE_RECORD_SIZE], unsigned int room)
{
	unsigned int count;

	fabric_lock(fabric);
	count = services_find(subnet_services(fabric->subnet), components, wanted, records, room);
	fabric_unlock(fabric);
	return count;
}

static void message_deliver(struct fabric *fabric, const struct fabric_msg *msg);

static bool find_port(void *owner, uint16_t lid, struct hca **hca, unsigned int *port)
{
	struct fabric *fabric = owner;
	struct station *station;

	LIST_FOREACH(station, &fabric->stations, entry) {
		if (!station->lid || station->lid != lid)
			continue;
		*hca = station->hca;
		*port = station->port;
		return true;
	}
	return false;
}

static bool has_host(void *owner, unsigned int host)
{
	struct fabric *fabric = owner;

	return uplink_has_host(fabric->uplink, host);
}

static void send_mad(void *owner, const struct fabric_msg *msg)
{
	struct fabric *fabric = owner;

	if (!uplink_send(fabric->uplink, NULL, msg, is_local(fabric, msg)))
		message_deliver(fabric, msg);
}

static bool is_from_here(const struct fabric *fabric, const struct fabric_msg *msg)
{
	const struct fabric_addr back = { .dlid = msg->addr.slid };

	return is_at_one(fabric, &back);
}

/* Returns whether this process answers a query. It answers those of its own adapters. Of other
 * hosts' queries it answers only those about its own ports and services, as each process does. */
static bool is_for_us(const struct fabric *fabric, const struct fabric_msg *msg)
{
	return is_from_here(fabric, msg) || subnet_is_about_own(fabric->subnet, msg);
}

/* Checks again whose query it is, as the adapter may have left since it sent the query. */
static void ask_subnet(struct fabric *fabric, const struct fabric_msg *msg)
{
	bool last = is_from_here(fabric, msg) && !fabric_is_joined(fabric);
	uint8_t mad[MAD_SIZE];
	struct fabric_msg answer;

	if (!is_for_us(fabric, msg))
		return;
	if (!subnet_answer(fabric->subnet, msg, last, mad, &answer))
		return;
	do
		send_mad(fabric, &answer);
	while (subnet_answer_more(fabric->subnet, mad, &answer));
}

/* Serves the datagrams that have come for the switch and for subnet administration. Serving one may
 * put another for the switch in the inbox. Returns whether there were any. */
static bool inbox_serve(struct fabric *fabric)
{
	struct letter *letter;
	bool served = false;

	while ((letter = inbox_take(&fabric->inbox)) != NULL) {
		if (leaf_is_asked(&fabric->leaf, &letter->msg))
			leaf_receive(&fabric->leaf, &letter->msg);
		else
			ask_subnet(fabric, &letter->msg);
		free(letter);
		served = true;
	}
	return served;
}

static void message_deliver(struct fabric *fabric, const struct fabric_msg *msg)
{
	bool multicast = fabric_is_multicast(&msg->addr);
	struct station *station;

	if (leaf_is_asked(&fabric->leaf, msg)) {
		inbox_put(&fabric->inbox, msg);
		return;
	}
	if (subnet_is_asked(msg)) {
		if (is_for_us(fabric, msg))
			inbox_put(&fabric->inbox, msg);
		return;
	}
	LIST_FOREACH(station, &fabric->stations, entry) {
		if (!is_at(station, &msg->addr) || !port_is_up(station->hca, station->port))
			continue;
		station_receive(station->hca, station->port, fabric->now, msg);
		if (!multicast)
			return;
	}
}

static void message_arrived(void *owner, const struct fabric_msg *msg)
{
	message_deliver(owner, msg);
}

void fabric_send(struct fabric *fabric, uint64_t now, struct fault *fault,
		 const struct fabric_msg *msg)
{
	fabric->now = now;
	if (!uplink_send(fabric->uplink, fault, msg, is_local(fabric, msg)))
		message_deliver(fabric, msg);
}

static bool station_hears(const struct station *station, const struct hca *from, unsigned int port)
{
	return station_is_ethernet(station->hca) && (station->hca != from || station->port != port);
}

void fabric_send_frame(struct fabric *fabric, const struct hca *from, unsigned int port,
		       uint64_t now, struct fault *fault, const uint8_t *frame, size_t len)
{
	struct station *station;

	LIST_FOREACH(station, &fabric->stations, entry)
		if (station_hears(station, from, port))
			station_receive_frame(station->hca, station->port, now, frame, len);
	uplink_send_frame(fabric->uplink, fault, frame, len);
}

static bool find_neighbour(void *owner, const uint8_t gid[16], uint8_t mac[6])
{
	struct fabric *fabric = owner;
	struct station *station;

	LIST_FOREACH(station, &fabric->stations, entry)
		if (station_hears(station, NULL, 0) &&
		    station_find_mac(station->hca, station->port, gid, mac))
			return true;
	return false;
}

static void frame_arrived(void *owner, const uint8_t *frame, size_t len)
{
	struct fabric *fabric = owner;
	uint8_t answer[NEIGHBOUR_ANSWER_MAX];
	struct station *station;
	size_t answer_len;

	if (len > FABRIC_FRAME_MAX)
		return;
	answer_len = neighbour_answer(frame, len, find_neighbour, fabric, answer);
	if (answer_len)
		uplink_send_frame(fabric->uplink, NULL, answer, answer_len);
	LIST_FOREACH(station, &fabric->stations, entry)
		if (station_hears(station, NULL, 0))
			station_receive_frame(station->hca, station->port, 0, frame, len);
}

static void stations_settle(struct fabric *fabric)
{
	struct station *station;

	LIST_FOREACH(station, &fabric->stations, entry)
		station_settle(station->hca);
}

/* Ends a round of sends. Adapters first write the completions that they hold back, since no answer
 * may come before them. */
static void fabric_settle(struct fabric *fabric)
{
	stations_settle(fabric);
	if (inbox_serve(fabric))
		stations_settle(fabric);
	uplink_flush(fabric->uplink);
}

bool fabric_progress(struct fabric *fabric, uint64_t now_ns)
{
	bool worked;

	fabric_lock(fabric);
	fabric->now = now_ns;
	worked = uplink_progress(fabric->uplink, now_ns);
	fabric_settle(fabric);
	describe_locked(fabric);
	fabric_unlock(fabric);
	return worked;
}

bool fabric_is_congested(const struct fabric *fabric)
{
	return uplink_is_congested(fabric->uplink);
}

void fabric_flush(struct fabric *fabric)
{
	uplink_rest(fabric->uplink);
	fabric_settle(fabric);
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * gsi.c - see gsi.h. The device core delivers datagrams with the fabric's lock held, so they wait
 * in a queue, bounded like a QP's. Decision: docs/adr/0047.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "ib/ethernet.h"
#include "ib/mad.h"
#include "softhca/front/process/driver/adapter.h"
#include "softhca/front/process/driver/engine.h"
#include "softhca/front/process/driver/roce.h"
#include "softhca/front/process/ucma/gsi.h"
#include "softhca/front/process/watch.h"

enum {
	MAX_WAITING = 8192,
	MAX_BYTES = 512,
};

struct packet {
	STAILQ_ENTRY(packet) entry;
	struct gsi_arrival arrival;
	uint8_t bytes[];
};

static struct {
	struct watch watch;
	void (*take)(const struct gsi_arrival *arrival);
	void (*died)(struct adapter *adapter);
	void (*also)(const struct gsi_arrival *arrival);
	void (*also_died)(struct adapter *adapter);
	pthread_mutex_t lock; /* guards the fields below */
	unsigned int waiting;
	STAILQ_HEAD(, packet) packets;
} gsi = { .watch.fd = -1, .lock = PTHREAD_MUTEX_INITIALIZER };

static void packet_enqueue(const struct gsi_arrival *arrival)
{
	struct packet *packet = malloc(sizeof(*packet) + arrival->len);
	bool full;

	if (!packet)
		return;
	packet->arrival = *arrival;
	packet->arrival.bytes = packet->bytes;
	memcpy(packet->bytes, arrival->bytes, arrival->len);
	pthread_mutex_lock(&gsi.lock);
	full = gsi.watch.fd < 0 || (gsi.waiting >= MAX_WAITING && !arrival->death);
	if (!full) {
		STAILQ_INSERT_TAIL(&gsi.packets, packet, entry);
		if (!gsi.waiting++)
			eventfd_write(gsi.watch.fd, 1);
	}
	pthread_mutex_unlock(&gsi.lock);
	if (full)
		free(packet);
}

static bool is_wanted(const struct fabric_msg *msg)
{
	if (msg->dest_qpn == SMI_QPN)
		return msg->payload_len == MAD_SIZE;
	if (msg->dest_qpn == GSI_QPN)
		return msg->qkey == GSI_QKEY && msg->payload_len == MAD_SIZE;
	return msg->qkey == IPOIB_QKEY && msg->payload_len <= MAX_BYTES &&
	       (msg->dest_qpn == GSI_IPOIB_QPN || fabric_is_multicast(&msg->addr));
}

void gsi_datagram(void *adapter, unsigned int port, const struct fabric_msg *msg)
{
	struct gsi_arrival arrival = {
		.adapter = adapter,
		.port = port,
		.addr = msg->addr,
		.dest_qpn = msg->dest_qpn,
		.src_qpn = msg->src_qpn,
		.bytes = msg->payload,
		.len = msg->payload_len,
	};

	if (is_wanted(msg))
		packet_enqueue(&arrival);
}

void gsi_frame(void *adapter, unsigned int port, const uint8_t *frame, size_t len)
{
	struct gsi_arrival arrival = {
		.adapter = adapter, .port = port, .frame = true, .bytes = frame, .len = len
	};
	unsigned int type = len > ETHERNET_SIZE ? fld_get16(frame, ETHERNET_TYPE) : 0;

	if (len <= MAX_BYTES && (type == ETHERTYPE_ARP || type == ETHERTYPE_V6))
		packet_enqueue(&arrival);
}

void gsi_adapter_died(struct adapter *adapter)
{
	static const uint8_t nothing;
	struct gsi_arrival arrival = { .adapter = adapter, .death = true, .bytes = &nothing };

	packet_enqueue(&arrival);
}

static bool find_gid(struct adapter *adapter, unsigned int port, const struct fabric_addr *addr,
		     uint8_t *index)
{
	struct gid_entry entry;
	int ret;

	for (uint32_t i = 0; (ret = adapter_query_gid(adapter, port, i, &entry)) != EINVAL; i++) {
		bool v2 = entry.kind == GID_ROCE_V2;

		if (ret || memcmp(entry.gid, addr->dgid, 16) ||
		    (addr->by_gid && v2 != (addr->roce == FABRIC_ROCE_V2)))
			continue;
		*index = (uint8_t)i;
		return true;
	}
	return false;
}

/* Fills PATH with the way back to ARRIVAL's sender. */
static void path_back(const struct gsi_arrival *arrival, struct cm_path *path)
{
	const struct fabric_addr *addr = &arrival->addr;
	struct port_info info;

	*path = (struct cm_path){
		.adapter = arrival->adapter,
		.port = arrival->port,
		.slid = addr->dlid,
		.dlid = addr->slid,
		.sl = addr->sl,
		.grh = addr->grh,
		.hop_limit = cm_path_hop_limit(addr->by_gid),
		.traffic_class = addr->traffic_class,
		.rate = RATE_100_GBPS,
		.lifetime = cm_path_lifetime(addr->by_gid),
	};
	memcpy(path->sgid, addr->dgid, 16);
	memcpy(path->dgid, addr->sgid, 16);
	memcpy(path->dmac, addr->smac, 6);
	if (addr->grh)
		find_gid(arrival->adapter, arrival->port, addr, &path->gid_index);
	if (!adapter_query_port(arrival->adapter, arrival->port, &info))
		path->mtu = info.active_mtu;
}

static void hand_over(const struct gsi_arrival *arrival)
{
	struct cm_path path;

	if (arrival->death) {
		gsi.died(arrival->adapter);
		if (gsi.also_died)
			gsi.also_died(arrival->adapter);
		return;
	}
	if (!arrival->frame && arrival->dest_qpn == GSI_QPN) {
		path_back(arrival, &path);
		if (path.grh && adapter_is_roce(path.adapter))
			roce_learn(path.dgid, path.dmac);
		if (cm_receive(&path, arrival->bytes))
			return;
	}
	if (arrival->frame || arrival->dest_qpn != SMI_QPN)
		gsi.take(arrival);
	if (gsi.also)
		gsi.also(arrival);
}

static struct packet *packet_dequeue(void)
{
	struct packet *packet;

	pthread_mutex_lock(&gsi.lock);
	packet = STAILQ_FIRST(&gsi.packets);
	if (packet) {
		STAILQ_REMOVE_HEAD(&gsi.packets, entry);
		gsi.waiting--;
	}
	pthread_mutex_unlock(&gsi.lock);
	return packet;
}

static void gsi_ready(struct watch *watch, uint32_t events)
{
	struct packet *packet;
	eventfd_t count;

	(void)events;
	eventfd_read(watch->fd, &count);
	while ((packet = packet_dequeue()) != NULL) {
		hand_over(&packet->arrival);
		free(packet);
	}
}

int gsi_open(void (*take)(const struct gsi_arrival *arrival), void (*died)(struct adapter *adapter))
{
	int ret;

	STAILQ_INIT(&gsi.packets);
	gsi.take = take;
	gsi.died = died;
	gsi.watch = (struct watch){ eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), gsi_ready };
	if (gsi.watch.fd < 0)
		return errno;
	ret = watch_add(&gsi.watch, EPOLLIN);
	if (ret) {
		close(gsi.watch.fd);
		gsi.watch.fd = -1;
	}
	return ret;
}

void gsi_close(void)
{
	struct packet *packet;

	watch_remove(&gsi.watch);
	while ((packet = packet_dequeue()) != NULL)
		free(packet);
	pthread_mutex_lock(&gsi.lock);
	close(gsi.watch.fd);
	gsi.watch.fd = -1;
	pthread_mutex_unlock(&gsi.lock);
}

static void send_datagram(struct adapter *adapter, const struct hca_datagram *datagram)
{
	hca_send_datagram(adapter->hca, datagram);
	engine_kick();
}

void gsi_send(const struct cm_path *path, const uint8_t mad[MAD_SIZE])
{
	struct hca_datagram datagram = {
		.port = path->port,
		.gid_index = path->gid_index,
		.dlid = path->dlid,
		.sl = path->sl,
		.grh = path->grh,
		.traffic_class = path->traffic_class,
		.hop_limit = path->hop_limit,
		.flow_label = path->flow_label,
		.udp_sport = roce_udp_source(path->flow_label),
		.dest_qpn = GSI_QPN,
		.src_qpn = GSI_QPN,
		.qkey = GSI_QKEY,
		.payload = mad,
		.len = MAD_SIZE,
	};

	memcpy(datagram.dgid, path->dgid, 16);
	memcpy(datagram.dmac, path->dmac, 6);
	send_datagram(path->adapter, &datagram);
}

void gsi_send_ipoib(struct adapter *adapter, unsigned int port, uint16_t dlid,
		    const uint8_t dgid[16], uint32_t dest_qpn, const void *bytes, size_t len)
{
	struct hca_datagram datagram = {
		.port = port,
		.dlid = dlid,
		.grh = dgid[0] == 0xff,
		.dest_qpn = dest_qpn,
		.src_qpn = GSI_IPOIB_QPN,
		.qkey = IPOIB_QKEY,
		.payload = bytes,
		.len = len,
	};

	memcpy(datagram.dgid, dgid, 16);
	send_datagram(adapter, &datagram);
}

void gsi_show(void (*also)(const struct gsi_arrival *arrival),
	      void (*also_died)(struct adapter *adapter))
{
	gsi.also = also;
	gsi.also_died = also_died;
}

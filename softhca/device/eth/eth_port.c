/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * eth_port.c - the Ethernet side of a port: counts frames that leave and arrive, and moves them
 * between the port and the flow tables.
 */
#include <string.h>

#include "softhca/device/eth/eth.h"

static bool is_group(const uint8_t *frame)
{
	return frame[0] & 1;
}

static void count_frame(struct frame_counters *counters, const uint8_t *frame, size_t len)
{
	static const uint8_t broadcast[6] = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff };
	static const uint16_t sizes[FRAME_SIZES - 1] = { 64,   127,  255,  511, 1023,
							 1518, 2047, 4095, 8191 };
	unsigned int size = 0;

	counters->frames++;
	counters->bytes += len;
	if (!memcmp(frame, broadcast, sizeof(broadcast))) {
		counters->broadcast++;
		counters->broadcast_bytes += len;
	} else if (is_group(frame)) {
		counters->multicast++;
		counters->multicast_bytes += len;
	}
	while (size < FRAME_SIZES - 1 && len + FRAME_FCS_LEN > sizes[size])
		size++;
	counters->by_size[size]++;
}

static unsigned int port_of(const struct hca *hca, const struct eth_sq *sq)
{
	unsigned int port = sq->tis ? sq->tis->port : 0;

	return port && port <= hca->config.num_ports ? port : 1;
}

static void steer_received(struct hca *hca, struct eth_arrival *arrival)
{
	if (hca->format->steer)
		hca->format->steer(hca, arrival);
	else
		flow_steer(hca, hca->eth->root[PRM_FLOW_NIC_RX], arrival, 0);
}

/* Delivers a sent frame to our own receive queues, and then restores ARRIVAL's frame: tables of the
 * receiving side may change it, and the wire gets the original. */
static void loop_back(struct hca *hca, struct eth_sq *sq, struct eth_arrival *arrival)
{
	const struct frame sent = arrival->frame;

	arrival->sender = sq->tis ? sq->tis->td : NULL;
	steer_received(hca, arrival);
	arrival->frame = sent;
}

/* Gives the sniffers a copy of a frame that leaves the port. A frame that only loops back is not
 * shown, as sniffers see it when it arrives. */
static void show_sent(struct hca *hca, const struct eth_sq *sq, const struct frame *frame)
{
	struct flow_table *table = hca->eth->root[PRM_FLOW_SNIFFER_TX];
	struct eth_arrival arrival = { .tag = 0 };

	if (!table && !hca->format->sniff)
		return;
	arrival.frame = *frame;
	if (hca->format->sniff)
		hca->format->sniff(hca, &arrival);
	else
		flow_steer(hca, table, &arrival, sq->n);
	frame_copies_free(&arrival.copies);
}

static bool fits_port(const struct hca *hca, unsigned int port, size_t len)
{
	return port_is_up(hca, port) && len + FRAME_FCS_LEN <= hca->port[port - 1].mtu;
}

/* Sends a frame that flow tables have let pass, and drops one that a tunnel has made too long.
 * Unicast to our own address only loops back; multicast loops back and leaves. Pads a short frame
 * here, not before flow tables, as a tunnel must not carry padding: the buffer has zeros up to
 * ETHERNET_MIN bytes, also in copies. */
static void send_steered(struct hca *hca, struct eth_sq *sq, struct eth_arrival *arrival)
{
	struct frame *frame = &arrival->frame;
	const bool loops = vport_loops_back(&hca->eth->vport, frame->bytes);
	const unsigned int port = port_of(hca, sq);

	if (!fits_port(hca, port, frame->len)) {
		hca->port[port - 1].sent.discards++;
		return;
	}
	if (frame->len < ETHERNET_MIN)
		frame->len = ETHERNET_MIN;
	if (loops)
		loop_back(hca, sq, arrival);
	if (loops && !is_group(frame->bytes))
		return;
	count_frame(&hca->port[port - 1].sent, frame->bytes, frame->len);
	show_sent(hca, sq, frame);
	station_send_frame(hca, port, frame->bytes, frame->len);
}

void eth_transmit(struct hca *hca, struct eth_sq *sq, const uint8_t *bytes, size_t len)
{
	unsigned int port = port_of(hca, sq);
	struct eth_arrival arrival = { .tag = 0 };

	if (!fits_port(hca, port, len)) {
		hca->port[port - 1].sent.discards++;
		return;
	}
	frame_parse(&arrival.frame, bytes, len);
	if (flow_steer(hca, hca->eth->root[PRM_FLOW_NIC_TX], &arrival, sq->n))
		send_steered(hca, sq, &arrival);
	frame_copies_free(&arrival.copies);
}

void eth_port_receive(struct hca *hca, unsigned int number, const uint8_t *bytes, size_t len)
{
	struct port *port = &hca->port[number - 1];
	struct eth_arrival arrival = { .tag = 0 };

	if (hca->dead || !port_is_up(hca, number) || len < FABRIC_FRAME_MIN)
		return;
	if (len + FRAME_FCS_LEN > port->mtu) {
		port->received.discards++;
		port->received.too_long++;
		return;
	}
	count_frame(&port->received, bytes, len);
	if (hca->config.frame)
		hca->config.frame(hca->config.front, number, bytes, len);
	frame_parse(&arrival.frame, bytes, len);
	steer_received(hca, &arrival);
	frame_copies_free(&arrival.copies);
}

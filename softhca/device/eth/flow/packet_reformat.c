/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * packet_reformat.c - puts headers of tunnels in front of frames, and takes them away. PRM:
 * ALLOC_PACKET_REFORMAT_CONTEXT
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "softhca/device/eth/eth.h"
#include "softhca/device/eth/tunnel.h"

const char *packet_reformat_check(uint64_t type, unsigned int size)
{
	switch (type) {
	case PRM_REFORMAT_L3_TUNNEL_TO_L2:
		return size == ETHERNET_SIZE || size == ETHERNET_SIZE + VLAN_SIZE
			       ? NULL
			       : "packet reformat: neither an Ethernet header nor one with a tag";
	case PRM_REFORMAT_L2_TO_L2_TUNNEL:
	case PRM_REFORMAT_L2_TO_L3_TUNNEL:
		return size >= ETHERNET_SIZE && size <= PACKET_REFORMAT_MAX
			       ? NULL
			       : "packet reformat: shorter than an Ethernet header, or more than "
				 "max_encap_header_size";
	default:
		return "packet reformat: unknown type";
	}
}

int packet_reformat_add(struct hca *hca, enum prm_reformat type, const uint8_t *data,
			unsigned int size, struct packet_reformat **out)
{
	struct packet_reformat *reformat = calloc(1, sizeof(*reformat));
	int ret = reformat ? res_add(&hca->eth->packet_reformats, reformat, &reformat->n) : ENOMEM;

	if (ret) {
		free(reformat);
		return ret;
	}
	reformat->type = type;
	reformat->size = size;
	memcpy(reformat->data, data, size);
	*out = reformat;
	return 0;
}

void packet_reformat_remove(struct hca *hca, struct packet_reformat *reformat)
{
	res_remove(&hca->eth->packet_reformats, reformat->n);
	free(reformat);
}

enum prm_flow_table_type packet_reformat_table(const struct packet_reformat *reformat)
{
	return reformat->type == PRM_REFORMAT_L3_TUNNEL_TO_L2 ? PRM_FLOW_NIC_RX : PRM_FLOW_NIC_TX;
}

static unsigned int l2_end(const struct frame *frame)
{
	return frame_type_at(frame) + (unsigned int)sizeof(frame->ethertype);
}

/* Writes lengths into the outer headers, which are the first SIZE bytes, and IPv4's checksum. UDP
 * gets none, as its sum in DATA cannot be right. */
static void outer_complete(uint8_t *bytes, size_t len, unsigned int size)
{
	struct frame frame;
	unsigned int at;

	frame_parse(&frame, bytes, len);
	at = l2_end(&frame);
	if (frame.ethertype == ETHERTYPE_V4 && at + IP4_SIZE <= size)
		fld_set(bytes + at, IP4_LENGTH, len - at);
	else if (frame.ethertype == ETHERTYPE_V6 && at + IP6_SIZE <= size)
		fld_set(bytes + at, IP6_PAYLOAD, len - at - IP6_SIZE);
	else
		return;
	frame_parse(&frame, bytes, len);
	frame_fill_l3(bytes, &frame);
	if (!frame_is_udp(&frame) || frame.l4 + UDP_SIZE > size)
		return;
	fld_set(bytes + frame.l4, UDP_LENGTH, frame.l3_end - frame.l4);
	fld_set(bytes + frame.l4, UDP_CHECKSUM, 0);
}

/* Writes SIZE bytes of DATA, then the frame from offset FROM on. */
static size_t headers_replace(const struct frame *frame, unsigned int from, const uint8_t *data,
			      unsigned int size, uint8_t *bytes)
{
	const size_t rest = frame->len - from;

	if (from > frame->len || size + rest > FABRIC_FRAME_MAX)
		return 0;
	memcpy(bytes, data, size);
	memcpy(bytes + size, frame->bytes + from, rest);
	return size + rest;
}

void packet_reformat_complete(const struct packet_reformat *reformat, uint8_t *bytes, size_t len)
{
	outer_complete(bytes, len, reformat->size);
}

size_t packet_reformat_apply(const struct packet_reformat *reformat, const struct frame *frame,
			     uint8_t *bytes)
{
	const bool is_removed = reformat->type == PRM_REFORMAT_L3_TUNNEL_TO_L2;
	const unsigned int from = is_removed ? tunnel_find(frame).l3
				  : reformat->type == PRM_REFORMAT_L2_TO_L3_TUNNEL ? l2_end(frame)
										   : 0;
	size_t len;

	if (is_removed && !from)
		return 0;
	len = headers_replace(frame, from, reformat->data, reformat->size, bytes);
	if (len && !is_removed)
		packet_reformat_complete(reformat, bytes, len);
	return len;
}

size_t packet_reformat_decap(const struct frame *frame, uint8_t *bytes)
{
	const unsigned int from = tunnel_find(frame).l2;

	return from ? headers_replace(frame, from, frame->bytes, 0, bytes) : 0;
}

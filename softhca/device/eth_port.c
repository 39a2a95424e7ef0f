/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * eth_port.c - the Ethernet side of a port: frames that leave it and arrive, with their counters.
 */
#include <string.h>

#include "softhca/device/eth.h"

static void count(struct frame_counters *counters, const uint8_t *frame, size_t len)
{
	static const uint8_t broadcast[6] = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff };
	enum { GROUP_BIT = 1 };

	counters->frames++;
	counters->bytes += len;
	if (!memcmp(frame, broadcast, sizeof(broadcast)))
		counters->broadcast++;
	else if (frame[0] & GROUP_BIT)
		counters->multicast++;
}

void eth_transmit(struct hca *hca, unsigned int port, const uint8_t *frame, size_t len)
{
	count(&hca->port[port - 1].sent, frame, len);
	fabric_send_frame(hca->fabric, hca, port, frame, len);
}

void hca_receive_frame(struct hca *hca, unsigned int port, const uint8_t *frame, size_t len)
{
	if (hca->dead)
		return;
	count(&hca->port[port - 1].received, frame, len);
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * departure.c - what leaves a port: messages are counted here, frames where they are made
 * (eth/eth_port.c). Apart from station.c, as all that send are called from there.
 */
#include "softhca/device/core.h"

/* Lets the faults happen that are due: what leaves may be lost, and its sender may die. */
static bool is_lost(struct hca *hca)
{
	enum fault_action action = fault_message(hca->config.fault);

	if (action == FAULT_KILL)
		hca_die(hca);
	return action != FAULT_NONE;
}

void station_send(struct hca *hca, const struct fabric_msg *msg)
{
	if (hca->dead || !port_is_up(hca, msg->addr.port))
		return;
	if (is_lost(hca)) {
		trace_line(hca->config.trace, "fault: message of QP 0x%06x, PSN 0x%06x is lost",
			   msg->src_qpn, msg->psn);
		return;
	}
	port_count_message(&hca->port[msg->addr.port - 1].messages_sent, msg);
	fabric_send(hca->fabric, hca->now, hca->config.fault, msg);
}

void station_send_frame(struct hca *hca, unsigned int port, const uint8_t *frame, size_t len)
{
	if (hca->dead || len < FABRIC_FRAME_MIN || len > FABRIC_FRAME_MAX)
		return;
	if (is_lost(hca)) {
		trace_line(hca->config.trace, "fault: a frame of %zu bytes is lost", len);
		return;
	}
	fabric_send_frame(hca->fabric, hca, port, hca->now, hca->config.fault, frame, len);
}

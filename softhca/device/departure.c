/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * departure.c - messages and frames that leave a port. Messages are counted here, frames where they
 * are made (eth/eth_port.c). Separate from station.c because all senders call it.
 */
#include "softhca/device/core.h"

/* Applies the injected faults that are due. Returns true if one loses the message. */
static bool is_lost(struct hca *hca)
{
	enum fault_action action = fault_message(hca->config.fault);

	if (action == FAULT_KILL)
		hca_die(hca);
	return action != FAULT_NONE;
}

void station_send(struct hca *hca, const struct fabric_msg *msg)
{
	hca->turn_bytes += msg->payload_len;
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

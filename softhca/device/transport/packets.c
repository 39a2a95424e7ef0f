/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * packets.c - messages of several packets, of which some may have arrived before (duplicates). IBTA
 * vol 1, 9.7.1 (packet sequence numbers).
 */
#include "softhca/device/core.h"

bool packets_fit(const struct fabric_msg *msg, uint32_t mtu)
{
	if (msg->last)
		return packets_of(msg->payload_len, mtu) == msg->packets;
	return msg->payload_len == (uint64_t)msg->packets * mtu;
}

void packets_skip(struct fabric_msg *msg, uint32_t psn, uint32_t mtu)
{
	int32_t known = psn_diff(psn, msg->psn);
	uint64_t bytes = (uint64_t)known * mtu;

	if (known <= 0 || (uint32_t)known >= msg->packets || bytes >= msg->payload_len)
		return;
	msg->first = false;
	msg->psn = psn;
	msg->packets -= (uint32_t)known;
	msg->payload += bytes;
	msg->payload_len -= (uint32_t)bytes;
}

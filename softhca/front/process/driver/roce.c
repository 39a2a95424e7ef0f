/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * roce.c - MAC addresses of GIDs on RoCE.
 */
#include <stdint.h>
#include <string.h>

#include "softhca/net/fabric.h"
#include "softhca/inet.h"
#include "softhca/front/process/driver/adapter.h"
#include "softhca/front/process/driver/roce.h"

enum { LOCAL = 0x02, OWN = 512, FIRST_SOURCE_PORT = 0xc000, SOURCE_PORTS = 0x4000, LEARNED = 1024 };

static void mac_of_eui64(const uint8_t eui[8], uint8_t mac[6])
{
	memcpy(mac, eui, 3);
	memcpy(mac + 3, eui + 5, 3);
	mac[0] ^= LOCAL;
}

void roce_port_mac(uint64_t port_guid, uint8_t mac[6])
{
	uint64_t eui = htobe64(port_guid);

	mac_of_eui64((const uint8_t *)&eui, mac);
}

/* Makes the MAC address of a multicast group: 23 bits of an IPv4 address (RFC 1112), 32 bits of an
 * IPv6 one (RFC 2464). */
static void group_mac(const uint8_t gid[16], uint8_t mac[6])
{
	static const uint8_t v4[3] = { 0x01, 0x00, 0x5e }, v6[2] = { 0x33, 0x33 };

	memcpy(mac + 2, gid + 12, 4);
	if (inet_is_mapped(gid)) {
		memcpy(mac, v4, sizeof(v4));
		mac[3] &= 0x7f;
	} else {
		memcpy(mac, v6, sizeof(v6));
	}
}

static struct {
	uint8_t gid[16], mac[6];
} learned[LEARNED];

/* Returns the slot of a GID in the table of learned addresses. A GID has only one slot, so it
 * overwrites an older GID there. */
static unsigned int place_of(const uint8_t gid[16])
{
	uint32_t sum = 2166136261u;

	for (unsigned int i = 0; i < 16; i++)
		sum = (sum ^ gid[i]) * 16777619u; /* FNV-1a */
	return (sum ^ sum >> 16) % LEARNED;
}

static bool was_learned(const uint8_t gid[16], uint8_t mac[6])
{
	unsigned int place = place_of(gid);

	if (memcmp(learned[place].gid, gid, 16))
		return false;
	memcpy(mac, learned[place].mac, 6);
	return true;
}

void roce_learn(const uint8_t gid[16], const uint8_t mac[6])
{
	unsigned int place = place_of(gid);

	memcpy(learned[place].gid, gid, 16);
	memcpy(learned[place].mac, mac, 6);
}

/* GIDs of our own ports. Learned GIDs never replace them. All are added before any thread reads
 * them, so they need no lock. */
static struct {
	uint8_t gid[16], mac[6];
} own[OWN];
static unsigned int num_own;

void roce_add_own(const uint8_t gid[16], const uint8_t mac[6])
{
	if (num_own == OWN)
		return;
	memcpy(own[num_own].gid, gid, 16);
	memcpy(own[num_own++].mac, mac, 6);
}

static bool is_own(const uint8_t gid[16], uint8_t mac[6])
{
	for (unsigned int i = 0; i < num_own; i++)
		if (!memcmp(own[i].gid, gid, 16)) {
			memcpy(mac, own[i].mac, 6);
			return true;
		}
	return false;
}

void roce_resolve(const uint8_t gid[16], uint8_t mac[6])
{
	bool multicast_v4 = inet_is_mapped(gid) && gid[12] >> 4 == 0xe;

	if (gid[0] == 0xff || multicast_v4)
		group_mac(gid, mac);
	else if (is_own(gid, mac) || was_learned(gid, mac))
		return;
	else if (inet_is_mapped(gid)) /* contains host, adapter and port: see adapter.c */
		roce_port_mac(fabric_guid(gid[14], gid[15] >> 3) + (gid[15] & 7), mac);
	else
		mac_of_eui64(gid + 8, mac);
}

uint16_t roce_udp_source(uint32_t flow_label)
{
	return FIRST_SOURCE_PORT + (flow_label & (SOURCE_PORTS - 1));
}

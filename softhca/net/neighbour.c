/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * neighbour.c - see neighbour.h.
 */
#include <string.h>

#include "softhca/net/bytes.h"
#include "softhca/net/neighbour.h"

enum {
	TYPE_ARP = 0x0806,
	TYPE_IPV6 = 0x86dd,
	TYPE = 12, /* where it is in a frame */
	BODY = 14,
	ARP_SIZE = 28,
	ARP_REQUEST = 1,
	ARP_REPLY = 2,
	IPV6_SIZE = 40,
	NEXT_ICMPV6 = 58,
	HOPS = 255, /* others are not from this link: RFC 4861, 7.1.1 */
	SOLICITATION = 135,
	ADVERTISEMENT = 136,
	SOLICITATION_SIZE = 24, /* without options */
	ADVERTISEMENT_SIZE = 32,
};

static const uint8_t mapped_ipv4[12] = { [10] = 0xff, [11] = 0xff };

static void put_macs(uint8_t *answer, const uint8_t *frame, const uint8_t mac[6], uint32_t type)
{
	memcpy(answer, frame + 6, 6);
	memcpy(answer + 6, mac, 6);
	put16(answer + TYPE, type);
}

static size_t answer_arp(const uint8_t *frame, size_t len, neighbour_find_fn find, void *owner,
			 uint8_t *answer)
{
	static const uint8_t ethernet_and_ipv4[8] = { 0, 1, 8, 0, 6, 4, 0, ARP_REQUEST };
	const uint8_t *request = frame + BODY;
	uint8_t *reply = answer + BODY;
	uint8_t gid[16], mac[6];

	if (len < BODY + ARP_SIZE || memcmp(request, ethernet_and_ipv4, 8))
		return 0;
	memcpy(gid, mapped_ipv4, 12);
	memcpy(gid + 12, request + 24, 4);
	if (!find(owner, gid, mac))
		return 0;
	put_macs(answer, frame, mac, TYPE_ARP);
	memcpy(reply, ethernet_and_ipv4, 8);
	reply[7] = ARP_REPLY;
	memcpy(reply + 8, mac, 6);
	memcpy(reply + 14, gid + 12, 4);
	memcpy(reply + 18, request + 8, 10); /* who asked: MAC and address */
	return BODY + ARP_SIZE;
}

/* Of an ICMPv6 message of LEN bytes in the packet at IP, its checksum field included */
static uint16_t icmp_checksum(const uint8_t *ip, size_t len)
{
	uint32_t sum = NEXT_ICMPV6 + (uint32_t)len;
	size_t i;

	for (i = 8; i < IPV6_SIZE + len; i += 2)
		sum += get16(ip + i);
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)~sum;
}

static bool is_solicitation(const uint8_t *ip, size_t len)
{
	const uint8_t *icmp = ip + IPV6_SIZE;
	size_t size = len >= IPV6_SIZE ? get16(ip + 4) : 0;

	return size >= SOLICITATION_SIZE && size % 2 == 0 && size <= len - IPV6_SIZE &&
	       ip[0] >> 4 == 6 && ip[6] == NEXT_ICMPV6 && ip[7] == HOPS &&
	       icmp[0] == SOLICITATION && icmp[1] == 0 && icmp_checksum(ip, size) == 0;
}

static void put_advertisement(uint8_t *ip, const uint8_t *solicitation, const uint8_t target[16],
			      const uint8_t mac[6])
{
	enum { SOLICITED = 0x40, OVERRIDE = 0x20, OPTION_TARGET_MAC = 2 };
	uint8_t *icmp = ip + IPV6_SIZE;

	memset(ip, 0, IPV6_SIZE + ADVERTISEMENT_SIZE);
	ip[0] = 6 << 4;
	put16(ip + 4, ADVERTISEMENT_SIZE);
	ip[6] = NEXT_ICMPV6;
	ip[7] = HOPS;
	memcpy(ip + 8, target, 16);
	memcpy(ip + 24, solicitation + 8, 16);
	icmp[0] = ADVERTISEMENT;
	icmp[4] = SOLICITED | OVERRIDE;
	memcpy(icmp + 8, target, 16);
	icmp[24] = OPTION_TARGET_MAC;
	icmp[25] = 1; /* times 8 bytes */
	memcpy(icmp + 26, mac, 6);
	put16(icmp + 2, icmp_checksum(ip, ADVERTISEMENT_SIZE));
}

/* Nobody who has an address yet asks from none: that is a look for duplicates, of an address that is ours. */
static size_t answer_solicitation(const uint8_t *frame, size_t len, neighbour_find_fn find,
				  void *owner, uint8_t *answer)
{
	static const uint8_t none[16];
	const uint8_t *ip = frame + BODY, *target = ip + IPV6_SIZE + 8;
	uint8_t mac[6];

	if (!is_solicitation(ip, len - BODY) || !memcmp(ip + 8, none, 16) ||
	    !find(owner, target, mac))
		return 0;
	put_macs(answer, frame, mac, TYPE_IPV6);
	put_advertisement(answer + BODY, ip, target, mac);
	return BODY + IPV6_SIZE + ADVERTISEMENT_SIZE;
}

size_t neighbour_answer(const uint8_t *frame, size_t len, neighbour_find_fn find, void *owner,
			uint8_t answer[NEIGHBOUR_ANSWER_MAX])
{
	if (len < BODY)
		return 0;
	switch (get16(frame + TYPE)) {
	case TYPE_ARP:
		return answer_arp(frame, len, find, owner, answer);
	case TYPE_IPV6:
		return answer_solicitation(frame, len, find, owner, answer);
	default:
		return 0;
	}
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * neighbour.c - see neighbour.h.
 */
#include <assert.h>
#include <string.h>

#include "ib/ethernet.h"
#include "softhca/inet.h"
#include "softhca/net/neighbour.h"

enum { ADVERTISEMENT_SIZE = ND_SIZE + ND_OPTION_MAC_SIZE };

static_assert(NEIGHBOUR_ANSWER_MAX == ETHERNET_SIZE + IP6_SIZE + ADVERTISEMENT_SIZE,
	      "an advertisement is the longest answer");

static void put_macs(uint8_t *answer, const uint8_t *frame, const uint8_t mac[6], uint32_t type)
{
	memcpy(fld_at(answer, ETHERNET_DESTINATION), fld_at(frame, ETHERNET_SOURCE), MAC_SIZE);
	memcpy(fld_at(answer, ETHERNET_SOURCE), mac, MAC_SIZE);
	fld_set16(answer, ETHERNET_TYPE, type);
}

static bool is_arp_request(const uint8_t *arp)
{
	return fld_get(arp, ARP_HARDWARE) == ARP_ETHERNET &&
	       fld_get(arp, ARP_PROTOCOL) == ETHERTYPE_V4 &&
	       fld_get(arp, ARP_HARDWARE_SIZE) == MAC_SIZE &&
	       fld_get(arp, ARP_PROTOCOL_SIZE) == 4 && fld_get(arp, ARP_OPERATION) == ARP_REQUEST;
}

static size_t answer_arp(const uint8_t *frame, size_t len, neighbour_find_fn find, void *owner,
			 uint8_t *answer)
{
	const uint8_t *request = frame + ETHERNET_SIZE;
	uint8_t *reply = answer + ETHERNET_SIZE;
	uint8_t gid[16], mac[MAC_SIZE];

	if (len < ETHERNET_SIZE + ARP_SIZE || !is_arp_request(request))
		return 0;
	inet_map(fld_at(request, ARP_TARGET_IP), gid);
	if (!find(owner, gid, mac))
		return 0;
	put_macs(answer, frame, mac, ETHERTYPE_ARP);
	memcpy(reply, request, FLD_BYTE(ARP_SENDER_MAC)); /* hardware and protocol types */
	fld_set(reply, ARP_OPERATION, ARP_REPLY);
	memcpy(fld_at(reply, ARP_SENDER_MAC), mac, MAC_SIZE);
	memcpy(fld_at(reply, ARP_SENDER_IP), gid + INET_PREFIX, 4);
	memcpy(fld_at(reply, ARP_TARGET_MAC), fld_at(request, ARP_SENDER_MAC), MAC_SIZE);
	memcpy(fld_at(reply, ARP_TARGET_IP), fld_at(request, ARP_SENDER_IP), 4);
	return ETHERNET_SIZE + ARP_SIZE;
}

static uint16_t icmp_sum(const uint8_t *ip, size_t len)
{
	return inet_fold(inet_sum_v6(ip, PROTO_ICMP6, len));
}

static bool is_solicitation(const uint8_t *ip, size_t len)
{
	const uint8_t *icmp = ip + IP6_SIZE;
	size_t size = len >= IP6_SIZE ? fld_get(ip, IP6_PAYLOAD) : 0;

	return size >= ND_SIZE && size % 2 == 0 && size <= len - IP6_SIZE &&
	       fld_get(ip, IP6_VERSION) == 6 && fld_get(ip, IP6_NEXT) == PROTO_ICMP6 &&
	       fld_get(ip, IP6_HOP_LIMIT) == ND_HOPS &&
	       fld_get(icmp, ICMP6_TYPE) == ND_SOLICITATION && fld_get(icmp, ICMP6_CODE) == 0 &&
	       icmp_sum(ip, size) == UINT16_MAX;
}

static void put_advertisement(uint8_t *ip, const uint8_t *solicitation, const uint8_t target[16],
			      const uint8_t mac[6])
{
	uint8_t *icmp = ip + IP6_SIZE;

	memset(ip, 0, IP6_SIZE + ADVERTISEMENT_SIZE);
	fld_set(ip, IP6_VERSION, 6);
	fld_set(ip, IP6_PAYLOAD, ADVERTISEMENT_SIZE);
	fld_set(ip, IP6_NEXT, PROTO_ICMP6);
	fld_set(ip, IP6_HOP_LIMIT, ND_HOPS);
	memcpy(fld_at(ip, IP6_SOURCE), target, 16);
	memcpy(fld_at(ip, IP6_DESTINATION), fld_at(solicitation, IP6_SOURCE), 16);
	fld_set(icmp, ICMP6_TYPE, ND_ADVERTISEMENT);
	fld_set(icmp, ND_SOLICITED, 1);
	fld_set(icmp, ND_OVERRIDE, 1);
	memcpy(fld_at(icmp, ND_TARGET), target, 16);
	fld_set(icmp, ND_OPTION, ND_OPTION_TARGET_MAC);
	fld_set(icmp, ND_OPTION_LENGTH, 1);
	memcpy(fld_at(icmp, ND_OPTION_ADDRESS), mac, MAC_SIZE);
	fld_set(icmp, ICMP6_CHECKSUM, (uint16_t)~icmp_sum(ip, ADVERTISEMENT_SIZE));
}

/* Answers a solicitation, but not one from the unspecified address, as that only checks whether an
 * address is in use before its sender takes it. */
static size_t answer_solicitation(const uint8_t *frame, size_t len, neighbour_find_fn find,
				  void *owner, uint8_t *answer)
{
	static const uint8_t none[16];
	const uint8_t *ip = frame + ETHERNET_SIZE, *target = fld_at(ip + IP6_SIZE, ND_TARGET);
	uint8_t mac[MAC_SIZE];

	if (!is_solicitation(ip, len - ETHERNET_SIZE) ||
	    !memcmp(fld_at(ip, IP6_SOURCE), none, sizeof(none)) || !find(owner, target, mac))
		return 0;
	put_macs(answer, frame, mac, ETHERTYPE_V6);
	put_advertisement(answer + ETHERNET_SIZE, ip, target, mac);
	return ETHERNET_SIZE + IP6_SIZE + ADVERTISEMENT_SIZE;
}

size_t neighbour_answer(const uint8_t *frame, size_t len, neighbour_find_fn find, void *owner,
			uint8_t answer[NEIGHBOUR_ANSWER_MAX])
{
	if (len < ETHERNET_SIZE)
		return 0;
	switch (fld_get16(frame, ETHERNET_TYPE)) {
	case ETHERTYPE_ARP:
		return answer_arp(frame, len, find, owner, answer);
	case ETHERTYPE_V6:
		return answer_solicitation(frame, len, find, owner, answer);
	default:
		return 0;
	}
}

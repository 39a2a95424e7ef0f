/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * resolve.c - see resolve.h. Queries are repeated every second, as Linux does.
 */
#include <errno.h>
#include <string.h>

#include "ib/packet.h"
#include "softhca/front/process/driver/adapter.h"
#include "softhca/front/process/driver/roce.h"
#include "softhca/front/process/ucma/resolve.h"
#include "softhca/inet.h"
#include "softhca/net/subnet.h"

enum {
	ND_MESSAGE_SIZE = ND_SIZE + ND_OPTION_MAC_SIZE, /* with the sender's MAC address */
	IPOIB_PACKET = IPOIB_SIZE + IPOIB_ARP_SIZE,
};

#define REPEAT_NS (1000 * NS_PER_MS)

static LIST_HEAD(, resolution) open_questions = LIST_HEAD_INITIALIZER(open_questions);
static resolve_own_fn is_own;
static uint64_t next_transaction;

static const uint8_t ipoib_broadcast[16] = { 0xff, 0x12,        0x40, 0x1b, 0xff,
					     0xff, [12] = 0xff, 0xff, 0xff, 0xff };

void resolve_start(resolve_own_fn own)
{
	is_own = own;
	next_transaction = timer_now() << 1;
}

static void put_ethernet(uint8_t *frame, const uint8_t to[6], const uint8_t from[6],
			 unsigned int type)
{
	memcpy(fld_at(frame, ETHERNET_DESTINATION), to, MAC_SIZE);
	memcpy(fld_at(frame, ETHERNET_SOURCE), from, MAC_SIZE);
	fld_set16(frame, ETHERNET_TYPE, type);
}

static void put_arp(uint8_t *arp, unsigned int hardware, unsigned int size, unsigned int operation)
{
	fld_set(arp, ARP_HARDWARE, hardware);
	fld_set(arp, ARP_PROTOCOL, ETHERTYPE_V4);
	fld_set(arp, ARP_HARDWARE_SIZE, size);
	fld_set(arp, ARP_PROTOCOL_SIZE, 4);
	fld_set(arp, ARP_OPERATION, operation);
}

static void ask_arp(const struct resolution *res, const uint8_t mac[6])
{
	static const uint8_t everybody[MAC_SIZE] = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff };
	uint8_t frame[ETHERNET_MIN] = { 0 }, *arp = frame + ETHERNET_SIZE;

	put_ethernet(frame, everybody, mac, ETHERTYPE_ARP);
	put_arp(arp, ARP_ETHERNET, MAC_SIZE, ARP_REQUEST);
	memcpy(fld_at(arp, ARP_SENDER_MAC), mac, MAC_SIZE);
	memcpy(fld_at(arp, ARP_SENDER_IP), res->own + INET_PREFIX, 4);
	memcpy(fld_at(arp, ARP_TARGET_IP), res->wanted + INET_PREFIX, 4);
	hca_send_frame(res->adapter->hca, res->port, frame, sizeof(frame));
}

static uint16_t icmp_sum(const uint8_t *ip, size_t len)
{
	return inet_fold(inet_sum_v6(ip, PROTO_ICMP6, len));
}

static void ask_neighbours(const struct resolution *res, const uint8_t mac[6])
{
	uint8_t frame[ETHERNET_SIZE + IP6_SIZE + ND_MESSAGE_SIZE] = { 0 };
	uint8_t *ip = frame + ETHERNET_SIZE, *icmp = ip + IP6_SIZE;
	uint8_t group[16] = { 0xff, 0x02, [11] = 1, 0xff }, to[MAC_SIZE];

	memcpy(group + 13, res->wanted + 13, 3);
	roce_resolve(group, to);
	put_ethernet(frame, to, mac, ETHERTYPE_V6);
	fld_set(ip, IP6_VERSION, 6);
	fld_set(ip, IP6_PAYLOAD, ND_MESSAGE_SIZE);
	fld_set(ip, IP6_NEXT, PROTO_ICMP6);
	fld_set(ip, IP6_HOP_LIMIT, ND_HOPS);
	memcpy(fld_at(ip, IP6_SOURCE), res->own, 16);
	memcpy(fld_at(ip, IP6_DESTINATION), group, 16);
	fld_set(icmp, ICMP6_TYPE, ND_SOLICITATION);
	memcpy(fld_at(icmp, ND_TARGET), res->wanted, 16);
	fld_set(icmp, ND_OPTION, ND_OPTION_SOURCE_MAC);
	fld_set(icmp, ND_OPTION_LENGTH, 1);
	memcpy(fld_at(icmp, ND_OPTION_ADDRESS), mac, MAC_SIZE);
	fld_set(icmp, ICMP6_CHECKSUM, (uint16_t)~icmp_sum(ip, ND_MESSAGE_SIZE));
	hca_send_frame(res->adapter->hca, res->port, frame, sizeof(frame));
}

static void put_ipoib_addr(uint8_t *to, struct adapter *adapter, unsigned int port)
{
	struct gid_entry entry = { 0 };

	adapter_query_gid(adapter, port, 0, &entry);
	fld_set(to, IPOIB_ADDR_QPN, GSI_IPOIB_QPN);
	memcpy(fld_at(to, IPOIB_ADDR_GID), entry.gid, 16);
}

static void put_ipoib_arp(uint8_t *packet, unsigned int operation, struct adapter *adapter,
			  unsigned int port, const uint8_t own[16])
{
	uint8_t *arp = packet + IPOIB_SIZE;

	memset(packet, 0, IPOIB_PACKET);
	fld_set(packet, IPOIB_TYPE, ETHERTYPE_ARP);
	put_arp(arp, ARP_INFINIBAND, IPOIB_ADDR_SIZE, operation);
	put_ipoib_addr(fld_at(arp, IPOIB_ARP_SENDER), adapter, port);
	memcpy(fld_at(arp, IPOIB_ARP_SENDER_IP), own + INET_PREFIX, 4);
}

static void ask_ipoib(const struct resolution *res)
{
	uint8_t packet[IPOIB_PACKET];

	put_ipoib_arp(packet, ARP_REQUEST, res->adapter, res->port, res->own);
	memcpy(fld_at(packet + IPOIB_SIZE, IPOIB_ARP_TARGET_IP), res->wanted + INET_PREFIX, 4);
	gsi_send_ipoib(res->adapter, res->port, subnet_mlid(ipoib_broadcast), ipoib_broadcast,
		       QPN_MULTICAST, packet, sizeof(packet));
}

static void start_request(uint8_t *mad, const struct resolution *res, unsigned int attribute,
			  uint64_t components)
{
	fld_set(mad, MAD_BASE_VERSION, MAD_BASE_VERSION_1);
	fld_set(mad, MAD_CLASS, MAD_CLASS_SA);
	fld_set(mad, MAD_CLASS_VERSION, SA_CLASS_VERSION);
	fld_set(mad, MAD_METHOD, MAD_GET);
	fld_set(mad, MAD_ATTRIBUTE, attribute);
	fld_set(mad, MAD_TRANSACTION, res->transaction);
	fld_set(mad, SA_COMPONENTS, components);
}

static void fill_path_request(uint8_t *mad, const struct resolution *res)
{
	uint8_t *data = mad + SA_DATA;

	start_request(mad, res, SA_PATH_RECORD,
		      1ull << PATH_HAS_DGID | 1 << PATH_HAS_SGID | 1 << PATH_HAS_REVERSIBLE |
			      1 << PATH_HAS_NUMBER | 1 << PATH_HAS_PKEY);
	memcpy(fld_at(data, PATH_DGID), res->wanted, 16);
	memcpy(fld_at(data, PATH_SGID), res->own, 16);
	fld_set(data, PATH_REVERSIBLE, 1);
	fld_set(data, PATH_NUMBER, 1);
	fld_set(data, PATH_PKEY, PKEY_DEFAULT);
}

static void ask_subnet(const struct resolution *res)
{
	uint8_t mad[MAD_SIZE] = { 0 };
	struct cm_path path = { .adapter = res->adapter, .port = res->port };
	struct port_info info;

	if (adapter_query_port(res->adapter, res->port, &info))
		return;
	path.dlid = info.sm_lid;
	if (res->what == RESOLVE_PATH) {
		fill_path_request(mad, res);
	} else {
		start_request(mad, res, SA_SERVICE_RECORD, res->components);
		memcpy(mad + SA_DATA, res->record, sizeof(res->record));
	}
	gsi_send(&path, mad);
}

static void ask_network(const struct resolution *res)
{
	uint8_t mac[6];

	if (res->what != RESOLVE_ADDRESS) {
		ask_subnet(res);
	} else if (!adapter_is_roce(res->adapter)) {
		ask_ipoib(res);
	} else {
		roce_port_mac(adapter_port_guid(res->adapter, res->port), mac);
		if (inet_is_mapped(res->wanted))
			ask_arp(res, mac);
		else
			ask_neighbours(res, mac);
	}
}

void resolve_cancel(struct resolution *res)
{
	if (!res->active)
		return;
	timer_stop(&res->timer);
	LIST_REMOVE(res, entry);
	res->active = false;
}

static void resolution_finish(struct resolution *res, int status)
{
	resolve_cancel(res);
	res->done(res, status);
}

static void resolution_expired(struct timer *timer)
{
	struct resolution *res = (struct resolution *)timer;
	uint64_t now = timer_now(), next = now + REPEAT_NS;

	if (now >= res->give_up) {
		resolution_finish(res, -ETIMEDOUT);
		return;
	}
	ask_network(res);
	timer_start(timer, next < res->give_up ? next : res->give_up);
}

static void resolution_start(struct resolution *res, uint32_t timeout_ms)
{
	uint64_t now = timer_now(), next = now + REPEAT_NS;

	res->give_up = now + timeout_ms * NS_PER_MS;
	res->transaction = next_transaction++;
	res->active = true;
	LIST_INSERT_HEAD(&open_questions, res, entry);
	res->timer.expired = resolution_expired;
	timer_start(&res->timer, next < res->give_up ? next : res->give_up);
	ask_network(res);
}

void resolve_address(struct resolution *res, uint32_t timeout_ms)
{
	res->what = RESOLVE_ADDRESS;
	resolution_start(res, timeout_ms);
}

void resolve_path(struct resolution *res, uint32_t timeout_ms)
{
	res->what = RESOLVE_PATH;
	resolution_start(res, timeout_ms);
}

void resolve_service(struct resolution *res, uint32_t timeout_ms)
{
	res->what = RESOLVE_SERVICE;
	resolution_start(res, timeout_ms);
}

/* Finishes the queries for address HOST with its GID and MAC address. MAC is NULL on InfiniBand. */
static void tell_address(const struct gsi_arrival *arrival, const uint8_t host[16],
			 const uint8_t gid[16], const uint8_t *mac)
{
	struct resolution *next;

	for (struct resolution *res = LIST_FIRST(&open_questions); res; res = next) {
		next = LIST_NEXT(res, entry);
		if (res->what != RESOLVE_ADDRESS || res->adapter != arrival->adapter ||
		    memcmp(res->wanted, host, 16))
			continue;
		memcpy(res->gid, gid, 16);
		if (mac) {
			memcpy(res->mac, mac, 6);
			roce_learn(gid, mac);
		}
		resolution_finish(res, 0);
		/* the next one now, as callbacks may have removed other queries */
		next = LIST_FIRST(&open_questions);
	}
}

static void take_arp(const struct gsi_arrival *arrival)
{
	const uint8_t *arp = arrival->bytes + ETHERNET_SIZE;
	uint8_t host[16];

	if (arrival->len < ETHERNET_SIZE + ARP_SIZE || fld_get(arp, ARP_HARDWARE) != ARP_ETHERNET ||
	    fld_get(arp, ARP_OPERATION) != ARP_REPLY)
		return;
	inet_map(fld_at(arp, ARP_SENDER_IP), host);
	tell_address(arrival, host, host, fld_at(arp, ARP_SENDER_MAC));
}

static void take_advertisement(const struct gsi_arrival *arrival)
{
	const uint8_t *ip = arrival->bytes + ETHERNET_SIZE, *icmp = ip + IP6_SIZE;
	const uint8_t *target = fld_at(icmp, ND_TARGET);
	size_t len;

	if (arrival->len < ETHERNET_SIZE + IP6_SIZE + ND_MESSAGE_SIZE ||
	    fld_get(ip, IP6_NEXT) != PROTO_ICMP6 || fld_get(ip, IP6_HOP_LIMIT) != ND_HOPS ||
	    fld_get(icmp, ICMP6_TYPE) != ND_ADVERTISEMENT)
		return;
	len = fld_get(ip, IP6_PAYLOAD);
	if (len < ND_MESSAGE_SIZE || len % 2 || len > arrival->len - ETHERNET_SIZE - IP6_SIZE ||
	    icmp_sum(ip, len) != UINT16_MAX || fld_get(icmp, ND_OPTION) != ND_OPTION_TARGET_MAC)
		return;
	tell_address(arrival, target, target, fld_at(icmp, ND_OPTION_ADDRESS));
}

static bool is_ipoib_arp(const struct gsi_arrival *arrival)
{
	const uint8_t *arp = arrival->bytes + IPOIB_SIZE;

	return arrival->len >= IPOIB_PACKET &&
	       fld_get(arrival->bytes, IPOIB_TYPE) == ETHERTYPE_ARP &&
	       fld_get(arp, ARP_HARDWARE) == ARP_INFINIBAND &&
	       fld_get(arp, ARP_PROTOCOL) == ETHERTYPE_V4 &&
	       fld_get(arp, ARP_HARDWARE_SIZE) == IPOIB_ADDR_SIZE &&
	       fld_get(arp, ARP_PROTOCOL_SIZE) == 4;
}

static void answer_ipoib(const struct gsi_arrival *arrival, const uint8_t wanted[16])
{
	static const uint8_t no_gid[16];
	uint8_t packet[IPOIB_PACKET], *reply = packet + IPOIB_SIZE;
	const uint8_t *request = arrival->bytes + IPOIB_SIZE;
	const uint8_t *from = fld_at(request, IPOIB_ARP_SENDER);

	put_ipoib_arp(packet, ARP_REPLY, arrival->adapter, arrival->port, wanted);
	memcpy(fld_at(reply, IPOIB_ARP_TARGET), from, IPOIB_ADDR_SIZE);
	memcpy(fld_at(reply, IPOIB_ARP_TARGET_IP), fld_at(request, IPOIB_ARP_SENDER_IP), 4);
	gsi_send_ipoib(arrival->adapter, arrival->port, arrival->addr.slid, no_gid,
		       fld_get(from, IPOIB_ADDR_QPN), packet, sizeof(packet));
}

static void take_ipoib_arp(const struct gsi_arrival *arrival)
{
	const uint8_t *arp = arrival->bytes + IPOIB_SIZE;
	const uint8_t *from = fld_at(arp, IPOIB_ARP_SENDER);
	uint8_t host[16];

	if (fld_get(arp, ARP_OPERATION) == ARP_REPLY) {
		inet_map(fld_at(arp, IPOIB_ARP_SENDER_IP), host);
		tell_address(arrival, host, fld_at(from, IPOIB_ADDR_GID), NULL);
	} else if (fld_get(arp, ARP_OPERATION) == ARP_REQUEST) {
		inet_map(fld_at(arp, IPOIB_ARP_TARGET_IP), host);
		if (is_own(host, arrival->adapter, arrival->port))
			answer_ipoib(arrival, host);
	}
}

static void take_path_record(const uint8_t *mad, struct resolution *res)
{
	const uint8_t *data = mad + SA_DATA;

	if (fld_get(mad, MAD_STATUS)) {
		resolution_finish(res, -EINVAL);
		return;
	}
	res->dlid = fld_get(data, PATH_DLID);
	res->sl = fld_get(data, PATH_SL);
	res->mtu = fld_get(data, PATH_MTU);
	res->rate = fld_get(data, PATH_RATE);
	res->lifetime = fld_get(data, PATH_LIFETIME);
	resolution_finish(res, res->dlid ? 0 : -EINVAL);
}

static void take_service_record(const uint8_t *mad, struct resolution *res)
{
	unsigned int status = fld_get(mad, MAD_STATUS);

	if (!status)
		memcpy(res->record, mad + SA_DATA, sizeof(res->record));
	resolution_finish(res, status == SA_NO_RECORDS ? -ENODATA : status ? -EINVAL : 0);
}

static void take_subnet(const uint8_t *mad)
{
	uint64_t transaction = fld_get(mad, MAD_TRANSACTION);
	unsigned int attribute = fld_get(mad, MAD_ATTRIBUTE);
	struct resolution *res;

	if (fld_get(mad, MAD_CLASS) != MAD_CLASS_SA ||
	    fld_get(mad, MAD_METHOD) != (MAD_GET | MAD_RESPONSE))
		return;
	LIST_FOREACH(res, &open_questions, entry) {
		if (res->transaction != transaction)
			continue;
		if (res->what == RESOLVE_PATH && attribute == SA_PATH_RECORD)
			take_path_record(mad, res);
		else if (res->what == RESOLVE_SERVICE && attribute == SA_SERVICE_RECORD)
			take_service_record(mad, res);
		return;
	}
}

void resolve_take(const struct gsi_arrival *arrival)
{
	if (arrival->frame && fld_get16(arrival->bytes, ETHERNET_TYPE) == ETHERTYPE_ARP)
		take_arp(arrival);
	else if (arrival->frame)
		take_advertisement(arrival);
	else if (arrival->dest_qpn == GSI_QPN)
		take_subnet(arrival->bytes);
	else if (is_ipoib_arp(arrival))
		take_ipoib_arp(arrival);
}

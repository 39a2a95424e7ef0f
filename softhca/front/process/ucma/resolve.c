/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * resolve.c - see resolve.h. Questions are repeated once a second, as Linux repeats them.
 */
#include <errno.h>
#include <string.h>

#include "softhca/front/process/driver/adapter.h"
#include "softhca/front/process/driver/roce.h"
#include "softhca/front/process/ucma/resolve.h"
#include "softhca/net/bytes.h"
#include "softhca/net/subnet.h"

enum {
	ETHERNET_LEN = 14,
	MIN_FRAME = 60,
	ARP_LEN = 28,
	ARP_REQUEST = 1,
	ARP_REPLY = 2,
	ETHERTYPE_ARP = 0x0806,
	ETHERTYPE_IPV6 = 0x86dd,
	IPV6_LEN = 40,
	NEXT_ICMPV6 = 58,
	SOLICITATION = 135,
	ADVERTISEMENT = 136,
	SOLICITATION_LEN = 32, /* with the option for our Ethernet address */
	HOPS = 255,
	/* IPoIB: type, then ARP with addresses of 20 bytes: QPN and GID */
	IPOIB_LEN = 4,
	IPOIB_ADDR = 20,
	IPOIB_ARP_LEN = 8 + 2 * (IPOIB_ADDR + 4),
	HARDWARE_IB = 32,
	MULTICAST_QPN = 0xffffff,
	QPN_MASK = 0xffffff,
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

static bool is_ipv4(const uint8_t host[16])
{
	static const uint8_t prefix[12] = { [10] = 0xff, [11] = 0xff };

	return !memcmp(host, prefix, sizeof(prefix));
}

/* ---- questions ---- */

static void put_ethernet(uint8_t *frame, const uint8_t to[6], const uint8_t from[6],
			 unsigned int type)
{
	memcpy(frame, to, 6);
	memcpy(frame + 6, from, 6);
	put16(frame + 12, type);
}

static void ask_arp(const struct resolution *res, const uint8_t mac[6])
{
	static const uint8_t everybody[6] = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff };
	static const uint8_t request[8] = { 0, 1, 8, 0, 6, 4, 0, ARP_REQUEST };
	uint8_t frame[MIN_FRAME] = { 0 }, *arp = frame + ETHERNET_LEN;

	put_ethernet(frame, everybody, mac, ETHERTYPE_ARP);
	memcpy(arp, request, sizeof(request));
	memcpy(arp + 8, mac, 6);
	memcpy(arp + 14, res->own + 12, 4);
	memcpy(arp + 24, res->wanted + 12, 4);
	hca_send_frame(res->adapter->hca, res->port, frame, sizeof(frame));
}

static uint16_t icmp_checksum(const uint8_t *ip, size_t len)
{
	uint32_t sum = NEXT_ICMPV6 + (uint32_t)len;
	size_t i;

	for (i = 8; i < IPV6_LEN + len; i += 2)
		sum += get16(ip + i);
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)~sum;
}

static void ask_neighbours(const struct resolution *res, const uint8_t mac[6])
{
	enum { OPTION_SOURCE_MAC = 1 };
	uint8_t frame[ETHERNET_LEN + IPV6_LEN + SOLICITATION_LEN] = { 0 };
	uint8_t *ip = frame + ETHERNET_LEN, *icmp = ip + IPV6_LEN;
	uint8_t group[16] = { 0xff, 0x02, [11] = 1, 0xff }, to[6];

	memcpy(group + 13, res->wanted + 13, 3);
	roce_resolve(group, to);
	put_ethernet(frame, to, mac, ETHERTYPE_IPV6);
	ip[0] = 6 << 4;
	put16(ip + 4, SOLICITATION_LEN);
	ip[6] = NEXT_ICMPV6;
	ip[7] = HOPS;
	memcpy(ip + 8, res->own, 16);
	memcpy(ip + 24, group, 16);
	icmp[0] = SOLICITATION;
	memcpy(icmp + 8, res->wanted, 16);
	icmp[24] = OPTION_SOURCE_MAC;
	icmp[25] = 1; /* times 8 bytes */
	memcpy(icmp + 26, mac, 6);
	put16(icmp + 2, icmp_checksum(ip, SOLICITATION_LEN));
	hca_send_frame(res->adapter->hca, res->port, frame, sizeof(frame));
}

/* An address of IPoIB's link: who listens, and at which port */
static void put_ipoib_addr(uint8_t *to, struct adapter *adapter, unsigned int port)
{
	struct gid_entry entry = { 0 };

	adapter_query_gid(adapter, port, 0, &entry);
	put32(to, GSI_IPOIB_QPN);
	memcpy(to + 4, entry.gid, 16);
}

static void put_ipoib_arp(uint8_t *packet, unsigned int operation, struct adapter *adapter,
			  unsigned int port, const uint8_t own[16])
{
	uint8_t *arp = packet + IPOIB_LEN;

	memset(packet, 0, IPOIB_LEN + IPOIB_ARP_LEN);
	put16(packet, ETHERTYPE_ARP);
	put16(arp, HARDWARE_IB);
	put16(arp + 2, 0x0800);
	arp[4] = IPOIB_ADDR;
	arp[5] = 4;
	put16(arp + 6, operation);
	put_ipoib_addr(arp + 8, adapter, port);
	memcpy(arp + 28, own + 12, 4);
}

static void ask_ipoib(const struct resolution *res)
{
	uint8_t packet[IPOIB_LEN + IPOIB_ARP_LEN];

	put_ipoib_arp(packet, ARP_REQUEST, res->adapter, res->port, res->own);
	memcpy(packet + IPOIB_LEN + 52, res->wanted + 12, 4);
	gsi_send_ipoib(res->adapter, res->port, subnet_mlid(ipoib_broadcast), ipoib_broadcast,
		       MULTICAST_QPN, packet, sizeof(packet));
}

static void start_request(uint8_t *mad, const struct resolution *res, unsigned int attribute,
			  uint64_t components)
{
	fld_set(mad, MAD_BASE_VERSION, MAD_BASE_VERSION_1);
	fld_set(mad, MAD_CLASS, MAD_CLASS_SA);
	fld_set(mad, MAD_CLASS_VERSION, SA_CLASS_VERSION);
	fld_set(mad, MAD_METHOD, SA_GET);
	fld_set(mad, MAD_ATTRIBUTE, attribute);
	fld_set64(mad, MAD_TRANSACTION, res->transaction);
	fld_set64(mad, SA_COMPONENTS, components);
}

static void fill_path_request(uint8_t *mad, const struct resolution *res)
{
	enum { HAS_SGID = 3, HAS_REVERSIBLE = 11, HAS_NUMBER = 12 };
	uint8_t *data = mad + SA_DATA;

	start_request(mad, res, SA_PATH_RECORD,
		      1ull << PATH_HAS_DGID | 1 << HAS_SGID | 1 << HAS_REVERSIBLE |
			      1 << HAS_NUMBER | 1 << PATH_HAS_PKEY);
	memcpy(fld_at(data, PATH_DGID), res->wanted, 16);
	memcpy(fld_at(data, PATH_SGID), res->own, 16);
	fld_set(data, PATH_REVERSIBLE, 1);
	fld_set(data, PATH_NUMBER, 1);
	fld_set(data, PATH_PKEY, CM_DEFAULT_PKEY);
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

static void ask(const struct resolution *res)
{
	uint8_t mac[6];

	if (res->what != RESOLVE_ADDRESS) {
		ask_subnet(res);
	} else if (!adapter_is_roce(res->adapter)) {
		ask_ipoib(res);
	} else {
		roce_port_mac(adapter_port_guid(res->adapter, res->port), mac);
		if (is_ipv4(res->wanted))
			ask_arp(res, mac);
		else
			ask_neighbours(res, mac);
	}
}

/* ---- their life ---- */

void resolve_cancel(struct resolution *res)
{
	if (!res->active)
		return;
	timer_stop(&res->timer);
	LIST_REMOVE(res, entry);
	res->active = false;
}

static void finish(struct resolution *res, int status)
{
	resolve_cancel(res);
	res->done(res, status);
}

static void expired(struct ucma_timer *timer)
{
	struct resolution *res = (struct resolution *)timer;
	uint64_t now = timer_now(), next = now + REPEAT_NS;

	if (now >= res->give_up) {
		finish(res, -ETIMEDOUT);
		return;
	}
	ask(res);
	timer_start(timer, next < res->give_up ? next : res->give_up);
}

static void start(struct resolution *res, uint32_t timeout_ms)
{
	uint64_t now = timer_now(), next = now + REPEAT_NS;

	res->give_up = now + timeout_ms * NS_PER_MS;
	res->transaction = next_transaction++;
	res->active = true;
	LIST_INSERT_HEAD(&open_questions, res, entry);
	res->timer.expired = expired;
	timer_start(&res->timer, next < res->give_up ? next : res->give_up);
	ask(res);
}

void resolve_address(struct resolution *res, uint32_t timeout_ms)
{
	res->what = RESOLVE_ADDRESS;
	start(res, timeout_ms);
}

void resolve_path(struct resolution *res, uint32_t timeout_ms)
{
	res->what = RESOLVE_PATH;
	start(res, timeout_ms);
}

void resolve_service(struct resolution *res, uint32_t timeout_ms)
{
	res->what = RESOLVE_SERVICE;
	start(res, timeout_ms);
}

/* ---- answers ---- */

/* HOST of the network is at GID and MAC; NULL: that is not said. */
static void tell(const struct gsi_arrival *arrival, const uint8_t host[16], const uint8_t gid[16],
		 const uint8_t *mac)
{
	struct resolution *res, *next;

	for (res = LIST_FIRST(&open_questions); res; res = next) {
		next = LIST_NEXT(res, entry);
		if (res->what != RESOLVE_ADDRESS || res->adapter != arrival->adapter ||
		    memcmp(res->wanted, host, 16))
			continue;
		memcpy(res->gid, gid, 16);
		if (mac) {
			memcpy(res->mac, mac, 6);
			roce_learn(gid, mac);
		}
		finish(res, 0);
		next = LIST_FIRST(&open_questions); /* others may have gone */
	}
}

static void map_ipv4(const uint8_t *ipv4, uint8_t host[16])
{
	memset(host, 0, 10);
	memset(host + 10, 0xff, 2);
	memcpy(host + 12, ipv4, 4);
}

static void take_arp(const struct gsi_arrival *arrival)
{
	const uint8_t *arp = arrival->bytes + ETHERNET_LEN;
	uint8_t host[16];

	if (arrival->len < ETHERNET_LEN + ARP_LEN || get16(arp) != 1 || get16(arp + 6) != ARP_REPLY)
		return;
	map_ipv4(arp + 14, host);
	tell(arrival, host, host, arp + 8);
}

static void take_advertisement(const struct gsi_arrival *arrival)
{
	enum { OPTION_TARGET_MAC = 2, WITH_OPTION = 32 };
	const uint8_t *ip = arrival->bytes + ETHERNET_LEN, *icmp = ip + IPV6_LEN;
	size_t len;

	if (arrival->len < ETHERNET_LEN + IPV6_LEN + WITH_OPTION || ip[6] != NEXT_ICMPV6 ||
	    ip[7] != HOPS || icmp[0] != ADVERTISEMENT)
		return;
	len = get16(ip + 4);
	if (len < WITH_OPTION || len % 2 || len > arrival->len - ETHERNET_LEN - IPV6_LEN ||
	    icmp_checksum(ip, len) || icmp[24] != OPTION_TARGET_MAC)
		return;
	tell(arrival, icmp + 8, icmp + 8, icmp + 26);
}

static bool is_ipoib_arp(const struct gsi_arrival *arrival)
{
	const uint8_t *arp = arrival->bytes + IPOIB_LEN;

	return arrival->len >= IPOIB_LEN + IPOIB_ARP_LEN &&
	       get16(arrival->bytes) == ETHERTYPE_ARP && get16(arp) == HARDWARE_IB &&
	       get16(arp + 2) == 0x0800 && arp[4] == IPOIB_ADDR && arp[5] == 4;
}

static void answer_ipoib(const struct gsi_arrival *arrival, const uint8_t wanted[16])
{
	static const uint8_t no_gid[16];
	uint8_t packet[IPOIB_LEN + IPOIB_ARP_LEN];
	const uint8_t *request = arrival->bytes + IPOIB_LEN;

	put_ipoib_arp(packet, ARP_REPLY, arrival->adapter, arrival->port, wanted);
	memcpy(packet + IPOIB_LEN + 32, request + 8, IPOIB_ADDR + 4);
	gsi_send_ipoib(arrival->adapter, arrival->port, arrival->addr.slid, no_gid,
		       get32(request + 8) & QPN_MASK, packet, sizeof(packet));
}

static void take_ipoib_arp(const struct gsi_arrival *arrival)
{
	const uint8_t *arp = arrival->bytes + IPOIB_LEN;
	uint8_t host[16];

	if (get16(arp + 6) == ARP_REPLY) {
		map_ipv4(arp + 28, host);
		tell(arrival, host, arp + 12, NULL);
	} else if (get16(arp + 6) == ARP_REQUEST) {
		map_ipv4(arp + 52, host);
		if (is_own(host, arrival->adapter, arrival->port))
			answer_ipoib(arrival, host);
	}
}

static void take_path_record(const uint8_t *mad, struct resolution *res)
{
	const uint8_t *data = mad + SA_DATA;

	if (fld_get(mad, MAD_STATUS)) {
		finish(res, -EINVAL);
		return;
	}
	res->dlid = fld_get(data, PATH_DLID);
	res->sl = fld_get(data, PATH_SL);
	res->mtu = fld_get(data, PATH_MTU);
	res->rate = fld_get(data, PATH_RATE);
	res->lifetime = fld_get(data, PATH_LIFETIME);
	finish(res, res->dlid ? 0 : -EINVAL);
}

static void take_service_record(const uint8_t *mad, struct resolution *res)
{
	unsigned int status = fld_get(mad, MAD_STATUS);

	if (!status)
		memcpy(res->record, mad + SA_DATA, sizeof(res->record));
	finish(res, status == SA_NO_RECORDS ? -ENODATA : status ? -EINVAL : 0);
}

static void take_subnet(const uint8_t *mad)
{
	uint64_t transaction = fld_get64(mad, MAD_TRANSACTION);
	unsigned int attribute = fld_get(mad, MAD_ATTRIBUTE);
	struct resolution *res;

	if (fld_get(mad, MAD_CLASS) != MAD_CLASS_SA ||
	    fld_get(mad, MAD_METHOD) != (SA_GET | SA_RESPONSE))
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
	if (arrival->frame && get16(arrival->bytes + 12) == ETHERTYPE_ARP)
		take_arp(arrival);
	else if (arrival->frame)
		take_advertisement(arrival);
	else if (arrival->dest_qpn == GSI_QPN)
		take_subnet(arrival->bytes);
	else if (is_ipoib_arp(arrival))
		take_ipoib_arp(arrival);
}

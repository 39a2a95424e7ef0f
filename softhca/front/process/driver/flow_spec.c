/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * flow_spec.c - converts the specs of a flow to the adapter's match.
 *
 * A spec has a header, a filter with values and a filter with masks. The match has a value bit only
 * where the mask has one.
 */
#include <endian.h>
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include <rdma/ib_user_verbs.h>

#include "ib/ethernet.h"
#include "prm/mlx5/flow.h"
#include "softhca/front/process/driver/flow_spec.h"
#include "util/bits.h"

enum spec_type {
	SPEC_ETH = 0x20,
	SPEC_IPV4 = 0x30,
	SPEC_IPV6 = 0x31,
	SPEC_TCP = 0x40,
	SPEC_UDP = 0x41,
	SPEC_VXLAN = 0x50,
	SPEC_GRE = 0x51,
	SPEC_TAG = 0x1000,
	SPEC_DROP = 0x1001,
	SPEC_COUNT = 0x1003,
};

enum { IP_VERSION = 0xf, MAX_TAG = 1 << 24 };

enum { FILTER_MAX = sizeof(struct ib_uverbs_flow_ipv6_filter) };

/* A spec being read: its filters, and the match that gets their bits. */
struct reader {
	uint8_t value[FILTER_MAX], mask[FILTER_MAX];
	struct flow_specs *specs;
};

static void put_match(struct reader *reader, uint32_t field, uint64_t value, uint64_t mask)
{
	uint8_t *to_value = reader->specs->match.value, *to_mask = reader->specs->match.mask;

	fld_set(to_mask, field, fld_get(to_mask, field) | mask);
	fld_set(to_value, field, fld_get(to_value, field) | (value & mask));
}

static void put_bytes(struct reader *reader, uint32_t part, size_t at, size_t len)
{
	uint8_t *to_value = fld_at(reader->specs->match.value, part);
	uint8_t *to_mask = fld_at(reader->specs->match.mask, part);

	for (size_t i = 0; i < len; i++) {
		to_mask[i] |= reader->mask[at + i];
		to_value[i] |= reader->value[at + i] & reader->mask[at + i];
	}
}

static uint16_t be16_at(const uint8_t *filter, size_t at)
{
	return filter[at] << 8 | filter[at + 1];
}

static uint32_t be32_at(const uint8_t *filter, size_t at)
{
	return (uint32_t)be16_at(filter, at) << 16 | be16_at(filter, at + 2);
}

static void put_be16(struct reader *reader, uint32_t field, size_t at)
{
	put_match(reader, field, be16_at(reader->value, at), be16_at(reader->mask, at));
}

static void put_byte(struct reader *reader, uint32_t field, size_t at)
{
	put_match(reader, field, reader->value[at], reader->mask[at]);
}

/* A field of the match's second set (misc). */
#define MISC(field) FLD_IN(MATCH_MISC_PARAMETERS, field)

static int read_eth(struct reader *reader)
{
	enum {
		DST = offsetof(struct ib_uverbs_flow_eth_filter, dst_mac),
		SRC = offsetof(struct ib_uverbs_flow_eth_filter, src_mac),
		TYPE = offsetof(struct ib_uverbs_flow_eth_filter, ether_type),
		VLAN = offsetof(struct ib_uverbs_flow_eth_filter, vlan_tag),
	};
	uint16_t value = be16_at(reader->value, VLAN), mask = be16_at(reader->mask, VLAN);

	put_match(reader, LYR_2_4_DMAC_47_16, be32_at(reader->value, DST),
		  be32_at(reader->mask, DST));
	put_be16(reader, LYR_2_4_DMAC_15_0, DST + 4);
	put_match(reader, LYR_2_4_SMAC_47_16, be32_at(reader->value, SRC),
		  be32_at(reader->mask, SRC));
	put_be16(reader, LYR_2_4_SMAC_15_0, SRC + 4);
	put_be16(reader, LYR_2_4_ETHERTYPE, TYPE);
	if (!mask)
		return 0;
	put_match(reader, LYR_2_4_CVLAN_TAG, 1, 1);
	put_match(reader, LYR_2_4_FIRST_VID, value & 0xfff, mask & 0xfff);
	put_match(reader, LYR_2_4_FIRST_CFI, value >> 12, mask >> 12 & 1);
	put_match(reader, LYR_2_4_FIRST_PRIO, value >> 13, mask >> 13);
	return 0;
}

static void put_traffic_class(struct reader *reader, size_t at)
{
	put_match(reader, LYR_2_4_IP_ECN, reader->value[at], reader->mask[at] & 3);
	put_match(reader, LYR_2_4_IP_DSCP, reader->value[at] >> 2, reader->mask[at] >> 2);
}

/* Reads an IPv4 spec. Like Linux' driver, refuses masks of fields that follow the type of service.
 * Source: mlx5_ib's fs.c, LAST_IPV4_FIELD and LAST_IPV6_FIELD */
static int read_ipv4(struct reader *reader)
{
	enum {
		SRC = offsetof(struct ib_uverbs_flow_ipv4_filter, src_ip),
		DST = offsetof(struct ib_uverbs_flow_ipv4_filter, dst_ip),
		PROTO = offsetof(struct ib_uverbs_flow_ipv4_filter, proto),
		TOS = offsetof(struct ib_uverbs_flow_ipv4_filter, tos),
		TTL = offsetof(struct ib_uverbs_flow_ipv4_filter, ttl),
		FLAGS = offsetof(struct ib_uverbs_flow_ipv4_filter, flags),
	};

	if (reader->mask[TTL] || reader->mask[FLAGS])
		return EOPNOTSUPP;
	put_match(reader, LYR_2_4_IP_VERSION, 4, IP_VERSION);
	put_bytes(reader, LYR_2_4_SRC_IPV4, SRC, 4);
	put_bytes(reader, LYR_2_4_DST_IPV4, DST, 4);
	put_byte(reader, LYR_2_4_IP_PROTOCOL, PROTO);
	put_traffic_class(reader, TOS);
	return 0;
}

static int read_ipv6(struct reader *reader)
{
	enum {
		SRC = offsetof(struct ib_uverbs_flow_ipv6_filter, src_ip),
		DST = offsetof(struct ib_uverbs_flow_ipv6_filter, dst_ip),
		LABEL = offsetof(struct ib_uverbs_flow_ipv6_filter, flow_label),
		NEXT = offsetof(struct ib_uverbs_flow_ipv6_filter, next_hdr),
		CLASS = offsetof(struct ib_uverbs_flow_ipv6_filter, traffic_class),
		HOPS = offsetof(struct ib_uverbs_flow_ipv6_filter, hop_limit),
		RESERVED = offsetof(struct ib_uverbs_flow_ipv6_filter, reserved),
		MOST_LABEL = (1 << 20) - 1,
	};

	if (reader->mask[HOPS] || reader->mask[RESERVED])
		return EOPNOTSUPP;
	put_match(reader, LYR_2_4_IP_VERSION, 6, IP_VERSION);
	put_bytes(reader, LYR_2_4_SRC_IPV4_SRC_IPV6, SRC, 16);
	put_bytes(reader, LYR_2_4_DST_IPV4_DST_IPV6, DST, 16);
	put_byte(reader, LYR_2_4_IP_PROTOCOL, NEXT);
	put_traffic_class(reader, CLASS);
	put_match(reader, MISC(MISC_OUTER_IPV6_FLOW_LABEL), be32_at(reader->value, LABEL),
		  be32_at(reader->mask, LABEL) & MOST_LABEL);
	return 0;
}

enum {
	DPORT = offsetof(struct ib_uverbs_flow_tcp_udp_filter, dst_port),
	SPORT = offsetof(struct ib_uverbs_flow_tcp_udp_filter, src_port),
};

static int read_tcp(struct reader *reader)
{
	put_match(reader, LYR_2_4_IP_PROTOCOL, PROTO_TCP, 0xff);
	put_be16(reader, LYR_2_4_TCP_DPORT, DPORT);
	put_be16(reader, LYR_2_4_TCP_SPORT, SPORT);
	return 0;
}

static int read_udp(struct reader *reader)
{
	put_match(reader, LYR_2_4_IP_PROTOCOL, PROTO_UDP, 0xff);
	put_be16(reader, LYR_2_4_UDP_DPORT, DPORT);
	put_be16(reader, LYR_2_4_UDP_SPORT, SPORT);
	return 0;
}

static int read_vxlan(struct reader *reader)
{
	put_match(reader, MISC(MISC_VXLAN_VNI), be32_at(reader->value, 0),
		  be32_at(reader->mask, 0));
	return 0;
}

static int read_gre(struct reader *reader)
{
	enum {
		FLAGS = offsetof(struct ib_uverbs_flow_gre_filter, c_ks_res0_ver),
		PROTOCOL = offsetof(struct ib_uverbs_flow_gre_filter, protocol),
		KEY = offsetof(struct ib_uverbs_flow_gre_filter, key),
	};

	if (be16_at(reader->mask, FLAGS))
		return EOPNOTSUPP;
	put_match(reader, LYR_2_4_IP_PROTOCOL, PROTO_GRE, 0xff);
	put_be16(reader, MISC(MISC_GRE_PROTOCOL), PROTOCOL);
	put_bytes(reader, MISC(MISC_GRE_KEY), KEY, 4);
	return 0;
}

static const struct {
	uint32_t type;
	size_t filter; /* bytes of each of the two filters */
	int (*read)(struct reader *reader);
} readers[] = {
	{ SPEC_ETH, sizeof(struct ib_uverbs_flow_eth_filter), read_eth },
	{ SPEC_IPV4, sizeof(struct ib_uverbs_flow_ipv4_filter),
	  read_ipv4 }, /* filter of 8 bytes in older programs */
	{ SPEC_IPV6, sizeof(struct ib_uverbs_flow_ipv6_filter), read_ipv6 },
	{ SPEC_TCP, sizeof(struct ib_uverbs_flow_tcp_udp_filter), read_tcp },
	{ SPEC_UDP, sizeof(struct ib_uverbs_flow_tcp_udp_filter), read_udp },
	{ SPEC_VXLAN, sizeof(struct ib_uverbs_flow_tunnel_filter), read_vxlan },
	{ SPEC_GRE, sizeof(struct ib_uverbs_flow_gre_filter), read_gre },
};

static int read_tag(const struct ib_uverbs_flow_spec_action_tag *spec, size_t size,
		    struct flow_specs *specs)
{
	if (size != sizeof(*spec) || spec->reserved1 || spec->tag_id >= MAX_TAG)
		return EINVAL;
	specs->tag = spec->tag_id;
	specs->has_tag = true;
	return 0;
}

/* Reads a counter action. A second one is refused, as a flow has at most one. */
static int read_count(const struct ib_uverbs_flow_spec_action_count *spec, size_t size,
		      struct flow_specs *specs)
{
	if (size != sizeof(*spec) || specs->counts)
		return EINVAL;
	specs->counters = spec->handle;
	specs->counts = true;
	return 0;
}

/* Returns the size of a filter, or 0 if the filter is invalid. Filters grow with releases. Fields
 * that a shorter filter lacks are not matched; fields that a longer filter adds must have no
 * mask. */
static size_t filter_size(const uint8_t *data, size_t size, size_t known)
{
	const size_t header = sizeof(struct ib_uverbs_flow_spec_hdr), filter = (size - header) / 2;

	if (size % 4)
		return 0;
	for (size_t i = known; i < filter; i++)
		if (data[header + filter + i])
			return 0;
	return filter;
}

static int read_filters(const uint8_t *data, uint32_t type, size_t size, struct flow_specs *specs)
{
	const uint8_t *filters = data + sizeof(struct ib_uverbs_flow_spec_hdr);

	for (unsigned int i = 0; i < ARRAY_SIZE(readers); i++) {
		struct reader reader = { .specs = specs };
		size_t filter, len;

		if (readers[i].type != type)
			continue;
		filter = filter_size(data, size, readers[i].filter);
		if (!filter)
			return EINVAL;
		len = filter < readers[i].filter ? filter : readers[i].filter;
		memcpy(reader.value, filters, len);
		memcpy(reader.mask, filters + filter, len);
		return readers[i].read(&reader);
	}
	return EOPNOTSUPP;
}

int flow_specs_read(const void *data, size_t len, unsigned int count, struct flow_specs *specs)
{
	const uint8_t *at = data;
	int ret = 0;

	*specs = (struct flow_specs){ 0 };
	for (unsigned int i = 0; !ret && i < count; i++) {
		struct ib_uverbs_flow_spec_hdr hdr;

		if (len < sizeof(hdr))
			return EINVAL;
		memcpy(&hdr, at, sizeof(hdr));
		if (hdr.size < sizeof(hdr) || hdr.size > len || hdr.reserved)
			return EINVAL;
		if (hdr.type == SPEC_TAG)
			ret = read_tag((const void *)at, hdr.size, specs);
		else if (hdr.type == SPEC_COUNT)
			ret = read_count((const void *)at, hdr.size, specs);
		else if (hdr.type == SPEC_DROP)
			specs->drop = true;
		else
			ret = read_filters(at, hdr.type, hdr.size, specs);
		at += hdr.size;
		len -= hdr.size;
	}
	return ret ? ret : len ? EINVAL : 0;
}

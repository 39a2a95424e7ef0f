/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * flow.c - flows that mlx4_ib accepts, and their translation. Source: mlx4_ib_create_flow() and its
 * callees in Linux 6.1 (mlx4/main.c).
 */
#include <errno.h>
#include <string.h>

#include <rdma/ib_user_verbs.h>

#include "softhca/front/process/driver/flow_spec.h"
#include "softhca/front/process/uverbs/mlx4/flow.h"

enum { TYPE_NORMAL = 0, TYPE_SNIFFER = 3, FLAG_DONT_TRAP = 1 << 1, MAX_PRIORITY = 0xfff };

enum { SPEC_ETH = 0x20, SPEC_IPV4 = 0x30, SPEC_TCP = 0x40, SPEC_UDP = 0x41 };

/* Returns whether a spec's mask, its second half, has bits in this range. */
static bool has_mask(const uint8_t *spec, size_t size, size_t from, size_t to)
{
	const size_t header = sizeof(struct ib_uverbs_flow_spec_hdr), filter = (size - header) / 2;

	for (size_t i = from; i < to && i < filter; i++)
		if (spec[header + filter + i])
			return true;
	return false;
}

static int check_spec(const uint8_t *spec, const struct ib_uverbs_flow_spec_hdr *hdr)
{
	const size_t known = offsetof(struct ib_uverbs_flow_ipv4_filter, dst_ip) + sizeof(__be32);

	switch (hdr->type) {
	case SPEC_ETH:
	case SPEC_TCP:
	case SPEC_UDP:
		return 0;
	case SPEC_IPV4:
		return has_mask(spec, hdr->size, known, hdr->size) ? EINVAL : 0;
	default:
		return EINVAL;
	}
}

/* Checks a flow that only copies frames: it must match all frames, or all multicast or all unicast
 * ones. */
static int check_copy(const struct ib_uverbs_flow_attr *attr, const uint8_t *specs)
{
	const size_t header = sizeof(struct ib_uverbs_flow_spec_hdr);
	struct ib_uverbs_flow_spec_eth eth;

	if (attr->type != TYPE_NORMAL || attr->num_of_specs > 1 || attr->priority)
		return EOPNOTSUPP;
	if (!attr->num_of_specs)
		return 0;
	memcpy(&eth, specs, header);
	if (eth.type != SPEC_ETH || eth.size < sizeof(eth))
		return EINVAL;
	memcpy(&eth, specs, sizeof(eth));
	eth.mask.dst_mac[0] &= (uint8_t)~1u;
	for (size_t i = 0; i < sizeof(eth.mask.dst_mac); i++)
		if (eth.mask.dst_mac[i])
			return EINVAL;
	return 0;
}

int mlx4_flow_check(const struct ib_uverbs_flow_attr *attr, const uint8_t *specs)
{
	int ret = attr->flags & FLAG_DONT_TRAP ? check_copy(attr, specs) : 0;

	if (!ret && attr->priority > MAX_PRIORITY)
		ret = EINVAL;
	for (unsigned int i = 0; !ret && i < attr->num_of_specs; i++) {
		struct ib_uverbs_flow_spec_hdr hdr;

		memcpy(&hdr, specs, sizeof(hdr));
		ret = check_spec(specs, &hdr);
		specs += hdr.size;
	}
	return ret;
}

static void match_ignore(struct steering_match *match, uint32_t field)
{
	fld_set(match->mask, field, 0);
	fld_set(match->value, field, 0);
}

/* Removes source address and EtherType, which the driver ignores. */
void mlx4_flow_match(struct steering_match *match)
{
	match_ignore(match, LYR_2_4_SMAC_47_16);
	match_ignore(match, LYR_2_4_SMAC_15_0);
	match_ignore(match, LYR_2_4_ETHERTYPE);
}

/* Sets the rule's level. The driver's last priorities share one level. */
void mlx4_flow_place(const struct ib_uverbs_flow_attr *attr, struct steering_request *request)
{
	unsigned int priority = attr->priority;

	if (priority >= STEERING_PRIORITIES)
		priority = STEERING_PRIORITIES - 1;
	request->level = 2 * priority + !request->target.goes_on;
	if (attr->type != TYPE_SNIFFER)
		return;
	request->level = 0;
	request->target.goes_on = true;
	request->sees_sent = true;
}

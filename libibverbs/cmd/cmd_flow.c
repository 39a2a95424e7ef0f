/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cmd_flow.c - commands on flows. Converts the program's list of specs, which differ in size, to
 * the kernel's layouts.
 *
 * A match spec has two filters: values and masks. In verbs.h they follow type and size directly; in
 * the kernel they start at byte 8, and their lengths are multiples of 4.
 */
#include "cmd/cmd.h"
#include "util/alloc.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct match_layout {
	enum ibv_flow_spec_type type;
	uint16_t kernel_type;
	uint16_t val, mask;
	uint16_t filter_size;
	uint16_t kernel_filter;
};

#define LAYOUT(spec, to, name, last, kernel_size)                                     \
	{                                                                             \
		.type = (spec), .kernel_type = (to),                                  \
		.val = offsetof(struct ibv_flow_spec_##name, val),                    \
		.mask = offsetof(struct ibv_flow_spec_##name, mask),                  \
		.filter_size = offsetof(struct ibv_flow_spec_##name, val.last) +      \
			       sizeof(((struct ibv_flow_spec_##name *)0)->val.last) - \
			       offsetof(struct ibv_flow_spec_##name, val),            \
		.kernel_filter = (kernel_size),                                       \
	}

#define FILTER(name) sizeof(struct ib_uverbs_flow_##name##_filter)

/* Layouts of match specs. The kernel has a single type for both lengths of an IPv4 filter, so two
 * rows name it. */
static const struct match_layout layouts[] = {
	LAYOUT(IBV_FLOW_SPEC_ETH, IBV_FLOW_SPEC_ETH, eth, vlan_tag, FILTER(eth)),
	LAYOUT(IBV_FLOW_SPEC_IPV4, IBV_FLOW_SPEC_IPV4, ipv4, dst_ip, 8),
	LAYOUT(IBV_FLOW_SPEC_IPV4_EXT, IBV_FLOW_SPEC_IPV4, ipv4_ext, flags, FILTER(ipv4)),
	LAYOUT(IBV_FLOW_SPEC_IPV6, IBV_FLOW_SPEC_IPV6, ipv6, hop_limit, FILTER(ipv6)),
	LAYOUT(IBV_FLOW_SPEC_ESP, IBV_FLOW_SPEC_ESP, esp, seq, FILTER(spec_esp)),
	LAYOUT(IBV_FLOW_SPEC_TCP, IBV_FLOW_SPEC_TCP, tcp_udp, src_port, FILTER(tcp_udp)),
	LAYOUT(IBV_FLOW_SPEC_UDP, IBV_FLOW_SPEC_UDP, tcp_udp, src_port, FILTER(tcp_udp)),
	LAYOUT(IBV_FLOW_SPEC_VXLAN_TUNNEL, IBV_FLOW_SPEC_VXLAN_TUNNEL, tunnel, tunnel_id,
	       FILTER(tunnel)),
	LAYOUT(IBV_FLOW_SPEC_GRE, IBV_FLOW_SPEC_GRE, gre, key, FILTER(gre)),
	LAYOUT(IBV_FLOW_SPEC_MPLS, IBV_FLOW_SPEC_MPLS, mpls, label, FILTER(mpls)),
};

static const struct match_layout *find_layout(uint32_t type)
{
	for (size_t i = 0; i < ARRAY_SIZE(layouts); i++)
		if (layouts[i].type == (type & ~(uint32_t)IBV_FLOW_SPEC_INNER))
			return &layouts[i];
	return NULL;
}

/* Large enough for any spec of the kernel, whose headers name no maximum. */
union kernel_spec {
	struct ib_uverbs_flow_spec_hdr hdr;
	struct ib_uverbs_flow_spec_action_tag tag;
	struct ib_uverbs_flow_spec_action_drop drop;
	struct ib_uverbs_flow_spec_action_handle handle;
	struct ib_uverbs_flow_spec_action_count count;
	struct ib_uverbs_flow_spec_ipv6 longest;
	uint8_t bytes[sizeof(struct ib_uverbs_flow_spec_ipv6)];
};

static int put_match(union kernel_spec *to, const struct ibv_flow_spec *from)
{
	const struct match_layout *layout = find_layout(from->hdr.type);
	const uint8_t *bytes = (const uint8_t *)from;

	if (!layout) {
		verbs_warn("ibv_create_flow: spec of type 0x%x: there is no such type",
			   from->hdr.type);
		return EINVAL;
	}
	to->hdr.type = layout->kernel_type | (from->hdr.type & IBV_FLOW_SPEC_INNER);
	to->hdr.size = (uint16_t)(sizeof(to->hdr) + 2 * layout->kernel_filter);
	memcpy(to->bytes + sizeof(to->hdr), bytes + layout->val, layout->filter_size);
	memcpy(to->bytes + sizeof(to->hdr) + layout->kernel_filter, bytes + layout->mask,
	       layout->filter_size);
	return 0;
}

static int put_spec(union kernel_spec *to, const struct ibv_flow_spec *from)
{
	memset(to, 0, sizeof(*to));
	to->hdr.type = from->hdr.type;
	switch (from->hdr.type) {
	case IBV_FLOW_SPEC_ACTION_TAG:
		to->hdr.size = sizeof(to->tag);
		to->tag.tag_id = from->flow_tag.tag_id;
		return 0;
	case IBV_FLOW_SPEC_ACTION_DROP:
		to->hdr.size = sizeof(to->drop);
		return 0;
	case IBV_FLOW_SPEC_ACTION_HANDLE:
		to->hdr.size = sizeof(to->handle);
		to->handle.handle = to_vaction(from->handle.action)->handle;
		return 0;
	case IBV_FLOW_SPEC_ACTION_COUNT:
		to->hdr.size = sizeof(to->count);
		to->count.handle = to_vcounters(from->flow_count.counters)->handle;
		return 0;
	default:
		return put_match(to, from);
	}
}

/* Copies a spec to *TO, since specs follow a 20-byte header without gaps and may be unaligned.
 * Fields that a short spec lacks are 0. Returns the size of the original. */
static size_t read_spec(struct ibv_flow_spec *to, const uint8_t *from)
{
	*to = (struct ibv_flow_spec){};
	memcpy(&to->hdr, from, sizeof(to->hdr));
	memcpy(to, from, min_of(to->hdr.size, sizeof(*to)));
	return to->hdr.size;
}

static int put_specs(uint8_t *to, const struct ibv_flow_attr *attr, size_t *size)
{
	const uint8_t *from = (const uint8_t *)(attr + 1);
	struct ibv_flow_spec one;
	union kernel_spec spec;
	int ret;

	*size = 0;
	for (unsigned int i = 0; i < attr->num_of_specs; i++) {
		const size_t size_of_one = read_spec(&one, from);

		if (size_of_one < sizeof(one.hdr)) {
			verbs_warn("ibv_create_flow: spec %u: size %zu: must be at least %zu", i,
				   size_of_one, sizeof(one.hdr));
			return EINVAL;
		}
		from += size_of_one;
		ret = put_spec(&spec, &one);
		if (ret)
			return ret;
		memcpy(to + *size, &spec, spec.hdr.size);
		*size += spec.hdr.size;
	}
	return 0;
}

static void explain_create(struct ibv_qp *qp, const struct ibv_flow_attr *attr, int err)
{
	const char *why = "";

	if (err == EPERM)
		why = ": steering packets needs CAP_NET_RAW";
	else if (err == EINVAL && qp->qp_type != IBV_QPT_RAW_PACKET && qp->qp_type != IBV_QPT_UD)
		why = ": the QP must be of type RAW_PACKET or UD";
	verbs_warn(
		"ibv_create_flow: QP 0x%x type %d priority %u num_of_specs %u port %u flags 0x%x: "
		"%s%s",
		qp->qp_num, attr->type, attr->priority, attr->num_of_specs, attr->port, attr->flags,
		strerror(err), why);
}

static int run_create(struct ibv_qp *qp, const struct ibv_flow_attr *attr,
		      struct ib_uverbs_create_flow *req, struct ib_uverbs_create_flow_resp *resp,
		      const struct verbs_udata *udata)
{
	size_t specs;
	int ret = put_specs((uint8_t *)req->flow_attr.flow_specs, attr, &specs);

	if (ret)
		return ret;
	req->qp_handle = qp->handle;
	req->flow_attr.type = attr->type;
	req->flow_attr.size = (uint16_t)specs;
	req->flow_attr.priority = attr->priority;
	req->flow_attr.num_of_specs = attr->num_of_specs;
	req->flow_attr.port = attr->port;
	req->flow_attr.flags = attr->flags;
	ret = verbs_cmd_run_write(
		qp->context, IB_USER_VERBS_CMD_FLAG_EXTENDED | IB_USER_VERBS_EX_CMD_CREATE_FLOW,
		req, sizeof(*req) + specs, resp, sizeof(*resp), udata);
	if (ret)
		explain_create(qp, attr, ret);
	return ret;
}

static_assert(UINT8_MAX * sizeof(union kernel_spec) < UINT16_MAX, "any number of specs fits");

/* Number of specs that are converted on the stack, without allocation: few flows have more. */
enum {
	FEW_SPECS = 6,
	FEW_WORDS = (sizeof(struct ib_uverbs_create_flow) + FEW_SPECS * sizeof(union kernel_spec)) /
			    sizeof(uint64_t) +
		    1,
};

VERBS_EXPORT int verbs_cmd_create_flow(struct ibv_qp *qp, const struct ibv_flow_attr *attr,
				       struct ibv_flow *flow, const struct verbs_udata *udata)
{
	struct ib_uverbs_create_flow_resp resp = {};
	uint64_t few[FEW_WORDS];
	struct ib_uverbs_create_flow *req = (struct ib_uverbs_create_flow *)few;
	int ret;

	if (attr->num_of_specs > FEW_SPECS)
		req = malloc_for("ibv_create_flow",
				 sizeof(*req) + attr->num_of_specs * sizeof(union kernel_spec));
	if (!req)
		return ENOMEM;
	*req = (struct ib_uverbs_create_flow){};
	ret = run_create(qp, attr, req, &resp, udata);
	if (attr->num_of_specs > FEW_SPECS)
		free(req);
	if (ret)
		return ret;
	flow->context = qp->context;
	flow->handle = resp.flow_handle;
	return 0;
}

VERBS_EXPORT int verbs_cmd_destroy_flow(struct ibv_flow *flow)
{
	int ret = verbs_cmd_destroy(flow->context, UVERBS_OBJECT_FLOW, UVERBS_METHOD_FLOW_DESTROY,
				    UVERBS_ATTR_DESTROY_FLOW_HANDLE, flow->handle);

	if (ret)
		verbs_warn("ibv_destroy_flow: flow %u: %s", flow->handle, strerror(ret));
	return ret;
}

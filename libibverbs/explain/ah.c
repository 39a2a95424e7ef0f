/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * ah.c - logs why the kernel refused the address of an address handle or of a QP. Like qp.c, it
 * runs only after a refusal.
 */
#include "libibverbs/private.h"

#include <stdio.h>
#include <string.h>

struct fault {
	const char *prefix;
	char *why;
	size_t size;
};

#define WRONG(fault, format, ...) \
	(snprintf((fault)->why, (fault)->size, "%s" format, (fault)->prefix, __VA_ARGS__), true)

static bool source_gid_is_wrong(struct ibv_context *context, const struct ibv_ah_attr *attr,
				const struct ibv_port_attr *port, struct fault *fault)
{
	union ibv_gid gid;

	if (attr->grh.sgid_index >= port->gid_tbl_len)
		return WRONG(fault, "grh.sgid_index %u: must be below port %u's gid_tbl_len, %d",
			     attr->grh.sgid_index, attr->port_num, port->gid_tbl_len);
	if (!ibv_query_gid(context, attr->port_num, attr->grh.sgid_index, &gid) &&
	    !gid.global.subnet_prefix && !gid.global.interface_id)
		return WRONG(fault, "grh.sgid_index %u: that entry of port %u's GID table is empty",
			     attr->grh.sgid_index, attr->port_num);
	return false;
}

bool verbs_ah_find_fault(struct ibv_context *context, const char *prefix,
			 const struct ibv_ah_attr *attr, char *why, size_t size)
{
	const struct ibv_device_attr *limits = verbs_limits(context);
	struct fault fault = { prefix, why, size };
	struct ibv_port_attr port;

	if (limits && (!attr->port_num || attr->port_num > limits->phys_port_cnt))
		return WRONG(&fault, "port_num %u: must be 1 to %u", attr->port_num,
			     limits->phys_port_cnt);
	if (get_ops(context)->query_port(context, attr->port_num, &port, sizeof(port)))
		return false;
	if (port.link_layer == IBV_LINK_LAYER_ETHERNET && !attr->is_global)
		return WRONG(&fault,
			     "is_global 0: port %u is Ethernet, where an address is a GID: set "
			     "is_global 1, grh.dgid and grh.sgid_index",
			     attr->port_num);
	if (port.link_layer == IBV_LINK_LAYER_INFINIBAND && !attr->dlid && !attr->is_global)
		return WRONG(&fault,
			     "dlid %u: set it to the LID of the peer's port, from its "
			     "ibv_query_port()",
			     attr->dlid);
	return attr->is_global && source_gid_is_wrong(context, attr, &port, &fault);
}

void verbs_ah_explain_create(struct ibv_pd *pd, const struct ibv_ah_attr *attr, int err)
{
	char why[256] = "";

	if (!verbs_log_on(VERBS_LOG_WARN))
		return;
	if (err == EINVAL)
		verbs_ah_find_fault(pd->context, "", attr, why, sizeof(why));
	verbs_warn("ibv_create_ah: port_num %u is_global %u dlid 0x%x sgid_index %u: %s%s%s",
		   attr->port_num, attr->is_global, attr->dlid, attr->grh.sgid_index, strerror(err),
		   why[0] ? ": " : "", why);
}

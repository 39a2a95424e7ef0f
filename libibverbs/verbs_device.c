/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * verbs_device.c - the public calls that query a device and its ports.
 */
#include "cmd/cmd.h"

#include <stdlib.h>
#include <string.h>

/* Queries the device. The public struct has grown over time. The provider fills in a whole struct,
 * and the caller gets as much of it as the caller's version has. */
int verbs_query_device_ex(struct ibv_context *context,
			  const struct ibv_query_device_ex_input *input,
			  struct ibv_device_attr_ex *attr, size_t attr_size)
{
	struct ibv_device_attr_ex full = {};
	int ret;

	if (input && input->comp_mask) {
		verbs_warn("ibv_query_device_ex: input comp_mask 0x%x: no bit of it has a meaning",
			   input->comp_mask);
		return verbs_result(EINVAL);
	}
	if (attr_size < sizeof(full.orig_attr)) {
		verbs_warn("ibv_query_device_ex: attr_size %zu is below the %zu bytes of "
			   "ibv_device_attr",
			   attr_size, sizeof(full.orig_attr));
		return verbs_result(EINVAL);
	}
	ret = get_ops(context)->query_device_ex(context, input, &full, sizeof(full));
	if (ret)
		return verbs_result(ret);
	memset(attr, 0, attr_size);
	memcpy(attr, &full, min_of(attr_size, sizeof(full)));
	return 0;
}

VERBS_EXPORT int ibv_query_device(struct ibv_context *context, struct ibv_device_attr *attr)
{
	struct ibv_device_attr_ex full = {};
	int ret = get_ops(context)->query_device_ex(context, NULL, &full, sizeof(full));

	if (!ret)
		*attr = full.orig_attr;
	return verbs_result(ret);
}

/* Returns the device's limits. Takes no lock, because a provider may hold one. If two threads query
 * at the same time, the first answer is kept. */
VERBS_EXPORT const struct ibv_device_attr *verbs_limits(struct ibv_context *context)
{
	struct ibv_device_attr **limits = &to_priv(context)->limits, *mine, *first = NULL;

	mine = __atomic_load_n(limits, __ATOMIC_ACQUIRE);
	if (mine)
		return mine;
	mine = malloc(sizeof(*mine));
	if (!mine || ibv_query_device(context, mine)) {
		free(mine);
		return NULL;
	}
	if (__atomic_compare_exchange_n(limits, &first, mine, false, __ATOMIC_ACQ_REL,
					__ATOMIC_ACQUIRE))
		return mine;
	free(mine);
	return first;
}

/* Serves programs whose ibv_port_attr ends before port_cap_flags2. Newer programs call
 * verbs_context.query_port inline, with the size of their struct. */
#undef ibv_query_port
VERBS_EXPORT int ibv_query_port(struct ibv_context *context, uint8_t port_num,
				struct _compat_ibv_port_attr *attr)
{
	return verbs_result(
		get_ops(context)->query_port(context, port_num, (struct ibv_port_attr *)attr,
					     offsetof(struct ibv_port_attr, port_cap_flags2)));
}

/* Queries the port's speed. EPROTONOSUPPORT comes from a kernel without the query, such as Linux
 * 6.12, EOPNOTSUPP from a driver without it. The link's speed is no substitute, because a vport may
 * be slower. */
VERBS_EXPORT int ibv_query_port_speed(struct ibv_context *context, uint32_t port_num,
				      uint64_t *port_speed)
{
	int err = verbs_cmd_query_port_speed(context, port_num, port_speed);

	if (err)
		verbs_warn("ibv_query_port_speed %s: port_num %u: %s", context->device->name,
			   port_num, strerror(err));
	return verbs_result(err);
}

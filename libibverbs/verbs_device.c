/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * verbs_device.c - the public queries of a device and its ports.
 */
#include "cmd/cmd.h"

#include <stdlib.h>
#include <string.h>

/* The struct that programs know has grown over time: the provider fills all of it, and the caller
 * gets as much as it has room for. */
int verbs_query_device_ex(struct ibv_context *context,
			  const struct ibv_query_device_ex_input *input,
			  struct ibv_device_attr_ex *attr, size_t attr_size)
{
	struct ibv_device_attr_ex full = {};
	int ret;

	if (input && input->comp_mask) {
		verbs_warn("ibv_query_device_ex: input comp_mask 0x%x: no bit of it has a meaning",
			   input->comp_mask);
		return EINVAL;
	}
	if (attr_size < sizeof(full.orig_attr)) {
		verbs_warn("ibv_query_device_ex: attr_size %zu is below the %zu bytes of "
			   "ibv_device_attr",
			   attr_size, sizeof(full.orig_attr));
		return EINVAL;
	}
	ret = get_ops(context)->query_device_ex(context, input, &full, sizeof(full));
	if (ret)
		return ret;
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
	return ret;
}

/* This takes no lock, since a provider may hold one. Two threads may ask at once; the first answer
 * is kept. */
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

/* The exported function serves programs whose ibv_port_attr ends before port_cap_flags2; newer ones
 * are inlined into a call of verbs_context.query_port that says how much room there is. */
#undef ibv_query_port
VERBS_EXPORT int ibv_query_port(struct ibv_context *context, uint8_t port_num,
				struct _compat_ibv_port_attr *attr)
{
	return get_ops(context)->query_port(context, port_num, (struct ibv_port_attr *)attr,
					    offsetof(struct ibv_port_attr, port_cap_flags2));
}

/* The function returns a lane's speed in units of 100 Mbit/s by its code (IBTA vol 1, PortInfo:
 * LinkSpeedActive and its extensions). */
static unsigned int lane_speed(uint32_t code)
{
	switch (code) {
	case 1:
		return 25;
	case 2:
		return 50;
	case 4: /* QDR */
	case 8: /* FDR10 */
		return 100;
	case 16:
		return 140;
	case 32:
		return 250;
	case 64:
		return 500;
	case 128:
		return 1000;
	case 256:
		return 2000;
	default:
		return 0;
	}
}

/* The function returns the number of lanes by the code of a width (IBTA vol 1, PortInfo:
 * LinkWidthActive). */
static unsigned int lane_count(uint8_t code)
{
	switch (code) {
	case 2:
		return 4;
	case 4:
		return 8;
	case 8:
		return 12;
	case 16:
		return 2;
	default:
		return 1;
	}
}

/* A kernel without the query still tells the nominal speed of the link. */
static int speed_of_link(struct ibv_context *context, uint32_t port_num, uint64_t *speed)
{
	struct ibv_port_attr attr;
	int err;

	if (port_num > UINT8_MAX) {
		verbs_warn("ibv_query_port_speed: port_num %u: must be at most %u", port_num,
			   UINT8_MAX);
		return EINVAL;
	}
	err = get_ops(context)->query_port(context, (uint8_t)port_num, &attr, sizeof(attr));
	if (err)
		return err;
	*speed = (uint64_t)lane_count(attr.active_width) *
		 lane_speed(attr.active_speed_ex ? attr.active_speed_ex : attr.active_speed);
	return 0;
}

VERBS_EXPORT int ibv_query_port_speed(struct ibv_context *context, uint32_t port_num,
				      uint64_t *port_speed)
{
	int err = verbs_cmd_query_port_speed(context, port_num, port_speed);

	if (is_lacking(err))
		return speed_of_link(context, port_num, port_speed);
	if (err)
		verbs_warn("ibv_query_port_speed %s: port_num %u: %s", context->device->name,
			   port_num, strerror(err));
	return err;
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * verbs_pkey.c - the public calls that query P_Key tables, which only sysfs provides.
 */
#include "libibverbs/private.h"

#include <endian.h>
#include <stdio.h>
#include <string.h>

static int read_pkey(struct ibv_context *context, uint8_t port, int index, uint16_t *pkey)
{
	unsigned int value;
	char text[16];
	int err;

	err = verbs_sysfs_read_ibdev(context->device, text, sizeof(text), "ports/%u/pkeys/%d", port,
				     index);
	if (err)
		return err;
	if (sscanf(text, "%x", &value) != 1 || value > UINT16_MAX)
		return EINVAL;
	*pkey = (uint16_t)value;
	return 0;
}

VERBS_EXPORT int ibv_query_pkey(struct ibv_context *context, uint8_t port_num, int index,
				__be16 *pkey)
{
	uint16_t value;
	int err = read_pkey(context, port_num, index, &value);

	if (err) {
		verbs_warn("ibv_query_pkey on %s: port_num %u index %d: %s", context->device->name,
			   port_num, index, strerror(err));
		errno = err;
		return -1;
	}
	*pkey = htobe16(value);
	return 0;
}

VERBS_EXPORT int ibv_get_pkey_index(struct ibv_context *context, uint8_t port_num, __be16 pkey)
{
	uint16_t value;
	int err;

	for (int index = 0; !(err = read_pkey(context, port_num, index, &value)); index++)
		if (htobe16(value) == pkey)
			return index;
	verbs_warn("ibv_get_pkey_index on %s: port_num %u: P_Key 0x%x is not in its table",
		   context->device->name, port_num, be16toh(pkey));
	errno = err;
	return -1;
}

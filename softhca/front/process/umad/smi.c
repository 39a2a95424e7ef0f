/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * smi.c - see smi.h.
 */
#include <stdbool.h>

#include "ib/packet.h"
#include "ib/smp.h"
#include "softhca/front/process/umad/smi.h"

static bool is_on_way_back(const uint8_t *mad)
{
	return fld_get(mad, MAD_STATUS) & SMP_RETURNS;
}

static void set_hop(uint8_t *mad, unsigned int hop)
{
	fld_set(mad, SMP_HOP_POINTER, hop);
}

static unsigned int path_at(const uint8_t *mad, uint32_t path, unsigned int hop)
{
	const uint8_t *ports = fld_at(mad, path);

	return ports[hop];
}

static enum smi_way send_on(uint8_t *mad, unsigned int port)
{
	unsigned int hop = fld_get(mad, SMP_HOP_POINTER), count = fld_get(mad, SMP_HOP_COUNT);

	if (count && !hop) {
		set_hop(mad, 1);
		return path_at(mad, SMP_INITIAL_PATH, 1) == port ? SMI_WIRE : SMI_DISCARD;
	}
	if (hop == count) {
		set_hop(mad, hop + 1);
		return fld_get(mad, SMP_DR_DLID) == LID_PERMISSIVE ? SMI_HERE : SMI_DISCARD;
	}
	return hop == count + 1 ? SMI_HERE : SMI_DISCARD;
}

static enum smi_way send_back(uint8_t *mad, unsigned int port)
{
	unsigned int hop = fld_get(mad, SMP_HOP_POINTER), count = fld_get(mad, SMP_HOP_COUNT);

	if (count && hop == count + 1) {
		set_hop(mad, count);
		return path_at(mad, SMP_RETURN_PATH, count) == port ? SMI_WIRE : SMI_DISCARD;
	}
	if (hop == 1) {
		set_hop(mad, 0);
		return fld_get(mad, SMP_DR_SLID) == LID_PERMISSIVE ? SMI_HERE : SMI_DISCARD;
	}
	return hop ? SMI_DISCARD : SMI_HERE;
}

enum smi_way smi_send(uint8_t mad[MAD_SIZE], unsigned int port)
{
	if (fld_get(mad, SMP_HOP_COUNT) > SMP_MAX_HOPS)
		return SMI_DISCARD;
	return is_on_way_back(mad) ? send_back(mad, port) : send_on(mad, port);
}

enum smi_way smi_receive(uint8_t mad[MAD_SIZE], unsigned int port)
{
	unsigned int hop = fld_get(mad, SMP_HOP_POINTER), count = fld_get(mad, SMP_HOP_COUNT);
	uint8_t *back = fld_at(mad, SMP_RETURN_PATH);

	if (count > SMP_MAX_HOPS || !hop)
		return SMI_DISCARD;
	if (is_on_way_back(mad)) {
		if (hop != 1 || fld_get(mad, SMP_DR_SLID) != LID_PERMISSIVE)
			return SMI_DISCARD;
		set_hop(mad, 0);
		return SMI_HERE;
	}
	if (hop != count || fld_get(mad, SMP_DR_DLID) != LID_PERMISSIVE)
		return SMI_DISCARD;
	back[hop] = (uint8_t)port;
	set_hop(mad, hop + 1);
	return SMI_HERE;
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * mads.c - what hosts ask subnet administration for: requests that are mostly well formed.
 */
#include <stdlib.h>
#include <string.h>

#include "ib/sa.h"
#include "softhca/net/subnet.h"
#include "tests/fuzz/world.h"

static uint16_t find_port(void *owner, const uint8_t gid[16])
{
	(void)owner;
	return gid[15] & 3;
}

static const struct subnet_ops ops = { find_port };

static void put_gid(struct world *world, uint8_t *gid)
{
	gid[0] = once_in(&world->source, 4) ? take8(&world->source) : 0xff;
	gid[1] = 0x12;
	gid[15] = take8(&world->source);
}

static void build_mad(struct world *world, uint8_t mad[MAD_SIZE])
{
	static const uint8_t methods[] = { MAD_GET,   MAD_SET, SA_GET_TABLE,
					   SA_DELETE, MAD_SET, SA_DELETE };
	static const uint16_t attributes[] = { MAD_CLASS_PORT_INFO, SA_PATH_RECORD,
					       SA_MC_MEMBER_RECORD, SA_MC_MEMBER_RECORD };
	struct source *source = &world->source;

	memset(mad, 0, MAD_SIZE);
	fld_set(mad, MAD_BASE_VERSION, MAD_BASE_VERSION_1);
	fld_set(mad, MAD_CLASS, MAD_CLASS_SA);
	fld_set(mad, MAD_CLASS_VERSION, SA_CLASS_VERSION);
	fld_set(mad, MAD_METHOD, methods[pick(source, sizeof(methods))]);
	fld_set(mad, MAD_ATTRIBUTE, attributes[pick(source, 4)]);
	fld_set(mad, SA_COMPONENTS, once_in(source, 4) ? take32(source) : 0x1ffff);
	put_gid(world, mad + SA_DATA);
	put_gid(world, mad + SA_DATA + 16);
	fld_set(mad + SA_DATA, MC_JOIN_STATE, take8(source));
	for (unsigned int i = pick(source, 4); i; i--)
		mad[take8(source)] = take8(source);
}

void fuzz_mads(struct world *world)
{
	uint8_t mad[MAD_SIZE], reply[MAD_SIZE];
	struct fabric_msg msg = {
		.service = FABRIC_UD,
		.op = FABRIC_SEND,
		.dest_qpn = 1,
		.qkey = GSI_QKEY,
		.payload = mad,
		.payload_len = MAD_SIZE,
	};
	struct fabric_msg answer;
	struct subnet *subnet;

	if (subnet_create(&ops, NULL, &subnet))
		abort();
	for (unsigned int i = pick(&world->source, 16); i; i--) {
		build_mad(world, mad);
		if (subnet_answer(subnet, &msg, pick(&world->source, 2), reply, &answer) &&
		    !(reply[3] & MAD_RESPONSE))
			abort();
	}
	subnet_destroy(subnet);
}

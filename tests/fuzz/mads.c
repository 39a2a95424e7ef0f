/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * mads.c - mostly well-formed requests of hosts to subnet administration and to the switch.
 */
#include <stdlib.h>
#include <string.h>

#include "ib/sa.h"
#include "ib/smp.h"
#include "softhca/net/leaf.h"
#include "softhca/net/subnet.h"
#include "tests/fuzz/world.h"
#include "util/bits.h"

static uint16_t find_port(void *owner, const uint8_t gid[16])
{
	(void)owner;
	return gid[15] & 3;
}

static bool nobody_has(void *owner, uint16_t lid, struct hca **hca, unsigned int *port)
{
	(void)owner;
	(void)lid;
	(void)hca;
	(void)port;
	return false;
}

static bool host_is_there(void *owner, unsigned int host)
{
	(void)owner;
	return host == 3;
}

/* Checks that a packet of the switch has a valid route. */
static void switch_sends(void *owner, const struct fabric_msg *msg)
{
	(void)owner;
	if (msg->payload_len != MAD_SIZE)
		abort();
}

static const struct leaf_ops leaf_ops = { nobody_has, host_is_there, switch_sends };

/* Answers for all ports of the switch; there are three. */
static bool ask_port(void *owner, unsigned int number, const uint8_t *in, uint8_t *out,
		     uint16_t *lid)
{
	struct leaf leaf = { &leaf_ops, owner, 0, 2, true, 0 };

	*lid = (uint16_t)(1 + number);
	return number < 3 && leaf_answer_mad(&leaf, 0, in, out);
}

static const struct subnet_ops ops = { find_port, ask_port };

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
	static const uint16_t attributes[] = {
		MAD_CLASS_PORT_INFO, SA_PATH_RECORD, SA_MC_MEMBER_RECORD, SA_MC_MEMBER_RECORD,
		SA_NODE_RECORD,      SA_LINK_RECORD, SA_GUID_INFO_RECORD, SA_PKEY_TABLE_RECORD,
		SA_PORT_INFO_RECORD, SA_PATH_RECORD, SA_SM_INFO_RECORD,   SA_SWITCH_INFO_RECORD,
	};
	struct source *source = &world->source;

	memset(mad, 0, MAD_SIZE);
	fld_set(mad, MAD_BASE_VERSION, MAD_BASE_VERSION_1);
	fld_set(mad, MAD_CLASS, MAD_CLASS_SA);
	fld_set(mad, MAD_CLASS_VERSION, SA_CLASS_VERSION);
	fld_set(mad, MAD_METHOD, methods[pick(source, sizeof(methods))]);
	fld_set(mad, MAD_ATTRIBUTE, attributes[pick(source, ARRAY_SIZE(attributes))]);
	fld_set(mad, SA_COMPONENTS, once_in(source, 4) ? take32(source) : 0x1ffff);
	put_gid(world, mad + SA_DATA);
	put_gid(world, mad + SA_DATA + 16);
	fld_set(mad + SA_DATA, MC_JOIN_STATE, take8(source));
	for (unsigned int i = pick(source, 4); i; i--)
		mad[take8(source)] = take8(source);
}

/* Acknowledges some part of an answer, as the requester. */
static void acknowledge(struct world *world, uint8_t mad[MAD_SIZE])
{
	fld_set(mad, RMPP_FLAGS, RMPP_ACTIVE);
	fld_set(mad, RMPP_TYPE, once_in(&world->source, 8) ? take8(&world->source) : RMPP_ACK);
	fld_set(mad, RMPP_SEGMENT, pick(&world->source, 4));
	fld_set(mad, RMPP_WINDOW, pick(&world->source, 8));
}

static void ask_subnet(struct world *world, struct subnet *subnet, const struct fabric_msg *msg)
{
	uint8_t reply[MAD_SIZE];
	struct fabric_msg answer;

	if (!subnet_answer(subnet, msg, pick(&world->source, 2), reply, &answer))
		return;
	do
		if (!(reply[3] & MAD_RESPONSE))
			abort();
	while (subnet_answer_more(subnet, reply, &answer));
}

/* Sends directed-route packets, and queries to the switch itself. */
static void ask_switch(struct world *world)
{
	struct leaf leaf = { &leaf_ops, NULL, pick(&world->source, 3), 2, true, 0 };
	uint8_t mad[MAD_SIZE];
	struct fabric_msg msg = {
		.service = FABRIC_UD,
		.op = FABRIC_SEND,
		.addr = { .slid = pick(&world->source, 4), .dlid = 0xffff },
		.dest_qpn = SMI_QPN,
		.payload = mad,
		.payload_len = MAD_SIZE,
	};

	for (unsigned int i = 0; i < sizeof(mad); i++)
		mad[i] = pick(&world->source, 4);
	mad[1] = pick(&world->source, 2) ? MAD_CLASS_DIRECTED : MAD_CLASS_SUBNET;
	fld_set(mad, SMP_HOP_POINTER, pick(&world->source, 66));
	fld_set(mad, SMP_HOP_COUNT, pick(&world->source, 66));
	fld_set(mad, MAD_ATTRIBUTE, SMP_NODE_DESCRIPTION + pick(&world->source, 17));
	if (mad[1] == MAD_CLASS_SUBNET)
		msg.addr.dlid = leaf_lid(leaf.host);
	if (leaf_is_asked(&leaf, &msg))
		leaf_receive(&leaf, &msg);
}

void fuzz_mads(struct world *world)
{
	uint8_t mad[MAD_SIZE];
	struct fabric_msg msg = {
		.service = FABRIC_UD,
		.op = FABRIC_SEND,
		.dest_qpn = 1,
		.qkey = GSI_QKEY,
		.payload = mad,
		.payload_len = MAD_SIZE,
	};
	struct subnet *subnet;

	if (subnet_create(&ops, NULL, &subnet))
		abort();
	for (unsigned int i = pick(&world->source, 16); i; i--) {
		build_mad(world, mad);
		ask_subnet(world, subnet, &msg);
		if (once_in(&world->source, 2)) {
			acknowledge(world, mad);
			ask_subnet(world, subnet, &msg);
		}
		ask_switch(world);
	}
	subnet_destroy(subnet);
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sma.c - see sma.h. IBTA vol 1, 14.2.5.
 *
 * The fabric takes the place of the subnet manager, so a Set changes nothing: it is answered with
 * the status for an unsupported method.
 */
#include <stdio.h>
#include <string.h>

#include "ib/sa.h"
#include "ib/smp.h"
#include "softhca/device/core.h"
#include "softhca/device/management/sma.h"
#include "util/bits.h"

enum {
	SUBNET_TIMEOUT = 18,
	RESPONSE_TIME = 16,
	DEVICE_ID = 0x101b,   /* a ConnectX-6 */
	VENDOR_ID = 0x02c9,   /* Mellanox, as an OUI */
	FIRST_INDEX_BITS = 8, /* bits of the GUID below the device's number */
};

struct question {
	struct hca *hca;
	unsigned int port;
	uint32_t modifier;
};

static uint16_t get_description(const struct question *q, uint8_t *data)
{
	unsigned int index = q->hca->config.node_guid >> FIRST_INDEX_BITS & 0xf;

	snprintf((char *)data, NODE_DESCRIPTION_SIZE, "softhca mlx5_%u", index);
	return 0;
}

static uint16_t get_node(const struct question *q, uint8_t *data)
{
	const struct hca_config *config = &q->hca->config;

	fld_set(data, NODE_BASE_VERSION, MAD_BASE_VERSION_1);
	fld_set(data, NODE_CLASS_VERSION, SMP_CLASS_VERSION);
	fld_set(data, NODE_TYPE, NODE_CA);
	fld_set(data, NODE_PORTS, config->num_ports);
	fld_set(data, NODE_SYSTEM_GUID, config->node_guid);
	fld_set(data, NODE_GUID, config->node_guid);
	fld_set(data, NODE_PORT_GUID, q->hca->port[q->port - 1].guid);
	fld_set(data, NODE_PKEYS, PORT_PKEYS);
	fld_set(data, NODE_DEVICE, DEVICE_ID);
	fld_set(data, NODE_LOCAL_PORT, q->port);
	fld_set(data, NODE_VENDOR, VENDOR_ID);
	return 0;
}

void station_put_link(bool up, uint8_t *data)
{
	fld_set(data, PORT_STATE, up ? PORT_ACTIVE : PORT_DOWN);
	fld_set(data, PORT_PHYS_STATE, up ? PORT_PHYS_LINK_UP : PORT_PHYS_POLLING);
	fld_set(data, PORT_DOWN_DEFAULT, PORT_PHYS_POLLING);
	fld_set(data, PORT_WIDTH_ENABLED, PORT_WIDTH_4X);
	fld_set(data, PORT_WIDTH_SUPPORTED, PORT_WIDTH_4X);
	fld_set(data, PORT_WIDTH_ACTIVE, PORT_WIDTH_4X);
	fld_set(data, PORT_SPEED_SUPPORTED, PORT_SPEEDS_TO_QDR);
	fld_set(data, PORT_SPEED_ENABLED, PORT_SPEEDS_TO_QDR);
	fld_set(data, PORT_SPEED_ACTIVE, PORT_SPEED_QDR);
	fld_set(data, PORT_SPEED_EXT_SUPPORTED, PORT_SPEEDS_TO_HDR);
	fld_set(data, PORT_SPEED_EXT_ENABLED, PORT_SPEEDS_TO_HDR);
	fld_set(data, PORT_SPEED_EXT_ACTIVE, PORT_SPEED_HDR);
	fld_set(data, PORT_NEIGHBOUR_MTU, MTU_4096);
	fld_set(data, PORT_MTU_CAP, MTU_4096);
	fld_set(data, PORT_VL_CAP, PORT_VL_0);
	fld_set(data, PORT_VLS, PORT_VL_0);
}

/* Answers PortInfo. Modifier 0 means the port at which the datagram arrived. */
static uint16_t get_port(const struct question *q, uint8_t *data)
{
	unsigned int number = q->modifier ? q->modifier : q->port;
	const struct port *port;

	if (number > q->hca->config.num_ports)
		return MAD_INVALID_FIELD;
	port = &q->hca->port[number - 1];
	fld_set(data, PORT_GID_PREFIX, fld_get64(port->gid[0].gid, 0));
	fld_set(data, PORT_LID, port->lid);
	fld_set(data, PORT_SM_LID, FABRIC_SUBNET_LID);
	fld_set(data, PORT_CAPABILITIES, port->cap_mask | PORT_CAP_EXTENDED_SPEEDS);
	fld_set(data, PORT_LOCAL_PORT, q->port);
	station_put_link(port_is_up(q->hca, number), data);
	fld_set(data, PORT_PKEY_VIOLATIONS, port->bad_pkeys);
	fld_set(data, PORT_QKEY_VIOLATIONS, port->bad_qkeys);
	fld_set(data, PORT_GUID_CAP, PORT_GIDS_IB);
	fld_set(data, PORT_SUBNET_TIMEOUT, SUBNET_TIMEOUT);
	fld_set(data, PORT_RESPONSE_TIME, RESPONSE_TIME);
	return 0;
}

static uint16_t get_guids(const struct question *q, uint8_t *data)
{
	const struct port *port = &q->hca->port[q->port - 1];

	if (q->modifier >= PORT_GIDS_IB / GUIDS_PER_BLOCK)
		return MAD_INVALID_FIELD;
	for (unsigned int i = 0; i < GUIDS_PER_BLOCK; i++)
		memcpy(data + i * sizeof(uint64_t), port->gid[i].gid + sizeof(uint64_t),
		       sizeof(uint64_t));
	return 0;
}

static uint16_t get_pkeys(const struct question *q, uint8_t *data)
{
	if (q->modifier >= PORT_PKEYS / PKEYS_PER_BLOCK)
		return MAD_INVALID_FIELD;
	if (!q->modifier)
		data[0] = data[1] = 0xff; /* 0xffff: PKEY_DEFAULT */
	return 0;
}

/* Answers tables that are all zeroes, as the only virtual lane serves each service level, and no
 * link has the speed FDR10. */
static uint16_t get_zeroes(const struct question *q, uint8_t *data)
{
	(void)q;
	(void)data;
	return 0;
}

static const struct attribute {
	uint16_t number;
	uint16_t (*get)(const struct question *q, uint8_t *data);
} attributes[] = {
	{ SMP_NODE_DESCRIPTION, get_description },
	{ SMP_NODE_INFO, get_node },
	{ SMP_PORT_INFO, get_port },
	{ SMP_GUID_INFO, get_guids },
	{ SMP_PKEY_TABLE, get_pkeys },
	{ SMP_SL_TO_VL, get_zeroes },
	{ SMP_MELLANOX_PORT_INFO, get_zeroes },
};

static const struct attribute *find_attribute(const uint8_t *mad)
{
	for (size_t i = 0; i < ARRAY_SIZE(attributes); i++)
		if (attributes[i].number == fld_get(mad, MAD_ATTRIBUTE))
			return &attributes[i];
	return NULL;
}

static uint16_t sma_run(const struct question *q, const uint8_t *in, uint8_t *data)
{
	const struct attribute *attribute = find_attribute(in);

	if (fld_get(in, MAD_CLASS_VERSION) != SMP_CLASS_VERSION)
		return MAD_UNSUPPORTED_VERSION;
	if (!attribute || fld_get(in, MAD_METHOD) != MAD_GET)
		return MAD_UNSUPPORTED_METHOD_ATTRIBUTE;
	return attribute->get(q, data);
}

bool sma_answer(struct hca *hca, unsigned int port, const uint8_t in[MAD_SIZE],
		uint8_t out[MAD_SIZE])
{
	struct question q = { hca, port, fld_get(in, MAD_MODIFIER) };
	uint16_t status;
	uint8_t data[SMP_DATA_SIZE] = { 0 };

	if (fld_get(in, MAD_METHOD) != MAD_GET && fld_get(in, MAD_METHOD) != MAD_SET)
		return false;
	status = sma_run(&q, in, data);
	memcpy(out, in, MAD_SIZE);
	memcpy(out + SMP_DATA, data, sizeof(data));
	fld_set(out, MAD_METHOD, MAD_GET | MAD_RESPONSE);
	if (fld_get(in, MAD_CLASS) == MAD_CLASS_DIRECTED)
		status |= SMP_RETURNS;
	out[4] = status >> 8;
	out[5] = (uint8_t)status; /* one byte, as the next fields are a directed packet's hops */
	return true;
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * pma.c - see pma.h. IBTA vol 1, 16.1.3.
 *
 * The two counter attributes can be set separately. The port counts on; what a Set writes is kept
 * as a difference to the port's count.
 */
#include <assert.h>
#include <string.h>

#include "ib/pm.h"
#include "softhca/device/core.h"
#include "softhca/device/management/pma.h"
#include "util/bits.h"

enum { RESPONSE_TIME = 18, WORD = 4 };

static_assert((int)PM_EXT_COUNTERS <= (int)PORT_CLEARED,
	      "a port keeps what each counter was set to");

static void count_port(const struct port *port, uint64_t value[PM_EXT_COUNTERS])
{
	const struct message_counters *sent = &port->messages_sent;
	const struct message_counters *received = &port->messages_received;

	value[PM_EXT_XMIT_DATA] = sent->bytes / WORD;
	value[PM_EXT_RECEIVE_DATA] = received->bytes / WORD;
	value[PM_EXT_XMIT_PACKETS] = sent->packets;
	value[PM_EXT_RECEIVE_PACKETS] = received->packets;
	value[PM_EXT_UNICAST_XMIT_PACKETS] = sent->packets - sent->multicast_packets;
	value[PM_EXT_UNICAST_RECEIVE_PACKETS] = received->packets - received->multicast_packets;
	value[PM_EXT_MULTICAST_XMIT_PACKETS] = sent->multicast_packets;
	value[PM_EXT_MULTICAST_RECEIVE_PACKETS] = received->multicast_packets;
}

static uint32_t extended_byte(unsigned int counter)
{
	return PM_EXT_FIRST + counter * sizeof(uint64_t);
}

static void get_extended(const struct port *port, uint8_t *data)
{
	uint64_t value[PM_EXT_COUNTERS];

	count_port(port, value);
	for (unsigned int i = 0; i < PM_EXT_COUNTERS; i++)
		fld_set64(data, extended_byte(i), value[i] - port->extended_base[i]);
}

static void set_extended(struct port *port, const uint8_t *data)
{
	uint32_t select = fld_get(data, PM_SELECT);
	uint64_t value[PM_EXT_COUNTERS];

	count_port(port, value);
	for (unsigned int i = 0; i < PM_EXT_COUNTERS; i++)
		if (select >> i & 1)
			port->extended_base[i] = value[i] - fld_get64(data, extended_byte(i));
}

/* Counters of PortCounters: first those that PortCountersExtended also has, with the same
 * numbers. */
enum { LINK_DOWNED = PM_EXT_RECEIVE_PACKETS + 1, COUNTERS };

static const struct counter {
	uint32_t field;
	uint32_t select;
} counters[COUNTERS] = {
	[PM_EXT_XMIT_DATA] = { PM_XMIT_DATA, PM_SELECT_XMIT_DATA },
	[PM_EXT_RECEIVE_DATA] = { PM_RECEIVE_DATA, PM_SELECT_RECEIVE_DATA },
	[PM_EXT_XMIT_PACKETS] = { PM_XMIT_PACKETS, PM_SELECT_XMIT_PACKETS },
	[PM_EXT_RECEIVE_PACKETS] = { PM_RECEIVE_PACKETS, PM_SELECT_RECEIVE_PACKETS },
	[LINK_DOWNED] = { PM_LINK_DOWNED, PM_SELECT_LINK_DOWNED },
};

static void count_short(const struct port *port, uint64_t value[COUNTERS])
{
	uint64_t all[PM_EXT_COUNTERS];

	count_port(port, all);
	memcpy(value, all, LINK_DOWNED * sizeof(value[0]));
	value[LINK_DOWNED] = port->link_downs;
}

static void get_short(const struct port *port, uint8_t *data)
{
	uint64_t value[COUNTERS];

	count_short(port, value);
	for (unsigned int i = 0; i < COUNTERS; i++) {
		uint64_t shown = value[i] - port->short_base[i];
		uint32_t highest = FLD_MASK(counters[i].field);

		fld_set(data, counters[i].field, shown < highest ? shown : highest);
	}
}

static void set_short(struct port *port, const uint8_t *data)
{
	uint32_t select = fld_get(data, PM_SELECT);
	uint64_t value[COUNTERS];

	count_short(port, value);
	for (unsigned int i = 0; i < COUNTERS; i++)
		if (select & counters[i].select)
			port->short_base[i] = value[i] - fld_get(data, counters[i].field);
}

static void get_class(uint8_t *data)
{
	fld_set(data, CPI_BASE_VERSION, MAD_BASE_VERSION_1);
	fld_set(data, CPI_CLASS_VERSION, PM_CLASS_VERSION);
	fld_set(data, PM_CAP_MASK, PM_CAP_EXTENDED);
	fld_set(data, CPI_RESPONSE_TIME, RESPONSE_TIME);
}

static const struct attribute {
	uint16_t number;
	void (*get)(const struct port *port, uint8_t *data);
	void (*set)(struct port *port, const uint8_t *data);
} attributes[] = {
	{ PM_PORT_COUNTERS, get_short, set_short },
	{ PM_PORT_COUNTERS_EXTENDED, get_extended, set_extended },
};

static const struct attribute *find_attribute(const uint8_t *mad)
{
	for (size_t i = 0; i < ARRAY_SIZE(attributes); i++)
		if (attributes[i].number == fld_get(mad, MAD_ATTRIBUTE))
			return &attributes[i];
	return NULL;
}

/* Answers a Get or Set of counters. The answer repeats the request's port and selection. */
static uint16_t run_counters(struct hca *hca, const struct attribute *attribute, const uint8_t *in,
			     uint8_t *data)
{
	unsigned int number = fld_get(in + PM_DATA, PM_PORT);
	struct port *port;

	memcpy(data, in + PM_DATA, sizeof(uint32_t));
	if (number < 1 || number > hca->config.num_ports)
		return MAD_INVALID_FIELD;
	port = &hca->port[number - 1];
	if (fld_get(in, MAD_METHOD) == MAD_SET)
		attribute->set(port, in + PM_DATA);
	attribute->get(port, data);
	return 0;
}

static uint16_t pma_run(struct hca *hca, const uint8_t *in, uint8_t *data)
{
	const struct attribute *attribute = find_attribute(in);

	if (fld_get(in, MAD_CLASS_VERSION) != PM_CLASS_VERSION)
		return MAD_UNSUPPORTED_VERSION;
	if (attribute)
		return run_counters(hca, attribute, in, data);
	if (fld_get(in, MAD_ATTRIBUTE) != MAD_CLASS_PORT_INFO || fld_get(in, MAD_METHOD) != MAD_GET)
		return MAD_UNSUPPORTED_METHOD_ATTRIBUTE;
	get_class(data);
	return 0;
}

bool pma_answer(struct hca *hca, const uint8_t in[MAD_SIZE], uint8_t out[MAD_SIZE])
{
	uint8_t data[PM_DATA_SIZE] = { 0 };
	uint16_t status;

	if (fld_get(in, MAD_METHOD) != MAD_GET && fld_get(in, MAD_METHOD) != MAD_SET)
		return false;
	status = pma_run(hca, in, data);
	memcpy(out, in, MAD_SIZE);
	memcpy(out + PM_DATA, data, sizeof(data));
	fld_set(out, MAD_METHOD, MAD_GET | MAD_RESPONSE);
	fld_set(out, MAD_STATUS, status);
	return true;
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * inventory.c - see inventory.h. IBTA vol 1, 15.2.5.
 *
 * A record is a port's LID, a number (port, block), and the attribute that the port's agent
 * answers. Decision: docs/adr/0042.
 */
#include <stdlib.h>
#include <string.h>

#include "ib/sa.h"
#include "ib/smp.h"
#include "softhca/net/inventory.h"
#include "util/bits.h"

void records_init(struct records *records, uint32_t size)
{
	*records = (struct records){ .size = size, .spacing = (size + 7) & ~7u };
}

uint8_t *records_add(struct records *records)
{
	uint8_t *bytes, *record;

	bytes = realloc(records->bytes, (size_t)(records->count + 1) * records->spacing);
	if (!bytes) {
		records->failed = true;
		return NULL;
	}
	records->bytes = bytes;
	record = bytes + (size_t)records->count++ * records->spacing;
	memset(record, 0, records->spacing);
	return record;
}

void records_free(struct records *records)
{
	free(records->bytes);
	records->bytes = NULL;
}

struct search {
	inventory_ask_fn ask;
	void *owner;
	const struct inventory_wish *wish;
	struct records *records;
};

/* Queries port NUMBER for an attribute. An answer with an error status counts as none. */
static bool ask_port(const struct search *search, unsigned int number, unsigned int attribute,
		     uint32_t modifier, uint16_t *lid, uint8_t *data)
{
	uint8_t in[MAD_SIZE] = { 0 }, out[MAD_SIZE];

	fld_set(in, MAD_BASE_VERSION, MAD_BASE_VERSION_1);
	fld_set(in, MAD_CLASS, MAD_CLASS_SUBNET);
	fld_set(in, MAD_CLASS_VERSION, SMP_CLASS_VERSION);
	fld_set(in, MAD_METHOD, MAD_GET);
	fld_set(in, MAD_ATTRIBUTE, attribute);
	fld_set(in, MAD_MODIFIER, modifier);
	if (!search->ask(search->owner, number, in, out, lid) || fld_get(out, MAD_STATUS))
		return false;
	memcpy(data, out + SMP_DATA, SMP_DATA_SIZE);
	return true;
}

struct node {
	uint16_t lid;
	uint8_t info[SMP_DATA_SIZE];
};

static bool find_node(const struct search *search, unsigned int number, struct node *node)
{
	return ask_port(search, number, SMP_NODE_INFO, 0, &node->lid, node->info);
}

/* Components of each kind of record that a query may select, and their places. */
struct component {
	uint8_t bit, at, size;
};

enum { CAPABILITIES_BIT = 7, CAPABILITIES_AT = 24 };

static const struct component node_components[] = {
	{ 0, 0, 2 },   { 4, 6, 1 },    { 5, 7, 1 },   { 6, 8, 8 },   { 7, 16, 8 },
	{ 8, 24, 8 },  { 9, 32, 2 },   { 10, 34, 2 }, { 11, 36, 4 }, { 12, 40, 1 },
	{ 13, 41, 3 }, { 14, 44, 64 }, { 0, 0, 0 },
};
static const struct component port_components[] = {
	{ 0, 0, 2 }, { 1, 2, 1 }, { 5, 20, 2 }, { 6, 22, 2 }, { 0, 0, 0 },
};
static const struct component lid_components[] = { { 0, 0, 2 }, { 0, 0, 0 } };
static const struct component link_components[] = {
	{ 0, 0, 2 }, { 1, 2, 1 }, { 2, 3, 1 }, { 3, 4, 2 }, { 0, 0, 0 },
};
static const struct component guid_components[] = { { 0, 0, 2 }, { 1, 2, 1 }, { 0, 0, 0 } };
static const struct component pkey_components[] = {
	{ 0, 0, 2 },
	{ 1, 2, 2 },
	{ 2, 4, 1 },
	{ 0, 0, 0 },
};
static const struct component path_components[] = {
	{ 2, 8, 16 }, { 3, 24, 16 }, { 4, 40, 2 }, { 5, 42, 2 }, { 0, 0, 0 },
};

static bool record_matches(const struct inventory_wish *wish, const struct component *component,
			   const uint8_t *record)
{
	for (; component->size; component++)
		if (wish->components >> component->bit & 1 &&
		    memcmp(wish->data + component->at, record + component->at, component->size))
			return false;
	return true;
}

/* Removes RECORD, the last one added, if it does not match the query. */
static void keep_if(struct search *search, const struct component *components,
		    const uint8_t *record)
{
	if (!record_matches(search->wish, components, record))
		search->records->count--;
}

static void find_nodes(struct search *search)
{
	struct node node;

	for (unsigned int number = 0; find_node(search, number, &node); number++) {
		uint8_t *record = records_add(search->records);

		if (!record)
			return;
		fld_set16(record, FLD(0x0, 31, 16), node.lid);
		memcpy(record + 4, node.info, NODE_INFO_SIZE);
		ask_port(search, number, SMP_NODE_DESCRIPTION, 0, &node.lid,
			 record + 4 + NODE_INFO_SIZE);
		keep_if(search, node_components, record);
	}
}

/* Returns whether the port has the queried capabilities: at least these if the modifier's top bit
 * is set, else exactly these. */
static bool has_capabilities(const struct inventory_wish *wish, const uint8_t *record)
{
	uint32_t wanted = fld_get(wish->data + CAPABILITIES_AT, FLD(0x0, 31, 0));
	uint32_t there = fld_get(record + CAPABILITIES_AT, FLD(0x0, 31, 0));

	if (!(wish->components >> CAPABILITIES_BIT & 1))
		return true;
	return wish->modifier >> 31 ? (there & wanted) == wanted : there == wanted;
}

/* Adds the port records of a node. A switch has one for each of its ports, all with the switch's
 * LID, as IBTA gives a switch one LID. */
static void find_ports_of(struct search *search, unsigned int number, const struct node *node)
{
	bool is_switch = fld_get(node->info, NODE_TYPE) == NODE_SWITCH;
	unsigned int first = is_switch ? 0 : fld_get(node->info, NODE_LOCAL_PORT);
	unsigned int last = is_switch ? fld_get(node->info, NODE_PORTS) : first;
	uint16_t lid;

	for (unsigned int port = first; port <= last; port++) {
		uint8_t info[SMP_DATA_SIZE], *record;

		if (!ask_port(search, number, SMP_PORT_INFO, port, &lid, info))
			return;
		record = records_add(search->records);
		if (!record)
			return;
		fld_set16(record, FLD(0x0, 31, 16), lid);
		record[2] = (uint8_t)port;
		memcpy(record + 4, info, sizeof(info));
		if (has_capabilities(search->wish, record))
			keep_if(search, port_components, record);
		else
			search->records->count--;
	}
}

static void find_ports(struct search *search)
{
	struct node node;

	for (unsigned int number = 0; find_node(search, number, &node); number++)
		find_ports_of(search, number, &node);
}

static void find_of_switch(struct search *search, unsigned int attribute, size_t size)
{
	uint8_t data[SMP_DATA_SIZE], *record;
	uint16_t lid;

	if (!ask_port(search, 0, attribute, 0, &lid, data))
		return;
	record = records_add(search->records);
	if (!record)
		return;
	fld_set16(record, FLD(0x0, 31, 16), lid);
	memcpy(record + 4, data, size);
	keep_if(search, lid_components, record);
}

static void find_switches(struct search *search)
{
	find_of_switch(search, SMP_SWITCH_INFO, SWITCH_INFO_SIZE);
}

static void find_managers(struct search *search)
{
	find_of_switch(search, SMP_SM_INFO, SM_INFO_SIZE);
}

static void add_link(struct search *search, uint16_t from, unsigned int from_port, uint16_t to,
		     unsigned int to_port)
{
	uint8_t *record = records_add(search->records);

	if (!record)
		return;
	fld_set16(record, FLD(0x0, 31, 16), from);
	record[2] = (uint8_t)from_port;
	record[3] = (uint8_t)to_port;
	fld_set16(record, FLD(0x4, 31, 16), to);
	keep_if(search, link_components, record);
}

static void find_links(struct search *search)
{
	struct node leaf, node;

	if (!find_node(search, 0, &leaf))
		return;
	for (unsigned int number = 1; find_node(search, number, &node); number++) {
		unsigned int port = fld_get(node.info, NODE_LOCAL_PORT);

		add_link(search, leaf.lid, number, node.lid, port);
		add_link(search, node.lid, port, leaf.lid, number);
	}
}

static void find_guids(struct search *search)
{
	struct node node;

	for (unsigned int number = 0; find_node(search, number, &node); number++) {
		uint8_t *record = records_add(search->records);

		if (!record)
			return;
		fld_set16(record, FLD(0x0, 31, 16), node.lid);
		ask_port(search, number, SMP_GUID_INFO, 0, &node.lid, record + 8);
		keep_if(search, guid_components, record);
	}
}

static void find_pkeys(struct search *search)
{
	struct node node;

	for (unsigned int number = 0; find_node(search, number, &node); number++) {
		uint8_t *record = records_add(search->records);

		if (!record)
			return;
		fld_set16(record, FLD(0x0, 31, 16), node.lid);
		if (fld_get(node.info, NODE_TYPE) != NODE_SWITCH)
			record[4] = (uint8_t)fld_get(node.info, NODE_LOCAL_PORT);
		ask_port(search, number, SMP_PKEY_TABLE, 0, &node.lid, record + 8);
		keep_if(search, pkey_components, record);
	}
}

static void put_gid(const struct node *node, uint8_t gid[16])
{
	gid[0] = 0xfe;
	gid[1] = 0x80;
	memcpy(gid + 8, fld_at(node->info, NODE_PORT_GUID), sizeof(uint64_t));
}

static void add_path(struct search *search, const struct node *from, const struct node *to)
{
	uint8_t *record = records_add(search->records);

	if (!record)
		return;
	put_gid(to, fld_at(record, PATH_DGID));
	put_gid(from, fld_at(record, PATH_SGID));
	fld_set(record, PATH_DLID, to->lid);
	fld_set(record, PATH_SLID, from->lid);
	inventory_describe_path(record);
	keep_if(search, path_components, record);
}

static void find_paths(struct search *search)
{
	struct node from, to;

	for (unsigned int i = 0; find_node(search, i, &from); i++)
		for (unsigned int j = 0; find_node(search, j, &to); j++)
			add_path(search, &from, &to);
}

static const struct kind {
	uint16_t attribute;
	uint32_t size;
	void (*find)(struct search *search);
} kinds[] = {
	{ SA_NODE_RECORD, NODE_RECORD_SIZE, find_nodes },
	{ SA_PORT_INFO_RECORD, PORT_INFO_RECORD_SIZE, find_ports },
	{ SA_SWITCH_INFO_RECORD, SWITCH_INFO_RECORD_SIZE, find_switches },
	{ SA_SM_INFO_RECORD, SM_INFO_RECORD_SIZE, find_managers },
	{ SA_LINK_RECORD, LINK_RECORD_SIZE, find_links },
	{ SA_GUID_INFO_RECORD, GUID_INFO_RECORD_SIZE, find_guids },
	{ SA_PKEY_TABLE_RECORD, PKEY_TABLE_RECORD_SIZE, find_pkeys },
	{ SA_PATH_RECORD, PATH_RECORD_SIZE, find_paths },
};

static const struct kind *find_kind(uint16_t attribute)
{
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (kinds[i].attribute == attribute)
			return &kinds[i];
	return NULL;
}

uint32_t inventory_record_size(uint16_t attribute)
{
	const struct kind *kind = find_kind(attribute);

	return kind ? kind->size : 0;
}

void inventory_find(inventory_ask_fn ask, void *owner, const struct inventory_wish *wish,
		    struct records *records)
{
	struct search search = { ask, owner, wish, records };
	const struct kind *kind = find_kind(wish->attribute);

	if (kind)
		kind->find(&search);
}

void inventory_describe_path(uint8_t *record)
{
	fld_set(record, PATH_REVERSIBLE, 1);
	fld_set(record, PATH_NUMBER, 1);
	fld_set(record, PATH_PKEY, PKEY_DEFAULT);
	fld_set(record, PATH_MTU_SELECTOR, SELECT_EXACTLY);
	fld_set(record, PATH_MTU, MTU_4096);
	fld_set(record, PATH_RATE_SELECTOR, SELECT_EXACTLY);
	fld_set(record, PATH_RATE, RATE_10_GBPS);
	fld_set(record, PATH_LIFETIME_SELECTOR, SELECT_EXACTLY);
	fld_set(record, PATH_LIFETIME, LIFETIME_134_MS);
}

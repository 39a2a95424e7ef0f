/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * inventory.h - subnet administration's records of the subnet: nodes, ports, links, the manager,
 * port tables, paths. Each is made on request, from answers of the ports' own agents.
 *
 * A process knows only its own ports and its switch. The fabric's lock guards it.
 */
#ifndef SOFTHCA_NET_INVENTORY_H
#define SOFTHCA_NET_INVENTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Records in one buffer, spacing bytes apart. */
struct records {
	uint8_t *bytes;
	uint32_t size, spacing; /* bytes of a record; bytes from one record to the next */
	unsigned int count;
	bool failed; /* memory ran out */
};

void records_init(struct records *records, uint32_t size);
uint8_t *records_add(struct records *records);
void records_free(struct records *records);

/* Sends a management query to port NUMBER (0 is the switch). Sets *LID to the port's LID. Returns
 * false if the port does not exist or does not answer. */
typedef bool (*inventory_ask_fn)(void *owner, unsigned int number, const uint8_t *in, uint8_t *out,
				 uint16_t *lid);

/* A query: records of ATTRIBUTE that match DATA in the components COMPONENTS. */
struct inventory_wish {
	uint16_t attribute;
	uint32_t modifier;
	uint64_t components;
	const uint8_t *data;
};

uint32_t inventory_record_size(uint16_t attribute);
void inventory_find(inventory_ask_fn ask, void *owner, const struct inventory_wish *wish,
		    struct records *records);
void inventory_describe_path(uint8_t *record);

#endif

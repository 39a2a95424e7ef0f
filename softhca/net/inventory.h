/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * inventory.h - records of subnet administration that tell what there is: nodes, ports, links, the
 * manager, tables of ports, the paths between them. Each is made when it is asked for, of what the
 * ports' own agents answer.
 *
 * A process knows its own ports only, and its switch. Runs under the fabric's lock.
 */
#ifndef SOFTHCA_NET_INVENTORY_H
#define SOFTHCA_NET_INVENTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Records one behind the other, at distances of spacing bytes. */
struct records {
	uint8_t *bytes;
	uint32_t size, spacing; /* of one */
	unsigned int count;
	bool failed; /* there was no memory */
};

void records_init(struct records *records, uint32_t size);
/* Adds a record, and returns where its bytes are, zeroes; or NULL. */
uint8_t *records_add(struct records *records);
void records_free(struct records *records);

/* The call asks port NUMBER, 0 of which is the switch's, a question of management. It tells the
 * port's LID, and returns false when there is no such port or no answer. */
typedef bool (*inventory_ask_fn)(void *owner, unsigned int number, const uint8_t *in, uint8_t *out,
				 uint16_t *lid);

/* What is wanted: records of ATTRIBUTE that agree with the record DATA in COMPONENTS. */
struct inventory_wish {
	uint16_t attribute;
	uint32_t modifier;
	uint64_t components;
	const uint8_t *data;
};

/* Returns the size of such records, or 0: there are none of that kind. */
uint32_t inventory_record_size(uint16_t attribute);
void inventory_find(inventory_ask_fn ask, void *owner, const struct inventory_wish *wish,
		    struct records *records);
/* Writes what is said of every path. */
void inventory_describe_path(uint8_t *record);

#endif

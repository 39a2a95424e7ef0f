/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rig.h - a call of uverbs without a program and without a device: the test sets input attributes
 * and objects, and reads output attributes and the device's last command.
 */
#ifndef TESTS_UNIT_SOFTHCA_FRONT_PROCESS_UVERBS_RIG_H
#define TESTS_UNIT_SOFTHCA_FRONT_PROCESS_UVERBS_RIG_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "softhca/front/process/uverbs/objects.h"

enum { RIG_ATTRS = 24, RIG_ATTR_SIZE = 512, RIG_OBJECTS = 32, RIG_COMMAND = 512, RIG_PINS = 16 };

struct rig_attr {
	bool is_set;
	uint16_t id;
	size_t len;
	uint8_t bytes[RIG_ATTR_SIZE];
	struct object *object;
};

struct rig {
	struct adapter adapter;
	struct identity identity;
	struct uverbs_file file;
	struct client client;
	struct uverbs_call call;
	struct rig_attr in[RIG_ATTRS], out[RIG_ATTRS];
	uint16_t in_refused;  /* attribute whose buffer the program cannot read */
	uint16_t out_refused; /* attribute whose buffer the program cannot write to */
	struct object *objects[RIG_OBJECTS]; /* by handle */
	unsigned int made, freed;            /* objects */
	uint8_t command[RIG_COMMAND];        /* the beginning of the device's last command */
	size_t command_len;
	unsigned int commands, released;
	uint32_t last_released; /* number */
	int command_error;      /* of the device */
	uint32_t number;        /* of the next object that the device makes */
	int pin_error;
	struct {
		uint64_t addr, len;
		bool writable;
	} pins[RIG_PINS];
	unsigned int pinned, takes; /* takes: objects that got pins, new or moved */
};

extern struct rig rig;

/* A setup of cmocka: an mlx5 adapter of InfiniBand. */
int rig_begin(void **state);
/* A teardown: destroys objects; each must be freed. */
int rig_end(void **state);

void rig_in(uint16_t id, const void *data, size_t len);
void rig_in_object(uint16_t id, struct object *object);
/* Checks that the program got LEN bytes in attribute ID, and returns them. */
const void *rig_out(uint16_t id, size_t len);
bool rig_has_out(uint16_t id);
/* Gives OBJECT, which is the test's, a handle. */
uint32_t rig_publish(struct object *object, uint16_t type);

#endif

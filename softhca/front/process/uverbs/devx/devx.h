/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * devx.h - commands that programs pass to the device (DevX): functions that its files share.
 */
#ifndef SOFTHCA_FRONT_PROCESS_UVERBS_DEVX_DEVX_H
#define SOFTHCA_FRONT_PROCESS_UVERBS_DEVX_DEVX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "softhca/front/process/uverbs/uverbs.h"

/* A command and its answer. Behind IN_LEN there is room for fields that a shorter command lacks. */
struct devx_command {
	uint8_t *in, *out;
	size_t in_len, out_len;
};

/* Reads a command from attribute IN_ID and sets the program's uid in it. OUT_LEN is the room for
 * the answer. Returns 0, EINVAL, EFAULT or ENOMEM; the caller frees the command in any case. */
int devx_command_read(struct uverbs_call *uc, uint16_t in_id, size_t out_len,
		      struct devx_command *command);
void devx_command_free(struct devx_command *command);
/* Executes the command on the device, and copies the answer to OUT_ID, also if the device refuses
 * (EREMOTEIO). */
int devx_command_pass(struct uverbs_call *uc, struct devx_command *command, uint16_t out_id);

/* Makes a name for an object from the command that creates its kind and its number, as objects of
 * different kinds may have the same number. 0: none. */
uint64_t devx_name(uint16_t create, uint16_t general_type, uint32_t number);
uint64_t devx_name_in_query(const uint8_t *in);
uint64_t devx_name_in_change(const uint8_t *in);

struct devx_made {
	uint64_t name;
	uint32_t count; /* of a bulk: how many consecutive numbers */
	uint8_t destroy[64];
	size_t destroy_len;
};

bool devx_makes_object(const uint8_t *in);
/* Returns what an object that this command creates uses up. */
enum object_kind devx_kind(const uint8_t *in);
void devx_describe_made(const uint8_t *in, const uint8_t *out, struct devx_made *made);
/* Sets the flags that put a program's queues and keys into user memory (UMEM), even if the command
 * does not, as other addresses could reach foreign memory. */
void devx_force_umem(uint8_t *in);

struct devx_obj {
	struct object base;
	struct devx_made made;
	bool is_watched; /* devx/event.c has subscriptions to its events */
};

/* Returns whether OBJECT, of any type, has the name NAME. */
bool devx_object_is(const struct object *object, uint64_t name);

/* Delivers EQE to its subscribers. The caller holds the lock of events.h. */
void devx_event_from_device(const struct adapter *adapter, const uint8_t *eqe);
void devx_event_forget(struct devx_obj *obj);
void devx_event_forget_file(const struct uverbs_file *file);

#endif

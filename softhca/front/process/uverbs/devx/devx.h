/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * devx.h - commands of programs that are passed on to the device (DevX): what its files share.
 */
#ifndef SOFTHCA_FRONT_PROCESS_UVERBS_DEVX_DEVX_H
#define SOFTHCA_FRONT_PROCESS_UVERBS_DEVX_DEVX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "softhca/front/process/uverbs/uverbs.h"

/* A command with its answer. Behind IN_LEN there is room for fields that the command lacks. */
struct devx_command {
	uint8_t *in, *out;
	size_t in_len, out_len;
};

/* Reads a command from attribute IN_ID, which says what answer there is room for. The program's
 * number goes into it. It returns 0, EINVAL, EFAULT or ENOMEM; the command is to be freed in any
 * case. */
int devx_command_read(struct uverbs_call *uc, uint16_t in_id, size_t out_len,
		      struct devx_command *command);
void devx_command_free(struct devx_command *command);
/* Executes the command on the device, and hands the answer out by OUT_ID, a refusal's (EREMOTEIO)
 * included. */
int devx_command_pass(struct uverbs_call *uc, struct devx_command *command, uint16_t out_id);

/* ---- devx_names.c: what commands are about ---- */

/* An object by the command that makes its kind, and its number: numbers of different kinds may be
 * equal. Zero is none. */
uint64_t devx_name(uint16_t create, uint16_t general_type, uint32_t number);
/* Tells which object a command is about that queries, or changes one. */
uint64_t devx_name_in_query(const uint8_t *in);
uint64_t devx_name_in_change(const uint8_t *in);

/* What a command has made */
struct devx_made {
	uint64_t name;
	uint32_t count; /* of a bulk: as many numbers from that one on */
	uint8_t destroy[64];
	size_t destroy_len;
};

/* Returns whether programs may make objects by the command. */
bool devx_makes_object(const uint8_t *in);
void devx_describe_made(const uint8_t *in, const uint8_t *out, struct devx_made *made);
/* Queues and keys of programs are in user memory, whatever the command says. */
void devx_force_umem(uint8_t *in);

/* ---- devx_obj.c ---- */

struct devx_obj {
	struct object base;
	struct devx_made made;
	bool is_watched; /* devx_event.c has subscriptions to its events */
};

/* Returns whether OBJECT, of any type, is what NAME says. */
bool devx_object_is(const struct object *object, uint64_t name);

/* ---- devx_event.c ---- */

/* With the lock of events.h held: the function hands EQE to those who have subscribed to it. */
void devx_event_from_device(const struct adapter *adapter, const uint8_t *eqe);
/* Nobody wants to know of OBJ any more, which goes. */
void devx_event_forget(struct devx_obj *obj);
/* The program's channels fall silent. */
void devx_event_forget_file(const struct uverbs_file *file);

#endif

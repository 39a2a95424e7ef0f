/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rig.c - see rig.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "prm/mlx5/cmd.h"
#include "rig.h"

struct rig rig;

int rig_begin(void **state)
{
	(void)state;
	memset(&rig, 0, sizeof(rig));
	rig.identity.kind = HCA_MLX5;
	rig.adapter.identity = &rig.identity;
	rig.adapter.link_layer = HCA_LINK_INFINIBAND;
	rig.adapter.num_ports = 1;
	rig.file.adapter = &rig.adapter;
	rig.file.client = rig.file.caller = rig.call.client = &rig.client;
	rig.call.adapter = &rig.adapter;
	rig.call.file = &rig.file;
	rig.number = 0x50;
	rig.in_refused = rig.out_refused = UINT16_MAX;
	return 0;
}

int rig_end(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < RIG_OBJECTS; i++) {
		if (rig.objects[i] && rig.objects[i]->destroy)
			assert_int_equal(object_destroy(rig.objects[i], 0), 0);
	}
	assert_int_equal(rig.made, rig.freed);
	return 0;
}

static struct rig_attr *attr_of(struct rig_attr *attrs, uint16_t id, bool can_add)
{
	for (unsigned int i = 0; i < RIG_ATTRS; i++) {
		if (attrs[i].is_set && attrs[i].id == id)
			return &attrs[i];
	}
	for (unsigned int i = 0; can_add && i < RIG_ATTRS; i++) {
		if (attrs[i].is_set)
			continue;
		attrs[i] = (struct rig_attr){ .is_set = true, .id = id };
		return &attrs[i];
	}
	assert_false(can_add);
	return NULL;
}

void rig_in(uint16_t id, const void *data, size_t len)
{
	struct rig_attr *attr = attr_of(rig.in, id, true);

	assert_true(len <= RIG_ATTR_SIZE);
	attr->len = len;
	if (len)
		memcpy(attr->bytes, data, len);
}

void rig_in_object(uint16_t id, struct object *object)
{
	attr_of(rig.in, id, true)->object = object;
}

const void *rig_out(uint16_t id, size_t len)
{
	const struct rig_attr *attr = attr_of(rig.out, id, false);

	assert_non_null(attr);
	assert_int_equal(attr->len, len);
	return attr->bytes;
}

bool rig_has_out(uint16_t id)
{
	return attr_of(rig.out, id, false);
}

int uc_in(struct uverbs_call *uc, uint16_t id, void *buf, size_t len)
{
	const struct rig_attr *attr = attr_of(rig.in, id, false);
	size_t have = attr ? attr->len : 0;

	assert_ptr_equal(uc, &rig.call);
	if (id == rig.in_refused)
		return EFAULT;
	memset(buf, 0, len);
	if (attr)
		memcpy(buf, attr->bytes, have < len ? have : len);
	return 0;
}

size_t uc_len(struct uverbs_call *uc, uint16_t id)
{
	const struct rig_attr *attr = attr_of(rig.in, id, false);

	(void)uc;
	return attr ? attr->len : 0;
}

int uc_out(struct uverbs_call *uc, uint16_t id, const void *data, size_t len)
{
	struct rig_attr *attr;

	assert_ptr_equal(uc, &rig.call);
	if (id == rig.out_refused)
		return EFAULT;
	assert_true(len <= RIG_ATTR_SIZE);
	attr = attr_of(rig.out, id, true);
	attr->len = len;
	memcpy(attr->bytes, data, len);
	return 0;
}

int uc_out_padded(struct uverbs_call *uc, uint16_t id, const void *data, size_t len)
{
	return uc_out(uc, id, data, len);
}

void uc_set(struct uverbs_call *uc, uint16_t id, uint64_t value)
{
	const uint32_t number = (uint32_t)value;

	assert_int_equal(uc_out(uc, id, &number, sizeof(number)), 0);
}

uint32_t uc_response_length(struct uverbs_call *uc, uint16_t id, size_t size)
{
	(void)uc;
	(void)id;
	return (uint32_t)size;
}

void *uc_object(struct uverbs_call *uc, uint16_t id)
{
	const struct rig_attr *attr = attr_of(rig.in, id, false);

	assert_ptr_equal(uc, &rig.call);
	return attr ? attr->object : NULL;
}

int object_new(size_t size, struct uverbs_file *file, uint16_t type,
	       int (*destroy)(struct object *object, pid_t tid), void *object)
{
	struct object *made = calloc(1, size);

	assert_ptr_equal(file, &rig.file);
	assert_non_null(made);
	made->file = file;
	made->maker = file->caller;
	made->type = type;
	made->destroy = destroy;
	rig.made++;
	*(struct object **)object = made;
	return 0;
}

void object_free(struct object *object)
{
	rig.freed++;
	if (rig.objects[object->handle] == object)
		rig.objects[object->handle] = NULL;
	free(object);
}

int object_publish(struct object *object)
{
	uint32_t handle = 1; /* 0 stands for an object without a handle */

	while (handle < RIG_OBJECTS && rig.objects[handle])
		handle++;
	assert_true(handle < RIG_OBJECTS);
	object->handle = handle;
	rig.objects[handle] = object;
	return 0;
}

uint32_t rig_publish(struct object *object, uint16_t type)
{
	object->file = &rig.file;
	object->type = type;
	object_publish(object);
	return object->handle;
}

int object_take_down(struct object *object, pid_t tid)
{
	return object->users ? EBUSY : object->destroy(object, tid);
}

void object_forget(struct object *object)
{
	object_free(object);
}

int object_destroy(struct object *object, pid_t tid)
{
	int ret = object_take_down(object, tid);

	if (!ret)
		object_forget(object);
	return ret;
}

int object_find(const struct uverbs_file *file, uint16_t type, uint32_t handle, void *object)
{
	struct object *found = handle < RIG_OBJECTS ? rig.objects[handle] : NULL;

	assert_ptr_equal(file, &rig.file);
	if (!found)
		return ENOENT;
	if (found->type != type)
		return EINVAL;
	*(struct object **)object = found;
	return 0;
}

int uc_pin(struct uverbs_call *uc, uint64_t addr, uint64_t len, bool writable)
{
	assert_ptr_equal(uc, &rig.call);
	if (rig.pin_error)
		return rig.pin_error;
	assert_true(rig.pinned < RIG_PINS);
	rig.pins[rig.pinned].addr = addr;
	rig.pins[rig.pinned].writable = writable;
	rig.pins[rig.pinned++].len = len;
	return 0;
}

void pinned_take(struct client *client, struct pinned *pinned)
{
	assert_ptr_equal(client, &rig.client);
	assert_non_null(pinned);
	rig.takes++;
}

int uc_pin_record(struct uverbs_call *uc, uint64_t addr, uint64_t len)
{
	return uc_pin(uc, addr, len, true);
}

int uc_async_channel(struct uverbs_call *uc, uint16_t id, struct event_channel **channel)
{
	assert_ptr_equal(uc, &rig.call);
	(void)id;
	*channel = NULL;
	return 0;
}

int event_source_made(struct event_source *source, int ret, uint32_t number)
{
	source->number = number;
	return ret;
}

void event_source_remove(struct event_source *source, pid_t tid)
{
	(void)source;
	(void)tid;
}

int adapter_command(struct adapter *adapter, void *in, size_t in_len, void *out, size_t out_len)
{
	assert_ptr_equal(adapter, &rig.adapter);
	memset(rig.command, 0, sizeof(rig.command));
	memcpy(rig.command, in, in_len < RIG_COMMAND ? in_len : RIG_COMMAND);
	rig.command_len = in_len;
	memset(out, 0, out_len);
	fld_set((uint8_t *)out, FLD(0x8, 31, 0), rig.number);
	rig.commands++;
	return rig.command_error;
}

int adapter_release(struct adapter *adapter, enum prm_opcode opcode, uint32_t number)
{
	assert_ptr_equal(adapter, &rig.adapter);
	(void)opcode;
	rig.last_released = number;
	rig.released += !rig.command_error;
	return rig.command_error;
}

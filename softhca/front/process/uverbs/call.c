/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * call.c - attributes of a call: checks them against the method's table, and reads and writes them
 * for methods.
 *
 * Methods call these; uverbs.c, which has the tables of methods, calls methods, so calls only go
 * down.
 */
#include <errno.h>
#include <string.h>

#include <rdma/ib_user_ioctl_verbs.h>

#include "softhca/front/process/program/caller.h"
#include "softhca/front/process/notify.h"
#include "softhca/front/process/uverbs/objects.h"
#include "softhca/front/process/uverbs/uverbs.h"

enum { INLINE_MAX = sizeof(uint64_t), TAIL_PAGE = 4096, ATTR_HANDLES_MAX = 2 };

static const struct uverbs_attr *find_attr_def(const struct uverbs_method *method, uint16_t id)
{
	for (unsigned int i = 0; i < method->num_attrs; i++)
		if (method->attrs[i].id == id)
			return &method->attrs[i];
	return NULL;
}

struct ib_uverbs_attr *uc_attr(struct uverbs_call *uc, uint16_t id)
{
	for (unsigned int i = 0; i < uc->hdr.num_attrs; i++)
		if (uc->known[i] && uc->attr[i].attr_id == id)
			return &uc->attr[i];
	return NULL;
}

size_t uc_len(struct uverbs_call *uc, uint16_t id)
{
	const struct ib_uverbs_attr *attr = uc_attr(uc, id);

	return attr ? attr->len : 0;
}

uint32_t uc_response_length(struct uverbs_call *uc, uint16_t id, size_t size)
{
	size_t room = uc_len(uc, id);

	return room < size ? room : size;
}

static int read_attr(struct uverbs_call *uc, const struct ib_uverbs_attr *attr, size_t offset,
		     void *buf, size_t len)
{
	if (attr->len > INLINE_MAX)
		return caller_read(uc->call, attr->data + offset, buf, len);
	memcpy(buf, (const uint8_t *)&attr->data + offset, len);
	return 0;
}

int uc_in(struct uverbs_call *uc, uint16_t id, void *buf, size_t len)
{
	const struct ib_uverbs_attr *attr = uc_attr(uc, id);

	memset(buf, 0, len);
	if (!attr || !attr->len)
		return 0;
	return read_attr(uc, attr, 0, buf, attr->len < len ? attr->len : len);
}

int uc_out(struct uverbs_call *uc, uint16_t id, const void *data, size_t len)
{
	struct ib_uverbs_attr *attr = uc_attr(uc, id);

	if (!attr || !attr->len)
		return 0;
	attr->flags |= UVERBS_ATTR_F_VALID_OUTPUT;
	return caller_write(uc->call, attr->data, data, attr->len < len ? attr->len : len);
}

int uc_out_padded(struct uverbs_call *uc, uint16_t id, const void *data, size_t len)
{
	static const uint8_t zeroes[4096];
	struct ib_uverbs_attr *attr = uc_attr(uc, id);
	int ret = uc_out(uc, id, data, len);

	for (size_t at = len; !ret && attr && at < attr->len; at += sizeof(zeroes)) {
		size_t piece = attr->len - at < sizeof(zeroes) ? attr->len - at : sizeof(zeroes);

		ret = caller_write(uc->call, attr->data + at, zeroes, piece);
	}
	return ret;
}

void uc_set(struct uverbs_call *uc, uint16_t id, uint64_t value)
{
	struct ib_uverbs_attr *attr = uc_attr(uc, id);

	if (attr)
		attr->data = value;
}

void *uc_object(struct uverbs_call *uc, uint16_t id)
{
	const struct ib_uverbs_attr *attr = uc_attr(uc, id);

	return attr ? uc->object[attr - uc->attr] : NULL;
}

/* Finds the objects again, as the program may have changed its list since the check. */
unsigned int uc_objects(struct uverbs_call *uc, uint16_t id, struct object **objects,
			unsigned int max)
{
	const struct uverbs_attr *def = find_attr_def(uc->method, id);
	uint32_t handle[ATTR_HANDLES_MAX];
	unsigned int count = uc_len(uc, id) / sizeof(handle[0]);

	if (count > max || uc_in(uc, id, handle, count * sizeof(handle[0])))
		return 0;
	for (unsigned int i = 0; i < count; i++)
		if (object_find(uc->file, def->object, handle[i], &objects[i]))
			return i;
	return count;
}

int uc_flags(struct uverbs_call *uc, uint16_t id, uint64_t allowed, uint64_t *flags)
{
	const size_t len = uc_len(uc, id);
	uint32_t narrow;

	*flags = 0;
	if (len == sizeof(narrow)) {
		if (uc_in(uc, id, &narrow, sizeof(narrow)))
			return EFAULT;
		*flags = narrow;
	} else if (len == sizeof(*flags)) {
		if (uc_in(uc, id, flags, sizeof(*flags)))
			return EFAULT;
	} else if (len) {
		return EINVAL;
	}
	return *flags & ~allowed ? EINVAL : 0;
}

int uc_pin(struct uverbs_call *uc, uint64_t addr, uint64_t len, bool writable)
{
	int ret = addr + len < addr ? EINVAL : pinned_add(uc->client, uc->tid, addr, len);

	return ret ? ret : client_check_range(uc->client, addr, len ? len : 1, writable);
}

int uc_pin_record(struct uverbs_call *uc, uint64_t addr, uint64_t len)
{
	int ret = pinned_add_record(uc->client, uc->tid, addr);

	return ret ? ret : client_check_range(uc->client, addr, len, true);
}

void uc_epitaph_entry(const struct uverbs_call *uc, const struct object *object,
		      struct epitaph_entry *entry)
{
	*entry = (struct epitaph_entry){
		.handle = object->handle,
		.owner = { .pid = uc->client->pid,
			   .fd = call_arg_int(uc->call, 0),
			   .dev = uc->file->dev,
			   .ino = uc->file->ino },
	};
}

int uc_async_channel(struct uverbs_call *uc, uint16_t id, struct event_channel **channel)
{
	const struct ib_uverbs_attr *attr = uc_attr(uc, id);

	*channel = attr ? event_channel_find(uc->tid, uc->file, attr->data_s64, CHANNEL_VERBS)
			: uc->file->async;
	if (attr && !*channel)
		return EBADF;
	if (*channel)
		event_channel_get(*channel);
	return 0;
}

static bool is_zero(const uint8_t *bytes, size_t len)
{
	return !len || (!bytes[0] && !memcmp(bytes, bytes + 1, len - 1));
}

/* Checks that the bytes beyond those that the method knows are zero, so that the program asks for
 * nothing unknown. Reads up to a page boundary at a time, as the next page may not be mapped. */
static int check_tail(struct uverbs_call *uc, const struct ib_uverbs_attr *attr, size_t known)
{
	uint8_t bytes[TAIL_PAGE];
	size_t at = known, piece;

	while (at < attr->len) {
		piece = TAIL_PAGE - (attr->data + at) % TAIL_PAGE;
		if (piece > attr->len - at)
			piece = attr->len - at;
		if (read_attr(uc, attr, at, bytes, piece))
			return EFAULT;
		if (!is_zero(bytes, piece))
			return EOPNOTSUPP;
		at += piece;
	}
	return 0;
}

int uc_check_tail(struct uverbs_call *uc, uint16_t id, size_t known)
{
	const struct ib_uverbs_attr *attr = uc_attr(uc, id);

	return attr ? check_tail(uc, attr, known) : 0;
}

bool uc_has_tail(struct uverbs_call *uc, uint16_t id, size_t known)
{
	return uc_check_tail(uc, id, known) != 0;
}

static int check_data(struct uverbs_call *uc, const struct ib_uverbs_attr *attr,
		      const struct uverbs_attr *def)
{
	if (attr->attr_data.reserved || attr->len < def->min)
		return EINVAL;
	if (def->kind == ATTR_CONST && attr->data > UINT32_MAX)
		return EINVAL;
	if (attr->len <= def->max)
		return 0;
	return def->kind == ATTR_STRUCT ? check_tail(uc, attr, def->max) : EINVAL;
}

static int check_enum(const struct ib_uverbs_attr *attr, const struct uverbs_attr *def)
{
	const bool is_first = !attr->attr_data.enum_data.elem_id;

	if (attr->attr_data.enum_data.elem_id >= def->object)
		return EOPNOTSUPP;
	if (attr->attr_data.enum_data.reserved)
		return EINVAL;
	if (is_first ? attr->len < def->min || attr->len > def->max : attr->len)
		return EINVAL;
	return 0;
}

static int check_handles(struct uverbs_call *uc, const struct ib_uverbs_attr *attr,
			 const struct uverbs_attr *def)
{
	uint32_t handle[ATTR_HANDLES_MAX];
	unsigned int count = attr->len / sizeof(handle[0]);
	struct object *object;
	int ret = 0;

	if (attr->attr_data.reserved || attr->len % sizeof(handle[0]) || count < def->min ||
	    count > def->max)
		return EINVAL;
	if (read_attr(uc, attr, 0, handle, attr->len))
		return EFAULT;
	for (unsigned int i = 0; !ret && i < count; i++)
		ret = object_find(uc->file, def->object, handle[i], &object);
	return ret;
}

static int check_handle(struct uverbs_call *uc, unsigned int i, const struct uverbs_attr *def)
{
	const struct ib_uverbs_attr *attr = &uc->attr[i];

	if (attr->attr_data.reserved || attr->len)
		return EINVAL;
	if (def->kind == ATTR_NEW)
		return uc->file->has_context ? 0 : EINVAL;
	if (def->kind == ATTR_NEW_FD)
		return 0;
	if ((def->kind == ATTR_FD || def->kind == ATTR_RAW_FD) &&
	    attr->data_s64 != (int32_t)attr->data_s64)
		return EINVAL;
	if (def->kind == ATTR_RAW_FD)
		return 0;
	if (def->kind == ATTR_FD)
		return attr->data_s64 < 0 ? EBADF : 0;
	if (attr->data > UINT32_MAX)
		return ENOENT;
	return object_find(uc->file, def->object, attr->data, &uc->object[i]);
}

static int check_attr(struct uverbs_call *uc, unsigned int i)
{
	const struct ib_uverbs_attr *attr = &uc->attr[i];
	const struct uverbs_attr *def = find_attr_def(uc->method, attr->attr_id);

	if (!def)
		return attr->flags & UVERBS_ATTR_F_MANDATORY ? EPROTONOSUPPORT : 0;
	if (uc_attr(uc, attr->attr_id))
		return EINVAL; /* given twice */
	uc->known[i] = true;
	switch (def->kind) {
	case ATTR_IN:
	case ATTR_CONST:
	case ATTR_CONST64:
	case ATTR_STRUCT:
	case ATTR_OUT:
		return check_data(uc, attr, def);
	case ATTR_ENUM:
		return check_enum(attr, def);
	case ATTR_HANDLES:
		return check_handles(uc, attr, def);
	default:
		return check_handle(uc, i, def);
	}
}

int uc_check_attrs(struct uverbs_call *uc)
{
	const struct uverbs_method *method = uc->method;

	for (unsigned int i = 0; i < uc->hdr.num_attrs; i++) {
		int ret = check_attr(uc, i);

		if (ret)
			return ret;
	}
	for (unsigned int i = 0; i < method->num_attrs; i++)
		if (method->attrs[i].mandatory && !uc_attr(uc, method->attrs[i].id))
			return EINVAL;
	return 0;
}

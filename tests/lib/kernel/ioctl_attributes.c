/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * ioctl_attributes.c - prints attributes of uverbs ioctls and compares them with Linux'
 * declarations; see ioctl_attributes.h.
 *
 * A line has the method and its attributes in the order of their numbers, each with its length; "?"
 * follows an attribute that a kernel may ignore, "/N" is value N of an enumeration, "=N" a number
 * that is the same in every run.
 */
#include "tests/lib/kernel/ioctl_attributes.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/mlx5_user_ioctl_cmds.h>
#include <rdma/rdma_user_ioctl_cmds.h>

#include "tests/lib/say.h"
#include "tests/lib/kernel/uverbs_request.h"
#include "util/bits.h"

enum linux_kind { IN, CONST, STRUCT, ENUM, OUT, HANDLE, HANDLES, NEW, DESTROY, FD, NEW_FD, RAW_FD };
enum { MAY, MUST };
enum { LINUX_ANY_OBJECT = 0xffff, MAX_ATTRS = 64, LINE = 4096 };

struct linux_attr {
	const char *method_name, *name;
	uint16_t object, method, id;
	enum linux_kind kind;
	uint32_t min, max;
	bool must;
	uint32_t of;
	uint16_t since; /* the first kernel that has it */
};

#define KERNEL(major, minor) ((major) << 8 | (minor))
#define ATTR(object, method, id, kind, min, max, must, of, kernel) \
	{ #method, #id, object, method, id, kind, min, max, must, of, kernel },

static const struct linux_attr linux_attrs[] = {
#include "tests/lib/kernel/linux_attributes.h"
};

struct request {
	struct uverbs_request_header hdr;
	struct ib_uverbs_attr attr[MAX_ATTRS];
};

static bool is_on;
static int expected = -1; /* the answer of a kernel that knows the request; -1: any */

void ioctl_attributes_say(bool on)
{
	is_on = on;
}

void ioctl_attributes_judge(int err)
{
	expected = err;
}

static const struct linux_attr *attr_find(const struct request *request, uint16_t id)
{
	for (size_t i = 0; i < ARRAY_SIZE(linux_attrs); i++)
		if (linux_attrs[i].object == request->hdr.object_id &&
		    linux_attrs[i].method == request->hdr.method_id && linux_attrs[i].id == id)
			return &linux_attrs[i];
	return NULL;
}

static bool enum_fits(const struct linux_attr *def, const struct ib_uverbs_attr *attr)
{
	const bool is_first = !attr->attr_data.enum_data.elem_id;

	return attr->attr_data.enum_data.elem_id < def->of && !attr->attr_data.enum_data.reserved &&
	       attr->len == (is_first ? def->min : 0);
}

static bool attr_fits(const struct linux_attr *def, const struct ib_uverbs_attr *attr)
{
	switch (def->kind) {
	case ENUM:
		return enum_fits(def, attr);
	case IN:
	case CONST:
	case OUT:
		return !attr->attr_data.reserved && attr->len >= def->min && attr->len <= def->max;
	case STRUCT:
		return !attr->attr_data.reserved && attr->len >= def->min;
	case HANDLES:
		return !attr->attr_data.reserved && attr->len % sizeof(uint32_t) == 0 &&
		       attr->len / sizeof(uint32_t) >= def->min &&
		       attr->len / sizeof(uint32_t) <= def->max;
	case RAW_FD:
	case FD:
		return !attr->attr_data.reserved && !attr->len &&
		       attr->data_s64 == (int32_t)attr->data_s64;
	default:
		return !attr->attr_data.reserved && !attr->len && attr->data <= UINT32_MAX;
	}
}

static bool is_number(const struct linux_attr *def, const struct ib_uverbs_attr *attr)
{
	return (def->kind == IN || def->kind == CONST || def->kind == ENUM) && attr->len &&
	       attr->len <= sizeof(attr->data);
}

/* Returns whether the word's bytes behind a shorter number are 0: the kernel ignores them, so other
 * bytes would disclose memory. */
static bool rest_is_zero(const struct ib_uverbs_attr *attr)
{
	uint8_t bytes[sizeof(attr->data)];

	memcpy(bytes, &attr->data, sizeof(bytes));
	for (size_t i = attr->len; i < sizeof(bytes); i++)
		if (bytes[i])
			return false;
	return true;
}

/* Returns whether Linux accepts the attribute; prints the error if not. */
static bool attr_is_right(const struct request *request, const struct ib_uverbs_attr *attr)
{
	const struct linux_attr *def = attr_find(request, attr->attr_id);

	if (!def && attr->flags & UVERBS_ATTR_F_MANDATORY)
		say("object 0x%x method 0x%x has no attribute 0x%x", request->hdr.object_id,
		    request->hdr.method_id, attr->attr_id);
	else if (def && !attr_fits(def, attr))
		say("%s: %u bytes, value %u; Linux declares %u to %u bytes, kind %d", def->name,
		    attr->len, attr->attr_data.enum_data.elem_id, def->min, def->max, def->kind);
	else if (def && is_number(def, attr) && !rest_is_zero(attr))
		say("%s: bytes of memory behind its %u", def->name, attr->len);
	else
		return true;
	return false;
}

static bool has_attr(const struct request *request, uint16_t id)
{
	for (unsigned int i = 0; i < request->hdr.num_attrs; i++)
		if (request->attr[i].attr_id == id)
			return true;
	return false;
}

static bool request_is_right(const struct request *request)
{
	bool right = true;

	for (unsigned int i = 0; i < request->hdr.num_attrs; i++)
		right &= attr_is_right(request, &request->attr[i]);
	for (size_t i = 0; i < ARRAY_SIZE(linux_attrs); i++)
		if (linux_attrs[i].object == request->hdr.object_id &&
		    linux_attrs[i].method == request->hdr.method_id && linux_attrs[i].must &&
		    !has_attr(request, linux_attrs[i].id)) {
			say("%s is missing", linux_attrs[i].name);
			right = false;
		}
	return right;
}

static void __attribute__((format(printf, 2, 3))) line_add(char *line, const char *format, ...)
{
	const size_t used = strlen(line);
	va_list args;

	va_start(args, format);
	vsnprintf(line + used, LINE - used, format, args);
	va_end(args);
}

/* Returns whether the attribute's value is the same in every run. Descriptors and user handles are
 * not, so they are not printed. */
static bool is_same_in_every_run(const char *name)
{
	return strcmp(name + strlen(name) - 3, "_FD") != 0 && !strstr(name, "FD_NUM") &&
	       !strstr(name, "USER_HANDLE") && !strstr(name, "CORE_IN") && !strstr(name, "UHW") &&
	       !strstr(name, "COOKIE");
}

/* Returns the value to print. The number of a page depends on earlier calls of the library. */
static unsigned long long number_of(const struct linux_attr *def, const struct ib_uverbs_attr *attr)
{
	return strstr(def->name, "PGOFF") ? attr->data % 4096 : attr->data;
}

static void attr_add(char *line, const struct request *request, const struct ib_uverbs_attr *attr)
{
	const struct linux_attr *def = attr_find(request, attr->attr_id);

	line_add(line, " %s",
		 def ? def->name + (strncmp(def->name, "UVERBS", 6) ? 13 : 12) : "unknown");
	line_add(line, " %u%s", attr->len, attr->flags & UVERBS_ATTR_F_MANDATORY ? "" : "?");
	if (def && def->kind == ENUM)
		line_add(line, "/%u", attr->attr_data.enum_data.elem_id);
	if (def && is_number(def, attr) && is_same_in_every_run(def->name))
		line_add(line, "=%llx", number_of(def, attr));
}

static int attr_order(const void *a, const void *b)
{
	const struct ib_uverbs_attr *const x = a, *const y = b;

	return x->attr_id - y->attr_id;
}

static const char *method_name(const struct request *request)
{
	for (size_t i = 0; i < ARRAY_SIZE(linux_attrs); i++)
		if (linux_attrs[i].object == request->hdr.object_id &&
		    linux_attrs[i].method == request->hdr.method_id)
			return strstr(linux_attrs[i].method_name, "METHOD_") + strlen("METHOD_");
	return "an unknown method";
}

/* Returns whether libraries differ in when they make this call, as for doorbell pages. */
static bool is_whenever(const struct request *request)
{
	return request->hdr.object_id == MLX5_IB_OBJECT_UAR;
}

static void request_copy(struct request *request, const void *arg)
{
	memcpy(&request->hdr, arg, sizeof(request->hdr));
	if (request->hdr.num_attrs > MAX_ATTRS)
		abort();
	memcpy(request->attr, (const char *)arg + sizeof(request->hdr),
	       request->hdr.num_attrs * sizeof(request->attr[0]));
}

static void request_say(const void *arg)
{
	struct request request;
	char line[LINE];

	request_copy(&request, arg);
	qsort(request.attr, request.hdr.num_attrs, sizeof(request.attr[0]), attr_order);
	snprintf(line, sizeof(line), "  %s:", method_name(&request));
	for (unsigned int i = 0; i < request.hdr.num_attrs; i++)
		attr_add(line, &request, &request.attr[i]);
	if (!request_is_right(&request) || !is_whenever(&request))
		say_check(request_is_right(&request), "%s", line);
}

/* Returns whether this kernel has the method, and each attribute that it may not ignore. */
static bool request_is_known(const struct request *request, uint16_t kernel)
{
	const struct linux_attr *def;
	bool has_method = false;

	for (size_t i = 0; i < ARRAY_SIZE(linux_attrs); i++)
		has_method |= linux_attrs[i].object == request->hdr.object_id &&
			      linux_attrs[i].method == request->hdr.method_id &&
			      linux_attrs[i].since <= kernel;
	for (unsigned int i = 0; i < request->hdr.num_attrs; i++) {
		def = attr_find(request, request->attr[i].attr_id);
		if (request->attr[i].flags & UVERBS_ATTR_F_MANDATORY &&
		    (!def || def->since > kernel))
			return false;
	}
	return has_method;
}

static uint16_t kernel_version(void)
{
	unsigned int major, minor;
	struct utsname system;

	MUST(!uname(&system) && sscanf(system.release, "%u.%u", &major, &minor) == 2);
	return KERNEL(major, minor);
}

static void answer_judge(const void *arg, int err)
{
	struct request request;
	int right = expected;

	request_copy(&request, arg);
	if (!request_is_known(&request, kernel_version()) ||
	    (expected == EOPNOTSUPP && err == EPROTONOSUPPORT)) /* a driver without the object */
		right = EPROTONOSUPPORT;
	if (is_whenever(&request) && err == EOPNOTSUPP)
		return; /* left out on a processor without write combining */
	if (!say_check(err == right, "    Linux answers %s", say_errno(right)))
		say("    but: %s", say_errno(err));
}

__attribute__((visibility("default"))) int ioctl(int fd, unsigned long request, ...)
{
	const bool shown = is_on && request == RDMA_VERBS_IOCTL;
	va_list args;
	void *arg;
	int ret, err;

	va_start(args, request);
	arg = va_arg(args, void *);
	va_end(args);
	if (shown)
		request_say(arg);
	ret = (int)syscall(SYS_ioctl, fd, request, arg);
	if (shown && expected >= 0) {
		err = ret ? errno : 0;
		answer_judge(arg, err);
		errno = ret ? err : errno;
	}
	return ret;
}

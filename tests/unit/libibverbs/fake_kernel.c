/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * fake_kernel.c - see fake_kernel.h.
 */
#include "fake_kernel.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct fake_kernel kernel;

int __wrap_ioctl(int fd, unsigned long request, void *arg);

static void call_note(const char *format, ...)
{
	size_t len = strlen(kernel.text);
	va_list args;

	va_start(args, format);
	vsnprintf(kernel.text + len, sizeof(kernel.text) - len, format, args);
	va_end(args);
}

static void note_bytes(const void *data, size_t len)
{
	const unsigned char *bytes = data;

	for (size_t i = 0; i < len; i++)
		call_note("%02x", bytes[i]);
}

/* Returns a number of an attribute's inline field, where a shorter value stands at the start. */
static unsigned long long inline_value(const struct ib_uverbs_attr *attr)
{
	uint8_t v8;
	uint16_t v16;
	uint32_t v32;

	switch (attr->len) {
	case sizeof(v8):
		memcpy(&v8, &attr->data, sizeof(v8));
		return v8;
	case sizeof(v16):
		memcpy(&v16, &attr->data, sizeof(v16));
		return v16;
	case sizeof(v32):
		memcpy(&v32, &attr->data, sizeof(v32));
		return v32;
	default:
		return attr->data;
	}
}

/* Checks that a field has zeroes behind a shorter value, as leftovers of memory would reach the
 * kernel. */
static void check_rest(const struct ib_uverbs_attr *attr)
{
	uint8_t bytes[sizeof(attr->data)];

	memcpy(bytes, &attr->data, sizeof(bytes));
	for (size_t i = attr->len; i < sizeof(bytes); i++)
		assert_int_equal(bytes[i], 0);
}

static const uint16_t *outputs, *new_objects;

static bool is_in(const uint16_t *list, uint16_t id)
{
	for (; list && *list != 0xffff; list++)
		if (*list == id)
			return true;
	return false;
}

void count_bytes(void *data, size_t len)
{
	for (size_t i = 0; i < len; i++)
		((unsigned char *)data)[i] = (unsigned char)(i + 1);
}

static void fill_output(void *data, size_t len)
{
	if (kernel.counts)
		count_bytes(data, len);
	else
		memset(data, kernel.fill, len);
	if (kernel.report_events)
		memcpy(data, &kernel.report_events, sizeof(kernel.report_events));
}

static void take_attr(struct ib_uverbs_attr *attr)
{
	call_note(" %s%03x", attr->flags & UVERBS_ATTR_F_MANDATORY ? "" : "?", attr->attr_id);
	if (attr->attr_data.enum_data.elem_id)
		call_note("/%u", attr->attr_data.enum_data.elem_id);
	if (is_in(outputs, attr->attr_id)) {
		call_note(">%u", attr->len);
		fill_output((void *)(uintptr_t)attr->data, attr->len);
	} else if (is_in(new_objects, attr->attr_id)) {
		call_note("=new");
		attr->data = kernel.next_handle++;
	} else if (attr->len > 8) {
		call_note("<");
		note_bytes((const void *)(uintptr_t)attr->data, attr->len);
	} else if (attr->len) {
		call_note("=%u:%llx", attr->len, inline_value(attr));
		check_rest(attr);
	} else {
		call_note("=%llx", (unsigned long long)attr->data);
	}
}

/* ioctl() has this name in a C library of 32 bits with 64-bit times, so both are wrapped */
int __wrap___ioctl_time64(int fd, unsigned long request, void *arg);

int __wrap___ioctl_time64(int fd, unsigned long request, void *arg)
{
	return __wrap_ioctl(fd, request, arg);
}

int __wrap_ioctl(int fd, unsigned long request, void *arg)
{
	struct ib_uverbs_ioctl_hdr *hdr = arg;

	assert_int_equal(fd, FAKE_CMD_FD);
	assert_int_equal(request, RDMA_VERBS_IOCTL);
	assert_int_equal(hdr->length, sizeof(*hdr) + hdr->num_attrs * sizeof(hdr->attrs[0]));
	assert_int_equal(hdr->driver_id, FAKE_DRIVER_ID);
	assert_int_equal(hdr->reserved1 | hdr->reserved2, 0);
	kernel.calls++;
	if (kernel.eintr-- > 0) {
		errno = EINTR;
		return -1;
	}
	call_note("%x/%x", hdr->object_id, hdr->method_id);
	if (kernel.old && (hdr->object_id || hdr->method_id)) {
		call_note(" no; ");
		errno = EPROTONOSUPPORT;
		return -1;
	}
	if (kernel.err) {
		errno = kernel.err;
		return -1;
	}
	for (unsigned int i = 0; i < hdr->num_attrs; i++)
		take_attr(&hdr->attrs[i]);
	return 0;
}

void expect(const uint16_t *outs, const uint16_t *news)
{
	memset(&kernel, 0, sizeof(kernel));
	kernel.next_handle = 0x51;
	outputs = outs;
	new_objects = news;
}

#if __BYTE_ORDER == __BIG_ENDIAN
static int compare_pairs(const void *a, const void *b)
{
	return memcmp(a, b, 2);
}

/* Copies the text, with the bytes behind each '<' sorted within groups of 8. */
static void sort_bytes(const char *text, char *out, size_t size)
{
	static const char digits[] = "0123456789abcdef";

	snprintf(out, size, "%s", text);
	while ((out = strchr(out, '<'))) {
		size_t len = strspn(++out, digits);

		for (size_t at = 0; at < len; at += 16)
			qsort(out + at, (len - at < 16 ? len - at : 16) / 2, 2, compare_pairs);
		out += len;
	}
}

void assert_same_but_for_order(const char *got, const char *want)
{
	char sorted_got[sizeof(kernel.text)], sorted_want[sizeof(kernel.text)];

	sort_bytes(got, sorted_got, sizeof(sorted_got));
	sort_bytes(want, sorted_want, sizeof(sorted_want));
	_assert_string_equal(sorted_got, sorted_want, __FILE__, __LINE__);
}
#endif

int open_fake(void **state)
{
	*state = fake_open();
	return 0;
}

int close_fake(void **state)
{
	fake_close(*state);
	return 0;
}

struct ibv_context *context_of(void **state)
{
	return &((struct fake_context *)*state)->vctx.context;
}

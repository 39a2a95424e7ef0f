/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * uverbs_request.c - see uverbs_request.h.
 */
#include "tests/lib/kernel/uverbs_request.h"

#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>

#include "tests/lib/say.h"

enum { MAX_ATTRS = 16 };

struct ib_uverbs_attr uverbs_attr_in(uint16_t id, uint16_t len, const void *value)
{
	struct ib_uverbs_attr attr = { .attr_id = id,
				       .len = len,
				       .flags = UVERBS_ATTR_F_MANDATORY };

	if (len && len <= sizeof(attr.data))
		memcpy(&attr.data, value, len);
	else
		attr.data = (uintptr_t)value;
	return attr;
}

struct ib_uverbs_attr uverbs_attr_out(uint16_t id, uint16_t len, void *value)
{
	return (struct ib_uverbs_attr){ .attr_id = id,
					.len = len,
					.flags = UVERBS_ATTR_F_MANDATORY,
					.data = (uintptr_t)value };
}

int uverbs_request_run(int fd, const struct uverbs_request_header *command,
		       struct ib_uverbs_attr *attrs, uint16_t n)
{
	struct {
		struct uverbs_request_header hdr;
		struct ib_uverbs_attr attrs[MAX_ATTRS];
	} request = { .hdr = *command };
	int ret;

	MUST(n <= MAX_ATTRS);
	request.hdr.num_attrs = n;
	request.hdr.length = (uint16_t)(sizeof(request.hdr) + n * sizeof(*attrs));
	memcpy(request.attrs, attrs, n * sizeof(*attrs));
	ret = ioctl(fd, RDMA_VERBS_IOCTL, &request) ? errno : 0;
	memcpy(attrs, request.attrs, n * sizeof(*attrs));
	return ret;
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * uverbs_request.h - requests of RDMA_VERBS_IOCTL: a header for programs that have an array of
 * attributes behind it, and functions that run a request.
 */
#ifndef TESTS_LIB_KERNEL_UVERBS_REQUEST_H
#define TESTS_LIB_KERNEL_UVERBS_REQUEST_H

#include <assert.h>
#include <stdint.h>
#include <rdma/rdma_user_ioctl_cmds.h>

/* struct ib_uverbs_ioctl_hdr without its attributes */
struct uverbs_request_header {
	uint16_t length, object_id, method_id, num_attrs;
	uint64_t reserved1;
	uint32_t driver_id, reserved2;
};
static_assert(sizeof(struct uverbs_request_header) == sizeof(struct ib_uverbs_ioctl_hdr),
	      "the kernel's header");

/* Returns an attribute of LEN bytes. If LEN is 0, VALUE is a handle, or the caller sets it
 * afterwards. */
struct ib_uverbs_attr uverbs_attr_in(uint16_t id, uint16_t len, const void *value);
struct ib_uverbs_attr uverbs_attr_out(uint16_t id, uint16_t len, void *value);

/* Runs COMMAND, which has object, method and driver. Returns its errno. The kernel may have changed
 * the attributes. */
int uverbs_request_run(int fd, const struct uverbs_request_header *command,
		       struct ib_uverbs_attr *attrs, uint16_t n);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * uverbs_request.h - the head of a request of RDMA_VERBS_IOCTL, for programs that have the
 * attributes behind it in an array of their own.
 */
#ifndef TESTS_LIB_UVERBS_REQUEST_H
#define TESTS_LIB_UVERBS_REQUEST_H

#include <assert.h>
#include <stdint.h>
#include <rdma/rdma_user_ioctl_cmds.h>

/* The header is struct ib_uverbs_ioctl_hdr without its attributes. */
struct uverbs_request_header {
	uint16_t length, object_id, method_id, num_attrs;
	uint64_t reserved1;
	uint32_t driver_id, reserved2;
};
static_assert(sizeof(struct uverbs_request_header) == sizeof(struct ib_uverbs_ioctl_hdr),
	      "the kernel's header");

#endif

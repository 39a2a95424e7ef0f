/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The one ioctl of a uverbs descriptor: a header that names an object type and a method, and an
 * array of attributes. Layouts and values belong to the kernel
 * (Documentation/infiniband/user_verbs.rst).
 */
#ifndef RDMA_USER_IOCTL_CMDS_H
#define RDMA_USER_IOCTL_CMDS_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define RDMA_IOCTL_MAGIC 0x1b
#define RDMA_VERBS_IOCTL _IOWR(RDMA_IOCTL_MAGIC, 1, struct ib_uverbs_ioctl_hdr)

/* Flags of an attribute. */
enum {
	UVERBS_ATTR_F_MANDATORY = 1U << 0,    /* in: a kernel that does not know it must fail */
	UVERBS_ATTR_F_VALID_OUTPUT = 1U << 1, /* out: the kernel has written to it */
};

struct ib_uverbs_attr {
	__u16 attr_id;
	__u16 len;   /* bytes; 0 for a handle or descriptor, 4 per element of an array of handles */
	__u16 flags; /* UVERBS_ATTR_F_* */
	union {
		struct {
			__u8 elem_id;
			__u8 reserved;
		} enum_data; /* for an attribute that has variants: which one follows */
		__u16 reserved;
	} attr_data;
	union {
		__aligned_u64 data; /* a handle; input of up to 8 bytes itself; else a pointer */
		__s64 data_s64;     /* a file descriptor */
	};
};

struct ib_uverbs_ioctl_hdr {
	__u16 length;    /* bytes, attributes included */
	__u16 object_id; /* enum uverbs_default_objects, or a driver's own */
	__u16 method_id;
	__u16 num_attrs;
	__aligned_u64 reserved1;
	__u32 driver_id; /* enum rdma_driver_id */
	__u32 reserved2;
	struct ib_uverbs_attr attrs[];
};

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * RDMA netlink (NETLINK_RDMA): the part that finds devices and their character devices. Only
 * attributes that the tree reads or writes are declared, each with its number; the numbers belong
 * to the kernel.
 */
#ifndef _RDMA_NETLINK_H
#define _RDMA_NETLINK_H

#include <linux/types.h>

/* A message type is the client, shifted, and its command. */
enum {
	RDMA_NL_NLDEV = 5,
};

#define RDMA_NL_GET_CLIENT(type)     ((type) >> 10 & 0x3f)
#define RDMA_NL_GET_OP(type)         ((type)&0x3ff)
#define RDMA_NL_GET_TYPE(client, op) (((client) << 10) + (op))

enum rdma_nldev_command {
	RDMA_NLDEV_CMD_UNSPEC = 0,
	RDMA_NLDEV_CMD_GET = 1, /* one device, or with NLM_F_DUMP all */
	RDMA_NLDEV_CMD_SET = 2,
	RDMA_NLDEV_CMD_PORT_GET = 5,
	RDMA_NLDEV_CMD_SYS_GET = 6,
	RDMA_NLDEV_CMD_SYS_SET = 7,
	RDMA_NLDEV_CMD_RES_GET = 9, /* how many objects there are of each kind */
	RDMA_NLDEV_CMD_RES_QP_GET = 10,
	RDMA_NLDEV_CMD_RES_CQ_GET = 12,
	RDMA_NLDEV_CMD_RES_MR_GET = 13,
	RDMA_NLDEV_CMD_RES_PD_GET = 14,
	RDMA_NLDEV_CMD_GET_CHARDEV = 15,
	RDMA_NLDEV_CMD_STAT_GET = 17,
	RDMA_NLDEV_CMD_RES_CTX_GET = 22,
};

/* RDMA_NLDEV_ATTR_DEV_NODE_TYPE has these values, those of NodeInfo:NodeType where InfiniBand has
 * them. */
enum {
	RDMA_NODE_IB_CA = 1,
	RDMA_NODE_IB_SWITCH = 2,
	RDMA_NODE_IB_ROUTER = 3,
	RDMA_NODE_RNIC = 4,
	RDMA_NODE_USNIC = 5,
	RDMA_NODE_USNIC_UDP = 6,
	RDMA_NODE_UNSPECIFIED = 7,
};

/* How QPs come to counters of their own. */
enum rdma_nl_counter_mode {
	RDMA_COUNTER_MODE_NONE = 0,
	RDMA_COUNTER_MODE_AUTO = 1,
	RDMA_COUNTER_MODE_MANUAL = 2,
};

enum rdma_nldev_attr {
	RDMA_NLDEV_ATTR_UNSPEC = 0,
	RDMA_NLDEV_ATTR_PAD = 0,

	/* device */
	RDMA_NLDEV_ATTR_DEV_INDEX = 1,      /* u32 */
	RDMA_NLDEV_ATTR_DEV_NAME = 2,       /* string */
	RDMA_NLDEV_ATTR_PORT_INDEX = 3,     /* u32; of a device: the number of its ports */
	RDMA_NLDEV_ATTR_CAP_FLAGS = 4,      /* u64 */
	RDMA_NLDEV_ATTR_FW_VERSION = 5,     /* string */
	RDMA_NLDEV_ATTR_NODE_GUID = 6,      /* u64, host order */
	RDMA_NLDEV_ATTR_SYS_IMAGE_GUID = 7, /* u64, host order */

	/* port */
	RDMA_NLDEV_ATTR_SUBNET_PREFIX = 8,    /* u64, host order */
	RDMA_NLDEV_ATTR_LID = 9,              /* u32 */
	RDMA_NLDEV_ATTR_SM_LID = 10,          /* u32 */
	RDMA_NLDEV_ATTR_LMC = 11,             /* u8 */
	RDMA_NLDEV_ATTR_PORT_STATE = 12,      /* u8 */
	RDMA_NLDEV_ATTR_PORT_PHYS_STATE = 13, /* u8 */
	RDMA_NLDEV_ATTR_NDEV_INDEX = 50,      /* u32; the network interface of the port */
	RDMA_NLDEV_ATTR_NDEV_NAME = 51,       /* string */

	/* device, later additions */
	RDMA_NLDEV_ATTR_DEV_NODE_TYPE = 14, /* u8, RDMA_NODE_* */
	RDMA_NLDEV_ATTR_LINK_TYPE = 65,     /* string: a software device's driver */
	RDMA_NLDEV_ATTR_DEV_PROTOCOL = 67,  /* string: "ib", "roce", "iw", ... */
	RDMA_NLDEV_NET_NS_FD = 68,          /* u32 */
	RDMA_NLDEV_ATTR_DEV_DIM = 84,       /* u8: adaptive moderation of CQs */

	/* objects: tables of entries */
	RDMA_NLDEV_ATTR_RES_SUMMARY = 15,            /* nested: entries */
	RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY = 16,      /* nested: name and number */
	RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_NAME = 17, /* string */
	RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_CURR = 18, /* u64 */
	RDMA_NLDEV_ATTR_RES_QP = 19,                 /* nested: entries */
	RDMA_NLDEV_ATTR_RES_QP_ENTRY = 20,
	RDMA_NLDEV_ATTR_RES_LQPN = 21,   /* u32 */
	RDMA_NLDEV_ATTR_RES_SQ_PSN = 24, /* u32 */
	RDMA_NLDEV_ATTR_RES_TYPE = 26,   /* u8: enum ib_qp_type */
	RDMA_NLDEV_ATTR_RES_STATE = 27,  /* u8: enum ib_qp_state */
	RDMA_NLDEV_ATTR_RES_PID = 28,    /* u32 */
	RDMA_NLDEV_ATTR_RES_CQ = 35,     /* nested: entries */
	RDMA_NLDEV_ATTR_RES_CQ_ENTRY = 36,
	RDMA_NLDEV_ATTR_RES_CQE = 37,    /* u32 */
	RDMA_NLDEV_ATTR_RES_USECNT = 38, /* u64 */
	RDMA_NLDEV_ATTR_RES_MR = 40,     /* nested: entries */
	RDMA_NLDEV_ATTR_RES_MR_ENTRY = 41,
	RDMA_NLDEV_ATTR_RES_MRLEN = 45, /* u64 */
	RDMA_NLDEV_ATTR_RES_PD = 46,    /* nested: entries */
	RDMA_NLDEV_ATTR_RES_PD_ENTRY = 47,
	RDMA_NLDEV_ATTR_RES_PDN = 60,  /* u32: the kernel's number, not the device's */
	RDMA_NLDEV_ATTR_RES_CQN = 61,  /* u32 */
	RDMA_NLDEV_ATTR_RES_MRN = 62,  /* u32 */
	RDMA_NLDEV_ATTR_RES_CTXN = 64, /* u32 */
	RDMA_NLDEV_ATTR_RES_CTX = 86,  /* nested: entries */
	RDMA_NLDEV_ATTR_RES_CTX_ENTRY = 87,

	/* character device: ask by type, and by device where it belongs to one */
	RDMA_NLDEV_ATTR_CHARDEV_TYPE = 69,     /* string: "uverbs", "umad", "rdma_cm" */
	RDMA_NLDEV_ATTR_CHARDEV_NAME = 70,     /* string: "uverbs0" */
	RDMA_NLDEV_ATTR_CHARDEV_ABI = 71,      /* u64 */
	RDMA_NLDEV_ATTR_CHARDEV = 72,          /* u64: dev_t, as the kernel codes it */
	RDMA_NLDEV_ATTR_UVERBS_DRIVER_ID = 73, /* u64, enum rdma_driver_id */

	/* counters: of a port, or of the objects of a kind */
	RDMA_NLDEV_ATTR_STAT_MODE = 74,                  /* u32, enum rdma_nl_counter_mode */
	RDMA_NLDEV_ATTR_STAT_RES = 75,                   /* u32 */
	RDMA_NLDEV_ATTR_STAT_COUNTER = 77,               /* nested: entries */
	RDMA_NLDEV_ATTR_STAT_HWCOUNTERS = 80,            /* nested: entries */
	RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY = 81,       /* nested: name and value */
	RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_NAME = 82,  /* string */
	RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_VALUE = 83, /* u64 */

	/* the subsystem */
	RDMA_NLDEV_SYS_ATTR_NETNS_MODE = 66,           /* u8 */
	RDMA_NLDEV_SYS_ATTR_COPY_ON_FORK = 93,         /* u8: 1 if fork() copies pinned pages */
	RDMA_NLDEV_SYS_ATTR_PRIVILEGED_QKEY_MODE = 96, /* u8 */

	/* A table that is indexed by attribute has one entry more than the largest number above. */
	RDMA_NLDEV_ATTR_MAX = 97,
};

#endif

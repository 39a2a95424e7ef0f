/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Path records as rdma_cm and the SA client of the kernel exchange them with programs. Layouts
 * belong to the kernel. */
#ifndef IB_USER_SA_H
#define IB_USER_SA_H

#include <linux/types.h>

/* These say what a path may be used for. */
enum {
	IB_PATH_GMP = 0x01,
	IB_PATH_PRIMARY = 0x02,
	IB_PATH_ALTERNATE = 0x04,
	IB_PATH_OUTBOUND = 0x08,
	IB_PATH_INBOUND = 0x10,
	IB_PATH_INBOUND_REVERSE = 0x20,
	IB_PATH_BIDIRECTIONAL = IB_PATH_OUTBOUND | IB_PATH_INBOUND_REVERSE,
};

struct ib_path_rec_data {
	__u32 flags; /* IB_PATH_* */
	__u32 reserved;
	__u32 path_rec[16]; /* packed, big-endian: struct ibv_path_record */
};

struct ib_user_path_rec {
	__u8 dgid[16];
	__u8 sgid[16];
	__be16 dlid;
	__be16 slid;
	__u32 raw_traffic;
	__be32 flow_label;
	__u32 reversible;
	__u32 mtu;
	__be16 pkey;
	__u8 hop_limit;
	__u8 traffic_class;
	__u8 numb_path;
	__u8 sl;
	__u8 mtu_selector;
	__u8 rate_selector;
	__u8 rate;
	__u8 packet_life_time_selector;
	__u8 packet_life_time;
	__u8 preference;
};

/* This is a ServiceRecord (IBTA vol 1, 15.2.5.14). */
struct ib_user_service_rec {
	__be64 id;
	__u8 gid[16];
	__be16 pkey;
	__u8 reserved[2];
	__be32 lease;
	__u8 key[16];
	__u8 name[64];
	__u8 data_8[16];
	__be16 data_16[8];
	__be32 data_32[4];
	__be64 data_64[2];
};

#endif

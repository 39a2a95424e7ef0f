/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Records of subnet administration (IBTA vol 1, chapter 15): paths, multicast membership, services.
 * The ibv_sa_ structs have unpacked fields; struct ibv_path_record is a path in the packed form
 * that rdma_cm uses.
 */
#ifndef INFINIBAND_SA_H
#define INFINIBAND_SA_H

#include <linux/types.h>
#include <infiniband/verbs.h>

/* A path with unpacked fields. A selector qualifies mtu, rate or packet_life_time: 0 greater than,
 * 1 less than, 2 exactly, 3 the largest available. */
struct ibv_sa_path_rec {
	union ibv_gid dgid;
	union ibv_gid sgid;
	__be16 dlid;
	__be16 slid;
	int raw_traffic;
	__be32 flow_label;
	uint8_t hop_limit;
	uint8_t traffic_class;
	int reversible;
	uint8_t numb_path;
	__be16 pkey;
	uint8_t sl;
	uint8_t mtu_selector;
	uint8_t mtu; /* enum ibv_mtu */
	uint8_t rate_selector;
	uint8_t rate; /* enum ibv_rate */
	uint8_t packet_life_time_selector;
	uint8_t packet_life_time; /* 4.096 us * 2^value */
	uint8_t preference;
};

/* Membership of a port in a multicast group. */
struct ibv_sa_mcmember_rec {
	union ibv_gid mgid;
	union ibv_gid port_gid;
	uint32_t qkey;
	uint16_t mlid;
	uint8_t mtu_selector;
	uint8_t mtu;
	uint8_t traffic_class;
	uint16_t pkey;
	uint8_t rate_selector;
	uint8_t rate;
	uint8_t packet_life_time_selector;
	uint8_t packet_life_time;
	uint8_t sl;
	uint32_t flow_label;
	uint8_t hop_limit;
	uint8_t scope;
	uint8_t join_state;
	int proxy_join;
};

/* A registered service and the data that it publishes. */
struct ibv_sa_service_rec {
	uint64_t id;
	union ibv_gid gid;
	uint16_t pkey;
	uint32_t lease; /* seconds */
	uint8_t key[16];
	uint8_t name[64];
	uint8_t data8[16];
	uint16_t data16[8];
	uint32_t data32[4];
	uint64_t data64[2];
};

/* Bit of ibv_path_record.reversible_numpath. */
#define IBV_PATH_RECORD_REVERSIBLE 0x80

/* A path in wire format; bit ranges refer to the value in host order. */
struct ibv_path_record {
	__be64 service_id;
	union ibv_gid dgid;
	union ibv_gid sgid;
	__be16 dlid;
	__be16 slid;
	__be32 flowlabel_hoplimit; /* 27:8 flow label, 7:0 hop limit */
	uint8_t tclass;
	uint8_t reversible_numpath; /* 7 reversible, 6:0 number of paths */
	__be16 pkey;
	__be16 qosclass_sl;     /* 15:4 QoS class, 3:0 SL */
	uint8_t mtu;            /* 7:6 selector, 5:0 enum ibv_mtu */
	uint8_t rate;           /* 7:6 selector, 5:0 enum ibv_rate */
	uint8_t packetlifetime; /* 7:6 selector, 5:0 4.096 us * 2^value */
	uint8_t preference;
	uint8_t reserved[6];
};

#define IBV_PATH_FLAG_GMP             0x01
#define IBV_PATH_FLAG_PRIMARY         0x02
#define IBV_PATH_FLAG_ALTERNATE       0x04
#define IBV_PATH_FLAG_OUTBOUND        0x08
#define IBV_PATH_FLAG_INBOUND         0x10
#define IBV_PATH_FLAG_INBOUND_REVERSE 0x20
#define IBV_PATH_FLAG_BIDIRECTIONAL   (IBV_PATH_FLAG_OUTBOUND | IBV_PATH_FLAG_INBOUND_REVERSE)

struct ibv_path_data {
	uint32_t flags; /* IBV_PATH_FLAG_* */
	uint32_t reserved;
	struct ibv_path_record path;
};

#endif

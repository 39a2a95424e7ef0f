/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Commands of /dev/infiniband/rdma_cm, ABI 4. Each is one write(): struct rdma_ucm_cmd_hdr, then
 * the structure named after the command. A response is stored at the address in the command, before
 * write() returns. Layouts belong to the kernel; the same for 32-bit and 64-bit programs. Those
 * that carry IP addresses only (_IP) have the bytes of a struct sockaddr_in6 or sockaddr_in. Port
 * spaces, join flags and options are also part of the public <rdma/rdma_cma.h>.
 */
#ifndef RDMA_USER_CM_H
#define RDMA_USER_CM_H

#include <linux/socket.h>
#include <linux/types.h>
#include <rdma/ib_user_sa.h>
#include <rdma/ib_user_verbs.h>

#define RDMA_USER_CM_ABI_VERSION 4
#define RDMA_MAX_PRIVATE_DATA    256

enum {
	RDMA_USER_CM_CMD_CREATE_ID = 0,
	RDMA_USER_CM_CMD_DESTROY_ID = 1,
	RDMA_USER_CM_CMD_BIND_IP = 2,
	RDMA_USER_CM_CMD_RESOLVE_IP = 3,
	RDMA_USER_CM_CMD_RESOLVE_ROUTE = 4,
	RDMA_USER_CM_CMD_QUERY_ROUTE = 5,
	RDMA_USER_CM_CMD_CONNECT = 6,
	RDMA_USER_CM_CMD_LISTEN = 7,
	RDMA_USER_CM_CMD_ACCEPT = 8,
	RDMA_USER_CM_CMD_REJECT = 9,
	RDMA_USER_CM_CMD_DISCONNECT = 10,
	RDMA_USER_CM_CMD_INIT_QP_ATTR = 11,
	RDMA_USER_CM_CMD_GET_EVENT = 12,
	RDMA_USER_CM_CMD_GET_OPTION = 13, /* never implemented */
	RDMA_USER_CM_CMD_SET_OPTION = 14,
	RDMA_USER_CM_CMD_NOTIFY = 15,
	RDMA_USER_CM_CMD_JOIN_IP_MCAST = 16,
	RDMA_USER_CM_CMD_LEAVE_MCAST = 17,
	RDMA_USER_CM_CMD_MIGRATE_ID = 18,
	RDMA_USER_CM_CMD_QUERY = 19,
	RDMA_USER_CM_CMD_BIND = 20,
	RDMA_USER_CM_CMD_RESOLVE_ADDR = 21,
	RDMA_USER_CM_CMD_JOIN_MCAST = 22,
	RDMA_USER_CM_CMD_RESOLVE_IB_SERVICE = 23, /* this and the next: in new kernels only */
	RDMA_USER_CM_CMD_WRITE_CM_EVENT = 24,
};

struct rdma_ucm_cmd_hdr {
	__u32 cmd;
	__u16 in;  /* bytes behind this header */
	__u16 out; /* bytes at the response address */
};

/* CREATE_ID. uid comes back in each event of the id. */
struct rdma_ucm_create_id {
	__aligned_u64 uid;
	__aligned_u64 response;
	__u16 ps;
	__u8 qp_type;
	__u8 reserved[5];
};

struct rdma_ucm_create_id_resp {
	__u32 id;
};

/* DESTROY_ID, LEAVE_MCAST: how many events were read decides when its memory may go. */
struct rdma_ucm_destroy_id {
	__aligned_u64 response;
	__u32 id;
	__u32 reserved;
};

struct rdma_ucm_destroy_id_resp {
	__u32 events_reported;
};

/* BIND_IP, RESOLVE_IP: the older forms of the two that follow */
struct rdma_ucm_bind_ip {
	__aligned_u64 response; /* there is none */
	__u32 addr[7];
	__u32 id;
};

struct rdma_ucm_resolve_ip {
	__u32 src_addr[7]; /* zeroes: any source */
	__u32 dst_addr[7];
	__u32 id;
	__u32 timeout_ms;
};

/* BIND */
struct rdma_ucm_bind {
	__u32 id;
	__u16 addr_size;
	__u16 reserved;
	struct __kernel_sockaddr_storage addr;
};

/* RESOLVE_ADDR. src_size 0: any source */
struct rdma_ucm_resolve_addr {
	__u32 id;
	__u32 timeout_ms;
	__u16 src_size;
	__u16 dst_size;
	__u32 reserved;
	struct __kernel_sockaddr_storage src_addr;
	struct __kernel_sockaddr_storage dst_addr;
};

/* RESOLVE_ROUTE */
struct rdma_ucm_resolve_route {
	__u32 id;
	__u32 timeout_ms;
};

/* QUERY: what is asked for */
enum {
	RDMA_USER_CM_QUERY_ADDR,
	RDMA_USER_CM_QUERY_PATH,
	RDMA_USER_CM_QUERY_GID,
	RDMA_USER_CM_QUERY_IB_SERVICE,
};

struct rdma_ucm_query {
	__aligned_u64 response;
	__u32 id;
	__u32 option;
};

/* QUERY_ROUTE: the older form of the three, with the bytes of a struct sockaddr_in6 or sockaddr_in
 * each */
struct rdma_ucm_query_route_resp {
	__aligned_u64 node_guid;
	struct ib_user_path_rec ib_route[2];
	__u32 src_addr[7];
	__u32 dst_addr[7];
	__u32 num_paths;
	__u8 port_num;
	__u8 reserved[3];
	__u32 ibdev_index;
	__u32 reserved1;
};

/* QUERY_ADDR, QUERY_GID (with AF_IB addresses). node_guid is big-endian, 0 while no device is
 * bound; ibdev_index came with Linux 5.7. */
struct rdma_ucm_query_addr_resp {
	__aligned_u64 node_guid;
	__u8 port_num;
	__u8 reserved;
	__u16 pkey;
	__u16 src_size;
	__u16 dst_size;
	struct __kernel_sockaddr_storage src_addr;
	struct __kernel_sockaddr_storage dst_addr;
	__u32 ibdev_index;
	__u32 reserved1;
};

/* QUERY_PATH */
struct rdma_ucm_query_path_resp {
	__u32 num_paths;
	__u32 reserved;
	struct ib_path_rec_data path_data[];
};

/* QUERY_IB_SERVICE: as many records as there is room for */
struct rdma_ucm_query_ib_service_resp {
	__u32 num_service_recs;
	__u32 reserved;
	struct ib_user_service_rec recs[];
};

/* CONNECT, ACCEPT and the events of a connection */
struct rdma_ucm_conn_param {
	__u32 qp_num;
	__u32 qkey;
	__u8 private_data[RDMA_MAX_PRIVATE_DATA];
	__u8 private_data_len;
	__u8 srq;
	__u8 responder_resources;
	__u8 initiator_depth;
	__u8 flow_control;
	__u8 retry_count;
	__u8 rnr_retry_count;
	__u8 valid; /* 0 in ACCEPT: no parameters, the connection is complete */
};

/* Events of datagram ids */
struct rdma_ucm_ud_param {
	__u32 qp_num;
	__u32 qkey;
	struct ib_uverbs_ah_attr ah_attr;
	__u8 private_data[RDMA_MAX_PRIVATE_DATA];
	__u8 private_data_len;
	__u8 reserved[7];
};

/* Enhanced connection establishment; the kernel takes commands without it */
struct rdma_ucm_ece {
	__u32 vendor_id;
	__u32 attr_mod;
};

struct rdma_ucm_connect {
	struct rdma_ucm_conn_param conn_param;
	__u32 id;
	__u32 reserved;
	struct rdma_ucm_ece ece;
};

/* LISTEN */
struct rdma_ucm_listen {
	__u32 id;
	__u32 backlog;
};

/* ACCEPT. uid as in CREATE_ID: the kernel has made this id. */
struct rdma_ucm_accept {
	__aligned_u64 uid;
	struct rdma_ucm_conn_param conn_param;
	__u32 id;
	__u32 reserved;
	struct rdma_ucm_ece ece;
};

/* REJECT */
struct rdma_ucm_reject {
	__u32 id;
	__u8 private_data_len;
	__u8 reason;
	__u8 reserved[2];
	__u8 private_data[RDMA_MAX_PRIVATE_DATA];
};

/* DISCONNECT */
struct rdma_ucm_disconnect {
	__u32 id;
};

/* INIT_QP_ATTR: the response is a struct ib_uverbs_qp_attr */
struct rdma_ucm_init_qp_attr {
	__aligned_u64 response;
	__u32 id;
	__u32 qp_state;
};

/* NOTIFY: an asynchronous event of the QP, enum ib_event_type */
struct rdma_ucm_notify {
	__u32 id;
	__u32 event;
};

/* JOIN_IP_MCAST: the older form of the one that follows */
struct rdma_ucm_join_ip_mcast {
	__aligned_u64 response;
	__aligned_u64 uid;
	__u32 addr[7];
	__u32 id;
};

/* JOIN_MCAST: the response is a struct rdma_ucm_create_id_resp, a number for LEAVE_MCAST */
struct rdma_ucm_join_mcast {
	__aligned_u64 response;
	__aligned_u64 uid;
	__u32 id;
	__u16 addr_size;
	__u16 join_flags;
	struct __kernel_sockaddr_storage addr;
};

/* GET_EVENT: waits for one unless the descriptor is non-blocking */
struct rdma_ucm_get_event {
	__aligned_u64 response;
};

struct rdma_ucm_event_resp {
	__aligned_u64 uid;
	__u32 id;
	__u32 event;
	__u32 status;
	union { /* at 4 modulo 8: nothing in it may be wider than 4 bytes */
		struct rdma_ucm_conn_param conn;
		struct rdma_ucm_ud_param ud;
	} param;
	__u32 reserved;
	struct rdma_ucm_ece ece;
};

/* SET_OPTION */
struct rdma_ucm_set_option {
	__aligned_u64 optval;
	__u32 id;
	__u32 level;
	__u32 optname;
	__u32 optlen;
};

/* MIGRATE_ID: sent on the new channel; fd is the old one */
struct rdma_ucm_migrate_id {
	__aligned_u64 response;
	__u32 id;
	__u32 fd;
};

struct rdma_ucm_migrate_resp {
	__u32 events_reported;
};

/* RESOLVE_IB_SERVICE: ask the subnet's administration; an event tells that QUERY has the answer */
enum { RDMA_USER_CM_IB_SERVICE_FLAG_ID = 1 << 0, RDMA_USER_CM_IB_SERVICE_FLAG_NAME = 1 << 1 };

#define RDMA_USER_CM_IB_SERVICE_NAME_SIZE 64

struct rdma_ucm_ib_service {
	__aligned_u64 service_id;
	__u8 service_name[RDMA_USER_CM_IB_SERVICE_NAME_SIZE];
	__u32 flags; /* which of them counts */
	__u32 reserved;
};

struct rdma_ucm_resolve_ib_service {
	__u32 id;
	__u32 reserved;
	struct rdma_ucm_ib_service ibs;
};

/* WRITE_CM_EVENT: an event of the program's own on the id's file */
struct rdma_ucm_write_cm_event {
	__u32 id;
	__u32 reserved;
	__u32 event;
	__u32 status;
	union {
		struct rdma_ucm_conn_param conn;
		struct rdma_ucm_ud_param ud;
		__u64 arg;
	} param;
};

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Connections between queue pairs, set up by IP address (or GID) and port, as for sockets.
 *
 * A struct rdma_cm_id is one end of a connection: create it, resolve an address and a route (or
 * bind and listen), create its QP, connect (or accept). Steps that take time report by an event on
 * the id's channel. An id created without a channel (NULL) has its own, and its calls wait for the
 * event, which is then id->event. Calls return 0, or -1 with errno set; calls that return a pointer
 * return NULL with errno set. Several threads may read one channel; only one thread at a time may
 * use an id.
 */
#ifndef RDMA_CMA_H
#define RDMA_CMA_H

#include <infiniband/sa.h>
#include <infiniband/verbs.h>
#include <netinet/in.h>
#include <sys/socket.h>

#ifdef __cplusplus
extern "C" {
#endif

enum rdma_cm_event_type {
	RDMA_CM_EVENT_ADDR_RESOLVED,
	RDMA_CM_EVENT_ADDR_ERROR,
	RDMA_CM_EVENT_ROUTE_RESOLVED,
	RDMA_CM_EVENT_ROUTE_ERROR,
	RDMA_CM_EVENT_CONNECT_REQUEST,  /* id is new; listen_id is the listener */
	RDMA_CM_EVENT_CONNECT_RESPONSE, /* for an id without a QP: see rdma_establish() */
	RDMA_CM_EVENT_CONNECT_ERROR,
	RDMA_CM_EVENT_UNREACHABLE,
	RDMA_CM_EVENT_REJECTED, /* status is the reason: IBTA vol 1, 12.6.7.2 */
	RDMA_CM_EVENT_ESTABLISHED,
	RDMA_CM_EVENT_DISCONNECTED,
	RDMA_CM_EVENT_DEVICE_REMOVAL,
	RDMA_CM_EVENT_MULTICAST_JOIN,
	RDMA_CM_EVENT_MULTICAST_ERROR,
	RDMA_CM_EVENT_ADDR_CHANGE,
	RDMA_CM_EVENT_TIMEWAIT_EXIT,
	RDMA_CM_EVENT_ADDRINFO_RESOLVED,
	RDMA_CM_EVENT_ADDRINFO_ERROR,
	RDMA_CM_EVENT_USER, /* from rdma_write_cm_event() */
	RDMA_CM_EVENT_INTERNAL
};

/* Port spaces (IBTA vol 1, annex A11): TCP is for connections, UDP and IPOIB for datagrams, IB for
 * any service. */
enum rdma_port_space {
	RDMA_PS_IPOIB = 0x0002,
	RDMA_PS_TCP = 0x0106,
	RDMA_PS_UDP = 0x0111,
	RDMA_PS_IB = 0x013F
};

/* Parts of an AF_IB address's sib_sid: the port space, and the port in the low bits. */
#define RDMA_IB_IP_PS_MASK   0xFFFFFFFFFFFF0000ULL
#define RDMA_IB_IP_PORT_MASK 0x000000000000FFFFULL
#define RDMA_IB_IP_PS_TCP    0x0000000001060000ULL
#define RDMA_IB_IP_PS_UDP    0x0000000001110000ULL
#define RDMA_IB_PS_IB        0x00000000013F0000ULL

/* Q_Key of datagram ids. */
#define RDMA_UDP_QKEY 0x01234567

struct rdma_ib_addr {
	union ibv_gid sgid;
	union ibv_gid dgid;
	__be16 pkey;
};

struct rdma_addr {
	union {
		struct sockaddr src_addr;
		struct sockaddr_in src_sin;
		struct sockaddr_in6 src_sin6;
		struct sockaddr_storage src_storage;
	};
	union {
		struct sockaddr dst_addr;
		struct sockaddr_in dst_sin;
		struct sockaddr_in6 dst_sin6;
		struct sockaddr_storage dst_storage;
	};
	union {
		struct rdma_ib_addr ibaddr;
	} addr;
};

struct rdma_route {
	struct rdma_addr addr;
	struct ibv_sa_path_rec *path_rec; /* num_paths entries, once the route is resolved */
	int num_paths;
};

struct rdma_event_channel {
	int fd; /* readable if there is an event; may be made non-blocking */
};

/* An id. Which fields are set depends on its state. Programs may read all fields, and write context
 * and qp. */
struct rdma_cm_id {
	struct ibv_context *verbs; /* context of the device, shared by all its ids */
	struct rdma_event_channel *channel;
	void *context; /* for the program's use */
	struct ibv_qp *qp;
	struct rdma_route route;
	enum rdma_port_space ps;
	uint8_t port_num;
	/* ids without a channel: the event of the last call */
	struct rdma_cm_event *event;
	struct ibv_comp_channel *send_cq_channel;
	struct ibv_cq *send_cq;
	struct ibv_comp_channel *recv_cq_channel;
	struct ibv_cq *recv_cq;
	struct ibv_srq *srq;
	struct ibv_pd *pd;
	enum ibv_qp_type qp_type;
};

/* Values of responder_resources and initiator_depth: the maximum that device and request allow. */
enum { RDMA_MAX_RESP_RES = 0xFF, RDMA_MAX_INIT_DEPTH = 0xFF };

/* Parameters of rdma_connect() and rdma_accept(), and of connection events. Private data of an
 * event is freed with the event. srq and qp_num are used only if the id has no QP. */
struct rdma_conn_param {
	const void *private_data;
	uint8_t private_data_len;
	uint8_t responder_resources; /* READs and atomics that this side serves at a time */
	uint8_t initiator_depth;     /* READs and atomics that this side has outstanding */
	uint8_t flow_control;
	uint8_t retry_count;     /* ignored by rdma_accept() */
	uint8_t rnr_retry_count; /* 7: without limit */
	uint8_t srq;
	uint32_t qp_num;
};

/* Parameters of a datagram id's events: how to reach the peer. */
struct rdma_ud_param {
	const void *private_data;
	uint8_t private_data_len;
	struct ibv_ah_attr ah_attr;
	uint32_t qp_num;
	uint32_t qkey;
};

struct rdma_cm_event {
	struct rdma_cm_id *id;
	struct rdma_cm_id *listen_id; /* set in a CONNECT_REQUEST */
	enum rdma_cm_event_type event;
	int status; /* 0, a negative errno, or the CM's reason */
	union {
		struct rdma_conn_param conn;
		struct rdma_ud_param ud;
		uint64_t arg; /* RDMA_CM_EVENT_USER */
	} param;
};

/* Values of ai_flags. */
#define RAI_PASSIVE     0x00000001 /* an address to listen on */
#define RAI_NUMERICHOST 0x00000002
#define RAI_NOROUTE     0x00000004 /* do not ask for a route */
#define RAI_FAMILY      0x00000008 /* numeric addresses have the family ai_family */
#define RAI_SA          0x00000010 /* rdma_resolve_addrinfo(): query the subnet's administration */
#define RAI_DNS         0x00000020 /* rdma_resolve_addrinfo(): resolve names */

/* Like struct addrinfo, with the addresses of both ends and the route between them. */
struct rdma_addrinfo {
	int ai_flags;
	int ai_family;
	int ai_qp_type;    /* enum ibv_qp_type */
	int ai_port_space; /* enum rdma_port_space */
	socklen_t ai_src_len;
	socklen_t ai_dst_len;
	struct sockaddr *ai_src_addr;
	struct sockaddr *ai_dst_addr;
	char *ai_src_canonname;
	char *ai_dst_canonname;
	size_t ai_route_len;
	void *ai_route; /* struct ibv_path_data[] */
	size_t ai_connect_len;
	void *ai_connect; /* private data required in the connection request */
	struct rdma_addrinfo *ai_next;
};

enum rdma_cm_join_mc_attr_mask {
	RDMA_CM_JOIN_MC_ATTR_ADDRESS = 1 << 0,
	RDMA_CM_JOIN_MC_ATTR_JOIN_FLAGS = 1 << 1,
	RDMA_CM_JOIN_MC_ATTR_RESERVED = 1 << 2
};

enum rdma_cm_mc_join_flags {
	RDMA_MC_JOIN_FLAG_FULLMEMBER,
	RDMA_MC_JOIN_FLAG_SENDONLY_FULLMEMBER,
	RDMA_MC_JOIN_FLAG_RESERVED
};

struct rdma_cm_join_mc_attr_ex {
	uint32_t comp_mask;  /* enum rdma_cm_join_mc_attr_mask */
	uint32_t join_flags; /* enum rdma_cm_mc_join_flags */
	struct sockaddr *addr;
};

/* ---- channels and events ---- */

struct rdma_event_channel *rdma_create_event_channel(void);
/* Destroy the channel's ids and acknowledge its events first. */
void rdma_destroy_event_channel(struct rdma_event_channel *channel);

/* Waits for an event, or fails with EAGAIN if the descriptor is non-blocking. Acknowledging an
 * event frees it; destroying its id waits for the acknowledgement. */
int rdma_get_cm_event(struct rdma_event_channel *channel, struct rdma_cm_event **event);
int rdma_ack_cm_event(struct rdma_cm_event *event);
/* Returns the name of the enumerator. */
const char *rdma_event_str(enum rdma_cm_event_type event);
/* Puts an event RDMA_CM_EVENT_USER on the id's channel. */
int rdma_write_cm_event(struct rdma_cm_id *id, enum rdma_cm_event_type event, int status,
			uint64_t arg);

/* ---- ids ---- */

int rdma_create_id(struct rdma_event_channel *channel, struct rdma_cm_id **id, void *context,
		   enum rdma_port_space ps);
/* Destroy the id's QP first. */
int rdma_destroy_id(struct rdma_cm_id *id);
/* Creates an id for RES. An active id is resolved, ready to connect, and has a QP if QP_INIT_ATTR
 * is given. A passive id is bound; PD and QP_INIT_ATTR are used for the ids that rdma_get_request()
 * returns. */
int rdma_create_ep(struct rdma_cm_id **id, struct rdma_addrinfo *res, struct ibv_pd *pd,
		   struct ibv_qp_init_attr *qp_init_attr);
/* Destroys the id with its QP and SRQ. */
void rdma_destroy_ep(struct rdma_cm_id *id);
/* Moves the id to CHANNEL. NULL: its calls wait from now on. */
int rdma_migrate_id(struct rdma_cm_id *id, struct rdma_event_channel *channel);

int rdma_bind_addr(struct rdma_cm_id *id, struct sockaddr *addr);
int rdma_resolve_addr(struct rdma_cm_id *id, struct sockaddr *src_addr, struct sockaddr *dst_addr,
		      int timeout_ms);
int rdma_resolve_route(struct rdma_cm_id *id, int timeout_ms);

/* Return the port in network byte order, or 0 if there is none. */
__be16 rdma_get_src_port(struct rdma_cm_id *id);
__be16 rdma_get_dst_port(struct rdma_cm_id *id);

static inline struct sockaddr *rdma_get_local_addr(struct rdma_cm_id *id)
{
	return &id->route.addr.src_addr;
}

static inline struct sockaddr *rdma_get_peer_addr(struct rdma_cm_id *id)
{
	return &id->route.addr.dst_addr;
}

enum { RDMA_OPTION_ID = 0, RDMA_OPTION_IB = 1 };

/* Options of level RDMA_OPTION_ID. Their types are uint8_t, int, int and uint8_t. */
enum {
	RDMA_OPTION_ID_TOS = 0,
	RDMA_OPTION_ID_REUSEADDR = 1,
	RDMA_OPTION_ID_AFONLY = 2,
	RDMA_OPTION_ID_ACK_TIMEOUT = 3 /* 4.096 us * 2^value */
};

/* Option of level RDMA_OPTION_IB, an array of struct ibv_path_data. */
enum { RDMA_OPTION_IB_PATH = 1 };

int rdma_set_option(struct rdma_cm_id *id, int level, int optname, void *optval, size_t optlen);

/* ---- queue pairs ---- */

/* Creates the id's QP. PD NULL: the device's default PD. Missing CQs are created, each with a
 * channel. The QP is then ready for receives, and a datagram QP also for sends; connecting moves it
 * on. */
int rdma_create_qp(struct rdma_cm_id *id, struct ibv_pd *pd, struct ibv_qp_init_attr *qp_init_attr);
int rdma_create_qp_ex(struct rdma_cm_id *id, struct ibv_qp_init_attr_ex *qp_init_attr);
void rdma_destroy_qp(struct rdma_cm_id *id);
/* Fills in the attributes that move the program's own QP to qp_attr->qp_state. */
int rdma_init_qp_attr(struct rdma_cm_id *id, struct ibv_qp_attr *qp_attr, int *qp_attr_mask);

/* ---- connections ---- */

int rdma_connect(struct rdma_cm_id *id, struct rdma_conn_param *conn_param);
/* Completes the connection of an id without a QP, after CONNECT_RESPONSE. */
int rdma_establish(struct rdma_cm_id *id);
int rdma_listen(struct rdma_cm_id *id, int backlog);
/* Waits for the next request to a listening id that was created without a channel. */
int rdma_get_request(struct rdma_cm_id *listen, struct rdma_cm_id **id);
int rdma_accept(struct rdma_cm_id *id, struct rdma_conn_param *conn_param);
int rdma_reject(struct rdma_cm_id *id, const void *private_data, uint8_t private_data_len);
/* Rejects a request because its ECE offer is not acceptable. */
int rdma_reject_ece(struct rdma_cm_id *id, const void *private_data, uint8_t private_data_len);
/* Tells the library that a QP unknown to it had IBV_EVENT_COMM_EST: data has arrived before the
 * RTU. */
int rdma_notify(struct rdma_cm_id *id, enum ibv_event_type event);
int rdma_disconnect(struct rdma_cm_id *id);

int rdma_set_local_ece(struct rdma_cm_id *id, struct ibv_ece *ece);
int rdma_get_remote_ece(struct rdma_cm_id *id, struct ibv_ece *ece);

/* ---- multicast ---- */

/* Join a group. The event RDMA_CM_EVENT_MULTICAST_JOIN has the parameters for sending to the group
 * in param.ud; the id's QP receives from the group. */
int rdma_join_multicast(struct rdma_cm_id *id, struct sockaddr *addr, void *context);
int rdma_join_multicast_ex(struct rdma_cm_id *id, struct rdma_cm_join_mc_attr_ex *mc_join_attr,
			   void *context);
int rdma_leave_multicast(struct rdma_cm_id *id, struct sockaddr *addr);

/* ---- devices and addresses ---- */

/* Returns the contexts of all devices, ended by NULL. Ids use the same contexts. */
struct ibv_context **rdma_get_devices(int *num_devices);
void rdma_free_devices(struct ibv_context **list);

/* Returns 0 or an EAI_ number, like getaddrinfo(), with the closest errno set; or -1 with errno for
 * a failure that is not about names. */
int rdma_getaddrinfo(const char *node, const char *service, const struct rdma_addrinfo *hints,
		     struct rdma_addrinfo **res);
void rdma_freeaddrinfo(struct rdma_addrinfo *res);
/* Resolve names and services like rdma_getaddrinfo(), but report the result by an event of the id:
 * after ADDRINFO_RESOLVED, rdma_query_addrinfo() returns the list. */
int rdma_resolve_addrinfo(struct rdma_cm_id *id, const char *node, const char *service,
			  const struct rdma_addrinfo *hints);
int rdma_query_addrinfo(struct rdma_cm_id *id, struct rdma_addrinfo **info);

#ifdef __cplusplus
}
#endif

#endif

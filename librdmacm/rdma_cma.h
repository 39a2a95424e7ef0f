/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Connections between queue pairs, set up by IP address (or GID) and port as sockets are.
 *
 * A struct rdma_cm_id stands for one end: create it, resolve an address and a route (or bind and
 * listen), create its QP, connect (or accept). Steps that take time report by an event of the id's
 * channel; an id without a channel (NULL) has one of its own, and its calls wait for the event,
 * which is then id->event. Calls return 0, or -1 with errno; those that return a pointer, NULL with
 * errno. One channel may be read by several threads; one id is for one thread at a time.
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
	RDMA_CM_EVENT_CONNECT_REQUEST,  /* id is a new one; listen_id is the listener's */
	RDMA_CM_EVENT_CONNECT_RESPONSE, /* for an id without a QP: see rdma_establish() */
	RDMA_CM_EVENT_CONNECT_ERROR,
	RDMA_CM_EVENT_UNREACHABLE,
	RDMA_CM_EVENT_REJECTED, /* status is the CM's reason: IBTA vol 1, 12.6.7.2 */
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

/* A port space says which ports are meant (IBTA vol 1, annex A11): TCP's are for connections,
 * UDP's and IPOIB's for datagrams, IB's for any service. */
enum rdma_port_space {
	RDMA_PS_IPOIB = 0x0002,
	RDMA_PS_TCP = 0x0106,
	RDMA_PS_UDP = 0x0111,
	RDMA_PS_IB = 0x013F
};

/* sib_sid of an AF_IB address has a port space, and a port in the low bits. */
#define RDMA_IB_IP_PS_MASK   0xFFFFFFFFFFFF0000ULL
#define RDMA_IB_IP_PORT_MASK 0x000000000000FFFFULL
#define RDMA_IB_IP_PS_TCP    0x0000000001060000ULL
#define RDMA_IB_IP_PS_UDP    0x0000000001110000ULL
#define RDMA_IB_PS_IB        0x00000000013F0000ULL

/* Datagram ids have this Q_Key. */
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
	struct ibv_sa_path_rec *path_rec; /* has num_paths entries, once the route is resolved */
	int num_paths;
};

struct rdma_event_channel {
	int fd; /* readable when there is an event; may be made non-blocking */
};

/* Which fields are set depends on how far the id is. Programs read them, and may write context
 * and qp. */
struct rdma_cm_id {
	struct ibv_context *verbs; /* of the device that the id is bound to; all its ids share it */
	struct rdma_event_channel *channel;
	void *context; /* whatever the program wants to find here */
	struct ibv_qp *qp;
	struct rdma_route route;
	enum rdma_port_space ps;
	uint8_t port_num;
	/* the event of the last call, of an id that was made without a channel */
	struct rdma_cm_event *event;
	struct ibv_comp_channel *send_cq_channel;
	struct ibv_cq *send_cq;
	struct ibv_comp_channel *recv_cq_channel;
	struct ibv_cq *recv_cq;
	struct ibv_srq *srq;
	struct ibv_pd *pd;
	enum ibv_qp_type qp_type;
};

/* In responder_resources and initiator_depth these mean: as many as the device and the request
 * allow. */
enum { RDMA_MAX_RESP_RES = 0xFF, RDMA_MAX_INIT_DEPTH = 0xFF };

/* rdma_connect() and rdma_accept() take these parameters, and events of connections have them.
 * Private data belongs to the event and is freed with it. srq and qp_num matter only where the
 * id has no QP. */
struct rdma_conn_param {
	const void *private_data;
	uint8_t private_data_len;
	uint8_t responder_resources; /* READs and atomics that this side answers at a time */
	uint8_t initiator_depth;     /* READs and atomics that this side has outstanding */
	uint8_t flow_control;
	uint8_t retry_count;     /* rdma_accept() ignores it */
	uint8_t rnr_retry_count; /* 7 means for ever */
	uint8_t srq;
	uint32_t qp_num;
};

/* Events of datagram ids say how to reach the other side. */
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
	int status; /* 0, a negative errno, or a reason of the CM */
	union {
		struct rdma_conn_param conn;
		struct rdma_ud_param ud;
		uint64_t arg; /* RDMA_CM_EVENT_USER */
	} param;
};

/* Flags of ai_flags. */
#define RAI_PASSIVE     0x00000001 /* an address to listen on */
#define RAI_NUMERICHOST 0x00000002
#define RAI_NOROUTE     0x00000004 /* do not ask for a route */
#define RAI_FAMILY      0x00000008 /* numeric addresses are of ai_family */
#define RAI_SA          0x00000010 /* rdma_resolve_addrinfo(): ask the subnet's administration */
#define RAI_DNS         0x00000020 /* rdma_resolve_addrinfo(): ask for names */

/* Like struct addrinfo, but with the addresses of both ends and the route between them. */
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
	void *ai_connect; /* private data that the connection request needs */
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
/* The channel's ids must be destroyed and its events acknowledged before. */
void rdma_destroy_event_channel(struct rdma_event_channel *channel);

/* Waits for an event unless the descriptor is non-blocking (EAGAIN). Each event must be
 * acknowledged, which frees it; destroying an id waits for that. */
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
/* The id's QP must be destroyed before. */
int rdma_destroy_id(struct rdma_cm_id *id);
/* Makes an id for RES. An active one is resolved, ready to connect, and has a QP when QP_INIT_ATTR
 * is given. A passive one is bound; PD and QP_INIT_ATTR are then for the ids that
 * rdma_get_request() returns. */
int rdma_create_ep(struct rdma_cm_id **id, struct rdma_addrinfo *res, struct ibv_pd *pd,
		   struct ibv_qp_init_attr *qp_init_attr);
/* Destroys the id with its QP and SRQ. */
void rdma_destroy_ep(struct rdma_cm_id *id);
/* If CHANNEL is NULL, the id's calls wait from now on. */
int rdma_migrate_id(struct rdma_cm_id *id, struct rdma_event_channel *channel);

int rdma_bind_addr(struct rdma_cm_id *id, struct sockaddr *addr);
int rdma_resolve_addr(struct rdma_cm_id *id, struct sockaddr *src_addr, struct sockaddr *dst_addr,
		      int timeout_ms);
int rdma_resolve_route(struct rdma_cm_id *id, int timeout_ms);

/* The port is in network byte order, and 0 while there is none. */
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

/* Options of level RDMA_OPTION_ID have values of type uint8_t, int, int and uint8_t. */
enum {
	RDMA_OPTION_ID_TOS = 0,
	RDMA_OPTION_ID_REUSEADDR = 1,
	RDMA_OPTION_ID_AFONLY = 2,
	RDMA_OPTION_ID_ACK_TIMEOUT = 3 /* 4.096 us * 2^value */
};

/* The option of level RDMA_OPTION_IB is a struct ibv_path_data[]. */
enum { RDMA_OPTION_IB_PATH = 1 };

int rdma_set_option(struct rdma_cm_id *id, int level, int optname, void *optval, size_t optlen);

/* ---- queue pairs ---- */

/* If PD is NULL, the device's default PD is used. CQs that are not given are made, each with a
 * channel. The QP is then ready for receives, a datagram QP also for sends; connecting takes it
 * further. */
int rdma_create_qp(struct rdma_cm_id *id, struct ibv_pd *pd, struct ibv_qp_init_attr *qp_init_attr);
int rdma_create_qp_ex(struct rdma_cm_id *id, struct ibv_qp_init_attr_ex *qp_init_attr);
void rdma_destroy_qp(struct rdma_cm_id *id);
/* Fills in the attributes by which a QP of one's own gets to qp_attr->qp_state. */
int rdma_init_qp_attr(struct rdma_cm_id *id, struct ibv_qp_attr *qp_attr, int *qp_attr_mask);

/* ---- connections ---- */

int rdma_connect(struct rdma_cm_id *id, struct rdma_conn_param *conn_param);
/* Completes the connection of an id without a QP after CONNECT_RESPONSE. */
int rdma_establish(struct rdma_cm_id *id);
int rdma_listen(struct rdma_cm_id *id, int backlog);
/* Waits for the next request to a listening id that was made without a channel. */
int rdma_get_request(struct rdma_cm_id *listen, struct rdma_cm_id **id);
int rdma_accept(struct rdma_cm_id *id, struct rdma_conn_param *conn_param);
int rdma_reject(struct rdma_cm_id *id, const void *private_data, uint8_t private_data_len);
/* Rejects a request because the ECE that was offered does not suit. */
int rdma_reject_ece(struct rdma_cm_id *id, const void *private_data, uint8_t private_data_len);
/* Tells the library of IBV_EVENT_COMM_EST on a QP that it does not know: data has come before the
 * RTU. */
int rdma_notify(struct rdma_cm_id *id, enum ibv_event_type event);
int rdma_disconnect(struct rdma_cm_id *id);

int rdma_set_local_ece(struct rdma_cm_id *id, struct ibv_ece *ece);
int rdma_get_remote_ece(struct rdma_cm_id *id, struct ibv_ece *ece);

/* ---- multicast ---- */

/* The event RDMA_CM_EVENT_MULTICAST_JOIN tells in param.ud how to send to the group; the id's QP
 * receives from it. */
int rdma_join_multicast(struct rdma_cm_id *id, struct sockaddr *addr, void *context);
int rdma_join_multicast_ex(struct rdma_cm_id *id, struct rdma_cm_join_mc_attr_ex *mc_join_attr,
			   void *context);
int rdma_leave_multicast(struct rdma_cm_id *id, struct sockaddr *addr);

/* ---- devices and addresses ---- */

/* Returns all devices, opened, with NULL at the end. Their contexts are those that ids have. */
struct ibv_context **rdma_get_devices(int *num_devices);
void rdma_free_devices(struct ibv_context **list);

/* Returns, like getaddrinfo(), 0 or an EAI_ number, with errno set to what comes next to it; -1 and
 * errno where the failure is not one of names. */
int rdma_getaddrinfo(const char *node, const char *service, const struct rdma_addrinfo *hints,
		     struct rdma_addrinfo **res);
void rdma_freeaddrinfo(struct rdma_addrinfo *res);
/* The same by events of an id: after ADDRINFO_RESOLVED, rdma_query_addrinfo() hands the answer
 * out. */
int rdma_resolve_addrinfo(struct rdma_cm_id *id, const char *node, const char *service,
			  const struct rdma_addrinfo *hints);
int rdma_query_addrinfo(struct rdma_cm_id *id, struct rdma_addrinfo **info);

#ifdef __cplusplus
}
#endif

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * ucma.h - emulation of the kernel's rdma_ucm and connection manager: ids, their events, and
 * connections.
 *
 * A program's file is the reading end of a pipe, with one byte for each waiting event, so that
 * poll() works; its write() calls are trapped, and carry the commands of <rdma/rdma_user_cm.h>.
 * Ids, even of one process, connect by CM datagrams (cm.h). All of it runs in the notification
 * thread.
 */
#ifndef SOFTHCA_FRONT_PROCESS_UCMA_UCMA_H
#define SOFTHCA_FRONT_PROCESS_UCMA_UCMA_H

#include <errno.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/rdma_user_cm.h>

#include "softhca/front/process/program/caller.h"
#include "softhca/front/process/program/credentials.h"
#include "softhca/front/process/deferred.h"
#include "softhca/front/process/notify.h"
#include "softhca/front/process/cm/cm.h"
#include "softhca/front/process/ucma/addr.h"
#include "softhca/front/process/ucma/resolve.h"
#include "softhca/front/process/watch.h"
#include "softhca/net/service.h"

struct adapter;
struct client;
struct daemon;
struct ucma_id;
struct ucma_mcast;

enum {
	UCMA_MISC_MAJOR = 10, /* major number of misc devices: MISC_MAJOR in <linux/major.h> */
	UCMA_MISC_MINOR = 120,
	PS_IPOIB = 0x0002,
	PS_IB = 0x013f,
	PS_TCP = 0x0106,
	PS_UDP = 0x0111,
	/* Q_Key of datagram ids, unless their addresses are GIDs: RDMA_UDP_QKEY of
	 * <rdma/rdma_cma.h> */
	UCMA_QKEY = 0x01234567,
};

/* Values of enum rdma_cm_event_type in <rdma/rdma_cma.h>. */
enum ucma_event_type {
	EV_ADDR_RESOLVED = 0,
	EV_ADDR_ERROR = 1,
	EV_ROUTE_RESOLVED = 2,
	EV_ROUTE_ERROR = 3,
	EV_CONNECT_REQUEST = 4,
	EV_CONNECT_RESPONSE = 5,
	EV_UNREACHABLE = 7,
	EV_REJECTED = 8,
	EV_ESTABLISHED = 9,
	EV_DISCONNECTED = 10,
	EV_DEVICE_REMOVAL = 11,
	EV_MULTICAST_JOIN = 12,
	EV_TIMEWAIT_EXIT = 15,
	EV_ADDRINFO_RESOLVED = 16,
	EV_ADDRINFO_ERROR = 17,
};

struct ucma_event {
	STAILQ_ENTRY(ucma_event) entry;
	/* Id of the event. id and mcast count the events that the program has read: destroying the
	 * id or leaving the group waits for as many acknowledgements. */
	struct ucma_id *id;
	struct ucma_mcast *mcast;
	/* id that a connection request has made; NULL if that id is destroyed */
	struct ucma_id *request;
	struct rdma_ucm_event_resp resp;
};

/* A thread that waits in GET_EVENT of a blocking file. */
struct ucma_waiter {
	STAILQ_ENTRY(ucma_waiter) entry;
	struct deferred_call call;
	uint64_t response;
	uint16_t room;
	int64_t result; /* value that the waiting write() returns */
};

struct ucma_file {
	struct watch watch; /* our end of the pipe; reports when the program's end is closed */
	LIST_ENTRY(ucma_file) in_all;
	struct daemon *daemon;
	/* Process that opened the file. As in Linux, only this process may write: a forked child,
	 * which has a copy of the descriptor, may not. The file holds a reference. */
	struct client *opener;
	struct credentials credentials;
	dev_t dev; /* with ino: identity of the program's end */
	ino_t ino;
	LIST_HEAD(, ucma_id) ids;
	STAILQ_HEAD(, ucma_event) events;
	/* Numbers of waiting events and of bytes in the pipe for them. They differ if the pipe was
	 * full, or if no descriptor was free to read a byte back. */
	unsigned int event_count, byte_count;
	unsigned int written_count; /* waiting events that the program has written */
	STAILQ_HEAD(, ucma_waiter) waiters;
};

void ucma_start(void);
void ucma_stop(void);
/* Returns the file with ST's device and inode, or NULL. */
struct ucma_file *ucma_file_find(const struct stat *st);

/* Makes an event of TYPE for ID, to be filled and sent. Returns NULL without memory, after logging
 * the loss. */
struct ucma_event *ucma_event_new(struct ucma_id *id, enum ucma_event_type type, int status);
void ucma_event_send(struct ucma_event *event);
void ucma_event_simple(struct ucma_id *id, enum ucma_event_type type, int status);
/* Removes the unread events of ID; if MCAST is not NULL, only the events of that group. */
void ucma_events_drop(struct ucma_id *id, struct ucma_mcast *mcast);
/* Moves ID with its unread events. Returns 0, or ENOMEM if TO would have too many that programs
 * have written. */
int ucma_events_move(struct ucma_id *id, struct ucma_file *to);
/* Makes EVENT and the id REQUEST, of a connection request, point to each other until either is
 * freed. */
void ucma_event_join(struct ucma_event *event, struct ucma_id *request);
void ucma_event_part(struct ucma_id *request);

void ucma_write(struct call *call);

struct ucma_call {
	struct call *call;
	struct ucma_file *file;
	struct rdma_ucm_cmd_hdr hdr;
	union {
		struct rdma_ucm_create_id create_id;
		struct rdma_ucm_destroy_id destroy_id;
		struct rdma_ucm_bind_ip bind_ip;
		struct rdma_ucm_bind bind;
		struct rdma_ucm_resolve_ip resolve_ip;
		struct rdma_ucm_resolve_addr resolve_addr;
		struct rdma_ucm_resolve_route resolve_route;
		struct rdma_ucm_query query;
		struct rdma_ucm_connect connect;
		struct rdma_ucm_listen listen;
		struct rdma_ucm_accept accept;
		struct rdma_ucm_reject reject;
		struct rdma_ucm_disconnect disconnect;
		struct rdma_ucm_init_qp_attr init_qp_attr;
		struct rdma_ucm_notify notify;
		struct rdma_ucm_join_ip_mcast join_ip_mcast;
		struct rdma_ucm_join_mcast join_mcast;
		struct rdma_ucm_get_event get_event;
		struct rdma_ucm_set_option set_option;
		struct rdma_ucm_migrate_id migrate_id;
		struct rdma_ucm_resolve_ib_service resolve_ib_service;
		struct rdma_ucm_write_cm_event write_cm_event;
	};
};

/* Writes the command's response. Returns ENOSPC if it does not fit. */
static inline int ucma_respond(struct ucma_call *uc, uint64_t addr, const void *data, size_t size)
{
	return uc->hdr.out < size ? ENOSPC : caller_write(uc->call, addr, data, size);
}

int ucma_id_create(struct ucma_call *uc);
int ucma_id_remove(struct ucma_call *uc);
int ucma_id_bind_ip(struct ucma_call *uc);
int ucma_id_bind(struct ucma_call *uc);
int ucma_id_resolve_ip(struct ucma_call *uc);
int ucma_id_resolve_addr(struct ucma_call *uc);
int ucma_id_resolve_route(struct ucma_call *uc);
int ucma_id_query(struct ucma_call *uc);
int ucma_id_query_route(struct ucma_call *uc);
int ucma_id_set_option(struct ucma_call *uc);
int ucma_id_migrate(struct ucma_call *uc);
int ucma_id_listen(struct ucma_call *uc);
int ucma_conn_connect(struct ucma_call *uc);
int ucma_conn_accept(struct ucma_call *uc);
int ucma_conn_reject(struct ucma_call *uc);
int ucma_conn_disconnect(struct ucma_call *uc);
int ucma_conn_init_qp_attr(struct ucma_call *uc);
int ucma_conn_notify(struct ucma_call *uc);
int ucma_mcast_join_ip(struct ucma_call *uc);
int ucma_mcast_join(struct ucma_call *uc);
int ucma_mcast_leave(struct ucma_call *uc);
int ucma_service_resolve(struct ucma_call *uc);
int ucma_event_get(struct ucma_call *uc);
int ucma_event_write(struct ucma_call *uc);

enum ucma_state {
	UCMA_IDLE,
	UCMA_BOUND,
	UCMA_LISTENS,
	UCMA_SERVICE_QUERY,
	UCMA_SERVICE_RESOLVED, /* has_dst is set: resolve the route next */
	UCMA_ADDR_QUERY,
	UCMA_ADDR_RESOLVED,
	UCMA_ROUTE_QUERY,
	UCMA_ROUTE_RESOLVED,
	UCMA_CONNECTS, /* connecting or connected; see conn */
	UCMA_DISCONNECTED,
};

struct ucma_id {
	LIST_ENTRY(ucma_id) in_file;
	LIST_ENTRY(ucma_id) in_all;
	LIST_ENTRY(ucma_id) in_bucket; /* list by number */
	LIST_ENTRY(ucma_id) in_listeners;
	struct ucma_file *file;
	uint32_t number;
	uint64_t uid; /* 0: the id was made by a request that is not accepted yet */
	uint16_t ps;
	uint8_t qp_type; /* enum ibv_qp_type */
	enum ucma_state state;
	bool has_src, has_dst;
	struct ucma_end src, dst;
	bool reuse_addr;
	/* listens to its own address family only; the program has set af_only */
	bool af_only, has_af_only;
	bool has_ack_timeout;
	uint8_t ack_timeout;
	uint8_t tos;
	/* number of requests that the listener still accepts; rises again when the program reads a
	 * request's event */
	int backlog;
	bool datagram; /* connects by service ID resolution (SIDR) */
	bool passive;  /* made by a connection request, so it shares the listener's port */
	/* Event of the request that made this id; NULL when the program has read it. Event and id
	 * may be freed in any order, so each clears the other's pointer. */
	struct ucma_event *told_by;
	struct cm_path path; /* valid from ROUTE_RESOLVED until connecting */
	struct cm_conn conn;
	struct resolution resolution;
	/* records that RESOLVE_IB_SERVICE has found; ucma_id_destroy() frees them */
	uint8_t (*services)[SERVICE_RECORD_SIZE];
	unsigned int num_services;
	uint32_t events_reported;
	unsigned int events_waiting; /* in the file's queue */
	unsigned int events_written; /* those of them that the program has written */
	LIST_HEAD(, ucma_mcast) mcasts;
};

/* Returns the adapter that the id is bound to, or NULL. */
static inline struct adapter *ucma_id_adapter(const struct ucma_id *id)
{
	return id->has_src ? id->src.adapter : NULL;
}

/* Creates an id. Returns 0 or ENOMEM. */
int ucma_id_new(struct ucma_file *file, struct ucma_id **id);
void ucma_id_destroy(struct ucma_id *id);
void ucma_id_adapter_died(struct adapter *adapter);

void ucma_id_number(struct ucma_id *id);
void ucma_id_unnumber(struct ucma_id *id);
/* Returns the id of any file, or NULL. */
struct ucma_id *ucma_id_of_number(uint32_t number);
/* Finds an id of the file. Returns ENOENT if there is none. */
int ucma_id_find(struct ucma_call *uc, uint32_t number, struct ucma_id **id);
/* Returns the id after ID in the list of all ids, the first id if ID is NULL, or NULL at the
 * end. */
struct ucma_id *ucma_id_next(struct ucma_id *id);
/* Returns a random number; with --seed a reproducible one. */
uint32_t ucma_random(const struct daemon *daemon);

/* Binds ID to ADDR for thread TID, and to a free port if ADDR has none. Returns EINVAL if it is
 * bound already. */
int ucma_bind_to(struct ucma_id *id, const struct sockaddr_storage *addr, pid_t tid);
/* Checks a service ID that the program chose: it must belong to the id's port space (else
 * EPROTONOSUPPORT); PS_IB allows any. */
int ucma_bind_take_service(struct ucma_id *id);
/* Returns 0 if the id, which starts to listen, has its port alone; else Linux' errno. */
int ucma_bind_keep_alone(struct ucma_id *id);

void ucma_id_unlisten(struct ucma_id *id);
/* Finds the listener for a request to SERVICE at ADAPTER and address HOST; HOST is NULL in a
 * request without IP addresses. */
struct ucma_id *ucma_id_find_listener(uint64_t service, const struct adapter *adapter,
				      const uint8_t *host, bool ipv4);

/* Sets the path to a destination port of this process, for which no query is needed. */
void ucma_route_put_known(struct ucma_id *id);
/* Reports that the route is resolved, or why not: STATUS is 0 or minus an errno. */
void ucma_route_known(struct ucma_id *id, int status);

int ucma_request_wanted(const struct cm_request *request, struct cm_conn **conn);
void ucma_request_tell(struct ucma_id *id, const struct cm_request *request);

/* Starts communication management; adapters must exist. */
int ucma_conn_start(void);
void ucma_conn_stop(void);
/* Handles event WHAT of the connection; MAD is the message that caused it, or NULL. A program gets
 * no events of a connection that it has not accepted: its call to accept fails then. */
void ucma_conn_event(struct ucma_id *id, enum cm_event what, const uint8_t *mad);
/* Fills in the address handle attributes of PATH. */
void ucma_conn_put_ah(const struct cm_path *path, uint8_t sgid_index,
		      struct ib_uverbs_ah_attr *attr);

int ucma_service_query(struct ucma_call *uc, const struct ucma_id *id);

struct ucma_mcast {
	LIST_ENTRY(ucma_mcast) in_id;
	struct ucma_id *id;
	uint32_t number;
	uint64_t uid;
	uint32_t events_reported;
};

void ucma_mcast_free_all(struct ucma_id *id);

#endif

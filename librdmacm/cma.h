/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cma.h - what is behind a struct rdma_cm_id, and who offers what to whom inside the library.
 *
 * Inside, functions return 0 or a positive errno; the public calls translate with cma_return(). An
 * id is used by one thread at a time, but its events may be acknowledged by another: only the count
 * of those is guarded, by the lock of the id.
 *
 * Every global symbol of the library that is not a public call begins with rdmacm_, functions and data alike, so that a
 * program that links with librdmacm.a can have a stream_send() of its own. Types, macros, inline functions and what is
 * static are of no concern to a linker and have no such prefix.
 */
#ifndef LIBRDMACM_CMA_H
#define LIBRDMACM_CMA_H

#include <errno.h>
#include <infiniband/sa.h>
#include <pthread.h>
#include <rdma/ib_user_sa.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/rdma_cma.h>
#include <rdma/rdma_user_cm.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "util/bits.h"
#include "util/log.h"
#include "util/order.h"

#define CMA_EXPORT __attribute__((visibility("default")))

static inline int cma_return(int ret)
{
	if (!ret)
		return 0;
	errno = ret;
	return -1;
}

/* The same, for a reason that nobody has told yet. */
static inline int cma_refuse(int err, const char *call, const char *why)
{
	verbs_warn("%s: %s", call, why);
	return cma_return(err);
}

/* ---- cmd.c: the commands of the kernel ---- */

/* One command of any kind: fill the member, then call rdmacm_cmd_run() with the number and the
 * member's size. */
struct cm_cmd {
	struct rdma_ucm_cmd_hdr hdr;
	union {
		struct rdma_ucm_create_id create_id;
		struct rdma_ucm_destroy_id destroy_id;
		struct rdma_ucm_bind bind;
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
		struct rdma_ucm_join_mcast join_mcast;
		struct rdma_ucm_get_event get_event;
		struct rdma_ucm_set_option set_option;
		struct rdma_ucm_migrate_id migrate_id;
		struct rdma_ucm_resolve_ib_service resolve_ib_service;
		struct rdma_ucm_write_cm_event write_cm_event;
	};
};

/* OUT_SIZE: of what the command's response address points at. 0 or errno; each failure of the
 * kernel but EAGAIN is logged with the command's name. */
int rdmacm_cmd_run(int fd, struct cm_cmd *cmd, uint32_t number, size_t in_size, size_t out_size);
#define CM_RUN(fd, cmd, number, member, out_size) \
	rdmacm_cmd_run(fd, cmd, RDMA_USER_CM_CMD_##number, sizeof((cmd)->member), out_size)
/* Of an id: what was done with it before is seen by whoever gets an event that the command causes. */
#define CM_RUN_ID(cm, cmd, number, member, out_size) \
	(order_publish(cm), CM_RUN((cm)->id.channel->fd, cmd, number, member, out_size))

/* A descriptor for a new channel. */
int rdmacm_cmd_open(int *fd);

/* An address in the kernel's structure. EINVAL: of a family that has no such length */
int rdmacm_addr_put(struct __kernel_sockaddr_storage *to, uint16_t *size,
		    const struct sockaddr *addr);
/* Bytes of an address of this family, 0 if it is none of ours */
socklen_t rdmacm_addr_len(const struct sockaddr *addr);

/* ---- attr.c: attributes of the kernel as those of verbs ---- */

void rdmacm_attr_take_ah(struct ibv_ah_attr *to, const struct ib_uverbs_ah_attr *from);
/* Leaves what the kernel's structure does not have (rate_limit) or has from this side (qp_state) as it is. */
void rdmacm_attr_take_qp(struct ibv_qp_attr *to, const struct ib_uverbs_qp_attr *from);

/* ---- device.c: one context for each device in use ---- */

struct cm_device {
	LIST_ENTRY(cm_device) entry;
	struct ibv_device *ibv;
	uint64_t guid; /* as the kernel says it */
	int index;     /* RDMA netlink's, or -1 */
	struct ibv_context *verbs;
	struct ibv_pd *pd; /* the default one, once an id was bound; lives as long as the context */
	struct ibv_xrcd *xrcd; /* the default one, while xrcd_users */
	unsigned int xrcd_users;
	uint8_t max_initiator_depth, max_responder_resources;
	/* Access that peers of RC QPs get from the kernel: without, with READs and atomics. 0: not
	 * seen yet */
	atomic_uint granted[2];
};

/* The device that the kernel means, opened. INDEX below 0: unknown. ENODEV */
int rdmacm_device_find(uint64_t guid, int index, struct cm_device **device);
int rdmacm_device_get_pd(struct cm_device *device, struct ibv_pd **pd);
/* XRC: the domain of receive QPs and SRQs that bring none */
int rdmacm_device_get_xrcd(struct cm_device *device, struct ibv_xrcd **xrcd);
void rdmacm_device_put_xrcd(struct cm_device *device);

/* ---- id.c ---- */

struct cm_multicast {
	LIST_ENTRY(cm_multicast) entry;
	struct cm_id *id;
	void *context;
	struct sockaddr_storage addr;
	union ibv_gid mgid; /* what the QP is attached to, */
	uint16_t mlid;
	bool attached;   /* if it is */
	uint32_t number; /* the kernel's */
	uint32_t events_acked;
};

struct cm_id {
	struct rdma_cm_id id;
	struct cm_device *device;
	uint32_t number; /* the kernel's */
	bool waits;      /* has a channel of its own, and calls wait for their event */
	bool owns_cqs[2];
	bool uses_default_xrcd;
	bool is_request; /* of a peer that wants to connect */
	bool srq_has_cq; /* an XRC SRQ completes to recv_cq */
	/* READs and atomics that the connection shall have: asked for, or from the request */
	uint8_t initiator_depth, responder_resources;
	struct ibv_qp *init_qp; /* what INIT was with, of the QP that was brought there */
	unsigned int init_access;
	uint16_t init_pkey_index;
	struct ibv_ece local_ece, remote_ece;
	/* of an endpoint: what private data resolving has found, and what requests get */
	void *connect_data;
	uint8_t connect_len;
	struct ibv_qp_init_attr *request_qp;
	struct ibv_pd *request_pd;
	struct rdma_addrinfo *found; /* of rdma_resolve_addrinfo(), until it is asked for */
	int found_flags;             /* RAI_SA: ai_flags of what will be found */
	LIST_HEAD(, cm_multicast) multicasts;
	pthread_mutex_t lock; /* of the counts of acknowledged events, those of multicasts too */
	pthread_cond_t acked;
	uint32_t events_acked;
};

static inline struct cm_id *to_cm_id(struct rdma_cm_id *id)
{
	return (struct cm_id *)id;
}

/* An id of the kernel's number NUMBER on CHANNEL; a new channel if that is NULL. */
int rdmacm_id_alloc(struct rdma_event_channel *channel, void *context, enum rdma_port_space ps,
		    enum ibv_qp_type qp_type, struct cm_id **id);
int rdmacm_id_create(struct rdma_event_channel *channel, void *context, enum rdma_port_space ps,
		     enum ibv_qp_type qp_type, struct cm_id **id);
void rdmacm_id_free(struct cm_id *id);
/* The kernel forgets it. */
int rdmacm_id_destroy_in_kernel(struct cm_id *id);
/* Waits until COUNTER says that all events that were read are acknowledged. */
void rdmacm_id_await_acks(struct cm_id *id, const uint32_t *counter, uint32_t reported);

/* ---- query.c ---- */

/* All of id->route, as far as the kernel knows it; the id is bound to its device, once the kernel has. */
int rdmacm_id_query_route(struct cm_id *id);
/* The paths only */
int rdmacm_id_query_path(struct cm_id *id);
/* Any of RDMA_USER_CM_QUERY_*. */
int rdmacm_id_query(struct cm_id *id, uint32_t what, void *resp, size_t size);

/* ---- event.c ---- */

/* Of an id that waits: the event of what was started. 0, or the errno that it stands for */
int rdmacm_event_await(struct cm_id *id);
/* Let go of the event that the last call left. */
void rdmacm_event_release(struct cm_id *id);

/* ---- explain.c ---- */

/* At level warn: what has failed, and why. */
void rdmacm_event_explain(const struct rdma_cm_event *event);

/* ---- addrinfo_event.c ---- */

/* RAI_SA: the kernel has found services: they become cm->found, the first is the id's destination. */
int rdmacm_addrinfo_take_services(struct cm_id *cm);

/* ---- qp.c ---- */

int rdmacm_qp_to_rtr(struct cm_id *id, uint8_t responder_resources);
int rdmacm_qp_to_rts(struct cm_id *id, uint8_t initiator_depth);
int rdmacm_qp_to_error(struct cm_id *id);

/* ---- connect.c ---- */

/* Complete a connection from this side after the answer: RTU. */
int rdmacm_connect_confirm(struct cm_id *id);

/* ---- mcast.c ---- */

/* The group is joined: receive from it. */
int rdmacm_multicast_attach(struct cm_multicast *multicast, const struct rdma_ud_param *param);
/* The id's QP leaves all groups; the id stays in them. */
void rdmacm_multicast_detach_all(struct cm_id *cm);

#endif

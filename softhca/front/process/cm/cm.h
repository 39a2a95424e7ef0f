/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cm.h - communication management: connections and service ID resolution by datagrams between QP1s.
 * IBTA vol 1, chapter 12; where that leaves a choice, what Linux does.
 *
 * A connection is part of its user's id (ucma/ucma.h), which hears of it by cm_ops. Nothing here
 * waits: messages are repeated by cm_expire(). All of it runs in one thread; times are nanoseconds
 * of the monotonic clock.
 * Decision: docs/adr/0047.
 */
#ifndef SOFTHCA_FRONT_PROCESS_CM_CM_H
#define SOFTHCA_FRONT_PROCESS_CM_CM_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "ib/cm.h"
#include "ib/sa.h"

#define CM_NEVER UINT64_MAX

enum {
	CM_RESPONSE_TIMEOUT = 20, /* what each side is given to answer: 4.096 us * 2^20 */
	CM_MAX_RETRIES = 15,
};

enum cm_state {
	CM_IDLE,
	CM_REQ_SENT,
	CM_REQ_DELAYED, /* sent, and the other side has asked for time */
	CM_REQ_RECEIVED,
	CM_REP_SENT,
	CM_REP_DELAYED,
	CM_REP_RECEIVED,
	CM_ESTABLISHED,
	CM_DREQ_SENT,
	CM_DREQ_RECEIVED,
	CM_TIMEWAIT,
	CM_SIDR_SENT,
	CM_SIDR_RECEIVED,
};

enum cm_event {
	CM_EVENT_REQ,
	CM_EVENT_REQ_TIMEOUT, /* also of a service ID request */
	CM_EVENT_REP,
	CM_EVENT_REP_TIMEOUT,
	CM_EVENT_RTU, /* or something that stands for it */
	CM_EVENT_REJ,
	CM_EVENT_DREQ,
	CM_EVENT_DREQ_TIMEOUT,
	CM_EVENT_DREP,
	CM_EVENT_TIMEWAIT_EXIT,
	CM_EVENT_SIDR_REQ,
	CM_EVENT_SIDR_REP,
};

struct adapter;

/* A path says how datagrams, and then the QP, reach the other side. */
struct cm_path {
	struct adapter *adapter;
	uint8_t port;
	uint8_t gid_index; /* of the source */
	uint16_t slid, dlid;
	uint8_t sl;
	bool grh; /* always so on RoCE */
	uint8_t sgid[16], dgid[16];
	uint8_t dmac[6]; /* RoCE */
	uint8_t traffic_class, hop_limit;
	uint32_t flow_label;
	uint8_t mtu;      /* enum ibv_mtu */
	uint8_t rate;     /* enum ibv_rate */
	uint8_t lifetime; /* of packets; 4.096 us * 2^n */
};

/* These two are what a path has that no record describes: on RoCE what Linux assumes, on
 * InfiniBand what net/subnet.c says of every path. */
static inline uint8_t cm_path_lifetime(bool roce)
{
	return roce ? LIFETIME_1_S : LIFETIME_134_MS;
}

static inline uint8_t cm_path_hop_limit(bool roce)
{
	enum { HOPS = 64 };

	return roce ? HOPS : 0;
}

struct cm_param {
	uint32_t qpn;
	uint8_t responder_resources, initiator_depth;
	uint8_t retry_count, rnr_retry_count;
	bool flow_control, srq;
	uint32_t vendor_id, vendor_options; /* ECE */
	const void *private_data;
	uint8_t private_len;
};

struct cm_conn {
	LIST_ENTRY(cm_conn) by_local, by_remote, by_qpn;
	TAILQ_ENTRY(cm_conn) in_timers;
	bool listed, remote_listed;
	enum cm_state state;
	uint8_t qp_type; /* enum ibv_qp_type */
	struct cm_path path;
	uint64_t service;
	uint64_t transaction;
	uint32_t local_id, remote_id;
	uint64_t remote_guid;
	uint32_t qpn, remote_qpn;
	/* Each side says with which PSN the other is to begin (IBTA vol 1, 12.7.31): PSN is of what
	 * we receive, REMOTE_PSN of what we send. */
	uint32_t psn, remote_psn;
	uint8_t responder_resources, initiator_depth, retry_count, rnr_retry_count;
	uint8_t ack_timeout; /* of the QP; 4.096 us * 2^n */
	uint8_t remote_timeout;
	uint8_t max_retries;
	/* The message that was sent last is repeated until it is answered. */
	unsigned int tries;
	uint64_t interval, deadline; /* ns; 0: no timer */
	uint8_t mad[MAD_SIZE];
};

/* A request that has arrived; the datagram's bytes are gone on return. */
struct cm_request {
	const uint8_t *mad;
	bool sidr;
	uint8_t qp_type; /* of the QP that is to be connected, enum ibv_qp_type */
	uint64_t service;
	/* The path leads back to who asks; on InfiniBand its port may be another than that where
	 * the request arrived. */
	struct cm_path path;
};

struct cm_ops {
	/* The call finds who wants REQUEST and makes it a connection, still empty. It returns 0,
	 * ENOENT when nobody wants it, EINVAL when somebody does but not so, or ENOMEM: not now,
	 * and the request will be repeated. */
	int (*requested)(const struct cm_request *request, struct cm_conn **conn);
	/* MAD is the message that made the event, or NULL. In the callback CONN may be ended, but
	 * not freed, unless the event is a TIMEWAIT_EXIT. */
	void (*event)(struct cm_conn *conn, enum cm_event event, const uint8_t *mad);
	void (*send)(const struct cm_path *path, const uint8_t mad[MAD_SIZE]);
	uint64_t (*guid)(const struct adapter *adapter);
	/* The moment when cm_expire() is wanted has become an earlier one. */
	void (*set_timer)(uint64_t deadline);
	uint64_t (*now)(void);
};

void cm_start(const struct cm_ops *ops);

/* CONN is zeroed, but for its path, service, QP type and PSN, which are the caller's. */
void cm_connect(struct cm_conn *conn, const struct cm_param *param);
void cm_resolve_service(struct cm_conn *conn, const void *private_data, uint8_t len);
/* Returns 0, or EINVAL when CONN is in another state. PARAM->private_data has at most REP_PRIVATE
 * bytes. */
int cm_accept(struct cm_conn *conn, const struct cm_param *param);
int cm_confirm(struct cm_conn *conn); /* RTU */
/* Data has arrived, which is as good as an RTU. Returns true if one was waited for. */
bool cm_establish(struct cm_conn *conn);
int cm_reject(struct cm_conn *conn, enum cm_reason reason, const void *private_data, uint8_t len);
int cm_answer_service(struct cm_conn *conn, uint8_t status, uint32_t qpn, uint32_t qkey,
		      const void *private_data, uint8_t len);
/* Asks for the connection's end, or answers the peer that asked. */
void cm_disconnect(struct cm_conn *conn);
/* CONN goes: the other side is told, and no event comes any more. */
void cm_destroy(struct cm_conn *conn);

/* Takes MAD, which arrived on PATH; PATH leads back. It returns true if it was communication
 * management. */
bool cm_receive(const struct cm_path *path, const uint8_t mad[MAD_SIZE]);
/* Does what is due; returns when it is to be called again, or CM_NEVER. */
uint64_t cm_expire(void);

#endif

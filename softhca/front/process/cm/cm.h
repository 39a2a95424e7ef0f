/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cm.h - communication management (CM): connections and service ID resolution by datagrams between
 * QP1s. IBTA vol 1, chapter 12; where that leaves a choice, Linux' behaviour.
 *
 * A connection is part of its user's id (ucma/ucma.h), and reports events by cm_ops. Nothing here
 * blocks: cm_expire() repeats messages. All of it runs in one thread; times are nanoseconds of the
 * monotonic clock. Decision: docs/adr/0047.
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
	/* time for each side to answer, Linux' CMA_CM_RESPONSE_TIMEOUT: 4.096 us * 2^20 */
	CM_RESPONSE_TIMEOUT = 20,
	CM_MAX_RETRIES = 15,
};

enum cm_state {
	CM_IDLE,
	CM_REQ_SENT,
	CM_REQ_DELAYED, /* the peer has asked for more time (MRA) */
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
	CM_EVENT_REQ_TIMEOUT, /* no answer to a REQ, or to a service ID request */
	CM_EVENT_REP,
	CM_EVENT_REP_TIMEOUT,
	CM_EVENT_RTU, /* RTU, or data of the peer, which implies it */
	CM_EVENT_REJ,
	CM_EVENT_DREQ,
	CM_EVENT_DREQ_TIMEOUT,
	CM_EVENT_DREP,
	CM_EVENT_TIMEWAIT_EXIT,
	CM_EVENT_SIDR_REQ,
	CM_EVENT_SIDR_REP,
};

struct adapter;

/* Path on which datagrams, and later the QP's packets, reach the peer. */
struct cm_path {
	struct adapter *adapter;
	uint8_t port;
	uint8_t gid_index; /* index of the source GID */
	uint16_t slid, dlid;
	uint8_t sl;
	bool grh; /* always true on RoCE, whose packets have no LID (IBTA vol 1, annex A16) */
	uint8_t sgid[16], dgid[16];
	uint8_t dmac[6]; /* only on RoCE */
	uint8_t traffic_class, hop_limit;
	uint32_t flow_label;
	uint8_t mtu;      /* enum ibv_mtu */
	uint8_t rate;     /* enum ibv_rate */
	uint8_t lifetime; /* packet lifetime: 4.096 us * 2^n */
};

/* Values for a path without a path record, so that both ends assume the same: on RoCE those that
 * Linux assumes, on InfiniBand those that net/subnet.c reports for each path. */
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
	uint32_t vendor_id, vendor_options; /* connection establishment options (ECE) */
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
	/* Each side chooses the first PSN that it wants to receive (IBTA vol 1, 12.7.31): PSN is
	 * ours, REMOTE_PSN the peer's. */
	uint32_t psn, remote_psn;
	uint8_t responder_resources, initiator_depth, retry_count, rnr_retry_count;
	uint8_t ack_timeout; /* of the QP: 4.096 us * 2^n */
	uint8_t remote_timeout;
	uint8_t max_retries;
	/* The last message sent, which cm_expire() repeats until the peer answers. */
	unsigned int tries;
	uint64_t interval, deadline; /* ns; 0: no timer */
	uint8_t mad[MAD_SIZE];
};

/* A request that has arrived. The datagram's bytes are valid only during the call. */
struct cm_request {
	const uint8_t *mad;
	bool sidr;
	uint8_t qp_type; /* of the requested connection, enum ibv_qp_type */
	uint64_t service;
	/* Path to the requester. On InfiniBand it may use another port than the one where the
	 * request arrived. */
	struct cm_path path;
};

struct cm_ops {
	/* Finds the listener for REQUEST and makes an empty connection. Returns 0, ENOENT if there
	 * is no listener, EINVAL if the listener refuses the request, or ENOMEM: the peer repeats
	 * the request then. */
	int (*requested)(const struct cm_request *request, struct cm_conn **conn);
	/* Reports an event; MAD is the message that caused it, or NULL. The callback may end CONN,
	 * but free it only on TIMEWAIT_EXIT. */
	void (*event)(struct cm_conn *conn, enum cm_event event, const uint8_t *mad);
	void (*send)(const struct cm_path *path, const uint8_t mad[MAD_SIZE]);
	uint64_t (*guid)(const struct adapter *adapter);
	/* Asks for a call of cm_expire() at DEADLINE, which is before the time asked for so far. */
	void (*set_timer)(uint64_t deadline);
	uint64_t (*now)(void);
};

void cm_start(const struct cm_ops *ops);

/* Starts a connection. CONN is zeroed except for path, service, QP type and PSN, which the caller
 * sets. */
void cm_connect(struct cm_conn *conn, const struct cm_param *param);
void cm_resolve_service(struct cm_conn *conn, const void *private_data, uint8_t len);
/* Accepts a request. Returns 0, or EINVAL if CONN is in another state. PARAM->private_data has at
 * most REP_PRIVATE bytes. */
int cm_accept(struct cm_conn *conn, const struct cm_param *param);
int cm_confirm(struct cm_conn *conn); /* sends the RTU */
/* Treats data that has arrived as an RTU. Returns true if the connection was waiting for an RTU. */
bool cm_establish(struct cm_conn *conn);
int cm_reject(struct cm_conn *conn, enum cm_reason reason, const void *private_data, uint8_t len);
int cm_answer_service(struct cm_conn *conn, uint8_t status, uint32_t qpn, uint32_t qkey,
		      const void *private_data, uint8_t len);
/* Starts disconnecting, or answers the peer's DREQ. */
void cm_disconnect(struct cm_conn *conn);
/* Ends CONN: sends the peer the message that CONN's state requires, such as a REJ or DREQ. CONN
 * reports no more events. */
void cm_destroy(struct cm_conn *conn);

/* Handles MAD, which arrived; PATH leads back to its sender. Returns false if it is no CM
 * message. */
bool cm_receive(const struct cm_path *path, const uint8_t mad[MAD_SIZE]);
/* Handles expired timers. Returns when to be called again, or CM_NEVER. */
uint64_t cm_expire(void);

#endif

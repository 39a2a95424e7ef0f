/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * send.c - sends messages, repeats them until they are answered, and gives up. See conn.h.
 */
#include "softhca/front/process/cm/conn.h"

static struct {
	TAILQ_HEAD(, cm_conn) conns;
	uint64_t wanted; /* time at which cm_expire() has to be called next */
} waiting;

void cm_send_start(void)
{
	TAILQ_INIT(&waiting.conns);
	waiting.wanted = CM_NEVER;
}

void cm_stop_timer(struct cm_conn *conn)
{
	if (conn->deadline)
		TAILQ_REMOVE(&waiting.conns, conn, in_timers);
	conn->deadline = 0;
}

void cm_start_timer(struct cm_conn *conn, uint64_t ns)
{
	cm_stop_timer(conn);
	conn->deadline = cm_user->now() + ns;
	TAILQ_INSERT_TAIL(&waiting.conns, conn, in_timers);
	if (conn->deadline < waiting.wanted) {
		waiting.wanted = conn->deadline;
		cm_user->set_timer(waiting.wanted);
	}
}

void cm_send(const struct cm_conn *conn)
{
	cm_user->send(&conn->path, conn->mad);
}

void cm_send_and_repeat(struct cm_conn *conn, uint64_t interval)
{
	conn->tries = 0;
	conn->interval = interval;
	cm_start_timer(conn, interval);
	cm_send(conn);
}

void cm_send_ids(const struct cm_conn *conn, unsigned int attribute)
{
	uint8_t mad[MAD_SIZE];

	cm_put_ids(mad, conn, attribute);
	cm_user->send(&conn->path, mad);
}

void cm_become_idle(struct cm_conn *conn)
{
	cm_stop_timer(conn);
	cm_delist_remote(conn);
	conn->state = CM_IDLE;
}

void cm_enter_timewait(struct cm_conn *conn)
{
	cm_delist_remote(conn);
	conn->state = CM_TIMEWAIT;
	cm_start_timer(conn, cm_ns_of(conn->ack_timeout));
}

static void give_up_waiting(struct cm_conn *conn)
{
	switch (conn->state) {
	case CM_REQ_SENT:
	case CM_REQ_DELAYED:
	case CM_SIDR_SENT:
		cm_become_idle(conn);
		cm_user->event(conn, CM_EVENT_REQ_TIMEOUT, NULL);
		break;
	case CM_REP_SENT:
	case CM_REP_DELAYED:
		cm_become_idle(conn);
		cm_user->event(conn, CM_EVENT_REP_TIMEOUT, NULL);
		break;
	case CM_DREQ_SENT:
		cm_enter_timewait(conn);
		cm_user->event(conn, CM_EVENT_DREQ_TIMEOUT, NULL);
		break;
	default:
		break;
	}
}

static void conn_expire(struct cm_conn *conn)
{
	cm_stop_timer(conn);
	if (conn->state == CM_TIMEWAIT) {
		conn->state = CM_IDLE;
		cm_user->event(conn, CM_EVENT_TIMEWAIT_EXIT, NULL);
	} else if (conn->tries < conn->max_retries) {
		conn->tries++;
		cm_start_timer(conn, conn->interval);
		cm_send(conn);
	} else {
		give_up_waiting(conn);
	}
}

uint64_t cm_expire(void)
{
	uint64_t now = cm_user->now(), next = CM_NEVER;
	struct cm_conn *conn, *after;

	for (conn = TAILQ_FIRST(&waiting.conns); conn; conn = after) {
		after = TAILQ_NEXT(conn, in_timers);
		if (conn->deadline <= now)
			conn_expire(conn);
		else if (conn->deadline < next)
			next = conn->deadline;
	}
	/* Callbacks may have started other timers, so look at all again. */
	TAILQ_FOREACH(conn, &waiting.conns, in_timers)
		if (conn->deadline < next)
			next = conn->deadline;
	waiting.wanted = next;
	return next;
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * service.h - one thread looks after sockets while the program is in none of their calls. It starts
 * with the first such socket and ends after the last.
 */
#ifndef RSOCKET_SERVICE_H
#define RSOCKET_SERVICE_H

#include "librdmacm/rsocket/rs.h"

/* What the thread sleeps on for a socket. */
struct rs_alarm {
	struct pollfd fd; /* its number is below 0 if there is none */
	int64_t until_us; /* INT64_MAX if there is no time to wake at */
};

/* What the thread does for a socket. */
struct rs_care {
	/* The call fills in *ALARM, which has neither. It returns false if there is nothing more to
	 * do for the socket. rs->lock is held. */
	bool (*await)(struct rs *rs, struct rs_alarm *alarm);
	/* The alarm has gone off. No lock is held. The call returns EACCES if the process has
	 * changed its user, so that this thread can do no more for the socket, else 0. */
	int (*serve)(struct rs *rs);
};

/* The thread looks after the socket from now on, until rs_care.await() or the socket's end. One
 * that is looked after already is asked again what it sleeps on. rs->lock may be held. Returns 0 or
 * an errno. */
int rdmacm_service_add(struct rs *rs, const struct rs_care *care);
/* The socket is about to close its descriptors: when the function returns, the thread uses none of
 * them. No lock of a socket is held. */
void rdmacm_service_drop(const struct rs *rs);
/* The thread asks all its sockets again. It may be called in handlers of fork(). */
void rdmacm_service_kick(void);
/* In a forked child there is no such thread. */
void rdmacm_service_forked(void);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * service.h - a thread that serves sockets while the program is in none of their calls. It starts
 * with the first such socket and ends after the last.
 */
#ifndef RSOCKET_SERVICE_H
#define RSOCKET_SERVICE_H

#include "librdmacm/rsocket/rs.h"

struct rs_alarm {
	struct pollfd fd; /* negative: no descriptor, which poll() ignores */
	int64_t until_us;
};

struct rs_care {
	/* Sets *ALARM, which is empty. Returns false if the socket needs no service any more.
	 * rs->lock is held. */
	bool (*await)(struct rs *rs, struct rs_alarm *alarm);
	/* Handles the alarm, without locks held. Returns 0, or EACCES if the process has changed
	 * its user, so that this thread cannot serve the socket any more. */
	int (*serve)(struct rs *rs);
};

/* Adds the socket, until rs_care.await() returns false or rdmacm_service_drop() is called. For a
 * socket added before, the thread queries the alarm again. The caller may hold rs->lock. Returns 0
 * or an errno. */
int rdmacm_service_add(struct rs *rs, const struct rs_care *care);
/* Removes a socket that is about to close its descriptors. When it returns, the thread uses none of
 * them. The caller holds no socket's lock. */
void rdmacm_service_drop(const struct rs *rs);
void rdmacm_service_kick(void);
/* Called in a forked child, which lacks the thread and must start its own. */
void rdmacm_service_forked(void);

#endif

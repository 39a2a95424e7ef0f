/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * either.h - how a call that is taken over goes to librdmacm for an rsocket, and to the system for
 * any other descriptor.
 */
#ifndef RSOCKET_PRELOAD_EITHER_H
#define RSOCKET_PRELOAD_EITHER_H

#include "librdmacm/rsocket/preload/preload.h"

/* The macro makes a call of librdmacm, whose own calls of the system are not for rsockets. */
#define INSIDE(call)                      \
	({                                \
		__typeof__(call) result_; \
		preload_inside++;         \
		result_ = (call);         \
		preload_inside--;         \
		result_;                  \
	})

/* In the common case a call is the same under two names, and the rsocket that FD stands for
 * takes the place of FD. */
#define EITHER(fd, rcall, call, ...)                               \
	({                                                         \
		int found_ = preload_find(fd);                     \
		found_ < 0 ? real()->call(fd, ##__VA_ARGS__)       \
			   : INSIDE(rcall(found_, ##__VA_ARGS__)); \
	})

/* The same for a call that uses a connection: one that is pending becomes an rsocket before.
 * FLAGS are those of recv(). */
#define EITHER_USED(fd, flags, rcall, call, ...)                           \
	({                                                                 \
		int found_ = preload_use(fd, flags);                       \
		found_ == PRELOAD_FAILED ? -1                              \
		: found_ < 0             ? real()->call(fd, ##__VA_ARGS__) \
					 : INSIDE(rcall(found_, ##__VA_ARGS__));       \
	})

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * either.h - macros that call librdmacm for an rsocket, and the system for any other descriptor.
 */
#ifndef RSOCKET_PRELOAD_EITHER_H
#define RSOCKET_PRELOAD_EITHER_H

#include "librdmacm/rsocket/preload/preload.h"

/* Calls a function of librdmacm, with interception off, so that its own calls go to the system. */
#define INSIDE(call)                      \
	({                                \
		__typeof__(call) result_; \
		preload_inside++;         \
		result_ = (call);         \
		preload_inside--;         \
		result_;                  \
	})

#define EITHER(fd, rcall, call, ...)                               \
	({                                                         \
		int found_ = preload_find(fd);                     \
		found_ < 0 ? real()->call(fd, ##__VA_ARGS__)       \
			   : INSIDE(rcall(found_, ##__VA_ARGS__)); \
	})

/* As EITHER(), for a call that uses a connection: first makes a pending connection an rsocket.
 * FLAGS are those of recv(). */
#define EITHER_USED(fd, flags, rcall, call, ...)                           \
	({                                                                 \
		int found_ = preload_use(fd, flags);                       \
		found_ == PRELOAD_FAILED ? -1                              \
		: found_ < 0             ? real()->call(fd, ##__VA_ARGS__) \
					 : INSIDE(rcall(found_, ##__VA_ARGS__));       \
	})

#endif

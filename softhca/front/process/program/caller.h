/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * caller.h - memory and descriptors of the process that waits in a trapped call.
 *
 * A killed caller does not wait any more, and its process id may soon belong to an unrelated
 * process. So these functions check that the call is still waited for: after a read, as only then
 * it is known whose memory was read, and before a write. Linux: seccomp_unotify(2),
 * SECCOMP_IOCTL_NOTIF_ID_VALID. Decision: docs/adr/0045.
 */
#ifndef SOFTHCA_FRONT_PROCESS_PROGRAM_CALLER_H
#define SOFTHCA_FRONT_PROCESS_PROGRAM_CALLER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "softhca/front/process/notify.h"

struct client;

bool caller_is_alive(const struct call *call);

/* Copy memory of the caller. Return 0 or EFAULT; also EFAULT if the caller is gone. */
int caller_read(const struct call *call, uint64_t addr, void *buf, size_t len);
int caller_write(const struct call *call, uint64_t addr, const void *buf, size_t len);
int caller_read_string(const struct call *call, uint64_t addr, char *buf, size_t size);

/* Returns a copy of the caller's descriptor FD, or -1 if FD is not open or the caller is gone. The
 * program may have replaced the descriptor since the call began. */
int caller_fd_copy(const struct call *call, int fd);

/* Finds or creates the client of the caller, and adds a user, like client_get(). Returns ESRCH if
 * the caller is gone, as its TID may belong to another process. */
int caller_client(const struct call *call, struct client **client);

#endif

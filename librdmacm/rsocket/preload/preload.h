/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * preload.h - librspreload.so runs programs written for sockets on rsockets, without rebuilding
 * them.
 *
 * The program's descriptor numbers stand for rsockets, which have numbers of their own. While a
 * thread is in a call of librdmacm, all its calls go to the system.
 */
#ifndef RSOCKET_PRELOAD_H
#define RSOCKET_PRELOAD_H

#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>

#include "util/bits.h"

#define PRELOAD_EXPORT __attribute__((visibility("default")))

/* ---- real.c: the intercepted functions of libc ---- */

#define REAL_CALLS(CALL)                                                                          \
	CALL(int, socket, int, int, int)                                                          \
	CALL(int, bind, int, const struct sockaddr *, socklen_t)                                  \
	CALL(int, listen, int, int)                                                               \
	CALL(int, accept, int, struct sockaddr *, socklen_t *)                                    \
	CALL(int, accept4, int, struct sockaddr *, socklen_t *, int)                              \
	CALL(int, connect, int, const struct sockaddr *, socklen_t)                               \
	CALL(int, shutdown, int, int)                                                             \
	CALL(int, close, int)                                                                     \
	CALL(int, dup, int)                                                                       \
	CALL(int, dup2, int, int)                                                                 \
	CALL(int, dup3, int, int, int)                                                            \
	CALL(ssize_t, recv, int, void *, size_t, int)                                             \
	CALL(ssize_t, recvfrom, int, void *, size_t, int, struct sockaddr *, socklen_t *)         \
	CALL(ssize_t, recvmsg, int, struct msghdr *, int)                                         \
	CALL(int, recvmmsg, int, struct mmsghdr *, unsigned int, int, struct timespec *)          \
	CALL(ssize_t, read, int, void *, size_t)                                                  \
	CALL(ssize_t, readv, int, const struct iovec *, int)                                      \
	CALL(ssize_t, preadv2, int, const struct iovec *, int, off_t, int)                        \
	CALL(ssize_t, send, int, const void *, size_t, int)                                       \
	CALL(ssize_t, sendto, int, const void *, size_t, int, const struct sockaddr *, socklen_t) \
	CALL(ssize_t, sendmsg, int, const struct msghdr *, int)                                   \
	CALL(int, sendmmsg, int, struct mmsghdr *, unsigned int, int)                             \
	CALL(ssize_t, write, int, const void *, size_t)                                           \
	CALL(ssize_t, writev, int, const struct iovec *, int)                                     \
	CALL(ssize_t, pwritev2, int, const struct iovec *, int, off_t, int)                       \
	CALL(ssize_t, splice, int, off64_t *, int, off64_t *, size_t, unsigned int)               \
	CALL(ssize_t, sendfile, int, int, off_t *, size_t)                                        \
	CALL(int, poll, struct pollfd *, nfds_t, int)                                             \
	CALL(int, ppoll, struct pollfd *, nfds_t, const struct timespec *, const sigset_t *)      \
	CALL(int, pselect, int, fd_set *, fd_set *, fd_set *, const struct timespec *,            \
	     const sigset_t *)                                                                    \
	CALL(int, select, int, fd_set *, fd_set *, fd_set *, struct timeval *)                    \
	CALL(int, epoll_create1, int)                                                             \
	CALL(int, epoll_ctl, int, int, int, struct epoll_event *)                                 \
	CALL(int, epoll_wait, int, struct epoll_event *, int, int)                                \
	CALL(int, epoll_pwait, int, struct epoll_event *, int, int, const sigset_t *)             \
	CALL(int, getpeername, int, struct sockaddr *, socklen_t *)                               \
	CALL(int, getsockname, int, struct sockaddr *, socklen_t *)                               \
	CALL(int, setsockopt, int, int, int, const void *, socklen_t)                             \
	CALL(int, getsockopt, int, int, int, void *, socklen_t *)                                 \
	CALL(int, fcntl, int, int, ...)                                                           \
	CALL(int, ioctl, int, unsigned long, ...)                                                 \
	CALL(FILE *, fdopen, int, const char *)                                                   \
	CALL(int, fileno, FILE *)                                                                 \
	CALL(int, __vdprintf_chk, int, int, const char *, va_list)

struct real_calls {
#define DECLARE(type, name, ...) type (*name)(__VA_ARGS__);
	REAL_CALLS(DECLARE)
#undef DECLARE
};

const struct real_calls *real(void);

/* Functions that the oldest supported libc lacks; NULL if the libc in use lacks them. */
typedef int real_close_range_call(unsigned int first, unsigned int last, int flags);
typedef int real_epoll_pwait2_call(int set, struct epoll_event *events, int room,
				   const struct timespec *timeout, const sigset_t *mask);
real_close_range_call *real_close_range(void);
real_epoll_pwait2_call *real_epoll_pwait2(void);

/* ---- copies.c ---- */

/* Descriptors from this number on are never intercepted, which bounds the table of descriptors. */
enum { PRELOAD_NUMBERS = 1 << 20 };

/* Returns the rsocket that FD stands for, or -1. Always -1 while this thread is inside librdmacm,
 * because its calls must reach the system. */
int preload_find(int fd);
/* Does the same as preload_find(). Also copies the blocking mode of the file behind FD to the
 * rsocket. */
int preload_find_synced(int fd);
/* Returns a new descriptor of the program for the rsocket. FLAGS may have SOCK_NONBLOCK. On
 * failure, closes the rsocket and returns -1 with errno. */
int preload_number(int rsocket, int flags);
/* Does the same as preload_number(), with FILE from preload_file() as the descriptor. */
int preload_number_by(int file, int rsocket);
bool preload_is_used(void);
bool preload_is_rsocket(int fd);
/* Returns whether FD is an epoll set that repoll_create() has made. */
bool preload_is_set(int fd);
/* Returns the first descriptor from FIRST to LAST that stands for an rsocket, or is an rsocket's
 * own descriptor, an epoll set or a pending connection. Returns LAST + 1 if there is none. FIRST
 * and LAST are below PRELOAD_NUMBERS. */
unsigned int preload_first_known(unsigned int first, unsigned int last);
int preload_mark_set(int fd, bool is_set);
int preload_file(int flags);
int preload_add_copy(int fd, int rsocket);
/* Returns the O_* flags (F_GETFL) of the file behind the program's descriptors of this rsocket, or
 * 0 if it has no descriptor. */
int preload_status_flags(int rsocket);
/* Makes all the program's descriptors of the rsocket duplicates of FILE, with FILE's status flags.
 * Returns 0 or an errno. */
int preload_turn_over(int rsocket, int file);
/* Removes FD's mapping. Returns whether FD was the rsocket's last descriptor; then the caller must
 * close the rsocket. */
bool preload_drop(int fd);

extern __thread unsigned int preload_inside;

/* Returns whether this is a child of vfork(), which shares the parent's memory but not its
 * descriptors. */
bool preload_is_foreign(void);

/* ---- members.c: the program's descriptors of rsockets in epoll sets ---- */

struct preload_report {
	int set;
	struct epoll_event *events;
	int *count;
};

void preload_members_unreport(int rsocket, const struct preload_report *report);
/* Records a change made by epoll_ctl(). Returns 0 or an errno; EPOLL_CTL_DEL never fails. */
int preload_member_noted(int set, int op, int fd, int rsocket, const struct epoll_event *event);
void preload_members_turn_over(int rsocket);
void preload_members_of_number_gone(int fd, int rsocket);
void preload_members_of_set_gone(int set);

/* ---- pending.c: connections that stay TCP until they are used ---- */

enum pending {
	PENDING_NOT,
	PENDING_NEW,
	PENDING_LISTENER,
	PENDING_ASKING, /* this side connected; the peer has not used the connection yet */
	PENDING_ASKED   /* this side accepted, and has not used the connection yet */
};

enum {
	PRELOAD_FAILED = -2,
	PRELOAD_WAIT = 1 << 30 /* in flags: wait even if the socket is nonblocking */
};

bool preload_forks(void);
enum pending preload_pending(int fd);
void preload_mark(int fd, enum pending pending);
int preload_list_pending(enum pending pending, int *fds, int room);
/* Makes a pending connection an rsocket. Returns the result of preload_find_synced(), or
 * PRELOAD_FAILED with errno. FLAGS are those of recv(). */
int preload_use(int fd, int flags);
int64_t preload_now_ms(void);

/* ---- waiting.c ---- */

bool preload_timespec_ms(const struct timespec *timeout, int *ms);

/* ---- stdio.c ---- */

void preload_flush_streams(void);

/* ---- fallback.c ---- */

typedef int preload_get_option(int socket, int level, int name, void *value, socklen_t *len);
typedef int preload_set_option(int socket, int level, int name, const void *value, socklen_t len);
void preload_carry_options(int from, preload_get_option *get, int to, preload_set_option *set);

bool preload_is_own_limit(int error);
/* Connects the rsocket. If RDMA does not reach the address, the program's descriptors of the
 * rsocket become those of an ordinary socket connected to the address. */
int preload_connect(int rsocket, const struct sockaddr *addr, socklen_t len);
/* Handles answers to nonblocking connects, and connects over TCP if RDMA failed. Returns whether
 * any descriptor became an ordinary socket; then the caller must query again. Removes the events of
 * these rsockets from REPORT, a set's report, unless that is NULL. */
bool preload_settle(const struct preload_report *report);
/* Returns the error of a connect that failed over both RDMA and TCP, once, or 0. */
int preload_late_error(int rsocket);
void preload_late_gone(int rsocket);

/* ---- config.c ---- */

enum { PRELOAD_MAX_RULES = 256 };

struct preload_rules {
	struct preload_rule {
		int domain, type, protocol;
	} of_program[PRELOAD_MAX_RULES];
	int count;
	bool has_lines; /* the file has rules, perhaps only for other programs */
};

void preload_rules_read(struct preload_rules *rules, FILE *file, const char *program);
bool preload_rules_want(const struct preload_rules *rules, int domain, int type, int protocol);
/* Returns whether this program's sockets of this domain, type and protocol become rsockets. */
bool preload_wants(int domain, int type, int protocol);
bool preload_wants_any(void);
/* Creates an rsocket with the queue sizes of the environment, and SO_LINGER off. */
int preload_rsocket(int domain, int type, int protocol);

/* ---- memory.c ---- */

/* Return whether all of the memory is accessible. Preserve errno. */
bool preload_may_read(const void *at, size_t size);
bool preload_may_write(const void *at, size_t size);

#endif

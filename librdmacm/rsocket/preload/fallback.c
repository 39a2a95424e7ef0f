/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * fallback.c - connects over TCP to services that do not have an rsocket.
 *
 * Only the answer to a connection request tells whether the peer has an rsocket. A blocking
 * connect() gets the answer itself, and after a refusal connects an ordinary socket. After a
 * nonblocking connect(), the program's next poll(), getsockopt() or connect() finds the answer, and
 * connects the ordinary socket then.
 */
#include "librdmacm/rsocket/preload/preload.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <rdma/rsocket.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <sys/time.h>
#include <unistd.h>

static const struct {
	int level, name;
} carried[] = {
	{ SOL_SOCKET, SO_REUSEADDR }, { SOL_SOCKET, SO_KEEPALIVE }, { SOL_SOCKET, SO_OOBINLINE },
	{ SOL_SOCKET, SO_LINGER },    { SOL_SOCKET, SO_RCVTIMEO },  { SOL_SOCKET, SO_SNDTIMEO },
	{ IPPROTO_TCP, TCP_NODELAY }, { IPPROTO_IP, IP_TOS },       { IPPROTO_IPV6, IPV6_TCLASS },
};

union value {
	struct linger linger;
	struct timeval limit;
	int number;
};

/* Returns whether to copy an option: not if its value is zero, the default. Buffer sizes are not in
 * `carried`, because they size rings for an rsocket, but limit memory for a socket. */
static bool is_carried(const union value *value)
{
	static const union value off;

	return memcmp(value, &off, sizeof(off)) != 0;
}

void preload_carry_options(int from, preload_get_option *get, int to, preload_set_option *set)
{
	union value value;
	socklen_t len;

	for (size_t i = 0; i < ARRAY_SIZE(carried); i++) {
		memset(&value, 0, sizeof(value));
		len = sizeof(value);
		if (!get(from, carried[i].level, carried[i].name, &value, &len) &&
		    is_carried(&value))
			set(to, carried[i].level, carried[i].name, &value, len);
	}
}

/* The name that the program has bound; empty if it has no port. Read the name before rconnect(),
 * because rdma_cm then chooses a port, which may be in use for TCP. */
struct name {
	struct sockaddr_storage addr;
	socklen_t len;
};

static struct name name_of(int rsocket)
{
	struct name name = { .len = sizeof(name.addr) };

	if (rgetsockname(rsocket, (struct sockaddr *)&name.addr, &name.len))
		name = (struct name){ .len = 0 };
	return name;
}

static int carry_name(const struct name *name, int socket)
{
	if (!((const struct sockaddr_in *)&name->addr)->sin_port)
		return 0;
	return real()->bind(socket, (const struct sockaddr *)&name->addr, name->len);
}

static int number_of(int rsocket, int option)
{
	socklen_t len = sizeof(int);
	int value = 0;

	rgetsockopt(rsocket, SOL_SOCKET, option, &value, &len);
	return value;
}

/* Returns an ordinary socket to replace the rsocket, or -1 with errno. A datagram rsocket is
 * already a UDP socket, and keeps its name. */
static int socket_like(int rsocket, const struct name *name)
{
	int type = number_of(rsocket, SO_TYPE);
	int socket = type == SOCK_DGRAM ? real()->fcntl(rsocket, F_DUPFD_CLOEXEC, 0)
					: real()->socket(number_of(rsocket, SO_DOMAIN),
							 type | SOCK_CLOEXEC, 0);

	if (socket < 0)
		return -1;
	if (preload_status_flags(rsocket) & O_NONBLOCK)
		real()->fcntl(socket, F_SETFL, O_RDWR | O_NONBLOCK);
	preload_carry_options(rsocket, rgetsockopt, socket, real()->setsockopt);
	if (type == SOCK_DGRAM || !carry_name(name, socket))
		return socket;
	real()->close(socket);
	return -1;
}

static int take_over(int rsocket, int socket, int result)
{
	int error = errno, ret = preload_turn_over(rsocket, socket);

	real()->close(socket);
	if (!ret) {
		preload_members_turn_over(rsocket);
		rclose(rsocket);
	}
	errno = ret ? ret : error;
	return ret ? -1 : result;
}

/* Connects an ordinary socket without waiting, even if the socket is blocking. */
static int connect_at_once(int socket, const struct sockaddr *addr, socklen_t len)
{
	int flags = real()->fcntl(socket, F_GETFL), ret, error;

	if (flags & O_NONBLOCK)
		return real()->connect(socket, addr, len);
	real()->fcntl(socket, F_SETFL, flags | O_NONBLOCK);
	ret = real()->connect(socket, addr, len);
	error = errno;
	real()->fcntl(socket, F_SETFL, flags);
	errno = error;
	return ret;
}

static int connect_by_system(int rsocket, const struct name *name, const struct sockaddr *addr,
			     socklen_t len, bool is_late)
{
	int socket = socket_like(rsocket, name), ret, error;

	if (socket < 0)
		return -1;
	ret = is_late ? connect_at_once(socket, addr, len) : real()->connect(socket, addr, len);
	if (!ret || errno == EINPROGRESS || errno == EINTR)
		return take_over(rsocket, socket, ret);
	error = errno;
	real()->close(socket);
	errno = error;
	return -1;
}

/* Returns whether ERROR is about the peer instead of the call or the socket's state: only then can
 * TCP succeed where RDMA failed. */
static bool is_of_other_side(int error)
{
	static const int of_call[] = { EINPROGRESS, EALREADY, EISCONN, EINTR, EFAULT, EOPNOTSUPP };

	for (size_t i = 0; i < ARRAY_SIZE(of_call); i++) {
		if (error == of_call[i])
			return false;
	}
	return true;
}

struct late {
	LIST_ENTRY(late) entry;
	int rsocket;
	struct name name;
	struct sockaddr_storage addr;
	socklen_t len;
	int error;
};

static LIST_HEAD(, late) lates = LIST_HEAD_INITIALIZER(lates);
static unsigned int late_count;
static pthread_mutex_t late_lock = PTHREAD_MUTEX_INITIALIZER;

static void late_forked(void)
{
	pthread_mutex_init(&late_lock, NULL);
	LIST_INIT(&lates); /* the connections belong to the parent */
	late_count = 0;
}

static void watch_forks(void)
{
	pthread_atfork(NULL, NULL, late_forked);
}

static void late_remove_locked(struct late *late)
{
	LIST_REMOVE(late, entry);
	__atomic_sub_fetch(&late_count, 1, __ATOMIC_RELAXED);
	free(late);
}

static bool any_late(void)
{
	return __atomic_load_n(&late_count, __ATOMIC_RELAXED);
}

static struct late *late_lookup(int rsocket)
{
	struct late *late;

	LIST_FOREACH(late, &lates, entry) {
		if (late->rsocket == rsocket)
			return late;
	}
	return NULL;
}

/* Records a nonblocking connect, so that TCP can replace RDMA if the connect fails. Without memory,
 * the program keeps the rsocket in any case. Preserves errno. */
static void late_add(int rsocket, const struct name *name, const struct sockaddr *addr,
		     socklen_t len)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	struct late *late;
	int error = errno;

	pthread_once(&once, watch_forks);
	late = calloc(1, sizeof(*late));
	errno = error;
	if (!late || len > sizeof(late->addr) || number_of(rsocket, SO_TYPE) != SOCK_STREAM) {
		free(late);
		return;
	}
	late->rsocket = rsocket;
	late->name = *name;
	memcpy(&late->addr, addr, len);
	late->len = len;
	preload_late_gone(rsocket);
	pthread_mutex_lock(&late_lock);
	LIST_INSERT_HEAD(&lates, late, entry);
	__atomic_add_fetch(&late_count, 1, __ATOMIC_RELAXED);
	pthread_mutex_unlock(&late_lock);
}

void preload_late_gone(int rsocket)
{
	struct late *late;

	if (!any_late())
		return;
	pthread_mutex_lock(&late_lock);
	late = late_lookup(rsocket);
	if (late)
		late_remove_locked(late);
	pthread_mutex_unlock(&late_lock);
}

static bool is_answered(const struct late *late)
{
	struct pollfd fd = { .fd = late->rsocket, .events = POLLOUT };

	return !late->error && rpoll(&fd, 1, 0) > 0;
}

/* Handles the answer to a nonblocking connect. If the connect failed, removes the rsocket's events
 * from REPORT, and connects over TCP. Returns whether the program's descriptor now is an ordinary
 * socket. */
static bool late_settle(struct late *late, const struct preload_report *report)
{
	int error = number_of(late->rsocket, SO_ERROR);

	if (!error) {
		late_remove_locked(late);
		return false;
	}
	if (report)
		preload_members_unreport(late->rsocket, report);
	if (connect_by_system(late->rsocket, &late->name, (struct sockaddr *)&late->addr, late->len,
			      true) &&
	    errno != EINPROGRESS && errno != EINTR) {
		late->error = errno;
		return false;
	}
	late_remove_locked(late);
	return true;
}

bool preload_settle(const struct preload_report *report)
{
	struct late *late, *next;
	bool any = false;

	if (preload_inside || !any_late())
		return false;
	preload_inside++;
	pthread_mutex_lock(&late_lock);
	for (late = LIST_FIRST(&lates); late; late = next) {
		next = LIST_NEXT(late, entry);
		if (is_answered(late))
			any |= late_settle(late, report);
	}
	pthread_mutex_unlock(&late_lock);
	preload_inside--;
	return any;
}

int preload_late_error(int rsocket)
{
	struct late *late;
	int error = 0;

	if (!any_late())
		return 0;
	pthread_mutex_lock(&late_lock);
	late = late_lookup(rsocket);
	if (late && late->error) {
		error = late->error;
		late_remove_locked(late);
	}
	pthread_mutex_unlock(&late_lock);
	return error;
}

bool preload_is_own_limit(int error)
{
	return error == EMFILE || error == ENFILE || error == ENOMEM;
}

/* Returns the bound name. For an rsocket that connects, returns the name recorded before, because
 * its present name is one that rdma_cm has chosen. */
static struct name name_before_connect(int rsocket)
{
	struct name name = name_of(rsocket);
	struct late *late;

	if (!any_late())
		return name;
	pthread_mutex_lock(&late_lock);
	late = late_lookup(rsocket);
	if (late)
		name = late->name;
	pthread_mutex_unlock(&late_lock);
	return name;
}

/* Connects the rsocket. If RDMA does not reach the peer, connects over TCP. If the peer refuses TCP
 * after a local limit prevented RDMA, reports the limit, because the peer's rsocket need not listen
 * on TCP. A signal ends the call, and connecting continues. */
int preload_connect(int rsocket, const struct sockaddr *addr, socklen_t len)
{
	const struct name name = name_before_connect(rsocket);
	int ret = rconnect(rsocket, addr, len), error;

	if (ret && (errno == EINPROGRESS || errno == EINTR))
		late_add(rsocket, &name, addr, len);
	if (!ret || !is_of_other_side(errno))
		return ret;
	error = errno;
	preload_late_gone(rsocket);
	ret = connect_by_system(rsocket, &name, addr, len, false);
	if (ret && errno == ECONNREFUSED && preload_is_own_limit(error))
		errno = error;
	return ret;
}

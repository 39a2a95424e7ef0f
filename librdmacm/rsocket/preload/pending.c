/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * pending.c - connections of programs that fork, enabled by RDMAV_FORK_SAFE on both sides. Each is
 * a TCP connection until its first use, and then becomes an rsocket in the process that uses it.
 *
 * The protocol was observed on Debian's library: the accepting side listens with an rsocket at the
 * same address and port, and sends four zero bytes (the "word") over TCP; the connecting side waits
 * for them, and connects its rsocket there. Then the TCP connection is shut down.
 *
 * The port serves as a lock: only one process at a time can listen on it, and the kernel releases
 * it when a process dies. A waiting side also watches the TCP connection, to notice when the peer
 * has gone. The connecting side waits for all its pending connections at once, because the peer may
 * have begun with another one.
 */
#include "librdmacm/rsocket/preload/preload.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <rdma/rsocket.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
	TURN_MS = 60000,   /* limit of waiting for the port */
	ANSWER_MS = 60000, /* limit of waiting for the peer */
	NAP_MS = 1
};

/* One lock for accepted connections and one for connected ones, so that threads of one process can
 * be the two sides of a connection. */
static pthread_mutex_t asked_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t asking_lock = PTHREAD_MUTEX_INITIALIZER;

int64_t preload_now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000LL + now.tv_nsec / 1000000;
}

static bool works;

static void pending_forked(void)
{
	pthread_mutex_init(&asked_lock, NULL);
	pthread_mutex_init(&asking_lock, NULL);
}

/* Sets `works`. Tries to create an rsocket, because without an adapter both sides must keep their
 * TCP connections. */
static void find_out(void)
{
	const char *text = getenv("RDMAV_FORK_SAFE");
	int trial;

	if (!text || !atoi(text))
		return;
	preload_inside++;
	trial = rsocket(AF_INET, SOCK_STREAM, 0);
	if (trial >= 0)
		rclose(trial);
	preload_inside--;
	works = trial >= 0;
	pthread_atfork(NULL, NULL, pending_forked);
}

bool preload_forks(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, find_out);
	return works;
}

/* Makes FD, which the program keeps using, stand for the rsocket. Copies the options and flags that
 * the program set on the TCP socket. */
static int replace_socket(int fd, int rsocket)
{
	int status = real()->fcntl(fd, F_GETFL), flags = real()->fcntl(fd, F_GETFD);
	int file = preload_file(status & O_NONBLOCK ? SOCK_NONBLOCK : 0), ret;

	if (file < 0)
		return errno;
	preload_carry_options(fd, getsockopt, rsocket, rsetsockopt);
	real()->shutdown(fd, SHUT_RDWR);
	ret = real()->dup2(file, fd) < 0 ? errno : 0;
	real()->close(file);
	if (!ret && flags & FD_CLOEXEC)
		real()->fcntl(fd, F_SETFD, FD_CLOEXEC);
	return ret ? ret : preload_add_copy(fd, rsocket);
}

static int finish_connection(int fd, int rsocket)
{
	int ret = replace_socket(fd, rsocket);

	if (ret)
		rclose(rsocket);
	return ret;
}

/* Converts an IPv4-mapped IPv6 address to IPv4, the form in which the peer knows the address. */
static void undress_addr(struct sockaddr_storage *addr)
{
	struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)addr;
	struct sockaddr_in v4 = { .sin_family = AF_INET, .sin_port = v6->sin6_port };

	if (addr->ss_family != AF_INET6 || !IN6_IS_ADDR_V4MAPPED(&v6->sin6_addr))
		return;
	memcpy(&v4.sin_addr, &v6->sin6_addr.s6_addr[12], sizeof(v4.sin_addr));
	memset(addr, 0, sizeof(*addr));
	memcpy(addr, &v4, sizeof(v4));
}

static int address_of(int fd, bool of_peer, struct sockaddr_storage *addr)
{
	socklen_t len = sizeof(*addr);
	int ret;

	memset(addr, 0, sizeof(*addr));
	ret = of_peer ? real()->getpeername(fd, (struct sockaddr *)addr, &len)
		      : real()->getsockname(fd, (struct sockaddr *)addr, &len);
	undress_addr(addr);
	return ret ? errno : 0;
}

static socklen_t size_of(const struct sockaddr_storage *addr)
{
	return addr->ss_family == AF_INET ? sizeof(struct sockaddr_in)
					  : sizeof(struct sockaddr_in6);
}

static int try_to_listen(const struct sockaddr_storage *addr, int *listener)
{
	int socket = preload_rsocket(addr->ss_family, SOCK_STREAM, 0), ret;

	if (socket < 0)
		return errno;
	if (!rbind(socket, (const struct sockaddr *)addr, size_of(addr)) && !rlisten(socket, 1)) {
		*listener = socket;
		return 0;
	}
	ret = errno;
	rclose(socket);
	return ret;
}

static bool has_gone(int fd, int wait_ms)
{
	struct pollfd tcp = { .fd = fd, .events = POLLRDHUP };

	return real()->poll(&tcp, 1, wait_ms) > 0;
}

/* Returns whether bind() failed with ERROR because another process has the address for now. The
 * loopback address has another error, because Linux treats it as the wildcard address. */
static bool is_taken(const struct sockaddr_storage *addr, int error)
{
	const struct sockaddr_in *v4 = (const struct sockaddr_in *)addr;
	const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)addr;
	bool is_loopback = addr->ss_family == AF_INET
				   ? ntohl(v4->sin_addr.s_addr) >> 24 == IN_LOOPBACKNET
				   : IN6_IS_ADDR_LOOPBACK(&v6->sin6_addr);

	return error == EADDRINUSE || (error == EADDRNOTAVAIL && is_loopback);
}

/* Listens, taking turns with other processes of the same server, because all need the same port. */
static int listen_for(int fd, int *listener)
{
	int64_t end = preload_now_ms() + TURN_MS;
	struct sockaddr_storage addr;
	int ret = address_of(fd, false, &addr);

	while (!ret) {
		ret = try_to_listen(&addr, listener);
		if (!is_taken(&addr, ret))
			break;
		if (has_gone(fd, NAP_MS))
			ret = ECONNRESET;
		else
			ret = preload_now_ms() < end ? 0 : ETIMEDOUT;
	}
	return ret;
}

static int say_word(int fd)
{
	const uint32_t word = 0;

	return real()->send(fd, &word, sizeof(word), MSG_NOSIGNAL) == sizeof(word) ? 0 : EPIPE;
}

static int await_rsocket(int fd, int listener, int *rsocket)
{
	struct pollfd fds[] = { { .fd = listener, .events = POLLIN },
				{ .fd = fd, .events = POLLIN | POLLRDHUP } };

	if (rpoll(fds, 2, ANSWER_MS) < 0)
		return errno;
	if (!fds[0].revents)
		return fds[1].revents ? ECONNRESET : ETIMEDOUT;
	*rsocket = raccept(listener, NULL, NULL);
	return *rsocket < 0 ? errno : 0;
}

static int answer_connection(int fd)
{
	int listener = -1, rsocket = -1;
	int ret = listen_for(fd, &listener);

	if (ret)
		return ret;
	ret = say_word(fd);
	while (!ret) {
		ret = await_rsocket(fd, listener, &rsocket);
		if (ret != EINTR)
			break;
		ret = 0;
	}
	rclose(listener);
	return ret ? ret : finish_connection(fd, rsocket);
}

/* Returns whether the peer has sent data over TCP. Such a peer has no rsockets: a connecting
 * rsocket sends nothing before it gets the word (four zero bytes). */
static bool speaks_tcp(int fd)
{
	struct pollfd tcp = { .fd = fd, .events = POLLIN };

	return real()->poll(&tcp, 1, 0) > 0;
}

static int use_asked(int fd)
{
	int ret = 0;

	pthread_mutex_lock(&asked_lock);
	if (preload_pending(fd) == PENDING_ASKED) { /* else another thread has handled it */
		if (!speaks_tcp(fd)) {
			preload_inside++;
			ret = answer_connection(fd);
			preload_inside--;
		}
		preload_mark(fd, PENDING_NOT);
	}
	pthread_mutex_unlock(&asked_lock);
	if (ret)
		real()->shutdown(fd, SHUT_RDWR);
	return ret;
}

static int follow_word(int fd)
{
	struct sockaddr_storage addr;
	int socket, ret = address_of(fd, true, &addr);

	if (ret)
		return ret;
	socket = preload_rsocket(addr.ss_family, SOCK_STREAM, 0);
	if (socket < 0)
		return errno;
	if (!rconnect(socket, (struct sockaddr *)&addr, size_of(&addr)))
		return finish_connection(fd, socket);
	ret = errno;
	rclose(socket);
	return ret;
}

enum word { WORD_MISSING, WORD_THERE, WORD_OTHER };

/* Looks for the word (the peer's four zero bytes). WORD_OTHER: the connection failed or ended, or
 * other data came; it then stays a TCP connection, on which the program sees the failure, end or
 * data. */
static enum word look_for_word(int fd)
{
	struct pollfd tcp = { .fd = fd, .events = POLLIN };
	const uint8_t zeros[4] = { 0 };
	uint8_t bytes[4];
	ssize_t got;

	if (real()->poll(&tcp, 1, 0) <= 0)
		return WORD_MISSING;
	if (!(tcp.revents & POLLIN) || tcp.revents & POLLERR)
		return WORD_OTHER;
	got = real()->recv(fd, bytes, sizeof(bytes), MSG_PEEK | MSG_DONTWAIT);
	if (got <= 0 || memcmp(bytes, zeros, got))
		return WORD_OTHER;
	return got == sizeof(bytes) ? WORD_THERE : WORD_MISSING;
}

static int advance_asking(int fd)
{
	enum word word;
	int ret = 0;

	pthread_mutex_lock(&asking_lock);
	if (preload_pending(fd) == PENDING_ASKING) {
		word = look_for_word(fd);
		if (word == WORD_MISSING) {
			ret = EAGAIN;
		} else {
			preload_inside++;
			ret = word == WORD_THERE ? follow_word(fd) : 0;
			preload_inside--;
			preload_mark(fd, PENDING_NOT);
			if (ret)
				real()->shutdown(fd, SHUT_RDWR);
		}
	}
	pthread_mutex_unlock(&asking_lock);
	return ret;
}

enum { MOST_AT_ONCE = 1024 };

/* Waits until the word (the peer's four zero bytes) has come on FD and is handled, or FD has
 * failed. Meanwhile handles the words of other connections, too. */
static int use_asking(int fd)
{
	int fds[MOST_AT_ONCE], count, ret = advance_asking(fd);
	struct pollfd words[MOST_AT_ONCE];

	while (ret == EAGAIN) {
		count = preload_list_pending(PENDING_ASKING, fds, MOST_AT_ONCE);
		for (int i = 0; i < count; i++)
			words[i] = (struct pollfd){ .fd = fds[i], .events = POLLIN };
		if (real()->poll(words, count, -1) < 0)
			return errno;
		for (int i = 0; i < count; i++) {
			if (words[i].revents && fds[i] != fd)
				advance_asking(fds[i]);
		}
		ret = advance_asking(fd);
	}
	return ret;
}

static int use_pending(int fd, bool nonblocking)
{
	if (preload_pending(fd) == PENDING_ASKED)
		return use_asked(fd);
	return nonblocking ? advance_asking(fd) : use_asking(fd);
}

int preload_use(int fd, int flags)
{
	bool nonblocking;
	int ret;

	if (preload_pending(fd) < PENDING_ASKING)
		return preload_find_synced(fd);
	nonblocking = flags & MSG_DONTWAIT || real()->fcntl(fd, F_GETFL) & O_NONBLOCK;
	ret = use_pending(fd, nonblocking && !(flags & PRELOAD_WAIT));
	if (!ret)
		return preload_find_synced(fd);
	errno = ret;
	return PRELOAD_FAILED;
}

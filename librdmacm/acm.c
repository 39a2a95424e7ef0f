/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * acm.c - the connection to ibacm. The process has one; the first question opens it, and it stays
 * open until it fails or the library is unloaded. One lock guards it, so that an answer belongs to
 * the question before it.
 *
 * The daemon must never stop a program: an answer that is late or malformed closes the connection,
 * and the question then has no answer. A child process opens its own connection, because on a
 * shared one either process could read the other's answers.
 */
#include "acm.h"
#include "cma.h"
#include "lock.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "util/log.h"

static struct cm_lock lock;
static int sock = -1;
/* identifies the socket, because the program may have closed it and reused its number */
static ino_t sock_inode;
/* process that opened the socket; a child of fork() opens its own socket, because two readers of
 * one socket would take each other's answers */
static pid_t owner;
/* time in milliseconds, modulo 2^32, before which the daemon is not asked, because it was absent or
 * failed; 0: it may be asked. Atomic; has 32 bits, because not all machines of 32 bits have atomics
 * of 64 bits. */
static uint32_t rests_till;

static int64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000LL + now.tv_nsec / 1000000;
}

static void daemon_let_rest(int time_ms)
{
	const uint32_t till = (uint32_t)(now_ms() + time_ms);

	__atomic_store_n(&rests_till, till ? till : 1, __ATOMIC_RELAXED);
}

static bool sock_is_ours(void)
{
	struct stat st;

	return sock >= 0 && !fstat(sock, &st) && S_ISSOCK(st.st_mode) && st.st_ino == sock_inode;
}

void rdmacm_acm_disconnect(void)
{
	if (sock_is_ours())
		close(sock);
	sock = -1;
}

static int sock_open(int family)
{
	struct stat st;

	sock = socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (sock < 0 || fstat(sock, &st))
		return errno;
	sock_inode = st.st_ino;
	return 0;
}

static int sock_await(short events, int64_t deadline)
{
	struct pollfd fd = { .fd = sock, .events = events };
	int64_t left;
	int ret;

	do {
		left = deadline - now_ms();
		ret = poll(&fd, 1, left > 0 ? (int)left : 0);
	} while (ret < 0 && errno == EINTR);
	if (ret < 0)
		return errno;
	return ret ? 0 : ETIMEDOUT;
}

static int connect_to(const struct sockaddr *addr, socklen_t len, int64_t deadline)
{
	int err = 0;
	socklen_t err_len = sizeof(err);
	int ret = sock_open(addr->sa_family);

	if (ret)
		return ret;
	if (!connect(sock, addr, len))
		return 0;
	if (errno != EINPROGRESS)
		return errno;
	ret = sock_await(POLLOUT, deadline);
	if (ret)
		return ret;
	if (getsockopt(sock, SOL_SOCKET, SO_ERROR, &err, &err_len))
		return errno;
	return err;
}

/* Reads the daemon's TCP port. Returns ENOENT if it has none. */
static int read_port(struct sockaddr_in *addr)
{
	char text[16] = "";
	unsigned long port;
	ssize_t len;
	char *end;
	int fd = open(ACM_PORT_FILE, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return ENOENT;
	len = read(fd, text, sizeof(text) - 1);
	close(fd);
	port = len > 0 ? strtoul(text, &end, 10) : 0;
	if (!port || port > UINT16_MAX) {
		verbs_warn("ibacm: %s has no number of a port", ACM_PORT_FILE);
		return ENOENT;
	}
	*addr = (struct sockaddr_in){ .sin_family = AF_INET,
				      .sin_port = htons((uint16_t)port),
				      .sin_addr = { htonl(INADDR_LOOPBACK) } };
	return 0;
}

static int connect_tcp(int64_t deadline)
{
	struct sockaddr_in addr;
	int ret = read_port(&addr);

	if (ret)
		return ret;
	ret = connect_to((const struct sockaddr *)&addr, sizeof(addr), deadline);
	if (ret)
		verbs_warn("ibacm: cannot connect to port %u, which %s names: %s",
			   ntohs(addr.sin_port), ACM_PORT_FILE, strerror(ret));
	return ret;
}

static int connect_unix(int64_t deadline)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX, .sun_path = ACM_SOCKET };
	int ret = connect_to((const struct sockaddr *)&addr, sizeof(addr), deadline);

	if (ret && ret != ENOENT)
		verbs_warn("ibacm: cannot connect to %s: %s", ACM_SOCKET, strerror(ret));
	return ret;
}

static int connect_daemon(int64_t deadline)
{
	int ret = connect_tcp(deadline);

	if (ret) {
		rdmacm_acm_disconnect();
		ret = connect_unix(deadline);
	}
	owner = getpid();
	if (ret) {
		rdmacm_acm_disconnect();
		daemon_let_rest(ACM_ABSENT_MS);
	}
	return ret;
}

static int send_all(const void *bytes, size_t len, int64_t deadline)
{
	const uint8_t *at = bytes;
	ssize_t done;
	int ret;

	while (len) {
		done = send(sock, at, len, MSG_NOSIGNAL);
		if (done >= 0) {
			at += done;
			len -= done;
			continue;
		}
		if (errno != EAGAIN && errno != EINTR)
			return errno;
		ret = sock_await(POLLOUT, deadline);
		if (ret)
			return ret;
	}
	return 0;
}

static int receive_all(void *bytes, size_t len, int64_t deadline)
{
	uint8_t *at = bytes;
	ssize_t done;
	int ret;

	while (len) {
		ret = sock_await(POLLIN, deadline);
		if (ret)
			return ret;
		done = recv(sock, at, len, 0);
		if (!done)
			return ECONNRESET;
		if (done < 0 && errno != EAGAIN && errno != EINTR)
			return errno;
		if (done > 0) {
			at += done;
			len -= done;
		}
	}
	return 0;
}

static int exchange_question(const struct acm_message *question, struct acm_message *answer,
			     int64_t deadline)
{
	int ret = send_all(question, question->header.length, deadline);

	if (!ret)
		ret = receive_all(&answer->header, sizeof(answer->header), deadline);
	if (!ret && !rdmacm_acm_header_is_sane(&answer->header))
		ret = EPROTO;
	if (!ret)
		ret = receive_all(answer->entries, answer->header.length - sizeof(answer->header),
				  deadline);
	if (!ret)
		return 0;
	rdmacm_acm_disconnect();
	if (ret == ETIMEDOUT)
		daemon_let_rest(ACM_REST_MS);
	/* already logged by rdmacm_acm_header_is_sane(), and two lines for one fault would
	 * mislead */
	if (ret != EPROTO)
		verbs_warn("ibacm: no answer: %s", strerror(ret));
	return ret;
}

/* Asks the daemon. If a kept connection fails, tries a new one, because the daemon may have been
 * restarted. */
static int daemon_ask(const struct acm_message *question, struct acm_message *answer,
		      int64_t deadline)
{
	bool kept;
	int ret;

	if (owner != getpid() || !sock_is_ours())
		rdmacm_acm_disconnect();
	kept = sock >= 0;
	ret = kept ? 0 : connect_daemon(deadline);
	if (!ret)
		ret = exchange_question(question, answer, deadline);
	if (kept && (ret == ECONNRESET || ret == EPIPE)) {
		ret = connect_daemon(deadline);
		if (!ret)
			ret = exchange_question(question, answer, deadline);
	}
	return ret;
}

/* Returns whether to skip the daemon. Most hosts have none, and programs resolve often, so a failed
 * connect each time would cost too much. Needs no lock, as daemon_ask_alone() checks again. A rest
 * lasts at most ACM_REST_MS, so a larger difference means that the rest has ended, however long
 * ago. */
bool rdmacm_acm_rests(void)
{
	const uint32_t till = __atomic_load_n(&rests_till, __ATOMIC_RELAXED);

	return till && till - (uint32_t)now_ms() - 1 < ACM_REST_MS;
}

/* Reinitialises the lock in a child: a thread of the parent may have held it while it waited for an
 * answer, and does not exist in the child to release it. */
static void forked_in_child(void)
{
	cm_lock_init(&lock);
}

static void watch_forks(void)
{
	pthread_atfork(NULL, NULL, forked_in_child);
}

/* Asks the daemon with the lock. Threads that waited for the lock while the daemon timed out do not
 * ask again. Cancellation is disabled, because a cancelled thread would keep the lock. */
static int daemon_ask_alone(const struct acm_message *asked, struct acm_message *told,
			    int timeout_ms)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	int ret, state;

	pthread_once(&once, watch_forks); /* before the lock is first taken */
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	cm_lock_take(&lock);
	if (rdmacm_acm_rests())
		ret = EAGAIN;
	else
		ret = daemon_ask(asked, told, now_ms() + timeout_ms);
	cm_lock_drop(&lock);
	pthread_setcancelstate(state, NULL);
	return ret;
}

static int question_ask(const struct acm_question *question, int timeout_ms,
			struct acm_answer *answer)
{
	int most = question->no_delay ? ACM_MAX_WAIT_NO_DELAY_MS : ACM_MAX_WAIT_MS;
	struct acm_message asked, told = { 0 };
	int ret = rdmacm_acm_pack(question, &asked);

	if (ret)
		return ret;
	if (timeout_ms < 0 || timeout_ms > most)
		timeout_ms = most;
	ret = daemon_ask_alone(&asked, &told, timeout_ms);
	return ret ? ret : rdmacm_acm_unpack(&told, answer);
}

int rdmacm_acm_ask(const struct acm_question *question, int timeout_ms, struct acm_answer *answer)
{
	if (rdmacm_acm_rests())
		return EAGAIN;
	rdmacm_watch_exit();
	return question_ask(question, timeout_ms, answer);
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * service.c - the thread of service.h. It stores sockets by number and serial, and takes a
 * reference by rdmacm_rs_get() only while it looks at one, so that a socket can be closed at any
 * time.
 */
#include "librdmacm/rsocket/service.h"

#include <stdlib.h>
#include <sys/queue.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

struct ward {
	LIST_ENTRY(ward) entry;
	int fd;
	uint64_t serial;
	const struct rs_care *care;
};

static LIST_HEAD(, ward) wards = LIST_HEAD_INITIALIZER(wards);
static unsigned int ward_count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* taken after a socket's lock */
static bool is_running;
static unsigned int rounds; /* count of the thread's rounds; descriptors are used only within one */
static pthread_cond_t round_over = PTHREAD_COND_INITIALIZER;
/* Socket pair that wakes the thread. Sockets instead of a pipe, because send() to a closed peer can
 * suppress the signal. They stay open when the thread ends, because kicks do not take the lock. */
static int kick_fds[2] = { -1, -1 };
static ino_t kick_inodes[2];

static struct ward *ward_find(const struct rs *rs)
{
	struct ward *ward;

	LIST_FOREACH(ward, &wards, entry) {
		if (ward->serial == rs->serial)
			return ward;
	}
	return NULL;
}

static int ward_add(struct rs *rs, const struct rs_care *care)
{
	struct ward *ward = ward_find(rs);

	if (ward)
		return 0;
	ward = malloc(sizeof(*ward));
	if (!ward)
		return ENOMEM;
	*ward = (struct ward){ .fd = rs->fd, .serial = rs->serial, .care = care };
	LIST_INSERT_HEAD(&wards, ward, entry);
	ward_count++;
	return 0;
}

static void ward_drop(uint64_t serial)
{
	struct ward *ward;

	LIST_FOREACH(ward, &wards, entry) {
		if (ward->serial != serial)
			continue;
		LIST_REMOVE(ward, entry);
		ward_count--;
		free(ward);
		return;
	}
}

static int kick_end(int end)
{
	return __atomic_load_n(&kick_fds[end], __ATOMIC_RELAXED);
}

/* Returns whether the descriptor is still ours. A program may close all descriptors and reuse the
 * numbers; a kick would then write a byte to the program's file. */
static bool kick_is_there(int end)
{
	int fd = kick_end(end);
	struct stat st;

	return fd >= 0 && !fstat(fd, &st) && S_ISSOCK(st.st_mode) &&
	       st.st_ino == __atomic_load_n(&kick_inodes[end], __ATOMIC_RELAXED);
}

static void kick_close(void)
{
	for (int end = 0; end < 2; end++) {
		if (kick_is_there(end))
			close(kick_end(end));
		__atomic_store_n(&kick_fds[end], -1, __ATOMIC_RELAXED);
	}
}

static int kick_keep(int end, int fd)
{
	struct stat st;

	if (fstat(fd, &st))
		return errno;
	__atomic_store_n(&kick_inodes[end], st.st_ino, __ATOMIC_RELAXED);
	__atomic_store_n(&kick_fds[end], fd, __ATOMIC_RELAXED);
	return 0;
}

static int kick_make(void)
{
	int fds[2], ret;

	if (kick_is_there(0) && kick_is_there(1))
		return 0;
	kick_close();
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds))
		return errno;
	ret = kick_keep(0, fds[0]);
	return ret ? ret : kick_keep(1, fds[1]);
}

static void kick_take(void)
{
	char bytes[64];

	while (kick_is_there(0) && recv(kick_end(0), bytes, sizeof(bytes), MSG_DONTWAIT) > 0)
		;
}

/* Wakes the thread. A kick that is lost while the socket pair is recreated does no harm, because
 * the thread then queries all sockets anyway. */
void rdmacm_service_kick(void)
{
	if (kick_is_there(1) && send(kick_end(1), "", 1, MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
		return; /* full: the thread is about to wake, and one kick is enough */
}

/* The thread's copy of the wards (the sockets in its care), for use without the lock. */
struct round {
	struct ward *wards;
	int64_t *until_us;
	struct pollfd *fds;
	unsigned int count;
};

static bool round_alloc(struct round *round)
{
	round->wards = calloc(ward_count, sizeof(*round->wards));
	round->until_us = calloc(ward_count, sizeof(*round->until_us));
	round->fds = calloc(ward_count + 1, sizeof(*round->fds));
	return round->wards && round->until_us && round->fds;
}

static bool round_begin(struct round *round)
{
	const struct ward *ward;

	*round = (struct round){ 0 };
	if (!ward_count)
		return false;
	if (!round_alloc(round)) {
		verbs_warn("rsocket: no memory to look after %u sockets", ward_count);
		return false;
	}
	kick_make(); /* without it, the thread wakes up periodically */
	round->fds[0] = (struct pollfd){ .fd = kick_end(0), .events = POLLIN };
	LIST_FOREACH(ward, &wards, entry)
		round->wards[round->count++] = *ward;
	return true;
}

static void round_end(struct round *round)
{
	free(round->wards);
	free(round->until_us);
	free(round->fds);
}

/* Returns the ward's socket with a reference, which rdmacm_rs_put() releases, or NULL if the socket
 * is closed. */
static struct rs *ward_get(const struct ward *ward)
{
	struct rs *rs = rdmacm_rs_get(ward->fd);

	if (!rs || rs->serial == ward->serial)
		return rs;
	rdmacm_rs_put(ward->fd);
	return NULL;
}

static const struct rs_alarm no_alarm = { .fd.fd = -1, .until_us = INT64_MAX };

/* Queries the alarm of the ward's socket. If the socket waits for nothing, drops the ward under the
 * socket's lock, so that the socket cannot add itself again meanwhile. */
static void ward_await(const struct ward *ward, struct rs_alarm *alarm)
{
	struct rs *rs = ward_get(ward);
	bool awaits;

	*alarm = no_alarm;
	if (rs)
		cm_lock_take(&rs->lock);
	awaits = rs && ward->care->await(rs, alarm);
	if (!awaits) {
		*alarm = no_alarm;
		pthread_mutex_lock(&lock);
		ward_drop(ward->serial);
		pthread_mutex_unlock(&lock);
	}
	if (!rs)
		return;
	cm_lock_drop(&rs->lock);
	rdmacm_rs_put(ward->fd);
}

static void ward_serve(const struct ward *ward)
{
	struct rs *rs = ward_get(ward);

	if (!rs)
		return;
	if (ward->care->serve(rs) == EACCES) {
		pthread_mutex_lock(&lock);
		ward_drop(ward->serial);
		pthread_mutex_unlock(&lock);
	}
	rdmacm_rs_put(ward->fd);
}

enum { DEAF_MS = 100 }; /* longest sleep of a thread that cannot be kicked */

static int limit_when_deaf(const struct round *round, int timeout_ms)
{
	if (round->fds[0].fd >= 0 || (timeout_ms >= 0 && timeout_ms < DEAF_MS))
		return timeout_ms;
	return DEAF_MS;
}

static int round_ask(struct round *round)
{
	int64_t until_us = INT64_MAX, left_us;
	struct rs_alarm alarm;

	for (unsigned int i = 0; i < round->count; i++) {
		ward_await(&round->wards[i], &alarm);
		round->fds[1 + i] = alarm.fd;
		round->until_us[i] = alarm.until_us;
		if (alarm.until_us < until_us)
			until_us = alarm.until_us;
	}
	if (until_us == INT64_MAX)
		return -1;
	left_us = until_us - rdmacm_rs_now_us();
	return left_us < 0 ? 0 : (int)(left_us / 1000) + 1;
}

/* Serves all wards periodically, if there are more descriptors than poll() accepts: poll() then
 * does not tell which of them are ready. */
static void round_serve_blindly(const struct round *round)
{
	usleep(DEAF_MS * 1000);
	kick_take();
	for (unsigned int i = 0; i < round->count; i++)
		ward_serve(&round->wards[i]);
}

static void round_serve(struct round *round)
{
	int timeout_ms = limit_when_deaf(round, round_ask(round));
	int64_t now_us;

	if (poll(round->fds, round->count + 1, timeout_ms) < 0) {
		if (errno != EINTR)
			round_serve_blindly(round);
		return;
	}
	if (round->fds[0].revents)
		kick_take();
	now_us = rdmacm_rs_now_us();
	for (unsigned int i = 0; i < round->count; i++) {
		if (round->fds[1 + i].revents || now_us >= round->until_us[i])
			ward_serve(&round->wards[i]);
	}
}

static void *service_thread(void *unused)
{
	struct round round;

	pthread_mutex_lock(&lock);
	while (round_begin(&round)) {
		pthread_mutex_unlock(&lock);
		round_serve(&round);
		round_end(&round);
		pthread_mutex_lock(&lock);
		rounds++;
		pthread_cond_broadcast(&round_over);
	}
	round_end(&round);
	is_running = false;
	pthread_cond_broadcast(&round_over);
	pthread_mutex_unlock(&lock);
	return unused;
}

static int start_thread(void)
{
	int ret;

	if (is_running)
		return 0;
	ret = kick_make();
	if (!ret)
		ret = rdmacm_rs_start_thread(service_thread);
	is_running = !ret;
	return ret;
}

int rdmacm_service_add(struct rs *rs, const struct rs_care *care)
{
	int ret;

	pthread_mutex_lock(&lock);
	rs->was_served = true;
	ret = ward_add(rs, care);
	if (!ret)
		ret = start_thread();
	if (ret)
		ward_drop(rs->serial);
	rdmacm_service_kick();
	pthread_mutex_unlock(&lock);
	return ret;
}

/* Removes the socket, and waits for the end of the current round: while the thread polls a
 * descriptor, the kernel keeps its file open. */
void rdmacm_service_drop(const struct rs *rs)
{
	unsigned int round;

	if (!rs->was_served)
		return;
	pthread_mutex_lock(&lock);
	if (ward_find(rs)) {
		ward_drop(rs->serial);
		rdmacm_service_kick();
		round = rounds;
		while (is_running && round == rounds)
			pthread_cond_wait(&round_over, &lock);
	}
	pthread_mutex_unlock(&lock);
}

void rdmacm_service_forked(void)
{
	pthread_mutex_init(&lock, NULL);
	pthread_cond_init(&round_over, NULL);
	LIST_INIT(&wards);
	ward_count = 0;
	is_running = false;
	kick_close();
}

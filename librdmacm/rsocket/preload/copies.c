/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * copies.c - maps descriptor numbers to rsockets, and counts the numbers of each rsocket.
 *
 * In the kernel, the number of an rsocket is an unconnected socket, which stores the status flags:
 * fcntl() and ioctl(FIONBIO) set them there, and duplicates and children share them. A call that
 * may wait reads them first. Calls that librspreload does not intercept, for instance in a child
 * after exec(), reach that socket and fail (ENOTCONN, ESPIPE).
 */
#include "librdmacm/rsocket/preload/preload.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <rdma/rsocket.h>
#include <stdlib.h>
#include <unistd.h>

enum { PAGE_BITS = 10, PAGE_SIZE = 1 << PAGE_BITS, PAGES = PRELOAD_NUMBERS / PAGE_SIZE };

struct numbers {
	/* 0: not an rsocket, so that a new page needs no setting up */
	int rsocket_plus_1[PAGE_SIZE];
	int references[PAGE_SIZE];
	uint8_t nonblocking[PAGE_SIZE];
	uint8_t pending[PAGE_SIZE];
	uint8_t is_set[PAGE_SIZE];
};

__thread unsigned int preload_inside;

static struct numbers *pages[PAGES];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool is_used;

static struct numbers *page_of(int fd)
{
	if (fd < 0 || fd >= PAGES * PAGE_SIZE)
		return NULL;
	return __atomic_load_n(&pages[fd >> PAGE_BITS], __ATOMIC_ACQUIRE);
}

static struct numbers *need_page(int fd)
{
	struct numbers *page = page_of(fd);

	if (page || fd < 0 || fd >= PAGES * PAGE_SIZE)
		return page;
	page = calloc(1, sizeof(*page));
	__atomic_store_n(&is_used, true, __ATOMIC_RELAXED);
	__atomic_store_n(&pages[fd >> PAGE_BITS], page, __ATOMIC_RELEASE);
	return page;
}

int preload_find(int fd)
{
	struct numbers *page = preload_inside ? NULL : page_of(fd);

	if (!page)
		return -1;
	return __atomic_load_n(&page->rsocket_plus_1[fd & (PAGE_SIZE - 1)], __ATOMIC_ACQUIRE) - 1;
}

/* Returns whether the rsocket is nonblocking, as one created with SOCK_NONBLOCK is. */
static bool is_nonblocking_rsocket(int rsocket)
{
	int flags;

	preload_inside++;
	flags = rfcntl(rsocket, F_GETFL);
	preload_inside--;
	return flags >= 0 && flags & O_NONBLOCK;
}

/* Records that FD stands for the rsocket. Clears FD's mark as an epoll set, which is left if the
 * set was closed by a call that is not intercepted. */
int preload_add_copy(int fd, int rsocket)
{
	bool is_nonblocking = is_nonblocking_rsocket(rsocket);
	struct numbers *page, *counts;
	int ret = 0;

	pthread_mutex_lock(&lock);
	page = need_page(fd);
	counts = need_page(rsocket);
	if (page && counts) {
		if (!counts->references[rsocket & (PAGE_SIZE - 1)]++)
			counts->nonblocking[rsocket & (PAGE_SIZE - 1)] = is_nonblocking;
		__atomic_store_n(&page->is_set[fd & (PAGE_SIZE - 1)], false, __ATOMIC_RELAXED);
		__atomic_store_n(&page->rsocket_plus_1[fd & (PAGE_SIZE - 1)], rsocket + 1,
				 __ATOMIC_RELEASE);
	} else {
		ret = ENOMEM;
	}
	pthread_mutex_unlock(&lock);
	return ret;
}

bool preload_is_used(void)
{
	return __atomic_load_n(&is_used, __ATOMIC_RELAXED);
}

bool preload_is_rsocket(int fd)
{
	struct numbers *page = preload_inside ? NULL : page_of(fd);

	return page && __atomic_load_n(&page->references[fd & (PAGE_SIZE - 1)], __ATOMIC_RELAXED);
}

bool preload_is_set(int fd)
{
	struct numbers *page = preload_inside ? NULL : page_of(fd);

	return page && __atomic_load_n(&page->is_set[fd & (PAGE_SIZE - 1)], __ATOMIC_RELAXED);
}

int preload_mark_set(int fd, bool is_set)
{
	struct numbers *page;

	pthread_mutex_lock(&lock);
	page = need_page(fd);
	if (page)
		__atomic_store_n(&page->is_set[fd & (PAGE_SIZE - 1)], is_set, __ATOMIC_RELAXED);
	pthread_mutex_unlock(&lock);
	return fd;
}

/* Creates the kernel's socket behind a program's descriptor. Reading or writing a SOCK_SEQPACKET
 * fails with ENOTCONN, whereas reading a stream would fail with EINVAL. */
int preload_file(int flags)
{
	return real()->socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | (flags & SOCK_NONBLOCK), 0);
}

static void close_rsocket(int rsocket)
{
	preload_inside++;
	rclose(rsocket);
	preload_inside--;
}

int preload_number_by(int file, int rsocket)
{
	int ret = preload_add_copy(file, rsocket);

	if (!ret)
		return file;
	real()->close(file);
	close_rsocket(rsocket);
	errno = ret;
	return -1;
}

int preload_number(int rsocket, int flags)
{
	int file = rsocket < 0 ? -1 : preload_file(flags), error = errno;

	if (file >= 0)
		return preload_number_by(file, rsocket);
	if (rsocket >= 0)
		close_rsocket(rsocket);
	errno = error;
	return -1;
}

int preload_find_synced(int fd)
{
	int rsocket = preload_find(fd);
	struct numbers *page;
	uint8_t *is_nonblocking, now;

	if (rsocket < 0)
		return rsocket;
	page = page_of(rsocket);
	is_nonblocking = &page->nonblocking[rsocket & (PAGE_SIZE - 1)];
	now = !!(real()->fcntl(fd, F_GETFL) & O_NONBLOCK);
	if (__atomic_exchange_n(is_nonblocking, now, __ATOMIC_RELAXED) != now) {
		preload_inside++;
		rfcntl(rsocket, F_SETFL, now ? O_NONBLOCK : 0);
		preload_inside--;
	}
	return rsocket;
}

bool preload_drop(int fd)
{
	int index = fd & (PAGE_SIZE - 1), rsocket;
	struct numbers *page;
	bool last;

	pthread_mutex_lock(&lock);
	page = page_of(fd);
	rsocket = page->rsocket_plus_1[index] - 1;
	page->rsocket_plus_1[index] = 0;
	/* no rsocket is left if another thread has replaced it just now */
	last = rsocket >= 0 && !--page_of(rsocket)->references[rsocket & (PAGE_SIZE - 1)];
	pthread_mutex_unlock(&lock);
	return last;
}

/* Replaces the file behind FD by FILE. Keeps FD's own descriptor flags, which dup2() would
 * clear. */
static int number_turn_over(int fd, int file)
{
	int flags = real()->fcntl(fd, F_GETFD);

	if (flags < 0) /* closed by a raw system call */
		return 0;
	if (real()->dup2(file, fd) < 0)
		return errno;
	if (flags & FD_CLOEXEC)
		real()->fcntl(fd, F_SETFD, FD_CLOEXEC);
	return 0;
}

/* Returns the rsocket's first descriptor from FD on, or a negative number. The caller holds the
 * lock. */
static int number_from(int fd, int rsocket)
{
	struct numbers *page;

	for (; fd < PAGES * PAGE_SIZE; fd++) {
		page = page_of(fd);
		if (!page)
			fd |= PAGE_SIZE - 1;
		else if (page->rsocket_plus_1[fd & (PAGE_SIZE - 1)] == rsocket + 1)
			return fd;
	}
	return -1;
}

int preload_status_flags(int rsocket)
{
	int flags = -1;

	pthread_mutex_lock(&lock);
	/* A descriptor closed by a raw system call has no flags, but another may. */
	for (int fd = 0; flags < 0 && (fd = number_from(fd, rsocket)) >= 0; fd++)
		flags = real()->fcntl(fd, F_GETFL);
	pthread_mutex_unlock(&lock);
	return flags < 0 ? 0 : flags;
}

int preload_turn_over(int rsocket, int file)
{
	int *number, ret = 0;

	pthread_mutex_lock(&lock);
	if (!page_of(rsocket)->references[rsocket & (PAGE_SIZE - 1)])
		/* another thread has closed the last descriptor, and now closes the rsocket: there
		 * is nothing to replace */
		ret = EBADF;
	for (int fd = 0; !ret && (fd = number_from(fd, rsocket)) >= 0; fd++) {
		number = &page_of(fd)->rsocket_plus_1[fd & (PAGE_SIZE - 1)];
		ret = number_turn_over(fd, file);
		if (!ret)
			__atomic_store_n(number, 0, __ATOMIC_RELEASE);
	}
	if (!ret)
		page_of(rsocket)->references[rsocket & (PAGE_SIZE - 1)] = 0;
	pthread_mutex_unlock(&lock);
	return ret;
}

enum pending preload_pending(int fd)
{
	struct numbers *page = preload_inside ? NULL : page_of(fd);

	return page ? __atomic_load_n(&page->pending[fd & (PAGE_SIZE - 1)], __ATOMIC_ACQUIRE)
		    : PENDING_NOT;
}

void preload_mark(int fd, enum pending pending)
{
	struct numbers *page;

	pthread_mutex_lock(&lock);
	page = need_page(fd);
	if (page)
		__atomic_store_n(&page->pending[fd & (PAGE_SIZE - 1)], pending, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&lock);
}

int preload_list_pending(enum pending pending, int *fds, int room)
{
	int count = 0;

	for (int fd = 0; fd < PAGES * PAGE_SIZE && count < room; fd++) {
		if (!page_of(fd))
			fd |= PAGE_SIZE - 1;
		else if (preload_pending(fd) == pending)
			fds[count++] = fd;
	}
	return count;
}

static bool is_known(int fd)
{
	return preload_find(fd) >= 0 || preload_is_rsocket(fd) || preload_is_set(fd) ||
	       preload_pending(fd);
}

unsigned int preload_first_known(unsigned int first, unsigned int last)
{
	for (; first <= last; first++) {
		if (!page_of(first))
			first |= PAGE_SIZE - 1;
		else if (is_known(first))
			return first;
	}
	return last + 1;
}

static pid_t owner;

static void copies_forked(void)
{
	pthread_mutex_init(&lock, NULL);
	owner = getpid();
}

static void __attribute__((constructor)) watch_forks(void)
{
	owner = getpid();
	pthread_atfork(NULL, NULL, copies_forked);
}

bool preload_is_foreign(void)
{
	return getpid() != owner;
}

/* limit of closing at exit: the time that librdmacm gives a closing connection, so that exit()
 * waits no longer than close() */
enum { END_MS = 120000 };

/* Returns the time that the rsocket may take to close: LEFT_MS, rounded up to seconds, or the
 * program's SO_LINGER if shorter. A time of 0 is an abort. */
static struct linger linger_within(int rsocket, int64_t left_ms)
{
	struct linger linger = { 0, 0 };
	socklen_t len = sizeof(linger);
	int seconds = (int)((left_ms + 999) / 1000);

	rgetsockopt(rsocket, SOL_SOCKET, SO_LINGER, &linger, &len);
	if (linger.l_onoff && linger.l_linger >= 0 && linger.l_linger <= seconds)
		return linger;
	return (struct linger){ 1, seconds };
}

static void set_linger(int rsocket, struct linger linger)
{
	rsetsockopt(rsocket, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger));
}

/* Shuts the rsocket down. Waits for the end of sending (SHUT_WR) for one second at most, because
 * the other rsockets must still announce their ends. */
static void shut_to_linger(int rsocket, int how, struct linger linger)
{
	set_linger(rsocket, how == SHUT_WR ? (struct linger){ 1, 1 } : linger);
	rshutdown(rsocket, how);
	if (how == SHUT_WR)
		set_linger(rsocket, linger);
}

/* Shuts the rsocket down, unless the program wants an abort: then the end of the process
 * suffices. */
static void shut_within(int rsocket, int how, int64_t left_ms)
{
	struct linger linger;

	preload_inside++;
	linger = linger_within(rsocket, left_ms);
	if (linger.l_linger)
		shut_to_linger(rsocket, how, linger);
	preload_inside--;
}

static void shut_all(int how, int64_t end_ms)
{
	int64_t left_ms = end_ms - preload_now_ms();
	int rsocket;

	for (int fd = 0; fd < PAGES * PAGE_SIZE && left_ms > 0; fd++) {
		rsocket = page_of(fd) ? preload_find(fd) : -1;
		if (!page_of(fd))
			fd |= PAGE_SIZE - 1;
		if (rsocket < 0)
			continue;
		shut_within(rsocket, how, left_ms);
		left_ms = end_ms - preload_now_ms();
	}
}

/* Flushes stdio's buffers and shuts the rsockets down at exit, since programs rely on exit() to do
 * so; exit() itself flushes only after this destructor. First announces the end to all peers,
 * because a peer that does not answer may use up the time. */
static void __attribute__((destructor)) end_of_process(void)
{
	int64_t end_ms = preload_now_ms() + END_MS;

	if (preload_is_foreign())
		return;
	preload_flush_streams();
	shut_all(SHUT_WR, end_ms);
	shut_all(SHUT_RDWR, end_ms);
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * poll.c - rpoll() and rselect(), for rsockets together with any other descriptors.
 *
 * Rsockets are queried for their events, other descriptors by poll(). If there is no event, poll()
 * sleeps on the other descriptors and on those behind the rsockets; the latter only tell that an
 * rsocket must be queried again.
 */
#include "librdmacm/rsocket/cancel.h"
#include "librdmacm/rsocket/rs.h"
#include "librdmacm/rsocket/poll/select.h"

#include <stdlib.h>
#include <string.h>

enum { FEW = 32 };

/* Arguments of the real poll(): for each of the program's entries its descriptor, or the
 * descriptors behind its rsocket; and the waiter's eventfd. */
struct rs_sleepers {
	struct rs_waiter waiter;
	struct rs_watch also;
	struct pollfd *fds;
	struct entry {
		struct rs *rs;
		/* another thread closed the rsocket, and the waiter's eventfd got its number:
		 * poll() must not look at that number */
		bool is_closed;
		struct rs_watch watch;
		int first, count;
	} * entries;
	nfds_t entry_count;
	int count;
	struct pollfd few_fds[FEW * RS_WAKE_FDS + 1];
	struct entry few_entries[FEW];
};

static int sleepers_alloc(struct rs_sleepers *sleepers, nfds_t entries)
{
	sleepers->fds = sleepers->few_fds;
	sleepers->entries = sleepers->few_entries;
	if (entries <= FEW)
		return 0;
	sleepers->fds = calloc(entries * RS_WAKE_FDS + 1, sizeof(*sleepers->fds));
	sleepers->entries = calloc(entries, sizeof(*sleepers->entries));
	if (sleepers->fds && sleepers->entries)
		return 0;
	free(sleepers->fds);
	free(sleepers->entries);
	return ENOMEM;
}

static void sleepers_free(struct rs_sleepers *sleepers)
{
	if (sleepers->fds == sleepers->few_fds)
		return;
	free(sleepers->fds);
	free(sleepers->entries);
}

static void sleepers_watch(struct rs_sleepers *sleepers, const struct pollfd *fds, nfds_t nfds,
			   void (*undo)(void *of), void *of)
{
	struct entry *entry;

	rdmacm_rs_waiter_begin(&sleepers->waiter, undo, of);
	sleepers->entry_count = nfds;
	for (nfds_t i = 0; i < nfds; i++) {
		entry = &sleepers->entries[i];
		entry->rs = rdmacm_rs_get(fds[i].fd);
		entry->is_closed = fds[i].fd >= 0 && fds[i].fd == sleepers->waiter.fd;
		if (!entry->rs)
			continue;
		rdmacm_rs_watch(&entry->rs->waiters, &entry->watch, &sleepers->waiter);
		rdmacm_rs_put(fds[i].fd);
	}
}

static void sleepers_unwatch(struct rs_sleepers *sleepers)
{
	for (nfds_t i = 0; i < sleepers->entry_count; i++) {
		if (sleepers->entries[i].rs)
			rdmacm_rs_unwatch(&sleepers->entries[i].watch);
	}
	rdmacm_rs_waiter_end(&sleepers->waiter);
}

/* Returns the rsocket FD of the entry, or NULL if another thread has closed it. If the rsocket is
 * watched, checks that it is still the watched one, because its number may be reused. */
static struct rs *entry_get(const struct entry *entry, int fd)
{
	struct rs *rs = rdmacm_rs_get(fd);

	if (!rs || (rs == entry->rs && rdmacm_rs_is_watched(&entry->watch)))
		return rs;
	rdmacm_rs_put(fd);
	return NULL;
}

/* Fills in the descriptors for the entry. Returns false if its socket is closed. */
static bool entry_fill(struct entry *entry, const struct pollfd *of_program, struct pollfd *fds)
{
	struct rs *rs;

	entry->count = 1;
	fds[0] = *of_program;
	if (entry->is_closed)
		fds[0].fd = -1;
	if (!entry->rs)
		return !entry->is_closed;
	rs = entry_get(entry, of_program->fd);
	if (rs) {
		entry->count = rs->kind->wake_fds(rs, fds);
		rdmacm_rs_put(of_program->fd);
	} else {
		/* the number may belong to another file by now, so poll() must not look at it */
		fds[0].fd = -1;
	}
	return rs;
}

/* Fills in all descriptors. Returns false if a socket is closed; then the caller must not sleep. */
static bool sleepers_fill(struct rs_sleepers *sleepers, const struct pollfd *fds)
{
	struct entry *entry;
	bool good = true;

	sleepers->count = 0;
	for (nfds_t i = 0; i < sleepers->entry_count; i++) {
		entry = &sleepers->entries[i];
		entry->first = sleepers->count;
		good &= entry_fill(entry, &fds[i], &sleepers->fds[entry->first]);
		sleepers->count += entry->count;
	}
	return good;
}

static bool is_woken(const struct pollfd *fds, int count)
{
	for (int i = 0; i < count; i++) {
		if (fds[i].revents)
			return true;
	}
	return false;
}

static void tell_woken(const struct entry *entry, int fd, const struct pollfd *at)
{
	struct rs *rs = entry_get(entry, fd);

	if (!rs)
		return;
	rs->kind->woken(rs, at, entry->count);
	rdmacm_rs_put(fd);
}

static void look_at_woken(const struct rs_sleepers *sleepers, struct pollfd *fds, nfds_t nfds)
{
	const struct entry *entry;
	const struct pollfd *at;

	for (nfds_t i = 0; i < nfds; i++) {
		entry = &sleepers->entries[i];
		at = &sleepers->fds[entry->first];
		if (entry->is_closed)
			fds[i].revents = POLLNVAL;
		else if (!entry->rs)
			fds[i].revents = at->revents;
		else if (!rdmacm_rs_is_watched(&entry->watch))
			fds[i].revents = POLLNVAL;
		else if (is_woken(at, entry->count))
			tell_woken(entry, fds[i].fd, at);
	}
}

int rdmacm_rs_sleep(struct rs_sleepers *sleepers, struct pollfd *fds, nfds_t nfds, int timeout_ms)
{
	if (!sleepers_fill(sleepers, fds))
		timeout_ms = 0;
	if (rdmacm_rs_waiter_sleep(&sleepers->waiter, sleepers->fds, sleepers->count, timeout_ms) <
	    0)
		return -1;
	look_at_woken(sleepers, fds, nfds);
	return 0;
}

struct rs_sleepers *rdmacm_rs_sleepers_alloc(const struct pollfd *fds, nfds_t nfds,
					     struct rs_waiters *also, void (*undo)(void *of),
					     void *of)
{
	struct rs_sleepers *sleepers = malloc(sizeof(*sleepers));

	if (!sleepers)
		return NULL;
	if (sleepers_alloc(sleepers, nfds)) {
		free(sleepers);
		return NULL;
	}
	sleepers_watch(sleepers, fds, nfds, undo, of);
	rdmacm_rs_watch(also, &sleepers->also, &sleepers->waiter);
	return sleepers;
}

void rdmacm_rs_sleepers_free(struct rs_sleepers *sleepers)
{
	rdmacm_rs_unwatch(&sleepers->also);
	sleepers_unwatch(sleepers);
	sleepers_free(sleepers);
	free(sleepers);
}

struct sleeper {
	struct rs_waiter waiter;
	struct rs_watch watch;
};

static void sleeper_cancelled(void *of)
{
	struct sleeper *sleeper = of;

	rdmacm_rs_unwatch(&sleeper->watch);
	rdmacm_rs_waiter_end(&sleeper->waiter);
	rdmacm_rs_cancel_unlock();
}

int rdmacm_rs_sleep_unlocked(struct rs *rs, struct pollfd *fds, int count, int timeout_ms)
{
	struct sleeper sleeper;
	struct rs_user user;
	int ret;

	rdmacm_rs_waiter_begin(&sleeper.waiter, sleeper_cancelled, &sleeper);
	rdmacm_rs_watch(&rs->waiters, &sleeper.watch, &sleeper.waiter);
	cm_lock_drop(&rs->lock);
	rdmacm_rs_who(&user);
	ret = rdmacm_rs_waiter_sleep(&sleeper.waiter, fds, count, timeout_ms) < 0 ? errno : 0;
	cm_lock_take(&rs->lock);
	rdmacm_rs_unwatch(&sleeper.watch);
	rdmacm_rs_waiter_end(&sleeper.waiter);
	return ret == EINTR && rdmacm_rs_restarts(&user) ? 0 : ret;
}

/* Result of querying the rsockets: how many have events, the number of other descriptors, and the
 * array for a further poll(): the other descriptors, and rsockets that may have rdma_cm events; all
 * others are -1. fds is NULL while there is nothing to poll, so that a wait for rsockets alone
 * builds no array. */
struct answers {
	int ready, err;
	nfds_t others;
	struct pollfd *fds;
	struct pollfd few[FEW + 1];
};

static int answers_begin(struct answers *answers, nfds_t nfds)
{
	if (nfds >= SIZE_MAX / sizeof(*answers->fds))
		return ENOMEM;
	answers->fds = NULL;
	answers->err = 0;
	return 0;
}

static bool answers_alloc(struct answers *answers, nfds_t nfds)
{
	answers->fds = nfds <= FEW ? answers->few : malloc((nfds + 1) * sizeof(*answers->fds));
	if (!answers->fds) {
		answers->err = ENOMEM;
		return false;
	}
	for (nfds_t i = 0; i < nfds; i++)
		answers->fds[i].fd = -1;
	return true;
}

static __attribute__((noinline)) void answers_put(struct answers *answers, nfds_t nfds, nfds_t at,
						  int fd, short events)
{
	if (answers->fds || answers_alloc(answers, nfds))
		answers->fds[at] = (struct pollfd){ .fd = fd, .events = events };
}

static void answers_free(struct answers *answers)
{
	if (answers->fds != answers->few)
		free(answers->fds);
}

static void answers_cancelled(void *of)
{
	answers_free(of);
}

static __attribute__((noinline)) short ask_shielded(struct rs *rs, short events)
{
	short now;

	rdmacm_rs_shield();
	now = rs->kind->poll(rs, events, false);
	rdmacm_rs_unshield();
	return now;
}

/* Returns the events of RS. Sets *LOOK_FD to the descriptor for rdma_cm's events, if it must be
 * looked at. */
static inline short ask_one(struct rs *rs, short events, int *look_fd)
{
	return rs->kind->glance ? rs->kind->glance(rs, events, look_fd) : ask_shielded(rs, events);
}

static int ask_sockets(struct pollfd *fds, nfds_t nfds, struct answers *answers)
{
	int look_fd, ready = 0;
	struct rs *rs;

	answers->others = 0;
	for (nfds_t i = 0; i < nfds; i++) {
		rs = rs_get(fds[i].fd);
		if (!rs) {
			answers_put(answers, nfds, i, fds[i].fd, fds[i].events);
			fds[i].revents = 0; /* for negative descriptors, which poll() ignores */
			answers->others++;
			continue;
		}
		look_fd = -1;
		fds[i].revents = ask_one(rs, fds[i].events, &look_fd);
		rs_put(fds[i].fd);
		if (look_fd >= 0)
			answers_put(answers, nfds, i, look_fd, POLLIN);
		ready += !!fds[i].revents;
	}
	answers->ready = ready;
	return ready;
}

/* Queries the watched sockets, as ask_sockets() does. Each is checked by its serial, because
 * another thread may have closed one, and its number may now belong to an unrelated socket. */
static int ask_watched(const struct rs_sleepers *sleepers, struct pollfd *fds, bool sleep)
{
	const struct entry *entry;
	struct rs *rs;
	int ready = 0;

	for (nfds_t i = 0; i < sleepers->entry_count; i++) {
		entry = &sleepers->entries[i];
		if (!entry->rs)
			continue;
		rs = entry_get(entry, fds[i].fd);
		fds[i].revents = rs ? rs->kind->poll(rs, fds[i].events, sleep) : POLLNVAL;
		if (rs)
			rdmacm_rs_put(fds[i].fd);
		ready += !!fds[i].revents;
	}
	return ready;
}

static int count_ready(const struct pollfd *fds, nfds_t nfds)
{
	int ready = 0;

	for (nfds_t i = 0; i < nfds; i++)
		ready += !!fds[i].revents;
	return ready;
}

static int sleep_once(struct rs_sleepers *sleepers, struct pollfd *fds, nfds_t nfds, int timeout)
{
	if (rdmacm_rs_sleep(sleepers, fds, nfds, timeout))
		return -1;
	ask_watched(sleepers, fds, false);
	return count_ready(fds, nfds);
}

/* Polls the sockets for a moment, because data may be about to arrive. */
static int spin_on_sockets(struct pollfd *fds, nfds_t nfds, int timeout, struct answers *answers)
{
	static __thread struct rs_spin of_thread;
	int ready = ask_sockets(fds, nfds, answers);
	int64_t until;

	if (ready || !timeout || answers->others == nfds || !rs_spin_pays(&of_thread))
		return ready;
	until = rdmacm_rs_now_us() + rdmacm_rs_defaults()->polling_us;
	while (!ready && rdmacm_rs_now_us() < until)
		ready = ask_sockets(fds, nfds, answers);
	rs_spin_done(&of_thread, ready);
	return ready;
}

/* Copies poll()'s results. A socket with an rdma_cm event is queried again, because the event may
 * have changed its state. */
static void take_answers(struct pollfd *fds, nfds_t nfds, const struct answers *answers)
{
	const struct pollfd *at;
	struct rs *rs;

	for (nfds_t i = 0; i < nfds; i++) {
		at = &answers->fds[i];
		if (at->fd < 0 || !at->revents)
			continue;
		rs = rdmacm_rs_get(fds[i].fd);
		if (!rs) {
			fds[i].revents = at->revents;
			continue;
		}
		rs->kind->woken(rs, at, 1);
		fds[i].revents = rs->kind->poll(rs, fds[i].events, false);
		rdmacm_rs_put(fds[i].fd);
	}
}

/* Calls poll() for the answers. No thread needs to wake this one, so it has no eventfd. If there
 * are more descriptors than the process's limit, polls in pieces, as rdmacm_rs_waiter_sleep()
 * does. */
static int poll_answers(struct answers *answers, nfds_t nfds)
{
	struct rs_waiter looker = { .fd = -1, .undo = answers_cancelled, .of = answers };
	int ret = poll(answers->fds, nfds, 0);

	if (ret >= 0 || errno != EINVAL)
		return ret;
	return rdmacm_rs_waiter_sleep(&looker, answers->fds, (int)nfds, 0);
}

/* Polls answers->fds, what remains after the rsockets were queried. Returns the number of entries
 * with events, or -1 with errno. */
static int look_at_rest(struct pollfd *fds, nfds_t nfds, struct answers *answers)
{
	const bool is_allocated = answers->fds != answers->few;
	int ready;

	if (is_allocated) /* a cancelled thread would leak it */
		rdmacm_rs_shield();
	ready = poll_answers(answers, nfds);
	if (is_allocated)
		rdmacm_rs_unshield();
	if (ready <= 0) /* a signal must not hide sockets that are ready */
		return ready && !(errno == EINTR && answers->ready) ? ready : answers->ready;
	rdmacm_rs_shield();
	take_answers(fds, nfds, answers);
	rdmacm_rs_unshield();
	return count_ready(fds, nfds);
}

static int ask_all(struct pollfd *fds, nfds_t nfds, int timeout)
{
	struct answers answers;
	int ready, ret = answers_begin(&answers, nfds);

	if (ret)
		return cma_return(ret);
	ready = spin_on_sockets(fds, nfds, timeout, &answers);
	if (answers.err)
		ready = cma_return(answers.err);
	/* no wait follows, but they count in the result, so they must be looked at now */
	else if (answers.fds && (ready || !timeout))
		ready = look_at_rest(fds, nfds, &answers);
	answers_free(&answers);
	return ready;
}

static void sleepers_cancelled(void *of)
{
	sleepers_unwatch(of);
	sleepers_free(of);
}

static int sleep_for_any(struct pollfd *fds, nfds_t nfds, int64_t deadline)
{
	struct rs_sleepers sleepers;
	int ready = 0, left;

	if (sleepers_alloc(&sleepers, nfds))
		return cma_return(ENOMEM);
	sleepers_watch(&sleepers, fds, nfds, sleepers_cancelled, &sleepers);
	while (!ready) {
		ready = ask_watched(&sleepers, fds, true);
		left = ready ? 0 : rdmacm_rs_sleep_limit(deadline);
		ready = sleep_once(&sleepers, fds, nfds, left);
		if (deadline >= 0 && rdmacm_rs_now_us() >= deadline)
			break;
	}
	sleepers_unwatch(&sleepers);
	sleepers_free(&sleepers);
	return ready;
}

/* Waits for an event. Another thread may take it before this thread reports it, so the wait may
 * have to go on. */
static int wait_for_any(struct pollfd *fds, nfds_t nfds, int timeout)
{
	int64_t deadline = timeout ? rdmacm_rs_deadline(timeout) : 0;
	int ready = ask_all(fds, nfds, timeout);

	if (ready || !timeout)
		return ready;
	rdmacm_rs_shield();
	ready = sleep_for_any(fds, nfds, deadline);
	rdmacm_rs_unshield();
	return ready;
}

static bool has_sockets(const struct pollfd *fds, nfds_t nfds)
{
	for (nfds_t i = 0; i < nfds; i++) {
		if (rs_find(fds[i].fd))
			return true;
	}
	return false;
}

CMA_EXPORT int rpoll(struct pollfd *fds, nfds_t nfds, int timeout)
{
	if (!has_sockets(fds, nfds))
		return poll(fds, nfds, timeout);
	/* A cancellation point is due here, because poll() is one, but this path may not call
	 * it. */
	pthread_testcancel();
	return wait_for_any(fds, nfds, timeout);
}

/* ---- rselect ---- */

static bool has_invalid(const struct pollfd *fds, nfds_t count)
{
	for (nfds_t i = 0; i < count; i++) {
		if (fds[i].revents & POLLNVAL)
			return true;
	}
	return false;
}

CMA_EXPORT int rselect(int nfds, fd_set *readfds, fd_set *writefds, fd_set *exceptfds,
		       struct timeval *timeout)
{
	struct pollfd fds[FD_SETSIZE];
	nfds_t count;
	int ms;

	if (nfds < 0 || nfds > FD_SETSIZE || !select_timeout(timeout, &ms))
		return cma_return(EINVAL);
	count = select_to_poll(fds, nfds, readfds, writefds, exceptfds);
	if (rpoll(fds, count, ms) < 0)
		return -1;
	if (has_invalid(fds, count))
		return cma_return(EBADF);
	return select_from_poll(fds, count, readfds, writefds, exceptfds);
}

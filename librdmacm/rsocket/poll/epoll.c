/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * epoll.c - repoll_create(), repoll_ctl(), repoll_wait(): sets of rsockets and other descriptors.
 *
 * A set is a list of rsockets, and an epoll descriptor, which contains the other descriptors and
 * provides the set's number. A thread sleeps on the members present when it begins to wait, so
 * changing the set ends the sleep. A level-triggered socket is reported as long as it has an event.
 * An edge-triggered one is reported again when more has arrived, or when a call has found nothing
 * to read, or no room, since the last report.
 */
#include "librdmacm/rsocket/cancel.h"
#include "librdmacm/rsocket/poll/by_fd.h"
#include "librdmacm/rsocket/rs.h"

#include <stdlib.h>
#include <sys/queue.h>
#include <unistd.h>

struct member {
	TAILQ_ENTRY(member) entry;
	int fd;
	uint64_t serial;
	struct epoll_event event;
	uint32_t reported; /* for EPOLLET: the events of the last report */
	/* for EPOLLET: the socket's counts at that time */
	uint32_t arrivals, found_empty, found_full;
	struct member *next_spare;
};

/* A lock that its holder may take again, because a signal handler may fork, or begin a call, in a
 * thread that holds it. */
struct set_lock {
	struct cm_lock lock;
	unsigned int again; /* how many times the holder has taken it again */
	const void *holder; /* the address of its `visits`; NULL: none */
};

struct set {
	LIST_ENTRY(set) entry;
	int fd;    /* -1 after the program has closed the set */
	int epoll; /* epoll descriptor, open while the set has users; -1 if close() took it */
	unsigned int users; /* references: the list of sets, and calls in progress */
	TAILQ_HEAD(, member) members;
	struct by_fd member_of;
	unsigned int count;
	struct member *spares; /* memory of former members */
	unsigned int spare_count;
	/* the members filled the last report, so the next call starts with the other descriptors */
	bool others_wait;
	struct set_lock lock;
	struct rs_waiters waiters;
	int64_t looked_us; /* time of the last look at the members' descriptors */
};

/* A thread's call on a set. Calls nest, because a signal handler may begin another call, or
 * fork. */
struct visit {
	struct set *set;
	struct visit *outer, **own;
};

/* stack of this thread's calls, because a signal handler may wait in a set, too */
static __thread struct visit *visits;

static LIST_HEAD(, set) sets = LIST_HEAD_INITIALIZER(sets);
static struct by_fd set_of;
static struct set_lock sets_lock;

/* Returns &visits. Not inline, because the compiler would find the address of a thread's variable
 * anew for each use, by a call of the C library. */
static struct visit **__attribute__((noinline)) own_visits(void)
{
	return &visits;
}

/* OWN is what own_visits() returns. */
static inline void set_lock_take(struct set_lock *lock, struct visit **own)
{
	if (__atomic_load_n(&lock->holder, __ATOMIC_RELAXED) == own) {
		lock->again++;
		return;
	}
	cm_lock_take(&lock->lock);
	__atomic_store_n(&lock->holder, own, __ATOMIC_RELAXED);
}

static inline void set_lock_drop(struct set_lock *lock)
{
	if (lock->again) {
		lock->again--;
		return;
	}
	__atomic_store_n(&lock->holder, NULL, __ATOMIC_RELAXED);
	cm_lock_drop(&lock->lock);
}

/* ---- sets ---- */

static struct set *find_set_locked(int fd)
{
	return by_fd_find(&set_of, fd);
}

/* Returns the set FD, or NULL. Each set returned must be released by set_put(). */
static inline struct set *set_get(int fd, struct visit *visit, struct visit **own)
{
	struct set *set;

	set_lock_take(&sets_lock, own);
	set = find_set_locked(fd);
	if (set) {
		set->users++;
		*visit = (struct visit){ set, *own, own };
		*own = visit;
	}
	set_lock_drop(&sets_lock);
	return set;
}

enum { MOST_SPARES = 64 };

/* Keeps some memory, because programs often remove a member and add another. Takes the member out
 * of the map first: otherwise a signal handler's call could drop it once more. */
static void drop_member(struct set *set, struct member *member)
{
	by_fd_set(&set->member_of, member->fd, NULL);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	TAILQ_REMOVE(&set->members, member, entry);
	set->count--;
	if (set->spare_count == MOST_SPARES) {
		free(member);
		return;
	}
	member->next_spare = set->spares;
	set->spares = member;
	set->spare_count++;
}

static struct member *spare_take(struct set *set)
{
	struct member *member = set->spares;

	if (!member)
		return malloc(sizeof(*member));
	set->spares = member->next_spare;
	set->spare_count--;
	return member;
}

static void free_members(struct set *set)
{
	struct member *member;

	while (!TAILQ_EMPTY(&set->members))
		drop_member(set, TAILQ_FIRST(&set->members));
	while (set->spares) {
		member = set->spares;
		set->spares = member->next_spare;
		free(member);
	}
	free(set->member_of.objects);
}

static void put_set_locked(struct set *set)
{
	if (--set->users)
		return;
	rdmacm_rs_shield(); /* close() is a cancellation point, and the caller holds a lock */
	if (set->epoll >= 0)
		close(set->epoll);
	rdmacm_rs_unshield();
	free_members(set);
	free(set);
}

static void set_put(const struct visit *visit)
{
	set_lock_take(&sets_lock, visit->own);
	*visit->own = visit->outer;
	put_set_locked(visit->set);
	set_lock_drop(&sets_lock);
}

/* Drops a closed set, and wakes its waiters: otherwise they would wait for events of a set that no
 * call can reach any more. */
static void drop_set_locked(struct set *set)
{
	LIST_REMOVE(set, entry);
	by_fd_set(&set_of, set->fd, NULL);
	/* the kernel may give the number to another file */
	__atomic_store_n(&set->fd, -1, __ATOMIC_RELAXED);
	rdmacm_rs_waiters_dismiss(&set->waiters);
	put_set_locked(set);
}

int rdmacm_rs_set_close(int fd)
{
	struct set *set;

	set_lock_take(&sets_lock, &visits);
	set = find_set_locked(fd);
	if (set)
		drop_set_locked(set);
	set_lock_drop(&sets_lock);
	return set ? 0 : EBADF;
}

static int add_set(struct set *set)
{
	struct set *old;
	int ret;

	set->users = 1;
	set_lock_take(&sets_lock, &visits);
	ret = by_fd_reserve(&set_of, set->fd);
	if (ret) {
		set_lock_drop(&sets_lock);
		return ret;
	}
	/* the program closed it with close(), which this library does not see */
	old = find_set_locked(set->fd);
	if (old) {
		old->epoll = -1;
		drop_set_locked(old);
	}
	LIST_INSERT_HEAD(&sets, set, entry);
	by_fd_set(&set_of, set->fd, set);
	set_lock_drop(&sets_lock);
	return 0;
}

CMA_EXPORT int repoll_create(int size)
{
	struct set *set;
	int fd, ret;

	if (size <= 0)
		return cma_return(EINVAL);
	set = calloc(1, sizeof(*set));
	if (!set)
		return cma_return(ENOMEM);
	set->fd = epoll_create1(0);
	if (set->fd < 0) {
		free(set);
		return -1;
	}
	set->epoll = set->fd;
	TAILQ_INIT(&set->members);
	rdmacm_rs_waiters_forget(&set->waiters);
	fd = set->fd;
	ret = add_set(set);
	if (!ret)
		return fd;
	close(fd);
	free(set);
	return cma_return(ret);
}

/* ---- members ---- */

/* Returns the member for RS. In a child, members for the parent's connections match no socket,
 * because the serials changed (forked.c). */
static inline struct member *find_member(const struct set *set, const struct rs *rs)
{
	struct member *member = by_fd_find(&set->member_of, rs->fd);

	return member && member->serial == rs->serial ? member : NULL;
}

/* Sets the member's events. As in Linux, EPOLLERR and EPOLLHUP are always reported, unless
 * EPOLLONESHOT disabled the member. */
static void member_ask(struct member *member, const struct epoll_event *event)
{
	member->event = *event;
	member->event.events |= EPOLLERR | EPOLLHUP;
}

enum { OF_EXCLUSIVE = EPOLLIN | EPOLLOUT | EPOLLERR | EPOLLHUP | EPOLLET };

/* Returns whether the flags are compatible. EPOLLEXCLUSIVE lets Linux wake only some of the sets
 * with a member; here all are woken, but invalid combinations are refused as in Linux. */
static bool asks_rightly(uint32_t events)
{
	return !(events & EPOLLEXCLUSIVE) ||
	       !(events & ~(uint32_t)(OF_EXCLUSIVE | EPOLLEXCLUSIVE | EPOLLWAKEUP));
}

static int add_member(struct set *set, const struct rs *rs, const struct epoll_event *event)
{
	struct member *member = by_fd_find(&set->member_of, rs->fd);

	if (member) /* of a closed socket that had the number */
		drop_member(set, member);
	if (by_fd_reserve(&set->member_of, rs->fd))
		return ENOMEM;
	member = spare_take(set);
	if (!member)
		return ENOMEM;
	*member = (struct member){ .fd = rs->fd, .serial = rs->serial };
	member_ask(member, event);
	TAILQ_INSERT_HEAD(&set->members, member, entry);
	set->count++;
	/* last, because a signal handler's call may drop a member that the map has */
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	by_fd_set(&set->member_of, rs->fd, member);
	return 0;
}

static int modify_member(struct member *member, const struct epoll_event *event)
{
	if (member->event.events & EPOLLEXCLUSIVE)
		return EINVAL;
	member_ask(member, event);
	member->reported = 0;
	return 0;
}

static int change_member(struct set *set, int op, const struct rs *rs,
			 const struct epoll_event *event)
{
	struct member *member = find_member(set, rs);

	if (op != EPOLL_CTL_ADD && op != EPOLL_CTL_MOD && op != EPOLL_CTL_DEL)
		return EINVAL;
	if (op != EPOLL_CTL_DEL && !event)
		return op == EPOLL_CTL_MOD && !member ? ENOENT : EFAULT;
	if (op == EPOLL_CTL_ADD && !asks_rightly(event->events))
		return EINVAL;
	if (op == EPOLL_CTL_ADD)
		return member ? EEXIST : add_member(set, rs, event);
	if (op == EPOLL_CTL_MOD && event->events & EPOLLEXCLUSIVE)
		return EINVAL;
	if (!member)
		return ENOENT;
	if (op == EPOLL_CTL_MOD)
		return modify_member(member, event);
	drop_member(set, member);
	return 0;
}

/* Changes the set EPFD. RS is the socket FD, which the caller has got. Returns -1 if EPFD is no
 * set. */
static int change_set(int epfd, int op, struct rs *rs, const struct epoll_event *event)
{
	struct visit visit;
	struct set *set = set_get(epfd, &visit, own_visits());
	int ret;

	if (!set)
		return -1;
	set_lock_take(&set->lock, visit.own);
	ret = change_member(set, op, rs, event);
	rdmacm_rs_wake(&set->waiters);
	set_lock_drop(&set->lock);
	set_put(&visit);
	return ret;
}

CMA_EXPORT int repoll_ctl(int epfd, int op, int fd, struct epoll_event *event)
{
	struct rs *rs = rs_get(fd);
	int ret = -1;

	if (rs) {
		ret = change_set(epfd, op, rs, event);
		rs_put(fd);
	}
	return ret < 0 ? epoll_ctl(epfd, op, fd, event) : cma_return(ret);
}

/* ---- waiting ---- */

enum { LOOK_US = 5000 };
enum { POLL_EVENTS = EPOLLIN | EPOLLOUT | EPOLLPRI | EPOLLRDHUP | EPOLLRDNORM | EPOLLWRNORM };

/* epoll's event bits equal poll's, so that no conversion is needed. */
_Static_assert(EPOLLIN == POLLIN && EPOLLOUT == POLLOUT && EPOLLERR == POLLERR &&
		       EPOLLHUP == POLLHUP && EPOLLRDHUP == POLLRDHUP,
	       "Linux: eventpoll.h");

/* For EPOLLET: returns the socket's current events NOW if one of them is new, else 0. */
static uint32_t news_of_member(struct member *member, const struct rs *rs, uint32_t now)
{
	uint32_t fresh = now & ~member->reported;

	if (rs->arrivals != member->arrivals || rs->found_empty != member->found_empty)
		fresh |= now & (EPOLLIN | EPOLLRDNORM);
	if (rs->found_full != member->found_full)
		fresh |= now & (EPOLLOUT | EPOLLWRNORM);
	member->reported = now;
	if (!fresh)
		return 0;
	member->arrivals = rs->arrivals;
	member->found_empty = rs->found_empty;
	member->found_full = rs->found_full;
	return now;
}

static bool report_member(struct member *member, struct rs *rs, bool sleep,
			  struct epoll_event *event)
{
	uint32_t wanted = member->event.events;
	uint32_t now;

	if (!wanted) /* EPOLLONESHOT, already reported, so disabled */
		return false;
	now = (uint16_t)rs->kind->poll(rs, (short)(wanted & POLL_EVENTS), sleep);
	if (wanted & EPOLLET) {
		cm_lock_take(&rs->lock);
		now = news_of_member(member, rs, now);
		cm_lock_drop(&rs->lock);
	}
	if (!now)
		return false;
	*event = (struct epoll_event){ .events = now, .data = member->event.data };
	if (wanted & EPOLLONESHOT)
		member->event.events = 0;
	return true;
}

/* Moves a reported member to the end, so that all members get their turn. */
static void rotate_members(struct set *set, struct member *last)
{
	TAILQ_REMOVE(&set->members, last, entry);
	TAILQ_INSERT_TAIL(&set->members, last, entry);
}

/* Collects the members' events, and removes members whose sockets were closed, as epoll does by
 * itself. */
static int collect_events(struct set *set, bool sleep, struct epoll_event *events, int room)
{
	struct member *member = TAILQ_FIRST(&set->members), *next;
	unsigned int left = set->count;
	struct rs *rs;
	int count = 0, fd;

	for (; member && left-- && count < room; member = next) {
		next = TAILQ_NEXT(member, entry);
		fd = member->fd;
		rs = rdmacm_rs_get(fd);
		if (!rs || rs->serial != member->serial)
			drop_member(set, member);
		else if (report_member(member, rs, sleep, &events[count])) {
			count++;
			if (next)
				rotate_members(set, member);
		}
		if (rs)
			rdmacm_rs_put(fd);
	}
	return count;
}

static int collect_others(const struct set *set, struct epoll_event *events, int room)
{
	return epoll_wait(__atomic_load_n(&set->fd, __ATOMIC_RELAXED), events, room, 0);
}

/* Collects all events. If the members take all the room, the next call begins with the other
 * descriptors, because a member that is always ready would hide them. */
static int collect_all(const struct visit *visit, bool sleep, struct epoll_event *events, int room)
{
	struct set *set = visit->set;
	int first = 0, count, others;

	set_lock_take(&set->lock, visit->own);
	if (set->others_wait)
		first = max_of(collect_others(set, events, room), 0);
	count = first + collect_events(set, sleep, events + first, room - first);
	set->others_wait = !first && count == room;
	set_lock_drop(&set->lock);
	if (first || count == room)
		return count;
	others = collect_others(set, events + count, room - count);
	return others > 0 ? count + others : others < 0 && !count ? -1 : count;
}

static struct pollfd *fds_of_set(struct set *set, nfds_t *count)
{
	struct pollfd *fds;
	struct member *member;

	*count = 0;
	fds = calloc(set->count + 1, sizeof(*fds));
	if (fds) {
		fds[(*count)++] =
			(struct pollfd){ .fd = __atomic_load_n(&set->fd, __ATOMIC_RELAXED),
					 .events = POLLIN };
		TAILQ_FOREACH(member, &set->members, entry)
			fds[(*count)++] = (struct pollfd){ .fd = member->fd };
	}
	return fds;
}

struct nap {
	struct visit *visit;
	struct pollfd *fds;
	nfds_t count;
	struct rs_sleepers *sleepers;
};

static void nap_cancelled(void *of)
{
	struct nap *nap = of;

	rdmacm_rs_sleepers_free(nap->sleepers);
	free(nap->fds);
	set_put(nap->visit);
}

static bool nap_begin(struct nap *nap)
{
	struct set *set = nap->visit->set;

	set_lock_take(&set->lock, nap->visit->own);
	set->looked_us = rdmacm_rs_now_us();
	nap->fds = fds_of_set(set, &nap->count);
	if (nap->fds)
		nap->sleepers = rdmacm_rs_sleepers_alloc(nap->fds, nap->count, &set->waiters,
							 nap_cancelled, nap);
	set_lock_drop(&set->lock);
	if (!nap->sleepers)
		free(nap->fds);
	return nap->sleepers;
}

static void nap_end(struct nap *nap)
{
	rdmacm_rs_sleepers_free(nap->sleepers);
	free(nap->fds);
}

/* Sleeps, unless there are events already; returns their number in *COUNT. Watches the set before
 * reading it, so that no new member is missed. */
static int sleep_on_set(struct visit *visit, struct epoll_event *events, int room, int64_t deadline,
			int *count)
{
	struct nap nap = { .visit = visit };
	int ret = 0;

	if (!nap_begin(&nap))
		return ENOMEM;
	*count = collect_all(visit, true, events, room);
	if (*count < 0 || (!*count && rdmacm_rs_sleep(nap.sleepers, nap.fds, nap.count,
						      rdmacm_rs_sleep_limit(deadline)) < 0))
		ret = errno;
	nap_end(&nap);
	return ret;
}

/* Reads rdma_cm's events now and then. Otherwise only sleeping threads read them, and no thread
 * sleeps while a member is always ready. */
static void look_if_due(struct visit *visit)
{
	struct nap nap = { .visit = visit };
	bool is_due;

	set_lock_take(&visit->set->lock, visit->own);
	is_due = visit->set->count && rdmacm_rs_now_us() >= visit->set->looked_us + LOOK_US;
	set_lock_drop(&visit->set->lock);
	if (!is_due || !nap_begin(&nap))
		return;
	rdmacm_rs_sleep(nap.sleepers, nap.fds, nap.count, 0);
	nap_end(&nap);
}

static int wait_in_set(struct visit *visit, struct epoll_event *events, int room, int timeout)
{
	int64_t deadline = rdmacm_rs_deadline(timeout);
	int count, ret;

	look_if_due(visit);
	for (;;) {
		count = collect_all(visit, false, events, room);
		if (count || (deadline >= 0 && rdmacm_rs_now_us() >= deadline))
			return count;
		ret = sleep_on_set(visit, events, room, deadline, &count);
		if (ret)
			return cma_return(ret);
		if (count)
			return count;
	}
}

CMA_EXPORT int repoll_wait(int epfd, struct epoll_event *events, int maxevents, int timeout)
{
	struct visit visit;
	struct set *set = maxevents > 0 ? set_get(epfd, &visit, own_visits()) : NULL;
	int ret;

	if (!set)
		return epoll_wait(epfd, events, maxevents, timeout);
	rdmacm_rs_shield();
	ret = wait_in_set(&visit, events, maxevents, timeout);
	set_put(&visit);
	rdmacm_rs_unshield();
	return ret;
}

/* ---- fork() ---- */

/* Locks all sets before fork(), so that no other thread is changing one. The forking thread's own
 * calls on sets continue in parent and child. */
void rdmacm_rs_epoll_before_fork(void)
{
	struct set *set;

	set_lock_take(&sets_lock, &visits);
	LIST_FOREACH(set, &sets, entry)
		set_lock_take(&set->lock, &visits);
}

static void unlock_all(void)
{
	struct set *set;

	LIST_FOREACH(set, &sets, entry)
		set_lock_drop(&set->lock);
	set_lock_drop(&sets_lock);
}

void rdmacm_rs_epoll_in_parent(void)
{
	unlock_all();
}

static unsigned int visits_count(const struct set *set)
{
	unsigned int count = 0;

	for (const struct visit *visit = visits; visit; visit = visit->outer)
		count += visit->set == set;
	return count;
}

/* Releases the locks in the child of fork(), which keeps the sets and their descriptors. If a
 * signal handler forked, this thread's calls continue in the child, so each set counts them as
 * users. */
void rdmacm_rs_epoll_forked(void)
{
	struct set *set;

	LIST_FOREACH(set, &sets, entry) {
		set->users = 1 + visits_count(set);
		rdmacm_rs_waiters_inherit(&set->waiters);
	}
	unlock_all();
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * engine.c - the thread that runs the adapters.
 *
 * Doorbells are words in shared memory and nothing tells when one is written, so they are polled: without pause for a short
 * while after activity, then with naps that grow. Where no doorbell page exists there is nothing to poll: the thread blocks
 * until it is kicked. A doorbell is exchanged with 0; several rings may have become one, which the device core knows.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "softhca/front/process/adapter.h"
#include "softhca/front/process/daemon.h"
#include "softhca/front/process/engine.h"
#include "softhca/log.h"

enum {
	SPIN_ROUNDS = 20,     /* without anything to do, before the first nap */
	FIRST_NAP_NS = 2000,
	LAST_NAP_NS = 1000000,
	NAPS_OF_A_LENGTH = 64, /* before they double */
	CQ_DOORBELL = 0x20,
	NS_PER_S = 1000000000,
};

/* Where a send queue may ring: two registers per page, each with two halves written in turn. PRM: Doorbells, BlueFlame */
static const unsigned int sq_doorbells[] = { 0x800, 0x900, 0xa00, 0xb00 };

static struct {
	struct daemon *daemon;
	pthread_t thread;
	int kick_fd;
	atomic_bool stop;
	atomic_bool blocked;
	atomic_uint pages; /* of all adapters */
	uint64_t naps, nap_ns;
	unsigned int idle_rounds;
} engine;

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * NS_PER_S + now.tv_nsec;
}

static bool doorbell_taken(volatile uint64_t *page, unsigned int offset)
{
	volatile uint64_t *word = page + offset / sizeof(*page);

	return *word && __atomic_exchange_n(word, 0, __ATOMIC_ACQ_REL);
}

static bool scan_page(struct adapter *adapter, const struct uar_page *page)
{
	bool send = false, arm = doorbell_taken(page->page, CQ_DOORBELL);

	for (unsigned int i = 0; i < sizeof(sq_doorbells) / sizeof(sq_doorbells[0]); i++)
		send |= doorbell_taken(page->page, sq_doorbells[i]);
	if (arm)
		hca_uar_scan_cq(adapter->hca, page->uar);
	if (send)
		hca_uar_scan_sq(adapter->hca, page->uar);
	return arm || send;
}

static bool scan_adapter(struct adapter *adapter)
{
	struct uar_page *page;
	bool found = false;

	pthread_mutex_lock(&adapter->uar_lock);
	LIST_FOREACH(page, &adapter->uar_pages, in_adapter)
		found |= scan_page(adapter, page);
	pthread_mutex_unlock(&adapter->uar_lock);
	return found;
}

/* One round over all adapters; sets when the next is due at the latest. True if there was work. */
static bool run_adapters(uint64_t now, uint64_t *due)
{
	bool worked = false;

	*due = HCA_IDLE;
	for (unsigned int i = 0; i < engine.daemon->num_adapters; i++) {
		struct adapter *adapter = engine.daemon->adapters[i];
		uint64_t at;

		worked |= scan_adapter(adapter);
		at = hca_progress(adapter->hca, now);
		worked |= !at;
		if (at < *due)
			*due = at;
	}
	return worked;
}

/* Until a kick, or until DUE. */
static void block(uint64_t now, uint64_t due)
{
	struct pollfd pfd = { .fd = engine.kick_fd, .events = POLLIN };
	struct timespec timeout, *wait = NULL;
	eventfd_t value;

	if (due != HCA_IDLE) {
		uint64_t ns = due > now ? due - now : 0;

		timeout = (struct timespec){ ns / NS_PER_S, ns % NS_PER_S };
		wait = &timeout;
	}
	if (ppoll(&pfd, 1, wait, NULL) > 0)
		eventfd_read(engine.kick_fd, &value);
}

static void nap(uint64_t now, uint64_t due)
{
	struct timespec time = { .tv_nsec = engine.nap_ns };

	if (due <= now)
		return;
	if (due - now < engine.nap_ns)
		time.tv_nsec = due - now;
	nanosleep(&time, NULL);
	if (++engine.naps % NAPS_OF_A_LENGTH == 0 && engine.nap_ns < LAST_NAP_NS)
		engine.nap_ns *= 2;
}

static void wake_up(void)
{
	engine.idle_rounds = 0;
	engine.naps = 0;
	engine.nap_ns = FIRST_NAP_NS;
}

static void rest(uint64_t now, uint64_t due)
{
	if (!atomic_load(&engine.pages)) {
		atomic_store(&engine.blocked, true);
		if (!atomic_load(&engine.pages))
			block(now, due);
		atomic_store(&engine.blocked, false);
		wake_up();
	} else if (++engine.idle_rounds > SPIN_ROUNDS) {
		nap(now, due);
	}
}

/* Naps must end on time, and the thread must run soon after: precise timers, and a short slice, which from Linux 6.12 on lets
 * a thread that wakes up go before one that is in the midst of a longer slice. */
static void tune_thread(void)
{
	struct {
		uint32_t size, policy;
		uint64_t flags;
		int32_t nice;
		uint32_t priority;
		uint64_t runtime, deadline, period;
	} attr = { .size = sizeof(attr), .runtime = 100000 };

	prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0);
	if (syscall(SYS_sched_setattr, 0, &attr, 0))
		log_note("engine: no short slice: %s", strerror(errno));
}

static void *engine_main(void *unused)
{
	uint64_t due;

	tune_thread();
	wake_up();
	while (!atomic_load(&engine.stop)) {
		uint64_t now = now_ns();

		if (run_adapters(now, &due))
			wake_up();
		else
			rest(now, due);
	}
	return unused;
}

int engine_start(struct daemon *daemon)
{
	int ret;

	engine.daemon = daemon;
	engine.kick_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (engine.kick_fd < 0)
		return errno;
	ret = pthread_create(&engine.thread, NULL, engine_main, NULL);
	if (ret)
		close(engine.kick_fd);
	return ret;
}

void engine_stop(void)
{
	atomic_store(&engine.stop, true);
	eventfd_write(engine.kick_fd, 1);
	pthread_join(engine.thread, NULL);
	close(engine.kick_fd);
}

void engine_kick(void)
{
	if (atomic_load(&engine.blocked))
		eventfd_write(engine.kick_fd, 1);
}

void engine_add_page(struct adapter *adapter, struct uar_page *page)
{
	pthread_mutex_lock(&adapter->uar_lock);
	LIST_INSERT_HEAD(&adapter->uar_pages, page, in_adapter);
	pthread_mutex_unlock(&adapter->uar_lock);
	atomic_fetch_add(&engine.pages, 1);
	engine_kick();
}

void engine_remove_page(struct adapter *adapter, struct uar_page *page)
{
	pthread_mutex_lock(&adapter->uar_lock);
	LIST_REMOVE(page, in_adapter);
	pthread_mutex_unlock(&adapter->uar_lock);
	atomic_fetch_sub(&engine.pages, 1);
}

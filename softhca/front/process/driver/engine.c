/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * engine.c - the thread that runs the adapters.
 *
 * Doorbells are words in shared memory, and writing one notifies nobody. So the thread polls them:
 * without pause for a few microseconds after activity, then with growing naps. Without doorbell
 * pages it blocks until it is kicked. It reads a doorbell by exchanging it with 0; several rings
 * may have merged into one, which the device core expects.
 *
 * If as many programs poll as there are CPUs, polling without pause delays the very program whose
 * doorbell it waits for. So the thread learns for each page whether spinning pays: whether the next
 * doorbell came during the last spins. The naps keep its CPU usage below a fair share, so that the
 * scheduler runs it at once when it wakes. Decision: docs/adr/0039.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "softhca/net/fabric.h"
#include "softhca/front/process/driver/adapter.h"
#include "softhca/front/process/driver/engine.h"
#include "softhca/log.h"
#include "util/bits.h"

enum {
	SPIN_NS = 5000, /* after work, before the first nap */
	/* A nap costs two timer interrupts, 5 to 15 us on a virtual machine, so shorter naps are
	 * not worth it. */
	FIRST_NAP_NS = 10000,
	LAST_NAP_NS = 4000000,
	/* Naps of one length before the length doubles. With one only, the engine's CPU soon idles
	 * for so long that the scheduler moves a program there from a CPU that two share. */
	NAPS_OF_A_LENGTH = 4,
	/* a kick ends naps of at least this length; shorter naps end soon anyway */
	LONG_NAP_NS = 100000,
	SPIN_CREDIT = 8,  /* fruitless spins for a page after which it gets no more */
	SPIN_RETRY = 64,  /* skipped spins for a page after which one spin is tried */
	AWAIT_NS = 50000, /* time between checks of the number of rounds */
	NS_PER_S = 1000000000,
	AWAIT_LIMIT_NS = NS_PER_S,
};

/* Send doorbell registers in a page, by kind of adapter. On mlx5 a queue may ring two registers,
 * each with two halves written in turn. PRM: Doorbells, BlueFlame. mlx4 has one register of 4
 * bytes, and two BlueFlame buffers in the next page: prm/mlx4/uar.h. */
enum { CQ_DOORBELL = 0x20, SEND_DOORBELLS = HCA_SCAN_VALUES };

static const unsigned int send_doorbells[][SEND_DOORBELLS] = {
	[HCA_MLX5] = { 0x800, 0x900, 0xa00, 0xb00 },
	[HCA_MLX4] = { 0x10, UAR_PAGE_SIZE, UAR_PAGE_SIZE + 0x100 },
};

static struct {
	struct engine_load load;
	pthread_t thread;
	int kick_fd;
	atomic_bool stop;
	/* The engine sets blocked, then reads kicked; engine_kick() sets kicked, then reads
	 * blocked. So no kick is missed. */
	atomic_bool blocked, kicked;
	atomic_uint pages;  /* doorbell pages of all adapters */
	atomic_uint rounds; /* number of rounds that have ended */
	uint64_t naps, nap_ns;
	pthread_mutex_t last_lock; /* guards last: any thread may remove that page */
	struct uar_page *last;     /* page rung last, until the spin for it ends */
	uint64_t spin_until;
} engine = { .last_lock = PTHREAD_MUTEX_INITIALIZER };

uint64_t engine_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * NS_PER_S + now.tv_nsec;
}

/* Returns the doorbell written since the last call, or 0. */
static uint64_t take_doorbell(volatile uint64_t *page, unsigned int offset)
{
	volatile uint64_t *word = page + offset / sizeof(*page);

	return *word ? __atomic_exchange_n(word, 0, __ATOMIC_ACQ_REL) : 0;
}

/* Notes that a doorbell of PAGE was rung. If the engine was spinning for the last page, the spin
 * paid, so that page gets new credit. */
static void note_ring(struct uar_page *page)
{
	pthread_mutex_lock(&engine.last_lock);
	if (engine.last)
		engine.last->spin_credit = SPIN_CREDIT;
	engine.last = page;
	pthread_mutex_unlock(&engine.last_lock);
}

static bool scan_page(struct adapter *adapter, struct uar_page *page)
{
	const unsigned int *doorbells = send_doorbells[adapter->identity->kind];
	uint64_t arm = take_doorbell(page->page, CQ_DOORBELL), sends[SEND_DOORBELLS], value;
	unsigned int count = 0;

	for (unsigned int i = 0; i < SEND_DOORBELLS && doorbells[i]; i++) {
		value = take_doorbell(page->page, doorbells[i]);
		if (!value)
			continue;
		sends[count++] = value;
		if (adapter->strict)
			hca_uar_found(adapter->hca, page->uar, doorbells[i], value);
	}
	if (arm)
		hca_uar_scan_cq(adapter->hca, page->uar, arm);
	if (count) {
		hca_uar_scan_sq(adapter->hca, page->uar, sends, count);
		note_ring(page);
	}
	return arm || count;
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

static bool run_vfio(uint64_t now, uint64_t *due)
{
	uint64_t at = engine.load.run_vfio(now);

	if (at < *due)
		*due = at;
	return !at;
}

/* Runs all adapters once and sets when the next round is due. Returns whether there was work. */
static bool run_adapters(uint64_t now, uint64_t *due)
{
	bool worked = false;

	*due = engine.load.run_faults(now);
	worked = fabric_progress(engine.load.fabric, now);
	for (unsigned int i = 0; i < engine.load.num_adapters; i++) {
		struct adapter *adapter = engine.load.adapters[i];
		uint64_t at;

		worked |= scan_adapter(adapter);
		/* Read the time after the doorbells, so that a completion's timestamp is never
		 * before its request. */
		at = hca_progress(adapter->hca, engine_now());
		worked |= !at;
		if (at < *due)
			*due = at;
	}
	return worked | run_vfio(now, due);
}

void engine_catch_up(struct adapter *adapter, unsigned int turns)
{
	scan_adapter(adapter);
	hca_finish_scans(adapter->hca, engine_now());
	while (turns && !hca_progress(adapter->hca, engine_now()))
		turns--;
}

static void wake_up(void)
{
	engine.naps = 0;
	engine.nap_ns = FIRST_NAP_NS;
	engine.spin_until = 0;
}

/* Sleeps until a kick, a packet from another host, or DUE. */
static void sleep_until(uint64_t now, uint64_t due)
{
	struct pollfd fds[2] = {
		{ .fd = engine.kick_fd, .events = POLLIN },
		/* -1 without a network */
		{ .fd = fabric_fd(engine.load.fabric), .events = POLLIN },
	};
	struct timespec timeout, *wait = NULL;
	eventfd_t value;

	if (due != HCA_IDLE) {
		uint64_t ns = due > now ? due - now : 0;

		timeout = (struct timespec){ ns / NS_PER_S, ns % NS_PER_S };
		wait = &timeout;
	}
	if (ppoll(fds, 2, wait, NULL) <= 0)
		return;
	if (fds[0].revents)
		eventfd_read(engine.kick_fd, &value);
	wake_up();
}

/* Blocks until a kick or DUE. Does not block if a kick came during the round, as the kick may
 * concern a page that the round had already passed. */
static void block_until_kick(uint64_t now, uint64_t due)
{
	atomic_store(&engine.blocked, true);
	if (!atomic_load(&engine.kicked))
		sleep_until(now, due);
	atomic_store(&engine.blocked, false);
}

static void take_nap(uint64_t now, uint64_t due)
{
	uint64_t end = now + engine.nap_ns < due ? now + engine.nap_ns : due;

	if (end <= now)
		return;
	if (engine.nap_ns >= LONG_NAP_NS || fabric_is_joined(engine.load.fabric))
		block_until_kick(now, end);
	else
		nanosleep(&(struct timespec){ .tv_nsec = end - now }, NULL);
	if (++engine.naps % NAPS_OF_A_LENGTH == 0 && engine.nap_ns < LAST_NAP_NS)
		engine.nap_ns *= 2;
}

/* Decides whether to spin for the page rung last, as a ping-pong rings the same page again. Returns
 * false when the spin ends, or if spins for the page have not paid. */
static bool spin_for_last(uint64_t now)
{
	struct uar_page *page = engine.last;

	if (!page)
		return false;
	if (!engine.spin_until) {
		if (page->spin_credit || ++page->spins_skipped % SPIN_RETRY == 0)
			engine.spin_until = now + SPIN_NS;
		else
			engine.last = NULL;
	} else if (now >= engine.spin_until) {
		if (page->spin_credit)
			page->spin_credit--;
		engine.last = NULL;
	}
	return engine.last;
}

static bool spin_for_page(uint64_t now)
{
	bool goes_on;

	pthread_mutex_lock(&engine.last_lock);
	goes_on = spin_for_last(now);
	pthread_mutex_unlock(&engine.last_lock);
	return goes_on;
}

static void rest_until(uint64_t now, uint64_t due)
{
	if (!atomic_load(&engine.pages)) {
		block_until_kick(now, due);
		wake_up();
	} else if (!spin_for_page(now)) {
		take_nap(now, due);
	}
}

/* Makes naps precise by exact timers, and wake-ups prompt by a short scheduler slice: from Linux
 * 6.12 on, a waking thread with a short slice preempts one with a longer slice. */
static void tune_thread(void)
{
	struct {
		uint32_t size, policy;
		uint64_t flags;
		int32_t nice;
		uint32_t priority;
		uint64_t runtime, deadline, period;
	} attr = { .size = sizeof(attr), .runtime = 100000 };

	/* Keeps the nice value, which the call would change */
	attr.nice = getpriority(PRIO_PROCESS, 0);
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
		uint64_t now = engine_now();
		bool worked;

		atomic_store(&engine.kicked, false);
		worked = run_adapters(now, &due);
		atomic_fetch_add(&engine.rounds, 1);
		if (worked)
			wake_up();
		else
			rest_until(now, due);
	}
	return unused;
}

int engine_start(const struct engine_load *load)
{
	int ret;

	engine.load = *load;
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
	atomic_store(&engine.kicked, true);
	if (atomic_load(&engine.blocked))
		eventfd_write(engine.kick_fd, 1);
}

/* Waits until two rounds have ended, as the first may have passed the caller's change before it was
 * made. Kicks the engine, which may rest between the two. Limits the wait, as a round may be held
 * up by memory of one program, while the caller serves all programs. */
int engine_await_round(void)
{
	const uint64_t end = engine_now() + AWAIT_LIMIT_NS;
	const unsigned int first = atomic_load(&engine.rounds);
	const struct timespec step = { .tv_nsec = AWAIT_NS };

	while (atomic_load(&engine.rounds) - first < 2) {
		if (engine_now() >= end)
			return ETIMEDOUT;
		engine_kick();
		nanosleep(&step, NULL);
	}
	return 0;
}

void engine_hold(void)
{
	atomic_fetch_add(&engine.pages, 1);
	engine_kick();
}

void engine_release(void)
{
	atomic_fetch_sub(&engine.pages, 1);
}

void engine_add_page(struct adapter *adapter, struct uar_page *page)
{
	hca_uar_place(adapter->hca, page->uar, page->page);
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
	pthread_mutex_lock(&engine.last_lock);
	if (engine.last == page)
		engine.last = NULL;
	pthread_mutex_unlock(&engine.last_lock);
	pthread_mutex_unlock(&adapter->uar_lock);
	hca_uar_place(adapter->hca, page->uar, NULL);
	atomic_fetch_sub(&engine.pages, 1);
}

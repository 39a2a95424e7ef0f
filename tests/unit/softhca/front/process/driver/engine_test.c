/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * engine_test.c - the rules of the engine's rounds: which doorbells it takes, when it spins, naps
 * and blocks, and when it has found work. One thread, with a clock and sleeps of the test.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include <cmocka.h>

static int fake_clock(clockid_t clock, struct timespec *now);
static int fake_sleep(const struct timespec *time, struct timespec *rest);
static int fake_ppoll(struct pollfd *fds, nfds_t count, const struct timespec *time,
		      const sigset_t *mask);
static int fake_create(pthread_t *thread, const pthread_attr_t *attr, void *(*run)(void *),
		       void *arg);
static int fake_join(pthread_t thread, void **result);

#define clock_gettime  fake_clock
#define nanosleep      fake_sleep
#define ppoll          fake_ppoll
#define pthread_create fake_create
#define pthread_join   fake_join
#include "softhca/front/process/driver/engine.c"

enum { NOW = 1000, UAR = 0x21, FABRIC_FD = 900, ROOM = 8 };

static struct {
	uint64_t now;
	unsigned int naps; /* calls of nanosleep() */
	uint64_t nap_ns;   /* of the last one */
	/* calls of ppoll(): the last one's time, and what it reports */
	unsigned int polls;
	bool forever;
	uint64_t poll_ns;
	short kick_events, fabric_events;
	bool was_blocked;
	int create_error;
	unsigned int created, joined;
	void *(*thread)(void *);
	/* what the adapter was told */
	uint64_t sends[SEND_DOORBELLS], arm;
	unsigned int num_sends, scans, arms, finds, finishes, runs;
	unsigned int found_at[ROOM];
	const volatile uint64_t *placed;
	unsigned int places;
	uint64_t next[2]; /* of each adapter */
	uint64_t run_at[2];
	uint64_t faults_next, vfio_next;
	unsigned int rounds; /* after which the engine stops; 0: it goes on */
	bool fabric_works, is_joined;
	struct adapter adapters[2];
	struct adapter *list[2];
	struct uar_page page, other;
	uint64_t registers[2 * UAR_PAGE_SIZE / 8];
	bool answers_kicks; /* each sleep is a round */
} it;

static struct identity identity;

static int fake_clock(clockid_t clock, struct timespec *now)
{
	assert_int_equal(clock, CLOCK_MONOTONIC);
	*now = (struct timespec){ .tv_sec = (time_t)(it.now / 1000000000),
				  .tv_nsec = (long)(it.now % 1000000000) };
	return 0;
}

static int fake_sleep(const struct timespec *time, struct timespec *rest)
{
	assert_null(rest);
	assert_int_equal(time->tv_sec, 0);
	it.naps++;
	it.nap_ns = (uint64_t)time->tv_nsec;
	it.now += it.nap_ns;
	if (it.answers_kicks)
		atomic_fetch_add(&engine.rounds, 1);
	return 0;
}

static int fake_ppoll(struct pollfd *fds, nfds_t count, const struct timespec *time,
		      const sigset_t *mask)
{
	assert_int_equal(count, 2);
	assert_null(mask);
	assert_int_equal(fds[0].fd, engine.kick_fd);
	assert_int_equal(fds[0].events, POLLIN);
	assert_int_equal(fds[1].fd, FABRIC_FD);
	assert_int_equal(fds[1].events, POLLIN);
	it.polls++;
	it.forever = !time;
	it.poll_ns = time ? (uint64_t)time->tv_sec * 1000000000 + (uint64_t)time->tv_nsec : 0;
	it.was_blocked = atomic_load(&engine.blocked);
	fds[0].revents = it.kick_events;
	fds[1].revents = it.fabric_events;
	return !!it.kick_events + !!it.fabric_events;
}

static int fake_create(pthread_t *thread, const pthread_attr_t *attr, void *(*run)(void *),
		       void *arg)
{
	(void)thread;
	assert_null(attr);
	assert_null(arg);
	it.created++;
	it.thread = run;
	return it.create_error;
}

/* The thread ends when it has seen the stop and a kick. */
static int fake_join(pthread_t thread, void **result)
{
	eventfd_t value = 0;

	(void)thread;
	assert_null(result);
	assert_true(atomic_load(&engine.stop));
	assert_int_equal(eventfd_read(engine.kick_fd, &value), 0);
	it.joined++;
	return 0;
}

static unsigned int index_of(const struct hca *hca)
{
	return hca == it.adapters[1].hca;
}

/* Checks that LOCK is held, or that it is not. */
static void check_lock(pthread_mutex_t *lock, bool held)
{
	const int ret = pthread_mutex_trylock(lock);

	if (!ret)
		pthread_mutex_unlock(lock);
	assert_int_equal(ret, held ? EBUSY : 0);
}

void hca_uar_found(struct hca *hca, uint32_t uar, uint32_t offset, uint64_t value)
{
	assert_int_equal(uar, UAR);
	assert_int_equal(index_of(hca), 0);
	assert_true(value);
	it.found_at[it.finds++ % ROOM] = offset;
}

void hca_uar_scan_cq(struct hca *hca, uint32_t uar, uint64_t value)
{
	assert_int_equal(uar, UAR);
	assert_int_equal(index_of(hca), 0);
	it.arms++;
	it.arm = value;
}

void hca_uar_scan_sq(struct hca *hca, uint32_t uar, const uint64_t *values, unsigned int count)
{
	assert_int_equal(uar, UAR);
	assert_int_equal(index_of(hca), 0);
	assert_true(count <= SEND_DOORBELLS);
	it.scans++;
	it.num_sends = count;
	memcpy(it.sends, values, count * sizeof(*values));
	check_lock(&it.adapters[0].uar_lock, true);
}

void hca_uar_place(struct hca *hca, uint32_t uar, const volatile uint64_t *page)
{
	assert_int_equal(uar, UAR);
	assert_int_equal(index_of(hca), 0);
	check_lock(&it.adapters[0].uar_lock, false);
	it.places++;
	it.placed = page;
}

uint64_t hca_progress(struct hca *hca, uint64_t now_ns)
{
	it.run_at[index_of(hca)] = now_ns;
	it.runs++;
	return it.next[index_of(hca)];
}

void hca_finish_scans(struct hca *hca, uint64_t now_ns)
{
	assert_int_equal(index_of(hca), 0);
	assert_int_equal(now_ns, it.now);
	assert_int_equal(it.runs, 0);
	it.finishes++;
}

bool fabric_progress(struct fabric *fabric, uint64_t now_ns)
{
	assert_ptr_equal(fabric, &it);
	assert_int_equal(now_ns, NOW);
	return it.fabric_works;
}

int fabric_fd(const struct fabric *fabric)
{
	assert_ptr_equal(fabric, &it);
	return FABRIC_FD;
}

bool fabric_is_joined(const struct fabric *fabric)
{
	assert_ptr_equal(fabric, &it);
	return it.is_joined;
}

static uint64_t run_faults(uint64_t now)
{
	assert_int_equal(now, NOW);
	assert_false(atomic_load(&engine.kicked));
	if (it.rounds && !--it.rounds)
		atomic_store(&engine.stop, true);
	return it.faults_next;
}

static uint64_t run_vfio_adapter(uint64_t now)
{
	assert_int_equal(now, NOW);
	return it.vfio_next;
}

static int engine_begin(void **state)
{
	static uint8_t hcas[2];

	(void)state;
	memset(&it, 0, sizeof(it));
	it.now = NOW;
	it.faults_next = it.vfio_next = HCA_IDLE;
	identity.kind = HCA_MLX5;
	for (unsigned int i = 0; i < 2; i++) {
		it.adapters[i].identity = &identity;
		it.adapters[i].hca = (struct hca *)&hcas[i];
		pthread_mutex_init(&it.adapters[i].uar_lock, NULL);
		LIST_INIT(&it.adapters[i].uar_pages);
		it.list[i] = &it.adapters[i];
		it.next[i] = HCA_IDLE;
	}
	it.page.uar = it.other.uar = UAR;
	it.page.page = it.registers;
	it.other.page = it.registers + UAR_PAGE_SIZE / 8;
	atomic_store(&engine.stop, false);
	atomic_store(&engine.blocked, false);
	atomic_store(&engine.kicked, false);
	atomic_store(&engine.pages, 0);
	atomic_store(&engine.rounds, 0);
	engine.naps = engine.nap_ns = engine.spin_until = 0;
	engine.last = NULL;
	return engine_start(&(struct engine_load){ .fabric = (struct fabric *)&it,
						   .adapters = it.list,
						   .num_adapters = 2,
						   .run_faults = run_faults,
						   .run_vfio = run_vfio_adapter });
}

static int engine_end(void **state)
{
	(void)state;
	check_lock(&engine.last_lock, false);
	for (unsigned int i = 0; i < 2; i++) {
		check_lock(&it.adapters[i].uar_lock, false);
		pthread_mutex_destroy(&it.adapters[i].uar_lock);
	}
	close(engine.kick_fd);
	return 0;
}

static void doorbell_ring(unsigned int offset, uint64_t value)
{
	it.registers[offset / 8] = value;
}

/* Returns the number of kicks that wait in the engine's descriptor. */
static eventfd_t kicks(void)
{
	eventfd_t value = 0;

	return eventfd_read(engine.kick_fd, &value) ? 0 : value;
}

static void each_doorbell_is_taken_once(void **state)
{
	static const unsigned int offsets[] = { 0x800, 0x900, 0xa00, 0xb00 };

	(void)state;
	LIST_INSERT_HEAD(&it.adapters[0].uar_pages, &it.page, in_adapter);
	for (unsigned int i = 0; i < 4; i++)
		doorbell_ring(offsets[i], 0x100 + i);
	doorbell_ring(0x20, 0x55);
	assert_true(scan_adapter(&it.adapters[0]));
	assert_int_equal(it.scans, 1);
	assert_int_equal(it.num_sends, 4);
	for (unsigned int i = 0; i < 4; i++)
		assert_int_equal(it.sends[i], 0x100 + i);
	assert_int_equal(it.arms, 1);
	assert_int_equal(it.arm, 0x55);
	assert_int_equal(it.finds, 0);
	assert_false(scan_adapter(&it.adapters[0]));
	assert_int_equal(it.scans + it.arms, 2);
	assert_ptr_equal(engine.last, &it.page);
}

static void the_buffers_that_were_rung_are_told(void **state)
{
	(void)state;
	LIST_INSERT_HEAD(&it.adapters[0].uar_pages, &it.page, in_adapter);
	doorbell_ring(0xa00, 0x77);
	assert_true(scan_adapter(&it.adapters[0]));
	assert_int_equal(it.num_sends, 1);
	assert_int_equal(it.sends[0], 0x77);
	assert_int_equal(it.arms, 0);
	it.adapters[0].strict = true;
	doorbell_ring(0x900, 0x78);
	doorbell_ring(0xb00, 0x79);
	assert_true(scan_adapter(&it.adapters[0]));
	assert_int_equal(it.finds, 2);
	assert_int_equal(it.found_at[0], 0x900);
	assert_int_equal(it.found_at[1], 0xb00);
}

static void an_armed_cq_is_work_but_no_ring(void **state)
{
	(void)state;
	LIST_INSERT_HEAD(&it.adapters[0].uar_pages, &it.page, in_adapter);
	doorbell_ring(0x20, 0x55);
	assert_true(scan_adapter(&it.adapters[0]));
	assert_int_equal(it.arms, 1);
	assert_int_equal(it.scans, 0);
	assert_null(engine.last);
}

static void mlx4_has_its_own_doorbells(void **state)
{
	(void)state;
	identity.kind = HCA_MLX4;
	LIST_INSERT_HEAD(&it.adapters[0].uar_pages, &it.page, in_adapter);
	doorbell_ring(0x10, 1);
	doorbell_ring(0x1000, 2);
	doorbell_ring(0x1100, 3);
	doorbell_ring(0x800, 4);
	assert_true(scan_adapter(&it.adapters[0]));
	assert_int_equal(it.num_sends, 3);
	assert_int_equal(it.sends[0], 1);
	assert_int_equal(it.sends[1], 2);
	assert_int_equal(it.sends[2], 3);
	assert_int_equal(it.registers[0x800 / 8], 4);
}

static void a_ring_during_a_spin_pays_for_the_last_page(void **state)
{
	(void)state;
	note_ring(&it.page);
	assert_ptr_equal(engine.last, &it.page);
	assert_int_equal(it.page.spin_credit, 0);
	note_ring(&it.other);
	assert_ptr_equal(engine.last, &it.other);
	assert_int_equal(it.page.spin_credit, 8);
	assert_int_equal(it.other.spin_credit, 0);
}

static void a_spin_lasts_as_long_as_it_may(void **state)
{
	(void)state;
	assert_false(spin_for_page(NOW));
	engine.last = &it.page;
	it.page.spin_credit = 2;
	assert_true(spin_for_page(NOW));
	assert_int_equal(engine.spin_until, NOW + 5000);
	assert_true(spin_for_page(NOW + 4999));
	assert_int_equal(it.page.spin_credit, 2);
	assert_false(spin_for_page(NOW + 5000));
	assert_int_equal(it.page.spin_credit, 1);
	assert_null(engine.last);
	assert_int_equal(it.page.spins_skipped, 0);
}

static void a_page_without_credit_is_tried_now_and_then(void **state)
{
	(void)state;
	for (unsigned int i = 1; i <= 128; i++) {
		engine.last = &it.page;
		engine.spin_until = 0;
		assert_int_equal(spin_for_page(NOW), i % 64 == 0);
	}
	assert_false(spin_for_page(NOW + 5000));
	assert_int_equal(it.page.spin_credit, 0);
}

static void naps_grow(void **state)
{
	uint64_t expected = 10000;

	(void)state;
	wake_up();
	for (unsigned int i = 0; expected < 100000; i++) {
		take_nap(it.now, HCA_IDLE);
		assert_int_equal(it.naps, i + 1);
		assert_int_equal(it.nap_ns, expected);
		if (i % 4 == 3)
			expected *= 2;
		assert_int_equal(engine.nap_ns, expected);
	}
	assert_int_equal(it.polls, 0);
	for (unsigned int i = 0; i < 100; i++)
		take_nap(it.now, HCA_IDLE);
	assert_int_equal(it.polls, 100); /* a kick ends the long ones */
	assert_int_equal(it.poll_ns, 10000 << 9);
	assert_int_equal(engine.nap_ns, 10000 << 9);
}

static void a_nap_of_100_us_ends_by_a_kick(void **state)
{
	(void)state;
	engine.nap_ns = 99999;
	take_nap(it.now, HCA_IDLE);
	assert_int_equal(it.polls, 0);
	engine.nap_ns = 100000;
	take_nap(it.now, HCA_IDLE);
	assert_int_equal(it.polls, 1);
	assert_int_equal(it.poll_ns, 100000);
	assert_true(it.was_blocked);
	assert_false(atomic_load(&engine.blocked));
	engine.nap_ns = 10000;
	it.is_joined = true; /* another host's packet may come */
	take_nap(it.now, HCA_IDLE);
	assert_int_equal(it.polls, 2);
	assert_int_equal(it.naps, 1);
}

static void a_nap_ends_when_work_is_due(void **state)
{
	(void)state;
	wake_up();
	take_nap(NOW, NOW + 7);
	assert_int_equal(it.nap_ns, 7);
	take_nap(NOW, NOW + 10000);
	assert_int_equal(it.nap_ns, 10000);
	take_nap(NOW, NOW);
	take_nap(NOW, NOW - 1);
	assert_int_equal(it.naps, 2);
	assert_int_equal(engine.naps, 2);
}

static void sleep_lasts_until_work_is_due(void **state)
{
	(void)state;
	sleep_until(NOW, HCA_IDLE);
	assert_true(it.forever);
	sleep_until(NOW, NOW + 3000000007);
	assert_false(it.forever);
	assert_int_equal(it.poll_ns, 3000000007);
	sleep_until(NOW, NOW - 1);
	assert_int_equal(it.poll_ns, 0);
	sleep_until(NOW, NOW);
	assert_int_equal(it.poll_ns, 0);
	assert_int_equal(it.polls, 4);
}

static void a_wake_up_shortens_naps(void **state)
{
	(void)state;
	engine.naps = 3;
	engine.nap_ns = 80000;
	engine.spin_until = 9;
	eventfd_write(engine.kick_fd, 1);
	sleep_until(NOW, HCA_IDLE); /* the time is over */
	assert_int_equal(engine.naps, 3);
	assert_int_equal(engine.nap_ns, 80000);
	it.fabric_events = POLLIN;
	sleep_until(NOW, HCA_IDLE);
	assert_int_equal(engine.naps, 0);
	assert_int_equal(engine.nap_ns, 10000);
	assert_int_equal(engine.spin_until, 0);
	assert_int_equal(kicks(), 1); /* was not read */
	eventfd_write(engine.kick_fd, 1);
	it.kick_events = POLLIN;
	engine.naps = 3;
	sleep_until(NOW, HCA_IDLE);
	assert_int_equal(engine.naps, 0);
	assert_int_equal(kicks(), 0);
}

static void a_kick_during_the_round_prevents_the_sleep(void **state)
{
	(void)state;
	engine_kick();
	assert_int_equal(kicks(), 0); /* nobody sleeps */
	block_until_kick(NOW, HCA_IDLE);
	assert_int_equal(it.polls, 0);
	assert_false(atomic_load(&engine.blocked));
	atomic_store(&engine.kicked, false);
	block_until_kick(NOW, HCA_IDLE);
	assert_int_equal(it.polls, 1);
	assert_true(it.was_blocked);
	assert_false(atomic_load(&engine.blocked));
	atomic_store(&engine.blocked, true);
	engine_kick();
	assert_int_equal(kicks(), 1);
}

static void the_engine_blocks_without_pages(void **state)
{
	(void)state;
	engine.naps = 3;
	rest_until(NOW, HCA_IDLE);
	assert_int_equal(it.polls, 1);
	assert_int_equal(engine.naps, 0);
	assert_int_equal(engine.nap_ns, 10000);
	engine_hold();
	assert_true(atomic_load(&engine.kicked));
	rest_until(NOW, HCA_IDLE);
	assert_int_equal(it.polls, 1);
	assert_int_equal(it.naps, 1);
	it.page.spin_credit = 1;
	engine.last = &it.page;
	rest_until(NOW, HCA_IDLE);
	assert_int_equal(it.naps, 1);
	engine_release();
	atomic_store(&engine.kicked, false);
	rest_until(NOW, HCA_IDLE);
	assert_int_equal(it.polls, 2);
}

static bool round_run(uint64_t *due)
{
	atomic_store(&engine.kicked, false);
	return run_adapters(NOW, due);
}

static void the_earliest_work_is_due(void **state)
{
	uint64_t due = 0;

	(void)state;
	assert_false(round_run(&due));
	assert_true(due == HCA_IDLE);
	it.faults_next = 50;
	it.next[0] = 60;
	it.next[1] = 70;
	it.vfio_next = 80;
	assert_false(round_run(&due));
	assert_int_equal(due, 50);
	it.next[1] = 40;
	assert_false(round_run(&due));
	assert_int_equal(due, 40);
	it.next[0] = 30;
	assert_false(round_run(&due));
	assert_int_equal(due, 30);
	it.vfio_next = 20;
	assert_false(round_run(&due));
	assert_int_equal(due, 20);
}

static void each_part_can_have_work(void **state)
{
	uint64_t due = 0;

	(void)state;
	it.fabric_works = true;
	assert_true(round_run(&due));
	it.fabric_works = false;
	it.next[0] = 0;
	assert_true(round_run(&due));
	assert_int_equal(due, 0);
	it.next[0] = HCA_IDLE;
	it.next[1] = 0;
	assert_true(round_run(&due));
	it.next[1] = HCA_IDLE;
	it.vfio_next = 0;
	assert_true(round_run(&due));
	it.vfio_next = HCA_IDLE;
	assert_false(round_run(&due));
	LIST_INSERT_HEAD(&it.adapters[0].uar_pages, &it.page, in_adapter);
	doorbell_ring(0x800, 1);
	assert_true(round_run(&due));
	assert_false(round_run(&due));
}

static void the_clock_is_read_after_the_doorbells(void **state)
{
	uint64_t due = 0;

	(void)state;
	it.now = 5000000123;
	round_run(&due);
	assert_int_equal(it.run_at[0], 5000000123);
	assert_int_equal(it.run_at[1], 5000000123);
}

static void a_page_is_scanned_until_it_is_removed(void **state)
{
	(void)state;
	engine_add_page(&it.adapters[0], &it.page);
	assert_ptr_equal(it.placed, it.page.page);
	assert_int_equal(atomic_load(&engine.pages), 1);
	assert_true(atomic_load(&engine.kicked));
	doorbell_ring(0x800, 1);
	assert_true(scan_adapter(&it.adapters[0]));
	engine.last = &it.other;
	engine_remove_page(&it.adapters[0], &it.page);
	assert_ptr_equal(engine.last, &it.other);
	assert_int_equal(it.places, 2);
	assert_null(it.placed);
	assert_int_equal(atomic_load(&engine.pages), 0);
	assert_true(LIST_EMPTY(&it.adapters[0].uar_pages));
	doorbell_ring(0x800, 1);
	assert_false(scan_adapter(&it.adapters[0]));
}

static void no_spin_is_for_a_removed_page(void **state)
{
	(void)state;
	engine_add_page(&it.adapters[0], &it.page);
	engine.last = &it.page;
	engine_remove_page(&it.adapters[0], &it.page);
	assert_null(engine.last);
}

static void catching_up_runs_the_work_that_is_there(void **state)
{
	(void)state;
	LIST_INSERT_HEAD(&it.adapters[0].uar_pages, &it.page, in_adapter);
	doorbell_ring(0x800, 1);
	it.next[0] = 0; /* there is always more */
	engine_catch_up(&it.adapters[0], 3);
	assert_int_equal(it.scans, 1);
	assert_int_equal(it.finishes, 1);
	assert_int_equal(it.runs, 3);
	it.runs = 0;
	it.next[0] = NOW + 1;
	engine_catch_up(&it.adapters[0], 3);
	assert_int_equal(it.runs, 1);
	it.runs = 0;
	engine_catch_up(&it.adapters[0], 0);
	assert_int_equal(it.runs, 0);
	assert_int_equal(it.finishes, 3);
}

static void two_rounds_are_awaited(void **state)
{
	(void)state;
	it.answers_kicks = true;
	assert_int_equal(engine_await_round(), 0);
	assert_int_equal(it.naps, 2);
	assert_int_equal(it.nap_ns, 50000);
	assert_true(atomic_load(&engine.kicked));
	atomic_store(&engine.rounds, UINT32_MAX); /* the number wraps */
	assert_int_equal(engine_await_round(), 0);
	assert_int_equal(it.naps, 4);
}

static void an_engine_that_hangs_is_not_awaited(void **state)
{
	(void)state;
	assert_int_equal(engine_await_round(), ETIMEDOUT);
	assert_int_equal(it.now, NOW + 1000000000);
}

static void rounds_follow_each_other_until_the_stop(void **state)
{
	(void)state;
	it.rounds = 3;
	engine_kick();
	assert_null(it.thread(NULL));
	assert_int_equal(atomic_load(&engine.rounds), 3);
	assert_int_equal(it.polls, 3);
	assert_true(it.forever);
	atomic_store(&engine.stop, false);
	it.rounds = 3;
	it.polls = 0;
	it.fabric_works = true; /* no rest after work */
	engine.naps = 9;
	it.thread(NULL);
	assert_int_equal(it.polls, 0);
	assert_int_equal(engine.naps, 0);
}

static void a_stop_waits_for_the_thread(void **state)
{
	const struct engine_load load = engine.load;
	const int kick_fd = engine.kick_fd;

	(void)state;
	engine_stop();
	assert_int_equal(it.joined, 1);
	assert_int_equal(fcntl(kick_fd, F_GETFD), -1);
	assert_int_equal(engine_start(&load), 0);
}

static void an_engine_that_cannot_start_is_an_error(void **state)
{
	const struct engine_load load = engine.load;
	const int kick_fd = engine.kick_fd;

	(void)state;
	assert_int_equal(it.created, 1);
	it.create_error = EAGAIN;
	assert_int_equal(engine_start(&load), EAGAIN);
	assert_int_equal(fcntl(engine.kick_fd, F_GETFD), -1);
	engine.kick_fd = kick_fd;
	assert_int_equal(fcntl(kick_fd, F_GETFL) & O_NONBLOCK, O_NONBLOCK);
	assert_int_equal(fcntl(kick_fd, F_GETFD), FD_CLOEXEC);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, engine_begin, engine_end)
	const struct CMUnitTest tests[] = {
		CASE(each_doorbell_is_taken_once),
		CASE(the_buffers_that_were_rung_are_told),
		CASE(an_armed_cq_is_work_but_no_ring),
		CASE(mlx4_has_its_own_doorbells),
		CASE(a_ring_during_a_spin_pays_for_the_last_page),
		CASE(a_spin_lasts_as_long_as_it_may),
		CASE(a_page_without_credit_is_tried_now_and_then),
		CASE(naps_grow),
		CASE(a_nap_of_100_us_ends_by_a_kick),
		CASE(a_nap_ends_when_work_is_due),
		CASE(sleep_lasts_until_work_is_due),
		CASE(a_wake_up_shortens_naps),
		CASE(a_kick_during_the_round_prevents_the_sleep),
		CASE(the_engine_blocks_without_pages),
		CASE(the_earliest_work_is_due),
		CASE(each_part_can_have_work),
		CASE(the_clock_is_read_after_the_doorbells),
		CASE(a_page_is_scanned_until_it_is_removed),
		CASE(no_spin_is_for_a_removed_page),
		CASE(catching_up_runs_the_work_that_is_there),
		CASE(two_rounds_are_awaited),
		CASE(an_engine_that_hangs_is_not_awaited),
		CASE(rounds_follow_each_other_until_the_stop),
		CASE(a_stop_waits_for_the_thread),
		CASE(an_engine_that_cannot_start_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

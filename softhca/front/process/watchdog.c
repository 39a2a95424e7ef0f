/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * watchdog.c - see watchdog.h.
 *
 * The watched thread counts its turns: odd inside a call. A thread of its own looks at the count
 * at intervals and sends a signal if it sees the same odd number twice. After an interval without a
 * call it sleeps until the next call wakes it. So the watched thread pays two stores for a call,
 * and a wake-up for the first one after a pause.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "softhca/front/process/watchdog.h"

/* Signal that interrupts a call. It is ignored by default, so a superfluous signal does no harm,
 * and no terminal or timer sends it. */
enum { WAKE_UP = SIGURG };

static struct {
	pthread_t watched, thread;
	atomic_uint turn;
	/* turn that the last signal has interrupted; even: no signal yet */
	atomic_uint interrupted;
	atomic_bool asleep, stopping;
	int wake_fd;
} dog;

static void do_nothing(int number)
{
	(void)number;
}

static int signal_mask(int how)
{
	sigset_t mask;

	sigemptyset(&mask);
	sigaddset(&mask, WAKE_UP);
	return pthread_sigmask(how, &mask, NULL);
}

int watchdog_block_signal(void)
{
	return signal_mask(SIG_BLOCK);
}

/* Installs the handler. Does not use SA_RESTART, so that an interrupted call fails with EINTR. */
static int signal_catch(void)
{
	struct sigaction action = { .sa_handler = do_nothing };

	return sigaction(WAKE_UP, &action, NULL) ? errno : 0;
}

static void interrupt_turn(unsigned int turn)
{
	atomic_store(&dog.interrupted, turn);
	pthread_kill(dog.watched, WAKE_UP);
}

/* Waits for a wake-up, for MS milliseconds at most; -1: for ever. Returns whether it has come. */
static bool wait_for_wake(int ms)
{
	struct pollfd wake = { .fd = dog.wake_fd, .events = POLLIN };
	eventfd_t count;

	return poll(&wake, 1, ms) == 1 && !eventfd_read(dog.wake_fd, &count);
}

/* Sleeps until a call begins. Stores asleep, then loads turn; watchdog_enter() stores turn, then
 * loads asleep. So at least one of the two threads sees the other's store, and no call is
 * missed. */
static void sleep_until_call(void)
{
	atomic_store(&dog.asleep, true);
	if (atomic_load(&dog.turn) % 2 == 0 && !atomic_load(&dog.stopping))
		wait_for_wake(-1);
	atomic_store(&dog.asleep, false);
}

static void *watch_turns(void *unused)
{
	unsigned int before = atomic_load(&dog.turn);

	while (!atomic_load(&dog.stopping)) {
		bool is_whole_interval = !wait_for_wake(WATCHDOG_MS);

		if (is_whole_interval && atomic_load(&dog.turn) == before) {
			if (before % 2)
				interrupt_turn(before);
			else
				sleep_until_call();
		}
		before = atomic_load(&dog.turn);
	}
	return unused;
}

/* Starts the watchdog's thread, which inherits the blocked signal, and unblocks the signal for the
 * caller. */
int watchdog_start(void)
{
	int ret = watchdog_block_signal();

	if (!ret)
		ret = signal_catch();
	if (ret)
		return ret;
	dog.watched = pthread_self();
	dog.asleep = dog.stopping = false;
	dog.wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (dog.wake_fd < 0)
		return errno;
	ret = pthread_create(&dog.thread, NULL, watch_turns, NULL);
	if (ret)
		close(dog.wake_fd);
	return ret ? ret : signal_mask(SIG_UNBLOCK);
}

void watchdog_stop(void)
{
	atomic_store(&dog.stopping, true);
	eventfd_write(dog.wake_fd, 1);
	pthread_join(dog.thread, NULL);
	close(dog.wake_fd);
}

void watchdog_enter(void)
{
	unsigned int turn = atomic_load_explicit(&dog.turn, memory_order_relaxed);

	atomic_store(&dog.turn, turn + 1);
	if (atomic_load(&dog.asleep) && atomic_exchange(&dog.asleep, false))
		eventfd_write(dog.wake_fd, 1);
}

bool watchdog_leave(void)
{
	unsigned int turn = atomic_load_explicit(&dog.turn, memory_order_relaxed);

	atomic_store_explicit(&dog.turn, turn + 1, memory_order_relaxed);
	return atomic_load_explicit(&dog.interrupted, memory_order_relaxed) == turn;
}

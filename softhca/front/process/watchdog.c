/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * watchdog.c - see watchdog.h.
 *
 * The watched thread counts its turns: odd inside a call. A thread of its own looks at the count
 * at intervals and sends a signal if it sees the same odd number twice. The watched thread pays two
 * stores for each call.
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

/* Ignored by default, and no terminal or timer sends it. */
enum { WAKE_UP = SIGURG };

static struct {
	pthread_t watched, thread;
	atomic_uint turn;
	atomic_uint interrupted; /* the last turn that was sent a signal; even: none */
	int stop_fd;
} dog;

static void do_nothing(int number)
{
	(void)number;
}

/* Without SA_RESTART, so that the interrupted call fails. */
static int signal_prepare(void)
{
	struct sigaction action = { .sa_handler = do_nothing };
	sigset_t mask;

	sigemptyset(&mask);
	sigaddset(&mask, WAKE_UP);
	if (sigaction(WAKE_UP, &action, NULL))
		return errno;
	return pthread_sigmask(SIG_UNBLOCK, &mask, NULL);
}

static void interrupt_turn(unsigned int turn)
{
	atomic_store(&dog.interrupted, turn);
	pthread_kill(dog.watched, WAKE_UP);
}

static void *watch_turns(void *unused)
{
	struct pollfd stop = { .fd = dog.stop_fd, .events = POLLIN };
	unsigned int before = 0, turn;

	while (poll(&stop, 1, WATCHDOG_MS) != 1) {
		turn = atomic_load(&dog.turn);
		if (turn == before && turn % 2)
			interrupt_turn(turn);
		before = turn;
	}
	return unused;
}

int watchdog_start(void)
{
	int ret = signal_prepare();

	if (ret)
		return ret;
	dog.watched = pthread_self();
	dog.stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (dog.stop_fd < 0)
		return errno;
	ret = pthread_create(&dog.thread, NULL, watch_turns, NULL);
	if (ret)
		close(dog.stop_fd);
	return ret;
}

void watchdog_stop(void)
{
	eventfd_write(dog.stop_fd, 1);
	pthread_join(dog.thread, NULL);
	close(dog.stop_fd);
}

void watchdog_enter(void)
{
	unsigned int turn = atomic_load_explicit(&dog.turn, memory_order_relaxed);

	atomic_store_explicit(&dog.turn, turn + 1, memory_order_relaxed);
}

bool watchdog_leave(void)
{
	unsigned int turn = atomic_load_explicit(&dog.turn, memory_order_relaxed);

	atomic_store_explicit(&dog.turn, turn + 1, memory_order_relaxed);
	return atomic_load_explicit(&dog.interrupted, memory_order_relaxed) == turn;
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * signals.c - signals whose handler runs while a thread waits for an event: the call fails with
 * EINTR, or continues if the handler was set with SA_RESTART. The interrupted call can be repeated.
 *
 * Another thread sends the signal again and again until the call has returned, so it does not
 * matter when it begins to wait.
 *
 * Covers: librdmacm/event.c, librdmacm/cmd.c, librdmacm/ep.c,
 * softhca/front/process/deferred.c, softhca/front/process/signals.c,
 * softhca/front/process/ucma/event.c
 */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/time.h>
#include <unistd.h>

#include "tests/cm/cm.h"

/* Number of signals; the first ones may come before the call waits, so one is not enough. */
enum { ENOUGH = 5 };

static atomic_int handled;

static void signal_handle(int signal)
{
	(void)signal;
	handled++;
}

static void set_handler(int flags)
{
	struct sigaction action = { .sa_handler = signal_handle, .sa_flags = flags };

	handled = 0;
	MUST(!sigaction(SIGUSR1, &action, NULL));
}

/* A thread that sends signals to another thread until that one's call returns. */
struct sender {
	pthread_t thread, target;
	bool to_process; /* sends to the process instead of the thread TARGET */
	/* If not NULL, the sender resolves an address on this id after ENOUGH signals, so that the
	 * event ends the wait. */
	struct rdma_cm_id *resolve;
	atomic_bool stop;
};

static void signal_send(const struct sender *sender)
{
	if (sender->to_process)
		kill(getpid(), SIGUSR1);
	else
		pthread_kill(sender->target, SIGUSR1);
}

static void *send_signals(void *arg)
{
	struct sockaddr_in address = cm_loopback(7);
	struct sender *sender = arg;

	while (!sender->stop && !(sender->resolve && handled >= ENOUGH)) {
		signal_send(sender);
		usleep(2000);
	}
	if (sender->resolve)
		MUST(!rdma_resolve_addr(sender->resolve, NULL, (struct sockaddr *)&address,
					RESOLVE_MS));
	return NULL;
}

/* Blocks the signal in the sender, which would otherwise receive it itself. */
static void sender_start(struct sender *sender)
{
	sigset_t set, before;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	MUST(!pthread_sigmask(SIG_BLOCK, &set, &before));
	sender->target = pthread_self();
	MUST(!pthread_create(&sender->thread, NULL, send_signals, sender));
	MUST(!pthread_sigmask(SIG_SETMASK, &before, NULL));
}

static void sender_end(struct sender *sender)
{
	sender->stop = true;
	MUST(!pthread_join(sender->thread, NULL));
}

static void event_is_interrupted(const char *who, bool to_process)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();
	struct sender sender = { .to_process = to_process };
	struct rdma_cm_event *event;

	MUST(channel);
	set_handler(0);
	sender_start(&sender);
	SAY_RET(rdma_get_cm_event(channel, &event), "%s: an event", who);
	sender_end(&sender);
	say_check(handled > 0, "%s: the handler has run", who);
	rdma_destroy_event_channel(channel);
}

static void event_goes_on(void)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();
	struct sender sender = { 0 };
	struct rdma_cm_event *event;

	MUST(channel);
	MUST(!rdma_create_id(channel, &sender.resolve, NULL, RDMA_PS_TCP));
	set_handler(SA_RESTART);
	sender_start(&sender);
	if (!SAY_RET(rdma_get_cm_event(channel, &event), "an event after the signals")) {
		say("it is %s", rdma_event_str(event->event));
		rdma_ack_cm_event(event);
	}
	sender_end(&sender);
	say_check(handled >= ENOUGH, "the handler has run");
	MUST(!rdma_destroy_id(sender.resolve));
	rdma_destroy_event_channel(channel);
}

/* An id without a channel waits inside the call, so the signal interrupts the call itself. */
static void request_is_interrupted(void)
{
	struct sockaddr_in address = cm_loopback(0);
	struct rdma_cm_id *listener, *request;
	struct sender sender = { 0 };

	MUST(!rdma_create_id(NULL, &listener, NULL, RDMA_PS_TCP));
	MUST(!rdma_bind_addr(listener, (struct sockaddr *)&address));
	MUST(!rdma_listen(listener, 1));
	for (int i = 0; i < 2; i++) {
		set_handler(0);
		sender.stop = false;
		sender_start(&sender);
		SAY_RET(rdma_get_request(listener, &request), "a request");
		sender_end(&sender);
	}
	MUST(!rdma_destroy_id(listener));
}

/* Connects to a listener that accepts nothing; destroying the listener destroys the request. */
static void connect_is_interrupted(void)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();
	struct ibv_qp_init_attr attr = {
		.cap = { .max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1 },
		.qp_type = IBV_QPT_RC,
	};
	struct rdma_conn_param param = { .retry_count = 7 };
	struct sockaddr_in address;
	struct rdma_cm_id *listener, *client;
	struct sender sender = { 0 };
	uint16_t port;

	MUST(channel);
	listener = cm_listening(channel, RDMA_PS_TCP, &port);
	address = cm_loopback(port);
	MUST(!rdma_create_id(NULL, &client, NULL, RDMA_PS_TCP));
	MUST(!rdma_resolve_addr(client, NULL, (struct sockaddr *)&address, RESOLVE_MS));
	MUST(!rdma_resolve_route(client, RESOLVE_MS));
	MUST(!rdma_create_qp(client, NULL, &attr));
	set_handler(0);
	sender_start(&sender);
	SAY_RET(rdma_connect(client, &param), "a connection");
	sender_end(&sender);
	rdma_destroy_qp(client);
	SAY_RET(rdma_destroy_id(client), "its id is destroyed");
	MUST(!rdma_destroy_id(listener));
	rdma_destroy_event_channel(channel);
}

static void *wait_beside(void *arg)
{
	sigset_t set;

	(void)arg;
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	MUST(!pthread_sigmask(SIG_UNBLOCK, &set, NULL));
	event_is_interrupted("the one thread that takes signals", true);
	return NULL;
}

static void beside_the_main_thread(void)
{
	sigset_t set, before;
	pthread_t thread;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	MUST(!pthread_sigmask(SIG_BLOCK, &set, &before));
	MUST(!pthread_create(&thread, NULL, wait_beside, NULL));
	MUST(!pthread_join(thread, NULL));
	MUST(!pthread_sigmask(SIG_SETMASK, &before, NULL));
}

static struct {
	struct rdma_cm_event *event;
	int ticks;
} held;

/* The first signal acknowledges the event for which the interrupted call waits. If the call does
 * not notice, the second signal ends the program, so that the test does not hang. */
static void tick(int signal)
{
	static const char late[] = "FAIL: the acknowledged event is still waited for\n";

	(void)signal;
	if (!held.ticks++) {
		rdma_ack_cm_event(held.event);
		return;
	}
	if (write(STDOUT_FILENO, late, sizeof(late) - 1) > 0)
		_exit(1);
	abort();
}

static void set_timer(int first_ms, int then_s)
{
	const struct itimerval timer = { .it_value.tv_usec = first_ms * 1000,
					 .it_interval.tv_sec = then_s };

	MUST(!setitimer(ITIMER_REAL, &timer, NULL));
}

/* The process must have no second thread, which could acknowledge the event; so this runs before
 * the topics that start threads. */
void cm_diff_handler(void)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();
	struct sigaction action = { .sa_handler = tick, .sa_flags = SA_RESTART };
	struct sockaddr_in address = cm_loopback(7);
	struct rdma_cm_id *id;

	MUST(channel);
	MUST(!rdma_create_id(channel, &id, NULL, RDMA_PS_TCP));
	MUST(!rdma_resolve_addr(id, NULL, (struct sockaddr *)&address, RESOLVE_MS));
	MUST(!rdma_get_cm_event(channel, &held.event));
	MUST(!sigaction(SIGALRM, &action, NULL));
	set_timer(300, 30);
	SAY_RET(rdma_destroy_id(id), "an id whose event a handler acknowledges");
	set_timer(0, 0);
	say_check(held.ticks == 1, "the handler has run once");
	signal(SIGALRM, SIG_DFL);
	rdma_destroy_event_channel(channel);
}

void cm_diff_signals(void)
{
	event_is_interrupted("a signal of the thread", false);
	event_is_interrupted("a signal of the process", true);
	beside_the_main_thread();
	event_goes_on();
	request_is_interrupted();
	connect_is_interrupted();
}

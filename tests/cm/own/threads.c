/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * threads.c - several threads share one channel: one reads the events and serves requests; the
 * others connect, wait for their events, acknowledge them and destroy their ids. Run under the
 * thread sanitizer, too.
 *
 * Covers: librdmacm/event.c, librdmacm/id.c, librdmacm/id_memory.c
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/cm/cm.h"
#include "tests/lib/topics.h"
#include "util/bits.h"

enum { WORKERS = 4, ROUNDS = 15 };

/* A worker, and the event of its id, for which it waits and which it acknowledges. */
struct worker {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t arrived;
	struct rdma_cm_event *event;
	int done;
};

static struct rdma_event_channel *channel;
static struct worker workers[WORKERS];
static uint16_t port;
static int served;

static void hand_over(struct worker *worker, struct rdma_cm_event *event)
{
	pthread_mutex_lock(&worker->lock);
	while (worker->event)
		pthread_cond_wait(&worker->arrived, &worker->lock);
	worker->event = event;
	pthread_cond_broadcast(&worker->arrived);
	pthread_mutex_unlock(&worker->lock);
}

static void worker_await(struct worker *worker, enum rdma_cm_event_type type)
{
	struct rdma_cm_event *event;

	pthread_mutex_lock(&worker->lock);
	while (!worker->event)
		pthread_cond_wait(&worker->arrived, &worker->lock);
	event = worker->event;
	worker->event = NULL;
	pthread_cond_broadcast(&worker->arrived);
	pthread_mutex_unlock(&worker->lock);
	MUST(event->event == type);
	rdma_ack_cm_event(event);
}

static void accept_request(struct rdma_cm_id *id)
{
	id->context = NULL;
	cm_make_qp(id);
	MUST(!rdma_accept(id, NULL));
}

static void end_served(struct rdma_cm_event *event)
{
	struct rdma_cm_id *id = event->id;

	rdma_disconnect(id);
	rdma_destroy_qp(id);
	rdma_ack_cm_event(event);
	MUST(!rdma_destroy_id(id));
	served++;
}

static void *read_events(void *arg)
{
	struct rdma_cm_event *event;
	bool told = false;

	while (!told || served < WORKERS * ROUNDS) {
		MUST(!rdma_get_cm_event(channel, &event));
		told |= event->event == RDMA_CM_EVENT_USER;
		if (event->event == RDMA_CM_EVENT_CONNECT_REQUEST) {
			accept_request(event->id);
			rdma_ack_cm_event(event);
		} else if (event->event == RDMA_CM_EVENT_TIMEWAIT_EXIT) {
			/* acknowledged here, as no thread waits for this event, but destroying the
			 * id does */
			rdma_ack_cm_event(event);
		} else if (event->id->context) {
			hand_over(event->id->context, event);
		} else if (event->event == RDMA_CM_EVENT_DISCONNECTED) {
			end_served(event);
		} else {
			rdma_ack_cm_event(event);
		}
	}
	return arg;
}

static void connect_once(struct worker *worker)
{
	struct sockaddr_in addr = cm_loopback(port);
	struct rdma_cm_id *id;

	MUST(!rdma_create_id(channel, &id, worker, RDMA_PS_TCP));
	MUST(!rdma_resolve_addr(id, NULL, (struct sockaddr *)&addr, RESOLVE_MS));
	worker_await(worker, RDMA_CM_EVENT_ADDR_RESOLVED);
	MUST(!rdma_resolve_route(id, RESOLVE_MS));
	worker_await(worker, RDMA_CM_EVENT_ROUTE_RESOLVED);
	cm_make_qp(id);
	MUST(!rdma_connect(id, NULL));
	worker_await(worker, RDMA_CM_EVENT_ESTABLISHED);
	MUST(!rdma_disconnect(id));
	worker_await(worker, RDMA_CM_EVENT_DISCONNECTED);
	rdma_destroy_qp(id);
	MUST(!rdma_destroy_id(id));
	worker->done++;
}

static void *worker_work(void *arg)
{
	for (int i = 0; i < ROUNDS; i++)
		connect_once(arg);
	return NULL;
}

static void worker_start(struct worker *worker)
{
	pthread_mutex_init(&worker->lock, NULL);
	pthread_cond_init(&worker->arrived, NULL);
	MUST(!pthread_create(&worker->thread, NULL, worker_work, worker));
}

static void channel_is_shared(void)
{
	struct rdma_cm_id *listener;
	pthread_t reader;
	int done = 0;

	MUST(channel = rdma_create_event_channel());
	MUST(!rdma_create_id(channel, &listener, NULL, RDMA_PS_TCP));
	MUST(!rdma_bind_addr(listener,
			     (struct sockaddr *)&(struct sockaddr_in){ .sin_family = AF_INET }));
	MUST(!rdma_listen(listener, WORKERS * ROUNDS));
	port = be16toh(rdma_get_src_port(listener));
	MUST(!pthread_create(&reader, NULL, read_events, NULL));
	for (int i = 0; i < WORKERS; i++)
		worker_start(&workers[i]);
	for (int i = 0; i < WORKERS; i++) {
		pthread_join(workers[i].thread, NULL);
		done += workers[i].done;
	}
	/* tells the reader to stop */
	MUST(!rdma_write_cm_event(listener, RDMA_CM_EVENT_USER, 0, 0));
	pthread_join(reader, NULL);
	say_check(done == WORKERS * ROUNDS, "%d connections of %d threads by one channel", done,
		  WORKERS);
	MUST(!rdma_destroy_id(listener));
	rdma_destroy_event_channel(channel);
}

int main(int argc, char **argv)
{
	static const struct topic topics[] = { { "threads", channel_is_shared } };

	return topics_main(topics, ARRAY_SIZE(topics), argc, argv);
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * events.c - one thread reads events while others create and destroy the objects that these events
 * name.
 *
 * An object's context points to a counter on the stack of the thread that owns the object: if the
 * reader got an event after the destruction has returned, it would overwrite that stack.
 * Destruction waits for the acknowledgement, so a reader must count first and acknowledge then.
 *
 * Covers: libibverbs/events.c
 */
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include "threads.h"

enum {
	NUM_OWNERS = 3,
	ROUNDS = 40,
	READER = NUM_OWNERS, /* index of the reader in the crew, and of the permanent pair */
	SENDER,
	NUM_ALL,
	NUM_MESSAGES = 400,
	POLL_MS = 20,
	CANCELLED = 120,
	MOST_CANCELLED = 20 * CANCELLED,
	SHADES = 40, /* of when a reader is cancelled: spins of a round more than of the last */
	SHADE = 4000,
};

struct events {
	struct rig *rig;
	struct ibv_comp_channel *channel;
	struct rig_pair stays; /* its messages come while the other CQs come and go */
	atomic_int received;
	atomic_int busy; /* threads that may still cause events */
	atomic_int read, destroyed_unread;
};

static bool is_readable(int fd)
{
	struct pollfd pfd = { .fd = fd, .events = POLLIN };

	return poll(&pfd, 1, POLL_MS) == 1;
}

static void set_nonblocking(int fd)
{
	MUST(!fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK));
}

static void post_send(struct rig_pair *pair)
{
	struct ibv_sge sge = { (uintptr_t)pair->end[0].buf, 32, pair->end[0].mr->lkey };
	struct ibv_send_wr wr = { .sg_list = &sge,
				  .num_sge = 1,
				  .opcode = IBV_WR_SEND,
				  .send_flags = IBV_SEND_SIGNALED };
	struct ibv_send_wr *bad;

	MUST(!ibv_post_send(pair->end[0].qp, &wr, &bad));
}

static void post_recv(struct rig_pair *pair)
{
	struct ibv_sge sge = { (uintptr_t)pair->end[1].buf, 32, pair->end[1].mr->lkey };
	struct ibv_recv_wr wr = { .sg_list = &sge, .num_sge = 1 }, *bad;

	MUST(!ibv_post_recv(pair->end[1].qp, &wr, &bad));
}

/* Every other round the event is waited for, so that both orders occur; in the rest it is a race
 * between its reader and the destruction. */
static void await_every_other(int round, atomic_int *count)
{
	if (round & 1)
		CHECK(crew_await(count, 1), "the event of round %d comes", round);
}

static void note_end(struct events *e, int round, atomic_int *count)
{
	int got = atomic_load(count);

	CHECK(got <= 1, "one event at most in round %d", round);
	if (got)
		atomic_fetch_add(&e->read, 1);
	else
		atomic_fetch_add(&e->destroyed_unread, 1);
}

/* A completion between the last poll and the arming would have no event: poll once more. */
static void take_messages(struct events *e)
{
	struct ibv_cq *cq = e->stays.end[1].cq;
	struct ibv_wc wc;

	MUST(!ibv_req_notify_cq(cq, 0));
	while (ibv_poll_cq(cq, 1, &wc) == 1) {
		CHECK(wc.status == IBV_WC_SUCCESS && wc.byte_len == 32, "a message is right");
		post_recv(&e->stays);
		atomic_fetch_add(&e->received, 1);
	}
}

static void read_comp_events(struct events *e)
{
	struct ibv_cq *cq;
	void *context;

	while (atomic_load(&e->busy) || is_readable(e->channel->fd)) {
		if (!is_readable(e->channel->fd) || ibv_get_cq_event(e->channel, &cq, &context))
			continue;
		CHECK(cq->cq_context == context, "the event has its CQ's context");
		atomic_fetch_add((atomic_int *)context, 1);
		if (cq == e->stays.end[1].cq)
			take_messages(e);
		ibv_ack_cq_events(cq, 1);
	}
}

static void send_messages(struct events *e)
{
	struct ibv_wc wc;

	for (int i = 0; i < NUM_MESSAGES; i++) {
		post_send(&e->stays);
		MUST(rig_poll(e->stays.end[0].cq, 1, &wc) == 1 && wc.status == IBV_WC_SUCCESS);
	}
	CHECK(crew_await(&e->received, NUM_MESSAGES), "all messages are received");
}

/* The message of a round, whose event increases COUNT, and the end of its pair. */
static void message_makes_event(struct events *e, struct rig_pair *pair, int round,
				atomic_int *count)
{
	struct ibv_wc wc;

	post_recv(pair);
	post_send(pair);
	MUST(rig_poll(pair->end[0].cq, 1, &wc) == 1 && wc.status == IBV_WC_SUCCESS);
	await_every_other(round, count);
	rig_pair_close(pair);
	note_end(e, round, count);
}

static void own_cqs(struct events *e)
{
	for (int round = 0; round < ROUNDS; round++) {
		struct rig_conf conf = rig_conf_default();
		struct rig_pair pair;
		atomic_int count = 0;

		conf.channel = e->channel;
		conf.context = &count;
		rig_pair_open(e->rig, &conf, &pair);
		MUST(!ibv_req_notify_cq(pair.end[1].cq, 0));
		message_makes_event(e, &pair, round, &count);
	}
}

static void comp_events_one(void *arg, int id)
{
	struct events *e = arg;

	if (id == READER) {
		read_comp_events(e);
		return;
	}
	if (id == SENDER)
		send_messages(e);
	else
		own_cqs(e);
	atomic_fetch_sub(&e->busy, 1);
}

static void stays_open(struct events *e, atomic_int *count)
{
	struct rig_conf conf = rig_conf_default();

	conf.channel = e->channel;
	conf.context = count;
	rig_pair_open(e->rig, &conf, &e->stays);
	for (unsigned int i = 0; i < conf.cap.max_recv_wr; i++)
		post_recv(&e->stays);
	MUST(!ibv_req_notify_cq(e->stays.end[1].cq, 0));
}

void threads_comp_events(struct rig *rig)
{
	struct events e = { .rig = rig, .busy = NUM_OWNERS + 1 };
	atomic_int count = 0;

	e.channel = ibv_create_comp_channel(rig->ctx);
	MUST(e.channel);
	set_nonblocking(e.channel->fd);
	stays_open(&e, &count);
	crew_run(NUM_ALL, comp_events_one, &e);
	say_check(e.received == NUM_MESSAGES, "all messages came by events");
	say_check(count >= 1 && count <= NUM_MESSAGES, "no more events than messages");
	say_check(e.read + e.destroyed_unread == NUM_OWNERS * ROUNDS &&
			  e.read >= NUM_OWNERS * ROUNDS / 2,
		  "each CQ had its event, or went before it was read");
	rig_pair_close(&e.stays);
	MUST(!ibv_destroy_comp_channel(e.channel));
}

struct cancelled {
	struct ibv_comp_channel *channel;
	atomic_int heard;
};

static void *event_hear(void *arg)
{
	struct cancelled *c = arg;
	struct ibv_cq *cq;
	void *context;

	MUST(!ibv_get_cq_event(c->channel, &cq, &context));
	atomic_fetch_add(&c->heard, 1);
	ibv_ack_cq_events(cq, 1);
	return NULL;
}

/* The cancellation comes about when the event does. */
static void cancel_a_reader(struct cancelled *c, struct rig_pair *pair, int round)
{
	pthread_t thread;
	struct ibv_wc wc;

	MUST(!ibv_req_notify_cq(pair->end[1].cq, 0));
	MUST(!pthread_create(&thread, NULL, event_hear, c));
	post_recv(pair);
	post_send(pair);
	for (volatile int i = 0; i < round % SHADES * SHADE; i++)
		;
	pthread_cancel(thread);
	MUST(!pthread_join(thread, NULL));
	MUST(rig_poll(pair->end[0].cq, 1, &wc) == 1 && wc.status == IBV_WC_SUCCESS);
}

/* Which of the two comes first is chance, so it takes more rounds to see both on a busy machine. */
static bool is_mixed(int unheard, int rounds)
{
	return unheard && unheard < rounds;
}

/* An event that the thread has read but not returned is read by the next thread, or goes with its
 * CQ, so that no destruction waits for it. */
void threads_cancelled(struct rig *rig)
{
	struct cancelled c = { .channel = ibv_create_comp_channel(rig->ctx) };
	int unheard = 0, rounds = 0;

	MUST(c.channel);
	alarm(CREW_PATIENCE_MS / 1000);
	for (; rounds < CANCELLED || (!is_mixed(unheard, rounds) && rounds < MOST_CANCELLED);
	     rounds++) {
		struct rig_conf conf = rig_conf_default();
		struct rig_pair pair;
		const int heard = c.heard;

		conf.channel = c.channel;
		rig_pair_open(rig, &conf, &pair);
		cancel_a_reader(&c, &pair, rounds);
		unheard += c.heard == heard;
		if (c.heard == heard && rounds % 2)
			event_hear(&c);
		rig_pair_close(&pair);
	}
	alarm(0);
	say_check(is_mixed(unheard, rounds), "some readers were cancelled before they heard");
	MUST(!ibv_destroy_comp_channel(c.channel));
}

static void read_async_events(struct events *e)
{
	struct ibv_context *ctx = e->rig->ctx;
	struct ibv_async_event event;

	while (atomic_load(&e->busy) || is_readable(ctx->async_fd)) {
		if (!is_readable(ctx->async_fd) || ibv_get_async_event(ctx, &event))
			continue;
		CHECK(event.event_type == IBV_EVENT_COMM_EST, "the event is %s",
		      ibv_event_type_str(event.event_type));
		if (event.event_type == IBV_EVENT_COMM_EST)
			atomic_fetch_add((atomic_int *)event.element.qp->qp_context, 1);
		ibv_ack_async_event(&event);
	}
}

/* The first message to a QP that is not ready to send makes the event that communication is
 * established. */
static void own_qps(struct events *e)
{
	for (int round = 0; round < ROUNDS; round++) {
		struct rig_conf conf = rig_conf_default();
		struct rig_pair pair;
		atomic_int count = 0;

		conf.context = &count;
		rig_pair_open(e->rig, &conf, &pair);
		rig_qp_to(e->rig, &conf, pair.end[1].qp, pair.end[0].qp->qp_num, IBV_QPS_RTR);
		message_makes_event(e, &pair, round, &count);
	}
}

static void async_events_one(void *arg, int id)
{
	struct events *e = arg;

	if (id == READER) {
		read_async_events(e);
		return;
	}
	own_qps(e);
	atomic_fetch_sub(&e->busy, 1);
}

void threads_async_events(struct rig *rig)
{
	struct events e = { .rig = rig, .busy = NUM_OWNERS };

	set_nonblocking(rig->ctx->async_fd);
	crew_run(NUM_OWNERS + 1, async_events_one, &e);
	say_check(e.read + e.destroyed_unread == NUM_OWNERS * ROUNDS &&
			  e.read >= NUM_OWNERS * ROUNDS / 2,
		  "each QP had its event, or went before it was read");
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * data.c - one pair of QPs and its two CQs, shared by all threads.
 *
 * Posters share the send queue through one or both of its entry points; two threads poll each CQ,
 * in one or both ways; pollers at the receiving end post the buffers again. Each request and
 * message carries its poster and its number, and must complete exactly once. Fetch-and-adds on one
 * counter must return each of its values once.
 *
 * Covers: providers/common/lock.c, providers/mlx5/data/post_send.c,
 * providers/mlx5/data/cq/poll_cq.c, providers/mlx4/data/post_send.c,
 * providers/mlx4/data/cq/poll_cq.c
 */
#include <string.h>

#include "threads.h"

enum {
	NUM_POSTERS = 3,
	NUM_POLLERS = 2, /* of each CQ */
	WINDOW = 5,      /* requests that a poster has under way */
	NUM_RECVS = 16,
	REQUESTS_EACH = 1600,
	NUM_REQUESTS = NUM_POSTERS * REQUESTS_EACH,
	ATOMIC_EVERY = 4, /* the others are SENDs */
	NUM_ATOMICS = NUM_REQUESTS / ATOMIC_EVERY,
	NUM_SENDS = NUM_REQUESTS - NUM_ATOMICS,
	SLOT_BYTES = 256,
	COUNTER_AT = NUM_RECVS * SLOT_BYTES, /* behind the receive buffers */
	BATCH = 4,
};

_Static_assert((int)NUM_POSTERS *(int)WINDOW <= 16, "the queue takes what all have under way");

struct message {
	uint32_t number; /* of all requests: poster * REQUESTS_EACH + sequence */
	uint8_t fill[SLOT_BYTES - sizeof(uint32_t)];
};

enum way { PLAIN, EXTENDED, BOTH };

struct shared {
	struct rig_pair pair;
	enum way entries, polls;
	long end_ms;
	atomic_int num_sent, num_received;
	atomic_bool sent[NUM_REQUESTS], received[NUM_REQUESTS], counted[NUM_ATOMICS];
};

static bool is_extended(enum way way, int id)
{
	return way == BOTH ? id & 1 : way == EXTENDED;
}

static bool is_atomic(uint32_t number)
{
	return number % ATOMIC_EVERY == 3;
}

/* Some fit inline, some do not. */
static uint32_t message_bytes(uint32_t number)
{
	return sizeof(uint32_t) + number * 13 % (SLOT_BYTES - sizeof(uint32_t));
}

static uint8_t message_fill(uint32_t number, uint32_t i)
{
	return (uint8_t)(number * 31 + i * 7 + 1);
}

static uint8_t *send_slot(struct shared *s, uint32_t number)
{
	uint32_t poster = number / REQUESTS_EACH;

	return s->pair.end[0].buf +
	       (poster * WINDOW + number % REQUESTS_EACH % WINDOW) * SLOT_BYTES;
}

static void message_write(struct shared *s, uint32_t number)
{
	struct message *message = (struct message *)send_slot(s, number);

	message->number = number;
	for (uint32_t i = 0; i < message_bytes(number) - sizeof(uint32_t); i++)
		message->fill[i] = message_fill(number, i);
}

static void post_plain(struct shared *s, uint32_t number, uint32_t bytes, bool is_inline)
{
	struct rig_end *to = &s->pair.end[1];
	struct ibv_sge sge = { (uintptr_t)send_slot(s, number), bytes, s->pair.end[0].mr->lkey };
	struct ibv_send_wr wr = { .wr_id = number,
				  .sg_list = &sge,
				  .num_sge = 1,
				  .opcode = IBV_WR_SEND,
				  .send_flags = IBV_SEND_SIGNALED };
	struct ibv_send_wr *bad;

	if (is_inline)
		wr.send_flags |= IBV_SEND_INLINE;
	if (is_atomic(number)) {
		wr.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD;
		wr.wr.atomic.remote_addr = (uintptr_t)to->buf + COUNTER_AT;
		wr.wr.atomic.rkey = to->mr->rkey;
		wr.wr.atomic.compare_add = 1;
	}
	MUST(!ibv_post_send(s->pair.end[0].qp, &wr, &bad));
}

static void post_extended(struct shared *s, uint32_t number, uint32_t bytes, bool is_inline)
{
	struct ibv_qp_ex *qpx = ibv_qp_to_qp_ex(s->pair.end[0].qp);
	struct rig_end *to = &s->pair.end[1];
	uint8_t *slot = send_slot(s, number);

	ibv_wr_start(qpx);
	qpx->wr_id = number;
	qpx->wr_flags = IBV_SEND_SIGNALED;
	if (is_atomic(number))
		ibv_wr_atomic_fetch_add(qpx, to->mr->rkey, (uintptr_t)to->buf + COUNTER_AT, 1);
	else
		ibv_wr_send(qpx);
	if (is_inline)
		ibv_wr_set_inline_data(qpx, slot, bytes);
	else
		ibv_wr_set_sge(qpx, s->pair.end[0].mr->lkey, (uintptr_t)slot, bytes);
	MUST(!ibv_wr_complete(qpx));
}

static bool is_over(const struct shared *s)
{
	return crew_now_ms() > s->end_ms;
}

/* Until the request that used the slot before has completed. */
static bool await_slot(struct shared *s, uint32_t number)
{
	if (number % REQUESTS_EACH < WINDOW)
		return true;
	while (!atomic_load(&s->sent[number - WINDOW])) {
		if (is_over(s))
			return false;
		crew_nap();
	}
	return true;
}

static void run_poster(struct shared *s, int id)
{
	uint32_t first = id * REQUESTS_EACH;

	for (uint32_t n = first; n < first + REQUESTS_EACH && await_slot(s, n); n++) {
		uint32_t bytes = is_atomic(n) ? sizeof(uint64_t) : message_bytes(n);
		bool is_inline = !is_atomic(n) && bytes <= s->pair.conf.cap.max_inline_data;

		message_write(s, n);
		if (is_extended(s->entries, id))
			post_extended(s, n, bytes, is_inline);
		else
			post_plain(s, n, bytes, is_inline);
	}
}

static void post_recv(struct shared *s, uint32_t slot)
{
	struct rig_end *end = &s->pair.end[1];
	uint8_t *buf = end->buf + slot * SLOT_BYTES;
	struct ibv_sge sge = { (uintptr_t)buf, SLOT_BYTES, end->mr->lkey };
	struct ibv_recv_wr wr = { .wr_id = slot, .sg_list = &sge, .num_sge = 1 }, *bad;

	memset(buf, 0, SLOT_BYTES);
	MUST(!ibv_post_recv(end->qp, &wr, &bad));
}

static void take_sent(struct shared *s, const struct ibv_wc *wc)
{
	uint32_t number = (uint32_t)wc->wr_id;
	uint64_t old;

	if (wc->status != IBV_WC_SUCCESS || wc->wr_id >= NUM_REQUESTS) {
		crew_complain("request %u completes with %s", number,
			      ibv_wc_status_str(wc->status));
		return;
	}
	CHECK(wc->opcode == (is_atomic(number) ? IBV_WC_FETCH_ADD : IBV_WC_SEND),
	      "request %u has its opcode", number);
	if (is_atomic(number)) {
		memcpy(&old, send_slot(s, number), sizeof(old));
		CHECK(old < NUM_ATOMICS && !atomic_exchange(&s->counted[old], true),
		      "the counter has each value once");
	}
	CHECK(!atomic_exchange(&s->sent[number], true), "request %u completes once", number);
	atomic_fetch_add(&s->num_sent, 1);
}

static bool message_is_whole(const struct message *message, uint32_t bytes)
{
	if (bytes != message_bytes(message->number))
		return false;
	for (uint32_t i = 0; i < bytes - sizeof(uint32_t); i++)
		if (message->fill[i] != message_fill(message->number, i))
			return false;
	return true;
}

static void take_received(struct shared *s, const struct ibv_wc *wc)
{
	const struct message *message = (const void *)(s->pair.end[1].buf + wc->wr_id * SLOT_BYTES);

	if (wc->status != IBV_WC_SUCCESS || wc->wr_id >= NUM_RECVS ||
	    message->number >= NUM_REQUESTS) {
		crew_complain("a receive completes with %s, message %u",
			      ibv_wc_status_str(wc->status), message->number);
		return;
	}
	CHECK(message_is_whole(message, wc->byte_len), "message %u is whole", message->number);
	CHECK(!atomic_exchange(&s->received[message->number], true), "message %u comes once",
	      message->number);
	atomic_fetch_add(&s->num_received, 1);
	post_recv(s, (uint32_t)wc->wr_id);
}

static int poll_extended(struct ibv_cq_ex *cq, struct ibv_wc *wc)
{
	struct ibv_poll_cq_attr attr = { 0 };
	int n = 0, ret = ibv_start_poll(cq, &attr);

	if (ret == ENOENT)
		return 0;
	MUST(!ret);
	do {
		wc[n].wr_id = cq->wr_id;
		wc[n].status = cq->status;
		wc[n].opcode = ibv_wc_read_opcode(cq);
		wc[n].byte_len = ibv_wc_read_byte_len(cq);
		n++;
	} while (n < BATCH && !ibv_next_poll(cq));
	ibv_end_poll(cq);
	return n;
}

static void run_poller(struct shared *s, int id, struct rig_end *end, atomic_int *count, int target,
		       void (*take)(struct shared *s, const struct ibv_wc *wc))
{
	bool extended = is_extended(s->polls, id);
	struct ibv_wc wc[BATCH];

	while (atomic_load(count) < target && !is_over(s)) {
		int n = extended ? poll_extended(rig_end_cq_ex(end), wc)
				 : ibv_poll_cq(end->cq, BATCH, wc);

		MUST(n >= 0);
		for (int i = 0; i < n; i++)
			take(s, &wc[i]);
		if (!n)
			crew_nap();
	}
}

static void run_one(void *arg, int id)
{
	struct shared *s = arg;

	if (id < NUM_POSTERS)
		run_poster(s, id);
	else if (id < NUM_POSTERS + NUM_POLLERS)
		run_poller(s, id, &s->pair.end[0], &s->num_sent, NUM_REQUESTS, take_sent);
	else
		run_poller(s, id, &s->pair.end[1], &s->num_received, NUM_SENDS, take_received);
}

static void run_case(struct rig *rig, const char *name, enum way entries, enum way polls)
{
	static struct shared shared;
	struct rig_conf conf = rig_conf_default();
	uint64_t counter;

	memset(&shared, 0, sizeof(shared));
	shared.entries = entries;
	shared.polls = polls;
	shared.end_ms = crew_now_ms() + CREW_PATIENCE_MS;
	conf.cq_ex = polls != PLAIN;
	conf.send_ops =
		entries == PLAIN ? 0 : IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD;
	rig_pair_open(rig, &conf, &shared.pair);
	for (uint32_t i = 0; i < NUM_RECVS; i++)
		post_recv(&shared, i);
	crew_run(NUM_POSTERS + 2 * NUM_POLLERS, run_one, &shared);
	say_check(shared.num_sent == NUM_REQUESTS, "%s: all requests completed", name);
	say_check(shared.num_received == NUM_SENDS, "%s: all messages came", name);
	memcpy(&counter, shared.pair.end[1].buf + COUNTER_AT, sizeof(counter));
	say_check(counter == NUM_ATOMICS, "%s: the counter counted all additions", name);
	say_check(!rig_drain(shared.pair.end[0].cq) && !rig_drain(shared.pair.end[1].cq),
		  "%s: no further completion", name);
	rig_pair_close(&shared.pair);
}

void threads_data(struct rig *rig)
{
	run_case(rig, "post_send, poll_cq", PLAIN, PLAIN);
	run_case(rig, "wr, start_poll", EXTENDED, EXTENDED);
	run_case(rig, "both entries, both polls", BOTH, BOTH);
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * requests.c - requests that were posted and whose completions the program has not polled.
 *
 * Each queue of a QP has a ring of them. A queue completes its requests in order, and a signaled
 * request also completes the unsignaled ones before it:
 *
 *	post: add at the tail ---> [ unsignaled, unsignaled, signaled, ... ] ---> poll: the first
 *	                                                                          signaled one
 *
 * A ring is lost, and says nothing until the QP is reset, when the checker cannot know what is
 * outstanding: after a failed completion (the adapter flushes the rest), or when completions come
 * in another order (two threads post at once, or direct verbs post, too). The checker's lock guards
 * the rings.
 */
#include "check.h"

#include "util/bits.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { RING_MIN = 64, RING_MAX = 1 << 17 };

struct check_qpn {
	struct check_record record;
	struct check_qp *qp;
};

/* Requests whose buffers have changed, for the log. A completion with more of them names these. */
struct changed {
	uint32_t qp_num;
	unsigned int count;
	struct check_request requests[4];
};

static struct check_request *ring_at(const struct check_ring *ring, unsigned int index)
{
	return &ring->requests[index & (ring->room - 1)];
}

static void ring_lose(struct check_ring *ring)
{
	ring->is_lost = true;
	ring->head = ring->tail = 0;
}

static void ring_clear(struct check_ring *ring)
{
	ring->is_lost = ring->had_signal = ring->was_refused = false;
	ring->head = ring->tail = 0;
}

static bool ring_grow(struct check_ring *ring)
{
	const unsigned int count = ring->tail - ring->head;
	const unsigned int room = ring->room ? ring->room * 2 : RING_MIN;
	struct check_request *more;

	if (count < ring->room)
		return true;
	more = room <= RING_MAX ? calloc(room, sizeof(*more)) : NULL;
	if (!more)
		return false;
	for (unsigned int i = 0; i < count; i++)
		more[i] = *ring_at(ring, ring->head + i);
	free(ring->requests);
	ring->requests = more;
	ring->room = room;
	ring->head = 0;
	ring->tail = count;
	return true;
}

static unsigned int moves; /* posts and polls of completions; atomic */

void verbs_check_move(void)
{
	__atomic_fetch_add(&moves, 1, __ATOMIC_RELAXED);
}

void verbs_check_post_begin(struct check_ring *ring)
{
	__atomic_store_n(&ring->has_completed, false, __ATOMIC_RELAXED);
}

void verbs_check_request_add(struct check_ring *ring, const struct check_post *post,
			     bool is_signaled)
{
	verbs_check_lock();
	ring->was_refused = false;
	if (!ring->is_lost && !ring->is_unwatched) {
		if (ring_grow(ring))
			*ring_at(ring, ring->tail++) = (struct check_request){
				.wr_id = post->wr_id,
				.call = post->call,
				.is_signaled = is_signaled,
				.posted_ns = verbs_check_now(),
			};
		else
			ring_lose(ring);
	}
	verbs_check_unlock();
}

/* Returns an outstanding request whose buffers the adapter writes, too, and *SGE of it that shares
 * bytes with those of LAST, the newest request of the ring. */
static const struct check_request *ring_find_shared(const struct check_ring *ring,
						    const struct ibv_context *context,
						    const struct check_request *last,
						    const struct ibv_sge **sge)
{
	for (unsigned int i = ring->head; i != ring->tail - 1; i++) {
		const struct check_request *earlier = ring_at(ring, i);

		*sge = earlier->is_written ? verbs_check_shared(context, last, earlier) : NULL;
		if (*sge)
			return earlier;
	}
	return NULL;
}

void verbs_check_request_buffers(struct check_ring *ring, const struct check_post *post,
				 const struct ibv_sge *sges, int count, bool is_written)
{
	const struct check_request *found = NULL;
	const struct ibv_sge *sge = NULL;
	struct check_request *last, earlier;
	struct ibv_sge shared;

	verbs_check_lock();
	if (sges && ring->tail != ring->head) {
		last = ring_at(ring, ring->tail - 1);
		last->count = count < CHECK_SGES ? count : CHECK_SGES;
		last->is_written = is_written;
		for (int i = 0; i < last->count; i++)
			last->sges[i] = sges[i];
		if (verbs_check_settings.buffers && is_written)
			found = ring_find_shared(ring, post->context, last, &sge);
		else if (verbs_check_settings.buffers)
			last->has_sum =
				verbs_check_sum(post->context, last->sges, last->count, &last->sum);
		if (found) {
			earlier = *found;
			shared = *sge;
		}
	}
	verbs_check_unlock();
	if (found)
		verbs_check_shared_say(post, &earlier, &shared);
}

void verbs_check_request_drop(struct check_ring *ring, unsigned int count)
{
	verbs_check_lock();
	if (count > ring->tail - ring->head)
		ring_lose(ring);
	else
		ring->tail -= count;
	verbs_check_unlock();
}

void verbs_check_request_refuse(struct check_ring *ring, unsigned int count, int err)
{
	verbs_check_request_drop(ring, count);
	if (err != ENOMEM)
		return;
	verbs_check_lock();
	ring->was_refused = !__atomic_load_n(&ring->has_completed, __ATOMIC_RELAXED);
	verbs_check_unlock();
}

static void changed_note(const struct ibv_qp *of, const struct check_request *request,
			 struct changed *changed)
{
	changed->qp_num = of->qp_num;
	if (changed->count < ARRAY_SIZE(changed->requests) &&
	    verbs_check_has_changed(of->context, request))
		changed->requests[changed->count++] = *request;
}

static void ring_complete(const struct ibv_qp *of, struct check_ring *ring, uint64_t wr_id,
			  struct changed *changed)
{
	while (ring->head != ring->tail) {
		const struct check_request *request = ring_at(ring, ring->head++);

		if (request->has_sum && (!request->is_signaled || request->wr_id == wr_id))
			changed_note(of, request, changed);
		if (!request->is_signaled)
			continue;
		ring->had_signal = true;
		ring->was_refused = false;
		__atomic_store_n(&ring->has_completed, true, __ATOMIC_RELAXED);
		if (request->wr_id != wr_id)
			ring_lose(ring);
		return;
	}
	ring_lose(ring);
}

static void completion_take(struct check_qp *qp, const struct check_completion *done,
			    struct changed *changed)
{
	struct check_ring *ring = done->is_receive ? &qp->receives : &qp->sends;

	if (done->is_failed) {
		ring_lose(&qp->sends);
		ring_lose(&qp->receives);
		qp->has_failed = true;
	} else if (!ring->is_lost && !ring->is_unwatched) {
		ring_complete(qp->of, ring, done->wr_id, changed);
	}
}

void verbs_check_request_done(const struct ibv_context *context,
			      const struct check_completion *done)
{
	struct changed changed;
	struct check_qpn *number;

	number = verbs_check_find_live(CHECK_QPN, context, done->qp_num);
	if (!number)
		return;
	changed.count = 0;
	verbs_check_lock();
	completion_take(number->qp, done, &changed);
	verbs_check_unlock();
	for (unsigned int i = 0; i < changed.count; i++)
		verbs_check_changed_say(changed.qp_num, &changed.requests[i]);
}

static struct {
	struct check_qp **qps;
	unsigned int count, room;
} kept;

static unsigned int kept_find(const struct check_qp *qp)
{
	unsigned int i = 0;

	while (i < kept.count && kept.qps[i] != qp)
		i++;
	return i;
}

static bool kept_add(struct check_qp *qp)
{
	const unsigned int room = kept.room ? kept.room * 2 : 64;
	struct check_qp **more;

	if (kept_find(qp) < kept.count)
		return qp->is_kept = true;
	if (kept.count == kept.room) {
		more = reallocarray(kept.qps, room, sizeof(struct check_qp *));
		if (!more)
			return false;
		kept.qps = more;
		kept.room = room;
	}
	kept.qps[kept.count++] = qp;
	return qp->is_kept = true;
}

static void kept_remove(struct check_qp *qp)
{
	const unsigned int i = kept_find(qp);

	qp->is_kept = false;
	if (i < kept.count)
		kept.qps[i] = kept.qps[--kept.count];
}

/* Goes on with the numbers of the turns of the QP that had the record: a thread that waits for one
 * of them may not have woken up. */
struct check_qp *verbs_check_qp_add(const struct ibv_qp *qp)
{
	const struct check_qp *before = verbs_check_find(CHECK_QP, NULL, check_id(qp));
	const unsigned int sends = before ? before->sends.turns : 0;
	const unsigned int receives = before ? before->receives.turns : 0;
	struct check_qp *check = verbs_check_add(CHECK_QP, NULL, check_id(qp), sizeof(*check));

	if (!check)
		return NULL;
	check->sends.turns = check->sends.turns_ended = sends;
	check->receives.turns = check->receives.turns_ended = receives;
	return check;
}

void verbs_check_request_watch(struct check_qp *qp, const struct ibv_qp *of)
{
	struct check_qpn *number;
	bool is_kept;

	number = verbs_check_add(CHECK_QPN, of->context, of->qp_num, sizeof(*number));
	is_kept = number && kept_add(qp);
	qp->of = of;
	qp->has_failed = false;
	qp->sends.is_unwatched = !is_kept;
	qp->receives.is_unwatched = !is_kept || of->srq;
	if (number)
		number->qp = qp;
}

/* Threads that wait for a turn go on: their QP is gone. */
static void ring_end(struct check_ring *ring)
{
	free(ring->requests);
	*ring = (struct check_ring){ .is_unwatched = true,
				     .turns = ring->turns,
				     .turns_ended = ring->turns };
}

static void qp_unwatch(struct check_qp *qp)
{
	struct check_record *number;

	number = qp->of ? verbs_check_find(CHECK_QPN, qp->of->context, qp->of->qp_num) : NULL;
	if (number)
		check_live(number, false);
	kept_remove(qp);
	ring_end(&qp->sends);
	ring_end(&qp->receives);
	verbs_check_wake(); /* threads that wait for a turn */
}

void verbs_check_request_unwatch(struct check_qp *qp)
{
	verbs_check_lock();
	while (qp->pins)
		verbs_check_wait();
	qp_unwatch(qp);
	verbs_check_unlock();
}

static struct check_qp *kept_of(const struct ibv_context *context)
{
	for (unsigned int i = 0; i < kept.count; i++)
		if (kept.qps[i]->of->context == context)
			return kept.qps[i];
	return NULL;
}

void verbs_check_context_closes(const struct ibv_context *context)
{
	struct check_qp *qp;

	verbs_check_lock();
	while ((qp = kept_of(context)))
		if (qp->pins)
			verbs_check_wait();
		else
			qp_unwatch(qp);
	verbs_check_unlock();
}

void verbs_check_request_rewatch(struct check_qp *qp, const struct ibv_qp *of)
{
	verbs_check_lock();
	verbs_check_request_watch(qp, of);
	ring_lose(&qp->sends);
	ring_lose(&qp->receives);
	verbs_check_unlock();
}

void verbs_check_request_state(struct check_qp *qp, enum ibv_qp_state state)
{
	verbs_check_lock();
	qp->has_failed = false;
	if (state == IBV_QPS_RESET) {
		ring_clear(&qp->sends);
		ring_clear(&qp->receives);
	} else if (state == IBV_QPS_ERR) {
		ring_lose(&qp->sends);
		ring_lose(&qp->receives);
	}
	verbs_check_unlock();
}

void verbs_check_ring_look(const struct check_ring *ring, struct check_ring_look *look)
{
	*look = (struct check_ring_look){ .is_known = !ring->is_lost && !ring->is_unwatched,
					  .had_signal = ring->had_signal,
					  .was_refused = ring->was_refused,
					  .count = ring->tail - ring->head };
	for (unsigned int i = ring->head; i != ring->tail; i++)
		look->signaled += ring_at(ring, i)->is_signaled;
	if (look->count)
		look->oldest = *ring_at(ring, ring->head);
}

static bool qp_works(const struct check_qp *qp)
{
	return qp->of->state != IBV_QPS_RESET && qp->of->state != IBV_QPS_ERR;
}

static bool ring_has_signaled(const struct check_ring *ring)
{
	unsigned int i = ring->head;

	while (i != ring->tail && !ring_at(ring, i)->is_signaled)
		i++;
	return i != ring->tail;
}

/* Returns whether a request waits for a completion that the program would have to poll from CQ.
 * Unsignaled ones behind the last signaled one are usual, and wait for nothing, unless they fill
 * the queue. */
static bool ring_waits(const struct check_ring *ring, const struct ibv_cq *cq)
{
	return ring->tail != ring->head && verbs_check_cq_tells(cq) &&
	       (!ring->had_signal || ring->was_refused || ring_has_signaled(ring));
}

/* A program that has moved a failed QP to RESET or ERR has dealt with the failure. */
static bool qp_has_failed(const struct check_qp *qp)
{
	return qp->has_failed && qp_works(qp);
}

static bool qp_waits(const struct check_qp *qp)
{
	return qp_has_failed(qp) || ring_waits(&qp->sends, qp->of->send_cq) ||
	       ring_waits(&qp->receives, qp->of->recv_cq);
}

unsigned int verbs_check_moves(bool *waits)
{
	unsigned int now, i = 0;

	verbs_check_lock();
	now = __atomic_load_n(&moves, __ATOMIC_RELAXED);
	while (i < kept.count && !qp_waits(kept.qps[i]))
		i++;
	*waits = i < kept.count;
	verbs_check_unlock();
	return now;
}

static bool qp_pin(struct check_qp *qp)
{
	bool is_kept;

	verbs_check_lock();
	is_kept = qp->is_kept;
	qp->pins += is_kept;
	verbs_check_unlock();
	return is_kept;
}

static void qp_unpin(struct check_qp *qp)
{
	verbs_check_lock();
	if (!--qp->pins)
		verbs_check_wake();
	verbs_check_unlock();
}

/* Returns a copy of the list, which other threads may change meanwhile, or NULL. Records are never
 * freed. */
static struct check_qp **kept_copy(unsigned int *count)
{
	struct check_qp **copy;

	verbs_check_lock();
	*count = kept.count;
	copy = kept.count ? reallocarray(NULL, kept.count, sizeof(*copy)) : NULL;
	if (copy)
		memcpy(copy, kept.qps, kept.count * sizeof(*copy));
	verbs_check_unlock();
	return copy;
}

void verbs_check_each_qp(void (*look)(const struct check_qp *qp, void *into),
			 void (*say)(void *into), void *into)
{
	unsigned int count;
	struct check_qp **qps = kept_copy(&count);

	for (unsigned int i = 0; qps && i < count; i++) {
		if (!qp_pin(qps[i]))
			continue;
		look(qps[i], into);
		qp_unpin(qps[i]);
		say(into);
	}
	free(qps);
}

/* Keeps the memory until the child destroys the QP: free() is not for a handler of fork(). */
static void ring_forget(struct check_ring *ring)
{
	ring->poster = NULL;
	ring->turns_ended = ring->turns;
	ring->is_unwatched = true;
	ring->head = ring->tail = 0;
}

void verbs_check_request_forked(void)
{
	for (unsigned int i = 0; i < kept.count; i++) {
		kept.qps[i]->is_kept = false;
		kept.qps[i]->pins = 0;
		ring_forget(&kept.qps[i]->sends);
		ring_forget(&kept.qps[i]->receives);
	}
	kept.count = 0;
}

static const struct check_request *ring_find_lkey(const struct check_ring *ring, uint32_t lkey)
{
	for (unsigned int i = ring->head; i != ring->tail; i++) {
		const struct check_request *request = ring_at(ring, i);

		for (int j = 0; j < request->count; j++)
			if (request->sges[j].lkey == lkey && request->sges[j].length)
				return request;
	}
	return NULL;
}

static const struct check_request *qp_find_lkey(const struct check_qp *qp, uint32_t lkey)
{
	const struct check_request *request = NULL;

	if (verbs_check_cq_is_polled(qp->of->send_cq))
		request = ring_find_lkey(&qp->sends, lkey);
	if (!request && verbs_check_cq_is_polled(qp->of->recv_cq))
		request = ring_find_lkey(&qp->receives, lkey);
	return request;
}

bool verbs_check_request_names(const struct ibv_context *context, uint32_t lkey,
			       struct check_post *post)
{
	const struct check_request *request = NULL;

	verbs_check_lock();
	for (unsigned int i = 0; i < kept.count && !request; i++) {
		const struct check_qp *qp = kept.qps[i];

		if (qp->of->context == context && qp_works(qp))
			request = qp_find_lkey(qp, lkey);
		if (request)
			*post = (struct check_post){ request->call,  "QP",   qp->of->qp_num, 0,
						     request->wr_id, context };
	}
	verbs_check_unlock();
	return request;
}

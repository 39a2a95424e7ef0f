/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * lock_test.c - locks of queues under threads: threads from before the call, a thread created in
 * the middle of a batch, and threads that have ended.
 *
 * Covers: providers/common/lock.c, providers/common/owner.c, util/threads.h
 */
#include "rig.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "providers/mlx5/data/post.h"
#include "util/bits.h"

enum { POSTERS = 4, EACH = 16000, ALL = POSTERS * EACH, UNITS = 1 << 16 };

static struct ibv_sge one_sge = { .addr = 0x1000, .length = 16, .lkey = 1 };

enum way { BY_POST, BY_INLINE, BY_LIST, BY_BATCH, BY_BIND, BY_RECV, WAYS };

static unsigned int way_units(enum way way)
{
	return way == BY_BIND ? 3 : 1;
}

struct poster {
	struct rig *rig;
	enum way way;
	uint64_t first; /* wr_id */
	pthread_barrier_t *start;
};

static struct rig *shared_rig(enum way way)
{
	return rig_new(&(struct rig_options){ .sq_wqebbs = way == BY_BIND ? 4 * UNITS : UNITS,
					      .max_send = UNITS,
					      .rq_wqes = UNITS,
					      .recv_sge = 1 });
}

static void post_send(struct rig *rig, uint64_t wr_id, unsigned int flags, int count)
{
	struct ibv_send_wr wr[2] = { { .wr_id = wr_id } }, *bad;

	for (int i = 0; i < count; i++)
		wr[i] = (struct ibv_send_wr){ .wr_id = wr_id + (uint64_t)i,
					      .next = i + 1 < count ? &wr[i + 1] : NULL,
					      .sg_list = &one_sge,
					      .num_sge = 1,
					      .opcode = IBV_WR_SEND,
					      .send_flags = flags };
	assert_int_equal(mlx5_post_send(&rig->qp->vqp.qp, wr, &bad), 0);
}

static void post_batch(struct rig *rig, uint64_t wr_id)
{
	struct ibv_qp_ex *qpx = &rig->qp->vqp.qp_ex;

	ibv_wr_start(qpx);
	for (uint64_t i = 0; i < 2; i++) {
		qpx->wr_id = wr_id + i;
		ibv_wr_send(qpx);
		ibv_wr_set_sge(qpx, one_sge.lkey, one_sge.addr, one_sge.length);
	}
	assert_int_equal(ibv_wr_complete(qpx), 0);
}

/* QP, region and window share a protection domain: NULL. */
static void bind_window(struct rig *rig, uint64_t wr_id)
{
	static struct verbs_mr region;
	struct ibv_mw mw = { .type = IBV_MW_TYPE_1 };
	struct ibv_mw_bind bind = { .wr_id = wr_id, .bind_info = { &region.mr, 0x1000, 16, 0 } };

	assert_int_equal(mlx5_bind_mw(&rig->qp->vqp.qp, &mw, &bind), 0);
}

static void post_recv(struct rig *rig, uint64_t wr_id)
{
	struct ibv_recv_wr wr = { .wr_id = wr_id, .sg_list = &one_sge, .num_sge = 1 }, *bad;

	assert_int_equal(mlx5_post_recv(&rig->qp->vqp.qp, &wr, &bad), 0);
}

/* Posts two requests. The SGE itself is the inline data, since inline data is read. */
static void post_two(struct rig *rig, enum way way, uint64_t wr_id)
{
	if (way == BY_LIST) {
		post_send(rig, wr_id, 0, 2);
	} else if (way == BY_BATCH) {
		post_batch(rig, wr_id);
	} else if (way == BY_BIND) {
		bind_window(rig, wr_id);
		bind_window(rig, wr_id + 1);
	} else if (way == BY_RECV) {
		post_recv(rig, wr_id);
		post_recv(rig, wr_id + 1);
	} else {
		unsigned int flags = way == BY_INLINE ? IBV_SEND_INLINE : 0;

		post_send(rig, wr_id, flags, 1);
		post_send(rig, wr_id + 1, flags, 1);
	}
}

static void *post_all(void *arg)
{
	const struct poster *poster = arg;

	pthread_barrier_wait(poster->start);
	for (uint64_t i = 0; i < EACH; i += 2)
		post_two(poster->rig, poster->way, poster->first + i);
	return NULL;
}

static void check_wr_ids(const struct rig *rig, enum way way)
{
	const struct wq *wq = way == BY_RECV ? &rig->qp->rq.wq : &rig->qp->sq.wq;
	bool *seen = calloc(ALL, sizeof(*seen));

	assert_non_null(seen);
	assert_int_equal(wq->head, ALL);
	for (int i = 0; i < ALL; i++) {
		uint64_t wr_id = way == BY_RECV ? wq->wr_ids[i]
						: wq->slots[(unsigned int)i * way_units(way)].wr_id;

		assert_true(wr_id < ALL && !seen[wr_id]);
		seen[wr_id] = true;
	}
	free(seen);
}

static void every_request_of_every_thread_is_there(void **state)
{
	(void)state;
	one_sge.addr = (uintptr_t)&one_sge;
	for (int i = 0; i < 4 * WAYS; i++) {
		const enum way way = (enum way)(i % WAYS);
		struct rig *rig = shared_rig(way);
		struct poster posters[POSTERS];
		pthread_barrier_t start;
		pthread_t threads[POSTERS];

		pthread_barrier_init(&start, NULL, POSTERS);
		for (unsigned int n = 0; n < POSTERS; n++) {
			posters[n] = (struct poster){ rig, way, (uint64_t)n * EACH, &start };
			assert_int_equal(pthread_create(&threads[n], NULL, post_all, &posters[n]),
					 0);
		}
		for (unsigned int n = 0; n < POSTERS; n++)
			assert_int_equal(pthread_join(threads[n], NULL), 0);
		pthread_barrier_destroy(&start);
		check_wr_ids(rig, way);
		rig_free(rig);
	}
}

static void *post_once(void *arg)
{
	const struct poster *poster = arg;

	post_two(poster->rig, poster->way, poster->first);
	return NULL;
}

/* Returns whether THREAD still waits after a time in which it would have posted. */
static bool thread_waits(pthread_t thread)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += 50 * 1000 * 1000;
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	return pthread_timedjoin_np(thread, NULL, &until) == ETIMEDOUT;
}

static void a_thread_that_is_made_within_a_batch_waits_for_its_end(void **state)
{
	(void)state;
	one_sge.addr = (uintptr_t)&one_sge;
	for (enum way way = BY_POST; way < BY_RECV; way++) {
		struct rig *rig = shared_rig(way);
		const unsigned int units = way_units(way);
		struct ibv_qp_ex *qpx = &rig->qp->vqp.qp_ex;
		struct poster poster = { rig, way, 10, NULL };
		pthread_t thread;

		ibv_wr_start(qpx);
		qpx->wr_id = 1;
		ibv_wr_send(qpx);
		assert_int_equal(pthread_create(&thread, NULL, post_once, &poster), 0);
		assert_true(thread_waits(thread));
		ibv_wr_set_sge(qpx, one_sge.lkey, one_sge.addr, one_sge.length);
		assert_int_equal(rig_dbrec(rig, MLX5_SND_DBR), 0);
		assert_int_equal(ibv_wr_complete(qpx), 0);
		assert_int_equal(pthread_join(thread, NULL), 0);
		assert_int_equal(rig_dbrec(rig, MLX5_SND_DBR), 1 + 2 * units);
		assert_int_equal(rig->qp->sq.wq.slots[0].wr_id, 1);
		assert_int_equal(rig->qp->sq.wq.slots[1].wr_id, 10);
		assert_int_equal(rig->qp->sq.wq.slots[1 + units].wr_id, 11);
		rig_free(rig);
	}
}

struct counter {
	struct qlock lock;
	unsigned int n;
};

static void *count_up(void *arg)
{
	struct counter *counter = arg;

	for (unsigned int i = 0; i < 20000; i++) {
		qlock_take(&counter->lock);
		counter->n++;
		qlock_drop(&counter->lock);
	}
	return NULL;
}

static void a_lock_lets_one_in_at_a_time(void **state)
{
	struct counter counter = { .n = 0 };
	pthread_t threads[4];

	(void)state;
	qlock_init(&counter.lock, true);
	for (unsigned int i = 0; i < ARRAY_SIZE(threads); i++)
		assert_int_equal(pthread_create(&threads[i], NULL, count_up, &counter), 0);
	for (unsigned int i = 0; i < ARRAY_SIZE(threads); i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(counter.n, ARRAY_SIZE(threads) * 20000);
}

static void an_unshared_lock_is_not_taken(void **state)
{
	struct qlock lock;

	(void)state;
	qlock_init(&lock, false);
	qlock_enter(&lock);
	qlock_enter(&lock); /* must not wait for ever */
	assert_int_equal(lock.taken, 0);
	qlock_leave(&lock);
}

int main(void)
{
	/* The first test is about a process of one thread, so it must run before any test has
	 * created another. */
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_lock_lets_one_in_at_a_time),
		cmocka_unit_test(an_unshared_lock_is_not_taken),
		cmocka_unit_test(a_thread_that_is_made_within_a_batch_waits_for_its_end),
		cmocka_unit_test(every_request_of_every_thread_is_there),
		cmocka_unit_test(a_thread_that_is_made_within_a_batch_waits_for_its_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

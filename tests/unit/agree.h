/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * agree.h - the same requests by two ways: by themselves on one QP, and in lists on another.
 */
#ifndef TESTS_UNIT_AGREE_H
#define TESTS_UNIT_AGREE_H

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "providers/common/wq.h"
#include "tests/unit/any_wr.h"

enum { AGREE_SINGLE, AGREE_LIST, AGREE_WAYS, AGREE_ROUNDS = 4000 };

typedef int agree_post_fn(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad_wr);

/* Posts requests by themselves, as POST does a list. */
static int agree_post_each(agree_post_fn *post, struct ibv_qp *qp, struct ibv_send_wr *wr,
			   struct ibv_send_wr **bad_wr)
{
	int ret = 0;

	for (; wr && !ret; wr = wr->next) {
		struct ibv_send_wr one = *wr, *its_bad = NULL;

		one.next = NULL;
		ret = post(qp, &one, &its_bad);
		if (ret)
			*bad_wr = its_bad == &one ? wr : NULL;
	}
	return ret;
}

/* Posts some requests of SOURCE by both ways, which must refuse the same one alike. */
static void agree_post(struct any_source *source, agree_post_fn *post,
		       struct ibv_qp *const qps[AGREE_WAYS])
{
	struct ibv_send_wr *bad[AGREE_WAYS] = { NULL, NULL };
	uint32_t n = 1 + any_number(source, ANY_LIST);
	struct any_wr any[ANY_LIST];
	int ret;

	for (uint32_t i = 0; i < n; i++) {
		any_make(source, &any[i]);
		any[i].wr.next = i + 1 < n ? &any[i + 1].wr : NULL;
	}
	ret = agree_post_each(post, qps[AGREE_SINGLE], &any->wr, &bad[AGREE_SINGLE]);
	assert_int_equal(post(qps[AGREE_LIST], &any->wr, &bad[AGREE_LIST]), ret);
	assert_ptr_equal(bad[AGREE_SINGLE], bad[AGREE_LIST]);
}

static void agree_complete(struct any_source *source, struct wq *const wqs[AGREE_WAYS])
{
	const struct wq *wq = wqs[AGREE_LIST];
	uint32_t tail = wq->tail + any_number(source, wq->head - wq->tail + 1);

	for (int i = 0; i < AGREE_WAYS; i++)
		wqs[i]->tail = tail;
}

/* The request at HEAD, which begins at UNIT of the ring, is noted alike. */
static void agree_on_note(struct wq *const wqs[AGREE_WAYS], uint32_t unit, uint32_t head)
{
	const struct wq_slot *single = wq_slot_at(wqs[AGREE_SINGLE], unit);
	const struct wq_slot *list = wq_slot_at(wqs[AGREE_LIST], unit);

	assert_int_equal(single->wr_id, list->wr_id);
	assert_int_equal(single->done_as, list->done_as);
	assert_int_equal(single->tail_after, head + 1);
	assert_int_equal(list->tail_after, head + 1);
}

static void agree_compare(void); /* by the test: compares all state that both sides have */

static void requests_are_the_same_in_lists(void **state)
{
	(void)state;
	agree_compare();
}

static void *agree_thread(void *unused)
{
	return unused;
}

/* Where there was a second thread, the locks are taken. */
static void so_they_are_with_threads(void **state)
{
	pthread_t thread;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, agree_thread, NULL), 0);
	agree_compare();
	pthread_join(thread, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(requests_are_the_same_in_lists),
		cmocka_unit_test(so_they_are_with_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Calls on queues that were destroyed.
 *
 * Covers: libibverbs/check/graves.c, libibverbs/check/leaks.c
 */
#include "watched.h"

/* Stands for the memory of destroyed queues, which the program still reads. */
static struct verbs_qp qp;
static struct verbs_cq cq;

static void queues_make(void)
{
	qp = (struct verbs_qp){ .qp = { .context = watched, .qp_num = 0x41 } };
	cq = (struct verbs_cq){ .cq = { .context = watched, .handle = 0x51 } };
	pthread_mutex_init(&qp.qp.mutex, NULL);
	pthread_mutex_init(&cq.cq.mutex, NULL);
}

static void queues_destroy(void)
{
	pthread_mutex_destroy(&qp.qp.mutex);
	pthread_mutex_destroy(&cq.cq.mutex);
	verbs_check_bury(&qp, "ibv_destroy_qp");
	verbs_check_bury(&cq, "ibv_destroy_cq");
}

static void calls_on_a_destroyed_queue_are_said_and_refused(void **state)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };
	struct ibv_wc wc;

	(void)state;
	queues_make();
	queues_destroy();
	assert_int_equal(watched_send(&qp.qp, 1, NULL, 0), EINVAL);
	check_logged("ibv_post_send: QP 0x41: it was destroyed by ibv_destroy_qp()");
	assert_int_equal(watched_recv(&qp.qp, 1, NULL), EINVAL);
	check_logged("ibv_post_recv: QP 0x41: it was destroyed");
	assert_int_equal(verbs_check_modify_qp(&qp.qp, &attr, IBV_QP_STATE), EINVAL);
	check_logged("ibv_modify_qp: QP 0x41: it was destroyed");
	assert_int_equal(verbs_check_destroy_qp(&qp.qp), EINVAL);
	check_logged("ibv_destroy_qp: QP 0x41: it was destroyed");
	assert_int_equal(verbs_check_poll_cq(&cq.cq, 1, &wc), -EINVAL);
	check_logged("ibv_poll_cq: CQ 0x51: it was destroyed by ibv_destroy_cq()");
	assert_int_equal(verbs_check_req_notify_cq(&cq.cq, 0), EINVAL);
	check_logged("ibv_req_notify_cq: CQ 0x51: it was destroyed");
	assert_int_equal(verbs_check_destroy_cq(&cq.cq), EINVAL);
	check_logged("ibv_destroy_cq: CQ 0x51: it was destroyed");
	assert_int_equal(provider.posts + provider.polls, 0);
}

/* Direct verbs make objects without a record, perhaps where another one was, so the checker must
 * forget the grave. */
static void a_new_queue_in_the_same_memory_is_right(void **state)
{
	struct ibv_wc wc;

	(void)state;
	queues_make();
	queues_destroy();
	queues_make();
	assert_int_equal(watched_send(&qp.qp, 1, NULL, 0), 0);
	assert_int_equal(verbs_check_poll_cq(&cq.cq, 1, &wc), 0);
	says_nothing();
}

static void a_queue_that_was_never_destroyed_is_right(void **state)
{
	struct ibv_qp other = { .context = watched };

	(void)state;
	assert_int_equal(watched_send(&other, 1, NULL, 0), 0);
	says_nothing();
}

static void __attribute__((unused)) the_place_of_the_call_is_noted(void **state)
{
	struct check_place place;
	char text[CHECK_PLACE_SIZE];

	(void)state;
	verbs_check_place_take(&place, "ibv_call");
	assert_string_equal(place.call, "ibv_call");
	assert_true(verbs_check_place_write(&place, text));
	assert_non_null(strstr(text, "+0x"));
	place.count = 0;
	assert_false(verbs_check_place_write(&place, text));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WATCHED_TEST(calls_on_a_destroyed_queue_are_said_and_refused),
		WATCHED_TEST(a_new_queue_in_the_same_memory_is_right),
		WATCHED_TEST(a_queue_that_was_never_destroyed_is_right),
#ifndef __arm__ /* without places, see check/leaks.c */
		WATCHED_TEST(the_place_of_the_call_is_noted),
#endif
	};

	log_to_memory();
	return cmocka_run_group_tests(tests, NULL, NULL);
}

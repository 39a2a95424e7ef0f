/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Places of a CQ that posted requests are promised, against those it has.
 *
 * Covers: libibverbs/check/places.c
 */
#include "watched.h"

static const char TOO_SMALL[] = "its CQ has 4 places, but 5 posted requests may complete to it";

static void cq_fill(struct ibv_qp *qp, int count)
{
	for (int i = 0; i < count; i++)
		assert_int_equal(watched_send(qp, (uint64_t)i, NULL, IBV_SEND_SIGNALED), 0);
}

static void as_many_requests_as_places_are_right(void **state)
{
	struct ibv_qp *qp = watched_qp(IBV_QPT_RC, watched_cq(4), NULL);

	(void)state;
	cq_fill(qp, 4);
	for (int i = 0; i < 20; i++)
		assert_int_equal(watched_send(qp, 0, NULL, 0), 0);
	says_nothing();
}

static void one_request_too_many_is_said_once(void **state)
{
	struct ibv_qp *qp = watched_qp(IBV_QPT_RC, watched_cq(4), NULL);

	(void)state;
	cq_fill(qp, 4);
	assert_int_equal(watched_recv(qp, 0x99, NULL), 0);
	check_logged("ibv_post_recv: QP 0x40: wr_id 0x99: its CQ has 4 places");
	assert_int_equal(watched_recv(qp, 0x9a, NULL), 0);
	says_nothing();
}

static void two_queue_pairs_share_the_places(void **state)
{
	struct ibv_cq *cq = watched_cq(4);
	struct ibv_qp *one = watched_qp(IBV_QPT_RC, cq, NULL),
		      *two = watched_qp(IBV_QPT_UC, cq, NULL);

	(void)state;
	cq_fill(one, 2);
	cq_fill(two, 2);
	says_nothing();
	cq_fill(two, 1);
	check_logged(TOO_SMALL);
}

static void a_polled_completion_gives_its_place_back(void **state)
{
	struct ibv_cq *cq = watched_cq(4);
	struct ibv_qp *qp = watched_qp(IBV_QPT_RC, cq, NULL);

	(void)state;
	cq_fill(qp, 4);
	watched_complete(cq, qp, 0, IBV_WC_SEND, IBV_WC_SUCCESS);
	cq_fill(qp, 1);
	says_nothing();
	cq_fill(qp, 1);
	check_logged(TOO_SMALL);
}

/* Completions that were not counted do not make room for later mistakes. */
static void more_completions_than_requests_count_as_none(void **state)
{
	struct ibv_cq *cq = watched_cq(4);
	struct ibv_qp *qp = watched_qp(IBV_QPT_RC, cq, NULL);

	(void)state;
	for (int i = 0; i < 3; i++)
		watched_complete(cq, qp, 0, IBV_WC_SEND, IBV_WC_SUCCESS);
	cq_fill(qp, 4);
	says_nothing();
	cq_fill(qp, 1);
	check_logged(TOO_SMALL);
}

static void refused_requests_take_no_place(void **state)
{
	struct ibv_qp *qp = watched_qp(IBV_QPT_RC, watched_cq(4), NULL);
	struct ibv_recv_wr wrs[6] = { { .next = NULL } }, *bad;

	(void)state;
	for (int i = 0; i < 5; i++)
		wrs[i].next = &wrs[i + 1];
	provider.takes = 3;
	assert_int_equal(verbs_check_post_recv(qp, wrs, &bad), ENOMEM);
	assert_ptr_equal(bad, &wrs[3]);
	provider.takes = 1;
	assert_int_equal(watched_recv(qp, 0, NULL), 0);
	says_nothing();
	assert_int_equal(watched_recv(qp, 0, NULL), 0);
	check_logged(TOO_SMALL);
}

static void a_reset_and_a_destroy_free_the_places(void **state)
{
	struct ibv_cq *cq = watched_cq(4);
	struct ibv_qp *qp = watched_qp(IBV_QPT_RC, cq, NULL);

	(void)state;
	assert_int_equal(watched_recv(qp, 0, NULL), 0);
	watched_modify(qp, IBV_QPS_RESET);
	watched_modify(qp, IBV_QPS_RTS);
	for (int i = 0; i < 4; i++)
		assert_int_equal(watched_recv(qp, 0, NULL), 0);
	assert_int_equal(verbs_check_destroy_qp(qp), 0);
	qp = watched_qp(IBV_QPT_RC, cq, NULL);
	cq_fill(qp, 4);
	says_nothing();
}

static void a_cq_that_may_overrun_is_not_judged(void **state)
{
	const struct ibv_cq_init_attr_ex attr = { .cqe = 4,
						  .comp_mask = IBV_CQ_INIT_ATTR_MASK_FLAGS,
						  .flags = IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN };
	struct verbs_cq *vcq;

	(void)state;
	assert_int_equal(verbs_check_create_cq(watched, &attr, &vcq), 0);
	cq_fill(watched_qp(IBV_QPT_RC, &vcq->cq, NULL), 10);
	says_nothing();
}

static void a_refused_destroy_keeps_the_places(void **state)
{
	struct ibv_cq *cq = watched_cq(4);

	(void)state;
	provider.err = EBUSY;
	assert_int_equal(verbs_check_destroy_cq(cq), EBUSY);
	provider.err = 0;
	cq_fill(watched_qp(IBV_QPT_RC, cq, NULL), 5);
	check_logged(TOO_SMALL);
}

/* A basic CQ of the distribution's provider may be a struct ibv_cq with its own data behind, so the
 * checker must not write there. */
static void what_lies_behind_a_cq_of_a_guest_stays(void **state)
{
	int table, data;
	struct ibv_cq *cq;
	struct ibv_cq_ex *cqx;

	(void)state;
	to_priv(watched)->foreign = &table;
	provider.behind = &data;
	cq = watched_cq(4);
	cqx = (struct ibv_cq_ex *)cq;
	assert_memory_equal(&cqx->start_poll, &provider.behind, sizeof(provider.behind));
	assert_null(cqx->next_poll);
	assert_null(cqx->end_poll);
	to_priv(watched)->foreign = NULL;
	cq_fill(watched_qp(IBV_QPT_RC, cq, NULL), 5);
	check_logged(TOO_SMALL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WATCHED_TEST(as_many_requests_as_places_are_right),
		WATCHED_TEST(one_request_too_many_is_said_once),
		WATCHED_TEST(two_queue_pairs_share_the_places),
		WATCHED_TEST(a_polled_completion_gives_its_place_back),
		WATCHED_TEST(more_completions_than_requests_count_as_none),
		WATCHED_TEST(refused_requests_take_no_place),
		WATCHED_TEST(a_reset_and_a_destroy_free_the_places),
		WATCHED_TEST(a_cq_that_may_overrun_is_not_judged),
		WATCHED_TEST(a_refused_destroy_keeps_the_places),
		WATCHED_TEST(what_lies_behind_a_cq_of_a_guest_stays),
	};

	log_to_memory();
	return cmocka_run_group_tests(tests, NULL, NULL);
}

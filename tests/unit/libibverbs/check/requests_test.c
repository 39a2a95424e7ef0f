/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Requests that have not completed, when their region goes away.
 *
 * Covers: libibverbs/check/requests.c, libibverbs/check/pairs.c
 */
#include "watched.h"

#include <pthread.h>
#include <time.h>

static char memory[64];

/* A QP on a CQ that the program polls, and a region. */
static struct ibv_cq *cq;
static struct ibv_qp *qp;
static struct verbs_mr *vmr;
static struct ibv_sge sge;

static int open_pair(void **state)
{
	struct ibv_wc wc;
	int err = watched_open(state);

	cq = watched_cq(4096);
	qp = watched_qp(IBV_QPT_RC, cq, NULL);
	vmr = watched_region(memory, 64, IBV_ACCESS_LOCAL_WRITE);
	sge = watched_sge(memory, 64, vmr);
	assert_int_equal(verbs_check_poll_cq(cq, 1, &wc), 0);
	return err;
}

#define PAIR_TEST(fn) cmocka_unit_test_setup_teardown(fn, open_pair, watched_close)

static void send(uint64_t wr_id, unsigned int flags)
{
	assert_int_equal(watched_send(qp, wr_id, &sge, flags), 0);
}

static void sent(uint64_t wr_id)
{
	watched_complete(cq, qp, wr_id, IBV_WC_SEND, IBV_WC_SUCCESS);
}

/* As a request of mlx5dv_wr_*() completes. */
static void driver_sent(uint64_t wr_id)
{
	watched_complete(cq, qp, wr_id, IBV_WC_DRIVER1, IBV_WC_SUCCESS);
}

static void deregister(void)
{
	assert_int_equal(verbs_check_dereg_mr(vmr), 0);
}

static void a_region_that_a_send_names_is_said(void **state)
{
	(void)state;
	send(5, IBV_SEND_SIGNALED);
	deregister();
	check_logged("ibv_dereg_mr: lkey 0x100: ibv_post_send of QP 0x40, wr_id 0x5, names the MR "
		     "and has not completed: poll its completion");
}

static void a_region_that_a_receive_names_is_said(void **state)
{
	(void)state;
	assert_int_equal(watched_recv(qp, 6, &sge), 0);
	deregister();
	check_logged("lkey 0x100: ibv_post_recv of QP 0x40, wr_id 0x6, names the MR");
}

static void a_region_of_completed_requests_is_right(void **state)
{
	(void)state;
	for (uint64_t i = 0; i < 300; i++) {
		send(i, i % 3 == 2 ? IBV_SEND_SIGNALED : 0);
		assert_int_equal(watched_recv(qp, i, &sge), 0);
	}
	for (uint64_t i = 0; i < 300; i++) {
		if (i % 3 == 2)
			sent(i);
		watched_complete(cq, qp, i, IBV_WC_RECV, IBV_WC_SUCCESS);
	}
	deregister();
	says_nothing();
}

static void an_unsignaled_request_is_outstanding_until_a_later_one_completes(void **state)
{
	(void)state;
	send(1, IBV_SEND_SIGNALED);
	send(2, 0);
	sent(1);
	deregister();
	check_logged("wr_id 0x2, names the MR");
}

static void an_opcode_of_the_provider_completes_a_send(void **state)
{
	(void)state;
	assert_int_equal(watched_recv(qp, 1, &sge), 0);
	send(1, IBV_SEND_SIGNALED);
	driver_sent(1);
	deregister();
	check_logged("ibv_post_recv of QP 0x40, wr_id 0x1, names the MR");
}

static void inline_data_and_other_regions_are_free(void **state)
{
	struct verbs_mr *other = watched_region(memory, 64, IBV_ACCESS_LOCAL_WRITE);

	(void)state;
	send(1, IBV_SEND_SIGNALED | IBV_SEND_INLINE);
	sge = watched_sge(memory, 64, other);
	send(2, IBV_SEND_SIGNALED);
	deregister();
	says_nothing();
}

static void a_refused_request_is_not_outstanding(void **state)
{
	struct ibv_recv_wr *bad, wrs[2] = { { 1, &wrs[1], NULL, 0 }, { 2, NULL, &sge, 1 } };

	(void)state;
	provider.takes = 1;
	assert_int_equal(verbs_check_post_recv(qp, wrs, &bad), ENOMEM);
	deregister();
	says_nothing();
}

static void a_region_that_stays_is_not_said(void **state)
{
	(void)state;
	send(5, IBV_SEND_SIGNALED);
	provider.err = EBUSY;
	assert_int_equal(verbs_check_dereg_mr(vmr), EBUSY);
	provider.err = 0;
	says_nothing();
}

/* The adapter flushes what is left, so no request holds the region. */
static void a_failed_queue_pair_holds_no_region(void **state)
{
	(void)state;
	send(1, IBV_SEND_SIGNALED);
	send(2, IBV_SEND_SIGNALED);
	assert_int_equal(watched_recv(qp, 3, &sge), 0);
	watched_complete(cq, qp, 1, IBV_WC_SEND, IBV_WC_RETRY_EXC_ERR);
	deregister();
	assert_int_equal(verbs_check_destroy_qp(qp), 0);
	says_nothing();
}

static void a_queue_pair_in_error_or_reset_holds_no_region(void **state)
{
	(void)state;
	send(1, IBV_SEND_SIGNALED);
	watched_modify(qp, IBV_QPS_ERR);
	deregister();
	vmr = watched_region(memory, 64, IBV_ACCESS_LOCAL_WRITE);
	sge = watched_sge(memory, 64, vmr);
	watched_modify(qp, IBV_QPS_RESET);
	watched_modify(qp, IBV_QPS_RTS);
	says_nothing();
	send(2, IBV_SEND_SIGNALED);
	deregister();
	check_logged("wr_id 0x2, names the MR");
}

static void completions_in_another_order_end_the_judgement(void **state)
{
	(void)state;
	send(1, IBV_SEND_SIGNALED);
	send(2, IBV_SEND_SIGNALED);
	send(3, IBV_SEND_SIGNALED);
	sent(2);
	deregister();
	assert_int_equal(verbs_check_destroy_qp(qp), 0);
	says_nothing();
}

/* Its completions may be read by direct verbs, so the checker cannot know which are done. */
static void a_cq_that_was_never_polled_is_not_judged(void **state)
{
	struct ibv_qp *other = watched_qp(IBV_QPT_RC, watched_cq(64), NULL);

	(void)state;
	assert_int_equal(watched_send(other, 1, &sge, IBV_SEND_SIGNALED), 0);
	deregister();
	says_nothing();
}

/* The answer of the peer may have told the program that its send arrived, and receives need not
 * complete, so destroying the QP is right. */
static void a_destroyed_queue_pair_may_have_requests(void **state)
{
	(void)state;
	send(1, IBV_SEND_SIGNALED);
	assert_int_equal(watched_recv(qp, 2, &sge), 0);
	assert_int_equal(verbs_check_destroy_qp(qp), 0);
	deregister();
	says_nothing();
}

/* The adapter gives the number of a destroyed QP to a new one, so the checker must not mix their
 * requests. */
static void a_number_of_a_dead_queue_pair_is_used_again(void **state)
{
	(void)state;
	assert_int_equal(verbs_check_destroy_qp(qp), 0);
	provider.qpn = 0x40;
	qp = watched_qp(IBV_QPT_RC, cq, NULL);
	send(1, IBV_SEND_SIGNALED);
	sent(1);
	deregister();
	says_nothing();
}

static void a_refused_destroy_watches_again(void **state)
{
	(void)state;
	provider.err = EBUSY;
	assert_int_equal(verbs_check_destroy_qp(qp), EBUSY);
	provider.err = 0;
	watched_modify(qp, IBV_QPS_RESET);
	watched_modify(qp, IBV_QPS_RTS);
	send(7, IBV_SEND_SIGNALED);
	deregister();
	check_logged("wr_id 0x7, names the MR");
}

/* The bytes at an address of another space are others. */
static void addresses_of_other_spaces_share_nothing(void **state)
{
	static char far[64];
	struct verbs_mr *other;

	(void)state;
	verbs_check_settings.buffers = true;
	assert_int_equal(verbs_check_reg_mr(&watched_pd, far, 64, (uintptr_t)memory,
					    IBV_ACCESS_LOCAL_WRITE, &other),
			 0);
	assert_int_equal(watched_recv(qp, 1, &sge), 0);
	sge = watched_sge(memory, 64, other);
	assert_int_equal(watched_recv(qp, 2, &sge), 0);
	says_nothing();
	assert_int_equal(watched_recv(qp, 3, &sge), 0);
	check_logged("share bytes with 64 bytes");
	verbs_check_settings.buffers = false;
}

static pthread_t second;

/* Regions of both threads, and what the second thread does in the first one's post. */
static struct verbs_mr *other_vmr;

static void second_is_taken(void)
{
	provider.takes = 1000;
}

static void *send_second(void *nothing)
{
	struct ibv_sge other = watched_sge(memory, 64, other_vmr);

	assert_int_equal(watched_send(qp, 2, &other, IBV_SEND_SIGNALED), 0);
	return nothing;
}

/* Starts the second thread while the first posts, gives it time, and refuses the first post. */
static void second_start(void)
{
	const struct timespec later = { .tv_nsec = 100000000 };

	provider.in_post = second_is_taken;
	assert_int_equal(pthread_create(&second, NULL, send_second, NULL), 0);
	nanosleep(&later, NULL);
	provider.takes = 0;
}

static void a_refused_post_leaves_the_request_of_another_thread(void **state)
{
	(void)state;
	other_vmr = watched_region(memory, 64, IBV_ACCESS_LOCAL_WRITE);
	provider.in_post = second_start;
	assert_int_equal(watched_send(qp, 1, &sge, IBV_SEND_SIGNALED), ENOMEM);
	assert_int_equal(pthread_join(second, NULL), 0);
	deregister();
	says_nothing();
	assert_int_equal(verbs_check_dereg_mr(other_vmr), 0);
	check_logged("ibv_post_send of QP 0x40, wr_id 0x2, names the MR");
}

enum { POSTS = 3000 };

/* Posts with wr_id = lkey. */
static void *send_many(void *of)
{
	struct ibv_sge own = watched_sge(memory, 64, of);

	for (int i = 0; i < POSTS; i++)
		assert_int_equal(watched_send(qp, own.lkey, &own, 0), 0);
	return NULL;
}

static void requests_of_two_threads_keep_their_buffers(void **state)
{
	const struct check_qp *check = verbs_check_find(CHECK_QP, NULL, check_id(qp));

	(void)state;
	other_vmr = watched_region(memory, 64, IBV_ACCESS_LOCAL_WRITE);
	assert_int_equal(pthread_create(&second, NULL, send_many, other_vmr), 0);
	send_many(vmr);
	assert_int_equal(pthread_join(second, NULL), 0);
	assert_int_equal(check->sends.tail - check->sends.head, 2 * POSTS);
	for (unsigned int i = check->sends.head; i != check->sends.tail; i++) {
		const struct check_request *request =
			&check->sends.requests[i & (check->sends.room - 1)];

		assert_int_equal(request->count, 1);
		assert_int_equal(request->sges[0].lkey, request->wr_id);
	}
}

static unsigned int seen;

static void qp_count(const struct check_qp *check, void *into)
{
	(void)check;
	(void)into;
	seen++;
}

static void qp_say(void *from)
{
	(void)from;
}

/* The status of a QP would call the context, which is freed. */
static void a_closed_context_has_no_queue_pairs(void **state)
{
	unsigned int before;

	(void)state;
	seen = 0;
	verbs_check_each_qp(qp_count, qp_say, NULL);
	before = seen;
	verbs_check_context_closes(watched);
	seen = 0;
	verbs_check_each_qp(qp_count, qp_say, NULL);
	assert_int_equal(seen, before - 1);
	verbs_check_context_closes(watched);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		PAIR_TEST(a_region_that_a_send_names_is_said),
		PAIR_TEST(a_region_that_a_receive_names_is_said),
		PAIR_TEST(a_region_of_completed_requests_is_right),
		PAIR_TEST(an_unsignaled_request_is_outstanding_until_a_later_one_completes),
		PAIR_TEST(an_opcode_of_the_provider_completes_a_send),
		PAIR_TEST(inline_data_and_other_regions_are_free),
		PAIR_TEST(a_refused_request_is_not_outstanding),
		PAIR_TEST(a_region_that_stays_is_not_said),
		PAIR_TEST(a_failed_queue_pair_holds_no_region),
		PAIR_TEST(a_queue_pair_in_error_or_reset_holds_no_region),
		PAIR_TEST(completions_in_another_order_end_the_judgement),
		PAIR_TEST(a_cq_that_was_never_polled_is_not_judged),
		PAIR_TEST(a_destroyed_queue_pair_may_have_requests),
		PAIR_TEST(a_number_of_a_dead_queue_pair_is_used_again),
		PAIR_TEST(a_refused_destroy_watches_again),
		PAIR_TEST(addresses_of_other_spaces_share_nothing),
		PAIR_TEST(a_refused_post_leaves_the_request_of_another_thread),
		PAIR_TEST(requests_of_two_threads_keep_their_buffers),
		PAIR_TEST(a_closed_context_has_no_queue_pairs),
	};

	log_to_memory();
	return cmocka_run_group_tests(tests, NULL, NULL);
}

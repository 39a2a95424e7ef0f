/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Objects of a parent process, fork() without protection, and threads that meet in a queue without
 * a lock.
 *
 * Covers: libibverbs/check/owners.c, libibverbs/check/others.c
 */
#include "watched.h"

#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <sys/wait.h>

static enum ibv_fork_status protection;

enum ibv_fork_status __wrap_ibv_is_fork_initialized(void);

enum ibv_fork_status __wrap_ibv_is_fork_initialized(void)
{
	return protection;
}

static struct ibv_cq *cq;
static struct ibv_qp *qp;
static char memory[64];

static void pair_open(void)
{
	cq = watched_cq(64);
	qp = watched_qp(IBV_QPT_RC, cq, NULL);
}

static void child_fork(void (*body)(void))
{
	pid_t child = fork();
	int status;

	assert_true(child >= 0);
	if (!child) {
		body();
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

static void queues_use(void)
{
	struct ibv_recv_wr *bad, wr = { 0 };
	struct ibv_wc wc;

	watched_send(qp, 1, NULL, 0);
	watched_recv(qp, 2, NULL);
	verbs_check_poll_cq(cq, 1, &wc);
	verbs_check_post_srq_recv(watched_srq(), &wr, &bad);
}

static void a_child_may_not_use_queues_of_its_parent(void **state)
{
	const char *text;

	(void)state;
	pair_open();
	queues_use();
	says_nothing();
	child_fork(queues_use);
	text = log_text();
	assert_non_null(strstr(text, "ibv_post_send: QP 0x40: a parent of this process opened"));
	assert_non_null(strstr(text, "ibv_post_recv: QP 0x40: a parent"));
	assert_non_null(strstr(text, "ibv_poll_cq: CQ 0x0: a parent"));
	assert_non_null(strstr(text, "ibv_post_srq_recv: SRQ 0x0: a parent"));
	queues_use();
	says_nothing();
}

static void objects_destroy(void)
{
	verbs_check_destroy_qp(qp);
	verbs_check_destroy_cq(cq);
	verbs_check_dereg_mr(watched_region(memory, 64, 0));
}

static void a_child_may_not_destroy_objects_of_its_parent(void **state)
{
	const char *text;

	(void)state;
	pair_open();
	child_fork(objects_destroy);
	text = log_text();
	assert_non_null(strstr(text, "ibv_destroy_qp: QP 0x40: a parent of this process opened"));
	assert_non_null(strstr(text, "ibv_destroy_cq: CQ 0x0: a parent"));
	assert_non_null(strstr(text, "ibv_dereg_mr: lkey 0x100: a parent"));
}

static void device_use(void)
{
	void *fake;

	watched_open(&fake);
	pair_open();
	queues_use();
	objects_destroy();
	says_nothing();
}

static void a_child_may_open_the_device(void **state)
{
	(void)state;
	child_fork(device_use);
	says_nothing();
}

static void body_none(void)
{
}

static void a_fork_without_protection_is_said(void **state)
{
	struct verbs_mr *vmr;

	(void)state;
	protection = IBV_FORK_DISABLED;
	child_fork(body_none);
	says_nothing();
	vmr = watched_region(memory, 64, 0);
	child_fork(body_none);
	check_logged("fork: 1 memory regions are registered without protection");
	protection = IBV_FORK_ENABLED;
	child_fork(body_none);
	protection = IBV_FORK_UNNEEDED;
	child_fork(body_none);
	says_nothing();
	protection = IBV_FORK_DISABLED;
	verbs_check_dereg_mr(vmr);
	child_fork(body_none);
	says_nothing();
	protection = IBV_FORK_UNNEEDED;
}

static void *other_thread(void *of)
{
	struct ibv_wc wc;

	(void)of;
	provider.in_post = NULL;
	watched_send(qp, 2, NULL, 0);
	watched_recv(qp, 2, NULL);
	verbs_check_poll_cq(cq, 1, &wc);
	return NULL;
}

static void thread_run(void)
{
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, other_thread, NULL), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
}

static pthread_t second;

static void second_start(void)
{
	provider.in_post = NULL;
	assert_int_equal(pthread_create(&second, NULL, other_thread, NULL), 0);
}

static void second_join(void)
{
	assert_int_equal(pthread_join(second, NULL), 0);
}

/* Opens a QP on a parent domain, as the program would. */
static void domain_open(struct ibv_td *td)
{
	static struct ibv_pd *domain;
	struct ibv_parent_domain_init_attr attr = { .pd = &watched_pd, .td = td };
	struct ibv_qp_init_attr_ex init = { .qp_type = IBV_QPT_RC };
	struct verbs_qp *vqp;

	domain = ibv_alloc_parent_domain(watched, &attr);
	assert_non_null(domain);
	cq = watched_cq(64);
	init.send_cq = init.recv_cq = cq;
	init.pd = domain;
	assert_int_equal(verbs_check_create_qp(watched, &init, &vqp), 0);
	qp = &vqp->qp;
}

static void threads_that_meet_without_a_lock_are_said(void **state)
{
	struct ibv_td td = { .context = watched };

	(void)state;
	domain_open(&td);
	provider.in_post = thread_run;
	watched_send(qp, 1, NULL, 0);
	check_logged(
		"ibv_post_send: QP 0x40: another thread is in a call on it, and it has no lock");
	provider.in_post = thread_run;
	watched_recv(qp, 1, NULL);
	check_logged("ibv_post_recv: QP 0x40: another thread");
}

static void threads_in_turn_are_right(void **state)
{
	struct ibv_td td = { .context = watched };

	(void)state;
	domain_open(&td);
	watched_send(qp, 1, NULL, 0);
	thread_run();
	watched_recv(qp, 1, NULL);
	says_nothing();
}

static void threads_may_meet_at_a_lock(void **state)
{
	(void)state;
	domain_open(NULL);
	provider.in_post = second_start;
	watched_send(qp, 1, NULL, 0);
	second_join();
	pair_open();
	provider.in_post = second_start;
	watched_recv(qp, 1, NULL);
	second_join();
	says_nothing();
}

static void cancel_in_post(void)
{
	provider.in_post = NULL;
	pthread_cancel(pthread_self());
	pthread_testcancel();
}

static void *post_and_end(void *of)
{
	assert_int_equal(watched_send(of, 1, NULL, IBV_SEND_SIGNALED), 0);
	pthread_testcancel();
	return NULL;
}

/* It would keep its turn, and the other threads would wait without end. */
static void a_thread_is_cancelled_behind_its_turn(void **state)
{
	struct ibv_qp *qp = watched_qp(IBV_QPT_RC, watched_cq(16), NULL);
	const struct check_qp *check = verbs_check_find(CHECK_QP, NULL, check_id(qp));
	pthread_t thread;
	void *result;
	int before;

	(void)state;
	provider.in_post = cancel_in_post;
	assert_int_equal(pthread_create(&thread, NULL, post_and_end, qp), 0);
	assert_int_equal(pthread_join(thread, &result), 0);
	assert_ptr_equal(result, PTHREAD_CANCELED);
	assert_null(check->sends.poster);
	assert_int_equal(check->sends.tail - check->sends.head, 1);
	assert_int_equal(watched_recv(qp, 2, NULL), 0);
	pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &before);
	assert_int_equal(before, PTHREAD_CANCEL_ENABLE);
}

static void cancel_in_poll(void)
{
	provider.in_poll = NULL;
	pthread_cancel(pthread_self());
	pthread_testcancel();
}

static int start_cancelled(struct ibv_cq_ex *cq, struct ibv_poll_cq_attr *attr)
{
	(void)cq, (void)attr;
	cancel_in_poll();
	return ENOENT;
}

/* What is on the stack of a cancelled thread stays poisoned for AddressSanitizer: static. */
static void *poll_and_end(void *of)
{
	static struct ibv_wc wc;

	assert_int_equal(ibv_poll_cq(of, 1, &wc), 0);
	pthread_testcancel();
	return NULL;
}

static void *start_and_end(void *of)
{
	static struct ibv_poll_cq_attr attr;

	assert_int_equal(ibv_start_poll(of, &attr), ENOENT);
	pthread_testcancel();
	return NULL;
}

static struct ibv_cq *cq_of_one_thread(void)
{
	const struct ibv_cq_init_attr_ex attr = { .cqe = 16,
						  .comp_mask = IBV_CQ_INIT_ATTR_MASK_FLAGS,
						  .flags = IBV_CREATE_CQ_ATTR_SINGLE_THREADED };
	struct verbs_cq *vcq;

	assert_int_equal(verbs_check_create_cq(watched, &attr, &vcq), 0);
	return &vcq->cq;
}

/* Lets a thread RUN that is cancelled in its poll, and polls after it. */
static void polls_after(struct ibv_cq *of, void *(*run)(void *of))
{
	pthread_t thread;
	struct ibv_wc wc;
	void *result;

	assert_int_equal(pthread_create(&thread, NULL, run, of), 0);
	assert_int_equal(pthread_join(thread, &result), 0);
	assert_ptr_equal(result, PTHREAD_CANCELED);
	assert_int_equal(verbs_check_poll_cq(of, 1, &wc), 0);
	says_nothing();
}

/* It would stay the one that polls, and the checker would say that the next one meets it. */
static void a_thread_is_cancelled_behind_its_poll(void **state)
{
	struct ibv_cq *one = cq_of_one_thread();

	(void)state;
	provider.in_poll = cancel_in_poll;
	polls_after(one, poll_and_end);
	provider.behind = (void *)start_cancelled;
	polls_after(cq_of_one_thread(), start_and_end);
}

static struct check_ring turns;
static bool has_turn;

static void *turn_take_and_leave(void *nothing)
{
	verbs_check_turn_take(&turns);
	__atomic_store_n(&has_turn, true, __ATOMIC_RELEASE);
	verbs_check_turn_leave(&turns);
	return nothing;
}

static void *turn_leave(void *nothing)
{
	verbs_check_turn_leave(&turns);
	return nothing;
}

static void *turn_wait(void *of)
{
	verbs_check_turn_take(of);
	verbs_check_turn_leave(of);
	return NULL;
}

static void a_thread_leaves_only_its_own_turn(void **state)
{
	const struct timespec later = { .tv_nsec = 100000000 };
	pthread_t thread;

	(void)state;
	verbs_check_turn_take(&turns);
	assert_int_equal(pthread_create(&thread, NULL, turn_leave, NULL), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_non_null(turns.poster);
	assert_int_equal(pthread_create(&thread, NULL, turn_take_and_leave, NULL), 0);
	nanosleep(&later, NULL);
	assert_false(__atomic_load_n(&has_turn, __ATOMIC_ACQUIRE));
	verbs_check_turn_leave(&turns);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_true(has_turn);
	assert_null(turns.poster);
}

/* The program destroys the QP while a batch of another thread has the turn. */
static void a_destroyed_queue_pair_wakes_who_waits_for_a_turn(void **state)
{
	struct ibv_qp *qp = watched_qp(IBV_QPT_RC, watched_cq(16), NULL);
	struct check_qp *check = verbs_check_find(CHECK_QP, NULL, check_id(qp));
	const struct timespec later = { .tv_nsec = 100000000 };
	pthread_t thread;

	(void)state;
	verbs_check_turn_take(&check->sends);
	assert_int_equal(pthread_create(&thread, NULL, turn_wait, &check->sends), 0);
	nanosleep(&later, NULL);
	assert_int_equal(verbs_check_destroy_qp(qp), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	verbs_check_turn_leave(&check->sends);
}

static void asked_wait(const struct check_ring *ring, unsigned int asked)
{
	bool has_asked;

	do {
		sched_yield();
		verbs_check_lock();
		has_asked = ring->turns == asked;
		verbs_check_unlock();
	} while (!has_asked);
}

/* A new QP may get the record of a destroyed one before a thread that waits has woken up. */
static void a_new_queue_pair_keeps_no_thread_of_the_old_one(void **state)
{
	struct ibv_qp *qp = watched_qp(IBV_QPT_RC, watched_cq(16), NULL);
	struct check_qp *check = verbs_check_find(CHECK_QP, NULL, check_id(qp)), *again;
	const unsigned int before = check->sends.turns; /* of a QP of an earlier test */
	pthread_t thread;

	(void)state;
	turn_wait(&check->sends);
	verbs_check_turn_take(&check->sends);
	assert_int_equal(pthread_create(&thread, NULL, turn_wait, &check->sends), 0);
	asked_wait(&check->sends, before + 3);
	assert_int_equal(verbs_check_destroy_qp(qp), 0);
	verbs_check_lock();
	again = verbs_check_qp_add(qp);
	verbs_check_unlock();
	assert_ptr_equal(again, check);
	assert_int_equal(pthread_join(thread, NULL), 0);
	turn_wait(&check->sends);
	assert_int_equal(check->sends.turns, before + 4);
	assert_int_equal(check->sends.turns_ended, before + 4);
	check_live(&check->record, false);
}

static void send_of_a_child(void)
{
	watched_send(qp, 1, NULL, 0);
}

/* Threads of the parent that have a turn, or wait for one, are not in the child. */
static void a_child_waits_for_no_thread_of_its_parent(void **state)
{
	struct check_qp *check;
	unsigned int before;
	pthread_t thread;

	(void)state;
	pair_open();
	check = verbs_check_find(CHECK_QP, NULL, check_id(qp));
	before = check->sends.turns;
	verbs_check_turn_take(&check->sends);
	assert_int_equal(pthread_create(&thread, NULL, turn_wait, &check->sends), 0);
	asked_wait(&check->sends, before + 2);
	child_fork(send_of_a_child);
	verbs_check_turn_leave(&check->sends);
	assert_int_equal(pthread_join(thread, NULL), 0);
	log_text();
}

/* A new PD may have the address of a domain that is gone, so the domain's threads must go with
 * it. */
static void a_domain_that_is_gone_has_no_threads(void **state)
{
	struct ibv_td td = { .context = watched };

	(void)state;
	domain_open(&td);
	assert_true(verbs_check_has_no_lock(watched, qp->pd));
	verbs_check_domain_unmade(qp->pd);
	assert_false(verbs_check_has_no_lock(watched, qp->pd));
}

static void the_environment_takes_locks_away(void **state)
{
	(void)state;
	setenv("MLX5_SINGLE_THREADED", "1", 1);
	assert_true(verbs_check_has_no_lock(watched, NULL));
	setenv("MLX5_SINGLE_THREADED", "0", 1);
	assert_false(verbs_check_has_no_lock(watched, NULL));
	unsetenv("MLX5_SINGLE_THREADED");
	assert_false(verbs_check_has_no_lock(watched, NULL));
}

static bool has_posted;

static void *turn_of_another(void *nothing)
{
	verbs_check_turn_take(&turns);
	has_posted = true;
	verbs_check_turn_leave(&turns);
	return nothing;
}

/* A thread that posts in a loop asks again before the one that waits has woken up. */
static void turns_come_in_the_order_of_the_threads(void **state)
{
	pthread_t thread;

	(void)state;
	turns.turns = turns.turns_ended =
		UINT_MAX - 1; /* the turn behind the other thread's wraps */
	verbs_check_turn_take(&turns);
	verbs_check_turn_take(&turns); /* as it has the turn */
	assert_int_equal(pthread_create(&thread, NULL, turn_of_another, NULL), 0);
	asked_wait(&turns, 0);
	verbs_check_turn_leave(&turns);
	verbs_check_turn_take(&turns);
	assert_true(has_posted);
	verbs_check_turn_leave(&turns);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_null(turns.poster);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WATCHED_TEST(a_child_may_not_use_queues_of_its_parent),
		WATCHED_TEST(a_child_may_not_destroy_objects_of_its_parent),
		WATCHED_TEST(a_child_may_open_the_device),
		WATCHED_TEST(a_fork_without_protection_is_said),
		WATCHED_TEST(threads_that_meet_without_a_lock_are_said),
		WATCHED_TEST(threads_in_turn_are_right),
		WATCHED_TEST(turns_come_in_the_order_of_the_threads),
		WATCHED_TEST(threads_may_meet_at_a_lock),
		WATCHED_TEST(a_thread_is_cancelled_behind_its_turn),
		WATCHED_TEST(a_thread_is_cancelled_behind_its_poll),
		WATCHED_TEST(a_thread_leaves_only_its_own_turn),
		WATCHED_TEST(a_destroyed_queue_pair_wakes_who_waits_for_a_turn),
		WATCHED_TEST(a_new_queue_pair_keeps_no_thread_of_the_old_one),
		WATCHED_TEST(a_child_waits_for_no_thread_of_its_parent),
		WATCHED_TEST(a_domain_that_is_gone_has_no_threads),
		WATCHED_TEST(the_environment_takes_locks_away),
	};

	log_to_memory();
	setenv("VERBS_CHECK", "1", 1);
	protection = IBV_FORK_UNNEEDED;
	assert_true(verbs_check_is_on());
	return cmocka_run_group_tests(tests, NULL, NULL);
}

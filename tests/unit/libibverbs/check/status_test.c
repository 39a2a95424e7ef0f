/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The status of queue pairs: numbers that are not known, and what other threads may do while the
 * adapter is asked and while the line is written.
 *
 * Covers: libibverbs/check/status.c, libibverbs/check/requests.c, libibverbs/events.c
 */
#include "watched.h"

#include <pthread.h>
#include <sys/wait.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum { LATER_MS = 100 };

static char memory[64];

static struct ibv_cq *cq;
static struct ibv_qp *qp;
static struct verbs_mr *vmr;
static struct ibv_sge sge;

/* What runs while a line is written, or NULL. */
static void (*in_write)(void);

/* Reads the buffers of requests, as emulators lack the call. */
ssize_t __wrap_process_vm_readv(pid_t pid, const struct iovec *to, unsigned long to_count,
				const struct iovec *from, unsigned long from_count,
				unsigned long flags);

ssize_t __wrap_process_vm_readv(pid_t pid, const struct iovec *to, unsigned long to_count,
				const struct iovec *from, unsigned long from_count,
				unsigned long flags)
{
	assert_int_equal(pid, getpid());
	assert_int_equal(to_count, 1);
	assert_int_equal(from_count, 1);
	assert_int_equal(flags, 0);
	memcpy(to->iov_base, from->iov_base, to->iov_len);
	return (ssize_t)to->iov_len;
}

void __real_verbs_log_write_each(enum verbs_log_level level, const char *format, ...);
void __wrap_verbs_log_write_each(enum verbs_log_level level, const char *format, ...);

void __wrap_verbs_log_write_each(enum verbs_log_level level, const char *format, ...)
{
	void (*const run)(void) = in_write;
	char text[1200];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	in_write = NULL;
	if (run)
		run();
	__real_verbs_log_write_each(level, "%s", text);
}

static int open_pair(void **state)
{
	int err = watched_open(state);

	cq = watched_cq(64);
	qp = watched_qp(IBV_QPT_RC, cq, NULL);
	vmr = watched_region(memory, 64, IBV_ACCESS_LOCAL_WRITE);
	sge = watched_sge(memory, 64, vmr);
	return err;
}

static int close_pair(void **state)
{
	verbs_check_context_closes(watched);
	return watched_close(state);
}

static void a_status_counts_requests(void **state)
{
	(void)state;
	assert_int_equal(watched_send(qp, 1, &sge, IBV_SEND_SIGNALED), 0);
	assert_int_equal(watched_send(qp, 2, &sge, 0), 0);
	assert_int_equal(watched_recv(qp, 3, &sge), 0);
	verbs_check_status_say();
	check_logged("2 sends (1 signaled) and 1 receives have not completed, the oldest of "
		     "ibv_post_send, wr_id 0x1");
}

static void numbers_are_not_known_after_a_failed_completion(void **state)
{
	const char *text;

	(void)state;
	assert_int_equal(watched_send(qp, 1, &sge, IBV_SEND_SIGNALED), 0);
	assert_int_equal(watched_recv(qp, 3, &sge), 0);
	watched_complete(cq, qp, 1, IBV_WC_SEND, IBV_WC_REM_ACCESS_ERR);
	verbs_check_status_say();
	text = log_text();
	assert_non_null(strstr(text, "an unknown number of sends and an unknown number of receives "
				     "have not completed; CQ"));
	assert_non_null(strstr(text, ": which requests have not completed is not known after a"));
	watched_modify(qp, IBV_QPS_RESET);
	watched_modify(qp, IBV_QPS_RTS);
	verbs_check_status_say();
	check_logged("0 sends (0 signaled) and 0 receives have not completed");
}

static bool waits(void)
{
	bool now;

	verbs_check_moves(&now);
	return now;
}

static int poll_one(struct ibv_cq_ex *cqx, struct ibv_poll_cq_attr *attr)
{
	(void)attr;
	cqx->wr_id = 1;
	cqx->status = IBV_WC_SUCCESS;
	return 0;
}

/* The send has completed, and its QP is hidden. */
static void numbers_are_not_known_if_a_cq_hides_the_queue_pairs(void **state)
{
	struct ibv_poll_cq_attr attr = { 0 };
	int (*const poll)(struct ibv_cq_ex *, struct ibv_poll_cq_attr *) = poll_one;
	struct ibv_cq *mute;

	(void)state;
	memcpy(&provider.behind, &poll, sizeof(poll));
	mute = watched_cq(64);
	qp = watched_qp(IBV_QPT_RC, mute, NULL);
	assert_int_equal(watched_send(qp, 1, &sge, IBV_SEND_SIGNALED), 0);
	assert_int_equal(ibv_start_poll((struct ibv_cq_ex *)mute, &attr), 0);
	assert_false(waits());
	verbs_check_status_say();
	check_logged("an unknown number of sends and an unknown number of receives have not "
		     "completed; CQ");
}

static void receives_of_an_srq_are_not_counted(void **state)
{
	(void)state;
	verbs_check_context_closes(watched);
	qp = watched_qp(IBV_QPT_RC, cq, watched_srq());
	verbs_check_status_say();
	check_logged("; 0 sends (0 signaled) have not completed; CQ");
}

enum { PATIENCE = 1000 };

static void a_program_that_waits_is_said_once_until_it_moves(void **state)
{
	struct check_idle idle = { .patience_ns = PATIENCE };

	(void)state;
	assert_int_equal(watched_send(qp, 1, &sge, IBV_SEND_SIGNALED), 0);
	assert_false(verbs_check_idle_look(&idle, 1));
	assert_false(verbs_check_idle_look(&idle, PATIENCE));
	assert_true(verbs_check_idle_look(&idle, PATIENCE + 1));
	assert_false(verbs_check_idle_look(&idle, 9 * PATIENCE));
	assert_int_equal(watched_recv(qp, 2, &sge), 0);
	assert_false(verbs_check_idle_look(&idle, 10 * PATIENCE));
	assert_false(verbs_check_idle_look(&idle, 11 * PATIENCE - 1));
	watched_complete(cq, qp, 1, IBV_WC_SEND, IBV_WC_SUCCESS);
	assert_false(verbs_check_idle_look(&idle, 11 * PATIENCE));
	assert_true(verbs_check_idle_look(&idle, 12 * PATIENCE));
}

static void a_program_without_requests_does_not_wait(void **state)
{
	struct check_idle idle = { .patience_ns = PATIENCE };

	(void)state;
	assert_false(verbs_check_idle_look(&idle, 1));
	assert_false(verbs_check_idle_look(&idle, 9 * PATIENCE));
	assert_int_equal(watched_recv(qp, 2, &sge), 0);
	watched_complete(cq, qp, 2, IBV_WC_RECV, IBV_WC_SUCCESS);
	assert_false(verbs_check_idle_look(&idle, 10 * PATIENCE));
	assert_false(verbs_check_idle_look(&idle, 19 * PATIENCE));
}

/* Runs FAULT in a child of fork(), which returns whether it has found one. */
static void child_run(bool (*fault)(void))
{
	const pid_t child = fork();
	int status;

	assert_true(child >= 0);
	if (!child)
		_exit(fault());
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

static bool parent_is_said(void)
{
	log_text();
	verbs_check_status_say();
	return waits() || *log_text();
}

/* Nor does a child wait for the requests of its parent, whose completions it cannot poll. */
static void a_child_does_not_query_queue_pairs_of_its_parent(void **state)
{
	(void)state;
	assert_int_equal(watched_send(qp, 1, &sge, IBV_SEND_SIGNALED), 0);
	child_run(parent_is_said);
	verbs_check_status_say();
	check_logged("status: QP 0x40 is in RTS");
}

/* It may hang in what it does about the failure. Once it has moved the QP to another state, it has
 * done that. */
static void a_program_waits_after_a_failed_completion(void **state)
{
	(void)state;
	assert_int_equal(watched_send(qp, 1, &sge, IBV_SEND_SIGNALED), 0);
	watched_complete(cq, qp, 1, IBV_WC_SEND, IBV_WC_RETRY_EXC_ERR);
	assert_true(waits());
	watched_modify(qp, IBV_QPS_ERR);
	watched_complete(cq, qp, 2, IBV_WC_SEND, IBV_WC_WR_FLUSH_ERR);
	assert_false(waits());
	watched_modify(qp, IBV_QPS_RESET);
	watched_modify(qp, IBV_QPS_RTS);
	assert_false(waits());
	assert_int_equal(watched_send(qp, 3, &sge, IBV_SEND_SIGNALED), 0);
	assert_true(waits());
}

/* No completion will tell of the last one. */
static void a_trailing_send_without_a_signal_does_not_wait(void **state)
{
	(void)state;
	assert_int_equal(watched_send(qp, 1, &sge, 0), 0);
	assert_true(waits());
	assert_int_equal(watched_send(qp, 2, &sge, IBV_SEND_SIGNALED), 0);
	assert_int_equal(watched_send(qp, 3, &sge, 0), 0);
	assert_true(waits());
	watched_complete(cq, qp, 2, IBV_WC_SEND, IBV_WC_SUCCESS);
	assert_false(waits());
	verbs_check_status_say();
	check_logged("1 sends (0 signaled) and 0 receives have not completed; CQ");
	watched_modify(qp, IBV_QPS_RESET);
	watched_modify(qp, IBV_QPS_RTS);
	assert_int_equal(watched_send(qp, 4, &sge, 0), 0);
	assert_true(waits());
}

static void send_is_refused(uint64_t wr_id, unsigned int flags)
{
	const int takes = provider.takes;

	provider.takes = 0;
	assert_int_equal(watched_send(qp, wr_id, &sge, flags), ENOMEM);
	provider.takes = takes;
}

/* The queue is full of requests that no completion frees: the program does nothing but retry. */
static void a_full_queue_without_a_signal_waits(void **state)
{
	(void)state;
	assert_int_equal(watched_send(qp, 1, &sge, IBV_SEND_SIGNALED), 0);
	watched_complete(cq, qp, 1, IBV_WC_SEND, IBV_WC_SUCCESS);
	assert_int_equal(watched_send(qp, 2, &sge, 0), 0);
	assert_false(waits());
	send_is_refused(3, 0);
	assert_true(waits());
	verbs_check_status_say();
	check_logged(": no request in the send queue is signaled");
	assert_int_equal(watched_send(qp, 4, &sge, 0), 0); /* there was room */
	assert_false(waits());
	send_is_refused(5, 0);
	watched_modify(qp, IBV_QPS_RESET);
	watched_modify(qp, IBV_QPS_RTS);
	assert_int_equal(watched_send(qp, 6, &sge, IBV_SEND_SIGNALED), 0);
	assert_int_equal(watched_send(qp, 7, &sge, 0), 0);
	send_is_refused(8, 0);
	watched_complete(cq, qp, 6, IBV_WC_SEND, IBV_WC_SUCCESS); /* makes room */
	assert_false(waits());
}

static void *completion_poll(void *nothing)
{
	watched_complete(cq, qp, 2, IBV_WC_SEND, IBV_WC_SUCCESS);
	return nothing;
}

static void complete_meanwhile(void)
{
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, completion_poll, NULL), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
}

/* Another thread polls the completion between the refusal and its note: there is room now, and a
 * program that gives the refused request up need not post again. */
static void a_refusal_that_a_completion_outdates_does_not_wait(void **state)
{
	(void)state;
	assert_int_equal(watched_send(qp, 1, &sge, 0), 0);
	assert_int_equal(watched_send(qp, 2, &sge, IBV_SEND_SIGNALED), 0);
	assert_int_equal(watched_send(qp, 3, &sge, 0), 0);
	provider.in_post = complete_meanwhile;
	send_is_refused(4, 0);
	provider.in_post = NULL;
	assert_false(waits());
	verbs_check_status_say();
	check_logged("1 sends (0 signaled) and 0 receives have not completed; CQ");
}

static struct check_idle *looked;

/* The thread that watches may look within a post. */
static void status_is_idle(void)
{
	assert_false(verbs_check_idle_look(looked, PATIENCE));
	assert_int_equal(looked->since_ns, 1);
}

/* As a poll that finds nothing is none. */
static void a_refused_post_is_no_move(void **state)
{
	struct check_idle idle = { .patience_ns = PATIENCE };

	(void)state;
	assert_int_equal(watched_send(qp, 1, &sge, 0), 0);
	send_is_refused(2, 0);
	assert_false(verbs_check_idle_look(&idle, 1));
	send_is_refused(2, 0);
	provider.in_post = status_is_idle;
	looked = &idle;
	send_is_refused(2, 0);
	provider.in_post = NULL;
	assert_true(verbs_check_idle_look(&idle, PATIENCE + 1));
	assert_int_equal(watched_send(qp, 2, &sge, 0), 0);
	assert_false(verbs_check_idle_look(&idle, 9 * PATIENCE));
}

static void a_post_is_a_move(void **state)
{
	struct check_idle idle = { .patience_ns = PATIENCE };

	(void)state;
	assert_int_equal(watched_send(qp, 1, &sge, 0), 0);
	assert_false(verbs_check_idle_look(&idle, 1));
	assert_int_equal(watched_send(qp, 2, &sge, 0), 0);
	assert_false(verbs_check_idle_look(&idle, 1 + PATIENCE));
	assert_int_equal(watched_recv(qp, 3, &sge), 0);
	assert_false(verbs_check_idle_look(&idle, 1 + 2 * PATIENCE));
	assert_true(verbs_check_idle_look(&idle, 1 + 3 * PATIENCE));
}

static void a_refused_send_was_no_signal(void **state)
{
	(void)state;
	assert_int_equal(watched_send(qp, 1, &sge, 0), 0);
	send_is_refused(2, IBV_SEND_SIGNALED);
	assert_int_equal(watched_send(qp, 3, &sge, 0), 0);
	assert_true(waits());
	verbs_check_status_say();
	check_logged(": no request in the send queue is signaled");
}

/* Direct verbs may have posted the other ones. */
static void a_program_does_not_wait_after_completions_in_another_order(void **state)
{
	(void)state;
	assert_int_equal(watched_send(qp, 1, &sge, IBV_SEND_SIGNALED), 0);
	watched_complete(cq, qp, 7, IBV_WC_SEND, IBV_WC_SUCCESS);
	assert_false(waits());
}

static void a_receive_of_an_srq_is_a_move(void **state)
{
	struct ibv_recv_wr *bad, wr = { .sg_list = &sge, .num_sge = 1 };
	bool now;
	const unsigned int before = verbs_check_moves(&now);

	(void)state;
	assert_int_equal(verbs_check_post_srq_recv(watched_srq(), &wr, &bad), 0);
	assert_int_equal(verbs_check_moves(&now), before + 1);
}

static void *post_in_thread(void *nothing)
{
	assert_int_equal(watched_send(qp, 1, &sge, IBV_SEND_SIGNALED), 0);
	return nothing;
}

static void post_meanwhile(void)
{
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, post_in_thread, NULL), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
}

/* The post would wait without end if the status held the checker's lock. */
static void a_post_does_not_wait_for_a_status(void **state)
{
	(void)state;
	provider.in_query = post_meanwhile;
	verbs_check_status_say();
	assert_int_equal(provider.posts, 1);
	in_write = post_meanwhile;
	verbs_check_status_say();
	assert_int_equal(provider.posts, 2);
}

static void a_post_does_not_wait_for_a_line_about_a_buffer(void **state)
{
	(void)state;
	verbs_check_settings.buffers = true;
	assert_int_equal(watched_send(qp, 1, &sge, IBV_SEND_SIGNALED), 0);
	memory[0]++;
	in_write = post_meanwhile;
	watched_complete(cq, qp, 1, IBV_WC_SEND, IBV_WC_SUCCESS);
	verbs_check_settings.buffers = false;
	assert_int_equal(provider.posts, 2);
	check_logged("have changed between the post and the completion");
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static uint32_t acked;

static void acknowledge_meanwhile(void)
{
	assert_int_equal(pthread_mutex_trylock(&mutex), 0);
	acked = 1;
	pthread_mutex_unlock(&mutex);
}

static void an_acknowledgement_does_not_wait_for_the_line_about_it(void **state)
{
	pthread_cond_t cond = PTHREAD_COND_INITIALIZER;

	(void)state;
	in_write = acknowledge_meanwhile;
	verbs_event_wait_acked("ibv_destroy_cq", &mutex, &cond, &acked, 1);
	check_logged("ibv_destroy_cq waits: 1 events of the object were read");
}

static pthread_t destroyer;
static bool is_destroyed;

static void *destroy_in_thread(void *nothing)
{
	assert_int_equal(verbs_check_destroy_qp(qp), 0);
	__atomic_store_n(&is_destroyed, true, __ATOMIC_RELEASE);
	return nothing;
}

/* Begins to destroy the QP, and gives the thread time to do it. */
static void destroy_meanwhile(void)
{
	const struct timespec later = { .tv_nsec = LATER_MS * 1000000 };

	assert_int_equal(pthread_create(&destroyer, NULL, destroy_in_thread, NULL), 0);
	nanosleep(&later, NULL);
	assert_false(__atomic_load_n(&is_destroyed, __ATOMIC_ACQUIRE));
}

static void a_queue_pair_is_not_destroyed_while_the_adapter_is_asked(void **state)
{
	(void)state;
	is_destroyed = false;
	provider.in_query = destroy_meanwhile;
	verbs_check_status_say();
	assert_int_equal(pthread_join(destroyer, NULL), 0);
	assert_true(is_destroyed);
	check_logged("status: QP 0x40 is in RTS");
	verbs_check_status_say();
	says_nothing();
}

static void *close_in_thread(void *nothing)
{
	verbs_check_context_closes(watched);
	__atomic_store_n(&is_destroyed, true, __ATOMIC_RELEASE);
	return nothing;
}

static void close_meanwhile(void)
{
	const struct timespec later = { .tv_nsec = LATER_MS * 1000000 };

	assert_int_equal(pthread_create(&destroyer, NULL, close_in_thread, NULL), 0);
	nanosleep(&later, NULL);
	assert_false(__atomic_load_n(&is_destroyed, __ATOMIC_ACQUIRE));
}

static void a_device_is_not_closed_while_the_adapter_is_asked(void **state)
{
	(void)state;
	is_destroyed = false;
	watched_qp(IBV_QPT_RC, cq, NULL);
	provider.in_query = close_meanwhile;
	verbs_check_status_say();
	assert_int_equal(pthread_join(destroyer, NULL), 0);
	assert_true(is_destroyed);
}

static void qp_look_briefly(const struct check_qp *check, void *nothing)
{
	(void)check;
	(void)nothing;
}

static void qp_say_nothing(void *nothing)
{
	(void)nothing;
}

/* Asks for a second status while the first one has the QP, and destroys the QP after it. */
static void look_twice(void)
{
	verbs_check_each_qp(qp_look_briefly, qp_say_nothing, NULL);
	destroy_meanwhile();
}

static void a_queue_pair_is_not_destroyed_while_one_of_two_looks_at_it(void **state)
{
	(void)state;
	is_destroyed = false;
	provider.in_query = look_twice;
	verbs_check_status_say();
	assert_int_equal(pthread_join(destroyer, NULL), 0);
	assert_true(is_destroyed);
}

static pthread_t second_status;
static bool is_second_said;

static void *say_in_thread(void *nothing)
{
	verbs_check_status_say();
	__atomic_store_n(&is_second_said, true, __ATOMIC_RELEASE);
	return nothing;
}

static void say_meanwhile(void)
{
	const struct timespec later = { .tv_nsec = LATER_MS * 1000000 };

	assert_int_equal(pthread_create(&second_status, NULL, say_in_thread, NULL), 0);
	nanosleep(&later, NULL);
	assert_false(__atomic_load_n(&is_second_said, __ATOMIC_ACQUIRE));
}

/* Both the signal and the idle time ask for a status, each in its own thread. */
static void a_status_waits_for_the_end_of_another(void **state)
{
	(void)state;
	provider.in_query = say_meanwhile;
	verbs_check_status_say();
	assert_int_equal(pthread_join(second_status, NULL), 0);
	assert_true(is_second_said);
}

#define STATUS_TEST(fn) cmocka_unit_test_setup_teardown(fn, open_pair, close_pair)

int main(void)
{
	const struct CMUnitTest tests[] = {
		STATUS_TEST(a_status_counts_requests),
		STATUS_TEST(numbers_are_not_known_after_a_failed_completion),
		STATUS_TEST(numbers_are_not_known_if_a_cq_hides_the_queue_pairs),
		STATUS_TEST(receives_of_an_srq_are_not_counted),
		STATUS_TEST(a_program_that_waits_is_said_once_until_it_moves),
		STATUS_TEST(a_program_without_requests_does_not_wait),
		STATUS_TEST(a_program_waits_after_a_failed_completion),
		STATUS_TEST(a_trailing_send_without_a_signal_does_not_wait),
		STATUS_TEST(a_full_queue_without_a_signal_waits),
		STATUS_TEST(a_refusal_that_a_completion_outdates_does_not_wait),
		STATUS_TEST(a_refused_post_is_no_move),
		STATUS_TEST(a_post_is_a_move),
		STATUS_TEST(a_refused_send_was_no_signal),
		STATUS_TEST(a_program_does_not_wait_after_completions_in_another_order),
		STATUS_TEST(a_receive_of_an_srq_is_a_move),
		STATUS_TEST(a_child_does_not_query_queue_pairs_of_its_parent),
		STATUS_TEST(a_post_does_not_wait_for_a_status),
		STATUS_TEST(a_post_does_not_wait_for_a_line_about_a_buffer),
		STATUS_TEST(an_acknowledgement_does_not_wait_for_the_line_about_it),
		STATUS_TEST(a_queue_pair_is_not_destroyed_while_the_adapter_is_asked),
		STATUS_TEST(a_queue_pair_is_not_destroyed_while_one_of_two_looks_at_it),
		STATUS_TEST(a_status_waits_for_the_end_of_another),
		STATUS_TEST(a_device_is_not_closed_while_the_adapter_is_asked),
	};

	log_to_memory();
	return cmocka_run_group_tests(tests, NULL, NULL);
}

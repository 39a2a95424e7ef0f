/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Events read from the kernel's descriptors, which pipes replace: whole and partial ones, and the
 * object of each.
 *
 * Covers: libibverbs/events.c, util/order.h
 */
#include "unit.h"

#include "cmd/cmd.h"
#include "fake_device.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int pipe_in, pipe_out;

static int open_pipe(void **state)
{
	int fds[2];

	(void)state;
	if (pipe2(fds, O_NONBLOCK | O_CLOEXEC))
		return -1;
	pipe_out = fds[0];
	pipe_in = fds[1];
	return 0;
}

static int close_pipe(void **state)
{
	(void)state;
	close(pipe_out);
	return close(pipe_in);
}

static void event_write(const void *event, size_t size)
{
	assert_int_equal(write(pipe_in, event, size), size);
}

static const enum ibv_event_type of_qps[] = {
	IBV_EVENT_QP_FATAL,     IBV_EVENT_QP_REQ_ERR,          IBV_EVENT_QP_ACCESS_ERR,
	IBV_EVENT_COMM_EST,     IBV_EVENT_SQ_DRAINED,          IBV_EVENT_PATH_MIG,
	IBV_EVENT_PATH_MIG_ERR, IBV_EVENT_QP_LAST_WQE_REACHED,
};

static const enum ibv_event_type of_ports[] = {
	IBV_EVENT_DEVICE_FATAL,      IBV_EVENT_PORT_ACTIVE, IBV_EVENT_PORT_ERR,
	IBV_EVENT_LID_CHANGE,        IBV_EVENT_PKEY_CHANGE, IBV_EVENT_SM_CHANGE,
	IBV_EVENT_CLIENT_REREGISTER, IBV_EVENT_GID_CHANGE,
};

static void each_event_belongs_to_its_object(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(of_qps); i++)
		assert_int_equal(verbs_event_element(of_qps[i]), ELEMENT_QP);
	for (size_t i = 0; i < ARRAY_SIZE(of_ports); i++)
		assert_int_equal(verbs_event_element(of_ports[i]), ELEMENT_PORT);
	assert_int_equal(verbs_event_element(IBV_EVENT_CQ_ERR), ELEMENT_CQ);
	assert_int_equal(verbs_event_element(IBV_EVENT_SRQ_ERR), ELEMENT_SRQ);
	assert_int_equal(verbs_event_element(IBV_EVENT_SRQ_LIMIT_REACHED), ELEMENT_SRQ);
	assert_int_equal(verbs_event_element(IBV_EVENT_WQ_FATAL), ELEMENT_WQ);
}

static void an_event_of_a_port_has_its_number(void **state)
{
	const struct ib_uverbs_async_event_desc desc = { .element = 2,
							 .event_type = IBV_EVENT_PORT_ERR };
	struct ibv_context context = { .async_fd = pipe_out };
	struct ibv_async_event event;

	(void)state;
	event_write(&desc, sizeof(desc));
	assert_int_equal(ibv_get_async_event(&context, &event), 0);
	assert_int_equal(event.event_type, IBV_EVENT_PORT_ERR);
	assert_int_equal(event.element.port_num, 2);
	assert_int_equal(ibv_get_async_event(&context, &event), -1);
	assert_int_equal(errno, EAGAIN);
}

static void a_part_of_an_event_is_an_error(void **state)
{
	const struct ib_uverbs_async_event_desc desc = { .element = 2,
							 .event_type = IBV_EVENT_PORT_ERR };
	struct ibv_context context = { .async_fd = pipe_out };
	struct ibv_async_event event;

	(void)state;
	event_write(&desc, sizeof(desc) - 1);
	errno = 0;
	assert_int_equal(ibv_get_async_event(&context, &event), -1);
	assert_int_equal(errno, EIO);
}

static void the_end_of_a_channel_is_an_error(void **state)
{
	struct ibv_comp_channel channel = { .fd = open("/dev/null", O_RDONLY | O_CLOEXEC) };
	struct ibv_cq *cq;
	void *context;

	(void)state;
	errno = 0;
	assert_int_equal(ibv_get_cq_event(&channel, &cq, &context), -1);
	assert_int_equal(errno, EIO);
	close(channel.fd);
}

/* Stands for a thread that the C library does not know: it has to wait for the lock, too. Here it
 * waits for ever, because it is the thread that has the lock. */
static void a_channel_is_counted_under_the_lock(void **state)
{
	struct fake_context *fake = fake_open();
	struct ibv_comp_channel channel = { .context = &fake->vctx.context, .fd = -1, .refcnt = 1 };
	pid_t child = fork();
	int status;

	(void)state;
	if (!child) {
		pthread_mutex_lock(&channel.context->mutex);
		alarm(1);
		ibv_destroy_comp_channel(&channel);
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_not_equal(status, 0); /* by the alarm, or a sanitizer */
	errno = 0;
	assert_int_equal(ibv_destroy_comp_channel(&channel), EBUSY);
	fake_close(fake);
}

static int told;

static void cq_event(struct ibv_cq *cq)
{
	assert_non_null(cq);
	told++;
}

static void the_provider_hears_of_a_completion_event(void **state)
{
	const struct verbs_ops ops = { .cq_event = cq_event };
	struct fake_context *fake = fake_open();
	struct ibv_comp_channel channel = { .fd = pipe_out };
	struct ibv_cq cq = { .context = &fake->vctx.context, .cq_context = &told }, *got;
	const struct ib_uverbs_comp_event_desc desc = { .cq_handle = (uintptr_t)&cq };
	void *context;

	(void)state;
	verbs_set_ops(&fake->vctx, &ops);
	event_write(&desc, sizeof(desc));
	assert_int_equal(ibv_get_cq_event(&channel, &got, &context), 0);
	assert_ptr_equal(got, &cq);
	assert_ptr_equal(context, &told);
	assert_int_equal(told, 1);
	fake_close(fake);
}

/* Counts of events wrap, so an acknowledged count may be just below the wrap, and the reported one
 * above it. A failure is a wait without end. */
static void counts_of_events_wrap(void **state)
{
	pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
	pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
	uint32_t acked = 1;

	(void)state;
	alarm(20);
	verbs_event_wait_acked("test", &mutex, &cond, &acked, 0);
	verbs_event_wait_acked("test", &mutex, &cond, &acked, UINT32_MAX);
	alarm(0);
}

int __real_pthread_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex);
int __wrap_pthread_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex);

static atomic_bool is_waiting;
static struct ibv_cq in_use = { .mutex = PTHREAD_MUTEX_INITIALIZER,
				.cond = PTHREAD_COND_INITIALIZER };

int __wrap_pthread_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex)
{
	is_waiting = true; /* a thread that really waits releases the lock */
	return __real_pthread_cond_wait(cond, mutex);
}

static void *await_the_end(void *unused)
{
	(void)unused;
	pthread_cancel(pthread_self());
	verbs_event_wait_acked("test", &in_use.mutex, &in_use.cond, &in_use.comp_events_completed,
			       1);
	return &in_use;
}

/* The kernel's part of the object is already gone. */
static void an_objects_end_is_waited_for(void **state)
{
	pthread_t thread;
	void *result;

	(void)state;
#ifdef __SANITIZE_THREAD__
	skip(); /* ThreadSanitizer misses unlocks of cancelled threads, so it would report this */
#endif
	alarm(20);
	assert_int_equal(pthread_create(&thread, NULL, await_the_end, NULL), 0);
	while (!is_waiting)
		usleep(1000);
	ibv_ack_cq_events(&in_use, 1);
	assert_int_equal(pthread_join(thread, &result), 0);
	assert_ptr_equal(result, &in_use);
	alarm(0);
}

ssize_t __real_read(int fd, void *data, size_t size);
ssize_t __wrap_read(int fd, void *data, size_t size);

static bool cancels_reader; /* once the kernel has returned the event */

ssize_t __wrap_read(int fd, void *data, size_t size)
{
	const ssize_t got = __real_read(fd, data, size);

	if (cancels_reader) {
		pthread_cancel(pthread_self());
		pthread_testcancel();
	}
	return got;
}

static void cancel_in(void *(*call)(void *of), void *of)
{
	pthread_t thread;
	void *result;

	cancels_reader = true;
	assert_int_equal(pthread_create(&thread, NULL, call, of), 0);
	assert_int_equal(pthread_join(thread, &result), 0);
	assert_ptr_equal(result, PTHREAD_CANCELED);
	cancels_reader = false;
}

static void *get_cq_event(void *channel)
{
	struct ibv_cq *cq;
	void *context;

	ibv_get_cq_event(channel, &cq, &context);
	return NULL;
}

static void a_completion_event_of_a_cancelled_thread_is_read_by_the_next(void **state)
{
	const struct verbs_ops ops = { .cq_event = cq_event };
	struct fake_context *fake = fake_open();
	struct ibv_comp_channel channel = { .fd = pipe_out };
	struct ibv_cq cq = { .context = &fake->vctx.context, .cq_context = &told }, *got;
	const struct ib_uverbs_comp_event_desc desc = { .cq_handle = (uintptr_t)&cq };
	void *context;

	(void)state;
	told = 0;
	verbs_set_ops(&fake->vctx, &ops);
	cancel_in(get_cq_event, &channel);
	assert_int_equal(ibv_get_cq_event(&channel, &got, &context), -1);
	event_write(&desc, sizeof(desc));
	cancel_in(get_cq_event, &channel);
	assert_int_equal(told, 0);
	assert_int_equal(ibv_get_cq_event(&channel, &got, &context), 0);
	assert_ptr_equal(got, &cq);
	assert_ptr_equal(context, &told);
	assert_int_equal(told, 1);
	assert_int_equal(ibv_get_cq_event(&channel, &got, &context), -1);
	assert_int_equal(errno, EAGAIN);
	fake_close(fake);
}

/* The program never gets the event, so destroying the CQ must not wait for its acknowledgement. */
static void a_completion_event_that_nobody_heard_of_goes_with_its_cq(void **state)
{
	struct ibv_comp_channel channel = { .fd = pipe_out };
	struct ibv_cq cq = { .mutex = PTHREAD_MUTEX_INITIALIZER, .cond = PTHREAD_COND_INITIALIZER },
		      *got;
	const struct ib_uverbs_comp_event_desc desc = { .cq_handle = (uintptr_t)&cq };
	void *context;

	(void)state;
	event_write(&desc, sizeof(desc));
	cancel_in(get_cq_event, &channel);
	alarm(20);
	verbs_event_wait_acked("test", &cq.mutex, &cq.cond, &cq.comp_events_completed, 1);
	alarm(0);
	assert_int_equal(ibv_get_cq_event(&channel, &got, &context), -1);
}

static void *await_one(void *cq)
{
	struct ibv_cq *of = cq;

	verbs_event_wait_acked("test", &of->mutex, &of->cond, &of->comp_events_completed, 1);
	return NULL;
}

/* The reader is cancelled while another thread waits for the event's acknowledgement, so nobody can
 * acknowledge it. */
static void a_wait_for_an_event_that_nobody_heard_of_ends(void **state)
{
	struct ibv_comp_channel channel = { .fd = pipe_out };
	struct ibv_cq cq = { .mutex = PTHREAD_MUTEX_INITIALIZER, .cond = PTHREAD_COND_INITIALIZER };
	const struct ib_uverbs_comp_event_desc desc = { .cq_handle = (uintptr_t)&cq };
	pthread_t end;

	(void)state;
	alarm(20);
	is_waiting = false;
	assert_int_equal(pthread_create(&end, NULL, await_one, &cq), 0);
	while (!is_waiting)
		usleep(1000);
	event_write(&desc, sizeof(desc));
	cancel_in(get_cq_event, &channel);
	assert_int_equal(pthread_join(end, NULL), 0);
	alarm(0);
	assert_int_equal(cq.comp_events_completed, 1);
}

static void *get_async_event(void *context)
{
	struct ibv_async_event event;

	ibv_get_async_event(context, &event);
	return NULL;
}

static struct ib_uverbs_async_event_desc desc_of(const void *element, enum ibv_event_type type)
{
	return (struct ib_uverbs_async_event_desc){ .element = (uintptr_t)element,
						    .event_type = type };
}

static void an_event_of_a_cancelled_thread_is_read_by_the_next(void **state)
{
	struct ibv_context context = { .async_fd = pipe_out }, other = { .async_fd = pipe_out };
	struct ibv_qp qp = { .mutex = PTHREAD_MUTEX_INITIALIZER, .cond = PTHREAD_COND_INITIALIZER };
	const struct ib_uverbs_async_event_desc first = desc_of(&qp, IBV_EVENT_COMM_EST),
						second = desc_of(&qp, IBV_EVENT_SQ_DRAINED);
	struct ibv_async_event event;

	(void)state;
	event_write(&first, sizeof(first));
	cancel_in(get_async_event, &context);
	event_write(&second, sizeof(second));
	cancel_in(get_async_event, &other);
	assert_int_equal(ibv_get_async_event(&context, &event), 0);
	assert_int_equal(event.event_type, IBV_EVENT_COMM_EST);
	assert_ptr_equal(event.element.qp, &qp);
	assert_int_equal(qp.events_completed, 0);
	ibv_ack_async_event(&event);
	alarm(20); /* a limit for hangs: the object is destroyed before the second event is read */
	verbs_event_wait_acked("test", &qp.mutex, &qp.cond, &qp.events_completed, 2);
	alarm(0);
	assert_int_equal(ibv_get_async_event(&other, &event), -1);
	assert_int_equal(errno, EAGAIN);
}

static void a_context_that_goes_takes_its_events_along(void **state)
{
	const struct ib_uverbs_async_event_desc desc = desc_of((void *)1, IBV_EVENT_PORT_ERR);
	struct ibv_context context = { .async_fd = pipe_out };
	struct ibv_async_event event;

	(void)state;
	event_write(&desc, sizeof(desc));
	cancel_in(get_async_event, &context);
	verbs_event_forget_all(&context);
	assert_int_equal(ibv_get_async_event(&context, &event), -1);
}

#define PIPE_TEST(fn) cmocka_unit_test_setup_teardown(fn, open_pipe, close_pipe)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_event_belongs_to_its_object),
		PIPE_TEST(an_event_of_a_port_has_its_number),
		PIPE_TEST(a_part_of_an_event_is_an_error),
		PIPE_TEST(the_provider_hears_of_a_completion_event),
		cmocka_unit_test(the_end_of_a_channel_is_an_error),
		cmocka_unit_test(a_channel_is_counted_under_the_lock),
		cmocka_unit_test(counts_of_events_wrap),
		cmocka_unit_test(an_objects_end_is_waited_for),
		/* again with threads: the count is then compared under the lock */
		{ "counts_of_events_wrap_beside_threads", counts_of_events_wrap, NULL, NULL, NULL },
		PIPE_TEST(a_completion_event_of_a_cancelled_thread_is_read_by_the_next),
		PIPE_TEST(a_completion_event_that_nobody_heard_of_goes_with_its_cq),
		PIPE_TEST(a_wait_for_an_event_that_nobody_heard_of_ends),
		PIPE_TEST(an_event_of_a_cancelled_thread_is_read_by_the_next),
		PIPE_TEST(a_context_that_goes_takes_its_events_along),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Cancellation of threads within calls of librdmacm. The test replaces write() (--wrap), where
 * pthread_cancel() takes effect, before or after the kernel has executed the command.
 *
 * Covers: librdmacm/cmd.c, librdmacm/event.c, librdmacm/id.c, librdmacm/shield.c,
 * librdmacm/rsocket/cancel.c
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "librdmacm/cma.h"
#include "librdmacm/rsocket/cancel.h"

enum { PATIENCE_S = 20, REQUEST = 9 };

ssize_t __real_write(int fd, const void *data, size_t size);
ssize_t __wrap_write(int fd, const void *data, size_t size);
int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);
int __wrap_open64(const char *path, int flags, ...) __attribute__((alias("__wrap_open")));
int __wrap_rdmacm_device_must_exist(void);
void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);
void __real_free(void *memory);
void __wrap_free(void *memory);
int __real_poll(struct pollfd *fds, nfds_t count, int timeout_ms);
int __wrap_poll(struct pollfd *fds, nfds_t count, int timeout_ms);
int __real_pthread_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex);
int __wrap_pthread_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex);

enum { NONE = -1 };

static struct {
	int fd;
	int cancels_before, cancels_after; /* commands with a cancellation */
	struct rdma_ucm_event_resp event;
	uint32_t events_reported;
	uint32_t destroyed;
} kernel;

int __wrap_rdmacm_device_must_exist(void)
{
	return 0;
}

int __wrap_open(const char *path, int flags, ...)
{
	if (strcmp(path, "/dev/infiniband/rdma_cm") != 0)
		return __real_open(path, flags);
	kernel.fd = __real_open("/dev/null", O_RDWR | O_CLOEXEC);
	return kernel.fd;
}

static void end_thread(void)
{
	pthread_cancel(pthread_self());
	pthread_testcancel();
}

static void kernel_answer(const struct cm_cmd *cmd)
{
	switch (cmd->hdr.cmd) {
	case RDMA_USER_CM_CMD_GET_EVENT:
		*(struct rdma_ucm_event_resp *)(uintptr_t)cmd->get_event.response = kernel.event;
		break;
	case RDMA_USER_CM_CMD_DESTROY_ID:
		kernel.destroyed = cmd->destroy_id.id;
		((struct rdma_ucm_destroy_id_resp *)(uintptr_t)cmd->destroy_id.response)
			->events_reported =
			cmd->destroy_id.id == REQUEST ? 0 : kernel.events_reported;
		break;
	default:
		break;
	}
}

ssize_t __wrap_write(int fd, const void *data, size_t size)
{
	struct cm_cmd cmd = { 0 };

	if (fd != kernel.fd)
		return __real_write(fd, data, size);
	memcpy(&cmd, data, size);
	if ((int)cmd.hdr.cmd == kernel.cancels_before)
		end_thread();
	kernel_answer(&cmd);
	if ((int)cmd.hdr.cmd == kernel.cancels_after)
		end_thread();
	return (ssize_t)size;
}

static void *last_taken; /* NULL again after its free */

void *__wrap_calloc(size_t count, size_t size)
{
	last_taken = __real_calloc(count, size);
	return last_taken;
}

void *__wrap_malloc(size_t size)
{
	last_taken = __real_malloc(size);
	return last_taken;
}

void __wrap_free(void *memory)
{
	if (memory == last_taken)
		last_taken = NULL;
	__real_free(memory);
}

static struct rdma_event_channel *channel;
static struct rdma_cm_id *id;

static int rig_open(void **state)
{
	(void)state;
	memset(&kernel, 0, sizeof(kernel));
	kernel.cancels_before = kernel.cancels_after = NONE;
	channel = rdma_create_event_channel();
	alarm(PATIENCE_S);
	return !channel || rdma_create_id(channel, &id, NULL, RDMA_PS_TCP);
}

static int rig_close(void **state)
{
	int ret;

	(void)state;
	kernel.cancels_before = kernel.cancels_after = NONE;
	ret = rdma_destroy_id(id);
	rdma_destroy_event_channel(channel);
	alarm(0);
	return ret;
}

static void kernel_has(enum rdma_cm_event_type type, uint32_t number)
{
	kernel.event =
		(struct rdma_ucm_event_resp){ .uid = (uintptr_t)id, .id = number, .event = type };
	kernel.events_reported = 1;
}

static void *result_of(void *(*act)(void *unused))
{
	pthread_t thread;
	void *result;

	assert_int_equal(pthread_create(&thread, NULL, act, NULL), 0);
	assert_int_equal(pthread_join(thread, &result), 0);
	return result;
}

static void *next_event(void *unused)
{
	struct rdma_cm_event *event;

	(void)unused;
	return rdma_get_cm_event(channel, &event) ? NULL : event;
}

/* AddressSanitizer does not know that a cancelled thread has left its frames, so this test would
 * fail there. */
static void need_to_unwind(void)
{
#ifdef __SANITIZE_ADDRESS__
	puts("SKIP: AddressSanitizer takes the frames of a cancelled thread to be in use");
	skip();
#endif
}

static void a_cancelled_wait_leaves_no_memory(void **state)
{
	(void)state;
	need_to_unwind();
	kernel.cancels_before = RDMA_USER_CM_CMD_GET_EVENT;
	assert_ptr_equal(result_of(next_event), PTHREAD_CANCELED);
	assert_null(last_taken);
}

/* The thread must acknowledge the event, as rdma_destroy_id() in rig_close() would otherwise wait
 * for ever. */
static void an_event_that_comes_meanwhile_is_acknowledged(void **state)
{
	(void)state;
	need_to_unwind();
	kernel_has(RDMA_CM_EVENT_ESTABLISHED, 0);
	kernel.cancels_after = RDMA_USER_CM_CMD_GET_EVENT;
	assert_ptr_equal(result_of(next_event), PTHREAD_CANCELED);
	assert_null(last_taken);
}

static void a_request_that_comes_meanwhile_is_refused(void **state)
{
	(void)state;
	need_to_unwind();
	kernel_has(RDMA_CM_EVENT_CONNECT_REQUEST, REQUEST);
	kernel.cancels_after = RDMA_USER_CM_CMD_GET_EVENT;
	assert_ptr_equal(result_of(next_event), PTHREAD_CANCELED);
	assert_null(last_taken);
	assert_int_equal(kernel.destroyed, REQUEST);
}

/* The library's own work on an event precedes its return, so a cancellation must not lose the
 * event. */
static void an_event_that_was_read_is_handed_out(void **state)
{
	struct rdma_cm_event *event;

	(void)state;
	kernel_has(RDMA_CM_EVENT_CONNECT_REQUEST, REQUEST);
	kernel.cancels_before = RDMA_USER_CM_CMD_QUERY_ROUTE;
	event = result_of(next_event);
	assert_ptr_not_equal(event, PTHREAD_CANCELED);
	assert_non_null(event);
	assert_int_equal(rdma_destroy_id(event->id), 0);
	assert_int_equal(rdma_ack_cm_event(event), 0);
}

static void *make_id(void *unused)
{
	struct rdma_cm_id *made;

	(void)unused;
	return rdma_create_id(channel, &made, NULL, RDMA_PS_TCP) ? NULL : made;
}

static void a_command_is_finished(void **state)
{
	struct rdma_cm_id *made;

	(void)state;
	kernel.cancels_after = RDMA_USER_CM_CMD_CREATE_ID;
	made = result_of(make_id);
	assert_ptr_not_equal(made, PTHREAD_CANCELED);
	assert_int_equal(rdma_destroy_id(made), 0);
}

static bool is_cancellable(void)
{
	int state;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	pthread_setcancelstate(state, NULL);
	return state == PTHREAD_CANCEL_ENABLE;
}

/* The thread's own setting comes back with the end of the outermost shield. */
static void *make_id_shielded(void *unused)
{
	struct rdma_cm_id *made;

	rdmacm_rs_shield();
	made = make_id(unused);
	if (is_cancellable())
		return NULL;
	rdmacm_rs_unshield();
	return is_cancellable() ? made : NULL;
}

static void a_command_within_a_shield_is_finished(void **state)
{
	struct rdma_cm_id *made;

	(void)state;
	kernel.cancels_after = RDMA_USER_CM_CMD_CREATE_ID;
	made = result_of(make_id_shielded);
	assert_non_null(made);
	assert_ptr_not_equal(made, PTHREAD_CANCELED);
	assert_int_equal(rdma_destroy_id(made), 0);
}

static struct rdma_cm_id *made_in_sleep;

static void sleep_left(void *of)
{
	(void)of;
}

/* In place of a signal handler, which may run while poll() sleeps. */
int __wrap_poll(struct pollfd *fds, nfds_t count, int timeout_ms)
{
	if (fds)
		return __real_poll(fds, count, timeout_ms);
	if (!is_cancellable())
		return -1;
	made_in_sleep = make_id(NULL);
	return 0;
}

static void *sleep_in_a_shield(void *unused)
{
	int ret;

	(void)unused;
	rdmacm_rs_shield();
	ret = rdmacm_rs_cancel_poll(NULL, 0, 0, sleep_left, NULL);
	if (ret || is_cancellable())
		return NULL;
	rdmacm_rs_unshield();
	return is_cancellable() ? made_in_sleep : NULL;
}

static void a_command_of_a_handler_is_finished(void **state)
{
	struct rdma_cm_id *made;

	(void)state;
	kernel.cancels_after = RDMA_USER_CM_CMD_CREATE_ID;
	made = result_of(sleep_in_a_shield);
	assert_non_null(made);
	assert_ptr_not_equal(made, PTHREAD_CANCELED);
	assert_int_equal(rdma_destroy_id(made), 0);
}

#ifdef __x86_64__
/* Sets or clears the flag that makes the CPU trap after each instruction. */
#define STEP(change)                                                                    \
	__asm__ volatile("sub $128, %%rsp; pushf; " change "; popf; add $128, %%rsp" :: \
				 : "memory", "cc")

static void shield_once(int signal)
{
	(void)signal;
	rdmacm_rs_shield();
	rdmacm_rs_unshield();
}

static void a_handler_between_two_steps_keeps_the_setting(void **state)
{
	const struct sigaction step = { .sa_handler = shield_once };
	struct sigaction before;

	(void)state;
	assert_int_equal(sigaction(SIGTRAP, &step, &before), 0);
	STEP("orq $0x100, (%%rsp)");
	shield_once(0);
	STEP("andq $~0x100, (%%rsp)");
	assert_int_equal(sigaction(SIGTRAP, &before, NULL), 0);
	assert_true(is_cancellable());
}
#endif

static atomic_bool is_waiting;

int __wrap_pthread_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex)
{
	is_waiting = true; /* a thread that really waits releases the lock */
	return __real_pthread_cond_wait(cond, mutex);
}

static void *destroy_id(void *unused)
{
	(void)unused;
	pthread_cancel(pthread_self());
	return rdma_destroy_id(id) ? NULL : id;
}

static pthread_t destroy_while_in_use(struct rdma_cm_event **event)
{
	pthread_t thread;

	kernel_has(RDMA_CM_EVENT_ESTABLISHED, 0);
	assert_int_equal(rdma_get_cm_event(channel, event), 0);
	is_waiting = false;
	assert_int_equal(pthread_create(&thread, NULL, destroy_id, NULL), 0);
	while (!is_waiting)
		usleep(1000);
	return thread;
}

static void an_ids_end_is_waited_for(void **state)
{
	struct rdma_cm_event *event;
	pthread_t thread;
	void *result;

	(void)state;
	thread = destroy_while_in_use(&event);
	assert_int_equal(rdma_ack_cm_event(event), 0);
	assert_int_equal(pthread_join(thread, &result), 0);
	assert_ptr_not_equal(result, PTHREAD_CANCELED);
	kernel.events_reported = 0;
	assert_int_equal(rdma_create_id(channel, &id, NULL, RDMA_PS_TCP), 0);
}

/* In the child, the condition variable still counts a waiting thread. The child lacks that thread,
 * so it must not wait for it. */
static void a_child_frees_an_id_that_the_parent_waits_for(void **state)
{
	struct cm_id *cm = to_cm_id(id);
	struct rdma_cm_event *event;
	pthread_t thread;
	pid_t child;
	int status;

	(void)state;
	thread = destroy_while_in_use(&event);
	pthread_mutex_lock(&cm->lock);
	child = fork();
	if (!child) {
		alarm(PATIENCE_S / 2);
		rdmacm_id_forked(cm);
		rdmacm_id_free(cm);
		_exit(0);
	}
	pthread_mutex_unlock(&cm->lock);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_int_equal(rdma_ack_cm_event(event), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	kernel.events_reported = 0;
	assert_int_equal(rdma_create_id(channel, &id, NULL, RDMA_PS_TCP), 0);
}

#define RIG_TEST(fn) cmocka_unit_test_setup_teardown(fn, rig_open, rig_close)

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST(a_cancelled_wait_leaves_no_memory),
		RIG_TEST(an_event_that_comes_meanwhile_is_acknowledged),
		RIG_TEST(a_request_that_comes_meanwhile_is_refused),
		RIG_TEST(an_event_that_was_read_is_handed_out),
		RIG_TEST(a_command_is_finished),
		RIG_TEST(a_command_within_a_shield_is_finished),
		RIG_TEST(a_command_of_a_handler_is_finished),
#ifdef __x86_64__
		RIG_TEST(a_handler_between_two_steps_keeps_the_setting),
#endif
		RIG_TEST(an_ids_end_is_waited_for),
		RIG_TEST(a_child_frees_an_id_that_the_parent_waits_for),
	};

#ifdef __SANITIZE_THREAD__
	puts("SKIP: ThreadSanitizer does not see what threads unlock that are cancelled");
	return 77;
#endif
	return cmocka_run_group_tests(tests, NULL, NULL);
}

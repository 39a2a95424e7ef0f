/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * id_test.c - the commands of ids, and the waits for acknowledgements: of a signal handler in a
 * process with one thread, of another thread otherwise. The kernel is this test's write().
 */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/time.h>

#include <cmocka.h>

#include "librdmacm/id.c"

enum { FD = 700, NUMBER = 9, READ = 3, LATER_US = 20000 };

void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);
ssize_t __real_write(int fd, const void *data, size_t size);
ssize_t __wrap_write(int fd, const void *data, size_t size);
int __wrap_close(int fd);

static struct {
	struct cm_cmd cmd; /* the last command */
	int fd;            /* and its channel */
	int commands, fails;
	int channels, closed, next_fd; /* channels opened and closed */
	int open_fails, device_fails;
	bool has_no_memory;
	int ids, released, locks, looks;
	void *addrinfo;
} kernel;

static struct cm_id memory;
static struct rdma_event_channel channel = { .fd = FD };
static const char one = 1, several = 0;

void *__wrap_malloc(size_t size)
{
	return kernel.has_no_memory ? NULL : __real_malloc(size);
}

int __wrap_close(int fd)
{
	assert_true(fd > FD);
	kernel.closed++;
	return 0;
}

/* The kernel's answer to each command is the number of the id and of the events read. */
ssize_t __wrap_write(int fd, const void *data, size_t size)
{
	if (fd < FD)
		return __real_write(fd, data, size);
	kernel.fd = fd;
	kernel.commands++;
	memset(&kernel.cmd, 0, sizeof(kernel.cmd));
	memcpy(&kernel.cmd, data, size);
	errno = kernel.fails;
	if (kernel.fails)
		return -1;
	if (kernel.cmd.hdr.cmd == RDMA_USER_CM_CMD_CREATE_ID)
		((struct rdma_ucm_create_id_resp *)(uintptr_t)kernel.cmd.create_id.response)->id =
			NUMBER;
	if (kernel.cmd.hdr.cmd == RDMA_USER_CM_CMD_DESTROY_ID)
		((struct rdma_ucm_destroy_id_resp *)(uintptr_t)kernel.cmd.destroy_id.response)
			->events_reported = READ;
	if (kernel.cmd.hdr.cmd == RDMA_USER_CM_CMD_MIGRATE_ID)
		((struct rdma_ucm_migrate_resp *)(uintptr_t)kernel.cmd.migrate_id.response)
			->events_reported = READ;
	return (ssize_t)size;
}

int rdmacm_cmd_run_shielded(int fd, const struct cm_cmd *cmd, size_t size)
{
	return write(fd, cmd, size) == (ssize_t)size ? 0 : errno;
}

int rdmacm_cmd_failed(int fd, const struct cm_cmd *cmd, ssize_t done)
{
	(void)fd, (void)cmd;
	assert_int_equal(done, -1);
	return errno;
}

int rdmacm_device_must_exist(void)
{
	return kernel.device_fails;
}

int rdmacm_cmd_open(int *fd)
{
	if (kernel.open_fails)
		return kernel.open_fails;
	*fd = FD + ++kernel.channels;
	return 0;
}

struct cm_id *rdmacm_id_memory(void)
{
	if (kernel.has_no_memory)
		return NULL;
	kernel.ids++;
	return &memory;
}

void rdmacm_id_memory_free(struct cm_id *cm)
{
	assert_ptr_equal(cm, &memory);
	kernel.ids--;
}

void rdmacm_id_init_lock(struct cm_id *cm)
{
	assert_ptr_equal(cm, &memory);
	kernel.locks++;
}

void rdmacm_device_put(struct cm_device *device)
{
	(void)device;
	fail();
}

void rdma_freeaddrinfo(struct rdma_addrinfo *res)
{
	kernel.addrinfo = res;
}

void rdmacm_event_release(struct cm_id *cm)
{
	assert_ptr_equal(cm, &memory);
	kernel.released++;
}

static int id_begin(void **state)
{
	(void)state;
	memset(&kernel, 0, sizeof(kernel));
	memset(&memory, 0, sizeof(memory));
	pthread_mutex_init(&memory.lock, NULL);
	memory.id.channel = &channel;
	memory.number = NUMBER;
	memory.events_acked = READ;
	verbs_one_thread = &one;
	return 0;
}

/* ---- the commands ---- */

static void an_id_has_the_port_space_and_the_number_of_the_kernel(void **state)
{
	struct rdma_cm_id *id = NULL;
	int context;

	(void)state;
	memory.number = 0;
	assert_int_equal(rdma_create_id(&channel, &id, &context, RDMA_PS_TCP), 0);
	assert_ptr_equal(id, &memory.id);
	assert_ptr_equal(id->context, &context);
	assert_ptr_equal(id->channel, &channel);
	assert_int_equal(id->ps, RDMA_PS_TCP);
	assert_int_equal(id->qp_type, IBV_QPT_RC);
	assert_int_equal(memory.number, NUMBER);
	assert_false(memory.waits);
	assert_int_equal(kernel.fd, FD);
	assert_int_equal(kernel.cmd.create_id.uid, (uintptr_t)&memory);
	assert_int_equal(kernel.cmd.create_id.ps, RDMA_PS_TCP);
	assert_int_equal(kernel.cmd.create_id.qp_type, IBV_QPT_RC);
}

static void ids_of_datagrams_are_of_type_ud(void **state)
{
	static const struct {
		enum rdma_port_space ps;
		enum ibv_qp_type type;
	} cases[] = { { RDMA_PS_UDP, IBV_QPT_UD },
		      { RDMA_PS_IPOIB, IBV_QPT_UD },
		      { RDMA_PS_IB, IBV_QPT_RC } };
	struct rdma_cm_id *id = NULL;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		assert_int_equal(rdma_create_id(&channel, &id, NULL, cases[i].ps), 0);
		assert_int_equal(id->qp_type, cases[i].type);
		assert_int_equal(kernel.cmd.create_id.qp_type, cases[i].type);
	}
}

static void an_id_without_a_channel_has_its_own_and_waits(void **state)
{
	struct rdma_cm_id *id = NULL;

	(void)state;
	assert_int_equal(rdma_create_id(NULL, &id, NULL, RDMA_PS_TCP), 0);
	assert_true(memory.waits);
	assert_int_equal(id->channel->fd, FD + 1);
	assert_int_equal(kernel.fd, FD + 1);
	assert_int_equal(rdma_destroy_id(id), 0);
	assert_int_equal(kernel.closed, 1);
	assert_int_equal(kernel.ids, 0);
}

static void what_fails_leaves_no_id_and_no_channel(void **state)
{
	static const struct {
		int device, open, command;
		bool has_no_memory;
		int err;
	} cases[] = { { .device = ENODEV, .err = ENODEV },
		      { .open = EMFILE, .err = EMFILE },
		      { .command = EPERM, .err = EPERM },
		      { .has_no_memory = true, .err = ENOMEM } };
	struct rdma_cm_id *id = NULL;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		memset(&kernel, 0, sizeof(kernel));
		kernel.device_fails = cases[i].device;
		kernel.open_fails = cases[i].open;
		kernel.fails = cases[i].command;
		kernel.has_no_memory = cases[i].has_no_memory;
		errno = 0;
		assert_int_equal(rdma_create_id(NULL, &id, NULL, RDMA_PS_TCP), -1);
		assert_int_equal(errno, cases[i].err);
		assert_null(id);
		assert_int_equal(kernel.ids, 0);
		assert_int_equal(kernel.closed, kernel.channels);
		errno = 0;
		if (!cases[i].command) {
			assert_null(rdma_create_event_channel());
			assert_int_equal(errno, cases[i].err);
		}
	}
}

static void an_option_goes_to_the_kernel_as_it_is(void **state)
{
	int value = 1;

	(void)state;
	assert_int_equal(rdma_set_option(&memory.id, RDMA_OPTION_ID, RDMA_OPTION_ID_REUSEADDR,
					 &value, sizeof(value)),
			 0);
	assert_int_equal(kernel.cmd.hdr.cmd, RDMA_USER_CM_CMD_SET_OPTION);
	assert_int_equal(kernel.cmd.set_option.optval, (uintptr_t)&value);
	assert_int_equal(kernel.cmd.set_option.optlen, sizeof(value));
	assert_int_equal(kernel.cmd.set_option.id, NUMBER);
	assert_int_equal(kernel.cmd.set_option.level, RDMA_OPTION_ID);
	assert_int_equal(kernel.cmd.set_option.optname, RDMA_OPTION_ID_REUSEADDR);
	kernel.fails = EINVAL;
	assert_int_equal(rdma_set_option(&memory.id, RDMA_OPTION_ID, 0, NULL, 0), -1);
	assert_int_equal(errno, EINVAL);
}

static void an_id_moves_from_its_channel_to_another(void **state)
{
	struct rdma_event_channel other = { .fd = FD + 50 };

	(void)state;
	assert_int_equal(rdma_migrate_id(&memory.id, &other), 0);
	assert_int_equal(kernel.fd, other.fd); /* the new one is asked, and told the old one */
	assert_int_equal(kernel.cmd.hdr.cmd, RDMA_USER_CM_CMD_MIGRATE_ID);
	assert_int_equal(kernel.cmd.migrate_id.fd, FD);
	assert_int_equal(kernel.cmd.migrate_id.id, NUMBER);
	assert_ptr_equal(memory.id.channel, &other);
	assert_int_equal(kernel.released, 1);
	assert_false(memory.waits);
	assert_int_equal(kernel.closed, 0);
}

static void an_id_that_moves_to_no_channel_gets_its_own(void **state)
{
	(void)state;
	assert_int_equal(rdma_migrate_id(&memory.id, NULL), 0);
	assert_true(memory.waits);
	assert_int_equal(memory.id.channel->fd, FD + 1);
	assert_int_equal(kernel.commands, 1);
	/* it has one already */
	assert_int_equal(rdma_migrate_id(&memory.id, NULL), 0);
	assert_int_equal(kernel.commands, 1);
	/* and closes it when it gets the program's again */
	assert_int_equal(rdma_migrate_id(&memory.id, &channel), 0);
	assert_int_equal(kernel.cmd.migrate_id.fd, FD + 1);
	assert_false(memory.waits);
	assert_ptr_equal(memory.id.channel, &channel);
	assert_int_equal(kernel.closed, 1);
}

static void an_id_that_cannot_move_stays(void **state)
{
	(void)state;
	kernel.fails = ENODEV;
	assert_int_equal(rdma_migrate_id(&memory.id, NULL), -1);
	assert_int_equal(errno, ENODEV);
	assert_int_equal(kernel.closed, 1);
	kernel.open_fails = EMFILE;
	assert_int_equal(rdma_migrate_id(&memory.id, NULL), -1);
	assert_int_equal(errno, EMFILE);
	assert_false(memory.waits);
	assert_ptr_equal(memory.id.channel, &channel);
	assert_int_equal(kernel.released, 0);
}

static void an_id_that_the_kernel_keeps_is_not_freed(void **state)
{
	(void)state;
	kernel.ids = 1;
	kernel.fails = EBUSY;
	assert_int_equal(rdma_destroy_id(&memory.id), -1);
	assert_int_equal(errno, EBUSY);
	assert_int_equal(kernel.ids, 1);
	assert_int_equal(kernel.released, 0);
	kernel.fails = 0;
	assert_int_equal(rdma_destroy_id(&memory.id), 0);
	assert_int_equal(kernel.cmd.hdr.cmd, RDMA_USER_CM_CMD_DESTROY_ID);
	assert_int_equal(kernel.cmd.destroy_id.id, NUMBER);
	assert_int_equal(kernel.ids, 0);
	assert_int_equal(kernel.released, 1);
}

static void a_freed_id_frees_what_it_has(void **state)
{
	static struct rdma_addrinfo found;
	struct cm_multicast *group = calloc(1, sizeof(*group));

	(void)state;
	assert_non_null(group);
	kernel.ids = 1;
	LIST_INSERT_HEAD(&memory.multicasts, group, entry);
	memory.found = &found;
	rdmacm_id_free(&memory);
	assert_true(LIST_EMPTY(&memory.multicasts));
	assert_ptr_equal(kernel.addrinfo, &found);
	assert_int_equal(kernel.ids, 0);
}

static void a_child_gets_a_new_lock(void **state)
{
	(void)state;
	rdmacm_id_forked(&memory);
	assert_int_equal(kernel.locks, 1);
}

/* ---- the waits ---- */

static void acknowledge_in_handler(int signal)
{
	(void)signal;
	memory.events_acked = READ;
}

/* Destroys the id at once if it may; a wait that ends too early finds no acknowledgement. */
static void a_lone_thread_waits_for_its_signal_handler(void **state)
{
	const struct itimerval later = { .it_value.tv_usec = LATER_US };

	(void)state;
	memory.events_acked = READ - 1;
	signal(SIGALRM, acknowledge_in_handler);
	assert_int_equal(setitimer(ITIMER_REAL, &later, NULL), 0);
	assert_int_equal(rdma_destroy_id(&memory.id), 0);
	assert_int_equal(memory.events_acked, READ);
	signal(SIGALRM, SIG_DFL);
}

/* The program may still read the id from events of the old channel. */
static void a_move_waits_for_the_events_of_the_old_channel(void **state)
{
	const struct itimerval later = { .it_value.tv_usec = LATER_US };
	struct rdma_event_channel other = { .fd = FD + 50 };

	(void)state;
	memory.events_acked = READ - 1;
	signal(SIGALRM, acknowledge_in_handler);
	assert_int_equal(setitimer(ITIMER_REAL, &later, NULL), 0);
	assert_int_equal(rdma_migrate_id(&memory.id, &other), 0);
	assert_int_equal(memory.events_acked, READ);
	signal(SIGALRM, SIG_DFL);
}

static void *acknowledge_in_thread(void *unused)
{
	struct cm_ack_wait *wait = NULL;

	while (!wait) {
		usleep(100);
		pthread_mutex_lock(&memory.lock);
		wait = LIST_FIRST(&memory.ack_waits);
		if (wait) { /* the first wake-up is a false one */
			pthread_cond_signal(&wait->acked);
			pthread_mutex_unlock(&memory.lock);
			usleep(LATER_US);
			pthread_mutex_lock(&memory.lock);
			memory.events_acked = READ;
			pthread_cond_signal(&wait->acked);
		}
		pthread_mutex_unlock(&memory.lock);
	}
	return unused;
}

static void one_of_several_threads_waits_for_another(void **state)
{
	pthread_t thread;

	(void)state;
	verbs_one_thread = &several;
	memory.events_acked = READ - 1;
	assert_int_equal(pthread_create(&thread, NULL, acknowledge_in_thread, NULL), 0);
	rdmacm_id_await_acks(&memory, &memory.events_acked, READ);
	assert_int_equal(memory.events_acked, READ);
	assert_true(LIST_EMPTY(&memory.ack_waits));
	assert_int_equal(pthread_mutex_trylock(&memory.lock), 0);
	pthread_mutex_unlock(&memory.lock);
	assert_int_equal(pthread_join(thread, NULL), 0);
}

/* What has acknowledged the last event may still hold the lock. */
static void *hold_for_a_while(void *done)
{
	pthread_mutex_lock(&memory.lock);
	__atomic_store_n((int *)done, 1, __ATOMIC_RELEASE);
	usleep(LATER_US);
	__atomic_store_n((int *)done, 2, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&memory.lock);
	return done;
}

static void a_thread_that_acknowledges_has_left_the_id(void **state)
{
	pthread_t thread;
	int done = 0;

	(void)state;
	verbs_one_thread = &several;
	assert_int_equal(pthread_create(&thread, NULL, hold_for_a_while, &done), 0);
	while (!__atomic_load_n(&done, __ATOMIC_ACQUIRE))
		usleep(100);
	rdmacm_id_await_acks(&memory, &memory.events_acked, READ);
	assert_int_equal(__atomic_load_n(&done, __ATOMIC_ACQUIRE), 2);
	assert_int_equal(pthread_join(thread, NULL), 0);
}

static void cancellation_is_as_before_after_a_wait(void **state)
{
	int before;

	(void)state;
	verbs_one_thread = &several;
	assert_int_equal(pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL), 0);
	rdmacm_id_await_acks(&memory, &memory.events_acked, READ);
	assert_int_equal(pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &before), 0);
	assert_int_equal(before, PTHREAD_CANCEL_ENABLE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(an_id_has_the_port_space_and_the_number_of_the_kernel,
				       id_begin),
		cmocka_unit_test_setup(ids_of_datagrams_are_of_type_ud, id_begin),
		cmocka_unit_test_setup(an_id_without_a_channel_has_its_own_and_waits, id_begin),
		cmocka_unit_test_setup(what_fails_leaves_no_id_and_no_channel, id_begin),
		cmocka_unit_test_setup(an_option_goes_to_the_kernel_as_it_is, id_begin),
		cmocka_unit_test_setup(an_id_moves_from_its_channel_to_another, id_begin),
		cmocka_unit_test_setup(an_id_that_moves_to_no_channel_gets_its_own, id_begin),
		cmocka_unit_test_setup(an_id_that_cannot_move_stays, id_begin),
		cmocka_unit_test_setup(an_id_that_the_kernel_keeps_is_not_freed, id_begin),
		cmocka_unit_test_setup(a_freed_id_frees_what_it_has, id_begin),
		cmocka_unit_test_setup(a_child_gets_a_new_lock, id_begin),
		cmocka_unit_test_setup(a_lone_thread_waits_for_its_signal_handler, id_begin),
		cmocka_unit_test_setup(a_move_waits_for_the_events_of_the_old_channel, id_begin),
		cmocka_unit_test_setup(one_of_several_threads_waits_for_another, id_begin),
		cmocka_unit_test_setup(a_thread_that_acknowledges_has_left_the_id, id_begin),
		cmocka_unit_test_setup(cancellation_is_as_before_after_a_wait, id_begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

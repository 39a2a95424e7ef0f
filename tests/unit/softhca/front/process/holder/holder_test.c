/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * holder_test.c - the process that takes over from a dead daemon: it writes a last event to event
 * files, answers calls with an errno or lets the kernel answer, leaves destroyed queues alone, and
 * exits with the last program. Listener, queues and memory are stand-ins.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <sys/resource.h>

#include "softhca/front/process/holder/holder.c"
#include "util/bits.h"

enum { DEVICE_FATAL = 8 }; /* IBV_EVENT_DEVICE_FATAL */
enum { PID = 4711, DEVICE_FD = 5, CALL = 0x1000, CALLS = 6 };

static struct {
	struct seccomp_notif calls[CALLS]; /* calls that arrive after the daemon's death */
	unsigned int call_count, received, answers;
	struct seccomp_notif_resp answer[CALLS + MAILBOX_DEFERRED];
	int listener_other; /* the programs' end of the listener; -1 once all have exited */
	uint8_t hdr[sizeof(struct ib_uverbs_ioctl_hdr)]; /* a call in the program's memory */
	struct ib_uverbs_attr attr[MAX_ATTRS];
	unsigned int forgotten, last_forgotten;
	unsigned int flushes, flushes_left; /* flushes_left: flushes that still find a queue */
	int begin_error, map_error;
	unsigned int ended, logged;
	char removed[64];
} world;

int client_fd_stat(pid_t tid, int fd, struct stat *st)
{
	assert_int_equal(tid, PID);
	st->st_ino = 99;
	return fd == DEVICE_FD ? 0 : EBADF;
}

int client_read(pid_t tid, uint64_t addr, void *buf, size_t len)
{
	assert_int_equal(tid, PID);
	if (addr == CALL && len == sizeof(world.hdr))
		memcpy(buf, world.hdr, len);
	else if (addr == CALL + sizeof(world.hdr) && len <= sizeof(world.attr))
		memcpy(buf, world.attr, len);
	else
		return EFAULT;
	return 0;
}

int epitaph_map(int fd, struct epitaph_table **table)
{
	(void)fd;
	*table = (struct epitaph_table *)&world; /* opaque to the code under test */
	return world.map_error;
}

int flush_begin(struct epitaph_table *table, struct flush **flush)
{
	assert_ptr_equal(table, &world);
	*flush = world.begin_error ? NULL : (struct flush *)&world;
	return world.begin_error;
}

void flush_end(struct flush *flush)
{
	assert_ptr_equal(flush, &world);
	world.ended++;
}

bool flush_all(struct flush *flush, bool *was_busy)
{
	assert_ptr_equal(flush, &world);
	*was_busy = world.flushes++ == 0;
	return world.flushes < world.flushes_left;
}

void flush_forget(struct flush *flush, const struct stat *file, uint32_t handle)
{
	assert_ptr_equal(flush, &world);
	assert_int_equal(file->st_ino, 99);
	world.forgotten++;
	world.last_forgotten = handle;
}

void sysfs_remove_tree(const char *path)
{
	snprintf(world.removed, sizeof(world.removed), "%s", path);
}

void log_print(enum log_level level, const char *format, ...)
{
	(void)level;
	(void)format;
	world.logged++;
}

int __wrap_ioctl(int fd, unsigned long request, void *argument);

/* Serves the prepared calls; the last program exits after the last call. */
int __wrap_ioctl(int fd, unsigned long request, void *argument)
{
	(void)fd;
	if (request == SECCOMP_IOCTL_NOTIF_SEND) {
		assert_true(world.answers < ARRAY_SIZE(world.answer));
		memcpy(&world.answer[world.answers++], argument, sizeof(world.answer[0]));
		return 0;
	}
	assert_true(request == SECCOMP_IOCTL_NOTIF_RECV && world.received < world.call_count);
	memcpy(argument, &world.calls[world.received++], sizeof(world.calls[0]));
	if (world.received == world.call_count) {
		close(world.listener_other);
		world.listener_other = -1;
	}
	return 0;
}

/* Name of ioctl() in a C library of 32 bits with 64-bit times */
int __wrap___ioctl_time64(int fd, unsigned long request, void *argument);

int __wrap___ioctl_time64(int fd, unsigned long request, void *argument)
{
	return __wrap_ioctl(fd, request, argument);
}

static struct seccomp_notif call_of(uint64_t id, int nr, uint64_t fd)
{
	struct seccomp_notif notif = { .id = id, .pid = PID };

	notif.data.nr = nr;
	notif.data.args[0] = fd;
	notif.data.args[2] = CALL;
	return notif;
}

static void destroy_prepare(uint16_t object, uint16_t method, uint16_t attrs)
{
	const struct ib_uverbs_ioctl_hdr hdr = { .object_id = object,
						 .method_id = method,
						 .num_attrs = attrs };

	memcpy(world.hdr, &hdr, sizeof(world.hdr));
	for (unsigned int i = 0; i < MAX_ATTRS; i++)
		world.attr[i].attr_id = DESTROY_HANDLE + 1;
	world.attr[1] = (struct ib_uverbs_attr){ .attr_id = DESTROY_HANDLE, .data = 0x55 };
}

/* Runs the holder from the daemon's death to the last program's exit. EVENTS are the other ends of
 * the event files that the daemon had passed on. */
static void holder_outlive(struct mailbox *mailbox, int events[], unsigned int count)
{
	int daemon[2], listener[2], file[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, daemon), 0);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, listener), 0);
	for (unsigned int i = 0; i < count; i++) {
		assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, file), 0);
		assert_int_equal(link_send_fd(daemon[0], file[0]), 0);
		close(file[0]);
		events[i] = file[1];
	}
	close(daemon[0]);
	world.listener_other = listener[1];
	assert_int_equal(write(listener[1], "", 1), 1); /* stays readable from now on */
	if (!world.call_count) {
		world.calls[0] = call_of(1, __NR_openat, 0);
		world.call_count = 1;
	}
	holder_run(listener[0], daemon[1], mailbox, -1);
	assert_int_equal(world.listener_other, -1);
	assert_int_equal(world.received, world.call_count);
	close(listener[0]);
	close(daemon[1]);
}

static int world_begin(void **state)
{
	(void)state;
	memset(&world, 0, sizeof(world));
	world.flushes_left = 1000;
	return 0;
}

static unsigned int descriptors(void)
{
	unsigned int count = 0;

	for (int fd = 0; fd < 256; fd++)
		count += fcntl(fd, F_GETFD) >= 0;
	return count;
}

static void event_files_say_that_the_adapter_is_gone(void **state)
{
	struct mailbox mailbox = { .tree = "/tmp/tree" };
	struct ib_uverbs_async_event_desc event;
	unsigned int before = descriptors();
	int events[2];

	(void)state;
	holder_outlive(&mailbox, events, 2);
	for (int i = 0; i < 2; i++) {
		memset(&event, 0xee, sizeof(event));
		assert_int_equal(read(events[i], &event, sizeof(event)), sizeof(event));
		assert_int_equal(event.event_type, DEVICE_FATAL);
		assert_int_equal(event.element, 0);
		assert_int_equal(read(events[i], &event, sizeof(event)), 0);
		close(events[i]);
	}
	assert_int_equal(descriptors(), before);
	assert_string_equal(world.removed, "/tmp/tree");
}

static void programs_that_know_are_not_told_again(void **state)
{
	struct mailbox mailbox = { .told = 1 };
	char byte;
	int event;

	(void)state;
	holder_outlive(&mailbox, &event, 1);
	assert_int_equal(read(event, &byte, 1), 0);
	close(event);
}

static void closed_event_files_are_dropped_when_the_next_comes(void **state)
{
	struct holder holder = { .listener = -1 };
	int daemon[2], file[2][2];

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, daemon), 0);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, file[i]), 0);
		assert_int_equal(link_send_fd(daemon[0], file[i][0]), 0);
		close(file[i][0]);
	}
	assert_true(receive_event_file(&holder, daemon[1]));
	assert_true(receive_event_file(&holder, daemon[1]));
	assert_non_null(LIST_NEXT(LIST_FIRST(&holder.event_files), in_holder));
	close(file[0][1]);
	assert_int_equal(link_send_fd(daemon[0], file[1][1]), 0); /* any file will do */
	assert_true(receive_event_file(&holder, daemon[1]));
	assert_non_null(LIST_NEXT(LIST_FIRST(&holder.event_files), in_holder));
	assert_null(LIST_NEXT(LIST_NEXT(LIST_FIRST(&holder.event_files), in_holder), in_holder));
	close(daemon[0]);
	assert_false(receive_event_file(&holder, daemon[1]));
	tell_programs(&holder, true);
	assert_true(LIST_EMPTY(&holder.event_files));
	close(daemon[1]);
	close(file[1][1]);
}

/* Leaves no free descriptor to this process. Returns the limit it had before. */
static struct rlimit descriptors_end(void)
{
	const int lowest = dup(STDERR_FILENO);
	struct rlimit before, none;

	close(lowest);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	none = before;
	none.rlim_cur = lowest;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	return before;
}

/* The daemon lives, so the holder must go on waiting. */
static void an_event_file_without_a_free_descriptor_is_lost(void **state)
{
	struct holder holder = { .listener = -1 };
	int daemon[2], file[2];
	struct rlimit limit;

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, daemon), 0);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, file), 0);
	for (int i = 0; i < 3; i++)
		assert_int_equal(link_send_fd(daemon[0], file[0]), 0);
	limit = descriptors_end();
	assert_true(receive_event_file(&holder, daemon[1]));
	assert_true(receive_event_file(&holder, daemon[1]));
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	assert_true(LIST_EMPTY(&holder.event_files));
	assert_int_equal(world.logged, 1);
	assert_true(receive_event_file(&holder, daemon[1]));
	assert_false(LIST_EMPTY(&holder.event_files));
	close(daemon[0]);
	assert_false(receive_event_file(&holder, daemon[1]));
	tell_programs(&holder, true);
	close(daemon[1]);
	close(file[0]);
	close(file[1]);
}

static void answer_check(unsigned int index, uint64_t id, int error, uint32_t flags)
{
	assert_true(index < world.answers);
	assert_int_equal(world.answer[index].id, id);
	assert_int_equal(world.answer[index].error, error);
	assert_int_equal(world.answer[index].flags, flags);
	assert_int_equal(world.answer[index].val, 0);
}

static void calls_of_devices_fail_and_others_go_on(void **state)
{
	struct mailbox mailbox = { .notif = call_of(7, __NR_ioctl, DEVICE_FD),
				   .deferred = { [3] = 8, [MAILBOX_DEFERRED - 1] = 9 } };

	(void)state;
	world.calls[world.call_count++] = call_of(10, __NR_openat, 0);
	world.calls[world.call_count++] = call_of(11, __NR_ioctl, DEVICE_FD);
	holder_outlive(&mailbox, NULL, 0);
	assert_int_equal(world.answers, 5);
	answer_check(0, 7, -EIO, 0); /* the daemon died before its answer */
	answer_check(1, 8, -EIO, 0);
	answer_check(2, 9, -EIO, 0);
	answer_check(3, 10, 0, SECCOMP_USER_NOTIF_FLAG_CONTINUE);
	answer_check(4, 11, -EIO, 0);
}

static void destroyed_queues_are_left_alone(void **state)
{
	const struct {
		uint16_t object, method, attrs;
		int fd;
		bool is_forgotten;
	} cases[] = {
		{ UVERBS_OBJECT_QP, UVERBS_METHOD_QP_DESTROY, 2, DEVICE_FD, true },
		{ UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_DESTROY, 2, DEVICE_FD, true },
		{ UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_DESTROY, MAX_ATTRS, DEVICE_FD, true },
		{ UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_DESTROY, MAX_ATTRS + 1, DEVICE_FD, false },
		{ UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_DESTROY, 1, DEVICE_FD, false },
		{ UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_CREATE, 2, DEVICE_FD, false },
		{ UVERBS_OBJECT_QP, UVERBS_METHOD_QP_CREATE, 2, DEVICE_FD, false },
		{ UVERBS_OBJECT_SRQ, UVERBS_METHOD_QP_DESTROY, 2, DEVICE_FD, false },
		{ UVERBS_OBJECT_QP, UVERBS_METHOD_QP_DESTROY, 2, DEVICE_FD + 1, false },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct mailbox mailbox = { .told = 0 };

		world_begin(NULL);
		destroy_prepare(cases[i].object, cases[i].method, cases[i].attrs);
		world.calls[world.call_count++] = call_of(10, __NR_ioctl, (uint64_t)cases[i].fd);
		holder_outlive(&mailbox, NULL, 0);
		assert_int_equal(world.forgotten, cases[i].is_forgotten);
		assert_int_equal(world.last_forgotten, cases[i].is_forgotten ? 0x55 : 0);
		answer_check(0, 10, -EIO, 0);
	}
}

/* Looks at the queues directly, since calls would come at times of their own. */
static void naps_double_while_nothing_is_posted(void **state)
{
	struct holder holder = { .flush = (struct flush *)&world, .nap_ms = LAST_NAP_MS };

	(void)state;
	world.flushes_left = 8;
	holder_look(&holder); /* there was work */
	assert_int_equal(holder.nap_ms, FIRST_NAP_MS);
	for (int nap = 2 * FIRST_NAP_MS; nap <= LAST_NAP_MS; nap *= 2) {
		holder_look(&holder);
		assert_int_equal(holder.nap_ms, nap);
	}
	holder_look(&holder);
	assert_int_equal(holder.nap_ms, LAST_NAP_MS);
	assert_true(nap_left(&holder) <= LAST_NAP_MS);
	holder.next_look_ms = now_ms() + 100000;
	assert_true(nap_left(&holder) > 50000);
	holder.next_look_ms = now_ms() - 1;
	assert_int_equal(nap_left(&holder), 0);
	holder_look(&holder);
	assert_null(holder.flush);
	assert_int_equal(world.ended, 1);
	assert_int_equal(nap_left(&holder), FOREVER);
}

static void without_memory_calls_are_answered_all_the_same(void **state)
{
	struct mailbox mailbox = { .told = 0 };

	(void)state;
	world.map_error = ENOMEM;
	holder_outlive(&mailbox, NULL, 0);
	assert_int_equal(world.logged, 1);
	assert_int_equal(world.flushes, 0);

	world_begin(NULL);
	world.begin_error = ENOMEM;
	destroy_prepare(UVERBS_OBJECT_QP, UVERBS_METHOD_QP_DESTROY, 2);
	world.calls[world.call_count++] = call_of(10, __NR_ioctl, DEVICE_FD);
	holder_outlive(&mailbox, NULL, 0);
	assert_int_equal(world.logged, 1);
	assert_int_equal(world.flushes + world.forgotten, 0);
	answer_check(0, 10, -EIO, 0);
}

static void it_ends_with_the_programs_while_the_daemon_lives(void **state)
{
	struct mailbox mailbox = { .tree = "/tmp/tree" };
	int daemon[2], listener[2];

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, daemon), 0);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, listener), 0);
	close(listener[1]);
	holder_run(listener[0], daemon[1], &mailbox, -1);
	assert_string_equal(world.removed, "");
	assert_int_equal(world.answers, 0);
	close(listener[0]);
	close(daemon[0]);
	close(daemon[1]);
}

/* It opens a descriptor for each program's memory, and for each event file. */
static void it_has_all_descriptors_that_it_may(void **state)
{
	struct rlimit before, limit;

	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	limit = before;
	limit.rlim_cur = limit.rlim_max - 1;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	it_ends_with_the_programs_while_the_daemon_lives(state);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	assert_true(limit.rlim_cur == before.rlim_max);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(event_files_say_that_the_adapter_is_gone, world_begin),
		cmocka_unit_test_setup(programs_that_know_are_not_told_again, world_begin),
		cmocka_unit_test_setup(closed_event_files_are_dropped_when_the_next_comes,
				       world_begin),
		cmocka_unit_test_setup(an_event_file_without_a_free_descriptor_is_lost,
				       world_begin),
		cmocka_unit_test_setup(calls_of_devices_fail_and_others_go_on, world_begin),
		cmocka_unit_test_setup(destroyed_queues_are_left_alone, world_begin),
		cmocka_unit_test_setup(naps_double_while_nothing_is_posted, world_begin),
		cmocka_unit_test_setup(without_memory_calls_are_answered_all_the_same, world_begin),
		cmocka_unit_test_setup(it_ends_with_the_programs_while_the_daemon_lives,
				       world_begin),
		cmocka_unit_test_setup(it_has_all_descriptors_that_it_may, world_begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

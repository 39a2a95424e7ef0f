/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * event_test.c - events of an rdma_cm file: a byte of the pipe for each that waits, threads that
 * wait for one, events that go with their id or move with it, and those that a program writes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <cmocka.h>

#include "softhca/front/process/ucma/event.c"

enum { ID = 7, UID = 0x55, TID = 4711, RESULT = 24 };

static struct {
	struct ucma_file file, other;
	struct ucma_id id, second;
	struct ucma_call call;
	struct call trapped;
	struct seccomp_notif notif;
	int program, other_program; /* reading ends */
	struct rdma_ucm_event_resp read;
	size_t read_size;
	unsigned int writes, deferred, forgotten, returned, destroyed;
	int64_t value;
	int write_error;
	bool is_blocking, is_gone;
	uint64_t dead; /* the deferred call of this number has ended */
} it;

int client_write(pid_t tid, uint64_t addr, const void *buf, size_t len)
{
	assert_int_equal(tid, TID);
	(void)addr;
	if (it.write_error)
		return it.write_error;
	it.writes++;
	it.read_size = len;
	memcpy(&it.read, buf, len);
	return 0;
}

int caller_fd_copy(const struct call *call, int fd)
{
	int copy = dup(it.program);

	(void)call;
	(void)fd;
	fcntl(copy, F_SETFL, it.is_blocking ? 0 : O_NONBLOCK);
	return copy;
}

bool caller_is_alive(const struct call *call)
{
	assert_ptr_equal(call, &it.trapped);
	return !it.is_gone;
}

void call_defer(struct call *call, struct deferred_call *deferred)
{
	assert_ptr_equal(call, &it.trapped);
	deferred->tid = TID;
	deferred->id = ++it.deferred;
}

bool call_deferred_is_alive(const struct deferred_call *deferred)
{
	return deferred->id != it.dead;
}

void call_deferred_return(struct deferred_call *deferred, int64_t value)
{
	(void)deferred;
	it.returned++;
	it.value = value;
}

void call_deferred_forget(struct deferred_call *deferred)
{
	assert_true(deferred->id == it.dead);
	it.forgotten++;
}

void ucma_id_destroy(struct ucma_id *id)
{
	ucma_event_part(id);
	it.destroyed++;
}

int ucma_id_find(struct ucma_call *uc, uint32_t number, struct ucma_id **id)
{
	assert_ptr_equal(uc, &it.call);
	*id = &it.id;
	return number == ID ? 0 : ENOENT;
}

static int file_begin(struct ucma_file *file, int *program)
{
	int fd[2];

	if (pipe2(fd, O_CLOEXEC | O_NONBLOCK))
		return -1;
	file->watch.fd = fd[1];
	*program = fd[0];
	LIST_INIT(&file->ids);
	STAILQ_INIT(&file->events);
	STAILQ_INIT(&file->waiters);
	return 0;
}

static void id_begin(struct ucma_id *id, uint32_t number)
{
	id->file = &it.file;
	id->number = number;
	id->uid = UID;
	LIST_INSERT_HEAD(&it.file.ids, id, in_file);
}

static int events_begin(void **state)
{
	(void)state;
	memset(&it, 0, sizeof(it));
	if (file_begin(&it.file, &it.program) || file_begin(&it.other, &it.other_program))
		return -1;
	id_begin(&it.id, ID);
	id_begin(&it.second, ID + 1);
	it.notif.data.args[2] = RESULT;
	it.trapped.notif = &it.notif;
	it.trapped.tid = TID;
	it.call.call = &it.trapped;
	it.call.file = &it.file;
	it.call.hdr.out = sizeof(it.read);
	return 0;
}

static int events_end(void **state)
{
	struct ucma_waiter *waiter;

	(void)state;
	ucma_events_drop(&it.id, NULL);
	ucma_events_drop(&it.second, NULL);
	assert_true(STAILQ_EMPTY(&it.file.events));
	while ((waiter = STAILQ_FIRST(&it.file.waiters))) {
		STAILQ_REMOVE_HEAD(&it.file.waiters, entry);
		free(waiter);
	}
	close(it.file.watch.fd);
	close(it.other.watch.fd);
	close(it.program);
	close(it.other_program);
	return 0;
}

static void bytes_wait(int program, int count)
{
	int waiting = -1;

	assert_int_equal(ioctl(program, FIONREAD, &waiting), 0);
	assert_int_equal(waiting, count);
}

static void events_wait_in_their_order(void **state)
{
	(void)state;
	assert_int_equal(ucma_event_get(&it.call), EAGAIN);
	ucma_event_simple(&it.id, EV_ADDR_RESOLVED, 0);
	ucma_event_simple(&it.second, EV_ROUTE_ERROR, -5);
	bytes_wait(it.program, 2);
	assert_int_equal(ucma_event_get(&it.call), 0);
	assert_int_equal(it.read_size, sizeof(it.read));
	assert_int_equal(it.read.event, EV_ADDR_RESOLVED);
	assert_int_equal(it.read.id, ID);
	assert_int_equal(it.read.uid, UID);
	assert_int_equal(it.id.events_reported, 1);
	bytes_wait(it.program, 1);
	assert_int_equal(ucma_event_get(&it.call), 0);
	assert_int_equal(it.read.event, EV_ROUTE_ERROR);
	assert_int_equal((int32_t)it.read.status, -5);
	assert_int_equal(it.second.events_reported, 1);
	bytes_wait(it.program, 0);
	assert_int_equal(ucma_event_get(&it.call), EAGAIN);
}

static void an_event_that_is_not_read_stays(void **state)
{
	(void)state;
	ucma_event_simple(&it.id, EV_CONNECT_REQUEST, 0);
	it.call.hdr.out = offsetof(struct rdma_ucm_event_resp, reserved) - 1;
	assert_int_equal(ucma_event_get(&it.call), ENOSPC);
	it.call.hdr.out++;
	it.is_gone = true;
	assert_int_equal(ucma_event_get(&it.call), EFAULT);
	it.is_gone = false;
	it.write_error = EFAULT;
	assert_int_equal(ucma_event_get(&it.call), EFAULT);
	bytes_wait(it.program, 1);
	assert_int_equal(it.id.backlog, 0);
	it.write_error = 0;
	assert_int_equal(ucma_event_get(&it.call), 0);
	assert_int_equal(it.read_size, it.call.hdr.out); /* an old library's */
	assert_int_equal(it.id.backlog, 1);              /* room for another request */
}

static void a_waiting_thread_gets_the_next_event(void **state)
{
	(void)state;
	it.is_blocking = true;
	assert_int_equal(ucma_event_get(&it.call), 0);
	assert_int_equal(it.deferred, 1);
	assert_int_equal(it.writes, 0);
	ucma_event_simple(&it.id, EV_ESTABLISHED, 0);
	assert_int_equal(it.returned, 1);
	assert_int_equal(it.value, RESULT);
	assert_int_equal(it.read.event, EV_ESTABLISHED);
	assert_int_equal(it.id.events_reported, 1);
	bytes_wait(it.program, 0);
	/* no call waits any more, so the file becomes readable */
	ucma_event_simple(&it.id, EV_DISCONNECTED, 0);
	bytes_wait(it.program, 1);
}

static void a_thread_without_memory_for_it_leaves_the_event(void **state)
{
	(void)state;
	it.is_blocking = true;
	assert_int_equal(ucma_event_get(&it.call), 0);
	it.write_error = EFAULT;
	ucma_event_simple(&it.id, EV_ESTABLISHED, 0);
	assert_int_equal(it.value, -EFAULT);
	bytes_wait(it.program, 1);
}

/* A thread that a signal has interrupted waits no more; it may come again. */
static void threads_that_have_gone_are_dropped(void **state)
{
	(void)state;
	it.is_blocking = true;
	assert_int_equal(ucma_event_get(&it.call), 0);
	it.dead = 1;
	assert_int_equal(ucma_event_get(&it.call), 0);
	assert_int_equal(it.forgotten, 1); /* as soon as another one waits */
	assert_int_equal(ucma_event_get(&it.call), 0);
	it.dead = 2;
	ucma_event_simple(&it.id, EV_ESTABLISHED, 0);
	assert_int_equal(it.forgotten, 2);
	assert_int_equal(it.returned, 1); /* the third */
	assert_true(STAILQ_EMPTY(&it.file.waiters));
}

static void events_go_with_their_id(void **state)
{
	struct ucma_mcast group = { .id = &it.id };
	struct ucma_event *event;

	(void)state;
	ucma_event_simple(&it.second, EV_ADDR_RESOLVED, 0);
	ucma_event_simple(&it.id, EV_ADDR_RESOLVED, 0);
	event = ucma_event_new(&it.id, EV_MULTICAST_JOIN, 0);
	event->mcast = &group;
	ucma_event_send(event);
	bytes_wait(it.program, 3);
	ucma_events_drop(&it.id, &group);
	bytes_wait(it.program, 2);
	ucma_events_drop(&it.id, NULL);
	bytes_wait(it.program, 1);
	assert_int_equal(ucma_event_get(&it.call), 0);
	assert_int_equal(it.read.id, ID + 1);
}

static void a_request_goes_with_its_unread_event(void **state)
{
	struct ucma_id request = { .number = 9 }, kept = { .number = 10 };
	struct ucma_event *event = ucma_event_new(&it.id, EV_CONNECT_REQUEST, 0);

	(void)state;
	ucma_event_join(event, &request);
	ucma_event_send(event);
	ucma_events_drop(&it.id, NULL);
	assert_int_equal(it.destroyed, 1);
	event = ucma_event_new(&it.id, EV_CONNECT_REQUEST, 0);
	ucma_event_join(event, &kept);
	ucma_event_send(event);
	assert_int_equal(ucma_event_get(&it.call), 0);
	assert_null(kept.told_by);
	assert_int_equal(it.destroyed, 1);
}

static void events_move_with_their_id(void **state)
{
	(void)state;
	ucma_event_simple(&it.id, EV_ADDR_RESOLVED, 0);
	ucma_event_simple(&it.second, EV_ADDR_RESOLVED, 0);
	ucma_event_simple(&it.id, EV_ROUTE_RESOLVED, 0);
	ucma_events_move(&it.id, &it.other);
	bytes_wait(it.program, 1);
	bytes_wait(it.other_program, 2);
	assert_ptr_equal(it.id.file, &it.other);
	assert_ptr_equal(LIST_FIRST(&it.other.ids), &it.id);
	it.call.file = &it.other;
	assert_int_equal(ucma_event_get(&it.call), 0);
	assert_int_equal(it.read.event, EV_ADDR_RESOLVED);
	assert_int_equal(ucma_event_get(&it.call), 0);
	assert_int_equal(it.read.event, EV_ROUTE_RESOLVED);
}

static void a_program_writes_events_of_its_own(void **state)
{
	struct rdma_ucm_write_cm_event *cmd = &it.call.write_cm_event;

	(void)state;
	for (uint32_t type = 0; type < 24; type++) {
		*cmd = (struct rdma_ucm_write_cm_event){ .id = ID, .event = type, .status = 3 };
		assert_int_equal(ucma_event_write(&it.call),
				 type == EVENT_USER || type == EVENT_INTERNAL ? 0 : EINVAL);
	}
	bytes_wait(it.program, 2);
	assert_int_equal(ucma_event_get(&it.call), 0);
	assert_int_equal(it.read.event, EVENT_USER);
	assert_int_equal(it.read.status, 3);
	cmd->id++;
	assert_int_equal(ucma_event_write(&it.call), ENOENT);
}

static void unread_events_are_limited(void **state)
{
	struct rdma_ucm_write_cm_event *cmd = &it.call.write_cm_event;

	(void)state;
	*cmd = (struct rdma_ucm_write_cm_event){ .id = ID, .event = EVENT_USER };
	for (unsigned int i = 0; i < MAX_WRITTEN; i++)
		assert_int_equal(ucma_event_write(&it.call), 0);
	assert_int_equal(ucma_event_write(&it.call), ENOMEM);
	ucma_events_drop(&it.second, NULL);
	assert_int_equal(it.id.events_waiting, MAX_WRITTEN);
	ucma_events_drop(&it.id, NULL);
	assert_int_equal(it.id.events_waiting, 0);
	assert_int_equal(ucma_event_write(&it.call), 0);
}

/* The queue can be long, and a program that ends can have many ids. */
static void an_id_without_events_searches_none(void **state)
{
	(void)state;
	it.file.events.stqh_first = (struct ucma_event *)1; /* nothing that can be read */
	ucma_events_drop(&it.second, NULL);
	STAILQ_INIT(&it.file.events);
}

/* A program with many connections has as many events, and may still write its own. */
static void other_events_do_not_count_as_written(void **state)
{
	struct rdma_ucm_write_cm_event *cmd = &it.call.write_cm_event;

	(void)state;
	*cmd = (struct rdma_ucm_write_cm_event){ .id = ID, .event = EVENT_USER };
	for (unsigned int i = 0; i < MAX_WRITTEN; i++)
		ucma_event_simple(&it.id, EV_DISCONNECTED, 0);
	assert_int_equal(ucma_event_write(&it.call), 0);
	assert_int_equal(ucma_events_move(&it.id, &it.other), 0);
	assert_int_equal(it.other.written_count, 1);
	ucma_events_drop(&it.id, NULL);
	assert_int_equal(it.other.written_count, 0);
}

/* Ids cannot gather their events in a file beyond the limit. */
static void moved_events_are_limited(void **state)
{
	struct rdma_ucm_write_cm_event *cmd = &it.call.write_cm_event;

	(void)state;
	*cmd = (struct rdma_ucm_write_cm_event){ .id = ID, .event = EVENT_USER };
	assert_int_equal(ucma_event_write(&it.call), 0);
	it.other.written_count = MAX_WRITTEN;
	assert_int_equal(ucma_events_move(&it.id, &it.other), ENOMEM);
	assert_ptr_equal(it.id.file, &it.file);
	assert_int_equal(it.file.event_count, 1);
	ucma_events_drop(&it.id, NULL);
	assert_int_equal(ucma_events_move(&it.id, &it.other), 0);
	it.other.written_count = 0;
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, events_begin, events_end)
	const struct CMUnitTest tests[] = {
		CASE(events_wait_in_their_order),
		CASE(an_event_that_is_not_read_stays),
		CASE(a_waiting_thread_gets_the_next_event),
		CASE(a_thread_without_memory_for_it_leaves_the_event),
		CASE(threads_that_have_gone_are_dropped),
		CASE(events_go_with_their_id),
		CASE(a_request_goes_with_its_unread_event),
		CASE(events_move_with_their_id),
		CASE(a_program_writes_events_of_its_own),
		CASE(unread_events_are_limited),
		CASE(an_id_without_events_searches_none),
		CASE(other_events_do_not_count_as_written),
		CASE(moved_events_are_limited),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

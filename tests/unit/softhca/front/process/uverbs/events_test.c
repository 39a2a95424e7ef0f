/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * events_test.c - events of the device on their way to programs: which program reads which event,
 * with which element, and what is counted. Channels are socket pairs of the test.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "softhca/front/process/uverbs/events.c"
#include "softhca/front/process/uverbs/uverbs.h"

enum { NUMBER = 0x321, HANDLE = 0x77, PORTS = 2 };

static struct {
	struct adapter adapter, other;
	struct event_channel *channel;
	int program; /* its end of the channel */
	unsigned int devx;
} it;

void devx_event_from_device(const struct adapter *adapter, const uint8_t *eqe)
{
	assert_ptr_equal(adapter, &it.adapter);
	assert_non_null(eqe);
	it.devx++;
}

void watch_change(struct watch *watch, uint32_t events)
{
	(void)watch;
	(void)events;
}

int watch_add(struct watch *watch, uint32_t events)
{
	(void)watch;
	(void)events;
	return 0;
}

void watch_remove(struct watch *watch)
{
	(void)watch;
}

int fd_number_pick(pid_t tid, int *number)
{
	(void)tid;
	(void)number;
	return ENOSYS;
}

int fd_number_place(struct call *call, int fd, bool cloexec, int *number)
{
	(void)call;
	(void)fd;
	(void)cloexec;
	(void)number;
	return ENOSYS;
}

int call_give_fd(struct call *call, int fd, bool cloexec)
{
	(void)call;
	assert_true(cloexec);
	it.program = dup(fd);
	return it.program;
}

void call_fail(struct call *call, int error)
{
	(void)call;
	(void)error;
	fail();
}

int client_fd_stat(pid_t tid, int fd, struct stat *st)
{
	(void)tid;
	return fstat(fd, st) ? EBADF : 0;
}

int client_fd_copy_of(pid_t tid, int fd, dev_t dev, ino_t ino)
{
	(void)tid;
	(void)dev;
	(void)ino;
	return dup(fd);
}

int link_send_fd(int link, int fd)
{
	(void)link;
	(void)fd;
	return 0;
}

static int events_begin(void **state)
{
	static const struct uverbs_file file;
	int number = -1;

	(void)state;
	memset(&it, 0, sizeof(it));
	it.adapter.num_ports = PORTS;
	it.other.index = 1;
	if (event_channel_create(NULL, &file, CHANNEL_VERBS, &it.channel, &number))
		return -1;
	assert_int_equal(number, it.program);
	return 0;
}

static int events_end(void **state)
{
	(void)state;
	event_channel_put(it.channel);
	event_channel_put(it.channel); /* the program's end is closed */
	close(it.program);
	assert_true(LIST_EMPTY(&channels));
	return 0;
}

static void device_tells(unsigned int type, uint32_t field, uint32_t value)
{
	uint8_t eqe[64] = { 0 };

	fld_set(eqe, EQE_TYPE, type);
	fld_set(eqe, field, value);
	events_from_device(&it.adapter, 0, eqe);
}

static void port_tells(unsigned int change, unsigned int port)
{
	uint8_t eqe[64] = { 0 };

	fld_set(eqe, EQE_TYPE, PRM_EVENT_PORT_CHANGE);
	fld_set(eqe, EQE_SUB_TYPE, change);
	fld_set(eqe, EQE_PORT, port);
	events_from_device(&it.adapter, 0, eqe);
}

static void nothing_is_read(void)
{
	uint8_t byte;

	assert_int_equal(recv(it.program, &byte, 1, MSG_DONTWAIT), -1);
}

static void event_is_read(uint32_t type, uint64_t element)
{
	struct ib_uverbs_async_event_desc event;

	assert_int_equal(recv(it.program, &event, sizeof(event), MSG_DONTWAIT), sizeof(event));
	assert_int_equal(event.event_type, type);
	assert_true(event.element == element);
}

static struct event_source source_of(enum source_kind kind)
{
	return (struct event_source){
		.adapter = &it.adapter, .kind = kind, .number = NUMBER, .user_handle = HANDLE
	};
}

static void changes_of_ports_have_their_events(void **state)
{
	static const struct {
		unsigned int change;
		uint32_t type;
	} rows[] = {
		{ PRM_PORT_CHANGE_DOWN, EVENT_PORT_ERR },
		{ PRM_PORT_CHANGE_ACTIVE, EVENT_PORT_ACTIVE },
		{ PRM_PORT_CHANGE_LID, EVENT_LID_CHANGE },
		{ PRM_PORT_CHANGE_PKEY, EVENT_PKEY_CHANGE },
		{ PRM_PORT_CHANGE_GUID, EVENT_GID_CHANGE },
		{ PRM_PORT_CHANGE_CLIENT_REREG, EVENT_CLIENT_REREGISTER },
	};
	bool is_known[256] = { false };

	(void)state;
	event_channel_set_default(it.channel, &it.adapter);
	for (unsigned int i = 0; i < ARRAY_SIZE(rows); i++) {
		is_known[rows[i].change] = true;
		port_tells(rows[i].change, 1 + i % PORTS);
		event_is_read(rows[i].type, 1 + i % PORTS);
		nothing_is_read();
	}
	for (unsigned int change = 0; change < ARRAY_SIZE(is_known); change++) {
		if (!is_known[change])
			port_tells(change, 1);
	}
	nothing_is_read();
}

static void links_that_go_down_are_counted(void **state)
{
	(void)state;
	port_tells(PRM_PORT_CHANGE_DOWN, 1);
	port_tells(PRM_PORT_CHANGE_DOWN, PORTS);
	port_tells(PRM_PORT_CHANGE_DOWN, PORTS);
	port_tells(PRM_PORT_CHANGE_ACTIVE, 1);
	port_tells(PRM_PORT_CHANGE_DOWN, 0);
	port_tells(PRM_PORT_CHANGE_DOWN, PORTS + 1);
	assert_int_equal(it.adapter.link_downs[0], 1);
	assert_int_equal(it.adapter.link_downs[1], 2);
	assert_int_equal(it.devx, 6); /* DevX sees them all */
	nothing_is_read();            /* no program has the adapter open */
}

static void only_who_has_the_adapter_open_hears_of_it(void **state)
{
	(void)state;
	event_channel_set_default(it.channel, &it.other);
	port_tells(PRM_PORT_CHANGE_ACTIVE, 1);
	device_tells(PRM_EVENT_INTERNAL_ERROR, EQE_QPN, 0);
	nothing_is_read();
	assert_true(it.adapter.dead);
	event_channel_set_default(it.channel, &it.adapter);
	device_tells(PRM_EVENT_INTERNAL_ERROR, EQE_QPN, NUMBER);
	event_is_read(EVENT_DEVICE_FATAL, 0);
}

static void events_of_objects_name_their_handle(void **state)
{
	static const struct {
		unsigned int device;
		enum source_kind kind;
		uint32_t type;
	} rows[] = {
		{ PRM_EVENT_PATH_MIG, SOURCE_QP, EVENT_PATH_MIG },
		{ PRM_EVENT_COMM_EST, SOURCE_QP, EVENT_COMM_EST },
		{ PRM_EVENT_SQ_DRAINED, SOURCE_QP, EVENT_SQ_DRAINED },
		{ PRM_EVENT_SRQ_LAST_WQE, SOURCE_QP, EVENT_QP_LAST_WQE_REACHED },
		{ PRM_EVENT_WQ_CATAS_ERROR, SOURCE_QP, EVENT_QP_FATAL },
		{ PRM_EVENT_PATH_MIG_FAILED, SOURCE_QP, EVENT_PATH_MIG_ERR },
		{ PRM_EVENT_WQ_INVAL_REQ_ERROR, SOURCE_QP, EVENT_QP_REQ_ERR },
		{ PRM_EVENT_WQ_ACCESS_ERROR, SOURCE_QP, EVENT_QP_ACCESS_ERR },
		{ PRM_EVENT_SRQ_RQ_LIMIT, SOURCE_SRQ, EVENT_SRQ_LIMIT_REACHED },
		{ PRM_EVENT_SRQ_CATAS_ERROR, SOURCE_SRQ, EVENT_SRQ_ERR },
		{ PRM_EVENT_CQ_ERROR, SOURCE_CQ, EVENT_CQ_ERR },
	};

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(rows); i++) {
		struct event_source source = source_of(rows[i].kind);
		uint32_t field = rows[i].kind == SOURCE_CQ ? EQE_CQ_ERROR_CQN : EQE_QPN;

		source.async = it.channel;
		event_channel_get(it.channel);
		event_source_add(&source);
		device_tells(rows[i].device, field, NUMBER);
		event_is_read(rows[i].type, HANDLE);
		device_tells(rows[i].device, field, NUMBER + 1);
		nothing_is_read();
		assert_int_equal(source.async_sent, 1);
		event_source_remove(&source, 0);
		assert_int_equal(source.async_read, 1);
		device_tells(rows[i].device, field, NUMBER);
		nothing_is_read();
	}
}

static void a_completion_is_of_the_cqs_channel(void **state)
{
	struct event_source source = source_of(SOURCE_CQ), silent = source_of(SOURCE_CQ);
	struct ib_uverbs_comp_event_desc event;

	(void)state;
	silent.number++;
	source.comp = it.channel;
	event_channel_get(it.channel);
	event_source_add(&source);
	event_source_add(&silent);
	device_tells(PRM_EVENT_COMP, EQE_COMP_CQN, NUMBER + 1);
	nothing_is_read();
	device_tells(PRM_EVENT_COMP, EQE_COMP_CQN, NUMBER);
	assert_int_equal(recv(it.program, &event, sizeof(event), MSG_DONTWAIT), sizeof(event));
	assert_true(event.cq_handle == HANDLE);
	event_source_remove(&silent, 0);
	event_source_remove(&source, 0);
	assert_int_equal(source.comp_read, 1);
	assert_int_equal(silent.comp_sent, 0);
}

/* Destroying takes back what the program has not read, or it would read an event of an object that
 * is gone, and leaves the events of others. */
static void unread_events_of_an_object_go_with_it(void **state)
{
	struct event_source qp = source_of(SOURCE_QP), srq = source_of(SOURCE_SRQ);

	(void)state;
	qp.async = srq.async = it.channel;
	event_channel_get(it.channel);
	event_channel_get(it.channel);
	event_source_add(&qp);
	event_source_add(&srq);
	device_tells(PRM_EVENT_COMM_EST, EQE_QPN, NUMBER);
	device_tells(PRM_EVENT_SRQ_RQ_LIMIT, EQE_QPN, NUMBER);
	device_tells(PRM_EVENT_SQ_DRAINED, EQE_QPN, NUMBER);
	event_is_read(EVENT_COMM_EST, HANDLE);
	event_source_remove(&qp, 0);
	assert_int_equal(qp.async_sent, 2);
	assert_int_equal(qp.async_read, 1);
	event_is_read(EVENT_SRQ_LIMIT_REACHED, HANDLE);
	nothing_is_read();
	event_source_remove(&srq, 0);
	assert_int_equal(srq.async_read, 1);
}

static void a_full_channel_keeps_its_events(void **state)
{
	enum { MANY = 4000 };
	uint32_t read = 0;

	(void)state;
	event_channel_set_default(it.channel, &it.adapter);
	for (unsigned int i = 0; i < MANY; i++)
		port_tells(PRM_PORT_CHANGE_LID, 1 + i % PORTS);
	assert_false(STAILQ_EMPTY(&it.channel->pending));
	while (read < MANY) {
		event_is_read(EVENT_LID_CHANGE, 1 + read++ % PORTS);
		channel_ready(&it.channel->watch, EPOLLOUT);
	}
	nothing_is_read();
	assert_true(STAILQ_EMPTY(&it.channel->pending));
}

/* A daemon that was started without a standard input gets copies of that number. */
static void a_copy_may_be_descriptor_0(void **state)
{
	const struct event_channel channel = { .kind = CHANNEL_DEVX_EVENTS };
	int input = dup(0), ends[2];

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
	assert_int_equal(next_message(&channel, 1, ends[1]), 0);
	assert_int_equal(send(ends[0], "event", 5, 0), 5);
	assert_int_equal(next_message(&channel, 1, ends[1]), 5);
	close(0);
	assert_int_equal(next_message(&channel, 1, ends[1]), 5);
	assert_int_equal(fcntl(0, F_GETFD), -1);
	if (input >= 0) {
		assert_int_equal(dup2(input, 0), 0);
		close(input);
	}
	assert_int_equal(next_message(&channel, 1, -1), 0);
	close(ends[0]);
	close(ends[1]);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, events_begin, events_end)
	const struct CMUnitTest tests[] = {
		CASE(changes_of_ports_have_their_events),
		CASE(a_copy_may_be_descriptor_0),
		CASE(links_that_go_down_are_counted),
		CASE(only_who_has_the_adapter_open_hears_of_it),
		CASE(events_of_objects_name_their_handle),
		CASE(a_completion_is_of_the_cqs_channel),
		CASE(unread_events_of_an_object_go_with_it),
		CASE(a_full_channel_keeps_its_events),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

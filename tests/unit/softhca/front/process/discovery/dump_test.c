/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * dump_test.c - long lists of RDMA netlink reach a program that reads slowly, whole and in order,
 * and end when it is gone. Sockets and datagrams are real; time and the objects are the test's.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <cmocka.h>

#include "softhca/front/process/discovery/dump.c"

enum { SEQ = 77, TYPE = 5, USER = 1000, ENTRIES = 60, FEW = 3, MANY = 20000 };

static struct {
	struct adapter *adapter; /* a name only */
	int server;              /* has the port of this process, as the server's sockets do */
	int fd;                  /* the program's socket */
	uint32_t port;
	uint32_t objects;
	uint64_t now;
	struct timer *timer; /* the one that runs, of at most one list */
	unsigned int turns, calls;
	uint32_t seen; /* objects that the program has read of */
	bool is_done;
} it;

uint64_t timer_now(void)
{
	return it.now;
}

void timer_start(struct timer *timer, uint64_t deadline)
{
	timer->deadline = deadline;
	it.timer = timer;
}

void timer_stop(struct timer *timer)
{
	timer->deadline = 0;
	if (it.timer == timer)
		it.timer = NULL;
}

/* A message of up to ENTRIES numbers, each the next object's. */
bool resources_put(struct reply *reply, uint16_t type, const struct adapter *adapter,
		   struct object_place *place)
{
	assert_int_equal(type, TYPE);
	assert_ptr_equal(adapter, it.adapter);
	it.calls++;
	reply_begin(reply, type);
	for (unsigned int i = 0; i < ENTRIES && place->handle < it.objects; i++)
		reply_u32(reply, 1, place->handle++);
	reply_end(reply);
	return place->handle == it.objects;
}

static int program_open(uint32_t *port)
{
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_USERSOCK);
	struct sockaddr_nl addr = { .nl_family = AF_NETLINK };
	socklen_t len = sizeof(addr);

	assert_true(fd >= 0);
	assert_int_equal(bind(fd, (struct sockaddr *)&addr, len), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&addr, &len), 0);
	*port = addr.nl_pid;
	return fd;
}

static int list_begin(void **state)
{
	(void)state;
	memset(&it, 0, sizeof(it));
	it.adapter = (void *)&it;
	it.now = 1000;
	it.server = program_open(&it.port);
	it.fd = program_open(&it.port);
	return 0;
}

static int list_end(void **state)
{
	(void)state;
	dumps_stop();
	assert_true(LIST_EMPTY(&dumps));
	assert_null(it.timer);
	close(it.fd);
	close(it.server);
	return 0;
}

static void message_look(const struct nlmsghdr *message)
{
	const struct nlattr *attr = NLMSG_DATA(message);
	const uint8_t *end = (const uint8_t *)message + message->nlmsg_len;

	assert_false(it.is_done);
	assert_int_equal(message->nlmsg_seq, SEQ);
	assert_true(message->nlmsg_flags & NLM_F_MULTI);
	it.is_done = message->nlmsg_type == NLMSG_DONE;
	for (; !it.is_done && (const uint8_t *)attr < end; attr += 2)
		assert_int_equal(*(const uint32_t *)(attr + 1), it.seen++);
}

/* Reads what waits, up to COUNT datagrams. */
static void program_reads(unsigned int count)
{
	_Alignas(8) uint8_t bytes[REPLY_MAX];
	ssize_t len;

	while (count-- && (len = recv(it.fd, bytes, sizeof(bytes), MSG_DONTWAIT | MSG_TRUNC)) > 0) {
		assert_true(len <= REPLY_MAX);
		for (const struct nlmsghdr *at = (const void *)bytes; NLMSG_OK(at, len);
		     at = NLMSG_NEXT(at, len))
			message_look(at);
	}
}

/* Lets the timer expire. Returns how long that took. */
static uint64_t next_turn(void)
{
	struct timer *timer = it.timer;
	uint64_t waited = timer->deadline - it.now;

	it.now = timer->deadline;
	timer->deadline = 0;
	it.timer = NULL;
	it.turns++;
	it.calls = 0;
	timer->expired(timer);
	assert_true(it.calls <= DATAGRAMS_OF_TURN);
	return waited;
}

static void short_lists_are_there_at_once(void **state)
{
	(void)state;
	it.objects = FEW;
	assert_int_equal(dump_begin(it.adapter, TYPE, USER, it.port, SEQ), 0);
	assert_null(it.timer);
	program_reads(1);
	assert_int_equal(it.seen, FEW);
	assert_true(it.is_done);
}

static void a_list_of_nothing_ends(void **state)
{
	(void)state;
	assert_int_equal(dump_begin(it.adapter, TYPE, USER, it.port, SEQ), 0);
	assert_null(it.timer);
	program_reads(2);
	assert_true(it.is_done);
}

static void long_lists_take_turns(void **state)
{
	(void)state;
	it.objects = MANY;
	assert_int_equal(dump_begin(it.adapter, TYPE, USER, it.port, SEQ), 0);
	while (it.timer) {
		program_reads(DATAGRAMS_OF_TURN);
		assert_int_equal(next_turn(), 0); /* a reader that keeps up waits for nothing */
	}
	program_reads(DATAGRAMS_OF_TURN);
	assert_int_equal(it.seen, MANY);
	assert_true(it.is_done);
	assert_true(it.turns >= MANY / ENTRIES / DATAGRAMS_OF_TURN - 1);
}

static void a_slow_reader_gets_all(void **state)
{
	uint64_t waited = 0;

	(void)state;
	it.objects = MANY;
	assert_int_equal(dump_begin(it.adapter, TYPE, USER, it.port, SEQ), 0);
	while (it.timer) {
		waited += next_turn();
		if (it.turns % 4 == 0)
			program_reads(1);
	}
	program_reads(MANY);
	assert_int_equal(it.seen, MANY);
	assert_true(it.is_done);
	assert_true(waited > 0);
}

/* A pager or a debugger may stop the program for long. */
static void a_program_that_stops_is_waited_for(void **state)
{
	uint64_t last = 0;

	(void)state;
	it.objects = MANY;
	assert_int_equal(dump_begin(it.adapter, TYPE, USER, it.port, SEQ), 0);
	for (unsigned int i = 0; i < 2000; i++) {
		last = next_turn();
		assert_true(last <= LAST_NAP_MS * NS_PER_MS);
	}
	assert_int_equal(last, LAST_NAP_MS * NS_PER_MS);
	while (it.timer) {
		program_reads(MANY);
		next_turn();
	}
	program_reads(MANY);
	assert_int_equal(it.seen, MANY);
	assert_true(it.is_done);
}

static void a_list_ends_with_its_program(void **state)
{
	(void)state;
	it.objects = MANY;
	assert_int_equal(dump_begin(it.adapter, TYPE, USER, it.port, SEQ), 0);
	assert_non_null(it.timer);
	close(it.fd);
	next_turn();
	assert_null(it.timer);
	assert_true(LIST_EMPTY(&dumps));
	it.fd = dup(0);
}

static void one_list_at_a_time_for_a_port(void **state)
{
	(void)state;
	it.objects = MANY;
	assert_int_equal(dump_begin(it.adapter, TYPE, USER, it.port, SEQ), 0);
	assert_int_equal(dump_begin(it.adapter, TYPE, USER, it.port, SEQ), EBUSY);
	while (it.timer) {
		program_reads(DATAGRAMS_OF_TURN);
		next_turn();
	}
	it.objects = FEW;
	assert_int_equal(dump_begin(it.adapter, TYPE, USER, it.port, SEQ), 0);
}

/* One user's lists, which nobody reads, keep no other user from beginning one. */
static void lists_of_a_user_are_limited(void **state)
{
	int fds[DUMPS_MAX + 1];
	uint32_t port;

	(void)state;
	it.objects = MANY;
	for (unsigned int i = 0; i < DUMPS_MAX + 1; i++) {
		fds[i] = program_open(&port);
		assert_int_equal(dump_begin(it.adapter, TYPE, USER, port, SEQ),
				 i < DUMPS_MAX ? 0 : EBUSY);
	}
	assert_int_equal(dump_begin(it.adapter, TYPE, USER + 1, port, SEQ), 0);
	dumps_stop();
	it.timer = NULL;
	for (unsigned int i = 0; i < DUMPS_MAX + 1; i++)
		close(fds[i]);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, list_begin, list_end)
	const struct CMUnitTest tests[] = {
		CASE(short_lists_are_there_at_once),
		CASE(a_list_of_nothing_ends),
		CASE(long_lists_take_turns),
		CASE(a_slow_reader_gets_all),
		CASE(a_program_that_stops_is_waited_for),
		CASE(a_list_ends_with_its_program),
		CASE(one_list_at_a_time_for_a_port),
		CASE(lists_of_a_user_are_limited),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

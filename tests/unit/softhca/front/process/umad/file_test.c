/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * file_test.c - files of umad and issm: their opening and closing, datagrams that wait for a reader
 * and readers that wait for a datagram, and the byte that makes the program's end readable.
 */
#include <errno.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "softhca/front/process/umad/file.c"

enum { TID = 77, FD = 5, HEADER = sizeof(struct ib_user_mad_hdr_old), LONG_MAD = 600 };

static struct adapter adapters[2];
static struct options options = { .ports = 2 };
static struct daemon it = { .options = &options, .num_adapters = 2 };
static struct seccomp_notif notif;
static struct call call;
static int64_t answer;
static int program_fd; /* the program's end of the file */
static int pick_error, watch_error, sent, agents_ended, forgotten, managers;
static bool is_alive;           /* the call that waits */
static int64_t deferred_answer; /* of it; 0: none yet */
static const struct timer *timer_of;
static struct watch *watched;
static struct node_kind *kinds[2];
static void (*died)(struct adapter *adapter);
static uint8_t memory[1024]; /* of the program */

void node_register(struct node_kind *kind)
{
	kinds[kinds[0] != NULL] = kind;
}

void gsi_show(void (*also)(const struct gsi_arrival *arrival),
	      void (*also_died)(struct adapter *adapter))
{
	assert_ptr_equal(also, umad_take);
	died = also_died;
}

void umad_take(const struct gsi_arrival *arrival)
{
	(void)arrival;
}

int umad_send(struct call *of, struct umad_file *file, uint64_t address, size_t len)
{
	(void)of, (void)file, (void)address;
	sent++;
	return len == 1 ? EMSGSIZE : 0;
}

int umad_register(struct call *of, struct umad_file *file)
{
	(void)of, (void)file;
	return EDOM;
}

int umad_register2(struct call *of, struct umad_file *file)
{
	(void)of, (void)file;
	return ERANGE;
}

int umad_unregister(struct call *of, struct umad_file *file)
{
	(void)of, (void)file;
	return 0;
}

void umad_agent_end(struct umad_file *file, unsigned int agent)
{
	(void)file;
	assert_true(agent < UMAD_MAX_AGENTS);
	agents_ended++;
}

void adapter_show_manager(struct adapter *adapter, unsigned int port, bool present)
{
	assert_ptr_equal(adapter, &adapters[1]);
	assert_int_equal(port, 2);
	managers += present ? 1 : -1;
}

int watch_add(struct watch *watch, uint32_t events)
{
	assert_int_equal(events, 0); /* hang-ups come anyway */
	watched = watch;
	return watch_error;
}

void watch_remove(struct watch *watch)
{
	assert_ptr_equal(watch, watched);
	watched = NULL;
}

uint64_t timer_now(void)
{
	return 1000;
}

void timer_start(struct timer *timer, uint64_t deadline)
{
	assert_int_equal(deadline, 1000 + 500000000);
	timer_of = timer;
}

void timer_stop(struct timer *timer)
{
	(void)timer;
	timer_of = NULL;
}

int fd_number_pick(pid_t tid, int *number)
{
	assert_int_equal(tid, TID);
	*number = FD;
	return pick_error;
}

void fd_number_return(struct call *of, int fd, bool cloexec, int number)
{
	(void)cloexec;
	program_fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	call_return(of, number);
}

void call_return(struct call *of, int64_t value)
{
	assert_false(of->answered);
	of->answered = true;
	answer = value;
}

void call_fail(struct call *of, int error)
{
	call_return(of, -error);
}

void call_defer(struct call *of, struct deferred_call *deferred)
{
	of->answered = true;
	deferred->tid = of->tid;
	is_alive = true;
	deferred_answer = 0;
}

bool call_deferred_is_alive(const struct deferred_call *deferred)
{
	(void)deferred;
	return is_alive;
}

void call_deferred_return(struct deferred_call *deferred, int64_t value)
{
	(void)deferred;
	deferred_answer = value;
}

void call_deferred_forget(struct deferred_call *deferred)
{
	(void)deferred;
	forgotten++;
}

int client_fd_stat(pid_t tid, int fd, struct stat *st)
{
	assert_int_equal(tid, TID);
	return fd != FD || fstat(program_fd, st) ? EBADF : 0;
}

int caller_fd_copy(const struct call *of, int fd)
{
	(void)of;
	return fd == FD ? fcntl(program_fd, F_DUPFD_CLOEXEC, 0) : -1;
}

int client_fd_copy_of(pid_t tid, int fd, dev_t dev, ino_t ino)
{
	(void)tid, (void)dev, (void)ino;
	return caller_fd_copy(NULL, fd);
}

int client_write(pid_t tid, uint64_t addr, const void *buf, size_t len)
{
	assert_int_equal(tid, TID);
	if (addr + len > sizeof(memory))
		return EFAULT;
	memcpy(memory + addr, buf, len);
	return 0;
}

bool caller_is_alive(const struct call *of)
{
	(void)of;
	return true;
}

static struct call *call_with(uint64_t b, uint64_t c)
{
	notif = (struct seccomp_notif){ .data.args = { FD, b, c } };
	call = (struct call){ .daemon = &it, .notif = &notif, .tid = TID };
	answer = 0;
	return &call;
}

static struct umad_file *file_opened(unsigned int kind, unsigned int index, uint64_t flags)
{
	kinds[kind]->open(call_with(0, 0), index, flags);
	return answer == FD ? LIST_FIRST(&files) : NULL;
}

static int file_begin(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < 2; i++) {
		adapters[i] = (struct adapter){ .index = i, .num_ports = 2, .name = "mlx5" };
		adapters[i].link_layer = HCA_LINK_INFINIBAND;
		it.adapters[i] = &adapters[i];
	}
	program_fd = -1;
	pick_error = watch_error = sent = agents_ended = forgotten = managers = 0;
	if (!kinds[0])
		umad_start();
	return 0;
}

static int file_end(void **state)
{
	(void)state;
	umad_stop();
	assert_true(LIST_EMPTY(&files));
	assert_int_equal(managers, 0);
	if (program_fd >= 0)
		close(program_fd);
	return 0;
}

static bool program_can_read(void)
{
	struct pollfd poller = { program_fd, POLLIN, 0 };

	return poll(&poller, 1, 0) == 1;
}

static void file_deliver(struct umad_file *file, bool failed, size_t len)
{
	struct ib_user_mad_hdr hdr = { .id = 3, .length = 9 };
	uint8_t bytes[LONG_MAD];

	memset(bytes, 0xab, sizeof(bytes));
	umad_file_deliver(file, &hdr, failed, bytes, len);
}

static int64_t file_read(uint64_t addr, uint64_t room)
{
	memset(memory, 0, sizeof(memory));
	umad_read(call_with(addr, room));
	return answer;
}

static void files_have_the_numbers_of_ports(void **state)
{
	(void)state;
	for (unsigned int index = 0; index < 4; index++) {
		struct umad_file *file = file_opened(0, index, 0);
		struct stat st;

		assert_ptr_equal(file->adapter, &adapters[index / 2]);
		assert_int_equal(file->port, index % 2 + 1);
		assert_true(kinds[0]->exists(&it, index));
		fstat(program_fd, &st);
		assert_int_equal(kinds[0]->find(&st), index);
		assert_int_equal(kinds[1]->find(&st), -1);
		assert_ptr_equal(umad_file_next(NULL, file->adapter, file->port), file);
		assert_null(umad_file_next(file, file->adapter, file->port));
		close(program_fd);
		umad_stop();
	}
	assert_false(kinds[0]->exists(&it, 4));
	assert_true(kinds[1]->exists(&it, 3));
	adapters[1].link_layer = HCA_LINK_ETHERNET; /* no subnet manager there */
	assert_false(kinds[1]->exists(&it, 3));
	assert_true(kinds[0]->exists(&it, 3));
	program_fd = -1;
}

static void a_file_that_cannot_be_opened_leaves_none(void **state)
{
	(void)state;
	pick_error = EMFILE;
	assert_null(file_opened(0, 0, 0));
	assert_int_equal(answer, -EMFILE);
	pick_error = 0;
	watch_error = ENOSPC;
	assert_null(file_opened(0, 0, 0));
	assert_int_equal(answer, -ENOSPC);
	assert_true(LIST_EMPTY(&files));
}

static void a_port_has_one_manager(void **state)
{
	struct umad_file *file = file_opened(1, 3, 0);

	(void)state;
	assert_int_equal(managers, 1);
	/* it gets no datagrams, as Ethernet has no subnet manager */
	assert_null(umad_file_next(NULL, &adapters[1], 2));
	kinds[1]->open(call_with(0, 0), 3, 0);
	assert_int_equal(answer, -EAGAIN);
	assert_int_equal(file_read(0, 100), -EINVAL);
	umad_write(call_with(0, 100));
	assert_int_equal(answer, -EINVAL);
	umad_ioctl(call_with(IB_USER_MAD_ENABLE_PKEY, 0));
	assert_int_equal(answer, -ENOTTY);
	close(program_fd);
	program_fd = -1;
	file->watch.ready(&file->watch, EPOLLHUP);
	assert_int_equal(managers, 0);
}

static void a_datagram_waits_for_a_reader(void **state)
{
	struct umad_file *file = file_opened(0, 0, 0);
	const struct ib_user_mad_hdr_old *hdr = (const void *)memory;

	(void)state;
	assert_false(program_can_read());
	file_deliver(file, false, MAD_SIZE);
	file_deliver(file, true, MAD_SIZE);
	assert_true(program_can_read());
	assert_int_equal(file->packet_count, 2);
	assert_int_equal(file->failed_count, 1);
	assert_int_equal(file->packet_bytes, 2 * MAD_SIZE);
	assert_int_equal(file_read(0, 1000), HEADER + MAD_SIZE);
	assert_int_equal(hdr->id, 3);
	assert_int_equal(hdr->length, HEADER + MAD_SIZE);
	assert_int_equal(memory[HEADER], 0xab);
	assert_true(program_can_read());
	assert_int_equal(file_read(0, 1000), HEADER + MAD_SIZE);
	assert_int_equal(hdr->length, 9); /* of the request */
	assert_false(program_can_read());
	assert_int_equal(file->packet_count | file->packet_bytes | file->failed_count, 0);
}

static void room_for_the_beginning_is_needed(void **state)
{
	struct umad_file *file = file_opened(0, 0, 0);

	(void)state;
	file_deliver(file, false, LONG_MAD);
	assert_int_equal(file_read(0, HEADER - 1), -EINVAL);
	assert_int_equal(file_read(0, HEADER + MAD_SIZE - 1), -EINVAL);
	assert_int_equal(file_read(0, HEADER + MAD_SIZE), -ENOSPC);
	assert_int_equal(memory[HEADER + MAD_SIZE - 1], 0xab);
	assert_int_equal(memory[HEADER + MAD_SIZE], 0);
	assert_int_equal(file_read(sizeof(memory) - HEADER, 1000), -EFAULT);
	assert_int_equal(file->packet_count, 1); /* it stays */
	assert_int_equal(file_read(0, HEADER + LONG_MAD), HEADER + LONG_MAD);
	file_deliver(file, false, 8);
	assert_int_equal(file_read(0, HEADER + 7), -EINVAL);
	assert_int_equal(file_read(0, HEADER + 8), HEADER + 8);
}

static void a_reader_waits_for_a_datagram(void **state)
{
	struct umad_file *file = file_opened(0, 0, 0);

	(void)state;
	assert_int_equal(file_read(4, HEADER + MAD_SIZE), 0);
	assert_true(call.answered);
	assert_int_equal(deferred_answer, 0);
	file_deliver(file, false, MAD_SIZE);
	assert_int_equal(deferred_answer, HEADER + MAD_SIZE);
	assert_int_equal(memory[4 + HEADER], 0xab);
	assert_false(program_can_read());
	assert_int_equal(file->packet_count, 0);
	file_read(4, HEADER + MAD_SIZE);
	is_alive = false; /* a signal interrupts it */
	file_deliver(file, false, MAD_SIZE);
	assert_int_equal(deferred_answer, 0);
	assert_int_equal(forgotten, 1);
	assert_int_equal(file->packet_count, 1);
}

/* A reader without room gets the error, and the datagram stays. */
static void a_reader_without_room_leaves_it(void **state)
{
	struct umad_file *file = file_opened(0, 0, 0);

	(void)state;
	file_read(0, HEADER + 10);
	file_deliver(file, false, MAD_SIZE);
	assert_int_equal(deferred_answer, -EINVAL);
	assert_int_equal(file->packet_count, 1);
	assert_true(program_can_read());
}

static void a_nonblocking_file_has_nothing_yet(void **state)
{
	(void)state;
	assert_non_null(file_opened(0, 0, O_NONBLOCK));
	assert_int_equal(file_read(0, 1000), -EAGAIN);
}

/* The daemon's copy of the program's descriptor may have any number, even 0, and must be closed. */
static void a_nonblocking_read_leaves_no_copy_open(void **state)
{
	const int number_0 = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
	bool is_free;

	(void)state;
	assert_non_null(file_opened(0, 0, O_NONBLOCK));
	close(STDIN_FILENO);
	assert_int_equal(file_read(0, 1000), -EAGAIN);
	is_free = fcntl(STDIN_FILENO, F_GETFD) < 0;
	if (number_0 >= 0)
		dup2(number_0, STDIN_FILENO);
	close(number_0);
	assert_true(is_free);
}

static void a_file_closes_with_the_programs_end(void **state)
{
	struct umad_file *file = file_opened(0, 0, 0);

	(void)state;
	file->watch.ready(&file->watch, EPOLLIN);
	assert_false(LIST_EMPTY(&files));
	file_deliver(file, false, MAD_SIZE);
	file->watch.ready(&file->watch, EPOLLHUP);
	assert_true(LIST_EMPTY(&files));
	assert_null(watched);
	assert_int_equal(agents_ended, UMAD_MAX_AGENTS);
}

/* A thread that sleeps in read() keeps the file, as in the kernel: it would otherwise use freed
 * memory. */
static void a_sleeping_reader_keeps_the_file(void **state)
{
	struct umad_file *file = file_opened(0, 0, 0);

	(void)state;
	file_read(0, 1000);
	file->watch.ready(&file->watch, EPOLLHUP);
	assert_false(LIST_EMPTY(&files));
	assert_null(watched);
	assert_ptr_equal(timer_of, &file->timer);
	file->timer.expired(&file->timer);
	assert_false(LIST_EMPTY(&files));
	is_alive = false;
	file->timer.expired(&file->timer);
	assert_true(LIST_EMPTY(&files));
	assert_null(timer_of);
}

static void a_dead_adapter_ends_its_agents(void **state)
{
	struct umad_file *file = file_opened(0, 0, 0);

	(void)state;
	died(&adapters[1]);
	assert_false(file->is_dead);
	died(&adapters[0]);
	died(&adapters[0]);
	assert_int_equal(agents_ended, UMAD_MAX_AGENTS);
	assert_true(program_can_read()); /* poll() wakes */
	assert_int_equal(file_read(0, 1000), -EIO);
	umad_ioctl(call_with(IB_USER_MAD_REGISTER_AGENT, 0));
	assert_int_equal(answer, -EPIPE);
	umad_ioctl(call_with(IB_USER_MAD_REGISTER_AGENT2, 0));
	assert_int_equal(answer, -EPIPE);
}

static void ioctls_are_four(void **state)
{
	static const struct {
		uint32_t command;
		int want;
	} rows[] = { { IB_USER_MAD_REGISTER_AGENT, EDOM },
		     { IB_USER_MAD_REGISTER_AGENT2, ERANGE },
		     { IB_USER_MAD_UNREGISTER_AGENT, 0 },
		     { IB_USER_MAD_ENABLE_PKEY, 0 },
		     { 1, ENOTTY } };
	struct umad_file *file = file_opened(0, 0, 0);

	(void)state;
	for (unsigned int i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		umad_ioctl(call_with(rows[i].command, 0));
		assert_int_equal(answer, -rows[i].want);
	}
	assert_int_equal(umad_header_size(file), sizeof(struct ib_user_mad_hdr));
	file->used = true;
	umad_ioctl(call_with(IB_USER_MAD_ENABLE_PKEY, 0));
	assert_int_equal(answer, -EINVAL);
}

static void a_write_is_a_datagram(void **state)
{
	(void)state;
	assert_non_null(file_opened(0, 0, 0));
	umad_write(call_with(0, 300));
	assert_int_equal(answer, 300);
	umad_write(call_with(0, 1));
	assert_int_equal(answer, -EMSGSIZE);
	close(program_fd); /* another file has the number */
	program_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	umad_write(call_with(0, 300));
	assert_false(call.answered);
	umad_read(call_with(0, 300));
	assert_false(call.answered);
	umad_ioctl(call_with(1, 0));
	assert_false(call.answered);
	assert_int_equal(sent, 2);
}

static void too_many_datagrams_are_lost(void **state)
{
	struct umad_file *file = file_opened(0, 0, 0);

	(void)state;
	file->packet_count = MAX_PACKETS;
	file_deliver(file, false, 8);
	assert_true(STAILQ_EMPTY(&file->packets));
	file_deliver(file, true, 8); /* the program's own are limited when it sends them */
	assert_false(STAILQ_EMPTY(&file->packets));
	file->packet_count = MAX_PACKETS - 1;
	file_deliver(file, false, 8);
	assert_int_equal(file->packet_count, MAX_PACKETS);
}

int main(void)
{
#define TEST(test) cmocka_unit_test_setup_teardown(test, file_begin, file_end)
	const struct CMUnitTest tests[] = {
		TEST(files_have_the_numbers_of_ports),
		TEST(a_file_that_cannot_be_opened_leaves_none),
		TEST(a_port_has_one_manager),
		TEST(a_datagram_waits_for_a_reader),
		TEST(room_for_the_beginning_is_needed),
		TEST(a_reader_waits_for_a_datagram),
		TEST(a_reader_without_room_leaves_it),
		TEST(a_nonblocking_file_has_nothing_yet),
		TEST(a_nonblocking_read_leaves_no_copy_open),
		TEST(a_file_closes_with_the_programs_end),
		TEST(a_sleeping_reader_keeps_the_file),
		TEST(a_dead_adapter_ends_its_agents),
		TEST(ioctls_are_four),
		TEST(a_write_is_a_datagram),
		TEST(too_many_datagrams_are_lost),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * file_test.c - files of rdma_cm: what an open leaves when it succeeds and when a step of it fails,
 * how a file ends, and ids that move between files.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <cmocka.h>

#include "softhca/front/process/ucma/file.c"

enum { TID = 77, NUMBER = 900, ADDR = 0x1000, REFUSED = EDOM };

static struct {
	struct call caller;
	struct daemon *daemon;
	struct client *opener;
	int pick_error, client_error, watch_error, stat_error, write_error, move_error;
	unsigned int failed, puts, watched, unwatched, destroyed, forgotten, moved;
	int error;
	int program; /* the program's copy of its descriptor; -1: none */
	bool cloexec;
	struct ucma_id *id; /* the only one */
	struct stat st;     /* of the descriptor that a command names */
	struct ucma_file *moved_to;
	uint32_t answer;
} it;

static struct node_kind *kind;

void node_register(struct node_kind *of)
{
	kind = of;
}

int fd_number_pick(pid_t tid, int *number)
{
	assert_int_equal(tid, TID);
	*number = NUMBER;
	return it.pick_error;
}

int caller_client(const struct call *call, struct client **client)
{
	assert_ptr_equal(call, &it.caller);
	*client = it.opener;
	return it.client_error;
}

void client_put(struct client *client)
{
	assert_ptr_equal(client, it.opener);
	it.puts++;
}

struct credentials credentials_of(const struct client *client, pid_t tid)
{
	assert_ptr_equal(client, it.opener);
	assert_int_equal(tid, TID);
	return (struct credentials){ .uid = 0x1d };
}

int watch_add(struct watch *watch, uint32_t epoll_events)
{
	assert_true(watch->fd >= 0);
	assert_int_equal(epoll_events, 0);
	it.watched += !it.watch_error;
	return it.watch_error;
}

void watch_remove(struct watch *watch)
{
	assert_true(watch->fd >= 0);
	it.unwatched++;
}

void call_fail(struct call *call, int error)
{
	assert_ptr_equal(call, &it.caller);
	it.error = error;
	it.failed++;
}

void fd_number_return(struct call *call, int fd, bool cloexec, int number)
{
	assert_ptr_equal(call, &it.caller);
	assert_int_equal(number, NUMBER);
	it.cloexec = cloexec;
	it.program = fcntl(fd, F_DUPFD_CLOEXEC, 100);
}

void ucma_id_destroy(struct ucma_id *id)
{
	assert_int_equal(id->file->byte_count, 0); /* its events take no bytes back, one by one */
	LIST_REMOVE(id, in_file);
	it.destroyed++;
}

void call_deferred_forget(struct deferred_call *deferred)
{
	assert_non_null(deferred);
	it.forgotten++;
}

struct ucma_id *ucma_id_of_number(uint32_t number)
{
	return it.id && number == it.id->number ? it.id : NULL;
}

int client_fd_stat(pid_t tid, int fd, struct stat *st)
{
	assert_int_equal(tid, TID);
	assert_int_equal(fd, NUMBER);
	*st = it.st;
	return it.stat_error;
}

int ucma_events_move(struct ucma_id *id, struct ucma_file *to)
{
	assert_ptr_equal(id, it.id);
	if (it.move_error)
		return it.move_error;
	it.moved_to = to;
	it.moved++;
	return 0;
}

int caller_write(const struct call *call, uint64_t addr, const void *data, size_t size)
{
	assert_ptr_equal(call, &it.caller);
	assert_int_equal(addr, ADDR);
	assert_int_equal(size, sizeof(it.answer));
	memcpy(&it.answer, data, size);
	return it.write_error;
}

static int file_begin(void **state)
{
	static uint8_t a_client, a_daemon;

	(void)state;
	memset(&it, 0, sizeof(it));
	it.program = -1;
	it.opener = (struct client *)&a_client;
	it.daemon = (struct daemon *)&a_daemon;
	it.caller.tid = TID;
	it.caller.daemon = it.daemon;
	ucma_start();
	return 0;
}

static int file_end(void **state)
{
	(void)state;
	ucma_stop();
	assert_true(LIST_EMPTY(&files));
	if (it.program >= 0)
		close(it.program);
	return 0;
}

/* Returns the sum of the two lowest free descriptors, by which a leak of one shows. */
static int lowest_free(void)
{
	int first = dup(0), second = dup(0);

	close(first);
	close(second);
	return first + second;
}

static struct ucma_file *opened(uint64_t flags)
{
	struct stat st;

	if (it.program >= 0)
		close(it.program);
	kind->open(&it.caller, 0, flags);
	assert_int_equal(it.failed, 0);
	assert_int_equal(fstat(it.program, &st), 0);
	return ucma_file_find(&st);
}

static void check_refused(int error)
{
	const int free_before = lowest_free();

	kind->open(&it.caller, 0, 0);
	assert_int_equal(it.failed, 1);
	assert_int_equal(it.error, error);
	assert_int_equal(it.program, -1);
	assert_int_equal(lowest_free(), free_before);
	assert_true(LIST_EMPTY(&files));
	assert_int_equal(it.watched, 0);
}

static void there_is_one_node(void **state)
{
	(void)state;
	assert_string_equal(kind->path, "/dev/infiniband/rdma_cm");
	assert_true(kind->is_single);
	assert_int_equal(kind->major, 10);
	assert_int_equal(kind->first_minor, 120);
	assert_true(kind->exists(it.daemon, 0));
	assert_false(kind->exists(it.daemon, 1));
}

static void the_program_gets_the_reading_end(void **state)
{
	const int free_before = lowest_free();
	struct ucma_file *file = opened(O_RDWR);
	char byte = 0;

	(void)state;
	assert_non_null(file);
	assert_false(it.cloexec);
	assert_int_equal(it.watched, 1);
	assert_ptr_equal(file->daemon, it.daemon);
	assert_ptr_equal(file->opener, it.opener);
	assert_int_equal(file->credentials.uid, 0x1d);
	assert_true(LIST_EMPTY(&file->ids));
	assert_true(STAILQ_EMPTY(&file->events));
	assert_ptr_equal(file->events.stqh_last, &file->events.stqh_first);
	assert_true(STAILQ_EMPTY(&file->waiters));
	assert_ptr_equal(file->waiters.stqh_last, &file->waiters.stqh_first);
	assert_int_equal(write(file->watch.fd, "x", 1), 1);
	assert_int_equal(read(it.program, &byte, 1), 1);
	assert_int_equal(byte, 'x');
	/* our copy of the reading end is closed: only the writing end is new */
	close(it.program);
	it.program = -1;
	assert_true(lowest_free() <= free_before + 2);
	assert_int_equal(fcntl(file->watch.fd, F_GETFD), FD_CLOEXEC);
}

static void flags_are_the_programs(void **state)
{
	struct ucma_file *file = opened(O_RDWR | O_CLOEXEC);

	(void)state;
	assert_true(it.cloexec);
	assert_int_equal(fcntl(it.program, F_GETFL) & O_NONBLOCK, 0);
	assert_int_equal(fcntl(file->watch.fd, F_GETFL) & O_NONBLOCK, O_NONBLOCK);
	file = opened(O_RDWR | O_NONBLOCK);
	assert_false(it.cloexec);
	assert_int_equal(fcntl(it.program, F_GETFL) & O_NONBLOCK, O_NONBLOCK);
	assert_int_equal(fcntl(file->watch.fd, F_GETFL) & O_NONBLOCK, O_NONBLOCK);
}

static void a_file_is_found_by_device_and_inode(void **state)
{
	struct ucma_file *first = opened(0);
	struct stat st;

	(void)state;
	assert_int_equal(fstat(it.program, &st), 0);
	assert_ptr_equal(ucma_file_find(&st), first);
	assert_int_equal(kind->find(&st), 0);
	st.st_ino++;
	assert_null(ucma_file_find(&st));
	assert_int_equal(kind->find(&st), -1);
	st.st_ino--;
	st.st_dev++;
	assert_null(ucma_file_find(&st));
	assert_ptr_not_equal(opened(0), first);
}

static void an_open_without_a_number_fails(void **state)
{
	(void)state;
	it.pick_error = EMFILE;
	check_refused(EMFILE);
	assert_int_equal(it.puts, 0);
}

static void an_open_of_a_dead_caller_fails(void **state)
{
	(void)state;
	it.client_error = ESRCH;
	check_refused(ESRCH);
	assert_int_equal(it.puts, 0);
}

static void an_open_that_cannot_be_watched_fails(void **state)
{
	(void)state;
	it.watch_error = REFUSED;
	check_refused(REFUSED);
	assert_int_equal(it.puts, 1);
}

static void an_open_without_descriptors_fails(void **state)
{
	const int next = dup(0);
	struct rlimit limit, none;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	none = limit;
	close(next);
	none.rlim_cur = (rlim_t)next + 1; /* one end of the pipe would fit */
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	check_refused(EMFILE);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	assert_int_equal(it.puts, 1);
}

static void a_file_ends_when_its_readers_have(void **state)
{
	const int free_before = lowest_free();
	struct ucma_file *file = opened(0);

	(void)state;
	file->watch.ready(&file->watch, EPOLLIN | EPOLLOUT);
	assert_false(LIST_EMPTY(&files));
	file->watch.ready(&file->watch, EPOLLERR);
	assert_true(LIST_EMPTY(&files));
	assert_int_equal(it.unwatched, 1);
	assert_int_equal(it.puts, 1);
	assert_int_equal(lowest_free(), free_before);
	file = opened(0);
	file->watch.ready(&file->watch, EPOLLHUP);
	assert_true(LIST_EMPTY(&files));
	assert_int_equal(lowest_free(), free_before);
}

static void a_file_ends_with_its_ids_and_waiters(void **state)
{
	struct ucma_file *file = opened(0);
	struct ucma_id ids[2] = { { .number = 1, .file = file }, { .number = 2, .file = file } };

	(void)state;
	file->byte_count = 2;
	for (unsigned int i = 0; i < 2; i++) {
		struct ucma_waiter *waiter = calloc(1, sizeof(*waiter));

		LIST_INSERT_HEAD(&file->ids, &ids[i], in_file);
		STAILQ_INSERT_TAIL(&file->waiters, waiter, entry);
	}
	ucma_stop();
	assert_int_equal(it.destroyed, 2);
	assert_int_equal(it.forgotten, 2);
	assert_int_equal(it.puts, 1);
}

/* Two files, and an id of the first one. */
static struct {
	struct ucma_file *first, *second;
	struct ucma_id id;
	struct ucma_call uc;
} two;

static void two_begin(void)
{
	memset(&two, 0, sizeof(two));
	two.first = opened(0);
	assert_int_equal(fstat(it.program, &it.st), 0);
	it.program = -1; /* stays open: its number is for the first file */
	two.second = opened(0);
	two.id = (struct ucma_id){ .number = 7, .file = two.first, .events_reported = 3 };
	it.id = &two.id;
	two.uc.call = &it.caller;
	two.uc.file = two.second;
	two.uc.hdr.out = sizeof(struct rdma_ucm_migrate_resp);
	two.uc.migrate_id = (struct rdma_ucm_migrate_id){ .response = ADDR, .id = 7, .fd = NUMBER };
}

static void an_id_moves_with_its_events(void **state)
{
	(void)state;
	two_begin();
	assert_int_equal(ucma_id_migrate(&two.uc), 0);
	assert_int_equal(it.moved, 1);
	assert_ptr_equal(it.moved_to, two.second);
	assert_int_equal(it.answer, 3);
}

static void an_id_that_is_there_does_not_move(void **state)
{
	(void)state;
	two_begin();
	two.uc.file = two.first;
	assert_int_equal(ucma_id_migrate(&two.uc), 0);
	assert_int_equal(it.moved, 0);
	assert_int_equal(it.answer, 3);
}

static void a_move_that_makes_no_sense_is_refused(void **state)
{
	(void)state;
	two_begin();
	it.stat_error = EBADF;
	assert_int_equal(ucma_id_migrate(&two.uc), ENOENT);
	it.stat_error = 0;
	it.st.st_dev++;
	assert_int_equal(ucma_id_migrate(&two.uc), EINVAL);
	it.st.st_dev--;
	two.uc.hdr.out--;
	assert_int_equal(ucma_id_migrate(&two.uc), ENOSPC);
	two.uc.hdr.out++;
	two.uc.migrate_id.id++;
	assert_int_equal(ucma_id_migrate(&two.uc), ENOENT);
	two.uc.migrate_id.id--;
	two.id.file = two.second;
	assert_int_equal(ucma_id_migrate(&two.uc), EINVAL);
	two.id.file = two.first;
	it.move_error = ENOMEM;
	assert_int_equal(ucma_id_migrate(&two.uc), ENOMEM);
	it.move_error = 0;
	assert_int_equal(it.moved, 0);
	it.write_error = EFAULT;
	assert_int_equal(ucma_id_migrate(&two.uc), EFAULT);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, file_begin, file_end)
	const struct CMUnitTest tests[] = {
		CASE(there_is_one_node),
		CASE(the_program_gets_the_reading_end),
		CASE(flags_are_the_programs),
		CASE(a_file_is_found_by_device_and_inode),
		CASE(an_open_without_a_number_fails),
		CASE(an_open_of_a_dead_caller_fails),
		CASE(an_open_that_cannot_be_watched_fails),
		CASE(an_open_without_descriptors_fails),
		CASE(a_file_ends_when_its_readers_have),
		CASE(a_file_ends_with_its_ids_and_waiters),
		CASE(an_id_moves_with_its_events),
		CASE(an_id_that_is_there_does_not_move),
		CASE(a_move_that_makes_no_sense_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * file_test.c - open files of VFIO: what an open makes and undoes, how calls find their file, their
 * answers, and closes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "softhca/front/process/vfio/file.c"

enum { TID = 77, FD = 9, PICKED = 600, ANSWERED = 0x10, REQUEST = 0x3b64, REFUSED = EDOM };

static struct {
	int pick_error, client_error, last_close_error, stat_error, fault, start_error,
		create_error;
	bool no_device;
	unsigned int clients, picks, closed, returned, watched, started, stopped, settled,
		destroyed;
	unsigned int containers, groups;
	bool cloexec;
	struct stat stat; /* of the file that a call names */
	int failed;
	int64_t value;
	unsigned int answers;
	int answer; /* of a request, a read and a write */
	char answered_by;
} it;

static struct daemon the_daemon;
static struct client client;
static struct seccomp_notif notif;
static struct call call = { .daemon = &the_daemon, .notif = &notif, .tid = TID };
static uint8_t object, device;

int fd_number_pick(pid_t tid, int *number)
{
	assert_int_equal(tid, TID);
	it.picks++;
	*number = PICKED;
	return it.pick_error;
}

void fd_number_return(struct call *of, int fd, bool cloexec, int number)
{
	assert_ptr_equal(of, &call);
	assert_int_equal(number, PICKED);
	assert_int_equal(fstat(fd, &it.stat), 0);
	it.cloexec = cloexec;
	it.returned++;
}

int caller_client(const struct call *of, struct client **out)
{
	assert_ptr_equal(of, &call);
	if (it.client_error)
		return it.client_error;
	it.clients++;
	*out = &client;
	return 0;
}

void client_put(struct client *of)
{
	assert_ptr_equal(of, &client);
	it.clients--;
}

int client_fd_stat(pid_t tid, int fd, struct stat *st)
{
	assert_int_equal(tid, TID);
	assert_int_equal(fd, FD);
	*st = it.stat;
	return it.stat_error;
}

int last_closes_start(struct last_closes *of, void (*closed)(struct last_close *file))
{
	assert_ptr_equal(of, &closes);
	of->closed = closed;
	it.started++;
	return it.start_error;
}

void last_closes_stop(struct last_closes *of)
{
	assert_ptr_equal(of, &closes);
	it.stopped++;
}

void last_closes_settle(struct last_closes *of)
{
	assert_ptr_equal(of, &closes);
	it.settled++;
}

int last_close_open(struct last_closes *of, struct last_close *file, int memfd, int *fd)
{
	assert_ptr_equal(of, &closes);
	if (it.last_close_error)
		return it.last_close_error;
	file->memfd = memfd;
	*fd = dup(memfd);
	it.watched++;
	return 0;
}

void last_close_forget(struct last_closes *of, struct last_close *file)
{
	assert_ptr_equal(of, &closes);
	assert_true(file->memfd >= 0);
	it.watched--;
}

int fault_command(struct fault *fault)
{
	assert_ptr_equal(fault, the_daemon.fault);
	return it.fault;
}

void call_fail(struct call *of, int error)
{
	of->answered = true;
	it.failed = error;
	it.answers++;
}

void call_return(struct call *of, int64_t value)
{
	of->answered = true;
	it.value = value;
	it.answers++;
}

int vfio_device_create(struct daemon *of)
{
	assert_ptr_equal(of, &the_daemon);
	return it.create_error;
}

void vfio_device_destroy(void)
{
	it.destroyed++;
}

struct vfio_device *vfio_device_get(void)
{
	return it.no_device ? NULL : (struct vfio_device *)&device;
}

void vfio_container_start(void)
{
	it.containers++;
}

void vfio_group_start(void)
{
	it.groups++;
}

static void kind_close(struct vfio_file *file)
{
	assert_ptr_equal(file->object, &object);
	it.closed++;
}

static int answer_by(char which, struct vfio_file *file, struct call *of)
{
	assert_ptr_equal(of, &call);
	assert_ptr_equal(file, vfio_file_newest());
	it.answered_by = which;
	if (it.answer == ANSWERED)
		call_return(of, ANSWERED);
	return it.answer == ANSWERED ? 0 : it.answer;
}

static int answer_first(struct vfio_file *file, struct call *of)
{
	return answer_by('1', file, of);
}

static int answer_second(struct vfio_file *file, struct call *of)
{
	return answer_by('2', file, of);
}

static int kind_read(struct vfio_file *file, struct call *of)
{
	return answer_by('r', file, of);
}

static int kind_write(struct vfio_file *file, struct call *of)
{
	return answer_by('w', file, of);
}

static const struct vfio_request requests[] = { { REQUEST, answer_first },
						{ REQUEST + 1, answer_second } };
static const struct vfio_file_kind full = { .name = "full",
					    .requests = requests,
					    .num_requests = 2,
					    .close = kind_close,
					    .read = kind_read,
					    .write = kind_write };
static const struct vfio_file_kind bare = { .name = "bare", .close = kind_close };

static int lowest_free(void)
{
	int fd = dup(0);

	close(fd);
	return fd;
}

static int free_before;

static int file_begin(void **state)
{
	(void)state;
	free_before = lowest_free();
	memset(&it, 0, sizeof(it));
	return 0;
}

static int file_end(void **state)
{
	(void)state;
	vfio_stop();
	assert_null(vfio_file_newest());
	assert_int_equal(it.watched, 0);
	assert_int_equal(it.clients, 0);
	assert_int_equal(lowest_free(), free_before);
	return 0;
}

static struct vfio_file *opened(const struct vfio_file_kind *kind)
{
	assert_int_equal(vfio_file_open_empty(&call, kind, &object, true), 0);
	return vfio_file_newest();
}

static void an_open_file_is_found_by_its_inode(void **state)
{
	struct vfio_file *first = opened(&full);
	const struct stat of_first = it.stat;
	struct vfio_file *second = opened(&bare);
	struct stat other = it.stat;

	(void)state;
	assert_ptr_not_equal(first, second);
	assert_ptr_equal(vfio_file_find(&of_first), first);
	assert_ptr_equal(vfio_file_find(&it.stat), second);
	assert_ptr_equal(first->kind, &full);
	assert_ptr_equal(first->client, &client);
	assert_int_equal(it.returned, 2);
	assert_int_equal(it.picks, 2);
	assert_true(it.cloexec);
	other.st_dev++;
	assert_null(vfio_file_find(&other));
	other = it.stat;
	other.st_ino += 1000;
	assert_null(vfio_file_find(&other));
}

static void an_empty_file_keeps_its_size(void **state)
{
	const struct vfio_file *file = opened(&full);

	(void)state;
	assert_int_equal(it.stat.st_size, 0);
	assert_int_equal(ftruncate(file->memfd, 1), -1);
	assert_int_equal(fcntl(file->memfd, F_GET_SEALS),
			 F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
	assert_int_equal(fcntl(file->memfd, F_GETFD), FD_CLOEXEC);
}

static void a_memory_stays_its_makers(void **state)
{
	int memfd = memfd_create("of_a_test", MFD_CLOEXEC);

	(void)state;
	assert_int_equal(vfio_file_open(&call, &full, memfd, &object, false), 0);
	assert_false(it.cloexec);
	assert_int_not_equal(vfio_file_newest()->memfd, memfd);
	assert_int_equal(close(memfd), 0);
}

static void a_failed_open_is_undone(void **state)
{
	int *const errors[] = { &it.pick_error, &it.client_error, &it.last_close_error };

	(void)state;
	for (unsigned int i = 0; i < 3; i++) {
		*errors[i] = REFUSED;
		assert_int_equal(vfio_file_open_empty(&call, &full, &object, true), REFUSED);
		*errors[i] = 0;
		assert_int_equal(it.clients, 0);
		assert_int_equal(lowest_free(), free_before);
	}
	assert_int_equal(vfio_file_open(&call, &full, -1, &object, true), EBADF);
	assert_null(vfio_file_newest());
	assert_int_equal(it.returned, 0);
	assert_int_equal(it.closed, 0);
}

static void the_last_close_frees_the_file(void **state)
{
	struct vfio_file *file = opened(&full);
	const int memfd = file->memfd;

	(void)state;
	opened(&full);
	file_closed(&file->last_close);
	assert_int_equal(fcntl(memfd, F_GETFD), -1);
	assert_int_equal(it.closed, 1);
	assert_int_equal(it.watched, 1);
	assert_int_equal(it.clients, 1);
	vfio_files_settle();
	assert_int_equal(it.settled, 1);
	vfio_stop();
	assert_int_equal(it.closed, 2);
	assert_int_equal(it.stopped, 1);
	assert_int_equal(it.destroyed, 1);
}

static void call_with(void (*handler)(struct call *call), uint32_t request)
{
	notif.data.args[0] = FD;
	notif.data.args[1] = request;
	call.answered = false;
	it.answers = 0;
	it.failed = 0;
	it.value = -1;
	it.answered_by = 0;
	handler(&call);
}

static void check_answer(char by, int failed, int64_t value)
{
	assert_int_equal(it.answered_by, by);
	assert_int_equal(it.answers, 1);
	assert_int_equal(it.failed, failed);
	assert_int_equal(it.value, value);
}

static void requests_have_their_answers(void **state)
{
	(void)state;
	opened(&full);
	call_with(vfio_ioctl, REQUEST);
	check_answer('1', 0, 0);
	it.answer = ANSWERED;
	call_with(vfio_ioctl, REQUEST + 1);
	check_answer('2', 0, ANSWERED);
	it.answer = REFUSED;
	call_with(vfio_ioctl, REQUEST);
	check_answer('1', REFUSED, -1);
	call_with(vfio_ioctl, REQUEST + 2);
	check_answer(0, ENOTTY, -1);
}

static void reads_and_writes_have_their_answers(void **state)
{
	(void)state;
	opened(&full);
	call_with(vfio_pread, 0);
	check_answer('r', 0, 0);
	it.answer = REFUSED;
	call_with(vfio_pwrite, 0);
	check_answer('w', REFUSED, -1);
	opened(&bare);
	call_with(vfio_pread, 0);
	check_answer(0, EINVAL, -1);
	call_with(vfio_pwrite, 0);
	check_answer(0, EINVAL, -1);
}

static void a_fault_answers_instead(void **state)
{
	(void)state;
	opened(&full);
	it.fault = REFUSED;
	call_with(vfio_ioctl, REQUEST);
	check_answer(0, REFUSED, -1);
	call_with(vfio_pread, 0);
	check_answer(0, REFUSED, -1);
	call_with(vfio_pwrite, 0);
	check_answer(0, REFUSED, -1);
}

static void calls_on_other_files_are_left(void **state)
{
	static void (*const handlers[])(struct call * call) = { vfio_ioctl, vfio_pread,
								vfio_pwrite };

	(void)state;
	for (unsigned int i = 0; i < 3; i++) {
		it.fault = REFUSED;
		call_with(handlers[i], REQUEST);
		assert_int_equal(it.answers, 0);
	}
	opened(&full);
	it.stat_error = EBADF;
	for (unsigned int i = 0; i < 3; i++) {
		call_with(handlers[i], REQUEST);
		assert_int_equal(it.answers, 0);
	}
	it.stat_error = 0;
	it.stat.st_ino += 1000;
	for (unsigned int i = 0; i < 3; i++) {
		call_with(handlers[i], REQUEST);
		assert_int_equal(it.answers, 0);
	}
}

static void the_start_needs_a_device(void **state)
{
	(void)state;
	it.create_error = REFUSED;
	assert_int_equal(vfio_start(&the_daemon), REFUSED);
	it.create_error = 0;
	it.no_device = true;
	assert_int_equal(vfio_start(&the_daemon), 0);
	assert_int_equal(it.started + it.containers + it.groups, 0);
	it.no_device = false;
	it.start_error = REFUSED;
	assert_int_equal(vfio_start(&the_daemon), REFUSED);
	assert_int_equal(it.started, 1);
	assert_int_equal(it.containers, 1);
	assert_int_equal(it.groups, 1);
	assert_ptr_equal(closes.closed, file_closed);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, file_begin, file_end)
	const struct CMUnitTest tests[] = {
		CASE(an_open_file_is_found_by_its_inode),  CASE(an_empty_file_keeps_its_size),
		CASE(a_memory_stays_its_makers),           CASE(a_failed_open_is_undone),
		CASE(the_last_close_frees_the_file),       CASE(requests_have_their_answers),
		CASE(reads_and_writes_have_their_answers), CASE(a_fault_answers_instead),
		CASE(calls_on_other_files_are_left),       CASE(the_start_needs_a_device),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * host_test.c - the checks of the host: they name the first system call that the host refuses, with
 * its errno, and leave no descriptor open.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* The steps, in the order in which they are checked. */
enum step { PAGES, PROC, SOCKETS, MEMFD, PIDFD, GETFD, THREAD, FORK, FILTER, READ, WRITE, STEPS };

enum { REFUSED = EDOM };

static struct {
	enum step fails;
	int error;
	unsigned int asked[STEPS], interrupts;
	pid_t self, pid;
} it;

/* Notes that a step is asked for. Returns whether it fails. */
static int step_fails(enum step step)
{
	it.asked[step]++;
	if (it.fails != step)
		return 0;
	errno = it.error;
	return 1;
}

static int fake_access(const char *path, int mode)
{
	assert_string_equal(path, "/proc/self/fd");
	assert_int_equal(mode, F_OK);
	return step_fails(PROC) ? -1 : 0;
}

static int fake_socketpair(int domain, int type, int protocol, int pair[2])
{
	assert_int_equal(protocol, 0);
	return step_fails(SOCKETS) ? -1 : socketpair(domain, type, protocol, pair);
}

static int fake_memfd_create(const char *name, unsigned int flags)
{
	assert_int_equal(flags, MFD_CLOEXEC | MFD_ALLOW_SEALING);
	return step_fails(MEMFD) ? -1 : memfd_create(name, flags);
}

/* Descriptors of other processes are copies of this one's, as an old kernel lacks the calls. */
static long fake_syscall(long number, int a, int b, ...)
{
	assert_int_equal(a, number == SYS_pidfd_open ? getpid() : b);
	if (number == SYS_pidfd_open) {
		assert_int_equal(b, 0);
		return step_fails(PIDFD) ? -1 : fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0);
	}
	assert_int_equal(number, SYS_pidfd_getfd);
	return step_fails(GETFD) ? -1 : fcntl(a, F_DUPFD_CLOEXEC, 0);
}

static int fake_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*run)(void *),
			       void *arg)
{
	return step_fails(THREAD) ? it.error : pthread_create(thread, attr, run, arg);
}

static pid_t fake_fork(void)
{
	return step_fails(FORK) ? -1 : fork();
}

/* Only the child ends: an end of the test itself would pass for its success. */
static void fake_exit(int status)
{
	assert_int_not_equal(getpid(), it.self);
	_exit(status);
}

static pid_t fake_waitpid(pid_t pid, int *status, int options)
{
	if (it.interrupts) {
		it.interrupts--;
		errno = EINTR;
		return -1;
	}
	return waitpid(pid, status, options);
}

static ssize_t memory_of(enum step step, pid_t pid, const struct iovec *local, size_t locals,
			 const struct iovec *remote, size_t remotes)
{
	assert_int_equal(pid, it.pid);
	assert_int_equal(locals, 1);
	assert_int_equal(remotes, 1);
	assert_int_equal(local->iov_len, 1);
	assert_int_equal(remote->iov_len, 1);
	return step_fails(step) ? -1 : 1;
}

static ssize_t fake_readv(pid_t pid, const struct iovec *local, size_t locals,
			  const struct iovec *remote, size_t remotes, unsigned long flags)
{
	assert_int_equal(flags, 0);
	return memory_of(READ, pid, local, locals, remote, remotes);
}

static ssize_t fake_writev(pid_t pid, const struct iovec *local, size_t locals,
			   const struct iovec *remote, size_t remotes, unsigned long flags)
{
	assert_int_equal(flags, 0);
	return memory_of(WRITE, pid, local, locals, remote, remotes);
}

#define access            fake_access
#define socketpair        fake_socketpair
#define memfd_create      fake_memfd_create
#define syscall           fake_syscall
#define pthread_create    fake_pthread_create
#define fork              fake_fork
#define waitpid           fake_waitpid
#define _exit             fake_exit
#define process_vm_readv  fake_readv
#define process_vm_writev fake_writev
#include "softhca/front/process/host.c"
#undef access
#undef socketpair
#undef memfd_create
#undef syscall
#undef pthread_create
#undef fork
#undef waitpid
#undef _exit
#undef process_vm_readv
#undef process_vm_writev

int page_size_check(void)
{
	return step_fails(PAGES) ? it.error : 0;
}

int seccomp_install(bool has_vfio, int *listener)
{
	if (has_vfio)
		return 0;
	*listener = -1;
	return it.fails == FILTER ? it.error : 0;
}

static int lowest_free(void)
{
	int fd = dup(0);

	close(fd);
	return fd;
}

static int free_before;

static int host_begin(void **state)
{
	(void)state;
	free_before = lowest_free();
	memset(&it, 0, sizeof(it));
	it.fails = STEPS;
	it.self = getpid();
	it.pid = 4711;
	return 0;
}

static int host_end(void **state)
{
	(void)state;
	assert_int_equal(lowest_free(), free_before);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* no child is left */
	return 0;
}

static void a_host_that_allows_all_passes(void **state)
{
	(void)state;
	assert_int_equal(host_check(), 0);
	for (enum step step = PAGES; step <= FORK; step++)
		assert_int_equal(it.asked[step], step == PIDFD ? 2 : 1);
}

static void what_is_refused_ends_the_check(void **state)
{
	(void)state;
	for (enum step step = PAGES; step <= FORK; step++) {
		memset(it.asked, 0, sizeof(it.asked));
		it.fails = step;
		it.error = REFUSED;
		assert_int_equal(host_check(), REFUSED);
		for (enum step other = PAGES; other <= FORK; other++)
			assert_int_equal(!!it.asked[other], other <= step);
	}
}

static void another_filter_is_in_the_way(void **state)
{
	(void)state;
	it.fails = FILTER;
	it.error = EBUSY;
	it.interrupts = 2;
	assert_int_equal(host_check(), EBUSY);
	it.error = EACCES; /* told when the filter is installed */
	assert_int_equal(host_check(), 0);
}

static void memory_is_read_and_written(void **state)
{
	(void)state;
	assert_int_equal(host_check_memory(it.pid), 0);
	assert_int_equal(it.asked[READ], 1);
	assert_int_equal(it.asked[WRITE], 1);
	it.error = REFUSED;
	it.fails = READ;
	assert_int_equal(host_check_memory(it.pid), REFUSED);
	assert_int_equal(it.asked[WRITE], 1);
	it.fails = WRITE;
	assert_int_equal(host_check_memory(it.pid), REFUSED);
}

static void a_refused_filter_is_explained(void **state)
{
	(void)state;
	host_explain_filter(EACCES);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, host_begin, host_end)
	const struct CMUnitTest tests[] = {
		CASE(a_host_that_allows_all_passes), CASE(what_is_refused_ends_the_check),
		CASE(another_filter_is_in_the_way),  CASE(memory_is_read_and_written),
		CASE(a_refused_filter_is_explained),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

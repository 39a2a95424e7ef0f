/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cwd.c - lets programs change their directory into the tree of sysfs.c.
 *
 * Only the kernel can change a working directory, which the program's children inherit. So the
 * program gets a descriptor of the directory, and while the kernel executes the call, the path in
 * the program's memory is replaced by /proc/self/fd/NUMBER.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "softhca/front/process/program/caller.h"
#include "softhca/front/process/client.h"
#include "softhca/front/process/program/cwd.h"
#include "softhca/front/process/daemon.h"
#include "softhca/front/process/fd_number.h"
#include "softhca/front/process/notify.h"
#include "softhca/front/process/seccomp.h"
#include "softhca/log.h"

static bool is_in_tree(const struct call *call, const char *path)
{
	const char *root = call->daemon->sysfs.root;

	return !strncmp(path, root, strlen(root));
}

/* Places the descriptor at the last number that select() supports, which the next directory reuses;
 * or at another free number if that one is in use or beyond the limit. */
static int directory_place(struct call *call, int fd, int *number)
{
	char path[PATH_MAX];
	struct stat st;
	int ret = EBADF;

	*number = FD_SELECT_END - 1;
	if (client_fd_stat(call->tid, *number, &st) ||
	    (!client_dir_path(call->tid, *number, path, sizeof(path)) && is_in_tree(call, path)))
		ret = call_place_fd(call, fd, true, *number);
	if (!ret)
		return 0;
	ret = fd_number_pick(call->tid, number);
	return ret ? ret : fd_number_place(call, fd, true, number);
}

/* The part of the caller's memory that has another path during its call. Accessed by an open
 * descriptor, as the caller's process id may be reused. */
struct loan {
	int memory;
	uint64_t addr;
	size_t size;
	bool is_longer;       /* than the caller's path: the bytes behind that are replaced too */
	char bytes[PATH_MAX]; /* original bytes, to restore */
};

/* Opens the caller's memory for writing. /proc/PID/mem also writes to constant strings, which are
 * in read-only memory. */
static int loan_open(const struct call *call)
{
	char path[32];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/mem", call->tid);
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd >= 0 && !caller_is_alive(call)) {
		close(fd);
		fd = -1;
	}
	return fd;
}

/* Returns whether the process has no other thread, which could see the bytes behind the path. */
static bool is_alone(pid_t tid)
{
	enum { DIRECTORY_ITSELF = 2 };
	char path[32];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%d/task", tid);
	return !stat(path, &st) && st.st_nlink == DIRECTORY_ITSELF + 1;
}

static int loan_take(struct loan *loan, const char *path)
{
	const size_t size = strlen(path) + 1;

	if (pread(loan->memory, loan->bytes, loan->size, (off_t)loan->addr) != (ssize_t)loan->size)
		return EFAULT;
	return pwrite(loan->memory, path, size, (off_t)loan->addr) == (ssize_t)size ? 0 : EFAULT;
}

static int loan_return(const struct loan *loan)
{
	ssize_t done = pwrite(loan->memory, loan->bytes, loan->size, (off_t)loan->addr);

	return done == (ssize_t)loan->size ? 0 : EFAULT;
}

static bool is_at(pid_t tid, const char *where)
{
	char dir[PATH_MAX];

	return !client_dir_path(tid, AT_FDCWD, dir, sizeof(dir)) && !strcmp(dir, where);
}

/* Makes the thread stop when its call ends, before it can read the path again. Fails if it has a
 * debugger, or on kernels before 5.19, where this interrupts the call. */
static bool thread_hold(pid_t tid)
{
	if (ptrace(PTRACE_SEIZE, tid, NULL, NULL))
		return false;
	ptrace(PTRACE_INTERRUPT, tid, NULL, NULL); /* a dying thread reports its end instead */
	return true;
}

/* Waits until the kernel has read the path, which shows by the program's new directory. */
static void await_arrival(pid_t tid, const char *where)
{
	const struct timespec step = { .tv_nsec = 20000 };

	for (int i = 0; i < 5000 && !is_at(tid, where); i++)
		nanosleep(&step, NULL);
}

static int poll_status(pid_t tid, int *status, unsigned int seconds)
{
	const struct timespec step = { .tv_nsec = 20000 };
	struct timespec start, now;

	clock_gettime(CLOCK_MONOTONIC, &start);
	do {
		pid_t got = waitpid(tid, status, __WALL | WNOHANG);

		if (got)
			return got < 0 ? errno : 0;
		nanosleep(&step, NULL);
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while (now.tv_sec <= start.tv_sec + seconds);
	return ETIMEDOUT;
}

/* Lets the thread continue; a signal that stopped it first is delivered. A thread that is killed
 * now is not released thereby, and its parent sees its end only after our wait. */
static void thread_release(pid_t tid, int status)
{
	const long signal = status >> 16 ? 0 : WSTOPSIG(status);

	if (ptrace(PTRACE_DETACH, tid, NULL, signal))
		poll_status(tid, &status, 1);
}

/* Waits until the thread stops. All programs wait meanwhile, so a thread that does not stop, such
 * as a frozen one, is killed. */
static bool await_stop(pid_t tid, int *status)
{
	enum { SECONDS_TO_STOP = 2, SECONDS_TO_END = 1 };
	int ret = poll_status(tid, status, SECONDS_TO_STOP);

	if (ret == ETIMEDOUT) {
		log_error("%d does not stop, and is killed", tid);
		kill(tid, SIGKILL);
		ret = poll_status(tid, status, SECONDS_TO_END);
	}
	return !ret && WIFSTOPPED(*status);
}

/* Lets the kernel execute the call with the path that is in memory now. */
static int let_go(struct call *call, const struct loan *loan, const char *where)
{
	static bool holding_interrupts;
	const bool is_held = !holding_interrupts && thread_hold(call->tid);
	int status = 0, ret;
	bool interrupted;

	if (loan->is_longer && !is_held) {
		loan_return(loan);
		return ENAMETOOLONG;
	}
	interrupted = call_continue(call) == ENOENT && is_held;
	if (!is_held) {
		await_arrival(call->tid, where);
		return loan_return(loan);
	}
	if (!await_stop(call->tid, &status))
		return 0; /* it has ended or is being killed */
	holding_interrupts |= interrupted;
	ret = loan_return(loan);
	thread_release(call->tid, status);
	return ret;
}

static int move_by_number(struct call *call, uint64_t addr, const char *where, int number)
{
	char named[PATH_MAX], path[32];
	struct loan loan = { .addr = addr };
	int ret = caller_read_string(call, addr, named, sizeof(named));

	if (ret)
		return ret;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", number);
	if (strlen(path) > strlen(named))
		snprintf(path, sizeof(path), "/dev/fd/%d", number);
	loan.is_longer = strlen(path) > strlen(named);
	if (loan.is_longer && !is_alone(call->tid))
		return ENAMETOOLONG;
	loan.size = strlen(loan.is_longer ? path : named) + 1;
	loan.memory = loan_open(call);
	if (loan.memory < 0)
		return EFAULT;
	ret = loan_take(&loan, path);
	if (!ret)
		ret = let_go(call, &loan, where);
	close(loan.memory);
	return ret;
}

void cwd_enter(struct call *call, uint64_t addr, int fd)
{
	char self[32], where[PATH_MAX];
	int number, ret;
	ssize_t len;

	snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
	len = readlink(self, where, sizeof(where) - 1);
	if (len < 0) {
		call_fail(call, errno);
		return;
	}
	where[len] = 0;
	if (is_at(call->tid, where)) {
		call_return(call, 0);
		return;
	}
	ret = directory_place(call, fd, &number);
	if (!ret)
		ret = move_by_number(call, addr, where, number);
	if (ret)
		log_note("%d: cannot go to %s: %s", call->tid, where, strerror(ret));
	if (ret && !call->answered)
		call_fail(call, EACCES);
}

void cwd_get(struct call *call)
{
	char dir[PATH_MAX];
	const char *seen = dir + strlen(call->daemon->sysfs.root);
	size_t size;

	if (client_dir_path(call->tid, AT_FDCWD, dir, sizeof(dir)) || !is_in_tree(call, dir))
		return;
	if (!*seen)
		seen = "/";
	size = strlen(seen) + 1;
	if (size > call_arg(call, 1))
		call_fail(call, ERANGE);
	else if (caller_write(call, call_arg(call, 0), seen, size))
		call_fail(call, EFAULT);
	else
		call_return(call, (int64_t)size);
}

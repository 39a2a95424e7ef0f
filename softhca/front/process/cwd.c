/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cwd.c - programs that go to a directory of the tree of sysfs.c.
 *
 * Only the kernel can change a working directory, and it then holds for whatever the program does
 * and starts. So the program is given a descriptor of the directory, and for the moment of the call
 * the path that it named reads /proc/self/fd/NUMBER.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "softhca/front/process/client.h"
#include "softhca/front/process/cwd.h"
#include "softhca/front/process/daemon.h"
#include "softhca/front/process/notify.h"
#include "softhca/front/process/seccomp.h"
#include "softhca/log.h"

static bool is_in_tree(const struct call *call, const char *path)
{
	const char *root = call->daemon->sysfs.root;

	return !strncmp(path, root, strlen(root));
}

/* It is the last number of the band, so that going from one directory to the next takes no further
 * descriptor; when it is in use otherwise or beyond the program's limit, the first that is free. */
static int directory_place(struct call *call, int fd, int *number)
{
	char path[PATH_MAX];
	struct stat st;
	int ret = EBADF;

	*number = FD_BAND_FIRST + FD_BAND_SIZE - 1;
	if (client_fd_stat(call->tid, *number, &st) ||
	    (!client_dir_path(call->tid, *number, path, sizeof(path)) && is_in_tree(call, path)))
		ret = call_place_fd(call, fd, *number);
	if (!ret)
		return 0;
	ret = client_pick_descriptor(call->tid, number);
	return ret ? ret : call_place_fd(call, fd, *number);
}

/* Constant strings are often in memory that is not writable. */
static int string_write(pid_t tid, uint64_t addr, const char *text)
{
	const size_t size = strlen(text) + 1;
	char path[32];
	int fd, ret;

	if (!client_write(tid, addr, text, size))
		return 0;
	snprintf(path, sizeof(path), "/proc/%d/mem", tid);
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return EFAULT;
	ret = pwrite(fd, text, size, (off_t)addr) == (ssize_t)size ? 0 : EFAULT;
	close(fd);
	return ret;
}

static bool is_at(pid_t tid, const char *where)
{
	char dir[PATH_MAX];

	return !client_dir_path(tid, AT_FDCWD, dir, sizeof(dir)) && !strcmp(dir, where);
}

/* The thread is to stop when its call has ended, before it looks at the path again. It cannot be
 * held while it has a debugger, or on a kernel (before 5.19) where that interrupts the call. */
static bool thread_hold(pid_t tid)
{
	return !ptrace(PTRACE_SEIZE, tid, NULL, NULL) && !ptrace(PTRACE_INTERRUPT, tid, NULL, NULL);
}

/* A signal that stopped the thread first still reaches it. */
static void thread_release(pid_t tid, int status)
{
	const long signal = status >> 16 ? 0 : WSTOPSIG(status);

	if (WIFSTOPPED(status))
		ptrace(PTRACE_DETACH, tid, NULL, signal);
}

/* The kernel reads the path in its own time; that it has done so shows by where the program is. */
static void await_arrival(pid_t tid, const char *where)
{
	const struct timespec step = { .tv_nsec = 20000 };

	for (int i = 0; i < 5000 && !is_at(tid, where); i++)
		nanosleep(&step, NULL);
}

/* The call goes on with the path that is written now; NAMED is the program's, for afterwards. */
static int let_go(struct call *call, uint64_t addr, const char *named, const char *where)
{
	static bool holding_interrupts;
	const bool is_held = !holding_interrupts && thread_hold(call->tid);
	int status = 0, ret;

	holding_interrupts |= call_continue(call) == ENOENT && is_held;
	if (is_held)
		waitpid(call->tid, &status, __WALL);
	else
		await_arrival(call->tid, where);
	ret = string_write(call->tid, addr, named);
	if (is_held)
		thread_release(call->tid, status);
	return ret;
}

static int move_by_number(struct call *call, uint64_t addr, const char *where, int number)
{
	char named[PATH_MAX], path[32];
	int ret = client_read_string(call->tid, addr, named, sizeof(named));

	if (ret)
		return ret;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", number);
	if (strlen(path) > strlen(named))
		snprintf(path, sizeof(path), "/dev/fd/%d", number);
	if (strlen(path) > strlen(named))
		return ENAMETOOLONG;
	ret = string_write(call->tid, addr, path);
	return ret ? ret : let_go(call, addr, named, where);
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
	else if (client_write(call->tid, call_arg(call, 0), seen, size))
		call_fail(call, EFAULT);
	else
		call_return(call, (int64_t)size);
}

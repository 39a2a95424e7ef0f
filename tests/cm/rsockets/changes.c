/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * changes.c - processes that change their user; see changes.h.
 */
#include "changes.h"
#include "forks.h"
#include "tests/lib/say.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <rdma/rdma_user_cm.h>
#include <rdma/rsocket.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { NOBODY = 65534 };

int why_no_channel, refusals;

__attribute__((visibility("default"))) int open(const char *path, int flags, ...)
{
	int (*const real)(const char *, int, mode_t) =
		(int (*)(const char *, int, mode_t))(uintptr_t)dlsym(RTLD_NEXT, "open");
	mode_t mode = 0;
	va_list args;

	if (flags & O_CREAT) {
		va_start(args, flags);
		mode = va_arg(args, mode_t);
		va_end(args);
	}
	if (!why_no_channel || strcmp(path, "/dev/infiniband/rdma_cm"))
		return real(path, flags, mode);
	refusals++;
	errno = why_no_channel;
	return -1;
}

bool has_no_thread;

__attribute__((visibility("default"))) int
pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*run)(void *), void *arg)
{
	int (*const real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *) =
		(int (*)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *))(
			uintptr_t)dlsym(RTLD_NEXT, "pthread_create");

	return has_no_thread ? EAGAIN : real(thread, attr, run, arg);
}

pthread_t program_thread;
atomic_int held = NONE, held_later, questions;
atomic_bool is_waiting;

static bool is_cm_command(const void *bytes, size_t size, int number)
{
	const struct rdma_ucm_cmd_hdr *hdr = bytes;

	return size >= sizeof(*hdr) && hdr->cmd == (uint32_t)number &&
	       hdr->in + sizeof(*hdr) == size;
}

static ssize_t write_and_count(int fd, const void *bytes, size_t size)
{
	ssize_t (*const real)(int, const void *, size_t) =
		(ssize_t(*)(int, const void *, size_t))(uintptr_t)dlsym(RTLD_NEXT, "write");
	ssize_t done = real(fd, bytes, size);

	if (done > 0 && is_cm_command(bytes, size, RDMA_USER_CM_CMD_RESOLVE_ADDR))
		questions++;
	return done;
}

__attribute__((visibility("default"))) ssize_t write(int fd, const void *bytes, size_t size)
{
	if (held == NONE)
		return write_and_count(fd, bytes, size);
	if (pthread_equal(pthread_self(), program_thread)) {
		if (!is_cm_command(bytes, size, RDMA_USER_CM_CMD_GET_EVENT))
			return write_and_count(fd, bytes, size);
		errno = EAGAIN;
		return -1;
	}
	if (is_cm_command(bytes, size, held) && held_later-- <= 0) {
		const int before = held;

		is_waiting = true;
		while (held == before)
			usleep(1000);
	}
	return write_and_count(fd, bytes, size);
}

int change_when_held(int held_next)
{
	int ret;

	while (!is_waiting)
		usleep(1000);
	is_waiting = false;
	ret = change_user();
	held = held_next;
	return ret;
}

int change_user(void)
{
	alarm(PATIENCE_S);
	return setuid(getuid() ? getuid() : NOBODY);
}

int change_user_of_thread(void)
{
	return (int)syscall(SYS_setuid, getuid() ? getuid() : NOBODY);
}

bool is_idle(void)
{
	struct rusage usage;

	return !getrusage(RUSAGE_SELF, &usage) &&
	       usage.ru_utime.tv_sec + usage.ru_stime.tv_sec < PATIENCE_S / 2;
}

struct sockaddr_in next_port(void)
{
	forks_port++;
	return forks_here();
}

bool is_served(void)
{
	int socket = connect_patiently();

	return socket >= 0 && comes_back(socket, "hello") && !rclose(socket);
}

bool is_echoed_or_ends(int listener, pid_t child)
{
	struct pollfd fd = { .fd = listener, .events = POLLIN };
	bool echoed = rpoll(&fd, 1, PATIENCE_S * 1000) == 1 && !child_echo(listener);

	return ends_well(child) && echoed;
}

bool connects_when_somebody_listens(int (*connect)(int told))
{
	int listener, ready[2];
	pid_t child;
	char byte;

	next_port();
	MUST(!pipe(ready));
	child = child_that(connect, ready[1]);
	close(ready[1]);
	if (read(ready[0], &byte, 1) == 1) {
		forks_port--;
		listener = listen_here();
		MUST(!child_echo(listener) && !rclose(listener));
	}
	close(ready[0]);
	return ends_well(child);
}

int begin_to_connect(struct sockaddr_in to)
{
	int socket = rsocket(AF_INET, SOCK_STREAM, 0);

	MUST(socket >= 0 && !rfcntl(socket, F_SETFL, O_NONBLOCK) &&
	     rconnect(socket, (struct sockaddr *)&to, sizeof(to)) && errno == EINPROGRESS);
	return socket;
}

int changes_run(const struct topic *topics, size_t count, int argc, char *argv[])
{
	alarm(16 * PATIENCE_S); /* long, as the test runs on an emulated processor, too */
	return topics_main(topics, count, argc, argv);
}

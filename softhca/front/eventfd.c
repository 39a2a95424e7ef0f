/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * eventfd.c - see eventfd.h.
 *
 * A write() to a full eventfd would wait, and block all clients. An AIO request that reads nothing
 * makes the kernel signal the eventfd on completion, which never waits.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "softhca/front/eventfd.h"
#include "softhca/log.h"

bool eventfd_is(int fd)
{
	char path[32], target[32] = "";

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return readlink(path, target, sizeof(target) - 1) > 0 &&
	       !strcmp(target, "anon_inode:[eventfd]");
}

static struct {
	aio_context_t context; /* 0: no context */
	int nothing;           /* a file that reads as empty */
} requests = { .nothing = -1 };

/* Takes an AIO context for all later signals. Taken at the start, as other users may take all
 * contexts of the machine (fs.aio-max-nr) later. */
bool eventfd_start(void)
{
	if (requests.context)
		return true;
	if (requests.nothing < 0)
		requests.nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (requests.nothing >= 0 && !syscall(SYS_io_setup, 1, &requests.context))
		return true;
	requests.context = 0;
	log_note("no AIO, so eventfds in blocking mode get no signals: %s", strerror(errno));
	return false;
}

static int signal_by_request(int fd)
{
	struct iocb request = { .aio_lio_opcode = IOCB_CMD_PREAD,
				.aio_fildes = (uint32_t)requests.nothing,
				.aio_flags = IOCB_FLAG_RESFD,
				.aio_resfd = (uint32_t)fd };
	struct iocb *list[] = { &request };
	struct io_event done;

	if (!requests.context)
		return ENOSYS;
	if (syscall(SYS_io_submit, requests.context, 1, list) != 1 ||
	    syscall(SYS_io_getevents, requests.context, 1, 1, &done, NULL) != 1)
		return errno;
	return 0;
}

/* Adds a signal by write(). Skips an eventfd in blocking mode, whose write() may wait, and a full
 * one, which has unread signals anyway. A client that sets blocking mode and fills the eventfd
 * after these checks can still make write() wait. */
static void signal_by_write(int fd)
{
	static atomic_flag told = ATOMIC_FLAG_INIT;
	struct pollfd room = { fd, POLLOUT, 0 };
	const uint64_t one = 1;
	int flags = fcntl(fd, F_GETFL);

	if (flags < 0 || !(flags & O_NONBLOCK)) {
		if (!atomic_flag_test_and_set(&told))
			log_note("an eventfd in blocking mode is not signalled");
		return;
	}
	if (poll(&room, 1, 0) == 1 && write(fd, &one, sizeof(one)) < 0)
		log_note("an eventfd cannot be signalled: %s", strerror(errno));
}

void eventfd_signal(int fd)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	int ret;

	pthread_mutex_lock(&lock);
	ret = signal_by_request(fd);
	pthread_mutex_unlock(&lock);
	if (ret)
		signal_by_write(fd);
}

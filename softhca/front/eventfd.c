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

static int signal_by_request(int fd)
{
	static aio_context_t context;
	static int nothing = -1;
	struct iocb request = { .aio_lio_opcode = IOCB_CMD_PREAD,
				.aio_flags = IOCB_FLAG_RESFD,
				.aio_resfd = (uint32_t)fd };
	struct iocb *list[] = { &request };
	struct io_event done;

	if (nothing < 0)
		nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (nothing < 0 || (!context && syscall(SYS_io_setup, 1, &context)))
		return errno;
	request.aio_fildes = (uint32_t)nothing;
	if (syscall(SYS_io_submit, context, 1, list) != 1 ||
	    syscall(SYS_io_getevents, context, 1, 1, &done, NULL) != 1)
		return errno;
	return 0;
}

/* Without AIO it skips a full eventfd, which has unread signals anyway. */
void eventfd_signal(int fd)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	struct pollfd room = { fd, POLLOUT, 0 };
	const uint64_t one = 1;
	int ret;

	pthread_mutex_lock(&lock);
	ret = signal_by_request(fd);
	pthread_mutex_unlock(&lock);
	if (ret && poll(&room, 1, 0) == 1 && write(fd, &one, sizeof(one)) < 0)
		log_note("an eventfd cannot be signalled: %s", strerror(errno));
}

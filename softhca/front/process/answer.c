/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * answer.c - answers a trapped system call: with a result, an error or a descriptor, or by letting
 * the kernel execute it.
 *
 * Handlers call these functions; notify.c, which has the table of handlers, calls handlers, so
 * calls only go down.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/ioctl.h>

#include "softhca/front/process/notify.h"

/* Sends the answer. Returns 0 or an errno; ENOENT if the caller was killed meanwhile. */
static int answer_call(struct call *call, struct seccomp_notif_resp *response)
{
	response->id = call->notif->id;
	call->answered = true;
	return ioctl(call->listener, SECCOMP_IOCTL_NOTIF_SEND, response) ? errno : 0;
}

void call_return(struct call *call, int64_t value)
{
	struct seccomp_notif_resp response = { .val = value };

	answer_call(call, &response);
}

void call_fail(struct call *call, int error)
{
	struct seccomp_notif_resp response = { .error = -error };

	answer_call(call, &response);
}

int call_continue(struct call *call)
{
	struct seccomp_notif_resp response = { .flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE };

	return answer_call(call, &response);
}

void call_return_fd(struct call *call, int fd, bool cloexec)
{
	struct seccomp_notif_addfd addfd = {
		.id = call->notif->id,
		.flags = SECCOMP_ADDFD_FLAG_SEND,
		.srcfd = fd,
		.newfd_flags = cloexec ? O_CLOEXEC : 0,
	};

	if (ioctl(call->listener, SECCOMP_IOCTL_NOTIF_ADDFD, &addfd) < 0)
		call_fail(call, errno);
	else
		call->answered = true;
}

int call_give_fd(struct call *call, int fd, bool cloexec)
{
	struct seccomp_notif_addfd addfd = {
		.id = call->notif->id,
		.srcfd = fd,
		.newfd_flags = cloexec ? O_CLOEXEC : 0,
	};
	int number = ioctl(call->listener, SECCOMP_IOCTL_NOTIF_ADDFD, &addfd);

	return number < 0 ? -errno : number;
}

int call_place_fd(struct call *call, int fd, bool cloexec, int number)
{
	struct seccomp_notif_addfd addfd = {
		.id = call->notif->id,
		.flags = SECCOMP_ADDFD_FLAG_SETFD,
		.srcfd = fd,
		.newfd = number,
		.newfd_flags = cloexec ? O_CLOEXEC : 0,
	};

	return ioctl(call->listener, SECCOMP_IOCTL_NOTIF_ADDFD, &addfd) < 0 ? errno : 0;
}

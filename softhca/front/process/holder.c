/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * holder.c - a process that answers trapped calls once the daemon is dead.
 *
 * Without a listener every trapped call would fail with ENOSYS, even an open() of a file that never concerned us. So a tiny
 * process keeps the listener for as long as filtered processes live. While the daemon lives it only sleeps; then RDMA calls
 * get EIO, as from an adapter that was unplugged, and everything else goes on as if there were no filter.
 */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>

#include "softhca/front/process/holder.h"
#include "softhca/front/process/sysfs.h"

static void answer(int listener, const struct seccomp_notif *notif)
{
	struct seccomp_notif_resp response = { .id = notif->id };

	if (notif->data.nr == __NR_ioctl)
		response.error = -EIO;
	else
		response.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
	/* An error means that the caller is gone or was answered: both are fine. */
	ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &response);
}

static void answer_all(int listener, struct mailbox *mailbox)
{
	struct pollfd pfd = { .fd = listener, .events = POLLIN };
	struct seccomp_notif notif;

	if (mailbox->notif.id)
		answer(listener, &mailbox->notif);
	for (;;) {
		if (poll(&pfd, 1, -1) < 0)
			continue;
		if (pfd.revents & POLLHUP)
			return;
		memset(&notif, 0, sizeof(notif));
		if (!ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &notif))
			answer(listener, &notif);
	}
}

void holder_run(int listener, int daemon, struct mailbox *mailbox)
{
	struct pollfd pfd[] = {
		{ .fd = listener }, /* only the hang-up: no filtered process is left */
		{ .fd = daemon, .events = POLLIN },
	};

	for (;;) {
		if (poll(pfd, 2, -1) < 0)
			continue;
		if (pfd[0].revents & POLLHUP)
			return;
		if (pfd[1].revents)
			break;
	}
	sysfs_remove_tree(mailbox->tree); /* it could not any more */
	answer_all(listener, mailbox);
}

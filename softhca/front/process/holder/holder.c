/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * holder.c - a process that takes the place of a dead daemon.
 *
 * Without a listener every trapped call would fail with ENOSYS, even open() of files that are not
 * ours. So this small process keeps the listener while filtered processes exist. It sleeps as long
 * as the daemon lives. Afterwards RDMA calls get EIO, as from an unplugged adapter; posted WQEs
 * complete in error; event files report a dead device; and all other calls continue in the kernel.
 * Decision: docs/adr/0044.
 */
#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/queue.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/rdma_user_ioctl_cmds.h>

#include "softhca/front/process/client.h"
#include "softhca/front/process/holder/flush.h"
#include "softhca/front/process/holder/holder.h"
#include "softhca/front/process/link.h"
#include "softhca/front/process/discovery/sysfs.h"
#include "softhca/log.h"

enum {
	FIRST_NAP_MS = 1, /* pause between scans of the queues; doubled while nothing is posted */
	LAST_NAP_MS = 32,
	MAX_ATTRS = 32,
	FOREVER = -1,
	EVENT_DEVICE_FATAL = 8,                         /* enum ibv_event_type */
	DESTROY_HANDLE = UVERBS_ATTR_DESTROY_QP_HANDLE, /* the attribute's id for CQs too */
};

static_assert((int)UVERBS_ATTR_DESTROY_CQ_HANDLE == UVERBS_ATTR_DESTROY_QP_HANDLE,
	      "one number for both");

/* A program's file of asynchronous events: the daemon's end. */
struct event_file {
	LIST_ENTRY(event_file) in_holder;
	int fd;
};

struct holder {
	int listener;
	LIST_HEAD(, event_file) event_files;
	bool has_lost_file;  /* and has logged it */
	struct flush *flush; /* NULL: no queues are left */
	int nap_ms;
	int64_t next_look_ms;
};

static int64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void event_file_close(struct event_file *file)
{
	LIST_REMOVE(file, in_holder);
	close(file->fd);
	free(file);
}

static void drop_closed(struct holder *holder)
{
	struct event_file *next;

	for (struct event_file *file = LIST_FIRST(&holder->event_files); file; file = next) {
		struct pollfd pfd = { .fd = file->fd, .events = POLLRDHUP };

		next = LIST_NEXT(file, in_holder);
		if (poll(&pfd, 1, 0) > 0)
			event_file_close(file);
	}
}

/* Logs the first loss. When the daemon dies, the program of a lost file reads an end of file and no
 * event. */
static void lose_event_file(struct holder *holder, int error)
{
	if (!holder->has_lost_file)
		log_error("programs may not get an event if the adapters' process is killed: %s",
			  strerror(error));
	holder->has_lost_file = true;
}

/* Receives an event file from the daemon. Returns false when the daemon is dead, which only the end
 * of the link shows. */
static bool receive_event_file(struct holder *holder, int daemon)
{
	struct event_file *file;
	int fd, ret = link_receive_fd(daemon, &fd);

	drop_closed(holder);
	if (ret) {
		if (ret != ECONNRESET)
			lose_event_file(holder, ret);
		return ret != ECONNRESET;
	}
	file = malloc(sizeof(*file));
	if (!file) {
		lose_event_file(holder, ENOMEM);
		close(fd);
		return true;
	}
	file->fd = fd;
	LIST_INSERT_HEAD(&holder->event_files, file, in_holder);
	return true;
}

/* Sends programs the event IBV_EVENT_DEVICE_FATAL, unless they KNOW_ALREADY, and then closes their
 * event files, so that no program waits for events or completions for ever. */
static void tell_programs(struct holder *holder, bool know_already)
{
	struct ib_uverbs_async_event_desc event = { .event_type = EVENT_DEVICE_FATAL };
	struct event_file *file;

	while ((file = LIST_FIRST(&holder->event_files))) {
		if (!know_already)
			send(file->fd, &event, sizeof(event), MSG_DONTWAIT | MSG_NOSIGNAL);
		event_file_close(file);
	}
}

/* Removes a queue that the call destroys from FLUSH, as the program may free its memory even though
 * the call fails. */
static void forget_destroyed(struct flush *flush, const struct seccomp_notif *notif)
{
	struct ib_uverbs_attr attr[MAX_ATTRS];
	struct ib_uverbs_ioctl_hdr hdr;
	struct stat file;

	if (client_fd_stat(notif->pid, notif->data.args[0], &file) ||
	    client_read(notif->pid, notif->data.args[2], &hdr, sizeof(hdr)) ||
	    hdr.num_attrs > MAX_ATTRS ||
	    client_read(notif->pid, notif->data.args[2] + sizeof(hdr), attr,
			hdr.num_attrs * sizeof(attr[0])))
		return;
	if (!(hdr.object_id == UVERBS_OBJECT_QP && hdr.method_id == UVERBS_METHOD_QP_DESTROY) &&
	    !(hdr.object_id == UVERBS_OBJECT_CQ && hdr.method_id == UVERBS_METHOD_CQ_DESTROY))
		return;
	for (unsigned int i = 0; i < hdr.num_attrs; i++)
		if (attr[i].attr_id == DESTROY_HANDLE)
			flush_forget(flush, &file, attr[i].data);
}

static void answer_call(const struct holder *holder, const struct seccomp_notif *notif)
{
	struct seccomp_notif_resp response = { .id = notif->id };

	if (notif->data.nr == __NR_ioctl) {
		response.error = -EIO;
		if (holder->flush)
			forget_destroyed(holder->flush, notif);
	} else {
		response.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
	}
	/* An error means that the caller is gone or has its answer, so it is ignored. */
	ioctl(holder->listener, SECCOMP_IOCTL_NOTIF_SEND, &response);
}

/* Answers the calls that the daemon had deferred with EIO, as for an unplugged adapter. */
static void answer_deferred(const struct holder *holder, const struct mailbox *mailbox)
{
	for (unsigned int i = 0; i < MAILBOX_DEFERRED; i++) {
		struct seccomp_notif_resp response = { .id = mailbox->deferred[i], .error = -EIO };

		if (response.id)
			ioctl(holder->listener, SECCOMP_IOCTL_NOTIF_SEND, &response);
	}
}

/* Serves one call that comes within TIMEOUT_MS. Returns false when no filtered process is left. */
static bool serve_call(const struct holder *holder, int timeout_ms)
{
	struct pollfd pfd = { .fd = holder->listener, .events = POLLIN };
	struct seccomp_notif notif = { 0 };

	if (poll(&pfd, 1, timeout_ms) <= 0)
		return true;
	if (pfd.revents & POLLHUP)
		return false;
	if (!ioctl(holder->listener, SECCOMP_IOCTL_NOTIF_RECV, &notif))
		answer_call(holder, &notif);
	return true;
}

static void holder_look(struct holder *holder)
{
	bool was_busy;

	if (!flush_all(holder->flush, &was_busy)) {
		flush_end(holder->flush);
		holder->flush = NULL;
	}
	holder->nap_ms = was_busy ? FIRST_NAP_MS : holder->nap_ms * 2;
	if (holder->nap_ms > LAST_NAP_MS)
		holder->nap_ms = LAST_NAP_MS;
	holder->next_look_ms = now_ms() + holder->nap_ms;
}

static int nap_left(const struct holder *holder)
{
	int64_t left = holder->next_look_ms - now_ms();

	if (!holder->flush)
		return FOREVER;
	return left > 0 ? left : 0;
}

static void begin_flush(struct holder *holder, int memory)
{
	struct epitaph_table *table;
	int ret = epitaph_map(memory, &table);

	if (!ret)
		ret = flush_begin(table, &holder->flush);
	if (ret)
		log_error("the adapter is dead, and requests are not completed: %s", strerror(ret));
}

static void take_over(struct holder *holder, const struct mailbox *mailbox, int memory)
{
	tell_programs(holder, mailbox->told);
	sysfs_remove_tree(mailbox->tree); /* the daemon did not get to it, as it was killed */
	begin_flush(holder, memory);
	if (mailbox->notif.id)
		answer_call(holder, &mailbox->notif);
	answer_deferred(holder, mailbox);
	do {
		if (holder->flush && !nap_left(holder))
			holder_look(holder);
	} while (serve_call(holder, nap_left(holder)));
}

/* Raises the limit of descriptors, as each event file and each program's memory takes one here. */
static void raise_fd_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

void holder_run(int listener, int daemon, const struct mailbox *mailbox, int memory)
{
	struct holder holder = { .listener = listener, .nap_ms = FIRST_NAP_MS };
	struct pollfd pfd[] = {
		{ .fd = listener }, /* wait only for its hang-up: no filtered process is left */
		{ .fd = daemon, .events = POLLIN },
	};

	raise_fd_limit();
	for (;;) {
		if (poll(pfd, 2, -1) < 0)
			continue;
		if (pfd[0].revents & POLLHUP)
			return;
		if (pfd[1].revents && !receive_event_file(&holder, daemon))
			break;
	}
	take_over(&holder, mailbox, memory);
}

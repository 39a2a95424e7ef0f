/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * listener.c - listeners for the trapped calls of programs. See listener.h. Decision:
 * docs/adr/0045.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/queue.h>
#include <sys/socket.h>
#include <unistd.h>

#include "softhca/front/process/daemon.h"
#include "softhca/front/process/deferred.h"
#include "softhca/front/process/holder/epitaph.h"
#include "softhca/front/process/listener.h"
#include "softhca/front/process/notify.h"
#include "softhca/front/process/program/refused_users.h"
#include "softhca/front/process/watch.h"
#include "softhca/log.h"

static struct daemon *the_daemon;

void listeners_start(struct daemon *daemon)
{
	the_daemon = daemon;
}

struct listener {
	struct watch watch;
	LIST_ENTRY(listener) in_all;
	struct mailbox *mailbox;
	struct epitaph *epitaph;
	int holder; /* socket to the holder, which answers after our death */
};

static LIST_HEAD(, listener) listeners = LIST_HEAD_INITIALIZER(listeners);

void listeners_stop_if_unused(void)
{
	if (!the_daemon->num_listeners && !the_daemon->options->socket_path)
		watch_finish();
}

static void listener_close(struct listener *listener)
{
	deferred_end(listener->watch.fd);
	watch_remove(&listener->watch);
	LIST_REMOVE(listener, in_all);
	close(listener->watch.fd);
	munmap(listener->mailbox, sizeof(*listener->mailbox));
	epitaph_put(listener->epitaph);
	close(listener->holder);
	free(listener);
	the_daemon->num_listeners--;
	listeners_stop_if_unused();
}

/* Refuses for a time the user of a client that has received its own trapped call and so made us
 * wait. Does not refuse the server's own user, who could stop the server anyway. */
static void thief_refuse(const struct listener *listener)
{
	struct ucred peer;
	socklen_t len = sizeof(peer);

	log_error("a client receives its own trapped calls: they are served no more");
	if (!getsockopt(listener->holder, SOL_SOCKET, SO_PEERCRED, &peer, &len) &&
	    peer.uid != geteuid())
		refused_users_add(peer.uid, timer_now());
}

static void listener_ready(struct watch *watch, uint32_t events)
{
	struct listener *listener = (struct listener *)watch;
	int ret = 0;

	if (events & EPOLLIN)
		ret = notify_serve_one(the_daemon, watch->fd, listener->mailbox, listener->epitaph,
				       listener->holder);
	else if (events & EPOLLHUP) /* no filtered process is left */
		ret = ENOTCONN;
	if (ret == ETIMEDOUT)
		thief_refuse(listener);
	if (ret && ret != ENOENT && ret != EINTR)
		listener_close(listener);
}

/* Seals the memory, so that only our existing mapping stays writable. Otherwise the runner could
 * change answers through its copy of the descriptor. */
static int memory_seal(int memory)
{
	const int seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_FUTURE_WRITE | F_SEAL_SEAL;

	return fcntl(memory, F_ADD_SEALS, seals) ? errno : 0;
}

static int mailbox_map(int memory, struct mailbox **mailbox)
{
	*mailbox = mmap(NULL, sizeof(**mailbox), PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
	return *mailbox == MAP_FAILED ? errno : 0;
}

/* Creates the memory of the mailbox and the table of epitaphs, and maps it. Sets *MEMORY to its
 * descriptor. */
static int memory_create(struct listener *listener, int *memory)
{
	int fd = memfd_create("softhca-mailbox", MFD_CLOEXEC | MFD_ALLOW_SEALING), ret;

	if (fd < 0)
		return errno;
	ret = ftruncate(fd, epitaph_memory_bytes()) ? errno : 0;
	if (!ret)
		ret = mailbox_map(fd, &listener->mailbox);
	if (ret)
		goto close_memory;
	ret = epitaph_open(fd, &listener->epitaph);
	if (ret)
		goto unmap;
	ret = memory_seal(fd);
	if (ret)
		goto put_epitaph;
	*memory = fd;
	return 0;
put_epitaph:
	epitaph_put(listener->epitaph);
unmap:
	munmap(listener->mailbox, sizeof(*listener->mailbox));
close_memory:
	close(fd);
	return ret;
}

static void memory_release(struct listener *listener, int memory)
{
	munmap(listener->mailbox, sizeof(*listener->mailbox));
	epitaph_put(listener->epitaph);
	close(memory);
}

/* Returns whether FD is a seccomp listener. Any user can connect and send another descriptor, on
 * which we might block. */
static bool is_listener(int fd)
{
	static const char expected[] = "anon_inode:seccomp notify";
	char self[32], what[sizeof(expected)];
	ssize_t len;

	snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
	len = readlink(self, what, sizeof(what));
	return len == (ssize_t)strlen(expected) && !memcmp(what, expected, len);
}

int listener_add(int fd, int link, int *memory)
{
	struct listener *listener;
	int ret;

	if (!is_listener(fd))
		return EPROTO;
	listener = calloc(1, sizeof(*listener));
	if (!listener)
		return ENOMEM;
	listener->watch = (struct watch){ fd, listener_ready };
	ret = memory_create(listener, memory);
	if (ret)
		goto free_listener;
	listener->holder = fcntl(link, F_DUPFD_CLOEXEC, 0);
	if (listener->holder < 0) {
		ret = errno;
		goto release_memory;
	}
	memcpy(listener->mailbox->tree, the_daemon->sysfs.root, sizeof(the_daemon->sysfs.root));
	notify_tune(fd);
	ret = watch_add(&listener->watch, EPOLLIN);
	if (ret)
		goto close_holder;
	LIST_INSERT_HEAD(&listeners, listener, in_all);
	the_daemon->num_listeners++;
	return 0;
close_holder:
	close(listener->holder);
release_memory:
	memory_release(listener, *memory);
free_listener:
	free(listener);
	return ret;
}

void listeners_tell_holders(void)
{
	struct listener *listener;

	LIST_FOREACH(listener, &listeners, in_all)
		listener->mailbox->told = 1;
}

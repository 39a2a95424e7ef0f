/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * runner.c - the starters of programs that are connected, and the listeners that bring trapped
 * calls of what they started.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/queue.h>
#include <unistd.h>

#include "softhca/front/process/daemon.h"
#include "softhca/front/process/holder/epitaph.h"
#include "softhca/front/process/link.h"
#include "softhca/front/process/notify.h"
#include "softhca/front/process/runner.h"
#include "softhca/front/process/watch.h"
#include "softhca/log.h"

static struct daemon *the_daemon;

void runners_start(struct daemon *daemon)
{
	the_daemon = daemon;
}

/* ---- listeners ---- */

struct listener {
	struct watch watch;
	LIST_ENTRY(listener) in_all;
	struct mailbox *mailbox;
	struct epitaph *epitaph;
	int holder; /* who answers when we are dead: a socket */
};

static LIST_HEAD(, listener) listeners = LIST_HEAD_INITIALIZER(listeners);

/* A private daemon ends with the last filtered process, or with a runner that could not even start
 * one. */
static void stop_if_unused(void)
{
	if (!the_daemon->num_listeners && !the_daemon->options->socket_path)
		watch_finish();
}

static void listener_close(struct listener *listener)
{
	notify_end(listener->watch.fd);
	watch_remove(&listener->watch);
	LIST_REMOVE(listener, in_all);
	close(listener->watch.fd);
	munmap(listener->mailbox, sizeof(*listener->mailbox));
	epitaph_put(listener->epitaph);
	close(listener->holder);
	free(listener);
	the_daemon->num_listeners--;
	stop_if_unused();
}

static void listener_ready(struct watch *watch, uint32_t events)
{
	struct listener *listener = (struct listener *)watch;

	if (events & EPOLLIN)
		notify_serve_one(the_daemon, watch->fd, listener->mailbox, listener->epitaph,
				 listener->holder);
	else
		listener_close(listener); /* no filtered process is left */
}

static int listener_add(int fd, int mailbox, int link)
{
	struct listener *listener = calloc(1, sizeof(*listener));
	int ret;

	if (!listener)
		return ENOMEM;
	listener->watch = (struct watch){ fd, listener_ready };
	listener->mailbox = mmap(NULL, sizeof(*listener->mailbox), PROT_READ | PROT_WRITE,
				 MAP_SHARED, mailbox, 0);
	if (listener->mailbox == MAP_FAILED) {
		ret = errno;
		goto free_listener;
	}
	ret = epitaph_open(mailbox, &listener->epitaph);
	if (ret)
		goto unmap;
	listener->holder = fcntl(link, F_DUPFD_CLOEXEC, 0);
	if (listener->holder < 0) {
		ret = errno;
		goto put_epitaph;
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
put_epitaph:
	epitaph_put(listener->epitaph);
unmap:
	munmap(listener->mailbox, sizeof(*listener->mailbox));
free_listener:
	free(listener);
	return ret;
}

/* ---- runners ---- */

/* A runner is the connection to a program's starter. */
struct runner {
	struct watch watch; /* first */
	LIST_ENTRY(runner) in_all;
};
static LIST_HEAD(, runner) runners = LIST_HEAD_INITIALIZER(runners);

static void runner_close(struct runner *runner)
{
	watch_remove(&runner->watch);
	LIST_REMOVE(runner, in_all);
	close(runner->watch.fd);
	free(runner);
}

/* A runner says hello once; its holder then keeps the connection, to see us die. */
static void runner_ready(struct watch *watch, uint32_t events)
{
	int listener, mailbox, ret;

	(void)events;
	ret = link_receive_hello(watch->fd, &listener, &mailbox);
	if (ret) {
		if (ret != ECONNRESET)
			log_error("a runner that cannot be understood: %s", strerror(ret));
		runner_close((struct runner *)watch);
		stop_if_unused();
		return;
	}
	ret = listener_add(listener, mailbox, watch->fd);
	close(mailbox);
	if (ret)
		close(listener);
	link_send_answer(watch->fd, ret);
}

int runner_add(int fd)
{
	struct runner *runner = calloc(1, sizeof(*runner));
	int ret;

	if (!runner)
		return ENOMEM;
	runner->watch = (struct watch){ fd, runner_ready };
	ret = watch_add(&runner->watch, EPOLLIN);
	if (ret) {
		free(runner);
		return ret;
	}
	LIST_INSERT_HEAD(&runners, runner, in_all);
	return 0;
}

void runners_close(void)
{
	while (!LIST_EMPTY(&runners))
		runner_close(LIST_FIRST(&runners));
}

void runners_tell_holders(void)
{
	struct listener *listener;

	LIST_FOREACH(listener, &listeners, in_all)
		listener->mailbox->told = 1;
}

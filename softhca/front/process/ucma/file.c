/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * file.c - files of /dev/infiniband/rdma_cm: opening, closing, and ids that move between them.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "softhca/front/process/client.h"
#include "softhca/front/process/fd_number.h"
#include "softhca/front/process/node.h"
#include "softhca/front/process/program/caller.h"
#include "softhca/front/process/ucma/ucma.h"
#include "softhca/log.h"

static LIST_HEAD(, ucma_file) files = LIST_HEAD_INITIALIZER(files);

/* Destroys the file with its ids. Destroying the ids frees their events, which are all in this
 * file. */
static void file_close(struct ucma_file *file)
{
	struct ucma_waiter *waiter;
	struct ucma_id *id;

	file->byte_count = 0; /* nobody reads the pipe any more, so no bytes need be taken back */
	while ((id = LIST_FIRST(&file->ids)))
		ucma_id_destroy(id);
	while ((waiter = STAILQ_FIRST(&file->waiters))) {
		STAILQ_REMOVE_HEAD(&file->waiters, entry);
		call_deferred_forget(&waiter->call);
		free(waiter);
	}
	LIST_REMOVE(file, in_all);
	watch_remove(&file->watch);
	close(file->watch.fd);
	client_put(file->opener);
	free(file);
}

/* Closes the file when all reading ends of the pipe are closed: then the program and all processes
 * that it has forked have closed their descriptors. */
static void file_ready(struct watch *watch, uint32_t events)
{
	if (events & (EPOLLERR | EPOLLHUP))
		file_close((struct ucma_file *)watch);
}

static int file_new(struct call *call, int flags, struct ucma_file **out, int *reader)
{
	struct ucma_file *file = calloc(1, sizeof(*file));
	struct client *opener;
	struct stat st;
	int fd[2], ret;

	if (!file)
		return ENOMEM;
	ret = caller_client(call, &opener);
	if (ret)
		goto free_file;
	if (pipe2(fd, O_CLOEXEC) || fstat(fd[0], &st) || fcntl(fd[0], F_SETFL, flags) ||
	    fcntl(fd[1], F_SETFL, O_NONBLOCK)) {
		ret = errno;
		goto put_opener;
	}
	*file = (struct ucma_file){ .watch = { fd[1], file_ready },
				    .daemon = call->daemon,
				    .opener = opener,
				    .credentials = credentials_of(opener, call->tid),
				    .dev = st.st_dev,
				    .ino = st.st_ino };
	LIST_INIT(&file->ids);
	STAILQ_INIT(&file->events);
	STAILQ_INIT(&file->waiters);
	ret = watch_add(&file->watch, 0);
	if (ret)
		goto close_pipe;
	LIST_INSERT_HEAD(&files, file, in_all);
	*reader = fd[0];
	*out = file;
	return 0;
close_pipe:
	close(fd[0]);
	close(fd[1]);
put_opener:
	client_put(opener);
free_file:
	free(file);
	return ret;
}

static void device_open(struct call *call, unsigned int index, uint64_t flags)
{
	struct ucma_file *file;
	int fd = -1, number;
	int ret = fd_number_pick(call->tid, &number);

	(void)index;
	if (!ret)
		ret = file_new(call, flags & O_NONBLOCK, &file, &fd);
	if (ret) {
		call_fail(call, ret);
		return;
	}
	log_note("rdma_cm: opened by thread %d", call->tid);
	fd_number_return(call, fd, flags & O_CLOEXEC, number);
	close(fd);
}

struct ucma_file *ucma_file_find(const struct stat *st)
{
	struct ucma_file *file;

	LIST_FOREACH(file, &files, in_all)
		if (file->ino == st->st_ino && file->dev == st->st_dev)
			return file;
	return NULL;
}

static bool device_exists(const struct daemon *daemon, unsigned int index)
{
	(void)daemon;
	return !index;
}

static int device_of_file(const struct stat *st)
{
	return ucma_file_find(st) ? 0 : -1;
}

void ucma_start(void)
{
	static struct node_kind kind = {
		.path = "/dev/infiniband/rdma_cm",
		.is_single = true,
		.major = UCMA_MISC_MAJOR,
		.first_minor = UCMA_MISC_MINOR,
		.exists = device_exists,
		.open = device_open,
		.find = device_of_file,
	};

	node_register(&kind);
}

void ucma_stop(void)
{
	struct ucma_file *file;

	while ((file = LIST_FIRST(&files)))
		file_close(file);
}

static int file_of_descriptor(struct ucma_call *uc, int fd, struct ucma_file **file)
{
	struct stat st;

	if (client_fd_stat(uc->call->tid, fd, &st))
		return ENOENT;
	*file = ucma_file_find(&st);
	return *file ? 0 : EINVAL;
}

int ucma_id_migrate(struct ucma_call *uc)
{
	struct rdma_ucm_migrate_resp resp;
	struct ucma_id *id = ucma_id_of_number(uc->migrate_id.id);
	struct ucma_file *from;
	int ret = file_of_descriptor(uc, (int)uc->migrate_id.fd, &from);

	if (ret)
		return ret;
	if (uc->hdr.out < sizeof(resp))
		return ENOSPC;
	if (!id)
		return ENOENT;
	if (id->file != from)
		return EINVAL;
	resp.events_reported = id->events_reported;
	if (from != uc->file)
		ret = ucma_events_move(id, uc->file);
	if (ret)
		return ret;
	return ucma_respond(uc, uc->migrate_id.response, &resp, sizeof(resp));
}

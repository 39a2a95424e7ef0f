/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * closed.c - cm-closed: closes all descriptors, as servers do at their start, and opens files that
 * get the same numbers. librdmacm keeps contexts from one id to the next; here it must open its
 * devices again, and must not use the program's files.
 *
 * Covers: librdmacm/device.c
 */
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/cm/cm.h"
#include "tests/lib/topics.h"

enum { CONTEXT_FDS = 2 };

/* Binds an id, which makes the library open a device. */
static struct rdma_cm_id *bound_id(void)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();
	struct sockaddr_in addr = { .sin_family = AF_INET,
				    .sin_addr = { htonl(0xc6120001) } }; /* 198.18.0.1 */
	struct rdma_cm_id *id;

	MUST(channel && !rdma_create_id(channel, &id, NULL, RDMA_PS_TCP));
	MUST(!rdma_bind_addr(id, (struct sockaddr *)&addr) && id->verbs);
	return id;
}

/* Binds an id and destroys it. FDS receives the descriptors of the context that the library
 * keeps. */
static void bind_an_id(int fds[CONTEXT_FDS])
{
	struct rdma_cm_id *id = bound_id();
	struct rdma_event_channel *channel = id->channel;

	fds[0] = id->verbs->cmd_fd;
	fds[1] = id->verbs->async_fd;
	MUST(!rdma_destroy_id(id));
	rdma_destroy_event_channel(channel);
}

static void connects(const char *when)
{
	struct cm_pair pair;

	cm_pair_connect(&pair);
	say_check(pair.client->verbs && pair.server->verbs, "connected %s", when);
	cm_pair_close(&pair);
}

static ino_t inode_of(int fd)
{
	struct stat st;

	MUST(!fstat(fd, &st));
	return st.st_ino;
}

static void closed(void)
{
	int fds[CONTEXT_FDS];

	bind_an_id(fds);
	closefrom(STDERR_FILENO + 1);
	connects("with no descriptor of before");
}

static void reused(void)
{
	int fds[CONTEXT_FDS], file;

	bind_an_id(fds);
	closefrom(STDERR_FILENO + 1);
	file = memfd_create("of the program", 0);
	MUST(file >= 0);
	for (int i = 0; i < CONTEXT_FDS; i++)
		MUST(dup2(file, fds[i]) == fds[i]);
	connects("beside files that have the numbers");
	for (int i = 0; i < CONTEXT_FDS; i++)
		say_check(inode_of(fds[i]) == inode_of(file), "file %d is the program's", i);
}

/* The program opens a context that gets the number and the inode that the library's context had: a
 * comparison of both would not notice the change. */
static void opened(void)
{
	struct ibv_device **list;
	struct ibv_context *own;
	int fds[CONTEXT_FDS];
	struct ibv_pd *pd;

	bind_an_id(fds);
	closefrom(STDERR_FILENO + 1);
	list = ibv_get_device_list(NULL);
	MUST(list && list[0]);
	own = ibv_open_device(list[0]);
	MUST(own && (own->cmd_fd == fds[0] || dup2(own->cmd_fd, fds[0]) == fds[0]));
	connects("beside a context of the program that has the number");
	pd = ibv_alloc_pd(own);
	say_check(pd && !ibv_dealloc_pd(pd), "the program's context is as before");
	MUST(!ibv_close_device(own));
	ibv_free_device_list(list);
}

/* An id whose descriptors were closed cannot be destroyed, so its device stays in use. */
static void id_is_left(void)
{
	static struct rdma_cm_id *volatile id; /* static, so that leak checkers reach it */

	id = bound_id();
	closefrom(STDERR_FILENO + 1);
	connects("beside an id of before");
	say_check(id->verbs != NULL, "the id of before is there");
}

static const struct topic topics[] = {
	{ "closed", closed },
	{ "reused", reused },
	{ "opened", opened },
	{ "left", id_is_left },
};

int main(int argc, char **argv)
{
	return topics_main(topics, ARRAY_SIZE(topics), argc, argv);
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * closed.c - cm-closed: a program closes all descriptors, as servers do before they begin, and has
 * their numbers for files of its own: librdmacm, which keeps contexts between ids, opens devices
 * anew, and leaves the program's files alone.
 *
 * Covers: librdmacm/device.c
 */
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/cm/cm.h"
#include "tests/lib/topics.h"

enum { CONTEXT_FDS = 2 };

/* Binds an id, which has the library open a device, and destroys it. FDS are the context's. */
static void bind_an_id(int fds[CONTEXT_FDS])
{
	struct rdma_event_channel *channel = rdma_create_event_channel();
	struct sockaddr_in addr = { .sin_family = AF_INET,
				    .sin_addr = { htonl(0xc6120001) } }; /* 198.18.0.1 */
	struct rdma_cm_id *id;

	MUST(channel && !rdma_create_id(channel, &id, NULL, RDMA_PS_TCP));
	MUST(!rdma_bind_addr(id, (struct sockaddr *)&addr) && id->verbs);
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

static const struct topic topics[] = {
	{ "closed", closed },
	{ "reused", reused },
};

int main(int argc, char **argv)
{
	return topics_main(topics, ARRAY_SIZE(topics), argc, argv);
}

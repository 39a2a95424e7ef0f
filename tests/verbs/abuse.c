/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * abuse.c - what a client of a shared adapter could do to the memory that it shares with it.
 *
 * abuse file: as a program with an open device, make the device file shorter. The kernel's is no
 * file of bytes, so it must be refused; calls go on.
 * abuse memory SOCKET: as a program's starter, try to write to, map or shorten what the adapter
 * hands out, whose contents it believes.
 * abuse former SOCKET: as a starter that brings the memory itself, which has no bytes in it.
 * abuse listener SOCKET: as a starter whose listener is none: the adapter lets go of it.
 *
 * Status 0: it was refused; whether the adapter is still there is for run-abuse to see.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include <infiniband/verbs.h>

#include "softhca/front/process/link.h"
#include "util/bits.h"

enum { WAIT_MS = 20000, PAGE = 4096, FORMER_VERSION = 2 };

static int failed;

static void abuse_expect(bool is_so, const char *what)
{
	printf("%s: %s\n", what, is_so ? "so" : "NOT SO");
	failed |= !is_so;
}

/* ---- the device file ---- */

static int abuse_file(const char *unused)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *ctx = list && *list ? ibv_open_device(*list) : NULL;
	struct ibv_cq *cq;
	struct ibv_pd *pd;

	(void)unused;
	if (list)
		ibv_free_device_list(list);
	if (!ctx) {
		printf("no device\n");
		return 1;
	}
	/* Doorbells are in pages that exist from the first queue on. */
	pd = ibv_alloc_pd(ctx);
	cq = ibv_create_cq(ctx, 16, NULL, NULL, 0);
	abuse_expect(pd && cq, "objects are made");
	abuse_expect(ftruncate(ctx->cmd_fd, 0) && (errno == EPERM || errno == EINVAL),
		     "the device file cannot be made shorter");
	abuse_expect(cq && !ibv_req_notify_cq(cq, 0), "a doorbell is rung");
	abuse_expect(cq && !ibv_destroy_cq(cq) && pd && !ibv_dealloc_pd(pd),
		     "the objects can be destroyed");
	ibv_close_device(ctx);
	return failed;
}

/* ---- the adapter's memory ---- */

static int server_connect(const char *path)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	snprintf(addr.sun_path, sizeof(addr.sun_path), "%s", path);
	if (fd < 0 || connect(fd, (struct sockaddr *)&addr, sizeof(addr))) {
		perror(path);
		return -1;
	}
	return fd;
}

/* The function returns the listener of a filter of this process, which traps no call; -1: none. */
static int quiet_listener(void)
{
	struct sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	struct sock_fprog program = { 1, &allow };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return -1;
	return syscall(__NR_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER,
		       &program);
}

/* The descriptor is sent in place of a listener. */
static int quiet_pipe(int ends[2])
{
	return pipe2(ends, O_CLOEXEC) ? errno : 0;
}

static int abuse_memory(const char *path)
{
	int link = server_connect(path), memory = -1, listener = quiet_listener();

	if (link < 0 || listener < 0 || link_send_hello(link, listener))
		return 1;
	abuse_expect(!link_receive_welcome(link, &memory), "the adapter hands out memory");
	if (memory < 0)
		return 1;
	abuse_expect(mmap(NULL, PAGE, PROT_READ, MAP_SHARED, memory, 0) != MAP_FAILED,
		     "it can be read");
	abuse_expect(mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0) == MAP_FAILED,
		     "it cannot be mapped for writing");
	abuse_expect(pwrite(memory, "\377", 1, 0) < 0, "it cannot be written");
	abuse_expect(ftruncate(memory, 0) < 0, "it cannot be made shorter");
	abuse_expect(fallocate(memory, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, PAGE) < 0,
		     "no hole can be made in it");
	return failed;
}

/* As starters said hello when they brought the memory. */
static int hello_with_memory(int link, int listener, int memory)
{
	struct link_hello hello = { LINK_MAGIC, FORMER_VERSION };
	struct iovec iov = { &hello, sizeof(hello) };
	int fds[] = { listener, memory };
	union {
		struct cmsghdr align;
		char room[CMSG_SPACE(sizeof(fds))];
	} control = { 0 };
	struct msghdr msg = { .msg_iov = &iov,
			      .msg_iovlen = 1,
			      .msg_control = &control,
			      .msg_controllen = sizeof(control) };
	struct cmsghdr *cmsg = CMSG_FIRSTHDR(&msg);

	cmsg->cmsg_level = SOL_SOCKET;
	cmsg->cmsg_type = SCM_RIGHTS;
	cmsg->cmsg_len = CMSG_LEN(sizeof(fds));
	memcpy(CMSG_DATA(cmsg), fds, sizeof(fds));
	return sendmsg(link, &msg, MSG_NOSIGNAL) < 0 ? errno : 0;
}

/* The other end is closed, or has an answer that is an error. */
static bool is_refused(int link)
{
	struct pollfd pfd = { .fd = link, .events = POLLIN };
	uint32_t value = 0;

	if (poll(&pfd, 1, WAIT_MS) != 1)
		return false;
	return recv(link, &value, sizeof(value), 0) <= 0 || value;
}

static int abuse_former(const char *path)
{
	int link = server_connect(path), memory = memfd_create("empty", MFD_CLOEXEC), ends[2];

	if (link < 0 || memory < 0 || quiet_pipe(ends) || hello_with_memory(link, ends[0], memory))
		return 1;
	abuse_expect(is_refused(link), "memory of the client's own is refused");
	return failed;
}

/* ---- a listener that is none ---- */

/* There always is something to read, and never a call. */
static int abuse_listener(const char *path)
{
	int link = server_connect(path), memory = -1, ends[2];
	struct pollfd pfd;

	if (link < 0 || quiet_pipe(ends) || write(ends[1], "", 1) != 1 ||
	    link_send_hello(link, ends[0]))
		return 1;
	abuse_expect(link_receive_welcome(link, &memory) == EPROTO, "it is refused");
	close(ends[0]);
	pfd = (struct pollfd){ .fd = ends[1] }; /* POLLERR: nobody can read any more */
	abuse_expect(poll(&pfd, 1, WAIT_MS) == 1, "the adapter has let go of what is no listener");
	return failed;
}

static const struct {
	const char *name;
	int (*run)(const char *path);
} abuses[] = {
	{ "file", abuse_file },
	{ "memory", abuse_memory },
	{ "former", abuse_former },
	{ "listener", abuse_listener },
};

int main(int argc, char **argv)
{
	for (unsigned int i = 0; argc > 1 && i < ARRAY_SIZE(abuses); i++)
		if (!strcmp(argv[1], abuses[i].name))
			return abuses[i].run(argc > 2 ? argv[2] : "");
	fprintf(stderr, "usage: abuse file | memory SOCKET | former SOCKET | listener SOCKET\n");
	return 2;
}

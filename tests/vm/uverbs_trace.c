/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * uverbs_trace.c - which uverbs ioctls a program makes, and what they come to.
 *
 * uverbs-trace FILE PROGRAM [ARGUMENT]...: runs PROGRAM, and all it starts, under ptrace and
 * appends to FILE one line for each RDMA_VERBS_IOCTL: object and method, the command of an
 * INVOKE_WRITE, each attribute with its length, "!" where it is mandatory and "=" where the kernel
 * has answered it, and the result. Numbers that differ from run to run (handles, addresses) are
 * left out, so that the sets of lines of two kernels, or of a kernel and softhca, can be compared.
 * Ends as PROGRAM does.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/ptrace.h>

#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/rdma_user_ioctl_cmds.h>

#include "tests/lib/kernel/uverbs_request.h"

enum { MAX_ATTRS = 64, MAX_THREADS = 256 };

struct request {
	struct uverbs_request_header hdr;
	struct ib_uverbs_attr attr[MAX_ATTRS];
};

struct thread {
	pid_t tid;
	uint64_t addr; /* of its request, 0: it is in another call */
	struct request request;
};

static struct thread threads[MAX_THREADS];
static FILE *out;

static struct thread *thread_of(pid_t tid)
{
	struct thread *unused = NULL;

	for (unsigned int i = 0; i < MAX_THREADS; i++) {
		if (threads[i].tid == tid)
			return &threads[i];
		if (!threads[i].tid && !unused)
			unused = &threads[i];
	}
	if (unused)
		unused->tid = tid;
	return unused;
}

static void thread_forget(pid_t tid)
{
	struct thread *thread = thread_of(tid);

	if (thread)
		memset(thread, 0, sizeof(*thread));
}

static int read_memory(pid_t tid, uint64_t addr, void *buf, size_t len)
{
	struct iovec local = { buf, len }, remote = { (void *)(uintptr_t)addr, len };

	return process_vm_readv(tid, &local, 1, &remote, 1, 0) == (ssize_t)len ? 0 : EFAULT;
}

static int read_request(pid_t tid, uint64_t addr, struct request *request)
{
	int ret = read_memory(tid, addr, &request->hdr, sizeof(request->hdr));

	if (ret || request->hdr.num_attrs > MAX_ATTRS)
		return EFAULT;
	return read_memory(tid, addr + sizeof(request->hdr), request->attr,
			   request->hdr.num_attrs * sizeof(request->attr[0]));
}

static int by_id(const void *a, const void *b)
{
	const struct ib_uverbs_attr *x = a, *y = b;

	return x->attr_id - y->attr_id;
}

static bool is_write_command(const struct uverbs_request_header *hdr)
{
	return hdr->object_id == UVERBS_OBJECT_DEVICE &&
	       hdr->method_id == UVERBS_METHOD_INVOKE_WRITE;
}

static void print_request(struct request *request, int64_t result)
{
	const struct uverbs_request_header *hdr = &request->hdr;

	qsort(request->attr, hdr->num_attrs, sizeof(request->attr[0]), by_id);
	fprintf(out, "object %x method %x", hdr->object_id, hdr->method_id);
	for (unsigned int i = 0; i < hdr->num_attrs; i++)
		if (is_write_command(hdr) && request->attr[i].attr_id == UVERBS_ATTR_WRITE_CMD)
			fprintf(out, " command %llx", (unsigned long long)request->attr[i].data);
	fprintf(out, ":");
	for (unsigned int i = 0; i < hdr->num_attrs; i++)
		fprintf(out, " %x/%u%s%s", request->attr[i].attr_id, request->attr[i].len,
			request->attr[i].flags & UVERBS_ATTR_F_MANDATORY ? "!" : "",
			request->attr[i].flags & UVERBS_ATTR_F_VALID_OUTPUT ? "=" : "");
	fprintf(out, " -> %s\n", result < 0 ? strerrorname_np((int)-result) : "0");
}

/* What the kernel has answered is in the attributes' flags, at the exit; at the entry, what was
 * asked is noted. */
static void print_exit(struct thread *thread, int64_t result)
{
	struct request after;

	if (!read_request(thread->tid, thread->addr, &after))
		for (unsigned int i = 0; i < thread->request.hdr.num_attrs; i++)
			thread->request.attr[i].flags |=
				after.attr[i].flags & UVERBS_ATTR_F_VALID_OUTPUT;
	print_request(&thread->request, result);
	thread->addr = 0;
}

static void note_call(pid_t tid)
{
	struct thread *thread = thread_of(tid);
	struct ptrace_syscall_info info;

	if (!thread || ptrace(PTRACE_GET_SYSCALL_INFO, tid, sizeof(info), &info) <= 0)
		return;
	if (info.op == PTRACE_SYSCALL_INFO_EXIT && thread->addr) {
		print_exit(thread, info.exit.rval);
	} else if (info.op == PTRACE_SYSCALL_INFO_ENTRY && info.entry.nr == SYS_ioctl &&
		   info.entry.args[1] == RDMA_VERBS_IOCTL &&
		   !read_request(tid, info.entry.args[2], &thread->request)) {
		thread->addr = info.entry.args[2];
	}
}

/* The signal to deliver when the thread goes on. */
static int handle_stop(pid_t tid, int status)
{
	int signal = WSTOPSIG(status);

	if (signal == (SIGTRAP | 0x80)) {
		note_call(tid);
		return 0;
	}
	if (signal == SIGTRAP || (status >> 16) == PTRACE_EVENT_STOP || signal == SIGSTOP)
		return 0;
	return signal;
}

static int trace_all(pid_t program)
{
	int status, result = EXIT_FAILURE;
	pid_t tid;

	while ((tid = waitpid(-1, &status, __WALL)) > 0) {
		if (WIFSTOPPED(status)) {
			ptrace(PTRACE_SYSCALL, tid, 0, handle_stop(tid, status));
			continue;
		}
		thread_forget(tid);
		if (tid == program)
			result = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	}
	return result;
}

static pid_t traced_start(char **argv)
{
	const long options = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK |
			     PTRACE_O_TRACEVFORK;
	pid_t pid = fork();
	int status;

	if (pid)
		return waitpid(pid, &status, 0) == pid &&
				       !ptrace(PTRACE_SETOPTIONS, pid, 0, options) &&
				       !ptrace(PTRACE_SYSCALL, pid, 0, 0)
			       ? pid
			       : -1;
	ptrace(PTRACE_TRACEME, 0, 0, 0);
	raise(SIGSTOP);
	execvp(argv[0], argv);
	perror(argv[0]);
	_exit(127);
}

int main(int argc, char **argv)
{
	pid_t pid;

	if (argc < 3) {
		fprintf(stderr, "usage: uverbs-trace FILE PROGRAM [ARGUMENT]...\n");
		return 2;
	}
	out = fopen(argv[1], "a");
	if (!out) {
		perror(argv[1]);
		return 2;
	}
	pid = traced_start(argv + 2);
	if (pid < 0) {
		fprintf(stderr, "uverbs-trace: cannot trace %s\n", argv[2]);
		return 2;
	}
	return trace_all(pid);
}

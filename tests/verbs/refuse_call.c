/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * refuse_call.c - refuse_call CALL ERRNO PROGRAM ARGUMENT...: runs PROGRAM with one system call
 * refused, as by a container's seccomp profile or an older kernel. tests/verbs/run-starts starts
 * softhca with it.
 *
 * Covers: softhca/front/process/host.c
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static const struct {
	const char *name;
	int number;
} calls[] = {
	{ "clone3", SYS_clone3 },
	{ "memfd_create", SYS_memfd_create },
	{ "pidfd_open", SYS_pidfd_open },
	{ "pidfd_getfd", SYS_pidfd_getfd },
	{ "process_vm_readv", SYS_process_vm_readv },
	{ "process_vm_writev", SYS_process_vm_writev },
	{ "seccomp", SYS_seccomp },
	{ "socketpair", SYS_socketpair },
};

static int number_of(const char *name)
{
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		if (!strcmp(calls[i].name, name))
			return calls[i].number;
	return -1;
}

static int call_refuse(int number, int error)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned int)number, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned int)error),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(filter) / sizeof(filter[0]), filter };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return errno;
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) ? errno : 0;
}

int main(int argc, char **argv)
{
	int number, ret;

	if (argc < 4 || (number = number_of(argv[1])) < 0) {
		fprintf(stderr, "usage: refuse_call CALL ERRNO PROGRAM ARGUMENT...\n");
		return 2;
	}
	ret = call_refuse(number, atoi(argv[2]));
	if (ret) {
		fprintf(stderr, "refuse_call: no filter: %s\n", strerror(ret));
		return 2;
	}
	execvp(argv[3], argv + 3);
	perror(argv[3]);
	return 2;
}

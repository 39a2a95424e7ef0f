/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * memlock.c - log lines of registrations without memory: a line names the limit on locked memory,
 * with pinned and requested sizes, only if the limit is the reason. Each case is a process of its
 * own, as limits stay.
 *
 * Covers: libibverbs/verbs_mr.c, softhca/front/faults.c
 */
#include <fcntl.h>
#include <linux/capability.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "faults.h"

#define REGION (128 << 10)

static uint8_t region[REGION] __attribute__((aligned(4096)));

/* Drops CAP_IPC_LOCK, as it exempts from the limit. */
static void drop_privilege(void)
{
	struct __user_cap_header_struct header = { _LINUX_CAPABILITY_VERSION_3, 0 };
	struct __user_cap_data_struct caps[2];

	MUST(!syscall(SYS_capget, &header, caps));
	caps[0].effective &= ~(1u << CAP_IPC_LOCK);
	MUST(!syscall(SYS_capset, &header, caps));
}

/* Reads the log behind its first SIZE bytes. */
static void read_log(off_t size, char *text, size_t room)
{
	int fd = open(getenv("VERBS_LOG_FILE"), O_RDONLY | O_CLOEXEC);
	ssize_t len;

	MUST(fd >= 0);
	len = pread(fd, text, room - 1, size);
	MUST(len >= 0);
	text[len] = 0;
	close(fd);
}

static off_t log_end(void)
{
	int fd = open(getenv("VERBS_LOG_FILE"), O_RDONLY | O_CLOEXEC);
	off_t end;

	MUST(fd >= 0 && (end = lseek(fd, 0, SEEK_END)) >= 0);
	close(fd);
	return end;
}

static void refuse_region(rlim_t limit, const char *expected)
{
	struct rlimit limits;
	char text[1024];
	struct rig rig;
	struct ibv_pd *pd;
	off_t before = log_end();

	drop_privilege();
	MUST(!getrlimit(RLIMIT_MEMLOCK, &limits));
	limits.rlim_cur = limit;
	MUST(!setrlimit(RLIMIT_MEMLOCK, &limits));
	rig_open(&rig);
	MUST(pd = ibv_alloc_pd(rig.ctx));
	fault_arm_errno(1, ENOMEM);
	errno = 0;
	say_check(!ibv_reg_mr(pd, region, REGION, 0) && errno == ENOMEM, "no memory for a region");
	read_log(before, text, sizeof(text));
	if (!say_check(strstr(text, expected), "the log says: %s", expected))
		say("but: %s", text);
	MUST(!ibv_dealloc_pd(pd));
	rig_close(&rig);
}

static void in_a_child(rlim_t limit, const char *expected)
{
	const int before = say_failures();
	pid_t pid = fork();
	int status;

	MUST(pid >= 0);
	if (!pid) {
		refuse_region(limit, expected);
		exit(say_failures() > before);
	}
	MUST(waitpid(pid, &status, 0) == pid);
	say_check(WIFEXITED(status) && !WEXITSTATUS(status), "a limit of %llu is explained",
		  (unsigned long long)limit);
}

void check_memlock(void)
{
	in_a_child(64 << 10, "131072 more would pass RLIMIT_MEMLOCK, which is 65536");
	in_a_child(1 << 20, "RLIMIT_MEMLOCK is not the reason");
}

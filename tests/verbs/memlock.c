/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * memlock.c - memory that a program registers counts against RLIMIT_MEMLOCK, in pages, unless the
 * program has CAP_IPC_LOCK. The line VmPin of /proc/self/status has the count. Runs on softhca and
 * on a kernel's own drivers.
 *
 * Covers: softhca/front/process/pinned.c, softhca/front/process/program/proc_status.c,
 * softhca/front/process/uverbs/mr.c, libibverbs/cmd/cmd_mr.c
 */
#include <errno.h>
#include <linux/capability.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <infiniband/verbs.h>

#include "tests/lib/rig.h"
#include "tests/lib/say.h"
#include "tests/lib/topics.h"

enum { PAGE = 4096, PAGES = 64, SPARE = 16, LARGE_CQ = 8191 };

static struct rig rig;
static struct ibv_pd *pd;
static uint8_t *memory;

/* Returns the number of pinned pages. */
static unsigned long pinned(void)
{
	FILE *status = fopen("/proc/self/status", "re");
	unsigned long kilobytes = 0;
	char line[128];

	MUST(status);
	while (fgets(line, sizeof(line), status) && sscanf(line, "VmPin: %lu", &kilobytes) != 1)
		;
	fclose(status);
	return kilobytes * 1024 / PAGE;
}

static void say_pinned(unsigned long before, unsigned long pages, const char *what)
{
	unsigned long now = pinned();

	if (!say_check(now - before == pages, "%s: %lu pages are pinned", what, pages))
		say("but: %lu", now - before);
}

static void set_limit(rlim_t bytes)
{
	struct rlimit limit;

	MUST(!getrlimit(RLIMIT_MEMLOCK, &limit));
	limit.rlim_cur = bytes;
	MUST(!setrlimit(RLIMIT_MEMLOCK, &limit));
}

static void drop_privilege(void)
{
	struct __user_cap_header_struct header = { _LINUX_CAPABILITY_VERSION_3, 0 };
	struct __user_cap_data_struct caps[2];

	MUST(!syscall(SYS_capget, &header, caps));
	caps[0].effective &= ~(1u << CAP_IPC_LOCK);
	MUST(!syscall(SYS_capset, &header, caps));
}

/* Runs CASE in a child with a device of its own, as limits and capabilities stay. */
static void in_a_child(void (*run)(void))
{
	int before = say_failures(), status;
	pid_t child;

	fflush(stdout);
	child = fork();
	if (!child) {
		rig_open(&rig);
		MUST(pd = ibv_alloc_pd(rig.ctx));
		memory = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		MUST(memory != MAP_FAILED);
		run();
		MUST(!ibv_dealloc_pd(pd));
		rig_close(&rig);
		fflush(stdout);
		_exit(say_failures() > before);
	}
	MUST(child > 0 && waitpid(child, &status, 0) == child);
	say_check(WIFEXITED(status) && !WEXITSTATUS(status), "the child has found no fault");
}

static struct ibv_mr *reg(size_t from, size_t len)
{
	errno = 0;
	return ibv_reg_mr(pd, memory + from, len, IBV_ACCESS_LOCAL_WRITE);
}

static void count_regions(void)
{
	unsigned long before = pinned();
	struct ibv_mr *a, *b;

	MUST(a = reg(PAGE - 1, 2));
	say_pinned(before, 2, "2 bytes on 2 pages");
	MUST(b = reg(0, 3 * PAGE));
	say_pinned(before, 5, "3 pages more, in part the same");
	MUST(!ibv_dereg_mr(a));
	say_pinned(before, 3, "one region less");
	MUST(!ibv_rereg_mr(b, IBV_REREG_MR_CHANGE_TRANSLATION, NULL, memory, 7 * PAGE, 0));
	say_pinned(before, 7, "a region that was moved");
	MUST(!ibv_rereg_mr(b, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0,
			   IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ));
	say_pinned(before, 7, "a region with other rights");
	MUST(!ibv_dereg_mr(b));
	say_pinned(before, 0, "no region");
}

static pid_t status_pid(void)
{
	FILE *status = fopen("/proc/self/status", "re");
	char line[128];
	int pid = 0;

	MUST(status);
	while (fgets(line, sizeof(line), status) && sscanf(line, "Pid: %d", &pid) != 1)
		;
	fclose(status);
	return pid;
}

static void *thread_status(void *pid)
{
	*(pid_t *)pid = status_pid();
	return NULL;
}

/* The file of the process is the same to each of its threads, as pinned memory counts for the
 * process. */
static void status_in_a_thread(void)
{
	struct ibv_mr *mr = reg(0, PAGE);
	pthread_t thread;
	pid_t pid = 0;

	MUST(mr && !pthread_create(&thread, NULL, thread_status, &pid));
	MUST(!pthread_join(thread, NULL) && !ibv_dereg_mr(mr));
	say_check(pid == getpid(), "a thread reads the status of its process");
}

static void count_on_demand(void)
{
	unsigned long before = pinned();
	struct ibv_mr *mr = ibv_reg_mr(pd, memory, PAGES * PAGE, IBV_ACCESS_ON_DEMAND);

	if (!mr) {
		say("no memory on demand: %s", strerror(errno));
		return;
	}
	say_pinned(before, 0, "memory on demand");
	MUST(!ibv_dereg_mr(mr));
}

/* How large rings are is the provider's choice, so the test only knows that a large CQ has at least
 * 32 bytes for each CQE. */
static void count_queues(void)
{
	struct rig_conf conf = rig_conf_default();
	unsigned long before = pinned(), small, large;
	struct ibv_cq *cq = ibv_create_cq(rig.ctx, 1, NULL, NULL, 0);
	struct ibv_qp *qp;

	MUST(cq);
	small = pinned();
	say_check(small >= before + 2, "a CQ has its ring and its doorbell record pinned");
	MUST(qp = rig_qp_create(pd, &conf, cq));
	say_check(pinned() > small, "a QP has its rings pinned");
	MUST(!ibv_destroy_qp(qp));
	say_pinned(small, 0, "the QP is gone");
	MUST(!ibv_resize_cq(cq, LARGE_CQ));
	large = pinned();
	say_check(large >= small + LARGE_CQ * 32 / PAGE, "a larger CQ has more pinned");
	MUST(!ibv_resize_cq(cq, 1));
	say_pinned(small, 0, "the CQ is as small again");
	MUST(!ibv_destroy_cq(cq));
	say_pinned(before, 0, "the CQ is gone");
}

/* A child that has inherited the device pins memory of its own. */
static void count_heirs(void)
{
	unsigned long before = pinned();
	struct ibv_mr *mr = reg(0, PAGE);
	int status;
	pid_t child;

	MUST(mr);
	fflush(stdout);
	child = fork();
	if (!child) {
		MUST(!pinned() && (mr = reg(0, 5 * PAGE)));
		say_pinned(0, 5, "a child");
		MUST(!ibv_dereg_mr(mr));
		say_pinned(0, 0, "a child without a region");
		fflush(stdout);
		_exit(say_failures() > 0);
	}
	MUST(child > 0 && waitpid(child, &status, 0) == child);
	say_check(WIFEXITED(status) && !WEXITSTATUS(status), "a child counts by itself");
	say_pinned(before, 1, "its parent");
	MUST(!ibv_dereg_mr(mr));
}

static void count_all(void)
{
	in_a_child(count_regions);
	in_a_child(status_in_a_thread);
	in_a_child(count_on_demand);
	in_a_child(count_queues);
	in_a_child(count_heirs);
}

static void refuse_regions(void)
{
	struct ibv_mr *mr[SPARE];

	set_limit((pinned() + SPARE) * PAGE);
	drop_privilege();
	say_check(!reg(0, SPARE * PAGE + 1) && errno == ENOMEM, "a page beyond the limit");
	MUST(mr[0] = reg(0, SPARE * PAGE));
	say_check(!reg(0, 1) && errno == ENOMEM, "a byte beyond the limit");
	MUST(!ibv_dereg_mr(mr[0]));
	for (int i = 0; i < SPARE; i++)
		MUST(mr[i] = reg((size_t)i * PAGE, PAGE));
	say_check(!reg(0, 1) && errno == ENOMEM, "one region too many");
	for (int i = 0; i < SPARE; i++)
		MUST(!ibv_dereg_mr(mr[i]));
}

/* What is refused for another reason has pinned nothing, so nothing may stay counted. */
static void forget_refused(void)
{
	unsigned long before = pinned();
	struct ibv_mr *mr = reg(0, PAGE);

	MUST(mr && !munmap(memory + PAGE, PAGE));
	say_check(!reg(0, 2 * PAGE) && errno == EFAULT, "a page that is not mapped");
	say_pinned(before, 1, "after a refusal");
	MUST(!ibv_dereg_mr(mr));
}

static void refuse_queues(void)
{
	struct ibv_cq *cq = ibv_create_cq(rig.ctx, 1, NULL, NULL, 0);
	struct rig_conf conf = rig_conf_default();

	MUST(cq);
	set_limit(pinned() * PAGE);
	drop_privilege();
	errno = 0;
	say_check(!ibv_create_cq(rig.ctx, LARGE_CQ, NULL, NULL, 0) && errno == ENOMEM,
		  "a CQ beyond the limit");
	say_check(ibv_resize_cq(cq, LARGE_CQ) == ENOMEM, "a larger CQ beyond the limit");
	errno = 0;
	say_check(!rig_qp_create(pd, &conf, cq) && errno == ENOMEM, "a QP beyond the limit");
	MUST(!ibv_destroy_cq(cq));
}

static void refuse_all(void)
{
	set_limit(0);
	drop_privilege();
	say_check(!reg(0, PAGE) && errno == EPERM, "a limit of 0");
}

static void exempt(void)
{
	struct ibv_mr *mr;

	set_limit(PAGE);
	mr = reg(0, 2 * PAGE);
	say_check(mr, "CAP_IPC_LOCK exempts from the limit");
	MUST(mr && !ibv_dereg_mr(mr));
}

static bool is_privileged(void)
{
	struct __user_cap_header_struct header = { _LINUX_CAPABILITY_VERSION_3, 0 };
	struct __user_cap_data_struct caps[2];

	MUST(!syscall(SYS_capget, &header, caps));
	return caps[0].effective >> CAP_IPC_LOCK & 1;
}

static void limit(void)
{
	in_a_child(refuse_regions);
	in_a_child(forget_refused);
	in_a_child(refuse_queues);
	in_a_child(refuse_all);
	if (is_privileged())
		in_a_child(exempt);
}

int main(int argc, char **argv)
{
	static const struct topic topics[] = { { "count", count_all }, { "limit", limit } };

	return topics_main(topics, ARRAY_SIZE(topics), argc, argv);
}

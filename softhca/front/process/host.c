/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * host.c - checks whether the host allows the system calls that softhca needs. Containers and
 * hardened machines refuse some of them, so each is tried once before the first program starts: a
 * later refusal would look like an error of the program. run.c and daemon.c call it.
 */
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "softhca/front/process/host.h"
#include "softhca/front/process/program/page.h"
#include "softhca/front/process/seccomp.h"
#include "softhca/log.h"
#include "util/bits.h"

#define PROFILE                                                                                  \
	"a kernel before Linux 5.14 or the seccomp profile of a container does that; allow the " \
	"call there, or start the container with --security-opt seccomp=unconfined"

static int proc_try(void)
{
	return access("/proc/self/fd", F_OK) ? errno : 0;
}

static int socketpair_try(void)
{
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		return errno;
	close(pair[0]);
	close(pair[1]);
	return 0;
}

static int memfd_try(void)
{
	int fd = memfd_create("softhca", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	return fd < 0 ? errno : close(fd);
}

static int pidfd_open_try(void)
{
	int fd = syscall(SYS_pidfd_open, getpid(), 0);

	return fd < 0 ? errno : close(fd);
}

static int pidfd_getfd_try(void)
{
	int pidfd = syscall(SYS_pidfd_open, getpid(), 0);
	int fd = syscall(SYS_pidfd_getfd, pidfd, pidfd, 0);
	int ret = fd < 0 ? errno : close(fd);

	close(pidfd);
	return ret;
}

static void *thread_main(void *nothing)
{
	return nothing;
}

static int thread_try(void)
{
	pthread_t thread;
	int ret = pthread_create(&thread, NULL, thread_main, NULL);

	return ret ? ret : pthread_join(thread, NULL);
}

/* Checks for another filter with a listener, as a process can have only one: softhca cannot run in
 * softhca. Other refusals are reported when the filter is installed. */
static int filter_try(void)
{
	int listener, status = 0;
	pid_t pid = fork();

	if (pid < 0)
		return errno;
	if (!pid)
		_exit(seccomp_install(false, &listener) == EBUSY);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return WIFEXITED(status) && WEXITSTATUS(status) ? EBUSY : 0;
}

/* Checks in this order, as some need earlier ones. */
static const struct {
	const char *what;
	int (*attempt)(void);
	const char *cure;
} needs[] = {
	{ "/proc is not mounted", proc_try, "mount -t proc proc /proc" },
	{ "socketpair() is refused", socketpair_try, PROFILE },
	{ "memfd_create() is refused", memfd_try, PROFILE },
	{ "pidfd_open() is refused", pidfd_open_try, PROFILE },
	{ "pidfd_getfd() is refused", pidfd_getfd_try, PROFILE },
	{ "no thread can be started, as where clone3() is refused", thread_try,
	  "a limit of processes (ulimit -u) or the seccomp profile of a container does that; "
	  "start the container with --security-opt seccomp=unconfined" },
};

static int filter_check(void)
{
	int ret = filter_try();

	if (ret == EBUSY)
		log_error("this is inside another softhca run: %s; run the program by itself, on "
			  "the adapter that is there",
			  strerror(ret));
	else if (ret)
		log_error("no process can be started: %s", strerror(ret));
	return ret;
}

int host_check(void)
{
	int ret = page_size_check();

	for (size_t i = 0; !ret && i < ARRAY_SIZE(needs); i++) {
		ret = needs[i].attempt();
		if (ret)
			log_error("%s: %s; %s", needs[i].what, strerror(ret), needs[i].cure);
	}
	return ret ? ret : filter_check();
}

int host_check_memory(pid_t pid)
{
	static char word; /* has the same address in PID */
	char copy;
	struct iovec local = { &copy, 1 }, remote = { &word, 1 };
	const char *call = NULL;
	int ret;

	if (process_vm_readv(pid, &local, 1, &remote, 1, 0) != 1)
		call = "process_vm_readv";
	else if (process_vm_writev(pid, &local, 1, &remote, 1, 0) != 1)
		call = "process_vm_writev";
	if (!call)
		return 0;
	ret = errno;
	log_error("the memory of programs cannot be reached, %s() is refused: %s; in a container "
		  "this takes --cap-add SYS_PTRACE, elsewhere see kernel.yama.ptrace_scope",
		  call, strerror(ret));
	return ret;
}

void host_explain_filter(int error)
{
	log_error("system calls cannot be filtered, seccomp() is refused: %s; " PROFILE,
		  strerror(error));
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * caller_test.c - memory access for a trapped call: reaches the caller's memory only, even if the
 * caller has died and another process has its PID.
 *
 * The caller is a child whose getppid() is trapped. Another child gets its PID by clone3() with
 * set_tid, which needs root or a user namespace; else that part is skipped.
 *
 * Covers: softhca/front/process/program/caller.c, softhca/front/process/client.c,
 * softhca/front/process/program/address_space.c
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "softhca/front/process/program/caller.h"
#include "softhca/front/process/client.h"
#include "softhca/front/process/watch.h"
#include "util/bits.h"

static char secret[16] = "of a caller"; /* at the same address in each child */

/* Shared memory in which a child stores the descriptor of its listener, or -1 if the kernel refuses
 * one */
enum { NOT_TOLD = -2 };
static volatile int *child_listener;

static int trap_getppid(void)
{
	struct sock_filter insns[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_getppid, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { ARRAY_SIZE(insns), insns };

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	return syscall(__NR_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER,
		       &program);
}

static pid_t caller_start(void)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	*child_listener = trap_getppid();
	syscall(__NR_getppid);
	for (;;)
		pause();
}

static int listener_of(pid_t pid)
{
	int pidfd = syscall(SYS_pidfd_open, pid, 0), fd;

	while (*child_listener == NOT_TOLD)
		usleep(1000);
	fd = syscall(SYS_pidfd_getfd, pidfd, *child_listener, 0);
	close(pidfd);
	return fd;
}

static struct seccomp_notif notif;

static struct call call_receive(pid_t pid)
{
	struct call call = { .listener = listener_of(pid), .notif = &notif, .tid = pid };

	assert_true(call.listener >= 0);
	memset(&notif, 0, sizeof(notif));
	assert_int_equal(ioctl(call.listener, SECCOMP_IOCTL_NOTIF_RECV, &notif), 0);
	return call;
}

static void process_end(pid_t pid)
{
	assert_true(pid > 1); /* -1 would end every process */
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static int set_up(void **state)
{
	(void)state;
	child_listener = mmap(NULL, sizeof(*child_listener), PROT_READ | PROT_WRITE,
			      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	*child_listener = NOT_TOLD;
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	munmap((void *)(uintptr_t)child_listener, sizeof(*child_listener));
	return 0;
}

static void memory_of_a_caller_is_read_and_written(void **state)
{
	pid_t pid = caller_start();
	struct call call = call_receive(pid);
	char text[sizeof(secret)];
	int copy;

	(void)state;
	assert_true(caller_is_alive(&call));
	assert_int_equal(caller_read(&call, (uintptr_t)secret, text, sizeof(text)), 0);
	assert_string_equal(text, secret);
	assert_int_equal(caller_write(&call, (uintptr_t)secret, "written", 8), 0);
	assert_int_equal(caller_read_string(&call, (uintptr_t)secret, text, sizeof(text)), 0);
	assert_string_equal(text, "written");
	assert_int_equal(caller_read(&call, 0, text, sizeof(text)), EFAULT);
	copy = caller_fd_copy(&call, STDERR_FILENO);
	assert_true(copy >= 0);
	close(copy);
	assert_int_equal(caller_fd_copy(&call, 12345), -1);
	process_end(pid);
	close(call.listener);
}

/* Starts a process with the PID of one that has exited; -1 if that is not allowed. */
static pid_t start_as(pid_t wanted)
{
	struct clone_args args = { .exit_signal = SIGCHLD,
				   .set_tid = (uintptr_t)&wanted,
				   .set_tid_size = 1 };
	pid_t pid = syscall(SYS_clone3, &args, sizeof(args));

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;)
		pause();
}

static void memory_of_another_with_its_number_is_left_alone(void **state)
{
	pid_t pid = caller_start(), other;
	struct call call = call_receive(pid);
	char text[sizeof(secret)];
	int copy;

	(void)state;
	process_end(pid);
	assert_false(caller_is_alive(&call));
	other = start_as(pid);
	if (other < 0) {
		print_message("no process can be given a number here: errno %d\n", errno);
		close(call.listener);
		skip();
	}
	assert_int_equal(other, pid);
	/* The caller lives: its memory can be read and written. */
	assert_int_equal(client_read(pid, (uintptr_t)secret, text, sizeof(text)), 0);
	assert_int_equal(caller_read(&call, (uintptr_t)secret, text, sizeof(text)), EFAULT);
	assert_int_equal(caller_read_string(&call, (uintptr_t)secret, text, sizeof(text)), EFAULT);
	assert_int_equal(caller_write(&call, (uintptr_t)secret, "written", 8), EFAULT);
	assert_int_equal(client_read(pid, (uintptr_t)secret, text, sizeof(text)), 0);
	assert_string_equal(text, secret);
	copy = client_fd_copy(pid, STDERR_FILENO);
	assert_true(copy >= 0);
	close(copy);
	assert_int_equal(caller_fd_copy(&call, STDERR_FILENO), -1);
	process_end(other);
	close(call.listener);
}

int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);
int __wrap_open64(const char *path, int flags, ...);

static bool ends_early;   /* once its memory is open */
static bool is_succeeded; /* by another of its number */
static pid_t successor;   /* of such a process; -1: it has none */

int __wrap_open(const char *path, int flags, ...)
{
	int fd = __real_open(path, flags, 0), pid;

	if (ends_early && sscanf(path, "/proc/%d/mem", &pid) == 1) {
		ends_early = false;
		process_end(pid);
		successor = is_succeeded ? start_as(pid) : -1;
	}
	return fd;
}

int __wrap_open64(const char *path, int flags, ...)
{
	return __wrap_open(path, flags);
}

/* Returns what client_get() answers about a process that ends meanwhile. */
static int get_of_ending(bool succeeded)
{
	struct client *client;
	pid_t pid = caller_start();
	int ret;

	assert_int_equal(watch_start(), 0);
	ends_early = true;
	is_succeeded = succeeded;
	ret = client_get(pid, &client);
	assert_false(ends_early);
	return ret;
}

static void a_process_that_ends_is_no_client(void **state)
{
	(void)state;
	assert_int_equal(get_of_ending(false), ESRCH);
}

/* Else its end would not be seen, as what is watched is another process. */
static void a_process_with_the_number_of_one_that_ends_is_no_client(void **state)
{
	int ret = get_of_ending(true);

	(void)state;
	if (successor < 0) {
		print_message("no process can be given a number here\n");
		skip();
	}
	process_end(successor);
	assert_int_equal(ret, ESRCH);
}

/* The caller has ended, and another process has its number before a client is made. */
static void another_with_its_number_is_no_client(void **state)
{
	pid_t pid = caller_start(), other;
	struct call call = call_receive(pid);
	struct client *client = NULL;

	(void)state;
	assert_int_equal(watch_start(), 0);
	process_end(pid);
	other = start_as(pid);
	if (other < 0) {
		print_message("no process can be given a number here: errno %d\n", errno);
		close(call.listener);
		skip();
	}
	assert_int_equal(caller_client(&call, &client), ESRCH);
	assert_null(client_find(other));
	/* a client of the other process stays */
	assert_int_equal(client_get(other, &client), 0);
	assert_int_equal(caller_client(&call, &client), ESRCH);
	assert_ptr_equal(client_find(other), client);
	assert_int_equal(client->users, 2);
	client_put(client);
	process_end(other);
	close(call.listener);
}

bool __real_space_is_there(const struct address_space *space);
bool __wrap_space_is_there(const struct address_space *space);

static unsigned int looks;

bool __wrap_space_is_there(const struct address_space *space)
{
	looks++;
	return __real_space_is_there(space);
}

/* A second search could find the process gone, and make a client of a later one with its number. */
static void a_known_client_is_searched_once(void **state)
{
	pid_t pid = caller_start();
	struct call call = call_receive(pid);
	struct client *client, *again;

	(void)state;
	assert_int_equal(watch_start(), 0);
	assert_int_equal(caller_client(&call, &client), 0);
	looks = 0;
	assert_int_equal(caller_client(&call, &again), 0);
	assert_ptr_equal(again, client);
	assert_int_equal(client->users, 3);
	assert_int_equal(looks, 1);
	client_put(client);
	client_put(client);
	process_end(pid);
	close(call.listener);
}

static int bytes_transfer(const struct client *client, bool write, char *text)
{
	struct hca_bus_seg seg = { client_bus_addr(client, (uintptr_t)secret), sizeof(secret) };

	return write ? client_bus_ops.write(NULL, &seg, 1, text)
		     : client_bus_ops.read(NULL, &seg, 1, text);
}

/* A client has died, and the adapter has not seen that yet: its writes must not reach the process
 * that has the same PID now. */
static void keys_of_a_dead_client_reach_no_other(void **state)
{
	char text[sizeof(secret)] = "overwritten";
	pid_t pid = caller_start(), other;
	struct client *client, *again;

	(void)state;
	assert_int_equal(watch_start(), 0);
	assert_int_equal(client_get(pid, &client), 0);
	assert_int_equal(bytes_transfer(client, true, text), 0);
	process_end(pid);
	other = start_as(pid);
	if (other < 0) {
		print_message("no process can be given a number here: errno %d\n", errno);
		skip();
	}
	assert_int_not_equal(bytes_transfer(client, true, text), 0);
	assert_int_not_equal(bytes_transfer(client, false, text), 0);
	assert_int_equal(client_read(other, (uintptr_t)secret, text, sizeof(text)), 0);
	assert_string_equal(text, secret);
	assert_false(client_has_thread(client, other));
	assert_int_equal(client_get(other, &again), 0);
	assert_ptr_not_equal(again, client);
	assert_int_not_equal(again->slot, client->slot);
	process_end(other);
	client_put(client);
	client_put(again);
}

int __real_statx(int at, const char *path, int flags, unsigned int mask, struct statx *found);
int __wrap_statx(int at, const char *path, int flags, unsigned int mask, struct statx *found);

static int statx_flags;

int __wrap_statx(int at, const char *path, int flags, unsigned int mask, struct statx *found)
{
	statx_flags = flags;
	return __real_statx(at, path, flags, mask, found);
}

/* A descriptor may be on a file system of the client, such as FUSE, that never answers: asking it
 * would stall all clients. */
static void a_descriptors_file_system_is_not_asked(void **state)
{
	struct stat found, st;
	int ends[2];

	(void)state;
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(client_fd_stat(getpid(), ends[0], &found), 0);
	assert_int_equal(statx_flags & AT_STATX_SYNC_TYPE, AT_STATX_DONT_SYNC);
	assert_int_equal(fstat(ends[0], &st), 0);
	assert_int_equal(found.st_dev, st.st_dev);
	assert_int_equal(found.st_ino, st.st_ino);
	assert_int_equal(found.st_mode, st.st_mode);
	assert_int_equal(found.st_uid, st.st_uid);
	close(ends[0]);
	close(ends[1]);
	assert_int_equal(client_fd_stat(getpid(), ends[0], &found), EBADF);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(memory_of_a_caller_is_read_and_written, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(memory_of_another_with_its_number_is_left_alone,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(keys_of_a_dead_client_reach_no_other, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(a_process_that_ends_is_no_client, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(another_with_its_number_is_no_client, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(a_known_client_is_searched_once, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			a_process_with_the_number_of_one_that_ends_is_no_client, set_up, tear_down),
		cmocka_unit_test(a_descriptors_file_system_is_not_asked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

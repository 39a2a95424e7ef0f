/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * client_test.c - clients: facts about a process and its threads, which process becomes a client,
 * its slot, its end, and the adapter's accesses to its memory. The process is the test itself or a
 * child; its address space is the test's.
 */
#include <linux/capability.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include <cmocka.h>

#include "softhca/front/process/client.c"
#include "util/bits.h"

enum { REFUSED = EDOM, PAGE_ADDR = 0x7000, IDENTITY = 0x1234, CLOSED = 900 };

static struct {
	int open_error, watch_error, range_error, copy_error;
	bool no_account, is_gone;
	unsigned int opens, closes, accounts, watches, errors;
	/* the last access of the adapter */
	uint64_t addr;
	size_t len;
	const uint8_t *buf;
	bool is_write;
	unsigned int copies, ranges;
	bool may_move;
	struct account account;
} it;

/* Checks that nobody holds the lock of the slots. */
static void check_unlocked(void)
{
	assert_int_equal(pthread_rwlock_trywrlock(&slots_lock), 0);
	pthread_rwlock_unlock(&slots_lock);
}

static void check_locked_for_reading(void)
{
	assert_int_equal(pthread_rwlock_trywrlock(&slots_lock), EBUSY);
}

void log_print(enum log_level level, const char *format, ...)
{
	(void)format;
	it.errors += level == LOG_ERROR;
}

int space_open(pid_t pid, pid_t tid, struct address_space *space)
{
	assert_true(pid > 0 && tid > 0);
	space->bytes = 77;
	it.opens += !it.open_error;
	return it.open_error;
}

void space_close(struct address_space *space)
{
	assert_int_equal(space->bytes, 77);
	it.closes++;
}

bool space_is_there(const struct address_space *space)
{
	assert_int_equal(space->bytes, 77);
	return !it.is_gone;
}

static int space_copy(const struct address_space *space, uint64_t addr, const void *buf, size_t len,
		      bool is_write)
{
	assert_int_equal(space->bytes, 77);
	check_locked_for_reading();
	it.copies++;
	it.addr = addr;
	it.len = len;
	it.buf = buf;
	it.is_write = is_write;
	return it.copy_error;
}

int space_read(const struct address_space *space, uint64_t addr, void *buf, size_t len)
{
	return space_copy(space, addr, buf, len, false);
}

int space_write(const struct address_space *space, uint64_t addr, const void *buf, size_t len)
{
	return space_copy(space, addr, buf, len, true);
}

int space_check_range(const struct address_space *space, uint64_t addr, uint64_t len, bool writable)
{
	assert_int_equal(space->bytes, 77);
	it.ranges++;
	it.addr = addr;
	it.len = len;
	it.is_write = writable;
	return it.range_error;
}

uint64_t page_identity(pid_t pid, uint64_t addr)
{
	assert_int_equal(pid, getpid());
	assert_int_equal(addr, PAGE_ADDR);
	return IDENTITY;
}

bool page_may_move(pid_t pid, uint64_t addr)
{
	assert_int_equal(pid, getpid());
	assert_int_equal(addr, PAGE_ADDR);
	return it.may_move;
}

struct account *account_get(unsigned int uid)
{
	if (it.no_account)
		return NULL;
	assert_int_equal(uid, geteuid());
	it.accounts++;
	return &it.account;
}

void account_put(struct account *account)
{
	assert_ptr_equal(account, &it.account);
	it.accounts--;
}

int watch_add(struct watch *watch, uint32_t epoll_events)
{
	assert_true(watch->fd >= 0);
	assert_int_equal(epoll_events, EPOLLIN);
	it.watches += !it.watch_error;
	return it.watch_error;
}

void watch_remove(struct watch *watch)
{
	assert_true(watch->fd >= 0);
	it.watches--;
}

static int lowest_free(void)
{
	int fd = dup(0);

	close(fd);
	return fd;
}

static int descriptors; /* the lowest free one, before a test */

static int client_begin(void **state)
{
	(void)state;
	memset(&it, 0, sizeof(it));
	descriptors = lowest_free();
	return 0;
}

/* Each test ends its clients, and leaves no descriptor open. */
static int client_finish(void **state)
{
	(void)state;
	check_unlocked();
	for (unsigned int slot = 0; slot < MAX_SLOTS; slot++)
		assert_null(slot_client[slot]);
	assert_int_equal(it.accounts, 0);
	assert_int_equal(it.watches, 0);
	assert_int_equal(it.opens, it.closes);
	assert_int_equal(lowest_free(), descriptors);
	return 0;
}

/* Makes a client of this process, with one user beside its memory. */
static struct client *own_client(void)
{
	struct client *client = NULL;

	assert_int_equal(client_get(getpid(), &client), 0);
	return client;
}

static void client_finished(struct client *client)
{
	client->watch.ready(&client->watch, EPOLLIN);
	client_put(client);
}

/* Starts a child that waits for its death. */
static pid_t child_start(void)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;)
		pause();
}

static void child_end(pid_t pid)
{
	assert_true(pid > 1);
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

/* Returns the number of a process that has ended. */
static pid_t ended(void)
{
	pid_t pid = child_start();

	child_end(pid);
	return pid;
}

/* Two pages, of which only the first is mapped. */
static char *page_before_a_gap(void)
{
	char *pages = mmap(NULL, 2 * CLIENT_PAGE, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_ptr_not_equal(pages, MAP_FAILED);
	assert_int_equal(mprotect(pages + CLIENT_PAGE, CLIENT_PAGE, PROT_NONE), 0);
	return pages;
}

static void memory_is_copied_whole_or_not(void **state)
{
	char text[16] = "of a program", *pages = page_before_a_gap();
	const uint64_t end = (uintptr_t)pages + CLIENT_PAGE;

	(void)state;
	assert_int_equal(client_write(getpid(), end - 16, text, 16), 0);
	memset(text, 0, sizeof(text));
	assert_int_equal(client_read(getpid(), end - 16, text, 16), 0);
	assert_string_equal(text, "of a program");
	assert_int_equal(client_read(getpid(), end - 15, text, 16), EFAULT);
	assert_int_equal(client_write(getpid(), end - 15, text, 16), EFAULT);
	assert_int_equal(client_read(getpid(), end, text, 16), EFAULT);
	munmap(pages, 2 * CLIENT_PAGE);
}

static void a_string_may_end_before_a_gap(void **state)
{
	char text[16], *pages = page_before_a_gap(), *end = pages + CLIENT_PAGE;

	(void)state;
	strcpy(end - 5, "last");
	memset(text, 0x55, sizeof(text));
	assert_int_equal(client_read_string(getpid(), (uintptr_t)end - 5, text, sizeof(text)), 0);
	assert_string_equal(text, "last");
	end[-1] = 'x';
	assert_int_equal(client_read_string(getpid(), (uintptr_t)end - 5, text, sizeof(text)),
			 EFAULT);
	assert_int_equal(client_read_string(getpid(), (uintptr_t)end, text, sizeof(text)), EFAULT);
	munmap(pages, 2 * CLIENT_PAGE);
}

static void a_string_that_does_not_fit_is_too_long(void **state)
{
	char text[16], *pages = page_before_a_gap(), *end = pages + CLIENT_PAGE;

	(void)state;
	assert_int_equal(mprotect(end, CLIENT_PAGE, PROT_READ | PROT_WRITE), 0);
	memset(end - 8, 'a', 15);
	end[7] = 0;
	assert_int_equal(client_read_string(getpid(), (uintptr_t)end - 8, text, 16), 0);
	assert_string_equal(text, "aaaaaaaaaaaaaaa");
	text[15] = 'z';
	assert_int_equal(client_read_string(getpid(), (uintptr_t)end - 8, text, 15), ENAMETOOLONG);
	assert_int_equal(text[15], 'z');
	assert_int_equal(client_read_string(getpid(), (uintptr_t)end - 8, text, 8), ENAMETOOLONG);
	munmap(pages, 2 * CLIENT_PAGE);
}

/* Returns how many errors are logged when ERRORS are those of address spaces, one after another. A
 * child counts, as what is said once is said no more. */
static int errors_of(const int *errors, unsigned int count)
{
	struct client *client;
	pid_t pid = fork();
	int status;

	if (!pid) {
		for (unsigned int i = 0; i < count; i++) {
			it.open_error = errors[i];
			if (client_get(getpid(), &client) != errors[i])
				_exit(99);
		}
		_exit((int)it.errors);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void a_refusal_is_explained_once(void **state)
{
	static const int refusals[] = { ENOSYS, EPERM, EACCES, EPERM };

	(void)state;
	assert_int_equal(errors_of((int[]){ ESRCH, ENOENT, EMFILE }, 3), 0);
	for (unsigned int i = 0; i < 3; i++)
		assert_int_equal(errors_of(&refusals[i], 1), 1);
	assert_int_equal(errors_of(refusals, 4), 1);
}

static void directories_have_paths(void **state)
{
	char path[256], cwd[256];
	int ends[2], root = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	(void)state;
	assert_non_null(getcwd(cwd, sizeof(cwd)));
	assert_int_equal(client_dir_path(getpid(), AT_FDCWD, path, sizeof(path)), 0);
	assert_string_equal(path, cwd);
	assert_int_equal(client_dir_path(getpid(), root, path, sizeof(path)), 0);
	assert_string_equal(path, "/");
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(client_dir_path(getpid(), ends[0], path, sizeof(path)), ENOTDIR);
	close(root);
	assert_int_equal(client_dir_path(getpid(), root, path, sizeof(path)), ENOENT);
	memset(path, 'z', sizeof(path));
	assert_int_equal(client_dir_path(getpid(), AT_FDCWD, path, 4), 0);
	assert_memory_equal(path, cwd, 3);
	assert_int_equal(path[3], 0);
	assert_int_equal(path[4], 'z');
	close(ends[0]);
	close(ends[1]);
}

static void a_descriptor_is_copied_while_it_is_the_file(void **state)
{
	int ends[2], copy;
	struct stat st, of;

	(void)state;
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(fstat(ends[0], &st), 0);
	copy = client_fd_copy(getpid(), ends[0]);
	assert_true(copy >= 0);
	assert_int_equal(fstat(copy, &of), 0);
	assert_int_equal(of.st_ino, st.st_ino);
	close(copy);
	copy = client_fd_copy_of(getpid(), ends[0], st.st_dev, st.st_ino);
	assert_true(copy >= 0);
	close(copy);
	assert_int_equal(client_fd_copy_of(getpid(), ends[0], st.st_dev, st.st_ino + 1), -1);
	assert_int_equal(client_fd_copy_of(getpid(), ends[0], st.st_dev + 1, st.st_ino), -1);
	close(ends[0]);
	close(ends[1]);
	assert_int_equal(client_fd_copy(getpid(), CLOSED), -1);
	assert_int_equal(client_fd_copy_of(getpid(), CLOSED, st.st_dev, st.st_ino), -1);
	assert_int_equal(client_fd_copy(ended(), 0), -1);
}

static void a_descriptor_has_a_status(void **state)
{
	struct stat st, of;
	int ends[2];

	(void)state;
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(fstat(ends[0], &st), 0);
	memset(&of, 0xee, sizeof(of));
	assert_int_equal(client_fd_stat(getpid(), ends[0], &of), 0);
	assert_int_equal(of.st_ino, st.st_ino);
	assert_int_equal(of.st_dev, st.st_dev);
	assert_int_equal(of.st_mode, st.st_mode);
	assert_int_equal(of.st_uid, st.st_uid);
	assert_int_equal(of.st_nlink, st.st_nlink);
	assert_int_equal(client_fd_stat(getpid(), CLOSED, &of), EBADF);
	assert_int_equal(client_fd_stat(ended(), 0, &of), EBADF);
	close(ends[0]);
	close(ends[1]);
}

/* Only root can have another user id in effect. */
static void the_id_in_effect_counts(void **state)
{
	enum { NOBODY = 65534 };

	(void)state;
	if (geteuid())
		return;
	assert_int_equal(seteuid(NOBODY), 0);
	assert_int_equal(client_thread_uid(getpid()), NOBODY);
	assert_int_equal(seteuid(0), 0);
	assert_int_equal(client_thread_uid(getpid()), 0);
}

static void ids_are_of_their_kind(void **state)
{
	unsigned int ids[3] = { 0 };
	uid_t uid[3];
	gid_t gid[3];

	(void)state;
	assert_int_equal(getresuid(&uid[0], &uid[1], &uid[2]), 0);
	assert_int_equal(getresgid(&gid[0], &gid[1], &gid[2]), 0);
	assert_true(client_thread_ids(getpid(), "Uid", ids));
	for (unsigned int i = 0; i < 3; i++)
		assert_int_equal(ids[i], uid[i]);
	assert_true(client_thread_ids(getpid(), "Gid", ids));
	for (unsigned int i = 0; i < 3; i++)
		assert_int_equal(ids[i], gid[i]);
	assert_false(client_thread_ids(getpid(), "Ui", ids));
	assert_false(client_thread_ids(getpid(), "Name", ids));
	assert_false(client_thread_ids(ended(), "Uid", ids));
	assert_int_equal(client_thread_uid(getpid()), geteuid());
	assert_int_equal(client_thread_uid(ended()), UID_UNKNOWN);
}

static void a_thread_has_a_start_time(void **state)
{
	char line[512], *at;
	FILE *stat = fopen("/proc/self/stat", "re");
	unsigned long long start;

	(void)state;
	assert_non_null(fgets(line, sizeof(line), stat));
	fclose(stat);
	at = strchr(line, ' ');
	for (unsigned int field = 2; field < 22; field++)
		at = strchr(at + 1, ' ');
	start = strtoull(at, NULL, 10);
	assert_true(start);
	assert_int_equal(client_thread_start(getpid()), start);
	prctl(PR_SET_NAME, "a) 1 2 (b");
	assert_int_equal(client_thread_start(getpid()), start);
	assert_int_equal(client_thread_start(ended()), 0);
	assert_true(client_thread_is_there(getpid()));
	assert_true(client_thread_is_there(1)); /* even if it may not be signalled */
	assert_false(client_thread_is_there(ended()));
}

static void capabilities_are_those_in_effect(void **state)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2];

	(void)state;
	assert_int_equal(syscall(SYS_capget, &header, data), 0);
	for (unsigned int i = 0; i < 64; i++)
		assert_int_equal(client_may(getpid(), i), data[i / 32].effective >> i % 32 & 1);
	assert_false(client_may(ended(), CLIENT_CAP_NET_RAW));
}

/* In its own user namespace a process has all capabilities. */
static void capabilities_of_another_namespace_do_not_count(void **state)
{
	int ends[2];
	char said = 'n';
	pid_t pid;

	(void)state;
	assert_int_equal(pipe(ends), 0);
	pid = fork();
	if (!pid) {
		said = unshare(CLONE_NEWUSER) ? 'n' : 'y';
		while (write(ends[1], &said, 1) < 0)
			;
		for (;;)
			pause();
	}
	assert_int_equal(read(ends[0], &said, 1), 1);
	if (said == 'y')
		assert_false(client_may(pid, CLIENT_CAP_NET_RAW));
	child_end(pid);
	close(ends[0]);
	close(ends[1]);
}

static void a_process_becomes_one_client(void **state)
{
	struct client *client = own_client(), *again = NULL;

	(void)state;
	assert_int_equal(client->pid, getpid());
	assert_int_equal(client->users, 2);
	assert_ptr_equal(client->account, &it.account);
	assert_ptr_equal(client->pinning.client, client);
	assert_ptr_equal(slot_client[client->slot], client);
	assert_true(client_bus_addr(client, PAGE_ADDR) ==
		    ((uint64_t)client->slot << 48 | PAGE_ADDR));
	assert_int_equal(client_get(getpid(), &again), 0);
	assert_ptr_equal(again, client);
	assert_int_equal(client->users, 3);
	assert_int_equal(it.opens, 1);
	client_keep(client);
	assert_int_equal(client->users, 4);
	client_put(client);
	client_put(client);
	client_finished(client);
}

static void a_process_that_is_not_there_is_no_client(void **state)
{
	struct client *client = NULL;
	pid_t pid = child_start();
	siginfo_t info;

	(void)state;
	kill(pid, SIGKILL);
	assert_int_equal(waitid(P_PID, pid, &info, WEXITED | WNOWAIT), 0);
	assert_int_equal(client_get(pid, &client), ESRCH); /* its parent has not asked for it */
	it.open_error = REFUSED;
	assert_int_equal(client_get(pid, &client), ESRCH);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	it.open_error = 0;
	assert_int_equal(client_get(pid, &client), ESRCH);
	assert_null(client);
	assert_int_equal(it.opens, 1);
}

static void a_client_that_cannot_be_made_leaves_nothing(void **state)
{
	struct client *client = NULL;

	(void)state;
	it.open_error = REFUSED;
	assert_int_equal(client_get(getpid(), &client), REFUSED);
	it.open_error = 0;
	it.watch_error = EMFILE;
	assert_int_equal(client_get(getpid(), &client), EMFILE);
	it.watch_error = 0;
	it.no_account = true;
	assert_int_equal(client_get(getpid(), &client), ENOMEM);
	assert_null(client);
}

static void slots_are_used_in_turn(void **state)
{
	struct client other = { .pid = -5 }, *client = NULL;

	(void)state;
	for (unsigned int i = 1; i < MAX_SLOTS; i++)
		slot_client[i] = &other;
	assert_int_equal(client_get(getpid(), &client), ENOSPC);
	for (unsigned int slot = 1; slot < MAX_SLOTS; slot += MAX_SLOTS - 2) {
		slot_client[slot] = NULL;
		client = own_client();
		assert_int_equal(client->slot, slot);
		client_finished(client);
		slot_client[slot] = &other;
	}
	memset(slot_client, 0, sizeof(slot_client));
	client = own_client();
	assert_int_equal(client->slot, 1); /* after the last one */
	client_finished(client);
	client = own_client();
	assert_int_equal(client->slot, 2); /* the first one is free, but was used last */
	client_finished(client);
}

static void a_client_ends_with_its_process(void **state)
{
	struct client *client = own_client();
	const int fd = client->watch.fd;

	(void)state;
	client->watch.ready(&client->watch, EPOLLIN);
	assert_true(client->dead);
	assert_int_equal(client->users, 1);
	assert_int_equal(it.closes, 1);
	assert_int_equal(it.watches, 0);
	assert_int_equal(fcntl(fd, F_GETFD), -1);
	assert_null(client_find(getpid()));
	assert_ptr_equal(slot_client[client->slot], client); /* until its last user is gone */
	client_put(client);
}

static void a_client_ends_by_an_exec(void **state)
{
	struct client *client = own_client();

	(void)state;
	assert_ptr_equal(client_find(getpid()), client);
	it.is_gone = true;
	assert_null(client_find(getpid()));
	assert_true(client->dead);
	assert_int_equal(client->users, 1);
	client_put(client);
}

static void a_forgotten_client_ends(void **state)
{
	struct client *client = own_client();

	(void)state;
	client_keep(client);
	client_forget(client);
	assert_true(client->dead);
	assert_int_equal(client->users, 1);
	client_put(client);
}

static void changes_of_credentials_go_with_the_client(void **state)
{
	struct client *client = own_client();

	(void)state;
	for (unsigned int i = 0; i < 2; i++) {
		struct credentials_change *change = calloc(1, sizeof(*change));

		LIST_INSERT_HEAD(&client->changes, change, entry);
	}
	client_finished(client);
}

static struct {
	pid_t tid;
	pthread_barrier_t barrier;
} thread;

static void *thread_main(void *unused)
{
	thread.tid = (pid_t)syscall(SYS_gettid);
	pthread_barrier_wait(&thread.barrier); /* its number is known */
	pthread_barrier_wait(&thread.barrier); /* it may end */
	return unused;
}

static void threads_are_of_their_process(void **state)
{
	struct client *client = NULL;
	pid_t child = child_start();
	pthread_t other;

	(void)state;
	pthread_barrier_init(&thread.barrier, NULL, 2);
	assert_int_equal(pthread_create(&other, NULL, thread_main, NULL), 0);
	pthread_barrier_wait(&thread.barrier);
	assert_int_equal(client_get(thread.tid, &client), 0);
	assert_int_equal(client->pid, getpid());
	assert_int_equal(process_of(thread.tid), getpid());
	assert_int_equal(process_of(ended()), -1);
	assert_ptr_equal(client_find(thread.tid), client);
	assert_null(client_find(child));
	assert_true(client_has_thread(client, thread.tid));
	assert_true(client_has_thread(client, getpid()));
	assert_false(client_has_thread(client, child));
	it.is_gone = true;
	assert_false(client_has_thread(client, getpid()));
	assert_false(client_has_thread(client, thread.tid));
	it.is_gone = false;
	client->watch.ready(&client->watch, EPOLLIN);
	assert_false(client_has_thread(client, getpid()));
	client_put(client);
	pthread_barrier_wait(&thread.barrier);
	pthread_join(other, NULL);
	pthread_barrier_destroy(&thread.barrier);
	child_end(child);
}

static void a_range_is_checked_while_the_process_lives(void **state)
{
	struct client *client = own_client();

	(void)state;
	it.range_error = REFUSED;
	assert_int_equal(client_check_range(client, 0x10, 0x20, true), REFUSED);
	assert_int_equal(it.addr, 0x10);
	assert_int_equal(it.len, 0x20);
	assert_true(it.is_write);
	it.range_error = 0;
	assert_int_equal(client_check_range(client, 0x10, 0x20, false), 0);
	assert_false(it.is_write);
	client->watch.ready(&client->watch, EPOLLIN);
	assert_int_equal(client_check_range(client, 0x10, 0x20, true), EFAULT);
	assert_int_equal(it.ranges, 2);
	client_put(client);
}

static int bus_transfer(uint64_t addr, bool is_write)
{
	const struct hca_bus_seg seg = { addr, 8 };
	uint8_t buf[8];

	it.copies = it.ranges = 0;
	return is_write ? client_bus_ops.write(NULL, &seg, 1, buf)
			: client_bus_ops.read(NULL, &seg, 1, buf);
}

static void the_adapter_reaches_the_slots_memory(void **state)
{
	struct client *client = own_client();
	const uint64_t addr = client_bus_addr(client, PAGE_ADDR);

	(void)state;
	for (unsigned int is_write = 0; is_write < 2; is_write++) {
		assert_int_equal(bus_transfer(addr, is_write), 0);
		assert_int_equal(it.addr, PAGE_ADDR);
		assert_int_equal(it.len, 8);
		assert_int_equal(it.is_write, is_write);
		assert_int_equal(it.ranges, 0);
		assert_int_equal(bus_transfer(addr + (1ull << 48), is_write), ESRCH);
		assert_int_equal(bus_transfer(addr - (1ull << 48), is_write), ESRCH);
		assert_int_equal(it.copies, 0);
		check_unlocked();
	}
	it.copy_error = EFAULT;
	assert_int_equal(bus_transfer(addr, false), EFAULT);
	check_unlocked();
	client->watch.ready(&client->watch, EPOLLIN);
	assert_int_equal(bus_transfer(addr, true), ESRCH);
	assert_int_equal(it.copies, 0);
	client_put(client);
}

static void memory_on_demand_is_checked_each_time(void **state)
{
	struct client *client = own_client();
	const uint64_t addr = client_bus_addr(client, PAGE_ADDR) | CLIENT_ON_DEMAND;

	(void)state;
	for (unsigned int is_write = 0; is_write < 2; is_write++) {
		it.range_error = 0;
		assert_int_equal(bus_transfer(addr, is_write), 0);
		assert_int_equal(it.ranges, 1);
		assert_int_equal(it.copies, 1);
		assert_int_equal(it.is_write, is_write);
		it.range_error = REFUSED;
		assert_int_equal(bus_transfer(addr, is_write), EFAULT);
		assert_int_equal(it.is_write, is_write);
		assert_int_equal(it.addr, PAGE_ADDR);
		assert_int_equal(it.len, 8);
		assert_int_equal(it.copies, 0);
	}
	client_finished(client);
}

static void segments_follow_each_other(void **state)
{
	struct client *client = own_client();
	struct hca_bus_seg segs[3] = { { client_bus_addr(client, 0x10), 3 },
				       { client_bus_addr(client, 0x20), 5 },
				       { client_bus_addr(client, 0x30), 7 } };
	uint8_t buf[16];

	(void)state;
	assert_int_equal(client_bus_ops.read(NULL, segs, 3, buf), 0);
	assert_int_equal(it.copies, 3);
	assert_ptr_equal(it.buf, buf + 8);
	assert_int_equal(it.addr, 0x30);
	assert_int_equal(it.len, 7);
	assert_int_equal(client_bus_ops.read(NULL, segs, 0, buf), 0);
	assert_int_equal(it.copies, 3);
	segs[1].addr = 0; /* of nobody */
	assert_int_equal(client_bus_ops.write(NULL, segs, 3, buf), ESRCH);
	assert_int_equal(it.copies, 4);
	client_finished(client);
}

static void pages_have_identities_while_the_process_lives(void **state)
{
	struct client *client = own_client();
	const uint64_t addr = client_bus_addr(client, PAGE_ADDR);

	(void)state;
	assert_int_equal(client_bus_ops.page(NULL, addr), IDENTITY);
	check_unlocked();
	assert_false(client_bus_ops.page_may_move(NULL, addr));
	it.may_move = true;
	assert_true(client_bus_ops.page_may_move(NULL, addr));
	it.may_move = false;
	it.is_gone = true;
	assert_int_equal(client_bus_ops.page(NULL, addr), 0);
	assert_true(client_bus_ops.page_may_move(NULL, addr));
	it.is_gone = false;
	client->watch.ready(&client->watch, EPOLLIN);
	assert_int_equal(client_bus_ops.page(NULL, addr), 0);
	assert_true(client_bus_ops.page_may_move(NULL, addr));
	client_put(client);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, client_begin, client_finish)
	const struct CMUnitTest tests[] = {
		CASE(memory_is_copied_whole_or_not),
		CASE(a_string_may_end_before_a_gap),
		CASE(a_string_that_does_not_fit_is_too_long),
		CASE(a_refusal_is_explained_once),
		CASE(directories_have_paths),
		CASE(a_descriptor_is_copied_while_it_is_the_file),
		CASE(a_descriptor_has_a_status),
		CASE(the_id_in_effect_counts),
		CASE(ids_are_of_their_kind),
		CASE(a_thread_has_a_start_time),
		CASE(capabilities_are_those_in_effect),
		CASE(capabilities_of_another_namespace_do_not_count),
		CASE(a_process_becomes_one_client),
		CASE(a_process_that_is_not_there_is_no_client),
		CASE(a_client_that_cannot_be_made_leaves_nothing),
		CASE(slots_are_used_in_turn),
		CASE(a_client_ends_with_its_process),
		CASE(a_client_ends_by_an_exec),
		CASE(a_forgotten_client_ends),
		CASE(changes_of_credentials_go_with_the_client),
		CASE(threads_are_of_their_process),
		CASE(a_range_is_checked_while_the_process_lives),
		CASE(the_adapter_reaches_the_slots_memory),
		CASE(memory_on_demand_is_checked_each_time),
		CASE(segments_follow_each_other),
		CASE(pages_have_identities_while_the_process_lives),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * client.c - processes that use an adapter: access to their memory and descriptors.
 *
 * The engine's thread reads the slot table for DMA while the notification thread adds to it, so a
 * lock guards it. DMA holds the lock while it uses a process, so that the slot is not reused then.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <unistd.h>

#include "softhca/front/process/client.h"
#include "softhca/front/process/program/page.h"
#include "softhca/log.h"

enum { MAX_SLOTS = 1 << 12, CLIENT_PAGE = 4096 };

/* Client of each slot. Only the notification thread changes the table, under slots_lock, so that
 * thread alone may read it without the lock. */
static pthread_rwlock_t slots_lock = PTHREAD_RWLOCK_INITIALIZER;
static struct client *slot_client[MAX_SLOTS];

/* Logs that the kernel refuses access to a program's memory; only once, as it then refuses all. */
static void refusal_explain(pid_t tid, int error)
{
	static bool said;

	if (said || (error != ENOSYS && error != EPERM && error != EACCES))
		return;
	said = true;
	log_error(
		"the memory of process %d cannot be reached: %s. In a container this takes ptrace: "
		"docker run --cap-add SYS_PTRACE; elsewhere see kernel.yama.ptrace_scope",
		tid, strerror(error));
}

static int copy_result(pid_t tid, ssize_t done, size_t len)
{
	if (done < 0)
		refusal_explain(tid, errno);
	return done == (ssize_t)len ? 0 : EFAULT;
}

int client_read(pid_t tid, uint64_t addr, void *buf, size_t len)
{
	struct iovec local = { buf, len }, remote = { (void *)(uintptr_t)addr, len };

	return copy_result(tid, process_vm_readv(tid, &local, 1, &remote, 1, 0), len);
}

int client_write(pid_t tid, uint64_t addr, const void *buf, size_t len)
{
	struct iovec local = { (void *)(uintptr_t)buf, len },
		     remote = { (void *)(uintptr_t)addr, len };

	return copy_result(tid, process_vm_writev(tid, &local, 1, &remote, 1, 0), len);
}

/* Reads a string page by page, as it may end right before an unmapped page. */
int client_read_string(pid_t tid, uint64_t addr, char *buf, size_t size)
{
	size_t done = 0;

	while (done < size) {
		size_t piece = CLIENT_PAGE - (addr + done) % CLIENT_PAGE;

		if (piece > size - done)
			piece = size - done;
		if (client_read(tid, addr + done, buf + done, piece))
			return EFAULT;
		if (memchr(buf + done, 0, piece))
			return 0;
		done += piece;
	}
	return ENAMETOOLONG;
}

static struct stat stat_of(const struct statx *found)
{
	return (struct stat){
		.st_dev = makedev(found->stx_dev_major, found->stx_dev_minor),
		.st_ino = found->stx_ino,
		.st_mode = found->stx_mode,
		.st_nlink = found->stx_nlink,
		.st_uid = found->stx_uid,
		.st_gid = found->stx_gid,
		.st_rdev = makedev(found->stx_rdev_major, found->stx_rdev_minor),
		.st_size = (off_t)found->stx_size,
		.st_blksize = (blksize_t)found->stx_blksize,
		.st_blocks = (blkcnt_t)found->stx_blocks,
		.st_atim = { found->stx_atime.tv_sec, found->stx_atime.tv_nsec },
		.st_mtim = { found->stx_mtime.tv_sec, found->stx_mtime.tv_nsec },
		.st_ctim = { found->stx_ctime.tv_sec, found->stx_ctime.tv_nsec },
	};
}

/* Gets a descriptor's status without synchronizing: the file may be on a file system that never
 * answers, such as the client's own FUSE. For our files the kernel's cached attributes are
 * complete. */
int client_fd_stat(pid_t tid, int fd, struct stat *st)
{
	struct statx found;
	char path[48];

	snprintf(path, sizeof(path), "/proc/%d/fd/%d", tid, fd);
	if (statx(AT_FDCWD, path, AT_STATX_DONT_SYNC, STATX_BASIC_STATS, &found))
		return errno == ENOENT ? EBADF : errno;
	*st = stat_of(&found);
	return 0;
}

int client_dir_path(pid_t tid, int fd, char *buf, size_t size)
{
	char path[48];
	ssize_t len;

	if (fd == AT_FDCWD)
		snprintf(path, sizeof(path), "/proc/%d/cwd", tid);
	else
		snprintf(path, sizeof(path), "/proc/%d/fd/%d", tid, fd);
	len = readlink(path, buf, size - 1);
	if (len < 0)
		return errno;
	buf[len] = 0;
	return buf[0] == '/' ? 0 : ENOTDIR;
}

static pid_t process_of(pid_t tid)
{
	char path[32], line[128];
	int pid = -1;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/status", tid);
	file = fopen(path, "re");
	if (!file)
		return -1;
	while (fgets(line, sizeof(line), file) && sscanf(line, "Tgid: %d", &pid) != 1)
		;
	fclose(file);
	return pid;
}

int client_fd_copy(pid_t tid, int fd)
{
	int pidfd = syscall(SYS_pidfd_open, process_of(tid), 0);
	int copy = -1;

	if (pidfd >= 0) {
		copy = syscall(SYS_pidfd_getfd, pidfd, fd, 0);
		close(pidfd);
	}
	return copy;
}

int client_fd_copy_of(pid_t tid, int fd, dev_t dev, ino_t ino)
{
	int copy = client_fd_copy(tid, fd);
	struct stat st;

	if (copy < 0 || (!fstat(copy, &st) && st.st_dev == dev && st.st_ino == ino))
		return copy;
	close(copy);
	return -1;
}

static struct client *find_client(pid_t pid)
{
	for (unsigned int slot = 1; slot < MAX_SLOTS; slot++)
		if (slot_client[slot] && slot_client[slot]->pid == pid && !slot_client[slot]->dead)
			return slot_client[slot];
	return NULL;
}

static int find_slot(uint16_t *slot)
{
	static unsigned int cursor;

	for (unsigned int i = 0; i < MAX_SLOTS - 1; i++) {
		cursor = cursor % (MAX_SLOTS - 1) + 1;
		if (!slot_client[cursor]) {
			*slot = cursor;
			return 0;
		}
	}
	return ENOSPC;
}

static void slot_set(unsigned int slot, struct client *client)
{
	pthread_rwlock_wrlock(&slots_lock);
	slot_client[slot] = client;
	pthread_rwlock_unlock(&slots_lock);
}

/* Marks the client's memory as gone, because the process has ended or executes another program. The
 * client keeps its slot until its last user, such as an object that other processes share, is
 * gone. */
static void client_end(struct client *client)
{
	watch_remove(&client->watch);
	close(client->watch.fd);
	pthread_rwlock_wrlock(&slots_lock);
	client->dead = true;
	space_close(&client->space);
	pthread_rwlock_unlock(&slots_lock);
	client_put(client);
}

static void client_ended(struct watch *watch, uint32_t events)
{
	(void)events;
	client_end((struct client *)watch);
}

static bool process_has_ended(int pidfd)
{
	struct pollfd end = { .fd = pidfd, .events = POLLIN };

	return poll(&end, 1, 0) == 1; /* -1: a signal has interrupted it */
}

/* Opens a pidfd of the process, then its memory by the PID. If the process still exists after that,
 * the PID was not reused, so the opened memory belongs to the process. */
static int client_open(struct client *client, pid_t tid)
{
	int ret;

	client->watch = (struct watch){ syscall(SYS_pidfd_open, client->pid, 0), client_ended };
	if (client->watch.fd < 0)
		return errno;
	ret = space_open(client->pid, tid, &client->space);
	if (process_has_ended(client->watch.fd)) {
		if (!ret)
			space_close(&client->space);
		ret = ESRCH;
	} else if (ret) {
		refusal_explain(tid, ret);
	}
	if (ret)
		close(client->watch.fd);
	return ret;
}

/* Creates a client. Its first user is its memory: client_end() removes that user. */
static int new_client(pid_t tid, pid_t pid, struct client **out)
{
	struct client *client = calloc(1, sizeof(*client));
	int ret;

	if (!client)
		return ENOMEM;
	client->pid = pid;
	client->users = 1;
	LIST_INIT(&client->changes);
	LIST_INIT(&client->records);
	client->pinning.client = client;
	client->account = account_get(client_thread_uid(tid));
	ret = client->account ? client_open(client, tid) : ENOMEM;
	if (ret)
		goto put_account;
	ret = find_slot(&client->slot);
	if (!ret)
		ret = watch_add(&client->watch, EPOLLIN);
	if (ret)
		goto close_process;
	slot_set(client->slot, client);
	*out = client;
	return 0;
close_process:
	close(client->watch.fd);
	space_close(&client->space);
put_account:
	if (client->account)
		account_put(client->account);
	free(client);
	return ret;
}

/* Returns whether the thread is in softhca's user namespace. In another one it may have any
 * capability, which must not count here. */
static bool is_of_our_users(pid_t tid)
{
	struct stat own, other;
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d/ns/user", tid);
	return !stat("/proc/self/ns/user", &own) && !stat(path, &other) &&
	       own.st_ino == other.st_ino && own.st_dev == other.st_dev;
}

bool client_may(pid_t tid, unsigned int capability)
{
	unsigned long long effective = 0;
	char path[32], line[128];
	FILE *status;

	snprintf(path, sizeof(path), "/proc/%d/status", tid);
	status = fopen(path, "re");
	if (!status)
		return false;
	while (fgets(line, sizeof(line), status))
		if (sscanf(line, "CapEff: %llx", &effective) == 1)
			break;
	fclose(status);
	return effective >> capability & 1 && is_of_our_users(tid);
}

/* Ends CLIENT and returns NULL if its address space is gone, because the process has executed
 * another program; otherwise returns CLIENT. The process then becomes a new client. */
static struct client *drop_if_gone(struct client *client)
{
	if (!client || space_is_there(&client->space))
		return client;
	client_end(client);
	return NULL;
}

struct client *client_find(pid_t tid)
{
	struct client *client = find_client(tid);

	return drop_if_gone(client ? client : find_client(process_of(tid)));
}

int client_get(pid_t tid, struct client **out)
{
	struct client *client = client_find(tid);
	pid_t pid;
	int ret;

	if (!client) {
		pid = process_of(tid);
		ret = pid < 0 ? ESRCH : new_client(tid, pid, &client);
		if (ret)
			return ret;
	}
	client->users++;
	*out = client;
	return 0;
}

void client_forget(struct client *client)
{
	client_end(client);
	client_put(client);
}

void client_keep(struct client *client)
{
	client->users++;
}

void client_put(struct client *client)
{
	struct credentials_change *change;

	if (--client->users)
		return;
	slot_set(client->slot, NULL);
	while ((change = LIST_FIRST(&client->changes))) {
		LIST_REMOVE(change, entry);
		free(change);
	}
	account_put(client->account);
	free(client);
}

bool client_has_thread(const struct client *client, pid_t tid)
{
	char path[48];

	if (client->dead || !space_is_there(&client->space))
		return false;
	if (client->pid == tid)
		return true;
	snprintf(path, sizeof(path), "/proc/%d/task/%d", client->pid, tid);
	return !access(path, F_OK);
}

/* Reads the ids from /proc/TID/status. The owner of /proc/TID does not tell them, as it is root for
 * a process that is not dumpable. */
bool client_thread_ids(pid_t tid, const char *kind, unsigned int ids[3])
{
	const size_t len = strlen(kind);
	char path[48], line[256];
	bool found = false;
	FILE *status;

	snprintf(path, sizeof(path), "/proc/%d/status", tid);
	status = fopen(path, "re");
	while (status && !found && fgets(line, sizeof(line), status))
		found = !strncmp(line, kind, len) && line[len] == ':' &&
			sscanf(line + len + 1, "%u %u %u", &ids[0], &ids[1], &ids[2]) == 3;
	if (status)
		fclose(status);
	return found;
}

/* Returns the start time in /proc/TID/stat, or 0. Counts fields from the last bracket: the
 * program's name before it may contain any character, and no later field contains a bracket. */
uint64_t client_thread_start(pid_t tid)
{
	char path[48], line[512];
	unsigned long long start = 0;
	const char *at = NULL;
	FILE *stat;

	snprintf(path, sizeof(path), "/proc/%d/stat", tid);
	stat = fopen(path, "re");
	if (stat && fgets(line, sizeof(line), stat))
		at = strrchr(line, ')');
	if (stat)
		fclose(stat);
	if (!at || sscanf(at,
			  ") %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s "
			  "%*s %*s %llu",
			  &start) != 1)
		return 0;
	return start;
}

bool client_thread_is_there(pid_t tid)
{
	return !kill(tid, 0) || errno != ESRCH;
}

unsigned int client_thread_uid(pid_t tid)
{
	unsigned int ids[3];

	return client_thread_ids(tid, "Uid", ids) ? ids[1] : UID_UNKNOWN;
}

int client_check_range(const struct client *client, uint64_t addr, uint64_t len, bool writable)
{
	return client->dead ? EFAULT : space_check_range(&client->space, addr, len, writable);
}

static const struct client *client_of(uint64_t addr)
{
	const struct client *client = slot_client[addr >> CLIENT_VA_BITS & (MAX_SLOTS - 1)];

	return client && !client->dead ? client : NULL;
}

/* Copies one segment. Checks access rights to on-demand memory each time, as the process may have
 * changed them. */
static int segment_transfer(const struct hca_bus_seg *seg, void *buf, bool write)
{
	const struct client *client = client_of(seg->addr);
	uint64_t addr = seg->addr & ((1ull << CLIENT_VA_BITS) - 1);

	if (!client)
		return ESRCH;
	if (seg->addr & CLIENT_ON_DEMAND &&
	    space_check_range(&client->space, addr, seg->len, write))
		return EFAULT;
	return write ? space_write(&client->space, addr, buf, seg->len)
		     : space_read(&client->space, addr, buf, seg->len);
}

static int transfer_all(const struct hca_bus_seg *segs, unsigned int nsegs, void *buf, bool write)
{
	uint8_t *at = buf;
	int ret = 0;

	pthread_rwlock_rdlock(&slots_lock);
	for (unsigned int i = 0; !ret && i < nsegs; i++) {
		ret = segment_transfer(&segs[i], at, write);
		at += segs[i].len;
	}
	pthread_rwlock_unlock(&slots_lock);
	return ret;
}

/* Returns the PID of the process whose memory is at bus address ADDR, or 0 if its memory is
 * gone. */
static pid_t process_at(uint64_t addr)
{
	const struct client *client;
	pid_t pid;

	pthread_rwlock_rdlock(&slots_lock);
	client = client_of(addr);
	pid = client && space_is_there(&client->space) ? client->pid : 0;
	pthread_rwlock_unlock(&slots_lock);
	return pid;
}

static uint64_t bus_page(void *bus, uint64_t addr)
{
	pid_t pid = process_at(addr);

	(void)bus;
	return pid ? page_identity(pid, addr & ((1ull << CLIENT_VA_BITS) - 1)) : 0;
}

static bool bus_page_may_move(void *bus, uint64_t addr)
{
	pid_t pid = process_at(addr);

	(void)bus;
	return !pid || page_may_move(pid, addr & ((1ull << CLIENT_VA_BITS) - 1));
}

static int bus_read(void *bus, const struct hca_bus_seg *segs, unsigned int nsegs, void *buf)
{
	(void)bus;
	return transfer_all(segs, nsegs, buf, false);
}

static int bus_write(void *bus, const struct hca_bus_seg *segs, unsigned int nsegs, const void *buf)
{
	(void)bus;
	return transfer_all(segs, nsegs, (void *)(uintptr_t)buf, true);
}

const struct hca_bus_ops client_bus_ops = { bus_read, bus_write, bus_page, bus_page_may_move };

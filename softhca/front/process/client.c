/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * client.c - processes that use an adapter: their memory and their descriptors.
 *
 * The slot table is read by DMA from the engine's thread while the notification thread adds to it.
 * A slot's process id is therefore one atomic word; it is cleared before the slot is given to
 * another process.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
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
#include "softhca/front/process/page.h"

enum { MAX_SLOTS = 1 << 12, MAX_IOV = 64, CLIENT_PAGE = 4096 };

static _Atomic pid_t slot_pid[MAX_SLOTS];
static struct client *slot_client[MAX_SLOTS]; /* notification thread only */

int client_read(pid_t tid, uint64_t addr, void *buf, size_t len)
{
	struct iovec local = { buf, len }, remote = { (void *)(uintptr_t)addr, len };

	return process_vm_readv(tid, &local, 1, &remote, 1, 0) == (ssize_t)len ? 0 : EFAULT;
}

int client_write(pid_t tid, uint64_t addr, const void *buf, size_t len)
{
	struct iovec local = { (void *)(uintptr_t)buf, len },
		     remote = { (void *)(uintptr_t)addr, len };

	return process_vm_writev(tid, &local, 1, &remote, 1, 0) == (ssize_t)len ? 0 : EFAULT;
}

/* The string is read page by page, as it may end right before an unmapped one. */
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

/* The file may be of a file system that never answers, such as one of the client's own: what the
 * kernel knows already will do, as it is whole for files of ours. */
int client_fd_stat(pid_t tid, int fd, struct stat *st)
{
	struct statx found;
	char path[48];

	snprintf(path, sizeof(path), "/proc/%d/fd/%d", tid, fd);
	if (statx(AT_FDCWD, path, AT_STATX_DONT_SYNC, STATX_BASIC_STATS, &found))
		return EBADF;
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

	/* Slots are given out round robin, so that a late DMA to a dead client's address does not
	 * hit the next client. */
	for (unsigned int i = 0; i < MAX_SLOTS - 1; i++) {
		cursor = cursor % (MAX_SLOTS - 1) + 1;
		if (!slot_client[cursor]) {
			*slot = cursor;
			return 0;
		}
	}
	return ENOSPC;
}

/* The client's memory is gone, and its process id may soon be another's. Objects that it shares
 * with others live on. */
static void client_ended(struct watch *watch, uint32_t events)
{
	struct client *client = (struct client *)watch;

	(void)events;
	watch_remove(watch);
	atomic_store(&slot_pid[client->slot], 0);
	client->dead = true;
}

static int new_client(pid_t pid, struct client **out)
{
	struct client *client = calloc(1, sizeof(*client));
	int ret;

	if (!client)
		return ENOMEM;
	ret = find_slot(&client->slot);
	if (ret)
		goto free_client;
	client->pid = pid;
	client->users = 1;
	LIST_INIT(&client->changes);
	client->watch = (struct watch){ syscall(SYS_pidfd_open, pid, 0), client_ended };
	if (client->watch.fd < 0) {
		ret = errno;
		goto free_client;
	}
	ret = watch_add(&client->watch, EPOLLIN);
	if (ret)
		goto close_pidfd;
	slot_client[client->slot] = client;
	atomic_store(&slot_pid[client->slot], pid);
	*out = client;
	return 0;
close_pidfd:
	close(client->watch.fd);
free_client:
	free(client);
	return ret;
}

/* Whoever makes a namespace of users has every capability there, of which none counts here. */
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

struct client *client_find(pid_t tid)
{
	struct client *client = find_client(tid);

	return client ? client : find_client(process_of(tid));
}

int client_get(pid_t tid, struct client **out)
{
	struct client *client = client_find(tid);
	pid_t pid;

	if (!client) {
		pid = process_of(tid);
		return pid < 0 ? ESRCH : new_client(pid, out);
	}
	client->users++;
	*out = client;
	return 0;
}

void client_put(struct client *client)
{
	struct credentials_change *change;

	if (--client->users)
		return;
	atomic_store(&slot_pid[client->slot], 0);
	slot_client[client->slot] = NULL;
	while ((change = LIST_FIRST(&client->changes))) {
		LIST_REMOVE(change, entry);
		free(change);
	}
	close(client->watch.fd);
	free(client);
}

bool client_has_thread(const struct client *client, pid_t tid)
{
	char path[48];

	if (client->dead)
		return false;
	if (client->pid == tid)
		return true;
	snprintf(path, sizeof(path), "/proc/%d/task/%d", client->pid, tid);
	return !access(path, F_OK);
}

/* The owner of /proc/TID would be root for a process that must not be dumped. */
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

/* The name of a program may have any character; no other field has a bracket. */
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

struct mapping {
	uint64_t start, end;
	bool readable, writable;
};

static bool next_mapping(FILE *maps, struct mapping *mapping)
{
	char line[512];
	unsigned long start, end;
	char perms[5];

	while (fgets(line, sizeof(line), maps)) {
		if (sscanf(line, "%lx-%lx %4s", &start, &end, perms) != 3)
			continue; /* the rest of a long line */
		*mapping = (struct mapping){ start, end, perms[0] == 'r', perms[1] == 'w' };
		return true;
	}
	return false;
}

int client_check_range(const struct client *client, uint64_t addr, uint64_t len, bool writable)
{
	uint64_t end = addr + len;
	struct mapping mapping;
	char path[32];
	FILE *maps;

	snprintf(path, sizeof(path), "/proc/%d/maps", client->pid);
	maps = fopen(path, "re");
	if (!maps)
		return EFAULT;
	while (addr < end && next_mapping(maps, &mapping)) {
		if (mapping.end <= addr)
			continue;
		if (mapping.start > addr || !mapping.readable || (writable && !mapping.writable))
			break;
		addr = mapping.end;
	}
	fclose(maps);
	return addr < end ? EFAULT : 0;
}

static pid_t client_of(uint64_t addr)
{
	return atomic_load(&slot_pid[addr >> CLIENT_VA_BITS & (MAX_SLOTS - 1)]);
}

/* One process_vm call moves up to MAX_IOV segments, all of one client. */
static int bytes_transfer(const struct hca_bus_seg *segs, unsigned int nsegs, void *buf, bool write)
{
	struct iovec local = { buf, 0 }, remote[MAX_IOV];
	pid_t pid = client_of(segs[0].addr);
	ssize_t done;

	if (!pid)
		return ESRCH;
	for (unsigned int i = 0; i < nsegs; i++) {
		uint64_t addr = segs[i].addr & ((1ull << CLIENT_VA_BITS) - 1);

		remote[i] = (struct iovec){ (void *)(uintptr_t)addr, segs[i].len };
		local.iov_len += segs[i].len;
	}
	done = write ? process_vm_writev(pid, &local, 1, remote, nsegs, 0)
		     : process_vm_readv(pid, &local, 1, remote, nsegs, 0);
	if (done < 0 && errno == ESRCH)
		return ESRCH;
	return done == (ssize_t)local.iov_len ? 0 : EFAULT;
}

static unsigned int same_client_run(const struct hca_bus_seg *segs, unsigned int nsegs)
{
	unsigned int run = 1;

	while (run < nsegs && run < MAX_IOV &&
	       segs[run].addr >> CLIENT_VA_BITS == segs[0].addr >> CLIENT_VA_BITS)
		run++;
	return run;
}

static int transfer_all(const struct hca_bus_seg *segs, unsigned int nsegs, void *buf, bool write)
{
	uint8_t *at = buf;

	while (nsegs) {
		unsigned int run = same_client_run(segs, nsegs);
		int ret = bytes_transfer(segs, run, at, write);

		if (ret)
			return ret;
		for (unsigned int i = 0; i < run; i++)
			at += segs[i].len;
		segs += run;
		nsegs -= run;
	}
	return 0;
}

static uint64_t bus_page(void *bus, uint64_t addr)
{
	pid_t pid = client_of(addr);

	(void)bus;
	return pid ? page_identity(pid, addr & ((1ull << CLIENT_VA_BITS) - 1)) : 0;
}

static bool bus_page_may_move(void *bus, uint64_t addr)
{
	pid_t pid = client_of(addr);

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

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * paths.c - trapped calls that name a file.
 *
 * A path of ours is looked up in the tree of sysfs.c as the root directory, also in a chroot. All
 * other paths continue in the kernel; a call is answered here only if its path is ours.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "softhca/front/process/program/caller.h"
#include "softhca/front/process/client.h"
#include "softhca/front/process/program/cwd.h"
#include "softhca/front/process/daemon.h"
#include "softhca/front/process/node.h"
#include "softhca/front/process/notify.h"
#include "softhca/front/process/paths.h"
#include "softhca/front/process/program/proc_status.h"
#include "softhca/log.h"
#include "util/bits.h"

/* Removes //, /./ and x/.. from an absolute path. Keeps a final slash, and replaces a final "/." by
 * one, as either makes the kernel follow a link there. Does not resolve links, as none leads into
 * our directories. */
static void path_normalize(char *path)
{
	const size_t length = strlen(path);
	bool slash = path[length - 1] == '/' || (length > 1 && !strcmp(path + length - 2, "/."));
	char *from = path, *to = path;

	while (*from) {
		size_t len;

		from += strspn(from, "/");
		len = strcspn(from, "/");
		if (len == 2 && !memcmp(from, "..", 2)) {
			while (to > path && *--to != '/')
				;
		} else if (len && !(len == 1 && *from == '.')) {
			*to++ = '/';
			memmove(to, from, len);
			to += len;
		}
		from += len;
	}
	if (to == path || slash)
		*to++ = '/';
	*to = 0;
}

/* Makes a relative path absolute if it may be ours: if its directory is in our tree, or the path
 * contains "infiniband" or "uverbs". Returns false for another path. */
static bool make_absolute(struct call *call, int dirfd, char *path)
{
	const char *root = call->daemon->sysfs.root;
	char dir[PATH_MAX], joined[PATH_MAX];
	const char *base = dir;

	if (client_dir_path(call->tid, dirfd, dir, sizeof(dir)))
		return false;
	if (!strncmp(dir, root, strlen(root)))
		base = dir + strlen(root);
	else if (!strstr(path, "infiniband") && !strstr(path, "uverbs"))
		return false;
	if (snprintf(joined, sizeof(joined), "%s/%s", base, path) >= (int)sizeof(joined))
		return false;
	strcpy(path, joined);
	return true;
}

static bool is_parent(const char *path)
{
	size_t len = strlen(path);

	return len > 3 && !strcmp(path + len - 3, "/..");
}

/* Reads the path argument at ADDR. If the path is ours, returns true with PATH absolute and
 * normalized. Otherwise leaves PATH as read, or empty. */
static bool path_claim(struct call *call, int dirfd, uint64_t addr, char path[PATH_MAX])
{
	bool leaves; /* x/.. where only our tree has x */

	if (caller_read_string(call, addr, path, PATH_MAX))
		path[0] = 0;
	if (!path[0])
		return false;
	if (path[0] != '/' && !make_absolute(call, dirfd, path))
		return false;
	leaves = sysfs_claims(path) && is_parent(path);
	path_normalize(path);
	if (!leaves && !sysfs_claims(path))
		return false;
	log_detail("%d: path %s", call->tid, path);
	return true;
}

static int open_in_tree(struct daemon *daemon, const char *path, uint64_t flags)
{
	/* O_PATH descriptors cannot be sent, so send an ordinary one, which can do the same. */
	return sysfs_open(&daemon->sysfs, path,
			  (flags & (O_NOFOLLOW | O_DIRECTORY)) | O_RDONLY | O_CLOEXEC);
}

static bool may_use(struct call *call, const struct node *node)
{
	return !node->kind->for_owner || client_thread_uid(call->tid) == geteuid() ||
	       client_may(call->tid, CLIENT_CAP_DAC_OVERRIDE);
}

/* Opens a device file, which an empty file in the tree represents. */
static void open_device(struct call *call, const char *path, const struct node *node,
			uint64_t flags)
{
	if (faccessat(call->daemon->sysfs.fd, path + 1, F_OK, 0))
		call_fail(call, errno);
	else if (!may_use(call, node))
		call_fail(call, EACCES);
	else
		node->kind->open(call, node->index, flags);
}

/* Returns whether PATH is the entry of a descriptor in /proc, by which a program can open the file
 * again. Sets *FD to the descriptor and *OWNER to its process or thread. */
static bool names_descriptor(const char *path, pid_t caller, pid_t *owner, int *fd)
{
	static const char *const forms[] = { "/proc/self/fd/%d%n", "/proc/thread-self/fd/%d%n",
					     "/dev/fd/%d%n" };
	int end = 0;

	*owner = caller;
	for (unsigned int i = 0; i < ARRAY_SIZE(forms); i++)
		if (sscanf(path, forms[i], fd, &end) == 1)
			return !path[end];
	return sscanf(path, "/proc/%d/fd/%d%n", owner, fd, &end) == 2 && !path[end];
}

/* Opens a device file whose descriptor in /proc is PATH. As in Linux, this opens the device anew,
 * independent of the first open. */
static void open_again(struct call *call, const char *path, uint64_t flags)
{
	struct node node;
	struct stat st;
	pid_t owner;
	int fd;

	if (flags & (O_PATH | O_DIRECTORY | O_NOFOLLOW) ||
	    !names_descriptor(path, call->tid, &owner, &fd) || client_fd_stat(owner, fd, &st) ||
	    !node_of_file(&st, &node))
		return;
	if (may_use(call, &node))
		node.kind->open(call, node.index, flags);
	else
		call_fail(call, EACCES);
}

static void open_common(struct call *call, int dirfd, uint64_t path_addr, uint64_t flags)
{
	char path[PATH_MAX];
	struct node node;
	int fd;

	if (!path_claim(call, dirfd, path_addr, path)) {
		open_again(call, path, flags);
		if (!call->answered)
			proc_status_open(call, path, flags);
		return;
	}
	if (node_of_path(call->daemon, path, &node) && !(flags & (O_PATH | O_DIRECTORY))) {
		open_device(call, path, &node, flags);
		return;
	}
	sysfs_refresh(&call->daemon->sysfs, call->daemon->adapters, call->daemon->num_adapters,
		      path);
	fd = open_in_tree(call->daemon, path, flags);
	if (fd < 0) {
		call_fail(call, errno);
		return;
	}
	if ((flags & O_ACCMODE) != O_RDONLY && !(flags & O_PATH))
		call_fail(call, EACCES);
	else
		call_return_fd(call, fd, flags & O_CLOEXEC);
	close(fd);
}

void path_open(struct call *call)
{
	open_common(call, AT_FDCWD, call_arg(call, 0), call_arg(call, 1));
}

void path_openat(struct call *call)
{
	open_common(call, call_arg_int(call, 0), call_arg(call, 1), call_arg(call, 2));
}

void path_openat2(struct call *call)
{
	struct open_how how;

	if (!caller_read(call, call_arg(call, 2), &how, sizeof(how)))
		open_common(call, call_arg_int(call, 0), call_arg(call, 1), how.flags);
}

static void become_device(struct stat *st, const struct node *node)
{
	const bool for_owner = node->kind->for_owner;

	st->st_mode = S_IFCHR | (for_owner ? 0600 : 0666);
	st->st_uid = for_owner ? geteuid() : 0;
	st->st_gid = for_owner ? getegid() : 0;
	st->st_rdev = node_number(node);
	st->st_size = 0;
	st->st_blocks = 0;
}

static int open_parent(struct daemon *daemon, char *path, const char **name)
{
	char *slash = strrchr(path, '/');

	*name = slash + 1;
	*slash = 0;
	return open_in_tree(daemon, slash == path ? "/" : path, O_DIRECTORY);
}

static int stat_in_tree(struct daemon *daemon, char *path, bool follow, struct stat *st)
{
	const char *name;
	int fd, ret;

	if (follow || path[strlen(path) - 1] == '/') {
		fd = open_in_tree(daemon, path, 0);
		ret = fd < 0 || fstat(fd, st) ? errno : 0;
	} else {
		fd = open_parent(daemon, path, &name);
		ret = fd < 0 || fstatat(fd, name, st, AT_SYMLINK_NOFOLLOW) ? errno : 0;
	}
	if (fd >= 0)
		close(fd);
	return ret;
}

/* Sets the times of a sysfs file to now. In Linux they are the times when the inode was last
 * created, which is again whenever the inode cache has dropped the file. The inode number stays. */
static void become_sysfs_file(struct stat *st)
{
	clock_gettime(CLOCK_REALTIME, &st->st_mtim);
	st->st_atim = st->st_ctim = st->st_mtim;
}

static int stat_path(struct daemon *daemon, char *path, bool follow, struct stat *st)
{
	const bool in_sysfs = !strncmp(path, "/sys/", 5);
	struct node node;
	const bool is_device = node_of_path(daemon, path, &node);
	int ret = stat_in_tree(daemon, path, follow, st);

	st->st_uid = 0;
	st->st_gid = 0;
	if (in_sysfs)
		become_sysfs_file(st);
	if (!ret && is_device)
		become_device(st, &node);
	return ret;
}

static void finish_call(struct call *call, int ret)
{
	if (ret)
		call_fail(call, ret);
	else
		call_return(call, 0);
}

static void stat_common(struct call *call, int dirfd, unsigned int path_arg, bool follow)
{
	char path[PATH_MAX];
	struct stat st;
	int ret;

	if (!path_claim(call, dirfd, call_arg(call, path_arg), path))
		return;
	ret = stat_path(call->daemon, path, follow, &st);
	if (!ret)
		ret = caller_write(call, call_arg(call, path_arg + 1), &st, sizeof(st));
	finish_call(call, ret);
}

void path_stat(struct call *call)
{
	stat_common(call, AT_FDCWD, 0, true);
}

void path_lstat(struct call *call)
{
	stat_common(call, AT_FDCWD, 0, false);
}

/* Returns whether descriptor FD of the caller is a device file of ours; ST is then fstat()'s
 * result. */
static bool stat_device(struct call *call, int fd, struct stat *st)
{
	struct node node;

	if (client_fd_stat(call->tid, fd, st) || !node_of_file(st, &node))
		return false;
	become_device(st, &node);
	return true;
}

void path_fstat(struct call *call)
{
	struct stat st;

	if (!stat_device(call, call_arg_int(call, 0), &st))
		return;
	finish_call(call, caller_write(call, call_arg(call, 1), &st, sizeof(st)));
}

static bool path_is_empty(struct call *call, uint64_t addr)
{
	char first = 0;

	return !addr || (!caller_read(call, addr, &first, 1) && !first);
}

void path_newfstatat(struct call *call)
{
	int dirfd = call_arg_int(call, 0), flags = call_arg_int(call, 3);
	struct stat st;

	if (flags & AT_EMPTY_PATH && path_is_empty(call, call_arg(call, 1))) {
		if (stat_device(call, dirfd, &st))
			finish_call(call, caller_write(call, call_arg(call, 2), &st, sizeof(st)));
		return;
	}
	stat_common(call, dirfd, 1, !(flags & AT_SYMLINK_NOFOLLOW));
}

static struct statx_timestamp statx_time(struct timespec time)
{
	return (struct statx_timestamp){ .tv_sec = time.tv_sec, .tv_nsec = time.tv_nsec };
}

static void stat_to_statx(const struct stat *st, struct statx *stx)
{
	*stx = (struct statx){
		.stx_mask = STATX_BASIC_STATS,
		.stx_blksize = st->st_blksize,
		.stx_nlink = st->st_nlink,
		.stx_uid = st->st_uid,
		.stx_gid = st->st_gid,
		.stx_mode = st->st_mode,
		.stx_ino = st->st_ino,
		.stx_size = st->st_size,
		.stx_blocks = st->st_blocks,
		.stx_atime = statx_time(st->st_atim),
		.stx_ctime = statx_time(st->st_ctim),
		.stx_mtime = statx_time(st->st_mtim),
		.stx_rdev_major = major(st->st_rdev),
		.stx_rdev_minor = minor(st->st_rdev),
		.stx_dev_major = major(st->st_dev),
		.stx_dev_minor = minor(st->st_dev),
	};
}

void path_statx(struct call *call)
{
	int dirfd = call_arg_int(call, 0), flags = call_arg_int(call, 2), ret = 0;
	char path[PATH_MAX];
	struct statx stx;
	struct stat st;

	if (flags & AT_EMPTY_PATH && path_is_empty(call, call_arg(call, 1))) {
		if (!stat_device(call, dirfd, &st))
			return;
	} else {
		if (!path_claim(call, dirfd, call_arg(call, 1), path))
			return;
		ret = stat_path(call->daemon, path, !(flags & AT_SYMLINK_NOFOLLOW), &st);
	}
	if (!ret) {
		stat_to_statx(&st, &stx);
		ret = caller_write(call, call_arg(call, 4), &stx, sizeof(stx));
	}
	finish_call(call, ret);
}

static void access_common(struct call *call, int dirfd, unsigned int path_arg)
{
	int mode = call_arg_int(call, path_arg + 1);
	char path[PATH_MAX];
	bool is_device;
	struct node node;
	struct stat st;
	int ret;

	if (!path_claim(call, dirfd, call_arg(call, path_arg), path))
		return;
	is_device = node_of_path(call->daemon, path, &node);
	ret = stat_path(call->daemon, path, true, &st);
	if (!ret && ((mode & W_OK && !is_device) || (mode & X_OK && !S_ISDIR(st.st_mode))))
		ret = EACCES;
	if (!ret && mode && is_device && !may_use(call, &node))
		ret = EACCES;
	finish_call(call, ret);
}

void path_access(struct call *call)
{
	access_common(call, AT_FDCWD, 0);
}

void path_faccessat(struct call *call)
{
	access_common(call, call_arg_int(call, 0), 1);
}

static int readlink_in_tree(struct daemon *daemon, char *path, char *target, size_t *len)
{
	const char *name;
	int fd = open_parent(daemon, path, &name), ret = 0;
	ssize_t n;

	if (fd < 0)
		return errno;
	n = readlinkat(fd, name, target, *len);
	if (n < 0)
		ret = errno;
	else
		*len = n;
	close(fd);
	return ret;
}

static void readlink_common(struct call *call, int dirfd, unsigned int path_arg)
{
	size_t room = call_arg(call, path_arg + 2), len = PATH_MAX;
	char path[PATH_MAX], target[PATH_MAX];
	int ret;

	if (!path_claim(call, dirfd, call_arg(call, path_arg), path))
		return;
	ret = readlink_in_tree(call->daemon, path, target, &len);
	if (len > room)
		len = room;
	if (!ret)
		ret = caller_write(call, call_arg(call, path_arg + 1), target, len);
	if (ret)
		call_fail(call, ret);
	else
		call_return(call, len);
}

void path_readlink(struct call *call)
{
	readlink_common(call, AT_FDCWD, 0);
}

void path_readlinkat(struct call *call)
{
	readlink_common(call, call_arg_int(call, 0), 1);
}

void path_chdir(struct call *call)
{
	char path[PATH_MAX];
	int fd;

	if (!path_claim(call, AT_FDCWD, call_arg(call, 0), path))
		return;
	fd = open_in_tree(call->daemon, path, O_DIRECTORY);
	if (fd < 0) {
		call_fail(call, errno);
		return;
	}
	cwd_enter(call, call_arg(call, 0), fd);
	close(fd);
}

/* Answers statfs(): files below /sys are on sysfs, those below /dev on tmpfs, as with udev. */
void path_statfs(struct call *call)
{
	char path[PATH_MAX];
	struct statfs fs;
	bool in_sysfs;
	int fd, ret;

	if (!path_claim(call, AT_FDCWD, call_arg(call, 0), path))
		return;
	in_sysfs = !strncmp(path, "/sys/", 5);
	fd = open_in_tree(call->daemon, path, 0);
	ret = fd < 0 || fstatfs(fd, &fs) ? errno : 0;
	if (fd >= 0)
		close(fd);
	if (!ret && in_sysfs)
		fs = (struct statfs){ .f_type = SYSFS_MAGIC,
				      .f_bsize = fs.f_bsize,
				      .f_frsize = fs.f_bsize,
				      .f_namelen = NAME_MAX,
				      .f_flags = fs.f_flags };
	if (!ret)
		ret = caller_write(call, call_arg(call, 1), &fs, sizeof(fs));
	finish_call(call, ret);
}

void path_getxattr(struct call *call)
{
	char path[PATH_MAX];

	if (path_claim(call, AT_FDCWD, call_arg(call, 0), path))
		call_fail(call, ENODATA);
}

void path_listxattr(struct call *call)
{
	char path[PATH_MAX];

	if (path_claim(call, AT_FDCWD, call_arg(call, 0), path))
		call_return(call, 0);
}

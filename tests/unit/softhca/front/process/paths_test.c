/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * paths_test.c - calls that name a file, over a tree of the test's: which paths are ours, devices
 * and directories, what is opened, and what each call answers. The program's memory is the test's.
 */
#include <errno.h>
#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "softhca/front/process/paths.c"

enum { TID = 77, OWN_FD = 5, DIR_FD = 6, DEVICE_INODE = 1 << 30, MINOR = 193 };

#define DEVICE "/dev/infiniband/uverbs1"
#define PLACE  "/sys/class/infiniband/mlx5_0"

static struct daemon it;
static struct seccomp_notif notif;
static struct call call;
static char root[] = "/tmp/paths.XXXXXX";
static const char *directory; /* of the program; NULL: it is gone */
static int64_t answer;        /* minus an errno, or the value; valid if call.answered */
static int returned_fd;
static bool is_owner, is_privileged;
static int opened; /* index of the device, or -1 */
static int entered, refreshed, status_files;

static void device_open(struct call *of, unsigned int index, uint64_t flags)
{
	(void)flags;
	opened = (int)index;
	call_return(of, 9);
}

static struct node_kind kind = { .open = device_open };

bool node_of_path(const struct daemon *daemon, const char *path, struct node *node)
{
	assert_ptr_equal(daemon, &it);
	*node = (struct node){ &kind, 1 };
	return !strcmp(path, DEVICE);
}

bool node_of_file(const struct stat *st, struct node *node)
{
	*node = (struct node){ &kind, 1 };
	return st->st_ino == DEVICE_INODE;
}

dev_t node_number(const struct node *node)
{
	assert_ptr_equal(node->kind, &kind);
	return makedev(231, MINOR);
}

int sysfs_open(const struct sysfs *sysfs, const char *path, uint64_t flags)
{
	return openat(sysfs->fd, path[1] ? path + 1 : ".", (int)flags);
}

bool sysfs_claims(const char *path)
{
	return !strncmp(path, PLACE, strlen(PLACE)) || !strncmp(path, "/dev/infiniband", 15);
}

void sysfs_refresh(const struct sysfs *sysfs, struct adapter **adapters, unsigned int num_adapters,
		   const char *path)
{
	(void)adapters, (void)num_adapters, (void)path;
	assert_ptr_equal(sysfs, &it.sysfs);
	refreshed++;
}

int caller_read(const struct call *of, uint64_t addr, void *buf, size_t len)
{
	(void)of;
	if (!addr)
		return EFAULT;
	memcpy(buf, (const void *)(uintptr_t)addr, len);
	return 0;
}

int caller_read_string(const struct call *of, uint64_t addr, char *buf, size_t size)
{
	(void)of;
	if (!addr)
		return EFAULT;
	snprintf(buf, size, "%s", (const char *)(uintptr_t)addr);
	return 0;
}

int caller_write(const struct call *of, uint64_t addr, const void *buf, size_t len)
{
	(void)of;
	if (!addr)
		return EFAULT;
	memcpy((void *)(uintptr_t)addr, buf, len);
	return 0;
}

void call_return(struct call *of, int64_t value)
{
	assert_false(of->answered);
	of->answered = true;
	answer = value;
}

void call_fail(struct call *of, int error)
{
	call_return(of, -error);
}

void call_return_fd(struct call *of, int fd, bool cloexec)
{
	returned_fd = fcntl(fd, F_DUPFD, 0);
	call_return(of, cloexec);
}

int client_dir_path(pid_t tid, int fd, char *buf, size_t size)
{
	assert_int_equal(tid, TID);
	if (!directory || (fd != AT_FDCWD && fd != DIR_FD))
		return EBADF;
	snprintf(buf, size, "%s", directory);
	return 0;
}

int client_fd_stat(pid_t tid, int fd, struct stat *st)
{
	assert_int_equal(tid, TID);
	memset(st, 0, sizeof(*st));
	st->st_ino = fd == OWN_FD ? DEVICE_INODE : 1;
	st->st_size = st->st_blocks = 8;
	return 0;
}

unsigned int client_thread_uid(pid_t tid)
{
	(void)tid;
	return is_owner ? geteuid() : geteuid() + 1;
}

bool client_may(pid_t tid, unsigned int capability)
{
	(void)tid;
	return is_privileged && capability == CLIENT_CAP_DAC_OVERRIDE;
}

void cwd_enter(struct call *of, uint64_t addr, int fd)
{
	(void)addr;
	assert_true(fd >= 0);
	entered++;
	call_return(of, 0);
}

void proc_status_open(struct call *of, const char *path, uint64_t flags)
{
	(void)of, (void)path, (void)flags;
	status_files++;
}

static void put_file(const char *path)
{
	int fd;

	fd = openat(it.sysfs.fd, path, O_CREAT | O_WRONLY | O_CLOEXEC, 0644);
	assert_int_equal(write(fd, "text\n", 5), 5);
	close(fd);
}

static int tree_begin(void **state)
{
	static const char *const directories[] = {
		"dev",       "dev/infiniband",       "sys",
		"sys/class", "sys/class/infiniband", "sys/class/infiniband/mlx5_0"
	};

	(void)state;
	assert_non_null(mkdtemp(root));
	it.sysfs.fd = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	snprintf(it.sysfs.root, sizeof(it.sysfs.root), "%s", root);
	for (unsigned int i = 0; i < ARRAY_SIZE(directories); i++)
		assert_int_equal(mkdirat(it.sysfs.fd, directories[i], 0755), 0);
	put_file("dev/infiniband/uverbs1");
	put_file("sys/class/infiniband/mlx5_0/node_type");
	return symlinkat("node_type", it.sysfs.fd, "sys/class/infiniband/mlx5_0/link");
}

static int entry_remove(const char *path, const struct stat *st, int type, struct FTW *walk)
{
	(void)st, (void)type, (void)walk;
	return remove(path);
}

static int tree_end(void **state)
{
	(void)state;
	close(it.sysfs.fd);
	return nftw(root, entry_remove, 8, FTW_DEPTH | FTW_PHYS);
}

static int call_begin(void **state)
{
	(void)state;
	directory = "/home";
	kind.for_owner = is_owner = is_privileged = false;
	opened = returned_fd = -1;
	entered = refreshed = status_files = 0;
	return 0;
}

#define POINTER(place) ((uint64_t)(uintptr_t)(place))

/* Executes RUN with four arguments. Returns whether the call was answered. */
static bool make_call(void (*run)(struct call *call), uint64_t a, uint64_t b, uint64_t c,
		      uint64_t d)
{
	notif = (struct seccomp_notif){ .data.args = { a, b, c, d } };
	call = (struct call){ .daemon = &it, .notif = &notif, .tid = TID };
	answer = 0;
	run(&call);
	return call.answered;
}

static bool open_path(const char *path, uint64_t flags)
{
	return make_call(path_open, POINTER(path), flags, 0, 0);
}

static void other_paths_are_the_kernels(void **state)
{
	static const char *const paths[] = { "/etc/passwd", "/dev/null",       "infiniband", "",
					     "/",           PLACE "/../../net" };
	struct stat st;

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(paths); i++) {
		assert_false(open_path(paths[i], O_RDONLY));
		assert_false(make_call(path_stat, POINTER(paths[i]), POINTER(&st), 0, 0));
		assert_false(make_call(path_access, POINTER(paths[i]), R_OK, 0, 0));
		assert_false(make_call(path_readlink, POINTER(paths[i]), POINTER(&st), 9, 0));
		assert_false(make_call(path_chdir, POINTER(paths[i]), 0, 0, 0));
		assert_false(make_call(path_statfs, POINTER(paths[i]), POINTER(&st), 0, 0));
		assert_false(make_call(path_getxattr, POINTER(paths[i]), 0, 0, 0));
		assert_false(make_call(path_listxattr, POINTER(paths[i]), 0, 0, 0));
	}
	assert_int_equal(status_files, ARRAY_SIZE(paths));
	assert_false(open_path(NULL, O_RDONLY));
}

static void paths_are_normalized(void **state)
{
	static const char *const rows[][2] = {
		{ "/a//b/./c", "/a/b/c" }, { "/a/../b", "/b" },     { "/../a", "/a" },
		{ "/a/b/", "/a/b/" },      { "/a/b/.", "/a/b/" },   { "/", "/" },
		{ "/a/..", "/" },          { "/..a/.b", "/..a/.b" }
	};
	char path[PATH_MAX];

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(rows); i++) {
		strcpy(path, rows[i][0]);
		path_normalize(path);
		assert_string_equal(path, rows[i][1]);
	}
}

static void a_relative_path_begins_at_its_directory(void **state)
{
	char inside[128];

	(void)state;
	directory = "/sys/class";
	assert_true(open_path("infiniband/mlx5_0/node_type", O_RDONLY));
	assert_int_equal(answer, 0);
	close(returned_fd);
	snprintf(inside, sizeof(inside), "%s" PLACE, root);
	directory = inside; /* in the tree itself, after chdir() */
	assert_true(open_path("node_type", O_RDONLY));
	close(returned_fd);
	assert_true(make_call(path_openat, DIR_FD, POINTER("node_type"), O_RDONLY, 0));
	close(returned_fd);
	assert_false(make_call(path_openat, DIR_FD + 1, POINTER("node_type"), O_RDONLY, 0));
	directory = NULL;
	assert_false(open_path("infiniband/mlx5_0/node_type", O_RDONLY));
}

static void a_file_of_ours_is_read_only(void **state)
{
	struct open_how how = { .flags = O_RDONLY | O_CLOEXEC };
	char text[8] = "";

	(void)state;
	assert_true(open_path(PLACE "/node_type", O_RDONLY));
	assert_int_equal(answer, 0);
	assert_int_equal(read(returned_fd, text, sizeof(text)), 5);
	assert_string_equal(text, "text\n");
	close(returned_fd);
	assert_int_equal(refreshed, 1);
	assert_true(make_call(path_openat2, DIR_FD, POINTER(PLACE "/node_type"), POINTER(&how), 0));
	assert_int_equal(answer, 1); /* to be closed by exec() */
	close(returned_fd);
	assert_true(open_path(PLACE "/node_type", O_RDWR));
	assert_int_equal(answer, -EACCES);
	assert_true(open_path(PLACE "/none", O_RDONLY));
	assert_int_equal(answer, -ENOENT);
	assert_true(open_path(PLACE "/node_type", O_RDONLY | O_DIRECTORY));
	assert_int_equal(answer, -ENOTDIR);
}

static void a_device_is_opened_by_its_kind(void **state)
{
	(void)state;
	assert_true(open_path(DEVICE, O_RDWR));
	assert_int_equal(answer, 9);
	assert_int_equal(opened, 1);
	kind.for_owner = true;
	assert_true(open_path(DEVICE, O_RDWR));
	assert_int_equal(answer, -EACCES);
	is_owner = true;
	assert_true(open_path(DEVICE, O_RDWR));
	assert_int_equal(answer, 9);
	is_owner = false;
	is_privileged = true;
	assert_true(open_path(DEVICE, O_RDWR));
	assert_int_equal(answer, 9);
	assert_true(open_path(DEVICE, O_RDWR | O_DIRECTORY));
	assert_int_equal(answer, -ENOTDIR);
	/* unplugged, so the path is gone */
	assert_int_equal(unlinkat(it.sysfs.fd, &DEVICE[1], 0), 0);
	assert_true(open_path(DEVICE, O_RDWR));
	assert_int_equal(answer, -ENOENT);
	put_file(&DEVICE[1]);
}

static void a_descriptor_opens_its_device_again(void **state)
{
	static const char *const paths[] = { "/proc/self/fd/5", "/proc/thread-self/fd/5",
					     "/dev/fd/5", "/proc/77/fd/5" };
	static const char *const others[] = { "/proc/self/fd/4", "/proc/self/fd/5/x", "/dev/fd/5x",
					      "/proc/77/fd/5 " };

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(paths); i++) {
		opened = -1;
		assert_true(open_path(paths[i], O_RDWR));
		assert_int_equal(opened, 1);
		assert_false(open_path(paths[i], O_PATH));
		assert_false(open_path(paths[i], O_NOFOLLOW));
		assert_false(open_path(others[i], O_RDWR));
	}
	kind.for_owner = true;
	assert_true(open_path(paths[0], O_RDWR));
	assert_int_equal(answer, -EACCES);
}

static void a_device_has_its_mode_and_number(void **state)
{
	struct stat st;

	(void)state;
	assert_true(make_call(path_stat, POINTER(DEVICE), POINTER(&st), 0, 0));
	assert_int_equal(answer, 0);
	assert_int_equal(st.st_mode, S_IFCHR | 0666);
	assert_int_equal(st.st_uid | st.st_gid, 0);
	assert_int_equal(st.st_size | st.st_blocks, 0);
	assert_int_equal(st.st_rdev, makedev(231, MINOR));
	kind.for_owner = true;
	assert_true(make_call(path_lstat, POINTER(DEVICE), POINTER(&st), 0, 0));
	assert_int_equal(st.st_mode, S_IFCHR | 0600);
	assert_int_equal(st.st_uid, geteuid());
	memset(&st, 0xee, sizeof(st));
	assert_true(make_call(path_fstat, OWN_FD, POINTER(&st), 0, 0));
	assert_int_equal(st.st_mode, S_IFCHR | 0600);
	assert_false(make_call(path_fstat, OWN_FD + 1, POINTER(&st), 0, 0));
	assert_true(make_call(path_stat, POINTER(DEVICE), 0, 0, 0));
	assert_int_equal(answer, -EFAULT);
}

/* Linux gives files of sysfs the time at which it looks at them. */
static void a_file_is_roots_and_of_now(void **state)
{
	time_t began = time(NULL);
	struct stat st;

	(void)state;
	assert_true(make_call(path_stat, POINTER(PLACE "/link"), POINTER(&st), 0, 0));
	assert_true(S_ISREG(st.st_mode));
	assert_int_equal(st.st_uid | st.st_gid, 0);
	assert_in_range(st.st_mtim.tv_sec, began, began + 60);
	assert_int_equal(st.st_atim.tv_sec, st.st_mtim.tv_sec);
	assert_true(make_call(path_lstat, POINTER(PLACE "/link"), POINTER(&st), 0, 0));
	assert_true(S_ISLNK(st.st_mode));
	assert_true(make_call(path_newfstatat, DIR_FD, POINTER(PLACE "/link"), POINTER(&st), 0));
	assert_true(S_ISREG(st.st_mode));
	assert_true(make_call(path_newfstatat, DIR_FD, POINTER(PLACE "/link"), POINTER(&st),
			      AT_SYMLINK_NOFOLLOW));
	assert_true(S_ISLNK(st.st_mode));
	assert_true(make_call(path_lstat, POINTER(PLACE "/"), POINTER(&st), 0, 0));
	assert_true(S_ISDIR(st.st_mode));
	assert_true(make_call(path_stat, POINTER(PLACE "/none"), POINTER(&st), 0, 0));
	assert_int_equal(answer, -ENOENT);
}

static void an_empty_path_names_the_descriptor(void **state)
{
	struct stat st = { 0 };

	(void)state;
	assert_true(make_call(path_newfstatat, OWN_FD, POINTER(""), POINTER(&st), AT_EMPTY_PATH));
	assert_int_equal(st.st_mode, S_IFCHR | 0666);
	assert_true(make_call(path_newfstatat, OWN_FD, 0, POINTER(&st), AT_EMPTY_PATH));
	assert_false(make_call(path_newfstatat, 4, POINTER(""), POINTER(&st), AT_EMPTY_PATH));
	assert_false(make_call(path_newfstatat, OWN_FD, POINTER(""), POINTER(&st), 0));
}

static bool make_statx(int fd, const char *path, int flags, struct statx *stx)
{
	memset(stx, 0xee, sizeof(*stx));
	notif = (struct seccomp_notif){ .data.args = { (uint64_t)fd, POINTER(path), (uint64_t)flags,
						       0, POINTER(stx) } };
	call = (struct call){ .daemon = &it, .notif = &notif, .tid = TID };
	path_statx(&call);
	return call.answered;
}

static void statx_has_the_same(void **state)
{
	struct statx stx;

	(void)state;
	assert_true(make_statx(AT_FDCWD, DEVICE, 0, &stx));
	assert_int_equal(stx.stx_mask, STATX_BASIC_STATS);
	assert_int_equal(stx.stx_mode, S_IFCHR | 0666);
	assert_int_equal(stx.stx_rdev_major, 231);
	assert_int_equal(stx.stx_rdev_minor, MINOR);
	assert_true(make_statx(AT_FDCWD, PLACE "/node_type", 0, &stx));
	assert_int_equal(stx.stx_size, 5);
	assert_int_equal(stx.stx_nlink, 1);
	assert_true(make_statx(AT_FDCWD, PLACE "/link", AT_SYMLINK_NOFOLLOW, &stx));
	assert_true(S_ISLNK(stx.stx_mode));
	assert_true(make_statx(OWN_FD, "", AT_EMPTY_PATH, &stx));
	assert_int_equal(stx.stx_mode, S_IFCHR | 0666);
	assert_false(make_statx(4, "", AT_EMPTY_PATH, &stx));
	assert_false(make_statx(AT_FDCWD, "/etc", 0, &stx));
	assert_true(make_statx(AT_FDCWD, PLACE "/none", 0, &stx));
	assert_int_equal(answer, -ENOENT);
}

static int access_of(const char *path, int mode)
{
	assert_true(make_call(path_access, POINTER(path), (uint64_t)mode, 0, 0));
	return (int)-answer;
}

static void access_is_by_mode_and_owner(void **state)
{
	(void)state;
	assert_int_equal(access_of(PLACE "/node_type", F_OK), 0);
	assert_int_equal(access_of(PLACE "/node_type", R_OK), 0);
	assert_int_equal(access_of(PLACE "/node_type", W_OK), EACCES);
	assert_int_equal(access_of(PLACE "/node_type", X_OK), EACCES);
	assert_int_equal(access_of(PLACE, X_OK), 0);
	assert_int_equal(access_of(PLACE "/none", F_OK), ENOENT);
	assert_int_equal(access_of(DEVICE, R_OK | W_OK), 0);
	assert_int_equal(access_of(DEVICE, X_OK), EACCES);
	kind.for_owner = true;
	assert_int_equal(access_of(DEVICE, R_OK), EACCES);
	assert_int_equal(access_of(DEVICE, F_OK), 0);
	assert_true(make_call(path_faccessat, DIR_FD, POINTER(PLACE "/node_type"), W_OK, 0));
	assert_int_equal(answer, -EACCES);
}

static void a_link_is_read_as_far_as_there_is_room(void **state)
{
	char target[16];

	(void)state;
	memset(target, '.', sizeof(target));
	assert_true(make_call(path_readlink, POINTER(PLACE "/link"), POINTER(target), 16, 0));
	assert_int_equal(answer, 9);
	assert_memory_equal(target, "node_type.", 10);
	memset(target, '.', sizeof(target));
	assert_true(make_call(path_readlinkat, DIR_FD, POINTER(PLACE "/link"), POINTER(target), 4));
	assert_int_equal(answer, 4);
	assert_memory_equal(target, "node.", 5);
	assert_true(make_call(path_readlink, POINTER(PLACE "/node_type"), POINTER(target), 4, 0));
	assert_int_equal(answer, -EINVAL);
	assert_true(make_call(path_readlink, POINTER(PLACE "/x/link"), POINTER(target), 4, 0));
	assert_int_equal(answer, -ENOENT);
}

static void a_directory_of_ours_is_entered(void **state)
{
	(void)state;
	assert_true(make_call(path_chdir, POINTER(PLACE), 0, 0, 0));
	assert_int_equal(answer, 0);
	assert_int_equal(entered, 1);
	assert_true(make_call(path_chdir, POINTER(PLACE "/node_type"), 0, 0, 0));
	assert_int_equal(answer, -ENOTDIR);
	assert_int_equal(entered, 1);
}

static void below_sys_is_sysfs(void **state)
{
	struct statfs fs;

	(void)state;
	assert_true(make_call(path_statfs, POINTER(PLACE "/node_type"), POINTER(&fs), 0, 0));
	assert_int_equal(answer, 0);
	assert_int_equal(fs.f_type, SYSFS_MAGIC);
	assert_int_equal(fs.f_blocks, 0);
	assert_int_equal(fs.f_namelen, NAME_MAX);
	assert_true(fs.f_bsize > 0);
	assert_true(make_call(path_statfs, POINTER(DEVICE), POINTER(&fs), 0, 0));
	assert_int_not_equal(fs.f_type, SYSFS_MAGIC);
	assert_true(make_call(path_statfs, POINTER(PLACE "/none"), POINTER(&fs), 0, 0));
	assert_int_equal(answer, -ENOENT);
}

static void there_are_no_extended_attributes(void **state)
{
	(void)state;
	assert_true(make_call(path_getxattr, POINTER(DEVICE), 0, 0, 0));
	assert_int_equal(answer, -ENODATA);
	assert_true(make_call(path_listxattr, POINTER(DEVICE), 0, 0, 0));
	assert_int_equal(answer, 0);
}

int main(void)
{
#define TEST(test) cmocka_unit_test_setup(test, call_begin)
	const struct CMUnitTest tests[] = {
		TEST(other_paths_are_the_kernels),
		TEST(paths_are_normalized),
		TEST(a_relative_path_begins_at_its_directory),
		TEST(a_file_of_ours_is_read_only),
		TEST(a_device_is_opened_by_its_kind),
		TEST(a_descriptor_opens_its_device_again),
		TEST(a_device_has_its_mode_and_number),
		TEST(a_file_is_roots_and_of_now),
		TEST(an_empty_path_names_the_descriptor),
		TEST(statx_has_the_same),
		TEST(access_is_by_mode_and_owner),
		TEST(a_link_is_read_as_far_as_there_is_room),
		TEST(a_directory_of_ours_is_entered),
		TEST(below_sys_is_sysfs),
		TEST(there_are_no_extended_attributes),
	};

	return cmocka_run_group_tests(tests, tree_begin, tree_end);
}

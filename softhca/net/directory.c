/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * directory.c - see directory.h. Decision: docs/adr/0041.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "softhca/net/directory.h"
#include "softhca/net/network.h"
#include "util/bits.h"

#define LOCK "lock"
enum { NAME_SIZE = 32 };

/* Opens or creates the lock file. An existing file is opened without O_CREAT, as Linux refuses
 * O_CREAT for another user's file in a directory with the sticky bit (fs.protected_regular). */
static int lock_file(int dir)
{
	const int flags = O_WRONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC, mode = 0622;
	int fd = openat(dir, LOCK, flags);

	return fd >= 0 || errno != ENOENT ? fd : openat(dir, LOCK, flags | O_CREAT | O_EXCL, mode);
}

/* Opens the lock file for writing. If the file is ours, takes read permission from other users:
 * flock() also works on a file open for reading, and only users who may write to the file shall
 * hold the lock. Refuses anything but a regular file, as another user can put a pipe there. */
static int lock_open(int dir, int *out)
{
	enum { READ_BITS = 0044 };
	int fd = lock_file(dir);
	struct stat st;

	if (fd < 0)
		return errno == EEXIST ? EWOULDBLOCK : errno;
	if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
		close(fd);
		return EINVAL;
	}
	if (st.st_mode & READ_BITS)
		(void)!fchmod(fd, st.st_mode & 0777 & ~READ_BITS);
	*out = fd;
	return 0;
}

/* Returns whether FD is still the directory's lock file, as any user who may write to the directory
 * can replace the file. */
static bool lock_is_current(int dir, int fd)
{
	struct stat own, there;

	return !fstat(fd, &own) && !fstatat(dir, LOCK, &there, AT_SYMLINK_NOFOLLOW) &&
	       own.st_ino == there.st_ino && own.st_dev == there.st_dev;
}

/* Takes the lock. Returns 0, or EWOULDBLOCK if another host has it or the file has been
 * replaced. */
static int lock_try(int dir, int *out)
{
	int ret = lock_open(dir, out);

	if (ret)
		return ret;
	if (flock(*out, LOCK_EX | LOCK_NB))
		ret = errno;
	else if (!lock_is_current(dir, *out))
		ret = EWOULDBLOCK;
	if (ret)
		close(*out);
	return ret;
}

int directory_lock(int dir, int wait_ms, int *lock)
{
	enum { STEP_MS = 10 };
	const struct timespec step = { .tv_nsec = STEP_MS * 1000000 };
	int ret = lock_try(dir, lock);

	for (int waited = 0; ret == EWOULDBLOCK && waited < wait_ms; waited += STEP_MS) {
		nanosleep(&step, NULL);
		ret = lock_try(dir, lock);
	}
	return ret;
}

/* Parses N.ib or N.roce. Returns the number, or -1 for other names. */
static int parse_name(const char *name, bool *ethernet)
{
	unsigned int number = 0;
	const char *p = name;

	for (; *p >= '0' && *p <= '9' && number < NETWORK_MAX_HOSTS; p++)
		number = number * 10 + (unsigned int)(*p - '0');
	if (p == name || number >= NETWORK_MAX_HOSTS)
		return -1;
	*ethernet = !strcmp(p, ".roce");
	return *ethernet || !strcmp(p, ".ib") ? (int)number : -1;
}

int directory_sockets(int dir,
		      int (*found)(void *owner, const char *name, unsigned int host, bool ethernet),
		      void *owner)
{
	int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), number, ret = 0;
	DIR *stream = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;
	bool ethernet;

	if (!stream) {
		ret = errno;
		if (fd >= 0)
			close(fd);
		return ret;
	}
	while (!ret && (entry = readdir(stream)) != NULL) {
		number = parse_name(entry->d_name, &ethernet);
		if (number >= 0)
			ret = found(owner, entry->d_name, (unsigned int)number, ethernet);
	}
	closedir(stream);
	return ret;
}

/* Makes the address of the socket NAME through the directory's descriptor, as the directory's own
 * name may be too long for one. */
static void socket_address(int dir, const char *name, struct sockaddr_un *addr)
{
	*addr = (struct sockaddr_un){ .sun_family = AF_UNIX };
	snprintf(addr->sun_path, sizeof(addr->sun_path), "/proc/self/fd/%d/%.20s", dir, name);
}

int directory_connect(int dir, const char *name, int *out)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), ret;
	struct sockaddr_un addr;

	if (fd < 0)
		return errno;
	socket_address(dir, name, &addr);
	if (connect(fd, (struct sockaddr *)&addr, sizeof(addr))) {
		ret = errno;
		close(fd);
		return ret;
	}
	*out = fd;
	return 0;
}

/* Makes the socket under a hidden name, and gives it NAME once it listens. So a socket NAME that
 * refuses connections proves that its host is dead. */
int directory_listen(int dir, const char *name, int fd)
{
	char hidden[NAME_SIZE];
	struct sockaddr_un addr;
	int ret;

	snprintf(hidden, sizeof(hidden), "%.16s.new", name);
	socket_address(dir, hidden, &addr);
	if (bind(fd, (struct sockaddr *)&addr, sizeof(addr)))
		return errno;
	ret = listen(fd, NETWORK_MAX_HOSTS) || linkat(dir, hidden, dir, name, 0) ? errno : 0;
	unlinkat(dir, hidden, 0);
	return ret;
}

static bool peer_of(int fd, struct ucred *peer)
{
	socklen_t len = sizeof(*peer);

	return !getsockopt(fd, SOL_SOCKET, SO_PEERCRED, peer, &len);
}

static bool socket_is_of(int dir, const char *name, uid_t user)
{
	struct stat st;

	return !fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) && S_ISSOCK(st.st_mode) &&
	       st.st_uid == user;
}

int directory_prove(int dir, const char *name, int fd)
{
	struct ucred caller, listener;
	bool proved;
	int back, ret;

	if (!peer_of(fd, &caller))
		return errno;
	ret = directory_connect(dir, name, &back);
	if (ret == EACCES)
		return socket_is_of(dir, name, caller.uid) ? 0 : EPERM;
	if (ret)
		return ret;
	proved = peer_of(back, &listener) && caller.pid == listener.pid &&
		 caller.uid == listener.uid;
	close(back);
	return proved ? 0 : EPERM;
}

static int write_all(int fd, const char *text, size_t len)
{
	while (len) {
		ssize_t n = write(fd, text, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno;
		text += n;
		len -= (size_t)n;
	}
	return 0;
}

/* Writes the description to N.host.new and renames that, so that readers find the old text or the
 * new one. First removes N.host.new, which a killed host or another user may have left. */
int directory_describe(int dir, unsigned int host, const char *text, size_t len)
{
	char name[NAME_SIZE], hidden[NAME_SIZE];
	int fd, ret;

	snprintf(name, sizeof(name), "%u.host", host);
	snprintf(hidden, sizeof(hidden), "%u.host.new", host);
	unlinkat(dir, hidden, 0);
	fd = openat(dir, hidden, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
	if (fd < 0)
		return errno;
	ret = write_all(fd, text, len);
	if (close(fd) && !ret)
		ret = errno;
	if (!ret && renameat(dir, hidden, dir, name))
		ret = errno;
	if (ret)
		unlinkat(dir, hidden, 0);
	return ret;
}

static int read_all(int fd, char *text, size_t size)
{
	size_t len = 0;
	ssize_t n = 1;

	while (n > 0 && len < size - 1) {
		n = read(fd, text + len, size - 1 - len);
		if (n < 0 && errno != EINTR)
			return errno;
		len += n > 0 ? (size_t)n : 0;
		if (n < 0)
			n = 1;
	}
	text[len] = 0;
	return 0;
}

/* Follows no links, and does not wait for the writer of a pipe, as any user of the directory may
 * have put a link or a pipe there. */
int directory_read(int dir, unsigned int host, char *text, size_t size)
{
	char name[NAME_SIZE];
	int fd, ret;

	snprintf(name, sizeof(name), "%u.host", host);
	fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return errno;
	ret = read_all(fd, text, size);
	close(fd);
	return ret;
}

void directory_clean(int dir, unsigned int host)
{
	static const char *const kinds[] = { "host", "host.new", "ib.new", "roce.new" };
	char name[NAME_SIZE];

	for (unsigned int i = 0; i < ARRAY_SIZE(kinds); i++) {
		snprintf(name, sizeof(name), "%u.%s", host, kinds[i]);
		unlinkat(dir, name, 0);
	}
}

void directory_remove(int dir, const char *name, unsigned int host)
{
	directory_clean(dir, host); /* first, as the number is another host's without its socket */
	unlinkat(dir, name, 0);
}

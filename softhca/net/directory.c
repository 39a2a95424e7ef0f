/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * directory.c - see directory.h.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "softhca/net/directory.h"
#include "softhca/net/network.h"
#include "util/bits.h"

enum { NAME_SIZE = 32 };

/* ---- sockets ---- */

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

/* A name gets its socket when that listens, so whoever finds a socket that refuses knows that its
 * host is dead. */
int directory_listen(int dir, const char *name, int fd)
{
	char hidden[NAME_SIZE];
	struct sockaddr_un addr;

	snprintf(hidden, sizeof(hidden), "%.16s.new", name);
	socket_address(dir, hidden, &addr);
	if (bind(fd, (struct sockaddr *)&addr, sizeof(addr)))
		return errno;
	if (!listen(fd, NETWORK_MAX_HOSTS) && !renameat(dir, hidden, dir, name))
		return 0;
	unlinkat(dir, hidden, 0);
	return errno;
}

/* ---- descriptions ---- */

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

/* Writes the description under another name first, so that readers find the old text or the new
 * one. A file of that name is left from a killed host, or a trap. */
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

/* Does not follow links, and does not wait for the writer of a pipe. */
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
	directory_clean(dir, host); /* first: without its socket, the number is another host's */
	unlinkat(dir, name, 0);
}

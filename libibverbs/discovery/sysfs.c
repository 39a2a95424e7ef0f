/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sysfs.c - finds sysfs and reads its files.
 *
 * Discovery (sysfs_device.c), GIDs and P_Keys use these calls. The root is /sys, or SYSFS_PATH
 * unless the process is set-uid.
 */
#include "libibverbs/private.h"
#include "util/bits.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char sysfs_path[IBV_SYSFS_PATH_MAX];

static void find_sysfs(void)
{
	const char *env = secure_getenv("SYSFS_PATH");
	size_t len = env ? strnlen(env, sizeof(sysfs_path) - 1) : 0;

	while (len && env[len - 1] == '/')
		len--;
	if (len)
		snprintf(sysfs_path, sizeof(sysfs_path), "%.*s", (int)len, env);
	else
		snprintf(sysfs_path, sizeof(sysfs_path), "/sys");
}

VERBS_EXPORT const char *ibv_get_sysfs_path(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, find_sysfs);
	return sysfs_path;
}

static int read_file(int dirfd, const char *path, char *buf, size_t size)
{
	int fd = openat(dirfd, path, O_RDONLY | O_CLOEXEC);
	ssize_t len;
	int err;

	if (fd < 0)
		return errno;
	len = read(fd, buf, size - 1);
	err = len < 0 ? errno : 0;
	close(fd);
	if (err)
		return err;
	if (len > 0 && buf[len - 1] == '\n')
		len--;
	buf[len] = '\0';
	return 0;
}

bool verbs_text_join(char *to, size_t size, const char *a, const char *b, const char *c)
{
	const char *parts[] = { a, b, c };
	size_t left = size - 1, len;

	for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
		len = strnlen(parts[i], left + 1);
		memcpy(to, parts[i], min_of(len, left));
		to += min_of(len, left);
		*to = '\0';
		if (len > left)
			return false;
		left -= len;
	}
	return true;
}

int verbs_sysfs_read(const char *dir, const char *file, char *buf, size_t size)
{
	char path[IBV_SYSFS_PATH_MAX * 2];

	if (!verbs_text_join(path, sizeof(path), dir, "/", file))
		return ENAMETOOLONG;
	return read_file(AT_FDCWD, path, buf, size);
}

/* Public form of verbs_sysfs_read(): returns the number of characters read, or -1 with errno. */
VERBS_EXPORT int ibv_read_sysfs_file(const char *dir, const char *file, char *buf, size_t size)
{
	int err = EINVAL;

	if (!dir || !file)
		err = ENOENT; /* as the distribution's library, which opens "(null)/..." */
	else if (size)
		err = verbs_sysfs_read(dir, file, buf, size);
	if (!err)
		return (int)strlen(buf);
	errno = err;
	return -1;
}

int verbs_sysfs_read_ibdev(struct ibv_device *device, char *buf, size_t size, const char *format,
			   ...)
{
	char file[128];
	va_list args;

	va_start(args, format);
	vsnprintf(file, sizeof(file), format, args);
	va_end(args);
	return verbs_sysfs_read(device->ibdev_path, file, buf, size);
}

/* Parses a GID. The kernel writes eight groups of 16 bits without abbreviation: "fe80:0000:...". */
int verbs_sysfs_parse_gid(const char *text, union ibv_gid *gid)
{
	for (int i = 0; i < 8; i++) {
		unsigned int group;

		if (sscanf(text + i * 5, "%4x", &group) != 1)
			return EINVAL;
		if (i < 7 && strlen(text) < (size_t)(i + 1) * 5)
			return EINVAL;
		gid->raw[i * 2] = (uint8_t)(group >> 8);
		gid->raw[i * 2 + 1] = (uint8_t)group;
	}
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * node.c - finds and opens the character device of an RDMA device.
 */
#include "libibverbs/private.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#define NODE_OF_OTHER (-1)

/* Returns whether ST is the device's file. If the device number is unknown, accepts any character
 * device. */
static bool node_is_of(const struct verbs_device_info *info, const struct stat64 *st)
{
	return S_ISCHR(st->st_mode) && (!info->uverbs_dev || st->st_rdev == info->uverbs_dev);
}

static int open_path(const char *path, const struct verbs_device_info *info, int *fd)
{
	struct stat64 st;
	int err;

	*fd = open(path, O_RDWR | O_CLOEXEC);
	if (*fd < 0)
		return errno;
	if (fstat64(*fd, &st))
		err = errno;
	else if (!node_is_of(info, &st))
		err = NODE_OF_OTHER;
	else
		return 0;
	close(*fd);
	return err;
}

enum { NODE_PATH_MAX = 64 + IBV_SYSFS_NAME_MAX };

/* Possible paths of the device's file. The path in /dev/char exists even without the usual udev
 * rules. */
struct node_paths {
	char by_name[NODE_PATH_MAX];
	char by_number[64];
};

static void put_name(char path[NODE_PATH_MAX], const struct verbs_device_info *info)
{
	verbs_text_join(path, NODE_PATH_MAX, "/dev/infiniband/", info->uverbs_name, "");
}

static struct node_paths node_paths(const struct verbs_device_info *info)
{
	struct node_paths paths = {};

	put_name(paths.by_name, info);
	if (info->uverbs_dev)
		snprintf(paths.by_number, sizeof(paths.by_number), "/dev/char/%u:%u",
			 major(info->uverbs_dev), minor(info->uverbs_dev));
	return paths;
}

/* Returns whether the file at PATH may belong to the device. Also returns true if stat() fails
 * although the file may exist, because opening the file then reports the error. */
static bool path_may_be_of(const struct verbs_device_info *info, const char *path)
{
	struct stat64 st;

	if (stat64(path, &st))
		return errno != ENOENT && errno != ENOTDIR;
	return node_is_of(info, &st);
}

bool verbs_node_exists(const struct verbs_device_info *info)
{
	char by_name[NODE_PATH_MAX];
	struct node_paths paths;

	put_name(by_name, info);
	if (path_may_be_of(info, by_name))
		return true;
	paths = node_paths(info);
	return paths.by_number[0] && path_may_be_of(info, paths.by_number);
}

/* Opens the file by its name, or else by its device number. If both fail, returns the error of the
 * file that exists. Sets *PATH to the name of the file that was opened or has that error. */
static int open_node(const struct verbs_device_info *info, const struct node_paths *paths,
		     const char **path, int *fd)
{
	int err = open_path(paths->by_name, info, fd), by_number;

	*path = paths->by_name;
	if (!err || !paths->by_number[0])
		return err;
	by_number = open_path(paths->by_number, info, fd);
	if (by_number && (err != ENOENT || by_number == ENOENT))
		return err;
	*path = paths->by_number;
	return by_number;
}

static int64_t clock_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static bool may_appear(int err)
{
	return err == ENOENT || err == NODE_OF_OTHER;
}

static int await_node(const struct verbs_device_info *info, const struct node_paths *paths,
		      const char **path, int *fd)
{
	enum { PATIENCE_MS = 1000, STEP_MS = 10 };
	const struct timespec step = { .tv_nsec = STEP_MS * 1000000 };
	const int64_t deadline = clock_ms() + PATIENCE_MS;
	int err;

	do {
		nanosleep(&step, NULL);
		err = open_node(info, paths, path, fd);
	} while (may_appear(err) && clock_ms() < deadline);
	return err;
}

/* Opens the file, waiting for it if it is missing or belongs to an earlier device of the same name:
 * the device was listed, so udev may be about to create the file. */
int verbs_node_open(const struct verbs_device_info *info, int *fd)
{
	const struct node_paths paths = node_paths(info);
	const char *path;
	int err = open_node(info, &paths, &path, fd);

	if (may_appear(err))
		err = await_node(info, &paths, &path, fd);
	if (err == NODE_OF_OTHER) {
		verbs_warn("ibv_open_device %s: %s: is not the file of this device", info->name,
			   path);
		return ENXIO;
	}
	if (err)
		verbs_warn("ibv_open_device %s: %s: %s%s", info->name, path, strerror(err),
			   err == EACCES ? ": the file's owner, group or mode keeps this user out"
					 : "");
	return err;
}

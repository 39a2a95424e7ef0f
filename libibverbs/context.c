/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * context.c - open, import and close a device: its character device, the provider's context around
 * it, and the channel of asynchronous events.
 */
#include "cmd/cmd.h"
#include "util/alloc.h"
#include "util/threads.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

VERBS_EXPORT int verbs_context_init(struct verbs_context *vctx, struct verbs_device *vdev,
				    int cmd_fd)
{
	struct ibv_context *context = &vctx->context;

	vctx->priv = calloc_for("ibv_open_device", 1, sizeof(*vctx->priv));
	if (!vctx->priv)
		return ENOMEM;
	vctx->priv->driver_id = vdev->info.driver_id;
	vctx->priv->lost_is_destroyed = verbs_env_is_on("RDMAV_ALLOW_DISASSOC_DESTROY");
	vctx->sz = sizeof(*vctx);
	context->device = &vdev->device;
	context->cmd_fd = cmd_fd;
	context->async_fd = -1;
	context->abi_compat = __VERBS_ABI_IS_EXTENDED;
	pthread_mutex_init(&context->mutex, NULL);
	verbs_ops_set_defaults(vctx);
	return 0;
}

VERBS_EXPORT void verbs_context_cleanup(struct verbs_context *vctx)
{
	verbs_event_forget_all(&vctx->context);
	if (vctx->context.async_fd >= 0)
		close(vctx->context.async_fd);
	pthread_mutex_destroy(&vctx->context.mutex);
	free(vctx->priv->limits);
	free(vctx->priv);
	vctx->priv = NULL;
}

/* What a file that exists, but is another device's, gives in place of an errno. */
#define NODE_OF_OTHER (-1)

/* Takes a device number that is not known for any. */
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

/* Hosts without the usual udev rules still have the device file in /dev/char. */
struct node_paths {
	char by_name[64 + IBV_SYSFS_NAME_MAX];
	char by_number[64]; /* "" when the number is not known */
};

static struct node_paths node_paths(const struct verbs_device_info *info)
{
	struct node_paths paths = {};

	snprintf(paths.by_name, sizeof(paths.by_name), "/dev/infiniband/%s", info->uverbs_name);
	if (info->uverbs_dev)
		snprintf(paths.by_number, sizeof(paths.by_number), "/dev/char/%u:%u",
			 major(info->uverbs_dev), minor(info->uverbs_dev));
	return paths;
}

/* A file that cannot be looked at may be the device's: opening it tells what is wrong. */
static bool path_may_be_of(const struct verbs_device_info *info, const char *path)
{
	struct stat64 st;

	if (stat64(path, &st))
		return errno != ENOENT && errno != ENOTDIR;
	return node_is_of(info, &st);
}

bool verbs_node_exists(const struct verbs_device_info *info)
{
	const struct node_paths paths = node_paths(info);

	return path_may_be_of(info, paths.by_name) ||
	       (paths.by_number[0] && path_may_be_of(info, paths.by_number));
}

/* When both fail, the error of a file that is there means more than that of one which is not. PATH
 * takes the file that the error is about. */
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

/* A file that is missing, or still that of a device which had the name before, is waited for: the
 * device was listed, so udev may be about to make it. */
static int open_uverbs(const struct verbs_device_info *info, int *fd)
{
	enum { PATIENCE_MS = 1000, STEP_MS = 10 };
	const struct timespec step = { .tv_nsec = STEP_MS * 1000000 };
	const struct node_paths paths = node_paths(info);
	const int64_t deadline = clock_ms() + PATIENCE_MS;
	const char *path;
	int err = open_node(info, &paths, &path, fd);

	while ((err == ENOENT || err == NODE_OF_OTHER) && clock_ms() < deadline) {
		nanosleep(&step, NULL);
		err = open_node(info, &paths, &path, fd);
	}
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

static void free_context(struct verbs_context *vctx)
{
	verbs_driver_of(vctx->context.device)->free_context(vctx);
}

/* On failure FD stays the caller's. What the driver has made, with ERR, gets what all have. */
static int finish_context(struct verbs_device *vdev, int err, struct verbs_context **vctx)
{
	if (err)
		return err;
	verbs_threads_look();
	if ((*vctx)->context.async_fd < 0)
		err = verbs_cmd_alloc_async_fd(&(*vctx)->context);
	if (err) {
		verbs_warn("ibv_open_device %s: no async event channel: %s", vdev->device.name,
			   strerror(err));
		free_context(*vctx);
	}
	return err;
}

static int alloc_context(struct verbs_device *vdev, int fd, const void *how,
			 struct verbs_context **vctx)
{
	return how ? vdev->driver->alloc_context_as(vdev, fd, how, vctx)
		   : vdev->driver->alloc_context(vdev, fd, vctx);
}

static int open_context(struct verbs_device *vdev, const void *how, struct verbs_context **vctx)
{
	int fd, err;

	err = open_uverbs(&vdev->info, &fd);
	if (err)
		return err;
	err = finish_context(vdev, alloc_context(vdev, fd, how, vctx), vctx);
	if (err)
		close(fd);
	return err;
}

VERBS_EXPORT struct ibv_context *verbs_open_device_as(struct ibv_device *device, const void *how)
{
	struct verbs_context *vctx;
	int err;

	err = open_context(to_vdev(device), how, &vctx);
	if (err)
		return fail_null(err);
	verbs_device_get(to_vdev(device));
	return &vctx->context;
}

VERBS_EXPORT struct ibv_context *ibv_open_device(struct ibv_device *device)
{
	return verbs_open_device_as(device, NULL);
}

static int import_context(int cmd_fd, struct verbs_device **vdev, struct verbs_context **vctx)
{
	struct stat64 st;
	int err;

	if (fstat64(cmd_fd, &st)) {
		verbs_warn("ibv_import_device: cmd_fd %d: no open descriptor", cmd_fd);
		return EINVAL;
	}
	err = S_ISCHR(st.st_mode) ? verbs_device_find(st.st_rdev, vdev) : ENODEV;
	if (err) {
		verbs_warn("ibv_import_device: cmd_fd %d: is of no RDMA device", cmd_fd);
		return err;
	}
	if (!(*vdev)->driver->import_context) {
		verbs_warn("ibv_import_device: %s: not supported by its provider",
			   (*vdev)->device.name);
		err = EOPNOTSUPP;
	} else {
		err = finish_context(*vdev, (*vdev)->driver->import_context(*vdev, cmd_fd, vctx),
				     vctx);
	}
	if (err)
		verbs_device_put(*vdev);
	return err;
}

VERBS_EXPORT struct ibv_context *ibv_import_device(int cmd_fd)
{
	struct verbs_context *vctx;
	struct verbs_device *vdev;
	int err = import_context(cmd_fd, &vdev, &vctx);

	return err ? fail_null(err) : &vctx->context;
}

VERBS_EXPORT int ibv_close_device(struct ibv_context *context)
{
	struct verbs_device *vdev = to_vdev(context->device);
	int cmd_fd = context->cmd_fd;

	free_context(to_vctx(context));
	close(cmd_fd);
	verbs_device_put(vdev);
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * context.c - opens, imports and closes a device: the provider's context for its file (node.c), and
 * the channel of asynchronous events.
 */
#include "cmd/cmd.h"
#include "util/alloc.h"
#include "util/mutex.h"
#include "util/threads.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static inline int context_init(struct verbs_context *vctx, struct verbs_device *vdev, int cmd_fd,
			       size_t size)
{
	struct ibv_context *context = &vctx->context;

	vctx->priv = calloc_for("ibv_open_device", 1, sizeof(*vctx->priv));
	if (!vctx->priv)
		return ENOMEM;
	vctx->priv->driver_id = vdev->info.driver_id;
	vctx->priv->lost_is_destroyed = verbs_env_is_on("RDMAV_ALLOW_DISASSOC_DESTROY");
	vctx->sz = size;
	context->device = vdev->seen ? vdev->seen : &vdev->device;
	context->cmd_fd = cmd_fd;
	context->async_fd = -1;
	context->abi_compat = __VERBS_ABI_IS_EXTENDED;
	mutex_init(&context->mutex);
	verbs_ops_set_defaults(vctx);
	vctx->query_device_ex = verbs_query_device_ex;
	vctx->create_cq_ex = verbs_create_cq_ex;
	vctx->create_qp_ex = verbs_create_qp_ex;
	vctx->create_srq_ex = verbs_create_srq_ex;
	verbs_old_slots_fill(vctx);
	return 0;
}

int verbs_context_init(struct verbs_context *vctx, struct verbs_device *vdev, int cmd_fd)
{
	return context_init(vctx, vdev, cmd_fd, sizeof(*vctx));
}

VERBS_EXPORT int verbs_context_init_sized(struct verbs_context *vctx, struct verbs_device *vdev,
					  int cmd_fd, size_t size)
{
	return context_init(vctx, vdev, cmd_fd, size);
}

static inline void context_clean(struct verbs_context *vctx)
{
	verbs_event_forget_all(&vctx->context);
	if (vctx->context.async_fd >= 0)
		close(vctx->context.async_fd);
	pthread_mutex_destroy(&vctx->context.mutex);
	free(vctx->priv->limits);
	free(vctx->priv);
}

VERBS_EXPORT void verbs_context_cleanup(struct verbs_context *vctx)
{
	context_clean(vctx);
	vctx->priv = NULL;
}

VERBS_EXPORT int verbs_context_alloc(struct verbs_device *vdev, int cmd_fd, size_t size,
				     size_t offset, struct verbs_context **vctx)
{
	char *all = calloc_for("ibv_open_device", 1, size);
	int err;

	if (!all)
		return ENOMEM;
	*vctx = (struct verbs_context *)(all + offset);
	err = verbs_context_init(*vctx, vdev, cmd_fd);
	if (err)
		free(all);
	return err;
}

VERBS_EXPORT void verbs_context_free(struct verbs_context *vctx, size_t offset)
{
	context_clean(vctx);
	free((char *)vctx - offset);
}

VERBS_EXPORT void verbs_qp_set_ex(struct verbs_qp *vqp)
{
	vqp->ex = VERBS_QP_HAS_EX;
}

static void free_context(struct verbs_context *vctx)
{
	to_vdev(vctx->context.device)->driver->free_context(vctx);
}

/* Opens the channel of asynchronous events, unless the context's command has done so. */
static int open_async(const struct verbs_device *vdev, struct verbs_context *vctx)
{
	int err = vctx->context.async_fd < 0 ? verbs_cmd_alloc_async_fd(&vctx->context) : 0;

	if (err)
		verbs_warn("ibv_open_device %s: no async event channel: %s", vdev->device.name,
			   strerror(err));
	return err;
}

/* Installs the checker's operations, which call the provider's. Contexts without VERBS_CHECK keep
 * the provider's table, so the checker costs them nothing. */
static int context_check(struct verbs_context *vctx)
{
	const struct verbs_ops *checks = verbs_check_context(vctx);

	if (!checks)
		return ENOMEM;
	verbs_ops_replace(vctx, checks);
	return 0;
}

static int finish_context(struct verbs_device *vdev, int err, struct verbs_context **vctx)
{
	if (err)
		return err;
	verbs_threads_look();
	err = open_async(vdev, *vctx);
	if (!err && verbs_check_is_on())
		err = context_check(*vctx);
	if (err)
		free_context(*vctx);
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
	int fd = -1, err = 0;

	if (!vdev->driver->has_no_node)
		err = verbs_node_open(&vdev->info, &fd);
	if (err)
		return err;
	err = finish_context(vdev, alloc_context(vdev, fd, how, vctx), vctx);
	if (err && fd >= 0)
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

	if (to_vctx(context)->priv->check)
		verbs_check_context_closes(context);
	free_context(to_vctx(context));
	close(cmd_fd); /* -1, which is no error here, if the device has no file */
	verbs_device_put(vdev);
	return 0;
}

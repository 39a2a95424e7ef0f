/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * context.c - opens an adapter by VFIO, and closes it.
 */
#include <stdlib.h>
#include <sys/eventfd.h>

#include "providers/mlx5/vfio/device.h"
#include "providers/mlx5/vfio/start.h"
#include "providers/mlx5/vfio/vfio.h"

/* Resets a device that does not answer, so that it does not continue to write to memory. */
static void reset_files(void *files)
{
	mlx5_vfio_files_reset(files);
}

static int open_adapter(struct vfio_context *ctx, bool link_down)
{
	int ret = mlx5_vfio_space_init(&ctx->space, ctx->files.container);

	if (ret)
		return ret;
	ret = mlx5_vfio_cmdq_init(&ctx->cmdq, &ctx->space, ctx->files.bar);
	if (ret) {
		/* the device may know the queue's address, so it is reset before that memory
		 * goes */
		mlx5_vfio_files_reset(&ctx->files);
		goto destroy_space;
	}
	ctx->cmdq.when_dead = reset_files;
	ctx->cmdq.dead_arg = &ctx->files;
	mlx5_vfio_pages_init(&ctx->pages, &ctx->cmdq);
	ret = mlx5_vfio_vectors_init(&ctx->vectors, ctx->files.device, ctx->files.vectors);
	if (ret)
		goto destroy_pages;
	ret = mlx5_vfio_start(&ctx->pages, link_down);
	if (!ret)
		ret = mlx5_vfio_events_start(&ctx->events, &ctx->cmdq, &ctx->pages,
					     ctx->files.bar_size, ctx->vectors.fd[0]);
	if (ret)
		goto destroy_vectors;
	return 0;
destroy_vectors:
	mlx5_vfio_vectors_destroy(&ctx->vectors);
destroy_pages:
	/* before memory that it may use is freed, as the device writes to it until then */
	mlx5_vfio_files_reset(&ctx->files);
	mlx5_vfio_pages_destroy(&ctx->pages);
	mlx5_vfio_cmdq_destroy(&ctx->cmdq);
destroy_space:
	mlx5_vfio_space_destroy(&ctx->space);
	return ret;
}

static void close_adapter(struct vfio_context *ctx)
{
	mlx5_vfio_events_stop(&ctx->events);
	mlx5_vfio_stop(&ctx->pages);
	mlx5_vfio_files_reset(&ctx->files);
	mlx5_vfio_events_free(&ctx->events);
	mlx5_vfio_vectors_destroy(&ctx->vectors);
	mlx5_vfio_pages_destroy(&ctx->pages);
	mlx5_vfio_cmdq_destroy(&ctx->cmdq);
	mlx5_vfio_space_destroy(&ctx->space);
}

/* Makes an eventfd that never has an event: there is no channel of the kernel for asynchronous
 * events, but programs poll async_fd. */
static int make_silent_channel(struct ibv_context *context)
{
	context->async_fd = eventfd(0, EFD_CLOEXEC);
	return context->async_fd < 0 ? errno : 0;
}

static int context_open(struct verbs_device *vdev, int cmd_fd, struct verbs_context **vctx)
{
	const struct vfio_device *device = to_vfio_device(vdev);
	struct verbs_context *new;
	struct vfio_context *ctx;
	int ret;

	ret = verbs_context_alloc(vdev, cmd_fd, sizeof(*ctx), offsetof(struct vfio_context, vctx),
				  &new);
	if (ret)
		return ret;
	ctx = container_of(new, struct vfio_context, vctx);
	ret = make_silent_channel(&new->context);
	if (!ret)
		ret = mlx5_vfio_files_open(&ctx->files, device->pci_name);
	if (ret)
		goto free_ctx;
	ret = open_adapter(ctx, device->flags & MLX5DV_VFIO_CTX_FLAGS_INIT_LINK_DOWN);
	if (ret)
		goto close_files;
	verbs_set_ops(new, &mlx5_vfio_ops);
	*vctx = new;
	return 0;
close_files:
	mlx5_vfio_files_close(&ctx->files);
free_ctx:
	verbs_context_free(new, offsetof(struct vfio_context, vctx));
	return ret;
}

/* Opens a context. Cancellation of the thread is deferred until the end: otherwise the device and
 * its group would stay open. */
int mlx5_vfio_context_alloc(struct verbs_device *vdev, int cmd_fd, struct verbs_context **vctx)
{
	int ret, cancel;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	ret = context_open(vdev, cmd_fd, vctx);
	pthread_setcancelstate(cancel, NULL);
	return ret;
}

void mlx5_vfio_context_free(struct verbs_context *vctx)
{
	struct vfio_context *ctx = container_of(vctx, struct vfio_context, vctx);
	int cancel;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	close_adapter(ctx);
	mlx5_vfio_files_close(&ctx->files);
	verbs_context_free(vctx, offsetof(struct vfio_context, vctx));
	pthread_setcancelstate(cancel, NULL);
}

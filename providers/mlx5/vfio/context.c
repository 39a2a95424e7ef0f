/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * context.c - opens an adapter by VFIO, and closes it.
 */
#include <errno.h>
#include <fcntl.h>
#include <rdma/ib_user_verbs.h>
#include <unistd.h>

#include "providers/mlx5/vfio/device.h"
#include "providers/mlx5/vfio/start.h"
#include "providers/mlx5/vfio/vfio.h"

/* Resets a device that is lost, so that it does not continue to write to memory. Then tells the
 * program, both by ibv_get_async_event() and by the descriptor of mlx5dv_vfio_get_events_fd(), as a
 * program may wait for either. */
static void lose_device(void *arg)
{
	const struct ib_uverbs_async_event_desc fatal = { .event_type = IBV_EVENT_DEVICE_FATAL };
	const struct vfio_context *ctx = arg;
	const uint64_t one = 1;

	mlx5_vfio_files_reset(&ctx->files);
	if (write(ctx->fatal_fd, &fatal, sizeof(fatal)) != sizeof(fatal) ||
	    (ctx->vectors.fd && write(ctx->vectors.fd[0], &one, sizeof(one)) != sizeof(one)))
		verbs_info("VFIO: the program is not told that the device is lost: %s",
			   strerror(errno));
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
	ctx->cmdq.when_dead = lose_device;
	ctx->cmdq.dead_arg = ctx;
	mlx5_vfio_pages_init(&ctx->pages, &ctx->cmdq);
	ret = mlx5_vfio_vectors_init(&ctx->vectors, ctx->files.device, ctx->files.vectors);
	if (ret)
		goto destroy_pages;
	ret = mlx5_vfio_start(&ctx->pages, link_down);
	if (!ret)
		ret = mlx5_vfio_events_start(&ctx->events, &ctx->cmdq, &ctx->pages,
					     ctx->files.bar_size, ctx->vectors.fd[0],
					     ctx->vectors.request_fd);
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

/* Makes the channel of asynchronous events: a pipe, as there is none of the kernel. */
static int make_channel(struct vfio_context *ctx)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC))
		return errno;
	ctx->vctx.context.async_fd = ends[0];
	ctx->fatal_fd = ends[1];
	return 0;
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
	ret = make_channel(ctx);
	if (ret)
		goto free_ctx;
	ret = mlx5_vfio_files_open(&ctx->files, device->pci_name);
	if (ret)
		goto close_channel;
	ret = open_adapter(ctx, device->flags & MLX5DV_VFIO_CTX_FLAGS_INIT_LINK_DOWN);
	if (ret)
		goto close_files;
	verbs_set_ops(new, &mlx5_vfio_ops);
	*vctx = new;
	return 0;
close_files:
	mlx5_vfio_files_close(&ctx->files);
close_channel:
	close(ctx->fatal_fd); /* the other end belongs to the context */
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
	/* a child of fork() leaves the device, and what is mapped for it, to its parent */
	if (!mlx5_vfio_cmdq_is_inherited(&ctx->cmdq))
		close_adapter(ctx);
	mlx5_vfio_files_close(&ctx->files);
	close(ctx->fatal_fd);
	verbs_context_free(vctx, offsetof(struct vfio_context, vctx));
	pthread_setcancelstate(cancel, NULL);
}

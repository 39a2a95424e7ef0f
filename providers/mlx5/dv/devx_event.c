/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * devx_event.c - raw events of the device: channels, read by the library or the program, and their
 * subscriptions.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "providers/mlx5/dv/devx.h"
#include "util/alloc.h"

#include <rdma/mlx5_user_ioctl_cmds.h>

struct devx_event_channel {
	struct mlx5dv_devx_event_channel channel; /* first, because programs get its address */
	struct ibv_context *context;
};

DV_EXPORT struct mlx5dv_devx_event_channel *
mlx5dv_devx_create_event_channel(struct ibv_context *context,
				 enum mlx5dv_devx_create_event_channel_flags flags)
{
	int ret = mlx5_devx_check("mlx5dv_devx_create_event_channel", context, 0, 0);
	struct devx_event_channel *channel;
	struct verbs_short cmd;

	if (ret)
		return dv_fail(ret);
	channel = malloc_for("mlx5dv_devx_create_event_channel", sizeof(*channel));
	if (!channel)
		return dv_fail(ENOMEM);
	channel->context = context;
	cmd.attrs[0] = verbs_short_new(MLX5_IB_ATTR_DEVX_ASYNC_EVENT_FD_ALLOC_HANDLE);
	cmd.attrs[1] = verbs_short_u32(MLX5_IB_ATTR_DEVX_ASYNC_EVENT_FD_ALLOC_FLAGS, flags);
	ret = verbs_cmd_run_short(context, MLX5_IB_OBJECT_DEVX_ASYNC_EVENT_FD,
				  MLX5_IB_METHOD_DEVX_ASYNC_EVENT_FD_ALLOC, &cmd, 2);
	channel->channel.fd = (int)cmd.attrs[0].value;
	if (!ret)
		return &channel->channel;
	verbs_warn("mlx5dv_devx_create_event_channel: flags is %#x: %s%s", flags, strerror(ret),
		   mlx5_devx_hint(context));
	free(channel);
	return dv_fail(ret);
}

DV_EXPORT void mlx5dv_devx_destroy_event_channel(struct mlx5dv_devx_event_channel *event_channel)
{
	close(event_channel->fd);
	free((struct devx_event_channel *)event_channel);
}

/* Returns whether handles of A and B may be of the same kernel file. Each opened context has its
 * own file; an imported context shares the file of another one, so a handle means the same object
 * in both. */
static bool may_share_file(struct ibv_context *a, struct ibv_context *b)
{
	return a == b || to_mctx(a)->is_imported || to_mctx(b)->is_imported;
}

/* Refuses an object of another kernel file than the channel's, because its handle means another
 * object in the channel's file, or none. */
static int refuse_foreign(const char *call)
{
	verbs_warn("%s: obj is of another context than the channel", call);
	return EINVAL;
}

static int subscribe(const char *call, const struct mlx5dv_devx_event_channel *event_channel,
		     const struct mlx5dv_devx_obj *obj, const uint16_t *events, uint16_t size,
		     struct verbs_attr target)
{
	const struct devx_event_channel *channel = (const struct devx_event_channel *)event_channel;
	unsigned int count = 0;
	struct verbs_short cmd;
	int ret;

	if (obj && !may_share_file(obj->context, channel->context))
		return refuse_foreign(call);
	cmd.attrs[count++] =
		verbs_short_fd(MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_FD_HANDLE, event_channel->fd);
	if (obj)
		cmd.attrs[count++] = verbs_short_handle(
			MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_OBJ_HANDLE, obj->handle);
	cmd.attrs[count++] =
		verbs_short_in(MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_TYPE_NUM_LIST, events, size);
	cmd.attrs[count++] = target;
	ret = verbs_cmd_run_short(channel->context, MLX5_IB_OBJECT_DEVX,
				  MLX5_IB_METHOD_DEVX_SUBSCRIBE_EVENT, &cmd, count);
	if (ret)
		verbs_warn("%s: %u bytes of events, the first %#x: %s%s", call, size,
			   size >= sizeof(*events) ? events[0] : 0u, strerror(ret),
			   mlx5_devx_hint(channel->context));
	return ret;
}

DV_EXPORT int mlx5dv_devx_subscribe_devx_event(struct mlx5dv_devx_event_channel *event_channel,
					       struct mlx5dv_devx_obj *obj, uint16_t events_sz,
					       uint16_t events_num[], uint64_t cookie)
{
	return verbs_result(subscribe(
		"mlx5dv_devx_subscribe_devx_event", event_channel, obj, events_num, events_sz,
		verbs_short_u64(MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_COOKIE, cookie)));
}

DV_EXPORT int mlx5dv_devx_subscribe_devx_event_fd(struct mlx5dv_devx_event_channel *event_channel,
						  int fd, struct mlx5dv_devx_obj *obj,
						  uint16_t event_num)
{
	return verbs_result(
		subscribe("mlx5dv_devx_subscribe_devx_event_fd", event_channel, obj, &event_num,
			  sizeof(event_num),
			  verbs_short_u32(MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_FD_NUM, (uint32_t)fd)));
}

DV_EXPORT ssize_t mlx5dv_devx_get_event(struct mlx5dv_devx_event_channel *event_channel,
					struct mlx5dv_devx_async_event_hdr *event_data,
					size_t event_resp_len)
{
	ssize_t bytes = read(event_channel->fd, event_data, event_resp_len);

	if (bytes >= 0 && (size_t)bytes < sizeof(event_data->cookie)) {
		verbs_warn("mlx5dv_devx_get_event: %zd bytes were read, an event has %zu", bytes,
			   sizeof(event_data->cookie));
		errno = EINVAL;
		return -1;
	}
	return bytes;
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * async.c - asynchronous commands of programs (DevX): the program reads each answer from a channel,
 * with the number that it gave the command.
 *
 * The device here executes a command at once. Real adapters take time and answer in any order; so
 * answers are delivered a little later, the newest first, to expose programs that rely on order.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/queue.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "prm/mlx5/cmd.h"
#include "prm/mlx5/general_obj.h"
#include "softhca/front/process/uverbs/devx/devx.h"
#include "softhca/front/process/uverbs/objects.h"
#include "softhca/front/process/watch.h"

enum { MAX_UNREAD = 1 << 20 /* bytes of unread answers */, DELAY_NS = 200000 };

struct answer {
	SLIST_ENTRY(answer) in_waiting;
	struct event_channel *channel; /* holds a reference */
	size_t len;
	uint8_t message[]; /* the command's number, then the output mailbox */
};

static SLIST_HEAD(, answer) waiting = SLIST_HEAD_INITIALIZER(waiting);
static struct watch timer = { .fd = -1 };

static void answers_due(struct watch *watch, uint32_t events)
{
	struct answer *answer;
	uint64_t times;

	(void)events;
	if (read(watch->fd, &times, sizeof(times)) < 0)
		return;
	while ((answer = SLIST_FIRST(&waiting)) != NULL) {
		SLIST_REMOVE_HEAD(&waiting, in_waiting);
		events_lock();
		event_channel_send(answer->channel, answer->message, answer->len);
		events_unlock();
		event_channel_put(answer->channel);
		free(answer);
	}
}

static int timer_create_once(void)
{
	int fd, ret;

	if (timer.fd >= 0)
		return 0;
	fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (fd < 0)
		return errno;
	timer = (struct watch){ fd, answers_due };
	ret = watch_add(&timer, EPOLLIN);
	if (ret) {
		close(fd);
		timer.fd = -1;
	}
	return ret;
}

static void timer_start(void)
{
	const struct itimerspec soon = { .it_value = { .tv_nsec = DELAY_NS } };

	timerfd_settime(timer.fd, 0, &soon, NULL);
}

/* Returns the bytes of unread mailboxes, without their numbers, as Linux counts them. */
static size_t count_unread(struct event_channel *channel)
{
	const struct answer *answer;
	size_t bytes, messages;

	events_lock();
	bytes = event_channel_unread(channel, &messages);
	events_unlock();
	SLIST_FOREACH(answer, &waiting, in_waiting)
	{
		if (answer->channel == channel) {
			bytes += answer->len;
			messages++;
		}
	}
	return bytes - messages * sizeof(uint64_t);
}

static int answer_later(struct uverbs_call *uc, struct event_channel *channel,
			const struct devx_command *command)
{
	size_t len = sizeof(uint64_t) + command->out_len;
	struct answer *answer = malloc(sizeof(*answer) + len);
	int ret = answer ? timer_create_once() : ENOMEM;

	if (!ret)
		ret = uc_in(uc, MLX5_IB_ATTR_DEVX_OBJ_QUERY_ASYNC_WR_ID, answer->message,
			    sizeof(uint64_t));
	if (ret) {
		free(answer);
		return ret;
	}
	adapter_pass(uc->adapter, command->in, command->in_len, command->out, command->out_len);
	memcpy(answer->message + sizeof(uint64_t), command->out, command->out_len);
	answer->len = len;
	answer->channel = channel;
	event_channel_get(channel);
	SLIST_INSERT_HEAD(&waiting, answer, in_waiting);
	timer_start();
	return 0;
}

static int check_query(struct uverbs_call *uc, const struct devx_command *command)
{
	const struct object *object = uc_object(uc, MLX5_IB_ATTR_DEVX_OBJ_QUERY_ASYNC_HANDLE);
	uint64_t name = devx_name_in_query(command->in);

	if (fld_get(command->in, GENERAL_OBJ_IN_VHCA_TUNNEL_ID) || !uc->file->uid || !name)
		return EINVAL;
	return devx_object_is(object, name) ? 0 : EINVAL;
}

static int query_with(struct uverbs_call *uc, const struct devx_command *command)
{
	const struct ib_uverbs_attr *fd = uc_attr(uc, MLX5_IB_ATTR_DEVX_OBJ_QUERY_ASYNC_FD);
	struct event_channel *channel =
		event_channel_find(uc->tid, uc->file, fd->data_s64, CHANNEL_DEVX_ANSWERS);
	int ret = channel ? check_query(uc, command) : EBADF;

	if (!ret && count_unread(channel) + command->out_len > MAX_UNREAD)
		ret = EAGAIN;
	return ret ? ret : answer_later(uc, channel, command);
}

static int obj_query_async(struct uverbs_call *uc)
{
	struct devx_command command;
	uint64_t out_len;
	int ret;

	if (uc_in(uc, MLX5_IB_ATTR_DEVX_OBJ_QUERY_ASYNC_OUT_LEN, &out_len, sizeof(out_len)))
		return EFAULT;
	if (out_len > UINT16_MAX)
		return EINVAL;
	ret = devx_command_read(uc, MLX5_IB_ATTR_DEVX_OBJ_QUERY_ASYNC_CMD_IN, out_len, &command);
	if (!ret)
		ret = query_with(uc, &command);
	devx_command_free(&command);
	return ret;
}

static int channel_alloc(struct uverbs_call *uc)
{
	struct event_channel *channel;
	int number;
	int ret = event_channel_create(uc->call, uc->file, CHANNEL_DEVX_ANSWERS, &channel, &number);

	if (ret)
		return ret;
	event_channel_put(channel); /* stays, as its descriptor and pending answers keep it alive */
	uc_set(uc, MLX5_IB_ATTR_DEVX_ASYNC_CMD_FD_ALLOC_HANDLE, number);
	return 0;
}

static const struct uverbs_attr alloc_attrs[] = {
	{ MLX5_IB_ATTR_DEVX_ASYNC_CMD_FD_ALLOC_HANDLE, ATTR_NEW_FD, MANDATORY, 0, 0,
	  MLX5_IB_OBJECT_DEVX_ASYNC_CMD_FD },
};

static const struct uverbs_attr query_attrs[] = {
	{ MLX5_IB_ATTR_DEVX_OBJ_QUERY_ASYNC_HANDLE, ATTR_HANDLE, MANDATORY, 0, 0, ANY_OBJECT },
	{ MLX5_IB_ATTR_DEVX_OBJ_QUERY_ASYNC_CMD_IN, ATTR_IN, MANDATORY, PRM_CMD_IN_SIZE, ANY_SIZE,
	  0 },
	{ MLX5_IB_ATTR_DEVX_OBJ_QUERY_ASYNC_FD, ATTR_FD, MANDATORY, 0, 0,
	  MLX5_IB_OBJECT_DEVX_ASYNC_CMD_FD },
	{ MLX5_IB_ATTR_DEVX_OBJ_QUERY_ASYNC_WR_ID, ATTR_IN, MANDATORY, 8, 8, 0 },
	{ MLX5_IB_ATTR_DEVX_OBJ_QUERY_ASYNC_OUT_LEN, ATTR_CONST, MANDATORY, 8, 8, 0 },
};

static const struct uverbs_method method_table[] = {
	METHOD("DEVX_ASYNC_CMD_FD_ALLOC", MLX5_IB_OBJECT_DEVX_ASYNC_CMD_FD,
	       MLX5_IB_METHOD_DEVX_ASYNC_CMD_FD_ALLOC, channel_alloc, alloc_attrs),
	METHOD("DEVX_OBJ_ASYNC_QUERY", MLX5_IB_OBJECT_DEVX_OBJ, MLX5_IB_METHOD_DEVX_OBJ_ASYNC_QUERY,
	       obj_query_async, query_attrs),
};

const struct uverbs_methods devx_async_methods = METHODS(method_table);

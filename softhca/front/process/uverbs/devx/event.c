/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * event.c - channels by which programs read the device's events (DevX), and subscriptions to events
 * of an object that the program has made, or of ports.
 *
 * A subscription ends with its channel or object. It may name an eventfd, which is then signalled
 * instead. The device reports events from whatever thread runs it, with its lock held; the lock of
 * events.h guards the data here.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <unistd.h>

#include <rdma/mlx5_user_ioctl_verbs.h>

#include "prm/mlx5/cmd.h"
#include "prm/mlx5/eqe.h"
#include "softhca/front/eventfd.h"
#include "softhca/front/process/program/caller.h"
#include "softhca/front/process/uverbs/devx/devx.h"
#include "softhca/front/process/uverbs/objects.h"
#include "util/bits.h"

enum { MAX_EVENTS = 16 /* events in one call */ };

struct devx_channel {
	LIST_ENTRY(devx_channel) in_all;
	struct event_channel *channel; /* holds a reference */
	const struct uverbs_file *file;
	bool omit_data;
};

struct subscription {
	LIST_ENTRY(subscription) in_all;
	struct devx_channel *channel;
	const struct adapter *adapter;
	struct devx_obj *obj; /* NULL: events of ports */
	uint16_t event;
	uint64_t cookie;
	int eventfd;   /* below 0: the channel gets the event */
	uint64_t told; /* number of the last message; for channels without data */
};

static LIST_HEAD(, devx_channel) channels = LIST_HEAD_INITIALIZER(channels);
static LIST_HEAD(, subscription) subscriptions = LIST_HEAD_INITIALIZER(subscriptions);

static uint32_t event_number(const uint8_t *eqe)
{
	switch (fld_get(eqe, EQE_TYPE)) {
	case PRM_EVENT_COMP:
		return fld_get(eqe, EQE_COMP_CQN);
	case PRM_EVENT_CQ_ERROR:
		return fld_get(eqe, EQE_CQ_ERROR_CQN);
	default:
		return fld_get(eqe, EQE_QPN);
	}
}

static uint16_t creator_of(const struct devx_obj *obj)
{
	return obj->made.name >> 32 & 0xffff;
}

/* Returns whether objects created by CREATE raise EVENT. Needed because objects of different kinds
 * may share a number. */
static bool event_has_creator(unsigned int event, uint16_t create)
{
	switch (event) {
	case PRM_EVENT_COMP:
	case PRM_EVENT_CQ_ERROR:
		return create == PRM_OP_CREATE_CQ;
	case PRM_EVENT_SRQ_RQ_LIMIT:
	case PRM_EVENT_SRQ_CATAS_ERROR:
		return create == PRM_OP_CREATE_RMP || create == PRM_OP_CREATE_XRC_SRQ ||
		       create == PRM_OP_CREATE_XRQ;
	default:
		return create == PRM_OP_CREATE_QP;
	}
}

static bool is_about(const struct subscription *sub, const uint8_t *eqe)
{
	const struct devx_obj *obj = sub->obj;

	return !obj || ((uint32_t)obj->made.name == event_number(eqe) &&
			event_has_creator(sub->event, creator_of(obj)));
}

/* Queues a message for a channel without data, unless the program has not read the last one of this
 * subscription. */
static void subscription_announce(struct subscription *sub)
{
	struct event_channel *channel = sub->channel->channel;

	if (sub->told <= event_channel_read_count(channel))
		sub->told = event_channel_send(channel, &sub->cookie, sizeof(sub->cookie));
}

static void event_deliver(struct subscription *sub, const uint8_t *eqe)
{
	uint8_t message[sizeof(sub->cookie) + PRM_EQE_SIZE];

	if (sub->eventfd >= 0) {
		eventfd_signal(sub->eventfd);
		return;
	}
	if (sub->channel->omit_data) {
		subscription_announce(sub);
		return;
	}
	memcpy(message, &sub->cookie, sizeof(sub->cookie));
	memcpy(message + sizeof(sub->cookie), eqe, PRM_EQE_SIZE);
	event_channel_send(sub->channel->channel, message, sizeof(message));
}

void devx_event_from_device(const struct adapter *adapter, const uint8_t *eqe)
{
	unsigned int type = fld_get(eqe, EQE_TYPE);
	struct subscription *sub;

	LIST_FOREACH(sub, &subscriptions, in_all)
		if (sub->event == type && sub->adapter == adapter && is_about(sub, eqe))
			event_deliver(sub, eqe);
}

static void subscription_drop(struct subscription *sub)
{
	LIST_REMOVE(sub, in_all);
	if (sub->eventfd >= 0)
		close(sub->eventfd);
	free(sub);
}

/* Ends the subscriptions of CHANNEL and of OBJ; either may be NULL. */
static void drop_subscriptions(const struct devx_channel *channel, const struct devx_obj *obj)
{
	struct subscription *next;

	for (struct subscription *sub = LIST_FIRST(&subscriptions); sub; sub = next) {
		next = LIST_NEXT(sub, in_all);
		if ((channel && sub->channel == channel) || (obj && sub->obj == obj))
			subscription_drop(sub);
	}
}

void devx_event_forget(struct devx_obj *obj)
{
	events_lock();
	drop_subscriptions(NULL, obj);
	events_unlock();
}

struct wish {
	struct devx_channel *channel;
	struct devx_obj *obj;
	uint64_t cookie;
	int32_t eventfd; /* the program's descriptor; below 0: none */
	uint16_t event[MAX_EVENTS];
	unsigned int events;
};

static bool is_of_objects(uint16_t event)
{
	static const uint16_t known[] = {
		PRM_EVENT_COMP,
		PRM_EVENT_PATH_MIG,
		PRM_EVENT_COMM_EST,
		PRM_EVENT_SQ_DRAINED,
		PRM_EVENT_CQ_ERROR,
		PRM_EVENT_WQ_CATAS_ERROR,
		PRM_EVENT_PATH_MIG_FAILED,
		PRM_EVENT_WQ_INVAL_REQ_ERROR,
		PRM_EVENT_WQ_ACCESS_ERROR,
		PRM_EVENT_SRQ_CATAS_ERROR,
		PRM_EVENT_SRQ_LAST_WQE,
		PRM_EVENT_SRQ_RQ_LIMIT,
		PRM_EVENT_XRQ_ERROR,
		PRM_EVENT_DCT_DRAINED,
		PRM_EVENT_DCT_KEY_VIOLATION,
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(known); i++)
		if (known[i] == event)
			return true;
	return false;
}

static int check_events(const struct wish *wish)
{
	for (unsigned int i = 0; i < wish->events; i++)
		if (wish->obj ? !is_of_objects(wish->event[i])
			      : wish->event[i] != PRM_EVENT_PORT_CHANGE)
			return EINVAL;
	return 0;
}

/* Copies the caller's descriptor FD. */
static int copy_eventfd(const struct call *call, int fd, int *copy)
{
	int ret;

	*copy = -1;
	if (fd < 0)
		return 0;
	*copy = caller_fd_copy(call, fd);
	if (*copy < 0)
		return EBADF;
	ret = eventfd_is(*copy) ? 0 : EINVAL;
	if (ret)
		close(*copy);
	return ret;
}

static int subscribe_to(struct uverbs_call *uc, const struct wish *wish, uint16_t event)
{
	struct subscription *sub = calloc(1, sizeof(*sub));
	int ret = sub ? copy_eventfd(uc->call, wish->eventfd, &sub->eventfd) : ENOMEM;

	if (ret) {
		free(sub);
		return ret;
	}
	sub->channel = wish->channel;
	sub->adapter = uc->adapter;
	sub->obj = wish->obj;
	sub->event = event;
	sub->cookie = wish->cookie;
	if (sub->obj)
		sub->obj->is_watched = true;
	events_lock();
	LIST_INSERT_HEAD(&subscriptions, sub, in_all);
	events_unlock();
	return 0;
}

/* Subscribes to all events, or to none: on failure it removes those already added, which are first
 * in the list. */
static int subscribe_to_all(struct uverbs_call *uc, const struct wish *wish)
{
	int ret = 0;

	for (unsigned int i = 0; i < wish->events; i++) {
		ret = subscribe_to(uc, wish, wish->event[i]);
		if (!ret)
			continue;
		events_lock();
		while (i-- > 0)
			subscription_drop(LIST_FIRST(&subscriptions));
		events_unlock();
		break;
	}
	return ret;
}

static struct devx_channel *find_channel(struct uverbs_call *uc, uint16_t id)
{
	const struct ib_uverbs_attr *attr = uc_attr(uc, id);
	struct event_channel *found =
		event_channel_find(uc->tid, uc->file, attr->data_s64, CHANNEL_DEVX_EVENTS);
	struct devx_channel *channel;

	LIST_FOREACH(channel, &channels, in_all)
		if (found && channel->channel == found && channel->file == uc->file)
			return channel;
	return NULL;
}

static int read_target(struct uverbs_call *uc, struct wish *wish)
{
	wish->eventfd = -1;
	if (!uc_attr(uc, MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_FD_NUM))
		return 0;
	if (uc_in(uc, MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_FD_NUM, &wish->eventfd,
		  sizeof(wish->eventfd)))
		return EFAULT;
	if (uc_attr(uc, MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_COOKIE))
		return EINVAL;
	return wish->eventfd < 0 ? EBADF : 0;
}

static int read_wish(struct uverbs_call *uc, struct wish *wish)
{
	size_t bytes = uc_len(uc, MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_TYPE_NUM_LIST);
	int ret = read_target(uc, wish);

	if (ret)
		return ret;
	wish->channel = find_channel(uc, MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_FD_HANDLE);
	wish->obj = uc_object(uc, MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_OBJ_HANDLE);
	if (!wish->channel)
		return EBADF;
	if (bytes % sizeof(uint16_t) || bytes > sizeof(wish->event))
		return EINVAL;
	wish->events = bytes / sizeof(uint16_t);
	if (uc_in(uc, MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_COOKIE, &wish->cookie,
		  sizeof(wish->cookie)) ||
	    uc_in(uc, MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_TYPE_NUM_LIST, wish->event, bytes))
		return EFAULT;
	return 0;
}

static int subscribe(struct uverbs_call *uc)
{
	struct wish wish;
	int ret = uc->file->uid ? read_wish(uc, &wish) : EINVAL;

	if (!ret)
		ret = check_events(&wish);
	return ret ? ret : subscribe_to_all(uc, &wish);
}

static void channel_drop(struct devx_channel *channel)
{
	events_lock();
	drop_subscriptions(channel, NULL);
	LIST_REMOVE(channel, in_all);
	events_unlock();
	event_channel_put(channel->channel);
	free(channel);
}

static void channel_closed(struct event_channel *closed)
{
	struct devx_channel *channel;

	LIST_FOREACH(channel, &channels, in_all) {
		if (channel->channel == closed) {
			channel_drop(channel);
			return;
		}
	}
}

void devx_event_forget_file(const struct uverbs_file *file)
{
	struct devx_channel *next;

	for (struct devx_channel *channel = LIST_FIRST(&channels); channel; channel = next) {
		next = LIST_NEXT(channel, in_all);
		if (channel->file == file) {
			event_channel_on_close(channel->channel, NULL);
			channel_drop(channel);
		}
	}
}

static int channel_alloc(struct uverbs_call *uc)
{
	struct devx_channel *channel;
	uint64_t flags;
	int number, ret;

	if (uc_in(uc, MLX5_IB_ATTR_DEVX_ASYNC_EVENT_FD_ALLOC_FLAGS, &flags, sizeof(flags)))
		return EFAULT;
	if (flags & ~(uint64_t)MLX5_IB_UAPI_DEVX_CR_EV_CH_FLAGS_OMIT_DATA)
		return EINVAL;
	channel = calloc(1, sizeof(*channel));
	if (!channel)
		return ENOMEM;
	ret = event_channel_create(uc->call, uc->file, CHANNEL_DEVX_EVENTS, &channel->channel,
				   &number);
	if (ret) {
		free(channel);
		return ret;
	}
	channel->file = uc->file;
	channel->omit_data = flags & MLX5_IB_UAPI_DEVX_CR_EV_CH_FLAGS_OMIT_DATA;
	event_channel_on_close(channel->channel, channel_closed);
	LIST_INSERT_HEAD(&channels, channel, in_all);
	uc_set(uc, MLX5_IB_ATTR_DEVX_ASYNC_EVENT_FD_ALLOC_HANDLE, number);
	return 0;
}

static const struct uverbs_attr alloc_attrs[] = {
	{ MLX5_IB_ATTR_DEVX_ASYNC_EVENT_FD_ALLOC_HANDLE, ATTR_NEW_FD, MANDATORY, 0, 0,
	  MLX5_IB_OBJECT_DEVX_ASYNC_EVENT_FD },
	{ MLX5_IB_ATTR_DEVX_ASYNC_EVENT_FD_ALLOC_FLAGS, ATTR_IN, MANDATORY, 4, 8, 0 },
};

static const struct uverbs_attr subscribe_attrs[] = {
	{ MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_FD_HANDLE, ATTR_FD, MANDATORY, 0, 0,
	  MLX5_IB_OBJECT_DEVX_ASYNC_EVENT_FD },
	{ MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_OBJ_HANDLE, ATTR_HANDLE, OPTIONAL, 0, 0,
	  MLX5_IB_OBJECT_DEVX_OBJ },
	{ MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_TYPE_NUM_LIST, ATTR_IN, MANDATORY, 2, ANY_SIZE, 0 },
	{ MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_COOKIE, ATTR_IN, OPTIONAL, 8, 8, 0 },
	{ MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_FD_NUM, ATTR_IN, OPTIONAL, 4, 4, 0 },
};

static const struct uverbs_method method_table[] = {
	METHOD("DEVX_ASYNC_EVENT_FD_ALLOC", MLX5_IB_OBJECT_DEVX_ASYNC_EVENT_FD,
	       MLX5_IB_METHOD_DEVX_ASYNC_EVENT_FD_ALLOC, channel_alloc, alloc_attrs),
	METHOD("DEVX_SUBSCRIBE_EVENT", MLX5_IB_OBJECT_DEVX, MLX5_IB_METHOD_DEVX_SUBSCRIBE_EVENT,
	       subscribe, subscribe_attrs),
};

const struct uverbs_methods devx_event_methods = METHODS(method_table);

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * async.c - asynchronous event files, and completion channels.
 */
#include <errno.h>

#include <rdma/ib_user_verbs.h>

#include "softhca/front/process/notify.h"
#include "softhca/front/process/uverbs/objects.h"

/* Creates an event file. The first one is the context's default: it gets events of the adapter, and
 * of objects that name no other file. */
static int async_alloc(struct uverbs_call *uc)
{
	struct event_channel *channel;
	int number;
	int ret = event_channel_create(uc->call, uc->file, CHANNEL_VERBS, &channel, &number);

	if (ret)
		return ret;
	uc_set(uc, UVERBS_ATTR_ASYNC_EVENT_ALLOC_FD_HANDLE, number);
	event_channel_set_default(channel, uc->adapter);
	event_channel_entrust(channel, uc->call->holder);
	if (uc->file->async)
		event_channel_put(channel);
	else
		uc->file->async = channel;
	return 0;
}

static int comp_channel_create(struct uverbs_call *uc)
{
	struct ib_uverbs_create_comp_channel_resp resp;
	struct event_channel *channel;
	int number;
	int ret = event_channel_create(uc->call, uc->file, CHANNEL_VERBS, &channel, &number);

	if (ret)
		return ret;
	/* stays, as its descriptor and the CQs that use it keep it alive */
	event_channel_put(channel);
	resp.fd = number;
	return uc_out(uc, UVERBS_ATTR_CORE_OUT, &resp, sizeof(resp));
}

static const struct uverbs_attr async_attrs[] = {
	{ UVERBS_ATTR_ASYNC_EVENT_ALLOC_FD_HANDLE, ATTR_NEW_FD, MANDATORY, 0, 0,
	  UVERBS_OBJECT_ASYNC_EVENT },
};

static const struct uverbs_method method_table[] = {
	METHOD("ASYNC_EVENT_ALLOC", UVERBS_OBJECT_ASYNC_EVENT, UVERBS_METHOD_ASYNC_EVENT_ALLOC,
	       async_alloc, async_attrs),
};

static const struct uverbs_write write_table[] = {
	{ "CREATE_COMP_CHANNEL", IB_USER_VERBS_CMD_CREATE_COMP_CHANNEL,
	  sizeof(struct ib_uverbs_create_comp_channel),
	  sizeof(struct ib_uverbs_create_comp_channel_resp), comp_channel_create },
};

const struct uverbs_methods async_methods = METHODS(method_table);
const struct uverbs_writes async_writes = METHODS(write_table);

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * publish.c - ends the call of a method that has made or destroys an object.
 *
 * A method publishes its object last, because the program may use the object from then on.
 */
#include <errno.h>

#include "softhca/front/process/uverbs/objects.h"
#include "softhca/front/process/uverbs/uverbs.h"

int uc_publish(struct uverbs_call *uc, struct object *object)
{
	int ret = object_publish(object);

	pinned_take(uc->client, &object->pinned);
	if (ret) {
		object->destroy(object, uc->tid);
		object_free(object);
	}
	return ret;
}

int uc_return_object(struct uverbs_call *uc, uint16_t id, struct object *object)
{
	int ret = uc_publish(uc, object);

	if (!ret)
		uc_set(uc, id, object->handle);
	return ret;
}

int uc_return_made(struct uverbs_call *uc, int ret, uint16_t id, struct object *object)
{
	if (!ret)
		return uc_return_object(uc, id, object);
	object_free(object);
	return ret;
}

int uc_answered(struct uverbs_call *uc, int ret, struct object *object)
{
	if (ret)
		object_destroy(object, uc->tid);
	return ret;
}

int uc_destroy_reporting(struct uverbs_call *uc, struct object *object,
			 const struct event_source *events, uint16_t id)
{
	int ret = object_take_down(object, uc->tid);
	uint32_t reported;

	if (ret)
		return ret;
	reported = events->async_read;
	object_forget(object);
	return uc_out(uc, id, &reported, sizeof(reported));
}

int uc_destroy_by_handle(struct uverbs_call *uc, uint16_t type)
{
	struct object *object;
	uint32_t handle;
	int ret;

	if (uc_in(uc, UVERBS_ATTR_CORE_IN, &handle, sizeof(handle)))
		return EFAULT;
	ret = object_find(uc->file, type, handle, &object);
	return ret ? ret : object_destroy(object, uc->tid);
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * context.c - contexts of a guest. The guest's object has our struct verbs_context at its end, so
 * both sides, and the program, use one context. Our library closes the file.
 */
#include "guest.h"

#include "util/alloc.h"

/* Returns the offset of a context in an object of SIZE bytes, or SIZE if the context does not
 * fit. */
static size_t offset_in(const struct host_context *at, size_t size)
{
	const size_t offset = (size_t)(uintptr_t)at;

	return size >= sizeof(*at) && offset <= size - sizeof(*at) ? offset : size;
}

/* Allocates a provider's object of SIZE bytes, with a context in it. AT is the context's offset, in
 * the form of a pointer. */
GUEST_CALL(void *, _verbs_init_and_alloc_context,
	   (struct ibv_device * device, int cmd_fd, size_t size, struct host_context *at,
	    uint32_t driver_id))
{
	const size_t offset = offset_in(at, size);
	struct verbs_context *vctx;
	char *object;
	int err;

	if (offset == size) {
		verbs_error("open_device %s: refused: a context of " GUEST_NODE " has %zu bytes, "
			    "the provider's ends before",
			    device->name, sizeof(*at));
		return fail_null(EPROTO);
	}
	object = calloc_for("ibv_open_device", 1, size);
	if (!object)
		return fail_null(ENOMEM);
	vctx = guest_to_vctx((struct host_context *)(object + offset));
	err = verbs_context_init_sized(vctx, to_vdev(device), cmd_fd, sizeof(struct host_context));
	if (!err) {
		to_priv(&vctx->context)->driver_id = driver_id;
		to_priv(&vctx->context)->foreign =
			calloc_for("ibv_open_device", 1, sizeof(struct host_context_ops));
		if (to_priv(&vctx->context)->foreign)
			return object;
		verbs_context_cleanup(vctx);
		err = ENOMEM;
	}
	free(object);
	return fail_null(err);
}

GUEST_CALL(void, verbs_uninit_context, (struct host_context * context))
{
	free(guest_table(&context->context));
	verbs_context_cleanup(guest_to_vctx(context));
}

static const struct host_device_ops *ops_of(const struct verbs_device *vdev)
{
	return ((const struct guest_driver *)vdev->driver)->ops;
}

/* Refuses a guest whose table of operations is of another release. */
static int check_table(struct verbs_device *vdev)
{
	const struct guest_driver *guest = (const struct guest_driver *)vdev->driver;
	const char *misplaced = guest->misplaced, *how = guest->fault_how;

	if (misplaced)
		verbs_error("open_device %s: refused: provider %s has %s in the place of another "
			    "operation: "
			    "it was built for another release than " GUEST_TEXT(
				    HOST_FIRST_RELEASE) " to " GUEST_TEXT(HOST_LAST_RELEASE),
			    vdev->seen->name, guest->ops->name, misplaced);
	else if (how)
		verbs_error(
			"open_device %s: refused: provider %s has %s %s, and no file's name tells "
			"that it was built for a release of " GUEST_TEXT(
				HOST_FIRST_RELEASE) " to " GUEST_TEXT(HOST_LAST_RELEASE),
			vdev->seen->name, guest->ops->name, how, guest->fault_name);
	return misplaced || how ? EPROTO : 0;
}

/* Checks a guest's table of operations, now that it is complete. */
static int prove_table(struct verbs_device *vdev, const struct host_context_ops *table)
{
	struct guest_driver *guest = (struct guest_driver *)(uintptr_t)vdev->driver;
	struct guest_fault fault;

	if (guest->is_known)
		return 0;
	fault = guest_unproved(guest, table);
	guest->fault_name = fault.name;
	guest->fault_how = fault.how;
	return check_table(vdev);
}

static int taken(struct host_context *context, struct verbs_context **vctx)
{
	int err;

	if (!context)
		return guest_error();
	err = check_table(to_vdev(context->context.device));
	if (err)
		return err; /* its memory stays, as free_context is not known */
	if (!guest_table(&context->context)->free_context) {
		verbs_error("open_device %s: refused: the provider has no free_context",
			    context->context.device->name);
		return EPROTO;
	}
	err = prove_table(to_vdev(context->context.device), guest_table(&context->context));
	if (!err)
		*vctx = guest_to_vctx(context);
	return err; /* without proof, its memory stays, too */
}

int guest_alloc_as(struct verbs_device *vdev, int cmd_fd, const void *how,
		   struct verbs_context **vctx)
{
	int err = check_table(vdev);

	if (err)
		return err;
	errno = 0;
	return taken(ops_of(vdev)->alloc_context(vdev->seen, cmd_fd, (void *)(uintptr_t)how), vctx);
}

int guest_alloc(struct verbs_device *vdev, int cmd_fd, struct verbs_context **vctx)
{
	return guest_alloc_as(vdev, cmd_fd, NULL, vctx);
}

int guest_import(struct verbs_device *vdev, int cmd_fd, struct verbs_context **vctx)
{
	int err = check_table(vdev);

	if (err)
		return err;
	errno = 0;
	return taken(ops_of(vdev)->import_context(vdev->seen, cmd_fd), vctx);
}

void guest_free(struct verbs_context *vctx)
{
	guest_table(&vctx->context)->free_context(&vctx->context);
}

GUEST_CALL(struct ibv_context *, verbs_open_device, (struct ibv_device * device, void *how))
{
	return verbs_open_device_as(device, how);
}

/* Copies core_support to the guest's device, where guests look for features of the kernel's core,
 * as in the distribution's library. */
static int got_context(struct ibv_context *context, int err)
{
	if (!err)
		((struct host_device *)context->device)->core_support =
			to_priv(context)->core_support;
	return guest_result(err);
}

#if HOST_NUMBER >= 65
GUEST_CALL(int, ibv_cmd_get_context,
	   (struct host_context * context, void *cmd, size_t cmd_size, struct ibv_fd_arr *fds,
	    struct ib_uverbs_get_context_resp *resp, size_t resp_size))
{
#else
GUEST_CALL(int, ibv_cmd_get_context,
	   (struct host_context * context, void *cmd, size_t cmd_size,
	    struct ib_uverbs_get_context_resp *resp, size_t resp_size))
{
	const struct ibv_fd_arr *fds = NULL;
#endif
	const struct verbs_udata udata =
		guest_udata(cmd, cmd_size, WRITE_CORE(struct ib_uverbs_get_context), resp,
			    resp_size, sizeof(*resp));
	int err = verbs_cmd_get_context_with(guest_to_vctx(context), &udata, fds);

	if (!err && resp)
		resp->num_comp_vectors = (uint32_t)context->context.num_comp_vectors;
	return got_context(&context->context, err);
}

GUEST_CALL(int, ibv_cmd_query_context,
	   (struct ibv_context * context, const struct guest_buffer *buffer))
{
	struct guest_attrs more;
	int err = guest_attrs_of(buffer, &more);
	const struct verbs_udata udata = { .attrs = more.attrs, .nattrs = more.count };

	if (!err)
		err = verbs_cmd_query_context(to_vctx(context), &udata);
	return got_context(context, err);
}

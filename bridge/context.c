/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * context.c - contexts, as libibverbs/context.c has them for a provider outside the bridge. The
 * host opens the device's file, initializes and releases its part of a context, and closes the
 * file.
 *
 *	struct verbs_ex_private | the provider's context, with struct verbs_context in it
 *	our commands' state     | whose end is the host's context
 *	<----------------- allocated by the host ------------------>
 */
#include "bridge/host.h"

#include <stdlib.h>

/* Size of struct verbs_ex_private, which precedes the provider's context, in whole cache lines. */
#define PRIV_SIZE ((sizeof(struct verbs_ex_private) + 63) / 64 * 64)

/* Offset from a context's verbs_ex_private to its struct verbs_context. A provider has one type of
 * context, so the offset is a constant. */
static size_t vctx_at;

struct verbs_ex_private *bridge_priv(struct ibv_context *context)
{
	return (struct verbs_ex_private *)((char *)to_vctx(context) - vctx_at);
}

/* Returns NULL if the host has laid out its part of the context as the bridge expects, otherwise
 * the first difference. */
static const char *difference_of(const struct host_context *made, const struct ibv_device *device,
				 int cmd_fd)
{
	if (made->sz != sizeof(*made))
		return "size";
	if (made->context.device != device)
		return "device";
	return made->context.cmd_fd == cmd_fd ? NULL : "file";
}

static bool host_is_as_told(const struct host_context *made, const struct ibv_device *device,
			    int cmd_fd)
{
	const char *difference = difference_of(made, device, cmd_fd);

	if (!difference)
		return true;
	verbs_error("open_device %s: refused: this libibverbs lays out contexts differently from "
		    "%s, of %zu bytes: their %s is elsewhere",
		    device->name, HOST_NODE, sizeof(*made), difference);
	return false;
}

/* Allocates a context. As soon as the host has made its part, that part owns CMD_FD. */
int verbs_context_alloc(struct verbs_device *vdev, int cmd_fd, size_t size, size_t offset,
			struct verbs_context **vctx)
{
	const size_t at = PRIV_SIZE + offset;
	struct verbs_ex_private *priv;
	struct verbs_context *new;
	int err;

	vctx_at = at;
	priv = _verbs_init_and_alloc_context(&vdev->device, cmd_fd, PRIV_SIZE + size,
					     (struct host_context *)(at + HOST_CONTEXT_AT),
					     vdev->info.driver_id);
	if (!priv)
		return errno ? errno : ENOMEM;
	new = (struct verbs_context *)((char *)priv + at);
	if (!host_is_as_told(to_host_context(new), &vdev->device, cmd_fd)) {
		/* The host undoes its part, file included, at the address where it made it, so the
		 * provider's part must not. */
		verbs_uninit_context(to_host_context(new));
		free(priv);
		return EPROTO;
	}
	priv->driver_id = vdev->info.driver_id;
	priv->lost_is_destroyed = verbs_env_is_on("RDMAV_ALLOW_DISASSOC_DESTROY");
	verbs_ops_set_defaults(new);
	err = bridge_ops_install(new);
	if (err) {
		verbs_context_free(new, offset);
		return err;
	}
	*vctx = new;
	return 0;
}

void verbs_context_free(struct verbs_context *vctx, size_t offset)
{
	struct verbs_ex_private *priv = to_priv(&vctx->context);

	(void)offset; /* unused, as the host has received it in verbs_context_alloc() */
	free(priv->limits);
	verbs_uninit_context(to_host_context(vctx));
	free(priv);
}

/* Copies core_support to the host's device. Without core_support, the host would believe that the
 * kernel does not know optional access flags, and would drop these. */
static struct host_context *hand_over(struct verbs_device *vdev, struct verbs_context *vctx)
{
	to_host_device(vdev)->core_support = to_priv(&vctx->context)->core_support;
	return to_host_context(vctx);
}

struct host_context *bridge_context_alloc(struct ibv_device *device, int cmd_fd, void *how)
{
	struct verbs_device *vdev = to_vdev(device);
	struct verbs_context *vctx;
	int err = how ? vdev->driver->alloc_context_as(vdev, cmd_fd, how, &vctx)
		      : vdev->driver->alloc_context(vdev, cmd_fd, &vctx);

	return err ? fail_null(err) : hand_over(vdev, vctx);
}

struct host_context *bridge_context_import(struct ibv_device *device, int cmd_fd)
{
	struct verbs_device *vdev = to_vdev(device);
	struct verbs_context *vctx;
	int err = vdev->driver->import_context(vdev, cmd_fd, &vctx);

	return err ? fail_null(err) : hand_over(vdev, vctx);
}

void bridge_context_free(struct ibv_context *context)
{
	verbs_driver_of(context->device)->free_context(to_vctx(context));
}

struct ibv_context *verbs_open_device_as(struct ibv_device *device, const void *how)
{
	return verbs_open_device(device, (void *)(uintptr_t)how);
}

/* Fails: the host frees only device lists that it has made itself. */
int verbs_device_offer(const struct verbs_driver *driver, const struct verbs_device_info *info,
		       struct ibv_device ***list)
{
	(void)driver;
	(void)info;
	(void)list;
	verbs_warn("mlx5dv_get_vfio_device_list: not below the distribution's libibverbs");
	return EOPNOTSUPP;
}

/* Marks that the QP has an ibv_qp_ex. A host before release 45 looks for the mark at
 * bridge_qp_mask_at, where our struct ibv_qp_ex has a call. */
void verbs_qp_set_ex(struct verbs_qp *vqp)
{
	const uint32_t mark = VERBS_QP_HAS_EX;

	vqp->ex = mark;
	memcpy((char *)vqp + bridge_qp_mask_at, &mark, sizeof(mark));
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * linux_5_4.c - makes a newer kernel answer uverbs ioctls as Linux 5.4 does.
 *
 * It is preloaded into a program (LD_PRELOAD). Methods that came later are answered
 * EPROTONOSUPPORT, and the driver is not told that libmlx5 knows doorbell pages as objects: it then
 * goes about them as it did before it had those.
 *
 * A context, though, is had from Linux 6.15 on by the later method only, so that is let through: in
 * the former, attribute 2 is the command's number, which the kernel takes for the descriptors that
 * are attribute 2 of the later one (UVERBS_ATTR_GET_CONTEXT_FD_ARR), and refuses with EBADF.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/mlx5-abi.h>
#include <rdma/mlx5_user_ioctl_cmds.h>
#include <rdma/rdma_user_ioctl_cmds.h>

struct method {
	uint16_t object, method;
};

/* Linux 5.5 to 5.19 brought these. */
static const struct method later[] = {
	{ UVERBS_OBJECT_DEVICE, UVERBS_METHOD_GET_CONTEXT },
	{ UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_CONTEXT },
	{ UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_GID_TABLE },
	{ UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_GID_ENTRY },
	{ UVERBS_OBJECT_ASYNC_EVENT, UVERBS_METHOD_ASYNC_EVENT_ALLOC },
	{ UVERBS_OBJECT_MR, UVERBS_METHOD_QUERY_MR },
	{ UVERBS_OBJECT_MR, UVERBS_METHOD_REG_DMABUF_MR },
	{ UVERBS_OBJECT_QP, UVERBS_METHOD_QP_CREATE },
	{ UVERBS_OBJECT_QP, UVERBS_METHOD_QP_DESTROY },
	{ UVERBS_OBJECT_SRQ, UVERBS_METHOD_SRQ_CREATE },
	{ UVERBS_OBJECT_SRQ, UVERBS_METHOD_SRQ_DESTROY },
	{ UVERBS_OBJECT_WQ, UVERBS_METHOD_WQ_CREATE },
	{ UVERBS_OBJECT_WQ, UVERBS_METHOD_WQ_DESTROY },
	{ MLX5_IB_OBJECT_UAR, MLX5_IB_METHOD_UAR_OBJ_ALLOC },
	{ MLX5_IB_OBJECT_UAR, MLX5_IB_METHOD_UAR_OBJ_DESTROY },
};

static bool context_is_native(void)
{
	struct utsname name;
	int major = 0, minor = 0;

	if (uname(&name) || sscanf(name.release, "%d.%d", &major, &minor) != 2)
		return false;
	return major > 6 || (major == 6 && minor >= 15);
}

static bool opens_natively(const struct ib_uverbs_ioctl_hdr *hdr)
{
	return hdr->object_id == UVERBS_OBJECT_DEVICE &&
	       hdr->method_id == UVERBS_METHOD_GET_CONTEXT;
}

/* The file for events comes with the former method, and by one of its own with the later. */
static bool is_for_context(const struct ib_uverbs_ioctl_hdr *hdr)
{
	return opens_natively(hdr) || (hdr->object_id == UVERBS_OBJECT_ASYNC_EVENT &&
				       hdr->method_id == UVERBS_METHOD_ASYNC_EVENT_ALLOC);
}

static bool is_later(const struct ib_uverbs_ioctl_hdr *hdr)
{
	if (is_for_context(hdr) && context_is_native())
		return false;
	for (size_t i = 0; i < sizeof(later) / sizeof(*later); i++)
		if (hdr->object_id == later[i].object && hdr->method_id == later[i].method)
			return true;
	return false;
}

static struct ib_uverbs_attr *attr_find(struct ib_uverbs_ioctl_hdr *hdr, uint16_t id)
{
	for (unsigned int i = 0; i < hdr->num_attrs; i++)
		if (hdr->attrs[i].attr_id == id)
			return &hdr->attrs[i];
	return NULL;
}

/* The driver's part of what opens a context, which Linux 5.4 knows in the form of write(). */
static struct ib_uverbs_attr *open_request(struct ib_uverbs_ioctl_hdr *hdr)
{
	struct ib_uverbs_attr *command = attr_find(hdr, UVERBS_ATTR_WRITE_CMD);

	if (opens_natively(hdr))
		return attr_find(hdr, UVERBS_ATTR_UHW_IN);
	if (hdr->object_id != UVERBS_OBJECT_DEVICE || hdr->method_id != UVERBS_METHOD_INVOKE_WRITE)
		return NULL;
	if (!command || command->data != IB_USER_VERBS_CMD_GET_CONTEXT)
		return NULL;
	return attr_find(hdr, UVERBS_ATTR_UHW_IN);
}

typedef int (*ioctl_fn)(int fd, unsigned long request, ...);

static int open_without_uar_objects(ioctl_fn next, int fd, void *request,
				    struct ib_uverbs_attr *attr)
{
	struct mlx5_ib_alloc_ucontext_req_v2 req;
	uint64_t data = attr->data;
	int ret;

	if (attr->len != sizeof(req)) {
		errno = EINVAL;
		return -1;
	}
	memcpy(&req, (const void *)(uintptr_t)data, sizeof(req));
	req.lib_caps &= ~(uint64_t)MLX5_LIB_CAP_DYN_UAR;
	attr->data = (uintptr_t)&req;
	ret = next(fd, RDMA_VERBS_IOCTL, request);
	attr->data = data;
	return ret;
}

__attribute__((visibility("default"))) int ioctl(int fd, unsigned long request, ...)
{
	ioctl_fn next = (ioctl_fn)dlsym(RTLD_NEXT, "ioctl");
	struct ib_uverbs_attr *open;
	va_list args;
	void *arg;

	va_start(args, request);
	arg = va_arg(args, void *);
	va_end(args);
	if (request != RDMA_VERBS_IOCTL)
		return next(fd, request, arg);
	if (is_later(arg)) {
		errno = EPROTONOSUPPORT;
		return -1;
	}
	open = open_request(arg);
	return open ? open_without_uar_objects(next, fd, arg, open) : next(fd, request, arg);
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * group.c - /dev/vfio/GROUP: the group has one device. It is opened by one program at a time, and
 * gives the device only while it is in a container with an IOMMU. It stays open, and in its
 * container, until the device is closed as well. Linux: <linux/vfio.h>
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/vfio.h>
#include <stdio.h>
#include <string.h>

#include "softhca/front/process/client.h"
#include "softhca/front/process/discovery/sysfs_pci.h"
#include "softhca/front/process/driver/adapter.h"
#include "softhca/front/process/node.h"
#include "softhca/front/process/notify.h"
#include "softhca/front/process/program/caller.h"
#include "softhca/front/process/vfio/vfio.h"
#include "util/bits.h"

enum { VFIO_GROUP_MAJOR = 511, NAME_SIZE = 32 };

static struct {
	/* its file and the device's; the last one takes it out of its container */
	unsigned int users;
	struct vfio_container *container; /* NULL: in none */
} group;

static int get_status(struct vfio_file *file, struct call *call)
{
	struct vfio_group_status status;
	const uint64_t addr = call_arg(call, 2);

	(void)file;
	if (caller_read(call, addr, &status, sizeof(status)))
		return EFAULT;
	if (status.argsz < sizeof(status))
		return EINVAL;
	status.flags = VFIO_GROUP_FLAGS_VIABLE;
	if (group.container)
		status.flags |= VFIO_GROUP_FLAGS_CONTAINER_SET;
	return caller_write(call, addr, &status, sizeof(status));
}

static int set_container(struct vfio_file *file, struct call *call)
{
	struct vfio_file *container;
	struct stat st;
	int fd;

	(void)file;
	if (caller_read(call, call_arg(call, 2), &fd, sizeof(fd)))
		return EFAULT;
	if (group.container)
		return EINVAL;
	if (client_fd_stat(call->tid, fd, &st))
		return EBADF;
	container = vfio_file_find(&st);
	if (!container || !vfio_container_of(container))
		return EINVAL;
	group.container = vfio_container_of(container);
	vfio_container_attach(group.container);
	return 0;
}

static void leave_container(void)
{
	if (group.container)
		vfio_container_detach(group.container);
	group.container = NULL;
}

void vfio_group_keep(void)
{
	group.users++;
}

void vfio_group_put(void)
{
	if (!--group.users)
		leave_container();
}

static int unset_container(struct vfio_file *file, struct call *call)
{
	(void)file;
	(void)call;
	vfio_files_settle();
	if (!group.container)
		return EINVAL;
	if (group.users > 1)
		return EBUSY;
	leave_container();
	return 0;
}

static int get_device_fd(struct vfio_file *file, struct call *call)
{
	char name[NAME_SIZE], own[NAME_SIZE];

	(void)file;
	if (caller_read_string(call, call_arg(call, 2), name, sizeof(name)))
		return EFAULT;
	snprintf(own, sizeof(own), ADAPTER_PCI_DOMAIN ":%02x:00.0", vfio_device_shown()->index + 1);
	if (strcmp(name, own))
		return ENODEV;
	if (!group.container || !vfio_container_has_iommu(group.container))
		return EINVAL;
	vfio_device_open(call, vfio_device_get());
	return 0;
}

static const struct vfio_request requests[] = {
	{ VFIO_GROUP_GET_STATUS, get_status },
	{ VFIO_GROUP_SET_CONTAINER, set_container },
	{ VFIO_GROUP_UNSET_CONTAINER, unset_container },
	{ VFIO_GROUP_GET_DEVICE_FD, get_device_fd },
};

static void group_close(struct vfio_file *file)
{
	(void)file;
	vfio_group_put();
}

static const struct vfio_file_kind file_kind = {
	.name = "vfio group",
	.requests = requests,
	.num_requests = ARRAY_SIZE(requests),
	.close = group_close,
};

static void group_open(struct call *call, unsigned int index, uint64_t flags)
{
	int ret;

	(void)index;
	vfio_files_settle();
	ret = group.users ? EBUSY : 0;
	if (!ret)
		ret = vfio_file_open_empty(call, &file_kind, NULL, flags & O_CLOEXEC);
	if (ret)
		call_fail(call, ret);
	else
		vfio_group_keep();
}

static bool group_exists(const struct daemon *daemon, unsigned int index)
{
	(void)daemon;
	return vfio_device_get() && index == VFIO_FIRST_GROUP;
}

static int group_find(const struct stat *st)
{
	const struct vfio_file *file = vfio_file_find(st);

	return file && file->kind == &file_kind ? VFIO_FIRST_GROUP : -1;
}

void vfio_group_start(void)
{
	static struct node_kind kind = {
		.path = "/dev/vfio/",
		.major = VFIO_GROUP_MAJOR,
		.exists = group_exists,
		.open = group_open,
		.find = group_find,
	};

	node_register(&kind);
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * device.c - mlx5dv_get_vfio_device_list(), and the driver of the devices in such lists.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "providers/mlx5/vfio/device.h"
#include "providers/mlx5/vfio/vfio.h"
#include "util/alloc.h"

static int device_alloc(const struct verbs_device_info *info, struct verbs_device **vdev)
{
	struct vfio_device *device = calloc_for("mlx5dv_get_vfio_device_list", 1, sizeof(*device));

	(void)info;
	if (!device)
		return ENOMEM;
	*vdev = &device->vdev;
	return 0;
}

static void device_free(struct verbs_device *vdev)
{
	free(to_vfio_device(vdev));
}

/* Driver of contexts that use VFIO. It is not registered, because the kernel has no device for it
 * that discovery could find. */
const struct verbs_driver mlx5_vfio_driver = {
	.magic = VERBS_DRIVER_MAGIC,
	.name = "mlx5_vfio",
	.has_no_node = true,
	.alloc_device = device_alloc,
	.free_device = device_free,
	.alloc_context = mlx5_vfio_context_alloc,
	.free_context = mlx5_vfio_context_free,
};

static bool name_is_address(const char *name, char out[PCI_NAME_MAX])
{
	unsigned int domain, bus, device, function;
	int length = 0;

	if (!name ||
	    sscanf(name, "%8x:%2x:%2x.%1x%n", &domain, &bus, &device, &function, &length) != 4 ||
	    name[length])
		return false;
	snprintf(out, PCI_NAME_MAX, "%04x:%02x:%02x.%x", domain, bus, device, function);
	return true;
}

static bool device_exists(const char *pci_name)
{
	const unsigned int vendor = mlx5_vfio_files_id(pci_name, "vendor");
	const unsigned int device = mlx5_vfio_files_id(pci_name, "device");

	for (const struct verbs_pci_id *id = verbs_provider_mlx5.pci_ids; id->vendor; id++)
		if (id->vendor == vendor && id->device == device)
			return mlx5_vfio_files_group(pci_name) >= 0;
	return false;
}

static int list_check(const struct mlx5dv_vfio_context_attr *attr)
{
	const uint32_t known = MLX5DV_VFIO_CTX_FLAGS_INIT_LINK_DOWN;

	if (!attr) {
		verbs_warn("mlx5dv_get_vfio_device_list: attr is NULL");
		return EINVAL;
	}
	if (!(attr->flags & ~known) && !attr->comp_mask)
		return 0;
	verbs_warn("mlx5dv_get_vfio_device_list: flags is %#x, known are %#x; comp_mask is %#llx, "
		   "must be 0",
		   attr->flags, known, (unsigned long long)attr->comp_mask);
	return EOPNOTSUPP;
}

static int list_make(const struct mlx5dv_vfio_context_attr *attr, const char *pci_name,
		     struct ibv_device ***list)
{
	struct verbs_device_info info = { .index = -1, .node_type = IBV_NODE_CA };
	struct vfio_device *device;
	int ret;

	snprintf(info.name, sizeof(info.name), "%s", pci_name);
	snprintf(info.uverbs_name, sizeof(info.uverbs_name), "%s", pci_name);
	ret = verbs_device_offer(&mlx5_vfio_driver, &info, list);
	if (ret)
		return ret;
	device = to_vfio_device(to_vdev((*list)[0]));
	memcpy(device->pci_name, pci_name, sizeof(device->pci_name));
	device->flags = attr->flags;
	return 0;
}

DV_EXPORT struct ibv_device **mlx5dv_get_vfio_device_list(struct mlx5dv_vfio_context_attr *attr)
{
	char pci_name[PCI_NAME_MAX] = "";
	struct ibv_device **list;
	int ret = list_check(attr);

	if (ret)
		return dv_fail(ret);
	if (!name_is_address(attr->pci_name, pci_name)) {
		verbs_warn("mlx5dv_get_vfio_device_list: pci_name is no address as 0000:08:00.0");
		/* errno stays, as with release 65.0 */
		return NULL;
	}
	if (!device_exists(pci_name)) {
		verbs_warn("mlx5dv_get_vfio_device_list: %s: no ConnectX with an IOMMU group",
			   pci_name);
		return dv_fail(ENOENT);
	}
	ret = list_make(attr, pci_name, &list);
	return ret ? dv_fail(ret) : list;
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * device.h - an adapter that is driven by VFIO: its PCI address, and how to start it.
 */
#ifndef PROVIDERS_MLX5_VFIO_DEVICE_H
#define PROVIDERS_MLX5_VFIO_DEVICE_H

#include "libibverbs/driver.h"
#include "util/bits.h"

enum { PCI_NAME_MAX = 32 };

struct vfio_device {
	struct verbs_device vdev;
	char pci_name[PCI_NAME_MAX];
	uint32_t flags;
};

static inline struct vfio_device *to_vfio_device(struct verbs_device *vdev)
{
	return container_of(vdev, struct vfio_device, vdev);
}

#endif

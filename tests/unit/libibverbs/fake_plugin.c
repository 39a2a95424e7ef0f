/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * fake_plugin.c - a provider plugin for PCI device 1234:5678, loaded like any other; it opens no
 * device.
 */
#include "libibverbs/driver.h"

#include <errno.h>
#include <stdlib.h>

/* device_test.c looks at it. */
__attribute__((visibility("default"))) int fake_plugin_devices;

/* device_test.c sets it: runs whenever a device is freed. */
__attribute__((visibility("default"))) void (*fake_plugin_freeing)(void);

static int alloc_device(const struct verbs_device_info *info, struct verbs_device **vdev)
{
	(void)info;
	*vdev = calloc(1, sizeof(**vdev));
	fake_plugin_devices += *vdev != NULL;
	return *vdev ? 0 : ENOMEM;
}

static void free_device(struct verbs_device *vdev)
{
	if (fake_plugin_freeing)
		fake_plugin_freeing();
	fake_plugin_devices--;
	free(vdev);
}

static int alloc_context(struct verbs_device *vdev, int cmd_fd, struct verbs_context **vctx)
{
	(void)vdev;
	(void)cmd_fd;
	(void)vctx;
	return ENODEV;
}

static const struct verbs_pci_id pci_ids[] = { { 0x1234, 0x5678 }, {} };

VERBS_DRIVER(fake) = {
	.magic = VERBS_DRIVER_MAGIC,
	.name = "fake",
	.driver_id = 999,
	.pci_ids = pci_ids,
	.min_abi = 1,
	.max_abi = 2,
	.alloc_device = alloc_device,
	.free_device = free_device,
	.alloc_context = alloc_context,
};
VERBS_DRIVER_REGISTER(fake)

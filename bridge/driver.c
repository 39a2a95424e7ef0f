/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * driver.c - registers the provider's driver with the host, and allocates its devices.
 *
 * struct verbs_driver begins with the host's table of the driver, and the host makes each device
 * point to its table. So verbs_driver_of() works for devices of any provider.
 */
#include "bridge/host.h"
#include "util/alloc.h"

static struct verbs_driver *driver;

static struct host_device *device_alloc(struct host_sysfs_dev *sysfs)
{
	struct verbs_device_info info = {
		.driver_id = sysfs->driver_id ? sysfs->driver_id : driver->driver_id,
		.abi_version = sysfs->abi_ver,
		.index = sysfs->ibdev_idx,
		.node_type = (int)sysfs->node_type,
		.node_guid = sysfs->node_guid,
		.uverbs_dev = sysfs->sysfs_cdev,
	};
	struct verbs_device *vdev;
	int err;

	memcpy(info.name, sysfs->ibdev_name, sizeof(info.name));
	memcpy(info.uverbs_name, sysfs->sysfs_name, sizeof(info.uverbs_name));
	memcpy(info.ibdev_path, sysfs->ibdev_path, sizeof(info.ibdev_path));
	err = driver->alloc_device(&info, &vdev);
	if (err)
		return fail_null(err);
	vdev->info = info;
	verbs_info("%s: provider %s in libibverbs of the distribution", info.name, driver->name);
	return to_host_device(vdev);
}

static void device_free(struct host_device *device)
{
	driver->free_device((struct verbs_device *)device);
}

/* Returns the entries that match our devices: by kernel driver, or by PCI ids where the host does
 * not know the driver. */
static struct host_match_ent *match_entries(void)
{
	const struct verbs_pci_id *ids = driver->pci_ids;
	struct host_match_ent *entries;
	size_t count = 0;

	while (ids[count].vendor)
		count++;
	entries = calloc_for("ibv_get_device_list", count + 2, sizeof(*entries));
	if (!entries)
		return NULL;
	entries[0].kind = HOST_MATCH_DRIVER_ID;
	entries[0].driver_id = driver->driver_id;
	for (size_t i = 0; i < count; i++) {
		entries[i + 1].kind = HOST_MATCH_PCI;
		entries[i + 1].vendor = ids[i].vendor;
		entries[i + 1].device = ids[i].device;
	}
	entries[count + 1].kind = HOST_MATCH_END;
	return entries;
}

/* Registers the driver; the provider's constructor calls this. The host keeps a pointer to the
 * table, which stays valid because this library is never unloaded. */
void verbs_register_driver(const struct verbs_driver *registered)
{
	struct host_device_ops table = {
		.name = registered->name,
		.match_min_abi_version = registered->min_abi,
		.match_max_abi_version = registered->max_abi,
		.alloc_context = bridge_context_alloc,
		.import_context = registered->import_context ? bridge_context_import : NULL,
		.alloc_device = device_alloc,
		.uninit_device = device_free,
	};

	if (!bridge_fits(registered->name))
		return;
	driver = (struct verbs_driver *)(uintptr_t)registered;
	table.match_table = match_entries();
	if (!table.match_table)
		return;
	memcpy(driver->of_host, &table, sizeof(table));
	host_register_driver((const struct host_device_ops *)driver->of_host);
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * driver.c - registers a guest as a driver of ours, and makes its devices.
 *
 * Programs see the guest's object of a device. Ours, struct verbs_device, lies elsewhere with the
 * facts that the guest reads about the device; the guest's object points to it where the
 * distribution's library has its list (to_vdev()).
 */
#include "guest.h"

#include <stdio.h>

#include "util/alloc.h"

/* Kinds of match entries. Entries of kind 2 have a pattern for modalias. They are skipped, because
 * the drivers that have them also give a driver id. */
enum { MATCH_END = 0, MATCH_PCI = 1, MATCH_DRIVER_ID = 3 };

struct device {
	struct verbs_device vdev;
	struct host_sysfs_dev sysfs;
};

static bool entry_matches(const struct host_match_ent *entry, const struct verbs_device_info *info)
{
	if (entry->kind == MATCH_DRIVER_ID)
		return info->driver_id && entry->driver_id == info->driver_id;
	return entry->kind == MATCH_PCI && info->pci.vendor && entry->vendor == info->pci.vendor &&
	       entry->device == info->pci.device;
}

static const struct host_match_ent *find_entry(const struct verbs_driver *driver,
					       const struct verbs_device_info *info)
{
	const struct guest_driver *guest = (const struct guest_driver *)driver;
	const struct host_match_ent *entry = guest->ops->match_table;

	for (; entry && entry->kind != MATCH_END; entry++)
		if (entry_matches(entry, info))
			return entry;
	return NULL;
}

static bool driver_matches(const struct verbs_driver *driver, const struct verbs_device_info *info)
{
	return find_entry(driver, info);
}

static uint32_t count_ports(const struct verbs_device_info *info)
{
	char dir[IBV_SYSFS_PATH_MAX + 16], state[32];
	uint32_t ports = 0;

	do {
		snprintf(dir, sizeof(dir), "%s/ports/%u", info->ibdev_path, ports + 1);
	} while (ibv_read_sysfs_file(dir, "state", state, sizeof(state)) >= 0 && ++ports < 255);
	return ports;
}

static void fill_sysfs(struct host_sysfs_dev *sysfs, const struct verbs_device_info *info)
{
	snprintf(sysfs->sysfs_name, sizeof(sysfs->sysfs_name), "%s", info->uverbs_name);
	snprintf(sysfs->ibdev_name, sizeof(sysfs->ibdev_name), "%s", info->name);
	snprintf(sysfs->ibdev_path, sizeof(sysfs->ibdev_path), "%s", info->ibdev_path);
	snprintf(sysfs->modalias, sizeof(sysfs->modalias), "%s", info->modalias);
	sysfs->sysfs_cdev = info->uverbs_dev;
	sysfs->node_guid = info->node_guid;
	sysfs->driver_id = info->driver_id;
	sysfs->node_type = (enum ibv_node_type)info->node_type;
	sysfs->ibdev_idx = info->index;
	sysfs->num_ports = count_ports(info);
	sysfs->abi_ver = info->abi_version;
}

static int device_alloc(const struct verbs_driver *driver, const struct verbs_device_info *info,
			struct verbs_device **vdev)
{
	const struct guest_driver *guest = (const struct guest_driver *)driver;
	struct device *device = calloc_for("ibv_get_device_list", 1, sizeof(*device));
	struct host_device *seen;

	if (!device)
		return ENOMEM;
	fill_sysfs(&device->sysfs, info);
	device->sysfs.match = find_entry(driver, info);
	errno = 0;
	seen = guest->ops->alloc_device(&device->sysfs);
	if (!seen) {
		free(device);
		return guest_error();
	}
	seen->ops = guest->ops;
	seen->sysfs = &device->sysfs;
	((struct verbs_device *)seen)->foreign.mark = VERBS_DEVICE_IS_FOREIGN;
	((struct verbs_device *)seen)->foreign.vdev = &device->vdev;
	device->vdev.seen = &seen->device;
	*vdev = &device->vdev;
	return 0;
}

static void device_free(struct verbs_device *vdev)
{
	const struct guest_driver *guest = (const struct guest_driver *)vdev->driver;

	/* Without it the guest is refused, as nobody knows how to free its object. */
	if (guest->ops->uninit_device)
		guest->ops->uninit_device((struct host_device *)vdev->seen);
	free(vdev); /* the first member of struct device */
}

/* Returns the name of the first required field that a guest's table lacks, or NULL if the table is
 * complete. */
static const char *missing_of(const struct host_device_ops *ops)
{
	if (!ops->name)
		return "name";
	if (!ops->match_table)
		return "match_table";
	if (!ops->alloc_context)
		return "alloc_context";
	return ops->alloc_device ? NULL : "alloc_device";
}

/* Returns whether a guest's table can be used. Logs why not. */
static bool is_usable(const struct host_device_ops *ops)
{
	const char *wrong = missing_of(ops);

	if (wrong) {
		verbs_error("a plugin for " GUEST_NODE " is left out: its table lacks %s", wrong);
		return false;
	}
	wrong = guest_other_node(ops);
	if (wrong) {
		verbs_error("a plugin for " GUEST_NODE " is left out: it needs %s, too", wrong);
		return false;
	}
	wrong = guest_no_function(ops);
	if (wrong)
		verbs_error("a plugin for " GUEST_NODE
			    " is left out: %s in its table leads to nothing of its file",
			    wrong);
	return !wrong;
}

/* Marks a guest and those that its file has registered before: the file's commands are those of all
 * of them. */
static void join_others(struct guest_driver *guest)
{
	static struct guest_driver *last;

	for (struct guest_driver *other = last; other; other = other->before)
		if (guest_same_file(other->ops, guest->ops))
			other->has_others = guest->has_others = true;
	guest->before = last;
	last = guest;
}

static void register_guest(const struct host_device_ops *ops)
{
	struct guest_driver *guest;
	bool is_known;

	if (!is_usable(ops) || !guest_release_fits(ops, &is_known))
		return;
	guest = calloc_for("a provider of the distribution", 1, sizeof(*guest));
	if (!guest)
		return;
	guest->ops = ops;
	guest->is_known = is_known;
	guest->driver = (struct verbs_driver){
		.magic = VERBS_DRIVER_MAGIC,
		.name = ops->name,
		.min_abi = ops->match_min_abi_version,
		.max_abi = ops->match_max_abi_version,
		.free_device = device_free,
		.alloc_context = guest_alloc,
		.alloc_context_as = guest_alloc_as,
		.import_context = ops->import_context ? guest_import : NULL,
		.free_context = guest_free,
		.matches = driver_matches,
		.alloc_device_of = device_alloc,
	};
	join_others(guest);
	verbs_register_driver(&guest->driver);
	verbs_info("provider %s of the distribution is served by " GUEST_NODE, ops->name);
}

#if HOST_NUMBER == 34
GUEST_CALL(void, verbs_register_driver_34, (const struct host_device_ops *ops))
#else
GUEST_CALL(void, verbs_register_driver_65, (const struct host_device_ops *ops))
#endif
{
	register_guest(ops);
}

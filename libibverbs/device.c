/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * device.c - the devices of this host, as lists of struct ibv_device.
 *
 * A device that still exists keeps its struct ibv_device from one list to the next. Reference
 * counts: one of the table below, and one for each list and context with the device; the last one
 * frees it.
 */
#include "libibverbs/private.h"
#include "util/alloc.h"

#include <endian.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static struct verbs_device *known;
static pthread_mutex_t known_lock = PTHREAD_MUTEX_INITIALIZER;

/* ---- children ----
 *
 * Another thread, for instance of librdmacm, may be searching for devices during fork(). Without
 * handlers, a child would inherit the lock held by that thread, and half-built lists.
 */

enum { FORK_WAIT_S = 2 };

/* Whether before_fork() in this thread has taken the lock. After a timeout it has not, and the
 * handlers after fork() must not unlock it. */
static __thread bool has_known_lock;

/* Takes the lock before fork(). The wait is limited, because a signal handler may fork in the
 * thread that holds the lock. It uses the monotonic clock, which cannot be set. */
static void before_fork(void)
{
	struct timespec until;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += FORK_WAIT_S;
	if (!verbs_loader_lock_until(&known_lock, &until))
		return;
	has_known_lock = true;
	verbs_loader_before_fork(&until);
}

static void forked_in_parent(void)
{
	if (!has_known_lock)
		return;
	has_known_lock = false;
	verbs_loader_forked_in_parent();
	pthread_mutex_unlock(&known_lock);
}

static void forked_in_child(void)
{
	has_known_lock = false;
	verbs_loader_forked_in_child();
	pthread_mutex_init(&known_lock, NULL);
}

static void watch_forks_once(void)
{
	pthread_atfork(before_fork, forked_in_parent, forked_in_child);
}

static void watch_forks(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, watch_forks_once);
}

void verbs_device_get(struct verbs_device *vdev)
{
	pthread_mutex_lock(&known_lock);
	vdev->refcount++;
	pthread_mutex_unlock(&known_lock);
}

/* Drops a reference. The last one frees the device, without the lock, as that calls a provider. */
void verbs_device_put(struct verbs_device *vdev)
{
	bool is_last;

	pthread_mutex_lock(&known_lock);
	is_last = !--vdev->refcount;
	pthread_mutex_unlock(&known_lock);
	if (is_last)
		vdev->driver->free_device(vdev);
}

static enum ibv_transport_type transport_of(int node_type)
{
	switch (node_type) {
	case IBV_NODE_CA:
	case IBV_NODE_SWITCH:
	case IBV_NODE_ROUTER:
		return IBV_TRANSPORT_IB;
	case IBV_NODE_RNIC:
		return IBV_TRANSPORT_IWARP;
	case IBV_NODE_USNIC:
		return IBV_TRANSPORT_USNIC;
	case IBV_NODE_USNIC_UDP:
		return IBV_TRANSPORT_USNIC_UDP;
	case IBV_NODE_UNSPECIFIED:
		return IBV_TRANSPORT_UNSPECIFIED;
	default:
		return IBV_TRANSPORT_UNKNOWN;
	}
}

static void fill_device(struct verbs_device *vdev, const struct verbs_driver *driver,
			const struct verbs_device_info *info)
{
	struct ibv_device *device = &vdev->device;

	vdev->driver = driver;
	vdev->info = *info;
	vdev->refcount = 1;
	if (!vdev->info.driver_id)
		vdev->info.driver_id = driver->driver_id;
	if (!vdev->seen)
		vdev->seen = device;
	device->node_type = info->node_type;
	device->transport_type = transport_of(info->node_type);
	memcpy(device->name, info->name, sizeof(device->name));
	memcpy(device->dev_name, info->uverbs_name, sizeof(device->dev_name));
	memcpy(device->dev_path, info->uverbs_path, sizeof(device->dev_path));
	memcpy(device->ibdev_path, info->ibdev_path, sizeof(device->ibdev_path));
	if (vdev->seen != device)
		*vdev->seen = *device;
}

static bool known_and_differ(uint64_t a, uint64_t b)
{
	return a && b && a != b;
}

/* Returns whether A and B describe the same device. If ib_core was reloaded, a new device may have
 * the name and index of an unplugged one; other facts then differ, for instance the inode of the
 * sysfs directory. A fact that a search did not find is 0, and matches anything. */
static bool is_same_device(const struct verbs_device_info *a, const struct verbs_device_info *b)
{
	return !strcmp(a->name, b->name) && !strcmp(a->uverbs_name, b->uverbs_name) &&
	       a->index == b->index && a->abi_version == b->abi_version &&
	       !known_and_differ(a->uverbs_dev, b->uverbs_dev) &&
	       !known_and_differ(a->driver_id, b->driver_id) &&
	       !known_and_differ(a->node_guid, b->node_guid) &&
	       !known_and_differ(a->identity, b->identity);
}

/* Skipped devices, remembered so that the reason is logged only once. */
struct refused {
	struct verbs_device_info info;
	struct refused *next;
};
static struct refused *refused;

static bool first_refusal(const struct verbs_device_info *info)
{
	struct refused *r;

	for (const struct refused *at = refused; at; at = at->next)
		if (is_same_device(&at->info, info))
			return false;
	r = malloc(sizeof(*r));
	if (r) {
		*r = (struct refused){ *info, refused };
		refused = r;
	}
	return true;
}

static void explain_refusal(const struct verbs_device_info *info, const struct verbs_driver *driver)
{
	const char *foreign = verbs_foreign_provider(info->driver_id);

	if (driver)
		verbs_error("%s is left out: kernel driver ABI %u is not among %u to %u, which "
			    "provider %s speaks",
			    info->name, info->abi_version, driver->min_abi, driver->max_abi,
			    driver->name);
	else if (foreign)
		verbs_error("%s is left out: it needs provider %s of the distribution, and neither "
			    "lib%s-rdmav65.so nor -rdmav34.so was loaded",
			    info->name, foreign, foreign);
	else
		verbs_error("%s is left out: no provider for it is loaded (driver id %u, %s)%s",
			    info->name, info->driver_id,
			    info->modalias[0] ? info->modalias : "not a PCI device",
			    verbs_loader_cure());
}

static const struct verbs_driver *find_driver(const struct verbs_device_info *info)
{
	const struct verbs_driver *driver = verbs_loader_match(info);

	if (!driver) {
		verbs_loader_load_drivers();
		driver = verbs_loader_match(info);
	}
	if (!driver && verbs_loader_load_foreign(info->driver_id))
		driver = verbs_loader_match(info);
	if (driver && info->abi_version >= driver->min_abi && info->abi_version <= driver->max_abi)
		return driver;
	/* No message for a device file that a container was not given, because its absence is
	 * intended. */
	if (verbs_node_exists(info) && first_refusal(info))
		explain_refusal(info, driver);
	return NULL;
}

static struct verbs_device *add_device(struct verbs_device_info *info)
{
	const struct verbs_driver *driver;
	struct verbs_device *vdev;
	int err;

	verbs_sysfs_fill_pci(info);
	driver = find_driver(info);
	if (!driver)
		return NULL;
	err = driver->alloc_device_of ? driver->alloc_device_of(driver, info, &vdev)
				      : driver->alloc_device(info, &vdev);
	if (err) {
		verbs_warn("%s: provider %s: %s", info->name, driver->name, strerror(err));
		return NULL;
	}
	fill_device(vdev, driver, info);
	verbs_info("%s: provider %s, %s", info->name, driver->name, info->uverbs_name);
	return vdev;
}

static struct verbs_device *take_known(const struct verbs_device_info *info)
{
	for (struct verbs_device **at = &known; *at; at = &(*at)->next) {
		struct verbs_device *vdev = *at;

		if (!is_same_device(&vdev->info, info))
			continue;
		*at = vdev->next;
		return vdev;
	}
	return NULL;
}

/* Puts the devices of the table that nothing else refers to into the list *GONE, and empties the
 * table. */
static void drop_known(struct verbs_device **gone)
{
	struct verbs_device *vdev;

	while ((vdev = known)) {
		known = vdev->next;
		if (--vdev->refcount)
			continue;
		vdev->next = *gone;
		*gone = vdev;
	}
}

static void free_gone(struct verbs_device *gone)
{
	struct verbs_device *vdev;

	while ((vdev = gone)) {
		gone = vdev->next;
		vdev->driver->free_device(vdev);
	}
}

/* Updates the table to INFOS: devices not in INFOS are removed. A device that stays keeps its
 * struct, because contexts refer to it. Returns the number of devices. */
static unsigned int update_known(struct verbs_device_info *infos, unsigned int count,
				 struct verbs_device **gone)
{
	struct verbs_device *now = NULL, **tail = &now, *vdev;
	unsigned int n = 0;

	for (unsigned int i = 0; i < count; i++) {
		vdev = take_known(&infos[i]);
		if (!vdev)
			vdev = add_device(&infos[i]);
		if (!vdev)
			continue;
		vdev->next = NULL;
		*tail = vdev;
		tail = &vdev->next;
		n++;
	}
	drop_known(gone);
	known = now;
	return n;
}

static int by_index_then_name(const void *a, const void *b)
{
	const struct verbs_device_info *x = a, *y = b;

	if (x->index != y->index)
		return x->index < y->index ? -1 : 1;
	return strverscmp(x->uverbs_name, y->uverbs_name);
}

/* Looks for devices, and sets *COUNT. The caller frees the devices in *GONE after it has dropped
 * the lock, because that calls a provider. */
static int known_rescan(unsigned int *count, struct verbs_device **gone)
{
	struct verbs_device_info *infos = NULL;
	unsigned int found = 0;
	int err;

	err = verbs_netlink_find_devices(&infos, &found);
	/* Without RDMA netlink, sysfs provides all facts except index and driver_id. */
	if (err && err != ENOMEM)
		err = verbs_sysfs_find_devices(&infos, &found);
	if (!err) {
		if (found)
			qsort(infos, found, sizeof(*infos), by_index_then_name);
		*count = update_known(infos, found, gone);
	}
	free(infos);
	return err;
}

/* Returns whether to list the device. A container may have only some device files, and programs
 * often use the first device of the list, so devices without a file are skipped. They stay in the
 * table: the file may appear, and an imported context needs no file. */
static bool device_is_listed(const struct verbs_device *vdev)
{
	if (verbs_node_exists(&vdev->info))
		return true;
	verbs_info("%s: /dev/infiniband/%s is not there: skipped", vdev->info.name,
		   vdev->info.uverbs_name);
	return false;
}

static int device_list_build(struct ibv_device ***list, int *num, struct verbs_device **gone)
{
	unsigned int count = 0;
	int err = known_rescan(&count, gone);

	if (err)
		return err;
	*list = calloc_for("ibv_get_device_list", count + 1, sizeof(**list));
	if (!*list)
		return ENOMEM;
	*num = 0;
	for (struct verbs_device *vdev = known; vdev; vdev = vdev->next) {
		if (!device_is_listed(vdev))
			continue;
		vdev->refcount++;
		(*list)[(*num)++] = vdev->seen;
	}
	return 0;
}

int verbs_device_find(uint64_t dev, struct verbs_device **vdev)
{
	struct verbs_device *gone = NULL;
	unsigned int count = 0;
	int err;

	watch_forks();
	pthread_mutex_lock(&known_lock);
	err = known_rescan(&count, &gone);
	if (!err)
		err = ENODEV;
	for (struct verbs_device *at = known; at && err == ENODEV; at = at->next) {
		if (at->info.uverbs_dev != dev)
			continue;
		at->refcount++;
		*vdev = at;
		err = 0;
	}
	pthread_mutex_unlock(&known_lock);
	free_gone(gone);
	return err;
}

static void init_once(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, verbs_fork_init_from_environment);
}

#undef ibv_get_device_list
VERBS_EXPORT struct ibv_device **ibv_get_device_list(int *num_devices)
{
	struct ibv_device **list = NULL;
	struct verbs_device *gone = NULL;
	int num = 0, err;

	init_once();
	watch_forks();
	pthread_mutex_lock(&known_lock);
	err = device_list_build(&list, &num, &gone);
	pthread_mutex_unlock(&known_lock);
	free_gone(gone);
	if (err)
		verbs_warn("ibv_get_device_list: %s", strerror(err));
	if (num_devices)
		*num_devices = num;
	return err ? fail_null(err) : list;
}

VERBS_EXPORT int verbs_device_offer(const struct verbs_driver *driver,
				    const struct verbs_device_info *info, struct ibv_device ***list)
{
	struct ibv_device **new = calloc_for("get_device_list", 2, sizeof(*new));
	struct verbs_device *vdev;
	int err = new ? driver->alloc_device(info, &vdev) : ENOMEM;

	if (err) {
		free(new);
		return err;
	}
	init_once();
	watch_forks();
	fill_device(vdev, driver, info);
	new[0] = &vdev->device;
	*list = new;
	return 0;
}

VERBS_EXPORT void ibv_free_device_list(struct ibv_device **list)
{
	for (struct ibv_device **at = list; *at; at++)
		verbs_device_put(to_vdev(*at));
	free(list);
}

VERBS_EXPORT const char *ibv_get_device_name(struct ibv_device *device)
{
	return device->name;
}

VERBS_EXPORT int ibv_get_device_index(struct ibv_device *device)
{
	return to_vdev(device)->info.index;
}

/* Returns the GUID. The file node_guid has the form "0002:c903:0015:1a2b". Netlink's answer is
 * preferred, because /sys may belong to another network namespace. */
VERBS_EXPORT __be64 ibv_get_device_guid(struct ibv_device *device)
{
	const __be64 known_guid = to_vdev(device)->info.node_guid;
	unsigned int part[4];
	uint64_t guid = 0;
	char text[32];

	if (known_guid)
		return known_guid;
	if (verbs_sysfs_read(device->ibdev_path, "node_guid", text, sizeof(text)) ||
	    sscanf(text, "%4x:%4x:%4x:%4x", &part[0], &part[1], &part[2], &part[3]) != 4)
		return 0;
	for (int i = 0; i < 4; i++)
		guid = guid << 16 | part[i];
	return htobe64(guid);
}

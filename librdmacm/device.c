/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * device.c - the devices that ids are bound to. The first id of a device opens it; all its ids
 * share one context, one default PD and one default XRC domain.
 *
 * Contexts and PDs stay open until the library is unloaded, because connections often follow each
 * other. The context of a removed device is closed with its last id. A context returned by
 * rdma_get_devices() is never closed, because the library cannot know how long the program uses it.
 * One lock guards the list and its entries.
 */
#include "cma.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lock.h"
#include "util/threads.h"

static struct cm_lock lock;
static LIST_HEAD(, cm_device) devices = LIST_HEAD_INITIALIZER(devices);
static struct ibv_device **kept; /* the device list that owns the entries' ibv */

static struct cm_device *device_lookup(uint64_t guid, int index)
{
	struct cm_device *device;

	LIST_FOREACH(device, &devices, entry) {
		if (device->is_removed || !device->ibv)
			continue;
		if (index >= 0 && device->index >= 0 ? device->index == index
						     : device->guid == guid)
			return device;
	}
	return NULL;
}

static bool is_in_list(const struct ibv_device *ibv, struct ibv_device *const *list)
{
	while (*list && *list != ibv)
		list++;
	return *list;
}

/* Finds the entry of device IBV by its index, because the device list may have a new struct for a
 * known device, for instance after the device was renamed. */
static struct cm_device *device_of(struct ibv_device *ibv)
{
	const int index = ibv_get_device_index(ibv);
	struct cm_device *device;

	LIST_FOREACH(device, &devices, entry) {
		if (device->is_removed)
			continue;
		if (device->ibv == ibv)
			return device;
		if (index >= 0 && device->index == index) {
			device->ibv = ibv;
			return device;
		}
	}
	return NULL;
}

static int device_add(struct ibv_device *ibv)
{
	struct cm_device *device = calloc(1, sizeof(*device));

	if (!device)
		return ENOMEM;
	device->ibv = ibv;
	device->guid = ibv_get_device_guid(ibv);
	device->index = ibv_get_device_index(ibv);
	LIST_INSERT_HEAD(&devices, device, entry);
	return 0;
}

/* Marks the open file of a context, to recognise it later. F_SETSIG is a property of the open file,
 * not of a descriptor number or node, and an uverbs command file never sends a signal. If it cannot
 * be set, only the node is compared. */
static void context_note(struct cm_device *device)
{
	struct stat st = { 0 };
	int fd = device->verbs->cmd_fd;

	device->knows_node = !fstat(fd, &st);
	device->node_dev = st.st_dev;
	device->node_inode = st.st_ino;
	device->is_marked = !fcntl(fd, F_SETSIG, SIGRTMAX);
}

/* Returns whether the context's descriptor still refers to its file. A program may close all
 * descriptors, also those that it does not know, and reuse the number, even for a file of the same
 * device. */
static bool context_is_there(const struct cm_device *device)
{
	struct stat st;
	int fd = device->verbs->cmd_fd;

	if (device->is_marked && fcntl(fd, F_GETSIG) != SIGRTMAX)
		return false;
	return !device->knows_node || (!fstat(fd, &st) && st.st_dev == device->node_dev &&
				       st.st_ino == device->node_inode);
}

/* Drops a context whose descriptors the program has closed. Ids that still refer to it stop
 * working. The context is not closed, since that would close unrelated files that now have the same
 * numbers. It stays in a list for leak checkers. */
static void context_forget(struct cm_device *device)
{
	static LIST_HEAD(, cm_device) lost = LIST_HEAD_INITIALIZER(lost);
	struct cm_device *old = calloc(1, sizeof(*old));

	if (old) {
		*old = (struct cm_device){ .verbs = device->verbs,
					   .pd = device->pd,
					   .xrcd = device->xrcd };
		LIST_INSERT_HEAD(&lost, old, entry);
	}
	device->verbs = NULL;
	device->pd = NULL;
	device->xrcd = NULL;
	device->xrcd_users = 0;
}

static void device_close(struct cm_device *device)
{
	LIST_REMOVE(device, entry);
	if (device->verbs && !context_is_there(device))
		context_forget(device);
	if (device->xrcd)
		ibv_close_xrcd(device->xrcd);
	if (device->pd)
		ibv_dealloc_pd(device->pd);
	if (device->verbs)
		ibv_close_device(device->verbs);
	free(device);
}

static bool device_is_over(const struct cm_device *device)
{
	return (device->is_removed || !device->ibv) && !device->users && !device->is_handed_out;
}

/* Removes devices that are gone and unused. Clears the ibv pointers of all devices that are gone,
 * because another device's struct may get the same address. */
static void remove_gone(struct ibv_device *const *list)
{
	struct cm_device *next;

	for (struct cm_device *device = LIST_FIRST(&devices); device; device = next) {
		next = LIST_NEXT(device, entry);
		if (is_in_list(device->ibv, list))
			continue;
		device->ibv = NULL;
		if (device_is_over(device))
			device_close(device);
	}
}

static bool parent_had_any; /* the parent had devices at the time of fork() */

/* Returns whether this process knows a device, or its parent had one at the time of fork(). */
static bool device_is_any(void)
{
	const struct cm_device *device;

	LIST_FOREACH(device, &devices, entry) {
		if (!device->is_removed && device->ibv)
			return true;
	}
	return parent_had_any;
}

/* Starts with an empty list in a child: contexts belong to the process that opened them. Ids
 * inherited from the parent still use the parent's contexts, so these are not closed. */
static void forget_in_child(void)
{
	static struct cm_device *of_parent;

	cm_lock_init(&lock);
	/* keeps the parent's list reachable, because leak checkers would report it */
	if (!of_parent)
		of_parent = LIST_FIRST(&devices);
	parent_had_any = device_is_any();
	LIST_INIT(&devices);
	kept = NULL;
	rdmacm_id_spare_forked();
}

static void watch_forks(void)
{
	pthread_atfork(NULL, NULL, forget_in_child);
}

/* Takes the lock. The fork handler is registered first, because a child must not inherit the lock
 * taken. */
static void devices_lock(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, watch_forks);
	cm_lock_take(&lock);
}

/* Reads the device list again, because devices may appear at any time. Keeps the newest list,
 * because a struct ibv_device that is not open lives only as long as a list that contains it. */
static int devices_refresh(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	int ret = 0;

	rdmacm_watch_exit();
	if (!list)
		return errno;
	remove_gone(list);
	for (int i = 0; list[i] && !ret; i++)
		if (!device_of(list[i]))
			ret = device_add(list[i]);
	if (kept)
		ibv_free_device_list(kept);
	kept = list;
	return ret;
}

static int open_device(struct cm_device *device)
{
	struct ibv_device_attr attr;
	int ret;

	if (device->verbs && !context_is_there(device))
		context_forget(device);
	if (device->verbs)
		return 0;
	verbs_threads_look();
	device->verbs = ibv_open_device(device->ibv);
	if (!device->verbs)
		return errno;
	ret = ibv_query_device(device->verbs, &attr);
	if (ret) {
		ibv_close_device(device->verbs);
		device->verbs = NULL;
		return ret;
	}
	context_note(device);
	device->max_initiator_depth =
		attr.max_qp_init_rd_atom < 255 ? attr.max_qp_init_rd_atom : 255;
	device->max_responder_resources = attr.max_qp_rd_atom < 255 ? attr.max_qp_rd_atom : 255;
	return 0;
}

int rdmacm_device_find(uint64_t guid, int index, struct cm_device **found)
{
	struct cm_device *device;
	int ret = 0;

	devices_lock();
	device = device_lookup(guid, index);
	if (!device) {
		ret = devices_refresh();
		device = device_lookup(guid, index);
	}
	if (!device)
		ret = ret ? ret : ENODEV;
	else
		ret = open_device(device);
	if (!ret)
		device->users++;
	cm_lock_drop(&lock);
	if (ret)
		verbs_warn("rdma_cm: the device of GUID %016llx cannot be used: %s",
			   (unsigned long long)be64toh(guid), strerror(ret));
	else
		*found = device;
	return ret;
}

/* Fails if there is no usable adapter, even if the kernel has rdma_cm: programs choose another
 * transport when they get no channel. A child relies on its parent's devices, because reading the
 * list again might fail for lack of descriptors. */
int rdmacm_device_must_exist(void)
{
	int ret = 0;

	devices_lock();
	if (!device_is_any())
		ret = devices_refresh();
	/* ENOSYS: the kernel has no RDMA support; to a program, that is no device */
	if (ret == ENOSYS || (!ret && !device_is_any()))
		ret = ENODEV;
	cm_lock_drop(&lock);
	if (ret)
		verbs_warn("rdma_cm: this machine has no adapter that can be used: %s",
			   strerror(ret));
	return ret;
}

/* Returns whether this process opened the device. A child's list lacks its parent's devices,
 * because their descriptors and mappings belong to the parent, which closes them. */
static bool device_is_own(const struct cm_device *device)
{
	const struct cm_device *at;

	LIST_FOREACH(at, &devices, entry) {
		if (at == device)
			return true;
	}
	return false;
}

void rdmacm_device_put(struct cm_device *device)
{
	devices_lock();
	device->users--;
	if (device_is_own(device) && device_is_over(device))
		device_close(device);
	cm_lock_drop(&lock);
}

void rdmacm_device_remove(struct cm_device *device)
{
	devices_lock();
	device->is_removed = true;
	cm_lock_drop(&lock);
}

int rdmacm_device_get_pd(struct cm_device *device, struct ibv_pd **pd)
{
	int ret = 0;

	devices_lock();
	if (!device->pd)
		device->pd = ibv_alloc_pd(device->verbs);
	if (!device->pd)
		ret = errno;
	*pd = device->pd;
	cm_lock_drop(&lock);
	return ret;
}

static struct ibv_xrcd *open_xrcd(struct ibv_context *verbs)
{
	struct ibv_xrcd_init_attr attr = {
		.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS,
		.fd = -1,
		.oflags = O_CREAT,
	};

	return ibv_open_xrcd(verbs, &attr);
}

int rdmacm_device_get_xrcd(struct cm_device *device, struct ibv_xrcd **xrcd)
{
	int ret = 0;

	devices_lock();
	if (!device->xrcd)
		device->xrcd = open_xrcd(device->verbs);
	if (device->xrcd)
		device->xrcd_users++;
	else
		ret = errno;
	*xrcd = device->xrcd;
	cm_lock_drop(&lock);
	return ret;
}

void rdmacm_device_put_xrcd(struct cm_device *device)
{
	devices_lock();
	if (!--device->xrcd_users) {
		ibv_close_xrcd(device->xrcd);
		device->xrcd = NULL;
	}
	cm_lock_drop(&lock);
}

/* Opens all devices, in the order of ibv_get_device_list(). */
static int open_all(struct cm_device ***out, int *num)
{
	struct cm_device **list;
	int count = 0;
	int ret = devices_refresh();

	if (ret)
		return ret == ENOSYS ? ENODEV : ret; /* ENOSYS: the kernel has no RDMA support */
	while (kept[count])
		count++;
	list = calloc(count + 1, sizeof(struct cm_device *));
	if (!list)
		return ENOMEM;
	*num = 0;
	for (int i = 0; i < count; i++) {
		list[*num] = device_of(kept[i]);
		ret = open_device(list[*num]);
		if (!ret)
			(*num)++;
	}
	if (!*num) {
		free(list);
		return ret ? ret : ENODEV;
	}
	*out = list;
	return 0;
}

int rdmacm_device_find_all(struct cm_device ***list, int *num)
{
	int ret;

	devices_lock();
	ret = open_all(list, num);
	for (int i = 0; !ret && i < *num; i++)
		(*list)[i]->users++;
	cm_lock_drop(&lock);
	return ret;
}

static int hand_out_all(struct ibv_context ***out, int *num)
{
	struct cm_device **devices;
	int ret = open_all(&devices, num);

	if (ret)
		return ret;
	*out = calloc(*num + 1, sizeof(struct ibv_context *));
	for (int i = 0; *out && i < *num; i++) {
		(*out)[i] = devices[i]->verbs;
		devices[i]->is_handed_out = true;
	}
	free(devices);
	return *out ? 0 : ENOMEM;
}

CMA_EXPORT struct ibv_context **rdma_get_devices(int *num_devices)
{
	struct ibv_context **list = NULL;
	int num = 0;
	int ret;

	/* this may be the first call that takes a lock, and locks depend on the number of
	 * threads */
	verbs_threads_look();
	devices_lock();
	ret = hand_out_all(&list, &num);
	cm_lock_drop(&lock);
	if (num_devices)
		*num_devices = ret ? 0 : num;
	cma_return(ret);
	return list;
}

CMA_EXPORT void rdma_free_devices(struct ibv_context **list)
{
	free(list);
}

/* Closes unused devices. If the program has left objects open, their device stays open, and the
 * kernel closes it when the process ends. */
void rdmacm_device_close_all(void)
{
	struct cm_device *next;

	for (struct cm_device *device = LIST_FIRST(&devices); device; device = next) {
		next = LIST_NEXT(device, entry);
		if (!device->users && !device->is_handed_out)
			device_close(device);
	}
	if (kept)
		ibv_free_device_list(kept);
}

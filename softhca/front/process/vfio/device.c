/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * device.c - the adapter of --vfio, and its file: regions, interrupts, reset. Linux: <linux/vfio.h>
 *
 * Calls come in the daemon's thread, and the engine runs the adapter; a mutex keeps them apart. The
 * file is BAR 0. Behind it, at an offset that has no pages, is configuration space.
 */
#include <errno.h>
#include <linux/vfio.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "softhca/front/eventfd.h"
#include "softhca/front/process/client.h"
#include "softhca/front/process/daemon.h"
#include "softhca/front/process/driver/adapter.h"
#include "softhca/front/process/driver/engine.h"
#include "softhca/front/process/notify.h"
#include "softhca/front/process/program/caller.h"
#include "softhca/front/process/vfio/vfio.h"
#include "softhca/front/process/vfio/window.h"
#include "softhca/log.h"
#include "softhca/net/fabric.h"
#include "util/bits.h"

#define CONFIG_OFFSET BAR_SIZE

enum { MAX_UARS = 512 }; /* a limit, as the engine looks at the page of each in each turn */

struct vfio_device {
	pthread_mutex_t lock; /* guards all but the description */
	struct device device;
	struct window window;
	struct client *owner; /* program that has the device; NULL: none */
	int request_fd;       /* eventfd by which the host asks for the device back; -1: none */
	struct adapter shown; /* index, identity and link layer, as sysfs shows them */
	struct identity identity;
};

static struct vfio_device *the_device;

struct vfio_device *vfio_device_get(void)
{
	return the_device;
}

struct adapter *vfio_device_shown(void)
{
	return the_device ? &the_device->shown : NULL;
}

/* Copies memory of a client. The bus checks whether the process is still there, so this need
 * not. */
static int client_copy(void *remote, uint64_t addr, void *buf, uint64_t len, bool write)
{
	const struct client *client = remote;
	const struct hca_bus_seg seg = { (uint64_t)client->slot << CLIENT_VA_BITS | addr,
					 (uint32_t)len };

	return write ? client_bus_ops.write(NULL, &seg, 1, buf)
		     : client_bus_ops.read(NULL, &seg, 1, buf);
}

static void client_drop(void *remote)
{
	client_put(remote);
}

static const struct dma_remote_ops client_ops = { client_copy, client_drop };

int vfio_device_map(struct vfio_device *device, struct client *client, uint64_t iova, uint64_t size,
		    int prot, uint64_t addr)
{
	return dma_table_map_remote(&device->device.dma, iova, size, prot, &client_ops, client,
				    addr);
}

int vfio_device_unmap(struct vfio_device *device, uint64_t iova, uint64_t size, uint64_t *unmapped)
{
	return dma_table_unmap_range(&device->device.dma, iova, size, unmapped);
}

void vfio_device_unmap_all(struct vfio_device *device)
{
	dma_table_clear(&device->device.dma);
}

static void request_set(struct vfio_device *device, int fd)
{
	if (device->request_fd >= 0)
		close(device->request_fd);
	device->request_fd = fd;
}

/* Takes the device off the bus. The lock is held. */
static void unplug_locked(struct vfio_device *device)
{
	log_note("vfio: the adapter is unplugged");
	device_unplug(&device->device);
	window_show(&device->window, &device->device);
	if (device->request_fd >= 0)
		eventfd_signal(device->request_fd);
}

void vfio_device_suffer(enum fault_event event)
{
	if (!the_device)
		return;
	pthread_mutex_lock(&the_device->lock);
	if (the_device->owner && event == FAULT_UNPLUG)
		unplug_locked(the_device);
	else if (the_device->owner && the_device->device.hca) /* none after a failed reset */
		hca_kill(the_device->device.hca);
	pthread_mutex_unlock(&the_device->lock);
}

/* Lets a fault happen that a command has met. The engine's thread calls this, with the lock. */
static void on_fault(void *front, enum queued_fault fault)
{
	struct vfio_device *device = front;

	if (!device->owner)
		return;
	if (fault == QUEUED_UNPLUG)
		unplug_locked(device);
	else
		kill(device->owner->pid, SIGKILL);
}

/* How often registers that count are renewed while the program has the device */
enum { SHOW_NS = 4000000 };

uint64_t vfio_device_progress(uint64_t now)
{
	uint64_t next = HCA_IDLE;
	bool found = false, may_change;

	if (!the_device)
		return next;
	pthread_mutex_lock(&the_device->lock);
	if (the_device->window.pages && !the_device->device.unplugged)
		found = window_scan(&the_device->window, &the_device->device);
	may_change = found || the_device->device.model->is_pending(&the_device->device);
	next = device_progress(&the_device->device, engine_now());
	if (the_device->window.pages) {
		window_show(&the_device->window, &the_device->device);
		if (may_change)
			window_learn_uars(&the_device->window, &the_device->device);
		if (next > now + SHOW_NS)
			next = now + SHOW_NS;
	}
	pthread_mutex_unlock(&the_device->lock);
	return found ? 0 : next;
}

/* Reads a structure of a request, and its argsz, which comes first, as large as Linux wants it. */
static int take_request(struct call *call, void *request, size_t size)
{
	if (caller_read(call, call_arg(call, 2), request, size))
		return EFAULT;
	return *(const uint32_t *)request < size ? EINVAL : 0;
}

static int get_info(struct vfio_file *file, struct call *call)
{
	enum { SIZE = offsetof(struct vfio_device_info, num_irqs) + sizeof(uint32_t) };
	struct vfio_device_info info = { 0 };
	int ret = take_request(call, &info, SIZE);

	(void)file;
	if (ret)
		return ret;
	info.argsz = SIZE;
	info.flags = VFIO_DEVICE_FLAGS_PCI | VFIO_DEVICE_FLAGS_RESET;
	info.num_regions = VFIO_PCI_NUM_REGIONS;
	info.num_irqs = VFIO_PCI_NUM_IRQS;
	return caller_write(call, call_arg(call, 2), &info, SIZE);
}

static int get_region_info(struct vfio_file *file, struct call *call)
{
	struct vfio_device *device = file->object;
	struct vfio_region_info info;
	int ret = take_request(call, &info, sizeof(info));

	if (ret)
		return ret;
	if (info.index >= VFIO_PCI_NUM_REGIONS)
		return EINVAL;
	info.argsz = sizeof(info);
	info.size = device_region_size(&device->device, info.index);
	info.flags = info.size ? VFIO_REGION_INFO_FLAG_READ | VFIO_REGION_INFO_FLAG_WRITE : 0;
	if (info.index == VFIO_PCI_BAR0_REGION_INDEX)
		info.flags |= VFIO_REGION_INFO_FLAG_MMAP;
	info.cap_offset = 0;
	info.offset = info.index == VFIO_PCI_CONFIG_REGION_INDEX ? CONFIG_OFFSET : 0;
	return caller_write(call, call_arg(call, 2), &info, sizeof(info));
}

static uint32_t irq_count(uint32_t index)
{
	if (index == VFIO_PCI_MSIX_IRQ_INDEX)
		return PCI_MSIX_VECTORS;
	return index == VFIO_PCI_REQ_IRQ_INDEX ? 1 : 0;
}

static int get_irq_info(struct vfio_file *file, struct call *call)
{
	struct vfio_irq_info info;
	int ret = take_request(call, &info, sizeof(info));

	(void)file;
	if (ret)
		return ret;
	if (info.index >= VFIO_PCI_NUM_IRQS)
		return EINVAL;
	info.count = irq_count(info.index);
	info.flags = info.count ? VFIO_IRQ_INFO_EVENTFD : 0;
	return caller_write(call, call_arg(call, 2), &info, sizeof(info));
}

static int check_irqs(const struct vfio_irq_set *set)
{
	const uint32_t action = set->flags & VFIO_IRQ_SET_ACTION_TYPE_MASK;
	const uint32_t data = set->flags & VFIO_IRQ_SET_DATA_TYPE_MASK;

	if (set->flags & ~(VFIO_IRQ_SET_ACTION_TYPE_MASK | VFIO_IRQ_SET_DATA_TYPE_MASK) ||
	    set->index >= VFIO_PCI_NUM_IRQS || set->start >= irq_count(set->index) ||
	    set->count > irq_count(set->index) - set->start)
		return EINVAL;
	if (action != VFIO_IRQ_SET_ACTION_TRIGGER)
		return ENOTTY; /* refused, as MSI-X vectors cannot be masked by a call */
	if (data == VFIO_IRQ_SET_DATA_NONE)
		return 0;
	return data == VFIO_IRQ_SET_DATA_EVENTFD && set->count ? 0 : EINVAL;
}

static void close_copies(const int *copies, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		if (copies[i] >= 0)
			close(copies[i]);
}

/* Copies COUNT descriptors of the caller; -1 stays -1. Returns EBADF or EINVAL, with no copy left
 * open, if one cannot be copied or is no eventfd. */
static int copy_eventfds(const struct call *call, const int32_t *fds, uint32_t count, int *copies)
{
	int ret = 0;

	for (uint32_t i = 0; i < count; i++) {
		copies[i] = !ret && fds[i] >= 0 ? caller_fd_copy(call, fds[i]) : -1;
		if (!ret && (fds[i] < -1 || (fds[i] >= 0 && copies[i] < 0)))
			ret = EBADF;
		if (!ret && copies[i] >= 0 && !eventfd_is(copies[i]))
			ret = EINVAL;
	}
	if (ret)
		close_copies(copies, count);
	return ret;
}

static void set_one(struct vfio_device *device, uint32_t index, uint32_t vector, int fd)
{
	if (index == VFIO_PCI_REQ_IRQ_INDEX)
		request_set(device, fd);
	else
		device_set_vector(&device->device, vector, fd);
}

/* Sets the eventfds of the vectors in SET to descriptors of the caller. On failure no vector
 * changes. The program's memory is read without the lock: the program may be slow to provide it. */
static int set_eventfds(struct vfio_device *device, const struct call *call,
			const struct vfio_irq_set *set)
{
	int32_t fds[PCI_MSIX_VECTORS];
	int copies[PCI_MSIX_VECTORS], ret;

	if (set->argsz < sizeof(*set) + set->count * sizeof(*fds))
		return EINVAL;
	if (caller_read(call, call_arg(call, 2) + sizeof(*set), fds, set->count * sizeof(*fds)))
		return EFAULT;
	ret = copy_eventfds(call, fds, set->count, copies);
	if (ret)
		return ret;
	pthread_mutex_lock(&device->lock);
	for (uint32_t i = 0; i < set->count; i++)
		set_one(device, set->index, set->start + i, copies[i]);
	pthread_mutex_unlock(&device->lock);
	return 0;
}

/* Without data, a request triggers its interrupts, or takes all eventfds away if it names none. */
static void trigger_or_clear(struct vfio_device *device, const struct vfio_irq_set *set)
{
	pthread_mutex_lock(&device->lock);
	for (uint32_t i = 0; i < set->count; i++) {
		if (set->index == VFIO_PCI_MSIX_IRQ_INDEX)
			device_interrupt(&device->device, set->start + i);
		else if (device->request_fd >= 0)
			eventfd_signal(device->request_fd);
	}
	for (uint32_t i = 0; !set->count && i < irq_count(set->index); i++)
		set_one(device, set->index, i, -1);
	pthread_mutex_unlock(&device->lock);
}

static int set_irqs(struct vfio_file *file, struct call *call)
{
	struct vfio_device *device = file->object;
	struct vfio_irq_set set;
	int ret = take_request(call, &set, sizeof(set));

	if (!ret)
		ret = check_irqs(&set);
	if (ret)
		return ret;
	if (!(set.flags & VFIO_IRQ_SET_DATA_NONE))
		return set_eventfds(device, call, &set);
	trigger_or_clear(device, &set);
	return 0;
}

/* Resets the device, and shows its new registers. The lock is held. */
static int reset_locked(struct vfio_device *device)
{
	int ret = device_reset(&device->device);

	if (!ret && device->window.pages) {
		window_show(&device->window, &device->device);
		window_learn_uars(&device->window, &device->device);
	}
	return ret;
}

static int device_do_reset(struct vfio_file *file, struct call *call)
{
	struct vfio_device *device = file->object;
	int ret;

	(void)call;
	pthread_mutex_lock(&device->lock);
	ret = device->device.unplugged ? EIO : reset_locked(device);
	pthread_mutex_unlock(&device->lock);
	return ret;
}

static const struct vfio_request requests[] = {
	{ VFIO_DEVICE_GET_INFO, get_info },
	{ VFIO_DEVICE_GET_REGION_INFO, get_region_info },
	{ VFIO_DEVICE_GET_IRQ_INFO, get_irq_info },
	{ VFIO_DEVICE_SET_IRQS, set_irqs },
	{ VFIO_DEVICE_RESET, device_do_reset },
};

struct access {
	uint32_t region;
	uint64_t offset;
	uint32_t len;
	uint8_t data[PCI_CONFIG_SIZE];
};

/* Finds the region of pread() or pwrite(). A longer call is cut short. */
static int access_begin(const struct device *device, const struct call *call, struct access *access)
{
	const uint64_t at = call_arg(call, 3), len = call_arg(call, 2);
	uint64_t size;

	access->region =
		at < CONFIG_OFFSET ? VFIO_PCI_BAR0_REGION_INDEX : VFIO_PCI_CONFIG_REGION_INDEX;
	access->offset = at < CONFIG_OFFSET ? at : at - CONFIG_OFFSET;
	size = device_region_size(device, access->region);
	if (access->offset >= size)
		return EINVAL;
	size -= access->offset;
	access->len = len < sizeof(access->data) ? (uint32_t)len : sizeof(access->data);
	access->len = access->len < size ? access->len : (uint32_t)size;
	return 0;
}

static int region_read(struct vfio_file *file, struct call *call)
{
	struct vfio_device *device = file->object;
	struct access access;
	int ret = access_begin(&device->device, call, &access);

	if (ret)
		return ret;
	pthread_mutex_lock(&device->lock);
	if (access.region == VFIO_PCI_BAR0_REGION_INDEX && !device->device.hca)
		ret = ENODEV;
	else
		device_read(&device->device, access.region, access.offset, access.data, access.len);
	pthread_mutex_unlock(&device->lock);
	if (!ret)
		ret = caller_write(call, call_arg(call, 1), access.data, access.len);
	if (!ret)
		call_return(call, access.len);
	return ret;
}

static int region_write(struct vfio_file *file, struct call *call)
{
	struct vfio_device *device = file->object;
	struct access access;
	int ret = access_begin(&device->device, call, &access);

	if (!ret)
		ret = caller_read(call, call_arg(call, 1), access.data, access.len);
	if (ret)
		return ret;
	pthread_mutex_lock(&device->lock);
	ret = device_write(&device->device, access.region, access.offset, access.data, access.len);
	if (!ret && device->window.pages) {
		window_show(&device->window, &device->device);
		window_learn_uars(&device->window, &device->device);
	}
	pthread_mutex_unlock(&device->lock);
	engine_kick();
	if (!ret)
		call_return(call, access.len);
	return ret;
}

static void device_close(struct vfio_file *file)
{
	struct vfio_device *device = file->object;

	pthread_mutex_lock(&device->lock);
	for (uint32_t i = 0; i < PCI_MSIX_VECTORS; i++)
		device_set_vector(&device->device, i, -1);
	request_set(device, -1);
	device->owner = NULL;
	if (device_reset(&device->device))
		log_error("vfio: the adapter cannot be reset");
	window_close(&device->window);
	pthread_mutex_unlock(&device->lock);
	engine_release();
	vfio_group_put();
}

static const struct vfio_file_kind file_kind = {
	.name = "vfio device",
	.requests = requests,
	.num_requests = ARRAY_SIZE(requests),
	.close = device_close,
	.read = region_read,
	.write = region_write,
};

static void owner_set(struct vfio_device *device)
{
	pthread_mutex_lock(&device->lock);
	/* the file, which ends before, keeps the client */
	device->owner = vfio_file_newest()->client;
	pthread_mutex_unlock(&device->lock);
}

void vfio_device_open(struct call *call, struct vfio_device *device)
{
	int ret;

	vfio_files_settle();
	ret = device->window.pages ? EBUSY : 0;
	pthread_mutex_lock(&device->lock);
	if (!ret)
		ret = reset_locked(device);
	if (!ret)
		ret = window_open(&device->window, &device->device);
	pthread_mutex_unlock(&device->lock);
	if (ret) {
		call_fail(call, ret);
		return;
	}
	ret = vfio_file_open(call, &file_kind, device->window.memfd, device, true);
	if (!ret) {
		owner_set(device);
		vfio_group_keep();
		engine_hold();
		return;
	}
	pthread_mutex_lock(&device->lock);
	window_close(&device->window);
	pthread_mutex_unlock(&device->lock);
	call_fail(call, ret);
}

static void device_describe(struct vfio_device *device, const struct options *options)
{
	enum { CONNECTX_5 = 0x1017 };

	device->identity = *identity_of(HCA_MLX5, options->link_layer, HCA_STEERING_NONE);
	device->identity.core_driver = "vfio-pci";
	device->identity.part_id = CONNECTX_5;
	device->shown.index = options->devices;
	device->shown.identity = &device->identity;
	device->shown.link_layer = options->link_layer;
}

int vfio_device_create(struct daemon *daemon)
{
	const struct options *options = daemon->options;
	struct hca_config config = {
		.kind = HCA_MLX5,
		.link_layer = options->link_layer,
		.grh_required = options->grh_required,
		.num_ports = options->ports,
		.node_guid = fabric_guid(fabric_host_number(daemon->fabric), options->devices),
		.seed = options->seed + options->devices,
		.limits = options->limits,
		.fabric = daemon->fabric,
		.fault = daemon->fault,
		.trace = daemon->trace,
		.strict = options->reports,
		.real_time = true,
		.kernel_driver = true,
		.name = "vfio",
	};
	struct vfio_device *device;
	int ret;

	if (!options->vfio)
		return 0;
	config.limits.max_uar = MAX_UARS;
	device = calloc(1, sizeof(*device));
	if (!device)
		return ENOMEM;
	pthread_mutex_init(&device->lock, NULL);
	device->request_fd = -1;
	device_describe(device, options);
	ret = device_init(&device->device, &config, options->command_timeout_ms);
	if (ret) {
		device_free(&device->device);
		free(device);
		return ret;
	}
	device->device.bar.cmdq.on_fault = on_fault;
	device->device.bar.cmdq.front = device;
	the_device = device;
	return 0;
}

void vfio_device_destroy(void)
{
	if (!the_device)
		return;
	device_free(&the_device->device);
	pthread_mutex_destroy(&the_device->lock);
	free(the_device);
	the_device = NULL;
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * answer.c - answers vfio-user messages: a table has one function for each.
 *
 * Everything in a message is untrusted, and its length is checked first.
 */
#include <errno.h>
#include <linux/vfio.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "softhca/front/eventfd.h"
#include "softhca/front/vfio-user/answer.h"
#include "softhca/log.h"
#include "util/bits.h"

static bool message_take(const struct message *message, void *part, size_t len)
{
	if (message->len < len)
		return false;
	memcpy(part, message->body, len);
	return true;
}

static int message_give(struct message *message, const void *part, size_t len)
{
	memcpy(message->reply, part, len);
	message->reply_len = len;
	return 0;
}

static int answer_version(struct device *device, struct message *message)
{
	struct vfu_version version;
	char *json = (char *)message->reply + sizeof(version);
	int len;

	(void)device;
	if (!message_take(message, &version, sizeof(version)) || version.major != 0)
		return EINVAL;
	version.minor = 0;
	message_give(message, &version, sizeof(version));
	len = sprintf(json, "{\"capabilities\":{\"max_msg_fds\":%d,\"max_data_xfer_size\":%d}}",
		      VFU_MAX_FDS, VFU_MAX_TRANSFER);
	message->reply_len += (size_t)len + 1;
	return 0;
}

static int answer_dma_map(struct device *device, struct message *message)
{
	int fd = message->num_fds ? message->fd[0] : -1;
	struct vfu_dma_map map;
	int prot = 0;

	if (!message_take(message, &map, sizeof(map)))
		return EINVAL;
	if (map.flags & VFU_DMA_READ_OK)
		prot |= PROT_READ;
	if (map.flags & VFU_DMA_WRITE_OK)
		prot |= PROT_WRITE;
	if (fd < 0)
		log_note("pci: memory at %#llx has no file, the device cannot reach it",
			 (unsigned long long)map.addr);
	return dma_table_map(&device->dma, map.addr, map.size, prot, fd, map.offset);
}

static int answer_dma_unmap(struct device *device, struct message *message)
{
	struct vfu_dma_unmap unmap;
	int ret = 0;

	if (!message_take(message, &unmap, sizeof(unmap)))
		return EINVAL;
	if (unmap.flags & VFU_UNMAP_ALL)
		dma_table_clear(&device->dma);
	else
		ret = dma_table_unmap(&device->dma, unmap.addr, unmap.size);
	return ret ? ret : message_give(message, &unmap, sizeof(unmap));
}

static int answer_device_info(struct device *device, struct message *message)
{
	struct vfu_device_info info = {
		.argsz = sizeof(info),
		.flags = VFIO_DEVICE_FLAGS_PCI | VFIO_DEVICE_FLAGS_RESET,
		.num_regions = VFIO_PCI_NUM_REGIONS,
		.num_irqs = VFIO_PCI_NUM_IRQS,
	};

	(void)device;
	return message_give(message, &info, sizeof(info));
}

static int answer_region_info(struct device *device, struct message *message)
{
	struct vfu_region_info info;

	if (!message_take(message, &info, sizeof(info)) || info.index >= VFIO_PCI_NUM_REGIONS)
		return EINVAL;
	info.argsz = sizeof(info);
	info.size = device_region_size(device, info.index);
	info.flags = info.size ? VFIO_REGION_INFO_FLAG_READ | VFIO_REGION_INFO_FLAG_WRITE : 0;
	info.cap_offset = 0;
	info.offset = 0;
	return message_give(message, &info, sizeof(info));
}

static int answer_irq_info(struct device *device, struct message *message)
{
	struct vfu_irq_info info;

	(void)device;
	if (!message_take(message, &info, sizeof(info)) || info.index >= VFIO_PCI_NUM_IRQS)
		return EINVAL;
	info.argsz = sizeof(info);
	info.count = info.index == VFIO_PCI_MSIX_IRQ_INDEX ? PCI_MSIX_VECTORS : 0;
	info.flags = info.count ? VFIO_IRQ_INFO_EVENTFD : 0;
	return message_give(message, &info, sizeof(info));
}

/* Sets the eventfds of a message, in the order of the vectors: all of them, or none. No eventfd
 * removes them. */
static int set_eventfds(struct device *device, const struct vfu_irq_set *set,
			struct message *message)
{
	for (uint32_t i = 0; i < set->count && i < message->num_fds; i++)
		if (!eventfd_is(message->fd[i]))
			return EINVAL;
	for (uint32_t i = 0; i < set->count; i++) {
		if (i >= message->num_fds) {
			device_set_vector(device, set->start + i, -1);
			continue;
		}
		device_set_vector(device, set->start + i, message->fd[i]);
		message->fd[i] = -1;
	}
	return 0;
}

static int answer_set_irqs(struct device *device, struct message *message)
{
	struct vfu_irq_set set;

	if (!message_take(message, &set, sizeof(set)))
		return EINVAL;
	if (!(set.flags & VFIO_IRQ_SET_ACTION_TRIGGER))
		return EOPNOTSUPP; /* refused, as the client masks MSI-X vectors itself */
	if (set.index != VFIO_PCI_MSIX_IRQ_INDEX)
		return set.count ? EINVAL : 0;
	if (set.start > PCI_MSIX_VECTORS || set.count > PCI_MSIX_VECTORS - set.start)
		return EINVAL;
	if (set.flags & VFIO_IRQ_SET_DATA_EVENTFD)
		return set_eventfds(device, &set, message);
	if (set.flags & VFIO_IRQ_SET_DATA_NONE && !set.count)
		for (uint32_t i = 0; i < PCI_MSIX_VECTORS; i++)
			device_set_vector(device, i, -1);
	else if (set.flags & VFIO_IRQ_SET_DATA_NONE)
		for (uint32_t i = 0; i < set.count; i++)
			device_interrupt(device, set.start + i);
	else
		return EOPNOTSUPP;
	return 0;
}

static bool access_fits(const struct device *device, const struct vfu_region_access *access)
{
	uint64_t size = device_region_size(device, access->region);

	return access->region < VFIO_PCI_NUM_REGIONS && access->count <= VFU_MAX_TRANSFER &&
	       access->offset <= size && access->count <= size - access->offset;
}

static int answer_read(struct device *device, struct message *message)
{
	struct vfu_region_access access;
	uint8_t *data = message->reply + sizeof(access);

	if (!message_take(message, &access, sizeof(access)) || !access_fits(device, &access))
		return EINVAL;
	message_give(message, &access, sizeof(access));
	message->reply_len += access.count;
	device_read(device, access.region, access.offset, data, access.count);
	return 0;
}

static int answer_write(struct device *device, struct message *message)
{
	struct vfu_region_access access;
	const uint8_t *data = message->body + sizeof(access);
	int ret;

	if (!message_take(message, &access, sizeof(access)) || !access_fits(device, &access) ||
	    message->len - sizeof(access) < access.count)
		return EINVAL;
	ret = device_write(device, access.region, access.offset, data, access.count);
	return ret ? ret : message_give(message, &access, sizeof(access));
}

static int answer_reset(struct device *device, struct message *message)
{
	(void)message;
	return device_reset(device);
}

static int (*const answers[])(struct device *device, struct message *message) = {
	[VFU_VERSION] = answer_version,
	[VFU_DMA_MAP] = answer_dma_map,
	[VFU_DMA_UNMAP] = answer_dma_unmap,
	[VFU_DEVICE_GET_INFO] = answer_device_info,
	[VFU_DEVICE_GET_REGION_INFO] = answer_region_info,
	[VFU_DEVICE_GET_IRQ_INFO] = answer_irq_info,
	[VFU_DEVICE_SET_IRQS] = answer_set_irqs,
	[VFU_REGION_READ] = answer_read,
	[VFU_REGION_WRITE] = answer_write,
	[VFU_DEVICE_RESET] = answer_reset,
};

int message_answer(struct device *device, struct message *message)
{
	message->reply_len = 0;
	if (!device->hca &&
	    /* only a reset helps, as an earlier one ran out of memory */
	    message->command != VFU_DEVICE_RESET)
		return ENODEV;
	if (message->command >= ARRAY_SIZE(answers) || !answers[message->command])
		return EOPNOTSUPP;
	return answers[message->command](device, message);
}

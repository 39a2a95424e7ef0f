/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * container.c - /dev/vfio/vfio: an address space of devices, with the memory that a program has
 * mapped into it. It is of IOMMU type 1. Linux: <linux/vfio.h>
 */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/vfio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "softhca/front/process/client.h"
#include "softhca/front/process/node.h"
#include "softhca/front/process/notify.h"
#include "softhca/front/process/program/caller.h"
#include "softhca/front/process/vfio/vfio.h"
#include "util/bits.h"

enum { VFIO_MAJOR = 10, VFIO_MINOR = 196, PAGE = 4096 };

/* Addresses that devices can use: not those of interrupt messages, as on x86, nor beyond 48 bits.
 */
static const struct vfio_iova_range usable[] = {
	{ 0, 0xfedfffff },
	{ 0xfef00000, (1ull << 48) - 1 },
};

struct vfio_container {
	unsigned int users; /* its file, and groups in it; the last one frees it */
	unsigned int groups;
	bool has_iommu;
	unsigned int iommu_type;
};

void vfio_container_attach(struct vfio_container *container)
{
	container->users++;
	container->groups++;
}

static void container_put(struct vfio_container *container)
{
	if (!--container->users)
		free(container);
}

/* The last group takes the IOMMU along, so all mappings go with it. */
void vfio_container_detach(struct vfio_container *container)
{
	if (!--container->groups) {
		vfio_device_unmap_all(vfio_device_get());
		container->has_iommu = false;
	}
	container_put(container);
}

bool vfio_container_has_iommu(const struct vfio_container *container)
{
	return container->has_iommu;
}

static int get_api_version(struct vfio_file *file, struct call *call)
{
	(void)file;
	call_return(call, VFIO_API_VERSION);
	return 0;
}

static bool is_iommu(uint64_t type)
{
	return type == VFIO_TYPE1_IOMMU || type == VFIO_TYPE1v2_IOMMU;
}

static int check_extension(struct vfio_file *file, struct call *call)
{
	(void)file;
	call_return(call, is_iommu(call_arg(call, 2)));
	return 0;
}

static int set_iommu(struct vfio_file *file, struct call *call)
{
	struct vfio_container *container = file->object;

	if (!container->groups || container->has_iommu)
		return EINVAL;
	if (!is_iommu(call_arg(call, 2)))
		return ENODEV;
	container->has_iommu = true;
	container->iommu_type = (unsigned int)call_arg(call, 2);
	return 0;
}

/* The ranges follow nr_iovas: struct vfio_iommu_type1_info_cap_iova_range, whose array has no
 * size. */
struct iova_capability {
	struct vfio_info_cap_header header;
	__u32 nr_iovas, reserved;
	struct vfio_iova_range range[ARRAY_SIZE(usable)];
};
static_assert(offsetof(struct iova_capability, range) ==
		      offsetof(struct vfio_iommu_type1_info_cap_iova_range, iova_ranges),
	      "as in linux/vfio.h");

struct iommu_info {
	struct vfio_iommu_type1_info head;
	struct iova_capability iova;
	struct vfio_iommu_type1_info_dma_avail avail;
};

enum { LEAST_INFO = offsetof(struct vfio_iommu_type1_info, iova_pgsizes) + sizeof(uint64_t) };

static void fill_capabilities(struct iommu_info *info)
{
	enum { IOVA_VERSION = 1, AVAIL_VERSION = 1 };

	info->head.flags |= VFIO_IOMMU_INFO_CAPS;
	info->head.cap_offset = offsetof(struct iommu_info, iova);
	info->iova.header.id = VFIO_IOMMU_TYPE1_INFO_CAP_IOVA_RANGE;
	info->iova.header.version = IOVA_VERSION;
	info->iova.header.next = offsetof(struct iommu_info, avail);
	info->iova.nr_iovas = ARRAY_SIZE(usable);
	memcpy(info->iova.range, usable, sizeof(usable));
	info->avail.header.id = VFIO_IOMMU_TYPE1_INFO_DMA_AVAIL;
	info->avail.header.version = AVAIL_VERSION;
	info->avail.avail = UINT16_MAX;
}

/* Returns the capabilities only if they fit; argsz says how much room they take. */
static int get_info(struct vfio_file *file, struct call *call)
{
	struct iommu_info info = { .head = { .flags = VFIO_IOMMU_INFO_PGSIZES,
					     .iova_pgsizes = ~(uint64_t)(PAGE - 1) } };
	const uint64_t addr = call_arg(call, 2);
	uint32_t argsz;

	(void)file;
	if (caller_read(call, addr, &argsz, sizeof(argsz)))
		return EFAULT;
	if (argsz < LEAST_INFO)
		return EINVAL;
	info.head.argsz = sizeof(info);
	if (argsz >= sizeof(info))
		fill_capabilities(&info);
	else if (argsz > sizeof(info.head))
		argsz = sizeof(info.head);
	return caller_write(call, addr, &info, argsz < sizeof(info) ? argsz : sizeof(info));
}

static bool is_usable(uint64_t iova, uint64_t size)
{
	const uint64_t last = iova + (size - 1);

	if (last < iova)
		return false;
	for (unsigned int i = 0; i < ARRAY_SIZE(usable); i++)
		if (iova >= usable[i].start && last <= usable[i].end)
			return true;
	return false;
}

/* Higher bits of an address would choose another process. */
static bool is_of_program(uint64_t vaddr, uint64_t size)
{
	const uint64_t end = 1ull << CLIENT_VA_BITS;

	return vaddr < end && size <= end - vaddr;
}

static int map_dma(struct vfio_file *file, struct call *call)
{
	const uint32_t known = VFIO_DMA_MAP_FLAG_READ | VFIO_DMA_MAP_FLAG_WRITE;
	struct vfio_iommu_type1_dma_map map;
	struct client *client;
	int prot = 0, ret;

	if (caller_read(call, call_arg(call, 2), &map, sizeof(map)))
		return EFAULT;
	if (map.argsz < sizeof(map) || map.flags & ~known || !(map.flags & known))
		return EINVAL;
	if (!map.size || (map.size | map.iova | map.vaddr) % PAGE || !is_usable(map.iova, map.size))
		return EINVAL;
	if (map.flags & VFIO_DMA_MAP_FLAG_READ)
		prot |= PROT_READ;
	if (map.flags & VFIO_DMA_MAP_FLAG_WRITE)
		prot |= PROT_WRITE;
	if (!is_of_program(map.vaddr, map.size))
		return EFAULT;
	ret = caller_client(call, &client);
	if (ret)
		return ret;
	if (client_check_range(client, map.vaddr, map.size, prot & PROT_WRITE))
		ret = EFAULT;
	if (!ret)
		ret = vfio_device_map(vfio_device_get(), client, map.iova, map.size, prot,
				      map.vaddr);
	if (ret)
		client_put(client);
	(void)file;
	return ret;
}

static int unmap_dma(struct vfio_file *file, struct call *call)
{
	struct vfio_iommu_type1_dma_unmap unmap;
	const uint64_t addr = call_arg(call, 2);
	uint64_t size;
	int ret;

	(void)file;
	if (caller_read(call, addr, &unmap, sizeof(unmap)))
		return EFAULT;
	if (unmap.argsz < sizeof(unmap) || unmap.flags)
		return EINVAL;
	if (!unmap.size || (unmap.size | unmap.iova) % PAGE)
		return EINVAL;
	ret = vfio_device_unmap(vfio_device_get(), unmap.iova, unmap.size, &size);
	unmap.size = size;
	return ret ? ret : caller_write(call, addr, &unmap, sizeof(unmap));
}

/* Refuses requests of the IOMMU while there is none, as Linux does. */
#define IOMMU_REQUEST(name)                                                                \
	static int name##_if_set(struct vfio_file *file, struct call *call)                \
	{                                                                                  \
		return vfio_container_has_iommu(file->object) ? name(file, call) : EINVAL; \
	}

IOMMU_REQUEST(get_info)
IOMMU_REQUEST(map_dma)
IOMMU_REQUEST(unmap_dma)

static const struct vfio_request requests[] = {
	{ VFIO_GET_API_VERSION, get_api_version },
	{ VFIO_CHECK_EXTENSION, check_extension },
	{ VFIO_SET_IOMMU, set_iommu },
	{ VFIO_IOMMU_GET_INFO, get_info_if_set },
	{ VFIO_IOMMU_MAP_DMA, map_dma_if_set },
	{ VFIO_IOMMU_UNMAP_DMA, unmap_dma_if_set },
};

static void container_close(struct vfio_file *file)
{
	container_put(file->object);
}

static const struct vfio_file_kind file_kind = {
	.name = "vfio container",
	.requests = requests,
	.num_requests = ARRAY_SIZE(requests),
	.close = container_close,
};

struct vfio_container *vfio_container_of(const struct vfio_file *file)
{
	return file->kind == &file_kind ? file->object : NULL;
}

static void container_open(struct call *call, unsigned int index, uint64_t flags)
{
	struct vfio_container *container = calloc(1, sizeof(*container));
	int ret = ENOMEM;

	(void)index;
	if (container) {
		container->users = 1;
		ret = vfio_file_open_empty(call, &file_kind, container, flags & O_CLOEXEC);
	}
	if (ret) {
		free(container);
		call_fail(call, ret);
	}
}

static bool container_exists(const struct daemon *daemon, unsigned int index)
{
	(void)daemon;
	(void)index;
	return vfio_device_get();
}

static int container_find(const struct stat *st)
{
	const struct vfio_file *file = vfio_file_find(st);

	return file && file->kind == &file_kind ? 0 : -1;
}

void vfio_container_start(void)
{
	static struct node_kind kind = {
		.path = "/dev/vfio/vfio",
		.is_single = true,
		.major = VFIO_MAJOR,
		.first_minor = VFIO_MINOR,
		.exists = container_exists,
		.open = container_open,
		.find = container_find,
	};

	node_register(&kind);
}

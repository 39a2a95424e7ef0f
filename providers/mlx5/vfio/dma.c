/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * dma.c - see dma.h. Linux: <linux/vfio.h>
 */
#include <errno.h>
#include <linux/vfio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "providers/mlx5/vfio/dma.h"
#include "util/alloc.h"
#include "util/bits.h"
#include "util/fields.h"

/* First address of the space. Address 0 is never mapped, so that an access of the device through an
 * unset pointer fails in the IOMMU. */
enum { FIRST_ADDRESS = 1 << 16 };

static int ranges_add(struct vfio_iova *iova,
		      const struct vfio_iommu_type1_info_cap_iova_range *cap)
{
	int ret = 0;

	for (uint32_t i = 0; !ret && i < cap->nr_iovas; i++) {
		uint64_t first = cap->iova_ranges[i].start;

		first = first < FIRST_ADDRESS ? FIRST_ADDRESS : first;
		if (first <= cap->iova_ranges[i].end)
			ret = mlx5_vfio_iova_give(iova, first, cap->iova_ranges[i].end);
	}
	return ret;
}

/* Searches the chain of capabilities for the list of usable ranges, and adds these. Kernels before
 * Linux 5.4 report no list: then adds all addresses below 2^39, which each IOMMU can translate,
 * except x86's window of interrupt messages. */
static int ranges_find(struct vfio_iova *iova, const struct vfio_iommu_type1_info *info)
{
	const uint8_t *all = (const uint8_t *)info;
	const struct vfio_info_cap_header *head;
	int ret;

	for (uint32_t at = info->flags & VFIO_IOMMU_INFO_CAPS ? info->cap_offset : 0; at;
	     at = head->next) {
		head = (const void *)(all + at);
		if (head->id == VFIO_IOMMU_TYPE1_INFO_CAP_IOVA_RANGE)
			return ranges_add(iova, (const void *)head);
	}
	ret = mlx5_vfio_iova_give(iova, FIRST_ADDRESS, 0xfedfffff);
	return ret ? ret : mlx5_vfio_iova_give(iova, 0xfef00000, (UINT64_C(1) << 39) - 1);
}

/* Returns log2 of the unit of mappings: the smallest page of the IOMMU, at least 4 KiB. Linux
 * reports no page smaller than its own. */
static unsigned int log_unit_of(const struct vfio_iommu_type1_info *info)
{
	uint64_t smallest = (uint64_t)sysconf(_SC_PAGESIZE);

	if (info->flags & VFIO_IOMMU_INFO_PGSIZES && info->iova_pgsizes)
		smallest = info->iova_pgsizes & (0 - info->iova_pgsizes);
	return max_of((unsigned int)__builtin_ctzll(smallest), (unsigned int)VFIO_LOG_PAGE);
}

static int ranges_ask(struct vfio_space *space)
{
	struct vfio_iommu_type1_info head = { .argsz = sizeof(head) }, *info;
	int ret;

	if (ioctl(space->container, VFIO_IOMMU_GET_INFO, &head))
		return errno;
	info = calloc_for("ibv_open_device", 1, head.argsz);
	if (!info)
		return ENOMEM;
	info->argsz = head.argsz;
	ret = ioctl(space->container, VFIO_IOMMU_GET_INFO, info) ? errno : 0;
	space->log_unit = log_unit_of(&head);
	if (!ret)
		ret = ranges_find(&space->iova, info);
	free(info);
	return ret;
}

int mlx5_vfio_space_init(struct vfio_space *space, int container)
{
	int ret;

	*space = (struct vfio_space){ .container = container };
	pthread_mutex_init(&space->lock, NULL);
	ret = ranges_ask(space);
	if (ret)
		mlx5_vfio_space_destroy(space);
	return ret;
}

void mlx5_vfio_space_destroy(struct vfio_space *space)
{
	space->is_lost = false;
	while (space->kept) {
		struct vfio_kept *kept = space->kept;

		space->kept = kept->next;
		mlx5_vfio_dma_free(space, &kept->dma);
		free(kept);
	}
	mlx5_vfio_iova_clear(&space->iova);
	pthread_mutex_destroy(&space->lock);
}

static uint64_t span_of(const struct vfio_shape *shape)
{
	return (uint64_t)shape->count << shape->log_page;
}

static int addresses_take(struct vfio_space *space, struct vfio_dma *dma)
{
	int ret;

	pthread_mutex_lock(&space->lock);
	ret = mlx5_vfio_iova_take(&space->iova, span_of(&dma->shape),
				  UINT64_C(1) << dma->shape.log_page, &dma->iova);
	pthread_mutex_unlock(&space->lock);
	return ret;
}

static void addresses_give(struct vfio_space *space, const struct vfio_dma *dma)
{
	pthread_mutex_lock(&space->lock);
	mlx5_vfio_iova_give(&space->iova, dma->iova, dma->iova + span_of(&dma->shape) - 1);
	pthread_mutex_unlock(&space->lock);
}

static bool is_lost(const struct vfio_space *space)
{
	return __atomic_load_n(&space->is_lost, __ATOMIC_ACQUIRE);
}

/* Keeps a freed mapping until the space is destroyed. Without memory to record it, the mapping
 * stays until the container is closed. */
static void dma_keep(struct vfio_space *space, const struct vfio_dma *dma)
{
	struct vfio_kept *kept = calloc_for("VFIO: memory in use", 1, sizeof(*kept));

	if (!kept)
		return;
	kept->dma = *dma;
	pthread_mutex_lock(&space->lock);
	kept->next = space->kept;
	space->kept = kept;
	pthread_mutex_unlock(&space->lock);
}

static void explain_map(const struct vfio_iommu_type1_dma_map *map, int err)
{
	const char *hint = "";

	if (err == ENOMEM)
		hint = " (is RLIMIT_MEMLOCK large enough?)";
	else if (err == ENOSPC)
		hint = " (vfio_iommu_type1 has a limit, dma_entry_limit)";
	else if (err == EFAULT)
		hint = " (is all of it mapped, and writable?)";
	verbs_warn("VFIO: %llu bytes at %#llx are not mapped for the device: %s%s",
		   (unsigned long long)map->size, (unsigned long long)map->vaddr, strerror(err),
		   hint);
}

int mlx5_vfio_dma_map(struct vfio_space *space, const void *addr, uint64_t as, uint64_t length,
		      bool writable, struct vfio_dma *dma)
{
	struct vfio_iommu_type1_dma_map map = { .argsz = sizeof(map) };
	int ret = mlx5_vfio_shape_find(as, length, space->log_unit, &dma->shape);

	dma->memory = NULL;
	if (!ret && is_lost(space))
		ret = EIO; /* the log has said why */
	if (!ret && vfio_in_unit(space, as ^ (uintptr_t)addr))
		ret = EINVAL;
	if (!ret)
		ret = addresses_take(space, dma);
	if (ret)
		return ret;
	map.flags = VFIO_DMA_MAP_FLAG_READ | (writable ? VFIO_DMA_MAP_FLAG_WRITE : 0);
	map.vaddr = (uintptr_t)addr - vfio_in_unit(space, as);
	map.iova = vfio_dma_start(dma);
	map.size = dma->shape.length;
	if (!ioctl(space->container, VFIO_IOMMU_MAP_DMA, &map))
		return 0;
	ret = errno;
	explain_map(&map, ret);
	addresses_give(space, dma);
	return ret;
}

int mlx5_vfio_dma_alloc(struct vfio_space *space, uint64_t length, struct vfio_dma *dma)
{
	const size_t whole = (size_t)(length + vfio_in_unit(space, 0 - length));
	void *memory =
		mmap(NULL, whole, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int ret;

	if (memory == MAP_FAILED)
		return ENOMEM;
	madvise(memory, whole, MADV_DONTFORK);
	ret = mlx5_vfio_dma_map(space, memory, 0, whole, true, dma);
	if (ret)
		munmap(memory, whole);
	else
		dma->memory = memory;
	return ret;
}

static void dma_unmap(struct vfio_space *space, const struct vfio_dma *dma)
{
	struct vfio_iommu_type1_dma_unmap unmap = { .argsz = sizeof(unmap) };

	unmap.iova = vfio_dma_start(dma);
	unmap.size = dma->shape.length;
	if (ioctl(space->container, VFIO_IOMMU_UNMAP_DMA, &unmap))
		verbs_warn("VFIO: unmapping %#llx: %s", (unsigned long long)unmap.iova,
			   /* the addresses stay taken, as the device may still reach them */
			   strerror(errno));
	else
		addresses_give(space, dma);
	if (dma->memory)
		munmap(dma->memory, dma->shape.length);
}

void mlx5_vfio_dma_free(struct vfio_space *space, struct vfio_dma *dma)
{
	if (!dma->shape.count)
		return;
	if (dma->memory && is_lost(space))
		dma_keep(space, dma);
	else
		dma_unmap(space, dma);
	*dma = (struct vfio_dma){ 0 };
}

void mlx5_vfio_dma_put_pages(const struct vfio_dma *dma, void *pas)
{
	for (uint32_t i = 0; i < dma->shape.count; i++)
		fld_set64(pas, i * 8, dma->iova + ((uint64_t)i << dma->shape.log_page));
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * dma_test.c - what is asked of the kernel for mapped memory: whole pages of the kernel, also where
 * these have 64 KiB, at addresses that the IOMMU has.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <linux/vfio.h>
#include <string.h>

#include "providers/mlx5/vfio/dma.h"
#include "tests/unit/golden.h"
#include "tests/unit/log_text.h"

#define FIRST UINT64_C(0x10000)

static struct {
	uint64_t pages; /* sizes that the IOMMU has */
	struct vfio_iommu_type1_dma_map map;
	unsigned int maps, unmaps;
	int ret;
	struct vfio_iommu_type1_dma_unmap unmap; /* last, as it may be longer */
} iommu;

static int ask_iommu(unsigned long request, void *arg)
{
	struct vfio_iommu_type1_info *info = arg;

	if (request == VFIO_IOMMU_GET_INFO) {
		info->flags = VFIO_IOMMU_INFO_PGSIZES;
		info->iova_pgsizes = iommu.pages;
		return 0;
	}
	if (request == VFIO_IOMMU_MAP_DMA) {
		memcpy(&iommu.map, arg, sizeof(iommu.map));
		iommu.maps++;
	} else {
		assert_true(request == VFIO_IOMMU_UNMAP_DMA);
		memcpy(&iommu.unmap, arg, sizeof(iommu.unmap));
		iommu.unmaps++;
	}
	errno = iommu.ret;
	return iommu.ret ? -1 : 0;
}

int __wrap_ioctl(int fd, unsigned long request, void *arg);
int __wrap___ioctl_time64(int fd, unsigned long request, void *arg);

int __wrap_ioctl(int fd, unsigned long request, void *arg)
{
	(void)fd;
	return ask_iommu(request, arg);
}

int __wrap___ioctl_time64(int fd, unsigned long request, void *arg)
{
	return __wrap_ioctl(fd, request, arg);
}

static struct vfio_space space;

static void space_begin(uint64_t pages)
{
	memset(&iommu, 0, sizeof(iommu));
	iommu.pages = pages;
	assert_int_equal(mlx5_vfio_space_init(&space, -1), 0);
}

/* All addresses are free again. */
static void space_end(void)
{
	assert_true(space.iova.holes->first == FIRST);
	assert_true(space.iova.holes->last == 0xfedfffff);
	assert_true(space.iova.holes->next->first == 0xfef00000);
	assert_int_equal(iommu.maps, iommu.unmaps);
	mlx5_vfio_space_destroy(&space);
}

static void memory_is_mapped_by_pages_of_the_kernel(void **state)
{
	const void *addr = (void *)(uintptr_t)0x40012345;
	struct vfio_dma dma;
	uint8_t pas[16];

	(void)state;
	space_begin(0x1000 | 1u << 21);
	assert_int_equal(mlx5_vfio_dma_map(&space, addr, 0x345, 0x1000, false, &dma), 0);
	assert_true(iommu.map.vaddr == 0x40012000 && iommu.map.size == 0x2000);
	assert_true(iommu.map.iova == FIRST && vfio_dma_start(&dma) == FIRST);
	assert_int_equal(iommu.map.flags, VFIO_DMA_MAP_FLAG_READ);
	assert_int_equal(dma.shape.count, 2);
	mlx5_vfio_dma_put_pages(&dma, pas);
	check_bytes(pas, "00000000 00010000 00000000 00011000");
	mlx5_vfio_dma_free(&space, &dma);
	assert_true(iommu.unmap.iova == iommu.map.iova && iommu.unmap.size == iommu.map.size);
	mlx5_vfio_dma_free(&space, &dma); /* nothing more */
	space_end();
}

static void pages_may_have_64_kib(void **state)
{
	const void *addr = (void *)(uintptr_t)0x40012345;
	struct vfio_dma dma;

	(void)state;
	space_begin(0x10000 | 1u << 29);
	assert_int_equal(mlx5_vfio_dma_map(&space, addr, 0x2345, 0x1000, true, &dma), 0);
	assert_true(iommu.map.vaddr == 0x40010000 && iommu.map.size == 0x10000);
	assert_true(iommu.map.iova % 0x10000 == 0);
	assert_int_equal(iommu.map.flags, VFIO_DMA_MAP_FLAG_READ | VFIO_DMA_MAP_FLAG_WRITE);
	assert_int_equal(dma.shape.log_page, 16);
	mlx5_vfio_dma_free(&space, &dma);
	space_end();
}

/* A region's pages are counted from its own addresses, as objects name those, and not from the
 * memory's. */
static void an_object_has_addresses_of_its_own(void **state)
{
	const void *addr = (void *)(uintptr_t)0x40001000;
	struct vfio_dma dma;

	(void)state;
	space_begin(0x1000);
	assert_int_equal(mlx5_vfio_dma_map(&space, addr, 0x7000, 1 << 24, true, &dma), 0);
	assert_true(iommu.map.vaddr == 0x40001000 && iommu.map.size == 1 << 24);
	assert_int_equal(dma.shape.log_page, 17);
	assert_true(dma.iova % (1 << 17) == 0 && iommu.map.iova == dma.iova + 0x7000);
	mlx5_vfio_dma_free(&space, &dma);
	assert_int_equal(mlx5_vfio_dma_map(&space, addr, 0x7001, 0x1000, true, &dma), EINVAL);
	space_end();
}

static void allocations_begin_with_a_page_of_the_device(void **state)
{
	struct vfio_dma dma;

	(void)state;
	space_begin(0x1000);
	for (uint64_t length = 64; length <= 1 << 26; length = length * 3 / 2) {
		assert_int_equal(mlx5_vfio_dma_alloc(&space, length, &dma), 0);
		assert_non_null(dma.memory);
		assert_true(iommu.map.size >= length && iommu.map.size < length + 0x1000);
		assert_true(vfio_dma_start(&dma) == dma.iova);
		assert_true(dma.iova % (UINT64_C(1) << dma.shape.log_page) == 0);
		assert_int_equal(((uint8_t *)dma.memory)[length - 1], 0);
		mlx5_vfio_dma_free(&space, &dma);
	}
	space_end();
}

/* The device may write what it knows until the space is destroyed, after its reset, so memory of
 * the library is kept. The program's is its own again: the IOMMU no longer lets the device write
 * it. */
static void memory_of_a_lost_device_is_kept(void **state)
{
	struct vfio_dma dma[3];
	uint8_t *memory;

	(void)state;
	space_begin(0x1000);
	assert_int_equal(mlx5_vfio_dma_map(&space, (void *)0x1000, 0, 0x1000, true, &dma[0]), 0);
	assert_int_equal(mlx5_vfio_dma_alloc(&space, 0x1000, &dma[1]), 0);
	memory = dma[1].memory;
	vfio_space_lose(&space);
	mlx5_vfio_dma_free(&space, &dma[0]);
	mlx5_vfio_dma_free(&space, &dma[1]);
	assert_int_equal(dma[1].shape.count, 0);
	assert_int_equal(iommu.unmaps, 1);
	assert_true(iommu.unmap.iova == FIRST);
	memory[0xfff] = 1; /* is there still */
	assert_int_equal(mlx5_vfio_dma_map(&space, (void *)0x1000, 0, 0x1000, true, &dma[2]), EIO);
	assert_int_equal(mlx5_vfio_dma_alloc(&space, 0x1000, &dma[2]), EIO);
	assert_int_equal(iommu.maps, 2);
	mlx5_vfio_space_destroy(&space);
	assert_int_equal(iommu.unmaps, 2);
}

static void what_the_kernel_refuses_is_free_again(void **state)
{
	struct vfio_dma dma;

	(void)state;
	space_begin(0x1000);
	iommu.ret = ENOMEM;
	assert_int_equal(mlx5_vfio_dma_map(&space, (void *)0x1000, 0, 0x1000, true, &dma), ENOMEM);
	assert_int_equal(mlx5_vfio_dma_alloc(&space, 0x1000, &dma), ENOMEM);
	iommu.ret = 0;
	iommu.maps = 0;
	space_end();
}

/* The log says what to do about the kernel's limits. */
static void a_refused_map_has_a_hint(void **state)
{
	static const struct {
		int err;
		const char *hint;
	} cases[] = {
		{ ENOMEM, "RLIMIT_MEMLOCK" },
		{ ENOSPC, "dma_entry_limit" },
		{ EFAULT, "writable" },
	};
	static uint8_t memory[4096] __attribute__((aligned(4096)));
	struct vfio_dma dma;

	(void)state;
	space_begin(4096);
	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		iommu.ret = cases[i].err;
		assert_int_equal(mlx5_vfio_dma_map(&space, memory, 0, 4096, true, &dma),
				 cases[i].err);
		check_logged(cases[i].hint);
	}
	iommu.ret = 0;
	iommu.maps = 0;
	space_end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(memory_is_mapped_by_pages_of_the_kernel),
		cmocka_unit_test(pages_may_have_64_kib),
		cmocka_unit_test(an_object_has_addresses_of_its_own),
		cmocka_unit_test(allocations_begin_with_a_page_of_the_device),
		cmocka_unit_test(memory_of_a_lost_device_is_kept),
		cmocka_unit_test(what_the_kernel_refuses_is_free_again),
		cmocka_unit_test(a_refused_map_has_a_hint),
	};

	log_to_memory();
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * dma_test.c - guest memory as the client maps it: reachable ranges, and refused ones.
 *
 * Covers: softhca/front/pci/dma.c, softhca/front/pci/vanishing.c
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "vfio_rig.h"

enum { PAGE = 4096, RW = PROT_READ | PROT_WRITE };

static struct dma_table table;
static int fd;

static int table_begin(void **state)
{
	(void)state;
	memset(&table, 0, sizeof(table));
	table.enabled = true;
	fd = memfd_create("memory", MFD_CLOEXEC);
	return ftruncate(fd, 16 * PAGE);
}

static int table_end(void **state)
{
	(void)state;
	dma_table_clear(&table);
	return close(fd);
}

static void access_crosses_regions_that_touch(void **state)
{
	uint8_t out[PAGE], in[PAGE];

	(void)state;
	/* the second region lies before the first one in the file, so both are one piece for the
	 * guest and two for the file */
	assert_int_equal(dma_table_map(&table, 5 * PAGE, PAGE, RW, fd, 3 * PAGE), 0);
	assert_int_equal(dma_table_map(&table, 6 * PAGE, PAGE, RW, fd, 0), 0);
	memset(out, 0x5a, sizeof(out));
	assert_int_equal(dma_table_write(&table, 6 * PAGE - 100, out, 200), 0);
	assert_int_equal(dma_table_read(&table, 6 * PAGE - 100, in, 200), 0);
	assert_memory_equal(in, out, 200);
	assert_int_equal(pread(fd, in, 100, 4 * PAGE - 100), 100);
	assert_memory_equal(in, out, 100);
	assert_int_equal(pread(fd, in, 101, 0), 101);
	assert_memory_equal(in, out, 100);
	assert_int_equal(in[100], 0);
}

static void outside_of_regions_is_a_bus_error(void **state)
{
	uint8_t buf[2 * PAGE];

	(void)state;
	assert_int_equal(dma_table_read(&table, 0, buf, 1), EFAULT);
	assert_int_equal(dma_table_map(&table, 5 * PAGE, PAGE, RW, fd, 0), 0);
	assert_int_equal(dma_table_map(&table, 7 * PAGE, PAGE, RW, fd, PAGE), 0);
	assert_int_equal(dma_table_read(&table, 5 * PAGE - 1, buf, 1), EFAULT);
	assert_int_equal(dma_table_read(&table, 5 * PAGE, buf, PAGE), 0);
	assert_int_equal(dma_table_read(&table, 5 * PAGE, buf, PAGE + 1), EFAULT);
	assert_int_equal(dma_table_write(&table, 6 * PAGE + 1, buf, PAGE), EFAULT);
	assert_int_equal(dma_table_read(&table, 8 * PAGE - 1, buf, 2), EFAULT);
	assert_int_equal(dma_table_read(&table, UINT64_MAX, buf, 2), EFAULT);
}

/* The client may shorten the file after it has mapped it, so an access may raise SIGBUS. */
static void memory_may_vanish(void **state)
{
	uint8_t buf[2 * PAGE] = { 0 };

	(void)state;
	assert_int_equal(dma_table_map(&table, 4 * PAGE, 4 * PAGE, RW, fd, 0), 0);
	for (int round = 0; round < 3; round++) {
		assert_int_equal(ftruncate(fd, PAGE), 0);
		assert_int_equal(dma_table_read(&table, 5 * PAGE, buf, 1), EFAULT);
		assert_int_equal(dma_table_write(&table, 5 * PAGE, buf, 1), EFAULT);
		assert_int_equal(dma_table_read(&table, 4 * PAGE + 1, buf, PAGE), EFAULT);
		assert_int_equal(dma_table_write(&table, 4 * PAGE + 1, buf, PAGE), EFAULT);
		assert_int_equal(dma_table_write(&table, 8 * PAGE - 9, buf, 9), EFAULT);
		buf[PAGE - 1] = 7;
		assert_int_equal(dma_table_write(&table, 4 * PAGE, buf, PAGE), 0);
		buf[PAGE - 1] = 0;
		assert_int_equal(dma_table_read(&table, 4 * PAGE, buf, PAGE), 0);
		assert_int_equal(buf[PAGE - 1], 7);
		assert_int_equal(ftruncate(fd, 16 * PAGE), 0);
		assert_int_equal(dma_table_read(&table, 5 * PAGE, buf, PAGE), 0);
	}
}

/* Elsewhere the signal means what it always does, so the process ends. */
static void other_bus_errors_still_end_the_process(void **state)
{
	const uint8_t *memory;
	uint8_t byte;
	int status;
	pid_t child;

	(void)state;
	assert_int_equal(dma_table_map(&table, 4 * PAGE, PAGE, RW, fd, 0), 0);
	memory = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, fd, 0);
	assert_ptr_not_equal(memory, MAP_FAILED);
	assert_int_equal(ftruncate(fd, 0), 0);
	assert_int_equal(dma_table_read(&table, 4 * PAGE, &byte, 1), EFAULT);
	child = fork();
	if (!child)
		_exit(*(const volatile uint8_t *)memory);
	assert_int_equal(waitpid(child, &status, 0), child);
#ifndef __SANITIZE_ADDRESS__ /* the sanitizer reports the signal itself */
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGBUS);
#endif
	munmap((void *)(uintptr_t)memory, PAGE);
}

static void protection_holds(void **state)
{
	uint8_t buf[8] = { 0 };

	(void)state;
	assert_int_equal(dma_table_map(&table, 1 * PAGE, PAGE, PROT_READ, fd, 0), 0);
	assert_int_equal(dma_table_map(&table, 2 * PAGE, PAGE, PROT_WRITE, fd, 0), 0);
	assert_int_equal(dma_table_map(&table, 3 * PAGE, PAGE, PROT_NONE, fd, 0), 0);
	assert_int_equal(dma_table_map(&table, 4 * PAGE, PAGE, RW, -1, 0), 0);
	assert_int_equal(dma_table_read(&table, 1 * PAGE, buf, 8), 0);
	assert_int_equal(dma_table_write(&table, 1 * PAGE, buf, 8), EFAULT);
	assert_int_equal(dma_table_read(&table, 2 * PAGE, buf, 8), EFAULT);
	assert_int_equal(dma_table_write(&table, 2 * PAGE, buf, 8), 0);
	assert_int_equal(dma_table_read(&table, 3 * PAGE, buf, 8), EFAULT);
	assert_int_equal(dma_table_write(&table, 3 * PAGE, buf, 8), EFAULT);
	assert_int_equal(dma_table_read(&table, 4 * PAGE, buf, 8), EFAULT);
	assert_int_equal(dma_table_write(&table, 4 * PAGE, buf, 8), EFAULT);
}

static void overlap_is_refused(void **state)
{
	(void)state;
	assert_int_equal(dma_table_map(&table, 4 * PAGE, 4 * PAGE, RW, fd, 0), 0);
	assert_int_equal(dma_table_map(&table, 4 * PAGE, 4 * PAGE, RW, fd, 0), EEXIST);
	assert_int_equal(dma_table_map(&table, 7 * PAGE, PAGE, RW, fd, 0), EEXIST);
	assert_int_equal(dma_table_map(&table, 1 * PAGE, 3 * PAGE + 1, RW, -1, 0), EEXIST);
	assert_int_equal(dma_table_map(&table, 1 * PAGE, 12 * PAGE, RW, fd, 0), EEXIST);
	assert_int_equal(dma_table_map(&table, 3 * PAGE, PAGE, RW, fd, 0), 0);
	assert_int_equal(dma_table_map(&table, 8 * PAGE, PAGE, RW, fd, 0), 0);
	assert_int_equal(table.count, 3);
}

static void sizes_that_cannot_be_are_refused(void **state)
{
	(void)state;
	assert_int_equal(dma_table_map(&table, 0, 0, RW, fd, 0), EINVAL);
	assert_int_equal(dma_table_map(&table, UINT64_MAX - PAGE, 2 * PAGE, RW, -1, 0), EINVAL);
	/* the last page of the address space is valid */
	assert_int_equal(dma_table_map(&table, -(uint64_t)PAGE, PAGE, RW, -1, 0), 0);
	/* an access beyond the end of the file would raise SIGBUS */
	assert_int_equal(dma_table_map(&table, 0, 17 * PAGE, RW, fd, 0), EINVAL);
	assert_int_equal(dma_table_map(&table, 0, PAGE, RW, fd, 16 * PAGE), EINVAL);
	assert_int_equal(dma_table_map(&table, 0, PAGE, RW, fd, UINT64_MAX - PAGE + 1), EINVAL);
	assert_int_equal(dma_table_map(&table, 0, PAGE, RW, fd, 1), EINVAL);
	assert_int_equal(table.count, 1);
}

static void unmap_takes_effect_at_once_and_is_of_one_region(void **state)
{
	uint8_t buf[8];

	(void)state;
	dma_table_map(&table, 4 * PAGE, PAGE, RW, fd, 0);
	dma_table_map(&table, 5 * PAGE, PAGE, RW, fd, PAGE);
	dma_table_map(&table, 6 * PAGE, PAGE, RW, fd, 2 * PAGE);
	assert_int_equal(dma_table_unmap(&table, 4 * PAGE, 2 * PAGE), ENOENT);
	assert_int_equal(dma_table_unmap(&table, 5 * PAGE, PAGE / 2), ENOENT);
	assert_int_equal(dma_table_unmap(&table, 7 * PAGE, PAGE), ENOENT);
	assert_int_equal(dma_table_unmap(&table, 5 * PAGE, PAGE), 0);
	assert_int_equal(dma_table_read(&table, 4 * PAGE, buf, 8), 0);
	assert_int_equal(dma_table_read(&table, 5 * PAGE, buf, 8), EFAULT);
	assert_int_equal(dma_table_read(&table, 6 * PAGE, buf, 8), 0);
	assert_int_equal(dma_table_unmap(&table, 5 * PAGE, PAGE), ENOENT);
	dma_table_clear(&table);
	assert_int_equal(dma_table_read(&table, 4 * PAGE, buf, 8), EFAULT);
}

static void table_has_an_end(void **state)
{
	const uint64_t some = 256;

	(void)state;
	/* from the top down, so that each insertion moves all others */
	for (uint64_t i = some; i > 0; i--)
		assert_int_equal(dma_table_map(&table, i * PAGE, PAGE, RW, -1, 0), 0);
	for (uint64_t i = some + 1; i <= DMA_MAX_REGIONS; i++)
		assert_int_equal(dma_table_map(&table, i * PAGE, PAGE, RW, -1, 0), 0);
	assert_int_equal(dma_table_map(&table, 0, PAGE, RW, -1, 0), ENOSPC);
	for (uint64_t i = DMA_MAX_REGIONS; i > some; i--)
		assert_int_equal(dma_table_unmap(&table, i * PAGE, PAGE), 0);
	for (uint64_t i = 1; i <= some; i++)
		assert_int_equal(dma_table_unmap(&table, i * PAGE, PAGE), 0);
}

static uint8_t elsewhere[2 * PAGE];
static unsigned int drops;

static int remote_copy(void *remote, uint64_t addr, void *buf, uint64_t len, bool write)
{
	assert_ptr_equal(remote, elsewhere);
	if (addr + len > sizeof(elsewhere))
		return EFAULT;
	memcpy(write ? elsewhere + addr : buf, write ? buf : elsewhere + addr, len);
	return 0;
}

static void remote_drop(void *remote)
{
	assert_ptr_equal(remote, elsewhere);
	drops++;
}

static const struct dma_remote_ops remote_ops = { remote_copy, remote_drop };

static int map_remote(uint64_t addr, uint64_t size, int prot, uint64_t at)
{
	return dma_table_map_remote(&table, addr, size, prot, &remote_ops, elsewhere, at);
}

static void remote_memory_is_copied_by_its_owner(void **state)
{
	uint8_t buf[8] = { 1, 2, 3, 4, 5, 6, 7, 8 };

	(void)state;
	drops = 0;
	assert_int_equal(map_remote(3 * PAGE, PAGE, RW, 100), 0);
	assert_int_equal(map_remote(4 * PAGE, PAGE, PROT_READ, 3), 0);
	assert_int_equal(map_remote(4 * PAGE - 1, PAGE, RW, 0), EEXIST);
	assert_int_equal(dma_table_write(&table, 3 * PAGE + 7, buf, 8), 0);
	assert_memory_equal(elsewhere + 107, buf, 8);
	elsewhere[3] = 0x5a;
	elsewhere[PAGE + 99] = 0xa5;
	assert_int_equal(dma_table_read(&table, 4 * PAGE - 1, buf, 2), 0);
	assert_true(buf[0] == 0xa5 && buf[1] == 0x5a);
	assert_int_equal(dma_table_write(&table, 4 * PAGE, buf, 1), EFAULT);
	assert_int_equal(drops, 0);
	dma_table_clear(&table);
	assert_int_equal(drops, 2);
}

static void a_range_is_unmapped_with_all_regions_in_it_or_none(void **state)
{
	uint64_t unmapped = 1;

	(void)state;
	drops = 0;
	for (uint64_t i = 1; i <= 4; i++)
		assert_int_equal(map_remote(2 * i * PAGE, PAGE, RW, 0), 0);
	assert_int_equal(dma_table_unmap_range(&table, 2 * PAGE, 0, &unmapped), EINVAL);
	assert_int_equal(dma_table_unmap_range(&table, 2 * PAGE, UINT64_MAX, &unmapped), EINVAL);
	assert_int_equal(dma_table_unmap_range(&table, 3 * PAGE, PAGE + 1, &unmapped), EINVAL);
	assert_int_equal(dma_table_unmap_range(&table, 2 * PAGE + 1, 3 * PAGE, &unmapped), EINVAL);
	assert_true(!unmapped && !drops);
	assert_int_equal(dma_table_unmap_range(&table, 3 * PAGE, PAGE, &unmapped), 0);
	assert_true(!unmapped && !drops);
	assert_int_equal(dma_table_unmap_range(&table, 3 * PAGE, 4 * PAGE, &unmapped), 0);
	assert_int_equal(unmapped, 2 * PAGE);
	assert_int_equal(drops, 2);
	assert_int_equal(map_remote(4 * PAGE, 3 * PAGE, RW, 0), 0);
	dma_table_clear(&table);
}

/* The lower half is unmapped below an upper one that has to move once, not for each region. */
static void a_long_range_is_unmapped_in_one_move(void **state)
{
	const uint64_t half = DMA_MAX_REGIONS / 2;
	uint64_t unmapped;
	clock_t start;

	(void)state;
	for (uint64_t i = 1; i <= DMA_MAX_REGIONS; i++)
		assert_int_equal(dma_table_map(&table, i * PAGE, PAGE, RW, -1, 0), 0);
	start = clock();
	assert_int_equal(dma_table_unmap_range(&table, PAGE, half * PAGE, &unmapped), 0);
	assert_true(clock() - start < CLOCKS_PER_SEC / 2);
	assert_int_equal(unmapped, half * PAGE);
	assert_int_equal(table.count, DMA_MAX_REGIONS - half);
	assert_true(table.region[0].addr == (half + 1) * PAGE);
}

static void nothing_is_reached_while_the_device_is_no_bus_master(void **state)
{
	struct hca_bus_seg seg = { PAGE, 8 };
	uint8_t buf[8] = { 0 };

	(void)state;
	dma_table_map(&table, PAGE, PAGE, RW, fd, 0);
	assert_int_equal(dma_bus_ops.write(&table, &seg, 1, buf), 0);
	table.enabled = false;
	assert_int_equal(dma_bus_ops.write(&table, &seg, 1, buf), EFAULT);
	assert_int_equal(dma_bus_ops.read(&table, &seg, 1, buf), EFAULT);
}

static void segments_are_gathered_and_scattered_in_order(void **state)
{
	struct hca_bus_seg segs[3] = { { 2 * PAGE, 4 }, { PAGE, 8 }, { PAGE + 100, 4 } };
	uint8_t out[16], in[16];

	(void)state;
	for (int i = 0; i < 16; i++)
		out[i] = i + 1;
	dma_table_map(&table, PAGE, 2 * PAGE, RW, fd, 0);
	assert_int_equal(dma_bus_ops.write(&table, segs, 3, out), 0);
	assert_int_equal(dma_bus_ops.read(&table, segs, 3, in), 0);
	assert_memory_equal(in, out, sizeof(in));
	assert_int_equal(pread(fd, in, 8, 0), 8);
	assert_memory_equal(in, out + 4, 8);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, table_begin, table_end)
	const struct CMUnitTest tests[] = {
		T(access_crosses_regions_that_touch),
		T(outside_of_regions_is_a_bus_error),
		T(memory_may_vanish),
		T(other_bus_errors_still_end_the_process),
		T(protection_holds),
		T(overlap_is_refused),
		T(sizes_that_cannot_be_are_refused),
		T(unmap_takes_effect_at_once_and_is_of_one_region),
		T(table_has_an_end),
		T(remote_memory_is_copied_by_its_owner),
		T(a_range_is_unmapped_with_all_regions_in_it_or_none),
		T(a_long_range_is_unmapped_in_one_move),
		T(nothing_is_reached_while_the_device_is_no_bus_master),
		T(segments_are_gathered_and_scattered_in_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * guarded.h - memory between inaccessible pages, and mlx5_vfio_dma_alloc() and mlx5_vfio_dma_free()
 * that hand it out for a device that the test plays.
 */
#ifndef TESTS_UNIT_PROVIDERS_MLX5_VFIO_GUARDED_H
#define TESTS_UNIT_PROVIDERS_MLX5_VFIO_GUARDED_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include "providers/mlx5/vfio/dma.h"

enum { GUARDED_MOST = 64 };

static struct {
	pthread_mutex_t lock;
	struct {
		uint8_t *memory;
		uint64_t iova;
		size_t length;
	} at[GUARDED_MOST];
	unsigned int in_use;
	uint64_t next_iova;
	bool fails;
	int (*when_asked)(void); /* unless NULL, runs first; memory is refused with its errno */
} guarded = { .lock = PTHREAD_MUTEX_INITIALIZER, .next_iova = UINT64_C(0x123400000000) };

static inline size_t guarded_whole(uint64_t length)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);

	return (length + page - 1) / page * page;
}

/* Returns zeroed memory whose end is that of a page. */
static inline uint8_t *guarded_new(size_t length)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE), whole = guarded_whole(length);
	uint8_t *pages =
		mmap(NULL, whole + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_ptr_not_equal(pages, MAP_FAILED);
	assert_int_equal(mprotect(pages + page, whole, PROT_READ | PROT_WRITE), 0);
	return pages + page + whole - length;
}

static inline void guarded_free(uint8_t *memory, size_t length)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE), whole = guarded_whole(length);

	munmap(memory + length - whole - page, whole + 2 * page);
}

int mlx5_vfio_dma_alloc(struct vfio_space *space, uint64_t length, struct vfio_dma *dma)
{
	const int ret = guarded.when_asked ? guarded.when_asked() : 0;
	unsigned int i = 0;

	(void)space;
	if (ret)
		return ret;
	if (guarded.fails)
		return ENOMEM;
	pthread_mutex_lock(&guarded.lock);
	while (i < GUARDED_MOST && guarded.at[i].memory)
		i++;
	assert_true(i < GUARDED_MOST);
	guarded.at[i].memory = guarded_new((size_t)length);
	guarded.at[i].iova = guarded.next_iova;
	guarded.at[i].length = (size_t)length;
	guarded.next_iova += length + 4096;
	guarded.in_use++;
	*dma = (struct vfio_dma){
		.shape = { .length = length, .log_page = 12, .count = (uint32_t)(length / 4096) },
		.iova = guarded.at[i].iova,
		.memory = guarded.at[i].memory,
	};
	pthread_mutex_unlock(&guarded.lock);
	return 0;
}

void mlx5_vfio_dma_free(struct vfio_space *space, struct vfio_dma *dma)
{
	(void)space;
	pthread_mutex_lock(&guarded.lock);
	for (unsigned int i = 0; dma->memory && i < GUARDED_MOST; i++) {
		if (guarded.at[i].memory != dma->memory)
			continue;
		guarded_free(guarded.at[i].memory, guarded.at[i].length);
		guarded.at[i].memory = NULL;
		guarded.in_use--;
	}
	pthread_mutex_unlock(&guarded.lock);
	*dma = (struct vfio_dma){ 0 };
}

/* Returns what the device finds at an address. */
static inline uint8_t *guarded_at(uint64_t iova)
{
	uint8_t *found = NULL;

	pthread_mutex_lock(&guarded.lock);
	for (unsigned int i = 0; i < GUARDED_MOST; i++)
		if (guarded.at[i].memory && iova - guarded.at[i].iova < guarded.at[i].length)
			found = guarded.at[i].memory + (iova - guarded.at[i].iova);
	pthread_mutex_unlock(&guarded.lock);
	if (!found)
		fail_msg("%#llx is mapped for no device", (unsigned long long)iova);
	return found;
}

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * vfio_seams.h - included before each source of providers/mlx5/vfio/ that fuzz_vfio.c drives: its
 * registers, barriers, clock and calls of the kernel are those of vfio_device.h.
 */
#ifndef FUZZ_VFIO_SEAMS_H
#define FUZZ_VFIO_SEAMS_H

#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>

#include "util/barrier.h"
#include "util/mmio.h"

__be32 seam_load(const void *reg);
void seam_store(void *reg, __be32 value);
void seam_barrier(void);
int seam_clock(clockid_t clock, struct timespec *now);
int seam_sleep(const struct timespec *time, struct timespec *left);
int seam_ioctl(int fd, unsigned long request, void *argument);
void *seam_mmap(void *addr, size_t length, int prot, int flags, int fd, off_t offset);
int seam_munmap(void *addr, size_t length);
int seam_madvise(void *addr, size_t length, int advice);

#define mmio_load_be32    seam_load
#define mmio_store_be32   seam_store
#define dma_load_barrier  seam_barrier
#define dma_store_barrier seam_barrier
#define wc_start_barrier  seam_barrier
#define clock_gettime     seam_clock
#define nanosleep         seam_sleep
#define ioctl             seam_ioctl
#define mmap              seam_mmap
#define munmap            seam_munmap
#define madvise           seam_madvise

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * icm.h - memory that software gives the adapter for its tables (ICM): an address space of the
 * adapter, in which pieces of host memory are mapped.
 */
#ifndef SOFTHCA_DEVICE_FORMAT_MLX4_ICM_H
#define SOFTHCA_DEVICE_FORMAT_MLX4_ICM_H

#include <stddef.h>
#include <stdint.h>

struct hca;

struct icm_piece {
	uint64_t virt, size, addr;
};

struct icm {
	struct icm_piece *piece; /* by rising address, for a binary search; they do not overlap */
	size_t count, room;
};

/* Maps a piece. Returns 0, EEXIST on overlap, ENOSPC beyond the limit of pieces, or ENOMEM. */
int icm_map(struct icm *icm, uint64_t virt, uint64_t size, uint64_t addr);
/* Unmaps all pieces within the range. Returns EINVAL, with nothing changed, if a piece is partly
 * within it. */
int icm_unmap(struct icm *icm, uint64_t virt, uint64_t size);
void icm_free(struct icm *icm);

/* Return 0, or EFAULT if a byte is not mapped or the bus refuses it. */
int icm_read(struct hca *hca, uint64_t virt, void *buf, size_t len);
int icm_write(struct hca *hca, uint64_t virt, const void *buf, size_t len);

#endif

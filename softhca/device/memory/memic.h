/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * memic.h - memory on the adapter (MEMIC), as the device uses it. The fabric's lock guards all of
 * it.
 */
#ifndef SOFTHCA_DEVICE_MEMORY_MEMIC_H
#define SOFTHCA_DEVICE_MEMORY_MEMIC_H

#include "softhca/device/core.h"

enum {
	MEMIC_PAGE = 4096,
	MEMIC_UNIT_LOG = 6,   /* sizes are multiples of 64 bytes */
	MEMIC_ALIGN_LOG = 12, /* largest alignment */
};

enum memic_operation {
	MEMIC_INCREMENT,    /* a written byte is added to memory's byte */
	MEMIC_TEST_AND_SET, /* a read returns the byte and sets all its bits */
};

struct memic;
struct memic_block;

/* Asks for SIZE bytes anywhere in LEN bytes of the BAR. */
struct memic_request {
	uint64_t start, len;
	uint64_t size;
	unsigned int align_log;
};

/* Creates the memory of the size in hca->config; with size 0, none. Returns 0 or ENOMEM. */
int memic_create(struct hca *hca);
void memic_destroy(struct hca *hca);

/* Checks a request. Returns NULL or the reason for refusing it. */
const char *memic_check(const struct memic *memic, const struct memic_request *request);
/* Allocates a block for a valid request. Returns 0, ENOSPC or ENOMEM. */
int memic_take(struct memic *memic, const struct memic_request *request, uint64_t *addr);
/* Frees a block. Returns 0, ENOENT if there is none, or EBUSY if keys use it or it has operation
 * addresses: these would reach the memory of the block's next owner. */
int memic_give_back(struct memic *memic, uint64_t addr, uint64_t size);

/* Give a block the address of an operation, and take it back. Return NULL or the reason for
 * refusing. */
const char *memic_open_operation(struct memic *memic, uint64_t addr, uint32_t operation,
				 uint64_t *window);
const char *memic_close_operation(struct memic *memic, uint64_t addr, uint32_t operation);

/* Returns the block that holds LEN bytes at ADDR and adds a user to it, or NULL. */
struct memic_block *memic_get(struct hca *hca, uint64_t addr, uint64_t len);
void memic_put(struct memic_block *block);
/* Adds bytes of a block to a transfer. Returns 0 or EFAULT. */
int memic_dma(struct dma_batch *batch, uint64_t addr, uint64_t len);

#endif

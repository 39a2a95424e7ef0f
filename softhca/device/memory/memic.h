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

/* Asks for SIZE bytes, aligned to 2^ALIGN_LOG, anywhere in the LEN bytes of the BAR from START
 * on. */
struct memic_request {
	uint64_t start, len;
	uint64_t size;
	unsigned int align_log;
};

/* Creates hca->memic, of the size in hca->config. Size 0: leaves it NULL. Returns 0 or ENOMEM. */
int memic_create(struct hca *hca);
void memic_destroy(struct hca *hca);

/* Checks a request. Returns NULL or the reason for refusing it. */
const char *memic_check(const struct memic *memic, const struct memic_request *request);
/* Allocates a block for a valid request. Returns 0, ENOSPC or ENOMEM. */
int memic_take(struct memic *memic, const struct memic_request *request, uint64_t *addr);
/* Frees a block. Returns 0; ENOENT if there is no such block; or EBUSY if keys use the block or it
 * has operation addresses, because these would reach the memory of the block's next owner. */
int memic_give_back(struct memic *memic, uint64_t addr, uint64_t size);

/* Open an operation for the block at ADDR and set WINDOW to the operation's address; close it.
 * Return NULL or the reason for refusing. */
const char *memic_open_operation(struct memic *memic, uint64_t addr, uint32_t operation,
				 uint64_t *window);
const char *memic_close_operation(struct memic *memic, uint64_t addr, uint32_t operation);

/* Returns the block that holds LEN bytes at ADDR and adds a user to it, or NULL. */
struct memic_block *memic_get(struct hca *hca, uint64_t addr, uint64_t len);
void memic_put(struct memic_block *block);
/* Moves LEN bytes of a block at once, behind the bytes that BATCH has so far. Returns 0 or
 * EFAULT. */
int memic_dma(struct dma_batch *batch, uint64_t addr, uint64_t len);

#endif

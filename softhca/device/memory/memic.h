/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * memic.h - memory of the adapter's own, within the core. Everything runs under the fabric's lock.
 */
#ifndef SOFTHCA_DEVICE_MEMORY_MEMIC_H
#define SOFTHCA_DEVICE_MEMORY_MEMIC_H

#include "softhca/device/core.h"

enum {
	MEMIC_PAGE = 4096,
	MEMIC_UNIT_LOG = 6,   /* what is given out are multiples of so much */
	MEMIC_ALIGN_LOG = 12, /* at most */
};

enum memic_operation {
	MEMIC_INCREMENT,    /* a byte that is written is added to the memory's */
	MEMIC_TEST_AND_SET, /* a byte is read, and all its bits are set */
};

struct memic;
struct memic_block;

/* A request wants SIZE bytes somewhere in LEN bytes of the BAR. */
struct memic_request {
	uint64_t start, len;
	uint64_t size;
	unsigned int align_log;
};

/* Creates the memory that hca->config asks for, none at all when that is nothing, and returns 0 or
 * ENOMEM. */
int memic_create(struct hca *hca);
void memic_destroy(struct hca *hca);

/* Returns NULL, or what is wrong with a request. */
const char *memic_check(const struct memic *memic, const struct memic_request *request);
/* Gives out a block for a request that is right; the result is 0, ENOSPC or ENOMEM. */
int memic_take(struct memic *memic, const struct memic_request *request, uint64_t *addr);
/* Returns 0, ENOENT when there is no such block, or EBUSY when keys use it or it has addresses of
 * operations. */
int memic_give_back(struct memic *memic, uint64_t addr, uint64_t size);

/* The first function gives a block the address of an operation, and the second takes it back. They
 * return NULL, or what is wrong. */
const char *memic_open_operation(struct memic *memic, uint64_t addr, uint32_t operation,
				 uint64_t *window);
const char *memic_close_operation(struct memic *memic, uint64_t addr, uint32_t operation);

/* Returns the block that holds LEN bytes at ADDR, with one more user, or NULL when there is
 * none. */
struct memic_block *memic_get(struct hca *hca, uint64_t addr, uint64_t len);
void memic_put(struct memic_block *block);
/* Adds bytes of a block to a transfer and returns 0 or EFAULT. */
int memic_dma(struct dma_batch *batch, uint64_t addr, uint64_t len);

#endif

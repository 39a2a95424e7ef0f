/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * ste_memory.h - memory on the adapter for table entries that software writes itself (PRM: SW ICM).
 *
 * Software allocates blocks, and writes and reads them by RDMA with keys of mode ICM. A byte that
 * was never written is 0. Memory of the host is taken page by page as entries are written.
 */
#ifndef SOFTHCA_DEVICE_STEERING_STE_MEMORY_H
#define SOFTHCA_DEVICE_STEERING_STE_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

struct dma_batch;
struct hca;

/* Areas of the memory, in the adapter's own addresses, which are no bus addresses. Entries hold 40
 * bits of an address. */
#define STE_MEMORY_START   UINT64_C(0x4000000000) /* entries */
#define STE_MEMORY_CHANGE  UINT64_C(0x6000000000) /* lists of header changes */
#define STE_MEMORY_PATTERN UINT64_C(0x6800000000) /* lists of changes without values */

enum {
	STE_MEMORY_LOG_SIZE = 36,
	STE_MEMORY_LOG_CHANGE = 22, /* as many lists of 64 bytes as entries can name */
	STE_MEMORY_LOG_PATTERN = 22,
	STE_MEMORY_LOG_UNIT = 12, /* sizes and places of blocks are multiples of this */
	STE_MEMORY_LOG_BLOCK_MAX = 28,
	STE_MEMORY_LOG_BLOCKS = 10,
	STE_MEMORY_PAGE = 4096,
	/* written pages of all blocks: at most 512 MiB of the host's memory, whatever programs
	 * allocate */
	STE_MEMORY_PAGES_MAX = 1 << 17,
};

struct ste_memory {
	uint32_t pages; /* allocated for written bytes, of all blocks */
};

struct ste_block {
	uint32_t n;
	uint32_t users; /* number of keys; the block cannot be freed before them */
	struct ste_memory *memory;
	uint64_t addr, len;
	uint8_t **page; /* an element is NULL: that page was never written */
};

/* Checks whether a block of 2^LOG_SIZE bytes may be at ADDR. Returns NULL or the reason for
 * refusing. */
const char *ste_memory_check(const struct hca *hca, uint64_t addr, uint64_t log_size);
/* Adds a block that ste_memory_check() has accepted. Returns 0, ENOSPC or ENOMEM. */
int ste_memory_add(struct hca *hca, uint64_t addr, uint64_t log_size, struct ste_block **block);
void ste_memory_remove(struct hca *hca, struct ste_block *block);
void ste_memory_free(struct ste_block *block);

/* Returns the block that holds LEN bytes at ADDR, if the sender of the current command may use it,
 * and adds a key to its users; or NULL. */
struct ste_block *ste_memory_get(struct hca *hca, uint64_t addr, uint64_t len);
void ste_memory_put(struct ste_block *block);
/* Moves LEN bytes of a block at once, behind the bytes that BATCH has so far. Returns 0, EFAULT, or
 * ENOMEM. */
int ste_memory_dma(struct dma_batch *batch, struct ste_block *block, uint64_t addr, uint64_t len);
/* Reads LEN bytes, which must not cross a page. Returns false outside of all blocks. */
bool ste_memory_read(const struct hca *hca, uint64_t addr, void *bytes, uint32_t len);

#endif

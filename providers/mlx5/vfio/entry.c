/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * entry.c - see entry.h. PRM: Command Interface
 */
#include <string.h>

#include "prm/mlx5/init_seg.h"
#include "providers/mlx5/vfio/entry.h"
#include "util/barrier.h"
#include "util/bits.h"

static uint8_t *block_at(const struct vfio_chain *chain, uint32_t number)
{
	return (uint8_t *)chain->dma.memory + number * PRM_CMDQ_BLOCK_STRIDE;
}

uint64_t mlx5_vfio_block_address(const struct vfio_chain *chain, uint32_t number)
{
	return vfio_dma_start(&chain->dma) + number * PRM_CMDQ_BLOCK_STRIDE;
}

uint32_t mlx5_vfio_blocks_for(uint32_t length)
{
	return length <= PRM_CMDQ_INLINE
		       ? 0
		       : (length - PRM_CMDQ_INLINE + PRM_CMDQ_BLOCK_DATA - 1) / PRM_CMDQ_BLOCK_DATA;
}

void mlx5_vfio_chain_put(const struct vfio_chain *chain, uint8_t token, const uint8_t *data,
			 uint32_t length)
{
	const uint32_t count = mlx5_vfio_blocks_for(length);

	for (uint32_t i = 0; i < count; i++) {
		const uint32_t done = PRM_CMDQ_INLINE + i * PRM_CMDQ_BLOCK_DATA;
		uint8_t *block = block_at(chain, i);

		memset(block, 0, PRM_CMDQ_BLOCK_SIZE);
		if (data)
			memcpy(block, data + done,
			       min_of(length - done, (uint32_t)PRM_CMDQ_BLOCK_DATA));
		fld_set(block, CMDQ_BLOCK_NEXT,
			i + 1 < count ? mlx5_vfio_block_address(chain, i + 1) : 0);
		fld_set(block, CMDQ_BLOCK_NUMBER, i);
		fld_set(block, CMDQ_BLOCK_TOKEN, token);
	}
}

void mlx5_vfio_chain_get(const struct vfio_chain *chain, uint8_t *data, uint32_t length)
{
	for (uint32_t i = 0; i < mlx5_vfio_blocks_for(length); i++) {
		const uint32_t done = PRM_CMDQ_INLINE + i * PRM_CMDQ_BLOCK_DATA;

		memcpy(data + done, block_at(chain, i),
		       min_of(length - done, (uint32_t)PRM_CMDQ_BLOCK_DATA));
	}
}

static uint8_t xor_all(const uint8_t *bytes, uint32_t count)
{
	uint8_t all = 0;

	while (count--)
		all ^= *bytes++;
	return all;
}

void mlx5_vfio_entry_put(uint8_t *entry, uint8_t token, const void *in, uint32_t inlen,
			 uint64_t in_mailbox, uint32_t outlen, uint64_t out_mailbox)
{
	enum { LAST = PRM_CMDQ_ENTRY_SIZE - 4 };
	uint8_t new[PRM_CMDQ_ENTRY_SIZE] = { 0 };
	uint32_t last;

	fld_set(new, CMDQ_TYPE, PRM_CMDQ_TYPE_PCI);
	fld_set(new, CMDQ_INPUT_LENGTH, inlen);
	fld_set(new, CMDQ_INPUT_MAILBOX, in_mailbox);
	memcpy(fld_at(new, CMDQ_INPUT_INLINE), in, min_of(inlen, (uint32_t)PRM_CMDQ_INLINE));
	fld_set(new, CMDQ_OUTPUT_MAILBOX, out_mailbox);
	fld_set(new, CMDQ_OUTPUT_LENGTH, outlen);
	fld_set(new, CMDQ_TOKEN, token);
	fld_set(new, CMDQ_OWNER, 1);
	fld_set(new, CMDQ_SIGNATURE, (uint8_t)~xor_all(new, sizeof(new)));
	memcpy(entry, new, LAST);
	memcpy(&last, new + LAST, sizeof(last));
	dma_store_barrier();
	__atomic_store_n((uint32_t *)(void *)(entry + LAST), last, __ATOMIC_RELAXED);
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * entry.h - a command in memory: an entry of the command queue, and mailboxes for what does not fit
 * there. Nothing that the adapter writes is taken for a length or an address.
 */
#ifndef PROVIDERS_MLX5_VFIO_ENTRY_H
#define PROVIDERS_MLX5_VFIO_ENTRY_H

#include "providers/mlx5/vfio/dma.h"

/* A chain of mailboxes in one mapping: each mailbox has the address of the next one. */
struct vfio_chain {
	struct vfio_dma dma;
	uint32_t blocks;
};

/* Returns how many mailboxes LENGTH bytes need. */
uint32_t mlx5_vfio_blocks_for(uint32_t length);
uint64_t mlx5_vfio_block_address(const struct vfio_chain *chain, uint32_t number);
/* Writes the mailboxes of a command, whose LENGTH bytes are DATA. With DATA NULL, prepares empty
 * mailboxes for an answer of LENGTH bytes. */
void mlx5_vfio_chain_put(const struct vfio_chain *chain, uint8_t token, const uint8_t *data,
			 uint32_t length);
void mlx5_vfio_chain_get(const struct vfio_chain *chain, uint8_t *data, uint32_t length);
/* Writes an entry, signs it, and gives it to the adapter. The last store hands it over, so the
 * adapter never reads half an entry. */
void mlx5_vfio_entry_put(uint8_t *entry, uint8_t token, const void *in, uint32_t inlen,
			 uint64_t in_mailbox, uint32_t outlen, uint64_t out_mailbox);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * hash.h - the index of a tag in a table, as the adapter computes it. PRM: STE, byte_mask
 */
#ifndef PROVIDERS_MLX5_DV_DR_HASH_H
#define PROVIDERS_MLX5_DV_DR_HASH_H

#include <stdint.h>

/* Returns the hash of the bytes of TAG, of PRM_STE_TAG_SIZE, that BYTE_MASK selects; bit 15 selects
 * byte 0. The index in a table is the hash modulo the table's size. */
uint32_t mlx5_dr_hash(const uint8_t *tag, uint16_t byte_mask);

#endif

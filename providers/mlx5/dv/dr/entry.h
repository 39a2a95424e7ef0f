/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * entry.h - the bytes of a table entry, in format 1 (ConnectX-6 Dx). PRM: STE
 *
 * Functions write the fields of an entry of PRM_STE_SIZE bytes. GVMI is the number of the function,
 * which addresses contain.
 */
#ifndef PROVIDERS_MLX5_DV_DR_ENTRY_H
#define PROVIDERS_MLX5_DV_DR_ENTRY_H

#include "prm/mlx5/ste.h"

enum { DR_CONTROL_SIZE = 32 };

/* How the adapter looks up a table: type (PRM: lookup type) selects what a tag contains, byte_mask
 * selects the bytes of the tag that are hashed to the index. */
struct dr_lookup {
	uint16_t type, byte_mask;
};

struct dr_target {
	uint64_t address;
	uint16_t gvmi;
	uint8_t log;
	struct dr_lookup lookup;
};

/* Clears an entry, and sets its control part for tags of LOOKUP_TYPE. A hit leads to no table until
 * mlx5_dr_entry_set_hit(). */
void mlx5_dr_entry_begin(uint8_t *entry, uint16_t lookup_type, uint16_t gvmi);
/* Initialises an entry that all frames hit, and that contains only actions. */
void mlx5_dr_entry_begin_actions(uint8_t *entry, uint16_t gvmi);
void mlx5_dr_entry_set_miss(uint8_t *entry, uint64_t address);
void mlx5_dr_entry_set_hit(uint8_t *entry, const struct dr_target *target);
void mlx5_dr_entry_always_miss(uint8_t *entry);
void mlx5_dr_entry_always_hit(uint8_t *entry);

#endif

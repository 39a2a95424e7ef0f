/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * modify.h - changes of header fields, as actions of table entries. PRM: STE set, add, copy
 */
#ifndef PROVIDERS_MLX5_DV_DR_MODIFY_H
#define PROVIDERS_MLX5_DV_DR_MODIFY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { DR_CHANGES_MAX = 63 /* 32 changes, an empty one between each two */, DR_CHANGE_SIZE = 8 };

struct dr_changes {
	unsigned int count;
	uint8_t actions[DR_CHANGES_MAX][DR_CHANGE_SIZE];
};

/* Translates SIZE bytes of ACTIONS, in the format of the adapter's commands, to actions of entries
 * in CHANGES. Returns 0, or EINVAL if SIZE is wrong or the adapter cannot execute an action. Logs
 * for CALL. */
int mlx5_dr_modify(const char *call, bool is_tx, const void *actions, size_t size,
		   struct dr_changes *changes);

/* Makes the changes that replace the headers before an inner IP header by HEADER, an Ethernet
 * header of 14 or 18 bytes. Returns 0 or EINVAL. */
int mlx5_dr_modify_decap(const char *call, const void *header, size_t size,
			 struct dr_changes *changes);

#endif

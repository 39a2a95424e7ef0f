/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * modify.h - changes of header fields, as actions of table entries. PRM: STE set, add, copy
 */
#ifndef PROVIDERS_MLX5_DV_DR_MODIFY_H
#define PROVIDERS_MLX5_DV_DR_MODIFY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Translates SIZE bytes of actions in the format of the adapter's commands into WORDS, an action of
 * an entry. Returns 0; EOPNOTSUPP for more than one action, which would need a list in the
 * adapter's memory; EINVAL for what no adapter does. Logs for CALL. */
int mlx5_dr_modify(const char *call, bool is_tx, const void *actions, size_t size,
		   uint32_t words[2]);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * dump_entry.h - the table entries of a rule as records of a dump.
 */
#ifndef PROVIDERS_MLX5_DV_DR_DUMP_ENTRY_H
#define PROVIDERS_MLX5_DV_DR_DUMP_ENTRY_H

#include <stdio.h>

struct mlx5dv_dr_rule;

/* Prints the entries of RULE, which is below the root, in the order in which frames meet them. */
void mlx5_dr_dump_entries(FILE *file, const struct mlx5dv_dr_rule *rule);

#endif

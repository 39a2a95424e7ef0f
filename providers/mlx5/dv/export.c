/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * export.c - sizes of the data that a program passes to another process to share its objects.
 */
#include "providers/mlx5/dv/dv.h"
#include "providers/mlx5/dv/export.h"

#include <string.h>

/* A program of an older or newer release may have a shorter or longer struct, so sizes_len bounds
 * the copy. */
DV_EXPORT void _mlx5dv_get_export_sizes(struct mlx5dv_export_sizes *sizes, size_t sizes_len)
{
	const struct mlx5dv_export_sizes known = {
		.var_attrs_size = sizeof(struct dv_export_var),
		.devx_umem_attrs_size = sizeof(struct dv_export_umem),
		.devx_obj_attrs_size = sizeof(struct dv_export_obj),
	};

	if (sizes_len == sizeof(known)) {
		*sizes = known;
		return;
	}
	memset(sizes, 0, sizes_len);
	memcpy(sizes, &known, min_of(sizes_len, sizeof(known)));
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * start.h - starts the adapter, and tears it down.
 */
#ifndef PROVIDERS_MLX5_VFIO_START_H
#define PROVIDERS_MLX5_VFIO_START_H

#include "providers/mlx5/vfio/pages.h"

int mlx5_vfio_start(struct vfio_pages *pages, bool link_down);
void mlx5_vfio_stop(struct vfio_pages *pages);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * mlx4.c - libmlx4.so.1 without a provider for ConnectX-3 behind it, so that programs that are
 * linked with it start, as every program of DPDK is.
 */
#include "absent.h"

/* clang-format off */
ABSENT_POINTER(mlx4dv_create_qp)
ABSENT_ERRNO(mlx4dv_init_obj)
ABSENT_ERRNO(mlx4dv_query_device)
ABSENT_ERRNO(mlx4dv_set_context_attr)
/* clang-format on */

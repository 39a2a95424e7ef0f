/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * syndrome.h - texts for the syndromes of error CQEs.
 */
#ifndef PROVIDERS_MLX5_DATA_CQ_SYNDROME_H
#define PROVIDERS_MLX5_DATA_CQ_SYNDROME_H

#include <stdint.h>

/* SYNDROME is one of the PRM, VENDOR the adapter's own detail. Both functions never return NULL. */
const char *mlx5_syndrome_str(uint8_t syndrome);
const char *mlx5_vendor_syndrome_str(uint8_t vendor);

#endif

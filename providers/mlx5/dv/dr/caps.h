/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * caps.h - what an adapter reports about tables whose entries the library writes.
 */
#ifndef PROVIDERS_MLX5_DV_DR_CAPS_H
#define PROVIDERS_MLX5_DV_DR_CAPS_H

#include <stdbool.h>
#include <stdint.h>

struct ibv_context;

struct dr_caps {
	uint16_t gvmi;                /* VHCA id of the function; addresses in entries contain it */
	uint8_t format;               /* format of table entries: 1 is ConnectX-6 Dx */
	bool writes_rx, writes_tx;    /* the library can write entries for received, sent frames */
	uint8_t rx_levels, tx_levels; /* number of levels of the kernel's tables */
	uint64_t rx_drop, tx_drop, tx_allow;
};

int mlx5_dr_caps_query(struct ibv_context *context, struct dr_caps *caps);
/* Sets *START to the ICM address at which the memory for lists of header changes begins, and
 * *PATTERNS to whether there is memory for patterns. Returns 0 or an errno. */
int mlx5_dr_caps_query_lists(struct ibv_context *context, uint64_t *start, bool *patterns);

#endif

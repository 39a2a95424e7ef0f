/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * aso.h - actions on the adapter's objects with the state of flows (ASO): first hits, meters, and
 * connections. A frame gets the state in a register C, and may change it. PRM: ASO
 */
#ifndef PROVIDERS_MLX5_DV_DR_ASO_H
#define PROVIDERS_MLX5_DV_DR_ASO_H

#include <stdint.h>

struct aso_kind;

struct dr_aso {
	const struct aso_kind *kind;
	uint32_t first;    /* number of the first object of the range */
	uint8_t log_range; /* log2 of the number of objects */
	uint32_t words[2]; /* the entry action */
};

#endif

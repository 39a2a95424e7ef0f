/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * aso.h - objects with the state of flows (ASO). Entries that software writes give the state to a
 * register of the frame, and change it.
 */
#ifndef SOFTHCA_DEVICE_ETH_FLOW_ASO_H
#define SOFTHCA_DEVICE_ETH_FLOW_ASO_H

#include <stdbool.h>
#include <stdint.h>

struct hca;

enum { ASO_LOG_MAX = 10, ASO_LOG_RANGE_MAX = 6, ASO_FIRST_HITS = 512 };

enum aso_kind { ASO_OF_FIRST_HITS, ASO_OF_METERS, ASO_OF_CONNECTION };

struct aso {
	uint32_t n;
	enum aso_kind kind;
	uint32_t range; /* objects from this one on that end with it; 0: ends with another */
	uint8_t hits[ASO_FIRST_HITS / 8]; /* the last bit is line 0's */
};

/* Adds COUNT objects of KIND, a power of two, whose numbers are in a row and begin at a multiple of
 * COUNT. *ASO is the first. Returns 0, ENOSPC or ENOMEM. */
int aso_add(struct hca *hca, enum aso_kind kind, uint32_t count, struct aso **aso);
/* Removes the objects that end with this one from the adapter, and frees them. */
void aso_remove(struct hca *hca, struct aso *aso);
/* Returns whether LINE was hit before. If SETS, it is hit now. */
bool aso_hit(struct aso *aso, unsigned int line, bool sets);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * ste_walk.h - the way of a frame through the entries that software has written.
 */
#ifndef SOFTHCA_DEVICE_STEERING_STE_WALK_H
#define SOFTHCA_DEVICE_STEERING_STE_WALK_H

#include <stdint.h>

#include "softhca/device/steering/ste_end.h"

struct eth_arrival;
struct flow_state;
struct hca;

/* A walk: its input, and from END on its result. */
struct ste_walk {
	struct hca *hca;
	struct eth_arrival *arrival; /* has the frame, which entries may change */
	struct flow_state *state;    /* registers of the frame, which entries may change */
	unsigned int steps;          /* rest of the frame's budget; the walk takes from it */
	enum ste_end end;
	uint32_t number; /* of the object where the walk ends */
	uint32_t tag;    /* the flow tag; unchanged if no action sets it */
};

/* Takes STEPS from the frame's budget, or its rest if that is less. */
static inline void ste_walk_spend(struct ste_walk *walk, unsigned int steps)
{
	walk->steps -= steps < walk->steps ? steps : walk->steps;
}

/* Walks from the entry at ROOT on. Drops a frame that meets an entry which the adapter cannot
 * execute; the trace has the reason. */
void ste_walk(struct ste_walk *walk, uint64_t root);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * ste_walk.h - the way of a frame through the entries that software has written.
 */
#ifndef SOFTHCA_DEVICE_STEERING_STE_WALK_H
#define SOFTHCA_DEVICE_STEERING_STE_WALK_H

#include <stdint.h>

#include "softhca/device/steering/ste_end.h"

struct frame;
struct hca;

/* A walk: what it takes, and below that, what it has found out. */
struct ste_walk {
	struct hca *hca;
	const struct frame *frame;
	uint32_t sqn;       /* the queue that has sent the frame; 0: it was received */
	unsigned int steps; /* what is left of the frame's budget */
	enum ste_end end;
	uint32_t number; /* of the TIR or table where the walk ends */
	uint32_t tag;    /* from an action; else as before */
};

/* Walks from the entry at ROOT on. A frame that meets what the adapter cannot do is dropped, and
 * the trace says why. */
void ste_walk(struct ste_walk *walk, uint64_t root);

#endif

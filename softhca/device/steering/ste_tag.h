/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * ste_tag.h - the tag of a frame: the fields that an entry compares, by the entry's lookup type.
 */
#ifndef SOFTHCA_DEVICE_STEERING_STE_TAG_H
#define SOFTHCA_DEVICE_STEERING_STE_TAG_H

#include <stdbool.h>
#include <stdint.h>

#include "prm/mlx5/ste.h"

struct flow_state;
struct frame;

/* Writes the tag of FRAME for lookup type LOOKUP. FRAME keeps whether its TCP or UDP checksum is
 * right, for later tags. Returns false for a lookup type that the adapter does not know. */
bool ste_tag(struct frame *frame, const struct flow_state *state, unsigned int lookup,
	     uint8_t tag[PRM_STE_TAG_SIZE]);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * frame_copy.h - copies of a frame that flow tables have changed: they live until the frame's way
 * ends.
 */
#ifndef SOFTHCA_DEVICE_ETH_FRAME_COPY_H
#define SOFTHCA_DEVICE_ETH_FRAME_COPY_H

#include <stddef.h>
#include <stdint.h>

#include "softhca/device/fabric.h"

struct frame_copy {
	struct frame_copy *next;
	uint8_t bytes[FABRIC_FRAME_MAX];
};

/* Adds a zeroed buffer for the longest frame to COPIES. Returns it, or NULL if there is no
 * memory. */
uint8_t *frame_copy_add(struct frame_copy **copies);
void frame_copies_free(struct frame_copy **copies);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * ste_action.h - what an entry does with a frame that hits it.
 */
#ifndef SOFTHCA_DEVICE_STEERING_STE_ACTION_H
#define SOFTHCA_DEVICE_STEERING_STE_ACTION_H

#include <stdint.h>

struct ste_walk;

/* Counts the frame, and does the entry's actions. Returns NULL, or the reason to drop the frame. */
const char *ste_act(struct ste_walk *walk, const uint8_t *entry);

#endif

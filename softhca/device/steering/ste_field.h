/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * ste_field.h - the fields that actions of entries set, add to and copy: bits of numbered dwords.
 */
#ifndef SOFTHCA_DEVICE_STEERING_STE_FIELD_H
#define SOFTHCA_DEVICE_STEERING_STE_FIELD_H

#include <stdbool.h>
#include <stdint.h>

struct header_change;

bool ste_field_is_known(uint32_t dword);
/* Returns whether the dword has bits of the frame's headers; false: it is a register or unknown. */
bool ste_field_in_frame(uint32_t dword);
/* Returns the dword. Bits of headers that the frame lacks are 0. */
uint32_t ste_field_get(const struct header_change *change, uint32_t dword);
/* Sets the bits of the dword that are in MASK. Bits of headers that the frame lacks are ignored. */
void ste_field_set(const struct header_change *change, uint32_t dword, uint32_t mask,
		   uint32_t value);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * header_place.h - where the fields are that header changes name: in a header of the frame, or in a
 * register.
 */
#ifndef SOFTHCA_DEVICE_ETH_FLOW_HEADER_PLACE_H
#define SOFTHCA_DEVICE_ETH_FLOW_HEADER_PLACE_H

#include <stdint.h>

#include "util/fields.h"

struct frame;

enum header_place {
	AT_TARGET,
	AT_SOURCE,
	AT_TYPE,
	AT_TAG,
	AT_IP4,
	AT_IP6,
	AT_TCP,
	AT_UDP,
	IN_REGISTER,
};

/* The type, in the dword that ends with it: the frame may end there too. */
#define PLACE_TYPE FLD(0x0, 15, 0)

/* A frame that is being changed: as it was, and as it is now. REGISTERS are those of struct
 * flow_state. */
struct header_change {
	const struct frame *frame;
	uint8_t *bytes, *registers;
};

/* Returns the start of a header, or NULL if the frame lacks it. */
uint8_t *header_place(const struct header_change *change, enum header_place place);

#endif

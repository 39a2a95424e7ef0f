/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * header_place.c - where the fields are that header changes name.
 */
#include <stddef.h>

#include "softhca/device/eth/flow/header_place.h"
#include "softhca/device/eth/frame.h"

uint8_t *header_place(const struct header_change *change, enum header_place place)
{
	const struct frame *frame = change->frame;
	uint8_t *bytes = change->bytes;

	switch (place) {
	case AT_TARGET:
		return fld_at(bytes, ETHERNET_DESTINATION);
	case AT_SOURCE:
		return fld_at(bytes, ETHERNET_SOURCE);
	case AT_TYPE:
		return bytes + frame_type_at(frame) - FLD_BYTE(PLACE_TYPE);
	case AT_TAG:
		return frame->vlans ? fld_at(bytes, ETHERNET_TYPE) : NULL;
	case AT_IP4:
		return frame->l3 && frame->ip_version == 4 ? bytes + frame->l3 : NULL;
	case AT_IP6:
		return frame->l3 && frame->ip_version == 6 ? bytes + frame->l3 : NULL;
	case AT_TCP:
		return frame_is_tcp(frame) ? bytes + frame->l4 : NULL;
	case AT_UDP:
		return frame_is_udp(frame) ? bytes + frame->l4 : NULL;
	case IN_REGISTER:
		return change->registers;
	}
	return NULL;
}

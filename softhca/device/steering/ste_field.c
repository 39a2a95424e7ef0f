/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * ste_field.c - the fields that actions of entries set, add to and copy, in format 1. PRM: STE
 * actions
 */
#include "ib/ethernet.h"
#include "softhca/device/eth/flow/flow_key.h"
#include "softhca/device/eth/flow/header_place.h"
#include "softhca/device/steering/ste_field.h"
#include "prm/mlx5/ste.h"
#include "util/bits.h"

/* Maps bits of a dword, from SHIFT on, to a field of a header or a register. A field with two rows
 * is in whichever of two headers the frame has. */
static const struct place {
	uint8_t dword, shift;
	uint16_t header; /* enum header_place */
	uint32_t field;
} places[] = {
	{ PRM_STE_FIELD_L2_0, 0, AT_TARGET, MAC_47_16 },
	{ PRM_STE_FIELD_L2_1, 16, AT_TARGET, MAC_15_0 },
	{ PRM_STE_FIELD_L2_1, 0, AT_TYPE, PLACE_TYPE },
	{ PRM_STE_FIELD_L2_2, 0, AT_TAG, VLAN_TCI },
	{ PRM_STE_FIELD_L2_SRC_0, 0, AT_SOURCE, MAC_47_16 },
	{ PRM_STE_FIELD_L2_SRC_1, 16, AT_SOURCE, MAC_15_0 },
	{ PRM_STE_FIELD_L3_0, 18, AT_IP4, IP4_DSCP },
	{ PRM_STE_FIELD_L3_0, 18, AT_IP6, IP6_DSCP },
	{ PRM_STE_FIELD_L3_0, 16, AT_IP4, IP4_ECN },
	{ PRM_STE_FIELD_L3_0, 16, AT_IP6, IP6_ECN },
	{ PRM_STE_FIELD_L3_0, 8, AT_IP4, IP4_TTL },
	{ PRM_STE_FIELD_L3_0, 8, AT_IP6, IP6_HOP_LIMIT },
	{ PRM_STE_FIELD_L4_0, 16, AT_TCP, L4_SOURCE_PORT },
	{ PRM_STE_FIELD_L4_0, 16, AT_UDP, L4_SOURCE_PORT },
	{ PRM_STE_FIELD_L4_0, 0, AT_TCP, L4_DESTINATION_PORT },
	{ PRM_STE_FIELD_L4_0, 0, AT_UDP, L4_DESTINATION_PORT },
	{ PRM_STE_FIELD_L4_1, 16, AT_TCP, TCP_FLAGS },
	{ PRM_STE_FIELD_IPV4_SRC, 0, AT_IP4, IP4_SOURCE + FLD(0x0, 31, 0) },
	{ PRM_STE_FIELD_IPV4_DST, 0, AT_IP4, IP4_DESTINATION + FLD(0x0, 31, 0) },
	{ PRM_STE_FIELD_IPV6_DST_0, 0, AT_IP6, IP6_DESTINATION + FLD(0x0, 31, 0) },
	{ PRM_STE_FIELD_IPV6_DST_0 + 1, 0, AT_IP6, IP6_DESTINATION + FLD(0x4, 31, 0) },
	{ PRM_STE_FIELD_IPV6_DST_0 + 2, 0, AT_IP6, IP6_DESTINATION + FLD(0x8, 31, 0) },
	{ PRM_STE_FIELD_IPV6_DST_0 + 3, 0, AT_IP6, IP6_DESTINATION + FLD(0xc, 31, 0) },
	{ PRM_STE_FIELD_IPV6_SRC_0, 0, AT_IP6, IP6_SOURCE + FLD(0x0, 31, 0) },
	{ PRM_STE_FIELD_IPV6_SRC_0 + 1, 0, AT_IP6, IP6_SOURCE + FLD(0x4, 31, 0) },
	{ PRM_STE_FIELD_IPV6_SRC_0 + 2, 0, AT_IP6, IP6_SOURCE + FLD(0x8, 31, 0) },
	{ PRM_STE_FIELD_IPV6_SRC_0 + 3, 0, AT_IP6, IP6_SOURCE + FLD(0xc, 31, 0) },
	{ PRM_STE_FIELD_TCP_SEQUENCE, 0, AT_TCP, TCP_SEQUENCE },
	{ PRM_STE_FIELD_TCP_ACKNOWLEDGMENT, 0, AT_TCP, TCP_ACKNOWLEDGMENT },
	{ PRM_STE_FIELD_REGISTER_A, 0, IN_REGISTER, FLOW_REGISTER_A },
	{ PRM_STE_FIELD_REGISTER_B, 0, IN_REGISTER, FLOW_REGISTER_B },
	{ PRM_STE_FIELD_REGISTER_C_0, 0, IN_REGISTER, FLOW_REGISTER_C(0) },
	{ PRM_STE_FIELD_REGISTER_C_1, 0, IN_REGISTER, FLOW_REGISTER_C(1) },
	{ PRM_STE_FIELD_REGISTER_C_2, 0, IN_REGISTER, FLOW_REGISTER_C(2) },
	{ PRM_STE_FIELD_REGISTER_C_3, 0, IN_REGISTER, FLOW_REGISTER_C(3) },
	{ PRM_STE_FIELD_REGISTER_C_4, 0, IN_REGISTER, FLOW_REGISTER_C(4) },
	{ PRM_STE_FIELD_REGISTER_C_5, 0, IN_REGISTER, FLOW_REGISTER_C(5) },
};

/* Returns the first place of the dword from AT on, or NULL. */
static const struct place *place_next(uint32_t dword, const struct place *at)
{
	for (; at < places + ARRAY_SIZE(places); at++)
		if (at->dword == dword)
			return at;
	return NULL;
}

bool ste_field_is_known(uint32_t dword)
{
	return place_next(dword, places) != NULL;
}

bool ste_field_in_frame(uint32_t dword)
{
	const struct place *place = place_next(dword, places);

	return place && place->header != IN_REGISTER;
}

uint32_t ste_field_get(const struct header_change *change, uint32_t dword)
{
	const struct place *place = places;
	uint32_t value = 0;

	for (; (place = place_next(dword, place)) != NULL; place++) {
		const uint8_t *header = header_place(change, (enum header_place)place->header);

		if (header)
			value |= (uint32_t)fld_get(header, place->field) << place->shift;
	}
	return value;
}

void ste_field_set(const struct header_change *change, uint32_t dword, uint32_t mask,
		   uint32_t value)
{
	const struct place *place = places;

	for (; (place = place_next(dword, place)) != NULL; place++) {
		uint8_t *header = header_place(change, (enum header_place)place->header);
		const uint32_t own = mask >> place->shift & FLD_MASK(place->field);

		if (header && own)
			fld_set(header, place->field,
				(fld_get(header, place->field) & ~own) |
					(value >> place->shift & own));
	}
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * modify_header.c - changes headers of frames as a list of actions says: sets a field, adds to it,
 * or copies one to another. PRM: ALLOC_MODIFY_HEADER_CONTEXT
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "softhca/device/eth/eth.h"
#include "softhca/device/eth/flow/header_place.h"
#include "util/bits.h"

/* A field's place: a header, and the field there. A field with two rows is in one header or the
 * other. */
struct place {
	uint16_t number; /* enum prm_header_field */
	uint16_t header;
	uint32_t field;
};

#define WORD_OF(part, n) FLD_IN(part, FLD((n)*4u, 31, 0))

static const struct place places[] = {
	{ PRM_HEADER_DMAC_47_16, AT_TARGET, MAC_47_16 },
	{ PRM_HEADER_DMAC_15_0, AT_TARGET, MAC_15_0 },
	{ PRM_HEADER_SMAC_47_16, AT_SOURCE, MAC_47_16 },
	{ PRM_HEADER_SMAC_15_0, AT_SOURCE, MAC_15_0 },
	{ PRM_HEADER_ETHERTYPE, AT_TYPE, PLACE_TYPE },
	{ PRM_HEADER_FIRST_VID, AT_TAG, VLAN_ID },
	{ PRM_HEADER_IP_DSCP, AT_IP4, IP4_DSCP },
	{ PRM_HEADER_IP_DSCP, AT_IP6, IP6_DSCP },
	{ PRM_HEADER_IP_TTL, AT_IP4, IP4_TTL },
	{ PRM_HEADER_IPV6_HOPLIMIT, AT_IP6, IP6_HOP_LIMIT },
	{ PRM_HEADER_SIPV4, AT_IP4, WORD_OF(IP4_SOURCE, 0) },
	{ PRM_HEADER_DIPV4, AT_IP4, WORD_OF(IP4_DESTINATION, 0) },
	{ PRM_HEADER_SIPV6_127_96, AT_IP6, WORD_OF(IP6_SOURCE, 0) },
	{ PRM_HEADER_SIPV6_95_64, AT_IP6, WORD_OF(IP6_SOURCE, 1) },
	{ PRM_HEADER_SIPV6_63_32, AT_IP6, WORD_OF(IP6_SOURCE, 2) },
	{ PRM_HEADER_SIPV6_31_0, AT_IP6, WORD_OF(IP6_SOURCE, 3) },
	{ PRM_HEADER_DIPV6_127_96, AT_IP6, WORD_OF(IP6_DESTINATION, 0) },
	{ PRM_HEADER_DIPV6_95_64, AT_IP6, WORD_OF(IP6_DESTINATION, 1) },
	{ PRM_HEADER_DIPV6_63_32, AT_IP6, WORD_OF(IP6_DESTINATION, 2) },
	{ PRM_HEADER_DIPV6_31_0, AT_IP6, WORD_OF(IP6_DESTINATION, 3) },
	{ PRM_HEADER_TCP_SPORT, AT_TCP, L4_SOURCE_PORT },
	{ PRM_HEADER_TCP_DPORT, AT_TCP, L4_DESTINATION_PORT },
	{ PRM_HEADER_TCP_FLAGS, AT_TCP, TCP_FLAGS },
	{ PRM_HEADER_TCP_SEQ_NUM, AT_TCP, TCP_SEQUENCE },
	{ PRM_HEADER_TCP_ACK_NUM, AT_TCP, TCP_ACKNOWLEDGMENT },
	{ PRM_HEADER_UDP_SPORT, AT_UDP, L4_SOURCE_PORT },
	{ PRM_HEADER_UDP_DPORT, AT_UDP, L4_DESTINATION_PORT },
	{ PRM_HEADER_METADATA_A, IN_REGISTER, FLOW_REGISTER_A },
	{ PRM_HEADER_METADATA_B, IN_REGISTER, FLOW_REGISTER_B },
	{ PRM_HEADER_METADATA_C_0, IN_REGISTER, FLOW_REGISTER_C(0) },
	{ PRM_HEADER_METADATA_C_0 + 1, IN_REGISTER, FLOW_REGISTER_C(1) },
	{ PRM_HEADER_METADATA_C_0 + 2, IN_REGISTER, FLOW_REGISTER_C(2) },
	{ PRM_HEADER_METADATA_C_0 + 3, IN_REGISTER, FLOW_REGISTER_C(3) },
	{ PRM_HEADER_METADATA_C_0 + 4, IN_REGISTER, FLOW_REGISTER_C(4) },
	{ PRM_HEADER_METADATA_C_0 + 5, IN_REGISTER, FLOW_REGISTER_C(5) },
	{ PRM_HEADER_METADATA_C_0 + 6, IN_REGISTER, FLOW_REGISTER_C(6) },
	{ PRM_HEADER_METADATA_C_7, IN_REGISTER, FLOW_REGISTER_C(7) },
};

static const struct place *place_of(uint64_t number)
{
	for (size_t i = 0; i < ARRAY_SIZE(places); i++)
		if (places[i].number == number)
			return &places[i];
	return NULL;
}

static unsigned int action_length(const uint8_t *action)
{
	unsigned int length = (unsigned int)fld_get(action, HEADER_ACTION_LENGTH);

	return length ? length : 32;
}

static const char *check_bits(uint64_t number, uint64_t offset, unsigned int length)
{
	const struct place *place = place_of(number);

	if (!place)
		return "modify header: unknown field";
	return offset + length <= FLD_WIDTH(place->field)
		       ? NULL
		       : "modify header: bits outside of the field";
}

/* Adapters add to few fields. */
static bool has_add(uint64_t number)
{
	return number == PRM_HEADER_IP_TTL || number == PRM_HEADER_IPV6_HOPLIMIT ||
	       number == PRM_HEADER_TCP_SEQ_NUM || number == PRM_HEADER_TCP_ACK_NUM;
}

const char *modify_header_check(const uint8_t action[PRM_HEADER_ACTION_SIZE])
{
	const uint64_t number = fld_get(action, HEADER_ACTION_FIELD);
	const char *why;

	switch (fld_get(action, HEADER_ACTION_TYPE)) {
	case PRM_HEADER_SET:
		return check_bits(number, fld_get(action, HEADER_ACTION_OFFSET),
				  action_length(action));
	case PRM_HEADER_ADD:
		return has_add(number) ? NULL : "modify header: no field to add to";
	case PRM_HEADER_COPY:
		why = check_bits(number, fld_get(action, HEADER_ACTION_OFFSET),
				 action_length(action));
		return why ? why
			   : check_bits(fld_get(action, HEADER_COPY_TO_FIELD),
					fld_get(action, HEADER_COPY_TO_OFFSET),
					action_length(action));
	default:
		return "modify header: unknown action";
	}
}

int modify_header_add(struct hca *hca, enum prm_flow_table_type type, const uint8_t *actions,
		      unsigned int count, struct modify_header **out)
{
	struct modify_header *list = calloc(1, sizeof(*list));
	int ret = list ? res_add(&hca->eth->modify_headers, list, &list->n) : ENOMEM;

	if (ret) {
		free(list);
		return ret;
	}
	list->type = type;
	list->count = count;
	memcpy(list->action, actions, (size_t)count * PRM_HEADER_ACTION_SIZE);
	*out = list;
	return 0;
}

void modify_header_remove(struct hca *hca, struct modify_header *list)
{
	res_remove(&hca->eth->modify_headers, list->n);
	free(list);
}

/* Finds the place of field NUMBER in the frame, and the header there. Returns NULL if the frame has
 * no such field. */
static const struct place *field_find(const struct header_change *changed, uint64_t number,
				      uint8_t **header)
{
	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		if (places[i].number != number)
			continue;
		*header = header_place(changed, (enum header_place)places[i].header);
		if (*header)
			return &places[i];
	}
	return NULL;
}

static uint32_t ones(unsigned int count)
{
	return count < 32 ? (1u << count) - 1 : UINT32_MAX;
}

/* Sets LENGTH bits of a field from bit OFFSET on; bit 0 is the last. */
static void put_bits(uint8_t *header, uint32_t field, unsigned int offset, unsigned int length,
		     uint32_t data)
{
	const uint32_t mask = ones(length) << offset;
	const uint32_t value = (uint32_t)fld_get(header, field);

	fld_set(header, field, (value & ~mask) | (data << offset & mask));
}

static void copy(const struct header_change *changed, const uint8_t *action, uint32_t data)
{
	uint8_t *header;
	const struct place *to =
		field_find(changed, fld_get(action, HEADER_COPY_TO_FIELD), &header);

	if (to)
		put_bits(header, to->field, (unsigned int)fld_get(action, HEADER_COPY_TO_OFFSET),
			 action_length(action), data >> fld_get(action, HEADER_ACTION_OFFSET));
}

static void action_run(const struct header_change *changed, const uint8_t *action)
{
	const uint32_t data = (uint32_t)fld_get(action, HEADER_ACTION_DATA);
	uint8_t *header;
	const struct place *place =
		field_find(changed, fld_get(action, HEADER_ACTION_FIELD), &header);

	if (!place)
		return;
	switch (fld_get(action, HEADER_ACTION_TYPE)) {
	case PRM_HEADER_SET:
		put_bits(header, place->field, (unsigned int)fld_get(action, HEADER_ACTION_OFFSET),
			 action_length(action), data);
		break;
	case PRM_HEADER_ADD:
		fld_set(header, place->field, fld_get(header, place->field) + data);
		break;
	default:
		copy(changed, action, (uint32_t)fld_get(header, place->field));
	}
}

void modify_header_apply(const struct modify_header *list, const struct frame *frame,
			 uint8_t *bytes, uint8_t *registers)
{
	const struct header_change changed = { frame, bytes, registers };

	for (unsigned int i = 0; i < list->count; i++)
		action_run(&changed, list->action[i]);
	frame_keep_sums(bytes, frame);
}

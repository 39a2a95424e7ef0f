/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * modify.c - translates changes of header fields. See modify.h.
 */
#include "providers/mlx5/dv/dr/modify.h"

#include <errno.h>
#include <string.h>

#include "prm/mlx5/modify_header.h"
#include "prm/mlx5/ste.h"
#include "util/bits.h"
#include "util/log.h"

enum { ACTIONS_MAX = 32, WORD_BITS = 32 };

/* Location of a header field in actions of entries: its dword, the lowest bit in that dword, and
 * the width in bits. */
struct place {
	uint8_t dword, first, width;
	enum { BOTH, RX, TX } side;
	bool adds;
};

/* By the field's number. */
static const struct place places[] = {
	[PRM_HEADER_SMAC_47_16] = { PRM_STE_FIELD_L2_SRC_0, 0, 32, BOTH, false },
	[PRM_HEADER_SMAC_15_0] = { PRM_STE_FIELD_L2_SRC_1, 16, 16, BOTH, false },
	[PRM_HEADER_ETHERTYPE] = { PRM_STE_FIELD_L2_1, 0, 16, BOTH, false },
	[PRM_HEADER_DMAC_47_16] = { PRM_STE_FIELD_L2_0, 0, 32, BOTH, false },
	[PRM_HEADER_DMAC_15_0] = { PRM_STE_FIELD_L2_1, 16, 16, BOTH, false },
	[PRM_HEADER_FIRST_VID] = { PRM_STE_FIELD_L2_2, 0, 16, BOTH, false },
	[PRM_HEADER_IP_DSCP] = { PRM_STE_FIELD_L3_0, 18, 6, BOTH, false },
	[PRM_HEADER_IP_ECN] = { PRM_STE_FIELD_L3_0, 16, 2, BOTH, false },
	[PRM_HEADER_IP_TTL] = { PRM_STE_FIELD_L3_0, 8, 8, BOTH, true },
	[PRM_HEADER_IPV6_HOPLIMIT] = { PRM_STE_FIELD_L3_0, 8, 8, BOTH, true },
	[PRM_HEADER_TCP_FLAGS] = { PRM_STE_FIELD_L4_1, 16, 9, BOTH, false },
	[PRM_HEADER_TCP_SPORT] = { PRM_STE_FIELD_L4_0, 16, 16, BOTH, false },
	[PRM_HEADER_TCP_DPORT] = { PRM_STE_FIELD_L4_0, 0, 16, BOTH, false },
	[PRM_HEADER_UDP_SPORT] = { PRM_STE_FIELD_L4_0, 16, 16, BOTH, false },
	[PRM_HEADER_UDP_DPORT] = { PRM_STE_FIELD_L4_0, 0, 16, BOTH, false },
	[PRM_HEADER_SIPV4] = { PRM_STE_FIELD_IPV4_SRC, 0, 32, BOTH, false },
	[PRM_HEADER_DIPV4] = { PRM_STE_FIELD_IPV4_DST, 0, 32, BOTH, false },
	[PRM_HEADER_SIPV6_127_96] = { PRM_STE_FIELD_IPV6_SRC_0, 0, 32, BOTH, false },
	[PRM_HEADER_SIPV6_95_64] = { PRM_STE_FIELD_IPV6_SRC_0 + 1, 0, 32, BOTH, false },
	[PRM_HEADER_SIPV6_63_32] = { PRM_STE_FIELD_IPV6_SRC_0 + 2, 0, 32, BOTH, false },
	[PRM_HEADER_SIPV6_31_0] = { PRM_STE_FIELD_IPV6_SRC_0 + 3, 0, 32, BOTH, false },
	[PRM_HEADER_DIPV6_127_96] = { PRM_STE_FIELD_IPV6_DST_0, 0, 32, BOTH, false },
	[PRM_HEADER_DIPV6_95_64] = { PRM_STE_FIELD_IPV6_DST_0 + 1, 0, 32, BOTH, false },
	[PRM_HEADER_DIPV6_63_32] = { PRM_STE_FIELD_IPV6_DST_0 + 2, 0, 32, BOTH, false },
	[PRM_HEADER_DIPV6_31_0] = { PRM_STE_FIELD_IPV6_DST_0 + 3, 0, 32, BOTH, false },
	[PRM_HEADER_TCP_SEQ_NUM] = { PRM_STE_FIELD_TCP_SEQUENCE, 0, 32, BOTH, true },
	[PRM_HEADER_TCP_ACK_NUM] = { PRM_STE_FIELD_TCP_ACKNOWLEDGMENT, 0, 32, BOTH, true },
	[PRM_HEADER_METADATA_A] = { PRM_STE_FIELD_REGISTER_A, 0, 32, TX, false },
	[PRM_HEADER_METADATA_B] = { PRM_STE_FIELD_REGISTER_B, 0, 32, RX, false },
	[PRM_HEADER_METADATA_C_0] = { PRM_STE_FIELD_REGISTER_C_0, 0, 32, BOTH, false },
	[PRM_HEADER_METADATA_C_0 + 1] = { PRM_STE_FIELD_REGISTER_C_1, 0, 32, BOTH, false },
	[PRM_HEADER_METADATA_C_0 + 2] = { PRM_STE_FIELD_REGISTER_C_2, 0, 32, BOTH, false },
	[PRM_HEADER_METADATA_C_0 + 3] = { PRM_STE_FIELD_REGISTER_C_3, 0, 32, BOTH, false },
	[PRM_HEADER_METADATA_C_0 + 4] = { PRM_STE_FIELD_REGISTER_C_4, 0, 32, BOTH, false },
	[PRM_HEADER_METADATA_C_0 + 5] = { PRM_STE_FIELD_REGISTER_C_5, 0, 32, BOTH, false },
};

static const struct place *place_of(bool is_tx, uint32_t field)
{
	const struct place *place = field < ARRAY_SIZE(places) ? &places[field] : NULL;

	return place && place->width && place->side != (is_tx ? RX : TX) ? place : NULL;
}

struct bits {
	const struct place *place;
	unsigned int offset, length;
};

static bool bits_fit(const struct bits *bits)
{
	return bits->place && bits->offset + bits->length <= bits->place->width;
}

static unsigned int shift_of(const struct bits *bits)
{
	return PRM_STE_SHIFT + bits->place->first + bits->offset;
}

static struct bits bits_read(bool is_tx, const void *action)
{
	const unsigned int length = (unsigned int)fld_get(action, HEADER_ACTION_LENGTH);

	return (struct bits){
		.place = place_of(is_tx, (uint32_t)fld_get(action, HEADER_ACTION_FIELD)),
		.offset = (unsigned int)fld_get(action, HEADER_ACTION_OFFSET),
		.length = length ? length : WORD_BITS,
	};
}

static void put_head(uint8_t *out, enum prm_ste_action id, const struct bits *bits)
{
	fld_set(out, STE_ACTION_ID, id);
	fld_set(out, STE_FIELD_DWORD, bits->place->dword);
	fld_set(out, STE_FIELD_SHIFT, shift_of(bits));
	fld_set(out, STE_FIELD_LENGTH, bits->length);
}

static bool put_set(bool is_tx, const void *action, uint8_t *out)
{
	const struct bits bits = bits_read(is_tx, action);

	if (!bits_fit(&bits))
		return false;
	put_head(out, PRM_STE_ACTION_SET, &bits);
	fld_set(out, STE_FIELD_DATA, fld_get(action, HEADER_ACTION_DATA));
	return true;
}

static bool put_add(bool is_tx, const void *action, uint8_t *out)
{
	struct bits bits = bits_read(is_tx, action);

	if (!bits.place || !bits.place->adds)
		return false;
	bits.offset = 0;
	bits.length = bits.place->width;
	put_head(out, PRM_STE_ACTION_ADD, &bits);
	fld_set(out, STE_FIELD_DATA, fld_get(action, HEADER_ACTION_DATA));
	return true;
}

static bool put_copy(bool is_tx, const void *action, uint8_t *out)
{
	const struct bits from = bits_read(is_tx, action);
	const struct bits to = {
		.place = place_of(is_tx, (uint32_t)fld_get(action, HEADER_COPY_TO_FIELD)),
		.offset = (unsigned int)fld_get(action, HEADER_COPY_TO_OFFSET),
		.length = from.length,
	};

	if (!bits_fit(&from) || !bits_fit(&to))
		return false;
	put_head(out, PRM_STE_ACTION_COPY, &to);
	fld_set(out, STE_FIELD_SOURCE_DWORD, from.place->dword);
	fld_set(out, STE_FIELD_SOURCE_SHIFT, shift_of(&from));
	return true;
}

static bool put_action(bool is_tx, const void *action, uint8_t *out)
{
	switch (fld_get(action, HEADER_ACTION_TYPE)) {
	case PRM_HEADER_SET:
		return put_set(is_tx, action, out);
	case PRM_HEADER_ADD:
		return put_add(is_tx, action, out);
	case PRM_HEADER_COPY:
		return put_copy(is_tx, action, out);
	default:
		return false;
	}
}

/* Returns where to store CHANGE. The adapter needs another action between two that write the same
 * dword of headers, so this puts an empty one there. */
static uint8_t *change_next(struct dr_changes *changes, const uint8_t *change)
{
	if (changes->count && fld_get(changes->actions[changes->count - 1], STE_FIELD_DWORD) ==
				      fld_get(change, STE_FIELD_DWORD))
		/* PRM: 0 is an action that does nothing */
		memset(changes->actions[changes->count++], 0, DR_CHANGE_SIZE);
	return changes->actions[changes->count++];
}

int mlx5_dr_modify(const char *call, bool is_tx, const void *actions, size_t size,
		   struct dr_changes *changes)
{
	const size_t count = size / PRM_HEADER_ACTION_SIZE;

	changes->count = 0; /* no more: the actions are many bytes, and one is usual */
	if (!count || size % PRM_HEADER_ACTION_SIZE || count > ACTIONS_MAX) {
		verbs_warn("%s: actions_sz is %zu, must be 1 to %d actions of %d bytes", call, size,
			   ACTIONS_MAX, PRM_HEADER_ACTION_SIZE);
		return EINVAL;
	}
	for (size_t i = 0; i < count; i++) {
		const uint8_t *action = (const uint8_t *)actions + i * PRM_HEADER_ACTION_SIZE;
		uint8_t change[DR_CHANGE_SIZE] = { 0 };

		if (!put_action(is_tx, action, change)) {
			verbs_warn("%s: the adapter does not execute action %zu, %#x %#x", call, i,
				   (unsigned int)fld_get(action, FLD(0x0, 31, 0)),
				   (unsigned int)fld_get(action, FLD(0x4, 31, 0)));
			return EINVAL;
		}
		memcpy(change_next(changes, change), change, sizeof(change));
	}
	return 0;
}

static void insert_add(struct dr_changes *changes, const uint8_t data[4])
{
	uint8_t *change = changes->actions[changes->count++];

	fld_set(change, STE_ACTION_ID, PRM_STE_ACTION_INSERT_INLINE);
	memcpy(fld_at(change, STE_INSERT_INLINE_DATA), data, 4);
}

/* Inserts HEADER's dwords from the last to the first, each at the start of the frame, so that the
 * adapter never parses a header in the wrong place. Whole dwords are two bytes too many, which the
 * last change removes. */
int mlx5_dr_modify_decap(const char *call, const void *header, size_t size,
			 struct dr_changes *changes)
{
	enum { ETHERNET = 14, WITH_VLAN = 18, DWORD = 4, REMOVE_TO_INNER_IP = 0x0900190c };
	uint8_t bytes[2 + WITH_VLAN] = { 0 };
	uint8_t *last;

	memset(changes, 0, sizeof(*changes));
	if (!header || (size != ETHERNET && size != WITH_VLAN)) {
		verbs_warn("%s: data_sz is %zu, must be %d, or %d with a VLAN tag", call, size,
			   ETHERNET, WITH_VLAN);
		return EINVAL;
	}
	memcpy(bytes + 2, header, size);
	fld_set(changes->actions[changes->count++], FLD(0x0, 31, 0), REMOVE_TO_INNER_IP);
	for (size_t at = 2 + size; at; at -= DWORD)
		insert_add(changes, bytes + at - DWORD);
	last = changes->actions[changes->count++];
	fld_set(last, STE_ACTION_ID, PRM_STE_ACTION_REMOVE_BY_SIZE);
	fld_set(last, STE_REMOVE_SIZE, 1); /* of two bytes */
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * bits.h - the notation of all layouts below prm/ and ib/, and how their fields are read and written.
 *
 * A field is one number: its bit offset from the start of the layout and its width. PRM() writes it
 * as the PRM prints it: dword at BYTE, bits HI..LO with 31 the first on the wire. prm_get() and
 * prm_set() read and write it in big-endian memory: a mailbox, a WQE, a CQE, a datagram.
 * PRM_PART(byte) is where another layout or an array begins; prm_at() points to it and PRM_IN() adds
 * the two offsets:
 *	prm_set(in, PRM_IN(CREATE_QP_IN_QPC, QPC_PD), pdn);
 *	prm_get(prm_at(in, CREATE_QP_IN_QPC), QPC_PD);
 */
#ifndef PRM_BITS_H
#define PRM_BITS_H

#include <endian.h>
#include <stdint.h>
#include <string.h>

#define PRM(byte, hi, lo)   ((((byte)*8u + 31u - (hi)) << 8) | ((hi) - (lo) + 1u))
#define PRM64(byte)         ((((byte)*8u) << 8) | 64u)
#define PRM_PART(byte)      (((byte)*8u) << 8)
#define PRM_IN(part, field) ((part) + (field))
#define PRM_BIT(field)      ((field) >> 8)
#define PRM_WIDTH(field)    ((field)&0xffu)
#define PRM_BYTE(field)     (PRM_BIT(field) / 8u)

static inline void *prm_at(const void *mailbox, uint32_t part)
{
	return (uint8_t *)(uintptr_t)mailbox + PRM_BYTE(part);
}

static inline uint64_t prm_get64(const void *mailbox, uint32_t byte)
{
	uint64_t be;

	memcpy(&be, (const uint8_t *)mailbox + byte, sizeof(be));
	return be64toh(be);
}

static inline void prm_set64(void *mailbox, uint32_t byte, uint64_t value)
{
	uint64_t be = htobe64(value);

	memcpy((uint8_t *)mailbox + byte, &be, sizeof(be));
}

/* Fields up to 32 bits never cross a dword. */
static inline uint32_t prm_shift(uint32_t field)
{
	return 32 - PRM_BIT(field) % 32 - PRM_WIDTH(field);
}

static inline uint64_t prm_get(const void *mailbox, uint32_t field)
{
	uint32_t be, byte = PRM_BIT(field) / 32 * 4;

	if (PRM_WIDTH(field) == 64)
		return prm_get64(mailbox, byte);
	memcpy(&be, (const uint8_t *)mailbox + byte, sizeof(be));
	return (be32toh(be) >> prm_shift(field)) & ((1ull << PRM_WIDTH(field)) - 1);
}

/* Bits of VALUE beyond the field's width are cut off. */
static inline void prm_set(void *mailbox, uint32_t field, uint64_t value)
{
	uint32_t be, mask, byte = PRM_BIT(field) / 32 * 4;

	if (PRM_WIDTH(field) == 64) {
		prm_set64(mailbox, byte, value);
		return;
	}
	mask = (uint32_t)((1ull << PRM_WIDTH(field)) - 1) << prm_shift(field);
	memcpy(&be, (uint8_t *)mailbox + byte, sizeof(be));
	be = htobe32((be32toh(be) & ~mask) | (((uint32_t)value << prm_shift(field)) & mask));
	memcpy((uint8_t *)mailbox + byte, &be, sizeof(be));
}

#endif

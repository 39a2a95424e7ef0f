/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * fields.h - the notation of all layouts below prm/ and ib/, and the functions that read and write
 * their fields.
 *
 * A field is one number: its bit offset from the start of the layout and its width. FLD() takes
 * them as the specifications print them: the dword at BYTE, bits HI..LO, where bit 31 is the first
 * on the wire. fld_get() and fld_set() read and write it in big-endian memory: a mailbox, a WQE, a
 * CQE, a datagram, a packet. FLD_PART(byte) is the start of an inner layout or an array. fld_at()
 * points to it, and FLD_IN() adds its offset to an inner field's:
 *	fld_set(in, FLD_IN(CREATE_QP_IN_QPC, QPC_PD), pdn);
 *	fld_get(fld_at(in, CREATE_QP_IN_QPC), QPC_PD);
 * Decision: docs/adr/0002.
 */
#ifndef UTIL_FIELDS_H
#define UTIL_FIELDS_H

#include <endian.h>
#include <stdint.h>
#include <string.h>

#define FLD(byte, hi, lo)   ((((byte)*8u + 31u - (hi)) << 8) | ((hi) - (lo) + 1u))
#define FLD64(byte)         ((((byte)*8u) << 8) | 64u)
#define FLD_PART(byte)      (((byte)*8u) << 8)
#define FLD_IN(part, field) ((part) + (field))
#define FLD_BIT(field)      ((field) >> 8)
#define FLD_WIDTH(field)    ((field)&0xffu)
#define FLD_BYTE(field)     (FLD_BIT(field) / 8u)
#define FLD_DWORD(field)    (FLD_BIT(field) / 32u)

/* A field of up to 32 bits never crosses a dword. FLD_SHIFT() is the position of the field's lowest
 * bit in the dword. FLD_MASK() has a one for each of its bits, from bit 0 (0 for FLD_PART());
 * FLD_BITS() is that mask at the field's position. */
#define FLD_SHIFT(field) (32u - FLD_BIT(field) % 32u - FLD_WIDTH(field))
#define FLD_MASK(field)  (FLD_WIDTH(field) ? 0xffffffffu >> (32u - FLD_WIDTH(field)) : 0u)
#define FLD_BITS(field)  (FLD_MASK(field) << FLD_SHIFT(field))

static inline void *fld_at(const void *layout, uint32_t part)
{
	return (uint8_t *)(uintptr_t)layout + FLD_BYTE(part);
}

static inline uint64_t fld_get64(const void *layout, uint32_t byte)
{
	uint64_t be;

	memcpy(&be, (const uint8_t *)layout + byte, sizeof(be));
	return be64toh(be);
}

static inline void fld_set64(void *layout, uint32_t byte, uint64_t value)
{
	uint64_t be = htobe64(value);

	memcpy((uint8_t *)layout + byte, &be, sizeof(be));
}

static inline uint64_t fld_get(const void *layout, uint32_t field)
{
	uint32_t be, byte = FLD_BIT(field) / 32 * 4;

	if (FLD_WIDTH(field) == 64)
		return fld_get64(layout, byte);
	memcpy(&be, (const uint8_t *)layout + byte, sizeof(be));
	return (be32toh(be) >> FLD_SHIFT(field)) & FLD_MASK(field);
}

/* Sets a field to VALUE, truncated to the field's width. */
static inline void fld_set(void *layout, uint32_t field, uint64_t value)
{
	uint32_t be, mask, byte = FLD_BIT(field) / 32 * 4;

	if (FLD_WIDTH(field) == 64) {
		fld_set64(layout, byte, value);
		return;
	}
	mask = FLD_BITS(field);
	memcpy(&be, (uint8_t *)layout + byte, sizeof(be));
	be = htobe32((be32toh(be) & ~mask) | (((uint32_t)value << FLD_SHIFT(field)) & mask));
	memcpy((uint8_t *)layout + byte, &be, sizeof(be));
}

/* fld_get16() and fld_set16() touch only the two bytes of the field: its dword may reach beyond the
 * end of the layout. */
static inline uint16_t fld_get16(const void *layout, uint32_t field)
{
	const uint8_t *at = fld_at(layout, field);

	return (uint16_t)(at[0] << 8 | at[1]);
}

static inline void fld_set16(void *layout, uint32_t field, uint32_t value)
{
	uint8_t *at = fld_at(layout, field);

	at[0] = (uint8_t)(value >> 8);
	at[1] = (uint8_t)value;
}

#endif

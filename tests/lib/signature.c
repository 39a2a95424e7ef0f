/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * signature.c - signatures of blocks, from the standards. See signature.h.
 */
#include "tests/lib/signature.h"

#include <string.h>

struct polynomial {
	unsigned int degree;
	uint64_t low; /* coefficients below the highest */
	bool low_bit_first;
};

static uint64_t mirrored(uint64_t value, unsigned int bits)
{
	uint64_t mirror = 0;

	for (unsigned int i = 0; i < bits; i++)
		mirror = mirror << 1 | (value >> i & 1);
	return mirror;
}

static uint64_t remainder_of(const struct polynomial *by, uint64_t rest, const uint8_t *bytes,
			     size_t len)
{
	const uint64_t all = by->degree == 64 ? UINT64_MAX : (UINT64_C(1) << by->degree) - 1;

	for (size_t i = 0; i < 8 * len; i++) {
		unsigned int place = by->low_bit_first ? i % 8 : 7 - i % 8;
		uint64_t top = rest >> (by->degree - 1) & 1;

		top ^= bytes[i / 8] >> place & 1;
		rest = rest << 1 & all;
		if (top)
			rest ^= by->low;
	}
	return rest;
}

/* T10 SBC-3, 4.22.4; IEEE 802.3, 3.2.9; RFC 3720, 12.1; NVM Express NVM command set, 5.2.1.3.4 */
static const struct polynomial polynomials[] = {
	[SIGN_T10_SUM] = { 16, 0, false },
	[SIGN_T10_CRC] = { 16, 0x8bb7, false },
	[SIGN_CRC32] = { 32, 0x04c11db7, true },
	[SIGN_CRC32C] = { 32, 0x1edc6f41, true },
	[SIGN_CRC64] = { 64, 0xad93d23594c93659, true },
};

/* RFC 1071: ones' complement sum of big-endian words */
static uint16_t internet_sum(uint32_t sum, const uint8_t *bytes, size_t len)
{
	for (size_t i = 0; i + 1 < len; i += 2)
		sum += (uint32_t)bytes[i] * 256 + bytes[i + 1];
	while (sum > UINT16_MAX)
		sum = sum % 65536 + sum / 65536;
	return (uint16_t)~sum;
}

static uint64_t guard_of(const struct signature *sig, const uint8_t *block)
{
	const struct polynomial *by = &polynomials[sig->kind];
	const uint64_t ones = by->degree == 64 ? UINT64_MAX : (UINT64_C(1) << by->degree) - 1;
	uint64_t rest;

	if (sig->kind == SIGN_T10_SUM)
		return internet_sum(sig->from_ones ? UINT16_MAX : 0, block, sig->block);
	rest = remainder_of(by, sig->from_ones ? ones : 0, block, sig->block);
	return sig->kind == SIGN_T10_CRC ? rest : mirrored(rest ^ ones, by->degree);
}

static uint8_t *bytes_put(uint8_t *to, uint64_t value, unsigned int bytes)
{
	while (bytes--)
		*to++ = (uint8_t)(value >> 8 * bytes);
	return to;
}

uint32_t signature_size(const struct signature *sig)
{
	if (sig->kind == SIGN_NOT)
		return 0;
	return sig->kind == SIGN_CRC32 || sig->kind == SIGN_CRC32C ? 4 : 8;
}

static uint8_t *put_signature(const struct signature *sig, const uint8_t *block, uint32_t n,
			      uint8_t *to)
{
	uint64_t guard = guard_of(sig, block);

	if (sig->kind != SIGN_T10_CRC && sig->kind != SIGN_T10_SUM)
		return bytes_put(to, guard, signature_size(sig));
	to = bytes_put(to, guard, 2);
	to = bytes_put(to, sig->app, 2);
	return bytes_put(to, sig->ref + (sig->ref_counts ? n : 0), 4);
}

size_t signature_insert(const struct signature *sig, const uint8_t *data, size_t len, uint8_t *out)
{
	uint8_t *to = out;

	if (sig->kind == SIGN_NOT) {
		memcpy(out, data, len);
		return len;
	}
	for (size_t at = 0; at < len; at += sig->block) {
		size_t part = len - at < sig->block ? len - at : sig->block;

		memcpy(to, data + at, part);
		to += part;
		if (part == sig->block)
			to = put_signature(sig, data + at, (uint32_t)(at / sig->block), to);
	}
	return (size_t)(to - out);
}

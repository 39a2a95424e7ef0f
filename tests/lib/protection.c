/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * protection.c - signatures and encryption, from the standards. See protection.h.
 */
#include "tests/lib/protection.h"

#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Without AES there is nothing to compare with. */
static void must(bool condition, const char *what)
{
	if (condition)
		return;
	fprintf(stderr, "protection: OpenSSL: %s\n", what);
	abort();
}

/* ---- remainders of polynomials: the data are coefficients, the highest first ---- */

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

/* RFC 1071: words in the order of the network, added with ones' complement */
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

/* ---- signatures ---- */

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

/* ---- AES-XTS: IEEE 1619, 5.3 and 5.4 ---- */

enum { AES_BLOCK = 16 };

/* Each half of the keys, in both directions; the second encrypts only. */
struct xts {
	EVP_CIPHER_CTX *data, *mask;
	bool decrypts;
};

static EVP_CIPHER_CTX *aes_open(const uint8_t *key, size_t len, bool decrypts)
{
	const EVP_CIPHER *cipher = len == 16 ? EVP_aes_128_ecb() : EVP_aes_256_ecb();
	EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new();

	must(ctx && EVP_CipherInit_ex(ctx, cipher, NULL, key, NULL, !decrypts) == 1, "key");
	must(EVP_CIPHER_CTX_set_padding(ctx, 0) == 1, "padding");
	return ctx;
}

static void aes(EVP_CIPHER_CTX *ctx, uint8_t *block)
{
	int len = 0;

	must(EVP_CipherUpdate(ctx, block, &len, block, AES_BLOCK) == 1 && len == AES_BLOCK,
	     "block");
}

static void mask_double(uint8_t *mask)
{
	uint8_t carry = mask[AES_BLOCK - 1] >> 7;

	for (int i = AES_BLOCK - 1; i > 0; i--)
		mask[i] = (uint8_t)(mask[i] << 1 | mask[i - 1] >> 7);
	mask[0] = (uint8_t)(mask[0] << 1 ^ (carry ? 0x87 : 0));
}

static void block_change(const struct xts *xts, const uint8_t *mask, uint8_t *block)
{
	for (int i = 0; i < AES_BLOCK; i++)
		block[i] ^= mask[i];
	aes(xts->data, block);
	for (int i = 0; i < AES_BLOCK; i++)
		block[i] ^= mask[i];
}

/* What is left over behind the last whole block changes places with the start of what became of
 * that block, which is changed once more. Backwards, the two masks change places, too. */
static void change_rest(const struct xts *xts, uint8_t *mask, uint8_t *last, size_t left)
{
	uint8_t first[AES_BLOCK];

	memcpy(first, mask, sizeof(first));
	mask_double(mask);
	block_change(xts, xts->decrypts ? mask : first, last);
	for (size_t i = 0; i < left; i++) {
		uint8_t over = last[AES_BLOCK + i];

		last[AES_BLOCK + i] = last[i];
		last[i] = over;
	}
	block_change(xts, xts->decrypts ? first : mask, last);
}

static void unit_change(const struct xts *xts, const uint8_t *tweak, uint8_t *bytes, size_t len)
{
	size_t whole = len % AES_BLOCK ? len / AES_BLOCK - 1 : len / AES_BLOCK;
	uint8_t mask[AES_BLOCK];

	memcpy(mask, tweak, sizeof(mask));
	aes(xts->mask, mask);
	for (; whole; whole--, bytes += AES_BLOCK, len -= AES_BLOCK) {
		block_change(xts, mask, bytes);
		mask_double(mask);
	}
	if (len)
		change_rest(xts, mask, bytes, len - AES_BLOCK);
}

static void units_change(const struct encryption *of, uint8_t *bytes, size_t len, bool decrypts)
{
	const size_t half = of->keys_len / 2;
	struct xts xts = {
		.data = aes_open(of->keys, half, decrypts),
		.mask = aes_open(of->keys + half, half, false),
		.decrypts = decrypts,
	};
	uint8_t tweak[AES_BLOCK];

	memcpy(tweak, of->tweak, sizeof(tweak));
	for (size_t at = 0; at < len; at += of->unit) {
		unit_change(&xts, tweak, bytes + at, len - at < of->unit ? len - at : of->unit);
		for (int i = 0; i < AES_BLOCK && !++tweak[i]; i++)
			;
	}
	EVP_CIPHER_CTX_free(xts.data);
	EVP_CIPHER_CTX_free(xts.mask);
}

void encryption_apply(const struct encryption *of, uint8_t *bytes, size_t len)
{
	units_change(of, bytes, len, false);
}

void encryption_undo(const struct encryption *of, uint8_t *bytes, size_t len)
{
	units_change(of, bytes, len, true);
}

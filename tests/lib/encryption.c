/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * encryption.c - AES-XTS, from the standard. See encryption.h.
 */
#include "tests/lib/encryption.h"

#include <openssl/evp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Ends the program unless CONDITION holds, as there is nothing to compare with when AES is
 * missing. */
static void require(bool condition, const char *what)
{
	if (condition)
		return;
	fprintf(stderr, "protection: OpenSSL: %s\n", what);
	abort();
}

enum { AES_BLOCK = 16 };

/* Contexts of the two AES keys: the data key for both directions, the mask key for encryption
 * only. */
struct xts {
	EVP_CIPHER_CTX *data, *mask;
	bool decrypts;
};

static EVP_CIPHER_CTX *aes_open(const uint8_t *key, size_t len, bool decrypts)
{
	const EVP_CIPHER *cipher = len == 16 ? EVP_aes_128_ecb() : EVP_aes_256_ecb();
	EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new();

	require(ctx && EVP_CipherInit_ex(ctx, cipher, NULL, key, NULL, !decrypts) == 1, "key");
	require(EVP_CIPHER_CTX_set_padding(ctx, 0) == 1, "padding");
	return ctx;
}

static void aes(EVP_CIPHER_CTX *ctx, uint8_t *block)
{
	int len = 0;

	require(EVP_CipherUpdate(ctx, block, &len, block, AES_BLOCK) == 1 && len == AES_BLOCK,
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

/* Handles the last whole block and the rest behind it (ciphertext stealing): changes the block,
 * swaps its start with the rest, and changes it again. Decryption uses the two masks in the
 * opposite order. */
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

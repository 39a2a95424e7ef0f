/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * protection.h - what data look like with signatures of blocks, and encrypted: an oracle for keys
 * that compute. It is made from the standards alone, bit by bit, and shares no code with the
 * adapter; of OpenSSL it takes single blocks of AES.
 */
#ifndef TESTS_LIB_PROTECTION_H
#define TESTS_LIB_PROTECTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum signature_kind { SIGN_NOT, SIGN_T10_CRC, SIGN_T10_SUM, SIGN_CRC32, SIGN_CRC32C, SIGN_CRC64 };

struct signature {
	enum signature_kind kind;
	uint32_t block; /* bytes of data in front of each */
	bool from_ones; /* what a guard starts from, or from zeroes */
	uint16_t app;
	uint32_t ref;
	bool ref_counts;
};

uint32_t signature_size(const struct signature *sig);

/* The function writes LEN bytes of data to OUT, each whole block with its signature, and returns
 * how many bytes that are. */
size_t signature_insert(const struct signature *sig, const uint8_t *data, size_t len, uint8_t *out);

/* The keys are two of AES-128 or AES-256; the tweak of the first unit has its lowest byte in
 * front. */
struct encryption {
	const uint8_t *keys;
	size_t keys_len;
	uint8_t tweak[16];
	uint32_t unit;
};

void encryption_apply(const struct encryption *of, uint8_t *bytes, size_t len);
void encryption_undo(const struct encryption *of, uint8_t *bytes, size_t len);

#endif

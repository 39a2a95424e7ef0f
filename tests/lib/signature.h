/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * signature.h - computes data with signatures of blocks: an oracle for keys that compute. It
 * follows the standards alone, bit by bit, and shares no code with the adapter.
 */
#ifndef TESTS_LIB_SIGNATURE_H
#define TESTS_LIB_SIGNATURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum signature_kind { SIGN_NOT, SIGN_T10_CRC, SIGN_T10_SUM, SIGN_CRC32, SIGN_CRC32C, SIGN_CRC64 };

struct signature {
	enum signature_kind kind;
	uint32_t block; /* bytes of data per signature */
	bool from_ones; /* initial value of a guard: ones, or zeroes */
	uint16_t app;
	uint32_t ref;
	bool ref_counts;
};

uint32_t signature_size(const struct signature *sig);

/* Writes LEN bytes of data to OUT, with a signature behind each whole block. Returns the number of
 * bytes written. */
size_t signature_insert(const struct signature *sig, const uint8_t *data, size_t len, uint8_t *out);

#endif

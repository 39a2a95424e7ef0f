/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * crypt.h - data that a memory key encrypts on its way out and decrypts on its way in, or the other
 * way round: as it is in memory, or as it is on the wire, with the signatures there (sig.h).
 *
 * The data are units, each with a tweak of its own, which is the place of the unit more than that
 * of the first. A unit at the end may be a part of one; its length, and places where transfers
 * begin and end, are whole blocks of the cipher.
 */
#ifndef SOFTHCA_DEVICE_MEMORY_CRYPT_H
#define SOFTHCA_DEVICE_MEMORY_CRYPT_H

#include <stdbool.h>
#include <stdint.h>

#include "softhca/device/memory/cipher.h"
#include "softhca/device/memory/dek.h"

struct hca;
struct mkey;

enum { CRYPT_UNIT_MAX = 4160 };

struct crypt {
	bool on;
	bool on_wire;      /* or in memory */
	bool encrypts_out; /* from memory to wire */
	uint32_t unit;
	uint32_t dek;
	uint8_t tag[DEK_TAG_SIZE];
	uint8_t tweak[CIPHER_TWEAK]; /* of the first unit, the first byte lowest */
};

/* What came of the last unit waits for the rest of it: the end of a unit is not encrypted block by
 * block. */
struct crypt_part {
	uint64_t end; /* the place behind it */
	uint32_t have;
	uint8_t bytes[CRYPT_UNIT_MAX];
};

/* Moves LEN bytes at AT of the side that is encrypted, where all are WHOLE bytes, and returns 0,
 * EFAULT or ENOMEM. */
typedef int crypt_move_fn(struct hca *hca, struct mkey *mkey, bool write, uint64_t at,
			  uint8_t *bytes, uint64_t len);

/* Does that with bytes that it decrypts or encrypts. */
int crypt_move(struct hca *hca, struct mkey *mkey, bool write, uint64_t at, uint8_t *bytes,
	       uint64_t len, uint64_t whole, crypt_move_fn *move);

/* Returns whether a transfer may have LEN bytes at AT. */
bool crypt_allows(const struct crypt *crypt, uint64_t at, uint64_t len, uint64_t whole);
/* Widens a range to whole units. */
void crypt_widen(const struct crypt *crypt, uint64_t whole, uint64_t *start, uint64_t *end);

#endif

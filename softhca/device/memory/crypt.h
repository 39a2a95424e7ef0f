/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * crypt.h - encryption and decryption by a memory key in transfers. Either the data in memory is
 * encrypted, or the data on the wire, where it may include signatures (sig.h).
 *
 * Data consists of units, each with its own tweak: the first unit's tweak plus the unit's number.
 * The last unit may be shorter. Its length, and the places where transfers begin and end, are
 * multiples of the cipher's block.
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
	bool on_wire;      /* the wire side is encrypted, else the memory side */
	bool encrypts_out; /* encrypts from memory to wire, else decrypts */
	uint32_t unit;
	uint32_t dek;
	uint8_t tag[DEK_TAG_SIZE];
	uint8_t tweak[CIPHER_TWEAK]; /* of the first unit, lowest byte first, as IEEE 1619 counts */
};

/* The first bytes of a unit whose rest has not arrived. They wait here because a unit's end cannot
 * be encrypted block by block. */
struct crypt_part {
	uint64_t end; /* place behind the kept bytes */
	uint32_t have;
	uint8_t bytes[CRYPT_UNIT_MAX];
};

/* Moves LEN bytes between BYTES and place AT of the encrypted side; WRITE: from BYTES. Returns 0,
 * EFAULT or ENOMEM. */
typedef int crypt_move_fn(struct hca *hca, struct mkey *mkey, bool write, uint64_t at,
			  uint8_t *bytes, uint64_t len);

/* Moves bytes as MOVE does, and encrypts or decrypts them. The encrypted side has WHOLE bytes. */
int crypt_move(struct hca *hca, struct mkey *mkey, bool write, uint64_t at, uint8_t *bytes,
	       uint64_t len, uint64_t whole, crypt_move_fn *move);

/* Returns whether a transfer of LEN bytes may begin at AT of the encrypted side, which has WHOLE
 * bytes. */
bool crypt_allows(const struct crypt *crypt, uint64_t at, uint64_t len, uint64_t whole);
void crypt_widen(const struct crypt *crypt, uint64_t whole, uint64_t *start, uint64_t *end);

#endif

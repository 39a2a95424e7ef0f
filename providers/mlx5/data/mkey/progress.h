/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * progress.h - how far a request that configures a memory key has come: which parts and how many
 * setters are pending, and what the key will have been told when the request is complete.
 *
 *    31             16 15      9 8        7 6        5      4        3      2       1        0
 *   +-----------------+---------+----------+----------+---------+--------+-----+--------+--------+
 *   |     SETTERS_    |    0    |  CRYPT_  |   SIG_   |  LIST_  | CRYPTO | SIG | LAYOUT | ACCESS |
 *   |     PENDING     |         |   TOLD   |   TOLD   |  USUAL  |          _PENDING              |
 *   +-----------------+---------+----------+----------+---------+--------+-----+--------+--------+
 *
 *   wr_mkey_configure, 2 setters   SETTERS_PENDING 2, all parts pending, *_TOLD of the last request
 *   wr_set_mkey_access_flags       SETTERS_PENDING 1, ACCESS_PENDING is cleared
 *   wr_set_mkey_layout_list        SETTERS_PENDING 0, LAYOUT_PENDING is cleared, LIST_USUAL or not
 *   the end (finish.c)             one compare with the word that the last request on the key had
 *
 * A part whose setter is never called stays pending, so that word names all that an end depends on.
 * It is read by its fields. A setter changes several of them by one addition, and the end compares
 * all at once: for that, the union has the whole word, and the enum each field's place in it.
 *
 * PRM: UMR control segment
 */
#ifndef PROVIDERS_MLX5_DATA_MKEY_PROGRESS_H
#define PROVIDERS_MLX5_DATA_MKEY_PROGRESS_H

#include <endian.h>
#include <stdint.h>

union mkey_progress {
	uint32_t word; /* 0: no request is under construction */
	struct {
#if __BYTE_ORDER == __LITTLE_ENDIAN
		uint32_t access_pending : 1;
		uint32_t layout_pending : 1;
		uint32_t sig_pending : 1;
		uint32_t crypto_pending : 1;
		uint32_t list_usual : 1; /* one block, and no wrap of the ring */
		uint32_t sig_told : 2;
		uint32_t crypt_told : 2;
		uint32_t : 7;
		uint32_t setters_pending : 16;
#else
		uint32_t setters_pending : 16;
		uint32_t : 7;
		uint32_t crypt_told : 2;
		uint32_t sig_told : 2;
		uint32_t list_usual : 1;
		uint32_t crypto_pending : 1;
		uint32_t sig_pending : 1;
		uint32_t layout_pending : 1;
		uint32_t access_pending : 1;
#endif
	};
};

enum {
	ACCESS_PENDING = 1 << 0,
	LAYOUT_PENDING = 1 << 1,
	SIG_PENDING = 1 << 2,
	CRYPTO_PENDING = 1 << 3,
	ALL_PENDING = ACCESS_PENDING | LAYOUT_PENDING | SIG_PENDING | CRYPTO_PENDING,
	LIST_USUAL = 1 << 4,
	SIG_TOLD_SHIFT = 5,
	SIG_TOLD = 3 << SIG_TOLD_SHIFT,
	CRYPT_TOLD_SHIFT = 7,
	CRYPT_TOLD = 3 << CRYPT_TOLD_SHIFT,
	ONE_SETTER = 1 << 16, /* one setter, in the field SETTERS_PENDING */
};

/* Returns PROGRESS after a setter of PART: clears the pending bit of PART and decrements the count
 * of setters. */
static inline union mkey_progress progress_after(union mkey_progress progress, uint32_t part)
{
	progress.word -= ONE_SETTER + part;
	return progress;
}

/* Does what progress_after() does, for a PART that the key computes (signature or encryption). Also
 * sets FIELD, the state of that part, to TOLD. */
static inline union mkey_progress progress_told(union mkey_progress progress, uint32_t part,
						uint32_t field, uint32_t told)
{
	progress = progress_after(progress, part);
	progress.word = (progress.word & ~field) + told;
	return progress;
}

#endif

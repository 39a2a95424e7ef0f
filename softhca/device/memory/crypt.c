/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * crypt.c - encrypts and decrypts data units in transfers. See crypt.h.
 */
#include "softhca/device/memory/crypt.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "softhca/device/core.h"
#include "util/bits.h"

static uint64_t floor_block(uint64_t len)
{
	return len - len % CIPHER_BLOCK;
}

/* Returns how many of the first HAVE bytes of a unit of LEN bytes can be encrypted before the rest
 * of the unit arrives. In a unit that is not a whole number of blocks the last two blocks depend on
 * each other. IEEE 1619: ciphertext stealing */
static uint64_t encryptable_bytes(uint64_t len, uint64_t have)
{
	uint64_t blocks = floor_block(len);
	uint64_t limit = len % CIPHER_BLOCK ? blocks - CIPHER_BLOCK : blocks;

	return min_of(floor_block(have), limit);
}

/* Returns the length of the unit at START; the last unit may be shorter. */
static uint64_t unit_length(const struct crypt *crypt, uint64_t start, uint64_t whole)
{
	return min_of((uint64_t)crypt->unit, whole - start);
}

static bool is_boundary(const struct crypt *crypt, uint64_t place)
{
	return place % crypt->unit % CIPHER_BLOCK == 0;
}

bool crypt_allows(const struct crypt *crypt, uint64_t at, uint64_t len, uint64_t whole)
{
	uint64_t end = at + len, rest = end % crypt->unit;

	return is_boundary(crypt, at) && is_boundary(crypt, end) &&
	       (end < whole || encryptable_bytes(crypt->unit, rest) == rest);
}

void crypt_widen(const struct crypt *crypt, uint64_t whole, uint64_t *start, uint64_t *end)
{
	uint64_t beyond = *end % crypt->unit;

	*start -= *start % crypt->unit;
	if (beyond)
		*end = min_of(*end - beyond + crypt->unit, whole);
}

static struct dek *dek_find(struct hca *hca, const struct mkey *mkey)
{
	const struct crypt *crypt = &mkey->crypt;
	struct dek *dek = res_get(&hca->deks, crypt->dek);

	if (!dek || dek->pd != mkey->pd)
		return NULL;
	return dek->has_tag && memcmp(dek->tag, crypt->tag, DEK_TAG_SIZE) != 0 ? NULL : dek;
}

/* Adds the unit's number to the first tweak, as 128-bit numbers with the lowest byte first. */
static void tweak_of(const struct crypt *crypt, uint64_t unit, uint8_t *tweak)
{
	unsigned int carry = 0;

	for (unsigned int i = 0; i < CIPHER_TWEAK; i++) {
		carry += crypt->tweak[i] + (unsigned int)(i < 8 ? unit >> 8 * i & 0xff : 0);
		tweak[i] = (uint8_t)carry;
		carry >>= 8;
	}
}

static int unit_change(const struct mkey *mkey, struct dek *dek, bool write, uint64_t unit,
		       uint8_t *bytes, uint64_t len)
{
	uint8_t tweak[CIPHER_TWEAK];

	if (!len)
		return 0;
	tweak_of(&mkey->crypt, unit, tweak);
	return mkey->crypt.encrypts_out != write ? cipher_encrypt(dek->cipher, tweak, bytes, len)
						 : cipher_decrypt(dek->cipher, tweak, bytes, len);
}

static int units_read(struct hca *hca, struct mkey *mkey, struct dek *dek, uint64_t start,
		      uint64_t end, uint8_t *image, crypt_move_fn *move)
{
	uint32_t unit = mkey->crypt.unit;
	int ret = move(hca, mkey, false, start, image, end - start);

	for (uint64_t at = start; !ret && at < end; at += unit)
		ret = unit_change(mkey, dek, false, at / unit, image + (at - start),
				  min_of(end - at, (uint64_t)unit));
	return ret ? EFAULT : 0;
}

/* Copies the kept bytes of an incomplete unit (crypt_part) into a read of LEN bytes at AT. They are
 * not in memory yet, because the rest of their unit has not arrived. */
static void take_waiting(const struct mkey *mkey, uint64_t at, uint8_t *bytes, uint64_t len,
			 uint64_t whole)
{
	const struct crypt_part *part = mkey->crypt_part;
	uint64_t start, from, to;

	if (!part || !part->have)
		return;
	start = part->end - part->have;
	from = start + encryptable_bytes(unit_length(&mkey->crypt, start, whole), part->have);
	to = min_of(part->end, at + len);
	from = max_of(from, at);
	if (from < to)
		memcpy(bytes + (from - at), part->bytes + (from - start), to - from);
}

static int read_crypt(struct hca *hca, struct mkey *mkey, struct dek *dek, uint64_t at,
		      uint8_t *bytes, uint64_t len, uint64_t whole, crypt_move_fn *move)
{
	uint64_t start = at, end = at + len;
	uint8_t *image;
	int ret;

	assert(end <= whole);
	crypt_widen(&mkey->crypt, whole, &start, &end);
	image = malloc(end - start);
	if (!image)
		return ENOMEM;
	ret = units_read(hca, mkey, dek, start, end, image, move);
	if (!ret)
		memcpy(bytes, image + (at - start), len);
	if (!ret)
		take_waiting(mkey, at, bytes, len, whole);
	free(image);
	return ret;
}

struct arrival {
	uint64_t start, end;  /* from the start of the first unit to the transfer's end */
	uint64_t fresh, done; /* write the bytes from FRESH to DONE to memory */
	uint8_t *image;
};

/* Copies the kept start of the unit in which the transfer begins, and sets in->fresh. Returns false
 * if the transfer needs a start that was not kept: the last two blocks of a unit may depend on each
 * other. Earlier blocks can be written without the start. */
static bool take_start(const struct mkey *mkey, struct arrival *in, uint64_t at, uint64_t whole)
{
	const struct crypt_part *part = mkey->crypt_part;
	uint64_t head = at - in->start, done;

	in->fresh = at;
	if (!head)
		return true;
	done = encryptable_bytes(unit_length(&mkey->crypt, in->start, whole), head);
	if (!part || part->end != at || part->have != head)
		return head == done;
	memcpy(in->image, part->bytes, head);
	in->fresh = in->start + done;
	return true;
}

/* Drops the kept start of a unit if the transfer writes to that unit, because the kept bytes are
 * outdated then. */
static void forget_start(const struct mkey *mkey, const struct arrival *in)
{
	struct crypt_part *part = mkey->crypt_part;

	if (part && part->end - part->have < in->end && part->end > in->start)
		part->have = 0;
}

static int keep_part(struct mkey *mkey, const uint8_t *bytes, uint64_t have, uint64_t end)
{
	if (!mkey->crypt_part)
		mkey->crypt_part = malloc(sizeof(*mkey->crypt_part));
	if (!mkey->crypt_part)
		return ENOMEM;
	mkey->crypt_part->end = end;
	mkey->crypt_part->have = (uint32_t)have;
	memcpy(mkey->crypt_part->bytes, bytes, have);
	return 0;
}

static int change_arrival(struct mkey *mkey, struct dek *dek, struct arrival *in, uint64_t whole)
{
	uint32_t unit = mkey->crypt.unit;
	int ret = 0;

	in->done = in->start;
	for (uint64_t at = in->start; !ret && at < in->end; at += unit) {
		uint64_t have = min_of(in->end - at, (uint64_t)unit), now = have;
		uint8_t *bytes = in->image + (at - in->start);

		if (have < unit && in->end < whole) {
			now = encryptable_bytes(unit_length(&mkey->crypt, at, whole), have);
			ret = keep_part(mkey, bytes, have, in->end);
		}
		if (!ret)
			ret = unit_change(mkey, dek, true, at / unit, bytes, now);
		in->done = at + now;
	}
	return ret;
}

static int write_crypt(struct hca *hca, struct mkey *mkey, struct dek *dek, uint64_t at,
		       const uint8_t *bytes, uint64_t len, uint64_t whole, crypt_move_fn *move)
{
	struct arrival in = { .start = at - at % mkey->crypt.unit, .end = at + len };
	int ret = 0;

	in.image = calloc(1, in.end - in.start);
	if (!in.image)
		return ENOMEM;
	if (!take_start(mkey, &in, at, whole))
		ret = EFAULT;
	forget_start(mkey, &in);
	memcpy(in.image + (at - in.start), bytes, len);
	if (!ret)
		ret = change_arrival(mkey, dek, &in, whole);
	if (!ret && in.done > in.fresh)
		ret = move(hca, mkey, true, in.fresh, in.image + (in.fresh - in.start),
			   in.done - in.fresh);
	free(in.image);
	return ret == EINVAL ? EFAULT : ret;
}

int crypt_move(struct hca *hca, struct mkey *mkey, bool write, uint64_t at, uint8_t *bytes,
	       uint64_t len, uint64_t whole, crypt_move_fn *move)
{
	struct dek *dek = dek_find(hca, mkey);

	if (!dek)
		return EFAULT;
	if (!len)
		return 0;
	return write ? write_crypt(hca, mkey, dek, at, bytes, len, whole, move)
		     : read_crypt(hca, mkey, dek, at, bytes, len, whole, move);
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * mkey.c - memory keys: what access they allow, and where their bytes are.
 *
 * A key stands for physical addresses (PA), a list of pages (MTT), or pieces of other keys (KLM,
 * KSM). Its number is its table index and a variant byte; both must match, which catches the use of
 * a destroyed region's key. A free key allows nothing until a UMR enables it: see umr.c.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "softhca/device/core.h"
#include "softhca/device/memory/memic.h"

void mkey_free(struct mkey *mkey)
{
	sig_forget(mkey);
	memic_put(mkey->memic);
	ste_memory_put(mkey->ste_block);
	odp_free(mkey);
	xlt_free(mkey);
	free(mkey->crypt_part);
	free(mkey);
}

/* Limits of keys that refer to other keys: nesting, pieces of one access, and bytes that signatures
 * or encryption process beyond the accessed ones. Without them, nested keys with small pieces could
 * keep the adapter busy for minutes. */
enum { MAX_DEPTH = 4, MAX_PIECES = 1 << 15, MAX_EXCESS = 4 << 20 };

struct descent {
	int depth;
	unsigned int pieces;
	uint64_t excess;
};

/* Adds to descent->excess the bytes that a key processes beyond twice the ASKED ones, because it
 * signs or encrypts whole blocks. Returns false when the access exceeds MAX_EXCESS. */
static bool descent_bears_excess(struct descent *descent, uint64_t asked, uint64_t computed)
{
	if (computed > 2 * asked)
		descent->excess += computed - 2 * asked;
	return descent->excess <= MAX_EXCESS;
}

struct mkey *mkey_find(const struct hca *hca, uint32_t key)
{
	return res_get(&hca->mkeys, key >> 8 & hca->mkey_mask);
}

static bool is_indirect(const struct mkey *mkey)
{
	return mkey->mode == MKEY_KLMS || mkey->mode == MKEY_KSM;
}

bool mkey_holds(const struct mkey *mkey, uint64_t addr, uint64_t len)
{
	uint64_t whole = mkey_computes(mkey) ? sig_wire_length(mkey) : mkey->len;

	/* signed or encrypted data is finite even if the key covers all memory */
	return (mkey->whole && !mkey_computes(mkey)) ||
	       (addr >= mkey->start && len <= whole && addr - mkey->start <= whole - len);
}

static struct mkey *key_check(struct hca *hca, uint32_t key, const struct pd *pd,
			      unsigned int access, uint64_t addr, uint64_t len,
			      struct descent *descent);

/* Finds the range of memory from START to END that a transfer of LEN bytes at place WIRE needs, if
 * the key signs or encrypts: whole signed blocks and whole encrypted units. */
static void computed_memory(const struct mkey *mkey, uint64_t wire, uint64_t len, uint64_t *start,
			    uint64_t *end)
{
	const struct crypt *crypt = &mkey->crypt;

	*start = wire;
	*end = wire + len;
	if (crypt->on && crypt->on_wire)
		crypt_widen(crypt, sig_wire_length(mkey), start, end);
	sig_memory(mkey, *start, *end - *start, start, end);
	if (crypt->on && !crypt->on_wire)
		crypt_widen(crypt, mkey->len, start, end);
}

/* Returns whether encryption allows the access: whole cipher blocks, and only after the key has its
 * encryption parameters. */
static bool crypt_is_right(const struct mkey *mkey, uint64_t addr, uint64_t len)
{
	if (!mkey->crypt.on)
		return !mkey->must_encrypt;
	if (!mkey->crypt.on_wire && mkey->sig.on)
		return true; /* true, as signed blocks decide which bytes are moved */
	return crypt_allows(&mkey->crypt, addr - mkey->start, len, sig_wire_length(mkey));
}

/* Checks the keys that an indirect key refers to. They need only local rights: the peer knows only
 * the indirect key, which itself grants the remote rights. */
static bool pieces_allow(struct hca *hca, struct mkey *mkey, unsigned int access, uint64_t addr,
			 uint64_t len, struct descent *descent)
{
	unsigned int writes = MKEY_LOCAL_WRITE | MKEY_REMOTE_WRITE | MKEY_REMOTE_ATOMIC;
	unsigned int below = (access & writes ? MKEY_LOCAL_WRITE : 0) | (access & MKEY_PLAIN);
	uint64_t start, end;
	struct klm piece;
	bool allowed = true;

	if (descent->depth == MAX_DEPTH || xlt_prepare(mkey))
		return false;
	if (mkey_computes(mkey) && len) {
		computed_memory(mkey, addr - mkey->start, len, &start, &end);
		if (!descent_bears_excess(descent, len, end - start))
			return false;
		addr = mkey->start + start;
		len = end - start;
	}
	descent->depth++;
	for (; allowed && len; addr += piece.len, len -= piece.len)
		allowed =
			descent->pieces++ < MAX_PIECES && xlt_piece(mkey, addr, len, &piece) &&
			key_check(hca, piece.key, mkey->pd, below, piece.addr, piece.len, descent);
	descent->depth--;
	return allowed;
}

static struct mkey *key_check(struct hca *hca, uint32_t key, const struct pd *pd,
			      unsigned int access, uint64_t addr, uint64_t len,
			      struct descent *descent)
{
	struct mkey *mkey = mkey_find(hca, key);

	if (!mkey || mkey->key != key || mkey->free || (pd && mkey->pd && mkey->pd != pd))
		return NULL;
	if (access & ~mkey->access & ~(unsigned int)MKEY_PLAIN || !mkey_holds(mkey, addr, len))
		return NULL;
	if (access & MKEY_PLAIN && mkey_computes(mkey))
		return NULL;
	if (!crypt_is_right(mkey, addr, len))
		return NULL;
	if (is_indirect(mkey) && !pieces_allow(hca, mkey, access, addr, len, descent))
		return NULL;
	return mkey;
}

struct mkey *mkey_check(struct hca *hca, uint32_t key, const struct pd *pd, unsigned int access,
			uint64_t addr, uint64_t len)
{
	struct descent descent = { 0 };

	return key_check(hca, key, pd, access, addr, len, &descent);
}

static int dma_sink(struct dma_batch *batch, uint64_t len)
{
	int ret = dma_finish(batch);

	if (ret)
		return ret;
	if (!batch->write)
		memset(batch->buf, 0, len);
	batch->buf += len;
	return 0;
}

int mkey_dma_pieces(struct dma_batch *batch, struct mkey *mkey, uint64_t addr, uint64_t len)
{
	struct mkey *under;
	struct klm piece;
	int ret;

	if (xlt_prepare(mkey))
		return EFAULT;
	for (; len; addr += piece.len, len -= piece.len) {
		if (!xlt_piece(mkey, addr, len, &piece))
			return EFAULT;
		under = mkey_find(batch->hca, piece.key);
		ret = under ? mkey_dma(batch, under, piece.addr, piece.len) : EFAULT;
		if (ret)
			return ret;
	}
	return 0;
}

int mkey_dma(struct dma_batch *batch, struct mkey *mkey, uint64_t addr, uint64_t len)
{
	if (mkey->sink)
		return dma_sink(batch, len);
	if (mkey->mode == MKEY_PA)
		return dma_add(batch, addr, len);
	if (mkey->mode == MKEY_MEMIC)
		return memic_dma(batch, mkey->device_at + addr, len);
	if (mkey->mode == MKEY_ICM)
		return ste_memory_dma(batch, mkey->ste_block, mkey->device_at + addr, len);
	if (xlt_prepare(mkey))
		return EFAULT;
	if (is_indirect(mkey))
		return mkey_computes(mkey) ? sig_dma(batch, mkey, addr, len)
					   : mkey_dma_pieces(batch, mkey, addr, len);
	if (batch->hca->config.strict)
		pins_check(batch->hca, &mkey->map, addr - mkey->start, len, "key", mkey->key);
	return dma_add_map(batch, &mkey->map, addr - mkey->start, len);
}

void mkey_bind(struct mkey *window, struct mkey *region)
{
	if (region)
		region->windows++;
	if (window->bound_to)
		window->bound_to->windows--;
	window->bound_to = region;
}

void mkey_invalidate(struct mkey *mkey)
{
	mkey_bind(mkey, NULL);
	mkey->free = true;
}

struct mkey *mkey_to_invalidate(struct hca *hca, uint32_t key, const struct pd *pd, uint32_t qpn)
{
	struct mkey *mkey = mkey_find(hca, key);

	if (!mkey || mkey->key != key || mkey->pd != pd || !mkey->may_invalidate)
		return NULL;
	return mkey->qpn == MKEY_ANY_QP || mkey->qpn == qpn ? mkey : NULL;
}

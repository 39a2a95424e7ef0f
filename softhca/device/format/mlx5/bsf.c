/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * bsf.c - byte stream formats (BSFs), which say what a memory key computes, and the CQE for a
 * signature error. PRM: BSF, Signature Error CQE
 */
#include <string.h>

#include "prm/mlx5/bsf.h"
#include "prm/mlx5/cqe.h"
#include "prm/mlx5/mkc.h"
#include "softhca/device/core.h"
#include "softhca/device/format/mlx5/mlx5.h"

#define ALL_BITS UINT32_MAX

enum { BSF_WORDS = BSF_SIZE / 4, INLINE_WORDS = 4 };

static uint32_t block_bytes(uint64_t selector)
{
	static const uint16_t bytes[] = {
		[BSF_BLOCK_512] = 512,   [BSF_BLOCK_520] = 520,   [BSF_BLOCK_4096] = 4096,
		[BSF_BLOCK_4160] = 4160, [BSF_BLOCK_4048] = 4048,
	};

	return selector < sizeof(bytes) / sizeof(*bytes) ? bytes[selector] : 0;
}

static enum guard crc_of(uint64_t format)
{
	switch (format & ~(uint64_t)(BSF_CRC_REPEAT | BSF_CRC_SEED_0)) {
	case BSF_CRC32:
		return GUARD_CRC32;
	case BSF_CRC32C:
		return GUARD_CRC32C;
	case BSF_CRC64_XP10:
		return GUARD_CRC64;
	default:
		return GUARD_NONE;
	}
}

static bool is_dif(enum guard guard)
{
	return guard == GUARD_DIF_CRC || guard == GUARD_DIF_CSUM;
}

/* ---- reserved bits: they must be 0, as other firmware may give them a meaning ---- */

static const uint32_t inline_words[INLINE_WORDS] = {
	FLD_BITS(BSF_INL_VALID) | FLD_BITS(BSF_INL_REFRESH) | FLD_BITS(BSF_INL_APP),
	FLD_BITS(BSF_INL_REF),
	FLD_BITS(BSF_INL_TYPE) | FLD_BITS(BSF_INL_REPEAT) | FLD_BITS(BSF_INL_SEED),
	FLD_BITS(BSF_INL_INC_REF) | FLD_BITS(BSF_INL_APPREF_ESC) | FLD_BITS(BSF_INL_APP_ESC) |
		FLD_BITS(BSF_INL_APP_MASK),
};

static const uint32_t signature_words[BSF_WORDS] = {
	FLD_BITS(BSF_KIND) | FLD_BITS(BSF_TYPE) | FLD_BITS(BSF_SAME_BLOCKS) | FLD_BITS(BSF_CHECK) |
		FLD_BITS(BSF_WIRE_BS) | FLD_BITS(BSF_MEM_BS),
	FLD_BITS(BSF_RAW_SIZE),
	FLD_BITS(BSF_WIRE_FORMAT) | FLD_BITS(BSF_WIRE_PSV),
	FLD_BITS(BSF_MEM_FORMAT) | FLD_BITS(BSF_MEM_PSV),
	[8] = ALL_BITS,
	ALL_BITS,
	ALL_BITS,
	ALL_BITS, /* checked by inline_words */
	[12] = ALL_BITS,
	ALL_BITS,
	ALL_BITS,
	ALL_BITS,
};

static const uint32_t crypto_words[BSF_WORDS] = {
	FLD_BITS(BSF_KIND) | FLD_BITS(BSF_TYPE) | FLD_BITS(CRYPTO_BSF_ORDER) |
		FLD_BITS(CRYPTO_BSF_STANDARD),
	FLD_BITS(BSF_RAW_SIZE),
	FLD_BITS(CRYPTO_BSF_BLOCK),
	[4] = ALL_BITS,
	ALL_BITS,
	ALL_BITS,
	ALL_BITS, /* tweak */
	[8] = FLD_BITS(CRYPTO_BSF_DEK),
	[10] = ALL_BITS,
	ALL_BITS, /* tag */
};

static bool has_only(const uint8_t *bytes, const uint32_t *known, unsigned int words)
{
	uint32_t other = 0;

	for (unsigned int i = 0; i < words; i++)
		other |= (uint32_t)fld_get(bytes, FLD(4 * i, 31, 0)) & ~known[i];
	return !other;
}

static bool is_empty(const uint8_t *inl)
{
	static const uint32_t nothing[INLINE_WORDS];

	return has_only(inl, nothing, INLINE_WORDS);
}

static bool decode_crc(uint64_t format, struct sig_domain *domain)
{
	domain->guard = crc_of(format);
	if (!(format & BSF_CRC_SEED_0))
		domain->start =
			domain->guard == GUARD_CRC64 ? UINT64_MAX : (uint64_t)UINT32_MAX << 32;
	return domain->guard && domain->block && format & BSF_CRC_REPEAT;
}

static bool decode_dif(const uint8_t *inl, struct sig_domain *domain)
{
	uint64_t type = fld_get(inl, BSF_INL_TYPE);

	domain->guard = type == BSF_DIF_CRC ? GUARD_DIF_CRC : GUARD_DIF_CSUM;
	domain->start = (fld_get(inl, BSF_INL_SEED) ? (uint64_t)UINT16_MAX << 48 : 0) |
			fld_get(inl, BSF_INL_APP) << 32 | fld_get(inl, BSF_INL_REF);
	domain->app_mask = (uint16_t)fld_get(inl, BSF_INL_APP_MASK);
	domain->ref_counts = fld_get(inl, BSF_INL_INC_REF);
	domain->escape_app = fld_get(inl, BSF_INL_APP_ESC);
	domain->escape_app_ref = fld_get(inl, BSF_INL_APPREF_ESC);
	return (type == BSF_DIF_CRC || type == BSF_DIF_CSUM) && domain->block &&
	       fld_get(inl, BSF_INL_REPEAT) && has_only(inl, inline_words, INLINE_WORDS);
}

/* Decodes one domain. Returns false if the adapter does not support the format. */
static bool decode_domain(uint64_t format, uint64_t selector, uint32_t psv, const uint8_t *inl,
			  struct sig_domain *domain)
{
	*domain = (struct sig_domain){ .block = block_bytes(selector), .psv = psv };
	if (fld_get(inl, BSF_INL_VALID))
		return !format && decode_dif(inl, domain);
	return is_empty(inl) && (!format || decode_crc(format, domain));
}

static bool decode_signature(const uint8_t *bsf, struct sig *sig)
{
	bool same = fld_get(bsf, BSF_SAME_BLOCKS);
	uint64_t mem_bs = fld_get(bsf, BSF_MEM_BS);
	uint64_t wire_bs = same ? mem_bs : fld_get(bsf, BSF_WIRE_BS);

	if (!has_only(bsf, signature_words, BSF_WORDS))
		return false;
	*sig = (struct sig){
		.check = fld_get(bsf, BSF_CHECK),
		.copy = same ? fld_get(bsf, BSF_COPY) : 0,
	};
	if (!decode_domain(fld_get(bsf, BSF_WIRE_FORMAT), wire_bs, fld_get(bsf, BSF_WIRE_PSV),
			   fld_at(bsf, BSF_WIRE_INLINE), &sig->wire) ||
	    !decode_domain(fld_get(bsf, BSF_MEM_FORMAT), mem_bs, fld_get(bsf, BSF_MEM_PSV),
			   fld_at(bsf, BSF_MEM_INLINE), &sig->mem))
		return false;
	sig->on = sig->wire.guard || sig->mem.guard;
	return !same || sig->wire.guard == sig->mem.guard ||
	       (is_dif(sig->wire.guard) && is_dif(sig->mem.guard));
}

/* Decodes encryption. What precedes the signature on the way out concerns memory's bytes, and what
 * follows it the wire's. */
static bool decode_crypto(const uint8_t *bsf, struct crypt *crypt)
{
	uint64_t order = fld_get(bsf, CRYPTO_BSF_ORDER);
	const uint8_t *tweak = fld_at(bsf, CRYPTO_BSF_TWEAK);

	*crypt = (struct crypt){
		.on = true,
		.on_wire =
			order == BSF_ENCRYPTED_WIRE_SIGNATURE || order == BSF_ENCRYPTED_RAW_MEMORY,
		.encrypts_out =
			order == BSF_ENCRYPTED_WIRE_SIGNATURE || order == BSF_ENCRYPTED_RAW_WIRE,
		.unit = block_bytes(fld_get(bsf, CRYPTO_BSF_BLOCK)),
		.dek = fld_get(bsf, CRYPTO_BSF_DEK),
	};
	for (unsigned int i = 0; i < CIPHER_TWEAK; i++)
		crypt->tweak[i] = tweak[CIPHER_TWEAK - 1 - i];
	memcpy(crypt->tag, fld_at(bsf, CRYPTO_BSF_KEYTAG), DEK_TAG_SIZE);
	return has_only(bsf, crypto_words, BSF_WORDS) && order <= BSF_ENCRYPTED_RAW_MEMORY &&
	       crypt->unit && fld_get(bsf, CRYPTO_BSF_STANDARD) == BSF_AES_XTS;
}

/* Decodes one BSF, for signatures or encryption, or one of each. */
bool mlx5_decode_bsf(const uint8_t *bsf, size_t len, struct sig *sig, struct crypt *crypt)
{
	uint64_t kind = len == BSF_SIZE ? BSF_SIZE_WITH_INLINE : BSF_SIZE_SIG_AND_CRYPTO;

	*sig = (struct sig){ 0 };
	*crypt = (struct crypt){ 0 };
	if (len != BSF_SIZE && len != 2 * BSF_SIZE)
		return false;
	for (const uint8_t *at = bsf; at < bsf + len; at += BSF_SIZE) {
		bool last = at + BSF_SIZE == bsf + len;

		if (fld_get(at, BSF_KIND) != kind)
			return false;
		if (fld_get(at, BSF_TYPE) == BSF_OF_CRYPTO
			    ? !last || !decode_crypto(at, crypt)
			    : at != bsf || !decode_signature(at, sig))
			return false;
	}
	return true;
}

void mlx5_encode_sig_error(const struct mkey *key, uint32_t qpn, uint8_t *cqe)
{
	static const uint16_t syndromes[] = {
		[SIG_BAD_GUARD] = SIG_ERR_GUARD,
		[SIG_BAD_APP] = SIG_ERR_APP,
		[SIG_BAD_REF] = SIG_ERR_REF,
	};
	const struct sig_error *error = &key->sig_state.error;
	bool dif = is_dif(error->guard);
	uint64_t expected = error->expected, actual = error->actual;

	if (dif && error->kind == SIG_BAD_REF) {
		fld_set(cqe, SIG_ERR_EXPECTED_REF, expected);
		fld_set(cqe, SIG_ERR_ACTUAL_REF, actual);
	} else if (error->guard == GUARD_CRC64) {
		fld_set(cqe, SIG_ERR_EXPECTED_TRANS, expected >> 32);
		fld_set(cqe, SIG_ERR_ACTUAL_TRANS, actual >> 32);
		fld_set(cqe, SIG_ERR_EXPECTED_REF, expected & 0xffffffff);
		fld_set(cqe, SIG_ERR_ACTUAL_REF, actual & 0xffffffff);
	} else {
		unsigned int shift = dif && error->kind == SIG_BAD_GUARD ? 16 : 0;

		fld_set(cqe, SIG_ERR_EXPECTED_TRANS, expected << shift);
		fld_set(cqe, SIG_ERR_ACTUAL_TRANS, actual << shift);
	}
	fld_set(cqe, SIG_ERR_SYNDROME, syndromes[error->kind]);
	fld_set(cqe, SIG_ERR_DOMAIN, error->on_wire ? SIG_ERR_ON_WIRE : SIG_ERR_IN_MEMORY);
	fld_set(cqe, SIG_ERR_MKEY, key->key);
	fld_set(cqe, SIG_ERR_OFFSET, error->offset);
	fld_set(cqe, SIG_ERR_QPN, qpn);
	fld_set(cqe, CQE_OPCODE, CQE_OP_SIG_ERR);
}

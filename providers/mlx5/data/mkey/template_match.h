/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * template_match.h - reuses the format of an earlier signature or encryption of the same key: if
 * only tags or tweak differ, only these are written. sig.c and crypt.c build formats from any
 * attributes, and decide which may be reused.
 */
#ifndef PROVIDERS_MLX5_DATA_MKEY_TEMPLATE_MATCH_H
#define PROVIDERS_MLX5_DATA_MKEY_TEMPLATE_MATCH_H

#include <string.h>

#include "prm/mlx5/bsf.h"
#include "providers/common/seg.h"
#include "providers/mlx5/mkey.h"

/* Returns the first six bytes of RAW, followed by 0 in place of the last two, which are padding and
 * may have any value. */
static inline uint64_t first_six_bytes(uint64_t raw)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	return raw << 16;
#else
	return raw >> 16 << 16;
#endif
}

static inline uint64_t first_five_bytes(uint64_t raw)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	return raw << 24;
#else
	return raw >> 24;
#endif
}

/* ---- signatures */

static inline uint64_t dif_start(const struct mlx5dv_sig_t10dif *dif)
{
	return (uint64_t)dif->bg << 48 | (uint64_t)dif->app_tag << 32 | dif->ref_tag;
}

static inline void dif_put_tags(uint8_t *part, uint64_t *state, const struct mlx5dv_sig_t10dif *dif)
{
#ifdef __SSSE3__
	/* Shuffle order: guard and tags in big-endian order, for the start of the state and for
	 * PART. */
	const __m128i order = _mm_setr_epi8(-1, -1, 7, 6, 11, 10, 9, 8, 5, 4, 7, 6, 11, 10, 9, 8);
	const __m128i valid =
		_mm_setr_epi8((char)0xc0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
	const __m128i both =
		_mm_or_si128(_mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)dif), order), valid);

	static_assert(FLD_BITS(BSF_INL_VALID) + FLD_BITS(BSF_INL_REFRESH) == 0xc0000000u &&
			      BSF_INL_APP == FLD(0x0, 15, 0) && sizeof(*dif) == 16,
		      "PRM: BSF, inline part");
	_mm_storel_pi((__m64 *)part, _mm_castsi128_ps(both));
	_mm_storeh_pi((__m64 *)state, _mm_castsi128_ps(both));
#else
	seg_put_pair(part,
		     FLD_BITS(BSF_INL_VALID) | FLD_BITS(BSF_INL_REFRESH) |
			     (uint32_t)dif->app_tag << FLD_SHIFT(BSF_INL_APP),
		     dif->ref_tag);
	*state = htobe64(dif_start(dif));
#endif
}

/* Returns whether A and B differ only in their tags. ORs all differences and branches once, because
 * usually there are none. */
static inline bool dif_is_like(const struct mlx5dv_sig_t10dif *a, const struct mlx5dv_sig_t10dif *b)
{
#ifdef __AVX__
	const __m128i counts = _mm_setr_epi16(-1, -1, -1, 0, 0, 0, -1, 0);

	static_assert(offsetof(struct mlx5dv_sig_t10dif, app_tag) == 6 &&
			      offsetof(struct mlx5dv_sig_t10dif, flags) == 12 && sizeof(*a) == 16,
		      "bg_type, bg, app_tag, ref_tag, flags, and two bytes that are nothing");
	return _mm_testz_si128(_mm_xor_si128(_mm_loadu_si128((const __m128i *)a),
					     _mm_loadu_si128((const __m128i *)b)),
			       counts);
#else
	uint64_t first_a, first_b;

	static_assert(offsetof(struct mlx5dv_sig_t10dif, app_tag) == 6, "bg_type, bg, app_tag");
	memcpy(&first_a, a, sizeof(first_a));
	memcpy(&first_b, b, sizeof(first_b));
	return !(first_six_bytes(first_a ^ first_b) | (uint32_t)(a->flags ^ b->flags));
#endif
}

SEG_INLINE bool side_comes_again(const struct mlx5dv_sig_block_domain *side,
				 const struct mkey_sig_given *given, uint8_t *part,
				 struct mkey_start *start)
{
	/* Each return value is a constant, so that the compiler makes jumps instead of a
	 * boolean. */
	if (!side) {
		if (given->is_absent)
			return true;
		return false;
	}
	if (((uint32_t)side->sig_type ^ (uint32_t)given->type) |
	    ((uint32_t)side->block_size ^ (uint32_t)given->block_size) | side->comp_mask |
	    given->is_absent)
		return false;
	if (likely(given->type == MLX5DV_SIG_TYPE_T10DIF)) {
		const struct mlx5dv_sig_t10dif *dif = side->sig.dif;

		if (unlikely(!dif_is_like(dif, &given->sig.dif)))
			return false;
		dif_put_tags(part, &start->state, dif);
		return true;
	}
	if (side->sig.crc->type != given->sig.crc.type ||
	    side->sig.crc->seed != given->sig.crc.seed)
		return false;
	return true;
}

/* Returns flags and masks of ATTR as one word, so that one compare checks them. The word of valid
 * flags and masks never equals MKEY_GIVEN_NOTHING. */
static inline uint64_t sig_given(const struct mlx5dv_sig_block_attr *attr)
{
	uint64_t raw;

	static_assert(offsetof(struct mlx5dv_sig_block_attr, check_mask) ==
				      offsetof(struct mlx5dv_sig_block_attr, flags) + 4 &&
			      offsetof(struct mlx5dv_sig_block_attr, comp_mask) ==
				      offsetof(struct mlx5dv_sig_block_attr, flags) + 8,
		      "flags, check_mask, copy_mask, and two bytes that are nothing");
	memcpy(&raw, &attr->flags, sizeof(raw));
	return first_six_bytes(raw);
}

/* Updates FORMAT for ATTR if only tags differ. Returns false if the format must be built anew. */
static inline bool sig_comes_again(const struct mlx5dv_sig_block_attr *attr,
				   struct mkey_sig_format *format)
{
	if (unlikely((sig_given(attr) ^ format->given) | attr->comp_mask))
		return false;
	if (!side_comes_again(attr->mem, &format->given_mem, fld_at(format->bsf, BSF_MEM_INLINE),
			      &format->mem_start))
		return false;
	if (!side_comes_again(attr->wire, &format->given_wire, fld_at(format->bsf, BSF_WIRE_INLINE),
			      &format->wire_start))
		return false;
	return true;
}

/* ---- encryption */

/* Writes the tweak. Programs pass it in little-endian order; a device that counts units needs
 * big-endian order. The key stores the order (ctrl_words.h). */
static inline void crypt_put_tweak(uint8_t *to, bool counts_units, const char *tweak)
{
	uint64_t half[2];

	static_assert(sizeof(half) == BSF_TWEAK_SIZE, "PRM: Crypto BSF");
	memcpy(half, tweak, sizeof(half));
	if (counts_units) {
		const uint64_t low = half[0];

		half[0] = __builtin_bswap64(half[1]);
		half[1] = __builtin_bswap64(low);
	}
	memcpy(to, half, sizeof(half));
}

static inline void crypt_put_tweak_as(uint8_t *to, const struct mlx5_mkey *mkey, const char *tweak)
{
#ifdef __SSSE3__
	_mm_storeu_si128((__m128i *)to,
			 _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)tweak),
					  _mm_loadu_si128((const __m128i *)mkey->tweak_order)));
#else
	crypt_put_tweak(to, mkey->encrypts_units, tweak);
#endif
}

/* Returns the differing bits of standard, direction, order and unit size of A and B. The direction
 * (encrypt_on_tx) is a single byte. */
static inline uint64_t crypt_differs(const struct mlx5dv_crypto_attr *a,
				     const struct mlx5dv_crypto_attr *b)
{
	uint64_t standard[2], order[2];

	static_assert(offsetof(struct mlx5dv_crypto_attr, encrypt_on_tx) == 4 &&
			      offsetof(struct mlx5dv_crypto_attr, signature_crypto_order) == 8 &&
			      offsetof(struct mlx5dv_crypto_attr, data_unit_size) == 12,
		      "standard and direction, then order and size");
	memcpy(&standard[0], a, sizeof(standard[0]));
	memcpy(&standard[1], b, sizeof(standard[1]));
	memcpy(&order[0], &a->signature_crypto_order, sizeof(order[0]));
	memcpy(&order[1], &b->signature_crypto_order, sizeof(order[1]));
	return first_five_bytes(standard[0] ^ standard[1]) | (order[0] ^ order[1]);
}

/* Updates the format for ATTR if only tweak and key tag differ; otherwise returns false. Compares
 * the DEK's id, too, because a new DEK may have the address of a destroyed one. */
static inline bool crypt_comes_again(const struct mlx5_mkey *mkey,
				     const struct mlx5dv_crypto_attr *attr,
				     struct mkey_crypt_format *format)
{
	const struct mlx5dv_crypto_attr *given = &format->given;

	if (attr->dek != given->dek)
		return false;
	if (crypt_differs(attr, given) | attr->comp_mask | (attr->dek->object.id ^ format->dek))
		return false;
	crypt_put_tweak_as(fld_at(format->bsf, CRYPTO_BSF_TWEAK), mkey, attr->initial_tweak);
	memcpy(fld_at(format->bsf, CRYPTO_BSF_KEYTAG), attr->keytag, BSF_KEYTAG_SIZE);
	return true;
}

#endif

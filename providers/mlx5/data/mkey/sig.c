/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sig.c - signatures of a memory key: converts the program's attributes to the device's format
 * (BSF, and the initial signature state).
 *
 * PRM: BSF, SET_PSV
 */
#include <string.h>

#include "prm/mlx5/bsf.h"
#include "providers/common/seg.h"
#include "providers/mlx5/data/mkey/template_match.h"
#include "providers/mlx5/data/mkey/ctrl_words.h"
#include "providers/mlx5/mkey.h"

enum {
	ALL_BYTES = 0xff,
	GUARD_BYTES = MLX5DV_SIG_MASK_T10DIF_GUARD,
	APP_BYTES = MLX5DV_SIG_MASK_T10DIF_APPTAG,
	REF_BYTES = MLX5DV_SIG_MASK_T10DIF_REFTAG,
	CRC32_BYTES = MLX5DV_SIG_MASK_CRC32,
};

struct side {
	uint32_t selector;
	uint32_t format; /* checksum (for kinds other than T10-DIF) and PSV */
	uint8_t kind;
	uint64_t start;
};

/* Shifts VALUE into the word of FIELD, because the format is written in whole words. */
static inline uint32_t in_word(uint32_t field, uint32_t value)
{
	return value << FLD_SHIFT(field);
}

static inline bool is_seed(uint64_t seed, uint64_t all_ones)
{
	return !seed || seed == all_ones;
}

static inline void put_dif(uint8_t *part, uint64_t *start, const struct mlx5dv_sig_t10dif *dif)
{
	const uint32_t type = dif->bg_type == MLX5DV_SIG_T10DIF_CRC ? BSF_DIF_CRC : BSF_DIF_CSUM;
	uint32_t rules = FLD_BITS(BSF_INL_APP_MASK);

	if (dif->flags & MLX5DV_SIG_T10DIF_FLAG_REF_REMAP)
		rules |= FLD_BITS(BSF_INL_INC_REF);
	if (dif->flags & MLX5DV_SIG_T10DIF_FLAG_APP_REF_ESCAPE)
		rules |= FLD_BITS(BSF_INL_APPREF_ESC);
	else if (dif->flags & MLX5DV_SIG_T10DIF_FLAG_APP_ESCAPE)
		rules |= FLD_BITS(BSF_INL_APP_ESC);
	dif_put_tags(part, start, dif);
	seg_put_pair(part + 8,
		     in_word(BSF_INL_TYPE, type) | FLD_BITS(BSF_INL_REPEAT) |
			     in_word(BSF_INL_SEED, dif->bg != 0),
		     rules);
}

static inline void put_no_dif(uint8_t *part)
{
	memset(part, 0, 16);
}

static inline const char *take_dif(struct side *side, const struct mlx5dv_sig_t10dif *dif,
				   uint8_t *part)
{
	if ((unsigned int)dif->bg_type > MLX5DV_SIG_T10DIF_CSUM)
		return "bg_type is none that there is";
	if (dif->flags & ~(MLX5DV_SIG_T10DIF_FLAG_REF_REMAP | MLX5DV_SIG_T10DIF_FLAG_APP_ESCAPE |
			   MLX5DV_SIG_T10DIF_FLAG_APP_REF_ESCAPE))
		return "flags of T10-DIF are none that there are";
	if (!is_seed(dif->bg, UINT16_MAX))
		return "bg is neither 0 nor has all its bits set";
	put_dif(part, &side->start, dif);
	side->kind = MKEY_SIG_KIND_DIF;
	return NULL;
}

static const char *take_crc(struct side *side, const struct mlx5dv_sig_crc *crc, uint8_t *part)
{
	static const struct {
		uint8_t format, kind, shift; /* shift: position of the signature in its state */
		uint64_t all_ones;
	} types[] = {
		[MLX5DV_SIG_CRC_TYPE_CRC32] = { BSF_CRC32, MKEY_SIG_KIND_CRC32, 32, UINT32_MAX },
		[MLX5DV_SIG_CRC_TYPE_CRC32C] = { BSF_CRC32C, MKEY_SIG_KIND_CRC32, 32, UINT32_MAX },
		[MLX5DV_SIG_CRC_TYPE_CRC64_XP10] = { BSF_CRC64_XP10, MKEY_SIG_KIND_CRC64, 0,
						     UINT64_MAX },
	};

	if ((unsigned int)crc->type >= ARRAY_SIZE(types))
		return "the CRC's type is none that there is";
	put_no_dif(part);
	side->kind = types[crc->type].kind;
	side->format |= in_word(BSF_WIRE_FORMAT, types[crc->type].format | BSF_CRC_REPEAT |
							 (crc->seed ? 0 : BSF_CRC_SEED_0));
	side->start = htobe64(crc->seed << types[crc->type].shift);
	return is_seed(crc->seed, types[crc->type].all_ones)
		       ? NULL
		       : "a seed is neither 0 nor has all its bits set";
}

static inline const char *take_side(struct side *side, const struct mlx5dv_sig_block_domain *from,
				    const struct mkey_psv *psv, uint8_t *part)
{
	*side = (struct side){ 0 };
	if (!from) {
		put_no_dif(part);
		return NULL;
	}
	if (from->comp_mask)
		return "comp_mask of a domain is not 0";
	if ((unsigned int)from->block_size >= MKEY_BLOCKS)
		return "block_size is none that there is";
	side->selector = mlx5_mkey_blocks[from->block_size].selector;
	side->format = psv->n;
	if (from->sig_type == MLX5DV_SIG_TYPE_T10DIF)
		return take_dif(side, from->sig.dif, part);
	if (from->sig_type == MLX5DV_SIG_TYPE_CRC)
		return take_crc(side, from->sig.crc, part);
	return "sig_type is none that there is";
}

static inline uint32_t checksum_of(const struct side *side)
{
	return side->format >> FLD_SHIFT(BSF_WIRE_FORMAT);
}

/* Returns whether both domains have the same structure, in which case the device can copy
 * signatures from one to the other. The device's structure includes the CRC, but not its seed. */
static bool same_structure(const struct side *a, const struct side *b)
{
	return a->kind && a->kind == b->kind && a->selector == b->selector &&
	       !((checksum_of(a) ^ checksum_of(b)) & ~(uint32_t)BSF_CRC_SEED_0);
}

/* Returns the mask of signature bytes that both domains have in common; the device copies these
 * instead of computing them again. For T10-DIF, compares the words of the format: checksum and seed
 * are one word, and so is each tag. The reference tag is only common if both domains increment it,
 * or neither. */
static uint32_t common_bytes(const struct side *mem, const struct side *wire, const uint8_t *bsf)
{
	const uint8_t *a = fld_at(bsf, BSF_MEM_INLINE), *b = fld_at(bsf, BSF_WIRE_INLINE);
	uint32_t bytes = 0;

	if (mem->kind != MKEY_SIG_KIND_DIF) {
		if (checksum_of(mem) != checksum_of(wire))
			return 0;
		return mem->kind == MKEY_SIG_KIND_CRC64 ? ALL_BYTES : CRC32_BYTES;
	}
	if (!memcmp(a + 8, b + 8, 4))
		bytes |= GUARD_BYTES;
	if (!memcmp(a, b, 4))
		bytes |= APP_BYTES;
	if (!memcmp(a + 4, b + 4, 4) && fld_get(a, BSF_INL_INC_REF) == fld_get(b, BSF_INL_INC_REF))
		bytes |= REF_BYTES;
	return bytes;
}

static void keep_side(const struct mlx5dv_sig_block_domain *from, struct mkey_sig_given *given)
{
	given->is_absent = from == NULL;
	if (!from)
		return;
	given->type = from->sig_type;
	given->block_size = from->block_size;
	if (from->sig_type == MLX5DV_SIG_TYPE_T10DIF)
		given->sig.dif = *from->sig.dif;
	else
		given->sig.crc = *from->sig.crc;
}

/* Stores the attributes for template matching. If tags of both domains are compared with each
 * other, the format depends on the tags, and cannot be reused. */
static void keep_given(const struct mlx5dv_sig_block_attr *attr, bool compares_tags,
		       struct mkey_sig_format *format)
{
	format->given = compares_tags ? MKEY_GIVEN_NOTHING : sig_given(attr);
	keep_side(attr->mem, &format->given_mem);
	keep_side(attr->wire, &format->given_wire);
}

/* Returns the segment that initialises a PSV. PRM: SET_PSV */
static struct mkey_start start_of(const struct mkey_psv *psv, const struct side *side)
{
	return (struct mkey_start){ side_by_side(htobe32(psv->n), 0), side->start };
}

static_assert(BSF_RAW_SIZE == FLD(0x4, 31, 0) && BSF_WIRE_FORMAT == FLD(0x8, 31, 24) &&
		      BSF_WIRE_PSV == FLD(0x8, 23, 0) && BSF_MEM_FORMAT == FLD(0xc, 31, 24) &&
		      BSF_INL_REF == FLD(0x4, 31, 0) && BSF_INL_APP_MASK == FLD(0xc, 15, 0),
	      "PRM: BSF, word by word");

const char *mlx5_mkey_take_sig(const struct mkey_sig *psvs,
			       const struct mlx5dv_sig_block_attr *attr,
			       struct mkey_sig_format *format)
{
	const bool copies = attr->flags & MLX5DV_SIG_BLOCK_ATTR_FLAG_COPY_MASK;
	uint32_t first = in_word(BSF_CHECK, attr->check_mask);
	uint8_t *const bsf = format->bsf;
	struct side mem, wire;
	const char *why;
	bool same;

	format->given = MKEY_GIVEN_NOTHING;
	if (!attr->mem && !attr->wire)
		return "neither mem nor wire is there";
	if (attr->comp_mask || attr->flags & ~(uint32_t)MLX5DV_SIG_BLOCK_ATTR_FLAG_COPY_MASK)
		return "flags or comp_mask have something that is not known";
	why = take_side(&mem, attr->mem, &psvs->mem, fld_at(bsf, BSF_MEM_INLINE));
	if (why)
		return why;
	why = take_side(&wire, attr->wire, &psvs->wire, fld_at(bsf, BSF_WIRE_INLINE));
	if (why)
		return why;
	first |= in_word(BSF_MEM_BS, mem.selector);
	same = same_structure(&mem, &wire);
	if (same)
		first |= FLD_BITS(BSF_SAME_BLOCKS) |
			 in_word(BSF_COPY,
				 copies ? attr->copy_mask : common_bytes(&mem, &wire, bsf));
	else if (copies && attr->wire) /* without a wire domain, the mask is unused */
		return "a copy_mask is for domains of the same structure";
	else
		first |= in_word(BSF_WIRE_BS, wire.selector);
	/* Words that are not written are 0 since the key's creation. */
	seg_put_pair(bsf, first, UINT32_MAX); /* of any length */
	seg_put_pair(bsf + 8, wire.format, mem.format);
	format->mem_start = start_of(&psvs->mem, &mem);
	format->wire_start = start_of(&psvs->wire, &wire);
	format->mem = mem.kind;
	format->wire = wire.kind;
	format->told = (mem.kind && wire.kind ? MKEY_SIG_SET_TWICE : MKEY_SIG_SET)
		       << SIG_TOLD_SHIFT;
	keep_given(attr, same && !copies && mem.kind == MKEY_SIG_KIND_DIF, format);
	return NULL;
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * mkey_sig.c - signatures of a memory key: what programs say of them, as the device wants it (byte
 * stream format and signature state), and what the device says of those that are wrong.
 *
 * PRM: BSF, SET_PSV, Signature Error CQE
 */
#include <string.h>

#include "prm/mlx5/bsf.h"
#include "providers/common/seg.h"
#include "providers/mlx5/mkey.h"

enum {
	ALL_BYTES = 0xff,
	GUARD_BYTES = MLX5DV_SIG_MASK_T10DIF_GUARD,
	APP_BYTES = MLX5DV_SIG_MASK_T10DIF_APPTAG,
	REF_BYTES = MLX5DV_SIG_MASK_T10DIF_REFTAG,
	CRC32_BYTES = MLX5DV_SIG_MASK_CRC32,
};

/* ---- what programs say ---- */

static uint64_t all_ones(const struct mkey_sig_domain *domain)
{
	if (domain->is_dif)
		return UINT16_MAX;
	return domain->type == MLX5DV_SIG_CRC_TYPE_CRC64_XP10 ? UINT64_MAX : UINT32_MAX;
}

static const char *take_dif(struct mkey_sig_domain *domain, const struct mlx5dv_sig_t10dif *dif)
{
	domain->is_dif = true;
	domain->type = (uint8_t)dif->bg_type;
	domain->seed = dif->bg;
	domain->app_tag = dif->app_tag;
	domain->ref_tag = dif->ref_tag;
	domain->flags = dif->flags;
	if (dif->bg_type != MLX5DV_SIG_T10DIF_CRC && dif->bg_type != MLX5DV_SIG_T10DIF_CSUM)
		return "bg_type is none that there is";
	if (dif->flags & ~(MLX5DV_SIG_T10DIF_FLAG_REF_REMAP | MLX5DV_SIG_T10DIF_FLAG_APP_ESCAPE |
			   MLX5DV_SIG_T10DIF_FLAG_APP_REF_ESCAPE))
		return "flags of T10-DIF are none that there are";
	return NULL;
}

static const char *take_crc(struct mkey_sig_domain *domain, const struct mlx5dv_sig_crc *crc)
{
	domain->is_dif = false;
	domain->type = (uint8_t)crc->type;
	domain->seed = crc->seed;
	if ((unsigned int)crc->type > MLX5DV_SIG_CRC_TYPE_CRC64_XP10)
		return "the CRC's type is none that there is";
	return NULL;
}

static const char *take_domain(struct mkey_sig_domain *domain,
			       const struct mlx5dv_sig_block_domain *from)
{
	const char *why;

	domain->on = from != NULL;
	if (!from)
		return NULL;
	domain->block = (uint8_t)from->block_size;
	if (from->comp_mask)
		return "comp_mask of a domain is not 0";
	if ((unsigned int)from->block_size > MLX5DV_BLOCK_SIZE_4160)
		return "block_size is none that there is";
	if (from->sig_type == MLX5DV_SIG_TYPE_T10DIF)
		why = take_dif(domain, from->sig.dif);
	else if (from->sig_type == MLX5DV_SIG_TYPE_CRC)
		why = take_crc(domain, from->sig.crc);
	else
		why = "sig_type is none that there is";
	if (why)
		return why;
	return domain->seed && domain->seed != all_ones(domain)
		       ? "a seed is neither 0 nor has all its bits set"
		       : NULL;
}

static bool same_structure(const struct mkey_sig_domain *a, const struct mkey_sig_domain *b)
{
	return a->on && b->on && a->block == b->block && a->is_dif == b->is_dif &&
	       (a->is_dif || a->type == b->type);
}

/* What both domains have alike need not be computed anew. */
static uint8_t alike(const struct mkey_sig_domain *a, const struct mkey_sig_domain *b)
{
	bool guard = a->type == b->type && a->seed == b->seed;
	bool count = (a->flags ^ b->flags) & MLX5DV_SIG_T10DIF_FLAG_REF_REMAP;
	uint8_t bytes = 0;

	if (!a->is_dif && !guard)
		return 0;
	if (!a->is_dif)
		return a->type == MLX5DV_SIG_CRC_TYPE_CRC64_XP10 ? ALL_BYTES : CRC32_BYTES;
	if (guard)
		bytes |= GUARD_BYTES;
	if (a->app_tag == b->app_tag)
		bytes |= APP_BYTES;
	if (a->ref_tag == b->ref_tag && !count)
		bytes |= REF_BYTES;
	return bytes;
}

const char *mlx5_mkey_take_sig(struct mkey_sig_config *sig,
			       const struct mlx5dv_sig_block_attr *attr)
{
	bool copies = attr->flags & MLX5DV_SIG_BLOCK_ATTR_FLAG_COPY_MASK;
	const char *why;

	if (!attr->mem && !attr->wire)
		return "neither mem nor wire is there";
	if (attr->comp_mask || attr->flags & ~(uint32_t)MLX5DV_SIG_BLOCK_ATTR_FLAG_COPY_MASK)
		return "flags or comp_mask have something that is not known";
	why = take_domain(&sig->mem, attr->mem);
	if (!why)
		why = take_domain(&sig->wire, attr->wire);
	if (why)
		return why;
	sig->same_blocks = same_structure(&sig->mem, &sig->wire);
	if (copies && !sig->same_blocks)
		return "a copy_mask is for domains of the same structure";
	sig->check = attr->check_mask;
	sig->copy = copies ? attr->copy_mask : alike(&sig->mem, &sig->wire);
	sig->state = MKEY_SIG_CHANGED;
	return NULL;
}

/* ---- what the device is told ---- */

static unsigned int block_selector(const struct mkey_sig_domain *domain)
{
	return domain->on ? mlx5_mkey_block_selector(domain->block) : 0;
}

static unsigned int crc_format(const struct mkey_sig_domain *domain)
{
	static const uint8_t formats[] = {
		[MLX5DV_SIG_CRC_TYPE_CRC32] = BSF_CRC32,
		[MLX5DV_SIG_CRC_TYPE_CRC32C] = BSF_CRC32C,
		[MLX5DV_SIG_CRC_TYPE_CRC64_XP10] = BSF_CRC64_XP10,
	};

	if (!domain->on || domain->is_dif)
		return 0;
	return formats[domain->type] | BSF_CRC_REPEAT | (domain->seed ? 0 : BSF_CRC_SEED_0);
}

/* The formats are written word by word. */
static uint32_t in_word(uint32_t field, uint32_t value)
{
	return value << FLD_SHIFT(field);
}

static uint32_t escape_of(const struct mkey_sig_domain *domain)
{
	if (domain->flags & MLX5DV_SIG_T10DIF_FLAG_APP_REF_ESCAPE)
		return FLD_BITS(BSF_INL_APPREF_ESC);
	return domain->flags & MLX5DV_SIG_T10DIF_FLAG_APP_ESCAPE ? FLD_BITS(BSF_INL_APP_ESC) : 0;
}

static void put_inline(const struct mkey_sig_domain *domain, uint8_t *part)
{
	const uint32_t counts = domain->flags & MLX5DV_SIG_T10DIF_FLAG_REF_REMAP;
	const uint32_t type = domain->type == MLX5DV_SIG_T10DIF_CRC ? BSF_DIF_CRC : BSF_DIF_CSUM;

	if (!domain->on || !domain->is_dif)
		return;
	seg_put_pair(part,
		     FLD_BITS(BSF_INL_VALID) | FLD_BITS(BSF_INL_REFRESH) |
			     in_word(BSF_INL_APP, domain->app_tag),
		     domain->ref_tag);
	seg_put_pair(part + 8,
		     in_word(BSF_INL_TYPE, type) | FLD_BITS(BSF_INL_REPEAT) |
			     in_word(BSF_INL_SEED, domain->seed != 0),
		     (counts ? FLD_BITS(BSF_INL_INC_REF) : 0) | escape_of(domain) |
			     FLD_BITS(BSF_INL_APP_MASK));
}

static uint32_t format_word(const struct mkey_sig_domain *domain, const struct mkey_psv *psv)
{
	return in_word(BSF_WIRE_FORMAT, crc_format(domain)) | (domain->on ? psv->n : 0);
}

void mlx5_mkey_put_bsf(const struct mkey_sig *psvs, const struct mkey_sig_config *sig, bool on,
		       bool encrypts, uint8_t *bsf)
{
	uint32_t first =
		in_word(BSF_KIND, encrypts ? BSF_SIZE_SIG_AND_CRYPTO : BSF_SIZE_WITH_INLINE);

	if (on)
		first |= in_word(BSF_SAME_BLOCKS, sig->same_blocks) |
			 in_word(BSF_CHECK, sig->check) |
			 in_word(BSF_WIRE_BS,
				 sig->same_blocks ? sig->copy : block_selector(&sig->wire)) |
			 in_word(BSF_MEM_BS, block_selector(&sig->mem));
	seg_put_pair(bsf, first, UINT32_MAX); /* of any length */
	if (!on)
		return;
	seg_put_pair(bsf + 8, format_word(&sig->wire, &psvs->wire),
		     format_word(&sig->mem, &psvs->mem));
	put_inline(&sig->wire, fld_at(bsf, BSF_WIRE_INLINE));
	put_inline(&sig->mem, fld_at(bsf, BSF_MEM_INLINE));
}

static_assert(BSF_RAW_SIZE == FLD(0x4, 31, 0) && BSF_WIRE_FORMAT == FLD(0x8, 31, 24) &&
		      BSF_WIRE_PSV == FLD(0x8, 23, 0) && BSF_MEM_FORMAT == FLD(0xc, 31, 24) &&
		      BSF_INL_REF == FLD(0x4, 31, 0) && BSF_INL_APP_MASK == FLD(0xc, 15, 0),
	      "PRM: BSF, word by word");

uint64_t mlx5_mkey_psv_start(const struct mkey_sig_domain *domain)
{
	if (domain->is_dif)
		return domain->seed << 48 | (uint64_t)domain->app_tag << 32 | domain->ref_tag;
	return domain->type == MLX5DV_SIG_CRC_TYPE_CRC64_XP10 ? domain->seed : domain->seed << 32;
}

/* ---- what the device says ---- */

void mlx5_mkey_take_error(const struct mlx5_context *ctx, const void *cqe)
{
	uint32_t key = (uint32_t)fld_get(cqe, SIG_ERR_MKEY);
	struct mlx5_mkey *mkey = ctx->sig_keys ? id_find(ctx->sig_keys, key >> 8) : NULL;

	if (!mkey) {
		verbs_warn("poll_cq: a signature error of key 0x%x, which does not exist here: "
			   "skipped",
			   key);
		return;
	}
	mkey->sig->error = (struct mkey_sig_error){
		.happened = true,
		.syndrome = (uint16_t)fld_get(cqe, SIG_ERR_SYNDROME),
		.type = (uint8_t)fld_get(cqe, SIG_ERR_TYPE),
		.domain = (uint8_t)fld_get(cqe, SIG_ERR_DOMAIN),
		.expected = fld_get(cqe, SIG_ERR_EXPECTED_TRANS) << 32 |
			    fld_get(cqe, SIG_ERR_EXPECTED_REF),
		.actual =
			fld_get(cqe, SIG_ERR_ACTUAL_TRANS) << 32 | fld_get(cqe, SIG_ERR_ACTUAL_REF),
		.offset = fld_get(cqe, SIG_ERR_OFFSET),
	};
}

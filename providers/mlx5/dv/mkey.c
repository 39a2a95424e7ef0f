/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * mkey.c - creates and destroys memory keys by DevX commands. Work requests configure them later
 * (data/mkey/configure.c).
 */
#include <stdlib.h>
#include <string.h>

#include "prm/mlx5/bsf.h"
#include "prm/mlx5/cmd.h"
#include "prm/mlx5/mkc.h"
#include "providers/mlx5/data/mkey/ctrl_words.h"
#include "providers/mlx5/dv/dv.h"
#include "providers/mlx5/mkey.h"
#include "providers/mlx5/pd.h"
#include "util/alloc.h"

#define CREATE_FLAGS_KNOWN                                                                    \
	(MLX5DV_MKEY_INIT_ATTR_FLAGS_INDIRECT | MLX5DV_MKEY_INIT_ATTR_FLAGS_BLOCK_SIGNATURE | \
	 MLX5DV_MKEY_INIT_ATTR_FLAGS_CRYPTO | MLX5DV_MKEY_INIT_ATTR_FLAGS_UPDATE_TAG |        \
	 MLX5DV_MKEY_INIT_ATTR_FLAGS_REMOTE_INVALIDATE)

enum { ENTRIES_BLOCK = 4, ENTRIES_MAX = UINT16_MAX & ~3 }; /* translations come in blocks of 4 */

static int mkey_refuse(uint32_t flags, const char *why)
{
	verbs_warn("mlx5dv_create_mkey: create_flags is %#x: %s", flags, why);
	return EOPNOTSUPP;
}

/* Checks the device's capabilities. Signatures need error CQEs that name the domain. */
static int mkey_check_caps(struct mlx5_context *ctx, uint32_t flags)
{
	const struct mlx5_hca_caps *caps;
	int ret = mlx5_hca_caps_get(ctx, &caps);

	if (ret)
		return ret;
	if (flags & MLX5DV_MKEY_INIT_ATTR_FLAGS_BLOCK_SIGNATURE && !caps->signs_blocks)
		return mkey_refuse(flags, "the device has no signatures");
	if (flags & MLX5DV_MKEY_INIT_ATTR_FLAGS_CRYPTO && !caps->encrypts)
		return mkey_refuse(flags, "the device does not encrypt");
	return 0;
}

static int mkey_check_flags(struct mlx5_context *ctx, uint32_t flags)
{
	if (!flags || flags & ~(uint32_t)CREATE_FLAGS_KNOWN)
		return mkey_refuse(flags,
				   "there are no other keys than MLX5DV_MKEY_INIT_ATTR_FLAGS_*");
	if (flags & MLX5DV_MKEY_INIT_ATTR_FLAGS_UPDATE_TAG)
		return mkey_refuse(flags, "the device's keys have no tag that requests change");
	return flags & (MLX5DV_MKEY_INIT_ATTR_FLAGS_BLOCK_SIGNATURE |
			MLX5DV_MKEY_INIT_ATTR_FLAGS_CRYPTO)
		       ? mkey_check_caps(ctx, flags)
		       : 0;
}

static int psv_create(struct mlx5_context *ctx, uint32_t pdn, struct mkey_psv *psv)
{
	uint8_t in[PRM_CMD_IN_SIZE] = { 0 }, out[PRM_CREATE_PSV_OUT_SIZE] = { 0 };
	int ret;

	fld_set(in, CMD_IN_OPCODE, PRM_OP_CREATE_PSV);
	fld_set(in, CREATE_PSV_IN_NUM_PSV, 1);
	fld_set(in, CREATE_PSV_IN_PD, pdn);
	ret = mlx5_devx_object_create_out(ctx, in, sizeof(in), out, sizeof(out), &psv->object);
	if (ret)
		return ret;
	psv->n = (uint32_t)fld_get(out, CREATE_PSV_OUT_PSV(0));
	psv->exists = true;
	return 0;
}

static int psv_destroy(struct mlx5_context *ctx, struct mkey_psv *psv)
{
	int ret = psv->exists ? mlx5_devx_object_destroy(ctx, &psv->object) : 0;

	if (!ret)
		psv->exists = false;
	return ret;
}

static int sig_create(struct mlx5_context *ctx, uint32_t pdn, struct mkey_sig **out)
{
	struct mkey_sig *sig = calloc_for("mlx5dv_create_mkey", 1, sizeof(*sig));
	int ret;

	if (!sig)
		return ENOMEM;
	ret = psv_create(ctx, pdn, &sig->mem);
	if (!ret)
		ret = psv_create(ctx, pdn, &sig->wire);
	if (ret) {
		psv_destroy(ctx, &sig->mem);
		free(sig);
		return ret;
	}
	*out = sig;
	return 0;
}

/* Destroys the PSVs. On failure, keeps the remaining ones for another try, as the program may
 * destroy the key again. */
static int sig_destroy(struct mlx5_context *ctx, struct mkey_sig *sig)
{
	int ret = sig ? psv_destroy(ctx, &sig->wire) : 0;

	if (!ret && sig)
		ret = psv_destroy(ctx, &sig->mem);
	if (!ret)
		free(sig);
	return ret;
}

/* Adds the key to the table by which error CQEs find it. The first key with signatures creates the
 * table, as few contexts have such keys. */
static int sig_index(struct mlx5_mkey *mkey)
{
	static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER;
	struct mlx5_context *ctx = mkey->ctx;

	pthread_mutex_lock(&first);
	if (!ctx->sig_keys) {
		struct id_lookup *keys = calloc_for("mlx5dv_create_mkey", 1, sizeof(*keys));

		if (keys)
			provider_id_lookup_init(keys);
		__atomic_store_n(&ctx->sig_keys, keys, __ATOMIC_RELEASE);
	}
	pthread_mutex_unlock(&first);
	return ctx->sig_keys ? provider_id_set(ctx->sig_keys, mkey->object.id, mkey) : ENOMEM;
}

static int crypt_create(struct mlx5_mkey *mkey)
{
	const struct mlx5_hca_caps *caps;
	int ret = mlx5_hca_caps_get(mkey->ctx, &caps);

	if (ret)
		return ret;
	mkey->encrypts = true;
	mkey->encrypts_units = caps->encrypts_units;
	return 0;
}

/* Fills in the key's context. The key is free until a request sets a layout, so that every access
 * fails before. */
static void mkey_describe(const struct mlx5dv_mkey_init_attr *attr, const struct mlx5_mkey *mkey,
			  uint8_t *in)
{
	uint8_t *mkc = fld_at(in, CREATE_MKEY_IN_MKC);
	unsigned int formats = (mkey->sig != NULL) + (unsigned int)mkey->encrypts;
	uint32_t remote = attr->create_flags & MLX5DV_MKEY_INIT_ATTR_FLAGS_REMOTE_INVALIDATE;

	fld_set(in, CMD_IN_OPCODE, PRM_OP_CREATE_MKEY);
	fld_set(mkc, MKC_FREE, 1);
	fld_set(mkc, MKC_UMR_EN, 1);
	fld_set(mkc, MKC_LR, 1);
	fld_set(mkc, MKC_ACCESS_MODE_1_0, PRM_MKEY_MODE_KLMS);
	fld_set(mkc, MKC_QPN, PRM_MKC_ANY_QP);
	fld_set(mkc, MKC_EN_RINVAL, remote != 0);
	fld_set(mkc, MKC_PD, to_ppd(attr->pd)->pdn);
	fld_set(mkc, MKC_TRANSLATIONS_OCTWORD_SIZE, mkey->max_entries);
	fld_set(mkc, MKC_BSF_EN, formats != 0);
	fld_set(mkc, MKC_BSF_OCTWORD_SIZE, formats * BSF_SIZE / 16);
	fld_set(mkc, MKC_CRYPTO_EN, mkey->encrypts);
}

static int mkey_run_create(const struct mlx5dv_mkey_init_attr *attr, struct mlx5_mkey *mkey)
{
	uint8_t in[PRM_CREATE_MKEY_IN_SIZE] = { 0 };
	int ret;

	mkey_describe(attr, mkey, in);
	ret = mlx5_devx_object_create(mkey->ctx, in, sizeof(in), &mkey->object);
	if (ret)
		return ret;
	mkey->dv.lkey = mkey->dv.rkey = mkey->object.id << 8;
	mkey_prepare(mkey);
	if (!mkey->sig)
		return 0;
	ret = sig_index(mkey);
	if (ret)
		mlx5_devx_object_destroy(mkey->ctx, &mkey->object);
	return ret;
}

static int mkey_build(const struct mlx5dv_mkey_init_attr *attr, struct mlx5_mkey *mkey)
{
	int ret = 0;

	if (attr->create_flags & MLX5DV_MKEY_INIT_ATTR_FLAGS_BLOCK_SIGNATURE)
		ret = sig_create(mkey->ctx, to_ppd(attr->pd)->pdn, &mkey->sig);
	if (!ret && attr->create_flags & MLX5DV_MKEY_INIT_ATTR_FLAGS_CRYPTO)
		ret = crypt_create(mkey);
	mkey->computes = mkey->sig || mkey->encrypts;
	if (!ret)
		ret = mkey_run_create(attr, mkey);
	if (!ret)
		return 0;
	sig_destroy(mkey->ctx, mkey->sig);
	return ret;
}

DV_EXPORT struct mlx5dv_mkey *mlx5dv_create_mkey(struct mlx5dv_mkey_init_attr *attr)
{
	int ret = dv_check_context("mlx5dv_create_mkey", attr->pd->context);
	struct mlx5_mkey *mkey;

	if (!ret && attr->max_entries > ENTRIES_MAX) {
		verbs_warn("mlx5dv_create_mkey: max_entries is %u, limit %u", attr->max_entries,
			   ENTRIES_MAX);
		ret = EINVAL;
	}
	if (!ret)
		ret = mkey_check_flags(to_mctx(attr->pd->context), attr->create_flags);
	if (ret)
		return dv_fail(ret);
	mkey = calloc_for("mlx5dv_create_mkey", 1, sizeof(*mkey));
	if (!mkey)
		return dv_fail(ENOMEM);
	mkey->ctx = to_mctx(attr->pd->context);
	mkey->max_entries = (uint16_t)align_up(attr->max_entries, ENTRIES_BLOCK);
	ret = mkey_build(attr, mkey);
	if (ret) {
		free(mkey);
		return dv_fail(ret);
	}
	attr->max_entries = mkey->max_entries;
	return &mkey->dv;
}

/* Removes the key from the table before destroying it: another key may get its index right
 * after. */
static int mkey_destroy_object(struct mlx5_mkey *mkey)
{
	int ret;

	if (mkey->is_gone)
		return 0;
	if (mkey->sig)
		provider_id_clear(mkey->ctx->sig_keys, mkey->object.id);
	ret = mlx5_devx_object_destroy(mkey->ctx, &mkey->object);
	if (ret && mkey->sig)
		provider_id_set(mkey->ctx->sig_keys, mkey->object.id, mkey);
	mkey->is_gone = !ret;
	return ret;
}

DV_EXPORT int mlx5dv_destroy_mkey(struct mlx5dv_mkey *dv)
{
	struct mlx5_mkey *mkey = to_mkey(dv);
	int ret = mkey_destroy_object(mkey);

	if (!ret)
		ret = sig_destroy(mkey->ctx, mkey->sig);
	if (ret)
		return verbs_result(ret);
	free(mkey);
	return 0;
}

static int check_refuse(const struct mlx5_mkey *mkey, const char *why)
{
	verbs_warn("mlx5dv_mkey_check: key %#x: %s", mkey->dv.lkey, why);
	return EINVAL;
}

/* Describes the error. Its values, expected and actual, have the first byte of a signature in their
 * highest byte, except for a guard, which is alone in its word. */
static void describe_error(const struct mkey_sig_error *error, enum mkey_sig_kind kind,
			   struct mlx5dv_mkey_err *err)
{
	struct mlx5dv_sig_err *sig = &err->err.sig;

	sig->offset = error->offset;
	sig->expected_value = error->expected >> 32;
	sig->actual_value = error->actual >> 32;
	if (error->syndrome & SIG_ERR_REF) {
		err->err_type = MLX5DV_MKEY_SIG_BLOCK_BAD_REFTAG;
		sig->expected_value = (uint32_t)error->expected;
		sig->actual_value = (uint32_t)error->actual;
	} else if (error->syndrome & SIG_ERR_APP) {
		err->err_type = MLX5DV_MKEY_SIG_BLOCK_BAD_APPTAG;
		sig->expected_value &= UINT16_MAX;
		sig->actual_value &= UINT16_MAX;
	} else {
		err->err_type = MLX5DV_MKEY_SIG_BLOCK_BAD_GUARD;
		if (kind == MKEY_SIG_KIND_DIF) {
			sig->expected_value >>= 16;
			sig->actual_value >>= 16;
		} else if (kind == MKEY_SIG_KIND_CRC64) {
			sig->expected_value = error->expected;
			sig->actual_value = error->actual;
		}
	}
}

static int take_error_locked(struct mlx5_mkey *mkey, struct mlx5dv_mkey_err *err)
{
	struct mkey_sig *sig = mkey->sig;
	const struct mkey_sig_error *error = &sig->error;
	const struct mkey_sig_format *format = mkey_sig_at(mkey, mkey->config.sig);
	enum mkey_sig_kind kind = error->domain == SIG_ERR_ON_WIRE ? format->wire : format->mem;

	if (!sig->has_error)
		return 0;
	if (error->type)
		return check_refuse(mkey, "the device tells of an error that is not of a block");
	if (error->domain > SIG_ERR_IN_MEMORY || !kind)
		return check_refuse(mkey, "the device tells of an error in a domain without one");
	if (!(error->syndrome & (SIG_ERR_GUARD | SIG_ERR_APP | SIG_ERR_REF)))
		return check_refuse(mkey, "the device does not tell what was wrong");
	describe_error(error, kind, err);
	__atomic_store_n(&sig->has_error, false, __ATOMIC_RELAXED);
	mkey->sig_count++;
	return 0;
}

static int mkey_take_error(struct mlx5_mkey *mkey, struct mlx5dv_mkey_err *err)
{
	struct id_lookup *keys = mkey->ctx->sig_keys;
	int ret;

	pthread_mutex_lock(&keys->lock);
	ret = take_error_locked(mkey, err);
	pthread_mutex_unlock(&keys->lock);
	return ret;
}

/* A program of an older or newer release may have a shorter or longer struct, so size bounds the
 * copy. */
static int __attribute__((noinline))
mkey_report(struct mlx5_mkey *mkey, struct mlx5dv_mkey_err *info, size_t size)
{
	struct mlx5dv_mkey_err err = { .err_type = MLX5DV_MKEY_NO_ERR };
	int ret;

	if (!mkey->sig)
		return verbs_result(check_refuse(mkey,
						 "it was created without "
						 "MLX5DV_MKEY_INIT_ATTR_FLAGS_BLOCK_SIGNATURE"));
	ret = mkey_take_error(mkey, &err);
	if (ret)
		return verbs_result(ret);
	memset(info, 0, size);
	memcpy(info, &err, min_of(size, sizeof(err)));
	return 0;
}

DV_EXPORT int _mlx5dv_mkey_check(struct mlx5dv_mkey *dv, struct mlx5dv_mkey_err *info, size_t size)
{
	struct mlx5_mkey *mkey = to_mkey(dv);

	if (!mkey->sig || __atomic_load_n(&mkey->sig->has_error, __ATOMIC_ACQUIRE))
		return mkey_report(mkey, info, size);
	info->err_type = MLX5DV_MKEY_NO_ERR;
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * mkey.c - memory keys without contents, which work requests give them (data/send_wr_mkey.c): their
 * creation and destruction, by the device's own commands.
 */
#include <stdlib.h>

#include "prm/mlx5/cmd.h"
#include "prm/mlx5/mkc.h"
#include "providers/mlx5/dv/dv.h"
#include "providers/mlx5/mkey.h"
#include "providers/mlx5/pd.h"
#include "util/alloc.h"

#define CREATE_FLAGS_KNOWN                                                                    \
	(MLX5DV_MKEY_INIT_ATTR_FLAGS_INDIRECT | MLX5DV_MKEY_INIT_ATTR_FLAGS_BLOCK_SIGNATURE | \
	 MLX5DV_MKEY_INIT_ATTR_FLAGS_CRYPTO | MLX5DV_MKEY_INIT_ATTR_FLAGS_UPDATE_TAG |        \
	 MLX5DV_MKEY_INIT_ATTR_FLAGS_REMOTE_INVALIDATE)

enum { ENTRIES_BLOCK = 4 }; /* translations come in blocks of as many */

static int mkey_refuse(uint32_t flags, const char *why)
{
	verbs_warn("mlx5dv_create_mkey: create_flags is %#x: %s", flags, why);
	return EOPNOTSUPP;
}

static int mkey_check_flags(uint32_t flags)
{
	if (!flags || flags & ~(uint32_t)CREATE_FLAGS_KNOWN)
		return mkey_refuse(flags,
				   "there are no other keys than MLX5DV_MKEY_INIT_ATTR_FLAGS_*");
	if (flags & MLX5DV_MKEY_INIT_ATTR_FLAGS_UPDATE_TAG)
		return mkey_refuse(flags, "the device's keys have no tag that requests change");
	if (flags & MLX5DV_MKEY_INIT_ATTR_FLAGS_BLOCK_SIGNATURE)
		return mkey_refuse(flags, "signatures are not supported yet");
	if (flags & MLX5DV_MKEY_INIT_ATTR_FLAGS_CRYPTO)
		return mkey_refuse(flags, "encryption is not supported yet");
	return 0;
}

/* The key is free until a request lays something out. */
static void mkey_describe(const struct mlx5dv_mkey_init_attr *attr, uint16_t entries, uint8_t *in)
{
	uint8_t *mkc = fld_at(in, CREATE_MKEY_IN_MKC);
	uint32_t remote = attr->create_flags & MLX5DV_MKEY_INIT_ATTR_FLAGS_REMOTE_INVALIDATE;

	fld_set(in, CMD_IN_OPCODE, PRM_OP_CREATE_MKEY);
	fld_set(mkc, MKC_FREE, 1);
	fld_set(mkc, MKC_UMR_EN, 1);
	fld_set(mkc, MKC_LR, 1);
	fld_set(mkc, MKC_ACCESS_MODE_1_0, PRM_MKEY_MODE_KLMS);
	fld_set(mkc, MKC_QPN, PRM_MKC_ANY_QP);
	fld_set(mkc, MKC_EN_RINVAL, remote != 0);
	fld_set(mkc, MKC_PD, to_ppd(attr->pd)->pdn);
	fld_set(mkc, MKC_TRANSLATIONS_OCTWORD_SIZE, entries);
}

static int mkey_run_create(const struct mlx5dv_mkey_init_attr *attr, struct mlx5_mkey *mkey)
{
	uint8_t in[PRM_CREATE_MKEY_IN_SIZE] = { 0 };
	int ret;

	mkey_describe(attr, mkey->max_entries, in);
	ret = mlx5_devx_object_create(mkey->ctx, in, sizeof(in), &mkey->object);
	if (ret)
		return ret;
	mkey->dv.lkey = mkey->dv.rkey = mkey->object.id << 8;
	return 0;
}

DV_EXPORT struct mlx5dv_mkey *mlx5dv_create_mkey(struct mlx5dv_mkey_init_attr *attr)
{
	int ret = dv_check_context("mlx5dv_create_mkey", attr->pd->context);
	struct mlx5_mkey *mkey;

	if (!ret)
		ret = mkey_check_flags(attr->create_flags);
	if (ret)
		return dv_fail(ret);
	mkey = calloc_for("mlx5dv_create_mkey", 1, sizeof(*mkey));
	if (!mkey)
		return dv_fail(ENOMEM);
	mkey->ctx = to_mctx(attr->pd->context);
	mkey->max_entries = (uint16_t)align_up(attr->max_entries, ENTRIES_BLOCK);
	ret = mkey_run_create(attr, mkey);
	if (ret) {
		free(mkey);
		return dv_fail(ret);
	}
	attr->max_entries = mkey->max_entries;
	return &mkey->dv;
}

DV_EXPORT int mlx5dv_destroy_mkey(struct mlx5dv_mkey *dv)
{
	struct mlx5_mkey *mkey = to_mkey(dv);
	int ret = mlx5_devx_object_destroy(mkey->ctx, &mkey->object);

	if (!ret)
		free(mkey);
	return ret;
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * mkey.c - commands on memory keys, and their context. UMR and invalidation change a key later.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "prm/mlx5/cmd.h"
#include "prm/mlx5/mkc.h"
#include "softhca/device/core.h"
#include "softhca/device/format/mlx5/cmd/cmd.h"
#include "softhca/device/format/mlx5/mlx5.h"
#include "softhca/device/memory/memic.h"

CONTEXT_HOLDS(struct mkey, PRM_MKC_SIZE);
static_assert((int)MKEY_ANY_QP == PRM_MKC_ANY_QP, "PRM: mkc, qpn");

static unsigned int decode_access(const uint8_t *mkc)
{
	unsigned int access = 0;

	if (fld_get(mkc, MKC_LR))
		access |= MKEY_LOCAL_READ;
	if (fld_get(mkc, MKC_LW))
		access |= MKEY_LOCAL_WRITE;
	if (fld_get(mkc, MKC_RR))
		access |= MKEY_REMOTE_READ;
	if (fld_get(mkc, MKC_RW))
		access |= MKEY_REMOTE_WRITE;
	if (fld_get(mkc, MKC_A))
		access |= MKEY_REMOTE_ATOMIC;
	return access;
}

static bool is_free(const uint8_t *mkc)
{
	return fld_get(mkc, MKC_FREE);
}

static unsigned int access_mode(const uint8_t *mkc)
{
	return fld_get(mkc, MKC_ACCESS_MODE_4_2) << 2 | fld_get(mkc, MKC_ACCESS_MODE_1_0);
}

static const char *mkey_check_context(const uint8_t *mkc)
{
	unsigned int mode = access_mode(mkc);

	if (mode > PRM_MKEY_MODE_MEMIC)
		return "mkey: access mode is none of PA, MTT, KLM, KSM, SW_ICM, MEMIC";
	if (mode >= PRM_MKEY_MODE_SW_ICM &&
	    (is_free(mkc) || fld_get(mkc, MKC_UMR_EN) || fld_get(mkc, MKC_LENGTH64)))
		return "mkey: one of the adapter's memory has bounds, and UMR does not change it";
	if (is_free(mkc) && !fld_get(mkc, MKC_UMR_EN))
		return "mkey: a free key that UMR may not enable";
	if (fld_get(mkc, MKC_BSF_EN) && (mode != PRM_MKEY_MODE_KLMS || !fld_get(mkc, MKC_UMR_EN)))
		return "mkey: signatures are of keys of other keys, which UMR lays out";
	if (fld_get(mkc, MKC_BSF_OCTWORD_SIZE) > MKEY_BSF_MAX / XLT_OCTOWORD)
		return "mkey: more than two byte stream formats";
	if (fld_get(mkc, MKC_QPN) != PRM_MKC_ANY_QP)
		return "mkey: only UMR binds a key to a QP";
	if (mode == PRM_MKEY_MODE_MTT && fld_get(mkc, MKC_LENGTH64))
		return "mkey: length64 needs another access mode than MTT";
	if (mode == PRM_MKEY_MODE_MTT && !is_free(mkc) && fld_get(mkc, MKC_LOG_PAGE_SIZE) < 12)
		return "mkey: pages smaller than 4 KiB";
	if (mkey_range_wraps(fld_get(mkc, MKC_START_ADDR), fld_get(mkc, MKC_LEN)))
		return "mkey: address range wraps";
	if ((fld_get(mkc, MKC_UMR_EN) || mode == PRM_MKEY_MODE_KLMS || mode == PRM_MKEY_MODE_KSM) &&
	    fld_get(mkc, MKC_TRANSLATIONS_OCTWORD_SIZE) > XLT_OCTOWORDS_MAX)
		return "mkey: more translations than a key for UMR or of pieces can have";
	return NULL;
}

/* Stores the translations as they came if UMR may change the key. Rounds the table up to 64 bytes:
 * UMR writes such units, and drivers do so even in smaller tables. */
static int store_translations(struct mkey *mkey, const void *pas, size_t entries)
{
	size_t entry = mkey->mode == MKEY_MTT ? 8 : XLT_OCTOWORD;

	mkey->xlt_octowords = (fld_get(mkey->context, MKC_TRANSLATIONS_OCTWORD_SIZE) + 3) & ~3u;
	if (mkey->mode == MKEY_PA)
		return 0;
	return xlt_write(mkey, 0, pas, entries * entry);
}

/* Maps a key to user memory. The offset is where a page of that memory begins, as translations are
 * of whole pages; START_ADDR and the offset must have the same place in a page. Not with UMR: it
 * would change a page list, which such a key does not have. */
static int mkey_map_umem(struct hca *hca, struct mkey *mkey, const struct cmd *cmd)
{
	uint64_t offset = fld_get(cmd->in, CREATE_MKEY_IN_MKEY_UMEM_OFFSET);
	uint64_t in_page = (1ull << mkey->page_shift) - 1;
	int ret;

	if (mkey->mode != MKEY_MTT || mkey->free || mkey->umr_enabled)
		return EINVAL;
	mkey->umem = res_find(&hca->umems, fld_get(cmd->in, CREATE_MKEY_IN_MKEY_UMEM_ID));
	if (!mkey->umem)
		return ENOENT;
	if (offset & ((1ull << mkey->umem->page_shift) - 1))
		return EINVAL;
	ret = umem_map(mkey->umem, offset, mkey->len, &mkey->map);
	if (ret)
		return ret;
	if (mkey->page_shift > mkey->umem->page_shift ||
	    ((mkey->umem->page_offset + offset) ^ mkey->start) & in_page)
		return EINVAL;
	return 0;
}

static bool is_of_device(const struct mkey *mkey)
{
	return mkey->mode == MKEY_MEMIC || mkey->mode == MKEY_ICM;
}

static int mkey_map_pages(struct mkey *mkey, const struct cmd *cmd)
{
	size_t room, count = 2 * fld_get(mkey->context, MKC_TRANSLATIONS_OCTWORD_SIZE);
	const void *pas = cmd_pas(cmd, CREATE_MKEY_IN_PAS, &room);
	bool pages = mkey->mode == MKEY_MTT;
	int ret = 0;

	if (is_of_device(mkey))
		return 0;
	if (room > count)
		room = count;
	if (mkey->umr_enabled || !pages)
		ret = store_translations(mkey, pas, pages ? room : room / 2);
	if (ret || mkey->free || !pages)
		return ret;
	mkey->xlt_changed = false;
	return dma_map_pages(&mkey->map, pas, room, mkey->page_shift,
			     mkey->start & ((1ull << mkey->page_shift) - 1), mkey->len);
}

void mlx5_decode_mkey(struct mkey *mkey)
{
	static const enum mkey_mode modes[] = {
		[PRM_MKEY_MODE_PA] = MKEY_PA,       [PRM_MKEY_MODE_MTT] = MKEY_MTT,
		[PRM_MKEY_MODE_KLMS] = MKEY_KLMS,   [PRM_MKEY_MODE_KSM] = MKEY_KSM,
		[PRM_MKEY_MODE_MEMIC] = MKEY_MEMIC, [PRM_MKEY_MODE_SW_ICM] = MKEY_ICM,
	};

	mkey->key = mkey->n << 8 | (uint32_t)fld_get(mkey->context, MKC_MKEY_7_0);
	mkey->access = decode_access(mkey->context);
	mkey->mode = modes[access_mode(mkey->context)];
	mkey->whole = fld_get(mkey->context, MKC_LENGTH64) && mkey->mode != MKEY_MTT;
	mkey->free = is_free(mkey->context);
	mkey->umr_enabled = fld_get(mkey->context, MKC_UMR_EN);
	mkey->sig_count.expected = fld_get(mkey->context, MKC_EXPECTED_SIGERR_COUNT);
	mkey->must_encrypt = fld_get(mkey->context, MKC_CRYPTO_EN);
	mkey->may_invalidate = fld_get(mkey->context, MKC_EN_RINVAL);
	mkey->qpn = fld_get(mkey->context, MKC_QPN);
	mkey->start = fld_get(mkey->context, MKC_START_ADDR);
	if (is_of_device(mkey)) {
		mkey->device_at = mkey->start;
		mkey->start = 0;
	}
	mkey->len = fld_get(mkey->context, MKC_LEN);
	mkey->page_shift = fld_get(mkey->context, MKC_LOG_PAGE_SIZE);
}

static enum prm_status mkey_add(struct hca *hca, struct cmd *cmd, struct mkey *mkey)
{
	int ret = fld_get(cmd->in, CREATE_MKEY_IN_MKEY_UMEM_VALID) ? mkey_map_umem(hca, mkey, cmd)
								   : mkey_map_pages(mkey, cmd);

	if (ret == EINVAL)
		return cmd_fail(cmd, PRM_STAT_BAD_PARAM_ERR,
				"mkey: page list or umem does not fit");
	if (!ret)
		ret = res_add(&hca->mkeys, mkey, &mkey->n);
	if (ret)
		return cmd_errno(cmd, ret, "mkey: no such umem, or table is full");
	mlx5_decode_mkey(mkey);
	mkey->may_bind = fld_get(cmd->in, CREATE_MKEY_IN_MAY_BIND);
	mkey->is_region = fld_get(cmd->in, CREATE_MKEY_IN_IS_REGION);
	mkey->is_window = fld_get(cmd->in, CREATE_MKEY_IN_IS_WINDOW);
	mkey->pd->users++;
	if (mkey->umem)
		mkey->umem->users++;
	if (!mkey->on_demand)
		pins_take(hca, &mkey->map);
	fld_set(cmd->out, CREATE_MKEY_OUT_MKEY_INDEX, mkey->n);
	return PRM_STAT_OK;
}

enum prm_status mkey_create(struct hca *hca, struct cmd *cmd)
{
	const uint8_t *mkc = fld_at(cmd->in, CREATE_MKEY_IN_MKC);
	struct pd *pd = res_find(&hca->pds, fld_get(mkc, MKC_PD));
	const char *why = mkey_check_context(mkc);
	enum prm_status status;
	struct mkey *mkey;

	if (!why && access_mode(mkc) == PRM_MKEY_MODE_SW_ICM && !uctx_may_use_icm(hca))
		why = "mkey: the user has no INTERNAL_DEV_RES";
	if (why)
		return cmd_fail(cmd, PRM_STAT_BAD_PARAM_ERR, why);
	if (!pd)
		return cmd_fail(cmd, PRM_STAT_BAD_RES_ERR, "mkey: no such PD");
	mkey = calloc(1, sizeof(*mkey));
	if (!mkey)
		return cmd_errno(cmd, ENOMEM, "mkey");
	memcpy(mkey->context, mkc, PRM_MKC_SIZE);
	mkey->pd = pd;
	mkey->on_demand = hca->config.pages_on_demand && fld_get(cmd->in, CREATE_MKEY_IN_PG_ACCESS);
	mlx5_decode_mkey(mkey);
	if (mkey->mode == MKEY_MEMIC)
		mkey->memic = memic_get(hca, mkey->device_at, mkey->len);
	if (mkey->mode == MKEY_ICM)
		mkey->ste_block = ste_memory_get(hca, mkey->device_at, mkey->len);
	if (is_of_device(mkey) && !mkey->memic && !mkey->ste_block)
		status = cmd_fail(cmd, PRM_STAT_BAD_RES_ERR, "mkey: not in a block of memory");
	else
		status = mkey_add(hca, cmd, mkey);
	if (status)
		mkey_free(mkey);
	return status;
}

enum prm_status mkey_query(struct hca *hca, struct cmd *cmd)
{
	struct mkey *mkey = res_find(&hca->mkeys, fld_get(cmd->in, QUERY_MKEY_IN_MKEY_INDEX));
	uint8_t *mkc = fld_at(cmd->out, QUERY_MKEY_OUT_MKC);

	if (!mkey)
		return cmd_fail(cmd, PRM_STAT_BAD_RES_ERR, "mkey: no such key");
	memcpy(mkc, mkey->context, PRM_MKC_SIZE);
	fld_set(mkc, MKC_FREE, mkey->free);
	return PRM_STAT_OK;
}

enum prm_status mkey_destroy(struct hca *hca, struct cmd *cmd)
{
	struct mkey *mkey = res_find(&hca->mkeys, fld_get(cmd->in, DESTROY_MKEY_IN_MKEY_INDEX));

	if (!mkey || mkey == hca->sink_key)
		return cmd_fail(cmd, PRM_STAT_BAD_RES_ERR, "mkey: no such key");
	if (mkey->windows)
		return cmd_fail(cmd, PRM_STAT_RES_BUSY, "mkey: windows are bound to it");
	mkey_bind(mkey, NULL);
	res_remove(&hca->mkeys, mkey->n);
	mkey->pd->users--;
	if (mkey->umem)
		mkey->umem->users--;
	mkey_free(mkey);
	return PRM_STAT_OK;
}

int mlx5_add_special_key(struct hca *hca)
{
	struct mkey *mkey = calloc(1, sizeof(*mkey));
	int ret = mkey ? res_add(&hca->mkeys, mkey, &mkey->n) : ENOMEM;

	if (ret) {
		free(mkey);
		return ret;
	}
	fld_set(mkey->context, MKC_QPN, PRM_MKC_ANY_QP);
	fld_set(mkey->context, MKC_LR, 1);
	fld_set(mkey->context, MKC_LW, 1);
	fld_set(mkey->context, MKC_LENGTH64, 1);
	mlx5_decode_mkey(mkey);
	mkey->sink = true;
	hca->sink_key = mkey;
	return 0;
}

/* Reports the special keys. One key, which reads as zeroes and drops writes, is both null key and
 * dump-fill key. There is no reserved local key. */
enum prm_status mkey_query_special(struct hca *hca, struct cmd *cmd)
{
	fld_set(cmd->out, QUERY_SPECIAL_CONTEXTS_OUT_DUMP_FILL_MKEY, hca->sink_key->key);
	fld_set(cmd->out, QUERY_SPECIAL_CONTEXTS_OUT_NULL_MKEY, hca->sink_key->key);
	return PRM_STAT_OK;
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * mkey.c - memory keys: what a local or remote key lets a QP do, and where its bytes are.
 *
 * Direct keys only: a page list (MTT) or physical addresses (PA). A key is its index in the table
 * and a variant byte; both must match, so that a key of a destroyed region is noticed.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "softhca/device/core.h"

static unsigned int decode_access(const uint8_t *mkc)
{
	unsigned int access = 0;

	if (prm_get(mkc, MKC_LR))
		access |= MKEY_LOCAL_READ;
	if (prm_get(mkc, MKC_LW))
		access |= MKEY_LOCAL_WRITE;
	if (prm_get(mkc, MKC_RR))
		access |= MKEY_REMOTE_READ;
	if (prm_get(mkc, MKC_RW))
		access |= MKEY_REMOTE_WRITE;
	if (prm_get(mkc, MKC_A))
		access |= MKEY_REMOTE_ATOMIC;
	return access;
}

static const char *check_context(const uint8_t *mkc)
{
	uint64_t mode = prm_get(mkc, MKC_ACCESS_MODE_1_0);

	if (prm_get(mkc, MKC_ACCESS_MODE_4_2) || mode > PRM_MKEY_MODE_MTT)
		return "mkey: access mode is neither PA nor MTT";
	if (prm_get(mkc, MKC_FREE))
		return "mkey: free keys need UMR";
	if (prm_get(mkc, MKC_BSF_EN))
		return "mkey: signatures are not supported";
	if (prm_get(mkc, MKC_QPN) != 0xffffff)
		return "mkey: keys bound to a QP are not supported";
	if (mode == PRM_MKEY_MODE_MTT && prm_get(mkc, MKC_LENGTH64))
		return "mkey: length64 needs access mode PA";
	if (mode == PRM_MKEY_MODE_MTT && prm_get(mkc, MKC_LOG_PAGE_SIZE) < 12)
		return "mkey: pages smaller than 4 KiB";
	if (prm_get(mkc, MKC_START_ADDR) + prm_get(mkc, MKC_LEN) < prm_get(mkc, MKC_START_ADDR))
		return "mkey: address range wraps";
	return NULL;
}

static int map_pages(struct mkey *mkey, const struct cmd *cmd)
{
	unsigned int page_shift = prm_get(mkey->mkc, MKC_LOG_PAGE_SIZE);
	size_t room, count = 2 * prm_get(mkey->mkc, MKC_TRANSLATIONS_OCTWORD_SIZE);
	const void *pas = cmd_pas(cmd, CREATE_MKEY_IN_PAS, &room);

	if (mkey->pa)
		return 0;
	return dma_map_pages(&mkey->map, pas, room < count ? room : count, page_shift,
			     mkey->start & ((1ull << page_shift) - 1), mkey->len);
}

static void decode_context(struct mkey *mkey)
{
	mkey->access = decode_access(mkey->mkc);
	mkey->pa = prm_get(mkey->mkc, MKC_ACCESS_MODE_1_0) == PRM_MKEY_MODE_PA;
	mkey->whole = prm_get(mkey->mkc, MKC_LENGTH64);
	mkey->may_invalidate = prm_get(mkey->mkc, MKC_EN_RINVAL);
	mkey->start = prm_get(mkey->mkc, MKC_START_ADDR);
	mkey->len = prm_get(mkey->mkc, MKC_LEN);
}

static enum prm_status mkey_add(struct hca *hca, struct cmd *cmd, struct mkey *mkey)
{
	int ret = map_pages(mkey, cmd);

	if (ret == EINVAL)
		return cmd_fail(cmd, PRM_STAT_BAD_PARAM_ERR, "mkey: page list shorter than len");
	if (!ret)
		ret = res_add(&hca->mkeys, mkey, &mkey->n);
	if (ret) {
		dma_unmap(&mkey->map);
		return cmd_errno(cmd, ret, "mkey: table is full");
	}
	mkey->key = mkey->n << 8 | (uint32_t)prm_get(mkey->mkc, MKC_MKEY_7_0);
	mkey->pd->users++;
	prm_set(cmd->out, CREATE_MKEY_OUT_MKEY_INDEX, mkey->n);
	return PRM_STAT_OK;
}

enum prm_status mkey_create(struct hca *hca, struct cmd *cmd)
{
	const uint8_t *mkc = prm_at(cmd->in, CREATE_MKEY_IN_MKC);
	struct pd *pd = res_get(&hca->pds, prm_get(mkc, MKC_PD));
	const char *why = check_context(mkc);
	enum prm_status status;
	struct mkey *mkey;

	if (why)
		return cmd_fail(cmd, PRM_STAT_BAD_PARAM_ERR, why);
	if (prm_get(cmd->in, CREATE_MKEY_IN_MKEY_UMEM_VALID))
		return cmd_fail(cmd, PRM_STAT_BAD_PARAM_ERR, "mkey: umem is not supported");
	if (!pd)
		return cmd_fail(cmd, PRM_STAT_BAD_RES_ERR, "mkey: no such PD");
	mkey = calloc(1, sizeof(*mkey));
	if (!mkey)
		return cmd_errno(cmd, ENOMEM, "mkey");
	memcpy(mkey->mkc, mkc, PRM_MKC_SIZE);
	mkey->pd = pd;
	decode_context(mkey);
	status = mkey_add(hca, cmd, mkey);
	if (status)
		free(mkey);
	return status;
}

enum prm_status mkey_query(struct hca *hca, struct cmd *cmd)
{
	struct mkey *mkey = res_get(&hca->mkeys, prm_get(cmd->in, QUERY_MKEY_IN_MKEY_INDEX));
	uint8_t *mkc = prm_at(cmd->out, QUERY_MKEY_OUT_MKC);

	if (!mkey)
		return cmd_fail(cmd, PRM_STAT_BAD_RES_ERR, "mkey: no such key");
	memcpy(mkc, mkey->mkc, PRM_MKC_SIZE);
	prm_set(mkc, MKC_FREE, mkey->invalidated);
	return PRM_STAT_OK;
}

enum prm_status mkey_destroy(struct hca *hca, struct cmd *cmd)
{
	struct mkey *mkey = res_get(&hca->mkeys, prm_get(cmd->in, DESTROY_MKEY_IN_MKEY_INDEX));

	if (!mkey)
		return cmd_fail(cmd, PRM_STAT_BAD_RES_ERR, "mkey: no such key");
	res_remove(&hca->mkeys, mkey->n);
	mkey->pd->users--;
	mkey_free(mkey);
	return PRM_STAT_OK;
}

void mkey_free(struct mkey *mkey)
{
	dma_unmap(&mkey->map);
	free(mkey);
}

struct mkey *mkey_check(struct hca *hca, uint32_t key, const struct pd *pd, unsigned int access,
			uint64_t addr, uint64_t len)
{
	struct mkey *mkey = res_get(&hca->mkeys, key >> 8);

	if (!mkey || mkey->key != key || mkey->pd != pd || mkey->invalidated)
		return NULL;
	if ((mkey->access & access) != access)
		return NULL;
	if (mkey->whole)
		return mkey;
	if (addr < mkey->start || len > mkey->len || addr - mkey->start > mkey->len - len)
		return NULL;
	return mkey;
}

int mkey_dma(struct dma_batch *batch, const struct mkey *mkey, uint64_t addr, uint64_t len)
{
	if (mkey->pa)
		return dma_add(batch, addr, len);
	return dma_add_map(batch, &mkey->map, addr - mkey->start, len);
}

struct mkey *mkey_to_invalidate(struct hca *hca, uint32_t key, const struct pd *pd)
{
	struct mkey *mkey = res_get(&hca->mkeys, key >> 8);

	if (!mkey || mkey->key != key || mkey->pd != pd || !mkey->may_invalidate)
		return NULL;
	return mkey;
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * mpt.c - mlx4's commands on memory keys, and the entries of their table.
 *
 * The adapter writes a key that software hands over to the table as well. Software may change a key
 * there that it has taken back, and mark it by the entry's first byte: SYNC_TPT then reads the
 * entry.
 */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "prm/mlx4/mpt.h"
#include "softhca/device/core.h"
#include "softhca/device/format/mlx4/cmd/cmd.h"
#include "softhca/device/format/mlx4/firmware.h"
#include "softhca/log.h"

static_assert((int)M4_MPT_SIZE <= (int)KEY_CONTEXT_MAX, "the context is too small");
static_assert((int)M4_MPT_SIZE == (int)M4_DMPT_SIZE, "an entry of the table has its own size");

enum { FAST_REG_MAX = 1 << 16 }; /* most translations; Linux uses 512 */

static uint64_t entry_addr(const struct hca *hca, uint32_t n)
{
	uint64_t base = fld_get(hca->mlx4->init, M4_INIT_DMPT) & ~(uint64_t)(M4_ICM_PAGE - 1);

	return base + (uint64_t)n * M4_DMPT_SIZE;
}

static unsigned int decode_access(const uint8_t *mpt)
{
	return (fld_get(mpt, M4_MPT_LOCAL_READ) ? MKEY_LOCAL_READ : 0) |
	       (fld_get(mpt, M4_MPT_LOCAL_WRITE) ? MKEY_LOCAL_WRITE : 0) |
	       (fld_get(mpt, M4_MPT_REMOTE_READ) ? MKEY_REMOTE_READ : 0) |
	       (fld_get(mpt, M4_MPT_REMOTE_WRITE) ? MKEY_REMOTE_WRITE : 0) |
	       (fld_get(mpt, M4_MPT_ATOMIC) ? MKEY_REMOTE_ATOMIC : 0);
}

/* Checks a key for fast registration: it must be free, with room for translations. */
static const char *fast_reg_check(const uint8_t *mpt)
{
	uint32_t entries = fld_get(mpt, M4_MPT_ENTRIES);

	if (fld_get(mpt, M4_MPT_STATUS) != M4_MPT_FREE || !fld_get(mpt, M4_MPT_FAST_REG))
		return "mpt: a free key that is not for fast registration, or such a one in use";
	if (fld_get(mpt, M4_MPT_PHYSICAL) || fld_get(mpt, M4_MPT_MTT) % M4_MTT_SIZE)
		return "mpt: fast registration without translations";
	return !entries || entries > FAST_REG_MAX ? "mpt: no room for translations, or too much"
						  : NULL;
}

/* Checks an MPT. Only the low bits of a key's number are the index, as software uses the other bits
 * to make keys unique. */
static const char *mpt_check(const struct hca *hca, const uint8_t *mpt, uint32_t n)
{
	if ((fld_get(mpt, M4_MPT_KEY) & hca->mkey_mask) != n)
		return "mpt: a key with another index";
	if (!fld_get(mpt, M4_MPT_REGION))
		return fld_get(mpt, M4_MPT_PHYSICAL) ? "mpt: a window to no region" : NULL;
	if (fld_get(mpt, M4_MPT_STATUS) == M4_MPT_FREE || fld_get(mpt, M4_MPT_FAST_REG))
		return fast_reg_check(mpt);
	if (mkey_range_wraps(fld_get(mpt, M4_MPT_START), fld_get(mpt, M4_MPT_LENGTH)))
		return "mpt: address range wraps";
	if (!fld_get(mpt, M4_MPT_PHYSICAL) && fld_get(mpt, M4_MPT_LOG_PAGE_SIZE) < 12)
		return "mpt: pages smaller than 4 KiB";
	return NULL;
}

/* Makes a window, which has no memory until it is bound, to one piece of one region. A type 2
 * window begins as free, and may be invalidated. */
static void window_decode(struct mkey *mkey)
{
	mkey->mode = MKEY_KLMS;
	mkey->umr_enabled = true;
	mkey->free = true;
	mkey->may_invalidate = fld_get(mkey->context, M4_MPT_STATUS) == M4_MPT_FREE;
	mkey->xlt_octowords = 1;
	mkey->access = 0;
	mkey->may_bind = false; /* no windows may be bound to a window */
}

/* the registering request sets the other fields: see fast_reg.c */
static void fast_reg_decode(struct mkey *mkey)
{
	mkey->fast_reg = true;
	mkey->free = true;
	mkey->may_invalidate = fld_get(mkey->context, M4_MPT_INVALIDATE);
}

/* The longest region of physical addresses has no end. */
static void mpt_decode(struct mkey *mkey)
{
	const uint8_t *mpt = mkey->context;
	uint32_t key = fld_get(mpt, M4_MPT_KEY);

	mkey->key = key << 8 | key >> 24;
	mkey->access = decode_access(mpt);
	mkey->start = fld_get(mpt, M4_MPT_START);
	mkey->len = fld_get(mpt, M4_MPT_LENGTH);
	mkey->mode = fld_get(mpt, M4_MPT_PHYSICAL) ? MKEY_PA : MKEY_MTT;
	mkey->whole = mkey->mode == MKEY_PA && !~mkey->len;
	mkey->page_shift = fld_get(mpt, M4_MPT_LOG_PAGE_SIZE);
	mkey->qpn = MKEY_ANY_QP;
	mkey->may_bind = fld_get(mpt, M4_MPT_BIND);
	if (!fld_get(mpt, M4_MPT_REGION))
		window_decode(mkey);
	else if (fld_get(mpt, M4_MPT_FAST_REG))
		fast_reg_decode(mkey);
}

static int mpt_map(struct hca *hca, struct mkey *mkey)
{
	const struct m4_ring ring = {
		.mtt = fld_get(mkey->context, M4_MPT_MTT),
		.log_page = mkey->page_shift - 12,
		.skip = mkey->start & ((1ull << mkey->page_shift) - 1),
	};

	if (mkey->mode != MKEY_MTT || mkey->fast_reg)
		return 0;
	return m4_map_ring(hca, &ring, mkey->len, &mkey->map);
}

static void taken_forget(struct mlx4_firmware *firmware, uint32_t index)
{
	uint32_t *at = firmware->taken + index;

	firmware->num_taken--;
	memmove(at, at + 1, (firmware->num_taken - index) * sizeof(*at));
}

/* Notes a key that was taken back. The oldest note is replaced, as a driver changes a key right
 * after taking it back. */
static void taken_add(struct mlx4_firmware *firmware, uint32_t n)
{
	if (firmware->num_taken == M4_TAKEN_MAX)
		taken_forget(firmware, 0);
	firmware->taken[firmware->num_taken++] = n;
}

static void taken_remove(struct mlx4_firmware *firmware, uint32_t n)
{
	for (uint32_t i = 0; i < firmware->num_taken; i++)
		if (firmware->taken[i] == n) {
			taken_forget(firmware, i);
			return;
		}
}

/* Adds the key of entry MPT. */
static int mpt_add(struct hca *hca, uint32_t n, const uint8_t *mpt)
{
	struct mkey *mkey = calloc(1, sizeof(*mkey));
	int ret;

	if (!mkey)
		return ENOMEM;
	memcpy(mkey->context, mpt, M4_MPT_SIZE);
	mkey->n = n;
	mkey->pd = m4_pd(hca, fld_get(mpt, M4_MPT_PD));
	mpt_decode(mkey);
	ret = mkey->pd ? mpt_map(hca, mkey) : EINVAL;
	if (!ret)
		ret = res_add_as(&hca->mkeys, mkey, n);
	if (ret) {
		mkey_free(mkey);
		return ret;
	}
	taken_remove(hca->mlx4, n);
	mkey->pd->users++;
	pins_take(hca, &mkey->map);
	return 0;
}

static bool is_key(const struct hca *hca, uint32_t n)
{
	return !(n >> fld_get(hca->mlx4->init, M4_INIT_LOG_MPTS));
}

static int entry_write(struct hca *hca, uint32_t n, const uint8_t *mpt)
{
	uint8_t entry[M4_MPT_SIZE];

	memcpy(entry, mpt, sizeof(entry));
	entry[0] = M4_MPT_BYTE_HW;
	return icm_write(hca, entry_addr(hca, n), entry, sizeof(entry));
}

/* Makes the key that software describes. If it is refused, the table's entry stays as it is,
 * because another key may use it. */
enum m4_status m4_mpt_give(struct hca *hca, struct m4_cmd *cmd)
{
	uint32_t n = m4_number(cmd);
	const char *why = mpt_check(hca, cmd->in, n);
	int ret;

	if (!is_key(hca, n))
		return m4_fail(cmd, M4_STAT_BAD_INDEX, "mpt: index out of range");
	if (why)
		return m4_fail(cmd, M4_STAT_BAD_PARAM, why);
	ret = mpt_add(hca, n, cmd->in);
	if (ret)
		return m4_errno(cmd, ret, "mpt: translations, domain, or the index is taken");
	if (entry_write(hca, n, cmd->in)) {
		m4_mpt_remove(hca, res_get(&hca->mkeys, n));
		return m4_fail(cmd, M4_STAT_ICM_ERROR, "mpt: the table is not mapped there");
	}
	return M4_STAT_OK;
}

static void windows_release(struct hca *hca, const struct mkey *region)
{
	for (uint32_t n = 0; region->windows && n <= hca->mkey_mask; n++) {
		struct mkey *window = res_get(&hca->mkeys, n);

		if (window && window->bound_to == region)
			mkey_invalidate(window);
	}
}

void m4_mpt_remove(struct hca *hca, struct mkey *mkey)
{
	windows_release(hca, mkey);
	mkey_bind(mkey, NULL);
	res_remove(&hca->mkeys, mkey->n);
	mkey->pd->users--;
	mkey_free(mkey);
}

enum m4_status m4_mpt_take(struct hca *hca, struct m4_cmd *cmd)
{
	struct mkey *mkey = res_get(&hca->mkeys, m4_number(cmd));
	uint8_t status = M4_MPT_BYTE_SW;

	if (!mkey)
		return m4_fail(cmd, M4_STAT_BAD_RESOURCE, "mpt: no such key");
	if (mkey->windows)
		return m4_fail(cmd, M4_STAT_REG_BOUND, "mpt: windows are bound to it");
	memcpy(cmd->out, mkey->context, M4_MPT_SIZE);
	icm_write(hca, entry_addr(hca, mkey->n), &status, sizeof(status));
	taken_add(hca->mlx4, mkey->n);
	m4_mpt_remove(hca, mkey);
	return M4_STAT_OK;
}

enum m4_status m4_mpt_query(struct hca *hca, struct m4_cmd *cmd)
{
	const struct mkey *mkey = res_get(&hca->mkeys, m4_number(cmd));

	if (!mkey)
		return m4_fail(cmd, M4_STAT_BAD_RESOURCE, "mpt: no such key");
	memcpy(cmd->out, mkey->context, M4_MPT_SIZE);
	return M4_STAT_OK;
}

static void look_at_entry(struct hca *hca, uint32_t n)
{
	uint8_t entry[M4_MPT_SIZE];
	const char *why;

	if (icm_read(hca, entry_addr(hca, n), entry, sizeof(entry))) {
		taken_remove(hca->mlx4, n); /* its part of the table is not mapped any more */
		return;
	}
	if (entry[0] != M4_MPT_BYTE_HW)
		return;
	taken_remove(hca->mlx4, n);
	why = mpt_check(hca, entry, n);
	if (why || mpt_add(hca, n, entry))
		log_note("mlx4: key 0x%x in the table is not taken: %s", n,
			 why ? why : "mpt: translations, domain, or the index is taken");
}

enum m4_status m4_mpt_sync(struct hca *hca, struct m4_cmd *cmd)
{
	(void)cmd;
	for (uint32_t i = hca->mlx4->num_taken; i-- > 0;)
		look_at_entry(hca, hca->mlx4->taken[i]);
	return M4_STAT_OK;
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * signed_key.h - memory keys with signatures of blocks of 512 bytes, made without a UMR. Their
 * PSVs start from all ones, so that data without a signature never pass the check.
 */
#ifndef TEST_SIGNED_KEY_H
#define TEST_SIGNED_KEY_H

#include "flat.h"
#include "prm/mlx5/umr.h"
#include "softhca/device/core.h"
#include "softhca/device/memory/psv.h"

enum { SIGNED_BLOCK = 512, SIGNED_UNIT = 520 };

static inline struct sig_domain signed_domain(struct hca *hca, struct pd *pd, enum guard guard)
{
	struct psv *psv;

	assert_int_equal(psv_add(hca, pd, &psv), 0);
	psv->set = true;
	psv->start = UINT64_MAX;
	return (struct sig_domain){ .guard = guard,
				    .block = SIGNED_BLOCK,
				    .psv = psv->n,
				    .start = psv->start,
				    .app_mask = UINT16_MAX };
}

/* Makes a key at ADDR over LEN bytes of the key UNDER; the adapter frees it. */
static inline struct mkey *signed_key(int i, enum guard mem, enum guard wire, uint64_t addr,
				      uint64_t len, uint32_t under)
{
	struct hca *hca = flat.hca[i];
	struct mkey *mkey = calloc(1, sizeof(*mkey));
	uint8_t entry[XLT_OCTOWORD] = { 0 };

	mkey->pd = res_get(&hca->pds, flat.pd[i]);
	mkey->mode = MKEY_KLMS;
	mkey->access = MKEY_LOCAL_READ | MKEY_LOCAL_WRITE | MKEY_REMOTE_READ | MKEY_REMOTE_WRITE |
		       MKEY_REMOTE_ATOMIC;
	mkey->qpn = MKEY_ANY_QP;
	mkey->start = addr;
	mkey->len = len;
	mkey->xlt_octowords = 1;
	fld_set(entry, KLM_BCOUNT, len);
	fld_set(entry, KLM_KEY, under);
	fld_set(entry, KLM_VA, addr);
	assert_int_equal(xlt_write(mkey, 0, entry, sizeof(entry)), 0);
	mkey->sig = (struct sig){ .on = true, .check = 0xff };
	mkey->sig.mem = signed_domain(hca, mkey->pd, mem);
	mkey->sig.wire = signed_domain(hca, mkey->pd, wire);
	mkey->sig_count.expected = true;
	assert_int_equal(res_add(&hca->mkeys, mkey, &mkey->n), 0);
	mkey->key = mkey->n << 8;
	return mkey;
}

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * config_rollback.h - keeps what the device knows of a key that computes, because later requests
 * send only changes. When a batch is cancelled, config_rollback.c restores the configuration from
 * before the batch.
 *
 * PRM: UMR control segment: a UMR changes only the fields in its mask
 */
#ifndef PROVIDERS_MLX5_DATA_MKEY_CONFIG_ROLLBACK_H
#define PROVIDERS_MLX5_DATA_MKEY_CONFIG_ROLLBACK_H

#include "providers/mlx5/data/mkey/ctrl_words.h"
#include "providers/mlx5/data/send_wqe.h"

/* Returns the third format of a key, which is neither NOW nor BEFORE; these two differ. Formats are
 * identified by their offsets, which are equally spaced. SECOND is the middle one, so the three
 * offsets add up to three times SECOND. */
WQE_INLINE uint16_t other_format(uint16_t second, uint16_t now, uint16_t before)
{
	static_assert(MKEY_FORMATS == 3, "they are as far from each other");
	return (uint16_t)(3 * second - now - before);
}

/* Commits the request's configuration, on which later requests build. The first commit in a batch
 * saves the previous configuration, which is restored if the batch is cancelled. */
WQE_INLINE void config_take(struct mlx5_qp *qp, struct mlx5_mkey *mkey)
{
	const struct mkey_config *next = &qp->mkey_request.next;
	const union mkey_progress progress = qp->mkey_request.progress;

	if (likely(!mkey->is_in_batch)) {
		mkey->before_batch = mkey->config;
		mkey->is_in_batch = true;
		mkey->next_in_batch = qp->mkey_batch.changed;
		qp->mkey_batch.changed = mkey;
	}
	if (!progress.sig_pending)
		mkey->spare_sig = other_format(MKEY_SIG(1), next->sig, mkey->before_batch.sig);
	if (!progress.crypto_pending)
		mkey->spare_crypt =
			other_format(MKEY_CRYPT(1), next->crypt, mkey->before_batch.crypt);
	mkey->config = *next;
	mkey->config.told = progress.word & (SIG_TOLD | CRYPT_TOLD);
}

#endif

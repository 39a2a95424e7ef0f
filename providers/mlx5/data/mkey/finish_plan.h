/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * finish_plan.h - the end of a request on a key that computes: reuses the end of the last request,
 * or lets finish_plan.c compute it.
 * PRM: BSF, SET_PSV
 */
#ifndef PROVIDERS_MLX5_DATA_MKEY_FINISH_PLAN_H
#define PROVIDERS_MLX5_DATA_MKEY_FINISH_PLAN_H

#include "providers/mlx5/data/mkey/request.h"

bool mlx5_mkey_look_anew(struct mlx5_qp *qp, struct mlx5_mkey *mkey);

WQE_INLINE uint64_t mask_of(const struct mkey_request *request)
{
	uint64_t mask = MKEY_MASK_ALWAYS;

	if (!request->progress.access_pending)
		mask |= MKEY_MASK_ACCESS;
	if (!request->progress.layout_pending)
		mask |= MKEY_MASK_LAYOUT;
	return mask;
}

/* Returns the part of the progress that determines the end of a request, apart from its list and
 * the limits of its QP. The result is never 0: a request that has set all parts has a signature
 * state. */
WQE_INLINE uint32_t request_found(const struct mkey_request *request)
{
	return request->progress.word & ~(uint32_t)LIST_USUAL;
}

/* Returns whether the cached end fits this request: the last request set the same parts, with a
 * list of the same size on a QP with the same limit, and the device knows the error count. */
static inline bool request_comes_again(const struct mlx5_qp *qp, const struct mlx5_mkey *mkey)
{
	const struct mkey_request *request = &qp->mkey_request;

	return mkey->again.found.word == request_found(request) &&
	       mkey->again.list_units == request->list_units &&
	       mkey->again.max_inline == qp->sq.max_inline &&
	       mkey->sig_count == request->next.count_told;
}

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * finish_plan.h - the end of a request on a key that computes: it is that of the last request, or
 * finish_plan.c finds out what it has.
 */
#ifndef PROVIDERS_MLX5_DATA_MKEY_FINISH_PLAN_H
#define PROVIDERS_MLX5_DATA_MKEY_FINISH_PLAN_H

#include "providers/mlx5/data/mkey/request.h"

/* Looks at the request and keeps what it has found. It returns false when the request cannot be, as
 * the log says. */
bool mlx5_mkey_look_anew(struct mlx5_qp *qp, struct mlx5_mkey *mkey);

/* Returns the mask of what the setters of a key without formats change. */
WQE_INLINE uint64_t mask_of(const struct mkey_request *request)
{
	uint64_t mask = MKEY_MASK_ALWAYS;

	if (!request->progress.access_pending)
		mask |= MKEY_MASK_ACCESS;
	if (!request->progress.layout_pending)
		mask |= MKEY_MASK_LAYOUT;
	return mask;
}

/* Returns all that the end of a request depends on, beside its list and the limits of its QP. That
 * is not 0: a request that has set all parts has told the key of a signature. */
WQE_INLINE uint32_t request_found(const struct mkey_request *request)
{
	return request->progress.word & ~(uint32_t)LIST_USUAL;
}

/* The last request on the key was one on the same parts, and no error is to be told. */
static inline bool request_comes_again(const struct mlx5_qp *qp, const struct mlx5_mkey *mkey)
{
	const struct mkey_request *request = &qp->mkey_request;

	return mkey->again.found.word == request_found(request) &&
	       mkey->again.list_units == request->list_units &&
	       mkey->again.max_inline == qp->sq.max_inline &&
	       mkey->sig_count == request->next.count_told;
}

#endif

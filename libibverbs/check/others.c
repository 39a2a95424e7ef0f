/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * others.c - objects of which the checker only knows that they exist.
 */
#include "check.h"

int verbs_check_alloc_pd(struct ibv_context *context, struct ibv_pd **pd)
{
	int err = check_real(context)->alloc_pd(context, pd);

	if (!err)
		verbs_check_made(*pd, "ibv_alloc_pd");
	return err;
}

int verbs_check_dealloc_pd(struct ibv_pd *pd)
{
	int err = check_real(pd->context)->dealloc_pd(pd);

	if (!err)
		verbs_check_unmade(pd);
	return err;
}

int verbs_check_create_ah(struct ibv_pd *pd, struct ibv_ah_attr *attr, struct ibv_ah **ah)
{
	int err = check_real(pd->context)->create_ah(pd, attr, ah);

	if (!err)
		verbs_check_made(*ah, "ibv_create_ah");
	return err;
}

int verbs_check_destroy_ah(struct ibv_ah *ah)
{
	int err = check_real(ah->context)->destroy_ah(ah);

	if (!err)
		verbs_check_unmade(ah);
	return err;
}

int verbs_check_create_srq(struct ibv_context *context, struct ibv_srq_init_attr_ex *attr,
			   struct verbs_srq **vsrq)
{
	int err = check_real(context)->create_srq(context, attr, vsrq);

	if (!err)
		verbs_check_made(*vsrq, "ibv_create_srq");
	return err;
}

int verbs_check_destroy_srq(struct ibv_srq *srq)
{
	int err = check_real(srq->context)->destroy_srq(srq);

	if (!err)
		verbs_check_unmade(srq);
	return err;
}

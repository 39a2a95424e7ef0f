/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * others.c - address handles, SRQs, and objects of which the checker only knows that they exist.
 */
#include "check.h"

int verbs_check_alloc_pd(struct ibv_context *context, struct ibv_pd **pd)
{
	int err = check_real(context)->alloc_pd(context, pd);

	if (!err)
		verbs_check_made(*pd, "ibv_alloc_pd");
	return err;
}

struct ibv_pd *verbs_check_alloc_parent_domain(struct ibv_context *context,
					       struct ibv_parent_domain_init_attr *attr)
{
	struct ibv_pd *pd = check_real(context)->alloc_parent_domain(context, attr);

	if (pd)
		verbs_check_made(pd, "ibv_alloc_parent_domain");
	if (pd && attr->td)
		verbs_check_domain_made(pd);
	return pd;
}

int verbs_check_dealloc_pd(struct ibv_pd *pd)
{
	int err = check_real(pd->context)->dealloc_pd(pd);

	if (!err) {
		verbs_check_unmade(pd);
		verbs_check_domain_unmade(pd);
	}
	return err;
}

int verbs_check_create_ah(struct ibv_pd *pd, struct ibv_ah_attr *attr, struct ibv_ah **ah)
{
	int err = check_real(pd->context)->create_ah(pd, attr, ah);
	struct check_ah *check;

	if (err)
		return err;
	verbs_check_lock();
	check = verbs_check_add(CHECK_AH, NULL, check_id(*ah), sizeof(*check));
	if (check)
		check->pd = pd->handle;
	verbs_check_unlock();
	verbs_check_made(*ah, "ibv_create_ah");
	return 0;
}

int verbs_check_destroy_ah(struct ibv_ah *ah)
{
	struct check_ah *check = verbs_check_find_live(CHECK_AH, NULL, check_id(ah));
	int err;

	/* Mark the record first, because another thread may get the same address at once. */
	if (check)
		check_live(&check->record, false);
	err = check_real(ah->context)->destroy_ah(ah);
	if (err && check)
		check_live(&check->record, true);
	if (!err)
		verbs_check_unmade(ah);
	return err;
}

int verbs_check_create_srq(struct ibv_context *context, struct ibv_srq_init_attr_ex *attr,
			   struct verbs_srq **vsrq)
{
	int err = check_real(context)->create_srq(context, attr, vsrq);
	struct check_srq *check;

	if (err)
		return err;
	verbs_check_lock();
	check = verbs_check_add(CHECK_SRQ, NULL, check_id(*vsrq), sizeof(*check));
	if (check)
		check->max_sge = attr->attr.max_sge;
	verbs_check_unlock();
	verbs_check_made(*vsrq, "ibv_create_srq");
	return 0;
}

int verbs_check_destroy_srq(struct ibv_srq *srq)
{
	struct check_srq *check = verbs_check_find_live(CHECK_SRQ, NULL, check_id(srq));
	int err;

	if (check)
		check_live(&check->record, false);
	err = check_real(srq->context)->destroy_srq(srq);
	if (err && check)
		check_live(&check->record, true);
	if (!err)
		verbs_check_unmade(srq);
	return err;
}

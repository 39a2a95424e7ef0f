/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * verbs_srq.c - the public calls on shared receive queues.
 */
#include "libibverbs/init_attr.h"
#include "libibverbs/private.h"

static struct ibv_srq *create_srq(struct ibv_context *context, struct ibv_srq_init_attr_ex *attr)
{
	struct verbs_srq *vsrq;
	int err = get_ops(context)->create_srq(context, attr, &vsrq);

	return err ? fail_null(err) : &vsrq->srq;
}

struct ibv_srq *verbs_create_srq_ex(struct ibv_context *context, struct ibv_srq_init_attr_ex *attr)
{
	return create_srq(context, attr);
}

VERBS_EXPORT struct ibv_srq *ibv_create_srq(struct ibv_pd *pd, struct ibv_srq_init_attr *attr)
{
	struct ibv_srq_init_attr_ex ex = extend_srq_init_attr(pd, attr);
	struct ibv_srq *srq = create_srq(pd->context, &ex);

	if (srq)
		attr->attr = ex.attr;
	return srq;
}

VERBS_EXPORT int ibv_modify_srq(struct ibv_srq *srq, struct ibv_srq_attr *attr, int attr_mask)
{
	return verbs_result(get_ops(srq->context)->modify_srq(srq, attr, attr_mask));
}

VERBS_EXPORT int ibv_query_srq(struct ibv_srq *srq, struct ibv_srq_attr *attr)
{
	return verbs_result(get_ops(srq->context)->query_srq(srq, attr));
}

VERBS_EXPORT int ibv_destroy_srq(struct ibv_srq *srq)
{
	return verbs_result(get_ops(srq->context)->destroy_srq(srq));
}

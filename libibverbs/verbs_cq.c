/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * verbs_cq.c - the public calls on completion queues.
 */
#include "libibverbs/private.h"

VERBS_EXPORT struct ibv_cq *ibv_create_cq(struct ibv_context *context, int cqe, void *cq_context,
					  struct ibv_comp_channel *channel, int comp_vector)
{
	const struct ibv_cq_init_attr_ex attr = {
		.cqe = (uint32_t)cqe,
		.cq_context = cq_context,
		.channel = channel,
		.comp_vector = (uint32_t)comp_vector,
	};
	struct verbs_cq *vcq;
	int err = get_ops(context)->create_cq(context, &attr, &vcq);

	return err ? fail_null(err) : &vcq->cq;
}

struct ibv_cq_ex *verbs_create_cq_ex(struct ibv_context *context, struct ibv_cq_init_attr_ex *attr)
{
	struct verbs_cq *vcq;
	int err = get_ops(context)->create_cq(context, attr, &vcq);

	return err ? fail_null(err) : &vcq->cq_ex;
}

VERBS_EXPORT int ibv_resize_cq(struct ibv_cq *cq, int cqe)
{
	return verbs_result(get_ops(cq->context)->resize_cq(cq, cqe));
}

VERBS_EXPORT int ibv_destroy_cq(struct ibv_cq *cq)
{
	return verbs_result(get_ops(cq->context)->destroy_cq(cq));
}

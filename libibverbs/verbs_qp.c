/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * verbs_qp.c - the public calls on queue pairs.
 */
#include "libibverbs/init_attr.h"
#include "libibverbs/private.h"

static struct ibv_qp *create_qp(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr)
{
	struct verbs_qp *vqp;
	int err = get_ops(context)->create_qp(context, attr, &vqp);

	return err ? fail_null(err) : &vqp->qp;
}

struct ibv_qp *verbs_create_qp_ex(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr)
{
	return create_qp(context, attr);
}

VERBS_EXPORT struct ibv_qp *ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
	struct ibv_qp_init_attr_ex ex = extend_qp_init_attr(pd, attr);
	struct ibv_qp *qp = create_qp(pd->context, &ex);

	if (qp)
		attr->cap = ex.cap;
	return qp;
}

/* Returns NULL, without errno, for a QP created without IBV_QP_INIT_ATTR_SEND_OPS_FLAGS. */
VERBS_EXPORT struct ibv_qp_ex *ibv_qp_to_qp_ex(struct ibv_qp *qp)
{
	struct verbs_qp *vqp = to_vqp(qp);

	/* The type alone does not tell: a provider of the distribution may have other data there
	 * (foreign/). */
	return vqp->ex == VERBS_QP_HAS_EX ? &vqp->qp_ex : NULL;
}

VERBS_EXPORT int ibv_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int attr_mask)
{
	return verbs_result(get_ops(qp->context)->modify_qp(qp, attr, attr_mask));
}

VERBS_EXPORT int ibv_query_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int attr_mask,
			      struct ibv_qp_init_attr *init_attr)
{
	int ret = get_ops(qp->context)->query_qp(qp, attr, attr_mask, init_attr);

	if (!ret && attr_mask & IBV_QP_STATE)
		qp->state = attr->qp_state;
	return verbs_result(ret);
}

VERBS_EXPORT int ibv_destroy_qp(struct ibv_qp *qp)
{
	return verbs_result(get_ops(qp->context)->destroy_qp(qp));
}

#if defined(__x86_64__) || defined(__i386__)
#define ARCH_SEES_DMA_IN_ORDER true
#else
#define ARCH_SEES_DMA_IN_ORDER false
#endif

VERBS_EXPORT int ibv_query_qp_data_in_order(struct ibv_qp *qp, enum ibv_wr_opcode op,
					    uint32_t flags)
{
	const int whole = IBV_QUERY_QP_DATA_IN_ORDER_WHOLE_MSG;
	int caps;

	/* Other CPUs do not guarantee to observe an adapter's writes in order, so the answer for
	 * the whole system is 0. */
	if (!ARCH_SEES_DMA_IN_ORDER && !(flags & IBV_QUERY_QP_DATA_IN_ORDER_DEVICE_ONLY))
		return 0;
	caps = get_ops(qp->context)->query_qp_data_in_order(qp, op, flags);
	if (caps & whole)
		caps |= IBV_QUERY_QP_DATA_IN_ORDER_ALIGNED_128_BYTES;
	return flags & IBV_QUERY_QP_DATA_IN_ORDER_RETURN_CAPS ? caps : caps & whole;
}

/* Sets ECE options, which are defined by the provider that vendor_id names. comp_mask has no
 * defined bit yet. */
VERBS_EXPORT int ibv_set_ece(struct ibv_qp *qp, struct ibv_ece *ece)
{
	if (!ece->vendor_id) {
		verbs_warn("ibv_set_ece: QP 0x%x vendor_id 0: no provider has such options",
			   qp->qp_num);
		return verbs_result(EOPNOTSUPP);
	}
	return verbs_result(get_ops(qp->context)->set_ece(qp, ece));
}

VERBS_EXPORT int ibv_query_ece(struct ibv_qp *qp, struct ibv_ece *ece)
{
	return verbs_result(get_ops(qp->context)->query_ece(qp, ece));
}

VERBS_EXPORT int ibv_attach_mcast(struct ibv_qp *qp, const union ibv_gid *gid, uint16_t lid)
{
	return verbs_result(get_ops(qp->context)->attach_mcast(qp, gid, lid));
}

VERBS_EXPORT int ibv_detach_mcast(struct ibv_qp *qp, const union ibv_gid *gid, uint16_t lid)
{
	return verbs_result(get_ops(qp->context)->detach_mcast(qp, gid, lid));
}

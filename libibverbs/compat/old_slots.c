/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * old_slots.c - slots of the public tables that no header of this release uses: in ibv_context_ops
 * those named _compat_*, in verbs_context those of calls that are also exported. Programs with
 * headers of their own expect the release's operations there.
 *
 * A slot that creates an object returns the same as the public call.
 */
#include "libibverbs/private.h"

#undef ibv_query_port

/* Release 1.0's slot has no argument for the CQ's context, which the caller sets afterwards. */
static struct ibv_cq *slot_create_cq(struct ibv_context *context, int cqe,
				     struct ibv_comp_channel *channel, int comp_vector)
{
	return ibv_create_cq(context, cqe, NULL, channel, comp_vector);
}

/* Does nothing. These slots report a CQ's events to a provider, but no provider of this project
 * uses them. */
static void slot_cq_event(struct ibv_cq *cq)
{
	(void)cq;
}

static void slot_async_event(struct ibv_context *context, struct ibv_async_event *event)
{
	(void)context;
	(void)event;
}

/* Casts twice, because the slots' types do not describe the call's arguments. */
#define SLOT(call) ((void *(*)(void))(void (*)(void))(call))

static void fill_objects(struct ibv_context_ops *ops)
{
	ops->_compat_alloc_pd = SLOT(ibv_alloc_pd);
	ops->_compat_dealloc_pd = SLOT(ibv_dealloc_pd);
	ops->_compat_reg_mr = SLOT(ibv_reg_mr_iova2);
	ops->_compat_rereg_mr = SLOT(ibv_rereg_mr);
	ops->_compat_dereg_mr = SLOT(ibv_dereg_mr);
	ops->_compat_create_ah = SLOT(ibv_create_ah);
	ops->_compat_destroy_ah = SLOT(ibv_destroy_ah);
	ops->_compat_attach_mcast = SLOT(ibv_attach_mcast);
	ops->_compat_detach_mcast = SLOT(ibv_detach_mcast);
	ops->_compat_async_event = SLOT(slot_async_event);
}

static void fill_queues(struct ibv_context_ops *ops)
{
	ops->_compat_create_cq = SLOT(slot_create_cq);
	ops->_compat_cq_event = SLOT(slot_cq_event);
	ops->_compat_resize_cq = SLOT(ibv_resize_cq);
	ops->_compat_destroy_cq = SLOT(ibv_destroy_cq);
	ops->_compat_create_srq = SLOT(ibv_create_srq);
	ops->_compat_modify_srq = SLOT(ibv_modify_srq);
	ops->_compat_query_srq = SLOT(ibv_query_srq);
	ops->_compat_destroy_srq = SLOT(ibv_destroy_srq);
	ops->_compat_create_qp = SLOT(ibv_create_qp);
	ops->_compat_query_qp = SLOT(ibv_query_qp);
	ops->_compat_modify_qp = SLOT(ibv_modify_qp);
	ops->_compat_destroy_qp = SLOT(ibv_destroy_qp);
}

void verbs_old_slots_fill(struct verbs_context *vctx)
{
	struct ibv_context_ops *ops = &vctx->context.ops;

	ops->_compat_query_device = ibv_query_device;
	ops->_compat_query_port = ibv_query_port;
	fill_objects(ops);
	fill_queues(ops);
	if (!verbs_context_is_whole(vctx))
		return;
	vctx->free_buf = ibv_free_buf;
	vctx->alloc_buf = ibv_alloc_buf;
	vctx->reg_mr_ex = ibv_reg_mr_ex;
	vctx->dealloc_dmah = ibv_dealloc_dmah;
	vctx->alloc_dmah = ibv_alloc_dmah;
}

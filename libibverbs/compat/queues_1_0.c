/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * queues_1_0.c - release 1.0: calls on CQs, SRQs and QPs, the data path, and events. See
 * compat/verbs_1_0.h.
 */
#include "compat/verbs_1_0.h"

#include <stdlib.h>
#include <string.h>

#include "util/alloc.h"
#include "util/bits.h"

COMPAT_FN(struct old_cq *, create_cq,
	  (struct old_context * context, int cqe, void *cq_context,
	   struct ibv_comp_channel *channel, int comp_vector))
{
	struct old_cq *cq = calloc_for("ibv_create_cq", 1, sizeof(*cq));

	if (!cq)
		return fail_null(ENOMEM);
	cq->context = context;
	cq->cq_context = cq_context;
	cq->real = ibv_create_cq(context->real, cqe, cq, channel, comp_vector);
	if (!cq->real) {
		free(cq);
		return NULL;
	}
	cq->handle = cq->real->handle;
	cq->cqe = cq->real->cqe;
	return cq;
}

COMPAT_FN(int, resize_cq, (struct old_cq * cq, int cqe))
{
	int ret = ibv_resize_cq(cq->real, cqe);

	cq->cqe = cq->real->cqe;
	return ret;
}

COMPAT_FN(int, destroy_cq, (struct old_cq * cq))
{
	int ret = ibv_destroy_cq(cq->real);

	if (!ret)
		free(cq);
	return ret;
}

COMPAT_FN(int, get_cq_event,
	  (struct ibv_comp_channel * channel, struct old_cq **cq, void **cq_context))
{
	struct ibv_cq *real;
	void *wrapper;

	if (ibv_get_cq_event(channel, &real, &wrapper))
		return -1;
	*cq = wrapper;
	*cq_context = (*cq)->cq_context;
	return 0;
}

COMPAT_FN(void, ack_cq_events, (struct old_cq * cq, unsigned int nevents))
{
	ibv_ack_cq_events(cq->real, nevents);
}

COMPAT_FN(struct old_srq *, create_srq, (struct old_pd * pd, struct ibv_srq_init_attr *attr))
{
	struct old_srq *srq = calloc_for("ibv_create_srq", 1, sizeof(*srq));
	struct ibv_srq_init_attr real_attr = { .srq_context = srq, .attr = attr->attr };

	if (!srq)
		return fail_null(ENOMEM);
	srq->context = pd->context;
	srq->srq_context = attr->srq_context;
	srq->pd = pd;
	srq->real = ibv_create_srq(pd->real, &real_attr);
	if (!srq->real) {
		free(srq);
		return NULL;
	}
	srq->handle = srq->real->handle;
	attr->attr = real_attr.attr;
	return srq;
}

COMPAT_FN(int, modify_srq, (struct old_srq * srq, struct ibv_srq_attr *attr, int attr_mask))
{
	return ibv_modify_srq(srq->real, attr, attr_mask);
}

COMPAT_FN(int, query_srq, (struct old_srq * srq, struct ibv_srq_attr *attr))
{
	return ibv_query_srq(srq->real, attr);
}

COMPAT_FN(int, destroy_srq, (struct old_srq * srq))
{
	int ret = ibv_destroy_srq(srq->real);

	if (!ret)
		free(srq);
	return ret;
}

static struct ibv_qp *create_real_qp(struct old_qp *qp, struct old_qp_init_attr *attr)
{
	struct ibv_qp_init_attr real_attr = {
		.qp_context = qp,
		.send_cq = attr->send_cq ? attr->send_cq->real : NULL,
		.recv_cq = attr->recv_cq ? attr->recv_cq->real : NULL,
		.srq = attr->srq ? attr->srq->real : NULL,
		.cap = attr->cap,
		.qp_type = attr->qp_type,
		.sq_sig_all = attr->sq_sig_all,
	};
	struct ibv_qp *real = ibv_create_qp(qp->pd->real, &real_attr);

	if (real)
		attr->cap = real_attr.cap;
	return real;
}

COMPAT_FN(struct old_qp *, create_qp, (struct old_pd * pd, struct old_qp_init_attr *attr))
{
	struct old_qp *qp = calloc_for("ibv_create_qp", 1, sizeof(*qp));

	if (!qp)
		return fail_null(ENOMEM);
	*qp = (struct old_qp){
		.context = pd->context,
		.qp_context = attr->qp_context,
		.pd = pd,
		.send_cq = attr->send_cq,
		.recv_cq = attr->recv_cq,
		.srq = attr->srq,
		.qp_type = attr->qp_type,
	};
	qp->real = create_real_qp(qp, attr);
	if (!qp->real) {
		free(qp);
		return NULL;
	}
	qp->handle = qp->real->handle;
	qp->qp_num = qp->real->qp_num;
	qp->state = qp->real->state;
	return qp;
}

/* Size of release 1.0's ibv_qp_attr, which ends before rate_limit. No mask of that release names
 * rate_limit, so it is never written. */
#define OLD_QP_ATTR_SIZE offsetof(struct ibv_qp_attr, rate_limit)

COMPAT_FN(int, query_qp,
	  (struct old_qp * qp, struct ibv_qp_attr *attr, int attr_mask,
	   struct old_qp_init_attr *init_attr))
{
	struct ibv_qp_init_attr real_init = {};
	struct ibv_qp_attr real_attr = {};
	int ret;

	memcpy(&real_attr, attr, OLD_QP_ATTR_SIZE);
	ret = ibv_query_qp(qp->real, &real_attr, attr_mask, &real_init);
	if (ret)
		return ret;
	memcpy(attr, &real_attr, OLD_QP_ATTR_SIZE);
	*init_attr = (struct old_qp_init_attr){
		.qp_context = qp->qp_context,
		.send_cq = qp->send_cq,
		.recv_cq = qp->recv_cq,
		.srq = qp->srq,
		.cap = real_init.cap,
		.qp_type = real_init.qp_type,
		.sq_sig_all = real_init.sq_sig_all,
	};
	qp->state = qp->real->state;
	return 0;
}

COMPAT_FN(int, modify_qp, (struct old_qp * qp, struct ibv_qp_attr *attr, int attr_mask))
{
	struct ibv_qp_attr real_attr = {};
	int ret;

	memcpy(&real_attr, attr, OLD_QP_ATTR_SIZE);
	ret = ibv_modify_qp(qp->real, &real_attr, attr_mask);
	qp->state = qp->real->state;
	return ret;
}

COMPAT_FN(int, destroy_qp, (struct old_qp * qp))
{
	int ret = ibv_destroy_qp(qp->real);

	if (!ret)
		free(qp);
	return ret;
}

COMPAT_FN(int, attach_mcast, (struct old_qp * qp, union ibv_gid *gid, uint16_t lid))
{
	return ibv_attach_mcast(qp->real, gid, lid);
}

COMPAT_FN(int, detach_mcast, (struct old_qp * qp, union ibv_gid *gid, uint16_t lid))
{
	return ibv_detach_mcast(qp->real, gid, lid);
}

static int poll_old_cq(struct old_cq *cq, int num_entries, struct ibv_wc *wc)
{
	return ibv_poll_cq(cq->real, num_entries, wc);
}

static int req_notify_old_cq(struct old_cq *cq, int solicited_only)
{
	return ibv_req_notify_cq(cq->real, solicited_only);
}

/* Maximum of requests that are converted on the stack and posted at once. Longer lists are
 * posted in parts, so that posting allocates no memory. */
#define PIECE 16

static void convert_send_wr(struct ibv_send_wr *to, const struct old_send_wr *from,
			    enum ibv_qp_type type)
{
	*to = (struct ibv_send_wr){
		.wr_id = from->wr_id,
		.sg_list = from->sg_list,
		.num_sge = from->num_sge,
		.opcode = from->opcode,
		.send_flags = from->send_flags,
		.imm_data = from->imm_data,
	};
	if (type == IBV_QPT_UD) {
		to->wr.ud.ah = from->wr.ud.ah->real;
		to->wr.ud.remote_qpn = from->wr.ud.remote_qpn;
		to->wr.ud.remote_qkey = from->wr.ud.remote_qkey;
	} else if (from->opcode == IBV_WR_ATOMIC_CMP_AND_SWP ||
		   from->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
		to->wr.atomic.remote_addr = from->wr.atomic.remote_addr;
		to->wr.atomic.compare_add = from->wr.atomic.compare_add;
		to->wr.atomic.swap = from->wr.atomic.swap;
		to->wr.atomic.rkey = from->wr.atomic.rkey;
	} else {
		to->wr.rdma.remote_addr = from->wr.rdma.remote_addr;
		to->wr.rdma.rkey = from->wr.rdma.rkey;
	}
}

static int post_send_old(struct old_qp *qp, struct old_send_wr *wr, struct old_send_wr **bad_wr)
{
	struct ibv_send_wr piece[PIECE], *bad;
	struct old_send_wr *first;
	int ret;

	while (wr) {
		first = wr;
		for (unsigned int n = 0; wr && n < PIECE; n++, wr = wr->next) {
			convert_send_wr(&piece[n], wr, qp->qp_type);
			piece[n].next = wr->next && n + 1 < PIECE ? &piece[n + 1] : NULL;
		}
		ret = ibv_post_send(qp->real, piece, &bad);
		if (!ret)
			continue;
		for (const struct ibv_send_wr *at = piece; at != bad; at++)
			first = first->next;
		*bad_wr = first;
		return ret;
	}
	return 0;
}

static int post_piece(struct old_qp *qp, struct old_srq *srq, struct ibv_recv_wr *piece,
		      struct ibv_recv_wr **bad)
{
	return qp ? ibv_post_recv(qp->real, piece, bad) : ibv_post_srq_recv(srq->real, piece, bad);
}

static int post_recv_to(struct old_qp *qp, struct old_srq *srq, struct old_recv_wr *wr,
			struct old_recv_wr **bad_wr)
{
	struct ibv_recv_wr piece[PIECE], *bad;
	struct old_recv_wr *first;
	int ret;

	while (wr) {
		first = wr;
		for (unsigned int n = 0; wr && n < PIECE; n++, wr = wr->next)
			piece[n] = (struct ibv_recv_wr){
				.wr_id = wr->wr_id,
				.next = wr->next && n + 1 < PIECE ? &piece[n + 1] : NULL,
				.sg_list = wr->sg_list,
				.num_sge = wr->num_sge,
			};
		ret = post_piece(qp, srq, piece, &bad);
		if (!ret)
			continue;
		for (const struct ibv_recv_wr *at = piece; at != bad; at++)
			first = first->next;
		*bad_wr = first;
		return ret;
	}
	return 0;
}

static int post_recv_old(struct old_qp *qp, struct old_recv_wr *wr, struct old_recv_wr **bad_wr)
{
	return post_recv_to(qp, NULL, wr, bad_wr);
}

static int post_srq_recv_old(struct old_srq *srq, struct old_recv_wr *wr,
			     struct old_recv_wr **bad_wr)
{
	return post_recv_to(NULL, srq, wr, bad_wr);
}

const struct old_context_ops verbs_old_ops = {
	.poll_cq = poll_old_cq,
	.req_notify_cq = req_notify_old_cq,
	.post_srq_recv = post_srq_recv_old,
	.post_send = post_send_old,
	.post_recv = post_recv_old,
};

COMPAT_FN(int, get_async_event, (struct old_context * context, struct old_async_event *event))
{
	struct ibv_async_event real;

	if (ibv_get_async_event(context->real, &real))
		return -1;
	event->event_type = real.event_type;
	switch (verbs_event_element(real.event_type)) {
	case ELEMENT_CQ:
		event->element.cq = real.element.cq->cq_context;
		break;
	case ELEMENT_QP:
		event->element.qp = real.element.qp->qp_context;
		break;
	case ELEMENT_SRQ:
		event->element.srq = real.element.srq->srq_context;
		break;
	default:
		event->element.port_num = real.element.port_num;
	}
	return 0;
}

COMPAT_FN(void, ack_async_event, (struct old_async_event * event))
{
	struct ibv_async_event real = { .event_type = event->event_type };

	switch (verbs_event_element(event->event_type)) {
	case ELEMENT_CQ:
		real.element.cq = event->element.cq->real;
		break;
	case ELEMENT_QP:
		real.element.qp = event->element.qp->real;
		break;
	case ELEMENT_SRQ:
		real.element.srq = event->element.srq->real;
		break;
	default:
		return;
	}
	ibv_ack_async_event(&real);
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * queues.c - QPs and SRQs of ids: the objects that the library creates if the program passes none,
 * and the arguments that it refuses.
 *
 * Covers: librdmacm/qp.c, softhca/front/process/ucma/attr.c
 */
#include <rdma/rdma_verbs.h>

#include "tests/cm/cm.h"

static struct rdma_event_channel *channel;

static struct ibv_qp_init_attr plain_attr(const struct rdma_cm_id *id)
{
	return (struct ibv_qp_init_attr){
		.cap = { .max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1 },
		.qp_type = id->qp_type,
	};
}

static void say_queues(const struct rdma_cm_id *id)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	say("qp %d srq %d pd %d send_cq %d channel %d recv_cq %d channel %d", id->qp != NULL,
	    id->srq != NULL, id->pd != NULL, id->send_cq != NULL, id->send_cq_channel != NULL,
	    id->recv_cq != NULL, id->recv_cq_channel != NULL);
	if (id->send_cq && id->recv_cq)
		say("cq sizes %d %d, the same %d", id->send_cq->cqe, id->recv_cq->cqe,
		    id->send_cq == id->recv_cq);
	if (id->qp &&
	    !ibv_query_qp(id->qp, &attr, IBV_QP_STATE | IBV_QP_ACCESS_FLAGS | IBV_QP_QKEY, &init))
		say("state %d", attr.qp_state);
}

static void try_qp(struct rdma_cm_id *id, const char *what, struct ibv_pd *pd,
		   struct ibv_qp_init_attr *attr)
{
	if (SAY_RET(rdma_create_qp(id, pd, attr), "create_qp: %s", what)) {
		say_queues(id);
		return;
	}
	say("caps %u %u %u %u, cqs %d %d", attr->cap.max_send_wr >= 4, attr->cap.max_recv_wr >= 4,
	    attr->cap.max_send_sge, attr->cap.max_recv_sge, attr->send_cq != NULL,
	    attr->recv_cq != NULL);
	say_queues(id);
	SAY_RET(rdma_create_qp(id, pd, attr), "create_qp: another one");
	rdma_destroy_qp(id);
	say_queues(id);
}

static void bad_qps(struct rdma_cm_id *id)
{
	struct ibv_qp_init_attr attr;

	attr = plain_attr(id);
	attr.cap.max_send_wr = 1 << 30;
	try_qp(id, "too many sends", NULL, &attr);
	attr = plain_attr(id);
	attr.cap.max_recv_sge = 100000;
	try_qp(id, "too many pieces", NULL, &attr);
	attr = plain_attr(id);
	attr.qp_type = IBV_QPT_UD;
	try_qp(id, "of another type", NULL, &attr);
	attr = plain_attr(id);
	attr.cap.max_inline_data = 1 << 20;
	try_qp(id, "too much inline data", NULL, &attr);
}

static void own_queues(struct rdma_cm_id *id)
{
	struct ibv_cq *cq = ibv_create_cq(id->verbs, 10, NULL, NULL, 0);
	struct ibv_pd *pd = ibv_alloc_pd(id->verbs);
	struct ibv_qp_init_attr attr = plain_attr(id);

	MUST(cq && pd);
	attr.send_cq = attr.recv_cq = cq;
	try_qp(id, "with a PD and a CQ", pd, &attr);
	attr = plain_attr(id);
	attr.send_cq = cq;
	try_qp(id, "with a CQ for sends", NULL, &attr);
	SAY_RET(ibv_destroy_cq(cq), "destroy_cq");
	SAY_RET(ibv_dealloc_pd(pd), "dealloc_pd");
}

static void extended(struct rdma_cm_id *id)
{
	struct ibv_qp_init_attr_ex attr = {
		.cap = { .max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1 },
		.qp_type = IBV_QPT_RC,
	};

	attr.comp_mask = IBV_QP_INIT_ATTR_PD;
	attr.pd = id->pd;
	SAY_RET(rdma_create_qp_ex(id, &attr), "create_qp_ex");
	say("comp_mask 0x%x", attr.comp_mask);
	say_queues(id);
	if (id->qp)
		rdma_destroy_qp(id);
}

void cm_diff_queues(void)
{
	struct ibv_qp_init_attr attr;
	struct rdma_cm_id *id;

	channel = rdma_create_event_channel();
	MUST(channel);
	id = cm_resolved(channel, RDMA_PS_TCP, 7471);
	say_queues(id);
	attr = plain_attr(id);
	try_qp(id, "plain", NULL, &attr);
	bad_qps(id);
	extended(id);
	own_queues(id);
	MUST(!rdma_destroy_id(id));
	id = cm_resolved(channel, RDMA_PS_UDP, 7471);
	attr = plain_attr(id);
	try_qp(id, "of datagrams", NULL, &attr);
	MUST(!rdma_destroy_id(id));
	rdma_destroy_event_channel(channel);
}

void cm_diff_srq(void)
{
	struct ibv_srq_init_attr attr = { .attr = { .max_wr = 8, .max_sge = 1 } };
	struct ibv_qp_init_attr qp_attr;
	struct rdma_cm_id *id;

	channel = rdma_create_event_channel();
	MUST(channel);
	id = cm_resolved(channel, RDMA_PS_TCP, 7471);
	attr.attr.max_wr = 1 << 30;
	SAY_RET(rdma_create_srq(id, NULL, &attr), "create_srq too large");
	say_queues(id);
	attr.attr.max_wr = 8;
	SAY_RET(rdma_create_srq(id, NULL, &attr), "create_srq");
	say_queues(id);
	qp_attr = plain_attr(id);
	SAY_RET(rdma_create_qp(id, NULL, &qp_attr), "create_qp beside it");
	say("the QP receives from it: %d", id->qp && id->qp->srq == id->srq);
	say_queues(id);
	rdma_destroy_qp(id);
	say_queues(id);
	rdma_destroy_srq(id);
	say_queues(id);
	MUST(!rdma_destroy_id(id));
	rdma_destroy_event_channel(channel);
}

static struct rdma_cm_id *xrc_end(int passive, struct ibv_qp_init_attr *attr)
{
	struct rdma_addrinfo hints = { .ai_flags = passive ? RAI_PASSIVE : 0,
				       .ai_port_space = RDMA_PS_IB,
				       .ai_qp_type =
					       passive ? IBV_QPT_XRC_RECV : IBV_QPT_XRC_SEND };
	struct rdma_addrinfo *info;
	struct rdma_cm_id *id = NULL;

	MUST(!rdma_getaddrinfo((char *)cm_host(), (char *)"7471", &hints, &info));
	SAY_RET(rdma_create_ep(&id, info, NULL, attr), "create_ep of XRC, passive %d", passive);
	rdma_freeaddrinfo(info);
	return id;
}

void cm_diff_xrc(void)
{
	struct ibv_qp_init_attr attr = { .cap = { .max_send_wr = 4, .max_send_sge = 1 } };
	struct rdma_cm_id *listener, *id;

	listener = xrc_end(1, &attr);
	if (listener) {
		say("type %d ps 0x%x", listener->qp_type, listener->ps);
		say_queues(listener);
		SAY_RET(rdma_listen(listener, 1), "listen");
	}
	id = xrc_end(0, &attr);
	if (id) {
		say("type %d ps 0x%x", id->qp_type, id->ps);
		say_queues(id);
		rdma_destroy_ep(id);
	}
	if (listener)
		rdma_destroy_ep(listener);
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * retries.c - a failing call must not change the caller's attributes, because programs repeat the
 * call with them: they would name a CQ or an XRC domain that the failed call has destroyed.
 *
 * Covers: librdmacm/qp.c rdma_create_qp_ex rdma_create_srq_ex, librdmacm/ep.c rdma_create_ep
 */
#include <rdma/rdma_verbs.h>
#include <string.h>

#include "tests/cm/cm.h"
#include "own.h"

static struct rdma_event_channel *channel;

static void queue_pairs(bool has_send_cq)
{
	struct rdma_cm_id *id = cm_resolved(channel, RDMA_PS_TCP, 7471);
	struct ibv_cq *cq = has_send_cq ? ibv_create_cq(id->verbs, 8, NULL, NULL, 0) : NULL;
	struct ibv_qp_init_attr_ex attr = { .send_cq = cq,
					    .cap = { ~0u, 2, 1, 1, 0 },
					    .qp_type = IBV_QPT_RC };
	const struct ibv_qp_init_attr_ex before = attr;

	say_check(rdma_create_qp_ex(id, &attr) == -1, "a send queue of 2^32 - 1 is refused");
	say_check(!memcmp(&attr, &before, sizeof(attr)), "the attributes of the QP are as before");
	say_check(!id->qp && !id->send_cq && !id->recv_cq, "the id has neither QP nor CQs");
	attr.cap.max_send_wr = 2;
	say_check(!rdma_create_qp_ex(id, &attr), "the second attempt succeeds");
	say_check(attr.recv_cq == id->recv_cq && attr.recv_cq == id->qp->recv_cq,
		  "its receive CQ is the id's");
	say_check(attr.send_cq == (cq ? cq : id->send_cq), "its send CQ is %s",
		  cq ? "the program's" : "the id's");
	rdma_destroy_qp(id);
	MUST(!rdma_destroy_id(id) && !(cq && ibv_destroy_cq(cq)));
}

static void shared_queues(void)
{
	struct rdma_cm_id *id = cm_resolved(channel, RDMA_PS_TCP, 7471);
	struct ibv_srq_init_attr_ex attr = { .attr = { .max_wr = ~0u, .max_sge = 1 },
					     .comp_mask = IBV_SRQ_INIT_ATTR_TYPE,
					     .srq_type = IBV_SRQT_XRC };
	const struct ibv_srq_init_attr_ex before = attr;

	say_check(rdma_create_srq_ex(id, &attr) == -1, "an SRQ of 2^32 - 1 is refused");
	say_check(!memcmp(&attr, &before, sizeof(attr)), "the attributes of the SRQ are as before");
	attr.attr.max_wr = 4;
	say_check(!rdma_create_srq_ex(id, &attr), "the second attempt succeeds");
	say_check(attr.xrcd && attr.cq == id->recv_cq, "its CQ is the id's");
	rdma_destroy_srq(id);
	MUST(!rdma_destroy_id(id));
}

/* A PD that was passed to a failing call does not become the id's. */
static void domains(void)
{
	struct rdma_cm_id *id = cm_resolved(channel, RDMA_PS_TCP, 7471);
	struct ibv_pd *own = ibv_alloc_pd(id->verbs), *before = id->pd;
	struct ibv_srq_init_attr srq = { .attr = { .max_wr = 4, .max_sge = 1 } };
	struct ibv_qp_init_attr qp = { .cap = { ~0u, 2, 1, 1, 0 }, .qp_type = IBV_QPT_RC };

	MUST(own && !rdma_create_srq(id, NULL, &srq));
	say_check(rdma_create_qp(id, own, &qp) == -1 && id->pd == before,
		  "an id with an SRQ has the PD it had");
	rdma_destroy_srq(id);
	MUST(!ibv_dealloc_pd(own) && !rdma_destroy_id(id));
}

static void endpoints(void)
{
	struct rdma_addrinfo hints = { .ai_port_space = RDMA_PS_TCP }, *info;
	struct ibv_qp_init_attr attr = { .cap = { 2, 2, 1, 1, 0 } };
	struct rdma_cm_id *id;
	size_t length;

	MUST(!rdma_getaddrinfo("127.0.0.1", "7471", &hints, &info));
	length = info->ai_connect_len;
	info->ai_connect_len = 5000;
	say_check(rdma_create_ep(&id, info, NULL, &attr) == -1, "5000 bytes of data are refused");
	say_check(!attr.send_cq && !attr.recv_cq && !attr.srq, "the attributes name no CQ");
	info->ai_connect_len = length;
	say_check(!rdma_create_ep(&id, info, NULL, &attr), "the second attempt succeeds");
	rdma_destroy_ep(id);
	rdma_freeaddrinfo(info);
}

void own_retries(void)
{
	channel = rdma_create_event_channel();
	MUST(channel);
	queue_pairs(false);
	queue_pairs(true);
	shared_queues();
	domains();
	endpoints();
	rdma_destroy_event_channel(channel);
}

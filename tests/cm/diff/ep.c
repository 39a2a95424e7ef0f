/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * ep.c - endpoints, active and passive. Their calls wait, so a thread is the other side.
 *
 * Covers: librdmacm/ep.c
 */
#include <pthread.h>
#include <rdma/rdma_verbs.h>
#include <stdio.h>

#include "tests/cm/cm.h"

static char port[8];

static int ep_make(struct rdma_cm_id **id, int flags, const char *service,
		   struct ibv_qp_init_attr *attr)
{
	struct rdma_addrinfo hints = { .ai_flags = flags, .ai_port_space = RDMA_PS_TCP };
	struct rdma_addrinfo *info;
	int ret;

	MUST(!rdma_getaddrinfo((char *)cm_host(), (char *)service, &hints, &info));
	ret = rdma_create_ep(id, info, NULL, attr);
	rdma_freeaddrinfo(info);
	return ret;
}

static struct ibv_qp_init_attr plain_attr(void)
{
	return (struct ibv_qp_init_attr){
		.cap = { .max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1 },
		.sq_sig_all = 1,
	};
}

/* Connects, sends a byte once connected, and disconnects when the peer does. */
static void *client(void *arg)
{
	struct ibv_qp_init_attr attr = plain_attr();
	struct rdma_cm_id *id;
	struct ibv_mr *mr;
	struct ibv_wc wc;
	int *result = arg;

	MUST(!ep_make(&id, 0, port, &attr));
	mr = rdma_reg_msgs(id, port, sizeof(port));
	MUST(mr);
	*result = rdma_connect(id, NULL) ? errno : 0;
	if (!*result) {
		MUST(!rdma_post_send(id, NULL, port, sizeof(port), mr, 0));
		MUST(rdma_get_send_comp(id, &wc) == 1);
		rdma_disconnect(id);
	}
	rdma_dereg_mr(mr);
	rdma_destroy_ep(id);
	return NULL;
}

static void ep_serve(struct rdma_cm_id *listener, bool accepts)
{
	struct rdma_cm_id *id = NULL;
	struct ibv_mr *mr;
	struct ibv_wc wc;
	char buf[8];

	if (SAY_RET(rdma_get_request(listener, &id), "get_request"))
		return;
	say("qp %d, a channel of its own %d, event %s", id->qp != NULL,
	    id->channel != listener->channel, rdma_event_str(id->event->event));
	if (!accepts) {
		SAY_RET(rdma_reject(id, NULL, 0), "reject");
		rdma_destroy_ep(id);
		return;
	}
	mr = rdma_reg_msgs(id, buf, sizeof(buf));
	MUST(mr && !rdma_post_recv(id, NULL, buf, sizeof(buf), mr));
	SAY_RET(rdma_accept(id, NULL), "accept");
	say("event %s", id->event ? rdma_event_str(id->event->event) : "none");
	MUST(rdma_get_recv_comp(id, &wc) == 1);
	say("status %d bytes %u", wc.status, wc.byte_len);
	SAY_RET(rdma_disconnect(id), "disconnect");
	rdma_dereg_mr(mr);
	rdma_destroy_ep(id);
}

static void with_client(struct rdma_cm_id *listener, bool accepts)
{
	pthread_t thread;
	int result = -1;

	MUST(!pthread_create(&thread, NULL, client, &result));
	ep_serve(listener, accepts);
	pthread_join(thread, NULL);
	say("the client: %s", say_errno(result));
}

void cm_diff_ep(void)
{
	struct ibv_qp_init_attr attr = plain_attr();
	struct rdma_cm_id *id;

	SAY_RET(ep_make(&id, 0, "1", NULL), "active, without a QP");
	say("qp %d event %d", id->qp != NULL, id->event != NULL);
	SAY_RET(rdma_connect(id, NULL), "connect where nobody listens");
	rdma_destroy_ep(id);
	attr.cap.max_send_wr = 1 << 30;
	SAY_RET(ep_make(&id, 0, "1", &attr), "active, with a QP that is too large");
	attr = plain_attr();
	SAY_RET(ep_make(&id, RAI_PASSIVE, "0", &attr), "passive");
	SAY_RET(rdma_listen(id, 2), "listen");
	snprintf(port, sizeof(port), "%u", be16toh(rdma_get_src_port(id)));
	with_client(id, true);
	with_client(id, false);
	rdma_destroy_ep(id);
}

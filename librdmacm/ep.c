/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * ep.c - endpoints: rdma_create_ep() makes an id from a struct rdma_addrinfo, ready to connect or
 * to listen; rdma_get_request() returns the requests to such a listener.
 */
#include "cma.h"

#include <rdma/rdma_verbs.h>
#include <stdlib.h>
#include <string.h>

enum { RESOLVE_MS = 2000 };

static int keep_request_qp(struct cm_id *cm, struct ibv_pd *pd, const struct ibv_qp_init_attr *attr)
{
	if (!attr)
		return 0;
	cm->request_qp = malloc(sizeof(*attr));
	if (!cm->request_qp)
		return ENOMEM;
	*cm->request_qp = *attr;
	cm->request_qp->qp_type = cm->id.qp_type;
	cm->request_pd = pd;
	return 0;
}

static int make_passive(struct cm_id *cm, const struct rdma_addrinfo *res, struct ibv_pd *pd,
			const struct ibv_qp_init_attr *attr)
{
	if (rdma_bind_addr(&cm->id, res->ai_src_addr))
		return errno;
	return keep_request_qp(cm, pd, attr);
}

static int keep_connect_data(struct cm_id *cm, const struct rdma_addrinfo *res)
{
	if (!res->ai_connect_len)
		return 0;
	if (res->ai_connect_len > RDMA_MAX_PRIVATE_DATA - 1) {
		verbs_warn("rdma_create_ep: ai_connect_len %zu: %u is the limit",
			   res->ai_connect_len, RDMA_MAX_PRIVATE_DATA - 1);
		return EINVAL;
	}
	cm->connect_data = malloc(res->ai_connect_len);
	if (!cm->connect_data)
		return ENOMEM;
	memcpy(cm->connect_data, res->ai_connect, res->ai_connect_len);
	cm->connect_len = res->ai_connect_len;
	return 0;
}

static int find_route(struct cm_id *cm, const struct rdma_addrinfo *res)
{
	if (!res->ai_route_len)
		return rdma_resolve_route(&cm->id, RESOLVE_MS) ? errno : 0;
	if (rdma_set_option(&cm->id, RDMA_OPTION_IB, RDMA_OPTION_IB_PATH, res->ai_route,
			    res->ai_route_len))
		return errno;
	/* the kernel confirms the path by an event */
	return cm_event_await(cm);
}

static int make_active(struct cm_id *cm, const struct rdma_addrinfo *res, struct ibv_pd *pd,
		       struct ibv_qp_init_attr *attr)
{
	int ret;

	if (rdma_resolve_addr(&cm->id, res->ai_src_addr, res->ai_dst_addr, RESOLVE_MS))
		return errno;
	ret = find_route(cm, res);
	if (!ret)
		ret = keep_connect_data(cm, res);
	if (ret || !attr)
		return ret;
	/* Create the QP last, because ATTR would otherwise name the CQs of a failed endpoint. */
	attr->qp_type = cm->id.qp_type;
	return rdma_create_qp(&cm->id, pd, attr) ? errno : 0;
}

CMA_EXPORT int rdma_create_ep(struct rdma_cm_id **id, struct rdma_addrinfo *res, struct ibv_pd *pd,
			      struct ibv_qp_init_attr *qp_init_attr)
{
	struct cm_id *cm;
	int ret = rdmacm_id_create(NULL, NULL, res->ai_port_space, res->ai_qp_type, &cm);

	if (ret)
		return cma_return(ret);
	ret = res->ai_flags & RAI_PASSIVE ? make_passive(cm, res, pd, qp_init_attr)
					  : make_active(cm, res, pd, qp_init_attr);
	if (ret)
		rdma_destroy_ep(&cm->id);
	else
		*id = &cm->id;
	return cma_return(ret);
}

CMA_EXPORT void rdma_destroy_ep(struct rdma_cm_id *id)
{
	if (id->qp)
		rdma_destroy_qp(id);
	if (id->srq)
		rdma_destroy_srq(id);
	rdma_destroy_id(id);
}

/* Creates a request's QP with the attributes that rdma_create_ep() got for the listener. The
 * listener has no QP, because each connection needs its own. */
static int give_qp(struct cm_id *listener, struct cm_id *cm)
{
	struct ibv_qp_init_attr attr;

	if (!listener->request_qp)
		return 0;
	attr = *listener->request_qp;
	return rdma_create_qp(&cm->id, listener->request_pd, &attr) ? errno : 0;
}

static int accept_request(struct cm_id *listener, struct rdma_cm_event *event)
{
	struct cm_id *cm = to_cm_id(event->id);
	int ret = rdma_migrate_id(&cm->id, NULL) ? errno : 0;

	if (!ret)
		ret = give_qp(listener, cm);
	if (ret) {
		rdma_reject(&cm->id, NULL, 0);
		rdma_destroy_id(&cm->id);
	} else {
		cm->id.event = event;
		rdmacm_event_settle(event);
	}
	return ret;
}

static int get_request(struct cm_id *listener, struct rdma_cm_id **id)
{
	struct rdma_cm_event *event;
	int ret;

	if (!listener->waits) {
		verbs_warn("rdma_get_request: the id has a channel: requests come as its events");
		return EINVAL;
	}
	rdmacm_event_release(listener);
	if (rdma_get_cm_event(listener->id.channel, &event))
		return errno;
	if (event->event != RDMA_CM_EVENT_CONNECT_REQUEST) {
		ret = event->status ? abs(event->status) : EINVAL;
		rdma_ack_cm_event(event);
		return ret;
	}
	*id = event->id;
	ret = accept_request(listener, event);
	if (ret)
		rdma_ack_cm_event(event);
	return ret;
}

CMA_EXPORT int rdma_get_request(struct rdma_cm_id *listen, struct rdma_cm_id **id)
{
	struct rdma_cm_id *request = NULL;
	int ret = get_request(to_cm_id(listen), &request);

	if (!ret)
		*id = request;
	return cma_return(ret);
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * request.c - arriving requests: finds the listener, makes an id and its event. A request by IP
 * address has a header with both addresses in its private data (IBTA annex A11).
 */
#include <errno.h>
#include <string.h>

#include "softhca/front/process/cm/mad.h"
#include "softhca/front/process/ucma/ucma.h"
#include "softhca/inet.h"

static bool has_ip_header(const uint8_t *header, bool *ipv4)
{
	unsigned int family = fld_get(header, CM_IP_FAMILY);

	*ipv4 = family == 4;
	return fld_get(header, CM_IP_VERSION) == 0 && (family == 4 || family == 6);
}

static const uint8_t *private_of(const struct cm_request *request)
{
	return cm_data(request->mad) + (request->sidr ? SIDR_REQ_PRIVATE_AT : REQ_PRIVATE_AT);
}

static void read_host(const uint8_t *at, bool ipv4, uint8_t host[16])
{
	if (ipv4)
		inet_map(at + INET_PREFIX, host);
	else
		memcpy(host, at, 16);
}

static void put_addresses(struct ucma_id *id, const struct ucma_id *listener,
			  const struct cm_request *request)
{
	const uint8_t *header = private_of(request);
	uint16_t port = ucma_addr_port(&listener->src.addr);
	uint8_t own[16], from[16];
	bool ipv4;

	if (ucma_addr_is_gid(&listener->src.addr) || !has_ip_header(header, &ipv4)) {
		ucma_addr_put(&id->src.addr, AF_IB_FAMILY, request->path.sgid, id->ps, port);
		ucma_addr_put(&id->dst.addr, AF_IB_FAMILY, request->path.dgid, id->ps, 0);
		return;
	}
	read_host(fld_at(header, CM_IP_DESTINATION), ipv4, own);
	read_host(fld_at(header, CM_IP_SOURCE), ipv4, from);
	ucma_addr_put(&id->src.addr, ipv4 ? AF_INET : AF_INET6, own, id->ps, port);
	ucma_addr_put(&id->dst.addr, ipv4 ? AF_INET : AF_INET6, from, id->ps,
		      fld_get(header, CM_IP_PORT));
}

static int make_request(struct ucma_id *listener, const struct cm_request *request,
			struct ucma_id **out)
{
	const struct cm_path *path = &request->path;
	struct ucma_id *id;
	int ret = ucma_id_new(listener->file, &id);

	if (ret)
		return ret;
	id->ps = listener->ps;
	id->qp_type = request->qp_type;
	id->datagram = listener->datagram;
	id->src = (struct ucma_end){
		.adapter = path->adapter,
		.port = path->port,
		.gid_index = path->gid_index,
		.lid = path->slid,
	};
	id->dst = (struct ucma_end){ .port = path->port, .lid = path->dlid };
	memcpy(id->src.gid, path->sgid, 16);
	memcpy(id->dst.gid, path->dgid, 16);
	put_addresses(id, listener, request);
	id->has_src = id->has_dst = true;
	id->passive = true;
	id->path = *path;
	id->state = UCMA_CONNECTS;
	*out = id;
	return 0;
}

static struct ucma_id *listener_of(const struct cm_request *request)
{
	const uint8_t *header = private_of(request);
	uint8_t host[16];
	bool ipv4, has_ip = has_ip_header(header, &ipv4);

	if (has_ip)
		read_host(fld_at(header, CM_IP_DESTINATION), ipv4, host);
	return ucma_id_find_listener(request->service, request->path.adapter, has_ip ? host : NULL,
				     ipv4);
}

int ucma_request_wanted(const struct cm_request *request, struct cm_conn **conn)
{
	struct ucma_id *listener = listener_of(request), *id;
	int ret;

	if (!listener)
		return ENOENT;
	if (listener->qp_type && listener->qp_type != request->qp_type)
		return EINVAL;
	if (listener->backlog <= 0)
		return ENOMEM;
	ret = make_request(listener, request, &id);
	if (ret)
		return ret;
	*conn = &id->conn;
	return 0;
}

/* Fills in the parameters of a REQ. Exchanges responder resources and initiator depth, as the READs
 * that one side starts are those that the other side answers. */
static void put_req(struct ucma_event *event, const uint8_t *mad, unsigned int skip)
{
	struct rdma_ucm_conn_param *param = &event->resp.param.conn;
	const uint8_t *data = cm_data(mad);

	param->private_data_len = REQ_PRIVATE - skip;
	memcpy(param->private_data, data + REQ_PRIVATE_AT + skip, REQ_PRIVATE - skip);
	param->responder_resources = fld_get(data, REQ_INITIATOR_DEPTH);
	param->initiator_depth = fld_get(data, REQ_RESPONDER_RESOURCES);
	param->flow_control = fld_get(data, REQ_FLOW_CONTROL);
	param->retry_count = fld_get(data, REQ_RETRY_COUNT);
	param->rnr_retry_count = fld_get(data, REQ_RNR_RETRY_COUNT);
	param->srq = fld_get(data, REQ_SRQ);
	param->qp_num = fld_get(data, REQ_QPN);
	event->resp.ece.vendor_id = fld_get(data, REQ_VENDOR_ID);
	event->resp.ece.attr_mod = fld_get(mad, MAD_MODIFIER);
}

/* Reports a connection request to the listener's program. If the listener is gone, destroys ID
 * instead, which rejects the request, so that the peer need not wait for a timeout. */
void ucma_request_tell(struct ucma_id *id, const struct cm_request *request)
{
	struct ucma_id *listener = listener_of(request);
	struct ucma_event *event =
		listener ? ucma_event_new(listener, EV_CONNECT_REQUEST, 0) : NULL;
	unsigned int skip = listener && ucma_addr_is_gid(&listener->src.addr) ? 0 : CM_IP_SIZE;

	if (!event) {
		ucma_id_destroy(id);
		return;
	}
	event->resp.id = id->number;
	ucma_event_join(event, id);
	if (request->sidr) {
		struct rdma_ucm_ud_param *param = &event->resp.param.ud;

		param->private_data_len = SIDR_REQ_PRIVATE - skip;
		memcpy(param->private_data, private_of(request) + skip, SIDR_REQ_PRIVATE - skip);
	} else {
		put_req(event, request->mad, skip);
	}
	listener->backlog--;
	ucma_event_send(event);
}

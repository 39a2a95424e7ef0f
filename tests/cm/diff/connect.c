/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * connect.c - connections: calls in the wrong state, parameters of both sides, rejects, ends.
 *
 * Covers: librdmacm/connect.c, librdmacm/event.c, softhca/front/process/ucma/conn.c,
 * softhca/front/process/ucma/conn_event.c, softhca/front/process/ucma/listen.c,
 * softhca/front/process/cm/
 */
#include <stdlib.h>

#include "tests/cm/cm.h"

/* Makes every call on an id that has not reached the state for it. */
static void try_all(const char *what, struct rdma_cm_id *id)
{
	struct rdma_conn_param param = { .retry_count = 7 };
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT };
	struct ibv_ece ece = { .vendor_id = 1 };
	int mask;

	say("%s", what);
	if (id->verbs) { /* not without a device, as the distribution's library crashes then */
		SAY_RET(rdma_resolve_route(id, RESOLVE_MS), "resolve_route");
		SAY_RET(rdma_connect(id, &param), "connect");
		SAY_RET(rdma_accept(id, &param), "accept");
	}
	SAY_RET(rdma_reject(id, NULL, 0), "reject");
	SAY_RET(rdma_establish(id), "establish");
	SAY_RET(rdma_disconnect(id), "disconnect");
	SAY_RET(rdma_notify(id, IBV_EVENT_COMM_EST), "notify");
	SAY_RET(rdma_init_qp_attr(id, &attr, &mask), "init_qp_attr");
	SAY_RET(rdma_get_remote_ece(id, &ece), "get_remote_ece");
	SAY_RET(rdma_get_request(id, &id), "get_request");
}

void cm_diff_states(void)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();
	struct sockaddr_in addr = cm_loopback(7471);
	struct rdma_cm_id *id;
	uint16_t port;

	MUST(channel && !rdma_create_id(channel, &id, NULL, RDMA_PS_TCP));
	try_all("new", id);
	MUST(!rdma_bind_addr(id, (struct sockaddr *)&addr));
	try_all("bound", id);
	SAY_RET(rdma_listen(id, 1), "listen");
	SAY_RET(rdma_listen(id, 1), "listen once more");
	try_all("listening", id);
	SAY_RET(rdma_resolve_addr(id, NULL, (struct sockaddr *)&addr, RESOLVE_MS),
		"resolve_addr of a listener");
	MUST(!rdma_destroy_id(id));
	MUST(!rdma_create_id(channel, &id, NULL, RDMA_PS_TCP));
	SAY_RET(rdma_listen(id, 1), "listen without an address");
	MUST(!rdma_destroy_id(id));
	id = cm_resolved(channel, RDMA_PS_TCP, 7471);
	SAY_RET(rdma_resolve_addr(id, NULL, (struct sockaddr *)&addr, RESOLVE_MS),
		"resolve_addr once more");
	SAY_RET(rdma_listen(id, 1), "listen with a route");
	MUST(!rdma_destroy_id(id));
	id = cm_listening(channel, RDMA_PS_TCP, &port);
	MUST(!rdma_destroy_id(id));
	rdma_destroy_event_channel(channel);
}

static void ece(struct cm_pair *pair)
{
	struct ibv_ece wrong = { .vendor_id = 0 }, remote = { 0 };

	SAY_RET(rdma_set_local_ece(pair->client, &wrong), "set_local_ece without a vendor");
	SAY_RET(rdma_set_local_ece(pair->client, NULL), "set_local_ece of nothing");
	SAY_RET(rdma_get_remote_ece(pair->server, &remote), "get_remote_ece");
	say("vendor %d", remote.vendor_id != 0);
	SAY_RET(rdma_get_remote_ece(pair->server, NULL), "get_remote_ece without room");
}

void cm_diff_connect(void)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;
	struct cm_pair pair;

	cm_pair_connect(&pair);
	ece(&pair);
	for (int i = 0; i < 2; i++) {
		MUST(!ibv_query_qp((i ? pair.server : pair.client)->qp, &attr, 0xfffff, &init));
		say("state %d access 0x%x mtu %d rd %u %u timeout %d retry %u %u min_rnr %u",
		    attr.qp_state, attr.qp_access_flags, attr.path_mtu, attr.max_rd_atomic,
		    attr.max_dest_rd_atomic, attr.timeout > 0, attr.retry_cnt, attr.rnr_retry,
		    attr.min_rnr_timer);
	}
	try_all("connected", pair.client);
	cm_expect("server", pair.server_channel);
	cm_pair_close(&pair);
}

static void connect_with(const char *what, struct rdma_conn_param param)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();
	struct rdma_cm_id *id = cm_resolved(channel, RDMA_PS_TCP, 1);

	cm_make_qp(id);
	if (!SAY_RET(rdma_connect(id, &param), "connect: %s", what))
		cm_expect("client", channel);
	rdma_destroy_qp(id);
	MUST(!rdma_destroy_id(id));
	rdma_destroy_event_channel(channel);
}

static void accept_with(const char *what, struct rdma_conn_param *asked,
			struct rdma_conn_param *answered)
{
	struct cm_pair pair;

	cm_pair_request(&pair, asked);
	cm_make_qp(pair.server);
	if (!SAY_RET(rdma_accept(pair.server, answered), "accept: %s", what)) {
		cm_expect("client", pair.client_channel);
		cm_expect("server", pair.server_channel);
	}
	cm_pair_close(&pair);
}

void cm_diff_params(void)
{
	static uint8_t data[300];
	struct rdma_conn_param param = { .responder_resources = 1,
					 .initiator_depth = 1,
					 .retry_count = 7 };
	struct rdma_conn_param answer = { .rnr_retry_count = 3 };

	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t)(i * 7 + 1);
	connect_with("nobody listens", param);
	param.responder_resources = 200;
	connect_with("too many responder resources", param);
	param.responder_resources = 1;
	param.initiator_depth = 200;
	connect_with("too deep", param);
	param.initiator_depth = 1;
	param.private_data = data;
	param.private_data_len = 255;
	connect_with("255 bytes of private data", param);
	param.private_data_len = 57;
	connect_with("57 bytes of private data", param);
	param.private_data_len = 56;
	connect_with("56 bytes of private data", param);
	param.private_data = NULL;
	connect_with("length without private data", param);
	param.private_data = data;
	param.private_data_len = 20;
	param.rnr_retry_count = 5;
	param.flow_control = 1;
	accept_with("nothing", &param, &answer);
	answer.private_data = data;
	answer.private_data_len = 196;
	answer.responder_resources = 2;
	answer.initiator_depth = 2;
	accept_with("196 bytes of private data", &param, &answer);
	answer.private_data_len = 197;
	accept_with("197 bytes of private data", &param, &answer);
	answer.private_data_len = 0;
	answer.responder_resources = 200;
	accept_with("too many responder resources", &param, &answer);
	param.responder_resources = RDMA_MAX_RESP_RES;
	param.initiator_depth = RDMA_MAX_INIT_DEPTH;
	answer.responder_resources = RDMA_MAX_RESP_RES;
	answer.initiator_depth = RDMA_MAX_INIT_DEPTH;
	accept_with("as many as possible", &param, &answer);
}

static void reject_with(const char *what, const void *data, uint8_t len)
{
	struct rdma_conn_param param = { .qp_num = 1 };
	struct cm_pair pair;

	cm_pair_request(&pair, NULL);
	if (SAY_RET(rdma_reject(pair.server, data, len), "reject: %s", what))
		MUST(!rdma_reject(pair.server, NULL, 0));
	cm_expect("client", pair.client_channel);
	SAY_RET(rdma_accept(pair.server, &param), "accept what was rejected");
	SAY_RET(rdma_reject(pair.server, NULL, 0), "reject once more");
	SAY_RET(rdma_connect(pair.client, NULL), "connect once more");
	cm_pair_close(&pair);
}

void cm_diff_reject(void)
{
	static uint8_t data[255] = "because";
	struct ibv_qp_init_attr attr = {
		.cap = { .max_send_wr = 1, .max_send_sge = 1, .max_recv_wr = 1 },
		.qp_type = IBV_QPT_RC
	};
	struct rdma_conn_param param = { .qp_num = 1 };
	struct cm_pair pair;

	reject_with("without a reason", NULL, 0);
	reject_with("with one", data, 8);
	reject_with("with 148 bytes", data, 148);
	reject_with("with 149 bytes", data, 149);
	reject_with("with 255 bytes", data, 255);
	cm_pair_request(&pair, NULL);
	SAY_RET(rdma_reject_ece(pair.server, NULL, 0), "reject_ece");
	cm_expect("client", pair.client_channel);
	cm_pair_close(&pair);
	say("an id that is destroyed before it answers");
	cm_pair_request(&pair, NULL);
	MUST(!rdma_destroy_id(pair.server));
	pair.server = NULL;
	cm_expect("client", pair.client_channel);
	cm_pair_close(&pair);
	say("a client that is gone before it is answered");
	cm_pair_request(&pair, NULL);
	rdma_destroy_qp(pair.client);
	MUST(!rdma_destroy_id(pair.client));
	pair.client = NULL;
	SAY_RET(rdma_create_qp(pair.server, NULL, &attr), "create_qp");
	SAY_RET(rdma_accept(pair.server, &param), "accept");
	cm_pair_close(&pair);
}

void cm_diff_disconnect(void)
{
	struct cm_pair pair;

	cm_pair_connect(&pair);
	SAY_RET(rdma_disconnect(pair.client), "disconnect the client");
	cm_expect("server", pair.server_channel);
	SAY_RET(rdma_disconnect(pair.server), "disconnect the server");
	cm_expect("client", pair.client_channel);
	SAY_RET(rdma_disconnect(pair.client), "disconnect the client once more");
	cm_pair_close(&pair);
	say("both at once");
	cm_pair_connect(&pair);
	SAY_RET(rdma_disconnect(pair.client), "disconnect the client");
	SAY_RET(rdma_disconnect(pair.server), "disconnect the server");
	cm_expect("server", pair.server_channel);
	cm_expect("client", pair.client_channel);
	cm_pair_close(&pair);
	say("an id that is destroyed while it is connected");
	cm_pair_connect(&pair);
	rdma_destroy_qp(pair.client);
	SAY_RET(rdma_destroy_id(pair.client), "destroy_id");
	pair.client = NULL;
	cm_expect("server", pair.server_channel);
	cm_pair_close(&pair);
}

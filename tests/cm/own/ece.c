/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * ece.c - connection establishment options (ECE): of a QP while its states change, and of
 * connections, whose sides agree on them. The distribution's library never queries those of its
 * QPs, so this test runs on ours only.
 *
 * softhca has options 1, 2 and 4 of version 1.
 *
 * Covers: librdmacm/connect.c, librdmacm/qp.c
 */
#include "tests/cm/cm.h"
#include "own.h"

#define VENDOR 0x15b3u
#define ALL    0x10000007u

static uint32_t qp_options(struct ibv_qp *qp)
{
	struct ibv_ece ece = { .comp_mask = 1 };

	MUST(!ibv_query_ece(qp, &ece));
	say_check(ece.vendor_id == VENDOR && !ece.comp_mask, "query_ece says whose they are");
	return ece.options;
}

static struct ibv_qp *make_qp(struct ibv_pd *pd, struct ibv_cq *cq, enum ibv_qp_type type)
{
	struct ibv_qp_init_attr attr = {
		.send_cq = cq, .recv_cq = cq, .cap = { 1, 1, 1, 1, 0 }, .qp_type = type
	};
	struct ibv_qp *qp = ibv_create_qp(pd, &attr);

	MUST(qp);
	return qp;
}

static void types_are_answered(struct ibv_pd *pd, struct ibv_cq *cq)
{
	static const enum ibv_qp_type types[] = { IBV_QPT_RC, IBV_QPT_UC, IBV_QPT_UD };

	for (unsigned int i = 0; i < ARRAY_SIZE(types); i++) {
		struct ibv_qp *qp = make_qp(pd, cq, types[i]);

		if (types[i] == IBV_QPT_UD)
			say_check(!qp_options(qp), "a new QP without connections has none");
		else
			say_check(qp_options(qp) == ALL, "a new QP of type %d has all",
				  (int)types[i]);
		MUST(!ibv_destroy_qp(qp));
	}
}

static void qp_asks(struct ibv_qp *qp, uint32_t options, uint32_t answer)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1 };
	struct ibv_ece ece = { .vendor_id = VENDOR, .options = options };

	MUST(!ibv_set_ece(qp, &ece));
	say_check(!qp_options(qp), "what is asked for is not in force yet");
	MUST(!ibv_modify_qp(qp, &attr,
			    IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS));
	say_check(qp_options(qp) == answer, "0x%x is answered by 0x%x", options, answer);
	attr.qp_state = IBV_QPS_RESET;
	MUST(!ibv_modify_qp(qp, &attr, IBV_QP_STATE));
}

static void qp_on_its_way(struct ibv_context *ctx)
{
	struct ibv_pd *pd = ibv_alloc_pd(ctx);
	struct ibv_cq *cq = ibv_create_cq(ctx, 4, NULL, NULL, 0);
	struct ibv_qp *qp;

	MUST(pd && cq);
	types_are_answered(pd, cq);
	qp = make_qp(pd, cq, IBV_QPT_RC);
	qp_asks(qp, 0x10000001, 0x10000001);
	qp_asks(qp, 0x1ffffff6, 0x10000006);
	qp_asks(qp, 0x10000000, 0x10000000);
	qp_asks(qp, 0x20000007, 0);
	MUST(!ibv_destroy_qp(qp) && !ibv_destroy_cq(cq) && !ibv_dealloc_pd(pd));
}

struct ece_pair {
	struct rdma_event_channel *client_channel, *server_channel;
	struct rdma_cm_id *client, *listener, *server;
};

static void take_event(struct rdma_event_channel *channel, enum rdma_cm_event_type type,
		       struct rdma_cm_id **id)
{
	struct rdma_cm_event *event;

	MUST(!rdma_get_cm_event(channel, &event));
	say_check(event->event == type, "%s comes", rdma_event_str(type));
	if (id)
		*id = event->id;
	MUST(!rdma_ack_cm_event(event));
}

static void side_prepare(struct rdma_cm_id *id, uint32_t options)
{
	struct ibv_ece ece = { .vendor_id = VENDOR, .options = options };

	if (options)
		MUST(!rdma_set_local_ece(id, &ece));
	else
		cm_make_qp(id);
}

static uint32_t peer_options(struct rdma_cm_id *id)
{
	struct ibv_ece ece = { 0 };

	MUST(!rdma_get_remote_ece(id, &ece));
	say_check(ece.vendor_id == VENDOR, "the peer says whose its options are");
	return ece.options;
}

static void pair_open(struct ece_pair *pair)
{
	uint16_t port;

	MUST(pair->client_channel = rdma_create_event_channel());
	MUST(pair->server_channel = rdma_create_event_channel());
	pair->listener = cm_listening(pair->server_channel, RDMA_PS_TCP, &port);
	pair->client = cm_resolved(pair->client_channel, RDMA_PS_TCP, port);
}

static void pair_close(struct ece_pair *pair)
{
	struct rdma_cm_id *ids[] = { pair->client, pair->server, pair->listener };

	for (unsigned int i = 0; i < ARRAY_SIZE(ids); i++) {
		if (ids[i]->qp)
			rdma_destroy_qp(ids[i]);
		MUST(!rdma_destroy_id(ids[i]));
	}
	rdma_destroy_event_channel(pair->client_channel);
	rdma_destroy_event_channel(pair->server_channel);
}

/* Connects with these options of the two sides; 0: the options of the side's QP. AGREED: the
 * options that both must have in the end. */
static void connect_sides(uint32_t client, uint32_t server, uint32_t agreed)
{
	/* numbers of no existing QP, different ones for each connection, so that none is stale */
	static uint32_t qpn = 0x200;
	struct rdma_conn_param param = { .qp_num = qpn++, .retry_count = 7 };
	struct ece_pair pair;

	say("client 0x%x, server 0x%x", client, server);
	pair_open(&pair);
	side_prepare(pair.client, client);
	MUST(!rdma_connect(pair.client, &param));
	take_event(pair.server_channel, RDMA_CM_EVENT_CONNECT_REQUEST, &pair.server);
	say_check(peer_options(pair.server) == (client ? client : ALL), "the client's options");
	side_prepare(pair.server, server);
	param.qp_num = qpn++;
	MUST(!rdma_accept(pair.server, &param));
	if (client) {
		take_event(pair.client_channel, RDMA_CM_EVENT_CONNECT_RESPONSE, NULL);
		say_check(peer_options(pair.client) == agreed, "the server has answered 0x%x",
			  agreed);
		MUST(!rdma_establish(pair.client));
	} else {
		take_event(pair.client_channel, RDMA_CM_EVENT_ESTABLISHED, NULL);
		say_check(qp_options(pair.client->qp) == agreed, "the client's QP has 0x%x",
			  agreed);
	}
	take_event(pair.server_channel, RDMA_CM_EVENT_ESTABLISHED, NULL);
	if (!server)
		say_check(qp_options(pair.server->qp) == agreed, "the server's QP has 0x%x",
			  agreed);
	pair_close(&pair);
}

#define STRANGER 0x1234u

static void stranger_asks(void)
{
	struct ibv_ece ece = { .vendor_id = STRANGER, .options = 5 };
	struct rdma_conn_param param = { .qp_num = 0x300, .retry_count = 7 };
	struct ece_pair pair;

	say("the client is a stranger");
	pair_open(&pair);
	MUST(!rdma_set_local_ece(pair.client, &ece) && !rdma_connect(pair.client, &param));
	take_event(pair.server_channel, RDMA_CM_EVENT_CONNECT_REQUEST, &pair.server);
	MUST(!rdma_get_remote_ece(pair.server, &ece));
	say_check(ece.vendor_id == STRANGER && ece.options == 5, "its options are told");
	cm_make_qp(pair.server);
	say_check(!rdma_accept(pair.server, NULL), "it is accepted");
	take_event(pair.client_channel, RDMA_CM_EVENT_CONNECT_RESPONSE, NULL);
	MUST(!rdma_get_remote_ece(pair.client, &ece));
	say_check(!ece.vendor_id && !ece.options, "and answered that none are used");
	MUST(!rdma_establish(pair.client));
	take_event(pair.server_channel, RDMA_CM_EVENT_ESTABLISHED, NULL);
	pair_close(&pair);
}

static void stranger_answers(void)
{
	struct ibv_ece ece = { .vendor_id = STRANGER, .options = 5 };
	struct rdma_conn_param param = { .qp_num = 0x301, .retry_count = 7 };
	struct ece_pair pair;

	say("the server is a stranger");
	pair_open(&pair);
	cm_make_qp(pair.client);
	MUST(!rdma_connect(pair.client, NULL));
	take_event(pair.server_channel, RDMA_CM_EVENT_CONNECT_REQUEST, &pair.server);
	MUST(!rdma_set_local_ece(pair.server, &ece) && !rdma_accept(pair.server, &param));
	take_event(pair.client_channel, RDMA_CM_EVENT_ESTABLISHED, NULL);
	take_event(pair.server_channel, RDMA_CM_EVENT_ESTABLISHED, NULL);
	pair_close(&pair);
}

void own_ece(void)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();
	struct rdma_cm_id *id;

	MUST(channel);
	id = cm_resolved(channel, RDMA_PS_TCP, 7471);
	qp_on_its_way(id->verbs);
	MUST(!rdma_destroy_id(id));
	rdma_destroy_event_channel(channel);
	connect_sides(0, 0, ALL);
	connect_sides(0x1ffffff5, 0, 0x10000005);
	connect_sides(0, 0x10000002, 0x10000002);
	connect_sides(0x10000003, 0x10000001, 0x10000001);
	stranger_asks();
	stranger_answers();
}

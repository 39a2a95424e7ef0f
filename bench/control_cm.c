/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * control_cm.c - control_cm connections|datagrams|curve: instructions of the calls of rdma_cm that
 * make and end a connection, of groups of datagrams and of names, and of ids that are made where
 * many are there. Both ends of a connection are in this process.
 *
 * Its headers are ours, as the distribution's lack some of the calls.
 */
#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>
#include <rdma/rdma_cma.h>
#include <rdma/rdma_verbs.h>

#include "bench/parts.h"
#include "bench/steps.h"
#include "tests/lib/say.h"
#include "util/bits.h"

enum { WAIT_MS = 2000, MOST_IDS = 10000, FIRST_PORT = 0xc6120001 /* 198.18.0.1 */ };

/* Objects that the rows use: ids of both ends. */
struct world {
	struct rdma_event_channel *channel, *other, *server;
	struct rdma_cm_id *listener, *waiting; /* waiting has a channel of its own */
	struct rdma_cm_id *id[EACH], *peer[EACH];
	struct rdma_cm_event *event[EACH];
	struct ibv_pd *pd;
	struct rdma_addrinfo *info;
};

static void id_make(struct world *w, int i)
{
	MUST(!rdma_create_id(w->channel, &w->id[i], NULL, RDMA_PS_TCP));
}

static void id_make_alone(struct world *w, int i)
{
	MUST(!rdma_create_id(NULL, &w->id[i], NULL, RDMA_PS_TCP));
}

static void id_end(struct world *w, int i)
{
	MUST(!rdma_destroy_id(w->id[i]));
}

static void id_resolve(struct world *w, int i)
{
	MUST(!rdma_resolve_addr(w->id[i], NULL, loopback(rdma_get_src_port(w->listener)), WAIT_MS));
}

static void id_route(struct world *w, int i)
{
	MUST(!rdma_resolve_route(w->id[i], WAIT_MS));
}

static void event_get(struct world *w, int i)
{
	MUST(!rdma_get_cm_event(w->channel, &w->event[i]) && !w->event[i]->status);
}

static void event_ack(struct world *w, int i)
{
	MUST(!rdma_ack_cm_event(w->event[i]));
}

static void event_take(struct world *w, int i)
{
	event_get(w, i);
	event_ack(w, i);
}

static void id_resolved(struct world *w, int i)
{
	id_make(w, i);
	id_resolve(w, i);
	event_take(w, i);
}

static void id_routed(struct world *w, int i)
{
	id_resolved(w, i);
	id_route(w, i);
	event_take(w, i);
}

static struct ibv_qp_init_attr qp_attr(void)
{
	return (struct ibv_qp_init_attr){ .cap = { 8, 8, 1, 1, 0 }, .qp_type = IBV_QPT_RC };
}

static void qp_make(struct world *w, int i)
{
	struct ibv_qp_init_attr attr = qp_attr();

	MUST(!rdma_create_qp(w->id[i], w->pd, &attr));
}

static void qp_make_ex(struct world *w, int i)
{
	struct ibv_qp_init_attr_ex attr = { .cap = { 8, 8, 1, 1, 0 },
					    .qp_type = IBV_QPT_RC,
					    .comp_mask = IBV_QP_INIT_ATTR_PD,
					    .pd = w->id[i]->pd };

	MUST(!rdma_create_qp_ex(w->id[i], &attr));
}

static void qp_end(struct world *w, int i)
{
	rdma_destroy_qp(w->id[i]);
}

static void srq_make(struct world *w, int i)
{
	struct ibv_srq_init_attr attr = { .attr = { .max_wr = 8, .max_sge = 1 } };

	MUST(!rdma_create_srq(w->id[i], w->pd, &attr));
}

static void srq_make_ex(struct world *w, int i)
{
	struct ibv_srq_init_attr_ex attr = { .attr = { .max_wr = 8, .max_sge = 1 },
					     .comp_mask =
						     IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD,
					     .srq_type = IBV_SRQT_BASIC,
					     .pd = w->id[i]->pd };

	MUST(!rdma_create_srq_ex(w->id[i], &attr));
}

static void srq_end(struct world *w, int i)
{
	rdma_destroy_srq(w->id[i]);
}

static void qp_init_attr(struct world *w, int i)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT };
	int mask;

	MUST(!rdma_init_qp_attr(w->id[i], &attr, &mask));
}

static void option_set(struct world *w, int i)
{
	uint8_t tos = 8;

	MUST(!rdma_set_option(w->id[i], RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, &tos, sizeof(tos)));
}

static void id_migrate(struct world *w, int i)
{
	MUST(!rdma_migrate_id(w->id[i], w->other));
}

static void id_connect(struct world *w, int i)
{
	struct rdma_conn_param param = { .retry_count = 7, .rnr_retry_count = 7 };

	MUST(!rdma_connect(w->id[i], &param));
}

static void peer_get(struct world *w, int i)
{
	MUST(!rdma_get_cm_event(w->server, &w->event[i]));
	w->peer[i] = w->event[i]->id;
}

static void peer_take(struct world *w, int i)
{
	peer_get(w, i);
	event_ack(w, i);
}

static void peer_qp_make(struct world *w, int i)
{
	struct ibv_qp_init_attr attr = qp_attr();

	MUST(!rdma_create_qp(w->peer[i], w->pd, &attr));
}

static void peer_accept(struct world *w, int i)
{
	struct rdma_conn_param param = { .rnr_retry_count = 7 };

	MUST(!rdma_accept(w->peer[i], &param));
}

static void peer_reject(struct world *w, int i)
{
	MUST(!rdma_reject(w->peer[i], NULL, 0));
}

static void event_drop(struct world *w, int i)
{
	MUST(!rdma_get_cm_event(w->channel, &w->event[i]));
	event_ack(w, i);
}

static void peer_event_drop(struct world *w, int i)
{
	MUST(!rdma_get_cm_event(w->server, &w->event[i]));
	event_ack(w, i);
}

static void id_asked(struct world *w, int i)
{
	id_routed(w, i);
	qp_make(w, i);
	id_connect(w, i);
	peer_take(w, i);
	peer_qp_make(w, i);
}

static void id_connected(struct world *w, int i)
{
	id_asked(w, i);
	peer_accept(w, i);
	event_take(w, i);
	peer_event_drop(w, i);
}

static void id_disconnect(struct world *w, int i)
{
	MUST(!rdma_disconnect(w->id[i]));
}

static void ends_end(struct world *w, int i)
{
	qp_end(w, i);
	id_end(w, i);
	rdma_destroy_qp(w->peer[i]);
	MUST(!rdma_destroy_id(w->peer[i]));
}

static void peer_end(struct world *w, int i)
{
	MUST(!rdma_destroy_id(w->peer[i]));
}

static void ece_get(struct world *w, int i)
{
	struct ibv_ece ece;

	MUST(!rdma_get_remote_ece(w->peer[i], &ece));
}

static void peer_ece_set(struct world *w, int i)
{
	struct ibv_ece ece = { .vendor_id = 0x15b3, .options = 1 };

	MUST(!rdma_set_local_ece(w->peer[i], &ece));
}

static void peer_reject_ece(struct world *w, int i)
{
	MUST(!rdma_reject_ece(w->peer[i], NULL, 0));
}

static void peer_notify(struct world *w, int i)
{
	MUST(!rdma_notify(w->peer[i], IBV_EVENT_COMM_EST));
}

/* Connects with a QP that rdma_cm does not know, so that the program completes the connection. Each
 * number is used once, as the peer takes a second connection of a QP for a stale one. */
static void id_connect_alone(struct world *w, int i)
{
	static uint32_t number = 0x1000;
	struct rdma_conn_param param = { .retry_count = 7, .rnr_retry_count = 7 };

	param.qp_num = number++;
	MUST(!rdma_connect(w->id[i], &param));
}

static void id_answered(struct world *w, int i)
{
	id_routed(w, i);
	id_connect_alone(w, i);
	peer_take(w, i);
	peer_qp_make(w, i);
	peer_accept(w, i);
	event_take(w, i);
}

static void id_establish(struct world *w, int i)
{
	MUST(!rdma_establish(w->id[i]));
}

static void alone_end(struct world *w, int i)
{
	id_end(w, i);
	rdma_destroy_qp(w->peer[i]);
	MUST(!rdma_destroy_id(w->peer[i]));
}

/* Connects to the listener that has a channel of its own. */
static void request_make(struct world *w, int i)
{
	id_make(w, i);
	MUST(!rdma_resolve_addr(w->id[i], NULL, loopback(rdma_get_src_port(w->waiting)), WAIT_MS));
	event_take(w, i);
	id_route(w, i);
	event_take(w, i);
	id_connect_alone(w, i);
}

static void request_get(struct world *w, int i)
{
	MUST(!rdma_get_request(w->waiting, &w->peer[i]));
}

static void request_end(struct world *w, int i)
{
	MUST(!rdma_reject(w->peer[i], NULL, 0));
	event_drop(w, i);
	id_end(w, i);
	rdma_destroy_ep(w->peer[i]);
}

static void ports_get(struct world *w, int i)
{
	MUST(rdma_get_src_port(w->id[i]) && rdma_get_dst_port(w->id[i]));
}

static void names_get(struct world *w, int i)
{
	(void)w;
	MUST(rdma_event_str((enum rdma_cm_event_type)(i % RDMA_CM_EVENT_TIMEWAIT_EXIT)));
}

static void ece_set(struct world *w, int i)
{
	struct ibv_ece ece = { .vendor_id = 0x15b3, .options = 1 };

	MUST(!rdma_set_local_ece(w->id[i], &ece));
}

static void passive_addrinfo(struct world *w, int i)
{
	struct rdma_addrinfo hints = { .ai_flags = RAI_PASSIVE, .ai_port_space = RDMA_PS_TCP };

	(void)i;
	MUST(!rdma_getaddrinfo(NULL, "7471", &hints, &w->info));
	rdma_freeaddrinfo(w->info);
}

static void ep_ask(struct world *w, int i)
{
	struct rdma_addrinfo hints = { .ai_flags = RAI_PASSIVE, .ai_port_space = RDMA_PS_TCP };

	if (!i)
		MUST(!rdma_getaddrinfo(NULL, "0", &hints, &w->info));
}

static void ep_make(struct world *w, int i)
{
	MUST(!rdma_create_ep(&w->id[i], w->info, NULL, NULL));
}

static void ep_end(struct world *w, int i)
{
	rdma_destroy_ep(w->id[i]);
	if (i + 1 == EACH)
		rdma_freeaddrinfo(w->info);
}

static const struct row connections[] = {
	{ "rdma_create_id, own channel", { NULL }, id_make_alone, { id_end } },
	{ "rdma_destroy_id, own channel", { id_make_alone }, id_end, { NULL } },
	{ "rdma_resolve_addr", { id_make }, id_resolve, { event_take, id_end } },
	{ "rdma_get_cm_event, ADDR_RESOLVED",
	  { id_make, id_resolve },
	  event_get,
	  { event_ack, id_end } },
	{ "rdma_ack_cm_event", { id_make, id_resolve, event_get }, event_ack, { id_end } },
	{ "rdma_resolve_route", { id_resolved }, id_route, { event_take, id_end } },
	{ "rdma_get_cm_event, ROUTE_RESOLVED",
	  { id_resolved, id_route },
	  event_get,
	  { event_ack, id_end } },
	{ "rdma_create_qp", { id_routed }, qp_make, { qp_end, id_end } },
	{ "rdma_create_qp_ex", { id_routed }, qp_make_ex, { qp_end, id_end } },
	{ "rdma_destroy_qp", { id_routed, qp_make }, qp_end, { id_end } },
	{ "rdma_create_srq", { id_routed }, srq_make, { srq_end, id_end } },
	{ "rdma_create_srq_ex", { id_routed }, srq_make_ex, { srq_end, id_end } },
	{ "rdma_destroy_srq", { id_routed, srq_make }, srq_end, { id_end } },
	{ "rdma_init_qp_attr", { id_routed }, qp_init_attr, { id_end } },
	{ "rdma_set_option", { id_make }, option_set, { id_end } },
	{ "rdma_set_local_ece", { id_make }, ece_set, { id_end } },
	{ "rdma_migrate_id", { id_make }, id_migrate, { id_end } },
	{ "rdma_get_src_port, rdma_get_dst_port", { id_routed }, ports_get, { id_end } },
	{ "rdma_event_str", { NULL }, names_get, { NULL } },
	{ "rdma_getaddrinfo, passive", { NULL }, passive_addrinfo, { NULL } },
	{ "rdma_create_ep, passive", { ep_ask }, ep_make, { ep_end } },
	{ "rdma_destroy_ep, passive", { ep_ask, ep_make }, ep_end, { NULL } },
	{ "rdma_connect",
	  { id_routed, qp_make },
	  id_connect,
	  { peer_take, peer_reject, event_drop, qp_end, id_end, peer_end } },
	{ "rdma_get_cm_event, CONNECT_REQUEST",
	  { id_routed, qp_make, id_connect },
	  peer_get,
	  { event_ack, peer_reject, event_drop, qp_end, id_end, peer_end } },
	{ "rdma_reject",
	  { id_routed, qp_make, id_connect, peer_take },
	  peer_reject,
	  { event_drop, qp_end, id_end, peer_end } },
	{ "rdma_accept", { id_asked }, peer_accept, { event_take, ends_end } },
	{ "rdma_get_cm_event, ESTABLISHED",
	  { id_asked, peer_accept },
	  event_get,
	  { event_ack, ends_end } },
	{ "rdma_reject_ece",
	  { id_routed, qp_make, id_connect, peer_take, peer_ece_set },
	  peer_reject_ece,
	  { event_drop, qp_end, id_end, peer_end } },
	{ "rdma_get_remote_ece",
	  { id_routed, qp_make, id_connect, peer_take },
	  ece_get,
	  { peer_reject, event_drop, qp_end, id_end, peer_end } },
	{ "rdma_get_request", { request_make }, request_get, { request_end } },
	{ "rdma_establish", { id_answered }, id_establish, { peer_event_drop, alone_end } },
	{ "rdma_notify", { id_connected }, peer_notify, { ends_end } },
	{ "rdma_disconnect", { id_connected }, id_disconnect, { ends_end } },
};

static void connections_measure(struct world *w)
{
	MUST(w->channel = rdma_create_event_channel());
	MUST(w->other = rdma_create_event_channel());
	MUST(w->server = rdma_create_event_channel());
	MUST(!rdma_create_id(w->server, &w->listener, NULL, RDMA_PS_TCP));
	MUST(!rdma_bind_addr(w->listener, loopback(0)));
	MUST(!rdma_listen(w->listener, BACKLOG));
	MUST(!rdma_create_id(NULL, &w->waiting, NULL, RDMA_PS_TCP));
	MUST(!rdma_bind_addr(w->waiting, loopback(0)));
	MUST(!rdma_listen(w->waiting, BACKLOG));
	rows_measure(w, connections, ARRAY_SIZE(connections));
	MUST(!rdma_destroy_id(w->waiting));
	MUST(!rdma_destroy_id(w->listener));
	rdma_destroy_event_channel(w->server);
	rdma_destroy_event_channel(w->other);
	rdma_destroy_event_channel(w->channel);
}

/* ---- groups and names ---- */

static struct sockaddr *group(int i)
{
	static struct sockaddr_in addr;

	addr = (struct sockaddr_in){ .sin_family = AF_INET,
				     .sin_addr = { htonl(0xef010200 + (uint32_t)i) } };
	return (struct sockaddr *)&addr;
}

static void datagram_id_make(struct world *w, int i)
{
	struct sockaddr_in here = { .sin_family = AF_INET, .sin_addr = { htonl(FIRST_PORT) } };

	MUST(!rdma_create_id(w->channel, &w->id[i], NULL, RDMA_PS_UDP));
	MUST(!rdma_bind_addr(w->id[i], (struct sockaddr *)&here));
}

static void group_join(struct world *w, int i)
{
	MUST(!rdma_join_multicast(w->id[i], group(i), NULL));
}

static void group_join_ex(struct world *w, int i)
{
	struct rdma_cm_join_mc_attr_ex attr = {
		.comp_mask = RDMA_CM_JOIN_MC_ATTR_ADDRESS | RDMA_CM_JOIN_MC_ATTR_JOIN_FLAGS,
		.join_flags = RDMA_MC_JOIN_FLAG_FULLMEMBER,
		.addr = group(i),
	};

	MUST(!rdma_join_multicast_ex(w->id[i], &attr, NULL));
}

static void group_leave(struct world *w, int i)
{
	MUST(!rdma_leave_multicast(w->id[i], group(i)));
}

static void name_ask(struct world *w, int i)
{
	struct rdma_addrinfo hints = { .ai_flags = RAI_DNS, .ai_port_space = RDMA_PS_TCP };

	MUST(!rdma_resolve_addrinfo(w->id[i], "127.0.0.1", "7471", &hints));
}

static void name_take(struct world *w, int i)
{
	MUST(!rdma_query_addrinfo(w->id[i], &w->info));
	rdma_freeaddrinfo(w->info);
}

static const struct row datagrams[] = {
	{ "rdma_join_multicast",
	  { datagram_id_make },
	  group_join,
	  { event_take, group_leave, id_end } },
	{ "rdma_join_multicast_ex",
	  { datagram_id_make },
	  group_join_ex,
	  { event_take, group_leave, id_end } },
	{ "rdma_get_cm_event, MULTICAST_JOIN",
	  { datagram_id_make, group_join },
	  event_get,
	  { event_ack, group_leave, id_end } },
	{ "rdma_leave_multicast",
	  { datagram_id_make, group_join, event_take },
	  group_leave,
	  { id_end } },
	{ "rdma_resolve_addrinfo", { id_make }, name_ask, { event_take, name_take, id_end } },
	{ "rdma_query_addrinfo, and free",
	  { id_make, name_ask, event_take },
	  name_take,
	  { id_end } },
};

static void datagrams_measure(struct world *w)
{
	MUST(w->channel = rdma_create_event_channel());
	rows_measure(w, datagrams, ARRAY_SIZE(datagrams));
	rdma_destroy_event_channel(w->channel);
}

/* ---- many ids ---- */

static struct rdma_cm_id *ids[MOST_IDS];

static void bound_make(struct world *w, int i)
{
	id_make(w, i);
	MUST(!rdma_bind_addr(w->id[i], loopback(0)));
}

static void curve_of_ids(struct world *w)
{
	char name[2][64];

	for (int count = 0, there = 0; there <= MOST_IDS; there = there ? 10 * there : 10) {
		for (; count < there; count++) {
			MUST(!rdma_create_id(w->channel, &ids[count], NULL, RDMA_PS_TCP));
			MUST(!rdma_bind_addr(ids[count], loopback(0)));
		}
		snprintf(name[0], sizeof(name[0]), "create and bind an id, %d there", there);
		snprintf(name[1], sizeof(name[1]), "destroy an id, %d there", there);
		row_measure(w, &(struct row){ name[0], { NULL }, bound_make, { id_end } });
		row_measure(w, &(struct row){ name[1], { bound_make }, id_end, { NULL } });
	}
	fflush(stdout);
}

static void curve_measure(struct world *w)
{
	MUST(w->channel = rdma_create_event_channel());
	curve_of_ids(w);
	_exit(0); /* destroying ten thousand ids would take long, and is not measured */
}

static const struct part parts[] = {
	{ "connections", connections_measure },
	{ "datagrams", datagrams_measure },
	{ "curve", curve_measure },
};

int main(int argc, char **argv)
{
	static struct world w;

	return part_measure(&w, parts, ARRAY_SIZE(parts), argc, argv);
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cm.c - the family "cm": ids, their events, addresses, connections and groups.
 *
 * Covers: librdmacm/
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <rdma/rdma_cma.h>
#include <string.h>
#include <sys/un.h>

#include "odd.h"

/* ---- good ids, as far as each is ---- */

static void *channel(void)
{
	static struct rdma_event_channel *made;

	if (!made)
		made = rdma_create_event_channel();
	if (!made)
		odd_without("event channel");
	fcntl(made->fd, F_SETFL, O_NONBLOCK);
	return made;
}

static void *id_of(enum rdma_port_space ps)
{
	struct rdma_cm_id *id;

	if (rdma_create_id(channel(), &id, NULL, ps))
		odd_without("id");
	return id;
}

static void *id_new(void)
{
	static void *id;

	return id ? id : (id = id_of(RDMA_PS_TCP));
}

static void *loopback(void)
{
	static struct sockaddr_in addr = { .sin_family = AF_INET };

	addr.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	return &addr;
}

static void *port_at_loopback(void)
{
	struct sockaddr_in *addr = loopback();

	addr->sin_port = htons(7471);
	return addr;
}

/* Binds the id to the first port of the first adapter, as the loopback has no device. */
static struct rdma_cm_id *bound(struct rdma_cm_id *id)
{
	struct sockaddr_in addr = { .sin_family = AF_INET };

	addr.sin_addr.s_addr = inet_addr("198.18.0.1");
	if (rdma_bind_addr(id, (struct sockaddr *)&addr))
		odd_without("bound id");
	return id;
}

static void *id_bound(void)
{
	static void *id;

	return id ? id : (id = bound(id_of(RDMA_PS_TCP)));
}

static void *id_ud(void)
{
	static void *id;

	return id ? id : (id = bound(id_of(RDMA_PS_UDP)));
}

static void *id_listening(void)
{
	static struct rdma_cm_id *id;

	if (!id) {
		id = bound(id_of(RDMA_PS_TCP));
		if (rdma_listen(id, 1))
			odd_without("listening id");
	}
	return id;
}

/* An id without a channel waits for what it does. */
static void *id_alone(void)
{
	static struct rdma_cm_id *id;

	if (!id && rdma_create_id(NULL, &id, NULL, RDMA_PS_TCP))
		odd_without("id without a channel");
	return id;
}

static void *id_resolved(void)
{
	struct rdma_cm_id *id = id_alone();

	if (!id->verbs && rdma_resolve_addr(id, NULL, port_at_loopback(), 2000))
		odd_without("resolved id");
	return id;
}

static void *group(void)
{
	static struct sockaddr_in addr = { .sin_family = AF_INET };

	addr.sin_addr.s_addr = htonl(0xe0000119);
	return &addr;
}

static void *join_attr(void)
{
	static struct rdma_cm_join_mc_attr_ex attr = { .comp_mask = RDMA_CM_JOIN_MC_ATTR_ADDRESS |
								    RDMA_CM_JOIN_MC_ATTR_JOIN_FLAGS,
						       .join_flags = RDMA_MC_JOIN_FLAG_FULLMEMBER };

	attr.addr = group();
	return &attr;
}

static void *qp_attr(void)
{
	static struct ibv_qp_init_attr attr = { .qp_type = IBV_QPT_RC, .cap = { 4, 4, 1, 1, 0 } };

	return &attr;
}

static void *qp_attr_ex(void)
{
	static struct ibv_qp_init_attr_ex attr = { .qp_type = IBV_QPT_RC,
						   .cap = { 4, 4, 1, 1, 0 } };

	return &attr;
}

static void *srq_attr(void)
{
	static struct ibv_srq_init_attr attr = { .attr = { 4, 1, 0 } };

	return &attr;
}

static void *srq_attr_ex(void)
{
	static struct ibv_srq_init_attr_ex attr = { .attr = { 4, 1, 0 } };

	return &attr;
}

static void *init_attr(void)
{
	static struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT };

	return &attr;
}

static void *conn_param(void)
{
	static struct rdma_conn_param param = { .retry_count = 3, .rnr_retry_count = 3 };

	return &param;
}

static void *ece(void)
{
	static struct ibv_ece ece = { .vendor_id = 0x15b3 };

	return &ece;
}

static void *hints(void)
{
	static struct rdma_addrinfo hints = { .ai_flags = RAI_NUMERICHOST | RAI_NOROUTE,
					      .ai_port_space = RDMA_PS_TCP,
					      .ai_qp_type = IBV_QPT_RC };

	return &hints;
}

static void *found_info(void)
{
	static struct rdma_addrinfo *info;

	if (!info && rdma_getaddrinfo("127.0.0.1", "7471", hints(), &info))
		odd_without("rdma_addrinfo");
	return info;
}

static void *tos(void)
{
	static uint8_t value[8];

	return value;
}

static const struct odd_field addr_fields[] = { ODD_FIELD(struct sockaddr_in, sin_family),
						ODD_FIELD(struct sockaddr_in, sin_addr),
						ODD_FIELD(struct sockaddr_in, sin_port),
						{ 0 } };
static const struct odd_field join_fields[] = {
	ODD_FIELD(struct rdma_cm_join_mc_attr_ex, comp_mask),
	ODD_FIELD(struct rdma_cm_join_mc_attr_ex, join_flags),
	ODD_POINTER(struct rdma_cm_join_mc_attr_ex, addr),
	{ 0 }
};
static const struct odd_field qp_fields[] = { ODD_FIELD(struct ibv_qp_init_attr, cap.max_send_wr),
					      ODD_FIELD(struct ibv_qp_init_attr, cap.max_recv_wr),
					      ODD_FIELD(struct ibv_qp_init_attr, cap.max_send_sge),
					      ODD_FIELD(struct ibv_qp_init_attr,
							cap.max_inline_data),
					      ODD_FIELD(struct ibv_qp_init_attr, qp_type),
					      { 0 } };
static const struct odd_field qp_ex_fields[] = { ODD_FIELD(struct ibv_qp_init_attr_ex, comp_mask),
						 ODD_FIELD(struct ibv_qp_init_attr_ex, qp_type),
						 ODD_FIELD(struct ibv_qp_init_attr_ex,
							   cap.max_send_wr),
						 { 0 } };
static const struct odd_field srq_fields[] = { ODD_FIELD(struct ibv_srq_init_attr, attr.max_wr),
					       ODD_FIELD(struct ibv_srq_init_attr, attr.max_sge),
					       { 0 } };
static const struct odd_field srq_ex_fields[] = { ODD_FIELD(struct ibv_srq_init_attr_ex, comp_mask),
						  ODD_FIELD(struct ibv_srq_init_attr_ex, srq_type),
						  ODD_FIELD(struct ibv_srq_init_attr_ex,
							    attr.max_wr),
						  { 0 } };
static const struct odd_field state_fields[] = { ODD_FIELD(struct ibv_qp_attr, qp_state), { 0 } };
static const struct odd_field param_fields[] = {
	ODD_FIELD(struct rdma_conn_param, private_data_len),
	ODD_FIELD(struct rdma_conn_param, responder_resources),
	ODD_FIELD(struct rdma_conn_param, initiator_depth),
	ODD_FIELD(struct rdma_conn_param, flow_control),
	ODD_FIELD(struct rdma_conn_param, retry_count),
	ODD_FIELD(struct rdma_conn_param, rnr_retry_count),
	ODD_FIELD(struct rdma_conn_param, srq),
	ODD_FIELD(struct rdma_conn_param, qp_num),
	{ 0 }
};
static const struct odd_field ece_fields[] = { ODD_FIELD(struct ibv_ece, vendor_id),
					       ODD_FIELD(struct ibv_ece, options),
					       { 0 } };
static const struct odd_field hints_fields[] = { ODD_FIELD(struct rdma_addrinfo, ai_flags),
						 ODD_FIELD(struct rdma_addrinfo, ai_family),
						 ODD_FIELD(struct rdma_addrinfo, ai_qp_type),
						 ODD_FIELD(struct rdma_addrinfo, ai_port_space),
						 { 0 } };

#define ID_ARG(arg_name, maker, ...)                                       \
	&(const struct odd_arg)                                            \
	{                                                                  \
		.name = arg_name, .make = maker, .values = { __VA_ARGS__ } \
	}
#define NEW                           \
	{                             \
		"new", .make = id_new \
	}
#define BOUND                             \
	{                                 \
		"bound", .make = id_bound \
	}
#define OF_UD                           \
	{                               \
		"of UDP", .make = id_ud \
	}
#define LISTENING                                 \
	{                                         \
		"listening", .make = id_listening \
	}
#define RESOLVED                                \
	{                                       \
		"resolved", .make = id_resolved \
	}
#define ALL_IDS        ID_ARG("id", id_new, BOUND, OF_UD, LISTENING, RESOLVED)
#define ADDR_ARG(name) ATTR_ARG(name, loopback, addr_fields)
#define TEXT(text)     (long)(uintptr_t)(text)
#define TIMEOUT_ARG    NUMBER_ARG("timeout", 100, V("0", 0), V("-1", -1))
#define DATA_ARG       NUMBER_ARG("data", TEXT("data"))
#define DATA_LEN       NUMBER_ARG("data_len", 4, V("0", 0), V("255", 255))

static const struct odd_call calls[] = {
	{ "rdma_create_event_channel", OBJECT, NULL, { NULL } },
	{ "rdma_get_cm_event", MINUS_ONE, NULL, { GOOD_ARG(channel), &arg_out } },
	{ "rdma_ack_cm_event", MINUS_ONE, NULL, { NUMBER_ARG("event", 0) } },
	{ "rdma_event_str", OBJECT, NULL, { NUMBER_ARG("event", 0, V("-1", -1), V("99", 99)) } },
	{ "rdma_write_cm_event",
	  MINUS_ONE,
	  NULL,
	  { ALL_IDS, NUMBER_ARG("event", RDMA_CM_EVENT_USER, V("0", 0), V("99", 99), V("-1", -1)),
	    NUMBER_ARG("status", 0, V("-1", -1)), NUMBER_ARG("arg", 0, V("-1", -1)) } },
	{ "rdma_create_id",
	  MINUS_ONE,
	  NULL,
	  { GOOD_ARG(channel), OUT_ARG("id"), NUMBER_ARG("context", 0),
	    NUMBER_ARG("ps", RDMA_PS_TCP, V("0", 0), V("UDP", RDMA_PS_UDP), V("IB", RDMA_PS_IB),
		       V("IPOIB", RDMA_PS_IPOIB), V("-1", -1)) } },
	{ "rdma_destroy_id", MINUS_ONE, NULL, { ALL_IDS } },
	{ "rdma_create_ep",
	  MINUS_ONE,
	  NULL,
	  { OUT_ARG("id"), ID_ARG("res", found_info, V("NULL", 0)), &arg_pd,
	    ATTR_ARG("attr", qp_attr, qp_fields) } },
	{ "rdma_migrate_id",
	  MINUS_ONE,
	  NULL,
	  { ALL_IDS, ID_ARG("channel", channel, V("NULL", 0)) } },
	{ "rdma_bind_addr", MINUS_ONE, NULL, { ALL_IDS, ADDR_ARG("addr") } },
	{ "rdma_resolve_addr",
	  MINUS_ONE,
	  NULL,
	  { ALL_IDS, ADDR_ARG("src"), ATTR_ARG("dst", loopback, addr_fields), TIMEOUT_ARG } },
	{ "rdma_resolve_route", MINUS_ONE, NULL, { ALL_IDS, TIMEOUT_ARG } },
	{ "rdma_set_option",
	  MINUS_ONE,
	  NULL,
	  { ALL_IDS, NUMBER_ARG("level", 0, V("1", 1), V("2", 2), V("-1", -1)),
	    NUMBER_ARG("name", 0, V("1", 1), V("2", 2), V("3", 3), V("-1", -1)),
	    ID_ARG("value", tos, V("NULL", 0)),
	    NUMBER_ARG("len", 1, V("0", 0), V("4", 4), V("65536", 65536)) } },
	{ "rdma_create_qp",
	  MINUS_ONE,
	  NULL,
	  { ALL_IDS, NUMBER_ARG("pd", 0), ATTR_ARG("attr", qp_attr, qp_fields) } },
	{ "rdma_create_qp",
	  MINUS_ONE,
	  NULL,
	  { ID_ARG("bound id", id_bound), ID_ARG("pd", NULL, { "foreign", .make = odd_pd }),
	    ATTR_ARG("attr of a bound id", qp_attr, qp_fields) } },
	{ "rdma_create_qp_ex",
	  MINUS_ONE,
	  NULL,
	  { ID_ARG("id", id_bound, NEW), ATTR_ARG("attr", qp_attr_ex, qp_ex_fields) } },
	{ "rdma_create_srq",
	  MINUS_ONE,
	  NULL,
	  { ID_ARG("id", id_bound, NEW), NUMBER_ARG("pd", 0),
	    ATTR_ARG("attr", srq_attr, srq_fields) } },
	{ "rdma_create_srq_ex",
	  MINUS_ONE,
	  NULL,
	  { ID_ARG("id", id_bound, NEW), ATTR_ARG("attr", srq_attr_ex, srq_ex_fields) } },
	{ "rdma_destroy_qp", NOTHING, NULL, { ALL_IDS } },
	{ "rdma_destroy_srq", NOTHING, NULL, { ALL_IDS } },
	{ "rdma_init_qp_attr",
	  MINUS_ONE,
	  NULL,
	  { ALL_IDS, ATTR_ARG("attr", init_attr, state_fields), OUT_ARG("mask") } },
	{ "rdma_connect",
	  MINUS_ONE,
	  NULL,
	  { ALL_IDS, ATTR_ARG("param", conn_param, param_fields) } },
	{ "rdma_connect",
	  MINUS_ONE,
	  NULL,
	  { ID_ARG("id", id_resolved),
	    ATTR_ARG("param of a resolved id", conn_param, param_fields) } },
	{ "rdma_establish", MINUS_ONE, NULL, { ALL_IDS } },
	{ "rdma_listen",
	  MINUS_ONE,
	  NULL,
	  { ALL_IDS, NUMBER_ARG("backlog", 1, V("0", 0), V("-1", -1), V("65536", 65536)) } },
	{ "rdma_get_request",
	  MINUS_ONE,
	  NULL,
	  { ID_ARG("id", id_new, BOUND, LISTENING), OUT_ARG("request") } },
	{ "rdma_accept",
	  MINUS_ONE,
	  NULL,
	  { ALL_IDS, ATTR_ARG("param", conn_param, param_fields) } },
	{ "rdma_reject", MINUS_ONE, NULL, { ALL_IDS, DATA_ARG, DATA_LEN } },
	{ "rdma_reject_ece", MINUS_ONE, NULL, { ALL_IDS, DATA_ARG, DATA_LEN } },
	{ "rdma_notify",
	  MINUS_ONE,
	  NULL,
	  { ALL_IDS,
	    NUMBER_ARG("event", IBV_EVENT_COMM_EST, V("0", 0), V("99", 99), V("-1", -1)) } },
	{ "rdma_disconnect", MINUS_ONE, NULL, { ALL_IDS } },
	{ "rdma_set_local_ece", MINUS_ONE, NULL, { ALL_IDS, ATTR_ARG("ece", ece, ece_fields) } },
	{ "rdma_get_remote_ece", MINUS_ONE, NULL, { ALL_IDS, OUT_ARG("ece") } },
	{ "rdma_join_multicast",
	  MINUS_ONE,
	  NULL,
	  { ALL_IDS, ATTR_ARG("addr", group, addr_fields), NUMBER_ARG("context", 0) } },
	{ "rdma_join_multicast_ex",
	  MINUS_ONE,
	  NULL,
	  { ALL_IDS, ATTR_ARG("attr", join_attr, join_fields), NUMBER_ARG("context", 0) } },
	{ "rdma_leave_multicast",
	  MINUS_ONE,
	  NULL,
	  { ALL_IDS, ATTR_ARG("addr", group, addr_fields) } },
	{ "rdma_get_src_port", DESCRIPTOR, NULL, { ALL_IDS } },
	{ "rdma_get_dst_port", DESCRIPTOR, NULL, { ALL_IDS } },
	{ "rdma_get_devices", OBJECT, NULL, { OUT_ARG("count") } },
	{ "rdma_free_devices", NOTHING, NULL, { NUMBER_ARG("list", 0) } },
	{ "rdma_getaddrinfo",
	  MINUS_ONE,
	  NULL,
	  { NUMBER_ARG("node", TEXT("127.0.0.1"), V("NULL", 0), V("empty", TEXT("")),
		       V("no address", TEXT("1.2.3.4.5"))),
	    NUMBER_ARG("service", TEXT("7471"), V("NULL", 0), V("empty", TEXT("")),
		       V("70000", TEXT("70000")), V("a word", TEXT("nonsense"))),
	    ATTR_ARG("hints", hints, hints_fields), OUT_ARG("res") } },
	{ "rdma_freeaddrinfo", NOTHING, NULL, { ID_ARG("res", found_info, V("NULL", 0)) } },
	{ "rdma_resolve_addrinfo",
	  MINUS_ONE,
	  NULL,
	  { ALL_IDS, NUMBER_ARG("node", TEXT("127.0.0.1"), V("NULL", 0), V("empty", TEXT(""))),
	    NUMBER_ARG("service", TEXT("7471"), V("NULL", 0)),
	    ATTR_ARG("hints", hints, hints_fields) } },
	{ "rdma_query_addrinfo", MINUS_ONE, NULL, { ALL_IDS, OUT_ARG("info") } },
};

ODD_FAMILY(cm, calls);

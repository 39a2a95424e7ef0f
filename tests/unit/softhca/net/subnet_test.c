/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * subnet_test.c - answers of subnet administration to requests through QP1, as a kernel sends
 * them: golden bytes of requests, and fields of answers.
 *
 * Covers: softhca/net/subnet.c, softhca/net/service.c, softhca/net/leaf.c
 */
#include <errno.h>

#include "ib/sa.h"
#include "prm/mlx5/cmd.h"
#include "prm/mlx5/qpc.h"
#include "prm/mlx5/vport.h"
#include "softhca/net/service.h"
#include "pair.h"
#include "util/bits.h"

enum { KEY = 0x80010000, GRH_LEN = 40, MAD = 256, SUBNET_LID = 0xbfff };

static const struct flat_qp_attr gsi = { .st = PRM_QP_ST_QP1, .qkey = KEY };

static const uint8_t ipoib[16] = {
	0xff, 0x12, 0x40, 0x1b, 0xff, 0xff, [12] = 0xff, 0xff, 0xff, 0xff
};
static const uint8_t other[16] = { 0xff, 0x12, 0xa0, 0x1b, [15] = 9 };

static uint8_t request[MAD];

static void ask_for(uint8_t method, uint16_t attribute, uint64_t components)
{
	static const uint8_t start[] = { 1, 3, 2 };

	memset(request, 0, sizeof(request));
	memcpy(request, start, sizeof(start));
	request[3] = method;
	memset(request + 8, 0x5a, 8); /* transaction ID */
	request[16] = attribute >> 8;
	request[17] = (uint8_t)attribute;
	fld_set(request, SA_COMPONENTS, components);
}

/* Sends the request; returns the answer, or NULL. On a wire, an answer comes after the send has
 * completed. */
static const uint8_t *subnet_ask(void)
{
	flat_recv(a, from + MAD, 4096 - MAD, lkey);
	memcpy(flat.mem + from, request, MAD);
	flat_ctrl(a, OP_SEND, SIGNALED, 0);
	flat_av_lid(SUBNET_LID, 1, KEY);
	flat_data(a, from, MAD, lkey);
	flat_post(a);
	flat_ring(a);
	flat_run(LONG);
	assert_non_null(flat_poll(a->send_cq));
	if (!flat_poll(a->recv_cq))
		return NULL;
	assert_in_range(flat_when_completed(a->send_cq), 1, flat_when_completed(a->recv_cq) - 1);
	return flat.mem + from + MAD + GRH_LEN;
}

static const uint8_t *ask_expect(uint8_t method, uint16_t status)
{
	const uint8_t *mad = subnet_ask();

	assert_non_null(mad);
	assert_int_equal(mad[3], method);
	assert_int_equal(mad[4] << 8 | mad[5], status);
	assert_memory_equal(mad + 8, request + 8, 8);
	assert_memory_equal(mad + 16, request + 16, 2);
	return mad + 56;
}

static void gid_of(int i, uint8_t gid[16])
{
	uint8_t in[16] = { 0 }, out[64];

	fld_set(in, CMD_IN_OPCODE, PRM_OP_QUERY_HCA_VPORT_GID);
	flat_cmd(flat.hca[i], in, sizeof(in), out, 32);
	memcpy(gid, fld_at(out, QUERY_HCA_VPORT_GID_OUT_GID), 16);
}

static void ports_name_the_manager(void **state)
{
	uint8_t in[16] = { 0 }, out[16 + PRM_HCA_VPORT_CONTEXT_SIZE];

	(void)state;
	fld_set(in, CMD_IN_OPCODE, PRM_OP_QUERY_HCA_VPORT_CONTEXT);
	flat_cmd(flat.hca[0], in, sizeof(in), out, sizeof(out));
	assert_int_equal(fld_get(fld_at(out, QUERY_HCA_VPORT_CONTEXT_OUT_HCA_VPORT_CONTEXT),
				 HCA_VPORT_CONTEXT_SM_LID),
			 SUBNET_LID);
}

static void a_path_leads_to_the_lid_of_a_gid(void **state)
{
	uint8_t gid[2][16];
	const uint8_t *path;

	(void)state;
	pair(&gsi, 4096);
	gid_of(0, gid[0]);
	gid_of(1, gid[1]);
	ask_for(0x01, 0x35, 1 << 2 | 1 << 3 | 1 << 12);
	memcpy(request + 56 + 8, gid[1], 16);
	memcpy(request + 56 + 24, gid[0], 16);
	path = ask_expect(0x81, 0);
	assert_memory_equal(path + 8, gid[1], 16);
	assert_memory_equal(path + 24, gid[0], 16);
	assert_int_equal(path[40] << 8 | path[41], 2);
	assert_int_equal(path[42] << 8 | path[43], 1);
	assert_int_equal(path[49], 0x81); /* reversible, one path */
	assert_int_equal(path[50] << 8 | path[51], 0xffff);
	assert_int_equal(path[54], 0x85); /* MTU selector: exactly 4096 */
	unpair();
}

static void a_stranger_has_no_path(void **state)
{
	(void)state;
	pair(&gsi, 4096);
	ask_for(0x01, 0x35, 1 << 2 | 1 << 3);
	memset(request + 56 + 8, 0x77, 16);
	ask_expect(0x81, 0x0300);
	ask_for(0x01, 0x35, 1 << 3);
	ask_expect(0x81, 0x0300);
	unpair();
}

static void a_table_is_one_segment(void **state)
{
	uint8_t gid[16];
	const uint8_t *path;

	(void)state;
	pair(&gsi, 4096);
	gid_of(1, gid);
	ask_for(0x12, 0x35, 1 << 2);
	memcpy(request + 56 + 8, gid, 16);
	path = ask_expect(0x92, 0);
	assert_int_equal(path[40] << 8 | path[41], 2);
	assert_int_equal(fld_get(path - 56, RMPP_LENGTH), 20 + 64);
	assert_int_equal(fld_get(path - 56, SA_ATTR_OFFSET), 8);
	unpair();
}

enum { BY_ID = 1 << 0, BY_GID = 1 << 1, BY_NAME = 1 << 6, LAST_DATA = 36 };

static void add_service(const char *text)
{
	static const uint8_t gid[16] = { 0xfe, 0x80, [15] = 7 };
	struct service_text service;
	uint8_t record[SERVICE_RECORD_SIZE];

	assert_int_equal(service_parse(text, &service), 0);
	service_fill(&service, gid, record);
	assert_int_equal(fabric_add_service(flat.fabric, record), 0);
}

static void a_service_is_found_by_name_and_id(void **state)
{
	static const uint8_t bytes[32] = { [4] = 1, 6,    0x1d,        0x2f, 0xfe, 0x80, [23] = 7,
					   0xff,    0xff, [28] = 0xff, 0xff, 0xff, 0xff };
	const uint8_t *record;

	(void)state;
	pair(&gsi, 4096);
	add_service("storage,0x1061d2f");
	add_service("other,2");
	ask_for(0x01, 0x31, BY_NAME);
	memcpy(request + 56 + 48, "storage", 7);
	record = ask_expect(0x81, 0);
	assert_memory_equal(record, bytes, sizeof(bytes));
	assert_string_equal((const char *)record + 48, "storage");
	ask_for(0x12, 0x31, BY_ID | BY_GID);
	request[56 + 7] = 2;
	memcpy(request + 56 + 8, bytes + 8, 16);
	record = ask_expect(0x92, 0);
	assert_string_equal((const char *)record + 48, "other");
	assert_int_equal(fld_get(record - 56, RMPP_LENGTH), 20 + 176);
	assert_int_equal(fld_get(record - 56, SA_ATTR_OFFSET), 22);
	unpair();
}

static void a_service_agrees_in_each_component(void **state)
{
	(void)state;
	pair(&gsi, 4096);
	add_service("storage,1");
	ask_for(0x01, 0x31, BY_NAME | BY_ID);
	memcpy(request + 56 + 48, "storage", 7);
	request[56 + 7] = 2;
	ask_expect(0x81, 0x0300);
	ask_for(0x12, 0x31, BY_NAME);
	memcpy(request + 56 + 48, "storages", 8);
	assert_int_equal(fld_get(ask_expect(0x92, 0) - 56, RMPP_LENGTH), 20);
	ask_for(0x01, 0x31, 1ull << LAST_DATA);
	ask_expect(0x81, 0);
	request[56 + 175] = 1;
	ask_expect(0x81, 0x0300);
	unpair();
}

static void two_services_have_no_room_in_an_answer(void **state)
{
	(void)state;
	pair(&gsi, 4096);
	add_service("twins,1");
	add_service("twins,2");
	ask_for(0x01, 0x31, BY_NAME);
	memcpy(request + 56 + 48, "twins", 5);
	ask_expect(0x81, 0x0400);
	unpair();
}

enum { ACTIVE = 1, FIRST = 2, LAST = 4 };

static void check_segment(const uint8_t *mad, uint32_t number, uint32_t flags, uint32_t length)
{
	assert_int_equal(fld_get(mad, RMPP_TYPE), 1);
	assert_int_equal(fld_get(mad, RMPP_FLAGS), flags);
	assert_int_equal(fld_get(mad, RMPP_SEGMENT), number);
	assert_int_equal(fld_get(mad, RMPP_LENGTH), length);
}

/* RMPP: two records of 176 bytes need segments of 200 and 152 bytes. The first has the total
 * length, headers of 20 bytes included; the second comes after an acknowledge. */
static void a_long_table_comes_in_parts(void **state)
{
	const uint8_t *part;

	(void)state;
	pair(&gsi, 4096);
	add_service("twins,1");
	add_service("twins,2");
	ask_for(0x12, 0x31, BY_NAME);
	memcpy(request + 56 + 48, "twins", 5);
	part = ask_expect(0x92, 0);
	check_segment(part - 56, 1, ACTIVE | FIRST, 2 * 176 + 2 * 20);
	assert_int_equal(fld_get(part - 56, SA_ATTR_OFFSET), 22);
	assert_string_equal((const char *)part + 48, "twins");
	fld_set(request, RMPP_VERSION, 1);
	fld_set(request, RMPP_TYPE, 2);
	fld_set(request, RMPP_FLAGS, ACTIVE);
	fld_set(request, RMPP_SEGMENT, 1);
	fld_set(request, RMPP_WINDOW, 1);
	assert_null(subnet_ask()); /* nothing more until the ACK */
	fld_set(request, RMPP_WINDOW, 2);
	part = ask_expect(0x92, 0);
	check_segment(part - 56, 2, ACTIVE | LAST, 2 * 176 - 200 + 20);
	assert_string_equal((const char *)part + 176 - 200 + 48, "twins");
	fld_set(request, RMPP_SEGMENT, 2);
	assert_null(subnet_ask());
	fld_set(request, RMPP_SEGMENT, 1);
	assert_null(subnet_ask()); /* the transfer has ended */
	unpair();
}

enum { NODE_SIZE = 112, SWITCH_LID = 0xbfff };

static void nodes_are_told_by_kind_and_lid(void **state)
{
	const uint8_t *node;

	(void)state;
	pair(&gsi, 4096);
	ask_for(0x12, 0x11, 0);
	node = ask_expect(0x92, 0);
	assert_int_equal(fld_get(node - 56, SA_ATTR_OFFSET), NODE_SIZE / 8);
	assert_int_equal(fld_get(node - 56, RMPP_LENGTH), 3 * NODE_SIZE + 2 * 20);
	assert_int_equal(node[0] << 8 | node[1], SWITCH_LID);
	assert_int_equal(node[6], 2); /* node type: switch */
	ask_for(0x12, 0x11, 1 << 0);
	request[56 + 1] = 2;
	node = ask_expect(0x92, 0);
	assert_int_equal(fld_get(node - 56, RMPP_LENGTH), NODE_SIZE + 20);
	assert_int_equal(node[0] << 8 | node[1], 2);
	assert_int_equal(node[6], 1); /* node type: channel adapter */
	assert_memory_equal(node + 44, "softhca mlx5_", 13);
	ask_for(0x12, 0x11, 1 << 0);
	request[56 + 1] = 3;
	assert_int_equal(fld_get(ask_expect(0x92, 0) - 56, RMPP_LENGTH), 20);
	unpair();
}

static void managers_are_found_by_their_capability(void **state)
{
	const uint8_t *port;

	(void)state;
	pair(&gsi, 4096);
	ask_for(0x12, 0x12, 1 << 7);
	fld_set(request, MAD_MODIFIER, 1u << 31);
	request[56 + 4 + 23] = 2; /* IsSM in the capability mask */
	port = ask_expect(0x92, 0);
	assert_int_equal(fld_get(port - 56, RMPP_LENGTH), 72 + 20);
	assert_int_equal(port[0] << 8 | port[1], SWITCH_LID);
	unpair();
}

static void links_lead_from_the_switch_to_each_port(void **state)
{
	static const uint8_t to_second[6] = { 0xbf, 0xff, 2, 1, 0, 2 };
	const uint8_t *link;

	(void)state;
	pair(&gsi, 4096);
	ask_for(0x01, 0x20, 1 << 0 | 1 << 1);
	memcpy(request + 56, to_second, 3);
	link = ask_expect(0x81, 0);
	assert_memory_equal(link, to_second, sizeof(to_second));
	ask_for(0x01, 0x20, 1 << 0);
	memcpy(request + 56, to_second, 2);
	ask_expect(0x81, 0x0400); /* two match; GET needs a single one */
	unpair();
}

static void a_path_is_found_by_lids_too(void **state)
{
	const uint8_t *path;

	(void)state;
	pair(&gsi, 4096);
	ask_for(0x01, 0x35, 1 << 4 | 1 << 5);
	request[56 + 41] = 2;
	request[56 + 43] = 1;
	path = ask_expect(0x81, 0);
	assert_int_equal(path[40] << 8 | path[41], 2);
	assert_int_equal(path[42] << 8 | path[43], 1);
	ask_for(0x12, 0x35, 0);
	assert_int_equal(fld_get(ask_expect(0x92, 0) - 56, RMPP_LENGTH), 9 * 64 + 3 * 20);
	unpair();
}

static void services_are_written_as_name_id_and_port(void **state)
{
	static const char *const wrong[] = {
		"",      "x",         "x,",    ",1",          "x,y",          "x,1,",
		"x,1,2", "x,1,mlx5_", "x,-1z", "x,1,mlx5_0:", "x,1,mlx5_0:0", "x,1,mlx5_0:1z"
	};
	struct service_text service;
	char name[70];

	(void)state;
	assert_int_equal(service_parse("a b,0x10,mlx5_3:2", &service), 0);
	assert_string_equal(service.name, "a b");
	assert_true(service.id == 16 && service.device == 3 && service.port == 2);
	assert_int_equal(service_parse("n,7,mlx5_1", &service), 0);
	assert_true(service.id == 7 && service.device == 1 && service.port == 1);
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++)
		assert_int_equal(service_parse(wrong[i], &service), EINVAL);
	memset(name, 'n', sizeof(name));
	memcpy(name + 64, ",1", 3);
	assert_int_equal(service_parse(name, &service), EINVAL);
	memcpy(name + 63, ",1", 3);
	assert_int_equal(service_parse(name, &service), 0);
}

static void a_table_of_services_has_an_end(void **state)
{
	uint8_t record[SERVICE_RECORD_SIZE] = { 0 };
	struct services services;

	(void)state;
	services_init(&services);
	for (int i = 0; i < MAX_SERVICES; i++)
		assert_int_equal(services_add(&services, record), 0);
	assert_int_equal(services_add(&services, record), ENOSPC);
	assert_int_equal(services_find(&services, 0, record, NULL, 0), MAX_SERVICES);
	services_clear(&services);
	assert_int_equal(services_find(&services, 0, record, NULL, 0), 0);
}

static void join_expect(const uint8_t mgid[16], uint64_t components, uint16_t status)
{
	ask_for(0x02, 0x38, components | 1 << 0 | 1 << 1 | 1 << 16);
	memcpy(request + 56, mgid, 16);
	gid_of(0, request + 56 + 16);
	fld_set(request + 56, MC_QKEY, 0x1234);
	fld_set(request + 56, MC_PKEY, 0xffff);
	fld_set(request + 56, MC_JOIN_STATE, 1);
	ask_expect(0x81, status);
}

static void the_group_of_ipoib_is_there(void **state)
{
	const uint8_t *member = flat.mem;
	uint32_t mlid;

	(void)state;
	pair(&gsi, 4096);
	join_expect(ipoib, 0, 0);
	member = flat.mem + from + MAD + GRH_LEN + 56;
	mlid = fld_get(member, MC_MLID);
	assert_in_range(mlid, 0xc000, 0xfffe);
	assert_int_equal(fld_get(member, MC_QKEY), 0x0b1b);
	assert_int_equal(fld_get(member, MC_MTU), 5);
	assert_int_equal(fld_get(member, MC_SCOPE), 2);
	assert_int_equal(fld_get(member, MC_JOIN_STATE), 1);
	join_expect(ipoib, 0, 0);
	assert_int_equal(fld_get(member, MC_MLID), mlid);
	unpair();
}

static void a_group_is_made_and_goes_with_its_members(void **state)
{
	uint64_t all = 1 << 2 | 1 << 6 | 1 << 7 | 1 << 12 | 1 << 13;

	(void)state;
	pair(&gsi, 4096);
	join_expect(other, 1 << 2, 0x0600);
	join_expect(other, all, 0);
	assert_int_equal(fld_get(flat.mem + from + MAD + GRH_LEN + 56, MC_QKEY), 0x1234);
	join_expect(other, 0, 0); /* the group exists now */
	ask_for(0x01, 0x38, 1 << 0);
	memcpy(request + 56, other, 16);
	ask_expect(0x81, 0);
	ask_for(0x15, 0x38, 1 << 0 | 1 << 1 | 1 << 16);
	memcpy(request + 56, other, 16);
	gid_of(0, request + 56 + 16);
	fld_set(request + 56, MC_JOIN_STATE, 1);
	ask_expect(0x95, 0);
	ask_expect(0x95, 0x0200); /* not a member any more */
	ask_for(0x01, 0x38, 1 << 0);
	memcpy(request + 56, other, 16);
	ask_expect(0x81, 0x0300);
	unpair();
}

static void ports_join_for_themselves(void **state)
{
	(void)state;
	pair(&gsi, 4096);
	ask_for(0x02, 0x38, 1 << 0 | 1 << 1 | 1 << 16);
	memcpy(request + 56, ipoib, 16);
	memset(request + 56 + 16, 0x33, 16);
	fld_set(request + 56, MC_JOIN_STATE, 1);
	ask_expect(0x81, 0x0500);
	unpair();
}

static void the_class_says_what_it_can(void **state)
{
	const uint8_t *info;

	(void)state;
	pair(&gsi, 4096);
	ask_for(0x01, 0x01, 0);
	info = ask_expect(0x81, 0);
	assert_int_equal(info[0], 1);
	assert_int_equal(info[1], 2);
	ask_for(0x01, 0x19, 0); /* LinearForwardingTableRecord */
	ask_expect(0x81, 0x000c);
	unpair();
}

static void what_is_no_request_gets_no_answer(void **state)
{
	(void)state;
	pair(&gsi, 4096);
	ask_for(0x81, 0x35, 0);
	assert_null(subnet_ask());
	ask_for(0x12, 0x35, 0);
	fld_set(request, RMPP_FLAGS, 1);
	fld_set(request, RMPP_TYPE, 2); /* ACK */
	assert_null(subnet_ask());
	ask_for(0x01, 0x35, 0);
	request[1] = 5; /* class: baseboard management */
	assert_null(subnet_ask());
	unpair();
}

int main(void)
{
#define IB(f) cmocka_unit_test_setup_teardown(f, flat_setup, flat_teardown)
	const struct CMUnitTest tests[] = {
		IB(ports_name_the_manager),
		IB(a_path_leads_to_the_lid_of_a_gid),
		IB(a_stranger_has_no_path),
		IB(a_table_is_one_segment),
		IB(a_service_is_found_by_name_and_id),
		IB(a_service_agrees_in_each_component),
		IB(two_services_have_no_room_in_an_answer),
		IB(a_long_table_comes_in_parts),
		IB(nodes_are_told_by_kind_and_lid),
		IB(managers_are_found_by_their_capability),
		IB(links_lead_from_the_switch_to_each_port),
		IB(a_path_is_found_by_lids_too),
		cmocka_unit_test(services_are_written_as_name_id_and_port),
		cmocka_unit_test(a_table_of_services_has_an_end),
		IB(the_group_of_ipoib_is_there),
		IB(a_group_is_made_and_goes_with_its_members),
		IB(ports_join_for_themselves),
		IB(the_class_says_what_it_can),
		IB(what_is_no_request_gets_no_answer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

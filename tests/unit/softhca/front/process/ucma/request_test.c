/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * request_test.c - arriving requests: which listener is asked, the new id's addresses, and what the
 * program reads of a request.
 */
#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#include "rig.h"
#include "softhca/front/process/ucma/request.c"

enum { PORT = 0x1234, PEER_PORT = 0x4321, NUMBER = 44, REFUSED = EDOM };

static const uint8_t v4_own[16] = { [10] = 0xff, 0xff, 192, 0, 2, 1 };
static const uint8_t v6_own[16] = { 0x20, 1, 0x0d, 0xb8, [15] = 1 };

static const uint8_t sgid[16] = { 0x5a, [15] = 1 }, dgid[16] = { 0xda, [15] = 2 };

static struct {
	struct ucma_id made; /* by ucma_id_new() */
	struct ucma_id *listener;
	uint8_t mad[MAD_SIZE];
	struct cm_request request;
	/* what the listener was looked up by */
	bool has_host, ipv4;
	uint8_t host[16];
	int id_error;
	bool no_event;
	struct ucma_event *sent;
	struct ucma_id *joined, *destroyed;
} it;

struct ucma_id *ucma_id_find_listener(uint64_t service, const struct adapter *adapter,
				      const uint8_t *host, bool ipv4)
{
	assert_int_equal(service, it.request.service);
	assert_ptr_equal(adapter, it.request.path.adapter);
	it.has_host = host;
	it.ipv4 = ipv4;
	if (host)
		memcpy(it.host, host, 16);
	return it.listener;
}

int ucma_id_new(struct ucma_file *file, struct ucma_id **id)
{
	assert_ptr_equal(file, &rig.file);
	if (it.id_error)
		return it.id_error;
	it.made.file = file;
	it.made.number = NUMBER;
	*id = &it.made;
	return 0;
}

void ucma_id_destroy(struct ucma_id *id)
{
	it.destroyed = id;
}

struct ucma_event *ucma_event_new(struct ucma_id *id, enum ucma_event_type type, int status)
{
	struct ucma_event *event;

	assert_ptr_equal(id, &rig.id);
	assert_int_equal(type, EV_CONNECT_REQUEST);
	assert_int_equal(status, 0);
	if (it.no_event)
		return NULL;
	event = calloc(1, sizeof(*event));
	assert_non_null(event);
	return event;
}

void ucma_event_join(struct ucma_event *event, struct ucma_id *request)
{
	assert_non_null(event);
	it.joined = request;
}

void ucma_event_send(struct ucma_event *event)
{
	it.sent = event;
}

static void header_put(uint8_t *header, unsigned int family, uint8_t from)
{
	memset(header, 0, CM_IP_SIZE);
	fld_set(header, CM_IP_FAMILY, family);
	fld_set(header, CM_IP_PORT, PEER_PORT);
	memcpy(fld_at(header, CM_IP_DESTINATION), family == 4 ? v4_own : v6_own, 16);
	memcpy(fld_at(header, CM_IP_SOURCE), family == 4 ? v4_own : v6_own, 16);
	*((uint8_t *)fld_at(header, CM_IP_SOURCE) + 15) = from;
	if (family == 4) /* only the last four bytes count */
		memset(fld_at(header, CM_IP_DESTINATION), 0, 12);
}

static int request_begin(void **state)
{
	rig_begin(state);
	memset(&it, 0, sizeof(it));
	rig.id.state = UCMA_LISTENS;
	rig.id.ps = PS_TCP;
	rig.id.backlog = 3;
	rig.id.src.addr = rig_ip("0.0.0.0", PORT);
	it.listener = &rig.id;
	for (unsigned int i = 0; i < MAD_SIZE; i++)
		it.mad[i] = (uint8_t)(i * 7 + 1);
	memset(it.mad + (cm_data(it.mad) - it.mad) + REQ_PRIVATE_AT, 0, CM_IP_SIZE);
	it.request = (struct cm_request){ .mad = it.mad,
					  .qp_type = IB_UVERBS_QPT_RC,
					  .service = 0x1060000 | PORT,
					  .path = { .adapter = &rig.adapters[1],
						    .port = 2,
						    .gid_index = 3,
						    .slid = 0x51,
						    .dlid = 0xd1,
						    .sl = 6 } };
	memcpy(it.request.path.sgid, sgid, 16);
	memcpy(it.request.path.dgid, dgid, 16);
	return 0;
}

static int request_end(void **state)
{
	(void)state;
	free(it.sent);
	return 0;
}

static uint8_t *private_bytes(void)
{
	return it.mad + (private_of(&it.request) - it.mad);
}

static int wanted(void)
{
	struct cm_conn *conn = NULL;
	int ret = ucma_request_wanted(&it.request, &conn);

	assert_ptr_equal(conn, ret ? NULL : &it.made.conn);
	return ret;
}

static void check_gids(void)
{
	uint8_t bytes[16];

	assert_int_equal(it.made.src.addr.ss_family, AF_IB_FAMILY);
	assert_int_equal(it.made.dst.addr.ss_family, AF_IB_FAMILY);
	ucma_addr_bytes(&it.made.src.addr, bytes);
	assert_memory_equal(bytes, sgid, 16);
	ucma_addr_bytes(&it.made.dst.addr, bytes);
	assert_memory_equal(bytes, dgid, 16);
	assert_int_equal(ucma_addr_service(&it.made.src.addr, 0), (uint64_t)PS_TCP << 16 | PORT);
	assert_int_equal(ucma_addr_service(&it.made.dst.addr, 0), (uint64_t)PS_TCP << 16);
}

static void a_request_makes_an_id_like_its_listener(void **state)
{
	(void)state;
	rig.id.datagram = true;
	assert_int_equal(wanted(), 0);
	assert_int_equal(it.made.ps, PS_TCP);
	assert_int_equal(it.made.qp_type, IB_UVERBS_QPT_RC);
	assert_true(it.made.datagram);
	assert_true(it.made.passive);
	assert_true(it.made.has_src);
	assert_true(it.made.has_dst);
	assert_int_equal(it.made.state, UCMA_CONNECTS);
	assert_memory_equal(&it.made.path, &it.request.path, sizeof(it.made.path));
	assert_ptr_equal(it.made.src.adapter, &rig.adapters[1]);
	assert_int_equal(it.made.src.port, 2);
	assert_int_equal(it.made.src.gid_index, 3);
	assert_int_equal(it.made.src.lid, 0x51);
	assert_memory_equal(it.made.src.gid, sgid, 16);
	assert_null(it.made.dst.adapter);
	assert_int_equal(it.made.dst.port, 2);
	assert_int_equal(it.made.dst.lid, 0xd1);
	assert_memory_equal(it.made.dst.gid, dgid, 16);
	assert_int_equal(rig.id.backlog, 3);
}

static void a_request_without_a_listener_is_refused(void **state)
{
	(void)state;
	it.listener = NULL;
	assert_int_equal(wanted(), ENOENT);
}

static void a_listener_refuses_other_qp_types(void **state)
{
	(void)state;
	rig.id.qp_type = IB_UVERBS_QPT_UC;
	assert_int_equal(wanted(), EINVAL);
	rig.id.qp_type = IB_UVERBS_QPT_RC;
	assert_int_equal(wanted(), 0);
	rig.id.qp_type = 0; /* any */
	assert_int_equal(wanted(), 0);
}

static void a_full_listener_wants_requests_later(void **state)
{
	(void)state;
	rig.id.backlog = 0;
	assert_int_equal(wanted(), ENOMEM);
	rig.id.backlog = -1;
	assert_int_equal(wanted(), ENOMEM);
	rig.id.backlog = 1;
	assert_int_equal(wanted(), 0);
}

static void an_id_that_cannot_be_made_is_an_error(void **state)
{
	(void)state;
	it.id_error = REFUSED;
	assert_int_equal(wanted(), REFUSED);
}

static void a_request_without_a_header_has_gids(void **state)
{
	(void)state;
	assert_int_equal(wanted(), 0);
	assert_false(it.has_host);
	check_gids();
}

static void a_request_with_a_header_has_ip_addresses(void **state)
{
	uint8_t bytes[16];

	(void)state;
	for (unsigned int sidr = 0; sidr < 2; sidr++) {
		it.request.sidr = sidr;
		header_put(private_bytes(), 4, 77);
		assert_int_equal(wanted(), 0);
		assert_true(it.has_host);
		assert_true(it.ipv4);
		assert_memory_equal(it.host, v4_own, 16);
		assert_int_equal(it.made.src.addr.ss_family, AF_INET);
		ucma_addr_bytes(&it.made.src.addr, bytes);
		assert_memory_equal(bytes, v4_own, 16);
		assert_int_equal(it.made.dst.addr.ss_family, AF_INET);
		ucma_addr_bytes(&it.made.dst.addr, bytes);
		assert_memory_equal(bytes, v4_own, 15);
		assert_int_equal(bytes[15], 77);
		assert_int_equal(ucma_addr_port(&it.made.src.addr), PORT);
		assert_int_equal(ucma_addr_port(&it.made.dst.addr), PEER_PORT);
		memset(private_bytes(), 0, CM_IP_SIZE);
	}
}

static void an_ipv6_header_has_all_bytes(void **state)
{
	uint8_t bytes[16];

	(void)state;
	header_put(private_bytes(), 6, 66);
	assert_int_equal(wanted(), 0);
	assert_true(it.has_host);
	assert_false(it.ipv4);
	assert_memory_equal(it.host, v6_own, 16);
	assert_int_equal(it.made.src.addr.ss_family, AF_INET6);
	ucma_addr_bytes(&it.made.src.addr, bytes);
	assert_memory_equal(bytes, v6_own, 16);
	assert_int_equal(it.made.dst.addr.ss_family, AF_INET6);
	ucma_addr_bytes(&it.made.dst.addr, bytes);
	assert_memory_equal(bytes, v6_own, 15);
	assert_int_equal(bytes[15], 66);
	assert_int_equal(ucma_addr_port(&it.made.dst.addr), PEER_PORT);
}

static void an_unknown_header_is_none(void **state)
{
	(void)state;
	header_put(private_bytes(), 5, 1);
	assert_int_equal(wanted(), 0);
	assert_false(it.has_host);
	check_gids();
	header_put(private_bytes(), 4, 1);
	fld_set(private_bytes(), CM_IP_VERSION, 1);
	assert_int_equal(wanted(), 0);
	assert_false(it.has_host);
	check_gids();
}

static void a_listener_at_a_gid_reads_no_header(void **state)
{
	uint8_t gid[16] = { 0xfe, 0x80 };

	(void)state;
	ucma_addr_put(&rig.id.src.addr, AF_IB_FAMILY, gid, PS_TCP, PORT);
	header_put(private_bytes(), 4, 1);
	assert_int_equal(wanted(), 0);
	check_gids();
}

static void the_program_reads_a_req(void **state)
{
	const uint8_t *data = cm_data(it.mad);
	const struct rdma_ucm_conn_param *param;

	(void)state;
	ucma_request_tell(&it.made, &it.request);
	assert_null(it.destroyed);
	assert_non_null(it.sent);
	assert_ptr_equal(it.joined, &it.made);
	assert_int_equal(rig.id.backlog, 2);
	assert_int_equal(it.sent->resp.id, it.made.number);
	param = &it.sent->resp.param.conn;
	assert_int_equal(param->private_data_len, REQ_PRIVATE - CM_IP_SIZE);
	assert_memory_equal(param->private_data, data + REQ_PRIVATE_AT + CM_IP_SIZE,
			    REQ_PRIVATE - CM_IP_SIZE);
	assert_int_equal(param->private_data[REQ_PRIVATE - CM_IP_SIZE], 0);
	assert_int_equal(param->responder_resources, fld_get(data, REQ_INITIATOR_DEPTH));
	assert_int_equal(param->initiator_depth, fld_get(data, REQ_RESPONDER_RESOURCES));
	assert_int_not_equal(param->initiator_depth, param->responder_resources);
	assert_int_equal(param->flow_control, fld_get(data, REQ_FLOW_CONTROL));
	assert_int_equal(param->retry_count, fld_get(data, REQ_RETRY_COUNT));
	assert_int_equal(param->rnr_retry_count, fld_get(data, REQ_RNR_RETRY_COUNT));
	assert_int_equal(param->srq, fld_get(data, REQ_SRQ));
	assert_int_equal(param->qp_num, fld_get(data, REQ_QPN));
	assert_int_equal(it.sent->resp.ece.vendor_id, fld_get(data, REQ_VENDOR_ID));
	assert_int_equal(it.sent->resp.ece.attr_mod, fld_get(it.mad, MAD_MODIFIER));
}

static void each_bit_of_a_req_is_read(void **state)
{
	uint8_t *data = it.mad + (cm_data(it.mad) - it.mad);

	(void)state;
	fld_set(data, REQ_FLOW_CONTROL, 1);
	fld_set(data, REQ_SRQ, 1);
	fld_set(data, REQ_RETRY_COUNT, 5);
	fld_set(data, REQ_RNR_RETRY_COUNT, 6);
	ucma_request_tell(&it.made, &it.request);
	assert_non_null(it.sent);
	assert_int_equal(it.sent->resp.param.conn.flow_control, 1);
	assert_int_equal(it.sent->resp.param.conn.srq, 1);
	assert_int_equal(it.sent->resp.param.conn.retry_count, 5);
	assert_int_equal(it.sent->resp.param.conn.rnr_retry_count, 6);
}

static void a_listener_at_a_gid_gets_all_private_data(void **state)
{
	uint8_t gid[16] = { 0xfe, 0x80 };

	(void)state;
	ucma_addr_put(&rig.id.src.addr, AF_IB_FAMILY, gid, PS_TCP, PORT);
	header_put(private_bytes(), 4, 1);
	ucma_request_tell(&it.made, &it.request);
	assert_non_null(it.sent);
	assert_int_equal(it.sent->resp.param.conn.private_data_len, REQ_PRIVATE);
	assert_memory_equal(it.sent->resp.param.conn.private_data, private_bytes(), REQ_PRIVATE);
}

static void the_program_reads_a_datagram_request(void **state)
{
	const struct rdma_ucm_ud_param *param;

	(void)state;
	it.request.sidr = true;
	ucma_request_tell(&it.made, &it.request);
	assert_non_null(it.sent);
	param = &it.sent->resp.param.ud;
	assert_int_equal(param->private_data_len, SIDR_REQ_PRIVATE - CM_IP_SIZE);
	assert_memory_equal(param->private_data, private_bytes() + CM_IP_SIZE,
			    SIDR_REQ_PRIVATE - CM_IP_SIZE);
	assert_int_equal(param->private_data[SIDR_REQ_PRIVATE - CM_IP_SIZE], 0);
	assert_int_equal(it.sent->resp.ece.vendor_id, 0);
	assert_int_equal(rig.id.backlog, 2);
}

static void a_request_that_cannot_be_told_ends(void **state)
{
	(void)state;
	it.no_event = true;
	ucma_request_tell(&it.made, &it.request);
	assert_ptr_equal(it.destroyed, &it.made);
	assert_null(it.joined);
	assert_int_equal(rig.id.backlog, 3);
	it.destroyed = NULL;
	it.no_event = false;
	it.listener = NULL;
	ucma_request_tell(&it.made, &it.request);
	assert_ptr_equal(it.destroyed, &it.made);
	assert_null(it.sent);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, request_begin, request_end)
	const struct CMUnitTest tests[] = {
		CASE(a_request_makes_an_id_like_its_listener),
		CASE(a_request_without_a_listener_is_refused),
		CASE(a_listener_refuses_other_qp_types),
		CASE(a_full_listener_wants_requests_later),
		CASE(an_id_that_cannot_be_made_is_an_error),
		CASE(a_request_without_a_header_has_gids),
		CASE(a_request_with_a_header_has_ip_addresses),
		CASE(an_ipv6_header_has_all_bytes),
		CASE(an_unknown_header_is_none),
		CASE(a_listener_at_a_gid_reads_no_header),
		CASE(the_program_reads_a_req),
		CASE(each_bit_of_a_req_is_read),
		CASE(a_listener_at_a_gid_gets_all_private_data),
		CASE(the_program_reads_a_datagram_request),
		CASE(a_request_that_cannot_be_told_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * conn_test.c - commands on connections: the parameters and private data that the connection
 * manager gets, the IP header before them, and the states of ids that allow each command.
 */
#include "softhca/front/process/ucma/conn.c"
#include "tests/unit/softhca/front/process/ucma/rig.h"

enum { REFUSED = EDOM, SHORT = sizeof(struct rdma_ucm_ece) };

enum verb { NONE, CONNECT, RESOLVE, ACCEPT, CONFIRM, ESTABLISH, REJECT, ANSWER, DISCONNECT, TOLD };

static struct {
	enum verb last;
	unsigned int calls;
	int error;
	bool established;
	struct cm_param param;
	uint8_t data[RDMA_MAX_PRIVATE_DATA];
	unsigned int len;
	enum cm_reason reason;
	uint8_t status;
	uint32_t qpn, qkey;
} it;

static int did(const struct cm_conn *conn, enum verb verb, const void *data, unsigned int len)
{
	assert_ptr_equal(conn, &rig.id.conn);
	assert_true(len <= sizeof(it.data));
	if (len)
		memcpy(it.data, data, len);
	it.len = len;
	it.last = verb;
	it.calls++;
	return it.error;
}

void cm_connect(struct cm_conn *conn, const struct cm_param *param)
{
	it.param = *param;
	assert_int_equal(rig.id.state, UCMA_CONNECTS);
	did(conn, CONNECT, param->private_data, param->private_len);
}

void cm_resolve_service(struct cm_conn *conn, const void *private_data, uint8_t len)
{
	assert_int_equal(rig.id.state, UCMA_CONNECTS);
	did(conn, RESOLVE, private_data, len);
}

int cm_accept(struct cm_conn *conn, const struct cm_param *param)
{
	it.param = *param;
	return did(conn, ACCEPT, param->private_data, param->private_len);
}

int cm_confirm(struct cm_conn *conn)
{
	return did(conn, CONFIRM, NULL, 0);
}

bool cm_establish(struct cm_conn *conn)
{
	did(conn, ESTABLISH, NULL, 0);
	if (it.established)
		conn->state = CM_ESTABLISHED;
	return it.established;
}

int cm_reject(struct cm_conn *conn, enum cm_reason reason, const void *private_data, uint8_t len)
{
	it.reason = reason;
	return did(conn, REJECT, private_data, len);
}

int cm_answer_service(struct cm_conn *conn, uint8_t status, uint32_t qpn, uint32_t qkey,
		      const void *private_data, uint8_t len)
{
	it.status = status;
	it.qpn = qpn;
	it.qkey = qkey;
	return did(conn, ANSWER, private_data, len);
}

void cm_disconnect(struct cm_conn *conn)
{
	did(conn, DISCONNECT, NULL, 0);
}

void ucma_conn_event(struct ucma_id *id, enum cm_event what, const uint8_t *mad)
{
	assert_ptr_equal(id, &rig.id);
	assert_int_equal(what, CM_EVENT_RTU);
	assert_null(mad);
	did(&id->conn, TOLD, NULL, 0);
}

static const struct rdma_ucm_conn_param param = { .qp_num = 0xff123456,
						  .qkey = 0x99,
						  .private_data = { 1, 2, 3, 4, 5 },
						  .private_data_len = 5,
						  .srq = 1,
						  .responder_resources = 3,
						  .initiator_depth = 4,
						  .flow_control = 1,
						  .retry_count = 6,
						  .rnr_retry_count = 5,
						  .valid = 1 };

static int conn_begin(void **state)
{
	memset(&it, 0, sizeof(it));
	rig_begin(state);
	rig.id.state = UCMA_ROUTE_RESOLVED;
	rig.id.ps = PS_TCP;
	rig.id.qp_type = 2;
	rig.id.src.addr = rig_ip("198.18.5.1", 0x1122);
	rig.id.dst.addr = rig_ip("198.18.5.2", 0x3344);
	rig.id.path.dlid = 0x55;
	return 0;
}

static void connect_to(uint8_t len)
{
	rig.call.connect = (struct rdma_ucm_connect){
		.conn_param = param, .id = RIG_ID, .ece = { .vendor_id = 0x15b3, .attr_mod = 0x1c }
	};
	rig.call.connect.conn_param.private_data_len = len;
	rig.call.hdr.in = sizeof(rig.call.connect);
}

static void check_param(void)
{
	assert_int_equal(it.param.qpn, 0x123456);
	assert_int_equal(it.param.responder_resources, 3);
	assert_int_equal(it.param.initiator_depth, 4);
	assert_int_equal(it.param.retry_count, 6);
	assert_int_equal(it.param.rnr_retry_count, 5);
	assert_int_equal(it.param.flow_control, 1);
	assert_int_equal(it.param.srq, 1);
	assert_int_equal(it.param.vendor_id, 0x15b3);
	assert_int_equal(it.param.vendor_options, 0x1c);
}

static void a_request_has_the_programs_parameters(void **state)
{
	(void)state;
	connect_to(5);
	assert_int_equal(ucma_conn_connect(&rig.call), 0);
	assert_int_equal(it.last, CONNECT);
	check_param();
	assert_int_equal(rig.id.conn.path.dlid, 0x55);
	assert_int_equal(rig.id.conn.service, 0x01063344);
	assert_int_equal(rig.id.conn.qp_type, 2);
	assert_int_equal(rig.id.state, UCMA_CONNECTS);
}

static void retries_end_at_7(void **state)
{
	(void)state;
	for (unsigned int count = 6; count <= 9; count++) {
		connect_to(0);
		rig.call.connect.conn_param.retry_count = (uint8_t)count;
		rig.call.connect.conn_param.rnr_retry_count = (uint8_t)(count - 1);
		rig.id.state = UCMA_ROUTE_RESOLVED;
		assert_int_equal(ucma_conn_connect(&rig.call), 0);
		assert_int_equal(it.param.retry_count, count < 7 ? count : 7);
		assert_int_equal(it.param.rnr_retry_count, count < 8 ? count - 1 : 7);
	}
}

static void shorter_commands_have_no_ece(void **state)
{
	(void)state;
	connect_to(0);
	rig.call.hdr.in = sizeof(rig.call.connect) - SHORT;
	assert_int_equal(ucma_conn_connect(&rig.call), 0);
	assert_int_equal(it.param.vendor_id, 0);
	assert_int_equal(it.param.vendor_options, 0);
}

static void the_ip_header_goes_before_private_data(void **state)
{
	static const uint8_t v4[CM_IP_SIZE + 5] = { 0, 0x40, 0x11,       0x22, [16] = 198, 18,
						    5, 1,    [32] = 198, 18,   5,          2,
						    1, 2,    3,          4,    5 };
	static const uint8_t v6[CM_IP_SIZE] = { 0,    0x60,     0x11,        0x22, 0x20,
						0x01, [19] = 7, [20] = 0x20, 0x01, [35] = 8 };

	(void)state;
	connect_to(5);
	assert_int_equal(ucma_conn_connect(&rig.call), 0);
	assert_int_equal(it.len, sizeof(v4));
	assert_memory_equal(it.data, v4, sizeof(v4));
	rig.id.src.addr = rig_ip("2001::7", 0x1122);
	rig.id.dst.addr = rig_ip("2001::8", 0x3344);
	rig.id.state = UCMA_ROUTE_RESOLVED;
	connect_to(0);
	assert_int_equal(ucma_conn_connect(&rig.call), 0);
	assert_int_equal(it.len, sizeof(v6));
	assert_memory_equal(it.data, v6, sizeof(v6));
}

static void use_gids(void)
{
	static const uint8_t gid[16] = { 0xfe, 0x80, [15] = 1 };

	ucma_addr_put(&rig.id.src.addr, AF_IB_FAMILY, gid, PS_IB, 0);
	ucma_addr_put(&rig.id.dst.addr, AF_IB_FAMILY, gid, PS_IB, 0);
	ucma_addr_set_service(&rig.id.dst.addr, 0x1122334455667788);
}

static void gids_go_without_a_header(void **state)
{
	(void)state;
	use_gids();
	connect_to(5);
	assert_int_equal(ucma_conn_connect(&rig.call), 0);
	assert_int_equal(it.len, 5);
	assert_memory_equal(it.data, param.private_data, 5);
	assert_true(rig.id.conn.service == 0x1122334455667788);
}

static int connect_with(uint8_t len)
{
	connect_to(len);
	rig.id.state = UCMA_ROUTE_RESOLVED;
	return ucma_conn_connect(&rig.call);
}

static void private_data_fit_the_message(void **state)
{
	(void)state;
	assert_int_equal(connect_with(REQ_PRIVATE - CM_IP_SIZE), 0);
	assert_int_equal(it.len, REQ_PRIVATE);
	assert_int_equal(connect_with(REQ_PRIVATE - CM_IP_SIZE + 1), EINVAL);
	rig.id.datagram = true;
	assert_int_equal(connect_with(SIDR_REQ_PRIVATE - CM_IP_SIZE), 0);
	assert_int_equal(it.len, SIDR_REQ_PRIVATE);
	assert_int_equal(it.last, RESOLVE);
	assert_int_equal(connect_with(SIDR_REQ_PRIVATE - CM_IP_SIZE + 1), EINVAL);
	use_gids();
	rig.id.datagram = false;
	assert_int_equal(connect_with(REQ_PRIVATE), 0);
	assert_int_equal(connect_with(REQ_PRIVATE + 1), EINVAL);
	assert_int_equal(rig.id.state, UCMA_ROUTE_RESOLVED);
	assert_int_equal(it.calls, 3);
}

static void only_a_resolved_route_is_connected(void **state)
{
	(void)state;
	for (enum ucma_state of = UCMA_IDLE; of <= UCMA_DISCONNECTED; of++) {
		connect_to(0);
		rig.id.state = of;
		assert_int_equal(ucma_conn_connect(&rig.call),
				 of == UCMA_ROUTE_RESOLVED ? 0 : EINVAL);
	}
	assert_int_equal(it.calls, 1);
	rig.id.state = UCMA_ROUTE_RESOLVED;
	connect_to(0);
	rig.call.connect.conn_param.valid = 0;
	assert_int_equal(ucma_conn_connect(&rig.call), EINVAL);
	rig.call.connect.conn_param.valid = 1;
	rig.call.connect.id++;
	assert_int_equal(ucma_conn_connect(&rig.call), ENOENT);
	assert_int_equal(it.calls, 1);
}

static int accept_with(uint8_t len)
{
	rig.call.accept =
		(struct rdma_ucm_accept){ .uid = 0x1234,
					  .conn_param = param,
					  .id = RIG_ID,
					  .ece = { .vendor_id = 0x15b3, .attr_mod = 0x1c } };
	rig.call.accept.conn_param.private_data_len = len;
	rig.call.hdr.in = sizeof(rig.call.accept);
	return ucma_conn_accept(&rig.call);
}

static void an_accepted_id_is_the_programs(void **state)
{
	(void)state;
	rig.id.state = UCMA_CONNECTS;
	it.error = REFUSED;
	assert_int_equal(accept_with(5), REFUSED);
	assert_int_equal(rig.id.uid, 0);
	it.error = 0;
	assert_int_equal(accept_with(REP_PRIVATE + 1), EINVAL);
	assert_int_equal(rig.id.uid, 0);
	assert_int_equal(it.calls, 1);
	assert_int_equal(accept_with(REP_PRIVATE), 0);
	assert_int_equal(it.len, REP_PRIVATE);
	assert_memory_equal(it.data, param.private_data, REP_PRIVATE);
	assert_int_equal(it.last, ACCEPT);
	check_param();
	assert_int_equal(rig.id.uid, 0x1234);
	rig.call.hdr.in -= SHORT;
	assert_int_equal(ucma_conn_accept(&rig.call), 0);
	assert_int_equal(it.param.vendor_id, 0);
	rig.call.accept.id++;
	assert_int_equal(ucma_conn_accept(&rig.call), ENOENT);
}

static void accepting_needs_a_connection(void **state)
{
	(void)state;
	for (enum ucma_state of = UCMA_IDLE; of <= UCMA_DISCONNECTED; of++) {
		rig.id.state = of;
		assert_int_equal(accept_with(0), of == UCMA_CONNECTS ? 0 : EINVAL);
	}
	assert_int_equal(it.calls, 1);
}

static void accepting_without_parameters_confirms(void **state)
{
	(void)state;
	it.error = REFUSED;
	rig.call.accept = (struct rdma_ucm_accept){ .uid = 0x1234, .id = RIG_ID };
	assert_int_equal(ucma_conn_accept(&rig.call), REFUSED);
	assert_int_equal(it.last, CONFIRM);
	assert_int_equal(rig.id.uid, 0);
}

static void an_accepted_datagram_has_a_qkey(void **state)
{
	(void)state;
	rig.id.state = UCMA_CONNECTS;
	rig.id.datagram = true;
	assert_int_equal(accept_with(SIDR_REP_PRIVATE), 0);
	assert_int_equal(it.last, ANSWER);
	assert_int_equal(it.status, SIDR_SUCCESS);
	assert_int_equal(it.qpn, 0x123456);
	assert_int_equal(it.qkey, UCMA_QKEY);
	assert_int_equal(it.len, SIDR_REP_PRIVATE);
	assert_int_equal(rig.id.uid, 0x1234);
	assert_int_equal(accept_with(SIDR_REP_PRIVATE + 1), EINVAL);
	assert_int_equal(it.calls, 1);
	use_gids();
	assert_int_equal(accept_with(0), 0);
	assert_int_equal(it.qkey, 0x99);
	rig.call.accept.conn_param.qkey = 0;
	assert_int_equal(ucma_conn_accept(&rig.call), 0);
	assert_int_equal(it.qkey, UCMA_QKEY);
}

static int reject_with(uint8_t reason, uint8_t len)
{
	rig.call.reject = (struct rdma_ucm_reject){
		.id = RIG_ID, .private_data_len = len, .reason = reason, .private_data = { 7, 8, 9 }
	};
	return ucma_conn_reject(&rig.call);
}

static void a_rejection_has_a_consumers_reason(void **state)
{
	(void)state;
	assert_int_equal(reject_with(0, 3), 0);
	assert_int_equal(it.last, REJECT);
	assert_int_equal(it.reason, REASON_CONSUMER);
	assert_int_equal(it.len, 3);
	assert_memory_equal(it.data, rig.call.reject.private_data, 3);
	assert_int_equal(reject_with(REASON_VENDOR_OPTION, REJ_PRIVATE), 0);
	assert_int_equal(it.reason, REASON_VENDOR_OPTION);
	assert_int_equal(reject_with(REASON_CONSUMER, 0), 0);
	assert_int_equal(it.reason, REASON_CONSUMER);
	assert_int_equal(reject_with(1, 0), EINVAL);
	assert_int_equal(reject_with(0, REJ_PRIVATE + 1), EINVAL);
	rig.call.reject = (struct rdma_ucm_reject){ .id = RIG_ID + 1 };
	assert_int_equal(ucma_conn_reject(&rig.call), ENOENT);
	assert_int_equal(it.calls, 3);
	it.error = REFUSED;
	assert_int_equal(reject_with(0, 0), REFUSED);
}

static void a_rejected_datagram_is_answered(void **state)
{
	(void)state;
	rig.id.datagram = true;
	it.qpn = it.qkey = 1;
	assert_int_equal(reject_with(0, SIDR_REP_PRIVATE), 0);
	assert_int_equal(it.last, ANSWER);
	assert_int_equal(it.status, SIDR_REJECT);
	assert_int_equal(it.qpn, 0);
	assert_int_equal(it.qkey, 0);
	assert_int_equal(it.len, SIDR_REP_PRIVATE);
	assert_memory_equal(it.data, rig.call.reject.private_data, 3);
	assert_int_equal(reject_with(0, SIDR_REP_PRIVATE + 1), EINVAL);
	it.error = REFUSED;
	assert_int_equal(reject_with(0, 0), REFUSED);
}

static void listeners_and_connections_can_be_disconnected(void **state)
{
	(void)state;
	rig.call.disconnect.id = RIG_ID;
	rig.id.src.adapter = &rig.adapters[0];
	rig.id.state = UCMA_CONNECTS;
	assert_int_equal(ucma_conn_disconnect(&rig.call), EINVAL);
	rig.id.has_src = true;
	for (enum ucma_state of = UCMA_IDLE; of <= UCMA_DISCONNECTED; of++) {
		const bool may = of == UCMA_LISTENS || of >= UCMA_CONNECTS;
		const unsigned int calls = it.calls;

		rig.id.state = of;
		assert_int_equal(ucma_conn_disconnect(&rig.call), may ? 0 : EINVAL);
		assert_int_equal(it.calls - calls, may);
	}
	rig.call.disconnect.id++;
	assert_int_equal(ucma_conn_disconnect(&rig.call), ENOENT);
}

static int notify_id(uint32_t event)
{
	rig.call.notify = (struct rdma_ucm_notify){ .id = RIG_ID, .event = event };
	return ucma_conn_notify(&rig.call);
}

static void data_establish_a_connection(void **state)
{
	enum { COMM_EST = 4 };

	(void)state;
	rig.id.state = UCMA_CONNECTS;
	rig.id.conn.state = CM_REP_SENT;
	it.established = true;
	assert_int_equal(notify_id(COMM_EST), 0);
	assert_int_equal(it.last, TOLD);
	it.established = false;
	assert_int_equal(notify_id(COMM_EST), 0);
	assert_int_equal(it.last, ESTABLISH);
	rig.id.conn.state = CM_REQ_SENT;
	assert_int_equal(notify_id(COMM_EST), EINVAL);
	it.calls = 0;
	assert_int_equal(notify_id(COMM_EST + 1), EINVAL);
	rig.id.datagram = true;
	assert_int_equal(notify_id(COMM_EST), EINVAL);
	rig.id.datagram = false;
	rig.id.state = UCMA_ROUTE_RESOLVED;
	assert_int_equal(notify_id(COMM_EST), EINVAL);
	rig.call.notify.id++;
	assert_int_equal(ucma_conn_notify(&rig.call), ENOENT);
	assert_int_equal(it.calls, 0);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup(name, conn_begin)
	const struct CMUnitTest tests[] = {
		CASE(a_request_has_the_programs_parameters),
		CASE(retries_end_at_7),
		CASE(shorter_commands_have_no_ece),
		CASE(the_ip_header_goes_before_private_data),
		CASE(gids_go_without_a_header),
		CASE(private_data_fit_the_message),
		CASE(only_a_resolved_route_is_connected),
		CASE(an_accepted_id_is_the_programs),
		CASE(accepting_needs_a_connection),
		CASE(accepting_without_parameters_confirms),
		CASE(an_accepted_datagram_has_a_qkey),
		CASE(a_rejection_has_a_consumers_reason),
		CASE(a_rejected_datagram_is_answered),
		CASE(listeners_and_connections_can_be_disconnected),
		CASE(data_establish_a_connection),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

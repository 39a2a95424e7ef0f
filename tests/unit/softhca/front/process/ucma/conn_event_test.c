/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * conn_event_test.c - events of connections: the type, status and parameters that each message of
 * the peer gives, address handles of paths, and the connection manager's timer.
 */
#include "softhca/front/process/ucma/conn_event.c"
#include "tests/unit/softhca/front/process/ucma/rig.h"

enum { AT = 0x5000 };

static struct {
	struct ucma_event event;
	unsigned int made, sent, told;
	bool lacks_memory;
	struct cm_request request;
	uint64_t next, started;
	unsigned int starts, stops, closes;
	const struct cm_ops *ops;
	int open_error;
} it;

static uint8_t mad[MAD_SIZE];

struct ucma_event *ucma_event_new(struct ucma_id *id, enum ucma_event_type type, int status)
{
	assert_ptr_equal(id, &rig.id);
	if (it.lacks_memory)
		return NULL;
	memset(&it.event, 0, sizeof(it.event));
	it.event.resp.event = type;
	it.event.resp.status = (uint32_t)status;
	it.made++;
	return &it.event;
}

void ucma_event_send(struct ucma_event *event)
{
	assert_ptr_equal(event, &it.event);
	it.sent++;
}

void ucma_request_tell(struct ucma_id *id, const struct cm_request *request)
{
	assert_ptr_equal(id, &rig.id);
	it.request = *request;
	it.told++;
}

int ucma_request_wanted(const struct cm_request *request, struct cm_conn **conn)
{
	(void)request;
	(void)conn;
	return ENOENT;
}

uint64_t cm_expire(void)
{
	return it.next;
}

void cm_start(const struct cm_ops *ops)
{
	it.ops = ops;
}

void timer_start(struct timer *timer, uint64_t deadline)
{
	assert_ptr_equal(timer, &cm_timer);
	it.started = deadline;
	it.starts++;
}

void timer_stop(struct timer *timer)
{
	assert_ptr_equal(timer, &cm_timer);
	it.stops++;
}

uint64_t timer_now(void)
{
	return AT;
}

void gsi_send(const struct cm_path *path, const uint8_t message[MAD_SIZE])
{
	(void)path;
	(void)message;
}

int gsi_open(void (*take)(const struct gsi_arrival *arrival), void (*died)(struct adapter *adapter))
{
	assert_ptr_equal(take, resolve_take);
	assert_ptr_equal(died, ucma_id_adapter_died);
	return it.open_error;
}

void gsi_close(void)
{
	it.closes++;
}

static resolve_own_fn own;

void resolve_start(resolve_own_fn is_own)
{
	own = is_own;
}

void resolve_take(const struct gsi_arrival *arrival)
{
	(void)arrival;
}

void ucma_id_adapter_died(struct adapter *adapter)
{
	(void)adapter;
}

static int event_begin(void **state)
{
	memset(&it, 0, sizeof(it));
	rig_begin(state);
	for (size_t i = 0; i < sizeof(mad); i++)
		mad[i] = (uint8_t)(i * 7 + 1);
	rig.id.uid = 9;
	rig.id.state = UCMA_CONNECTS;
	rig.id.conn = (struct cm_conn){ .remote_qpn = 0x1234,
					.responder_resources = 3,
					.initiator_depth = 4,
					.service = 0x1122 };
	rig.id.conn.path = (struct cm_path){ .port = 2,
					     .gid_index = 3,
					     .dlid = 0x55,
					     .sl = 6,
					     .grh = true,
					     .hop_limit = 64,
					     .traffic_class = 0x21,
					     .flow_label = 0x12345 };
	memset(rig.id.conn.path.dgid, 0xd1, 16);
	return 0;
}

static void each_message_has_its_event(void **state)
{
	static const struct {
		enum cm_event what;
		enum ucma_event_type type;
		int status;
	} rows[] = {
		{ CM_EVENT_REQ_TIMEOUT, EV_UNREACHABLE, -ETIMEDOUT },
		{ CM_EVENT_REP_TIMEOUT, EV_UNREACHABLE, -ETIMEDOUT },
		{ CM_EVENT_RTU, EV_ESTABLISHED, 0 },
		{ CM_EVENT_DREQ, EV_DISCONNECTED, 0 },
		{ CM_EVENT_DREQ_TIMEOUT, EV_DISCONNECTED, -ETIMEDOUT },
		{ CM_EVENT_DREP, EV_DISCONNECTED, 0 },
		{ CM_EVENT_TIMEWAIT_EXIT, EV_TIMEWAIT_EXIT, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct rdma_ucm_event_resp expected = { .event = rows[i].type,
							.status = (uint32_t)rows[i].status };

		rig.id.state = UCMA_CONNECTS;
		ucma_conn_event(&rig.id, rows[i].what, NULL);
		assert_int_equal(it.sent, i + 1);
		assert_memory_equal(&it.event.resp, &expected, sizeof(expected));
	}
}

static void a_connection_ends_once(void **state)
{
	(void)state;
	ucma_conn_event(&rig.id, CM_EVENT_DREQ, NULL);
	assert_int_equal(rig.id.state, UCMA_DISCONNECTED);
	ucma_conn_event(&rig.id, CM_EVENT_DREP, NULL);
	ucma_conn_event(&rig.id, CM_EVENT_DREQ_TIMEOUT, NULL);
	assert_int_equal(it.sent, 1);
	ucma_conn_event(&rig.id, CM_EVENT_TIMEWAIT_EXIT, NULL);
	assert_int_equal(it.sent, 2);
}

static void an_unaccepted_id_gets_no_event(void **state)
{
	(void)state;
	rig.id.uid = 0;
	ucma_conn_event(&rig.id, CM_EVENT_RTU, NULL);
	assert_int_equal(it.made, 0);
	ucma_conn_event(&rig.id, CM_EVENT_DREQ, NULL);
	assert_int_equal(it.made, 0);
	assert_int_equal(rig.id.state, UCMA_DISCONNECTED);
	rig.id.uid = 1;
	it.lacks_memory = true;
	ucma_conn_event(&rig.id, CM_EVENT_REP, mad);
	assert_int_equal(it.sent, 0);
}

static void a_reply_has_the_peers_parameters(void **state)
{
	const struct rdma_ucm_conn_param *param = &it.event.resp.param.conn;
	uint8_t *data = mad + CM_DATA;

	(void)state;
	fld_set(data, REP_FLOW_CONTROL, 1);
	fld_set(data, REP_RNR_RETRY_COUNT, 5);
	fld_set(data, REP_SRQ, 1);
	fld_set(data, REP_VENDOR_ID_H, 0x12);
	fld_set(data, REP_VENDOR_ID_M, 0x34);
	fld_set(data, REP_VENDOR_ID_L, 0x56);
	fld_set(mad, MAD_MODIFIER, 0x789abcde);
	ucma_conn_event(&rig.id, CM_EVENT_REP, mad);
	assert_int_equal(it.event.resp.event, EV_CONNECT_RESPONSE);
	assert_int_equal(it.event.resp.status, 0);
	assert_int_equal(param->private_data_len, REP_PRIVATE);
	assert_memory_equal(param->private_data, data + REP_PRIVATE_AT, REP_PRIVATE);
	assert_int_equal(param->responder_resources, 3);
	assert_int_equal(param->initiator_depth, 4);
	assert_int_equal(param->flow_control, 1);
	assert_int_equal(param->rnr_retry_count, 5);
	assert_int_equal(param->srq, 1);
	assert_int_equal(param->qp_num, 0x1234);
	assert_int_equal(it.event.resp.ece.vendor_id, 0x123456);
	assert_int_equal(it.event.resp.ece.attr_mod, 0x789abcde);
}

static void a_rejection_has_its_reason(void **state)
{
	const struct rdma_ucm_conn_param *param = &it.event.resp.param.conn;

	(void)state;
	fld_set(mad + CM_DATA, REJ_REASON, 28);
	ucma_conn_event(&rig.id, CM_EVENT_REJ, mad);
	assert_int_equal(it.event.resp.event, EV_REJECTED);
	assert_int_equal(it.event.resp.status, 28);
	assert_int_equal(param->private_data_len, REJ_PRIVATE);
	assert_memory_equal(param->private_data, mad + CM_DATA + REJ_PRIVATE_AT, REJ_PRIVATE);
	assert_int_equal(param->qp_num, 0);
}

static void an_answered_datagram_has_an_address(void **state)
{
	const struct rdma_ucm_ud_param *param = &it.event.resp.param.ud;
	uint8_t *data = mad + CM_DATA;

	(void)state;
	fld_set(data, SIDR_REP_STATUS, 0);
	fld_set(data, SIDR_REP_QPN, 0x4321);
	fld_set(data, SIDR_REP_QKEY, 0x1234567);
	ucma_conn_event(&rig.id, CM_EVENT_SIDR_REP, mad);
	assert_int_equal(it.event.resp.event, EV_ESTABLISHED);
	assert_int_equal(it.event.resp.status, 0);
	assert_int_equal(param->private_data_len, SIDR_REP_PRIVATE);
	assert_memory_equal(param->private_data, data + SIDR_REP_PRIVATE_AT, SIDR_REP_PRIVATE);
	assert_int_equal(param->qp_num, 0x4321);
	assert_int_equal(param->qkey, 0x1234567);
	assert_int_equal(param->ah_attr.dlid, 0x55);
	assert_int_equal(param->ah_attr.grh.sgid_index, 3);
}

static void a_refused_datagram_has_a_status(void **state)
{
	const struct rdma_ucm_ud_param *param = &it.event.resp.param.ud;

	(void)state;
	fld_set(mad + CM_DATA, SIDR_REP_STATUS, 2);
	ucma_conn_event(&rig.id, CM_EVENT_SIDR_REP, mad);
	assert_int_equal(it.event.resp.event, EV_UNREACHABLE);
	assert_int_equal(it.event.resp.status, 2);
	assert_int_equal(param->private_data_len, SIDR_REP_PRIVATE);
	assert_int_equal(param->qp_num, 0);
	assert_int_equal(param->qkey, 0);
	assert_int_equal(param->ah_attr.dlid, 0);
	assert_int_equal(it.sent, 1);
}

static void an_address_handle_is_of_the_path(void **state)
{
	struct ib_uverbs_ah_attr attr;
	static const uint8_t none[16];

	(void)state;
	memset(&attr, 0xee, sizeof(attr));
	ucma_conn_put_ah(&rig.id.conn.path, 7, &attr);
	assert_int_equal(attr.port_num, 2);
	assert_int_equal(attr.dlid, 0x55);
	assert_int_equal(attr.sl, 6);
	assert_int_equal(attr.is_global, 1);
	assert_int_equal(attr.static_rate, 0);
	assert_memory_equal(attr.grh.dgid, rig.id.conn.path.dgid, 16);
	assert_int_equal(attr.grh.sgid_index, 7);
	assert_int_equal(attr.grh.hop_limit, 64);
	assert_int_equal(attr.grh.traffic_class, 0x21);
	assert_int_equal(attr.grh.flow_label, 0x12345);
	rig.id.conn.path.grh = false;
	memset(&attr, 0xee, sizeof(attr));
	ucma_conn_put_ah(&rig.id.conn.path, 7, &attr);
	assert_int_equal(attr.dlid, 0x55);
	assert_int_equal(attr.is_global, 0);
	assert_memory_equal(attr.grh.dgid, none, 16);
	assert_int_equal(attr.grh.sgid_index, 0);
	assert_int_equal(attr.grh.hop_limit, 0);
}

static void requests_go_to_the_listener(void **state)
{
	(void)state;
	conn_happened(&rig.id.conn, CM_EVENT_REQ, mad);
	assert_int_equal(it.told, 1);
	assert_false(it.request.sidr);
	assert_ptr_equal(it.request.mad, mad);
	assert_int_equal(it.request.service, 0x1122);
	assert_int_equal(it.request.path.dlid, 0x55);
	conn_happened(&rig.id.conn, CM_EVENT_SIDR_REQ, mad);
	assert_int_equal(it.told, 2);
	assert_true(it.request.sidr);
	assert_int_equal(it.made, 0);
	conn_happened(&rig.id.conn, CM_EVENT_RTU, mad);
	assert_int_equal(it.sent, 1);
	assert_int_equal(it.told, 2);
}

static void the_timer_runs_while_something_waits(void **state)
{
	(void)state;
	it.open_error = EDOM;
	assert_int_equal(ucma_conn_start(), EDOM);
	it.open_error = 0;
	assert_int_equal(ucma_conn_start(), 0);
	assert_ptr_equal(own, ucma_addr_is_own);
	rig.adapters[0].node_guid = 0x1122334455667788;
	assert_true(it.ops->guid(&rig.adapters[0]) == 0x1122334455667788);
	assert_int_equal(it.ops->now(), AT);
	it.ops->set_timer(AT + 5);
	assert_int_equal(it.started, AT + 5);
	it.next = AT + 9;
	cm_timer.expired(&cm_timer);
	assert_int_equal(it.started, AT + 9);
	it.next = CM_NEVER;
	cm_timer.expired(&cm_timer);
	assert_int_equal(it.starts, 2);
	ucma_conn_stop();
	assert_int_equal(it.stops, 1);
	assert_int_equal(it.closes, 1);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup(name, event_begin)
	const struct CMUnitTest tests[] = {
		CASE(each_message_has_its_event),      CASE(a_connection_ends_once),
		CASE(an_unaccepted_id_gets_no_event),  CASE(a_reply_has_the_peers_parameters),
		CASE(a_rejection_has_its_reason),      CASE(an_answered_datagram_has_an_address),
		CASE(a_refused_datagram_has_a_status), CASE(an_address_handle_is_of_the_path),
		CASE(requests_go_to_the_listener),     CASE(the_timer_runs_while_something_waits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

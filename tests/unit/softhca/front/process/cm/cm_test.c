/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cm_test.c - connection management between two sides with a simulated clock and wire: the
 * messages of each exchange, their retries and timeouts, and the end of connections.
 *
 * Covers: softhca/front/process/cm/
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "softhca/front/process/cm/cm.h"
#include "softhca/front/process/cm/mad.h"

enum { RC = 2, XRC_SEND = 9, XRC_RECV = 10, WIRE = 64, EVENTS = 64, LIFETIME = 18 };

#define SECOND      1000000000ull
#define SERVICE     0x1061234ull
#define TIMEOUT_NS  (4096ull << 20)
#define LIFETIME_NS (4096ull << LIFETIME)

static struct {
	uint64_t now;
	uint8_t wire[WIRE][MAD_SIZE];
	unsigned int sent, taken;
	unsigned int lose;    /* number of next messages to drop */
	char said[WIRE * 12]; /* attributes on the wire, as words */
	struct {
		struct cm_conn *conn;
		enum cm_event event;
		unsigned int reason;
	} events[EVENTS];
	unsigned int num_events;
	struct cm_conn server; /* connection of the next request */
	int refusal;
} rig;

static const char *name_of(const uint8_t *mad)
{
	static const char *const names[] = {
		[CM_REQ] = "REQ",   [CM_MRA] = "MRA",           [CM_REJ] = "REJ",
		[CM_REP] = "REP",   [CM_RTU] = "RTU",           [CM_DREQ] = "DREQ",
		[CM_DREP] = "DREP", [CM_SIDR_REQ] = "SIDR_REQ", [CM_SIDR_REP] = "SIDR_REP"
	};

	return names[cm_attribute(mad)];
}

static void wire_send(const struct cm_path *path, const uint8_t mad[MAD_SIZE])
{
	(void)path;
	if (rig.said[0])
		strcat(rig.said, " ");
	strcat(rig.said, name_of(mad));
	if (rig.lose) {
		rig.lose--;
		return;
	}
	assert_true(rig.sent < WIRE);
	memcpy(rig.wire[rig.sent++], mad, MAD_SIZE);
}

static int requested(const struct cm_request *request, struct cm_conn **conn)
{
	if (rig.refusal)
		return rig.refusal;
	if (request->service != SERVICE)
		return ENOENT;
	memset(&rig.server, 0, sizeof(rig.server));
	rig.server.psn = 0x222222;
	*conn = &rig.server;
	return 0;
}

static void event_record(struct cm_conn *conn, enum cm_event event, const uint8_t *mad)
{
	assert_true(rig.num_events < EVENTS);
	rig.events[rig.num_events].conn = conn;
	rig.events[rig.num_events].event = event;
	rig.events[rig.num_events++].reason =
		event == CM_EVENT_REJ ? fld_get(cm_data(mad), REJ_REASON) : 0;
}

static uint64_t guid_of(const struct adapter *adapter)
{
	(void)adapter;
	return 0x0002c9fffe5f0000ull;
}

static void no_timer(uint64_t deadline)
{
	(void)deadline;
}

static uint64_t rig_now(void)
{
	return rig.now;
}

static const struct cm_ops ops = { requested, event_record, wire_send, guid_of, no_timer, rig_now };

static int world_start(void **state)
{
	(void)state;
	memset(&rig, 0, sizeof(rig));
	rig.now = SECOND;
	cm_start(&ops);
	return 0;
}

static void wire_deliver(void)
{
	static const struct cm_path path = { .lifetime = LIFETIME };

	while (rig.taken < rig.sent) {
		uint8_t mad[MAD_SIZE];

		memcpy(mad, rig.wire[rig.taken++], MAD_SIZE);
		assert_true(cm_receive(&path, mad));
	}
	rig.sent = rig.taken = 0;
}

static void time_pass(uint64_t ns)
{
	rig.now += ns;
	cm_expire();
	wire_deliver();
}

static void check_said(const char *expected)
{
	assert_string_equal(rig.said, expected);
	rig.said[0] = '\0';
}

static void check_event(const struct cm_conn *conn, enum cm_event event)
{
	assert_true(rig.num_events > 0);
	assert_ptr_equal(rig.events[0].conn, conn);
	assert_int_equal(rig.events[0].event, event);
	memmove(rig.events, rig.events + 1, --rig.num_events * sizeof(rig.events[0]));
}

static struct cm_conn new_client(void)
{
	return (struct cm_conn){ .path = { .lifetime = LIFETIME, .mtu = 3 },
				 .service = SERVICE,
				 .qp_type = RC,
				 .psn = 0x111111 };
}

static const struct cm_param client_param = { .qpn = 0x100,
					      .responder_resources = 3,
					      .initiator_depth = 4,
					      .retry_count = 5,
					      .rnr_retry_count = 6 };
static const struct cm_param server_param = {
	.qpn = 0x200, .responder_resources = 2, .initiator_depth = 1, .rnr_retry_count = 7
};

static void connect_all(struct cm_conn *client)
{
	cm_connect(client, &client_param);
	wire_deliver();
	check_event(&rig.server, CM_EVENT_REQ);
	assert_int_equal(cm_accept(&rig.server, &server_param), 0);
	wire_deliver();
	check_event(client, CM_EVENT_REP);
	assert_int_equal(cm_confirm(client), 0);
	wire_deliver();
	check_event(&rig.server, CM_EVENT_RTU);
	check_said("REQ REP RTU");
}

static void answers_that_nobody_waits_for_are_refused(void **state)
{
	struct cm_conn client = new_client();

	(void)state;
	assert_int_equal(cm_accept(&client, &server_param), EINVAL);
	assert_int_equal(cm_confirm(&client), EINVAL);
	assert_int_equal(cm_reject(&client, REASON_CONSUMER, NULL, 0), EINVAL);
	assert_int_equal(cm_answer_service(&client, 0, 1, 2, NULL, 0), EINVAL);
	assert_false(cm_establish(&client));
	check_said("");
	connect_all(&client);
	assert_int_equal(cm_accept(&rig.server, &server_param), EINVAL);
	assert_int_equal(cm_confirm(&client), EINVAL);
	assert_int_equal(cm_reject(&client, REASON_CONSUMER, NULL, 0), EINVAL);
	check_said("");
	cm_destroy(&client);
	cm_destroy(&rig.server);
}

static void both_sides_know_what_the_other_has_said(void **state)
{
	struct cm_conn client = new_client();

	(void)state;
	connect_all(&client);
	assert_int_equal(client.remote_qpn, 0x200);
	assert_int_equal(client.remote_psn, 0x222222);
	assert_int_equal(client.initiator_depth, 2);
	assert_int_equal(client.responder_resources, 1);
	assert_int_equal(client.rnr_retry_count, 7);
	assert_int_equal(rig.server.remote_qpn, 0x100);
	assert_int_equal(rig.server.remote_psn, 0x111111);
	assert_int_equal(rig.server.retry_count, 5);
	assert_int_equal(rig.server.rnr_retry_count, 6);
	assert_int_equal(rig.server.path.mtu, 3);
	assert_int_equal(rig.server.ack_timeout, LIFETIME + 1);
	cm_destroy(&client);
	cm_destroy(&rig.server);
}

static void xrc_names_its_qp_in_another_field(void **state)
{
	struct cm_conn client = new_client();

	(void)state;
	client.qp_type = XRC_SEND;
	connect_all(&client);
	assert_int_equal(rig.server.qp_type, XRC_RECV);
	assert_int_equal(client.remote_qpn, 0x200);
	cm_destroy(&client);
	cm_destroy(&rig.server);
}

static void a_request_has_the_bytes_of_the_specification(void **state)
{
	struct cm_conn conn = new_client();
	uint8_t mad[MAD_SIZE];

	(void)state;
	conn.local_id = 0x01020304;
	conn.transaction = 0x1122334455667788ull;
	conn.ack_timeout = 19;
	cm_put_req(mad, &conn, &client_param, 0xaabbccddeeff0011ull);
	assert_memory_equal(mad, "\x01\x07\x02\x03\0\0\0\0\x11\x22\x33\x44\x55\x66\x77\x88\0\x10",
			    18);
	assert_memory_equal(mad + 24, "\x01\x02\x03\x04\0\0\0\0\0\0\0\0\x01\x06\x12\x34", 16);
	assert_memory_equal(mad + 40, "\xaa\xbb\xcc\xdd\xee\xff\0\x11", 8);
	assert_memory_equal(mad + 56,
			    "\0\x01\0\x03\0\0\0\x04\0\0\0\xa0\x11\x11\x11\xa5\xff\xff\x36\xf0", 20);
	assert_int_equal(mad[24 + 95], 19 << 3);
}

static void what_is_lost_is_repeated(void **state)
{
	struct cm_conn client = new_client();

	(void)state;
	rig.lose = 1;
	cm_connect(&client, &client_param);
	time_pass(TIMEOUT_NS);
	check_said("REQ");
	time_pass(2 * LIFETIME_NS);
	check_said("REQ");
	check_event(&rig.server, CM_EVENT_REQ);
	rig.lose = 1;
	cm_accept(&rig.server, &server_param);
	time_pass(TIMEOUT_NS + 2 * LIFETIME_NS);
	/* the repeated REQ gets the same REP, as the first may be lost */
	check_said("REP REQ REP");
	check_event(&client, CM_EVENT_REP);
	rig.lose = 1;
	cm_confirm(&client);
	time_pass(TIMEOUT_NS + 2 * LIFETIME_NS);
	check_said("RTU REP RTU");
	check_event(&rig.server, CM_EVENT_RTU);
	rig.lose = 1;
	cm_disconnect(&client);
	time_pass(TIMEOUT_NS + 2 * LIFETIME_NS);
	check_said("DREQ DREQ");
	check_event(&rig.server, CM_EVENT_DREQ);
	cm_disconnect(&rig.server);
	wire_deliver();
	check_event(&client, CM_EVENT_DREP);
	cm_destroy(&client);
	cm_destroy(&rig.server);
}

static void a_program_that_takes_its_time_is_waited_for(void **state)
{
	struct cm_conn client = new_client();

	(void)state;
	cm_connect(&client, &client_param);
	wire_deliver();
	check_event(&rig.server, CM_EVENT_REQ);
	time_pass(TIMEOUT_NS + 2 * LIFETIME_NS);
	check_said("REQ REQ MRA");
	time_pass(60 * SECOND);
	check_said("");
	cm_accept(&rig.server, &server_param);
	wire_deliver();
	check_event(&client, CM_EVENT_REP);
	check_said("REP");
	time_pass(TIMEOUT_NS + 2 * LIFETIME_NS); /* the other program takes its time, too */
	check_said("REP MRA");
	time_pass(60 * SECOND);
	check_said("");
	cm_destroy(&client);
	cm_destroy(&rig.server);
}

static void nobody_there_takes_sixteen_tries(void **state)
{
	struct cm_conn client = new_client();
	uint64_t begin = rig.now;
	unsigned int tries = 0;

	(void)state;
	rig.lose = 100;
	cm_connect(&client, &client_param);
	while (!rig.num_events) {
		time_pass(TIMEOUT_NS + 2 * LIFETIME_NS);
		tries++;
	}
	check_event(&client, CM_EVENT_REQ_TIMEOUT);
	assert_int_equal(tries, 16);
	assert_in_range((rig.now - begin) / SECOND, 95, 110);
	assert_int_equal(client.state, CM_IDLE);
	cm_destroy(&client);
}

static void check_rejected(const struct cm_conn *conn, unsigned int reason)
{
	assert_int_equal(rig.events[0].reason, reason);
	check_event(conn, CM_EVENT_REJ);
}

static void nobody_listening_is_an_invalid_service(void **state)
{
	struct cm_conn client = new_client();

	(void)state;
	client.service++;
	cm_connect(&client, &client_param);
	wire_deliver();
	check_said("REQ REJ");
	check_rejected(&client, REASON_INVALID_SERVICE_ID);
	cm_destroy(&client);
}

static void a_full_backlog_does_not_answer(void **state)
{
	struct cm_conn client = new_client();

	(void)state;
	rig.refusal = ENOMEM;
	cm_connect(&client, &client_param);
	wire_deliver();
	check_said("REQ");
	rig.refusal = 0;
	time_pass(TIMEOUT_NS + 2 * LIFETIME_NS);
	check_event(&rig.server, CM_EVENT_REQ);
	cm_destroy(&client);
	wire_deliver();
	cm_destroy(&rig.server);
}

static void private_data_comes_with_a_reject(void **state)
{
	struct cm_conn client = new_client();

	(void)state;
	cm_connect(&client, &client_param);
	wire_deliver();
	check_event(&rig.server, CM_EVENT_REQ);
	assert_int_equal(cm_reject(&rig.server, REASON_CONSUMER, "no", 2), 0);
	assert_memory_equal(rig.wire[0] + 24 + REJ_PRIVATE_AT, "no", 3);
	wire_deliver();
	check_rejected(&client, REASON_CONSUMER);
	assert_int_equal(cm_accept(&rig.server, &server_param), EINVAL);
	cm_destroy(&client);
	cm_destroy(&rig.server);
}

/* A reject of a connection that the peer never established ends it at once, unless the peer calls
 * it stale, as packets of the old connection may still be on their way. */
static void each_state_has_its_end_by_a_reject(void **state)
{
	static const struct {
		enum cm_state state, after, after_stale;
	} rows[] = {
		{ CM_REQ_SENT, CM_IDLE, CM_TIMEWAIT },
		{ CM_REQ_DELAYED, CM_IDLE, CM_TIMEWAIT },
		{ CM_REQ_RECEIVED, CM_IDLE, CM_TIMEWAIT },
		{ CM_REP_SENT, CM_IDLE, CM_TIMEWAIT },
		{ CM_REP_DELAYED, CM_IDLE, CM_TIMEWAIT },
		{ CM_REP_RECEIVED, CM_TIMEWAIT, CM_TIMEWAIT },
		{ CM_ESTABLISHED, CM_TIMEWAIT, CM_TIMEWAIT },
		{ CM_DREQ_SENT, CM_TIMEWAIT, CM_TIMEWAIT },
		{ CM_DREQ_RECEIVED, CM_DREQ_RECEIVED, CM_DREQ_RECEIVED },
		{ CM_TIMEWAIT, CM_TIMEWAIT, CM_TIMEWAIT },
	};
	static const struct cm_path path = { .lifetime = LIFETIME };

	for (unsigned int i = 0; i < 2 * sizeof(rows) / sizeof(rows[0]); i++) {
		enum cm_state before = rows[i / 2].state;
		enum cm_state after = i % 2 ? rows[i / 2].after_stale : rows[i / 2].after;
		struct cm_conn client = new_client(), peer;
		uint8_t mad[MAD_SIZE];

		world_start(state);
		connect_all(&client);
		peer = rig.server;
		cm_put_rej(mad, &peer, i % 2 ? REASON_STALE_CONNECTION : REASON_CONSUMER, NULL, 0);
		client.state = before;
		assert_true(cm_receive(&path, mad));
		assert_int_equal(client.state, after);
		assert_int_equal(rig.num_events,
				 before != CM_DREQ_RECEIVED && before != CM_TIMEWAIT);
		cm_destroy(&client);
		cm_destroy(&rig.server);
	}
}

static void who_gives_up_says_so(void **state)
{
	struct cm_conn client = new_client();

	(void)state;
	cm_connect(&client, &client_param);
	wire_deliver();
	check_event(&rig.server, CM_EVENT_REQ);
	cm_destroy(&client);
	wire_deliver();
	check_said("REQ REJ");
	check_rejected(&rig.server, REASON_TIMEOUT);
	cm_destroy(&rig.server);
}

static void who_goes_disconnects(void **state)
{
	struct cm_conn client = new_client();

	(void)state;
	connect_all(&client);
	cm_destroy(&client);
	wire_deliver();
	check_said("DREQ");
	check_event(&rig.server, CM_EVENT_DREQ);
	cm_destroy(&rig.server);
	wire_deliver();
	check_said("DREP");
}

static void both_disconnect_at_once(void **state)
{
	struct cm_conn client = new_client();

	(void)state;
	connect_all(&client);
	cm_disconnect(&client);
	cm_disconnect(&rig.server);
	wire_deliver();
	check_event(&rig.server, CM_EVENT_DREQ);
	check_event(&client, CM_EVENT_DREQ);
	assert_int_equal(rig.num_events, 0);
	cm_disconnect(&client);
	wire_deliver();
	assert_int_equal(client.state, CM_TIMEWAIT);
	assert_int_equal(rig.server.state, CM_TIMEWAIT);
	cm_destroy(&client);
	cm_destroy(&rig.server);
}

static void the_end_is_waited_for(void **state)
{
	struct cm_conn client = new_client();

	(void)state;
	connect_all(&client);
	cm_disconnect(&client);
	wire_deliver();
	check_event(&rig.server, CM_EVENT_DREQ);
	cm_disconnect(&rig.server);
	wire_deliver();
	check_event(&client, CM_EVENT_DREP);
	time_pass(3 * SECOND);
	assert_int_equal(rig.events[0].event, CM_EVENT_TIMEWAIT_EXIT);
	assert_int_equal(rig.events[1].event, CM_EVENT_TIMEWAIT_EXIT);
	assert_int_equal(rig.num_events, 2);
	cm_destroy(&client);
	cm_destroy(&rig.server);
}

static void a_disconnect_that_nobody_answers_ends(void **state)
{
	struct cm_conn client = new_client();

	(void)state;
	connect_all(&client);
	rig.lose = 100;
	cm_disconnect(&client);
	for (unsigned int i = 0; i < 16; i++)
		time_pass(TIMEOUT_NS + 2 * LIFETIME_NS);
	check_event(&client, CM_EVENT_DREQ_TIMEOUT);
	rig.lose = 0;
	cm_destroy(&client);
	cm_destroy(&rig.server);
}

/* The first client died without a DREQ, and a new process uses its QP number, so the server refuses
 * the stale REQ, and ends the old connection. */
static void a_stale_connection_is_refused_and_ended(void **state)
{
	struct cm_conn first = new_client(), second = new_client(), server;

	(void)state;
	connect_all(&first);
	server = rig.server;
	rig.lose = 1;
	cm_destroy(&first);
	rig.said[0] = '\0';
	cm_connect(&second, &client_param);
	wire_deliver();
	assert_memory_equal(rig.said, "REQ REJ DREQ", 12);
	assert_int_equal(server.local_id, rig.server.local_id);
	check_rejected(&second, REASON_STALE_CONNECTION);
	cm_destroy(&second);
	cm_destroy(&rig.server);
}

/* A REP from a QP whose old connection still exists here does not count, so the client repeats its
 * REQ until it times out. */
static void a_stale_answer_is_none(void **state)
{
	static const struct cm_path path = { .lifetime = LIFETIME };
	struct cm_conn first = new_client(), second = new_client(), other;
	uint8_t mad[MAD_SIZE];

	(void)state;
	connect_all(&first);
	rig.lose = 100;
	cm_connect(&second, &client_param);
	rig.said[0] = '\0';
	other = rig.server;
	other.local_id += 100;
	other.remote_id = second.local_id;
	cm_put_rep(mad, &other, &server_param, guid_of(NULL));
	assert_true(cm_receive(&path, mad));
	check_said("REJ DREQ");
	cm_put_rep(mad, &rig.server, &server_param, guid_of(NULL)); /* REP of the first */
	fld_set(mad + CM_DATA, CM_REMOTE_ID, second.local_id);
	assert_true(cm_receive(&path, mad));
	check_said("");
	while (second.state != CM_IDLE && rig.now < 1000 * SECOND)
		time_pass(TIMEOUT_NS + 2 * LIFETIME_NS);
	assert_int_equal(second.state, CM_IDLE);
	rig.lose = 0;
	cm_destroy(&first);
	cm_destroy(&second);
	cm_destroy(&rig.server);
}

static void a_service_request_gets_a_qp(void **state)
{
	struct cm_conn client = new_client();

	(void)state;
	cm_resolve_service(&client, "who", 4);
	wire_deliver();
	check_event(&rig.server, CM_EVENT_SIDR_REQ);
	cm_answer_service(&rig.server, SIDR_SUCCESS, 0x777, 0x1234567, NULL, 0);
	wire_deliver();
	check_event(&client, CM_EVENT_SIDR_REP);
	assert_int_equal(client.remote_qpn, 0x777);
	check_said("SIDR_REQ SIDR_REP");
	cm_destroy(&client);
	cm_destroy(&rig.server);
}

static void an_end_that_is_not_known_is_confirmed(void **state)
{
	static const struct cm_path path = { .lifetime = LIFETIME };
	struct cm_conn none = new_client();
	uint8_t mad[MAD_SIZE];

	(void)state;
	none.local_id = 5;
	none.remote_id = 6;
	cm_put_ids(mad, &none, CM_DREQ);
	assert_true(cm_receive(&path, mad));
	check_said("DREP");
	assert_int_equal(fld_get(cm_data(rig.wire[0]), CM_LOCAL_ID), 6);
	assert_int_equal(fld_get(cm_data(rig.wire[0]), CM_REMOTE_ID), 5);
}

/* Random bytes in any state must not touch memory of others: messages come from any host. */
static void noise_is_harmless(void **state)
{
	static const struct cm_path path = { .lifetime = LIFETIME };
	struct cm_conn client = new_client();
	uint8_t mad[MAD_SIZE];

	(void)state;
	srandom(7);
	connect_all(&client);
	rig.refusal = ENOENT;
	for (unsigned int i = 0; i < 50000; i++) {
		cm_put_ids(mad, i % 2 ? &client : &rig.server,
			   CM_REQ + (unsigned int)random() % 12);
		for (unsigned int j = 0; j < (unsigned int)random() % 4; j++)
			mad[24 + random() % 12] = (uint8_t)random();
		for (unsigned int j = 100; j < MAD_SIZE; j++)
			mad[j] = (uint8_t)random();
		cm_receive(&path, mad);
		rig.sent = rig.num_events = 0;
		rig.said[0] = '\0';
	}
	cm_destroy(&client);
	cm_destroy(&rig.server);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(answers_that_nobody_waits_for_are_refused, world_start),
		cmocka_unit_test_setup(both_sides_know_what_the_other_has_said, world_start),
		cmocka_unit_test_setup(xrc_names_its_qp_in_another_field, world_start),
		cmocka_unit_test_setup(a_request_has_the_bytes_of_the_specification, world_start),
		cmocka_unit_test_setup(what_is_lost_is_repeated, world_start),
		cmocka_unit_test_setup(a_program_that_takes_its_time_is_waited_for, world_start),
		cmocka_unit_test_setup(nobody_there_takes_sixteen_tries, world_start),
		cmocka_unit_test_setup(nobody_listening_is_an_invalid_service, world_start),
		cmocka_unit_test_setup(a_full_backlog_does_not_answer, world_start),
		cmocka_unit_test_setup(private_data_comes_with_a_reject, world_start),
		cmocka_unit_test_setup(each_state_has_its_end_by_a_reject, world_start),
		cmocka_unit_test_setup(who_gives_up_says_so, world_start),
		cmocka_unit_test_setup(who_goes_disconnects, world_start),
		cmocka_unit_test_setup(both_disconnect_at_once, world_start),
		cmocka_unit_test_setup(the_end_is_waited_for, world_start),
		cmocka_unit_test_setup(a_disconnect_that_nobody_answers_ends, world_start),
		cmocka_unit_test_setup(a_stale_connection_is_refused_and_ended, world_start),
		cmocka_unit_test_setup(a_stale_answer_is_none, world_start),
		cmocka_unit_test_setup(a_service_request_gets_a_qp, world_start),
		cmocka_unit_test_setup(an_end_that_is_not_known_is_confirmed, world_start),
		cmocka_unit_test_setup(noise_is_harmless, world_start),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

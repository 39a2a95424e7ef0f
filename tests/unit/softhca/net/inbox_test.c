/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * inbox_test.c - the order of a management request's completion and its answer, and what becomes of
 * requests that wait: their queue pair fails or goes, their adapter goes, there are too many.
 *
 * Covers: softhca/net/inbox.c, softhca/net/fabric.c fabric_send fabric_flush
 */
#include "ib/mad.h"
#include "ib/pm.h"
#include "ib/sa.h"
#include "pair.h"
#include "prm/mlx5/cqc.h"
#include "prm/mlx5/mini_cqe.h"
#include "prm/mlx5/qpc.h"
#include "softhca/device/core.h"
#include "softhca/net/inbox.h"

enum { KEY = 0x80010000, GRH_LEN = 40, SWITCH_LID = 0xbfff };

static const struct flat_qp_attr gsi = { .st = PRM_QP_ST_QP1, .qkey = KEY };

/* Writes a request at the start of the buffer. */
static void put_request(uint8_t class, uint8_t version, uint16_t attribute)
{
	uint8_t *mad = flat.mem + from;

	memset(mad, 0, MAD_SIZE);
	fld_set(mad, MAD_BASE_VERSION, 1);
	fld_set(mad, MAD_CLASS, class);
	fld_set(mad, MAD_CLASS_VERSION, version);
	fld_set(mad, MAD_METHOD, MAD_GET);
	fld_set(mad, MAD_ATTRIBUTE, attribute);
}

static void post_request(struct flat_qp *qp, uint64_t at, uint32_t len)
{
	flat_ctrl(qp, OP_SEND, SIGNALED, 0);
	flat_av_lid(SWITCH_LID, GSI_QPN, KEY);
	flat_data(qp, at, len, lkey);
	flat_post(qp);
}

/* Expects the completion of request COUNTER, and its answer later. */
static void expect_answer(uint16_t counter)
{
	flat_expect_done(a->send_cq, REQ, counter);
	flat_expect_done(a->recv_cq, RESP_SEND, counter);
	assert_in_range(flat_when_completed(a->send_cq), 1, flat_when_completed(a->recv_cq) - 1);
}

static void an_answer_follows_the_completion(void **state)
{
	static const struct {
		uint8_t class, version;
		uint16_t attribute;
	} requests[] = {
		{ MAD_CLASS_SA, 2, MAD_CLASS_PORT_INFO },
		{ MAD_CLASS_SA, 2, SA_MC_MEMBER_RECORD },
		{ MAD_CLASS_PERFORMANCE, 1, MAD_CLASS_PORT_INFO },
		{ MAD_CLASS_PERFORMANCE, 1, PM_PORT_COUNTERS },
	};

	(void)state;
	pair(&gsi, 4096);
	for (uint16_t i = 0; i < sizeof(requests) / sizeof(requests[0]); i++) {
		put_request(requests[i].class, requests[i].version, requests[i].attribute);
		flat_recv(a, from + MAD_SIZE, GRH_LEN + MAD_SIZE, lkey);
		post_request(a, from, MAD_SIZE);
		flat_ring(a);
		flat_run(LONG);
		expect_answer(i);
	}
	unpair();
}

/* The adapter holds completions of these CQs back, to write several at once. */
static void answers_wait_for_compressed_completions(void **state)
{
	struct flat_qp_attr attr = gsi;

	(void)state;
	attr.cqe_size = 64 | FLAT_COMPRESSED | PRM_MINI_CQE_CHECKSUM << FLAT_FORMAT_SHIFT;
	pair(&attr, 4096);
	put_request(MAD_CLASS_SA, 2, MAD_CLASS_PORT_INFO);
	flat_recv(a, from + MAD_SIZE, GRH_LEN + MAD_SIZE, lkey);
	post_request(a, from, MAD_SIZE);
	flat_ring(a);
	flat_run(LONG);
	expect_answer(0);
	unpair();
}

static void answers_keep_the_order_of_their_requests(void **state)
{
	enum { MANY = 12, PLACE = 1024 };

	(void)state;
	pair(&gsi, (MANY + 1) * PLACE);
	put_request(MAD_CLASS_SA, 2, MAD_CLASS_PORT_INFO);
	for (unsigned int i = 0; i < MANY; i++) {
		uint64_t place = from + PLACE * (i + 1);

		memcpy(flat.mem + place, flat.mem + from, MAD_SIZE);
		fld_set(flat.mem + place, MAD_TRANSACTION_H, i);
		flat_recv(a, place + MAD_SIZE, GRH_LEN + MAD_SIZE, lkey);
		post_request(a, place, MAD_SIZE);
	}
	flat_ring(a);
	flat_run(LONG);
	for (unsigned int i = 0; i < MANY; i++) {
		uint64_t place = from + PLACE * (i + 1);

		expect_answer(i);
		assert_int_equal(fld_get(flat.mem + place + MAD_SIZE + GRH_LEN, MAD_TRANSACTION_H),
				 i);
	}
	unpair();
}

/* The send queue stops at the request behind, before the answer comes. */
static void a_queue_that_fails_gets_its_answer(void **state)
{
	(void)state;
	pair(&gsi, 8192);
	put_request(MAD_CLASS_SA, 2, MAD_CLASS_PORT_INFO);
	flat_recv(a, from + 4096, GRH_LEN + MAD_SIZE, lkey);
	post_request(a, from, MAD_SIZE);
	post_request(a, from, 4097);
	flat_ring(a);
	flat_run(LONG);
	expect_answer(0);
	flat_expect_error(a->send_cq, REQ_ERR, 1, LOCAL_LENGTH);
	unpair();
}

/* Sends a request from the port with LID SLID, of adapter a or of another host, as its QP does.
 * Leaves the round open, so the answer is still to be made. */
static void send_request_from(uint16_t slid)
{
	struct fabric_msg msg = {
		.service = FABRIC_UD,
		.op = FABRIC_SEND,
		.addr = { .port = 1, .slid = slid, .dlid = SWITCH_LID },
		.dest_qpn = GSI_QPN,
		.src_qpn = GSI_QPN,
		.qkey = KEY,
		.pkey = PKEY_DEFAULT,
		.packets = 1,
		.mtu = 4096,
		.first = true,
		.last = true,
		.length = MAD_SIZE,
		.payload = flat.mem + from,
		.payload_len = MAD_SIZE,
	};

	fabric_lock(flat.fabric);
	fabric_send(flat.fabric, flat.now, NULL, &msg);
	fabric_unlock(flat.fabric);
}

static void send_request(void)
{
	send_request_from(flat.hca[0]->port[0].lid);
}

static void round_ends(void)
{
	fabric_lock(flat.fabric);
	fabric_flush(flat.fabric);
	fabric_unlock(flat.fabric);
}

static void the_answer_to_a_destroyed_queue_is_dropped(void **state)
{
	uint32_t destroyed;

	(void)state;
	pair(&gsi, 4096);
	put_request(MAD_CLASS_SA, 2, MAD_CLASS_PORT_INFO);
	flat_recv(a, from + MAD_SIZE, GRH_LEN + MAD_SIZE, lkey);
	send_request();
	flat_expect_empty(a->recv_cq);
	round_ends();
	flat_expect_done(a->recv_cq, RESP_SEND, 0);
	flat_recv(a, from + MAD_SIZE, GRH_LEN + MAD_SIZE, lkey);
	send_request();
	destroyed = a->n;
	flat_simple(a->hca, PRM_OP_DESTROY_QP, destroyed, PRM_STAT_OK);
	round_ends();
	flat_expect_empty(a->recv_cq);
	unpair();
}

static void what_waits_ends_with_the_fabric(void **state)
{
	(void)state;
	pair(&gsi, 4096);
	put_request(MAD_CLASS_SA, 2, MAD_CLASS_PORT_INFO);
	flat_recv(a, from + MAD_SIZE, GRH_LEN + MAD_SIZE, lkey);
	for (unsigned int i = 0; i < 3; i++)
		send_request();
	unpair();
}

static void an_adapter_that_goes_leaves_its_request(void **state)
{
	uint16_t lid = flat.hca[0]->port[0].lid;

	(void)state;
	pair(&gsi, 4096);
	put_request(MAD_CLASS_SA, 2, MAD_CLASS_PORT_INFO);
	flat_recv(a, from + MAD_SIZE, GRH_LEN + MAD_SIZE, lkey);
	send_request();
	fabric_detach(flat.fabric, flat.hca[0]);
	round_ends();
	flat_expect_empty(a->recv_cq);
	assert_int_equal(fabric_attach(flat.fabric, flat.hca[0], 1, &lid), 0);
	unpair();
}

/* Each host gets the queries of all others, and answers only those about its own ports. */
static void queries_for_other_hosts_take_no_room(void **state)
{
	enum { OTHER_LID = 0x7000 };

	(void)state;
	pair(&gsi, 4096);
	put_request(MAD_CLASS_SA, 2, MAD_CLASS_PORT_INFO);
	flat_recv(a, from + MAD_SIZE, GRH_LEN + MAD_SIZE, lkey);
	for (unsigned int i = 0; i < INBOX_MAX; i++)
		send_request_from(OTHER_LID);
	send_request();
	round_ends();
	flat_expect_done(a->recv_cq, RESP_SEND, 0);
	unpair();
}

static void what_exceeds_the_inbox_is_dropped(void **state)
{
	uint8_t mad[MAD_SIZE] = { 0 };
	struct fabric_msg msg = { .payload = mad, .payload_len = MAD_SIZE };
	struct letter *letter;
	struct inbox inbox;

	(void)state;
	inbox_init(&inbox);
	assert_null(inbox_take(&inbox));
	for (unsigned int i = 0; i < INBOX_MAX + 2; i++) {
		assert_int_equal(inbox.has_overflowed, i > INBOX_MAX);
		fld_set(mad, MAD_TRANSACTION_H, i);
		inbox_put(&inbox, &msg);
	}
	for (unsigned int i = 0; i < INBOX_MAX; i++) {
		letter = inbox_take(&inbox);
		assert_non_null(letter);
		assert_int_equal(fld_get(letter->msg.payload, MAD_TRANSACTION_H), i);
		free(letter);
	}
	assert_null(inbox_take(&inbox));
	msg.payload_len = MAD_SIZE - 1; /* no MAD */
	inbox_put(&inbox, &msg);
	assert_null(inbox_take(&inbox));
	msg.payload_len = MAD_SIZE;
	inbox_put(&inbox, &msg);
	inbox_clear(&inbox);
	assert_null(inbox_take(&inbox));
}

int main(void)
{
#define IB(f)   cmocka_unit_test_setup_teardown(f, flat_setup, flat_teardown)
#define HOST(f) cmocka_unit_test_setup_teardown(f, flat_setup_network, flat_teardown)
	const struct CMUnitTest tests[] = {
		IB(an_answer_follows_the_completion),
		HOST(an_answer_follows_the_completion),
		IB(answers_wait_for_compressed_completions),
		IB(answers_keep_the_order_of_their_requests),
		IB(a_queue_that_fails_gets_its_answer),
		IB(the_answer_to_a_destroyed_queue_is_dropped),
		IB(what_waits_ends_with_the_fabric),
		IB(an_adapter_that_goes_leaves_its_request),
		IB(queries_for_other_hosts_take_no_room),
		cmocka_unit_test(what_exceeds_the_inbox_is_dropped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * station_test.c - messages that a port takes: from the peer's address, with a P_Key of its
 * partition and the right Q_Key; counters of the others; the time until a lost message is sent
 * again.
 *
 * Covers: softhca/device/station.c, softhca/device/departure.c, softhca/device/port.c,
 * softhca/device/format/mlx5/cmd/port.c
 */
#include "ib/smp.h"
#include "pair.h"
#include "prm/mlx5/mad.h"
#include "prm/mlx5/qpc.h"
#include "prm/mlx5/vport.h"
#include "softhca/device/core.h"
#include "util/bits.h"

enum { FULL = 0xffff, LIMITED = 0x7fff, KEY = 0x1234, PEER_GID = 0x21 };

static struct fabric_msg write_from_a(void)
{
	static const uint8_t byte = 1;
	struct fabric_msg msg = {
		.service = FABRIC_RC,
		.op = FABRIC_WRITE,
		.addr = { .port = 1, .slid = flat.hca[0]->port[0].lid, .by_gid = flat.roce },
		.dest_qpn = b->n,
		.src_qpn = a->n,
		.pkey = FULL,
		.packets = 1,
		.first = true,
		.last = true,
		.raddr = to,
		.rkey = rkey,
		.length = 1,
		.payload = &byte,
		.payload_len = 1,
	};

	memset(msg.addr.sgid, 0x20, sizeof(msg.addr.sgid)); /* GIDs of flat_setup_roce() */
	return msg;
}

static bool message_arrives(const struct fabric_msg *msg)
{
	flat.mem[to] = 0;
	station_receive(flat.hca[1], 1, flat.now, msg);
	return flat.mem[to];
}

static void messages_come_from_the_peer_s_lid(void **state)
{
	struct fabric_msg msg;

	(void)state;
	pair(NULL, 4096);
	msg = write_from_a();
	msg.addr.slid++;
	assert_false(message_arrives(&msg));
	msg = write_from_a();
	assert_true(message_arrives(&msg));
	unpair();
}

static void messages_come_from_the_peer_s_gid(void **state)
{
	struct fabric_msg msg;

	(void)state;
	pair(NULL, 4096);
	msg = write_from_a();
	msg.addr.sgid[15] ^= 1;
	assert_false(message_arrives(&msg));
	memset(msg.addr.sgid, PEER_GID, sizeof(msg.addr.sgid)); /* the peer's own GID */
	assert_false(message_arrives(&msg));
	msg = write_from_a();
	assert_true(message_arrives(&msg));
	unpair();
}

/* Checks the violation counters of b's port in its vport context and its PortInfo. */
static void expect_violations(uint16_t pkeys, uint16_t qkeys)
{
	uint8_t in[16 + MAD_SIZE] = { 0 }, out[16 + PRM_HCA_VPORT_CONTEXT_SIZE];
	uint8_t *context = fld_at(out, QUERY_HCA_VPORT_CONTEXT_OUT_HCA_VPORT_CONTEXT);
	uint8_t *request = in + 16, info[MAD_SIZE];

	fld_set(in, CMD_IN_OPCODE, PRM_OP_QUERY_HCA_VPORT_CONTEXT);
	flat_cmd(flat.hca[1], in, 16, out, sizeof(out));
	assert_int_equal(fld_get(context, HCA_VPORT_CONTEXT_PKEY_VIOLATION_COUNTER), pkeys);
	assert_int_equal(fld_get(context, HCA_VPORT_CONTEXT_QKEY_VIOLATION_COUNTER), qkeys);
	memcpy(request, "\1\1\1\1", 4);
	fld_set(request, MAD_ATTRIBUTE, SMP_PORT_INFO);
	assert_true(station_answer_mad(flat.hca[1], 1, request, info));
	assert_int_equal(fld_get(info + SMP_DATA, PORT_PKEY_VIOLATIONS), pkeys);
	assert_int_equal(fld_get(info + SMP_DATA, PORT_QKEY_VIOLATIONS), qkeys);
}

static void one_of_two_is_a_full_member(void **state)
{
	static const struct {
		uint16_t pkey;
		bool taken;
	} keys[] = {
		{ FULL, true },    { LIMITED, true }, { 0xfffe, false },
		{ 0x7ffe, false }, { 0, false },      { 0x8000, false },
	};
	struct fabric_msg msg;
	unsigned int refused = 0;

	(void)state;
	pair(NULL, 4096);
	msg = write_from_a();
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		msg.pkey = keys[i].pkey;
		assert_int_equal(message_arrives(&msg), keys[i].taken);
		msg.psn += keys[i].taken;
		refused += !keys[i].taken;
	}
	expect_violations(refused, 0);
	assert_false(port_accepts_pkey(&flat.hca[1]->port[0], LIMITED, LIMITED));
	unpair();
}

static void the_index_of_no_key_is_refused(void **state)
{
	uint8_t in[PRM_MODIFY_QP_IN_SIZE] = { 0 }, out[16];
	struct flat_qp *qp = flat_qp(0, NULL);
	uint8_t *qpc = fld_at(in, MODIFY_QP_IN_QPC);

	(void)state;
	fld_set(in, CMD_IN_OPCODE, PRM_OP_RST2INIT_QP);
	fld_set(in, MODIFY_QP_IN_QPN, qp->n);
	fld_set(qpc, FLD_IN(QPC_PRIMARY_PATH, ADS_VHCA_PORT_NUM), 1);
	fld_set(qpc, FLD_IN(QPC_PRIMARY_PATH, ADS_PKEY_INDEX), 1);
	flat_cmd_expect(flat.hca[0], in, sizeof(in), out, sizeof(out), PRM_STAT_BAD_PARAM_ERR);
	fld_set(qpc, FLD_IN(QPC_PRIMARY_PATH, ADS_PKEY_INDEX), 0);
	flat_cmd(flat.hca[0], in, sizeof(in), out, sizeof(out));
	test_free(qp->send_cq);
	test_free(qp->recv_cq);
	test_free(qp);
}

static void datagrams_with_another_q_key_are_counted(void **state)
{
	static const struct flat_qp_attr ud = { .st = PRM_QP_ST_UD, .qkey = KEY };
	static const uint32_t keys[] = { KEY + 1, KEY, 0 };

	(void)state;
	pair(&ud, 4096);
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		flat_recv(b, to, 4096, rkey);
		flat_ctrl(a, OP_SEND, SIGNALED, 0);
		flat_av(a, b, b->n, keys[i], NULL);
		flat_data(a, from, 8, lkey);
		flat_post(a);
		flat_ring(a);
		flat_run(LONG);
	}
	flat_expect_done(b->recv_cq, RESP_SEND, 0);
	flat_expect_empty(b->recv_cq);
	expect_violations(0, 2);
	unpair();
}

static void violations_stop_at_the_end_of_their_counter(void **state)
{
	uint16_t count = UINT16_MAX - 1;

	(void)state;
	port_count_violation(&count);
	assert_int_equal(count, UINT16_MAX);
	port_count_violation(&count);
	assert_int_equal(count, UINT16_MAX);
}

static uint64_t time_of_a_retry(uint32_t timeout)
{
	struct flat_qp_attr attr = { .timeout = timeout, .retry = 7 };
	uint64_t start, passed;

	assert_int_equal(fault_add(flat.fault, "drop:1", flat.now), 0);
	pair(&attr, 4096);
	start = flat.now;
	write_to(to, rkey, from, 8);
	flat_run(LONG);
	flat_expect_done(a->send_cq, REQ, 0);
	passed = flat.now - start;
	unpair();
	return passed;
}

static void short_timeouts_are_the_shortest_that_there_is(void **state)
{
	(void)state;
	assert_in_range(time_of_a_retry(1), 4096 << 12, 5000 << 12);
	assert_in_range(time_of_a_retry(12), 4096 << 12, 5000 << 12);
	assert_in_range(time_of_a_retry(14), 4096 << 14, 5000 << 14);
}

int main(void)
{
#define IB(f)   cmocka_unit_test_setup_teardown(f, flat_setup, flat_teardown)
#define ROCE(f) cmocka_unit_test_setup_teardown(f, flat_setup_roce, flat_teardown)
	const struct CMUnitTest tests[] = {
		IB(messages_come_from_the_peer_s_lid),
		ROCE(messages_come_from_the_peer_s_gid),
		IB(one_of_two_is_a_full_member),
		IB(the_index_of_no_key_is_refused),
		IB(datagrams_with_another_q_key_are_counted),
		IB(violations_stop_at_the_end_of_their_counter),
		IB(short_timeouts_are_the_shortest_that_there_is),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * ud_test.c - datagrams: address vectors, Q_Keys, the GRH in front of a receive, CQE bytes,
 * multicast groups, management QPs, silent drops, and errors.
 *
 * Covers: softhca/device/transport/ud.c, softhca/device/transport/datagram.c,
 * softhca/device/transport/mcg.c, softhca/device/format/mlx5/cmd/mcg.c
 */
#include "pair.h"
#include "prm/mlx5/cmd.h"
#include "prm/mlx5/qpc.h"
#include "prm/mlx5/vport.h"

enum { KEY = 0x1234, GRH_LEN = 40, GSI_KEY = 0x80010000, OWN_KEY = 0x80000000 };

static const struct flat_qp_attr ud = { .st = PRM_QP_ST_UD, .qkey = KEY, .mtu = 5 };

static const uint8_t group[16] = { 0xff, 0x12, 0x40, 0x1b, 0xff, 0xff, [15] = 7 };

static void send_to(struct flat_qp *dest, uint32_t qpn, uint32_t qkey, const uint8_t *dgid,
		    uint32_t len)
{
	flat_ctrl(a, OP_SEND, SIGNALED, 0);
	flat_av(a, dest, qpn, qkey, dgid);
	flat_data(a, from, len, lkey);
	flat_post(a);
	flat_ring(a);
	flat_run(LONG);
}

static void gid_of(int i, uint8_t gid[16])
{
	uint8_t in[16] = { 0 }, out[64];

	fld_set(in, CMD_IN_OPCODE, PRM_OP_QUERY_HCA_VPORT_GID);
	flat_cmd(flat.hca[i], in, sizeof(in), out, 32);
	memcpy(gid, fld_at(out, QUERY_HCA_VPORT_GID_OUT_GID), 16);
}

static uint16_t lid_of(int i)
{
	uint8_t in[16] = { 0 }, out[16 + PRM_HCA_VPORT_CONTEXT_SIZE];

	fld_set(in, CMD_IN_OPCODE, PRM_OP_QUERY_HCA_VPORT_CONTEXT);
	flat_cmd(flat.hca[i], in, sizeof(in), out, sizeof(out));
	return fld_get(fld_at(out, QUERY_HCA_VPORT_CONTEXT_OUT_HCA_VPORT_CONTEXT),
		       HCA_VPORT_CONTEXT_LID);
}

static void datagram_arrives_behind_40_bytes(void **state)
{
	const uint8_t *cqe;

	(void)state;
	pair(&ud, 4096);
	memset(flat.mem + to, 0xee, 64);
	flat_recv(b, to, 4096, rkey);
	send_to(b, b->n, KEY, NULL, 100);
	flat_expect_done(a->send_cq, REQ, 0);
	cqe = flat.mem + b->recv_cq->ring;
	flat_expect_done(b->recv_cq, RESP_SEND, 0);
	assert_int_equal(fld_get(cqe, FLD(0x2c, 31, 0)), GRH_LEN + 100);
	assert_int_equal(fld_get(cqe, FLD(0x18, 31, 0)), 3 << 24 | a->n); /* SL 3, no GRH */
	assert_int_equal(fld_get(cqe, FLD(0x14, 15, 0)), lid_of(0));
	assert_int_equal(flat.mem[to], 0xee);
	assert_int_equal(flat.mem[to + GRH_LEN - 1], 0xee);
	assert_memory_equal(flat.mem + to + GRH_LEN, flat.mem + from, 100);
	unpair();
}

static void a_front_sends_as_a_queue_pair_does(void **state)
{
	struct hca_datagram datagram = { .port = 1, .sl = 3, .src_qpn = 1, .qkey = KEY };
	const uint8_t *cqe;

	(void)state;
	pair(&ud, 4096);
	flat_recv(b, to, 4096, rkey);
	datagram.dlid = lid_of(1);
	datagram.dest_qpn = b->n;
	datagram.payload = "of a front";
	datagram.len = 10;
	hca_send_datagram(flat.hca[0], &datagram);
	flat_run(LONG);
	cqe = flat_poll(b->recv_cq);
	assert_non_null(cqe);
	assert_int_equal(cqe[63] >> 4, RESP_SEND);
	assert_int_equal(fld_get(cqe, FLD(0x18, 31, 0)), 3 << 24 | 1); /* SL 3, no GRH */
	assert_int_equal(fld_get(cqe, FLD(0x14, 15, 0)), lid_of(0));
	assert_memory_equal(flat.mem + to + GRH_LEN, "of a front", 10);
	flat_recv(b, to, 4096, rkey);
	datagram.grh = true;
	datagram.hop_limit = 7;
	gid_of(1, datagram.dgid);
	hca_send_datagram(flat.hca[0], &datagram);
	flat_run(LONG);
	cqe = flat_poll(b->recv_cq);
	assert_non_null(cqe);
	assert_int_equal(flat.mem[to + 7], 7);
	assert_memory_equal(flat.mem + to + 24, datagram.dgid, 16);
	unpair();
}

static void global_route_is_in_front_of_the_data(void **state)
{
	static const uint8_t start[] = { 0x62, 0x11, 0x23, 0x45, 0, 24 + 8, 0x1b, 9 };
	uint8_t gid[2][16];
	const uint8_t *cqe;

	(void)state;
	pair(&ud, 4096);
	gid_of(0, gid[0]);
	gid_of(1, gid[1]);
	flat_recv(b, to, 4096, rkey);
	send_to(b, b->n, KEY, gid[1], 7);
	cqe = flat_poll(b->recv_cq);
	assert_non_null(cqe);
	assert_int_equal(fld_get(cqe, FLD(0x18, 29, 28)), 1);
	assert_memory_equal(flat.mem + to, start, sizeof(start));
	assert_memory_equal(flat.mem + to + 8, gid[0], 16);
	assert_memory_equal(flat.mem + to + 24, gid[1], 16);
	assert_memory_equal(flat.mem + to + GRH_LEN, flat.mem + from, 7);
	unpair();
}

static void set_roce_address(int i, const uint8_t gid[16], unsigned int version, unsigned int l3)
{
	uint8_t in[16 + PRM_ROCE_ADDR_SIZE] = { 0 }, out[16];
	uint8_t *addr = fld_at(in, SET_ROCE_ADDRESS_IN_ROCE_ADDRESS);

	fld_set(in, CMD_IN_OPCODE, PRM_OP_SET_ROCE_ADDRESS);
	memcpy(addr, gid, 16);
	fld_set(addr, ROCE_ADDR_ROCE_VERSION, version);
	fld_set(addr, ROCE_ADDR_ROCE_L3_TYPE, l3);
	fld_set(addr, ROCE_ADDR_VLAN_VALID, l3);
	fld_set(addr, ROCE_ADDR_VLAN_ID, 0x123);
	flat_cmd(flat.hca[i], in, sizeof(in), out, sizeof(out));
}

static void roce_2_brings_the_ip_header(void **state)
{
	static const uint8_t v4[2][16] = { { [10] = 0xff, 0xff, 10, 0, 0, 1 },
					   { [10] = 0xff, 0xff, 10, 0, 0, 2 } };
	static const uint8_t v6[2][16] = { { 0xfe, 0x80, [15] = 1 }, { 0xfe, 0x80, [15] = 2 } };
	static const uint8_t ipv4[] = {
		0x45, 0x21, 0, 20 + 8 + 24 + 8, 0, 0, 0x40, 0, 9, 17, 0x5d, 0x8e, 10, 0, 0, 1, 10,
		0,    0,    2
	};
	static const uint8_t ipv6[] = { 0x62, 0x11, 0x23, 0x45, 0, 8 + 24 + 8, 17, 9 };
	const uint8_t *cqe;

	(void)state;
	pair(&ud, 4096);
	set_roce_address(0, v4[0], 2, 0);
	set_roce_address(1, v4[1], 2, 0);
	flat_recv(b, to, 4096, rkey);
	send_to(b, b->n, KEY, v4[1], 7);
	cqe = flat_poll(b->recv_cq);
	assert_non_null(cqe);
	assert_int_equal(fld_get(cqe, FLD(0x18, 25, 24)), 2);
	assert_int_equal(fld_get(cqe, FLD(0x1c, 31, 0)), 0);
	assert_memory_equal(flat.mem + to + 20, ipv4, sizeof(ipv4));
	assert_memory_equal(flat.mem + to + GRH_LEN, flat.mem + from, 7);

	set_roce_address(0, v6[0], 2, 1);
	set_roce_address(1, v6[1], 2, 1);
	flat_recv(b, to, 4096, rkey);
	send_to(b, b->n, KEY, v6[1], 7);
	cqe = flat_poll(b->recv_cq);
	assert_non_null(cqe);
	assert_int_equal(fld_get(cqe, FLD(0x18, 31, 24)), 0x11);
	assert_int_equal(fld_get(cqe, FLD(0x1c, 31, 0)), 1 << 16 | 3 << 13 | 0x123);
	assert_memory_equal(flat.mem + to, ipv6, sizeof(ipv6));
	assert_memory_equal(flat.mem + to + 8, v6, 32);
	unpair();
}

static void a_wrong_q_key_loses_the_datagram(void **state)
{
	(void)state;
	pair(&ud, 4096);
	flat_recv(b, to, 4096, rkey);
	send_to(b, b->n, KEY + 1, NULL, 8);
	flat_expect_done(a->send_cq, REQ, 0);
	flat_expect_empty(b->recv_cq);
	/* bit 31 selects the sender's own Q_Key, which is the same */
	send_to(b, b->n, OWN_KEY, NULL, 8);
	flat_expect_done(b->recv_cq, RESP_SEND, 0);
	unpair();
}

static void without_a_receive_it_is_lost(void **state)
{
	(void)state;
	pair(&ud, 4096);
	send_to(b, b->n, KEY, NULL, 8);
	send_to(b, b->n + 1000, KEY, NULL, 8);
	flat_expect_done(a->send_cq, REQ, 0);
	flat_expect_done(a->send_cq, REQ, 1);
	flat_recv(b, to, 4096, rkey);
	send_to(b, b->n, KEY, NULL, 9);
	flat_expect_done(b->recv_cq, RESP_SEND, 0);
	flat_expect_empty(b->recv_cq);
	assert_int_equal(flat_state(b), PRM_QP_STATE_RTS);
	unpair();
}

static void data_is_gathered_and_scattered(void **state)
{
	const char text[] = "inline";
	const uint8_t *cqe;
	uint8_t *slot;

	(void)state;
	pair(&ud, 4096);
	flat_recv(b, to + 1000, 45, rkey);
	slot = flat.mem + b->rq;
	memcpy(slot + 16, slot, 16);
	fld_set(slot + 16, FLD64(0x8), to);
	flat_ctrl(a, OP_SEND_IMM, SIGNALED | SOLICITED, 0x01020304);
	flat_av(a, b, b->n, KEY, NULL);
	flat_inline(a, text, 6);
	flat_data(a, from, 10, lkey);
	flat_post(a);
	flat_ring(a);
	flat_run(LONG);
	cqe = flat_poll(b->recv_cq);
	assert_non_null(cqe);
	assert_int_equal(cqe[63] >> 4, RESP_SEND_IMM);
	assert_true(cqe[63] & SOLICITED);
	assert_int_equal(fld_get(cqe, FLD(0x24, 31, 0)), 0x01020304);
	assert_memory_equal(flat.mem + to + 1000 + GRH_LEN, text, 5);
	assert_memory_equal(flat.mem + to, text + 5, 1);
	assert_memory_equal(flat.mem + to + 1, flat.mem + from, 10);
	unpair();
}

static void qp_modify(struct flat_qp *qp, uint32_t opcode)
{
	uint8_t in[PRM_MODIFY_QP_IN_SIZE] = { 0 }, out[16];

	fld_set(in, CMD_IN_OPCODE, opcode);
	fld_set(in, MODIFY_QP_IN_QPN, qp->n);
	flat_cmd(qp->hca, in, sizeof(in), out, sizeof(out));
}

static void a_bad_send_stops_only_the_send_queue(void **state)
{
	(void)state;
	pair(&ud, 8192);
	flat_recv(a, from, 4096, lkey);
	flat_recv(b, to, 4096, rkey);
	send_to(b, b->n, KEY, NULL, 4097);
	send_to(b, b->n, KEY, NULL, 8);
	flat_expect_error(a->send_cq, REQ_ERR, 0, LOCAL_LENGTH);
	flat_expect_error(a->send_cq, REQ_ERR, 1, FLUSHED);
	assert_int_equal(flat_state(a), PRM_QP_STATE_SQER);
	flat_ctrl(b, OP_SEND, SIGNALED, 0);
	flat_av(b, a, a->n, KEY, NULL);
	flat_data(b, to, 8, rkey);
	flat_post(b);
	flat_ring(b);
	flat_run(LONG);
	flat_expect_done(a->recv_cq, RESP_SEND, 0);
	qp_modify(a, PRM_OP_SQERR2RTS_QP);
	send_to(b, b->n, KEY, NULL, 8);
	flat_expect_done(a->send_cq, REQ, 2);
	flat_expect_done(b->recv_cq, RESP_SEND, 0);
	unpair();
}

static void a_short_receive_is_an_error(void **state)
{
	(void)state;
	pair(&ud, 4096);
	flat_recv(b, to, GRH_LEN + 7, rkey);
	send_to(b, b->n, KEY, NULL, 8);
	flat_expect_done(a->send_cq, REQ, 0);
	flat_expect_error(b->recv_cq, RESP_ERR, 0, LOCAL_LENGTH);
	assert_int_equal(flat_state(b), PRM_QP_STATE_ERR);
	unpair();
}

static void only_sends_are_datagrams(void **state)
{
	(void)state;
	pair(&ud, 4096);
	flat_ctrl(a, OP_WRITE, SIGNALED, 0);
	flat_av(a, b, b->n, KEY, NULL);
	flat_raddr(a, to, rkey);
	flat_data(a, from, 8, lkey);
	flat_post(a);
	flat_ring(a);
	flat_run(LONG);
	flat_expect_error(a->send_cq, REQ_ERR, 0, LOCAL_QP_OP);
	unpair();
}

static void multicast_reaches_every_member(void **state)
{
	struct flat_qp_attr quiet = ud;
	struct flat_qp *c;

	(void)state;
	quiet.block_lb_mc = true;
	pair(&ud, 8192);
	c = flat_qp(1, &ud);
	flat_to(c, a, &ud, PRM_QP_STATE_RTS);
	flat_mcg(a, PRM_OP_ATTACH_TO_MCG, group);
	flat_mcg(b, PRM_OP_ATTACH_TO_MCG, group);
	flat_mcg(b, PRM_OP_ATTACH_TO_MCG, group);
	flat_mcg(c, PRM_OP_ATTACH_TO_MCG, group);
	flat_recv(a, from + 4096, 4096, lkey);
	flat_recv(b, to, 4096, rkey);
	flat_recv(b, to, 4096, rkey);
	flat_recv(c, to + 1024, 1024, rkey);
	send_to(b, 0xffffff, KEY, group, 8);
	flat_expect_done(a->recv_cq, RESP_SEND, 0);
	flat_expect_done(b->recv_cq, RESP_SEND, 0);
	flat_expect_empty(b->recv_cq);
	flat_expect_done(c->recv_cq, RESP_SEND, 0);
	assert_memory_equal(flat.mem + to + 1024 + GRH_LEN, flat.mem + from, 8);
	unpair();

	a = flat_qp(0, &quiet);
	flat_to(a, c, &quiet, PRM_QP_STATE_RTS);
	flat_mcg(a, PRM_OP_ATTACH_TO_MCG, group);
	flat_mcg(c, PRM_OP_DETACH_FROM_MCG, group);
	flat_recv(a, from, 4096, lkey);
	flat_recv(c, to, 4096, rkey);
	send_to(c, 0xffffff, KEY, group, 8);
	flat_expect_empty(a->recv_cq);
	flat_expect_empty(c->recv_cq);
	flat_expect_done(a->send_cq, REQ, 0);
	b = c;
	unpair();
}

static void management_qps_are_0_and_1_on_the_wire(void **state)
{
	struct flat_qp_attr gsi = { .st = PRM_QP_ST_QP1, .qkey = GSI_KEY };
	const uint8_t *cqe;

	(void)state;
	pair(&gsi, 4096);
	flat_recv(b, to, 4096, rkey);
	send_to(b, 1, OWN_KEY, NULL, 256);
	cqe = flat_poll(b->recv_cq);
	assert_non_null(cqe);
	assert_int_equal(fld_get(cqe, FLD(0x18, 23, 0)), 1);
	assert_int_equal(fld_get(cqe, FLD(0x24, 31, 0)), 0xffff);
	assert_memory_equal(flat.mem + to + GRH_LEN, flat.mem + from, 256);
	unpair();
}

static void a_port_has_one_qp1(void **state)
{
	struct flat_qp_attr gsi = { .st = PRM_QP_ST_QP1, .qkey = GSI_KEY };
	uint8_t in[PRM_MODIFY_QP_IN_SIZE] = { 0 }, out[16];
	struct flat_qp *c;

	(void)state;
	pair(&gsi, 4096);
	c = flat_qp(0, &gsi);
	fld_set(in, CMD_IN_OPCODE, PRM_OP_RST2INIT_QP);
	fld_set(in, MODIFY_QP_IN_QPN, c->n);
	fld_set(fld_at(in, MODIFY_QP_IN_QPC), FLD_IN(QPC_PRIMARY_PATH, ADS_VHCA_PORT_NUM), 1);
	flat_cmd_expect(c->hca, in, sizeof(in), out, sizeof(out), PRM_STAT_BAD_PARAM_ERR);
	flat_simple(a->hca, PRM_OP_DESTROY_QP, a->n, PRM_STAT_OK);
	flat_cmd(c->hca, in, sizeof(in), out, sizeof(out));
	test_free(c->send_cq);
	test_free(c->recv_cq);
	test_free(c);
	unpair();
}

int main(void)
{
#define IB(f)   cmocka_unit_test_setup_teardown(f, flat_setup, flat_teardown)
#define ROCE(f) cmocka_unit_test_setup_teardown(f, flat_setup_roce, flat_teardown)
	const struct CMUnitTest tests[] = {
		IB(datagram_arrives_behind_40_bytes),
		IB(a_front_sends_as_a_queue_pair_does),
		IB(global_route_is_in_front_of_the_data),
		ROCE(roce_2_brings_the_ip_header),
		IB(a_wrong_q_key_loses_the_datagram),
		IB(without_a_receive_it_is_lost),
		IB(data_is_gathered_and_scattered),
		IB(a_bad_send_stops_only_the_send_queue),
		IB(a_short_receive_is_an_error),
		IB(only_sends_are_datagrams),
		IB(multicast_reaches_every_member),
		ROCE(multicast_reaches_every_member),
		IB(management_qps_are_0_and_1_on_the_wire),
		IB(a_port_has_one_qp1),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

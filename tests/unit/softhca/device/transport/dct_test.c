/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * dct_test.c - DC targets at the level of commands and messages: draining, key violations,
 * sessions, late requests, streams in contexts. tests/verbs/dc has the view of programs.
 *
 * Covers: softhca/device/transport/dct.c, softhca/device/transport/dci.c,
 * softhca/device/format/mlx5/cmd/dct.c
 */
#include "pair.h"
#include "prm/mlx5/cmd.h"
#include "prm/mlx5/dct.h"
#include "prm/mlx5/eqe.h"
#include "prm/mlx5/qpc.h"
#include "prm/mlx5/vport.h"
#include "softhca/device/core.h"
#include "softhca/device/fabric.h"
#include "softhca/device/station.h"
#include "signed_key.h"

#define DC_KEY 0x0123456789abcdefull

enum { ROOM = 3 * FABRIC_PAYLOAD_MAX, SOURCE_QPN = 0xabc };

static struct flat_cq *cq;
static uint32_t dctn;

static uint16_t lid_of(int i)
{
	uint8_t in[16] = { 0 }, out[16 + PRM_HCA_VPORT_CONTEXT_SIZE];

	fld_set(in, CMD_IN_OPCODE, PRM_OP_QUERY_HCA_VPORT_CONTEXT);
	flat_cmd(flat.hca[i], in, sizeof(in), out, sizeof(out));
	return fld_get(fld_at(out, QUERY_HCA_VPORT_CONTEXT_OUT_HCA_VPORT_CONTEXT),
		       HCA_VPORT_CONTEXT_LID);
}

/* Makes a target on the second adapter, with memory that everybody may write. */
static void target_open_with(bool out_of_order)
{
	uint8_t in[PRM_CREATE_DCT_IN_SIZE] = { 0 }, out[16];
	uint8_t *dctc = fld_at(in, CREATE_DCT_IN_CONTEXT);
	struct flat_srq *srq = flat_srq(1, 4, 0, NULL);

	cq = flat_cq(flat.hca[1], 4, 64);
	to = flat_alloc(ROOM, 4096);
	rkey = flat_mr(flat.hca[1], flat.pd[1], to, ROOM, ALL_ACCESS);
	fld_set(in, CMD_IN_OPCODE, PRM_OP_CREATE_DCT);
	fld_set(dctc, DCTC_PD, flat.pd[1]);
	fld_set(dctc, DCTC_CQN, cq->n);
	fld_set(dctc, DCTC_SRQN_XRQN, srq->n);
	fld_set(dctc, DCTC_DC_ACCESS_KEY, DC_KEY);
	fld_set(dctc, DCTC_MTU, 3);
	fld_set(dctc, DCTC_PORT, 1);
	fld_set(dctc, DCTC_RRE, 1);
	fld_set(dctc, DCTC_RWE, 1);
	fld_set(dctc, DCTC_DP_ORDERING_1, out_of_order);
	flat_cmd(flat.hca[1], in, sizeof(in), out, sizeof(out));
	dctn = fld_get(out, CREATE_DCT_OUT_DCTN);
	test_free(srq);
}

static void target_open(void)
{
	target_open_with(false);
}

static void target_run(uint32_t opcode, enum prm_status expect)
{
	uint8_t in[16] = { 0 }, out[16];

	fld_set(in, CMD_IN_OPCODE, opcode);
	fld_set(in, DESTROY_DCT_IN_DCTN, dctn);
	flat_cmd_expect(flat.hca[1], in, sizeof(in), out, sizeof(out), expect);
}

static void target_close(void)
{
	target_run(PRM_OP_DRAIN_DCT, PRM_STAT_OK);
	target_run(PRM_OP_DESTROY_DCT, PRM_STAT_OK);
	test_free(cq);
}

static uint64_t target_field(uint32_t field)
{
	uint8_t in[16] = { 0 }, out[PRM_QUERY_DCT_OUT_SIZE];

	fld_set(in, CMD_IN_OPCODE, PRM_OP_QUERY_DCT);
	fld_set(in, QUERY_DCT_IN_DCTN, dctn);
	flat_cmd(flat.hca[1], in, sizeof(in), out, sizeof(out));
	return fld_get(fld_at(out, QUERY_DCT_OUT_CONTEXT), field);
}

static void request_arrives(enum fabric_op op, uint32_t session, uint32_t psn, uint64_t key,
			    const uint8_t *bytes, uint32_t len)
{
	struct fabric_msg msg = {
		.service = FABRIC_DC,
		.op = op,
		.dest_qpn = dctn,
		.src_qpn = SOURCE_QPN,
		.dc_key = key,
		.session = session,
		.pkey = 0xffff,
		.psn = psn,
		.packets = 1,
		.mtu = 1024,
		.first = true,
		.last = true,
		.raddr = to,
		.rkey = rkey,
		.length = len,
		.payload = bytes,
		.payload_len = len,
	};

	msg.addr.port = 1;
	msg.addr.slid = lid_of(0);
	msg.addr.dlid = lid_of(1);
	station_receive(flat.hca[1], 1, 0, &msg);
}

/* Delivers the WRITE of an initiator with PSN, in a session that began with PSN FIRST. */
static void bytes_arrive(uint32_t session, uint32_t psn, uint64_t key, const uint8_t *bytes,
			 uint32_t len)
{
	request_arrives(FABRIC_WRITE, session, psn, key, bytes, len);
}

static void byte_arrives(uint32_t session, uint32_t psn, uint64_t key, uint8_t value)
{
	bytes_arrive(session, psn, key, &value, 1);
}

static void a_target_is_drained_before_it_goes(void **state)
{
	(void)state;
	target_open();
	assert_int_equal(target_field(DCTC_STATE), PRM_DCT_STATE_ACTIVE);
	target_run(PRM_OP_DESTROY_DCT, PRM_STAT_BAD_RES_STATE_ERR);
	byte_arrives(7, 7, DC_KEY, 1);
	target_run(PRM_OP_DRAIN_DCT, PRM_STAT_OK);
	assert_int_equal(flat_count_events(PRM_EVENT_DCT_DRAINED), 1);
	assert_int_equal(fld_get(flat.event[flat.events - 1], EQE_DCTN), dctn);
	assert_int_equal(target_field(DCTC_STATE), PRM_DCT_STATE_DRAINED);
	target_run(PRM_OP_DRAIN_DCT, PRM_STAT_BAD_RES_STATE_ERR);
	byte_arrives(7, 8, DC_KEY, 2);
	assert_int_equal(flat.mem[to], 1);
	target_run(PRM_OP_DESTROY_DCT, PRM_STAT_OK);
	target_run(PRM_OP_DESTROY_DCT, PRM_STAT_BAD_RES_ERR);
	target_run(PRM_OP_QUERY_DCT, PRM_STAT_BAD_OUTP_LEN_ERR);
	test_free(cq);
}

static void a_violated_key_is_counted_and_reported_once(void **state)
{
	(void)state;
	target_open();
	byte_arrives(7, 7, DC_KEY + 1, 1);
	assert_int_equal(target_field(DCTC_DC_ACCESS_KEY_VIOLATION_COUNT), 1);
	assert_int_equal(flat_count_events(PRM_EVENT_DCT_KEY_VIOLATION), 0);
	target_run(PRM_OP_ARM_DCT_FOR_KEY_VIOLATION, PRM_STAT_OK);
	byte_arrives(7, 7, 0, 1);
	byte_arrives(7, 7, ~DC_KEY, 1);
	assert_int_equal(target_field(DCTC_DC_ACCESS_KEY_VIOLATION_COUNT), 3);
	assert_int_equal(flat_count_events(PRM_EVENT_DCT_KEY_VIOLATION), 1);
	assert_int_equal(flat.mem[to], 0);
	target_close();
}

/* A target executes the requests of a session in PSN order, and drops requests of a former
 * session. */
static void a_late_request_is_not_executed(void **state)
{
	(void)state;
	target_open();
	byte_arrives(10, 10, DC_KEY, 1);
	assert_int_equal(flat.mem[to], 1);
	byte_arrives(10, 12, DC_KEY, 2); /* not executed, as PSN 11 is missing */
	assert_int_equal(flat.mem[to], 1);
	byte_arrives(20, 20, DC_KEY, 3);
	assert_int_equal(flat.mem[to], 3);
	byte_arrives(10, 10, DC_KEY, 4);
	assert_int_equal(flat.mem[to], 3);
	byte_arrives(20, 21, DC_KEY, 5);
	assert_int_equal(flat.mem[to], 5);
	target_close();
}

/* A CQ in overflow cannot take the report of a wrong signature, which ends the responder, so its
 * early packets must go with it. */
static void an_ended_responder_is_forgotten(void **state)
{
	static const uint8_t unsigned_bytes[SIGNED_UNIT];
	uint32_t plain;

	(void)state;
	target_open_with(true);
	plain = rkey;
	rkey = signed_key(1, GUARD_NONE, GUARD_DIF_CRC, to, SIGNED_BLOCK, plain)->key;
	flat.mem[to] = 1;
	((struct cq *)res_get(&flat.hca[1]->cqs, cq->n))->status = 1;
	bytes_arrive(10, 11, DC_KEY, unsigned_bytes, sizeof(unsigned_bytes)); /* no PSN 10 */
	flat.now += 2ull * LONG;
	flat_run(LONG);
	assert_int_equal(flat.mem[to], 1);
	rkey = plain;
	byte_arrives(10, 10, DC_KEY, 2);
	assert_int_equal(flat.mem[to], 2);
	target_close();
}

static uint64_t bytes_answered(void)
{
	return flat.hca[0]->port[0].messages_received.bytes;
}

/* If the session or the target ends, the device stops a long READ response after the current
 * piece. */
static void a_long_answer_ends_with_its_session(void **state)
{
	(void)state;
	target_open();
	request_arrives(FABRIC_READ, 10, 10, DC_KEY, NULL, ROOM);
	flat_run(LONG / 1000);
	assert_int_equal(bytes_answered(), ROOM);
	request_arrives(FABRIC_READ, 0x2000, 0x2000, DC_KEY, NULL, ROOM);
	request_arrives(FABRIC_CLOSE, 0x2000, 0x2000 + ROOM / 1024, DC_KEY, NULL, 0);
	flat_run(LONG / 1000);
	assert_int_equal(bytes_answered(), ROOM + FABRIC_PAYLOAD_MAX);
	request_arrives(FABRIC_READ, 0x4000, 0x4000, DC_KEY, NULL, ROOM);
	target_close();
	flat_run(LONG / 1000);
	assert_int_equal(bytes_answered(), ROOM + 2 * FABRIC_PAYLOAD_MAX);
}

/* A responder sends the responses to earlier requests before its NAK, as the requester completes in
 * order, and ends with that. */
static void a_refusal_ends_a_responder_behind_its_answers(void **state)
{
	uint8_t byte = 1;

	(void)state;
	target_open();
	request_arrives(FABRIC_READ, 10, 10, DC_KEY, NULL, ROOM);
	rkey++;
	bytes_arrive(10, 10 + ROOM / 1024, DC_KEY, &byte, 1);
	rkey--;
	flat_run(LONG / 1000);
	assert_int_equal(bytes_answered(), ROOM);
	byte_arrives(10, 10, DC_KEY, 2); /* a new responder executes this */
	assert_int_equal(flat.mem[to], 2);
	target_close();
}

/* After a reset, an initiator may begin with any PSN, so the target knows the new session by its
 * life count. */
static void an_initiator_that_was_reset_is_another(void **state)
{
	const uint32_t life = 1 << 24;

	(void)state;
	target_open();
	byte_arrives(20, 20, DC_KEY, 1);
	byte_arrives(life | 10, 10, DC_KEY, 2);
	assert_int_equal(flat.mem[to], 2);
	target_close();
}

static void refuses_qp(uint32_t st, uint32_t streams, uint32_t errored)
{
	uint8_t in[PRM_CREATE_QP_IN_SIZE] = { 0 }, out[16];
	uint8_t *qpc = fld_at(in, CREATE_QP_IN_QPC);

	fld_set(in, CMD_IN_OPCODE, PRM_OP_CREATE_QP);
	fld_set(qpc, QPC_ST, st);
	fld_set(qpc, QPC_RQ_TYPE, PRM_RQ_TYPE_ZERO_SIZE);
	fld_set(qpc, QPC_NO_SQ, 1);
	fld_set(qpc, QPC_LOG_NUM_DCI_STREAM_CHANNELS, streams);
	fld_set(qpc, QPC_LOG_NUM_DCI_ERRORED_STREAMS, errored);
	flat_cmd_expect(flat.hca[0], in, sizeof(in), out, sizeof(out), PRM_STAT_BAD_PARAM_ERR);
}

static void only_initiators_have_streams_and_not_too_many(void **state)
{
	(void)state;
	refuses_qp(PRM_QP_ST_RC, 1, 0);
	refuses_qp(PRM_QP_ST_RC, 0, 1);
	refuses_qp(PRM_QP_ST_DCI, 7, 0);
	refuses_qp(PRM_QP_ST_DCI, 1, 6);
}

#define IB(f) cmocka_unit_test_setup_teardown(f, flat_setup, flat_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		IB(a_target_is_drained_before_it_goes),
		IB(a_violated_key_is_counted_and_reported_once),
		IB(a_late_request_is_not_executed),
		IB(an_ended_responder_is_forgotten),
		IB(a_long_answer_ends_with_its_session),
		IB(a_refusal_ends_a_responder_behind_its_answers),
		IB(an_initiator_that_was_reset_is_another),
		IB(only_initiators_have_streams_and_not_too_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

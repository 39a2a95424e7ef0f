/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * tm_test.c - tag matching: the tag that a message matches, unexpected messages, rendezvous, and
 * tags after errors. Checks CQEs and requests by their bytes.
 *
 * Covers: softhca/device/transport/tm.c, softhca/device/transport/tm_offload.c,
 * softhca/device/transport/tm_strides.c
 */
#include <endian.h>

#include "pair.h"
#include "prm/mlx5/cmd.h"
#include "prm/mlx5/cqe.h"
#include "prm/mlx5/eqe.h"
#include "prm/mlx5/q_counter.h"
#include "prm/mlx5/qpc.h"
#include "prm/mlx5/srqc.h"
#include "prm/mlx5/wq.h"
#include "softhca/device/core.h"

enum {
	LOG_TAGS = 3,
	OP_TM = 0x28,
	NO_PACKET = 6,
	ADD = 1,
	DEL = 2,
	WITH_COUNT = 1 << 6,
	WITH_CQE = 1 << 7,
	CONSUMED = 1,
	EXPECTED,
	UNEXPECTED,
	NO_TAG,
	APPENDED,
	REMOVED,
	SYNCED,
	CONSUMED_MSG = 0xa,
	SW_RNDV,
	CANCELED,
	RNDV = 1,
	FIN,
	EAGER,
	FRAME = 4096,
};

static struct flat_qp *ops; /* command queue of the XRQ, on the second adapter */
static struct flat_cq *done;
static struct flat_srq xrq;
static unsigned int next; /* index of the next tag; tags are added in order */
static uint64_t buffers;

/* WQEs of strides, in a ring that goes round. */
enum { STRIDES = 8, LOG_STRIDED_WQE = 8, MTU = 1024 };
static bool strided;
static unsigned int log_cqes = 6;
static uint32_t counters; /* set of the QPs, or 0 */

static void put_xrqc(uint8_t *in)
{
	uint8_t *context = fld_at(in, CREATE_XRQ_IN_XRQ_CONTEXT), *wq = fld_at(context, XRQC_WQ);

	fld_set(in, CMD_IN_OPCODE, PRM_OP_CREATE_XRQ);
	fld_set(context, XRQC_TOPOLOGY, PRM_XRQC_TOPOLOGY_TAG_MATCHING);
	fld_set(context, XRQC_OFFLOAD, PRM_XRQC_OFFLOAD_RNDV);
	fld_set(context, XRQC_LOG_MATCHING_LIST_SZ, LOG_TAGS);
	fld_set(context, XRQC_CQN, done->n);
	fld_set(context, XRQC_USER_INDEX, FLAT_SRQ_UIDX);
	fld_set(wq, WQ_PD, flat.pd[1]);
	fld_set(wq, WQ_DBR_ADDR, xrq.dbr);
	fld_set(wq, WQ_LOG_WQ_STRIDE, 6);
	if (strided) {
		fld_set(wq, WQ_WQ_TYPE, PRM_WQ_TYPE_CYCLIC_STRIDING);
		fld_set(wq, WQ_LOG_WQ_STRIDE, LOG_STRIDED_WQE);
		fld_set(wq, WQ_LOG_WQE_NUM_OF_STRIDES, PRM_LOG_STRIDES_LOW);
		fld_set(wq, WQ_LOG_WQE_STRIDE_SIZE, 4);
	}
	fld_set(wq, WQ_LOG_WQ_SZ, xrq.log_size);
}

static void create_xrq(void)
{
	uint8_t in[PRM_CREATE_XRQ_IN_SIZE + 8] = { 0 }, out[16];
	uint64_t pas;

	xrq = (struct flat_srq){ .hca = flat.hca[1], .log_size = 3, .tail = 7 };
	xrq.ring = flat_alloc(4096, 4096);
	xrq.dbr = flat_alloc(8, 64);
	for (int i = 0; i < 7; i++)
		fld_set(flat.mem + xrq.ring + i * FLAT_SRQ_STRIDE, FLD(0x0, 15, 0), i + 1);
	pas = htobe64(xrq.ring);
	memcpy(fld_at(in, CREATE_XRQ_IN_PAS), &pas, sizeof(pas));
	put_xrqc(in);
	flat_cmd(xrq.hca, in, sizeof(in), out, sizeof(out));
	xrq.n = fld_get(out, CREATE_XRQ_OUT_XRQN);
}

/* Connects a sender of the first adapter to b, a QP on the XRQ; if OFFLOADED, the adapter owns b's
 * send queue. */
static void set_up_with(bool offloaded)
{
	const struct flat_qp_attr plain = { .mtu = 3, .rnr_retry = 7, .counter_set = counters };
	struct flat_qp_attr attr = { .rq_type = PRM_RQ_TYPE_SRQ, .mtu = 3 };

	next = 0;
	done = flat_cq(flat.hca[1], log_cqes, 64);
	create_xrq();
	attr.srqn = xrq.n;
	pair(&plain, 65536);
	unpair();
	ops = flat_qp(1, &attr);
	flat_to(ops, ops, &attr, PRM_QP_STATE_RTS);
	attr.offloaded = offloaded;
	a = flat_qp(0, &plain);
	b = flat_qp(1, &attr);
	flat_connect(a, b, &plain);
	buffers = to;
}

static void tear_down(void)
{
	unpair();
	test_free(ops->send_cq);
	test_free(ops->recv_cq);
	test_free(ops);
	test_free(done);
}

static void set_up(void)
{
	set_up_with(true);
}

static void list_operate(uint8_t opcode, uint8_t flags, uint16_t index, uint16_t count,
			 uint64_t tag, uint64_t mask, uint32_t len)
{
	uint8_t seg[32] = { opcode << 4, flags };
	uint64_t parts[2] = { htobe64(tag), htobe64(mask) };

	fld_set(seg, FLD(0x0, 15, 0), index);
	fld_set(seg, FLD(0x4, 15, 0), count);
	memcpy(seg + 16, parts, sizeof(parts));
	flat_ctrl(ops, OP_TM, 0, 0);
	flat_segment(ops, seg, sizeof(seg));
	if (opcode == ADD && len)
		flat_data(ops, buffers + (index - 1) * FRAME, len, rkey);
	flat_post(ops);
	flat_ring(ops);
	flat_run(LONG / 1000);
}

static void tag_add(uint64_t tag, uint64_t mask, uint32_t len)
{
	list_operate(ADD, WITH_CQE, ++next, 0, tag, mask, len);
}

static const uint8_t *cqe_expect(uint8_t opcode, uint8_t op)
{
	const uint8_t *cqe = flat_poll(done);

	assert_non_null(cqe);
	assert_int_equal(fld_get(cqe, CQE_OPCODE), opcode);
	assert_int_equal(fld_get(cqe, CQE_APP), 1);
	assert_int_equal(fld_get(cqe, CQE_APP_OP), op);
	assert_int_equal(fld_get(cqe, CQE_USER_INDEX), FLAT_SRQ_UIDX);
	return cqe;
}

static void expect_tag(uint8_t opcode, uint8_t op, uint16_t place, uint32_t len)
{
	const uint8_t *cqe = cqe_expect(opcode, op);

	assert_int_equal(fld_get(cqe, CQE_APP_INFO), place);
	assert_int_equal(fld_get(cqe, CQE_BYTE_COUNT), len);
}

static void expect_op(uint8_t op, bool success, uint16_t phase)
{
	const uint8_t *cqe = cqe_expect(NO_PACKET, op);

	assert_int_equal(fld_get(cqe, FLD(0x0, 31, 31)), success);
	assert_int_equal(fld_get(cqe, FLD(0x4, 31, 16)), phase);
}

static void tag_add_done(uint64_t tag, uint64_t mask, uint32_t len)
{
	tag_add(tag, mask, len);
	expect_op(APPENDED, true, 0);
}

/* ---- messages ---- */

static void header(uint8_t op, uint64_t tag)
{
	uint64_t value = htobe64(tag);

	memset(flat.mem + from, 0, 16);
	flat.mem[from] = op;
	memcpy(flat.mem + from + 8, &value, sizeof(value));
}

static void send_eager(uint64_t tag, uint32_t len)
{
	header(EAGER, tag);
	flat_send(a, OP_SEND, from, 16 + len, lkey);
	flat_run(LONG / 1000);
}

static void send_rndv(uint64_t tag, uint32_t len)
{
	header(RNDV, tag);
	fld_set(flat.mem + from, FLD64(0x10), from + 32768);
	fld_set(flat.mem + from, FLD(0x18, 31, 0), lkey);
	fld_set(flat.mem + from, FLD(0x1c, 31, 0), len);
	flat_send(a, OP_SEND, from, 32, lkey);
	flat_run(LONG / 1000);
}

static void a_message_takes_the_first_tag_that_its_header_matches(void **state)
{
	const uint8_t *cqe;

	(void)state;
	set_up();
	tag_add_done(0x100, 0xff00, 64);
	tag_add_done(0x1, 0xff, 64);
	tag_add_done(0, 0, 64);
	send_eager(0x201, 32);
	cqe = cqe_expect(RESP_SEND, CONSUMED_MSG);
	assert_int_equal(fld_get(cqe, CQE_APP_INFO), 1);
	assert_int_equal(fld_get(cqe, CQE_BYTE_COUNT), 32);
	assert_int_equal(fld_get(cqe, FLD64(0x8)), 0x201);
	assert_memory_equal(flat.mem + buffers + FRAME, flat.mem + from + 16, 32);
	send_eager(0x201, 32);
	expect_tag(RESP_SEND, CONSUMED_MSG, 2, 32);
	send_eager(0x101, 0);
	expect_tag(RESP_SEND, CONSUMED_MSG, 0, 0);
	tear_down();
}

static void a_long_message_is_matched_first_and_complete_later(void **state)
{
	(void)state;
	set_up();
	tag_add_done(5, ~0ull, FRAME);
	send_eager(5, 3000);
	expect_tag(NO_PACKET, CONSUMED, 0, 0);
	expect_tag(RESP_SEND, EXPECTED, 0, 3000);
	assert_memory_equal(flat.mem + buffers, flat.mem + from + 16, 3000);
	tear_down();
}

static void tags_wait_until_software_has_seen_what_found_none(void **state)
{
	(void)state;
	set_up();
	tag_add_done(7, ~0ull, 64);
	flat_srq_recv(&xrq, to + 8 * FRAME, FRAME, rkey);
	flat_srq_recv(&xrq, to + 9 * FRAME, FRAME, rkey);
	send_eager(9, 16);
	cqe_expect(RESP_SEND, UNEXPECTED);
	assert_memory_equal(flat.mem + to + 8 * FRAME, flat.mem + from, 32);
	tag_add(9, ~0ull, 64);
	expect_op(APPENDED, true, 1);
	send_eager(7, 16); /* buffered before */
	expect_tag(RESP_SEND, CONSUMED_MSG, 0, 16);
	send_eager(9, 16);
	cqe_expect(RESP_SEND, UNEXPECTED);
	list_operate(0, WITH_CQE | WITH_COUNT, 0, 2, 0, 0, 0);
	expect_op(SYNCED, true, 2);
	send_eager(9, 16);
	expect_tag(RESP_SEND, CONSUMED_MSG, 1, 16);
	tear_down();
}

static void messages_without_a_tag_do_not_count(void **state)
{
	(void)state;
	set_up();
	for (int i = 0; i < 2; i++)
		flat_srq_recv(&xrq, to + 8 * FRAME, FRAME, rkey);
	header(0, 0);
	flat_send(a, OP_SEND, from, 64, lkey);
	flat_run(LONG / 1000);
	cqe_expect(RESP_SEND, NO_TAG);
	tag_add_done(3, ~0ull, 64);
	flat_send(a, OP_SEND, from, 5, lkey); /* shorter than a header */
	flat_run(LONG / 1000);
	cqe_expect(RESP_SEND, NO_TAG);
	send_eager(3, 1);
	expect_tag(RESP_SEND, CONSUMED_MSG, 0, 1);
	tear_down();
}

static void only_a_tag_that_is_there_can_be_removed(void **state)
{
	(void)state;
	set_up();
	tag_add_done(1, ~0ull, 64);
	tag_add_done(2, ~0ull, 64);
	list_operate(DEL, WITH_CQE, 0, 0, 0, 0, 0);
	expect_op(REMOVED, true, 0);
	list_operate(DEL, WITH_CQE, 0, 0, 0, 0, 0);
	expect_op(REMOVED, false, 0);
	send_eager(2, 1);
	expect_tag(RESP_SEND, CONSUMED_MSG, 1, 1);
	list_operate(DEL, WITH_CQE, 1, 0, 0, 0, 0);
	expect_op(REMOVED, false, 0);
	list_operate(DEL, WITH_CQE, 1 << LOG_TAGS, 0, 0, 0, 0);
	flat_expect_error(ops->send_cq, REQ_ERR, 5, LOCAL_QP_OP);
	tear_down();
}

static void a_rendezvous_is_fetched_and_answered(void **state)
{
	uint64_t answer = to + 10 * FRAME;

	(void)state;
	set_up();
	answer = from + 60000;
	flat_recv(a, answer, 64, lkey);
	tag_add_done(4, ~0ull, FRAME);
	send_rndv(4, 4000);
	expect_tag(NO_PACKET, CONSUMED, 0, 0);
	expect_tag(RESP_SEND, EXPECTED, 0, 4000);
	assert_memory_equal(flat.mem + buffers, flat.mem + from + 32768, 4000);
	flat_expect_done(a->recv_cq, RESP_SEND, 0);
	assert_int_equal(flat.mem[answer], FIN);
	assert_memory_equal(flat.mem + answer + 1, flat.mem + from + 1, 31);
	tear_down();
}

static void software_goes_on_where_the_buffer_is_too_small(void **state)
{
	(void)state;
	set_up();
	tag_add_done(4, ~0ull, 64);
	send_rndv(4, 65);
	expect_tag(RESP_SEND, SW_RNDV, 0, 32);
	assert_memory_equal(flat.mem + buffers, flat.mem + from, 32);
	tear_down();
}

static void software_goes_on_where_the_send_queue_is_its_own(void **state)
{
	(void)state;
	set_up_with(false);
	tag_add_done(4, ~0ull, 64);
	send_rndv(4, 16);
	expect_tag(RESP_SEND, SW_RNDV, 0, 32);
	tear_down();
}

/* The rkey in the rendezvous header is invalid. */
static void a_fetch_that_fails_gives_the_tag_back(void **state)
{
	(void)state;
	set_up();
	tag_add_done(4, ~0ull, 64);
	header(RNDV, 4);
	fld_set(flat.mem + from, FLD(0x18, 31, 0), lkey ^ 0x100);
	fld_set(flat.mem + from, FLD(0x1c, 31, 0), 16);
	flat_send(a, OP_SEND, from, 32, lkey);
	flat_run(LONG / 1000);
	expect_tag(NO_PACKET, CONSUMED, 0, 0);
	expect_tag(RESP_SEND, CANCELED, 0, 0);
	assert_int_equal(flat_state(b), PRM_QP_STATE_ERR);
	tear_down();
}

/* The buffer of a tag belongs to the adapter until its last completion, and the event says that no
 * more come. */
static void the_last_event_follows_the_tag_of_a_fetch(void **state)
{
	uint8_t in[16] = { 0 }, out[16];

	(void)state;
	set_up();
	tag_add_done(4, ~0ull, FRAME);
	header(RNDV, 4);
	fld_set(flat.mem + from, FLD64(0x10), from + 32768);
	fld_set(flat.mem + from, FLD(0x18, 31, 0), lkey);
	fld_set(flat.mem + from, FLD(0x1c, 31, 0), 4000);
	flat_send(a, OP_SEND, from, 32, lkey);
	hca_progress(flat.hca[0], flat.now); /* b is asked for the data, and has not fetched it */
	expect_tag(NO_PACKET, CONSUMED, 0, 0);
	fld_set(in, CMD_IN_OPCODE, PRM_OP_2ERR_QP);
	fld_set(in, MODIFY_QP_IN_QPN, b->n);
	flat_cmd(b->hca, in, sizeof(in), out, sizeof(out));
	flat_run(LONG);
	expect_tag(RESP_SEND, CANCELED, 0, 0);
	assert_int_equal(flat_count_events(PRM_EVENT_SRQ_LAST_WQE), 1);
	assert_int_equal(flat.event[flat.events - 1][1], PRM_EVENT_SRQ_LAST_WQE);
	assert_in_range(flat_when_completed(done), 1, flat.event_after[flat.events - 1]);
	tear_down();
}

static void a_message_that_is_too_long_costs_a_wqe_of_the_queue(void **state)
{
	const uint8_t *cqe;

	(void)state;
	set_up();
	tag_add_done(4, ~0ull, 64);
	flat_srq_recv(&xrq, to + 8 * FRAME, FRAME, rkey);
	send_eager(4, 65);
	expect_tag(NO_PACKET, CONSUMED, 0, 0);
	expect_tag(RESP_SEND, CANCELED, 0, 0);
	cqe = flat_poll(done);
	assert_non_null(cqe);
	assert_int_equal(fld_get(cqe, CQE_OPCODE), RESP_ERR);
	assert_int_equal(fld_get(cqe, CQE_SYNDROME), LOCAL_LENGTH);
	assert_int_equal(fld_get(cqe, CQE_WQE_COUNTER), 0);
	flat_expect_error(a->send_cq, REQ_ERR, 0, REMOTE_INVAL_REQ);
	tear_down();
}

static void an_xrq_says_its_phases_and_goes_last(void **state)
{
	uint8_t in[16] = { 0 }, out[PRM_QUERY_XRQ_OUT_SIZE] = { 0 };
	uint8_t *context = fld_at(out, QUERY_XRQ_OUT_XRQ_CONTEXT);

	(void)state;
	set_up();
	tag_add_done(1, ~0ull, 64);
	fld_set(in, CMD_IN_OPCODE, PRM_OP_QUERY_XRQ);
	fld_set(in, QUERY_XRQ_IN_XRQN, xrq.n);
	flat_cmd(xrq.hca, in, sizeof(in), out, sizeof(out));
	assert_int_equal(fld_get(context, XRQC_APPEND_NEXT_INDEX), 1);
	assert_int_equal(fld_get(context, XRQC_HW_PHASE_CNT), 0);
	flat_simple(xrq.hca, PRM_OP_DESTROY_XRQ, xrq.n, PRM_STAT_BAD_RES_STATE_ERR);
	flat_simple(xrq.hca, PRM_OP_DESTROY_QP, b->n, PRM_STAT_OK);
	flat_simple(xrq.hca, PRM_OP_DESTROY_QP, ops->n, PRM_STAT_OK);
	flat_simple(xrq.hca, PRM_OP_DESTROY_XRQ, xrq.n, PRM_STAT_OK);
	tear_down();
}

/* ---- strides ---- */

static void set_up_strides(void)
{
	strided = true;
	set_up();
	strided = false;
}

static uint8_t *stride_at(unsigned int n)
{
	return flat.mem + to + 8 * FRAME + n * MTU;
}

static void strides_post(unsigned int index, uint32_t shorter)
{
	uint8_t *wqe = flat.mem + xrq.ring + (index << LOG_STRIDED_WQE);

	for (unsigned int i = 0; i < STRIDES; i++) {
		uint8_t *seg = wqe + 16 + 16 * i;

		fld_set(seg, FLD(0x0, 31, 0), i == STRIDES - 1 ? MTU - shorter : MTU);
		fld_set(seg, FLD(0x4, 31, 0), rkey);
		fld_set(seg, FLD64(0x8), stride_at(index * STRIDES + i) - flat.mem);
	}
	fld_set(flat.mem + xrq.dbr, FLD(0x0, 31, 0), index + 1);
}

/* Checks that a CQE is of LEN bytes in stride N of all, counted from the first WQE. */
static void check_stride(const uint8_t *cqe, unsigned int n, uint32_t len, bool is_last)
{
	assert_int_equal(fld_get(cqe, CQE_WQE_COUNTER), n / STRIDES);
	assert_int_equal(fld_get(cqe, FLD(0x14, 31, 16)), n % STRIDES);
	assert_int_equal(fld_get(cqe, CQE_BYTE_COUNT), len | (is_last ? 1u << 30 : 0));
}

static void expect_stride(uint8_t op, unsigned int n, uint32_t len, bool is_last)
{
	check_stride(cqe_expect(RESP_SEND, op), n, len, is_last);
}

static void expect_stride_error(unsigned int n, uint8_t syndrome)
{
	const uint8_t *cqe = flat_poll(done);

	assert_non_null(cqe);
	assert_int_equal(fld_get(cqe, CQE_OPCODE), RESP_ERR);
	assert_int_equal(fld_get(cqe, CQE_SYNDROME), syndrome);
	assert_int_equal(fld_get(cqe, CQE_WQE_COUNTER), n / STRIDES);
}

static void each_packet_takes_a_stride_and_has_a_cqe(void **state)
{
	(void)state;
	set_up_strides();
	strides_post(0, 0);
	strides_post(1, 0);
	for (unsigned int n = 0; n < 12; n += 3) {
		send_eager(5, 2 * MTU); /* with its header it is three packets */
		expect_stride(UNEXPECTED, n, MTU, false);
		expect_stride(UNEXPECTED, n + 1, MTU, false);
		expect_stride(UNEXPECTED, n + 2, 16, true);
		assert_memory_equal(stride_at(n), flat.mem + from, 2 * MTU + 16);
		flat_expect_done(a->send_cq, REQ, (uint16_t)(n / 3));
	}
	header(0, 0);
	flat_send(a, OP_SEND, from, 64, lkey);
	flat_run(LONG / 1000);
	expect_stride(NO_TAG, 12, 64, true);
	list_operate(0, WITH_CQE | WITH_COUNT, 0, 4, 0, 0, 0);
	expect_op(SYNCED, true, 4);
	tear_down();
}

static void a_message_with_a_tag_takes_no_stride(void **state)
{
	(void)state;
	set_up_strides();
	strides_post(0, 0);
	tag_add_done(5, ~0ull, FRAME);
	send_eager(5, 3000);
	expect_tag(NO_PACKET, CONSUMED, 0, 0);
	expect_tag(RESP_SEND, EXPECTED, 0, 3000);
	send_eager(6, 10);
	expect_stride(UNEXPECTED, 0, 26, true);
	tear_down();
}

/* The sender repeats what had no stride, and nothing else, as packets that have a stride are in
 * memory already. */
static void packets_wait_for_strides(void **state)
{
	(void)state;
	set_up_strides();
	strides_post(0, 0);
	send_eager(5, 9 * MTU);
	for (unsigned int n = 0; n < STRIDES; n++)
		expect_stride(UNEXPECTED, n, MTU, false);
	assert_null(flat_poll(done));
	strides_post(1, 0);
	flat_run(10ull * LONG);
	expect_stride(UNEXPECTED, STRIDES, MTU, false);
	expect_stride(UNEXPECTED, STRIDES + 1, 16, true);
	assert_null(flat_poll(done));
	assert_memory_equal(stride_at(0), flat.mem + from, 9 * MTU + 16);
	flat_expect_done(a->send_cq, REQ, 0);
	tear_down();
}

static uint32_t length_errors(void)
{
	uint8_t in[32] = { 0 }, out[PRM_QUERY_Q_COUNTER_OUT_SIZE];

	fld_set(in, CMD_IN_OPCODE, PRM_OP_QUERY_Q_COUNTER);
	fld_set(in, QUERY_Q_COUNTER_IN_COUNTER_SET_ID, counters);
	flat_cmd(flat.hca[1], in, sizeof(in), out, sizeof(out));
	return fld_get(out, QUERY_Q_COUNTER_OUT_RESP_LOCAL_LENGTH_ERROR);
}

static void a_packet_that_is_longer_than_its_stride_fails(void **state)
{
	(void)state;
	counters = flat_simple(flat.hca[1], PRM_OP_ALLOC_Q_COUNTER, 0, PRM_STAT_OK) & 0xff;
	set_up_strides();
	strides_post(0, 1);
	send_eager(5, 8 * MTU - 16);
	for (unsigned int n = 0; n < STRIDES - 1; n++)
		expect_stride(UNEXPECTED, n, MTU, false);
	expect_stride_error(STRIDES - 1, LOCAL_LENGTH);
	flat_expect_error(a->send_cq, REQ_ERR, 0, REMOTE_INVAL_REQ);
	assert_int_equal(length_errors(), 1);
	counters = 0;
	tear_down();
}

static void send_invalidate(uint32_t key, uint32_t len)
{
	header(EAGER, 5);
	flat_ctrl(a, OP_SEND_INVAL, SIGNALED | SOLICITED, key);
	flat_data(a, from, len, lkey);
	flat_post(a);
	flat_ring(a);
	flat_run(LONG / 1000);
}

/* Only the last packet invalidates the key and is solicited. A key must allow that. */
static void the_last_packet_invalidates_a_key(void **state)
{
	const uint8_t *cqe;
	uint32_t key;

	(void)state;
	set_up_strides();
	strides_post(0, 0);
	key = flat_mr(flat.hca[1], flat.pd[1], to, 4096, ALL_ACCESS | REMOTE_INVALIDATE);
	send_invalidate(key, 2 * MTU);
	cqe = cqe_expect(RESP_SEND, UNEXPECTED);
	check_stride(cqe, 0, MTU, false);
	assert_false(cqe[63] & SOLICITED);
	cqe = cqe_expect(RESP_SEND_INVAL, UNEXPECTED);
	check_stride(cqe, 1, MTU, true);
	assert_true(cqe[63] & SOLICITED);
	assert_int_equal(fld_get(cqe, CQE_IMM), key);
	flat_expect_done(a->send_cq, REQ, 0);
	assert_true(mkey_find(flat.hca[1], key)->free);
	send_invalidate(rkey, MTU);
	expect_stride_error(2, SYND_LOCAL_ACCESS);
	flat_expect_error(a->send_cq, REQ_ERR, 1, REMOTE_ACCESS);
	tear_down();
}

static void packets_behind_a_full_cq_change_nothing(void **state)
{
	static const uint8_t zeroes[MTU];

	(void)state;
	log_cqes = 2;
	set_up_strides();
	log_cqes = 6;
	strides_post(0, 0);
	send_eager(5, 7 * MTU - 16);
	assert_int_equal(flat_state(b), PRM_QP_STATE_ERR);
	assert_memory_equal(stride_at(0), flat.mem + from, 5 * MTU);
	assert_memory_equal(stride_at(5), zeroes, MTU);
	tear_down();
}

/* The error returns the WQE to software, so no packet of another QP may go to its other strides. */
static void an_error_ends_the_wqe_of_a_stride(void **state)
{
	const struct flat_qp_attr plain = { .mtu = 3 };
	struct flat_qp_attr shares = { .rq_type = PRM_RQ_TYPE_SRQ, .mtu = 3 };

	(void)state;
	set_up_strides();
	strides_post(0, 0);
	strides_post(1, 0);
	fld_set(flat.mem + xrq.ring + 16 + 16, FLD(0x4, 31, 0), rkey ^ 0x100);
	send_eager(5, 3 * MTU);
	expect_stride(UNEXPECTED, 0, MTU, false);
	expect_stride_error(1, LOCAL_PROT);
	unpair();
	shares.srqn = xrq.n;
	a = flat_qp(0, &plain);
	b = flat_qp(1, &shares);
	flat_connect(a, b, &plain);
	send_eager(5, 64);
	expect_stride(UNEXPECTED, STRIDES, 80, true);
	tear_down();
}

static void a_wqe_has_room_for_each_stride(void **state)
{
	uint8_t in[PRM_CREATE_XRQ_IN_SIZE + 8] = { 0 }, out[16];
	uint8_t *wq = fld_at(fld_at(in, CREATE_XRQ_IN_XRQ_CONTEXT), XRQC_WQ);

	(void)state;
	set_up_strides();
	strided = true;
	put_xrqc(in);
	strided = false;
	fld_set(wq, WQ_LOG_WQ_STRIDE, LOG_STRIDED_WQE - 1);
	flat_cmd_expect(xrq.hca, in, sizeof(in), out, sizeof(out), PRM_STAT_BAD_PARAM_ERR);
	fld_set(wq, WQ_LOG_WQ_STRIDE, 15);
	fld_set(wq, WQ_LOG_WQE_NUM_OF_STRIDES, PRM_LOG_STRIDES_LOW - 1);
	flat_cmd_expect(xrq.hca, in, sizeof(in), out, sizeof(out), PRM_STAT_BAD_PARAM_ERR);
	tear_down();
}

#define TM_TEST(name) cmocka_unit_test_setup_teardown(name, flat_setup, flat_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TM_TEST(a_message_takes_the_first_tag_that_its_header_matches),
		TM_TEST(a_long_message_is_matched_first_and_complete_later),
		TM_TEST(tags_wait_until_software_has_seen_what_found_none),
		TM_TEST(messages_without_a_tag_do_not_count),
		TM_TEST(only_a_tag_that_is_there_can_be_removed),
		TM_TEST(a_rendezvous_is_fetched_and_answered),
		TM_TEST(software_goes_on_where_the_buffer_is_too_small),
		TM_TEST(software_goes_on_where_the_send_queue_is_its_own),
		TM_TEST(a_fetch_that_fails_gives_the_tag_back),
		TM_TEST(the_last_event_follows_the_tag_of_a_fetch),
		TM_TEST(a_message_that_is_too_long_costs_a_wqe_of_the_queue),
		TM_TEST(an_xrq_says_its_phases_and_goes_last),
		TM_TEST(each_packet_takes_a_stride_and_has_a_cqe),
		TM_TEST(a_message_with_a_tag_takes_no_stride),
		TM_TEST(packets_wait_for_strides),
		TM_TEST(a_packet_that_is_longer_than_its_stride_fails),
		TM_TEST(the_last_packet_invalidates_a_key),
		TM_TEST(packets_behind_a_full_cq_change_nothing),
		TM_TEST(an_error_ends_the_wqe_of_a_stride),
		TM_TEST(a_wqe_has_room_for_each_stride),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * eth_test.c - frames from the send queue of one adapter to the receive queue of another: bytes,
 * offloads in both directions, errors, loopback, link state, counters.
 *
 * Covers: softhca/device/eth/eth.c, softhca/device/eth/eth_sq.c, softhca/device/eth/eth_rq.c,
 * softhca/device/eth/eth_port.c, softhca/device/eth/frame.c, softhca/device/eth/tis.c,
 * softhca/device/format/mlx5/cmd/sq.c, softhca/device/format/mlx5/cmd/rq.c,
 * softhca/device/format/mlx5/cmd/wq.c,
 * softhca/device/format/mlx5/cmd/tis.c, softhca/device/format/mlx5/frame.c
 */
#include "eth_rig.h"
#include "prm/mlx5/av.h"
#include "prm/mlx5/cmd.h"
#include "prm/mlx5/eqe.h"
#include "prm/mlx5/q_counter.h"
#include "prm/mlx5/reg.h"
#include "prm/mlx5/tir.h"
#include "prm/mlx5/vport.h"
#include "prm/mlx5/wq.h"
#include "prm/mlx5/wqe.h"
#include "signed_key.h"
#include "util/bits.h"

enum {
	REQ = 0,
	RESP_SEND = 2,
	REQ_ERR = 13,
	RESP_ERR = 14,
	LOCAL_LENGTH = 1,
	LOCAL_QP_OP = 2,
	LOCAL_PROT = 4,
	FLUSHED = 5
};

#define CQE_HASH_TYPE(cqe) ((cqe)[16])
#define CQE_OK(cqe)        ((cqe)[28])
#define CQE_TYPES(cqe)     ((cqe)[29])

static struct eth_sq_rig *sq;
static struct eth_rq_rig *rq;
static uint8_t frame[70000];

static uint32_t be32(const uint8_t *at)
{
	return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

static uint32_t be16(const uint8_t *at)
{
	return (uint32_t)at[0] << 8 | at[1];
}

static uint32_t byte_count(const uint8_t *cqe)
{
	return be32(cqe + 44);
}

static const uint8_t *flat_mac(int hca)
{
	static uint8_t out[16 + PRM_NIC_VPORT_CONTEXT_SIZE];
	uint8_t in[16] = { 0 };

	fld_set(in, CMD_IN_OPCODE, PRM_OP_QUERY_NIC_VPORT_CONTEXT);
	flat_cmd(flat.hca[hca], in, sizeof(in), out, sizeof(out));
	return out + 16 + 0xf6;
}

static int open_pair(void **state)
{
	uint32_t td;

	flat_setup_roce(state);
	sq = eth_sq(0, eth_td(0));
	td = eth_td(1);
	rq = eth_rq(1, true);
	rq->tir = eth_direct_tir(1, td, rq->n, 0);
	eth_catch_all(1, rq->tir);
	return 0;
}

static int close_pair(void **state)
{
	eth_free_sq(sq);
	eth_free_rq(rq);
	return flat_teardown(state);
}

static uint32_t out_of_buffer(const struct eth_rq_rig *queue)
{
	uint8_t in[32] = { 0 }, out[PRM_QUERY_Q_COUNTER_OUT_SIZE];

	fld_set(in, CMD_IN_OPCODE, PRM_OP_QUERY_Q_COUNTER);
	fld_set(in, QUERY_Q_COUNTER_IN_COUNTER_SET_ID, queue->counter);
	flat_cmd(flat.hca[queue->hca], in, sizeof(in), out, sizeof(out));
	return fld_get(out, QUERY_Q_COUNTER_OUT_OUT_OF_BUFFER);
}

static struct eth_rq_rig *plain_rq(void)
{
	struct eth_rq_rig *former = rq;

	rq = eth_rq(1, false);
	eth_catch_all(1, eth_direct_tir(1, eth_td(1), rq->n, 0));
	return former;
}

static void expect_frame(const uint8_t *bytes, uint32_t len)
{
	const uint8_t *cqe, *got = eth_receive(rq, &cqe);

	assert_non_null(got);
	assert_int_equal(cqe[63] >> 4, RESP_SEND);
	assert_int_equal(byte_count(cqe), len);
	assert_memory_equal(got, bytes, len);
}

static void a_frame_arrives_as_it_was_sent(void **state)
{
	struct eth_flow flow = { .protocol = 17, .sport = 5, .dport = 6, .payload = 100 };
	uint32_t len = eth_build(&flow, frame);

	(void)state;
	eth_recv(rq, ETH_BUF, 4);
	eth_send(sq, frame, len);
	expect_frame(frame, len);
	flat_expect_done(sq->cq, REQ, 0);
	assert_null(eth_receive(rq, NULL));
}

static void a_short_frame_is_padded(void **state)
{
	uint8_t expected[60] = { 0 };

	(void)state;
	memset(frame, 0x11, 20);
	memcpy(expected, frame, 20);
	eth_recv(rq, ETH_BUF, 1);
	eth_send(sq, frame, 20);
	expect_frame(expected, 60);
}

static void inline_headers_come_first(void **state)
{
	struct eth_flow flow = { .protocol = 17, .payload = 1000 };
	uint32_t len = eth_build(&flow, frame);

	(void)state;
	eth_recv(rq, ETH_BUF, 8);
	for (uint32_t i = 2; i < 100; i += 14) {
		struct eth_wqe wqe = { .opcode = OP_SEND, .inline_len = i };

		eth_post(sq, &wqe, frame, len);
		eth_ring_doorbell(sq);
		expect_frame(frame, len);
	}
}

static void a_frame_is_scattered_over_segments(void **state)
{
	struct eth_flow flow = { .protocol = 17, .payload = 1000 };
	uint32_t len = eth_build(&flow, frame);
	const uint8_t *got;

	(void)state;
	rq->first_piece = 100;
	eth_recv(rq, ETH_BUF / 2, 1);
	eth_send(sq, frame, len);
	got = eth_receive(rq, NULL);
	assert_non_null(got);
	assert_memory_equal(got, frame, 100);
	assert_memory_equal(got + ETH_BUF / 2, frame + 100, len - 100);
	assert_int_equal(got[100], 0);
}

static void rings_wrap(void **state)
{
	struct eth_flow flow = { .protocol = 17, .payload = 300 };
	uint32_t len = eth_build(&flow, frame);
	const uint8_t *cqe;

	(void)state;
	for (uint32_t i = 0; i < 200; i++) {
		struct eth_wqe wqe = { .opcode = OP_SEND, .inline_len = 98 };

		eth_recv(rq, ETH_BUF, 1);
		frame[len - 1] = (uint8_t)i;
		eth_post(sq, &wqe, frame, len);
		eth_ring_doorbell(sq);
		expect_frame(frame, len);
		cqe = flat_poll(sq->cq);
		assert_non_null(cqe);
		assert_int_equal(cqe[63] >> 4, REQ);
	}
}

static void a_nop_sends_nothing(void **state)
{
	struct eth_wqe wqe = { .opcode = 0 };

	(void)state;
	eth_recv(rq, ETH_BUF, 1);
	eth_post(sq, &wqe, frame, 60);
	eth_ring_doorbell(sq);
	flat_expect_done(sq->cq, REQ, 0);
	assert_null(eth_receive(rq, NULL));
}

static void the_cqe_tells_what_is_in_the_frame(void **state)
{
	static const struct {
		struct eth_flow flow;
		uint8_t ok, types;
	} cases[] = {
		{ { .protocol = 17, .payload = 50 }, 7, 2 << 4 | 2 << 2 },
		{ { .protocol = 6, .payload = 50 }, 7, 1 << 4 | 2 << 2 },
		{ { .protocol = 6, .payload = 0, .tcp_flags = 0x10 }, 7, 3 << 4 | 2 << 2 },
		{ { .protocol = 6, .payload = 50, .tcp_flags = 0x18 }, 7, 4 << 4 | 2 << 2 },
		{ { .protocol = 17, .payload = 50, .v6 = true }, 7, 2 << 4 | 1 << 2 },
		{ { .protocol = 0, .payload = 50 }, 1, 0 },
	};
	const uint8_t *cqe;

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(cases); i++) {
		eth_recv(rq, ETH_BUF, 1);
		eth_send(sq, frame, eth_build(&cases[i].flow, frame));
		assert_non_null(eth_receive(rq, &cqe));
		assert_int_equal(CQE_OK(cqe), cases[i].ok);
		assert_int_equal(CQE_TYPES(cqe), cases[i].types);
		assert_int_equal(be32(cqe + 32), 0x123);
	}
}

/* CHECKSUM_COMPLETE: the CQE has the sum of all bytes behind the Ethernet header, so that a network
 * stack can check any protocol. */
static void check_sum_is_of_all_behind_the_header(void **state)
{
	struct eth_flow flow = { .protocol = 17, .payload = 333 };
	uint32_t len = eth_build(&flow, frame), sum = 0;
	const uint8_t *cqe;

	(void)state;
	eth_recv(rq, ETH_BUF, 1);
	eth_send(sq, frame, len);
	assert_non_null(eth_receive(rq, &cqe));
	for (uint32_t i = 14; i < len; i++)
		sum += i & 1 ? frame[i] : frame[i] << 8;
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	assert_int_equal(be16(cqe + 20), sum);
}

static void wrong_checksums_are_seen(void **state)
{
	struct eth_flow flow = { .protocol = 6, .payload = 64 };
	uint32_t len = eth_build(&flow, frame);
	const uint8_t *cqe;

	(void)state;
	eth_recv(rq, ETH_BUF, 2);
	frame[len - 1] ^= 1;
	eth_send(sq, frame, len);
	assert_non_null(eth_receive(rq, &cqe));
	assert_int_equal(CQE_OK(cqe), 3);
	frame[14 + 8]++; /* time to live: a router lowers it, so the sum of the header changes */
	eth_send(sq, frame, len);
	assert_non_null(eth_receive(rq, &cqe));
	assert_int_equal(CQE_OK(cqe) & 2, 0);
}

static void a_vlan_tag_goes_into_the_cqe(void **state)
{
	struct eth_flow tagged = { .protocol = 17, .payload = 80, .vlan = 0x6123 };
	struct eth_flow plain = { .protocol = 17, .payload = 80 };
	uint8_t expected[256];
	uint32_t len = eth_build(&plain, expected);
	const uint8_t *cqe, *got;

	(void)state;
	eth_recv(rq, ETH_BUF, 1);
	eth_send(sq, frame, eth_build(&tagged, frame));
	got = eth_receive(rq, &cqe);
	assert_non_null(got);
	assert_int_equal(byte_count(cqe), len);
	assert_memory_equal(got, expected, len);
	assert_int_equal(CQE_TYPES(cqe) & 1, 1);
	assert_int_equal(be16(cqe + 30), 0x6123);
}

static void a_vlan_tag_stays_where_stripping_is_off(void **state)
{
	struct eth_flow tagged = { .protocol = 17, .payload = 80, .vlan = 0x6123 };
	struct eth_rq_rig *stripping = plain_rq();
	uint32_t len = eth_build(&tagged, frame);

	(void)state;
	eth_recv(rq, ETH_BUF, 1);
	eth_send(sq, frame, len);
	expect_frame(frame, len);
	eth_free_rq(rq);
	rq = stripping;
}

static void checksums_are_filled_in(void **state)
{
	static const struct eth_flow flows[] = {
		{ .protocol = 17, .payload = 51, .sport = 1 },
		{ .protocol = 6, .payload = 1400, .dport = 2 },
		{ .protocol = 6, .payload = 7, .v6 = true },
		{ .protocol = 17, .payload = 900, .v6 = true },
		{ .protocol = 17, .payload = 900, .vlan = 5 },
	};
	struct eth_wqe wqe = { .opcode = OP_SEND, .cs_flags = CS_L3 | CS_L4, .inline_len = 18 };
	struct eth_rq_rig *stripping = plain_rq();
	uint8_t expected[2048];

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(flows); i++) {
		uint32_t len = eth_build_unsummed(&flows[i], frame);

		eth_build(&flows[i], expected);
		eth_recv(rq, ETH_BUF, 1);
		frame[len - 1] = expected[len - 1];
		eth_post(sq, &wqe, frame, len);
		eth_ring_doorbell(sq);
		expect_frame(expected, len);
	}
	eth_free_rq(rq);
	rq = stripping;
}

static void a_vlan_tag_is_inserted(void **state)
{
	struct eth_flow plain = { .protocol = 17, .payload = 80 };
	struct eth_wqe wqe = { .opcode = OP_SEND, .insert_vlan = true, .tci = 0x2abc };
	const uint8_t *cqe;

	(void)state;
	eth_recv(rq, ETH_BUF, 1);
	eth_post(sq, &wqe, frame, eth_build(&plain, frame));
	eth_ring_doorbell(sq);
	assert_non_null(eth_receive(rq, &cqe));
	assert_int_equal(be16(cqe + 30), 0x2abc);
}

/* Sends PAYLOAD bytes with LSO in segments of MSS, and compares each segment with a frame built for
 * it. */
static void large_send(const struct eth_flow *whole, uint32_t headers, uint32_t mss)
{
	struct eth_wqe wqe = { .opcode = OP_LSO, .cs_flags = CS_L3 | CS_L4, .mss = mss };
	uint32_t len = eth_build_unsummed(whole, frame), n = 0;
	const uint8_t *cqe, *got;

	wqe.inline_len = headers;
	eth_recv(rq, ETH_BUF, (whole->payload + mss - 1) / mss);
	eth_post(sq, &wqe, frame, len);
	eth_ring_doorbell(sq);
	for (uint32_t offset = 0; offset < whole->payload; offset += mss, n++) {
		uint32_t part = whole->payload - offset < mss ? whole->payload - offset : mss;

		got = eth_receive(rq, &cqe);
		assert_non_null(got);
		assert_int_equal(CQE_OK(cqe), 7);
		assert_int_equal(byte_count(cqe), headers + part);
		assert_memory_equal(got + headers, frame + headers + offset, part);
		if (!whole->v6)
			assert_int_equal(be16(got + 14 + 4), n);
		if (whole->protocol == 6) {
			bool last = offset + part == whole->payload;

			assert_int_equal(be32(got + headers - 20 + 4), 1000 + offset);
			assert_int_equal(got[headers - 20 + 13], last ? 0x19 : 0x10);
		}
	}
	assert_null(eth_receive(rq, NULL));
}

static void a_large_send_becomes_segments(void **state)
{
	(void)state;
	large_send(&(struct eth_flow){ .protocol = 6, .payload = 10000, .tcp_flags = 0x19 }, 54,
		   1448);
	large_send(&(struct eth_flow){ .protocol = 6, .payload = 2896, .tcp_flags = 0x19 }, 54,
		   1448);
	large_send(
		&(struct eth_flow){ .protocol = 6, .payload = 5000, .tcp_flags = 0x19, .v6 = true },
		74, 1000);
	large_send(&(struct eth_flow){ .protocol = 17, .payload = 5000 }, 42, 1200);
}

/* ---- errors ---- */

static void a_queue_without_wqes_drops_and_counts(void **state)
{
	struct eth_flow flow = { .protocol = 17, .payload = 100 };
	uint32_t len = eth_build(&flow, frame);

	(void)state;
	eth_send(sq, frame, len);
	eth_send(sq, frame, len);
	assert_int_equal(out_of_buffer(rq), 2);
	assert_null(eth_receive(rq, NULL));
	eth_recv(rq, ETH_BUF, 1);
	eth_send(sq, frame, len);
	expect_frame(frame, len);
	assert_int_equal(out_of_buffer(rq), 2);
}

static void a_frame_larger_than_the_wqe_is_an_error(void **state)
{
	struct eth_flow flow = { .protocol = 17, .payload = 500 };

	(void)state;
	eth_recv(rq, 256, 3);
	eth_send(sq, frame, eth_build(&flow, frame));
	flat_expect_error(rq->cq, RESP_ERR, 0, LOCAL_LENGTH);
	flat_expect_error(rq->cq, RESP_ERR, 1, FLUSHED);
	flat_expect_error(rq->cq, RESP_ERR, 2, FLUSHED);
	flat_expect_empty(rq->cq);
}

static void a_frame_above_the_mtu_does_not_leave(void **state)
{
	struct eth_flow flow = { .protocol = 17, .payload = 1600 };

	(void)state;
	eth_recv(rq, ETH_BUF, 1);
	eth_send(sq, frame, eth_build(&flow, frame));
	flat_expect_done(sq->cq, REQ, 0);
	assert_null(eth_receive(rq, NULL));
}

static void a_wrong_wqe_ends_the_queue(void **state)
{
	struct eth_wqe wrong = { .opcode = OP_SEND, .index_error = 1 },
		       right = { .opcode = OP_SEND };

	(void)state;
	eth_recv(rq, ETH_BUF, 4);
	eth_post(sq, &wrong, frame, 60);
	eth_post(sq, &right, frame, 60);
	eth_ring_doorbell(sq);
	flat_expect_error(sq->cq, REQ_ERR, 0, 2);
	flat_expect_error(sq->cq, REQ_ERR, 1, FLUSHED);
	assert_null(eth_receive(rq, NULL));
}

/* A flushed WQE of several blocks has one CQE, as software frees all its blocks by that CQE. From
 * the error state, only a reset is allowed. */
static void flushed_wqes_of_several_blocks_complete_once(void **state)
{
	struct eth_flow flow = { .protocol = 17, .payload = 600 };
	struct eth_wqe wrong = { .opcode = OP_SEND, .inline_len = 300, .index_error = 1 };
	struct eth_wqe right = { .opcode = OP_SEND, .inline_len = 300 };
	uint8_t modify[32 + PRM_SQC_SIZE] = { 0 };
	uint32_t len = eth_build(&flow, frame);

	(void)state;
	eth_post(sq, &wrong, frame, len);
	eth_post(sq, &right, frame, len);
	eth_ring_doorbell(sq);
	flat_expect_error(sq->cq, REQ_ERR, 0, 2);
	flat_expect_error(sq->cq, REQ_ERR, 6, FLUSHED);
	flat_expect_empty(sq->cq);
	fld_set(modify, MODIFY_SQ_IN_SQN, sq->n);
	fld_set(modify, MODIFY_SQ_IN_SQ_STATE, PRM_WQ_STATE_RDY); /* as far as software knows */
	fld_set(fld_at(modify, MODIFY_SQ_IN_CTX), SQC_STATE, PRM_WQ_STATE_RDY);
	eth_cmd(0, PRM_OP_MODIFY_SQ, modify, sizeof(modify), PRM_STAT_BAD_RES_STATE_ERR);
	fld_set(fld_at(modify, MODIFY_SQ_IN_CTX), SQC_STATE, PRM_WQ_STATE_RST);
	eth_cmd(0, PRM_OP_MODIFY_SQ, modify, sizeof(modify), PRM_STAT_OK);
}

static void data_can_be_inline(void **state)
{
	struct eth_flow flow = { .protocol = 17, .payload = 120 };
	struct eth_wqe wqe = { .opcode = OP_SEND, .inline_data = true, .inline_len = 18 };
	uint32_t len = eth_build(&flow, frame);

	(void)state;
	eth_recv(rq, ETH_BUF, 2);
	eth_post(sq, &wqe, frame, len);
	eth_ring_doorbell(sq);
	expect_frame(frame, len);
	/* The inline header length exceeds the WQE. */
	eth_post(sq, &wqe, frame, len);
	fld_set(flat.mem + sq->ring + 64 * (sq->pi - 4), FLD(0x30, 31, 0), 0x800003ff);
	eth_ring_doorbell(sq);
	flat_expect_done(sq->cq, REQ, 0);
	flat_expect_error(sq->cq, REQ_ERR, 4, 2);
}

static void an_unknown_opcode_is_refused(void **state)
{
	struct eth_wqe wqe = { .opcode = 0x08 };

	(void)state;
	eth_post(sq, &wqe, frame, 60);
	eth_ring_doorbell(sq);
	flat_expect_error(sq->cq, REQ_ERR, 0, 2);
}

static void a_wrong_key_is_a_protection_error(void **state)
{
	struct eth_wqe wqe = { .opcode = OP_SEND };

	(void)state;
	sq->lkey ^= 1;
	eth_post(sq, &wqe, frame, 60);
	eth_ring_doorbell(sq);
	flat_expect_error(sq->cq, REQ_ERR, 0, LOCAL_PROT);
}

/* The device survives inline headers longer than the WQE, and a producer index far beyond the
 * ring. */
static void hostile_queues_are_survived(void **state)
{
	struct eth_wqe wqe = { .opcode = OP_SEND };

	(void)state;
	eth_post(sq, &wqe, frame, 60);
	fld_set(flat.mem + sq->ring, FLD(0x1c, 31, 16), 0x7fff);
	eth_ring_doorbell(sq);
	flat_expect_error(sq->cq, REQ_ERR, 0, 2);
	sq->pi += 20000;
	eth_ring_doorbell(sq);
	assert_null(eth_receive(rq, NULL));
}

static void queues_of_a_dead_adapter_are_flushed(void **state)
{
	struct eth_wqe wqe = { .opcode = OP_SEND };

	(void)state;
	eth_recv(rq, ETH_BUF, 2);
	hca_kill(flat.hca[1]);
	flat_expect_error(rq->cq, RESP_ERR, 0, FLUSHED);
	flat_expect_error(rq->cq, RESP_ERR, 1, FLUSHED);
	hca_kill(flat.hca[0]);
	eth_post(sq, &wqe, frame, 60);
	eth_ring_doorbell(sq);
	flat_expect_error(sq->cq, REQ_ERR, 0, FLUSHED);
}

/* ---- destinations ---- */

static void own_frames_do_not_come_back(void **state)
{
	struct eth_flow flow = { .group = true, .payload = 50 };
	struct eth_rq_rig *own = eth_rq(0, false);

	(void)state;
	/* This TIR belongs to the transport domain of the sender, so its frames loop back. */
	eth_catch_all(0, eth_direct_tir(0, sq->td, own->n, 0));
	eth_recv(own, ETH_BUF, 4);
	eth_recv(rq, ETH_BUF, 4);
	eth_send(sq, frame, eth_build(&flow, frame));
	assert_null(eth_receive(own, NULL));
	assert_non_null(eth_receive(rq, NULL));
	eth_free_rq(own);
}

static void group_frames_reach_other_domains_of_the_same_adapter(void **state)
{
	struct eth_flow flow = { .group = true, .payload = 50 };
	struct eth_rq_rig *own = eth_rq(0, false);

	(void)state;
	eth_catch_all(0, eth_direct_tir(0, eth_td(0), own->n, 0));
	eth_recv(own, ETH_BUF, 4);
	eth_recv(rq, ETH_BUF, 4);
	eth_send(sq, frame, eth_build(&flow, frame));
	assert_non_null(eth_receive(own, NULL));
	assert_non_null(eth_receive(rq, NULL));
	eth_free_rq(own);
}

/* Sends frames to the adapter's own address, as Linux' loopback self-test does. */
static void own_frames_come_back_where_they_are_wanted(void **state)
{
	struct eth_flow flow = { .payload = 50 };
	struct eth_rq_rig *own = eth_rq(0, false);
	uint32_t len = eth_build(&flow, frame);

	(void)state;
	memcpy(frame, flat_mac(0), 6);
	eth_recv(own, ETH_BUF, 4);
	eth_recv(rq, ETH_BUF, 4);
	eth_catch_all(0, eth_direct_tir(0, sq->td, own->n, PRM_BLOCK_UNICAST));
	eth_send(sq, frame, len);
	assert_non_null(eth_receive(own, NULL));
	eth_catch_all(0, eth_direct_tir(0, sq->td, own->n, PRM_BLOCK_MULTICAST));
	eth_send(sq, frame, len);
	assert_null(eth_receive(own, NULL));
	assert_null(eth_receive(rq, NULL));
	eth_free_rq(own);
}

static void nothing_passes_a_link_that_is_down(void **state)
{
	struct eth_flow flow = { .payload = 50 };
	uint32_t len = eth_build(&flow, frame);

	(void)state;
	eth_recv(rq, ETH_BUF, 4);
	hca_set_link(flat.hca[0], 1, false);
	assert_int_equal(flat_count_events(PRM_EVENT_PORT_CHANGE), 1);
	eth_send(sq, frame, len);
	hca_set_link(flat.hca[0], 1, true);
	hca_set_link(flat.hca[1], 1, false);
	eth_send(sq, frame, len);
	assert_null(eth_receive(rq, NULL));
	hca_set_link(flat.hca[1], 1, true);
	assert_int_equal(flat_count_events(PRM_EVENT_PORT_CHANGE), 4);
	eth_send(sq, frame, len);
	assert_non_null(eth_receive(rq, NULL));
}

static void access_reg(int hca, uint16_t reg, bool write, uint8_t *data, size_t len,
		       enum prm_status expect)
{
	uint8_t in[16 + 256] = { 0 }, out[16 + 256];

	fld_set(in, CMD_IN_OPCODE, PRM_OP_ACCESS_REG);
	fld_set(in, CMD_IN_OP_MOD, !write);
	fld_set(in, ACCESS_REGISTER_IN_REGISTER_ID, reg);
	memcpy(in + 16, data, len);
	flat_cmd_expect(flat.hca[hca], in, 16 + len, out, 16 + len, expect);
	memcpy(data, out + 16, len);
}

static void software_takes_the_link_down_by_paos(void **state)
{
	uint8_t paos[16] = { 0 };

	(void)state;
	fld_set(paos, PAOS_REG_LOCAL_PORT, 1);
	fld_set(paos, PAOS_REG_ADMIN_STATUS, PRM_PORT_DOWN);
	fld_set(paos, PAOS_REG_ASE, 1);
	access_reg(0, PRM_REG_PAOS, true, paos, sizeof(paos), PRM_STAT_OK);
	assert_int_equal(fld_get(paos, PAOS_REG_OPER_STATUS), PRM_PORT_DOWN);
	assert_int_equal(flat_count_events(PRM_EVENT_PORT_CHANGE), 1);
	assert_int_equal(flat.event[flat.events - 1][3], PRM_PORT_CHANGE_DOWN);
	fld_set(paos, PAOS_REG_ADMIN_STATUS, 7);
	access_reg(0, PRM_REG_PAOS, true, paos, sizeof(paos), PRM_STAT_BAD_PARAM_ERR);
	memset(paos, 0, sizeof(paos));
	fld_set(paos, PAOS_REG_LOCAL_PORT, 3);
	access_reg(0, PRM_REG_PAOS, false, paos, sizeof(paos), PRM_STAT_BAD_PARAM_ERR);
}

static uint64_t counter(int hca, uint32_t group, uint32_t part)
{
	uint8_t ppcnt[PRM_PPCNT_REG_SIZE] = { 0 };

	fld_set(ppcnt, PPCNT_REG_LOCAL_PORT, 1);
	fld_set(ppcnt, PPCNT_REG_GRP, group);
	access_reg(hca, PRM_REG_PPCNT, false, ppcnt, sizeof(ppcnt), PRM_STAT_OK);
	return fld_get64(fld_at(ppcnt, PPCNT_REG_COUNTER_SET), FLD_BYTE(part));
}

static void ports_count_frames_and_bytes(void **state)
{
	struct eth_flow one = { .payload = 86 }, all = { .payload = 286, .group = true };

	(void)state;
	eth_recv(rq, ETH_BUF, 4);
	eth_send(sq, frame, eth_build(&one, frame)); /* 100 bytes and FCS */
	eth_send(sq, frame, eth_build(&all, frame));
	assert_int_equal(counter(0, PRM_COUNTERS_IEEE_802_3, PPCNT_A_FRAMES_TRANSMITTED_OK_HIGH),
			 2);
	assert_int_equal(counter(0, PRM_COUNTERS_IEEE_802_3, PPCNT_A_OCTETS_TRANSMITTED_OK_HIGH),
			 408);
	assert_int_equal(counter(1, PRM_COUNTERS_IEEE_802_3, PPCNT_A_FRAMES_RECEIVED_OK_HIGH), 2);
	assert_int_equal(counter(1, PRM_COUNTERS_RFC_2863, PPCNT_IF_IN_UCAST_PKTS_HIGH), 1);
	assert_int_equal(counter(1, PRM_COUNTERS_RFC_2863, PPCNT_IF_IN_MULTICAST_PKTS_HIGH), 1);
	assert_int_equal(counter(1, PRM_COUNTERS_RFC_2819, PPCNT_ETHER_STATS_PKTS64OCTETS_HIGH) +
				 counter(1, PRM_COUNTERS_RFC_2819,
					 PPCNT_ETHER_STATS_PKTS64OCTETS_HIGH + FLD_PART(8)),
			 1);
}

/* ---- datagrams with the source of another QP (IPoIB) ---- */

static void datagram_post(struct eth_sq_rig *queue, uint32_t length)
{
	enum { AV = 16, ETH = AV + 48 + 16, WQE = 128 };
	uint8_t *wqe = flat.mem + queue->ring + (size_t)64 * queue->pi;

	memset(wqe, 0, WQE);
	fld_set(wqe, CTRL_OPCODE, OP_SEND);
	fld_set(wqe, CTRL_INDEX, queue->pi);
	fld_set(wqe, CTRL_QPN, queue->n);
	fld_set(wqe, CTRL_DS, (ETH + (length ? 32 : 16)) / 16);
	fld_set(wqe, CTRL_CE_SE, SIGNALED);
	fld_set(wqe + AV, AV_EXTENDED, 1);
	fld_set(wqe + AV, AV_DQPN, 1);
	fld_set(wqe + AV, AV_RLID, 1);
	fld_set(wqe + ETH, ETH_INLINE, length);
	queue->pi += WQE / 64;
	eth_ring_doorbell(queue);
}

static void expect_datagram_failed(struct flat_qp *qp, uint32_t length, uint8_t syndrome)
{
	uint32_t td = eth_td(0);
	struct eth_sq_rig *queue = eth_sq_of(0, td, eth_underlay_tis(0, td, qp->n, PRM_STAT_OK));

	datagram_post(queue, length);
	flat_expect_error(queue->cq, REQ_ERR, 0, syndrome);
	eth_free_sq(queue);
}

/* A QP in RESET has neither port nor MTU; the device once used its port as an index all the
 * same. */
static void datagrams_leave_when_their_qp_sends(void **state)
{
	static const struct flat_qp_attr ud = { .st = PRM_QP_ST_UD, .qkey = 1, .mtu = 5 };
	struct flat_qp *qp = flat_qp(0, &ud);
	struct eth_sq_rig *queue;
	uint32_t td = eth_td(0);

	(void)state;
	expect_datagram_failed(qp, 0, LOCAL_QP_OP);
	expect_datagram_failed(qp, 4, LOCAL_QP_OP);
	flat_to(qp, qp, &ud, PRM_QP_STATE_RTR);
	expect_datagram_failed(qp, 4, LOCAL_QP_OP);
	flat_simple(flat.hca[0], PRM_OP_2RST_QP, qp->n, PRM_STAT_OK);
	flat_to(qp, qp, &ud, PRM_QP_STATE_RTS);
	expect_datagram_failed(qp, 0, LOCAL_LENGTH);
	queue = eth_sq_of(0, td, eth_underlay_tis(0, td, qp->n, PRM_STAT_OK));
	datagram_post(queue, 4);
	assert_int_equal(flat_poll(queue->cq)[63] >> 4, REQ);
	eth_free_sq(queue);
	test_free(qp->send_cq);
	test_free(qp->recv_cq);
	test_free(qp);
}

static void roce_has_no_such_datagrams(void **state)
{
	(void)state;
	eth_underlay_tis(0, eth_td(0), 1, PRM_STAT_BAD_PARAM_ERR);
}

#define PAIR(test) cmocka_unit_test_setup_teardown(test, open_pair, close_pair)

/* Queues of frames refuse keys that compute signatures, as they have no way to report a wrong
 * one. */
static void frames_are_not_computed(void **state)
{
	struct eth_flow flow = { .protocol = 17, .payload = 2 * SIGNED_UNIT };
	uint32_t len = eth_build(&flow, frame);

	(void)state;
	rq->lkey = signed_key(1, GUARD_NONE, GUARD_DIF_CRC, rq->buf, ETH_BUF, rq->lkey)->key;
	eth_recv(rq, 2048, 1);
	eth_send(sq, frame, len);
	flat_expect_done(sq->cq, REQ, 0);
	flat_expect_error(rq->cq, RESP_ERR, 0, LOCAL_PROT);
	sq->lkey =
		signed_key(0, GUARD_DIF_CRC, GUARD_NONE, sq->buf, 4 * SIGNED_UNIT, sq->lkey)->key;
	eth_send(sq, frame, len);
	flat_expect_error(sq->cq, REQ_ERR, 1, LOCAL_PROT);
	assert_true(LIST_EMPTY(&flat.hca[0]->sig_failed));
	assert_true(LIST_EMPTY(&flat.hca[1]->sig_failed));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		PAIR(a_frame_arrives_as_it_was_sent),
		PAIR(a_short_frame_is_padded),
		PAIR(inline_headers_come_first),
		PAIR(a_frame_is_scattered_over_segments),
		PAIR(rings_wrap),
		PAIR(a_nop_sends_nothing),
		PAIR(the_cqe_tells_what_is_in_the_frame),
		PAIR(check_sum_is_of_all_behind_the_header),
		PAIR(wrong_checksums_are_seen),
		PAIR(a_vlan_tag_goes_into_the_cqe),
		PAIR(a_vlan_tag_stays_where_stripping_is_off),
		PAIR(checksums_are_filled_in),
		PAIR(a_vlan_tag_is_inserted),
		PAIR(a_large_send_becomes_segments),
		PAIR(a_queue_without_wqes_drops_and_counts),
		PAIR(a_frame_larger_than_the_wqe_is_an_error),
		PAIR(a_frame_above_the_mtu_does_not_leave),
		PAIR(a_wrong_wqe_ends_the_queue),
		PAIR(flushed_wqes_of_several_blocks_complete_once),
		PAIR(data_can_be_inline),
		PAIR(an_unknown_opcode_is_refused),
		PAIR(a_wrong_key_is_a_protection_error),
		PAIR(frames_are_not_computed),
		PAIR(hostile_queues_are_survived),
		PAIR(queues_of_a_dead_adapter_are_flushed),
		PAIR(own_frames_do_not_come_back),
		PAIR(group_frames_reach_other_domains_of_the_same_adapter),
		PAIR(own_frames_come_back_where_they_are_wanted),
		PAIR(nothing_passes_a_link_that_is_down),
		PAIR(software_takes_the_link_down_by_paos),
		PAIR(ports_count_frames_and_bytes),
		PAIR(roce_has_no_such_datagrams),
		cmocka_unit_test_setup_teardown(datagrams_leave_when_their_qp_sends, flat_setup,
						flat_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * lro_test.c - large receive offload: which TCP segments become one frame, the contents of its
 * CQE, and the settings that a TIR needs.
 *
 * Covers: softhca/device/eth/lro.c, softhca/device/eth/tir.c
 */
#include "eth_rig.h"
#include "prm/mlx5/cqe.h"
#include "prm/mlx5/q_counter.h"
#include "prm/mlx5/tir.h"

enum { ACK = 0x10, PSH = 0x08, PERIOD = 32, UNITS = 15, BOTH = PRM_LRO_IPV4 | PRM_LRO_IPV6 };
enum { HEADERS = 54, HEADERS_V6 = 74, PART = 200 };

static struct eth_sq_rig *sender;
static struct eth_rq_rig *rq;
static uint32_t tir;
static uint8_t frame[16384];

static void put_lro(uint8_t *tirc, uint32_t mask, uint32_t units, uint32_t period)
{
	fld_set(tirc, TIRC_PACKET_MERGE_MASK, mask);
	fld_set(tirc, TIRC_LRO_MAX_IP_PAYLOAD_SIZE, units);
	fld_set(tirc, TIRC_LRO_TIMEOUT_PERIOD_USECS, period);
}

static uint32_t lro_tir(uint32_t mask, uint32_t units, uint32_t period, enum prm_status expect)
{
	uint8_t in[32 + PRM_TIRC_SIZE] = { 0 }, *tirc = fld_at(in, CREATE_TIR_IN_CTX);

	fld_set(tirc, TIRC_INLINE_RQN, rq->n);
	put_lro(tirc, mask, units, period);
	return eth_cmd(1, PRM_OP_CREATE_TIR, in, sizeof(in), expect);
}

static void lro_change(uint32_t mask, uint32_t units, uint32_t period, enum prm_status expect)
{
	uint8_t in[32 + PRM_TIRC_SIZE] = { 0 };

	fld_set(in, MODIFY_TIR_IN_TIRN, tir);
	fld_set(fld_at(in, MODIFY_TIR_IN_BITMASK), MODIFY_TIR_BITMASK_PACKET_MERGE, 1);
	put_lro(fld_at(in, MODIFY_TIR_IN_CTX), mask, units, period);
	eth_cmd(1, PRM_OP_MODIFY_TIR, in, sizeof(in), expect);
}

static void open_rq(struct eth_rq_rig *queue)
{
	rq = queue;
	tir = lro_tir(BOTH, UNITS, PERIOD, PRM_STAT_OK);
	eth_catch_all(1, tir);
}

static int open_queues(void **state)
{
	flat_setup_roce(state);
	sender = eth_sq(0, eth_td(0));
	open_rq(eth_rq(1, true));
	return 0;
}

static int open_strides(void **state)
{
	flat_setup_roce(state);
	sender = eth_sq(0, eth_td(0));
	open_rq(eth_linked_rq(1, 4));
	return 0;
}

static int close_queues(void **state)
{
	eth_free_sq(sender);
	eth_free_rq(rq);
	return flat_teardown(state);
}

static struct eth_flow segment(uint32_t number)
{
	return (struct eth_flow){ .protocol = 6,
				  .tcp_flags = ACK,
				  .payload = PART,
				  .sent = number * PART,
				  .ack = 7000 + number,
				  .window = (uint16_t)(500 + number) };
}

static void bytes_post(uint32_t len)
{
	struct eth_wqe wqe = { .opcode = OP_SEND, .inline_data = true, .inline_len = 14 };

	eth_post(sender, &wqe, frame, len);
}

static void segment_post(const struct eth_flow *flow)
{
	bytes_post(eth_build(flow, frame));
}

static uint16_t sum_of(const uint8_t *bytes, uint32_t len)
{
	uint32_t sum = 0;

	for (uint32_t i = 0; i < len; i++)
		sum += i & 1 ? bytes[i] : bytes[i] << 8;
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)sum;
}

static const uint8_t *expect_frame(uint32_t segments, uint32_t len)
{
	const uint8_t *cqe, *got = eth_receive(rq, &cqe);

	assert_non_null(got);
	assert_int_equal(fld_get(cqe, CQE_OPCODE), CQE_OP_RESP_SEND);
	assert_int_equal(fld_get(cqe, CQE_LRO_SEGMENTS), segments);
	assert_int_equal(fld_get(cqe, CQE_BYTE_COUNT), len);
	assert_int_equal(fld_get(cqe, CQE_USER_INDEX), 0x123);
	return cqe;
}

static const uint8_t *buffer_of(const uint8_t *cqe)
{
	return flat.mem + rq->buf + ETH_BUF * fld_get(cqe, CQE_WQE_COUNTER);
}

/* Merges three segments: the frame has the headers of the first one, unchanged, and the CQE has the
 * rest (tag, least TTL, PSH, last acknowledge and window). */
static void merge_three(struct eth_flow change, uint32_t headers)
{
	struct eth_flow flow[3], first, whole;
	const uint8_t *cqe, *got;

	eth_recv(rq, ETH_BUF, 3);
	for (uint32_t i = 0; i < 3; i++) {
		flow[i] = segment(i);
		flow[i].v6 = change.v6;
		flow[i].vlan = change.vlan;
		flow[i].time = change.time;
	}
	flow[1].ttl = 9;
	flow[2].payload = PART / 2 - 1;
	flow[2].tcp_flags |= PSH;
	for (uint32_t i = 0; i < 3; i++)
		segment_post(&flow[i]);
	eth_ring_doorbell(sender);
	cqe = expect_frame(3, headers + 3 * PART - PART / 2 - 1);
	got = buffer_of(cqe);
	assert_int_equal(fld_get(cqe, CQE_LRO_MIN_TTL), 9);
	assert_int_equal(fld_get(cqe, CQE_LRO_PUSH), 1);
	assert_int_equal(fld_get(cqe, CQE_LRO_ACK), 7002);
	assert_int_equal(fld_get(cqe, CQE_LRO_WINDOW), 502);
	assert_int_equal(fld_get(cqe, CQE_HEADERS_OK), CQE_L2_OK | CQE_L3_OK | CQE_L4_OK);
	assert_int_equal(fld_get(cqe, CQE_ETH_L4_TYPE), CQE_ETH_L4_TCP_ACK_AND_DATA);
	assert_int_equal(fld_get(cqe, CQE_VLAN), change.vlan);
	first = flow[0];
	first.vlan = 0; /* 0, as the CQE holds the tag */
	eth_build(&first, frame);
	assert_memory_equal(got, frame, headers + PART);
	whole = first;
	whole.payload = 3 * PART - PART / 2 - 1;
	eth_build(&whole, frame);
	assert_memory_equal(got + headers, frame + headers, whole.payload);
	assert_int_equal(fld_get(cqe, CQE_CHECK_SUM), sum_of(got + headers, whole.payload));
	assert_null(eth_receive(rq, NULL));
}

static void segments_become_one_frame(void **state)
{
	(void)state;
	merge_three((struct eth_flow){ 0 }, HEADERS);
	merge_three((struct eth_flow){ .v6 = true }, HEADERS_V6);
	merge_three((struct eth_flow){ .vlan = 0x6123 }, HEADERS);
	merge_three((struct eth_flow){ .time = 77 }, HEADERS + 12);
}

/* Segments reach software without a timer once nothing is queued behind them, even without PSH: a
 * latency test would otherwise wait for the timer. */
static void segments_do_not_wait(void **state)
{
	struct eth_flow flow = segment(0);
	const uint8_t *cqe;

	(void)state;
	eth_recv(rq, ETH_BUF, 3);
	segment_post(&flow);
	flow = segment(1);
	segment_post(&flow);
	eth_ring_doorbell(sender);
	cqe = expect_frame(2, HEADERS + 2 * PART);
	assert_int_equal(fld_get(cqe, CQE_LRO_PUSH), 0);
	flow = segment(2);
	segment_post(&flow);
	eth_ring_doorbell(sender);
	cqe = expect_frame(0, HEADERS + PART);
	assert_int_equal(fld_get(cqe, CQE_CHECK_SUM),
			 sum_of(buffer_of(cqe) + 14, HEADERS + PART - 14));
	assert_null(eth_receive(rq, NULL));
}

/* LRO joins the segments that the sender's LSO cut, up to the size that the TIR allows. */
static void a_frame_is_no_larger_than_the_tir_says(void **state)
{
	struct eth_flow flow = { .protocol = 6, .payload = 15000, .tcp_flags = ACK | PSH };
	struct eth_wqe wqe = { .opcode = OP_LSO, .cs_flags = CS_L3 | CS_L4, .mss = 1000 };
	uint32_t len = eth_build_unsummed(&flow, frame), sent = 0;
	const uint8_t *cqe;

	(void)state;
	eth_recv(rq, ETH_BUF, 15);
	wqe.inline_len = HEADERS;
	eth_post(sender, &wqe, frame, len);
	eth_ring_doorbell(sender);
	for (unsigned int i = 0; i < 5; i++, sent += 3000) {
		cqe = expect_frame(3, HEADERS + 3000); /* the TIR's limit: 15 * 256 */
		assert_int_equal(fld_get(cqe, CQE_LRO_PUSH), i == 4);
		assert_memory_equal(buffer_of(cqe) + HEADERS, frame + HEADERS + sent, 3000);
	}
	assert_null(eth_receive(rq, NULL));
}

static void expect_apart(struct eth_flow second)
{
	struct eth_flow first = segment(0);
	uint32_t len;

	eth_recv(rq, ETH_BUF, 2);
	segment_post(&first);
	len = eth_build(&second, frame);
	bytes_post(len);
	eth_ring_doorbell(sender);
	expect_frame(0, HEADERS + PART);
	expect_frame(0, len < 60 ? 60 : len);
	assert_null(eth_receive(rq, NULL));
}

static void what_differs_is_a_frame_of_its_own(void **state)
{
	static const uint8_t flags[] = { 0,          ACK | 0x01, ACK | 0x02, ACK | 0x04,
					 ACK | 0x20, ACK | 0x40, ACK | 0x80 };

	(void)state;
	for (size_t i = 0; i < sizeof(flags); i++) {
		struct eth_flow flow = segment(1);

		flow.tcp_flags = flags[i];
		expect_apart(flow);
	}
	expect_apart((struct eth_flow){ .protocol = 17, .payload = PART });
	for (unsigned int i = 0; i < 10; i++) {
		struct eth_flow flow = segment(1);

		flow.v6 = i == 0;
		flow.sport = i == 1;
		flow.dport = i == 2;
		flow.src = i == 3;
		flow.dst = i == 4;
		flow.sent += i == 5 ? 1 : i == 6 ? -1u : 0;
		flow.tos = i == 7;
		flow.time = i == 8;
		flow.payload = i == 9 ? 0 : PART;
		expect_apart(flow);
	}
}

static void a_wrong_checksum_is_told(void **state)
{
	struct eth_flow flow = segment(0);
	const uint8_t *cqe;
	uint32_t len;

	(void)state;
	eth_recv(rq, ETH_BUF, 2);
	segment_post(&flow);
	flow = segment(1);
	len = eth_build(&flow, frame);
	frame[len - 1] ^= 1;
	bytes_post(len);
	eth_ring_doorbell(sender);
	expect_frame(0, HEADERS + PART);
	cqe = expect_frame(0, HEADERS + PART);
	assert_int_equal(fld_get(cqe, CQE_HEADERS_OK), CQE_L2_OK | CQE_L3_OK);
}

static void times_that_differ_are_kept(void **state)
{
	struct eth_flow flow = segment(0);

	(void)state;
	eth_recv(rq, ETH_BUF, 2);
	flow.time = 5;
	segment_post(&flow);
	flow = segment(1);
	flow.time = 6;
	segment_post(&flow);
	eth_ring_doorbell(sender);
	expect_frame(0, HEADERS + 12 + PART);
	expect_frame(0, HEADERS + 12 + PART);
}

static void post_two(bool v6)
{
	for (uint32_t i = 0; i < 2; i++) {
		struct eth_flow flow = segment(i);

		flow.v6 = v6;
		segment_post(&flow);
	}
	eth_ring_doorbell(sender);
}

static void a_tir_can_be_changed(void **state)
{
	(void)state;
	eth_recv(rq, ETH_BUF, 20);
	lro_change(0, 0, 0, PRM_STAT_OK);
	post_two(false);
	expect_frame(0, HEADERS + PART);
	expect_frame(0, HEADERS + PART);
	lro_change(PRM_LRO_IPV6, UNITS, PERIOD, PRM_STAT_OK);
	post_two(false);
	expect_frame(0, HEADERS + PART);
	expect_frame(0, HEADERS + PART);
	post_two(true);
	expect_frame(2, HEADERS_V6 + 2 * PART);
	/* two frames, as 256 bytes hold one segment */
	lro_change(PRM_LRO_IPV4, 1, PERIOD, PRM_STAT_OK);
	post_two(false);
	expect_frame(0, HEADERS + PART);
	expect_frame(0, HEADERS + PART);
}

static void a_tir_says_what_there_is(void **state)
{
	(void)state;
	lro_tir(4, UNITS, PERIOD, PRM_STAT_BAD_PARAM_ERR);
	lro_tir(BOTH, 0, PERIOD, PRM_STAT_BAD_PARAM_ERR);
	lro_tir(BOTH, UNITS, 33, PRM_STAT_BAD_PARAM_ERR);
	lro_change(8, UNITS, PERIOD, PRM_STAT_BAD_PARAM_ERR);
	lro_change(BOTH, UNITS, 7, PRM_STAT_BAD_PARAM_ERR);
}

static void each_segment_without_a_wqe_is_counted(void **state)
{
	uint8_t in[32] = { 0 }, out[PRM_QUERY_Q_COUNTER_OUT_SIZE];

	(void)state;
	post_two(false);
	assert_null(eth_receive(rq, NULL));
	fld_set(in, CMD_IN_OPCODE, PRM_OP_QUERY_Q_COUNTER);
	fld_set(in, QUERY_Q_COUNTER_IN_COUNTER_SET_ID, rq->counter);
	flat_cmd(flat.hca[1], in, sizeof(in), out, sizeof(out));
	assert_int_equal(fld_get(out, QUERY_Q_COUNTER_OUT_OUT_OF_BUFFER), 2);
}

static void stride_wqe_post(uint32_t index, uint32_t next)
{
	uint8_t *wqe = flat.mem + rq->ring + 32 * index;

	fld_set(wqe, FLD(0x0, 15, 0), next);
	fld_set(wqe + 16, FLD(0x0, 31, 0), 1024);
	fld_set(wqe + 16, FLD(0x4, 31, 0), rq->lkey);
	fld_set64(wqe + 16, 8, rq->buf + ETH_BUF * index);
	fld_set(flat.mem + rq->dbr, FLD(0x0, 31, 0), ++rq->pi);
}

/* Five segments need more strides than one WQE has, so the frame ends with the fourth. */
static void a_frame_takes_strides_of_one_wqe(void **state)
{
	const uint8_t *cqe;

	(void)state;
	stride_wqe_post(0, 1);
	stride_wqe_post(1, 2);
	for (uint32_t i = 0; i < 5; i++) {
		struct eth_flow flow = segment(i);

		segment_post(&flow);
	}
	eth_ring_doorbell(sender);
	cqe = flat_poll(rq->cq);
	assert_non_null(cqe);
	assert_int_equal(fld_get(cqe, CQE_LRO_SEGMENTS), 4);
	assert_int_equal(fld_get(cqe, CQE_STRIDES), 14);
	assert_int_equal(fld_get(cqe, CQE_BYTE_COUNT) & 0xffff, HEADERS + 4 * PART);
	cqe = flat_poll(rq->cq);
	assert_non_null(cqe);
	assert_int_equal(fld_get(cqe, CQE_FILLER), 1);
	cqe = flat_poll(rq->cq);
	assert_non_null(cqe);
	assert_int_equal(fld_get(cqe, CQE_WQE_ID), 1);
	assert_int_equal(fld_get(cqe, CQE_LRO_SEGMENTS), 0);
	assert_int_equal(fld_get(cqe, CQE_BYTE_COUNT) & 0xffff, HEADERS + PART);
	assert_null(flat_poll(rq->cq));
}

#define ON(test) cmocka_unit_test_setup_teardown(test, open_queues, close_queues)

int main(void)
{
	const struct CMUnitTest tests[] = {
		ON(segments_become_one_frame),
		ON(segments_do_not_wait),
		ON(a_frame_is_no_larger_than_the_tir_says),
		ON(what_differs_is_a_frame_of_its_own),
		ON(a_wrong_checksum_is_told),
		ON(times_that_differ_are_kept),
		ON(a_tir_can_be_changed),
		ON(a_tir_says_what_there_is),
		ON(each_segment_without_a_wqe_is_counted),
		cmocka_unit_test_setup_teardown(a_frame_takes_strides_of_one_wqe, open_strides,
						close_queues),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

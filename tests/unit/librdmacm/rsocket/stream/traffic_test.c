/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * traffic_test.c - work requests of a stream and the completions that it handles: addresses,
 * immediate data and flags of each, which are signaled, and what announces room to the peer. The
 * test supplies the QP and the CQ.
 *
 * Covers: librdmacm/rsocket/stream/traffic.c, librdmacm/rsocket/stream/ring.h
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "librdmacm/rsocket/stream/traffic.c"

enum {
	RING = 4096,
	SQ = 16,
	RQ = 20,
	SLOTS = 0x1000,
	SLOTS_KEY = 0x55,
	RKEY = 0x66,
	REFUSED = EDOM
};

static struct ibv_context context;
static struct ibv_qp qp = { .context = &context };
static struct ibv_cq cq = { .context = &context };
static struct ibv_mr mr = { .rkey = RKEY };
static struct rdma_cm_id id = { .qp = &qp };
static struct wire_segment slots[WIRE_SLOTS];
static uint8_t rx_bytes[RING];
static struct stream stream;

static struct {
	struct ibv_send_wr wr; /* the last one */
	struct ibv_sge sge;
	uint8_t bytes[32]; /* what it sends inline */
	unsigned int sends, receives, fails, wakes, established;
	struct ibv_wc wc[2 * POLL_BATCH];
	int wc_count, post_error, receive_error, poll_error, error;
} it;

static int post_send_wr(struct ibv_qp *to, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	assert_ptr_equal(to, &qp);
	assert_null(wr->next);
	it.sends++;
	it.wr = *wr;
	memset(&it.sge, 0, sizeof(it.sge));
	if (wr->num_sge) {
		assert_int_equal(wr->num_sge, 1);
		it.sge = *wr->sg_list;
	}
	if (wr->num_sge && !it.sge.lkey) {
		assert_true(it.sge.length <= sizeof(it.bytes));
		memcpy(it.bytes, (void *)(uintptr_t)it.sge.addr, it.sge.length);
	}
	*bad = wr;
	return it.post_error;
}

static int post_recv_wr(struct ibv_qp *to, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	assert_ptr_equal(to, &qp);
	*bad = wr;
	for (; wr; wr = wr->next) {
		assert_int_equal(wr->num_sge, 0);
		assert_true(wr->wr_id == UINT64_MAX);
		it.receives++;
	}
	return it.receive_error;
}

static int poll_cq(struct ibv_cq *of, int room, struct ibv_wc *wc)
{
	const int count = it.wc_count < room ? it.wc_count : room;

	assert_ptr_equal(of, &cq);
	if (it.poll_error)
		return it.poll_error;
	memcpy(wc, it.wc, (size_t)count * sizeof(*wc));
	it.wc_count -= count;
	memmove(it.wc, it.wc + count, (size_t)it.wc_count * sizeof(*wc));
	return count;
}

void rdmacm_stream_fail(struct stream *of, int error)
{
	assert_ptr_equal(of, &stream);
	it.fails++;
	it.error = error;
	stream.state = STREAM_OVER;
}

void rdmacm_stream_established(struct stream *of)
{
	assert_ptr_equal(of, &stream);
	it.established++;
	stream.state = STREAM_CONNECTED;
}

void rdmacm_rs_wake(struct rs_waiters *waiters)
{
	assert_ptr_equal(waiters, &stream.rs.waiters);
	it.wakes++;
}

const char *ibv_wc_status_str(enum ibv_wc_status status)
{
	(void)status;
	return "";
}

static int traffic_begin(void **state)
{
	(void)state;
	memset(&it, 0, sizeof(it));
	memset(&stream, 0, sizeof(stream));
	memset(slots, 0, sizeof(slots));
	context.ops.post_send = post_send_wr;
	context.ops.post_recv = post_recv_wr;
	context.ops.poll_cq = poll_cq;
	stream.state = STREAM_CONNECTED;
	stream.id = &id;
	stream.cq = &cq;
	stream.mr = &mr;
	stream.slots = slots;
	stream.rx_bytes = rx_bytes;
	rx_ring_init(&stream.rx, RING);
	stream.rx.due = 0;
	stream.rx_granted = RQ;
	stream.tx.size = RING;
	stream.tx_limit = RQ;
	stream.rs.options.sq_size = SQ;
	stream.rs.options.rq_size = RQ;
	stream.remote.slots_addr = SLOTS;
	stream.remote.slots_key = SLOTS_KEY;
	stream.remote_slot = 1;
	stream.target = (struct wire_segment){ .addr = 0x5000, .key = 9, .length = 100 };
	return 0;
}

static void announced(uint32_t imm, uint64_t addr, uint32_t size, bool is_control)
{
	assert_int_equal(it.wr.opcode, IBV_WR_RDMA_WRITE_WITH_IMM);
	assert_int_equal(be32toh(it.wr.imm_data), imm);
	assert_true(it.wr.wr.rdma.remote_addr == addr);
	assert_int_equal(it.wr.wr.rdma.rkey, SLOTS_KEY);
	assert_int_equal(it.sge.length, size);
	assert_int_equal(it.wr.num_sge, size != 0);
	assert_int_equal(it.wr.send_flags, IBV_SEND_INLINE | (is_control ? IBV_SEND_SIGNALED : 0));
	assert_int_equal(it.wr.wr_id >> 63, is_control);
}

static void data_goes_behind_the_data_before_it(void **state)
{
	(void)state;
	stream.tx.put = 10;
	assert_int_equal(rdmacm_stream_post_data(&stream, 0xabc, 7, 30, true), 0);
	assert_int_equal(it.wr.opcode, IBV_WR_RDMA_WRITE_WITH_IMM);
	assert_int_equal(be32toh(it.wr.imm_data), 30);
	assert_true(it.wr.wr.rdma.remote_addr == 0x5000);
	assert_int_equal(it.wr.wr.rdma.rkey, 9);
	assert_int_equal(it.wr.send_flags, IBV_SEND_INLINE);
	assert_true(it.sge.addr == 0xabc && it.sge.length == 30 && it.sge.lkey == 7);
	assert_true(it.wr.wr_id == (1ull << 32 | 10));
	assert_int_equal(stream.tx_count, 1);
	assert_int_equal(rdmacm_stream_post_data(&stream, 0xabc, 7, 20, false), 0);
	assert_true(it.wr.wr.rdma.remote_addr == 0x5000 + 30);
	assert_int_equal(it.wr.send_flags, 0);
	assert_int_equal(stream.target.length, 50);
	assert_int_equal(stream.sq_put, 2);
	it.post_error = REFUSED;
	assert_int_equal(rdmacm_stream_post_data(&stream, 0xabc, 7, 1, false), REFUSED);
	assert_true(it.fails == 1 && it.error == REFUSED);
}

static void a_write_counts_against_no_credit(void **state)
{
	const struct wire_segment to = { .addr = 0x9000, .key = 3, .length = 1 };

	(void)state;
	assert_int_equal(rdmacm_stream_post_write(&stream, 0xabc, 7, 5, true, &to), 0);
	assert_int_equal(it.wr.opcode, IBV_WR_RDMA_WRITE);
	assert_int_equal(it.wr.send_flags, IBV_SEND_INLINE);
	assert_true(it.wr.wr.rdma.remote_addr == 0x9000 && it.wr.wr.rdma.rkey == 3);
	assert_true(it.sge.addr == 0xabc && it.sge.length == 5 && it.sge.lkey == 7);
	assert_int_equal(stream.tx_count, 0);
	assert_int_equal(rdmacm_stream_post_write(&stream, 0xabc, 7, 5, false, &to), 0);
	assert_int_equal(it.wr.send_flags, 0);
}

static void a_mapping_lies_behind_the_slots(void **state)
{
	const struct wire_mapping mapping = { .offset = 0x123, .memory = { 0x456, 7, 8 } };

	(void)state;
	assert_int_equal(rdmacm_stream_post_mapping(&stream, 3, &mapping), 0);
	announced(wire_imm(WIRE_MAPPING, 3), SLOTS + 2 * 16 + 3 * 24, sizeof(mapping), false);
	assert_memory_equal(it.bytes, &mapping, sizeof(mapping));
	assert_int_equal(stream.tx_count, 1);
}

/* A quarter of the requests, or of the bytes, asks for a completion, so that space returns early
 * and most requests cost none. */
static void quarters_are_signaled(void **state)
{
	(void)state;
	for (unsigned int i = 1; i <= 8; i++) {
		assert_int_equal(rdmacm_stream_post_data(&stream, 0, 1, 1, false), 0);
		assert_int_equal(it.wr.send_flags, i % 4 ? 0 : IBV_SEND_SIGNALED);
	}
	assert_int_equal(stream.sq_marked, 8);
	stream.tx.put = RING / 4 - 1;
	rdmacm_stream_post_data(&stream, 0, 1, 1, false);
	assert_int_equal(it.wr.send_flags, 0);
	stream.tx.put++;
	rdmacm_stream_post_data(&stream, 0, 1, 1, false);
	assert_int_equal(it.wr.send_flags, IBV_SEND_SIGNALED);
	assert_int_equal(stream.tx.marked, RING / 4);
	assert_int_equal(stream.sq_marked, 10);
}

static void a_send_needs_room_on_both_sides(void **state)
{
	const struct stream able = stream;

	(void)state;
	stream.tx_want = 100;
	assert_true(rdmacm_stream_can_send(&stream));
	stream.tx.put = RING - 100;
	assert_true(rdmacm_stream_can_send(&stream));
	stream.tx.put++;
	assert_false(rdmacm_stream_can_send(&stream));
	stream = able;
	stream.tx_count = RQ;
	assert_false(rdmacm_stream_can_send(&stream));
	stream = able;
	stream.sq_put = SQ - 1;
	assert_true(rdmacm_stream_can_send(&stream));
	stream.sq_put = SQ;
	assert_false(rdmacm_stream_can_send(&stream));
	stream.sq_done = 1;
	assert_true(rdmacm_stream_can_send(&stream));
	stream = able;
	stream.state = STREAM_OVER;
	assert_false(rdmacm_stream_can_send(&stream));
}

static void slots_take_turns(void **state)
{
	const struct wire_segment half = { .addr = 0x7000, .key = 4, .length = 2048 };

	(void)state;
	stream.target.length = 0;
	stream.slot = 1;
	slots[0] = half;
	assert_false(rdmacm_stream_can_send(&stream));
	slots[1] = half;
	slots[1].addr++;
	assert_true(rdmacm_stream_can_send(&stream));
	assert_true(stream.target.addr == 0x7001 && stream.target.key == 4);
	assert_int_equal(stream.target.length, 2048);
	assert_int_equal(slots[1].length, 0);
	assert_int_equal(stream.slot, 0);
	stream.target.length = 0;
	stream.remote.swapped = true;
	assert_true(rdmacm_stream_can_send(&stream));
	assert_true(stream.target.addr == 0x0070000000000000);
	assert_int_equal(stream.target.length, 0x00080000);
	assert_int_equal(stream.slot, 1);
}

static void halves_that_were_read_are_announced(void **state)
{
	struct wire_segment segment;

	(void)state;
	stream.rx.due = 1;
	stream.rx_count = 3;
	assert_true(rx_ring_arrived(&stream.rx, RING / 2));
	rdmacm_stream_received(&stream, RING / 2 - 1);
	assert_int_equal(it.sends, 1); /* sent, as the second half was due from the beginning */
	announced(wire_imm(WIRE_SEGMENT, 3 + RQ), SLOTS + 16, 16, true);
	memcpy(&segment, it.bytes, sizeof(segment));
	assert_true(segment.addr == (uintptr_t)rx_bytes + RING / 2);
	assert_true(segment.key == RKEY && segment.length == RING / 2);
	assert_int_equal(stream.rx_granted, 3 + RQ);
	assert_int_equal(stream.controls, 1);
	rdmacm_stream_received(&stream, 1);
	assert_int_equal(it.sends, 2);
	announced(wire_imm(WIRE_SEGMENT, 3 + RQ), SLOTS, 16, true);
	memcpy(&segment, it.bytes, sizeof(segment));
	assert_true(segment.addr == (uintptr_t)rx_bytes);
	assert_int_equal(stream.remote_slot, 1);
	assert_int_equal(stream.rx.ready, 0);
}

static void credits_are_granted_when_half_are_used(void **state)
{
	(void)state;
	stream.rx_count = RQ / 2 - 1;
	rdmacm_stream_send_controls(&stream);
	assert_int_equal(it.sends, 0);
	stream.rx_count = RQ / 2;
	rdmacm_stream_send_controls(&stream);
	assert_int_equal(it.sends, 1);
	announced(wire_imm(WIRE_SEGMENT, RQ / 2 + RQ), SLOTS, 0, true);
	stream.rx_count = UINT16_MAX; /* counts wrap */
	stream.rx_granted = UINT16_MAX;
	rdmacm_stream_send_controls(&stream);
	announced(wire_imm(WIRE_SEGMENT, RQ - 1), SLOTS, 0, true);
	stream.peer_done = true; /* sends no more, so it need not hear of room */
	stream.rx_count = stream.rx_granted;
	stream.rx.due = 1;
	rdmacm_stream_send_controls(&stream);
	assert_int_equal(it.sends, 2);
}

static void controls_go_while_their_queue_has_room(void **state)
{
	(void)state;
	stream.must_shutdown = stream.must_disconnect = stream.keepalive_due = true;
	stream.controls = CONTROL_SQ - 1;
	rdmacm_stream_send_controls(&stream);
	assert_int_equal(it.sends, 1);
	announced(wire_imm(WIRE_CONTROL, WIRE_SHUTDOWN), SLOTS, 0, true);
	assert_true(!stream.must_shutdown && stream.must_disconnect);
	stream.controls--;
	rdmacm_stream_send_controls(&stream);
	assert_int_equal(it.sends, 2);
	announced(wire_imm(WIRE_CONTROL, WIRE_DISCONNECT), SLOTS, 0, true);
	stream.controls = 0;
	stream.peer_gone = true; /* a peer that is gone answers no keepalive */
	rdmacm_stream_send_controls(&stream);
	assert_int_equal(it.sends, 2);
	stream.peer_gone = false;
	rdmacm_stream_send_controls(&stream);
	assert_int_equal(it.sends, 3);
	assert_int_equal(it.wr.opcode, IBV_WR_RDMA_WRITE);
	assert_int_equal(it.wr.num_sge, 0);
	assert_int_equal(it.wr.send_flags, IBV_SEND_SIGNALED);
	assert_int_equal(it.wr.wr_id >> 63, 1);
	assert_true(!stream.keepalive_due && stream.controls == 1);
	stream.state = STREAM_OVER;
	stream.must_shutdown = true;
	rdmacm_stream_send_controls(&stream);
	assert_int_equal(it.sends, 3);
}

static void completion(struct ibv_wc wc)
{
	it.wc[it.wc_count++] = wc;
}

static void message_comes(enum wire_op op, uint32_t value)
{
	completion((struct ibv_wc){ .opcode = IBV_WC_RECV_RDMA_WITH_IMM,
				    .wc_flags = IBV_WC_WITH_IMM,
				    .imm_data = htobe32(wire_imm(op, value)) });
	assert_true(rdmacm_stream_progress(&stream));
}

static void a_completion_covers_what_was_posted_before(void **state)
{
	(void)state;
	stream.sq_put = stream.sq_done = 0x7fffffff;
	stream.tx.put = 500;
	rdmacm_stream_post_data(&stream, 0, 1, 1, false);
	stream.tx.put = 600;
	stream.must_shutdown = true;
	rdmacm_stream_send_controls(&stream);
	completion((struct ibv_wc){ .wr_id = it.wr.wr_id, .opcode = IBV_WC_RDMA_WRITE });
	assert_true(rdmacm_stream_progress(&stream));
	assert_int_equal(stream.sq_done, 0x80000001);
	assert_int_equal(stream.tx.done, 600);
	assert_int_equal(stream.controls, 0);
	assert_int_equal(it.wakes, 1);
	assert_int_equal(stream.to_post, 0);
}

static void each_message_has_its_meaning(void **state)
{
	(void)state;
	message_comes(WIRE_DATA, 100);
	assert_true(stream.rx.ready == 100 && stream.rx_count == 1 && stream.rs.arrivals == 1);
	message_comes(WIRE_SEGMENT, 77);
	assert_true(stream.tx_limit == 77 && stream.rx_count == 1 && stream.rs.arrivals == 1);
	message_comes(WIRE_MAPPING, 5);
	assert_true(stream.rx_count == 2 && stream.rs.arrivals == 1);
	message_comes(WIRE_CONTROL, WIRE_SHUTDOWN);
	assert_true(stream.peer_done && !stream.peer_gone && stream.rs.arrivals == 2);
	stream.peer_done = false;
	message_comes(WIRE_CONTROL, WIRE_DISCONNECT);
	assert_true(stream.peer_done && stream.peer_gone && stream.rs.arrivals == 3);
	assert_int_equal(stream.to_post, 5);
	assert_int_equal(it.fails, 0);
	message_comes((enum wire_op)1, 0);
	assert_true(it.fails == 1 && it.error == EPROTO);
	assert_int_equal(it.established, 0);
}

static void more_data_than_the_ring_has_is_an_error(void **state)
{
	(void)state;
	message_comes(WIRE_DATA, RING);
	assert_int_equal(it.fails, 0);
	message_comes(WIRE_DATA, 1);
	assert_true(it.fails == 1 && it.error == EPROTO);
	assert_true(stream.rx.ready == RING && stream.rs.arrivals == 1);
}

/* Data may come before rdma_cm says that the connection stands, so the first message establishes
 * the stream. */
static void the_first_message_establishes_the_stream(void **state)
{
	(void)state;
	stream.state = STREAM_ACCEPTED;
	message_comes(WIRE_DATA, 1);
	message_comes(WIRE_DATA, 1);
	assert_int_equal(it.established, 1);
	assert_int_equal(stream.rx.ready, 2);
}

static void a_failed_request_ends_the_stream(void **state)
{
	(void)state;
	completion((struct ibv_wc){ .status = IBV_WC_RETRY_EXC_ERR, .wr_id = 5ull << 32 });
	assert_true(rdmacm_stream_progress(&stream));
	assert_true(it.fails == 1 && it.error == ECONNRESET);
	assert_int_equal(stream.sq_done, 0);
	traffic_begin(state);
	it.poll_error = -1;
	assert_false(rdmacm_stream_progress(&stream));
	assert_true(it.fails == 1 && it.error == EIO && it.wakes == 1);
	stream.cq = NULL;
	assert_false(rdmacm_stream_progress(&stream));
	assert_int_equal(it.fails, 1);
}

static void receives_are_posted_again_in_batches(void **state)
{
	(void)state;
	for (int i = 1; i < REPOST_BATCH; i++)
		message_comes(WIRE_SEGMENT, 0);
	assert_int_equal(it.receives, 0);
	message_comes(WIRE_SEGMENT, 0);
	assert_int_equal(it.receives, REPOST_BATCH);
	assert_int_equal(stream.to_post, 0);
	stream.to_post = REPOST_BATCH;
	it.receive_error = REFUSED;
	message_comes(WIRE_SEGMENT, 0);
	assert_true(it.fails == 1 && it.error == EIO);
}

static void the_queue_is_read_until_it_is_empty(void **state)
{
	(void)state;
	for (int i = 0; i < POLL_BATCH; i++)
		completion((struct ibv_wc){ .opcode = IBV_WC_RECV_RDMA_WITH_IMM,
					    .wc_flags = IBV_WC_WITH_IMM,
					    .imm_data = htobe32(wire_imm(WIRE_DATA, 1)) });
	message_comes(WIRE_DATA, 1);
	assert_int_equal(stream.rx.ready, POLL_BATCH + 1);
	assert_int_equal(it.wc_count, 0);
	assert_int_equal(it.sends, 1); /* sent, as more than half of the credits are used */
	assert_int_equal(it.wakes, 1);
	assert_false(rdmacm_stream_progress(&stream));
	assert_int_equal(it.wakes, 1);
}

static void controls_are_sent_without_completions(void **state)
{
	(void)state;
	stream.rx_count = RQ; /* credits alone wait for a completion */
	assert_false(rdmacm_stream_progress(&stream));
	assert_int_equal(it.sends, 0);
	stream.rx_count = 0;
	stream.must_disconnect = true;
	assert_false(rdmacm_stream_progress(&stream));
	stream.must_shutdown = true;
	assert_false(rdmacm_stream_progress(&stream));
	stream.keepalive_due = true;
	assert_false(rdmacm_stream_progress(&stream));
	assert_int_equal(it.sends, 3);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup(name, traffic_begin)
	const struct CMUnitTest tests[] = {
		CASE(data_goes_behind_the_data_before_it),
		CASE(a_write_counts_against_no_credit),
		CASE(a_mapping_lies_behind_the_slots),
		CASE(quarters_are_signaled),
		CASE(a_send_needs_room_on_both_sides),
		CASE(slots_take_turns),
		CASE(halves_that_were_read_are_announced),
		CASE(credits_are_granted_when_half_are_used),
		CASE(controls_go_while_their_queue_has_room),
		CASE(a_completion_covers_what_was_posted_before),
		CASE(each_message_has_its_meaning),
		CASE(more_data_than_the_ring_has_is_an_error),
		CASE(the_first_message_establishes_the_stream),
		CASE(a_failed_request_ends_the_stream),
		CASE(receives_are_posted_again_in_batches),
		CASE(the_queue_is_read_until_it_is_empty),
		CASE(controls_are_sent_without_completions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

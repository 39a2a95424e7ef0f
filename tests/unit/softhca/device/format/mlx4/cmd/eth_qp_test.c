/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * eth_qp_test.c - raw Ethernet QPs of an mlx4 adapter as the network driver uses them: one ring or
 * two, errors, and RSS.
 *
 * Covers: softhca/device/format/mlx4/cmd/eth_qp.c, softhca/device/format/mlx4/frame.c
 */
#include <errno.h>
#include <string.h>

#include "softhca/device/core.h"
#include "softhca/strict.h"
#include "vfio_mlx4_rig.h"

static void an_ethernet_port_is_set_up(void **state)
{
	static const uint8_t mac[6] = { 0x00, 0x02, 0xc9, 0x00, 0x10, 0x00 };

	(void)state;
	set_up();
	assert_int_equal(command(QUERY_PORT, 0, 1, 0), OK);
	assert_int_equal(guest(OUT)[0] & 3, 2);
	assert_memory_equal(guest(OUT + 0x12), mac, sizeof(mac));
	assert_int_equal(mailbox(SET_PORT, 1, 0), BAD_OP); /* SET_PORT of an InfiniBand port */
	assert_int_equal(mailbox(SET_PORT, 9 << 8 | 1, ETHERNET), BAD_OP);
	assert_int_equal(mailbox(SET_PORT, GENERAL + 1, ETHERNET), BAD_PARAM);
	assert_int_equal(mailbox(SET_PORT, GENERAL - 1, ETHERNET), BAD_PARAM);
	assert_int_equal(mailbox(SET_PORT, GENERAL + 200, ETHERNET), BAD_PARAM);
	put32(in(0), 1);
	put32(in(4), 0xffff);
	assert_int_equal(mailbox(SET_PORT, GENERAL, ETHERNET), BAD_PARAM);
	put32(in(0), 1);
	put32(in(4), 1522);
	assert_int_equal(mailbox(SET_PORT, GENERAL, ETHERNET), OK);
	put32(in(0), 1 << LOG_QPS);
	assert_int_equal(mailbox(SET_PORT, RECEIVER, ETHERNET), BAD_PARAM);
	assert_int_equal(mailbox(SET_PORT, GIDS, ETHERNET), OK);
}

static void fill_frames_qp(void)
{
	fill_qp(QPN, false, 7);
}

/* The device decodes WQEs in buffers of a fixed size, so it refuses rings of larger WQEs. */
static void wrong_queues_of_frames_are_refused(void **state)
{
	static const struct wrong qp[] = {
		{ 0x10, 0x00101900, BAD_PARAM }, /* send WQEs too small, */
		{ 0x10, 0x00101f00, BAD_PARAM }, /* too large, */
		{ 0x10, 0x00107a00, BAD_PARAM }, /* too many, */
		{ 0x10, 0x00001f00, BAD_PARAM }, /* too large, with an empty ring, */
		{ 0x10, 0x00161a00, BAD_PARAM }, /* receive WQEs too large, */
		{ 0x10, 0x00171200, BAD_PARAM }, /* without a send ring, */
		{ 0x10, 0x00781200, BAD_PARAM }, /* too many */
		{ 0x18, QPN + 1, BAD_PARAM },     { 0x84, CQN + 1, BAD_PARAM },
		{ 0xac, RECORDS + 2, BAD_PARAM }, { 0xd4, 6 * 8, BAD_PARAM },
		{ 0xa4, CQN + 1, BAD_PARAM }, /* the receive CQ */
	};

	(void)state;
	set_up();
	make_eq_and_cq();
	REFUSE(RST2INIT, QPN, fill_frames_qp, qp);
}

static void frames_come_back_to_their_sender(void **state)
{
	(void)state;
	set_up();
	make_frame_queues();
	put32(in(0), QPN + 1);
	assert_int_equal(mailbox(SET_PORT, RECEIVER, ETHERNET), OK);
	for (unsigned int i = 0; i < 2; i++) {
		post_receive(RECORDS + 0xc0, RINGS + 0x1000 + 64 + i * 16, DATA + i * 256, i + 1);
		post_frame(RINGS + i * 128, own_mac, 'a' + i);
	}
	doorbell32(UAR * 0x1000 + 0x14, QPN << 8);
	vfio_run();
	assert_memory_equal(guest(DATA), own_mac, 6);
	assert_int_equal(guest(DATA)[99], 'a');
	assert_int_equal(guest(DATA + 256)[99], 'b');
	for (unsigned int i = 0; i < 4; i++)
		assert_int_equal(get32(cqe(i)) & 0xffffff, i % 2 ? QPN : QPN + 1);
	assert_int_equal(command(TO_RST, 0, QPN, 2), OK);
	assert_int_equal(command(QUERY_QP, 0, QPN, 0), BAD_RESOURCE);
}

/* The device sends a frame at once and whole, so RTS2SQD drains the queue immediately. */
static void frames_wait_in_sqd(void **state)
{
	enum { SQ_DRAINED = 3, STATE_SQD = 5 };

	(void)state;
	set_up();
	make_frame_queues();
	assert_int_equal(command(MAP_EQ, 1 << SQ_DRAINED, EQN, 0), OK);
	put32(in(0), QPN + 1);
	assert_int_equal(mailbox(SET_PORT, RECEIVER, ETHERNET), OK);
	post_receive(RECORDS + 0xc0, RINGS + 0x1000 + 64, DATA, 1);
	assert_int_equal(mailbox(SQD2RTS, QPN, 0), BAD_QP_STATE);
	assert_int_equal(mailbox(RTS2SQD, QPN | 1u << 31, 0), OK);
	assert_int_equal(guest(EQ)[1], SQ_DRAINED);
	assert_int_equal(get32(guest(EQ + 4)), QPN);
	assert_int_equal(mailbox(SQD2SQD, QPN, 0), OK);
	assert_int_equal(command(QUERY_QP, 0, QPN, 0), OK);
	assert_int_equal(get32(guest(OUT + 8)) >> 28, STATE_SQD);
	post_frame(RINGS, own_mac, 'a');
	doorbell32(UAR * 0x1000 + 0x14, QPN << 8);
	vfio_run();
	assert_int_equal(guest(DATA)[99], 0);
	assert_int_equal(mailbox(SQD2RTS, QPN, 0), OK);
	vfio_run();
	assert_int_equal(guest(DATA)[99], 'a');
	assert_int_equal(mailbox(RTS2SQD, QPN, 0), OK);
	assert_int_equal(guest(EQ)[32 + 1], 0); /* no event was requested, so the EQ is empty */
	assert_int_equal(command(TO_ERR, 0, QPN, 0), OK);
	assert_int_equal(mailbox(SQD2RTS, QPN, 0), BAD_QP_STATE);
}

/* Brings a QP with both rings to RTS; the ring with larger WQEs comes first. Send WQEs have 64
 * bytes, receive WQEs 2^LOG_RECEIVE. */
static void both_rings_to_rts(unsigned int log_receive, unsigned int log_sends)
{
	static const uint16_t steps[] = { RST2INIT, INIT2RTR, RTR2RTS };

	for (unsigned int i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		fill_frames_qp();
		in(8)[9] = 2 << 3 | (log_receive - 4);
		in(8)[0xa] = log_sends << 3 | 2;
		assert_int_equal(mailbox(steps[i], QPN, 0), OK);
	}
	put32(in(0), QPN);
	assert_int_equal(mailbox(SET_PORT, RECEIVER, ETHERNET), OK);
}

static void one_queue_of_frames_sends_and_receives(void **state)
{
	static const struct {
		unsigned int log_receive, log_sends;
		uint32_t sends, receives;
	} cases[] = {
		{ 4, 3, RINGS, RINGS + 8 * 64 },
		{ 6, 3, RINGS, RINGS + 8 * 64 },
		{ 7, 3, RINGS + 4 * 128, RINGS },
		{ 4, 6, RINGS, RINGS + 0x1000 }, /* each ring in its own page */
	};

	(void)state;
	set_up();
	make_eq_and_cq();
	fill_mpt();
	assert_int_equal(mailbox(SW2HW_MPT, KEY, 0), OK);
	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		own_rings();
		both_rings_to_rts(cases[i].log_receive, cases[i].log_sends);
		assert_int_equal(command(HW2SW_CQ, 0, CQN, 1), BUSY);
		put32(guest(cases[i].receives + 16), 0x100); /* the next buffer is empty */
		post_receive(RECORDS + 0x80, cases[i].receives, DATA + i * 256, 1);
		post_frame(cases[i].sends, own_mac, 'a' + i);
		doorbell32(UAR * 0x1000 + 0x14, QPN << 8);
		vfio_run();
		assert_int_equal(guest(DATA + i * 256)[99], 'a' + i);
		for (unsigned int n = 2 * i; n < 2 * i + 2; n++)
			assert_int_equal(get32(cqe(n)) & 0xffffff, QPN);
		assert_int_equal(command(TO_RST, 0, QPN, 2), OK);
		put32(guest(RECORDS + 0x80), 0);
	}
	assert_int_equal(command(HW2SW_CQ, 0, CQN, 1), OK);
}

/* The device reads a ring only up to its end, as a size beyond it would reach memory behind the
 * copy. */
static void a_frame_ends_where_its_ring_does(void **state)
{
	(void)state;
	set_up();
	make_frame_queues();
	post_frame(RINGS, own_mac, 'a');
	put32(guest(RINGS + 4), 63);
	doorbell32(UAR * 0x1000 + 0x14, QPN << 8);
	vfio_run();
	assert_int_equal(get32(cqe(0)) & 0xffffff, QPN);
	assert_int_equal(cqe(0)[31] & 0x7f, OF_SEND | CQE_ERROR);
	assert_int_equal(cqe(0)[0x1a], BAD_SIZE);
}

/* CLOSE_HCA forgets the QP that receives the port's frames, and the keys that software took back:
 * SYNC_TPT must not give one of those to the new adapter. */
static void closing_forgets_who_takes_frames(void **state)
{
	(void)state;
	set_up();
	make_frame_queues();
	put32(in(0), QPN + 1);
	assert_int_equal(mailbox(SET_PORT, RECEIVER, ETHERNET), OK);
	assert_int_equal(command(HW2SW_MPT, 0, KEY, 0), OK);
	assert_int_equal(command(CLOSE_HCA, 0, 0, 0), OK);
	init_fill();
	assert_int_equal(mailbox(INIT_HCA, 0, 0), OK);
	guest(KEYS + KEY * 64)[0] = 0;
	assert_int_equal(command(SYNC_TPT, 0, 0, 0), OK);
	assert_int_equal(command(HW2SW_MPT, 0, KEY, 1), BAD_RESOURCE);
	make_frame_queues();
	post_receive(RECORDS + 0xc0, RINGS + 0x1000 + 64, DATA, 1);
	post_frame(RINGS, own_mac, 'a');
	doorbell32(UAR * 0x1000 + 0x14, QPN << 8);
	vfio_run();
	assert_int_equal(get32(cqe(0)) & 0xffffff, QPN);
	assert_int_equal(guest(DATA)[99], 0);
}

/* 2ERR works in any state except RESET; only a reset leads back. */
static void a_queue_of_frames_can_be_in_error(void **state)
{
	(void)state;
	set_up();
	make_eq_and_cq();
	assert_int_equal(command(TO_ERR, 0, QPN, 0), BAD_QP_STATE);
	fill_frames_qp();
	assert_int_equal(mailbox(RST2INIT, QPN, 0), OK);
	assert_int_equal(command(TO_ERR, 0, QPN, 0), OK);
	assert_int_equal(command(TO_ERR, 0, QPN, 0), OK);
	assert_int_equal(command(QUERY_QP, 0, QPN, 0), OK);
	assert_int_equal(get32(guest(OUT + 8)) >> 28, 6);
	fill_frames_qp();
	assert_int_equal(mailbox(INIT2RTR, QPN, 0), BAD_QP_STATE);
	assert_int_equal(command(TO_RST, 0, QPN, 2), OK);
}

enum {
	SPREADER = QPN + 4,
	SPREAD_TO = QPN + 2,
	HASH_TCP = 1 << 4,
	HASH_UDP = 1 << 1,
	HASH_IP = 1 << 5
};

/* Fills the context of an RSS QP over two QPs, with the key of the well-known RSS verification
 * suite. */
static void fill_spreader(void)
{
	static const uint8_t key[40] = {
		0x6d, 0x5a, 0x56, 0xda, 0x25, 0x5b, 0x0e, 0xc2, 0x41, 0x67, 0x25, 0x3d, 0x43, 0xa3,
		0x8f, 0xb0, 0xd0, 0xca, 0x2b, 0xcb, 0xae, 0x7b, 0x30, 0xb4, 0x77, 0xcb, 0x2d, 0xa3,
		0x80, 0x30, 0xf2, 0x0c, 0x6a, 0x42, 0xb7, 0x3b, 0xbe, 0xac, 0x01, 0xfa,
	};
	uint8_t *qpc = in(8);

	fill_qp(SPREADER, false, 7);
	put32(qpc, get32(qpc) | 1 << 13);
	qpc[9] = 0;
	qpc[0xa] = 2;
	put32(qpc + 0x3c, 1 << 24 | SPREAD_TO);
	put32(qpc + 0x40, SPREAD_TO + 1);
	put32(qpc + 0x44, 1 << 8 | HASH_TCP | HASH_UDP | HASH_IP);
	memcpy(qpc + 0x48, key, sizeof(key));
	put32(qpc + 0x70, SPREAD_TO);
}

/* Addresses and ports of "Verifying the RSS Hash Calculation", with the hashes over both and over
 * the addresses alone. */
struct flow {
	uint32_t source, destination;
	uint16_t ports[2];
	uint8_t protocol;
	uint32_t hash;
};

static void post_flow(uint32_t wqe, const struct flow *flow)
{
	uint8_t frame[FRAME] = { 0 };

	memcpy(frame, own_mac, 6);
	frame[12] = 0x08;
	put32(frame + 14, 0x45000000 | (FRAME - 14));
	put32(frame + 22, 64u << 24 | (uint32_t)flow->protocol << 16);
	put32(frame + 26, flow->source);
	put32(frame + 30, flow->destination);
	put32(frame + 34, (uint32_t)flow->ports[0] << 16 | flow->ports[1]);
	frame[46] = 5 << 4; /* data offset of the TCP header, in words */
	post_frame_bytes(wqe, frame);
}

static void frames_are_spread_by_a_hash(void **state)
{
	enum { TCP = 6, UDP = 17, ICMP = 1 };
	static const struct flow flows[] = {
		{ 0x420995bb, 0xa18e6450, { 2794, 1766 }, TCP, 0x51ccc178 },
		{ 0x261bcd1e, 0xd18ea306, { 48228, 2217 }, UDP, 0xafc7327f },
		{ 0x420995bb, 0xa18e6450, { 2794, 1766 }, ICMP, 0x323e8fc2 },
	};
	static const struct wrong wrong[] = {
		{ 8 + 0x44, HASH_IP, BAD_PARAM },         /* the XOR hash */
		{ 8 + 0x44, 1 << 8 | 2 << 6, BAD_PARAM }, /* hashes of inner headers */
		{ 8 + 0x3c, 20u << 24 | SPREAD_TO, BAD_PARAM },
	};

	(void)state;
	set_up();
	make_queues_and_key();
	frames_to_rts(QPN, true);
	frames_to_rts(SPREAD_TO, false);
	frames_to_rts(SPREAD_TO + 1, false);
	REFUSE(RST2INIT, SPREADER, fill_spreader, wrong);
	put32(in(0), SPREADER);
	assert_int_equal(mailbox(SET_PORT, RECEIVER, ETHERNET), OK);
	for (unsigned int i = 0; i < 4; i++)
		post_receive(RECORDS + 0xc0, RINGS + 0x1000 + 64 + i * 16, DATA + i * 256, i + 1);
	for (unsigned int i = 0; i < 3; i++) {
		post_flow(RINGS + i * 128, &flows[i]);
		doorbell32(UAR * 0x1000 + 0x14, QPN << 8);
		vfio_run();
		assert_int_equal(get32(cqe(2 * i)) & 0xffffff, SPREAD_TO + (flows[i].hash & 1));
		assert_int_equal(get32(cqe(2 * i) + 4), flows[i].hash);
	}
	post_frame(RINGS + 3 * 128, own_mac, 'a'); /* a frame without a hash */
	doorbell32(UAR * 0x1000 + 0x14, QPN << 8);
	vfio_run();
	assert_int_equal(get32(cqe(6)) & 0xffffff, SPREAD_TO + 1);
}

/* Loopback goes by the address in the control segment, not by the frame's: a strict adapter reports
 * if the two differ, but accepts zeroes, which mean "no loopback". Without "wqe.mac" the newest
 * report is an earlier one: the ring is shorter than the headroom that prefetch needs. */
static void a_frame_to_itself_says_so_twice(void **state)
{
	static const struct {
		const char *frame, *beside;
		bool told;
	} cases[] = {
		{ own_mac, own_mac, false },
		{ own_mac, "\x00\x02\xc9\x00\x10\x01", true },
		{ own_mac, "\0\0\0\0\0\0", false },
		{ "\x00\x02\xc9\x00\x20\x00", own_mac, false },
	};
	struct strict *strict;

	(void)state;
	assert_int_equal(strict_open(NULL, "unit test", &strict), 0);
	set_up();
	make_frame_queues();
	rig.device.hca->config.strict = strict;
	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		post_frame(RINGS + i * 128, cases[i].frame, 'a');
		memcpy(guest(RINGS + i * 128 + 8), cases[i].beside, 2);
		memcpy(guest(RINGS + i * 128 + 12), cases[i].beside + 2, 4);
		doorbell32(UAR * 0x1000 + 0x14, QPN << 8);
		vfio_run();
		assert_memory_equal(strict_newest(strict), cases[i].told ? "wqe.mac" : "wqe.hea",
				    7);
	}
	rig.device.hca->config.strict = NULL;
	strict_close(strict);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST_ROCE(an_ethernet_port_is_set_up),
		TEST_ROCE(wrong_queues_of_frames_are_refused),
		TEST_ROCE(frames_come_back_to_their_sender),
		TEST_ROCE(frames_wait_in_sqd),
		TEST_ROCE(one_queue_of_frames_sends_and_receives),
		TEST_ROCE(a_frame_ends_where_its_ring_does),
		TEST_ROCE(closing_forgets_who_takes_frames),
		TEST_ROCE(a_queue_of_frames_can_be_in_error),
		TEST_ROCE(frames_are_spread_by_a_hash),
		TEST_ROCE(a_frame_to_itself_says_so_twice),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

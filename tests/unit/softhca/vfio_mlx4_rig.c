/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * vfio_mlx4_rig.c - see vfio_mlx4_rig.h.
 */
#include <endian.h>
#include <linux/vfio.h>
#include <string.h>

#include "vfio_mlx4_rig.h"

const char own_mac[7] = "\x00\x02\xc9\x00\x10\x00";

void put32(uint8_t *at, uint32_t value)
{
	uint32_t be = htobe32(value);

	memcpy(at, &be, sizeof(be));
}

void put64(uint8_t *at, uint64_t value)
{
	put32(at, value >> 32);
	put32(at + 4, (uint32_t)value);
}

uint32_t get32(const uint8_t *at)
{
	uint32_t be;

	memcpy(&be, at, sizeof(be));
	return be32toh(be);
}

void command_start(uint16_t opcode, uint64_t in, uint32_t modifier, uint8_t op, uint32_t flags)
{
	bar_put(HCR, in >> 32);
	bar_put(HCR + 4, (uint32_t)in);
	bar_put(HCR + 8, modifier);
	bar_put(HCR + 0xc, 0);
	bar_put(HCR + 0x10, OUT);
	bar_put(HCR + 0x14, TOKEN << 16);
	bar_put(STATUS, GO | flags | (uint32_t)op << 12 | opcode);
}

unsigned int command(uint16_t opcode, uint64_t in, uint32_t modifier, uint8_t op)
{
	command_start(opcode, in, modifier, op, 0);
	assert_true(bar_get(STATUS) & GO);
	vfio_run();
	assert_false(bar_get(STATUS) & GO);
	return bar_get(STATUS) >> 24;
}

unsigned int mailbox(uint16_t opcode, uint32_t modifier, uint8_t op)
{
	unsigned int status = command(opcode, IN, modifier, op);

	memset(guest(IN), 0, 4096);
	return status;
}

uint8_t *in(uint32_t offset)
{
	return guest(IN + offset);
}

unsigned int map(uint16_t opcode, uint64_t virt, uint64_t addr, unsigned int log_pages)
{
	put64(in(0), virt);
	put64(in(8), addr | log_pages);
	return mailbox(opcode, 1, 0);
}

void init_fill(void)
{
	in(0)[0] = 2;          /* INIT_HCA version */
	in(0x37)[0] = LOG_QPS; /* log sizes: QPs, SRQs, CQs, EQs */
	in(0x4f)[0] = in(0x57)[0] = LOG_QPS;
	in(0x87)[0] = 5;
	in(0xd3)[0] = 10; /* log size: multicast groups */
	in(0xd7)[0] = 5;
	in(0xdb)[0] = 6;
	put64(in(0xf0), ICM_KEYS);
	in(0xfb)[0] = 6;
	put64(in(0x100), ICM_MTT);
}

void run_firmware(void)
{
	assert_int_equal(map(MAP_FA, 0, FIRMWARE, 1), OK);
	assert_int_equal(command(RUN_FW, 0, 0, 0), OK);
}

void give_memory(void)
{
	assert_int_equal(command(SET_ICM_SIZE, ICM_SIZE, 0, 0), OK);
	assert_int_equal(bar_get(HCR + 0x10), 1); /* auxiliary pages */
	assert_int_equal(map(MAP_ICM_AUX, 0, AUX, 0), OK);
	assert_int_equal(map(MAP_ICM, ICM_MTT, MTTS, 0), OK);
	assert_int_equal(map(MAP_ICM, ICM_KEYS, KEYS, 0), OK);
}

void write_translations(void)
{
	static const uint32_t pages[] = { EQ, CQ, RINGS, RINGS + 0x1000, SRQ, DATA };

	for (unsigned int i = 0; i < sizeof(pages) / sizeof(pages[0]); i++)
		put64(guest(MTTS + i * 8), pages[i] | 1);
}

void set_up(void)
{
	run_firmware();
	give_memory();
	init_fill();
	assert_int_equal(mailbox(INIT_HCA, 0, 0), OK);
	write_translations();
}

void fill_eq(void)
{
	put32(in(0), 9 << 8); /* armed */
	in(0xc)[0] = LOG_EQ;
	in(0x17)[0] = VECTOR;
}

void fill_cq(void)
{
	put32(in(0xc), LOG_CQ << 24 | UAR);
	in(0x17)[0] = EQN;
	put32(in(0x1c), 1 * 8);
	put64(in(0x38), RECORDS);
}

void fill_mpt(void)
{
	put32(in(0), 0xfu << 28 | 1 << 17 | 0x3f << 10 | 1 << 8);
	put32(in(8), KEY);
	put32(in(0xc), PDN);
	put64(in(0x10), DATA);
	put64(in(0x18), 0x1000);
	put64(in(0x2c), 5 * 8);
	put32(in(0x38), 12);
}

void fill_srq(void)
{
	put32(in(0), 3 << 24 | SRQN);
	in(4)[0] = 1;
	put32(in(0x14), 4 * 8);
	put32(in(0x18), PDN);
	put64(in(0x28), RECORDS + 0x40);
}

void fill_qp(uint32_t qpn, bool second, uint8_t service)
{
	uint8_t *qpc = in(8);

	put32(qpc, 1u << 28 | (uint32_t)service << 16 | 3 << 11);
	put32(qpc + 4, PDN);
	qpc[9] = 2 << 3;
	qpc[0xa] = 3 << 3 | 2;
	put32(qpc + 0xc, UAR);
	put32(qpc + 0x10, qpn);
	put32(qpc + 0x7c, CQN);
	put32(qpc + 0x90, 1 << 15 | 1 << 14 | 1 << 13); /* remote read, write, atomic */
	put32(qpc + 0x98, service == 6);                /* XRC domain */
	put32(qpc + 0x9c, CQN);
	put64(qpc + 0xa0, RECORDS + 0x80 + second * 0x40);
	put32(qpc + 0xcc, (2 + second) * 8);
}

void make_eq_and_cq(void)
{
	fill_eq();
	assert_int_equal(mailbox(SW2HW_EQ, EQN, 0), OK);
	fill_cq();
	assert_int_equal(mailbox(SW2HW_CQ, CQN, 0), OK);
}

void own_rings(void)
{
	for (unsigned int at = 0; at < 0x2000; at += 64)
		put32(guest(RINGS + at), 0xffffffff);
}

void to_rts(uint32_t qpn, bool second, uint32_t peer, uint8_t service)
{
	uint8_t *qpc = in(8);

	fill_qp(qpn, second, service);
	assert_int_equal(mailbox(RST2INIT, qpn, 0), OK);
	fill_qp(qpn, second, service);
	qpc[8] = 5 << 5 | 12; /* MTU */
	put32(qpc + 0x14, peer);
	qpc[0x18 + 7] = 1; /* LID */
	put32(qpc + 0x94, 0x123456);
	assert_int_equal(mailbox(INIT2RTR, qpn, 0), OK);
	fill_qp(qpn, second, service);
	put32(qpc + 0x70, 7 << 16 | 7 << 13);
	put32(qpc + 0x78, 0x123456);
	assert_int_equal(mailbox(RTR2RTS, qpn, 0), OK);
}

void connect_qps(void)
{
	to_rts(QPN, false, QPN + 1, 0);
	to_rts(QPN + 1, true, QPN, 0);
}

void make_queues_and_key(void)
{
	own_rings();
	make_eq_and_cq();
	fill_mpt();
	assert_int_equal(mailbox(SW2HW_MPT, KEY, 0), OK);
}

void doorbell(uint32_t offset, const void *bytes, uint32_t len)
{
	uint8_t copy[8];

	memcpy(copy, bytes, len);
	access_region(VFU_REGION_WRITE, VFIO_PCI_BAR2_REGION_INDEX, offset, copy, len);
}

void doorbell32(uint32_t offset, uint32_t value)
{
	uint32_t be = htobe32(value);

	doorbell(offset, &be, sizeof(be));
}

const uint8_t *cqe(unsigned int index)
{
	return guest(CQ + index * 32);
}

void refuse(uint16_t opcode, uint32_t number, void (*fill)(void), const struct wrong *wrong,
	    unsigned int count)
{
	for (unsigned int i = 0; i < count; i++) {
		fill();
		put32(in(wrong[i].at), wrong[i].value);
		if (mailbox(opcode, number, 0) != wrong[i].status)
			fail_msg("word 0x%x as 0x%x", wrong[i].at, wrong[i].value);
	}
	fill();
	assert_int_equal(mailbox(opcode, number, 0), OK);
	fill();
	assert_int_not_equal(mailbox(opcode, number, 0), OK); /* the number is in use */
}

void post_receive(uint32_t record, uint32_t ring, uint32_t addr, uint16_t count)
{
	put32(guest(ring), 256);
	put32(guest(ring + 4), KEY << 8);
	put64(guest(ring + 8), addr);
	put32(guest(record), count);
}

void post_send(uint32_t wqe, uint32_t srqn)
{
	put32(guest(wqe + 4), 2);
	put32(guest(wqe + 8), srqn << 8 | 3 << 2);
	put32(guest(wqe + 16), 4);
	put32(guest(wqe + 20), KEY << 8);
	put64(guest(wqe + 24), DATA);
	put32(guest(wqe), 0xa);
}

void special_to_rts(uint32_t qpn, bool second, unsigned int log_slot)
{
	uint8_t *qpc = in(8);

	for (unsigned int i = 0; i < 3; i++) {
		fill_qp(qpn, second, 7);
		qpc[0xa] = 3 << 3 | (log_slot - 4);
		qpc[8] = 5 << 5 | 11;
		put32(qpc + 0xa8, 0x80010000);
		put32(in(0), i ? 0 : 1 << 5);
		assert_int_equal(mailbox((uint16_t)(RST2INIT + i), qpn, 0), OK);
	}
}

void frames_to_rts(uint32_t qpn, bool sends)
{
	static const uint16_t steps[] = { RST2INIT, INIT2RTR, RTR2RTS };

	for (unsigned int i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		fill_qp(qpn, !sends, 7);
		in(8)[sends ? 9 : 0xa] = sends ? 0 : 2; /* leaves the other ring empty */
		assert_int_equal(mailbox(steps[i], qpn, 0), OK);
	}
}

void post_frame_bytes(uint32_t wqe, const uint8_t *frame)
{
	enum { FIRST = 64 - 16 - 4 };

	memcpy(guest(wqe + 20), frame, FIRST);
	put32(guest(wqe + 16), 1u << 31 | FIRST);
	put32(guest(wqe + 64), 1u << 31 | (FRAME - FIRST));
	memcpy(guest(wqe + 68), frame + FIRST, FRAME - FIRST);
	put32(guest(wqe + 4), 8);
	put32(guest(wqe + 8), 3 << 2 | 1 << 1);
	put32(guest(wqe), 0xa);
}

void post_frame(uint32_t wqe, const char *mac, uint8_t what)
{
	uint8_t frame[FRAME];

	memset(frame, what, sizeof(frame));
	memcpy(frame, mac, 6);
	post_frame_bytes(wqe, frame);
}

void make_frame_queues(void)
{
	make_queues_and_key();
	frames_to_rts(QPN, true);
	frames_to_rts(QPN + 1, false);
}

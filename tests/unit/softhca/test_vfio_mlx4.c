/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * test_vfio_mlx4.c - the PCI device of an mlx4 adapter, as a driver sets it up and uses it: its
 * registers, commands through the register of commands, memory for tables, queues, and every
 * context that it has to refuse. Layouts are written here once more, as offsets.
 */
#include <endian.h>
#include <errno.h>
#include <linux/pci_regs.h>
#include <linux/vfio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "softhca/device/core.h"
#include "vfio_rig.h"

enum {
	HCR = 0x80680,
	STATUS = HCR + 0x18,
	OWNER = 0x8069c,
	RESET = 0xf0010,
	SEMAPHORE = 0xf03fc,
	ERRORS = 0x80800,
	GO = 1 << 23,
	BY_EVENT = 1 << 22,
	TOKEN = 0x5a5a,
	/* Memory of the guest */
	IN = GUEST_BASE, /* mailboxes */
	OUT = GUEST_BASE + 0x1000,
	FIRMWARE = GUEST_BASE + 0x2000, /* 2 pages */
	AUX = GUEST_BASE + 0x4000,      /* a page */
	MTTS = GUEST_BASE + 0x5000,     /* the table of translations, a page */
	KEYS = GUEST_BASE + 0x6000,     /* the table of keys, a page */
	EQ = GUEST_BASE + 0x7000,       /* rings, a page each */
	CQ = GUEST_BASE + 0x8000,
	RINGS = GUEST_BASE + 0x9000, /* of two QPs */
	SRQ = GUEST_BASE + 0xb000,
	RECORDS = GUEST_BASE + 0xc000,
	DATA = GUEST_BASE + 0xd000,
	/* In the address space of tables */
	ICM_SIZE = 0x100000,
	ICM_MTT = 0x10000,
	ICM_KEYS = 0x20000,
	/* Numbers that the driver chooses */
	EQN = 4,
	VECTOR = 3,
	CQN = 0x41,
	QPN = 0x48,
	SRQN = 0x45,
	PDN = 7,
	UAR = 9,
	KEY = 0x21,
	WINDOW = 0x22,
	SPECIAL = 0x80,
	XRC_TARGET = 1 << 23, /* of a QP's number */
	LOG_QPS = 10,
};

enum {
	OK = 0,
	BAD_OP = 2,
	BAD_PARAM = 3,
	BAD_SYS_STATE = 4,
	BAD_RESOURCE = 5,
	REG_BOUND = 0x21,
	BUSY = 6,
	BAD_RES_STATE = 9,
	BAD_INDEX = 0xa,
	ICM_ERROR = 0xc,
	BAD_QP_STATE = 0x10,
	BAD_PKT = 0x30,
};

enum {
	QUERY_DEV_CAP = 3,
	QUERY_FW = 4,
	INIT_HCA = 7,
	CLOSE_HCA = 8,
	SET_PORT = 0xc,
	SW2HW_MPT = 0xd,
	HW2SW_MPT = 0xf,
	MAP_EQ = 0x12,
	SW2HW_EQ = 0x13,
	HW2SW_EQ = 0x14,
	SW2HW_CQ = 0x16,
	HW2SW_CQ = 0x17,
	RST2INIT = 0x19,
	INIT2RTR = 0x1a,
	RTR2RTS = 0x1b,
	TO_ERR = 0x1e,
	TO_RST = 0x21,
	QUERY_QP = 0x22,
	CONF_SPECIAL_QP = 0x23,
	MAD_IFC = 0x24,
	READ_MCG = 0x25,
	WRITE_MCG = 0x26,
	MGID_HASH = 0x27,
	SYNC_TPT = 0x2f,
	NOP = 0x31,
	CONFIG_DEV = 0x3a,
	FLOW_ATTACH = 0x65,
	FLOW_DETACH = 0x66,
	SW2HW_SRQ = 0x35,
	QUERY_PORT = 0x43,
	HW2SW_SRQ = 0x36,
	RUN_FW = 0xff6,
	UNMAP_ICM = 0xff9,
	MAP_ICM = 0xffa,
	MAP_ICM_AUX = 0xffc,
	SET_ICM_SIZE = 0xffd,
	UNMAP_FA = 0xffe,
	MAP_FA = 0xfff,
};

/* ---- bytes ---- */

static void put32(uint8_t *at, uint32_t value)
{
	uint32_t be = htobe32(value);

	memcpy(at, &be, sizeof(be));
}

static void put64(uint8_t *at, uint64_t value)
{
	put32(at, value >> 32);
	put32(at + 4, (uint32_t)value);
}

static uint32_t get32(const uint8_t *at)
{
	uint32_t be;

	memcpy(&be, at, sizeof(be));
	return be32toh(be);
}

/* ---- commands ---- */

static void command_start(uint16_t opcode, uint64_t in, uint32_t modifier, uint8_t op,
			  uint32_t flags)
{
	bar_put(HCR, in >> 32);
	bar_put(HCR + 4, (uint32_t)in);
	bar_put(HCR + 8, modifier);
	bar_put(HCR + 0xc, 0);
	bar_put(HCR + 0x10, OUT);
	bar_put(HCR + 0x14, TOKEN << 16);
	bar_put(STATUS, GO | flags | (uint32_t)op << 12 | opcode);
}

/* A command with the parameter IN; the status */
static unsigned int command(uint16_t opcode, uint64_t in, uint32_t modifier, uint8_t op)
{
	command_start(opcode, in, modifier, op, 0);
	assert_true(bar_get(STATUS) & GO);
	vfio_run();
	assert_false(bar_get(STATUS) & GO);
	return bar_get(STATUS) >> 24;
}

/* A command with the mailbox at IN, which is empty again afterwards */
static unsigned int mailbox(uint16_t opcode, uint32_t modifier, uint8_t op)
{
	unsigned int status = command(opcode, IN, modifier, op);

	memset(guest(IN), 0, 4096);
	return status;
}

static uint8_t *in(uint32_t offset)
{
	return guest(IN + offset);
}

/* One entry for MAP_FA, MAP_ICM_AUX or MAP_ICM */
static unsigned int map(uint16_t opcode, uint64_t virt, uint64_t addr, unsigned int log_pages)
{
	put64(in(0), virt);
	put64(in(8), addr | log_pages);
	return mailbox(opcode, 1, 0);
}

/* ---- a driver's way to an initialized adapter ---- */

static void init_fill(void)
{
	in(0)[0] = 2;          /* version */
	in(0x37)[0] = LOG_QPS; /* QPs, SRQs, CQs, EQs */
	in(0x4f)[0] = in(0x57)[0] = LOG_QPS;
	in(0x87)[0] = 5;
	in(0xd3)[0] = 10; /* multicast groups */
	in(0xd7)[0] = 5;
	in(0xdb)[0] = 6;
	put64(in(0xf0), ICM_KEYS);
	in(0xfb)[0] = 6;
	put64(in(0x100), ICM_MTT);
}

static void run_firmware(void)
{
	assert_int_equal(map(MAP_FA, 0, FIRMWARE, 1), OK);
	assert_int_equal(command(RUN_FW, 0, 0, 0), OK);
}

static void give_memory(void)
{
	assert_int_equal(command(SET_ICM_SIZE, ICM_SIZE, 0, 0), OK);
	assert_int_equal(bar_get(HCR + 0x10), 1); /* auxiliary pages */
	assert_int_equal(map(MAP_ICM_AUX, 0, AUX, 0), OK);
	assert_int_equal(map(MAP_ICM, ICM_MTT, MTTS, 0), OK);
	assert_int_equal(map(MAP_ICM, ICM_KEYS, KEYS, 0), OK);
}

/* Translations by index: pages of EQ, CQ, rings, SRQ, data */
static void write_translations(void)
{
	static const uint32_t pages[] = { EQ, CQ, RINGS, RINGS + 0x1000, SRQ, DATA };

	for (unsigned int i = 0; i < sizeof(pages) / sizeof(pages[0]); i++)
		put64(guest(MTTS + i * 8), pages[i] | 1);
}

static void set_up(void)
{
	run_firmware();
	give_memory();
	init_fill();
	assert_int_equal(mailbox(INIT_HCA, 0, 0), OK);
	write_translations();
}

/* ---- objects ---- */

enum { LOG_EQ = 4, LOG_CQ = 4 };

static void fill_eq(void)
{
	put32(in(0), 9 << 8); /* armed */
	in(0xc)[0] = LOG_EQ;
	in(0x17)[0] = VECTOR;
}

static void fill_cq(void)
{
	put32(in(0xc), LOG_CQ << 24 | UAR);
	in(0x17)[0] = EQN;
	put32(in(0x1c), 1 * 8);
	put64(in(0x38), RECORDS);
}

static void fill_mpt(void)
{
	put32(in(0), 0xfu << 28 | 1 << 17 | 0x3f << 10 | 1 << 8);
	put32(in(8), KEY);
	put32(in(0xc), PDN);
	put64(in(0x10), DATA);
	put64(in(0x18), 0x1000);
	put64(in(0x2c), 5 * 8);
	put32(in(0x38), 12);
}

static void fill_srq(void)
{
	put32(in(0), 3 << 24 | SRQN);
	in(4)[0] = 1;
	put32(in(0x14), 4 * 8);
	put32(in(0x18), PDN);
	put64(in(0x28), RECORDS + 0x40);
}

/* A QP of the second page of rings, if SECOND: 4 receives of 16 bytes, and 8 sends of 64. */
static void fill_qp(uint32_t qpn, bool second, uint8_t service)
{
	uint8_t *qpc = in(8);

	put32(qpc, 1u << 28 | (uint32_t)service << 16 | 3 << 11);
	put32(qpc + 4, PDN);
	qpc[9] = 2 << 3;
	qpc[0xa] = 3 << 3 | 2;
	put32(qpc + 0xc, UAR);
	put32(qpc + 0x10, qpn);
	put32(qpc + 0x7c, CQN);
	put32(qpc + 0x90, 1 << 15 | 1 << 14 | 1 << 13); /* rights */
	put32(qpc + 0x98, service == 6);                /* a domain of XRC */
	put32(qpc + 0x9c, CQN);
	put64(qpc + 0xa0, RECORDS + 0x80 + second * 0x40);
	put32(qpc + 0xcc, (2 + second) * 8);
}

static void make_eq_and_cq(void)
{
	fill_eq();
	assert_int_equal(mailbox(SW2HW_EQ, EQN, 0), OK);
	fill_cq();
	assert_int_equal(mailbox(SW2HW_CQ, CQN, 0), OK);
}

static void own_rings(void)
{
	for (unsigned int at = 0; at < 0x2000; at += 64)
		put32(guest(RINGS + at), 0xffffffff);
}

static void to_rts(uint32_t qpn, bool second, uint32_t peer, uint8_t service)
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

static void doorbell(uint32_t offset, const void *bytes, uint32_t len)
{
	uint8_t copy[8];

	memcpy(copy, bytes, len);
	access_region(VFU_REGION_WRITE, VFIO_PCI_BAR2_REGION_INDEX, offset, copy, len);
}

static void doorbell32(uint32_t offset, uint32_t value)
{
	uint32_t be = htobe32(value);

	doorbell(offset, &be, sizeof(be));
}

static const uint8_t *cqe(unsigned int index)
{
	return guest(CQ + index * 32);
}

/* ---- registers ---- */

static uint32_t find_cap(uint8_t id)
{
	uint32_t at = config_get(PCI_CAPABILITY_LIST, 1);
	unsigned int steps = 0;

	while (at && config_get(at, 1) != id) {
		assert_in_range(++steps, 0, 48);
		at = config_get(at + 1, 1);
	}
	return at;
}

static uint64_t region_bytes(uint32_t index)
{
	struct vfu_region_info info = { .argsz = sizeof(info), .index = index };

	assert_int_equal(vfio_send(VFU_DEVICE_GET_REGION_INFO, &info, sizeof(info), -1), 0);
	memcpy(&info, rig.reply, sizeof(info));
	return info.size;
}

static void it_is_a_connectx_3(void **state)
{
	uint32_t msix = find_cap(PCI_CAP_ID_MSIX);

	(void)state;
	assert_int_equal(config_get(PCI_VENDOR_ID, 4), 0x100315b3);
	assert_int_equal(config_get(PCI_BASE_ADDRESS_0, 4), 0x4);
	assert_int_equal(config_get(PCI_BASE_ADDRESS_2, 4), 0xc);
	assert_int_equal(region_bytes(0), 1 << 20);
	assert_int_equal(region_bytes(1), 0);
	assert_int_equal(region_bytes(2), 16 << 20);
	assert_int_not_equal(msix, 0);
	assert_int_equal(config_get(msix + 4, 4), 0x7c000);
	assert_int_equal(find_cap(PCI_CAP_ID_VNDR), 0);
}

static void one_driver_has_it(void **state)
{
	(void)state;
	assert_int_equal(bar_get(OWNER), 0);
	assert_int_not_equal(bar_get(OWNER), 0);
	bar_put(OWNER, 0);
	assert_int_equal(bar_get(OWNER), 0);
	assert_int_equal(bar_get(SEMAPHORE), 0);
	assert_int_not_equal(bar_get(SEMAPHORE), 0);
}

static void a_register_resets_it(void **state)
{
	(void)state;
	assert_int_equal(bar_get(OWNER), 0);
	assert_int_equal(bar_get(SEMAPHORE), 0);
	run_firmware();
	bar_put(RESET, 2);
	assert_int_equal(command(QUERY_DEV_CAP, 0, 0, 0), OK);
	bar_put(RESET, 1);
	assert_int_equal(bar_get(STATUS), 0);
	assert_int_equal(bar_get(SEMAPHORE), 0);
	assert_int_not_equal(bar_get(OWNER), 0); /* its driver still has it */
	assert_int_equal(command(QUERY_DEV_CAP, 0, 0, 0), BAD_SYS_STATE);
	assert_int_equal(command(QUERY_FW, 0, 0, 0), OK);
}

static void death_is_in_the_error_buffer(void **state)
{
	(void)state;
	set_up();
	assert_int_equal(bar_get(ERRORS), 0);
	hca_kill(rig.device.hca);
	assert_int_not_equal(bar_get(ERRORS), 0);
	assert_int_equal(command(NOP, 0, 0, 0), 1);
	assert_int_equal(command(CLOSE_HCA, 0, 0, 0), OK);
	bar_put(RESET, 1);
	assert_int_equal(bar_get(ERRORS), 0);
}

static void a_lost_command_stays(void **state)
{
	(void)state;
	fault_add(rig.fault, "cmd-timeout:1", 0);
	command_start(QUERY_FW, 0, 0, 0, 0);
	vfio_run();
	assert_true(bar_get(STATUS) & GO);
}

/* ---- commands ---- */

static void commands_wait_for_their_turn(void **state)
{
	(void)state;
	assert_int_equal(command(QUERY_FW, 0, 0, 0), OK);
	assert_int_equal(get32(guest(OUT)), 2 << 16 | 2); /* pages, major */
	assert_int_equal(get32(guest(OUT + 8)) & 0xffff, 3);
	assert_int_equal(command(RUN_FW, 0, 0, 0), BAD_SYS_STATE);
	assert_int_equal(command(NOP, 0, 0, 0), BAD_SYS_STATE);
	assert_int_equal(map(MAP_FA, 0, FIRMWARE, 0), OK);
	assert_int_equal(command(RUN_FW, 0, 0, 0), BAD_SYS_STATE); /* a page is too little */
	assert_int_equal(map(MAP_FA, 0, FIRMWARE + 0x1000, 0), OK);
	assert_int_equal(command(RUN_FW, 0, 0, 0), OK);
	assert_int_equal(command(RUN_FW, 0, 0, 0), BAD_SYS_STATE);
	assert_int_equal(command(NOP, 0, 0, 0), OK);
	assert_int_equal(mailbox(SW2HW_EQ, EQN, 0), BAD_SYS_STATE);
	assert_int_equal(command(UNMAP_FA, 0, 0, 0), OK);
	assert_int_equal(command(NOP, 0, 0, 0), BAD_SYS_STATE);
}

static void unknown_commands_are_refused(void **state)
{
	static const uint16_t unknown[] = { 0,    1,     2,     5,     0x10,  0x2a, 0x2e, 0x39,
					    0x3a, 0x47,  0x48,  0x52,  0x5a,  0x61, 0x65, 0x68,
					    0x80, 0x203, 0xf00, 0xf0a, 0xff7, 0xff8 };

	(void)state;
	set_up();
	for (unsigned int i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++)
		assert_int_equal(command(unknown[i], IN, 0, 0), BAD_OP);
}

static void memory_for_tables_is_watched(void **state)
{
	(void)state;
	run_firmware();
	assert_int_equal(map(MAP_ICM, 0, MTTS, 0), ICM_ERROR); /* no auxiliary pages */
	assert_int_equal(command(SET_ICM_SIZE, 123, 0, 0), BAD_PARAM);
	give_memory();
	assert_int_equal(map(MAP_ICM, ICM_MTT, SRQ, 0), BAD_RES_STATE);
	assert_int_equal(map(MAP_ICM, 0x123, SRQ, 0), BAD_PARAM);
	assert_int_equal(map(MAP_ICM, 0x40000, 0x3000, 1), BAD_PARAM); /* not as aligned as long */
	assert_int_equal(mailbox(MAP_ICM, 0, 0), BAD_PARAM);
	assert_int_equal(map(MAP_ICM, 0x40000, 0x4000, 1), OK);
	assert_int_equal(command(UNMAP_ICM, 0x40000, 1, 0), BAD_PARAM);
	assert_int_equal(command(UNMAP_ICM, 0x40000, 64, 0), OK);
	assert_int_equal(map(MAP_ICM, 0x40000, 0x4000, 1), OK);
	assert_int_equal(command(UNMAP_FA, 0, 0, 0), BAD_SYS_STATE);
}

/* What a mailbox that is refused has named is its driver's again. */
static void a_refused_mailbox_maps_nothing(void **state)
{
	static const uint64_t last[] = { 0x40000, 1ull << 40 };

	(void)state;
	run_firmware();
	give_memory();
	for (unsigned int i = 0; i < sizeof(last) / sizeof(last[0]); i++) {
		put64(in(0), 0x40000);
		put64(in(8), SRQ);
		put64(in(16), 0x41000);
		put64(in(24), DATA);
		put64(in(32), last[i]);
		put64(in(40), SRQ);
		assert_int_not_equal(mailbox(MAP_ICM, 3, 0), OK);
		assert_int_equal(map(MAP_ICM, 0x41000, DATA, 0), OK);
		assert_int_equal(map(MAP_ICM, 0x40000, SRQ, 0), OK);
		assert_int_equal(command(UNMAP_ICM, 0x40000, 2, 0), OK);
	}
	assert_int_equal(map(MAP_ICM, ICM_MTT, MTTS, 0), BAD_RES_STATE); /* from before */
}

static void initialization_is_checked(void **state)
{
	static const struct {
		uint32_t at;
		uint8_t value;
	} wrong[] = { { 0, 1 },     { 0x17, 2 },  { 0x17, 0x40 }, { 0x58, 0x20 }, { 0x5b, 0x11 },
		      { 0x37, 20 }, { 0x4f, 17 }, { 0x57, 18 },   { 0x87, 8 },    { 0xfb, 21 },
		      { 0xdb, 14 }, { 0xd3, 13 }, { 0xd3, 5 },    { 0xd7, 7 },    { 0x12b, 1 } };

	(void)state;
	run_firmware();
	give_memory();
	for (unsigned int i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		init_fill();
		in(wrong[i].at)[0] = wrong[i].value;
		assert_int_equal(mailbox(INIT_HCA, 0, 0), BAD_PARAM);
	}
	init_fill();
	assert_int_equal(mailbox(INIT_HCA, 0, 0), OK);
	init_fill();
	assert_int_equal(mailbox(INIT_HCA, 0, 0), BAD_SYS_STATE);
}

/* ---- events ---- */

static int open_vector(uint32_t vector)
{
	const struct vfu_irq_set set = {
		.argsz = sizeof(set),
		.flags = VFIO_IRQ_SET_DATA_EVENTFD | VFIO_IRQ_SET_ACTION_TRIGGER,
		.index = VFIO_PCI_MSIX_IRQ_INDEX,
		.start = vector,
		.count = 1,
	};
	int fd = eventfd(0, EFD_NONBLOCK);

	assert_int_equal(vfio_send(VFU_DEVICE_SET_IRQS, &set, sizeof(set), dup(fd)), 0);
	return fd;
}

static uint64_t interrupts(int fd)
{
	uint64_t count;

	return read(fd, &count, sizeof(count)) == sizeof(count) ? count : 0;
}

static void a_command_ends_with_an_event(void **state)
{
	int fd = open_vector(VECTOR);

	(void)state;
	set_up();
	fill_eq();
	assert_int_equal(mailbox(SW2HW_EQ, EQN, 0), OK);
	for (unsigned int i = 0; i < 1 << LOG_EQ; i++)
		assert_int_equal(guest(EQ)[i * 32 + 31], 0x80);
	command_start(NOP, 0, 0x1f, 0, BY_EVENT);
	vfio_run();
	assert_int_equal(interrupts(fd), 0); /* nobody asked for such events */
	assert_int_equal(command(MAP_EQ, 1 << 0xa, EQN, 0), OK);
	command_start(NOP, 0, 0x1f, 0, BY_EVENT);
	vfio_run();
	assert_int_equal(interrupts(fd), 1);
	assert_int_equal(guest(EQ)[1], 0xa);
	assert_int_equal(get32(guest(EQ + 4)), TOKEN);
	assert_int_equal(guest(EQ)[31], 0);
	command_start(0x5a, 0, 0, 0, BY_EVENT);
	vfio_run();
	assert_int_equal(interrupts(fd), 0); /* not armed */
	assert_int_equal(get32(guest(EQ + 32 + 0xc)), BAD_OP);
	doorbell32(EQN / 4 * 0x1000 + 0x800, 1u << 31 | 1);
	assert_int_equal(interrupts(fd), 1); /* there is one more */
	doorbell32(EQN / 4 * 0x1000 + 0x800, 1u << 31 | 2);
	assert_int_equal(interrupts(fd), 0);
	assert_int_equal(command(HW2SW_EQ, 0, EQN, 1), OK);
	assert_int_equal(command(HW2SW_EQ, 0, EQN, 1), BAD_RESOURCE);
	close(fd);
}

/* ---- contexts that are wrong ---- */

struct wrong {
	uint32_t at, value; /* a word of the mailbox */
	unsigned int status;
};

static void refuse(uint16_t opcode, uint32_t number, void (*fill)(void), const struct wrong *wrong,
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
	assert_int_not_equal(mailbox(opcode, number, 0), OK); /* the number is taken */
}

#define REFUSE(opcode, number, fill, wrong) \
	refuse(opcode, number, fill, wrong, sizeof(wrong) / sizeof((wrong)[0]))

static void fill_rc_qp(void)
{
	fill_qp(QPN, false, 0);
}

static void wrong_contexts_are_refused(void **state)
{
	static const struct wrong eq[] = {
		{ 0, 10u << 28 | 9 << 8, BAD_PARAM }, { 0, 0, BAD_PARAM },
		{ 0xc, 24 << 24, BAD_PARAM },         { 0x1c, 4, BAD_PARAM },
		{ 8, 64, BAD_PARAM },
		{ 0x1c, 6 * 8, BAD_PARAM }, /* a translation that is not present */
		{ 0x1c, 0x8000, ICM_ERROR },
	}, cq[] = {
		{ 0, 1 << 18, BAD_PARAM },
		{ 8, 64, BAD_PARAM },
		{ 0xc, 23 << 24 | UAR, BAD_PARAM },
		{ 0xc, LOG_CQ << 24 | 0, BAD_RESOURCE },
		{ 0xc, LOG_CQ << 24 | 2048, BAD_RESOURCE },
		{ 0x14, EQN + 1, BAD_RESOURCE },
		{ 0x1c, 6 * 8, BAD_PARAM },
		{ 0x3c, RECORDS + 4, BAD_PARAM },
	}, srq[] = {
		{ 0, 3 << 24 | (SRQN + 1), BAD_PARAM }, { 0, 16 << 24 | SRQN, BAD_PARAM },
		{ 4, 0, BAD_PARAM },                    { 4, 6 << 24, BAD_PARAM },
		{ 4, 1 << 24 | 1, BAD_PARAM }, /* of XRC, without a CQ */
		{ 0x14, 6 * 8, BAD_PARAM },
		{ 8, 1u << 26, BAD_PARAM },
		{ 0x2c, RECORDS + 2, BAD_PARAM },
	}, qp[] = {
		{ 0, 1 << 7, BAD_PARAM }, /* a path */
		{ 8, 1u << 28 | 2 << 16, BAD_PARAM },
		{ 8, 1u << 28 | 7 << 16, BAD_PARAM }, /* headers of its own */
		{ 0x10, 0x00101900, BAD_PARAM },      /* slots of sends too small, */
		{ 0x10, 0x00107a00, BAD_PARAM },      /* too many, */
		{ 0x10, 0x00161a00, BAD_PARAM },      /* receives too large */
		{ 0x14, 0, BAD_RESOURCE },
		{ 0x18, QPN + 1, BAD_PARAM },
		{ 0x84, CQN + 1, BAD_RESOURCE },
		{ 0xa4, CQN + 1, BAD_RESOURCE },
		{ 0xac, RECORDS + 2, BAD_PARAM },
		{ 0xb4, 1 << 24 | (SRQN + 1), BAD_RESOURCE },
		{ 0xc8, 1 << 25, BAD_PARAM },
		{ 0xd4, 6 * 8, BAD_PARAM },
	};

	(void)state;
	set_up();
	REFUSE(SW2HW_EQ, EQN, fill_eq, eq);
	fill_eq();
	assert_int_equal(mailbox(SW2HW_EQ, 3, 0), BAD_INDEX);
	REFUSE(SW2HW_CQ, CQN, fill_cq, cq);
	fill_cq();
	assert_int_equal(mailbox(SW2HW_CQ, 1 << LOG_QPS, 0), BAD_INDEX);
	REFUSE(SW2HW_SRQ, SRQN, fill_srq, srq);
	REFUSE(RST2INIT, QPN, fill_rc_qp, qp);
	assert_int_equal(command(HW2SW_EQ, 0, EQN, 1), BUSY);
	assert_int_equal(command(HW2SW_CQ, 0, CQN, 1), BUSY);
	assert_int_equal(command(TO_RST, 0, QPN, 0), BAD_OP);
	assert_int_equal(command(TO_RST, 0, QPN, 2), OK);
	assert_int_equal(command(HW2SW_SRQ, 0, SRQN, 1), OK);
	assert_int_equal(command(HW2SW_CQ, 0, CQN, 1), OK);
	assert_int_equal(command(HW2SW_EQ, 0, EQN, 1), OK);
}

static void wrong_keys_are_refused(void **state)
{
	static const struct wrong mpt[] = {
		{ 0, 0x1f << 10 | 1 << 9, BAD_PARAM }, /* a window to no region */
		{ 0, 0x3u << 28 | 0x1f << 10 | 1 << 8, BAD_PARAM },
		{ 8, KEY + 1, BAD_PARAM },
		{ 0xc, 1 << 27 | PDN, BAD_PARAM },
		{ 0xc, 1 << 20, BAD_PARAM },
		{ 0x18, 0xffffffff, BAD_PARAM },
		{ 0x30, 6 * 8, BAD_PARAM },
		{ 0x38, 11, BAD_PARAM },
	};

	(void)state;
	set_up();
	REFUSE(SW2HW_MPT, KEY, fill_mpt, mpt);
	fill_mpt();
	assert_int_equal(mailbox(SW2HW_MPT, 64, 0), BAD_INDEX);
	assert_int_equal(guest(KEYS + KEY * 64)[0], 0);
	assert_int_equal(command(HW2SW_MPT, 0, KEY, 0), OK);
	assert_int_equal(guest(KEYS + KEY * 64)[0], 0xf0);
	assert_int_equal(get32(guest(OUT + 8)), KEY);
	assert_int_equal(command(HW2SW_MPT, 0, KEY, 1), BAD_RESOURCE);
	/* Software changes the entry in the table, and says so. */
	assert_int_equal(command(SYNC_TPT, 0, 0, 0), OK);
	assert_int_equal(command(HW2SW_MPT, 0, KEY, 1), BAD_RESOURCE);
	guest(KEYS + KEY * 64)[0] = 0;
	assert_int_equal(command(SYNC_TPT, 0, 0, 0), OK);
	assert_int_equal(command(HW2SW_MPT, 0, KEY, 1), OK);
}

/* The table says nothing of a key that was refused: its owner may try again. */
static void a_refused_key_stays_with_software(void **state)
{
	(void)state;
	set_up();
	fill_mpt();
	assert_int_equal(mailbox(SW2HW_MPT, KEY, 0), OK);
	assert_int_equal(command(HW2SW_MPT, 0, KEY, 0), OK);
	fill_mpt();
	put64(in(0x2c), 6 * 8); /* a translation that is not present */
	assert_int_equal(mailbox(SW2HW_MPT, KEY, 0), BAD_PARAM);
	assert_int_equal(guest(KEYS + KEY * 64)[0], 0xf0);
	put64(guest(MTTS + 6 * 8), DATA | 1);
	assert_int_equal(command(SYNC_TPT, 0, 0, 0), OK);
	assert_int_equal(command(HW2SW_MPT, 0, KEY, 1), BAD_RESOURCE);
	fill_mpt();
	assert_int_equal(mailbox(SW2HW_MPT, KEY, 0), OK);
	memset(guest(KEYS + KEY * 64) + 8, 0x5a, 4);
	fill_mpt();
	assert_int_equal(mailbox(SW2HW_MPT, KEY, 0), BAD_RES_STATE); /* the index is taken */
	assert_int_equal(get32(guest(KEYS + KEY * 64 + 8)), 0x5a5a5a5a);
}

/* A key whose entry cannot be written is not taken. */
static void a_key_outside_of_the_table_is_refused(void **state)
{
	(void)state;
	set_up();
	assert_int_equal(command(UNMAP_ICM, ICM_KEYS, 1, 0), OK);
	fill_mpt();
	assert_int_equal(mailbox(SW2HW_MPT, KEY, 0), ICM_ERROR);
	assert_int_equal(command(HW2SW_MPT, 0, KEY, 1), BAD_RESOURCE);
}

enum { LOG_MANY = 13, TAKEN_MAX = 4096 };

static unsigned int bus_reads;
static const struct hca_bus_ops *counted;

static int count_read(void *bus, const struct hca_bus_seg *segs, unsigned int nsegs, void *buf)
{
	bus_reads++;
	return counted->read(bus, segs, nsegs, buf);
}

/* A table of many keys, all pages of which are one */
static void set_up_many_keys(void)
{
	enum { PAGES = (64 << LOG_MANY) / 4096 };

	run_firmware();
	give_memory();
	for (unsigned int i = 1; i < PAGES; i++)
		assert_int_equal(map(MAP_ICM, ICM_KEYS + i * 4096, KEYS, 0), OK);
	init_fill();
	in(0xfb)[0] = LOG_MANY;
	assert_int_equal(mailbox(INIT_HCA, 0, 0), OK);
	write_translations();
}

static void give_and_take(uint32_t n)
{
	fill_mpt();
	put32(in(8), n);
	assert_int_equal(mailbox(SW2HW_MPT, n, 0), OK);
	assert_int_equal(command(HW2SW_MPT, 0, n, 0), OK);
}

/* However many keys there were, SYNC_TPT looks at those that software has had back of late, once
 * each. */
static void only_so_many_keys_are_looked_at(void **state)
{
	struct hca *hca = rig.device.hca;
	struct hca_bus_ops ops = *hca->config.bus_ops;
	const uint32_t first = 1, last = (1 << LOG_MANY) - 1;

	(void)state;
	set_up_many_keys();
	for (uint32_t n = first; n <= last; n++)
		give_and_take(n);
	give_and_take(last);
	give_and_take(last - 64); /* the same place of memory */
	counted = hca->config.bus_ops;
	ops.read = count_read;
	hca->config.bus_ops = &ops;
	assert_int_equal(command(SYNC_TPT, 0, 0, 0), OK);
	hca->config.bus_ops = counted;
	assert_in_range(bus_reads, 2, TAKEN_MAX);
	guest(KEYS + last % 64 * 64)[0] = 0;
	assert_int_equal(command(SYNC_TPT, 0, 0, 0), OK);
	assert_int_equal(command(HW2SW_MPT, 0, last - 64, 1), OK);
}

static void states_of_a_qp_have_an_order(void **state)
{
	(void)state;
	set_up();
	make_eq_and_cq();
	fill_rc_qp();
	assert_int_equal(mailbox(INIT2RTR, QPN, 0), BAD_QP_STATE);
	fill_rc_qp();
	assert_int_equal(mailbox(RST2INIT, QPN, 0), OK);
	fill_rc_qp();
	assert_int_equal(mailbox(RTR2RTS, QPN, 0), BAD_QP_STATE);
	fill_rc_qp();
	assert_int_equal(mailbox(INIT2RTR, QPN, 0), BAD_PARAM); /* no MTU */
	fill_rc_qp();
	in(8 + 8)[0] = 5 << 5 | 12;
	assert_int_equal(mailbox(INIT2RTR, QPN, 0), BAD_PARAM); /* no LID */
	fill_rc_qp();
	in(8 + 8)[0] = 5 << 5 | 12;
	in(8 + 0x18 + 7)[0] = 1;
	put32(in(0), 1 << 0); /* an alternate path */
	assert_int_equal(mailbox(INIT2RTR, QPN, 0), BAD_PARAM);
	fill_rc_qp();
	in(8 + 8)[0] = 5 << 5 | 12;
	in(8 + 0x18 + 7)[0] = 1;
	assert_int_equal(mailbox(INIT2RTR, QPN, 0), OK);
	assert_int_equal(command(QUERY_QP, 0, QPN, 0), OK);
	assert_int_equal(get32(guest(OUT + 8)) >> 28, 2);
}

/* ---- work ---- */

static void post_receive(uint32_t record, uint32_t ring, uint32_t addr, uint16_t count)
{
	put32(guest(ring), 256);
	put32(guest(ring + 4), KEY << 8);
	put64(guest(ring + 8), addr);
	put32(guest(record), count);
}

static void a_message_goes_from_qp_to_qp(void **state)
{
	uint32_t send_ring = RINGS, recv_ring = RINGS + 0x1000 + 8 * 64; /* behind its sends */
	uint32_t wqe = send_ring;

	(void)state;
	set_up();
	own_rings();
	make_eq_and_cq();
	fill_mpt();
	assert_int_equal(mailbox(SW2HW_MPT, KEY, 0), OK);
	to_rts(QPN, false, QPN + 1, 0);
	to_rts(QPN + 1, true, QPN, 0);
	memcpy(guest(DATA), "said", 4);
	post_receive(RECORDS + 0xc0, recv_ring, DATA + 0x800, 1);
	put32(guest(wqe + 4), 2);
	put32(guest(wqe + 8), 3 << 2);
	put32(guest(wqe + 16), 4);
	put32(guest(wqe + 20), KEY << 8);
	put64(guest(wqe + 24), DATA);
	put32(guest(wqe), 0xa);
	doorbell32(UAR * 0x1000 + 0x14, QPN << 8);
	vfio_run();
	assert_memory_equal(guest(DATA + 0x800), "said", 4);
	assert_int_equal(get32(cqe(0)) & 0xffffff, QPN + 1);
	assert_int_equal(cqe(0)[31] & 0x5f, 1);
	assert_int_equal(get32(cqe(0) + 0x14), 4);
	assert_int_equal(get32(cqe(1)) & 0xffffff, QPN);
	assert_int_equal(cqe(1)[31], 0x4a);
}

/* A request for SRQ in the domain */
static void xrc_goes_by_number(void **state)
{
	uint32_t target = (QPN + 1) | XRC_TARGET;

	(void)state;
	set_up();
	own_rings();
	make_eq_and_cq();
	fill_mpt();
	assert_int_equal(mailbox(SW2HW_MPT, KEY, 0), OK);
	fill_srq();
	in(7)[0] = 1;
	put32(in(8), CQN);
	assert_int_equal(mailbox(SW2HW_SRQ, SRQN, 0), OK);
	to_rts(QPN, false, target, 6);
	to_rts(target, true, QPN, 6);
	memcpy(guest(DATA), "said", 4);
	put32(guest(SRQ + 16), 256);
	put32(guest(SRQ + 20), KEY << 8);
	put64(guest(SRQ + 24), DATA + 0x800);
	put32(guest(RECORDS + 0x40), 1);
	put32(guest(RINGS + 4), 2);
	put32(guest(RINGS + 8), SRQN << 8 | 3 << 2);
	put32(guest(RINGS + 16), 4);
	put32(guest(RINGS + 20), KEY << 8);
	put64(guest(RINGS + 24), DATA);
	put32(guest(RINGS), 0xa);
	doorbell32(UAR * 0x1000 + 0x14, QPN << 8);
	vfio_run();
	assert_memory_equal(guest(DATA + 0x800), "said", 4);
	assert_int_equal(get32(cqe(0)) & 0xffffff, target);
	assert_int_equal(get32(cqe(0) + 8) & 0xffffff, SRQN);
	assert_int_equal(command(HW2SW_SRQ, 0, SRQN, 1), OK);
}

enum { REMOTE_READ = 1 << 29, REMOTE_WRITE = 1 << 30 };

static void post_bind(uint32_t wqe, uint32_t rkey, uint32_t lkey, uint32_t access)
{
	put32(guest(wqe + 4), 3);
	put32(guest(wqe + 8), 3 << 2);
	put32(guest(wqe + 16), access);
	put32(guest(wqe + 20), 0);
	put32(guest(wqe + 24), rkey);
	put32(guest(wqe + 28), lkey);
	put64(guest(wqe + 32), DATA + 0x800);
	put64(guest(wqe + 40), 16);
	put32(guest(wqe), 0x18);
}

static void post_write(uint32_t wqe, uint64_t addr, uint32_t rkey)
{
	put32(guest(wqe + 4), 3);
	put32(guest(wqe + 8), 3 << 2);
	put64(guest(wqe + 16), addr);
	put32(guest(wqe + 24), rkey);
	put32(guest(wqe + 32), 4);
	put32(guest(wqe + 36), KEY << 8);
	put64(guest(wqe + 40), DATA);
	put32(guest(wqe), 8);
}

static void a_window_opens_when_it_is_bound(void **state)
{
	uint32_t rkey = WINDOW << 8 | 5;

	(void)state;
	set_up();
	own_rings();
	make_eq_and_cq();
	fill_mpt();
	assert_int_equal(mailbox(SW2HW_MPT, KEY, 0), OK);
	put32(in(8), WINDOW);
	put32(in(0xc), PDN);
	assert_int_equal(mailbox(SW2HW_MPT, WINDOW, 0), OK);
	to_rts(QPN, false, QPN + 1, 0);
	to_rts(QPN + 1, true, QPN, 0);
	memcpy(guest(DATA), "said", 4);
	post_bind(RINGS, rkey, KEY << 8, REMOTE_WRITE);
	post_write(RINGS + 64, DATA + 0x80c, rkey);
	post_write(RINGS + 128, DATA + 0x80d, rkey); /* beyond its end */
	doorbell32(UAR * 0x1000 + 0x14, QPN << 8);
	vfio_run();
	assert_int_equal(cqe(0)[31], 0x58);
	assert_int_equal(cqe(1)[31], 0x48);
	assert_int_equal(cqe(2)[31], 0x5e);
	assert_memory_equal(guest(DATA + 0x80c), "said", 4);
	/* The region is held for as long. */
	assert_int_equal(command(HW2SW_MPT, 0, KEY, 1), REG_BOUND);
	assert_int_equal(command(HW2SW_MPT, 0, WINDOW, 1), OK);
	assert_int_equal(command(HW2SW_MPT, 0, KEY, 1), OK);
}

/* Windows are bound to regions, whatever their context says. */
static void no_window_leads_to_a_window(void **state)
{
	uint32_t rkey = WINDOW << 8 | 5;

	(void)state;
	set_up();
	own_rings();
	make_eq_and_cq();
	fill_mpt();
	assert_int_equal(mailbox(SW2HW_MPT, KEY, 0), OK);
	put32(in(0), 1 << 15); /* a region that windows may be bound to */
	put32(in(8), WINDOW);
	put32(in(0xc), PDN);
	assert_int_equal(mailbox(SW2HW_MPT, WINDOW, 0), OK);
	to_rts(QPN, false, QPN + 1, 0);
	to_rts(QPN + 1, true, QPN, 0);
	post_bind(RINGS, rkey, KEY << 8, REMOTE_READ);
	post_bind(RINGS + 64, rkey, rkey, REMOTE_READ);
	doorbell32(UAR * 0x1000 + 0x14, QPN << 8);
	vfio_run();
	assert_int_equal(cqe(0)[31], 0x58);
	assert_int_equal(cqe(1)[31], 0x5e);
	assert_int_equal(command(HW2SW_MPT, 0, WINDOW, 1), OK);
	assert_int_equal(command(HW2SW_MPT, 0, KEY, 1), OK);
}

/* The first 8 bytes of a WQE, through the page behind the doorbells */
static void blueflame_rings(void **state)
{
	uint8_t words[8];

	(void)state;
	set_up();
	own_rings();
	make_eq_and_cq();
	to_rts(QPN, false, QPN + 1, 0);
	to_rts(QPN + 1, true, QPN, 0);
	put32(guest(RINGS + 4), QPN << 8 | 1);
	put32(guest(RINGS + 8), 3 << 2);
	put32(guest(RINGS), 0); /* NOP */
	memcpy(words, guest(RINGS), sizeof(words));
	doorbell((2048 + UAR) * 0x1000 + 8, words, sizeof(words)); /* what follows rings not */
	vfio_run();
	assert_int_equal(cqe(0)[31] & 0x80, 0x80);
	doorbell((2048 + UAR) * 0x1000 + 256, words, sizeof(words));
	vfio_run();
	assert_int_equal(cqe(0)[31], 0x40);
}

/* ---- management ---- */

/* A GET of NodeInfo */
static void fill_mad(uint8_t *mad)
{
	static const uint8_t head[] = { 1, 1, 1, 1 };

	memcpy(mad, head, sizeof(head));
	mad[17] = 0x11;
}

static void agents_answer(void **state)
{
	(void)state;
	set_up();
	fill_mad(in(0));
	assert_int_equal(mailbox(MAD_IFC, 1, 3), OK);
	assert_int_equal(guest(OUT)[3], 0x81);
	assert_int_equal(guest(OUT)[64 + 2], 1); /* a channel adapter */
	fill_mad(in(0));
	assert_int_equal(mailbox(MAD_IFC, 2, 3), BAD_PARAM);
	fill_mad(in(0));
	assert_int_equal(mailbox(MAD_IFC, 1, 8), BAD_OP);
	fill_mad(in(0));
	in(0)[1] = 0x55;
	assert_int_equal(mailbox(MAD_IFC, 1, 3), BAD_PKT);
}

static const uint8_t lrh_to_self[] = { 0x00, 0x02, 0x00, 0x01, 0, 0, 0, 1 };

/* A management QP's WQE: headers, a datagram by pointer, room for the ICRC */
static void fill_special_wqe(uint32_t wqe, uint32_t dest, uint32_t len)
{
	uint8_t *at = guest(wqe);

	put32(at + 4, 5);
	put32(at + 8, 3 << 2);
	put32(at + 16, 1u << 31 | 28);
	memcpy(at + 20, lrh_to_self, sizeof(lrh_to_self));
	put32(at + 28, 0x6400ffff); /* BTH: UD, SEND */
	put32(at + 32, dest);
	put32(at + 36, 0);
	put32(at + 40, 0x80010000); /* DETH */
	put32(at + 44, 1);
	put32(at + 48, len);
	put32(at + 52, KEY << 8);
	put64(at + 56, DATA);
	put32(at + 64, 1u << 31 | 4);
	put32(at + 68, 0);
}

static void special_to_rts(uint32_t qpn, bool second, unsigned int log_slot)
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

static void a_management_datagram_arrives(void **state)
{
	uint32_t qpn = SPECIAL + 2, recv_ring = RINGS + 8 * 128; /* QP1 of port 1 */

	(void)state;
	set_up();
	own_rings();
	make_eq_and_cq();
	fill_mpt();
	assert_int_equal(mailbox(SW2HW_MPT, KEY, 0), OK);
	assert_int_equal(command(CONF_SPECIAL_QP, 0, SPECIAL + 1, 0), BAD_PARAM);
	assert_int_equal(command(CONF_SPECIAL_QP, 0, SPECIAL, 0), OK);
	special_to_rts(qpn, false, 7);
	assert_int_equal(command(CONF_SPECIAL_QP, 0, 0, 0), BAD_RES_STATE);
	memset(guest(DATA), 0x5c, 256);
	put32(guest(recv_ring), 296);
	put32(guest(recv_ring + 4), KEY << 8);
	put64(guest(recv_ring + 8), DATA + 0x800);
	put32(guest(RECORDS + 0x80), 1);
	fill_special_wqe(RINGS, 1, 256);
	put32(guest(RINGS), 0xa);
	doorbell32(UAR * 0x1000 + 0x14, qpn << 8);
	vfio_run();
	assert_int_equal(get32(cqe(0)) & 0xffffff, qpn);
	assert_int_equal(cqe(0)[31] & 0x5f, 1);
	assert_int_equal(get32(cqe(0) + 4), 0); /* the index of its P_Key */
	assert_int_equal(get32(cqe(0) + 8), 1); /* from QP1, no GRH */
	assert_int_equal(get32(cqe(0) + 0x14), 296);
	assert_memory_equal(guest(DATA + 0x800 + 40), guest(DATA), 256);
	assert_int_equal(cqe(1)[31], 0x4a);
}

static void groups_are_a_table(void **state)
{
	uint32_t hash;

	(void)state;
	set_up();
	memset(in(0), 0xff, 16);
	assert_int_equal(mailbox(MGID_HASH, 0, 0), OK);
	hash = bar_get(HCR + 0x10);
	assert_in_range(hash, 0, 31);
	memset(guest(OUT), 0xee, 4096);
	assert_int_equal(command(READ_MCG, 0, hash, 0), OK);
	assert_int_equal(get32(guest(OUT + 4)), 0);
	put32(in(4), 1);
	memset(in(16), 0xff, 16);
	put32(in(32), QPN);
	assert_int_equal(mailbox(WRITE_MCG, hash, 0), OK);
	assert_int_equal(command(READ_MCG, 0, hash, 0), OK);
	assert_int_equal(get32(guest(OUT + 32)), QPN);
	put32(in(4), 249);
	assert_int_equal(mailbox(WRITE_MCG, hash, 0), BAD_PARAM);
	put32(in(4), 3u << 30 | 1);
	assert_int_equal(mailbox(WRITE_MCG, hash, 0), BAD_PARAM);
	put32(in(0), 64 << 6);
	assert_int_equal(mailbox(WRITE_MCG, hash, 0), BAD_PARAM);
	assert_int_equal(mailbox(WRITE_MCG, 64, 0), BAD_INDEX);
}

static void fill_group(uint32_t first, uint32_t members)
{
	put32(in(4), members);
	memset(in(16), 0xff, 16);
	for (uint32_t i = 0; i < members; i++)
		put32(in(32 + i * 4), first + i);
}

static bool hears(uint32_t qpn)
{
	struct hca *hca = rig.device.hca;
	const struct mcg_member *member;

	LIST_FOREACH(member, &hca->mcg_members, entry)
		if (member->qp == res_get(&hca->qps, qpn))
			return true;
	return false;
}

static void make_members(uint32_t first, uint32_t count)
{
	enum { UD = 3 };

	for (uint32_t i = 0; i < count; i++) {
		fill_qp(first + i, false, UD);
		assert_int_equal(mailbox(RST2INIT, first + i, 0), OK);
	}
}

static uint32_t hash_of_group(void)
{
	memset(in(0), 0xff, 16);
	assert_int_equal(mailbox(MGID_HASH, 0, 0), OK);
	return bar_get(HCR + 0x10);
}

/* One member more than a group has room for: the group is as it was, in the table and for those
 * that are in it. */
static void a_refused_group_stays_as_it_was(void **state)
{
	enum { FIRST = 0x100, MEMBERS = 240 };
	uint32_t index;

	(void)state;
	set_up();
	make_eq_and_cq();
	make_members(FIRST, MEMBERS + 1);
	index = hash_of_group();
	fill_group(FIRST, 1);
	assert_int_equal(mailbox(WRITE_MCG, index, 0), OK);
	fill_group(FIRST, MEMBERS + 1);
	assert_int_not_equal(mailbox(WRITE_MCG, index, 0), OK);
	assert_int_equal(command(READ_MCG, 0, index, 0), OK);
	assert_int_equal(get32(guest(OUT + 4)), 1);
	assert_true(hears(FIRST));
	for (uint32_t i = 1; i <= MEMBERS; i++)
		assert_false(hears(FIRST + i));
	fill_group(FIRST, MEMBERS);
	assert_int_equal(mailbox(WRITE_MCG, index, 0), OK);
	assert_true(hears(FIRST + MEMBERS - 1));
}

/* The adapter follows a chain that begins at the hash of a GID, up to the first entry that has the
 * GID: a second one counts only when the first is gone, and one that nothing leads to, never. */
static void a_group_has_one_entry(void **state)
{
	enum { FIRST = 0x100, MEMBERS = 3, SECOND = 40, LOST = 41 };
	uint32_t index;

	(void)state;
	set_up();
	make_eq_and_cq();
	make_members(FIRST, MEMBERS);
	index = hash_of_group();
	fill_group(FIRST + 2, 1);
	assert_int_equal(mailbox(WRITE_MCG, LOST, 0), OK);
	fill_group(FIRST + 1, 1);
	assert_int_equal(mailbox(WRITE_MCG, SECOND, 0), OK);
	fill_group(FIRST, 1);
	put32(in(0), SECOND << 6);
	assert_int_equal(mailbox(WRITE_MCG, index, 0), OK);
	assert_true(hears(FIRST));
	assert_false(hears(FIRST + 1));
	put32(in(0), SECOND << 6); /* no members, but the next entry */
	assert_int_equal(mailbox(WRITE_MCG, index, 0), OK);
	assert_false(hears(FIRST));
	assert_true(hears(FIRST + 1));
	fill_group(FIRST + 1, 1);
	assert_int_equal(mailbox(WRITE_MCG, index, 0), OK); /* moved, and its copy is left behind */
	fill_group(FIRST, 0);
	assert_int_equal(mailbox(WRITE_MCG, SECOND, 0), OK);
	assert_true(hears(FIRST + 1));
	assert_false(hears(FIRST + 2));
}

/* Entries that lead round and round do not keep the adapter from its work. */
static void a_chain_of_groups_may_be_a_ring(void **state)
{
	enum { OTHER = 40, MEMBER = 0x100 };
	uint32_t index;

	(void)state;
	set_up();
	make_eq_and_cq();
	make_members(MEMBER, 1);
	index = hash_of_group();
	put32(in(0), OTHER << 6);
	assert_int_equal(mailbox(WRITE_MCG, index, 0), OK);
	put32(in(0), index << 6);
	assert_int_equal(mailbox(WRITE_MCG, OTHER, 0), OK);
	fill_group(MEMBER, 1);
	assert_int_equal(mailbox(WRITE_MCG, OTHER + 1, 0), OK);
	assert_false(hears(MEMBER));
}

static void closing_forgets_objects(void **state)
{
	(void)state;
	set_up();
	make_eq_and_cq();
	fill_rc_qp();
	assert_int_equal(mailbox(RST2INIT, QPN, 0), OK);
	fill_srq();
	assert_int_equal(mailbox(SW2HW_SRQ, SRQN, 0), OK);
	assert_int_equal(command(CLOSE_HCA, 0, 0, 0), OK);
	init_fill();
	assert_int_equal(mailbox(INIT_HCA, 0, 0), OK);
	make_eq_and_cq();
	fill_rc_qp();
	assert_int_equal(mailbox(RST2INIT, QPN, 0), OK);
}

/* ---- Ethernet ---- */

enum { ETHERNET = 1, GENERAL = 0 << 8 | 1, RECEIVER = 1 << 8 | 1, GIDS = 5 << 8 | 1 };

static void an_ethernet_port_is_set_up(void **state)
{
	static const uint8_t mac[6] = { 0x00, 0x02, 0xc9, 0x00, 0x10, 0x00 };

	(void)state;
	set_up();
	assert_int_equal(command(QUERY_PORT, 0, 1, 0), OK);
	assert_int_equal(guest(OUT)[0] & 3, 2);
	assert_memory_equal(guest(OUT + 0x12), mac, sizeof(mac));
	assert_int_equal(mailbox(SET_PORT, 1, 0), BAD_OP); /* of InfiniBand */
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

/* Rings of larger WQEs than there are would not fit where the device decodes them. */
static void wrong_queues_of_frames_are_refused(void **state)
{
	static const struct wrong qp[] = {
		{ 0x10, 0x00101900, BAD_PARAM }, /* slots of sends too small, */
		{ 0x10, 0x00101f00, BAD_PARAM }, /* too large, */
		{ 0x10, 0x00107a00, BAD_PARAM }, /* too many, */
		{ 0x10, 0x00001f00, BAD_PARAM }, /* too large, though none is used, */
		{ 0x10, 0x00161a00, BAD_PARAM }, /* receives too large, */
		{ 0x10, 0x00171200, BAD_PARAM }, /* with nothing to send, */
		{ 0x10, 0x00781200, BAD_PARAM }, /* too many */
		{ 0x18, QPN + 1, BAD_PARAM },     { 0x84, CQN + 1, BAD_PARAM },
		{ 0xac, RECORDS + 2, BAD_PARAM }, { 0xd4, 6 * 8, BAD_PARAM },
		{ 0xa4, CQN + 1, BAD_PARAM }, /* of receives */
	};

	(void)state;
	set_up();
	make_eq_and_cq();
	REFUSE(RST2INIT, QPN, fill_frames_qp, qp);
}

/* A QP of frames, with one ring */
static void frames_to_rts(uint32_t qpn, bool sends)
{
	static const uint16_t steps[] = { RST2INIT, INIT2RTR, RTR2RTS };

	for (unsigned int i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		fill_qp(qpn, !sends, 7);
		in(8)[sends ? 9 : 0xa] = sends ? 0 : 2; /* a send that is not used */
		assert_int_equal(mailbox(steps[i], qpn, 0), OK);
	}
}

enum { FRAME = 100 };

/* A frame that is inline, and longer than a block of the ring: what the second block begins with is
 * no ownership. */
static void post_frame_bytes(uint32_t wqe, const uint8_t *frame)
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

static void post_frame(uint32_t wqe, const char *mac, uint8_t what)
{
	uint8_t frame[FRAME];

	memset(frame, what, sizeof(frame));
	memcpy(frame, mac, 6);
	post_frame_bytes(wqe, frame);
}

static void make_frame_queues(void)
{
	own_rings();
	make_eq_and_cq();
	fill_mpt();
	assert_int_equal(mailbox(SW2HW_MPT, KEY, 0), OK);
	frames_to_rts(QPN, true);
	frames_to_rts(QPN + 1, false);
}

static const char own[] = "\x00\x02\xc9\x00\x10\x00";

static void frames_come_back_to_their_sender(void **state)
{
	(void)state;
	set_up();
	make_frame_queues();
	put32(in(0), QPN + 1);
	assert_int_equal(mailbox(SET_PORT, RECEIVER, ETHERNET), OK);
	for (unsigned int i = 0; i < 2; i++) {
		post_receive(RECORDS + 0xc0, RINGS + 0x1000 + 64 + i * 16, DATA + i * 256, i + 1);
		post_frame(RINGS + i * 128, own, 'a' + i);
	}
	doorbell32(UAR * 0x1000 + 0x14, QPN << 8);
	vfio_run();
	assert_memory_equal(guest(DATA), own, 6);
	assert_int_equal(guest(DATA)[99], 'a');
	assert_int_equal(guest(DATA + 256)[99], 'b');
	for (unsigned int i = 0; i < 4; i++)
		assert_int_equal(get32(cqe(i)) & 0xffffff, i % 2 ? QPN : QPN + 1);
	assert_int_equal(command(TO_RST, 0, QPN, 2), OK);
	assert_int_equal(command(QUERY_QP, 0, QPN, 0), BAD_RESOURCE);
}

/* A QP of both rings, that with the larger WQEs in front: slots of sends of 64 bytes, and receives
 * of as many as said. */
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
		{ 4, 6, RINGS, RINGS + 0x1000 }, /* in a page of its own */
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
		put32(guest(cases[i].receives + 16), 0x100); /* the next piece has nothing */
		post_receive(RECORDS + 0x80, cases[i].receives, DATA + i * 256, 1);
		post_frame(cases[i].sends, own, 'a' + i);
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

enum { CQE_ERROR = 0x1e, OF_SEND = 1 << 6, BAD_SIZE = 0x6b, BAD_AV = 0x6f };

/* A WQE that says to be longer than its ring: what is behind what was read is not the guest's. */
static void a_frame_ends_where_its_ring_does(void **state)
{
	(void)state;
	set_up();
	make_frame_queues();
	post_frame(RINGS, own, 'a');
	put32(guest(RINGS + 4), 63);
	doorbell32(UAR * 0x1000 + 0x14, QPN << 8);
	vfio_run();
	assert_int_equal(get32(cqe(0)) & 0xffffff, QPN);
	assert_int_equal(cqe(0)[31] & 0x7f, OF_SEND | CQE_ERROR);
	assert_int_equal(cqe(0)[0x1a], BAD_SIZE);
}

/* Who takes frames is said anew after the adapter was closed, and a key that was given back before
 * is not one that software may give by its table. */
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
	post_frame(RINGS, own, 'a');
	doorbell32(UAR * 0x1000 + 0x14, QPN << 8);
	vfio_run();
	assert_int_equal(get32(cqe(0)) & 0xffffff, QPN);
	assert_int_equal(guest(DATA)[99], 0);
}

/* From any state but RESET; what comes back then is nothing. */
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

/* A QP that spreads frames over two others; the key is the one that everybody's examples have. */
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

/* Addresses, ports, and hashes of both and of addresses alone: "Verifying the RSS Hash Calculation"
 * has them. */
struct flow {
	uint32_t source, destination;
	uint16_t ports[2];
	uint8_t protocol;
	uint32_t hash;
};

static void post_flow(uint32_t wqe, const struct flow *flow)
{
	uint8_t frame[FRAME] = { 0 };

	memcpy(frame, own, 6);
	frame[12] = 0x08;
	put32(frame + 14, 0x45000000 | (FRAME - 14));
	put32(frame + 22, 64u << 24 | (uint32_t)flow->protocol << 16);
	put32(frame + 26, flow->source);
	put32(frame + 30, flow->destination);
	put32(frame + 34, (uint32_t)flow->ports[0] << 16 | flow->ports[1]);
	frame[46] = 5 << 4; /* words of TCP's header */
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
		{ 8 + 0x44, HASH_IP, BAD_PARAM },         /* XOR */
		{ 8 + 0x44, 1 << 8 | 2 << 6, BAD_PARAM }, /* inside of tunnels */
		{ 8 + 0x3c, 20u << 24 | SPREAD_TO, BAD_PARAM },
	};

	(void)state;
	set_up();
	own_rings();
	make_eq_and_cq();
	fill_mpt();
	assert_int_equal(mailbox(SW2HW_MPT, KEY, 0), OK);
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
	post_frame(RINGS + 3 * 128, own, 'a'); /* has no hash */
	doorbell32(UAR * 0x1000 + 0x14, QPN << 8);
	vfio_run();
	assert_int_equal(get32(cqe(6)) & 0xffffff, SPREAD_TO + 1);
}

/* Headers of a datagram of RoCE are too long for one piece of a WQE. */
static void fill_roce_headers(uint32_t wqe, const uint8_t *gid, uint16_t type)
{
	enum { FIRST = 44, ALL = 14 + 40 + 12 + 8 };
	uint8_t headers[ALL] = { 0 };

	memcpy(headers, own, 6);
	memcpy(headers + 6, own, 6);
	headers[12] = type >> 8;
	headers[13] = (uint8_t)type;
	put32(headers + 14, 6u << 28 | 0x5a << 20);
	put32(headers + 18, (12 + 8 + 256 + 4) << 16 | 0x1b << 8 | 64);
	memcpy(headers + 22, gid, 16);
	memcpy(headers + 38, gid, 16);
	put32(headers + 54, 0x6400ffff); /* BTH: UD, SEND, to QP1 */
	put32(headers + 58, 1);
	put32(headers + 66, 0x80010000); /* DETH */
	put32(headers + 70, 1);
	put32(guest(wqe + 16), 1u << 31 | FIRST);
	memcpy(guest(wqe + 20), headers, FIRST);
	put32(guest(wqe + 64), 1u << 31 | (ALL - FIRST));
	memcpy(guest(wqe + 68), headers + FIRST, ALL - FIRST);
}

static void post_roce_datagram(uint32_t wqe, const uint8_t *gid, uint16_t type)
{
	fill_roce_headers(wqe, gid, type);
	put32(guest(wqe + 112), 256);
	put32(guest(wqe + 116), KEY << 8);
	put64(guest(wqe + 120), DATA);
	put32(guest(wqe + 128), 1u << 31 | 4);
	put32(guest(wqe + 4), 9);
	put32(guest(wqe + 8), 3 << 2);
	put32(guest(wqe), 0xa);
}

static const uint8_t roce_gids[2][16] = { { 0xfe, 0x80, [15] = 1 }, { 0xfe, 0x80, [15] = 2 } };

enum { ROCE_QP1 = SPECIAL + 2 };

static void make_roce_qp1(void)
{
	set_up();
	own_rings();
	make_eq_and_cq();
	fill_mpt();
	assert_int_equal(mailbox(SW2HW_MPT, KEY, 0), OK);
	memcpy(in(0), roce_gids, sizeof(roce_gids));
	assert_int_equal(mailbox(SET_PORT, GIDS, ETHERNET), OK);
	assert_int_equal(command(CONF_SPECIAL_QP, 0, SPECIAL, 0), OK);
	special_to_rts(ROCE_QP1, false, 8);
}

static void a_management_datagram_has_a_source(void **state)
{
	static const uint8_t foreign[16] = { 0xfe, 0x80, [15] = 3 };

	(void)state;
	make_roce_qp1();
	post_roce_datagram(RINGS, foreign, 0x8915);
	doorbell32(UAR * 0x1000 + 0x14, ROCE_QP1 << 8);
	vfio_run();
	assert_int_equal(cqe(0)[31] & 0x7f, OF_SEND | CQE_ERROR);
	assert_int_equal(cqe(0)[0x1a], BAD_AV);
}

/* Its source is the GID that its header names, here the port's second. */
static void a_management_datagram_arrives_on_roce(void **state)
{
	const uint8_t(*gids)[16] = roce_gids;
	uint32_t qpn = ROCE_QP1, recv_ring = RINGS + 8 * 256;

	(void)state;
	make_roce_qp1();
	memset(guest(DATA), 0x5c, 256);
	put32(guest(recv_ring), 296);
	put32(guest(recv_ring + 4), KEY << 8);
	put64(guest(recv_ring + 8), DATA + 0x800);
	put32(guest(RECORDS + 0x80), 1);
	post_roce_datagram(RINGS, gids[1], 0x8915);
	post_roce_datagram(RINGS + 256, gids[1], 0x8100);
	doorbell32(UAR * 0x1000 + 0x14, qpn << 8);
	vfio_run();
	assert_int_equal(cqe(0)[31] & 0x5f, 1);
	assert_int_equal(get32(cqe(0) + 8), 1u << 31 | 1); /* from QP1, with a GRH */
	assert_int_equal(get32(cqe(0) + 0x14), 296);
	assert_int_equal(get32(guest(DATA + 0x800)), 6u << 28 | 0x5a << 20);
	assert_memory_equal(guest(DATA + 0x808), gids[1], 16);
	assert_memory_equal(guest(DATA + 0x818), gids[1], 16);
	assert_memory_equal(guest(DATA + 0x800 + 40), guest(DATA), 256);
	assert_int_equal(cqe(1)[31] & 0x7f, 0x4a);
	assert_int_equal(cqe(2)[31] & 0x7f, OF_SEND | CQE_ERROR);
	assert_int_equal(cqe(2)[0x1a], BAD_AV);
}

/* ---- RoCE's version 2 ---- */

enum { V2_GIDS = 0xd << 8 | 1, IPV6 = 1 };

static void fill_gid(unsigned int index, const uint8_t gid[16], uint8_t version, uint8_t type)
{
	memcpy(in(index * 32), gid, 16);
	in(index * 32)[0x1a] = type;
	in(index * 32)[0x1b] = version;
}

static const uint8_t mapped[16] = { [10] = 0xff, 0xff, 10, 0, 0, 1 };

static void gids_have_a_version(void **state)
{
	static const struct {
		const uint8_t *gid;
		uint8_t version, type;
		unsigned int status;
	} entries[] = {
		{ roce_gids[0], 0, 0, OK },
		{ roce_gids[0], 2, IPV6, OK },
		{ mapped, 2, 0, OK },
		{ mapped, 0, 0, OK },
		{ roce_gids[0], 1, IPV6, BAD_PARAM },
		{ roce_gids[0], 3, IPV6, BAD_PARAM },
		{ roce_gids[0], 2, 0, BAD_PARAM },
		{ mapped, 2, IPV6, BAD_PARAM },
	};

	(void)state;
	set_up();
	for (unsigned int i = 0; i < sizeof(entries) / sizeof(entries[0]); i++) {
		fill_gid(127, entries[i].gid, entries[i].version, entries[i].type);
		assert_int_equal(mailbox(SET_PORT, V2_GIDS, ETHERNET), entries[i].status);
	}
}

static void the_port_of_roce_is_fixed(void **state)
{
	(void)state;
	set_up();
	put32(in(0), 1 << 3);
	put32(in(0x14), 4791);
	assert_int_equal(mailbox(CONFIG_DEV, 0, 0), OK);
	put32(in(0), 1 << 3);
	put32(in(0x14), 4792);
	assert_int_equal(mailbox(CONFIG_DEV, 0, 0), BAD_PARAM);
	put32(in(0), 1 << 0);
	assert_int_equal(mailbox(CONFIG_DEV, 0, 0), BAD_PARAM);
	assert_int_equal(mailbox(CONFIG_DEV, 0, 1), BAD_OP);
}

/* Headers of IPv4 and UDP, behind a tag if VLAN is not 0 */
static uint32_t fill_udp_headers(uint8_t *headers, uint32_t vlan)
{
	uint8_t *at = headers + 12;

	memcpy(headers, own, 6);
	memcpy(headers + 6, own, 6);
	if (vlan) {
		put32(at, 0x8100u << 16 | vlan);
		at += 4;
	}
	at[0] = 0x08;
	at += 2;
	put32(at, 0x455au << 16 | (20 + 8 + 12 + 8 + 256 + 4));
	put32(at + 8, 64u << 24 | 17 << 16);
	memcpy(at + 12, mapped + 12, 4);
	memcpy(at + 16, mapped + 12, 4);
	put32(at + 20, 0xc123u << 16 | 4791);
	put32(at + 28, 0x6400ffff); /* BTH: UD, SEND, to QP1 */
	put32(at + 32, 1);
	put32(at + 40, 0x80010000); /* DETH */
	put32(at + 44, 1);
	return (uint32_t)(at + 48 - headers);
}

static void post_udp_datagram(uint32_t wqe, uint32_t vlan)
{
	enum { FIRST = 44 };
	uint8_t headers[80] = { 0 };
	uint32_t all = fill_udp_headers(headers, vlan);

	put32(guest(wqe + 16), 1u << 31 | FIRST);
	memcpy(guest(wqe + 20), headers, FIRST);
	put32(guest(wqe + 64), 1u << 31 | (all - FIRST));
	memcpy(guest(wqe + 68), headers + FIRST, all - FIRST);
	put32(guest(wqe + 96), 256);
	put32(guest(wqe + 100), KEY << 8);
	put64(guest(wqe + 104), DATA);
	put32(guest(wqe + 112), 1u << 31 | 4);
	put32(guest(wqe + 4), 8);
	put32(guest(wqe + 8), 3 << 2);
	put32(guest(wqe), 0xa);
}

/* A QP beside QP1 sends for it. The address of both ends is an IPv4 address, of both versions; the
 * second datagram has a tag. */
static void a_management_datagram_arrives_by_udp(void **state)
{
	enum { TAG = 5 << 13 | 77 };
	const uint8_t *header = guest(DATA + 0x800 + 20);
	uint32_t recv_ring = RINGS + 8 * 256;

	(void)state;
	make_roce_qp1();
	fill_gid(0, mapped, 0, 0);
	fill_gid(1, mapped, 2, 0);
	assert_int_equal(mailbox(SET_PORT, V2_GIDS, ETHERNET), OK);
	special_to_rts(QPN, true, 8);
	memset(guest(DATA), 0x5c, 256);
	for (unsigned int i = 0; i < 2; i++) {
		put32(guest(recv_ring + i * 16), 296);
		put32(guest(recv_ring + i * 16 + 4), KEY << 8);
		put64(guest(recv_ring + i * 16 + 8), DATA + 0x800 + i * 0x200);
		post_udp_datagram(RINGS + 0x1000 + i * 256, i * TAG);
	}
	put32(guest(RECORDS + 0x80), 2);
	doorbell32(UAR * 0x1000 + 0x14, QPN << 8);
	vfio_run();
	assert_int_equal(cqe(0)[31] & 0x5f, 1);
	assert_int_equal(get32(cqe(0)) & 0xffffff, ROCE_QP1);
	assert_int_equal(get32(cqe(0) + 8), 1u << 31 | 1); /* from QP1, with a GRH */
	assert_int_equal(get32(cqe(0)) >> 29 & 1, 0);
	assert_int_equal(get32(header) >> 16,
			 0x455a); /* an IPv4 header, at the end of a GRH's room */
	assert_memory_equal(header + 12, mapped + 12, 4);
	assert_memory_equal(guest(DATA + 0x800 + 40), guest(DATA), 256);
	assert_int_equal(get32(cqe(1)) & 0xffffff, QPN);
	assert_int_equal(cqe(1)[31] & 0x7f, 0x4a);
	assert_int_equal(get32(cqe(2)) >> 29 & 1, 1);
	assert_int_equal(get32(cqe(2) + 0xc) >> 16, TAG);
	assert_memory_equal(guest(DATA + 0xa00 + 40), guest(DATA), 256);
}

static void fill_roce_rtr(uint8_t mode, uint8_t gid)
{
	uint8_t *qpc = in(8);

	fill_qp(QPN, false, 0);
	qpc[8] = 5 << 5 | 12; /* MTU */
	qpc[0xb] = (uint8_t)(mode << 6);
	qpc[0x18 + 5] = 0x80; /* GRH */
	qpc[0x18 + 9] = gid;
}

static void a_path_has_the_version_of_its_gid(void **state)
{
	enum { VLAN_TABLE = 3 << 8 | 1, TAGGED = 0x40 };

	(void)state;
	set_up();
	make_eq_and_cq();
	fill_gid(0, mapped, 0, 0);
	fill_gid(1, mapped, 2, 0);
	assert_int_equal(mailbox(SET_PORT, V2_GIDS, ETHERNET), OK);
	put32(in(5 * 4), 1u << 31 | 77);
	assert_int_equal(mailbox(SET_PORT, VLAN_TABLE, ETHERNET), OK);
	fill_qp(QPN, false, 0);
	assert_int_equal(mailbox(RST2INIT, QPN, 0), OK);
	fill_roce_rtr(2, 0);
	assert_int_equal(mailbox(INIT2RTR, QPN, 0), BAD_PARAM);
	fill_roce_rtr(0, 1);
	assert_int_equal(mailbox(INIT2RTR, QPN, 0), BAD_PARAM);
	fill_roce_rtr(2, 2);
	assert_int_equal(mailbox(INIT2RTR, QPN, 0), BAD_PARAM);
	fill_roce_rtr(2, 1);
	in(8)[0x18] = TAGGED;
	in(8)[0x18 + 0x21] = 4; /* where there is no VLAN */
	assert_int_equal(mailbox(INIT2RTR, QPN, 0), BAD_PARAM);
	fill_roce_rtr(2, 1);
	in(8)[0x18] = TAGGED;
	in(8)[0x18 + 0x21] = 5;
	assert_int_equal(mailbox(INIT2RTR, QPN, 0), OK);
	assert_int_equal(command(QUERY_QP, 0, QPN, 0), OK);
	assert_int_equal(guest(OUT + 8)[0xb], 2 << 6);
}

/* ---- rules of steering ---- */

enum { REGULAR = 0, DEFAULT = 1, MIRROR_TX = 5, SPECS = 0x10 };

static void set_up_with_rules(void)
{
	run_firmware();
	give_memory();
	init_fill();
	memset(in(0xd0), 0, 12); /* there is no table of groups */
	in(0x17)[0] = 1 << 6;
	assert_int_equal(mailbox(INIT_HCA, 0, 0), OK);
	write_translations();
}

static void fill_rule(uint8_t type, uint16_t priority, uint32_t qpn)
{
	put32(in(0), (uint32_t)priority << 16 | (uint32_t)type << 8);
	in(7)[0] = 1;
	put32(in(8), qpn);
}

static void fill_eth_spec(const char *mac)
{
	put32(in(SPECS), 12 << 24 | 0xe001);
	memcpy(in(SPECS + 0xa), mac, 6);
	memset(in(SPECS + 0x12), 0xff, 6);
}

static unsigned int attach_rule(uint32_t bytes)
{
	return mailbox(FLOW_ATTACH, bytes / 4, 0);
}

static void wrong_rules_are_refused(void **state)
{
	static const struct wrong rules[] = {
		{ 0x0, 4 << 8, BAD_PARAM },
		{ 0x0, 2 << 8, BAD_PARAM },
		{ 0x0, 5 << 8, BAD_PARAM },
		{ 0x0, 8 << 8, BAD_PARAM },
		{ 0x4, 2, BAD_PARAM },
		{ 0x4, 0, BAD_PARAM },
		{ 0x8, 1 << LOG_QPS, BAD_PARAM },
		{ SPECS, 11 << 24 | 0xe001, BAD_PARAM },
		{ SPECS, 12 << 24 | 0xe003, BAD_PARAM }, /* IPv6 */
		{ SPECS, 12 << 24 | 0xe002, BAD_PARAM },
	};

	(void)state;
	set_up_with_rules();
	for (unsigned int i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
		fill_rule(REGULAR, 1, QPN);
		fill_eth_spec(own);
		put32(in(rules[i].at), rules[i].value);
		assert_int_equal(attach_rule(0x40), rules[i].status);
	}
	fill_rule(REGULAR, 1, QPN);
	assert_int_equal(attach_rule(0x10), BAD_PARAM);
	fill_rule(REGULAR, 1, QPN);
	fill_eth_spec(own);
	assert_int_equal(attach_rule(0x3c), BAD_PARAM);
	assert_int_equal(attach_rule(0x204), BAD_PARAM);
	assert_int_equal(command(FLOW_DETACH, 1, 0, 0), BAD_RESOURCE);
	fill_rule(MIRROR_TX, 0, QPN);
	assert_int_equal(attach_rule(0x10), OK);
	assert_int_equal(command(READ_MCG, 0, 0, 0), BAD_INDEX);
}

static void rules_have_to_be_asked_for(void **state)
{
	(void)state;
	set_up();
	fill_rule(REGULAR, 1, QPN);
	fill_eth_spec(own);
	assert_int_equal(attach_rule(0x40), BAD_OP);
}

/* The function sends a frame, and returns the QP that has got it; 0: none has. */
static uint32_t send_and_see(unsigned int index, const char *mac)
{
	memset(guest(CQ), 0, 0x1000);
	post_frame(RINGS + index % 4 * 128, mac, 'a');
	put32(guest(RINGS + index % 4 * 128), 0xa | (index / 4 % 2) << 31);
	doorbell32(UAR * 0x1000 + 0x14, QPN << 8);
	vfio_run();
	for (unsigned int i = 0; i < 16; i++)
		if ((get32(cqe(i)) & 0xffffff) > QPN)
			return get32(cqe(i)) & 0xffffff;
	return 0;
}

/* A rule of an earlier priority is before others, and default rules are behind all. */
static void the_first_rule_gets_the_frame(void **state)
{
	uint64_t first, second;

	(void)state;
	set_up_with_rules();
	make_frame_queues();
	frames_to_rts(QPN + 2, false);
	for (unsigned int i = 1; i <= 4; i++)
		post_receive(RECORDS + 0xc0, RINGS + 0x1000 + 64 + (i - 1) * 16, DATA, i);
	assert_int_equal(send_and_see(0, own), 0);
	fill_rule(DEFAULT, 0, QPN + 2);
	assert_int_equal(attach_rule(0x10), OK);
	assert_int_equal(send_and_see(1, own), QPN + 2);
	fill_rule(REGULAR, 7, QPN + 1);
	fill_eth_spec(own);
	assert_int_equal(attach_rule(0x40), OK);
	first = bar_get(HCR + 0x10);
	assert_int_equal(send_and_see(2, own), QPN + 1);
	fill_rule(REGULAR, 6, QPN + 2);
	fill_eth_spec(own);
	assert_int_equal(attach_rule(0x40), OK);
	second = bar_get(HCR + 0x10);
	assert_int_not_equal(first, second);
	assert_int_equal(send_and_see(3, own), QPN + 2);
	assert_int_equal(command(FLOW_DETACH, second, 0, 0), OK);
	assert_int_equal(command(FLOW_DETACH, second, 0, 0), BAD_RESOURCE);
	assert_int_equal(command(CLOSE_HCA, 0, 0, 0), OK);
}

#define TEST(name)      cmocka_unit_test_setup_teardown(name, vfio_setup_mlx4, vfio_teardown)
#define TEST_ROCE(name) cmocka_unit_test_setup_teardown(name, vfio_setup_mlx4_roce, vfio_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(it_is_a_connectx_3),
		TEST(one_driver_has_it),
		TEST(a_register_resets_it),
		TEST(death_is_in_the_error_buffer),
		TEST(a_lost_command_stays),
		TEST(commands_wait_for_their_turn),
		TEST(unknown_commands_are_refused),
		TEST(memory_for_tables_is_watched),
		TEST(a_refused_mailbox_maps_nothing),
		TEST(initialization_is_checked),
		TEST(a_command_ends_with_an_event),
		TEST(wrong_contexts_are_refused),
		TEST(wrong_keys_are_refused),
		TEST(a_refused_key_stays_with_software),
		TEST(a_key_outside_of_the_table_is_refused),
		TEST(only_so_many_keys_are_looked_at),
		TEST(states_of_a_qp_have_an_order),
		TEST(a_message_goes_from_qp_to_qp),
		TEST(xrc_goes_by_number),
		TEST(a_window_opens_when_it_is_bound),
		TEST(no_window_leads_to_a_window),
		TEST(blueflame_rings),
		TEST(agents_answer),
		TEST(a_management_datagram_arrives),
		TEST(groups_are_a_table),
		TEST(a_refused_group_stays_as_it_was),
		TEST(a_group_has_one_entry),
		TEST(a_chain_of_groups_may_be_a_ring),
		TEST(closing_forgets_objects),
		TEST_ROCE(an_ethernet_port_is_set_up),
		TEST_ROCE(wrong_queues_of_frames_are_refused),
		TEST_ROCE(frames_come_back_to_their_sender),
		TEST_ROCE(one_queue_of_frames_sends_and_receives),
		TEST_ROCE(a_frame_ends_where_its_ring_does),
		TEST_ROCE(closing_forgets_who_takes_frames),
		TEST_ROCE(a_queue_of_frames_can_be_in_error),
		TEST_ROCE(frames_are_spread_by_a_hash),
		TEST_ROCE(a_management_datagram_arrives_on_roce),
		TEST_ROCE(a_management_datagram_has_a_source),
		TEST_ROCE(gids_have_a_version),
		TEST_ROCE(the_port_of_roce_is_fixed),
		TEST_ROCE(a_management_datagram_arrives_by_udp),
		TEST_ROCE(a_path_has_the_version_of_its_gid),
		TEST_ROCE(wrong_rules_are_refused),
		TEST_ROCE(rules_have_to_be_asked_for),
		TEST_ROCE(the_first_rule_gets_the_frame),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

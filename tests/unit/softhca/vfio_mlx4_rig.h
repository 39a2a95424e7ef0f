/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * vfio_mlx4_rig.h - an mlx4 adapter behind the PCI front, for tests that act as its driver:
 * commands, contexts of objects, work requests. Repeats the layouts as offsets, as an independent
 * check.
 */
#ifndef TEST_VFIO_MLX4_RIG_H
#define TEST_VFIO_MLX4_RIG_H

#include <stdbool.h>
#include <stdint.h>

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
	/* Guest memory */
	IN = GUEST_BASE, /* mailboxes */
	OUT = GUEST_BASE + 0x1000,
	FIRMWARE = GUEST_BASE + 0x2000, /* 2 pages */
	AUX = GUEST_BASE + 0x4000,      /* a page */
	MTTS = GUEST_BASE + 0x5000,     /* one page of MTT entries */
	KEYS = GUEST_BASE + 0x6000,     /* one page of MPT entries */
	EQ = GUEST_BASE + 0x7000,       /* rings, a page each */
	CQ = GUEST_BASE + 0x8000,
	RINGS = GUEST_BASE + 0x9000, /* for two QPs */
	SRQ = GUEST_BASE + 0xb000,
	RECORDS = GUEST_BASE + 0xc000,
	DATA = GUEST_BASE + 0xd000,
	/* Offsets in the ICM */
	ICM_SIZE = 0x100000,
	ICM_MTT = 0x10000,
	ICM_KEYS = 0x20000,
	/* Numbers of objects */
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
	XRC_TARGET = 1 << 23, /* bit of a QP number */
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
	RTS2RTS = 0x1c,
	TO_ERR = 0x1e,
	RTS2SQD = 0x1f,
	SQD2RTS = 0x20,
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
	SQD2SQD = 0x38,
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

enum { LOG_EQ = 4, LOG_CQ = 4 };

struct wrong {
	uint32_t at, value; /* word of the mailbox */
	unsigned int status;
};

enum { ETHERNET = 1, GENERAL = 0 << 8 | 1, RECEIVER = 1 << 8 | 1, GIDS = 5 << 8 | 1 };

enum { FRAME = 100 };

enum { CQE_ERROR = 0x1e, OF_SEND = 1 << 6, BAD_SIZE = 0x6b, BAD_AV = 0x6f };

void put32(uint8_t *at, uint32_t value);
void put64(uint8_t *at, uint64_t value);
uint32_t get32(const uint8_t *at);

void command_start(uint16_t opcode, uint64_t in, uint32_t modifier, uint8_t op, uint32_t flags);
/* Executes a command with the parameter IN; returns its status. */
unsigned int command(uint16_t opcode, uint64_t in, uint32_t modifier, uint8_t op);
/* Executes a command with the mailbox IN, and clears the mailbox; returns its status. */
unsigned int mailbox(uint16_t opcode, uint32_t modifier, uint8_t op);
uint8_t *in(uint32_t offset);
/* Executes MAP_FA, MAP_ICM_AUX or MAP_ICM with one entry. */
unsigned int map(uint16_t opcode, uint64_t virt, uint64_t addr, unsigned int log_pages);

void init_fill(void);
void run_firmware(void);
void give_memory(void);
/* Writes the MTT entries, in this order: EQ, CQ, rings, SRQ, data. */
void write_translations(void);
void set_up(void);

void fill_eq(void);
void fill_cq(void);
void fill_mpt(void);
void fill_srq(void);
/* Fills the context of a QP with 4 receives of 16 bytes and 8 sends of 64; SECOND selects the
 * second page of RINGS. */
void fill_qp(uint32_t qpn, bool second, uint8_t service);
void make_eq_and_cq(void);
void own_rings(void);
void to_rts(uint32_t qpn, bool second, uint32_t peer, uint8_t service);
void connect_qps(void);
/* Makes all that a request needs: empty rings, an EQ, a CQ, and a key over all memory. */
void make_queues_and_key(void);
void doorbell(uint32_t offset, const void *bytes, uint32_t len);
void doorbell32(uint32_t offset, uint32_t value);
const uint8_t *cqe(unsigned int index);

void refuse(uint16_t opcode, uint32_t number, void (*fill)(void), const struct wrong *wrong,
	    unsigned int count);
void post_receive(uint32_t record, uint32_t ring, uint32_t addr, uint16_t count);
/* Posts a SEND of 4 bytes at DATA, with the XRC SRQ number SRQN, or 0 for none. */
void post_send(uint32_t wqe, uint32_t srqn);
void special_to_rts(uint32_t qpn, bool second, unsigned int log_slot);
void frames_to_rts(uint32_t qpn, bool sends);
/* Posts an inline frame of two blocks; the second begins with an inline header, whose highest bit
 * is no owner bit. */
void post_frame_bytes(uint32_t wqe, const uint8_t *frame);
/* MAC address of the port */
extern const char own_mac[7];
void post_frame(uint32_t wqe, const char *mac, uint8_t what);
void make_frame_queues(void);

#define REFUSE(opcode, number, fill, wrong) \
	refuse(opcode, number, fill, wrong, sizeof(wrong) / sizeof((wrong)[0]))

#define TEST(name)      cmocka_unit_test_setup_teardown(name, vfio_setup_mlx4, vfio_teardown)
#define TEST_ROCE(name) cmocka_unit_test_setup_teardown(name, vfio_setup_mlx4_roce, vfio_teardown)

#endif

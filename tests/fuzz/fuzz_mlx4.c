/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * fuzz_mlx4.c - attacks of a guest on the PCI device of an mlx4 adapter: commands in any order
 * whose contexts have one wrong word, doorbells, and rings with random contents.
 *
 * Covers: softhca/device/format/mlx4/, softhca/front/pci/mlx4/
 */
#include <endian.h>
#include <fcntl.h>
#include <linux/pci_regs.h>
#include <linux/vfio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "prm/mlx4/caps.h"
#include "prm/mlx4/cqc.h"
#include "prm/mlx4/eqc.h"
#include "prm/mlx4/mcg.h"
#include "prm/mlx4/mpt.h"
#include "prm/mlx4/qpc.h"
#include "prm/mlx4/srqc.h"
#include "prm/mlx4/wqe.h"
#include "softhca/front/vfio-user/answer.h"
#include "tests/fuzz/reports.h"
#include "tests/fuzz/world.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

enum {
	MEM = 1 << 20,
	BASE = 1 << 20,
	PAGE = 4096,
	IN = BASE,
	OUT = BASE + PAGE,
	TABLES = BASE + 4 * PAGE, /* of translations, of keys, then the firmware's */
	RINGS = BASE + 32 * PAGE,
	/* Translations lead to this part; the memory behind it may be accessed too. */
	RING_BYTES = MEM - 64 * PAGE,
	ICM_MTT = 0x10000,
	ICM_KEYS = 0x20000,
	LOG_OBJECTS = 5,
	FIRST_EQ = 4,
	SPECIAL = 8, /* the first management QP */
	QPS = 16,
	/* On Ethernet, QPs of frames: from FIRST_FRAMES on those that send, then one that receives,
	 * and one that spreads over others. */
	FIRST_FRAMES = 4,
	TAKER = 6,
	SPREADER = 7,
	XRC_TARGET = M4_XRC_TARGET | 7,
};

static struct {
	struct device device;
	struct source source;
	bool is_ethernet;
	int fd;
	uint8_t *mem;
	uint8_t reply[1 << 17];
	/* The rings of a QP, as its last context described them, and the number of posted sends. */
	struct {
		uint32_t ring, log_block, log_size, receives, record, uar;
		uint16_t head;
	} qp[QPS];
} guest;

static uint32_t random_below(uint32_t n)
{
	return pick(&guest.source, n);
}

static uint8_t *guest_memory(uint32_t addr)
{
	return guest.mem + (addr - BASE);
}

static void send_message(enum vfu_command command, const void *body, size_t len, int fd)
{
	struct message message = {
		.command = command,
		.body = body,
		.len = len,
		.fd = &fd,
		.num_fds = fd >= 0,
		.reply = guest.reply,
	};

	message_answer(&guest.device, &message);
	if (fd >= 0)
		close(fd);
}

static void region_write(uint32_t region, uint64_t offset, const void *bytes, uint32_t count)
{
	uint8_t body[sizeof(struct vfu_region_access) + 8];
	struct vfu_region_access access = { offset, region, count };

	memcpy(body, &access, sizeof(access));
	memcpy(body + sizeof(access), bytes, count);
	send_message(VFU_REGION_WRITE, body, sizeof(access) + count, -1);
}

static void register_write(uint64_t offset, uint32_t value)
{
	uint32_t be = htobe32(value);

	region_write(VFIO_PCI_BAR0_REGION_INDEX, offset, &be, sizeof(be));
}

static void device_work(void)
{
	watch_begin("device_progress");
	device_progress(&guest.device, 0);
	watch_end();
}

static void command_run(uint16_t opcode, uint64_t in, uint32_t modifier, uint8_t op)
{
	register_write(M4_HCR, in >> 32);
	register_write(M4_HCR + 4, (uint32_t)in);
	register_write(M4_HCR + 8, modifier);
	register_write(M4_HCR + 0xc, 0);
	register_write(M4_HCR + 0x10, once_in(&guest.source, 64) ? take_edge(&guest.source) : OUT);
	register_write(M4_HCR + 0x14, take8(&guest.source) << 16);
	register_write(M4_HCR + 0x18,
		       1u << 23 | (random_below(4) ? 0 : 1u << 22) | (uint32_t)op << 12 | opcode);
	device_work();
}

static void pages_give(uint16_t opcode, uint64_t virt, uint32_t addr, unsigned int log)
{
	memset(guest_memory(IN), 0, M4_MAP_ENTRY);
	fld_set(guest_memory(IN), M4_MAP_VIRT, virt);
	fld_set(guest_memory(IN), M4_MAP_ADDR, addr | log);
	command_run(opcode, IN, 1, 0);
}

static void fill_init(uint8_t *in)
{
	fld_set(in, M4_INIT_VERSION, M4_INIT_VERSION_2);
	fld_set(in, M4_INIT_MTT, ICM_MTT);
	fld_set(in, M4_INIT_DMPT, ICM_KEYS);
	fld_set(in, M4_INIT_LOG_QPS, LOG_OBJECTS);
	fld_set(in, M4_INIT_LOG_SRQS, LOG_OBJECTS);
	fld_set(in, M4_INIT_LOG_CQS, LOG_OBJECTS);
	fld_set(in, M4_INIT_LOG_MPTS, LOG_OBJECTS);
	fld_set(in, M4_INIT_LOG_MCG, 10);
	fld_set(in, M4_INIT_LOG_MCGS, LOG_OBJECTS);
	fld_set(in, M4_INIT_LOG_HASH, LOG_OBJECTS - 1);
	fld_set(in, M4_INIT_LARGE_CQE, random_below(2));
}

static void set_up(void)
{
	struct vfu_dma_map map = { .flags = 3, .addr = BASE, .size = MEM };
	uint8_t master[] = { PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER, 0 };

	send_message(VFU_DMA_MAP, &map, sizeof(map), dup(guest.fd));
	region_write(VFIO_PCI_CONFIG_REGION_INDEX, PCI_COMMAND, master, sizeof(master));
	pages_give(M4_CMD_MAP_FA, 0, TABLES + 2 * PAGE, 1);
	command_run(M4_CMD_RUN_FW, 0, 0, 0);
	command_run(M4_CMD_SET_ICM_SIZE, 1 << 20, 0, 0);
	pages_give(M4_CMD_MAP_ICM_AUX, 0, TABLES + 4 * PAGE, 0);
	pages_give(M4_CMD_MAP_ICM, ICM_MTT, TABLES, 0);
	pages_give(M4_CMD_MAP_ICM, ICM_KEYS, TABLES + PAGE, 0);
	memset(guest_memory(IN), 0, PAGE);
	fill_init(guest_memory(IN));
	command_run(M4_CMD_INIT_HCA, IN, 0, 0);
	command_run(M4_CMD_CONF_SPECIAL_QP, 0, SPECIAL, 0);
	for (uint32_t i = 0; i < PAGE / M4_MTT_SIZE; i++)
		fld_set64(guest_memory(TABLES), i * M4_MTT_SIZE,
			  (RINGS + i * PAGE % RING_BYTES) | M4_MTT_PRESENT);
}

static uint32_t some_translation(void)
{
	return random_below(256) * M4_MTT_SIZE;
}

static uint32_t some_record(void)
{
	return BASE + 8 * PAGE + random_below(64) * 64;
}

static void fill_eq(uint8_t *in, uint32_t n)
{
	(void)n;
	fld_set(in, M4_EQC_STATE, M4_EQ_ARMED);
	fld_set(in, M4_EQC_LOG_SIZE, random_below(8));
	fld_set(in, M4_EQC_MTT_L, some_translation());
}

static void fill_cq(uint8_t *in, uint32_t n)
{
	(void)n;
	fld_set(in, M4_CQC_LOG_SIZE, random_below(8));
	fld_set(in, M4_CQC_UAR, 1 + random_below(2));
	fld_set(in, M4_CQC_EQN, FIRST_EQ + random_below(2));
	fld_set(in, M4_CQC_HAS_TIME, random_below(2));
	fld_set(in, M4_CQC_MTT_L, some_translation());
	fld_set(in, M4_CQC_RECORD, some_record());
}

static void fill_mpt(uint8_t *in, uint32_t n)
{
	fld_set(in, FLD(0x0, 31, 0),
		0xfu << 28 | 1u << 17 | (n < 2 ? 63 : random_below(64)) << 10 | 1u << 8);
	fld_set(in, M4_MPT_BIND, 1);
	fld_set(in, M4_MPT_REGION, n < 2 || random_below(4));
	fld_set(in, M4_MPT_PHYSICAL, once_in(&guest.source, 8));
	fld_set(in, M4_MPT_KEY, n);
	fld_set(in, M4_MPT_PD, 1);
	fld_set(in, M4_MPT_START, RINGS);
	fld_set(in, M4_MPT_LENGTH, (n < 2 ? 8 : random_below(16)) * PAGE);
	fld_set(in, M4_MPT_MTT, some_translation());
	fld_set(in, M4_MPT_LOG_PAGE_SIZE, 12);
}

static void fill_srq(uint8_t *in, uint32_t n)
{
	fld_set(in, M4_SRQC_SRQN, n);
	fld_set(in, M4_SRQC_LOG_SIZE, random_below(6));
	fld_set(in, M4_SRQC_LOG_STRIDE, 1 + random_below(3));
	fld_set(in, M4_SRQC_MTT_L, some_translation());
	fld_set(in, M4_SRQC_PD, 1);
	fld_set(in, M4_SRQC_XRCD, random_below(3));
	fld_set(in, M4_SRQC_CQN, random_below(4));
	fld_set(in, M4_SRQC_RECORD, some_record());
}

/* A QP of frames has one ring. Its WQEs may be too large. */
static void fill_frames_qp(uint8_t *in, uint32_t n)
{
	uint8_t *qpc = fld_at(in, M4_MODIFY_QPC);
	bool spreads = n == SPREADER, takes = n >= TAKER;

	fld_set(qpc, M4_QPC_ST, M4_ST_MLX);
	fld_set(qpc, M4_QPC_RSS, spreads);
	fld_set(qpc, M4_QPC_RSS_FUNCTION, spreads);
	fld_set(qpc, M4_QPC_RSS_LOG_SIZE, random_below(3));
	fld_set(qpc, M4_QPC_RSS_FLAGS, random_below(64));
	fld_set(qpc, M4_QPC_RSS_QPN, TAKER - random_below(3));
	fld_set(qpc, M4_QPC_RSS_OTHERS, TAKER + random_below(2));
	fld_set(qpc, M4_QPC_RSS_UDP_QPN, TAKER - random_below(3));
	fld_set(qpc, M4_QPC_PD, 1);
	fld_set(qpc, M4_QPC_LOG_RQ_SIZE, takes && !spreads ? random_below(4) : 0);
	fld_set(qpc, M4_QPC_LOG_RQ_STRIDE, random_below(4) ? 0 : random_below(8));
	fld_set(qpc, M4_QPC_LOG_SQ_SIZE, takes ? 0 : 1 + random_below(5));
	fld_set(qpc, M4_QPC_LOG_SQ_STRIDE, random_below(4) ? 2 : random_below(8));
	fld_set(qpc, M4_QPC_UAR, 1 + random_below(2));
	fld_set(qpc, M4_QPC_LOCAL_QPN, n);
	fld_set(qpc, M4_QPC_CQN_SEND, random_below(4));
	fld_set(qpc, M4_QPC_CQN_RECV, random_below(4));
	fld_set(qpc, M4_QPC_RECORD, some_record());
	fld_set(qpc, M4_QPC_MTT_L, some_translation());
}

static bool is_of_frames(uint32_t n)
{
	return guest.is_ethernet && n >= FIRST_FRAMES && n <= SPREADER;
}

static void fill_qp(uint8_t *in, uint32_t n)
{
	static const uint8_t services[] = { M4_ST_RC, M4_ST_UC, M4_ST_UD, M4_ST_XRC };
	uint8_t *qpc = fld_at(in, M4_MODIFY_QPC), *path = fld_at(qpc, M4_QPC_PATH);

	if (is_of_frames(n)) {
		fill_frames_qp(in, n);
		return;
	}
	fld_set(qpc, M4_QPC_ST, n >= SPECIAL && n < SPECIAL + 4 ? M4_ST_MLX : services[n % 4]);
	fld_set(qpc, M4_QPC_PD, 1);
	fld_set(qpc, M4_QPC_MTU, 1 + random_below(5));
	fld_set(qpc, M4_QPC_LOG_MSG_MAX, 20);
	fld_set(qpc, M4_QPC_LOG_RQ_SIZE, random_below(4));
	fld_set(qpc, M4_QPC_LOG_RQ_STRIDE, random_below(3));
	fld_set(qpc, M4_QPC_LOG_SQ_SIZE, 1 + random_below(5));
	fld_set(qpc, M4_QPC_LOG_SQ_STRIDE, 2 + random_below(3));
	fld_set(qpc, M4_QPC_UAR, 1 + random_below(2));
	fld_set(qpc, M4_QPC_LOCAL_QPN, n);
	fld_set(qpc, M4_QPC_REMOTE_QPN, n == 3 ? XRC_TARGET : random_below(4) ? n ^ 4 : n);
	fld_set(qpc, M4_QPC_XRCD, random_below(3));
	fld_set(path, M4_PATH_RLID, 1);
	fld_set(path, M4_PATH_GRH, random_below(2));
	fld_set(path, M4_PATH_ACKTO, random_below(32));
	fld_set(qpc, M4_QPC_CQN_SEND, random_below(4));
	fld_set(qpc, M4_QPC_CQN_RECV, random_below(4));
	fld_set(qpc, FLD(0x90, 15, 13), random_below(8));
	fld_set(qpc, M4_QPC_RECORD, some_record());
	fld_set(qpc, M4_QPC_HAS_SRQ, once_in(&guest.source, 4));
	fld_set(qpc, M4_QPC_SRQN, random_below(4));
	fld_set(qpc, M4_QPC_MTT_L, some_translation());
}

/* The rings begin at the page of the translation; the ring of larger WQEs comes first. */
static void remember_qp(const uint8_t *in, uint32_t n)
{
	const uint8_t *qpc = fld_at(in, M4_MODIFY_QPC);
	uint32_t log_stride = 4 + fld_get(qpc, M4_QPC_LOG_RQ_STRIDE);
	uint32_t begin = RINGS + fld_get(qpc, M4_QPC_MTT_L) / M4_MTT_SIZE * PAGE % RING_BYTES;
	uint32_t log_block = 4 + fld_get(qpc, M4_QPC_LOG_SQ_STRIDE);
	uint32_t receives = 1u << fld_get(qpc, M4_QPC_LOG_RQ_SIZE) << log_stride;
	uint32_t sends = 1u << fld_get(qpc, M4_QPC_LOG_SQ_SIZE) << log_block;
	bool sends_first = log_stride <= log_block;

	guest.qp[n % QPS].ring = begin + (sends_first ? 0 : receives);
	guest.qp[n % QPS].receives = begin + (sends_first ? sends : 0);
	guest.qp[n % QPS].log_block = log_block;
	guest.qp[n % QPS].log_size = fld_get(qpc, M4_QPC_LOG_SQ_SIZE);
	guest.qp[n % QPS].record = (uint32_t)fld_get(qpc, M4_QPC_RECORD);
	guest.qp[n % QPS].uar = fld_get(qpc, M4_QPC_UAR);
	guest.qp[n % QPS].head = 0;
	memset(guest_memory(begin), 0xff, sends + receives);
}

static void fill_new_qp(uint8_t *in, uint32_t n)
{
	fill_qp(in, n);
	remember_qp(in, n);
}

static void fill_mcg(uint8_t *in, uint32_t n)
{
	fld_set(in, M4_MCG_NEXT, n + random_below(3));
	fld_set(in, M4_MCG_MEMBERS, random_below(3));
	memset(fld_at(in, M4_MCG_GID), 0xff, 16);
	fld_set(fld_at(in, M4_MCG_QPS), M4_MCG_QPN, random_below(32));
}

static void fill_mad(uint8_t *in, uint32_t n)
{
	(void)n;
	in[0] = in[2] = in[3] = 1;
	in[1] = random_below(2) ? 1 : take8(&guest.source);
	in[17] = random_below(4) ? 0x10 + random_below(8) : take8(&guest.source);
}

static void fill_receiver(uint8_t *in, uint32_t n)
{
	(void)n;
	fld_set(in, M4_SET_PORT_BASE_QPN, random_below(4) ? SPREADER : random_below(32));
}

static void fill_longest(uint8_t *in, uint32_t n)
{
	(void)n;
	fld_set(in, M4_SET_PORT_HAS_MTU, 1);
	fld_set(in, M4_SET_PORT_ETH_MTU, random_below(2) ? 1522 : random_below(1 << 14));
}

static void fill_gids(uint8_t *in, uint32_t n)
{
	in[random_below(M4_ROCE_GIDS * 16)] = n;
}

static void fill_nothing(uint8_t *in, uint32_t n)
{
	(void)in;
	(void)n;
}

static const struct recipe {
	uint16_t opcode;
	uint32_t first, count;
	uint8_t op;
	void (*fill)(uint8_t *in, uint32_t n);
} recipes[] = {
	{ M4_CMD_SW2HW_EQ, FIRST_EQ, 2, 0, fill_eq },
	{ M4_CMD_MAP_EQ, FIRST_EQ, 2, 0, fill_nothing },
	{ M4_CMD_HW2SW_EQ, FIRST_EQ, 2, 1, fill_nothing },
	{ M4_CMD_SW2HW_CQ, 0, 4, 0, fill_cq },
	{ M4_CMD_SW2HW_CQ, 0, 4, 0, fill_cq },
	{ M4_CMD_MODIFY_CQ, 0, 4, 0, fill_cq },
	{ M4_CMD_MODIFY_CQ, 0, 4, 1, fill_cq },
	{ M4_CMD_HW2SW_CQ, 0, 4, 1, fill_nothing },
	{ M4_CMD_QUERY_CQ, 0, 4, 0, fill_nothing },
	{ M4_CMD_SW2HW_MPT, 0, 8, 0, fill_mpt },
	{ M4_CMD_SW2HW_MPT, 0, 8, 0, fill_mpt },
	{ M4_CMD_HW2SW_MPT, 0, 8, 0, fill_nothing },
	{ M4_CMD_SYNC_TPT, 0, 1, 0, fill_nothing },
	{ M4_CMD_SW2HW_SRQ, 0, 4, 0, fill_srq },
	{ M4_CMD_HW2SW_SRQ, 0, 4, 1, fill_nothing },
	{ M4_CMD_ARM_SRQ, 0, 4, 0, fill_nothing },
	{ M4_CMD_RST2INIT_QP, 0, QPS, 0, fill_new_qp },
	{ M4_CMD_RST2INIT_QP, 0, QPS, 0, fill_new_qp },
	{ M4_CMD_RST2INIT_QP, XRC_TARGET, 1, 0, fill_new_qp },
	{ M4_CMD_2RST_QP, XRC_TARGET, 1, 2, fill_nothing },
	{ M4_CMD_INIT2INIT_QP, 0, QPS, 0, fill_qp },
	{ M4_CMD_INIT2RTR_QP, 0, QPS, 0, fill_qp },
	{ M4_CMD_INIT2RTR_QP, 0, QPS, 0, fill_qp },
	{ M4_CMD_RTR2RTS_QP, 0, QPS, 0, fill_qp },
	{ M4_CMD_RTR2RTS_QP, 0, QPS, 0, fill_qp },
	{ M4_CMD_RTS2RTS_QP, 0, QPS, 0, fill_qp },
	{ M4_CMD_SQERR2RTS_QP, 0, QPS, 0, fill_qp },
	{ M4_CMD_RTS2SQD_QP, 0, QPS, 0, fill_qp },
	{ M4_CMD_SQD2SQD_QP, 0, QPS, 0, fill_qp },
	{ M4_CMD_SQD2RTS_QP, 0, QPS, 0, fill_qp },
	{ M4_CMD_QUERY_QP, 0, 16, 0, fill_nothing },
	{ M4_CMD_2ERR_QP, 0, 16, 0, fill_nothing },
	{ M4_CMD_2RST_QP, 0, 16, 2, fill_nothing },
	{ M4_CMD_CONF_SPECIAL_QP, 0, 16, 0, fill_nothing },
	{ M4_CMD_MGID_HASH, 0, 1, 0, fill_mad },
	{ M4_CMD_READ_MCG, 0, 32, 0, fill_nothing },
	{ M4_CMD_WRITE_MCG, 0, 32, 0, fill_mcg },
	{ M4_CMD_MAD_IFC, 1, 1, 3, fill_mad },
	{ M4_CMD_DIAG_RPRT, 0, 1, 2, fill_nothing },
	{ M4_CMD_QUERY_PORT, 1, 1, 0, fill_nothing },
	{ M4_CMD_SET_PORT, M4_SET_PORT_GENERAL << M4_SET_PORT_SHIFT, 3, M4_SET_PORT_ETH,
	  fill_longest },
	{ M4_CMD_SET_PORT, M4_SET_PORT_RQP_CALC << M4_SET_PORT_SHIFT, 3, M4_SET_PORT_ETH,
	  fill_receiver },
	{ M4_CMD_SET_PORT, M4_SET_PORT_GID_TABLE << M4_SET_PORT_SHIFT, 3, M4_SET_PORT_ETH,
	  fill_gids },
	{ M4_CMD_SET_VLAN_FLTR, 0, 3, 0, fill_nothing },
	{ M4_CMD_SET_MCAST_FLTR, 0, 3, 0, fill_nothing },
	{ M4_CMD_DUMP_ETH_STATS, 0, 3, 0, fill_nothing },
};

static void some_command(void)
{
	const struct recipe *recipe = &recipes[random_below(sizeof(recipes) / sizeof(recipes[0]))];
	uint32_t n = recipe->first + random_below(recipe->count), word = 4 * random_below(64);
	uint32_t in = once_in(&guest.source, 64) ? take_edge(&guest.source) : IN;

	memset(guest_memory(IN), 0, PAGE);
	recipe->fill(guest_memory(IN), n);
	if (once_in(&guest.source, 6))
		fld_set(guest_memory(IN + word), FLD(0x0, 31, 0), take_edge(&guest.source));
	if (once_in(&guest.source, 32))
		n = take_edge(&guest.source);
	command_run(recipe->opcode, in, n,
		    once_in(&guest.source, 32) ? random_below(16) : recipe->op);
}

static void object_make(uint16_t opcode, uint32_t n, void (*fill)(uint8_t *in, uint32_t n))
{
	memset(guest_memory(IN), 0, PAGE);
	fill(guest_memory(IN), n);
	command_run(opcode, IN, n, 0);
}

/* Creates some objects of each kind, mostly with valid contexts, as random ones would be
 * refused. */
static void make_objects(void)
{
	static const uint32_t qps[] = {
		0, 4, 1, 2, 3, XRC_TARGET, SPECIAL + 2, 5, TAKER, SPREADER
	};

	for (uint32_t n = FIRST_EQ; n < FIRST_EQ + 2; n++)
		object_make(M4_CMD_SW2HW_EQ, n, fill_eq);
	command_run(M4_CMD_MAP_EQ, ~0ull >> 32, FIRST_EQ, 0);
	for (uint32_t n = 0; n < 4; n++) {
		object_make(M4_CMD_SW2HW_CQ, n, fill_cq);
		object_make(M4_CMD_SW2HW_MPT, n, fill_mpt);
		object_make(M4_CMD_SW2HW_SRQ, n, fill_srq);
	}
	for (size_t i = 0; i < sizeof(qps) / sizeof(qps[0]); i++) {
		object_make(M4_CMD_RST2INIT_QP, qps[i], fill_new_qp);
		object_make(M4_CMD_INIT2RTR_QP, qps[i], fill_qp);
		object_make(M4_CMD_RTR2RTS_QP, qps[i], fill_qp);
	}
	memset(guest_memory(IN), 0, PAGE);
	fill_receiver(guest_memory(IN), 0);
	command_run(M4_CMD_SET_PORT, IN, M4_SET_PORT_RQP_CALC << M4_SET_PORT_SHIFT | 1,
		    M4_SET_PORT_ETH);
}

/* Runs any command, often one of a driver's start or end; now and then it starts anew. */
static void any_command(void)
{
	static const uint16_t opcodes[] = {
		M4_CMD_UNMAP_ICM, M4_CMD_MAP_ICM,  M4_CMD_UNMAP_ICM_AUX, M4_CMD_UNMAP_FA,
		M4_CMD_CLOSE_HCA, M4_CMD_INIT_HCA, M4_CMD_WRITE_MTT,     M4_CMD_MOD_STAT_CFG,
	};
	uint64_t in = random_below(2) ? IN : (uint64_t)random_below(64) * PAGE;

	for (unsigned int i = 0; i < 64; i++)
		guest_memory(IN)[random_below(512)] = take8(&guest.source);
	if (random_below(2))
		command_run((uint16_t)random_below(0x1000), in, take_edge(&guest.source),
			    random_below(16));
	else
		command_run(opcodes[random_below(8)], in, 1 + random_below(128), 0);
	if (once_in(&guest.source, 4)) {
		set_up();
		make_objects();
	}
}

/* Puts the segments of a management QP before its data, and those after it. */
static void put_headers(uint8_t *wqe)
{
	uint8_t *headers = wqe + M4_SEG + M4_INLINE_HEADER, *icrc = wqe + 4 * M4_SEG;

	fld_set(wqe, M4_CTRL_DS, 5);
	fld_set(wqe + M4_SEG, FLD(0x0, 31, 0), 1u << 31 | 28);
	fld_set(headers, FLD(0x0, 31, 0), random_below(2) ? 0x00020001 : 0x00030001);
	fld_set(headers, FLD(0x8, 31, 0), 0x6400ffff + random_below(3) * 0x1000000);
	fld_set(headers, FLD(0xc, 31, 0), random_below(4));
	fld_set(icrc, FLD(0x0, 31, 0), 1u << 31 | (random_below(4) ? 4 : random_below(32)));
}

static void put_data(uint8_t *data, bool right)
{
	fld_set(data, FLD(0x0, 31, 0), right ? 1 + random_below(128) : random_below(128));
	fld_set(data, M4_DATA_INLINE, !right && random_below(2));
	fld_set(data, M4_DATA_LKEY, random_below(right ? 2 : 8) << 8);
	fld_set(data, M4_DATA_ADDR, RINGS + (right ? random_below(256) : random_below(8 * PAGE)));
}

/* Puts a WQE. One of three is valid, a SEND of some bytes, so that the connection does not only
 * fail. */
static void put_wqe(uint8_t *wqe)
{
	bool right = random_below(3) == 0;

	memset(wqe + 4, 0, 60);
	fld_set(wqe, M4_CTRL_DS,
		right             ? 2
		: random_below(8) ? 1 + random_below(8)
				  : random_below(64));
	fld_set(wqe, M4_CTRL_SOLICITED, random_below(2));
	fld_set(wqe, M4_CTRL_CQE, right || random_below(2) ? M4_CQE_WANTED : 0);
	for (unsigned int seg = 1; seg < 4; seg++)
		put_data(wqe + (size_t)seg * M4_SEG, right);
	if (!right && random_below(2))
		put_headers(wqe);
	fld_set(wqe, FLD(0x0, 31, 0),
		right || random_below(2) ? (uint32_t)M4_SEND : random_below(32));
}

static void requests_post(uint32_t n)
{
	uint32_t mask = (1u << guest.qp[n].log_size) - 1;
	uint16_t head = guest.qp[n].head++;
	uint8_t *wqe = guest_memory(guest.qp[n].ring + ((head & mask) << guest.qp[n].log_block));
	uint8_t *receive = guest_memory(guest.qp[n].receives + random_below(4) * 16);

	put_wqe(wqe);
	fld_set(wqe, M4_CTRL_OWNER, head >> guest.qp[n].log_size & 1);
	fld_set(receive, M4_DATA_LEN, random_below(256));
	fld_set(receive, M4_DATA_LKEY, random_below(8) << 8);
	fld_set(receive, M4_DATA_ADDR, RINGS + random_below(8 * PAGE));
	fld_set(guest_memory(guest.qp[n].record), FLD(0x0, 31, 0), head + random_below(3));
}

static void doorbell_ring(void)
{
	uint32_t n = random_below(QPS), offset = (1 + random_below(2)) * M4_UAR_PAGE;
	uint8_t bytes[8];

	fld_set(bytes, FLD(0x0, 31, 0), once_in(&guest.source, 8) ? take32(&guest.source) : n << 8);
	fld_set(bytes, FLD(0x4, 31, 0), n << 8);
	if (guest.qp[n].ring && random_below(4)) {
		requests_post(n);
		offset = guest.qp[n].uar * M4_UAR_PAGE + 0x14;
	} else if (random_below(2)) {
		offset += random_below(2) ? 0x20 : 0x800 + random_below(5) * 8;
	} else {
		offset += 2048 * M4_UAR_PAGE + random_below(3) * 256;
	}
	region_write(VFIO_PCI_BAR2_REGION_INDEX, offset, bytes, random_below(2) ? 4 : 8);
	for (unsigned int i = 0; i < 4; i++)
		device_work();
}

static void guest_step(void)
{
	uint32_t what = random_below(64);

	if (what < 40)
		some_command();
	else if (what < 60)
		doorbell_ring();
	else if (what < 63)
		any_command();
	else if (once_in(&guest.source, 8))
		register_write(M4_RESET, M4_RESET_VALUE);
}

static void open_memory(void)
{
	guest.fd = memfd_create("guest", MFD_CLOEXEC);
	if (guest.fd < 0 || ftruncate(guest.fd, MEM))
		abort();
	guest.mem = mmap(NULL, MEM, PROT_READ | PROT_WRITE, MAP_SHARED, guest.fd, 0);
	if (guest.mem == MAP_FAILED)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct hca_config config = { .kind = HCA_MLX4, .num_ports = 1, .kernel_driver = true };

	if (!guest.mem)
		open_memory();
	memset(guest.mem, 0, MEM);
	guest.source = (struct source){ data, len };
	guest.is_ethernet = random_below(2);
	config.link_layer = guest.is_ethernet ? HCA_LINK_ETHERNET : HCA_LINK_INFINIBAND;
	if (!once_in(&guest.source, 4))
		config.strict = fuzz_reports();
	if (device_init(&guest.device, &config, 1000))
		abort();
	set_up();
	make_objects();
	while (guest.source.left)
		guest_step();
	device_free(&guest.device);
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * bar.c - registers of BAR 0. The initialization segment reports the adapter's state and takes the
 * command queue's address and doorbells; page N is UAR N, and the last pages are memory.
 *
 * The device core numbers UARs from behind the segment's pages. The client (QEMU) handles the MSI-X
 * table, also in this BAR. PRM: Initialization Segment, Health Buffer; layouts as struct
 * mlx5_init_seg of <linux/mlx5/device.h>.
 */
#include <endian.h>
#include <string.h>
#include <time.h>

#include "softhca/front/pci/bar.h"

enum {
	FW_REV = 0x0,    /* minor and major version */
	CMDIF_REV = 0x4, /* command interface version and firmware subminor */
	CMDQ_ADDR_HIGH = 0x10,
	CMDQ_ADDR_LOW = 0x14, /* low half of the address, queue sizes and nic_interface */
	CMD_DOORBELL = 0x18,
	INITIALIZING = 0x1fc,
	HEALTH_FW_VER = 0x230,
	HEALTH_HW_ID = 0x234,
	HEALTH_RFR_SEVERITY = 0x238,
	HEALTH_SYNDROME = 0x23c,
	COMMAND_TIMEOUT = 0xff8,
	INIT_TIMEOUT = 0xffc, /* value 0: the adapter states neither timeout */
	TIMER_HIGH = 0x1000,
	TIMER_LOW = 0x1004,
	HEALTH_COUNTER = 0x1010,
	PAGE = 4096,
	FIRST_UAR_PAGE = 4,
};

enum { FW_MAJOR = 16, FW_MINOR = 35, FW_SUBMINOR = 65, CMDIF = 5, HW_ID = 0x20d };

enum {
	/* Bit of INITIALIZING, whose bit 31, "initializing", is always 0, as the adapter starts at
	 * once. */
	RESET_SUPPORTED = 1 << 30,
	INIT_TIMEOUT_MS = 2000,
	NIC_STATE_SHIFT = 8,
	NIC_STATE_MASK = 7,
	SEVERITY_ALERT = 1,
	SEVERITY_WARNING = 4,
	SEVERITY_VALID = 1 << 3,
	SYNDROME_SHIFT = 16,
};
#define REQUESTS_RESET (1u << 31) /* rfr_severity: bit 7 of the first byte */

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static uint32_t severity(uint8_t syndrome)
{
	if (!syndrome)
		return 0;
	if (syndrome == BAR_SYNDROME_TEMPERATURE)
		return (SEVERITY_VALID | SEVERITY_WARNING) << 24;
	return REQUESTS_RESET | (SEVERITY_VALID | SEVERITY_ALERT) << 24;
}

static uint32_t read_health(const struct bar *bar, uint64_t offset)
{
	switch (offset) {
	case HEALTH_FW_VER:
		return FW_MAJOR << 24 | FW_MINOR << 16 | FW_SUBMINOR;
	case HEALTH_HW_ID:
		return HW_ID;
	case HEALTH_RFR_SEVERITY:
		return severity(bar->syndrome);
	case HEALTH_SYNDROME:
		return (uint32_t)bar->syndrome << SYNDROME_SHIFT;
	default:
		return 0;
	}
}

/* Returns the register at OFFSET, a multiple of 4; unknown ones read as 0. */
static uint32_t read_register(const struct bar *bar, uint64_t offset)
{
	switch (offset) {
	case FW_REV:
		return FW_MINOR << 16 | FW_MAJOR;
	case CMDIF_REV:
		return CMDIF << 16 | FW_SUBMINOR;
	case CMDQ_ADDR_HIGH:
		return bar->cmdq.addr >> 32;
	case CMDQ_ADDR_LOW:
		return (uint32_t)bar->cmdq.addr | (uint32_t)bar->nic_state << NIC_STATE_SHIFT |
		       CMDQ_LOG_ENTRIES << 4 | CMDQ_LOG_STRIDE;
	case INITIALIZING:
		return RESET_SUPPORTED;
	case COMMAND_TIMEOUT:
		return bar->command_timeout_ms;
	case INIT_TIMEOUT:
		return INIT_TIMEOUT_MS;
	case TIMER_HIGH:
		return now_ns() >> 32;
	case TIMER_LOW:
		return (uint32_t)now_ns();
	/* changes with each read, as a live adapter changes it ten times a second */
	case HEALTH_COUNTER:
		return (uint32_t)(now_ns() / 100000000);
	default:
		return read_health(bar, offset);
	}
}

static bool is_memory(uint64_t offset, uint32_t len)
{
	return offset >= BAR_MEMIC && len <= BAR_SIZE - offset;
}

static bool is_operation(uint64_t offset)
{
	return offset >= BAR_WINDOWS && offset < BAR_MEMIC;
}

void bar_read(struct bar *bar, uint64_t offset, uint8_t *data, uint32_t len)
{
	uint32_t be = 0;

	if (is_memory(offset, len)) {
		memcpy(data, bar->memory + (offset - BAR_MEMIC), len);
		return;
	}
	if (is_operation(offset)) {
		hca_memic_read(bar->hca, offset, data, len);
		return;
	}
	for (uint32_t i = 0; i < len; i++, offset++) {
		if (i == 0 || offset % 4 == 0)
			be = htobe32(read_register(bar, offset & ~3ull));
		data[i] = ((const uint8_t *)&be)[offset & 3];
	}
}

/* Takes a write to CMDQ_ADDR_LOW: the low half of the command queue's address, and the state that
 * the driver requests (nic_interface). Returns true if that is a reset. */
static bool write_cmdq_low(struct bar *bar, uint32_t value)
{
	uint32_t state = value >> NIC_STATE_SHIFT & NIC_STATE_MASK;

	if (state == BAR_NIC_SW_RESET)
		return true;
	if (state != BAR_NIC_FULL)
		return false;
	bar->nic_state = BAR_NIC_FULL;
	cmdq_set_address(&bar->cmdq, (uint64_t)bar->cmdq_high << 32 | (value & ~(PAGE - 1u)));
	return false;
}

static bool write_register(struct bar *bar, uint64_t offset, uint32_t value)
{
	switch (offset) {
	case CMDQ_ADDR_HIGH:
		bar->cmdq_high = value;
		return false;
	case CMDQ_ADDR_LOW:
		return write_cmdq_low(bar, value);
	case CMD_DOORBELL:
		cmdq_ring(&bar->cmdq, value);
		return false;
	default:
		return false;
	}
}

static bool write_segment(struct bar *bar, uint64_t offset, const uint8_t *data, uint32_t len)
{
	bool reset = false;
	uint32_t be;

	for (uint32_t i = 0; i + 4 <= len && offset % 4 == 0 && offset + i < PAGE; i += 4) {
		memcpy(&be, data + i, sizeof(be));
		reset |= write_register(bar, offset + i, be32toh(be));
	}
	return reset;
}

/* Takes a doorbell of 4 or 8 bytes, or a BlueFlame write: a doorbell and the rest of its WQE. */
static void write_uar(struct bar *bar, uint64_t offset, const uint8_t *data, uint32_t len)
{
	if (len >= 4)
		hca_uar_write(bar->hca, offset / PAGE, offset % PAGE, data, len);
}

bool bar_write(struct bar *bar, uint64_t offset, const uint8_t *data, uint32_t len)
{
	if (offset < FIRST_UAR_PAGE * PAGE)
		return write_segment(bar, offset, data, len);
	if (is_memory(offset, len))
		memcpy(bar->memory + (offset - BAR_MEMIC), data, len);
	else if (is_operation(offset))
		hca_memic_write(bar->hca, offset, data, len);
	else
		write_uar(bar, offset, data, len);
	return false;
}

void bar_reset(struct bar *bar, enum bar_nic_state nic_state)
{
	cmdq_set_address(&bar->cmdq, 0);
	bar->cmdq_high = 0;
	bar->nic_state = nic_state;
	bar->syndrome = 0;
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * bar.c - registers. The initialization segment says that the adapter is up, takes the address of
 * the command queue and its doorbells; page N of the BAR is UAR N.
 *
 * The device core numbers UARs from behind the pages of the segment. The MSI-X table, also there,
 * is the client's business. PRM: Initialization Segment.
 */
#include <endian.h>
#include <string.h>
#include <time.h>

#include "softhca/front/vfio-user/bar.h"

enum {
	FW_REV = 0x0,    /* minor, major */
	CMDIF_REV = 0x4, /* command interface, subminor */
	CMDQ_ADDR_HIGH = 0x10,
	CMDQ_ADDR_LOW = 0x14, /* and sizes, and nic_interface */
	CMD_DOORBELL = 0x18,
	TIMER_HIGH = 0x1000,
	TIMER_LOW = 0x1004,
	HEALTH_COUNTER = 0x1010,
	PAGE = 4096,
	FIRST_UAR_PAGE = 4,
};

enum { FW_MAJOR = 16, FW_MINOR = 35, FW_SUBMINOR = 65, CMDIF = 5 };

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* What stands at OFFSET, a multiple of 4; what is not named reads 0. */
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
		return (uint32_t)bar->cmdq.addr | CMDQ_LOG_ENTRIES << 4 | CMDQ_LOG_STRIDE;
	case TIMER_HIGH:
		return now_ns() >> 32;
	case TIMER_LOW:
		return (uint32_t)now_ns();
	case HEALTH_COUNTER: /* alive: ten times a second it is another one */
		return (uint32_t)(now_ns() / 100000000);
	default:
		return 0;
	}
}

void bar_read(const struct bar *bar, uint64_t offset, uint8_t *data, uint32_t len)
{
	uint32_t i;

	for (i = 0; i < len; i++, offset++) {
		uint32_t be = htobe32(read_register(bar, offset & ~3ull));

		data[i] = ((const uint8_t *)&be)[offset & 3];
	}
}

static void write_register(struct bar *bar, uint64_t offset, uint32_t value)
{
	switch (offset) {
	case CMDQ_ADDR_HIGH:
		bar->cmdq_high = value;
		break;
	case CMDQ_ADDR_LOW:
		bar->cmdq.addr = (uint64_t)bar->cmdq_high << 32 | (value & ~(PAGE - 1u));
		break;
	case CMD_DOORBELL:
		cmdq_ring(&bar->cmdq, value);
		break;
	}
}

static void write_segment(struct bar *bar, uint64_t offset, const uint8_t *data, uint32_t len)
{
	uint32_t i, be;

	for (i = 0; i + 4 <= len && offset % 4 == 0; i += 4) {
		memcpy(&be, data + i, sizeof(be));
		write_register(bar, offset + i, be32toh(be));
	}
}

/* A doorbell is 4 or 8 bytes; a BlueFlame write begins with one and its other bytes follow. */
static void write_uar(struct bar *bar, uint64_t offset, const uint8_t *data, uint32_t len)
{
	uint64_t value = 0;

	if (len < 4)
		return;
	memcpy(&value, data, len < sizeof(value) ? len : sizeof(value));
	hca_uar_write(bar->hca, offset / PAGE, offset % PAGE, value);
}

void bar_write(struct bar *bar, uint64_t offset, const uint8_t *data, uint32_t len)
{
	if (offset < FIRST_UAR_PAGE * PAGE)
		write_segment(bar, offset, data, len);
	else
		write_uar(bar, offset, data, len);
}

void bar_reset(struct bar *bar)
{
	bar->cmdq.addr = 0;
	bar->cmdq_high = 0;
}

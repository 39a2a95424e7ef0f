/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * window.c - see window.h.
 *
 * A doorbell is exchanged with 0, as in driver/engine.c. The command queue's address is compared
 * with what the program found there, since it is also read back. The doorbell of the command queue
 * is read first: what the program has written before it is then seen, and rung UARs come before the
 * commands. Two threads' doorbells overwrite each other, so each counts for all commands: the queue
 * skips those that are software's.
 */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "prm/mlx5/uar.h"
#include "softhca/front/process/vfio/window.h"
#include "util/bits.h"

enum { CMDQ_HIGH = 0x10, CMDQ_LOW = 0x14, CMD_DOORBELL = 0x18, BAR_INDEX = 0, MORE_UARS = 64 };

/* Registers of the initialization segment that a driver reads, besides the address. */
static const uint16_t readable[] = { 0x0,   0x4,   0x1fc, 0x230,  0x234,  0x238,
				     0x23c, 0xff8, 0xffc, 0x1000, 0x1004, 0x1010 };

static int make_pages(struct window *window)
{
	const int seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
	void *pages;

	window->memfd = memfd_create("vfio device", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (window->memfd < 0)
		return errno;
	if (ftruncate(window->memfd, BAR_SIZE) || fcntl(window->memfd, F_ADD_SEALS, seals))
		goto close_memfd;
	pages = mmap(NULL, BAR_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, window->memfd, 0);
	if (pages == MAP_FAILED)
		goto close_memfd;
	window->pages = pages;
	return 0;
close_memfd:
	close(window->memfd);
	return errno;
}

int window_open(struct window *window, struct device *device)
{
	int ret = make_pages(window);

	if (ret)
		return ret;
	window->shown_high = window->shown_low = 0;
	window_show(window, device);
	window_learn_uars(window, device);
	return 0;
}

void window_close(struct window *window)
{
	munmap(window->pages, BAR_SIZE);
	close(window->memfd);
	free(window->uars);
	*window = (struct window){ 0 };
}

static uint32_t *word_at(const struct window *window, uint64_t offset)
{
	return (uint32_t *)(void *)(window->pages + offset);
}

static uint32_t register_read(struct device *device, uint32_t offset)
{
	uint32_t value;

	device_read(device, BAR_INDEX, offset, (uint8_t *)&value, sizeof(value));
	return value;
}

/* Shows half of the address unless the program has just written it. */
static void show_address(struct window *window, struct device *device, uint32_t offset,
			 uint32_t *shown)
{
	uint32_t old = *shown, new = register_read(device, offset);

	if (old != new &&__atomic_compare_exchange_n(word_at(window, offset), &old, new, false,
						     __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
		*shown = new;
}

void window_show(struct window *window, struct device *device)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(readable); i++)
		__atomic_store_n(word_at(window, readable[i]), register_read(device, readable[i]),
				 __ATOMIC_RELAXED);
	show_address(window, device, CMDQ_HIGH, &window->shown_high);
	show_address(window, device, CMDQ_LOW, &window->shown_low);
}

/* If there is no memory for more numbers, the others' doorbells are not seen. */
void window_learn_uars(struct window *window, struct device *device)
{
	unsigned int count =
		device->hca ? hca_uar_list(device->hca, window->uars, window->room) : 0;

	if (count > window->room) {
		unsigned int room = count + MORE_UARS;
		uint32_t *uars = realloc(window->uars, room * sizeof(*uars));

		if (uars) {
			window->uars = uars;
			window->room = room;
		}
		count = hca_uar_list(device->hca, window->uars, window->room);
	}
	window->num_uars = count < window->room ? count : window->room;
	for (unsigned int i = 0; i < window->num_uars; i++) {
		uint8_t *page = window->pages + (uint64_t)window->uars[i] * PRM_UAR_SIZE;

		hca_uar_place(device->hca, window->uars[i], (volatile uint64_t *)(void *)page);
	}
}

static uint64_t take_long(const struct window *window, uint64_t offset)
{
	uint64_t *word = (uint64_t *)(void *)(window->pages + offset);

	return __atomic_load_n(word, __ATOMIC_RELAXED)
		       ? __atomic_exchange_n(word, 0, __ATOMIC_ACQ_REL)
		       : 0;
}

static uint32_t take_word(const struct window *window, uint64_t offset)
{
	uint32_t *word = word_at(window, offset);

	return __atomic_load_n(word, __ATOMIC_RELAXED)
		       ? __atomic_exchange_n(word, 0, __ATOMIC_ACQ_REL)
		       : 0;
}

static bool scan_eq(const struct window *window, struct device *device, uint32_t uar,
		    uint32_t offset)
{
	uint32_t value = take_word(window, (uint64_t)uar * PRM_UAR_SIZE + offset);

	if (value)
		hca_uar_write(device->hca, uar, offset, &value, sizeof(value));
	return value;
}

static_assert(2 * PRM_UAR_SQS <= HCA_SCAN_VALUES, "all registers of a page fit a scan");

static bool scan_sq(const struct window *window, struct device *device, uint32_t uar)
{
	const uint64_t page = (uint64_t)uar * PRM_UAR_SIZE;
	uint64_t found[2 * PRM_UAR_SQS];
	unsigned int count = 0;

	for (unsigned int i = 0; i < ARRAY_SIZE(found); i++) {
		uint32_t offset = PRM_UAR_SQ + i * PRM_UAR_SQ_SIZE;
		uint64_t value = take_long(window, page + offset);

		if (!value)
			continue;
		hca_uar_found(device->hca, uar, offset, value);
		found[count++] = value;
	}
	if (count)
		hca_uar_scan_sq(device->hca, uar, found, count);
	return count;
}

static bool scan_uar(const struct window *window, struct device *device, uint32_t uar)
{
	uint64_t arm = take_long(window, (uint64_t)uar * PRM_UAR_SIZE + PRM_UAR_CQ);
	bool found = arm;

	if (arm)
		hca_uar_scan_cq(device->hca, uar, arm);
	/* The update is older: who arms last, waits */
	found |= scan_eq(window, device, uar, PRM_EQ_UPDATE);
	found |= scan_eq(window, device, uar, PRM_EQ_ARM);
	found |= scan_sq(window, device, uar);
	return found;
}

static void write_word(struct device *device, uint32_t offset, uint32_t value)
{
	device_write(device, BAR_INDEX, offset, (const uint8_t *)&value, sizeof(value));
}

/* A program writes the high half first, and the low half makes the address valid. So the low half
 * is read first: the high half beside it is not older. If only that is new, the low half was read
 * too early or has the same value as before: it is written again, as it may belong to the new high
 * half. */
static bool scan_address(struct window *window, struct device *device)
{
	uint32_t low = __atomic_load_n(word_at(window, CMDQ_LOW), __ATOMIC_ACQUIRE);
	uint32_t high = __atomic_load_n(word_at(window, CMDQ_HIGH), __ATOMIC_RELAXED);
	const bool new_high = high != window->shown_high, new_low = low != window->shown_low;

	window->shown_high = high;
	window->shown_low = low;
	if (new_high)
		write_word(device, CMDQ_HIGH, high);
	if (new_high || new_low)
		write_word(device, CMDQ_LOW, low);
	return new_high || new_low;
}

bool window_scan(struct window *window, struct device *device)
{
	static const uint32_t all = UINT32_MAX;
	uint32_t ring = take_word(window, CMD_DOORBELL);
	bool found = scan_address(window, device);

	for (unsigned int i = 0; device->hca && i < window->num_uars; i++)
		found |= scan_uar(window, device, window->uars[i]);
	if (ring)
		device_write(device, BAR_INDEX, CMD_DOORBELL, (const uint8_t *)&all, sizeof(all));
	return found || ring;
}

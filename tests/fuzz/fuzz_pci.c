/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * fuzz_pci.c - messages of a vfio-user client, with what a guest can make it send: maps with and
 * without files, interrupts, configuration space, registers; and command queues in memory.
 *
 * Covers: softhca/front/pci/, softhca/front/vfio-user/
 */
#include <endian.h>
#include <fcntl.h>
#include <linux/pci_regs.h>
#include <linux/vfio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include "softhca/front/vfio-user/answer.h"
#include "tests/fuzz/reports.h"
#include "tests/fuzz/world.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

enum { MEM = 1 << 20, BASE = 1 << 20, QUEUE = BASE, MAILBOXES = BASE + 0x10000, REPLY = 2 << 20 };

static struct {
	struct device device;
	struct source source;
	int memory_fd, null_fd;
	uint8_t *mem;
	uint8_t reply[REPLY];
} pci;

static uint32_t random_below(uint32_t n)
{
	return pick(&pci.source, n);
}

static int some_fd(void)
{
	switch (random_below(4)) {
	case 0:
		return dup(pci.memory_fd);
	case 1:
		return dup(pci.null_fd);
	case 2:
		return eventfd(0, 0);
	default:
		return -1;
	}
}

/* The body is an allocation of exactly its size, so that the address sanitizer sees any access
 * beyond. */
static void send_message(enum vfu_command command, const void *body, size_t len, int fd)
{
	uint8_t *copy = malloc(len ? len : 1);
	struct message message = {
		.command = command,
		.body = copy,
		.len = len,
		.fd = &fd,
		.num_fds = fd >= 0,
		.reply = pci.reply,
	};

	memcpy(copy, body, len);
	watch_begin("device_answer");
	message_answer(&pci.device, &message);
	watch_end();
	if (fd >= 0)
		close(fd);
	free(copy);
}

static uint64_t some_size(void)
{
	if (once_in(&pci.source, 4))
		return (uint64_t)take_edge(&pci.source) << random_below(33);
	return (uint64_t)(1 + random_below(256)) * 4096;
}

static void map_or_unmap(void)
{
	struct vfu_dma_map map = {
		.flags = random_below(4),
		.offset = once_in(&pci.source, 4) ? some_size() : random_below(256) * 4096ull,
		.addr = once_in(&pci.source, 4) ? some_size() : random_below(1024) * 4096ull,
		.size = some_size(),
	};
	struct vfu_dma_unmap unmap = {
		.flags = once_in(&pci.source, 16) ? VFU_UNMAP_ALL : 0,
		.addr = map.addr,
		.size = map.size,
	};
	const struct dma_table *dma = &pci.device.dma;

	if (random_below(2)) {
		send_message(VFU_DMA_MAP, &map, sizeof(map) - random_below(2) * random_below(8),
			     some_fd());
		return;
	}
	if (dma->count && random_below(2)) {
		const struct dma_region *region = &dma->region[random_below(dma->count)];

		unmap.addr = region->addr;
		unmap.size = region->size;
	}
	send_message(VFU_DMA_UNMAP, &unmap, sizeof(unmap), -1);
}

static void set_irqs(void)
{
	struct vfu_irq_set set = {
		.flags = take8(&pci.source),
		.index = random_below(4) ? VFIO_PCI_MSIX_IRQ_INDEX : take_edge(&pci.source),
		.start = random_below(4) ? random_below(70) : take_edge(&pci.source),
		.count = random_below(4) ? random_below(3) : take_edge(&pci.source),
	};

	send_message(VFU_DEVICE_SET_IRQS, &set, sizeof(set), some_fd());
}

static void any_message(void)
{
	uint8_t body[64];

	for (size_t i = 0; i < sizeof(body); i++)
		body[i] = random_below(4) ? 0 : take8(&pci.source);
	send_message(random_below(16), body, random_below(sizeof(body) + 1), some_fd());
}

static void access_region(uint32_t region, uint64_t offset, const void *data, uint32_t count)
{
	uint8_t body[sizeof(struct vfu_region_access) + 256];
	struct vfu_region_access access = { offset, region, count };
	uint32_t given = count < 256 ? count : 256;

	memcpy(body, &access, sizeof(access));
	memcpy(body + sizeof(access), data, given);
	if (random_below(3))
		send_message(VFU_REGION_WRITE, body, sizeof(access) + given, -1);
	else
		send_message(VFU_REGION_READ, body, sizeof(access), -1);
}

static void touch_region(void)
{
	uint32_t region = random_below(8) ? VFIO_PCI_BAR0_REGION_INDEX + 7 * random_below(2)
					  : take_edge(&pci.source);
	uint64_t offset = random_below(8) ? random_below(region ? 256 : 0x8000) & ~3u
					  : take_edge(&pci.source);
	uint32_t count = random_below(4) ? 4u << random_below(2) : take_edge(&pci.source);
	uint8_t data[256];

	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = i < 8 ? take8(&pci.source) : 0;
	access_region(region, offset, data, count);
}

static void put_register(uint64_t offset, uint32_t value)
{
	uint8_t body[sizeof(struct vfu_region_access) + 4];
	struct vfu_region_access access = { offset, VFIO_PCI_BAR0_REGION_INDEX, 4 };
	uint32_t be = htobe32(value);

	memcpy(body, &access, sizeof(access));
	memcpy(body + sizeof(access), &be, sizeof(be));
	send_message(VFU_REGION_WRITE, body, sizeof(body), -1);
}

static uint8_t bytes_sum(const uint8_t *at, size_t len)
{
	uint8_t x = 0;

	while (len--)
		x ^= *at++;
	return x;
}

static void put_word(uint8_t *at, uint32_t value)
{
	uint32_t be = htobe32(value);

	memcpy(at, &be, sizeof(be));
}

static uint32_t some_mailbox(void)
{
	return once_in(&pci.source, 16) ? take_edge(&pci.source)
					: MAILBOXES + random_below(16) * 1024;
}

static void put_mailboxes(void)
{
	for (uint32_t i = 0; i < 16; i++) {
		uint8_t *block = pci.mem + (MAILBOXES - BASE) + i * 1024;

		block[random_below(512)] = take8(&pci.source);
		put_word(block + 564,
			 random_below(8) ? MAILBOXES + (i + 1) % 16 * 1024 : some_mailbox());
		put_word(block + 568, random_below(16) ? i : take_edge(&pci.source));
		block[573] = 1;
		block[575] = 0;
	}
}

static void ring_command(void)
{
	static const uint16_t opcodes[] = {
		0x100, 0x102, 0x103, 0x104, 0x105, 0x107, 0x108, 0x109, 0x10a, 0x10b, 0x200, 0x301,
		0x302, 0x400, 0x500, 0x800, 0x802, 0x805, 0x80e, 0x816, 0x750, 0x762, 0x765, 0x90c
	};
	uint32_t index = random_below(32);
	uint8_t *desc = pci.mem + index * 64;
	uint32_t in = random_below(4) ? 16 + random_below(4200) : take_edge(&pci.source);
	uint32_t out = random_below(4) ? 16 + random_below(4200) : take_edge(&pci.source);

	put_mailboxes();
	memset(desc, 0, 64);
	desc[0] = random_below(64) ? 7 : take8(&pci.source);
	put_word(desc + 4, in);
	put_word(desc + 12, random_below(4) ? MAILBOXES : some_mailbox());
	put_word(desc + 16, (uint32_t)opcodes[random_below(24)] << 16);
	put_word(desc + 20, random_below(8));
	put_word(desc + 24, random_below(4));
	put_word(desc + 28, random_below(4) ? random_below(512) : take_edge(&pci.source));
	put_word(desc + 52, random_below(4) ? MAILBOXES + 8 * 1024 : some_mailbox());
	put_word(desc + 56, out);
	desc[60] = 1;
	desc[63] = 1;
	desc[61] = random_below(64) ? ~bytes_sum(desc, 64) : 0;
	put_register(0x18, random_below(4) ? 1u << index : take32(&pci.source));
}

static void start_over(void)
{
	struct vfu_dma_map map = { .flags = 3, .addr = BASE, .size = MEM };
	uint8_t body[sizeof(struct vfu_region_access) + 2];
	struct vfu_region_access access = { PCI_COMMAND, VFIO_PCI_CONFIG_REGION_INDEX, 2 };

	send_message(VFU_DMA_MAP, &map, sizeof(map), dup(pci.memory_fd));
	memcpy(body, &access, sizeof(access));
	body[sizeof(access)] = PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER;
	body[sizeof(access) + 1] = 0;
	send_message(VFU_REGION_WRITE, body, sizeof(body), -1);
	put_register(0x10, 0);
	put_register(0x14, QUEUE);
}

static void step_device(void)
{
	uint32_t what = random_below(64);

	if (what < 32)
		ring_command();
	else if (what < 42)
		touch_region();
	else if (what < 46)
		set_irqs();
	else if (what < 50)
		map_or_unmap();
	else if (what < 52)
		any_message();
	else if (what < 56)
		start_over();
	else if (what == 56)
		device_detach(&pci.device);
	watch_begin("device_progress");
	device_progress(&pci.device, 0);
	watch_end();
}

static void open_memory(void)
{
	pci.null_fd = open("/dev/zero", O_RDWR | O_CLOEXEC);
	pci.memory_fd = memfd_create("guest", MFD_CLOEXEC);
	if (pci.null_fd < 0 || pci.memory_fd < 0 || ftruncate(pci.memory_fd, MEM))
		abort();
	pci.mem = mmap(NULL, MEM, PROT_READ | PROT_WRITE, MAP_SHARED, pci.memory_fd, 0);
	if (pci.mem == MAP_FAILED)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct hca_config config = { .num_ports = 1, .kernel_driver = true };

	if (!pci.mem)
		open_memory();
	memset(pci.mem, 0, MEM);
	pci.source = (struct source){ data, len };
	config.link_layer = random_below(2) ? HCA_LINK_ETHERNET : HCA_LINK_INFINIBAND;
	if (!once_in(&pci.source, 4))
		config.strict = fuzz_reports();
	if (device_init(&pci.device, &config, 1000))
		abort();
	start_over();
	while (pci.source.left)
		step_device();
	device_free(&pci.device);
	return 0;
}

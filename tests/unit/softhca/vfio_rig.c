/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * vfio_rig.c - see vfio_rig.h.
 */
#include <endian.h>
#include <linux/pci_regs.h>
#include <linux/vfio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "vfio_rig.h"

struct vfio_rig rig;

uint8_t *guest(uint64_t addr)
{
	assert_in_range(addr, GUEST_BASE, GUEST_BASE + GUEST_MEM - 1);
	return rig.mem + (addr - GUEST_BASE);
}

int vfio_send(enum vfu_command command, const void *part, size_t len, int fd)
{
	int ret;

	rig.message = (struct message){
		.command = command,
		.body = rig.body,
		.len = len,
		.fd = &fd,
		.num_fds = fd >= 0,
		.reply = rig.reply,
	};
	memcpy(rig.body, part, len);
	ret = message_answer(&rig.device, &rig.message);
	if (fd >= 0 && fd != rig.fd)
		close(fd);
	return ret;
}

int vfio_map(uint64_t addr, uint64_t size, uint32_t flags, int fd, uint64_t offset)
{
	const struct vfu_dma_map map = {
		.argsz = sizeof(map),
		.flags = flags,
		.offset = offset,
		.addr = addr,
		.size = size,
	};

	return vfio_send(VFU_DMA_MAP, &map, sizeof(map), fd);
}

void access_region(enum vfu_command command, uint32_t region, uint64_t offset, void *data,
		   uint32_t count)
{
	struct {
		struct vfu_region_access access;
		uint8_t data[8];
	} body = { .access = { offset, region, count } };
	size_t len = sizeof(body.access) + (command == VFU_REGION_WRITE ? count : 0);

	memcpy(body.data, data, count);
	assert_int_equal(vfio_send(command, &body, len, -1), 0);
	memcpy(data, rig.reply + sizeof(body.access), count);
}

uint32_t bar_get(uint64_t offset)
{
	uint32_t be = 0;

	access_region(VFU_REGION_READ, VFIO_PCI_BAR0_REGION_INDEX, offset, &be, sizeof(be));
	return be32toh(be);
}

void bar_put(uint64_t offset, uint32_t value)
{
	uint32_t be = htobe32(value);

	access_region(VFU_REGION_WRITE, VFIO_PCI_BAR0_REGION_INDEX, offset, &be, sizeof(be));
}

uint32_t config_get(uint32_t offset, unsigned int bytes)
{
	uint32_t le = 0;

	access_region(VFU_REGION_READ, VFIO_PCI_CONFIG_REGION_INDEX, offset, &le, bytes);
	return le32toh(le);
}

void config_put(uint32_t offset, unsigned int bytes, uint32_t value)
{
	uint32_t le = htole32(value);

	access_region(VFU_REGION_WRITE, VFIO_PCI_CONFIG_REGION_INDEX, offset, &le, bytes);
}

void vfio_run(void)
{
	unsigned int turns = 0;

	while (!device_progress(&rig.device, 0))
		assert_in_range(++turns, 0, 10000);
}

static int rig_create(enum hca_kind kind, enum hca_link_layer link)
{
	struct hca_config config = {
		.kind = kind,
		.link_layer = link,
		.num_ports = 1,
		.node_guid = 0x0002c90300001000ull,
		.kernel_driver = true,
	};

	memset(&rig, 0, sizeof(rig));
	assert_int_equal(fault_create(1, &rig.fault), 0);
	config.fault = rig.fault;
	rig.fd = memfd_create("guest", MFD_CLOEXEC);
	assert_int_equal(ftruncate(rig.fd, GUEST_MEM), 0);
	rig.mem = mmap(NULL, GUEST_MEM, PROT_READ | PROT_WRITE, MAP_SHARED, rig.fd, 0);
	assert_ptr_not_equal(rig.mem, MAP_FAILED);
	assert_int_equal(device_init(&rig.device, &config, COMMAND_TIMEOUT_MS), 0);
	assert_int_equal(
		vfio_map(GUEST_BASE, GUEST_MEM, VFU_DMA_READ_OK | VFU_DMA_WRITE_OK, rig.fd, 0), 0);
	config_put(PCI_COMMAND, 2, PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER);
	return 0;
}

int vfio_setup(void **state)
{
	(void)state;
	return rig_create(HCA_MLX5, HCA_LINK_INFINIBAND);
}

int vfio_setup_roce(void **state)
{
	(void)state;
	return rig_create(HCA_MLX5, HCA_LINK_ETHERNET);
}

int vfio_setup_mlx4(void **state)
{
	(void)state;
	return rig_create(HCA_MLX4, HCA_LINK_INFINIBAND);
}

int vfio_setup_mlx4_roce(void **state)
{
	(void)state;
	return rig_create(HCA_MLX4, HCA_LINK_ETHERNET);
}

int vfio_teardown(void **state)
{
	(void)state;
	device_free(&rig.device);
	fault_destroy(rig.fault);
	munmap(rig.mem, GUEST_MEM);
	close(rig.fd);
	return 0;
}

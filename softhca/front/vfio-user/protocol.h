/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * protocol.h - messages between a vfio-user client (QEMU) and a device's server: facts only.
 *
 * Numbers are in host byte order. A message is the header and the body of its command; a reply
 * repeats id and command. The specification is QEMU's docs/interop/vfio-user.rst; <linux/vfio.h>
 * has the flags and indices of VFIO itself.
 */
#ifndef SOFTHCA_FRONT_VFIO_USER_PROTOCOL_H
#define SOFTHCA_FRONT_VFIO_USER_PROTOCOL_H

#include <assert.h>
#include <stdint.h>

enum vfu_command {
	VFU_VERSION = 1,
	VFU_DMA_MAP = 2,
	VFU_DMA_UNMAP = 3,
	VFU_DEVICE_GET_INFO = 4,
	VFU_DEVICE_GET_REGION_INFO = 5,
	VFU_DEVICE_GET_IRQ_INFO = 7,
	VFU_DEVICE_SET_IRQS = 8,
	VFU_REGION_READ = 9,
	VFU_REGION_WRITE = 10,
	VFU_DEVICE_RESET = 13,
};

enum {
	VFU_TYPE_MASK = 0xf,
	VFU_TYPE_COMMAND = 0,
	VFU_TYPE_REPLY = 1,
	VFU_NO_REPLY = 1 << 4,
	VFU_ERROR = 1 << 5,
	VFU_MAX_FDS = 8,
	VFU_MAX_TRANSFER = 1 << 20, /* bytes of one REGION_READ or REGION_WRITE */
	VFU_DMA_READ_OK = 1 << 0,   /* flags of DMA_MAP */
	VFU_DMA_WRITE_OK = 1 << 1,
	VFU_UNMAP_ALL = 1 << 1, /* flag of DMA_UNMAP */
};

struct vfu_header {
	uint16_t id;
	uint16_t command;
	uint32_t size; /* of the message, with this header */
	uint32_t flags;
	uint32_t error;
};

struct vfu_version {
	uint16_t major, minor; /* JSON follows */
};

struct vfu_dma_map {
	uint32_t argsz, flags;
	uint64_t offset, addr, size;
};

struct vfu_dma_unmap {
	uint32_t argsz, flags;
	uint64_t addr, size;
};

struct vfu_device_info {
	uint32_t argsz, flags, num_regions, num_irqs;
};

struct vfu_region_info {
	uint32_t argsz, flags, index, cap_offset;
	uint64_t size, offset;
};

struct vfu_irq_info {
	uint32_t argsz, flags, index, count;
};

struct vfu_irq_set {
	uint32_t argsz, flags, index, start, count;
};

struct vfu_region_access {
	uint64_t offset;
	uint32_t region, count; /* COUNT bytes follow */
};

static_assert(sizeof(struct vfu_header) == 16, "vfio-user: header");
static_assert(sizeof(struct vfu_dma_map) == 32, "vfio-user: DMA map");
static_assert(sizeof(struct vfu_dma_unmap) == 24, "vfio-user: DMA unmap");
static_assert(sizeof(struct vfu_region_info) == 32, "vfio-user: region info");
static_assert(sizeof(struct vfu_irq_set) == 20, "vfio-user: IRQ set");
static_assert(sizeof(struct vfu_region_access) == 16, "vfio-user: region access");

#endif

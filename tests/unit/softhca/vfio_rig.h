/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * vfio_rig.h - a PCI device and guest memory for tests of the vfio-user front: messages as the
 * client sends them, registers as the driver accesses them.
 */
#ifndef TEST_VFIO_RIG_H
#define TEST_VFIO_RIG_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>

#include <cmocka.h>

#include "softhca/fault.h"
#include "softhca/front/vfio-user/answer.h"

enum {
	GUEST_MEM = 1 << 20,
	GUEST_BASE = 0x10000, /* guest-physical address of its first byte */
	COMMAND_TIMEOUT_MS = 1234,
};

struct vfio_rig {
	int fd; /* file of the memory */
	uint8_t *mem;
	struct device device;
	struct fault *fault;
	struct message message;
	uint8_t body[4096], reply[1 << 17];
};

extern struct vfio_rig rig;

/* Makes a device with mapped memory and bus mastering. */
int vfio_setup(void **state);
int vfio_setup_roce(void **state);
int vfio_setup_mlx4(void **state);
int vfio_setup_mlx4_roce(void **state);
int vfio_teardown(void **state);

uint8_t *guest(uint64_t addr);

/* Sends a message with LEN bytes of PART and, unless FD is -1, a descriptor; returns its errno. */
int vfio_send(enum vfu_command command, const void *part, size_t len, int fd);
int vfio_map(uint64_t addr, uint64_t size, uint32_t flags, int fd, uint64_t offset);

void access_region(enum vfu_command command, uint32_t region, uint64_t offset, void *data,
		   uint32_t count);

/* Access registers of BAR 0 and of configuration space in the CPU's byte order. */
uint32_t bar_get(uint64_t offset);
void bar_put(uint64_t offset, uint32_t value);
uint32_t config_get(uint32_t offset, unsigned int bytes);
void config_put(uint32_t offset, unsigned int bytes, uint32_t value);

/* Runs the device until it has nothing left to do at once. */
void vfio_run(void);

#endif

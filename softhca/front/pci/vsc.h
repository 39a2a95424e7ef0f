/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * vsc.h - the vendor-specific capability: a gateway from configuration space to internal registers.
 * Drivers use it before they reset a failed adapter: they take a semaphore that only the gateway
 * reaches.
 */
#ifndef SOFTHCA_FRONT_PCI_VSC_H
#define SOFTHCA_FRONT_PCI_VSC_H

#include <stdint.h>

enum {
	VSC_SIZE = 0x18, /* bytes of the capability */
	VSC_CONTROL = 0x4,
	VSC_COUNTER = 0x8,
	VSC_SEMAPHORE = 0xc,
	VSC_ADDRESS = 0x10,
	VSC_DATA = 0x14,
	VSC_SPACE_SEMAPHORES = 0xa,
	VSC_SW_RESET = 0x20, /* address of a semaphore */
};

/* Bit of the address register: software writes 1 to write, 0 to read; it flips when the access is
 * done. */
#define VSC_FLAG        (1u << 31)
#define VSC_SPACE_KNOWN (1u << 29) /* bit of the control register */

struct vsc {
	uint32_t space, counter, address, data;
	uint32_t semaphore; /* 0: the gateway is free; else its owner's value */
	uint32_t sw_reset;  /* the same for the right to reset the adapter */
};

/* Access one of the five registers. OFFSET counts from the start of the capability. */
uint32_t vsc_read(struct vsc *vsc, uint32_t offset);
void vsc_write(struct vsc *vsc, uint32_t offset, uint32_t value);

#endif

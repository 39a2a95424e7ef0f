/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * bar.h - BAR 0: the initialization segment, UAR pages, windows for operations on the adapter's
 * memory, and that memory at the end.
 */
#ifndef SOFTHCA_FRONT_PCI_BAR_H
#define SOFTHCA_FRONT_PCI_BAR_H

#include <stdbool.h>
#include <stdint.h>

#include "softhca/front/pci/cmdq.h"

#define BAR_SIZE       (256ull << 20) /* large, so that each possible UAR number has a page */
#define BAR_MEMIC_SIZE (1ull << 20)   /* at the end: the adapter's own memory */
#define BAR_MEMIC      (BAR_SIZE - BAR_MEMIC_SIZE)
/* pages for atomic operations on that memory */
#define BAR_WINDOWS (BAR_MEMIC - HCA_MEMIC_OPERATIONS * BAR_MEMIC_SIZE)

enum bar_nic_state { /* current state, and state that the driver requests */
		     BAR_NIC_FULL = 0,
		     BAR_NIC_DISABLED = 1,
		     BAR_NIC_SW_RESET = 7,
};

enum bar_syndrome {                                  /* health buffer */
		    BAR_SYNDROME_FIRMWARE = 0x1,     /* internal firmware error */
		    BAR_SYNDROME_TEMPERATURE = 0x10, /* a warning: the adapter goes on */
};

struct bar {
	struct hca *hca;
	struct cmdq cmdq;
	uint32_t command_timeout_ms; /* command timeout that the driver reads */
	/* high half of the queue's address; takes effect when the driver writes the low half */
	uint32_t cmdq_high;
	uint8_t *memory; /* BAR_MEMIC_SIZE bytes of the device's memory */
	uint8_t nic_state;
	/* value in the health buffer, where a request for a reset goes with it unless it is a
	 * warning; 0: healthy */
	uint8_t syndrome;
};

/* Reads LEN bytes at OFFSET; both are within BAR_SIZE. */
void bar_read(struct bar *bar, uint64_t offset, uint8_t *data, uint32_t len);
/* Writes registers. Returns true if the driver requests a reset of the adapter without its
 * configuration space. */
bool bar_write(struct bar *bar, uint64_t offset, const uint8_t *data, uint32_t len);
/* Resets the registers. NIC_STATE is BAR_NIC_FULL after a PCI reset, and BAR_NIC_DISABLED after a
 * reset that the driver requested. */
void bar_reset(struct bar *bar, enum bar_nic_state nic_state);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * registers.h - registers of a ConnectX-3: the command register (HCR) and reset in BAR 0, doorbell
 * pages in BAR 2.
 */
#ifndef SOFTHCA_FRONT_PCI_MLX4_REGISTERS_H
#define SOFTHCA_FRONT_PCI_MLX4_REGISTERS_H

#include <stdbool.h>
#include <stdint.h>

#include "prm/mlx4/cmd.h"

struct fault;
struct hca;

struct registers {
	struct hca *hca;
	struct fault *fault;      /* may be NULL */
	uint8_t hcr[M4_HCR_SIZE]; /* command registers, as software reads them */
	bool pending;             /* a command was written, and has not run yet */
	bool owned;               /* a driver has taken ownership of the device */
	bool locked;
	bool error;
	uint8_t half
		/* first half of an 8-byte doorbell, kept because the second half may come in a
		 * later write */
		[8];
};

/* Resets the registers for a new adapter. KEEP_OWNER: the driver keeps owning the device. */
void registers_reset(struct registers *registers, bool keep_owner);
/* Read and write the register at OFFSET of BAR 0, a multiple of 4, in memory byte order. The write
 * returns whether it requests a reset. */
uint32_t registers_read(struct registers *registers, uint64_t offset);
bool registers_write(struct registers *registers, uint64_t offset, uint32_t value_be);
void registers_ring(struct registers *registers, uint64_t offset, const uint8_t *data,
		    uint32_t len);
void registers_run(struct registers *registers);

#endif

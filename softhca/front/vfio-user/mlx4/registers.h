/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * registers.h - what a ConnectX-3 has in its regions: in BAR 0 the register of commands (HCR) and
 * those of reset, in BAR 2 pages of doorbells.
 */
#ifndef SOFTHCA_FRONT_VFIO_USER_MLX4_REGISTERS_H
#define SOFTHCA_FRONT_VFIO_USER_MLX4_REGISTERS_H

#include <stdbool.h>
#include <stdint.h>

#include "prm/mlx4/cmd.h"

struct fault;
struct hca;

struct registers {
	struct hca *hca;
	struct fault *fault;       /* may be NULL */
	uint8_t hcr[M4_HCR_SIZE];  /* as it reads */
	bool pending;              /* it has a command that has not run yet */
	bool owned, locked, error; /* by a driver; the semaphore of reset; the adapter has died */
	uint8_t half[8];           /* of a doorbell of 8 bytes, which is written in two halves */
};

/* The adapter is a new one. With KEEP_OWNER, the driver that has the device keeps it. */
void registers_reset(struct registers *registers, bool keep_owner);
/* Return what stands at OFFSET of BAR 0, a multiple of 4, and write it; as the bytes are in memory.
 * The write tells whether it asks for a reset. */
uint32_t registers_read(struct registers *registers, uint64_t offset);
bool registers_write(struct registers *registers, uint64_t offset, uint32_t value_be);
/* Takes a write to the doorbells of BAR 2. */
void registers_ring(struct registers *registers, uint64_t offset, const uint8_t *data,
		    uint32_t len);
/* Executes the command that is pending, if one is. */
void registers_run(struct registers *registers);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * flow_key.h - the fields of a frame that flow tables can match, in the layout of masks.
 */
#ifndef SOFTHCA_DEVICE_ETH_FLOW_FLOW_KEY_H
#define SOFTHCA_DEVICE_ETH_FLOW_FLOW_KEY_H

#include <stdbool.h>
#include <stdint.h>

#include "prm/mlx5/match.h"

#include "util/fields.h"

struct frame;

enum { FLOW_KEY_SIZE = PRM_MATCH_SETS * PRM_MATCH_SET_SIZE, FLOW_C_REGISTERS = 8 };

/* The state of a frame besides its bytes: the queue that has sent it (0: it was received), and
 * registers, which begin as 0 and which header changes set. */
struct flow_state {
	uint32_t sqn;
	uint8_t registers[4 * (2 + FLOW_C_REGISTERS)]; /* big-endian */
};

#define FLOW_REGISTER_A    FLD(0x0, 31, 0)
#define FLOW_REGISTER_B    FLD(0x4, 31, 0)
#define FLOW_REGISTER_C(n) FLD(0x8 + 4 * (n), 31, 0)

/* Writes the fields of FRAME. A field of a header that the frame lacks, or has in part only, is
 * 0. */
void flow_key_write(const struct frame *frame, const struct flow_state *state,
		    uint8_t key[FLOW_KEY_SIZE]);
/* Sets MASK to the fields that can be matched; a group's mask may have no other bits. With a kernel
 * driver these are the outer headers and fields of tunnels that are announced to it. */
void flow_supported_mask(bool kernel_driver, uint8_t mask[FLOW_KEY_SIZE]);
/* Returns the sets (PRM_MATCH_*) in which MASK has bits. */
uint8_t flow_key_sets(const uint8_t mask[FLOW_KEY_SIZE]);
uint32_t flow_hash(const uint8_t key[FLOW_KEY_SIZE], uint8_t sets);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * atomic.h - what atomics make of the value that they find.
 *
 * Those of InfiniBand have 8 bytes. Those with masks (extended atomics) have 4 or 8: a comparison
 * looks at the bits of one mask and replaces those of another; an addition is one of fields, whose
 * highest bits are set in the second operand, and no carry leaves a field.
 */
#ifndef SOFTHCA_DEVICE_TRANSPORT_ATOMIC_H
#define SOFTHCA_DEVICE_TRANSPORT_ATOMIC_H

#include <stdbool.h>
#include <stdint.h>

struct fabric_msg;
struct qp;

/* The two functions are of send WQEs' opcodes. */
bool atomic_is_masked(uint8_t opcode);
bool atomic_is(uint8_t opcode);
/* Returns the bytes of the value; 0 when there is no such atomic. */
uint32_t atomic_length(const struct fabric_msg *msg);
/* Returns whether the responder does atomics of such a kind and length, at such an address. */
bool atomic_is_allowed(const struct qp *qp, const struct fabric_msg *msg);
/* Returns the value that replaces OLD. */
uint64_t atomic_result(const struct fabric_msg *msg, uint64_t old);

#endif

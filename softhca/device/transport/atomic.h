/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * atomic.h - computes the value that an atomic writes.
 *
 * InfiniBand's atomics have 8 bytes. Masked ones (extended atomics) have 4 or 8: a compare-and-swap
 * compares the bits of one mask and replaces those of another. A fetch-and-add adds fields: the
 * second operand has the top bit of each field, and no carry crosses it.
 * IBTA vol 1, 9.4.5 (atomics)
 */
#ifndef SOFTHCA_DEVICE_TRANSPORT_ATOMIC_H
#define SOFTHCA_DEVICE_TRANSPORT_ATOMIC_H

#include <stdbool.h>
#include <stdint.h>

struct fabric_msg;
struct qp;

/* Return whether a send WQE's opcode is a masked atomic, or any atomic. */
bool atomic_is_masked(uint8_t opcode);
bool atomic_is(uint8_t opcode);
/* Returns the size of the value in bytes; 0 if no such atomic exists. */
uint32_t atomic_length(const struct fabric_msg *msg);
/* Returns whether the responder executes an atomic of this kind and length at this address. */
bool atomic_is_allowed(const struct qp *qp, const struct fabric_msg *msg);
uint64_t atomic_result(const struct fabric_msg *msg, uint64_t old);

#endif

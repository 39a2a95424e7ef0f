/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * fault.h - the faults a user asks for, one text each:
 *	cmd:N=ERRNO	the Nth kernel command fails with that errno (a number or a name); front's
 *	drop:N		the Nth fabric message (request or response) is lost
 *	drop:N%		each fabric message is lost with that probability
 *	loss:N		the Nth packet is lost
 *	loss:N%		each packet is lost with that probability; may have decimals
 *	late:N, late:N%	the next packet overtakes it
 *	kill:N		the adapter dies when the Nth fabric message is sent
 * N counts from 1 over the whole life of the adapter. Random choices follow the seed.
 */
#ifndef SOFTHCA_FAULT_H
#define SOFTHCA_FAULT_H

#include <stdbool.h>
#include <stdint.h>

struct fault;

enum fault_action {
	FAULT_NONE,
	FAULT_DROP,
	FAULT_KILL,
};

int fault_create(uint64_t seed, struct fault **fault);
void fault_destroy(struct fault *fault);

/* Add one fault. 0, or EINVAL for a text that is none of the above. */
int fault_add(struct fault *fault, const char *text);

/* Count one kernel command: the errno it has to fail with, or 0. FAULT may be NULL. */
int fault_command(struct fault *fault);

/* Count one fabric message. FAULT may be NULL. */
enum fault_action fault_message(struct fault *fault);

enum packet_fault {
	PACKET_FINE,
	PACKET_LATE,
	PACKET_LOST,
};

/* Is there a fault that tells packets of a message apart? FAULT may be NULL. */
bool fault_has_packets(const struct fault *fault);
/* What happens to one packet. FAULT may be NULL. */
enum packet_fault fault_packet(struct fault *fault);

#endif

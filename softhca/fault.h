/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * fault.h - the faults a user asks for, one text each:
 * 	cmd:N=ERRNO	the Nth kernel command fails with that errno (a number or a name);
 * 			process front's
 * 	prm:N		the Nth command that the adapter executes, destructions not counted, fails:
 * 			no resources
 * 	cmd-timeout:N	the Nth command of the command queue is never answered; PCI front's
 * 	drop:N		the Nth fabric message (request or response) is lost
 * 	drop:N%		each fabric message is lost with that probability
 * 	loss:N		the Nth packet is lost
 * 	loss:N%		each packet is lost with that probability; may have decimals
 * 	late:N, late:N%	the next packet overtakes it
 * 	flip:N, flip:N%	one bit of the Nth transfer of signed data is another, or of a share of them
 * 	flip:N+B	the same, and it is bit B, from the first one on
 * 	kill:N		the adapter dies when the Nth fabric message is sent
 * 	kill@MS		it dies after MS milliseconds
 * 	link-down@MS	all its ports lose their link
 * 	link-up@MS	and get it back
 * 	lid-change@MS, pkey-change@MS, gid-change@MS, client-reregister@MS
 * 			all its ports report that event, as after a visit of the subnet manager
 * 	keks-vanish@MS	the keys that unwrap others are taken away
 * 	nodes-vanish@MS, nodes-appear@MS
 * 			the adapters' files in /dev/infiniband go, and come back; process front's
 * N counts from 1, and time runs, from the moment when the fault is added: at start, or while the
 * adapter works. Random choices follow the seed. A fault without its number ("kill", "cmd-timeout")
 * means the next message or command, or at once.
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

enum fault_event {
	FAULT_DIE,
	FAULT_LINK_DOWN,
	FAULT_LINK_UP,
	FAULT_LID_CHANGE,
	FAULT_PKEY_CHANGE,
	FAULT_GID_CHANGE,
	FAULT_CLIENT_REREGISTER,
	FAULT_KEKS_VANISH,
	FAULT_NODES_VANISH,
	FAULT_NODES_APPEAR,
};

#define FAULT_NEVER UINT64_MAX

int fault_create(uint64_t seed, struct fault **fault);
void fault_destroy(struct fault *fault);

/* Adds one fault; time begins at NOW_NS (CLOCK_MONOTONIC). It returns 0, or EINVAL for a text that
 * is none of the above. One thread at a time adds; others may count meanwhile. */
int fault_add(struct fault *fault, const char *text, uint64_t now_ns);

/* Counts one kernel command, and returns the errno that it has to fail with, or 0. FAULT may be
 * NULL. */
int fault_command(struct fault *fault);

/* Counts one command that the adapter executes, and tells whether it must fail. FAULT may be
 * NULL. */
bool fault_refuse(struct fault *fault);

/* Returns how many kernel commands and commands of the adapter there were since the adapter's
 * start. FAULT may be NULL. */
void fault_counts(const struct fault *fault, uint64_t *kernel_commands, uint64_t *commands);

/* Counts one command of a command queue, and tells whether it must get lost. FAULT may be NULL. */
bool fault_lose_command(struct fault *fault);

/* Counts one fabric message. FAULT may be NULL. */
enum fault_action fault_message(struct fault *fault);

enum packet_fault {
	PACKET_FINE,
	PACKET_LATE,
	PACKET_LOST,
};

/* Returns whether there is a fault that tells packets of a message apart. FAULT may be NULL. */
bool fault_has_packets(const struct fault *fault);
/* Says what happens to one packet, and by how many a late one is overtaken. FAULT may be NULL. */
enum packet_fault fault_packet(struct fault *fault, uint64_t *overtaken);

/* Counts one transfer of BITS bits of signed data, at least one, and tells whether one of them must
 * be another, and which. FAULT may be NULL. */
bool fault_flip(struct fault *fault, uint64_t bits, uint64_t *bit);

/* Returns the earliest event that is due at NOW_NS, once; the result is false when there is none.
 * FAULT may be NULL. One thread at a time asks. */
bool fault_due(struct fault *fault, uint64_t now_ns, enum fault_event *event);
/* Says when the next event is due, or FAULT_NEVER. */
uint64_t fault_deadline(const struct fault *fault);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * fault.h - the faults that a user requests, one text each:
 *	cmd:N=ERRNO	the Nth kernel command fails with that errno, a number or a name
 *			(process front)
 *	prm:N		the Nth command that the adapter executes fails for lack of resources;
 *			commands that destroy objects do not count
 *	cmd-timeout:N	the Nth command of the command queue is never answered (PCI and VFIO front)
 *	cmd-refuse:N	the Nth command of the command queue is not executed, and its answer is an
 *			internal error (VFIO front)
 *	cmd-late:N+MS	it is executed and answered MS milliseconds later (VFIO front)
 *	cmd-kill:N	kills the program that rings for it, before it is executed (VFIO front)
 *	unplug:N	the adapter leaves the bus when the Nth command is rung for (VFIO front)
 *	unplug@MS	the adapter leaves the bus after MS milliseconds (VFIO front)
 *	drop:N		the Nth fabric message (request or response) is lost
 *	drop:N%		each fabric message is lost with that probability
 *	loss:N		the Nth packet is lost
 *	loss:N%		each packet is lost with that probability; may have decimals
 *	late:N, late:N%	the next packet overtakes it
 *	flip:N, flip:N%	flips a bit of the Nth transfer of signed data, or of a share of transfers
 *	flip:N+B	flips bit B, counted from the first one
 *	kill:N		the adapter fails when the Nth fabric message is sent
 *	kill@MS		the adapter fails after MS milliseconds
 *	link-down@MS	all its ports lose their link
 *	link-up@MS	all its ports get their link back
 *	lid-change@MS, pkey-change@MS, gid-change@MS, client-reregister@MS
 *			all its ports report that event, as after a visit of the subnet manager
 *	keks-vanish@MS	removes the key encryption keys (process front)
 *	nodes-vanish@MS, nodes-appear@MS
 *			hides or shows the files in /dev/infiniband (process front)
 * N (from 1) and MS count from the moment when the fault is added: at start, or while the adapter
 * works. Random choices follow the seed. A fault without its number ("kill", "cmd-timeout")
 * concerns the next message or command, or takes effect at once.
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
	FAULT_UNPLUG,
};

#define FAULT_NEVER UINT64_MAX

/* Fronts, which may be combined */
enum fault_front {
	FAULT_PROCESS_FRONT = 1,
	FAULT_PCI_FRONT = 2,
	FAULT_VFIO_FRONT = 4, /* the process front's adapter that programs drive themselves */
	FAULT_ANY_FRONT = 7,
};

int fault_create(uint64_t seed, struct fault **fault);
/* Sets the fronts of the adapters, so that fault_add() refuses faults that only other fronts
 * have. */
void fault_set_front(struct fault *fault, unsigned int fronts);
void fault_destroy(struct fault *fault);

/* Adds a fault; its time begins at NOW_NS (CLOCK_MONOTONIC). Returns 0, EINVAL for an unknown text,
 * or EOPNOTSUPP for a fault of another front. Only one thread may add; others may count meanwhile.
 */
int fault_add(struct fault *fault, const char *text, uint64_t now_ns);

/* Counts a kernel command. Returns the errno with which it must fail, or 0. FAULT may be NULL. */
int fault_command(struct fault *fault);

/* Counts a command that the adapter executes. Returns whether it must fail. FAULT may be NULL. */
bool fault_refuse(struct fault *fault);

/* Sets *KERNEL_COMMANDS and *COMMANDS to the numbers of commands since the start: the kernel's and
 * the adapter's. FAULT may be NULL. */
void fault_counts(const struct fault *fault, uint64_t *kernel_commands, uint64_t *commands);

/* Counts a command of a command queue. Returns whether it must get lost. FAULT may be NULL. */
bool fault_lose_command(struct fault *fault);

enum queued_fault {
	QUEUED_FINE,
	QUEUED_LOST,
	QUEUED_REFUSED,
	QUEUED_LATE,
	QUEUED_KILL,   /* the program is killed */
	QUEUED_UNPLUG, /* the adapter leaves the bus */
};

/* Does the same, for a queue that has all of these faults. Sets *LATE_MS for a late command. */
enum queued_fault fault_queued(struct fault *fault, uint64_t *late_ms);
uint64_t fault_count_queued(const struct fault *fault);

/* Counts a fabric message. Returns its fault. FAULT may be NULL. */
enum fault_action fault_message(struct fault *fault);

enum packet_fault {
	PACKET_FINE,
	PACKET_LATE,
	PACKET_LOST,
};

/* Returns whether a fault concerns single packets of a message. FAULT may be NULL. */
bool fault_has_packets(const struct fault *fault);
/* Returns the fault of one packet, and the number of packets that overtake a late one. FAULT may be
 * NULL. */
enum packet_fault fault_packet(struct fault *fault, uint64_t *overtaken);

/* Counts a transfer of BITS bits (at least one) of signed data. Returns whether a bit must flip,
 * and its number. FAULT may be NULL. */
bool fault_flip(struct fault *fault, uint64_t bits, uint64_t *bit);

/* Gets the earliest event that is due at NOW_NS, each once. Returns false if there is none. FAULT
 * may be NULL. Only one thread may call it. */
bool fault_due(struct fault *fault, uint64_t now_ns, enum fault_event *event);
uint64_t fault_deadline(const struct fault *fault);

#endif

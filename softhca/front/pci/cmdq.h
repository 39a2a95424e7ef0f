/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cmdq.h - the command queue: descriptors and mailboxes in guest memory.
 */
#ifndef SOFTHCA_FRONT_PCI_CMDQ_H
#define SOFTHCA_FRONT_PCI_CMDQ_H

#include <stdbool.h>
#include <stdint.h>

#include "softhca/device/hca.h"
#include "softhca/fault.h"
#include "softhca/front/pci/dma.h"

enum {
	CMDQ_LOG_ENTRIES = 5,
	CMDQ_LOG_STRIDE = 6,
	CMDQ_MAX_LEN = 1 << 20, /* most bytes of a command's input or output */
};

struct cmdq {
	struct hca *hca;
	const struct dma_table *dma;
	struct fault *fault; /* may be NULL */
	uint64_t addr;       /* 0: not set */
	uint32_t pending;    /* bit mask of descriptors whose doorbell was rung */
	/* a command with a nonzero signature has come. From then on all signatures are checked, and
	 * answers are signed: 0 is a valid signature, too */
	bool is_signed;
	uint32_t lost;                           /* bit mask of descriptors that a fault has lost */
	uint32_t late;                           /* those that a fault delays */
	uint64_t late_at[1 << CMDQ_LOG_ENTRIES]; /* time of each delayed one */
	/* Called when a fault kills the driver's program, or takes the device off the bus. May be
	 * NULL. */
	void (*on_fault)(void *front, enum queued_fault fault);
	void *front;
};

/* Sets the queue's address and drops waiting commands. */
void cmdq_set_address(struct cmdq *cmdq, uint64_t addr);
/* Takes a doorbell: a bit for each ready descriptor, or UINT32_MAX for all that are ready. Executes
 * nothing yet. */
void cmdq_ring(struct cmdq *cmdq, uint32_t ready);
/* Returns whether a command waits, other than one that a fault still delays. */
bool cmdq_is_pending(const struct cmdq *cmdq);
/* Executes one command, so that other work runs between two. Returns true if more wait. */
bool cmdq_run(struct cmdq *cmdq);

#endif

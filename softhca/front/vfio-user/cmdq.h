/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cmdq.h - the command queue: descriptors and mailboxes in guest memory.
 */
#ifndef SOFTHCA_VFIO_USER_CMDQ_H
#define SOFTHCA_VFIO_USER_CMDQ_H

#include <stdint.h>

#include "softhca/device/hca.h"
#include "softhca/front/vfio-user/dma.h"

enum {
	CMDQ_LOG_ENTRIES = 5,
	CMDQ_LOG_STRIDE = 6,
};

struct cmdq {
	struct hca *hca;
	const struct dma_table *dma;
	uint64_t addr; /* 0: not set */
};

/* The doorbell: a bit for each descriptor that is ready. */
void cmdq_ring(struct cmdq *cmdq, uint32_t ready);

#endif

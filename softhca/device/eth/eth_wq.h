/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * eth_wq.h - the part that send and receive queues of frames share.
 */
#ifndef SOFTHCA_DEVICE_ETH_ETH_WQ_H
#define SOFTHCA_DEVICE_ETH_ETH_WQ_H

#include <stdint.h>

#include "prm/mlx5/states.h"
#include "softhca/device/memory/dma.h"
#include "softhca/device/memory/umem.h"

struct pd;

/* Log2 limits: most WQEs of a queue, fewest bytes of a WQE */
enum { ETH_LOG_WQ = 15, ETH_LOG_STRIDE_MIN = 4 };

struct eth_wq {
	uint32_t log_size;   /* log2 of the ring's WQEs; of an SQ: of its WQEBBs */
	uint32_t stride;     /* bytes of a WQE; of an SQ: of a WQEBB */
	bool has_signatures; /* WQEs of an RQ are signed */
	struct queue_umems umems;
	/* bus address of the doorbell record, in which format->dbrec_recv and dbrec_send are the
	 * counters */
	uint64_t dbr;
	struct pd *pd; /* NULL: PD 0, which reaches no memory; used by queues that only drop */
	struct dma_map map;
};

#endif

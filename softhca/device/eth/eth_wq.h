/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * eth_wq.h - what send and receive queues of frames have in common.
 */
#ifndef SOFTHCA_DEVICE_ETH_ETH_WQ_H
#define SOFTHCA_DEVICE_ETH_ETH_WQ_H

#include <stdint.h>

#include "prm/mlx5/states.h"
#include "softhca/device/memory/dma.h"
#include "softhca/device/memory/umem.h"

struct pd;

enum { ETH_LOG_WQ = 15, ETH_LOG_STRIDE_MIN = 4 }; /* of a queue: WQEs, and their bytes */

struct eth_wq {
	uint32_t log_size;   /* WQEs, or WQEBBs of an SQ */
	uint32_t stride;     /* bytes */
	bool has_signatures; /* each WQE of an RQ */
	struct queue_umems umems;
	uint64_t dbr; /* counter of receives; that of sends is 4 bytes behind */
	struct pd
		*pd; /* NULL: PD 0, whose queues reach no memory; a queue that only drops has it */
	struct dma_map map;
};

#endif

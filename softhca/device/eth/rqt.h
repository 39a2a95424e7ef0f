/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rqt.h - receive queue tables (RQTs): arrays of queues over which a TIR distributes frames by
 * hash.
 */
#ifndef SOFTHCA_DEVICE_ETH_RQT_H
#define SOFTHCA_DEVICE_ETH_RQT_H

#include <stdint.h>

struct eth_rq;
struct hca;

enum { ETH_LOG_RQT_SIZE = 8 };

struct rqt {
	uint32_t n;
	uint32_t users; /* number of TIRs; it cannot be destroyed before them */
	uint32_t max_size, size;
	struct eth_rq **rq;
};

/* Adds an empty table for up to MAX_SIZE queues. Returns 0, ENOSPC or ENOMEM. */
int rqt_add(struct hca *hca, uint32_t max_size, struct rqt **rqt);
void rqt_set(struct rqt *rqt, struct eth_rq *const *rq, uint32_t size);
void rqt_remove(struct hca *hca, struct rqt *rqt);
void rqt_free(struct rqt *rqt);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rqt.h - tables of receive queues, over which TIRs spread frames.
 */
#ifndef SOFTHCA_DEVICE_ETH_RQT_H
#define SOFTHCA_DEVICE_ETH_RQT_H

#include <stdint.h>

struct eth_rq;
struct hca;

enum { ETH_LOG_RQT_SIZE = 8 };

struct rqt {
	uint32_t n;
	uint32_t users; /* TIRs */
	uint32_t max_size, size;
	struct eth_rq **rq;
};

/* Adds a table for up to MAX_SIZE queues, which is empty. It returns 0, ENOSPC or ENOMEM. */
int rqt_add(struct hca *hca, uint32_t max_size, struct rqt **rqt);
/* Fills the table with SIZE queues, instead of those that are in it. */
void rqt_set(struct rqt *rqt, struct eth_rq *const *rq, uint32_t size);
/* Takes a table that has no users out of the adapter, and frees it. */
void rqt_remove(struct hca *hca, struct rqt *rqt);
void rqt_free(struct rqt *rqt);

#endif
